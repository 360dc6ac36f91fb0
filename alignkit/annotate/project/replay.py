"""Rebuild a project from its log, check it against its log, copy it and back it up.

If the log is long, a second process folds half of the streams; see `replay_share`.
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
from itertools import islice, pairwise, zip_longest
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Table, func, insert, or_, select

from alignkit.annotate.project import schema, seals, tables
from alignkit.annotate.project.database import (
    ServerLock,
    copy_database,
    first_fault,
    is_project,
)
from alignkit.annotate.project.engines import in_memory
from alignkit.annotate.project.events import BROKEN, LogEvent, decode_data, encode
from alignkit.annotate.project.names import OldProject, ProjectError, is_url, shown_place
from alignkit.annotate.project.places import beside, new_project, refuse_existing
from alignkit.annotate.project.project_events import Texts, decode_event
from alignkit.annotate.project.queries import annotators, last_n
from alignkit.annotate.project.state import PairState
from alignkit.annotate.project.store import Store

_ROWS = 10_000  # rows that are written at once


class FoldedStream:
    """The state of a stream, and the event below each of its events."""

    __slots__ = ("belows", "key", "state")

    def __init__(self, key: tuple[int, str], rev: int) -> None:
        self.key = key
        self.state = PairState(rev=rev)
        self.belows = [0]

    def add(self, seq: int, kind: str, below: int, text: Any) -> None:
        """Apply the next event: number in the stream, kind, event below, and data as JSON."""
        state = self.state
        belows = self.belows
        if seq != state.seq + 1:
            raise self._error(seq, f"does not follow event {state.seq}")
        try:
            state.apply(kind, decode_data(text))
            if below != state.push(kind, seq, belows.__getitem__):
                raise self._error(seq, f"the event below it is not {below}")
        except BROKEN as problem:
            raise self._error(seq, str(problem)) from None
        belows.append(below)

    def _error(self, seq: int, problem: str) -> ProjectError:
        k, annotator = self.key
        return ProjectError(f"event {seq} of {annotator!r} on pair {k}: {problem}")


class FoldedLog:
    """What the events of a log add up to: the project in empty tables, the streams in memory."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn
        self.seq = 0  # the last event of the project
        self.streams: dict[tuple[int, str], FoldedStream] = {}
        self._revs: dict[int, int] = {}  # of pairs with corrected words
        tables.begin(conn)

    def stream(self, key: tuple[int, str]) -> FoldedStream:
        """Return the stream of a pair and an annotator after the events so far."""
        if key not in self.streams:
            k, _ = key
            self.streams[key] = FoldedStream(key, self._revs.get(k, 1))
        return self.streams[key]

    def add(self, key: tuple[int, str], seq: int, kind: str, below: int, data: Any) -> None:
        """Apply the next event of a stream or of the project; see `FoldedStream.add`."""
        k, _ = key
        if k:
            self.stream(key).add(seq, kind, below, data)
            return
        try:
            self._add_to_project(seq, kind, data)
        except ProjectError as problem:
            raise ProjectError(f"event {seq} of the project: {problem}") from None

    def _add_to_project(self, seq: int, kind: str, data: Any) -> None:
        """Apply the next event of the project."""
        if seq != self.seq + 1:
            raise ProjectError(f"does not follow event {self.seq}")
        self.seq = seq
        event = decode_event(kind, data)
        tables.apply(self.conn, event)
        if isinstance(event, Texts):
            for text in event.pairs:
                self._revs[text.k] = text.rev

    def stream_tables(
        self, streams: dict[int, tuple[int, str]]
    ) -> Iterator[tuple[Table, list[dict[str, Any]]]]:
        """Yield the tables of streams with their rows, given the pair and annotator of each."""
        accounts = self.account_ids()
        rows = []
        counts = []
        for id, (k, name) in streams.items():
            place = {"pair": k, "account": accounts.get(name)}
            folded = self.streams.get((k, name))
            if folded is not None:
                state = folded.state
            elif k:
                state = PairState()
            else:
                state = PairState(seq=self.seq)
            rows.append({"id": id, **place, **tables.stream_row(state)})
            if k:
                counts.append({**place, **tables.count_row(state)})
        yield schema.stream, rows
        yield schema.pair_counts, counts

    def account_ids(self) -> dict[str, int]:
        """Return the id of each account: 0 is the project; annotators count as they entered."""
        names = ["", *annotators(self.conn)]
        return {name: id for id, name in enumerate(names)}


