"""The cells of sentence pairs that may be links, and their features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from alignkit._support.array_types import B1, F4, F8, I2, I4, I8
from alignkit.align.bitext import Bitext, Side
from alignkit.align.decoders import Decoding, mean_of
from alignkit.align.evidence import Evidence, EvidenceSystem, names_of_channels
from alignkit.align.priors import code_points, cosines, units_of
from alignkit.align.priors_kernel import vector_features
from alignkit.align.supervised import cells_kernel as kernel
from alignkit.align.vectors.word_vectors import TwoVectors, Vectors, WordVectors, vectors_of
from alignkit.errors import AlignerError
from alignkit.model.texts import word_kind

CELL = (
    "mean",
    "logit_mean",
    "logit_forward",
    "logit_reverse",
    "logit_geometric",
    "minimum",
    "logit_minimum",
    "source_null",
    "target_null",
    "row_rival",
    "column_rival",
    "row_margin",
    "column_margin",
    "row_rest",
    "column_rest",
    "best_in_row",
    "best_in_column",
    "best_in_both",
    "identical",
    "repeated",
    "subsequence",
    "prefix",
    "punctuation_both",
    "punctuation_one",
    "digits_both",
    "digits_one",
    "source_length",
    "target_length",
    "length_difference",
    "neighbours",
    "square",
    "before_both",
    "after_both",
    "best_diagonal",
    "best_antidiagonal",
    "above",
    "below",
    "left",
    "right",
    "from_previous_source",
    "from_next_source",
    "from_previous_target",
    "from_next_target",
    "off_diagonal",
    "words_off_diagonal",
    "lexical_mean",
    "logit_lexical_mean",
    "logit_lexical_forward",
    "logit_lexical_reverse",
    "lexical_minimum",
)
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
"""Features of the gold links of all other pairs."""

NEIGHBOURS = (
    "first",
    "logit_first",
    "first_row_margin",
    "first_column_margin",
    "first_row_rest",
    "first_column_rest",
    "first_before_both",
    "first_above",
    "first_before_after",
    "first_left",
    "first_right",
    "first_after_before",
    "first_below",
    "first_after_both",
    "first_best_in_both",
)
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
    own = (*CELL, *(VECTORS if vectors else ()))
    return (*own, *names_of_channels(evidence), *LEXICON, *NEIGHBOURS)


def lexicon_columns(features: F4) -> slice:
    """Return the columns of the gold lexicon's features."""
    end = features.shape[1] - len(NEIGHBOURS)
    return slice(end - len(LEXICON), end)


