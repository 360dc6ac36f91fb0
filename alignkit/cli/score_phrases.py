"""Score a list of phrase pairs against a gold standard.

Of the list, a TSV of two columns or a Moses phrase table, those phrase pairs are kept that occur
inside a sentence pair of the gold corpus; every such occurrence is then compared with the phrase
pairs of the gold alignment (by default those of its sure links).

For example:
  alignkit score-phrases phrase-table.gz gold.xml --annotator gold --ignore-identical
  alignkit score-phrases list.tsv gold.align --source test.fr --target test.en --json
"""

from __future__ import annotations

import argparse
import json

from alignkit.cli.inputs import Input, add_reading_arguments, reading_options, the_annotation
from alignkit.cli.kernels import announce
from alignkit.corpus import Corpus, SentencePair


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("table", metavar="TABLE", help="the phrase pairs (.gz too); - is stdin")
    parser.add_argument("reference", metavar="REF", help="the gold standard, with words")
    parser.add_argument(
        "--table-format",
        choices=("tsv", "moses"),
        help="default: moses where the first line has '|||', else tsv",
    )
    parser.add_argument("--annotator", metavar="A", help="whose alignments are the gold standard")
    parser.add_argument(
        "--links", choices=("sure", "possible"), default="sure", help="default: sure"
    )
    parser.add_argument("--ignore-identical", action="store_true", help="leave out equal phrases")
    parser.add_argument("--exact-case", action="store_true", help="match upper and lower case")
    parser.add_argument(
        "--loose", action="store_true", help="gold phrases over unaligned words too"
    )
    parser.add_argument("--min-length", type=int, default=1, metavar="N", help="words a side")
    parser.add_argument("--max-length", type=int, metavar="N", help="words a side")
    parser.add_argument("--ci", action="store_true", help="bootstrap intervals over sentence pairs")
    parser.add_argument("--samples", type=int, default=1000, metavar="N", help="default: 1000")
    parser.add_argument("--seed", type=int, default=12345, metavar="N", help="default: 12345")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    announce()
    from alignkit.cli.score_output import phrase_list_text
    from alignkit.scoring import read_phrase_table, score_phrase_list

    reference = Input(options.reference, options.format, reading_options(options))
    corpus = Corpus(
        SentencePair(pair.id, *pair.words, {"gold": annotation})
        for pair in reference.pairs()
        if (annotation := the_annotation(pair, options.annotator)) is not None
    )
    found = score_phrase_list(
        read_phrase_table(options.table, format=options.table_format, encoding=options.encoding),
        corpus,
        "gold",
        links=options.links,
        exact_case=options.exact_case,
        ignore_identical=options.ignore_identical,
        min_length=options.min_length,
        max_length=options.max_length,
        loose=options.loose,
    )
    if options.ci:
        found = found.with_intervals(samples=options.samples, rng=options.seed)
    if options.json:
        print(json.dumps(found.to_json(), ensure_ascii=False, indent=2))
    else:
        print(phrase_list_text(found))
    return 0
