"""Who is compared with whom in a view of judgments, and what is measured of them.

A *couple* is two annotators, or one and a reference, such as the majority. `LabelComparisons` lists
all couples. A *measure* is a kappa (or another figure) of one couple, or the mean kappa of several;
it names its couples by their places in the list. The tables of all couples are computed elsewhere,
once for each resample: `Measure.of` takes its values from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import F8
from alignkit.agreement.judgments import consensus, tables
from alignkit.agreement.judgments.consensus import Labels

NOTHING_SHARED = "no item has a label of both"
ONE_LABEL = "both give the same label everywhere"
NO_KAPPA = "no kappa of two annotators is defined"


class Couple(NamedTuple):
    """The labels of two annotators, or of one and a reference; -1 where there is none.

    They are (P,); of the pooled couple, with the labels of all A annotators, (A, P).
    """

    first: Labels
    second: Labels

    @property
    def shared(self) -> int:
        """The number of items that both labelled."""
        return int(np.sum((self.first >= 0) & (self.second >= 0)))


class Measure(NamedTuple):
    """A figure of one couple, or a mean kappa over several, computed from the tables of all."""

    kind: str  # as those of a Figure
    first: str
    second: str
    statistic: str
    items: int  # how many items it rests on; of a mean, added up over the couples
    reason_if_undefined: str
    couples: list[int]  # the places of its couples; only a mean has several
    is_mean: bool = False

    def of(self, ratios: tables.Ratios) -> F8:
        """Return the (R,) values, one for each resample; the rows of `ratios` are the couples."""
        if self.is_mean:
            return tables.mean_of(ratios.kappa[self.couples], ratios.items[self.couples])
        (couple,) = self.couples
        values: F8 = getattr(ratios, self.statistic)[couple]
        return values


@dataclass(frozen=True)
class LabelComparisons:
    """The couples of a view, and what is measured of their tables; see `compare_labels`."""

    couples: list[Couple] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)

    def add_couple(
        self,
        kind: str,
        first: str,
        second: str,
        couple: Couple,
        statistics: Sequence[str] = ("kappa", "observed", "ac1"),
    ) -> int:
        """Add a couple and its measures; return its place among the couples."""
        place = len(self.couples)
        self.couples.append(couple)
        items = couple.shared
        reason = ONE_LABEL if items else NOTHING_SHARED
        for name in statistics:
            self.measures.append(Measure(kind, first, second, name, items, reason, [place]))
        return place

    def add_mean(self, kind: str, couples: list[int], first: str = "", second: str = "") -> None:
        """Add the mean kappa of some couples."""
        measure = Measure(
            kind=kind,
            first=first,
            second=second,
            statistic="kappa",
            items=sum(self.couples[place].shared for place in couples),
            reason_if_undefined=NO_KAPPA,
            couples=couples,
            is_mean=True,
        )
        self.measures.append(measure)

    def add_each(self, kind: str, view: tables.ViewData, references: Iterable[Labels]) -> None:
        """Compare each annotator with a reference, and add the mean."""
        couples = []
        for name, given, reference in zip(view.annotators, view.values, references, strict=True):
            couples.append(self.add_couple(kind, name, "", Couple(given, reference)))
        self.add_mean(f"mean {kind}", couples)


def compare_labels(view: tables.ViewData) -> LabelComparisons:
    """Compare every two annotators, and each with majorities and the adjudicated version."""
    compared = LabelComparisons()
    _add_every_two(compared, view)
    number = len(view.annotators)
    if view.has_majority:
        _add_majority(compared, view)
    if number > 2:
        others = []
        for k in range(number):
            majority, _ = consensus.others_label(view.values, view.size, k)
            others.append(majority)
        compared.add_each("leave-one-out", view, others)
    if view.adjudicated is not None:
        compared.add_each("adjudicated", view, [view.adjudicated] * number)
    return compared


def _add_every_two(compared: LabelComparisons, view: tables.ViewData) -> None:
    """Add every two annotators, their mean, and the means within and between groups."""
    couples = []
    by_groups: dict[tuple[str, str], list[int]] = {}
    groups = view.groups
    for (a, of_a), (b, of_b) in combinations(zip(view.annotators, view.values, strict=True), 2):
        couple = compared.add_couple("pairing", a, b, Couple(of_a, of_b))
        couples.append(couple)
        if a in groups and b in groups:
            first, second = sorted((groups[a], groups[b]))
            by_groups.setdefault((first, second), []).append(couple)
    compared.add_mean("mean", couples)
    for (first, second), of_groups in sorted(by_groups.items()):
        compared.add_mean("groups", of_groups, first, second)


def _add_majority(compared: LabelComparisons, view: tables.ViewData) -> None:
    """Compare each annotator, and then all judgments in one table, with the majority."""
    majority = view.majority.labels
    compared.add_each("consensus", view, [majority] * len(view.annotators))
    # of all annotators in one table, only kappa is measured
    pooled = Couple(view.values, np.broadcast_to(majority, view.values.shape))
    compared.add_couple("pooled consensus", "", "", pooled, ["kappa"])
