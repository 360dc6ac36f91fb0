"""Ratios of counts (0/0 is undefined), and their intervals by resampling sentence pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import nan
from typing import Union

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import F8, I8
from alignkit._support.values import jsonable
from alignkit._support.wording import how_many
from alignkit.errors import OptionError
from alignkit.stats.defaults import CONFIDENCE, RESAMPLES, SEED

Counts = Union[I8, F8]  # rows of counts, or sums of them

Ratios = Callable[[Counts], dict[str, F8]]
"""A function that turns (R, C) sums of counts into named measures, each an (R,) array."""

LOWER_IS_BETTER = frozenset({"aer"})
"""The measures for which smaller is better."""


def ratio(above: Counts, below: Counts) -> F8:
    """Divide, with NaN for 0/0."""
    quotient = np.full(np.shape(below), np.nan)
    np.divide(above, below, out=quotient, where=np.asarray(below) != 0)
    return quotient


def only_values(measures: Mapping[str, F8]) -> dict[str, float]:
    """Return the measures of a single sum, (1,) each, as numbers."""
    return {name: float(value) for name, (value,) in measures.items()}


def of_corpus(measure: Ratios, rows: Counts) -> dict[str, float]:
    """Return each measure of the whole corpus."""
    return only_values(measure(rows.sum(0, keepdims=True)))


def harmonic(precision: F8, recall: F8) -> F8:
    """Return F1, the harmonic mean; 0 if either is 0, even if the other is undefined."""
    mean = ratio(2 * precision * recall, precision + recall)
    return np.where((precision == 0) | (recall == 0), 0.0, mean)


# the reasons for a missing interval
ONE_PAIR = "there is only one sentence pair, so nothing to resample"
ALIKE = "all resamples give the same value"
UNDEFINED = "it is undefined in all resamples"

FEW_PAIRS = 30  # with fewer sentence pairs, bootstrap intervals are unreliable

_CHUNK_BYTES = 2**26  # of the arrays of a chunk of resamples
_SAME = 1e-12  # values that differ by no more than this differ by rounding alone

# A resample is drawn as the number of times that each distinct row occurs in it. Pair by pair is
# faster if that takes more numbers than _MANY, and if distinct rows stand for fewer pairs than
# ALIKE_PAIRS in the mean
_MANY = 20_000_000
ALIKE_PAIRS = 10


@dataclass(frozen=True)
class Interval:
    """A confidence interval.

    Returned by `confidence_interval`.

    Parameters
    ----------
    low, high : The bounds; NaN if there are none.
    confidence : The share of resamples between the bounds.
    standard_error : The standard deviation of the measure over the resamples.
    undefined : Number of resamples with 0/0; the interval is over the others.
    reason : Why there are no bounds, or "".

    Examples
    --------
    >>> import numpy as np
    >>> from alignkit.scoring import link_ratios
    >>> from alignkit.stats import confidence_interval
    >>> rows = np.array([[2, 2, 2, 2, 1, 1, 1, 1], [2, 2, 2, 2, 2, 2, 2, 2]])
    >>> interval = confidence_interval(rows, link_ratios, seed=1)["recall"]
    >>> interval.low, interval.high, interval.confidence
    (0.5, 1.0, 0.95)
    """

    low: float
    high: float
    confidence: float
    standard_error: float
    undefined: int
    reason: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the interval as JSON values; NaN becomes None.

        Examples
        --------
        >>> import numpy as np
        >>> from alignkit.scoring import link_ratios
        >>> from alignkit.stats import confidence_interval
        >>> rows = np.array([[2, 2, 2, 2, 1, 1, 1, 1], [2, 2, 2, 2, 2, 2, 2, 2]])
        >>> confidence_interval(rows, link_ratios, seed=1)["recall"].to_json()["low"]
        0.5
        """
        record = {name: jsonable(value) for name, value in vars(self).items()}
        if not self.reason:
            del record["reason"]
        return record


