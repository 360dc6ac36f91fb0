"""The tables of a training, carried over to the words of another bitext."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from alignkit.align.bitext import Bitext
from alignkit.align.cooccurrence import Cooccurrence
from alignkit.align.decoding import Decoder, Decoding
from alignkit.align.ensemble import Averaged, cut_bitext, cut_words
from alignkit.align.expectation import kinds_of, lexical_tables, pairs_of
from alignkit.align.expectation_kernel import Own, Pairs, Tables
from alignkit.align.memory_kernel import adapt, pair_tables
from alignkit.align.parameters import Fertilities, Parameters, keys_of
from alignkit.align.priors import LEAST_PREFIX, letters, spelling_prior
from alignkit.align.settings import LONGEST_PIECE
from alignkit.align.vectors.prior import VectorPrior
from alignkit.errors import AlignerError

F4 = NDArray[np.float32]
I4 = NDArray[np.int32]

NOTHING = Own(*(np.empty(0, np.uint8) for _ in range(3)))


class Adapter:
    """What makes decoders of bitexts from the tables of a training."""

    def __init__(self, parameters: Parameters, vectors: VectorPrior | None = None) -> None:
        self.parameters, self._vectors = parameters, vectors

    @cached_property
    def _prefixes(self) -> list[tuple[int, Adapter]]:
        return [(size, Adapter(part)) for size, part in self.parameters.prefixes.items()]

    @cached_property
    def _source_numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.parameters.source)}

    @cached_property
    def _target_numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.parameters.target)}

    def decoder(self, bitext: Bitext) -> Decoding:
        """Return what aligns a bitext: the tables of the training, carried over to its words."""
        if bitext.casefold != self.parameters.casefold:
            raise AlignerError(
                f"the aligner was trained with casefold={self.parameters.casefold}: pack the "
                "bitext likewise"
            )
        whole = self._decoder(bitext)
        if not self._prefixes:
            return whole
        others = [part.decoder(cut_bitext(bitext, size)) for size, part in self._prefixes]
        return Averaged([whole, *others])

    def _decoder(self, bitext: Bitext) -> Decoding:
        known, settings = self.parameters, self.parameters.settings
        index = Cooccurrence.of(bitext)
        source = _numbers(bitext.source.words, self._source_numbers)
        target = _numbers(bitext.target.words, self._target_numbers)
        prior = spelling_prior(
            index, bitext.source.words, bitext.target.words, settings.spelling, settings.identity
        )
        if self._vectors is not None:
            self._vectors.add(prior, index, bitext)
        floor = np.full(len(prior), settings.floor, np.float32)
        if settings.inference != "collapsed":  # words that were never seen alone need a floor
            floor[(source[index.source] >= 0) & (target[index.columns] >= 0)] = 0
        forward = prior + floor
        reverse = forward.copy()
        adapt(
            index.rows, index.columns, source, target, known.rows, known.columns,
            known.forward, known.reverse, forward, reverse,
        )  # fmt: skip
        kinds = kinds_of(source, settings.kinds), kinds_of(target, settings.kinds)
        tables = self._tables(forward, reverse, source, target, kinds)
        pairs = pairs_of(bitext, index)
        own = NOTHING
        if len(known.memory.keys):
            keys = keys_of(
                (source[pairs.source], pairs.source_starts),
                (target[pairs.target], pairs.target_starts),
            )
            own = known.memory.evidence(keys, pairs)
        decoder = Decoder(pairs, tables, own, known.jumps, known.positions.of(bitext))
        if known.fertilities is None:
            return decoder
        return self._fertile(known.fertilities, decoder, index, source, target)

    def pair_decoder(self, source: Sequence[str], target: Sequence[str]) -> Decoding | None:
        """Return what aligns one pair, in a tenth of the time that `decoder` takes for it.

        None for what only `decoder` aligns: other models, vectors, long pairs, empty sides.
        """
        known = self.parameters
        if known.fertilities is not None or not len(known.jumps) or self._vectors is not None:
            return None
        if not 0 < min(len(source), len(target)) <= max(len(source), len(target)) <= LONGEST_PIECE:
            return None
        try:
            if known.casefold:
                source, target = ([word.casefold() for word in side] for side in (source, target))
            whole = self._pair_decoder(source, target)
        except (AttributeError, TypeError):
            return None
        if not self._prefixes:
            return whole
        others = [
            part._pair_decoder(cut_words(source, size), cut_words(target, size))
            for size, part in self._prefixes
        ]
        return Averaged([whole, *others])

    def _pair_decoder(self, source: Sequence[str], target: Sequence[str]) -> Decoder:
        known, settings = self.parameters, self.parameters.settings
        spelled = *letters(source), *letters(target)
        mine = _numbers(source, self._source_numbers)
        theirs = _numbers(target, self._target_numbers)
        found = pair_tables(
            mine, theirs, *spelled, known.rows, known.columns, known.forward, known.reverse,
            LEAST_PREFIX, float(settings.spelling), float(settings.identity),
            np.float32(settings.floor), settings.inference == "collapsed", settings.kinds,
        )  # fmt: skip
        pairs = Pairs(
            found.places[: len(mine)], found.source_starts, found.places[: len(theirs)],
            found.target_starts, found.starts, found.cells,
        )  # fmt: skip
        kinds = found.source_kinds, found.target_kinds
        tables = self._tables(found.forward, found.reverse, mine, theirs, kinds)
        keys, own = known.memory.keys, NOTHING
        at = keys.searchsorted(found.key)[0]
        if at < len(keys) and keys[at] == found.key[0]:
            own = known.memory.evidence(found.key, pairs)
        return Decoder(pairs, tables, own, known.jumps, known.positions)

    def _tables(
        self, forward: F4, reverse: F4, source: I4, target: I4, kinds: tuple[I4, I4]
    ) -> Tables:
        known, settings = self.parameters, self.parameters.settings
        return Tables(
            forward,
            reverse,
            known.source_totals[source],
            known.target_totals[target],
            known.source_null[source],
            known.target_null[target],
            *kinds,
            np.float32(settings.null),
            *known.null_units,
        )

    def _fertile(
        self, fertilities: Fertilities, hmm: Decoder, index: Cooccurrence, source: I4, target: I4
    ) -> Decoding:
        from alignkit.align.fertility.training import FertileDecoder  # IBM 3 and 4 alone need it

        known = self.parameters
        forward, reverse = lexical_tables(hmm.tables, index)
        adapt(
            index.rows, index.columns, source, target, known.rows, known.columns,
            fertilities.forward_lexical, fertilities.reverse_lexical, forward, reverse,
        )  # fmt: skip
        return FertileDecoder(
            hmm,
            fertilities,
            forward,
            reverse,
            source_numbers=np.where(source < 0, len(known.source), source).astype(np.int32),
            target_numbers=np.where(target < 0, len(known.target), target).astype(np.int32),
        )


def _numbers(words: Sequence[str], known: Mapping[str, int]) -> I4:
    return np.array([known.get(word, -1) for word in words], np.int32)
