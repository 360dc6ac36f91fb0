"""Wilson's interval, against published ones, scipy's and its definition."""

from __future__ import annotations

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from alignkit.errors import OptionError
from alignkit.stats import wilson_interval


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


def test_nothing_has_no_share():
    assert all(map(isnan, wilson_interval(0, 0)))


@pytest.mark.parametrize("given", [(3, 2), (-1, 2), (1, 2, 1.0)])
def test_what_makes_no_sense_is_refused(given):
    with pytest.raises(OptionError):
        wilson_interval(*given)
