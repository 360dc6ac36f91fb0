"""Rebuild a project from its log, check it against its log, copy it and back it up.

If the log is long, a second process folds half of the streams; see `replay_share`.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import islice, pairwise, zip_longest
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Table, func, insert, or_, select

from alignkit.annotate.project import fold as folding
from alignkit.annotate.project import schema
from alignkit.annotate.project.database import ServerLock, copy_database, is_project
from alignkit.annotate.project.events import LogEvent, encode
from alignkit.annotate.project.names import ProjectError, is_url, shown_place
from alignkit.annotate.project.places import beside, new_project, refuse_existing
from alignkit.annotate.project.queries import last_n
from alignkit.annotate.project.state import PairState
from alignkit.annotate.project.store import Store

_ROWS = 10_000  # rows that are written at once


def build_project(place: str, log: Iterable[LogEvent]) -> None:
    """Write a new project that has these events."""
    with beside(place) as there, new_project(there) as conn:
        write_log(conn, log)


def write_log(conn: Connection, log: Iterable[LogEvent]) -> None:
    """Write a log into empty tables, and what follows from it."""
    fold = folding.Fold()
    streams: dict[tuple[int, str], int] = {}
    ids: set[str] = set()
    last = 0
    events = iter(log)
    while some := list(islice(events, _ROWS)):
        rows = []
        for event in some:
            key = event.k, event.annotator
            fold.add(key, event.seq, event.kind, event.below, event.data)
            if event.n <= last or event.id in ids:
                raise ProjectError(f"event {event.n}: its number or id is used twice")
            last = event.n
            ids.add(event.id)
            rows.append(folding.event_row(event, streams.setdefault(key, len(streams) + 1)))
        into = insert(schema.event_table)
        if conn.dialect.name == "sqlite":  # in less time, as tuples: rows have all columns in order
            text = str(into.compile(dialect=conn.dialect))
            conn.exec_driver_sql(text, [tuple(row.values()) for row in rows])
        else:
            conn.execute(into, rows)
    if not fold.setting.key or not fold.pairs:
        raise ProjectError("the log has no project: its first events, of pair 0, are missing")
    for k, name in streams:
        if name and name not in fold.accounts:
            raise ProjectError(f"annotator {name!r} has events, but no account")
        if k and k not in fold.pairs:
            raise ProjectError(f"pair {k} has events, but no words")
    numbered = {id: key for key, id in streams.items()}
    for table, table_rows in (*folding.project_tables(fold), *_stream_tables(fold, numbered)):
        left = iter(table_rows)
        while part := list(islice(left, _ROWS)):
            conn.execute(insert(table), part)


def _stream_tables(
    fold: folding.Fold, streams: dict[int, tuple[int, str]]
) -> Iterator[tuple[Table, list[dict[str, Any]]]]:
    """Yield the tables of streams with their rows, given the pair and annotator of each."""
    accounts = {name: id for id, name in enumerate(["", *fold.accounts])}
    rows = []
    counts = []
    for id, (k, name) in streams.items():
        place = {"pair": k, "account": accounts.get(name)}
        folded = fold.streams.get((k, name))
        if folded is not None:
            state = folded.state
        else:
            state = PairState(seq=0 if k else fold.seq)
        rows.append({"id": id, **place, **folding.stream_row(state)})
        if k:
            counts.append({**place, **folding.count_row(state)})
    yield schema.stream, rows
    yield schema.pair_counts, counts


_MOST = 1000
_BATCH = 1000  # rows that stay in the cache of the processor
_LONG = 150_000  # events: to fold half of them takes longer than to start a process
_event = schema.event_table.c
_LOG = select(_event.stream, _event.seq, _event.kind, _event.below, _event.data).order_by(_event.n)
_CODE = (
    "import sys; part, of, *sys.path[:] = sys.argv[1:]; "
    "from alignkit.annotate.project.replay import main; main(int(part), int(of), sys.stdin.read())"
)


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
    if processes is None:
        with store.database.reading() as conn:
            if last_n(conn) > _LONG and (os.cpu_count() or 1) > 1:
                processes = 2
            else:
                processes = 1
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
        command = [sys.executable, "-c", _CODE, *map(str, share), *filter(None, sys.path)]
        pipe = subprocess.PIPE
        nowhere = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere)
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
        stream = schema.stream.c
        account = schema.account.c
        asked = select(stream.id, stream.pair, account.name).where(account.id == stream.account)
        streams = {id: (k, name) for id, k, name in conn.execute(asked)}
        own = {id: key for id, key in streams.items() if id % share.of == share.part}
        if first:
            _check_numbers(conn, result)
        fold = _folded(conn, streams, share, result, tell)
        result.streams = sum(k > 0 for k, _ in own.values())
        if first:
            for table, rows in folding.project_tables(fold):
                _compare(conn, table, rows, set(), result)
        accounts = {name: id for id, name in enumerate(["", *fold.accounts])}
        left = [(id, k, accounts.get(name)) for id, (k, name) in streams.items() if id not in own]
        others: dict[Table, set[tuple[Any, ...]]] = {
            schema.stream: {(id,) for id, *_ in left},
            schema.pair_counts: {(account, k) for _, k, account in left},
        }
        for table, rows in _stream_tables(fold, own):
            _compare(conn, table, rows, others[table], result)
        for line in damage.result() if damage is not None else ():
            result.add(f"the file is damaged: {line}")
    return result


def _check_numbers(conn: Connection, result: Replay) -> None:
    number = schema.event_table.c.n
    asked = select(func.count(), func.min(number), func.max(number))
    count, first, last = conn.execute(asked).one()
    if count == 0 or (first, last) == (1, count):
        return
    for before, n in pairwise([0, *conn.execute(select(number).order_by(number)).scalars()]):
        if n != before + 1:
            result.add(f"event {before + 1} of the log is missing; {n} comes in its place")


def _folded(
    conn: Connection,
    streams: dict[int, tuple[int, str]],
    share: ReplayShare,
    result: Replay,
    tell: Callable[[int], None] | None,
) -> folding.Fold:
    fold = folding.Fold()
    begun: dict[int, folding.Folded] = {}
    broken: set[int] = set()
    asked = _LOG.execution_options(yield_per=_BATCH)
    if share.of > 1:
        project = next((id for id, (k, _) in streams.items() if k == 0), 0)
        own = _event.stream % share.of == share.part
        asked = asked.where(or_(own, _event.stream == project))
    for part in conn.execute(asked).partitions():
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
                    if key[0]:
                        begun[stream] = fold.stream(key)
            except ProjectError as problem:
                result.add(str(problem))
                broken.add(stream)
                begun.pop(stream, None)
        result.events += len(part)
        if tell is not None:
            tell(len(part))
    if share.part:
        result.events -= fold.seq
    return fold


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
            result.add(f"{named}: is stored, but not in the log")
            continue
        for name, value in row.items():
            if stored[name] != value:
                texts = map(repr, (stored[name], value))
                here, there = (x if len(x) < 80 else f"{x[:77]}..." for x in texts)
                result.add(f"{named}: {name} is stored as {here}; the log gives {there}")
    for place in wanted:
        result.add(f"{table.name} {', '.join(map(str, place))}: is in the log, but not stored")


# Copies

_NEW = "CREATE TABLE in_use (inode TEXT NOT NULL PRIMARY KEY)"  # earlier versions have none
_WITHOUT = *(f"DROP TABLE IF EXISTS {name}" for name in ("session", "plan", "in_use")), _NEW


def copy_project(source: Store, place: str) -> int:
    """Write a project with the same log at another place; return the number of its events."""
    refuse_existing(place)
    _check(source, source.path)
    with beside(place) as there:
        return _copied(source, there)


def _copied(source: Store, place: str) -> int:
    with new_project(place) as conn:
        write_log(conn, source.log())
    with Store.open(place, readonly=True, log=True) as copy:
        events = _check(copy, place)
        logs = islice(source.log(), events), copy.log()
        if any(encode(a) != encode(b) for a, b in zip_longest(*logs)):
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
            return _copied(source, there)
        copy_database(source.path, there, *_WITHOUT)
        with Store.open(there, readonly=True, log=True) as copy:
            return _check(copy, source.path)


def _refuse_other(source: Store, file: str) -> None:
    """Refuse to replace what is no backup of the project, or the project itself."""
    if is_project(file) and (is_url(source.path) or not os.path.samefile(source.path, file)):
        ServerLock(file).release()  # nobody has it open
        with Store.open(file, readonly=True) as before:
            if before.project().key == source.project().key:
                return
    raise ProjectError(f"{file}: exists, and is no backup of this project; name another file")


def _check(store: Store, place: str) -> int:
    replayed = replay(store)
    if replayed.differences:
        raise ProjectError(
            f"{shown_place(place)}: differs from its log ({replayed.differences[0]}); nothing was "
            "saved; see `alignkit project log PROJECT --check`"
        )
    return replayed.events
