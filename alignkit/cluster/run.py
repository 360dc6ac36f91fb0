"""The folder of a run, shared by all workers; a stopped run continues from its files."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from os.path import isfile
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from alignkit._support.locks import lock_alone
from alignkit._support.signals import before_stop, undisturbed
from alignkit.cluster.session import ClusterError, Session, Task
from alignkit.errors import AlignkitError, FileError
from alignkit.io import atomic_files
from alignkit.io.atomic_files import WriteError
from alignkit.io.pending_files import free_name
from alignkit.version import __version__

FOLDER = "alignkit-run"  # the name of a run's folder within the folder given by the user

_MANIFEST = "manifest.json"
_MARKER = "marker.json"
_LOCK = "lock"
_HALF = re.compile(r"\.alignkit-[0-9a-f]{16}\.part")  # what is being written; see `free_name`
_held: set[str] = set()  # locks of this process, which the system would give it twice


class RunError(AlignkitError):
    """A run that cannot continue: its folder belongs to another run, is in use, or is damaged."""


class Run:
    """The folder of a run, locked for this process, and the files of the run."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.path.abspath(folder)
        self._marker = os.path.join(self.folder, _MARKER)
        self._place = os.path.join(self.folder, _LOCK)
        with _write_errors(self.folder):
            if not os.path.lexists(self.folder):
                _make(self.folder)
            self._made = self._marked()
            self._lock: int | None = self._locked()
            self._made = self._marked()  # by who had the lock before, too

    def _marked(self) -> set[str]:
        """Return the files of the run, and its folders, which end in ``/``."""
        try:
            if os.path.islink(self.folder) or os.path.islink(self._marker):
                raise ValueError
            if not isfile(self._marker):
                raise ValueError
            marker = json.loads(Path(self._marker).read_text("utf-8"))
            return set(marker["made by alignkit"])
        except (ValueError, LookupError, TypeError):
            raise RunError(
                f"{self.folder}: already exists without the marker of a run of alignkit; "
                "nothing was changed; move it, or give another folder with `work`"
            ) from None

    def _locked(self) -> int:
        """Return the lock file of the folder, which records its process.

        The system's lock holds on this machine; on a system without locks, and for processes of
        other machines, the record decides.
        """
        if os.path.realpath(self._place) in _held:
            raise RunError(f"{self.folder}: this process has a run there; give another folder")
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        file = os.open(self._place, flags, 0o666)
        try:
            alone = lock_alone(file)  # None: the system has no locks
            here = socket.gethostname()
            holder, who = self._holder(os.read(file, 1000))
            far = alone is not False and holder.get("host", here) != here
            in_use = far or alone is False
            if alone is None and holder and not far:
                in_use = _lives(holder["process"])
            if in_use:
                ended = f"if it has ended, remove the file {self._place}, and try again"
                if far:
                    how = ended
                else:
                    how = "wait until that ends, or give another folder with `work`"
                raise RunError(f"{self.folder}: in use by {who}; {how}")
            since = datetime.now().astimezone().isoformat(" ", "seconds")
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
            record = {"process": os.getpid(), "host": here, "since": since}
            os.write(file, json.dumps(record).encode())
        except BaseException:
            os.close(file)
            raise
        _held.add(os.path.realpath(self._place))
        return file

    def _holder(self, text: bytes) -> tuple[dict[str, Any], str]:
        """Return the current or last holder of the folder, and its name for messages."""
        if not text:
            return {}, "another process"
        try:
            holder = json.loads(text)
            return holder, "process {process} on {host} since {since}".format(**holder)
        except (ValueError, LookupError, TypeError):
            raise _foreign(self._place) from None

    def close(self) -> None:
        """Unlock the folder."""
        if self._lock is not None:
            with suppress(OSError):
                os.ftruncate(self._lock, 0)
            os.close(self._lock)
            _held.discard(os.path.realpath(self._place))
            self._lock = None

    def _name(self, path: str) -> str:
        """Return the path of a file of the run within the folder."""
        return os.path.relpath(os.path.join(self.folder, path), self.folder)

    def claim(self, *paths: str) -> None:
        """Register files of the run, and create their folders."""
        files = [self._name(path) for path in paths]
        folders = {f"{folder}/" for folder in map(os.path.dirname, files) if folder}
        new = []
        for name in [*folders, *files]:
            path = os.path.join(self.folder, name).rstrip("/")
            if os.path.islink(path):
                raise _foreign(path)
            if name in self._made:
                continue
            if not os.path.lexists(path):
                new.append(name)
            elif name not in folders or not os.path.isdir(path):
                raise _foreign(path)
        if new:
            self._made.update(new)
            self._note()
        for folder in folders:
            with _write_errors(folder):
                os.makedirs(os.path.join(self.folder, folder), exist_ok=True)

    def drop(self, *paths: str) -> None:
        """Remove files of the run, and their folders if these are then empty."""
        names = self._made.intersection(map(self._name, paths))
        folders = {f"{os.path.dirname(name)}/" for name in names} & self._made
        for name in [*names, *folders]:
            self._delete(name)
        self._made -= names
        self._note()

    def _delete(self, name: str) -> None:
        """Remove a file or an empty folder, if it can be."""
        path = os.path.join(self.folder, name).rstrip("/")
        if os.path.islink(path) or os.path.islink(os.path.dirname(path)):
            return
        with suppress(OSError):
            if name.endswith("/"):
                os.rmdir(path)
            else:
                os.unlink(path)

    def _note(self) -> None:
        """Write the marker, which names the files of the run."""
        _write_json({"made by alignkit": sorted(self._made)}, self._marker)

    def path(self, *names: str) -> str:
        """Return the path of a file, and register it."""
        path = os.path.join(self.folder, *names)
        self.claim(path)
        return path

    def settle(self, what: Mapping[str, Any]) -> bool:
        """Record the contents of the run; return whether it continues an earlier one."""
        now = json.loads(json.dumps({"alignkit": __version__, **what}))
        before = self.read(_MANIFEST)
        if before is None:
            self.write(now, _MANIFEST)
        elif before:
            for name in dict.fromkeys([*before, *now]):  # each once, in order
                if before.get(name) != now.get(name):
                    how = _difference(name, before.get(name), now.get(name))
                    raise RunError(
                        f"{self.folder}: is the folder of another run: {how}; give another "
                        "folder with `work`"
                    )
        self._sweep()
        return before is not None

    def read(self, *names: str) -> Any:
        """Return the content of a JSON file of the run; None if there is none."""
        path = os.path.join(self.folder, *names)
        if self._name(path) not in self._made:
            return None
        try:
            return json.loads(Path(path).read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as problem:
            raise RunError(f"{path}: cannot be read: {problem}; remove this file") from None

    def write(self, value: object, *names: str) -> None:
        """Write a JSON file of the run; it is complete at any time."""
        _write_json(value, self.path(*names))

    def try_workers(self, session: Session) -> None:
        """Check that all workers see the folder, and can write there."""
        token = os.urandom(8).hex()
        place = self.path(f"token-{token}")
        Path(place).write_text(token, "utf-8")
        try:
            for worker, problem in session.everywhere(_try, place, token).items():
                if problem:
                    raise ClusterError(
                        f"worker {worker}: {self.folder}: {problem}; use a folder that all "
                        "workers see"
                    )
        finally:  # and with those of runs that were stopped here
            self.drop(*[name for name in self._made if name.startswith("token-")])

    def remove(self) -> None:
        """Remove the files of the run, and the folder if it is then empty."""
        self._sweep()
        self.drop(*[name for name in self._made if not name.endswith("/")])
        for name in self._made:  # folders
            self._delete(name)
        with suppress(OSError):
            if set(os.listdir(self.folder)) <= {_MARKER, _LOCK}:
                gone = free_name(Path(self.folder).parent)  # the folder is never without a marker
                os.rename(self.folder, gone)
                for name in (_MARKER, _LOCK):
                    (gone / name).unlink(missing_ok=True)
                gone.rmdir()

    def do(
        self,
        session: Session,
        step: str,
        function: Callable[..., Done],
        tasks: Mapping[str, Task],
        progress: Callable[[str], None] | None = None,
        *,
        errors: int = 1,
    ) -> dict[str, Any]:
        """Do the tasks of a step that are not done yet, in order; return all values."""
        files: list[str] = []
        for key in tasks:
            files += [f"{step}/{key}.json", f"{step}/{key}.bin"]
        self.claim(*files)
        done = {}
        for key in tasks:
            record = self.read(step, f"{key}.json")
            if _is_valid(record):
                done[key] = record["value"]
        report = progress or (lambda key: None)
        for key in done:
            report(key)
        left = [key for key in tasks if key not in done]
        recording = []
        for key in left:
            arguments = function, tasks[key].arguments, f"{self.folder}/{step}/{key}.json"
            recording.append(replace(tasks[key], arguments=arguments))
        for place, value in session.each(_record, recording, label=step, errors=errors):
            done[left[place]] = value
            report(left[place])
        return {key: done[key] for key in tasks}

    def _sweep(self) -> None:
        """Remove what was half written when a process was stopped."""
        folders = [name for name in self._made if name.endswith("/")]
        for name in ["", *folders]:
            folder = Path(self.folder, name)
            if folder.is_symlink() or not folder.is_dir():
                continue
            for path in folder.iterdir():
                if _HALF.fullmatch(path.name) and not path.is_symlink():
                    with suppress(OSError):
                        path.unlink()


def _foreign(path: str) -> RunError:
    """Return the error for a file or folder that is in the way."""
    return RunError(f"{path}: is not from this run, which needs that name; move it elsewhere")


def _make(folder: str) -> None:
    """Create a folder with its marker in one step: it never exists without."""
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    new = free_name(Path(folder).parent)
    with undisturbed():
        try:
            new.mkdir()
            (new / _MARKER).write_text(json.dumps({"made by alignkit": []}), "utf-8")
            os.rename(new, folder)
        except OSError:
            with suppress(OSError):
                (new / _MARKER).unlink(missing_ok=True)
                new.rmdir()
            if not os.path.lexists(folder):  # no other process was faster
                raise


def _lives(process: int) -> bool:
    """Return whether a process of this machine may be running."""
    if sys.platform == "win32":  # where this signal would end the process
        return True
    try:
        os.kill(process, 0)
    except OSError as problem:
        return not isinstance(problem, ProcessLookupError)
    return True


class Done(NamedTuple):
    """The value of a task (JSON) and the files that it wrote."""

    value: Any
    files: Sequence[str]


def _record(function: Callable[..., Done], arguments: Sequence[Any], record: str) -> Any:
    """Do a task, and write its value and the state of its files to a record; return the value."""
    done = function(*arguments)
    files = {path: state_of(path) for path in done.files}
    _write_json({"files": files, "value": done.value}, record)
    return done.value


def _write_json(value: object, path: str) -> None:
    """Write a JSON file; it is complete at any time."""
    with placing(path) as beside:
        Path(beside).write_text(json.dumps(value), "utf-8")


def _is_valid(record: Any) -> bool:
    """Return whether there is a record of a finished task, and its files have not changed since."""
    if not record:
        return False
    try:
        return all(list(state_of(path)) == state for path, state in record["files"].items())
    except OSError:
        return False


def _try(place: str, token: str) -> str:
    """Return why a worker cannot use the folder of the run; empty if it can."""
    try:
        content = Path(place).read_text("utf-8")
        TemporaryFile(dir=os.path.dirname(place)).close()
    except (OSError, AlignkitError) as problem:
        return str(problem)
    if content == token:
        return ""
    return "has a different file in that place"


def _difference(name: str, before: Any, now: Any) -> str:
    """Describe the first difference of an entry of two manifests."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*before, *now]):
            if key not in before:
                return f"{name} {key} is new"
            if key not in now:
                return f"{name} {key} is missing"
            if before[key] != now[key]:
                return _difference(f"{name} {key}", before[key], now[key])
    if len(f"{before}{now}") > 60:  # digests tell people nothing
        return f"{name} has changed"
    return f"{name} was {before}, and is now {now}"


@contextmanager
def running(work: str | None, output: str = "") -> Iterator[Run]:
    """Open the folder of a run, in the folder given by the user or next to the output."""
    if work is not None:
        atomic_files.refuse_address(work)
    folder = folder_beside(output) if work is None else os.path.join(work, FOLDER)
    run = Run(folder)

    def stopped() -> str:
        run.close()
        return ""

    try:
        with before_stop(stopped):
            yield run
        if work is None:
            run.remove()
    except (ClusterError, FileError, RunError, WriteError):
        raise
    except AlignkitError:
        if work is None:
            run.remove()
        raise
    finally:
        run.close()


def folder_beside(output: str) -> str:
    """Return the default folder of a run: next to its output, or to the folder with a ``*``."""
    mark = blake2b(os.path.abspath(output).encode("utf-8", "surrogateescape"), digest_size=4)
    folder = os.path.dirname(output.partition("*")[0])
    return os.path.join(folder, f".alignkit-{mark.hexdigest()}")


@contextmanager
def placing(path: str) -> Iterator[str]:
    """Yield the path of a temporary file next to a path; it is put in place at the end."""
    with atomic_files.apart(), atomic_files.replacing_file(path) as beside:
        yield beside


@contextmanager
def _write_errors(path: str) -> Iterator[None]:
    """Turn errors of the system into writing errors that name a file or folder."""
    try:
        yield
    except AlignkitError:
        raise
    except OSError as problem:
        raise WriteError(f"{path}: cannot be written: {problem.strerror or problem}") from None


def state_of(path: str) -> tuple[int, int]:
    """Return the size of a file, and its time of change in nanoseconds."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns
