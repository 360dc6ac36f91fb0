"""Build a project from a log: its events, and the tables that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import Connection, insert, select

from alignkit.annotate.project import database, schema, tables
from alignkit.annotate.project.events import LogEvent
from alignkit.annotate.project.folding import FoldedLog, StreamKey
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.places import beside, new_project
from alignkit.annotate.project.queries import annotators, portions

_ROWS = 10_000  # rows that are written at once


def build_project(place: str, log: Iterable[LogEvent]) -> None:
    """Write a new project that has these events."""
    with beside(place) as there, new_project(there) as conn:
        write_log(conn, log)


def write_log(conn: Connection, log: Iterable[LogEvent]) -> None:
    """Write a log into empty tables, and what follows from it."""
    fold = FoldedLog(conn)
    streams: dict[StreamKey, int] = {}  # the number of each pair and annotator
    for rows in portions(_event_rows(log, fold, streams), _ROWS):
        into = insert(schema.event_table)
        if conn.dialect.name == "sqlite":  # in less time, as tuples: rows have all columns in order
            text = str(into.compile(dialect=conn.dialect))
            conn.exec_driver_sql(text, [tuple(row.values()) for row in rows])
        else:
            conn.execute(into, rows)
    _check_streams(conn, streams)
    keys = {id: key for key, id in streams.items()}
    for table, table_rows in fold.stream_tables(keys):
        for rows in portions(table_rows, _ROWS):
            conn.execute(insert(table), rows)
    fault = database.first_fault(conn)  # foreign keys are not checked while a file is filled
    if fault:
        raise ProjectError(f"no project follows from the log: {fault}")


def _check_streams(conn: Connection, streams: Iterable[StreamKey]) -> None:
    """Check that a log has made a project, and the annotators and pairs of its streams."""
    key = conn.execute(select(schema.PROJECT.key)).scalar()
    pairs = set(conn.execute(select(schema.PAIR.k)).scalars())
    if not key or pairs == {0}:
        raise ProjectError("the log has no project: its first events, of pair 0, are missing")
    accounts = annotators(conn)
    for k, name in streams:
        if name and name not in accounts:
            raise ProjectError(f"annotator {name!r} has events, but no account")
        if k not in pairs:
            raise ProjectError(f"pair {k} has events, but no words")


def _event_rows(
    log: Iterable[LogEvent], fold: FoldedLog, streams: dict[StreamKey, int]
) -> Iterator[tables.Row]:
    """Yield the rows of events; fold them and number their streams meanwhile."""
    ids: set[str] = set()
    last = 0
    for event in log:
        key = event.k, event.annotator
        fold.add(key, event.seq, event.kind, event.below, event.data)
        if event.n <= last or event.id in ids:
            raise ProjectError(f"event {event.n}: its number or id is used twice")
        last = event.n
        ids.add(event.id)
        stream = streams.setdefault(key, len(streams) + 1)
        yield tables.event_row(event, stream)
