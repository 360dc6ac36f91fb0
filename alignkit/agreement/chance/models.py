"""The models of chance: one table of small objects.

A model either *samples* or has a *closed form*. A sampling model is fitted to the changes that each
annotator made in the initial alignment; it gives the probability of a flip by the stratum of the
cell (`STRATA`). A closed form gives the overlap expected from the sizes of the two sets. A new
model is a class with the methods of `SampledChance` or `ClosedChance`, listed in `CHANCE_MODELS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Union

import numpy as np

from alignkit._support.array_types import F8, I8
from alignkit._support.values import FrozenMap
from alignkit.agreement.chance.correction import ChanceTerms
from alignkit.agreement.chance.edits import EditData, EditModel, fit_edit_model
from alignkit.agreement.chance.items_kernel import count_strata
from alignkit.model.arrays import LinkArrays, TokenArrays
from alignkit.model.phrase_arrays import pair_links, pair_words

Models = FrozenMap[str, EditModel]

STRATA = ("add", "delete", "add-equal", "delete-equal")
"""What a flip does, by the stratum of the cell: empty or a link of the initial alignment, of
different or of equal words."""


@dataclass(frozen=True)
class EditRates:
    """The shares of cells that an annotator changed."""

    add: float  # the links added, of the cells that were empty
    delete: float  # the links deleted, of those of the initial alignment; NaN without any
    pairs: int  # how many sentence pairs that is of


@dataclass(frozen=True)
class Edits:
    """The changes of an annotator in the initial alignments of F sentence pairs."""

    places: I8  # (F,): the position of each pair in the corpus
    words: I8  # (F,): N + M
    trials: I8  # (F, 4): the cells of each stratum; the columns are STRATA
    flips: I8  # (F, 4): those that the annotator changed
    fitted: dict[tuple[object, ...], Models] = field(default_factory=dict, repr=False)

    @property
    def rates(self) -> EditRates:
        """The shares of the empty cells and of the links that were changed, over all pairs."""
        # of equal and of different words together
        empty, filled = self.trials.sum(axis=0).reshape(2, 2).sum(axis=0).tolist()
        added, deleted = self.flips.sum(axis=0).reshape(2, 2).sum(axis=0).tolist()
        add = added / empty if empty else nan
        delete = deleted / filled if filled else nan
        return EditRates(add, delete, len(self.places))


def count_edits(
    places: I8,
    annotated: LinkArrays,
    initial: LinkArrays,
    source: TokenArrays,
    target: TokenArrays,
    universe: LinkArrays | None = None,
) -> Edits:
    """Count the changes of an annotator in the initial alignments, by stratum."""
    cells = LinkArrays.pack([]) if universe is None else universe
    trials, flips = count_strata(
        pair_links(initial),
        pair_links(annotated),
        pair_words(source, target),
        universe is not None,
        pair_links(cells),
    )
    words = np.diff(source.offsets) + np.diff(target.offsets)
    return Edits(places, words, trials, flips)


@dataclass(frozen=True)
class SampledChance:
    """A model that flips the cells of the initial alignment at rates fitted to an annotator.

    With one rate for all cells, chance deletes far less than annotators do; the article (Cohn,
    Callison-Burch & Lapata 2008) mentions this weakness. If identical items are left out, one rate
    for all words is fitted mostly to identical links, which annotators keep. Chance then keeps the
    other links far too often, unless equal words have separate rates.
    """

    strata: Mapping[str, tuple[int, ...]]  # the models: for each the places of its strata
    description: str  # one line that says what chance is

    def fit(self, edits: Edits, *, reading: str, weights: F8 | None = None) -> Models:
        """Fit the edit models, by name, to one annotator; `weights` is how often pairs count."""
        key = reading, *self.strata
        if weights is None and key in edits.fitted:  # other models of chance need it too
            return edits.fitted[key]
        fitted = {}
        for name, columns in self.strata.items():
            trials = edits.trials[:, columns].sum(axis=1)
            flips = edits.flips[:, columns].sum(axis=1)
            data = EditData(edits.words, trials, flips)
            fitted[name] = fit_edit_model(data, reading=reading, weights=weights)
        models = FrozenMap(fitted)
        if weights is None:
            edits.fitted[key] = models
        return models

    def rates(self, models: Models, words: I8, trials: I8) -> F8:
        """Return the probability of a flip: (P, 4) for `STRATA`; (P, 2) for empty and filled."""
        rates = []
        for name, columns in self.strata.items():
            cells = trials[:, columns].sum(axis=1)
            rates.append(models[name].rates(words, cells))
        if len(rates) == 1:  # the same for empty and filled cells
            rates *= 2
        return np.stack(rates, axis=1)


@dataclass(frozen=True)
class ClosedChance:
    """Sets of the given sizes, drawn at random from all items: Kupper & Hafner 1989.

    For given sizes, |A & B| is |A| |B| / K on average. For phrase pairs this chance goes to 0 as
    sentences grow, which is why Cohn et al. replace it.
    """

    description: str = "sets of the same sizes, drawn at random from all possible items"

    def expect(self, first: F8, second: F8, choices: F8, normalizer: str) -> ChanceTerms:
        """Return |A| |B| / K and its ratio to the norm; 0 if a set is empty."""
        common = np.divide(first * second, choices, out=np.zeros(len(first)), where=choices > 0)
        return ChanceTerms.exact(first, second, common, normalizer)


ChanceModel = Union[SampledChance, ClosedChance]

CHANCE_MODELS: Mapping[str, ChanceModel] = {
    "edit": SampledChance(
        {"edit": (0, 1, 2, 3)},
        "each cell of the initial alignment flips at the annotator's rate of edits",
    ),
    "edit-split": SampledChance(
        {"add": (0, 2), "delete": (1, 3)},
        "empty cells flip at the annotator's rate of adding, filled ones of deleting",
    ),
    "edit-strata": SampledChance(
        {name: (k,) for k, name in enumerate(STRATA)},
        "empty and filled cells, of different and of equal words, flip at the annotator's rate "
        "for each",
    ),
    "kupper-hafner": ClosedChance(),
}
"""The models of chance by name."""
