"""The result of an audit: every figure, with tables, CSV and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from operator import attrgetter
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
from alignkit.stats.defaults import CONFIDENCE, RESAMPLES, SEED
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
    r"""The result of an audit; printing it shows the tables.

    Returned by `read_audit`.

    Parameters
    ----------
    audit : The audit, from the key.
    filled : The judgments.
    drawing : The options of intervals.
    by : The attribute for figures by group; empty for none.
    figures : Every figure, see `AuditFigure`.
    confusions : The table of judgments of every two judges.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from alignkit import read_corpus
    >>> from alignkit.audit import draw_phrases, read_audit, write_audit
    >>> audit = draw_phrases(read_corpus("samples/paraphrases.jsonl"), "eflomal", "gold", n=4)
    >>> with TemporaryDirectory() as folder:
    ...     sheet, key = write_audit(audit, folder, judges=["anna"])
    ...     empty = Path(sheet).read_text("utf-8")
    ...     _ = Path(sheet).write_text(empty.replace("\t\t\t", "\tcorrect\t\t"), "utf-8")
    ...     result = read_audit(sheet, key)
    >>> share = result.figures[0]
    >>> share.first, share.origin, share.statistic, share.count, share.total
    ('anna', 'hypothesis', 'correct', 2, 2)
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
        r"""Return one figure; see `AuditFigure` for the names.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from alignkit import read_corpus
        >>> from alignkit.audit import draw_phrases, read_audit, write_audit
        >>> audit = draw_phrases(read_corpus("samples/paraphrases.jsonl"), "eflomal", "gold", n=4)
        >>> with TemporaryDirectory() as folder:
        ...     sheet, key = write_audit(audit, folder, judges=["anna"])
        ...     text = Path(sheet).read_text("utf-8").replace("\t\t\t", "\tcorrect\t\t")
        ...     _ = Path(sheet).write_text(text, "utf-8")
        ...     result = read_audit(sheet, key)
        >>> result.figure("share", "correct", first="anna", origin="hypothesis").value
        1.0
        """
        wanted = (kind, first, second, origin, statistic, group)
        names = attrgetter("kind", "first", "second", "origin", "statistic", "group")
        for figure in self.figures:
            if names(figure) == wanted:
                return figure
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
        few = []
        for name in self.audit.origins:
            units = {item.unit for item in self.audit.of(name) if item.id in judged_ids}
            if 0 < len(units) < FEW_PAIRS:
                few.append(name)
        if few:
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
            shown = whole
            if not several:  # the agreement on items of the only origin is that on all
                shown = [figure for figure in whole if not figure.origin]
            tables += [_agreement(shown, level), *_confusions(self.confusions)]
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
        record: dict[str, object] = {
            "kind": audit.kind,
            "signature": self.signature,
            "judges": list(self.filled.judges),
            "judgments": list(audit.scale.names),
        }
        if audit.upheld:
            record["upheld"] = list(audit.upheld)
        if self.by:
            record["by"] = self.by
        record["origins"] = {name: asdict(origin) for name, origin in audit.origins.items()}
        record["figures"] = jsonable(self.to_records())
        confusions = []
        for (first, second), confusion in self.confusions.items():
            table = [list(row) for row in confusion.table]
            confusions.append({"first": first, "second": second, "table": table})
        record["confusions"] = confusions
        record["items"] = self._items()
        record["found"] = dict(Counter(finding.kind for finding in findings))
        record["findings"] = [{**asdict(finding), "says": str(finding)} for finding in findings]
        record["cautions"] = self.cautions
        return record

    def _items(self) -> list[dict[str, object]]:
        """Return each item with its origin and its judgments."""

        def by_judge(texts: Mapping[str, Mapping[str, str]], id: str) -> dict[str, str]:
            return {judge: given[id] for judge, given in texts.items() if id in given}

        records: list[dict[str, object]] = []
        for item in self.audit.items:
            record: dict[str, object] = {"item": item.id, "origin": item.origin}
            record.update(zip(self.audit.columns, item.cells, strict=True))
            record["facts"] = dict(item.facts)
            record["judgments"] = by_judge(self.filled.judgments, item.id)
            record["remarks"] = by_judge(self.filled.remarks, item.id)
            records.append(record)
        return records


