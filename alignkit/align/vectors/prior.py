"""Give pseudo-counts to words that are near each other in vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.align.bitext import Bitext
from alignkit.align.cooccurrence import Cooccurrence
from alignkit.align.vectors.kernel import ONE, add_in_context, add_static
from alignkit.align.vectors.word_vectors import Vectors, WordVectors, vectors_of

_BLOCK = 4096  # words


@dataclass(frozen=True)
class VectorsUsed:
    """What vectors contributed to a training."""

    dimensions: int  # how many numbers a vector had
    source_words: int  # how many of the words had a vector
    target_words: int
    word_pairs: int  # how many word pairs got a pseudo-count


class VectorPrior:
    """Add pseudo-counts to words that occur together and whose vectors are near."""

    def __init__(
        self, source: Vectors, target: Vectors | None, *, weight: float, least: float
    ) -> None:
        self.source, self.target = source, source if target is None else target
        self._weight, self._least = float(weight), float(least)

    def add(self, prior: NDArray[np.float32], index: Cooccurrence, bitext: Bitext) -> VectorsUsed:
        """Add to the prior (K,) of a bitext's word pairs."""
        if isinstance(self.source, WordVectors) and isinstance(self.target, WordVectors):
            return self._add_static(prior, index, bitext)
        return self._add_in_context(prior, index, bitext)

    def _add_static(
        self, prior: NDArray[np.float32], index: Cooccurrence, bitext: Bitext
    ) -> VectorsUsed:
        source = _static_units(self.source, bitext.source.words)
        target = _static_units(self.target, bitext.target.words, source.shape[1])
        pairs = add_static(
            index.rows, index.columns, source, target, self._weight, self._least, prior
        )
        return VectorsUsed(source.shape[1], _known(source), _known(target), pairs)

    def _add_in_context(
        self, prior: NDArray[np.float32], index: Cooccurrence, bitext: Bitext
    ) -> VectorsUsed:
        sums, counts = np.zeros(len(prior)), np.zeros(len(prior), np.int32)
        sides = bitext.source, bitext.target
        met = [np.zeros(len(side.words), np.bool_) for side in sides]
        dimensions = None
        for k in np.flatnonzero(np.diff(bitext.starts)).tolist():
            source = units_of(vectors_of(self.source, sides[0].sentence(k), dimensions))
            dimensions = source.shape[1]
            target = units_of(vectors_of(self.target, sides[1].sentence(k), dimensions))
            for side, units, known in zip(sides, (source, target), met, strict=True):
                known[side.ids[side.starts[k] : side.starts[k + 1]][units.any(axis=1)]] = True
            cells = index.cells[bitext.starts[k] : bitext.starts[k + 1]]
            add_in_context(cells, source, target, self._weight, self._least, sums, counts)
        added = (sums / np.maximum(counts, 1)).astype(np.float32)
        prior += added
        known_source, known_target = (int(known.sum()) for known in met)
        near = int(np.count_nonzero(added))
        return VectorsUsed(dimensions or 0, known_source, known_target, near)


def _static_units(
    vectors: Vectors, words: Sequence[str], dimensions: int | None = None
) -> NDArray[np.int16]:
    begins = range(0, max(len(words), 1), _BLOCK)
    return np.concatenate(
        [units_of(vectors_of(vectors, words[k : k + _BLOCK], dimensions)) for k in begins]
    )


def units_of(vectors: NDArray[np.float32]) -> NDArray[np.int16]:
    """Return vectors (n, d) at the length `ONE`, in whole numbers; zeros stay zeros."""
    units = vectors.astype(np.float64)
    lengths = np.sqrt((units * units).sum(axis=1, keepdims=True))
    units *= np.divide(ONE, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return np.rint(units).astype(np.int16)


def _known(units: NDArray[np.int16]) -> int:
    return int(units.any(axis=1).sum())
