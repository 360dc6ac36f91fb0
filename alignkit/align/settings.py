"""The settings of a training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any

from alignkit.errors import OptionError, UnknownNameError

SYMMETRIZATIONS = (
    "posterior",
    "intersection",
    "union",
    "grow-diag",
    "grow-diag-final",
    "grow-diag-final-and",
    "forward",
    "reverse",
)
"""How links are chosen: by the mean of both posteriors, or from Viterbi alignments."""

LONGEST_PIECE = 400
"""Words of the longest line that is not cut: 400 x 400 cells take 3 MB while it is aligned."""

THRESHOLD = 0.55  # a link is what both directions think more of than this, in the mean

MODELS = {
    "ibm1": "words alone (Brown et al. 1993)",
    "ibm2": "words and their positions (Brown et al. 1993)",
    "hmm": "words and the jump from the word before (Vogel, Ney & Tillmann 1996)",
    "ibm3": "the HMM's words, fertilities and positions (Brown et al. 1993)",
    "ibm4": "the HMM's words, fertilities and relative positions (Brown et al. 1993)",
}

INFERENCES = {
    "collapsed": "each pair is aligned by what all others tell (collapsed variational Bayes)",
    "em": "expectation maximization",
    "vb": "mean-field variational Bayes",
}


@dataclass(frozen=True)
class Settings:
    """What training depends on; the defaults were best over languages and sizes.

    Parameters
    ----------
    model
        One of `MODELS`.
    agree
        Whether both directions are trained together, on the links that both expect (Liang, Taskar
        & Klein 2006).
    inference
        One of `INFERENCES`; ``collapsed`` needs `agree`.
    ibm1, ibm2, hmm, fertility
        Rounds of each model on the way to `model`; IBM 2 is only on the way to itself, and
        `fertility` counts the rounds of IBM 3 or IBM 4.
    null
        Probability that a word is aligned to the empty word, before it is seen.
    band
        Longest jump, in words, that the HMM tells from longer ones.
    kinds
        How many of the most frequent words have jumps of their own.
    jump_smoothing
        Weight of the common jumps in those of one word, in jumps.
    diagonal
        Whether IBM 2 takes its positions from a distance to the diagonal (Dyer, Chahuneau & Smith
        2013) rather than one number for each.
    spelling
        Pseudo-count for words that are spelled alike.
    identity
        Further pseudo-count for equal words: the word-identity lexicon of Cohn, Callison-Burch &
        Lapata 2008.
    stem, stem_weight
        Letters of a stem (0: 3 in texts of fewer than 2,000 pairs, else 4), and the weight of the
        other words of both stems, in counts.
    floor
        Pseudo-count of each word pair that occurs.
    concentration
        Pseudo-count of all that does not occur with a word.
    best
        Whether to train two more models, of the words' first four and five letters, and to take
        the mean of all three posteriors: better, in three times the time.
    vector_weight, vector_least
        Pseudo-count of words with the same vector, and the cosine, below 1, at which it is 0; it
        rises evenly between.
    prune
        Whether to forget word pairs that IBM 1 links nowhere and that have no prior: models are
        smaller, and workers of a cluster exchange less.

    Raises
    ------
    OptionError, UnknownNameError
        If a value makes no sense.
    """

    model: str = "hmm"
    best: bool = False
    agree: bool = True
    inference: str = "collapsed"
    ibm1: int = 1
    ibm2: int = 5
    hmm: int = 5
    fertility: int = 2
    null: float = 0.05
    band: int = 20
    kinds: int = 100
    jump_smoothing: float = 1000.0
    diagonal: bool = False
    spelling: float = 3.0
    identity: float = 0.0
    stem: int = 0
    stem_weight: float = 1.0
    floor: float = 2e-3
    concentration: float = 1.0
    vector_weight: float = 3.0
    vector_least: float = 0.3
    prune: bool = False

    def __post_init__(self) -> None:
        self._check_kinds_of_values()
        if self.model not in MODELS:
            raise UnknownNameError("model", self.model, MODELS)
        if self.inference not in INFERENCES:
            raise UnknownNameError("inference", self.inference, INFERENCES)
        if self.inference == "collapsed" and not self.agree:
            raise OptionError("collapsed inference needs agreement; choose em or vb without it")
        if self.prune and self.inference != "collapsed":
            raise OptionError(f"prune is for collapsed inference; {self.inference} cannot forget")
        if self.null >= 1:
            raise OptionError(f"null is {self.null}; it is a probability below 1")
        if self.vector_least >= 1:
            raise OptionError(f"vector_least is {self.vector_least}; it is a cosine below 1")
        for name, least, most in (("band", 1, 1000), ("kinds", 1, 100_000), ("stem", 0, 1000)):
            if not least <= getattr(self, name) <= most:
                raise OptionError(f"{name} is {getattr(self, name)}; it is from {least} to {most}")

    def changed(self, options: Mapping[str, Any]) -> Settings:
        """Return these settings with some changed."""
        known = [field.name for field in fields(self)]
        for name in options:
            if name not in known:
                raise UnknownNameError("setting", name, known)
        return replace(self, **options)

    def _check_kinds_of_values(self) -> None:
        for field in fields(self):
            value, default = getattr(self, field.name), field.default
            plain = _plain(value, type(default))
            if plain is None:
                name = type(default).__name__
                raise OptionError(f"{field.name} is {value!r}; it must be of the kind {name}")
            object.__setattr__(self, field.name, plain)
            if not isinstance(plain, str) and not 0 <= plain < 1e9:
                raise OptionError(f"{field.name} is {value}; it must be 0 or more, below 1e9")


def _plain(value: object, kind: type) -> str | float | None:
    if kind is bool or isinstance(value, bool):
        return value if kind is bool and isinstance(value, bool) else None
    if kind is int and isinstance(value, Integral):
        return int(value)
    if kind is float and isinstance(value, Real):
        return value if isinstance(value, int) else float(value)
    return value if kind is str and isinstance(value, str) else None
