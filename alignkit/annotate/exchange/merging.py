"""Merge the work of another project of the same pairs into this one.

Events are known by their ids, so that what was merged before is not merged again. A stream that is
not begun here, or that went on there from where it is here, takes the events themselves. Where both
went on, one edit writes what was changed there since they parted; what only was changed here stays
(see `both_sides`). It bears the name of who changed the stream last there, and the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from sqlalchemy import Connection, select

from alignkit.annotate.exchange.both_sides import with_both
from alignkit.annotate.exchange.importing import Accounts, Imported, imported_event
from alignkit.annotate.exchange.joining import joined
from alignkit.annotate.exchange.project import import_id
from alignkit.annotate.log.conversion import difference
from alignkit.annotate.log.events import Data, Event, LogEvent, decode_data
from alignkit.annotate.log.state import PairState, copied, writes
from alignkit.annotate.store import Store
from alignkit.annotate.tables import queries, schema
from alignkit.annotate.tables.appending import Batch, Writer
from alignkit.annotate.tables.last_changes import last_change
from alignkit.annotate.tables.queries import PairRow, StreamRow


def merge_project(
    store: Store, other: Store, *, in_order: bool = False, tell: Callable[[], None] | None = None
) -> Imported:
    """Take the work of another project into this one: all, or nothing."""
    result = Imported()
    with store.database.writing() as conn, other.database.reading() as there:
        names = queries.annotators(there)
        others = list(queries.pair_rows(there))
        pairs = list(queries.pair_rows(conn))
        batch = Batch(conn)
        accounts = Accounts(batch)
        surplus: list[PairRow] = []
        for pair, twin in joined(pairs, others, in_order=in_order, surplus=surplus):
            result.pairs += 1
            if (pair.source, pair.target) != (twin.source, twin.target):
                result.skipped.append(pair.id)
                continue
            corrected = pair.rev > 1 or twin.rev > 1
            same = not corrected or _texts(conn, pair.k) == _texts(there, twin.k)
            streams = queries.streams_of(conn, pair)
            for account, log in queries.pair_log(there, twin.k).items():
                name = names[account - 1]
                number = accounts.number(name)
                mine = streams.get(number) or StreamRow(None, PairState(rev=pair.rev))
                into = Writer(batch, number, name, pair, mine)
                _merge(conn, into, mine, pair, name, log, same, result)
            if tell is not None:
                tell()
        batch.flush()
        result.surplus = [twin.id for twin in surplus]
    return result


def _texts(conn: Connection, k: int) -> list[tuple[object, ...]]:
    table = schema.pair_text.c
    asked = select(table.source, table.target).where(table.pair == k).order_by(table.rev)
    return [tuple(row) for row in conn.execute(asked)]


def _merge(
    conn: Connection,
    writer: Writer,
    stream: StreamRow,
    pair: PairRow,
    name: str,
    log: Sequence[tuple[Event, str]],
    same_texts: bool,
    result: Imported,
) -> None:
    events = [event for event, _ in log]
    shared = _shared(conn, pair.k, name, events)
    if shared == len(events):
        result.same += 1
        return
    at = queries.event_ids(conn, stream.id, stream.state.seq)[0]
    if same_texts and at == (events[shared - 1].id if shared else None):
        for event, digest in log[shared:]:
            data = decode_data(event.data)
            writer.add(LogEvent(**msgspec.structs.asdict(event), sent=digest), data)
        changed = True
    else:
        old, new = _folded(events, shared)
        state, both = with_both(stream.state, old, new)
        result.both += both
        data = difference(stream.state, state)
        changed = data != Data()
        if changed:
            data.how, data.when = "import", last_change(events) or ""
            id = import_id(pair.k, name, events[-1].id.encode())
            writer.add(imported_event("edit", id, _last_actor(events) or name), data)
    writer.save()
    result.new += stream.id is None
    result.changed += stream.id is not None and changed
    result.same += stream.id is not None and not changed


def _shared(conn: Connection, k: int, name: str, events: Sequence[Event]) -> int:
    ids = [event.id for event in events]
    merged = [import_id(k, name, id.encode()) for id in ids]
    known = queries.known_events(conn, [*ids, *merged])
    for count in range(len(ids), 0, -1):
        if ids[count - 1] in known or merged[count - 1] in known:
            return count
    return 0


def _last_actor(events: Sequence[Event]) -> str:
    changes = (event for event in reversed(events) if writes(event.kind, decode_data(event.data)))
    last = next(changes, None)
    return last.actor if last is not None else ""


def _folded(events: Sequence[Event], shared: int) -> tuple[PairState, PairState]:
    state, old = PairState(), PairState()
    for count, event in enumerate(events, 1):
        state.apply(event.kind, decode_data(event.data))
        if count == shared:
            old = copied(state)
    return old if old.rev == state.rev else PairState(rev=state.rev), state
