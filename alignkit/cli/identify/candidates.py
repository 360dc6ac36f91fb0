"""Find candidates for paraphrases: pairs of documents, of sentences in them, or of grouped texts.

Use `documents` first and let people take the pairs from them by hand, if the corpus should have
paraphrases that no measure of similarity finds. This needs scikit-learn: pip install
'alignkit[identify]'.

For example:
  alignkit candidates documents news.jsonl --date day --min-similarity 0.2 -o docs.jsonl
  alignkit candidates sentences docs.jsonl -o candidates.jsonl
"""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from alignkit.cli.common.media import add_media, print_result
from alignkit.cli.parser import add_options, number, output_file, real

if TYPE_CHECKING:
    from alignkit.identification.similarity import Similarity
    from alignkit.tables.result import Result

COMMANDS = {
    "documents": "pair similar documents, by topic, date and similarity",
    "sentences": "find similar windows of lines in pairs of documents",
    "groups": "pair texts of a group, such as definitions of a term, by clusters",
    "retrieve": "measure how high the other text of a pair ranks among all texts",
}
"""The subcommands; each has a module."""

SHARE = real("a number from 0 to 1", 0, 1)


def add_similarity(parser: argparse.ArgumentParser) -> None:
    """Declare how texts are compared."""
    add_options(parser.add_argument_group("similarity"), """
        --ngrams N-M  lengths of the character n-grams within words (default: 2-4)
        --words  compare words instead of character n-grams
        """, ngrams={"type": two_numbers, "default": (2, 4)})  # fmt: skip


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Declare the output."""
    group = parser.add_argument_group("output")
    add_options(group, f"""
        -o, --output FILE  file for {what} (default: none; only the report is printed)
        --seed N  seed of random draws (default: 0)
        """, output={"type": output_file}, seed={"type": number(0), "default": 0})  # fmt: skip
    add_media(group)


def print_report(result: Result, options: argparse.Namespace) -> None:
    """Print a report; if the candidates go to standard output, print it on stderr."""
    from alignkit.cli.common.messages import say

    if options.output == "-":
        for line in [*result.head, *result.cautions, result.settings]:
            say(str(line))
    else:
        print_result(result, options)


def similarity_of(options: argparse.Namespace) -> Similarity:
    """Return the similarity that the options name."""
    from alignkit.identification.similarity import Similarity

    return Similarity(ngrams=options.ngrams, words=options.words)


def two_numbers(text: str) -> tuple[int, int]:
    """Read a range such as 2-4, or a single number."""
    match = re.fullmatch(r"([1-9][0-9]?)(?:-([1-9][0-9]?))?", text)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise argparse.ArgumentTypeError(f"expected a range such as 2-4, not {text[:40]!r}")
    return int(match[1]), int(match[2] or match[1])
