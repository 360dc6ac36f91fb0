"""The dashboard of a project: live figures, and slow figures that are computed on request.

Nothing is computed unless a page asks. The first reading, the intervals and the child process run
in threads; requests get the figures known so far.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

import msgspec

from alignkit.agreement.intervals import Intervals
from alignkit.agreement.options import Draws
from alignkit.annotate.dashboard.live_work import LiveWork
from alignkit.annotate.dashboard.tally import intervals_of
from alignkit.annotate.dashboard.view import Slow, SlowFigures, dashboard_view
from alignkit.annotate.project.events import now
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.assets import entity_tag
from alignkit.annotate.server.child import ChildProcess, Job
from alignkit.errors import AlignkitError

_REST = 30.0  # seconds from one start of the child to the next, at least
_SHARE = 2.0  # and so many times what it took: it has half a core at most
_WAIT = 0.5  # seconds that the first request waits for the first part of the first reading
_CLOSING = 5.0  # seconds to wait for the threads at the end
_OPTIONS = Draws()  # the defaults of `alignkit agree`

Two = tuple[str, str]


class Dashboard:
    """The dashboard of a project, and the threads that compute it."""

    def __init__(self, store: Store, learning: Callable[[], str] = str, file: str = "") -> None:
        self._store = store
        self._learning = learning
        self._file = file or store.path
        self._live = LiveWork()
        self._reading = threading.Lock()  # of `_live`
        self._share: float | None = 0.0  # of the first reading; None when all is read
        self._intervals: dict[Two, tuple[int, Intervals]] = {}
        self._slow = Slow()
        self._next = 0.0
        self._child: ChildProcess | None = None
        self._threads: dict[str, threading.Thread] = {}
        self._starting = threading.Lock()  # of `_threads`, which are all started
        self._stopping = False
        self._body = b""
        self._tag = ""
        self._shown_state: tuple[object, ...] = ()  # what `_body` was made of

    def answer(self) -> tuple[bytes, str]:
        """Return the dashboard as JSON, and its ETag."""
        if self._share is not None:
            reading = self._run("reading", self._read_all)
            if reading is not None and not self._share:
                reading.join(_WAIT)
        if self._share is not None or not self._refreshed():
            progress = {"progress": self._share or 0.0, "problem": self._slow.problem}
            body = msgspec.json.encode(progress)
            return body, entity_tag(body)
        if self._late():
            self._run("intervals", self._draw)
        if self._slow.n != self._live.n and time.monotonic() >= self._next:
            self._run("slow", self._ask_child)
        return self._shown()

    def _refreshed(self) -> bool:
        """Read what has changed; return False if a thread must read everything."""
        with self._reading, self._store.database.reading() as conn:
            if self._live.anew(conn):
                self._share = 0.0
                self._run("reading", self._read_all)
                return False
            self._live.refresh(conn)
        return True

    def _read_all(self) -> None:
        """Read the project for the first time, and note how far that is."""

        def report(share: float) -> None:
            self._share = share
            if self._stopping:
                raise _StoppedError

        with suppress(_StoppedError), self._reading, self._store.database.reading() as conn:
            self._live.refresh(conn, report)
            self._share = None

    # The threads

    def _run(self, name: str, work: Callable[[], None]) -> threading.Thread | None:
        """Run the work in a thread unless it is running; return the thread, None at the end."""

        def quietly() -> None:
            try:
                work()
            except AlignkitError as problem:
                self._slow.problem = str(problem)
            except Exception as fault:
                self._slow.problem = f"this is a fault in alignkit: {type(fault).__name__}: {fault}"
                raise

        with self._starting:
            thread = self._threads.get(name)
            if self._stopping or (thread is not None and thread.is_alive()):
                return thread
            thread = threading.Thread(target=quietly, daemon=True)
            thread.start()
            self._threads[name] = thread
            return thread

    def _late(self) -> list[Two]:
        """Return the pairs of annotators with outdated intervals."""
        late = []
        for two, kept in self._live.tally.twos.items():
            version, _ = self._intervals.get(two, (-1, None))
            if len(kept) and version != kept.version:
                late.append(two)
        return late

    def _draw(self) -> None:
        """Compute the outdated intervals, one after the other; readers are not blocked."""
        late = self._late()
        while late and not self._stopping:
            for two in late:
                with self._reading:
                    kept = self._live.tally.twos.get(two)
                    if kept is None or not len(kept):
                        continue
                    version = kept.version
                    table = kept.table()
                began = time.monotonic()
                self._intervals[two] = version, intervals_of(table, _OPTIONS)
                if self._stopping:
                    return
                time.sleep(min(time.monotonic() - began, 1.0))  # half a core at most
            late = self._late()

    def _ask_child(self) -> None:
        """Let a child process compute the slow figures; without new texts, only the times."""
        began = time.monotonic()
        with self._reading:
            n = self._live.n
            version = self._live.version
            at = now()
        self._slow.running = True
        figures = "times" if version == self._slow.version else "all"
        job = Job(self._store.path, figures=figures)
        self._child = ChildProcess(job, lambda *_: None, lambda _: None)
        if self._stopping:
            self._child.stop()
        try:
            self._child.run()
            new = msgspec.json.decode(self._child.result, type=SlowFigures)
            if new.twos is None:  # the others stay
                new = msgspec.structs.replace(
                    self._slow.figures, paces=new.paces, corrections=new.corrections
                )
            self._slow.figures = new
            self._slow.n = n
            self._slow.version = version
            self._slow.at = at
            self._slow.problem = ""
        finally:
            self._child.close()
            self._slow.running = False
            self._next = began + max(_REST, _SHARE * (time.monotonic() - began))

    def _shown(self) -> tuple[bytes, str]:
        """Return the dashboard as far as it is known, and its ETag; made anew if it changed."""
        slow = self._slow
        with self._reading:
            intervals = dict(self._intervals)
            versions = tuple(sorted((two, version) for two, (version, _) in intervals.items()))
            learning = self._learning()
            state = (self._live.n, versions, slow.at, slow.running, slow.problem, learning)
            if state != self._shown_state:
                with self._store.database.reading() as conn:
                    view = dashboard_view(conn, self._live, intervals, slow, self._file, learning)
                self._body = msgspec.json.encode(view)
                self._shown_state = state
                self._tag = entity_tag(self._body)
            return self._body, self._tag

    def stop(self) -> None:
        """End the threads and the child."""
        self._stopping = True
        if self._child is not None:
            self._child.stop()
        self.join(_CLOSING)

    def join(self, timeout: float | None = None) -> None:
        """Wait for the threads."""
        with self._starting:
            threads = list(self._threads.values())
        for thread in threads:
            thread.join(timeout)


class _StoppedError(Exception):
    """The server is shutting down."""
