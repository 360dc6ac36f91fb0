"""Show the pairs that annotators judge differently: as CSV, and as a part of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from alignkit.agreement.judgments.disagreements import Disagreement
from alignkit.agreement.judgments.result import JudgmentAgreement
from alignkit.report.characters import isolated_text, safe_text
from alignkit.report.table_csv import csv_lines

_MOST, _MOST_SIGNS = 200, 1_000_000
"""A page shows no more pairs, nor more text."""


def disagreements_csv(found: JudgmentAgreement) -> str:
    """Return every pair that is judged differently as a row of CSV."""
    names = found.judges
    rows = [["pair", "differ in", *(f"judgment of {name}" for name in names), "source", "target"]]
    for one in found.disagreements:
        said = [one.judgments.get(name, "") for name in names]
        rows.append([one.id, ", ".join(one.views), *said, one.source, one.target])
    return csv_lines(rows)


def draw_disagreements(found: JudgmentAgreement) -> Iterator[str]:
    """Yield the pairs that are judged differently as HTML: as many as a page has room for."""
    shown = list(_shown(found.disagreements))
    yield f"<p>{safe_text(_said(found, len(shown)))}</p>\n"
    several = len(found.views) > 1
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


def _said(found: JudgmentAgreement, shown: int) -> str:
    count = len(found.disagreements)
    if not count:
        return "No pair is judged differently."
    whose = "annotators and the adjudicated version" if found.options.settled else "annotators"
    said = f"{count:,} of {found.pairs:,} pairs are judged differently by {whose}"
    if len(found.views) > 1:
        said += "; those that differ in more views come first"
    if shown < count:
        said += (
            f"; the first {shown:,} are shown, to keep the page small: all are in the file of "
            "--disagreements, and in `disagreements` of the result"
        )
    return f"{said}."
