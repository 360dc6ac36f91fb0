"""Score a list of phrase pairs against a gold standard.

The list is a TSV file of two columns, a table of 'alignkit phrases --table' or one of Moses. Only
phrase pairs that occur inside a sentence pair of the gold corpus are scored: each occurrence is
compared with the phrase pairs of the gold alignment (by default of its sure links).

For example:
  alignkit score-phrases phrase-table.gz gold.xml --annotator gold --ignore-identical
  alignkit score-phrases list.tsv gold.align --source test.fr --target test.en --json
"""

from __future__ import annotations

from dataclasses import replace

from alignkit.cli.common.inputs import Input, add_reading_arguments
from alignkit.cli.common.media import drawing_of
from alignkit.cli.common.messages import in_words_of, json_text, warn
from alignkit.cli.evaluate.score import add_draws, settle_draws
from alignkit.cli.parser import Options, Parser, add_options, number, option_values
from alignkit.errors import OptionError
from alignkit.io.inputs import Choice, naming
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit score-phrases`."""
    add_options(
        parser,
        """
        TABLE  phrase pairs to score (.gz too); - is stdin
        REF  the gold standard, with words
        --table-format  format of TABLE (default: moses if the first line has '|||', else tsv)
        """,
        TABLE="table",
        REF="reference",
        table_format=("tsv", "moses"),
    )
    add_options(
        parser.add_argument_group("scoring"),
        """
        --annotator A  annotator of the gold standard, if there are several
        --links  sure: use sure links, possible: use sure and possible links (default: sure)
        --ignore-identical  leave out pairs of equal phrases (default: keep them)
        --exact-case  distinguish upper and lower case (default: ignore case)
        --loose  extend gold phrases over unaligned words at their ends (default: tight)
        --min-length N  minimum number of words on each side (default: 1)
        --max-length N  maximum number of words on each side (default: no limit)
        """,
        links={"choices": ("sure", "possible"), "default": "sure"},
        min_length={"type": number(1), "default": 1},
        max_length=number(1),
    )
    group = parser.add_argument_group("output")
    add_options(group, "--ci  print bootstrap intervals over sentence pairs")
    add_draws(group, "for --ci")
    add_options(group, "--json  print JSON (default: a table)")
    add_reading_arguments(parser)


def run(options: Options) -> None:
    """Score a list of phrase pairs against gold alignments."""
    settle_draws(options, drawn=options.ci, wanting="add --ci")
    from alignkit.scoring.phrase_list import read_phrase_table, score_phrase_list

    reference = Input.of(options, options.reference)
    choice = Choice(reference.path, options.annotator)
    pairs = []
    with naming(reference.path):
        for pair in reference.pairs():
            gold = choice.of(pair)
            annotations = {} if gold is None else {"gold": gold}
            pairs.append(SentencePair(pair.id, *pair.words, annotations))
    corpus = Corpus(pairs)
    choice.check()
    if "gold" not in corpus.annotators:
        raise OptionError(f"{reference.path}: no sentence pair is annotated; nothing to score")
    entries = read_phrase_table(
        options.table,
        format=options.table_format,
        encoding=options.encoding,
        max_size=options.max_size,
    )
    names = ("links", "exact_case", "ignore_identical", "min_length", "max_length", "loose")
    score = score_phrase_list(entries, corpus, "gold", **option_values(options, *names))
    suspicions = [in_words_of(options, text) for text in score.suspicions]
    for text in suspicions:
        warn(f"warning: {text}")
    cautions = [in_words_of(options, text) for text in reference.cautions]
    score = replace(score, suspicions=(*cautions, *suspicions))
    if options.ci:
        score = score.with_intervals(**drawing_of(options))
    if options.json:
        print(json_text(score.to_json()))
    else:
        print(score)
