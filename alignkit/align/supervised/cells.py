"""The cells of sentence pairs that may be links, and their features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import B1, F4, F8, I4, I8
from alignkit.align.bitext import Bitext, Side
from alignkit.align.decoders import Decoding, mean_of
from alignkit.align.evidence import Evidence, EvidenceSystem, names_of_channels
from alignkit.align.priors import code_points
from alignkit.align.supervised import cells_kernel as kernel
from alignkit.align.supervised.vectors_kernel import vector_features
from alignkit.align.supervised.word_cosines import WordCosines, cosines_of_pairs
from alignkit.align.vectors.word_vectors import TwoVectors
from alignkit.errors import AlignerError
from alignkit.model.texts import word_kind

CELL = tuple(feature.name.lower() for feature in kernel.CellFeature)
"""Features of posteriors, spelling, neighbours and place; independent of the corpus size."""

VECTORS = (
    "cosine",
    "cosine_row_margin",
    "cosine_column_margin",
    "cosine_row_share",
    "cosine_column_share",
    "cosine_left",
    "cosine_right",
    "cosine_window",
    "cosine_two_words",
    "vectors_known",
)
"""Features of word vectors."""

LEXICON = ("lexicon_pair", "lexicon_source", "lexicon_target", "lexicon_count")
"""Features of the gold links of all other pairs.

How far links of the word pair, of the source word and of the target word exceed those that the
aligner expects, in log odds; and the logarithm of how many cells the word pair has, plus 1.
"""

NEIGHBOURS = tuple(feature.name.lower() for feature in kernel.NeighbourFeature)
"""Features of the second round: the first round's results for the cell and its neighbours."""

STRONG = (
    "logit_mean",
    "logit_geometric",
    "source_null",
    "target_null",
    "row_margin",
    "column_margin",
    "best_in_both",
    "identical",
    "subsequence",
    "neighbours",
    "off_diagonal",
    "cosine",
)
"""Features of the first round that can be weighted from a few pairs."""

STRONG_SECOND = (
    "first",
    "first_row_margin",
    "first_column_margin",
    "first_row_rest",
    "first_column_rest",
    "first_before_both",
    "first_after_both",
)
"""The same for the second round."""


OTHERS = len(LEXICON) + len(NEIGHBOURS)  # the last features: what other pairs and rounds say
_SMOOTH = 0.5  # added to counts of links before they divide


def names_of(*, vectors: bool, evidence: Iterable[EvidenceSystem] = ()) -> tuple[str, ...]:
    """Return the names of the features, in order."""
    names = CELL
    if vectors:
        names += VECTORS
    return names + names_of_channels(evidence) + LEXICON + NEIGHBOURS


def lexicon_columns(features: F4) -> slice:
    """Return the columns of the gold lexicon's features."""
    end = features.shape[1] - len(NEIGHBOURS)
    return slice(end - len(LEXICON), end)


def _side_words(side: Side) -> kernel.SideWords:
    """Return the words of a side in the form that kernels take."""
    codes, starts = code_points(side.words)
    letters = np.diff(starts).astype(np.int32)
    kinds = np.array([word_kind(word) for word in side.words], np.uint8)
    return kernel.SideWords(side.ids, side.starts, codes.copy(), starts, letters, kinds)


class Spelled(NamedTuple):
    """The words of both sides of a bitext, with their spelling, in the form that kernels take."""

    source: kernel.SideWords
    target: kernel.SideWords

    @classmethod
    def of(cls, bitext: Bitext) -> Spelled:
        """Return the words of both sides."""
        return cls(_side_words(bitext.source), _side_words(bitext.target))


