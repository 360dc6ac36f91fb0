"""The tables of a project: what each event of the project changes, and the rows of all tables.

`apply` is the only place that writes the tables of the project itself (the settings, annotators,
pairs, words, suggestions and assignments). An event that is appended and one that is read from a
log pass through it alike. The tables of streams are written by `appending` and `replay`, from the
rows that are made here. Only `renaming` writes past the log: it rewrites names in the log itself.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from msgspec import structs
from sqlalchemy import bindparam
from sqlalchemy.exc import IntegrityError

from alignkit.annotate.project import queries, schema, training
from alignkit.annotate.project.engines import Prepared
from alignkit.annotate.project.events import LearnedFrom, LogEvent, encode
from alignkit.annotate.project.names import DOUBTS, GOLD, TASKS, ProjectError, UnknownPair
from alignkit.annotate.project.project_events import (
    Account,
    Admit,
    AnswerTraining,
    Assign,
    BeginTraining,
    Import,
    ProjectEvent,
    Setting,
    Suggest,
    Text,
    Texts,
)
from alignkit.annotate.project.schema import ACCOUNT, ASSIGNMENT, LEARNED_SET, PAIR, SUGGESTION
from alignkit.annotate.project.state import PairState
from alignkit.model.roles import ROLES

Row = dict[str, Any]
"""The values of a row by column."""

PROJECT_TABLES = (
    schema.project,
    schema.account,
    schema.pair,
    schema.pair_text,
    schema.suggestion,
    schema.learned_set,
    schema.assignment,
    schema.training,
    schema.training_answer,
    schema.training_entry,
)
"""The tables of the project itself, which `apply` writes."""


def begin(conn: sa.Connection) -> None:
    """Write what a project has before its first event: its settings, and the row 0 of itself."""
    settings = {
        "key": "",
        "name": "",
        "scheme": "",
        "threshold": 0.9,
        "doubt": DOUBTS[1],
        "suggestions": "",
        "gold": GOLD,
        "task": TASKS[0],
        "assigning": "",
        "blind": 0,
        "majority": 0,
    }
    itself = {
        "k": 0,
        "id": "",
        "attributes": "{}",
        "rev": 0,
        "search": "",
        "trees": "{}",
        "suggested": "",
    }
    conn.execute(sa.insert(schema.project).values(settings))
    conn.execute(sa.insert(schema.account).values(id=0, name=""))
    conn.execute(sa.insert(schema.pair).values(itself))


def apply(conn: sa.Connection, event: ProjectEvent) -> None:
    """Change the tables as an event of the project says, given the event as it is stored."""
    try:
        match event:
            case Setting():
                _change_settings(conn, event)
            case Account():
                _add_account(conn, event)
            case Import():
                _add_pairs(conn, event)
            case Texts():
                _correct_texts(conn, event)
            case Suggest():
                _suggest(conn, event)
            case Assign():
                _assign(conn, event)
            case BeginTraining():
                training.begin_round(conn, event)
            case AnswerTraining():
                training.add_answer(conn, event)
            case Admit():
                training.admit(conn, event)
    except (IntegrityError, OverflowError):
        raise ProjectError(f"the event {event.kind!r} contradicts those before it") from None


def _change_settings(conn: sa.Connection, event: Setting) -> None:
    """Set the fields that are given; other suggestions of the project replace the learned ones."""
    changes: Row = {}
    for name, value in structs.asdict(event).items():
        if isinstance(value, bool):
            changes[name] = int(value)
        elif value is not None:
            changes[name] = value
    if not event.key:
        del changes["key"]
    if changes:
        conn.execute(sa.update(schema.project).values(changes))
    if event.suggestions is not None:
        _show_project_set(conn)


def _show_project_set(conn: sa.Connection) -> None:
    """Show the suggestions of the project's own set for all pairs."""
    is_other = PAIR.suggested != ""
    conn.execute(sa.update(schema.pair).where(is_other).values(suggested=""))


def _add_account(conn: sa.Connection, event: Account) -> None:
    """Add an annotator, numbered in the order of entry."""
    if event.role not in ("", *ROLES):
        raise ProjectError(f"{event.name!r} has the unknown role {event.role!r}")
    number = queries.highest(conn, ACCOUNT.id) + 1
    conn.execute(sa.insert(schema.account).values(id=number, name=event.name))