class Spelled:
    """The spelling of the words of a side, in the form that kernels take."""

    def __init__(self, words: Sequence[str]) -> None:
        codes, self.starts = code_points(words)
        self.codes = codes.copy()
        self.letters = np.diff(self.starts).astype(np.int32)
        self.kinds = np.array([word_kind(word) for word in words], np.uint8)

    @classmethod
    def of(cls, bitext: Bitext) -> tuple[Spelled, Spelled]:
        """Return the spelling of the words of both sides."""
        return cls(bitext.source.words), cls(bitext.target.words)


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
        vectors: TwoVectors | None = None,
        spelled: tuple[Spelled, Spelled] | None = None,
        evidence: Evidence | None = None,
    ) -> Cells:
        """Return the cells of the pairs `begin:end` of a bitext, with evidence on all its pairs."""
        source, target = bitext.source, bitext.target
        mine, other = spelled or Spelled.of(bitext)
        forward, reverse = decoder.posteriors(begin, end)
        pairs = begin, end, source.ids, source.starts, target.ids, target.starts
        likeness = np.zeros((len(forward), 2), np.float32)
        kernel.similarities(*pairs, mine.codes, mine.starts, other.codes, other.starts, likeness)
        if vectors is None:
            compared = []
        else:
            compared = _compared(bitext, begin, end, vectors)
        between = [matrices[-1].ravel() for matrices in compared]
        likely = np.concatenate([np.empty(0, np.float32), *between])
        marks = np.zeros(len(forward), np.uint8)
        means = np.minimum(mean_of(forward, reverse), np.float32(1))
        starts = source.starts, target.starts
        count = kernel.mark_cells(begin, end, *starts, means, likeness, likely, marks)
        systems: tuple[EvidenceSystem, ...] = ()
        if evidence is not None:  # each of its links is a candidate
            evidence, systems = evidence.part(begin, end), evidence.systems
            marks[evidence.cells()] = 1
            count = int(marks.sum())
        names = names_of(vectors=vectors is not None, evidence=systems)
        features = np.zeros((count, len(names)), np.float32)
        places = np.empty((count, 2), np.int32)
        ends = np.zeros(end - begin + 1, np.int64)
        kernel.cell_features(
            *pairs,
            mine.kinds,
            other.kinds,
            mine.letters,
            other.letters,
            forward,
            reverse,
            *decoder.lexical(begin, end),
            likeness,
            marks,
            features,
            places,
            ends,
        )
        for k, matrices in enumerate(compared):
            vector_features(*matrices, places, ends[k], ends[k + 1], features, len(CELL))
        shown = mean_of(*decoder.calibrated(begin, end, (forward, reverse)))[marks > 0]
        shown = np.minimum(shown, np.float32(1))
        cells = cls.placed(bitext, begin, end, ends, places, features, shown)
        if evidence is None:
            return cells
        columns = features[:, len(names_of(vectors=vectors is not None)) - OTHERS : -OTHERS]
        shares = evidence.set_features(cells.pair_of, places, features[:, 0], columns)
        return replace(cells, shares=shares)

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
    ) -> Cells:
        """Return cells of the pairs `begin:end` of a bitext from what is given."""
        lengths = np.empty((end - begin, 2), np.int32)
        words = np.empty((len(places), 2), np.int32)
        counts = np.diff(ends)
        for side, column in ((bitext.source, 0), (bitext.target, 1)):
            lengths[:, column] = side.lengths[begin:end]
            starts = np.repeat(side.starts[begin:end], counts)
            words[:, column] = side.ids[starts + places[:, column]]
        no_shares = np.empty((len(places), 0), np.float32)
        return cls(lengths, ends, places, words, features, probabilities, no_shares)

    @cached_property
    def pair_of(self) -> I8:
        """The (K,) pair number of each cell."""
        return np.repeat(np.arange(len(self.lengths)), np.diff(self.ends))

    def set_neighbours(self, probabilities: F4, features: F4) -> None:
        """Set the features of the second round from the probabilities (K,) of the first."""
        where = (self.lengths, self.ends, self.places)
        column = features.shape[1] - len(NEIGHBOURS)
        kernel.neighbour_features(*where, probabilities, features, column)


def _compared(bitext: Bitext, begin: int, end: int, vectors: TwoVectors) -> list[tuple[F4, F4, F4]]:
    """Return, for each pair, the cosines of its words within each side and between the sides."""
    compared = []
    viewed = zip((bitext.source, bitext.target), vectors, strict=True)
    sides = (_units(side, begin, end, seen) for side, seen in viewed)
    for mine, theirs in zip(*sides, strict=True):
        if mine.shape[1] != theirs.shape[1]:
            raise AlignerError(
                f"vectors of {mine.shape[1]} and of {theirs.shape[1]} numbers: both sides "
                "need vectors of the same space"
            )
        both = (mine, mine), (theirs, theirs), (mine, theirs)
        own, other, cross = (cosines(*each).astype(np.float32) for each in both)
        compared.append((own, other, cross))
    return compared


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


