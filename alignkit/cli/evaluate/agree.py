"""Measure how well annotators agree on links of words and phrases.

CORPUS is one file or folder with several annotators, or several files of the same sentence pairs,
one for each annotator. In the second case the name of the file is the name of the annotator.

--initial names the automatic alignment that the annotators started from. C is then the agreement
beyond chance of the article: C = (pi - pi0) / (1 - pi0), where chance edits that alignment. Without
it, chance draws sets of links at random.

agree-judgments compares judgments of whole pairs.

For example:
  alignkit agree corpus.xml --annotators anna ben --initial giza --by genre
  alignkit agree corpus.xml --initial giza --adjudicated gold --html report.html
  alignkit agree A.align.txt B.align.txt C.align.txt --format rte --missing-initial empty --csv
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from alignkit.agreement.options import AgreementOptions
from alignkit.cli.common import inputs
from alignkit.cli.common.annotators import (
    add_corpora,
    add_joining,
    add_page,
    check_page,
    read_corpora,
)
from alignkit.cli.common.media import add_media, add_plot, check_plot
from alignkit.cli.common.messages import ProgressBar, json_text, say
from alignkit.cli.options import add_fields, made
from alignkit.cli.parser import Options, Parser, add_options
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing
from alignkit.io.inputs import naming
from alignkit.show.names import LANGUAGES

if TYPE_CHECKING:
    from alignkit.agreement.result import Agreement
    from alignkit.scoring.link_classes import FunctionWords

RARE = "--csv --disagreements --function-words --in-order --markdown --plot-width"
"""Options of output and of reading that only --help-all shows."""


def add_arguments(parser: Parser) -> None:
    add_corpora(parser)
    groups = add_fields(parser, AgreementOptions)
    add_joining(groups["annotators"])
    group = parser.add_argument_group("output")
    add_media(group)
    add_options(
        group.add_mutually_exclusive_group(),
        """
        --tables T,T  print only these tables (default: a summary): words, phrases, pairings,
            chance, others, cells, alpha, fleiss, edits, unseen,
            votes, cautions
        --all  print all tables, and all warnings in full
        """,
        tables={"type": lambda text: text.split(","), "metavar": "T,T"},
        all={"dest": "tables", "action": "store_const", "const": "all"},
    )
    add_page(group)
    add_plot(group, "F1 and agreement beyond chance")
    add_options(
        group,
        f"""
        --function-words L...  with --html, separate function words from content words; name the
            languages of source and target, one for both ({", ".join(LANGUAGES.values())}), or files
            of words (default: not separated)
        """,
    )
    inputs.add_reading_arguments(parser)


def run(options: Options) -> None:
    from alignkit.agreement.question import agree

    asked = made(AgreementOptions, options)  # a wrong option is an error before anything is read
    check_plot(options)
    _check_tables(options)
    check_page(options)
    words = _function_words(options)
    corpus = read_corpora(options)

    def step(count: int, total: int) -> None:
        progress.reach(count / total)

    with naming(*options.corpus), ProgressBar("sampling") as progress:
        agreement = agree(corpus, **vars(replace(asked, progress=step)))
    output = _output(agreement, options)
    if options.html:
        from alignkit.agreement.page import draw_agreement_page

        page = draw_agreement_page(agreement, function_words=words)
        with replacing(options.html) as out:
            out.writelines(page)
    if options.disagreements:
        from alignkit.agreement.disagreements import differences_csv, disagreements

        pairings = agreement.every_two
        differ = (disagreements(agreement.corpus, two.first, two.second) for two in pairings)
        with replacing(options.disagreements) as out:
            out.write(differences_csv(agreement.corpus, differ) + "\n")
    if options.plot:
        say(agreement.plot(options.plot, options.plot_width or "column").caption)
    with replacing("-") as out:
        out.write(output + "\n")


def _check_tables(options: Options) -> None:
    """Refuse unknown tables, and some tables in a form that always has all."""
    from alignkit.agreement.report import check_tables

    if isinstance(options.tables, list):
        check_tables(options.tables)
        if options.json or options.csv:
            flag = "--json" if options.json else "--csv"
            raise OptionError(f"{flag} always has all tables: leave out --tables or {flag}")


def _function_words(options: Options) -> FunctionWords | None:
    """Return the function words of the languages that are named, or None."""
    languages = options.function_words
    if languages is None:
        return None
    if options.html is None:
        raise OptionError("--function-words needs a page; add --html FILE")
    if len(languages) > 2:
        raise OptionError("--function-words takes one language for both sides, or two")
    from alignkit.scoring.link_classes import function_words

    return function_words(*languages)


def _output(agreement: Agreement, options: Options) -> str:
    """Return the report in the form that the options name."""
    from alignkit.agreement.report import COMMAND, draw_report

    if options.json:
        return json_text(agreement.to_json())
    if options.csv:
        return agreement.csv()
    label = "agreement"
    if len(options.corpus) == 1 and (stem := Path(options.corpus[0]).name.split(".")[0]):
        label += f"-{stem}"
    medium = options.medium
    tables = options.tables
    return draw_report(agreement, agreement.answer, medium, tables, label, COMMAND)
