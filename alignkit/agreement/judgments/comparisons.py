"""List who is compared with whom on labels, and what is measured on their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from alignkit.agreement.judgments.consensus import Labels, majority_labels, others_label
from alignkit.agreement.judgments.tables import LabelTables, Ratios, mean_of
from alignkit.agreement.judgments.view_data import ViewData
from alignkit.agreement.statistic import Floats

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
class Comparisons:
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
