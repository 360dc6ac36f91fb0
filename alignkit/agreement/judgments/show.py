"""Lay the figures of judgments out in tables; every figure stands in one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import isnan

from alignkit._support.arguments import check_arguments
from alignkit._support.wording import how_many, overlapping
from alignkit.agreement.judgments.comparisons import Disagreement
from alignkit.agreement.judgments.result import JudgmentAgreement
from alignkit.agreement.result import Figure
from alignkit.corpora.labelled import NOT_JUDGED
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing_bytes
from alignkit.show.canvas import Panel, Span, ending
from alignkit.show.charts import panels, spans
from alignkit.show.html import start_page
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.media import CARE, csv_lines
from alignkit.tables.table import Table
from alignkit.tables.text_width import isolated_text, safe_text

_KAPPAS = {"observed": "observed", "kappa": "kappa", "ac1": "AC1"}
_MAJORITY = {**_KAPPAS, "null": "null", "corrected": "corrected"}
_SHARES = ("observed", "settled", "tied", "settled.null", "left_out", "overruled")


@dataclass(frozen=True)
class TableLayout:
    """What a table shows."""

    anchor: str  # its id on a page
    title: str  # what stands above it
    kinds: Mapping[str, str]  # the kinds of its rows, and what means are called
    statistics: Mapping[str, str]  # its columns, and what they are called
    note: str = ""  # what stands below it


LAYOUTS = (
    TableLayout(
        "two",
        "Every two annotators",
        {"pairing": "", "mean": "mean", "groups": ""},
        _KAPPAS,
        "the mean weighs kappas by shared items; those that are undefined leave it",
    ),
    TableLayout(
        "together",
        "All annotators together",
        {"joint": "all"},
        {
            "alpha.nominal": "alpha, nominal",
            "alpha.ordinal": "alpha, ordinal",
            "ac1": "AC1",
            "fleiss": "Fleiss' kappa",
        },
    ),
    TableLayout(
        "majority",
        "Each annotator ~ the majority, which contains the annotator",
        {"consensus": "", "mean consensus": "mean", "pooled consensus": "all in one table"},
        _MAJORITY,
        "null: the same kappa when labels are permuted and the majority is found anew; corrected: "
        "(kappa - null) / (1 - null), the null held fixed",
    ),
    TableLayout(
        "settled",
        "Items with a majority",
        {"consensus": "all"},
        {"settled": "with a majority", "tied": "tied", "settled.null": "with one by chance"},
    ),
    TableLayout(
        "others",
        "Each annotator ~ the majority of the others",
        {"leave-one-out": "", "mean leave-one-out": "mean"},
        {**_KAPPAS, "left_out": "left out"},
        "left out: the share of items for which the others are tied",
    ),
    TableLayout(
        "adjudicated",
        "Each annotator ~ the adjudicated version",
        {"adjudicated": "", "mean adjudicated": "mean"},
        {"observed": "accuracy", "kappa": "kappa", "ac1": "AC1"},
    ),
    TableLayout(
        "overruled",
        "Items on which all agree, and the adjudicated version does not",
        {"adjudicated": "all"},
        {"overruled": "overruled"},
    ),
)
"""The tables, in their order."""


def judgment_head(agreement: JudgmentAgreement) -> Iterator[str]:
    """Yield lines of plain text that say who is compared, on what, and what the brackets are."""
    yield (
        f"Agreement of {', '.join(agreement.annotators)} on judgments of {agreement.pairs} "
        f"{'pair' if agreement.pairs == 1 else 'pairs'} ({agreement.scheme})"
    )
    if agreement.unjudged:
        yield f"  {how_many(agreement.unjudged, 'further pair')} without a judgment by any of them"
    if agreement.several:
        every = agreement.pairs + agreement.unjudged
        yield f"  {overlapping(agreement.several, every, str(agreement.by))}"
    for reason, count in agreement.left_out.items():
        if count and reason != NOT_JUDGED:
            yield f"  {count} judgments {reason}"
    options = agreement.options
    for one, *others in options.alike:
        if others:
            names = ", ".join(view.name for view in (one, *others))
            yield f"The views {names} show every judgment alike: those of {one.name} stand for all"
    if options.weights != "nominal":
        yield f"Kappa: {options.weights} weights over the order of all labels of a view"
    yield (
        f"In brackets, {100 * options.confidence:g}%: of a kappa, AC1 or alpha of bootstrap "
        "resamples of pairs; of a null of its permutations; of a share of items Wilson's interval"
    )


def judgment_tables(agreement: JudgmentAgreement) -> Iterator[Table]:
    """Yield the tables that have rows."""
    for layout in LAYOUTS:
        table = _table(agreement, layout)
        if table.rows:
            yield table


def who(one: Figure, layout: TableLayout) -> str:
    """Return what the row of a figure is called."""
    names = " ~ ".join(filter(None, (one.first, one.second)))
    if one.kind == "groups":
        return f"mean of {one.first}" if one.first == one.second else f"mean of {names}"
    return names or layout.kinds[one.kind] or "all"


def _table(agreement: JudgmentAgreement, layout: TableLayout) -> Table:
    rows: dict[tuple[str, str, str, str], dict[str, Figure]] = {}
    for one in agreement.all_figures:
        whole = not one.first
        if one.kind not in layout.kinds or one.statistic not in layout.statistics:
            continue
        if layout.kinds[one.kind] == "all" and not whole:
            continue
        view = one.level.removeprefix("judgments.")
        place = (view, one.section, one.kind, who(one, layout))
        rows.setdefault(place, {})[one.statistic] = one
    several = agreement.by is not None
    columns = [
        Column("view"),
        *([Column(str(agreement.by), key="group")] if several else []),
        Column("", key="who"),
        Column("pairs", "count"),
        *(
            Column(title, "percent" if name in _SHARES else "decimal", key=name,
                   unit="%" if name in _SHARES else "")
            for name, title in layout.statistics.items()
        ),
    ]  # fmt: skip
    cells: list[list[Cell]] = []
    apart = []
    before = ("", "")
    order = {name: k for k, name in enumerate(agreement.views)}
    for place in sorted(rows, key=lambda one: order[one[0]]):
        view, section, _, name = place
        apart += [len(cells)] if cells and (view, section) != before else []
        before = (view, section)
        here = rows[place]
        count = next(iter(here.values())).pairs
        group = [section or f"(no {agreement.by})"] if several else []
        cells.append([view, *group, name, count, *(_cell(here.get(s)) for s in layout.statistics)])
    stub = 3 if several else 2
    used = [name for name in layout.statistics if any(name in one for one in rows.values())]
    keep = [k for k, column in enumerate(columns) if k <= stub or column.key in used]
    return Table(
        _titled(agreement, layout),
        [columns[k] for k in keep],
        [[row[k] for k in keep] for row in cells],
        layout.note,
        f"judgments-{layout.anchor}",
        apart,
        stub,
    )


def _titled(agreement: JudgmentAgreement, layout: TableLayout) -> str:
    named = layout.anchor in ("adjudicated", "overruled") and agreement.options.settled
    return f"{layout.title} ({named})" if named else layout.title


def _cell(one: Figure | None) -> Cell:
    return None if one is None else Value(one.value, one.low, one.high, one.reason)


_MOST, _MOST_SIGNS = 200, 1_000_000  # A page shows no more pairs, nor more text


def disagreements_csv(agreement: JudgmentAgreement) -> str:
    """Return every pair that is judged differently as a row of CSV."""
    names = agreement.judges
    rows = [["pair", "differ in", *(f"judgment of {name}" for name in names), "source", "target"]]
    for pair in agreement.disagreements:
        said = [pair.judgments.get(name, "") for name in names]
        rows.append([pair.id, ", ".join(pair.views), *said, pair.source, pair.target])
    return csv_lines(rows)


def draw_disagreements(agreement: JudgmentAgreement) -> Iterator[str]:
    """Yield the pairs that are judged differently as HTML: as many as a page has room for."""
    shown = list(_shown(agreement.disagreements))
    yield f"<p>{safe_text(_said(agreement, len(shown)))}</p>\n"
    several = len(agreement.views) > 1
    for one in shown:
        said = " · ".join(f"{isolated_text(name)}: <strong>{isolated_text(text)}</strong>"
                          for name, text in one.judgments.items())  # fmt: skip
        where = f" · differ in {safe_text(', '.join(one.views))}" if several else ""
        yield f"<article>\n<h4>{isolated_text(one.id)}</h4>\n"
        yield f'<p class="facts">{said}{where}</p>\n'
        yield from (f'<p dir="auto">{safe_text(text)}</p>\n' for text in (one.source, one.target)
                    if text)  # fmt: skip
        yield "</article>\n"


def _shown(pairs: Sequence[Disagreement]) -> Iterator[Disagreement]:
    room = _MOST_SIGNS
    for one in pairs[:_MOST]:
        room -= len(one.source) + len(one.target)
        if room < 0:
            break
        yield one


def _said(agreement: JudgmentAgreement, shown: int) -> str:
    count = len(agreement.disagreements)
    if not count:
        return "No pair is judged differently."
    whose = "annotators and the adjudicated version" if agreement.options.settled else "annotators"
    said = f"{count:,} of {agreement.pairs:,} pairs are judged differently by {whose}"
    if len(agreement.views) > 1:
        said += "; those that differ in more views come first"
    if shown < count:
        said += (
            f"; the first {shown:,} are shown, to keep the page small: all are in the file of "
            "--disagreements, and in `disagreements` of the result"
        )
    return f"{said}."


_MOST_JUDGMENT_PLOTS = 40  # A figure of a table in a view has no more rows; the table has all

_SHAPES = {"kappa": (0, "kappa"), "null": (1, "by chance"), "corrected": (2, "corrected")}
_DRAWN = {
    "two": ("Every two annotators", ("kappa",)),
    "majority": ("With the majority", ("kappa", "null", "corrected")),
    "others": ("With that of the others", ("kappa",)),
    "adjudicated": ("With the adjudicated", ("kappa",)),
}
"""What is drawn, by the table that holds it, and its title in a file."""

_AXIS = "kappa: 0 as by chance, 1 in full"


def judgment_plots(agreement: JudgmentAgreement) -> Iterator[tuple[str, str]]:
    """Yield the title and the SVG of each figure: of each table in each view, if it has values."""
    for layout in LAYOUTS:
        for number, view in enumerate(agreement.views):
            data, left = _spans(agreement, layout, view)
            if not data:
                continue
            more = f" (the table has {left} more)" if left else ""
            title = f"{layout.title}: {view}{more}"
            name = f"{layout.anchor}-{number}"
            yield title, spans(name, title, data, label=_AXIS, shapes=_meanings(data))


def draw_judgment_plot(agreement: JudgmentAgreement, path: str) -> None:
    """Write a figure for a paper: the kappas with their intervals, a panel for each table."""
    kind = ending(path)
    data = []
    for layout in LAYOUTS:
        rows: list[Span] = []
        for view in agreement.views:
            here, left = _spans(agreement, layout, view)
            more = f" (the table has {left} more)" if left else ""
            rows += [Span(f"{view}{more}", heading=True), *here] if here else []
        if rows:
            data.append(Panel(_DRAWN[layout.anchor][0], _AXIS, rows))
    if not data:
        raise OptionError("no kappa has a value: there is nothing to draw; leave the figure out")
    shapes = _meanings([one for panel in data for one in panel.data])
    with replacing_bytes(path) as out:
        out.write(panels(data, kind, shapes))


def _meanings(data: list[Span]) -> dict[int, str]:
    used = {one.shape for one in data if not one.heading}
    return {shape: text for shape, text in _SHAPES.values() if shape in used and len(used) > 1}


def _spans(agreement: JudgmentAgreement, layout: TableLayout, view: str) -> tuple[list[Span], int]:
    """Return what is drawn of a table in a view, and how many rows are left out."""
    _, wanted = _DRAWN.get(layout.anchor, ("", ()))
    figures = [
        figure
        for figure in agreement.all_figures
        if figure.kind in layout.kinds
        and figure.statistic in wanted
        and figure.level == f"judgments.{view}"
        and figure.section == "all"
        and not isnan(figure.value)
    ]
    rows = {who(one, layout): k for k, one in reversed(list(enumerate(figures)))}
    figures.sort(key=lambda one: rows[who(one, layout)])  # of one annotator, one below the other
    return [_span(one, layout) for one in figures[:_MOST_JUDGMENT_PLOTS]], max(
        len(figures) - _MOST_JUDGMENT_PLOTS, 0
    )


def _span(one: Figure, layout: TableLayout) -> Span:
    shape, meaning = _SHAPES[one.statistic]
    note = Column("", "decimal").show(Value(one.value, one.low, one.high)).text
    label = who(one, layout) + ("" if one.statistic == "kappa" else f", {meaning}")
    return Span(label, one.value, one.low, one.high, note, shape)


def judgment_page(agreement: JudgmentAgreement, *, title: str | None = None) -> str:
    """Return the page as one text; see `draw_judgment_page`."""
    return "".join(draw_judgment_page(agreement, title=title))


def draw_judgment_page(agreement: JudgmentAgreement, *, title: str | None = None) -> Iterator[str]:
    """Draw a page that needs neither network nor script."""
    check_arguments(draw_judgment_page, locals())
    *others, last = agreement.annotators
    heading = title or f"Agreement of {', '.join(others)} and {last} on judgments"
    style = files("alignkit.show").joinpath("page.css").read_text(encoding="utf-8")
    yield start_page(heading, Table.style() + style)
    yield from (f'<p class="facts">{safe_text(line.strip())}</p>\n' for line in agreement.head)
    yield from _cautions(agreement)
    yield "</header>\n<main>\n"
    yield _heading("overview", "Overview")
    yield "<p>Every kappa with its interval, if it has one; the tables have all figures.</p>\n"
    yield '<div class="figures three">\n'
    for caption, image in judgment_plots(agreement):
        yield f"<figure><figcaption>{isolated_text(caption)}</figcaption>\n{image}</figure>\n"
    yield "</div>\n</section>\n"
    yield _heading("tables", "Tables")
    yield from (table.show("html") for table in agreement.tables())
    yield "</section>\n"
    yield _heading("disagreements", "Disagreements")
    yield from draw_disagreements(agreement)
    yield "</section>\n"
    yield _heading("settings", "Settings")
    yield f"<p><code>{safe_text(agreement.signature)}</code></p>\n</section>\n"
    yield "</main>\n</body>\n</html>\n"


def _heading(anchor: str, name: str) -> str:
    heading = f'<h2 id="{anchor}-heading">{name}</h2>\n'
    return f'<section id="{anchor}" aria-labelledby="{anchor}-heading">\n{heading}'


def _cautions(agreement: JudgmentAgreement) -> Iterator[str]:
    if not agreement.cautions:
        return
    yield '<div class="cautions" role="region" aria-labelledby="cautions">\n'
    yield f'<h2 id="cautions">{CARE}</h2>\n<ul>\n'
    for caution in agreement.cautions:
        whom = "; ".join(caution.pairings)
        about = f'<bdi class="who">{safe_text(whom)}</bdi>: ' if whom else ""
        instead = f'<span class="instead">{safe_text(caution.instead)}</span>'
        yield f"<li>{about}{safe_text(caution.says)}: {instead}</li>\n"
    yield "</ul>\n</div>\n"
