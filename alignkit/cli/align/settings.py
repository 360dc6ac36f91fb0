"""Declare the options by which `align` and `learn` train: settings, and files of vectors."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

from alignkit.align.settings import INFERENCES, LONGEST_PIECE, MODELS, Settings
from alignkit.cli.common.messages import ProgressBar, say, warn
from alignkit.cli.parser import number
from alignkit.errors import AlignerError, FormatError, OptionError

if TYPE_CHECKING:
    from alignkit.align.aligner import Aligner
    from alignkit.align.bitext import Bitext
    from alignkit.align.parameters import Parameters
    from alignkit.align.supervised.measures import LearningReport
    from alignkit.align.vectors.word_vectors import WordVectors
    from alignkit.model.corpus import Corpus


TRAINING = {
    "model": ("M", ", ".join(MODELS)),
    "best": (
        "",
        "take the mean of three models, of whole words and of their first 4 and 5 letters: "
        "better, in three times the time",
    ),
    "identity": ("W", "pseudo-count for equal words, as of a lexicon of identical words"),
    "spelling": ("W", "pseudo-count for words that are spelled alike"),
    "inference": ("I", ", ".join(INFERENCES)),
    "agree": ("", "train both directions apart; needs --inference em or vb"),
    "ibm1": ("N", "rounds of IBM 1"),
    "ibm2": ("N", "rounds of IBM 2, for --model ibm2"),
    "hmm": ("N", "rounds of the HMM"),
    "fertility": ("N", "rounds of IBM 3 or 4"),
    "null": ("P", "probability that a word has no counterpart, before it is seen"),
    "band": ("N", "longest jump that is told from longer ones"),
    "kinds": ("N", "how many of the most frequent words have jumps of their own"),
    "jump_smoothing": ("W", "weight of the common jumps in those of a word"),
    "prune": ("", "forget word pairs that IBM 1 links nowhere: smaller models, less to send"),
    "diagonal": ("", "IBM 2: take positions from the distance to the diagonal"),
    "stem": ("N", "letters of a word that make a stem; 0: 3 in small texts, 4 in others"),
    "stem_weight": ("W", "pseudo-count for other words of the same stems; 0: none"),
    "floor": ("W", "pseudo-count of each word pair that occurs"),
    "concentration": ("W", "pseudo-count of what does not occur with a word"),
    "vector_weight": ("W", "--vectors: pseudo-count of words with the same vector"),
    "vector_least": ("C", "--vectors: cosine from which on there is a pseudo-count"),
}
"""For each of `Settings`, what its value is called and what it does."""

SETTINGS = tuple(field.name for field in fields(Settings))


def add_vectors(group: argparse._ArgumentGroup) -> None:
    """Add the options that name files of vectors."""
    group.add_argument(
        "--vectors",
        metavar="FILE",
        help="vectors of words, as text (word2vec, fastText's .vec, GloVe), binary (word2vec) or "
        ".npz: words that occur together get pseudo-counts as their vectors are near; with --load, "
        "those that were not trained on",
    )
    group.add_argument(
        "--target-vectors",
        metavar="FILE",
        help="those of the target words, in the same space, where they are in a file of their own",
    )


def add_settings(group: argparse._ArgumentGroup) -> None:
    """Add the options of `Settings`."""
    for name in SETTINGS:
        add_setting(group, name)


def given_settings(options: argparse.Namespace, *more: str) -> list[str]:
    """Return the options that were given of `Settings`, of `more`, and of case."""
    names = [name for name in (*SETTINGS, *more) if getattr(options, name) is not None]
    return [flag(name) for name in names] + ["--keep-case"] * options.keep_case


def add_setting(group: argparse._ArgumentGroup, name: str) -> None:
    """Add the option of one of `SETTINGS`."""
    metavar, text = TRAINING.get(name, ("X", "see the page on the models"))
    default = getattr(Settings, name)
    flag = name.replace("_", "-")
    if isinstance(default, bool):
        group.add_argument(
            f"--no-{flag}" if default else f"--{flag}",
            dest=name,
            action="store_const",
            const=not default,
            help=text,
        )
        return
    checkers: dict[type, Callable[[str], object]] = {int: number(0), float: _amount, str: str}
    group.add_argument(
        f"--{flag}",
        dest=name,
        type=checkers[type(default)],
        metavar=metavar,
        help=f"{text} (default: {default})",
    )


def _amount(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number, 0 or more, not {text[:40]!r}")
    return value


def settings_of(options: argparse.Namespace) -> Settings:
    """Return how to train, as the options say."""
    given = {name: getattr(options, name) for name in SETTINGS}
    return Settings(**{name: value for name, value in given.items() if value is not None})


def check_vectors(options: argparse.Namespace) -> None:
    """Refuse what stands beside vectors where there are none, and one file for both sides."""
    names = ("target_vectors", "vector_weight", "vector_least")
    given = [flag(name) for name in names if getattr(options, name) is not None]
    if given and options.vectors is None:
        raise OptionError(f"{given[0]} stands beside --vectors: name the file of vectors by that")
    if options.vectors is not None and options.vectors == options.target_vectors:
        raise OptionError(
            f"{options.vectors} is named twice: leave out --target-vectors where one file holds "
            "the words of both sides"
        )


def flag(name: str) -> str:
    """Return how the option of a name is written."""
    no = "no-" if name in SETTINGS and getattr(Settings, name) is True else ""
    return f"--{no}{name.replace('_', '-')}"


_OBJECTIVES = ("links", "aer", "phrases")


def add_learning(group: argparse._ArgumentGroup, *, default: str | None) -> None:
    """Add the options of what is learned for, and from which start."""
    group.add_argument(
        "--for",
        dest="objective",
        choices=_OBJECTIVES,
        metavar="O",
        help="choose the threshold for links (F1), aer (the error rate; links that are only "
        "possible teach nothing), or phrases (F1 of sure, non-identical phrase pairs) (default: "
        "links)",
    )
    group.add_argument(
        "--ignore-identical",
        action="store_true",
        help="leave links of equal words out of the measure (phrases: always)",
    )
    start = "samples" if default else "samples with --learn, else none"
    group.add_argument(
        "--prior",
        metavar="P",
        default=default,
        help="what learning starts from: samples (learned from the samples of this package), none, "
        f"or a file of a prior (default: {start})",
    )


def refuse_learning(options: argparse.Namespace) -> None:
    """Refuse a prior that is not there, or is none, before anything else is read."""
    prior = options.prior
    if prior in (None, "samples", "none"):
        return
    if not os.path.exists(prior):
        raise OptionError(f"--prior {prior}: no such file; expected samples, none, or a file")
    from alignkit.align.supervised.learned import Prior

    Prior.read(prior)


def check_gold(corpus: Corpus, gold: str, name: str) -> None:
    """Refuse a corpus with too few gold pairs or no sure link, before an aligner is trained."""
    from alignkit.align.supervised.gold import FOLDS, different, is_learnable

    pairs = [pair for pair in corpus if pair.aligned_by(gold) and is_learnable(pair)]
    if (count := different(pairs)) < FOLDS:
        raise AlignerError(
            f"{name}: {gold!r} aligned {count} different pairs with 1 to {LONGEST_PIECE} words on "
            f"both sides; learning takes at least {FOLDS}"
        )
    if not any(pair.alignment(gold).sure for pair in pairs):
        raise AlignerError(f"{name}: {gold!r} made no sure link there; learning takes some")


def tell_replaced(aligner: Aligner, options: argparse.Namespace) -> None:
    """Tell that what a loaded aligner has learned from gold is not what is applied."""
    learned = aligner.parameters.learned
    if learned is not None and learned.used:
        say(f"{options.load}: what was learned from gold before is replaced, not added to")


def learned_of(
    aligner: Aligner, corpus: Corpus, gold: str, options: argparse.Namespace
) -> tuple[Aligner, LearningReport]:
    """Learn from the pairs of a corpus that the annotator `gold` aligned."""
    from alignkit.align.supervised.refiner import Refiner

    vectors = aligner.vectors
    refiner = Refiner.train(
        aligner,
        corpus,
        gold,
        options.objective or "links",
        options.prior or "samples",
        vectors and vectors[0],
        target_vectors=vectors and vectors[1],
        ignore_identical=options.ignore_identical,
        threads=options.threads,
    )
    report = refiner.report
    assert report is not None  # it was cross-validated just now
    if report.left_out:
        say(
            f"{report.left_out:,} x annotated pair not learned from: with a side without words or "
            f"with more than {LONGEST_PIECE}, or after the first million places for links"
        )
    return refiner.aligner, report


def read_two_vectors(
    options: argparse.Namespace, bitext: Bitext | None = None
) -> tuple[WordVectors | None, WordVectors | None]:
    """Read the vectors of the source, or of both sides, and those of the target."""
    if options.vectors is None:
        return None, None
    source = target = None
    if bitext is not None:
        source, target = bitext.source.words, bitext.target.words
    if options.target_vectors is None:
        both = None if source is None or target is None else {*source, *target}
        return _read(options.vectors, both, options.max_size), None
    first = _read(options.vectors, source, options.max_size)
    second = _read(options.target_vectors, target, options.max_size)
    if first.dimensions != second.dimensions:
        raise FormatError(
            f"holds vectors of {second.dimensions} dimensions, but {options.vectors} of "
            f"{first.dimensions}: vectors of both sides are to be of one space",
            options.target_vectors,
        )
    return first, second


def _read(path: str, words: Collection[str] | None, max_size: int) -> WordVectors:
    from alignkit.align.vectors.files import read_vectors

    with ProgressBar(path, None, None) as progress:
        vectors = read_vectors(path, words, max_size=max_size, progress=progress.reach)
    size = f"{vectors.array.nbytes / 1e6:,.1f} MB"
    say(f"{path}: {len(vectors):,} vectors of {vectors.dimensions} dimensions, {size}")
    return vectors


def tell_vectors(known: Parameters) -> None:
    """Tell on stderr how many words of a training had a vector, and how many pairs are near."""
    used = known.vectors
    if used is not None:
        say(
            f"vectors: found for {used.source_words:,} of {len(known.source):,} source words and "
            f"{used.target_words:,} of {len(known.target):,} target words; {used.word_pairs:,} of "
            f"{len(known.columns):,} word pairs get a pseudo-count"
        )


def train_aligner(
    bitext: Bitext,
    settings: Settings,
    options: argparse.Namespace,
    vectors: tuple[WordVectors | None, WordVectors | None],
    *,
    dictionary: Mapping[tuple[str, str], float] | None = None,
    folder: str | None = None,
) -> Aligner:
    """Train an aligner on a bitext; see `Aligner.train`."""
    from alignkit.align.aligner import Aligner

    with ProgressBar("training", None, None) as progress:
        aligner = Aligner.train(
            bitext,
            settings=settings,
            dictionary=dictionary,
            vectors=vectors[0],
            target_vectors=vectors[1],
            threads=options.threads,
            folder=folder,
            progress=lambda done, total, text: progress.reach(done / max(total, 1), text),
        )
    if dictionary is not None:
        say(
            f"dictionary: {aligner.entries_met:,} of {len(dictionary):,} "
            "entries occur together in the text"
        )
    tell_vectors(aligner.parameters)
    return aligner


def load_aligner(options: argparse.Namespace, bitext: Bitext | None = None) -> Aligner:
    """Load the aligner of --load, with the vectors of --vectors."""
    from alignkit.align.aligner import Aligner

    vectors, target_vectors = read_two_vectors(options, bitext)
    aligner = Aligner.load(options.load, vectors=vectors, target_vectors=target_vectors)
    used = aligner.parameters.vectors
    if used is not None and vectors is not None and used.dimensions != vectors.dimensions:
        warn(
            f"{options.load}: was trained with vectors of {used.dimensions} dimensions, but "
            f"{options.vectors} holds {vectors.dimensions}: take those of the training"
        )
    if used is not None and vectors is None:
        say(
            f"{options.load}: was trained with vectors; word pairs that it was not trained on "
            "get none of that without --vectors"
        )
    return aligner
