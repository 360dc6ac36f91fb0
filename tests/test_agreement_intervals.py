"""Statistics are measures of sums of rows: of a corpus, of its groups, of bootstrap resamples."""

from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference_agreement import alpha, alpha_units
from repetitions import FULL
from scipy.stats import bootstrap as scipy_bootstrap
from scipy.stats import t as student
from strategies_agreement import RULES, corpora
from strategies_agreement import two_aligned as pair

from alignkit import agreement
from alignkit.agreement.alpha import ALPHA
from alignkit.agreement.fleiss import FLEISS
from alignkit.agreement.intervals import NO_PAIRS, ONE_COUNTS, bootstrap, draw_weights
from alignkit.agreement.kappa import CELLS
from alignkit.agreement.options import Draws
from alignkit.agreement.overlaps import OVERLAP
from alignkit.agreement.pairs import CorpusData, PairData
from alignkit.errors import OptionError
from alignkit.model.corpus import Corpus
from alignkit.stats.resampling import ALIKE, ONE_PAIR, UNDEFINED

OF_TWO = (*OVERLAP, *CELLS, *ALPHA)


def compared(corpus, annotators=None, *, exact_case=False, **options):
    return PairData.of(CorpusData(corpus, exact_case=exact_case), annotators, **options)


def plain(corpus, rule):
    found = {}
    for level, row in agreement.overlap(corpus, "A", "B", **rule).rows().items():
        found |= {f"{level}.{name}": getattr(row, name) for name in ("precision", "recall", "f1")}
    cells = agreement.cell_agreement(corpus, "A", "B", **rule)
    for name in ("all", "possible", "sure"):
        table = getattr(cells, name)
        found |= {
            f"cells.{name}.{one}": getattr(table, one) for one in ("observed", "kappa", "ac1")
        }
        if name != "all":
            found[f"cells.{name}.prevalence"] = table.prevalence[1]
    for links in ("possible", "sure"):
        for distance in agreement.DISTANCES:
            result = agreement.krippendorff_alpha(
                corpus, ["A", "B"], distance=distance, links=links, **rule
            )
            found[f"alpha.{links}.{distance}"] = result.alpha
    return found


def figures(statistics, data, mask=None):
    found = {}
    for statistic in statistics:
        rows = statistic.rows(data)
        values = (rows if mask is None else rows.part(mask)).figures()
        assert tuple(values) == statistic.measures
        found |= {f"{statistic.level}.{name}": value for name, value in values.items()}
    return found


