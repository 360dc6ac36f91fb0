"""Pair documents that are similar, but not too similar.

IN is a folder of text files, or JSON lines with an id, a text and attributes. With one input, its
documents are paired with each other; with two, those of IN with those of IN2. The output is read
by 'alignkit annotate --task extract', where people take paraphrases from the documents by hand;
with --far, the texts that should differ are written, as alignkit-jsonl.

A key, such as the film or the topic, or dates should say which documents are on one matter:
similarity alone hardly tells. Choose the band of similarity by eye: --grid 5 shows three candidates
from each of five bins.

For example:
  alignkit candidates documents subtitles.jsonl --key film --grid 5
  alignkit candidates documents news.jsonl --date day --days 7 --min-similarity 0.2 -o docs.jsonl
  alignkit candidates documents news.jsonl --date day --near body --far title -o titles.jsonl
"""

from __future__ import annotations

from alignkit.cli.identify import candidates
from alignkit.cli.parser import Options, Parser
from alignkit.identification.options import DocumentOptions


def add_arguments(parser: Parser) -> None:
    candidates.add_search(
        parser,
        DocumentOptions,
        """
        IN  folder of text files, JSON lines, or columns below a line with their names; - is stdin
        IN2  documents to pair with those of IN (default: those of IN with each other)
        """,
    )


def run(options: Options) -> None:
    candidates.prepare(options)
    from alignkit.identification.candidates import read_texts
    from alignkit.identification.documents import candidate_documents

    paths = filter(None, (options.input, options.second))
    documents = [read_texts(path, encoding=options.encoding) for path in paths]
    candidates.search(options, DocumentOptions, candidate_documents, *documents)
