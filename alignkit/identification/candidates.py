"""Candidate pairs: texts that may be paraphrases, with counts of what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from alignkit.identification.similarity import Places
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import Result
from alignkit.tables.table import Table

BINS = 20
"""The bins of similarity, from 0 to 1; each includes its lower end, the last one also 1."""


class TextPair(NamedTuple):
    """Two texts and their attributes."""

    id: str
    source: str
    target: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Candidates(Result):
    """Candidate pairs.

    Parameters
    ----------
    pairs : The pairs, with their origin as attributes.
    about : What was compared, in one line.
    counts : What was left out, by reason.
    signature : All settings in one line.
    notes : Warnings.
    histogram : (20,): the number of compared pairs in each bin of similarity; None: unknown.
    more : Further tables.
    """

    pairs: Sequence[TextPair]
    about: str
    counts: Mapping[str, int]
    signature: str
    notes: tuple[str, ...] = ()
    histogram: Places | None = None
    more: Sequence[Table] = ()

    @property
    def head(self) -> Sequence[str]:
        """What was compared."""
        return (self.about,)

    @property
    def corpus(self) -> Corpus:
        """The pairs as a corpus, split into words at white space."""
        return Corpus(
            SentencePair(pair.id, pair.source.split(), pair.target.split(), {}, pair.attributes)
            for pair in self.pairs
        )

    def tables(self) -> Sequence[Table]:
        """Return the counts, the histogram of all compared pairs, and further tables."""
        rows: list[list[Cell]] = [[*row] for row in self.counts.items()]
        columns = [Column("", key="what"), Column("number", "count")]
        tables = [Table("", columns, [["candidates", len(self.pairs)], *rows], "", "counts")]
        if self.histogram is not None:
            columns = [Column(name, "decimal", digits=2) for name in ("from", "to")]
            bins = [[k / BINS, (k + 1) / BINS, int(n)] for k, n in enumerate(self.histogram)]
            columns.append(Column("pairs", "count"))
            title = "Similarity of all pairs compared"
            tables.append(Table(title, columns, bins, "", "similarity", stub=2))
        return [*tables, *self.more]


def bin_of(values: ArrayLike, bins: int = BINS) -> Places:
    """Return the bin of each value; those below 0 are in the first."""
    places = np.clip(np.asarray(values, float), 0, 1) * bins + 1e-6  # .05 as float32 is below .05
    numbers: Places = np.minimum(places.astype(np.int64), bins - 1)
    return numbers


def histogram_of(values: ArrayLike) -> Places:
    """Return the number of values in each of the `BINS`."""
    return np.bincount(bin_of(values), minlength=BINS).astype(np.int64)


def similarity_of(pair: TextPair) -> float:
    """Return the similarity of a candidate pair."""
    return float(pair.attributes["similarity"])


def drawn_by_bins(pairs: Sequence[TextPair], bins: int, seed: int) -> list[tuple[int, int, int]]:
    """Return turn, bin and place of each pair: in a turn, every bin gives one at random."""
    places, rng = bin_of(list(map(similarity_of, pairs)), bins), np.random.default_rng(seed)
    drawn = [
        (turn, int(k), int(place))
        for k in np.unique(places)
        for turn, place in enumerate(rng.permutation(np.flatnonzero(places == k)))
    ]
    return sorted(drawn)
