"""Find out whether texts are shifted against their links, by a line too many or a missing one.

Links and words are in files of their own, line by line. If a line was added to one of them, or
lost, the lines from there on stand next to the words of others:

    links        words
    0-0 1-1      the house
    0-0 1-1 2-2  yes              an extra line: only the texts have it
    0-0          the old house    the links of the line before fit this one

Only lengths are compared: the links of a line need so many words at least, on each side. `_shifted`
looks for a stretch of lines whose links clearly fit the words some lines before or after better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F8, I4
from alignkit._support.wording import how_many
from alignkit.errors import AlignkitError
from alignkit.io.bitext_lines import BITEXT
from alignkit.io.format import Format, prepare
from alignkit.io.options import ReadOptions
from alignkit.io.records import Reading
from alignkit.io.text_files import TextFile
from alignkit.io.text_ids import TextIds, split_id
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays

_STEPS = (1, -1, 2, -2, 3, -3)  # lines
_GAIN = 6  # so many lines must fit better elsewhere,
_OUTSIDE = 3  # and so many of them not fit here at all
_BEHIND = 5  # lines after the stretch: if they fit again, it must gain twice as much


class Shift(NamedTuple):
    """A shift of texts: its first line, the line of the first failure, and its size."""

    line: int
    fails: int
    step: int
    texts: list[str]

    def __str__(self) -> str:
        lines = how_many(abs(self.step), "line")
        where = "before" if self.step < 0 else "after"
        texts = " and ".join(self.texts)
        return (
            f"links and words look shifted from about line {self.line} on (links fail at line "
            f"{self.fails}): from there, the links fit words {lines} {where} in {texts}; look "
            "there for an extra or missing line, and correct it"
        )


def shift_of(path: str, format: str, options: ReadOptions) -> Shift | None:
    """Return where the text files of a file of links are shifted; None if they are not."""
    texts = list(dict.fromkeys(path for path in (options.source, options.target) if path))
    if not texts or "-" in (path, *texts):
        return None
    bare = replace(options, source=None, target=None, lenient=True, partial=True)
    try:
        chosen, reading = prepare(path, format, bare)
        with closing(reading):
            needed = _needed_lengths(chosen, reading)
        lengths = _lengths(TextFile(path, options), texts)
    except (AlignkitError, ValueError):  # reading in earnest says what is wrong
        return None
    of_sides = [
        _shifted(needed[:, k], lengths_of_side) for k, lengths_of_side in enumerate(lengths)
    ]
    first = next(filter(None, of_sides), None)
    if first is None:
        return None
    # one text has both sides, two have one each
    text_of_sides = texts * 2 if len(texts) == 1 else texts
    shifted: dict[str, None] = {}
    for stretch, text in zip(of_sides, text_of_sides, strict=True):
        if stretch is not None and stretch.step == first.step:
            shifted[text] = None
    return Shift(first.start + 1, first.fails + 1, first.step, list(shifted))


def _needed_lengths(chosen: Format, reading: Reading) -> I4:
    """Return the least (P, 2) sentence lengths that fit the links of each line; 0 if no links."""
    if chosen.blocks is None:
        pairs = list(reading.pairs(chosen.parse(reading)))
        made = (next(iter(pair.alignments.values()), Alignment()) for pair in pairs)
        names: Sequence[object] = [pair.id for pair in pairs]
        blocks = [(names, LinkArrays.pack(made))]
    else:
        blocks = list(chosen.blocks(reading))
    links = LinkArrays.concatenate([block for _, block in blocks])
    # a ValueError where ids are no numbers of lines
    lines = np.concatenate([np.fromiter(map(int, map(str, ids)), np.int64) for ids, _ in blocks])
    needed = np.zeros((lines.max(), 2), np.int32)
    needed[lines - 1] = LinkArrays.extents(links.links, links.offsets)
    return needed


def _lengths(reading: TextFile, texts: list[str]) -> list[I4]:
    """Return the number of words of each line of the source, and of the target."""
    ids = TextIds.of(reading, texts, divided=len(texts) == 1).present

    def lines(path: str) -> Iterator[str]:
        for number, text in reading.lines(path):
            if ids:
                _, words = split_id(reading, number, text, path)
                yield words
            else:
                yield text

    sizes: list[list[int]] = [[], []]
    if len(texts) > 1:
        for side, path in zip(sizes, texts, strict=True):
            side += [len(reading.words(line)) for line in lines(path)]
    else:
        for line in lines(texts[0]):
            source, _, target = line.partition(BITEXT)
            sizes[0].append(len(reading.words(source)))
            sizes[1].append(len(reading.words(target)))
    return [np.array(side, np.int32) for side in sizes]


class _Stretch(NamedTuple):
    """The lines, from 0, whose links fit the words `step` lines on better than their own."""

    gain: float  # how many more of them fit better than worse
    step: int
    start: int
    end: int  # the line after the last
    fails: int  # the first line whose links lie outside its own words


def _shifted(needed: I4, lengths: I4) -> _Stretch | None:
    """Return the stretch of lines that is shifted, if there is one; the one with the largest gain.

    needed: (P,) the number of words that the links of each line need. lengths: of the words there.
    """
    here = _slack(needed, lengths, 0)
    failing = here < 0
    stretches = []
    for step in _STEPS:
        there = _slack(needed, lengths, step)
        gain, start, end = _best_stretch(here, there)
        outside = failing[start:end].sum()
        outside_there = (there[start:end] < 0).sum()
        outside_elsewhere = failing.sum() - outside
        size = end - start
        rest = len(needed) - size
        needed_gain = _GAIN + 2 * abs(step)
        if len(needed) - end >= _BEHIND:
            needed_gain *= 2
        # the gain is large; links fail here, but seldom there, and seldom in the rest of the file
        is_shift = (
            gain >= needed_gain
            and outside >= max(_OUTSIDE, 4 * outside_there)
            and 4 * outside_elsewhere * size <= outside * rest
        )
        if is_shift:
            fails = start + int(np.argmax(failing[start:]))
            stretches.append(_Stretch(gain, step, start, end, fails))
    # of equal gains, the lowest step; then the later start
    return max(stretches, key=lambda each: (each.gain, -each.step, each.start), default=None)


def _slack(needed: I4, lengths: I4, step: int) -> F8:
    """Return how many words the line `step` on has beyond those needed.

    NaN if a line has no links, or there is no such line.
    """
    slack = np.full(len(needed), np.nan)
    rows = np.arange(max(0, -step), min(len(needed), len(lengths) - step))
    slack[rows] = lengths[rows + step] - needed[rows]
    slack[needed == 0] = np.nan
    return slack


def _best_stretch(here: F8, there: F8) -> tuple[float, int, int]:
    """Return the largest gain of a stretch of lines, its first line, and the line after the last.

    A line that fits better there counts 1, one that fits worse -1; the gain of a stretch is their
    sum. With sums from the first line on, it is the sum at the end less the sum at the start: for
    each end, the best start is where the sum is lowest before.
    """
    better = np.sign(_badness(here) - _badness(there))
    sums = np.concatenate(([0], np.cumsum(better)))
    gains = sums - np.minimum.accumulate(sums)
    end = int(np.argmax(gains))
    before = sums[: end + 1]
    start = int(np.flatnonzero(before == before.min())[-1])
    return float(gains[end]), start, end


def _badness(slack: F8) -> F8:
    """Return how badly lines fit: by the words that are left over; links outside are the worst.

    Lines of which nothing is known fit best: they count neither for nor against a shift.
    """
    return np.nan_to_num(np.where(slack < 0, 1000 - slack, slack))
