"""Write a project from its log: when it is made from a corpus, and when it is rebuilt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from msgspec import structs
from sqlalchemy import Connection, Table, insert

from alignkit.annotate.project import schema
from alignkit.annotate.project.database import Database, insert_tuples
from alignkit.annotate.project.events import LearnedFrom, LogEvent, encode
from alignkit.annotate.project.fold import Assigned, Fold, Pair, Suggestion, Text
from alignkit.annotate.project.names import GOLD, ProjectError
from alignkit.annotate.project.state import PairState
from alignkit.io.atomic_files import replacing_file

_BATCH = 10_000


def build_project(path: str, log: Iterable[LogEvent]) -> None:
    """Write a new project that has these events."""
    with replacing_file(path) as beside:
        database = Database(beside, new=True)
        try:
            with database.writing() as conn:
                _write(conn, log)
        except BaseException:
            database.close()
            raise
        database.finish()


def _write(conn: Connection, log: Iterable[LogEvent]) -> None:
    fold = Fold()
    streams: dict[tuple[int, str], int] = {}
    ids: set[str] = set()
    last = 0
    events = iter(log)
    while some := list(islice(events, _BATCH)):
        rows = []
        for event in some:
            key = event.k, event.annotator
            fold.add(key, event.seq, event.kind, event.below, event.data)
            if event.n <= last or event.id in ids:
                raise ProjectError(f"event {event.n}: its number or its id comes a second time")
            last = event.n
            ids.add(event.id)
            rows.append(tuple(event_row(event, streams.setdefault(key, len(streams) + 1)).values()))
        insert_tuples(conn, schema.event_table, rows)
    if not fold.setting.key or not fold.pairs:
        raise ProjectError("the log holds no project: its first events, of pair 0, are missing")
    _write_tables(conn, fold, streams)


def _write_tables(conn: Connection, fold: Fold, streams: dict[tuple[int, str], int]) -> None:
    for table, table_rows in project_tables(fold):
        _insert(conn, table, table_rows)
    number = {name: id for id, name in enumerate(["", *fold.accounts])}
    rows, counts = [], []
    for (k, name), id in streams.items():
        if name not in number:
            raise ProjectError(f"annotator {name!r} has events, but no account")
        if k not in fold.pairs and k != 0:
            raise ProjectError(f"pair {k} has events, but no words")
        state = fold.streams[k, name].state if k else PairState(seq=fold.seq)
        rows.append({"id": id, "pair": k, "account": number[name], **stream_row(state)})
        if k:
            counts.append({"pair": k, "account": number[name], **count_row(state)})
    _insert(conn, schema.stream, rows)
    _insert(conn, schema.pair_counts, counts)


def _insert(conn: Connection, table: Table, rows: Iterable[dict[str, Any]]) -> None:
    left = iter(rows)
    while some := list(islice(left, _BATCH)):
        conn.execute(insert(table), some)


def project_tables(fold: Fold) -> Iterator[tuple[Table, Iterable[dict[str, Any]]]]:
    """Yield each table of the project itself, with the rows that its log comes to."""
    names = {name: id for id, name in enumerate(["", *fold.accounts])}
    yield schema.project, [_project_row(fold)]
    yield schema.account, ({"id": id, "name": name} for name, id in names.items())
    yield schema.pair, _pair_table(fold)
    assigned = fold.assigned.values()
    yield schema.assignment, (assignment_row(row, names[row.annotator]) for row in assigned)
    learned = enumerate(fold.learned.items(), 1)
    yield schema.learned_set, (learned_row(number, *row) for number, row in learned)
    yield schema.pair_text, (text_row(text) for rows in fold.texts.values() for text in rows)
    sets = fold.suggestions.items()
    cells = (suggestion_row(name, k, row) for name, rows in sets for k, row in rows.items())
    yield schema.suggestion, cells


def _project_row(fold: Fold) -> dict[str, Any]:
    setting = fold.setting
    return {
        "key": setting.key,
        "name": setting.name or "",
        "scheme": setting.scheme or "",
        "threshold": 0.9 if setting.threshold is None else setting.threshold,
        "suggestions": setting.suggestions or "",
        "gold": setting.gold or GOLD,
        "task": setting.task or "align",
        "assigning": "" if fold.plan is None else encode(fold.plan).decode(),
        "blind": int(bool(setting.blind)),
        "majority": int(bool(setting.majority)),
    }


def _pair_table(fold: Fold) -> Iterator[dict[str, Any]]:
    """Yield the rows of the pairs; that of the project first."""
    row = {"k": 0, "id": "", "attributes": "{}", "rev": 0, "search": "", "trees": "{}"}
    yield {**row, "suggested": ""}
    for k, pair in sorted(fold.pairs.items()):
        yield pair_row(pair, fold.texts[k][-1], fold.shown.get(k, ""))


def pair_row(pair: Pair, text: Text, suggested: str = "") -> dict[str, Any]:
    """Return the row of a pair, whose words are now those of a text."""
    return {
        "k": pair.k,
        "id": pair.id,
        "attributes": encode(pair.attributes).decode(),
        "rev": text.rev,
        "search": searched(pair.id, *text.source, *text.target),
        "trees": encode(pair.trees).decode(),
        "suggested": suggested,
    }


def searched(*texts: str) -> str:
    """Return texts as they are searched: joined, without regard to case."""
    return " ".join(texts).casefold()


def text_row(text: Text) -> dict[str, Any]:
    """Return the row of a pair's words."""
    source, target = encode(text.source).decode(), encode(text.target).decode()
    return {"pair": text.k, "rev": text.rev, "source": source, "target": target}


def suggestion_row(name: str, k: int, cells: list[Suggestion]) -> dict[str, Any]:
    """Return the row of a pair's suggestions."""
    return {"set": name, "pair": k, "cells": encode(cells).decode()}


def learned_row(number: int, name: str, learned: LearnedFrom) -> dict[str, Any]:
    """Return the row of a learned set."""
    return {"number": number, "set": name, **structs.asdict(learned)}


def assignment_row(row: Assigned, account: int) -> dict[str, Any]:
    """Return the row that says that a pair is an annotator's."""
    own = {name: getattr(row, name) for name in ("place", "shown", "arm", "trial")}
    return {"account": account, "pair": row.k, **own}


def event_row(event: LogEvent, stream: int) -> dict[str, Any]:
    """Return the row of an event, in the order of the columns."""
    return {
        "n": event.n,
        "id": event.id,
        "stream": stream,
        "seq": event.seq,
        "kind": event.kind,
        "v": event.v,
        "actor": event.actor,
        "at": event.at,
        "client_at": event.client_at,
        "below": event.below,
        "sent": event.sent,
        "data": bytes(event.data).decode(),
    }


def stream_row(state: PairState) -> dict[str, Any]:
    """Return what the row of a stream holds of its state."""
    return {
        "seq": state.seq,
        "undo_top": state.undo,
        "redo_top": state.redo,
        "state": encode(state.view()).decode(),
        "notes": searched(*(state.comments[key] for key in sorted(state.comments))),
    }


def count_row(state: PairState) -> dict[str, Any]:
    """Return the counts of a state."""
    nulls = sum(-1 in cell for cell in state.cells)
    comments, links = len(state.comments), len(state.cells) - nulls
    return {"links": links, "nulls": nulls, "comments": comments, "done": state.done}
