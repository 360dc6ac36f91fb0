"""Rewrites and plain pairs, drawn for judges who know nothing of them, and what these uphold."""

import json
from collections import Counter
from contextlib import suppress
from itertools import combinations
from math import isnan
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from audit_sheets import filled, read, save
from command import write
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_audit import kappa
from refusals import refuses
from repetitions import FULL
from scipy.stats import binomtest

from alignkit import Alignment, Annotation, Corpus, SentencePair, read_corpus
from alignkit.audit import draw_pairs, read_audit, write_audit
from alignkit.audit.figures import ALL, EVERY
from alignkit.audit.judged_pairs import fitting_scheme
from alignkit.audit.key import key_text, read_key
from alignkit.errors import FormatError, MissingTextError, OptionError, UnknownNameError
from alignkit.stats import newcombe_interval

PEOPLE = ("anna", "ben", "eva", "kim", "lou")
SEEDS = st.integers(0, 10**6)


def pair(id, judged, attributes=None, when="", **more):
    said = {who: Annotation(None, judgment=text, when=when or None) for who, text in judged.items()}
    text = id.replace("/r1", "00")
    return SentencePair(id, ("one", text), ("two", text), said, attributes or {}, **more)


def sample(plain=30, anew=20, seed=1, people=("carl",)):
    """Make a corpus in which annotators judged plain pairs, and wrote some of them anew."""
    chance = Random(seed)
    pairs = []
    for k in range(plain):
        period = {"period": f"p{k % 3}"}
        judged = {chance.choice(people): chance.choice(["4", "4<", "3", "4i", "2", "x"])}
        pairs.append(pair(f"{k}", judged, period))
        if k < anew:
            rewritten = {"rewrite_of": f"{k}", **period}
            pairs.append(pair(f"{k}/r1", {chance.choice(people): "4"}, rewritten))
    return Corpus(pairs)


def draw(corpus=None, **options):
    return draw_pairs(sample() if corpus is None else corpus, **({"n": 20, "seed": 1} | options))


@given(SEEDS, st.integers(1, 60), st.floats(0, 1), st.integers(1, 3), st.integers(3, 5))
def test_what_is_drawn_is_as_asked_for(seed, n, mix, each, judges):
    corpus = sample(seed=seed)
    options = {"n": n, "mix": mix, "seed": seed, "each": each, "judges": PEOPLE[:judges]}
    audit = draw(corpus, **options)
    anew = [one.id for one in corpus if "rewrite_of" in one.attributes]
    judged = {one.id: next(iter(one.annotations.values())).judgment for one in corpus}
    plain = [id for id, judgment in judged.items() if id not in anew and judgment[0] in "34"]
    ids = {origin: [item.facts["pair"] for item in audit.of(origin)] for origin in audit.origins}
    assert set(ids["rewrite"]) <= set(anew)
    assert set(ids["plain"]) <= set(plain)
    assert len(set(ids["rewrite"] + ids["plain"])) == len(audit.items)
    sizes = {"rewrite": len(anew) if mix else 0, "plain": len(plain) if mix < 1 else 0}
    assert len(audit.items) == min(n, sum(sizes.values()))
    wanted = round(n * mix)
    if wanted <= sizes["rewrite"] and n - wanted <= sizes["plain"]:
        assert len(ids["rewrite"]) == wanted
    assert audit.origins["plain"].population == len(plain)
    for item in audit.items:
        assert item.cells == tuple(" ".join(text) for text in corpus[item.facts["pair"]].words)
        assert len(set(item.judges)) == each
    for origin in audit.origins:
        counts = Counter(judge for item in audit.of(origin) for judge in item.judges)
        loads = [counts[judge] for judge in audit.judges]
        assert max(loads) - min(loads) <= 1
    assert draw(corpus, **options).items == audit.items


@given(SEEDS, st.integers(1, 2))
def test_nobody_is_given_what_he_judged(seed, each):
    corpus = sample(seed=seed, people=PEOPLE)
    judged = {one.id: set(one.annotations) for one in corpus}
    for item in draw(corpus, n=50, seed=seed, each=each, judges=PEOPLE).items:
        assert not judged[item.facts["pair"]] & set(item.judges)
        # four are left, three at least of whom nobody judged the pair that it was written anew of
        assert not judged.get(item.facts.get("rewrite_of"), set()) & set(item.judges)


