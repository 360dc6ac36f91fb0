"""Assign pairs to annotators: the plan, what is drawn by it, and what is stored.

The plan says how pairs are assigned, also those that are added later; `assignment_draw` has the
words for its parts, and draws the rows. Both are stored as events of the project, and counted for
people by `assignment_report`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace
from sqlalchemy import Connection, func, select

from alignkit.annotate.assignment_draw import DrawnPairs, draw
from alignkit.annotate.assignment_report import Assignment, count_assignment
from alignkit.annotate.project import conversion, queries, training
from alignkit.annotate.project.appending import append_to_project, enrolled
from alignkit.annotate.project.events import encode
from alignkit.annotate.project.names import ProjectError, check_annotator
from alignkit.annotate.project.project_events import (
    Assign,
    Assigned,
    AssignmentPlan,
    Import,
)
from alignkit.annotate.project.schema import (
    ACCOUNT,
    ASSIGNMENT,
    EVENT,
    EVENT_IS_IN_STREAM,
    STREAM,
    STREAM_IS_OF_ACCOUNT,
)
from alignkit.annotate.project.store import Store
from alignkit.annotate.project.suggestions import suggestions_of
from alignkit.annotate.strata import MEASURES, StratifiedPair, doubt_of
from alignkit.model.sentence_pair import SentencePair

_ROWS = 2000  # rows in one event
_PAIRS = 256  # pairs in one event
_read_plan = msgspec.json.Decoder(AssignmentPlan).decode

# What is stored


def read_plan(conn: Connection) -> AssignmentPlan | None:
    """Return how new pairs are assigned; None if nothing is assigned yet."""
    text = queries.settings(conn).assigning
    return _read_plan(text) if text else None


def assigned_rows(conn: Connection) -> list[Assigned]:
    """Return all rows of the assignment, by annotator and place."""
    columns = (
        ASSIGNMENT.pair,
        ACCOUNT.name,
        ASSIGNMENT.place,
        ASSIGNMENT.shown,
        ASSIGNMENT.arm,
        ASSIGNMENT.trial,
    )
    asked = (
        select(*columns)
        .where(ACCOUNT.id == ASSIGNMENT.account)
        .order_by(ASSIGNMENT.account, ASSIGNMENT.place)
    )
    return [Assigned(*row) for row in conn.execute(asked)]


def read_items(conn: Connection) -> list[StratifiedPair]:
    """Return the properties of the pairs that matter for their assignment."""
    cells = suggestions_of(conn, queries.shown_set(conn))
    items = []
    for pair in queries.pair_rows(conn):
        n = len(pair.source)
        m = len(pair.target)
        if pair.k in cells:
            doubt = doubt_of(n, m, cells[pair.k])
        else:
            doubt = None
        items.append(StratifiedPair(pair.k, pair.id, n + m, doubt, pair.attributes))
    return items


def other_workers(conn: Connection, names: Collection[str]) -> dict[str, int]:
    """Return who else has worked on pairs, and on how many; imported work does not count."""
    is_imported = EVENT.data.like('%"how":"import"%')  # as events have it in JSON
    asked = (
        select(ACCOUNT.name, func.count(STREAM.pair.distinct()))
        .where(EVENT_IS_IN_STREAM, STREAM_IS_OF_ACCOUNT)
        .where(EVENT.actor == ACCOUNT.name, STREAM.pair > 0, EVENT.kind != "text")
        .where(~is_imported)
        .group_by(ACCOUNT.name)
    )
    return {name: count for name, count in conn.execute(asked) if name not in names}


def revised(
    plan: AssignmentPlan | None, annotators: Sequence[str], options: dict[str, Any]
) -> AssignmentPlan:
    """Return a plan with more annotators and other options; those that are None stay."""
    if len(set(annotators)) < len(annotators):
        raise ProjectError("an annotator is named twice; name each once")
    given = {name: value for name, value in options.items() if value is not None}
    if plan is not None:
        _check_drawn(plan, given)
    if {"double", "each"} <= given.keys():
        raise ProjectError("double and each exclude each other: give one of them")
    old = plan or AssignmentPlan()
    if "each" in given:
        given["double"] = None
    elif "double" in given:
        given["each"] = UNSET
    names = tuple(dict.fromkeys((*old.annotators, *annotators)))
    new = replace(old, annotators=names, **given)
    _check_plan(new)
    return _read_plan(encode(new))  # equal to what will be stored, where a share of 0 is 0.0


def _check_drawn(plan: AssignmentPlan, given: Mapping[str, Any]) -> None:
    """Refuse other values of what was drawn once and for all."""
    for name in ("trial", "seed", "stratify"):
        before = getattr(plan, name)
        if name not in given or given[name] == before:
            continue
        if isinstance(before, tuple):
            before = ", ".join(before) or "none"
        raise ProjectError(
            f"{name} is {before} since the first assignment and cannot change; leave it out"
        )


def _check_plan(plan: AssignmentPlan) -> None:
    """Refuse a plan without annotators, or with shares and numbers that they cannot have."""
    names = plan.annotators
    if not names:
        raise ProjectError("there is nobody to assign pairs to; name the annotators")
    for name, value in (("double", plan.double or 0.0), ("control", plan.control)):
        if not 0 <= value <= 1:
            raise ProjectError(f"{name} is {value}; give a share from 0 to 1")
    if plan.each is not UNSET and not 1 <= plan.each <= len(names):
        raise ProjectError(f"each is {plan.each}; give 1 to {len(names)}, the number of annotators")
    if plan.double and len(names) < 2:
        raise ProjectError(
            f"double is {plan.double:g}, but {names[0]!r} is alone; add an annotator"
        )


def draw_rows(conn: Connection, plan: AssignmentPlan) -> DrawnPairs:
    """Draw the rows that a plan adds to the assignment."""
    gold = queries.gold_name(conn)
    sources = queries.sources(conn)
    for name in plan.annotators:
        check_annotator(name, gold, sources)
    trained = training.training_pairs(conn)
    items = [item for item in read_items(conn) if item.k not in trained]
    attributes = [name for name in plan.stratify if name not in MEASURES]
    if plan.order not in ("hash", "uncertainty"):
        attributes.append(plan.order)
    _check_attributes(attributes, items)
    if plan.order == "uncertainty" and all(item.doubt is None for item in items):
        raise ProjectError(
            "no links are suggested yet, so the order by uncertainty is unknown; assign when the "
            "page shows suggestions, or choose another order"
        )
    asked = select(STREAM.pair, ACCOUNT.name).where(STREAM_IS_OF_ACCOUNT)
    rows = conn.execute(asked.where(STREAM.pair > 0, ACCOUNT.id > 0))
    return draw(items, plan, assigned_rows(conn), {(k, name) for k, name in rows})


def _check_attributes(attributes: Iterable[str], items: Iterable[StratifiedPair]) -> None:
    """Refuse attributes that no pair has; name a similar one, or all."""
    known: set[str] = set()
    for item in items:
        known.update(item.attributes)
    for name in attributes:
        if name in known:
            continue
        near = get_close_matches(name, known, n=1)
        if near:
            hint = f"did you mean {near[0]}?"
        elif known:
            hint = f"there are {', '.join(sorted(known))}"
        else:
            hint = "they have none"
        raise ProjectError(f"no pair has an attribute {name!r}; {hint}")


def write_rows(
    conn: Connection,
    rows: Sequence[Assigned],
    plan: AssignmentPlan | None,
    gone: Sequence[Assigned] = (),
    actor: str = "",
) -> None:
    """Take rows away, add others, some at a time; store the plan, and register its annotators."""
    names: list[str] = []
    if plan is not None:
        names.extend(plan.annotators)
    names.extend(row.annotator for row in (*gone, *rows))
    for name in dict.fromkeys(names):
        enrolled(conn, name)
    if plan is not None and not (gone or rows):
        append_to_project(conn, Assign([], plan, []), actor)
    for start in range(0, max(len(gone), len(rows)), _ROWS):
        new = list(rows[start : start + _ROWS])
        taken = [(row.k, row.annotator) for row in gone[start : start + _ROWS]]
        with_plan = plan if start == 0 else None
        append_to_project(conn, Assign(new, with_plan, taken), actor)


def write_drawn(conn: Connection, drawn: DrawnPairs) -> None:
    """Store new rows, and the plan if it has changed."""
    is_new = drawn.plan != read_plan(conn)
    write_rows(conn, drawn.rows, drawn.plan if is_new else None)


def add_pairs(conn: Connection, pairs: Iterable[SentencePair]) -> list[int]:
    """Append pairs, and assign them if there is a plan; return their numbers."""
    new = []
    for k, pair in enumerate(pairs, queries.count_pairs(conn) + 1):
        if pair.annotations:
            raise ProjectError(
                f"pair {pair.id!r} has annotations; add it without them, then import these"
            )
        new.append(conversion.project_pair(k, pair))
    for some in queries.portions(new, _PAIRS):
        append_to_project(conn, Import(some))
    plan = read_plan(conn)
    if new and plan is not None:
        write_drawn(conn, draw_rows(conn, plan))
    return [pair.k for pair in new]


def assign_pairs(
    store: Store,
    annotators: Sequence[str] = (),
    *,
    double: float | None = None,
    each: int | None = None,
    trial: int | None = None,
    seed: int | None = None,
    stratify: Sequence[str] | None = None,
    order: str | None = None,
    control: float | None = None,
    control_least: int | None = None,
    dry_run: bool = False,
    everybody: bool = False,
    approve: Callable[[Assignment], None] = lambda _: None,
) -> Assignment:
    """Assign pairs that are not assigned yet; options that are None keep their values.

    `everybody` gives all pairs to all; `approve` is called before anything is stored.
    """
    options = {
        "double": double,
        "each": each,
        "trial": trial,
        "seed": seed,
        "order": order,
        "control": control,
        "least": control_least,
        "stratify": None if stratify is None else tuple(stratify),
    }
    if dry_run:
        opened = store.reading()
    else:
        opened = store.writing()
    with opened as conn:
        before = read_plan(conn)
        if before is None and control is None and queries.task_of(conn) != "align":
            options["control"] = 0.0  # nothing is suggested
        plan = revised(before, annotators, options)
        drawn = draw_rows(conn, replace(plan, double=None, each=UNSET) if everybody else plan)
        rows = assigned_rows(conn)
        others = other_workers(conn, drawn.plan.annotators)
        trained = len(training.training_pairs(conn))
        assignment = count_assignment(read_items(conn), rows, drawn, others, trained)
        if not dry_run:
            approve(assignment)
            write_drawn(conn, drawn)
    return assignment


def present_assignment(store: Store) -> Assignment | None:
    """Return the assignment as it is; None if nothing is assigned yet."""
    with store.reading() as conn:
        plan = read_plan(conn)
        if plan is None:
            return None
        drawn = DrawnPairs(plan, [])
        trained = len(training.training_pairs(conn))
        return count_assignment(read_items(conn), assigned_rows(conn), drawn, {}, trained)
