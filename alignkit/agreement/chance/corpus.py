"""Measure agreement beyond chance for every two of a corpus, at each level, by each model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from alignkit._support.parallel import stage
from alignkit._support.values import FrozenMap
from alignkit.agreement.chance.expectation import PairedSets
from alignkit.agreement.chance.models import CHANCE_MODELS, Edits, count_edits
from alignkit.agreement.chance.result import BeyondChance
from alignkit.agreement.chance.sampling import Items, Progress
from alignkit.agreement.chance.two_annotators import Section, beyond_chance_by_model
from alignkit.agreement.options import CLOSED, AgreementOptions, edits_known
from alignkit.agreement.pairs import CorpusData, PairData
from alignkit.agreement.result import LEVELS
from alignkit.agreement.sections import CorpusPart
from alignkit.errors import OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays

NO_INITIAL = "without an initial alignment"

Numbers = NDArray[np.int64]
ByModel = FrozenMap[str, FrozenMap[str, BeyondChance]]


@dataclass(frozen=True, eq=False)
class CorpusBeyondChance:
    """Measure the agreement beyond chance of any two; what they share is computed once."""

    data: CorpusData  # the corpus
    initial: str | None  # the name of the initial alignment; None without one
    systems: tuple[str, ...]  # the automatic alignments
    options: AgreementOptions  # as for alignkit.agree
    seed: int
    workers: int | None
    parts: Sequence[CorpusPart]  # the whole corpus, then each group
    _edits: dict[tuple[str, str], Edits] = field(default_factory=dict, repr=False)
    _links: dict[tuple[str, str], LinkArrays] = field(default_factory=dict, repr=False)

    def no_edits(self, first: str, second: str) -> str:
        """Return why models of edits say nothing of two; empty where they do."""
        if not edits_known(self.initial, self.options.missing_initial):
            return "no initial alignment is named, so nobody's edits are known"
        for name in (first, second):
            if name == self.initial:
                return (
                    f"{name!r} is the initial alignment, which never edits itself; "
                    f"compare it by {CLOSED}"
                )
            if name in self.systems:
                return (
                    f"{name!r} is an automatic alignment, no annotator's edit of the initial one; "
                    f"compare it by {CLOSED}"
                )
        if self.options.universe == "judged":
            for name in (first, second):
                if not self.data.records_judged(name):
                    return f"{name!r} records no judged cells; compare it by {CLOSED}"
        return self._missing(first, second)

    def of(
        self, first: str, second: str, no_edits: str, progress: Progress | None = None
    ) -> ByModel:
        """Return C of two by model and level; by the closed form alone where nothing was edited."""
        edits = edits_known(self.initial, self.options.missing_initial)
        if not edits and not self._known(first, second):
            return FrozenMap()
        main = CLOSED if no_edits else self.options.chance
        models = [main] if no_edits else list(CHANCE_MODELS)
        by_model: dict[str, dict[str, BeyondChance]] = {name: {} for name in models}
        for number, (level, (unit, links)) in enumerate(LEVELS.items()):
            share = stage(progress, number, len(LEVELS))
            for name, one in self._level(first, second, unit, links, main, models, share).items():
                by_model[name][level] = one
        return FrozenMap({name: FrozenMap(levels) for name, levels in by_model.items()})

    def _level(
        self,
        first: str,
        second: str,
        unit: str,
        links: str,
        main: str,
        models: Sequence[str],
        progress: Progress | None,
    ) -> dict[str, BeyondChance]:
        rest = [name for name in models if name != main]
        fixed = self.options
        if fixed.bootstrap == "refit":  # the main tables' C alone: it takes long
            fixed = replace(fixed, bootstrap="fixed")
        every = self._places(first, second, edited=False)
        edited = every if main == CLOSED and not rest else self._places(first, second, edited=True)
        alike = len(every) == len(edited)
        if alike and fixed is self.options:
            jobs = [(models, edited, fixed)]
        elif main != CLOSED:  # models are compared on the same pairs
            jobs = [([main], edited, self.options), (rest, edited, fixed)]
        else:
            jobs = [([main], every, self.options), (rest, edited, fixed)]
        results: dict[str, BeyondChance] = {}
        for names, places, options in jobs:
            if not names:
                continue
            known = names != [CLOSED]
            results |= beyond_chance_by_model(
                self._sets(first, second, unit, links, places, edited=known),
                names,
                options,
                self._sections(first, second, places),
                seed=self.seed,
                workers=self.workers,
                progress=progress if known else None,
            )
        signature = str(self.options.sign(self.seed, self.initial))
        return {
            name: replace(results[name], signature=signature)
            for name in CHANCE_MODELS
            if name in results
        }

    # pairs

    @cached_property
    def _has_initial(self) -> NDArray[np.bool_]:
        """(Q,): where there is an initial alignment, or none is needed."""
        if self.initial is None or self.options.missing_initial == "empty":
            return np.ones(len(self.data.corpus), bool)
        return self.data.aligned(self.initial)

    def _places(self, *names: str, edited: bool) -> Numbers:
        done = np.all([self.data.aligned(name) for name in names], axis=0)
        return np.flatnonzero(done & self._has_initial if edited else done)

    def _known(self, *names: str) -> bool:
        return bool(self.data.known[self._places(*names, edited=False)].all())

    def _missing(self, first: str, second: str) -> str:
        """Refuse pairs without an initial alignment, or say so where the main model needs none."""
        if self.options.missing_initial != "error":
            return ""
        places = self._places(first, second, edited=False)
        missing = places[~self._has_initial[places]]
        if not len(missing):
            return ""
        message = (
            f"pair {self.data.corpus[int(missing[0])].id!r} has no initial alignment "
            f"{self.initial!r}: name another one by initial (the aligner makes one, `merge` adds "
            "it), or say what becomes of such pairs by missing_initial='empty' or 'leave-out'"
        )
        if self.options.chance != CLOSED:
            raise OptionError(message)
        return message

    def _sections(self, first: str, second: str, places: Numbers) -> list[Section]:
        return [
            Section(
                part.name,
                len(part),
                np.isin(places, part.members),
                self._outside(first, second, np.setdiff1d(part.members, places)),
            )
            for part in self.parts
        ]

    def _outside(self, first: str, second: str, members: Numbers) -> Counter[str]:
        names = (first, second)
        done = [self.data.aligned(name)[members].tolist() for name in names]
        reasons: Counter[str] = Counter()
        for flags in zip(*done, strict=True):
            missing = [name for name, flag in zip(names, flags, strict=True) if not flag]
            reasons[f"not annotated by {', '.join(missing)}" if missing else NO_INITIAL] += 1
        return reasons

    # sets

    def paired_sets(self, first: str, second: str, level: str) -> PairedSets:
        """Return what two have at a level, as `beyond_chance_by_model` takes it."""
        unit, links = LEVELS[level]
        reason = self.no_edits(first, second)
        places = self._places(first, second, edited=not reason)
        sets = self._sets(first, second, unit, links, places, edited=not reason)
        return replace(sets, no_edits=reason)

    @cached_property
    def _items(self) -> Items:
        return Items("phrases", not self.options.ignore_identical, *self.data.words)

    def _kind(self, name: str | None, links: str) -> LinkArrays:
        """Return the links of one in all pairs; none where there is no annotation."""
        key = ("" if name is None else f" {name}", links)
        if key not in self._links:
            if name is None:
                arrays = LinkArrays.pack(
                    [Alignment()] * len(self.data.corpus), self.data.lengths.tolist()
                )
            else:
                arrays = self.data.links(name)
            self._links[key] = arrays.sure_only() if links == "sure" else arrays
        return self._links[key]

    def _sets(
        self, first: str, second: str, unit: str, links: str, places: Numbers, *, edited: bool
    ) -> PairedSets:
        corpus = self.data.corpus
        for place in places[~self.data.known[places]].tolist():
            _ = corpus[place].words  # raises an error that names the pair
        items = replace(self._items.part(places), unit=unit)
        one, other = (self._kind(name, links).take(places) for name in (first, second))
        universe = self._universe(first, second, places) if edited else None
        edits = None
        if edited and universe is None:
            edits = (self._edits_of(first, links), self._edits_of(second, links))
        elif edited:
            edits = (
                self._count(first, links, places, universe),
                self._count(second, links, places, universe),
            )
        return PairedSets(
            (first, second),
            places,
            tuple(corpus[place].id for place in places.tolist()),
            len(corpus),
            items,
            items.sizes(one, other),
            self._kind(self.initial, links).take(places),
            edits,
            "",
            universe,
        )

    def _universe(self, first: str, second: str, places: Numbers) -> LinkArrays | None:
        """Return the cells that both judged; None where every cell can flip."""
        if self.options.universe != "judged":
            return None
        return PairData(self.data, (first, second), places, False, "judged").judged

    def _edits_of(self, name: str, links: str) -> Edits:
        """Count what one annotator changed, in all pairs that this annotator annotated."""
        if (name, links) not in self._edits:
            places = self._places(name, edited=True)
            self._edits[name, links] = self._count(name, links, places, None)
        return self._edits[name, links]

    def _count(self, name: str, links: str, places: Numbers, universe: LinkArrays | None) -> Edits:
        items = self._items.part(places)
        return count_edits(
            places,
            self._kind(name, links).take(places),
            self._kind(self.initial, links).take(places),
            items.source,
            items.target,
            universe,
        )
