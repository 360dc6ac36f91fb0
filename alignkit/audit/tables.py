"""Show an audit as tables: shares, agreement, confusions, and rates that judgments correct."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, fields

from alignkit.agreement.kappa import Contingency
from alignkit.audit.audit import Audit
from alignkit.audit.filled import Filled
from alignkit.audit.shares import ALL, AuditFigure, AuditResamples
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.media import csv_lines
from alignkit.tables.table import Table

_EVERY = "all"


def head_lines(audit: Audit, filled: Filled) -> list[str]:
    """Return what stands above the tables: what was judged by whom."""
    lines = [
        f"Audit of {audit.kind}: {len(audit.items)} items, judged by {', '.join(filled.judges)}"
    ]
    for name, origin in audit.origins.items():
        if origin.drawn:
            lines.append(f"{name}: {origin.about}; {origin.drawn} drawn of {origin.population}")
    return lines


def audit_tables(
    audit: Audit,
    figures: Sequence[AuditFigure],
    confusions: Mapping[tuple[str, str], Contingency],
    drawing: AuditResamples,
    *,
    by: str = "",
) -> list[Table]:
    """Return the tables in their order."""
    level = f"{100 * drawing.confidence:g}%"
    whole = [figure for figure in figures if not figure.group]
    parts = [figure for figure in figures if figure.group]
    tables = [_shares(audit, whole, level)]
    if audit.upheld:
        tables.append(_upheld(audit, whole, level))
    if confusions:
        several = sum(figure.drawn > 0 for figure in audit.origins.values()) > 1
        asked = [
            figure for figure in whole if several or not figure.origin
        ]  # of one, it is that of all
        tables += [_agreement(asked, level), *_confusions(confusions)]
    if parts and audit.upheld:
        tables.append(_upheld(audit, parts, level, by))
    if any(figure.kind == "agreement" for figure in parts):
        tables.append(_agreement(parts, level, by))
    if audit.rates:
        tables.append(_rates(figures, level))
    return tables


def _value(figure: AuditFigure) -> Value:
    return Value(figure.value, figure.low, figure.high, figure.reason)


def _shares(audit: Audit, figures: Sequence[AuditFigure], level: str) -> Table:
    columns = [
        Column("origin"),
        Column("judge"),
        Column("judgments", "count"),
        *(Column(name, "percent") for name in audit.scale.names),
    ]
    grouped: dict[tuple[str, str], list[AuditFigure]] = {}
    for figure in figures:
        if figure.kind == "share" and audit.origins[figure.origin].drawn:
            grouped.setdefault((figure.origin, figure.first), []).append(figure)
    rows: list[list[Cell]] = [
        [origin, judge, these[0].total, *map(_value, these)]
        for (origin, judge), these in grouped.items()
    ]
    note = f"in brackets {level}: of one judge Wilson's interval"
    if any(figure.interval == "bootstrap" for these in grouped.values() for figure in these):
        note += "; of all judges a bootstrap over items"
    return Table("Shares of judgments, %", columns, rows, note, apart=_apart(rows), stub=2)


def _apart(rows: Sequence[Sequence[Cell]]) -> list[int]:
    """Return the rows that begin another group than the row before, if groups have several rows."""
    starts = [k for k in range(1, len(rows)) if rows[k][0] != rows[k - 1][0]]
    return starts if len(starts) < len(rows) - 1 else []


def _upheld(audit: Audit, figures: Sequence[AuditFigure], level: str, by: str = "") -> Table:
    drawn = [name for name in audit.origins if audit.origins[name].drawn]
    stub = [*([Column(by, key="group")] if by else []), Column("judge")]
    columns = [*stub]
    for name in drawn:
        columns += [Column("judged", "count", name), Column("upheld", "percent", name)]
    columns += [Column("difference", "percent", signed=True)] if len(drawn) > 1 else []
    grouped: dict[tuple[str, str], list[AuditFigure]] = {}
    for figure in figures:
        if figure.kind in ("upheld", "difference"):
            grouped.setdefault((figure.group, figure.first), []).append(figure)
    rows: list[list[Cell]] = []
    for (group, judge), (*shares, difference) in grouped.items():
        if not any(figure.total for figure in shares):
            continue
        row: list[Cell] = [*([group] if by else []), judge]
        for figure in shares:
            row += [figure.total, _value(figure)] if figure.origin in drawn else []
        rows.append([*row, _value(difference)][: len(columns)])
    note = f"upheld: judged {' or '.join(audit.upheld)}; in brackets {level}: Wilson's interval"
    note += ", of a difference Newcombe's" if len(drawn) > 1 else ""
    if any(figure.first == ALL for figure in figures):
        note += (
            "; of all judges, whose judgments of an item are not independent, a bootstrap over "
            "items; every judge: items that all who judged them uphold"
        )
    title = f"Upheld, %, by {by}" if by else "Upheld, %"
    apart = _apart(rows) if by else []
    return Table(title, columns, rows, note, apart=apart, stub=len(stub))


def _agreement(figures: Sequence[AuditFigure], level: str, by: str = "") -> Table:
    columns = [
        Column(by, key="group") if by else Column("origin"),
        Column("judges"),
        Column("items", "count"),
        Column("agree, %", "percent", key="observed"),
        Column("kappa", "decimal"),
    ]
    grouped: dict[tuple[str, str], list[AuditFigure]] = {}
    for figure in figures:
        if figure.kind in ("agreement", "mean agreement") and figure.items:
            who = f"{figure.first} ~ {figure.second}" if figure.second else "mean"
            grouped.setdefault((figure.group or figure.origin or _EVERY, who), []).append(figure)
    rows: list[list[Cell]] = [
        [origin, who, these[0].items, *map(_value, these)]
        for (origin, who), these in grouped.items()
    ]
    note = (
        f"Cohen's kappa, over items that both judged; in brackets {level} of a bootstrap over items"
    )
    title = f"Agreement of the judges by {by}" if by else "Agreement of the judges"
    return Table(title, columns, rows, note, apart=_apart(rows), stub=2)


def _confusions(confusions: Mapping[tuple[str, str], Contingency]) -> Iterator[Table]:
    for (first, second), confusion in confusions.items():
        columns = [
            Column(first, key="first"),
            *(Column(name, "count", second, key=f"second_{name}") for name in confusion.categories),
        ]
        rows: list[list[Cell]] = [
            [name, *row] for name, row in zip(confusion.categories, confusion.table, strict=True)
        ]
        yield Table(f"Judgments of {first} (rows) and {second} (columns)", columns, rows)


def _rates(figures: Sequence[AuditFigure], level: str) -> Table:
    columns = [
        Column("rate"),
        Column("judge"),
        Column("items", "count"),
        Column("as scored", "percent"),
        Column("corrected", "percent"),
        Column("at most", "percent"),
    ]
    plain = {figure.statistic: figure.value for figure in figures if figure.kind == "rate"}
    grouped: dict[tuple[str, str], dict[str, AuditFigure]] = {}
    for figure in figures:
        if figure.kind in ("strict rate", "lenient rate"):
            grouped.setdefault((figure.statistic, figure.first), {})[figure.kind] = figure
    rows: list[list[Cell]] = [
        [name, judge, these["strict rate"].items, plain[name],
         _value(these["strict rate"]), _value(these["lenient rate"])]
        for (name, judge), these in grouped.items()
    ]  # fmt: skip
    note = (
        "corrected: had the reference those errors that are judged correct; at most: and those "
        f"judged uncertain; in brackets {level}, as of the shares, the corpus taken as it is"
    )
    return Table(
        "What judgments make of the score, %", columns, rows, note, apart=_apart(rows), stub=2
    )


def audit_csv(figures: Sequence[AuditFigure], cautions: Sequence[str], signature: str) -> str:
    """Return a row for each figure, then those of the cautions and the signature."""
    names = [field.name for field in fields(AuditFigure)]
    blank = [""] * (len(names) - 1)
    rows: list[Sequence[object]] = [[*names, "text"]]
    rows += [[*astuple(figure), ""] for figure in figures]
    rows += [["caution", *blank, text] for text in cautions]
    rows.append(["signature", *blank, signature])
    return csv_lines(rows)
