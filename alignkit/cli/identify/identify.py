"""Train systems that judge whether pairs are paraphrases, compare them, or use one.

A system is a logistic regression on features of the texts: shared words and letters (overlap), and
how well an aligner aligns the words (align); it is trained on the judged pairs of TRAIN. With TEST,
it judges the pairs of TEST. Without, each pair of TRAIN is judged by a system that was trained on
other pairs. Scores are printed if the pairs have judgments. Predictions are lines with an id, a tab
and a label, as 'alignkit score-labels --predictions' reads them. This needs scikit-learn: pip
install 'alignkit[identify]'.

For example:
  alignkit identify corpus.jsonl --scheme parade --view binary --group entity --compare
  alignkit identify train.json test.json --scheme turku --view base -o predictions.tsv
  alignkit identify train.json --scheme turku --view base --save model.json
  alignkit identify test.json --load model.json -o predictions.tsv
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from alignkit.cli.common import inputs
from alignkit.cli.common.files import require_extra
from alignkit.cli.common.media import add_forms, print_findings
from alignkit.cli.common.messages import ProgressBar
from alignkit.cli.parser import add_options, number, real, saved_file
from alignkit.errors import OptionError
from alignkit.io.atomic_files import refuse_unwritable, replacing
from alignkit.model.labels import get_view

if TYPE_CHECKING:
    from alignkit.identification.evaluation import IdentifierScores
    from alignkit.model.corpus import Corpus
    from alignkit.model.sentence_pair import SentencePair

FEATURES = ("auto", "cosine", "overlap", "align", "bow", "vectors")
RARE = "--strengths --decide --classifier --inductive"
"""The options that only --help-all shows."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_options(parser, """
        TRAIN  judged pairs; with --load, the pairs to judge
        TEST  pairs to judge (default: those of TRAIN, by cross-validation)
        """, TRAIN={"dest": "input"}, TEST={"dest": "test", "nargs": "?"})  # fmt: skip
    group = parser.add_argument_group("labels")
    inputs.add_scheme_argument(group)
    inputs.add_view_argument(group)
    add_options(group, """
        --annotator A  the annotator with the judgments; needed if several judged
        --group ATTRIBUTE  attribute of pairs that belong together, such as goeswith or entity; none
            if there is none
        --leaks  pairs of TEST that are in TRAIN, or share a group with it: refuse or report them
            (default: refuse)
        """, leaks={"choices": ("refuse", "report"), "default": "refuse"})  # fmt: skip
    inputs.add_rewrites_argument(group)
    add_options(parser.add_argument_group("systems"), """
        --features F...  feature sets: cosine of letters, overlap of words, align, bow (bag of
            words), vectors, or auto, which chooses (default: overlap align)
        --compare  compare with cosine, overlap, align, and overlap with align
        --classifier  logistic, or forest, which cannot be saved (default: logistic)
        --strengths C...  values of C to choose from (default: 0.01 0.1 1)
        --decide  what the threshold of cosine makes as high as possible (default: accuracy)
        --inductive  train the aligner without the texts of the pairs to judge
        --function-words L  language of the function words, which are no content words
        --vectors FILE  word vectors for the feature set vectors
        --folds N  number of folds of cross-validation (default: 10)
        --seed N  seed of folds, trees and resamples (default: 0)
        """, features={"default": ("overlap", "align"), "choices": FEATURES},
        classifier={"choices": ("logistic", "forest"), "default": "logistic"},
        strengths={"type": real("a number above 0", 1e-9), "default": (0.01, 0.1, 1.0)},
        decide={"choices": ("accuracy", "f1"), "default": "accuracy"},
        folds={"type": number(2), "default": 10},
        seed={"type": number(0), "default": 0})  # fmt: skip
    group = parser.add_argument_group("output")
    add_options(group, """
        -o, --output FILE  file for the labels: id, tab, label
        --probabilities FILE  file for the probabilities of all labels
        --save FILE  file for the system, trained on all of TRAIN
        --load FILE  use a saved system instead of training one
        """, output={"type": saved_file}, probabilities={"type": saved_file},
        save={"type": saved_file})  # fmt: skip
    add_forms(group)
    inputs.add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    require_extra("identify")
    if options.no_text:
        raise OptionError("--no-text: words that annotations quote are no texts to learn from")
    if options.save is not None and (options.classifier == "forest" or options.vectors):
        raise OptionError("--save: a forest, or a system with word vectors, cannot be saved")
    outputs = (options.output, options.probabilities, options.save)
    refuse_unwritable([path for path in outputs if path is not None])
    scores = _loaded(options) if options.load is not None else _trained(options)
    labels = scores.view.labels
    if options.output is not None:
        with replacing(options.output) as out:
            out.writelines(f"{id}\t{label}\n" for id, label in scores.predictions.items())
    if options.probabilities is not None:
        with replacing(options.probabilities) as out:
            out.write("\t".join(("id", *labels)) + "\n")
            for id, row in scores.probabilities.items():
                out.write("\t".join((id, *(f"{x:.6f}" for x in row))) + "\n")
    print_findings(scores, options, title="Systems that judge pairs")
    return 0


def _read(path: str, options: argparse.Namespace, *, judged: bool) -> Corpus:
    read = inputs.Input(path, options.format, inputs.reading_options(options))
    if judged:
        inputs.settle_scheme(options, read)
    return read.corpus(needed=True, judged=judged)


def _loaded(options: argparse.Namespace) -> IdentifierScores:
    from alignkit.identification.evaluation import evaluate
    from alignkit.identification.identifier import Identifier

    apart = ("test", "save", "compare", "group", "inductive", "function_words", "vectors")
    if any(getattr(options, name) for name in apart):
        raise OptionError("--load judges one file: leave TEST, --save and options of training out")
    identifier = Identifier.load(options.load)
    view = identifier.view
    if options.scheme not in (None, view.scheme.name) or options.view not in ("full", view.name):
        raise OptionError(f"{options.load} judges by {view.scheme.name}, view {view.name}")
    corpus = _read(options.input, options, judged=False)
    return evaluate([identifier], corpus, annotator=options.annotator, rewrites=options.rewrites)


def _trained(options: argparse.Namespace) -> IdentifierScores:
    from alignkit.identification.evaluation import COMPARED, cross_validate, evaluate
    from alignkit.identification.identifier import Identifier

    corpus = _read(options.input, options, judged=True)
    view = get_view(options.scheme, options.view)
    test = None if options.test is None else _read(options.test, options, judged=False)
    how = _training(options, [*corpus, *(test or ())])
    chosen = tuple(options.features)
    systems = [*(x for x in COMPARED if options.compare and x != chosen), chosen]
    if test is None:
        with ProgressBar("folds", None, None) as progress:
            scores = cross_validate(
                corpus, view, systems, count=options.folds, progress=progress.reach, **how
            )
        if options.save is not None:
            Identifier.train(corpus, view, features=chosen, **how).save(options.save)
        return scores
    with ProgressBar("training", None, None) as progress:
        identifiers = []
        for k, features in enumerate(systems):
            trained = Identifier.train(
                corpus, view, test=test, leaks=options.leaks, features=features, **how
            )
            identifiers.append(trained)
            progress.reach((k + 1) / len(systems))
    if options.save is not None:
        identifiers[-1].save(options.save)
    return evaluate(identifiers, test, annotator=options.annotator, rewrites=options.rewrites)


def _training(options: argparse.Namespace, pairs: Iterable[SentencePair]) -> dict[str, Any]:
    """Return the options of training that all systems share."""
    from alignkit.scoring.link_classes import function_words

    names = ("annotator", "inductive", "rewrites", "group", "decide", "classifier", "seed")
    how = {name: getattr(options, name) for name in names}
    how["strengths"] = tuple(options.strengths)
    if options.function_words is not None:
        how["function_words"] = function_words(options.function_words).source
    if options.vectors is not None:
        from alignkit.align.vectors.word_vectors import read_vectors
        from alignkit.identification.features import mean_vectors, tokens

        words = {w for pair in pairs for side in pair.words for w in tokens(" ".join(side))}
        how["encode"] = mean_vectors(read_vectors(options.vectors, words))
    return how
