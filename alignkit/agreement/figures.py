"""Every figure of an agreement: of two annotators and of all, in all pairs and each group."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from math import isnan, nan
from typing import Any, TypeVar

from alignkit._support.arguments import check_known
from alignkit._support.values import FrozenMap
from alignkit._support.wording import how_many, visible
from alignkit.agreement.alpha import KrippendorffAlpha
from alignkit.agreement.chance.result import LEVELS, BeyondChance, BeyondChanceSection
from alignkit.agreement.fleiss import FleissKappa
from alignkit.agreement.intervals import Bounds, Intervals
from alignkit.agreement.kappa import CellAgreement, Contingency
from alignkit.agreement.names import short_names
from alignkit.agreement.options import AgreementOptions
from alignkit.agreement.overlaps import Overlap
from alignkit.agreement.pairs import CorpusData
from alignkit.agreement.same_pairs import SamePairs, same_pairs
from alignkit.agreement.unseen_links import NO_LINKS, UnseenLinks
from alignkit.agreement.votes import STATES, VoteTable, vote_table
from alignkit.errors import MissingTextError, OptionError, UnknownNameError
from alignkit.model.corpus import Corpus
from alignkit.stats.resampling import Interval
from alignkit.tables.columns import percent
from alignkit.tables.media import csv_lines
from alignkit.tables.result import Caution, Result

T = TypeVar("T")

_NONE: FrozenMap[str, Any] = FrozenMap()

KINDS = ("annotators", "adjudicated", "consensus", "automatic")
"""The kinds of pairings: two annotators; an annotator and the adjudicated version, or the majority
of the others; an automatic alignment and an annotator as its reference."""

At = tuple[str, str, str, str, str, str]
"""What identifies a figure; see `Figure.at`."""

MOST_PAIRINGS = 10  # with more, a row of tables and plots is an annotator, with all others
DIFFERENT = "different."
"""Levels of cells and alpha that are only over different words begin with this."""


@dataclass(frozen=True)
class Figure:
    """One figure, with all that identifies it.

    Part of `Agreement.figures`.

    Parameters
    ----------
    kind : One of `KINDS`; ``"mean"`` and ``"automatic mean"`` over pairings; ``"joint"`` for all
        annotators together; ``"edits"`` for those of one annotator; ``"votes"`` for what the
        adjudicated version made of votes.
    first, second : The two annotators; second, or both, are empty for figures of one or of more.
    section : ``"all"``, or the name of a group.
    level : ``"words.sure"``, ``"different.cells.possible"``, ``"alpha.sure.masi"``, ``"fleiss"``,
        ...
    statistic : ``"f1"``, ``"kappa"``, ``"C"``, ...; ``"C.edit-strata"``: another model of chance.
    value : NaN if undefined.
    low, high : The bounds of the interval; NaN without one.
    pairs : The number of sentence pairs that it is based on.
    reason : Why there is no value or interval; empty otherwise, or if none was requested.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
    >>> figures = alignkit.agree(corpus, bootstrap="none").figures()
    >>> figure = next(figures)
    >>> figure.level, figure.statistic, figure.value
    ('words.possible', 'precision', 1.0)
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

    @property
    def at(self) -> At:
        """What identifies the figure: its fields down to the statistic."""
        return self.kind, self.first, self.second, self.section, self.level, self.statistic


@dataclass(frozen=True, eq=False)
class PairingSection:
    """The agreement of two annotators in the whole corpus, or in one group.

    Returned by `Pairing.section`.

    Parameters
    ----------
    name : ``"all"``, or the group.
    pairs : The number of sentence pairs that both annotated.
    figures, intervals : By ``level.statistic``; levels over different words begin with
        ``different.``.
    overlap : Precision, recall and F1 with their counts; None if one annotated nothing.
    cells : Kappa and AC1 over all cells; None if words, annotations or the universe are not known.
    different : The same over cells of different words; None also if identical ones are included.
    alpha : By links and distance, ``possible.masi``; over different words
        ``different.possible.masi``.
    reason : Why there are no cells although the words are known; empty otherwise.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
    >>> pairing = alignkit.agree(corpus, bootstrap="none").pairing("anna", "ben")
    >>> section = pairing.section("all")
    >>> section.pairs, section.figures["words.sure.precision"], section.figures["words.sure.recall"]
    (1, 1.0, 0.5)
    """

    name: str
    pairs: int = 0
    figures: FrozenMap[str, float] = _NONE
    intervals: Intervals = _NONE
    overlap: Overlap | None = None
    cells: CellAgreement | None = None
    different: CellAgreement | None = None
    alpha: FrozenMap[str, KrippendorffAlpha] = _NONE
    reason: str = ""


