"""Measure how far annotators agree: every statistic, of every two and of all together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, product
from math import isnan
from typing import NamedTuple

from alignkit._support.arguments import check_kind
from alignkit._support.options import takes
from alignkit._support.parallel import stage
from alignkit._support.values import FrozenMap
from alignkit.agreement import pairs
from alignkit.agreement.cautions import cautions_of
from alignkit.agreement.chance.corpus import CorpusBeyondChance
from alignkit.agreement.chance.result import LEVELS
from alignkit.agreement.figures import Pairing, Together
from alignkit.agreement.intervals import weighted_mean
from alignkit.agreement.options import CLOSED, AgreementOptions
from alignkit.agreement.result import Agreement
from alignkit.agreement.sections import given_links, joint_sections, two_sections
from alignkit.agreement.unseen_links import unseen_links
from alignkit.errors import OptionError
from alignkit.model.alignment import Alignment, Link
from alignkit.model.annotation import Annotation, shared_start
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring.settings import Signature


@takes(AgreementOptions)
def agree(corpus: Corpus, options: AgreementOptions) -> Agreement:
    """Measure how far annotators agree on links of words and phrases, with intervals.

    Precision, recall and F1 of words and phrases, kappa and AC1 over cells, alpha, Fleiss' kappa,
    and C, the agreement beyond chance. `agree_on_judgments` compares judgments of whole pairs. The
    figures are defined in https://alignkit.github.io/alignkit/latest/agree/agreement_c.html

    Parameters
    ----------
    corpus : The sentence pairs. Without their words, only the overlap is computed, and only if
        identical items are included.
    options : The fields of `AgreementOptions`.

    Returns
    -------
    Agreement
        Printing it shows the tables of the command.

    Raises
    ------
    OptionError : If the annotators cannot be compared, options contradict each other or are out of
        range, an initial alignment is missing, or it is not known which cells an annotator judged.
    UnknownNameError : If a name annotated nothing, or an option has an unknown value.
    MissingTextError : If words are needed but not known.

    References
    ----------
    Cohn, Callison-Burch & Lapata 2008, Constructing corpora for the development and evaluation of
    paraphrase systems, Computational Linguistics 34(4):597-614. Kupper & Hafner 1989, On assessing
    interrater agreement for multiple attribute responses, Biometrics 45:957-967.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> from alignkit.model.corpus import SentencePair
    >>> texts = ("he", "left", "early"), ("she", "went", "away", "soon")
    >>> pair = SentencePair("1", *texts, {
    ...     "initial": Alignment.parse("0-0"), "anna": Alignment.parse("0-0 1-1 1-2"),
    ...     "ben": Alignment.parse("0-0 1-1 1-2 2-3")})
    >>> agreement = agree(Corpus([pair]), initial="initial")
    >>> [(pairing.kind, pairing.name) for pairing in agreement.pairings][:2]
    [('annotators', 'anna ~ ben'), ('automatic', 'initial ~ anna')]
    >>> agreement.pairings[0].main("phrases.sure").pi
    1.0
    >>> agreement.together[0].mean["words.sure.recall"]
    0.75
    """
    check_kind("corpus", corpus, Corpus)
    roles = _by_role(corpus, options)
    chosen = options.settled(roles.initial)
    people = _names(corpus, options, roles)
    names = pairs.check_annotators(corpus, people)
    others = roles.machines + roles.versions
    corpus.require(*others)
    with_votes = corpus
    majority_names: Mapping[str, str] = {}  # by annotator, the name of the majority of the others
    if len(names) > 2:
        with_votes, majority_names = with_majorities(corpus, names)
    twos = [("annotators", *two) for two in combinations(names, 2)]
    if roles.adjudicated is not None:
        twos += [("adjudicated", name, roles.adjudicated) for name in names]
    twos += [("consensus", name, others) for name, others in majority_names.items()]
    twos += [("automatic", *two) for two in product(roles.machines, names)]
    data = pairs.CorpusData(with_votes, exact_case=chosen.exact_case)
    if chosen.universe == "judged":
        for name in names:
            data.judged(name)  # raises an error if it is not known what an annotator judged
    parts = pairs.parts_of(corpus, chosen, names)
    beyond = CorpusBeyondChance(data, roles.initial, roles.machines, chosen, parts)
    pairings = pairings_of(twos, beyond)
    agreement = Agreement(
        annotators=names,
        options=replace(chosen, progress=None),
        initial=roles.initial,
        adjudicated=roles.adjudicated,
        systems=roles.machines,
        sections=tuple(part.name for part in parts),
        pairings=pairings,
        together=_together(beyond, names, pairings),
        corpus=corpus,
        signature=str(signed(chosen, roles.initial, pairings)),
        several=pairs.in_several(parts),
    )
    return replace(agreement, cautions=cautions_of(agreement, data))


class _Roles(NamedTuple):
    """The alignments that are no annotator's, as named or by their roles in the corpus."""

    initial: str | None
    adjudicated: str | None
    machines: tuple[str, ...]  # the automatic ones; if they are not named, the initial one is first

    @property
    def versions(self) -> tuple[str, ...]:
        """The initial and the adjudicated alignment, if there are any."""
        return tuple(name for name in (self.initial, self.adjudicated) if name is not None)

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield each name, and what it is."""
        if self.initial is not None:
            yield self.initial, "the initial alignment"
        if self.adjudicated is not None:
            yield self.adjudicated, "the adjudicated version"
        for name in self.machines:
            if name != self.initial:
                yield name, "an automatic alignment"


def _by_role(corpus: Corpus, options: AgreementOptions) -> _Roles:
    """Return the initial, the adjudicated and the automatic alignments.

    What the options name comes first; "" there means that there is none. For what they leave open,
    the roles in the corpus decide, without names that the options use for something else.
    """
    free = set(corpus.aligners) - {options.adjudicated, *(options.annotators or ())}
    roles = {name: role for name, role in corpus.roles.items() if name in free}
    initial = options.initial
    if initial is None:
        initial = _only_name(roles, "initial")
    adjudicated = options.adjudicated
    if adjudicated is None:
        adjudicated = _only_name(roles, "adjudicated")
        if adjudicated == initial or adjudicated in (options.systems or ()):
            adjudicated = None
    if options.systems is None:
        systems = [name for name, role in roles.items() if role == "system"]
        machines = [initial or "", *systems]
    else:
        machines = list(options.systems)
    known = dict.fromkeys(name for name in machines if name)
    return _Roles(initial or None, adjudicated or None, tuple(known))


def _only_name(roles: Mapping[str, str], role: str) -> str | None:
    """Return the name with a role; None if there is none, or several."""
    names = [name for name, of_name in roles.items() if of_name == role]
    return names[0] if len(names) == 1 else None


def _names(corpus: Corpus, options: AgreementOptions, others: _Roles) -> Sequence[str]:
    """Return the annotators, as named or by their roles; refuse a name with two roles."""
    roles: dict[str, str] = {}
    for name, role in others.named():
        if name in roles:
            raise OptionError(f"{name!r} is named as {roles[name]} and as {role}; choose one")
        roles[name] = role
    if options.annotators is None:
        people = [name for name in corpus.aligners if corpus.roles[name] == "annotator"]
        return [name for name in people if name not in roles]
    for name in options.annotators:
        if name in roles:
            raise OptionError(f"{name!r} is {roles[name]}; remove it from the annotators")
    return options.annotators


# the majority of the others, which each annotator is compared with
def majority(alignments: Sequence[Alignment]) -> Alignment:
    """Return the links that more than half have; for two alignments, those of both."""

    def most(sets: Sequence[frozenset[Link]]) -> set[Link]:
        """Return the links that are in more than half of the sets."""
        votes = Counter(chain.from_iterable(sets))
        return {link for link, count in votes.items() if 2 * count > len(sets)}

    sure = most([alignment.sure for alignment in alignments])
    return Alignment(sure, most([alignment.possible for alignment in alignments]))


def with_majorities(corpus: Corpus, names: Sequence[str]) -> tuple[Corpus, dict[str, str]]:
    """Add the `majority` of the others for each annotator, if all others annotated.

    Also return the name of each majority that some pair has, by the annotator.
    """
    labels = {name: f"majority without {name}" for name in names}

    def voted(pair: SentencePair) -> SentencePair:
        """Return a pair with the majorities of which all others annotated it."""
        aligners = [name for name in names if pair.aligned_by(name)]
        for name, label in labels.items():
            others = [other for other in aligners if other != name]
            if len(others) == len(names) - 1:
                links = majority([pair.alignment(other) for other in others])
                starts = [pair.annotations[other].start for other in others]
                annotation = Annotation(links, start=shared_start(starts))
                pair = pair.with_annotation(label, annotation)
        return pair

    corpus = corpus.map(voted)
    return corpus, {name: label for name, label in labels.items() if label in corpus.aligners}


# pairings
def pairings_of(
    twos: Sequence[tuple[str, str, str]], beyond: CorpusBeyondChance
) -> tuple[Pairing, ...]:
    """Compare pairs of names, each given with the kind of the pairing."""
    reasons = [beyond.why_no_edits((first, second)) for _, first, second in twos]
    sampled = [k for k, reason in enumerate(reasons) if not reason]
    pairings = []
    data = beyond.data
    options = beyond.options
    for k, (kind, first, second) in enumerate(twos):
        names = (first, second)
        share = None  # of the progress: only sampling takes time
        chance = CLOSED
        if not reasons[k]:
            share = stage(options.progress, sampled.index(k), len(sampled))
            chance = options.model
        given = None
        unseen = None
        if kind == "annotators":
            given = given_links(data, names, options)
            unseen = unseen_links(data, *names, ignore_identical=options.ignore_identical)
        pairing = Pairing(
            kind=kind,
            first=first,
            second=second,
            sections=two_sections(data, names, beyond.parts, options),
            beyond=beyond.of(names, reasons[k], share),
            chance=chance,
            no_edits=reasons[k],
            given=given,
            same_start=beyond.same_start(names),
            unseen=unseen,
        )
        pairings.append(pairing)
    return tuple(pairings)


_MOST_SIGNED = 6  # with more pairings, a signature has their number


def signed(
    options: AgreementOptions, initial: str | None, pairings: Sequence[Pairing]
) -> Signature:
    """Return the signature of an agreement: which pairings have which model of chance.

    If two did not start from the initial alignment in all pairs that both annotated, the signature
    says in how many they did: ``anna~ben:12/20``.
    """
    people = [two for two in pairings if two.kind == "annotators" and two.beyond]
    if options.model != CLOSED and all(two.chance == CLOSED for two in pairings):
        return options.signed_by(CLOSED)
    by_model: dict[str, list[str]] = {}
    partial = False
    for two in people:
        name = two.name.replace(" ~ ", "~")
        shared = two.whole.pairs
        if two.chance != CLOSED and two.same_start != shared:
            name += f":{two.same_start}/{shared}"
            partial = True
        by_model.setdefault(two.chance, []).append(name)
    signature = options.sign(initial)
    if len(by_model) < 2 and not partial:
        return signature
    parts = []
    for model, names in by_model.items():
        if len(people) <= _MOST_SIGNED:
            which = ",".join(names)
        else:
            which = f"{len(names)} pairings"
        parts.append(f"{model}({which})")
    return replace(signature, chance="+".join(parts))


def _together(
    beyond: CorpusBeyondChance, names: tuple[str, ...], pairings: Sequence[Pairing]
) -> tuple[Together, ...]:
    """Return the agreement of all annotators in each section, and the means over pairings."""
    joint = joint_sections(beyond.data, names, beyond.parts, beyond.options)
    results = []
    for place, together in enumerate(joint):
        mean, mean_left_out = _mean(pairings, "annotators", place)
        automatic, automatic_left_out = _mean(pairings, "automatic", place, least=2)
        with_means = replace(
            together,
            mean=mean,
            automatic=automatic,
            mean_left_out=mean_left_out,
            automatic_left_out=automatic_left_out,
        )
        results.append(with_means)
    return tuple(results)


def _mean(
    pairings: Sequence[Pairing], kind: str, place: int, least: int = 1
) -> tuple[FrozenMap[str, float], FrozenMap[str, int]]:
    """Average every figure of a section over the pairings of a kind, if there are enough.

    Also return how often each figure is undefined, which its mean leaves out.
    """
    chosen = [pairing for pairing in pairings if pairing.kind == kind]
    if len(chosen) < least:
        return FrozenMap(), FrozenMap()
    models = {pairing.chance for pairing in chosen}
    # a mean is of one model; the closed form is computed for every pairing
    model = models.pop() if len(models) == 1 else CLOSED
    weighed: dict[str, list[tuple[int, float]]] = {}  # the weight and the value in each pairing
    for pairing in chosen:
        section = pairing.sections[place]
        for name, value in section.figures.items():
            weighed.setdefault(name, []).append((section.pairs, value))
        if not pairing.beyond:
            continue
        for level in LEVELS:
            result = pairing.beyond[model][level]
            part = (result, *result.groups)[place]
            for name in ("pi", "pi0", "C"):
                weighed.setdefault(f"{level}.{name}", []).append((part.used, getattr(part, name)))
    means = FrozenMap({name: weighted_mean(values) for name, values in weighed.items()})
    left_out = {}
    for name, values in weighed.items():
        undefined = sum(isnan(value) for _, value in values)
        if undefined:
            left_out[name] = undefined
    return means, FrozenMap(left_out)
