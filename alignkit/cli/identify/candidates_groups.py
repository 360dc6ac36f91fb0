"""Pair the texts of a group, such as the definitions of a term, that fall in one cluster.

IN has columns below a line with their names, or JSON lines, with a group and a text. Texts are
clustered within their group, and every two of a cluster become a pair. Pairs are dropped if one
text contains the other, or they hardly differ in more than punctuation.

For example:
  alignkit candidates groups definitions.tsv --group entity -o candidates.jsonl
  alignkit annotate candidates.jsonl --task judge --scheme parade-votes
"""

from __future__ import annotations

from alignkit.cli.identify import candidates
from alignkit.cli.parser import Options, Parser
from alignkit.errors import OptionError
from alignkit.identification.options import GroupOptions


def add_arguments(parser: Parser) -> None:
    candidates.add_search(
        parser,
        GroupOptions,
        "IN  columns divided by tabs, or JSON lines; - is stdin",
        "--vectors FILE  word vectors; a text is the mean of its words (default: n-grams)",
    )


def run(options: Options) -> None:
    candidates.prepare(options)
    if options.vectors is not None and options.encoder is not None:
        raise OptionError("--encoder and --vectors do the same: leave one of them out")
    from alignkit.align.vectors import read_vectors
    from alignkit.identification.candidates import read_texts
    from alignkit.identification.features import mean_vectors
    from alignkit.identification.groups import candidate_groups

    texts = read_texts(options.input, encoding=options.encoding)
    vectors = options.vectors and mean_vectors(read_vectors(options.vectors))
    candidates.search(options, GroupOptions, candidate_groups, texts, similarity=vectors)
