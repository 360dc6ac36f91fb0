"""IBM 3 and IBM 4, the models of fertility, applied one direction at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner import fertility_tables as tables
from alignkit.aligner.fertility_corpus_kernel import Counts, Model, Text, align_pair
from alignkit.errors import UnknownNameError
from alignkit.jit import readonly

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]
Floats = NDArray[np.float32]
Reals = NDArray[np.float64]

FERTILITY_MODELS = ("ibm3", "ibm4")
SWEEPS = 20  # the most passes of hill climbing over a pair
PARTS = 8
"""The pairs are always counted in so many parts: sums are the same for any number of threads."""
NO_LOGS = np.zeros((1, 0, 1), np.float32)
NO_COUNTS = Counts(np.zeros((0, 1)), np.zeros(2), np.zeros((1, 0, 1)), np.zeros((0, 1)))


@dataclass(frozen=True, kw_only=True)
class FertilityText:
    """A bitext as one direction sees it: target words are generated from source words."""

    sources: Ints
    source_offsets: Offsets
    targets: Ints  # the same of the target side, shape (T,) and (P + 1,)
    target_offsets: Offsets
    cells: Ints
    starts: Offsets
    owners: Ints  # the source word of each place, shape (K,)
    vocabulary: tuple[int, int]  # numbers of source and target words
    transposed: bool = False

    def __len__(self) -> int:
        return len(self.starts) - 1

    def kernel(self) -> Text:
        """Return the arrays as kernels take them."""
        return Text(
            readonly(self.sources), readonly(self.source_offsets),
            readonly(self.targets), readonly(self.target_offsets),
            readonly(self.starts), readonly(self.cells), self.transposed,
        )  # fmt: skip

    def parts(self) -> list[tuple[int, int]]:
        """Return where each of the fixed parts starts and ends; they have about as many cells."""
        goals = self.starts[-1] * np.arange(1, PARTS) // PARTS
        edges = [0, *np.searchsorted(self.starts, goals).tolist(), len(self)]
        return list(pairwise(edges))


@dataclass(frozen=True, kw_only=True)
class FertilityModel:
    """The tables of one direction of IBM 3 or IBM 4, all but the lexical ones."""

    model: str  # "ibm3" or "ibm4"
    null_share: float  # the probability p1 that a word is followed by one from NULL
    fertilities: Floats
    sizes: Offsets = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    distortion: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    diagonal: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    first: Floats = field(default_factory=lambda: NO_LOGS)
    rest: Floats = field(default_factory=lambda: np.zeros((0, 1), np.float32))
    source_classes: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    target_classes: Ints = field(default_factory=lambda: np.zeros(0, np.int32))

    def __post_init__(self) -> None:
        if self.model not in FERTILITY_MODELS:
            raise UnknownNameError("fertility model", self.model, FERTILITY_MODELS)

    @property
    def factorial(self) -> bool:
        """Whether a cept of s words counts s! times."""
        return self.model == "ibm3"

    @cached_property
    def kernel(self) -> Model:
        """The tables as kernels take them, without those of words."""
        logs = _log(self.fertilities)
        logs[:, -1] -= np.log(2)
        if self.factorial:
            sizes = np.maximum(np.arange(logs.shape[1]), 1)
            logs += np.cumsum(np.log(sizes)).astype(np.float32)
        nothing = readonly(np.zeros(0, np.float32))
        return Model(
            nothing, nothing, nothing, nothing, 0.0, float(self.null_share),
            readonly(self.distortion), readonly(np.zeros(0, np.int64)),
            readonly(logs), self.factorial,
            readonly(_log(self.first)), readonly(_log(self.rest)),
            readonly(self.source_classes), readonly(self.target_classes),
        )  # fmt: skip

    @cached_property
    def _starts(self) -> dict[tuple[int, int], int]:
        ends = np.cumsum(self.sizes.prod(1))
        starts = (ends - self.sizes.prod(1)).tolist()
        return {(n, m): start for (n, m), start in zip(self.sizes.tolist(), starts, strict=True)}

    def block(self, n: int, m: int) -> tuple[Floats, int]:
        """Return an array of IBM 3 that holds d(j | i, n, m), and where it starts."""
        if not self.factorial or (n, m) in self._starts:
            return self.distortion, self._starts.get((n, m), 0)
        return tables.distortion_block(n, m, self.diagonal).astype(np.float32).ravel(), 0

    def zero_counts(self) -> Counts:
        """Return counts of zero."""
        shapes = self.fertilities.shape, (2,), self.first.shape, self.rest.shape
        return Counts(*(np.zeros(shape) for shape in shapes))


class FertilityAlignment(NamedTuple):
    """The alignment of one pair in one direction."""

    alignment: Ints  # the source word of each target word, -1 for NULL, shape (M,)
    posteriors: Floats
    score: float  # log P(target words, alignment | source words); NaN if a side has no words


def align_fertility(
    model: FertilityModel,
    sources: Ints,
    targets: Ints,
    probabilities: Floats,
    null: Floats,
    start: Ints,
    *,
    sweeps: int = SWEEPS,
) -> FertilityAlignment:
    """Align one sentence pair, from the alignment of another model."""
    if not len(sources) or not len(targets):
        nothing = np.zeros((len(sources), len(targets)), np.float32)
        return FertilityAlignment(np.full(len(targets), -1, np.int32), nothing, float("nan"))
    distortion, block = model.block(len(sources), len(targets))
    kernel = model.kernel._replace(distortion=readonly(distortion))
    alignment = np.array(start, np.int32)
    post = np.empty((len(sources) + 1, len(targets)), np.float32)
    score = align_pair(
        readonly(np.asarray(sources, np.int32)), readonly(np.asarray(targets, np.int32)),
        np.concatenate([null[None], probabilities]).astype(np.float32), block, kernel, sweeps,
        alignment, post, False, NO_COUNTS,
    )  # fmt: skip
    return FertilityAlignment(alignment, post[1:], score)


def _log(values: Floats) -> Floats:
    # in 64 bits: logs of 32 depend on the processor
    return np.log(values, dtype=np.float64).astype(np.float32)
