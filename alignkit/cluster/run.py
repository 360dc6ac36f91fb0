"""Keep what a run has done in a folder that all workers see, so that it goes on after any stop."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from alignkit.cluster.addresses import ClusterError
from alignkit.cluster.session import Session, Task
from alignkit.errors import AlignkitError, FileError
from alignkit.output import WriteError, apart, replacing_file
from alignkit.version import __version__

__all__ = ["Done", "FileState", "Run", "RunError", "placing", "running", "state_of"]

_MANIFEST = "manifest.json"
_ENDING = ".part"  # of what is being written

FileState = tuple[int, int]
"""The size of a file, and when it was changed, in nanoseconds."""


class RunError(AlignkitError):
    """A run that cannot go on: its folder is of another one, or damaged."""


class Run:
    """Hold the folder of a run.

    Parameters
    ----------
    folder
        Where it is; made if it is not there.

    Raises
    ------
    WriteError
        If nothing can be made there.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.path.abspath(folder)
        with _told(self.folder):
            os.makedirs(self.folder, exist_ok=True)

    def path(self, *names: str) -> str:
        """Return the path of a file of the run; its folder is made."""
        path = os.path.join(self.folder, *names)
        with _told(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def settle(self, what: Mapping[str, Any]) -> bool:
        """Take note of what the run is of; return whether it goes on with one that was begun.

        Parameters
        ----------
        what
            Names of settings and inputs with their values, as JSON can hold them.

        Raises
        ------
        RunError
            If the folder is of a run of something else; the message says of what.
        """
        now = json.loads(json.dumps({"alignkit": __version__, **what}))
        before = self.read(_MANIFEST)
        if before is None:
            self.write(now, _MANIFEST)
            return False
        for name in dict.fromkeys((*before, *now)):
            if before.get(name) != now.get(name):
                raise RunError(
                    f"{self.folder}: is the folder of another run: "
                    f"{_difference(name, before.get(name), now.get(name))}; name another folder, "
                    "or remove this one"
                )
        return True

    def read(self, *names: str) -> Any:
        """Return what a JSON file of the run holds; None where there is none."""
        path = os.path.join(self.folder, *names)
        try:
            return json.loads(Path(path).read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as problem:
            raise RunError(f"{path}: cannot be read: {problem}; remove it") from None

    def write(self, value: object, *names: str) -> None:
        """Write a JSON file of the run, which is whole at any time."""
        with placing(self.path(*names)) as beside:
            Path(beside).write_text(json.dumps(value), "utf-8")

    def try_workers(self, session: Session) -> None:
        """Find out whether all workers see the folder, and may write there.

        Raises
        ------
        ClusterError
            If one does not; the message names it.
        """
        token = os.urandom(8).hex()
        place = self.path(f"token-{token}")
        Path(place).write_text(token, "utf-8")
        try:
            for worker, problem in session.everywhere(_try, place, token).items():
                if problem:
                    raise ClusterError(
                        f"worker {worker}: {self.folder}: {problem}; the folder has to be one that "
                        "all workers see"
                    )
        finally:
            with suppress(OSError):
                os.unlink(place)

    def remove(self) -> None:
        """Remove the folder, and all that is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)

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
        """Do the tasks of a step that are not done yet; return what all gave.

        Parameters
        ----------
        session
            Who does them.
        step
            What the step is called.
        function
            What does a task, and returns what it gave and which files it wrote.
        tasks
            By what each is called within the step; the first are begun first.
        progress
            Called with the name of each that is done.
        errors
            As of `Session.each`.
        """
        found = {key: self._recorded(step, key) for key in tasks}
        done = {key: record["value"] for key, record in found.items() if record is not None}
        tell = progress or (lambda key: None)
        for key in done:
            tell(key)
        left = [key for key in tasks if key not in done]
        recording = [
            replace(
                tasks[key],
                arguments=(function, tasks[key].arguments, self.path(step, f"{key}.json")),
            )
            for key in left
        ]
        for place, value in session.each(_record, recording, label=step, errors=errors):
            done[left[place]] = value
            tell(left[place])
        return {key: done[key] for key in tasks}

    def _recorded(self, step: str, key: str) -> Any:
        """Return what is known of a task that is done, if its files are as they were then."""
        record = self.read(step, f"{key}.json")
        try:
            if record and all(list(state_of(path)) == at for path, at in record["files"].items()):
                return record
        except OSError:
            pass
        return None

    def sweep(self) -> None:
        """Remove what workers that died have left half written."""
        for folder, _, files in os.walk(self.folder):
            for name in files:
                if name.endswith(_ENDING):
                    with suppress(OSError):
                        os.unlink(os.path.join(folder, name))


class Done(NamedTuple):
    """Hold what a task gave, as JSON can hold it, and the files that it wrote."""

    value: Any
    files: Sequence[str]


def _record(function: Callable[..., Done], arguments: Sequence[Any], record: str) -> Any:
    """Do a task, and take note that it is done when all its files are in their places."""
    done = function(*arguments)
    files = {path: state_of(path) for path in done.files}
    with placing(record) as beside:
        Path(beside).write_text(json.dumps({"files": files, "value": done.value}), "utf-8")
    return done.value


def _try(place: str, token: str) -> str:
    try:
        found = Path(place).read_text("utf-8")
        with placing(f"{place}-{socket.gethostname()}-{os.getpid()}") as beside:
            Path(beside).write_text(token, "utf-8")
        os.unlink(f"{place}-{socket.gethostname()}-{os.getpid()}")
    except (OSError, AlignkitError) as problem:
        return str(problem)
    return "" if found == token else "holds something else there"


def _difference(name: str, before: Any, now: Any) -> str:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*before, *now)):
            if key not in before or key not in now:
                return f"{name} {key} {'is new' if key in now else 'is gone'}"
            if before[key] != now[key]:
                return _difference(f"{name} {key}", before[key], now[key])
    if len(f"{before}{now}") > 60:  # digests tell people nothing
        return f"{name} has changed"
    return f"{name} was {before}, and is {now}"


@contextmanager
def running(work: str | None, output: str) -> Iterator[Run]:
    """Open the folder of a run; one that nobody named goes when all is done.

    It goes too if what is read is bad: that has to be changed, and the run is then another one.
    After other errors, and when it is stopped, it stays, and the run can go on.

    Parameters
    ----------
    work
        The folder; None: one beside the output.
    output
        What is written.
    """
    run = Run(folder_beside(output) if work is None else work)
    if work is None and run.read(_MANIFEST) is None:  # late workers may have left something
        run.remove()
        run = Run(run.folder)
    try:
        yield run
    except (ClusterError, FileError, RunError, WriteError):
        raise
    except AlignkitError:
        if work is None:
            run.remove()
        raise
    if work is None:
        run.remove()


def folder_beside(output: str) -> str:
    """Return the folder of a run that none was named for: beside its output, or what a ``*`` is."""
    mark = blake2b(os.path.abspath(output).encode("utf-8", "surrogateescape"), digest_size=4)
    folder = os.path.dirname(output.partition("*")[0])
    return os.path.join(folder, f".alignkit-{mark.hexdigest()}")


@contextmanager
def placing(path: str) -> Iterator[str]:
    """Name a file beside a path, which takes its place when it is whole; its folder is made.

    Several workers may do so at once: each has a file of its own, and the last one stays.

    Raises
    ------
    WriteError
        If it cannot be written.
    """
    with _told(path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with apart(), replacing_file(path) as beside:
        yield beside


@contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        yield
    except AlignkitError:
        raise
    except OSError as problem:
        raise WriteError(f"{path}: cannot be written: {problem.strerror or problem}") from None


def state_of(path: str) -> FileState:
    """Return what tells that a file has not been changed."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns
