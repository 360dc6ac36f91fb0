"""The agreement on judgments: every figure, and its tables, plots and page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from math import isnan, nan

from alignkit._support.options import stated
from alignkit._support.values import jsonable, named_json
from alignkit._support.wording import how_many, overlapping
from alignkit.agreement.figures import Figure, FigureResult
from alignkit.agreement.judgments.answer import ac1_name, answer_sentences
from alignkit.agreement.judgments.disagreements import JudgmentDisagreements
from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.agreement.judgments.ranks import rank_table
from alignkit.corpora.labelled import NOT_JUDGED
from alignkit.errors import UnknownNameError
from alignkit.model.labels import Scheme
from alignkit.show.dot_plots import DotPanel, DotPlot, DotRow
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import Caution, Picture
from alignkit.tables.table import Table
from alignkit.version import __version__


@dataclass(frozen=True, eq=False, repr=False)
class JudgmentAgreement(FigureResult):
    """How far annotators agree on judgments; printing it shows the tables of the command.

    Parameters
    ----------
    annotators : The annotators that are compared.
    options : The options.
    sections : ``"all"``, then the names of the groups.
    pairs : The number of pairs judged by at least one annotator.
    repeated : The number of these that repeat others word by word.
    rewrites : The number of rewrites by annotators; they are left out because nobody judged them
        independently.
    left_out : The number of judgments left out, by reason.
    shares : For each view, the share of each label among all judgments.
    all_figures : Every figure, as `figures` returns them.
    disagreements : The pairs with different judgments; those that differ in more views first.
    cautions : Warnings to read before the figures.
    several : The number of pairs with several values of the attribute `by`; these are in several
        groups.
    unjudged : The number of pairs of the corpus that none of them judged.
    coefficients : AC2, Brennan-Prediger and Conger's kappa of all, and of every two.
    concordances : Kendall's W of each group of texts that were ranked together; NaN if undefined.
    """

    annotators: tuple[str, ...]
    options: JudgmentOptions
    sections: tuple[str, ...]
    pairs: int
    repeated: int
    rewrites: int
    left_out: Mapping[str, int]
    shares: Mapping[str, Mapping[str, float]]
    all_figures: tuple[Figure, ...]
    disagreements: JudgmentDisagreements
    cautions: tuple[Caution, ...] = ()
    several: int = 0
    unjudged: int = 0
    concordances: tuple[float, ...] = ()
    coefficients: Table | None = None

    def __repr__(self) -> str:
        return f"JudgmentAgreement({self.scheme}, {self.pairs} pairs; {', '.join(self.annotators)})"

    @property
    def scheme(self) -> str:
        """The name of the scheme."""
        scheme = self.options.scheme
        return scheme.name if isinstance(scheme, Scheme) else scheme

    @property
    def judges(self) -> tuple[str, ...]:
        """The names of the annotators, then that of the adjudicated version."""
        settled = self.options.settled
        if settled is None:
            return self.annotators
        return (*self.annotators, settled)

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
        """Return one figure, by kind and statistic (see `figures`) and by annotators.

        `view` is empty for the first view; `section` is ``"all"`` or a group.
        """
        first = who[0] if who else ""
        second = who[1] if len(who) > 1 else ""
        level = f"judgments.{self._shown_view(view)}"
        wanted = (kind, first, second, section, level, statistic)
        figures = {figure.at: figure for figure in self.all_figures}
        if wanted not in figures:
            known = [" ".join(filter(None, place)) for place in figures]
            raise UnknownNameError("figure", " ".join(filter(None, wanted)), known)
        return figures[wanted]

    def _shown_view(self, name: str) -> str:
        """Return the view that is shown for one, which may be alike; "" is the first view."""
        if not name:
            return self.views[0]
        for views in self.options.alike:
            if name in [view.name for view in views]:
                return views[0].name
        return name

    @property
    def signature(self) -> str:
        """The settings behind the numbers, in one line."""
        asked = self.options
        groups = "|groups:given" if asked.groups else ""
        by = f"|by:{asked.by}" if asked.by else ""
        if asked.split:
            by += f"|split:{asked.split}"
        return (
            f"level:judgments|scheme:{self.scheme}|views:{'/'.join(self.views)}"
            f"|weights:{asked.weights}|consensus:{asked.consensus}|ties:{asked.ties}"
            f"|null:{asked.null}{groups}{by}|permutations:{asked.permutations}|interval:bootstrap"
            f"|confidence:{asked.confidence:g}|resamples:{asked.resamples}|seed:{asked.seed}"
            f"|version:{__version__}"
        )

    def tables(self) -> Sequence[Table]:
        """Return the tables that have rows, in reading order."""
        every = [_table(self, layout) for layout in LAYOUTS]
        tables = [table for table in every if table.rows]
        if self.coefficients:
            tables.append(self.coefficients)
        if self.concordances:
            tables.append(rank_table(self.concordances))
        return tables

    @property
    def answer(self) -> str:
        """A paragraph to quote, about the first view: kappa of every two, and alpha."""
        shares = self.shares[self.options.views[0].name]
        sentences = answer_sentences(
            self.annotators, self.pairs, self.all_figures, shares, self.options
        )
        return " ".join(sentences)

    @property
    def head(self) -> Sequence[str]:
        """Lines with the annotators, the pairs, and the meaning of the brackets."""
        options = self.options
        pairs = how_many(self.pairs, "pair")
        who = ", ".join(self.annotators)
        lines = [f"Agreement of {who} on judgments of {pairs} ({self.scheme})", self.answer]
        if self.unjudged:
            more = how_many(self.unjudged, "further pair")
            lines.append(f"  {more} without a judgment by any of them")
        if self.several:
            lines.append(
                f"  {overlapping(self.several, self.pairs + self.unjudged, str(options.by))}"
            )
        for reason, count in self.left_out.items():
            if count and reason != NOT_JUDGED:
                lines.append(f"  {count} judgments {reason}")
        for views in options.alike:
            names = [view.name for view in views]
            if len(names) > 1:
                lines.append(
                    f"The views {', '.join(names)} give the same labels: only {names[0]} is shown"
                )
        if options.weights != "nominal":
            lines.append(
                f"Kappa and AC1: {options.weights} weights over the order of all labels of a view "
                "(AC1 with weights is AC2)"
            )
        lines.append(
            f"In brackets, {100 * options.confidence:g}% intervals: for kappa, AC1 and alpha from "
            "bootstrap resamples of pairs; for a null from permutations; for a share of items "
            "Wilson's interval"
        )
        return lines

    def to_json(self) -> dict[str, object]:
        """Return everything for JSON; NaN becomes None."""
        alike = [[view.name for view in views] for views in self.options.alike]
        own = {"scheme": self.scheme, "view": list(self.views), "alike": alike}
        coefficients = self.coefficients.to_records() if self.coefficients else []
        counts = ("concordances", "pairs", "unjudged", "repeated", "rewrites", "left_out", "shares")
        return {
            "annotators": list(self.annotators),
            "answer": self.answer,
            "in_several_groups": self.several,
            "options": jsonable(stated(self.options) | own),
            **named_json(self, ("sections", *counts)),
            "figures": jsonable(self.to_records()),
            "coefficients": jsonable(coefficients),
            **named_json(self, ("cautions", "signature")),
        }

    def images(self) -> Iterator[Picture]:
        """Yield a picture of the kappas of each table."""
        plot = judgment_plot(self)
        for k, panel in enumerate(plot.panels):
            # series without a dot in this panel need no legend; only the first one may have all
            others = [value for row in panel.values for value in row[1:]]
            series = plot.series
            if all(isnan(value.value) for value in others):
                series = series[:1]
            image = replace(plot, panels=[panel], series=series).image(f"kappas-{k}", panel.label)
            yield Picture(panel.label.capitalize(), image)

    def page_tables(self) -> Sequence[Table]:
        """Return the tables, and the table of pairs with different judgments."""
        return [*self.tables(), disagreements_table(self, whole=False)]

    def to_html(self, *, title: str | None = None) -> str:
        """Return an offline page without scripts: all tables, figures and disagreements."""
        *others, last = self.annotators
        return self.page(title or f"Agreement of {', '.join(others)} and {last} on judgments")


# tables
_KAPPAS = {"observed": "observed", "kappa": "kappa", "ac1": "AC1"}
_SHARES = ("observed", "settled", "tied", "settled.null", "left_out", "overruled")


@dataclass(frozen=True)
class TableLayout:
    """The contents of a table."""

    anchor: str  # its id on a page
    title: str  # what stands above it
    kinds: Mapping[str, str]  # the kinds of its rows; the names of those without annotators
    statistics: Mapping[str, str]  # its columns, and what they are called
    note: str = ""  # what stands below it
    of_all: bool = False  # whether it has only figures of all annotators, none of a single one


_OF_ALL = {"alpha.nominal": "alpha, nominal", "alpha.ordinal": "alpha, ordinal", "ac1": "AC1"}
LAYOUTS = (
    TableLayout(
        "two",
        "Every two annotators",
        {"pairing": "", "mean": "mean", "groups": ""},
        _KAPPAS,
        "in the mean, each kappa is weighted by the number of shared pairs; "
        "undefined kappas are left out",
    ),
    TableLayout(
        "together",
        "All annotators together",
        {"joint": "all"},
        {**_OF_ALL, "fleiss": "Fleiss' kappa"},
        of_all=True,
    ),
    TableLayout(
        "majority",
        "Each annotator ~ the majority, including the annotator",
        {"consensus": "", "mean consensus": "mean", "pooled consensus": "all in one table"},
        {**_KAPPAS, "null": "null", "corrected": "corrected"},
        "null: the same kappa for permuted labels and their majority; corrected: "
        "(kappa - null) / (1 - null), with a fixed null",
    ),
    TableLayout(
        "settled",
        "Items with a majority",
        {"consensus": "all"},
        {"settled": "with a majority", "tied": "tied", "settled.null": "with one by chance"},
        of_all=True,
    ),
    TableLayout(
        "others",
        "Each annotator ~ the majority of the others",
        {"leave-one-out": "", "mean leave-one-out": "mean"},
        {**_KAPPAS, "left_out": "left out"},
        "left out: pairs on which the others are tied, of all that both the annotator and another "
        "judged; the column pairs does not count them",
    ),
    TableLayout(
        "adjudicated",
        "Each annotator ~ the adjudicated version",
        {"adjudicated": "", "mean adjudicated": "mean"},
        {**_KAPPAS, "observed": "accuracy"},
    ),
    TableLayout(
        "overruled",
        "Items on which all agree, but the adjudicated version differs",
        {"adjudicated": "all"},
        {"overruled": "overruled"},
        of_all=True,
    ),
)
"""The tables, in order."""


def _names(figure: Figure, layout: TableLayout) -> tuple[str, ...]:
    """Return the names in a figure's row: annotators, groups of them, or what it is of."""
    names = tuple(name for name in (figure.first, figure.second) if name)
    if figure.kind != "groups":
        return names or (layout.kinds[figure.kind] or "all",)
    if figure.first == figure.second:  # the mean within a group of annotators
        names = names[:1]
    first, *rest = names
    return f"mean of {first}", *rest


