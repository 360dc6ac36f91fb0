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

from alignkit._support.wording import visible
from alignkit.agreement.show.media import agreement_csv, agreement_json, agreement_report
from alignkit.cli.common.inputs import Input, add_reading_arguments, reading_options
from alignkit.cli.common.media import check_groups
from alignkit.cli.common.messages import ProgressBar, json_text
from alignkit.cli.corpora.merge import merged
from alignkit.cli.evaluate.agree_options import (
    add_options,
    asks_for_judgments,
    run_on_judgments,
    typed,
)
from alignkit.errors import OptionError
from alignkit.io.atomic_files import refuse_unwritable, replacing
from alignkit.model.choice import naming
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.agreement.result import Agreement
    from alignkit.scoring.link_classes import FunctionWords


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "corpus", metavar="CORPUS", nargs="+", help="files or a folder to read; - is stdin"
    )
    add_options(parser)
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from alignkit.agreement.question import agree

    pass  # regroup

    check_groups(options)
    if asks_for_judgments(options):
        return run_on_judgments(options, lambda: _corpus(options))
    _check(options)  # a wrong option is told before anything is read
    words = _function_words(options)
    corpus = _corpus(options)
    done = _Done()
    with naming(*options.corpus), ProgressBar("sampling", done.fraction, None) as progress:
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

    def tell(self, progress: ProgressBar, done: int, total: int) -> None:
        self._share = done / total
        progress.step(256)


def _function_words(options: argparse.Namespace) -> FunctionWords | None:
    from alignkit.scoring.link_classes import function_words

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


def agreement_output(agreement: Agreement, options: argparse.Namespace) -> str:
    """Return what the options ask for."""
    if options.json:
        return json_text(agreement_json(agreement))
    if options.csv:
        return agreement_csv(agreement)
    if options.medium != "text":
        return agreement_report(agreement, options.medium)
    return "\n\n".join([agreement_report(agreement), *_how_to_go_on(agreement)])


def draw(agreement: Agreement, options: argparse.Namespace, words: FunctionWords | None) -> None:
    """Write the page and the figures, where they are asked for."""
    if options.html:
        from alignkit.agreement.show.page import draw_agreement_page

        page = draw_agreement_page(agreement, function_words=words)
        with replacing(options.html) as out:
            out.writelines(page)
    if options.plot:
        from alignkit.agreement.show.plots import draw_plots

        draw_plots(agreement, options.plot)


def _how_to_go_on(agreement: Agreement) -> list[str]:
    """Say what the article's C needs, where no edits are known and no links were given."""
    models = (levels for pairing in agreement.pairings for levels in pairing.beyond.values())
    edited = any(one.rates for levels in models for one in levels.values())
    if edited or any(caution.code == "given-links" for caution in agreement.cautions):
        return []
    others = [name for name in agreement.corpus.aligners if name not in agreement.annotators]
    who = f"here perhaps one of {visible(', '.join(others))}"
    if not others:
        who = "'alignkit align' makes one, 'merge' adds it"
    return [
        "The article's C takes away what annotators share by editing one automatic alignment:\n"
        f"name the one that they started from by --initial NAME ({who})"
    ]
