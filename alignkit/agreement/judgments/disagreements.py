"""The pairs that are judged differently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import overload

import numpy as np

from alignkit._support.array_types import B1
from alignkit._support.values import FrozenMap
from alignkit.agreement.judgments.tables import ViewData
from alignkit.model.corpus import Corpus


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair with different judgments."""

    id: str  # of the pair
    source: str  # its texts; empty if the words are not known
    target: str
    judgments: Mapping[str, str]
    views: tuple[str, ...]  # the names of the views in which they differ; never empty


class JudgmentDisagreements(Sequence[Disagreement]):
    """The pairs with different labels in a view; those that differ in more views first."""

    def __init__(self, corpus: Corpus, views: Sequence[ViewData], names: Sequence[str]) -> None:
        self._corpus = corpus
        self._names = tuple(names)
        self._views = tuple(view.name for view in views)
        self._differ = np.array([_differ(view) for view in views])
        number = self._differ.sum(axis=0)
        places = np.flatnonzero(number)
        self._places = places[np.argsort(-number[places], kind="stable")]

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Disagreement: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Disagreement]: ...

    def __getitem__(self, place: int | slice) -> Disagreement | Sequence[Disagreement]:
        if isinstance(place, slice):
            return [self[k] for k in range(*place.indices(len(self)))]
        p = int(self._places[place])
        pair = self._corpus[p]
        given = {}
        for name in self._names:
            if name in pair.annotations:
                judgment = pair.annotations[name].judgment
                if judgment:
                    given[name] = judgment
        source = target = ""
        if pair.has_text:
            source, target = (" ".join(text) for text in pair.words)
        views = tuple(compress(self._views, self._differ[:, p]))
        return Disagreement(pair.id, source, target, FrozenMap(given), views)

    def __repr__(self) -> str:
        return f"JudgmentDisagreements({len(self)} pairs)"


def _differ(view: ViewData) -> B1:
    """Return whether the labels of each item differ, (P,), the adjudicated one included."""
    labels = view.values
    if view.adjudicated is not None:
        labels = np.vstack([labels, view.adjudicated])
    # a missing label (-1) is not the highest one; below, it is not the lowest one either
    highest = labels.max(axis=0)
    lowest = np.where(labels < 0, view.size, labels).min(axis=0)
    differ: B1 = highest > lowest
    return differ
