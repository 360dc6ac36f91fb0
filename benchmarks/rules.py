"""Time the minimal rules of a parsed corpus beside plain Python.

    python -m benchmarks.rules CORPUS TREES [--annotator A]

CORPUS is aligned, TREES holds the trees of both sides in turn. Reading is not timed; the kernels
are compiled before. Wanted: 0.1 s for 714 pairs on one core.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

from alignkit import SentencePair, read_corpus
from alignkit.io.tree_files import attach_trees
from alignkit.rules import extract_rules, learn_grammar
from alignkit.tables.table import Table
from benchmarks.machine import load, machine

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from reference_rules import minimal, rule_at


def plainly(pairs: list[SentencePair], annotator: str) -> int:
    """Return how many minimal rules there are, made by the reference of the tests."""
    count = 0
    for pair in pairs:
        source, target = pair.tree("source"), pair.tree("target")
        links = sorted({(i, j) for i, j in pair.alignment(annotator).sure})
        count += len([rule_at(source, target, *cut) for cut in minimal(source, target, links)])
    return count


def derived(pairs: list[SentencePair], annotator: str) -> int:
    """Return how many pairs of nodes are matched."""
    return sum(map(len, extract_rules(pairs, annotator=annotator)))


def made(pairs: list[SentencePair], annotator: str) -> int:
    """Return how many minimal rules there are, each made."""
    return sum(len(found.minimal) for found in extract_rules(pairs, annotator=annotator))


def learned(pairs: list[SentencePair], annotator: str) -> int:
    """Return how many rules a grammar counts, merged into types with all weights."""
    return int(learn_grammar(pairs, annotator=annotator).tokens)


def seconds(task: Callable[[], int]) -> tuple[int, float]:
    """Return what a task counts, and the least seconds of the processor in five runs."""
    times = []
    for _ in range(5):
        start = process_time()
        count = task()
        times.append(process_time() - start)
    return count, min(times)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("trees")
    parser.add_argument("--annotator", default="alignment")
    options = parser.parse_args()
    pairs = list(attach_trees(read_corpus(options.corpus), both_trees=options.trees))
    print(machine(("alignkit", "numpy", "numba")))
    rows = []
    for name, task in (
        ("matched nodes", derived),
        ("minimal rules", made),
        ("a grammar with its weights", learned),
        ("minimal rules in plain Python", plainly),
    ):
        task(pairs[:2], options.annotator)
        count, time = seconds(lambda task=task: task(pairs, options.annotator))  # type: ignore[misc]
        rows.append({"task": name, "rules": count, "s": time})
    print(Table.from_records(rows, title=f"{len(pairs)} sentence pairs"))
    print(load())


if __name__ == "__main__":
    main()
