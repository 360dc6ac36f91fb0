"""Draw items at random: how many of each origin, spread over strata, in random order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray


def allot(wanted: int, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return how many to take of each group: the same number, or all of a smaller group."""
    left, level = min(wanted, sum(sizes.values())), 0
    for count, size in zip(range(len(sizes), 0, -1), sorted(sizes.values()), strict=True):
        level = min(size, left // count)
        left -= level
        if level < size:  # and so for every larger group
            left -= level * (count - 1)
            break
    found = {name: min(size, level) for name, size in sizes.items()}
    for name, size in sizes.items():
        if left and found[name] < size:
            found[name] += 1
            left -= 1
    return found


def spread(strata: Sequence[object], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the (count,) places of a random sample that is spread over strata."""
    total = len(strata)
    if not count:
        return np.zeros(0, np.int64)
    names = {name: k for k, name in enumerate(sorted(set(strata)))}  # type: ignore[type-var]
    codes = np.array([names[name] for name in strata], np.int64)
    shuffled = rng.permutation(total)
    ordered = shuffled[np.argsort(codes[shuffled], kind="stable")]
    # whole numbers: a step of total / count, from a beginning that is one of `total` parts of it
    places = (np.arange(count) * total + int(rng.integers(total))) // count
    found: NDArray[np.int64] = ordered[places]
    return found
