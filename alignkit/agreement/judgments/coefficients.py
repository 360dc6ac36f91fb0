"""Coefficients of labels by several annotators with gaps: AC2, Brennan-Prediger, Conger."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_known
from alignkit._support.array_types import F8
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.table import Table

NAMES = {"observed": "observed", "ac2": "AC2", "bp": "Brennan-Prediger", "conger": "Conger"}
WEIGHTS = ("nominal", "linear", "quadratic")


def label_weights(labels: int, weights: str) -> F8:
    """Return how much two labels agree, (K, K): 1 if equal, less if far apart in their order."""
    check_known("weights", weights, WEIGHTS)
    places = np.arange(labels, dtype=float)
    apart = np.abs(places[:, None] - places) / (labels - 1)
    powers = {"nominal": 1.0 * (apart > 0), "linear": apart, "quadratic": apart**2}
    return np.asarray(1 - powers[weights], np.float64)


def chance_corrected(
    values: NDArray[np.integer[Any]], labels: int, weights: str = "nominal"
) -> dict[str, float]:
    """Return the observed agreement of A annotators on P items, and coefficients of it.

    With r_ik annotators who gave item i label k, r_i in all, and weights W: pa is the mean over
    items with r_i >= 2 of sum_k r_ik (sum_l W_kl r_il - 1) / (r_i (r_i - 1)). A coefficient is
    (pa - pe)/(1 - pe). With pi_k the mean of r_ik / r_i: pe of AC2 is sum W / (K (K - 1)) times
    sum pi_k (1 - pi_k), of Brennan & Prediger sum W / K^2, and of Conger sum W_kl (p_k p_l -
    s_kl / A), where p are the means and s the covariances over annotators of their shares of
    labels.

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
    agree = label_weights(labels, weights)
    counts = given.sum(axis=0).astype(float)
    judged = counts.sum(axis=1)
    several = judged >= 2
    r = counts[several]
    n = judged[several]
    with np.errstate(invalid="ignore", divide="ignore"):
        alike = (r * (r @ agree - 1)).sum(axis=1) / (n * (n - 1))
        observed = float(alike.mean()) if n.size else np.nan
        of_items = counts / judged[:, None]
        shares = of_items[judged > 0].sum(axis=0) / (judged > 0).sum()
        of_annotators = given.sum(axis=1) / given.sum(axis=(1, 2))[:, None]  # (A, K)
        mean = of_annotators.mean(axis=0)
        centred = of_annotators - mean
        spread = centred.T @ centred / (len(of_annotators) - 1)
        both = np.outer(mean, mean) - spread / len(of_annotators)
        by_labels = (shares * (1 - shares)).sum()
        expected = {
            "ac2": agree.sum() / (labels * (labels - 1)) * by_labels,
            "bp": agree.sum() / labels**2,
            "conger": (agree * both).sum(),
        }
        figures = {"observed": observed}
        for name, by_chance in expected.items():
            figures[name] = float((observed - by_chance) / (1 - by_chance))
    return figures


def _why_undefined(values: NDArray[np.integer[Any]]) -> str:
    """Return why coefficients of (A, P) labels are undefined, if they are."""
    if not ((values >= 0).sum(axis=0) >= 2).any():
        return "no item has two labels"
    if not (values >= 0).any(axis=1).all():
        return "an annotator gave no label"
    return "all give the same label everywhere"


def coefficient_table(
    views: Sequence[tuple[str, tuple[str, ...], NDArray[np.integer[Any]], int]], weights: str
) -> Table:
    """Return the coefficients of all annotators, and of every two, for (name, A, values, K)."""
    columns = [Column("view"), Column("annotators")]
    columns += [Column(text, "decimal", key=name) for name, text in NAMES.items()]
    rows: list[list[Cell]] = []
    for view, names, values, labels in views:
        groups: list[tuple[int, ...]] = [tuple(range(len(names)))]
        if len(names) > 2:
            groups += combinations(range(len(names)), 2)
        for group in groups:
            who = "all"
            if len(group) == 2:
                who = " ~ ".join(names[k] for k in group)
            given = values[list(group)]
            figures = chance_corrected(given, labels, weights)
            reason = _why_undefined(given)
            row: list[Cell] = [view, who]
            for name in NAMES:
                value = figures[name]
                row.append(Value(value, reason=reason) if isnan(value) else value)
            rows.append(row)
    note = (
        f"{weights} weights; AC2 is AC1 with weights, Conger's the kappa of several annotators; "
        "the shares of labels are those of all items that any of them judged"
    )
    return Table("Other coefficients", columns, rows, note, "coefficients", stub=2)
