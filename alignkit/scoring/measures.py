"""Precision, recall, F1 and AER as functions of counts, and their averages over sentence pairs.

A ratio 0/0 is undefined: NaN here, None in JSON.

The averages (macro precision, recall and F1, mean F1, exact match) are functions of sums, too:
`macro_terms` makes a row of terms for each sentence pair, and sums of these rows over a corpus, a
group or a resample give the averages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.values import named_json
from alignkit.scoring.counts import LINK_COLUMNS, PHRASE_COLUMNS, Rows
from alignkit.stats.corrections import holm as holm  # noqa: PLC0414
from alignkit.stats.resampling import LOWER_IS_BETTER as LOWER_IS_BETTER  # noqa: PLC0414
from alignkit.stats.resampling import Counts, Ratios, drawn_intervals, harmonic, ratio
from alignkit.stats.resampling import Interval as Interval  # noqa: PLC0414
from alignkit.stats.resampling import confidence_interval as confidence_interval  # noqa: PLC0414
from alignkit.stats.shares import newcombe_interval as newcombe_interval  # noqa: PLC0414
from alignkit.stats.shares import wilson_interval as wilson_interval  # noqa: PLC0414

if TYPE_CHECKING:
    from typing_extensions import Self


def link_ratios(counts: Counts) -> dict[str, NDArray[np.float64]]:
    """Return precision, recall, F1 and AER of the links.

    Parameters
    ----------
    counts : (R, 8): rows of `LINK_COLUMNS`, or sums of rows.

    Notes
    -----
    With hypothesis A and reference B (eq. 2 of Cohn et al. 2008):
    precision = |A_S & B_P| / |A_S|, recall = |A_P & B_S| / |B_S|, F1 = 2PR / (P + R),
    AER = 1 - (|A_P & B_S| + |A_S & B_P|) / (|A_S| + |B_S|). NaN for 0/0: precision without sure
    hypothesis links, recall without sure reference links, AER without either; for F1, see
    `harmonic`.

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
    f1 = harmonic(precision, recall)
    return {"precision": precision, "recall": recall, "f1": f1, "aer": error}


def phrase_ratios(counts: Counts) -> dict[str, NDArray[np.float64]]:
    """Return precision, recall and F1 of the phrase pairs.

    Parameters
    ----------
    counts : (R, 5): rows of `PHRASE_COLUMNS`, or sums of rows.

    Notes
    -----
    With hypothesis A and reference B (eq. 3 of Cohn et al. 2008):
    precision = |A_atom & B| / |A_atom|, recall = |A & B_atom| / |B_atom|. NaN for 0/0, as in
    `link_ratios`.

    References
    ----------
    Cohn, Callison-Burch & Lapata 2008, Constructing corpora for the development and evaluation of
    paraphrase systems, Computational Linguistics 34(4):597-614.

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
"""The levels of scoring, and the measures of each."""

LEVEL_COLUMNS: Mapping[str, tuple[str, ...]] = {
    level: LINK_COLUMNS if ratios is link_ratios else PHRASE_COLUMNS
    for level, ratios in LEVELS.items()
}
"""The columns of counts at each of `LEVELS`."""


class _OfCounts:
    """Measures computed from a row of counts of a level."""

    _level: ClassVar[str]

    @classmethod
    def from_counts(cls, row: Sequence[int] | NDArray[np.int64]) -> Self:
        """Make the score from a row of counts, or a sum of rows."""
        counts = np.asarray(row, np.int64).reshape(1, -1)
        ratios = {name: float(values[0]) for name, values in LEVELS[cls._level](counts).items()}
        named = dict(zip(LEVEL_COLUMNS[cls._level], counts[0].tolist(), strict=True))
        values: dict[str, Any] = {**ratios, "counts": named}
        return cls(**values)

    def to_json(self) -> dict[str, object]:
        """Return the score as JSON values; NaN becomes None."""
        return named_json(self, vars(self))


@dataclass(frozen=True)
class LinkScore(_OfCounts):
    """The measures of links; see `link_ratios`.

    Parameters
    ----------
    precision, recall, f1, aer : The ratios; NaN if undefined.
    counts : The numbers behind them, by the names `LINK_COLUMNS`.

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
    _level = "links"


@dataclass(frozen=True)
class PhraseScore(_OfCounts):
    """The measures of phrase pairs; see `phrase_ratios`.

    Part of `Score.phrases`.

    Parameters
    ----------
    precision, recall, f1 : The ratios; NaN if undefined.
    counts : The numbers behind them, by the names `PHRASE_COLUMNS`.

    Examples
    --------
    >>> import alignkit
    >>> phrases = alignkit.score(["0-0 1-1"], ["0-0"], level="phrases").phrases["sure"]
    >>> phrases.recall, phrases.precision
    (1.0, 0.5)
    >>> phrases.counts["hyp_atomic"], phrases.counts["ref_atomic"]
    (2, 1)
    """

    precision: float
    recall: float
    f1: float
    counts: Mapping[str, int]
    _level = "phrases-possible"


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
"""The columns of `macro_terms`: each ratio (0 if undefined), and whether it is defined."""

MACRO_MEASURES = ("macro_precision", "macro_recall", "macro_f1", "mean_f1", "exact_match")
"""The measures of `macro_ratios`."""

_EXACT = {
    "links": ("hyp_sure", "ref_sure", "sure_in_sure"),
    "phrases": ("hyp_atomic", "ref_atomic", "atomic_in_atomic"),
}


