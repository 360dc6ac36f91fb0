"""Draw rewritten pairs and plain pairs of a corpus for blind judgment.

If an annotator rewrote a pair as a paraphrase, only the author says that it is one; in a blind
audit, others judge it. --mix is the share of such rewrites among the items. The others are plain
pairs that the corpus judges to be paraphrases. Each item goes to --each of the judges. Judges who
are annotators of the corpus do not get pairs that they judged or wrote. Sheets have the two texts,
but no label, context or origin; the key has these. Judges fill the column 'judgment' with a label
of --view, for 'alignkit audit read'. Existing files are never overwritten.

For example:
  alignkit audit pairs corpus.json --n 500 --mix .5 --seed 1 --judges anna ben
  alignkit audit pairs done.jsonl --n 200 --scheme turku --judges anna ben eva --sheets html
  alignkit audit pairs done.jsonl --n 200 --view base --upheld 4 --by month -o march
"""

from __future__ import annotations

import argparse

from alignkit._support.wording import brief
from alignkit.cli.common import inputs, schemes
from alignkit.cli.common.messages import say
from alignkit.cli.evaluate import audit
from alignkit.cli.parser import Options, Parser, add_options, number, option_values
from alignkit.io.inputs import naming


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit audit pairs`."""
    inputs.add_input(parser, "CORPUS")
    group = parser.add_argument_group("items")
    audit.add_draw_arguments(group)
    add_options(
        group,
        """
        --mix SHARE  share of rewrites among the items (default: .5)
        --each N  number of judges for each item (default: 2)
        --plain  draw plain pairs that all annotators judged paraphrases, or all plain pairs
            (default: upheld)
        --annotator A  annotator of the judgments for --plain; repeatable (default: all who judged)
        --by ATTRIBUTE  spread the items over the values of this attribute (period, genre, ..., or
            day, week or month if annotations have times); 'audit read' then also counts by it
        """,
        mix={"type": _share, "default": 0.5},
        each={"type": number(1), "default": 2},
        plain={"choices": ("upheld", "all"), "default": "upheld"},
        annotator={"action": "append"},
    )
    group = parser.add_argument_group("labels")
    about = "of the judgments (default: that of the format, or the one that fits all)"
    schemes.add_scheme_argument(group, about)
    add_options(
        group,
        """
        --view V  view of the scheme with the labels for judges (default: binary, or full if there
            is no binary view)
        --upheld LABEL...  labels of the view that uphold a pair (default: those for paraphrases)
        """,
    )
    audit.add_sheet_arguments(parser)
    inputs.add_reading_arguments(parser)


def _share(text: str) -> float:
    """Return a share between 0 and 1; others are errors of arguments."""
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return float(text)
    except ValueError:
        expected = f"expected a share such as .5 or 50%, not {text[:40]!r}"
        raise argparse.ArgumentTypeError(expected) from None


def run(options: Options) -> None:
    """Draw judged pairs, and write the sheets."""
    audit.check_sheets(options)
    from alignkit.audit.judged_pairs import draw_pairs

    read = inputs.Input.of(options)
    names = ("n", "mix", "seed", "judges", "each", "view", "upheld", "plain", "by")
    with naming(options.input):
        drawn = draw_pairs(
            read.corpus(needed=True),
            scheme=options.scheme or read.kind.scheme or None,
            annotators=options.annotator,
            **option_values(options, *names),
        )
    unasked = []
    if options.mix == 0:
        unasked.append("rewrite")
    elif options.mix == 1:
        unasked.append("plain")
    audit.write_sheets(drawn, options, unasked)
    idle = [name for name in drawn.judges if not any(name in item.judges for item in drawn.items)]
    if idle:
        said = f"{', '.join(map(brief, idle))} judged"
        say(f"{said}, wrote or know all drawn pairs, so their sheets are empty")
    pairs = {item.facts["pair"] for item in drawn.items}
    both = sum(item.facts.get("rewrite_of") in pairs for item in drawn.items)
    if both:
        say(
            f"{both} of the rewrites were drawn together with their original pair, which a "
            "judge of both may notice; drawing fewer items makes this rarer"
        )
    say(f"judgments: {drawn.scale.words()}; upheld: {' or '.join(drawn.upheld)}")
