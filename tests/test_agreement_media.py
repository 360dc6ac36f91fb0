"""Every medium shows the same tables, the same figures and the same cautions of an agreement."""

import csv
import html
import io
import json
import re
from dataclasses import replace
from functools import cache
from math import isnan

import pytest
from command import PARAPHRASES

from alignkit import Alignment, Corpus, SentencePair, read_corpus
from alignkit.agreement import Caution, agree
from alignkit.agreement.hits import Hit, find_cautions
from alignkit.agreement.options import AgreementOptions

QUICK = {"samples": 20, "resamples": 20}
THREE = ["anna", "ben", "gold"]
CAUTIONS = (
    Caution("low", "C is -0.20 & below 0", "report pi, too", "-0.20", ("anna ~ ben", "x_y ~ z")),
    Caution("few", "5% of all", "", "5%", ()),
)


@pytest.fixture(scope="module")
def corpus():
    return read_corpus(PARAPHRASES, format="alignkit-jsonl")


@pytest.fixture(scope="module")
def two(corpus):
    found = agree(
        corpus, ["anna", "ben"], initial="eflomal", adjudicated="gold", by="genre", **QUICK
    )
    return replace(found, cautions=(*found.cautions, *CAUTIONS))


@pytest.fixture(scope="module")
def three(corpus):
    return agree(corpus, THREE, initial="eflomal", **QUICK)


@pytest.fixture(scope="module")
def bare(corpus):
    return agree(corpus, THREE, resamples=20)


@pytest.fixture(params=["two", "three", "bare"])
def agreement(request):
    return request.getfixturevalue(request.param)


def plain(text):
    return " ".join(text.split())


def shown(table):
    return [
        [column.show(cell).text for column, cell in zip(table.columns, row, strict=True)]
        for row in table.rows
    ]


@cache
def media(found):
    marked = found.show("markdown", "all").replace("\\", "")
    lines = found.show("latex", "all").replace(r"$\sim$", "~").replace("$-$", "-")
    lines = lines.replace(r"\&", "&").replace(r"\%", "%").replace("--", "-")
    page = html.unescape(re.sub(r"<style>.*?</style>", "", found.show("html", "all"), flags=re.S))
    return {
        "text": plain(found.show("text", "all")),
        "markdown": plain(marked),
        "latex": plain(re.sub(r"(?m)^% ?", "", lines).replace("\\_", "_")),
        "html": plain(re.sub("<[^>]*>|[\u2066-\u2069]", "", page)),
    }


def test_every_medium_has_all_tables_numbers_and_settings(agreement):
    tables, every = agreement.tables(), media(agreement)
    count = len(tables)
    assert len({table.title for table in tables}) == len(tables)
    assert len({table.anchor for table in tables}) == len(tables)
    assert agreement.show("latex", "all").count(r"\begin{tabular}") == count
    assert agreement.show("html", "all").count("<table>") == count
    assert agreement.show("markdown", "all").count("\n| :--") == count
    for name, medium in every.items():
        for table in tables:
            assert plain(table.title) in medium, (name, table.title)
            assert plain(table.note) in medium, (name, table.note)
            missing = [cell for row in shown(table) for cell in row if plain(cell) not in medium]
            assert not set(missing) - {"", "-"}, (name, table.title, missing)
        assert all(plain(line) in medium for line in agreement.head)
        assert agreement.signature in medium
    assert not re.search(r"-0\.?0*(?![\d.])", agreement.show().replace("--", ""))


def test_every_medium_has_every_caution_once_and_the_same(two, bare):
    assert len(two.cautions) >= len(CAUTIONS)
    for name, medium in media(two).items():
        assert medium.count("Cautions") == 1, name
        for caution in two.cautions:
            assert medium.count(plain(str(caution))) == 1, (name, caution.code)
    rows = csv.DictReader(io.StringIO(two.csv()))
    told = [row["reason"] for row in rows if row["kind"] == "caution"]
    assert told == [str(caution) for caution in two.cautions]
    assert [
        Caution(**one | {"pairings": tuple(one["pairings"])}) for one in two.to_json()["cautions"]
    ] == list(two.cautions)
    without = replace(bare, cautions=())
    assert all("Cautions" not in medium for medium in media(without).values())
    assert without.to_json()["cautions"] == []


def test_json_and_csv_have_every_figure_once(agreement):
    figures = list(agreement.figures())
    found = {
        (one["kind"], one["first"], one["second"], section, level, statistic): figure
        for one in json.loads(json.dumps(agreement.to_json(), allow_nan=False))["figures"]
        for section, levels in one["sections"].items()
        for level, statistics in levels.items()
        for statistic, figure in statistics.items()
    }
    rows = list(csv.DictReader(io.StringIO(agreement.csv())))
    rows = [row for row in rows if row["kind"] not in ("caution", "signature")]
    assert len(found) == len(rows) == len(figures)
    for one, row in zip(figures, rows, strict=True):
        key = (one.kind, one.first, one.second, one.section, one.level, one.statistic)
        assert tuple(row[name] for name in list(row)[:6]) == key
        figure = found[key]
        for name in ("value", "low", "high"):
            number = getattr(one, name)
            if isnan(number):
                assert (figure.get(name), row[name]) == (None, "")
            else:
                assert figure[name] == float(row[name]) == number
        assert figure["pairs"] == int(row["pairs"]) == one.pairs
        assert figure.get("reason", "") == row["reason"] == one.reason


