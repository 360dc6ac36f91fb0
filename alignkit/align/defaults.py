"""The defaults of training that depend on the text.

A rule is a curve over the number of sentence pairs. `python -m benchmarks.defaults` compares the
rules with variants, each chosen on the texts of other languages.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log10, sqrt
from typing import NamedTuple

SMALL = 2_000
"""Probabilities in texts of at most so many pairs are calibrated."""


class TextFacts(NamedTuple):
    """What rules know of a text and the settings."""

    pairs: int
    monolingual: bool  # whether equal words are a lexicon (`identity`)
    calibrated: bool  # whether the probabilities are calibrated
    best: bool  # whether three models are averaged


class DefaultRule(NamedTuple):
    """How a default follows from the text."""

    value: Callable[[TextFacts], float]
    text: str  # the same in words, for help
    why: str


def _clip(value: float, least: float, most: float) -> float:
    return min(max(value, least), most)


def _log(text: TextFacts) -> float:
    """Return the decimal logarithm of the pairs in hundreds."""
    return log10(max(text.pairs, 1) / 100)


def _large(text: TextFacts, most: int = 100_000) -> float:
    """Return 0 up to 2,000 pairs and 1 from `most` on; in between it follows the logarithm."""
    return _clip((_log(text) - log10(20)) / log10(most / SMALL), 0, 1)


def _floor(text: TextFacts) -> float:
    if text.monolingual:
        return 2e-3
    floor = _clip(0.04 / max(text.pairs, 1), 5e-4, 2e-3)
    return floor * 4 ** _large(text, 10_000) if text.best else floor


def _threshold(text: TextFacts) -> float:
    if text.calibrated:
        return 0.425
    return 0.55 if text.monolingual else _clip(0.5 + 0.025 * _log(text), 0.5, 0.6)


RULES = {
    "null": DefaultRule(
        lambda text: 0.05 if text.monolingual else 0.1 * 2 ** -_large(text),
        "0.1, with --identity 0.05; above 2,000 pairs it falls to 0.05 at 100,000",
        "small texts link rare words by chance unless the empty word can take them",
    ),
    "jump_smoothing": DefaultRule(
        lambda text: 300 if text.monolingual else 100 * 10 ** _large(text),
        "100, with --identity 300; above 2,000 pairs it rises to 1000 at 100,000",
        "the jumps of frequent words differ, which large texts show in spite of the smoothing",
    ),
    "stem_weight": DefaultRule(
        lambda text: _clip(1 + 3 * _log(text), 1, 4),
        "1 up to 100 pairs, 4 from 1,000 on",
        "more pairs know more about the other words of a stem",
    ),
    "floor": DefaultRule(
        _floor,
        "0.04 divided by the number of pairs, from 0.0005 to 0.002; with --identity 0.002; with "
        "--best, above 2,000 pairs it rises to 0.002 at 10,000",
        "in few pairs, that two words occur together says more; beginnings of words, which --best "
        "adds, are frequent",
    ),
    "concentration": DefaultRule(
        lambda text: _clip(0.03 * sqrt(text.pairs), 0.3, 1),
        "0.3 up to 100 pairs, 1 from 1,112 on",
        "in few pairs, most counts are small",
    ),
    "threshold": DefaultRule(
        _threshold,
        "0.425 where probabilities are calibrated, up to 2,000 pairs; else 0.5 up to 100 pairs, "
        "which rises to 0.6 at a million, or with --identity 0.55",
        "calibrated, a link is worth giving above half of the F1 that can be had; models of "
        "larger texts are surer of wrong links",
    ),
}
"""By option; a value that is given always wins."""
