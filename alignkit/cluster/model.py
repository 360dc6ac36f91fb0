"""Write the model of a training over parts: the file that one machine writes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.cooccurrence import Cooccurrence
from alignkit.aligner.estimators import FEW
from alignkit.aligner.files import save_parameters
from alignkit.aligner.memory import Memory
from alignkit.aligner.parameters import Parameters, Round, with_unseen
from alignkit.aligner.positions import Positions
from alignkit.aligner.training import unseen_total
from alignkit.cluster.plan import Plan
from alignkit.cluster.shards import NO_CELLS
from alignkit.cluster.state import opened
from alignkit.cluster.vocabulary import Vocabulary

I8 = NDArray[np.int64]


def write_model(plan: Plan, path: str, done: int, history: Sequence[Round], jumping: bool) -> None:
    """Write what was learned in `done` rounds into a file."""
    words = [Vocabulary.read(plan.words_file(side)).words for side in ("source", "target")]
    index, weights = _word_pairs(plan, done, len(words[0]))
    unseen = unseen_total(plan.settings)
    with opened(plan.totals_file(done)) as totals, opened(plan.common_file(done)) as common:
        known = Parameters(
            settings=plan.settings,
            casefold=plan.casefold,
            source=words[0],
            target=words[1],
            rows=index.rows,
            columns=index.columns,
            forward=weights,
            reverse=weights,
            source_totals=np.append(totals["source"], unseen),
            target_totals=np.append(totals["target"], unseen),
            source_null=with_unseen(common["source_null"]),
            target_null=with_unseen(common["target_null"]),
            null_units=common["null_units"],
            jumps=common["jumps"] if jumping else np.empty((0, 0, 0), np.float32),
            positions=Positions.uniform(),
            memory=_memory(plan) if done and plan.pairs >= FEW else Memory.empty(),
            history=tuple(history),
        )
    save_parameters(path, known)


def _word_pairs(plan: Plan, done: int, sources: int) -> tuple[Cooccurrence, NDArray[np.float32]]:
    keys, weights = [], []
    for shard in range(plan.shards):
        with opened(plan.weights_file(shard, done)) as arrays:
            keys.append(arrays["keys"])
            weights.append(arrays["weights"])
    all_keys = np.concatenate(keys)
    order = np.argsort(all_keys, kind="stable")
    index = Cooccurrence.of_keys(all_keys[order], sources, NO_CELLS)
    return index, np.concatenate(weights)[order]


def _memory(plan: Plan) -> Memory:
    """Join what is to be remembered of the parts; of equal pairs the first is."""
    parts = []
    for part in range(plan.parts):
        with opened(plan.memory_file(part)) as arrays:
            parts.append([arrays[name] for name in ("keys", "offsets", "cells", "levels")])
    keys, first = np.unique(np.concatenate([part[0] for part in parts]), return_index=True)
    sizes = np.concatenate([np.diff(part[1]) for part in parts])
    begins = np.cumsum(sizes) - sizes
    offsets = np.zeros(len(keys) + 1, np.int64)
    np.cumsum(sizes[first], out=offsets[1:])
    at = np.arange(offsets[-1]) + np.repeat(begins[first] - offsets[:-1], sizes[first])
    cells, levels = (np.concatenate([part[k] for part in parts])[at] for k in (2, 3))
    return Memory(keys, offsets, cells, levels)
