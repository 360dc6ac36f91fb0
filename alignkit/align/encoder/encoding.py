"""What an encoder says of the cells of a bitext: shares, from its own or from kept ones."""

from __future__ import annotations

import os
import time
from collections import ChainMap
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from logging import getLogger
from os import PathLike
from typing import NamedTuple, Union

import numpy as np

from alignkit._support.arguments import kind_of
from alignkit._support.array_types import F4, F8, I8, U2
from alignkit._support.wording import how_many
from alignkit.align.bitext import Bitext
from alignkit.align.encoder.joined_words import unit_vectors
from alignkit.align.encoder.kept_shares import RECIPE, KeptShares, key_of
from alignkit.align.encoder.shares import (
    FIRST_PAIRS,
    cosines_of,
    matched_words,
    shares_of,
    spread_of,
)
from alignkit.align.encoder.word_encoder import Progress, UsedEncoder, WordEncoder
from alignkit.align.vectors.word_vectors import Vectors, vectors_of
from alignkit.errors import AlignerError, ArgumentError, OptionError

_LOGGER = getLogger("alignkit")
BLOCK = 2_000  # pairs that are sorted by length at a time
LEAST_MATCHED = 0.65  # of 19 texts, 17 had .78 to .93; Japanese .59, Ancient Greek .57
FEWEST_WORDS = 100  # that tell
BATCH = 16  # pairs whose sentences are encoded at a time; interrupting loses no more


class FunctionEncoder:
    """A function from the words of a sentence to their vectors, with a name.

    Nothing that it returns is kept, and a saved model holds its name alone.

    Parameters
    ----------
    function : Returns an array (n, d) for a list of n words.
    name : What reports and saved models call it. None: the name of the function.

    Examples
    --------
    >>> def letters(words):
    ...     return [[word.count(letter) for letter in "aeiou"] for word in words]
    >>> FunctionEncoder(letters)
    FunctionEncoder('letters')
    """

    layer = 0
    layers = 0
    digest = ""
    progress: Progress | None = None

    def __init__(self, function: Vectors, name: str | None = None) -> None:
        if not callable(function):
            raise ArgumentError(
                f"an encoder is a name, a folder or a function, not {kind_of(function)}"
            )
        self._function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self._dimensions: int | None = None

    def __repr__(self) -> str:
        return f"FunctionEncoder({self.name!r})"

    def __str__(self) -> str:
        return self.name

    def vectors(self, sentences: Sequence[Sequence[str]]) -> list[F4]:
        """Return the vectors (n, d) of the words of each sentence, of length 1 or zeros."""
        made = []
        for words in sentences:
            vectors = vectors_of(self._function, list(words), self._dimensions)
            self._dimensions = vectors.shape[1]
            made.append(unit_vectors(vectors))
        return made


EncoderLike = Union[str, "PathLike[str]", WordEncoder, Vectors]
"""An `Encoder`, its folder or name, or any function from words to vectors."""


def encoder_of(given: EncoderLike) -> WordEncoder:
    """Return the encoder that is given as a folder, a name, a function, or itself."""
    if isinstance(given, (str, os.PathLike)):
        from alignkit.align.encoder.transformer import Encoder  # others do not need it

        return Encoder(given)
    if isinstance(given, WordEncoder):
        return given
    return FunctionEncoder(given)


@dataclass(frozen=True)
class EncoderUsed(UsedEncoder):
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


