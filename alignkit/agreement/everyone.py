"""Compare more than two annotators beyond chance: with each other, and with what is agreed on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import isnan, nan
from typing import Any

import numpy as np

from alignkit.agreement.comparison import Comparison, compare
from alignkit.agreement.corrected import agreement, choose_seed
from alignkit.agreement.corrected_result import CorrectedAgreement, CorrectedSection
from alignkit.agreement.jsonable import jsonable
from alignkit.agreement.monte_carlo import Progress
from alignkit.agreement.shared import check_annotators
from alignkit.alignment import Alignment, Link
from alignkit.arguments import check_arguments
from alignkit.corpus import Corpus, SentencePair
from alignkit.errors import OptionError
from alignkit.frozen import FrozenMap

__all__ = [
    "ADJUDICATED_WARNING",
    "Everyone",
    "everyone",
    "majority",
    "mean_agreement",
    "parts",
    "with_majorities",
]

_WHOLE = 1000

ADJUDICATED_WARNING = (
    "the adjudicated version was made from these annotations, so agreement with it is inflated: "
    "it says whose decisions prevailed, not how reliable they are"
)


@dataclass(frozen=True, eq=False)
class Everyone:
    """Hold the agreement beyond chance of two or more annotators.

    Parameters
    ----------
    annotators
        Who is compared.
    pairs
        Every two of them.
    comparisons
        What the other statistics (F1, kappa, AC1, alpha) say of the same two.
    mean
        pi, pi0 and C over `pairs`, see `mean_agreement`.
    adjudicated
        Each annotator with the adjudicated version; empty if none is named.
    consensus
        Each annotator with the majority of all others, see `majority`; empty if there are fewer
        than three, or no sentence pair that all others annotated.
    warnings
        What has to be said beside the numbers.
    """

    annotators: tuple[str, ...]
    pairs: tuple[CorrectedAgreement, ...]
    comparisons: tuple[Comparison, ...]
    mean: FrozenMap[str, float]
    adjudicated: tuple[CorrectedAgreement, ...]
    consensus: tuple[CorrectedAgreement, ...]
    warnings: tuple[str, ...]

    def figures(self) -> list[dict[str, float]]:
        """Return for every two annotators all statistics side by side, by name."""
        return [
            {"pi": one.pi, "pi0": one.pi0, "C": one.C, **other.figures()}
            for one, other in zip(self.pairs, self.comparisons, strict=True)
        ]

    def to_json(self) -> dict[str, object]:
        """Return everything as JSON takes it; NaN is None."""
        return {
            "annotators": list(self.annotators),
            "mean": jsonable(self.mean),
            "pairs": [
                {**one.to_json(), "figures": jsonable(figures)}
                for one, figures in zip(self.pairs, self.figures(), strict=True)
            ],
            "adjudicated": [one.to_json() for one in self.adjudicated],
            "consensus": [one.to_json() for one in self.consensus],
            "warnings": list(self.warnings),
        }


def everyone(
    corpus: Corpus,
    annotators: Sequence[str] | None = None,
    *,
    adjudicated: str | None = None,
    consensus: bool = True,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Everyone:
    """Measure the agreement beyond chance of every two annotators, and of each with what is agreed.

    Parameters
    ----------
    corpus
        The sentence pairs, with their words.
    annotators
        Two or more names; None takes all of the corpus but `initial` and `adjudicated`.
    adjudicated
        The name of the version that was settled on: each annotator is compared with it as well.
    consensus
        Whether each annotator is compared with the majority of the others, where there are three
        or more annotators.
    rng
        A generator or its seed; every comparison has the same seed, that of its signature.
    progress
        Is told how much of the sampling of all comparisons is done, and of how much.
    **options
        As in `agreement`.

    Raises
    ------
    OptionError, UnknownNameError, MissingTextError
        As `agreement`.

    Examples
    --------
    >>> texts = ("he", "left", "early"), ("she", "went", "away", "soon")
    >>> pair = SentencePair("1", *texts, {
    ...     "initial": Alignment.parse("0-0"), "A": Alignment.parse("0-0 1-1 2-3"),
    ...     "B": Alignment.parse("0-0 1-1"), "C": Alignment.parse("0-0 1-1 1-2 2-3")})
    >>> found = everyone(Corpus([pair]), initial="initial", rng=1)
    >>> [one.annotators for one in found.pairs], round(found.mean["pi"], 3)
    ([('A', 'B'), ('A', 'C'), ('B', 'C')], 0.722)
    >>> [one.pi for one in found.consensus]
    [1.0, 1.0, 0.5]
    """
    check_arguments(everyone, locals(), apart=["annotators"])
    if annotators is None:
        aside = (options.get("initial"), adjudicated)
        annotators = [name for name in corpus.aligners if name not in aside]
    names = check_annotators(corpus, annotators)
    if adjudicated in names:
        raise OptionError(
            f"{adjudicated!r} is the adjudicated version; do not name it among the annotators"
        )
    options["rng"] = choose_seed(rng)
    twos = list(combinations(names, 2))
    with_others = consensus and len(names) > 2
    total = len(twos) + len(names) * ((adjudicated is not None) + with_others)
    stages = parts(progress, total)
    pairs = tuple(agreement(corpus, *two, progress=next(stages), **options) for two in twos)
    kept = bool(options.get("include_identical", False))
    settled: tuple[CorrectedAgreement, ...] = ()
    if adjudicated is not None:
        settled = tuple(
            agreement(corpus, name, adjudicated, progress=next(stages), **options) for name in names
        )
    others: tuple[CorrectedAgreement, ...] = ()
    if with_others:
        voted, labels = with_majorities(corpus, names)
        others = tuple(
            agreement(voted, *two, progress=next(stages), **options) for two in labels.items()
        )
    return Everyone(
        names,
        pairs,
        tuple(compare(corpus, *two, include_identical=kept) for two in twos),
        mean_agreement(pairs),
        settled,
        others,
        (ADJUDICATED_WARNING,) if settled else (),
    )


def parts(progress: Progress | None, count: int) -> Iterator[Progress | None]:
    """Yield, for each of some equal parts of the work, what tells `progress` of the whole."""
    for number in range(count):
        yield None if progress is None else partial(_tell, progress, number, count)


def _tell(progress: Progress, number: int, count: int, done: int, total: int) -> None:
    progress(_WHOLE * number + _WHOLE * done // max(total, 1), _WHOLE * count)


def mean_agreement(pairs: Sequence[CorrectedSection]) -> FrozenMap[str, float]:
    """Average pi, pi0 and C, each two annotators weighted by the sentence pairs that they used.

    What is undefined for two annotators is left out of its mean, with its weight; the mean of none
    is NaN.
    """
    means = {}
    for name in ("pi", "pi0", "C"):
        known = [(one.used, getattr(one, name)) for one in pairs]
        known = [(used, value) for used, value in known if not isnan(value)]
        weight = sum(used for used, _ in known)
        means[name] = sum(used * value for used, value in known) / weight if weight else nan
    return FrozenMap(means)


def majority(alignments: Sequence[Alignment]) -> Alignment:
    """Return what more than half have: sure what is sure in them, possible what is linked in them.

    Examples
    --------
    >>> majority([Alignment.parse("0-0 1-1"), Alignment.parse("0-0 1?1"), Alignment.parse("0-0")])
    Alignment('0-0 1?1')
    """

    def most(sides: Sequence[frozenset[Link]]) -> set[Link]:
        every = frozenset[Link]().union(*sides)
        return {link for link in every if 2 * sum(link in side for side in sides) > len(sides)}

    return Alignment(
        most([one.sure for one in alignments]), most([one.possible for one in alignments])
    )


def with_majorities(corpus: Corpus, names: Sequence[str]) -> tuple[Corpus, dict[str, str]]:
    """Add for each annotator the `majority` of the others, where all others annotated.

    Returns
    -------
    Corpus
        With annotations ``majority without NAME``.
    dict
        The name of that annotation for each annotator for whom there is one.
    """
    labels = {}
    for name in names:
        others = [one for one in names if one != name]
        label = f"majority without {name}"

        def settle(
            pair: SentencePair, others: Sequence[str] = others, label: str = label
        ) -> SentencePair:
            if not pair.aligned_by(*others):
                return pair
            return pair.with_annotation(label, majority([pair.alignment(one) for one in others]))

        corpus = corpus.map(settle)
        if label in corpus.aligners:
            labels[name] = label
    return corpus, labels
