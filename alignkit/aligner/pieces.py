"""Pieces of long lines, so that no sentence pair needs more memory than others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.bitext import Bitext, Side
from alignkit.aligner.settings import LONGEST_PIECE
from alignkit.arrays import LinkArrays


@dataclass(frozen=True, eq=False)
class Pieces:
    """A bitext whose lines over `LONGEST_PIECE` words are cut at equal fractions of both."""

    bitext: Bitext  # the pieces, as pairs
    pairs: NDArray[np.int64]  # (Q,) int64: the pair that each piece is of
    source_shifts: NDArray[np.int64]  # (Q,) int64: where in the pair the piece begins
    target_shifts: NDArray[np.int64]

    @classmethod
    def of(cls, bitext: Bitext) -> Pieces | None:
        """Cut the long lines of a bitext; None where there are none."""
        source, target = bitext.source.lengths, bitext.target.lengths
        longest = np.maximum(source, target)
        if not len(bitext) or longest.max() <= LONGEST_PIECE:
            return None
        numbers = np.maximum(-(-longest // LONGEST_PIECE), 1)
        pairs = np.repeat(np.arange(len(bitext)), numbers)
        firsts = np.cumsum(numbers) - numbers
        at = np.arange(len(pairs)) - firsts[pairs]
        source_shifts = source[pairs] * at // numbers[pairs]
        target_shifts = target[pairs] * at // numbers[pairs]
        cut = Bitext(
            _cut(bitext.source, pairs, source_shifts),
            _cut(bitext.target, pairs, target_shifts),
            bitext.casefold,
        )
        return cls(cut, pairs, source_shifts, target_shifts)

    def joined(self, arrays: LinkArrays, bitext: Bitext) -> LinkArrays:
        """Return the links of the pairs from those of their pieces."""
        counts = np.diff(arrays.offsets)
        links = arrays.links.copy()
        links[:, 0] += np.repeat(self.source_shifts, counts).astype(np.int32)
        links[:, 1] += np.repeat(self.target_shifts, counts).astype(np.int32)
        ends = np.searchsorted(self.pairs, np.arange(len(bitext)), "right")
        offsets = np.concatenate([arrays.offsets[:1], arrays.offsets[ends]])
        lengths = np.stack([bitext.source.lengths, bitext.target.lengths], axis=1)
        return LinkArrays.trusted(links, arrays.sure, offsets, lengths.astype(np.int32))

    def added(self, likelihoods: NDArray[np.float64], pairs: int) -> NDArray[np.float64]:
        """Return the log-likelihoods (P, 2) of the pairs from those of their pieces."""
        totals = np.zeros((pairs, 2))
        np.add.at(totals, self.pairs, likelihoods)
        return totals


def _cut(side: Side, pairs: NDArray[np.int64], shifts: NDArray[np.int64]) -> Side:
    starts = np.append(side.starts[pairs] + shifts, side.starts[-1])
    return Side.trusted(side.words, side.ids, starts)
