"""Count what a corpus holds: sentence pairs, words, and the links of each annotator.

For example:
  alignkit stats corpus.xml
  alignkit stats gold.align --source fr.txt --target en.txt --json
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from alignkit.cli.inputs import Input, add_reading_arguments, reading_options
from alignkit.cli.messages import json_text
from alignkit.report.table import render_table
from alignkit.statistics import AnnotatorCounts, CorpusCounts, count_corpus
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
        print(
            render_table(
                [
                    {
                        "side": side,
                        "words": tokens,
                        "different": types,
                        "a pair": f"{tokens / with_text:.1f}",
                        "longest": longest,
                    }
                    for side, tokens, types, longest in sides
                ]
            )
        )
    if counts.annotators:
        print()
        rows = [_row(name, part) for name, part in counts.annotators.items()]
        if any(part.judged for part in counts.annotators.values()):
            for row, part in zip(rows, counts.annotators.values(), strict=True):
                row["judged only"] = part.judged
        print(render_table(rows))
    if counts.attributes:
        listing = ", ".join(f"{name} ({n} values)" for name, n in counts.attributes.items())
        print(f"\nattributes: {visible(listing)}")


def _row(name: str, part: AnnotatorCounts) -> dict[str, object]:
    tokens = part.source_tokens, part.target_tokens
    aligned = part.source_aligned, part.target_aligned
    shares = [f"{a / n:.1%}" if n else "-" for a, n in zip(aligned, tokens, strict=True)]
    return {
        "annotator": name,
        "pairs": part.pairs,
        "empty": part.empty,
        "sure": part.sure,
        "possible": part.possible,
        "nulls": part.nulls,
        "1-1": part.one_to_one,
        "identical": part.identical if any(tokens) else "-",
        "source aligned": shares[0],
        "target aligned": shares[1],
    }
