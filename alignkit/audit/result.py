"""Read sheets back, and hold what judges found: every figure once, with how to show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from alignkit._support.arguments import check_arguments
from alignkit.agreement.kappa import Contingency
from alignkit.audit.audit import Audit
from alignkit.audit.filled import Filled, read_sheets
from alignkit.audit.judges import agreement_figures, confusions, group_figures, upheld_figures
from alignkit.audit.key import read_key
from alignkit.audit.shares import AuditFigure, AuditResamples, correction_figures, share_figures
from alignkit.audit.tables import audit_csv, audit_tables, head_lines
from alignkit.errors import OptionError, UnknownNameError
from alignkit.stats.ratios import none_if_nan
from alignkit.stats.resampling import FEW_PAIRS, check_drawing
from alignkit.tables.media import Report, get_medium
from alignkit.version import __version__


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult:
    """What judges found in an audit; `print` shows the tables.

    Parameters
    ----------
    audit
        What was judged, from the key.
    filled
        What the judges said.
    drawing
        How intervals were drawn.
    by
        The attribute that some figures are told by; empty: none.
    figures
        Every figure, see `Figure`.
    confusions
        For every two judges the table of their judgments.
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

    def __str__(self) -> str:
        return self.show()

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
        """Return one figure; see `Figure` for the names."""
        wanted = (kind, first, second, origin, statistic, group)
        for figure in self.figures:
            names = (
                figure.kind,
                figure.first,
                figure.second,
                figure.origin,
                figure.statistic,
                figure.group,
            )
            if names == wanted:
                return figure
        known = dict.fromkeys(figure.kind for figure in self.figures)
        raise UnknownNameError("figure", " ".join(filter(None, wanted)), known)

    @property
    def signature(self) -> str:
        """The settings behind the numbers, in one line."""
        drawing = self.drawing
        newcombe = "newcombe/" if self.audit.upheld else ""
        return (
            f"{self.audit.signature}|read:{__version__}|interval:wilson/{newcombe}bootstrap|"
            f"confidence:{drawing.confidence:g}|resamples:{drawing.resamples}|seed:{drawing.seed}"
        )

    @property
    def cautions(self) -> list[str]:
        """What to know before one believes the numbers."""
        cautions = []
        for judge in self.filled.judges:
            judged = len(self.filled.judgments[judge])
            known = not self.audit.judges or judge in self.audit.judges
            total = sum(item.given_to(judge) or not known for item in self.audit.items)
            if not known:
                cautions.append(
                    f"nothing was given to {judge}: who has judged there may have known the items"
                )
                continue
            if judged < total:
                cautions.append(
                    f"{judge} has judged {judged} of {total} items; the others are in no share"
                )
        if len(self.filled.judges) == 1:
            cautions.append(
                "one judge: how far judgments can be trusted is not known; have a second"
            )
        few = [name for name in self.audit.origins if 0 < self._judged(name) < FEW_PAIRS]
        if few:
            cautions.append(
                f"fewer than about {FEW_PAIRS} items of {', '.join(few)}: the bootstrap's "
                "intervals are too narrow there; those of one judge (Wilson's) hold for any number"
            )
        return cautions

    def _judged(self, origin: str) -> int:
        said = self.filled.judgments.values()
        return sum(any(item.id in judged for judged in said) for item in self.audit.of(origin))

    def show(self, medium: str = "text") -> str:
        """Return the tables in a medium, with what stands around them."""
        written = get_medium(medium)
        tables = audit_tables(self.audit, self.figures, self.confusions, self.drawing, by=self.by)
        report = Report(
            head_lines(self.audit, self.filled),
            [table.sheet() for table in tables],
            self.cautions,
            self.signature,
        )
        return written.report(report)

    def csv(self) -> str:
        """Return a row for each figure, then the cautions and the signature."""
        return audit_csv(self.figures, self.cautions, self.signature)

    def to_records(self) -> list[dict[str, object]]:
        """Return a dictionary for each figure."""
        return [asdict(figure) for figure in self.figures]

    def to_json(self) -> dict[str, object]:
        """Return everything as JSON takes it: NaN is None."""
        findings = self.filled.findings
        return {
            "kind": self.audit.kind,
            "signature": self.signature,
            "judges": list(self.filled.judges),
            "judgments": list(self.audit.scale.names),
            **({"upheld": list(self.audit.upheld)} if self.audit.upheld else {}),
            **({"by": self.by} if self.by else {}),
            "origins": {name: asdict(part) for name, part in self.audit.origins.items()},
            "figures": [
                {
                    name: none_if_nan(value) if isinstance(value, float) else value
                    for name, value in record.items()
                }
                for record in self.to_records()
            ],
            "confusions": [
                {"first": first, "second": second, "table": [list(row) for row in part.table]}
                for (first, second), part in self.confusions.items()
            ],
            "items": self._items(),
            "found": dict(Counter(part.kind for part in findings)),
            "findings": [{**asdict(part), "says": str(part)} for part in findings],
            "cautions": self.cautions,
        }

    def _items(self) -> list[dict[str, object]]:
        """Return each item with where it comes from and what was said of it."""
        given = (("judgments", self.filled.judgments), ("remarks", self.filled.remarks))
        records: list[dict[str, object]] = []
        for item in self.audit.items:
            shown = dict(zip(self.audit.columns, item.cells, strict=True))
            said = {
                name: {judge: texts[item.id] for judge, texts in of.items() if item.id in texts}
                for name, of in given
            }
            facts = dict(item.facts)
            records.append(
                {"item": item.id, "origin": item.origin, **shown, "facts": facts, **said}
            )
        return records


