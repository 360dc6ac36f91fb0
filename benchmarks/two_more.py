"""Measure how much two more sentence pairs change the probabilities of links.

    python -m benchmarks.two_more [--texts hu ja cs fr] [--pairs 20 100 300 1998 5000]

An aligner is trained on the first pairs of a text, and again with two more: with the next two
pairs of the text, and with two pairs whose words occur nowhere else, so that only the defaults that
depend on the number of pairs can change anything. The table has the links of the first 150 pairs
with a probability of at least .05 in one of both, how many of these change by more than .05, and
the mean of all changes, which would show a step at some size. The texts are those of
ALIGNKIT_DATA.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from alignkit.align import Aligner
from alignkit.tables.table import Table
from benchmarks.texts import TEXTS, Pair

JUDGED = 150  # pairs whose links are looked at
SHOWN = 0.05  # the least probability of a suggestion on the annotation page
CHANGED = 0.05
OTHER_WORDS = [(["qxzv"], ["vzxq"]), (["wkjy"], ["yjkw"])]


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.two_more",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--texts", nargs="+", choices=TEXTS, default=["hu", "ja", "cs", "fr"])
    parser.add_argument("--pairs", type=int, nargs="+", default=[20, 100, 300, 1_998, 5_000])
    options = parser.parse_args()
    rows = []
    for name in options.texts:
        pairs = TEXTS[name]().pairs
        sizes = [size for size in options.pairs if size + 2 <= len(pairs)]
        rows.extend(row_of(name, pairs, size) for size in sizes)
    print(
        Table.from_records(
            rows, digits={"mean change, next pairs": 4, "mean change, other words": 4}
        )
    )


def row_of(name: str, pairs: Sequence[Pair], size: int) -> dict[str, object]:
    """Return the figures of one text and size."""
    before = probabilities(pairs[:size], size)
    row: dict[str, object] = {"text": name, "pairs": size}
    for label, added in ((", next pairs", pairs[size : size + 2]), (", other words", OTHER_WORDS)):
        after = probabilities([*pairs[:size], *added], size)
        shown = np.maximum(before, after) >= SHOWN
        changes = (after - before)[shown]
        row[f"links{label}"] = len(changes)
        row[f"changed{label}"] = int((np.abs(changes) > CHANGED).sum())
        row[f"mean change{label}"] = float(changes.mean())
    return row


def probabilities(pairs: Sequence[Pair], size: int) -> NDArray[np.float32]:
    """Return the probabilities of all cells of the first pairs, after training on all."""
    links = Aligner.train(pairs, threads=1).align_bitext(pairs, threshold=0)
    return np.asarray(links[: min(size, JUDGED)].probabilities)


if __name__ == "__main__":
    main()
