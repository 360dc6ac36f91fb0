"""The choice of links: by posterior, or by Viterbi in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, check_attributes, place
from alignkit._support.jit import readonly
from alignkit.align.decoding_kernel import (
    best_positions,
    links_of_paths,
    probabilities_of,
    select_links,
)
from alignkit.align.expectation import Workers, parts_of
from alignkit.align.expectation_kernel import Own, Pairs, Tables, hmm_paths, hmm_step, lexical_step
from alignkit.align.positions import Positions
from alignkit.errors import OptionError
from alignkit.model.alignment import Alignment, Link
from alignkit.model.arrays import LinkArrays
from alignkit.model.symmetrization import symmetrize

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]
I4 = NDArray[np.int32]

NO_LEVELS = np.empty(0, np.uint8)

PART = 2_000_000  # cells whose posteriors are held at a time by each thread: 8 bytes each


@dataclass(frozen=True, eq=False)
class AlignedLinks:
    """The links of P sentence pairs and their probabilities.

    Parameters
    ----------
    arrays
        The links.
    probabilities
        (L,) float32: the mean of the posteriors of both directions, of each link.
    """

    arrays: LinkArrays
    probabilities: F4

    def __post_init__(self) -> None:
        check_attributes(self)

    @classmethod
    def joined(cls, parts: Sequence[AlignedLinks]) -> AlignedLinks:
        """Return those of the pairs of some parts, one part after the other."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls(LinkArrays.pack([]), np.empty(0, np.float32))
        return cls(
            LinkArrays.concatenate([part.arrays for part in parts]),
            np.concatenate([part.probabilities for part in parts]),
        )

    def alignment(self, k: int, *, digits: int | None = None) -> Alignment:
        """Return the alignment of pair k, with the probabilities as weights.

        `digits` rounds them to so many significant ones.
        """
        check_arguments(AlignedLinks.alignment, locals())
        k = place("k", k, len(self.arrays), "pairs")
        begin, end = self.arrays.offsets[k], self.arrays.offsets[k + 1]
        links = map(Link._make, self.arrays.links[begin:end].tolist())
        weights = self.probabilities[begin:end].tolist()
        if digits is not None:
            weights = [float(f"{weight:.{digits}g}") for weight in weights]
        found = self.arrays.alignment(k)
        return Alignment(found.sure, found.possible, weights=dict(zip(links, weights, strict=True)))


class Decoding(Protocol):
    """What computes posteriors and Viterbi alignments of the pairs of a bitext."""

    @property
    def pairs(self) -> Pairs:
        """The pairs, as the kernels take them."""

    def posteriors(self, begin: int, end: int, likelihoods: F8 | None = None) -> tuple[F4, F4]:
        """Return both directions' posteriors of the cells of the pairs from begin to before end."""

    def lexical(self, begin: int, end: int) -> tuple[F4, F4]:
        """Return both directions' posteriors by the words alone, wherever they stand."""

    def viterbi(self, begin: int, end: int) -> tuple[F4, F4, I4, I4]:
        """Return the posteriors, and what Viterbi aligns each target and each source word to."""


@dataclass(frozen=True, eq=False)
class Decoder:
    """Posteriors and Viterbi alignments of the pairs of a bitext by IBM 1, IBM 2 or the HMM."""

    pairs: Pairs  # as the kernels take them
    tables: Tables
    own: Own
    jumps: F4  # (2, kinds + 1, 2 * band + 2) float32, or empty for IBM 1 and 2
    positions: Positions  # the tables of IBM 2; uniform otherwise

    def posteriors(self, begin: int, end: int, likelihoods: F8 | None = None) -> tuple[F4, F4]:
        """Return both directions' posteriors of the cells of the pairs from begin to before end."""
        return self._posteriors(begin, end, likelihoods, self.jumps, self.positions)

    def lexical(self, begin: int, end: int) -> tuple[F4, F4]:
        """Return both directions' posteriors by the words alone, wherever they stand."""
        positions = replace(self.positions, places=np.empty(0, np.int64))
        return self._posteriors(begin, end, None, np.empty(0, np.float32), positions)

    def _posteriors(
        self, begin: int, end: int, likelihoods: F8 | None, jumps: F4, positions: Positions
    ) -> tuple[F4, F4]:
        pairs, tables = self.pairs, self.tables
        base = int(pairs.starts[begin])
        cells = int(pairs.starts[end]) - base
        forward, reverse = np.zeros(cells, np.float32), np.zeros(cells, np.float32)
        nulls = np.empty(len(pairs.source), np.float32), np.empty(len(pairs.target), np.float32)
        if likelihoods is None:
            likelihoods = np.empty((len(pairs.starts) - 1, 2))
        if len(jumps):
            none = np.empty((0, 0), np.int64)
            hmm_step(
                begin, end, pairs, tables, jumps[0], jumps[1], self.own, NO_LEVELS,
                *nulls, forward, reverse, base, likelihoods,
                0, 0, none, none,
            )  # fmt: skip
        else:
            lexical_step(
                begin, end, pairs, tables,
                positions.places, positions.forward, positions.reverse, self.own, NO_LEVELS,
                *nulls, forward, reverse, base, likelihoods,
            )  # fmt: skip
        return forward, reverse

    def viterbi(self, begin: int, end: int) -> tuple[F4, F4, I4, I4]:
        """Return the posteriors, and what Viterbi aligns each target and each source word to."""
        posteriors = self.posteriors(begin, end)
        return *posteriors, *self.paths(begin, end, posteriors)

    def paths(self, begin: int, end: int, posteriors: tuple[F4, F4] | None = None) -> tuple[I4, I4]:
        """Return what Viterbi aligns each target word and each source word of some pairs to."""
        pairs = self.pairs
        source_base, target_base = pairs.source_starts[begin], pairs.target_starts[begin]
        target_path = np.empty(int(pairs.target_starts[end] - target_base), np.int32)
        source_path = np.empty(int(pairs.source_starts[end] - source_base), np.int32)
        if len(self.jumps):
            hmm_paths(
                begin, end, pairs, self.tables, self.jumps[0], self.jumps[1], self.own,
                target_path, source_path, target_base, source_base,
            )  # fmt: skip
        else:
            best_positions(
                begin, end, pairs.source_starts, pairs.target_starts,
                *(posteriors or self.posteriors(begin, end)), target_path, source_path,
            )  # fmt: skip
        return target_path, source_path


