"""What was learned from gold, and its application to a bitext."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.bitext import Bitext
from alignkit.aligner.decoding import AlignedLinks, Decoding, check_thresholds
from alignkit.aligner.expectation import Workers, parts_of
from alignkit.aligner.refine.cells import Cells, Spelled
from alignkit.aligner.refine.lexicon import GoldLexicon
from alignkit.aligner.refine.rounds import StackedModel
from alignkit.arrays import LinkArrays
from alignkit.errors import AlignerError
from alignkit.vectors.sentences import TwoVectors

I8 = NDArray[np.int64]

UNSUPERVISED = "unsupervised"
"""The kind of what was learned where nothing gained: the aligner's own alignment."""

_PART = 500_000  # cells whose features are held at a time by each thread


@dataclass(frozen=True)
class Lessons:
    """How, and from what, was learned."""

    kind: str  # how the rounds were fitted; one of KINDS, prior, or unsupervised
    objective: str  # one of OBJECTIVES
    threshold: float  # links are more probable than this
    pairs: int  # how many pairs taught it
    vectors: bool  # whether it looks at vectors of words


@dataclass(frozen=True, eq=False)
class WordsKnown:
    """What is known of the distinct words of a bitext."""

    spelled: tuple[Spelled, Spelled]  # how they are written
    numbers: tuple[I8, I8] | None  # those of the gold lexicon; None where there is none


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned from gold."""

    lessons: Lessons  # from what, and how
    rounds: StackedModel | None = (
        None  # what makes probabilities of features; None where nothing gained
    )
    lexicon: GoldLexicon | None = field(default=None)

    @property
    def used(self) -> bool:
        """Whether anything was gained."""
        return self.rounds is not None

    def known(self, bitext: Bitext) -> WordsKnown:
        """Return what is known of the words of a bitext."""
        words = bitext.source.words, bitext.target.words
        return WordsKnown(
            (Spelled(words[0]), Spelled(words[1])),
            None if self.lexicon is None else self.lexicon.numbers(*words),
        )

    def cells(
        self,
        decoder: Decoding,
        bitext: Bitext,
        begin: int,
        end: int,
        vectors: TwoVectors | None,
        known: WordsKnown,
    ) -> tuple[Cells, NDArray[np.float32]]:
        """Return cells of a bitext, of whose words this is `known`, and their probabilities."""
        cells = Cells.of(
            decoder, bitext, begin, end, vectors if self.lessons.vectors else None, known.spelled
        )
        if self.lexicon is not None and known.numbers is not None:
            self.lexicon.set_features(cells, known.numbers)
        if self.rounds is None:
            return cells, cells.features[:, 0].copy()
        return cells, self.rounds.probabilities(cells)

    def align(
        self,
        decoder: Decoding,
        bitext: Bitext,
        workers: Workers,
        threshold: float | None,
        sure: float | None,
        vectors: TwoVectors | None,
    ) -> AlignedLinks:
        """Return the links of a bitext that are more probable than a threshold."""
        if self.lessons.vectors and self.used and vectors is None:
            raise AlignerError(
                "this was learned with vectors of words, and needs them: give the same vectors"
            )
        least = self.lessons.threshold if threshold is None else threshold
        check_thresholds(least, sure)
        known = self.known(bitext)

        def links_of(_: int, begin: int, end: int) -> AlignedLinks:
            cells, probabilities = self.cells(decoder, bitext, begin, end, vectors, known)
            kept = probabilities > np.float32(least)
            before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
            chosen = probabilities[kept]
            flags = (chosen > np.float32(-1 if sure is None else sure)).astype(np.uint8)
            arrays = LinkArrays.trusted(
                cells.places[kept], flags, before[cells.ends], cells.lengths
            )
            return AlignedLinks(arrays, chosen)

        parts = parts_of(bitext.starts, max(64, int(bitext.starts[-1]) // _PART))
        return AlignedLinks.joined(workers.map(links_of, parts))
