"""Sampled chance is that of the definition: exact enumeration, honest errors, any workers."""

from math import isnan

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference_chance import exact, items, near, stratum
from repetitions import FULL
from strategies_agreement import corpora

from alignkit import Alignment, Corpus, LinkArrays, SentencePair
from alignkit._support.jit import Kernel
from alignkit.agreement.chance import items_kernel
from alignkit.agreement.chance import sampling_kernel as kernel
from alignkit.agreement.chance.correction import ObservedTerms, correct, noise, rows
from alignkit.agreement.chance.models import CHANCE_MODELS, STRATA, Edits, count_edits
from alignkit.agreement.chance.sampling import UNITS, Items, Sampling, monte_carlo, terms_of
from alignkit.agreement.pairs import CorpusData

WORDS = st.sampled_from("abc")


def sampling(pairs, rates, unit="phrases", normalizer="min", identical=False, universe=None):
    made = [SentencePair("", list(source), list(target)) for source, target, _ in pairs]
    lengths = [pair.lengths for pair in made]
    initial = LinkArrays.pack([Alignment.parse(links) for *_, links in pairs], lengths)
    rates = np.array(rates, float).reshape(len(pairs), -1 if pairs else 4)
    bounds = None if universe is None else LinkArrays.pack([Alignment(universe)], lengths)
    words = Items(unit, identical, *CorpusData(Corpus(made)).words)
    return Sampling(initial, words, rates, normalizer, bounds)


def draw(what, samples, seed=1, **options):
    return monte_carlo(what, samples=samples, seeds=np.random.SeedSequence(seed), **options)


@st.composite
def linked(draw):
    source, target = (draw(st.lists(WORDS, min_size=1, max_size=6)) for _ in range(2))
    cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
    first, second = (draw(st.sets(st.sampled_from(cells))) for _ in range(2))
    return source, target, first, second


@pytest.fixture
def plain_kernels(monkeypatch):
    """Run the kernels of items as the Python that they are written in, unless ALIGNKIT_FULL is set.

    These are inlined into others: called alone, each would be compiled for this test. Compiled,
    they are in `test_agrees_with_the_enumeration_of_all_outcomes`.
    """
    for value in vars(items_kernel).values():
        if isinstance(value, Kernel) and not FULL:
            monkeypatch.setattr(value, "_compiled", value.py_func)


@pytest.mark.usefixtures("plain_kernels")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(linked())
def test_the_kernel_finds_the_closures_of_the_links(case) -> None:
    *words, first, second = case
    sides, (n, m) = (first, second), map(len, words)
    ids = [np.array([ord(word) for word in side], np.int32) for side in words]
    found, numbers = [], []
    for links in sides:
        # the links, as the first set with what differs dropped and added
        initial = np.array(sorted(sides[0]), np.int32).reshape(-1, 2)
        dropped = [k for k, link in enumerate(sorted(sides[0])) if link not in links]
        dropped = np.array(dropped, np.int64)
        added = np.array(sorted(i * m + j for i, j in links - sides[0]), np.int64)
        spans = np.empty((n, 2), np.int64), np.empty((m, 2), np.int64)
        boxes = np.empty((n, 4), np.int64)
        items_kernel.partners(initial, dropped, len(dropped), added, len(added), n, m, *spans)
        count = items_kernel.atomic_boxes(n, *spans, np.empty(n, np.int64), boxes)
        every = [tuple(box) for box in boxes[:count].tolist()]
        assert (len(set(every)), set(every)) == (count, items(links, "phrases", *words, True))
        rest = boxes.copy()
        rest = rest[: items_kernel.drop_identical_boxes(rest, count, *ids)]
        assert set(map(tuple, rest.tolist())) == items(links, "phrases", *words, False)
        every_cell = np.array(sorted(i * m + j for i, j in links), np.int64)
        cells = every_cell.copy()
        cells = cells[: items_kernel.drop_identical_cells(cells, len(cells), *ids)]
        different = items(links, "links", *words, False)
        assert cells.tolist() == sorted(i * m + j for i, _, j, _ in different)
        gone = dropped.copy()
        gone = gone[: items_kernel.drop_identical_links(initial, gone, len(gone), *ids)]
        different = items(sides[0] - links, "links", *words, False)
        assert {(i, i, j, j) for i, j in initial[gone].tolist()} == different
        found.append((boxes, count))
        numbers.append((every_cell, len(every_cell)))
    chains = np.empty((n, 2), np.int64)
    shared = [items(links, "phrases", *words, True) for links in sides]
    assert items_kernel.common_boxes(*found[0], *found[1], n, chains) == len(shared[0] & shared[1])
    assert items_kernel.common_numbers(*numbers[0], *numbers[1]) == len(sides[0] & sides[1])


