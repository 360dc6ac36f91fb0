"""Print scores: in a medium of tables for people, as CSV or JSON for machines."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from alignkit.cli.messages import json_text
from alignkit.cli.score_run import Scoring
from alignkit.report.medium import Report
from alignkit.report.table import Table, get_medium
from alignkit.report.table_csv import csv_lines
from alignkit.scoring import Comparisons, Score, group_records, pair_records
from alignkit.scoring.measures import none_if_nan
from alignkit.scoring.score_records import few_in_groups, overlap
from alignkit.scoring.score_table import MEASURE_NAMES, breakdown_table, comparison_table

_COLUMNS = (
    *("kind", "system", "against", "by", "group", "level", "measure", "value", "low", "high"),
    *("bootstrap_p", "bootstrap_holm", "randomization_p", "randomization_holm", "text"),
)


@dataclass(frozen=True)
class Breakdown:
    """Hold the records of the groups and of the sentence pairs of a system, where asked for."""

    by: str = ""
    groups: Sequence[Mapping[str, object]] = ()
    sentence_pairs: Sequence[Mapping[str, object]] = ()
    overlap: str = ""
    caution: str = ""


@dataclass(frozen=True)
class Scored:
    """Hold all that is printed, by the short name of each system, whose file is in `paths`."""

    paths: Mapping[str, str]
    scores: Mapping[str, Score]
    breakdowns: Mapping[str, Breakdown]
    comparisons: Comparisons | None = field(default=None)

    @property
    def cautions(self) -> list[str]:
        """What to know before one believes the numbers, each once."""
        scores = [self.comparisons] if self.comparisons else self.scores.values()
        every = [caution for score in scores for caution in score.cautions]
        every += [parts.caution for parts in self.breakdowns.values() if parts.caution]
        return list(dict.fromkeys(every))

    @property
    def signatures(self) -> list[str]:
        """The settings, those that are the same for several systems once."""
        return list(dict.fromkeys(str(score.signature) for score in self.scores.values()))


def breakdown(one: Scoring, options: argparse.Namespace) -> Breakdown:
    """Return the records of the tables that were asked for."""
    by, score = options.by, one.score
    drawn = {"confidence": options.confidence, "seed": options.seed}
    groups: Sequence[Mapping[str, object]] = ()
    if by:
        groups = group_records(
            score.rows,
            one.groups,
            name=by,
            aggregate=score.aggregate,
            resamples=options.resamples if options.ci else None,
            **drawn,
        )
    pairs = pair_records(score.rows, one.ids, aggregate=score.aggregate) if one.ids else ()
    few = few_in_groups(groups, by) if groups else ""
    return Breakdown(by or "", groups, pairs, overlap(one.groups, by) if by else "", few)


def score_output(scored: Scored, options: argparse.Namespace) -> str:
    """Return what the options ask for."""
    if options.json:
        return json_text(_json(scored))
    if options.csv:
        return _csv(scored)
    report = Report(
        list(_head(scored)),
        [table.sheet() for table in _tables(scored)],
        scored.cautions,
        "; ".join(scored.signatures),
    )
    return get_medium(options.medium).report(report)


def _head(scored: Scored) -> Iterator[str]:
    """Yield for each system on how many pairs it was scored, and where several are its file."""
    for name, score in scored.scores.items():
        title = score.title
        yield title if len(scored.scores) == 1 else f"{name}: {title} of {scored.paths[name]}"


def _tables(scored: Scored) -> Iterator[Table]:
    for name, score in scored.scores.items():
        title = name if len(scored.scores) > 1 else ""
        yield score.bare_table(title)
        parts = scored.breakdowns[name]
        if parts.groups:
            yield breakdown_table(parts.groups, title=title, note=parts.overlap)
        if parts.sentence_pairs:
            yield breakdown_table(parts.sentence_pairs, title=title)
    if scored.comparisons is not None:
        yield comparison_table(scored.comparisons)


def _json(scored: Scored) -> dict[str, object]:
    """Return the first system's score, and those of the others beside it."""
    first = next(iter(scored.scores))
    record = scored.scores[first].to_json()
    parts = scored.breakdowns[first]
    if parts.groups:
        record["groups"] = _plain(parts.groups)
    if parts.overlap:
        record["overlap"] = parts.overlap
    if parts.sentence_pairs:
        record["sentence_pairs"] = _plain(parts.sentence_pairs)
    if scored.comparisons is not None:
        record["systems"] = {
            name: {"path": scored.paths[name], **score.to_json()}
            for name, score in scored.scores.items()
        }
        record["comparisons"] = scored.comparisons.to_json()
    return record | ({"cautions": scored.cautions} if scored.cautions else {})


def _plain(records: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    return [
        {
            key: none_if_nan(value) if isinstance(value, float) else value
            for key, value in record.items()
        }
        for record in records
    ]


def _csv(scored: Scored) -> str:
    rows: list[Mapping[str, object]] = []
    for name, score in scored.scores.items():
        rows += _figures(score.to_records(), {"kind": "score", "system": name})
        parts = scored.breakdowns[name]
        by: dict[str, object] = {"kind": "group", "system": name, "by": parts.by}
        rows += _figures(parts.groups, by, parts.by)
        rows += _figures(parts.sentence_pairs, {"kind": "pair", "system": name, "by": "id"}, "id")
    for record in scored.comparisons.to_records() if scored.comparisons else ():
        named = {"kind": "difference", "against": record["baseline"], "value": record["difference"]}
        rows.append(record | named)
    notes = [one.overlap for one in scored.breakdowns.values() if one.overlap]
    rows += [
        {"kind": "caution", "text": text} for text in (*dict.fromkeys(notes), *scored.cautions)
    ]
    rows += [{"kind": "signature", "text": text} for text in scored.signatures]
    lines: list[Sequence[object]] = [_COLUMNS]
    return csv_lines([*lines, *([row.get(name, "") for name in _COLUMNS] for row in rows)])


def _figures(
    records: Sequence[Mapping[str, object]], named: Mapping[str, object], group: str = ""
) -> Iterator[Mapping[str, object]]:
    """Yield a row for each figure of each record: measures with their bounds, and counts."""
    for record in records:
        first = {**named, "level": record["level"], "group": record[group] if group else ""}
        for key, value in record.items():
            if key in MEASURE_NAMES or isinstance(value, int):
                low, high = record.get(f"{key}_low", ""), record.get(f"{key}_high", "")
                yield {**first, "measure": key, "value": value, "low": low, "high": high}