def leveled(table):
    """Yield the rows of a table with the links of their level, and bare names."""
    links = ""
    for row in table.to_records():
        if row["who"].startswith("  "):
            yield links, row | {"who": row["who"].strip()}
        else:
            links = {"all links": "possible", "sure links": "sure"}.get(row["who"], "")


def test_the_tables_hold_the_figures(two):
    figures = {
        (one.kind, one.section, one.level, one.statistic): one
        for one in two.figures()
        if one.kind == "annotators"
    }
    tables = {table.anchor: table for table in two.tables()}
    for links, row in leveled(tables["annotators-phrases"]):
        level = f"phrases.{links}"
        for name, key in {"f1": "f1", "C": "C_edit"}.items():
            one = figures["annotators", row["who"], level, name]
            bounds = row[key], row[f"{key}_low"], row[f"{key}_high"]
            assert bounds == (one.value, one.low, one.high)
        assert row["used"] == figures["annotators", row["who"], level, "used"].value
    for anchor, prefix in (("cells", ""), ("different-cells", "different.")):
        for links, row in leveled(tables[anchor]):
            if links:
                one = figures["annotators", row["who"], f"{prefix}cells.{links}", "kappa"]
                assert (row["kappa"], row["kappa_low"]) == (one.value, one.low)


def test_c_by_every_model_stands_side_by_side(three, bare):
    tables = {table.anchor: table for table in three.tables()}
    for unit in ("phrases", "words"):
        by_who = {(links, row["who"]): row for links, row in leveled(tables[f"models-{unit}"])}
        pairing = three.pairing("anna", "ben")
        for model in ("edit", "edit-split", "edit-strata", "kupper-hafner"):
            assert by_who["sure", "anna ~ ben"][model] == pairing.beyond[model][f"{unit}.sure"].C
        machine = by_who["sure", "eflomal ~ anna"]
        assert isnan(machine["edit"])
        assert "initial" in machine["edit_reason"]
        assert not isnan(machine["kupper-hafner"])
    alone = next(one for one in bare.tables() if one.anchor == "models-words")
    assert [column.name for column in alone.columns] == ["", "kupper-hafner"]


def test_lines_of_text_fit_a_terminal(two, three):
    for found in (two, three):
        lines = found.show().split("\n")
        assert len(lines) <= 60
        every = found.show("text", "all").split("\n")
        assert max(map(len, lines)) <= 100
        assert not [line for line in every[len(found.head) + 6 : -1] if len(line) > 101]


@pytest.fixture(scope="module")
def many():
    words = [tuple("abcdef")] * 30, [tuple("uvwxyz")] * 30
    names = [*(f"person{k}" for k in range(6)), "gold", "first_long_system", "second_long_system"]
    sides = {
        name: [f"0-0 1-1 {k % (j % 3 + 2)}-{k % 5}" for k in range(30)]
        for j, name in enumerate(names)
    }
    return agree(
        Corpus.from_texts(*words, **sides),
        names[:6],
        adjudicated="gold",
        systems=names[7:],
        resamples=20,
    )


def test_many_pairings_are_described_as_they_are_shown(many):
    text, paper = many.show(), many.show("latex")
    pairings = many.show(tables=["pairings"])
    assert max(map(len, f"{text}\n{pairings}".split("\n"))) <= 100
    assert pairings.count("person4 ~ person5") == 5
    assert not any(f"{name}: " in text for name in ("used", "kappa"))
    assert re.search(r"\nsecond_long_system\n  person0 ", text)  # too wide side by side
    assert set(re.findall(r"\\kappa|precision|\{lrrr\}", paper)) == {"{lrrr}"}
    assert "**In brackets" not in many.show("markdown")


def test_a_caution_of_the_adjudicated_version_alone_names_whose_it_is():
    chance = "C is {number}", "report F1", "C {brief}"
    people, gold = (
        Hit(name, "sure words", text, size, brief=text, aside=name == "a ~ gold")
        for name, text, size in (("a ~ b", "-.1", 0.1), ("a ~ gold", "-.3", 0.3))
    )
    for hits, brief in (
        ([people, gold], "C -.1 (sure words)"),
        ([gold], "C -.3 (sure words, a ~ gold)"),
    ):
        named = [("low", hit) for hit in hits]
        (caution,) = find_cautions(named, {"low": chance}, AgreementOptions())
        assert caution.brief == brief


def test_a_line_end_in_a_name_breaks_no_line_of_any_medium():
    def text(name):
        sides = {one: Alignment.parse("0-0 1?1") for one in (name, "b", f"gold{name}")}
        pair = SentencePair("1", ("x", "y"), ("v", "w"), sides)
        return agree(Corpus([pair]), [name, "b"], adjudicated=f"gold{name}", bootstrap="none")

    for medium in ("text", "latex", "markdown"):
        one, other = (text(name).show(medium).count("\n") for name in ("a\x1b", "a\n"))
        assert one == other


def test_without_words_there_is_the_overlap_alone():
    sides = {"a": Alignment.parse("0-0 1-1"), "b": Alignment.parse("0-0")}
    pairs = Corpus([SentencePair(str(k), None, None, sides) for k in range(3)])
    found = agree(pairs, ignore_identical=False)
    assert [one.anchor for one in found.tables()] == ["annotators-words", "annotators-phrases"]
    assert "the words of the 3" in found.show()
    assert found.to_json()["fleiss_kappa"] is None