@dataclass
class EncodingCounts:
    """What an encoder had to do, and how well it knew the words.

    Returned by `Aligner.encoding`.

    Examples
    --------
    >>> from alignkit import Aligner
    >>> from alignkit.align.encoder import FunctionEncoder
    >>> def letters(words):
    ...     return [[word.count(letter) for letter in "aeiou"] for word in words]
    >>> bitext = [("das haus", "the house"), ("das buch", "the book")]
    >>> aligner = Aligner.train(bitext, encoder=FunctionEncoder(letters))
    >>> aligner.encoding.words, aligner.encoding.unknown
    ((4, 4), (0, 0))
    """

    encoded: int = 0  # sentences
    kept: int = 0  # sentences that were known from before
    seconds: float = 0.0
    words: tuple[int, int] = (0, 0)  # source and target words in pairs with words on both sides
    unknown: tuple[int, int] = (0, 0)  # those without a vector
    matched: int = 0  # how many words of a side have a mutual best match
    matchable: int = 0  # how many can have one: as many as the shorter side of each pair has words

    @property
    def matched_share(self) -> float:
        """The share of words of the shorter sides with a mutual best match; 1 without words."""
        return self.matched / self.matchable if self.matchable else 1.0

    def __add__(self, other: EncodingCounts) -> EncodingCounts:
        """Return the counts of two texts together."""
        return self._combined(other, 1)

    def __sub__(self, earlier: EncodingCounts) -> EncodingCounts:
        """Return what was counted since then."""
        return self._combined(earlier, -1)

    def _combined(self, other: EncodingCounts, sign: int) -> EncodingCounts:
        """Return the sums (sign 1) or differences (sign -1)."""
        return EncodingCounts(
            encoded=self.encoded + sign * other.encoded,
            kept=self.kept + sign * other.kept,
            seconds=self.seconds + sign * other.seconds,
            words=_pair_sum(self.words, other.words, sign),
            unknown=_pair_sum(self.unknown, other.unknown, sign),
            matched=self.matched + sign * other.matched,
            matchable=self.matchable + sign * other.matchable,
        )

    def caution(self, name: str) -> str:
        """Say that few words have a best match with the encoder of this name; empty if many do."""
        if self.matched_share >= LEAST_MATCHED or self.matchable < FEWEST_WORDS:
            return ""
        return (
            f"{name} finds a mutual best match for only {self.matched_share:.0%} of the words: "
            "perhaps it does not know one of the languages, and then links can be worse with it; "
            "compare them with gold links, or with those without an encoder"
        )

    def __str__(self) -> str:
        unknown = sum(self.unknown)
        if unknown:
            vectors = f"{how_many(unknown, 'word has', 'words have', commas=True)} no vector"
        else:
            vectors = "all words have vectors"
        return (
            f"{how_many(self.encoded, 'sentence', commas=True)} encoded in {self.seconds:.0f} s, "
            f"{self.kept:,} known from before; {vectors}; {self.matched_share:.0%} of the words "
            "that can have a mutual best match have one"
        )

    def to_json(self) -> dict[str, object]:
        """Return the counts as JSON values."""
        return {
            "encoded": self.encoded,
            "kept": self.kept,
            "seconds": round(self.seconds, 3),
            "source_words": self.words[0],
            "target_words": self.words[1],
            "source_words_without_vector": self.unknown[0],
            "target_words_without_vector": self.unknown[1],
            "matched_words": self.matched,
            "matchable_words": self.matchable,
        }


class _Cells(NamedTuple):
    """What is kept of a pair."""

    unknown: tuple[int, int]  # source and target words without a vector
    shares: U2  # (N, M)

    def packed(self) -> U2:
        """Return it as numbers (2 + N * M,)."""
        return np.concatenate([np.array(self.unknown, np.uint16), self.shares.ravel()])

    @classmethod
    def unpacked(cls, numbers: U2 | None, shape: tuple[int, int]) -> _Cells | None:
        """Return what was packed; None if there is nothing, or it is of another shape."""
        if numbers is None or len(numbers) != 2 + shape[0] * shape[1]:
            return None
        return cls((int(numbers[0]), int(numbers[1])), numbers[2:].reshape(shape))


