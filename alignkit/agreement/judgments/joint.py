"""Agreement of all annotators together: alpha, AC1 and Fleiss' kappa as measures of sums."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F8, I4
from alignkit.agreement.fleiss import fleiss_ratios
from alignkit.agreement.intervals import Rows
from alignkit.agreement.judgments import tables
from alignkit.stats.resampling import ratio


class _JointCounts(NamedTuple):
    """What is added up over items, for K labels; n is how many judgments an item has.

    Of P items when they are counted, of R resamples when they are added up.
    """

    coincidences: F8  # (P, K, K): its ordered pairs of judgments by their labels, over n - 1
    shares: F8  # (P, K): the share of each label among its judgments
    votes: F8  # (P, K): how often each label is given
    judged: F8  # (P,): whether there is a judgment
    pairable: F8  # (P,): whether there are two
    agreement: F8  # (P,): the mean weighted agreement of its ordered pairs of judgments
    agreeing: F8  # (P,): how many of these pairs have equal labels

    def columns(self) -> F8:
        """Return all of it side by side: (P, K * K + 2 K + 4)."""
        coincidences = self.coincidences.reshape(len(self.votes), -1)
        last = np.column_stack([self.judged, self.pairable, self.agreement, self.agreeing])
        return np.hstack([coincidences, self.shares, self.votes, last])

    @classmethod
    def of_columns(cls, sums: F8, size: int) -> _JointCounts:
        """Return the sums of `columns` for K labels by their names."""
        ends = [size * size, size * size + size, size * size + 2 * size]
        coincidences, shares, votes, last = np.split(sums, ends, axis=1)
        return cls(coincidences.reshape(-1, size, size), shares, votes, *last.T)


def joint_rows(counts: I4, *, ordered: bool = True, weights: str = "nominal") -> Rows:
    """Return the rows behind alpha, AC1 and Fleiss' kappa, for (P, K) counts of labels.

    AC1 is weighted: with `weights` other than nominal, it is Gwet's AC2.

    References
    ----------
    Krippendorff 2019, Content Analysis, chapter 12; Gwet 2014, Handbook of Inter-Rater
    Reliability, chapter 4; Fleiss 1971, Psychological Bulletin 76.
    """
    votes = counts.astype(np.float64)
    size = votes.shape[1]
    judged = votes.sum(axis=1)
    pairable = judged >= 2
    # the ordered pairs of different judgments with labels k and l: v_k v_l, and v_k (v_k - 1)
    pairs_by_label = votes[:, :, np.newaxis] * (votes[:, np.newaxis] - np.eye(size))
    per_judgment = np.where(pairable, 1 / np.maximum(judged - 1, 1), 0)
    distances = tables.label_distances(size, weights)
    agreements = 1 - distances / distances.max()  # W: 1 if two labels are equal, 0 if furthest
    agreement = np.zeros(len(votes))
    pairs = judged * (judged - 1)
    np.divide((pairs_by_label * agreements).sum(axis=(1, 2)), pairs, out=agreement, where=pairs > 0)
    counted = _JointCounts(
        coincidences=pairs_by_label * per_judgment[:, np.newaxis, np.newaxis],
        shares=votes / np.maximum(judged, 1)[:, np.newaxis],
        votes=votes,
        judged=judged > 0,
        pairable=pairable,
        agreement=agreement,
        agreeing=np.trace(pairs_by_label, axis1=1, axis2=2),
    )
    measure = partial(
        _measures,
        size=size,
        ordered=ordered,
        raters=_equal_number(judged),
        agreements=float(agreements.sum()),
    )
    return Rows(counted.columns(), measure)


def _equal_number(judged: F8) -> int:
    """Return how many judgments all items have, two or more; 0 if their numbers differ."""
    numbers = np.unique(judged[judged > 0])
    if len(numbers) == 1 and numbers[0] >= 2:
        return int(numbers[0])
    return 0


def _measures(
    sums: F8, size: int, ordered: bool, raters: int, agreements: float
) -> Mapping[str, F8]:
    """Return the measures of R sums of `joint_rows`.

    `raters` is 0 if items differ in them; `agreements` is the sum of how much each two labels
    agree.
    """
    counted = _JointCounts.of_columns(sums, size)
    coincidences = counted.coincidences
    nominal = np.broadcast_to(1 - np.eye(size), coincidences.shape)
    ordinal = fleiss = np.full(len(sums), np.nan)
    if ordered:
        ordinal = _alpha(coincidences, _ordinal_distances(coincidences.sum(axis=2)))
    if raters:
        fleiss = fleiss_ratios(counted.judged, counted.agreeing, counted.votes, raters)["kappa"]
    return {
        "alpha.nominal": _alpha(coincidences, nominal),
        "alpha.ordinal": ordinal,
        "ac1": _ac1(counted, size, agreements),
        "fleiss": fleiss,
    }


def _ac1(counted: _JointCounts, size: int, agreements: float) -> F8:
    """Return (pa - pe) / (1 - pe) with pe = sum W / (K (K - 1)) * sum pi_k (1 - pi_k).

    pa is the mean agreement of the items with two judgments, pi_k the mean share of label k.
    """
    observed = ratio(counted.agreement, counted.pairable)
    items = np.where(counted.judged, counted.judged, np.nan)
    shares = counted.shares / items[:, np.newaxis]
    by_labels = (shares * (1 - shares)).sum(axis=1)
    expected = by_labels * agreements / (size * (size - 1))
    return ratio(observed - expected, 1 - expected)


def _ordinal_distances(totals: F8) -> F8:
    """Return Krippendorff's ordinal distances (R, K, K), by how often each label is paired.

    Between labels k < l: (n_k / 2 + n_(k+1) + ... + n_(l-1) + n_l / 2)^2. That is the difference
    of their mean ranks, if all judgments are ranked by label.
    """
    mean_ranks = np.cumsum(totals, axis=1) - totals / 2
    steps = mean_ranks[:, :, np.newaxis] - mean_ranks[:, np.newaxis]
    return steps * steps


def _alpha(coincidences: F8, distances: F8) -> F8:
    """Return 1 - observed / expected disagreement of (R, K, K) coincidences."""
    totals = coincidences.sum(axis=2)
    whole = totals.sum(axis=1)
    by_chance = totals[:, :, np.newaxis] * totals[:, np.newaxis]
    observed = (coincidences * distances).sum(axis=(1, 2)) * (whole - 1)
    expected = (by_chance * distances).sum(axis=(1, 2))
    return 1 - ratio(observed, expected)
