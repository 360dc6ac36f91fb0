"""Run tasks on the workers of a Dask cluster, or in this process.

A task is a function of this package with small arguments: names of files, never their content.
Another worker can repeat it and writes the same files. A worker must therefore compute the same
bits as this process; a `Canary` checks this.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from alignkit._support.arguments import kind_of
from alignkit._support.extras import missing_libraries
from alignkit.cluster.canary import Canary, canary
from alignkit.errors import AlignkitError, ArgumentError, FileError, OptionError, PartsError
from alignkit.io.atomic_files import WriteError

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")
Connection = Any  # a Dask client, an address as in `open_session`, or None for only this process
OnProgress = Callable[[int, int, str], None]
"""Called with the amount done, the total, and a description."""

PATIENCE = 30  # seconds to wait for a scheduler, and for the first worker of this machine
_LOOK = 5.0  # seconds between looks at the workers; what two looks find is reported
_LOCAL = re.compile(r"local(?::(\d+))?")


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


# Tasks and sessions


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
        failed = _Failures(errors)
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


class _Failures:
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


class DaskSession(Session):
    """The workers of a Dask cluster.

    Parameters
    ----------
    client : The connection.
    check : Returns what this process and the workers must share.
    here : Whether the workers run in the folder of this process.
    wait : Seconds to wait for workers; None: forever.
    """

    threads = 1

    def __init__(
        self,
        client: Client,
        *,
        check: Callable[[], Canary] = canary,
        here: bool = False,
        wait: float | None = None,
    ) -> None:
        self._client = client
        self._check = check
        self._here = here
        self._address = str(getattr(client.scheduler, "address", "the scheduler"))
        self.dashboard = None
        if find_spec("bokeh"):
            self.dashboard = client.dashboard_link or None
        self._watch = _Watch(self._address, wait)
        self._need_worker()
        self._mine = check()
        self._homes: dict[int, Future[Any]] = {}
        self._refuse_others()

    def _need_worker(self) -> None:
        """Wait until there is a worker."""
        timeout = _LOOK
        if self._watch.wait is not None:
            timeout = min(_LOOK, self._watch.wait)
        key = f"first-{uuid4().hex[:8]}"
        while not self._watch.look(self._known, {}):
            # as long as the result is kept, so is its worker, in a cluster that shrinks
            self._first = self._client.submit(int, key=key, pure=False)
            with suppress(TimeoutError):
                self._first.result(timeout=timeout)

    @property
    def _known(self) -> dict[str, dict[str, Any]]:
        """What the scheduler knows of its workers, by address."""
        with suppress(OSError):
            info = self._client.scheduler_info(n_workers=-1)
            if self._client.status == "running":
                workers: dict[str, dict[str, Any]] = info["workers"]
                return workers
        raise self._gone()

    def _gone(self) -> ClusterError:
        """Return the error for a scheduler that does not answer any more."""
        return ClusterError(f"{self._address}: the scheduler is gone; start another one")

    @property
    def workers(self) -> int:  # type: ignore[override]
        """The number of simultaneous tasks."""
        return sum(worker["nthreads"] for worker in self._known.values())

    @property
    def memory(self) -> int:  # type: ignore[override]
        """Bytes that a task may take on the smallest worker; 0 if there is no limit."""
        limited = [worker for worker in self._known.values() if worker["memory_limit"]]
        return min([worker["memory_limit"] // worker["nthreads"] for worker in limited], default=0)

    def _refuse_others(self) -> None:
        """Reject workers that differ from this process; one per host compiles for the rest."""
        hosts: dict[str, str] = {}
        for address, worker in self._known.items():
            hosts.setdefault(worker["host"], address)
        for chosen in (list(hosts.values()), None):  # None: all
            for address, theirs in self.everywhere(self._check, workers=chosen).items():
                difference = self._mine.differs(theirs)
                if difference:
                    raise ClusterError(f"worker {address}: {difference}")

    def each(
        self, function: Callable[..., T], tasks: Sequence[Task], *, errors: int = 1, label: str = ""
    ) -> Iterator[tuple[int, T]]:
        """Start tasks on the workers; see `Session.each`."""
        failed = _Failures(errors)
        most = self.memory  # of workers that may die
        self._refuse_large(tasks)
        futures = self._submit(function, tasks, label or function.__name__)
        places = {future.key: place for place, future in enumerate(futures)}
        by_key = {key: tasks[place] for key, place in places.items()}
        try:
            for future in self._done(futures, by_key):
                place = places[future.key]
                try:
                    value = self._result(future, tasks[place], most)
                except AlignkitError as error:
                    failed.add(error)
                    continue
                future.release()
                yield place, value
            failed.raise_all()
        finally:
            with suppress(Exception):  # the cluster may be gone
                self._client.cancel(futures, force=True)

    def _submit(
        self, function: Callable[..., T], tasks: Sequence[Task], name: str
    ) -> list[Future[Any]]:
        """Give tasks to the workers; the first ones have priority."""
        run = uuid4().hex[:8]
        homes = self._homes_of(tasks)
        futures = []
        for place, task in enumerate(tasks):
            # in one piece, so that Dask does not look for tasks in the arguments
            job = partial(function, *task.arguments)
            checked = partial(_perform, self._mine, self._check, job)
            key = f"{name}-{run}-{place}"
            future = self._client.submit(
                checked, homes[place], key=key, priority=-place, pure=False
            )
            futures.append(future)
        return futures

    def _result(self, future: Future[Any], task: Task, most: int) -> Any:
        """Return the result of a task that is done; errors of Dask become those of users.

        `most` is the memory of the workers, for messages.
        """
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        try:
            return future.result()
        except KilledWorker as error:
            raise _killing(task, error.allowed_failures + 1, most) from None
        except FutureCancelledError:
            raise self._gone() from None
        except RuntimeError as error:
            if "deserialization of the task graph" not in str(error):
                raise
            text = (
                f"{self._address}: the scheduler cannot read the tasks; it needs "
                "alignkit in the version of this process; if that was installed "
                "later, restart the scheduler"
            )
            raise ClusterError(text) from None

    def _done(
        self, futures: Sequence[Future[Any]], tasks: Mapping[Any, Task]
    ) -> Iterator[Future[Any]]:
        """Yield futures when they are done; check the workers while waiting."""
        from distributed import as_completed

        left = {future.key: future for future in futures}
        while left:
            done = as_completed(left.values(), timeout=_LOOK)
            with suppress(TimeoutError):
                while (future := next(done, None)) is not None:
                    del left[future.key]
                    yield future
            try:
                workers = self._known
                processing = self._client.processing()
            except Exception:  # the scheduler is gone: the futures will say so
                continue
            waiting = [tasks[key] for key in left]
            by_worker = {}
            for worker in workers:
                at_work = [tasks[key] for key in processing.get(worker, ()) if key in left]
                by_worker[worker] = at_work or waiting
            if left or workers:  # those of a cluster that shrinks may leave when all is done
                self._watch.look(workers, by_worker)

    def _refuse_large(self, tasks: Sequence[Task]) -> None:
        """Reject a task that needs more memory than any worker has."""
        limits = [worker["memory_limit"] for worker in self._known.values()]
        largest = max(tasks, key=lambda task: task.memory, default=None)
        if largest and limits and all(limits) and largest.memory > max(limits):
            raise ClusterError(
                f"{largest.name}: needs about {_size(largest.memory)} of memory, but no "
                f"worker has more than {_size(max(limits))}: give workers more memory, or "
                f"{largest.smaller}"
            )

    def _homes_of(self, tasks: Sequence[Task]) -> list[Future[Any] | None]:
        """Return a future for each task; the worker that holds it gets the task."""
        if all(task.home is None for task in tasks):
            return [None] * len(tasks)
        size = max(1, self.workers)
        for place in range(size):
            if place not in self._homes:
                key = f"home-{uuid4().hex[:8]}-{place}"
                self._homes[place] = self._client.submit(int, place, key=key, pure=False)
        homes: list[Future[Any] | None] = []
        for task in tasks:
            if task.home is None:
                homes.append(None)
            else:
                homes.append(self._homes[task.home % size])
        return homes

    def path(self, path: str) -> str:
        """Return the path of a file for tasks; see `Session.path`."""
        if self._here:
            return path
        return os.path.abspath(path)

    def everywhere(
        self, function: Callable[..., T], *arguments: object, workers: list[str] | None = None
    ) -> dict[str, T]:
        """Call a function once on each worker, or on those with some addresses."""
        for left in (2, 1, 0):  # workers may leave at any time
            self._need_worker()
            chosen = workers
            if workers:
                chosen = [worker for worker in workers if worker in self._known]
            try:
                values: dict[str, T] = self._client.run(function, *arguments, workers=chosen)
                break
            except AlignkitError:
                raise
            except OSError as problem:
                if not left:
                    raise ClusterError(
                        f"{self._address}: a worker has disappeared ({problem}); repeat "
                        "the same command"
                    ) from None
        return values


def _killing(task: Task, times: int, most: int) -> ClusterError:
    """Return the error for a task from which workers died that have `most` bytes, if known."""
    needs = ""
    if task.memory:
        needs = f"; it needs about {_size(task.memory)}"
        if most:
            needs += f", and a worker has {_size(most)}"
    return ClusterError(
        f"{task.name}: {times} workers died from this task{needs}: give workers more memory, or "
        f"{task.smaller}"
    )


def _perform(mine: Canary, check: Callable[[], Canary], task: Callable[[], T], _: int | None) -> T:
    """Do a task on a worker that computes what the process `mine` would."""
    difference = mine.differs(check())
    if difference:
        from distributed import get_worker

        raise ClusterError(f"worker {get_worker().address}: {difference}")
    return task()


class _Watch:
    """Reports once why tasks wait, and when they continue."""

    def __init__(self, address: str, wait: float | None) -> None:
        self._address = address
        self.wait = wait
        self._first_seen: dict[str, float] = {}  # when each present problem was seen first
        self._reported: set[str] = set()
        self._none = "no workers yet"

    def look(self, workers: Mapping[str, dict[str, Any]], tasks: Mapping[str, list[Task]]) -> bool:
        """Update the workers and their tasks; return whether there are any workers."""
        now: dict[str, str] = {}  # the problems, by what has them
        back: dict[str, str] = {}  # what is reported if a problem is gone
        for address, worker in workers.items():
            name = f"worker {address}"
            back[name] = "working again"
            if worker["status"] == "paused":
                now[name] = _paused(worker, tasks.get(address, ()))
        if workers:
            self._none = "no workers are left"
            back[self._address] = f"workers are available: {len(workers)}"
        else:
            limit = ""
            if self.wait is not None:
                limit = f" for at most {self.wait:g} s"
            now[self._address] = f"{self._none}, waiting{limit}"
        # a problem is reported once it has lasted from one look to another
        clock = time.monotonic()
        self._first_seen = {name: self._first_seen.get(name, clock) for name in now}
        late = {name for name, first in self._first_seen.items() if clock - first >= _LOOK}
        text = {name: now[name] for name in sorted(late - self._reported)}
        text |= {name: back.get(name, "gone") for name in sorted(self._reported - now.keys())}
        for name, state in text.items():
            logging.getLogger("alignkit").warning("%s: %s", name, state, extra={"again": True})
        self._reported = late
        since = self._first_seen.get(self._address)
        if since is not None and self.wait is not None and clock - since >= self.wait:
            raise ClusterError(
                f"{self._address}: no worker came within {self.wait:g} s; start workers, "
                "or wait longer with `wait`, and repeat the same command"
            )
        return bool(workers)


def _paused(worker: Mapping[str, Any], tasks: Sequence[Task]) -> str:
    """Describe why a worker is paused that has these tasks."""
    none = Task("", (), smaller="smaller parts")
    task = max(tasks, key=lambda task: task.memory, default=none)
    what = ""
    if task.name and task.memory:
        what = f"{task.name} needs about {_size(task.memory)}, "
    elif task.name:
        what = f"{task.name} waits for it, "
    has = _size(worker["memory_limit"])
    uses = _size(worker["metrics"]["memory"])
    return (
        f"Dask has paused it: {what}it has {has}, and uses {uses}; give workers more memory, or "
        f"{task.smaller}"
    )


def _size(size: int) -> str:
    """Return a number of bytes for a message."""
    if size >= 1e9:
        return f"{size / 1e9:.2g} GB"
    return f"{size / 1e6:.3g} MB"


# Connecting


@contextmanager
def open_session(
    address: Connection, *, check: Callable[[], Canary] = canary, wait: float | None = None
) -> Iterator[Session]:
    """Connect to workers; release them at the end.

    Parameters
    ----------
    address : ``local:4`` starts 4 processes on this machine, ``local`` one per core;
        ``tcp://HOST:PORT``, ``tls://HOST:PORT`` or a scheduler's file ``*.json``; a `Client`, which
        stays open. None: only this process.
    check : Returns the properties that this process and the workers must share.
    wait : Seconds to wait for workers, at the start and when none are left; None: forever, but 30
        seconds for ``local``.

    Raises
    ------
    ClusterError : If Dask is not installed, or no scheduler or worker answers.
    OptionError, ArgumentError : If the address is invalid, the client cannot be used, or `wait` is
        not in seconds.

    Examples
    --------
    >>> with open_session(None) as session:
    ...     session.workers
    1
    """
    if wait is not None and not (isinstance(wait, Real) and wait >= 0):
        raise ArgumentError(f"wait is {wait!r}; give seconds, 0 or more, or None")
    if address is None:
        yield Session()
    elif isinstance(address, str):
        here = address.startswith("local")
        with connected(address, wait or 0) as client:
            if here and wait is None:
                wait = PATIENCE
            yield DaskSession(client, check=check, here=here, wait=wait)
    else:
        _check_client(address)
        yield DaskSession(address, check=check, wait=wait)


def _check_client(client: Connection) -> None:
    """Refuse what is no client that can be used."""
    if not (hasattr(client, "submit") and hasattr(client, "scheduler_info")):
        fault = f"{kind_of(client)}; give a Dask Client, an address, or None"
    elif client.status in ("closing", "closed"):
        fault = "closed; open another one: Client(...)"
    elif client.asynchronous:
        fault = "asynchronous; open it with Client(..., asynchronous=False), outside coroutines"
    else:
        return
    raise ArgumentError(f"client is {fault}")


def check_address(address: str) -> None:
    """Raise an error if a text is not an address or Dask is not installed."""
    local = _LOCAL.fullmatch(address)
    known = local or address.startswith(("tcp://", "tls://", "ucx://")) or address.endswith(".json")
    if not known or (local and local[1] and int(local[1]) < 1):
        raise OptionError(
            f"{address!r} is not the address of a cluster; use local:4 (4 processes on this "
            "machine), tcp://HOST:8786, or the FILE.json of a scheduler"
        )
    missing = [name for name in ("dask", "distributed") if find_spec(name) is None]
    if missing:
        raise ClusterError(missing_libraries("a cluster", missing, "cluster"))


@contextmanager
def connected(address: str, wait: float = 0) -> Iterator[Client]:
    """Connect to the scheduler of an address; start one for ``local``."""
    check_address(address)
    import dask
    from distributed import Client, LocalCluster

    from alignkit._support.parallel import available_cores

    local = _LOCAL.fullmatch(address)
    if local:
        # Dask gives a worker up for good that is dead 15 seconds after it died before
        lost = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"})
        number = int(local[1]) if local[1] else available_cores()
        options: Any = {"dashboard_address": ":0", "silence_logs": "CRITICAL"}
        with (
            lost,
            LocalCluster(n_workers=number, threads_per_worker=1, **options) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    with ExitStack() as stack:
        stack.enter_context(_silent())
        wait = max(wait, PATIENCE)
        place = address
        if address.endswith(".json"):
            place = _address_in(address, wait)
        try:
            client = stack.enter_context(Client(place, timeout=wait))
        except (OSError, ValueError) as problem:
            raise ClusterError(f"{address}: no scheduler answers: {problem}") from None
        yield client


@contextmanager
def _silent() -> Iterator[None]:
    """Silence Dask's report of a lost scheduler, which becomes an error."""
    logs = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


def _address_in(path: str, wait: float) -> str:
    """Return the address in a scheduler's file; wait until it is written."""
    end = time.monotonic() + wait
    while True:
        try:
            content = json.loads(Path(path).read_text("utf-8"))
            break
        except (FileNotFoundError, ValueError):  # not there, or not whole
            if time.monotonic() > end:
                raise ClusterError(
                    f"{path}: no scheduler wrote this file within {wait:g} seconds"
                ) from None
            time.sleep(0.2)
        except OSError as problem:
            raise FileError.of(problem, path) from None
    if not (isinstance(content, dict) and isinstance(content.get("address"), str)):
        raise ClusterError(f"{path}: is not a scheduler's file: it has no address")
    return str(content["address"])
