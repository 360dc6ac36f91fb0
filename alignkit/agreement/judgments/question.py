"""Measure how far annotators agree on judgments of pairs, and find cautions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan

import numpy as np

from alignkit._support.arguments import check_kind, check_known, words
from alignkit._support.options import takes
from alignkit._support.values import FrozenMap
from alignkit._support.wording import brief
from alignkit.agreement.cautions import FEW_F1
from alignkit.agreement.figures import Figure
from alignkit.agreement.hits import Hit, Hits, find_cautions
from alignkit.agreement.judgments import consensus
from alignkit.agreement.judgments.coefficients import LabelsOfView, coefficient_table
from alignkit.agreement.judgments.disagreements import JudgmentDisagreements
from alignkit.agreement.judgments.figures import view_figures
from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.agreement.judgments.permutations import NullKappas, null_kappas
from alignkit.agreement.judgments.ranks import kendall_w
from alignkit.agreement.judgments.result import JudgmentAgreement
from alignkit.agreement.judgments.tables import ViewData
from alignkit.agreement.pairs import CorpusPart, in_several, parts_of
from alignkit.corpora.labelled import (
    RANKS,
    UNKNOWN,
    judged_part,
    judges_of,
    judgments_of,
    rank_groups,
)
from alignkit.errors import OptionError, UnknownNameError
from alignkit.model.corpus import Corpus, compared_texts
from alignkit.model.labels import View, get_view
from alignkit.model.roles import ROLES
from alignkit.model.sentence_pair import SentencePair


@takes(JudgmentOptions)
def agree_on_judgments(corpus: Corpus, options: JudgmentOptions) -> JudgmentAgreement:
    """Measure how far annotators agree on judgments of whole pairs, with intervals.

    In each view of the scheme of the judgments: kappas of every two, alpha, AC1, Fleiss' kappa, and
    each annotator against the majority and an adjudicated version. The figures are defined in
    https://alignkit.github.io/alignkit/latest/agree/judgments.html

    Parameters
    ----------
    corpus : The sentence pairs, with judgments; rewrites by annotators are left out.
    options : The fields of `JudgmentOptions`.

    Returns
    -------
    JudgmentAgreement
        Printing it shows the tables of the command.

    Raises
    ------
    OptionError : If the annotators cannot be compared, or options contradict each other or are out
        of range.
    UnknownNameError : If a name judged nothing, or an option has an unknown value.
    FormatError : If a judgment is not in the scheme.

    Examples
    --------
    >>> from alignkit import read_corpus
    >>> corpus = read_corpus("samples/paraphrases.jsonl")
    >>> agreement = agree_on_judgments(corpus, ["anna", "ben"], scheme="paraphrase")
    >>> agreement.pairs, agreement.views
    (64, ('full', 'binary'))
    """
    check_kind("corpus", corpus, Corpus)
    corpus, rewrites, _ = judged_part(corpus, rewrites=False)
    settled = options.settled
    names, others = judges(corpus, options.annotators, settled)
    for name in options.groups or {}:
        check_known("annotator", name, names)
    whose = (*names, settled) if settled else names
    data = []
    left_out: dict[str, int] = {}
    for view in options.views:
        of_view, left_out = _view_data(corpus, names, view, options)
        data.append(of_view)
    left_out |= {f"{who}, not compared": n for who, n in others.items()}
    sections = parts_of(corpus, options, names)
    judged = [pair for pair in corpus if _is_judged(pair, names)]
    repeats = Counter(filter(None, map(compared_texts, judged)))
    every_figure: list[Figure] = []
    for part in sections:
        every_figure += _figures(data, part, options)
    labels = [LabelsOfView(view.name, names, view.values, len(view.labels)) for view in data]
    concordances = []
    if options.views[0].scheme.name == RANKS:
        full = judgments_of(corpus, names, get_view(RANKS, "full"), lenient_labels=True).values
        concordances = [kendall_w(full[:, group]) for group in rank_groups(corpus)]
    agreement = JudgmentAgreement(
        annotators=names,
        options=options,
        sections=tuple(part.name for part in sections),
        pairs=len(judged),
        repeated=sum(repeats.values()) - len(repeats),
        rewrites=rewrites,
        left_out=FrozenMap(left_out),
        shares=FrozenMap({view.name: _label_shares(view) for view in data}),
        all_figures=tuple(every_figure),
        disagreements=JudgmentDisagreements(corpus, data, whose),
        several=in_several(sections),
        unjudged=len(corpus) - len(judged),
        concordances=tuple(concordances),
        coefficients=coefficient_table(labels, options.weights),
    )
    return replace(agreement, cautions=find_cautions(_hits(agreement), CAUTIONS, options))


def _view_data(
    corpus: Corpus, names: tuple[str, ...], view: View, options: JudgmentOptions
) -> tuple[ViewData, dict[str, int]]:
    """Return the labels of annotators in a view, and how many judgments are left out, by reason."""
    settled = options.settled
    whose = (*names, settled) if settled else names
    matrix = judgments_of(corpus, whose, view, lenient_labels=options.lenient_labels)
    data = ViewData(
        name=view.name,
        annotators=names,
        labels=view.labels,
        values=matrix.values[: len(names)],
        ordered=view.order is not None,
        weights=options.weights,
        ties=options.ties,
        adjudicated=matrix.values[-1] if settled else None,
        groups=options.groups or {},
    )
    if options.ties == "error":  # raised for any tie
        consensus.majority_labels(data.values, len(view.labels), ties="error")
    return data, dict(matrix.left_out)


def _label_shares(view: ViewData) -> FrozenMap[str, float]:
    """Return the share of each label among the judgments of the annotators."""
    given = view.values[view.values >= 0]
    shares = np.bincount(given, minlength=len(view.labels)) / max(len(given), 1)
    return FrozenMap(zip(view.labels, shares.tolist(), strict=True))


def _is_judged(pair: SentencePair, names: Sequence[str]) -> bool:
    """Return whether any of the annotators judged a pair."""
    known = [pair.annotations[name] for name in names if name in pair.annotations]
    return any(annotation.judgment for annotation in known)


def judges(
    corpus: Corpus, annotators: Sequence[str] | None, settled: str | None
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the annotators to compare (named, or all people), and the counts of the others."""
    known = judges_of(corpus)
    roles = corpus.roles
    others = dict[str, int]()
    if settled is not None and settled not in known:
        raise UnknownNameError("annotator who judged pairs", settled, known)
    if annotators is None:
        names = tuple(name for name in known if name != settled)
        people = tuple(name for name in names if roles[name] == ROLES[0])
        if len(people) > 1:
            counts: Counter[str] = Counter()
            for pair in corpus:
                for name, annotation in pair.annotations.items():
                    counts[name] += bool(annotation.judgment)
            aside = [name for name in names if name not in people]
            others = {f"of {name} ({roles[name]})": counts[name] for name in aside}
            names = people
    else:
        names = tuple(dict.fromkeys(words("annotators", annotators)))
    if settled in names:
        raise OptionError(f"{settled!r} is the adjudicated version; remove it from the annotators")
    for name in names:
        check_known("annotator who judged pairs", name, known)
    if len(names) < 2:
        raise OptionError("agreement needs judgments of two or more annotators; merge their files")
    return names, others