def test_too_few_judges_left_are_told_with_their_number():
    corpus = Corpus(
        pair(str(k), {"anna": "4", "ben": "4"} if k < 7 else {"anna": "4"}) for k in range(10)
    )
    with pytest.raises(OptionError, match=r"10 of 10 pairs .* 2 of anna, ben"):
        draw(corpus, mix=0, judges=["anna", "ben"])
    with pytest.raises(OptionError, match=r"7 of 10 pairs .* 2 of anna, ben,"):
        draw(corpus, mix=0, judges=["anna", "ben", "eva"])
    assert len(draw(corpus, mix=0, judges=["anna", "eva", "kim"]).items) == 10


def test_authors_of_a_rewrite_are_not_given_it_and_who_aligned_a_pair_only_for_want_of_others():
    made = pair("1/r1", {}, {"rewrite_of": "1", "rewritten_by": "anna,ben"})
    with pytest.raises(OptionError, match="1 of 1 pairs drawn"):
        draw(Corpus([made]), mix=1, judges=["anna", "ben", "eva"])
    audit = draw(Corpus([made]), mix=1, judges=["anna", "eva", "kim"])
    assert audit.items[0].judges == ("eva", "kim")
    said = {"anna": Annotation(Alignment.parse("0-0")), "carl": Annotation(None, judgment="4")}
    aligned = SentencePair("1", ("a",), ("b",), said)
    assert draw(Corpus([aligned]), mix=0, judges=PEOPLE[:3]).items[0].judges == ("ben", "eva")
    assert draw(Corpus([aligned]), mix=0, judges=PEOPLE[:2]).items[0].judges == ("anna", "ben")


def test_sheets_tell_nothing(tmp_path):
    audit = draw(sample(people=("carl", "dora")), judges=PEOPLE[:3])
    paths = write_audit(audit, tmp_path, sheets=["tsv", "csv", "html"])
    for path in paths[:-1]:
        text = Path(path).read_text("utf-8")
        for word in ("rewrite", "plain", "carl", "dora", "period", "p1", "turku", "/r1"):
            assert word not in text.replace("text/plain", ""), word
        if path.endswith("tsv"):
            rows, judge = read(path), Path(path).stem.partition("-")[2]
            mine = {item.id for item in audit.items if judge in item.judges}
            assert {row["item"] for row in rows} == mine
            assert list(rows[0]) == ["item", "judge", "source", "target", "judgment", "remark"]
    assert read_key(paths[-1]).items == audit.items
    assert key_text(read_key(paths[-1])) == key_text(audit)


def test_neither_ids_nor_order_tell_the_origin():
    """Over many seeds a rewrite stands as often in the first half of the ids as a plain pair."""
    corpus, first = sample(), Counter()
    for seed in range(200):
        order = sorted(draw(corpus, n=20, seed=seed).items, key=lambda item: item.id)
        first.update(item.origin for item in order[:10])
    assert abs(first["rewrite"] - first["plain"]) < 4 * 2000**0.5


def test_the_scheme_is_the_one_that_fits():
    assert fitting_scheme(["none", "partial"]) == "paraphrase"
    for texts, told in (
        (["1", "2"], "fit several schemes"),
        (["4", "maybe"], "no scheme fits all"),
    ):
        refuses(OptionError, told, fitting_scheme, texts)
    audit = draw(view="base")
    assert (audit.scale.names, audit.upheld) == (("1", "2", "3", "4"), ("3", "4"))
    assert audit.scale.meanings[:2] == ("unrelated", "related")
    assert draw(view="strict").upheld == ("3", "4")
    assert draw(view="full", upheld=["4", "4s"]).upheld == ("4", "4s")
    refuses(UnknownNameError, "label of turku, base", draw, view="base", upheld=["5"])
    said = Corpus([pair("1", {"a": "forward"})])
    refuses(OptionError, "entailment, full, uphold", draw, said, mix=0)
    assert draw(said, mix=0, upheld=["forward"]).upheld == ("forward",)


def test_plain_pairs_are_those_that_all_who_judged_uphold():
    corpus = Corpus(
        [
            pair("1", {"a": "4", "b": "2"}),
            pair("2", {"a": "4", "b": "3"}),
            pair("3", {"b": "x"}),
            pair("4", {}),
            pair("5", {"a": "4"}),
        ]
    )

    def ids(**options):
        return sorted(item.facts["pair"] for item in draw(corpus, mix=0, **options).items)

    assert (ids(), ids(annotators=["a"])) == (["2", "5"], ["1", "2", "5"])
    assert ids(plain="all") == list("12345")
    refuses(UnknownNameError, "who judged pairs 'c'", ids, annotators=["c"])