def _who(figure: Figure, layout: TableLayout) -> str:
    """Return the name of a figure's row."""
    return " ~ ".join(_names(figure, layout))


def _table_figures(
    agreement: JudgmentAgreement, layout: TableLayout
) -> dict[tuple[str, str, str, str], dict[str, Figure]]:
    """Return the figures of a table by statistic, for each view, section, kind and name."""
    rows: dict[tuple[str, str, str, str], dict[str, Figure]] = {}
    for figure in agreement.all_figures:
        if figure.kind in layout.kinds and figure.statistic in layout.statistics:
            if layout.of_all and figure.first:
                continue
            view = figure.level.removeprefix("judgments.")
            place = (view, figure.section, figure.kind, _who(figure, layout))
            rows.setdefault(place, {})[figure.statistic] = figure
    return rows


def _table(agreement: JudgmentAgreement, layout: TableLayout) -> Table:
    """Return a table, view by view; its columns are the statistics that have any figure."""
    rows = _table_figures(agreement, layout)
    used = set(chain.from_iterable(rows.values()))
    statistics = [name for name in layout.statistics if name in used]
    grouped = agreement.options.by is not None
    columns = [Column("view")]
    if grouped:
        columns.append(Column(str(agreement.options.by), key="group"))
    columns.append(Column("", key="who"))
    stub = len(columns)
    columns.append(Column("pairs", "count"))
    weights = agreement.options.weights
    columns += [_column(name, layout.statistics[name], weights) for name in statistics]
    lines: list[list[Cell]] = []
    starts: dict[tuple[str, str], int] = {}
    for place in sorted(rows, key=lambda place: agreement.views.index(place[0])):
        view, section, _, name = place
        starts.setdefault((view, section), len(lines))
        figures = rows[place]
        cells: list[Cell] = [view]
        if grouped:
            cells.append(section or f"(no {agreement.options.by})")
        of_row = [figures.get(statistic) for statistic in statistics]
        # those of the first column; in a row, only `left out` counts others, and its note says so
        pairs = next(figure.pairs for figure in of_row if figure is not None)
        cells += [name, pairs, *map(_cell, of_row)]
        lines.append(cells)
    title = layout.title
    settled = agreement.options.settled
    if settled and layout.anchor in ("adjudicated", "overruled"):
        title += f" ({settled})"
    return Table(
        title,
        columns,
        lines,
        note=layout.note,
        anchor=f"judgments-{layout.anchor}",
        apart=list(starts.values())[1:],
        stub=stub,
    )


