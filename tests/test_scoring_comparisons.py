"""Systems compared two by two: Holm's correction, few pairs, names, what must be the same."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_scoring import holm_reference
from refusals import refuses

import alignkit as ak
from alignkit.cli.common.named_files import short_names
from alignkit.errors import ArgumentError, JoinError, OptionError, UnknownNameError
from alignkit.scoring import Comparisons
from alignkit.stats import holm
from alignkit.stats.corrections import holm_bounds
from alignkit.stats.tests import enough_draws
from alignkit.tables.columns import Column

PAIRS = 40


def make(quality, seed=1, pairs=PAIRS):
    rng = np.random.default_rng(seed)
    gold = [{(k, k) for k in range(1 + number % 7)} for number in range(pairs)]
    return ak.score([{(i, j) for i, j in links if rng.random() < quality} for links in gold], gold)


SYSTEMS = {"poor": make(0.4), "fair": make(0.6, 2), "good": make(0.9, 3)}
FOUND = ak.compare(SYSTEMS, resamples=200, trials=300, seed=1)


@given(st.lists(st.integers(0, 40).map(lambda n: n / 40), max_size=6))
def test_holm_is_the_least_level_at_which_its_steps_reject(p_values):
    assert holm(p_values) == pytest.approx(holm_reference(p_values))


def test_undefined_p_values_stay_so_and_count_for_nothing():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])  # by hand
    found = holm([math.nan, 0.02, 0.5])
    assert math.isnan(found[0])
    assert found[1:] == [0.04, 0.5]


def test_every_two_systems_are_compared_and_corrected_measure_by_measure():
    pairs = list(dict.fromkeys((one.system, one.baseline) for one in FOUND))
    assert pairs == [("fair", "poor"), ("good", "poor"), ("good", "fair")]
    for measure in ("precision", "recall", "f1", "aer"):
        alike = [one for one in FOUND if one.measure == measure]
        for test in ("randomization", "bootstrap"):
            raw, found = ([getattr(one, f"{test}_{x}") for one in alike] for x in ("p", "holm"))
            assert found == pytest.approx(holm(raw), nan_ok=True)
    against = ak.compare(SYSTEMS, baseline="good", resamples=9, trials=9, seed=1)
    assert {(one.system, one.baseline) for one in against} == {("poor", "good"), ("fair", "good")}


def test_scores_are_compared_as_their_rows_are():
    rows = {name: one.rows["links"] for name, one in SYSTEMS.items()}
    plain = ak.compare(rows, ak.scoring.link_ratios, resamples=200, trials=300, seed=1)
    for one, other in zip(FOUND, plain, strict=True):
        assert (one.level, other.level) == ("links", "")
        assert one.bootstrap_p == pytest.approx(other.bootstrap_p, nan_ok=True)
        assert one.randomization_p == pytest.approx(other.randomization_p, nan_ok=True)


def test_it_prints_a_table_and_feeds_others():
    assert repr(FOUND) == "Comparisons(poor, fair, good; 40 pairs; 12 differences)"
    words = "bootstrap", "randomization", "Holm", "AER", "resamples:200|trials:300|seed:1"
    for text in (str(FOUND), FOUND.show(tables=["differences"])):
        for word in words:
            assert word in text
        assert max(map(len, text.splitlines()[:6])) <= 100
    refuses(UnknownNameError, "did you mean 'systems'", FOUND.show, tables=["system"])
    assert "<table" in FOUND._repr_html_()
    assert "toprule" in FOUND.table().show("latex")
    json.dumps(FOUND.to_json(), allow_nan=False)
    record = FOUND.to_records()[1]
    assert record["low"] <= record["difference"] <= record["high"]
    assert isinstance(FOUND[:2], tuple)
    assert isinstance(FOUND, Comparisons)
    assert [x[:39] for x in FOUND.cautions] == ["with 200 resamples and 3 comparisons of"]


def nine(pairs=300):
    """Return nine systems, each clearly better than the one before."""
    return {f"s{k}": make(0.1 * k + 0.1, seed=k, pairs=pairs) for k in range(9)}


def test_a_large_difference_is_significant_however_many_systems_are_compared():
    """The least p, 2 / (B + 1), times 36 comparisons was .072 with a fixed number of resamples."""
    found = ak.compare(nine())
    assert (found.compared, found.resamples, found.trials) == (36, 36_000, 36_000)
    assert "36,000 resamples, 36,000 trials" in str(found)
    assert "|resamples:36000|trials:36000|" in str(found.signature)
    assert found.cautions == ()
    for row in found:
        if row.measure != "precision":  # all are right in what they link
            assert max(row.bootstrap_holm, row.randomization_holm) < 0.01
    far = next(
        row for row in found if (row.system, row.baseline, row.measure) == ("s8", "s0", "f1")
    )
    assert far.bootstrap_p == 2 / 36_001
    assert far.bootstrap_holm == pytest.approx(72 / 36_001)
    assert far.to_json()["bootstrap_holm_bound"] is True
    assert found.to_records()[1]["bootstrap_p_bound"] is True
    shown = found.show(tables=["differences"]).splitlines()
    (line,) = (x for x in shown if x.startswith("s8 ") and " s0 " in x and " F1 " in x)
    assert line.split()[-4:] == ["<0.0001", "<0.0020", "<0.0001", "<0.0010"]


def test_the_number_of_resamples_is_bounded_and_what_it_does_not_reach_is_said():
    many = {f"s{k}": make(0.5, seed=k, pairs=30) for k in range(3)}
    assert ak.compare(many, trials=9).resamples == 3000
    assert ak.compare(many, baseline="s0", trials=9).resamples == 2000
    assert enough_draws(4950) == 100_000
    few = ak.compare(many, resamples=100, trials=100)
    assert [caution for caution in few.cautions if "Holm" in caution] == [
        f"with 100 {draws} and 3 comparisons of systems, no p-value corrected by Holm's method can "
        f"be below {least}; take 3,000 {draws}"
        for draws, least in (("resamples", "0.059"), ("trials", "0.03"))
    ]
    assert ak.compare(many).cautions == ()


def test_a_p_value_is_a_bound_only_if_no_draw_spoke_against_the_difference():
    for row in ak.compare(nine(40), resamples=99, trials=99):
        assert row.bootstrap_p_bound == (row.bootstrap_p == 2 / 100)
        assert row.randomization_p_bound == (row.randomization_p == 1 / 100)
        shown = [Column("p", "p").show(value).text for value in row.p_values()]
        assert [text.startswith("<") for text in shown] == [
            row.bootstrap_p_bound,
            row.bootstrap_holm_bound,
            row.randomization_p_bound,
            row.randomization_holm_bound,
        ]
    rows = SYSTEMS["poor"].rows["links"]
    (same, *_) = ak.compare({"a": rows, "b": rows}, ak.scoring.link_ratios, resamples=1, trials=1)
    assert (same.bootstrap_p, same.bootstrap_p_bound, same.bootstrap_holm_bound) == (
        1,
        False,
        False,
    )


SMALL = st.lists(st.integers(1, 40).map(lambda n: n / 200), min_size=1, max_size=6)


@given(SMALL, st.floats(0, 1))
def test_corrected_p_values_that_are_no_bounds_do_not_rest_on_any(p_values, lower):
    """If what is at the floor were smaller, only corrected p-values marked as bounds would move."""
    floor = min(p_values)
    bounds = [p == floor for p in p_values]
    smaller = [p * lower if bound else p for p, bound in zip(p_values, bounds, strict=True)]
    marked = holm_bounds(p_values, bounds)
    for p, other, bound in zip(holm(p_values), holm(smaller), marked, strict=True):
        assert bound or p == pytest.approx(other)
    assert all(marked[k] or holm(p_values)[k] == 1 for k, bound in enumerate(bounds) if bound)


def test_the_intervals_of_systems_come_from_the_resamples_of_the_p_values():
    found = ak.compare(SYSTEMS, resamples=4000, trials=9)
    alone = SYSTEMS["good"].with_intervals(resamples=4000)
    for name in ("recall", "f1", "aer"):
        interval = alone.intervals["links"][name]
        mine = found.intervals["good"]["links"][name]
        assert (mine.low, mine.high) == pytest.approx((interval.low, interval.high), abs=0.012)
        low, high = (f"{100 * bound:.1f}" for bound in (mine.low, mine.high))
        assert f"[{low}, {high}]" in str(found)


def test_a_mark_needs_both_tests_and_is_against_the_first():
    systems = {"poor": make(0.45), "fair": make(0.6, 2), "same": make(0.6, 6), "good": make(0.9, 3)}
    compared = ak.compare(systems, seed=1)
    (table,) = compared.tables()
    rows = {row["system"]: row for row in table.to_records()}
    for measure in ("precision", "recall", "f1", "aer"):
        for row in compared:
            if row.measure != measure or row.baseline != "poor":
                continue
            p = max(row.bootstrap_holm, row.randomization_holm)  # as the table of differences
            mark = "**" if p < 0.01 else "*" if p < 0.05 else ""
            assert rows[row.system][measure].partition("]")[2].strip() == mark
        assert "*" not in rows["poor"][measure]
    assert any("*" in str(row) for row in rows.values())
    assert len({len(row["f1"]) for row in rows.values()}) == 1  # figures stay in line


def test_a_wide_table_leaves_out_its_intervals():
    links = [{(0, 0)}, {(1, 1)}] * 20, [{(0, 0)}, {(0, 1)}] * 20
    long = {
        f"{name} is a system with a long name": ak.score(*links, aggregate="both") for name in "ab"
    }
    lines = str(ak.compare(long, resamples=9, trials=9)).splitlines()
    assert not any("[" in line for line in lines[:4])
    assert max(map(len, lines[:4])) <= 100
    assert lines[2].startswith("a is a sys…long name")


def test_few_pairs_are_told_with_the_p_value_to_trust():
    few = {name: make(quality, pairs=29) for name, quality in (("a", 0.4), ("b", 0.8))}
    told = str(ak.compare(few, resamples=9, trials=9, seed=1))
    assert "only 29 sentence pairs" in told
    assert "p-value of randomization" in told
    with_intervals = few["a"].with_intervals(resamples=9, seed=1)
    assert "only 29 sentence pairs" in str(with_intervals)
    assert with_intervals.to_json()["cautions"] == list(with_intervals.cautions)
    assert few["a"].cautions == ("only 29 sentence pairs: other pairs could give other results",)
    assert "only" not in str(make(0.4, pairs=30).with_intervals(resamples=9, seed=1))


@pytest.mark.parametrize("share", [0.01, 0.03, 0.1])
def test_f1_and_aer_of_sure_links_have_the_same_p_values(share):
    """F1 = 1 - AER there, in each resample and trial: also where a system shares nothing."""
    rng = np.random.default_rng(4)
    gold = [{(0, 0)} for _ in range(PAIRS)]
    made = [[{(0, 0)} if rng.random() < p else {(0, 1)} for _ in gold] for p in (share, 0.2)]
    systems = {name: ak.score(links, gold) for name, links in zip("ab", made, strict=True)}
    found = {one.measure: one for one in ak.compare(systems, resamples=500, trials=500)}
    for name in ("bootstrap_p", "randomization_p", "wins"):
        assert getattr(found["f1"], name) == getattr(found["aer"], name)
    assert found["f1"].interval.undefined == 0


def test_a_resample_without_a_difference_shows_no_system_better():
    gold = [{(0, 0)} for _ in range(PAIRS)]
    rare = ak.score([{(0, 0)}, *[set()] * (PAIRS - 1)], gold)
    often = ak.score([{(0, 0)} if k else {(0, 1)} for k in range(PAIRS)], gold)
    (found, *_) = ak.compare({"often": often, "rare": rare}, resamples=500, trials=500)
    assert (found.measure, found.difference > 0) == ("precision", True)
    assert found.interval.undefined > 150  # (39/40) ** 40 = .36 of 500
    assert found.wins == pytest.approx(0.64, abs=0.08)
    assert found.bootstrap_p == pytest.approx(2 * 0.36, abs=0.16)


def test_means_are_compared_where_they_are_asked_for():
    gold = ["0-0 1-1", "0-0"] * 20
    sides = {"a": ["0-0", "0-0"] * 20, "b": gold}
    scores = {name: ak.score(hyp, gold, aggregate="macro") for name, hyp in sides.items()}
    found = {one.measure: one for one in ak.compare(scores, resamples=50, trials=99, seed=1)}
    assert set(found) == {
        "aer",
        "macro_precision",
        "macro_recall",
        "macro_f1",
        "mean_f1",
        "exact_match",
    }
    assert found["macro_recall"].difference == pytest.approx(0.25)
    assert (found["exact_match"].difference, found["exact_match"].wins) == (0.5, 1)
    assert found["exact_match"].randomization_p == 1 / 100
    with pytest.raises(OptionError, match="but 'c' with micro"):
        ak.compare({"c": ak.score(gold, gold), **scores})


def test_what_cannot_be_compared_is_refused():
    one, ratios = SYSTEMS["poor"], ak.scoring.link_ratios
    rows = one.rows["links"]
    bare = ak.score(["0-0"], ["0-0"], keep_rows=False)
    other = ak.score(["0-0"] * PAIRS, ["0-0 1-1"] * PAIRS)
    for error, *given_ in (
        (OptionError, {"a": one, "b": bare}),
        (ArgumentError, {"a": one, "b": rows}),
        (ArgumentError, {"a": 0.5, "b": one}),
        (ArgumentError, [one, one]),
        (ArgumentError, {"a": 3, "b": 4}, ratios),
        (OptionError, SYSTEMS, ratios),
        (ArgumentError, {"a": rows, "b": rows}),
        (OptionError, {"a": one}),
        (JoinError, {"a": one, "b": make(0.5, pairs=39)}),
        (JoinError, {"a": one, "b": other}),
    ):
        refuses(error, None, ak.compare, *given_)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((4, 5), "'b' has 5 counts"),
        ((3, 8), "on 3 sentence pairs"),
    ],
)
def test_an_error_names_what_differs_in_rows_of_counts(shape, message):
    systems = {"a": np.ones((4, 8), np.int64), "b": np.ones(shape, np.int64)}
    with pytest.raises(JoinError, match=message):
        ak.compare(systems, ak.scoring.link_ratios)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ("a.align", "a"),
        ("x/a.align x/b.align", "a b"),
        ("x/a.align y/a.align", "x/a y/a"),
        ("x/a.align x/a.wa", "a.align a.wa"),
        ("x/p/a.b.wa y/p/a.b.wa", "x/p/a.b y/p/a.b"),
        ("- x/a", "- a"),
        ("a ./a", "a ./a"),
        ("/ a", "/ a"),
    ],
)
def test_short_names_tell_paths_apart(paths, names):
    assert list(short_names(paths.split()).values()) == names.split()


@given(st.lists(st.text("ab./", min_size=1, max_size=6), unique=True, max_size=5))
def test_short_names_are_distinct(paths):
    found = short_names(paths)
    assert list(found) == paths
    assert len(set(found.values())) == len(paths)


def test_scores_of_other_pairs_are_not_compared(tmp_path):
    # rows of as many other pairs, of the same reference, look alike
    corpus = ak.Corpus.from_texts(
        ["a"] * 40,
        ["b"] * 40,
        gold=["0-0"] * 40,
        A=["0-0"] * 30 + [None] * 10,
        B=[None] * 10 + ["0-0"] * 15 + [""] * 15,
    )
    path = str(tmp_path / "c.jsonl")
    ak.write_corpus(corpus, path, format="alignkit-jsonl")
    for scores in (
        {name: ak.score(corpus, name, "gold") for name in "AB"},
        {name: ak.score(path, path, hyp_annotator=name, ref_annotator="gold") for name in "AB"},
    ):
        refuses(JoinError, "the same sentence pairs", ak.compare, scores)
    shared = corpus.annotated_by("A", "B", "gold")
    assert len(ak.compare({name: ak.score(shared, name, "gold") for name in "AB"})) == 4


def test_a_comparison_shows_the_tables_that_are_asked_for():
    systems, differences = (FOUND.show(tables=[name]) for name in ("systems", "differences"))
    assert FOUND.show() == systems
    heading = differences.splitlines()[0]
    assert heading not in systems
    assert systems.splitlines()[0] not in differences
    both = FOUND.show(tables=["systems", "differences"])
    assert heading in both
