"""Find when streams were changed last: by the last event that wrote anything.

An import writes what was done elsewhere, at the time that the file told; where it told none, it is
not known. Pairs that were opened again are as of the time before. To open a pair, or to look at
what was taken in bulk, changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, and_, func, select

from alignkit.annotate.log.events import Data, Event, decode_data
from alignkit.annotate.log.state import writes
from alignkit.annotate.tables import queries, schema
from alignkit.moment import read_moment


def last_changes(conn: Connection, first: int, end: int) -> dict[tuple[int, int], str | None]:
    """Return when the streams of the pairs from one to before another were changed last."""
    event, stream = schema.event, schema.stream
    chosen = and_(stream.c.pair >= first, stream.c.pair < end)
    latest = (
        select(event.c.stream, func.max(event.c.seq).label("seq"))
        .select_from(event.join(stream, event.c.stream == stream.c.id))
        .where(chosen, event.c.kind != "open")
        .group_by(event.c.stream)
        .subquery()
    )
    joined = latest.join(
        event, and_(event.c.stream == latest.c.stream, event.c.seq == latest.c.seq)
    ).join(stream, stream.c.id == event.c.stream)
    columns = (stream.c.pair, stream.c.account, stream.c.id, event.c.kind, event.c.at, event.c.data)
    times: dict[tuple[int, int], str | None] = {}
    for k, account, id, kind, at, text in conn.execute(select(*columns).select_from(joined)):
        data = decode_data(text.encode())
        if writes(kind, data):
            times[k, account] = _when(at, data)
        else:
            times[k, account] = last_change(queries.events_after(conn, id, 0))
    return times


def last_change(events: Iterable[Event]) -> str | None:
    """Return when a stream was changed last, given its events in order."""
    for event in reversed(list(events)):
        data = decode_data(event.data)
        if writes(event.kind, data):
            return _when(event.at, data)
    return None


def _when(at: str, data: Data) -> str | None:
    if data.how == "import" or data.when:
        return data.when or None
    return read_moment(at, "the time of an event")
