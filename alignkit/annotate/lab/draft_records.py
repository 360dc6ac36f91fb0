"""What is stored of drafts, each in a folder of its own, and the jobs of their child processes.

The folder of a draft has `draft.json` (a `DraftRecord`), the uploaded files under their numbers
(`1`, `2`; `3.part` while it arrives), and the pairs that were read from them (`pairs-ETAG.jsonl`).
"""

from __future__ import annotations

import re
import shutil
import threading
import time
from contextlib import suppress
from enum import Enum
from pathlib import Path

from msgspec import DecodeError, Struct, json

from alignkit.annotate.lab import bodies
from alignkit.annotate.server.child import LabEncoder
from alignkit.annotate.server.security import RefusedError

MB = 1 << 20  # bytes
MOST = 512 * MB
"""The most bytes of a draft, as sent and unpacked."""
_KEPT = 24 * 3600  # seconds from when a draft was made until it is removed
_FREE = 1024 * MB  # bytes of the disk that stay free
_ID = re.compile("[0-9a-f]{32}")
_CHANGED = "The draft was changed meanwhile. Nothing was created. Look at it again."


class DraftState(Enum):
    """How far the files of a draft are; `Drafts` has who moves a draft from one to the next."""

    ARRIVING = "a file was announced that is not there yet"
    UNREAD = "all files are there; as they are now, they have not been read"
    READ = "read as they are now: the draft is ready, or says why not"


class DraftRecord(Struct):
    """What `draft.json` holds: the draft as pages show it, and what a person chose."""

    account: str
    made: float
    draft: bodies.Draft
    kinds: dict[str, str] = {}
    options: dict[str, str] = {}
    choices: dict[str, str] = {}
    last: int = 0  # the number of the last file
    read_etag: str = ""  # the etag of the draft when its files were read
    format: str = ""  # of what was read; empty for words, documents and projects

    @property
    def state(self) -> DraftState:
        """How far the files are."""
        if self.read_etag == self.draft.etag:
            return DraftState.READ
        if any(file.received < file.size for file in self.draft.files):
            return DraftState.ARRIVING
        return DraftState.UNREAD

    def file(self, n: int) -> bodies.DraftFile:
        """Return a file by its number."""
        for file in self.draft.files:
            if file.n == n:
                return file
        raise RefusedError(404, f"The draft has no file {n}.")


class ReadFiles(Struct, tag=True, frozen=True):
    """The task to read the files of a draft; the result is its record with what was read."""


class MakeProject(Struct, tag=True, frozen=True):
    """The task to make a project of a draft."""

    new: bodies.NewProject
    place: str
    model: str = ""  # where to copy the model that makes suggestions
    encoder: LabEncoder | None = None  # of the server


class ImportPairs(Struct, tag=True, frozen=True):
    """The task to import a draft into a project; the result is `bodies.ImportDone`."""

    new: bodies.NewImport
    place: str  # of the project


class DraftJob(Struct):
    """What the child process of a draft is given: the draft, and what to do with it."""

    folder: str
    record: DraftRecord
    task: ReadFiles | MakeProject | ImportPairs = ReadFiles()

    @property
    def pairs(self) -> Path:
        """The file of the pairs."""
        return Path(self.folder) / f"pairs-{self.record.draft.etag}.jsonl"


class DraftStore:
    """The records and folders of all drafts.

    Who loads a record to change it holds `lock` until it is saved.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.RLock()
        self.closed = False  # the server ends: no new work, and no results of old work
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for part in folder.glob("*/*.part"):  # files that were on their way
            part.unlink()

    def path(self, id: str) -> Path:
        """Return the folder of a draft."""
        return self.folder / id

    def records(self) -> list[DraftRecord]:
        """Return the records of all drafts that are not too old."""
        records = [self._stored(path.name) for path in self.folder.iterdir()]
        return [record for record in records if record is not None]

    def old(self) -> list[str]:
        """Return the drafts that are too old, or have no record that can be read."""
        names = [path.name for path in self.folder.iterdir()]
        return [name for name in names if _ID.fullmatch(name) and self._stored(name) is None]

    def _stored(self, id: str) -> DraftRecord | None:
        """Return the record of a draft; None if there is none or it is too old."""
        with suppress(OSError, DecodeError):
            record = json.decode((self.path(id) / "draft.json").read_bytes(), type=DraftRecord)
            if record.made > time.time() - _KEPT:
                return record
        return None

    def load(self, account: str, id: str) -> DraftRecord:
        """Return the record of an account's draft."""
        with self.lock:
            record = self._stored(id) if _ID.fullmatch(id) else None
        if record is None or record.account != account:
            raise RefusedError(404, "This draft does not exist, or not any more.")
        return record

    def load_unchanged(self, account: str, id: str, etag: str) -> DraftRecord:
        """Return the record of a draft to work with; refuse one that is not as it was seen."""
        with self.lock:
            record = self.load(account, id)
            if self.closed or record.draft.etag != etag:
                raise RefusedError(409, _CHANGED, error="changed")
        return record

    def save(self, record: DraftRecord) -> None:
        """Write `draft.json`, completely or not at all."""
        new = self.path(record.draft.id) / "draft.new"
        new.write_bytes(json.encode(record))
        new.replace(new.with_suffix(".json"))

    def remove(self, id: str) -> None:
        """Remove a draft, first its record: without it there is none."""
        with self.lock:
            (self.path(id) / "draft.json").unlink(missing_ok=True)
            shutil.rmtree(self.path(id), ignore_errors=True)


def check_space(folder: Path | str, size: int = 0) -> None:
    """Refuse to write so many bytes where the disk would be nearly full then."""
    if shutil.disk_usage(folder).free < _FREE + size:
        raise RefusedError(507, "The lab's disk is full. Ask its owner to free some space.")
