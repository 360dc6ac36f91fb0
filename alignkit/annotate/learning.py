"""Learn suggestions from the done pairs: whose links count, and for which pairs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from sqlalchemy import Connection, select

from alignkit.align.aligner import Aligner
from alignkit.align.evidence import Annotators
from alignkit.align.supervised.gold import FOLDS, different, is_learnable
from alignkit.align.supervised.learned import ALIGNER, VOTE, WITHOUT
from alignkit.align.supervised.refiner import Refiner
from alignkit.annotate.project import conversion, queries
from alignkit.annotate.project.engines import Condition
from alignkit.annotate.project.events import Lesson
from alignkit.annotate.project.schema import (
    ASSIGNMENT,
    COUNTS_ARE_OF_STREAM,
    EVENT,
    EVENT_IS_IN_STREAM,
    IS_DONE,
    STREAM,
)
from alignkit.model.alignment import Alignment
from alignkit.model.sentence_pair import SentencePair

TAUGHT = "done\n"  # the name under which the links to learn from are stored; no annotator has it


def links_of(
    conn: Connection,
    accounts: Iterable[int],
    some: Sequence[int] | None,
    *conditions: Condition,
) -> Iterator[tuple[int, int, Alignment]]:
    """Yield the pair, annotator and links of work, on all pairs or on some."""
    asked = [STREAM.account.in_(sorted(accounts)), *conditions]
    parts = [asked]
    if some is not None:
        parts = [[*asked, STREAM.pair.in_(numbers)] for numbers in queries.portions(some)]
    for part in parts:
        for k, account, state in queries.states(conn, *part):
            annotation = conversion.annotation_of(state)
            if annotation is not None and annotation.alignment is not None:
                yield k, account, annotation.alignment


def pairs_of(conn: Connection, some: Iterable[int], systems: Annotators) -> list[SentencePair]:
    """Return pairs with the links of systems; their ids are their numbers."""
    wanted = set(chain.from_iterable(systems.values()))
    numbers = sorted(some)
    accounts = enumerate(queries.annotators(conn), 1)
    names = {account: name for account, name in accounts if name in wanted}
    alignments: defaultdict[int, dict[str, Alignment]] = defaultdict(dict)
    if names:
        for k, account, links in links_of(conn, names, numbers):
            alignments[k][names[account]] = links
    rows = queries.pair_rows(conn, numbers)
    return [SentencePair(str(row.k), row.source, row.target, alignments[row.k]) for row in rows]


class DoneWork:
    """The finished work in a project, up to event `n`; read once, then only what has changed."""

    def __init__(self, systems: Annotators | None = None) -> None:
        self._systems = systems or {}
        self.n = 0
        self.pairs: dict[int, SentencePair] = {}  # the done pairs, with the links to learn from
        self.opened: set[int] = set()  # the pairs for which pages have sent anything
        self.last: dict[int, int] = {}  # by account the pair for which it sent something last
        self._teachers: set[int] = set()  # the accounts whose links are learned

    def refresh(self, conn: Connection) -> None:
        """Read what has changed."""
        n = queries.last_n(conn)
        if n == self.n:
            return
        asked = select(STREAM.pair, STREAM.account, EVENT.sent != "").order_by(EVENT.n)
        asked = asked.where(EVENT_IS_IN_STREAM, EVENT.n > self.n)
        changed: set[int] = set()
        for k, account, sent in conn.execute(asked):
            changed.add(k)
            if sent:
                self.opened.add(k)
                self.last[account] = k
        gold = queries.gold_account(conn)
        assigned = conn.execute(select(ASSIGNMENT.account).distinct()).scalars()
        teachers = {*self.last, *assigned}
        if gold is not None:
            teachers.add(gold)
        some = None  # all pairs, for others count now
        if teachers == self._teachers:
            some = sorted(changed - {0})
        self._teachers = teachers
        self._read(conn, some, gold)
        self.n = n

    def _read(self, conn: Connection, some: Sequence[int] | None, gold: int | None) -> None:
        """Read some pairs, or all, with the links to learn from: those of gold if there are any."""
        if some is None:
            self.pairs.clear()
        else:
            for k in some:
                self.pairs.pop(k, None)
        drawn: dict[int, list[Alignment]] = {}
        decided: dict[int, list[Alignment]] = {}
        for k, account, links in links_of(
            conn, self._teachers, some, COUNTS_ARE_OF_STREAM, IS_DONE
        ):
            group = decided if account == gold else drawn
            group.setdefault(k, []).append(links)
        taught = drawn | decided
        for pair in pairs_of(conn, taught, self._systems):
            k = int(pair.id)
            self.pairs[k] = pair.with_annotation(TAUGHT, put_together(taught[k]))


def put_together(alignments: Sequence[Alignment]) -> Alignment:
    """Return the union of all links, as suggestions; links of more than half of them are sure."""
    votes = Counter(chain.from_iterable(alignments))
    sure = [link for link, times in votes.items() if 2 * times > len(alignments)]
    return Alignment(sure, votes)


def pairs_ahead(
    conn: Connection, last: Mapping[int, int], closed: Collection[int], most: int
) -> list[int]:
    """Return the numbers of the pairs that annotators will probably open next."""
    assigned: defaultdict[int, list[int]] = defaultdict(list)
    asked = select(ASSIGNMENT.account, ASSIGNMENT.pair).order_by(
        ASSIGNMENT.account, ASSIGNMENT.place
    )
    for account, k in conn.execute(asked):
        assigned[account].append(k)
    every = range(1, queries.count_pairs(conn) + 1)
    lists: Mapping[int, Sequence[int]] = assigned or dict.fromkeys(last, every)
    ahead: set[int] = set()
    for account, pairs in lists.items():
        at = last.get(account, 0)
        start = pairs.index(at) + 1 if at in pairs else 0
        following = chain(islice(pairs, start, None), islice(pairs, start))
        unclosed = (k for k in following if k not in closed)
        ahead.update(islice(unclosed, most))
    return sorted(ahead)


_STEPS = {10: 5, 100: 10}
"""After how many new pairs learning is validated again, below a number of pairs."""
_LAST_STEP = 20


def _step(pairs: int) -> int:
    """Return after how many new pairs learning from some pairs is validated again."""
    for below, step in _STEPS.items():
        if pairs < below:
            return step
    return _LAST_STEP


class Learner:
    """An aligner that is refined by the done pairs, perhaps with the links of systems."""

    def __init__(self, aligner: Aligner, systems: Annotators | None = None) -> None:
        self._refiner = Refiner.begin(aligner, TAUGHT, evidence=systems)
        self._differs = False  # whether links were suggested otherwise than by the vote
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
        changed = [pair for k, pair in given.items() if pair != self._known.get(k)]
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
        if self._due or self._new >= _step(len(given)):
            self._new = 0
            self._due = False
            self._refiner.validate(threads=1)
        report = self._refiner.report
        assert report is not None
        used = report.used
        before = report.before.value
        after = report.outcome.measure.value
        if report.systems:  # the best is used, whether it was learned or not
            values = {ALIGNER: before}
            for system in report.systems:
                values[system.kind] = system.measure.value
            if report.without is not None:
                values[WITHOUT] = report.without.outcome.measure.value
            before = values[VOTE]
            if not used:
                after = values[report.base]
            used = used or self._differs or report.base != VOTE
            self._differs = used
        return Lesson(len(given), used, report.verdict, before, after)
