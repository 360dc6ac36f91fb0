"""Find similar windows of lines in pairs of documents.

DOCS has a pair of documents on each line, as 'alignkit candidates documents' writes them; with
TARGET, both are text files. Candidates are chosen by their letters, so pairs that are worded
differently are missed: --recall shows how many of known pairs are found.

For example:
  alignkit candidates sentences docs.jsonl -o candidates.jsonl
  alignkit candidates sentences docs.jsonl --recall gold.jsonl
  alignkit candidates sentences en.txt fr.txt --sample 200 -o candidates.jsonl
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from alignkit.cli.common.files import require_extra
from alignkit.cli.common.inputs import Input
from alignkit.cli.identify.candidates import (
    SHARE,
    add_output,
    add_similarity,
    print_report,
    similarity_of,
    two_numbers,
)
from alignkit.cli.parser import add_options, number
from alignkit.errors import FormatError, OptionError
from alignkit.io.options import ReadOptions
from alignkit.io.reading import write_corpus
from alignkit.io.text_files import TextFile

if TYPE_CHECKING:
    from alignkit.identification.sentences import TextPair


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_options(parser, """
        DOCS  JSON lines with source and target, or the source text
        TARGET  the target text, if DOCS is a text
        --encoding E  encoding of all input (default: utf-8)
        """, DOCS={"dest": "input"}, TARGET={"dest": "other", "nargs": "?"},
        encoding={"default": "utf-8"})  # fmt: skip
    add_options(parser.add_argument_group("which windows are kept"), """
        --lines N-M  lines of a window (default: 1-3)
        --per-window K  the K most similar target windows of each source window (default: 5)
        --min-similarity X  least similarity (default: 0.1)
        --max-similarity Y  largest similarity (default: 0.9)
        --near-diagonal X  largest difference of the relative positions in the two documents, 0 to
            1 (default: any)
        --negatives  windows that are less similar than 0.1, as examples of no paraphrases
        --sample N  draw N candidates, as many from each bin of 0.05 of similarity
        --recall GOLD  report how many pairs of a corpus with places are found
        """, lines={"type": two_numbers, "default": (1, 3)},
        per_window={"type": number(1), "default": 5}, min_similarity={"type": SHARE},
        max_similarity={"type": SHARE}, near_diagonal={"type": SHARE},
        sample={"type": number(1)})  # fmt: skip
    add_similarity(parser)
    add_output(parser, "the candidates, as alignkit-jsonl")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    require_extra("identify")
    from alignkit.identification.sentences import candidate_sentences, gold_places

    band = options.min_similarity, options.max_similarity
    if options.negatives and band != (None, None):
        raise OptionError("--negatives sets the band of similarity: leave the other options out")
    defaults = (0.0, 0.1) if options.negatives else (0.1, 0.9)
    least, most = (x if x is not None else y for x, y in zip(band, defaults, strict=True))
    gold = []
    if options.recall is not None:
        gold = list(gold_places(Input(options.recall, None, ReadOptions()).pairs()))
    result = candidate_sentences(
        _documents(options), lines=options.lines, per_window=options.per_window, least=least,
        most=most, near_diagonal=options.near_diagonal, sample=options.sample, gold=gold,
        similarity=similarity_of(options), seed=options.seed,
    )  # fmt: skip
    if options.output is not None:
        write_corpus(result.pairs, options.output, format="alignkit-jsonl")
    print_report(result, options)
    return 0


def _documents(options: argparse.Namespace) -> Iterator[TextPair]:
    from alignkit.identification.documents import read_candidate_documents
    from alignkit.identification.sentences import TextPair

    if options.other is not None:
        reading = ReadOptions(encoding=options.encoding)
        texts = [TextFile(path, reading).text() for path in (options.input, options.other)]
        yield TextPair(Path(options.input).stem, *texts, {})
        return
    sides = ("source", "target")
    rows = read_candidate_documents(options.input, texts=sides, encoding=options.encoding)
    if not rows:
        raise FormatError("has no pairs of documents", options.input)
    for row in rows:
        yield TextPair(row.id, row.texts["source"], row.texts["target"], row.attributes)
