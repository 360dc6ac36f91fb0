"""Score the rules that follow from alignments against those of a gold standard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isnan

import numpy as np
from numpy.typing import NDArray

from alignkit.arguments import check_arguments
from alignkit.brief import how_many
from alignkit.report.columns import Cell, Column, Value
from alignkit.report.table import Table
from alignkit.scoring.bootstrap import SEED, Interval, confidence_interval, few_pairs
from alignkit.scoring.counts import Rows
from alignkit.scoring.measures import Counts, harmonic, none_if_nan, ratio
from alignkit.scoring.signature import Signature

LEVELS = {
    "rules": "rules",
    "rules-changing": "rules, identity left out",
    "nodes": "node pairs",
    "nodes-changing": "node pairs, identity left out",
}
"""What is scored, and what it is called."""

_PARTS = {
    "rules": ("rules", "rules_found"),
    "rules-changing": ("changing", "changing_found"),
    "nodes": ("rules", "nodes_found"),
    "nodes-changing": ("changing", "changing_nodes_found"),
}
"""Of each level: how many there are, and how many the other side has."""

COUNTED = (
    "rules", "rules_found", "nodes_found", "changing", "changing_found", "changing_nodes_found",
)  # fmt: skip
COLUMNS = tuple(f"{side}_{name}" for side in ("hyp", "ref") for name in COUNTED)
"""What is counted of each sentence pair, of the hypothesis and of the reference."""

_MEASURES = {"precision": "precision", "recall": "recall", "f1": "F1"}


def rule_ratios(counts: Counts) -> dict[str, NDArray[np.float64]]:
    """Return precision, recall and F1 of the rules and of the node pairs."""
    by_name = dict(zip(COLUMNS, np.asarray(counts).T, strict=True))
    ratios: dict[str, NDArray[np.float64]] = {}
    for level, (total, right) in _PARTS.items():
        precision, recall = (
            ratio(by_name[f"{side}_{right}"], by_name[f"{side}_{total}"]) for side in ("hyp", "ref")
        )
        values = precision, recall, harmonic(precision, recall)
        ratios |= {f"{level}.{name}": x for name, x in zip(_MEASURES, values, strict=True)}
    return ratios


@dataclass(frozen=True, repr=False)
class RuleScore:
    """The score of rules that follow from alignments against those of a gold standard.

    Printed, it is the table that the command prints; a notebook shows that table too.

    Parameters
    ----------
    measures
        Precision, recall and F1 under ``rules.precision`` and so on, of each of `LEVELS`; NaN where
        undefined.
    counts
        The numbers behind them, by the names `COLUMNS`.
    pairs
        How many sentence pairs were scored.
    skipped
        Why others were not, and how many.
    signature
        All settings.
    rows
        (P, 12) counts of the sentence pairs.
    intervals
        Of the measures; empty until `with_intervals`.
    suspicions
        What looks wrong in the alignments.
    """

    measures: Mapping[str, float]
    counts: Mapping[str, int]
    pairs: int
    skipped: Mapping[str, int]
    signature: Signature
    rows: Rows = field(repr=False, compare=False)
    intervals: Mapping[str, Interval] = field(default_factory=dict, repr=False)
    suspicions: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def from_rows(cls, rows: Rows, skipped: Mapping[str, int], signature: Signature) -> RuleScore:
        """Add rows up, and take the measures of the sum."""
        total = rows.sum(axis=0)
        counts = dict(zip(COLUMNS, total.tolist(), strict=True))
        measures = {name: float(x[0]) for name, x in rule_ratios(total[np.newaxis]).items()}
        return cls(measures, counts, len(rows), dict(skipped), signature, rows)

    def with_skipped(self, why: str, count: int) -> RuleScore:
        """Return the score with more pairs that were not scored."""
        return replace(self, skipped={**self.skipped, why: self.skipped.get(why, 0) + count})

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to know before one believes the figures."""
        return (*self.suspicions, *few_pairs(self.pairs, drawn=bool(self.intervals)))

    def with_intervals(
        self, *, resamples: int = 1000, confidence: float = 0.95, seed: int = SEED
    ) -> RuleScore:
        """Return the score with bootstrap intervals over the sentence pairs."""
        check_arguments(RuleScore.with_intervals, locals())
        intervals = confidence_interval(
            self.rows, rule_ratios, resamples=resamples, confidence=confidence, seed=seed
        )
        return replace(
            self, intervals=intervals, signature=self.signature.drawn(resamples, confidence, seed)
        )

    def __repr__(self) -> str:
        f1 = Column("", "percent").show(self.measures["rules.f1"]).text
        return f"RuleScore({how_many(self.pairs, 'pair')}; rules F1 {f1})"

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def table(self) -> Table:
        """Return the score as a table, a row for each level."""
        columns = [
            Column("", key="level"),
            *(Column(title, "percent", key=name) for name, title in _MEASURES.items()),
            Column("hypothesis", "count"),
            Column("reference", "count"),
        ]
        rows: list[list[Cell]] = [
            [
                title,
                *(self._cell(f"{level}.{name}") for name in _MEASURES),
                *(self.counts[f"{side}_{_PARTS[level][0]}"] for side in ("hyp", "ref")),
            ]
            for level, title in LEVELS.items()
        ]
        skipped = [f"{how_many(n, 'pair')} {why}" for why, n in self.skipped.items() if n]
        left_out = [f"not scored: {', '.join(skipped)}"] if skipped else []
        note = "\n".join([*left_out, *self.cautions, str(self.signature)])
        return Table(how_many(self.pairs, "sentence pair"), columns, rows, note)

    def _cell(self, name: str) -> Cell:
        value, interval = self.measures[name], self.intervals.get(name)
        if interval is None or isnan(value):
            return value
        return Value(value, interval.low, interval.high, interval.reason)

    def show(self, medium: str = "text") -> str:
        """Return the table in a medium, as `alignkit.report.Table.show` does."""
        return self.table().show(medium)

    def csv(self) -> str:
        """Return the table as CSV."""
        return self.table().csv()

    def to_records(self) -> list[dict[str, object]]:
        """Return a dictionary for each level, as a DataFrame takes it: measures, bounds, counts."""
        return self.table().to_records()

    def to_json(self) -> dict[str, object]:
        """Return the score as JSON takes it: NaN is None."""
        levels = {
            level: {name: none_if_nan(self.measures[f"{level}.{name}"]) for name in _MEASURES}
            for level in LEVELS
        }
        result: dict[str, object] = {
            **levels,
            "counts": dict(self.counts),
            "pairs": self.pairs,
            "skipped": dict(self.skipped),
            "signature": str(self.signature),
        }
        if self.intervals:
            result["intervals"] = {name: part.to_json() for name, part in self.intervals.items()}
        return result | ({"cautions": list(self.cautions)} if self.cautions else {})
