"""Time calls and whole processes: alternately, several times, and take medians."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

__all__ = [
    "LONG",
    "CommandError",
    "Measured",
    "in_turn",
    "run",
    "time_calls",
    "time_processes",
    "watched",
]

LONG = 20
"""What takes more seconds than this is run once."""

_ROOT = Path(__file__).parent.parent
_WATCH = str(Path(__file__).with_name("watch.py"))


class Measured(NamedTuple):
    """Hold the median seconds of some runs, and the greatest peak of memory in bytes."""

    seconds: float
    peak: int | None = None


def time_calls(calls: Mapping[str, Callable[[], object]], *, runs: int) -> dict[str, Measured]:
    """Time some calls in turn, `runs` times; the first, untimed call of each warms it up.

    What is in memory before is kept from the garbage collector: plain Python makes many objects,
    and would pay for every collection that goes through those of numba and nltk.
    """
    for call in calls.values():
        call()
    gc.collect()
    gc.freeze()
    found = in_turn({name: partial(_timed, call) for name, call in calls.items()}, runs)
    gc.unfreeze()
    return found


def time_processes(commands: Mapping[str, Sequence[str]], *, runs: int) -> dict[str, Measured]:
    """Time some commands in turn, `runs` times, from start to exit.

    The command named alignkit is run once before, so that its kernels are compiled.
    """
    watched(commands["alignkit"])
    return in_turn({name: partial(watched, args) for name, args in commands.items()}, runs)


def in_turn(measure: Mapping[str, Callable[[], Measured]], runs: int) -> dict[str, Measured]:
    """Measure each in turn, `runs` times, but what takes longer than `LONG` seconds once."""
    found: dict[str, list[Measured]] = {name: [] for name in measure}
    for _ in range(runs):
        for name, run in measure.items():
            if not found[name] or found[name][0].seconds < LONG:
                found[name].append(run())
    return {name: _middle(measured) for name, measured in found.items()}


def _middle(measured: Sequence[Measured]) -> Measured:
    peaks = [one.peak for one in measured if one.peak is not None]
    return Measured(median(one.seconds for one in measured), max(peaks, default=None))


def _timed(call: Callable[[], object]) -> Measured:
    start = perf_counter()
    result = call()
    seconds = perf_counter() - start
    del result  # before the clock starts again
    return Measured(seconds)


def watched(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> Measured:
    """Run `python -m ARGUMENTS...` once; end the benchmark where it fails."""
    try:
        return run([sys.executable, "-m", *arguments], environment=environment)
    except CommandError as error:
        raise SystemExit(f"failed: python -m {' '.join(arguments)}\n{error}") from None


class CommandError(Exception):
    """Say that a command failed: the last of what it printed as its errors."""


def run(
    command: Sequence[str],
    *,
    output: str = os.devnull,
    environment: Mapping[str, str] | None = None,
) -> Measured:
    """Run a command once, what it prints going to a file, its errors to none.

    Raises
    ------
    CommandError
        If it fails.
    """
    watcher = [sys.executable, _WATCH, output, *command]
    ran = subprocess.run(
        watcher, cwd=_ROOT, env=environment, check=False, capture_output=True, text=True
    )
    report = json.loads(ran.stdout) if ran.stdout else {"status": ran.returncode}
    if report["status"]:
        lines = ran.stderr.strip().splitlines() or ["no message"]
        raise CommandError(f"{' '.join(command)}: {lines[-1]}")
    return Measured(report["seconds"], report["peak"])
