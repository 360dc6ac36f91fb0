"""Give an annotator of a project another name, also in earlier events."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from sqlalchemy import and_, or_, select, update

from alignkit.annotate.adjudication.pseudonyms import renamed_why, renamed_whys
from alignkit.annotate.assignment import read_plan
from alignkit.annotate.project import appending, queries, schema, seals, tables
from alignkit.annotate.project.events import decode_data, encode
from alignkit.annotate.project.names import DamagedProject, ProjectError, check_annotator
from alignkit.annotate.project.project_events import (
    Account,
    Admit,
    AnswerTraining,
    Assign,
    AssignmentPlan,
    BeginTraining,
    ProjectEvent,
    Setting,
    decode_event,
)
from alignkit.annotate.project.schema import ACCOUNT, EVENT, EVENT_IS_IN_STREAM, STREAM, TRAINING
from alignkit.annotate.project.state import decode_state
from alignkit.annotate.project.store import Store

_Renaming = Callable[[str], str]
_NAMING = ("account", "assign", "training", "answer", "admit")
"""The kinds of events of a project that name annotators."""


def rename_annotator(store: Store, old: str, new: str, actor: str = "") -> None:
    """Replace the name of an annotator, who is not gold and makes no suggestions."""

    def renamed(name: str) -> str:
        return new if name == old else name

    with store.writing() as conn:
        for each in (old, new):
            check_annotator(each, queries.gold_name(conn), queries.sources(conn))
        seals.break_seal(conn)
        known = queries.annotators(conn)
        if old not in known or new in known:
            listed = ", ".join(known)
            raise ProjectError(f"{old!r} cannot become {new!r}: the annotators are {listed}")
        accounts = update(schema.account).where(ACCOUNT.name == old)
        conn.execute(accounts.values(name=new))
        sent = update(schema.event_table).where(EVENT.actor == old)
        conn.execute(sent.values(actor=new))
        # some of these hold no reasons, but a word "whys": they are written again as they are
        decides = and_(STREAM.pair > 0, EVENT.data.contains('"whys"'))
        named = EVENT.kind.in_(_NAMING)
        joined = schema.event_table.join(schema.stream, EVENT_IS_IN_STREAM)
        events = select(EVENT.n, EVENT.kind, EVENT.data).select_from(joined)
        for n, kind, text in conn.execute(events.where(or_(named, decides))).all():
            if kind in _NAMING:
                data = encode(_renamed(_stored_event(store, kind, text), renamed))
            else:
                written = decode_data(text)
                written.whys = renamed_whys(written.whys, renamed)
                data = encode(written)
            stored = update(schema.event_table).where(EVENT.n == n)
            conn.execute(stored.values(data=data.decode()))
        decided = select(STREAM.id, STREAM.state).where(STREAM.state.contains('"whys"'))
        for id, text in conn.execute(decided).all():
            state = decode_state(text)
            for place, why in state.whys.items():
                state.whys[place] = renamed_why(why, renamed)
            row = update(schema.stream).where(STREAM.id == id)
            conn.execute(row.values(state=tables.stream_row(state)["state"]))
        rounds = update(schema.training).where(TRAINING.gold == old)
        conn.execute(rounds.values(gold=new))
        plan = read_plan(conn)
        if plan is not None:
            text = encode(_planned(plan, renamed)).decode()
            conn.execute(update(schema.project).values(assigning=text))
        # an event that changes no setting: because of it, pages ask for the names again
        appending.append_to_project(conn, Setting(), actor)


def _renamed(event: ProjectEvent, renamed: _Renaming) -> ProjectEvent:
    """Return an event of the project with other names."""
    match event:
        case Account():
            event.name = renamed(event.name)
        case Assign():
            event.rows = [row._replace(annotator=renamed(row.annotator)) for row in event.rows]
            event.gone = [(k, renamed(annotator)) for k, annotator in event.gone]
            if event.plan is not None:
                event.plan = _planned(event.plan, renamed)
        case BeginTraining():
            event.gold = renamed(event.gold)
            event.begun = list(map(renamed, event.begun))
        case AnswerTraining() | Admit():
            event.annotator = renamed(event.annotator)
    return event


def _stored_event(store: Store, kind: str, text: str) -> ProjectEvent:
    """Return an event that a project holds; a broken one is damage."""
    try:
        return decode_event(kind, text)
    except ProjectError as problem:
        raise DamagedProject(store.database.path, str(problem)) from None


def _planned(plan: AssignmentPlan, renamed: _Renaming) -> AssignmentPlan:
    """Return a plan with other names."""
    return replace(plan, annotators=tuple(map(renamed, plan.annotators)))
