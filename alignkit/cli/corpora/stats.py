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

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import nan
from typing import Any

from alignkit._support.wording import overlapping, visible
from alignkit.cli.common import inputs
from alignkit.cli.common.media import add_forms, add_groups, check_groups, print_findings
from alignkit.cli.common.messages import json_text
from alignkit.cli.parser import add_options
from alignkit.corpora import counts as counting
from alignkit.errors import OptionError
from alignkit.io.options import ReadOptions
from alignkit.io.records import DIFFERING
from alignkit.io.text_files import TextFile
from alignkit.model.alignment import SIDES
from alignkit.model.annotation import ROLES
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.tables.columns import Cell, Column
from alignkit.tables.table import Table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="IN", help="file or folder to read; - is stdin")
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
    inputs.add_rewrites_argument(group)
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


def run(options: argparse.Namespace) -> None:
    check_groups(options)
    source = inputs.Input(options.input, options.format, inputs.reading_options(options))
    pairs = source.pairs(needed=options.diversity)
    if options.diversity:
        _tell_diversity(pairs, options)
        return
    for name in ("annotator", "rewrites", "stop_words", "stem", "token", "csv", "html"):
        if getattr(options, name):
            raise OptionError(f"--{name.replace('_', '-')} needs --diversity: add it")
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


def _tell_diversity(pairs: Iterator[SentencePair], options: argparse.Namespace) -> None:
    from alignkit.corpora.wording_diversity import diversity

    words: list[str] = []
    if options.stop_words is not None:
        words = TextFile(options.stop_words, ReadOptions()).text().split()
        if not words:
            raise OptionError(
                f"{options.stop_words}: no stop words; expected words separated by white space"
            )
    result = diversity(
        Corpus(pairs),
        by=options.by,
        annotator=options.annotator,
        split=options.split,
        rewrites=options.rewrites,
        stop_words=frozenset(words),
        stem=options.stem,
        **({} if options.token is None else {"token": options.token}),
    )
    print_findings(result, options, title="Diversity of wording")


def _record(counts: counting.CorpusCounts) -> dict[str, Any]:
    record = asdict(counts)
    if not any(part.judged for part in counts.annotators.values()):
        for part in record["annotators"].values():
            del part["judged"]
    if not counts.trees:
        del record["trees"]
    return record


def _print_groups(result: counting.GroupCounts, by: str) -> None:
    """Print a table of the groups, and a table of their annotators."""
    if result.several:
        note = overlapping(result.several, result.whole.pairs, by)
    else:
        note = ""
    names = {value: value or f"(no {by})" for value in result.groups}
    columns = [
        Column(by, key="group"),
        *(Column(name, "count") for name in ("pairs", "source words", "target words")),
        *(Column(name, "decimal", digits=1) for name in ("source a pair", "target a pair")),
    ]
    rows: list[list[Cell]] = []
    for value, part in result.groups.items():
        with_text = part.pairs - part.without_text
        tokens = part.source_tokens, part.target_tokens
        means = [n / with_text if with_text else nan for n in tokens]
        rows.append([names[value], part.pairs, *(tokens if with_text else (nan, nan)), *means])
    print(f"\n{Table('', columns, rows, note)}")
    people = [
        ((names[value], name), counts)
        for value, part in result.groups.items()
        for name, counts in part.annotators.items()
    ]
    if people:
        print(f"\n{_annotators(people, by)}")


def _print(counts: counting.CorpusCounts) -> None:
    if counts.repeated_ids:
        ids = f", {counts.repeated_ids} with an id used before"
    else:
        ids = ""
    print(f"{counts.pairs} sentence pairs{ids}")
    rows: list[list[Cell]]
    if counts.without_text < counts.pairs:
        with_text = counts.pairs - counts.without_text
        columns = [
            *(Column("side"), Column("words", "count"), Column("different", "count")),
            *(Column("a pair", "decimal", digits=1), Column("longest", "count")),
        ]
        rows = []
        for side in SIDES:
            tokens, types = (getattr(counts, f"{side}_{what}") for what in ("tokens", "types"))
            longest = getattr(counts, f"longest_{side}")
            rows.append([side, tokens, types, tokens / with_text, longest])
        print(f"\n{Table('', columns, rows)}")
    if counts.annotators:
        people = [((name,), part) for name, part in counts.annotators.items()]
        print(f"\n{_annotators(people)}")
        roles = [f"{name} {part.role}" for (name,), part in people if part.role != ROLES[0]]
        if roles:
            print(f"\nroles: {visible(', '.join(roles))}")
    if counts.trees:
        columns = [
            Column("trees"),
            *(Column(f"{side} {what}", "count") for side in SIDES for what in ("pairs", "nodes")),
            Column("deepest", "count"),
        ]
        rows = [
            [name, part.source, part.source_nodes, part.target, part.target_nodes, part.deepest]
            for name, part in counts.trees.items()
        ]
        print(f"\n{Table('', columns, rows)}")
    if counts.attributes:
        listing = ", ".join(f"{name} ({n} values)" for name, n in counts.attributes.items())
        print(f"\nattributes: {visible(listing)}")


def _annotators(
    people: Sequence[tuple[tuple[str, ...], counting.AnnotatorCounts]], by: str | None = None
) -> Table:
    """Return a table with a row for each annotator (of each group, if there are groups)."""
    judged = any(part.judged for _, part in people)
    names = ("pairs", "empty", "sure", "possible", "nulls", "1-1", "identical")
    columns = [
        *([] if by is None else [Column(by, key="group")]),
        Column("annotator"),
        *(Column(name, "count") for name in names),
        *(Column(f"{side} aligned", "percent", unit="%") for side in SIDES),
        *([Column("judged only", "count")] if judged else []),
    ]
    rows: list[list[Cell]] = []
    for words, part in people:
        tokens = part.source_tokens, part.target_tokens
        aligned = part.source_aligned, part.target_aligned
        links = part.pairs, part.empty, part.sure, part.possible, part.nulls, part.one_to_one
        shares = [a / n if n else nan for a, n in zip(aligned, tokens, strict=True)]
        identical = part.identical if any(tokens) else nan
        rows.append([*words, *links, identical, *shares, *([part.judged] if judged else [])])
    return Table("", columns, rows)