def build_project(place: str, log: Iterable[LogEvent]) -> None:
    """Write a new project that has these events."""
    with beside(place) as there, new_project(there) as conn:
        write_log(conn, log)


def write_log(conn: Connection, log: Iterable[LogEvent]) -> None:
    """Write a log into empty tables, and what follows from it."""
    fold = FoldedLog(conn)
    streams: dict[tuple[int, str], int] = {}  # the number of each pair and annotator
    for rows in _portions(_event_rows(log, fold, streams)):
        into = insert(schema.event_table)
        if conn.dialect.name == "sqlite":  # in less time, as tuples: rows have all columns in order
            text = str(into.compile(dialect=conn.dialect))
            conn.exec_driver_sql(text, [tuple(row.values()) for row in rows])
        else:
            conn.execute(into, rows)
    _check_streams(conn, streams)
    keys = {id: key for key, id in streams.items()}
    for table, table_rows in fold.stream_tables(keys):
        for rows in _portions(table_rows):
            conn.execute(insert(table), rows)
    fault = first_fault(conn)  # foreign keys are not checked while a file is filled
    if fault:
        raise ProjectError(f"no project follows from the log: {fault}")


def _check_streams(conn: Connection, streams: Iterable[tuple[int, str]]) -> None:
    """Check that a log has made a project, and the annotators and pairs of its streams."""
    key = conn.execute(select(schema.project.c.key)).scalar()
    pairs = set(conn.execute(select(schema.pair.c.k)).scalars())
    if not key or pairs == {0}:
        raise ProjectError("the log has no project: its first events, of pair 0, are missing")
    accounts = annotators(conn)
    for k, name in streams:
        if name and name not in accounts:
            raise ProjectError(f"annotator {name!r} has events, but no account")
        if k not in pairs:
            raise ProjectError(f"pair {k} has events, but no words")


def _event_rows(
    log: Iterable[LogEvent], fold: FoldedLog, streams: dict[tuple[int, str], int]
) -> Iterator[dict[str, Any]]:
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


