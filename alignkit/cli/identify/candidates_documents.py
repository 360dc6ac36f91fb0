"""Pair documents that are similar, but not too similar.

IN is a folder of text files, or JSON lines with an id, a text and attributes. With one input, its
documents are paired with each other; with two, those of IN with those of IN2. The output is read
by 'alignkit annotate --task extract', where people take paraphrases from the documents by hand.

A key, such as the film or the topic, or dates should say which documents are on one matter:
similarity alone hardly tells. Choose the band of similarity by eye: --grid 5 shows three pairs from
each of five bins.

For example:
  alignkit candidates documents subtitles.jsonl --key film --grid 5
  alignkit candidates documents news.jsonl --date day --days 7 --min-similarity 0.2 -o docs.jsonl
  alignkit candidates documents news.jsonl --date day --near body --far title -o titles.jsonl
"""

from __future__ import annotations

import argparse
import json

from alignkit.cli.common.files import require_extra
from alignkit.cli.identify.candidates import (
    SHARE,
    add_output,
    add_similarity,
    print_report,
    similarity_of,
)
from alignkit.cli.parser import add_options, number, real
from alignkit.io.atomic_files import replacing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_options(parser, """
        IN  folder of text files, or JSON lines
        IN2  documents to pair with those of IN (default: those of IN with each other)
        --encoding E  encoding of all input (default: utf-8)
        """, IN={"dest": "input"}, IN2={"dest": "other", "nargs": "?"},
        encoding={"default": "utf-8"})  # fmt: skip
    add_options(parser.add_argument_group("which documents are compared"), """
        --key ATTRIBUTE...  attributes that must be equal, such as the film or the topic
        --date ATTRIBUTE  attribute with the date, in ISO 8601
        --days N  largest difference of the dates in days (default: 7)
        --undated  documents without a date: stop, drop them, or pair them with all (default:
            error)
        """, key={"default": []}, days={"type": real("days, 0 or more", 0), "default": 7},
        undated={"choices": ("error", "drop", "all"), "default": "error"})  # fmt: skip
    add_options(parser.add_argument_group("which pairs are kept"), """
        --min-similarity X  least similarity, 0 to 1 (default: any)
        --max-similarity Y  largest similarity; equal texts are kept only with 1 (default: any)
        --per-document K  the K most similar ones of each document (default: all; 10 without --key
            and --date)
        --farthest  of each key with more than two documents, only the least similar pair
        --near NAME  text that is compared (default: text)
        --far NAME  text that should differ: written, and its least similar pairs come first
        --grid N  divide similarity into N bins, and show pairs of each
        --show N  how many pairs of each bin --grid shows (default: 3)
        """, min_similarity={"type": SHARE}, max_similarity={"type": SHARE},
        per_document={"type": number(1)}, near={"default": "text"},
        grid={"type": number(1, 100), "default": 0},
        show={"type": number(1), "default": 3})  # fmt: skip
    add_similarity(parser)
    add_output(parser, "the pairs, as JSON lines")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    require_extra("identify")
    from alignkit.identification.documents import candidate_documents, read_candidate_documents

    names = tuple(dict.fromkeys((options.near, options.far or options.near)))
    inputs = [
        read_candidate_documents(path, texts=names, encoding=options.encoding)
        for path in (options.input, options.other)
        if path is not None
    ]
    result = candidate_documents(
        *inputs, key=options.key, date=options.date, days=options.days, undated=options.undated,
        least=options.min_similarity, most=options.max_similarity,
        per_document=options.per_document, farthest=options.farthest, near=options.near,
        far=options.far, grid=options.grid, show=options.show, similarity=similarity_of(options),
        seed=options.seed,
    )  # fmt: skip
    if options.output is not None:
        with replacing(options.output) as out:
            for row in result.rows():
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
    print_report(result, options)
    return 0
