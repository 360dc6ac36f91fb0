"""C = (pi - pi0) / (1 - pi0) is what its definition says, and says why where it has no value."""

from dataclasses import replace
from math import isnan, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit.agreement import correct_sets
from alignkit.agreement.chance import correction
from alignkit.agreement.chance.correction import correct, noise, rows
from alignkit.errors import OptionError, UnknownNameError

# the example of Kupper & Hafner 1989
A, B = [{10}, {20, 30}, {40}], [{10, 20}, {30}, {40}]
SIZES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.integers(5, 30)),
    min_size=1,
    max_size=6,
)


def test_the_example_of_kupper_and_hafner_to_which_units_of_two_empty_sets_add_nothing() -> None:
    found = correct_sets(A, B, choices=4, normalizer="max")
    assert (found.pi, found.pi0, found.C) == pytest.approx((2 / 3, 1 / 4, 5 / 9))
    assert (found.pi0_error, found.C_error, found.undefined) == (0, 0, "")
    more = correct_sets([*A, set()], [*B, set()], choices=[4, 4, 4, 7], normalizer="max")
    assert more == replace(found, left_out={"both sets empty": 1})


def test_the_smaller_set_is_the_norm_unless_asked_otherwise() -> None:
    found = correct_sets(A, B, choices=4)
    # |A & B| is 1 everywhere, the smaller set has 1; chance is the larger size out of 4
    assert (found.pi, found.pi0) == pytest.approx((1.0, (2 / 4 + 2 / 4 + 1 / 4) / 3))
    assert found.C == 1


def test_what_is_undefined_says_why() -> None:
    certain = correct_sets([{1}], [{1}], choices=1)
    assert (certain.pi, certain.pi0, certain.undefined) == (1, 1, correction.CHANCE_IS_ONE)
    nothing = correct_sets([set()], [set()], choices=3)
    assert isnan(nothing.pi)
    assert nothing.undefined == correction.NO_PAIRS
    one_sided = correct_sets([{1}], [set()], choices=3, aggregate="micro")
    assert one_sided.undefined == correction.NO_NORM
    for found in (certain, nothing, one_sided):
        assert isnan(found.C)
        assert isnan(found.C_error)


def test_the_article_s_own_illustration_is_inconsistent() -> None:
    # Cohn et al. 2008 print pi = 4/7, pi0 = 0.259 and C = 0.442
    assert pytest.approx(0.4216, abs=5e-5) == correct(np.array([[4 / 7, 1, 0.259, 1]])).C


def test_the_error_of_c_follows_from_that_of_pi0() -> None:
    terms = np.array([[0.5, 1, 0.2, 1], [0.9, 1, 0.4, 1]])
    found = correct(terms, np.array([[0.01, 0, 0], [0.03, 0, 0]]))
    assert found.pi0_error == pytest.approx(sqrt(0.04) / 2)
    assert found.C_error == pytest.approx(found.pi0_error * (1 - 0.7) / (1 - 0.3) ** 2)


def test_bad_options_are_refused() -> None:
    refuses(UnknownNameError, "known: min, max", correct_sets, A, B, choices=4, normalizer="mean")
    with pytest.raises(UnknownNameError, match="known: macro, micro"):
        correct_sets(A, B, choices=4, aggregate="pooled")
    refuses(OptionError, "more items than `choices`", correct_sets, A, B, choices=1)
    refuses(OptionError, "3 sets of one annotator", correct_sets, A, B[:2], choices=4)


@given(SIZES, st.sampled_from(["min", "max"]), st.sampled_from(["macro", "micro"]))
def test_equals_a_plain_reference(sizes, normalizer: str, aggregate: str) -> None:
    a, b, common = (np.array([row[k] for row in sizes], float) for k in range(3))
    common = np.minimum(common, np.minimum(a, b))
    room = np.array([row[3] for row in sizes], float)
    observed = correction.ObservedTerms.of(a, b, common, normalizer)
    expected = correction.ChanceTerms.exact(a, b, a * b / room, normalizer)
    kept = (a > 0) | (b > 0)
    found = correct(rows(observed, expected, aggregate)[kept], noise(expected, aggregate)[kept])

    norm = {"min": min, "max": max}[normalizer]
    pi, pi0 = [], []
    for x, y, both, k in zip(a, b, common, room, strict=True):
        if x or y:
            below = norm(x, y)
            one = (both, below, x * y / k, below)
            if aggregate == "macro":
                one = (both / below, 1, x * y / k / below, 1) if below else (0, 1, 0, 1)
            pi.append(one[:2])
            pi0.append(one[2:])

    def pooled(parts):
        above, below = (sum(part[k] for part in parts) for k in (0, 1))
        return above / below if below else nan

    assert (found.pi, found.pi0) == pytest.approx((pooled(pi), pooled(pi0)), nan_ok=True)
