"""Drafts: uploaded files that become a project, or are imported into one.

A draft is a folder with `draft.json`, its files under numbers, and the pairs that a child process
read from them (see `draft_child`). The names of files are labels only.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from unicodedata import normalize

from msgspec import UNSET, DecodeError, Struct, ValidationError, field, json, structs

from alignkit.annotate.lab import bodies
from alignkit.annotate.lab.values import LabError
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.server.answers import direction_of
from alignkit.annotate.server.child import ChildProcess, SuggestionPlan
from alignkit.io.formats import FORMATS
from alignkit.model.texts import TOKENIZERS

STOP = "stop"
"""The choice that keeps a project from being made."""
TEXT_KINDS = {
    "source": "Source words", "target": "Target words", "both": "Source and target words",
    "corpus": "Links or corpus", "none": "Not used",
}  # fmt: skip
"""What a text file can be."""
OTHER_KINDS = {"model": "Model", "project": "Project"}
ENCODINGS = {
    "utf-8": "UTF-8", "windows-1252": "Western European (Windows)",
    "iso-8859-15": "Western European (ISO)", "windows-1250": "Central European (Windows)",
    "iso-8859-2": "Central European (ISO)", "windows-1251": "Cyrillic (Windows)",
    "koi8-r": "Cyrillic (KOI8-R)", "windows-1253": "Greek (Windows)",
    "windows-1254": "Turkish (Windows)", "windows-1255": "Hebrew (Windows)",
    "windows-1256": "Arabic (Windows)", "gb18030": "Chinese (GB18030)", "big5": "Chinese (Big5)",
    "shift_jis": "Japanese (Shift JIS)", "euc-jp": "Japanese (EUC)", "euc-kr": "Korean (EUC)",
    "utf-16": "UTF-16",
}  # fmt: skip
OPTIONS = {
    "format": ("Format", {name: name for name in FORMATS}),
    "base": ("Number of the first word", {"0": "0", "1": "1"}),
    "direction": ("Links are written", {"source": "source first", "target": "target first"}),
    "encoding": ("Encoding", ENCODINGS),
    "tokenizer": ("Tokenizer of documents", {name: name for name in TOKENIZERS}),
}
"""The label and the values of each option; an option that is not chosen is detected."""

MB = 1 << 20
MOST_PAIRS = 200_000
MOST_UNPACKED = 512 * MB
_MOST_BYTES, _MOST_OF_DRAFT, _MOST_FILES, _MOST_DRAFTS = 256 * MB, 512 * MB, 20, 3
_KEPT, _FREE = 24 * 3600, 1024 * MB  # seconds; bytes of the disk that stay free
_LONGEST_PREVIEW = 2 * MB
_CHILDREN, _QUEUE = 2, 20
_PART = re.compile(r"\w[\w.+ -]{0,99}")
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_ID = re.compile("[0-9a-f]{32}")
_KILLED = (
    "The files take too much time or memory to be read. Nothing was created. Split them, or import "
    "them with `alignkit project import`."
)


class DraftError(LabError):
    """A refused request about a draft.

    `code` is missing, name, many, size, space, busy or state.
    """

    def __init__(self, code: str, message: str, field: str = "") -> None:
        super().__init__(message)
        self.code, self.field = code, field


class StoredFile(Struct):
    """A file of a draft; `size` is what was announced, `kind` what a person says that it is."""

    n: int
    name: str
    size: int
    received: int = 0
    kind: str = ""

    @property
    def complete(self) -> bool:
        """Whether all of its bytes are there."""
        return self.received == self.size


class DraftReport(Struct):
    """What the child process says about the files; files are named by their numbers."""

    revision: int = -1
    format: str = ""  # empty: words only, documents or a project
    detected: str = ""
    pairs: int = 0
    in_order: bool = False  # the ids of the pairs are the numbers of lines
    languages: str = ""
    findings: list[bodies.DraftFinding] = []
    annotators: list[str] = []
    kinds: dict[int, str] = {}
    problems: dict[int, str] = {}
    problem: str = ""
    ready: bool = False


class DraftRecord(Struct):
    """What `draft.json` holds."""

    id: str
    account: str
    project: str
    made: float
    revision: int = 0
    next: int = 1
    task: bodies.Task = "align"
    files: list[StoredFile] = []
    options: dict[str, str] = {}
    choices: dict[str, str] = {}
    report: DraftReport = field(default_factory=DraftReport)


class DraftJob(Struct):
    """A task of the child: read the files, create a project, or import into one."""

    action: str
    folder: str
    draft: DraftRecord
    place: str = ""  # of the project
    new: bodies.NewProject | None = None
    plan: SuggestionPlan | None = None
    words_only: bool = False
    add_pairs: bool = False
    dry_run: bool = False


class ChildGate:
    """Lets few child processes work at a time, one for each account; others wait."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._busy: set[str] = set()
        self._waiting = 0

    @contextmanager
    def of(self, account: str) -> Iterator[None]:
        """Wait for a place, and hold it."""
        with self._free:
            if self._waiting >= _QUEUE:
                raise DraftError("busy", "The server is busy. Try again in a minute.")
            self._waiting += 1
            self._free.wait_for(lambda: len(self._busy) < _CHILDREN and account not in self._busy)
            self._waiting -= 1
            self._busy.add(account)
        try:
            yield
        finally:
            with self._free:
                self._busy.discard(account)
                self._free.notify_all()


