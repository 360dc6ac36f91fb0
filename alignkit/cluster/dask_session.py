"""Run tasks on the workers of a Dask cluster.

Any worker may do a task, and repeat it if another one is lost. A worker must therefore compute the
same bits as this process; a `Canary` checks this.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from alignkit.cluster import worker_watch
from alignkit.cluster.canary import Canary, canary
from alignkit.cluster.session import ClusterError, Session, Task, TaskFailures
from alignkit.cluster.worker_watch import WorkerWatch, size_text
from alignkit.errors import AlignkitError

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")


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
        self._watch = WorkerWatch(self._address, wait)
        self._need_worker()
        self._mine = check()
        self._homes: dict[int, Future[Any]] = {}
        self._refuse_others()

    def _need_worker(self) -> None:
        """Wait until there is a worker."""
        timeout = worker_watch.LOOK
        if self._watch.wait is not None:
            timeout = min(worker_watch.LOOK, self._watch.wait)
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
        failed = TaskFailures(errors)
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
            done = as_completed(left.values(), timeout=worker_watch.LOOK)
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
                f"{largest.name}: needs about {size_text(largest.memory)} of memory, but no "
                f"worker has more than {size_text(max(limits))}: give workers more memory, or "
                f"{largest.smaller}"
            )

    def _homes_of(self, tasks: Sequence[Task]) -> list[Future[Any] | None]:
        """Return a future for each task; the worker that holds it gets the task."""
        size = max(1, self.workers)
        homes: list[Future[Any] | None] = []
        for task in tasks:
            if task.home is None:
                homes.append(None)
                continue
            place = task.home % size
            if place not in self._homes:
                key = f"home-{uuid4().hex[:8]}-{place}"
                self._homes[place] = self._client.submit(int, place, key=key, pure=False)
            homes.append(self._homes[place])
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
        needs = f"; it needs about {size_text(task.memory)}"
        if most:
            needs += f", and a worker has {size_text(most)}"
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
