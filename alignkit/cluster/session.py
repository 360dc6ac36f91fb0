"""Hand tasks to workers: to those of a Dask cluster, or to this process alone.

A task is a function of this package with small arguments: names of files, never what they hold.
It can be done again, by another worker, and leaves the same files.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from logging import getLogger
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from alignkit._support.arguments import kind_of
from alignkit.cluster.addresses import PATIENCE, Canary, ClusterError, canary, connected
from alignkit.errors import AlignkitError, ArgumentError, PartsError
from alignkit.io.atomic_files import WriteError

if TYPE_CHECKING:
    from distributed import Client, Future


T = TypeVar("T")
Connection = Any
"""A client of Dask, an address as of `open_session`, or None for this process alone."""
_LOOK = 5.0  # seconds between looks at the workers; what two looks find is reported


@dataclass(frozen=True)
class Task:
    """What is to be done."""

    name: str  # what messages call it, e.g. "part 17 (in/17.fr.gz)"
    arguments: tuple[Any, ...]  # what the function takes; small
    memory: int = 0  # about how many bytes it needs; 0 where that is not known
    smaller: str = "divide it into smaller parts"  # what users can do where that is too much
    home: int | None = None


class Session:
    """Workers, and what gives them tasks.

    Attributes
    ----------
    threads, workers
        Threads of a task (None: one for each core), and tasks done at a time.
    memory
        Bytes a task may take; 0 if nothing limits it.
    dashboard
        Where a browser shows what the workers do; None if nothing does.
    """

    threads: int | None = None
    workers = 1
    memory = 0
    dashboard: str | None = None

    def each(
        self, function: Callable[..., T], tasks: Sequence[Task], *, errors: int = 1, label: str = ""
    ) -> Iterator[tuple[int, T]]:
        """Begin tasks in their order; yield place and result of each as it is done.

        After `errors` failures the others are stopped; the dashboard calls them `label`.

        Raises
        ------
        AlignkitError
            That of a task; several at once if several failed.
        """
        raise NotImplementedError

    def everywhere(self, function: Callable[..., T], *arguments: object) -> dict[str, T]:
        """Call a function once on each worker; return what it gives by the worker's name."""
        raise NotImplementedError

    def path(self, path: str) -> str:
        """Return what tasks are to call a file: workers may have begun in another folder."""
        return path


class ThisProcess(Session):
    """A session without workers: this process does one task after the other."""

    def each(  # noqa: D102
        self, function: Callable[..., T], tasks: Sequence[Task], *, errors: int = 1, label: str = ""
    ) -> Iterator[tuple[int, T]]:
        failed = _Failures(errors)
        for place, task in enumerate(tasks):
            try:
                value = function(*task.arguments)
            except AlignkitError as error:
                failed.add(error)
                continue
            yield place, value
        failed.raise_all()

    def everywhere(self, function: Callable[..., T], *arguments: object) -> dict[str, T]:  # noqa: D102
        return {"this process": function(*arguments)}


def steps(
    progress: Callable[[int, int, str], None] | None, total: int
) -> Callable[[str], Callable[[str], None] | None]:
    """Return what gives each step what it tells of its tasks that are done, one by one."""
    done = 0

    def step(text: str) -> Callable[[str], None] | None:
        if progress is None:
            return None

        def report(_key: str) -> None:
            nonlocal done
            done += 1
            progress(done, total, text)

        return report

    return step


class _Failures:
    """What tasks raised, until it is enough."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: list[AlignkitError] = []

    def add(self, error: AlignkitError) -> None:
        """Take in an error; raise all of them if they are enough, and at once what is no part's."""
        error.__context__ = None  # with what it leads to, files would stay open
        if isinstance(error, (ClusterError, WriteError)):
            raise error
        self._found.append(error.with_traceback(None))
        if len(self._found) >= self._most:
            self.raise_all()

    def raise_all(self) -> None:
        """Raise what was collected, if there is any."""
        if len(set(map(str, self._found))) == 1:
            raise self._found[0]
        if self._found:
            more = f"; {len(self._found)} are shown" if len(self._found) == self._most else ""
            what = f"several parts cannot be read{more}"
            raise PartsError(what, sorted(map(str, self._found)))