def _column(name: str, heading: str, weights: str) -> Column:
    """Return the column of a statistic; its heading says the weights, in LaTeX also which kappa."""
    if name in _SHARES:
        return Column(heading, "percent", key=name, unit="%")
    latex = ""
    if name == "kappa" and weights != "nominal":
        heading = f"kappa, {weights}"
        latex = rf"Cohen's $\kappa$, {weights}"
    elif name == "kappa":
        latex = r"Cohen's $\kappa$"
    elif name == "fleiss":
        latex = r"Fleiss' $\kappa$"
    elif name == "ac1":
        heading = ac1_name(weights)
    return Column(heading, "decimal", key=name, latex=latex)


def _cell(figure: Figure | None) -> Cell:
    """Return the value of a figure with its bounds, or why there is none."""
    if figure is None:
        return None
    return Value(figure.value, figure.low, figure.high, figure.reason)


# disagreements
_MOST_PAIRS = 200  # that a page shows,
_MOST_CHARACTERS = 1_000_000  # with no more text than this


def disagreements_table(agreement: JudgmentAgreement, *, whole: bool = True) -> Table:
    """Return the table of pairs with different judgments: all, or the first ones for a page."""
    pairs = agreement.disagreements if whole else agreement.disagreements[:_MOST_PAIRS]
    rows: list[list[Cell]] = []
    characters = 0
    for pair in pairs:
        characters += len(pair.source) + len(pair.target)
        if not whole and characters > _MOST_CHARACTERS:
            break
        judgments = [pair.judgments.get(name, "") for name in agreement.judges]
        rows.append([pair.id, ", ".join(pair.views), *judgments, pair.source, pair.target])
    if agreement.options.settled:
        whose = "annotators and the adjudicated version"
    else:
        whose = "annotators"
    different = len(agreement.disagreements)
    if different:
        count = f"{different:,} of {agreement.pairs:,}"
    else:
        count = "None of the"
    title = f"{count} pairs are judged differently by {whose}"
    if len(rows) < different:
        shown = f"the first {len(rows):,} are shown" if rows else "none is shown"
        title += f"; {shown} to keep the page small; the CSV of disagreements has all"
    columns = [Column("pair"), Column("differ in")]
    columns += [Column(name, key=f"judgment of {name}") for name in agreement.judges]
    columns += [Column("source"), Column("target")]
    return Table(title, columns, rows, anchor="disagreements")


