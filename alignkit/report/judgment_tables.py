"""Lay the figures of judgments out in tables; every figure stands in one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from alignkit.agreement.judgments.result import JudgmentAgreement
from alignkit.agreement.result_parts import Figure
from alignkit.brief import how_many, overlapping
from alignkit.labels.label_matrix import NOT_JUDGED
from alignkit.report.columns import Cell, Column, Value
from alignkit.report.table import Table

_KAPPAS = {"observed": "observed", "kappa": "kappa", "ac1": "AC1"}
_MAJORITY = {**_KAPPAS, "null": "null", "corrected": "corrected"}
_SHARES = ("observed", "settled", "tied", "settled.null", "left_out", "overruled")


@dataclass(frozen=True)
class Layout:
    """What a table shows."""

    anchor: str  # its id on a page
    title: str  # what stands above it
    kinds: Mapping[str, str]  # the kinds of its rows, and what means are called
    statistics: Mapping[str, str]  # its columns, and what they are called
    note: str = ""  # what stands below it


LAYOUTS = (
    Layout(
        "two",
        "Every two annotators",
        {"pairing": "", "mean": "mean", "groups": ""},
        _KAPPAS,
        "the mean weighs kappas by shared items; those that are undefined leave it",
    ),
    Layout(
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
    Layout(
        "majority",
        "Each annotator ~ the majority, which contains the annotator",
        {"consensus": "", "mean consensus": "mean", "pooled consensus": "all in one table"},
        _MAJORITY,
        "null: the same kappa when labels are permuted and the majority is found anew; corrected: "
        "(kappa - null) / (1 - null), the null held fixed",
    ),
    Layout(
        "settled",
        "Items with a majority",
        {"consensus": "all"},
        {"settled": "with a majority", "tied": "tied", "settled.null": "with one by chance"},
    ),
    Layout(
        "others",
        "Each annotator ~ the majority of the others",
        {"leave-one-out": "", "mean leave-one-out": "mean"},
        {**_KAPPAS, "left_out": "left out"},
        "left out: the share of items for which the others are tied",
    ),
    Layout(
        "adjudicated",
        "Each annotator ~ the adjudicated version",
        {"adjudicated": "", "mean adjudicated": "mean"},
        {"observed": "accuracy", "kappa": "kappa", "ac1": "AC1"},
    ),
    Layout(
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


def who(one: Figure, layout: Layout) -> str:
    """Return what the row of a figure is called."""
    names = " ~ ".join(filter(None, (one.first, one.second)))
    if one.kind == "groups":
        return f"mean of {one.first}" if one.first == one.second else f"mean of {names}"
    return names or layout.kinds[one.kind] or "all"


def _table(agreement: JudgmentAgreement, layout: Layout) -> Table:
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


def _titled(agreement: JudgmentAgreement, layout: Layout) -> str:
    named = layout.anchor in ("adjudicated", "overruled") and agreement.options.settled
    return f"{layout.title} ({named})" if named else layout.title


def _cell(one: Figure | None) -> Cell:
    return None if one is None else Value(one.value, one.low, one.high, one.reason)
