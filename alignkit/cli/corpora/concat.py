"""Join several corpora of different sentence pairs into one.

The pairs keep the order of the files, with all annotations and attributes. Annotators with the same
name count as the same person. An id that occurs in two files is an error; --prefix makes such ids
different. To join annotations of the same pairs, use 'alignkit merge'.

For example:
  alignkit concat news.xml questions.jsonl -o corpus.jsonl
  alignkit concat part-*.jsonl --prefix -o corpus.xml
"""

from __future__ import annotations

from collections import Counter

from alignkit.cli.common.inputs import Input, add_reading_arguments, reading_options
from alignkit.cli.common.messages import json_text
from alignkit.cli.common.named_files import short_names
from alignkit.cli.corpora import convert
from alignkit.cli.parser import Options, Parser, add_options
from alignkit.corpora.join import concat
from alignkit.errors import OptionError, RepeatedIdError
from alignkit.io.inputs import sides_hint


def add_arguments(parser: Parser) -> None:
    add_options(parser, "IN...  files or folders to read; - is stdin", IN="inputs")
    convert.add_corpus_output(parser, "file to write; - is stdout")
    add_options(
        parser,
        """
        --prefix  put the name of the file before each id, as in news/12; with the folder, if two
            files have the same name
        --json  print how many pairs came from each file, as JSON
        """,
    )
    add_reading_arguments(parser)


def run(options: Options) -> None:
    """Write several corpora of different pairs as one."""
    convert.refuse_json_beside(options)
    declared = reading_options(options)
    twice = [path for path, count in Counter(options.inputs).items() if count > 1]
    if twice:
        raise OptionError(f"{twice[0]} is given twice; name each file once")
    inputs = [Input(path, options.format, declared) for path in options.inputs]
    format = convert.corpus_format(options, [source.format for source in inputs])
    names = short_names(options.inputs) if options.prefix else {}
    read = {names.get(source.path, source.path): source.corpus() for source in inputs}
    try:
        corpus = concat(read, prefix=options.prefix)
    except RepeatedIdError as error:
        hint = sides_hint(*inputs)
        raise RepeatedIdError(f"{error}; {hint}") if hint else error from None
    convert.write_whole(corpus, options.output, format)
    if options.json:
        parts = zip(options.inputs, read.values(), strict=True)
        record = {
            "output": options.output,
            "format": format,
            "pairs": len(corpus),
            "annotators": list(corpus.annotators),
            "inputs": [{"path": path, "pairs": len(part)} for path, part in parts],
        }
        print(json_text(record))
