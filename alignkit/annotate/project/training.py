"""The training rounds of a project: what their events change, and how far annotators are.

Before they work, annotators align pairs whose links are known (gold). Their answers are events of
the project, not work on its pairs: no list, export, figure or vote counts them.

F1 is 2 c / (d + w), over all pairs of an attempt: c links are in the answer and in gold, d are in
the answer, w in gold. Sure and possible links count alike, nulls do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan, nan
from typing import NamedTuple

import msgspec
import sqlalchemy as sa

from alignkit.annotate.project import engines, queries, schema
from alignkit.annotate.project.names import ProjectError, check_pass_mark
from alignkit.annotate.project.project_events import (
    Admit,
    AnswerTraining,
    BeginTraining,
    TrainingPair,
    Value,
)
from alignkit.annotate.project.schema import ANSWER, ENTRY, TRAINING

PASSED = "passed"
BY_HAND = "by hand"
BEGUN = "begun"
HOWS = (PASSED, BY_HAND, BEGUN)
"""Why annotators may work: they passed, an owner let them, or they had begun before the round."""

MOST = 100  # pairs of a round


_read_pairs = msgspec.json.Decoder(list[TrainingPair]).decode
_read_links = msgspec.json.Decoder(list[Value]).decode


class TrainingCounts(NamedTuple):
    """Numbers of links: common to answer and gold, in the answer, and in gold."""

    common: int = 0
    drawn: int = 0
    wanted: int = 0

    @property
    def f1(self) -> float:
        """2 common / (drawn + wanted), from 0 to 1; NaN if neither has a link."""
        if not self.drawn + self.wanted:
            return nan
        return 2 * self.common / (self.drawn + self.wanted)


def known_f1(counts: TrainingCounts) -> float | None:
    """Return F1; None if there is no link."""
    return None if isnan(counts.f1) else counts.f1


def total(counts: Iterable[TrainingCounts]) -> TrainingCounts:
    """Return the sums of counts."""
    common = 0
    drawn = 0
    wanted = 0
    for each in counts:
        common += each.common
        drawn += each.drawn
        wanted += each.wanted
    return TrainingCounts(common, drawn, wanted)


def compared(links: Iterable[Value], gold: Iterable[Value]) -> TrainingCounts:
    """Return the counts of an answer to a pair."""
    drawn = {(i, j) for i, j, _ in links}
    wanted = {(i, j) for i, j, _ in gold}
    return TrainingCounts(len(drawn & wanted), len(drawn), len(wanted))


class RoundInForce(NamedTuple):
    """The training round in force."""

    number: int
    mark: float  # the F1 that passes, above 0, at most 1
    gold: str  # whose links are right
    pairs: list[TrainingPair]


class GivenAnswer(NamedTuple):
    """A stored answer."""

    attempt: int
    place: int
    links: list[Value]
    counts: TrainingCounts
    at: str


class TrainingEntry(NamedTuple):
    """Why an annotator may work: see `HOWS`."""

    how: str
    attempt: int  # the one that passed, else 0
    by: str  # the owner, if by hand
    at: str


class Standing(NamedTuple):
    """How far an annotator is in a round: what was answered, and whether it is over."""

    answers: list[GivenAnswer]  # in order
    entry: TrainingEntry | None

    def of_attempt(self, attempt: int) -> list[GivenAnswer]:
        """Return the answers of an attempt."""
        return [given for given in self.answers if given.attempt == attempt]

    @property
    def last(self) -> int:
        """The number of the last attempt that was begun; 0 if there is none."""
        return self.answers[-1].attempt if self.answers else 0

    def next(self, size: int) -> tuple[int, int]:
        """Return the attempt and the place of the next answer, given the size of the round."""
        done = len(self.of_attempt(self.last))
        if not self.last or done == size:
            return self.last + 1, 1
        return self.last, done + 1


_SELECT_ROUND = engines.Prepared(
    sa.select(TRAINING.number, TRAINING.mark, TRAINING.gold, TRAINING.pairs)
    .order_by(TRAINING.number.desc())
    .limit(1)
)


def round_to_change(conn: sa.Connection) -> RoundInForce:
    """Return the training round in force, which there must be."""
    in_force = present_round(conn)
    if in_force is None:
        raise ProjectError("there is no training round")
    return in_force


def present_round(conn: sa.Connection) -> RoundInForce | None:
    """Return the training round in force; None if there is none."""
    row = _SELECT_ROUND.first(conn)
    if row is None:
        return None
    number, mark, gold, text = row
    pairs = _read_pairs(text)
    if not pairs:
        return None
    return RoundInForce(number, mark, gold, pairs)


def standings(conn: sa.Connection, number: int, account: int | None = None) -> dict[int, Standing]:
    """Return how far annotators (or one of them) are in a round, by account."""
    answers = sa.select(schema.training_answer).where(ANSWER.round == number)
    entries = sa.select(ENTRY.account, ENTRY.how, ENTRY.attempt, ENTRY.by, ENTRY.at)
    entries = entries.where(ENTRY.round == number)
    if account is not None:
        answers = answers.where(ANSWER.account == account)
        entries = entries.where(ENTRY.account == account)
    answers = answers.order_by(ANSWER.account, ANSWER.attempt, ANSWER.place)
    given: dict[int, list[GivenAnswer]] = {}
    for row in conn.execute(answers):
        counts = TrainingCounts(row.common, row.drawn, row.wanted)
        stored = GivenAnswer(row.attempt, row.place, _read_links(row.links), counts, row.at)
        given.setdefault(row.account, []).append(stored)
    entered = {number: TrainingEntry(*entry) for number, *entry in conn.execute(entries)}
    known = given.keys() | entered.keys()
    return {number: Standing(given.get(number, []), entered.get(number)) for number in known}


def standing(conn: sa.Connection, number: int, account: int) -> Standing:
    """Return how far an annotator is in a round."""
    return standings(conn, number, account).get(account, Standing([], None))


def training_pairs(conn: sa.Connection) -> set[int]:
    """Return the pairs that nobody is given to annotate, because they are for training.

    They are the pairs of the round in force, and those of earlier rounds that were answered.
    """
    answered = sa.select(ANSWER.round, ANSWER.place).distinct()
    seen = set(map(tuple, conn.execute(answered)))
    numbers: set[int] = set()
    rounds = conn.execute(sa.select(TRAINING.number, TRAINING.pairs).order_by(TRAINING.number))
    listed = [(number, _read_pairs(text)) for number, text in rounds]
    for number, pairs in listed:
        in_force = number == listed[-1][0]
        for place, pair in enumerate(pairs, 1):
            if pair.k and (in_force or (number, place) in seen):
                numbers.add(pair.k)
    return numbers


# What the events change; `tables.apply` calls these


def begin_round(conn: sa.Connection, event: BeginTraining) -> None:
    """Add a round, with those who need not train because they have begun to work."""
    _check_round(conn, event)
    number = queries.highest(conn, TRAINING.number) + 1
    row = {
        "number": number,
        "size": len(event.pairs),
        "mark": event.mark,
        "gold": event.gold,
        "pairs": msgspec.json.encode(event.pairs).decode(),
    }
    conn.execute(sa.insert(schema.training).values(row))
    for name in event.begun:
        _enter(conn, number, queries.account_of(conn, name), TrainingEntry(BEGUN, 0, "", ""))


def _check_round(conn: sa.Connection, event: BeginTraining) -> None:
    """Refuse a round that nobody could pass, or that has links outside of its sentences."""
    check_pass_mark(event.mark)
    if event.pairs and not any(pair.links for pair in event.pairs):
        raise ProjectError("no training pair has a link in gold; choose others")
    last = queries.count_pairs(conn)
    for place, pair in enumerate(event.pairs, 1):
        if not 0 <= pair.k <= last:
            raise ProjectError(f"training pair {place} is pair {pair.k}, which is unknown")
        _check_links(f"training pair {place}", pair.links, pair)


def _check_links(what: str, links: list[Value], pair: TrainingPair) -> None:
    """Refuse links outside of a sentence, of unknown strength, or given twice."""
    seen = set()
    for i, j, value in links:
        inside = 0 <= i < len(pair.source) and 0 <= j < len(pair.target)
        if not inside or value not in (1, 2) or (i, j) in seen:
            raise ProjectError(f"{what}: the link [{i}, {j}, {value}] is invalid")
        seen.add((i, j))


def add_answer(conn: sa.Connection, event: AnswerTraining) -> None:
    """Add an answer; the last one of an attempt passes the annotator, or does not."""
    now = round_to_change(conn)
    account = queries.account_of(conn, event.annotator)
    known = standing(conn, now.number, account)
    if known.entry is not None:
        raise ProjectError(f"{event.annotator} need not train (any more)")
    wanted = known.next(len(now.pairs))
    if wanted != (event.attempt, event.place):
        raise ProjectError(
            f"pair {event.place} of attempt {event.attempt} is not the next of the training round; "
            f"that is pair {wanted[1]} of attempt {wanted[0]}"
        )
    pair = now.pairs[event.place - 1]
    _check_links("the answer", event.links, pair)
    counts = compared(event.links, pair.links)
    row = {
        "round": now.number,
        "account": account,
        "attempt": event.attempt,
        "place": event.place,
        "links": msgspec.json.encode(event.links).decode(),
        **counts._asdict(),
        "at": event.at,
    }
    conn.execute(sa.insert(schema.training_answer).values(row))
    if event.place == len(now.pairs):
        earlier = [given.counts for given in known.of_attempt(event.attempt)]
        if total([*earlier, counts]).f1 >= now.mark:
            _enter(conn, now.number, account, TrainingEntry(PASSED, event.attempt, "", event.at))


def admit(conn: sa.Connection, event: Admit) -> None:
    """Let an annotator begin without passing, or take that back."""
    now = round_to_change(conn)
    account = queries.account_of(conn, event.annotator)
    entry = standing(conn, now.number, account).entry
    if event.admitted and entry is not None:
        raise ProjectError(f"{event.annotator} may begin already")
    if not event.admitted and (entry is None or entry.how != BY_HAND):
        raise ProjectError(f"{event.annotator} was not let in by hand")
    if event.admitted:
        _enter(conn, now.number, account, TrainingEntry(BY_HAND, 0, event.by, event.at))
        return
    row = sa.delete(schema.training_entry)
    conn.execute(row.where(ENTRY.round == now.number, ENTRY.account == account))


def _enter(conn: sa.Connection, number: int, account: int, entry: TrainingEntry) -> None:
    """Note why an annotator may work."""
    row = {"round": number, "account": account, **entry._asdict()}
    conn.execute(sa.insert(schema.training_entry).values(row))
