"""Compute what all annotators together have: Krippendorff's alpha, Gwet's AC1, Fleiss' kappa."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.fleiss import fleiss_ratios
from alignkit.agreement.statistic import Floats, Rows
from alignkit.scoring.measures import ratio

UNEQUAL = "items have different numbers of judgments"  # why Fleiss' kappa is undefined


def joint_rows(counts: NDArray[np.int32], *, ordered: bool = True) -> Rows:
    """Return what alpha, AC1 and Fleiss' kappa are functions of, for (P, K) counts of labels."""
    # Krippendorff 2019, Content Analysis, chapter 12; Gwet 2008, British Journal of Mathematical
    # and Statistical Psychology 61; Fleiss 1971, Psychological Bulletin 76
    votes = counts.astype(np.float64)
    items, size = votes.shape
    judged = votes.sum(axis=1)
    pairable = judged >= 2
    scale = np.where(pairable, 1 / np.maximum(judged - 1, 1), 0)
    together = votes[:, :, np.newaxis] * (votes[:, np.newaxis] - np.eye(size))
    seen = (together * scale[:, np.newaxis, np.newaxis]).reshape(items, -1)
    agreeing = np.trace(together, axis1=1, axis2=2)
    raters = np.unique(judged[judged > 0])
    columns = [
        seen,
        votes / np.maximum(judged, 1)[:, np.newaxis],
        votes,
        np.column_stack([judged > 0, pairable, _agreeing_share(agreeing, judged), agreeing]),
    ]
    even = int(raters[0]) if len(raters) == 1 and raters[0] >= 2 else 0
    return Rows(np.hstack(columns), partial(_measures, size=size, ordered=ordered, raters=even))


def _agreeing_share(agreeing: Floats, judged: Floats) -> Floats:
    """Return the share of an item's pairs of judgments that agree; 0 where it has no pair."""
    pairs = judged * (judged - 1)
    return np.divide(agreeing, pairs, out=np.zeros(len(pairs)), where=pairs > 0)


def _measures(sums: Floats, size: int, ordered: bool, raters: int) -> Mapping[str, Floats]:
    seen = sums[:, : size * size].reshape(-1, size, size)
    shares, votes = sums[:, size * size :][:, :size], sums[:, size * (size + 1) :][:, :size]
    judged, pairable, same, agreeing = sums[:, -4:].T
    nothing = np.full(len(sums), np.nan)
    observed = ratio(same, pairable)
    spread = shares / np.where(judged, judged, np.nan)[:, np.newaxis]
    expected = (spread * (1 - spread)).sum(axis=1) / (size - 1)
    totals = seen.sum(axis=2)
    nominal = np.broadcast_to(1 - np.eye(size), seen.shape)
    fleiss = fleiss_ratios(judged, agreeing, votes, raters)["kappa"] if raters else nothing
    return {
        "alpha.nominal": _alpha(seen, totals, nominal),
        "alpha.ordinal": _alpha(seen, totals, _ranks_apart(totals)) if ordered else nothing,
        "ac1": (observed - expected) / (1 - expected),
        "fleiss": fleiss,
    }


def _alpha(seen: Floats, totals: Floats, apart: Floats) -> Floats:
    """Return 1 - observed / expected disagreement of (R, K, K) coincidences."""
    whole = totals.sum(axis=1)
    observed = (seen * apart).sum(axis=(1, 2)) * (whole - 1)
    expected = (totals[:, :, np.newaxis] * totals[:, np.newaxis] * apart).sum(axis=(1, 2))
    return 1 - ratio(observed, expected)


def _ranks_apart(totals: Floats) -> Floats:
    """Return the squares of how far labels are apart in ranks, (R, K, K)."""
    middle = np.cumsum(totals, axis=1) - totals / 2
    steps: Floats = middle[:, :, np.newaxis] - middle[:, np.newaxis]
    return steps * steps
