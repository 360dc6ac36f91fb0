"""Define what chance means: one table of models, each a small object.

A model either *samples*: it is fitted to what each annotator changed in the initial alignment and
says how likely an empty and a filled cell is flipped; or it has a *closed form* of the overlap that
is expected from the sizes of the two sets. A new model is a class with the methods of
`SampledChance` or of `ClosedChance`, entered in `CHANCE_MODELS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Union, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.correction import ChanceTerms
from alignkit.agreement.edit_model import EditData, EditModel, fit_edit_model
from alignkit.errors import UnknownNameError
from alignkit.frozen import FrozenMap

__all__ = [
    "CHANCE_MODELS",
    "ChanceModel",
    "ClosedChance",
    "EditChance",
    "EditSplitChance",
    "Edits",
    "KupperHafnerChance",
    "SampledChance",
    "chance_model",
]

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Edits:
    """Hold what an annotator changed in the initial alignments of F sentence pairs.

    Parameters
    ----------
    places
        (F,): the position of each pair in the corpus.
    lengths
        (F, 2): N and M.
    filled
        (F,): the links of the initial alignment.
    adds, deletes
        (F,): the links that the annotator added and deleted.
    """

    places: Numbers
    lengths: Numbers
    filled: Numbers
    adds: Numbers
    deletes: Numbers

    @property
    def words(self) -> Numbers:
        """(F,) N + M."""
        return _words(self.lengths)

    @property
    def cells(self) -> Numbers:
        """(F,) N * M."""
        return _cells(self.lengths)


def _words(lengths: Numbers) -> Numbers:
    return lengths[:, 0] + lengths[:, 1]


def _cells(lengths: Numbers) -> Numbers:
    return lengths[:, 0] * lengths[:, 1]


Models = FrozenMap[str, EditModel]


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

    def rates(self, models: Models, lengths: Numbers, filled: Numbers) -> Floats:
        """Return the (P, 2) rates at which empty and filled cells flip."""
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
        data = EditData(edits.words, edits.cells, edits.adds + edits.deletes)
        return FrozenMap({"edit": fit_edit_model(data, reading=reading, weights=weights)})

    def rates(self, models: Models, lengths: Numbers, filled: Numbers) -> Floats:
        """Return the one rate for empty and for filled cells."""
        rates = models["edit"].rates(_words(lengths), _cells(lengths))
        return np.stack([rates, rates], axis=1)


@dataclass(frozen=True)
class EditSplitChance:
    """Flip empty cells at the rate of added links, filled ones at the rate of deleted links.

    One rate for both, the weakness that the article admits, deletes far less than annotators do.
    """

    description: str = "empty cells flip at the annotator's rate of adding, filled ones of deleting"

    def fit(self, edits: Edits, *, reading: str, weights: Floats | None = None) -> Models:
        """Fit a model of the added and a model of the deleted links."""
        added = EditData(edits.words, edits.cells - edits.filled, edits.adds)
        deleted = EditData(edits.words, edits.filled, edits.deletes)
        return FrozenMap(
            {
                "add": fit_edit_model(added, reading=reading, weights=weights),
                "delete": fit_edit_model(deleted, reading=reading, weights=weights),
            }
        )

    def rates(self, models: Models, lengths: Numbers, filled: Numbers) -> Floats:
        """Return the rates of empty and of filled cells."""
        words, cells = _words(lengths), _cells(lengths)
        return np.stack(
            [
                models["add"].rates(words, cells - filled),
                models["delete"].rates(words, filled),
            ],
            axis=1,
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
    "kupper-hafner": KupperHafnerChance(),
}
"""The models of chance by name."""


def chance_model(name: str) -> ChanceModel:
    """Return the model of that name.

    Raises
    ------
    UnknownNameError
        If there is none.
    """
    if name not in CHANCE_MODELS:
        raise UnknownNameError("chance model", name, CHANCE_MODELS)
    return CHANCE_MODELS[name]
