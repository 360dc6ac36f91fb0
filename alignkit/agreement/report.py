"""Report how far the annotators of a corpus agree, over all of it and by groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan

from alignkit.agreement.comparison import Comparison, all_alphas, compare, weighted_mean
from alignkit.agreement.fleiss import FleissKappa, fleiss_kappa
from alignkit.agreement.jsonable import jsonable, nested
from alignkit.agreement.krippendorff import KrippendorffAlpha
from alignkit.agreement.shared import check_annotators
from alignkit.arguments import check_arguments
from alignkit.corpus import Corpus
from alignkit.frozen import FrozenMap
from alignkit.scoring.signature import Signature

__all__ = ["AgreementReport", "AgreementSection", "agreement_report"]


@dataclass(frozen=True)
class AgreementSection:
    """Hold the agreement over one group of sentence pairs, or over all.

    Parameters
    ----------
    name
        The group; ``"all"`` for the whole corpus.
    pairs
        How many sentence pairs there are.
    used
        How many of them two annotators or more annotated.
    left_out
        For each reason how many of the pairs are left out of what needs all annotators.
    comparisons
        Every pair of annotators; in a group, of those who annotated something there.
    mean
        The mean of every figure of the comparisons, see `weighted_mean`.
    fleiss
        Fleiss' kappa over the pairs that all annotated; None where words are not known, or where
        an annotator did nothing in the group.
    alpha
        Krippendorff's alpha over all annotators, as in `Comparison`.
    """

    name: str
    pairs: int
    used: int
    left_out: FrozenMap[str, int]
    comparisons: tuple[Comparison, ...]
    mean: FrozenMap[str, float]
    fleiss: FleissKappa | None
    alpha: FrozenMap[str, KrippendorffAlpha]

    def to_json(self) -> dict[str, object]:
        """Return the section as JSON takes it; NaN is None."""
        return {
            "fleiss_kappa": jsonable(self.fleiss.kappa if self.fleiss else nan),
            "pairs": {
                "all": self.pairs,
                "used": self.used,
                "left_out": jsonable(self.left_out),
            },
            "fleiss": jsonable(self.fleiss),
            "alpha": jsonable(nested(self.alpha)),
            "mean": jsonable(nested(self.mean)),
            "comparisons": [_comparison_json(one) for one in self.comparisons],
        }


@dataclass(frozen=True)
class AgreementReport:
    """Hold the agreement of two or more annotators.

    Parameters
    ----------
    annotators
        Who is compared.
    include_identical
        Whether identical items take part in precision, recall and F1.
    by
        The attribute that makes the groups; None without groups.
    overall
        The agreement over the whole corpus.
    groups
        The agreement over each group, in the order of first use.
    signature
        The settings.
    """

    annotators: tuple[str, ...]
    include_identical: bool
    by: str | None
    overall: AgreementSection
    groups: tuple[AgreementSection, ...]
    signature: str

    def to_json(self) -> dict[str, object]:
        """Return the report as JSON takes it; NaN is None.

        The numbers over the whole corpus are at the top level, `fleiss_kappa` among them; those
        of the groups are under ``groups``, by name.
        """
        return {
            "annotators": list(self.annotators),
            "include_identical": self.include_identical,
            **self.overall.to_json(),
            "by": self.by,
            "groups": {section.name: section.to_json() for section in self.groups},
            "signature": self.signature,
        }


def agreement_report(
    corpus: Corpus,
    annotators: Sequence[str] | None = None,
    *,
    by: str | None = None,
    include_identical: bool = False,
) -> AgreementReport:
    """Compute all statistics of agreement, for every pair of annotators and for all together.

    Parameters
    ----------
    corpus
        The pairs. Where their words are not known there is the overlap alone, and that only if
        identical items are included.
    annotators
        Two or more names; None takes all of the corpus.
    by
        An attribute of the pairs: report each of its values as well.
    include_identical
        Whether identical items take part in precision, recall and F1. Kappa, AC1 and alpha are
        over all links in either case (METHOD section 5b).

    Raises
    ------
    OptionError, UnknownNameError
        If the annotators cannot be compared, or no pair has the attribute.
    MissingTextError
        If identical items are to be left out and words are not known.

    Examples
    --------
    >>> from alignkit.alignment import Alignment
    >>> from alignkit.corpus import SentencePair
    >>> pair = SentencePair("1", ("he", "left"), ("he", "went", "away"), {
    ...     "A": Alignment.parse("0-0 1-1 1-2"), "B": Alignment.parse("0-0 1-1")})
    >>> report = agreement_report(Corpus([pair]))
    >>> report.overall.comparisons[0].overlap.words_sure.recall
    1.0
    >>> round(report.to_json()["fleiss_kappa"], 4)
    0.6
    """
    check_arguments(agreement_report, locals(), apart=["annotators"])
    names = check_annotators(corpus, annotators)
    groups = {} if by is None else corpus.groups(by)
    signature = Signature(
        identical="kept" if include_identical else "left-out",
        case=None if include_identical else "folded",
        level="agreement",
        phrases="tight",
    )
    return AgreementReport(
        names,
        include_identical,
        by,
        _section("all", corpus, names, include_identical),
        tuple(_section(name, group, names, include_identical) for name, group in groups.items()),
        str(signature),
    )


def _section(
    name: str, corpus: Corpus, names: tuple[str, ...], include_identical: bool
) -> AgreementSection:
    present = tuple(one for one in names if one in corpus.aligners)
    comparisons = tuple(
        compare(corpus, first, second, include_identical=include_identical)
        for first, second in combinations(present, 2)
    )
    done = [sum(pair.aligned_by(one) for one in names) for pair in corpus]
    missing = Counter(
        ", ".join(one for one in names if not pair.aligned_by(one)) for pair in corpus
    )
    shared = corpus.annotated_by(*present) if present == names else Corpus()
    known = present == names and all(pair.has_text for pair in shared)
    return AgreementSection(
        name,
        len(corpus),
        sum(number > 1 for number in done),
        FrozenMap({f"not annotated by {who}": n for who, n in missing.items() if who}),
        comparisons,
        weighted_mean(comparisons),
        fleiss_kappa(corpus, names) if known else None,
        _joint_alpha(corpus, present, comparisons),
    )


def _joint_alpha(
    corpus: Corpus, present: tuple[str, ...], comparisons: tuple[Comparison, ...]
) -> FrozenMap[str, KrippendorffAlpha]:
    if len(comparisons) == 1:
        return comparisons[0].alpha
    return all_alphas(corpus, present) if comparisons else FrozenMap()


def _comparison_json(comparison: Comparison) -> dict[str, object]:
    return {
        "annotators": list(comparison.annotators),
        "pairs": comparison.pairs,
        **{name: jsonable(part) for name, part in nested(comparison.overlap.rows()).items()},
        "cells": jsonable(comparison.cells),
        "alpha": jsonable(nested(comparison.alpha)),
    }
