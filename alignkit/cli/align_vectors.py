"""Read the vectors that `alignkit align` takes, and tell what they hold."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import TYPE_CHECKING

from alignkit.cli.messages import say
from alignkit.cli.progress import Progress
from alignkit.errors import FormatError

if TYPE_CHECKING:
    from alignkit.aligner import Bitext
    from alignkit.aligner.parameters import Parameters
    from alignkit.vectors import WordVectors


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
    from alignkit.vectors import read_vectors

    with Progress(path, None, None) as progress:
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
