"""Measure the quality of a crowd: gold questions, agreement, what to judge again, good phrases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan, nan

import numpy as np

from alignkit._support.arguments import check_arguments, words
from alignkit.agreement.cautions import tell
from alignkit.agreement.crowd_result import (
    CAUTIONS,
    DOUBT,
    AnnotatorQuality,
    CrowdQuality,
    GoodPhrase,
    SuspectGold,
)
from alignkit.agreement.judgments.consensus import (
    GOOD_IN,
    GoldVerdict,
    Labels,
    answer_gold,
    good_items,
    judge_again,
    majority_labels,
    others_label,
    rejection_chance,
    suspicious_gold,
)
from alignkit.agreement.judgments.question import judges
from alignkit.agreement.judgments.tables import LabelTables, apart, kappas
from alignkit.corpora.labelled import judged_part, judgments_of
from alignkit.errors import OptionError, UnknownNameError
from alignkit.model.corpus import Corpus, group_texts
from alignkit.model.labels import Scheme, View, get_view
from alignkit.stats.resampling import check_confidence

BY = ("others", "consensus")
"""By which kappa pairs are judged again: against the majority of the others, or of all."""


def crowd_quality(
    corpus: Corpus,
    annotators: Sequence[str] | None = None,
    *,
    gold: str,
    scheme: Scheme | str,
    view: str = "full",
    sequential: bool = False,
    by: str = "others",
    over: str | None = None,
    good: Sequence[str] | None = None,
    good_in: str = "any",
    confidence: float = 0.95,
    lenient: bool = False,
    rewrites: bool = False,
) -> CrowdQuality:
    """Measure how well annotators judge pairs, and list what is to be judged again by whom.

    Parameters
    ----------
    annotators
        The crowd; None for all who judged but the gold.
    gold
        Whose judgments are right: pairs with one are gold questions.
    sequential
        Look at gold questions one by one from the tenth on, as a running project does, in the order
        of their times, or, where one has none, of the corpus; instead of once over all.
    by
        Whose kappa is below .4, the pairs of that annotator are judged again: kappa against the
        majority of the ``"others"``, or against the ``"consensus"``, which contains the annotator.
    over
        An attribute that names the phrase of which a pair is a context; None for no phrases.
    good
        The labels that say that a pair is good; None takes what the view ``binary`` calls 1.
    good_in
        A phrase is good that is good in ``"any"``, the ``"majority"`` or ``"all"`` of its contexts.
    lenient
        Leave out what is no judgment of the scheme, where an error would stop.
    rewrites
        Count rewrites too, which nobody judged; see `alignkit.model.sentence_pair`.

    Raises
    ------
    OptionError
        If there are fewer than two annotators, or nothing says which labels are good.

    Notes
    -----
    Everything is computed once: who is rejected is still part of the majorities that kappas are
    taken against, but judges nothing again, and does not count for good phrases.

    References
    ----------
    Pavlick, Rastogi, Ganitkevitch, Van Durme & Callison-Burch 2015, PPDB 2.0, ACL, supplement on
    crowd annotation. He, Wang, Zhang, Huang & Caverlee 2020, PARADE, EMNLP.
    """
    check_arguments(crowd_quality, locals(), apart=["annotators", "good"])
    check_confidence(confidence)
    for name, known, what in ((by, BY, "kappa"), (good_in, GOOD_IN, "number of contexts")):
        if name not in known:
            raise UnknownNameError(what, name, known)
    if over is None and good is not None:
        raise OptionError("`good` is about phrases: name the attribute that names them by `over`")
    corpus, left_out, notes = judged_part(corpus, rewrites=rewrites)
    names = judges(corpus, annotators, gold)
    looked = get_view(scheme, view)
    matrix = judgments_of(corpus, (*names, gold), looked, lenient=lenient)
    values, right = matrix.values[:-1], matrix.values[-1]
    timed, verdicts = _verdicts(corpus, names, gold, values, right, sequential, confidence)
    majority, others = _kappas(values, len(looked.labels))
    each = tuple(
        AnnotatorQuality(
            name, int((row >= 0).sum()), verdict, first, second,
            rejection_chance(verdict.judged, len(looked.labels), sequential=sequential),
            len(np.unique(row[row >= 0])),
        )
        for name, row, verdict, first, second in zip(
            names, values, verdicts, majority, others, strict=True
        )
    )  # fmt: skip
    kept = [one.verdict != "reject" for one in verdicts]
    phrases = (
        () if over is None else _phrases(corpus, names, looked, kept, over, good, good_in, lenient)
    )
    found = CrowdQuality(
        looked.scheme.name, looked.name, len(looked.labels), gold, len(corpus), sequential, timed,
        by, each, _again(corpus, names, values, kept, majority if by == "consensus" else others),
        _suspicious(corpus, looked, values, right, verdicts), over, good_in, phrases, (),
        {label: int((right == k).sum()) for k, label in enumerate(looked.labels)}, left_out, notes,
    )  # fmt: skip
    return replace(found, told=tell(found, CAUTIONS, found))


def _verdicts(
    corpus: Corpus,
    names: Sequence[str],
    gold: str,
    values: Labels,
    right: Labels,
    sequential: bool,
    confidence: float,
) -> tuple[bool, tuple[GoldVerdict, ...]]:
    if not (right >= 0).any():
        raise OptionError(f"{gold!r} gives no pair a label that is scored: there is no gold")
    timed, found = True, []
    for name, row in zip(names, values, strict=True):
        asked = np.flatnonzero((row >= 0) & (right >= 0)).tolist()
        times = [corpus[p].annotations[name].when for p in asked]
        if all(times):
            asked = [p for _, p in sorted(zip(map(str, times), asked, strict=True))]
        else:
            timed = False
        (one,) = answer_gold(
            row[np.newaxis, asked], right[asked], sequential=sequential, confidence=confidence
        )
        doubt = one.verdict == "keep" and one.right <= one.commonest < one.judged
        found.append(replace(one, verdict=DOUBT) if doubt else one)
    return timed, tuple(found)


def _kappas(values: Labels, size: int) -> tuple[list[float], list[float]]:
    if len(values) < 3:
        return [nan] * len(values), _of([(values[0], values[1])] * 2, size)
    settled = majority_labels(values, size).labels
    others = [others_label(values, size, k)[0] for k in range(len(values))]
    return (
        _of([(row, settled) for row in values], size),
        _of(list(zip(values, others, strict=True)), size),
    )


def _of(couples: list[tuple[Labels, Labels]], size: int) -> list[float]:
    found: list[float] = kappas(LabelTables.of(couples, size).total(), apart(size)).tolist()
    return found


def _again(
    corpus: Corpus,
    names: Sequence[str],
    values: Labels,
    kept: Sequence[bool],
    found: Sequence[float],
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the ids of pairs with who is to judge them again; nobody who is rejected."""
    usable = [
        nan if not one and not isnan(kappa) and kappa > 0.75 else kappa
        for one, kappa in zip(kept, found, strict=True)
    ]
    chosen = judge_again(values, usable)
    return tuple((corpus.ids[p], tuple(names[k] for k in who)) for p, who in chosen.items())