class DaskSession(Session):
    """The workers of a Dask cluster."""

    threads = 1

    def __init__(
        self,
        client: Client,
        *,
        check: Callable[[], Canary] = canary,
        here: bool = False,
        wait: float | None = None,
    ) -> None:
        self._client, self._check, self._here = client, check, here
        self._address = str(getattr(client.scheduler, "address", "the scheduler"))
        self.dashboard = (client.dashboard_link or None) if find_spec("bokeh") else None
        self._watch = _Watch(self._address, wait)
        self._need_worker()
        self._mine = check()
        self._homes: dict[int, Future[Any]] = {}
        self._refuse_others()

    def _need_worker(self) -> None:
        wait, key = self._watch.wait, f"first-{uuid4().hex[:8]}"
        while not self._watch.look(self._known):
            self._first = self._client.submit(int, key=key, pure=False)  # kept: so is its worker
            with suppress(TimeoutError):
                self._first.result(timeout=_LOOK if wait is None else min(_LOOK, wait))

    @property
    def _known(self) -> dict[str, dict[str, Any]]:
        with suppress(OSError):
            info = self._client.scheduler_info(n_workers=-1)
            if self._client.status == "running":
                workers: dict[str, dict[str, Any]] = info["workers"]
                return workers
        raise self._gone()

    def _gone(self) -> ClusterError:
        return ClusterError(f"{self._address}: the scheduler is gone; begin another one")

    @property
    def workers(self) -> int:  # type: ignore[override]
        """How many tasks are done at a time."""
        return sum(worker["nthreads"] for worker in self._known.values())

    @property
    def memory(self) -> int:  # type: ignore[override]
        """How many bytes a task may take on the smallest worker; 0 where nothing limits it."""
        each = [
            worker["memory_limit"] // worker["nthreads"]
            for worker in self._known.values()
            if worker["memory_limit"]
        ]
        return min(each, default=0)

    def _refuse_others(self) -> None:
        """Refuse workers that are not as this process; one of each host compiles for the others."""
        hosts: dict[str, str] = {}
        for address, worker in self._known.items():
            hosts.setdefault(worker["host"], address)
        for chosen in (list(hosts.values()), None):
            for address, theirs in self.everywhere(self._check, workers=chosen).items():
                if difference := self._mine.differs(theirs):
                    raise ClusterError(f"worker {address}: {difference}")

    def each(  # noqa: D102
        self, function: Callable[..., T], tasks: Sequence[Task], *, errors: int = 1, label: str = ""
    ) -> Iterator[tuple[int, T]]:
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        failed, run = _Failures(errors), uuid4().hex[:8]
        most = self.memory  # of workers that may die
        self._refuse_large(tasks)
        homes = self._homes_of(tasks)
        futures: list[Future[Any]] = [
            self._client.submit(
                _perform,
                _Call(self._check, self._mine, function, task.arguments),
                homes[place],
                key=f"{label or function.__name__}-{run}-{place}",
                priority=-place,
                pure=False,
            )
            for place, task in enumerate(tasks)
        ]
        places = {future.key: place for place, future in enumerate(futures)}
        try:
            for future in self._done(futures, {key: tasks[k] for key, k in places.items()}):
                place = places[future.key]
                try:
                    value = future.result()
                except AlignkitError as error:
                    failed.add(error)
                    continue
                except KilledWorker as error:
                    raise _killed(tasks[place], error.allowed_failures + 1, most) from None
                except FutureCancelledError:
                    raise self._gone() from None
                except RuntimeError as error:
                    if "deserialization of the task graph" not in str(error):
                        raise
                    raise ClusterError(
                        f"{self._address}: the scheduler cannot read the tasks; it needs "
                        "alignkit too, in the version that this process has, and was perhaps begun "
                        "before that was installed"
                    ) from None
                future.release()
                yield place, value
            failed.raise_all()
        finally:
            with suppress(Exception):  # the cluster may be gone
                self._client.cancel(futures, force=True)

    def _done(
        self, futures: Sequence[Future[Any]], tasks: Mapping[Any, Task]
    ) -> Iterator[Future[Any]]:
        from distributed import as_completed

        left = {future.key: future for future in futures}
        while left:
            done = as_completed(left.values(), timeout=_LOOK)
            with suppress(TimeoutError):
                while (future := next(done, None)) is not None:
                    del left[future.key]
                    yield future
            try:
                workers, at = self._known, self._client.processing()
            except Exception:  # the scheduler is gone: the futures will say so
                continue
            waiting = [tasks[key] for key in left]
            each = {w: [tasks[key] for key in at.get(w, ()) if key in left] for w in workers}
            if left or workers:  # those of a cluster that shrinks may leave when all is done
                self._watch.look(workers, {w: own or waiting for w, own in each.items()})

    def _refuse_large(self, tasks: Sequence[Task]) -> None:
        limits = [worker["memory_limit"] for worker in self._known.values()]
        largest = max(tasks, key=lambda task: task.memory, default=None)
        if largest and limits and all(limits) and largest.memory > max(limits):
            raise ClusterError(
                f"{largest.name}: needs about {_size(largest.memory)} of memory, but no worker has "
                f"more than {_size(max(limits))}: give workers more memory, or {largest.smaller}"
            )

    def _homes_of(self, tasks: Sequence[Task]) -> list[Future[Any] | None]:
        if all(task.home is None for task in tasks):
            return [None] * len(tasks)
        size = max(1, self.workers)
        for place in range(size):
            if place not in self._homes:
                key = f"home-{uuid4().hex[:8]}-{place}"
                self._homes[place] = self._client.submit(int, place, key=key, pure=False)
        return [None if task.home is None else self._homes[task.home % size] for task in tasks]

    def path(self, path: str) -> str:  # noqa: D102
        return path if self._here else os.path.abspath(path)

    def everywhere(  # noqa: D102
        self, function: Callable[..., T], *arguments: object, workers: list[str] | None = None
    ) -> dict[str, T]:
        for left in (2, 1, 0):  # workers may leave at any time
            self._need_worker()
            chosen = workers and [worker for worker in workers if worker in self._known]
            try:
                values: dict[str, T] = self._client.run(function, *arguments, workers=chosen)
                break
            except AlignkitError:
                raise
            except OSError as problem:
                if not left:
                    raise ClusterError(
                        f"{self._address}: a worker has gone away ({problem}); give the same "
                        "command again"
                    ) from None
        return values


