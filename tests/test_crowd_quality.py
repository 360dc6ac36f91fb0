"""The quality of a crowd: gold questions, who judges again, which phrases are good."""

from __future__ import annotations

from fractions import Fraction
from math import comb, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_st

from alignkit.agreement.judgments.consensus import (
    GOOD_IN,
    answer_gold,
    good_items,
    is_good,
    judge_again,
    rejection_chance,
    suspicious_gold,
)
from alignkit.errors import OptionError


def answers(text: str) -> np.ndarray:
    """+ is right, - is wrong, a blank is not judged; the gold is 0 everywhere."""
    return np.array([[{"+": 0, "-": 1, " ": -1}[one] for one in text]], np.int8)


def verdict(text: str, *, sequential: bool = False) -> tuple[str, int | None]:
    gold = np.zeros(len(text), np.int8)
    (one,) = answer_gold(answers(text), gold, sequential=sequential)
    return one.verdict, one.rejected_at


def test_below_half_after_ten_is_rejected_and_half_stays() -> None:
    assert verdict("+++++-----") == ("keep", None)
    assert verdict("++++------") == ("reject", 10)
    assert verdict("---------") == ("too few", None)
    assert verdict("--------- -") == ("reject", 10)
    assert verdict("") == ("too few", None)


def test_a_running_project_looks_after_each() -> None:
    recovered = "++++------" + "++++"
    assert verdict(recovered) == ("keep", None)
    assert verdict(recovered, sequential=True) == ("reject", 10)
    assert verdict("+++++-----" + "-", sequential=True) == ("reject", 11)


def test_the_chance_to_reject_who_guesses() -> None:
    """Binomial sums, and walks below half."""
    assert rejection_chance(10, 2) == pytest.approx(0.37695, abs=5e-6)
    assert rejection_chance(10, 4) == pytest.approx(0.922, abs=5e-4)
    # all 2 ** 20 rows of answers, listed: .64676
    assert rejection_chance(20, 2, sequential=True) == pytest.approx(0.64676, abs=5e-6)
    assert rejection_chance(50, 2, sequential=True) == pytest.approx(0.78630, abs=5e-6)
    # exact binomial sums
    for judged, labels in ((10, 2), (11, 3), (57, 2), (200, 4)):
        ways = sum(
            comb(judged, right) * (labels - 1) ** (judged - right)
            for right in range(judged + 1)
            if 2 * right < judged
        )
        exact = float(Fraction(ways, labels**judged))
        assert rejection_chance(judged, labels) == pytest.approx(exact, rel=1e-12)
    assert rejection_chance(4000, 2) == pytest.approx(0.5, abs=0.01)
    assert rejection_chance(9, 2) == rejection_chance(9, 2, sequential=True) == 0
    with pytest.raises(OptionError, match="2 labels"):
        rejection_chance(10, 1)


@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("labels", [2, 4])
def test_guessers_are_rejected_as_often(sequential: bool, labels: int) -> None:
    values = np.random.default_rng(1).integers(0, labels, (4000, 20)).astype(np.int8)
    found = answer_gold(values, np.zeros(20, np.int8), sequential=sequential)
    share = sum(one.verdict == "reject" for one in found) / len(found)
    assert share == pytest.approx(rejection_chance(20, labels, sequential=sequential), abs=0.03)


def test_gold_that_most_contradict_is_suspicious() -> None:
    gold = np.array([0] * 10 + [1, 1, -1], np.int8)
    good = [0] * 10
    values = np.array([[*good, 0, 1, 0], [*good, 0, 0, 0], [1] * 10 + [1, 0, 0]], np.int8)
    verdicts = answer_gold(values, gold)
    assert [one.verdict for one in verdicts] == ["keep", "keep", "reject"]
    assert suspicious_gold(values, gold, verdicts) == [10]


matrices = numpy_st.arrays(np.int8, (5, 8), elements=st.integers(-1, 2))


@given(matrices, st.lists(st.floats(-1, 1) | st.just(nan), min_size=5, max_size=5))
def test_nobody_judges_a_pair_twice(values: np.ndarray, kappas: list[float]) -> None:
    found = judge_again(values, kappas, most=2)
    weak = [k for k in range(5) if kappas[k] < 0.4]
    assert set(found) == {p for p in range(8) if any(values[k, p] >= 0 for k in weak)}
    for item, judges in found.items():
        free = [k for k in range(5) if kappas[k] > 0.75 and values[k, item] < 0]
        assert len(judges) == min(2, len(free))
        assert set(judges) <= set(free)


def test_equally_good_judges_share_the_work() -> None:
    values = np.array([[0] * 4, [-1] * 4, [-1] * 4], np.int8)
    assert judge_again(values, [0.1, 0.9, 0.9], most=1) == {0: (1,), 1: (2,), 2: (1,), 3: (2,)}
    with pytest.raises(OptionError, match="below"):
        judge_again(values, [0, 0, 0], below=0.9)


def test_a_phrase_is_good_by_a_strict_majority_of_what_is_left() -> None:
    values = np.array([[1, 1, -1], [1, 1, -1], [0, 0, 0], [0, 1, -1], [1, 0, -1]], np.int8)
    assert good_items(values, [1], [True] * 5).tolist() == [1, 1, 0]
    assert good_items(values, [1], [True] * 4 + [False]).tolist() == [0, 1, 0]
    assert good_items(values, [1], [True, True, False, True, True]).tolist() == [1, 1, -1]


def test_a_phrase_is_good_in_any_most_or_all_of_its_contexts() -> None:
    for contexts, wanted in (([1, 0], "any"), ([1, 1, 0], "any majority"), ([0], ""),
                             ([1, 1], "any majority all")):  # fmt: skip
        assert [one for one in GOOD_IN if is_good(contexts, one)] == wanted.split()
