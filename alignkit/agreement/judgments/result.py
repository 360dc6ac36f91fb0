"""How far annotators agree on judgments: every figure once, with how to show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

from alignkit.agreement.judgments.disagreements import Disagreements
from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.agreement.result_parts import Caution, Figure
from alignkit.errors import UnknownNameError
from alignkit.jsonable import jsonable
from alignkit.labels import Scheme
from alignkit.report.medium import Report
from alignkit.report.table import Table, get_medium
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
    disagreements: Disagreements
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
        from alignkit.report.judgment_tables import judgment_tables

        return list(judgment_tables(self))

    @property
    def head(self) -> list[str]:
        """Lines that say who is compared, on what, and what the brackets are."""
        from alignkit.report.judgment_tables import judgment_head

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
        from alignkit.report.agreement import agreement_csv

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
        """Return a page with all tables and figures; see `alignkit.report.judgment_page`."""
        from alignkit.report.judgment_page import judgment_page

        return judgment_page(self, **options)
