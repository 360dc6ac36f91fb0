"""Train or load an aligner and learn from gold: shared by `align` and `learn`."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from alignkit._support.wording import how_many
from alignkit.align.settings import LONGEST_PIECE, Settings
from alignkit.cli.align.input import report_doubts
from alignkit.cli.common.messages import ProgressBar, say, warn
from alignkit.errors import AlignerError, FormatError

if TYPE_CHECKING:
    from alignkit.align.aligner import Aligner
    from alignkit.align.bitext import Bitext
    from alignkit.align.evidence import Annotators
    from alignkit.align.parameters import Round
    from alignkit.align.supervised.measures import LearningReport
    from alignkit.align.vectors.word_vectors import WordVectors
    from alignkit.model.corpus import Corpus


def check_gold(corpus: Corpus, gold: str, name: str) -> None:
    """Refuse a corpus with too few gold pairs or no sure link, before training."""
    from alignkit.align.supervised.gold import FOLDS, different, is_learnable

    pairs = [pair for pair in corpus if pair.aligned_by(gold) and is_learnable(pair)]
    if (count := different(pairs)) < FOLDS:
        raise AlignerError(
            f"{name}: {gold!r} aligned {count} different pairs with 1 to {LONGEST_PIECE} words on "
            f"both sides; learning needs at least {FOLDS}"
        )
    if not any(pair.alignment(gold).sure for pair in pairs):
        raise AlignerError(f"{name}: {gold!r} made no sure links there; learning needs some")


def report_replaced(aligner: Aligner, options: argparse.Namespace) -> None:
    """Report that the corrections of a loaded aligner are replaced."""
    learned = aligner.parameters.learned
    if learned is not None and learned.used:
        say(f"{options.load}: its corrections from gold links are replaced, not extended")


def learned_of(
    aligner: Aligner, corpus: Corpus, gold: str, options: argparse.Namespace, systems: Annotators
) -> tuple[Aligner, LearningReport]:
    """Learn from the pairs of a corpus that the annotator `gold` aligned."""
    from alignkit.align.supervised.refiner import Refiner

    vectors = aligner.vectors
    if systems:
        from alignkit.align.evidence import Evidence

        report_doubts(aligner, corpus, Evidence.pack(corpus, systems))
    refiner = Refiner.train(
        aligner, corpus, gold, options.objective or "links", options.prior or "samples",
        vectors and vectors[0], target_vectors=vectors and vectors[1],
        ignore_identical=options.ignore_identical, evidence=systems, threads=options.threads,
    )  # fmt: skip
    report = refiner.report
    assert report is not None  # it was cross-validated just now
    if report.left_out:
        say(
            f"{report.left_out:,} x annotated pair not used for learning: a side has no words or "
            f"more than {LONGEST_PIECE}, or a million word pairs came before it"
        )
    return refiner.aligner, report


def read_two_vectors(
    options: argparse.Namespace, bitext: Bitext | None = None
) -> tuple[WordVectors | None, WordVectors | None]:
    """Read the vectors of the source (or of both sides) and of the target."""
    if options.vectors is None:
        return None, None
    source, target = (None, None) if bitext is None else (bitext.source.words, bitext.target.words)
    if options.target_vectors is None:
        both = None if source is None or target is None else {*source, *target}
        return _read(options.vectors, both, options.max_size), None
    first = _read(options.vectors, source, options.max_size)
    second = _read(options.target_vectors, target, options.max_size)
    if first.dimensions != second.dimensions:
        sizes = f"{second.dimensions} dimensions, but {options.vectors} has {first.dimensions}"
        problem = f"has vectors of {sizes}: both sides need vectors in the same space"
        raise FormatError(problem, options.target_vectors)
    return first, second


def _read(path: str, words: Collection[str] | None, max_size: int) -> WordVectors:
    from alignkit.align.vectors.files import read_vectors

    with ProgressBar(path, None, None) as progress:
        vectors = read_vectors(path, words, max_size=max_size, progress=progress.reach)
    size = f"{vectors.array.nbytes / 1e6:,.1f} MB"
    say(f"{path}: {len(vectors):,} vectors of {vectors.dimensions} dimensions, {size}")
    return vectors


def train_aligner(
    bitext: Bitext, settings: Settings, options: argparse.Namespace,
    vectors: tuple[WordVectors | None, WordVectors | None], *,
    dictionary: Mapping[tuple[str, str], float] | None = None, folder: str | None = None,
) -> Aligner:  # fmt: skip
    """Train an aligner on a bitext; see `Aligner.train`."""
    from alignkit.align.aligner import Aligner

    with ProgressBar("training", None, None) as progress:
        aligner = Aligner.train(
            bitext, settings=settings, dictionary=dictionary, vectors=vectors[0],
            target_vectors=vectors[1], threads=options.threads, folder=folder,
            progress=lambda done, total, text: progress.reach(done / max(total, 1), text),
        )  # fmt: skip
    if dictionary is not None:
        report_entries(aligner.entries_met, dictionary)
    known = aligner.parameters
    if (used := known.vectors) is not None:
        say(
            f"vectors: found for {used.source_words:,} of {len(known.source):,} source words and "
            f"{used.target_words:,} of {len(known.target):,} target words; {used.word_pairs:,} of "
            f"{len(known.columns):,} word pairs get a pseudo-count"
        )
    return aligner


def load_aligner(options: argparse.Namespace, bitext: Bitext | None = None) -> Aligner:
    """Load the aligner of --load, with the vectors of --vectors."""
    from alignkit.align.aligner import Aligner

    vectors, target_vectors = read_two_vectors(options, bitext)
    aligner = Aligner.load(options.load, vectors=vectors, target_vectors=target_vectors)
    used = aligner.parameters.vectors
    if used is not None and vectors is not None and used.dimensions != vectors.dimensions:
        warn(
            f"{options.load} was trained with vectors of {used.dimensions} dimensions, but "
            f"{options.vectors} has {vectors.dimensions}: use the vectors of the training"
        )
    if used is not None and vectors is None:
        say(
            f"{options.load} was trained with vectors; without --vectors, word pairs that did "
            "not occur in training get no pseudo-counts from them"
        )
    return aligner


def report_entries(met: int, dictionary: Mapping[tuple[str, str], float]) -> None:
    """Report how many entries of a dictionary were used."""
    say(f"dictionary: {met:,} of {len(dictionary):,} entries occur together in the text")


def report_rounds(history: Iterable[Round], words: tuple[int, int], of: str = "") -> None:
    """Report the log-likelihood per word; `words` counts both texts, `of` names the part."""
    for model, group in groupby(history, key=lambda round: round.model):
        rounds = list(group)
        ends = rounds[0], rounds[-1]
        forward = dict.fromkeys(end.forward / max(1, words[1]) for end in ends)
        reverse = dict.fromkeys(end.reverse / max(1, words[0]) for end in ends)
        sides = (" ... ".join(f"{value:.2f}" for value in values) for values in (forward, reverse))
        say(
            f"{of}{model}, {how_many(len(rounds), 'round')}: log-likelihood of a target word "
            f"{next(sides)}, of a source word {next(sides)}"
        )


def report_odd(name: str, empty: int, cut: int) -> None:
    """Report pairs with an empty side, and pairs aligned in pieces."""
    if empty:
        say(f"{name}: {empty:,} x pair with an empty side, without links")
    if cut:
        long = f"pair with more than {LONGEST_PIECE} words on a side"
        say(f"{name}: {cut:,} x {long}, aligned in pieces")
