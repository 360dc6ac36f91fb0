"""The estimated pull of suggestions on annotators, and its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import isnan

import numpy as np

from alignkit._support.arguments import check_attributes
from alignkit._support.values import jsonable, named_json
from alignkit.agreement.table_rows import with_interval
from alignkit.errors import OptionError
from alignkit.scoring.settings import Signature
from alignkit.stats.defaults import CONFIDENCE, SEED
from alignkit.stats.resampling import Interval, check_drawing
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import Result
from alignkit.tables.table import Table


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval."""

    value: float  # NaN where undefined
    interval: Interval | str  # the interval, or the reason why there is none
    pairs: int  # how many sentence pairs it stands on
    left_out: int = 0  # how many more there are that say nothing: for them it is 0/0

    def to_json(self) -> dict[str, object]:
        """Return value, ``low`` and ``high``, or the ``reason``, and pairs; NaN is None."""
        record: dict[str, object] = {"value": jsonable(self.value)}
        if isinstance(self.interval, Interval):
            record |= {"low": jsonable(self.interval.low), "high": jsonable(self.interval.high)}
        else:
            record["reason"] = self.interval
        return record | {"pairs": self.pairs, "left_out": self.left_out}


@dataclass(frozen=True, kw_only=True)
class PullOptions:
    """The options of the estimate."""

    edges: Sequence[float] = (0.1, 0.6, 0.9)  # where the bins of probabilities part
    least: float = 0.0  # the least probability of suggestions that count
    resamples: int = 2000  # how many times to resample the pairs
    confidence: float = CONFIDENCE  # the share of the resamples within an interval
    seed: int = SEED  # the same seed gives the same intervals

    def __post_init__(self) -> None:
        check_attributes(self)
        object.__setattr__(self, "edges", tuple(self.edges))
        check_drawing(self.resamples, self.confidence)
        if self.seed < 0:
            raise OptionError(f"the seed is {self.seed}; it must be 0 or more")
        if not 0 <= self.least <= 1:
            raise OptionError(f"`least` is {self.least}; give a probability from 0 to 1")
        steps = np.diff((0.0, *self.edges, 1.0))
        if not np.all(steps > 0):
            raise OptionError(
                f"edges are {', '.join(map(str, self.edges))}; give increasing numbers above 0 "
                "and below 1"
            )


@dataclass(frozen=True)
class PullBin:
    """The outcome of the suggestions of one bin on the split pairs."""

    low: float  # the least probability; NaN for those without
    high: float  # the end of the bin
    suggestions: int
    taken: Estimate  # the share of them that annotators have who saw them
    unseen: Estimate  # the share that those have who did not
    pull: Estimate  # the difference of the two


