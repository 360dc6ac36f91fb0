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
  alignkit identify train.json --scheme turku --view base --features overlap align encoder
    --encoder models/multilingual-e5-small
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit.cli.common import inputs, schemes
from alignkit.cli.common.encoders import add_encoder
from alignkit.cli.common.media import add_forms, print_findings
from alignkit.cli.common.messages import ProgressBar
from alignkit.cli.identify.candidates import (
    add_fields,
    fields_of,
    prepare,
    read_text_encoder,
    report,
    report_texts,
)
from alignkit.cli.parser import Options, Parser, add_options, number, output_file, saved_file
from alignkit.errors import OptionError
from alignkit.identification.options import AUTO, IdentifierOptions
from alignkit.io.atomic_files import refuse_unwritable, replacing
from alignkit.model.labels import get_view

if TYPE_CHECKING:
    from alignkit.identification.evaluation import IdentifierScores
    from alignkit.model.corpus import Corpus

RARE = "--strengths --decide --classifier --inductive"
"""The options that only --help-all shows."""
_TRAINING = "test leaks compare inductive function_words vectors folds save"


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit identify`."""
    add_options(
        parser,
        """
        TRAIN  judged pairs; with --load, the pairs to judge
        TEST  pairs to judge (default: those of TRAIN, by cross-validation)
        """,
        TRAIN="input",
        TEST={"dest": "test", "nargs": "?"},
    )
    group = parser.add_argument_group("labels")
    schemes.add_scheme_argument(group)
    schemes.add_view_argument(group)
    add_options(
        group,
        """
        --annotator A  the annotator with the judgments; needed if several judged
        --leaks  pairs of TEST that are in TRAIN, or share a group with it: refuse or report them
            (default: refuse)
        """,
        leaks={"choices": ("refuse", "report"), "default": "refuse"},
    )
    schemes.add_rewrites_argument(group)
    group = parser.add_argument_group("systems")
    add_fields(group, IdentifierOptions)
    add_options(
        group,
        """
        --compare  compare with cosine, overlap, align, overlap with align, and encoder if there
            is one
        --inductive  train the aligner without the texts of the pairs to judge
        --function-words L  language of the function words, which are no content words
        --vectors FILE  word vectors for the feature set vectors
        --folds N  number of folds of cross-validation (default: 10)
        """,
        folds={"type": number(2), "default": 10},
    )
    add_encoder(
        parser.add_argument_group("encoder"),
        "For the feature set encoder, and for auto: the cosine of the means of the words' vectors, "
        "and the share of matched words",
    )
    group = parser.add_argument_group("output")
    add_options(
        group,
        """
        -o, --output FILE  file for the labels: id, tab, label
        --probabilities FILE  file for the probabilities of all labels
        --save FILE  file for the system, trained on all of TRAIN
        --load FILE  use a saved system instead of training one
        """,
        output=output_file,
        probabilities=saved_file,
        save=saved_file,
    )
    add_forms(group)
    inputs.add_reading_arguments(parser)


def run(options: Options) -> None:
    """Train a system that judges pairs, or load one, and print how well it does."""
    prepare(options)
    if options.no_text:
        raise OptionError("--no-text: words that annotations quote are no texts to learn from")
    if options.save is not None and (options.classifier == "forest" or options.vectors):
        raise OptionError("--save: a forest, or a system with word vectors, cannot be saved")
    _check_features(options)
    refuse_unwritable(filter(None, (options.output, options.probabilities, options.save)))
    if options.load is not None:
        scores = _loaded(options)
    else:
        scores = _trained(options)
    if options.output is not None:
        with replacing(options.output) as out:
            out.writelines(f"{id}\t{label}\n" for id, label in scores.predictions.items())
    if options.probabilities is not None:
        with replacing(options.probabilities) as out:
            out.write("\t".join(("id", *scores.view.labels)) + "\n")
            for id, row in scores.probabilities.items():
                out.write("\t".join((id, *(f"{x:.6f}" for x in row))) + "\n")
    if options.output == "-":
        report(scores, options)
    else:
        print_findings(scores, options, title="Systems that judge pairs")


def _check_features(options: Options) -> None:
    """Refuse an encoder without its feature set, and the other way around."""
    named = "encoder" in options.features
    if options.encoder is None and named:
        raise OptionError("the feature set encoder needs --encoder NAME: add it")
    uses = named or AUTO in options.features or options.load is not None
    if options.encoder is not None and not uses:
        raise OptionError("--encoder is for the feature set encoder: add it to --features")


def _read(path: str, options: Options, *, judged: bool) -> Corpus:
    """Read a corpus; if it is judged, settle the scheme of its judgments."""
    read = inputs.Input.of(options, path)
    if judged:
        schemes.settle_scheme(options, read)
    return read.corpus(needed=True, judged=judged)


def _loaded(options: Options) -> IdentifierScores:
    """Judge a file with a saved system."""
    from alignkit.identification.evaluation import evaluate
    from alignkit.identification.identifier import Identifier

    fields = set(fields_of(options, IdentifierOptions)) - {"encoder"}
    for name in (*_TRAINING.split(), *sorted(fields)):
        if getattr(options, name) != options.parser.get_default(name):
            flag = "TEST" if name == "test" else f"--{name.replace('_', '-')}"
            raise OptionError(f"--load judges one file with a trained system: leave {flag} out")
    encoder = read_text_encoder(options)
    identifier = Identifier.load(options.load, encoder=encoder)
    view = identifier.view
    if options.scheme not in (None, view.scheme.text) or options.view not in ("full", view.name):
        raise OptionError(f"{options.load} judges by {view.scheme.name}, view {view.name}")
    corpus = _read(options.input, options, judged=False)
    judging = {"annotator": options.annotator, "rewrites": options.rewrites}
    scores = evaluate([identifier], corpus, **judging)
    report_texts(encoder)
    return scores


def _trained(options: Options) -> IdentifierScores:
    """Train systems, and judge the test file, or the same file by cross-validation."""
    from alignkit.align.vectors.vector_files import read_vectors
    from alignkit.identification.evaluation import COMPARED, cross_validate, evaluate
    from alignkit.identification.features import mean_vectors
    from alignkit.identification.identifier import Identifier
    from alignkit.identification.labelled_pairs import text_of
    from alignkit.identification.overlap_features import tokens
    from alignkit.scoring.link_classes import function_words

    corpus = _read(options.input, options, judged=True)
    view = get_view(options.scheme, options.view)
    test = None
    if options.test is not None:
        test = _read(options.test, options, judged=False)
    judging = {"annotator": options.annotator, "rewrites": options.rewrites}
    how = fields_of(options, IdentifierOptions) | judging | {"inductive": options.inductive}
    chosen = tuple(how.pop("features"))
    how["function_words"] = ()
    if options.function_words:
        how["function_words"] = function_words(options.function_words).source
    if options.vectors is not None:
        words: set[str] = set()
        for pair in (*corpus, *(test or ())):
            for side in pair.words:
                words.update(tokens(" ".join(side)))
        how["encode"] = mean_vectors(read_vectors(options.vectors, words))
    encoder = read_text_encoder(options)
    how["encoder"] = encoder
    systems = [chosen]
    if options.compare:
        compared = COMPARED if encoder is None else (*COMPARED, ("encoder",))
        systems = [*(features for features in compared if features != chosen), chosen]
    if encoder is not None:  # before the progress of the training
        encoder.features([text_of(pair) for pair in (*corpus, *(test or ()))])
    with ProgressBar("training") as progress:
        if test is None:
            scores = cross_validate(
                corpus, view, systems, count=options.folds, progress=progress.reach, **how
            )
            last = options.save and Identifier.train(corpus, view, features=chosen, **how)
        else:
            trained = []
            for k, features in enumerate(systems, 1):
                how |= {"features": features, "test": test, "leaks": options.leaks}
                trained.append(Identifier.train(corpus, view, **how))
                progress.reach(k / len(systems))
            scores = evaluate(trained, test, **judging)
            last = trained[-1]
    if options.save is not None:
        last.save(options.save)
    report_texts(encoder)
    return scores
