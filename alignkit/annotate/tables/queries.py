"""Ask the tables of a project: each question once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw
from sqlalchemy import Connection, Select, and_, bindparam, func, literal, or_, select

from alignkit.annotate.errors import UnknownAnnotator, UnknownPair
from alignkit.annotate.log.events import Event, LogEvent
from alignkit.annotate.log.project_events import Suggestion
from alignkit.annotate.log.state import PairState, decode_state
from alignkit.annotate.tables import schema
from alignkit.annotate.tables.views import ProjectInfo, Queue, QueueRow, Suggested
from alignkit.labels import DEFAULT, SCHEMES, Scheme

__all__ = [
    "PairRow",
    "StreamRow",
    "account_of",
    "count_done",
    "count_pairs",
    "event_ids",
    "events_after",
    "find_rows",
    "known_events",
    "known_scheme",
    "last_n",
    "log_events",
    "next_open",
    "pair_log",
    "pair_row",
    "project_info",
    "queue_rows",
    "scheme_of",
    "stack",
    "stream_of",
    "streams_of",
    "suggested",
]

_EVENT = [
    getattr(schema.event.c, name)
    for name in ("id", "seq", "n", "kind", "v", "actor", "at", "client_at", "below", "data")
]
_MOST_PARAMETERS = 500

# statements that imports ask for each stream: to make one takes longer than to ask it
_table, _of = schema.event.c, schema.stream.c
_STREAMS = (
    select(_of.account, _of.id, _of.state, _of.undo_top, _of.redo_top)
    .where(_of.pair == bindparam("k"))
    .order_by(_of.account)
)
_EVENTS_AFTER = (
    select(*_EVENT)
    .where(_table.stream == bindparam("stream"), _table.seq > bindparam("after"))
    .order_by(_table.seq)
)
_PAIR_LOG = (
    select(_of.account, _table.sent, *_EVENT)
    .select_from(schema.event.join(schema.stream, _table.stream == _of.id))
    .where(_of.pair == bindparam("k"))
    .order_by(_of.id, _table.seq)
)
_IDS = select(_table.seq, _table.id).where(
    _table.stream == bindparam("stream"), _table.seq.in_(bindparam("seqs", expanding=True))
)
_KNOWN = select(_table.id, _table.stream, _table.sent).where(
    _table.id.in_(bindparam("ids", expanding=True))
)
_words = msgspec.json.Decoder(list[str]).decode
_attributes = msgspec.json.Decoder(dict[str, str]).decode
_suggestions = msgspec.json.Decoder(list[Suggestion]).decode


class PairRow(NamedTuple):
    """Hold a pair with its words."""

    k: int
    id: str
    rev: int
    attributes: dict[str, str]
    source: list[str]
    target: list[str]


class StreamRow(NamedTuple):
    """Hold a stream and its state; the id is None before its first event."""

    id: int | None
    state: PairState


def account_of(link: Connection, name: str) -> int:
    """Return the number of an annotator.

    Raises
    ------
    UnknownAnnotator
        If there is none of that name.
    """
    table = schema.account.c
    found = link.execute(select(table.id).where(table.name == name, table.id > 0)).scalar()
    if found is None:
        raise UnknownAnnotator(name, annotators(link))
    return int(found)


def annotators(link: Connection) -> list[str]:
    """Return the names of all annotators, in the order of their entry."""
    table = schema.account.c
    return list(link.execute(select(table.name).where(table.id > 0).order_by(table.id)).scalars())


def last_n(link: Connection) -> int:
    """Return the number of the last event."""
    return int(link.execute(select(func.max(schema.event.c.n))).scalar() or 0)


def count_pairs(link: Connection) -> int:
    """Return how many pairs there are; they are numbered without gaps."""
    return int(link.execute(select(func.max(schema.pair.c.k))).scalar() or 0)


def count_done(link: Connection, account: int) -> int:
    """Return how many pairs an annotator has done."""
    table = schema.pair_counts.c
    asked = select(func.count()).where(table.account == account, table.done.is_(True))
    return int(link.execute(asked).scalar() or 0)


def project_info(link: Connection) -> ProjectInfo:
    """Return what is told of the project."""
    row = link.execute(select(schema.project)).one()
    return ProjectInfo(
        row.name,
        row.key,
        last_n(link),
        count_pairs(link),
        row.threshold,
        row.scheme,
        row.suggestions or None,
        annotators(link),
    )


def scheme_of(link: Connection) -> Scheme | None:
    """Return the scheme by which pairs are judged; None where this alignkit does not know it."""
    return known_scheme(link.execute(select(schema.project.c.scheme)).scalar() or "")


def known_scheme(name: str) -> Scheme | None:
    """Return a scheme, by default the one that pages offer; None if there is none of the name."""
    return SCHEMES.get(name or DEFAULT)


def pair_row(link: Connection, k: int) -> PairRow:
    """Return a pair and its words.

    Raises
    ------
    UnknownPair
        If there is none of that number.
    """
    asked = _pairs().where(schema.pair.c.k == k)
    row = link.execute(asked).first() if 0 < k < 2**31 else None
    if row is None:
        raise UnknownPair(k, count_pairs(link))
    return _pair(row)


def pair_rows(link: Connection) -> Iterator[PairRow]:
    """Yield all pairs with their words, in order."""
    for row in link.execute(_pairs().where(schema.pair.c.k > 0).order_by(schema.pair.c.k)):
        yield _pair(row)


def _pairs() -> Select[Any]:
    pair, text = schema.pair, schema.pair_text
    joined = pair.join(text, and_(text.c.pair == pair.c.k, text.c.rev == pair.c.rev))
    columns = (pair.c.k, pair.c.id, pair.c.rev, pair.c.attributes, text.c.source, text.c.target)
    return select(*columns).select_from(joined)


def _pair(row: Any) -> PairRow:
    k, id, rev, attributes, source, target = row
    return PairRow(k, id, rev, _attributes(attributes), _words(source), _words(target))


def stream_of(link: Connection, account: int, pair: PairRow) -> StreamRow:
    """Return a stream; one without events is in its first state."""
    table = schema.stream.c
    asked = select(table.id, table.state, table.undo_top, table.redo_top)
    row = link.execute(asked.where(table.account == account, table.pair == pair.k)).first()
    if row is None:
        return StreamRow(None, PairState(rev=pair.rev))
    return StreamRow(row[0], decode_state(row[1], row[2], row[3]))


def streams_of(link: Connection, pair: PairRow) -> dict[int, StreamRow]:
    """Return all streams of a pair, by the number of the annotator."""
    rows = link.execute(_STREAMS, {"k": pair.k})
    return {row[0]: StreamRow(row[1], decode_state(*row[2:])) for row in rows}


def pair_log(link: Connection, k: int) -> dict[int, list[tuple[Event, str]]]:
    """Return all events of a pair with their digests, by the number of the annotator."""
    found: dict[int, list[tuple[Event, str]]] = {}
    for row in link.execute(_PAIR_LOG, {"k": k}):
        found.setdefault(row[0], []).append((_event(row[2:]), row[1]))
    return found


def events_after(link: Connection, stream: int | None, seq: int) -> list[Event]:
    """Return the events of a stream behind a number, in order."""
    if stream is None:
        return []
    rows = link.execute(_EVENTS_AFTER, {"stream": stream, "after": seq})
    return [_event(row) for row in rows]


def _event(row: Any) -> Event:
    id, seq, n, kind, v, actor, at, client_at, below, data = row
    return Event(id, seq, n, kind, v, actor, at, client_at, below, Raw(data.encode()))


def event_at(link: Connection, stream: int | None, seq: int) -> Event:
    """Return one event of a stream."""
    table = schema.event.c
    return _event(
        link.execute(select(*_EVENT).where(table.stream == stream, table.seq == seq)).one()
    )


def event_ids(link: Connection, stream: int | None, *seqs: int) -> list[str | None]:
    """Return the ids of events of a stream; None for 0."""
    if not any(seqs):
        return [None for _ in seqs]
    found = {row[0]: row[1] for row in link.execute(_IDS, {"stream": stream, "seqs": seqs})}
    return [found.get(seq) for seq in seqs]


def stack(link: Connection, stream: int | None, top: int, most: int) -> list[Event]:
    """Return an event and those below it, the top first."""
    if not top:
        return []
    table = schema.event
    first = (
        select(table.c.seq, table.c.below, literal(1).label("depth"))
        .where(table.c.stream == stream, table.c.seq == top)
        .cte("stack", recursive=True)
    )
    chain = first.union_all(
        select(table.c.seq, table.c.below, first.c.depth + 1)
        .where(table.c.stream == stream, table.c.seq == first.c.below)
        .where(first.c.depth < most)
    )
    joined = chain.join(table, and_(table.c.stream == stream, table.c.seq == chain.c.seq))
    asked = select(*_EVENT).select_from(joined).order_by(chain.c.depth)
    return [_event(row) for row in link.execute(asked)]


def known_events(link: Connection, ids: Iterable[str]) -> dict[str, tuple[int, str]]:
    """Return the stream and the digest of those events that are there already."""
    wanted, found = list(ids), {}
    for start in range(0, len(wanted), _MOST_PARAMETERS):
        some = wanted[start : start + _MOST_PARAMETERS]
        rows = link.execute(_KNOWN, {"ids": some})
        found.update({row[0]: (row[1], row[2]) for row in rows})
    return found


def next_open(link: Connection, account: int, k: int) -> int | None:
    """Return the next pair that the annotator has not done, from the first again after the last."""
    pair, counts = schema.pair, schema.pair_counts.c
    done = (
        select(counts.pair)
        .where(counts.account == account, counts.pair == pair.c.k, counts.done.is_(True))
        .exists()
    )
    for side in (pair.c.k > k, and_(pair.c.k > 0, pair.c.k < k)):
        found = link.execute(select(pair.c.k).where(side, ~done).order_by(pair.c.k).limit(1))
        number = found.scalar()
        if number is not None:
            return int(number)
    return None


def suggested(link: Connection, k: int) -> Suggested | None:
    """Return the suggestions for a pair of the set that is shown; None where none is shown."""
    name = link.execute(select(schema.project.c.suggestions)).scalar()
    if not name:
        return None
    return Suggested(name, suggestions_of(link, name, k))


def suggestions_of(link: Connection, name: str, k: int) -> list[Suggestion]:
    """Return the suggestions of a set for a pair; none where the set has none."""
    table = schema.suggestion.c
    cells = link.execute(select(table.cells).where(table.set == name, table.pair == k)).scalar()
    return [] if cells is None else _suggestions(cells)


def queue_rows(link: Connection, account: int, after: int, limit: int) -> Queue:
    """Return a part of the list of pairs."""
    asked = _rows(account).where(schema.pair.c.k > max(after, 0)).limit(limit)
    rows = [QueueRow(*row) for row in link.execute(asked)]
    return Queue(rows, count_pairs(link), count_done(link, account))


def find_rows(link: Connection, account: int, query: str, limit: int) -> Queue:
    """Return the pairs whose id, words or comments hold a text, without regard to case."""
    pair, stream, text = schema.pair.c, schema.stream.c, schema.pair_text.c
    wanted = query.casefold()
    asked = (
        _rows(account)
        .add_columns(text.source, text.target)
        .join(schema.pair_text, and_(text.pair == pair.k, text.rev == pair.rev))
        .outerjoin(schema.stream, and_(stream.pair == pair.k, stream.account == account))
        .where(pair.k > 0)
        .where(
            or_(
                pair.search.contains(wanted, autoescape=True),
                stream.notes.contains(wanted, autoescape=True),
            )
        )
        .limit(limit)
    )
    rows = [
        QueueRow(k, id, done, links, comments, " ".join((*_words(source), "/", *_words(target))))
        for k, id, done, links, comments, source, target in link.execute(asked)
    ]
    return Queue(rows, len(rows), count_done(link, account))


def _rows(account: int) -> Select[Any]:
    pair, counts = schema.pair, schema.pair_counts
    joined = pair.outerjoin(counts, and_(counts.c.pair == pair.c.k, counts.c.account == account))
    columns = (
        pair.c.k,
        pair.c.id,
        func.coalesce(counts.c.done, False),
        func.coalesce(counts.c.links, 0),
        func.coalesce(counts.c.comments, 0),
    )
    return select(*columns).select_from(joined).order_by(pair.c.k)


def changes_after(link: Connection, account: int, n: int, limit: int) -> list[tuple[int, Event]]:
    """Return an annotator's events behind a number of the project, each with its pair."""
    event, stream = schema.event, schema.stream
    asked = (
        select(stream.c.pair, *_EVENT)
        .select_from(event.join(stream, event.c.stream == stream.c.id))
        .where(event.c.n > n, stream.c.account == account)
        .order_by(event.c.n)
        .limit(limit)
    )
    return [(row[0], _event(row[1:])) for row in link.execute(asked)]


def log_events(link: Connection) -> Iterator[LogEvent]:
    """Yield the whole log in order, in memory that does not grow."""
    event, stream, account = schema.event, schema.stream, schema.account
    joined = event.join(stream, event.c.stream == stream.c.id).join(
        account, account.c.id == stream.c.account
    )
    asked = (
        select(*_EVENT, stream.c.pair, account.c.name, event.c.sent)
        .select_from(joined)
        .order_by(event.c.n)
        .execution_options(yield_per=1000)
    )
    for row in link.execute(asked):
        id, seq, n, kind, v, actor, at, client_at, below, text, k, name, sent = row
        data = Raw(text.encode())
        yield LogEvent(id, seq, n, kind, v, actor, at, client_at, below, data, k, name, sent)
