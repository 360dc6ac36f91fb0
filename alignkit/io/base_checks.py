"""Whether links look as if they had another base or direction than was declared.

Lines such as ``1-1 2-2`` do not state whether words count from 0 or 1, and which side comes first.
Between "the house" and "la maison", they lie outside if they count from 0, and inside from 1.

- `Fits` counts links as written, for each base and direction: how many lie outside their sentence,
  and how many join equal words.
- `Misfit` compares two versions of the same pairs: do they share more links if one is moved?
- `BaseWatch` only asks whether any link uses the first word of a side.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Union

import numpy as np

from alignkit._support.array_types import I4, I8
from alignkit.io.records import Record
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary

_FEW = 20  # links; with fewer nothing can be said about base and direction
_BLOCK = 4096  # sentence pairs whose links are looked at together
_LARGEST = 2**31 - 1

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


class _LinksOfPair(NamedTuple):
    """The links of a sentence pair, and its words if they are known."""

    points: bytes  # 32-bit i, j pairs
    as_read: bool  # from 0 and source first, as in `Alignment`; else as written in the file
    source: _Words
    target: _Words


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
        self._waiting: list[_LinksOfPair] = []  # to be counted by `flush`

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
        points = array("i", numbers).tobytes()
        self._add(_LinksOfPair(points, False, record.source, record.target))

    def read(self, points: Iterable[bytes], source: _Words, target: _Words) -> None:
        """Add the links of a pair that has no record; see `Alignment.packed`."""
        together = b"".join(points)
        self.links += len(together) // 8
        self._add(_LinksOfPair(together, True, source, target))

    def _add(self, pair: _LinksOfPair) -> None:
        """Add the links of a pair; those of many pairs are counted together."""
        self.has_text |= pair.source is not None
        if pair.points:
            self._waiting.append(pair)
        if len(self._waiting) == _BLOCK:
            self.flush()

    def flush(self) -> None:
        """Count the fit of the links added so far."""
        pairs = self._waiting
        if not pairs:
            return
        joined = b"".join(each.points for each in pairs)
        links = np.frombuffer(joined, np.int32).reshape(-1, 2).astype(np.int64)
        # (L,): of each link the number of its pair, here from 0
        pair = np.repeat(np.arange(len(pairs)), [len(each.points) // 8 for each in pairs])
        # links that are as read, as they are written in the file
        as_read = np.array([each.as_read for each in pairs])[pair]
        if self.transposed:
            links[as_read] = links[as_read][:, ::-1]
        links[as_read] += self.base
        sources = [each.source for each in pairs]
        targets = [each.target for each in pairs]
        source = self._pack(sources, self._source)
        target = self._pack(targets, self._target)
        sizes = np.column_stack([_sizes(sources), _sizes(targets)])[pair]
        worded = np.array([None not in (each.source, each.target) for each in pairs])[pair]
        for fit in self.each:
            places = links - fit.base
            if fit.transposed:
                places = places[:, ::-1]
            outside = ((places < 0) | (places >= sizes)).any(axis=1)
            fit.outside += int(np.count_nonzero(outside))
            inside = np.flatnonzero(worded & ~outside)
            source_words = source.ids[source.offsets[pair[inside]] + places[inside, 0]]
            target_words = target.ids[target.offsets[pair[inside]] + places[inside, 1]]
            fit.equal += int((source_words == target_words).sum())
        pairs.clear()

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


@dataclass
class _Reading:
    """Another way to read the links of a side, and how it changes what both sides share."""

    name: str
    step: int = 0  # how many words they move on
    turned: bool = False
    won: int = 0  # links that are shared only then
    lost: int = 0  # links that are shared only as they were read

    def of(self, links: I4) -> I4:
        """Return the links in this reading."""
        return links[:, ::-1] if self.turned else links + np.int32(self.step)


class Misfit:
    """Links that two sides share as read, and if one side is transposed or moved by a word."""

    def __init__(self) -> None:
        self._links = 0
        self._shared = 0
        self._readings = (
            _Reading("turned", turned=True),
            _Reading("moved one word back", -1),
            _Reading("moved one word on", 1),
        )

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
        for reading in self._readings:
            then = np.isin(theirs, _keys(first, reading.of(first.links)), assume_unique=True)
            reading.won += int((then & ~shared).sum())
            reading.lost += int((shared & ~then).sum())

    def suspicion(self) -> str:
        """Describe an alternative reading that fits far better, if there is one."""
        best = max(self._readings, key=lambda reading: reading.won - reading.lost)
        gain = best.won - best.lost
        # chance alone moves the gain by the root of what changes: four times that is no chance
        is_chance = gain**2 < 16 * (best.won + best.lost)
        if best.won < _FEW // 2 or best.won < 3 * best.lost or is_chance:
            return ""
        option = "`transpose`" if best.turned else "`base`"
        return (
            f"the two share {self._shared} of {self._links} links, but {self._shared + gain} "
            f"if the links of one are {best.name}: check {option} of both"
        )


def _keys(arrays: LinkArrays, links: I4) -> I8:
    """Return a number for each link and its pair; links before the first word are left out."""
    pair = arrays.pair_of
    inside = (links >= 0).all(axis=1)
    i, j = links[inside].astype(np.int64).T
    # 21 bits hold each position (LONGEST is 2 ** 20), 22 the pair (`_BLOCK` at most)
    keys: I8 = (pair[inside] << 42) | (i << 21) | j
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
