"""List what a word is linked to, how often, and where; with --all, make a glossary of all words.

A word linked to several words has one counterpart, their sequence, with … for gaps. An occurrence
is sure if all its links are. Pairs that an annotator did not annotate are counted apart.

For example:
  alignkit concordance corpus.jsonl bank --annotator gold
  alignkit concordance corpus.jsonl 'be|is|are' --regex --side target --html be.html
  alignkit concordance corpus.jsonl leave --lemma lemma
  alignkit concordance corpus.jsonl --all --csv > glossary.csv
"""

from __future__ import annotations

from dataclasses import replace

from alignkit.cli.common.inputs import Input, add_reading_arguments
from alignkit.cli.common.media import add_forms, print_findings
from alignkit.cli.common.messages import warn
from alignkit.cli.parser import Options, Parser, add_options, number, option_values
from alignkit.corpora.concordance import Concordance, Glossary, concordance, glossary
from alignkit.errors import OptionError
from alignkit.model.alignment import SIDES


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit concordance`."""
    add_options(
        parser,
        """
        IN  file or folder to read; - is stdin
        WORD  the word to look for
        --all  list all words with their counterparts, shares and entropy, instead of one word
        --side  side on which to look for WORD (default: source)
        --annotator A  annotator whose links to use (default: of each annotator)
        --lemma COLUMN  search this word attribute, such as lemma, instead of the words, and group
            counterparts by it too; read from the attributes source.COLUMN and target.COLUMN
        --regex  WORD is a regular expression that matches the whole word
        --ignore-case  ignore differences of case
        --context N  number of words shown on either side of the word (default: 5)
        --show N  print at most N lines for each counterpart (default: 5; JSON and CSV have all)
        """,
        IN="input",
        WORD={"dest": "word", "nargs": "?"},
        side=SIDES,
        context={"type": number(0), "default": 5},
        show={"type": number(0), "default": 5},
    )
    add_forms(parser.add_argument_group("output"))
    add_reading_arguments(parser)


def run(options: Options) -> None:
    """Print what a word is linked to, or a glossary of all words."""
    if options.all == (options.word is not None):
        raise OptionError("name one WORD, or add --all for all words")
    if options.all and options.regex:
        raise OptionError("--regex needs a WORD: leave out --all or --regex")
    chosen = option_values(options, "annotator", "lemma", "ignore_case")
    chosen["side"] = options.side or SIDES[0]
    pairs = Input.of(options).pairs(needed=True)
    if options.all:
        findings: Concordance | Glossary = glossary(pairs, **chosen)
    else:
        chosen |= {"regex": options.regex, "context": options.context}
        findings = replace(concordance(pairs, options.word, **chosen), most=options.show)
    for reason, count in findings.left_out.items() if options.csv else ():
        warn(f"{options.input}: {count} {reason}")
    print_findings(findings, options, title=f"{options.word or 'Glossary'}: {options.input}")
