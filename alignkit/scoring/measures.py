"""Define precision, recall, F1 and the alignment error rate as functions of counts.

A ratio 0/0 is undefined: it is NaN here and None in JSON, with the counts beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.scoring.counts import LINK_COLUMNS, PHRASE_COLUMNS
from alignkit.stats.ratios import Counts, Ratios, harmonic, none_if_nan, ratio


def link_ratios(counts: Counts) -> dict[str, NDArray[np.float64]]:
    """Return precision, recall, F1 and AER of the links.

    Parameters
    ----------
    counts
        (R, 8): rows of `LINK_COLUMNS`, or sums of rows.

    Notes
    -----
    With hypothesis A and reference B (eq. 2 of Cohn et al. 2008):
    precision = |A_S & B_P| / |A_S|, recall = |A_P & B_S| / |B_S|, F1 = 2PR / (P + R),
    AER = 1 - (|A_P & B_S| + |A_S & B_P|) / (|A_S| + |B_S|). NaN where 0/0: precision without sure
    hypothesis links, recall without sure reference links, AER without either; F1 as
    `harmonic` says.

    References
    ----------
    Och & Ney 2003, Computational Linguistics 29(1):19-51, doi:10.1162/089120103321337421.
    Cohn, Callison-Burch & Lapata 2008, Computational Linguistics 34(4):597-614.

    Examples
    --------
    >>> counts = np.array([[4, 4, 5, 5, 4, 4, 4, 4]])
    >>> {name: float(value[0].round(3)) for name, value in link_ratios(counts).items()}
    {'precision': 1.0, 'recall': 0.8, 'f1': 0.889, 'aer': 0.111}
    """
    hyp_sure, _, ref_sure, _, sure_in_possible, possible_in_sure, *_ = np.asarray(counts).T
    precision = ratio(sure_in_possible, hyp_sure)
    recall = ratio(possible_in_sure, ref_sure)
    error = 1 - ratio(possible_in_sure + sure_in_possible, hyp_sure + ref_sure)
    return {
        "precision": precision,
        "recall": recall,
        "f1": harmonic(precision, recall),
        "aer": error,
    }


def phrase_ratios(counts: Counts) -> dict[str, NDArray[np.float64]]:
    """Return precision, recall and F1 of the phrase pairs.

    Parameters
    ----------
    counts
        (R, 5): rows of `PHRASE_COLUMNS`, or sums of rows.

    Notes
    -----
    With hypothesis A and reference B (eq. 3 of Cohn et al. 2008):
    precision = |A_atom & B| / |A_atom|, recall = |A & B_atom| / |B_atom|. NaN where 0/0, as in
    `link_ratios`.

    Examples
    --------
    >>> counts = np.array([[2, 4, 1, 3, 1]])
    >>> {name: value.tolist() for name, value in phrase_ratios(counts).items()}
    {'precision': [0.5], 'recall': [0.75], 'f1': [0.6]}
    """
    hyp_atomic, ref_atomic, atomic_in_all, all_in_atomic, _ = np.asarray(counts).T
    precision = ratio(atomic_in_all, hyp_atomic)
    recall = ratio(all_in_atomic, ref_atomic)
    return {"precision": precision, "recall": recall, "f1": harmonic(precision, recall)}


LEVELS: Mapping[str, Ratios] = {
    "links": link_ratios,
    "phrases-possible": phrase_ratios,
    "phrases-sure": phrase_ratios,
    "links-identical": link_ratios,
    "links-non-identical": link_ratios,
}
"""What can be scored, and the measures of each."""

LEVEL_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "links": LINK_COLUMNS,
    "phrases-possible": PHRASE_COLUMNS,
    "phrases-sure": PHRASE_COLUMNS,
    "links-identical": LINK_COLUMNS,
    "links-non-identical": LINK_COLUMNS,
}
"""What is counted at each of `LEVELS`."""


@dataclass(frozen=True)
class LinkScore:
    """The measures of links; see `link_ratios`.

    Parameters
    ----------
    precision, recall, f1, aer
        The ratios; NaN where undefined.
    counts
        The numbers behind them, by the names `LINK_COLUMNS`.

    Examples
    --------
    >>> LinkScore.from_counts([4, 4, 5, 5, 4, 4, 4, 4]).recall
    0.8
    """

    precision: float
    recall: float
    f1: float
    aer: float
    counts: Mapping[str, int]

    @classmethod
    def from_counts(cls, row: Sequence[int] | NDArray[np.int64]) -> LinkScore:
        """Make the score of one row of counts (or of a sum of rows)."""
        counts = np.asarray(row, np.int64).reshape(1, -1)
        return cls(**_first(link_ratios(counts)), counts=_named(LINK_COLUMNS, counts))

    def to_json(self) -> dict[str, object]:
        """Return the score as JSON takes it: NaN is None."""
        return _jsonable(self, ("precision", "recall", "f1", "aer"))


@dataclass(frozen=True)
class PhraseScore:
    """The measures of phrase pairs; see `phrase_ratios`.

    Parameters
    ----------
    precision, recall, f1
        The ratios; NaN where undefined.
    counts
        The numbers behind them, by the names `PHRASE_COLUMNS`.
    """

    precision: float
    recall: float
    f1: float
    counts: Mapping[str, int]

    @classmethod
    def from_counts(cls, row: Sequence[int] | NDArray[np.int64]) -> PhraseScore:
        """Make the score of one row of counts (or of a sum of rows)."""
        counts = np.asarray(row, np.int64).reshape(1, -1)
        return cls(**_first(phrase_ratios(counts)), counts=_named(PHRASE_COLUMNS, counts))

    def to_json(self) -> dict[str, object]:
        """Return the score as JSON takes it: NaN is None."""
        return _jsonable(self, ("precision", "recall", "f1"))


def _first(ratios: dict[str, NDArray[np.float64]]) -> dict[str, float]:
    return {name: float(values[0]) for name, values in ratios.items()}


def _named(columns: Sequence[str], counts: NDArray[np.int64]) -> dict[str, int]:
    return dict(zip(columns, counts[0].tolist(), strict=True))


def _jsonable(score: LinkScore | PhraseScore, names: Sequence[str]) -> dict[str, object]:
    ratios = {name: none_if_nan(getattr(score, name)) for name in names}
    return {**ratios, "counts": dict(score.counts)}
