"""Say what is compared: atomic phrase pairs or links, of which words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.items_kernel import LINK_ITEMS, PHRASE_ITEMS, identical_choices
from alignkit.arrays import LinkArrays, TokenArrays, Vocabulary
from alignkit.corpus import SentencePair
from alignkit.jit import readonly
from alignkit.scoring.counts import LINK_COLUMNS, PHRASE_COLUMNS, count_links, count_phrases

__all__ = ["UNITS", "Items"]

UNITS: Mapping[str, int] = {"phrases": PHRASE_ITEMS, "links": LINK_ITEMS}
"""What agreement is measured on: the atomic phrase pairs, or the links."""


WordViews = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Items:
    """Hold the words of P sentence pairs and what is compared in them.

    Parameters
    ----------
    unit
        One of `UNITS`.
    include_identical
        Whether items of equal words take part.
    source, target
        The words.
    """

    unit: str
    include_identical: bool
    source: TokenArrays
    target: TokenArrays

    @classmethod
    def of(
        cls, pairs: Sequence[SentencePair], unit: str, include_identical: bool, exact_case: bool
    ) -> Items:
        """Make the items of some sentence pairs.

        Raises
        ------
        MissingTextError
            If the words of a pair are not known.
        """
        vocabulary = Vocabulary(casefold=not exact_case)
        words = [pair.words for pair in pairs]
        return cls(
            unit,
            include_identical,
            TokenArrays.pack((source for source, _ in words), vocabulary),
            TokenArrays.pack((target for _, target in words), vocabulary),
        )

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(P, 2): N and M."""
        return np.stack([np.diff(self.source.offsets), np.diff(self.target.offsets)], axis=1)

    def sizes(self, first: LinkArrays, second: LinkArrays) -> NDArray[np.float64]:
        """Return the (P, 3) sizes of both sets of items and of their intersection."""
        if self.unit == "links":
            if not self.include_identical:
                first, second = (
                    one.without_identical(self.source, self.target) for one in (first, second)
                )
            counts = count_links(first, second)
            columns = ("hyp_possible", "ref_possible", "possible_in_possible")
            return _columns(counts, LINK_COLUMNS, columns)
        counts = count_phrases(
            first,
            second,
            links="possible",
            ignore_identical=not self.include_identical,
            source=self.source,
            target=self.target,
        )
        return _columns(counts, PHRASE_COLUMNS, ("hyp_atomic", "ref_atomic", "atomic_in_atomic"))

    def choices(self) -> NDArray[np.float64]:
        """Return the (P,) numbers of items that could be chosen (K of Kupper & Hafner).

        N M links, or N (N + 1) / 2 times M (M + 1) / 2 pairs of spans; less the identical ones
        where those are left out.
        """
        n, m = self.lengths.astype(np.float64).T
        every: NDArray[np.float64] = (
            n * m if self.unit == "links" else n * (n + 1) * m * (m + 1) / 4
        )
        if self.include_identical:
            return every
        every -= identical_choices(*self.views(), UNITS[self.unit])
        return every

    def views(self) -> WordViews:
        """Return the arrays of the words as the kernels take them."""
        return (
            readonly(self.source.ids),
            readonly(self.source.offsets),
            readonly(self.target.ids),
            readonly(self.target.offsets),
        )


def _columns(
    counts: NDArray[np.int64], names: Sequence[str], wanted: Sequence[str]
) -> NDArray[np.float64]:
    return counts[:, [names.index(name) for name in wanted]].astype(np.float64)
