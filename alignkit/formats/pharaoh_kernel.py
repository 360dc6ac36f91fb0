"""Read plain Pharaoh lines from bytes to sorted arrays; whatever is unusual is left to others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import jit

__all__ = ["PLAIN", "scan"]

PLAIN = 0
"""The status of bytes that hold nothing but `i-j` and `i?j` (or `ipj`, `i-jS`, `i-jP`) links."""

_UNUSUAL = 1

LONGEST = 2**20  # that of `alignkit.alignment`; numba would freeze an imported one


@jit
def _rank(link: NDArray[np.int32]) -> int:
    """Return a number that rises with (i, j)."""
    return int(link[0]) << 32 | int(link[1])


@jit
def _settle(
    links: NDArray[np.int32],
    sure: NDArray[np.uint8],
    start: int,
    end: int,
    found: NDArray[np.int64],
) -> int:
    """Sort the links of one line and drop repetitions; sure wins. Return the new end.

    `found` counts duplicates (0) and links both sure and possible (1).
    """
    gap = 1
    while gap < (end - start) // 32:
        gap = 3 * gap + 1
    while gap > 0:  # Shell's sort: plain insertion for most lines, which are short, nearly sorted
        for k in range(start + gap, end):
            i, j, flag = links[k, 0], links[k, 1], sure[k]
            rank = int(i) << 32 | int(j)
            at = k
            while at - gap >= start and _rank(links[at - gap]) > rank:
                links[at, 0], links[at, 1] = links[at - gap, 0], links[at - gap, 1]
                sure[at] = sure[at - gap]
                at -= gap
            links[at, 0], links[at, 1], sure[at] = i, j, flag
        gap //= 3
    kept = start
    mixed = False
    for k in range(start, end):
        if kept > start and _rank(links[k]) == _rank(links[kept - 1]):
            differs = sure[k] != sure[kept - 1] and not mixed
            found[1 if differs else 0] += 1
            mixed = mixed or differs
            sure[kept - 1] |= sure[k]
        else:
            links[kept, 0], links[kept, 1], sure[kept] = links[k, 0], links[k, 1], sure[k]
            kept += 1
            mixed = False
    return kept


@jit
def _number(text: NDArray[np.uint8], at: int) -> tuple[int, int]:
    """Read digits; return the number (-1 if there is none or it is too long) and where they end."""
    value, start = 0, at
    while at < len(text) and np.uint8(48) <= text[at] <= np.uint8(57):
        value = value * 10 + text[at] - 48
        at += 1
        if at - start > 9:
            return -1, at
    return (value if at > start else -1), at


@jit
def scan(
    text: NDArray[np.uint8],
    lines: int,
    base: int,
    transpose: bool,
    lengths: NDArray[np.int32],
) -> tuple[int, NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Read a block of lines.

    Parameters
    ----------
    text
        (B,) the bytes; each line ends in a line feed.
    lines
        How many lines there are.
    base
        The number of the first word.
    transpose
        Whether links are written target first.
    lengths
        (lines, 2) sentence lengths, or (0, 2) where they are not known.

    Returns
    -------
    status
        `PLAIN`, or another number when anything is unusual; then the rest means nothing.
    links, sure, offsets
        As in `LinkArrays`.
    found
        (2,) the numbers of duplicate links and of links both sure and possible.
    """
    links = np.empty((len(text) // 4 + 1, 2), np.int32)
    sure = np.empty(len(text) // 4 + 1, np.uint8)
    offsets = np.zeros(lines + 1, np.int64)
    found = np.zeros(2, np.int64)
    end, at = 0, 0
    for line in range(lines):
        start = end
        while at < len(text) and text[at] != 10:
            if text[at] == 32 or text[at] == 13:
                at += 1
                continue
            i, at = _number(text, at)
            if i < 0 or at >= len(text):
                return _UNUSUAL, links, sure, offsets, found
            flag = 1 if text[at] == 45 else 0
            if not flag and text[at] != 63 and text[at] != 112:  # neither ? nor p
                return _UNUSUAL, links, sure, offsets, found
            j, at = _number(text, at + 1)
            if j < 0 or at >= len(text):
                return _UNUSUAL, links, sure, offsets, found
            if text[at] == 83 or text[at] == 80:  # S or P
                flag = flag if text[at] == 83 else 0
                at += 1
            if at < len(text) and text[at] != 32 and text[at] != 10 and text[at] != 13:
                return _UNUSUAL, links, sure, offsets, found
            i, j = (j - base, i - base) if transpose else (i - base, j - base)
            if not (0 <= i < LONGEST and 0 <= j < LONGEST):
                return _UNUSUAL, links, sure, offsets, found
            if len(lengths) and (i >= lengths[line, 0] or j >= lengths[line, 1]):
                return _UNUSUAL, links, sure, offsets, found
            links[end, 0], links[end, 1], sure[end] = i, j, flag
            end += 1
        at += 1
        end = _settle(links, sure, start, end, found)
        offsets[line + 1] = end
    return PLAIN, links[:end], sure[:end], offsets, found
