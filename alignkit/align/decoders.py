"""Posteriors and Viterbi alignments of a bitext, by one model or the mean of several, and links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, overload

import numpy as np

from alignkit._support.arguments import check_arguments, check_attributes, place
from alignkit._support.array_types import B1, F4, F8, I4
from alignkit.align import decoding_kernel as kernel
from alignkit.align.calibration import Calibrator
from alignkit.align.expectation import NO_LEVELS, Positions
from alignkit.align.expectation_kernel import (
    JumpCounts,
    Jumps,
    Own,
    Pairs,
    StepOutput,
    Tables,
    ViterbiPaths,
    hmm_paths,
    hmm_step,
    lexical_step,
)
from alignkit.errors import OptionError
from alignkit.model.alignment import Alignment, Link
from alignkit.model.arrays import LinkArrays, gather


@dataclass(frozen=True, eq=False)
class AlignedLinks(Sequence[Alignment]):
    """The links of P sentence pairs and their probabilities: a sequence of alignments.

    The links are kept as arrays, 13 bytes each; an alignment is made when it is asked for, with the
    probabilities as weights. A slice is the same of some pairs.

    Parameters
    ----------
    arrays : The links.
    probabilities : (L,) float32: for each link, the mean of the posteriors of both directions;
        calibrated if `Aligner.calibrated` says so.
    cautions : What did not go as asked for: evidence that was not used.

    Examples
    --------
    >>> from alignkit import Aligner
    >>> bitext = [("das haus", "the house"), ("das buch", "the book"), ("ein buch", "a book")]
    >>> links = Aligner.train(bitext).align_bitext(bitext)
    >>> len(links), links[0]
    (3, Alignment('0-0 1-1'))
    >>> [len(alignment) for alignment in links[1:]]
    [2, 2]
    """

    arrays: LinkArrays
    probabilities: F4
    cautions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_attributes(self)

    def __len__(self) -> int:
        return len(self.arrays)

    @overload
    def __getitem__(self, k: int) -> Alignment: ...
    @overload
    def __getitem__(self, k: slice) -> AlignedLinks: ...
    def __getitem__(self, k: int | slice) -> Alignment | AlignedLinks:
        if not isinstance(k, slice):
            return self.alignment(k)
        places = np.arange(len(self))[k]
        link_numbers, _ = gather(self.arrays.offsets, places)
        probabilities = self.probabilities[link_numbers]
        return AlignedLinks(self.arrays.take(places), probabilities, self.cautions)

    def __iter__(self) -> Iterator[Alignment]:
        return map(self.alignment, range(len(self)))

    @classmethod
    def joined(cls, parts: Sequence[AlignedLinks]) -> AlignedLinks:
        """Return the links of all parts, one part after the other, with all their cautions."""
        if len(parts) == 1:
            return parts[0]
        arrays = LinkArrays.concatenate([part.arrays for part in parts])
        probabilities = [np.empty(0, np.float32)]
        probabilities += [part.probabilities for part in parts]
        cautions: list[str] = []
        for part in parts:
            for caution in part.cautions:
                if caution not in cautions:
                    cautions.append(caution)
        return cls(arrays, np.concatenate(probabilities), tuple(cautions))

    def replaced(self, other: AlignedLinks, places: B1) -> AlignedLinks:
        """Return these links, with those of `other` for some of the pairs (P,)."""
        both = AlignedLinks.joined([self, other])
        own_pairs = np.arange(len(places))
        chosen = np.where(places, len(places) + own_pairs, own_pairs)  # those of `other` come later
        link_numbers, _ = gather(both.arrays.offsets, chosen)
        probabilities = both.probabilities[link_numbers]
        return AlignedLinks(both.arrays.take(chosen), probabilities, both.cautions)

    def alignment(self, k: int, *, digits: int | None = None) -> Alignment:
        """Return the alignment of pair k, with the probabilities as weights.

        `digits` rounds the weights to this number of significant digits.
        """
        check_arguments(AlignedLinks.alignment, locals())
        k = place("k", k, len(self.arrays), "pairs")
        begin = self.arrays.offsets[k]
        end = self.arrays.offsets[k + 1]
        points = self.arrays.links[begin:end]
        sure = self.arrays.sure[begin:end]
        weights = self.probabilities[begin:end].tolist()
        if digits is not None:
            weights = [float(f"{weight:.{digits}g}") for weight in weights]
        links = map(Link._make, points.tolist())
        weighted = dict(zip(links, weights, strict=True))
        # an alignment stores its links as `LinkArrays` does: int32 positions, a byte for sure
        return Alignment.from_bytes(points.tobytes(), sure.tobytes(), weighted)


def check_thresholds(threshold: float, sure: float | None) -> None:
    """Raise an error if a threshold is not a probability."""
    for name, value in (("threshold", threshold), ("sure", sure)):
        if value is not None and not 0 <= value <= 1:
            raise OptionError(f"{name} is {value}; expected a probability from 0 to 1")


class Decoding(Protocol):
    """Computes posteriors and Viterbi alignments of the pairs of a bitext."""

    @property
    def pairs(self) -> Pairs:
        """The pairs in the form that kernels take."""

    def posteriors(self, begin: int, end: int, likelihoods: F8 | None = None) -> tuple[F4, F4]:
        """Return the posteriors of both directions for the cells of pairs `begin:end`."""

    def lexical(self, begin: int, end: int) -> tuple[F4, F4]:
        """Return the posteriors of both directions by the words alone, without positions."""

    def calibrated(self, begin: int, end: int, posteriors: tuple[F4, F4]) -> tuple[F4, F4]:
        """Return two arrays whose mean is the probabilities of the cells to be shown.

        These are two because posteriors, which are shown where nothing calibrates them, are.
        """

    def viterbi(self, begin: int, end: int) -> tuple[F4, F4, I4, I4]:
        """Return the posteriors, and the best counterpart of each target and source word."""


def _paths(pairs: Pairs, begin: int, end: int) -> tuple[I4, I4]:
    """Return empty arrays for the counterpart of each target and each source word."""
    targets = int(pairs.target_starts[end] - pairs.target_starts[begin])
    sources = int(pairs.source_starts[end] - pairs.source_starts[begin])
    return np.empty(targets, np.int32), np.empty(sources, np.int32)


def _best_positions(pairs: Pairs, begin: int, end: int, posteriors: tuple[F4, F4]) -> tuple[I4, I4]:
    """Return the most probable counterpart of each target and each source word."""
    paths = _paths(pairs, begin, end)
    starts = pairs.source_starts, pairs.target_starts
    kernel.best_positions(begin, end, *starts, *posteriors, *paths)
    return paths


@dataclass(frozen=True, eq=False)
class Decoder:
    """Posteriors and Viterbi alignments of the pairs of a bitext by IBM 1, IBM 2 or the HMM."""

    pairs: Pairs
    tables: Tables
    own: Own
    jumps: F4  # of the HMM: a table for each direction (see `Jumps`); empty for IBM 1 and 2
    positions: Positions  # the tables of IBM 2; uniform otherwise
    calibrator: Calibrator | None = None  # none for other models than the HMM

    def posteriors(self, begin: int, end: int, likelihoods: F8 | None = None) -> tuple[F4, F4]:
        """Return the posteriors of both directions for the cells of pairs `begin:end`.

        The log-likelihoods of these pairs are written into `likelihoods` (P, 2), if it is given.
        """
        pairs = self.pairs
        tables = self.tables
        jumps = self.jumps
        base = int(pairs.starts[begin])
        cells = int(pairs.starts[end]) - base
        forward = np.zeros(cells, np.float32)
        reverse = np.zeros(cells, np.float32)
        # for all pairs, because kernels number words through the bitext; of these, only those of
        # pairs `begin:end` are written
        source_nulls = np.empty(len(pairs.source), np.float32)
        target_nulls = np.empty(len(pairs.target), np.float32)
        if likelihoods is None:
            likelihoods = np.empty((len(pairs.starts) - 1, 2))
        nulls = source_nulls, target_nulls
        # no levels: the step writes posteriors and no agreement
        output = StepOutput(NO_LEVELS, forward, reverse, base, *nulls, likelihoods)
        if len(jumps):
            none = np.empty((0, 0), np.int64)
            both = Jumps(jumps[0], jumps[1])
            uncounted = JumpCounts(none, none, every=0, first_pair=0)
            hmm_step(begin, end, pairs, tables, both, self.own, output, uncounted)
        else:
            lexical_step(begin, end, pairs, tables, self.positions.tables, self.own, output)
        return forward, reverse

    def lexical(self, begin: int, end: int) -> tuple[F4, F4]:
        """Return the posteriors of both directions by the words alone, without positions."""
        # without jumps it is IBM 2, and that without places of its tables is IBM 1
        uniform = replace(self.positions, places=np.empty(0, np.int64))
        ibm1 = replace(self, jumps=np.empty(0, np.float32), positions=uniform)
        return ibm1.posteriors(begin, end)

    def calibrated(self, begin: int, end: int, posteriors: tuple[F4, F4]) -> tuple[F4, F4]:
        """Return two arrays whose mean is the probabilities of the cells to be shown."""
        if self.calibrator is None:
            return posteriors
        known = self.pairs, self.tables, self.own
        probabilities = self.calibrator.probabilities(begin, end, *known, posteriors)
        return probabilities, probabilities

    def viterbi(self, begin: int, end: int) -> tuple[F4, F4, I4, I4]:
        """Return the posteriors, and the Viterbi counterpart of each target and source word."""
        posteriors = self.posteriors(begin, end)
        return *posteriors, *self.paths(begin, end, posteriors)

    def paths(self, begin: int, end: int, posteriors: tuple[F4, F4] | None = None) -> tuple[I4, I4]:
        """Return the Viterbi counterpart of each target and each source word."""
        pairs = self.pairs
        if not len(self.jumps):
            if posteriors is None:
                posteriors = self.posteriors(begin, end)
            return _best_positions(pairs, begin, end, posteriors)
        paths = _paths(pairs, begin, end)
        bases = int(pairs.target_starts[begin]), int(pairs.source_starts[begin])
        both = Jumps(self.jumps[0], self.jumps[1])
        hmm_paths(begin, end, pairs, self.tables, both, self.own, ViterbiPaths(*paths, *bases))
        return paths


@dataclass(frozen=True, eq=False)
class Averaged:
    """The mean of the posteriors of several models of the same pairs."""

    decoders: Sequence[Decoding]  # what aligns by each; the first by whole words

    @property
    def pairs(self) -> Pairs:
        """The pairs, by whole words."""
        return self.decoders[0].pairs

    def posteriors(self, begin: int, end: int, likelihoods: F8 | None = None) -> tuple[F4, F4]:
        """Return the mean posteriors for the cells of pairs `begin:end`."""
        first, *others = self.decoders
        posteriors = [first.posteriors(begin, end, likelihoods)]
        posteriors += [decoder.posteriors(begin, end) for decoder in others]
        return _mean(posteriors)

    def lexical(self, begin: int, end: int) -> tuple[F4, F4]:
        """Return the mean posteriors by the words alone, without positions."""
        return _mean([decoder.lexical(begin, end) for decoder in self.decoders])

    def calibrated(self, begin: int, end: int, posteriors: tuple[F4, F4]) -> tuple[F4, F4]:
        """Return two arrays whose mean is the probabilities; whole words calibrate them."""
        return self.decoders[0].calibrated(begin, end, posteriors)

    def viterbi(self, begin: int, end: int) -> tuple[F4, F4, I4, I4]:
        """Return the mean posteriors, and the most probable counterpart of each word by them.

        Not the best path of any of the models: these may disagree.
        """
        posteriors = self.posteriors(begin, end)
        return *posteriors, *_best_positions(self.pairs, begin, end, posteriors)


def mean_of(forward: F4, reverse: F4) -> F4:
    """Return the mean of the posteriors of both directions; rounding may carry it above 1."""
    return (forward + reverse) * np.float32(0.5)


def _mean(posteriors: Sequence[tuple[F4, F4]]) -> tuple[F4, F4]:
    """Return the mean of the posteriors of several models, by direction."""
    forward, reverse = posteriors[0]
    for to, back in posteriors[1:]:
        forward = forward + to
        reverse = reverse + back
    share = np.float32(1 / len(posteriors))
    return forward * share, reverse * share
