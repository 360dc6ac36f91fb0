"""Intervals and tests of observations in clusters: sentence pairs with several items, or groups."""

from itertools import combinations, product
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from repetitions import repetitions
from scipy.stats import beta, binom, t

from alignkit.errors import OptionError
from alignkit.stats import mcnemar, mcnemar_clusters, share_interval, wilson_interval
from alignkit.stats.clusters import cluster_error, halves_test, jackknife_interval


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.sampled_from([0.8, 0.95, 0.99]))
def test_of_single_observations_a_share_has_wilsons_interval(right, confidence):
    found = share_interval(list(map(int, right)), [1] * len(right), confidence)
    assert found == pytest.approx(wilson_interval(sum(right), len(right), confidence))


clusters = st.lists(
    st.integers(0, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=30
)


@given(clusters)
def test_a_share_in_clusters_is_never_surer_than_one_of_single_observations(given):
    counts, totals = [k for k, _ in given], [n for _, n in given]
    low, high = share_interval(counts, totals)
    if sum(n > 0 for n in totals) < 2 and sum(totals) != 1:
        assert isnan(low)
        assert isnan(high)
        return
    plain = wilson_interval(sum(counts), sum(totals))
    assert 0 <= low <= plain[0] + 1e-12
    assert plain[1] - 1e-12 <= high <= 1
    mirrored = share_interval([n - k for k, n in given], totals)
    assert mirrored == pytest.approx((1 - high, 1 - low))


def test_it_is_the_interval_of_the_linearized_variance():
    """The design effect by hand: the variance of the ratio, over that of single observations."""
    x, n = [3, 0, 4, 0, 2], [3, 3, 4, 4, 2]
    p = 9 / 16
    variance = 5 / 4 * sum((a - p * b) ** 2 for a, b in zip(x, n, strict=True)) / 16**2
    size = p * (1 - p) / variance
    z = t.ppf(0.975, 16**2 / (9 + 9 + 16 + 16 + 4) - 1)
    for bound in share_interval(x, n):
        assert abs(p - bound) / (bound * (1 - bound) / size) ** 0.5 == pytest.approx(z)


def test_copies_of_observations_add_nothing_but_the_uncertainty_of_the_variance():
    once, five = [1, 0, 1, 1, 0, 1] * 40, [5, 0, 5, 5, 0, 5] * 40
    assert share_interval(five, [5] * 240) == pytest.approx(wilson_interval(160, 240), abs=2e-3)
    assert share_interval(once, [1] * 240) == wilson_interval(160, 240)
    assert share_interval([0] * 20, [5] * 20)[1] >= wilson_interval(0, 20)[1]


@pytest.mark.parametrize("given", [([2], [1]), ([-1], [1]), ([1, 1], [1]), ([[1]], [[1]])])
def test_counts_that_are_no_shares_are_refused(given):
    refuses(OptionError, "0 <= count <= total", share_interval, *given)


def test_without_observations_there_are_no_bounds():
    assert all(map(isnan, share_interval([], [])))
    assert all(map(isnan, share_interval([3], [5])))
    assert isnan(mcnemar_clusters([0, 0]))


def flipped(differences):
    """The p-value by all signs."""
    truth = abs(sum(differences))
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return np.mean([value >= truth for value in sums])


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=9).filter(any))
def test_mcnemar_of_clusters_tries_all_exchanges(differences):
    assert mcnemar_clusters(differences) == pytest.approx(flipped(differences))


@given(st.integers(0, 60), st.integers(0, 60))
def test_of_single_pairs_it_is_mcnemars_exact_test(first, second):
    found = mcnemar_clusters([1] * first + [-1] * second)
    assert found == pytest.approx(mcnemar(first, second), nan_ok=True)


def test_many_pairs_in_large_groups_are_exchanged_quickly():
    rng = np.random.default_rng(1)
    assert 0.01 < mcnemar_clusters(rng.integers(-40, 41, 3000)) <= 1


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=30))
def test_the_error_of_single_values_is_the_usual_one(values):
    usual = np.std(values) / len(values) ** 0.5
    assert cluster_error(np.array(values), np.arange(len(values))) == pytest.approx(usual)


def by_all_choices(counts, totals, halves):
    """The p-values by all choices of units for the first half, one loop at a time."""
    units = [k for k, n in enumerate(totals) if n]
    first = [k for k in units if halves[k] == 0]
    tops = []
    for chosen in [tuple(first), *combinations(units, len(first))]:
        values = []
        for own in counts:
            share = sum(own[k] for k in units) / sum(totals)
            rest = {k: own[k] - share * totals[k] for k in units}
            spread = sum(value**2 for value in rest.values()) ** 0.5
            values.append(abs(sum(rest[k] for k in chosen)) / spread if spread > 1e-9 else 0.0)
        tops.append(values)
    truth, *others = tops
    return [np.mean([max(values) >= own - 1e-9 for values in others]) for own in truth]


