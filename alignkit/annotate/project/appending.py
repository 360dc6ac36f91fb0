"""Append events to the log and update the other tables, in one transaction.

Those of streams are collected in a `Batch`. Those of the project are written one by one, and then
applied by `tables.apply`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Raw
from sqlalchemy import Connection, bindparam, insert, select, update

from alignkit.annotate.project import events as log
from alignkit.annotate.project import pair_lists, queries, schema, tables
from alignkit.annotate.project.engines import Prepared, pipelined
from alignkit.annotate.project.names import BadEvent, Conflict, OldText, ProjectError, UnknownPair
from alignkit.annotate.project.project_events import (
    Account,
    ProjectEvent,
    Suggest,
    Suggestion,
    decode_event,
)
from alignkit.annotate.project.queries import Appended, PairRow, StreamRow, last_change
from alignkit.annotate.project.schema import (
    COUNTS,
    EVENT,
    EVENT_IS_IN_STREAM,
    LEARNED_SET,
    PAIR,
    STREAM,
)
from alignkit.annotate.project.state import PairState, completed, inverse, writes


def new_event(
    kind: str,
    actor: str = "",
    *,
    id: str = "",
    seq: int = 0,
    n: int = 0,
    at: str = "",
    client_at: str = "",
    sent: str = "",
) -> log.LogEvent:
    """Return an event of now, unless a time is given; `Writer.add` sets its place and data."""
    return log.LogEvent(
        id=id or str(uuid4()),
        seq=seq,
        n=n,
        kind=kind,
        v=1,
        actor=actor,
        at=at or log.now(),
        client_at=client_at,
        below=0,
        data=Raw(b"{}"),
        sent=sent,
    )


class Batch:
    """The rows of streams and events to write, table by table."""

    def __init__(self, conn: Connection, n: int | None = None) -> None:
        self.conn = conn
        self._rows: dict[str, list[tables.Row]] = {name: [] for name in _WRITES}
        self._n = n  # the last event; None: not read yet
        self._stream: int | None = None  # the last new stream; None: not read yet

    @property
    def n(self) -> int:
        """The number of the last event, including the events in this batch."""
        if self._n is None:
            self._n = queries.last_n(self.conn)
        return self._n

    def put(
        self,
        stream: int | None,
        place: dict[str, int],
        state: PairState,
        events: list[log.LogEvent],
    ) -> int:
        """Add a stream in its present state with its new events, numbered; return its number."""
        for event in events:
            self._n = self.n + 1
            event.n = self._n
        row = tables.stream_row(state)
        counts = tables.count_row(state)
        if stream is None:
            if self._stream is None:
                self._stream = queries.highest(self.conn, STREAM.id)
            self._stream += 1
            stream = self._stream
            self._rows["new stream"].append({"id": stream, **place, **row})
            self._rows["new counts"].append({**place, **counts})
        else:
            self._rows["stream"].append({"_id": stream, **row})
            key = {"_account": place["account"], "_pair": place["pair"]}
            self._rows["counts"].append({**key, **counts})
        self._rows["event"] += [tables.event_row(event, stream) for event in events]
        return stream

    def flush(self) -> None:
        """Write the batch; then others may write."""
        with pipelined(self.conn):
            for name, rows in self._rows.items():
                if rows:
                    _WRITES[name].write(self.conn, rows)
                    rows.clear()
        self._n = None
        self._stream = None


_WRITES = {
    "new stream": Prepared(insert(schema.stream)),
    "new counts": Prepared(insert(schema.pair_counts)),
    "stream": Prepared(update(schema.stream).where(STREAM.id == bindparam("_id"))),
    "counts": Prepared(
        update(schema.pair_counts)
        .where(COUNTS.account == bindparam("_account"))
        .where(COUNTS.pair == bindparam("_pair"))
    ),
    "event": Prepared(insert(schema.event_table)),
}


class Writer:
    """The events to add to one stream; nothing is stored before the batch is flushed."""

    def __init__(
        self, batch: Batch, account: int, annotator: str, pair: PairRow, stream: StreamRow
    ) -> None:
        self._batch = batch
        self._account = account
        self._annotator = annotator
        self._pair = pair
        self.stream = stream.id
        self.state = stream.state
        self._new: dict[int, log.LogEvent] = {}

    def add(self, event: log.LogEvent, data: log.Data) -> None:
        """Add an event with its data, numbered in the stream and in the log."""
        event.seq = self.state.seq + 1
        event.k = self._pair.k
        event.annotator = self._annotator
        self.state.apply(event.kind, data)
        event.below = self.state.push(event.kind, event.seq, lambda seq: self._at(seq).below)
        event.data = Raw(log.encode(data))
        self._new[event.seq] = event

    def back(self, kind: str, data: log.Data) -> log.Data:
        """Return the data that an undo or redo writes."""
        seq = self.state.undo if kind == "undo" else self.state.redo
        top = self._at(seq) if seq else None
        if top is None or top.id != data.of:
            now_top = None if top is None else top.id
            raise Conflict([{"field": kind, "before": data.of, "after": None, "now": now_top}])
        undone = inverse(top.kind, log.decode_data(top.data))
        return msgspec.structs.replace(undone, of=data.of, seen=data.seen)

    def _at(self, seq: int) -> Any:
        return self._new.get(seq) or queries.stack(self._batch.conn, self.stream, seq, 1)[0]

    def added(self) -> list[log.Event]:
        """Return the added events as they are stored."""
        names = log.Event.__struct_fields__
        return [
            log.Event(*(getattr(event, name) for name in names)) for event in self._new.values()
        ]

    def save(self) -> None:
        """Put the events, the snapshot and its counts into the batch."""
        if self._new:
            place = {"account": self._account, "pair": self._pair.k}
            events = list(self._new.values())
            self.stream = self._batch.put(self.stream, place, self.state, events)


def append_sent(
    conn: Connection,
    k: int,
    annotator: str,
    request: log.Request,
    *,
    actor: str,
    prepare: Callable[[Writer, log.Sent, log.Data], None] = lambda *_: None,
) -> tuple[Appended, bool]:
    """Append the events of a client, all or none; return also whether any of them was new."""
    base = request.base
    events = request.events
    is_gold = annotator != actor  # which is assigned to nobody
    account, pair, stream, n, known = pair_lists.own_pair(
        conn, k, annotator, everything=is_gold, id=events[0].id
    )
    if any(sent.kind == "decide" for sent in events) and annotator != queries.gold_name(conn):
        raise BadEvent("decide: only the gold standard has decisions; annotators draw links")
    seq = stream.state.seq
    if len(events) > 1:
        known = queries.known_events(conn, {sent.id for sent in events})
    new = _unknown(events, stream.id, known)
    if new and request.rev != pair.rev:
        raise OldText(pair.rev)
    batch = Batch(conn, n)
    writer = Writer(batch, account, annotator, pair, stream)
    try:
        for sent, digest in new:
            data = _read_sent(conn, pair, sent)
            prepare(writer, sent, data)
            if data.label is not None and sent.kind in ("judge", "decide"):
                _check_label(conn, stream.id, writer.state.judgment, data.label[1])
            if sent.kind in ("undo", "redo"):
                data = writer.back(sent.kind, data)
            data = completed(writer.state, sent.kind, data)
            client_at = "" if sent.client_at is None else str(sent.client_at)
            event = new_event(sent.kind, actor, id=sent.id, client_at=client_at, sent=digest)
            if sent.kind in log.UNDOABLE and not writes(sent.kind, data):
                # another tab did the same: the page has looked, and there is no step to undo
                event.kind = "open"
                data = log.Data(rev=pair.rev, seen=data.seen)
            writer.add(event, data)
    except Conflict as conflict:
        missed = queries.events_after(conn, stream.id, base)
        raise Conflict(conflict.conflicts, seq, missed) from None
    writer.save()
    n = batch.n
    batch.flush()
    added = writer.added()
    missed = added if base == seq else queries.events_after(conn, writer.stream, base)
    undo, redo = _ids_of_tops(conn, writer, added)
    return Appended(writer.state.seq, n, missed, undo, redo), bool(new)


def _read_sent(conn: Connection, pair: PairRow, sent: log.Sent) -> log.Data:
    """Check an event of a client against its pair, and return its content."""
    data = log.read_sent(sent, len(pair.source), len(pair.target))
    if sent.kind == "done" and queries.task_of(conn) == "judge":
        data.how = "judge"
    log.check_extracts(data.extracts, pair.texts)
    return data


def _ids_of_tops(
    conn: Connection, writer: Writer, added: Iterable[log.Event]
) -> tuple[str | None, str | None]:
    """Return the ids of the events that undo and redo would take next."""
    state = writer.state
    ids: dict[int, str | None] = {0: None}
    ids |= {event.seq: event.id for event in added}
    tops = state.undo, state.redo
    if not ids.keys() >= set(tops):
        stored = queries.event_ids(conn, writer.stream, *tops)
        ids |= dict(zip(tops, stored, strict=True))
    return ids[state.undo], ids[state.redo]


def _check_label(conn: Connection, stream: int | None, now: str, label: str) -> None:
    """Refuse a label that is neither of the scheme nor one that the stream has had."""
    scheme = queries.scheme_of(conn)
    if scheme is None or label in ("", log.now, *scheme.values):
        return
    events = queries.events_after(conn, stream, 0)
    if not any(label in (log.decode_data(event.data).label or ()) for event in events):
        raise BadEvent(
            f"label: {label[:40]!r} is not in the scheme {scheme.name}: {scheme.expected}"
        )


def _unknown(
    events: Sequence[log.Sent], stream: int | None, seen: dict[str, tuple[int, str]]
) -> list[tuple[log.Sent, str]]:
    """Return the events that are not stored yet (`seen` are), with their digests."""
    new = []
    for sent in events:
        try:
            body = [sent.kind, sent.v, msgspec.json.decode(sent.data)]
        except log.BROKEN as problem:
            raise BadEvent(f"{sent.kind[:40]}: {problem}") from None
        digest = sha256(msgspec.json.encode(body, order="sorted")).hexdigest()[:32]
        if sent.id not in seen:
            new.append((sent, digest))
            seen[sent.id] = stream or 0, digest
        elif seen[sent.id] != (stream or 0, digest):
            raise BadEvent(f"id {sent.id[:64]!r} is used by another event; each needs its own id")
    return new


_SELECT_PROJECT_STREAM = Prepared(select(STREAM.id, STREAM.seq).where(STREAM.pair == 0))


def append_to_project(conn: Connection, event: ProjectEvent, actor: str = "") -> None:
    """Append an event of pair 0, and apply it to the tables as it is stored.

    It is decoded from the log again, so that it changes the same as when the log is replayed.
    """
    stream, seq = _SELECT_PROJECT_STREAM.first(conn)
    stored = new_event(event.kind, actor, seq=seq + 1, n=queries.last_n(conn) + 1)
    stored.data = Raw(log.encode(event))
    changed = tables.stream_row(PairState(seq=stored.seq))
    _WRITES["event"].write(conn, [tables.event_row(stored, stream)])
    _WRITES["stream"].write(conn, [{"_id": stream, **changed}])
    tables.apply(conn, decode_event(stored.kind, stored.data))


def enrolled(conn: Connection, name: str, role: str = "") -> int:
    """Return the number of an annotator; register the annotator if necessary."""
    known = queries.annotators(conn)
    if name in known:
        return known.index(name) + 1
    append_to_project(conn, Account(name, role))
    return len(known) + 1


def reopen_judged(conn: Connection) -> None:
    """Open again the pairs that were done by judging."""
    batch = Batch(conn)
    names = queries.annotators(conn)
    judged = queries.judged_pairs(conn)
    for pair in queries.pair_rows(conn, {k for k, _ in judged}):
        for account, stream in queries.streams_of(conn, pair).items():
            if (pair.k, account) not in judged or not stream.state.done:
                continue
            writer = Writer(batch, account, names[account - 1], pair, stream)
            before = last_change(queries.events_after(conn, stream.id, 0))
            data = log.Data(done=log.Turn(True, False), how="judge", when=before or "")
            writer.add(new_event("done"), data)
            writer.save()
    batch.flush()


Rows = Iterable[tuple[int, Sequence[Suggestion]]]
"""Suggestions by the number of their pair."""

LEARNED = "learned-"
"""The prefix of the names of learned sets; a number follows."""
_CHUNK = 256


def put_set(conn: Connection, name: str, rows: Rows) -> None:
    """Store a set, replacing one of the same name."""
    lengths = _lengths(queries.pair_rows(conn))
    new = True  # the first event empties the set
    for some in queries.portions(rows, _CHUNK):
        chunk = [(k, _checked(k, cells, lengths)) for k, cells in some]
        append_to_project(conn, Suggest(name, chunk, new))
        new = False
    if new:
        append_to_project(conn, Suggest(name, new=True))


def add_learned(conn: Connection, name: str, rows: Rows, lesson: log.Lesson) -> str:
    """Store learned suggestions of some pairs and show them instead of the old; return the set.

    Without a name they are a new set, which follows the one that is shown. Pairs whose words were
    corrected since the lesson are left out.
    """
    given = dict(rows)
    pairs = [pair for pair in queries.pair_rows(conn, given) if pair.rev == lesson.revs[pair.k]]
    lengths = _lengths(pairs)
    checked = [(k, _checked(k, given[k], lengths)) for k in lengths]
    if not checked:
        return name
    learned = None
    if not name:
        number, parent = _next_learned(conn)
        name = f"{LEARNED}{number}"
        learned = log.LearnedFrom(parent, lesson.pairs, log.now(), lesson.before, lesson.after)
    append_to_project(conn, Suggest(name, checked, learned=learned))
    return name


def _next_learned(conn: Connection) -> tuple[int, str]:
    """Return the number of the next learned set, and the set that it follows.

    It follows the last learned set, unless the project's own set has replaced that everywhere.
    """
    last = conn.execute(
        select(LEARNED_SET.number, LEARNED_SET.set).order_by(LEARNED_SET.number.desc())
    ).first()
    if last is None:
        return 1, queries.shown_set(conn)
    is_shown = select(PAIR.k).where(PAIR.suggested != "").limit(1)
    if conn.execute(is_shown).first() is None:
        return last.number + 1, queries.shown_set(conn)
    return last.number + 1, str(last.set)


def opened(conn: Connection, some: Sequence[int] | None = None) -> set[int]:
    """Return the pairs (of all, or of some) for which any page has sent an event."""
    query = select(STREAM.pair).where(EVENT_IS_IN_STREAM, EVENT.sent != "").distinct()
    if some is None:
        return set(conn.execute(query).scalars())
    pairs: set[int] = set()
    for portion in queries.portions(some):
        pairs.update(conn.execute(query.where(STREAM.pair.in_(portion))).scalars())
    return pairs


def _lengths(pairs: Iterable[PairRow]) -> dict[int, tuple[int, int]]:
    """Return how many words the sides of pairs have."""
    return {pair.k: (len(pair.source), len(pair.target)) for pair in pairs}


def _checked(
    k: int, cells: Sequence[Suggestion], lengths: dict[int, tuple[int, int]]
) -> list[Suggestion]:
    """Return the suggestions of a pair as they are stored; each must be a cell of its words."""
    if k not in lengths:
        raise UnknownPair(k, len(lengths))
    n, m = lengths[k]
    checked = []
    for i, j, p, strength in cells:
        if not (-1 <= i < n and -1 <= j < m) or i == j == -1 or strength not in (1, 2):
            raise ProjectError(f"pair {k}: the suggestion [{i}, {j}, {p}, {strength}] is invalid")
        checked.append((int(i), int(j), None if p is None else float(p), int(strength)))
    return checked