def _suspicious(
    corpus: Corpus, view: View, values: Labels, right: Labels, verdicts: tuple[GoldVerdict, ...]
) -> tuple[SuspectGold, ...]:
    found = []
    kept = values[[one.verdict != "reject" for one in verdicts]]
    for p in suspicious_gold(values, right, verdicts):
        given = kept[kept[:, p] >= 0, p]
        counts = np.bincount(given, minlength=len(view.labels))
        label = view.labels[int(right[p])]
        against = int((given != right[p]).sum())
        top = np.flatnonzero(counts == counts.max())
        instead = ", ".join(view.labels[k] for k in top)
        found.append(SuspectGold(corpus.ids[p], label, against, len(given), instead))
    return tuple(found)


def _phrases(
    corpus: Corpus,
    names: Sequence[str],
    view: View,
    kept: Sequence[bool],
    over: str,
    good: Sequence[str] | None,
    good_in: str,
    lenient: bool,
) -> tuple[GoodPhrase, ...]:
    if good is None:
        if "binary" not in view.scheme.views:
            raise OptionError(
                f"no view of {view.scheme.name} says which labels are good: name them by `good`"
            )
        view, good = get_view(view.scheme, "binary"), ["1"]
    chosen = words("good", good)
    for label in chosen:
        if label not in view.labels:
            raise UnknownNameError(f"label of {view.name}", label, view.labels)
    values = judgments_of(corpus, names, view, lenient=lenient).values
    items = good_items(values, [view.labels.index(label) for label in chosen], kept)
    contexts: dict[str, list[int]] = {}
    for phrase, one in zip(group_texts(corpus, over, names), items.tolist(), strict=True):
        if phrase:
            contexts.setdefault(phrase, []).append(one)
    return tuple(
        GoodPhrase.of(phrase, [one for one in these if one >= 0], good_in)
        for phrase, these in contexts.items()
    )
