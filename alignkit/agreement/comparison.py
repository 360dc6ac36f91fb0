"""Put side by side what each statistic says about two annotators, and average over such pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

from alignkit.agreement.cells import CellAgreement, cell_agreement
from alignkit.agreement.distance import DISTANCES
from alignkit.agreement.krippendorff import (
    LINKS,
    KrippendorffAlpha,
    alpha_from_counts,
    count_units,
)
from alignkit.agreement.overlap import Overlap, overlap
from alignkit.arguments import check_arguments
from alignkit.corpus import Corpus
from alignkit.frozen import FrozenMap

__all__ = ["Comparison", "all_alphas", "compare", "weighted_mean"]


@dataclass(frozen=True)
class Comparison:
    """Hold the statistics of two annotators.

    Parameters
    ----------
    annotators
        The two; the second is the reference of the overlap.
    pairs
        The sentence pairs that both annotated.
    overlap
        Precision, recall and F1 of words and phrases.
    cells
        Kappa and AC1 over cells; None where words are not known.
    alpha
        Krippendorff's alpha by links and distance, ``possible.jaccard`` and so on; empty where
        words are not known.
    """

    annotators: tuple[str, str]
    pairs: int
    overlap: Overlap
    cells: CellAgreement | None
    alpha: FrozenMap[str, KrippendorffAlpha]

    def figures(self) -> dict[str, float]:
        """Return every number by a name of parts, ``words.possible.precision`` and so on.

        Means, tables and JSON are made of these; a further statistic need only add its own.
        """
        found = {
            f"{name}.{ratio}": getattr(row, ratio)
            for name, row in self.overlap.rows().items()
            for ratio in ("precision", "recall", "f1")
        }
        if self.cells is not None:
            for name in ("all", "possible", "sure"):
                table = getattr(self.cells, name)
                found[f"cells.{name}.observed"] = table.observed
                found[f"cells.{name}.kappa"] = table.kappa
                found[f"cells.{name}.ac1"] = table.ac1
            # the first category is "none" or "not sure": its rest is what is rare
            for name in ("possible", "sure"):
                found[f"cells.{name}.prevalence"] = getattr(self.cells, name).prevalence[1]
        return found | {f"alpha.{name}": alpha.alpha for name, alpha in self.alpha.items()}


def compare(
    corpus: Corpus, first: str, second: str, *, include_identical: bool = False
) -> Comparison:
    """Compute every statistic of two annotators.

    Parameters
    ----------
    corpus
        The pairs. Without words there is the overlap alone, if identical items are included.
    first, second
        The annotators; the second is the reference.
    include_identical
        Whether identical items take part in the overlap; the others take all links.

    Raises
    ------
    OptionError, UnknownNameError
        If the annotators cannot be compared.
    MissingTextError
        If identical items are to be left out and words are not known.
    """
    check_arguments(compare, locals())
    shared = corpus.annotated_by(first, second)
    found = overlap(corpus, first, second, include_identical=include_identical)
    known = all(pair.has_text for pair in shared)
    return Comparison(
        (first, second),
        len(shared),
        found,
        cell_agreement(corpus, first, second) if known else None,
        all_alphas(corpus, (first, second)),
    )


def all_alphas(corpus: Corpus, annotators: Sequence[str]) -> FrozenMap[str, KrippendorffAlpha]:
    """Return alpha for both kinds of links and every distance; none where words are not known."""
    if not all(pair.has_text for pair in corpus if _aligned_twice(pair.alignments, annotators)):
        return FrozenMap()
    units = {links: count_units(corpus, annotators, links=links) for links in LINKS}
    return FrozenMap(
        {
            f"{links}.{distance}": alpha_from_counts(alike, distance=distance)
            for links, alike in units.items()
            for distance in DISTANCES
        }
    )


def weighted_mean(comparisons: Sequence[Comparison]) -> FrozenMap[str, float]:
    """Average every figure over the pairs of annotators.

    Each counts as much as it has sentence pairs that both annotated (METHOD section 5). A figure
    that is undefined for two annotators is left out of its mean, with its weight; the mean of none
    is NaN.

    Examples
    --------
    >>> weighted_mean([])
    FrozenMap({})
    """
    check_arguments(weighted_mean, locals())
    figures = [(comparison.pairs, comparison.figures()) for comparison in comparisons]
    names = dict.fromkeys(name for _, found in figures for name in found)
    means = {}
    for name in names:
        known = [(pairs, found.get(name, nan)) for pairs, found in figures]
        known = [(pairs, value) for pairs, value in known if not isnan(value)]
        weight = sum(pairs for pairs, _ in known)
        means[name] = sum(pairs * value for pairs, value in known) / weight if weight else nan
    return FrozenMap(means)


def _aligned_twice(alignments: Mapping[str, object], names: Sequence[str]) -> bool:
    return sum(name in alignments for name in names) > 1
