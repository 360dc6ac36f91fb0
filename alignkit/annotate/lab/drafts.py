"""Drafts: uploaded files that become a project, or are imported into one.

A draft is a folder with `draft.json`, its files under numbers, and the pairs that a child process
read from them (see `draft_child`). The names of files are labels only.
"""

from __future__ import annotations

import re
import shutil
import threading
import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any
from unicodedata import normalize

from msgspec import UNSET, DecodeError, Struct, json, structs

from alignkit.annotate.lab import bodies
from alignkit.annotate.lab.file_names import check_shown_name
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.server.answers import direction_of
from alignkit.annotate.server.child import ChildProcess, LabEncoder
from alignkit.annotate.server.security import RefusedError, taking

_Sent = bodies.NewProject | bodies.NewImport
MB = 1 << 20
MOST = 512 * MB
"""The most bytes of a draft, as sent and unpacked."""
_MOST_OF_FILE = 256 * MB
_FILES = 20
_DRAFTS = 3
# seconds; bytes of the disk that stay free
_KEPT = 24 * 3600
_FREE = 1024 * MB
_LONGEST_PREVIEW = 2 * MB
_CHILDREN = 2
_QUEUE = 20
_ID = re.compile("[0-9a-f]{32}")
_MODULE = "alignkit.annotate.lab.draft_child"
_LATER = "import them with `alignkit project import`."
_CHANGED = "The draft was changed meanwhile. Nothing was created. Look at it again."
_KILLED = f"The files take too much time or memory. Nothing was created. Split them, or {_LATER}"
_LARGE = f"This file is larger than 256 MB. Split it, or {_LATER.replace('them', 'it')}"


class DraftRecord(Struct):
    """What `draft.json` holds: the draft as pages show it, and what a person chose."""

    account: str
    made: float
    draft: bodies.Draft
    kinds: dict[str, str] = {}
    options: dict[str, str] = {}
    choices: dict[str, str] = {}
    last: int = 0  # the number of the last file
    read: str = ""  # the etag of the draft when its files were read
    format: str = ""  # of what was read; empty for words, documents and projects

    def file(self, n: int) -> bodies.DraftFile:
        """Return a file by its number."""
        for file in self.draft.files:
            if file.n == n:
                return file
        raise RefusedError(404, f"The draft has no file {n}.")


class DraftJob(Struct):
    """A task of the child: create a project, import into one, or else read the files."""

    folder: str
    record: DraftRecord
    place: str = ""  # of the project
    new: bodies.NewProject | None = None
    bring: bodies.NewImport | None = None
    model: str = ""  # where to copy the model that makes suggestions
    encoder: LabEncoder | None = None  # of the server

    @property
    def pairs(self) -> Path:
        """The file of the pairs."""
        return Path(self.folder) / f"pairs-{self.record.draft.etag}.jsonl"