@dataclass(frozen=True, eq=False)
class Cells:
    """K cells of P sentence pairs."""

    lengths: I4  # (P, 2) int32: the numbers of words of the pairs
    ends: I8  # (P + 1,) int64: the cells of pair p are those from ends[p] to before ends[p + 1]
    places: I4  # (K, 2) int32: source and target position of each
    words: I4  # (K, 2) int32: the numbers of the two words in the bitext
    features: F4
    probabilities: F4  # (K,) those of the aligner alone
    shares: F4  # (K, S): see `Evidence.set_features`

    @classmethod
    def of(
        cls,
        decoder: Decoding,
        bitext: Bitext,
        begin: int,
        end: int,
        spelled: Spelled,
        vectors: TwoVectors | None = None,
        evidence: Evidence | None = None,
    ) -> Cells:
        """Return the cells of the pairs `begin:end` of a bitext, with evidence on all its pairs."""
        posteriors = decoder.posteriors(begin, end)
        means = np.minimum(mean_of(*posteriors), np.float32(1))
        likeness = np.zeros((len(means), 2), np.float32)
        kernel.similarities(begin, end, *spelled, likeness)
        cosines: list[WordCosines] = []
        if vectors is not None:
            cosines = list(cosines_of_pairs(bitext, begin, end, vectors))
        systems: tuple[EvidenceSystem, ...] = ()
        if evidence is not None:
            systems = evidence.systems
            evidence = evidence.part(begin, end)
        # 1 for each cell that may be a link, as all links of evidence may
        marks = np.zeros(len(means), np.uint8)
        starts = bitext.source.starts, bitext.target.starts
        between = [np.empty(0, np.float32), *(matrices.between.ravel() for matrices in cosines)]
        kernel.mark_cells(begin, end, *starts, means, likeness, np.concatenate(between), marks)
        if evidence is not None:
            marks[evidence.cells()] = 1
        count = int(marks.sum())
        names = names_of(vectors=vectors is not None, evidence=systems)
        features = np.zeros((count, len(names)), np.float32)
        lexical = decoder.lexical(begin, end)
        places, ends = kernel.cell_features(
            begin, end, *spelled, posteriors, lexical, likeness, marks, features
        )
        for k, matrices in enumerate(cosines):
            vector_features(*matrices, places, ends[k], ends[k + 1], features, len(CELL))
        calibrated = mean_of(*decoder.calibrated(begin, end, posteriors))[marks > 0]
        probabilities = np.minimum(calibrated, np.float32(1))
        shares = np.empty((count, 0), np.float32)
        if evidence is not None:
            first = len(names_of(vectors=vectors is not None)) - OTHERS
            of_evidence = features[:, first:-OTHERS]
            pair_of = np.repeat(np.arange(end - begin), np.diff(ends))
            shares = evidence.set_features(pair_of, places, features[:, 0], of_evidence)
        return cls.placed(bitext, begin, end, ends, places, features, probabilities, shares)

    @classmethod
    def placed(
        cls,
        bitext: Bitext,
        begin: int,
        end: int,
        ends: I8,
        places: I4,
        features: F4,
        probabilities: F4,
        shares: F4,
    ) -> Cells:
        """Return cells of the pairs `begin:end` of a bitext from what is given."""
        lengths = np.empty((end - begin, 2), np.int32)
        words = np.empty((len(places), 2), np.int32)
        for column, side in enumerate((bitext.source, bitext.target)):
            starts = side.starts[begin : end + 1]
            lengths[:, column] = np.diff(starts)
            firsts = np.repeat(starts[:-1], np.diff(ends))
            words[:, column] = side.ids[firsts + places[:, column]]
        return cls(lengths, ends, places, words, features, probabilities, shares)

    @cached_property
    def pair_of(self) -> I8:
        """The (K,) pair number of each cell."""
        return np.repeat(np.arange(len(self.lengths)), np.diff(self.ends))

    def values_of(self, others: Cells, values: F4) -> F4:
        """Return the values (K,) of these cells, given those of other cells of the same pairs.

        Cells that are not among the others have the probability of the aligner alone.
        """
        place, is_there = found_in(others.keys, self.keys)
        kept = self.probabilities.copy()
        kept[is_there] = values[place[is_there]]
        return kept

    @cached_property
    def keys(self) -> I8:
        """The (K,) numbers of the cells, rising with pair, source and target position."""
        width = int(self.lengths.max(initial=1)) + 1
        source, target = self.places.T
        return np.asarray((self.pair_of * width + source) * width + target)

    def set_neighbours(self, probabilities: F4, features: F4) -> None:
        """Set the features of the second round from the probabilities (K,) of the first."""
        column = features.shape[1] - len(NEIGHBOURS)
        kernel.neighbour_features(
            self.lengths, self.ends, self.places, probabilities, features, column
        )


