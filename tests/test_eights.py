"""Eight floats at a time: what numba compiles is what the plain functions compute, bit by bit."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alignkit._support.eights import (
    EIGHT,
    load_eight,
    repeat_eight,
    spread_eight,
    store_eight,
    sum_of_eight,
)
from alignkit._support.jit import fast, readonly

FLOATS = st.floats(-(2.0**60), 2.0**60, width=32)
ROWS = st.lists(FLOATS, min_size=EIGHT, max_size=EIGHT)


@fast
def combine(x, y, weight, out):
    """Set out to what all operations make of x and y; return a sum."""
    sums = spread_eight(weight)
    for at in range(0, len(x), EIGHT):
        first = load_eight(x, at)
        second = load_eight(y, at)
        sums += weight * first - second * first
        sums -= second * weight
        sums *= repeat_eight(y, at + 3)
        store_eight(out, at, sums + weight - first)
    return sum_of_eight(sums)


@given(st.lists(st.tuples(ROWS, ROWS), min_size=1, max_size=3), FLOATS)
@settings(max_examples=100)
def test_compiled_eights_compute_what_the_plain_functions_compute(rows, weight):
    x = np.array([first for first, _ in rows], np.float32).ravel()
    y = np.array([second for _, second in rows], np.float32).ravel()
    weight = np.float32(weight)
    compiled = np.zeros(len(x), np.float32)
    plain = np.zeros(len(x), np.float32)
    with np.errstate(all="ignore"):
        total = combine(x, y, weight, compiled)
        expected = combine.py_func(x, y, weight, plain)
    assert compiled.tobytes() == plain.tobytes()
    assert np.array_equal(total, expected, equal_nan=True)


def test_eights_are_added_pair_by_pair():
    # 2^24 + 1 is no float32: it depends on the order which of the ones are lost
    values = np.array([2**24, 1, 1, 1, 1, 1, 1, 1], np.float32)

    @fast
    def total(values):
        return sum_of_eight(load_eight(values, 0))

    # (2^24 + 1) + (1 + 1) is 2^24 + 2, and (1 + 1) + (1 + 1) is 4
    assert total(values) == 2**24 + 6
    assert sum_of_eight(values) == 2**24 + 6
    assert values.sum(dtype=np.float64) == 2**24 + 7


def test_eights_of_an_array_begin_anywhere_and_change_no_other():
    @fast
    def double(values, at):
        store_eight(values, at, np.float32(2) * load_eight(values, at))

    values = np.arange(20, dtype=np.float32)
    double(values, 5)
    expected = [*range(5), *range(10, 26, 2), *range(13, 20)]
    assert values.tolist() == expected


@pytest.mark.parametrize(
    "values",
    [np.zeros(8), np.zeros((2, 8), np.float32), np.zeros(16, np.float32)[::2], np.zeros(8, "i4")],
    ids=["float64", "rows", "not side by side", "integers"],
)
def test_other_arrays_than_rows_of_float32_are_refused(values):
    @fast
    def total(values):
        return sum_of_eight(load_eight(values, 0))

    with pytest.raises(numba.TypingError):
        total(values)


def test_arrays_that_can_only_be_read_are_not_written():
    @fast
    def zero(values):
        store_eight(values, 0, spread_eight(np.float32(0)))

    with pytest.raises(numba.TypingError):
        zero(readonly(np.ones(8, np.float32)))


def test_floats_of_64_bits_are_not_mixed_with_eights():
    @fast
    def total(values):
        return sum_of_eight(2.0 * load_eight(values, 0))

    with pytest.raises(numba.TypingError):
        total(np.zeros(8, np.float32))
