"""Measure the quality of a crowd: gold questions, agreement, pairs to judge again, good phrases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from typing import NamedTuple

import numpy as np

from alignkit._support.arguments import check_kind, check_known, words
from alignkit._support.options import takes
from alignkit._support.wording import how_many
from alignkit.agreement.crowd_result import AnnotatorQuality, CrowdQuality, GoodPhrase, SuspectGold
from alignkit.agreement.hits import Hit, Hits, find_cautions
from alignkit.agreement.judges import LEAST_JUDGES, Judges, fit_judges
from alignkit.agreement.judgments import consensus, question
from alignkit.agreement.judgments.consensus import DOUBT, Labels
from alignkit.agreement.judgments.options import QualityOptions
from alignkit.agreement.judgments.tables import LabelTables, label_distances
from alignkit.agreement.kappa import weighted_kappas
from alignkit.corpora.labelled import judged_part, judgments_of
from alignkit.errors import OptionError
from alignkit.model.annotation import Annotation
from alignkit.model.corpus import Corpus, group_texts
from alignkit.model.labels import View, get_view
from alignkit.tables.columns import Value

MODEL = "model"
"""The annotator who gives the labels of the model of judges."""


@takes(QualityOptions)
def crowd_quality(corpus: Corpus, options: QualityOptions) -> CrowdQuality:
    """Measure how well annotators judge pairs, and list which pairs to judge again, by whom.

    Parameters
    ----------
    corpus : The judged pairs. Rewrites, which nobody judged, are left out unless asked for.
    options : The fields of `QualityOptions`.

    Raises
    ------
    OptionError : If there are fewer than two annotators, no label is known as good, or `after` < 1.

    Notes
    -----
    Everything is computed once: rejected annotators are still part of the majorities that kappas
    compare with. But they judge nothing again, and do not count for good phrases.

    References
    ----------
    Pavlick, Rastogi, Ganitkevitch, Van Durme & Callison-Burch 2015, PPDB 2.0, ACL, supplement on
    crowd annotation. He, Wang, Zhang, Huang & Caverlee 2020, PARADE, EMNLP.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> texts = [f"text {k}" for k in range(12)]
    >>> right = ["0", "1"] * 6
    >>> judged = {"key": right, "ann": right, "ben": ["1", "1"] * 6}
    >>> corpus = Corpus.from_texts(texts, texts, judgments=judged)
    >>> quality = crowd_quality(corpus, ["ann", "ben"], scheme="binary", gold="key")
    >>> [(each.name, each.gold.right, each.gold.judged) for each in quality.annotators]
    [('ann', 12, 12), ('ben', 6, 12)]
    """
    check_kind("corpus", corpus, Corpus)
    gold = options.gold
    lenient = options.lenient_labels
    corpus, left_out, notes = judged_part(corpus, rewrites=options.rewrites)
    names, aside = question.judges(corpus, options.annotators, gold)
    notes += tuple(f"{how_many(n, 'judgment')} {who} left out" for who, n in aside.items())
    view = get_view(options.scheme, options.view)
    matrix = judgments_of(corpus, (*names, gold), view, lenient_labels=lenient)
    values = matrix.values[:-1]
    right = matrix.values[-1]
    size = len(view.labels)
    if not (right >= 0).any():
        raise OptionError(f"{gold!r} gave no pair a scored label, so there are no gold questions")
    people, all_timed = _people(corpus, names, values, right, size, options)
    kept = [person.gold.verdict != "reject" for person in people]
    if options.compared == "others":
        kappas = [person.others for person in people]
    else:
        kappas = [person.consensus for person in people]
    # rejected annotators judge nothing again, but what they judged is judged again
    by_pair = consensus.judge_again(values, kappas, may_judge=kept)
    pairs = list(by_pair)  # the numbers of the pairs to judge again
    fitted = None
    settled = None
    if options.model:
        fitted = fit_judges(values, size, right, confidence=options.confidence)
        settled = _settled(corpus, view, values, fitted)
        certainty = fitted.posterior.max(axis=1)
        pairs.sort(key=lambda pair: float(certainty[pair]))
        people = _with_model(people, fitted)
    again = [(corpus.ids[pair], tuple(names[k] for k in by_pair[pair])) for pair in pairs]
    phrases: tuple[GoodPhrase, ...] = ()
    if options.over is not None:
        phrases = _phrases(corpus, names, view, kept, options)
    quality = CrowdQuality(
        options=options,
        labels=size,
        pairs=len(corpus),
        timed=all_timed,
        annotators=tuple(people),
        again=tuple(again),
        suspicious=tuple(_suspicious(corpus, view, values[kept], right)),
        phrases=phrases,
        asked={label: int((right == k).sum()) for k, label in enumerate(view.labels)},
        rewrites_left_out=left_out,
        notes=notes,
        judges=fitted,
        settled=settled,
    )
    return replace(quality, warnings=find_cautions(_hits(quality), CAUTIONS, options))


def _people(
    corpus: Corpus,
    names: Sequence[str],
    values: Labels,
    right: Labels,
    labels: int,
    options: QualityOptions,
) -> tuple[list[AnnotatorQuality], bool]:
    """Return the quality of each annotator, and whether all answers to gold questions have times.

    `values` are (A, P), `right` is (P,): the labels of the gold questions. There are two or more
    annotators.
    """
    people = []
    all_timed = True
    for name, given, kappas in zip(names, values, _kappas(values, labels), strict=True):
        answered = np.flatnonzero((given >= 0) & (right >= 0))
        order, timed = _in_order(corpus, name, answered.tolist())
        all_timed &= timed
        verdict = consensus.answer_gold(
            given[order],
            right[order],
            sequential=options.sequential,
            after=options.after,
            confidence=options.confidence,
        )
        power = consensus.rejection_chance(
            verdict.judged, labels, sequential=options.sequential, after=options.after
        )
        labels_given = given[given >= 0]
        person = AnnotatorQuality(
            name=name,
            judged=len(labels_given),
            gold=_in_doubt(verdict),
            consensus=kappas.majority,
            others=kappas.others,
            power=power,
            used=len(np.unique(labels_given)),
        )
        people.append(person)
    return people, all_timed


def _in_doubt(verdict: consensus.GoldVerdict) -> consensus.GoldVerdict:
    """Return the verdict, in doubt if one label alone would have been right as often.

    Nobody is in doubt if all questions have the same right label: they cannot tell.
    """
    no_better = verdict.right <= verdict.commonest
    if verdict.verdict == "keep" and no_better and verdict.commonest < verdict.judged:
        return replace(verdict, verdict=DOUBT)
    return verdict


def _in_order(corpus: Corpus, name: str, pairs: list[int]) -> tuple[list[int], bool]:
    """Return pairs in the order in which an annotator judged them, and whether it is known."""
    times = [corpus[p].annotations[name].when for p in pairs]
    if not all(times):
        return pairs, False
    timed = sorted(zip(map(str, times), pairs, strict=True))
    return [p for _, p in timed], True


def _settled(corpus: Corpus, view: View, values: Labels, fitted: Judges) -> Corpus:
    """Return the pairs with the label of the model, if anybody judged them, and its probability."""
    if MODEL in corpus.annotators:
        raise OptionError(f"the corpus has an annotator {MODEL!r}; rename that one")
    pairs = list(corpus)
    for p in np.flatnonzero((values >= 0).any(axis=0)).tolist():
        k = int(fitted.posterior[p].argmax())
        probability = f"{fitted.posterior[p, k]:.4f}"
        attributes = {**pairs[p].attributes, "model.probability": probability}
        label = Annotation(None, judgment=view.labels[k], role="system")
        pairs[p] = replace(pairs[p], attributes=attributes).with_annotation(MODEL, label)
    return Corpus(pairs)


def _with_model(people: Sequence[AnnotatorQuality], fitted: Judges) -> list[AnnotatorQuality]:
    """Return the annotators with their probability of a right label by the model."""
    completed = []
    for person, right, interval in zip(people, fitted.right, fitted.interval, strict=True):
        low, high = interval.tolist()
        reason = "the judgments say too little about the interval" if isnan(low) else ""
        completed.append(replace(person, model=Value(float(right), low, high, reason)))
    return completed


class _Kappas(NamedTuple):
    """The kappas of an annotator: against the majority, and against that of the others."""

    majority: float
    others: float


def _kappas(values: Labels, size: int) -> list[_Kappas]:
    """Return the kappas of each annotator; of two, each is the majority of the others."""

    def kappas_with(references: Sequence[Labels]) -> list[float]:
        """Return the kappa of each annotator with a reference of their own."""
        tables = LabelTables.of(list(zip(values, references, strict=True)), size).total()
        kappas: list[float] = weighted_kappas(tables, label_distances(size)).tolist()
        return kappas

    if len(values) == 2:
        first, second = values
        with_majority = [nan, nan]
        with_others = kappas_with([second, first])
    else:
        majority = consensus.majority_labels(values, size).labels
        with_majority = kappas_with([majority] * len(values))
        others = [consensus.others_label(values, size, k)[0] for k in range(len(values))]
        with_others = kappas_with(others)
    return list(map(_Kappas, with_majority, with_others))


def _suspicious(corpus: Corpus, view: View, kept: Labels, right: Labels) -> Iterator[SuspectGold]:
    """Yield the gold questions that most of the kept annotators answer differently."""
    for p in np.flatnonzero(right >= 0).tolist():
        given = kept[kept[:, p] >= 0, p]
        label = view.labels[int(right[p])]
        against = int((given != right[p]).sum())
        if 2 * against > len(given):
            counts = np.bincount(given, minlength=len(view.labels))
            instead = ", ".join(view.labels[k] for k in np.flatnonzero(counts == counts.max()))
            yield SuspectGold(corpus.ids[p], label, against, len(given), instead)


def _good_labels(view: View, good: Sequence[str] | None) -> tuple[View, list[int]]:
    """Return a view, and its labels that make a pair good."""
    if good is None:
        if "binary" not in view.scheme.views:
            raise OptionError(
                f"no view of {view.scheme.name} says which labels are good: name them with `good`"
            )
        view = get_view(view.scheme, "binary")
        good = ["1"]
    chosen = words("good", good)
    for label in chosen:
        check_known(f"label of {view.name}", label, view.labels)
    return view, [view.labels.index(label) for label in chosen]


def _phrases(
    corpus: Corpus,
    names: Sequence[str],
    view: View,
    kept: Sequence[bool],
    options: QualityOptions,
) -> tuple[GoodPhrase, ...]:
    """Return each phrase with its contexts; `kept` says whose judgments count."""
    view, good_labels = _good_labels(view, options.good)
    values = judgments_of(corpus, names, view, lenient_labels=options.lenient_labels).values
    of_kept = values[np.asarray(kept, np.bool_)]
    judged = (of_kept >= 0).sum(axis=0)
    votes = np.isin(of_kept, good_labels).sum(axis=0)
    phrase_of_pair = group_texts(corpus, str(options.over), names)
    contexts: dict[str, list[bool]] = {}  # of each phrase, if somebody judged: whether it is good
    for phrase, n, good in zip(phrase_of_pair, judged, votes, strict=True):
        if phrase:
            of_phrase = contexts.setdefault(phrase, [])
            if n:
                of_phrase.append(bool(2 * good > n))
    phrases = []
    for phrase, is_good in contexts.items():
        enough = {
            "any": any(is_good),
            "all": all(is_good),
            "majority": 2 * sum(is_good) > len(is_good),
        }
        if not is_good:
            verdict = "not judged"
        elif enough[options.good_in]:
            verdict = "good"
        else:
            verdict = "not good"
        phrases.append(GoodPhrase(phrase, len(is_good), sum(is_good), verdict))
    return tuple(phrases)


# cautions
_POWER = 0.8  # if the chance of rejecting a guesser is below this, gold questions prove little


def _hits(quality: CrowdQuality) -> Hits:
    """Yield what triggers a caution of `CAUTIONS`."""
    for person in quality.annotators:
        gold = person.gold
        kappa = person.others if quality.options.compared == "others" else person.consensus
        if gold.judged < quality.options.after:
            text = f"{gold.judged} of the {quality.options.after} that are needed"
            yield "few-gold", Hit(person.name, text=text, size=-gold.judged)
        elif person.power < _POWER:
            text = f"{person.power:.5f} (of {gold.judged})"
            yield "weak-gold", Hit(person.name, text=text, size=-person.power)
        if gold.verdict == DOUBT:
            text = f"{gold.right} of {gold.judged} right"
            yield "in-doubt", Hit(person.name, text=text, size=-person.judged)
        if person.used == 1:
            yield "one-label", Hit(person.name, "", str(person.judged), person.judged)
        if isnan(kappa):
            yield "unknown-kappa", Hit(person.name)
    if quality.judges is not None:
        yield "hard-items", Hit()
        if len(quality.annotators) == LEAST_JUDGES and quality.labels == 2:
            yield "untestable", Hit()
    if quality.options.compared == "consensus":
        yield "contains", Hit()
    if quality.options.sequential and not quality.timed:
        yield "untimed", Hit()
    rejected = sum(person.gold.verdict == "reject" for person in quality.annotators)
    if rejected:
        yield "rejected", Hit(text=f"{rejected} of {len(quality.annotators)}")
    nobody = sum(not who for _, who in quality.again)
    if nobody:
        yield "nobody", Hit(text=f"{nobody} of {len(quality.again)}")


CAUTIONS: Mapping[str, tuple[str, str]] = {
    "few-gold": (
        "too few gold questions judged ({number}): they cannot reject this annotator",
        "ask more before you use these judgments",
    ),
    "in-doubt": (
        "no better on the gold questions ({number}) than always giving their most common label",
        "check these judgments before use, and ask more gold questions with other labels",
    ),
    "one-label": (
        "gave the same label to all pairs ({number}): kappa measures nothing then",
        "compare the accuracy on gold questions with that of always giving one label",
    ),
    "weak-gold": (
        "the gold questions would reject somebody who guesses with a probability of only {number}",
        "ask more gold questions, check after each (sequential), or use a view with more labels",
    ),
    "hard-items": (
        "the model is too sure where pairs are hard for everybody",
        "do not let it replace gold questions",
    ),
    "untestable": (
        "with three annotators and two labels, nothing can show that the model is wrong",
        "ask gold questions, or more annotators",
    ),
    "contains": (
        "the consensus contains the annotator: one of three annotators who guesses between two "
        "labels gets a kappa near .5 - k / 2 (k: the kappa of the other two), perhaps above .4",
        "use the kappa against the others (the default)",
    ),
    "untimed": (
        "some answers have no time, so gold questions are checked in the order of the corpus",
        "use judgments with times, as projects export them",
    ),
    "rejected": (
        "{number} annotators are rejected, but still part of the majorities that kappas compare "
        "with; everything is computed once",
        "to exclude them, leave them out of the annotators and compute again",
    ),
    "nobody": (
        "no annotator above .75 is left to judge {number} pairs again",
        "find new annotators for them",
    ),
    "unknown-kappa": (
        "the kappa is undefined, so these pairs are not judged again",
        "have more pairs judged by several annotators",
    ),
}
"""Every caution about a crowd, in order."""