class _Compared(NamedTuple):
    """The words of a pair, compared by their vectors."""

    unknown: tuple[int, int]  # source and target words without a vector
    cosines: F8  # (N, M)

    @classmethod
    def of(cls, source: F4, target: F4) -> _Compared:
        """Compare unit vectors (N, d) and (M, d)."""
        unknown = [int((~vectors.any(axis=1)).sum()) for vectors in (source, target)]
        return cls((unknown[0], unknown[1]), cosines_of(source, target))

    def cells(self, spread: float) -> _Cells:
        """Return what is kept of the pair."""
        return _Cells(self.unknown, shares_of(self.cosines, spread))


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
    """Computes the shares of pairs with one encoder, and keeps them.

    Parameters
    ----------
    encoder : What gives words their vectors.
    spread : The standard deviation of cosines. None: that of the first text that is encoded.
    warn : Whether to warn if few words have a best match.
    """

    def __init__(
        self, encoder: WordEncoder, spread: float | None = None, *, warn: bool = True
    ) -> None:
        self.encoder = encoder
        self.spread = spread
        self.counts = EncodingCounts()
        self._warned = not warn
        # a function is called once for a pair, but what it returns is not kept for others
        self._own = None if encoder.digest else KeptShares(in_memory=True)

    @property
    def used(self) -> EncoderUsed:
        """The encoder and the spread, for a saved model."""
        encoder = self.encoder
        assert self.spread is not None
        return EncoderUsed(encoder.name, encoder.layer, encoder.layers, encoder.digest, self.spread)

    def encoded(self, bitext: Bitext) -> Bitext:
        """Return the bitext with the shares of its cells; it must have its words as written."""
        if bitext.shares is not None:
            return bitext
        if bitext.written is None:
            raise AlignerError(
                "an encoder reads words as they are written: pack the bitext with written=True, or "
                "give the pairs themselves"
            )
        begin = time.perf_counter()
        shares = np.zeros(bitext.starts[-1], np.uint16)
        lengths = np.stack([bitext.source.lengths, bitext.target.lengths], axis=1)
        full = np.flatnonzero(lengths.min(axis=1) > 0)
        with nullcontext(self._own) if self._own is not None else KeptShares() as kept:
            first = self._settle_spread(bitext, full, kept)
            done = 0
            for start in range(0, len(full), BLOCK):
                block = self._pairs(bitext, full[start : start + BLOCK].tolist())
                for pair, cells in self._block(block, kept, first):
                    inside = slice(bitext.starts[pair.number], bitext.starts[pair.number + 1])
                    shares[inside] = cells.shares.ravel()
                    self._count(cells)
                    done += 1
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
        caution = self.counts.caution(self.encoder.name)
        if caution and not self._warned:
            self._warned = True
            _LOGGER.warning("%s", caution)

    def _pairs(self, bitext: Bitext, numbers: Sequence[int]) -> list[_Pair]:
        """Return pairs of the bitext with their keys."""
        assert bitext.written is not None
        source, target = bitext.written
        about = RECIPE, self.encoder.digest, self.encoder.layer, self.spread
        pairs = []
        for number in numbers:
            words = source.sentence(number), target.sentence(number)
            pairs.append(_Pair(number, *words, key_of(*about, *words)))
        return pairs

    def _settle_spread(self, bitext: Bitext, full: I8, kept: KeptShares) -> dict[int, _Compared]:
        """Compute the spread of the cosines of the first pairs, unless it is known.

        Return these pairs compared, by their numbers, if they had to be.
        """
        compared: dict[int, _Compared] = {}
        if self.spread is not None:
            return compared
        pairs = self._pairs(bitext, full[:FIRST_PAIRS].tolist())
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
        self, pairs: Sequence[_Pair], kept: KeptShares, first: dict[int, _Compared]
    ) -> Iterator[tuple[_Pair, _Cells]]:
        """Yield pairs with what the encoder says of their cells, first those that are known.

        `first` has the pairs that were compared already, by their numbers.
        """
        alike: dict[bytes, list[_Pair]] = {}
        for pair in pairs:
            alike.setdefault(pair.key, []).append(pair)
        known = kept.shares(list(alike))
        missing = []
        for key, same in alike.items():
            cells = _Cells.unpacked(known.get(key), same[0].shape)
            if cells is None:
                missing.append(same[0])
                continue
            self.counts.kept += 2 * len(same)
            for pair in same:
                yield pair, cells
        for batch in _batches(missing):
            new = self._compared([pair for pair in batch if pair.number not in first])
            compared = ChainMap(new, first)
            assert self.spread is not None
            made = {pair.key: compared[pair.number].cells(self.spread) for pair in batch}
            kept.keep({key: cells.packed() for key, cells in made.items()})
            self.counts.encoded += 2 * len(batch)
            for key, cells in made.items():
                self.counts.kept += 2 * (len(alike[key]) - 1)
                for pair in alike[key]:
                    yield pair, cells

    def _compared(self, pairs: Sequence[_Pair]) -> dict[int, _Compared]:
        """Return pairs whose words are compared, by their numbers."""
        compared: dict[int, _Compared] = {}
        if not pairs:
            return compared
        source = self.encoder.vectors([pair.source for pair in pairs])
        target = self.encoder.vectors([pair.target for pair in pairs])
        for pair, *both in zip(pairs, source, target, strict=True):
            compared[pair.number] = _Compared.of(*both)
        return compared

    def _count(self, cells: _Cells) -> None:
        """Count the words of a pair."""
        counts = self.counts
        counts.words = _pair_sum(counts.words, cells.shares.shape)
        counts.unknown = _pair_sum(counts.unknown, cells.unknown)
        counts.matched += matched_words(cells.shares)
        counts.matchable += min(cells.shares.shape)


def _pair_sum(first: tuple[int, int], second: tuple[int, ...], sign: int = 1) -> tuple[int, int]:
    """Return the sums of two counts for both sides, or the differences (sign -1)."""
    return first[0] + sign * second[0], first[1] + sign * second[1]


def _batches(pairs: Sequence[_Pair]) -> Iterator[list[_Pair]]:
    """Yield some pairs at a time, sorted by their lengths: little is padded."""
    ordered = sorted(pairs, key=lambda pair: sum(pair.shape))
    for begin in range(0, len(ordered), BATCH):
        yield ordered[begin : begin + BATCH]
