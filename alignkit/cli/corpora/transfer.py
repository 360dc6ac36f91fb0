"""Copy labels of words to the other side, along the links of an alignment.

A word gets the label of its strongest link. Columns of B-TYPE, I-TYPE and O are spans: a span goes
to the words in a row whose links agree best with its own. If the other side has such labels too,
the new ones are scored against them.

For example:
  alignkit transfer tagged.jsonl --from source --layer upos
  alignkit transfer tagged.jsonl --layer ner --annotator gold -o out.jsonl --json
"""

from __future__ import annotations

import sys

from alignkit.cli.common.inputs import Input, add_input, add_reading_arguments
from alignkit.cli.common.media import add_forms, print_findings
from alignkit.cli.common.messages import warn
from alignkit.cli.corpora.convert import corpus_format, refuse_json_beside, write_whole
from alignkit.cli.parser import Options, Parser, add_options, format_name, output
from alignkit.corpora.transfer import transfer
from alignkit.io.atomic_files import standard_stream
from alignkit.io.formats import WRITTEN
from alignkit.io.inputs import naming
from alignkit.model.alignment import SIDES


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit transfer`."""
    add_input(parser, "CORPUS")
    add_options(
        parser,
        """
        --layer NAME  labels to transfer: a column of the words, such as upos
        --from  side with the labels (default: source)
        --annotator A  annotator whose links to use, if there are several
        -o, --output OUT  also write the corpus with the new labels; - is stdout
        --to F  format of OUT (default: by its ending, else as the input)
        """,
        layer={"required": True},
        output=output,
        to=format_name(WRITTEN),
        **{"from": {"choices": SIDES, "default": "source", "dest": "from_side"}},
    )
    add_forms(parser.add_argument_group("report"))
    add_reading_arguments(parser)


def run(options: Options) -> None:
    """Write a corpus with labels of words carried over its links."""
    if options.output is not None:
        refuse_json_beside(options)
    read = Input.of(options)
    if options.output is not None:
        format = corpus_format(options, [read.format])
    else:
        format = ""
    how = {"from_side": options.from_side, "annotator": options.annotator}
    with naming(options.input):
        result = transfer(read.corpus(needed=True), options.layer, **how)
    if options.output is not None:
        write_whole(result.corpus, options.output, format)
    for caution in result.cautions:
        warn(f"{options.input}: {caution}")
    if options.output is None or standard_stream(options.output) is not sys.stdout:
        print_findings(result, options, title=f"Transfer of {options.layer}")
