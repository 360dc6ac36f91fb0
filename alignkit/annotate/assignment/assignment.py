"""Assign the pairs of a project, and add pairs to it: what `assigning` draws goes into the log."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec
from sqlalchemy import Connection, func, insert, select, update

from alignkit.annotate.assignment.drawing import Drawn, draw
from alignkit.annotate.assignment.strata import MEASURES, Item, doubt_of
from alignkit.annotate.errors import ProjectError
from alignkit.annotate.log.conversion import project_pair
from alignkit.annotate.log.events import encode
from alignkit.annotate.log.project_events import Assign, Assigned, AssignmentPlan, Import, Text
from alignkit.annotate.names import check_annotator
from alignkit.annotate.tables import queries, schema
from alignkit.annotate.tables.appending import append_to_project, enrolled
from alignkit.annotate.tables.building import assignment_row, pair_row, text_row
from alignkit.sentence_pair import SentencePair

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


def read_items(conn: Connection) -> list[Item]:
    """Return what of the pairs matters for their assignment."""
    name = conn.execute(select(schema.project.c.suggestions)).scalar()
    cells = queries.suggestions_by_pair(conn, str(name))
    items = []
    for pair in queries.pair_rows(conn):
        n, m = len(pair.source), len(pair.target)
        doubt = doubt_of(n, m, cells[pair.k]) if pair.k in cells else None
        items.append(Item(pair.k, pair.id, n + m, doubt, pair.attributes))
    return items


def _begun(conn: Connection) -> set[tuple[int, str]]:
    stream, account = schema.stream, schema.account.c
    joined = stream.join(schema.account, account.id == stream.c.account)
    asked = select(stream.c.pair, account.name).select_from(joined)
    return {(k, name) for k, name in conn.execute(asked.where(stream.c.pair > 0, account.id > 0))}


def apart(conn: Connection, names: Collection[str]) -> dict[str, int]:
    """Return who else has worked on pairs, and on how many: work that was not imported."""
    event, stream, account = schema.event.c, schema.stream.c, schema.account.c
    joined = schema.event.join(schema.stream, event.stream == stream.id)
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


def _check_attributes(items: Sequence[Item], plan: AssignmentPlan) -> None:
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


def draw_rows(conn: Connection, plan: AssignmentPlan) -> Drawn:
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


def write_rows(conn: Connection, drawn: Drawn) -> None:
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
