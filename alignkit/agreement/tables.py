"""Lay a report of agreement out as tables of plain text, for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import NamedTuple

from alignkit.agreement.grid import decimal, layout, percent, whole
from alignkit.agreement.report import AgreementReport, AgreementSection
from alignkit.arguments import check_arguments
from alignkit.visible import visible

__all__ = ["render_report"]


class _Column(NamedTuple):
    span: str
    heading: str
    key: str
    show: Callable[[float], str]


class _Row(NamedTuple):
    label: str
    pairs: int
    figures: Mapping[str, float]


_LINKS = {"possible": "poss", "sure": "sure", "eq2": "eq. 2"}
_RATIOS = {"precision": "P", "recall": "R", "f1": "F1"}


def _overlap_columns(level: str, links: Sequence[str]) -> list[_Column]:
    return [
        _Column(_LINKS[kind], heading, f"{level}.{kind}.{ratio}", percent)
        for kind in links
        for ratio, heading in _RATIOS.items()
    ]


_WORDS = _overlap_columns("words", ("possible", "sure", "eq2"))
_PHRASES = _overlap_columns("phrases", ("possible", "sure"))
_CELLS = [
    _Column(span, heading, f"cells.{key}.{measure}", decimal)
    for measure, span in (("kappa", "Cohen's kappa"), ("ac1", "Gwet's AC1"))
    for key, heading in (("all", "3-way"), ("possible", "poss"), ("sure", "sure"))
] + [
    _Column("% linked", _LINKS[kind], f"cells.{kind}.prevalence", percent)
    for kind in ("possible", "sure")
]
_ALPHA = [
    _Column(_LINKS[kind], heading, f"alpha.{kind}.{distance}", decimal)
    for kind in ("possible", "sure")
    for distance, heading in (("jaccard", "Jaccard"), ("dice", "Dice"), ("masi", "MASI"))
]


def render_report(report: AgreementReport) -> str:
    """Return a report as tables; what is undefined or cannot be computed is "-".

    Precision, recall and F1 are percentages. The row of a group is the mean over the pairs of
    annotators.

    Examples
    --------
    >>> from alignkit.agreement.report import agreement_report
    >>> from alignkit.alignment import Alignment
    >>> from alignkit.corpus import Corpus, SentencePair
    >>> pair = SentencePair("1", ("he", "left"), ("he", "went", "away"), {
    ...     "A": Alignment.parse("0-0 1-1 1-2"), "B": Alignment.parse("0-0 1-1")})
    >>> print(render_report(agreement_report(Corpus([pair]))).splitlines()[0])
    Agreement of A, B: 1 sentence pair, 1 annotated by two or more
    """
    check_arguments(render_report, locals())
    rows = _rows(report)
    identical = "identical ones included" if report.include_identical else "identical ones left out"
    blocks = [
        _head(report),
        f"Words, {identical}; the second annotator is the reference\n{_table(rows, _WORDS)}",
        f"Phrase pairs, {identical}\n{_table(rows, _PHRASES)}",
        f"All cells, one for each source word and target word\n{_table(rows, _CELLS)}",
        "Krippendorff's alpha, the set of target words of each source word\n"
        + _table(_with_joint(report, rows), _ALPHA),
        "Fleiss' kappa, the source words proposed for each target word\n" + _fleiss(report),
        report.signature,
    ]
    return "\n\n".join(blocks) + "\n"


def _head(report: AgreementReport) -> str:
    overall = report.overall
    lines = [
        f"Agreement of {visible(', '.join(report.annotators))}: {overall.pairs} sentence "
        f"{'pair' if overall.pairs == 1 else 'pairs'}, {overall.used} annotated by two or more"
    ]
    lines += [f"  {count} {visible(reason)}" for reason, count in overall.left_out.items()]
    return "\n".join(lines)


def _rows(report: AgreementReport) -> list[_Row]:
    rows = [
        _Row(" ~ ".join(one.annotators), one.pairs, one.figures())
        for one in report.overall.comparisons
    ]
    if len(rows) > 1:
        rows.append(_Row("mean", report.overall.used, report.overall.mean))
    return rows + [_Row(_group(section), section.used, section.mean) for section in report.groups]


def _with_joint(report: AgreementReport, rows: list[_Row]) -> list[_Row]:
    """Add a row for all annotators together where that says more than their one comparison."""
    compared = len(report.overall.comparisons)
    if compared == 1:
        return rows
    joint = {f"alpha.{name}": found.alpha for name, found in report.overall.alpha.items()}
    row = _Row("all annotators", report.overall.used, joint)
    return [*rows[: compared + 1], row, *rows[compared + 1 :]]


def _group(section: AgreementSection) -> str:
    return section.name or "(none)"


def _table(rows: Sequence[_Row], columns: Sequence[_Column]) -> str:
    body = [[column.show(row.figures.get(column.key, nan)) for column in columns] for row in rows]
    labels = [(row.label, str(row.pairs)) for row in rows]
    return layout(labels, [(column.span, column.heading) for column in columns], body)


def _fleiss(report: AgreementReport) -> str:
    names = range(len(report.annotators), 0, -1)
    shares = ("null", "possible", "sure")
    headings = [("", "kappa"), ("", "observed"), ("", "expected"), ("", "items")]
    headings += [("% of judgements", name) for name in shares]
    headings += [("items on which n agree", str(n) if n > 1 else "none") for n in names]
    labels, body = [], []
    for section in (report.overall, *report.groups):
        found = section.fleiss
        labels.append((_group(section), str(found.pairs) if found else "-"))
        if found is None:
            body.append(["-"] * len(headings))
            continue
        ratios = (found.kappa, found.observed, found.expected)
        body.append(
            [
                *map(decimal, ratios),
                whole(found.items),
                *(percent(found.categories[name]) for name in shares),
                *(whole(found.agreeing[n]) for n in names),
            ]
        )
    return layout(labels, headings, body)
