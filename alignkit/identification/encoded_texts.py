"""What an encoder says of whole texts: the mean of the vectors of their words, and matching words.

Nothing is trained, and no number depends on other texts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from alignkit._support.array_types import F4, F8
from alignkit._support.wording import how_many
from alignkit.align.encoder.functions import EncoderLike, encoder_of
from alignkit.align.encoder.kept_shares import KeptShares, key_of
from alignkit.align.encoder.shares import cosines_of, mutual_best
from alignkit.align.encoder.word_encoder import WordEncoder
from alignkit.model.texts import words_and_signs

RECIPE = 1  # goes up when other numbers come out of the same texts
_BATCH = 32  # texts or pairs that are encoded at a time; interrupting loses no more
_DIGITS = 6  # of cosines that are compared with each other: batches change later ones

Texts = tuple[str, str]
T = TypeVar("T", str, Texts)
_NO_WORDS: F4 = np.zeros((0, 0), np.float32)


@dataclass
class TextCounts:
    """What an encoder had to do."""

    encoded: int = 0  # texts
    kept: int = 0  # texts that were known from before
    seconds: float = 0.0

    def __str__(self) -> str:
        texts = how_many(self.encoded, "text", commas=True)
        return f"{texts} encoded in {self.seconds:.0f} s, {self.kept:,} known from before"


class TextEncoder:
    """Compares texts by the vectors of their words, and keeps what came out.

    Of a function, nothing is kept but in memory.

    Parameters
    ----------
    encoder : What gives words their vectors: a folder, a name, a function, or an `Encoder`.
    """

    def __init__(self, encoder: EncoderLike) -> None:
        self.encoder: WordEncoder = encoder_of(encoder)
        self.counts = TextCounts()
        self._compared: dict[bytes, F4] = {}

    def __str__(self) -> str:
        return str(self.encoder)

    def means(self, texts: Sequence[str]) -> F4:
        """Return the mean vector (n, d) of the words of each text; zeros without words."""
        rows = self._numbers("mean", texts, self._encoded_means, {})
        means: F4 = np.zeros((len(rows), max(map(len, rows), default=0) or 1), np.float32)
        for number, row in enumerate(rows):
            means[number, : len(row)] = row  # without words it has no numbers
        return means

    def features(self, pairs: Sequence[Texts]) -> F8:
        """Return two numbers for each pair, (P, 2): see `compared_words`.

        They are the same for both orders of the texts.
        """
        ordered = [(min(pair), max(pair)) for pair in pairs]
        rows = self._numbers("pair", ordered, self._encoded_features, self._compared)
        return np.array(rows, float).reshape(-1, 2)

    def _encoded_means(self, texts: Sequence[str]) -> list[F4]:
        """Encode texts, and return the mean of each."""
        return [_mean(vectors).astype(np.float32) for vectors in self._vectors(texts)]

    def _encoded_features(self, pairs: Sequence[Texts]) -> list[F4]:
        """Encode the texts of pairs, and return their two numbers."""
        firsts = self._vectors([first for first, _ in pairs])
        seconds = self._vectors([second for _, second in pairs])
        made = []
        for first, second in zip(firsts, seconds, strict=True):
            made.append(np.array(compared_words(first, second), np.float32))
        return made

    def _vectors(self, texts: Sequence[str]) -> list[F4]:
        """Return the vectors (n, d) of the words of each text."""
        words = [words_and_signs(text) for text in texts]
        whole = [each for each in words if each]
        vectors = iter(self.encoder.vectors(whole) if whole else ())
        return [next(vectors) if each else _NO_WORDS for each in words]

    def _numbers(
        self,
        kind: str,
        items: Sequence[T],
        encode: Callable[[Sequence[T]], list[F4]],
        known: dict[bytes, F4],
    ) -> list[F4]:
        """Return the numbers of texts or pairs: those in `known` or kept before, or new ones."""
        begin = time.perf_counter()
        about = f"{kind} {RECIPE}", self.encoder.digest, self.encoder.layer
        keys = [key_of(*about, [item] if isinstance(item, str) else item) for item in items]
        missing = {key: item for key, item in zip(keys, items, strict=True) if key not in known}
        keeps = self.encoder.digest and missing
        with KeptShares() if keeps else nullcontext() as kept:
            if kept is not None:
                numbers = kept.shares(list(missing))
                known.update((key, row.view(np.float32)) for key, row in numbers.items())
            new = {key: item for key, item in missing.items() if key not in known}
            done = 0
            for batch in _batches(new):
                made = dict(zip(batch, encode(list(batch.values())), strict=True))
                known.update(made)
                if kept is not None:
                    kept.keep({key: row.view(np.uint16) for key, row in made.items()})
                done += len(batch)
                if self.encoder.progress is not None:
                    self.encoder.progress(done, len(new))
        texts = 1 if kind == "mean" else 2  # of each item
        self.counts.encoded += texts * len(new)
        self.counts.kept += texts * (len(missing) - len(new))
        self.counts.seconds += time.perf_counter() - begin
        return [known[key] for key in keys]


def compared_words(first: F4, second: F4) -> tuple[float, float]:
    """Compare two texts by the vectors of their words, (N, d) and (M, d), of length 1 or zeros.

    The first number is the cosine of the means of the vectors. The second is the share of the words
    of both texts that have a mutual best match: a word of the other text with a cosine above 0, so
    that neither of the two texts has a word that is more alike to it. Without vectors in a text,
    both are 0.
    """
    if not len(first) or not len(second):
        return 0.0, 0.0
    cosines = np.round(cosines_of(first, second), _DIGITS)
    known = ~np.isnan(cosines)
    if not known.any():
        return 0.0, 0.0
    cosines = np.where(known, cosines, -np.inf)
    best = mutual_best(cosines) & (cosines > 0)
    matched = best.any(axis=1).sum() + best.any(axis=0).sum()
    means = [_mean(vectors) for vectors in (first, second)]
    lengths = np.linalg.norm(means, axis=1).prod()
    cosine = means[0] @ means[1] / lengths if lengths else 0.0
    return float(cosine), float(matched / sum(cosines.shape))


def _mean(vectors: F4) -> F8:
    """Return the mean of vectors (n, d); zeros if there are none."""
    total: F8 = vectors.astype(float).sum(axis=0)
    return total / max(1, len(vectors))


def _batches(items: dict[bytes, T]) -> Iterator[dict[bytes, T]]:
    """Yield some items at a time, sorted by their lengths: little is padded."""
    ordered = sorted(items.items(), key=lambda item: sum(map(len, item[1])))
    for begin in range(0, len(ordered), _BATCH):
        yield dict(ordered[begin : begin + _BATCH])