def decode(
    decoder: Decoding, workers: Workers, symmetrization: str, threshold: float, sure: float | None
) -> AlignedLinks:
    """Choose the links of all pairs."""
    check_thresholds(threshold, sure)
    pairs = decoder.pairs
    lengths = np.stack([np.diff(pairs.source_starts), np.diff(pairs.target_starts)], axis=1)
    lengths = lengths.astype(np.int32)

    def links_of(_: int, begin: int, end: int) -> AlignedLinks:
        if symmetrization == "posterior":
            return _by_posterior(decoder, begin, end, lengths, threshold)
        return _by_viterbi(decoder, begin, end, lengths, symmetrization)

    cells = int(pairs.starts[-1])
    links = AlignedLinks.joined(
        workers.map(links_of, parts_of(pairs.starts, max(64, cells // PART)))
    )
    if sure is None:
        return links
    flags, arrays = (links.probabilities > sure).astype(np.uint8), links.arrays
    arrays = LinkArrays.trusted(arrays.links, flags, arrays.offsets, arrays.lengths)
    return AlignedLinks(arrays, links.probabilities)


def check_thresholds(threshold: float, sure: float | None) -> None:
    """Refuse what is no probability."""
    for name, value in (("threshold", threshold), ("sure", sure)):
        if value is not None and not 0 <= value <= 1:
            raise OptionError(f"{name} is {value}; it is a probability, from 0 to 1")


def _by_posterior(
    decoder: Decoding, begin: int, end: int, lengths: I4, threshold: float
) -> AlignedLinks:
    forward, reverse = decoder.posteriors(begin, end)
    counts = np.empty(end - begin, np.int64)
    links, means = select_links(
        begin, end, decoder.pairs.source_starts, decoder.pairs.target_starts, forward, reverse,
        np.float32(threshold), counts,
    )  # fmt: skip
    return AlignedLinks(_arrays(links, counts, lengths[begin:end]), means)


def _by_viterbi(
    decoder: Decoding, begin: int, end: int, lengths: I4, symmetrization: str
) -> AlignedLinks:
    pairs = decoder.pairs
    one, other, target_path, source_path = decoder.viterbi(begin, end)
    counts = np.empty(end - begin, np.int64)
    links = links_of_paths(begin, end, pairs.target_starts, target_path, True, counts)
    forward = _arrays(links, counts, lengths[begin:end])
    links = links_of_paths(begin, end, pairs.source_starts, source_path, False, counts)
    reverse = _arrays(links, counts, lengths[begin:end])
    if symmetrization == "forward":
        arrays = forward
    elif symmetrization == "reverse":
        arrays = reverse
    else:
        arrays = symmetrize(forward, reverse, symmetrization)
    means = np.empty(len(arrays.links), np.float32)
    probabilities_of(
        readonly(arrays.links), readonly(arrays.offsets), begin, pairs.target_starts, pairs.starts,
        one, other, means,
    )  # fmt: skip
    return AlignedLinks(arrays, means)


def _arrays(links: I4, counts: NDArray[np.int64], lengths: I4) -> LinkArrays:
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return LinkArrays.trusted(links, np.ones(len(links), np.uint8), offsets, lengths)


def likelihoods_by(decoder: Decoding, workers: Workers) -> F8:
    """Return the log-likelihoods (P, 2) of all pairs of a decoder."""
    likelihoods = np.zeros((len(decoder.pairs.starts) - 1, 2))

    def score(_: int, begin: int, end: int) -> None:
        decoder.posteriors(begin, end, likelihoods)

    workers.map(score, parts_of(decoder.pairs.starts))
    return likelihoods
