"""The tables that an aligner has learned, and the expected links of its training pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from alignkit._support.array_types import F4, I4, I8, U1, U4, U8
from alignkit.align.calibration import TrainingText
from alignkit.align.decoding_kernel import count_links, pair_keys, recall, remember
from alignkit.align.expectation import Positions
from alignkit.align.expectation_kernel import Own, Pairs
from alignkit.align.settings import Settings

if TYPE_CHECKING:
    from alignkit.align.encoder.encoding import EncoderUsed, VectorsUsed
    from alignkit.align.fertility.models import Fertilities
    from alignkit.align.supervised.learned import Learned


@dataclass(frozen=True, eq=False)
class Memory:
    """Expected links of the training pairs; subtracted from the counts to align these pairs."""

    keys: U8  # (Q,) a number for each distinct pair, rising
    offsets: I8  # (Q + 1,) the links of pair q are those from offsets[q] to before offsets[q + 1]
    cells: U4  # (L,) the cell of each link within its pair
    levels: U1  # (L,) how far the link is expected, in 255ths

    @classmethod
    def empty(cls) -> Memory:
        """Return an empty memory."""
        cells = np.empty(0, np.uint32)
        levels = np.empty(0, np.uint8)
        return cls(np.empty(0, np.uint64), np.zeros(1, np.int64), cells, levels)

    @classmethod
    def of(cls, pairs: Pairs, own: Own) -> Memory:
        """Keep the expected links of pairs."""
        source = pairs.source, pairs.source_starts
        target = pairs.target, pairs.target_starts
        distinct, order = np.unique(keys_of(source, target), return_index=True)
        known = distinct > 0
        distinct = distinct[known]
        order = order[known].astype(np.int64)
        offsets = np.empty(len(order) + 1, np.int64)
        count_links(order, pairs, own, offsets)
        cells = np.empty(offsets[-1], np.uint32)
        levels = np.empty(offsets[-1], np.uint8)
        remember(order, pairs, own, offsets, cells, levels)
        return cls(distinct, offsets, cells, levels)

    def evidence(self, keys: U8, pairs: Pairs) -> Own:
        """Return the expected links of pairs; none for pairs outside of the training."""
        numbers = np.full(len(keys), -1, np.int64)
        if len(self.keys):
            places = np.searchsorted(self.keys, keys) % len(self.keys)
            known = (self.keys[places] == keys) & (keys > 0)
            numbers[known] = places[known]
        if (numbers < 0).all():
            nothing = np.zeros(0, np.uint8)
            return Own(nothing, nothing, nothing)
        own = Own(
            links=np.zeros(pairs.starts[-1], np.uint8),
            source=np.zeros(len(pairs.source), np.uint8),
            target=np.zeros(len(pairs.target), np.uint8),
        )
        recall(numbers, pairs, self.offsets, self.cells, self.levels, own)
        return own


def keys_of(source: tuple[I4, I8], target: tuple[I4, I8]) -> U8:
    """Return the keys (P,) of sentence pairs, given as word numbers and first words."""
    keys = np.empty(len(source[1]) - 1, np.uint64)
    pair_keys(*source, *target, keys)
    return keys


@dataclass(frozen=True)
class Round:
    """A round of training.

    Part of `Aligner.history`.

    Parameters
    ----------
    model : The model of the round.
    number : Its number, from 1 for each model.
    forward, reverse : Log-likelihoods (natural logarithm) of target given source and of source
        given target, before the update of the round.

    Examples
    --------
    >>> from alignkit import Aligner
    >>> aligner = Aligner.train([("das haus", "the house")], model="ibm1", ibm1=3)
    >>> last = aligner.history[-1]
    >>> last.model, last.number
    ('ibm1', 3)
    """

    model: str
    number: int
    forward: float
    reverse: float


@dataclass(frozen=True, eq=False)
class Parameters:
    """The tables of a trained aligner."""

    settings: Settings  # what it was trained with
    casefold: bool  # whether case was ignored
    source: list[str]  # the words, most frequent first
    target: list[str]
    rows: I8  # the word pairs of which anything is known; see Cooccurrence
    columns: I4
    forward: F4  # (K,) their weights, which the totals divide
    reverse: F4
    source_totals: F4  # (Vs + 1,) and (Vt + 1,); the last is that of words never seen
    target_totals: F4
    source_null: F4  # (Vs + 1,) and (Vt + 1,) the empty word's lexical tables, likewise
    target_null: F4
    null_units: F4  # (2,) what a 255th of a link to the empty word is in those tables
    jumps: F4  # (2, kinds + 1, 2 * band + 2), or empty for IBM 1 and 2
    positions: Positions
    remember: Callable[[], Memory]  # makes the memory, which only saving and other texts need
    text: TrainingText | None = None  # what calibration needs
    fertilities: Fertilities | None = None
    history: tuple[Round, ...] = field(default=())
    vectors: VectorsUsed | None = None  # the word vectors of the training, if there were some
    encoder: EncoderUsed | None = None  # the encoder of the training, if there was one
    learned: Learned | None = None  # what was learned from gold, if anything
    prefixes: dict[int, Parameters] = field(default_factory=dict)  # models of cut words

    @cached_property
    def memory(self) -> Memory:
        """The expected links of the training pairs."""
        return self.remember()

    def lexicon(self, least: float) -> Iterator[tuple[str, str, float, float]]:
        """Yield word pairs with t(target | source) and t(source | target), by source word."""
        for row, word in enumerate(self.source):
            places = slice(self.rows[row], self.rows[row + 1])
            columns = self.columns[places]
            forward = self.forward[places] / self.source_totals[row]
            reverse = self.reverse[places] / self.target_totals[columns]
            kept = np.flatnonzero((forward >= least) | (reverse >= least))
            for at in kept[np.argsort(-forward[kept], kind="stable")]:
                yield word, self.target[columns[at]], float(forward[at]), float(reverse[at])


def with_unseen(null: F4) -> F4:
    """Append the empty word's probability of an unseen word: that of the rarest word."""
    return np.append(null, null.min(initial=1)).astype(np.float32)
