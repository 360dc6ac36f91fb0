"""Follow which pairs are done, whose links of them are learned from, and who goes on where."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from alignkit.alignment import Alignment
from alignkit.annotate.log.conversion import annotation_of
from alignkit.annotate.log.state import decode_state
from alignkit.annotate.tables import queries, schema
from alignkit.sentence_pair import SentencePair

TAUGHT = "done"
"""The annotator whose the links are that are learned from."""


class DoneWork:
    """What is done in a project, as of event `n`; read once, then only what has changed."""

    def __init__(self) -> None:
        self.n = 0
        self.pairs: dict[int, SentencePair] = {}
        self.opened: set[int] = set()
        self.last: dict[int, int] = {}
        self._teachers: set[int] = set()

    def refresh(self, conn: Connection) -> None:
        """Read what has changed."""
        n = queries.last_n(conn)
        if n == self.n:
            return
        event, stream = schema.event.c, schema.stream.c
        columns = stream.pair, stream.account, event.sent != ""
        asked = select(*columns).where(event.stream == stream.id, event.n > self.n)
        changed: set[int] = set()
        for k, account, sent in conn.execute(asked.order_by(event.n)):
            changed.add(k)
            if sent:
                self.opened.add(k)
                self.last[account] = k
        gold = queries.account_of(conn, queries.gold_name(conn)) if _has_gold(conn) else 0
        teachers = {gold, *self.last, *_assigned(conn)} - {0}
        if teachers != self._teachers:
            self._teachers = teachers
            self._read(conn, None, gold)
        else:
            self._read(conn, sorted(changed - {0}), gold)
        self.n = n

    def _read(self, conn: Connection, some: Sequence[int] | None, gold: int) -> None:
        if some is None:
            self.pairs.clear()
        for part in [None] if some is None else queries.portions(some):
            for k in part or ():
                self.pairs.pop(k, None)
            said = self._said(conn, part, gold)
            for row in queries.pair_rows(conn, said):
                links = put_together(said[row.k])
                pair = SentencePair(str(row.k), row.source, row.target, {TAUGHT: links})
                self.pairs[row.k] = pair

    def _said(
        self, conn: Connection, some: Sequence[int] | None, gold: int
    ) -> dict[int, list[Alignment]]:
        stream, counts = schema.stream.c, schema.pair_counts.c
        own = (counts.account == stream.account) & (counts.pair == stream.pair)
        asked = select(stream.pair, stream.account, stream.state).where(
            own, counts.done.is_(True), stream.account.in_(sorted(self._teachers))
        )
        if some is not None:
            asked = asked.where(stream.pair.in_(some))
        alignments: dict[int, list[Alignment]] = {}
        decided: dict[int, list[Alignment]] = {}
        for k, account, text in conn.execute(asked.order_by(stream.account)):
            said = annotation_of(decode_state(text))
            if said is not None and said.alignment is not None:
                teaching = decided if account == gold else alignments
                teaching.setdefault(k, []).append(said.alignment)
        return alignments | decided


def put_together(alignments: Sequence[Alignment]) -> Alignment:
    """Return what several annotators have linked, as one alignment to learn suggestions from.

    To be suggested, and so sure here, is what more than half have linked, sure or possible: who
    has to draw it is spared that. Whatever else anybody has linked is possible.

    Examples
    --------
    >>> put_together([Alignment.parse("0-0 1-1"), Alignment.parse("0-0 1?1 2-2")])
    Alignment('0-0 1-1 2?2')
    """
    possible = {link for links in alignments for link in links}
    sure = [
        link
        for link in possible
        if 2 * sum(link in links for links in alignments) > len(alignments)
    ]
    return Alignment(sure, possible)


def _has_gold(conn: Connection) -> bool:
    return queries.gold_name(conn) in queries.annotators(conn)


def _assigned(conn: Connection) -> set[int]:
    return set(conn.execute(select(schema.assignment.c.account).distinct()).scalars())
