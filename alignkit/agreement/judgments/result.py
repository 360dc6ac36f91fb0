"""How far annotators agree on judgments: every figure once, with how to show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from math import isnan
from typing import Any

from alignkit._support.values import jsonable
from alignkit._support.wording import brief
from alignkit.agreement.cautions import FEW, CautionKind, Hit, tell
from alignkit.agreement.judgments.comparisons import JudgmentDisagreements
from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.agreement.result import Figure
from alignkit.corpora.labelled import UNKNOWN
from alignkit.errors import UnknownNameError
from alignkit.model.labels import Scheme
from alignkit.tables.media import Report, get_medium
from alignkit.tables.result import Caution
from alignkit.tables.table import Table
from alignkit.version import __version__

_COUNTS = ("pairs", "unjudged", "repeated", "rewrites", "left_out", "shares")


@dataclass(frozen=True, eq=False, repr=False)
class JudgmentAgreement:
    """How far annotators agree on judgments; printed, it is the tables of the command.

    Parameters
    ----------
    annotators : Who is compared.
    options : The options.
    by : The attribute that makes the groups; None without groups.
    seed : Of all draws.
    sections : ``"all"``, then the names of the groups.
    pairs : How many pairs at least one of the annotators judged.
    repeated : How many of them are repeats of others, word by word.
    rewrites : How many others annotators wrote anew of a pair; they are left out, since nobody
        judged them without knowing that.
    left_out : How many judgments are left out, for each reason.
    shares : For each view the share of each label among all judgments.
    all_figures : Every figure; see `figures`.
    disagreements : The pairs that are judged differently, those that differ in more views first.
    cautions : What to know before reading the figures.
    split, several : What divides the values of `by`, and how many pairs have several: groups
        overlap by these.
    unjudged : How many pairs of the corpus none of them judged.
    """

    annotators: tuple[str, ...]
    options: JudgmentOptions
    by: str | None
    seed: int
    sections: tuple[str, ...]
    pairs: int
    repeated: int
    rewrites: int
    left_out: Mapping[str, int]
    shares: Mapping[str, Mapping[str, float]]
    all_figures: tuple[Figure, ...]
    disagreements: JudgmentDisagreements
    cautions: tuple[Caution, ...]
    split: str | None = None
    several: int = 0
    unjudged: int = 0

    def __repr__(self) -> str:
        return f"JudgmentAgreement({self.scheme}, {self.pairs} pairs; {', '.join(self.annotators)})"

    def __str__(self) -> str:
        return self.show()

    def _repr_html_(self) -> str:
        return f'<div style="max-height:80vh;overflow:auto">{self.show("html")}</div>'

    @property
    def scheme(self) -> str:
        """The name of the scheme."""
        scheme = self.options.scheme
        return scheme.name if isinstance(scheme, Scheme) else scheme

    @property
    def judges(self) -> tuple[str, ...]:
        """The names of the annotators, and that of the adjudicated version behind them."""
        settled = self.options.settled
        return self.annotators if settled is None else (*self.annotators, settled)

    @property
    def views(self) -> tuple[str, ...]:
        """The names of the views."""
        return tuple(self.shares)

    def figures(self) -> tuple[Figure, ...]:
        """Return every figure; its level is ``judgments.VIEW``.

        Kinds: ``"pairing"``, ``"mean"``, ``"groups"``, ``"joint"``, ``"consensus"``, ``"mean
        consensus"``, ``"pooled consensus"``, ``"leave-one-out"``, ``"mean leave-one-out"``,
        ``"adjudicated"``, ``"mean adjudicated"``. Statistics: ``"kappa"``, ``"observed"``,
        ``"ac1"``; of a consensus ``"null"`` and ``"corrected"`` too; shares of items.
        """
        return self.all_figures

    def figure(
        self, kind: str, statistic: str, *who: str, view: str = "", section: str = "all"
    ) -> Figure:
        """Return one figure, by kind and statistic (see `figures`) and the names of those it is of.

        `view` is empty for the first; `section` is ``"all"`` or a group.
        """
        first, second = (*who, "", "")[:2]
        shown = {one.name: alike[0].name for alike in self.options.alike for one in alike}
        level = f"judgments.{shown.get(view, view) or self.views[0]}"
        wanted = (kind, first, second, section, level, statistic)
        figures = {astuple(figure)[:6]: figure for figure in self.all_figures}
        if wanted not in figures:
            known = [" ".join(filter(None, name)) for name in figures]
            raise UnknownNameError("figure", " ".join(filter(None, wanted)), known)
        return figures[wanted]

    @property
    def signature(self) -> str:
        """The settings behind the numbers, in one line."""
        one = self.options
        groups = "|groups:given" if one.groups else ""
        by = f"|by:{self.by}" if self.by else ""
        by += f"|split:{self.split}" if self.split else ""
        return (
            f"level:judgments|scheme:{self.scheme}|views:{'/'.join(self.views)}"
            f"|weights:{one.weights}|consensus:{one.consensus}|ties:{one.ties}|null:{one.null}"
            f"{groups}{by}|permutations:{one.permutations}|interval:bootstrap"
            f"|confidence:{one.confidence:g}|resamples:{one.resamples}|seed:{self.seed}"
            f"|version:{__version__}"
        )

    def tables(self) -> list[Table]:
        """Return the tables, in the order in which a reader wants them."""
        from alignkit.agreement.judgments.show import judgment_tables

        return list(judgment_tables(self))

    @property
    def head(self) -> list[str]:
        """Lines that say who is compared, on what, and what the brackets are."""
        from alignkit.agreement.judgments.show import judgment_head

        return list(judgment_head(self))

    def show(self, medium: str = "text") -> str:
        """Return the tables in a medium: ``"text"``, ``"markdown"``, ``"latex"`` or ``"html"``."""
        written = get_medium(medium)
        sheets = [table.sheet() for table in self.tables()]
        cautions = [str(caution) for caution in self.cautions]
        return written.report(Report(self.head, sheets, cautions, self.signature))

    def csv(self) -> str:
        """Return every figure as a row of CSV; the columns are the fields of `Figure`.

        A row for each caution and one for the signature follow, their text in the column of
        reasons.
        """
        from alignkit.agreement.show.media import agreement_csv

        return agreement_csv(self)

    def to_records(self) -> list[dict[str, object]]:
        """Return every figure as a dictionary, as a DataFrame takes them; see `Figure`."""
        return [dict(vars(figure)) for figure in self.all_figures]

    def to_json(self) -> dict[str, object]:
        """Return everything as JSON takes it: NaN is None."""
        alike = [[view.name for view in views] for views in self.options.alike]
        own = {"scheme": self.scheme, "view": list(self.views), "alike": alike}
        return {
            "annotators": list(self.annotators),
            "by": self.by,
            "split": self.split,
            "in_several_groups": self.several,
            "seed": self.seed,
            "options": jsonable(vars(self.options) | own),
            "sections": list(self.sections),
            **{name: jsonable(getattr(self, name)) for name in _COUNTS},
            "figures": jsonable(self.to_records()),
            "cautions": jsonable(self.cautions),
            "signature": self.signature,
        }

    def to_html(self, **options: Any) -> str:
        """Return a page with all tables and figures; see `alignkit.agreement.judgments.show`."""
        from alignkit.agreement.judgments.show import judgment_page

        return judgment_page(self, **options)


MANY_TIED = 0.1  # above this share, items that a tie leaves out are told
DOMINATES = 0.9  # from this share of all judgments on, one label leaves kappa little to agree on


MOST_GROUPS = 5  # so many groups are named, those with the fewest pairs


def judgment_cautions(agreement: JudgmentAgreement) -> tuple[Caution, ...]:
    """Return the cautions of an agreement on judgments, in the order of `CAUTIONS`."""
    return tell(agreement, CAUTIONS, agreement.options)


def _of(agreement: JudgmentAgreement, kind: str, statistic: str) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of the whole corpus with the names of their views."""
    for figure in agreement.all_figures:
        if (figure.kind, figure.statistic, figure.section) == (kind, statistic, "all"):
            yield figure.level.partition(".")[2], figure


