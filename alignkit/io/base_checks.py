"""Count how links fit each base and direction, and report suspicious ones."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from alignkit._support.wording import how_many
from alignkit.errors import AlignkitError
from alignkit.io.format import Format
from alignkit.io.formats import prepare
from alignkit.io.options import ReadOptions
from alignkit.io.parallel_text import BITEXT
from alignkit.io.records import Reading, Record
from alignkit.io.text_files import TextFile
from alignkit.io.text_ids import TextIds, split_id
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary

_FEW = 20  # links; with fewer nothing can be said about base and direction
_BLOCK = 4096  # sentence pairs whose links are looked at together
_LARGEST = 2**31 - 1

_READINGS = {"turned": 0, "moved one word back": -1, "moved one word on": 1}
"""Alternative readings of the links of a side, and the step of each for its words."""

_Words = Union[Sequence[str], None]


class _Compared(dict[str, str]):
    """Words with a letter or a digit as they are, and `other` for all others."""

    def __init__(self, other: str) -> None:
        self._other = other

    def __missing__(self, word: str) -> str:
        compared = self[word] = word if any(map(str.isalnum, word)) else self._other
        return compared


@dataclass
class Fit:
    """Links under a base and direction: how many are `outside`, or join `equal` words.

    Words without a letter or a digit do not count as equal: if punctuation is not linked, links
    that are moved by a word join more equal punctuation than the right ones.
    """

    base: int
    transposed: bool
    outside: int = 0
    equal: int = 0


class Suspicion(NamedTuple):
    """A base or direction that fits better than the declared one, and the reason."""

    kind: str
    message: str
    base: int
    transposed: bool


class Fits:
    """Counts of all links as written, for `each` base and direction, in blocks."""

    def __init__(self, base: int, transposed: bool) -> None:
        self.base = base
        self.transposed = transposed
        self.each = [Fit(base, turned) for base in (0, 1) for turned in (False, True)]
        self.links = self.nulls = 0
        self.has_text = False
        self._words = Vocabulary()
        self._compared = _Compared(""), _Compared(" ")  # no word: never equal to the other side's
        # the links of each pair, whether they are as read or as written, and its words
        self._taken: list[tuple[bytes, bool, tuple[_Words, _Words]]] = []

    def record(self, record: Record) -> None:
        """Add the links of a record, as written."""
        numbers: list[int] = []
        for raw in record.annotations.values():
            for link in raw.links:
                if link.status == "none":
                    continue
                if link.i is None or link.j is None:
                    self.nulls += 1
                else:
                    self.links += 1
                    numbers += (link.i, link.j)
        self._add(array("i", numbers).tobytes(), False, record.source, record.target)

    def read(self, points: Iterable[bytes], source: _Words, target: _Words) -> None:
        """Add the links of a pair that has no record; see `Alignment.packed`."""
        together = b"".join(points)
        self.links += len(together) // 8
        self._add(together, True, source, target)

    def _add(self, points: bytes, as_read: bool, source: _Words, target: _Words) -> None:
        self.has_text |= source is not None
        if points:
            self._taken.append((points, as_read, (source, target)))
        if len(self._taken) == _BLOCK:
            self.flush()

    def flush(self) -> None:
        """Count the fit of the links added so far."""
        if not self._taken:
            return
        points, flags, texts = zip(*self._taken, strict=True)
        links = np.frombuffer(b"".join(points), np.int32).reshape(-1, 2).astype(np.int64)
        pair = np.repeat(np.arange(len(points)), [len(each) // 8 for each in points])
        as_read = np.array(flags)[pair]
        if self.transposed:
            links[as_read] = links[as_read][:, ::-1]
        links[as_read] += self.base
        tokens = [
            TokenArrays.pack(([known[x] for x in words or ()] for words in side), self._words)
            for known, side in zip(self._compared, zip(*texts, strict=True), strict=True)
        ]
        sizes = [[_LARGEST if side is None else len(side) for side in text] for text in texts]
        ends = np.array(sizes)[pair]
        known = np.array([None not in text for text in texts])[pair]
        for fit in self.each:
            at = (links[:, ::-1] if fit.transposed else links) - fit.base
            outside = ((at < 0) | (at >= ends)).any(axis=1)
            fit.outside += int(np.count_nonzero(outside))
            both = np.flatnonzero(known & ~outside)
            source, target = (
                side.ids[side.offsets[pair[both]] + at[both, k]] for k, side in enumerate(tokens)
            )
            fit.equal += int((source == target).sum())
        self._taken.clear()

    def suspicion(self) -> Suspicion | None:
        """Return a base or direction that fits clearly better than the declared one."""
        self.flush()
        if self.links < _FEW:
            return None
        if not self.has_text:
            if self.base or self._of(1, False).outside:
                return None
            message = "no link of the file uses word 0 on either side: are words counted from 1?"
            return Suspicion("suspicious base", message, 1, self.transposed)
        declared = self._of(self.base, self.transposed)
        stray = max(2, self.links // 200)  # by more than chance and a stray link would
        better = [
            fit
            for fit in self.each
            if (fewer := declared.outside - fit.outside) > stray
            or (fewer > 0 and fit.equal >= declared.equal)
            or (fewer == 0 and fit.equal > 1.5 * declared.equal + 5)
        ]
        if not better:
            return None
        best = min(better, key=lambda fit: (fit.outside, -fit.equal))
        if best.base != self.base:
            kind = "suspicious base"
        else:
            kind = "suspicious direction"
        if best.transposed:
            first = ", target first"
        else:
            first = ", source first"
        message = (
            f"counted from {best.base}{first if best.transposed != self.transposed else ''}, "
            f"{best.outside or 'no'} links lie outside their sentence and {best.equal} join equal "
            f"words; as declared, {declared.outside or 'no'} links lie outside and "
            f"{declared.equal} join equal words"
        )
        return Suspicion(kind, message, best.base, best.transposed)

    def _of(self, base: int, transposed: bool) -> Fit:
        return next(fit for fit in self.each if (fit.base, fit.transposed) == (base, transposed))


class Misfit:
    """Links that two sides share as read, and if one side is transposed or moved by a word."""

    def __init__(self) -> None:
        self._links = self._shared = 0
        self._changes = {reading: np.zeros(2, np.int64) for reading in _READINGS}

    def add(self, first: LinkArrays, second: LinkArrays) -> None:
        """Add the links of the same pairs, until there are enough."""
        if self._links > _BLOCK * 4:
            return
        first = first.part(0, _BLOCK)
        second = second.part(0, _BLOCK)
        theirs = _keys(second, second.links)
        shared = np.isin(theirs, _keys(first, first.links), assume_unique=True)
        self._links += len(theirs)
        self._shared += int(shared.sum())
        for reading, step in _READINGS.items():
            if step:
                moved = first.links + step
            else:
                moved = first.links[:, ::-1]
            then = np.isin(theirs, _keys(first, moved), assume_unique=True)
            self._changes[reading] += (then & ~shared).sum(), (shared & ~then).sum()

    def suspicion(self) -> str:
        """Describe an alternative reading that fits far better, if there is one."""
        reading, (won, lost) = max(self._changes.items(), key=lambda item: item[1][0] - item[1][1])
        if won < _FEW // 2 or won < 3 * lost or (won - lost) ** 2 < 16 * (won + lost):
            return ""
        what = "`transpose`" if reading == "turned" else "`base`"
        return (
            f"the two share {self._shared} of {self._links} links, but {self._shared + won - lost} "
            f"if the links of one are {reading}: check {what} of both"
        )


def _keys(arrays: LinkArrays, links: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return a number for each link and its pair; links before the first word are left out."""
    pair = arrays.pair_of
    inside = (links >= 0).all(axis=1)
    i, j = links[inside].astype(np.int64).T
    keys: NDArray[np.int64] = (pair[inside] << 42) | (i << 21) | j
    return keys


