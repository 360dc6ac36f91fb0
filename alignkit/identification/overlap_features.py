"""The features of a pair of texts that count shared words, signs and letters; see `OVERLAP`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log1p

import numpy as np

from alignkit.identification.options import Texts
from alignkit.model.texts import words_and_signs

OVERLAP = (
    "jaccard",
    "jaccard of stems",
    "shared/shorter",
    "shared/longer",
    "dice 1",
    "dice 2",
    "dice 3",
    "lcs/shorter",
    "lcs/longer",
    "length ratio",
    "length difference",
    "digits shared",
    "digits unshared",
    "negation difference",
    "ratio of characters",
    "equal",
    "cosine of letters, tf",
    "cosine of letters",
    "cosine of words",
    "idf shared, min",
    "idf shared, max",
)
"""The features. The last five need the counts of all texts: `PairTexts` computes them."""

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|without|cannot)\b|n['’]t\b"
)


def tokens(text: str) -> list[str]:
    """Return words and signs in lower case."""
    return words_and_signs(text.lower())


def shared_words(pair: Texts, stems: Sequence[set[str]]) -> list[float]:
    """Return the features of a pair that count shared words, in the order of `OVERLAP`."""
    first, second = (tokens(text) for text in pair)
    first_types = set(first)
    second_types = set(second)
    shared = len(first_types & second_types)
    fewer, more = sorted((len(first_types), len(second_types)))
    shorter, longer = sorted((len(first), len(second)))
    common = _longest_common(first, second)
    first_stems, second_stems = stems
    first_digits = Counter(filter(str.isdigit, first))
    second_digits = Counter(filter(str.isdigit, second))
    shared_digits = (first_digits & second_digits).total()
    first_negations, second_negations = (len(_NEGATION.findall(text.lower())) for text in pair)
    fewer_characters, more_characters = sorted(map(len, pair))
    return [
        share(shared, len(first_types | second_types)),
        share(len(first_stems & second_stems), len(first_stems | second_stems)),
        share(shared, fewer),
        share(shared, more),
        _dice(first, second, 1),
        _dice(first, second, 2),
        _dice(first, second, 3),
        share(common, shorter),
        share(common, longer),
        share(shorter, longer),
        log1p(longer - shorter),
        shared_digits,
        (first_digits | second_digits).total() - shared_digits,
        abs(first_negations - second_negations),
        share(fewer_characters, more_characters),
        first == second,
    ]


def share(part: float, whole: float) -> float:
    """Divide; 0 if the whole is 0."""
    return part / whole if whole else 0.0


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = np.zeros(len(second) + 1, int)
    other = np.array(second, str)
    for word in first:
        longer = np.where(other == word, row[:-1] + 1, row[1:])
        row[1:] = np.maximum.accumulate(longer)
    return int(row[-1])


def _dice(first: Sequence[str], second: Sequence[str], n: int) -> float:
    """Return twice the number of shared n-grams, divided by the number of all n-grams."""
    grams = _grams(first, n)
    others = _grams(second, n)
    return share(2 * (grams & others).total(), grams.total() + others.total())


def _grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Count the n-grams of words."""
    return Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))
