"""The numbers of the sentence pairs of a file: whether they are in order, and which are missing.

Programs that align in parallel write parts, and each part has some of the numbers, in any order.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from alignkit._support.wording import how_many

_MOST_RANGES = 20  # that a message lists


class SentenceNumbers:
    """Numbers of sentence pairs, in the order of their file; 4 bytes each."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._numbers = array("i")
        self.backwards = 0  # how many numbers are smaller than the number before
        self._first_backwards = (0, 0)
        for number in numbers:
            self.add(number)

    def add(self, number: int) -> int | None:
        """Add the next number of the file; return the number before if that is larger."""
        before = self._numbers[-1] if self._numbers else number
        self._numbers.append(number)
        if number >= before:
            return None
        if not self.backwards:
            self._first_backwards = before, number
        self.backwards += 1
        return before

    def missing(self) -> list[tuple[int, int]]:
        """Return the first and last number of each gap, from 1 to the largest number."""
        if not self._numbers:
            return []
        known = np.unique(np.frombuffer(self._numbers, np.int32))
        below = np.concatenate([[min(0, int(known[0]) - 1)], known[:-1]])
        at = np.flatnonzero(known - below > 1)
        firsts = (below[at] + 1).tolist()
        lasts = (known[at] - 1).tolist()
        return list(zip(firsts, lasts, strict=True))

    def __str__(self) -> str:
        """Return a description of numbers out of order and missing; empty for neither."""
        parts: list[str] = []
        if self.backwards:
            before, number = self._first_backwards
            places = f" ({self.backwards:,} such places)" if self.backwards > 1 else ""
            parts.append(f"number {number} comes after {before}{places}")
        gaps = self.missing()
        if gaps:
            count = sum(last - first + 1 for first, last in gaps)
            ranges = [str(first) if first == last else f"{first}-{last}" for first, last in gaps]
            shown = ", ".join(ranges[:_MOST_RANGES])
            if len(ranges) > _MOST_RANGES:
                shown += f" and {len(ranges) - _MOST_RANGES:,} more ranges"
            numbers = how_many(count, "number is", "numbers are", commas=True)
            parts.append(f"{numbers} missing: {shown}")
        return "; ".join(parts)
