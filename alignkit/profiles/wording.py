"""Measure how alike two texts are worded: shared words, shared character n-grams, lengths."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from math import log, nan, sqrt

TOKEN = r"\w+"
"""What a token is, unless told otherwise: letters, digits and underscores in a row."""

_SIZES = (2, 3, 4)


def token_types(
    text: str,
    *,
    token: str = TOKEN,
    stop_words: Collection[str] = (),
    stem: Callable[[str], str] | None = None,
) -> frozenset[str]:
    """Return the different tokens of a text in lower case."""
    found = {one for one in re.findall(token, text.lower()) if one not in stop_words}
    return frozenset(found if stem is None else map(stem, found))


def jaccard(first: Collection[str], second: Collection[str]) -> float:
    """Return the share of all types that both have; NaN where neither has any."""
    mine, other = frozenset(first), frozenset(second)
    every = len(mine | other)
    return len(mine & other) / every if every else nan


def ngrams(text: str) -> Counter[str]:
    """Count the character n-grams of 2 to 4 within words, in lower case."""
    found: Counter[str] = Counter()
    for word in text.lower().split():
        padded = f" {word} "
        for size in _SIZES:
            found.update(padded[k : k + size] for k in range(len(padded) - size + 1))
    return found


def idf_of(texts: Iterable[str]) -> dict[str, float]:
    """Return ln((1 + n) / (1 + df)) + 1 for each n-gram, df the texts of n that hold it."""
    holding: Counter[str] = Counter()
    number = 0
    for text in texts:
        holding.update(ngrams(text).keys())
        number += 1
    return {gram: log((1 + number) / (1 + df)) + 1 for gram, df in holding.items()}


def cosine(
    first: Mapping[str, int], second: Mapping[str, int], weights: Mapping[str, float] | None = None
) -> float:
    """Return the cosine of two counts; NaN where either is empty."""
    if not first or not second:
        return nan
    if first == second:
        return 1.0  # rounding would miss it
    one, other = (_weighted(counts, weights) for counts in (first, second))
    if len(other) < len(one):
        one, other = other, one
    dot = sum(value * other[gram] for gram, value in one.items() if gram in other)
    return min(1.0, dot / (_length(one) * _length(other)))


def _weighted(
    counts: Mapping[str, int], weights: Mapping[str, float] | None
) -> Mapping[str, float]:
    if weights is None:
        return counts
    return {gram: count * weights[gram] for gram, count in counts.items()}


def _length(values: Mapping[str, float]) -> float:
    return sqrt(sum(value * value for value in values.values()))


def length_ratio(first: str, second: str, *, token: str = TOKEN) -> float:
    """Return the tokens of the shorter text by those of the longer; NaN where both have none."""
    low, high = sorted(len(re.findall(token, text)) for text in (first, second))
    return low / high if high else nan
