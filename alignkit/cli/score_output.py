"""Print scores: as tables for people, as JSON for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from alignkit.scoring import Comparison, Score, group_records, pair_records
from alignkit.scoring.measures import none_if_nan
from alignkit.scoring.score_table import breakdown_table, comparison_table
from alignkit.visible import visible

__all__ = ["Breakdown", "score_json", "score_text"]

Breakdown = Mapping[str, "list[dict[str, object]]"]
"""Records of tables by their name, as `pair_records` and `group_records` give them."""

_P_VALUES = (
    "p: two-sided, by paired bootstrap and by paired approximate randomization; "
    "not corrected for comparing many"
)


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
        table = replace(score.table(), note="")
        if len(scores) > 1:
            table = replace(table, title=f"{visible(path)}: {table.title}")
        parts.append(str(table))
        parts.extend(str(breakdown_table(records)) for records in breakdowns[path].values())
    if comparisons:
        parts.append(str(comparison_table(comparisons, note=_P_VALUES)))
    parts.extend(
        visible(str(found)) for found in dict.fromkeys(one.signature for one in scores.values())
    )
    return "\n\n".join(parts)


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
