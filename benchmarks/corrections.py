"""Play an annotator whose suggestions are learned from what is done, and count the corrections.

    python -m benchmarks.corrections SET ... [--pairs N] [--draws N]

Sets are those of `benchmarks.learning`. An annotator draws N pairs of a set, in an order of chance,
as gold has them. What is suggested for a pair is learned from those before the last one, as on the
page, where a pair is opened at once when the one before is done. Counted are the links of a pair
that differ between gold and what is suggested with 50 % or more, as on the dashboard.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from alignkit import SentencePair
from alignkit.align import Aligner
from alignkit.annotate.dashboard.corrections import CUT
from alignkit.annotate.learning import TAUGHT, Learner, put_together
from alignkit.tables.table import Table
from benchmarks.learning import SETS, gold_pairs

_NAME = "alignment"
_PARTS = 4


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corrections", description=__doc__)
    parser.add_argument("sets", nargs="+", choices=SETS, metavar="SET")
    parser.add_argument("--pairs", type=int, default=100, metavar="N")
    parser.add_argument("--draws", type=int, default=3, metavar="N")
    options = parser.parse_args()
    records = []
    for name in options.sets:
        pairs, text = gold_pairs(name)
        identity = 3.0 if name in ("edinburgh", "mtref", "rte2") else 0.0
        aligner = Aligner.train(text, identity=identity)
        count = min(options.pairs, len(pairs))
        played = []
        for draw in range(options.draws):
            order = np.random.default_rng(draw).permutation(len(pairs))[:count]
            played.append(play(aligner, [pairs[k] for k in order]))
        counts = np.mean(played, axis=0)
        parts = [*np.array_split(np.arange(count), _PARTS), np.arange(count)]
        records += [_record(name, part, counts[part]) for part in parts]
        print(Table.from_records(records), flush=True)


def play(aligner: Aligner, pairs: Sequence[SentencePair]) -> NDArray[np.int64]:
    """Return for each pair what is corrected without learning, with it, and its links (P, 3)."""
    learner, shown = Learner(aligner), aligner
    done: dict[int, SentencePair] = {}
    counts = []
    for k, pair in enumerate(pairs):
        gold = set(pair.alignment(_NAME))
        counts.append([*(len(gold ^ _links(one, pair)) for one in (aligner, shown)), len(gold)])
        lesson = learner.learn(done)
        if lesson is not None and lesson.used:
            shown = learner.aligner
        taught = put_together([pair.alignment(_NAME)])
        done[k] = SentencePair(str(k), *pair.words, {TAUGHT: taught})
    return np.array(counts)


def _links(aligner: Aligner, pair: SentencePair) -> set[tuple[int, int]]:
    found = aligner.align_bitext([pair.words], threshold=CUT, threads=1)
    return {(i, j) for i, j in found.arrays.links.tolist()}


def _record(name: str, part: NDArray[np.int64], counts: NDArray[np.float64]) -> dict[str, object]:
    before, after, links = counts.mean(axis=0)
    return {
        "set": name,
        "pairs": f"{part[0] + 1} to {part[-1] + 1}",
        "links": float(links),
        "corrected": float(before),
        "learning": float(after),
        "change": f"{after / before - 1:+.0%}",
    }


if __name__ == "__main__":
    main()