# the figure
_MOST_ROWS = 40  # a panel has no more rows of a view; the table has all

_SERIES = {"kappa": "kappa", "null": "by chance", "corrected": "corrected"}
_PANELS = {
    "two": "every two annotators",
    "majority": "with the majority",
    "others": "with that of the others",
    "adjudicated": "with the adjudicated",
}
"""The tables that are drawn, and the titles of their panels."""


_DrawnRows = dict[DotRow, dict[str, Value]]  # the values of each row, by statistic


def _in_order(values: Mapping[str, Value], series: Sequence[str]) -> list[Value]:
    """Return the values of a row by series; NaN for those without a value."""
    return [values.get(name, Value(nan)) for name in series]


def judgment_plot(agreement: JudgmentAgreement) -> DotPlot:
    """Return the figure for a paper: kappas with intervals, one panel per table."""
    drawn: dict[str, _DrawnRows] = {}
    more = 0
    for layout in LAYOUTS:
        if layout.anchor in _PANELS:
            title = _PANELS[layout.anchor]
            for view in agreement.views:
                rows = _drawn_rows(agreement, layout, view)
                more += max(len(rows) - _MOST_ROWS, 0)
                if rows:
                    drawn.setdefault(title, {}).update(islice(rows.items(), _MOST_ROWS))
    used = set[str]()
    for rows in drawn.values():
        for values in rows.values():
            used.update(values)
    series = [name for name in _SERIES if name in used]
    panels = []
    for title, rows in drawn.items():
        kappas = [_in_order(values, series) for values in rows.values()]
        panels.append(DotPanel(f"kappa, {title}", list(rows), kappas, percent=False))
    caption = (
        f"Kappa of {', '.join(agreement.annotators)} on judgments of "
        f"{how_many(agreement.pairs, 'pair')} ({', '.join(agreement.views)}); lines: "
        f"{100 * agreement.options.confidence:g}% intervals"
    )
    if more:
        caption += f"; {how_many(more, 'further row')} in the tables only"
    return DotPlot(panels, [_SERIES[name] for name in series], f"{caption}.", abreast=(1, 1))


def _drawn_rows(agreement: JudgmentAgreement, layout: TableLayout, view: str) -> _DrawnRows:
    """Return the kappas of a table in a view, without those of groups of pairs."""
    group = view if len(agreement.views) > 1 else ""
    rows: _DrawnRows = {}
    for figure in agreement.all_figures:
        of_view = figure.section == "all" and figure.level == f"judgments.{view}"
        known = figure.statistic in _SERIES and not isnan(figure.value)
        if of_view and known and figure.kind in layout.kinds:
            row = DotRow(_names(figure, layout), group)
            value = Value(figure.value, figure.low, figure.high)
            rows.setdefault(row, {})[figure.statistic] = value
    return rows