def read_audit(
    sheets: str | Path | Sequence[str | Path],
    key: str | Path,
    *,
    by: str | None = None,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 12345,
) -> AuditResult:
    """Read the sheets that judges have filled, and compute all that follows.

    Parameters
    ----------
    sheets
        The sheets, or the only one: TSV or CSV, as they were written or as a spreadsheet saved
        them, the rows in any order.
    key
        The key that was written with them.
    by
        An attribute: figures for each of its values too. Of pairs any that they have, ``"day"``,
        ``"week"``, ``"month"`` or ``"judgment"``; of phrases that by which they were drawn, which
        is the default of both.
    confidence, resamples, seed
        Of the intervals, the last two of the bootstrap over items.

    Raises
    ------
    FormatError
        If the key or a sheet is damaged; the message has file and line.
    OptionError
        If nothing was judged, or an option is out of range.
    UnknownNameError
        If the key does not know the attribute of any item.

    References
    ----------
    Cohen 1960, A coefficient of agreement for nominal scales, Educational and Psychological
    Measurement 20:37-46. Newcombe 1998, Interval estimation for the difference between independent
    proportions, Statistics in Medicine 17:873-890. Wilson 1927, Journal of the American Statistical
    Association 22:209-212.
    """
    check_arguments(read_audit, locals(), apart=["sheets", "key"])
    check_drawing(resamples, confidence)
    if seed < 0:
        raise OptionError(f"seed is {seed}; give 0 or more")
    paths = [sheets] if isinstance(sheets, (str, Path)) else list(sheets)
    audit = read_key(key)
    filled = read_sheets([str(path) for path in paths], audit)
    drawing = AuditResamples(confidence, resamples, seed)
    by = audit.by if by is None else by
    figures = (
        *share_figures(audit, filled, drawing),
        *upheld_figures(audit, filled, drawing),
        *agreement_figures(audit, filled, drawing),
        *correction_figures(audit, filled, drawing),
        *(group_figures(audit, filled, by, drawing) if by else ()),
    )
    return AuditResult(audit, filled, drawing, by, figures, confusions(audit, filled))
