"""Candidate pairs: texts that may be paraphrases, with counts of what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.errors import OptionError
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.tables.columns import Column
from alignkit.tables.result import Result
from alignkit.tables.table import Table

BINS = 20
"""The bins of a histogram of similarities, from 0 to 1; 1 is in the last bin."""


@dataclass(frozen=True, eq=False)
class Candidates(Result):
    """Candidate pairs.

    Parameters
    ----------
    pairs : The pairs, with their origin and similarity as attributes.
    about : What was compared, in a line or more.
    counts : What was left out, by reason.
    histogram : (20,): how many of all compared pairs have a similarity in each of `BINS`, if known.
    signature : The settings in one line.
    """

    pairs: Sequence[SentencePair]
    about: Sequence[str]
    counts: Mapping[str, int]
    histogram: NDArray[np.int64] | None = None
    signature: str = ""
    notes: tuple[str, ...] = ()

    @property
    def head(self) -> Sequence[str]:
        """What was compared."""
        return self.about

    @property
    def corpus(self) -> Corpus:
        """The pairs as a corpus."""
        return Corpus(self.pairs)

    def tables(self) -> Sequence[Table]:
        """Return the counts, and the histogram of all compared pairs."""
        rows: list[list[object]] = [
            ["candidates", len(self.pairs)],
            *map(list, self.counts.items()),
        ]
        tables = [
            Table("", [Column("", key="what"), Column("number", "count")], rows, "", "counts")
        ]
        if self.histogram is not None:
            columns = [Column(name, "decimal", digits=2) for name in ("from", "to")]
            bins = [[k / BINS, (k + 1) / BINS, int(n)] for k, n in enumerate(self.histogram)]
            title = "Similarity of all pairs compared"
            tables.append(
                Table(title, [*columns, Column("pairs", "count")], bins, "", "similarity", stub=2)
            )
        return tables


def candidate_pair(id: str, source: str, target: str, **attributes: str) -> SentencePair:
    """Return a pair of texts that nobody aligned, split at white space."""
    return SentencePair(id, source.split(), target.split(), {}, attributes)


def check_band(least: float | None, most: float | None) -> tuple[float, float]:
    """Return the band of similarities; a missing end is open."""
    low, high = -1.0 if least is None else least, 1.0 if most is None else most
    if not -1 <= low <= high <= 1:
        raise OptionError(f"similarities from {low:g} to {high:g}: expected 0 <= min <= max <= 1")
    return low, high


def in_bins(values: NDArray[np.floating]) -> NDArray[np.int64]:
    """Count values in each of the `BINS`; those below 0 count as 0."""
    places = np.minimum((np.clip(values, 0, 1) * BINS + 1e-6).astype(int), BINS - 1)
    return np.bincount(places, minlength=BINS)
