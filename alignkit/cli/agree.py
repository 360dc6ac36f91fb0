"""Report how far annotators agree, on words, on phrases and on judgments of whole pairs.

CORPUS is one file or folder that holds several annotators, or several files of the same sentence
pairs, one an annotator, who is then called by the name of the file.

With --initial, the automatic alignment that the annotators started from, C is the article's
agreement beyond chance: C = (pi - pi0) / (1 - pi0), where chance edits that alignment. Without it,
chance draws sets of links at random.

For example:
  alignkit agree corpus.xml --annotators anna ben --initial giza --by genre
  alignkit agree corpus.xml --initial giza --adjudicated gold --html report.html
  alignkit agree corpus.jsonl --on judgments --scheme turku --view binary --html page.html
  alignkit agree A.align.txt B.align.txt C.align.txt --format rte --missing-initial empty --csv
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from alignkit.choice import naming
from alignkit.cli.agree_judgments import asks_for_judgments, run_on_judgments
from alignkit.cli.agree_options import add_options, typed
from alignkit.cli.grouping import check_groups
from alignkit.cli.inputs import Input, add_reading_arguments, reading_options
from alignkit.cli.merge import merged
from alignkit.cli.progress import Progress
from alignkit.corpus import Corpus
from alignkit.errors import OptionError
from alignkit.output import refuse_unwritable, replacing
from alignkit.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.report.word_kinds import FunctionWords


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "corpus", metavar="CORPUS", nargs="+", help="files or a folder to read; - is stdin"
    )
    add_options(parser)
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from alignkit.agreement import agree
    from alignkit.cli.agree_output import agreement_output, draw

    check_groups(options)
    if asks_for_judgments(options):
        return run_on_judgments(options, lambda: _corpus(options))
    _check(options)  # a wrong option is told before anything is read
    words = _function_words(options)
    corpus = _corpus(options)
    done = _Done()
    with naming(*options.corpus), Progress("sampling", done.fraction, None) as progress:
        agreement = agree(
            corpus,
            options.annotators,
            initial=options.initial,
            adjudicated=options.adjudicated,
            systems=options.system,
            by=options.by,
            split=options.split,
            seed=options.seed,
            workers=options.workers,
            progress=lambda *counts: done.tell(progress, *counts),
            **typed(options),
        )
    output = agreement_output(agreement, options)
    draw(agreement, options, words)
    with replacing("-") as out:
        out.write(output + "\n")
    return 0


def _check(options: argparse.Namespace) -> None:
    from alignkit.agreement.options import contradictions

    contradictions(typed(options), options.initial)
    refuse_unwritable(path for path in (options.html, options.plot) if path is not None)
    if len(options.corpus) == 1 and options.in_order:
        raise OptionError("--in-order joins several files, and one is named: leave it out")


class _Done:
    """Remember how much is done."""

    def __init__(self) -> None:
        self._share: float | None = None

    def fraction(self) -> float | None:
        return self._share

    def tell(self, progress: Progress, done: int, total: int) -> None:
        self._share = done / total
        progress.step(256)


def _function_words(options: argparse.Namespace) -> FunctionWords | None:
    from alignkit.report.word_kinds import function_words

    if options.function_words is None:
        return None
    if options.html is None:
        raise OptionError("--function-words is about the page; add --html FILE")
    if len(options.function_words) > 2:
        raise OptionError("--function-words takes one language for both sides, or two")
    return function_words(*options.function_words)


def _corpus(options: argparse.Namespace) -> Corpus:
    paths = options.corpus
    if len(paths) == 1:
        return Input(paths[0], options.format, reading_options(options)).corpus(needed=True)
    names = [Path(path).name.split(".")[0] or path for path in paths]
    if len(set(names)) < len(names):
        names = list(paths)
    if len(set(names)) < len(names):
        raise OptionError("the same file is named twice; give one file for each annotator")
    inputs = {
        name: Input(path, options.format, reading_options(options, name=name))
        for name, path in zip(names, paths, strict=True)
    }
    first, *others = names
    corpus = merged(
        inputs[first],
        {name: inputs[name] for name in others},
        partial=options.partial,
        ordered=options.in_order,
    )
    asked = {options.initial, options.adjudicated, *(options.annotators or ())}
    own = [name for name in corpus.annotators if name not in others]
    if len(own) == 1 and own[0] not in asked.union(options.system or ()):
        corpus = corpus.map(lambda pair: _renamed(pair, own[0], first))
    return corpus


def _renamed(pair: SentencePair, old: str, new: str) -> SentencePair:
    names = {name: new if name == old else name for name in pair.annotations}
    return replace(pair, annotations={names[name]: one for name, one in pair.annotations.items()})
