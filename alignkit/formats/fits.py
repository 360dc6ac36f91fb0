"""Count which base and direction the links of a file fit, and suspect one that is not declared."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Union

import numpy as np

from alignkit.arrays import TokenArrays, Vocabulary
from alignkit.formats.record import Record

__all__ = ["Fit", "Fits", "Suspicion"]

_FEW = 20  # links; with fewer nothing can be said about base and direction
_BLOCK = 4096  # sentence pairs whose links are looked at together
_LARGEST = 2**31 - 1

_Words = Union[Sequence[str], None]


@dataclass
class Fit:
    """Tell how the links of a file look under one base and direction.

    Parameters
    ----------
    base
        The number of the first word.
    transposed
        Whether links are taken as written target first.
    outside
        Links that lie outside their sentence pair.
    equal
        Links that join words equal after casefold (names, numbers, punctuation, cognates): under
        the right base and direction there are clearly more of them than under a wrong one.
    """

    base: int
    transposed: bool
    outside: int = 0
    equal: int = 0


class Suspicion(NamedTuple):
    """Say that another base or direction fits better than the declared one.

    Parameters
    ----------
    kind
        ``"suspicious base"`` or ``"suspicious direction"``.
    message
        Why.
    base, transposed
        What fits.
    """

    kind: str
    message: str
    base: int
    transposed: bool


class Fits:
    """Look at all links of a file as written, a block of sentence pairs at a time.

    Parameters
    ----------
    base, transposed
        What was declared.

    Attributes
    ----------
    each
        How the links look under each base and direction; what `flush` has counted.
    links
        How many links there are, also to the empty word.
    has_text
        Whether the words of at least one pair are known.
    """

    def __init__(self, base: int, transposed: bool) -> None:
        self.base, self.transposed = base, transposed
        self.each = [Fit(base, turned) for base in (0, 1) for turned in (False, True)]
        self.links = 0
        self.has_text = False
        self._words = Vocabulary()
        self._forget()

    def _forget(self) -> None:
        self._points: list[bytes] = []  # links of each pair, as written or as read
        self._as_read: list[bool] = []
        self._texts: list[tuple[_Words, _Words]] = []

    def record(self, record: Record) -> None:
        """Take the links of a record as written."""
        numbers: list[int] = []
        for raw in record.annotations.values():
            for link in raw.links:
                if link.status == "none":
                    continue
                self.links += 1
                if link.i is not None and link.j is not None:
                    numbers += (link.i, link.j)
        self._add(_packed(numbers), False, record.source, record.target)

    def read(self, points: Iterable[bytes], source: _Words, target: _Words) -> None:
        """Take the links of a pair that came without a record; see `Alignment.packed`."""
        together = b"".join(points)
        self.links += len(together) // 8
        self._add(together, True, source, target)

    def _add(self, points: bytes, as_read: bool, source: _Words, target: _Words) -> None:
        self.has_text |= source is not None
        if not points:
            return
        self._points.append(points)
        self._as_read.append(as_read)
        self._texts.append((source, target))
        if len(self._points) == _BLOCK:
            self.flush()

    def flush(self) -> None:
        """Count how the links taken so far fit."""
        if not self._points:
            return
        links = np.frombuffer(b"".join(self._points), np.int32).reshape(-1, 2).astype(np.int64)
        counts = [len(points) // 8 for points in self._points]
        pair = np.repeat(np.arange(len(counts)), counts)
        as_read = np.array(self._as_read)[pair]
        if self.transposed:
            links[as_read] = links[as_read][:, ::-1]
        links[as_read] += self.base
        tokens = [
            TokenArrays.pack((text[side] or () for text in self._texts), self._words)
            for side in (0, 1)
        ]
        ends = np.array(
            [[_LARGEST if side is None else len(side) for side in text] for text in self._texts]
        )[pair]
        known = np.array([None not in text for text in self._texts])[pair]
        for fit in self.each:
            at = (links[:, ::-1] if fit.transposed else links) - fit.base
            outside = ((at < 0) | (at >= ends)).any(axis=1)
            fit.outside += int(np.count_nonzero(outside))
            both = np.flatnonzero(known & ~outside)
            source, target = (
                side.ids[side.offsets[pair[both]] + at[both, k]] for k, side in enumerate(tokens)
            )
            fit.equal += int((source == target).sum())
        self._forget()

    def suspicion(self) -> Suspicion | None:
        """Return which base or direction fits clearly better than the declared one, if one does."""
        self.flush()
        if self.links < _FEW:
            return None
        if not self.has_text:
            from_one = self._of(1, False)
            if self.base or from_one.outside:
                return None
            message = "no link of the file uses word 0 on either side: are words counted from 1?"
            return Suspicion("suspicious base", message, 1, self.transposed)
        declared = self._of(self.base, self.transposed)
        better = [fit for fit in self.each if _fits_better(fit, declared, self.links)]
        if not better:
            return None
        best = min(better, key=lambda fit: (fit.outside, -fit.equal))
        kind = "suspicious base" if best.base != self.base else "suspicious direction"
        turned = {False: ", source first", True: ", target first"}[best.transposed]
        message = (
            f"read from {best.base}{turned if best.transposed != self.transposed else ''}, "
            f"{best.outside} links lie outside and {best.equal} join equal words; as declared, "
            f"{declared.outside} and {declared.equal}"
        )
        return Suspicion(kind, message, best.base, best.transposed)

    def _of(self, base: int, transposed: bool) -> Fit:
        return next(fit for fit in self.each if (fit.base, fit.transposed) == (base, transposed))


def _packed(numbers: list[int]) -> bytes:
    try:
        return array("i", numbers).tobytes()
    except OverflowError:  # out of every range; it will be a finding
        return array("i", [min(number, _LARGEST) for number in numbers]).tobytes()


def _fits_better(fit: Fit, declared: Fit, links: int) -> bool:
    """Return whether a fit beats the declared one by more than chance and a stray link would."""
    fewer = declared.outside - fit.outside
    if fewer > max(2, links // 200):
        return True
    if fewer > 0:
        return fit.equal >= declared.equal
    return fewer == 0 and fit.equal > 1.5 * declared.equal + 5
