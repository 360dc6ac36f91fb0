"""Time `alignkit agree-judgments` of 100,000 judgments by 20 annotators, a whole process.

    python -m benchmarks.judgments

One view, 1,000 permutations and 1,000 resamples: once each of 20 judges every pair, once three of
them do; labels of 4 kinds, and of the 15 of turku with flags. Wanted: 10 s and 1 GB on 2 CPUs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from alignkit import Annotation, SentencePair, write_corpus
from alignkit.model.labels import get_view
from alignkit.tables.table import Table
from benchmarks.clock import watched
from benchmarks.machine import load, machine

JUDGMENTS, ANNOTATORS = 100_000, 20


def written(path: str, each: int, labels: Sequence[str]) -> None:
    """Write pairs that so many annotators each judge; half of the labels are the pair's own."""
    rng = np.random.default_rng(1)
    pairs = []
    for number in range(JUDGMENTS // each):
        judges = rng.permutation(ANNOTATORS)[:each]
        truth = rng.integers(len(labels))
        given = np.where(rng.random(each) < 0.5, truth, rng.integers(0, len(labels), each))
        notes = {
            f"a{judge}": Annotation(None, judgment=labels[label])
            for judge, label in zip(judges.tolist(), given.tolist(), strict=True)
        }
        pairs.append(SentencePair(str(number), ("a", str(number)), ("b",), notes))
    write_corpus(pairs, path, format="alignkit-jsonl")


def main() -> None:
    """Print a table."""
    print(machine(("alignkit", "numpy", "numba")))
    rows = []
    with TemporaryDirectory() as folder:
        for each in (ANNOTATORS, 3):
            for view in ("base", "full"):
                path = str(Path(folder, f"{each}-{view}.jsonl"))
                labels = get_view("turku", view).labels
                written(path, each, labels)
                given = ["alignkit", "agree-judgments", path, "--scheme", "turku"]
                watched([*given, "--view", view, "--permutations", "2", "--resamples", "2"])
                took = watched([*given, "--view", view], os.environ)
                rows.append(
                    {
                        "judges a pair": each,
                        "pairs": JUDGMENTS // each,
                        "labels": len(labels),
                        "s": took.seconds,
                        "MB": round((took.peak or 0) / 1e6),
                    }
                )
    print(Table.from_records(rows, digits=1))
    print(f"load after: {load()}")


if __name__ == "__main__":
    main()
