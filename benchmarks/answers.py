"""Measure how soon a loaded aligner answers: pairs of some 20 x 20 words, one line at a time.

    python -m benchmarks.answers          # the Hansards of ALIGNKIT_DATA, else synthetic sentences

They follow the 10,000 pairs that it was trained on. Each line is written to
`alignkit align - --load MODEL` when the one before is answered.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory

from alignkit.align import Aligner
from benchmarks.bitext import find_bitext
from benchmarks.machine import load, machine

_LINES, _WARMING, _SIZES = 10_000, 100, range(17, 24)


def main() -> None:
    """Run the command."""
    print(machine(("alignkit", "numpy", "numba")))
    bitext = find_bitext(2 * _LINES)
    pairs = [(a.split(), b.split()) for a, b in zip(bitext.source, bitext.target, strict=True)]
    new = pairs[_LINES:]
    fitting = [pair for pair in new if all(len(side) in _SIZES for side in pair)]
    asked = [" ||| ".join(map(" ".join, pair)) + "\n" for pair in (fitting * 20)[:2000]]
    with TemporaryDirectory() as folder:
        model = str(Path(folder, "model"))
        Aligner.train(pairs[:_LINES]).save(model)
        taken = _answers(model, asked)[_WARMING:]
    low, *_, high = quantiles(taken, n=20)
    print(
        f"{bitext.name}: {len(taken):,} answers, {len(fitting)} pairs of {_SIZES.start} to "
        f"{_SIZES.stop - 1} words\n"
        f"median {1000 * median(taken):.3f} ms, 5% below {1000 * low:.3f}, above {1000 * high:.3f}"
    )
    print(f"load after: {load()}")


def _answers(model: str, asked: Sequence[str]) -> list[float]:
    """Return the seconds from each line to its answer."""
    command = [sys.executable, "-m", "alignkit", "align", "-", "--load", model]
    taken = []
    with Popen(command, stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in map(str.encode, asked):
            start = time.perf_counter()
            process.stdin.write(line)
            process.stdin.flush()
            process.stdout.readline()
            taken.append(time.perf_counter() - start)
        process.stdin.close()
    return taken


if __name__ == "__main__":
    main()
