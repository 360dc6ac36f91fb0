"""Ask whether a system may replace an annotator."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from alignkit._support.arguments import check_kind, check_known, words
from alignkit._support.array_types import B1
from alignkit._support.options import takes
from alignkit._support.values import FrozenMap
from alignkit._support.wording import how_many
from alignkit.agreement.pairs import CorpusData, CorpusPart, in_several, parts_of
from alignkit.agreement.replacement.comparison import OthersComparison, Units, compare_with_others
from alignkit.agreement.replacement.confidence import certain_pairs, mean_probabilities
from alignkit.agreement.replacement.decision import EPSILONS, LEAST_PAIRS, Decision, decide
from alignkit.agreement.replacement.figures import ReplacementPart
from alignkit.agreement.replacement.leaks import (
    leaks_of,
    lessons_elsewhere,
    near_copies,
    other_starts,
    twins_of,
)
from alignkit.agreement.replacement.options import ReplaceOptions
from alignkit.agreement.replacement.power import Power, passing_power
from alignkit.agreement.replacement.result import SystemReplacement
from alignkit.agreement.replacement.similarity import (
    JudgmentSimilarity,
    LinkSimilarity,
    PairSimilarity,
    PhraseSimilarity,
)
from alignkit.corpora.labelled import NOT_JUDGED, judged_part, judges_of
from alignkit.errors import OptionError
from alignkit.model.corpus import Corpus
from alignkit.model.roles import ROLES

_LEAST_SHARE = 0.5  # of the pairs, which a system must have annotated


@takes(ReplaceOptions)
def replaceable(corpus: Corpus, system: str, options: ReplaceOptions) -> SystemReplacement:
    """Ask whether a system may replace an annotator: the alternative annotator test.

    In each pair, the system and an annotator are compared: which of them is more like the other
    annotators? The system may replace this annotator if it is at least as much like them nearly as
    often (epsilon) as the annotator is. It may replace annotators if this holds for at least half
    of them; see
    https://alignkit.github.io/alignkit/latest/agree/replace.html

    Parameters
    ----------
    corpus : The pairs, with annotations of the system and of two or more annotators.
    system : The name of the system's annotations.
    options : The fields of `ReplaceOptions`.

    Returns
    -------
    SystemReplacement
        Printing it shows the tables of the command.

    Raises
    ------
    OptionError : If there are fewer than two annotators or 30 pairs, the system annotated too few
        of them, or options contradict each other.
    UnknownNameError : If a name annotated nothing, or an option has an unknown value.

    References
    ----------
    Calderon, Reichart and Dror 2025, The Alternative Annotator Test for LLM-as-a-Judge, ACL,
    16051-16081, https://aclanthology.org/2025.acl-long.782/.

    Examples
    --------
    >>> from alignkit import read_corpus
    >>> corpus = read_corpus("samples/paraphrases.jsonl")
    >>> result = replaceable(corpus, "eflomal", epsilon=0.2)
    >>> result.may_replace, result.winning_rate
    (False, 0.0)
    """
    check_kind("corpus", corpus, Corpus)
    check_kind("system", system, str)
    rewrites = 0
    if options.measure == "judgments":
        corpus, rewrites, _ = judged_part(corpus, rewrites=False)
    names = _annotators(corpus, system, options)
    data = CorpusData(corpus, exact_case=options.exact_case)
    similarity, left_out = _similarity(data, system, names, options)
    several = np.sum([similarity.aligned(name) for name in names], axis=0) >= 2
    done = several & similarity.aligned(system)
    units = Units.of(corpus, options.keep_together)
    _check_pairs(system, several, done, units, options)
    comparison = compare_with_others(similarity, system, names)
    decision = decide(comparison, units, options.epsilon)
    _check_annotators(decision, comparison, units)
    epsilons = sorted({*EPSILONS.values(), options.epsilon}, reverse=True)
    twins = []
    certain = None
    if options.measure != "judgments":
        twins = twins_of(data, names, comparison)
        known = mean_probabilities(corpus, system)
        certain = certain_pairs(comparison, units, known, options.epsilon, seed=options.seed)
    compared = comparison.compared
    sections = parts_of(corpus, options, names)
    parts = list(_kinds(comparison, units, options))
    parts += [_section(comparison, units, section, options) for section in sections[1:]]
    left_out["rewrites by annotators, which nobody judged"] = rewrites
    left_out |= _left_out(several, done, compared, units, system)
    return SystemReplacement(
        system=system,
        annotators=names,
        options=options,
        pairs=int(several.sum()),
        compared=int(compared.sum()),
        units=len(np.unique(units.group_of[compared])),
        decision=decision,
        decisions=tuple(decide(comparison, units, epsilon) for epsilon in epsilons),
        parts=tuple(parts),
        leaks=tuple(leaks_of(corpus, system, names, comparison)),
        near_copies=tuple(near_copies(comparison.likeness)),
        twins=tuple(twins),
        likeness=comparison.likeness,
        power=_power(comparison, units, decision, options),
        certain=certain,
        left_out=FrozenMap(left_out),
        shown=FrozenMap(other_starts(corpus, system, names, comparison)),
        several=in_several(sections),
        learned=lessons_elsewhere(corpus, system, comparison),
    )


def _annotators(corpus: Corpus, system: str, options: ReplaceOptions) -> tuple[str, ...]:
    """Return the annotators (named, or all people) after checking them and the system."""
    judged = options.measure == "judgments"
    known = judges_of(corpus) if judged else corpus.aligners
    if judged:
        check_known("annotator who judged pairs", system, known)
    else:
        corpus.require(system)
    if options.annotators is None:
        roles = corpus.roles
        names = tuple(name for name in known if roles[name] == ROLES[0] and name != system)
    else:
        names = words("annotators", options.annotators)
    for name in names:
        if names.count(name) > 1:
            raise OptionError(f"annotator {name!r} is named twice; name each one once")
        check_known("annotator who judged pairs" if judged else "annotator", name, known)
    if system in names:
        raise OptionError(f"{system!r} is the system; remove it from the annotators")
    if len(names) < 2:
        who = f"only {names[0]}" if names else "nobody"
        raise OptionError(
            f"the test compares {system!r} with two annotators or more (three are better), but "
            f"there is {who}; name the annotators if they have another role"
        )
    return names


def _similarity(
    data: CorpusData, system: str, names: tuple[str, ...], options: ReplaceOptions
) -> tuple[PairSimilarity, dict[str, int]]:
    """Return the measure of the options, and what it leaves out."""
    if options.measure == "phrases":
        return PhraseSimilarity(data, options), {}
    if options.measure != "judgments":
        return LinkSimilarity(data, options), {}
    similarity = JudgmentSimilarity(
        data.corpus, (system, *names), options.labels, lenient=options.lenient_labels
    )
    left_out = {}
    for reason, count in similarity.left_out.items():
        if reason != NOT_JUDGED:
            left_out[f"judgments {reason}"] = count
    return similarity, left_out


def _check_pairs(system: str, several: B1, done: B1, units: Units, options: ReplaceOptions) -> None:
    """Refuse too few pairs, and a system that annotated too few of them."""
    pairs = int(several.sum())
    if pairs < LEAST_PAIRS:
        raise OptionError(
            f"{how_many(pairs, 'pair')} of two or more annotators are too few: the test needs "
            f"{LEAST_PAIRS}"
        )
    by_system = int(done.sum())
    if by_system < LEAST_PAIRS or by_system < _LEAST_SHARE * pairs:
        raise OptionError(
            f"{system!r} annotated only {by_system} of the {pairs} pairs of two or more "
            "annotators: have it annotate the others too, or select the pairs first "
            "(alignkit select)"
        )
    different = len(np.unique(units.group_of[done]))
    if different < LEAST_PAIRS:
        what = "different pairs"
        if options.keep_together is not None:
            what = f"different values of {options.keep_together!r}"
        raise OptionError(
            f"the {by_system} pairs have only {different} {what}: the test needs {LEAST_PAIRS}"
        )


def _check_annotators(decision: Decision, comparison: OthersComparison, units: Units) -> None:
    """Refuse annotators who share no pair with two others, if there are more than two."""
    if len(decision.tests) < 2:
        what = "groups of pairs" if units.grouped else "pairs"
        counts = dict(decision.few) | {test.annotator: test.units for test in decision.tests}
        listed = ", ".join(f"{name}: {count}" for name, count in counts.items())
        raise OptionError(
            f"fewer than two annotators have {LEAST_PAIRS} {what} that the system and another "
            f"annotator annotated too ({listed})"
        )
    names = list(comparison.annotators)
    if len(names) == 2:
        return
    shared = comparison.likeness.shared[1:, 1:] > 0
    for test in decision.tests:
        if shared[names.index(test.annotator)].sum() < 2:
            raise OptionError(
                f"{test.annotator!r} has no pair in common with two other annotators: name the "
                "annotators to compare without this one"
            )


def _left_out(several: B1, done: B1, compared: B1, units: Units, system: str) -> dict[str, int]:
    """Return how many pairs are left out, by reason, and how many are copies of others."""
    copies = int(compared.sum()) - len(np.unique(units.text_of[compared]))
    return {
        "pairs of fewer than two annotators, left out": int((~several).sum()),
        f"pairs that {system} did not annotate, left out": int((several & ~done).sum()),
        "pairs in which nobody has anything to compare, left out": int((done & ~compared).sum()),
        "pairs with the same texts as another, which count once with it": copies,
    }


def _kinds(
    comparison: OthersComparison, units: Units, options: ReplaceOptions
) -> Iterator[ReplacementPart]:
    """Yield the decision for each kind of link."""
    for row, name in enumerate(comparison.rows):
        if row:
            pairs = int((~np.isnan(comparison.system_wins[row]).all(axis=0)).sum())
            yield ReplacementPart(
                "link", name, pairs, decide(comparison, units, options.epsilon, row)
            )


def _section(
    comparison: OthersComparison, units: Units, section: CorpusPart, options: ReplaceOptions
) -> ReplacementPart:
    """Return the decision for the pairs of a group."""
    part = comparison.take(section.members)
    decision = decide(part, units.take(section.members), options.epsilon)
    pairs = int(part.compared.sum())
    return ReplacementPart(str(options.by), section.name, pairs, decision)


def _power(
    comparison: OthersComparison, units: Units, decision: Decision, options: ReplaceOptions
) -> Power:
    """Return how many pairs are needed, for the annotators with enough pairs."""
    tested = [comparison.annotators.index(test.annotator) for test in decision.tests]
    differences = units.means(comparison.differences[0, tested])
    return passing_power(differences, options.epsilon, samples=options.samples, seed=options.seed)
