"""The tables of a system in place of annotators."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan

from alignkit._support.wording import visible
from alignkit.agreement.replacement.confidence import CertainPairs
from alignkit.agreement.replacement.decision import EPSILONS, LEAST_PAIRS, Decision
from alignkit.agreement.replacement.figures import ReplacementFigures
from alignkit.agreement.replacement.power import Power
from alignkit.tables.columns import Cell, Column, Row, Value
from alignkit.tables.table import Table

_WINNING_RATE = Column("winning rate", "coefficient", key="winning_rate")
_MAY_REPLACE = Column("may replace", key="may_replace")
_FEW = f"no annotator has {LEAST_PAIRS} pairs or more here"


def replacement_tables(figures: ReplacementFigures) -> Iterator[Table]:
    """Yield the tables in reading order."""
    yield _annotator_table(figures)
    yield _epsilon_table(figures)
    if figures.parts:
        yield _part_table(figures)
    if figures.certain is not None:
        yield _certain_table(figures, figures.certain)
    if figures.power is not None:
        yield _power_table(figures.unit, figures.power)
    yield _likeness_table(figures)


def _annotator_table(figures: ReplacementFigures) -> Table:
    """Return the test of each annotator, and their means."""
    columns = [
        Column("annotator"),
        Column(f"{figures.unit}s", "count", key="units"),
        Column("advantage", "percent"),
        Column("mean d", "coefficient", key="difference", signed=True),
        Column("p", "p", key="p_value"),
        Column("corrected", "p"),
        Column("may replace", key="replaced"),
    ]
    rows: list[Row] = []
    for test in figures.decision.tests:
        row: Row = [visible(test.annotator), test.units, test.advantage, test.difference]
        rows.append([*row, test.p_value, test.corrected, "yes" if test.replaced else "no"])
    for name, units in figures.decision.few:
        few = Value(nan, reason=f"fewer than {LEAST_PAIRS} {figures.unit}s: not tested")
        rows.append([visible(name), units, few, None, None, None, None])
    note = (
        "advantage: how often the system is at least as much like the other annotators as this "
        "one; d: 1 if only the annotator is at least as good, -1 if only the system, 0 for a tie; "
        f"p: that the mean of d is {figures.options.epsilon:g} or more (one-sided t-test); "
        "corrected: by Benjamini and Yekutieli, for the number of annotators"
    )
    title = f"{visible(figures.system)} in place of each annotator"
    return Table(title, columns, rows, note, "annotators")


def _epsilon_table(figures: ReplacementFigures) -> Table:
    """Return the answer at each epsilon."""
    columns = [
        Column("epsilon", "decimal", digits=2),
        Column("in place of", key="replaces"),
        Column("annotators", "count"),
        Column("passes", "count"),
        _WINNING_RATE,
        _MAY_REPLACE,
    ]
    names = {value: name for name, value in EPSILONS.items()}
    rows: list[Row] = []
    for decision in figures.decisions:
        row: Row = [decision.epsilon, names.get(decision.epsilon, "")]
        row += [len(decision.tests), decision.replaced, decision.winning_rate]
        rows.append([*row, _verdict(figures, decision)])
    note = (
        "epsilon: by how much less often the system may be at least as good, because it costs "
        "less; the values for experts, trained annotators and crowds are those of Calderon et al. "
        "2025. passes: annotators for whom the test passes; the winning rate must be .50 or more"
    )
    return Table("By epsilon", columns, rows, note, "epsilons")


def _verdict(figures: ReplacementFigures, decision: Decision) -> str:
    """Return whether the system may replace an annotator, in a word."""
    if figures.leaks:
        return "cannot be decided"
    return {True: "yes", False: "no", None: "-"}[decision.may_replace]


def _part_table(figures: ReplacementFigures) -> Table:
    """Return the answer for each kind of link, and for each value of an attribute."""
    columns = [
        Column("by"),
        Column("value"),
        Column("pairs", "count"),
        Column("annotators", "count"),
        Column("advantage", "percent"),
        Column("passes", "count"),
        _WINNING_RATE,
        _MAY_REPLACE,
    ]
    rows: list[Row] = []
    apart = []
    for part in figures.parts:
        if rows and rows[-1][0] != part.by:
            apart.append(len(rows))
        decision = part.decision
        advantage: Cell = decision.advantage
        if not decision.tests:
            advantage = Value(nan, reason=_FEW)
        name = visible(part.name) or f"(no {part.by})"
        row: Row = [visible(part.by), name, part.pairs, len(decision.tests), advantage]
        row += [decision.replaced if decision.tests else None]
        row += [decision.winning_rate if decision.tests else None, _verdict(figures, decision)]
        rows.append(row)
    note = (
        "a kind of link is compared alone, in the pairs in which somebody has one; each row is a "
        "test of its own, not corrected for the number of rows"
    )
    return Table("Where", columns, rows, note, "parts", apart, stub=2)


def _certain_table(figures: ReplacementFigures, certain: CertainPairs) -> Table:
    """Return the pairs of which the system is most certain."""
    columns = [
        Column("threshold", "decimal", digits=3),
        Column("share", "percent"),
        Column("annotators", "count"),
        Column("advantage", "percent"),
        _WINNING_RATE,
        _MAY_REPLACE,
    ]
    decision = certain.decision
    row: Row = [
        Value(nan, reason="no share passes on the first half"),
        0.0,
        None,
        None,
        None,
        "no",
    ]
    if decision is not None:
        row = [
            certain.threshold,
            certain.share,
            len(decision.tests),
            decision.advantage,
            decision.winning_rate,
            _verdict(figures, decision),
        ]
    note = (
        "pairs ordered by the mean probability of the system's links: the largest share that "
        "passes. The threshold is chosen on a random half of the pairs; all other columns are of "
        "the other half"
    )
    if certain.unknown:
        note += f". {certain.unknown} pairs without probabilities never reach it"
    return Table("The most certain pairs", columns, [row], note, "certain")


def _power_table(unit: str, power: Power) -> Table:
    """Return how often a good system passes with each number of pairs."""
    columns = [
        Column(f"{unit}s", "count", key="units"),
        Column("passes", "percent"),
        Column(""),
    ]
    sizes = dict(power.by_size) | {power.units: power.passing}
    rows: list[Row] = []
    for units, passing in sorted(sizes.items()):
        rows.append([units, passing, "at hand" if units == power.units else ""])
    needed = "more than 1,000,000" if power.needed is None else f"about {power.needed:,}"
    note = (
        "how often a system passes that is as good as the annotators: in samples of the units at "
        f"hand, with the sign of d at random; {needed} are needed for 80%"
    )
    if power.drawn_from < power.units:
        note += f". The samples are of {power.drawn_from:,} units, chosen at random"
    return Table("How many are needed", columns, rows, note, "power")


def _likeness_table(figures: ReplacementFigures) -> Table:
    """Return how alike every two are."""
    likeness = figures.likeness
    kind = "decimal" if figures.ordered else "percent"
    name = "mean squared distance" if figures.ordered else "mean likeness"
    columns = [
        Column("first"),
        Column("second"),
        Column("pairs", "count"),
        Column("the same", "count", key="same"),
        Column(name, kind, key="likeness"),
    ]
    rows: list[Row] = []
    for j, first in enumerate(likeness.names):
        for k in range(j + 1, len(likeness.names)):
            mean = float(likeness.means[j, k])
            row: Row = [visible(first), visible(likeness.names[k])]
            row += [int(likeness.shared[j, k]), int(likeness.same[j, k])]
            rows.append([*row, -mean if figures.ordered else mean])
    note = "the same: pairs in which both are equal in what is compared"
    return Table("How alike they are", columns, rows, note, "likeness", stub=2)
