"""The cells of sentence pairs that may be links, with the features of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.bitext import Bitext, Side
from alignkit.aligner.decoding import Decoding
from alignkit.aligner.priors import code_points
from alignkit.aligner.refine.cells_kernel import (
    cell_features,
    mark_cells,
    neighbour_features,
    similarities,
)
from alignkit.aligner.refine.features import CELL, LEXICON, NEIGHBOURS, VECTORS, names_of
from alignkit.aligner.refine.vectors_kernel import cosines_of_pair, vector_features
from alignkit.aligner.vector_prior import units_of
from alignkit.errors import AlignerError
from alignkit.vectors import Vectors, WordVectors, vectors_of
from alignkit.vectors.sentences import TwoVectors

F4 = NDArray[np.float32]
I2 = NDArray[np.int16]
I4 = NDArray[np.int32]
I8 = NDArray[np.int64]


class Spelled:
    """The spelling of the words of a side, as the kernels take it."""

    def __init__(self, words: Sequence[str]) -> None:
        codes, self.starts = code_points(words)
        self.codes = codes.copy()
        self.letters = np.diff(self.starts).astype(np.int32)
        self.kinds = np.array([_kind(word) for word in words], np.uint8)


def _kind(word: str) -> int:
    if word.isalpha():
        return 0
    if any(letter.isdigit() for letter in word):
        return 2
    return int(not any(letter.isalnum() for letter in word))


@dataclass(frozen=True, eq=False)
class Cells:
    """K cells of P sentence pairs."""

    lengths: I4  # (P, 2) int32: the numbers of words of the pairs
    ends: I8  # (P + 1,) int64: the cells of pair p are those from ends[p] to before ends[p + 1]
    places: I4  # (K, 2) int32: source and target position of each
    words: I4  # (K, 2) int32: the numbers of the two words in the bitext
    features: F4

    @classmethod
    def of(
        cls,
        decoder: Decoding,
        bitext: Bitext,
        begin: int,
        end: int,
        vectors: TwoVectors | None = None,
        spelled: tuple[Spelled, Spelled] | None = None,
    ) -> Cells:
        """Return the cells of the pairs from begin to before end of a bitext."""
        source, target = bitext.source, bitext.target
        mine, other = spelled or (Spelled(source.words), Spelled(target.words))
        forward, reverse = decoder.posteriors(begin, end)
        sides = source.ids, source.starts, target.ids, target.starts
        pairs = begin, end, *sides
        likeness = np.zeros((len(forward), 2), np.float32)
        similarities(*pairs, mine.codes, mine.starts, other.codes, other.starts, likeness)
        compared = [] if vectors is None else _compared(bitext, begin, end, vectors)
        between = [matrices[-1].ravel() for matrices in compared]
        cosines = np.concatenate([np.empty(0, np.float32), *between])
        marks = np.zeros(len(forward), np.uint8)
        means = np.minimum((forward + reverse) * np.float32(0.5), np.float32(1))
        count = mark_cells(
            begin, end, source.starts, target.starts, means, likeness, cosines, marks
        )
        names = names_of(vectors=vectors is not None, second=True)
        features = np.zeros((count, len(names)), np.float32)
        places = np.empty((count, 2), np.int32)
        ends = np.zeros(end - begin + 1, np.int64)
        cell_features(
            *pairs, mine.kinds, other.kinds, mine.letters, other.letters,
            forward, reverse, *decoder.lexical(begin, end), likeness, marks, features, places, ends,
        )  # fmt: skip
        for k, matrices in enumerate(compared):
            vector_features(*matrices, places, ends[k], ends[k + 1], features, len(CELL))
        return cls.placed(bitext, begin, end, ends, places, features)

    @classmethod
    def placed(
        cls, bitext: Bitext, begin: int, end: int, ends: I8, places: I4, features: F4
    ) -> Cells:
        """Return cells of the pairs from begin to before end of a bitext, of which all is known."""
        lengths, words = np.empty((end - begin, 2), np.int32), np.empty((len(places), 2), np.int32)
        counts = np.diff(ends)
        for side, column in ((bitext.source, 0), (bitext.target, 1)):
            lengths[:, column] = side.lengths[begin:end]
            starts = np.repeat(side.starts[begin:end], counts)
            words[:, column] = side.ids[starts + places[:, column]]
        return cls(lengths, ends, places, words, features)

    @cached_property
    def pair_of(self) -> I8:
        """The (K,) number of the pair of each cell."""
        return np.repeat(np.arange(len(self.lengths)), np.diff(self.ends))


def set_neighbours(cells: Cells, probabilities: F4, features: F4) -> None:
    """Set the features of the second round from the probabilities (K,) of the first."""
    column = features.shape[1] - len(NEIGHBOURS)
    neighbour_features(cells.lengths, cells.ends, cells.places, probabilities, features, column)


def lexicon_columns(features: F4) -> slice:
    """Return where the features of the gold lexicon are."""
    vectors = bool(features.shape[1] > len(names_of(vectors=False, second=True)))
    first = len(CELL) + len(VECTORS) * vectors
    return slice(first, first + len(LEXICON))


def _compared(bitext: Bitext, begin: int, end: int, vectors: TwoVectors) -> list[tuple[F4, F4, F4]]:
    """Return, for each pair, the cosines of the words within both sides and between them."""
    compared = []
    source = _units(bitext.source, begin, end, vectors[0])
    target = _units(bitext.target, begin, end, vectors[1])
    for mine, theirs in zip(source, target, strict=True):
        if mine.shape[1] != theirs.shape[1]:
            raise AlignerError(
                f"vectors of {mine.shape[1]} and of {theirs.shape[1]} numbers: those of all "
                "words are to be of one space"
            )
        compared.append((_cosines(mine, mine), _cosines(theirs, theirs), _cosines(mine, theirs)))
    return compared


def _cosines(one: I2, other: I2) -> F4:
    matrix = np.empty((len(one), len(other)), np.float32)
    cosines_of_pair(one, other, matrix)
    return matrix


def _units(side: Side, begin: int, end: int, vectors: Vectors) -> Iterator[I2]:
    bounds = side.starts[begin : end + 1] - side.starts[begin]
    if isinstance(vectors, WordVectors):  # each word is asked for once
        ids = side.ids[side.starts[begin] : side.starts[end]]
        used, places = np.unique(ids, return_inverse=True)
        units = units_of(vectors.of([side.words[number] for number in used.tolist()]))
        for first, last in pairwise(bounds.tolist()):
            yield units[places[first:last]]
        return
    for k in range(begin, end):
        yield units_of(vectors_of(vectors, side.sentence(k)))
