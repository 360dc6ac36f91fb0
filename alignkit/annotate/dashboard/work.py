"""The finished work of a project: who is compared, what is done, and whether that has changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from alignkit.annotate.adjudication.adjudication_queue import settled_pairs
from alignkit.annotate.project import queries, schema

_IDLE = ("account", "suggest", "training", "answer", "admit")
"""Kinds of events of a project that change no finished work."""

Words = tuple[str, ...]

_assignment = schema.assignment.c
_counts = schema.pair_counts.c
_event = schema.event_table.c
_stream = schema.stream.c


class Compared(NamedTuple):
    """The annotators who are compared, by number, and the project's names for the others."""

    annotators: dict[str, int]
    initial: str | None
    gold: str  # the name of the gold standard
    scheme: str  # of the judgments


def compared(conn: Connection) -> Compared:
    """Return the annotators of a project who are compared."""
    info = queries.project_info(conn)
    initial = queries.suggesting(conn)
    having = set(conn.execute(select(_assignment.account).distinct()).scalars())
    others = {info.gold, *queries.sources(conn)}
    names = {
        name: number
        for number, name in enumerate(info.annotators, 1)
        if name not in others and (number in having or not having)
    }
    return Compared(names, initial, info.gold, info.scheme)


class Version(NamedTuple):
    """A mark of the finished work: as long as it is the same, so are all figures but times."""

    finished: int  # the last event of a pair that is done
    number: int  # how many are done, each counted for each annotator
    settings: int  # the last event of the project itself that matters
    initial: str | None


def version_of(conn: Connection) -> Version:
    """Return the mark of the work that is finished now."""
    is_same = (_counts.account == _stream.account) & (_counts.pair == _stream.pair)
    finished = select(func.max(_event.n)).where(
        _event.stream == _stream.id, is_same, _counts.done.is_(True)
    )
    number = select(func.count()).where(_counts.done.is_(True))
    settings = select(func.max(_event.n)).where(
        _event.stream == _stream.id, _stream.pair == 0, _event.kind.not_in(_IDLE)
    )
    return Version(
        conn.execute(finished).scalar() or 0,
        conn.execute(number).scalar() or 0,
        conn.execute(settings).scalar() or 0,
        queries.suggesting(conn),
    )


def done_pairs(conn: Connection) -> dict[int, set[int]]:
    """Return the pairs that each account has marked as done."""
    done: dict[int, set[int]] = {}
    asked = select(_counts.account, _counts.pair).where(_counts.done.is_(True))
    for account, k in conn.execute(asked):
        done.setdefault(account, set()).add(k)
    return done


def assigned_pairs(conn: Connection) -> dict[int, set[int]] | None:
    """Return the pairs that each account was assigned; None if nothing is assigned."""
    if not queries.has_assignments(conn):
        return None
    assigned: dict[int, set[int]] = {}
    for account, k in conn.execute(select(_assignment.account, _assignment.pair)):
        assigned.setdefault(account, set()).add(k)
    return assigned


@dataclass
class Work:
    """The work in a project, as one reading finds it."""

    n: int  # the last event
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
    gold = queries.gold_account(conn)
    decided = set() if gold is None else done.get(gold, set())
    work = Work(
        n=queries.last_n(conn),
        pairs=queries.count_pairs(conn),
        compared=asked,
        done={name: done.get(number, set()) for number, name in accounts.items()},
        assigned=assigned,
        settled=settled_pairs(conn, decided),
    )
    for k, account, state in queries.states(conn, _stream.account.in_(list(accounts))):
        name = accounts[account]
        if state.done and state.judgment:
            work.judged.setdefault(k, {})[name] = (state.judgment, *state.flags)
    return work
