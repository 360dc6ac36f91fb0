"""Open pairs again that were judged, where they are to be aligned from now on."""

from __future__ import annotations

from uuid import uuid4

from msgspec import Raw
from sqlalchemy import Connection

from alignkit.annotate.log.clock import now
from alignkit.annotate.log.events import Data, LogEvent, Turn
from alignkit.annotate.tables import queries
from alignkit.annotate.tables.appending import Batch, Writer
from alignkit.annotate.tables.last_changes import last_change


def reopen_judged(conn: Connection) -> int:
    """Open again what was done by judging it; return how many pairs of annotators these are."""
    batch, at = Batch(conn), now()
    names = queries.annotators(conn)
    judged: dict[int, list[int]] = {}
    for k, account in sorted(queries.judged_pairs(conn)):
        judged.setdefault(k, []).append(account)
    count = 0
    for pair in queries.pair_rows(conn):
        streams = queries.streams_of(conn, pair) if pair.k in judged else {}
        for account in judged.get(pair.k, ()):
            stream = streams[account]
            if not stream.state.done:
                continue
            writer = Writer(batch, account, names[account - 1], pair, stream)
            before = last_change(queries.events_after(conn, stream.id, 0))
            event = LogEvent(str(uuid4()), 0, 0, "done", 1, "", at, "", 0, Raw(b"{}"))
            writer.add(event, Data(done=Turn(True, False), how="judge", when=before or ""))
            writer.save()
            count += 1
    batch.flush()
    return count
