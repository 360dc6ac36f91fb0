"""Lay the numbers of an agreement out as HTML tables, with what has to be said beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan

from alignkit.agreement.comparison import Comparison
from alignkit.agreement.corrected_result import CorrectedAgreement, CorrectedSection
from alignkit.agreement.overlap import OverlapRow, overlap
from alignkit.agreement.report import AgreementReport, AgreementSection
from alignkit.corpus import Corpus
from alignkit.report.html import isolated_text, safe_text
from alignkit.report.html_table import decimal, html_table, percent
from alignkit.report.more_pairs import further_pairs

__all__ = [
    "LABELS",
    "automatic_table",
    "cells_table",
    "interval_text",
    "level_table",
    "more_table",
    "undefined_notes",
    "used_table",
    "warnings_of",
]

LABELS = {
    "phrases-sure": "phrase pairs of sure links",
    "phrases-possible": "phrase pairs of possible links",
    "links-sure": "sure links",
    "links-possible": "possible links",
}
"""What each result is about; possible links are all links, the sure ones included."""

Results = Mapping[str, CorrectedAgreement]

_NAMES = {"possible": "possible", "sure": "sure", "eq2": "sure in possible"}


def interval_text(section: CorrectedSection) -> str:
    """Return the interval of C in brackets; "-" where there is none."""
    found = section.interval
    if found is None or isnan(found.low):
        return "-"
    return f"[{decimal(found.low)}, {decimal(found.high)}]"


def level_table(level: str, report: AgreementReport, results: Results) -> str:
    """Return the table of words or of phrases: overlap and agreement beyond chance.

    Parameters
    ----------
    level
        ``"words"`` or ``"phrases"``.
    report
        The other statistics.
    results
        The agreements beyond chance, by name.
    """
    unit = "links" if level == "words" else "phrases"
    kinds = ("possible", "sure", "eq2") if level == "words" else ("possible", "sure")
    names = next(iter(results.values())).annotators
    body: list[list[str]] = []
    apart = []
    for section in (report.overall, *report.groups):
        apart.append(len(body))
        comparison = _comparison(section, names)
        for kind in kinds:
            found = _same(results.get(f"{unit}-{kind}"), section, report)
            body.append([_name(section), _NAMES[kind], *_overlap(comparison, level, kind, found)])
    confidence = next(iter(_confidences(results)), None)
    above = "interval" if confidence is None else f"{100 * confidence:g}% interval"
    headings = ["", "links", "precision", "recall", "F1", "used", "pi", "pi0", "C", above]
    caption = "Words: links" if level == "words" else "Phrases: atomic phrase pairs"
    spans = [("", 2), ("overlap (%)", 3), ("beyond chance", 5)]
    return html_table(caption, headings, body, spans=spans, texts=2, apart=apart[1:])


def _overlap(
    comparison: Comparison | None, level: str, kind: str, found: CorrectedSection | None
) -> list[str]:
    row = None if comparison is None else comparison.overlap.rows()[f"{level}.{kind}"]
    cells = _ratios(row)
    if found is None:
        return [*cells, *[""] * 5]
    numbers = (decimal(found.pi), decimal(found.pi0), decimal(found.C))
    return [*cells, str(found.used), *numbers, interval_text(found)]


def _ratios(row: OverlapRow | None) -> list[str]:
    values = (nan,) * 3 if row is None else (row.precision, row.recall, row.f1)
    return [percent(value) for value in values]


def _confidences(results: Results) -> Iterator[float]:
    return (one.interval.confidence for one in results.values() if one.interval is not None)


def _comparison(section: AgreementSection, names: tuple[str, str]) -> Comparison | None:
    return next((one for one in section.comparisons if one.annotators == names), None)


def _same(
    result: CorrectedAgreement | None, section: AgreementSection, report: AgreementReport
) -> CorrectedSection | None:
    """Return the part of a result that is about the same sentence pairs."""
    if result is None or section is report.overall:
        return result
    return next((group for group in result.groups if group.name == section.name), None)


def _name(section: AgreementSection | CorrectedSection) -> str:
    return section.name or "(none)"


def cells_table(report: AgreementReport, names: tuple[str, str]) -> str:
    """Return the table of what other statistics say: kappa, AC1, alpha."""
    body: list[list[str]] = []
    apart = []
    for section in (report.overall, *report.groups):
        apart.append(len(body))
        comparison = _comparison(section, names)
        figures = {} if comparison is None else comparison.figures()
        for kind in ("possible", "sure", "all"):
            cells = [f"cells.{kind}.{measure}" for measure in ("observed", "kappa", "ac1")]
            alphas = [f"alpha.{kind}.{measure}" for measure in ("jaccard", "dice", "masi")]
            linked = figures.get(f"cells.{kind}.prevalence", nan)
            label = "none, possible, sure" if kind == "all" else kind
            numbers = [
                decimal(figures[key]) if key in figures else "" if kind == "all" else "-"
                for key in (*cells, *alphas)
            ]
            body.append([_name(section), label, "" if kind == "all" else percent(linked), *numbers])
    headings = ["", "links", "% linked", "observed", "kappa", "AC1", "Jaccard", "Dice", "MASI"]
    spans = [("", 2), ("cells", 4), ("Krippendorff's alpha", 3)]
    return html_table(
        "Other statistics, over all links, identical ones too",
        headings,
        body,
        spans=spans,
        texts=2,
        apart=apart[1:],
    )


def automatic_table(
    corpus: Corpus, initial: str, names: tuple[str, str], report: AgreementReport
) -> str:
    """Return the table of how far the initial alignment is from each annotator."""
    body = []
    for name in names:
        found = overlap(corpus, initial, name, include_identical=report.include_identical)
        rows = found.rows()
        for level in ("words", "phrases"):
            cells = [
                text for kind in ("possible", "sure") for text in _ratios(rows[f"{level}.{kind}"])
            ]
            body.append([name, level, found.pairs, *cells])
    headings = ["", "", "pairs", *("precision", "recall", "F1") * 2]
    return html_table(
        f"Human ~ automatic: {initial} with each annotator as its reference (%)",
        headings,
        body,
        spans=[("", 3), ("possible", 3), ("sure", 3)],
        texts=2,
        apart=[2],
    )


def used_table(results: Results) -> str:
    """Return the table of how many sentence pairs are used, and why others are not."""
    reasons = list(dict.fromkeys(why for one in results.values() for why in one.left_out))
    body = [
        [LABELS[key], one.pairs, one.used, *(one.left_out.get(why, 0) for why in reasons)]
        for key, one in results.items()
    ]
    headings = ["", "pairs", "used", *reasons]
    return html_table("Sentence pairs used, and left out for a reason", headings, body)


def undefined_notes(results: Results) -> str:
    """Return a list of the C that have no value, with the reason of each."""
    said = [
        f"<li>C of {LABELS[key]}, {isolated_text(_name(section))}, is not defined: "
        f"{safe_text(section.undefined)}"
        for key, one in results.items()
        for section in (one, *one.groups)
        if section.undefined
    ]
    return f'<ul class="notes">{"".join(said)}</ul>\n' if said else ""


def warnings_of(results: Results) -> list[str]:
    """Say what a reader of the numbers has to beware of."""
    found = []
    for key, one in results.items():
        label, shared = LABELS[key], len(one.sentences)
        interval = one.interval
        if one.C < 0 and (interval is None or interval.high < 0):
            found.append(
                f"C of {label} is below 0: the two agree less than random edits of the initial "
                "alignment do. Where few cells are edited, both samples keep nearly all of the "
                "initial alignment, and pi0 is high; look at the edit models"
            )
        if 0 < one.used < shared / 2:
            found.append(
                f"C of {label} rests on {one.used} of the {shared} sentence pairs that both "
                "annotated; the others say nothing about it"
            )
        if interval is not None and interval.undefined and not one.undefined:
            found.append(
                f"C of {label} was not defined in {interval.undefined} resamples, which the "
                "interval leaves out"
            )
        if interval is not None and one.C_error > (interval.high - interval.low) / 8:
            found.append(
                f"sampling leaves a standard error of {one.C_error:.4f} in C of {label}, which is "
                "not small beside its interval; draw more samples"
            )
    return found


def more_table(results: Results, widths: Sequence[float]) -> str:
    """Return the table of how many further pairs the two would have to annotate."""
    body = []
    for key, one in results.items():
        if one.interval is None:
            continue
        now = one.interval.high - one.interval.low
        wanted = [now / 2, *(2 * width for width in widths)]
        cells = [_further(one, width) for width in wanted]
        body.append([LABELS[key], one.used, len(one.sentences), decimal(now), *cells])
    headings = ["", "used", "of", "width", "half of that", *(f"C ± {width:g}" for width in widths)]
    return html_table(
        "Further pairs that both would have to annotate",
        headings,
        body,
        spans=[("", 1), ("now", 3), ("for an interval as narrow as", 1 + len(widths))],
    )


def _further(one: CorrectedAgreement, width: float) -> str:
    count = further_pairs(one, width)
    return "-" if count is None else f"{count:,}" if count else "reached"
