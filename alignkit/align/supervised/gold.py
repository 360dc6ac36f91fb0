"""Gold pairs for learning: their links, their cells, and a growing collection of pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import words
from alignkit._support.array_types import B1, F4, I2, I8
from alignkit.align.aligner import Aligner
from alignkit.align.bitext import Bitext
from alignkit.align.evidence import Annotators, Evidence, channels_of_systems, systems_of
from alignkit.align.settings import LONGEST_PIECE
from alignkit.align.supervised.cells import OTHERS, Cells, Spelled, found_in, names_of
from alignkit.align.supervised.cells_kernel import CellFeature
from alignkit.align.supervised.learned import GoldSource
from alignkit.align.vectors.word_vectors import TwoVectors
from alignkit.errors import OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary, offsets_of
from alignkit.model.corpus import compared_texts
from alignkit.model.gold_record import pair_digest
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import compared

FOLDS = 5  # of cross-validation
MOST_CELLS = 1_000_000
"""The largest number of cells for learning: about 5,000 pairs; fits then take a gigabyte."""
_BLOCK = 256  # pairs whose posteriors are held at a time


def is_learnable(pair: SentencePair) -> bool:
    """Return whether a pair has words on both sides and no line that would be cut."""
    return min(pair.lengths) > 0 and max(pair.lengths) <= LONGEST_PIECE


def checked_annotators(evidence: Annotators | None, gold: str) -> dict[str, tuple[str, ...]]:
    """Return the annotators of systems; refuse the annotator of the gold links."""
    annotators = {name: words(name, names) for name, names in (evidence or {}).items()}
    for system, names in annotators.items():
        if not names or gold == system or gold in names:
            raise OptionError(
                f"evidence {system!r} needs annotators other than {gold!r}, the annotator "
                "of the gold links"
            )
    channels = channels_of_systems(systems_of(annotators))
    if len(set(channels)) < len(channels):
        raise OptionError(f"two systems have the same name: {', '.join(channels)}")
    return annotators


def different(pairs: Iterable[SentencePair]) -> int:
    """Return how many pairs differ in more than case; copies give no information on new pairs."""
    return len({compared_texts(pair, ignore_case=True) for pair in pairs})


@dataclass(frozen=True, eq=False)
class Gold:
    """P annotated pairs."""

    bitext: Bitext  # their words
    links: LinkArrays  # their links
    cells: Cells  # those that may be links
    objective: str = "links"  # what is learned for; one of OBJECTIVES
    ignore_identical: bool = False  # whether its measure leaves equal words out
    names: tuple[str, ...] = names_of(vectors=False)  # of the features of cells

    def __len__(self) -> int:
        return len(self.bitext)

    @cached_property
    def lacking(self) -> B1:
        """Which pairs (P,) some system did not align."""
        lacking = np.isnan(self.cells.shares).any(axis=1)
        return np.asarray(np.bincount(self.cells.pair_of, lacking, len(self)) > 0)

    @cached_property
    def groups(self) -> I8:
        """The (P,) group of each pair; copies of the same pair share a group."""
        numbers: dict[tuple[tuple[str, ...], ...], int] = {}
        groups = np.empty(len(self), np.int64)
        for k in range(len(self)):
            sides = self.bitext.source.sentence(k), self.bitext.target.sentence(k)
            words = tuple(tuple(map(compared, side)) for side in sides)
            groups[k] = numbers.setdefault(words, len(numbers))
        return groups

    @property
    def different(self) -> int:
        """The number of distinct pairs."""
        return int(self.groups.max(initial=-1)) + 1

    def summed(self, rows: I8) -> I8:
        """Sum the counts (P, 4) of pairs over the copies of each distinct pair."""
        sums = np.zeros((self.different, *rows.shape[1:]), rows.dtype)
        np.add.at(sums, self.groups, rows)
        return sums

    @cached_property
    def levels(self) -> NDArray[np.int8]:
        """The (K,) kinds of the cells: 2 a sure link, 1 a possible link, 0 no link."""
        # links and cells get keys that increase with pair, source and target position
        cells = self.cells
        links = self.links
        width = int(cells.lengths.max(initial=1)) + 1
        link, is_link = found_in(links.cells(width), cells.keys)
        levels = np.zeros(len(cells.keys), np.int8)
        levels[is_link] = 1 + links.sure[link[is_link]]
        return levels

    @cached_property
    def counted(self) -> B1:
        """Which cells (K,) are included in counts of links."""
        if not self.ignore_identical:
            return np.ones(len(self.levels), bool)
        other: B1 = self.cells.features[:, CellFeature.IDENTICAL] == 0
        return other

    @cached_property
    def reference(self) -> I8:
        """The number of sure links of each pair (P,) that are counted, in cells or not."""
        links = self.links
        if self.ignore_identical:
            links = links.without_identical(*self.words)
        return np.bincount(links.pair_of[links.sure > 0], minlength=len(self)).astype(np.int64)

    @cached_property
    def words(self) -> tuple[TokenArrays, TokenArrays]:
        """The words of both sides, with the same numbering."""
        vocabulary = Vocabulary()
        source = self.bitext.source
        target = self.bitext.target
        return (
            TokenArrays.pack(map(source.sentence, range(len(source))), vocabulary),
            TokenArrays.pack(map(target.sentence, range(len(target))), vocabulary),
        )

    @cached_property
    def goals(self) -> F4:
        """The goals of learning (K,): 1 for a link, 0 for none, -1 to ignore the cell."""
        if self.objective == "aer":
            by_level = [0, -1, 1]
        else:
            by_level = [0, 0, 1]
        return np.array(by_level, np.float32)[self.levels]


@dataclass(frozen=True, eq=False)
class _Kept:
    """A gold pair with its links and cells."""

    id: str  # its name
    words: tuple[Sequence[str], Sequence[str]]  # those of both sides
    alignment: Alignment  # its links
    places: I2  # (K, 2) source and target position of each cell
    features: F4  # (K, D) what the pair itself says of them
    probabilities: F4  # (K,) those of the aligner alone
    fold: int  # the fold of cross-validation that it is in
    shares: F4  # (K, S) what systems say of its cells; see `Cells`
    annotator: str  # whose links they are


class GoldPairs:
    """Gold pairs in order of arrival, with the features of their cells."""

    def __init__(
        self, aligner: Aligner, vectors: TwoVectors | None, annotators: Annotators | None = None
    ) -> None:
        self._aligner = aligner
        self._vectors = vectors
        self._annotators = annotators or {}
        self.systems = systems_of(self._annotators)
        self._kept: list[_Kept] = []
        self._came = 0  # pairs that arrived, without those that replaced others
        self.left_out = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the pairs, in order."""
        return tuple(kept.id for kept in self._kept)

    @property
    def source(self) -> GoldSource:
        """The annotators of the pairs, and a digest of the words of each."""
        annotators = dict.fromkeys(kept.annotator for kept in self._kept)
        digests = {pair_digest(*kept.words) for kept in self._kept}
        return GoldSource(tuple(annotators), tuple(sorted(digests)))

    @property
    def size(self) -> int:
        """The size of the cells in bytes."""
        return sum(kept.features.nbytes + kept.places.nbytes for kept in self._kept)

    @property
    def folds(self) -> I8:
        """The (P,) folds of the pairs; a pair that replaces another stays in its fold."""
        return np.array([kept.fold for kept in self._kept], np.int64)

    def divide(self, folds: I8) -> None:
        """Assign the pairs to other folds (P,)."""
        self._kept = [replace(x, fold=k) for x, k in zip(self._kept, folds.tolist(), strict=True)]

    def add(self, pairs: Iterable[SentencePair], annotator: str) -> GoldPairs:
        """Add the pairs that an annotator aligned.

        Those with the id of any given pair go before: a pair that the annotator no longer aligned
        is dropped. `left_out` counts aligned pairs that cannot be learned from, not these.
        """
        checked_annotators(self._annotators, annotator)
        pairs = list(pairs)
        annotated = [pair for pair in pairs if pair.aligned_by(annotator)]
        learnable = [pair for pair in annotated if is_learnable(pair)]
        ids = {pair.id for pair in pairs}
        room = MOST_CELLS
        for kept in self._kept:
            if kept.id not in ids:
                room -= len(kept.places)
        new: dict[str, list[_Kept]] = {}
        for kept in self._cells_of(learnable, annotator):
            room -= len(kept.places)
            if room < 0:
                break
            new.setdefault(kept.id, []).append(kept)
        self.left_out += len(annotated) - sum(map(len, new.values()))
        merged: list[_Kept] = []
        for old in self._kept:
            if old.id not in ids:
                merged.append(old)
                continue
            replacing = new.pop(old.id, [])
            merged.extend(replace(kept, fold=old.fold) for kept in replacing)
        for kept in chain.from_iterable(new.values()):
            merged.append(replace(kept, fold=self._came % FOLDS))
            self._came += 1
        self._kept = merged
        return self

    def forget(self, ids: Collection[str]) -> None:
        """Drop the pairs with these ids; unknown ids are ignored."""
        self._kept = [kept for kept in self._kept if kept.id not in ids]

    def gold(self, objective: str = "links", *, ignore_identical: bool = False) -> Gold:
        """Return all pairs for learning."""
        kept = self._kept
        bitext = self._packed(kept)
        lengths = [(len(pair.words[0]), len(pair.words[1])) for pair in kept]
        ends = offsets_of([len(pair.places) for pair in kept])
        count = ends[-1]
        names = names_of(vectors=self._vectors is not None, evidence=self.systems)
        features = np.zeros((count, len(names)), np.float32)
        places = np.empty((count, 2), np.int32)
        probabilities = np.empty(count, np.float32)
        shares = np.empty((count, len(self.systems)), np.float32)
        for pair, (begin, end) in zip(kept, pairwise(ends), strict=True):
            features[begin:end, :-OTHERS] = pair.features
            places[begin:end] = pair.places
            probabilities[begin:end] = pair.probabilities
            shares[begin:end] = pair.shares
        cells = Cells.placed(bitext, 0, len(kept), ends, places, features, probabilities, shares)
        links = LinkArrays.pack([pair.alignment for pair in kept], lengths)
        return Gold(bitext, links, cells, objective, ignore_identical, names)

    def _packed(self, pairs: Sequence[_Kept]) -> Bitext:
        """Return the words of pairs, folded as the aligner folds case."""
        casefold = self._aligner.parameters.casefold
        return Bitext.pack([pair.words for pair in pairs], casefold=casefold)

    def _cells_of(self, pairs: Sequence[SentencePair], annotator: str) -> Iterable[_Kept]:
        """Yield the pairs with their cells; a system is weighted once a link of it was."""
        if not pairs:
            return
        bitext = self._aligner.packed(pair.words for pair in pairs)
        decoder = self._aligner.decoder(bitext)
        spelled = Spelled.of(bitext)
        evidence = None
        if self.systems:
            evidence = Evidence.pack(pairs, self._annotators)
            both = zip(self.systems, evidence.systems, strict=True)
            self.systems = tuple(known if known.weighted else new for known, new in both)
        for begin in range(0, len(pairs), _BLOCK):
            end = min(begin + _BLOCK, len(pairs))
            cells = Cells.of(decoder, bitext, begin, end, spelled, self._vectors, evidence)
            for k, pair in enumerate(pairs[begin:end]):
                inside = slice(cells.ends[k], cells.ends[k + 1])
                yield _Kept(
                    id=pair.id,
                    words=pair.words,
                    alignment=pair.alignment(annotator),
                    places=cells.places[inside].astype(np.int16),
                    features=cells.features[inside, :-OTHERS].copy(),
                    probabilities=cells.probabilities[inside].copy(),
                    fold=0,
                    shares=cells.shares[inside],
                    annotator=annotator,
                )
