"""Gold pairs as the refiner learns from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from alignkit.align.bitext import Bitext
from alignkit.align.decoding import Decoding
from alignkit.align.parameters import Parameters
from alignkit.align.settings import LONGEST_PIECE
from alignkit.align.supervised.cells import CELL, Cells
from alignkit.align.vectors.word_vectors import TwoVectors
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary
from alignkit.model.corpus import compared_texts
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import compared

_IDENTICAL = CELL.index("identical")


class Posteriors(Protocol):
    """What aligns: an `Aligner`, of which no more is needed here."""

    @property
    def parameters(self) -> Parameters:
        """What was learned from the bitext."""

    def decoder(self, bitext: Bitext) -> Decoding:
        """Return what gives the posteriors of a bitext."""


def is_learnable(pair: SentencePair) -> bool:
    """Return whether a pair has words on both sides, and no line that would be cut."""
    return min(pair.lengths) > 0 and max(pair.lengths) <= LONGEST_PIECE


def different(pairs: Iterable[SentencePair]) -> int:
    """Return how many pairs differ in more than case; copies teach nothing of new pairs."""
    return len({compared_texts(pair, ignore_case=True) for pair in pairs})


@dataclass(frozen=True, eq=False)
class Gold:
    """P annotated pairs."""

    bitext: Bitext  # their words
    links: LinkArrays  # their links
    cells: Cells  # those that may be links
    ignore_identical: bool = False

    @classmethod
    def of(
        cls,
        aligner: Posteriors,
        pairs: Sequence[SentencePair],
        annotator: str,
        vectors: TwoVectors | None,
        *,
        ignore_identical: bool = False,
    ) -> Gold:
        """Take pairs that an annotator has aligned; see `is_learnable`."""
        bitext = Bitext.pack([pair.words for pair in pairs], casefold=aligner.parameters.casefold)
        alignments = [pair.alignment(annotator) for pair in pairs]
        links = LinkArrays.pack(alignments, [pair.lengths for pair in pairs])
        cells = Cells.of(aligner.decoder(bitext), bitext, 0, len(bitext), vectors)
        return cls(bitext, links, cells, ignore_identical)

    def __len__(self) -> int:
        return len(self.bitext)

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """The number (P,) of each pair among those that differ; copies have the same."""
        numbers: dict[tuple[tuple[str, ...], ...], int] = {}
        groups = np.empty(len(self), np.int64)
        for k in range(len(self)):
            sides = self.bitext.source.sentence(k), self.bitext.target.sentence(k)
            words = tuple(tuple(map(compared, side)) for side in sides)
            groups[k] = numbers.setdefault(words, len(numbers))
        return groups

    @property
    def different(self) -> int:
        """How many of the pairs differ."""
        return int(self.groups.max()) + 1

    def summed(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sum the counts (P, 4) of pairs over the copies of each of those that differ."""
        sums = np.zeros((self.different, *rows.shape[1:]), rows.dtype)
        np.add.at(sums, self.groups, rows)
        return sums

    @cached_property
    def levels(self) -> NDArray[np.int8]:
        """The (K,) kinds of the cells: 2 a sure link, 1 a link that is only possible, 0 none."""
        cells, links = self.cells, self.links  # both rise within each pair
        width = int(cells.lengths.max(initial=1)) + 1
        owner = np.repeat(np.arange(len(links), dtype=np.int64), np.diff(links.offsets))
        keys = (owner * width + links.links[:, 0]) * width + links.links[:, 1]
        wanted = (cells.pair_of * width + cells.places[:, 0]) * width + cells.places[:, 1]
        levels = np.zeros(len(wanted), np.int8)
        place = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
        if len(keys):
            hit = keys[place] == wanted
            levels[hit] = 1 + links.sure[place[hit]]
        return levels

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Which of the cells (K,) count where links are counted."""
        if not self.ignore_identical:
            return np.ones(len(self.levels), bool)
        return np.asarray(self.cells.features[:, _IDENTICAL] == 0)

    @cached_property
    def reference(self) -> NDArray[np.int64]:
        """The number of sure links of each pair (P,) that count, in cells or not."""
        links = self.links
        if self.ignore_identical:
            links = links.without_identical(*self.words)
        owner = np.repeat(np.arange(len(links)), np.diff(links.offsets))
        return np.bincount(owner[links.sure > 0], minlength=len(self)).astype(np.int64)

    @cached_property
    def words(self) -> tuple[TokenArrays, TokenArrays]:
        """The words of both sides, numbered alike."""
        vocabulary = Vocabulary()
        sides = self.bitext.source, self.bitext.target
        source, target = (
            TokenArrays.pack((side.sentence(k) for k in range(len(side))), vocabulary)
            for side in sides
        )
        return source, target

    def goals(self, objective: str) -> NDArray[np.float32]:
        """Return what is learned (K,): 1 a link, 0 none, -1 left out."""
        goals: NDArray[np.float32] = (self.levels == 2).astype(np.float32)
        if objective == "aer":
            goals[self.levels == 1] = -1
        return goals
