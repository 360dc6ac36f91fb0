"""Krippendorff's alpha over the sets of target words that each source word is linked to.

A unit is a source word. Each annotator's value for it is the set of its target positions, empty
without links.

Positions are the same across sentences: the second target word of two different pairs counts as
the same value. So chance disagreement is over positions, not words. It is lower than over words if
sentences are short or alignments run along the diagonal, and then alpha is lower too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from alignkit._support.arguments import check_arguments, check_known, naming_keywords
from alignkit._support.array_types import F8, I8
from alignkit.agreement.intervals import Rows, Statistic
from alignkit.agreement.pairs import CorpusData, PairData, check_case
from alignkit.agreement.value_sets import ValueSets
from alignkit.errors import ArgumentError
from alignkit.model.corpus import Corpus
from alignkit.model.phrase_arrays import LINKS
from alignkit.stats.resampling import ratio

Distance = Callable[[I8, I8, I8], F8]
"""Turns |A & B|, |A| and |B|, arrays of one shape, into distances from 0 to 1."""


def jaccard(shared: I8, left: I8, right: I8) -> F8:
    """Return 1 - |A & B| / |A | B|; 0 between two empty sets (Jaccard 1912, New Phytologist 11)."""
    return 1 - _similarity(shared, left + right - shared)


def dice(shared: I8, left: I8, right: I8) -> F8:
    """Return 1 - 2 |A & B| / (|A| + |B|); 0 between two empty sets (Dice 1945, Ecology 26)."""
    return 1 - _similarity(2 * shared, left + right)


def masi(shared: I8, left: I8, right: I8) -> F8:
    """Return 1 - m |A & B| / |A | B|; 0 between two empty sets (Passonneau 2006, LREC)."""
    # m: 1 for equal sets, 2/3 if one contains the other, 1/3 for others (nltk rounds these)
    equal = (shared == left) & (shared == right)
    nested = shared == np.minimum(left, right)
    monotonicity = np.where(equal, 1, np.where(nested, 2 / 3, 1 / 3))
    return 1 - monotonicity * _similarity(shared, left + right - shared)


DISTANCES: Mapping[str, Distance] = {"jaccard": jaccard, "dice": dice, "masi": masi}
"""The distances by name."""


def _similarity(above: I8, below: I8) -> F8:
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
    arrays = CorpusData(corpus, exact_case=exact_case)
    data = PairData.of(arrays, annotators, least=2, ignore_identical=ignore_identical)
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


@dataclass(frozen=True)
class AlphaRows(Rows):
    """The counts behind alpha, for P sentence pairs.

    The columns: for each distance, the observed disagreement, summed over units; the number of
    units; how often each distinct set is a value.
    """

    values: ValueSets
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

        def measure(sums: F8) -> dict[str, F8]:
            return {name: ratios.alpha for name, ratios in _ratios(sums, values, names).items()}

        return cls(counts, measure, values, names)

    def alphas(self) -> dict[str, KrippendorffAlpha]:
        """Return alpha for each distance, with the counts behind it."""
        total = self.total()
        units = int(total[0, len(self.distances)])
        times = total[0, len(self.distances) + 1 :]
        alphas = {}
        for name, ratios in _ratios(total, self.values, self.distances).items():
            alphas[name] = KrippendorffAlpha(
                alpha=float(ratios.alpha[0]),
                observed=float(ratios.observed[0]),
                expected=float(ratios.expected[0]),
                units=units,
                values=int(times.sum()),
                distinct=int((times > 0).sum()),
                distance=name,
            )
        return alphas


def _within_units(values: ValueSets, distances: Sequence[str]) -> F8:
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
            weights = 2 / (given[differ] - 1)  # 2: in either order
            for k, name in enumerate(distances):
                distance = DISTANCES[name](shared, values.sizes[first], values.sizes[second])
                within[:, k] += np.bincount(values.pair[differ], weights * distance, values.pairs)
    return within


class _Ratios(NamedTuple):
    """Alpha, observed and expected disagreement of R sums of rows."""

    alpha: F8
    observed: F8
    expected: F8


def _ratios(sums: F8, values: ValueSets, distances: Sequence[str]) -> dict[str, _Ratios]:
    """Return alpha, observed and expected disagreement of R sums of rows, by distance."""
    times = sums[:, len(distances) + 1 :]
    total = times.sum(axis=1)
    similarities = _between_values(times, values, [DISTANCES[name] for name in distances])
    ratios = {}
    for k, name in enumerate(distances):
        observed = ratio(sums[:, k], total)
        # of total^2 ordered pairs of values, those of a value with itself have similarity 1. The
        # difference is exactly 0 for one distinct value.
        expected = ratio(total * total - similarities[k], total * (total - 1))
        ratios[name] = _Ratios(1 - ratio(observed, expected), observed, expected)
    return ratios


def _between_values(times: F8, values: ValueSets, distances: Sequence[Distance]) -> list[F8]:
    """Return the sum of the similarities of all ordered pairs of values, (R,), by distance.

    Each value is also paired with itself. `times` is (R, V), how often each value occurs. Only
    values that share a position are similar, so the (V, V) table of similarities is sparse; it is
    made in blocks of rows that fit the memory planned. The sum is that of times[v] x similarity[v,
    w] x times[w] over all v and w.
    """
    from scipy.sparse import csr_array

    sums = [np.zeros(len(times)) for _ in distances]
    columns = np.ascontiguousarray(times.T)
    for start, shared in values.overlaps(width=len(times)):
        end = start + shared.shape[0]
        left = np.repeat(values.sizes[start:end], np.diff(shared.indptr))
        right = values.sizes[shared.indices]
        for k, distance in enumerate(distances):
            similarity = 1 - distance(shared.data, left, right)
            table = csr_array((similarity, shared.indices, shared.indptr), shared.shape)
            products = np.asarray(table @ columns, np.float64)
            sums[k] += (columns[start:end] * products).sum(axis=0)
    empty = times[:, values.sizes == 0]  # shares no position, but is equal to itself
    return [of_distance + (empty * empty).sum(axis=1) for of_distance in sums]


def _rows(data: PairData, links: str) -> Rows:
    return AlphaRows.of(ValueSets.of(data, links))


ALPHA = tuple(Statistic(f"alpha.{x}", tuple(DISTANCES), partial(_rows, links=x)) for x in LINKS)
"""Alpha of all and of sure links, by distance, over pairs with two or more annotators."""