@dataclass(frozen=True)
class GivenLinks:
    """The agreement of two annotators who judged links that they were given."""

    links: int  # the number of cells that both judged
    cells: CellAgreement  # over these; without equal words if identical ones are left out
    intervals: Intervals  # for cells.possible.kappa and so on

    def kappa(self, links: str) -> tuple[float, Bounds | None]:
        """Return kappa of ``"possible"`` or ``"sure"`` links, and its interval."""
        table: Contingency = getattr(self.cells, links)
        return table.kappa, self.intervals.get(f"cells.{links}.kappa")


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two annotators (or alignments) and their agreement.

    Part of `Agreement.pairings`.

    Parameters
    ----------
    kind : One of `KINDS`.
    first, second : The two names; the second is the reference.
    sections : The whole corpus, then each group.
    beyond : The agreement beyond chance by model of chance and level (`LEVELS`); empty if words are
        not known.
    chance : The model of chance in the main tables.
    no_edits : Why edit models do not apply to the two; empty if they do.
    given : The agreement over the cells that both judged; None if these are not recorded.
    same_start : The number of pairs that both annotated and started from the initial alignment, as
        far as is known; edit models use only these. None if edits are not known.
    unseen : The common links of two annotators that both kept without looking at them; None if
        nobody in the corpus kept links in this way, or if this is not known.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
    >>> pairing = alignkit.agree(corpus, bootstrap="none").pairing("anna", "ben")
    >>> pairing.name, pairing.section("all").figures["words.sure.precision"]
    ('anna ~ ben', 1.0)
    """

    kind: str
    first: str
    second: str
    sections: tuple[PairingSection, ...]
    beyond: FrozenMap[str, FrozenMap[str, BeyondChance]]
    chance: str
    no_edits: str = ""
    given: GivenLinks | None = None
    same_start: int | None = None
    unseen: UnseenLinks | None = None

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two."""
        return self.first, self.second

    @property
    def name(self) -> str:
        """The name of the pairing: ``"A ~ B"``."""
        return " ~ ".join(self.names)

    @property
    def whole(self) -> PairingSection:
        """The agreement in the whole corpus."""
        return self.sections[0]

    def section(self, name: str) -> PairingSection:
        """Return the agreement in a section.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
        >>> [pairing] = alignkit.agree(corpus, bootstrap="none").pairings
        >>> pairing.section("all").figures["words.sure.recall"]
        0.5
        """
        return named("section", name, {part.name: part for part in self.sections})

    def main(self, level: str) -> BeyondChance:
        """Return the agreement beyond chance at a level, by the main model.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
        >>> [pairing] = alignkit.agree(corpus, bootstrap="none").pairings
        >>> pairing.main("words.sure").pi
        1.0
        """
        return named("level", level, named("model of chance", self.chance, self.beyond))

    def part(self, level: str, section: str, chance: str | None = None) -> BeyondChanceSection:
        """Return the agreement beyond chance in a section, by the main or another model.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
        >>> [pairing] = alignkit.agree(corpus, bootstrap="none").pairings
        >>> pairing.part("words.sure", "all").used
        1
        """
        result = named("level", level, named("model of chance", chance or self.chance, self.beyond))
        parts: tuple[BeyondChanceSection, ...] = (result, *result.groups)
        return named("section", section, {part.name: part for part in parts})

    def results(self) -> Iterator[tuple[str, str, BeyondChance]]:
        """Yield each model of chance and level, with the agreement beyond chance.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
        >>> [pairing] = alignkit.agree(corpus, bootstrap="none").pairings
        >>> [(chance, level) for chance, level, result in pairing.results()][:1]
        [('kupper-hafner', 'phrases.possible')]
        """
        for chance, levels in self.beyond.items():
            for level, result in levels.items():
                yield chance, level, result


