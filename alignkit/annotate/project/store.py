"""An open project: all that the server, the commands and tests read and change in it.

All methods may be called from any thread. Each query sees one state of the project; each change is
one transaction, on the disk when the method returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial

from sqlalchemy import Connection

from alignkit.annotate.project import appending, queries
from alignkit.annotate.project.events import Event, Lesson, LogEvent, Request
from alignkit.annotate.project.names import TASKS, ProjectError, check_doubt, check_name
from alignkit.annotate.project.pair_lists import PairList, Queue, own_pair
from alignkit.annotate.project.places import (
    SchemaDatabase,
    SchemaLock,
    open_database,
    take_lock,
)
from alignkit.annotate.project.project_events import Copied, Setting
from alignkit.annotate.project.server_lock import ServerLock
from alignkit.annotate.project.suggestions import shown_suggestions
from alignkit.annotate.project.transactions import Transactions

_MOST_ROWS = 1000


class Store:
    """An open project, made by `open` and closed by `close` or at the end of a `with`."""

    def __init__(self, database: Transactions, lock: ServerLock | SchemaLock | None) -> None:
        self.database = database
        self._lock = lock
        if isinstance(database, SchemaDatabase) and isinstance(lock, SchemaLock):
            database.renew = lock.renew

    @classmethod
    def open(
        cls,
        place: str,
        *,
        serve: bool = False,
        readonly: bool = False,
        lock: ServerLock | SchemaLock | None = None,
        log: bool = False,
        accept_copy: bool = False,
    ) -> Store:
        """Open a project: a file, or a place in PostgreSQL, see `engines`."""
        if serve and lock is None:
            open_database(place, accept_copy=accept_copy).close()  # no project: no lock beside it
            lock = take_lock(place)
        with ExitStack() as undo:
            if lock is not None:
                undo.callback(lock.release)
            database = open_database(place, readonly=readonly, log=log, accept_copy=accept_copy)
            undo.callback(database.close)
            if database.copied and not readonly:
                with database.writing() as conn:
                    appending.append_to_project(conn, Copied())
                database.accept()
            if lock is not None and not readonly:
                database.mark()
            undo.pop_all()
        return cls(database, lock)

    def close(self) -> None:
        """Close the project; a second call does nothing."""
        with suppress(ProjectError):  # else it stays marked as open, which is no harm
            if self._lock is not None:
                self.database.unmark()
        self.database.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reading(self) -> AbstractContextManager[Connection]:
        """Open a connection that sees one state of the project."""
        return self.database.reading()

    def writing(self) -> AbstractContextManager[Connection]:
        """Open a connection that commits all of its work at once; one writer at a time."""
        return self.database.writing()

    @property
    def path(self) -> str:
        """The place of the project."""
        return self.database.path

    def project(self) -> queries.ProjectInfo:
        """Return the description of the project."""
        with self.reading() as conn:
            return queries.project_info(conn)

    def last_n(self) -> int:
        """Return the number of the last event; an earlier version can be asked this, too."""
        with self.reading() as conn:
            return queries.last_n(conn)

    def progress(self, annotator: str, *, everything: bool = False) -> tuple[int, int]:
        """Return how many pairs an annotator has done, and how many there are."""
        with self.reading() as conn:
            own = PairList(conn, queries.account_of(conn, annotator), everything=everything)
            return own.count_done(), own.count()

    def progress_of_all(self) -> list[queries.Progress]:
        """Return the progress of each annotator with assigned pairs, or of everybody."""
        with self.reading() as conn:
            others = queries.not_annotating(conn)
            progress = []
            for account, name in enumerate(queries.annotators(conn), 1):
                own = PairList(conn, account)
                pairs = own.count()
                if pairs and name not in others:
                    progress.append(queries.Progress(name, own.count_done(), pairs))
            return progress

    def check_own(self, k: int, annotator: str) -> None:
        """Check that an annotator may work on a pair: it is assigned to them, or nothing is."""
        with self.reading() as conn:
            PairList(conn, queries.account_of(conn, annotator)).check(k)

    def enrol(self, name: str) -> None:
        """Register an annotator, unless already registered."""
        check_name(name)
        with self.writing() as conn:
            appending.enrolled(conn, name)

    def settings(self, wanted: Setting) -> None:
        """Change settings of the project; those that are None stay."""
        if wanted.gold is not None:
            check_name(wanted.gold)
        if wanted.task not in (None, *TASKS):
            raise ProjectError(f"unknown task {wanted.task!r} (known: {', '.join(TASKS)})")
        check_doubt(wanted.doubt)
        with self.writing() as conn:
            self._settle(conn, wanted)

    def _settle(self, conn: Connection, wanted: Setting) -> None:
        """Append those settings that differ from the present ones."""
        now = queries.settings(conn)
        changes = {}
        for name in wanted.__struct_fields__:
            value = getattr(wanted, name)
            if name != "key" and value is not None and value != getattr(now, name):
                changes[name] = value
        if changes:
            appending.append_to_project(conn, Setting(**changes))

    def pair(self, k: int, annotator: str, *, hide_systems: bool = False) -> queries.PairView:
        """Return a pair as an annotator sees it, with suggestions only if they should be shown."""
        with self.reading() as conn:
            own = own_pair(conn, k, annotator)
            pair = own.pair
            place, shown = PairList(conn, own.account).place(k)
            suggestions = None
            if shown:
                suggestions = shown_suggestions(conn, pair, hide_systems=hide_systems)
            fields = queries.page_fields(pair, place, queries.viewed(conn, own.stream), own.n)
            hidden = not shown and bool(queries.shown_set(conn))
            return queries.PairView(**fields, suggestions=suggestions, hidden=hidden)

    def queue(
        self, annotator: str, *, after: int = 0, limit: int = 200, query: str = "", only: str = ""
    ) -> Queue:
        """Return a part of an annotator's list, or of what a search and a filter leave."""
        with self.reading() as conn:
            own = PairList(conn, queries.account_of(conn, annotator))
            return own.queue(after, min(max(limit, 0), _MOST_ROWS), query[:200], only)

    def append(
        self, k: int, annotator: str, request: Request
    ) -> Future[tuple[queries.Appended, bool]]:
        """Append events to an annotator's stream in a thread: all of them, or none."""
        append = partial(
            appending.append_sent, k=k, annotator=annotator, request=request, actor=annotator
        )
        return self.database.later(append)

    def history(self, k: int, annotator: str) -> list[Event]:
        """Return all events of a stream, in order."""
        with self.reading() as conn:
            stream = own_pair(conn, k, annotator, everything=True).stream
            return queries.events_after(conn, stream.id, 0)

    def changes(self, annotator: str, after: int) -> queries.Changes | None:
        """Return an annotator's events after event `after` of the project, or None."""
        with self.reading() as conn:
            own = PairList(conn, queries.account_of(conn, annotator))
            last, rows = own.changes(after)
        if rows:
            return queries.Changes(last, queries.by_pair(rows))
        return None

    def set_suggestions(self, name: str, rows: appending.Rows) -> None:
        """Store a set of suggestions, replacing one of the same name, and show it."""
        with self.writing() as conn:
            appending.put_set(conn, name, rows)
            self._settle(conn, Setting(suggestions=name))

    def add_learned(self, name: str, rows: appending.Rows, lesson: Lesson) -> str:
        """Store and show learned suggestions of some pairs; see `appending.add_learned`."""
        with self.writing() as conn:
            return appending.add_learned(conn, name, rows, lesson)

    def log(self) -> Iterator[LogEvent]:
        """Yield all events, in the order of the project."""
        with self.reading() as conn:
            yield from queries.log_events(conn)
