"""The cosines of the words of sentence pairs, by word vectors, for the features of cells."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F4, I2
from alignkit.align.bitext import Bitext, Side
from alignkit.align.vectors.word_vectors import (
    UNIT,
    TwoVectors,
    Vectors,
    WordVectors,
    units_of,
    vectors_of,
)
from alignkit.errors import AlignerError


class WordCosines(NamedTuple):
    """The cosines of the words of a pair of N and M words."""

    source: F4  # (N, N) within the source sentence
    target: F4  # (M, M) within the target sentence
    between: F4  # (N, M)


def cosines_of_pairs(
    bitext: Bitext, begin: int, end: int, vectors: TwoVectors
) -> Iterator[WordCosines]:
    """Yield the cosines of the words of each of the pairs `begin:end`."""
    source_units = _units(bitext.source, begin, end, vectors[0])
    target_units = _units(bitext.target, begin, end, vectors[1])
    for source, target in zip(source_units, target_units, strict=True):
        if source.shape[1] != target.shape[1]:
            raise AlignerError(
                f"vectors of {source.shape[1]} and of {target.shape[1]} numbers: both sides "
                "need vectors of the same space"
            )
        within_source = _cosines(source, source)
        within_target = _cosines(target, target)
        yield WordCosines(within_source, within_target, _cosines(source, target))


def _cosines(rows: I2, columns: I2) -> F4:
    """Return the cosines (N, M) of vectors (N, d) and (M, d) of length `UNIT`."""
    # sums of products of whole numbers below 2^53: exact, whatever the order
    products = np.einsum("id,jd->ij", rows.astype(np.float64), columns.astype(np.float64))
    cosines: F4 = (products / UNIT**2).astype(np.float32)
    return cosines


def _units(side: Side, begin: int, end: int, vectors: Vectors) -> Iterator[I2]:
    """Yield the vectors (N, d) of the words of each sentence, all of one length (`units_of`)."""
    if not isinstance(vectors, WordVectors):
        for k in range(begin, end):
            yield units_of(vectors_of(vectors, side.sentence(k)))
        return
    # each different word is asked for once
    bounds = side.starts[begin : end + 1]
    ids = side.ids[bounds[0] : bounds[-1]]
    used, places = np.unique(ids, return_inverse=True)
    units = units_of(vectors.of([side.words[number] for number in used.tolist()]))
    for first, last in pairwise((bounds - bounds[0]).tolist()):
        yield units[places[first:last]]