def named(kind: str, name: str, known: Mapping[str, T]) -> T:
    """Return the entry with a name; raise an error for an unknown name."""
    check_known(kind, name, known)
    return known[name]


@dataclass(frozen=True, eq=False)
class Together:
    """The agreement of all annotators in the whole corpus, or in one group.

    Part of `Agreement.together`.

    Parameters
    ----------
    name : ``"all"``, or the group.
    pairs : The number of sentence pairs.
    used : The number of pairs that two or more annotators annotated.
    left_out : The number of pairs left out of figures that need all annotators, by reason.
    fleiss : Fleiss' kappa over the pairs that all annotated; None if words are not known, or an
        annotator annotated nothing here.
    alpha : Krippendorff's alpha, named as in `PairingSection`.
    figures, intervals : By ``level.statistic``, such as ``fleiss.kappa``, ``alpha.possible.masi``;
        levels over different words begin with ``different.``.
    mean : The mean of each figure over the annotators' pairings, weighted by sentence pairs (C, pi
        and pi0: by pairs used), without undefined ones.
    automatic : The same over two or more pairings with automatic alignments; empty otherwise.
    mean_left_out, automatic_left_out : The number of undefined figures that each mean leaves out.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
    >>> together = alignkit.agree(corpus, bootstrap="none").together[0]
    >>> together.name, together.used, together.mean["words.sure.recall"]
    ('all', 1, 0.5)
    """

    name: str
    pairs: int
    used: int
    left_out: FrozenMap[str, int]
    fleiss: FleissKappa | None
    alpha: FrozenMap[str, KrippendorffAlpha]
    figures: FrozenMap[str, float]
    intervals: Intervals
    mean: FrozenMap[str, float] = _NONE
    automatic: FrozenMap[str, float] = _NONE
    mean_left_out: FrozenMap[str, int] = _NONE
    automatic_left_out: FrozenMap[str, int] = _NONE


class FigureResult(Result):
    """A result with many figures, each a record with the fields of `Figure`."""

    cautions: tuple[Caution, ...] = ()

    @abstractmethod
    def figures(self) -> Iterable[Figure]:
        """Return every figure."""

    def to_records(self) -> list[dict[str, object]]:
        """Return every figure as a dictionary, for a DataFrame; see `Figure`.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
        >>> record = alignkit.agree(corpus, bootstrap="none").to_records()[0]
        >>> record["level"], record["statistic"], record["value"]
        ('words.possible', 'precision', 1.0)
        """
        return [dict(vars(figure)) for figure in self.figures()]

    def csv(self) -> str:
        """Return figures, cautions and signature as CSV; the columns are the fields of `Figure`.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
        >>> csv = alignkit.agree(corpus, bootstrap="none").csv()
        >>> print(csv.splitlines()[0])
        kind,first,second,section,level,statistic,value,low,high,pairs,reason
        """
        records = self.to_records()
        for caution in self.cautions:
            reason = str(caution)
            records.append({"kind": "caution", "statistic": caution.code, "reason": reason})
        records.append({"kind": "signature", "reason": self.settings})
        names = [field.name for field in fields(Figure)]
        rows = [[record.get(name, "") for name in names] for record in records]
        return csv_lines([names, *rows])

    def _repr_html_(self) -> str:
        return f'<div style="max-height:80vh;overflow:auto">{self.show("html")}</div>'


