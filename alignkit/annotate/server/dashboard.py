"""The dashboard of a project: figures that a child process computes while pages ask for them.

Nothing is computed unless a page asks. All figures are of one reading of the project, and have its
time. The child starts again when something has changed, at most every 30 seconds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import msgspec

from alignkit.annotate.dashboard.view import DashboardView, FirstView, TimesView
from alignkit.annotate.dashboard.work import Version, version_of
from alignkit.annotate.project import queries
from alignkit.annotate.project.events import now
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.assets import entity_tag
from alignkit.annotate.server.child import ChildProcess, Job
from alignkit.errors import AlignkitError

_REST = 30.0  # seconds from one start of the child to the next, at least
_SHARE = 2.0  # and so many times what it took: it has half a core at most
_CLOSING = 5.0  # seconds to wait for the thread at the end


class Dashboard:
    """The dashboard of a project, and the thread that waits for the child process."""

    def __init__(self, store: Store, learning: Callable[[], str] = str, file: str = "") -> None:
        self._store = store
        self._learning = learning
        self._file = file or store.path
        self._lock = threading.Lock()  # of all that follows
        self._view: DashboardView | None = None
        self._version: Version | None = None  # of the finished work that the figures are of
        self._progress = FirstView(0.0, "", "")
        self._problem = ""
        self._running = False
        self._next = 0.0  # when the child may start again
        self._child: ChildProcess | None = None
        self._thread: threading.Thread | None = None
        self._stopping = False

    def answer(self) -> tuple[bytes, str]:
        """Return the dashboard as JSON, and its ETag; begin to compute it if it is out of date."""
        with self._store.reading() as conn:
            n = queries.last_n(conn)
        with self._lock:
            is_late = self._view is None or self._view.n != n
            rests = time.monotonic() < self._next
            if is_late and not (rests or self._running or self._stopping):
                self._running = True
                self._thread = threading.Thread(target=self._compute, daemon=True)
                self._thread.start()
            body = msgspec.json.encode(self._shown())
        return body, entity_tag(body)

    def _shown(self) -> DashboardView | FirstView:
        """Return the figures with what the server knows of them."""
        if self._view is None:
            return msgspec.structs.replace(self._progress, problem=self._problem)
        return msgspec.structs.replace(
            self._view,
            running=self._running,
            problem=self._problem,
            learning=self._learning(),
        )

    # In a thread

    def _compute(self) -> None:
        """Compute the figures, and note how that ended."""
        began = time.monotonic()
        problem = ""
        try:
            self._ask_child()
        except AlignkitError as error:
            problem = str(error)
        except Exception as fault:
            problem = f"this is a fault in alignkit: {type(fault).__name__}: {fault}"
            raise
        finally:
            with self._lock:
                self._problem = problem
                self._running = False
                self._next = began + max(_REST, _SHARE * (time.monotonic() - began))

    def _ask_child(self) -> None:
        """Let a child process compute the figures; if no finished work is new, only the times."""
        with self._store.reading() as conn:
            version = version_of(conn)
        at = now()
        known = self._view
        only_times = known is not None and version == self._version
        figures = "times" if only_times else "all"
        job = Job(self._store.path, name=self._file, figures=figures)
        child = ChildProcess(job, self._report, lambda _: None)
        with self._lock:
            self._child = child
            if self._stopping:
                child.stop()
        try:
            child.run()
        finally:
            child.close()
        if known is not None and only_times:
            times = msgspec.json.decode(child.result, type=TimesView)
            new = msgspec.structs.replace(known, **msgspec.structs.asdict(times))
        else:
            new = msgspec.json.decode(child.result, type=DashboardView)
        new.at = at
        with self._lock:
            self._view = new
            self._version = version

    def _report(self, step: str, share: float | None) -> None:
        """Note how far the child is."""
        self._progress = FirstView(share or 0.0, step, "")

    def stop(self) -> None:
        """End the thread and the child."""
        with self._lock:
            self._stopping = True
            if self._child is not None:
                self._child.stop()
        self.join(_CLOSING)

    def join(self, timeout: float | None = None) -> None:
        """Wait for the thread."""
        if self._thread is not None:
            self._thread.join(timeout)
