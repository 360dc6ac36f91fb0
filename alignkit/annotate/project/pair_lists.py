"""The list of pairs of an annotator: all pairs of a project, or those that are assigned.

A list is in the order of places. It can be searched, and knows the next pair that is not done.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import sqlalchemy as sa
from msgspec import Struct

from alignkit.annotate.project import names, queries, schema
from alignkit.annotate.project.engines import Condition, Prepared
from alignkit.annotate.project.events import Event
from alignkit.annotate.project.queries import PairRow, StreamRow
from alignkit.annotate.project.schema import (
    ACCOUNT,
    ASSIGNMENT,
    COUNTS,
    EVENT,
    EVENT_IS_IN_STREAM,
    IS_DONE,
    PAIR,
    PAIR_TEXT,
    PROJECT,
    STREAM,
)
from alignkit.annotate.project.state import PairState

_MOST_CHANGES = 2000


_IS_ASSIGNED_TO_GIVEN = ASSIGNMENT.account == sa.bindparam("of")


class QueueRow(Struct, omit_defaults=True):
    """A row of the list of pairs."""

    k: int
    id: str
    done: bool
    links: int
    comments: int
    text: str = ""


class Queue(Struct):
    """A part of the list of pairs; `total` is the number in the whole list."""

    pairs: list[QueueRow]
    total: int
    done: int


_IS_DONE_BY_GIVEN = sa.and_(COUNTS.account == sa.bindparam("of"), IS_DONE)
_COUNT_DONE = sa.select(sa.func.count(COUNTS.pair)).where(_IS_DONE_BY_GIVEN)


class _ListStatements:
    """The statements for a list of pairs, which asks of the annotator `of` and the place `place`.

    `k`, `place` and `shown` are the columns of the list: the number of a pair, its place, and
    whether suggestions are shown. `listed` is the condition for being in it.
    """

    def __init__(self, k: Any, place: Any, shown: Any, listed: Condition) -> None:
        given: Any = sa.bindparam("place")
        before = sa.select(k).where(place < given, listed).order_by(place.desc()).limit(1)
        after = sa.select(k).where(place > given, listed).order_by(place).limit(1)
        first = sa.select(k).where(place < given, listed).order_by(place).limit(1)
        is_open = ~sa.select(COUNTS.pair).where(_IS_DONE_BY_GIVEN, COUNTS.pair == k).exists()
        number = sa.select(sa.func.count(k)).where(listed)
        self.place = Prepared(sa.select(place, shown).where(listed, k == sa.bindparam("k")))
        self.neighbours = Prepared(sa.select(before.scalar_subquery(), after.scalar_subquery()))
        self.open_after = Prepared(after.where(is_open))
        self.first_open = Prepared(first.where(is_open))
        self.rank = Prepared(number.where(place <= given))
        self.count = Prepared(number)


_ALL_PAIRS = _ListStatements(PAIR.k, PAIR.k, sa.literal(True), PAIR.k > 0)
_ASSIGNED_PAIRS = _ListStatements(
    ASSIGNMENT.pair, ASSIGNMENT.place, ASSIGNMENT.shown, _IS_ASSIGNED_TO_GIVEN
)
_COUNT_ALL_DONE = Prepared(_COUNT_DONE)
_COUNT_ASSIGNED_DONE = Prepared(
    _COUNT_DONE.where(COUNTS.pair == ASSIGNMENT.pair, _IS_ASSIGNED_TO_GIVEN)
)
_CHANGES_AFTER = (
    sa.select(STREAM.pair, *queries.EVENT_COLUMNS)
    # + 0: the few events after a number are looked through, not all of the annotator's streams
    .where(EVENT.stream + 0 == STREAM.id, STREAM.pair > 0)
    .where(STREAM.account == sa.bindparam("account"), EVENT.n > sa.bindparam("after"))
    .order_by(EVENT.n)
    .limit(sa.bindparam("most"))
)
_SELECT_ALL_CHANGES = Prepared(_CHANGES_AFTER)
_SELECT_ASSIGNED_CHANGES = Prepared(
    _CHANGES_AFTER.where(ASSIGNMENT.account == STREAM.account, ASSIGNMENT.pair == STREAM.pair)
)


class PairList:
    """The pairs of an annotator, in order."""

    def __init__(self, conn: sa.Connection, account: int, *, everything: bool = False) -> None:
        self._conn = conn
        self._account = account
        self.assigned = not everything and queries.has_assignments(conn)
        self._statements = _ASSIGNED_PAIRS if self.assigned else _ALL_PAIRS

    @cached_property
    def _listed(self) -> sa.FromClause:
        """The number `k` and the place of each pair in the list, as a subquery."""
        if not self.assigned:
            all_pairs = sa.select(PAIR.k.label("k"), PAIR.k.label("place"))
            return all_pairs.where(PAIR.k > 0).subquery("own")
        assigned = sa.select(ASSIGNMENT.pair.label("k"), ASSIGNMENT.place)
        return assigned.where(ASSIGNMENT.account == self._account).subquery("own")

    def check(self, k: int) -> Any:
        """Check that a pair is in the list; return its place, and whether suggestions are shown."""
        if 0 < k < queries.END_OF_NUMBERS:
            row = self._statements.place.first(self._conn, of=self._account, k=k)
            if row is not None:
                return row
            if self.assigned and self._was_assigned(k):
                raise names.MovedPair(k)
        raise names.UnknownPair(k, None if self.assigned else queries.count_pairs(self._conn))

    def _was_assigned(self, k: int) -> bool:
        """Return whether a pair was taken away from the annotator."""
        query = sa.select(ACCOUNT.name).where(ACCOUNT.id == self._account)
        name = self._conn.execute(query).scalar()
        return any((k, name) in event.gone for event in queries.assignments(self._conn))

    def place(self, k: int) -> tuple[queries.ListPlace, bool]:
        """Return where a pair stands in the list, and whether suggestions are shown."""
        place, shown = self.check(k)
        rank = place
        if self.assigned:  # where pairs were taken away, places have gaps
            rank = self._first(_ASSIGNED_PAIRS.rank, place)[0]
        previous, following = self._first(self._statements.neighbours, place)
        done = self.count_done()
        pairs = self.count()
        next_open = None
        if done < pairs:
            next_open = self.next_open(place)
        listed = queries.ListPlace(pairs, done, rank, previous, following, next_open)
        return listed, bool(shown)

    def count(self) -> int:
        """Return how many pairs are in the list."""
        if not self.assigned:
            return queries.count_pairs(self._conn)
        return int(self._first(_ASSIGNED_PAIRS.count)[0])

    def numbers(self) -> set[int]:
        """Return the numbers of all pairs in the list."""
        return set(self._conn.execute(sa.select(self._listed.c.k)).scalars())

    def count_done(self) -> int:
        """Return how many of them the annotator has done."""
        statement = _COUNT_ASSIGNED_DONE if self.assigned else _COUNT_ALL_DONE
        return int(self._first(statement)[0])

    def next_open(self, place: int) -> int | None:
        """Return the next pair that is not done, from the first again after the last."""
        for statement in (self._statements.open_after, self._statements.first_open):
            row = self._first(statement, place)
            if row is not None:
                return int(row[0])
        return None

    def _first(self, statement: Prepared, place: int = 0) -> Any:
        """Return the first row of a statement of the list."""
        return statement.first(self._conn, of=self._account, place=place)

    def queue(self, after: int, limit: int, query: str = "", only: str = "") -> Queue:
        """Return a part of the list, or of the pairs in it that a search and a filter leave."""
        listed = self._listed
        own_counts = sa.and_(COUNTS.pair == PAIR.k, COUNTS.account == self._account)
        own_stream = sa.and_(STREAM.pair == PAIR.k, STREAM.account == self._account)
        joined = (
            listed.join(schema.pair, PAIR.k == listed.c.k)
            .outerjoin(schema.pair_counts, own_counts)
            .join(schema.pair_text, queries.TEXT_IS_PRESENT)
            .outerjoin(schema.stream, own_stream)
        )
        columns = (
            PAIR.k,
            PAIR.id,
            sa.func.coalesce(COUNTS.done, False),
            sa.func.coalesce(COUNTS.links, 0),
            sa.func.coalesce(COUNTS.comments, 0),
            PAIR_TEXT.source,
            PAIR_TEXT.target,
        )
        conditions = [*_containing(query), *_filtered(only)]
        part = (
            sa.select(*columns)
            .select_from(joined)
            .where(*conditions)
            .order_by(PAIR.id != query, listed.c.place)  # the pair with just this id first
            .offset(max(after, 0))
            .limit(limit)
        )
        rows = []
        for k, id, done, links, comments, source, target in self._conn.execute(part):
            text = " ".join((*queries.words_of(source), "/", *queries.words_of(target)))
            rows.append(QueueRow(k, id, done, links, comments, text))
        if conditions:
            number = sa.select(sa.func.count()).select_from(joined).where(*conditions)
            total = self._conn.execute(number).scalar() or 0
        else:
            total = self.count()
        return Queue(rows, int(total), self.count_done())

    def changes(self, n: int) -> tuple[int, list[tuple[int, Event]]]:
        """Return the annotator's events after a number, each with its pair, and up to which."""
        statement = _SELECT_ASSIGNED_CHANGES if self.assigned else _SELECT_ALL_CHANGES
        rows = statement(self._conn, after=n, account=self._account, most=_MOST_CHANGES)
        changes = [(k, queries.event_of(columns)) for k, *columns in rows]
        if len(changes) < _MOST_CHANGES:
            return queries.last_n(self._conn), changes
        _, last_event = changes[-1]
        return last_event.n, changes


