"""Measure how high the other text of a pair ranks among all texts of a corpus.

Each text of a judged pair is a query; all different texts are ranked by similarity. rank% is 100
(rank - 1)/(N - 1): 0 is first, 50 is chance. Texts as similar as the right one rank before it.

For example:
  alignkit candidates retrieve corpus.json --scheme turku --view retrieval
  alignkit candidates retrieve corpus.jsonl --scheme binary --among texts.txt --at 1 10 100
"""

from __future__ import annotations

from alignkit.cli.common import inputs, schemes
from alignkit.cli.common.encoders import add_encoder, check_encoder
from alignkit.cli.common.files import require_extra
from alignkit.cli.common.media import add_media, print_result
from alignkit.cli.identify.candidates import (
    add_fields,
    fields_of,
    read_text_encoder,
    report_texts,
)
from alignkit.cli.parser import Options, Parser, add_options
from alignkit.identification.options import RetrievalOptions
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.model.labels import get_view


def add_arguments(parser: Parser) -> None:
    inputs.add_input(parser)
    schemes.add_scheme_argument(parser)
    schemes.add_view_argument(parser)
    add_options(parser, "--among FILE  more texts to search, one on each line")
    add_fields(parser, RetrievalOptions)
    add_encoder(
        parser.add_argument_group("encoder"),
        "The similarity of texts is then the cosine of the means of the words' vectors",
    )
    add_media(parser)
    inputs.add_reading_arguments(parser)


def run(options: Options) -> None:
    """Find sentences like given ones."""
    require_extra("identify")
    check_encoder(options)
    from alignkit.identification.retrieval import retrieve

    read = inputs.Input.of(options)
    schemes.settle_scheme(options, read)
    among = []
    if options.among is not None:
        file = TextFile(options.among, ReadOptions(encoding=options.encoding))
        among = [line.strip() for _, line in file.lines(options.among)]
    encoder = read_text_encoder(options)
    result = retrieve(
        read.corpus(judged=True),
        get_view(options.scheme, options.view),
        among,
        **fields_of(options, RetrievalOptions) | {"encoder": encoder},
    )
    report_texts(encoder)
    print_result(result, options)
