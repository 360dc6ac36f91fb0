"""The child processes that work on drafts: they read files in the background, or do a job at once.

One account has one child at a time, and the lab has two; the others wait for their turn. Locks are
taken in this order: the account's, a place of the two, the store's. Nobody who holds the store's
lock waits for another one.
"""

from __future__ import annotations

import threading
from collections import defaultdict

from msgspec import DecodeError, json

from alignkit.annotate.lab.draft_records import (
    DraftJob,
    DraftRecord,
    DraftState,
    DraftStore,
    check_space,
)
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.server.child import ChildKilledError, ChildProcess
from alignkit.annotate.server.security import RefusedError

_AT_ONCE = 2  # child processes of the lab
_MOST_READINGS = 20  # drafts that are being read, or wait for that
_MODULE = "alignkit.annotate.lab.draft_child"
_KILLED = (
    "The files take too much time or memory. Nothing was created. Split them, or import them with "
    "`alignkit project import`."
)


class DraftChildren:
    """The child processes of the drafts in a store, and the threads that have files read."""

    def __init__(self, store: DraftStore) -> None:
        self._store = store
        self._turns: dict[str, threading.Lock] = defaultdict(threading.Lock)  # by account
        self._places = threading.Semaphore(_AT_ONCE)
        # both by the draft's id, and guarded by the store's lock
        self._progress: dict[str, str] = {}  # of drafts that a thread reads, or waits to read
        self._running: dict[str, ChildProcess] = {}

    def progress(self, id: str) -> str:
        """Return how far the reading of a draft is, for people; empty if it has not begun."""
        return self._progress.get(id, "")

    def stop(self, id: str) -> None:
        """Stop the child that works on a draft, if there is one."""
        with self._store.lock:
            if id in self._running:
                self._running[id].stop()

    def stop_all(self) -> None:
        """Stop all children."""
        with self._store.lock:
            for child in self._running.values():
                child.stop()

    def run(self, job: DraftJob) -> bytes:
        """Wait for a turn, do a job in a child process, and return its result.

        A draft that was changed while the job waited is refused; one that is changed or removed
        later has its child stopped, which ends in a `ProjectError` here.
        """
        account = job.record.account
        draft = job.record.draft

        def report(text: str, _: float | None) -> None:
            with self._store.lock:
                if draft.id in self._progress:
                    self._progress[draft.id] = text

        with self._turns[account], self._places:
            with self._store.lock:
                self._store.load_unchanged(account, draft.id, draft.etag)
                child = ChildProcess(job, report, lambda _: None, module=_MODULE)
                self._running[draft.id] = child
            try:
                child.run()
                return child.result
            except (ChildKilledError, DecodeError):  # half a line, if it was killed as it wrote
                raise ProjectError(_KILLED) from None
            finally:
                child.close()
                with self._store.lock:
                    del self._running[draft.id]

    def read_in_background(self, record: DraftRecord) -> None:
        """Begin to read the files of an unread draft, in a thread that reads until it is read.

        Where too many drafts wait, nothing is begun: the page asks for the draft again.
        """
        id = record.draft.id
        with self._store.lock:
            has_thread = id in self._progress
            too_many = len(self._progress) >= _MOST_READINGS
            if has_thread or too_many or record.state is not DraftState.UNREAD:
                return
            self._progress[id] = ""
        threading.Thread(target=self._read, args=[record.account, id], daemon=True).start()

    def _read(self, account: str, id: str) -> None:
        """Read the files of a draft, and again as long as it was changed meanwhile."""
        try:
            record = self._store.load(account, id)
            while record.state is DraftState.UNREAD and not self._store.closed:
                self._read_once(record)
                record = self._store.load(account, id)
        except RefusedError:  # it was removed; the child may have written something since
            self._store.remove(id)
        finally:
            with self._store.lock:
                del self._progress[id]

    def _read_once(self, record: DraftRecord) -> None:
        """Read files, and save the child's record of them, or the problem that ended it.

        Nothing is saved if the draft was changed meanwhile. That stops the child, so the problem
        is then only that it was stopped.
        """
        draft = record.draft
        folder = self._store.path(draft.id)
        try:
            # the child may write all files again, and the pairs
            check_space(self._store.folder, 2 * sum(file.size for file in draft.files))
            result = self.run(DraftJob(str(folder), record))
            outcome = json.decode(result, type=DraftRecord)
        except (ProjectError, RefusedError) as problem:
            outcome = record
            draft.problem = str(problem)
            draft.pairs = 0
        with self._store.lock:
            stored = self._store.load(record.account, draft.id)
            if stored.draft.etag == draft.etag and not self._store.closed:
                outcome.read_etag = draft.etag
                self._store.save(outcome)
