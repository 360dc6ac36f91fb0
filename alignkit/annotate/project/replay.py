"""Check a project against its log: fold the log, and compare what follows with all tables.

If the log is long, a second process folds and compares half of the streams; see `ReplayShare`.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Table, func, or_, select

from alignkit.annotate.project import engines, queries, schema, seals, tables
from alignkit.annotate.project.folding import FoldedLog, FoldedStream, StreamKey
from alignkit.annotate.project.names import OldProject, ProjectError
from alignkit.annotate.project.schema import ACCOUNT, EVENT, STREAM, STREAM_IS_OF_ACCOUNT
from alignkit.annotate.project.store import Store

_MOST = 1000  # differences that are listed
_BATCH = 1000  # rows that are read at a time, and stay in the cache of the processor
_LONG = 150_000  # events: to fold half of them takes longer than to start a process
_LOG = select(EVENT.stream, EVENT.seq, EVENT.kind, EVENT.below, EVENT.data).order_by(EVENT.n)
_SCRIPT = """
import sys

part = int(sys.argv[1])
of = int(sys.argv[2])
sys.path[:] = sys.argv[3:]  # before any other import

from alignkit.annotate.project.replay import main

main(part, of, sys.stdin.read())
"""


@dataclass
class Replay:
    """The number of folded events and streams, and the differences from the tables."""

    events: int = 0  # how many there are, also of the project
    streams: int = 0  # how many there are, of pairs
    differences: list[str] = field(default_factory=list)  # what is otherwise, in words
    more: int = 0  # how many differences are not listed

    def add(self, difference: str) -> None:
        """Add a difference."""
        if len(self.differences) < _MOST:
            self.differences.append(difference)
        else:
            self.more += 1

    def joined(self, other: Replay) -> Replay:
        """Return this with the result of another share; duplicates are listed once."""
        differences = list(dict.fromkeys([*self.differences, *other.differences]))
        more = self.more + other.more + len(differences[_MOST:])
        events = self.events + other.events
        streams = self.streams + other.streams
        return Replay(events, streams, differences[:_MOST], more)


class ReplayShare(NamedTuple):
    """The streams that one process checks: every `of`-th; the first process checks all else."""

    part: int
    of: int


WHOLE = ReplayShare(0, 1)


def replay(
    store: Store, *, tell: Callable[[int], None] = lambda _: None, processes: int | None = None
) -> Replay:
    """Fold the log of a project and compare it with all tables."""
    if store.database.is_old:
        raise OldProject(store.path)
    if processes is None:
        with store.reading() as conn:
            is_long = queries.last_n(conn) > _LONG
        processes = 2 if is_long and (os.cpu_count() or 1) > 1 else 1
    if processes == 1:
        return replay_share(store, WHOLE, tell)
    with _helper(store.path, ReplayShare(1, 2)) as wait:
        result = replay_share(store, ReplayShare(0, 2), tell)
        other = wait()
    if other is None:  # it was killed, or there is no room for it
        return result.joined(replay_share(store, ReplayShare(1, 2), tell))
    tell(other.events)
    return result.joined(other)


@contextmanager
def _helper(path: str, share: ReplayShare) -> Iterator[Callable[[], Replay | None]]:
    """Replay a share in another process; the yielded function waits for its result."""
    process: subprocess.Popen[bytes] | None = None
    with suppress(OSError):
        folders = [folder for folder in sys.path if folder]
        command = [sys.executable, "-c", _SCRIPT, str(share.part), str(share.of), *folders]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdin is not None
        process.stdin.write(path.encode())  # which may have a password: no argument
        process.stdin.close()

    def wait() -> Replay | None:
        if process is None or process.stdout is None:
            return None
        output = process.stdout.read()
        if process.wait():
            return None
        return msgspec.json.decode(output, type=Replay)

    try:
        yield wait
    finally:
        if process is not None:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def main(part: int, of: int, path: str) -> None:
    """Replay a share, and print the result as JSON."""
    gc.disable()  # a short life, full of tuples
    with Store.open(path, readonly=True, log=True) as store:
        result = replay_share(store, ReplayShare(part, of))
    sys.stdout.buffer.write(msgspec.json.encode(asdict(result)))


def replay_share(
    store: Store, share: ReplayShare, tell: Callable[[int], None] = lambda _: None
) -> Replay:
    """Do the work of one process; the first also checks everything that is not a stream."""
    result = Replay()
    first = share.part == 0
    with ExitStack() as opened:
        damage = None
        if first:  # in another thread: while SQLite looks for faults, Python goes on
            pool = opened.enter_context(ThreadPoolExecutor(1))
            damage = pool.submit(store.database.faults)
        conn = opened.enter_context(store.reading())
        streams = _stream_keys(conn)
        own = {id: key for id, key in streams.items() if id % share.of == share.part}
        if first:
            _check_numbers(conn, result)
            broken = seals.broken_seal(seals.read_seal(conn), store.log())
            if broken:
                result.add(broken)
        memory = opened.enter_context(engines.in_memory(schema.METADATA))
        fold = FoldedLog(memory)
        _fold_log(fold, conn, streams, share, result, tell)
        result.streams = sum(k > 0 for k, _ in own.values())
        if first:
            for table in tables.PROJECT_TABLES:
                _compare(conn, table, memory.execute(select(table)), set(), result)
        others = _keys_of_others(fold, streams, own)
        for table, rows in fold.stream_tables(own):
            names = table.columns.keys()
            in_order = (tuple(row[name] for name in names) for row in rows)
            _compare(conn, table, in_order, others[table], result)
        if damage is not None:
            for line in damage.result():
                result.add(f"the file is damaged: {line}")
    return result


def _stream_keys(conn: Connection) -> dict[int, StreamKey]:
    """Return the pair and annotator of each stream."""
    query = select(STREAM.id, STREAM.pair, ACCOUNT.name).where(STREAM_IS_OF_ACCOUNT)
    return {id: (k, name) for id, k, name in conn.execute(query)}


def _keys_of_others(
    fold: FoldedLog, streams: Mapping[int, StreamKey], own: Mapping[int, StreamKey]
) -> dict[Table, set[tuple[Any, ...]]]:
    """Return the keys of the rows of streams that another process checks, by table.

    A key has its values in the order of the columns of the primary key, as in `_compare`.
    """
    accounts = fold.account_ids()
    keys: dict[Table, set[tuple[Any, ...]]] = {schema.stream: set(), schema.pair_counts: set()}
    for id, (k, name) in streams.items():
        if id not in own:
            keys[schema.stream].add((id,))
            keys[schema.pair_counts].add((accounts.get(name), k))
    return keys


def _check_numbers(conn: Connection, result: Replay) -> None:
    """Check that the events have the numbers from 1 on."""
    number = EVENT.n
    query = select(func.count(), func.min(number), func.max(number))
    count, first, last = conn.execute(query).one()
    if count == 0 or (first, last) == (1, count):
        return
    numbers = conn.execute(select(number).order_by(number)).scalars()
    for before, n in pairwise([0, *numbers]):
        if n != before + 1:
            result.add(f"event {before + 1} of the log is missing; {n} comes in its place")


def _fold_log(
    fold: FoldedLog,
    conn: Connection,
    streams: dict[int, StreamKey],
    share: ReplayShare,
    result: Replay,
    tell: Callable[[int], None],
) -> None:
    """Fold the streams of a share and that of the project; report those that cannot be folded.

    `begun` are the streams of pairs that have a state, so that most events take a single look-up;
    `broken` are the streams with an event that cannot be folded: those after it are left out.
    """
    begun: dict[int, FoldedStream] = {}
    broken: set[int] = set()
    query = _LOG.execution_options(yield_per=_BATCH)
    if share.of > 1:
        project_stream = next((id for id, (k, _) in streams.items() if k == 0), 0)
        is_own = EVENT.stream % share.of == share.part
        query = query.where(or_(is_own, EVENT.stream == project_stream))
    for part in conn.execute(query).partitions():
        for stream, seq, kind, below, data in part:
            try:
                folded = begun.get(stream)
                if folded is not None:
                    folded.add(seq, kind, below, data)
                elif stream not in broken:
                    if stream not in streams:
                        raise ProjectError(f"events are in stream {stream}, which does not exist")
                    key = streams[stream]
                    fold.add(key, seq, kind, below, data)
                    of_pair, _ = key
                    if of_pair:
                        begun[stream] = fold.stream(key)
            except ProjectError as problem:
                result.add(str(problem))
                broken.add(stream)
                begun.pop(stream, None)
        result.events += len(part)
        tell(len(part))
    if share.part:  # every process folds the stream of the project; the first alone counts it
        result.events -= fold.seq


def _compare(
    conn: Connection,
    table: Table,
    rows: Iterable[Sequence[Any]],
    others: set[tuple[Any, ...]],
    result: Replay,
) -> None:
    """Compare the rows of a table with those that follow from the log, except some keys.

    A row has its values in the order of the columns; those of the primary key are the first.
    """
    length = len(table.primary_key.columns)
    wanted = {tuple(row[:length]): row for row in rows}
    for stored in conn.execute(select(table)):
        key = tuple(stored[:length])
        if key in others:
            continue
        row = wanted.pop(key, None)
        if row is None:
            result.add(f"{_row_name(table, key)}: is stored, but not in the log")
        elif row != stored:
            _add_differences(table, stored, row, result)
    for key in wanted:
        result.add(f"{_row_name(table, key)}: is in the log, but not stored")


def _add_differences(
    table: Table, stored: Sequence[Any], row: Sequence[Any], result: Replay
) -> None:
    """Add the values of a stored row that differ from those that follow from the log."""
    name_of_row = _row_name(table, tuple(row[: len(table.primary_key.columns)]))
    for column, here, there in zip(table.columns, stored, row, strict=True):
        if here != there:
            values = f"{_shortened(here)}; the log gives {_shortened(there)}"
            result.add(f"{name_of_row}: {column.name} is stored as {values}")


def _row_name(table: Table, key: tuple[Any, ...]) -> str:
    return f"{table.name} {', '.join(map(str, key))}"


def _shortened(value: object) -> str:
    """Return a value as a text of at most 80 characters."""
    text = repr(value)
    return text if len(text) < 80 else f"{text[:77]}..."
