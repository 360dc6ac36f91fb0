"""Align in both directions with sil-thot: `python -m benchmarks.peer_thot MODEL SOURCE TARGET ...`.

Iterations are those that SIL's own trainer (sil-machine) takes: 5 of each model on the way and 4 of
the last; 4 of fast_align; eflomal settles its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import thot.alignment as thot
from numpy.typing import NDArray

Models = list[tuple[Any, int]]

_ON_THE_WAY, _LAST = 5, 4


def align(model: str, source: str, target: str) -> Iterator[NDArray[np.int64]]:
    """Train from source to target, and yield the (L, 2) links of each sentence pair."""
    models = _models(model)
    last = models[-1][0]
    last.read_sentence_pairs(source, target, "")
    for each, iterations in models:
        each.start_training()
        for _ in range(iterations or each.scheduled_iterations):
            each.train()
        each.end_training()
    if last.emit_training_alignments:
        found = (last.get_training_alignment(k) for k in range(last.num_training_alignments))
    else:
        found = last.get_best_alignments(_sentences(source), _sentences(target))
    for _, matrix in found:
        yield np.argwhere(matrix.to_numpy())


def _sentences(path: str) -> list[list[str]]:
    with open(path, encoding="utf-8") as lines:
        return [line.split() for line in lines]


def _models(name: str) -> Models:
    """Return the models to train one after the other, with iterations (0: as it schedules)."""
    if name == "fast_align":
        return [(thot.FastAlignModel(), _LAST)]
    if name == "eflomal":
        sampler = thot.EflomalAlignmentModel()
        sampler.emit_training_alignments = True
        return [(sampler, 0)]
    kinds: list[Any] = [thot.Ibm1AlignmentModel, thot.HmmAlignmentModel]
    if name == "ibm4":
        kinds += [thot.Ibm3AlignmentModel, thot.Ibm4AlignmentModel]
    chain = [kinds[0]()]
    for kind in kinds[1:]:
        chain.append(kind(chain[-1]))
    return [(each, _ON_THE_WAY) for each in chain[:-1]] + [(chain[-1], _LAST)]


def main(model: str, source: str, target: str, forward: str, reverse: str) -> None:
    with open(forward, "w", encoding="utf-8") as out:
        for links in align(model, source, target):
            print(*(f"{i}-{j}" for i, j in links), file=out)
    with open(reverse, "w", encoding="utf-8") as out:
        for links in align(model, target, source):
            print(*(f"{i}-{j}" for j, i in links), file=out)


if __name__ == "__main__":
    main(*sys.argv[1:])
