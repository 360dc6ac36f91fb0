"""`agree-judgments`: from a corpus to figures, in Python and by the command."""

import csv
import io
import json
import re
from collections import Counter
from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from console import page_text
from refusals import refuses
from repetitions import repetitions

from alignkit import Annotation, Corpus, SentencePair, agree_on_judgments, write_corpus
from alignkit.agreement.judgments.plots import judgment_plot
from alignkit.agreement.judgments.question import CAUTIONS
from alignkit.cli.main import main
from alignkit.errors import FormatError, OptionError, UnknownNameError
from alignkit.model.labels import get_view
from alignkit.stats.resampling import ratio, resample, summarize
from alignkit.tables.columns import Value

ROWS = ["4 4< 4 4", "1 1 2 1", "3 3 3 3", "4s 4 4i 4", "2 2 2 3", "x 4 3 4", "4> 3 4> 4>"]
NAMES = ("anna", "ben", "cleo", "gold")
TURKU = ("--scheme", "turku")


@pytest.fixture
def corpus():
    pairs = []
    for number, row in enumerate(ROWS * 6):
        said = zip(NAMES, row.split(), strict=True)
        notes = {name: Annotation(None, judgment=judgment) for name, judgment in said}
        genre = {"genre": "news" if number % 3 else "talk"}
        pairs.append(SentencePair(str(number), ("a", str(number)), ("b",), notes, genre))
    return Corpus(pairs)


def measure(corpus, *given, scheme="turku", **options):
    quick = {"resamples": 9, "permutations": 9}
    return agree_on_judgments(corpus, *given, scheme=scheme, **{**quick, **options})


def run(corpus, folder, *given):
    path = folder / "pairs.jsonl"
    if not path.exists():
        write_corpus(corpus, path, format="alignkit-jsonl")
    quick = ("--permutations", "9", "--resamples", "9")
    return main(["agree-judgments", str(path), *TURKU, *quick, *map(str, given)])


def test_all_views_and_an_adjudicated_version(corpus):
    found = measure(corpus, consensus="gold", resamples=50, permutations=20)
    assert found.annotators == NAMES[:3]
    assert {"full", "base", "binary"} <= set(found.views)
    base = [one for one in found.figures() if one.level == "judgments.base"]
    (mean,) = [one for one in base if one.kind == "mean"]
    assert mean.pairs == 36 + 36 + 42  # x is not scored
    assert not [one for one in base if one.kind == "adjudicated" and one.statistic == "null"]
    assert "permutations cannot imitate" in str(found)
    assert all("base" in found.show(medium) for medium in ("markdown", "latex", "html"))
    assert len(found.to_records()) == len(found.figures())


def test_each_figure_stands_in_every_medium(corpus):
    found = measure(
        corpus,
        view=["base", "binary"],
        consensus="gold",
        by="genre",
        groups={"anna": "x", "ben": "y"},
        resamples=30,
        permutations=20,
    )
    rows = [row for table in found.tables() for row in table.rows]
    cells = [cell for row in rows for cell in row if isinstance(cell, Value)]
    assert len(cells) == len(found.figures())
    known = [one.value for one in found.figures() if not isnan(one.value)]
    assert sorted(cell.value for cell in cells if not isnan(cell.value)) == sorted(known)
    assert found.sections == ("all", "talk", "news")
    whole = json.loads(json.dumps(found.to_json()))
    assert len(whole["figures"]) == len(cells)
    assert {one["code"] for one in whole["cautions"]} >= {"consensus", "adjudicated"}
    rows = list(csv.DictReader(io.StringIO(found.csv())))
    assert [row["kind"] for row in rows].count("caution") == len(found.cautions)
    assert len(rows) == len(cells) + len(found.cautions) + 1
    wanted = ["pairing", "anna", "ben", "news", "judgments.base", "kappa"]
    (kappa,) = [row for row in rows if list(row.values())[:6] == wanted]
    one = found.figure("pairing", "kappa", "anna", "ben", view="base", section="news")
    assert float(kappa["value"]) == one.value
    for medium in ("text", "markdown", "latex", "html"):
        shown = found.show(medium)
        assert f"{one.value:.3f}" in shown
        assert "permuted labels" in " ".join(shown.split())
    refuses(UnknownNameError, "pairing", found.figure, "pairing", "kappa", "anna", "dora")


