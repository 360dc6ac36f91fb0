"""Score alignments against a gold standard.

Precision, recall and F1 of the links and of the phrase pairs, and the alignment error rate (AER)
of the links. Sure and possible links count as Och & Ney (2003) and Cohn, Callison-Burch & Lapata
(2008) define; phrase pairs are scored atomic against all. Words are needed for --ignore-identical,
--split-identical and --loose alone.

For example:
  alignkit score giza.align gold.align
  alignkit score rev.align gold.wa --hyp-transpose --ref-format naacl --level links --json
  alignkit score a.align gold.align --compare b.align c.align --ci
  alignkit score corpus.xml --hyp-annotator anna ben --ref-annotator gold
  alignkit score giza.align corpus.xml --ref-annotator gold --in-order --by genre
  alignkit score a.align gold.align --aggregate both --latex
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from alignkit._support.timestamps import PERIODS
from alignkit._support.values import jsonable
from alignkit.cli.common.files import refuse_replacing, short_names
from alignkit.cli.common.inputs import (
    Input,
    add_order_argument,
    add_reading_arguments,
    add_sides,
    declared_sides,
    open_sides,
)
from alignkit.cli.common.media import add_groups, add_media, check_groups
from alignkit.cli.common.messages import in_words_of, json_text, warn
from alignkit.cli.parser import add_options, number, saved_file
from alignkit.errors import OptionError
from alignkit.io.atomic_files import refuse_unwritable
from alignkit.model.corpus import group_text, no_group, values_of
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring.comparisons import Comparisons, comparison_table
from alignkit.scoring.files import FileOptions, TwoFiles
from alignkit.scoring.records import (
    breakdown_table,
    few_in_groups,
    group_records,
    overlap,
    pair_records,
)
from alignkit.scoring.result import MEASURE_NAMES, Score
from alignkit.scoring.settings import AGGREGATES, LEVEL_CHOICES, LINK_POLICIES, ScoreSettings
from alignkit.show.canvas import ending
from alignkit.tables.media import Report, csv_lines, get_medium
from alignkit.tables.table import Table

Records = Sequence[Mapping[str, object]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_sides(parser, "the alignments to score; - is stdin", optional=True)
    group = parser.add_argument_group("what is scored")
    add_options(group, """
        --level  links, phrase pairs, or both (default: both)
        --ignore-identical  leave out links and phrases of equal words (default: counted); needs
            the words
        --exact-case  words that differ in case are not equal (default: they are)
        --max-length N  most words of a phrase on either side (default: no limit)
        --loose  extend phrases over unaligned words at their ends (default: tight); needs the words
        --possible  possible links of both sides: as given, dropped, or taken as sure (default:
            given)
        --aggregate  add up the counts of all pairs, average the ratios of the pairs (with the
            mean of F1, and exact matches), or both (default: micro)
        --split-identical  rows for the links of equal words, and for the others, too; needs the
            words
        """,
        level={"choices": tuple(LEVEL_CHOICES), "default": "both"},
        max_length={"type": number(1)},
        possible={"dest": "links", "choices": tuple(LINK_POLICIES), "default": "given"},
        aggregate={"choices": AGGREGATES, "default": "micro"},
    )  # fmt: skip
    add_order_argument(group)
    group = parser.add_argument_group("how sure one can be")
    add_options(group, """
        --ci  bootstrap intervals over sentence pairs (default: none)
        --compare HYP2...  other systems, read as HYP is; every two are tested against each other
        """, compare={"default": []})  # fmt: skip
    add_draws(group, "of --ci, --compare and --plot")
    group = parser.add_argument_group("what is printed")
    add_groups(group, metavar="GROUP")
    add_options(group, "--per-pair  a row for each sentence pair too")
    add_media(group)
    add_options(group, """
        --plot FILE  draw precision, recall and F1 with intervals as well, by the end of the name:
            .pdf, .png or .svg
        """, plot={"type": saved_file})  # fmt: skip
    add_reading_arguments(parser)


def add_draws(group: argparse._ActionsContainer, purpose: str) -> None:
    """Add what is drawn for a purpose, resamples under their old name too; see `settle_draws`."""
    add_options(group, f"""
        --resamples N  {purpose} (default: 1000)
        --samples N  old name
        --confidence P  of the intervals (default: 0.95)
        --seed N  of all draws (default: 12345)
        """,
        resamples={"type": number(1)},
        samples={"type": number(1), "help": argparse.SUPPRESS},
        confidence={"type": float},
        seed={"type": number(0), "default": 12345},
    )  # fmt: skip


def settle_draws(options: argparse.Namespace, *, drawn: bool = True, wanting: str = "") -> None:
    """Fill in the draws that were not typed; refuse those that were, if nothing is drawn."""
    if options.resamples is not None and options.samples is not None:
        raise OptionError("--samples is the old name of --resamples: give one of the two")
    if options.resamples is None:
        options.resamples = options.samples
    for name, default in (("resamples", 1000), ("confidence", 0.95)):
        if getattr(options, name, None) is None:
            setattr(options, name, default)
        elif not drawn:
            raise OptionError(f"--{name} is about resampling, which is not asked for; {wanting}")


class System(NamedTuple):
    """What is scored: a file, and whose alignments if it holds those of several."""

    name: str
    path: str
    annotator: str | None


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.hypothesis is None:
        _take_places(options)
    _check(options)
    systems = systems_of(options)
    options.compared = len(systems) > 1
    wanting = "say --ci, --plot FILE, or name systems to compare"
    drawn = options.ci or options.compared or options.plot is not None
    settle_draws(options, drawn=drawn, wanting=wanting)
    scored: dict[str, Score] = {}
    breakdowns: dict[str, Breakdown] = {}
    for system in systems:
        scoring = Scoring(system.path, options, system.annotator)
        scored[system.name] = scoring.score
        breakdowns[system.name] = _breakdown(scoring, options)
    comparisons = None
    if options.compared:
        from alignkit.scoring.comparisons import compare

        comparisons = compare(
            scored, resamples=options.resamples, confidence=options.confidence, seed=options.seed
        )
        scored = {name: _signed(score, comparisons) for name, score in scored.items()}
    paths = {system.name: system.path for system in systems}
    print(_output(Scored(paths, scored, breakdowns, comparisons), options))
    if options.plot is not None:
        from alignkit.scoring.plots import draw_scores

        draw_scores(scored, options.plot)
    return 0


def _take_places(options: argparse.Namespace) -> None:
    """Take HYP and REF from behind the names of annotators, where they stand there."""
    words = options.hyp_annotator or []
    places: list[str] = []
    while len(words) > 1 and len(places) < 2 and (words[-1] == "-" or os.path.exists(words[-1])):
        places.insert(0, words.pop())
    if not places:
        raise OptionError("the following arguments are required: HYP")
    options.hypothesis, options.reference = places[0], (*places, None)[1]
    if options.plot is not None:
        refuse_replacing([options.plot], options)


def systems_of(options: argparse.Namespace) -> list[System]:
    """Return what is scored: several files, or several annotators of one."""
    annotators = options.hyp_annotator or [None]
    paths = [options.hypothesis, *options.compare]
    if len(set(paths)) < len(paths) or len(set(annotators)) < len(annotators):
        raise OptionError("the same system is named twice; name different ones to compare")
    if len(annotators) == 1:
        names = short_names(paths)
        return [System(names[path], path, annotators[0]) for path in paths]
    if options.compare:
        raise OptionError(
            "--hyp-annotator names several systems of HYP, and --compare more files; give one of "
            "the two"
        )
    if options.hypothesis == "-":
        raise OptionError("with several annotators HYP is read again and cannot be stdin (-)")
    return [System(name, options.hypothesis, name) for name in annotators]


def _check(options: argparse.Namespace) -> None:
    several = options.compare or len(options.hyp_annotator or ()) > 1
    if several and options.reference == "-":
        raise OptionError("with several systems REF is read again and cannot be stdin (-)")
    if options.reference is None:
        _check_one_corpus(options)
    if options.split_identical and (options.ignore_identical or options.level == "phrases"):
        other = "--ignore-identical" if options.ignore_identical else "--level phrases"
        raise OptionError(
            f"--split-identical scores identical links by themselves, and {other} leaves them out; "
            "give one of the two"
        )
    if options.by == "":
        raise OptionError("--by is empty; name an attribute, such as genre")
    check_groups(options)
    if options.split == "":
        raise OptionError("--split is empty; give what stands between values, such as ','")
    if options.plot is not None:
        ending(options.plot)
        refuse_unwritable([options.plot])


def require_reference(options: argparse.Namespace) -> None:
    """Refuse a command line that names no gold standard."""
    if options.reference is None and not (options.hyp_annotator and options.ref_annotator):
        raise OptionError(
            "name REF, the gold standard; or, where HYP holds it too, the annotators: "
            "--hyp-annotator and --ref-annotator"
        )


def _check_one_corpus(options: argparse.Namespace) -> None:
    """Check the options of one corpus that holds the gold standard too."""
    require_reference(options)
    if options.compare:
        raise OptionError("--compare needs REF, against which all files are scored; name it")
    for name in ("ref_format", "ref_base", "ref_transpose", "in_order"):
        value = getattr(options, name)
        if value is not None and value is not False:
            raise OptionError(
                f"--{name.replace('_', '-')} is about a second file, and one is named; leave it out"
            )


def _signed(score: Score, comparisons: Comparisons) -> Score:
    """Return the score with a signature that tells how the comparison was drawn."""
    drawn = comparisons.signature
    names = ("interval", "confidence", "resamples", "trials", "seed")
    signature = replace(score.signature, **{name: getattr(drawn, name) for name in names})
    return replace(score, signature=signature)


class Scoring:
    """Score one system; keep its `score`, and for each pair scored its id and groups for tables.

    `annotator` says whose alignments the system is, if the file holds those of several.
    """

    def __init__(self, path: str, options: argparse.Namespace, annotator: str | None) -> None:
        self._path, self._options, self._annotator = path, options, annotator
        self.score = self._run()

    def _run(self) -> Score:
        from alignkit.scoring.scores import score_files

        options = self._options
        drawn = options.ci or options.plot is not None
        declared = declared_sides(options, self._annotator)
        files = TwoFiles(
            lambda: self._open(declared),
            declared,
            pairwise=bool(options.by or options.per_pair),
            watch=self._note,
            tell=warn,
        )
        settings = ScoreSettings(
            **{x.name: getattr(options, x.name) for x in fields(ScoreSettings)}
        )
        keep = bool(drawn or options.compared or options.by or options.per_pair)
        score = score_files(files, settings, keep_rows=keep)
        self._check_groups()
        suspicions = tuple(in_words_of(options.parser, text) for text in score.suspicions)
        score = replace(score, suspicions=suspicions)
        for path, suspicion in files.suspicions.items():
            warn(in_words_of(options.parser, f"{path}: warning: {suspicion}"))
        for suspicion in suspicions[len(files.cautions) :]:
            warn(f"warning: {suspicion}")
        if drawn:
            score = score.with_intervals(
                resamples=options.resamples, confidence=options.confidence, seed=options.seed
            )
        return score

    def _open(self, declared: FileOptions) -> tuple[Input, Input]:
        self.ids: list[str] = []
        self.groups: list[tuple[str, ...]] = []
        self._attributes: dict[str, None] = {}
        return open_sides(self._path, self._options.reference, declared)

    def _note(self, ref: SentencePair, hyp: SentencePair) -> None:
        """Keep of a pair that is scored what the tables need."""
        options = self._options
        if options.per_pair:
            self.ids.append(ref.id)
        if options.by is not None:
            self._attributes.update(dict.fromkeys([*ref.attributes, *hyp.attributes]))
            sides = (ref, options.ref_annotator), (hyp, self._annotator)
            texts = [group_text(pair, options.by, name and [name]) for pair, name in sides]
            known = [text for text in texts if text is not None] or [""]
            text = max(known) if options.by in PERIODS else known[0]
            self.groups.append(values_of(text, options.split))

    def _check_groups(self) -> None:
        by, path = self._options.by, self._options.reference or self._path
        if by is not None and by not in self._attributes and self.groups and not self._timed():
            raise no_group(by, self._attributes, f"attribute of {path}:")

    def _timed(self) -> bool:
        return self._options.by in PERIODS and any(any(values) for values in self.groups)


_COLUMNS = (
    *("kind", "system", "against", "by", "group", "level", "measure", "value", "low", "high"),
    *("bootstrap_p", "bootstrap_holm", "randomization_p", "randomization_holm", "text"),
)


@dataclass(frozen=True)
class Breakdown:
    """The records of the groups and of the sentence pairs of a system, if asked for."""

    by: str = ""
    groups: Records = ()
    sentence_pairs: Records = ()
    overlap: str = ""
    caution: str = ""


@dataclass(frozen=True)
class Scored:
    """All that is printed, by the short name of each system; `paths` has the files."""

    paths: Mapping[str, str]
    scores: Mapping[str, Score]
    breakdowns: Mapping[str, Breakdown]
    comparisons: Comparisons | None = None

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


def _breakdown(scoring: Scoring, options: argparse.Namespace) -> Breakdown:
    by, score = options.by, scoring.score
    groups: Records = ()
    if by:
        groups = group_records(
            score.rows, scoring.groups, name=by, aggregate=score.aggregate,
            resamples=options.resamples if options.ci else None, confidence=options.confidence,
            seed=options.seed,
        )  # fmt: skip
    ids = scoring.ids
    pairs = pair_records(score.rows, ids, aggregate=score.aggregate) if ids else ()
    few = few_in_groups(groups, by) if groups else ""
    return Breakdown(by or "", groups, pairs, overlap(scoring.groups, by) if by else "", few)


def _output(scored: Scored, options: argparse.Namespace) -> str:
    if options.json:
        return json_text(_json(scored))
    if options.csv:
        return _csv(scored)
    tables = [table.sheet() for table in _tables(scored)]
    report = Report(list(_head(scored)), tables, scored.cautions, "; ".join(scored.signatures))
    return get_medium(options.medium).report(report)


def _head(scored: Scored) -> Iterator[str]:
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
        record["groups"] = list(map(jsonable, parts.groups))
    if parts.overlap:
        record["overlap"] = parts.overlap
    if parts.sentence_pairs:
        record["sentence_pairs"] = list(map(jsonable, parts.sentence_pairs))
    if scored.comparisons is not None:
        record["systems"] = {
            name: {"path": scored.paths[name], **score.to_json()}
            for name, score in scored.scores.items()
        }
        record["comparisons"] = scored.comparisons.to_json()
    return record | ({"cautions": scored.cautions} if scored.cautions else {})


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
    notes = [parts.overlap for parts in scored.breakdowns.values() if parts.overlap]
    rows += [
        {"kind": "caution", "text": text} for text in (*dict.fromkeys(notes), *scored.cautions)
    ]
    rows += [{"kind": "signature", "text": text} for text in scored.signatures]
    lines: list[Sequence[object]] = [_COLUMNS]
    return csv_lines([*lines, *([row.get(name, "") for name in _COLUMNS] for row in rows)])


def _figures(
    records: Records, named: Mapping[str, object], group: str = ""
) -> Iterator[Mapping[str, object]]:
    """Yield a row for each figure of each record: measures with their bounds, and counts."""
    for record in records:
        first = {**named, "level": record["level"], "group": record[group] if group else ""}
        for key, value in record.items():
            if key in MEASURE_NAMES or isinstance(value, int):
                low, high = record.get(f"{key}_low", ""), record.get(f"{key}_high", "")
                yield {**first, "measure": key, "value": value, "low": low, "high": high}
