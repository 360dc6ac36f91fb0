"""Measure the memory that training takes, beside what `alignkit align` says of it before.

    python benchmarks/training_memory.py SRC [TGT] [options of alignkit align]

What is measured is the peak memory of the whole process, less that of one that is given a single
pair of two words a side: Python, its libraries and the compiled kernels are no part of it; reading,
training, aligning and writing are.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

WATCH = Path(__file__).with_name("watch.py")
TOLD = re.compile(r"takes about ([\d.]+) (bytes|kB|MB|GB)")
UNITS = {"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}


def watched(folder: str, arguments: list[str]) -> tuple[float, float]:
    """Align; return the bytes that were told and the peak of the process."""
    links = str(Path(folder, "links"))
    command = [sys.executable, "-m", "alignkit", "align", *arguments, "-o", links]
    ran = subprocess.run(
        [sys.executable, str(WATCH), str(Path(folder, "out")), *command],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    told = TOLD.search(ran.stderr)
    if told is None:
        raise SystemExit(ran.stderr)
    return float(told[1]) * UNITS[told[2]], json.loads(ran.stdout)["peak"]


def measure(arguments: list[str], files: int) -> tuple[float, float]:
    """Return the bytes told and the bytes measured; the first `files` arguments are the bitext."""
    with tempfile.TemporaryDirectory() as folder:
        texts = []
        for size in (100, 1, 1):  # the first compiles what is not yet compiled
            texts.append(Path(folder, f"{size}.bitext"))
            texts[-1].write_text("one two ||| un deux\n" * size, encoding="utf-8")
        peaks = [watched(folder, [str(text), *arguments[files:]])[1] for text in texts]
        least = min(peaks[1:])
        told, peak = watched(folder, arguments)
    return told, peak - least


if __name__ == "__main__":
    count = next((k for k, word in enumerate(sys.argv[1:]) if word.startswith("--")), None)
    told, found = measure(sys.argv[1:], len(sys.argv) - 1 if count is None else count)
    print(f"told {told / 1e6:.1f} MB, measured {found / 1e6:.1f} MB, {told / found:.2f} x")