def _containing(query: str) -> list[Condition]:
    """Return what a search asks: id, words or comments contain a text, ignoring case."""
    if not query:
        return []
    text = query.casefold()
    in_pair = PAIR.search.contains(text, autoescape=True)
    in_comments = STREAM.notes.contains(text, autoescape=True)
    return [sa.or_(in_pair, in_comments)]


def _filtered(only: str, actor: str | None = None) -> list[Condition]:
    """Return what a filter asks of a stream, and `mine` of the events that somebody sent."""
    if only == "mine":
        sent = [EVENT_IS_IN_STREAM, EVENT.kind != "open"]
        if actor is not None:
            sent.append(EVENT.actor == actor)
        return [sa.select(EVENT.n).where(*sent).correlate(schema.stream).exists()]
    conditions = {
        "open": COUNTS.done.is_not(True),
        "done": IS_DONE,
        "flagged": STREAM.state.contains('"flags":["'),
        "commented": STREAM.notes != "",
    }
    return [conditions[only]] if only else []


def pairs_with(conn: sa.Connection, query: str, only: str, actor: str) -> set[int]:
    """Return the pairs that a search and a filter leave, of all streams; `mine`: decided by one."""
    pairs = (
        sa.select(PAIR.k)
        .select_from(schema.pair.outerjoin(schema.stream, STREAM.pair == PAIR.k))
        .where(*_containing(query), *_filtered(only, actor))
    )
    if only == "mine":
        gold = sa.select(ACCOUNT.id).where(ACCOUNT.name == queries.gold_name(conn))
        pairs = pairs.where(STREAM.account == gold.scalar_subquery())
    return set(conn.execute(pairs).scalars())


