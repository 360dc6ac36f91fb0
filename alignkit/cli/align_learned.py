"""Give `learn` and `align` the same options for learning from gold."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from alignkit.aligner.settings import LONGEST_PIECE
from alignkit.cli.messages import say
from alignkit.errors import AlignerError, OptionError

if TYPE_CHECKING:
    from alignkit.aligner import Aligner
    from alignkit.aligner.refine import LearningReport
    from alignkit.corpus import Corpus

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
    from alignkit.aligner.refine.priors import Prior

    Prior.read(prior)


def check_gold(corpus: Corpus, gold: str, name: str) -> None:
    """Refuse a corpus with too few gold pairs or no sure link, before an aligner is trained."""
    from alignkit.aligner.refine.gold import different, is_learnable
    from alignkit.aligner.refine.validation import FOLDS

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
    from alignkit.aligner.refine import Refiner

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