# at most 9 cells; rates of (empty, filled) cells for either annotator
TINY = [
    (("abc", "xyz", "0-0 1-1 2-2"), (0.2, 0.2, 0.1, 0.1)),
    (("abc", "xay", "0-1 2-2"), (0.3, 0.3, 0.15, 0.15)),
    (("aab", "bac", ""), (0.1, 0.1, 0.4, 0.4)),
    (("ab", "abcd", "0-0 1-1 1-2"), (0.12, 0.4, 0.05, 0.7)),
    (("abc", "abc", "0-2 1-0 2-1"), (0.25, 0.5, 0.3, 0.0)),
    (("a", "bcdef", "0-1"), (0.6, 0.6, 0.0, 1.0)),
]


@pytest.mark.parametrize("aggregate", ["macro", "micro"])
def test_the_standard_errors_are_honest(aggregate: str) -> None:
    pairs, rates = zip(*TINY[:4], strict=True)
    truths = [
        exact(
            Alignment.parse(links).possible,
            len(source),
            len(target),
            row,
            unit="phrases",
            source=source,
            target=target,
        )
        for (source, target, links), row in zip(pairs, rates, strict=True)
    ]
    micro = sum(truth[1] for truth in truths) / sum(truth[2] for truth in truths)
    truth = micro if aggregate == "micro" else np.mean([truth[0] for truth in truths])
    what, one = sampling(pairs, rates), np.ones(len(pairs))
    observed, inside = ObservedTerms.of(2 * one, 2 * one, one, "min"), 0
    for seed in range(200):
        terms = terms_of(draw(what, 150, seed, workers=1).moments)
        found = correct(rows(observed, terms, aggregate), noise(terms, aggregate))
        inside += abs(found.pi0 - truth) <= 1.96 * found.pi0_error
        c = (0.5 - truth) / (1 - truth)
        assert found.C_error == pytest.approx(found.pi0_error * 0.5 / (1 - found.pi0) ** 2)
        assert abs(found.C - c) < 8 * found.C_error
    assert 180 <= inside <= 198


def many(seed=0):
    rng = np.random.default_rng(seed)
    pairs, rates = [], []
    for _ in range(150):
        n, m = rng.integers(1, 12, 2)
        source, target = ("".join(rng.choice(list("abcdef"), k)) for k in (n, m))
        pairs.append((source, target, " ".join(f"{i}-{i}" for i in range(0, min(n, m), 2))))
        rates.append(rng.random(4) * 0.3)
    return sampling(pairs, rates)


def test_rounds_change_no_sample() -> None:
    what = many()
    whole = draw(what, 300, keep=True)
    parts = draw(what, 300, keep=True, tolerance=1e-9, error=lambda terms: 1.0)
    assert np.array_equal(whole.moments, parts.moments)
    assert np.array_equal(whole.records, parts.records)