_INSERT_PAIR = Prepared(sa.insert(schema.pair))
_INSERT_TEXT = Prepared(sa.insert(schema.pair_text))


def _add_pairs(conn: sa.Connection, event: Import) -> None:
    """Add pairs with their words."""
    pairs = []
    texts = []
    for pair in event.pairs:
        row = {
            "k": pair.k,
            "id": pair.id,
            "attributes": _json(pair.attributes),
            "rev": 1,
            "search": _searched(pair.id, *pair.source, *pair.target),
            "trees": _json(pair.trees),
            "suggested": "",
        }
        pairs.append(row)
        texts.append(_text_row(Text(pair.k, 1, pair.source, pair.target)))
    if pairs:
        _INSERT_PAIR.write(conn, pairs)
        _INSERT_TEXT.write(conn, texts)


_UPDATE_PAIR = Prepared(sa.update(schema.pair).where(PAIR.k == bindparam("_k")))


def _correct_texts(conn: sa.Connection, event: Texts) -> None:
    """Give pairs new words; the earlier ones stay beside them."""
    numbers = [text.k for text in event.pairs]
    ids = {pair.k: pair.id for pair in queries.pair_rows(conn, numbers)}
    corrected = []
    for text in event.pairs:
        if text.k not in ids:
            raise UnknownPair(text.k, queries.count_pairs(conn))
        search = _searched(ids[text.k], *text.source, *text.target)
        corrected.append({"_k": text.k, "rev": text.rev, "search": search})
    if corrected:
        _UPDATE_PAIR.write(conn, corrected)
        _INSERT_TEXT.write(conn, [_text_row(text) for text in event.pairs])


def _text_row(text: Text) -> Row:
    """Return the row of a pair's words."""
    source = _json(text.source)
    target = _json(text.target)
    return {"pair": text.k, "rev": text.rev, "source": source, "target": target}


_SELECT_LEARNED = Prepared(sa.select(LEARNED_SET.number).where(LEARNED_SET.set == bindparam("set")))
_SELECT_PAIRS_IN_SET = Prepared(
    sa.select(SUGGESTION.pair).where(
        SUGGESTION.set == bindparam("set"),
        SUGGESTION.pair.between(bindparam("first"), bindparam("last")),
    )
)
_INSERT_CELLS = Prepared(sa.insert(schema.suggestion))
_OF_GIVEN_PAIR = SUGGESTION.pair == bindparam("_k")
_DELETE_CELLS = Prepared(
    sa.delete(schema.suggestion).where(_OF_GIVEN_PAIR, SUGGESTION.set == bindparam("_set"))
)
_SHOWN_LEARNED_SET = (
    sa.select(PAIR.suggested)
    .where(PAIR.k == bindparam("_k"), PAIR.suggested != "")
    .scalar_subquery()
)
_DELETE_SHOWN_CELLS = Prepared(
    sa.delete(schema.suggestion).where(_OF_GIVEN_PAIR, SUGGESTION.set == _SHOWN_LEARNED_SET)
)
_SHOW = Prepared(sa.update(schema.pair).where(PAIR.k == bindparam("_k")))


def _suggest(conn: sa.Connection, event: Suggest) -> None:
    """Add suggestions to a set, replacing those of the same pairs.

    Pairs that are new in a learned set show it from now on. The learned suggestions that they
    showed before are deleted.
    """
    if event.learned is not None:
        _add_learned_set(conn, event.set, event.learned)
    is_learned = _SELECT_LEARNED.first(conn, set=event.set) is not None
    if event.new and not is_learned:
        conn.execute(sa.delete(schema.suggestion).where(SUGGESTION.set == event.set))
        if event.set == queries.shown_set(conn):
            _show_project_set(conn)
    cells = dict(event.rows)
    if not cells:
        return
    near = _SELECT_PAIRS_IN_SET(conn, set=event.set, first=min(cells), last=max(cells))
    known = cells.keys() & {k for (k,) in near}
    if known:
        _DELETE_CELLS.write(conn, [{"_k": k, "_set": event.set} for k in sorted(known)])
    new = sorted(cells.keys() - known)
    if is_learned and new:
        _DELETE_SHOWN_CELLS.write(conn, [{"_k": k} for k in new])
        _SHOW.write(conn, [{"_k": k, "suggested": event.set} for k in new])
    rows = [{"set": event.set, "pair": k, "cells": _json(cells[k])} for k in cells]
    _INSERT_CELLS.write(conn, rows)


