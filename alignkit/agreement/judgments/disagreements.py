"""Find the pairs that annotators judge differently, with what each of them said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.judgments.view_data import ViewData
from alignkit.corpus import Corpus
from alignkit.frozen import FrozenMap
from alignkit.sentence_pair import SentencePair


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair that is judged differently."""

    id: str  # of the pair
    source: str  # its texts; empty where the words are not known
    target: str
    judgments: Mapping[str, str]
    views: tuple[str, ...]  # the names of the views in which they differ; never empty


class Disagreements(Sequence[Disagreement]):
    """List the pairs whose labels differ in a view; those that differ in more views first."""

    def __init__(self, corpus: Corpus, views: Sequence[ViewData], names: Sequence[str]) -> None:
        self._corpus = corpus
        self._names = tuple(names)
        self._views = tuple(view.name for view in views)
        self._differ = np.array([_differ(view) for view in views])
        counts = self._differ.sum(axis=0)
        places = np.flatnonzero(counts)
        self._places = places[np.argsort(-counts[places], kind="stable")]

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
        rows = zip(self._views, self._differ[:, p].tolist(), strict=True)
        return _told(self._corpus[p], self._names, tuple(view for view, one in rows if one))

    def __repr__(self) -> str:
        return f"Disagreements({len(self)} pairs)"


def _differ(view: ViewData) -> NDArray[np.bool_]:
    labels = view.values
    if view.adjudicated is not None:
        labels = np.vstack([labels, view.adjudicated])
    least = np.where(labels < 0, len(view.labels), labels).min(axis=0)
    found: NDArray[np.bool_] = labels.max(axis=0) > least
    return found


def _told(pair: SentencePair, names: Sequence[str], views: tuple[str, ...]) -> Disagreement:
    said = {name: pair.annotations[name].judgment for name in names if name in pair.annotations}
    source, target = (" ".join(text) for text in pair.words) if pair.has_text else ("", "")
    given = FrozenMap({name: text for name, text in said.items() if text})
    return Disagreement(pair.id, source, target, given, views)
