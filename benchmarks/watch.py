"""Run a command and print its seconds and peak memory: `python watch.py OUTPUT COMMAND...`.

A process of its own, and a small one: on Linux a child's peak is at least that of the process
that started it. What the command prints goes to the file OUTPUT. Its own children count: the peak
is that of the largest of all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from time import perf_counter


def watch(output: str, command: list[str]) -> dict[str, float | int | None]:
    """Run a command; return its exit status, its seconds and its peak in bytes (None: unknown)."""
    with open(output, "wb") as stream:
        start = perf_counter()
        process = subprocess.Popen(command, stdout=stream)
    if not hasattr(os, "wait4"):  # Windows
        return {"status": process.wait(), "seconds": perf_counter() - start, "peak": None}
    _, status, usage = os.wait4(process.pid, 0)
    seconds = perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024
    return {"status": status, "seconds": seconds, "peak": usage.ru_maxrss * unit}


if __name__ == "__main__":
    print(json.dumps(watch(sys.argv[1], sys.argv[2:])))
