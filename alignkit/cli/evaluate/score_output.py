"""Score a system, and print the scores as tables, CSV or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from alignkit._support.values import jsonable, named_json
from alignkit._support.wording import overlapping
from alignkit.cli.common.inputs import Input
from alignkit.cli.common.media import drawing_of
from alignkit.cli.common.messages import in_words_of, json_text, warn
from alignkit.cli.common.sides import declared_sides, open_sides
from alignkit.cli.options import made
from alignkit.cli.parser import Options
from alignkit.model.annotation import PERIODS
from alignkit.model.corpus import group_text, no_group, values_of
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring.comparison_tables import comparison_table
from alignkit.scoring.comparisons import Comparisons
from alignkit.scoring.files import FileOptions, TwoFiles
from alignkit.scoring.records import breakdown_table, few_in_groups, group_records, pair_records
from alignkit.scoring.result import MEASURE_NAMES, Score
from alignkit.scoring.scores import score_files
from alignkit.scoring.settings import ScoreSettings
from alignkit.tables.media import Report, csv_lines, get_medium
from alignkit.tables.table import Table

Records = Sequence[Mapping[str, object]]


class Scoring:
    """Score one system; keep its `score`, and the ids and groups of scored pairs for tables.

    Parameters
    ----------
    path : The file of the system.
    options : The options of the command.
    annotator : The annotator to score, if the file has several.
    """

    def __init__(self, path: str, options: Options, annotator: str | None) -> None:
        self.path = path
        self.by: str = options.by or ""  # the attribute of the groups, if there are any
        # of the scored pairs, if tables need them: their ids, and the groups of each
        self.ids: list[str] = []
        self.groups: list[tuple[str, ...]] = []
        self._attributes: dict[str, None] = {}  # that any of them has
        self._options = options
        self._annotator = annotator
        declared = declared_sides(options, annotator)
        files = TwoFiles(
            lambda: self._open(declared),
            declared,
            pairwise=bool(self.by or options.per_pair),
            watch=self._note,
            tell=warn,
        )
        draws = options.ci or options.plot is not None
        needs_rows = bool(draws or options.compared or self.by or options.per_pair)
        score = score_files(files, made(ScoreSettings, options), keep_rows=needs_rows)
        self._check_groups()
        score = self._with_warnings(score, files)
        if draws:
            score = score.with_intervals(**drawing_of(options))
        self.score = score

    def _open(self, declared: FileOptions) -> tuple[Input, Input]:
        """Open both files, again if their order differs; forget the pairs that were read before."""
        self.ids.clear()
        self.groups.clear()
        self._attributes.clear()
        return open_sides(self.path, self._options.reference, declared)

    def _note(self, ref: SentencePair, hyp: SentencePair) -> None:
        """Keep the facts about a scored pair that tables need."""
        options = self._options
        if options.per_pair:
            self.ids.append(ref.id)
        if self.by:
            self._attributes.update(dict.fromkeys([*ref.attributes, *hyp.attributes]))
            of_ref = _group_of(ref, self.by, options.ref_annotator)
            of_hyp = _group_of(hyp, self.by, self._annotator)
            known = [text for text in (of_ref, of_hyp) if text is not None] or [""]
            # a pair belongs to the period in which the later of both worked
            text = max(known) if self.by in PERIODS else known[0]
            self.groups.append(values_of(text, options.split))

    def _check_groups(self) -> None:
        """Refuse groups by something that no pair has."""
        if not self.by or not self.groups or self.by in self._attributes:
            return
        if self.by in PERIODS and any(map(any, self.groups)):
            return  # some annotations have a time
        place = self._options.reference or self.path
        raise no_group(self.by, self._attributes, f"attribute of {place}:")

    def _with_warnings(self, score: Score, files: TwoFiles) -> Score:
        """Print what looks wrong; return the score that says so in the words of the command."""
        options = self._options
        suspicions = tuple(in_words_of(options, text) for text in score.suspicions)
        for file, suspicion in files.suspicions.items():
            warn(in_words_of(options, f"{file}: warning: {suspicion}"))
        # the first ones are those of the files: printed above, or when the files were read
        for suspicion in suspicions[len(files.cautions) :]:
            warn(f"warning: {suspicion}")
        return replace(score, suspicions=suspicions)

    @cached_property
    def by_group(self) -> Records:
        """The score of each group, if requested."""
        if not self.by:
            return ()
        drawing = drawing_of(self._options) if self._options.ci else {}
        return group_records(
            self.score.rows,
            self.groups,
            name=self.by,
            aggregate=self.score.aggregate,
            **drawing,
        )

    @cached_property
    def by_pair(self) -> Records:
        """The score of each sentence pair, if requested."""
        if not self.ids:
            return ()
        return pair_records(self.score.rows, self.ids, aggregate=self.score.aggregate)

    @property
    def overlap_note(self) -> str:
        """A note on pairs in several groups, or ""."""
        several = sum(len(names) > 1 for names in self.groups)
        if several:
            return overlapping(several, len(self.groups), self.by)
        return ""

    @property
    def few_caution(self) -> str:
        """A warning about small groups, or ""."""
        if self.by_group:
            return few_in_groups(self.by_group, self.by)
        return ""


def _group_of(pair: SentencePair, by: str, annotator: str | None) -> str | None:
    """Return the group of a pair, by the judgments or times of one annotator if named."""
    return group_text(pair, by, [annotator] if annotator else None)


_COLUMNS = (
    "kind",
    "system",
    "against",
    "by",
    "group",
    "level",
    "measure",
    "value",
    "low",
    "high",
    "bootstrap_p",
    "bootstrap_holm",
    "randomization_p",
    "randomization_holm",
    "bootstrap_p_bound",
    "bootstrap_holm_bound",
    "randomization_p_bound",
    "randomization_holm_bound",
    "text",
)


@dataclass(frozen=True)
class Scored:
    """Everything to print: the systems by their short names, and how they compare."""

    systems: Mapping[str, Scoring]
    comparisons: Comparisons | None = None

    @property
    def scores(self) -> dict[str, Score]:
        """The score of each system."""
        return {name: scoring.score for name, scoring in self.systems.items()}

    @property
    def cautions(self) -> list[str]:
        """Warnings about the numbers, each once."""
        every: list[str] = []
        if self.comparisons:
            every += self.comparisons.cautions
        else:
            for score in self.scores.values():
                every += score.cautions
        every += [each.few_caution for each in self.systems.values() if each.few_caution]
        return list(dict.fromkeys(every))

    @property
    def signatures(self) -> list[str]:
        """The settings; those shared by several systems only once."""
        return list(dict.fromkeys(str(score.signature) for score in self.scores.values()))


def output(scored: Scored, options: Options) -> str:
    """Return the text to print."""
    if options.json:
        return json_text(_json(scored))
    if options.csv:
        return _csv(scored)
    tables = [table.sheet() for table in _tables(scored, options.tables)]
    head = []
    if not scored.comparisons:
        head = [score.title for score in scored.scores.values()]
    report = Report(head, tables, scored.cautions, "; ".join(scored.signatures))
    return get_medium(options.medium).report(report).lstrip("\n")


def _tables(scored: Scored, chosen: Sequence[str]) -> Iterator[Table]:
    """Yield the tables to print."""
    if scored.comparisons is not None and "systems" in chosen:
        yield from scored.comparisons.tables()
    for name, scoring in scored.systems.items():
        title = name if len(scored.systems) > 1 else ""
        if scored.comparisons is None:
            yield scoring.score.bare_table(title)
        if scoring.by_group:
            yield breakdown_table(scoring.by_group, title=title, note=scoring.overlap_note)
        if scoring.by_pair:
            yield breakdown_table(scoring.by_pair, title=title)
    if scored.comparisons is not None and "differences" in chosen:
        yield comparison_table(scored.comparisons, note=scored.comparisons.draws())


def _json(scored: Scored) -> dict[str, object]:
    """Return the score of the first system, and if there are others, those of all of them.

    So the score of a system is in the same place with and without others.
    """
    first = next(iter(scored.systems.values()))
    record = first.score.to_json()
    more = {
        "groups": first.by_group,
        "overlap": first.overlap_note,
        "sentence_pairs": first.by_pair,
    }
    record |= {name: jsonable(part) for name, part in more.items() if part}
    if scored.comparisons is not None:
        systems = {}
        for name, scoring in scored.systems.items():
            systems[name] = {"path": scoring.path, **scoring.score.to_json()}
        record["systems"] = systems
        record["comparisons"] = scored.comparisons.to_json()
        record["tests"] = named_json(scored.comparisons, ("compared", "resamples", "trials"))
    if scored.cautions:
        record["cautions"] = scored.cautions
    return record


def _csv(scored: Scored) -> str:
    """Return all numbers as CSV, a row for each, with the cautions and the settings below."""
    rows: list[Mapping[str, object]] = []
    for name, scoring in scored.systems.items():
        rows += _figures(scoring.score.to_records(), {"kind": "score", "system": name})
        by: dict[str, object] = {"kind": "group", "system": name, "by": scoring.by}
        rows += _figures(scoring.by_group, by, scoring.by)
        rows += _figures(scoring.by_pair, {"kind": "pair", "system": name, "by": "id"}, "id")
    if scored.comparisons:
        for record in scored.comparisons.to_records():
            baseline = record["baseline"]
            named = {"kind": "difference", "against": baseline, "value": record["difference"]}
            rows.append(record | named)
    notes = [each.overlap_note for each in scored.systems.values() if each.overlap_note]
    cautions = [*dict.fromkeys(notes), *scored.cautions]  # systems have the same pairs: one note
    rows += [{"kind": "caution", "text": text} for text in cautions]
    rows += [{"kind": "signature", "text": text} for text in scored.signatures]
    lines: list[Sequence[object]] = [_COLUMNS]
    lines += [[row.get(name, "") for name in _COLUMNS] for row in rows]
    return csv_lines(lines)


def _figures(
    records: Records, named: Mapping[str, object], group: str = ""
) -> Iterator[Mapping[str, object]]:
    """Yield a row for each number of each record: measures with bounds, and counts.

    The measures are known by their names; every other whole number is a count.
    """
    for record in records:
        first = {**named, "level": record["level"], "group": record[group] if group else ""}
        for key, value in record.items():
            if key in MEASURE_NAMES or isinstance(value, int):
                low = record.get(f"{key}_low", "")
                high = record.get(f"{key}_high", "")
                yield {**first, "measure": key, "value": value, "low": low, "high": high}
