"""Assign the pairs of a project, and add pairs to it: what `assigning` draws goes into the log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any

import msgspec
from sqlalchemy import Connection, func, insert, select, update

from alignkit.annotate.assignment.drawing import (
    CONTROL,
    MEASURES,
    DrawnPairs,
    StratifiedPair,
    doubt_of,
    draw,
    named_stratum,
    stratum_of,
)
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.appending import append_to_project, enrolled
from alignkit.annotate.project.building import assignment_row, pair_row, text_row
from alignkit.annotate.project.conversion import project_pair
from alignkit.annotate.project.events import encode
from alignkit.annotate.project.fold import Assign, Assigned, AssignmentPlan, Import, Text
from alignkit.annotate.project.names import ProjectError, check_annotator
from alignkit.annotate.project.store import Store
from alignkit.model.sentence_pair import SentencePair
from alignkit.tables.columns import Column
from alignkit.tables.table import Table

_CHUNK = 2000  # rows in one event
_PAIRS = 256  # pairs in one event
_DRAWN_ONCE = ("trial", "seed", "stratify")
_read_plan = msgspec.json.Decoder(AssignmentPlan).decode


def read_plan(conn: Connection) -> AssignmentPlan | None:
    """Return how new pairs are assigned; None where nothing was assigned yet."""
    text = conn.execute(select(schema.project.c.assigning)).scalar()
    return _read_plan(text) if text else None


def assigned_rows(conn: Connection) -> list[Assigned]:
    """Return all rows of the assignment, by annotator and place."""
    table, account = schema.assignment, schema.account
    columns = (
        table.c.pair, account.c.name, table.c.place, table.c.shown, table.c.arm, table.c.trial
    )  # fmt: skip
    asked = (
        select(*columns)
        .select_from(table.join(account, account.c.id == table.c.account))
        .order_by(table.c.account, table.c.place)
    )
    return [Assigned(*row) for row in conn.execute(asked)]


def read_items(conn: Connection) -> list[StratifiedPair]:
    """Return what of the pairs matters for their assignment."""
    name = conn.execute(select(schema.project.c.suggestions)).scalar()
    cells = queries.suggestions_by_pair(conn, str(name))
    items = []
    for pair in queries.pair_rows(conn):
        n, m = len(pair.source), len(pair.target)
        doubt = doubt_of(n, m, cells[pair.k]) if pair.k in cells else None
        items.append(StratifiedPair(pair.k, pair.id, n + m, doubt, pair.attributes))
    return items


def _begun(conn: Connection) -> set[tuple[int, str]]:
    stream, account = schema.stream, schema.account.c
    joined = stream.join(schema.account, account.id == stream.c.account)
    asked = select(stream.c.pair, account.name).select_from(joined)
    return {(k, name) for k, name in conn.execute(asked.where(stream.c.pair > 0, account.id > 0))}


def apart(conn: Connection, names: Collection[str]) -> dict[str, int]:
    """Return who else has worked on pairs, and on how many: work that was not imported."""
    event, stream, account = schema.event_table.c, schema.stream.c, schema.account.c
    joined = schema.event_table.join(schema.stream, event.stream == stream.id)
    joined = joined.join(schema.account, account.id == stream.account)
    asked = (
        select(account.name, func.count(stream.pair.distinct()))
        .select_from(joined)
        .where(event.actor == account.name, stream.pair > 0, event.kind != "text")
        .where(event.data.not_like('%"how":"import"%'))
        .group_by(account.name)
    )
    return {name: count for name, count in conn.execute(asked) if name not in names}


def revised(
    plan: AssignmentPlan | None, annotators: Sequence[str], options: dict[str, Any]
) -> AssignmentPlan:
    """Return a plan with further annotators and other options; those that are None stay."""
    if len(set(annotators)) < len(annotators):
        raise ProjectError("an annotator is named twice; name each once")
    given = {name: value for name, value in options.items() if value is not None}
    for name in _DRAWN_ONCE if plan is not None else ():
        before = getattr(plan, name)
        if name in given and given[name] != before:
            value = ", ".join(before) or "none" if isinstance(before, tuple) else before
            raise ProjectError(
                f"{name} is {value} since pairs were first assigned, and stays so; leave it out"
            )
    old = plan or AssignmentPlan()
    names = tuple(dict.fromkeys((*old.annotators, *annotators)))
    new = msgspec.structs.replace(old, annotators=names, **given)
    if not names:
        raise ProjectError("nobody to assign pairs to; name annotators")
    for name, value in (("double", new.double or 0.0), ("control", new.control)):
        if not 0 <= value <= 1:
            raise ProjectError(f"{name} is {value}; give a share from 0 to 1")
    if new.double and len(names) < 2:
        raise ProjectError(f"double is {new.double:g}, but {names[0]!r} is alone; name two")
    return _read_plan(encode(new))  # as it is read again: 0 as 0.0


def _check_attributes(items: Sequence[StratifiedPair], plan: AssignmentPlan) -> None:
    known = {name for item in items for name in item.attributes}
    wanted = [name for name in plan.stratify if name not in MEASURES]
    if plan.order not in ("hash", "uncertainty"):
        wanted.append(plan.order)
    for name in wanted:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            has = f"; there are {', '.join(sorted(known))}" if known else "; they have none"
            raise ProjectError(f"no pair has an attribute {name!r}{hint or has}")


def draw_rows(conn: Connection, plan: AssignmentPlan) -> DrawnPairs:
    """Draw the rows that a plan adds to those that there are."""
    gold, suggesting = queries.gold_name(conn), queries.suggesting(conn)
    for name in plan.annotators:
        check_annotator(name, gold, suggesting)
    items = read_items(conn)
    _check_attributes(items, plan)
    if plan.order == "uncertainty" and all(item.doubt is None for item in items):
        raise ProjectError(
            "no links are suggested yet, so that nothing is known to be uncertain; order by it "
            "when the page shows suggestions, or otherwise now"
        )
    return draw(items, plan, assigned_rows(conn), _begun(conn))


def write_rows(conn: Connection, drawn: DrawnPairs) -> None:
    """Store new rows and the plan, and register who is new."""
    numbers = {name: enrolled(conn, name) for name in drawn.plan.annotators}
    plan: AssignmentPlan | None = drawn.plan if drawn.plan != read_plan(conn) else None
    for start in range(0, len(drawn.rows), _CHUNK) or ((0,) if plan else ()):
        some = drawn.rows[start : start + _CHUNK]
        append_to_project(conn, "assign", Assign(some, plan))
        plan = None
        if some:
            rows = [assignment_row(row, numbers[row.annotator]) for row in some]
            conn.execute(insert(schema.assignment), rows)
    conn.execute(update(schema.project).values(assigning=encode(drawn.plan).decode()))


def add_pairs(conn: Connection, pairs: Iterable[SentencePair]) -> list[int]:
    """Append pairs, and assign them by the plan, if there is one; return their numbers."""
    last = int(conn.execute(select(func.max(schema.pair.c.k))).scalar() or 0)
    new = []
    for k, pair in enumerate(pairs, last + 1):
        if pair.annotations:
            raise ProjectError(f"pair {pair.id!r} is annotated; add it without, then import these")
        new.append(project_pair(k, pair))
    for start in range(0, len(new), _PAIRS):
        some = new[start : start + _PAIRS]
        append_to_project(conn, "import", Import(some))
        texts = [Text(pair.k, 1, pair.source, pair.target) for pair in some]
        rows = [pair_row(*both) for both in zip(some, texts, strict=True)]
        conn.execute(insert(schema.pair), rows)
        conn.execute(insert(schema.pair_text), [text_row(text) for text in texts])
    plan = read_plan(conn)
    if new and plan is not None:
        write_rows(conn, draw_rows(conn, plan))
    return [pair.k for pair in new]


@dataclass(frozen=True)
class AnnotatorShare:
    """Count the pairs of one annotator."""

    annotator: str  # whose they are
    pairs: int  # how many there are, and how many of them are new
    new: int
    trial: int  # those of the trial set, and of the others those that somebody else annotates too
    double: int
    split: int  # those of the control sample, by arm
    bare: int
    coin: int
    hidden: int  # those without suggestions


@dataclass(frozen=True)
class Stratum:
    """Count the pairs of a stratum; `by` says what the strata are for."""

    by: str  # double, whose share is kept in the strata, or control, likewise
    name: str  # which pairs they are
    pairs: int  # how many there are; in the trial set; of the others, with several annotators
    trial: int
    double: int
    split: int  # in the control sample, by arm
    bare: int
    coin: int


@dataclass(frozen=True)
class Assignment:
    """What is assigned in a project, and what an assignment added."""

    plan: AssignmentPlan  # how it was done, and how new pairs are assigned
    pairs: int  # how many pairs there are, and how many of them are somebody's
    assigned: int
    new: int  # how many rows were added: a pair and an annotator each
    annotators: tuple[AnnotatorShare, ...]  # the counts
    strata: tuple[Stratum, ...]
    suggested: int  # for how many pairs links are suggested
    apart: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return the assignment as plain values."""
        plan = {name: getattr(self.plan, name) for name in self.plan.__struct_fields__}
        return {**asdict(self), "plan": msgspec.to_builtins(plan)}

    def tables(self) -> tuple[Table, ...]:
        """Return a table of the annotators, and one of the strata for each thing they are for."""
        counts = (
            f"{self.assigned:,} of {self.pairs:,} pairs are assigned; {self.new:,} rows are new"
        )
        tables = [_table(f"pairs of each annotator: {counts}", self.annotators, ())]
        titles = {"double": "by what is annotated twice", "control": "by the control sample"}
        for by, title in titles.items():
            if rows := [row for row in self.strata if row.by == by]:
                tables.append(_table(f"strata, {title}", rows, ("by",)))
        return tuple(tables)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))