def _figures(
    data: Sequence[ViewData], part: CorpusPart, options: JudgmentOptions
) -> Iterator[Figure]:
    """Yield the figures of all views in a part of the corpus, on the same permutations."""
    views = [view.part(part.members) for view in data]
    nulls: Sequence[NullKappas | None] = [None] * len(views)
    if views[0].has_majority:
        nulls = null_kappas(views, options)
    for view, null in zip(views, nulls, strict=True):
        yield from view_figures(view, null, options, part.name)


# cautions
MANY_TIED = 0.1  # above this share, items that a tie leaves out are cautioned
DOMINATES = 0.9  # from this share of all judgments on, one label leaves kappa little to agree on
MOST_GROUPS = 5  # so many groups are named, those with the fewest pairs


def _hits(agreement: JudgmentAgreement) -> Hits:
    """Yield what triggers a caution of `CAUTIONS`."""
    yield from _few(agreement)
    if agreement.repeated:
        yield "repeats", Hit(text=f"{agreement.repeated} of {agreement.pairs}")
    if agreement.rewrites:
        yield "rewrites", Hit(text=str(agreement.rewrites))
    for figure in agreement.all_figures:
        if figure.section == "all":
            yield from _figure_hits(agreement, figure)
    for view, shares in agreement.shares.items():
        label, share = max(shares.items(), key=lambda item: item[1], default=("", 0.0))
        if share >= DOMINATES:
            yield "one-label", Hit("", view, f"{label}: {100 * share:.1f}%", share)
    if agreement.options.settled is not None:
        yield "adjudicated", Hit(text=agreement.options.settled)
    unknown = agreement.left_out.get(UNKNOWN, 0)
    if unknown:
        yield "unknown-labels", Hit(text=str(unknown))


