"""Hold an agreement beyond chance: over all sentence pairs, over groups, and pair by pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.correction import Correction
from alignkit.agreement.edit_model import EditModel
from alignkit.agreement.jsonable import jsonable
from alignkit.frozen import FrozenMap
from alignkit.scoring.bootstrap import Interval

__all__ = ["CorrectedAgreement", "CorrectedSection", "SentenceAgreement"]


@dataclass(frozen=True)
class SentenceAgreement:
    """Hold what one sentence pair says.

    Parameters
    ----------
    place, id
        Its position in the corpus, from 0, and its name.
    left_out
        Why it is left out of pi and pi0; empty where it is used.
    first, second, common
        The sizes of A, of B and of A & B.
    observed
        common / norm; NaN where both sets are empty.
    expected
        The same ratio by chance; NaN where it was not computed or all samples are empty.
    expected_error
        Its standard error.
    """

    place: int
    id: str
    left_out: str
    first: int
    second: int
    common: int
    observed: float
    expected: float
    expected_error: float


@dataclass(frozen=True)
class CorrectedSection(Correction):
    """Hold the agreement beyond chance of some sentence pairs; see `Correction` for the numbers.

    Parameters
    ----------
    name
        The group; ``"all"`` for the whole corpus.
    pairs
        How many sentence pairs there are.
    used
        How many of them are used.
    left_out
        For each reason how many are not.
    interval
        The bootstrap interval of C; None if none was asked for.
    """

    name: str
    pairs: int
    used: int
    left_out: FrozenMap[str, int]
    interval: Interval | None

    def section_json(self) -> dict[str, object]:
        """Return the numbers as JSON takes them; NaN is None."""
        return {
            "pi": jsonable(self.pi),
            "pi0": jsonable(self.pi0),
            "C": jsonable(self.C),
            "undefined": self.undefined,
            "pi0_error": jsonable(self.pi0_error),
            "C_error": jsonable(self.C_error),
            "interval": self.interval.to_json() if self.interval else None,
            "pairs": {
                "all": self.pairs,
                "used": self.used,
                "left_out": jsonable(self.left_out),
            },
        }


@dataclass(frozen=True, eq=False)
class CorrectedAgreement(CorrectedSection):
    """Hold the agreement beyond chance of two annotators; the section is the whole corpus.

    Parameters
    ----------
    annotators
        The two.
    by
        The attribute that makes the groups; None without groups.
    groups
        The agreement in each group, by the same edit models and samples.
    sentences
        Every sentence pair that both annotated, in order.
    models
        The fitted edit models of either annotator, by name; empty where chance has a closed form.
    samples
        How many samples each sentence pair had; 0 where chance has a closed form.
    distribution
        (samples,): the agreement over the whole corpus in each of the samples.
    redrawn
        How often a pair was sampled anew for the interval with refitted edit models.
    signature
        The settings.
    """

    annotators: tuple[str, str]
    by: str | None
    groups: tuple[CorrectedSection, ...]
    sentences: tuple[SentenceAgreement, ...]
    models: FrozenMap[str, FrozenMap[str, EditModel]]
    samples: int
    distribution: NDArray[np.float64]
    redrawn: int
    signature: str

    def to_json(self) -> dict[str, object]:
        """Return everything as JSON takes it; NaN is None."""
        return {
            "annotators": list(self.annotators),
            **self.section_json(),
            "by": self.by,
            "groups": {group.name: group.section_json() for group in self.groups},
            "models": {
                name: {part: model.to_json() for part, model in models.items()}
                for name, models in self.models.items()
            },
            "samples": self.samples,
            "distribution": jsonable(self.distribution.tolist()),
            "redrawn": self.redrawn,
            "sentences": jsonable(self.sentences),
            "signature": self.signature,
        }