def found_in(keys: I8, wanted: I8) -> tuple[I8, B1]:
    """Return the index of each wanted number among rising keys, and whether it is there."""
    last = max(0, len(keys) - 1)
    place = np.minimum(np.searchsorted(keys, wanted), last)
    if not len(keys):
        return place, np.zeros(len(wanted), bool)
    return place, keys[place] == wanted


def _log_odds(counts: F8) -> F8:
    """Return by how much links (n, 3: linked, expected, cells) exceed the expected, in log odds."""
    linked, expected, cells = np.maximum(counts, 0).T
    others = np.maximum(cells - linked, 0)
    fewer = np.maximum(cells - expected, 0)
    more = np.log((linked + _SMOOTH) / (expected + _SMOOTH))
    return np.asarray(more - np.log((others + _SMOOTH) / (fewer + _SMOOTH)))


class GoldCounts:
    """The gold links by word pair and by word; any pair can be left out."""

    def __init__(self, cells: Cells, labels: F4) -> None:
        self._pair_of = cells.pair_of
        self._values = _values(cells, labels)
        source, target = cells.words.astype(np.int64).T
        width = int(target.max(initial=0)) + 1
        # the number (K,) of what each cell counts for: its word pair, its source and target word
        self._keys = [_ranks(key) for key in (source * width + target, source, target)]
        # what each cell's own sentence pair counts (K, 3) for the same
        self._own: list[F8] = []
        for key in self._keys:
            within_pair = _ranks(self._pair_of * (key.max(initial=0) + 1) + key)
            self._own.append(_sums(within_pair, self._values)[within_pair])

    def set_features(self, features: F4, training: B1) -> None:
        """Set the features of all cells from the training pairs (P,) other than its own."""
        inside = training[self._pair_of][:, None]
        values = self._values * inside
        of_others = []
        for key, own in zip(self._keys, self._own, strict=True):
            of_others.append(_sums(key, values)[key] - own * inside)
        cell_counts = np.log1p(np.maximum(of_others[0][:, 2], 0))
        columns = [*map(_log_odds, of_others), cell_counts]
        features[:, lexicon_columns(features)] = np.stack(columns, axis=1)


def _ranks(keys: I8) -> I8:
    """Return the number (K,) of each key among the different keys, in order."""
    return np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _values(cells: Cells, labels: F4) -> F8:
    """Return what each cell counts (K, 3): links, links that the aligner expects, cells."""
    linked = np.maximum(labels, 0)
    expected = cells.features[:, kernel.CellFeature.MEAN]
    return np.stack((linked, expected, np.ones(len(labels))), axis=1).astype(np.float64)


def _sums(numbers: I8, values: F8) -> F8:
    """Return the sums (n, 3) of the values (K, 3) of equal numbers (K,)."""
    count = int(numbers.max(initial=-1)) + 1
    return np.stack([np.bincount(numbers, column, count) for column in values.T], axis=1)


