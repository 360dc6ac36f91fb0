"""Intervals of shares and of their differences, against published ones and other libraries."""

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from scipy.stats import binomtest, norm

from alignkit.errors import OptionError
from alignkit.stats import newcombe_interval, wilson_interval


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_it_is_that_of_newcombe_1998_table_1(count, total, low, high):
    assert wilson_interval(count, total) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 500), st.data(), st.sampled_from([0.8, 0.95, 0.999]))
def test_it_is_that_of_scipy_and_inverts_the_score_test(total, data, confidence):
    count = data.draw(st.integers(0, total))
    low, high = wilson_interval(count, total, confidence)
    theirs = binomtest(count, total).proportion_ci(confidence, method="wilson")
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    z = norm.ppf((1 + confidence) / 2)
    for bound in (low, high):
        if 0 < bound < 1:
            score = (count / total - bound) / (bound * (1 - bound) / total) ** 0.5
            assert abs(score) == pytest.approx(z)


@pytest.mark.parametrize("given", [(3, 2), (-1, 2), (1, 2, 1.0)])
def test_what_makes_no_sense_is_refused(given):
    refuses(OptionError, None, wilson_interval, *given)


@pytest.mark.parametrize(
    ("counts", "bounds"),
    [
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((6, 7, 2, 7), (0.0582, 0.8062)),
        ((5, 56, 0, 29), (-0.0381, 0.1926)),
        ((0, 10, 0, 20), (-0.1611, 0.2775)),
        ((0, 10, 0, 10), (-0.2775, 0.2775)),
        ((10, 10, 0, 20), (0.6791, 1.0)),
        ((10, 10, 0, 10), (0.6075, 1.0)),
    ],
)
def test_the_examples_of_newcombe(counts, bounds):
    """Newcombe 1998, Statistics in Medicine 17:873-890, table II, method 10."""
    assert newcombe_interval(*counts) == pytest.approx(bounds, abs=5e-5)


@given(st.data(), st.integers(1, 500), st.integers(1, 500), st.floats(0.5, 0.99))
def test_newcombe_is_that_of_statsmodels(data, total, other_total, confidence):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    count, other = (data.draw(st.integers(0, most)) for most in (total, other_total))
    found = newcombe_interval(count, total, other, other_total, confidence)
    counts = count, total, other, other_total
    interval = proportion.confint_proportions_2indep
    expected = interval(*counts, method="newcomb", alpha=1 - confidence)
    assert found == pytest.approx(expected, abs=1e-9)
    low, high = found
    assert -1 <= low <= count / total - other / other_total <= high <= 1
    turned = newcombe_interval(other, other_total, count, total, confidence)
    assert turned == pytest.approx((-high, -low))


def test_nothing_has_no_share_and_an_undefined_difference_no_bounds():
    assert all(map(isnan, wilson_interval(0, 0)))
    assert all(map(isnan, newcombe_interval(0, 0, 1, 2)))
    refuses(OptionError, "is not a share", newcombe_interval, 3, 2, 1, 2)
