"""Count what a corpus holds: sentence pairs, words, and the links of each annotator.

For example:
  alignkit stats corpus.xml
  alignkit stats gold.align --source fr.txt --target en.txt --json
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from math import nan

from alignkit.cli.inputs import Input, add_reading_arguments, reading_options
from alignkit.cli.messages import json_text
from alignkit.corpus_counts import AnnotatorCounts, CorpusCounts, count_corpus
from alignkit.report.table import Cell, Column, Table
from alignkit.visible import visible


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("input", metavar="IN", help="file or folder to read; - is stdin")
    parser.add_argument("--json", action="store_true", help="print JSON (default: tables)")
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    counts = count_corpus(Input(options.input, options.format, reading_options(options)).pairs())
    judged = any(part.judged for part in counts.annotators.values())
    if options.json:
        record = asdict(counts)
        for part in record["annotators"].values() if not judged else ():
            del part["judged"]
        print(json_text(record))
    else:
        _print(counts)
    return 0


def _print(counts: CorpusCounts) -> None:
    ids = f", {counts.repeated_ids} with an id used before" if counts.repeated_ids else ""
    print(f"{counts.pairs} sentence pairs{ids}")
    if counts.without_text < counts.pairs:
        with_text = counts.pairs - counts.without_text
        sides = (
            ("source", counts.source_tokens, counts.source_types, counts.longest_source),
            ("target", counts.target_tokens, counts.target_types, counts.longest_target),
        )
        print()
        columns = [
            Column("side"),
            Column("words", "count"),
            Column("different", "count"),
            Column("a pair", "decimal", digits=1),
            Column("longest", "count"),
        ]
        rows: list[list[Cell]] = [
            [side, tokens, types, tokens / with_text, longest]
            for side, tokens, types, longest in sides
        ]
        print(Table("", columns, rows))
    if counts.annotators:
        print()
        print(_annotators(counts.annotators))
    if counts.attributes:
        listing = ", ".join(f"{name} ({n} values)" for name, n in counts.attributes.items())
        print(f"\nattributes: {visible(listing)}")


def _annotators(found: Mapping[str, AnnotatorCounts]) -> Table:
    judged = any(part.judged for part in found.values())
    names = ("pairs", "empty", "sure", "possible", "nulls", "1-1", "identical")
    columns = [
        Column("annotator"),
        *(Column(name, "count") for name in names),
        Column("source aligned", "percent", unit="%"),
        Column("target aligned", "percent", unit="%"),
        *([Column("judged only", "count")] if judged else []),
    ]
    rows: list[list[Cell]] = [
        [name, *_counts(part), *([part.judged] if judged else [])] for name, part in found.items()
    ]
    return Table("", columns, rows)


def _counts(part: AnnotatorCounts) -> list[float]:
    tokens = part.source_tokens, part.target_tokens
    aligned = part.source_aligned, part.target_aligned
    return [
        part.pairs,
        part.empty,
        part.sure,
        part.possible,
        part.nulls,
        part.one_to_one,
        part.identical if any(tokens) else nan,
        *(a / n if n else nan for a, n in zip(aligned, tokens, strict=True)),
    ]
