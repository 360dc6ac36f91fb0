"""What an aligner has learned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.fertility import FertilityModel
from alignkit.aligner.memory import Memory
from alignkit.aligner.positions import Positions
from alignkit.aligner.settings import Settings
from alignkit.aligner.vector_prior import VectorsUsed

if TYPE_CHECKING:
    from alignkit.aligner.refine.learned import Learned

F4 = NDArray[np.float32]


@dataclass(frozen=True)
class Round:
    """A round of training.

    Parameters
    ----------
    model
        The model of the round.
    number
        Its number, from 1 for each model.
    forward, reverse
        Log-likelihoods (natural logarithm) of the target given the source and the other way
        round, before the round's update.
    """

    model: str
    number: int
    forward: float
    reverse: float


@dataclass(frozen=True, eq=False)
class Fertilities:
    """The tables of IBM 3 or IBM 4 in both directions."""

    forward: FertilityModel  # all tables but the lexical ones
    reverse: FertilityModel
    forward_lexical: F4
    reverse_lexical: F4
    target_null: F4
    source_null: F4


@dataclass(frozen=True, eq=False)
class Parameters:
    """The tables of a trained aligner."""

    settings: Settings  # what it was trained with
    casefold: bool  # whether case was ignored
    source: list[str]  # the words, most frequent first
    target: list[str]
    rows: NDArray[np.int64]  # the word pairs of which anything is known; see Cooccurrence
    columns: NDArray[np.int32]
    forward: F4
    reverse: F4
    source_totals: F4
    target_totals: F4
    source_null: F4  # (Vs + 1,) and (Vt + 1,) float32: the empty word's lexical tables, likewise
    target_null: F4
    null_units: F4
    jumps: F4
    positions: Positions  # the position tables of IBM 2
    memory: Memory  # the pairs of the training
    fertilities: Fertilities | None = None
    history: tuple[Round, ...] = field(default=())  # the rounds of training
    vectors: VectorsUsed | None = None  # what vectors told in training; None where there were none
    learned: Learned | None = None  # what was learned from gold, if anything
    prefixes: dict[int, Parameters] = field(default_factory=dict)

    def lexicon(self, least: float) -> Iterator[tuple[str, str, float, float]]:
        """Give word pairs with t(target | source) and t(source | target), by source word."""
        for row, word in enumerate(self.source):
            begin, end = self.rows[row], self.rows[row + 1]
            columns = self.columns[begin:end]
            forward = self.forward[begin:end] / self.source_totals[row]
            reverse = self.reverse[begin:end] / self.target_totals[columns]
            kept = np.flatnonzero((forward >= least) | (reverse >= least))
            for at in kept[np.argsort(-forward[kept], kind="stable")]:
                yield word, self.target[columns[at]], float(forward[at]), float(reverse[at])


def with_unseen(null: F4) -> F4:
    """Add the empty word's probability of a word never seen: that of the rarest."""
    return np.append(null, null.min(initial=1)).astype(np.float32)