def test_a_group_is_the_corpus_of_its_pairs(corpus):
    whole = measure(corpus, by="genre", view="base")
    part = measure(corpus.filter(lambda pair: pair.attributes["genre"] == "news"), view="base")
    mine = [replace(one, section="all") for one in whole.figures() if one.section == "news"]
    assert [repr(one) for one in mine] == [repr(one) for one in part.figures()]


def test_no_figure_depends_on_the_threads(corpus):
    one, three = (
        measure(corpus, workers=workers, resamples=200, permutations=100).to_json()
        for workers in (1, 3)
    )
    assert one == three


def test_the_page_has_figures_tables_and_cautions(corpus):
    hostile = Corpus(
        replace(pair, annotations={name + "<b>": one for name, one in pair.annotations.items()})
        for pair in corpus
    )
    found = measure(hostile, view=["base"], resamples=30, permutations=20)
    page = found.to_html()
    html = pytest.importorskip("lxml.html").fromstring(page)
    assert len(html.xpath("//figure//*[local-name()='svg']")) == 3
    assert len(html.xpath("//table")) == len(found.tables()) + 1
    assert html.xpath("string(//*[@class='cautions']//li)") in map(str, found.cautions)
    assert "<b>" not in page
    assert "http" not in page.replace("http://www.w3.org", "").replace("http-equiv", "")


def test_small_groups_are_cautioned():
    pairs = [
        SentencePair(
            str(k),
            ("a", str(k)),
            ("b",),
            {name: Annotation(None, judgment=str((k + n) % 2)) for n, name in enumerate("ab")},
            {"genre": f"g{min(k // 4, 7)}"},
        )
        for k in range(80)
    ]
    assert "few" not in [one.code for one in measure(Corpus(pairs), scheme="binary").cautions]
    grouped = measure(Corpus(pairs), by="genre", scheme="binary")
    (few,) = [one for one in grouped.cautions if one.code == "few"]
    assert few.number == "g0: 4; g1: 4; g2: 4; g3: 4; g4: 4; 2 more groups"
    assert not few.pairings
    assert "few" in [one.code for one in measure(Corpus(pairs[:49]), scheme="binary").cautions]
    assert "few" not in [one.code for one in measure(Corpus(pairs[:50]), scheme="binary").cautions]
    both = measure(Corpus(pairs[:29]), by="genre", scheme="binary").cautions
    assert any(one.number.startswith("all: 29; g7: 1; g0: 4") for one in both)
    assert ("a ~ b",) in [one.pairings for one in both]


def test_each_disagreement_is_listed(corpus, tmp_path):
    views = ("full", "binary")
    found, wanted = measure(corpus, view=views, consensus="gold"), {}
    for pair in corpus:
        said = {name: one.judgment for name, one in pair.annotations.items()}
        labels = [{get_view("turku", view).of(text) for text in said.values()} for view in views]
        differ = tuple(
            view for view, some in zip(views, labels, strict=True) if len(some - {None}) > 1
        )
        if differ:
            wanted[pair.id] = differ, said, " ".join(pair.source), " ".join(pair.target)
    got = {
        one.id: (one.views, dict(one.judgments), one.source, one.target)
        for one in found.disagreements
    }
    assert got == wanted
    counts = [len(one.views) for one in found.disagreements]
    assert counts == sorted(counts, reverse=True)
    table, page = tmp_path / "all.csv", tmp_path / "page.html"
    given = ("--view", *views, "--consensus", "gold", "--csv", "--disagreements", table)
    assert run(corpus, tmp_path, *given, "--html", page) == 0
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
    assert [row["pair"] for row in rows] == [one.id for one in found.disagreements]
    assert [row["judgment of anna"] for row in rows] == [
        wanted[row["pair"]][1]["anna"] for row in rows
    ]
    text = page.read_text(encoding="utf-8")
    assert f"{len(rows)} of 42 pairs" in text
    assert len(listed(text)) == len(rows)