@dataclass(frozen=True, eq=False, repr=False)
class AgreementFigures(FigureResult):
    """The annotators, and every figure; see `Agreement`, which can also be shown."""

    annotators: tuple[str, ...]
    options: AgreementOptions
    initial: str | None
    adjudicated: str | None
    systems: tuple[str, ...]
    sections: tuple[str, ...]
    pairings: tuple[Pairing, ...]
    together: tuple[Together, ...]
    corpus: Corpus = field(repr=False)
    signature: str = ""
    cautions: tuple[Caution, ...] = ()
    several: int = 0

    def __repr__(self) -> str:
        f1 = self.every_two[0].whole.figures.get("words.sure.f1", nan)
        who = ", ".join(self.annotators)
        return f"Agreement({who}; {self.whole.used} pairs; words sure F1 {percent(f1)})"

    @property
    def whole(self) -> Together:
        """The agreement of all annotators in the whole corpus."""
        return self.together[0]

    @property
    def every_two(self) -> tuple[Pairing, ...]:
        """The pairings of every two annotators."""
        return self.of("annotators")

    def of(self, kind: str) -> tuple[Pairing, ...]:
        """Return the pairings of a kind.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
        >>> agreement = alignkit.agree(corpus, bootstrap="none")
        >>> [pairing.name for pairing in agreement.of("annotators")]
        ['anna ~ ben']
        """
        return tuple(pairing for pairing in self.pairings if pairing.kind == kind)

    def pairing(self, first: str, second: str) -> Pairing:
        """Return the pairing of two names, in this order.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
        >>> agreement = alignkit.agree(corpus, bootstrap="none")
        >>> agreement.pairing("anna", "ben").kind
        'annotators'
        """
        pairings = {pairing.name: pairing for pairing in self.pairings}
        return named("pairing", f"{first} ~ {second}", pairings)

    @cached_property
    def short_names(self) -> dict[str, str]:
        """The annotators with the short names that sentences and tables have."""
        return short_names(self.annotators)

    @property
    def shortened(self) -> str:
        """A list of what each short name stands for, if it is not the name itself."""
        names = self.short_names.items()
        return ", ".join(f"{short} is {visible(name)}" for name, short in names if short != name)

    def label(self, pairing: Pairing) -> str:
        """Return the name of a pairing in a row: "A ~ B", or "A ~ others" for a consensus."""
        first, second = (self.short_names.get(name, name) for name in pairing.names)
        return f"{first} ~ others" if pairing.kind == "consensus" else f"{first} ~ {second}"

    @cached_property
    def same(self) -> Mapping[str, SamePairs]:
        """In how many pairs every two annotators have the same links, by the name of the pairing.

        Without those who judged given links: they often accept the same ones.
        """
        data = CorpusData(self.corpus, exact_case=self.options.exact_case)
        initial = self.initial if self.initial in self.corpus.aligners else None
        pairings = [two for two in self.every_two if not two.given]
        return FrozenMap({two.name: same_pairs(data, *two.names, initial) for two in pairings})

    @cached_property
    def votes(self) -> VoteTable | None:
        """What the adjudicated version made of two to four annotators' votes; None if unknown."""
        try:
            return vote_table(
                self.corpus,
                self.adjudicated or "",
                self.annotators,
                exact_case=self.options.exact_case,
                seed=self.options.seed,
            )
        except (UnknownNameError, OptionError, MissingTextError):  # no such version, words or pairs
            return None

    def figures(self) -> Iterator[Figure]:
        """Yield every figure.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
        >>> figures = alignkit.agree(corpus, bootstrap="none").figures()
        >>> figure = next(figures)
        >>> figure.level, figure.statistic, figure.value
        ('words.possible', 'precision', 1.0)
        """
        for pairing in self.pairings:
            yield from pairing_figures(pairing)
        yield from edit_figures(self.pairings)
        for together in self.together:
            yield from together_figures(together)
        if self.votes is not None:
            yield from vote_figures(self.votes)


def split(name: str) -> tuple[str, str]:
    """Split ``level.statistic`` into level and statistic; an alpha has only the name."""
    if "alpha" in name.split("."):
        return name, "alpha"
    level, _, statistic = name.rpartition(".")
    return level, statistic


def without(mean: float, pairings: int) -> str:
    """Return a note on the undefined figures that a mean leaves out; empty if there are none."""
    if isnan(mean) or not pairings:
        return ""
    return f"the mean leaves out {how_many(pairings, 'pairing')} with an undefined figure"


