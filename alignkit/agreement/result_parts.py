"""The parts of an agreement: pairings, all annotators together, cautions, single figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import TypeVar, Union

from alignkit.agreement.alpha import KrippendorffAlpha
from alignkit.agreement.beyond_chance.c_result import BeyondChance, BeyondChanceSection
from alignkit.agreement.fleiss import FleissKappa
from alignkit.agreement.kappa import CellAgreement
from alignkit.agreement.overlaps import Overlap
from alignkit.errors import UnknownNameError
from alignkit.frozen import FrozenMap
from alignkit.scoring.bootstrap import Interval

T = TypeVar("T")

KINDS = ("annotators", "adjudicated", "consensus", "automatic")
"""Who is compared: two annotators; one with the adjudicated version, or with the majority of the
others; an automatic alignment with an annotator, its reference."""

LEVELS = {
    "phrases.possible": ("phrases", "possible"),
    "phrases.sure": ("phrases", "sure"),
    "words.possible": ("links", "possible"),
    "words.sure": ("links", "sure"),
}
"""What agreement beyond chance is taken of, by name: the unit, and the links it is made of."""

Intervals = Mapping[str, Union[Interval, str]]
"""By ``level.statistic`` the interval, or why there is none."""


@dataclass(frozen=True)
class Figure:
    """One figure, and all that tells it from others.

    Parameters
    ----------
    kind : One of `KINDS`; ``"mean"`` and ``"automatic mean"`` over pairings; ``"joint"`` for all
        annotators together; ``"edits"`` for one annotator's.
    first, second : The two; empty if a figure is of more, or of one.
    section : ``"all"``, or the name of a group.
    level : ``"words.sure"``, ``"different.cells.possible"``, ``"alpha.sure.masi"``, ``"fleiss"``,
    ...
    statistic : ``"f1"``, ``"kappa"``, ``"C"``, ...; ``"C.edit-strata"`` by another model of chance.
    value : NaN if undefined.
    low, high : The bounds of its interval; NaN without one.
    pairs : The sentence pairs that it rests on.
    reason : Why there is no value or interval; empty otherwise, and if none was asked for.
    """

    kind: str
    first: str
    second: str
    section: str
    level: str
    statistic: str
    value: float
    low: float = nan
    high: float = nan
    pairs: int = 0
    reason: str = ""


@dataclass(frozen=True, eq=False)
class PairingSection:
    """The agreement of two in the whole corpus, or in one group.

    Parameters
    ----------
    name : ``"all"``, or the group.
    pairs : The sentence pairs that both annotated.
    figures, intervals : By ``level.statistic``; levels of different words begin with
    ``different.``.
    overlap : Precision, recall and F1 with their counts; None if one annotated nothing.
    cells : Kappa and AC1 over all cells; None if words, annotations or the universe are not known.
    different : The same over cells of different words; None also if identical ones take part.
    alpha : By links and distance, ``possible.masi``; of different words
    ``different.possible.masi``.
    reason : Why there are no cells although words are known; empty otherwise.
    """

    name: str
    pairs: int
    figures: FrozenMap[str, float]
    intervals: Intervals
    overlap: Overlap | None
    cells: CellAgreement | None
    different: CellAgreement | None
    alpha: FrozenMap[str, KrippendorffAlpha]
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Pairing:
    """What two have in common.

    Parameters
    ----------
    kind : One of `KINDS`.
    first, second : The two; the second is the reference.
    sections : The whole corpus, then each group.
    beyond : The agreement beyond chance by model of chance and level (`LEVELS`); empty where words
        are not known.
    chance : The model of chance that the main tables show.
    no_edits : Why models of edits say nothing of the two; empty where they do.
    """

    kind: str
    first: str
    second: str
    sections: tuple[PairingSection, ...]
    beyond: FrozenMap[str, FrozenMap[str, BeyondChance]]
    chance: str
    no_edits: str = ""

    @property
    def name(self) -> str:
        """``"A ~ B"``."""
        return f"{self.first} ~ {self.second}"

    def section(self, name: str) -> PairingSection:
        """Return what the two have in a section."""
        return named("section", name, {section.name: section for section in self.sections})

    def main(self, level: str) -> BeyondChance:
        """Return the agreement beyond chance at a level, by the model of the main tables."""
        return self._beyond(level, self.chance)

    def part(self, level: str, section: str, chance: str | None = None) -> BeyondChanceSection:
        """Return the agreement beyond chance in a section, by the main model or another."""
        result = self._beyond(level, chance or self.chance)
        parts: tuple[BeyondChanceSection, ...] = (result, *result.groups)
        return named("section", section, {one.name: one for one in parts})

    def _beyond(self, level: str, chance: str) -> BeyondChance:
        return named("level", level, named("model of chance", chance, self.beyond))


def named(kind: str, name: str, known: Mapping[str, T]) -> T:
    """Return what has a name; refuse a name that is not known."""
    if name not in known:
        raise UnknownNameError(kind, name, known)
    return known[name]


@dataclass(frozen=True, eq=False)
class Together:
    """The agreement of all annotators in the whole corpus, or in one group.

    Parameters
    ----------
    name : ``"all"``, or the group.
    pairs : How many sentence pairs there are.
    used : How many of them two annotators or more annotated.
    left_out : How many pairs are left out of what needs all annotators, for each reason.
    fleiss : Fleiss' kappa over the pairs that all annotated; None if words are not known, or an
        annotator did nothing here.
    alpha : Krippendorff's alpha, named as in `PairingSection`.
    intervals : Of ``fleiss.kappa`` and ``alpha.possible.masi`` and so on.
    mean : Every figure of the annotators' pairings, averaged with their numbers of sentence pairs
        (C, pi and pi0: pairs used) as weights, without undefined ones.
    automatic : The same over two or more pairings with automatic alignments; empty otherwise.
    mean_left_out, automatic_left_out : For each figure how many undefined ones its mean leaves out.
    """

    name: str
    pairs: int
    used: int
    left_out: FrozenMap[str, int]
    fleiss: FleissKappa | None
    alpha: FrozenMap[str, KrippendorffAlpha]
    intervals: Intervals
    mean: FrozenMap[str, float]
    automatic: FrozenMap[str, float]
    mean_left_out: FrozenMap[str, int]
    automatic_left_out: FrozenMap[str, int]


@dataclass(frozen=True)
class Caution:
    """What a reader must know to read the figures right.

    Parameters
    ----------
    code : Its name in `alignkit.agreement.cautions`.
    says : What is the case, with the number that triggers it, and what that means.
    instead : What to report, or to do, instead.
    number : The number that triggers it, or several.
    pairings : Whom it holds for; empty where it is of the whole report.
    """

    code: str
    says: str
    instead: str
    number: str
    pairings: tuple[str, ...]

    def __str__(self) -> str:
        who = f"{'; '.join(self.pairings)}: " if self.pairings else ""
        return f"{who}{self.says}; {self.instead}"


def alpha_level(name: str) -> str:
    """Return the level of an alpha by its name in `PairingSection.alpha`."""
    rest = name.removeprefix("different.")
    return f"{name.removesuffix(rest)}alpha.{rest}"


def split(name: str) -> tuple[str, str]:
    """Return the level and the statistic of a ``level.statistic``; alphas have the name alone."""
    if "alpha" in name.split("."):
        return name, "alpha"
    level, _, statistic = name.rpartition(".")
    return level, statistic
