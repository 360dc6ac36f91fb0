"""Coefficients of labels by several annotators with gaps: AC2, Brennan-Prediger, Conger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_known
from alignkit._support.array_types import F8
from alignkit.tables.columns import Cell, Column, Row, Value
from alignkit.tables.table import Table

NAMES = {"observed": "observed", "ac2": "AC2", "bp": "Brennan-Prediger", "conger": "Conger"}
WEIGHTS = ("nominal", "linear", "quadratic")

NO_TWO_LABELS = "no item has two labels"
ALL_ALIKE = "all give the same label everywhere"


def label_weights(labels: int, weights: str) -> F8:
    """Return how much two labels agree, (K, K): 1 if equal, less if far apart in their order."""
    check_known("weights", weights, WEIGHTS)
    places = np.arange(labels, dtype=float)
    steps = np.abs(places[:, None] - places) / (labels - 1)
    distances = {"nominal": 1.0 * (steps > 0), "linear": steps, "quadratic": steps**2}
    return np.asarray(1 - distances[weights], np.float64)


def chance_corrected(
    values: NDArray[np.integer[Any]], labels: int, weights: str = "nominal"
) -> dict[str, float]:
    """Return the observed agreement of A annotators on P items, and coefficients of it.

    r_ik annotators give item i the label k, and r_i any label; the weight W_kl is how much two
    labels agree. Each coefficient is (pa - pe) / (1 - pe):

    - pa: the mean over items with r_i >= 2 of sum_k r_ik (sum_l W_kl r_il - 1) / (r_i (r_i - 1));
    - pe of AC2: sum_kl W_kl / (K (K - 1)) * sum_k pi_k (1 - pi_k), pi_k the mean of r_ik / r_i;
    - pe of Brennan & Prediger: sum_kl W_kl / K^2;
    - pe of Conger: sum_kl W_kl (p_k p_l - s_kl / A), where p_k are the means over the A annotators
      of their shares of labels, and s_kl the covariances.

    Parameters
    ----------
    values : The labels, (A, P), from 0; below 0: none.
    labels : The number of labels, K.
    weights : ``"nominal"`` (AC1, Conger's kappa), ``"linear"`` or ``"quadratic"``.

    Returns
    -------
    dict
        ``observed``, ``ac2``, ``bp`` and ``conger``; NaN where there is nothing to compare.

    References
    ----------
    Gwet 2014, Handbook of inter-rater reliability, 4th edition; Conger 1980, Psychological
    Bulletin 88(2); Brennan & Prediger 1981, Educational and Psychological Measurement 41(3).

    Examples
    --------
    >>> votes = np.array([[0, 0, 1, 2], [0, 0, 1, 1]])
    >>> {name: round(x, 3) for name, x in chance_corrected(votes, 3).items()}
    {'observed': 0.75, 'ac2': 0.644, 'bp': 0.625, 'conger': 0.6}
    """
    given = np.asarray(values)[..., None] == np.arange(labels)  # (A, P, K)
    agreements = label_weights(labels, weights)  # W
    counts = given.sum(axis=0).astype(float)  # r_ik
    judged = counts.sum(axis=1)  # r_i
    several = judged >= 2
    r = counts[several]
    n = judged[several]
    with np.errstate(invalid="ignore", divide="ignore"):
        of_items = (r * (r @ agreements - 1)).sum(axis=1) / (n * (n - 1))
        observed = float(of_items.mean()) if n.size else np.nan  # pa
        has_label = judged > 0
        shares_of_items = counts / judged[:, None]
        pi = shares_of_items[has_label].sum(axis=0) / has_label.sum()
        shares = given.sum(axis=1) / given.sum(axis=(1, 2))[:, None]  # (A, K), of annotators
        p = shares.mean(axis=0)
        centred = shares - p
        covariances = centred.T @ centred / (len(shares) - 1)  # s
        expected = {
            "ac2": agreements.sum() / (labels * (labels - 1)) * (pi * (1 - pi)).sum(),
            "bp": agreements.sum() / labels**2,
            "conger": (agreements * (np.outer(p, p) - covariances / len(shares))).sum(),
        }
        figures = {"observed": observed}
        for name, by_chance in expected.items():
            figures[name] = float((observed - by_chance) / (1 - by_chance))
    return figures


def _why_undefined(values: NDArray[np.integer[Any]]) -> str:
    """Return why coefficients of (A, P) labels that have no value have none."""
    if not ((values >= 0).sum(axis=0) >= 2).any():
        return NO_TWO_LABELS
    if not (values >= 0).any(axis=1).all():
        return "an annotator gave no label"
    return ALL_ALIKE


class LabelsOfView(NamedTuple):
    """The labels that annotators gave, as numbers."""

    view: str
    annotators: tuple[str, ...]
    values: NDArray[np.integer[Any]]  # (A, P), from 0; below 0: none
    labels: int  # how many labels the view has


def coefficient_table(views: Sequence[LabelsOfView], weights: str) -> Table:
    """Return the coefficients of all annotators, and of every two, in each view."""
    columns = [Column("view"), Column("annotators")]
    columns += [Column(text, "decimal", key=name) for name, text in NAMES.items()]
    rows: list[Row] = []
    for view, names, values, labels in views:
        if len(names) > 2:
            rows.append([view, "all", *_cells(values, labels, weights)])
        for a, b in combinations(range(len(names)), 2):
            who = f"{names[a]} ~ {names[b]}"
            rows.append([view, who, *_cells(values[[a, b]], labels, weights)])
    note = (
        f"{weights} weights; AC2 is AC1 with weights, Conger's the kappa of several annotators; "
        "the shares of labels are those of all items that any of them judged"
    )
    return Table("Other coefficients", columns, rows, note, "coefficients", stub=2)


def _cells(values: NDArray[np.integer[Any]], labels: int, weights: str) -> Iterator[Cell]:
    """Yield the coefficients of some annotators, in the order of `NAMES`."""
    figures = chance_corrected(values, labels, weights)
    for name in NAMES:
        value = figures[name]
        if isnan(value):
            yield Value(value, reason=_why_undefined(values))
        else:
            yield value
