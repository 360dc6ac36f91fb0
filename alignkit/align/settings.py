"""The settings of training, of which functions and commands are made, and their defaults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from math import log10, nextafter, sqrt
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypedDict, get_args

from alignkit._support.arguments import check_known
from alignkit.errors import OptionError

Symmetrization = Literal[
    "posterior",
    "intersection",
    "union",
    "grow-diag",
    "grow-diag-final",
    "grow-diag-final-and",
    "forward",
    "reverse",
]
SYMMETRIZATIONS: tuple[str, ...] = get_args(Symmetrization)
"""How links are chosen: by the mean of both posteriors, or from Viterbi alignments."""

LONGEST_PIECE = 400  # longest line in words that is not cut; aligning 400 x 400 cells takes 3 MB

MAJORITY = 0.5  # of votes

PREFIXES = (4, 5)  # the letters that words are cut to by the further models of `best`
FEW = 10  # with fewer pairs, others say hardly anything: a pair's own links stay in the counts

MODELS = ("ibm1", "ibm2", "hmm", "ibm3", "ibm4")
"""The alignment models.

IBM 1 knows words alone, IBM 2 also their positions, IBM 3 and 4 fertilities and positions, absolute
or relative (Brown et al. 1993); the HMM the jump from the word before (Vogel, Ney & Tillmann 1996).
"""
FERTILITY_MODELS = ("ibm3", "ibm4")
INFERENCES = ("collapsed", "em", "vb")
"""The kinds of inference.

