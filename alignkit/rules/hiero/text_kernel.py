"""Write hiero rules as lines of text, by a layout of pieces: compiled loops."""

from __future__ import annotations

import numpy as np

from alignkit._support.array_types import I4, I8, U1
from alignkit._support.jit import jit
from alignkit.rules.hiero.extraction_kernel import BITS

TEXT, LABEL, NUMBER, SOURCE, TARGET, LINKS, ALL_LINKS = range(7)
"""What a step of a layout writes, given its number: that piece; that of the label of the left-hand
side, counted from there; the number of that column; the symbols of a side, variables counted from
there; links of words, or of variables too, divided by that piece."""


@jit
def lines(
    layout: I4, symbols: I4, offsets: I8, labels: int, most_symbols: int, words: int,
    dash: int, pieces: U1, piece_ends: I8, numbers: I4, number_pieces: U1,
    number_ends: I8, rule: int, out: U1, state: I8,
) -> int:  # fmt: skip
    """Write the lines of rules from number `rule` on.

    layout: (K, 2): the steps that make a line, each with its number.
    symbols, offsets: As in `HieroBlock`.
    labels, most_symbols: How many labels there are, and the most symbols of a side.
    words, dash: The piece of the first word; that of "-", after which the numbers from 0 come.
    pieces, piece_ends: The bytes of all pieces, and where each ends, after a leading 0.
    numbers: (R, C): the piece of each number.
    number_pieces, number_ends: Likewise, of numbers.
    rule: Where to go on.
    out: Where to write.
    state: (1,): set to how many bytes were written.
    Returns: The first rule that did not fit.
    """
    state[0] = 0
    at = int(state[0])  # not 0: parts would be compiled for a constant, too
    # symbols below `base` are variables, the others words
    base = 2 * labels + 1
    while rule < len(offsets) - 1:
        begin, middle, end = bounds(symbols, offsets[rule])
        for step in range(len(layout)):
            what, which = layout[step, 0], layout[step, 1]
            if what == TEXT:
                at = put(pieces, piece_ends, which, out, at)
            elif what == LABEL:
                at = put(pieces, piece_ends, which + symbols[begin - 1], out, at)
            elif what == NUMBER:
                at = put(number_pieces, number_ends, numbers[rule, which], out, at)
            elif what <= TARGET:
                first, last = begin, middle
                # the symbols of a side, a space between two
                if what == TARGET:
                    first, last = middle + 1, end
                variables = 0
                for x in range(first, last):
                    if x > first and at < len(out):
                        out[at] = 32
                        at += 1
                    symbol = symbols[x]
                    if symbol >= base:
                        piece = words + symbol - base
                    elif what == TARGET:
                        piece = which + symbol - 1
                    else:
                        piece = which + 2 * (symbol - 1) + variables
                        variables += 1
                    at = put(pieces, piece_ends, piece, out, at)
            else:
                at = put_links(
                    symbols, begin, middle, end, base, most_symbols, what == ALL_LINKS,
                    pieces, piece_ends, which, dash, out, at,
                )  # fmt: skip
            if at == len(out):  # full, or just so: it is written again
                return rule
        state[0] = at
        rule += 1
    return rule


@jit
def bounds(symbols: I4, start: int) -> tuple[int, int, int]:
    """Return where the source side begins, where it ends, and where the target side ends."""
    middle = start + 1
    while symbols[middle] != 0:
        middle += 1
    end = middle + 1
    while symbols[end] != 0:
        end += 1
    return start + 1, middle, end


@jit
def put(pieces: U1, piece_ends: I8, piece: int, out: U1, at: int) -> int:
    """Write a piece; return where it ends, or the end of `out` if there is no room."""
    start, size = piece_ends[piece], piece_ends[piece + 1] - piece_ends[piece]
    if at + size > len(out):
        return len(out)
    for x in range(size):
        out[at + x] = pieces[start + x]
    return int(at + size)


@jit
def put_links(
    symbols: I4, begin: int, middle: int, end: int, base: int, most_symbols: int, variables: bool,
    pieces: U1, piece_ends: I8, divider: int, dash: int, out: U1, at: int,
) -> int:  # fmt: skip
    """Write links as `put` does, those of a source symbol after the other."""
    any_before = False
    number = 0
    for i in range(middle - begin):
        is_variable = symbols[begin + i] < base
        for j in range(end - middle - 1):
            other = symbols[middle + 1 + j]
            if is_variable:
                linked = variables and other < base and (other - 1) % 2 == number
            else:
                # links of words are bits; a variable is linked to that of its number
                bit = i * most_symbols + j
                linked = symbols[end + 1 + bit // BITS] >> np.int32(bit % BITS) & 1 == 1
            if linked:
                if any_before:
                    at = put(pieces, piece_ends, divider, out, at)
                at = put(pieces, piece_ends, dash + 1 + i, out, at)
                at = put(pieces, piece_ends, dash, out, at)
                at = put(pieces, piece_ends, dash + 1 + j, out, at)
                any_before = True
        if is_variable:
            number += 1
    return at


@jit
def identical(symbols: I4, offsets: I8, labels: int, folded: I4, same: U1) -> None:
    """Mark the rules whose sides are equal, words by their `folded` numbers."""
    base = 2 * labels + 1
    for rule in range(len(offsets) - 1):
        begin, middle, end = bounds(symbols, offsets[rule])
        equal = middle - begin == end - middle - 1
        number = 0
        x = 0
        while equal and x < middle - begin:
            ours, theirs = symbols[begin + x], symbols[middle + 1 + x]
            if ours >= base:
                equal = theirs >= base and folded[ours - base] == folded[theirs - base]
            else:
                # source label l + 1 and target 2 l + number + 1
                equal = theirs == 1 + 2 * (ours - 1) + number
                number += 1
            x += 1
        same[rule] = equal
