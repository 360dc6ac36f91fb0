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
    rates : For each annotator, the probability that an item is deleted, and that one is added; each
        a number, or a sequence with a number for every unit.
    """

    initial: Sequence[tuple[Sequence[Item], Sequence[Item]]]
    rates: Sequence[tuple[float | Sequence[float], float | Sequence[float]]]

    def __call__(self, unit: int, annotator: int, rng: np.random.Generator) -> set[Item]:
        """Return the items that stay and those that are added."""
        kept, absent = self.initial[unit]
        delete, add = self.rates[annotator]
        stays = rng.random(len(kept)) >= _rate(delete, unit)
        added = rng.random(len(absent)) < _rate(add, unit)
        return {*compress(kept, stays), *compress(absent, added)}


def _rate(rates: float | Sequence[float], unit: int) -> float:
    """Return the rate of a unit, from its own rates or the one of all units."""
    return rates[unit] if isinstance(rates, Sequence) else rates


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
        begins = [begin for _, begin, _ in segments]
        ends = [end for _, _, end in segments]
        bounds = zip([0, *ends], [*begins, self.lengths[unit]], strict=True)
        gaps = [begin - end for end, begin in bounds]
        if min(gaps) < 0:
            raise OptionError(f"unit {unit}: segments overlap, or are longer than the unit")
        free = sum(gaps)
        # every way to divide the free positions among the gaps is equally likely: it is a choice of
        # the places of the segments among those of segments and free positions. Before a segment at
        # place p, k of these places have segments, so there are p - k free positions
        places = np.sort(rng.choice(free + len(segments), len(segments), replace=False))
        order = rng.permutation(len(segments))
        placed: set[Segment] = set()
        covered = 0  # positions of the segments that are placed
        for before, (place, k) in enumerate(zip(places.tolist(), order.tolist(), strict=True)):
            label, begin, end = segments[k]
            start = place - before + covered
            placed.add((label, start, start + end - begin))
            covered += end - begin
        return placed


@dataclass(frozen=True)
class RandomTrees:
    """Sampler of random binary trees with as many brackets and the labels of an annotator.

    Parameters
    ----------
    words : The number of words of each unit.
    sets : For each annotator and unit, the spans ``(label, begin, end)`` of a tree.
    labels : For each annotator, the weight of each label; None: how often the sets have it.
    """

    words: Sequence[int]
    sets: Sequence[Sequence[Iterable[Segment]]]
    labels: Sequence[Mapping[str, float]] | None = None

    def __call__(self, unit: int, annotator: int, rng: np.random.Generator) -> set[Segment]:
        """Return spans of a random tree, each kept at the annotator's rate in the unit."""
        n = self.words[unit]
        weight_of = self._weights[annotator]
        given = self.sets[annotator][unit]
        given_spans = {(begin, end) for _, begin, end in given if end - begin > 1}
        if n < 2 or not weight_of:
            return set()
        names = list(weight_of)
        weights = np.array([*weight_of.values()], float)
        spans = _random_brackets(n, rng)
        kept = rng.random(len(spans)) < len(given_spans) / (n - 1)
        labels = rng.choice(len(names), len(spans), p=weights / weights.sum()).tolist()
        drawn = [(names[k], *span) for k, span in zip(labels, spans, strict=True)]
        return set(compress(drawn, kept))

    @cached_property
    def _weights(self) -> list[Mapping[str, float]]:
        """The weights of labels of each annotator, as given or counted in spans of two words."""
        if self.labels is not None:
            return list(self.labels)
        weights: list[Mapping[str, float]] = []
        for units in self.sets:
            counts: Counter[str] = Counter()
            for unit in units:
                counts.update(label for label, begin, end in unit if end - begin > 1)
            weights.append(counts)
        return weights


def _random_brackets(words: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return the spans of a random binary tree: each is split between any two of its words."""
    spans = []
    open_spans = [(0, words)]
    while open_spans:
        begin, end = open_spans.pop()
        if end - begin > 1:
            spans.append((begin, end))
            middle = int(rng.integers(begin + 1, end))
            open_spans += [(begin, middle), (middle, end)]
    return spans
