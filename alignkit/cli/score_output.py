"""Print scores: as tables for people, as JSON for machines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from alignkit.report.table import render_table
from alignkit.scoring import Comparison, PhraseListScore, Score, group_records, pair_records
from alignkit.scoring.measures import none_if_nan
from alignkit.visible import visible

__all__ = ["Breakdown", "score_json", "score_text"]

_NAMES = {
    "links": "links",
    "phrases-possible": "phrases, possible",
    "phrases-sure": "phrases, sure",
}
_MEASURES = ("precision", "recall", "f1", "aer")

Breakdown = Mapping[str, "list[dict[str, object]]"]
"""Records of tables by their name, as `pair_records` and `group_records` give them."""


def breakdown(score: Score, ids: Sequence[str], groups: Sequence[str], by: str | None) -> Breakdown:
    """Return the records of the tables that were asked for."""
    found: dict[str, list[dict[str, object]]] = {}
    if by is not None:
        found["groups"] = group_records(score.rows, groups, name=by)
    if ids:
        found["sentence_pairs"] = pair_records(score.rows, ids)
    return found


def score_json(
    scores: Mapping[str, Score],
    breakdowns: Mapping[str, Breakdown],
    comparisons: Sequence[tuple[str, Comparison]],
) -> dict[str, object]:
    """Return the first system's score, and those of the others beside it."""
    first, *others = scores
    found = scores[first].to_json() | _plain(breakdowns[first])
    if others:
        found["systems"] = {path: scores[path].to_json() for path in scores}
        found["comparisons"] = [
            {"level": level, **comparison.to_json()} for level, comparison in comparisons
        ]
    return found


def score_text(
    scores: Mapping[str, Score],
    breakdowns: Mapping[str, Breakdown],
    comparisons: Sequence[tuple[str, Comparison]],
) -> str:
    """Return the tables of all systems, and of how they compare."""
    parts = []
    for path, score in scores.items():
        skipped = f", {score.skipped} left out (not annotated)" if score.skipped else ""
        title = (
            f"{visible(path)}: {score.pairs} sentence pairs{skipped}"
            if len(scores) > 1
            else (f"{score.pairs} sentence pairs{skipped}")
        )
        parts.append(f"{title}\n\n{render_table(_rows(score))}")
        parts.extend(render_table(_table(records)) for records in breakdowns[path].values())
    if comparisons:
        parts.append(render_table([_comparison(*entry) for entry in comparisons]))
        parts.append(
            "p: two-sided, by paired bootstrap and by paired approximate randomization; "
            "not corrected for comparing many"
        )
    parts.extend(dict.fromkeys(str(score.signature) for score in scores.values()))
    return "\n\n".join(part.rstrip("\n") for part in parts)


def _rows(score: Score) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    if score.links is not None:
        counts = score.links.counts
        found.append(
            _row("links", score, score.links)
            | {"hypothesis": counts["hyp_possible"], "reference": counts["ref_possible"]}
        )
    for name, part in (score.phrases or {}).items():
        found.append(
            _row(f"phrases-{name}", score, part)
            | {"hypothesis": part.counts["hyp_atomic"], "reference": part.counts["ref_atomic"]}
        )
    return found


def _row(level: str, score: Score, part: Any) -> dict[str, object]:
    row: dict[str, object] = {"": _NAMES[level]}
    intervals = score.intervals.get(level, {})
    for name in _MEASURES:
        value = getattr(part, name, None)
        text = "" if value is None else percent(value)
        if name in intervals:
            text += f" [{percent(intervals[name].low)}, {percent(intervals[name].high)}]"
        row[name.upper() if name in ("f1", "aer") else name] = text
    return row


def _table(records: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    found = []
    for record in records:
        row: dict[str, object] = {}
        for key, value in record.items():
            if key == "level":
                row[key] = _NAMES[str(value)]
            elif key in _MEASURES:
                row[key.upper() if key in ("f1", "aer") else key] = percent(float(str(value)))
            elif not key.startswith(("hyp_", "ref_")) and "_in_" not in key:
                row[key] = value
        found.append(row)
    names = list(dict.fromkeys(key for row in found for key in row))
    return [{name: row.get(name, "") for name in names} for row in found]


def _comparison(level: str, found: Comparison) -> dict[str, object]:
    low, high = percent(found.interval.low), percent(found.interval.high)
    return {
        "system": found.system,
        "against": found.baseline,
        "": _NAMES[level],
        "measure": found.measure,
        "difference": f"{percent(found.difference, sign=True)} [{low}, {high}]",
        "p bootstrap": f"{found.bootstrap_p:.4f}",
        "p randomization": f"{found.randomization_p:.4f}",
    }


def percent(value: float, *, sign: bool = False) -> str:
    """Return a ratio as a percentage with one decimal, ``-`` where undefined."""
    if math.isnan(value):
        return "-"
    return f"{100 * value:{'+' if sign else ''}.1f}"


def _plain(breakdowns: Breakdown) -> dict[str, object]:
    return {
        name: [
            {
                key: none_if_nan(value) if isinstance(value, float) else value
                for key, value in record.items()
            }
            for record in records
        ]
        for name, records in breakdowns.items()
    }


def phrase_list_text(score: PhraseListScore) -> str:
    """Return the score of a list of phrase pairs, and what became of its entries."""
    row: dict[str, object] = {}
    for name in ("precision", "recall", "f1"):
        text = percent(getattr(score, name))
        if name in score.intervals:
            low, high = score.intervals[name].low, score.intervals[name].high
            text += f" [{percent(low)}, {percent(high)}]"
        row["F1" if name == "f1" else name] = text
    row["occurrences"] = score.counts["hyp_atomic"]
    row["gold"] = score.counts["ref_atomic"]
    fates = (
        f"{score.kept} of {score.entries} entries kept: they occur in the {score.pairs} sentence "
        f"pairs; {score.correct} of them ({percent(score.entry_precision)}%) are right somewhere"
    )
    left_out = ", ".join(
        f"{getattr(score, name)} {text}"
        for name, text in (
            ("unmatched", "occur in no pair"),
            ("repeated", "repeated"),
            ("identical", "identical"),
            ("out_of_bounds", "too short or long"),
        )
        if getattr(score, name)
    )
    parts = [fates + (f"\nleft out: {left_out}" if left_out else ""), render_table([row])]
    return "\n\n".join(part.rstrip("\n") for part in (*parts, str(score.signature)))