class FileUpload:
    """The bytes of a file as they come; it is stored when the `with` ends without an error."""

    def __init__(self, drafts: Drafts, account: str, id: str, file: StoredFile) -> None:
        self._drafts, self._account, self._id, self._file = drafts, account, id, file
        self._path = drafts.path(id) / f"{file.n}.part-{token_hex(4)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        self._stream = open(os.open(self._path, flags, 0o600), "wb")  # noqa: SIM115
        self._left = file.size

    def write(self, chunk: bytes) -> None:
        """Store the next bytes."""
        self._left -= len(chunk)
        if self._left < 0:
            raise DraftError("size", f"{self._file.name} is larger than announced. Add it again.")
        check_space(self._path.parent, len(chunk))
        self._stream.write(chunk)

    def __enter__(self) -> FileUpload:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        try:
            self._stream.close()
            if kind is None and self._left:
                name = self._file.name
                raise DraftError("state", f"{name} did not arrive completely. Add it again.")
            if kind is None:
                self._drafts.take(self._account, self._id, self._file.n, self._path)
        finally:
            with suppress(OSError):
                self._path.unlink()


class Drafts:
    """All drafts of a lab, in a folder; methods may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()  # of all draft.json, and of the next two
        self._progress: dict[str, str] = {}  # of drafts that are being read
        self._children: dict[str, ChildProcess] = {}
        self._gate = ChildGate()
        self._closing = False
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def path(self, id: str) -> Path:
        """Return the folder of a draft."""
        if _ID.fullmatch(id) is None:
            raise DraftError("missing", "This draft does not exist, or not any more.")
        return self._folder / id

    # Files

    def create(self, account: str, project: str = "") -> bodies.Draft:
        """Make an empty draft; `project` is the one to import into."""
        self.sweep()
        with self._lock:
            if len(self.ids(account)) >= _MOST_DRAFTS:
                text = f"You have {_MOST_DRAFTS} drafts. Create their projects, or cancel one."
                raise DraftError("many", text)
            record = DraftRecord(token_hex(16), account, project, time.time())
            self.path(record.id).mkdir(mode=0o700)
            self._save(record)
            return self._shown(record)

    def ids(self, account: str) -> list[str]:
        """Return the drafts of an account, the oldest first."""
        with self._lock:
            own = [record for record in self._all() if record.account == account]
        return [record.id for record in sorted(own, key=lambda record: record.made)]

    def add(self, account: str, id: str, name: str, size: int) -> int:
        """Announce a file, and return its number."""
        name = normalize("NFC", name)
        with self._lock:
            record = self._load(account, id)
            _check_file_name(name, [file.name for file in record.files])
            if len(record.files) >= _MOST_FILES:
                raise DraftError("many", f"A draft has at most {_MOST_FILES} files.")
            if size > _MOST_BYTES:
                advice = "Split it, or import it with `alignkit project import`."
                raise DraftError("size", f"This file is larger than 256 MB. {advice}")
            if size + sum(file.size for file in record.files) > _MOST_OF_DRAFT:
                raise DraftError("size", "The files of a draft are larger than 512 MB together.")
            check_space(self._folder, size)
            record.files.append(StoredFile(record.next, name, size))
            record.next += 1
            self._save(record)
            return record.next - 1

    def receive(self, account: str, id: str, n: int) -> FileUpload:
        """Return where to write the bytes of a file that was announced."""
        with self._lock:
            return FileUpload(self, account, id, _file_of(self._load(account, id), n))

    def take(self, account: str, id: str, n: int, path: Path) -> None:
        """Put a received file into its draft."""
        with self._lock:
            record = self._load(account, id)
            file = _file_of(record, n)
            os.replace(path, self.path(id) / str(n))
            file.received = file.size
            self._changed(record)

    def remove_file(self, account: str, id: str, n: int) -> bodies.Draft:
        """Remove a file from a draft."""
        with self._lock:
            record = self._load(account, id)
            record.files.remove(_file_of(record, n))
            (self.path(id) / str(n)).unlink(missing_ok=True)
            self._changed(record)
            return self._shown(record)

    def change(self, account: str, id: str, changes: bodies.ChangeDraft) -> bodies.Draft:
        """Change the task, what files are, options, and choices for findings."""
        for name, value in changes.options.items():
            if name not in OPTIONS or value not in ("", *OPTIONS[name][1]):
                raise DraftError("name", f"unknown option {name[:40]}, {value[:40]}", "options")
        for name, value in changes.choices.items():
            if max(len(name), len(value)) > 40:
                raise DraftError("name", f"unknown choice {name[:40]}, {value[:40]}", "choices")
        with self._lock:
            record = self._load(account, id)
            for n, kind in changes.kinds.items():
                if kind not in ("", *TEXT_KINDS, *OTHER_KINDS):
                    raise DraftError("name", f"unknown kind of file {kind[:40]}", "kinds")
                _file_of(record, int(n) if n.isdecimal() else 0).kind = kind
            record.options |= changes.options
            record.choices = dict(list({**record.choices, **changes.choices}.items())[-50:])
            if changes.task is not UNSET:
                record.task = changes.task
            self._changed(record)
            return self._shown(record)

    def get(self, account: str, id: str) -> bodies.Draft:
        """Return a draft as pages show it."""
        with self._lock:
            record = self._load(account, id)
            self._read_again(record)  # after a restart
            return self._shown(record)

    def remove(self, account: str, id: str) -> None:
        """Remove a draft with its files."""
        with self._lock:
            self._load(account, id)
            self._remove(id)

    def sweep(self) -> None:
        """Remove drafts that are too old."""
        with self._lock:
            kept = {draft.id for draft in self._all() if draft.made > time.time() - _KEPT}
            for path in self._folder.iterdir():
                if _ID.fullmatch(path.name) and path.name not in kept:
                    self._remove(path.name)

    def close(self) -> None:
        """Stop the child processes; drafts stay."""
        with self._lock:
            self._closing = True
            for child in self._children.values():
                child.stop()

    # Pairs

    def preview(self, account: str, id: str, k: int) -> bodies.Preview:
        """Return a pair as it would be in the project."""
        with self._lock:
            report = self._load(account, id).report
            if not 1 <= k <= report.pairs:
                raise DraftError("missing", f"there is no pair {k}; the draft has {report.pairs}")
            line = _line(self.path(id), report.revision, k)
        if len(line) > _LONGEST_PREVIEW:
            raise DraftError("size", "This pair is too long to be shown here.")
        pair = json.decode(line, type=_DraftPair)
        by, drawn = next(iter(pair.annotations.items()), ("", _Drawn()))
        links = [
            (*map(int, link.split("-")), strength)
            for strength, text in ((2, drawn.sure), (1, drawn.possible))
            for link in text.split()
        ]
        source, target = pair.source or [], pair.target or []
        sides = {"source": direction_of(source), "target": direction_of(target)}
        return bodies.Preview(
            k, report.pairs, pair.id, source, target, links, by, drawn.judgment, sides  # type: ignore[arg-type]
        )  # fmt: skip

    def make(
        self, account: str, new: bodies.NewProject, place: str, model: str,
        report: Callable[[str, float | None], None] = lambda *_: None,
    ) -> None:  # fmt: skip
        """Create the project of a draft at a place, then remove the draft.

        If a model of the draft makes suggestions, its file is copied to the path `model`.
        """
        record = self._ready(account, new.draft, new.etag)
        wanted = new.suggestions
        if wanted.kind == "initial" and wanted.name not in record.report.annotators:
            raise DraftError("name", f"{wanted.name} drew no links in these files.", "suggestions")
        plan = SuggestionPlan(wanted.kind, wanted.name, wanted.kind != "none", new.learning)
        files = {file.name: file.n for file in record.files}
        if wanted.kind == "model":
            if record.report.kinds.get(files.get(wanted.name, 0)) != "model":
                raise DraftError("name", f"{wanted.name} is no model of this draft.", "suggestions")
            plan = structs.replace(plan, name=model)
            shutil.copyfile(self.path(record.id) / str(files[wanted.name]), model)
        job = DraftJob("create", str(self.path(record.id)), record, place, new, plan)
        self._run(job, report)
        with suppress(DraftError):
            self.remove(account, record.id)

    def bring_in(
        self, account: str, new: bodies.NewImport, place: str,
        report: Callable[[str, float | None], None] = lambda *_: None,
    ) -> bodies.ImportDone:  # fmt: skip
        """Import a draft into the project at a place; then remove the draft, unless it was dry."""
        record = self._ready(account, new.draft, new.etag)
        job = DraftJob("import", str(self.path(record.id)), record, place)
        job.words_only, job.add_pairs, job.dry_run = new.words_only, new.add_pairs, new.dry_run
        done = json.decode(self._run(job, report), type=bodies.ImportDone)
        if not new.dry_run:
            with suppress(DraftError):
                self.remove(account, record.id)
        return done

    def _ready(self, account: str, id: str, etag: str) -> DraftRecord:
        with self._lock:
            record = self._load(account, id)
        if etag != str(record.revision) or record.report.revision != record.revision:
            raise DraftError("state", "The draft was changed meanwhile. Look at it again.")
        if not record.report.ready:
            raise DraftError("state", "The draft is not ready. Nothing was created.")
        return record

    def _run(self, job: DraftJob, report: Callable[[str, float | None], None]) -> bytes:
        """Do a job in a child process, and return its result."""
        id = job.draft.id
        with self._gate.of(job.draft.account):
            module = "alignkit.annotate.lab.draft_child"
            child = ChildProcess(job, report, lambda _: None, module=module)
            with self._lock:
                if self._closing or not self.path(id).exists():
                    raise DraftError("missing", "stopped")
                self._children[id] = child
            try:
                child.run()
                return child.result
            except ProjectError as problem:
                killed = str(problem).startswith("the child process was killed")
                raise ProjectError(_KILLED if killed else str(problem)) from None
            finally:
                child.close()
                with self._lock:
                    self._children.pop(id, None)

    # Reading

    def _changed(self, record: DraftRecord) -> None:
        """Save a record whose files are to be read again."""
        record.revision += 1
        self._save(record)
        if record.id in self._progress and (child := self._children.get(record.id)) is not None:
            child.stop()
        self._read_again(record)

    def _read_again(self, record: DraftRecord) -> None:
        old = record.report.revision != record.revision
        whole = all(file.complete for file in record.files)
        if old and record.files and whole and record.id not in self._progress:
            self._progress[record.id] = ""
            thread = threading.Thread(target=self._read, args=[record.account, record.id])
            thread.daemon = True
            thread.start()

    def _read(self, account: str, id: str) -> None:
        """Read the files of a draft until its report is that of its last change."""
        while not self._closing:
            try:
                with self._lock:
                    record = self._load(account, id)
                    if record.report.revision == record.revision:
                        del self._progress[id]
                        return
                report = self._report(record)
                with self._lock:
                    record = self._load(account, id)
                    if record.revision == report.revision:
                        record.report = report
                        self._save(record)
            except DraftError:  # it was removed
                self._progress.pop(id, None)
                shutil.rmtree(self.path(id), ignore_errors=True)
                return

    def _report(self, record: DraftRecord) -> DraftReport:
        def progress(text: str, _: float | None) -> None:
            self._progress[record.id] = text

        folder = self.path(record.id)
        try:
            # the child may write all files again, and the pairs
            check_space(folder, 2 * sum(file.size for file in record.files))
            job = DraftJob("read", str(folder), record)
            report = json.decode(self._run(job, progress), type=DraftReport)
        except (ProjectError, DraftError) as problem:
            if isinstance(problem, DraftError) and problem.code == "missing":
                raise
            report = DraftReport(problem=str(problem))
        report.revision = record.revision
        return report

    # Records

    def _all(self) -> Iterator[DraftRecord]:
        for path in self._folder.iterdir():
            with suppress(OSError, DecodeError, ValidationError):
                yield json.decode((path / "draft.json").read_bytes(), type=DraftRecord)

    def _load(self, account: str, id: str) -> DraftRecord:
        with suppress(OSError, DecodeError, ValidationError):
            text = (self.path(id) / "draft.json").read_bytes()
            record = json.decode(text, type=DraftRecord)
            if record.account == account and record.made > time.time() - _KEPT:
                return record
        raise DraftError("missing", "This draft does not exist, or not any more.")

    def _save(self, record: DraftRecord) -> None:
        path = self.path(record.id) / "draft.json"
        beside = path.with_suffix(".new")
        beside.write_bytes(json.encode(record))
        os.replace(beside, path)

    def _remove(self, id: str) -> None:
        (self.path(id) / "draft.json").unlink(missing_ok=True)
        if (child := self._children.get(id)) is not None:
            child.stop()
        shutil.rmtree(self.path(id), ignore_errors=True)

    def _shown(self, record: DraftRecord) -> bodies.Draft:
        report, options = record.report, record.options
        current = report.revision == record.revision or not record.files
        models = [f.name for f in record.files if report.kinds.get(f.n) == "model"]
        return bodies.Draft(
            record.id, str(record.revision), record.project, record.task,
            [_shown_file(file, report) for file in record.files],
            not current, self._progress.get(record.id, ""), report.detected,
            [
                bodies.DraftOption(name, label, options.get(name, ""), _named({"": "", **values}))
                for name, (label, values) in OPTIONS.items()
                if (name == "tokenizer") <= (record.task == "extract")
            ],
            report.pairs, report.languages, report.findings, report.annotators, models,
            current and report.ready, report.problem, _proposed(record),
        )  # fmt: skip


class _Drawn(Struct):
    """An annotation in the file of the pairs."""

    sure: str = ""
    possible: str = ""
    judgment: str = ""


class _DraftPair(Struct):
    """A line of the file of the pairs."""

    id: str
    source: list[str] | None = None
    target: list[str] | None = None
    annotations: dict[str, _Drawn] = {}


def pairs_file(folder: Path, revision: int) -> Path:
    """Return the file of the pairs; its index ends in .index."""
    return folder / f"pairs-{revision}.jsonl"


def _line(folder: Path, revision: int, k: int) -> bytes:
    path, offsets = pairs_file(folder, revision), array("q")
    with path.with_suffix(".index").open("rb") as index, path.open("rb") as pairs:
        index.seek((k - 1) * offsets.itemsize)
        offsets.fromfile(index, 2)
        pairs.seek(offsets[0])
        return pairs.read(min(offsets[1] - offsets[0], _LONGEST_PREVIEW + 1))


def check_space(folder: Path, size: int) -> None:
    """Refuse to fill the disk."""
    if shutil.disk_usage(folder).free < _FREE + size:
        raise DraftError("space", "The lab's disk is full. Ask its owner to free some space.")


def _check_file_name(name: str, others: Sequence[str]) -> None:
    parts = name.split("/")
    if len(parts) > 2:
        raise DraftError("name", "Folders inside folders are not opened.", "name")
    for part in parts:
        if not _PART.fullmatch(part) or part[-1] in ". " or _DEVICES.fullmatch(part):
            text = "letters, digits, spaces and . + - _, at most 100, beginning with a letter"
            raise DraftError("name", f"Rename {part[:40]!r}: names have {text}.", "name")
    mine, known = name.casefold(), {other.casefold() for other in others}
    folders = {other.partition("/")[0] for other in known if "/" in other}
    if mine in known | folders or (len(parts) > 1 and mine.partition("/")[0] in known):
        raise DraftError("name", f"There is already a file {name[:210]}. Remove it first.", "name")


def _file_of(record: DraftRecord, n: int) -> StoredFile:
    for file in record.files:
        if file.n == n:
            return file
    raise DraftError("missing", f"the draft has no file {n}")


def _named(values: dict[str, str]) -> list[bodies.DraftChoice]:
    return [bodies.DraftChoice(value, name or "as detected") for value, name in values.items()]


def _shown_file(file: StoredFile, report: DraftReport) -> bodies.DraftFile:
    kind = report.kinds.get(file.n, file.kind)
    kinds = {kind: OTHER_KINDS[kind]} if kind in OTHER_KINDS else TEXT_KINDS
    problem = report.problems.get(file.n, "")
    return bodies.DraftFile(
        file.n, file.name, file.size, file.received, kind, list(kinds.items()), problem
    )


def _proposed(record: DraftRecord) -> str:
    """Return the name that the project could have: that of the first file of pairs or words."""
    names = (f.name for f in record.files if record.report.kinds.get(f.n) not in ("model", "none"))
    return re.split(r"[./]", next(names, ""))[0].replace("_", " ").strip()