def _few(agreement: JudgmentAgreement) -> Hits:
    """Find couples with few items in the first view, and groups with such couples."""
    least: dict[str, int] = {}
    kappa = ("pairing", "kappa", f"judgments.{agreement.views[0]}")
    for figure in agreement.all_figures:
        at = (figure.kind, figure.statistic, figure.level)
        if at != kappa or figure.pairs >= FEW_F1:
            continue
        if figure.section == "all":
            who = f"{figure.first} ~ {figure.second}"
            place = "" if agreement.options.by is None else "all:"
            yield "few", Hit(who, place, str(figure.pairs), -figure.pairs)
        elif figure.pairs:  # where they share nothing there is no figure to beware of
            least[figure.section] = min(figure.pairs, least.get(figure.section, FEW_F1))
    named = sorted(least, key=least.__getitem__)
    for name in named[:MOST_GROUPS]:
        place = f"{brief(name) or f'no {agreement.options.by}'}:"
        yield "few", Hit("", place, str(least[name]), -least[name])
    if named[MOST_GROUPS:]:
        yield "few", Hit("", f"{len(named) - MOST_GROUPS} more groups", "")


def _figure_hits(agreement: JudgmentAgreement, figure: Figure) -> Hits:
    """Find figures that are raised by chance, below it, or of the easier items alone."""
    view = figure.level.partition(".")[2]
    value = figure.value
    at = (figure.kind, figure.statistic)
    if at == ("mean consensus", "null") and not isnan(value):
        yield "consensus", Hit("", view, f"{value:.3f}", value)
    if at == ("consensus", "corrected") and value < 0:
        yield "below-chance", Hit(figure.first, view, f"{value:.3f}", -value)
    if at == ("consensus", "tied") and value > MANY_TIED and agreement.options.ties == "leave-out":
        yield "tied", Hit("", view, f"{100 * value:.1f}%", value)
    if at == ("leave-one-out", "left_out") and value > MANY_TIED:
        yield "easier", Hit(figure.first, view, f"{100 * value:.1f}%", value)


CAUTIONS: Mapping[str, tuple[str, str]] = {
    "few": (
        "both judged only few pairs ({number}; below 50): bootstrap intervals are too narrow "
        "then, most of all those of kappa of a rare label",
        "the figures are less certain than the intervals suggest; have more pairs judged",
    ),
    "repeats": (
        "{number} pairs repeat others word by word: intervals count them as new pairs and are too "
        "narrow",
        "count each pair once, or report how many are different",
    ),
    "rewrites": (
        "{number} rewrites by annotators are left out: nobody judged them",
        "have a sample of them judged blindly: `alignkit audit pairs`",
    ),
    "consensus": (
        "the majority contains the annotator, so chance alone gives a kappa far above 0 (mean "
        "kappa of permuted labels: {number})",
        "report the corrected kappa, or the kappa of every two annotators",
    ),
    "below-chance": (
        "the kappa against the majority is below chance (corrected: {number})",
        "check whether this annotator follows other guidelines, or orders labels differently",
    ),
    "tied": (
        "many items have no majority and are left out ({number}); the remaining ones are easier",
        "report the kappa of every two annotators, which leaves nothing out",
    ),
    "easier": (
        "many items are left out because the others are tied ({number}); the remaining ones are "
        "easier, so the kappa against the others is higher than that of every two",
        "report the kappa of every two annotators, or also the share left out",
    ),
    "one-label": (
        "nearly all judgments are one label ({number}): kappa is low although most items agree, "
        "and AC1 is high although annotators may not agree on the rare labels at all",
        "report both with the share of the label, or draw a sample with more rare labels",
    ),
    "adjudicated": (
        "permutations cannot imitate an adjudicated version ({number}), so kappas against it are "
        "not tested against chance; they are too high, since it was made from these judgments",
        "compare them with the kappa of every two annotators",
    ),
    "unknown-labels": (
        "{number} judgments are not in the scheme and are left out",
        "correct them, or name their scheme",
    ),
}
"""Every caution about judgments, in order."""
