"""Train the aligner of `align` and `learn`, or load it, and tell on stderr how far that is."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from alignkit.cli.align_vectors import read_two_vectors, tell_vectors
from alignkit.cli.messages import say, warn
from alignkit.cli.progress import Progress

if TYPE_CHECKING:
    from alignkit.aligner import Aligner, Bitext
    from alignkit.aligner.settings import Settings
    from alignkit.vectors import WordVectors


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
    from alignkit.aligner import Aligner

    with Progress("training", None, None) as progress:
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
    from alignkit.aligner import Aligner

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