@dataclass(frozen=True, repr=False)
class Pull(Result):
    """The pull of suggestions on annotators; printing it gives the tables of the command."""

    options: PullOptions
    pairs: Mapping[str, int]  # how many pairs of each arm are done by all
    open: Mapping[str, int]  # how many of each are not
    pull: Estimate  # `shown` less `hidden`
    shown: Estimate  # mean F1 of links and suggestions on split pairs, of those who saw them
    hidden: Estimate  # likewise, of those who did not
    deviation: float  # the standard deviation of the pull within a pair
    coin: Mapping[str, Estimate]  # `shown`, `hidden` and `pull` of pairs that one has annotated
    suggestions: int  # how many were shown, to each annotator
    accepted: Estimate  # the share of these that was linked
    unseen: Estimate  # the share of the accepted that nobody looked at
    rejected: Estimate  # the share of those shown that was put aside
    bins: tuple[PullBin, ...]  # the first has all suggestions
    agreement: Mapping[str, Estimate]  # mean F1 of two annotators, by `AGREEMENT`
    excess: Mapping[str, Estimate]  # the same less that of those who both saw none
    cautions: tuple[str, ...] = ()  # what to know before reading the figures

    def __repr__(self) -> str:
        return f"Pull({100 * self.pull.value:+.1f} on {self.pull.pairs} pairs)"

    def tables(self) -> list[Table]:
        """Return the tables: the estimate, the outcome of suggestions, the agreement."""
        shares = [
            Column("accepted", "percent"),
            Column("of these not looked at", "percent", key="unseen"),
            Column("rejected", "percent"),
        ]
        fates = Table(
            "Outcome of suggestions",
            [Column("suggestions seen", "count", key="suggestions"), *shares],
            [[self.suggestions, *map(_cell, (self.accepted, self.unseen, self.rejected))]],
            "Accepted: linked in the end. Not looked at: kept when the pair was marked as done, or "
            "accepted in bulk, and seen by nobody. Rejected: rejected explicitly, or suggested for "
            "a word that was looked at, and not linked.",
            stub=0,
        )
        return [_estimates(self), fates, _probabilities(self), _agreement(self)]

    @property
    def head(self) -> list[str]:
        """Lines above the tables."""
        shown = _signed("").show(_cell(self.pull)).text
        counts = []
        for arm, meaning in MEANINGS.items():
            text = f"{self.pairs[arm]} {meaning}"
            if self.open[arm]:
                text += f" ({self.open[arm]} open)"
            counts.append(text)
        return [f"Pull of suggestions: {shown} points of F1", f"Pairs done: {', '.join(counts)}"]

    @property
    def settings(self) -> str:
        """The settings behind the numbers, in one line."""
        drawn = {name: getattr(self.options, name) for name in ("confidence", "resamples", "seed")}
        return str(Signature(links="all", level="pull", interval="bootstrap-strata", **drawn))

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values for JSON; NaN becomes None."""
        return named_json(self, (field.name for field in fields(self)))


MEANINGS = {
    "split": "split by a coin",
    "bare": "without suggestions",
    "coin": "annotated once, suggestions by a coin",
    "shown": "outside the control sample",
}
AGREEMENT = {
    "shown": "both saw suggestions",
    "split": "one saw suggestions",
    "bare": "neither saw suggestions",
}
_COUNTS = [Column("pairs", "count"), Column("left out", "count", key="left_out")]


def _cell(estimate: Estimate) -> Cell:
    """Return an estimate as the cell of a table."""
    return with_interval(estimate.value, estimate.interval)


def _signed(name: str, key: str = "") -> Column:
    """Return a column of differences in percent, with their signs."""
    return Column(name, "percent", signed=True, key=key)


def _estimates(pull: Pull) -> Table:
    """Return the table of the pull, over split pairs and over pairs annotated once."""
    figures = [Column("shown", "percent"), Column("hidden", "percent"), _signed("pull")]
    columns = [Column("pairs annotated", key="sample"), *_COUNTS, *figures]
    samples = {
        "twice, split by a coin": (pull.shown, pull.hidden, pull.pull),
        "once, by a coin": (pull.coin["shown"], pull.coin["hidden"], pull.coin["pull"]),
    }
    rows: list[list[Cell]] = []
    for name, estimates in samples.items():
        difference = estimates[-1]
        rows.append([name, difference.pairs, difference.left_out, *map(_cell, estimates)])
    least = ""
    if pull.options.least:
        least = f" of at least {pull.options.least:g}"
    return Table(
        f"F1 of annotators' links against the suggestions{least}, shown and hidden",
        columns,
        rows,
        f"Intervals of {100 * pull.options.confidence:g} % by a bootstrap over pairs within "
        "strata. Left out: pairs without suggestions.",
    )


def _probabilities(pull: Pull) -> Table:
    """Return the table of suggestions by the bin of their probability."""
    shares = [Column("taken", "percent"), Column("drawn unseen", "percent", key="unseen")]
    columns = [Column("probability"), Column("suggestions", "count"), *shares, _signed("pull")]
    rows: list[list[Cell]] = []
    for part in pull.bins:
        if part is pull.bins[0]:
            name = "all"
        elif isnan(part.low):
            name = "unknown"
        elif part.high == 1:
            name = f"{part.low:g} to 1"
        else:
            name = f"{part.low:g} to below {part.high:g}"
        estimates = (part.taken, part.unseen, part.pull)
        rows.append([name, part.suggestions, *map(_cell, estimates)])
    title = "Suggestions on split pairs, linked by those who saw them and those who did not"
    return Table(title, columns, rows)


def _agreement(pull: Pull) -> Table:
    """Return the table of F1 between annotators, by how many of the two saw suggestions."""
    figures = [Column("F1", "percent", key="f1"), _signed("minus neither", key="excess")]
    rows: list[list[Cell]] = []
    for arm, name in AGREEMENT.items():
        agreement = pull.agreement[arm]
        excess = _cell(pull.excess[arm]) if arm in pull.excess else None
        rows.append([name, agreement.pairs, agreement.left_out, _cell(agreement), excess])
    columns = [Column("suggestions", key="arm"), *_COUNTS, *figures]
    note = "Left out: pairs on which nobody drew a link."
    return Table("F1 between two annotators, mean over pairs", columns, rows, note)