def found_in(keys: I8, wanted: I8) -> tuple[I8, B1]:
    """Return the index of each wanted number among rising keys, and whether it is there."""
    place = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
    return place, keys[place] == wanted if len(keys) else np.zeros(len(wanted), bool)


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
        self._values = values = _values(cells, labels)
        source, target = cells.words.astype(np.int64).T
        width = int(target.max(initial=0)) + 1
        self._ids: list[I8] = []
        self._own: list[F8] = []
        for key in (source * width + target, source, target):
            numbers = _ranks(key).astype(np.int64)
            own = _ranks(self._pair_of * (numbers.max(initial=0) + 1) + numbers)
            self._ids.append(numbers)
            self._own.append(_sums(own, values)[own])

    def set_features(self, features: F4, training: B1) -> None:
        """Set the features of all cells from the training pairs (P,) other than its own."""
        inside = training[self._pair_of]
        rests = [
            _sums(numbers, self._values * inside[:, None])[numbers] - own * inside[:, None]
            for numbers, own in zip(self._ids, self._own, strict=True)
        ]
        known = np.log1p(np.maximum(rests[0][:, 2], 0))
        features[:, lexicon_columns(features)] = np.stack([*map(_log_odds, rests), known], axis=1)


def _ranks(keys: I8) -> I8:
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


def _values(cells: Cells, labels: F4) -> F8:
    columns = np.maximum(labels, 0), cells.features[:, 0], np.ones(len(labels))
    return np.stack(columns, axis=1).astype(np.float64)


def _sums(numbers: I8, values: F8) -> F8:
    count = int(numbers.max(initial=-1)) + 1
    return np.stack([np.bincount(numbers, column, count) for column in values.T], axis=1)


@dataclass(frozen=True, eq=False)
class GoldLexicon:
    """Gold counts of word pairs and of words."""

    source: tuple[str, ...]  # the words that it knows
    target: tuple[str, ...]
    pairs: I4  # (K, 2) int32: the word pairs, rising
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
            kept, own = np.unique(cells.words[:, column], return_inverse=True)
            spelled = [words[number] for number in kept.tolist()]
            order = sorted(range(len(spelled)), key=spelled.__getitem__)
            rank = np.empty(len(kept), np.int64)
            rank[order] = np.arange(len(kept))
            numbers.append(rank[own.reshape(-1)])
            tables.append(_sums(numbers[-1], values))
            names.append(tuple(spelled[at] for at in order))
        width = max(1, len(names[1]))
        kept, own = np.unique(numbers[0] * width + numbers[1], return_inverse=True)
        pairs = np.stack(np.divmod(kept, width), axis=1).astype(np.int32)
        return cls(names[0], names[1], pairs, _sums(own.reshape(-1), values), *tables)

    def numbers(self, bitext: Bitext) -> tuple[I8, I8]:
        """Return the lexicon's numbers of the distinct words of a bitext; -1 if unknown."""
        mine, theirs = (
            np.array([known.get(word, -1) for word in side.words], np.int64)
            for known, side in zip(self._numbers, (bitext.source, bitext.target), strict=True)
        )
        return mine, theirs

    def set_features(self, cells: Cells, numbers: tuple[I8, I8]) -> None:
        """Set the features of cells of a bitext; `numbers` are those of its words."""
        mine, theirs = (numbers[column][cells.words[:, column]] for column in (0, 1))
        both = (mine >= 0) & (theirs >= 0)
        wanted = np.where(both, mine * max(1, len(self.target)) + theirs, -1)
        place, known_pair = found_in(self._keys, wanted)
        features = cells.features
        first = lexicon_columns(cells.features).start
        for offset, table, rows, kept in (
            (0, self._odds[0], place, known_pair),
            (1, self._odds[1], mine, mine >= 0),
            (2, self._odds[2], theirs, theirs >= 0),
        ):
            if len(table):
                features[:, first + offset] = np.where(kept, table[rows], 0)
            else:
                features[:, first + offset] = 0
        features[:, first + 3] = 0
        features[known_pair, first + 3] = np.log1p(self.pair_counts[place[known_pair], 2])

    @cached_property
    def _numbers(self) -> list[dict[str, int]]:
        return [{word: k for k, word in enumerate(words)} for words in (self.source, self.target)]

    @cached_property
    def _keys(self) -> I8:
        keys: I8 = self.pairs[:, 0].astype(np.int64) * max(1, len(self.target)) + self.pairs[:, 1]
        return keys

    @cached_property
    def _odds(self) -> list[F8]:
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
