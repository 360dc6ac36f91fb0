"""Agreement beyond chance of all pairings of a corpus: the levels, and the work they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import I8
from alignkit._support.cached_methods import cached_method
from alignkit._support.parallel import stage
from alignkit._support.values import FrozenMap
from alignkit.agreement.chance import expectation, result
from alignkit.agreement.chance.comparable import ComparablePairs
from alignkit.agreement.chance.models import CHANCE_MODELS, Edits, count_edits
from alignkit.agreement.chance.sampling import Items, Progress
from alignkit.agreement.chance.two_annotators import Section, beyond_chance_by_model
from alignkit.agreement.options import CLOSED, AgreementOptions
from alignkit.agreement.pairs import CorpusPart, PairData
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays

ByModel = FrozenMap[str, FrozenMap[str, result.BeyondChance]]
"""The results by model of chance and level."""


class _Job(NamedTuple):
    """Models of chance that are computed on the same pairs, with the same intervals."""

    models: Sequence[str]
    places: I8  # the positions of the pairs
    options: AgreementOptions

    @property
    def needs_edits(self) -> bool:
        """Whether a model is one of edits."""
        return self.models != [CLOSED]


@dataclass(frozen=True)
class CorpusBeyondChance(ComparablePairs):
    """The agreement beyond chance of any two annotators; shared work is done once."""

    parts: Sequence[CorpusPart]  # the whole corpus, then each group

    def of(
        self, names: tuple[str, str], why_no_edits: str, progress: Progress | None = None
    ) -> ByModel:
        """Return C of two annotators by model and level.

        If there is a reason why models of edits do not apply, only the closed form is computed.
        Nothing is computed without any edits if the words of a pair are not known.
        """
        if not self.edits_known and not self.data.known[self.data.places(names)].all():
            return FrozenMap()
        main = self.options.model
        models = list(CHANCE_MODELS)
        if why_no_edits:
            main = CLOSED
            models = [CLOSED]
        jobs = self._jobs(names, main, models)
        by_model: dict[str, dict[str, result.BeyondChance]] = {name: {} for name in models}
        for number, level in enumerate(result.LEVELS):
            share = stage(progress, number, len(result.LEVELS))
            for job in jobs:
                for name, beyond in self._computed(job, names, level, share).items():
                    by_model[name][level] = beyond
        return FrozenMap({name: FrozenMap(levels) for name, levels in by_model.items()})

    def _jobs(self, names: tuple[str, str], main: str, models: list[str]) -> list[_Job]:
        """Divide models of chance into those that are computed together.

        The closed form as main model uses all pairs that both annotated. All other models are
        compared with each other, so they use the same pairs: those that both edited.
        """
        every = self.data.places(names)
        if models == [CLOSED]:
            return [_Job(models, every, self.options)]
        edited = self.edited_places(names)
        of_others = self.options
        if of_others.bootstrap == "refit":  # takes long: only for the C of the main tables
            of_others = replace(of_others, bootstrap="fixed")
        elif len(every) == len(edited):
            return [_Job(models, edited, self.options)]
        of_main = every if main == CLOSED else edited
        others = [name for name in models if name != main]
        return [_Job([main], of_main, self.options), _Job(others, edited, of_others)]

    def _computed(
        self, job: _Job, names: tuple[str, str], level: str, progress: Progress | None
    ) -> dict[str, result.BeyondChance]:
        """Return C of two annotators at a level by the models of a job, with signatures."""
        by_model = beyond_chance_by_model(
            self.paired_sets(names, level, job.places, with_edits=job.needs_edits),
            job.models,
            job.options,
            self._sections(names, job.places),
            progress if job.needs_edits else None,
        )
        results = {}
        for name, beyond in by_model.items():
            signature = str(job.options.signed_by(name, self.initial))
            results[name] = replace(beyond, signature=signature)
        return results

    def _sections(self, names: tuple[str, str], places: I8) -> list[Section]:
        """Return the parts of the corpus, and why their pairs are not at the given places."""
        sections = []
        for part in self.parts:
            outside = np.setdiff1d(part.members, places)
            reasons = self.why_not_compared(names, outside)
            sections.append(Section(part.name, len(part), np.isin(places, part.members), reasons))
        return sections

    # the sets of two annotators
    @cached_property
    def _items(self) -> Items:
        """The words of all pairs, and which items are compared; each level replaces the unit."""
        return Items("phrases", not self.options.ignore_identical, *self.data.words)

    @cached_method
    def _links_of(self, name: str | None, links: str) -> LinkArrays:
        """Return the links of an annotator in all pairs; none in pairs without an annotation."""
        if name is None:
            empty = [Alignment()] * len(self.data.corpus)
            return LinkArrays.pack(empty, self.data.lengths.tolist())
        arrays = self.data.links(name)
        return arrays.sure_only() if links == "sure" else arrays

    def paired_sets(
        self, names: tuple[str, str], level: str, places: I8, *, with_edits: bool
    ) -> expectation.PairedSets:
        """Return the sets of two annotators at a level, as `beyond_chance_by_model` takes them."""
        unit, links = result.LEVELS[level]
        corpus = self.data.corpus
        for place in places[~self.data.known[places]].tolist():
            _ = corpus[place].words  # raises an error that names the pair
        items = replace(self._items.part(places), unit=unit)
        first, second = (self._links_of(name, links).take(places) for name in names)
        universe = None
        edits: tuple[Edits, ...] = ()
        if with_edits and self.options.universe == "judged":
            universe = PairData(self.data, names, places, universe="judged").judged
            edits = tuple(self._count_edits(name, links, places, universe) for name in names)
        elif with_edits:
            edits = tuple(self._all_edits(name, links) for name in names)
        return expectation.PairedSets(
            annotators=names,
            places=places,
            ids=tuple(corpus[place].id for place in places.tolist()),
            corpus_size=len(corpus),
            items=items,
            sizes=items.sizes(first, second),
            initial=self._links_of(self.initial, links).take(places),
            edits=edits,
            universe=universe,
        )

    @cached_method
    def _all_edits(self, name: str, links: str) -> Edits:
        """Return what an annotator changed in all pairs that this one edited."""
        return self._count_edits(name, links, self.edited_places([name]), None)

    def _count_edits(self, name: str, links: str, places: I8, universe: LinkArrays | None) -> Edits:
        """Count what an annotator changed in the initial alignments of some pairs."""
        items = self._items.part(places)
        annotated = self._links_of(name, links).take(places)
        initial = self._links_of(self.initial, links).take(places)
        return count_edits(places, annotated, initial, items.source, items.target, universe)