def listed(page):
    return re.findall('<tr><th scope="row"', page[page.index('id="disagreements"') :])


def test_a_page_has_room_for_some_disagreements():
    said = {"a<i>": Annotation(None, judgment="1"), "b": Annotation(None, judgment="0")}
    pairs = [SentencePair(f"p<i>{k}", ("<i>",), ("b",), said) for k in range(300)]
    page = measure(Corpus(pairs), scheme="binary").to_html()
    assert len(listed(page)) == 200
    assert "300 of 300 pairs" in page
    assert "the first 200 are shown" in page
    assert "<i>" not in page
    long = [SentencePair(str(k), ("word",) * 9_000, ("b",), said) for k in range(40)]
    page = measure(Corpus(long), scheme="binary").to_html()
    assert len(listed(page)) == 22  # a million signs
    alike = [
        SentencePair(str(k), None, None, dict.fromkeys("ab", Annotation(None, judgment="1")))
        for k in range(3)
    ]
    assert "None of the pairs" in measure(Corpus(alike), scheme="binary").to_html()


def test_the_figure_has_the_kappas_of_each_table(corpus):
    found = measure(corpus, view="base")
    plot = judgment_plot(found)
    assert plot.series == ["kappa", "by chance", "corrected"]
    (panel,) = [panel for panel in plot.panels if "with the majority" in panel.label]
    assert [row.names[0] for row in panel.rows][:3] == list(NAMES[:3])
    for name, values in zip(NAMES[:3], panel.values, strict=False):
        for value, statistic in zip(values, ("kappa", "null", "corrected"), strict=True):
            figure = found.figure("consensus", statistic, name)
            assert value == Value(figure.value, figure.low, figure.high)


def test_labels_of_no_scheme_are_refused_or_left_out(corpus):
    odd = SentencePair("odd", ("a",), ("b",), {"anna": Annotation(None, judgment="4<>")})
    mixed = Corpus([*corpus, odd])
    refuses(FormatError, "4<>", measure, mixed)
    found = measure(mixed, lenient_labels=True, view="base")
    assert found.left_out["not of the scheme"] == 1
    assert "unknown-labels" in [one.code for one in found.cautions]


def test_two_have_no_majority_unless_ties_are_settled(corpus):
    two = measure(corpus, ["anna", "ben"], view="base")
    assert "see their kappa" in two.figure("consensus", "kappa").reason
    assert "consensus" not in [one.code for one in two.cautions]
    lowest = measure(corpus, ["anna", "ben"], ties="lowest", view="base")
    assert lowest.figure("consensus", "kappa", "ben").value > 0
    assert lowest.figure("consensus", "settled").value == 1