@pytest.mark.parametrize(
    "options",
    [
        {"n": 0},
        {"mix": 1.5},
        {"mix": float("nan")},
        {"seed": -1},
        {"each": 3},
        {"each": 0},
        {"judges": ["a", "A"]},
        {"judges": ["a/b", "c"]},
        {"plain": "some"},
        {"by": "periode"},
        {"by": "month"},
        {"scheme": "turkey"},
        {"view": "binari"},
    ],
)
def test_wrong_options_are_refused(options):
    refuses((OptionError, UnknownNameError), None, draw, **options)


def test_without_rewrites_words_or_judgments_the_error_says_so():
    refuses(OptionError, "attribute rewrite_of; `mix=0`", draw, sample(anew=0))
    with pytest.raises(OptionError, match="plain pair is upheld"):
        draw(Corpus([pair("1", {"a": "2"}), pair("2", {}, {"rewrite_of": "1"})]), scheme="turku")
    with pytest.raises(MissingTextError):
        draw(Corpus([SentencePair("1", None, None, {"a": Annotation(None, judgment="4")})]), mix=0)
    with pytest.raises(FormatError, match="pair '1', annotator 'a': 'so so'"):
        draw(Corpus([pair("1", {"a": "so so"})]), mix=0, scheme="turku")


def judged_binary(audit, judges, seed, missing):
    chance, said = Random(seed), {judge: {} for judge in judges}
    for item in audit.items:
        truth = chance.random() < (0.6 if item.origin == "rewrite" else 0.9)
        for judge in item.judges:
            if chance.random() >= missing:
                said[judge][item.id] = str(int(truth if chance.random() < 0.8 else not truth))
    return said


@settings(max_examples=100 if FULL else 12)
@given(SEEDS, st.integers(2, 4), st.sampled_from([0.0, 0.3, 0.9]))
def test_all_figures_are_those_of_a_plain_script(seed, judges, missing):
    audit = draw(n=24, judges=PEOPLE[:judges], seed=seed, by="period")
    said = judged_binary(audit, audit.judges, seed, missing)
    if not any(said.values()):
        return
    chance = Random(seed)
    forms = {"0": ["0", "no paraphrase", "No Paraphrase "], "1": ["1", " paraphrase"]}
    typed = {
        judge: {id: chance.choice(forms[text]) for id, text in one.items()}
        for judge, one in said.items()
    }
    with TemporaryDirectory() as folder:
        found = read_audit(*filled(folder, audit, typed), resamples=20)
    check(found, said, audit.items, "")
    for period in ("p0", "p1", "p2"):
        items = [item for item in audit.items if item.facts["attributes"]["period"] == period]
        if items:
            check(found, said, items, period)


def check(found, said, items, group):
    for who in (*said, EVERY, ALL):
        counts = {}
        for origin in ("rewrite", "plain"):
            count = total = 0
            for item in items:
                names = said if who in (EVERY, ALL) else [who]
                given_names = [said[name][item.id] for name in names if item.id in said[name]]
                if item.origin != origin or not given_names:
                    continue
                one = given_names if who != EVERY else [min(given_names)]
                count, total = count + one.count("1"), total + len(one)
            counts[origin] = count, total
            figure = found.figure("upheld", "upheld", first=who, origin=origin, group=group)
            assert (figure.count, figure.total) == (count, total)
            if not total:
                assert isnan(figure.value)
                assert figure.reason
                continue
            assert figure.value == count / total
            if who != ALL:
                bounds = binomtest(count, total).proportion_ci(method="wilson")
                assert (figure.low, figure.high) == pytest.approx((bounds.low, bounds.high))
        (a, b), (c, d) = counts["rewrite"], counts["plain"]
        of = {"first": who, "origin": "rewrite - plain", "group": group}
        figure = found.figure("difference", "upheld", **of)
        if not (b and d):
            assert isnan(figure.value)
            assert figure.reason
            continue
        assert figure.value == pytest.approx(a / b - c / d)
        if who != ALL:
            assert (figure.low, figure.high) == pytest.approx(newcombe_interval(a, b, c, d))
    for first, second in combinations(said, 2):
        lists = [[said[name].get(item.id) for item in items] for name in (first, second)]
        both = sum(x is not None and y is not None for x, y in zip(*lists, strict=True))
        if group and not both:
            continue
        figure = found.figure("agreement", "kappa", first=first, second=second, group=group)
        expected = kappa(*lists)
        assert figure.items == both
        told = isnan(figure.value) and figure.reason
        assert told if expected is None else figure.value == pytest.approx(expected)


