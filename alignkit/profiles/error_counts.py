"""Count which links of a system are right, wrong and missed, class by class and pair by pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.alignment import Alignment, Link
from alignkit.scoring.measures import Counts, ratio
from alignkit.sentence_pair import SentencePair

COLUMNS = ("hypothesis", "right", "reference", "found", "sure_as_possible")
"""What is counted: links of the system, those that the reference has; of the reference, those that
the system has; and sure links of the system that are only possible in the reference."""

Classes = Callable[[Link], Iterable[str]]
"""Tells the classes of a link."""


class Example(NamedTuple):
    """An error: what it is, the place of its pair, and its link."""

    error: str
    pair: int
    link: Link


@dataclass
class ErrorCounts:
    """Collect the counts of one class, with its errors."""

    rows: dict[int, list[int]] = field(default_factory=dict)
    errors: list[Example] = field(default_factory=list)  # the errors, where they are asked for

    def add(self, place: int, column: str, number: int = 1) -> None:
        """Count something of a pair."""
        self.rows.setdefault(place, [0] * len(COLUMNS))[COLUMNS.index(column)] += number

    def array(self, pairs: int) -> NDArray[np.int64]:
        """Return (P, 5) counts, a row for each pair."""
        found = np.zeros((pairs, len(COLUMNS)), np.int64)
        for place, row in self.rows.items():
            found[place] = row
        return found


def count_pair(
    place: int,
    hypothesis: Alignment,
    reference: Alignment,
    classes: tuple[Classes, Classes],
    into: Mapping[str, ErrorCounts],
    *,
    keep: bool,
) -> None:
    """Count the links of a pair, those that precision and recall count."""
    for link in hypothesis.sure:
        for name in classes[0](link):
            counts = into[name]
            counts.add(place, "hypothesis")
            if link in reference:
                counts.add(place, "right")
                counts.add(place, "sure_as_possible", link not in reference.sure)
            elif keep:
                counts.errors.append(Example("wrong", place, link))
    for link in reference.sure:
        for name in classes[1](link):
            counts = into[name]
            counts.add(place, "reference")
            if link in hypothesis:
                counts.add(place, "found")
            elif keep:
                counts.errors.append(Example("missed", place, link))


def count_statuses(
    place: int, hypothesis: Alignment, reference: Alignment, into: Mapping[str, ErrorCounts]
) -> None:
    """Count sure links, and those that are only possible, of which ratios else count none."""
    for mine, other, columns in (
        (hypothesis, reference, ("hypothesis", "right")),
        (reference, hypothesis, ("reference", "found")),
    ):
        for link, sure in mine.items():
            counts = into["sure" if sure else "possible"]
            counts.add(place, columns[0])
            counts.add(place, columns[1], link in other)
    asked = hypothesis.sure & (reference.possible - reference.sure)
    into["sure"].add(place, "sure_as_possible", len(asked))


def count_nulls(
    place: int, pair: SentencePair, hypothesis: Alignment, reference: Alignment, into: ErrorCounts
) -> None:
    """Count the words that bear no link at all, of both sides."""
    mine, gold = set(unaligned(pair, hypothesis)), set(unaligned(pair, reference))
    for column, number in (
        ("hypothesis", len(mine)),
        ("right", len(mine & gold)),
        ("reference", len(gold)),
        ("found", len(mine & gold)),
    ):
        into.add(place, column, number)


def unaligned(pair: SentencePair, alignment: Alignment) -> Iterator[tuple[str, int]]:
    """Yield the side and the position of each word without a link, whether said or not."""
    for side, words, linked in (
        ("source", pair.source, alignment.aligned_source()),
        ("target", pair.target, alignment.aligned_target()),
    ):
        yield from ((side, k) for k in range(len(words or ())) if k not in linked)


def ratios(sums: Counts) -> dict[str, NDArray[np.float64]]:
    """Return precision and recall of (R, 5) sums of counts; NaN where 0/0."""
    total, right, gold, found, _ = np.asarray(sums).T
    return {"precision": ratio(right, total), "recall": ratio(found, gold)}