@dataclass(frozen=True, eq=False)
class GoldLexicon:
    """Gold counts of word pairs and of words."""

    source: tuple[str, ...]  # the words that it knows
    target: tuple[str, ...]
    pairs: I4  # (K, 2) int32: the word pairs, rising
    # links, links that the aligner expects, and cells: of word pairs (K, 3), and of words
    pair_counts: F8
    source_counts: F8
    target_counts: F8

    @classmethod
    def of(cls, cells: Cells, labels: F4, source: list[str], target: list[str]) -> GoldLexicon:
        """Count the cells of gold pairs of a bitext with these distinct words."""
        values = _values(cells, labels)
        numbers = []
        tables = []
        names = []
        for column, words in ((0, source), (1, target)):
            different, place = np.unique(cells.words[:, column], return_inverse=True)
            spelled = [words[number] for number in different.tolist()]
            # words of the lexicon are numbered in the order of their spelling
            order = sorted(range(len(spelled)), key=spelled.__getitem__)
            rank = np.empty(len(different), np.int64)
            rank[order] = np.arange(len(different))
            ranks = rank[place.reshape(-1)]
            numbers.append(ranks)
            tables.append(_sums(ranks, values))
            names.append(tuple(spelled[at] for at in order))
        width = max(1, len(names[1]))
        keys, place = np.unique(numbers[0] * width + numbers[1], return_inverse=True)
        pairs = np.stack(np.divmod(keys, width), axis=1).astype(np.int32)
        return cls(names[0], names[1], pairs, _sums(place.reshape(-1), values), *tables)

    def numbers(self, bitext: Bitext) -> tuple[I8, I8]:
        """Return the lexicon's numbers of the distinct words of a bitext; -1 if unknown."""
        source, target = self._numbers
        return (
            np.array([source.get(word, -1) for word in bitext.source.words], np.int64),
            np.array([target.get(word, -1) for word in bitext.target.words], np.int64),
        )

    def set_features(self, cells: Cells, numbers: tuple[I8, I8]) -> None:
        """Set the features of cells of a bitext; `numbers` are those of its words."""
        source = numbers[0][cells.words[:, 0]]
        target = numbers[1][cells.words[:, 1]]
        both = (source >= 0) & (target >= 0)
        wanted = np.where(both, source * self._width + target, -1)
        pair, known_pair = found_in(self._keys, wanted)
        pair_odds, source_odds, target_odds = self._odds
        cell_counts = np.log1p(self.pair_counts[:, 2])
        # in the order of `LEXICON`
        columns = [
            _looked_up(pair_odds, pair, known_pair),
            _looked_up(source_odds, source, source >= 0),
            _looked_up(target_odds, target, target >= 0),
            _looked_up(cell_counts, pair, known_pair),
        ]
        cells.features[:, lexicon_columns(cells.features)] = np.stack(columns, axis=1)

    @cached_property
    def _numbers(self) -> list[dict[str, int]]:
        """The number of each word, by side."""
        return [{word: k for k, word in enumerate(words)} for words in (self.source, self.target)]

    @property
    def _width(self) -> int:
        """By which the number of a source word is multiplied in keys of word pairs."""
        return max(1, len(self.target))

    @cached_property
    def _keys(self) -> I8:
        """The (K,) keys of the word pairs, which increase."""
        keys: I8 = self.pairs[:, 0].astype(np.int64) * self._width + self.pairs[:, 1]
        return keys

    @cached_property
    def _odds(self) -> list[F8]:
        """The log odds of word pairs, source words and target words."""
        return list(map(_log_odds, (self.pair_counts, self.source_counts, self.target_counts)))

    def check(self) -> None:
        """Raise an error if the tables are inconsistent."""
        for name, words in (("source", self.source), ("target", self.target)):
            if list(words) != sorted(set(words)):
                raise AlignerError(f"the {name} words of the gold lexicon do not increase")
        if (self.pairs >= [len(self.source), len(self.target)]).any():
            raise AlignerError("a word pair of the gold lexicon has an unknown word")
        if (np.diff(self._keys) <= 0).any():
            raise AlignerError("the word pairs of the gold lexicon do not increase")


def _looked_up(table: F8, rows: I8, known: B1) -> F8:
    """Return the entry of a table for each row; 0 where it is not known."""
    if not len(table):
        return np.zeros(len(rows))
    return np.where(known, table[rows], 0)
