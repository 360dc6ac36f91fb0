"""Settle which label most annotators give, and say what becomes of a tie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.errors import OptionError, UnknownNameError

Labels = NDArray[np.int8]  # numbers of labels; -1 where there is none

TIES = ("leave-out", "error", "lowest", "adjudicated")
"""What becomes of an item for which several labels have most votes."""

LEAST = 2  # the label of one annotator alone is no consensus


@dataclass(frozen=True, eq=False)
class Consensus:
    """The label of each item on which most annotators agree."""

    labels: Labels  # (P,) numbers of labels; -1 where there is no consensus
    items: int  # how many items have judgments enough, two or more
    tied: int  # for how many of them several labels have most votes, whatever became of these

    @property
    def settled(self) -> int:
        """For how many items there is a consensus."""
        return int((self.labels >= 0).sum())


def label_counts(values: Labels, size: int) -> NDArray[np.int32]:
    """Count how many annotators give each item each label."""
    counts = np.zeros((values.shape[1], size), np.int32)
    for row in values:
        judged = np.flatnonzero(row >= 0)
        counts[judged, row[judged]] += 1
    return counts


def majority_labels(
    values: Labels, size: int, *, ties: str = "leave-out", adjudicated: Labels | None = None
) -> Consensus:
    """Return the label that most annotators give each item."""
    if ties not in TIES:
        raise UnknownNameError("way with ties", ties, TIES)
    if ties == "adjudicated" and adjudicated is None:
        raise OptionError("ties='adjudicated' asks for the adjudicated version: name it")
    counts = label_counts(values, size)
    best, tied = _most(counts)
    enough = counts.sum(axis=1) >= LEAST
    tied &= enough
    if ties == "error" and tied.any():
        raise OptionError(
            f"{int(tied.sum())} items have no majority: several labels have most votes; leave "
            "them out (ties='leave-out'), or settle them (lowest, adjudicated)"
        )
    labels = np.where(enough, best, -1).astype(np.int8)
    if ties == "adjudicated" and adjudicated is not None:
        labels[tied] = adjudicated[tied]
    elif ties != "lowest":
        labels[tied] = -1
    return Consensus(labels, int(enough.sum()), int(tied.sum()))


def others_label(values: Labels, size: int, annotator: int) -> tuple[Labels, int]:
    """Return what most of the others give each item that an annotator has judged."""
    counts = label_counts(np.delete(values, annotator, axis=0), size)
    best, tied = _most(counts)
    mine = (values[annotator] >= 0) & (counts.sum(axis=1) > 0)
    return np.where(mine & ~tied, best, -1).astype(np.int8), int((mine & tied).sum())


def _most(counts: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the lowest of the labels with most votes, and whether there are several."""
    best: NDArray[np.intp] = counts.argmax(axis=1)
    tied: NDArray[np.bool_] = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) > 1
    return best, tied