def _add_learned_set(conn: sa.Connection, name: str, learned: LearnedFrom) -> None:
    """Add a learned set, numbered in the order of learning."""
    number = queries.highest(conn, LEARNED_SET.number) + 1
    row = {"number": number, "set": name, **structs.asdict(learned)}
    conn.execute(sa.insert(schema.learned_set).values(row))


_INSERT_ASSIGNED = Prepared(sa.insert(schema.assignment))
_DELETE_ASSIGNED = Prepared(
    sa.delete(schema.assignment).where(
        ASSIGNMENT.pair == bindparam("_k"), ASSIGNMENT.account == bindparam("_account")
    )
)


def _assign(conn: sa.Connection, event: Assign) -> None:
    """Take pairs away from annotators, then give pairs to annotators, and keep the plan."""
    numbers = {name: number for number, name in enumerate(queries.annotators(conn), 1)}
    if event.gone:
        _take_away(conn, event, numbers)
    last = queries.count_pairs(conn)
    trained = training.training_pairs(conn) if event.rows else set()
    rows = []
    for row in event.rows:
        if row.k in trained:
            raise ProjectError(f"pair {row.k} is for training; nobody is given it to annotate")
        if not 1 <= row.k <= last or row.annotator not in numbers:
            raise ProjectError(
                f"assigns pair {row.k} to {row.annotator[:40]!r}, but one of them is unknown"
            )
        values = {
            "account": numbers[row.annotator],
            "pair": row.k,
            "place": row.place,
            "shown": row.shown,
            "arm": row.arm,
            "trial": row.trial,
        }
        rows.append(values)
    if rows:
        _INSERT_ASSIGNED.write(conn, rows)
    if event.plan is not None:
        conn.execute(sa.update(schema.project).values(assigning=_json(event.plan)))


def _take_away(conn: sa.Connection, event: Assign, numbers: dict[str, int]) -> None:
    """Take pairs away from their annotators."""
    owners = {numbers[name] for _, name in event.gone if name in numbers}
    query = sa.select(ASSIGNMENT.pair, ASSIGNMENT.account)
    rows_of_owners = conn.execute(query.where(ASSIGNMENT.account.in_(owners)))
    held = {(k, account) for k, account in rows_of_owners}
    rows = []
    for k, name in event.gone:
        place = k, numbers.get(name, 0)
        if place not in held:
            raise ProjectError(f"takes pair {k} from {name[:40]!r}, who does not have it")
        held.remove(place)
        rows.append({"_k": k, "_account": numbers[name]})
    _DELETE_ASSIGNED.write(conn, rows)


_EVENT_COLUMNS = schema.event_table.columns.keys()


def event_row(event: LogEvent, stream: int) -> Row:
    """Return the row of an event, in the order of the columns."""
    values = structs.asdict(event)
    values["stream"] = stream
    values["data"] = bytes(event.data).decode()
    return {name: values[name] for name in _EVENT_COLUMNS}


def stream_row(state: PairState) -> Row:
    """Return the state of a stream as a row."""
    notes = _searched(*(state.comments[key] for key in sorted(state.comments)))
    return {
        "seq": state.seq,
        "undo_top": state.undo,
        "redo_top": state.redo,
        "state": _json(state.view()),
        "notes": notes,
    }


def count_row(state: PairState) -> Row:
    """Return the counts of a state."""
    nulls = sum(-1 in cell for cell in state.cells)
    comments = len(state.comments)
    links = len(state.cells) - nulls
    return {"links": links, "nulls": nulls, "comments": comments, "done": state.done}


def _searched(*texts: str) -> str:
    """Return texts in the form for searching: joined, case ignored."""
    return " ".join(texts).casefold()


def _json(value: object) -> str:
    return encode(value).decode()