def test_progress_ends_where_it_should() -> None:
    told = []
    draw(many(), 20, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (3000, 3000)
    assert told == sorted(told)


def test_records_and_totals_add_up() -> None:
    what = many()
    drawn = draw(what, 40, keep=True)
    common, a, b = (drawn.records[:, :, k].astype(float) for k in range(3))
    norm = np.minimum(a, b)
    share = np.divide(common, norm, out=np.zeros_like(common), where=norm > 0)
    sums = {"filled": a + b > 0, "ratio": share, "common_norm": common * norm}
    for column, expected in sums.items():
        assert drawn.moments[:, kernel.MOMENTS.index(column)] == pytest.approx(expected.sum(axis=1))
    assert drawn.totals[:, 0] == pytest.approx(share.sum(axis=0))
    assert drawn.distribution("micro") == pytest.approx(common.sum(axis=0) / norm.sum(axis=0))
    cells = what.items.lengths.prod(axis=1)
    assert (drawn.records[:, :, 3] + np.diff(what.initial.offsets)[:, None] <= cells[:, None]).all()


@pytest.mark.parametrize("unit", UNITS)
def test_rates_of_nought_and_one_are_certain(unit: str) -> None:
    pair = ("abc", "xyz", "0-0 1-1")
    still = draw(sampling([pair], [[0, 0, 0, 0]], unit), 50, keep=True).records[0]
    assert (still == [2, 2, 2, 0, 0, 0, 0]).all()
    flipped = draw(sampling([pair], [[1, 1, 1, 1]], unit), 50, keep=True).records[0]
    assert (flipped[:, 3:] == [7, 2, 7, 2]).all()
    assert (flipped[:, 0] == flipped[:, 1]).all()


def test_no_pairs_and_empty_sentences_are_no_trouble() -> None:
    assert terms_of(draw(sampling([], np.zeros((0, 4))), 10).moments).ratio.tolist() == []
    assert isnan(terms_of(draw(sampling([("", "", "")], [[0.5] * 4]), 10).moments).ratio[0])


@pytest.mark.parametrize("normalizer", ["min", "max"])
@pytest.mark.parametrize("rate", [0.13, 0.0])
def test_reweighed_samples_are_those_of_other_rates(normalizer: str, rate: float) -> None:
    pair, old = TINY[0]
    new = np.array([[0.15, 0.25, rate, 0.1]])
    drawn = draw(sampling([pair], [old], normalizer=normalizer), 20000, keep=True)
    before = np.array([old])
    with np.errstate(divide="ignore"):  # a rate of 0
        shifts = np.log(new / (1 - new)) - np.log(before / (1 - before))
    means, effective, every = np.empty((1, 3)), np.empty(1), np.array([True])
    kernel.reweigh(drawn.records, normalizer == "max", shifts, every, means, effective)
    truth = exact(
        Alignment.parse(pair[2]).possible,
        3,
        3,
        new[0],
        unit="phrases",
        source=pair[0],
        target=pair[1],
        normalizer=normalizer,
    )
    assert 5000 < effective[0] < 20000
    assert means[0] == pytest.approx(truth, abs=4 * 2 / np.sqrt(effective[0]))
    same = np.empty((1, 3))
    unchanged = np.zeros_like(shifts)
    kernel.reweigh(drawn.records, normalizer == "max", unchanged, every, same, effective)
    terms = terms_of(drawn.moments)
    assert effective[0] == pytest.approx(20000)
    assert same[0] == pytest.approx([terms.ratio[0], terms.common[0], terms.norm[0]])


@given(linked(), st.sampled_from(list(UNITS)))
def test_choices_leave_identical_items_out(case, unit: str) -> None:
    source, target, *_ = case
    n, m = len(source), len(target)
    spans = [
        [(a, b) for a in range(k) for b in range(a + 1, k + 1 if unit == "phrases" else a + 2)]
        for k in (n, m)
    ]
    pair = [SentencePair("", list(source), list(target))]
    different = sum(source[a:b] != target[c:d] for a, b in spans[0] for c, d in spans[1])
    words = CorpusData(Corpus(pair)).words
    assert Items(unit, False, *words).choices().tolist() == [different]
    assert Items(unit, True, *words).choices() == [len(spans[0]) * len(spans[1])]


# at most 9 cells; rates of empty and filled cells, of different and of equal words, of either
STRATA_TINY = [
    (("aab", "bac", "0-1 2-2"), (0.2, 0.4, 0.3, 0.1, 0.1, 0.6, 0.5, 0.2)),
    (("abc", "abc", "0-0 1-1 2-0"), (0.1, 0.5, 0.2, 0.05, 0.2, 0.3, 0.0, 0.1)),
    (("abc", "xyz", "0-0"), (0.3, 0.2, 0.9, 0.9, 0.15, 0.5, 0.9, 0.9)),
    (("aa", "aaaa", "0-0 1-1"), (0.9, 0.9, 0.2, 0.3, 0.9, 0.9, 0.1, 0.6)),
    (("ab", "ba", ""), (1.0, 0.0, 0.3, 0.0, 0.3, 0.0, 1.0, 0.0)),
]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("pair", "rates"), [*TINY, *STRATA_TINY])
def test_agrees_with_the_enumeration_of_all_outcomes(pair, rates, unit) -> None:
    source, target, links = pair
    initial, shape = Alignment.parse(links).possible, (len(source), len(target))
    for kept, normalizer in ((False, "min"), (True, "max")):
        truth = exact(
            initial,
            *shape,
            rates,
            unit=unit,
            source=source,
            target=target,
            include_identical=kept,
            normalizer=normalizer,
        )
        drawn = draw(sampling([pair], [rates], unit, normalizer, kept), 4000)
        near(terms_of(drawn.moments), truth)