def assign_pairs(
    store: Store,
    annotators: Sequence[str] = (),
    *,
    double: float | None = None,
    trial: int | None = None,
    seed: int | None = None,
    stratify: Sequence[str] | None = None,
    order: str | None = None,
    control: float | None = None,
    least: int | None = None,
    dry_run: bool = False,
) -> Assignment:
    """Assign pairs that are not assigned yet; what is assigned stays as it is.

    A server may be running. What is None is as it was when pairs were first assigned; then it has
    the default of `AssignmentPlan`, which says what each means.

    Notes
    -----
    There is no control sample by default where pairs are judged or extracted: nothing is suggested.
    """
    options = {
        "double": double, "trial": trial, "seed": seed, "order": order, "control": control,
        "least": least, "stratify": None if stratify is None else tuple(stratify),
    }  # fmt: skip
    opened = store.database.reading() if dry_run else store.database.writing()
    with opened as conn:
        before = read_plan(conn)
        if before is None and control is None and queries.task_of(conn) != "align":
            options["control"] = 0.0  # nothing is suggested
        drawn = draw_rows(conn, revised(before, annotators, options))
        items, rows = read_items(conn), assigned_rows(conn)
        others = apart(conn, drawn.plan.annotators)
        if not dry_run:
            write_rows(conn, drawn)
    return _counted(items, rows, drawn, others)


