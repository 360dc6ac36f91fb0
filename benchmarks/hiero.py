"""Learn hiero grammars of made-up sentence pairs: rules, bytes, seconds and memory.

    python -m benchmarks.hiero [PAIRS [FOLDER]]     # 100,000 pairs of 20 words; and a tenth of them

Words follow Zipf's law, their order differs by a few places, and one in ten has no link. Seconds
are those of one process that reads no file: it makes the pairs while it counts, which is a part of
them, told apart. Memory is the peak of that process. The grammar is written in FOLDER, and removed.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time

from alignkit import Alignment, SentencePair
from alignkit.rules.hiero.grammar import write_hiero

PAIRS, WORDS, TYPES = 100_000, 20, 50_000


def made_up(count: int, seed: int = 1) -> Iterator[SentencePair]:
    """Yield aligned sentence pairs."""
    rng = random.Random(seed)
    weights = [1 / rank for rank in range(1, TYPES + 1)]
    names = [[f"{side}{k}" for k in range(TYPES)] for side in "st"]
    drawn: list[list[str]] = [[], []]
    for number in range(count):
        if number % 1000 == 0:
            drawn = [rng.choices(side, weights, k=1000 * WORDS) for side in names]
        at = number % 1000 * WORDS
        order = sorted(range(WORDS), key=lambda place: place + 3 * rng.random())
        links = {(i, j) for i, j in enumerate(order) if rng.random() < 0.9}
        source, target = (tuple(side[at : at + WORDS]) for side in drawn)
        yield SentencePair(str(number), source, target, {"gold": Alignment(links)})


def measure(count: int, folder: str) -> dict[str, float]:
    """Learn and write a grammar in this process."""
    path = str(Path(folder, "grammar"))
    write_hiero(made_up(50), path)  # compiles
    start = process_time()
    for _ in made_up(count):
        pass
    making = process_time() - start
    start, clock = process_time(), perf_counter()
    summary = write_hiero(made_up(count), path)
    found = {
        "pairs": count,
        "rules seen": summary.tokens,
        "rule types": summary.rules,
        "MB written": summary.bytes / 1e6,
        "MB sorted on disk": summary.sorted_bytes / 1e6,
        "CPU seconds": process_time() - start,
        "of these to make pairs": making,
        "seconds": perf_counter() - clock,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }
    os.remove(path)
    return found


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--measure"]:
        print(json.dumps(measure(int(arguments[1]), arguments[2])))
        return
    count = int(arguments[0]) if arguments else PAIRS
    with tempfile.TemporaryDirectory(dir=arguments[1] if arguments[1:] else None) as folder:
        rows = []
        for size in (count // 10, count):
            command = [sys.executable, "-m", "benchmarks.hiero", "--measure", str(size), folder]
            ran = subprocess.run(command, stdout=subprocess.PIPE, check=True)
            rows.append(json.loads(ran.stdout))
    for name in rows[0]:
        print(f"{name:24}" + "".join(f"{row[name]:16,.0f}" for row in rows))


if __name__ == "__main__":
    main(sys.argv[1:])
