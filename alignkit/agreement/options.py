"""The options of each question about agreement, with defaults, choices and help.

The signatures of `agree`, `agree_on_judgments`, `agree_on_sets` and `plan_pairs` and the arguments
of their commands are made from the fields, so this module imports nothing slow. What several
questions share is a base class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Final, Literal, TypedDict, cast

from alignkit._support.options import DeclaredOptions, about, option
from alignkit.errors import OptionError
from alignkit.stats.defaults import CONFIDENCE, RESAMPLES, SEED

if TYPE_CHECKING:
    from alignkit.scoring.settings import Signature


Chance = Literal["edit", "edit-split", "edit-strata", "kupper-hafner"]
CLOSED: Final = "kupper-hafner"  # the model of chance that needs no initial alignment
Progress = Callable[[int, int], None]

# the groups of options in the help of a command
WHO = "annotators"
_WHAT = "comparison"
_CHANCE = "agreement beyond chance, C"
DRAWS = "intervals and samples"
_PLAN = "plan"


# what several questions share; those of which nothing is made alone need no methods
@dataclass(frozen=True, init=False, repr=False, eq=False)
class Annotators(DeclaredOptions):
    """Who is compared."""

    annotators: Sequence[str] | None = option(
        None,
        "annotators to compare, two or more (default: all without another role)",
        metavar="A",
        group=WHO,
        silent=True,
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Grouped(DeclaredOptions):
    """Groups of pairs that are reported too."""

    _: KW_ONLY
    by: str | None = option(
        None,
        "add a row for each value of this attribute of the pairs (genre, document, ...), or for "
        "each day, week or month if annotations have times",
        metavar="ATTRIBUTE",
        group=WHO,
    )
    split: str | None = option(
        None,
        "separator of several values in that attribute, such as a comma; a pair counts in each "
        "(default: one value)",
        metavar="TEXT",
        group=WHO,
        needs="by",
        rare=True,
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Words(DeclaredOptions):
    """Which words and links are compared."""

    _: KW_ONLY
    ignore_identical: bool = option(
        True,
        "leave out links, phrase pairs and cells of equal words",
        group=_WHAT,
        opposite="--include-identical",
        rare=True,
    )
    exact_case: bool = option(
        False, "distinguish upper and lower case in words", group=_WHAT, rare=True
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class OverlapRatio(DeclaredOptions):
    """How C makes one ratio of the shared links of all pairs."""

    _: KW_ONLY
    normalizer: Literal["min", "max"] = option(
        "min", "divide the overlap by the smaller or the larger set", group=_CHANCE, rare=True
    )
    aggregate: Literal["macro", "micro"] = option(
        "macro",
        "average the ratios of the sentence pairs, or take the ratio of their sums",
        group=_CHANCE,
        rare=True,
    )


@dataclass(frozen=True)
class Draws(DeclaredOptions):
    """Random draws, and the intervals that they give."""

    _: KW_ONLY
    confidence: float = option(
        CONFIDENCE,
        "confidence of the intervals",
        metavar="P",
        group=DRAWS,
        above=0,
        below=1,
        rare=True,
    )
    resamples: int = option(
        RESAMPLES, "resamples of the bootstrap", metavar="N", group=DRAWS, least=1, rare=True
    )
    seed: int = option(
        SEED, "seed of all random draws", metavar="N", group=DRAWS, least=0, rare=True
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Threads(DeclaredOptions):
    """How the work is divided; no result depends on it."""

    _: KW_ONLY
    workers: int | None = option(
        None,
        "number of threads; does not change the result (default: one for each core)",
        metavar="N",
        group=DRAWS,
        least=1,
        rare=True,
        silent=True,
    )


# links and phrases
class AgreementKeywords(TypedDict, total=False):
    """The options of `AgreementOptions` but for the annotators, as a type checker sees them."""

    by: str | None
    split: str | None
    ignore_identical: bool
    exact_case: bool
    normalizer: Literal["min", "max"]
    aggregate: Literal["macro", "micro"]
    confidence: float
    resamples: int
    seed: int
    workers: int | None
    initial: str | None
    adjudicated: str | None
    systems: Sequence[str] | None
    universe: Literal["all", "judged"]
    missing_initial: Literal["error", "empty", "leave-out"] | None
    chance: Chance | None
    reading: Literal["count", "probability"]
    samples: int
    tolerance: float | None
    bootstrap: Literal["fixed", "refit", "none"]
    progress: Progress | None


@dataclass(frozen=True)
class AgreementOptions(Threads, Draws, OverlapRatio, Words, Grouped, Annotators):
    """The options of `alignkit.agree`, which compares links of words and phrases.

    `agree` takes the fields as keywords.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
    >>> agreement = alignkit.agree(corpus, bootstrap="none", seed=7)
    >>> agreement.options.seed, agreement.options.confidence, agreement.options.bootstrap
    (7, 0.95, 'none')
    """

    _: KW_ONLY
    initial: str | None = option(
        None,
        "automatic alignment that the annotators started from; chance edits it (default: the one "
        "with this role; '' for none)",
        metavar="NAME",
        group=WHO,
        silent=True,
    )
    adjudicated: str | None = option(
        None,
        "adjudicated version to compare each annotator with (default: the one with this role; '' "
        "for none)",
        metavar="NAME",
        group=WHO,
        silent=True,
    )
    systems: Sequence[str] | None = option(
        None,
        "automatic alignments to compare each annotator with (default: the initial one and those "
        "with the role system; '' for none)",
        metavar="NAME",
        group=WHO,
        silent=True,
    )
    universe: Literal["all", "judged"] = option(
        "all",
        "cells for kappa, AC1 and C with an edit model: all, or those that the annotators judged, "
        "if the corpus records them",
        group=_WHAT,
        rare=True,
    )
    missing_initial: Literal["error", "empty", "leave-out"] | None = option(
        None,
        "pairs without an initial alignment are an error, have an empty one, or are left out; "
        "empty, if no initial alignment is named, means that all pairs started without links "
        "(default: error if the initial alignment is named, else leave-out)",
        group=_CHANCE,
        rare=True,
    )
    chance: Chance | None = option(
        None,
        "model of chance: edit, edit-split, edit-strata or kupper-hafner. The first three edit the "
        "initial alignment at random, as often as the annotator: at one rate (edit), at separate "
        "rates for adding and deleting (edit-split), or also for equal and other words "
        "(edit-strata). kupper-hafner, the only one without initial alignment, draws random links "
        "(default: edit, or kupper-hafner without an initial alignment)",
        group=_CHANCE,
    )
    reading: Literal["count", "probability"] = option(
        "count",
        "what grows with the words of a pair: the number of edits, or their probability",
        group=_CHANCE,
        rare=True,
    )
    samples: int = option(
        1000,
        "most samples for each sentence pair",
        metavar="N",
        group=DRAWS,
        least=2,
        rare=True,
    )
    tolerance: float | None = option(
        None,
        "stop sampling when the Monte-Carlo error of C is at most E (default: take all samples)",
        metavar="E",
        group=DRAWS,
        above=0,
        rare=True,
    )
    bootstrap: Literal["fixed", "refit", "none"] = option(
        "fixed",
        "bootstrap intervals over sentence pairs; for C, the edit models are fixed or refitted to "
        "each resample (slow); or no intervals",
        group=DRAWS,
        rare=True,
    )
    progress: Progress | None = option(
        None, "called with the samples drawn so far and their total", silent=True, python=True
    )

    @property
    def model(self) -> Chance:
        """The model of chance of the main tables; the options must be settled."""
        assert self.chance is not None
        return self.chance

    @property
    def case(self) -> str:
        """``"exact"`` or ``"folded"``."""
        return "exact" if self.exact_case else "folded"

    def settled(self, initial: str | None) -> AgreementOptions:
        """Return the options with every choice made, for an initial alignment or for none.

        Raises an OptionError for options that contradict each other or have no effect. An option
        with its default value contradicts nothing.
        """
        edits = edits_known(initial, self.missing_initial)
        chance: Chance = self.chance or ("edit" if edits else CLOSED)
        if not edits:
            self._check_without_edits(chance)
        if chance == CLOSED and self.bootstrap == "refit":
            raise OptionError(
                f"`bootstrap='refit'` refits edit models, but `chance={CLOSED!r}` has none: use "
                "`bootstrap='fixed'`, or an edit model of chance with an initial alignment"
            )
        unused = self._changed("resamples", "confidence")
        if self.bootstrap == "none" and unused:
            raise OptionError(
                f"`{unused[0]}` is about intervals, but `bootstrap='none'` gives none: remove one"
            )
        missing = self.missing_initial
        if missing is None:
            by_role = initial is not None and self.initial is None
            missing = "leave-out" if by_role else "error"
        return replace(self, chance=chance, missing_initial=missing)

    def _check_without_edits(self, chance: str) -> None:
        """Refuse what is about edits of an initial alignment, for there is none."""
        if chance != CLOSED:
            raise OptionError(
                f"`chance={chance!r}` needs an initial alignment, and none is named: name it with "
                "`initial` (the aligner makes one, `merge` adds it), start from an empty one with "
                f"`missing_initial='empty'`, or use `chance={CLOSED!r}`"
            )
        for name in self._changed("missing_initial", "reading", "samples", "tolerance"):
            raise OptionError(
                f"`{name}` is about edits of an initial alignment, and none is named: name it "
                f"with `initial`, or remove `{name}`"
            )
        if self.exact_case and not self.ignore_identical:
            raise OptionError(
                "`exact_case` decides which words are equal, but has no effect with "
                "`ignore_identical=False`: remove one of the two"
            )

    def _changed(self, *names: str) -> list[str]:
        """Return which of some options have another value than by default."""
        return [name for name in names if getattr(self, name) != getattr(type(self), name)]

    def signed_by(self, chance: str, initial: str | None = None) -> Signature:
        """Return the signature of figures by one model of chance."""
        if chance == CLOSED:  # it knows no edits
            return replace(self, chance=CLOSED, missing_initial="error").sign()
        return replace(self, chance=cast("Chance", chance)).sign(initial)

    def sign(self, initial: str | None = None) -> Signature:
        """Return the signature of these options, which must be settled."""
        from alignkit.scoring.settings import Signature

        sampled = edits_known(initial, self.missing_initial)
        resampled = self.bootstrap != "none"
        names = ["universe", "normalizer", "aggregate", "chance", "seed"]
        if sampled:
            names += ["reading", "missing_initial", "samples", "tolerance"]
        if resampled:
            names += ["confidence", "resamples"]
        return Signature(
            links="possible/sure",
            identical="left-out" if self.ignore_identical else "kept",
            case=self.case if self.ignore_identical or sampled else None,
            level="agreement",
            phrases="tight",
            unit="atomic-phrases/links",
            initial=(initial or "empty") if sampled else None,
            interval=f"bootstrap-{self.bootstrap}" if resampled else None,
            **{name: getattr(self, name) for name in names},
        )


def edits_known(initial: str | None, missing_initial: str | None) -> bool:
    """Return whether there is an initial alignment that annotators may have edited."""
    return initial is not None or missing_initial == "empty"


# sets of items
@dataclass(frozen=True)
class SetOptions(Draws, OverlapRatio, Annotators):
    r"""The options of `alignkit.agree_on_sets`.

    `agree_on_sets` takes the fields as keywords.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import alignkit
    >>> line = '{{"id": "1", "annotator": "{}", "items": [{}]}}'.format
    >>> chosen = [line("ann", "1, 2"), line("ben", "2, 3")]
    >>> drawn = [line(who, k % 4) for who in ("ann", "ben") for k in range(100)]
    >>> with TemporaryDirectory() as folder:
    ...     sets, chance = Path(folder, "sets.jsonl"), Path(folder, "chance.jsonl")
    ...     _ = sets.write_text("\n".join(chosen), "utf-8")
    ...     _ = chance.write_text("\n".join(drawn), "utf-8")
    ...     agreement = alignkit.agree_on_sets(sets, chance=chance, aggregate="micro")
    >>> correction, units = agreement.pairings["ann", "ben"]
    >>> correction.pi, units
    (0.5, 1)
    """

    _: KW_ONLY
    chance: str | PathLike[str] = field(
        metadata=about(
            "sets that annotators could have chosen by chance, drawn by any program: as in SETS, "
            "with 100 lines or more for each unit and annotator",
            metavar="FILE",
            group=_CHANCE,
            silent=True,
        )
    )


# how many pairs
@dataclass(frozen=True)
class PlanOptions(Words, Annotators):
    """The options of `alignkit.plan_pairs`.

    `plan_pairs` takes the fields as keywords.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.read_corpus("samples/paraphrases.jsonl")
    >>> alignkit.plan_pairs(corpus, statistic="f1", half_width=0.05).plans["anna", "ben"].half_width
    0.05
    """

    _: KW_ONLY
    half_width: float = option(
        0.03,
        "half of the width of the 95% interval to reach: 0.03 for 3 points of F1",
        metavar="W",
        group=_PLAN,
        above=0,
        below=1,
    )
    statistic: str = option(
        "f1",
        "measure of agreement to plan for, such as f1, kappa, ac1 or C",
        metavar="M",
        group=_PLAN,
    )
    level: str = option(
        "words.possible",
        "level of the measure, such as words.sure or phrases.possible; of kappa and AC1 "
        "cells.possible",
        metavar="L",
        group=_PLAN,
    )
    initial: str | None = option(
        None,
        "for C, the alignment that chance edits (default: none; chance draws sets of links)",
        metavar="NAME",
        group=_PLAN,
    )
