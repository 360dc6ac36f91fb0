"""Eight floats at a time, for the loops of kernels over sentences.

A processor adds or multiplies eight floats in one instruction. LLVM finds such instructions in long
loops by itself, but a sentence has eight to forty words: what it does before and after each loop
then takes longer than the loop. With these functions a kernel says itself what is done by eights::

    for at in range(0, len(values), EIGHT):
        store_eight(values, at, weight * load_eight(values, at) + load_eight(others, at))

Eights are added to, subtracted from and multiplied with each other and with a float32. Each
operation rounds as it does for single floats, in the order in which it is written, so that each
machine gets the same results.

The functions are what runs without a compiler (NUMBA_DISABLE_JIT). `compiled_eights` has what numba
makes of them.
"""

from __future__ import annotations

import numpy as np

from alignkit._support.array_types import F4

EIGHT = 8


def load_eight(array: F4, at: int) -> F4:
    """Return the eight floats of an array (n,) from `at` on, which must not be beyond its end."""
    return array[at : at + EIGHT].copy()


def store_eight(array: F4, at: int, eight: F4) -> None:
    """Set the eight floats of an array (n,) from `at` on, which must not be beyond its end."""
    array[at : at + EIGHT] = eight


def spread_eight(value: np.float32) -> F4:
    """Return eight times the same float."""
    return np.full(EIGHT, value, np.float32)


def repeat_eight(array: F4, at: int) -> F4:
    """Return eight times the float of an array (n,) at a place from 0 to n - 1."""
    return np.full(EIGHT, array[at], np.float32)


def sum_of_eight(eight: F4) -> np.float32:
    """Return the sum of eight floats, added in a fixed order."""
    a, b, c, d, e, f, g, h = eight
    return np.float32(((a + e) + (c + g)) + ((b + f) + (d + h)))
