"""Give an annotator of a project another name, also in earlier events."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, json
from msgspec.structs import replace
from sqlalchemy import and_, or_, select, update

from alignkit.annotate.adjudication.pseudonyms import renamed_why, renamed_whys
from alignkit.annotate.assignment import read_plan
from alignkit.annotate.project import queries, schema, tables
from alignkit.annotate.project.appending import append_to_project
from alignkit.annotate.project.events import decode_data, encode
from alignkit.annotate.project.names import ProjectError, check_annotator
from alignkit.annotate.project.project_events import (
    Account,
    Admit,
    AnswerTraining,
    Assign,
    AssignmentPlan,
    BeginTraining,
    Setting,
)
from alignkit.annotate.project.seals import break_seal
from alignkit.annotate.project.state import decode_state
from alignkit.annotate.project.store import Store

_Renaming = Callable[[str], str]


def rename_annotator(store: Store, old: str, new: str, actor: str = "") -> None:
    """Replace the name of an annotator, who is not gold and makes no suggestions."""
    account = schema.account.c
    event = schema.event_table.c
    stream = schema.stream.c

    def renamed(name: str) -> str:
        return new if name == old else name

    with store.database.writing() as conn:
        for each in (old, new):
            check_annotator(each, queries.gold_name(conn), queries.sources(conn))
        break_seal(conn)
        known = queries.annotators(conn)
        if old not in known or new in known:
            listed = ", ".join(known)
            raise ProjectError(f"{old!r} cannot become {new!r}: the annotators are {listed}")
        accounts = update(schema.account).where(account.name == old)
        conn.execute(accounts.values(name=new))
        sent = update(schema.event_table).where(event.actor == old)
        conn.execute(sent.values(actor=new))
        # some of these hold no reasons, but a word "whys": they are written again as they are
        decides = and_(stream.pair > 0, event.data.contains('"whys"'))
        named = event.kind.in_(("account", "assign", "training", "answer", "admit"))
        joined = schema.event_table.join(schema.stream, stream.id == event.stream)
        events = select(event.n, event.kind, event.data).select_from(joined)
        for n, kind, text in conn.execute(events.where(or_(named, decides))).all():
            data = encode(_renamed(kind, text, renamed)).decode()
            stored = update(schema.event_table).where(event.n == n)
            conn.execute(stored.values(data=data))
        decided = select(stream.id, stream.state).where(stream.state.contains('"whys"'))
        for id, text in conn.execute(decided).all():
            state = decode_state(text)
            for place, why in state.whys.items():
                state.whys[place] = renamed_why(why, renamed)
            row = update(schema.stream).where(stream.id == id)
            conn.execute(row.values(state=tables.stream_row(state)["state"]))
        rounds = update(schema.training).where(schema.training.c.gold == old)
        conn.execute(rounds.values(gold=new))
        plan = read_plan(conn)
        if plan is not None:
            text = encode(_planned(plan, renamed)).decode()
            conn.execute(update(schema.project).values(assigning=text))
        # an event that changes no setting: because of it, pages ask for the names again
        append_to_project(conn, Setting(), actor)


def _renamed(kind: str, text: str, renamed: _Renaming) -> Struct:
    """Return the data of an event with other names: of an account, an assignment, or a pair."""
    if kind == "account":
        account = json.decode(text, type=Account)
        return replace(account, name=renamed(account.name))
    if kind == "assign":
        assign = json.decode(text, type=Assign)
        rows = [row._replace(annotator=renamed(row.annotator)) for row in assign.rows]
        plan = assign.plan
        if plan is not None:
            plan = _planned(plan, renamed)
        gone = [(k, renamed(annotator)) for k, annotator in assign.gone]
        return Assign(rows, plan, gone)
    if kind == "training":
        training = json.decode(text, type=BeginTraining)
        begun = list(map(renamed, training.begun))
        return replace(training, gold=renamed(training.gold), begun=begun)
    if kind == "answer":
        answer = json.decode(text, type=AnswerTraining)
        return replace(answer, annotator=renamed(answer.annotator))
    if kind == "admit":
        admit = json.decode(text, type=Admit)
        return replace(admit, annotator=renamed(admit.annotator))
    data = decode_data(text.encode())
    data.whys = renamed_whys(data.whys, renamed)
    return data


def _planned(plan: AssignmentPlan, renamed: _Renaming) -> AssignmentPlan:
    """Return a plan with other names."""
    return replace(plan, annotators=tuple(map(renamed, plan.annotators)))
