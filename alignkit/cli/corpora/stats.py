"""Count the sentence pairs and words of a corpus, and the links of each annotator.

--by adds a row for each value of an attribute. --diversity instead shows how similar the two texts
of a pair are: shared words, shared character n-grams, lengths.

For example:
  alignkit stats corpus.xml
  alignkit stats gold.align --source fr.txt --target en.txt --json
  alignkit stats corpus.xml --by phenomena --split ,
  alignkit stats corpus.jsonl --diversity --by judgment --annotator anna
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import nan
from typing import Any

from alignkit._support.wording import overlapping, visible
from alignkit.cli.common import inputs, schemes
from alignkit.cli.common.media import add_forms, add_groups, check_groups, print_findings
from alignkit.cli.common.messages import json_text
from alignkit.cli.parser import Options, Parser, add_options, given_flag, option_values
from alignkit.corpora import counts as counting
from alignkit.errors import OptionError
from alignkit.io.options import ReadOptions
from alignkit.io.records import DIFFERING
from alignkit.io.text_files import TextFile
from alignkit.model.alignment import SIDES
from alignkit.model.corpus import Corpus
from alignkit.model.roles import ROLES
from alignkit.model.sentence_pair import SentencePair
from alignkit.tables.columns import Cell, Column
from alignkit.tables.table import Table


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit stats`."""
    inputs.add_input(parser)
    add_forms(parser.add_argument_group("output (all except --json need --diversity)"))
    add_groups(parser)
    group = parser.add_argument_group("similarity of the two texts")
    add_options(
        group,
        """
        --diversity  show how similar the two texts of each pair are, instead of counts
        --annotator A  with --by judgment, annotator of the judgments; needed if annotators differ
        """,
    )
    schemes.add_rewrites_argument(group)
    add_options(
        group,
        """
        --stop-words FILE  words to leave out of the Jaccard index (UTF-8, separated by white space;
            default: none)
        --stem  use Porter's stems of English words for the Jaccard index
        --token REGEX  pattern of a token (default: letters, digits and underscores in a row)
        """,
    )
    inputs.add_reading_arguments(parser)


def run(options: Options) -> None:
    """Print the counts of a corpus, or how similar the texts of its pairs are."""
    check_groups(options)
    source = inputs.Input.of(options)
    pairs = source.pairs(needed=options.diversity)
    if options.diversity:
        _tell_diversity(pairs, options)
        return
    names = ("annotator", "rewrites", "stop_words", "stem", "token", "csv", "html")
    flag = given_flag(options, *names)
    if flag:
        raise OptionError(f"{flag} needs --diversity: add it")
    if options.medium != "text":
        raise OptionError(f"--{options.medium} needs --diversity: add it")
    if options.by is None:
        result = counting.GroupCounts(counting.count_corpus(pairs), {})
    else:
        result = counting.count_groups(pairs, options.by, split=options.split)
    if options.json:
        record = _record(result.whole)
        if source.reading.counts:
            record["noted"] = dict(source.reading.counts)
        if options.by is not None:
            groups = {value: _record(part) for value, part in result.groups.items()}
            record |= {"by": options.by, "groups": groups, "in_several_groups": result.several}
        print(json_text(record))
        return
    _print(result.whole)
    if differing := source.reading.counts[DIFFERING]:
        print(f"\n{differing} x {DIFFERING}: nobody drew these links word by word")
    if options.by is not None:
        _print_groups(result, options.by)


def _tell_diversity(pairs: Iterator[SentencePair], options: Options) -> None:
    """Print how similar the two texts of each pair are."""
    from alignkit.corpora.wording_diversity import TOKEN, diversity

    words: list[str] = []
    if options.stop_words is not None:
        words = TextFile(options.stop_words, ReadOptions()).text().split()
        if not words:
            raise OptionError(
                f"{options.stop_words}: no stop words; expected words separated by white space"
            )
    result = diversity(
        Corpus(pairs),
        stop_words=frozenset(words),
        token=TOKEN if options.token is None else options.token,
        **option_values(options, "by", "annotator", "split", "rewrites", "stem"),
    )
    print_findings(result, options, title="Diversity of wording")


def _record(counts: counting.CorpusCounts) -> dict[str, Any]:
    """Return counts for JSON."""
    record = asdict(counts)
    if not any(part.judged for part in counts.annotators.values()):
        for part in record["annotators"].values():
            del part["judged"]
    if not counts.trees:
        del record["trees"]
    return record


