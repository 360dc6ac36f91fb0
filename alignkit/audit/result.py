"""The result of an audit: every figure, with tables, CSV and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import TypeVar

from alignkit._support.arguments import check_arguments, naming_keywords
from alignkit._support.values import jsonable
from alignkit.agreement.kappa import Contingency
from alignkit.audit.audit import Audit
from alignkit.audit.figures import ALL, AuditFigure, AuditResamples, all_figures, confusions
from alignkit.audit.filled import Filled, read_sheets
from alignkit.audit.key import read_key
from alignkit.errors import UnknownNameError
from alignkit.stats.resampling import FEW_PAIRS, check_drawing
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.media import csv_lines
from alignkit.tables.result import Result
from alignkit.tables.table import Table
from alignkit.version import __version__

K = TypeVar("K")

UNIT = "unit: the sentence pair, since its items, and all judgments of an item, are alike"


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult(Result):
    """The result of an audit; printing it shows the tables.

    Parameters
    ----------
    audit : The audit, from the key.
    filled : The judgments.
    drawing : The options of intervals.
    by : The attribute for figures by group; empty for none.
    figures : Every figure, see `AuditFigure`.
    confusions : The table of judgments of every two judges.
    """

    audit: Audit
    filled: Filled
    drawing: AuditResamples
    by: str
    figures: tuple[AuditFigure, ...]
    confusions: Mapping[tuple[str, str], Contingency]

    def __repr__(self) -> str:
        judges = ", ".join(self.filled.judges)
        return f"AuditResult({self.audit.kind}, {len(self.audit.items)} items; {judges})"

    def figure(
        self,
        kind: str,
        statistic: str,
        *,
        first: str = "",
        second: str = "",
        origin: str = "",
        group: str = "",
    ) -> AuditFigure:
        """Return one figure; see `AuditFigure` for the names."""
        wanted = (kind, first, second, origin, statistic, group)
        for x in self.figures:
            if (x.kind, x.first, x.second, x.origin, x.statistic, x.group) == wanted:
                return x
        known = dict.fromkeys(figure.kind for figure in self.figures)
        raise UnknownNameError("figure", " ".join(filter(None, wanted)), known)

    @property
    def signature(self) -> str:
        """The settings behind the numbers, in one line."""
        drawing = self.drawing
        newcombe = "newcombe/" if self.audit.upheld else ""
        return (
            f"{self.audit.signature}|read:{__version__}|interval:wilson/{newcombe}bootstrap"
            f"|confidence:{drawing.confidence:g}|resamples:{drawing.resamples}|seed:{drawing.seed}"
        )

    @property
    def cautions(self) -> list[str]:
        """Warnings to read before the numbers."""
        cautions = []
        for judge in self.filled.judges:
            judged = len(self.filled.judgments[judge])
            known = not self.audit.judges or judge in self.audit.judges
            total = sum(item.given_to(judge) or not known for item in self.audit.items)
            if not known:
                cautions.append(
                    f"{judge} was given no items: whoever judged with this name may have "
                    "known the items"
                )
            elif judged < total:
                cautions.append(
                    f"{judge} judged {judged} of {total} items; the other items are not in "
                    "the shares"
                )
        if len(self.filled.judges) == 1:
            cautions.append("only one judge: the reliability is not known; add a second judge")
        judged_ids = set().union(*self.filled.judgments.values())
        units = {
            name: len({item.unit for item in self.audit.of(name) if item.id in judged_ids})
            for name in self.audit.origins
        }
        if few := [name for name, size in units.items() if 0 < size < FEW_PAIRS]:
            cautions.append(
                f"fewer than about {FEW_PAIRS} sentence pairs with items of "
                f"{', '.join(few)}: the intervals of agreement (bootstrap) are too narrow "
                "there; those of shares (Wilson's) are valid for any number"
            )
        return cautions

    @property
    def head(self) -> list[str]:
        """Lines with the items and the judges."""
        audit = self.audit
        judges = ", ".join(self.filled.judges)
        lines = [f"Audit of {audit.kind}: {len(audit.items)} items, judged by {judges}"]
        for name, origin in audit.origins.items():
            if origin.drawn:
                lines.append(f"{name}: {origin.about}; {origin.drawn} drawn of {origin.population}")
        return lines

    def tables(self) -> list[Table]:
        """Return the tables of shares, upheld items, agreement, confusions and rates."""
        audit = self.audit
        figures = self.figures
        level = f"{100 * self.drawing.confidence:g}%"
        whole = [figure for figure in figures if not figure.group]
        parts = [figure for figure in figures if figure.group]
        tables = [_shares(audit, whole, level)]
        if audit.upheld:
            tables.append(_upheld(audit, whole, level))
        if self.confusions:
            several = sum(origin.drawn > 0 for origin in audit.origins.values()) > 1
            asked = [x for x in whole if several or not x.origin]  # of one, it is that of all
            tables += [_agreement(asked, level), *_confusions(self.confusions)]
        if parts and audit.upheld:
            tables.append(_upheld(audit, parts, level, self.by))
        if any(figure.kind == "agreement" for figure in parts):
            tables.append(_agreement(parts, level, self.by))
        if audit.rates:
            tables.append(_rates(figures, level))
        return tables

    def csv(self) -> str:
        """Return a row for each figure, then the cautions and the signature."""
        names = [field.name for field in fields(AuditFigure)]
        blank = [""] * (len(names) - 1)
        rows: list[Sequence[object]] = [[*names, "text"]]
        rows += [[*astuple(figure), ""] for figure in self.figures]
        rows += [["caution", *blank, text] for text in self.cautions]
        return csv_lines([*rows, ["signature", *blank, self.signature]])

    def to_records(self) -> list[dict[str, object]]:
        """Return a dictionary for each figure."""
        return [asdict(figure) for figure in self.figures]

    def to_json(self) -> dict[str, object]:
        """Return everything for JSON; NaN becomes None."""
        audit = self.audit
        findings = self.filled.findings
        tables = self.confusions.items()
        return {
            "kind": audit.kind,
            "signature": self.signature,
            "judges": list(self.filled.judges),
            "judgments": list(audit.scale.names),
            **({"upheld": list(audit.upheld)} if audit.upheld else {}),
            **({"by": self.by} if self.by else {}),
            "origins": {name: asdict(part) for name, part in audit.origins.items()},
            "figures": jsonable(self.to_records()),
            "confusions": [
                {"first": first, "second": second, "table": [list(row) for row in part.table]}
                for (first, second), part in tables
            ],
            "items": self._items(),
            "found": dict(Counter(part.kind for part in findings)),
            "findings": [{**asdict(part), "says": str(part)} for part in findings],
            "cautions": self.cautions,
        }

    def _items(self) -> list[dict[str, object]]:
        """Return each item with its origin and its judgments."""
        records: list[dict[str, object]] = []
        for item in self.audit.items:
            cells = dict(zip(self.audit.columns, item.cells, strict=True))
            judgments, remarks = (
                {judge: texts[item.id] for judge, texts in said.items() if item.id in texts}
                for said in (self.filled.judgments, self.filled.remarks)
            )
            known = {"facts": dict(item.facts), "judgments": judgments, "remarks": remarks}
            records.append({"item": item.id, "origin": item.origin, **cells, **known})
        return records


@naming_keywords
def read_audit(
    sheets: str | Path | Sequence[str | Path],
    key: str | Path,
    *,
    by: str | None = None,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 12345,
) -> AuditResult:
    """Read the sheets that judges filled in, and compute all figures.

    Parameters
    ----------
    sheets : The sheets, or a single one: TSV or CSV, as written or as saved by a spreadsheet, with
        rows in any order.
    key : The key that was written with the sheets.
    by : An attribute: also compute figures for each of its values. For pairs, any of their
        attributes, ``"day"``, ``"week"``, ``"month"`` or ``"judgment"``; for phrases, the attribute
        used for drawing. That is also the default.
    confidence, resamples, seed : Settings of the intervals; the last two are for the bootstrap over
        sentence pairs.

    Raises
    ------
    FormatError : If the key or a sheet is damaged; the message names file and line.
    OptionError : If nothing was judged, or an option is out of range.
    UnknownNameError : If no item in the key has the attribute.

    References
    ----------
    Cohen 1960, A coefficient of agreement for nominal scales, Educational and Psychological
    Measurement 20:37-46. Newcombe 1998, Interval estimation for the difference between independent
    proportions, Statistics in Medicine 17:873-890. Wilson 1927, Journal of the American Statistical
    Association 22:209-212.
    """
    check_arguments(read_audit, locals(), apart=["sheets", "key"])
    check_drawing(resamples, confidence, seed)
    if isinstance(sheets, (str, Path)):
        paths = [sheets]
    else:
        paths = list(sheets)
    audit = read_key(key)
    filled = read_sheets([str(path) for path in paths], audit)
    drawing = AuditResamples(confidence, resamples, seed)
    by = audit.by if by is None else by
    figures = all_figures(audit, filled, by, drawing)
    return AuditResult(audit, filled, drawing, by, figures, confusions(audit, filled))


def _grouped(
    figures: Sequence[AuditFigure], kinds: Collection[str], key: Callable[[AuditFigure], K]
) -> dict[K, list[AuditFigure]]:
    """Return the figures of some kinds by a key, in their order."""
    grouped: dict[K, list[AuditFigure]] = {}
    for figure in figures:
        if figure.kind in kinds:
            grouped.setdefault(key(figure), []).append(figure)
    return grouped


def _value(figure: AuditFigure) -> Value:
    return Value(figure.value, figure.low, figure.high, figure.reason)


def _shares(audit: Audit, figures: Sequence[AuditFigure], level: str) -> Table:
    columns = [
        Column("origin"),
        Column("judge"),
        Column("judgments", "count"),
        *(Column(name, "percent") for name in audit.scale.names),
    ]
    grouped = _grouped(figures, {"share"}, lambda x: (x.origin, x.first))
    rows: list[list[Cell]] = [
        [*k, x[0].total, *map(_value, x)] for k, x in grouped.items() if audit.origins[k[0]].drawn
    ]
    note = f"in brackets {level}: Wilson's interval; {UNIT}"
    return Table("Shares of judgments, %", columns, rows, note, apart=_apart(rows), stub=2)


def _apart(rows: Sequence[Sequence[Cell]]) -> list[int]:
    """Return the rows that begin a new group, if groups have several rows."""
    starts = [k for k in range(1, len(rows)) if rows[k][0] != rows[k - 1][0]]
    return starts if len(starts) < len(rows) - 1 else []


def _upheld(audit: Audit, figures: Sequence[AuditFigure], level: str, by: str = "") -> Table:
    drawn = [name for name in audit.origins if audit.origins[name].drawn]
    stub = [*([Column(by, key="group")] if by else []), Column("judge")]
    columns = [*stub]
    for name in drawn:
        columns += [Column("judged", "count", name), Column("upheld", "percent", name)]
    if len(drawn) > 1:
        columns += [Column("difference", "percent", signed=True)]
    grouped = _grouped(figures, {"upheld", "difference"}, lambda x: (x.group, x.first))
    rows: list[list[Cell]] = []
    for (group, judge), (*shares, difference) in grouped.items():
        if not any(figure.total for figure in shares):
            continue
        row: list[Cell] = [*([group] if by else []), judge]
        for figure in shares:
            if figure.origin in drawn:
                row += [figure.total, _value(figure)]
        rows.append([*row, _value(difference)][: len(columns)])
    note = f"upheld: judged {' or '.join(audit.upheld)}; in brackets {level}: Wilson's interval"
    if len(drawn) > 1:
        note += ", for a difference Newcombe's"
    note += f"; {UNIT}"
    if any(figure.first == ALL for figure in figures):
        note += "; every judge: items upheld by all who judged them"
    title = f"Upheld, %, by {by}" if by else "Upheld, %"
    return Table(title, columns, rows, note, apart=_apart(rows) if by else [], stub=len(stub))


def _agreement(figures: Sequence[AuditFigure], level: str, by: str = "") -> Table:
    columns = [
        Column(by, key="group") if by else Column("origin"),
        Column("judges"),
        Column("items", "count"),
        Column("agree, %", "percent", key="observed"),
        Column("kappa", "decimal"),
    ]
    grouped = _grouped(
        figures,
        {"agreement", "mean agreement"},
        lambda x: (x.group or x.origin or "all", f"{x.first} ~ {x.second}" if x.second else "mean"),
    )
    rows: list[list[Cell]] = [
        [*key, x[0].items, *map(_value, x)] for key, x in grouped.items() if x[0].items
    ]
    note = f"Cohen's kappa, over items that both judged; in brackets {level} of a bootstrap over "
    note += "sentence pairs"
    if by:
        title = f"Agreement of the judges by {by}"
    else:
        title = "Agreement of the judges"
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
    heads = [
        Column("rate"),
        Column("judge"),
        Column("items", "count"),
        Column("as scored", "percent"),
        Column("corrected", "percent"),
        Column("at most", "percent"),
    ]
    plain = {figure.statistic: figure.value for figure in figures if figure.kind == "rate"}
    grouped = _grouped(figures, {"strict rate", "lenient rate"}, lambda x: (x.statistic, x.first))
    rows: list[list[Cell]] = [
        [name, judge, these[0].items, plain[name], *map(_value, these)]
        for (name, judge), these in grouped.items()
    ]
    note = "corrected: the score if the reference had the errors judged correct; at most: also "
    note += f"those judged uncertain; in brackets {level} as for shares, for this fixed corpus"
    return Table("Scores corrected by judgments, %", heads, rows, note, apart=_apart(rows), stub=2)
