"""Samplers of chance for `correct_sets`: sets that an annotator could have made without the data.

A sampler is called with the place of a unit, the number of the annotator (0 or 1) and a generator,
and returns a collection of items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np

from alignkit.errors import OptionError
from alignkit.model.trees import Tree

Segment = tuple[str, int, int]  # label, begin, end
Item = Hashable


def tree_items(tree: Tree) -> frozenset[Segment]:
    """Return the labelled spans of a tree of two words or more.

    Examples
    --------
    >>> sorted(tree_items(Tree.parse("(S (NP (DT the) (NN rain)) (VP (VBZ falls)))")))
    [('NP', 0, 2), ('S', 0, 3)]
    """
    spans = zip(tree.labels, tree.starts.tolist(), tree.ends.tolist(), strict=True)
    return frozenset(span for span in spans if span[2] - span[1] > 1)


@dataclass(frozen=True)
class FlipCells:
    """Sampler that flips each cell of an initial set with an annotator's rates.

    Parameters
    ----------
    initial : For each unit, the items that both started from, and the items that could be added.
    rates : For each annotator, the probability that an item is deleted, and that one is added;
        numbers, or one of each for every unit.
    """

    initial: Sequence[tuple[Sequence[Item], Sequence[Item]]]
    rates: Sequence[tuple[float | Sequence[float], float | Sequence[float]]]

    def __call__(self, unit: int, annotator: int, rng: np.random.Generator) -> set[Item]:
        """Return the items that stay and those that are added."""
        kept, absent = self.initial[unit]
        delete, add = (x[unit] if isinstance(x, Sequence) else x for x in self.rates[annotator])
        stays = rng.random(len(kept)) >= delete
        added = rng.random(len(absent)) < add
        return {*compress(kept, stays), *compress(absent, added)}


@dataclass(frozen=True)
class PlaceSegments:
    """Sampler that shuffles an annotator's own segments, with gaps drawn evenly between them.

    Parameters
    ----------
    lengths : The number of positions of each unit.
    sets : For each annotator and unit, the segments ``(label, begin, end)``, half-open; they must
        not overlap.
    """

    lengths: Sequence[int]
    sets: Sequence[Sequence[Iterable[Segment]]]

    def __call__(self, unit: int, annotator: int, rng: np.random.Generator) -> set[Segment]:
        """Return the same segments at other places."""
        segments = sorted(self.sets[annotator][unit], key=lambda each: each[1])
        ends = [0, *(end for _, _, end in segments)]
        begins = [*(begin for _, begin, _ in segments), self.lengths[unit]]
        if any(begin < end for begin, end in zip(begins, ends, strict=True)):
            raise OptionError(f"unit {unit}: segments overlap, or are longer than the unit")
        free = self.lengths[unit] - sum(end - begin for _, begin, end in segments)
        # every way to divide the free positions among the gaps is equally likely
        bars = np.sort(rng.choice(free + len(segments), len(segments), replace=False))
        placed: set[Segment] = set()
        shift = 0
        for before, k in zip(bars.tolist(), rng.permutation(len(segments)).tolist(), strict=True):
            label, begin, end = segments[k]
            start = before - len(placed) + shift
            placed.add((label, start, start + end - begin))
            shift += end - begin
        return placed


@dataclass(frozen=True)
class RandomTrees:
    """Sampler of random binary trees with as many brackets and the labels of an annotator.

    Parameters
    ----------
    words : The number of words of each unit.
    sets : For each annotator and unit, the spans ``(label, begin, end)`` of a tree.
    labels : For each annotator, the frequency of each label; None: those of the sets.
    """

    words: Sequence[int]
    sets: Sequence[Sequence[Iterable[Segment]]]
    labels: Sequence[Mapping[str, float]] | None = None

    def __call__(self, unit: int, annotator: int, rng: np.random.Generator) -> set[Segment]:
        """Return spans of a random tree, each kept at the annotator's rate in the unit."""
        n = self.words[unit]
        frequencies = self._frequencies[annotator]
        own = {(begin, end) for _, begin, end in self.sets[annotator][unit] if end - begin > 1}
        if n < 2 or not frequencies:
            return set()
        names = list(frequencies)
        weights = np.array([*frequencies.values()], float)
        spans = []
        open_spans = [(0, n)]
        while open_spans:
            begin, end = open_spans.pop()
            if end - begin > 1:
                spans.append((begin, end))
                middle = int(rng.integers(begin + 1, end))
                open_spans += [(begin, middle), (middle, end)]
        kept = rng.random(len(spans)) < len(own) / (n - 1)
        drawn = rng.choice(len(names), len(spans), p=weights / weights.sum()).tolist()
        return {(names[k], *span) for k, span in compress(zip(drawn, spans, strict=True), kept)}

    @cached_property
    def _frequencies(self) -> list[Mapping[str, float]]:
        if self.labels is not None:
            return list(self.labels)
        return [
            Counter(label for unit in units for label, begin, end in unit if end - begin > 1)
            for units in self.sets
        ]
