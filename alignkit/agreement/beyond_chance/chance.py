"""Define what chance means: one table of models, each a small object.

A model either *samples*: it is fitted to what each annotator changed in the initial alignment and
says how likely a cell is flipped, by the stratum that the cell is in (`STRATA`); or it has a
*closed form* of the overlap that is expected from the sizes of the two sets. A new model is a class
with the methods of `SampledChance` or of `ClosedChance`, entered in `CHANCE_MODELS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Protocol, Union, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.beyond_chance.correction import ChanceTerms
from alignkit.agreement.beyond_chance.edits import EditData, EditModel, fit_edit_model
from alignkit.agreement.beyond_chance.items_kernel import count_strata
from alignkit.arrays import LinkArrays, TokenArrays
from alignkit.errors import UnknownNameError
from alignkit.frozen import FrozenMap
from alignkit.jit import readonly

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Models = FrozenMap[str, EditModel]

STRATA = ("add", "delete", "add-equal", "delete-equal")
"""What a flip does, by the stratum of its cell: empty or a link of the initial alignment, of
different or of equal words."""


@dataclass(frozen=True)
class EditRates:
    """Hold which shares of the cells an annotator changed."""

    add: float
    delete: float  # the links deleted, of those of the initial alignment; NaN without any
    pairs: int  # how many sentence pairs that is of


@dataclass(frozen=True, eq=False)
class Edits:
    """Hold what an annotator changed in the initial alignments of F sentence pairs."""

    places: Numbers  # (F,): the position of each pair in the corpus
    words: Numbers  # (F,): N + M
    trials: Numbers  # (F, 4): the cells of each stratum; the columns are STRATA
    flips: Numbers  # (F, 4): those that the annotator changed
    _fitted: dict[tuple[object, ...], Models] = field(default_factory=dict, repr=False)

    def fit(
        self, strata: Mapping[str, list[int]], reading: str, weights: Floats | None = None
    ) -> Models:
        """Fit a model to the sum of some strata each; once, as others need it too."""
        key = reading, *strata
        if weights is None and key in self._fitted:
            return self._fitted[key]
        found = {}
        for name, columns in strata.items():
            trials, flips = (part[:, columns].sum(axis=1) for part in (self.trials, self.flips))
            data = EditData(self.words, trials, flips)
            found[name] = fit_edit_model(data, reading=reading, weights=weights)
        models = FrozenMap(found)
        if weights is None:
            self._fitted[key] = models
        return models

    @property
    def rates(self) -> EditRates:
        """The shares of the empty cells and of the links that were changed, of all pairs."""
        trials, flips = (_both(part.sum(axis=0)).tolist() for part in (self.trials, self.flips))
        add, delete = (f / t if t else nan for f, t in zip(flips, trials, strict=True))
        return EditRates(add, delete, len(self.places))


def count_edits(
    places: Numbers,
    annotated: LinkArrays,
    initial: LinkArrays,
    source: TokenArrays,
    target: TokenArrays,
    universe: LinkArrays | None = None,
) -> Edits:
    """Count what an annotator changed in the initial alignments, stratum by stratum."""
    cells = LinkArrays.pack([]) if universe is None else universe
    trials, flips = count_strata(
        readonly(initial.links),
        readonly(initial.offsets),
        readonly(annotated.links),
        readonly(annotated.offsets),
        readonly(source.ids),
        readonly(source.offsets),
        readonly(target.ids),
        readonly(target.offsets),
        universe is not None,
        readonly(cells.links),
        readonly(cells.offsets),
    )
    return Edits(places, np.diff(source.offsets) + np.diff(target.offsets), trials, flips)


def _both(strata: Numbers) -> Numbers:
    """Add up the strata of different and of equal words: (..., 4) gives (..., 2)."""
    found: Numbers = strata[..., :2] + strata[..., 2:]
    return found


def flip_rates(first: Floats, second: Floats, *, bounded: bool) -> Floats:
    """Join the rates of two annotators as `Sampling` takes them.

    (P, 4) if words do not matter and every cell can flip, (P, 8) for all `STRATA` otherwise.
    """
    sides = [first, second]
    if bounded and first.shape[1] == 2:
        sides = [np.concatenate([side, side], axis=1) for side in sides]
    return np.concatenate(sides, axis=1)


@runtime_checkable
class SampledChance(Protocol):
    """Flip the cells of the initial alignment at rates that are fitted to an annotator."""

    @property
    def description(self) -> str:
        """One line that says what chance is."""
        ...

    def fit(self, edits: Edits, *, reading: str, weights: Floats | None = None) -> Models:
        """Fit the edit models, by name, to one annotator; `weights` says how often pairs count."""
        ...

    def rates(self, models: Models, words: Numbers, trials: Numbers) -> Floats:
        """Return the rates at which cells flip in P pairs of these (P,) N + M and (P, 4) cells.

        (P, 4) for the `STRATA`, or (P, 2) where words do not matter: for empty and filled cells.
        """
        ...


@runtime_checkable
class ClosedChance(Protocol):
    """Give the expected overlap of two sets without sampling."""

    @property
    def description(self) -> str:
        """One line that says what chance is."""
        ...

    def expect(
        self, first: Floats, second: Floats, choices: Floats, normalizer: str
    ) -> ChanceTerms:
        """Return what is expected of P pairs of sets of these sizes out of so many choices."""
        ...


ChanceModel = Union[SampledChance, ClosedChance]


@dataclass(frozen=True)
class EditChance:
    """Flip every cell at one rate [1]_.

    References
    ----------
    .. [1] Cohn, Callison-Burch & Lapata 2008, Computational Linguistics 34(4):597-614.
    """

    description: str = "each cell of the initial alignment flips at the annotator's rate of edits"

    def fit(self, edits: Edits, *, reading: str, weights: Floats | None = None) -> Models:
        """Fit the one edit model."""
        return edits.fit({"edit": [0, 1, 2, 3]}, reading, weights)

    def rates(self, models: Models, words: Numbers, trials: Numbers) -> Floats:
        """Return the one rate for empty and for filled cells."""
        rates = models["edit"].rates(words, trials.sum(axis=1))
        return np.stack([rates, rates], axis=1)


@dataclass(frozen=True)
class EditSplitChance:
    """Flip empty cells at the rate of added links, filled ones at the rate of deleted links.

    One rate for both, the weakness that the article admits, deletes far less than annotators do.
    """

    description: str = "empty cells flip at the annotator's rate of adding, filled ones of deleting"

    def fit(self, edits: Edits, *, reading: str, weights: Floats | None = None) -> Models:
        """Fit a model of the added and a model of the deleted links."""
        return edits.fit({"add": [0, 2], "delete": [1, 3]}, reading, weights)

    def rates(self, models: Models, words: Numbers, trials: Numbers) -> Floats:
        """Return the rates of empty and of filled cells."""
        both = _both(trials)
        return np.stack(
            [models[name].rates(words, both[:, k]) for k, name in enumerate(("add", "delete"))],
            axis=1,
        )


@dataclass(frozen=True)
class EditStrataChance:
    """Flip empty and filled cells, of different and of equal words, each at a rate of its own.

    Where identical items are left out, one rate for all words is fitted mostly to identical links,
    which annotators keep; chance would then keep the different ones far too often. A stratum
    without a cell in any pair has no model.
    """

    description: str = (
        "empty and filled cells, of different and of equal words, flip at the annotator's rate "
        "for each"
    )

    def fit(self, edits: Edits, *, reading: str, weights: Floats | None = None) -> Models:
        """Fit a model to each stratum."""
        return edits.fit({name: [k] for k, name in enumerate(STRATA)}, reading, weights)

    def rates(self, models: Models, words: Numbers, trials: Numbers) -> Floats:
        """Return the rate of each stratum; 0 in those that had nothing to fit."""
        return np.stack(
            [models[name].rates(words, trials[:, k]) for k, name in enumerate(STRATA)], axis=1
        )


@dataclass(frozen=True)
class KupperHafnerChance:
    """Let each annotator choose a set of the given size at random, all items alike [1]_.

    Given the sizes, |A & B| is |A| |B| / K on average. For phrase pairs this chance goes to 0 as
    sentences grow, which is why the article replaces it.

    References
    ----------
    .. [1] Kupper & Hafner 1989, On assessing interrater agreement for multiple attribute
       responses, Biometrics 45:957-967.
    """

    description: str = "sets of the same sizes, chosen at random from all that could be chosen"

    def expect(
        self, first: Floats, second: Floats, choices: Floats, normalizer: str
    ) -> ChanceTerms:
        """Return |A| |B| / K and its ratio to the norm; it is 0 where a set is empty."""
        common = np.divide(first * second, choices, out=np.zeros(len(first)), where=choices > 0)
        return ChanceTerms.exact(first, second, common, normalizer)


CHANCE_MODELS: Mapping[str, ChanceModel] = {
    "edit": EditChance(),
    "edit-split": EditSplitChance(),
    "edit-strata": EditStrataChance(),
    "kupper-hafner": KupperHafnerChance(),
}
"""The models of chance by name."""


def chance_model(name: str) -> ChanceModel:
    """Return the model of that name."""
    if name not in CHANCE_MODELS:
        raise UnknownNameError("chance model", name, CHANCE_MODELS)
    return CHANCE_MODELS[name]
