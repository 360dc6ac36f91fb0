"""Newcombe's interval of a difference of shares: published examples, and statsmodels."""

from __future__ import annotations

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignkit.errors import OptionError
from alignkit.stats import newcombe_interval


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
def test_it_is_that_of_statsmodels(data, total, other_total, confidence):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    count = data.draw(st.integers(0, total))
    other = data.draw(st.integers(0, other_total))
    found = newcombe_interval(count, total, other, other_total, confidence)
    expected = proportion.confint_proportions_2indep(
        count, total, other, other_total, method="newcomb", alpha=1 - confidence
    )
    assert found == pytest.approx(expected, abs=1e-9)
    low, high = found
    assert -1 <= low <= count / total - other / other_total <= high <= 1
    turned = newcombe_interval(other, other_total, count, total, confidence)
    assert turned == pytest.approx((-high, -low))


def test_what_is_undefined_has_no_bounds():
    assert all(map(isnan, newcombe_interval(0, 0, 1, 2)))
    with pytest.raises(OptionError, match="a share is of 0 or more"):
        newcombe_interval(3, 2, 1, 2)
