"""List the pairs of an annotator: those assigned, in their order; all, where nobody has any.

An annotator whom nothing is assigned to has no pairs, as soon as somebody has some.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import Connection, FromClause, Select, and_, bindparam, func, literal, or_, select

from alignkit.annotate.errors import UnknownPair
from alignkit.annotate.log.events import Event
from alignkit.annotate.tables import schema
from alignkit.annotate.tables.queries import EVENT, count_pairs, event_of, words_of
from alignkit.annotate.tables.views import Queue, QueueRow

# statements that are asked for each request: to make one takes longer than to ask it
_pair, _row = schema.pair.c, schema.assignment.c
_of = _row.account == bindparam("of")
_THERE = select(_pair.k, literal(True)).where(_pair.k == bindparam("k"))
_ASSIGNED = select(_row.place, _row.shown).where(_of, _row.pair == bindparam("k"))
_ANY = select(_row.pair).limit(1)


def _neighbours(k: Any, place: Any, *conditions: Any) -> Select[Any]:
    here: Any = bindparam("place")
    before = select(k).where(place < here, *conditions).order_by(place.desc()).limit(1)
    after = select(k).where(place > here, *conditions).order_by(place).limit(1)
    return select(before.scalar_subquery(), after.scalar_subquery())


_NEAR = _neighbours(_row.pair, _row.place, _of)
_BESIDE = _neighbours(_pair.k, _pair.k, _pair.k > 0)


class Place(NamedTuple):
    """Where a pair stands in a list, its neighbours, and whether suggestions are shown."""

    place: int
    shown: bool
    previous: int | None
    next: int | None


class PairList:
    """Ask for the pairs of an annotator, in order."""

    def __init__(self, conn: Connection, account: int, *, everything: bool = False) -> None:
        self._conn, self._account = conn, account
        self.assigned = not everything and has_assignments(conn)

    @cached_property
    def _own(self) -> FromClause:
        pair, table = schema.pair.c, schema.assignment.c
        if not self.assigned:
            columns = pair.k.label("k"), pair.k.label("place"), literal(True).label("shown")
            return select(*columns).where(pair.k > 0).subquery("own")
        named = table.pair.label("k"), table.place, table.shown
        return select(*named).where(table.account == self._account).subquery("own")

    def check(self, k: int) -> None:
        """Check that a pair is in the list."""
        if self._at(k) is None:
            raise UnknownPair(k, None if self.assigned else count_pairs(self._conn))

    def _at(self, k: int) -> Any:
        if not 0 < k < 2**31:
            return None
        asked = _ASSIGNED if self.assigned else _THERE
        return self._conn.execute(asked, {"of": self._account, "k": k}).first()

    def place(self, k: int) -> Place:
        """Return where a pair stands."""
        self.check(k)
        place, shown = self._at(k)
        near = _NEAR if self.assigned else _BESIDE
        asked = self._conn.execute(near, {"of": self._account, "place": place}).one()
        return Place(place, bool(shown), *asked)

    def count(self) -> int:
        """Return how many pairs are in the list."""
        if not self.assigned:
            return count_pairs(self._conn)
        asked = select(func.count()).select_from(self._own)
        return int(self._conn.execute(asked).scalar() or 0)

    def numbers(self) -> set[int]:
        """Return the numbers of all pairs in the list."""
        return set(self._conn.execute(select(self._own.c.k)).scalars())

    def count_done(self) -> int:
        """Return how many of them the annotator has done."""
        counts = schema.pair_counts.c
        asked = select(func.count()).where(counts.account == self._account, counts.done.is_(True))
        if self.assigned:
            asked = asked.where(counts.pair == self._own.c.k)
        return int(self._conn.execute(asked).scalar() or 0)

    def next_open(self, place: int) -> int | None:
        """Return the next pair that is not done, from the first again after the last."""
        own, counts = self._own.c, schema.pair_counts.c
        done = (
            select(counts.pair)
            .where(counts.account == self._account, counts.pair == own.k, counts.done.is_(True))
            .exists()
        )
        for side in (own.place > place, own.place < place):
            asked = select(own.k).where(side, ~done).order_by(own.place).limit(1)
            number = self._conn.execute(asked).scalar()
            if number is not None:
                return int(number)
        return None

    def queue(self, after: int, limit: int) -> Queue:
        """Return a part of the list: what is behind a place."""
        asked = self._rows().where(self._own.c.place > max(after, 0)).limit(limit)
        rows = [QueueRow(*row) for row in self._conn.execute(asked)]
        return Queue(rows, self.count(), self.count_done())

    def find(self, query: str, limit: int) -> Queue:
        """Return the pairs whose id, words or own comments hold a text, in any case."""
        pair, stream, text = schema.pair.c, schema.stream.c, schema.pair_text.c
        wanted = query.casefold()
        asked = (
            self._rows()
            .add_columns(text.source, text.target)
            .join(schema.pair_text, and_(text.pair == pair.k, text.rev == pair.rev))
            .outerjoin(schema.stream, and_(stream.pair == pair.k, stream.account == self._account))
            .where(
                or_(
                    pair.search.contains(wanted, autoescape=True),
                    stream.notes.contains(wanted, autoescape=True),
                )
            )
            .limit(limit)
        )
        rows = [
            QueueRow(
                k, id, done, links, notes, " ".join((*words_of(source), "/", *words_of(target)))
            )
            for k, id, done, links, notes, source, target in self._conn.execute(asked)
        ]
        return Queue(rows, len(rows), self.count_done())

    def _rows(self) -> Select[Any]:
        pair, own, counts = schema.pair, self._own, schema.pair_counts
        mine = and_(counts.c.pair == pair.c.k, counts.c.account == self._account)
        joined = own.join(pair, pair.c.k == own.c.k).outerjoin(counts, mine)
        columns = (
            pair.c.k,
            pair.c.id,
            func.coalesce(counts.c.done, False),
            func.coalesce(counts.c.links, 0),
            func.coalesce(counts.c.comments, 0),
        )
        return select(*columns).select_from(joined).order_by(own.c.place)

    def changes(self, n: int, limit: int) -> list[tuple[int, Event]]:
        """Return the annotator's events behind a number of the project, each with its pair."""
        event, stream, own = schema.event, schema.stream, self._own
        joined = event.join(stream, event.c.stream == stream.c.id).join(
            own, own.c.k == stream.c.pair
        )
        asked = (
            select(stream.c.pair, *EVENT)
            .select_from(joined)
            .where(event.c.n > n, stream.c.account == self._account)
            .order_by(event.c.n)
            .limit(limit)
        )
        return [(row[0], event_of(row[1:])) for row in self._conn.execute(asked)]


def has_assignments(conn: Connection) -> bool:
    """Return whether any pair of the project is assigned to anybody."""
    return conn.execute(_ANY).first() is not None