class Drafts:
    """All drafts of a lab, in a folder; methods may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()  # of all draft.json, and of what follows
        self._progress: dict[str, str] = {}  # of drafts that are being read
        self._children: dict[str, ChildProcess] = {}
        self._own: dict[str, threading.Lock] = defaultdict(threading.Lock)  # one child a person
        self._places = threading.Semaphore(_CHILDREN)
        self._waiting = threading.BoundedSemaphore(_QUEUE)  # of projects and imports to be made
        self._closed = False
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for part in folder.glob("*/*.part"):  # files that were on their way
            part.unlink()

    def path(self, id: str) -> Path:
        """Return the folder of a draft."""
        return self._folder / id

    def _stored(self, id: str) -> DraftRecord | None:
        """Return the record of a draft; None if there is none or it is too old."""
        with suppress(OSError, DecodeError):
            record = json.decode((self.path(id) / "draft.json").read_bytes(), type=DraftRecord)
            if record.made > time.time() - _KEPT:
                return record
        return None

    def _load(self, account: str, id: str, etag: str = "") -> DraftRecord:
        """Return the record of an account's draft; an `etag` refuses one that has changed."""
        with self._lock:
            record = self._stored(id) if _ID.fullmatch(id) else None
            if record is None or record.account != account:
                raise RefusedError(404, "This draft does not exist, or not any more.")
            if etag and (self._closed or record.draft.etag != etag):
                raise RefusedError(409, _CHANGED, error="changed")
            return record

    def _save(self, record: DraftRecord) -> None:
        """Write `draft.json`, completely or not at all."""
        new = self.path(record.draft.id) / "draft.new"
        new.write_bytes(json.encode(record))
        new.replace(new.with_suffix(".json"))

    @contextmanager
    def _changing(self, account: str, id: str) -> Iterator[DraftRecord]:
        """Yield a record to change; its files are read again."""
        with self._lock:
            record = self._load(account, id)
            yield record
            record.draft.etag = str(int(record.draft.etag) + 1)
            record.draft.ready = False
            self._save(record)
            self._stop(id)
            self._start_reading(record)

    def _stop(self, id: str) -> None:
        """Stop the child process that works on a draft, if there is one."""
        if id in self._children:
            self._children[id].stop()

    def _remove(self, id: str) -> None:
        """Remove a draft, first its record: without it there is none."""
        with self._lock:
            (self.path(id) / "draft.json").unlink(missing_ok=True)
            self._stop(id)
            shutil.rmtree(self.path(id), ignore_errors=True)

    def _shown(self, record: DraftRecord) -> bodies.Draft:
        """Return a draft for the page; begin to read its files if that is to be done."""
        self._start_reading(record)
        draft = record.draft
        reading = draft.etag != record.read
        progress = self._progress.get(draft.id, "")
        return structs.replace(draft, reading=reading, progress=progress)

    def create(self, account: str, project: str = "") -> bodies.Draft:
        """Make an empty draft; `project` is the one to import into."""
        self.sweep()
        with self._lock:
            if len(self.drafts(account)) >= _DRAFTS:
                raise RefusedError(409, f"You have {_DRAFTS} drafts. Use or cancel one.")
            draft = bodies.Draft(token_hex(16), "0", project)
            self.path(draft.id).mkdir(mode=0o700)
            self._save(DraftRecord(account, time.time(), draft, read="0"))
        return draft

    def drafts(self, account: str) -> list[bodies.Draft]:
        """Return the drafts of an account, the newest first."""
        with self._lock:
            records = [self._stored(path.name) for path in self._folder.iterdir()]
            own = [record for record in records if record and record.account == account]
            own.sort(key=lambda record: -record.made)
            return [self._shown(record) for record in own]

    def get(self, account: str, id: str) -> bodies.Draft:
        """Return a draft; its files are read again if that was interrupted."""
        with self._lock:
            return self._shown(self._load(account, id))

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
            check_shown_name(name, [file.name for file in files])
            if len(files) >= _FILES:
                raise RefusedError(409, f"A draft has at most {_FILES} files.")
            if size < 1:
                raise RefusedError(413, f"{name} is empty.")
            if size > _MOST_OF_FILE:
                raise RefusedError(413, _LARGE)
            if size + sum(file.size for file in files) > MOST:
                raise RefusedError(413, "The files of a draft are larger than 512 MB together.")
            check_space(self._folder, size)
            record.last += 1
            files.append(bodies.DraftFile(record.last, name, size))
        return record.last

    @contextmanager
    def receive(self, account: str, id: str, n: int) -> Iterator[Callable[[bytes], None]]:
        """Yield a function that takes the next bytes of a file; store the file at the end."""
        file = self._load(account, id).file(n)
        part = self.path(id) / f"{n}.part"
        left = file.size

        def write(chunk: bytes) -> None:
            nonlocal left
            left -= len(chunk)
            if left < 0:
                raise RefusedError(413, f"{file.name} is larger than announced. Add it again.")
            check_space(self._folder, len(chunk))
            stream.write(chunk)

        try:
            part.touch(0o600, exist_ok=False)
        except FileExistsError:
            raise RefusedError(409, f"{file.name} is being sent already.") from None
        try:
            with part.open("wb") as stream:
                yield write
            if left:
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
        self._load(account, id)
        self._remove(id)

    def sweep(self) -> None:
        """Remove drafts that are too old."""
        with self._lock:
            for path in self._folder.iterdir():
                if _ID.fullmatch(path.name) and self._stored(path.name) is None:
                    self._remove(path.name)

    def close(self) -> None:
        """Stop the child processes; drafts stay."""
        with self._lock:
            self._closed = True
            for child in list(self._children.values()):
                child.stop()

    def preview(self, account: str, id: str, k: int) -> bodies.Preview:
        """Return a pair as it would be in the project."""
        with self._lock:
            record = self._load(account, id)
            if not 1 <= k <= record.draft.pairs:
                raise RefusedError(404, f"There is no pair {k}.")
            path = self.path(id) / f"pairs-{record.read}.preview"
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
        """Create a project at a place, with a copy of the model that suggests; remove the draft."""
        try:
            self._use(account, new, place=place, new=new, model=model, encoder=encoder)
        except (ProjectError, RefusedError) as problem:
            with self._lock, suppress(RefusedError):
                record = self._load(account, new.draft, new.etag)
                record.draft.problem = str(problem)
                self._save(record)
            raise

    def bring_in(self, account: str, new: bodies.NewImport, place: str) -> bodies.ImportDone:
        """Import a draft into the project at a place; then remove the draft, unless it was dry."""
        done = self._use(account, new, dry=new.dry_run, place=place, bring=new)
        return json.decode(done, type=bodies.ImportDone)

    def _use(self, account: str, sent: _Sent, *, dry: bool = False, **how: Any) -> bytes:
        """Do a job with a draft that is ready, and remove it; return the result of the child."""
        record = self._load(account, sent.draft, sent.etag)
        if not record.draft.ready:
            raise RefusedError(409, "The draft is not ready. Nothing was created.")
        with taking(self._waiting):
            result = self._run(DraftJob(str(self.path(sent.draft)), record, **how))
        if not dry:
            self._remove(sent.draft)
        return result

    def _run(self, job: DraftJob) -> bytes:
        """Do a job in a child process, and return its result."""
        account = job.record.account
        draft = job.record.draft

        def report(text: str, _: float | None) -> None:
            if draft.id in self._progress:
                self._progress[draft.id] = text

        with self._own[account], self._places:
            with self._lock:
                self._load(account, draft.id, draft.etag)
                child = ChildProcess(job, report, lambda _: None, module=_MODULE)
                self._children[draft.id] = child
            try:
                child.run()
                return child.result
            except (ProjectError, DecodeError) as problem:  # half a line, if it was killed
                message = str(problem)
                if isinstance(problem, DecodeError) or "process was killed" in message:
                    message = _KILLED
                raise ProjectError(message) from None
            finally:
                child.close()
                self._children.pop(draft.id, None)

    def _start_reading(self, record: DraftRecord) -> None:
        """Read the files in a thread, if all are there; who waits longer asks again."""
        id = record.draft.id
        if record.draft.etag == record.read or id in self._progress:
            return
        arrived = all(file.received == file.size for file in record.draft.files)
        if arrived and len(self._progress) < _QUEUE:
            self._progress[id] = ""
            threading.Thread(target=self._read, args=[record.account, id], daemon=True).start()

    def _read(self, account: str, id: str) -> None:
        """Read the files of a draft, again if it is changed meanwhile."""
        try:
            while not self._closed:
                record = self._load(account, id)
                draft = record.draft
                if record.read == draft.etag:
                    break
                try:  # the child may write all files again, and the pairs
                    check_space(self._folder, 2 * sum(file.size for file in draft.files))
                    result = self._run(DraftJob(str(self.path(id)), record))
                    record = json.decode(result, type=DraftRecord)
                except (ProjectError, RefusedError) as problem:
                    draft.problem = str(problem)
                    draft.pairs = 0
                with self._lock:
                    if self._load(account, id).draft.etag == draft.etag and not self._closed:
                        record.read = draft.etag
                        self._save(record)
        except RefusedError:  # it was removed
            self._remove(id)
        finally:
            del self._progress[id]


def check_space(folder: Path | str, size: int = 0) -> None:
    """Refuse to write so many bytes where the disk would be nearly full then."""
    if shutil.disk_usage(folder).free < _FREE + size:
        raise RefusedError(507, "The lab's disk is full. Ask its owner to free some space.")
