"""Look at the workers of a cluster from time to time, and report why tasks wait."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

from alignkit.cluster.session import ClusterError, Task

LOOK = 5.0  # seconds between looks at the workers; what two looks find is reported


class WorkerWatch:
    """Reports once why tasks wait, and when they continue."""

    def __init__(self, address: str, wait: float | None) -> None:
        self._address = address  # of the scheduler
        self.wait = wait  # seconds to wait for workers; None: forever
        self._had_workers = False
        # problems are known by what has them: a worker, or the scheduler if it has no workers
        self._first_seen: dict[str, float] = {}  # when each present problem was seen first
        self._reported: set[str] = set()

    def look(self, workers: Mapping[str, dict[str, Any]], tasks: Mapping[str, list[Task]]) -> bool:
        """Update the workers and their tasks; return whether there are any workers."""
        problems = self._problems(workers, tasks)
        clock = time.monotonic()
        self._first_seen = {name: self._first_seen.get(name, clock) for name in problems}
        # a problem is reported once it has lasted from one look to another
        lasting = {name for name, first in self._first_seen.items() if clock - first >= LOOK}
        for name in sorted(lasting - self._reported):
            _report(name, problems[name])
        for name in sorted(self._reported - problems.keys()):
            _report(name, self._end_of(name, workers))
        self._reported = lasting
        since = self._first_seen.get(self._address)
        if since is not None and self.wait is not None and clock - since >= self.wait:
            raise ClusterError(
                f"{self._address}: no worker came within {self.wait:g} s; start workers, "
                "or wait longer with `wait`, and repeat the same command"
            )
        return bool(workers)

    def _problems(
        self, workers: Mapping[str, dict[str, Any]], tasks: Mapping[str, list[Task]]
    ) -> dict[str, str]:
        """Return the present problems."""
        problems = {}
        for address, worker in workers.items():
            if worker["status"] == "paused":
                problems[f"worker {address}"] = _paused(worker, tasks.get(address, ()))
        if workers:
            self._had_workers = True
        else:
            state = "no workers are left" if self._had_workers else "no workers yet"
            limit = ""
            if self.wait is not None:
                limit = f" for at most {self.wait:g} s"
            problems[self._address] = f"{state}, waiting{limit}"
        return problems

    def _end_of(self, name: str, workers: Mapping[str, dict[str, Any]]) -> str:
        """Describe how a problem ended."""
        if name == self._address:
            return f"workers are available: {len(workers)}"
        if name.removeprefix("worker ") in workers:
            return "working again"
        return "gone"


def _report(name: str, state: str) -> None:
    """Report the state of a worker or scheduler."""
    logging.getLogger("alignkit").warning("%s: %s", name, state, extra={"again": True})


def _paused(worker: Mapping[str, Any], tasks: Sequence[Task]) -> str:
    """Describe why a worker is paused that has these tasks."""
    none = Task("", (), smaller="smaller parts")
    task = max(tasks, key=lambda task: task.memory, default=none)
    what = ""
    if task.name and task.memory:
        what = f"{task.name} needs about {size_text(task.memory)}, "
    elif task.name:
        what = f"{task.name} waits for it, "
    has = size_text(worker["memory_limit"])
    uses = size_text(worker["metrics"]["memory"])
    return (
        f"Dask has paused it: {what}it has {has}, and uses {uses}; give workers more memory, or "
        f"{task.smaller}"
    )


def size_text(size: int) -> str:
    """Return a number of bytes for a message."""
    if size >= 1e9:
        return f"{size / 1e9:.2g} GB"
    return f"{size / 1e6:.3g} MB"