def macro_terms(rows: Counts, level: str) -> NDArray[np.float64]:
    """Return the terms that each sentence pair adds to the means.

    Parameters
    ----------
    rows : (P, C) counts of the level.
    level : One of `LEVELS`.

    Returns
    -------
    terms
        (P, 8), the columns `MACRO_COLUMNS`.

    Raises
    ------
    UnknownNameError : If the level is unknown.

    Examples
    --------
    >>> rows = np.array([[2, 2, 4, 4, 1, 1, 1, 1]])
    >>> macro_terms(rows, "links")[0, :3].tolist()
    [0.5, 1.0, 0.25]
    """
    check_arguments(macro_terms, locals())
    check_known("level", level, LEVELS)
    columns = LEVEL_COLUMNS[level]
    ratios = LEVELS[level](rows)
    terms: list[NDArray[np.float64]] = []
    for name in ("precision", "recall", "f1"):
        defined = ~np.isnan(ratios[name])
        terms += [np.where(defined, ratios[name], 0), defined.astype(np.float64)]
    kind = level.split("-", maxsplit=1)[0]
    hyp, ref, both = (rows[:, columns.index(name)] for name in _EXACT[kind])
    exact = (hyp == both) & (ref == both)
    return np.stack([*terms, exact.astype(np.float64), np.ones(len(rows))], axis=1)


def macro_ratios(terms: Counts) -> dict[str, NDArray[np.float64]]:
    """Return the measures that average over sentence pairs.

    Parameters
    ----------
    terms : (R, 8) sums of the rows of `macro_terms`.

    Returns
    -------
    dict
        (R,) arrays under the names `MACRO_MEASURES`.

    Notes
    -----
    Macro precision and macro recall are the means of the sentence pairs' precision and recall.
    Macro F1 is the harmonic mean of these two, and mean F1 is the mean of the sentence pairs' F1.
    If a ratio of a pair is 0/0, the pair is left out of the mean of that ratio. Exact match is the
    share of pairs with A_S = B_S: both have the same sure links (or atomic phrase pairs), or none.
    These are the averages of MacCartney, Galley & Manning (2008, EMNLP, D08-1084) for the RTE-2
    alignments.

    References
    ----------
    MacCartney, Galley & Manning 2008, A phrase-based alignment model for natural language
    inference, EMNLP, D08-1084.

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
    """Return the rows, and a function of their sums that computes all measures of an aggregate."""
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
    """Return from a sum of `macro_terms` the number of pairs for which each ratio is 0/0."""
    named = dict(zip(MACRO_COLUMNS, sums.tolist(), strict=True))
    ratios = ("precision", "recall", "f1")
    return {name: round(named["pairs"] - named[f"{name}_defined"]) for name in ratios}


@dataclass(frozen=True)
class MacroScore:
    """The measures that average over sentence pairs; see `macro_ratios`.

    Part of `Score.macro`.

    Parameters
    ----------
    precision, recall, f1 : Macro precision, macro recall, and their harmonic mean; NaN if
        undefined.
    mean_f1 : The mean of the sentence pairs' F1.
    exact_match : The share of sentence pairs with the same alignment in both.
    exact_pairs : Their number.
    left_out : Number of pairs left out of the mean of ``"precision"``, ``"recall"`` and ``"f1"``
        (0/0).

    Examples
    --------
    >>> import alignkit
    >>> score = alignkit.score(["0-0", "0-0 1-1"], ["0-0 1-1"] * 2, aggregate="macro")
    >>> macro = score.macro["links"]
    >>> macro.precision, macro.recall, macro.exact_match
    (1.0, 0.75, 0.5)
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
        """Make the score from a sum of rows of `macro_terms`."""
        terms = np.asarray(sums, np.float64).reshape(1, -1)
        precision, recall, f1, mean_f1, match = (float(x[0]) for x in macro_ratios(terms).values())
        exact = round(terms[0, MACRO_COLUMNS.index("exact")])
        return cls(precision, recall, f1, mean_f1, match, exact, left_out(terms[0]))

    def measures(self) -> dict[str, float]:
        """Return the measures under the names `MACRO_MEASURES`.

        Examples
        --------
        >>> import alignkit
        >>> score = alignkit.score(["0-0", "0-0 1-1"], ["0-0 1-1"] * 2, aggregate="macro")
        >>> score.macro["links"].measures()["exact_match"]
        0.5
        """
        values = self.precision, self.recall, self.f1, self.mean_f1, self.exact_match
        return dict(zip(MACRO_MEASURES, values, strict=True))

    def to_json(self) -> dict[str, object]:
        """Return the means as JSON values; NaN becomes None.

        Examples
        --------
        >>> import alignkit
        >>> score = alignkit.score(["0-0", "0-0 1-1"], ["0-0 1-1"] * 2, aggregate="macro")
        >>> score.macro["links"].to_json()["recall"]
        0.75
        """
        return named_json(self, ("precision", "recall", "f1", "mean_f1", "left_out"))


def level_intervals(
    rows: Mapping[str, Rows],
    aggregate: str,
    *,
    resamples: int,
    confidence: float,
    seed: int | np.random.SeedSequence,
) -> dict[str, dict[str, Interval]]:
    """Return the interval of each measure, by level."""
    streams = dict(zip(LEVELS, np.random.default_rng(seed).spawn(len(LEVELS)), strict=True))
    intervals = {}
    for level, counts in rows.items():
        drawing: Any = {"resamples": resamples, "confidence": confidence, "rng": streams[level]}
        intervals[level] = drawn_intervals(*aggregated(counts, level, aggregate), **drawing)
    return intervals