class _Watch:
    """Reports once what keeps tasks waiting, and when that is over."""

    def __init__(self, address: str, wait: float | None) -> None:
        self._address, self.wait = address, wait
        self._found: dict[str, float] = {}  # what is wrong now, and when it was seen first
        self._reported: set[str] = set()
        self._none = "no workers yet"

    def look(
        self,
        workers: Mapping[str, dict[str, Any]],
        tasks: Mapping[str, Sequence[Task]] | None = None,
    ) -> bool:
        """Take in which workers there are, and the tasks at each; return whether there are any."""
        now = {
            f"worker {address}": _paused(worker, (tasks or {}).get(address, ()))
            for address, worker in workers.items()
            if worker["status"] == "paused"
        }
        back = dict.fromkeys((f"worker {address}" for address in workers), "at work again")
        if workers:
            self._none = "no workers are left"
            back[self._address] = f"workers have come: {len(workers)}"
        else:
            limit = "" if self.wait is None else f" for {self.wait:g} s at most"
            now[self._address] = f"{self._none}, waiting{limit}"
        clock = time.monotonic()
        self._found = {name: self._found.get(name, clock) for name in now}
        late = {name for name, first in self._found.items() if clock - first >= _LOOK}
        text = {name: now[name] for name in sorted(late - self._reported)}
        text |= {name: back.get(name, "gone") for name in sorted(self._reported - now.keys())}
        for name, state in text.items():
            getLogger("alignkit").warning("%s: %s", name, state, extra={"again": True})
        self._reported = late
        since = self._found.get(self._address)
        if since is not None and self.wait is not None and clock - since >= self.wait:
            raise ClusterError(
                f"{self._address}: no worker has come in {self.wait:g} s; start workers there, or "
                "wait longer by `wait`, and give the same command again"
            )
        return bool(workers)


