"""What figures show: bars, marked values, values with intervals, shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan


@dataclass(frozen=True)
class Axis:
    """Return what an axis shows: from where to where, and whether it counts."""

    low: float
    high: float
    label: str
    whole: bool = False


@dataclass(frozen=True)
class Bar:
    """Hold one bar of a histogram: from `low` to `high`, `count` of them."""

    low: float
    high: float
    count: int
    label: str


@dataclass(frozen=True)
class Marker:
    """A value that is marked by a line across the drawing; a NaN is not drawn."""

    value: float
    label: str
    dashed: bool = False


@dataclass(frozen=True)
class Span:
    """A value with its interval; NaN where there is none."""

    label: str  # what stands above it: its name, and its numbers
    value: float = nan  # the value and its bounds
    low: float = nan
    high: float = nan
    note: str = ""
    shape: int = 0  # the number of its mark
    heading: bool = False  # whether it is the heading of those that follow, and holds nothing else


@dataclass(frozen=True)
class Dots:
    """The values that several rules give one thing; NaN where a rule gives none."""

    label: str
    values: Sequence[float] = ()
    heading: bool = False


@dataclass(frozen=True)
class Share:
    """Hold how many links of a kind both have alike, both have unlike, the first, the second."""

    label: str
    counts: tuple[int, int, int, int]


@dataclass(frozen=True)
class Panel:
    """Hold one part of a figure for a paper: values with intervals, and what they are."""

    title: str
    label: str
    data: Sequence[Span]
