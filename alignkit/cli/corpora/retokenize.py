"""Convert a corpus to another tokenization of the same texts, such as subwords or Moses tokens.

A link goes to every new word that shares a character with the old one. The texts may differ in
white space, in markers of subwords (##, @@, </w>, U+2581) and in escapes (&quot;, @-@).

For example:
  alignkit retokenize gold.xml --source-words fr.bpe --target-words en.bpe -o gold.bpe.jsonl
  alignkit retokenize gold.jsonl --target-words moses.en -o out.jsonl --differing leave-out --json
  alignkit retokenize pud.json --source en.conllu --target ru.conllu --divide-spaces -o pud.xml
"""

from __future__ import annotations

import sys
from collections import Counter

from alignkit.cli.common.inputs import (
    Input,
    add_input,
    add_reading_arguments,
    reading_options,
    tell,
)
from alignkit.cli.common.media import add_media, print_result
from alignkit.cli.common.messages import warn
from alignkit.cli.corpora import convert
from alignkit.cli.parser import Options, Parser, add_options
from alignkit.corpora.retokenization import DIFFERING, retokenize
from alignkit.io.atomic_files import standard_stream
from alignkit.io.inputs import naming
from alignkit.io.parallel_text import ids_of
from alignkit.io.text_files import TextFile
from alignkit.io.text_ids import split_id
from alignkit.model.texts import split_words


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit retokenize`."""
    add_input(parser, "CORPUS")
    add_options(
        parser,
        """
        --source-words FILE  file with the new source words: one line per pair, words separated by
            white space (default: as they are)
        --target-words FILE  new target words
        --divide-spaces  divide words that contain white space, such as '25 000' in CoNLL-U
        --differing  what to do if the texts of a pair differ: stop, or leave the pair out (default:
            stop)
        """,
        differing={"choices": DIFFERING, "default": "stop"},
    )
    convert.add_corpus_output(parser, "file to write; - is stdout")
    add_media(parser.add_argument_group("report"))
    add_reading_arguments(parser)


def _words(reading: TextFile, ids: bool) -> list[list[str]]:
    """Return the words of each line of a text."""
    sentences = []
    for number, line in reading.lines():
        text = line
        if ids:
            _, text = split_id(reading, number, line, reading.path)
        sentences.append(reading.words(text, number))
    return sentences


def run(options: Options) -> None:
    """Write a corpus with the words of other files, and report what was lost."""
    convert.refuse_json_beside(options)
    declared = reading_options(options)
    read = Input.of(options)
    format = convert.corpus_format(options, [read.format])
    paths = options.source_words, options.target_words
    given = [path for path in paths if path]
    ids = bool(given) and ids_of(TextFile(given[0], declared), given).present
    texts = [path and _words(TextFile(path, declared), ids) for path in paths]
    corpus = read.corpus(needed=True)
    with naming(options.input):
        if options.divide_spaces:
            sides = zip(*(pair.words for pair in corpus), strict=True)
            divided = [[split_words(" ".join(words)) for words in side] for side in sides]
            texts = [text or other for text, other in zip(texts, divided, strict=True)]
        result = retokenize(corpus, *texts, differing=options.differing)
    convert.write_whole(result.corpus, options.output, format)
    for id, difference in result.differing:
        warn(f"{options.input}: pair {id!r} left out: the texts differ: {difference}")
    if standard_stream(options.output) is not sys.stdout:
        print_result(result, options)
    else:
        tell(options.input, Counter(result.lost), "not carried over: ")
