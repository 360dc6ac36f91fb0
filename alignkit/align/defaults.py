"""The defaults of training that depend on the number of sentence pairs.

A rule is a curve over the decimal logarithm of that number. `python -m benchmarks.defaults` prints
what each rule does on development sets, and what would be chosen without each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log10, sqrt


@dataclass(frozen=True)
class Rule:
    """How a default follows from the text."""

    value: Callable[[int, bool], float]
    """From the number of pairs, and whether equal words are a lexicon (`identity`)."""
    text: str  # the same in words, for help
    why: str


def _clip(value: float, least: float, most: float) -> float:
    return min(max(value, least), most)


def _large(pairs: int) -> float:
    """Return 0 up to 2,000 pairs and 1 from 100,000 on; in between it follows the logarithm."""
    return _clip(log10(max(pairs, 1) / 2_000) / log10(50), 0, 1)


def _threshold(pairs: int, monolingual: bool) -> float:
    return 0.6 if monolingual else _clip(0.5 + 0.025 * log10(max(pairs, 1) / 100), 0.5, 0.6)


RULES = {
    "null": Rule(
        lambda pairs, monolingual: 0.05 if monolingual else 0.1 * 2 ** -_large(pairs),
        "0.1, with --identity 0.05; above 2,000 pairs it falls to 0.05 at 100,000",
        "small texts link rare words by chance unless the empty word can take them",
    ),
    "jump_smoothing": Rule(
        lambda pairs, monolingual: 300 if monolingual else 100 * 10 ** _large(pairs),
        "100, with --identity 300; above 2,000 pairs it rises to 1000 at 100,000",
        "the jumps of frequent words differ, which large texts show in spite of the smoothing",
    ),
    "stem_weight": Rule(
        lambda pairs, _: _clip(1 + 3 * log10(max(pairs, 1) / 100), 1, 4),
        "1 up to 100 pairs, 4 from 1,000 on",
        "more pairs know more about the other words of a stem",
    ),
    "floor": Rule(
        lambda pairs, _: _clip(0.04 / max(pairs, 1), 5e-4, 2e-3),
        "0.04 divided by the number of pairs, from 0.0005 to 0.002",
        "in few pairs, that two words occur together says more",
    ),
    "concentration": Rule(
        lambda pairs, _: _clip(0.03 * sqrt(pairs), 0.3, 1),
        "0.3 up to 100 pairs, 1 from 1,112 on",
        "in few pairs, most counts are small",
    ),
    "threshold": Rule(
        _threshold,
        "0.5 up to 100 pairs, with --identity 0.6; it rises to 0.6 at a million",
        "models of larger texts are surer of wrong links",
    ),
}
"""By option; a value that is given always wins."""
