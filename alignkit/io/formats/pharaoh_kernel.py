"""Plain Pharaoh lines, from bytes to sorted arrays and back.

A line with anything unusual (an id, a weight, a strange space) is left to the parser in Python.
"""

from __future__ import annotations

import numpy as np

from alignkit._support.array_types import F4, I4, I8, U1
from alignkit._support.jit import jit

PLAIN = 0
"""The status of bytes that hold nothing but `i-j` and `i?j` (or `ipj`, `i-jS`, `i-jP`) links."""

_UNUSUAL = 1

_LINK = 7 + 1 + 7 + 1  # bytes of a link at most: numbers up to 2 ** 20, and a space
_WEIGHT = 10  # and of a weight: `:1.234e-05`
_LEAST = 1e-9  # smaller weights are written as 0.0

LONGEST = 2**20  # that of `alignkit.model.alignment`; numba would freeze an imported one


@jit
def _rank(link: I4) -> int:
    """Return a number that rises with (i, j)."""
    return int(link[0]) << 32 | int(link[1])


@jit
def _settle(
    links: I4,
    sure: U1,
    start: int,
    end: int,
    repeated: I8,
) -> int:
    """Sort the links of one line and drop repetitions; sure wins. Return the new end.

    `repeated` counts duplicates (0) and links both sure and possible (1).
    """
    # Shell's sort with the gaps 1, 4, 13, 40, ... (h = 3 h + 1): below 32 links the first gap is 1,
    # which is plain insertion; so a line that is nearly sorted costs one pass. Invariant of each
    # round: links[start:k] is sorted for every stride of `gap`.
    gap = 1
    while gap < (end - start) // 32:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(start + gap, end):
            i = links[k, 0]
            j = links[k, 1]
            flag = sure[k]
            rank = int(i) << 32 | int(j)
            at = k
            while at - gap >= start and _rank(links[at - gap]) > rank:
                links[at, 0], links[at, 1] = links[at - gap, 0], links[at - gap, 1]
                sure[at] = sure[at - gap]
                at -= gap
            links[at, 0] = i
            links[at, 1] = j
            sure[at] = flag
        gap //= 3
    # links[start:kept] is sorted and without repetitions; `mixed` says that its last link was seen
    # both as sure and as possible, which counts once however often it is repeated.
    kept = start
    mixed = False
    for k in range(start, end):
        if kept > start and _rank(links[k]) == _rank(links[kept - 1]):
            differs = sure[k] != sure[kept - 1] and not mixed
            repeated[1 if differs else 0] += 1
            mixed = mixed or differs
            sure[kept - 1] |= sure[k]
        else:
            links[kept, 0], links[kept, 1], sure[kept] = links[k, 0], links[k, 1], sure[k]
            kept += 1
            mixed = False
    return kept


@jit
def _number(text: U1, at: int) -> tuple[int, int]:
    """Read digits; return the number (-1 if there is none or it is too long) and where they end."""
    value = 0
    start = at
    while at < len(text) and np.uint8(48) <= text[at] <= np.uint8(57):
        value = value * 10 + text[at] - 48
        at += 1
        if at - start > 9:
            return -1, at
    return (value if at > start else -1), at


