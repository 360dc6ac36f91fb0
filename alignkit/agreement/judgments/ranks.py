"""Agreement of annotators who rank texts: Kendall's W of each group of texts."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from alignkit._support.array_types import F8
from alignkit.tables.columns import Column
from alignkit.tables.table import Table


def kendall_w(values: NDArray[np.integer[Any]]) -> float:
    """Return Kendall's W of m annotators who ranked n texts, corrected for ties.

    W = 12 S / (m^2 (n^3 - n) - m T), where S adds up the squared differences of the sums of ranks
    from their mean, and T the t^3 - t of each t texts with the same rank by an annotator.

    Parameters
    ----------
    values : (m, n); below 0: not ranked. Annotators without a rank here, then texts that one of
        the others did not rank, are left out.

    References
    ----------
    Kendall & Babington Smith 1939, The problem of m rankings, Annals of Mathematical Statistics.

    Examples
    --------
    >>> kendall_w(np.array([[1, 2, 3], [1, 2, 3]])), kendall_w(np.array([[1, 2, 3], [3, 2, 1]]))
    (1.0, 0.0)
    """
    ranked = values[(values >= 0).any(axis=1)]  # by those who ranked any of the texts
    kept = ranked[:, (ranked >= 0).all(axis=0)]
    m, n = kept.shape
    if n < 2 or m < 2:
        return nan
    ranks: F8 = rankdata(kept, axis=1)
    sums = ranks.sum(axis=0)
    counts = [np.unique(row, return_counts=True)[1] for row in kept]
    ties = sum(int((t**3 - t).sum()) for t in counts)
    below = m * m * (n**3 - n) - m * ties
    if below:
        return float(12 * ((sums - sums.mean()) ** 2).sum() / below)
    return nan


def rank_table(values: Sequence[float]) -> Table:
    """Return the table of the W of all groups."""
    defined = np.array([value for value in values if not np.isnan(value)])
    columns = [Column("groups", "count"), Column("left out", "count", key="left_out")]
    names = ("mean", "lowest", "highest")
    columns += [Column(f"{name} W", "decimal", digits=3, key=f"{name}_w") for name in names]
    figures = [nan, nan, nan]
    if len(defined):
        figures = [float(defined.mean()), float(defined.min()), float(defined.max())]
    note = (
        "W: Kendall's coefficient, 1 if all rank the texts of a group alike; corrected for ties. "
        "Left out: fewer than two texts, or all ranked the same"
    )
    row = [len(defined), len(values) - len(defined), *figures]
    return Table("Ranks of texts of the same original", columns, [row], note, "ranks")