def _paused(worker: Mapping[str, Any], tasks: Sequence[Task]) -> str:
    task = max(tasks, key=lambda task: task.memory, default=Task("", (), smaller="smaller parts"))
    needs = f"needs about {_size(task.memory)}" if task.memory else "waits for it"
    what = f"{task.name} {needs}, " if task.name else ""
    has = f"it has {_size(worker['memory_limit'])}, and uses {_size(worker['metrics']['memory'])}"
    return f"Dask has paused it: {what}{has}; give workers more memory, or {task.smaller}"


def _killed(task: Task, times: int, most: int) -> ClusterError:
    """Return what is told of a task of which workers died that had so much memory."""
    needs = f"; it needs about {_size(task.memory)}" if task.memory else ""
    has = f", and a worker has {_size(most)}" if needs and most else ""
    return ClusterError(
        f"{task.name}: {times} workers died of it{needs}{has}: give workers more memory, or "
        f"{task.smaller}"
    )


@dataclass(frozen=True)
class _Call:
    """A task as Dask is to see it: in one piece, lest it takes what is in it for tasks."""

    check: Callable[[], Canary]
    expected: Canary
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def _perform(call: _Call, _home: int | None = None) -> Any:
    if difference := call.expected.differs(call.check()):
        from distributed import get_worker

        raise ClusterError(f"worker {get_worker().address}: {difference}")
    return call.function(*call.arguments)


def _size(size: int) -> str:
    return f"{size / 1e9:.2g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"


@contextmanager
def open_session(
    address: Connection, *, check: Callable[[], Canary] = canary, wait: float | None = None
) -> Iterator[Session]:
    """Connect to workers; give them back at the end.

    Parameters
    ----------
    address
        ``local:4`` starts so many processes on this machine, ``local`` one for each core;
        ``tcp://HOST:PORT``, ``tls://HOST:PORT`` and the file ``*.json`` of a scheduler; a `Client`,
        which stays open. None: this process alone.
    check
        What is compared between this process and the workers.
    wait
        Seconds to wait for workers, at the start and when none are left; None: for ever, but 30
        seconds for ``local``.

    Raises
    ------
    ClusterError
        If Dask is not installed, or no scheduler or worker answers.
    OptionError, ArgumentError
        If the address is none, the client cannot be used, or `wait` is no number of seconds.
    """
    if wait is not None and not (isinstance(wait, Real) and wait >= 0):
        raise ArgumentError(f"wait is {wait!r}; give seconds, 0 or more, or None")
    if address is None:
        yield ThisProcess()
    elif isinstance(address, str):
        here = address.startswith("local")
        with connected(address, wait or 0) as client:
            wait = PATIENCE if here and wait is None else wait
            yield DaskSession(client, check=check, here=here, wait=wait)
    else:
        _check_client(address)
        yield DaskSession(address, check=check, wait=wait)


def _check_client(client: Connection) -> None:
    fault = ""
    if not (hasattr(client, "submit") and hasattr(client, "scheduler_info")):
        fault = f"{kind_of(client)}; give a Client of Dask, an address, or None"
    elif client.status in ("closing", "closed"):
        fault = "closed; open another one: Client(...)"
    elif client.asynchronous:
        fault = "asynchronous; open it by Client(..., asynchronous=False), outside coroutines"
    if fault:
        raise ArgumentError(f"client is {fault}")
