"""What an encoder, or word vectors, say of the cells of a bitext: shares, computed or kept.

For each pair of sentences there are three steps: the words get vectors; the vectors are compared
(`_ComparedPair`, with the cosines of all cells); and the cosines become shares, for which their
standard deviation in the first pairs of the text, the spread, must be known. So the first pairs are
compared before all others. Pairs with the same words are looked at once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from logging import getLogger
from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F4, F8, I8, U2
from alignkit.align.bitext import Bitext, Side
from alignkit.align.encoder.encoding_counts import EncodingCounts
from alignkit.align.encoder.functions import VectorEncoder
from alignkit.align.encoder.kept_shares import RECIPE, KeptShares, key_of
from alignkit.align.encoder.shares import (
    FIRST_PAIRS,
    cosines_of,
    shares_of,
    spread_of,
)
from alignkit.align.encoder.word_encoder import NamedEncoder, WordEncoder
from alignkit.align.vectors.word_vectors import TwoVectors
from alignkit.errors import AlignerError, AlignmentError, OptionError

_LOGGER = getLogger("alignkit")
BLOCK = 2_000  # pairs that are sorted by length at a time
BATCH = 16  # pairs whose sentences are encoded at a time; interrupting loses no more


@dataclass(frozen=True)
class EncoderUsed(NamedEncoder):
    """The encoder of a training, as a saved model names it."""

    spread: float  # the standard deviation of the cosines that the shares are from

    def missing(self, model: str, without: str = "") -> OptionError:
        """Return the error for a model that is loaded without its encoder.

        `without` says how to go on without it, where one can.
        """
        advice = f"give it again (--encoder {self.name}; in Python, encoder=)"
        if not self.digest:
            advice = "it is a function, which only Python can give again (encoder=)"
        return OptionError(
            f"{model} was trained with the encoder {self.name}, and knows little of new words "
            f"without it: {advice}{without}"
        )


@dataclass(frozen=True)
class VectorsUsed:
    """The word vectors of a training, as a saved model describes them."""

    dimensions: int  # how many numbers a vector has
    spread: float  # the standard deviation of the cosines that the shares are from


class _ComparedPair(NamedTuple):
    """The words of a pair, compared by their vectors."""

    unknown: list[int]  # source and target words without a vector
    cosines: F8  # (N, M)

    @classmethod
    def of(cls, source: F4, target: F4) -> _ComparedPair:
        """Compare unit vectors (N, d) and (M, d)."""
        if source.shape[1] != target.shape[1]:
            raise AlignmentError(
                f"vectors of {source.shape[1]} and of {target.shape[1]} numbers: both sides need "
                "vectors of the same space"
            )
        unknown = [int((~vectors.any(axis=1)).sum()) for vectors in (source, target)]
        return cls(unknown, cosines_of(source, target))

    def numbers(self, spread: float) -> U2:
        """Return what is kept (2 + N * M,): the numbers of unknown words, and the shares."""
        shares = shares_of(self.cosines, spread)
        return np.concatenate([np.array(self.unknown, np.uint16), shares.ravel()])


class _Pair(NamedTuple):
    """The words of a pair as written, and the key of its shares."""

    number: int
    source: list[str]
    target: list[str]
    key: bytes

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.source), len(self.target)


class PairEncoder:
    """Computes the shares of pairs with an encoder or with word vectors.

    Shares of an encoder with a digest are kept in the user's cache folder, those of a function for
    this object alone: it is called once for a pair. Those of `WordVectors` are computed again,
    which is as fast.

    Parameters
    ----------
    encoder : What gives words their vectors.
    target : What gives target words theirs; None: `encoder`.
    spread : The standard deviation of cosines. None: that of the first text that is encoded.
    warn : Whether to warn if few words have a best match.
    """

    def __init__(
        self,
        encoder: WordEncoder,
        *,
        target: WordEncoder | None = None,
        spread: float | None = None,
        warn: bool = True,
    ) -> None:
        self.encoder = encoder
        self.spread = spread
        self.counts = EncodingCounts()
        self._target = encoder if target is None else target
        self._warned = not warn
        self._own: KeptShares | None = None  # of this object alone
        if not encoder.digest:
            is_static = isinstance(encoder, VectorEncoder) and encoder.is_static
            self._own = KeptShares("nowhere" if is_static else "memory")

    @classmethod
    def of_vectors(cls, vectors: TwoVectors, spread: float | None = None) -> PairEncoder:
        """Return what computes shares by word vectors."""
        source, target = map(VectorEncoder, vectors)
        return cls(source, target=target, spread=spread)

    @property
    def has_vectors(self) -> bool:
        """Whether it computes shares by word vectors, not by an encoder."""
        return isinstance(self.encoder, VectorEncoder)

    @property
    def used(self) -> EncoderUsed | VectorsUsed:
        """The encoder or the vectors, and the spread, for a saved model."""
        encoder = self.encoder
        assert self.spread is not None
        if isinstance(encoder, VectorEncoder):
            return VectorsUsed(encoder.dimensions, self.spread)
        return EncoderUsed(encoder.name, encoder.layer, encoder.layers, encoder.digest, self.spread)

    def encoded(self, bitext: Bitext) -> Bitext:
        """Return the bitext with the shares of its cells; it must have its words as written."""
        if bitext.shares is not None:
            return bitext
        written = bitext.as_written
        if written is None:
            raise AlignerError(
                "encoders and word vectors read words as they are written: pack the bitext with "
                "written=True, or give the pairs themselves"
            )
        begin = time.perf_counter()
        shares = np.zeros(bitext.starts[-1], np.uint16)
        full = np.flatnonzero(bitext.lengths.min(axis=1) > 0)  # pairs with words on both sides
        with nullcontext(self._own) if self._own is not None else KeptShares() as kept:
            first = self._settle_spread(written, full, kept)
            done = 0
            for start in range(0, len(full), BLOCK):
                block = self._pairs(written, full[start : start + BLOCK].tolist())
                for pair, numbers in self._block(block, kept, first):
                    cells = slice(bitext.starts[pair.number], bitext.starts[pair.number + 1])
                    shares[cells] = numbers[2:]
                    self.counts.count_pair(numbers[2:].reshape(pair.shape), numbers[:2].tolist())
                    done += 1
                    # the first pairs were reported when they were compared
                    reported = done > len(first) and done % BATCH == 0
                    if reported or done == len(full):
                        self._report(2 * done, 2 * len(full))
        self.counts.seconds += time.perf_counter() - begin
        self._warn()
        return replace(bitext, written=None, shares=shares)

    def _report(self, done: int, total: int) -> None:
        """Report progress in sentences."""
        if self.encoder.progress is not None:
            self.encoder.progress(done, total)

    def _warn(self) -> None:
        """Warn once if few words have a best match."""
        if self.has_vectors:
            caution = self.counts.caution_about_vectors
        else:
            caution = self.counts.caution(self.encoder.name)
        if caution and not self._warned:
            self._warned = True
            _LOGGER.warning("%s", caution)

    def _pairs(self, written: tuple[Side, Side], numbers: Sequence[int]) -> list[_Pair]:
        """Return some pairs of two sides with their keys."""
        source, target = written
        about = RECIPE, self.encoder.digest, self.encoder.layer, self.spread
        pairs = []
        for number in numbers:
            words = source.sentence(number), target.sentence(number)
            pairs.append(_Pair(number, *words, key_of(*about, *words)))
        return pairs

    def _settle_spread(
        self, written: tuple[Side, Side], full: I8, kept: KeptShares
    ) -> dict[int, _ComparedPair]:
        """Compute the spread of the cosines of the first pairs, unless it is known.

        Return these pairs compared, by their numbers, if they had to be.
        """
        compared: dict[int, _ComparedPair] = {}
        if self.spread is not None:
            return compared
        pairs = self._pairs(written, full[:FIRST_PAIRS].tolist())
        words = [part for pair in pairs for part in (pair.source, pair.target)]
        key = key_of(RECIPE, self.encoder.digest, self.encoder.layer, *words)
        self.spread = kept.spread(key)
        if self.spread is None:
            for batch in _batches(pairs):
                compared |= self._compared(batch)
                self._report(2 * len(compared), 2 * len(full))
            self.spread = spread_of(each.cosines for each in compared.values())
            kept.keep_spread(key, self.spread)
        return compared

    def _block(
        self, pairs: Sequence[_Pair], kept: KeptShares, first: dict[int, _ComparedPair]
    ) -> Iterator[tuple[_Pair, U2]]:
        """Yield pairs with their `_ComparedPair.numbers`, first those whose numbers are kept.

        `first` has the pairs that were compared already, by their numbers.
        """
        alike: dict[bytes, list[_Pair]] = {}  # pairs with the same words have the same key
        for pair in pairs:
            alike.setdefault(pair.key, []).append(pair)
        known = kept.shares(list(alike))
        missing = []  # one pair of each key
        for key, same in alike.items():
            n, m = same[0].shape
            numbers = known.get(key)
            if numbers is None or len(numbers) != 2 + n * m:
                missing.append(same[0])
                continue
            self.counts.kept += 2 * len(same)
            for pair in same:
                yield pair, numbers
        assert self.spread is not None
        for batch in _batches(missing):
            new = [pair for pair in batch if pair.number not in first]
            compared = first | self._compared(new)
            computed = {pair.key: compared[pair.number].numbers(self.spread) for pair in batch}
            kept.keep(computed)
            self.counts.encoded += 2 * len(batch)
            for key, numbers in computed.items():
                self.counts.kept += 2 * (len(alike[key]) - 1)
                for pair in alike[key]:
                    yield pair, numbers

    def _compared(self, pairs: Sequence[_Pair]) -> dict[int, _ComparedPair]:
        """Return pairs whose words are compared, by their numbers."""
        compared: dict[int, _ComparedPair] = {}
        if not pairs:
            return compared
        source = self.encoder.vectors([pair.source for pair in pairs])
        target = self._target.vectors([pair.target for pair in pairs])
        for pair, *both in zip(pairs, source, target, strict=True):
            compared[pair.number] = _ComparedPair.of(*both)
        return compared


def _batches(pairs: Sequence[_Pair]) -> Iterator[list[_Pair]]:
    """Yield some pairs at a time, sorted by their lengths: little is padded."""
    ordered = sorted(pairs, key=lambda pair: sum(pair.shape))
    for begin in range(0, len(ordered), BATCH):
        yield ordered[begin : begin + BATCH]