@naming_keywords
def read_audit(
    sheets: str | Path | Sequence[str | Path],
    key: str | Path,
    *,
    by: str | None = None,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> AuditResult:
    r"""Read the sheets that judges filled in, and compute all figures.

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

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from alignkit import read_corpus
    >>> from alignkit.audit import draw_phrases, write_audit
    >>> audit = draw_phrases(read_corpus("samples/paraphrases.jsonl"), "eflomal", "gold", n=4)
    >>> with TemporaryDirectory() as folder:
    ...     sheet, key = write_audit(audit, folder, judges=["anna"])
    ...     empty = Path(sheet).read_text("utf-8")
    ...     _ = Path(sheet).write_text(empty.replace("\t\t\t", "\tcorrect\t\t"), "utf-8")
    ...     result = read_audit(sheet, key)
    >>> sorted(result.filled.judgments["anna"].values())
    ['correct', 'correct', 'correct', 'correct']
    """
    check_arguments(read_audit, locals(), apart=["sheets", "key"])
    check_drawing(resamples, confidence, seed)
    paths = [sheets] if isinstance(sheets, (str, Path)) else sheets
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
    """Return a figure as the cell of a table."""
    return Value(figure.value, figure.low, figure.high, figure.reason)


def _shares(audit: Audit, figures: Sequence[AuditFigure], level: str) -> Table:
    """Return the table of the shares of judgments, by origin and judge."""
    columns = [Column("origin"), Column("judge"), Column("judgments", "count")]
    columns += [Column(name, "percent") for name in audit.scale.names]
    grouped = _grouped(figures, {"share"}, attrgetter("origin", "first"))
    rows: list[list[Cell]] = []
    for (origin, judge), shares in grouped.items():
        if audit.origins[origin].drawn:
            rows.append([origin, judge, shares[0].total, *map(_value, shares)])
    note = f"in brackets {level}: Wilson's interval; {UNIT}"
    return Table("Shares of judgments, %", columns, rows, note, apart=_apart(rows), stub=2)


def _apart(rows: Sequence[Sequence[Cell]]) -> list[int]:
    """Return the rows that begin a new group, if groups have several rows."""
    starts = [k for k in range(1, len(rows)) if rows[k][0] != rows[k - 1][0]]
    return starts if len(starts) < len(rows) - 1 else []


def _upheld(audit: Audit, figures: Sequence[AuditFigure], level: str, by: str = "") -> Table:
    """Return the table of upheld items by judge and origin, or by group, judge and origin."""
    drawn = [name for name in audit.origins if audit.origins[name].drawn]
    stub = [Column("judge")]
    if by:
        stub.insert(0, Column(by, key="group"))
    columns = list(stub)
    for name in drawn:
        columns += [Column("judged", "count", name), Column("upheld", "percent", name)]
    if len(drawn) > 1:
        columns.append(Column("difference", "percent", signed=True))
    grouped = _grouped(figures, {"upheld", "difference"}, attrgetter("group", "first"))
    rows: list[list[Cell]] = []
    for (group, judge), (*shares, difference) in grouped.items():
        if not any(figure.total for figure in shares):
            continue
        row: list[Cell] = [group, judge] if by else [judge]
        for figure in shares:
            if figure.origin in drawn:
                row += [figure.total, _value(figure)]
        if len(drawn) > 1:
            row.append(_value(difference))
        rows.append(row)
    note = f"upheld: judged {' or '.join(audit.upheld)}; in brackets {level}: Wilson's interval"
    if len(drawn) > 1:
        note += ", for a difference Newcombe's"
    note += f"; {UNIT}"
    if any(figure.first == ALL for figure in figures):
        note += "; every judge: items upheld by all who judged them"
    title = "Upheld, %"
    apart: list[int] = []
    if by:
        title += f", by {by}"
        apart = _apart(rows)
    return Table(title, columns, rows, note, apart=apart, stub=len(stub))


def _agreement(figures: Sequence[AuditFigure], level: str, by: str = "") -> Table:
    """Return the table of the agreement of judges, by origin or by group."""
    columns = [
        Column(by, key="group") if by else Column("origin"),
        Column("judges"),
        Column("items", "count"),
        Column("agree, %", "percent", key="observed"),
        Column("kappa", "decimal"),
    ]

    def key(figure: AuditFigure) -> tuple[str, str]:
        judges = f"{figure.first} ~ {figure.second}" if figure.second else "mean"
        return figure.group or figure.origin or "all", judges

    rows: list[list[Cell]] = []
    grouped = _grouped(figures, {"agreement", "mean agreement"}, key)
    for (part, judges), measures in grouped.items():
        if measures[0].items:
            rows.append([part, judges, measures[0].items, *map(_value, measures)])
    note = (
        f"Cohen's kappa, over items that both judged; in brackets {level} of a bootstrap over "
        "sentence pairs"
    )
    title = "Agreement of the judges"
    if by:
        title += f" by {by}"
    return Table(title, columns, rows, note, apart=_apart(rows), stub=2)


def _confusions(confusions: Mapping[tuple[str, str], Contingency]) -> Iterator[Table]:
    """Yield the table of judgments of every two judges."""
    for (first, second), confusion in confusions.items():
        columns = [Column(first, key="first")]
        rows: list[list[Cell]] = []
        for name, row in zip(confusion.categories, confusion.table, strict=True):
            columns.append(Column(name, "count", second, key=f"second_{name}"))
            rows.append([name, *row])
        yield Table(f"Judgments of {first} (rows) and {second} (columns)", columns, rows)


def _rates(figures: Sequence[AuditFigure], level: str) -> Table:
    """Return the table of rates as scored and as corrected by each judge."""
    heads = [
        Column("rate"),
        Column("judge"),
        Column("items", "count"),
        Column("as scored", "percent"),
        Column("corrected", "percent"),
        Column("at most", "percent"),
    ]
    scored = {figure.statistic: figure.value for figure in figures if figure.kind == "rate"}
    grouped = _grouped(figures, {"strict rate", "lenient rate"}, attrgetter("statistic", "first"))
    rows: list[list[Cell]] = []
    for (name, judge), corrected in grouped.items():
        rows.append([name, judge, corrected[0].items, scored[name], *map(_value, corrected)])
    note = (
        "corrected: the score if the reference had the errors judged correct; at most: also "
        f"those judged uncertain; in brackets {level} as for shares, for this fixed corpus"
    )
    return Table("Scores corrected by judgments, %", heads, rows, note, apart=_apart(rows), stub=2)
