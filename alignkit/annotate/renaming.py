"""Give an annotator of a project another name, also in earlier events."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, json
from msgspec.structs import replace
from sqlalchemy import or_, select, update

from alignkit.annotate.adjudication.gold import renamed_why, renamed_whys
from alignkit.annotate.assignment import read_plan
from alignkit.annotate.project import fold, queries, schema
from alignkit.annotate.project.appending import append_to_project
from alignkit.annotate.project.events import decode_data, encode
from alignkit.annotate.project.names import ProjectError, check_annotator
from alignkit.annotate.project.state import decode_state
from alignkit.annotate.project.store import Store

_Renaming = Callable[[str], str]


def rename_annotator(store: Store, old: str, new: str, actor: str = "") -> None:
    """Replace the name of an annotator, who is not gold and makes no suggestions."""
    account = schema.account.c
    event = schema.event_table.c
    stream = schema.stream.c

    def name(known: str) -> str:
        return new if known == old else known

    with store.database.writing() as conn:
        for each in (old, new):
            check_annotator(each, queries.gold_name(conn), queries.sources(conn))
        known = queries.annotators(conn)
        if old not in known or new in known:
            listed = ", ".join(known)
            raise ProjectError(f"{old!r} cannot become {new!r}: the annotators are {listed}")
        accounts = update(schema.account).where(account.name == old)
        conn.execute(accounts.values(name=new))
        sent = update(schema.event_table).where(event.actor == old)
        conn.execute(sent.values(actor=new))
        decides = event.data.contains('"whys"')
        named = event.kind.in_(("account", "assign"))
        events = select(event.n, event.kind, event.data).where(or_(named, decides))
        for n, kind, text in conn.execute(events).all():
            data = encode(_renamed(kind, text, name)).decode()
            stored = update(schema.event_table).where(event.n == n)
            conn.execute(stored.values(data=data))
        decided = select(stream.id, stream.state).where(stream.state.contains('"whys"'))
        for id, text in conn.execute(decided).all():
            state = decode_state(text)
            for place, why in state.whys.items():
                state.whys[place] = renamed_why(why, name)
            row = update(schema.stream).where(stream.id == id)
            conn.execute(row.values(state=fold.stream_row(state)["state"]))
        plan = read_plan(conn)
        if plan is not None:
            text = encode(_planned(plan, name)).decode()
            conn.execute(update(schema.project).values(assigning=text))
        append_to_project(conn, "setting", fold.Setting(), actor)  # pages look again


def _renamed(kind: str, text: str, name: _Renaming) -> Struct:
    """Return the data of an event with other names."""
    if kind == "account":
        account = json.decode(text, type=fold.Account)
        return replace(account, name=name(account.name))
    if kind == "assign":
        data = json.decode(text, type=fold.Assign)
        rows = [row._replace(annotator=name(row.annotator)) for row in data.rows]
        plan = None if data.plan is None else _planned(data.plan, name)
        gone = [(k, name(annotator)) for k, annotator in data.gone]
        return fold.Assign(rows, plan, gone)
    decided = decode_data(text.encode())
    decided.whys = renamed_whys(decided.whys, name)
    return decided


def _planned(plan: fold.AssignmentPlan, name: _Renaming) -> fold.AssignmentPlan:
    """Return a plan with other names."""
    return replace(plan, annotators=tuple(map(name, plan.annotators)))