def same(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert value == pytest.approx(other[name], abs=1e-9, nan_ok=True), name


def resampled(corpus, weights):
    return Corpus(
        pair for pair, times in zip(corpus, weights, strict=True) for _ in range(int(times))
    )


@given(corpora(("A", "B")), RULES)
def test_a_sum_of_rows_gives_what_the_plain_functions_give(corpus, rule):
    same(figures(OF_TWO, compared(corpus, ("A", "B"), **rule)), plain(corpus, rule))


def jackknife_bounds(corpus, rule, name, confidence):
    """Return Wilson's bounds for as many observations as are as informative; a plain loop."""
    level, _, measure = name.rpartition(".")
    every = agreement.overlap(corpus, "A", "B", **rule).rows()[level]
    value, values, sizes = getattr(every, measure), [], []
    for left_out in range(len(corpus)):
        others = Corpus(pair for k, pair in enumerate(corpus) if k != left_out)
        row = agreement.overlap(others, "A", "B", **rule).rows()[level]
        values.append(getattr(row, measure))
        size = every.hypothesis + every.reference - row.hypothesis - row.reference
        sizes.append(size)
    count = len(corpus)
    variance = (count - 1) / count * sum((x - sum(values) / count) ** 2 for x in values)
    degrees = sum(sizes) ** 2 / sum(size**2 for size in sizes) - 1
    z = student.ppf((1 + confidence) / 2, degrees)
    effective = value * (1 - value) / variance
    # the shares p with |value - p| <= z sqrt(p (1 - p) / effective)
    a, b, c = 1 + z * z / effective, -(2 * value + z * z / effective), value**2
    root = sqrt(b * b - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


@settings(max_examples=12 if FULL else 6)
@given(corpora(("A", "B"), complete=True), RULES, st.integers(0, 9))
def test_intervals_are_those_of_a_plain_loop_over_resampled_corpora(corpus, rule, seed):
    assume(len(corpus) > 1)
    data = compared(corpus, ("A", "B"), **rule)
    (found,) = bootstrap(
        OF_TWO,
        [one.rows(data) for one in OF_TWO],
        [np.ones(len(data), bool)],
        Draws(resamples=12, confidence=0.8, seed=seed),
    )
    (stream,) = np.random.SeedSequence(seed).spawn(1)
    (weights,) = draw_weights(len(corpus), 12, stream)
    looped = [plain(resampled(corpus, row), rule) for row in weights]
    assert found.keys() == looped[0].keys()
    for name, interval in found.items():
        values = np.array([one[name] for one in looped])
        defined = values[~np.isnan(values)]
        by_jackknife = name.startswith(("words.", "phrases."))
        if not len(defined):
            assert interval == UNDEFINED
        elif np.ptp(defined) <= 1e-12:
            assert interval == ALIKE
        elif isinstance(interval, str):
            assert (by_jackknife, interval) == (True, ONE_COUNTS)
        else:
            bounds = np.quantile(defined, [0.1, 0.9])
            if by_jackknife:
                bounds = jackknife_bounds(corpus, rule, name, 0.8)
            assert (interval.low, interval.high) == pytest.approx(tuple(bounds))
            assert interval.standard_error == pytest.approx(defined.std())
            assert interval.undefined == len(values) - len(defined)


@settings(max_examples=30)
@given(corpora(), RULES, st.sampled_from(["possible", "sure"]), st.integers(0, 9))
def test_alpha_and_fleiss_of_all_annotators_can_be_resampled(corpus, rule, links, seed):
    data = compared(corpus, least=2, **rule)
    weights = np.random.default_rng(seed).integers(0, 4, (3, len(data))).astype(float)
    rows = next(one for one in ALPHA if one.level == f"alpha.{links}").rows(data)
    found = rows.measure(rows.sums(weights))
    shared = Corpus(corpus[place] for place in data.places)
    for k, row in enumerate(weights):
        units = alpha_units(resampled(shared, row), corpus.annotators, links, **rule)
        for distance in agreement.DISTANCES:
            expected, value = alpha(units, distance)[0], found[distance][k]
            assert isnan(value) if expected is None else value == pytest.approx(expected, abs=1e-9)
    every = compared(corpus)
    rows, weights = FLEISS[0].rows(every), weights[:, : len(every)]
    complete = Corpus(corpus[place] for place in every.places)
    for value, row in zip(rows.measure(rows.sums(weights))["kappa"], weights, strict=True):
        again = resampled(complete, row)
        expected = agreement.fleiss_kappa(again, corpus.annotators).kappa if len(again) else np.nan
        assert value == pytest.approx(expected, nan_ok=True)


def test_scipy_gives_nearly_the_same_interval():
    rng = np.random.default_rng(5)
    pairs = [
        pair(f"0-0 1-{rng.integers(3)} 2-{rng.integers(3)}", f"0-0 1-{rng.integers(3)} 2-2")
        for _ in range(40)
    ]
    rows = OVERLAP[0].rows(compared(Corpus(pairs), ("A", "B")))
    options = Draws(resamples=5000, confidence=0.9, seed=1)
    (found,) = bootstrap(OVERLAP[:1], [rows], [np.ones(40, bool)], options)
    counts = np.asarray(rows.counts)
    other = scipy_bootstrap(
        (np.arange(40),),
        lambda drawn, axis: counts[drawn, 1].sum(axis) / counts[drawn, 0].sum(axis),
        n_resamples=5000,
        confidence_level=0.9,
        method="percentile",
        random_state=2,
        vectorized=True,
    )
    interval = found["words.possible.precision"]
    assert interval.low == pytest.approx(other.confidence_interval.low, abs=0.01)
    assert interval.high == pytest.approx(other.confidence_interval.high, abs=0.01)
    assert interval.standard_error == pytest.approx(other.standard_error, rel=0.05)


def test_where_there_is_nothing_to_resample_the_reason_stands():
    alike = pair("0-0 1-1", "0-0 1-2")
    data = compared(Corpus([alike, alike, alike]), ("A", "B"))
    masks = [np.array(mask, bool) for mask in ([1, 1, 1], [0, 1, 0], [0, 0, 0])]
    whole, one, none = bootstrap(
        OF_TWO,
        [statistic.rows(data) for statistic in OF_TWO],
        masks,
        Draws(resamples=50, seed=1),
    )
    assert (set(whole.values()), set(one.values())) == ({ALIKE}, {ONE_PAIR})
    assert set(none.values()) == {NO_PAIRS}
    assert whole.keys() == one.keys() == none.keys()
    empty = compared(Corpus([pair("", ""), pair("", "")]), ("A", "B"))
    (found,) = bootstrap(
        OVERLAP,
        [statistic.rows(empty) for statistic in OVERLAP],
        [np.ones(2, bool)],
        Draws(resamples=5, seed=1),
    )
    assert set(found.values()) == {UNDEFINED}


def test_bad_questions_are_refused():
    for resamples, confidence in ((0, 0.95), (10, 1.0), (10, 0.0)):
        with pytest.raises(OptionError):
            Draws(resamples=resamples, confidence=confidence)


def test_planned_memory_does_not_change_the_result(monkeypatch):
    pairs = [pair(f"0-{k % 3} 1-1", f"0-0 1-{k % 2}") for k in range(7)]
    data, masks = compared(Corpus(pairs), ("A", "B")), [np.ones(7, bool), np.arange(7) < 3]

    def intervals():
        rows = [one.rows(data) for one in OF_TWO]
        return bootstrap(OF_TWO, rows, masks, Draws(resamples=40, seed=3))

    at_once = intervals()
    monkeypatch.setattr("alignkit.stats.resampling._CHUNK_BYTES", 1)
    monkeypatch.setattr("alignkit.agreement.value_sets._BLOCK_NUMBERS", 1)
    bounded = 0
    for one, other in zip(at_once, intervals(), strict=True):
        for name, interval in one.items():
            if isinstance(interval, str):
                assert other[name] == interval
            else:
                assert vars(other[name]) == pytest.approx(vars(interval))
                bounded += 1
    assert bounded > 20