def confidence_interval(
    rows: NDArray[np.generic],
    measure: Ratios,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> dict[str, Interval]:
    """Return the percentile bootstrap interval of each measure over the sentence pairs.

    It has a reason instead of bounds if there is only one pair, all resamples give the same value,
    or the measure is undefined in all of them.

    Parameters
    ----------
    rows : (P, C) counts, a row for each sentence pair.
    measure : `link_ratios`, `phrase_ratios` or any function of (R, C) sums of rows.
    resamples : Number of corpora of P pairs to draw with replacement, 8 * C bytes each.
    confidence : The share of the resamples between the bounds.
    seed : Seed of the resamples.

    Raises
    ------
    OptionError : If there are no resamples, or `confidence` or `seed` is out of range.

    References
    ----------
    Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13.

    Examples
    --------
    >>> from alignkit.scoring.measures import link_ratios
    >>> rows = np.array([[2, 2, 2, 2, 1, 1, 1, 1], [2, 2, 2, 2, 2, 2, 2, 2]])
    >>> interval = confidence_interval(rows, link_ratios, seed=1)["precision"]
    >>> interval.low, interval.high
    (0.5, 1.0)
    """
    check_arguments(confidence_interval, locals())
    check_drawing(resamples, confidence, seed)
    rng = np.random.default_rng(seed)
    return drawn_intervals(rows, measure, resamples=resamples, confidence=confidence, rng=rng)


def drawn_intervals(
    rows: NDArray[np.generic],
    measure: Ratios,
    *,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> dict[str, Interval]:
    """Return intervals like `confidence_interval`, with a random generator."""
    if len(rows) == 1:
        none = _without_bounds(confidence, 0, ONE_PAIR)
        return dict.fromkeys(measure(rows.astype(np.float64)), none)
    sums = np.concatenate(list(resample(rows, resamples, rng)))
    measures = measure(sums)
    return {name: interval_of(values, confidence) for name, values in measures.items()}


def _without_bounds(confidence: float, undefined: int, reason: str) -> Interval:
    """Return an interval without bounds, for a reason."""
    return Interval(nan, nan, confidence, nan, undefined, reason)


def resample(rows: NDArray[np.generic], resamples: int, rng: np.random.Generator) -> Iterator[F8]:
    """Yield chunks of (c, C) sums of rows drawn with replacement, `resamples` in total."""
    kinds, numbers = distinct(rows)
    total = max(len(rows), 1)
    pair_by_pair = resamples * len(kinds) > _MANY and total < ALIKE_PAIRS * len(kinds)
    width = len(kinds) + rows.shape[1]  # numbers for each resample: its weights and its sums
    for size in chunks(resamples, width):
        if pair_by_pair:
            weights = _drawn_pair_by_pair(numbers, size, rng)
        else:
            drawn = rng.multinomial(len(rows), numbers / total, size=size)
            weights = drawn.astype(np.float64)
        yield weights @ kinds


def _drawn_pair_by_pair(numbers: I8, size: int, rng: np.random.Generator) -> F8:
    """Return how often each kind is drawn, (size, K); there are `numbers` pairs of each.

    The distribution is the multinomial one. A number for each pair takes a tenth of the time of a
    binomial number for each kind, so this is faster if most pairs have a kind of their own.
    """
    kind_of_pair = np.repeat(np.arange(len(numbers)), numbers)
    weights = np.empty((size, len(numbers)))
    for row in weights:
        drawn = rng.integers(len(kind_of_pair), size=len(kind_of_pair), dtype=np.uint32)
        row[:] = np.bincount(kind_of_pair[drawn], minlength=len(numbers))
    return weights


def distinct(rows: NDArray[np.generic]) -> tuple[F8, I8]:
    """Return the distinct rows and their counts."""
    if not len(rows):
        return np.zeros((1, rows.shape[1])), np.ones(1, np.int64)
    ranked = rows[np.lexsort(rows.T[::-1])]  # ten times faster than np.unique(axis=0)
    changes = (ranked[1:] != ranked[:-1]).any(axis=1)
    starts = np.flatnonzero(np.r_[True, changes])
    counts = np.diff(np.append(starts, len(rows)))
    return ranked[starts].astype(np.float64), counts


def chunks(samples: int, width: int) -> Iterator[int]:
    """Split `samples` rows of `width` numbers into chunks that fit into the planned memory."""
    most = max(1, _CHUNK_BYTES // (8 * max(width, 1)))
    for start in range(0, samples, most):
        yield min(most, samples - start)


def summarize(values: F8, confidence: float) -> Interval:
    """Return the percentile interval of the values of resamples, also if all are the same."""
    defined = values[~np.isnan(values)]
    undefined = len(values) - len(defined)
    if not len(defined):
        return _without_bounds(confidence, undefined, UNDEFINED)
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Interval(float(low), float(high), confidence, float(defined.std()), undefined)


def interval_of(values: F8, confidence: float) -> Interval:
    """Return the percentile interval of a measure; no bounds if all values are the same."""
    interval = summarize(values, confidence)
    if interval.reason or np.nanmax(values) - np.nanmin(values) > _SAME:
        return interval
    return _without_bounds(confidence, interval.undefined, ALIKE)


def check_drawing(resamples: int, confidence: float, seed: int = 0) -> None:
    """Refuse an invalid number of resamples, confidence or seed."""
    if resamples < 1:
        raise OptionError(f"`resamples` must be at least 1, not {resamples}")
    check_confidence(confidence)
    check_seed(seed)


def check_trials(trials: int) -> None:
    """Refuse an invalid number of trials of randomization."""
    if trials < 1:
        raise OptionError(f"`trials` must be at least 1, not {trials}")


def check_seed(seed: int) -> None:
    """Refuse a seed below 0."""
    if seed < 0:
        raise OptionError(f"the seed is {seed}; it must be 0 or more")


def check_confidence(confidence: float) -> None:
    """Refuse an invalid confidence."""
    if not 0 < confidence < 1:
        raise OptionError(f"`confidence` must be between 0 and 1 (such as 0.95), not {confidence}")


def few_pairs(pairs: int, *, drawn: bool = True) -> tuple[str, ...]:
    """Return a caution if there are few sentence pairs; `drawn`: for a bootstrap of them."""
    if pairs >= FEW_PAIRS:
        return ()
    if drawn:
        # a percentile interval takes the pairs for the population; randomization assumes nothing
        text = (
            f"with fewer than about {FEW_PAIRS}, bootstrap intervals are too narrow and "
            "bootstrap p-values too small; use the p-value of randomization"
        )
    else:
        text = "other pairs could give other results"
    return (f"only {how_many(pairs, 'sentence pair')}: {text}",)


def stratified_weights(
    strata: I8, resamples: int, rng: np.random.Generator, *, width: int = 1
) -> Iterator[F8]:
    """Yield chunks of (c, P) weights of pairs drawn with replacement within their strata.

    `strata` has the stratum of each pair. `width` is the number of columns of the rows that are
    summed with these weights: the size of a chunk leaves room for the sums.
    """
    # of the n pairs of a stratum n - 1 are drawn, each counting n / (n - 1) times, so that the
    # variance of a mean is the sum over strata of (n/P)^2 s^2 / n: Rao & Wu 1988, JASA 83(401)
    numbers = merged_strata(strata)
    members = [np.flatnonzero(numbers == k) for k in np.unique(numbers)]
    for size in chunks(resamples, len(strata) + 2 * width):
        weights = np.empty((size, len(strata)))
        for places in members:
            n = len(places)
            drawn = rng.integers(n, size=(size, n - 1))
            # one histogram for each resample: that of resample k counts the numbers from n k on
            cells = drawn + n * np.arange(size)[:, None]
            counts = np.bincount(cells.ravel(), minlength=size * n).reshape(size, n)
            weights[:, places] = counts * (n / (n - 1))
        yield weights


def merged_strata(strata: I8) -> I8:
    """Return numbered strata, merged so that each has two or more pairs.

    Examples
    --------
    >>> merged_strata(np.array([5, 5, 5, 7, 8])), merged_strata(np.array([5, 5, 7]))
    (array([0, 0, 0, 1, 1]), array([0, 0, 0]))
    """
    _, numbers, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    numbers = numbers.reshape(-1).astype(np.int64)
    single = sizes == 1
    if not single.any():
        return numbers
    if single.sum() > 1:
        home = single.argmax()  # all strata of a single pair together
    else:
        home = sizes.argmax()
    merged: I8 = np.where(single[numbers], home, numbers)
    return merged


def expanded(confidence: float, degrees: int) -> float:
    """Return the share of resamples an interval must span to have its nominal coverage.

    Examples
    --------
    >>> [round(expanded(0.95, degrees), 4) for degrees in (5, 20, 100, 10_000)]
    [0.9898, 0.963, 0.9527, 0.95]
    """
    from scipy.special import ndtr, stdtrit

    # percentiles take the spread for known, though it was estimated: the quantile of Student's t
    # takes the place of the normal one, 2 Phi(t) - 1 (Hesterberg 2015, American Statistician 69(4),
    # whose factor for the size of the sample the weights have already)
    return float(2 * ndtr(stdtrit(degrees, (1 + confidence) / 2)) - 1)
