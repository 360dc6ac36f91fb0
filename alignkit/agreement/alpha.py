"""Krippendorff's alpha over the sets of target words that each source word is linked to.

A unit is a source word. Each annotator's value for it is the set of its target positions, empty
without links.

Positions are the same across sentences: the second target word of two different pairs counts as
the same value. So chance disagreement is over positions, not words. It is lower than over words if
sentences are short or alignments run along the diagonal, and then alpha is lower too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, check_known, naming_keywords
from alignkit.agreement.intervals import Floats, Rows, Statistic
from alignkit.agreement.pairs import CorpusData, PairData, check_case
from alignkit.errors import ArgumentError
from alignkit.model.corpus import Corpus
from alignkit.model.phrase_arrays import LINKS
from alignkit.stats.resampling import ratio

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Sizes = NDArray[np.int64]

_BLOCK_NUMBERS = 2**21  # how many numbers a block of overlaps, or of its products, may have
_NO_VALUE = -1


@dataclass(frozen=True, eq=False)
class ValueSets:
    """The U units of P sentence pairs, and their V distinct values (sets)."""

    ids: Sizes
    pair: Sizes  # (U,): the sentence pairs of the units
    pairs: int  # P
    members: Sizes  # the elements of the V sets, set after set
    sizes: Sizes  # (V,): how many elements each has

    @classmethod
    def of(cls, data: PairData, links: str) -> ValueSets:
        """Take each source word as a unit, and the target positions linked to it as its value."""
        words = data.lengths[:, 0]
        first_word = np.cumsum(words) - words
        pair = np.repeat(np.arange(len(data)), words)
        units = []
        targets = []
        sizes = []
        for name in data.annotators:
            arrays = data.links(name)
            if links == "sure":
                arrays = arrays.sure_only()
            where = np.repeat(first_word, np.diff(arrays.offsets)) + arrays.links[:, 0]
            linked, count = np.unique(where, return_counts=True)
            units.append(linked)
            sizes.append(count)
            targets.append(arrays.links[:, 1])
        numbers, members, set_sizes = _number(np.concatenate(targets), np.concatenate(sizes))
        ids = np.full((len(pair), len(units)), _NO_VALUE, np.int64)
        start = 0
        for column, (name, linked) in enumerate(zip(data.annotators, units, strict=True)):
            ids[data.aligned(name)[pair], column] = 0  # the empty set
            ids[linked, column] = numbers[start : start + len(linked)]
            start += len(linked)
        return cls(ids, pair, len(data), members, set_sizes)

    @classmethod
    def of_units(cls, units: Sequence[Sequence[frozenset[int]]]) -> ValueSets:
        """Take sets directly; all units are of one pair."""
        numbers = {frozenset[int](): 0}
        most = max(map(len, units), default=0)
        ids = np.full((len(units), most), _NO_VALUE, np.int64)
        for k, unit in enumerate(units):
            ids[k, : len(unit)] = [numbers.setdefault(value, len(numbers)) for value in unit]
        elements = list(chain.from_iterable(numbers))
        _, members = np.unique(elements, return_inverse=True)
        sizes = np.array([len(value) for value in numbers], np.int64)
        pair = np.zeros(len(units), np.int64)
        return cls(ids, pair, 1, members.reshape(-1).astype(np.int64), sizes)

    @cached_property
    def incidence(self) -> csr_array[np.int64]:
        """(V, positions): 1 where a set has an element."""
        from scipy.sparse import csr_array

        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.sizes)])
        shape = (len(self.sizes), int(self.members.max(initial=0)) + 1)
        return csr_array((np.ones(len(self.members), np.int64), self.members, offsets), shape)

    def common(self, left: Sizes, right: Sizes) -> Sizes:
        """Return how many elements two sets share, for (K,) numbers of sets on each side."""
        width = np.int64(len(self.sizes))
        distinct, place = np.unique(left * width + right, return_inverse=True)
        first = self.incidence[distinct // width]
        second = self.incidence[distinct % width]
        shared: Sizes = np.asarray(first.multiply(second).sum(axis=1), np.int64).reshape(-1)
        counts: Sizes = shared[place.reshape(-1)]
        return counts

    def occurrences(self) -> csr_array[np.float64]:
        """Return (P, V) counts: how often each set is a value in each pair."""
        from scipy.sparse import coo_array

        unit, column = np.nonzero(self.ids >= 0)
        places = (self.pair[unit], self.ids[unit, column])
        shape = (self.pairs, len(self.sizes))
        return coo_array((np.ones(len(unit)), places), shape).tocsr()  # adds up

    def overlaps(self, width: int) -> Iterator[tuple[int, csr_array[np.int64]]]:
        """Yield, for blocks of sets, how many elements each shares with every set.

        A row of a block has no more numbers than its set shares elements with other sets, or
        `width` numbers in the product that it is used for.
        """
        from scipy.sparse import csr_array

        sets = self.incidence
        holders = np.diff(sets.tocsc().indptr)  # how many sets have each element
        rows = np.repeat(np.arange(len(self.sizes)), self.sizes)
        most = np.bincount(rows, holders[self.members], len(self.sizes))
        block = np.cumsum(np.maximum(most, width)) // _BLOCK_NUMBERS
        starts = np.flatnonzero(np.diff(block, prepend=-1)).tolist()
        ends = [*starts[1:], len(self.sizes)]
        for start, end in zip(starts, ends, strict=True):
            yield start, csr_array(sets[start:end] @ sets.T)


def _number(targets: NDArray[np.int32], sizes: Sizes) -> tuple[Sizes, Sizes, Sizes]:
    """Return a number for each set of a flat array, from 1; equal sets share one, 0 is empty."""
    starts = np.cumsum(sizes) - sizes
    numbers = np.zeros(len(sizes), np.int64)
    members = [np.empty(0, np.int64)]
    counts = [np.zeros(1, np.int64)]
    total = 1
    for size in np.unique(sizes).tolist():
        alike = np.flatnonzero(sizes == size)
        table = targets[starts[alike, np.newaxis] + np.arange(size)]
        distinct, place = np.unique(table, axis=0, return_inverse=True)
        numbers[alike] = total + place.reshape(-1)
        members.append(distinct.astype(np.int64).reshape(-1))
        counts.append(np.full(len(distinct), size, np.int64))
        total += len(distinct)
    return numbers, np.concatenate(members), np.concatenate(counts)


Distance = Callable[[Sizes, Sizes, Sizes], Floats]
"""Turns |A & B|, |A| and |B|, arrays of one shape, into distances from 0 to 1."""


def jaccard(shared: Sizes, left: Sizes, right: Sizes) -> Floats:
    """Return 1 - |A & B| / |A | B|; 0 between two empty sets (Jaccard 1912, New Phytologist 11)."""
    return 1 - _similarity(shared, left + right - shared)


def dice(shared: Sizes, left: Sizes, right: Sizes) -> Floats:
    """Return 1 - 2 |A & B| / (|A| + |B|); 0 between two empty sets (Dice 1945, Ecology 26)."""
    return 1 - _similarity(2 * shared, left + right)


def masi(shared: Sizes, left: Sizes, right: Sizes) -> Floats:
    """Return 1 - m |A & B| / |A | B|; 0 between two empty sets (Passonneau 2006, LREC)."""
    # m: 1 for equal sets, 2/3 where one holds the other, 1/3 for others (nltk rounds these)
    equal = (shared == left) & (shared == right)
    nested = shared == np.minimum(left, right)
    monotonicity = np.where(equal, 1, np.where(nested, 2 / 3, 1 / 3))
    return 1 - monotonicity * _similarity(shared, left + right - shared)


DISTANCES: Mapping[str, Distance] = {"jaccard": jaccard, "dice": dice, "masi": masi}
"""The distances by name."""


def _similarity(above: Sizes, below: Sizes) -> Floats:
    """Return above / below; 1 for 0 / 0, because only two empty sets give that."""
    return np.where(below == 0, 1.0, above / np.maximum(below, 1))


@dataclass(frozen=True)
class KrippendorffAlpha:
    """Krippendorff's alpha and the counts behind it.

    Returned by `krippendorff_alpha` and `alpha_from_units`.

    Parameters
    ----------
    alpha : 1 - observed / expected; NaN if undefined: no units, or the same value everywhere
        (expected = 0).
    observed : The mean distance between two values of the same unit.
    expected : The mean distance between any two values.
    units : The units with two or more values; the others are left out.
    values : The number of values of these units, over all annotators.
    distinct : The number of distinct values.
    distance : The name of the distance between two sets.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.agreement import krippendorff_alpha
    >>> corpus = Corpus.from_texts(["he left"], ["she went"], A=["0-0 1-1"], B=["0-0"])
    >>> result = krippendorff_alpha(corpus)
    >>> result.units, result.values, result.distance
    (2, 4, 'jaccard')
    """

    alpha: float
    observed: float
    expected: float
    units: int
    values: int
    distinct: int
    distance: str


@naming_keywords
def krippendorff_alpha(
    corpus: Corpus,
    annotators: Sequence[str] | None = None,
    *,
    distance: Literal["jaccard", "dice", "masi"] = "jaccard",
    links: Literal["possible", "sure"] = "possible",
    ignore_identical: bool = False,
    exact_case: bool = False,
) -> KrippendorffAlpha:
    """Compute alpha over the source words of all pairs annotated by two or more annotators.

    Parameters
    ----------
    corpus : The pairs, with their words: words without links are units too.
    annotators : Two or more names; None takes all of the corpus.
    distance : A name in `DISTANCES`: jaccard, dice, masi.
    links : ``"possible"``: all links; ``"sure"``: only sure links.
    ignore_identical : Whether links between equal words are left out; the words remain units.
    exact_case : Whether words that differ only in case are different.

    Raises
    ------
    OptionError, UnknownNameError : If the annotators cannot be compared, a choice does not exist,
        or `exact_case` has no effect.
    MissingTextError : If the words of a pair are not known.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> from alignkit.model.corpus import SentencePair
    >>> pair = SentencePair("1", ("he", "left"), ("he", "went", "away"), {
    ...     "A": Alignment.parse("0-0 1-1 1-2"), "B": Alignment.parse("0-0 1-1")})
    >>> result = krippendorff_alpha(Corpus([pair]))
    >>> result.observed, round(result.expected, 3), round(result.alpha, 3)
    (0.25, 0.75, 0.667)

    References
    ----------
    Krippendorff 2011, Computing Krippendorff's alpha-reliability,
    https://repository.upenn.edu/asc_papers/43. Sets as values: Passonneau 2006, LREC.
    """
    check_arguments(krippendorff_alpha, locals(), apart=["annotators"])
    check_case(ignore_identical, exact_case)
    check_known("choice of links", links, LINKS)
    words = CorpusData(corpus, exact_case=exact_case)
    data = PairData.of(words, annotators, least=2, ignore_identical=ignore_identical)
    return AlphaRows.of(ValueSets.of(data, links), [distance]).alphas()[distance]


@naming_keywords
def alpha_from_units(
    units: Iterable[Sequence[AbstractSet[int]]],
    *,
    distance: Literal["jaccard", "dice", "masi"] = "jaccard",
) -> KrippendorffAlpha:
    """Compute Krippendorff's alpha over units, each a sequence of sets: one set per annotator.

    Sets of one element give alpha for nominal data.

    Parameters
    ----------
    units : One sequence of sets for each unit: the set of each annotator who judged it. Sets hold
        whole numbers. Units with fewer than two sets are left out.
    distance : The distance of two sets, 0 to 1: a name in `DISTANCES`.

    Raises
    ------
    UnknownNameError : If the distance is unknown.

    References
    ----------
    Krippendorff 2011, Computing Krippendorff's alpha-reliability,
    https://repository.upenn.edu/asc_papers/43. Sets as values: Passonneau 2006, LREC.

    Examples
    --------
    >>> one, two = frozenset({1}), frozenset({2})
    >>> alpha_from_units([(one, one), (two, two), (one, two)]).observed.__round__(3)
    0.333
    """
    check_arguments(alpha_from_units, locals())
    several = []
    for unit in units:
        sets = tuple(unit) if isinstance(unit, Iterable) else (unit,)
        if not all(isinstance(value, AbstractSet) for value in sets):
            raise ArgumentError("units must be sequences of sets")
        if len(sets) > 1:
            several.append([*map(frozenset, sets)])
    return AlphaRows.of(ValueSets.of_units(several), [distance]).alphas()[distance]


@dataclass(frozen=True, eq=False)
class AlphaRows(Rows):
    """The counts behind alpha, for P sentence pairs."""

    values: ValueSets  # the distinct sets
    distances: tuple[str, ...]  # names in DISTANCES

    @classmethod
    def of(cls, values: ValueSets, distances: Iterable[str] = tuple(DISTANCES)) -> AlphaRows:
        """Count the values of each pair."""
        from scipy.sparse import csr_array, hstack

        names = tuple(distances)
        for name in names:
            check_known("distance", name, DISTANCES)
        within = _within_units(values, names)
        units = np.bincount(values.pair, minlength=values.pairs)[:, np.newaxis]
        dense = csr_array(np.concatenate([within, units], axis=1))
        counts = hstack([dense, values.occurrences()], format="csr")

        def measure(sums: Floats) -> dict[str, Floats]:
            return {name: alpha for name, (alpha, _, _) in _parts(sums, values, names).items()}

        return cls(counts, measure, values, names)

    def alphas(self) -> dict[str, KrippendorffAlpha]:
        """Return alpha for each distance, with the counts behind it."""
        total = self.total()
        units = int(total[0, len(self.distances)])
        times = total[0, len(self.distances) + 1 :]
        alphas = {}
        for name, parts in _parts(total, self.values, self.distances).items():
            alpha, observed, expected = (float(part[0]) for part in parts)
            alphas[name] = KrippendorffAlpha(
                alpha=alpha,
                observed=observed,
                expected=expected,
                units=units,
                values=int(times.sum()),
                distinct=int((times > 0).sum()),
                distance=name,
            )
        return alphas


def _within_units(values: ValueSets, distances: Sequence[str]) -> Floats:
    """Return the observed disagreement of each pair by distance, (P, D), summed over its units.

    That of a unit is the sum of the distances of all ordered pairs of its values / (values - 1).
    """
    given = (values.ids >= 0).sum(axis=1)
    within = np.zeros((values.pairs, len(distances)))
    columns = list(values.ids.T)
    for annotator, left in enumerate(columns):
        for right in columns[:annotator]:
            differ = (left != right) & (left >= 0) & (right >= 0)
            first = left[differ]
            second = right[differ]
            shared = values.common(first, second)
            weights = 2 / (given[differ] - 1)
            for k, name in enumerate(distances):
                far = DISTANCES[name](shared, values.sizes[first], values.sizes[second])
                within[:, k] += np.bincount(values.pair[differ], weights * far, values.pairs)
    return within


def _parts(
    sums: Floats, values: ValueSets, distances: Sequence[str]
) -> dict[str, tuple[Floats, Floats, Floats]]:
    """Return alpha, observed and expected disagreement of R sums of rows, by distance."""
    times = sums[:, len(distances) + 1 :]
    total = times.sum(axis=1)
    near = _between_values(times, values, [DISTANCES[name] for name in distances])
    parts = {}
    for k, name in enumerate(distances):
        observed = ratio(sums[:, k], total)
        # exactly 0 for one distinct value: its own similarity is 1
        expected = ratio(total * total - near[k], total * (total - 1))
        parts[name] = (1 - ratio(observed, expected), observed, expected)
    return parts


def _between_values(
    times: Floats, values: ValueSets, distances: Sequence[Distance]
) -> list[Floats]:
    """Return the sum of the similarities of all ordered pairs of values, (R,), by distance.

    Each value is also paired with itself. `times` is (R, V), how often each value occurs. Only
    values that share a position are alike, so the (V, V) table is sparse; it is made in blocks of
    rows that fit the memory planned.
    """
    from scipy.sparse import csr_array

    sums = [np.zeros(len(times)) for _ in distances]
    columns = np.ascontiguousarray(times.T)
    for start, shared in values.overlaps(width=len(times)):
        end = start + shared.shape[0]
        left = np.repeat(values.sizes[start:end], np.diff(shared.indptr))
        right = values.sizes[shared.indices]
        for k, far in enumerate(distances):
            alike = 1 - far(shared.data, left, right)
            near = csr_array((alike, shared.indices, shared.indptr), shared.shape)
            products = np.asarray(near @ columns, np.float64)
            sums[k] += (columns[start:end] * products).sum(axis=0)
    empty = times[:, values.sizes == 0]
    return [part + (empty * empty).sum(axis=1) for part in sums]


def _rows(data: PairData, links: str) -> Rows:
    return AlphaRows.of(ValueSets.of(data, links))


ALPHA = tuple(Statistic(f"alpha.{x}", tuple(DISTANCES), partial(_rows, links=x)) for x in LINKS)
"""Alpha of all and of sure links, by distance, over pairs with two or more annotators."""