def _counted(
    items: Sequence[StratifiedPair],
    before: Sequence[Assigned],
    drawn: DrawnPairs,
    others: dict[str, int],
) -> Assignment:
    plan, rows = drawn.plan, [*before, *drawn.rows]
    held = Counter(row.k for row in rows if not row.trial)
    new = Counter(row.annotator for row in drawn.rows)
    shares = []
    for name in dict.fromkeys((*plan.annotators, *(row.annotator for row in before))):
        own = [row for row in rows if row.annotator == name]
        hidden = sum(not row.shown for row in own)
        trial = sum(row.trial for row in own)
        double = sum(held[row.k] > 1 for row in own if not row.trial)
        arms = Counter(row.arm for row in own)
        counts = trial, double, arms["split"], arms["bare"], arms["coin"], hidden
        shares.append(AnnotatorShare(name, len(own), new[name], *counts))
    strata = []
    for by, names in (("double", plan.stratify), ("control", CONTROL)):
        strata += _strata(by, names, items, rows, drawn.plan)
    sizes = len(items), len({row.k for row in rows}), len(drawn.rows)
    suggested = sum(item.doubt is not None for item in items)
    return Assignment(plan, *sizes, tuple(shares), tuple(strata), suggested, others)


def _strata(
    by: str,
    names: Sequence[str],
    items: Sequence[StratifiedPair],
    rows: Iterable[Assigned],
    plan: AssignmentPlan,
) -> list[Stratum]:
    by_pair: defaultdict[int, list[Assigned]] = defaultdict(list)
    for row in rows:
        by_pair[row.k].append(row)
    groups: defaultdict[tuple[str, ...], list[list[Assigned]]] = defaultdict(list)
    for item in items:
        groups[stratum_of(item, names, plan.cuts)].append(by_pair[item.k])
    strata = []
    for key, pairs in sorted(groups.items()):
        trial = sum(any(row.trial for row in own) for own in pairs)
        double = sum(len(own) > 1 and not own[0].trial for own in pairs)
        arms = Counter(next((row.arm for row in own if row.arm), "") for own in pairs)
        counts = len(pairs), trial, double, arms["split"], arms["bare"], arms["coin"]
        strata.append(Stratum(by, named_stratum(key, names, plan.cuts), *counts))
    return strata


def _table(title: str, rows: Sequence[AnnotatorShare | Stratum], left_out: Sequence[str]) -> Table:
    records = [
        {name: value for name, value in asdict(row).items() if name not in left_out} for row in rows
    ]
    text = {"annotator", "name"}
    columns = [
        Column("stratum" if name == "name" else name, "text" if name in text else "count")
        for name in records[0]
    ]
    return Table(title, columns, [list(record.values()) for record in records])
