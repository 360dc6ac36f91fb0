"""Show the pairs that annotators judge differently: as CSV, and as a part of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from alignkit.agreement.judgments.disagreements import Disagreement
from alignkit.agreement.judgments.result import JudgmentAgreement
from alignkit.report.characters import isolated_text, safe_text
from alignkit.report.table_csv import csv_lines

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
