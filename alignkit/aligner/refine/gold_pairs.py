"""Gold pairs with the features of their cells, kept while more of them come."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.bitext import Bitext
from alignkit.aligner.refine.cells import Cells
from alignkit.aligner.refine.features import LEXICON, NEIGHBOURS, names_of
from alignkit.aligner.refine.gold import Gold, Posteriors, is_learnable
from alignkit.aligner.refine.validation import FOLDS
from alignkit.alignment import Alignment
from alignkit.arrays import LinkArrays
from alignkit.sentence_pair import SentencePair
from alignkit.vectors.sentences import TwoVectors

I8 = NDArray[np.int64]

MOST_CELLS = 1_000_000
"""Those that are learned from: some 5,000 pairs, for which fits take a gigabyte."""
_BLOCK = 256  # pairs whose posteriors are held at a time
_OTHERS = len(LEXICON) + len(NEIGHBOURS)  # the last features: what other pairs and rounds tell


@dataclass(frozen=True, eq=False)
class _Kept:
    id: str  # its name
    words: tuple[Sequence[str], Sequence[str]]  # those of both sides
    alignment: Alignment  # its links
    places: NDArray[np.int16]  # (K, 2) int16: source and target position of each cell
    features: NDArray[np.float32]  # (K, D) float32: what the pair itself tells of them
    fold: int  # the fold of cross-validation that it is in


class GoldPairs:
    """Keep gold pairs in the order in which they came, with the features of their cells."""

    def __init__(self, aligner: Posteriors, vectors: TwoVectors | None) -> None:
        self._aligner, self._vectors = aligner, vectors
        self._kept: list[_Kept] = []
        self._came = 0
        self.left_out = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the pairs, in order."""
        return tuple(kept.id for kept in self._kept)

    @property
    def size(self) -> int:
        """How many bytes the cells take."""
        return sum(kept.features.nbytes + kept.places.nbytes for kept in self._kept)

    @property
    def folds(self) -> I8:
        """The (P,) folds of the pairs; a pair that takes the place of another is in its fold."""
        return np.array([kept.fold for kept in self._kept], np.int64)

    def divide(self, folds: I8) -> None:
        """Put the pairs into other folds (P,)."""
        self._kept = [
            replace(kept, fold=fold) for kept, fold in zip(self._kept, folds.tolist(), strict=True)
        ]

    def add(self, pairs: Iterable[SentencePair], annotator: str) -> None:
        """Take the pairs that an annotator aligned, in the place of those with the same ids."""
        pairs = list(pairs)
        annotated = [pair for pair in pairs if pair.aligned_by(annotator)]
        learnable = [pair for pair in annotated if is_learnable(pair)]
        ids = {pair.id for pair in pairs}
        room = MOST_CELLS - sum(len(kept.places) for kept in self._kept if kept.id not in ids)
        new: dict[str, list[_Kept]] = {}
        for kept in self._cells_of(learnable, annotator):
            room -= len(kept.places)
            if room < 0:
                break
            new.setdefault(kept.id, []).append(kept)
        self.left_out += len(annotated) - sum(map(len, new.values()))
        merged: list[_Kept] = []
        for old in self._kept:
            if old.id in ids:
                merged += [replace(kept, fold=old.fold) for kept in new.pop(old.id, [])]
            else:
                merged.append(old)
        for kept in chain.from_iterable(new.values()):
            merged.append(replace(kept, fold=self._came % FOLDS))
            self._came += 1
        self._kept = merged

    def forget(self, ids: Collection[str]) -> None:
        """Drop the pairs with these ids; those that are not there are passed over."""
        self._kept = [kept for kept in self._kept if kept.id not in ids]

    def gold(self, *, ignore_identical: bool) -> Gold:
        """Return all of them, to be learned from."""
        kept = self._kept
        bitext = Bitext.pack([pair.words for pair in kept], casefold=self._casefold)
        lengths = [(len(source), len(target)) for source, target in (pair.words for pair in kept)]
        ends = np.cumsum([0, *(len(pair.places) for pair in kept)])
        width = len(names_of(vectors=self._vectors is not None, second=True))
        features = np.zeros((ends[-1], width), np.float32)
        places = np.empty((ends[-1], 2), np.int32)
        for pair, begin, end in zip(kept, ends, ends[1:], strict=False):
            features[begin:end, : width - _OTHERS], places[begin:end] = pair.features, pair.places
        cells = Cells.placed(bitext, 0, len(kept), ends, places, features)
        links = LinkArrays.pack([pair.alignment for pair in kept], lengths)
        return Gold(bitext, links, cells, ignore_identical)

    @property
    def _casefold(self) -> bool:
        return self._aligner.parameters.casefold

    def _cells_of(self, pairs: Sequence[SentencePair], annotator: str) -> Iterable[_Kept]:
        if not pairs:
            return
        bitext = Bitext.pack([pair.words for pair in pairs], casefold=self._casefold)
        decoder = self._aligner.decoder(bitext)
        for begin in range(0, len(pairs), _BLOCK):
            end = min(begin + _BLOCK, len(pairs))
            cells = Cells.of(decoder, bitext, begin, end, self._vectors)
            for k, pair in enumerate(pairs[begin:end]):
                inside = slice(cells.ends[k], cells.ends[k + 1])
                yield _Kept(
                    pair.id,
                    pair.words,
                    pair.alignment(annotator),
                    cells.places[inside].astype(np.int16),
                    cells.features[inside, :-_OTHERS].copy(),
                    0,
                )
