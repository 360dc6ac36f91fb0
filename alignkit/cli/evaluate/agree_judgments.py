"""Measure how well annotators agree on judgments of whole pairs.

CORPUS is one file or folder with several annotators, or several files of the same sentence pairs,
one for each annotator. In the second case the name of the file is the name of the annotator.

Each view of the scheme is reported: it merges the labels of the judgments into fewer.

For example:
  alignkit agree-judgments corpus.jsonl --scheme turku --view binary --html page.html
  alignkit agree-judgments corpus.jsonl --scheme turku --consensus gold --by genre --csv
  alignkit agree-judgments anna.tsv ben.tsv --scheme turku --view base --partial
"""

from __future__ import annotations

from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.cli.common import inputs
from alignkit.cli.common.annotators import (
    add_corpora,
    add_joining,
    add_page,
    check_page,
    read_corpora,
)
from alignkit.cli.common.media import add_media, add_plot, check_plot, print_result
from alignkit.cli.common.messages import say
from alignkit.cli.options import add_fields, made
from alignkit.cli.parser import Options, Parser
from alignkit.errors import FormatError, UnknownNameError
from alignkit.io.atomic_files import replacing
from alignkit.io.inputs import naming
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile

RARE = "--csv --disagreements --in-order --markdown --plot-width"
"""Options of output and of reading that only --help-all shows."""


def add_arguments(parser: Parser) -> None:
    add_corpora(parser)
    groups = add_fields(parser, JudgmentOptions)
    add_joining(groups["annotators"])
    group = parser.add_argument_group("output")
    add_media(group)
    add_page(group)
    add_plot(group, "the kappas")
    inputs.add_reading_arguments(parser)


def run(options: Options) -> None:
    from alignkit.agreement.judgments import plots, report_tables
    from alignkit.agreement.judgments.question import agree_on_judgments

    check_plot(options)
    check_page(options)
    groups = options.groups
    lines: dict[str, int] = {}
    if groups is not None:
        options.groups, lines = _groups(groups)
    if options.scheme is not None:
        made(JudgmentOptions, options)  # a wrong option is an error before anything is read
    corpus = read_corpora(options)
    asked = made(JudgmentOptions, options)
    with naming(*options.corpus):
        try:
            agreement = agree_on_judgments(corpus, **vars(asked))
        except UnknownNameError as error:  # of an annotator in the file of groups, at its line
            if error.name not in lines or error.name in (options.annotators or ()):
                raise
            raise FormatError(str(error), groups, lines[error.name]) from None
    if options.html:
        with replacing(options.html) as out:
            out.write(agreement.to_html())
    if options.plot:
        figure = plots.judgment_plot(agreement)
        figure.save(options.plot, options.plot_width or "column")
        say(figure.caption)
    if options.disagreements:
        with replacing(options.disagreements) as out:
            out.write(report_tables.disagreements_table(agreement).csv() + "\n")
    print_result(agreement, options)


def _groups(path: str) -> tuple[dict[str, str], dict[str, int]]:
    """Read the group of each annotator, and the line that says so."""
    groups: dict[str, str] = {}
    places: dict[str, int] = {}
    for row, line in TextFile(path, ReadOptions()).lines():
        cells = line.split("\t")
        if cells != [""]:
            if len(cells) != 2 or not all(cells) or cells[0] in groups:
                expected = "expected an annotator, a tab and the group, each annotator once"
                raise FormatError(expected, path, row)
            groups[cells[0]] = cells[1]
            places[cells[0]] = row
    return groups, places