class BaseWatch:
    """Whether any link of an input, read from `base`, uses the first word of a side."""

    def __init__(self, base: int = 0) -> None:
        self._base = base
        self._links = 0
        self._first = False

    def add(self, links: LinkArrays) -> None:
        """Check the links of some pairs; do nothing once a first word was seen."""
        if not self._first and len(links.links):
            self._links += len(links.links)
            self._first = bool((links.links == 0).any())

    def see(self, alignment: Alignment) -> None:
        """Check the links of one pair in the same way."""
        if not self._first:
            self._links += len(alignment)
            self._first = any(0 in link for link in alignment)

    def suspicion(self, typed: str = "`base=1`") -> str:
        """Report if none of many links uses a first word; else return an empty text."""
        if self._first or self._links < _FEW or self._base != 0:
            return ""
        return f"no link uses word 0 on either side; if words are counted from 1, use {typed}"


_STEPS = (1, -1, 2, -2, 3, -3)  # lines
# so many lines must fit better elsewhere, and of them not fit here at all
_GAIN = 6
_OUTSIDE = 3


class Shift(NamedTuple):
    """A shift of texts: its first line, the line of the first failure, and its size."""

    line: int
    fails: int
    step: int
    texts: list[str]

    def __str__(self) -> str:
        return (
            f"links and words look shifted from about line {self.line} on (links fail at line "
            f"{self.fails}): from there, the links fit words {how_many(abs(self.step), 'line')} "
            f"{'before' if self.step < 0 else 'after'} in {' and '.join(self.texts)}; look there "
            "for an extra or missing line, and correct it"
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
            extents = _extents(chosen, reading)
        sides = _lengths(TextFile(path, options), texts)
    except (AlignkitError, ValueError):  # reading in earnest says what is wrong
        return None
    shifts = [_shifted(extents[:, k], lengths) for k, lengths in enumerate(sides)]
    line, fails, step = next(filter(None, shifts), (0, 0, 0))
    if not step:
        return None
    shifted = zip(shifts, texts * 2, strict=False)
    names = dict.fromkeys(text for shift, text in shifted if shift and shift[2] == step)
    return Shift(line + 1, fails + 1, step, list(names))


def _extents(chosen: Format, reading: Reading) -> NDArray[np.int32]:
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
    extents = np.zeros((lines.max(), 2), np.int32)
    extents[lines - 1] = LinkArrays.extents(links.links, links.offsets)
    return extents


def _lengths(reading: TextFile, texts: list[str]) -> list[NDArray[np.int32]]:
    """Return the number of words of each line of the source, and of the target."""
    ids = TextIds.of(reading, texts, divided=len(texts) == 1).present

    def lines(path: str) -> Iterator[str]:
        return (
            split_id(reading, number, text, path)[1] if ids else text
            for number, text in reading.lines(path)
        )

    if len(texts) > 1:
        sizes = (map(len, map(reading.words, lines(path))) for path in texts)
        return [np.fromiter(side, np.int32) for side in sizes]
    halves = (text.partition(BITEXT)[::2] for text in lines(texts[0]))
    return list(np.array([[*map(len, map(reading.words, half))] for half in halves], np.int32).T)


def _shifted(needed: NDArray[np.int32], lengths: NDArray[np.int32]) -> tuple[int, int, int] | None:
    """Return the first line, the first failing line, and the step of a shift, from 0."""
    slack = {}  # how many words the line `step` on has beyond those needed; NaN: none is known
    for step in (0, *_STEPS):
        rows = np.arange(max(0, -step), min(len(needed), len(lengths) - step))
        slack[step] = np.full(len(needed), np.nan)
        slack[step][rows] = lengths[rows + step] - needed[rows]
        slack[step][needed == 0] = np.nan
    failing = slack[0] < 0
    best = (0.0, 0, 0)
    for step in _STEPS:
        better = np.sign(_far(slack[0]) - _far(slack[step]))
        sums = np.concatenate(([0], np.cumsum(better)))
        gains = sums - np.minimum.accumulate(sums)
        end = int(np.argmax(gains))
        start = int(np.flatnonzero(sums[: end + 1] == sums[: end + 1].min())[-1])
        outside = failing[start:end].sum()
        others = failing.sum() - outside
        needed_gain = (_GAIN + 2 * abs(step)) * (1 if len(failing) - end < 5 else 2)
        rest = len(failing) - (end - start)
        if (
            gains[end] >= needed_gain
            and outside >= max(_OUTSIDE, 4 * (slack[step][start:end] < 0).sum())
            and 4 * others * (end - start) <= outside * rest
        ):
            best = max(best, (float(gains[end]), -step, start))
    gain, back, start = best
    if gain:
        return (start, start + int(np.argmax(failing[start:])), -back)
    return None


def _far(slack: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how badly a line fits: links outside are worse than any inside."""
    return np.nan_to_num(np.where(slack < 0, 1000 - slack, slack))
