"""How often each annotator gave each label of a view, also by group."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

from alignkit._support.wording import overlapping
from alignkit.corpora.labelled import judged_part, judgments_of
from alignkit.errors import OptionError
from alignkit.model.corpus import Corpus, group_texts, places_by_value
from alignkit.model.labels import View
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Counts = tuple[tuple[int, ...], ...]
"""For each annotator, the number of pairs with each label."""

_BAR = 40  # characters of a bar that stands for all pairs


@dataclass(frozen=True)
class LabelCounts(TableResult):
    """The counts of each label by annotator."""

    view: View
    annotators: tuple[str, ...]  # of the rows of counts
    counts: _Counts
    left_out: Mapping[str, int]  # for each reason, the judgments without a label
    by: str  # the attribute that makes the groups; empty without groups
    groups: Mapping[str, _Counts]
    several: int  # the number of pairs that are in several groups
    pairs: int  # the number of pairs that are counted
    rewrites: int = 0  # the number of rewrites, which nobody judged, that are left out

    def to_json(self) -> dict[str, object]:
        """Return the counts for JSON."""
        view = self.view
        record: dict[str, object] = {
            "scheme": view.scheme.name,
            "view": view.name,
            "labels": list(view.labels),
            "order": None if view.order is None else list(view.order),
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
        """Return counts by annotator and label."""
        named = {}
        for name, row in zip(self.annotators, counts, strict=True):
            named[name] = dict(zip(self.view.labels, row, strict=True))
        return named

    def table(self, *, bars: bool = False, unused: bool = True) -> Table:
        """Return the table of all counts, with a row for each label, or each that was given."""
        hidden: list[str] = []
        if not unused:
            hidden = self._never_given()
        columns = [
            Column("annotator"),
            Column("label"),
            Column("pairs", "count"),
            Column("share", "percent", unit="%"),
        ]
        if self.by:
            columns.insert(0, Column(self.by, key="group"))
        if bars:
            columns.append(Column("histogram"))
        named_groups = [("all", self.counts)]
        for value, group_counts in self.groups.items():
            named_groups.append((value or f"(no {self.by})", group_counts))
        rows: list[list[Cell]] = []
        apart = []  # the first row of each annotator but the first: a line divides them
        for group, group_counts in named_groups:
            for name, counts in zip(self.annotators, group_counts, strict=True):
                if rows:
                    apart.append(len(rows))
                stub: list[Cell] = [group, name] if self.by else [name]
                rows += [[*stub, *row] for row in self._label_rows(counts, hidden, bars=bars)]
        title = f"{self.pairs} pairs by the labels of {self.view.scheme.name}, {self.view.name}"
        return Table(
            title, columns, rows, self._note(hidden), apart=apart, stub=3 if self.by else 2
        )

    def _never_given(self) -> list[str]:
        """Return the labels that nobody gave; none if nobody gave any."""
        columns = zip(self.view.labels, *self.counts, strict=True)
        never = [label for label, *counts in columns if not any(counts)]
        if len(never) == len(self.view.labels):
            return []
        return never

    def _label_rows(
        self, counts: Sequence[int], hidden: Collection[str], *, bars: bool
    ) -> Iterator[list[Cell]]:
        """Yield the row of each label: its count, its share and, if asked for, a bar."""
        total = sum(counts)
        for label, count in zip(self.view.labels, counts, strict=True):
            if label in hidden:
                continue
            share = count / total if total else nan
            row: list[Cell] = [label, count, share]
            if bars:
                row.append("#" * round(_BAR * count / total) if total else "")
            yield row

    def show(self, medium: str = "text") -> str:
        """Return the table of the labels that were given; see `Table.show`."""
        return self.table(bars=medium == "text", unused=False).show(medium)

    def _note(self, hidden: Sequence[str]) -> str:
        """Return what the table leaves out, and whether its groups overlap."""
        notes = []
        reasons = [f"{count} {reason}" for reason, count in self.left_out.items() if count]
        if reasons:
            notes.append(f"without a label: {', '.join(reasons)}")
        if hidden:
            what = "label" if len(hidden) == 1 else "labels"
            notes.append(f"nobody gave the {what} {', '.join(hidden)}")
        if self.several:
            notes.append(overlapping(self.several, self.pairs, self.by))
        return "; ".join(notes)


def count_labels(
    corpus: Corpus,
    view: View,
    *,
    annotators: Sequence[str] | None = None,
    by: str | None = None,
    split: str | None = None,
    lenient_labels: bool = False,
    rewrites: bool = False,
) -> LabelCounts:
    """Count how often each annotator gave each label of a view."""
    corpus, left_out, _ = judged_part(corpus, rewrites=rewrites)
    matrix = judgments_of(corpus, annotators, view, lenient_labels=lenient_labels)
    if not matrix.annotators:
        raise OptionError("no pair of the corpus is judged")
    groups: dict[str, _Counts] = {}
    several = 0
    if by is not None:
        members, several = places_by_value(group_texts(corpus, by), split)
        for value, places in members.items():
            groups[value] = _counted(matrix.values[:, places], len(view.labels))
    return LabelCounts(
        view=view,
        annotators=matrix.annotators,
        counts=_counted(matrix.values, len(view.labels)),
        left_out=matrix.left_out,
        by=by or "",
        groups=groups,
        several=several,
        pairs=len(corpus),
        rewrites=left_out,
    )


def _counted(values: NDArray[np.int8], labels: int) -> _Counts:
    """Return how often each annotator gave each label, from the values of a `LabelMatrix`."""
    import numpy as np

    counts = []
    for row in values:
        given = row[row >= 0]
        counts.append(tuple(np.bincount(given, minlength=labels).tolist()))
    return tuple(counts)
