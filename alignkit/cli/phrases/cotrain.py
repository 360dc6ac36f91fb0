"""Find paraphrases in sentence pairs without links, by co-training.

Words that both sentences of a pair have teach contexts in which paraphrases stand; words and
phrases in such contexts are new paraphrases, which teach further contexts (Barzilay & McKeown
2001). With parts of speech (the columns source.upos and target.upos, as CoNLL-U has), contexts are
parts of speech; without, they are words, and few paraphrases are found.

Each line is one paraphrase, in tab-separated columns: e1, e2, p(e2 | e1), p(e1 | e2), and how often
it was found.

For example:
  alignkit cotrain corpus.jsonl -o paraphrases.tsv
  alignkit cotrain corpus.jsonl --strength 0.8 --min-count 3 --rules rules.tsv -o paraphrases.tsv
  alignkit score-phrases paraphrases.tsv gold.json --annotator gold --ignore-identical
"""

from __future__ import annotations

from alignkit.cli.common.inputs import Input, add_input, add_reading_arguments
from alignkit.cli.common.messages import say, warn
from alignkit.cli.parser import (
    Options,
    Parser,
    add_options,
    number,
    option_values,
    output_file,
    real,
    saved_file,
)
from alignkit.io.atomic_files import replacing


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit cotrain`."""
    add_input(parser)
    add_options(
        parser.add_argument_group("co-training"),
        """
        --strength X  least share of paraphrases between the contexts of a rule (default: 0.95)
        --min-count N  least number of paraphrases of a rule (default: 3)
        --context N  most words of a context on each side (default: 3)
        --max-length N  most words of a phrase (default: 3)
        --rounds N  most rounds; it ends earlier if nothing new is found (default: 10)
        """,
        strength={"type": real("a share from 0 to 1", 0, 1), "default": 0.95},
        min_count={"type": number(1), "default": 3},
        context={"type": number(1), "default": 3},
        max_length={"type": number(1), "default": 3},
        rounds={"type": number(1), "default": 10},
    )
    add_options(
        parser.add_argument_group("output"),
        """
        -o, --output FILE  file for the paraphrases (default: stdout)
        --rules FILE  file for the rules: left and right context of the source and of the target,
            paraphrases, other pairs
        """,
        output={"type": output_file, "default": "-"},
        rules=saved_file,
    )
    add_reading_arguments(parser)


def run(options: Options) -> None:
    """Learn paraphrases and their contexts, and write both."""
    from alignkit.rules.cotraining import cotrain

    read = Input.of(options)
    limits = option_values(options, "strength", "min_count", "context", "max_length", "rounds")
    result = cotrain(read.pairs(needed=True), **limits)
    with replacing(options.output) as out:
        for source, target, *numbers in result.rows():
            figures = "\t".join(f"{value:.6g}" for value in numbers)
            out.write(f"{' '.join(source)}\t{' '.join(target)}\t{figures}\n")
    if options.rules is not None:
        with replacing(options.rules) as out:
            for rule in result.rules:
                contexts = "\t".join(map(" ".join, (*rule.source, *rule.target)))
                out.write(f"{contexts}\t{rule.positive}\t{rule.negative}\n")
    if result.left_out:
        warn(f"{options.input}: {result.left_out} x pair without words on both sides, left out")
    if n := result.untagged:
        say(f"{options.input}: {n} x pair without parts of speech: words are contexts")
    say(
        f"{options.input}: {len(result.paraphrases):,} paraphrases, by {len(result.rules):,} "
        f"rules in {result.rounds} rounds"
    )
