"""Alignment of a bitext: posteriors from trained tables, and the choice of links."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from alignkit._support.array_types import F4, F8, I4, I8
from alignkit.align import decoders
from alignkit.align import decoding_kernel as kernel
from alignkit.align.bitext import PARTS, Bitext, parts_of
from alignkit.align.calibration import Calibrator
from alignkit.align.cooccurrence import Cooccurrence
from alignkit.align.decoders import AlignedLinks, Averaged, Decoder, Decoding
from alignkit.align.decoding_kernel import LexicalTables
from alignkit.align.expectation import NO_LEVELS, Workers, kinds_of, lexical_tables, pairs_of
from alignkit.align.expectation_kernel import Own, Pairs, Tables
from alignkit.align.parameters import Parameters, keys_of
from alignkit.align.priors import LEAST_PREFIX, add_shares, letters, spelling_prior
from alignkit.align.priors_kernel import Similarity, WordPairs
from alignkit.align.settings import LONGEST_PIECE
from alignkit.errors import AlignerError
from alignkit.model.arrays import LinkArrays

if TYPE_CHECKING:
    from alignkit.model.symmetrization import MethodName

NOTHING_OWN = Own(NO_LEVELS, NO_LEVELS, NO_LEVELS)
"""The expected links of pairs that training did not see: nothing is taken out of its counts."""

_MOST_CELLS = 2_000_000  # whose posteriors are held at a time by each thread: 8 bytes each


class Adapter:
    """Makes decoders for bitexts from the tables of a training.

    Each bitext numbers its own words, so the tables of training are copied to the words and word
    pairs of the bitext. A word or word pair that training did not see gets what its spelling and
    its shares say. Pairs of the training are found again by a key (`Memory`), and their own
    expected links are taken out of the counts, as in training.
    """

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters

    @cached_property
    def _prefixes(self) -> list[tuple[int, Adapter]]:
        """The models of words that are cut to a prefix: its length in letters, and the adapter."""
        return [(size, Adapter(part)) for size, part in self.parameters.prefixes.items()]

    @cached_property
    def _known(self) -> tuple[dict[str, int], dict[str, int]]:
        """The number of each word of training, by side."""
        source = {word: k for k, word in enumerate(self.parameters.source)}
        target = {word: k for k, word in enumerate(self.parameters.target)}
        return source, target

    @cached_property
    def _lexical(self) -> LexicalTables:
        """The weights of the word pairs of training."""
        known = self.parameters
        return LexicalTables(WordPairs(known.rows, known.columns), known.forward, known.reverse)

    def _numbers(self, source: Sequence[str], target: Sequence[str]) -> tuple[I4, I4]:
        """Return the numbers that training gave to the words of both sides, or -1."""
        known_source, known_target = self._known
        source_numbers = [known_source.get(word, -1) for word in source]
        target_numbers = [known_target.get(word, -1) for word in target]
        return np.array(source_numbers, np.int32), np.array(target_numbers, np.int32)

    def decoder(self, bitext: Bitext) -> Decoding:
        """Return the decoder of a bitext: the trained tables, mapped to the words of the bitext."""
        if bitext.casefold != self.parameters.casefold:
            trained = f"casefold={self.parameters.casefold}"
            raise AlignerError(f"pack the bitext with {trained}, as in the training of the aligner")
        whole = self._decoder(bitext)
        others = [part.decoder(bitext.cut(size)) for size, part in self._prefixes]
        if others:
            return Averaged([whole, *others])
        return whole

    def _decoder(self, bitext: Bitext) -> Decoding:
        """Return the decoder by this model alone."""
        known = self.parameters
        settings = self.parameters.settings
        index = Cooccurrence.of(bitext)
        words = bitext.source.words, bitext.target.words
        numbers = self._numbers(*words)
        prior = spelling_prior(index, *words, settings.spelling, settings.identity)
        if bitext.shares is not None:
            add_shares(prior, index, bitext.shares, settings.vector_weight)
        floor = np.full(len(prior), settings.floor, np.float32)
        if not settings.collapsed:  # only pairs with a word that was never seen need a floor
            source, target = numbers
            both_seen = (source[index.source] >= 0) & (target[index.columns] >= 0)
            floor[both_seen] = 0
        forward = prior + floor
        reverse = forward.copy()
        # where training knew the word pair, its weights replace those of the prior
        new = LexicalTables(index.pairs, forward, reverse)
        kernel.adapt(new, self._lexical, *numbers)
        pairs = pairs_of(bitext, index)
        decoder = Decoder(
            pairs=pairs,
            tables=self._tables(forward, reverse, *numbers),
            own=self._own_links(pairs, *numbers),
            jumps=known.jumps,
            positions=known.positions.of(bitext),
            calibrator=Calibrator.of(known.text, words, numbers),
        )
        return self._fertile(decoder, index, *numbers)

    def _own_links(self, pairs: Pairs, source: I4, target: I4) -> Own:
        """Return the expected links of those pairs that were in the training."""
        memory = self.parameters.memory
        if not len(memory.keys):
            return NOTHING_OWN
        source_text = source[pairs.source], pairs.source_starts
        target_text = target[pairs.target], pairs.target_starts
        return memory.evidence(keys_of(source_text, target_text), pairs)

    def pair_decoder(self, source: Sequence[str], target: Sequence[str]) -> Decoding | None:
        """Return a decoder for one pair without shares, ten times faster than `decoder`.

        None if the words or the model are not supported.
        """
        known = self.parameters
        is_hmm = len(known.jumps) > 0 and known.fertilities is None
        if not is_hmm:
            return None
        lengths = len(source), len(target)
        if min(lengths) == 0 or max(lengths) > LONGEST_PIECE:
            return None
        if not all(isinstance(word, str) for word in (*source, *target)):
            return None  # packing them into a bitext says what is wrong
        if known.casefold:
            source = [word.casefold() for word in source]
            target = [word.casefold() for word in target]
        whole = self._pair_decoder(source, target)
        others = []
        for size, part in self._prefixes:
            cut_source = [word[:size] for word in source]
            cut_target = [word[:size] for word in target]
            others.append(part._pair_decoder(cut_source, cut_target))
        if others:
            return Averaged([whole, *others])
        return whole

    def _pair_decoder(self, source: Sequence[str], target: Sequence[str]) -> Decoder:
        """Return the decoder of the words of a pair by this model alone."""
        known = self.parameters
        settings = self.parameters.settings
        numbers = self._numbers(source, target)
        key, pairs, forward, reverse = kernel.pair_tables(
            *numbers,
            letters(source),
            letters(target),
            self._lexical,
            Similarity(LEAST_PREFIX, float(settings.spelling), float(settings.identity)),
            np.float32(settings.floor),
            settings.collapsed,
        )
        own = NOTHING_OWN
        # the key tells whether the pair was in the training; those of training rise
        keys = known.memory.keys
        place = keys.searchsorted(key)[0]
        if place < len(keys) and keys[place] == key[0]:
            own = known.memory.evidence(key, pairs)
        return Decoder(
            pairs=pairs,
            tables=self._tables(forward, reverse, *numbers),
            own=own,
            jumps=known.jumps,
            positions=known.positions,  # which the HMM does not look at
            calibrator=Calibrator.of(known.text, (source, target), numbers),
        )

    def _tables(self, forward: F4, reverse: F4, source: I4, target: I4) -> Tables:
        """Return tables from lexical tables; `source` and `target` are the numbers of the words.

        The number of words never seen is -1: of the totals and of the empty word's tables it picks
        the last element, which is theirs.
        """
        known = self.parameters
        settings = self.parameters.settings
        source_unit, target_unit = known.null_units
        return Tables(
            forward=forward,
            reverse=reverse,
            source_totals=known.source_totals[source],
            target_totals=known.target_totals[target],
            source_null=known.source_null[source],
            target_null=known.target_null[target],
            source_kinds=kinds_of(source, settings.kinds),
            target_kinds=kinds_of(target, settings.kinds),
            p0=np.float32(settings.null),
            source_unit=source_unit,
            target_unit=target_unit,
        )

    def _fertile(self, hmm: Decoder, index: Cooccurrence, source: I4, target: I4) -> Decoding:
        """Return the decoder of IBM 3 or 4, which starts from the HMM's; the HMM's without one."""
        known = self.parameters
        fertilities = self.parameters.fertilities
        if fertilities is None:
            return hmm
        from alignkit.align.fertility.training import FertileDecoder  # IBM 3 and 4 alone need it

        forward, reverse = lexical_tables(hmm.tables, index)
        # where training knew the word pair, the probabilities of IBM 3 or 4 replace the HMM's
        new = LexicalTables(index.pairs, forward, reverse)
        lexical = fertilities.forward_lexical, fertilities.reverse_lexical
        kernel.adapt(new, LexicalTables(self._lexical.pairs, *lexical), source, target)
        # words never seen have the last element: kernels do not count from the end, as -1 would
        source = np.where(source < 0, len(known.source), source).astype(np.int32)
        target = np.where(target < 0, len(known.target), target).astype(np.int32)
        return FertileDecoder(hmm, fertilities, forward, reverse, None, source, target)


def decode(
    decoder: Decoding, workers: Workers, symmetrization: str, threshold: float, sure: float | None
) -> AlignedLinks:
    """Choose the links of all pairs."""
    decoders.check_thresholds(threshold, sure)
    pairs = decoder.pairs
    lengths = np.empty((len(pairs.starts) - 1, 2), np.int32)
    lengths[:, 0] = np.diff(pairs.source_starts)
    lengths[:, 1] = np.diff(pairs.target_starts)

    def links_of(_: int, begin: int, end: int) -> AlignedLinks:
        if symmetrization == "posterior":
            return _probable_links(decoder, begin, end, lengths[begin:end], threshold)
        return _links_of_paths(decoder, begin, end, lengths[begin:end], symmetrization)

    number = max(PARTS, int(pairs.starts[-1]) // _MOST_CELLS)
    parts = parts_of(pairs.starts, number)
    links = AlignedLinks.joined(workers.map(links_of, parts))
    if sure is None:
        return links
    flags = (links.probabilities > sure).astype(np.uint8)
    arrays = links.arrays
    arrays = LinkArrays.trusted(arrays.links, flags, arrays.offsets, arrays.lengths)
    return AlignedLinks(arrays, links.probabilities)


def _probable_links(
    decoder: Decoding, begin: int, end: int, lengths: I4, threshold: float
) -> AlignedLinks:
    """Return the links of the pairs `begin:end` with a probability above a threshold."""
    posteriors = decoder.posteriors(begin, end)
    means = decoders.mean_of(*decoder.calibrated(begin, end, posteriors))
    starts = decoder.pairs.starts[begin : end + 1] - decoder.pairs.starts[begin]
    cells = np.flatnonzero(means > np.float32(threshold))
    pair = starts.searchsorted(cells, "right") - 1
    # cell (i, j) of a pair stands at its start + i * M + j
    source, target = np.divmod(cells - starts[pair], lengths[pair, 1])
    links = np.empty((len(cells), 2), np.int32)
    links[:, 0] = source
    links[:, 1] = target
    probabilities = np.minimum(means[cells], np.float32(1))
    return AlignedLinks(_arrays(links, pair, lengths), probabilities)


def _links_of_paths(
    decoder: Decoding, begin: int, end: int, lengths: I4, symmetrization: str
) -> AlignedLinks:
    """Return the links of the pairs `begin:end` from their Viterbi alignments."""
    forward, reverse, target_path, source_path = decoder.viterbi(begin, end)
    # forward, each target word comes from one source word; reverse, the other way round
    forward_links = _links_of(target_path, 1, lengths)
    reverse_links = _links_of(source_path, 0, lengths)
    if symmetrization == "forward":
        arrays = forward_links
    elif symmetrization == "reverse":
        arrays = reverse_links
    else:
        from alignkit.model.symmetrization import symmetrize

        arrays = symmetrize(forward_links, reverse_links, cast("MethodName", symmetrization))
    starts = decoder.pairs.starts[begin : end + 1] - decoder.pairs.starts[begin]
    pair = arrays.pair_of
    source, target = arrays.links.T
    cells = starts[pair] + source * lengths[pair, 1] + target
    means = decoders.mean_of(*decoder.calibrated(begin, end, (forward, reverse)))
    return AlignedLinks(arrays, np.minimum(means[cells], np.float32(1)))


def _links_of(path: I4, side: int, lengths: I4) -> LinkArrays:
    """Return the links of a path: the counterpart of each word of a side (0 or 1), or -1."""
    counts = lengths[:, side].astype(np.int64)
    ends = counts.cumsum()
    starts = ends - counts
    linked = np.flatnonzero(path >= 0)  # words, counted through all sentences
    pair = np.repeat(np.arange(len(counts)), counts)[linked]
    other_side = 1 - side
    links = np.empty((len(linked), 2), np.int32)
    links[:, side] = linked - starts[pair]
    links[:, other_side] = path[linked]
    # by pair and source word. Links of the same source word stay in the order of the path: one of
    # target words has them in rising order, and one of source words has only one link of each
    order = np.lexsort((links[:, 0], pair))
    return _arrays(links[order], pair, lengths)


def _arrays(links: I4, pair: I8, lengths: I4) -> LinkArrays:
    """Return sure links as arrays, from the pair of each (L,), rising."""
    offsets = np.searchsorted(pair, np.arange(len(lengths) + 1))
    return LinkArrays.trusted(links, np.ones(len(links), np.uint8), offsets, lengths)


def likelihoods_by(decoder: Decoding, workers: Workers) -> F8:
    """Return the log-likelihoods (P, 2) of all pairs."""
    likelihoods = np.zeros((len(decoder.pairs.starts) - 1, 2))

    def score(_: int, begin: int, end: int) -> None:
        decoder.posteriors(begin, end, likelihoods)

    workers.map(score, parts_of(decoder.pairs.starts))
    return likelihoods
