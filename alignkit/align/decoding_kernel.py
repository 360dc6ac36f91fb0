"""Choose links by their posteriors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import fast, inlined, jit

F4 = NDArray[np.float32]
I4 = NDArray[np.int32]
I8 = NDArray[np.int64]


@fast
def select_links(
    begin: int,
    end: int,
    source_starts: I8,
    target_starts: I8,
    forward: F4,
    reverse: F4,
    threshold: np.float32,
    counts: I8,
) -> tuple[I4, F4]:
    """Return the links, (L, 2), whose mean posterior is above the threshold, and those means.

    forward and reverse hold the cells of the pairs from begin to before end; counts (end - begin,)
    is set to the number of links of each.
    """
    size = 0
    for cell in range(len(forward)):
        size += (forward[cell] + reverse[cell]) * np.float32(0.5) > threshold
    links = np.empty((size, 2), np.int32)
    means = np.empty(size, np.float32)
    size = 0
    cell = 0
    for p in range(begin, end):
        before = size
        m = target_starts[p + 1] - target_starts[p]
        for i in range(source_starts[p + 1] - source_starts[p]):
            for j in range(m):
                mean = (forward[cell] + reverse[cell]) * np.float32(0.5)
                cell += 1
                if mean > threshold:
                    links[size, 0] = i
                    links[size, 1] = j
                    means[size] = min(mean, np.float32(1))
                    size += 1
        counts[p - begin] = size - before
    return links, means


@inlined
def best_of(posteriors: F4, first: int, step: int, count: int) -> int:
    """Return which of count posteriors is the greatest, -1 where what they leave is greater."""
    best = np.float32(0)
    rest = np.float32(1)
    found = -1
    for k in range(count):
        x = posteriors[first + k * step]
        rest -= x
        if x > best:
            best = x
            found = k
    return -1 if rest > best else found


@jit
def best_positions(
    begin: int,
    end: int,
    source_starts: I8,
    target_starts: I8,
    forward: F4,
    reverse: F4,
    target_path: I4,
    source_path: I4,
) -> None:
    """Set what each word is aligned to where words are aligned one by one; -1 for nothing.

    A word is aligned to nothing when the empty word, which has what the posteriors leave, is more
    probable than each position.
    """
    base = 0
    first_source = source_starts[begin]
    first_target = target_starts[begin]
    for p in range(begin, end):
        a = source_starts[p] - first_source
        b = target_starts[p] - first_target
        n = source_starts[p + 1] - source_starts[p]
        m = target_starts[p + 1] - target_starts[p]
        for j in range(m):
            target_path[b + j] = best_of(forward, base + j, m, n)
        for i in range(n):
            source_path[a + i] = best_of(reverse, base + i * m, 1, m)
        base += n * m


@jit
def links_of_paths(begin: int, end: int, starts: I8, path: I4, backwards: bool, counts: I8) -> I4:
    """Return the links (L, 2) of paths, rising; `backwards`: a path of target words.

    `starts` are those of the words that the path is of.
    """
    size = 0
    for at in range(len(path)):
        size += path[at] >= 0
    links = np.empty((size, 2), np.int32)
    size = 0
    base = starts[begin]
    most = 0
    for at in range(len(path)):
        most = max(most, path[at] + 1)
    free = np.zeros(most + 1, np.int64)
    for p in range(begin, end):
        a = starts[p] - base
        length = starts[p + 1] - starts[p]
        before = size
        if backwards:
            free[:] = 0
            for j in range(length):
                if path[a + j] >= 0:
                    free[path[a + j] + 1] += 1
                    size += 1
            for i in range(most):
                free[i + 1] += free[i]
            for j in range(length):
                i = path[a + j]
                if i >= 0:
                    links[before + free[i], 0] = i
                    links[before + free[i], 1] = j
                    free[i] += 1
        else:
            for i in range(length):
                if path[a + i] >= 0:
                    links[size, 0] = i
                    links[size, 1] = path[a + i]
                    size += 1
        counts[p - begin] = size - before
    return links


@jit
def probabilities_of(
    links: I4, offsets: I8, begin: int, target_starts: I8, starts: I8, forward: F4, reverse: F4,
    means: F4,
) -> None:  # fmt: skip
    """Set means (L,) to the mean posterior of each link of the pairs from begin on."""
    base = starts[begin]
    for k in range(len(offsets) - 1):
        p = begin + k
        m = target_starts[p + 1] - target_starts[p]
        for at in range(offsets[k], offsets[k + 1]):
            cell = starts[p] - base + links[at, 0] * m + links[at, 1]
            means[at] = min((forward[cell] + reverse[cell]) * np.float32(0.5), np.float32(1))
