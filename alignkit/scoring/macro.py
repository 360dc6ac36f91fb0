"""Average over sentence pairs: macro precision, recall and F1, the mean of F1, exact match.

What is averaged is a row of terms for each sentence pair, so that sums of rows give these measures
too, over the corpus, a group or a resample, as sums of counts give the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments
from alignkit.errors import UnknownNameError
from alignkit.scoring.measures import LEVEL_COLUMNS, LEVELS
from alignkit.stats.ratios import Counts, Ratios, harmonic, none_if_nan, ratio

AGGREGATES = ("micro", "macro", "both")
"""How a corpus is put together: counts added up, ratios averaged, or both."""

MACRO_COLUMNS = (
    "precision",
    "precision_defined",
    "recall",
    "recall_defined",
    "f1",
    "f1_defined",
    "exact",
    "pairs",
)
"""What the columns of `macro_terms` hold: each ratio, 0 where undefined, and whether it is not."""

MACRO_MEASURES = ("macro_precision", "macro_recall", "macro_f1", "mean_f1", "exact_match")
"""The measures of `macro_ratios`."""

_EXACT = {
    "links": ("hyp_sure", "ref_sure", "sure_in_sure"),
    "phrases": ("hyp_atomic", "ref_atomic", "atomic_in_atomic"),
}


def macro_terms(rows: Counts, level: str) -> NDArray[np.float64]:
    """Return for each sentence pair what it adds to the means.

    Parameters
    ----------
    rows
        (P, C) counts of the level.
    level
        One of `LEVELS`.

    Returns
    -------
    terms
        (P, 8), the columns `MACRO_COLUMNS`.
    """
    check_arguments(macro_terms, locals())
    if level not in LEVELS:
        raise UnknownNameError("level", level, LEVELS)
    columns = LEVEL_COLUMNS[level]
    found = LEVELS[level](rows)
    terms: list[NDArray[np.float64]] = []
    for name in ("precision", "recall", "f1"):
        defined = ~np.isnan(found[name])
        terms += [np.where(defined, found[name], 0), defined.astype(np.float64)]
    sizes = (rows[:, columns.index(name)] for name in _EXACT[level.split("-", maxsplit=1)[0]])
    hyp, ref, both = sizes
    exact = (hyp == both) & (ref == both)
    return np.stack([*terms, exact.astype(np.float64), np.ones(len(rows))], axis=1)


def macro_ratios(terms: Counts) -> dict[str, NDArray[np.float64]]:
    """Return the measures that average over sentence pairs.

    Parameters
    ----------
    terms
        (R, 8) sums of the rows of `macro_terms`.

    Returns
    -------
    dict
        (R,) arrays under the names `MACRO_MEASURES`.

    Notes
    -----
    Macro precision and macro recall are the means of the sentence pairs' precision and recall,
    macro F1 is the harmonic mean of these two, and mean F1 the mean of the sentence pairs' F1. A
    pair whose ratio is 0/0 is left out of the mean of that ratio. Exact match is the share of
    pairs with A_S = B_S: the sure links of both are the same (of phrase pairs, the atomic ones);
    two empty sets are. So MacCartney, Galley & Manning (2008, EMNLP, D08-1084) count on
    the RTE-2 alignments.

    Examples
    --------
    >>> rows = np.array([[2, 2, 2, 2, 2, 2, 2, 2], [2, 2, 4, 4, 1, 1, 1, 1]])
    >>> sums = macro_terms(rows, "links").sum(axis=0, keepdims=True)
    >>> {name: round(float(value[0]), 3) for name, value in macro_ratios(sums).items()}
    ... # doctest: +NORMALIZE_WHITESPACE
    {'macro_precision': 0.75, 'macro_recall': 0.625, 'macro_f1': 0.682, 'mean_f1': 0.667,
     'exact_match': 0.5}
    """
    precision, precisions, recall, recalls, f1, f1s, exact, pairs = np.asarray(terms).T
    means = ratio(precision, precisions), ratio(recall, recalls)
    values = (*means, harmonic(*means), ratio(f1, f1s), ratio(exact, pairs))
    return dict(zip(MACRO_MEASURES, values, strict=True))


def aggregated(rows: Counts, level: str, aggregate: str) -> tuple[Counts, Ratios]:
    """Return rows, and the function of their sums, that give all measures of an aggregate."""
    micro = LEVELS[level]
    if aggregate == "micro":
        return rows, micro
    width = rows.shape[1]
    kept = ("aer",) if aggregate == "macro" else tuple(micro(rows[:1]))

    def measure(sums: Counts) -> dict[str, NDArray[np.float64]]:
        counted = micro(sums[:, :width])
        plain = {name: values for name, values in counted.items() if name in kept}
        return {**plain, **macro_ratios(sums[:, width:])}

    return np.hstack([rows.astype(np.float64), macro_terms(rows, level)]), measure


def left_out(sums: Counts) -> dict[str, int]:
    """Return of how many pairs each ratio is 0/0, and so in no mean, by a sum of `macro_terms`."""
    named = dict(zip(MACRO_COLUMNS, sums.tolist(), strict=True))
    return {
        name: round(named["pairs"] - named[f"{name}_defined"])
        for name in ("precision", "recall", "f1")
    }


@dataclass(frozen=True)
class MacroScore:
    """The measures that average over sentence pairs; see `macro_ratios`.

    Parameters
    ----------
    precision, recall, f1
        Macro precision, macro recall, and their harmonic mean; NaN where undefined.
    mean_f1
        The mean of the sentence pairs' F1.
    exact_match
        The share of sentence pairs on which both are the same.
    exact_pairs
        How many these are.
    left_out
        How many pairs are in no mean of ``"precision"``, ``"recall"`` and ``"f1"``: theirs is 0/0.
    """

    precision: float
    recall: float
    f1: float
    mean_f1: float
    exact_match: float
    exact_pairs: int
    left_out: Mapping[str, int]

    @classmethod
    def from_terms(cls, sums: Sequence[float] | NDArray[np.float64]) -> MacroScore:
        """Make the score of one sum of the rows of `macro_terms`."""
        terms = np.asarray(sums, np.float64).reshape(1, -1)
        precision, recall, f1, mean_f1, match = (
            float(values[0]) for values in macro_ratios(terms).values()
        )
        exact = round(terms[0, MACRO_COLUMNS.index("exact")])
        return cls(precision, recall, f1, mean_f1, match, exact, left_out(terms[0]))

    def measures(self) -> dict[str, float]:
        """Return the measures under the names `MACRO_MEASURES`."""
        values = self.precision, self.recall, self.f1, self.mean_f1, self.exact_match
        return dict(zip(MACRO_MEASURES, values, strict=True))

    def to_json(self) -> dict[str, object]:
        """Return the means as JSON takes them: NaN is None."""
        names = ("precision", "recall", "f1", "mean_f1")
        means = {name: none_if_nan(getattr(self, name)) for name in names}
        return {**means, "left_out": dict(self.left_out)}
