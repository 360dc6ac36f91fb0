"""Count the judgments of a corpus, as a view shows them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from alignkit.brief import overlapping
from alignkit.corpus import Corpus, values_of
from alignkit.errors import OptionError
from alignkit.labels.label_matrix import LabelMatrix, judged_part, judges_of, judgments_of
from alignkit.labels.views import View
from alignkit.report.columns import Cell, Column
from alignkit.report.table import Table

_Counts = tuple[tuple[int, ...], ...]
_BAR = 40  # signs of a bar that stands for all


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """How often each annotator gave each label."""

    view: View  # the view
    annotators: tuple[str, ...]  # the names of the A annotators
    counts: _Counts  # A rows of K counts, one a label of the view
    left_out: Mapping[str, int]
    by: str  # the attribute that makes the groups; empty where there are none
    groups: Mapping[str, _Counts]
    several: int  # how many pairs have several values of it: groups overlap by these
    pairs: int  # how many pairs there are
    rewrites: int = 0  # how many more were left out that annotators wrote anew, and nobody judged

    def to_records(self) -> list[dict[str, object]]:
        """Return one flat dict for each group, annotator and label."""
        return self.table().to_records()

    def to_json(self) -> dict[str, object]:
        """Return what JSON holds of it."""
        record: dict[str, object] = {
            "scheme": self.view.scheme.name,
            "view": self.view.name,
            "labels": list(self.view.labels),
            "order": None if self.view.order is None else list(self.view.order),
            "pairs": self.pairs,
            "counts": self._named(self.counts),
            "left_out": dict(self.left_out),
            "rewrites_left_out": self.rewrites,
        }
        if self.by:
            groups = {value: self._named(counts) for value, counts in self.groups.items()}
            record |= {"by": self.by, "groups": groups, "in_several_groups": self.several}
        return record

    def _named(self, counts: _Counts) -> dict[str, dict[str, int]]:
        return {
            name: dict(zip(self.view.labels, row, strict=True))
            for name, row in zip(self.annotators, counts, strict=True)
        }

    def table(self, *, bars: bool = False, unused: bool = True) -> Table:
        """Return the table of all counts, a row a label."""
        never = [k for k, column in enumerate(zip(*self.counts, strict=True)) if not any(column)]
        hidden = set() if unused or len(never) == len(self.view.labels) else set(never)
        columns = [
            *([Column(self.by, key="group")] if self.by else []),
            *(Column(name) for name in ("annotator", "label")),
            Column("pairs", "count"),
            Column("share", "percent", unit="%"),
            *([Column("histogram")] if bars else []),
        ]
        rows: list[list[Cell]] = []
        apart = []
        named = [(value or f"(no {self.by})", counts) for value, counts in self.groups.items()]
        for shown, each in [("all", self.counts), *named]:
            for name, counts in zip(self.annotators, each, strict=True):
                apart += [len(rows)] if rows else []
                total = sum(counts)
                for k, (label, count) in enumerate(zip(self.view.labels, counts, strict=True)):
                    if k in hidden:
                        continue
                    share = count / total if total else nan
                    bar = ["#" * round(_BAR * count / total) if total else ""] if bars else []
                    rows.append([*([shown] if self.by else []), name, label, count, share, *bar])
        title = f"{self.pairs} pairs by the labels of {self.view.scheme.name}, {self.view.name}"
        stub = 3 if self.by else 2
        return Table(title, columns, rows, self._note(hidden), apart=apart, stub=stub)

    def show(self, medium: str = "text") -> str:
        """Return the table of the labels that were given; see `alignkit.report.Table.show`."""
        return self.table(bars=medium == "text", unused=False).show(medium)

    def __str__(self) -> str:
        return self.show()

    def _note(self, hidden: Collection[int]) -> str:
        said = [f"{count} {reason}" for reason, count in self.left_out.items() if count]
        notes = [f"without a label: {', '.join(said)}"] if said else []
        never = [label for k, label in enumerate(self.view.labels) if k in hidden]
        what = "label" if len(never) == 1 else "labels"
        notes += [f"nobody gave the {what} {', '.join(never)}"] if never else []
        notes += [overlapping(self.several, self.pairs, self.by)] if self.several else []
        return "; ".join(notes)


def count_labels(
    corpus: Corpus,
    view: View,
    *,
    annotators: Sequence[str] | None = None,
    by: str | None = None,
    split: str | None = None,
    lenient: bool = False,
    rewrites: bool = False,
) -> LabelCounts:
    """Count how often each annotator gave each label of a view."""
    corpus, left_out, _ = judged_part(corpus, rewrites=rewrites)
    matrix = judgments_of(corpus, annotators, view, lenient=lenient)
    if not matrix.annotators:
        raise OptionError("no pair of the corpus is judged")
    groups: dict[str, _Counts] = {}
    several = 0
    if by is not None:
        for value, part in corpus.groups(by, split=split).items():
            judges = [name for name in matrix.annotators if name in judges_of(part)]
            group = judgments_of(part, judges, view, lenient=lenient)
            found = dict(zip(judges, _counted(group), strict=True))
            nothing = (0,) * len(view.labels)
            groups[value] = tuple(found.get(name, nothing) for name in matrix.annotators)
        several = sum(len(values_of(pair.attributes.get(by, ""), split)) > 1 for pair in corpus)
    counts = _counted(matrix)
    left = matrix.left_out
    return LabelCounts(
        view, matrix.annotators, counts, left, by or "", groups, several, len(corpus), left_out
    )


def _counted(matrix: LabelMatrix) -> _Counts:
    size = len(matrix.labels)
    return tuple(
        tuple(np.bincount(row[row >= 0], minlength=size).tolist()) for row in matrix.values
    )