@jit
def scan(
    text: U1, lines: int, base: int, transpose: bool, lengths: I4
) -> tuple[int, I4, U1, I8, I8]:
    """Read a block of lines.

    text: (B,) the bytes; each line ends in a line feed.
    lines: How many lines there are.
    base: The number of the first word.
    transpose: Whether links are written target first.
    lengths: (lines, 2) sentence lengths, or (0, 2) where they are not known.
    Returns: status: `PLAIN`, or another number when anything is unusual; then the rest means
        nothing; links, sure, offsets: As in `LinkArrays`; repeated: (2,) the numbers of duplicate
        links and of links both sure and possible.
    """
    # a link takes four bytes at least: two digits, its mark and what divides it from the next
    links = np.empty((len(text) // 4 + 1, 2), np.int32)
    sure = np.empty(len(text) // 4 + 1, np.uint8)
    offsets = np.zeros(lines + 1, np.int64)
    repeated = np.zeros(2, np.int64)
    end = 0
    at = 0
    for line in range(lines):
        # links[offsets[line]:end] are those of the line so far, as written; `at` is behind them
        start = end
        while at < len(text) and text[at] != 10:
            if text[at] == 32 or text[at] == 13:
                at += 1
                continue
            i, at = _number(text, at)
            if i < 0 or at >= len(text):
                return _UNUSUAL, links, sure, offsets, repeated
            flag = 1 if text[at] == 45 else 0
            if not flag and text[at] != 63 and text[at] != 112:  # neither ? nor p
                return _UNUSUAL, links, sure, offsets, repeated
            j, at = _number(text, at + 1)
            if j < 0 or at >= len(text):
                return _UNUSUAL, links, sure, offsets, repeated
            if text[at] == 83 or text[at] == 80:  # S or P
                flag = flag if text[at] == 83 else 0
                at += 1
            if at < len(text) and text[at] != 32 and text[at] != 10 and text[at] != 13:
                return _UNUSUAL, links, sure, offsets, repeated
            i, j = (j - base, i - base) if transpose else (i - base, j - base)
            if not (0 <= i < LONGEST and 0 <= j < LONGEST):
                return _UNUSUAL, links, sure, offsets, repeated
            if len(lengths) and (i >= lengths[line, 0] or j >= lengths[line, 1]):
                return _UNUSUAL, links, sure, offsets, repeated
            links[end, 0] = i
            links[end, 1] = j
            sure[end] = flag
            end += 1
        at += 1
        end = _settle(links, sure, start, end, repeated)
        offsets[line + 1] = end
    return PLAIN, links[:end], sure[:end], offsets, repeated


@jit
def _put_digits(text: U1, at: int, value: int, length: int) -> int:
    """Write the last digits of a number; return where they end."""
    for k in range(at + length - 1, at - 1, -1):
        text[k] = 48 + value % 10
        value //= 10
    return at + length


@jit
def _put_number(text: U1, at: int, value: int) -> int:
    """Write a whole number; return where it ends."""
    length = 1
    bound = 10
    while value >= bound:
        length += 1
        bound *= 10
    return _put_digits(text, at, value, length)


@jit
def _put_weight(text: U1, at: int, weight: float) -> int:
    """Write a number from 0 to 1 as Python writes it once it is rounded to 4 significant digits.

    A float32 times a power of ten up to the twelfth has at most 24 + 28 bits: the product is exact
    in 64 bits, and is rounded as decimal arithmetic rounds, ties to even.
    """
    # scale = 10^(3 + exponent): at the end 1000 <= weight * scale < 10000, four digits
    exponent = 0
    scale = 1000.0
    while weight >= _LEAST and weight * scale < 1000.0:
        exponent += 1
        scale *= 10.0
    digits = int(np.rint(weight * scale))
    if digits == 10000:  # rounded up to five digits
        digits = 1000
        exponent -= 1
    if exponent == 0:  # 1.0, or 0.0 where there was no search
        text[at] = 49 if digits == 1000 else 48
        text[at + 1] = 46
        text[at + 2] = 48
        return at + 3
    length = 4  # of the digits without the zeros at the end, which Python leaves out
    while digits % 10 == 0:
        digits //= 10
        length -= 1
    if exponent <= 4:
        text[at] = 48
        text[at + 1] = 46
        return _put_digits(text, at + 2, digits, exponent - 1 + length)
    at = _put_digits(text, at, digits // 10 ** (length - 1), 1)
    if length > 1:
        text[at] = 46
        at = _put_digits(text, at + 1, digits, length - 1)
    text[at] = 101  # e-
    text[at + 1] = 45
    return _put_digits(text, at + 2, exponent, 2)


@jit
def written(
    links: I4,
    sure: U1,
    offsets: I8,
    weights: F4,
) -> U1:
    """Write a block of lines.

    links, sure, offsets: As in `LinkArrays`, in the order in which they are to be written.
    weights: (L,) numbers from 0 to 1, or (0,) for none.
    Returns: (B,) the bytes; each line ends in a line feed.
    """
    most = _LINK + _WEIGHT if len(weights) else _LINK
    text = np.empty(len(links) * most + len(offsets), np.uint8)
    at = 0
    for line in range(len(offsets) - 1):
        for k in range(offsets[line], offsets[line + 1]):
            if k > offsets[line]:
                text[at] = 32
                at += 1
            at = _put_number(text, at, links[k, 0])
            text[at] = 45 if sure[k] else 63  # - or ?
            at = _put_number(text, at + 1, links[k, 1])
            if len(weights):
                text[at] = 58  # :
                at = _put_weight(text, at + 1, np.float64(weights[k]))
        text[at] = 10
        at += 1
    return text[:at]
