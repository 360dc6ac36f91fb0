"""The counts of an assignment, for people: of each annotator, and of each stratum."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import msgspec

from alignkit._support.wording import how_many
from alignkit.annotate.assignment_draw import DrawnPairs, arm_of
from alignkit.annotate.project.project_events import Assigned, AssignmentPlan
from alignkit.annotate.strata import (
    CONTROL,
    Cuts,
    StratifiedPair,
    StratumKey,
    named_stratum,
    stratum_of,
)
from alignkit.tables.columns import Column
from alignkit.tables.table import Table


@dataclass(frozen=True)
class AnnotatorShare:
    """The counts of one annotator's pairs."""

    annotator: str
    pairs: int
    new: int
    trial: int  # in the trial set
    double: int  # outside of it, which somebody else annotates, too
    split: int  # in this arm of the control sample
    bare: int  # likewise
    coin: int  # likewise
    hidden: int  # without suggestions


@dataclass(frozen=True)
class Stratum:
    """The counts of a stratum's pairs; `by` is the purpose of the strata."""

    by: str  # double or control: for what the same share is taken of each stratum
    name: str  # in words
    pairs: int
    trial: int  # in the trial set
    double: int  # outside of it, with several annotators
    split: int  # in this arm of the control sample
    bare: int  # likewise
    coin: int  # likewise


@dataclass(frozen=True)
class Assignment:
    """The assignment of a project, and the new rows."""

    plan: AssignmentPlan  # how it was done, and how new pairs are assigned
    pairs: int  # all pairs of the project
    assigned: int  # pairs that somebody has
    new: int  # rows that were added: a pair and an annotator each
    new_pairs: int  # pairs of these rows
    annotators: tuple[AnnotatorShare, ...]
    strata: tuple[Stratum, ...]
    suggested: int  # pairs with suggested links
    apart: dict[str, int]  # who has worked but gets no pairs, and on how many pairs
    for_training: int = 0  # pairs that nobody is given, because they are for training

    def to_dict(self) -> dict[str, Any]:
        """Return the assignment as plain values."""
        return {**asdict(self), "plan": msgspec.to_builtins(self.plan)}

    def warnings(self) -> Iterator[str]:
        """Yield what may not be as expected, in sentences."""
        shares = self.annotators
        arms = sum(share.split + share.bare + share.coin for share in shares)
        if self.new and self.plan.control > 0 and not arms:
            yield (
                "no pair is in the control sample: it only takes pairs outside the trial that "
                "nobody has started"
            )
        if self.new and arms and not self.suggested:
            yield (
                "no links are suggested yet: the control sample was drawn by length only, and "
                "applies to later suggestions"
            )
        for name, count in self.apart.items():
            yield (
                f"{name} has started {count} pairs but is not among the annotators: {name} cannot "
                "open these pairs any more, and the votes on them do not count. To assign them, "
                f"add {name} to the annotators"
            )
        if self.for_training:
            pairs = how_many(self.for_training, "pair")
            yield f"{pairs} for training: not given to anybody to annotate"
        idle = [share.annotator for share in shares if share.pairs == share.trial]
        if idle and (self.plan.double is not None or self.plan.each):
            yield (
                f"{', '.join(idle)}: only trial pairs, because all others have enough annotators; "
                "a larger share for two, more for each pair, or new pairs give them more"
            )

    def tables(self) -> list[Table]:
        """Return a table of the annotators, and one of the strata for each purpose."""
        tables = [
            _counts_table(
                (
                    f"pairs of each annotator: {self.assigned:,} of {self.pairs:,} pairs are "
                    f"assigned; {self.new:,} rows are new"
                ),
                self.annotators,
            )
        ]
        titles = {"double": "by pairs annotated twice", "control": "by the control sample"}
        for by, title in titles.items():
            if rows := [row for row in self.strata if row.by == by]:
                tables.append(_counts_table(f"strata, {title}", rows))
        return tables

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))


def _counts_table(title: str, rows: Sequence[AnnotatorShare | Stratum]) -> Table:
    columns = {field.name: Column(field.name, "count") for field in fields(rows[0])}
    columns.pop("by", None)
    texts = {"annotator": Column("annotator", "text"), "name": Column("stratum", "text")}
    columns |= {name: column for name, column in texts.items() if name in columns}
    values = [[getattr(row, name) for name in columns] for row in rows]
    return Table(title, list(columns.values()), values)


def count_assignment(
    items: list[StratifiedPair],
    had: list[Assigned],
    drawn: DrawnPairs,
    others: dict[str, int],
    trained: int,
) -> Assignment:
    """Return an assignment with the counts of its annotators and strata."""
    plan = drawn.plan
    rows = [*had, *drawn.rows]
    names = dict.fromkeys([*plan.annotators, *(row.annotator for row in had)])
    strata = [
        *_counted_strata("double", plan.stratify, items, rows, plan.cuts),
        *_counted_strata("control", CONTROL, items, rows, plan.cuts),
    ]
    return Assignment(
        plan=plan,
        pairs=len(items),
        assigned=len({row.k for row in rows}),
        new=len(drawn.rows),
        new_pairs=len({row.k for row in drawn.rows}),
        annotators=tuple(_counted_shares(names, rows, drawn.rows)),
        strata=tuple(strata),
        suggested=sum(item.doubt is not None for item in items),
        apart=others,
        for_training=trained,
    )


def _counted_shares(
    names: Iterable[str], rows: Sequence[Assigned], new_rows: Iterable[Assigned]
) -> Iterator[AnnotatorShare]:
    """Yield the counts of each annotator's pairs."""
    holders = Counter(row.k for row in rows if not row.trial)
    new = Counter(row.annotator for row in new_rows)
    for name in names:
        own = [row for row in rows if row.annotator == name]
        arms = Counter(row.arm for row in own)
        yield AnnotatorShare(
            annotator=name,
            pairs=len(own),
            new=new[name],
            trial=sum(row.trial for row in own),
            double=sum(holders[row.k] > 1 for row in own if not row.trial),
            split=arms["split"],
            bare=arms["bare"],
            coin=arms["coin"],
            hidden=sum(not row.shown for row in own),
        )


def _counted_strata(
    by: str,
    names: Sequence[str],
    items: Iterable[StratifiedPair],
    rows: Iterable[Assigned],
    cuts: Cuts,
) -> Iterator[Stratum]:
    """Yield the counts of the pairs in each stratum, given the measures that divide them."""
    by_pair: defaultdict[int, list[Assigned]] = defaultdict(list)
    for row in rows:
        by_pair[row.k].append(row)
    groups: defaultdict[StratumKey, list[list[Assigned]]] = defaultdict(list)
    for item in items:
        groups[stratum_of(item, names, cuts)].append(by_pair[item.k])
    for key, pairs in sorted(groups.items()):
        arms = Counter(arm_of(own) for own in pairs)
        trial = 0
        double = 0
        for own in pairs:
            trial += any(row.trial for row in own)
            double += len(own) > 1 and not own[0].trial
        yield Stratum(
            by=by,
            name=named_stratum(key, names, cuts),
            pairs=len(pairs),
            trial=trial,
            double=double,
            split=arms["split"],
            bare=arms["bare"],
            coin=arms["coin"],
        )