def _portions(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield rows, as many at a time as are written at once."""
    left = iter(rows)
    portion = list(islice(left, _ROWS))
    while portion:
        yield portion
        portion = list(islice(left, _ROWS))


_MOST = 1000  # differences that are listed
_BATCH = 1000  # rows that stay in the cache of the processor
_LONG = 150_000  # events: to fold half of them takes longer than to start a process
_event = schema.event_table.c
_LOG = select(_event.stream, _event.seq, _event.kind, _event.below, _event.data).order_by(_event.n)
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

    events: int = 0  # how many there are
    streams: int = 0
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
    store: Store, *, tell: Callable[[int], None] | None = None, processes: int | None = None
) -> Replay:
    """Fold the log of a project and compare it with all tables."""
    if store.database.is_old:
        raise OldProject(store.path)
    if processes is None:
        with store.database.reading() as conn:
            is_long = last_n(conn) > _LONG
        processes = 2 if is_long and (os.cpu_count() or 1) > 1 else 1
    if processes == 1:
        return replay_share(store, WHOLE, tell)
    with _helper(store.path, ReplayShare(1, 2)) as wait:
        result = replay_share(store, ReplayShare(0, 2), tell)
        other = wait()
    if other is None:  # it was killed, or there is no room for it
        return result.joined(replay_share(store, ReplayShare(1, 2), tell))
    if tell is not None:
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
    store: Store, share: ReplayShare = WHOLE, tell: Callable[[int], None] | None = None
) -> Replay:
    """Do the work of one process; the first also checks everything that is not a stream."""
    result = Replay()
    first = share.part == 0
    with ExitStack() as opened:
        damage = None
        if first:  # in SQLite, which needs no Python meanwhile
            pool = opened.enter_context(ThreadPoolExecutor(1))
            damage = pool.submit(store.database.faults)
        conn = opened.enter_context(store.database.reading())
        streams = _stream_keys(conn)
        own = {id: key for id, key in streams.items() if id % share.of == share.part}
        if first:
            _check_numbers(conn, result)
            broken = seals.broken_seal(seals.read_seal(conn), store.log())
            if broken:
                result.add(broken)
        memory = opened.enter_context(in_memory(schema.METADATA))
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


def _stream_keys(conn: Connection) -> dict[int, tuple[int, str]]:
    """Return the pair and annotator of each stream."""
    stream = schema.stream.c
    account = schema.account.c
    query = select(stream.id, stream.pair, account.name).where(account.id == stream.account)
    return {id: (k, name) for id, k, name in conn.execute(query)}


def _keys_of_others(
    fold: FoldedLog, streams: Mapping[int, tuple[int, str]], own: Mapping[int, tuple[int, str]]
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
    number = schema.event_table.c.n
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
    streams: dict[int, tuple[int, str]],
    share: ReplayShare,
    result: Replay,
    tell: Callable[[int], None] | None,
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
        is_own = _event.stream % share.of == share.part
        query = query.where(or_(is_own, _event.stream == project_stream))
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
                    k, _ = key
                    of_project = k == 0
                    if not of_project:
                        begun[stream] = fold.stream(key)
            except ProjectError as problem:
                result.add(str(problem))
                broken.add(stream)
                begun.pop(stream, None)
        result.events += len(part)
        if tell is not None:
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


# Copies

_WITHOUT = (
    "DROP TABLE IF EXISTS session",
    "DROP TABLE IF EXISTS plan",
    "DELETE FROM in_use",
    seals.DROP_SEAL,
)
"""The statements that take the sessions, the mark of use and an earlier seal out of a copy."""


def copy_project(source: Store, place: str) -> int:
    """Write a project with the same log at another place; return the number of its events."""
    refuse_existing(place)
    _check(source, source.path)
    with beside(place) as there:
        return _copy_log(source, there)


def _copy_log(source: Store, place: str) -> int:
    """Write a project with the same log, and compare it; return the number of its events."""
    with new_project(place) as conn:
        write_log(conn, source.log())
    with Store.open(place, readonly=True, log=True) as copy:
        events = _check(copy, place)
        source_log = islice(source.log(), events)
        if any(encode(a) != encode(b) for a, b in zip_longest(source_log, copy.log())):
            raise ProjectError(f"{shown_place(place)}: the copy has another log; delete it")
    return events


def back_up(source: Store, file: str) -> int:
    """Write a project, also one in use, without its sessions as a file; return how many events."""
    if is_url(file):
        raise ProjectError(f"{shown_place(file)}: a backup is a file; see `alignkit project copy`")
    if os.path.lexists(file):
        _refuse_other(source, file)
    with beside(file) as there:
        if is_url(source.path):
            events = _copy_log(source, there)
        else:
            copy_database(source.path, there, *_WITHOUT)
            with Store.open(there, readonly=True, log=True) as copy:
                events = _check(copy, source.path)
        with Store.open(there) as copy:
            seal = seals.seal_of(copy.log())
            with copy.database.writing() as conn:
                seals.write_seal(conn, seal)
        return events


def check_seal(store: Store) -> None:
    """Refuse a backup whose log is not the one with which it was made."""
    with store.database.reading() as conn:
        broken = seals.broken_seal(seals.read_seal(conn), store.log())
    if broken:
        raise ProjectError(f"{shown_place(store.path)}: {broken}")


def _refuse_other(source: Store, file: str) -> None:
    """Refuse to replace what is no backup of the project, or the project itself."""
    if is_project(file) and (is_url(source.path) or not os.path.samefile(source.path, file)):
        ServerLock(file).release()  # nobody has it open
        with Store.open(file, readonly=True, accept_copy=True) as before:
            if before.project().key == source.project().key:
                return
    raise ProjectError(f"{file}: exists, and is no backup of this project; name another file")


def _check(store: Store, place: str) -> int:
    """Check that a project is as its log says; return the number of its events."""
    replayed = replay(store)
    if replayed.differences:
        raise ProjectError(
            f"{shown_place(place)}: differs from its log ({replayed.differences[0]}); nothing was "
            "saved; see `alignkit project log PROJECT --check`"
        )
    return replayed.events
