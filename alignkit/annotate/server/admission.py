"""Let people into a project as what they are: annotators, and adjudicators of the gold standard.

The decisions of adjudicators are the stream of one account, whose name is the setting `gold`; who
decided is the actor of each event. So that name is nobody else's.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, select

from alignkit.annotate.errors import ProjectError
from alignkit.annotate.names import (
    ADJUDICATOR,
    Visitor,
    check_adjudicable,
    check_annotator,
    check_gold,
    check_name,
    not_assigned,
)
from alignkit.annotate.store import Store
from alignkit.annotate.tables import queries, schema
from alignkit.annotate.tables.appending import enrolled
from alignkit.annotate.tables.pair_lists import PairList, has_assignments
from alignkit.annotate.tables.reopening import reopen_judged


def admit(store: Store, visitor: Visitor, gold: str = "", **rules: bool) -> None:
    """Let somebody in, and register the name under which they will work."""
    if visitor.role == ADJUDICATOR:
        check_name(visitor.name)
        _admit_adjudicator(store, visitor.name, gold, rules)
        return
    with store.database.writing() as conn:
        gold = "" if gold_status(conn) == "taken" else queries.gold_name(conn)
        check_annotator(visitor.name, gold, queries.suggesting(conn))
        account = enrolled(conn, visitor.name)
        if has_assignments(conn) and not PairList(conn, account).count():
            raise ProjectError(not_assigned(visitor.name, _assigned(conn)))


def _assigned(conn: Connection) -> list[str]:
    names = queries.annotators(conn)
    rows = conn.execute(select(schema.assignment.c.account).distinct()).scalars()
    return [names[account - 1] for account in sorted(rows)]


def _admit_adjudicator(store: Store, name: str, gold: str, rules: Mapping[str, bool]) -> None:
    wanted = check_adjudicator(store, name, gold)
    store.settings(gold=wanted, blind=rules.get("blind"), majority=rules.get("majority"))
    store.enrol(wanted)


def check_adjudicator(store: Store, name: str, gold: str = "") -> str:
    """Return the name under which the decisions of an adjudicator will stand."""
    with store.database.reading() as conn:
        check_adjudicable(queries.task_of(conn))
        known, status = queries.gold_name(conn), gold_status(conn)
        wanted = gold or known
        taken = status == "taken" if wanted == known else wanted in queries.annotators(conn)
    if wanted != known and status == "begun":
        raise ProjectError(f"the decisions so far stand under {known!r}: leave out --gold {gold}")
    check_gold(wanted, name, taken=taken)
    return wanted


def change_task(store: Store, task: str) -> None:
    """Let a project's annotators do something else from now on; an empty name changes nothing.

    Pairs that were judged are not aligned: to align them, they are open again.
    """
    now = store.project().task
    if task in ("", now):
        return
    if "extract" in (task, now):
        raise ProjectError(
            f"{store.path}: is a project to {now}, not to {task}; make another (--project FILE)"
        )
    if now == "judge":
        with store.database.writing() as conn:
            reopen_judged(conn)
    store.settings(task=task)


def gold_status(conn: Connection) -> str:
    """Return what the streams of the gold standard's name are."""
    event, stream, account = schema.event.c, schema.stream.c, schema.account.c
    name = queries.gold_name(conn)
    joined = schema.event.join(schema.stream, event.stream == stream.id)
    joined = joined.join(schema.account, account.id == stream.account)
    asked = select(event.actor).select_from(joined).where(account.name == name)
    if conn.execute(asked.limit(1)).first() is None:
        return "free"
    acted = asked.where(event.actor.not_in(("", name))).limit(1)
    return "taken" if conn.execute(acted).first() is None else "begun"
