"""Read and write a project's database; what many threads write at a time is committed at once."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import Any, TypeVar, cast

import msgspec
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, NoResultFound, SQLAlchemyError

from alignkit.annotate.project import engines
from alignkit.annotate.project.names import DamagedProject, DatabaseAway, ProjectError
from alignkit.errors import AlignkitError

T = TypeVar("T")
_MOST = 64  # requests in a commit


class _Turn:
    """The work of a thread in a transaction, and its result or error."""

    def __init__(self, work: Callable[[sa.Connection], Any]) -> None:
        self.work = work
        self.called = Event()  # it is done, or its thread is to lead
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None


class Transactions:
    """The connections to a project's database."""

    engine: sa.Engine
    copied = False
    """Whether it is a plain copy of a file in use."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._writing = Lock()
        self._queue = Lock()  # of the next two
        self._waiting: deque[_Turn] = deque()
        self._led = False

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

    def share(self, work: Callable[[sa.Connection], T]) -> T:
        """Do work in a transaction, with what other threads wait to do; return its result.

        The first thread leads: it does all work that waits, each in a savepoint, and commits. An
        error of alignkit undoes the work that raised it, no other. Work may be done twice.
        """
        turn = _Turn(work)
        with self._queue:
            self._waiting.append(turn)
            leads, self._led = not self._led, True
        if not leads:
            turn.called.wait()
        if not turn.done:
            self._lead()
        if turn.error is not None:
            raise turn.error
        return cast("T", turn.result)

    def _lead(self) -> None:
        with self._queue:
            turns = [self._waiting.popleft() for _ in range(min(_MOST, len(self._waiting)))]
        self._do(turns)
        for turn in turns:
            turn.done = True
            turn.called.set()
        with self._queue:
            self._led = bool(self._waiting)
            if self._led:
                self._waiting[0].called.set()

    def _do(self, turns: list[_Turn]) -> None:
        alone = len(turns) == 1
        kept = () if alone else AlignkitError  # errors after which the others go on
        try:
            with self.writing() as conn:
                for turn in turns:
                    turn.error = None
                    if not alone:  # within that of the turn before, in less time than beside it
                        conn.exec_driver_sql("SAVEPOINT turn")
                    try:
                        turn.result = turn.work(conn)
                    except kept as problem:
                        conn.exec_driver_sql("ROLLBACK TO SAVEPOINT turn")
                        turn.error = problem
        except BaseException as problem:
            fault = isinstance(problem, Exception) and not isinstance(problem, DatabaseAway)
            for turn in turns:
                turn.error = problem
                if fault and not alone:  # it is in some of the work
                    self._do([turn])

    @contextmanager
    def _refusing(self) -> Iterator[None]:
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
        raise NotImplementedError

    def faults(self) -> list[str]:
        """Return what is damaged in the file, as far as the database can tell."""
        return []

    def mark(self) -> None:
        """Mark the project as in use."""

    def unmark(self) -> None:
        """Mark the project as closed."""

    def close(self) -> None:
        """Close all connections."""
        engines.close(self.engine)