@given(
    st.lists(
        st.integers(0, 4).flatmap(
            lambda n: st.tuples(st.integers(0, n), st.integers(0, n), st.just(n), st.booleans())
        ),
        min_size=2,
        max_size=8,
    )
)
def test_halves_are_compared_by_all_choices_of_units(rows):
    one, two, totals, halves = zip(*rows, strict=True)
    found = halves_test([one, two], totals, halves, orders=4000, seed=3)
    if len({half for half, n in zip(halves, totals, strict=True) if n}) < 2:
        assert all(map(isnan, found))
        return
    assert found == pytest.approx(by_all_choices([one, two], totals, halves), abs=0.04)


def test_a_difference_that_no_order_reaches_has_the_lowest_p():
    counts, totals = [[5] * 30 + [0] * 30], [5] * 60
    assert halves_test(counts, totals, [0] * 30 + [1] * 30, orders=99, seed=1) == [0.01]


# simulations


def correlated(rng, corpora, units, share, within):
    """Draw counts and totals (corpora, units); the observations of a unit correlate by `within`."""
    totals = rng.integers(1, 9, (corpora, units))
    if not within:
        return rng.binomial(totals, share), totals
    spread = (1 - within) / within
    chances = beta.rvs(share * spread, (1 - share) * spread, size=totals.shape, random_state=rng)
    return rng.binomial(totals, chances), totals


@pytest.mark.slow
@pytest.mark.parametrize("within", [0, 0.3, 0.8])
@pytest.mark.parametrize("units", [30, 200])
def test_the_interval_of_a_share_covers_whatever_the_correlation(units, within):
    rng, corpora = np.random.default_rng(8), repetitions(20_000)
    plain, mine = [], []
    for share in (0.2, 0.5, 0.7):
        counts, totals = correlated(rng, corpora, units, share, within)
        for x, n in zip(counts, totals, strict=True):
            low, high = share_interval(x, n)
            mine.append(low <= share <= high)
            low, high = wilson_interval(int(x.sum()), int(n.sum()))
            plain.append(low <= share <= high)
    assert 0.92 <= np.mean(mine) <= 0.97
    assert (np.mean(plain) < 0.85) == (within > 0)


@pytest.mark.slow
def test_mcnemar_of_clusters_rejects_as_often_as_it_says():
    """Two systems of the same quality; in each group of 1 to 8 pairs one of them may be better."""
    rng, corpora = np.random.default_rng(9), repetitions(20_000)
    totals = rng.integers(1, 9, (corpora, 60))
    lean = beta.rvs(0.5, 0.5, size=totals.shape, random_state=rng)
    differing = rng.binomial(totals, 0.4)
    first = rng.binomial(differing, lean)
    differences = 2 * first - differing
    p = np.array([mcnemar_clusters(row) for row in differences])
    won, of = first.sum(1), differing.sum(1)
    single = np.minimum(1, 2 * binom.cdf(np.minimum(won, of - won), of, 0.5))
    for level in (0.05, 0.01):
        error = (level * (1 - level) / corpora) ** 0.5
        assert level / 2 < np.mean(p <= level) < level + 3 * error
        assert np.mean(single <= level) > 2 * level


def test_the_jackknife_gives_nearly_the_interval_of_a_share():
    """The jackknife of a ratio is its linear variance, up to terms of higher order."""
    rng = np.random.default_rng(3)
    totals = rng.integers(1, 12, 200)
    counts = rng.binomial(totals, rng.beta(4, 1, 200))
    left_out = (counts.sum() - counts) / (totals.sum() - totals)
    found = jackknife_interval(counts.sum() / totals.sum(), left_out, totals.astype(float), 0.95)
    assert found == pytest.approx(share_interval(counts, totals), abs=1e-3)
    wider = jackknife_interval(counts.sum() / totals.sum(), left_out, totals.astype(float), 0.99)
    assert wider[0] < found[0] < found[1] < wider[1]


@pytest.mark.parametrize(
    ("value", "left_out"),
    [(1.0, [1.0, 1.0]), (0.0, [0.0, 0.0]), (0.5, [0.5, 0.5]), (0.5, [np.nan, 0.5]), (0.5, [0.5])],
)
def test_the_jackknife_has_no_bounds_where_nothing_varies(value, left_out):
    bounds = jackknife_interval(value, np.array(left_out), np.ones(len(left_out)), 0.95)
    assert np.isnan(bounds).all()