def test_the_command(corpus, tmp_path, capsys):
    path, groups = tmp_path / "pairs.jsonl", tmp_path / "groups.tsv"
    groups.write_text("anna\texperts\nben\texperts\ncleo\tlay\n", encoding="utf-8")
    given = (corpus, tmp_path, "--view", "binary", "--annotators", *NAMES[:3])
    assert run(*given, "--groups", groups, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["options"]["view"] == ["binary"]
    assert {one["kind"] for one in found["figures"]} >= {"groups", "consensus", "joint"}
    groups.write_text("anna\texperts\n\nzoe\tlay\n", encoding="utf-8")
    assert run(*given, "--groups", groups) == 2
    assert f"{groups}:3: unknown annotator 'zoe' (known: " in capsys.readouterr().err
    assert run(*given, "--csv") == 0
    assert "leave-one-out" in capsys.readouterr().out
    page = tmp_path / "page.html"
    assert run(*given, "--by", "genre", "--html", page) == 0
    assert "news" in capsys.readouterr().out
    assert "news" in page.read_text(encoding="utf-8")
    lines = path.read_text(encoding="utf-8").replace('"judgment": "4<"', '"judgment": "5"')
    path.write_text(lines, encoding="utf-8")
    assert run(*given, "--lenient-labels") == 0
    assert "6 judgments are not" in capsys.readouterr().out


def judged(*rows, **attributes):
    return [
        SentencePair(
            f"{row}-{number}",
            ("a",),
            ("b",),
            {
                name: Annotation(None, judgment=said)
                for name, said in zip(("anna", "ben"), row.split(), strict=True)
                if said != "-"
            },
            attributes,
        )
        for number, row in enumerate(rows)
    ]


def test_views_that_are_equal_are_shown_once_and_named():
    found = measure(Corpus(judged("1 1", "0 1", "0 0")), scheme="binary")
    assert (found.views, str(found).count("anna ~ ben ")) == (("full",), 2)
    told = "The views full, binary give the same labels: only full is shown"
    assert told in " ".join(str(found).split())
    assert found.to_json()["options"]["alike"] == [["full", "binary"]]
    kappas = [found.figure("pairing", "kappa", "anna", "ben", view=v) for v in ("full", "binary")]
    assert kappas[0] is kappas[1]
    others = measure(Corpus(judged("1 1", "0 3", "2 2")), scheme="parade")
    assert others.views == ("full", "binary")
    assert "alike" not in str(others)


def test_pairs_without_a_judgment_are_counted_apart():
    found = measure(Corpus(judged("1 1", "0 -", "0 0") + judged("- -", "- -")), scheme="binary")
    assert (found.pairs, found.unjudged, found.repeated) == (3, 2, 2)
    assert "on judgments of 3 pairs" in str(found)
    assert "2 further pairs" in str(found)
    assert (found.to_json()["pairs"], found.to_json()["unjudged"]) == (3, 2)


def test_every_caution_is_explained_in_the_docs():
    page = page_text("judgments.md")
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == list(CAUTIONS)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"annotators": ["anna"]}, OptionError, "two or more annotators"),
        ({"consensus": "dora"}, UnknownNameError, "dora"),
        ({"groups": {"dora": "experts"}}, UnknownNameError, "dora"),
        ({"view": "full", "weights": "linear"}, OptionError, "ordered labels"),
        ({"initial": "anna"}, UnknownNameError, "argument of agree_on_judgments: 'initial'"),
        ({"split": ","}, OptionError, "`split` needs `by`"),
        ({"ties": "adjudicated"}, OptionError, "name it with"),
        ({"ties": "first"}, UnknownNameError, "leave-out"),
        ({"permutations": 0}, OptionError, "at least 1"),
        ({"scheme": ""}, OptionError, "need a scheme"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(corpus, wrong, error, words):
    refuses(error, words, agree_on_judgments, corpus, **{"scheme": "turku", **wrong})


def test_weights_take_the_views_with_an_order(corpus):
    views = measure(corpus, weights="linear").views
    assert ("base" in views, "full" in views) == (True, False)


@pytest.mark.parametrize(
    ("command", "wrong", "told"),
    [
        ("agree", TURKU, "--scheme; it is an option of agree-judgments"),
        ("agree-judgments", [*TURKU, "--samples", "5"], "--samples; it is an option of agree"),
        ("agree-plan", ["--scheme", "turku"], "--scheme; it is an option of agree-judgments"),
        ("agree-judgments", ["--half-width", ".1"], "--half-width; it is an option of agree-plan"),
        ("agree", ["--samplse", "5"], "did you mean --samples?"),
        ("agree-judgments", [], "by --scheme: paraphrase, turku"),
    ],
    ids=str,
)
def test_an_option_of_another_question_is_named_with_its_command(capsys, command, wrong, told):
    assert main([command, "samples/paraphrases.jsonl", *wrong]) == 2
    assert told in capsys.readouterr().err.splitlines()[0]


def test_the_kappas_are_drawn_for_a_paper(corpus, tmp_path, capsys):
    plot = tmp_path / "plot.svg"
    assert run(corpus, tmp_path, "--view", "base", "--csv", "--plot", plot) == 0
    assert plot.stat().st_size > 5_000
    assert run(corpus, tmp_path, "--view", "base", "--plot", tmp_path / "plot.txt") == 2
    assert ".svg" in capsys.readouterr().err


def kappas(sums):
    """Return kappa of two annotators and two labels, of sums of (00, 01, 10, 11)."""
    shares = sums / sums.sum(axis=1, keepdims=True)
    first, second = (shares[:, 2] + shares[:, 3]), (shares[:, 1] + shares[:, 3])
    chance = first * second + (1 - first) * (1 - second)
    return {"kappa": ratio(shares[:, 0] + shares[:, 3] - chance, 1 - chance)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pairs", "least", "most"), [(30, 0.68, 0.8), (50, 0.85, 0.93), (100, 0.9, 0.96)]
)
def test_intervals_of_kappa_of_a_rare_label_need_fifty_pairs(pairs, least, most):
    rng, inside = np.random.default_rng(6), []
    cells = np.array([0.87, 0.03, 0.03, 0.07])  # one of two labels has 10%
    truth = kappas(cells[np.newaxis])["kappa"][0]
    for k in range(repetitions(5000)):
        rows = np.eye(4, dtype=int)[rng.choice(4, size=pairs, p=cells)]
        sums = np.concatenate(list(resample(rows, 500, np.random.default_rng(k))))
        interval = summarize(kappas(sums)["kappa"], 0.95)  # as for judgments
        if not interval.reason:
            inside.append(interval.low <= truth <= interval.high)
    assert least < np.mean(inside) < most


def test_pairs_too_long_for_a_page_are_counted():
    def pair(id, source, *judgments):
        annotations = {}
        for name, judgment in zip(("anna", "ben"), judgments, strict=True):
            annotations[name] = Annotation(None, judgment=judgment)
        return SentencePair(id, (source,), ("b",), annotations)

    short = pair("2", "a", "4", "1")
    alike = pair("3", "a", "4", "4")
    for pairs, title in (
        ([pair("1", "a" * 1_000_001, "4", "1"), short, alike], "2 of 3 pairs .*; none is shown to"),
        ([short, pair("1", "a" * 1_000_001, "4", "1"), alike], "2 of 3 pairs .*; the first 1 are"),
        ([short, alike], "1 of 2 pairs are judged differently by annotators"),
        ([alike], "None of the pairs are judged differently by annotators"),
    ):
        table = measure(Corpus(pairs), ["anna", "ben"]).page_tables()[-1]
        assert re.match(title, table.title), table.title


def test_the_column_of_pairs_does_not_count_pairs_left_out_and_says_so(corpus):
    (table,) = [x for x in measure(corpus, NAMES).tables() if x.anchor == "judgments-others"]
    records = [row for row in table.to_records() if row["view"] == "base"]
    by_name = {row["who"]: row for row in records}
    rows = [row.split() for row in ROWS]
    base = get_view("turku", "base").rows
    tied = alike = 0
    for row in rows:
        anna, ben, *others = [base[judgment] for judgment in row]
        votes = Counter(label for label in (anna, *others) if label is not None)
        if ben is None or not votes:
            continue
        most = max(votes.values())
        if list(votes.values()).count(most) > 1:
            tied += 6
        else:
            alike += 6
    assert tied
    assert by_name["ben"]["pairs"] == alike
    assert by_name["ben"]["left_out"] == pytest.approx(tied / (tied + alike))
    assert "does not count them" in table.note
