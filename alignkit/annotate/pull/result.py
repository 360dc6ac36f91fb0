"""How far suggestions pull annotators: the options, the figures, the cautions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from alignkit.annotate.pull.estimates import Estimate
from alignkit.arguments import check_attributes
from alignkit.errors import OptionError
from alignkit.jsonable import jsonable
from alignkit.scoring.bootstrap import check_drawing

if TYPE_CHECKING:
    from alignkit.report.table import Table


@dataclass(frozen=True, kw_only=True)
class PullOptions:
    """The options of the estimate."""

    edges: Sequence[float] = (0.1, 0.6, 0.9)
    least: float = 0.0
    resamples: int = 2000  # how many times to resample the pairs
    confidence: float = 0.95  # the share of the resamples within an interval
    seed: int = 12345  # the same seed gives the same intervals

    def __post_init__(self) -> None:
        check_attributes(self)
        object.__setattr__(self, "edges", tuple(self.edges))
        check_drawing(self.resamples, self.confidence)
        if self.seed < 0:
            raise OptionError(f"the seed is {self.seed}; it must be 0 or more")
        if not 0 <= self.least <= 1:
            raise OptionError(f"least is {self.least}; give a probability, from 0 to 1")
        bounds = (0.0, *self.edges, 1.0)
        if not all(low < other for low, other in pairwise(bounds)):
            raise OptionError(
                f"edges are {', '.join(map(str, self.edges))}; give numbers that rise, above 0 "
                "and below 1"
            )


@dataclass(frozen=True)
class PullBin:
    """What became of the suggestions of one bin on the split pairs."""

    low: float
    high: float
    suggestions: int  # how many there are
    taken: Estimate  # the share that who saw them has, and that who saw none drew
    unseen: Estimate
    pull: Estimate  # the first less the second


@dataclass(frozen=True, repr=False)
class Pull:
    """How far suggestions pull; printed, it is the tables of the command."""

    options: PullOptions  # the options
    pairs: Mapping[str, int]
    open: Mapping[str, int]  # how many of each are not
    pull: Estimate  # the mean over split pairs of F1(shown, suggestions) - F1(hidden, suggestions)
    shown: Estimate  # the means of both
    hidden: Estimate
    deviation: float
    coin: Mapping[str, Estimate]
    suggestions: int
    accepted: Estimate
    rejected: Estimate
    bins: tuple[PullBin, ...]
    agreement: Mapping[str, Estimate]
    excess: Mapping[str, Estimate]  # the first two of these less the last
    cautions: tuple[str, ...] = ()  # what to know before reading the figures

    def __repr__(self) -> str:
        return f"Pull({100 * self.pull.value:+.1f} on {self.pull.pairs} pairs)"

    def __str__(self) -> str:
        return self.show()

    def tables(self) -> list[Table]:
        """Return the tables."""
        tables: list[Table] = _shown().pull_tables(self)
        return tables

    def show(self, medium: str = "text") -> str:
        """Return the tables and cautions: ``"text"``, ``"markdown"``, ``"latex"``, ``"html"``."""
        return str(_shown().pull_report(self, medium))

    def to_dict(self) -> dict[str, object]:
        """Return everything as JSON takes it; NaN is None."""
        return {field.name: _told(getattr(self, field.name)) for field in fields(self)}


def _told(value: object) -> object:
    if isinstance(value, Estimate):
        return value.to_dict()
    if isinstance(value, PullBin):
        return {field.name: _told(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: _told(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return [_told(part) for part in value]
    return jsonable(value)


def _shown() -> Any:
    return import_module("alignkit.annotate.pull.tables")