def _print_groups(result: counting.GroupCounts, by: str) -> None:
    """Print a table of the groups, and a table of their annotators."""
    note = ""
    if result.several:
        note = overlapping(result.several, result.whole.pairs, by)
    columns = [
        Column(by, key="group"),
        Column("pairs", "count"),
        Column("source words", "count"),
        Column("target words", "count"),
        Column("source a pair", "decimal", digits=1),
        Column("target a pair", "decimal", digits=1),
    ]
    rows: list[list[Cell]] = []
    people: list[tuple[tuple[str, ...], counting.AnnotatorCounts]] = []
    for value, part in result.groups.items():
        group = value or f"(no {by})"
        figures = [nan, nan, nan, nan]
        if with_text := part.pairs - part.without_text:
            source = part.source_tokens
            target = part.target_tokens
            figures = [source, target, source / with_text, target / with_text]
        rows.append([group, part.pairs, *figures])
        people += [((group, name), counts) for name, counts in part.annotators.items()]
    print(f"\n{Table('', columns, rows, note)}")
    if people:
        print(f"\n{_annotators(people, by)}")


def _print(counts: counting.CorpusCounts) -> None:
    """Print the counts of words, annotators, trees and attributes."""
    ids = ""
    if counts.repeated_ids:
        ids = f", {counts.repeated_ids} with an id used before"
    print(f"{counts.pairs} sentence pairs{ids}")
    if counts.without_text < counts.pairs:
        print(f"\n{_sides(counts)}")
    if counts.annotators:
        people = [((name,), part) for name, part in counts.annotators.items()]
        print(f"\n{_annotators(people)}")
        roles = [f"{name} {part.role}" for (name,), part in people if part.role != ROLES[0]]
        if roles:
            print(f"\nroles: {visible(', '.join(roles))}")
    if counts.trees:
        print(f"\n{_trees(counts)}")
    if counts.attributes:
        listing = ", ".join(f"{name} ({n} values)" for name, n in counts.attributes.items())
        print(f"\nattributes: {visible(listing)}")


def _sides(counts: counting.CorpusCounts) -> Table:
    """Return a table of the words of each side."""
    columns = [
        Column("side"),
        Column("words", "count"),
        Column("different", "count"),
        Column("a pair", "decimal", digits=1),
        Column("longest", "count"),
    ]
    rows: list[list[Cell]] = []
    for side in SIDES:
        tokens = getattr(counts, f"{side}_tokens")
        types = getattr(counts, f"{side}_types")
        mean = tokens / (counts.pairs - counts.without_text)
        rows.append([side, tokens, types, mean, getattr(counts, f"longest_{side}")])
    return Table("", columns, rows)


def _trees(counts: counting.CorpusCounts) -> Table:
    """Return a table of the trees by their names."""
    columns = [
        Column("trees"),
        Column("source pairs", "count"),
        Column("source nodes", "count"),
        Column("target pairs", "count"),
        Column("target nodes", "count"),
        Column("deepest", "count"),
    ]
    rows: list[list[Cell]] = []
    for name, part in counts.trees.items():
        source = [part.source, part.source_nodes]
        target = [part.target, part.target_nodes]
        rows.append([name, *source, *target, part.deepest])
    return Table("", columns, rows)


def _annotators(
    people: Sequence[tuple[tuple[str, ...], counting.AnnotatorCounts]], by: str | None = None
) -> Table:
    """Return a table with a row for each annotator (of each group, if there are groups)."""
    columns = [Column("annotator")]
    if by is not None:
        columns.insert(0, Column(by, key="group"))
    names = ("pairs", "empty", "sure", "possible", "nulls", "1-1", "identical")
    columns += [Column(name, "count") for name in names]
    columns.append(Column("source aligned", "percent", unit="%"))
    columns.append(Column("target aligned", "percent", unit="%"))
    judged = any(part.judged for _, part in people)
    if judged:
        columns.append(Column("judged only", "count"))
    rows: list[list[Cell]] = []
    for words, part in people:
        has_text = part.source_tokens or part.target_tokens
        row: list[Cell] = [*words, part.pairs, part.empty, part.sure, part.possible]
        row += [part.nulls, part.one_to_one, part.identical if has_text else nan]
        row.append(part.source_aligned / part.source_tokens if part.source_tokens else nan)
        row.append(part.target_aligned / part.target_tokens if part.target_tokens else nan)
        if judged:
            row.append(part.judged)
        rows.append(row)
    return Table("", columns, rows)