# One pair


class OwnPair(NamedTuple):
    """A pair of an annotator, with all that is needed to add to the work on it."""

    account: int  # the number of the annotator
    pair: PairRow
    stream: StreamRow  # of the annotator on this pair
    n: int  # the last event of the project
    sent: dict[str, tuple[int, str]]
    """The stream and digest of the event that was asked for by its id, if it is stored."""


_sent_event = schema.event_table.alias()
_OWN_STREAM = sa.and_(STREAM.account == ACCOUNT.id, STREAM.pair == PAIR.k)
_OWN_ASSIGNMENT = sa.and_(ASSIGNMENT.account == ACCOUNT.id, ASSIGNMENT.pair == PAIR.k)
_SELECT_OWN_PAIR = Prepared(
    sa.select(
        ACCOUNT.id,
        *queries.STREAM_COLUMNS,
        sa.or_(ASSIGNMENT.pair.is_not(None), PROJECT.assigning == ""),
        queries.LAST_NUMBER.scalar_subquery(),
        _sent_event.c.id,
        _sent_event.c.stream,
        _sent_event.c.sent,
        *queries.PAIR_COLUMNS,
    )
    .select_from(
        queries.PAIRS_WITH_TEXTS.join(schema.account, queries.HAS_GIVEN_NAME)
        .join(schema.project, sa.true())
        .outerjoin(_sent_event, _sent_event.c.id == sa.bindparam("id"))
        .outerjoin(schema.stream, _OWN_STREAM)
        .outerjoin(schema.assignment, _OWN_ASSIGNMENT)
    )
    .where(queries.PAIR_IS_GIVEN)
)
"""All that `own_pair` returns, and whether the pair is in the annotator's list, in one row."""


def own_pair(
    conn: sa.Connection, k: int, name: str, *, everything: bool = False, id: str = ""
) -> OwnPair:
    """Return a pair of an annotator's list, or any."""
    row = None
    if 0 < k < queries.END_OF_NUMBERS:
        row = _SELECT_OWN_PAIR.first(conn, k=k, name=name, id=id)
    if row is None:
        _refuse(conn, k, name, everything=everything)
    pair_columns = row[-len(queries.PAIR_COLUMNS) :]
    account, *stored, is_listed, n, sent_id, sent_stream, digest = row[: -len(queries.PAIR_COLUMNS)]
    if not (everything or is_listed):
        _refuse(conn, k, name, everything=everything)
    if not everything and queries.must_train(conn, account):
        raise names.NotTrained()
    pair = queries.read_pair(pair_columns)
    sent = {}
    if sent_id:
        sent[sent_id] = sent_stream, digest
    stream_id, *_ = stored
    if stream_id:
        stream = queries.read_stream(stored, pair)
    else:  # nothing was sent yet
        stream = StreamRow(None, PairState(rev=pair.rev))
    return OwnPair(account, pair, stream, n or 0, sent)


def _refuse(conn: sa.Connection, k: int, name: str, *, everything: bool) -> NoReturn:
    """Refuse a pair that is not in an annotator's list, and say why."""
    PairList(conn, queries.account_of(conn, name), everything=everything).check(k)
    raise names.UnknownPair(k, queries.count_pairs(conn))
