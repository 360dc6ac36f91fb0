"""Links with probabilities: the output of an aligner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alignkit._support.arguments import check_arguments, check_attributes, place
from alignkit.align.bitext import F4
from alignkit.errors import OptionError
from alignkit.model.alignment import Alignment, Link
from alignkit.model.arrays import LinkArrays


@dataclass(frozen=True, eq=False)
class AlignedLinks:
    """The links of P sentence pairs and their probabilities.

    Parameters
    ----------
    arrays
        The links.
    probabilities
        (L,) float32: for each link, the mean of the posteriors of both directions.
    """

    arrays: LinkArrays
    probabilities: F4

    def __post_init__(self) -> None:
        check_attributes(self)

    @classmethod
    def joined(cls, parts: Sequence[AlignedLinks]) -> AlignedLinks:
        """Return the links of all parts, one part after the other."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls(LinkArrays.pack([]), np.empty(0, np.float32))
        return cls(
            LinkArrays.concatenate([part.arrays for part in parts]),
            np.concatenate([part.probabilities for part in parts]),
        )

    def alignment(self, k: int, *, digits: int | None = None) -> Alignment:
        """Return the alignment of pair k, with the probabilities as weights.

        `digits` rounds the weights to this number of significant digits.
        """
        check_arguments(AlignedLinks.alignment, locals())
        k = place("k", k, len(self.arrays), "pairs")
        begin, end = self.arrays.offsets[k], self.arrays.offsets[k + 1]
        links = map(Link._make, self.arrays.links[begin:end].tolist())
        weights = self.probabilities[begin:end].tolist()
        if digits is not None:
            weights = [float(f"{weight:.{digits}g}") for weight in weights]
        plain = self.arrays.alignment(k)
        return Alignment(plain.sure, plain.possible, weights=dict(zip(links, weights, strict=True)))


def check_thresholds(threshold: float, sure: float | None) -> None:
    """Raise an error if a threshold is not a probability."""
    for name, value in (("threshold", threshold), ("sure", sure)):
        if value is not None and not 0 <= value <= 1:
            raise OptionError(f"{name} is {value}; expected a probability from 0 to 1")
