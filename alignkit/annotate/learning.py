"""Learn suggestions from the done pairs: whose links count, and for which pairs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, islice

from sqlalchemy import Connection, select

from alignkit.align.aligner import Aligner
from alignkit.align.supervised.gold import FOLDS, different, is_learnable
from alignkit.align.supervised.refiner import Refiner
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.conversion import annotation_of
from alignkit.annotate.project.events import Lesson
from alignkit.annotate.project.state import decode_state
from alignkit.model.alignment import Alignment
from alignkit.model.sentence_pair import SentencePair

TAUGHT = "done"
"""The annotator name under which the links to learn from are stored."""


class DoneWork:
    """The finished work in a project, up to event `n`; read once, then only what has changed."""

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
        event, stream = schema.event_table.c, schema.stream.c
        asked = select(stream.pair, stream.account, event.sent != "").where(
            event.stream == stream.id, event.n > self.n
        )
        changed: set[int] = set()
        for k, account, sent in conn.execute(asked.order_by(event.n)):
            changed.add(k)
            if sent:
                self.opened.add(k)
                self.last[account] = k
        names, name = queries.annotators(conn), queries.gold_name(conn)
        gold = 1 + names.index(name) if name in names else 0
        assigned = conn.execute(select(schema.assignment.c.account).distinct()).scalars()
        teachers = {gold, *self.last, *assigned} - {0}
        some = sorted(changed - {0}) if teachers == self._teachers else None
        self._teachers = teachers
        self._read(conn, some, gold)
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
    """Return the union of all links, as suggestions; links of more than half of them are sure."""
    votes = Counter(link for links in alignments for link in links)
    return Alignment([link for link in votes if 2 * votes[link] > len(alignments)], votes)


def pairs_ahead(
    conn: Connection, last: Mapping[int, int], closed: Collection[int], most: int
) -> list[int]:
    """Return the numbers of the pairs that annotators will probably open next."""
    table = schema.assignment.c
    assigned: defaultdict[int, list[int]] = defaultdict(list)
    asked = select(table.account, table.pair).order_by(table.account, table.place)
    for account, k in conn.execute(asked):
        assigned[account].append(k)
    every = range(1, queries.count_pairs(conn) + 1)
    lists: Mapping[int, Sequence[int]] = assigned or dict.fromkeys(last, every)
    ahead: dict[int, None] = {}
    for account, pairs in lists.items():
        at = last.get(account, 0)
        start = pairs.index(at) + 1 if at in pairs else 0
        order = chain(islice(pairs, start, None), islice(pairs, start))
        ahead |= dict.fromkeys(islice((k for k in order if k not in closed), most))
    return sorted(ahead)


_STEPS = ((10, 5), (100, 10))
_STEP = 20


class Learner:
    """An aligner that is refined by the done pairs."""

    def __init__(self, aligner: Aligner) -> None:
        self._refiner = Refiner.begin(aligner, TAUGHT)
        self._known: dict[int, SentencePair] = {}
        self._new = 0  # pairs since the last cross-validation
        self._due = True

    @property
    def aligner(self) -> Aligner:
        """The aligner in its present state."""
        return self._refiner.aligner

    def learn(self, pairs: Mapping[int, SentencePair]) -> Lesson | None:
        """Learn from all these pairs; return the lesson, None if nothing has changed."""
        given = {k: pair for k, pair in pairs.items() if is_learnable(pair)}
        changed = []
        for k, pair in given.items():
            known = self._known.get(k, pair)
            same = pair.words == known.words and pair.alignment(TAUGHT) == known.alignment(TAUGHT)
            if k not in self._known or not same:
                changed.append(pair)
        gone = self._known.keys() - given.keys()
        if not changed and not gone:
            return None
        self._known = given
        self._new += len(changed)
        if gone:
            self._due = True
            self._refiner.forget([str(k) for k in gone])
        if changed:
            self._refiner.update(changed)
        if different(given.values()) < FOLDS:
            self._due = True
            return Lesson(len(given), verdict=f"learning starts after {FOLDS} done pairs")
        step = next((step for below, step in _STEPS if len(given) < below), _STEP)
        if self._due or self._new >= step:
            self._new, self._due = 0, False
            self._refiner.validate(threads=1)
        report = self._refiner.report
        assert report is not None
        values = report.before.value, report.after.value
        return Lesson(len(given), report.used, report.verdict, *values)