@pytest.mark.parametrize("universe", [{(0, 0), (0, 1), (1, 1)}, {(1, 0)}, set()])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("pair", "rates"), STRATA_TINY)
def test_cells_outside_the_universe_stay_as_they_are(pair, rates, unit, universe) -> None:
    source, target, links = pair
    initial = Alignment.parse(links).possible
    truth = exact(
        initial,
        len(source),
        len(target),
        rates,
        unit=unit,
        source=source,
        target=target,
        include_identical=True,
        universe=universe,
    )
    what = sampling([pair], [rates], unit, identical=True, universe=universe)
    near(terms_of(draw(what, 4000).moments), truth)


def test_flips_come_at_their_rates() -> None:
    rates = [0.03, 0.5, 0.2, 0.9, 0.6, 0.1, 0.4, 0.3]
    pair = ("abcabcabc", "abdabdabdx", "0-0 1-0 3-3 4-5 8-9")
    drawn = draw(sampling([pair], [rates]), 4000, keep=True)
    trials = np.zeros(4)
    for cell in ((i, j) for i in range(9) for j in range(10)):
        trials[stratum(cell, Alignment.parse(pair[2]).possible, *pair[:2])] += 1
    trials, p = np.tile(trials, 2), np.array(rates)
    error = np.sqrt(trials * p * (1 - p) / 4000)
    assert (abs(drawn.records[0, :, 3:].mean(axis=0) - trials * p) < 4 * error + 1e-12).all()


@given(corpora(("initial", "A"), complete=True), st.booleans(), st.randoms())
def test_edits_equal_a_plain_count(corpus, bounded, random) -> None:
    pairs = list(corpus)
    lengths = [pair.lengths for pair in pairs]
    cells = [[(i, j) for i in range(n) for j in range(m)] for n, m in lengths]
    judged = [{cell for cell in every if random.random() < 0.6} for every in cells]
    words = Items("links", True, *CorpusData(Corpus(pairs)).words)
    found = count_edits(
        np.arange(len(pairs)),
        *(
            LinkArrays.pack([pair.alignment(name) for pair in pairs], lengths)
            for name in ("A", "initial")
        ),
        words.source,
        words.target,
        LinkArrays.pack([Alignment(one) for one in judged], lengths) if bounded else None,
    )
    trials, flips = np.zeros((2, len(pairs), 4), int)
    for k, pair in enumerate(pairs):
        sides = [[word.casefold() for word in side] for side in pair.words]
        initial, mine = (set(pair.alignment(name).possible) for name in ("initial", "A"))
        for cell in judged[k] if bounded else cells[k]:
            place = stratum(cell, initial, *sides)
            trials[k, place] += 1
            flips[k, place] += (cell in initial) != (cell in mine)
    assert (found.trials.tolist(), found.flips.tolist()) == (trials.tolist(), flips.tolist())
    assert found.words.tolist() == [n + m for n, m in lengths]


def edits():
    trials = np.array([[10, 2, 3, 1], [20, 4, 6, 0]])
    return Edits(np.arange(2), np.array([8, 11]), trials, np.array([[1, 2, 0, 0], [3, 1, 2, 0]]))


def test_each_stratum_has_a_model_and_the_other_models_add_strata_up() -> None:
    strata = CHANCE_MODELS["edit-strata"].fit(edits(), reading="count")
    assert (tuple(strata), strata["add"].data.edits.tolist()) == (STRATA, [1, 3])
    assert strata["delete-equal"].data.trials.tolist() == [1]  # no trials, no part in the fit
    split = CHANCE_MODELS["edit-split"].fit(edits(), reading="count")
    assert split["add"].data.trials.tolist() == [13, 26]
    assert CHANCE_MODELS["edit"].fit(edits(), reading="count")["edit"].data.edits.tolist() == [3, 6]
    rates = CHANCE_MODELS["edit-strata"].rates(strata, edits().words, edits().trials)
    assert rates == pytest.approx(np.array([[0.1, 1, 0, 0], [3 / 20, 1 / 4, 2 / 6, 0]]))
