"""Divide work among threads; the number of threads does not change results."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from alignkit.errors import OptionError

Told = Callable[[int, int], None]


def available_cores() -> int:
    """Return the number of cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def count_workers(workers: int | None) -> int:
    """Return the number of threads: `workers`, or by default one for each core."""
    if workers is None:
        return available_cores()
    if workers < 1:
        raise OptionError(f"`workers` must be at least 1, not {workers}")
    return workers


def executor(workers: int | None, *, at_once: bool = False) -> Executor:
    """Return an executor with threads; with `at_once`, one that works in the caller's thread."""
    threads = count_workers(workers)
    return _AtOnce() if at_once else ThreadPoolExecutor(threads)


class _AtOnce(Executor):
    """An executor that runs each call immediately."""

    def submit(self, call: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(call(*given, **named))
        return future


def stage(progress: Told | None, number: int, count: int, *, whole: int = 1000) -> Told | None:
    """Return a callback that reports one of several equal stages to `progress`."""
    if progress is None:
        return None

    def tell(done: int, total: int) -> None:
        progress(whole * number + whole * done // max(total, 1), whole * count)

    return tell
