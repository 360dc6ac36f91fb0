"""The finished work of a project: who is compared, what is done, and whether that has changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, select

from alignkit.annotate.adjudication.adjudication_queue import settled_pairs
from alignkit.annotate.project import queries
from alignkit.annotate.project.schema import (
    ASSIGNMENT,
    COUNTS,
    COUNTS_ARE_OF_STREAM,
    EVENT,
    EVENT_IS_IN_STREAM,
    IS_DONE,
    STREAM,
)

_IDLE = ("account", "suggest", "training", "answer", "admit")
"""Kinds of events of a project that change no finished work."""

Words = tuple[str, ...]


class Compared(NamedTuple):
    """The annotators who are compared, with their numbers, and the initial alignment."""

    annotators: dict[str, int]
    initial: str | None


def compared(conn: Connection) -> Compared:
    """Return the annotators of a project who are compared."""
    having = set(conn.execute(select(ASSIGNMENT.account).distinct()).scalars())
    others = queries.not_annotating(conn)
    names = {}
    for number, name in enumerate(queries.annotators(conn), 1):
        has_work = number in having or not having
        if has_work and name not in others:
            names[name] = number
    return Compared(names, queries.suggesting(conn))


class Version(NamedTuple):
    """A mark of the finished work: as long as it is the same, so are all figures but times."""

    finished: int  # the last event of a pair that is done
    number: int  # how many are done, each counted for each annotator
    settings: int  # the last event of the project itself that matters
    initial: str | None


def version_of(conn: Connection) -> Version:
    """Return the mark of the work that is finished now."""
    finished = select(func.max(EVENT.n)).where(EVENT_IS_IN_STREAM, COUNTS_ARE_OF_STREAM, IS_DONE)
    number = select(func.count()).where(IS_DONE)
    settings = select(func.max(EVENT.n)).where(
        EVENT_IS_IN_STREAM, STREAM.pair == 0, EVENT.kind.not_in(_IDLE)
    )

    def answer(asked: Select[Any]) -> int:
        return conn.execute(asked).scalar() or 0

    initial = queries.suggesting(conn)
    return Version(answer(finished), answer(number), answer(settings), initial)


def done_pairs(conn: Connection) -> dict[int, set[int]]:
    """Return the pairs that each account has marked as done."""
    return _by_account(conn, select(COUNTS.account, COUNTS.pair).where(IS_DONE))


def assigned_pairs(conn: Connection) -> dict[int, set[int]] | None:
    """Return the pairs that each account was assigned; None if nothing is assigned."""
    if not queries.has_assignments(conn):
        return None
    return _by_account(conn, select(ASSIGNMENT.account, ASSIGNMENT.pair))


def _by_account(conn: Connection, asked: Select[Any]) -> dict[int, set[int]]:
    """Return the pairs of each account, given the statement for both."""
    pairs: dict[int, set[int]] = {}
    for account, k in conn.execute(asked):
        pairs.setdefault(account, set()).add(k)
    return pairs


@dataclass
class Work:
    """The work in a project, as one reading finds it."""

    pairs: int
    compared: Compared
    done: dict[str, set[int]]  # by annotator, also of those who have done nothing
    assigned: dict[str, set[int]] | None
    settled: set[int]  # the pairs that are adjudicated, and no vote is another one since
    judged: dict[int, dict[str, Words]] = field(default_factory=dict)
    """The labels with their flags, by pair and annotator."""

    @property
    def names(self) -> list[str]:
        """The annotators who are compared and have done something."""
        return [name for name in self.compared.annotators if self.done[name]]

    def ready(self, k: int) -> bool:
        """Return whether a pair can be adjudicated: all its annotators are done."""
        if self.assigned is None:
            return True
        return all(k in self.done[name] for name, own in self.assigned.items() if k in own)


def read_work(conn: Connection) -> Work:
    """Read the finished work of a project."""
    asked = compared(conn)
    done = done_pairs(conn)
    accounts = {number: name for name, number in asked.annotators.items()}
    given = assigned_pairs(conn)
    assigned = None
    if given is not None:
        assigned = {name: given.get(number, set()) for number, name in accounts.items()}
    own = {name: done.get(number, set()) for number, name in accounts.items()}
    gold = queries.gold_account(conn) or 0  # 0 has no work on pairs
    settled = settled_pairs(conn, done.get(gold, set()))
    work = Work(queries.count_pairs(conn), asked, own, assigned, settled)
    for k, account, state in queries.states(conn, STREAM.account.in_(list(accounts))):
        name = accounts[account]
        if state.done and state.judgment:
            work.judged.setdefault(k, {})[name] = (state.judgment, *state.flags)
    return work
