"""Run tasks, on the workers of a cluster or in this process.

A task is a function of this package with small arguments: names of files, never their content.
Another worker can repeat it and writes the same files. The session here is that of this process;
`alignkit.cluster.dask_session` has that of a Dask cluster, and `alignkit.cluster.connecting` opens
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from alignkit.errors import AlignkitError, PartsError
from alignkit.io.atomic_files import WriteError

T = TypeVar("T")
Connection = Any  # a Dask client, an address as in `open_session`, or None for only this process
OnProgress = Callable[[int, int, str], None]
"""Called with the amount done, the total, and a description."""


class ClusterError(AlignkitError):
    """A cluster that cannot be reached, or workers that cannot do a task.

    Raised by `open_session`, and by all that uses a session.

    Examples
    --------
    >>> from alignkit.cluster import ClusterError
    >>> from alignkit.errors import AlignkitError
    >>> issubclass(ClusterError, AlignkitError)
    True
    """


@dataclass(frozen=True)
class Task:
    """A task for a worker."""

    name: str  # what messages call it, e.g. "part 17 (in/17.fr.gz)"
    arguments: tuple[Any, ...]  # what the function takes; small
    memory: int = 0  # about how many bytes it needs; 0 if not known
    smaller: str = "divide it into smaller parts"  # what users can do if that is too much
    home: int | None = None  # tasks with the same home go to the same worker, if they can


class Session:
    """A way to give tasks to workers; this one has none: the process does all tasks in turn.

    Returned by `open_session`.

    Attributes
    ----------
    threads, workers : Threads of a task (None: one per core), and number of simultaneous tasks.
    memory : Bytes that a task may take; 0 if there is no limit.
    dashboard : Address that shows the work in a browser; None if there is none.

    Examples
    --------
    >>> from alignkit.cluster import open_session
    >>> with open_session(None) as session:
    ...     session.workers, session.memory, session.dashboard
    (1, 0, None)
    """

    threads: int | None = None
    workers = 1
    memory = 0
    dashboard: str | None = None

    def each(
        self, function: Callable[..., T], tasks: Sequence[Task], *, errors: int = 1, label: str = ""
    ) -> Iterator[tuple[int, T]]:
        """Start tasks in order; yield place and result of each one when it is done.

        After `errors` failures the others are stopped; `label` is their name in the dashboard.

        Raises
        ------
        AlignkitError : The error of a task; if several failed, all of them in one.
        """
        failed = TaskFailures(errors)
        for place, task in enumerate(tasks):
            try:
                value = function(*task.arguments)
            except AlignkitError as error:
                failed.add(error)
            else:
                yield place, value
        failed.raise_all()

    def everywhere(self, function: Callable[..., T], *arguments: object) -> dict[str, T]:
        """Call a function once on each worker; return the results by worker name."""
        return {"this process": function(*arguments)}

    def path(self, path: str) -> str:
        """Return the path of a file for tasks: workers may run in another folder."""
        return path


class TaskFailures:
    """Collects the errors of tasks until there are too many."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._errors: list[AlignkitError] = []

    def add(self, error: AlignkitError) -> None:
        """Store an error of a part; raise any other at once, and all if there are too many."""
        error.__context__ = None  # with its context, files would stay open
        if isinstance(error, (ClusterError, WriteError)):
            raise error
        self._errors.append(error.with_traceback(None))
        if len(self._errors) >= self._most:
            self.raise_all()

    def raise_all(self) -> None:
        """Raise the errors, if any."""
        messages = sorted(map(str, self._errors))
        if len(set(messages)) == 1:
            raise self._errors[0]
        if messages:
            more = ""
            if len(messages) == self._most:
                more = f"; the first {len(messages)} are shown"
            raise PartsError(f"several parts cannot be read{more}", messages)
