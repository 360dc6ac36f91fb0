"""Fold the log of a project anew, and compare what it comes to with what is stored.

Where the log is long, a second process folds half of the streams; see `replay_share`.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, func, select

from alignkit.annotate.errors import ProjectError
from alignkit.annotate.log.fold import Fold, Folded
from alignkit.annotate.log.state import PairState
from alignkit.annotate.replay_share import WHOLE, Helper, Replay, Share
from alignkit.annotate.store import Store
from alignkit.annotate.tables import schema
from alignkit.annotate.tables.building import count_row, project_tables, stream_row
from alignkit.annotate.tables.queries import last_n

_BATCH = 1000  # rows that stay in the cache of the processor
_LONG = 150_000  # events whose halves are quicker than the start of a process
_LOG = "SELECT stream, seq, kind, below, data FROM event"


def replay(
    store: Store, *, tell: Callable[[int], None] | None = None, processes: int | None = None
) -> Replay:
    """Fold the log of a project and compare it with all tables."""
    if processes is None:
        with store.database.reading() as conn:
            processes = 2 if last_n(conn) > _LONG and (os.cpu_count() or 1) > 1 else 1
    if processes == 1:
        return replay_share(store, WHOLE, tell)
    with Helper(store.path, Share(1, 2)) as helper:
        result = replay_share(store, Share(0, 2), tell)
        other = helper.result()
    if other is None:  # it was killed, or there is no room for it
        return result.joined(replay_share(store, Share(1, 2), tell))
    if tell is not None:
        tell(other.events)
    return result.joined(other)


def replay_share(
    store: Store, share: Share = WHOLE, tell: Callable[[int], None] | None = None
) -> Replay:
    """Do the work of one process; the first looks at all that is no stream, too."""
    result = Replay()
    with ExitStack() as opened:
        damage = None
        if share.first:  # in SQLite, which needs no Python meanwhile
            damage = opened.enter_context(ThreadPoolExecutor(1)).submit(_damage, store)
        conn = opened.enter_context(store.database.reading())
        streams = _streams(conn)
        if share.first:
            _check_numbers(conn, result)
        fold = _folded(conn, streams, share, result, tell)
        result.streams = sum(k > 0 and share.has(id) for id, (k, _) in streams.items())
        if share.first:
            for table, rows in project_tables(fold):
                _compare(conn, table, rows, set(), result)
        for table, rows, others in _stream_tables(fold, streams, share):
            _compare(conn, table, rows, others, result)
        for line in damage.result() if damage is not None else ():
            result.tell(f"the file is damaged: {line}")
    return result


def main(part: int, of: int, path: str) -> None:
    """Replay a share, and print what was found as JSON."""
    gc.disable()  # a short life, full of tuples
    with Store.open(path, readonly=True, log=True) as store:
        result = replay_share(store, Share(part, of))
    sys.stdout.buffer.write(msgspec.json.encode(asdict(result)))


def _damage(store: Store) -> list[str]:
    with store.database.reading() as conn:
        lines = conn.exec_driver_sql("PRAGMA quick_check(20)").scalars().all()
    return [line for line in lines if line != "ok"]


def _streams(conn: Connection) -> dict[int, tuple[int, str]]:
    stream, account = schema.stream, schema.account
    joined = stream.join(account, account.c.id == stream.c.account)
    asked = select(stream.c.id, stream.c.pair, account.c.name).select_from(joined)
    return {id: (k, name) for id, k, name in conn.execute(asked)}


def _check_numbers(conn: Connection, result: Replay) -> None:
    number = schema.event.c.n
    count, first, last = conn.execute(
        select(func.count(), func.min(number), func.max(number)).select_from(schema.event)
    ).one()
    if count == 0 or (first, last) == (1, count):
        return
    expected = 1
    for n in conn.execute(select(number).order_by(number)).scalars():
        if n != expected:
            result.tell(f"event {expected} of the log is missing; {n} comes in its place")
        expected = n + 1


def _folded(
    conn: Connection,
    streams: dict[int, tuple[int, str]],
    share: Share,
    result: Replay,
    tell: Callable[[int], None] | None,
) -> Fold:
    fold = Fold()
    begun: dict[int, Folded] = {}
    broken: set[int] = set()
    cursor = conn.connection.cursor()  # plain tuples: there may be millions
    if share.of == 1:
        cursor.execute(f"{_LOG} ORDER BY n")
    else:
        project = next((id for id, (k, _) in streams.items() if k == 0), 0)
        wanted = f"stream % {share.of} = {share.part} OR stream = {project}"
        cursor.execute(f"{_LOG} WHERE {wanted} ORDER BY n")
    while part := cursor.fetchmany(_BATCH):
        for stream, seq, kind, below, data in part:
            try:
                folded = begun.get(stream)
                if folded is not None:
                    folded.add(seq, kind, below, data)
                elif stream not in broken:
                    key = _key(streams, stream)
                    fold.add(key, seq, kind, below, data)
                    if key[0]:
                        begun[stream] = fold.stream(key)
            except ProjectError as problem:
                result.tell(str(problem))
                broken.add(stream)
                begun.pop(stream, None)
        result.events += len(part)
        if tell is not None:
            tell(len(part))
    if not share.first:
        result.events -= fold.seq
    return fold


def _key(streams: dict[int, tuple[int, str]], stream: int) -> tuple[int, str]:
    if stream not in streams:
        raise ProjectError(f"events are in stream {stream}, which there is not")
    return streams[stream]


def _stream_tables(
    fold: Fold, streams: dict[int, tuple[int, str]], share: Share
) -> Iterator[tuple[Table, list[dict[str, Any]], set[tuple[Any, ...]]]]:
    names = {name: id for id, name in enumerate(["", *fold.accounts])}
    rows, counts = [], []
    others: tuple[set[tuple[Any, ...]], set[tuple[Any, ...]]] = set(), set()
    for id, (k, name) in streams.items():
        account = names.get(name)
        if not share.has(id):
            others[0].add((id,))
            others[1].add((account, k))
            continue
        state = PairState(seq=fold.seq)
        if k:
            folded = fold.streams.get((k, name))
            state = folded.state if folded is not None else PairState()
        rows.append({"id": id, "pair": k, "account": account, **stream_row(state)})
        if k:
            counts.append({"account": account, "pair": k, **count_row(state)})
    yield schema.stream, rows, others[0]
    yield schema.pair_counts, counts, others[1]


def _compare(
    conn: Connection,
    table: Table,
    rows: Iterable[dict[str, Any]],
    others: set[tuple[Any, ...]],
    result: Replay,
) -> None:
    key = table.primary_key.columns.keys()
    wanted = {tuple(row[name] for name in key): row for row in rows}
    for stored in conn.execute(select(table)).mappings():
        place = tuple(stored[name] for name in key)
        if place in others:
            continue
        named = f"{table.name} {', '.join(map(str, place))}"
        row = wanted.pop(place, None)
        if row is None:
            result.tell(f"{named}: is stored, but not in the log")
            continue
        for name, value in row.items():
            if stored[name] != value:
                result.tell(
                    f"{named}: {name} is stored as {_cut(stored[name])}; the log comes to "
                    f"{_cut(value)}"
                )
    for place in wanted:
        result.tell(f"{table.name} {', '.join(map(str, place))}: is in the log, but not stored")


def _cut(value: object) -> str:
    text = repr(value)
    return text if len(text) < 80 else f"{text[:77]}..."
