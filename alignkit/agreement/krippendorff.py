"""Compute Krippendorff's alpha over the sets of target words that each source word is linked to.

A unit is a source word; its value, for each annotator, is the set of its target positions, empty
where it has no link.

Positions coincide across sentences: the second target word of one pair and that of another count
as the same value. The chance disagreement is that of positions, not of words; where sentences are
short or alignments run along the diagonal it is lower than it would be over words, and so is alpha.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations
from math import nan

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.distance import DISTANCES, Distance
from alignkit.agreement.shared import check_annotators
from alignkit.alignment import Alignment
from alignkit.arguments import check_arguments
from alignkit.corpus import Corpus
from alignkit.errors import ArgumentError, UnknownNameError

__all__ = [
    "LINKS",
    "KrippendorffAlpha",
    "alpha_from_counts",
    "alpha_from_units",
    "count_units",
    "krippendorff_alpha",
]

LINKS = ("possible", "sure")

Value = AbstractSet[int]
Unit = tuple[frozenset[int], ...]

_EMPTY: frozenset[int] = frozenset()


@dataclass(frozen=True)
class KrippendorffAlpha:
    """Hold Krippendorff's alpha and the counts behind it.

    Parameters
    ----------
    alpha
        1 - observed / expected; NaN where undefined: no units, or one and the same value
        everywhere (expected = 0).
    observed
        The mean distance between two values of the same unit.
    expected
        The mean distance between any two values.
    units
        The units with two values or more; others say nothing and are left out.
    values
        How many values these units have, over all annotators.
    distinct
        How many of the values differ.
    distance
        The name of the distance between two sets.
    """

    alpha: float
    observed: float
    expected: float
    units: int
    values: int
    distinct: int
    distance: str


def krippendorff_alpha(
    corpus: Corpus,
    annotators: Sequence[str] | None = None,
    *,
    distance: str = "jaccard",
    links: str = "possible",
    include_identical: bool = True,
) -> KrippendorffAlpha:
    """Compute alpha over the source words of all pairs that two or more annotators annotated.

    Parameters
    ----------
    corpus
        The pairs, with their words: those without links are units as well.
    annotators
        Two or more names; None takes all of the corpus. Who has not annotated a pair gives no
        values for its words.
    distance
        A name in `DISTANCES`: jaccard, dice, masi.
    links
        ``"possible"``: all links; ``"sure"``: the sure ones alone.
    include_identical
        Whether links between equal words take part (METHOD section 5b takes all links).

    Raises
    ------
    OptionError, UnknownNameError
        If the annotators cannot be compared, or a choice does not exist.
    MissingTextError
        If the words of a pair are not known.

    Notes
    -----
    Equal units are counted together, so the time is linear in words and links, and beyond that
    grows with the distinct pairs of values that share a position, not with pairs of units.

    Examples
    --------
    >>> from alignkit.corpus import SentencePair
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
    names = check_annotators(corpus, annotators)
    alike = count_units(corpus, names, links=links, include_identical=include_identical)
    return alpha_from_counts(alike, distance=distance)


def alpha_from_units(
    units: Iterable[Sequence[Value]], *, distance: str = "jaccard"
) -> KrippendorffAlpha:
    """Compute alpha over units whose values are sets of whole numbers.

    With sets of one element each distance is 0 or 1: this is alpha for nominal data.

    Parameters
    ----------
    units
        For each unit the values that it has, one for each annotator who gave one.
    distance
        A name in `DISTANCES`.

    Raises
    ------
    UnknownNameError
        If there is no such distance.

    Examples
    --------
    >>> one, two = frozenset({1}), frozenset({2})
    >>> alpha_from_units([(one, one), (two, two), (one, two)]).observed.__round__(3)
    0.333
    """
    check_arguments(alpha_from_units, locals())
    alike = Counter(unit for unit in map(_unit, units) if len(unit) > 1)
    return alpha_from_counts(alike, distance=distance)


def _unit(values: Iterable[Value]) -> Unit:
    found = tuple(values) if isinstance(values, Iterable) else (values,)
    if not all(isinstance(value, AbstractSet) for value in found):
        raise ArgumentError("units must be sequences of sets")
    return tuple(map(frozenset, found))


