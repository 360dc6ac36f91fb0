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
from alignkit.io.bitext_lines import BITEXT
from alignkit.io.format import Format, prepare
from alignkit.io.options import ReadOptions
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
        compared = word if any(map(str.isalnum, word)) else self._other
        self[word] = compared
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
        self.links = 0
        self.nulls = 0
        self.has_text = False
        self._words = Vocabulary()
        # no words, which are never equal to those of the other side
        self._source = _Compared("")
        self._target = _Compared(" ")
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
        """Add the links of a pair; those of many pairs are counted together."""
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
        sources, targets = zip(*texts, strict=True)
        source = self._pack(sources, self._source)
        target = self._pack(targets, self._target)
        ends = np.column_stack([_sizes(sources), _sizes(targets)])[pair]
        known = np.array([None not in text for text in texts])[pair]
        for fit in self.each:
            at = links - fit.base
            if fit.transposed:
                at = at[:, ::-1]
            outside = ((at < 0) | (at >= ends)).any(axis=1)
            fit.outside += int(np.count_nonzero(outside))
            both = np.flatnonzero(known & ~outside)
            source_words = source.ids[source.offsets[pair[both]] + at[both, 0]]
            target_words = target.ids[target.offsets[pair[both]] + at[both, 1]]
            fit.equal += int((source_words == target_words).sum())
        self._taken.clear()

    def _pack(self, sentences: Iterable[_Words], compared: _Compared) -> TokenArrays:
        """Return the numbers of the words to compare."""
        words = ([compared[word] for word in sentence or ()] for sentence in sentences)
        return TokenArrays.pack(words, self._words)

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
        better = []
        for fit in self.each:
            fewer = declared.outside - fit.outside
            if fewer > 0:
                is_better = fewer > stray or fit.equal >= declared.equal
            else:
                is_better = fewer == 0 and fit.equal > 1.5 * declared.equal + 5
            if is_better:
                better.append(fit)
        if not better:
            return None
        best = min(better, key=lambda fit: (fit.outside, -fit.equal))
        kind = "suspicious base" if best.base != self.base else "suspicious direction"
        reading = f"counted from {best.base}"
        if best.transposed != self.transposed:
            reading += ", target first" if best.transposed else ", source first"
        message = (
            f"{reading}, {best.outside or 'no'} links lie outside their sentence and {best.equal} "
            f"join equal words; as declared, {declared.outside or 'no'} links lie outside and "
            f"{declared.equal} join equal words"
        )
        return Suspicion(kind, message, best.base, best.transposed)

    def _of(self, base: int, transposed: bool) -> Fit:
        """Return the counts for a base and direction."""
        return next(fit for fit in self.each if (fit.base, fit.transposed) == (base, transposed))


def _sizes(sentences: Iterable[_Words]) -> list[int]:
    """Return the numbers of words; as large as possible if they are not known."""
    return [_LARGEST if words is None else len(words) for words in sentences]


class Misfit:
    """Links that two sides share as read, and if one side is transposed or moved by a word."""

    def __init__(self) -> None:
        self._links = 0
        self._shared = 0
        # by reading: the links that are shared only then, and those that are shared only as read
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
            moved = first.links + step if step else first.links[:, ::-1]
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
            extents = _extents(chosen, reading)
        sides = _lengths(TextFile(path, options), texts)
    except (AlignkitError, ValueError):  # reading in earnest says what is wrong
        return None
    shifts = [_shifted(extents[:, k], lengths) for k, lengths in enumerate(sides)]
    line, fails, step = next(filter(None, shifts), (0, 0, 0))
    if not step:
        return None
    shifted: dict[str, None] = {}
    # one text has both sides, two have one each
    for shift, text in zip(shifts, texts * 2, strict=False):
        if shift and shift[2] == step:
            shifted[text] = None
    return Shift(line + 1, fails + 1, step, list(shifted))


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


def _shifted(needed: NDArray[np.int32], lengths: NDArray[np.int32]) -> tuple[int, int, int] | None:
    """Return the first line, the first failing line, and the step of a shift, from 0.

    For each step, sum up line by line whether the links fit the other line better (1) or worse
    (-1). The stretch of lines with the greatest gain begins where the sum is lowest before it. It
    is a shift if the gain is large and links fail in the stretch, but seldom elsewhere.
    """
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
        needed_gain = _GAIN + 2 * abs(step)
        if len(failing) - end >= 5:  # the lines behind the stretch fit again
            needed_gain *= 2
        outside_there = (slack[step][start:end] < 0).sum()
        size = end - start
        rest = len(failing) - size
        if (
            gains[end] >= needed_gain
            and outside >= max(_OUTSIDE, 4 * outside_there)
            and 4 * others * size <= outside * rest
        ):
            best = max(best, (float(gains[end]), -step, start))
    gain, back, start = best
    if gain:
        return (start, start + int(np.argmax(failing[start:])), -back)
    return None


def _far(slack: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how badly a line fits: links outside are worse than any inside."""
    return np.nan_to_num(np.where(slack < 0, 1000 - slack, slack))
