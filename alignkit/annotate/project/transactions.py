"""Read and write a project's database; what many threads write at a time is committed at once."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import msgspec
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, NoResultFound, SQLAlchemyError

from alignkit.annotate.project import engines
from alignkit.annotate.project.names import DamagedProject, DatabaseAway, ProjectError
from alignkit.errors import AlignkitError

T = TypeVar("T")
_SAVEPOINT = engines.Prepared(sa.text("SAVEPOINT turn"))
_MOST = 64  # requests in a commit


class _Turn(NamedTuple):
    """Work that waits for a transaction, and what becomes of it."""

    work: Callable[[sa.Connection], Any]
    future: Future[Any]


class Transactions:
    """The connections to a project's database."""

    engine: sa.Engine
    copied = False
    """Whether it is a plain copy of a file in use."""
    is_old = False
    """Whether it is of an earlier version: only its log can be read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._writing = Lock()
        self._waiting: deque[_Turn] = deque()
        self._queueing = Lock()  # held while turns come to those that wait, or leave them
        self._writer = ThreadPoolExecutor(1, "writer")

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Open a connection that sees one state of the project."""
        with self._refusing(), engines.reading(self.engine) as conn:
            yield conn

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Open a connection that commits all of its work at once; one writer at a time."""
        with self._refusing(), self._writing:
            self._prepare()
            with engines.writing(self.engine) as conn:
                yield conn

    def _prepare(self) -> None:
        """Do what is needed before a transaction."""

    def later(self, work: Callable[[sa.Connection], T]) -> Future[T]:
        """Do work in a transaction, perhaps twice, with what else waits; it is committed then."""
        turn = _Turn(work, Future())
        turn.future.set_running_or_notify_cancel()  # nobody can cancel it
        with self._queueing:
            try:
                self._writer.submit(self._write)
            except RuntimeError:
                raise ProjectError(f"{self.path}: is being closed; try again") from None
            self._waiting.append(turn)  # only what was accepted: an earlier write may take it
        return turn.future

    def _write(self) -> None:
        """Do the work that waits, as much as goes into one transaction."""
        with self._queueing:
            number = min(_MOST, len(self._waiting))
            turns = [self._waiting.popleft() for _ in range(number)]
        if turns:
            self._commit(turns)

    def _commit(self, turns: list[_Turn]) -> None:
        """Do the work of turns in one transaction, and give them their results after it.

        Work that an AlignkitError ends is undone alone. After any other error each turn gets a
        transaction of its own, so that only that of the faulty work fails.
        """
        if len(turns) == 1:
            self._commit_one(turns[0])
            return
        ends: list[Callable[[], None]] = []
        try:
            with self.writing() as conn:
                for work, future in turns:
                    _SAVEPOINT(conn)  # within that of the turn before, in less time than beside it
                    try:
                        ends.append(partial(future.set_result, work(conn)))
                    except AlignkitError as problem:
                        conn.exec_driver_sql("ROLLBACK TO SAVEPOINT turn")
                        ends.append(partial(future.set_exception, problem))
        except BaseException as problem:
            fault_of_work = isinstance(problem, Exception) and not isinstance(problem, DatabaseAway)
            for turn in turns:
                if fault_of_work:
                    self._commit_one(turn)
                else:
                    turn.future.set_exception(problem)
            return
        for end in ends:
            end()

    def _commit_one(self, turn: _Turn) -> None:
        """Do the work of one turn in a transaction of its own."""
        try:
            with self.writing() as conn:
                result = turn.work(conn)
        except BaseException as problem:
            turn.future.set_exception(problem)
        else:
            turn.future.set_result(result)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Turn the errors of the database and of broken content into those of a project."""
        try:
            yield
        except DBAPIError as problem:
            raise self._refusal(problem) from None
        except NoResultFound:
            raise DamagedProject(self.path, "a row is missing") from None
        except (SQLAlchemyError, sqlite3.Error) as problem:
            raise self._refusal(problem) from None
        except msgspec.DecodeError as problem:  # what clients send is decoded elsewhere
            raise DamagedProject(self.path, str(problem)) from None

    def _refusal(self, problem: Exception) -> ProjectError:
        """Return the error that explains what the database reports."""
        raise NotImplementedError

    def faults(self) -> list[str]:
        """Return what is damaged in the file, as far as the database can tell."""
        return []

    def mark(self) -> None:
        """Mark the project as in use."""

    def unmark(self) -> None:
        """Mark the project as closed."""

    def accept(self) -> None:
        """Go on with a copy that may lack edits, and do not ask again."""

    def close(self) -> None:
        """Close all connections, after what is being written."""
        self._writer.shutdown()
        engines.close(self.engine)