Collapsed variational Bayes aligns each pair by the counts of all others; expectation maximization;
mean-field variational Bayes.
"""


# A default that depends on the text is a curve over the number of sentence pairs; `python -m
# benchmarks.defaults` compares the rules with variants, each chosen on texts of other languages.
SMALL = 2_000  # from so many pairs on, some defaults approach those of large texts


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


def _clip(value: float, least: float, most: float) -> float:
    """Return the number in this range that is nearest to a value."""
    return min(max(value, least), most)


def _log(text: TextFacts) -> float:
    """Return the decimal logarithm of the pairs in hundreds."""
    return log10(max(text.pairs, 1) / 100)


def _large(text: TextFacts, most: int = 100_000) -> float:
    """Return 0 up to 2,000 pairs and 1 from `most` on; in between it follows the logarithm."""
    return _clip((_log(text) - log10(SMALL / 100)) / log10(most / SMALL), 0, 1)


def _null(text: TextFacts) -> float:
    """Return the share of the empty word."""
    if text.monolingual:
        return 0.05
    return 0.1 * 2 ** -_large(text)


def _jump_smoothing(text: TextFacts) -> float:
    """Return the weight of the common jump probabilities."""
    if text.monolingual:
        return 300
    return 100 * 10 ** _large(text)


def _floor(text: TextFacts) -> float:
    """Return the pseudo-count of each word pair that occurs."""
    if text.monolingual:
        return 2e-3
    floor = _clip(0.04 / max(text.pairs, 1), 5e-4, 2e-3)
    if text.best:
        return floor * 4 ** _large(text, 10_000)
    return floor * 4 ** _large(text)


def _threshold(text: TextFacts) -> float:
    """Return the probability that links exceed."""
    if text.calibrated:
        return _clip(0.4 + 0.0125 * _log(text), 0.4, 0.425)
    if text.monolingual:
        return 0.55
    return _clip(0.5 + 0.025 * _log(text), 0.5, 0.6)


RULES = {
    # small texts link rare words by chance unless the empty word can take them
    "null": DefaultRule(
        _null, "0.1, with --identity 0.05; above 2,000 pairs it falls to 0.05 at 100,000"
    ),
    # the jumps of frequent words differ, which large texts show in spite of the smoothing
    "jump_smoothing": DefaultRule(
        _jump_smoothing, "100, with --identity 300; above 2,000 pairs it rises to 1000 at 100,000"
    ),
    # more pairs know more about the other words of a stem
    "stem_weight": DefaultRule(
        lambda text: _clip(1 + 3 * _log(text), 1, 4), "1 up to 100 pairs, 4 from 1,000 on"
    ),
    # in few pairs, that two words occur together says more; beginnings of words, which --best adds,
    # are frequent
    "floor": DefaultRule(
        _floor,
        "0.04 divided by the number of pairs, from 0.0005 to 0.002; above 2,000 pairs it rises to "
        "0.002 at 100,000, with --best at 10,000; with --identity 0.002",
    ),
    # in few pairs, most counts are small
    "concentration": DefaultRule(
        lambda text: _clip(0.03 * sqrt(text.pairs), 0.3, 1), "0.3 up to 100 pairs, 1 from 1,112 on"
    ),
    # calibrated, a link is worth giving above half of the F1 that can be had; models of larger
    # texts are surer of wrong links
    "threshold": DefaultRule(
        _threshold,
        "0.4 up to 100 pairs, which rises to 0.425 at 10,000; where probabilities are not "
        "calibrated 0.5, which rises to 0.6 at a million, or with --identity 0.55",
    ),
}
"""The rules of defaults by option; a value that is given always wins."""


def _setting(default: Any, metavar: str, help: str, *, least: float = 0, most: float = 1e9) -> Any:
    """Return the field of a setting, with what its option says and its range."""
    return field(
        default=default, metadata={"metavar": metavar, "help": help, "range": (least, most)}
    )


_BELOW_1 = nextafter(1, 0)  # the greatest number below 1: the end of ranges without 1
_BEST = (
    "train three models, and average them: on whole words, their first 4 letters, their first 5; "
    "better, but three times slower"
)


@dataclass(frozen=True)
class Settings:
    """The settings of training; the defaults did best over many languages and sizes.

    Settings that are None follow from the number of sentence pairs, see `settled`.
    The metadata of each field hold its ``help``, ``metavar`` and ``range``. An unknown `model` or
    `inference` raises an UnknownNameError; a value out of range or of the wrong type raises an
    OptionError.

    References
    ----------
    `agree`: P. Liang, B. Taskar, D. Klein (2006). Alignment by agreement. `diagonal`: C. Dyer, V.
    Chahuneau, N. Smith (2013). A simple, fast, and effective reparameterization of IBM model 2.
    `identity`: T. Cohn, C. Callison-Burch, M. Lapata (2008). Constructing corpora for the
    development and evaluation of paraphrase systems.

    Examples
    --------
    >>> from alignkit import Aligner
    >>> settings = Settings(model="ibm1", ibm1=3)
    >>> aligner = Aligner.train([("das haus", "the house")], settings=settings)
    >>> [(each.model, each.number) for each in aligner.history]
    [('ibm1', 1), ('ibm1', 2), ('ibm1', 3)]
    """

    model: Literal["ibm1", "ibm2", "hmm", "ibm3", "ibm4"] = _setting(
        "hmm", "M", f"alignment model: {', '.join(MODELS)}"
    )
    best: bool = _setting(False, "", _BEST)
    agree: bool = _setting(True, "", "train both directions separately; needs --inference em or vb")
    inference: Literal["collapsed", "em", "vb"] = _setting(
        "collapsed", "I", f"inference method: {', '.join(INFERENCES)}"
    )
    ibm1: int = _setting(1, "N", "training rounds of IBM 1")
    ibm2: int = _setting(5, "N", "training rounds of IBM 2, for --model ibm2")
    hmm: int = _setting(4, "N", "training rounds of the HMM")
    fertility: int = _setting(2, "N", "training rounds of IBM 3 or 4")
    null: float = _setting(
        None, "P", "prior probability that a word has no counterpart", most=_BELOW_1
    )
    band: int = _setting(20, "N", "longest jump with its own probability", least=1, most=1000)
    kinds: int = _setting(
        100,
        "N",
        "number of frequent words with their own jump probabilities",
        least=1,
        most=100_000,
    )
    jump_smoothing: float = _setting(
        None, "W", "weight of the common jump probabilities in those of a word"
    )
    diagonal: bool = _setting(
        False, "", "with ibm2, positions depend on the distance from the diagonal"
    )
    spelling: float = _setting(3.0, "W", "pseudo-count for words with similar spelling")
    identity: float = _setting(
        0.0, "W", "pseudo-count for equal words, as if a dictionary listed each word with itself"
    )
    stem: int = _setting(3, "N", "number of letters in a stem", least=1, most=1000)
    stem_weight: float = _setting(
        None, "W", "pseudo-count for different words with the same stem; 0: none"
    )
    floor: float = _setting(None, "W", "pseudo-count of each word pair that occurs")
    concentration: float = _setting(None, "W", "pseudo-count of words that never occur with a word")
    threshold: float = _setting(None, "P", "links have a probability above this", most=1)
    vector_weight: float = _setting(
        3.0, "W", "with --encoder or --vectors, pseudo-count for words with the same vector"
    )
    prune: bool = _setting(
        False, "", "drop word pairs that IBM 1 never links; makes models smaller"
    )

    def __post_init__(self) -> None:
        for setting in fields(self):
            name = setting.name
            value = getattr(self, name)
            kind = type(setting.default)
            if name in RULES:
                if value is None:
                    continue
                kind = float
            plain = _plain(value, kind)
            if plain is None:
                raise OptionError(f"{name} is {value!r}; expected type {kind.__name__}")
            object.__setattr__(self, name, plain)
            if isinstance(plain, str):
                continue
            least, most = setting.metadata["range"]
            if least <= plain <= most and plain < 1e9:
                continue
            if most == _BELOW_1:
                end = "below 1"
            else:
                end = f"to {most:,.0f}"
            raise OptionError(f"{name} is {value}; expected a number from {least} {end}")
        check_known("model", self.model, MODELS)
        check_known("inference", self.inference, INFERENCES)
        if self.inference == "collapsed" and not self.agree:
            raise OptionError("collapsed inference needs agreement; without it, use em or vb")
        if self.prune and not self.ibm1:
            raise OptionError("prune drops word pairs after the rounds of IBM 1, and ibm1 is 0")
        if self.prune and self.inference != "collapsed":
            raise OptionError(f"prune needs inference collapsed; inference is {self.inference}")

    def settled(self, pairs: int) -> Settings:
        """Return the settings with those that are None set for a text of that many pairs."""
        text = TextFacts(pairs, self.identity > 0, self.calibrated, self.best)
        values: dict[str, Any] = {}
        for name, rule in RULES.items():
            if getattr(self, name) is None:
                values[name] = round(float(rule.value(text)), 6)
        return replace(self, **values)

    @property
    def calibrated(self) -> bool:
        """Whether the probabilities of links are calibrated."""
        return self.model == "hmm" and self.collapsed and self.hmm > 0

    @property
    def collapsed(self) -> bool:
        """Whether the inference is collapsed."""
        return self.inference == "collapsed"

    @property
    def fertile(self) -> bool:
        """Whether the model has fertilities (IBM 3 and IBM 4)."""
        return self.model in FERTILITY_MODELS


def check_sure(how: Any, default: float) -> None:
    """Raise an error if the default threshold would make all links sure; `how` has the options."""
    if how.threshold is not None or how.symmetrize != "posterior" or how.sure is None:
        return
    if how.sure <= default:
        raise OptionError(
            f"all links are more probable than {default:g}, so none would be only possible: use "
            f"a --sure above that, not {how.sure:g}, or add --threshold"
        )


def _plain(value: object, kind: type) -> str | float | None:
    """Return the value as a Python type, also if from NumPy; None if the type is wrong."""
    if isinstance(value, bool):  # which Python counts among the integers
        return value if kind is bool else None
    if kind is str and isinstance(value, str):
        return value
    if kind is int and isinstance(value, Integral):
        return int(value)
    if kind is float and isinstance(value, int):
        return value
    if kind is float and isinstance(value, Real):
        return float(value)
    return None


class SettingsKeywords(TypedDict, total=False):
    """The fields of `Settings`, as a type checker sees them."""

    model: Literal["ibm1", "ibm2", "hmm", "ibm3", "ibm4"]
    best: bool
    agree: bool
    inference: Literal["collapsed", "em", "vb"]
    ibm1: int
    ibm2: int
    hmm: int
    fertility: int
    null: float | None
    band: int
    kinds: int
    jump_smoothing: float | None
    diagonal: bool
    spelling: float
    identity: float
    stem: int
    stem_weight: float | None
    floor: float | None
    concentration: float | None
    threshold: float | None
    vector_weight: float
    prune: bool
