"""Measure how far annotators agree: every statistic, of every two and of all together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from math import isnan
from typing import NamedTuple

import numpy as np

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
from alignkit.errors import OptionError
from alignkit.model.corpus import Corpus
from alignkit.scoring.settings import Signature


@takes(AgreementOptions)
def agree(corpus: Corpus, options: AgreementOptions) -> Agreement:
    """Measure how far annotators agree on links of words and phrases, with intervals.

    Precision, recall and F1 of words and phrases, kappa and AC1 over cells, alpha, Fleiss' kappa,
    and C, the agreement beyond chance (`docs/agree/agreement_c.md`). `agree_on_judgments` compares
    judgments of whole pairs.

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
    voted, labels = pairs.with_majorities(corpus, names) if len(names) > 2 else (corpus, {})
    twos = [("annotators", *two) for two in combinations(names, 2)]
    if roles.adjudicated is not None:
        twos += [("adjudicated", name, roles.adjudicated) for name in names]
    twos += [("consensus", name, label) for name, label in labels.items()]
    twos += [("automatic", *two) for two in product(roles.machines, names)]
    data = pairs.CorpusData(voted, exact_case=chosen.exact_case)
    if chosen.universe == "judged":
        for name in names:
            data.judged(name)
    parts = pairs.parts_of(corpus, chosen, names)
    beyond = CorpusBeyondChance(data, roles.initial, roles.machines, chosen, parts)
    pairings = pairings_of(twos, beyond)
    agreement = Agreement(
        names,
        replace(chosen, progress=None),
        roles.initial,
        roles.adjudicated,
        roles.machines,
        tuple(part.name for part in parts),
        pairings,
        _together(beyond, names, pairings),
        corpus,
        str(signed(chosen, roles.initial, pairings)),
        several=pairs.in_several(parts),
    )
    return replace(agreement, cautions=cautions_of(agreement, data))


class _Roles(NamedTuple):
    """The alignments that are no annotator's, as named or by their roles in the corpus."""

    initial: str | None
    adjudicated: str | None
    machines: tuple[str, ...]

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
    """Return the initial, the adjudicated and the automatic alignments."""
    adjudicated = options.adjudicated
    free = set(corpus.aligners) - {adjudicated, *(options.annotators or ())}
    roles = {name: role for name, role in corpus.roles.items() if name in free}
    initial = options.initial
    if initial is None:
        initial = _of_role(roles, "initial")
    machines = options.systems
    if adjudicated is None and (settled := _of_role(roles, "adjudicated")) != initial:
        adjudicated = None if settled in (machines or ()) else settled
    if machines is None:
        machines = [name for name, role in roles.items() if role == "system"]
        machines.insert(0, initial or "")
    known = dict.fromkeys(filter(None, machines))
    return _Roles(initial or None, adjudicated or None, tuple(known))


def _of_role(roles: Mapping[str, str], role: str) -> str | None:
    """Return the only name with a role, or None."""
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


def pairings_of(
    twos: Sequence[tuple[str, str, str]], beyond: CorpusBeyondChance
) -> tuple[Pairing, ...]:
    """Compare pairs of names, each given with the kind of the pairing."""
    reasons = [beyond.why_no_edits(first, second) for _, first, second in twos]
    sampled = reasons.count("")
    started = 0
    pairings = []
    data = beyond.data
    options = beyond.options
    for (kind, first, second), reason in zip(twos, reasons, strict=True):
        if reason:
            share = None
        else:
            share = stage(options.progress, started, sampled)
        started += not reason
        sections = two_sections(data, first, second, beyond.parts, options)
        by_model = beyond.of(first, second, reason, share)
        chance = CLOSED if reason else options.model
        human = kind == "annotators"
        if human:
            given = given_links(data, first, second, options)
        else:
            given = None
        alike = beyond.same_start(first, second)
        pairings.append(
            Pairing(kind, first, second, sections, by_model, chance, reason, given, alike)
        )
    return tuple(pairings)


_MOST_SIGNED = 6  # with more pairings, a signature has their number


def signed(
    options: AgreementOptions, initial: str | None, pairings: Sequence[Pairing]
) -> Signature:
    """Return the signature of an agreement: which pairings have which model of chance.

    A pairing has the number of pairs in which both started from the initial alignment, if it is
    not all that both annotated.
    """
    people = [two for two in pairings if two.kind == "annotators" and two.beyond]
    if options.model != CLOSED and all(two.chance == CLOSED for two in pairings):
        return options.signed_by(CLOSED)
    by_model: dict[str, list[str]] = {}
    partial = False
    for two in people:
        name = two.name.replace(" ~ ", "~")
        pairs = two.sections[0].pairs
        if two.chance != CLOSED and two.same_start != pairs:
            name += f":{two.same_start}/{pairs}"
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
    done = np.array([beyond.data.aligned(name) for name in names])
    joint = joint_sections(beyond.data, names, beyond.parts, beyond.options)
    results = []
    for place, (part, of_all) in enumerate(zip(beyond.parts, joint, strict=True)):
        inside = done[:, part.members]
        missing = Counter(
            ", ".join(name for name, there in zip(names, flags, strict=True) if not there)
            for flags in inside.T.tolist()
        )
        left_out = FrozenMap({f"not annotated by {who}": n for who, n in missing.items() if who})
        used = int((inside.sum(axis=0) > 1).sum())
        mean, without = _mean(pairings, "annotators", place)
        automatic, missed = _mean(pairings, "automatic", place, least=2)
        counts = part.name, len(part), used, left_out
        results.append(Together(*counts, *of_all, mean, automatic, without, missed))
    return tuple(results)


def _mean(
    pairings: Sequence[Pairing], kind: str, place: int, least: int = 1
) -> tuple[FrozenMap[str, float], FrozenMap[str, int]]:
    """Average every figure over pairings of a kind; also return how often each is undefined."""
    chosen = [pairing for pairing in pairings if pairing.kind == kind]
    models = {pairing.chance for pairing in chosen}
    model = models.pop() if len(models) == 1 else CLOSED  # a mean is of one model
    weighed: dict[str, list[tuple[int, float]]] = {}
    for pairing in chosen if len(chosen) >= least else ():
        section = pairing.sections[place]
        for name, value in section.figures.items():
            weighed.setdefault(name, []).append((section.pairs, value))
        for level in LEVELS if pairing.beyond else ():
            result = pairing.beyond[model][level]
            part = result.groups[place - 1] if place else result
            for name in ("pi", "pi0", "C"):
                weighed.setdefault(f"{level}.{name}", []).append((part.used, getattr(part, name)))
    left_out = {name: sum(isnan(x) for _, x in values) for name, values in weighed.items()}
    means = FrozenMap({name: weighted_mean(values) for name, values in weighed.items()})
    return means, FrozenMap({name: count for name, count in left_out.items() if count})
