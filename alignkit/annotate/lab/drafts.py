"""Drafts: uploaded files that become a project, or are imported into one.

What people do with drafts is here, their states at `Drafts`; `draft_records` has what is stored,
`draft_children` the child processes. The names of files are labels only.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO
from unicodedata import normalize

from msgspec import UNSET, json, structs

from alignkit.annotate.lab import bodies, draft_children, file_names
from alignkit.annotate.lab.draft_records import (
    MB,
    MOST,
    DraftJob,
    DraftRecord,
    DraftState,
    DraftStore,
    ImportPairs,
    MakeProject,
    check_space,
)
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.server.answers import direction_of
from alignkit.annotate.server.child import LabEncoder
from alignkit.annotate.server.security import RefusedError, taking

_MOST_OF_FILE = 256 * MB  # bytes
_MOST_FILES = 20  # of a draft
_MOST_DRAFTS = 3  # of an account
_MOST_WAITING = 20  # projects and imports that are being made, or wait for that
_LONGEST_PREVIEW = 2 * MB  # bytes of a pair
_LARGE = "This file is larger than 256 MB. Split it, or import it with `alignkit project import`."


class Drafts:
    """All drafts of a lab, in a folder; methods may be called from any thread.

    A draft has an etag, a number that each change by a person raises (`_changing`), and keeps the
    etag that it had when its files were read. Together with the files they give its `DraftState`:

    - ARRIVING: a file was announced (`add`) that is not there yet.
    - UNREAD: the last file has come (`receive`) or was removed, or something was changed. The
      request that made the change has a thread read the files in a child process; `get` does so,
      too, after a restart, or where too many others waited.
    - READ: that thread has saved what was read. Either the draft is `ready`, or it says why not.

    Every change leads back to ARRIVING or UNREAD, and stops the child that reads what was before.
    A new draft is READ, but not ready. One that is ready can be used (`make`, `bring_in`): a
    project or an import is made in a child, too, and then the draft is removed.

    The store's lock guards every step from one state to another: who takes it loads the record,
    changes and saves it. It is never held while a child works.
    """

    def __init__(self, folder: Path) -> None:
        self._store = DraftStore(folder)
        self._children = draft_children.DraftChildren(self._store)
        self._waiting = threading.BoundedSemaphore(_MOST_WAITING)

    def path(self, id: str) -> Path:
        """Return the folder of a draft."""
        return self._store.path(id)

    @contextmanager
    def _changing(self, account: str, id: str) -> Iterator[DraftRecord]:
        """Yield a record to change; then save it under a new etag, and have its files read.

        After an error inside nothing is saved, and the draft stays as it was: a change may be
        refused after parts of it were made in the record.
        """
        with self._store.lock:
            record = self._store.load(account, id)
            yield record
            record.draft.etag = str(int(record.draft.etag) + 1)
            record.draft.ready = False
            self._store.save(record)
            self._children.stop(id)
            self._children.read_in_background(record)

    def _remove(self, id: str) -> None:
        """Remove a draft, and stop its child."""
        with self._store.lock:
            self._children.stop(id)
            self._store.remove(id)

    def _shown(self, record: DraftRecord) -> bodies.Draft:
        """Return a draft as the page shows it."""
        reading = record.state is not DraftState.READ
        progress = self._children.progress(record.draft.id)
        return structs.replace(record.draft, reading=reading, progress=progress)

    def create(self, account: str, project: str = "") -> bodies.Draft:
        """Make an empty draft; `project` is the one to import into."""
        self.sweep()
        with self._store.lock:
            if len(self.drafts(account)) >= _MOST_DRAFTS:
                raise RefusedError(409, f"You have {_MOST_DRAFTS} drafts. Use or cancel one.")
            draft = bodies.Draft(token_hex(16), "0", project)
            self.path(draft.id).mkdir(mode=0o700)
            self._store.save(DraftRecord(account, time.time(), draft, read_etag=draft.etag))
        return draft

    def drafts(self, account: str) -> list[bodies.Draft]:
        """Return the drafts of an account, the newest first; they are read again as by `get`."""
        with self._store.lock:
            own = [record for record in self._store.records() if record.account == account]
            own.sort(key=lambda record: -record.made)
            for record in own:
                self._children.read_in_background(record)
            return [self._shown(record) for record in own]

    def get(self, account: str, id: str) -> bodies.Draft:
        """Return a draft; its files are read again if that was interrupted."""
        with self._store.lock:
            record = self._store.load(account, id)
            self._children.read_in_background(record)
            return self._shown(record)

    def change(self, account: str, id: str, changes: bodies.ChangeDraft) -> bodies.Draft:
        """Change the task, what files are, options, and choices for findings."""
        with self._changing(account, id) as record:
            for name in ("kinds", "options", "choices"):
                stored = getattr(record, name)
                given = getattr(changes, name)
                stored.update(given)
                longest = max(map(len, [*given, *given.values()]), default=0)
                if len(stored) > 50 or longest > 40:
                    raise RefusedError(422, "These are not values of a draft.")
            if changes.task is not UNSET:
                record.draft.task = changes.task
        return self.get(account, id)

    def add(self, account: str, id: str, name: str, size: int) -> int:
        """Announce a file, and return its number."""
        name = normalize("NFC", name)
        with self._changing(account, id) as record:
            files = record.draft.files
            file_names.check_shown_name(name, [file.name for file in files])
            if len(files) >= _MOST_FILES:
                raise RefusedError(409, f"A draft has at most {_MOST_FILES} files.")
            if size < 1:
                raise RefusedError(413, f"{name} is empty.")
            if size > _MOST_OF_FILE:
                raise RefusedError(413, _LARGE)
            if size + sum(file.size for file in files) > MOST:
                raise RefusedError(413, "The files of a draft are larger than 512 MB together.")
            check_space(self._store.folder, size)
            record.last += 1
            files.append(bodies.DraftFile(record.last, name, size))
        return record.last

    @contextmanager
    def receive(self, account: str, id: str, n: int) -> Iterator[Callable[[bytes], None]]:
        """Yield a function that takes the next bytes of a file; store the file at the end."""
        file = self._store.load(account, id).file(n)
        part = self.path(id) / f"{n}.part"
        try:
            part.touch(0o600, exist_ok=False)
        except FileExistsError:
            raise RefusedError(409, f"{file.name} is being sent already.") from None
        try:
            with part.open("wb") as stream:
                arrival = _Arrival(file, stream, part.parent)
                yield arrival.write
            if arrival.left:
                raise RefusedError(409, f"{file.name} did not arrive completely. Add it again.")
            with self._changing(account, id) as record:
                record.file(n).received = file.size
                part.replace(self.path(id) / str(n))
        finally:
            part.unlink(missing_ok=True)

    def remove_file(self, account: str, id: str, n: int) -> bodies.Draft:
        """Remove a file from a draft."""
        with self._changing(account, id) as record:
            record.draft.files.remove(record.file(n))
            (self.path(id) / str(n)).unlink(missing_ok=True)
        return self.get(account, id)

    def remove(self, account: str, id: str) -> None:
        """Remove a draft with its files."""
        self._store.load(account, id)
        self._remove(id)

    def sweep(self) -> None:
        """Remove drafts that are too old."""
        with self._store.lock:
            for id in self._store.old():
                self._remove(id)

    def close(self) -> None:
        """Stop the child processes; drafts stay."""
        with self._store.lock:
            self._store.closed = True
            self._children.stop_all()

    def preview(self, account: str, id: str, k: int) -> bodies.Preview:
        """Return a pair as it would be in the project."""
        with self._store.lock:
            record = self._store.load(account, id)
            if not 1 <= k <= record.draft.pairs:
                raise RefusedError(404, f"There is no pair {k}.")
            path = self.path(id) / f"pairs-{record.read_etag}.preview"
            offsets = array("q", path.with_suffix(".index").read_bytes())
            with path.open("rb") as lines:
                lines.seek(offsets[k - 1])
                line = lines.readline(_LONGEST_PREVIEW)
        if not line.endswith(b"\n"):
            raise RefusedError(413, "This pair is too long to be shown here.")
        pair = json.decode(line, type=bodies.Preview)
        pair.pairs = record.draft.pairs
        pair.direction = {"source": direction_of(pair.source), "target": direction_of(pair.target)}
        return pair

    def make(
        self,
        account: str,
        new: bodies.NewProject,
        place: str,
        model: str = "",
        encoder: LabEncoder | None = None,
    ) -> None:
        """Create a project at a place, with a copy of the model that suggests; remove the draft.

        No request waits for this, so the draft keeps the problem of a project that fails, for
        those who look at it then. Its etag stays: the files are as they were read.
        """
        try:
            self._use(account, new, MakeProject(new, place, model, encoder))
        except (ProjectError, RefusedError) as problem:
            with self._store.lock, suppress(RefusedError):
                record = self._store.load_unchanged(account, new.draft, new.etag)
                record.draft.problem = str(problem)
                self._store.save(record)
            raise
        self._remove(new.draft)

    def bring_in(self, account: str, new: bodies.NewImport, place: str) -> bodies.ImportDone:
        """Import a draft into the project at a place; then remove the draft, unless it was dry."""
        done = self._use(account, new, ImportPairs(new, place))
        if not new.dry_run:
            self._remove(new.draft)
        return json.decode(done, type=bodies.ImportDone)

    def _use(
        self,
        account: str,
        sent: bodies.NewProject | bodies.NewImport,
        task: MakeProject | ImportPairs,
    ) -> bytes:
        """Do a task with a draft that is ready, as the person saw it; return the child's result."""
        record = self._store.load_unchanged(account, sent.draft, sent.etag)
        if not record.draft.ready:
            raise RefusedError(409, "The draft is not ready. Nothing was created.")
        with taking(self._waiting):
            return self._children.run(DraftJob(str(self.path(sent.draft)), record, task))


class _Arrival:
    """A file on its way into a stream: it takes no more bytes than were announced."""

    def __init__(self, file: bodies.DraftFile, stream: IO[bytes], folder: Path) -> None:
        self._file = file
        self._stream = stream
        self._folder = folder
        self.left = file.size  # bytes that have not come yet

    def write(self, chunk: bytes) -> None:
        """Write the next bytes; refuse what is too much for the file or the disk."""
        self.left -= len(chunk)
        if self.left < 0:
            name = self._file.name
            raise RefusedError(413, f"{name} is larger than announced. Add it again.")
        check_space(self._folder, len(chunk))
        self._stream.write(chunk)