def test_groups_are_told_by_any_attribute(tmp_path):
    pairs = [
        pair(
            str(k),
            {"carl": "4"},
            {"genre": "news" if k % 2 else "blog"},
            when=f"2026-0{1 + k % 3}-05T10:00:00Z",
        )
        for k in range(12)
    ]
    audit = draw(Corpus(pairs), n=12, mix=0)
    sheets, key = filled(tmp_path, audit, judged_binary(audit, "AB", 1, 0))
    assert not any(one.group for one in read_audit(sheets, key).figures)
    months = {one.group for one in read_audit(sheets, key, by="month").figures}
    assert months == {"", "2026-01", "2026-02", "2026-03"}
    found = read_audit(sheets, key, by="genre")
    assert {one.group for one in found.figures} == {"", "blog", "news"}
    assert "judges by genre" in found.show()
    assert found.to_json()["by"] == "genre"
    with pytest.raises(UnknownNameError, match="did you mean 'genre'"):
        read_audit(sheets, key, by="gnre")


def test_a_row_from_the_sheet_of_another_is_refused(tmp_path):
    audit = draw(judges=PEOPLE[:3])
    sheets, key = filled(tmp_path, audit, judged_binary(audit, PEOPLE[:3], 1, 0))
    rows, others = (read(path) for path in sheets[:2])
    mine = {row["item"] for row in rows}
    strange = next(row for row in others if row["item"] not in mine)
    save(sheets[0], [*rows, {**strange, "judge": "anna"}])
    with pytest.raises(FormatError, match="not given to anna") as caught:
        read_audit(sheets, key)
    assert caught.value.line == len(rows) + 2
    save(sheets[0], rows[:-1])
    found = read_audit(sheets, key)
    assert [one.kind for one in found.filled.findings] == ["missing"]
    assert f"anna judged {len(rows) - 1} of {len(rows)} items" in found.cautions[0]
    save(sheets[0], [{**row, "judge": "zoe"} for row in rows])
    assert any("zoe was given no" in text for text in read_audit(sheets, key).cautions)


def test_others_than_those_it_was_drawn_for_get_no_sheet(tmp_path):
    with pytest.raises(OptionError, match="not for anna, ben"):
        write_audit(draw(), tmp_path, judges=["anna", "ben"])


@given(st.data())
def test_a_damaged_key_or_sheet_is_an_error_or_understood(data):
    audit = draw(n=6, judges=PEOPLE[:3])
    with TemporaryDirectory() as folder:
        sheets, key = filled(folder, audit, judged_binary(audit, PEOPLE[:3], 1, 0))
        path = Path(data.draw(st.sampled_from([*sheets, key])))
        text = path.read_text("utf-8")
        start = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(start, min(len(text), start + 40)))
        path.write_text(text[:start] + data.draw(st.text(max_size=5)) + text[end:], "utf-8")
        with suppress(FormatError, OptionError):
            read_audit(sheets, key, resamples=2).show()


@pytest.mark.parametrize(
    "changed",
    [
        {"upheld": ["2"]},
        {"meanings": ["one"]},
        {"meanings": ["1", "0"]},
        {"by": 3},
        {"judges": ["nobody"]},
        {"judges": "anna"},
        {"origins": {}},
    ],
)
def test_a_key_that_contradicts_itself_is_an_error(tmp_path, changed):
    record = json.loads(key_text(draw()))
    (record["items"][0] if "judges" in changed else record).update(changed)
    refuses(FormatError, "damaged key", read_key, write(tmp_path, "key.json", json.dumps(record)))


def test_a_label_that_is_named_twice_upholds_an_item_once(tmp_path):
    figures = []
    for upheld in (["1"], ["1", "1"]):
        folder = tmp_path / str(len(upheld))
        folder.mkdir()
        audit = draw(judges=PEOPLE[:3], upheld=upheld, view="binary")
        found = read_audit(*filled(folder, audit, judged_binary(audit, PEOPLE[:3], 1, 0)))
        figures.append([figure for figure in found.figures if figure.kind == "upheld"])
    assert figures[0] == figures[1]
    assert figures[0]


@pytest.mark.real_data
def test_the_swedish_set_is_audited(data, tmp_path):
    corpus = read_corpus(data / "turku" / "sv-test.json")
    audit = draw_pairs(corpus, n=200, seed=3, judges=PEOPLE[:3], by="fold")
    sizes = {name: (one.population, one.drawn) for name, one in audit.origins.items()}
    assert sizes == {"rewrite": (136, 100), "plain": (1078, 100)}
    found = read_audit(*filled(tmp_path, audit, judged_binary(audit, PEOPLE[:3], 1, 0)))
    assert found.figure("upheld", "upheld", first=EVERY, origin="plain").total == 100
    assert len(draw_pairs(corpus, n=500, seed=3).items) == 500
