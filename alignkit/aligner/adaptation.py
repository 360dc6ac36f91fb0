"""Carry what an aligner has learned over to another bitext."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.adaptation_kernel import adapt
from alignkit.aligner.bitext import Bitext, Side
from alignkit.aligner.cooccurrence import Cooccurrence
from alignkit.aligner.decoding import Decoder, Decoding
from alignkit.aligner.expectation import kinds_of, lexical_tables, pairs_of
from alignkit.aligner.expectation_kernel import Tables
from alignkit.aligner.memory import keys_of
from alignkit.aligner.parameters import Fertilities, Parameters
from alignkit.aligner.priors import spelling_prior
from alignkit.errors import AlignerError

__all__ = ["Adapter"]

F4 = NDArray[np.float32]
I4 = NDArray[np.int32]


class Adapter:
    """Make decoders of bitexts.

    Parameters
    ----------
    parameters
        What was learned.
    """

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters

    @cached_property
    def _source_numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.parameters.source)}

    @cached_property
    def _target_numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.parameters.target)}

    def decoder(self, bitext: Bitext) -> Decoding:
        """Return what aligns a bitext: the tables of the training, carried over to its words.

        Raises
        ------
        AlignerError
            If the bitext was packed with another `casefold`.
        """
        if bitext.casefold != self.parameters.casefold:
            raise AlignerError(
                f"the aligner was trained with casefold={self.parameters.casefold}: pack the "
                "bitext likewise"
            )
        known, settings = self.parameters, self.parameters.settings
        index = Cooccurrence.of(bitext)
        source = _numbers(bitext.source, self._source_numbers)
        target = _numbers(bitext.target, self._target_numbers)
        prior = spelling_prior(
            index, bitext.source.words, bitext.target.words, settings.spelling, settings.identity
        )
        floor = np.full(len(prior), settings.floor, np.float32)
        if settings.inference != "collapsed":  # words that were never seen alone need a floor
            floor[(source[index.source] >= 0) & (target[index.columns] >= 0)] = 0
        forward = prior + floor
        reverse = forward.copy()
        adapt(
            index.rows, index.columns, source, target, known.rows, known.columns,
            known.forward, known.reverse, forward, reverse,
        )  # fmt: skip
        tables = Tables(
            forward,
            reverse,
            known.source_totals[source],
            known.target_totals[target],
            known.source_null[source],
            known.target_null[target],
            kinds_of(source, settings.kinds),
            kinds_of(target, settings.kinds),
            np.float32(settings.null),
        )
        pairs = pairs_of(bitext, index)
        own = np.empty(0, np.uint8)
        if len(known.memory.keys):
            keys = keys_of(
                (source[pairs.source], pairs.source_starts),
                (target[pairs.target], pairs.target_starts),
            )
            own = known.memory.evidence(keys, bitext.starts)
        decoder = Decoder(pairs, tables, own, known.jumps, known.positions.of(bitext))
        if known.fertilities is None:
            return decoder
        return self._fertile(known.fertilities, decoder, index, source, target)

    def _fertile(
        self, fertilities: Fertilities, hmm: Decoder, index: Cooccurrence, source: I4, target: I4
    ) -> Decoding:
        """Return what aligns by IBM 3 or IBM 4; source and target are the numbers of the words."""
        from alignkit.aligner.fertile import FertileDecoder  # IBM 3 and 4 alone need it

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


def _numbers(side: Side, known: Mapping[str, int]) -> NDArray[np.int32]:
    """Return the known number of each word of a side, -1 where there is none."""
    return np.array([known.get(word, -1) for word in side.words], np.int32)
