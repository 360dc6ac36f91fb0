"""The settings of a score, and their checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal, TypedDict

from alignkit._support.options import DeclaredOptions, option
from alignkit.errors import OptionError
from alignkit.version import __version__

if TYPE_CHECKING:
    from alignkit.model.arrays import LinkArrays


@dataclass(frozen=True)
class Signature:
    """The settings of a score; as a string, the line to print next to the score.

    Settings that do not apply are None and left out of the line.

    Parameters
    ----------
    format, base : How the files were read, hypothesis before reference: ``"pharaoh/naacl"``,
        ``"0/1"``.
    links : The links that count: ``"given"`` (sure and possible as annotated), ``"sure-only"`` or
        ``"all-sure"``.
    identical : Whether links and phrase pairs of equal words were ``"kept"`` or ``"left-out"``.
    case : How words were compared, if they were: ``"folded"`` or ``"exact"``.
    level : The scored level: ``"links"``, ``"phrases"``, ``"both"`` or ``"list"``.
    phrases : ``"tight"`` or ``"loose"`` phrase pairs.
    min_length, max_length : The bounds on both sides of a phrase pair.
    unit, universe, normalizer, aggregate, chance, reading, initial, missing_initial, tolerance :
        The settings of an agreement; see `alignkit.agree`.
    interval, confidence, samples, resamples, trials, seed : How intervals and p-values were
        computed.
    version : The version of alignkit.

    Examples
    --------
    >>> print(Signature(format="pharaoh/naacl", base="0/1", links="given", version="1.2.3"))
    format:pharaoh/naacl|base:0/1|links:given|version:1.2.3
    """

    format: str | None = None
    base: str | None = None
    links: str | None = None
    identical: str | None = None
    case: str | None = None
    level: str | None = None
    phrases: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    unit: str | None = None
    universe: str | None = None
    normalizer: str | None = None
    aggregate: str | None = None
    chance: str | None = None
    reading: str | None = None
    initial: str | None = None
    missing_initial: str | None = None
    tolerance: float | None = None
    interval: str | None = None
    confidence: float | None = None
    samples: int | None = None
    resamples: int | None = None
    trials: int | None = None
    seed: int | None = None
    version: str | None = __version__

    def drawn(
        self, resamples: int, confidence: float, seed: int, *, trials: int | None = None
    ) -> Signature:
        """Return the signature of the random draws: a bootstrap, and shuffles if any."""
        return replace(
            self,
            interval="bootstrap",
            confidence=confidence,
            resamples=resamples,
            trials=self.trials if trials is None else trials,
            seed=int(seed),
        )

    def __str__(self) -> str:
        settings = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                settings.append(f"{field.name.replace('_', '-')}:{value}")
        return "|".join(settings)


LEVEL_CHOICES: Mapping[str, tuple[str, ...]] = {
    "links": ("links",),
    "phrases": ("phrases-possible", "phrases-sure"),
    "both": ("links", "phrases-possible", "phrases-sure"),
}
"""The levels, and the rows that each needs."""

AGGREGATES = ("micro", "macro", "both")
"""How pairs are aggregated: counts added up, ratios averaged, or both."""


def _given(arrays: LinkArrays) -> LinkArrays:
    return arrays


def _sure_only(arrays: LinkArrays) -> LinkArrays:
    return arrays.sure_only()


def _all_sure(arrays: LinkArrays) -> LinkArrays:
    return replace(arrays, sure=(arrays.sure | 1).astype(arrays.sure.dtype))


LINK_POLICIES: Mapping[str, Callable[[LinkArrays], LinkArrays]] = {
    "given": _given,
    "sure-only": _sure_only,
    "all-sure": _all_sure,
}
"""The treatment of sure and possible links on both sides before counting."""


_SCORING = "scoring"  # the group of these options in the help of a command


@dataclass(frozen=True)
class ScoreSettings(DeclaredOptions):
    """The options of a score in functions and commands."""

    level: Literal["links", "phrases", "both"] = option(
        "links", "score links, phrase pairs, or both", group=_SCORING
    )
    ignore_identical: bool = option(
        False,
        "leave out links and phrases of equal words (default: count them, as published AER does); "
        "needs the words",
        group=_SCORING,
    )
    exact_case: bool = option(
        False,
        "distinguish upper and lower case in words (default: ignore case)",
        group=_SCORING,
        rare=True,
    )
    max_length: int | None = option(
        None,
        "maximum number of words on each side of a phrase (default: no limit)",
        metavar="N",
        group=_SCORING,
        least=1,
        rare=True,
    )
    loose: bool = option(
        False,
        "extend phrases over unaligned words at their ends (default: tight); needs the words",
        group=_SCORING,
        rare=True,
    )
    links: Literal["given", "sure-only", "all-sure"] = option(
        "given", "keep possible links, drop them, or treat them as sure", group=_SCORING
    )
    aggregate: Literal["micro", "macro", "both"] = option(
        "micro",
        "micro: add up the counts of all pairs, macro: average the results of the pairs, both: "
        "micro and macro (default: micro); macro adds mean F1 and exact matches",
        group=_SCORING,
    )
    split_identical: bool = option(
        False,
        "add rows for links of equal words and for other links; needs the words",
        group=_SCORING,
        rare=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ignore_identical:
            why = "`ignore_identical`"
        elif self.level == "phrases":
            why = "`level='phrases'`"
        else:
            why = ""
        if self.split_identical and why:
            raise OptionError(
                f"`split_identical` scores identical links separately, but {why} leaves them out; "
                "use only one of the two"
            )

    @property
    def levels(self) -> tuple[str, ...]:
        """The rows to count."""
        first, *rest = LEVEL_CHOICES[self.level]
        split = ("links-identical", "links-non-identical") if self.split_identical else ()
        return first, *split, *rest

    @property
    def needs_words(self) -> bool:
        """Whether the words are needed."""
        return self.ignore_identical or self.split_identical or self.loose

    @property
    def phrases(self) -> bool:
        """Whether phrase pairs are scored."""
        return self.level != "links"

    def sign(self, signature: Signature | None = None) -> Signature:
        """Return the signature with these settings filled in."""
        case = None
        if self.ignore_identical or self.split_identical:
            case = "exact" if self.exact_case else "folded"
        phrases = None
        if self.phrases:
            phrases = "loose" if self.loose else "tight"
        return replace(
            signature or Signature(),
            links=self.links,
            identical="left-out" if self.ignore_identical else "kept",
            case=case,
            level=self.level,
            aggregate=None if self.aggregate == "micro" else self.aggregate,
            phrases=phrases,
            max_length=self.max_length if self.phrases else None,
        )


class LinkKeywords(TypedDict, total=False):
    """The options of `ScoreSettings` that change AER, as a type checker sees them."""

    ignore_identical: bool
    exact_case: bool
    links: Literal["given", "sure-only", "all-sure"]


class CountKeywords(LinkKeywords, total=False):
    """The options of `ScoreSettings` besides the level."""

    max_length: int | None
    loose: bool
    aggregate: Literal["micro", "macro", "both"]
    split_identical: bool


class ScoreKeywords(CountKeywords, total=False):
    """The options of `ScoreSettings`."""

    level: Literal["links", "phrases", "both"]