def pairing_figures(pairing: Pairing) -> Iterator[Figure]:
    """Yield every figure of a pairing, section by section."""
    for section in pairing.sections:
        at = (pairing.kind, *pairing.names, section.name)
        for name, value in section.figures.items():
            yield _figure((*at, *split(name)), value, section.pairs, section.intervals.get(name))
        for chance, level, _ in pairing.results():
            part = pairing.part(level, section.name, chance)
            suffix = "" if chance == pairing.chance else f".{chance}"
            for name in ("pi", "pi0", "C"):
                number: float = getattr(part, name)
                bounds: Bounds | None = None
                if isnan(number) and part.undefined:
                    bounds = part.undefined
                elif name == "C":
                    bounds = part.interval or part.no_interval
                yield _figure((*at, level, name + suffix), number, part.used, bounds)
            for name in ("used", "both_empty", "one_sided"):
                yield Figure(*at, level, name + suffix, getattr(part, name), pairs=part.pairs)
            for name in ("pi0_error", "C_error"):
                yield Figure(*at, level, name + suffix, getattr(part, name), pairs=part.used)
    yield from _unseen_figures(pairing)


def _unseen_figures(pairing: Pairing) -> Iterator[Figure]:
    """Yield what both kept without looking at it, and F1 without these links, if this is known."""
    if pairing.unseen is None:
        return
    pairs = pairing.whole.pairs
    at = (pairing.kind, *pairing.names, "all")
    yield Figure(*at, "words.possible", "common", pairing.unseen.common, pairs=pairs)
    yield Figure(*at, "words.possible", "unseen", pairing.unseen.unseen, pairs=pairs)
    for kind, f1 in pairing.unseen.f1.items():
        reason = NO_LINKS if isnan(f1) else ""
        yield Figure(*at, f"words.{kind}", "f1.without-unseen", f1, pairs=pairs, reason=reason)


def edit_figures(pairings: tuple[Pairing, ...]) -> Iterator[Figure]:
    """Yield the add and delete rates and the dispersion, once per annotator and links."""
    figures: dict[tuple[str, ...], Figure] = {}
    for pairing in pairings:
        for chance, level, result in pairing.results():
            links = f"edits.{LEVELS[level][1]}"
            for name, rates in result.rates.items():
                for what in ("add", "delete"):
                    at = ("edits", name, "", "all", links, what)
                    figures.setdefault(at, Figure(*at, getattr(rates, what), pairs=rates.pairs))
            for name, models in result.models.items():
                for part, model in models.items():
                    at = ("edits", name, "", "all", f"{links}.{chance}.{part}", "dispersion")
                    figures.setdefault(at, Figure(*at, model.dispersion, pairs=model.pairs))
    yield from figures.values()


def together_figures(together: Together) -> Iterator[Figure]:
    """Yield every figure of all annotators together, and the means."""
    at = ("joint", "", "", together.name)
    for name, value in together.figures.items():
        level, statistic = split(name)
        pairs = together.used
        if level == "fleiss" and together.fleiss is not None:
            pairs = together.fleiss.pairs  # those that all annotated
        yield _figure((*at, level, statistic), value, pairs, together.intervals.get(name))
    for kind, means, left_out in (
        ("mean", together.mean, together.mean_left_out),
        ("automatic mean", together.automatic, together.automatic_left_out),
    ):
        for name, value in means.items():
            mean_of = (kind, "", "", together.name, *split(name))
            reason = without(value, left_out.get(name, 0))
            yield Figure(*mean_of, value, pairs=together.used, reason=reason)


def vote_figures(table: VoteTable) -> Iterator[Figure]:
    """Yield how often each vote stands, and for each combination what its cells became."""
    who = "+".join(table.annotators)
    gold = table.adjudicated
    for name, own in zip(table.annotators, table.shares, strict=True):
        at = ("votes", name, gold, "all", "votes", "stands")
        yield Figure(*at, own.share, own.low, own.high, table.pairs, own.reason)
    for equal, kind in enumerate(("different", "equal")):
        for votes, row in table.combinations(equal=bool(equal)).items():
            drawn = "+".join(STATES[vote] for vote in votes)
            for state, n in zip(STATES, row, strict=True):
                at = ("votes", who, gold, "all", f"{kind}.votes", f"{drawn}:{state}")
                yield Figure(*at, n, pairs=table.pairs)


def _figure(at: At, value: float, pairs: int, interval: Bounds | None) -> Figure:
    """Return a figure with its interval, or with the reason why it or its interval is missing."""
    if isinstance(interval, Interval):
        return Figure(*at, value, interval.low, interval.high, pairs)
    return Figure(*at, value, pairs=pairs, reason=interval or "")
