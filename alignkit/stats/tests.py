"""Tests of differences between systems: on resamples, by exchanging outputs, right or wrong.

Rows are the counts of sentence pairs, (P, C); a measure turns sums of rows, (R, C), into values.
`joint_bootstrap` and `wins` test on resamples of the pairs, `joint_randomization` by exchanging the
outputs of two systems at random, `mcnemar` by how many pairs only one of two has right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, erfc, nan, sqrt

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import B1, F8
from alignkit.errors import OptionError
from alignkit.stats.defaults import DRAWS_EACH
from alignkit.stats.resampling import (
    ALIKE_PAIRS,
    LOWER_IS_BETTER,
    Counts,
    Ratios,
    chunks,
    distinct,
    resample,
)

_TOLERANCE = 1e-12  # differences that are smaller are rounding errors

MOST_DRAWS = 100_000
"""The largest number of resamples or trials that alignkit takes by itself."""


def enough_draws(tests: int, least: int = DRAWS_EACH, *, each: int = DRAWS_EACH) -> int:
    """Return the number of resamples or trials for tests with Holm's correction.

    A p-value from N draws is at least about 1 / N, and Holm's correction multiplies the smallest of
    m p-values by m. With N in proportion to m, the smallest corrected p-value is the same for any
    number of tests, up to `MOST_DRAWS`.

    Examples
    --------
    >>> [enough_draws(tests) for tests in (1, 36, 1000)]
    [1000, 36000, 100000]
    """
    return min(max(least, each * tests), MOST_DRAWS)


def bootstrap_floor(resamples: int) -> float:
    """Return the smallest p-value that `wins` can give, 2 / (B + 1)."""
    return min(1.0, 2 / (resamples + 1))


def randomization_floor(trials: int) -> float:
    """Return the smallest p-value of randomization or permutation, 1 / (R + 1)."""
    return 1 / (trials + 1)


def joint_bootstrap(
    systems: Sequence[Counts], measure: Ratios, *, resamples: int, rng: np.random.Generator
) -> dict[str, F8]:
    """Return each measure of S systems on the same B resamples, (S, B).

    The same resamples serve all pairs of systems (Koehn 2004), so the time does not grow with the
    number of pairs.
    """
    width = systems[0].shape[1]
    drawn = resample(np.hstack(systems), resamples, rng)
    parts = [measure(sums.reshape(-1, width)) for sums in drawn]
    joint = {}
    for name in parts[0]:
        values = np.concatenate([part[name] for part in parts])
        joint[name] = values.reshape(-1, len(systems)).T
    return joint


def joint_randomization(
    systems: Sequence[Counts],
    pairs: Sequence[tuple[int, int]],
    measure: Ratios,
    *,
    trials: int,
    rng: np.random.Generator,
) -> list[dict[str, float]]:
    """Return the two-sided p-values of approximate randomization, for pairs of systems (places).

    A trial exchanges the outputs of each sentence pair with probability 1/2. With c the number of
    the R trials whose difference is at least as large as the true one, or undefined,
    p = (c + 1) / (R + 1) (Riezler & Maxwell 2005; Noreen 1989). All pairs of systems share what is
    exchanged.
    """
    totals = np.array([rows.sum(0) for rows in systems], np.float64)
    truths = [_differences(measure, totals[[a]], totals[[b]]) for a, b in pairs]
    reached = [dict.fromkeys(truth, 0) for truth in truths]  # c of each measure
    differ = np.any([(rows != systems[0]).any(axis=1) for rows in systems], axis=0)
    joint = np.hstack([rows[differ] for rows in systems]).astype(np.float64)
    for chosen, kinds in _exchanges(joint, trials, rng):
        # (trials, systems, C): the sums of the exchanged rows
        moved = (chosen @ kinds).reshape(len(chosen), len(systems), -1)
        for (a, b), truth, counts in zip(pairs, truths, reached, strict=True):
            change = moved[:, b] - moved[:, a]
            drawn = _differences(measure, totals[a] + change, totals[b] - change)
            for name, values in drawn.items():
                below = np.abs(values) < np.abs(truth[name]) - _TOLERANCE
                counts[name] += int(np.count_nonzero(~below))
    p_values = []
    for truth, counts in zip(truths, reached, strict=True):
        of_pair = {name: (count + 1) / (trials + 1) for name, count in counts.items()}
        undefined = [name for name, values in truth.items() if np.isnan(values[0])]
        p_values.append({**of_pair, **dict.fromkeys(undefined, nan)})
    return p_values


def _exchanges(rows: F8, trials: int, rng: np.random.Generator) -> Iterator[tuple[F8, F8]]:
    """Yield for chunks of trials how many of each kind of row are exchanged, and the kinds."""
    kinds, numbers = distinct(rows)
    row_by_row = len(rows) < ALIKE_PAIRS * len(kinds)
    if row_by_row:  # a bit for each row is faster than a binomial number for each kind
        kinds = rows
    for size in chunks(trials, len(kinds) + rows.shape[1]):
        if row_by_row:
            count = size * len(rows)
            octets = np.frombuffer(rng.bytes(ceil(count / 8)), np.uint8)
            bits = np.unpackbits(octets, count=count)
            chosen = bits.reshape(size, len(rows)).astype(np.float64)
        else:
            chosen = rng.binomial(numbers, 0.5, size=(size, len(kinds))).astype(np.float64)
        yield chosen, kinds


def paired_randomization(
    system: Counts, baseline: Counts, measure: Ratios, *, trials: int, rng: np.random.Generator
) -> dict[str, float]:
    """Return the two-sided p-value of approximate randomization for each measure."""
    both = (system, baseline)
    (p_values,) = joint_randomization(both, [(0, 1)], measure, trials=trials, rng=rng)
    return p_values


def _differences(measure: Ratios, system: F8, baseline: F8) -> dict[str, F8]:
    """Return the difference of each measure, (R,), for two systems with (R, C) sums of counts."""
    measures = measure(system)
    others = measure(baseline)
    return {name: measures[name] - others[name] for name in measures}


def wins(name: str, truth: float, drawn: F8) -> tuple[float, float]:
    """Return the share of resamples in which the system wins, and the two-sided p-value.

    `truth` is the difference of the measure on the whole corpus, `drawn` (B,) those on resamples.
    With c the number of resamples in which the system that is better on the whole corpus is not, or
    the difference is undefined, p = min(1, 2 (c + 1) / (B + 1)), as the percentile interval.
    """
    if np.isnan(truth) or np.isnan(drawn).all():
        return np.nan, np.nan
    sign = -1 if name in LOWER_IS_BETTER else 1
    won = np.count_nonzero(sign * drawn > _TOLERANCE)
    lasting = np.count_nonzero(np.sign(truth) * drawn > _TOLERANCE)
    chance = 2 * (len(drawn) - lasting + 1) / (len(drawn) + 1)
    return won / len(drawn), min(1.0, chance)


@dataclass(frozen=True)
class AloneRight:
    """The numbers of pairs that only one of two systems has right."""

    system: int
    baseline: int


def alone_right(system: B1, baseline: B1) -> AloneRight:
    """Count the pairs that only one of two systems has right."""
    of_system = int((system & ~baseline).sum())
    of_baseline = int((baseline & ~system).sum())
    return AloneRight(of_system, of_baseline)


def mcnemar(first: int, second: int, *, exact: bool = True) -> float:
    """Return the two-sided p-value of McNemar's test; NaN if nothing differs.

    By chance, each system should have half of the pairs that only one of them has right. Exact:
    p = min(1, 2 P(X <= min)), where X is binomial with n = first + second and probability 1/2.
    Otherwise: chi-square with one degree of freedom, (first - second)^2 / (first + second),
    without correction for continuity.

    Parameters
    ----------
    first, second : Numbers of pairs that only the first, or only the second, has right.
    exact : Use the binomial distribution; otherwise chi-square.

    Raises
    ------
    OptionError : If a count is negative.

    References
    ----------
    McNemar 1947, Psychometrika 12(2):153-157.

    Examples
    --------
    >>> mcnemar(1, 7), round(mcnemar(1, 7, exact=False), 4)
    (0.0703125, 0.0339)
    """
    check_arguments(mcnemar, locals())
    if min(first, second) < 0:
        raise OptionError(f"counts are {first} and {second}; expected 0 or more")
    if not first + second:
        return nan
    if not exact:
        return erfc(abs(first - second) / sqrt(2 * (first + second)))
    from scipy.stats import binom  # takes a second to import

    tail = float(binom.cdf(min(first, second), first + second, 0.5))
    return min(1.0, 2 * tail)
