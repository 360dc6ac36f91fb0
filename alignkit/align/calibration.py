"""Probabilities of links: how often links that look like these are right.

Above all in few sentence pairs, word pairs that occur together by chance look probable. A logistic
function of what the posteriors, the other sentence pairs and the spelling of the words say of a
link corrects this. Its weights, in calibration.json, were fitted on gold links of many languages by
`python -m benchmarks.calibration`; none of the features knows a language or a script.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from alignkit._support.array_types import F4, F8, I4, I8
from alignkit.align.bitext import Bitext
from alignkit.align.expectation_kernel import LEVELS, Own, Pairs, Tables
from alignkit.align.priors import letters
from alignkit.align.settings import FEW
from alignkit.align.supervised.cells_kernel import (
    CalibratedWords,
    Calibration,
    CalibrationFeature,
    calibrate,
)
from alignkit.model.texts import PUNCTUATION, word_kind

FEATURES = tuple(feature.name.lower() for feature in CalibrationFeature)
"""The features of a cell; docs/align/probabilities.md defines them."""


@dataclass(frozen=True, eq=False)
class TrainingText:
    """What calibration needs to know of the text of training."""

    agreement: float  # the share of links that both directions agree on, from 0 to 1
    few: bool  # whether pairs' own links are in the tables, as with fewer than FEW pairs
    source: I4  # (Vs + 1,) how often each word occurs; 0 for a word never seen
    target: I4  # (Vt + 1,)

    @classmethod
    def of(
        cls, counts: Sequence[I8], pairs: int, words: int, levels: int, null_units: F4
    ) -> TrainingText:
        """Return what to know of a text of so many pairs and words with these counts of words.

        The agreement is the links that both directions expect, in 255ths (`levels`), over the mean
        number of words that are not expected to have none (see `null_units` of `Parameters`).
        """
        null = sum(1 / (LEVELS * float(unit)) for unit in null_units if unit > 0)
        agreement = min(2 * levels / LEVELS / max(words - null, 1e-9), 1.0)
        source, target = (np.append(count, 0).astype(np.int32) for count in counts)
        return cls(agreement, pairs < FEW, source, target)


def words_of(bitext: Bitext) -> int:
    """Return how many words are in pairs with words on both sides."""
    source_lengths = bitext.source.lengths
    target_lengths = bitext.target.lengths
    both = (source_lengths > 0) & (target_lengths > 0)
    return int(((source_lengths + target_lengths) * both).sum())


@cache
def _weights() -> F8:
    """Return the (F + 1,) weights of the features and the bias."""
    text = files("alignkit.align").joinpath("calibration.json").read_text("utf-8")
    known = json.loads(text)["weights"]
    return np.array([known[name] for name in (*FEATURES, "bias")])


def _calibrated_words(words: Sequence[str], counts: I4, numbers: I4) -> CalibratedWords:
    """Return the words of a side; `counts` are those of training, by the numbers of training."""
    signs = np.array([word_kind(word) == PUNCTUATION for word in words], np.uint8)
    return CalibratedWords(letters(words), signs, counts[numbers].astype(np.float32))


@dataclass(frozen=True, eq=False)
class Calibrator:
    """Calibrates the probabilities of the links of a bitext."""

    text: TrainingText
    source: CalibratedWords  # the words of the bitext
    target: CalibratedWords

    @classmethod
    def of(
        cls, text: TrainingText | None, words: Sequence[Sequence[str]], numbers: Sequence[I4]
    ) -> Calibrator | None:
        """Return the calibrator of words, if any; `numbers` are those of training, or -1."""
        if text is None:
            return None
        source = _calibrated_words(words[0], text.source, numbers[0])
        target = _calibrated_words(words[1], text.target, numbers[1])
        return cls(text, source, target)

    @classmethod
    def of_training(
        cls, text: TrainingText | None, words: Sequence[Sequence[str]]
    ) -> Calibrator | None:
        """Return the calibrator of the text of training itself, if any."""
        return cls.of(text, words, [np.arange(len(side), dtype=np.int32) for side in words])

    def probabilities(
        self,
        begin: int,
        end: int,
        pairs: Pairs,
        tables: Tables,
        own: Own,
        posteriors: tuple[F4, F4],
        features: F4 | None = None,
    ) -> F4:
        """Return the probabilities (C,) of cells from their posteriors; set `features` (C, F)."""
        if features is None:
            features = np.empty((0, len(FEATURES)), np.float32)
        agreement = self.text.agreement
        odds = float(np.log((agreement + 0.02) / (1 - agreement + 0.02)))
        how = Calibration(self.source, self.target, self.text.few, odds, _weights())
        return calibrate(begin, end, pairs, tables, own, posteriors, how, features)