def few(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find couples with few items, in the first view; and the groups in which some have few."""
    least: dict[str, int] = {}
    for figure in agreement.all_figures:
        at = figure.kind, figure.statistic, figure.level
        if at != ("pairing", "kappa", f"judgments.{agreement.views[0]}") or figure.pairs >= FEW:
            continue
        if figure.section == "all":
            place = "" if agreement.by is None else "all:"
            yield Hit(f"{figure.first} ~ {figure.second}", place, str(figure.pairs), -figure.pairs)
        elif figure.pairs:  # where they share nothing there is no figure to beware of
            least[figure.section] = min(figure.pairs, least.get(figure.section, FEW))
    named = sorted(least, key=least.__getitem__)
    for name in named[:MOST_GROUPS]:
        yield Hit("", f"{brief(name) or f'no {agreement.by}'}:", str(least[name]), -least[name])
    if named[MOST_GROUPS:]:
        yield Hit("", f"{len(named) - MOST_GROUPS} more groups", "")


def repeats(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find pairs that stand in the corpus more than once."""
    if agreement.repeated:
        yield Hit("", "", f"{agreement.repeated} of {agreement.pairs}")


def rewritten(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find pairs that annotators wrote anew."""
    if agreement.rewrites:
        yield Hit("", "", str(agreement.rewrites))


def contains(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find the null of the mean kappa against the majority."""
    for view, figure in _of(agreement, "mean consensus", "null"):
        if not isnan(figure.value):
            yield Hit("", view, f"{figure.value:.3f}", figure.value)


def below_chance(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find kappas against the majority that are below their null."""
    for view, figure in _of(agreement, "consensus", "corrected"):
        if figure.value < 0:
            yield Hit(figure.first, view, f"{figure.value:.3f}", -figure.value)


def tied(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find views in which many items have no majority."""
    for view, figure in _of(agreement, "consensus", "tied"):
        if figure.value > MANY_TIED and agreement.options.ties == "leave-out":
            yield Hit("", view, f"{100 * figure.value:.1f}%", figure.value)


def easier(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find annotators for whom many items are left out since the others are tied."""
    for view, figure in _of(agreement, "leave-one-out", "left_out"):
        if figure.value > MANY_TIED:
            yield Hit(figure.first, view, f"{100 * figure.value:.1f}%", figure.value)


def dominated(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find views in which nearly all judgments are one label."""
    for view, shares in agreement.shares.items():
        label, share = max(shares.items(), key=lambda one: one[1], default=("", 0.0))
        if share >= DOMINATES:
            yield Hit("", view, f"{label}: {100 * share:.1f}%", share)


def adjudicated(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find the adjudicated version."""
    if agreement.options.settled is not None:
        yield Hit("", "", agreement.options.settled)


def unknown(agreement: JudgmentAgreement) -> Iterator[Hit]:
    """Find judgments that are not of the scheme."""
    if count := agreement.left_out.get(UNKNOWN, 0):
        yield Hit("", "", str(count))


CAUTIONS: tuple[CautionKind[JudgmentAgreement], ...] = (
    CautionKind(
        "few", few,
        "both judged few pairs ({number}): intervals of a bootstrap over so few are too narrow",
        "read them as a lower bound of how unsure the figures are, or have more pairs judged",
    ),
    CautionKind(
        "repeats", repeats,
        "{number} pairs repeat others word by word: intervals take them for new ones and are too "
        "narrow",
        "count each pair once, or say how many are different",
    ),
    CautionKind(
        "rewrites", rewritten,
        "{number} pairs that annotators wrote anew of others are left out: nobody judged them",
        "have a sample of them judged blindly: `alignkit audit pairs`",
    ),
    CautionKind(
        "consensus", contains,
        "the majority contains the annotator, so that chance alone gives much more than 0 (mean "
        "kappa of permuted labels: {number})",
        "report the corrected kappa, or that of every two annotators",
    ),
    CautionKind(
        "below-chance", below_chance,
        "the kappa against the majority is below its null (corrected: {number})",
        "look whether this annotator follows other guidelines, or labels in another order",
    ),
    CautionKind(
        "tied", tied,
        "many items have no majority and are left out ({number}); those that are left are easier",
        "report the kappa of every two annotators, which leaves nothing out",
    ),
    CautionKind(
        "easier", easier,
        "many items are left out since the others are tied ({number}); those that are left are "
        "easier, so that the kappa against the others exceeds that of every two",
        "report the kappa of every two annotators, or the share left out beside it",
    ),
    CautionKind(
        "one-label", dominated,
        "nearly all judgments are one label ({number}): kappa is low although most items agree, "
        "and AC1 is high although the rare labels may not agree at all",
        "report both with the share of the label, or draw a sample with more of the rare ones",
    ),
    CautionKind(
        "adjudicated", adjudicated,
        "no permutation imitates an adjudicated version ({number}), so that kappas against it have "
        "no null; made from the same judgments, it agrees with them more than a new one would",
        "read them beside the kappa of every two annotators",
    ),
    CautionKind(
        "unknown-labels", unknown,
        "{number} judgments are not of the scheme and are left out",
        "mend them, or name the scheme that they are of",
    ),
)  # fmt: skip
"""Every caution on judgments, in the order in which they are told."""
