"""List who is compared with whom on labels, and what is measured on their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import overload

import numpy as np
from numpy.typing import NDArray

from alignkit._support.values import FrozenMap
from alignkit.agreement.intervals import Floats
from alignkit.agreement.judgments.consensus import Labels, majority_labels, others_label
from alignkit.agreement.judgments.tables import LabelTables, NullQuestion, Ratios, apart, mean_of
from alignkit.errors import OptionError
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair


@dataclass(frozen=True, eq=False)
class ViewData:
    """The labels that annotators gave, and how they are to be compared."""

    name: str  # of the view
    annotators: tuple[str, ...]  # the A names
    labels: tuple[str, ...]  # the K names of the labels, in their order; used or not
    values: Labels
    ordered: bool = False  # whether the order of the labels means something
    weights: str = "nominal"  # of kappa: "nominal", "linear" or "quadratic"
    ties: str = "leave-out"
    adjudicated: Labels | None = None
    groups: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        apart(2, self.weights)
        if len(self.annotators) < 2:
            raise OptionError("agreement needs the judgments of two annotators, and there is one")
        if len(self.labels) < 2:
            raise OptionError(f"the view {self.name} has one label; take another view")
        if not self.ordered and (self.weights != "nominal" or self.ties == "lowest"):
            what = "ties='lowest'" if self.ties == "lowest" else f"weights={self.weights!r}"
            raise OptionError(
                f"{what} needs labels in an order, and those of the view {self.name} have none: "
                "take another view, or leave it out"
            )

    @property
    def has_majority(self) -> bool:
        """Whether annotators can be compared with a majority that is not their shared label."""
        return len(self.annotators) > 2 or self.ties in ("lowest", "adjudicated")

    @property
    def question(self) -> NullQuestion:
        """What chance would give."""
        return NullQuestion(self.values, len(self.labels), self.far, self.ties, self.adjudicated)

    @property
    def far(self) -> Floats:
        """How far labels are apart, (K, K)."""
        return apart(len(self.labels), self.weights)

    def part(self, members: NDArray[np.intp]) -> ViewData:
        """Return the same of some of the items."""
        adjudicated = None if self.adjudicated is None else self.adjudicated[members]
        values = np.ascontiguousarray(self.values[:, members])
        return replace(self, values=values, adjudicated=adjudicated)

    def check_ties(self) -> None:
        """Refuse ties where they are to be an error."""
        if self.ties == "error":
            majority_labels(self.values, len(self.labels), ties=self.ties)


NOTHING_SHARED = "no item has a label of both"
ONE_LABEL = "both give one and the same label everywhere"
NO_KAPPA = "no kappa of two is defined"


@dataclass(frozen=True, eq=False)
class Measure:
    """A function of what the tables of all couples say, and what to call its values."""

    kind: str  # as those of an alignkit.agreement.result_parts.Figure
    first: str
    second: str
    statistic: str
    items: int  # how many items it rests on; of a mean, added up over the couples
    reason: str  # why it is undefined, where it is
    of: Callable[[Ratios], Floats]  # the function; its values are (R,), one a resample


@dataclass(eq=False)
class LabelComparisons:
    """Collect the couples of a view: annotators, or an annotator and a consensus."""

    view: ViewData  # the judgments
    couples: list[tuple[Labels, Labels]] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)  # what is measured on their tables

    def __post_init__(self) -> None:
        self._every_two()
        if self.view.has_majority:
            self._with_consensus()
        if len(self.view.annotators) > 2:
            self._with_others()
        if self.view.adjudicated is not None:
            self._with("adjudicated", [self.view.adjudicated] * len(self.view.annotators))

    def tables(self) -> LabelTables:
        """Return the tables that the measures are of."""
        return LabelTables.of(self.couples, len(self.view.labels))

    def _every_two(self) -> None:
        names, values, groups = self.view.annotators, self.view.values, self.view.groups
        by_groups: dict[tuple[str, str], list[int]] = {}
        every = []
        for a, b in combinations(range(len(names)), 2):
            n = self._couple("pairing", names[a], names[b], values[a], values[b])
            every.append(n)
            if names[a] in groups and names[b] in groups:
                first, second = sorted((groups[names[a]], groups[names[b]]))
                by_groups.setdefault((first, second), []).append(n)
        self._mean("mean", every)
        for (first, second), these in sorted(by_groups.items()):
            self._mean("groups", these, first, second)

    def _with_consensus(self) -> None:
        view = self.view
        size = len(view.labels)
        settled = majority_labels(view.values, size, ties=view.ties, adjudicated=view.adjudicated)
        these = self._with("consensus", [settled.labels] * len(view.annotators))
        every = np.broadcast_to(settled.labels, view.values.shape)
        n = len(self.couples)
        self.couples.append((view.values, every))
        at = ("pooled consensus", "", "", "kappa", sum(map(self._shared, these)), ONE_LABEL)
        self.measures.append(Measure(*at, lambda ratios: ratios.kappa[n]))

    def _with_others(self) -> None:
        values, size = self.view.values, len(self.view.labels)
        others = [others_label(values, size, k)[0] for k in range(len(values))]
        self._with("leave-one-out", others)

    def _with(self, kind: str, others: Iterable[Labels]) -> list[int]:
        """Compare each annotator with labels that were settled on."""
        every = zip(self.view.annotators, self.view.values, others, strict=True)
        these = [self._couple(kind, name, "", row, other) for name, row, other in every]
        self._mean(f"mean {kind}", these)
        return these

    def _couple(self, kind: str, first: str, second: str, mine: Labels, other: Labels) -> int:
        n = len(self.couples)
        self.couples.append((mine, other))
        shared = self._shared(n)
        reason = ONE_LABEL if shared else NOTHING_SHARED
        ratios: dict[str, Callable[[Ratios], Floats]] = {
            "kappa": lambda ratios: ratios.kappa[n],
            "observed": lambda ratios: ratios.observed[n],
            "ac1": lambda ratios: ratios.ac1[n],
        }
        self.measures += [
            Measure(kind, first, second, name, shared, reason, of) for name, of in ratios.items()
        ]
        return n

    def _mean(self, kind: str, these: list[int], first: str = "", second: str = "") -> None:
        items = sum(map(self._shared, these))

        def mean(ratios: Ratios) -> Floats:
            return mean_of(ratios.kappa[these], ratios.items[these])

        self.measures.append(Measure(kind, first, second, "kappa", items, NO_KAPPA, mean))

    def _shared(self, n: int) -> int:
        first, second = self.couples[n]
        return int(np.sum((first >= 0) & (second >= 0)))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair that is judged differently."""

    id: str  # of the pair
    source: str  # its texts; empty where the words are not known
    target: str
    judgments: Mapping[str, str]
    views: tuple[str, ...]  # the names of the views in which they differ; never empty


class JudgmentDisagreements(Sequence[Disagreement]):
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