def alpha_from_counts(alike: Counter[Unit], *, distance: str) -> KrippendorffAlpha:
    """Compute alpha as `alpha_from_units` does, over how often each unit occurs.

    Raises
    ------
    UnknownNameError
        If there is no such distance.
    """
    if distance not in DISTANCES:
        raise UnknownNameError("distance", distance, DISTANCES)
    far = DISTANCES[distance]
    values: Counter[frozenset[int]] = Counter()
    for unit, times in alike.items():
        for value in unit:
            values[value] += times
    total = values.total()
    observed = _within_units(alike, far) / total if total else nan
    expected = _between_values(values, far) / (total * (total - 1)) if total else nan
    # exactly 0 for one distinct value: nothing is added up
    alpha = 1 - observed / expected if expected else nan
    return KrippendorffAlpha(alpha, observed, expected, alike.total(), total, len(values), distance)


def count_units(
    corpus: Corpus,
    annotators: Sequence[str],
    *,
    links: str = "possible",
    include_identical: bool = True,
) -> Counter[Unit]:
    """Count how often each unit occurs: the sets of target words given to one source word.

    Parameters
    ----------
    corpus, annotators, links, include_identical
        As in `krippendorff_alpha`.

    Raises
    ------
    UnknownNameError
        If there is no such choice of links.
    MissingTextError
        If the words of a pair that two annotated are not known.
    """
    if links not in LINKS:
        raise UnknownNameError("choice of links", links, LINKS)
    alike: Counter[Unit] = Counter()
    for pair in corpus:
        present = [pair.alignment(name) for name in annotators if pair.aligned_by(name)]
        if len(present) < 2:
            continue
        source, target = pair.words
        if not include_identical:
            present = [_without_identical(one, source, target) for one in present]
        targets = [_targets(one, links == "sure") for one in present]
        linked = set().union(*targets)
        for i in linked:
            alike[tuple(mine.get(i, _EMPTY) for mine in targets)] += 1
        if len(linked) < len(source):
            alike[(_EMPTY,) * len(present)] += len(source) - len(linked)
    return alike


def _within_units(alike: Counter[Unit], far: Distance) -> float:
    """Add up, over the units, the distances of all ordered pairs of values / (values - 1)."""
    sizes, weights = [], []
    for unit, times in alike.items():
        for left, right in combinations(unit, 2):
            if left != right:
                sizes.append((len(left & right), len(left), len(right)))
                weights.append(2 * times / (len(unit) - 1))
    if not sizes:
        return 0.0
    return float(far(*np.array(sizes, np.int64).T) @ np.array(weights))


def _between_values(values: Counter[frozenset[int]], far: Distance) -> float:
    """Add up the distances of all ordered pairs of values.

    The distance is 1 but for values that share a position; only these are looked at.
    """
    distinct = list(values)
    times = np.array([values[value] for value in distinct], np.int64)
    sizes = np.array([len(value) for value in distinct], np.int64)
    holders = _holders(distinct)
    total, sum_of_distances = int(times.sum()), 0.0
    for place, value in enumerate(distinct):
        if not value:
            sum_of_distances += int(times[place]) * (total - int(times[place]))
            continue
        near, shared = np.unique(
            np.concatenate([holders[position] for position in value]), return_counts=True
        )
        apart = total - int(times[near].sum())
        distances = far(shared, np.full_like(near, sizes[place]), sizes[near])
        sum_of_distances += int(times[place]) * (apart + float(distances @ times[near]))
    return sum_of_distances


def _holders(distinct: list[frozenset[int]]) -> dict[int, NDArray[np.int64]]:
    """Return for each position the places of the values that hold it."""
    found: dict[int, list[int]] = {}
    for place, value in enumerate(distinct):
        for position in value:
            found.setdefault(position, []).append(place)
    return {position: np.array(places, np.int64) for position, places in found.items()}


def _targets(alignment: Alignment, sure: bool) -> dict[int, frozenset[int]]:
    found: dict[int, list[int]] = {}
    for (i, j), is_sure in alignment.items():
        if is_sure or not sure:
            found.setdefault(i, []).append(j)
    return {i: frozenset(positions) for i, positions in found.items()}


def _without_identical(
    alignment: Alignment, source: tuple[str, ...], target: tuple[str, ...]
) -> Alignment:
    different = [
        (link, sure)
        for link, sure in alignment.items()
        if source[link.i].casefold() != target[link.j].casefold()
    ]
    return Alignment((link for link, sure in different if sure), (link for link, _ in different))
