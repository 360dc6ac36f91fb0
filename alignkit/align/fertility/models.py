"""The models of fertility, IBM 3 and IBM 4: tables, estimates, and the alignment of a pair.

Each source word generates some target words: its *fertility* is how many, and together they are its
*cept*. In *the house - das Haus*, every cept has one word; a word that is left out has a cept of
none. Target words without a source word come from the empty word NULL. The tables are

- n(s | word): the fertility s of a source word;
- d(j | i, N, M), of IBM 3: the place j of a target word, from the place i of its source word and
  both lengths. Each size (N, M) of the training has a block of N x M numbers;
- d1(step | A, B), of IBM 4: how many places the first word of a cept lies to the right of the
  middle of the cept before. A is the class of the source word of that cept, B that of the target
  word itself; classes are few groups of words (`word_classes`). The column is the step + REACH;
- d>1(step | B), of IBM 4: how far each further word of a cept lies behind the one before it.

Counts are smoothed with those of larger groups: of words of similar frequency, or of all classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F4, F8, I4, I8
from alignkit._support.jit import readonly
from alignkit.align.fertility.corpus_kernel import (
    Counts,
    FertilePair,
    KernelText,
    Model,
    align_pair,
)

MOST = 9  # fertilities from here on share one probability, halved for each further word
REACH = 40  # steps from here on share one probability, spread evenly over `TAIL` of them
TAIL = 20
BASE = 0.01  # added to each count of the tables that all others are smoothed with
SWEEPS = 20  # the most passes of hill climbing over a pair
PARTS = 8  # number of parts for counting; fixed, to give the same sums for any number of threads
NO_COUNTS = Counts(
    fertilities=np.zeros((0, 1)),
    null=np.zeros(2),
    first=np.zeros((1, 0, 1)),
    rest=np.zeros((0, 1)),
)
"""What kernels get that count nothing."""


def tail_weights(size: int) -> F8:
    """Return the number of steps of each column: 1, or TAIL at the far end."""
    weights = np.ones(size)
    weights[-1] = TAIL
    if size == 2 * REACH + 1:  # steps to the left too
        weights[0] = TAIL
    return weights


def frequency_bands(counts: I8) -> I8:
    """Group words by the integer part of log2(count + 1); unseen words are in band 0."""
    _, exponents = np.frexp(counts + 1.0)
    bands: I8 = exponents.astype(np.int64) - 1
    return bands


def estimate_fertilities(counts: F8, bands: I8, weight: float) -> F4:
    """Return n(s | word): counts of a word, smoothed with words of similar frequency."""
    grouped = np.zeros((int(bands.max()) + 1, counts.shape[1]))
    np.add.at(grouped, bands, counts)
    common = _normalized(counts.sum(0) + BASE)
    groups = _normalized(grouped + weight * common)
    return _normalized(counts + weight * groups[bands]).astype(np.float32)


def estimate_first(counts: F8, weight: float) -> F4:
    """Return d1(step | class of the last cept, class of the word), (A + 1, B, 2 REACH + 1).

    The additional class is that of the beginning of the sentence, where there is no cept before.
    """
    tails = tail_weights(counts.shape[-1])
    common = _normalized(counts.sum((0, 1)) + BASE * tails)
    by_word = _normalized(counts.sum(0) + weight * common)
    return (_normalized(counts + weight * by_word) / tails).astype(np.float32)


def estimate_rest(counts: F8, weight: float) -> F4:
    """Return d>1(step | class of the word), smoothed over all classes, shape (B, REACH)."""
    tails = tail_weights(counts.shape[-1])
    common = _normalized(counts.sum(0) + BASE * tails)
    return (_normalized(counts + weight * common) / tails).astype(np.float32)


def _diagonal_steps(n: int, m: int) -> I8:
    """Return for each cell (n, m) its distance from the diagonal + REACH.

    The n source words divide the m target places into n slices. The distance of a cell (i, j) is
    that of j from the middle of slice i, rounded down; at most REACH to either side.
    """
    expected = ((2 * np.arange(n) + 1) * m) // (2 * n)
    steps = np.arange(m)[None, :] - expected[:, None]
    return np.asarray(np.clip(steps, -REACH, REACH) + REACH)


def estimate_diagonal(counts: F8, sizes: I8, starts: I8) -> F4:
    """Return the weight of each distance from the diagonal, for all sizes, (2 REACH + 1,).

    It is the ratio of what was counted there to what would be, if the counts of each source word
    were spread evenly over the target places. So it does not matter how many cells lie there.
    """
    counted = np.full(2 * REACH + 1, BASE)
    even = np.full(2 * REACH + 1, BASE)
    for block in _blocks(counts, sizes, starts):
        n, m = block.shape
        steps = _diagonal_steps(n, m).ravel()
        counted += np.bincount(steps, block.ravel(), 2 * REACH + 1)
        row_means = block.sum(1, keepdims=True) / m
        evenly = np.broadcast_to(row_means, (n, m))
        even += np.bincount(steps, evenly.ravel(), 2 * REACH + 1)
    return np.asarray(counted / even, np.float32)


def distortion_block(n: int, m: int, diagonal: F4) -> F8:
    """Return d(j | i, n, m) from the distance to the diagonal alone, shape (n, m)."""
    return _normalized(diagonal.astype(np.float64)[_diagonal_steps(n, m)])


def estimate_distortion(counts: F8, sizes: I8, starts: I8, diagonal: F4, weight: float) -> F4:
    """Return d(j | i, N, M) for all blocks, with counts smoothed by `distortion_block`.

    The counts of block k begin at `starts[k]`; the last start is the end of all.
    """
    out = np.empty(counts.shape)
    both = zip(_blocks(counts, sizes, starts), _blocks(out, sizes, starts), strict=True)
    for block, estimated in both:
        n, m = block.shape
        estimated[:] = _normalized(block + weight * distortion_block(n, m, diagonal))
    return out.astype(np.float32)


def _blocks(values: F8, sizes: I8, starts: I8) -> Iterator[F8]:
    """Yield the block (n, m) of each size (H, 2) that has cells; all lie in `values`."""
    for (n, m), start in zip(sizes.tolist(), starts.tolist(), strict=False):
        if n and m:
            yield values[start : start + n * m].reshape(n, m)


def _normalized(counts: F8) -> F8:
    """Return counts over their sums along the last axis."""
    return np.asarray(counts / counts.sum(-1, keepdims=True))


@dataclass(frozen=True)
class FertilityText:
    """A bitext in one direction: source words generate target words."""

    kernel: KernelText  # the words of P pairs and their cells, read-only
    owners: I4  # (K,) the source word of each word pair
    vocabulary: tuple[int, int]  # numbers of source and target words

    def __len__(self) -> int:
        return len(self.kernel.starts) - 1

    def parts(self) -> list[tuple[int, int]]:
        """Return the (begin, end) of each of the fixed parts, which have similar sizes."""
        starts = self.kernel.starts
        goals = starts[-1] * np.arange(1, PARTS) // PARTS
        return list(pairwise([0, *np.searchsorted(starts, goals).tolist(), len(self)]))


@dataclass(frozen=True, kw_only=True)
class FertilityModel:
    """The tables of one direction of IBM 3 or IBM 4, except the lexical ones."""

    model: str  # "ibm3" or "ibm4"
    null_share: float  # the probability p1 that a word is followed by one from NULL
    fertilities: F4  # (V, MOST + 1) n(s | word)
    # of IBM 3: the sizes (H, 2) of the training; d(j | i, N, M), one block after the other; and the
    # weights (2 REACH + 1,) of distances from the diagonal, for other sizes
    sizes: I8 = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    distortion: F4 = field(default_factory=lambda: np.zeros(0, np.float32))
    diagonal: F4 = field(default_factory=lambda: np.zeros(0, np.float32))
    # of IBM 4: d1, d>1, and the classes of source and target words
    first: F4 = field(default_factory=lambda: np.zeros((1, 0, 1), np.float32))
    rest: F4 = field(default_factory=lambda: np.zeros((0, 1), np.float32))
    source_classes: I4
    target_classes: I4

    @property
    def factorial(self) -> bool:
        """Whether a cept of s words counts s! times."""
        return self.model == "ibm3"

    @cached_property
    def kernel(self) -> Model:
        """The tables in the form that kernels take, without those of words."""
        logs = _log(self.fertilities)
        logs[:, -1] -= np.log(2)  # shared by MOST, MOST + 1, ... words: 1/2 + 1/4 + ... = 1
        if self.factorial:
            factors = np.maximum(np.arange(logs.shape[1]), 1)
            logs += np.cumsum(np.log(factors)).astype(np.float32)  # log s!
        nothing = readonly(np.zeros(0, np.float32))
        return Model(
            lexical=nothing,
            prior=nothing,
            totals=nothing,
            null=nothing,
            discount=0.0,
            null_share=float(self.null_share),
            distortion=readonly(self.distortion),
            blocks=readonly(np.zeros(0, np.int64)),
            fertilities=readonly(logs),
            factorial=self.factorial,
            first=readonly(_log(self.first)),
            rest=readonly(_log(self.rest)),
            source_classes=readonly(self.source_classes),
            target_classes=readonly(self.target_classes),
        )

    @cached_property
    def _starts(self) -> dict[tuple[int, int], int]:
        """Where the block of each size (N, M) starts in `distortion`."""
        areas = self.sizes.prod(1)
        starts = (np.cumsum(areas) - areas).tolist()
        return {(n, m): start for (n, m), start in zip(self.sizes.tolist(), starts, strict=True)}

    def block(self, n: int, m: int) -> tuple[F4, int]:
        """Return an array of IBM 3 with d(j | i, n, m), and the start of its block.

        IBM 4 has none: its array is empty.
        """
        if self.model == "ibm4":
            return self.distortion, 0
        if (n, m) in self._starts:
            return self.distortion, self._starts[n, m]
        # a size that training did not see
        return distortion_block(n, m, self.diagonal).astype(np.float32).ravel(), 0

    def zero_counts(self) -> Counts:
        """Return counts of zero."""
        return Counts(
            fertilities=np.zeros(self.fertilities.shape),
            null=np.zeros(2),
            first=np.zeros(self.first.shape),
            rest=np.zeros(self.rest.shape),
        )


@dataclass(frozen=True, eq=False)
class Fertilities:
    """The tables of IBM 3 or IBM 4 in both directions."""

    forward: FertilityModel  # all tables but the lexical ones
    reverse: FertilityModel
    forward_lexical: F4
    reverse_lexical: F4
    target_null: F4
    source_null: F4


class FertilityAlignment(NamedTuple):
    """The alignment of one pair in one direction."""

    alignment: I4  # the source word of each target word, -1 for NULL, shape (M,)
    posteriors: F4
    score: float  # log P(target words, alignment | source words); NaN if a side has no words


def align_fertility(
    model: FertilityModel,
    sources: I4,
    targets: I4,
    probabilities: F4,
    null: F4,
    start: I4,
    *,
    sweeps: int = SWEEPS,
) -> FertilityAlignment:
    """Align one sentence pair, starting from the alignment of another model."""
    if not len(sources) or not len(targets):
        no_links = np.full(len(targets), -1, np.int32)
        nothing = np.zeros((len(sources), len(targets)), np.float32)
        return FertilityAlignment(no_links, nothing, float("nan"))
    distortion, block = model.block(len(sources), len(targets))
    kernel = model.kernel._replace(distortion=readonly(distortion))
    # the kernel changes the alignment, and sets the posteriors: row 0 is NULL
    alignment = np.array(start, np.int32)
    post = np.empty((len(sources) + 1, len(targets)), np.float32)
    text = FertilePair(
        readonly(np.asarray(sources, np.int32)),
        readonly(np.asarray(targets, np.int32)),
        np.ascontiguousarray(np.concatenate([null[None], probabilities]), np.float32),
        block,
    )
    score = align_pair(text, kernel, sweeps, alignment, post)
    return FertilityAlignment(alignment, post[1:], score)


def _log(values: F4) -> F4:
    """Return logarithms computed in 64 bits: those of 32 bits depend on the processor."""
    return np.log(values, dtype=np.float64).astype(np.float32)
