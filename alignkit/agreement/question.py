"""Measure how far annotators agree: every statistic, of every two and of all together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import isnan
from typing import Any, Literal, overload

import numpy as np

from alignkit._support import arguments
from alignkit._support.parallel import count_workers, stage
from alignkit._support.values import FrozenMap
from alignkit.agreement import pairs
from alignkit.agreement.cautions import cautions_of
from alignkit.agreement.chance.corpus import CorpusBeyondChance
from alignkit.agreement.chance.result import LEVELS
from alignkit.agreement.chance.sampling import Progress
from alignkit.agreement.figures import Pairing, Together
from alignkit.agreement.intervals import weighted_mean
from alignkit.agreement.judgments.question import agree_on_judgments
from alignkit.agreement.judgments.result import JudgmentAgreement
from alignkit.agreement.options import (
    CLOSED,
    AgreementOptions,
    JudgmentOptions,
    contradictions,
    edits_known,
)
from alignkit.agreement.result import Agreement
from alignkit.agreement.sections import given_links, joint_sections, two_sections
from alignkit.corpora.labelled import judged_part
from alignkit.errors import OptionError
from alignkit.model.annotation import PERIODS
from alignkit.model.corpus import Corpus, group_texts, values_of
from alignkit.scoring.settings import Signature

ON = ("alignments", "judgments")  # what annotators can agree on


@overload
def agree(
    corpus: Corpus,
    annotators: Sequence[str] | None = None,
    *,
    on: Literal["alignments"] = "alignments",
    **options: Any,
) -> Agreement: ...
@overload
def agree(
    corpus: Corpus,
    annotators: Sequence[str] | None = None,
    *,
    on: Literal["judgments"],
    **options: Any,
) -> JudgmentAgreement: ...
def agree(
    corpus: Corpus,
    annotators: Sequence[str] | None = None,
    *,
    on: str = "alignments",
    initial: str | None = None,
    adjudicated: str | None = None,
    systems: Sequence[str] | None = None,
    by: str | None = None,
    split: str | None = None,
    seed: int = 12345,
    workers: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Agreement | JudgmentAgreement:
    """Measure how far annotators agree, with intervals.

    For alignments: precision, recall and F1 of words and phrases, kappa and AC1 over cells, alpha,
    Fleiss' kappa, and C, the agreement beyond chance (`docs/agree/agreement_c.md`). For judgments
    of whole pairs, in each view of their scheme: kappas of every two, alpha, AC1, Fleiss' kappa,
    and each annotator against the majority and an adjudicated version (`docs/agree/judgments.md`).

    Parameters
    ----------
    corpus : The sentence pairs. Without their words, only the overlap is computed, and only if
        identical items are included.
    annotators : Two or more names; None takes all with the role annotator, except those named
        below.
    on : ``"alignments"`` or ``"judgments"``. Judgments do not take `initial`, `adjudicated` or
        `systems`; their option `consensus` names an adjudicated version.
    initial : The automatic alignment that annotators started from; without it, C only has the
        closed form of Kupper & Hafner. None takes the one with this role, ``""`` none.
    adjudicated : The adjudicated version; each annotator is also compared with it. None takes the
        one with this role, ``""`` none.
    systems : The automatic alignments that each annotator is compared with; None takes the initial
        one and those with the role system.
    by : An attribute of the pairs; each of its values is also reported. ``"day"``, ``"week"`` and
        ``"month"`` use the later of the compared annotations, unless an attribute has that name.
    split : The separator of several values of `by`, such as ``","``; a pair counts in each group.
    seed : The seed of all draws; every pairing and level uses the same.
    workers : The number of threads; None takes one per core. The result does not depend on it.
    progress : Called with the samples drawn so far and their total.
    **options : The fields of `AgreementOptions`, or of `JudgmentOptions` for judgments.

    Returns
    -------
    Agreement or JudgmentAgreement
        Printing it shows the tables of the command.

    Raises
    ------
    OptionError : If the annotators cannot be compared, options contradict each other or are out of
        range, an initial alignment is missing, or it is not known which cells an annotator judged.
    UnknownNameError : If a name annotated nothing, or an option has an unknown value.
    MissingTextError : If words are needed but not known.
    FormatError : If a judgment is not in the scheme.

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
    arguments.check_arguments(agree, locals(), apart=["annotators", "systems"])
    arguments.check_known("kind of agreement", on, ON)
    kind = JudgmentOptions if on == "judgments" else AgreementOptions
    arguments.check_keywords(agree, options, arguments.keywords_of(kind))
    if seed < 0:
        raise OptionError(f"`seed` is {seed}; it must be 0 or more")
    count_workers(workers)
    if split is not None and by is None:
        raise OptionError("`split` separates the values of `by`: give `by` too")
    if on == "judgments":
        named = {"initial": initial, "adjudicated": adjudicated, "systems": systems}
        for name, value in named.items():
            if value is not None:
                raise OptionError(
                    f"`{name}` is about alignments: remove it; name the adjudicated version of "
                    "judgments with `consensus`"
                )
        judged, anew, _ = judged_part(corpus, rewrites=False)
        return agree_on_judgments(
            judged,
            annotators,
            JudgmentOptions(**options),
            rewrites=anew,
            parts=lambda names: _parts(judged, by, split, names),
            by=by,
            split=split,
            seed=seed,
            workers=workers,
        )
    if isinstance(systems, str):
        raise OptionError(f"give the systems as a list, not as the string {systems!r}")
    if annotators is not None and not isinstance(annotators, str):  # which is refused below
        annotators = arguments.words("annotators", annotators)
    systems = None if systems is None else arguments.words("systems", systems)
    asked = initial
    initial, adjudicated, machines = _by_role(corpus, annotators, initial, adjudicated, systems)
    if initial and asked is None:
        options = {"missing_initial": "leave-out", **options}  # nobody asked for it
    contradictions(options, initial)
    chosen = AgreementOptions(**options)
    if not edits_known(initial, chosen.missing_initial):
        chosen = replace(chosen, chance=CLOSED)
    people = _names(corpus, annotators, initial, adjudicated, machines)
    names = pairs.check_annotators(corpus, people)
    corpus.require(*machines, *(name for name in (initial, adjudicated) if name is not None))
    voted, labels = pairs.with_majorities(corpus, names) if len(names) > 2 else (corpus, {})
    twos = [
        *(("annotators", *two) for two in combinations(names, 2)),
        *(("adjudicated", name, adjudicated) for name in names if adjudicated is not None),
        *(("consensus", name, label) for name, label in labels.items()),
        *(("automatic", machine, name) for machine in machines for name in names),
    ]
    data = pairs.CorpusData(voted, exact_case=chosen.exact_case)
    if chosen.universe == "judged":
        for name in names:
            data.judged(name)
    parts = _parts(corpus, by, split, names)
    beyond = CorpusBeyondChance(data, initial, machines, chosen, seed, workers, parts)
    pairings = pairings_of(twos, beyond, progress)
    sections = tuple(part.name for part in parts)
    agreement = Agreement(
        names,
        chosen,
        initial,
        adjudicated,
        machines,
        by,
        seed,
        sections,
        pairings,
        _together(beyond, names, pairings),
        corpus,
        str(signed(chosen, seed, initial, pairings)),
        split=split,
        several=pairs.in_several(parts),
    )
    return replace(agreement, cautions=cautions_of(agreement, data))


def _by_role(
    corpus: Corpus,
    annotators: Sequence[str] | None,
    initial: str | None,
    adjudicated: str | None,
    systems: Sequence[str] | None,
) -> tuple[str | None, str | None, tuple[str, ...]]:
    """Return the initial, the adjudicated and the automatic alignments, as named or by role."""
    free = set(corpus.aligners) - {adjudicated, *(annotators or ())}
    roles = {name: role for name, role in corpus.roles.items() if name in free}
    if initial is None:
        initial = _of_role(roles, "initial")
    if adjudicated is None and (settled := _of_role(roles, "adjudicated")) != initial:
        adjudicated = None if settled in (systems or ()) else settled
    if systems is None:
        own = (name for name, role in roles.items() if role == "system")
        systems = [*([initial] if initial else []), *own]
    return initial or None, adjudicated or None, tuple(dict.fromkeys(systems))


def _of_role(roles: Mapping[str, str], role: str) -> str | None:
    """Return the only name with a role, or None."""
    names = [name for name, of_name in roles.items() if of_name == role]
    return names[0] if len(names) == 1 else None


def _names(
    corpus: Corpus,
    annotators: Sequence[str] | None,
    initial: str | None,
    adjudicated: str | None,
    machines: Sequence[str],
) -> Sequence[str]:
    roles: dict[str, str] = {}
    for name, role in (
        (initial, "the initial alignment"),
        (adjudicated, "the adjudicated version"),
        *((name, "an automatic alignment") for name in machines if name != initial),
    ):
        if name in roles:
            raise OptionError(f"{name!r} is named as {roles[name]} and as {role}; choose one")
        if name is not None:
            roles[name] = role
    if annotators is None:
        people = [name for name in corpus.aligners if corpus.roles[name] == "annotator"]
        return [name for name in people if name not in roles]
    if not isinstance(annotators, str):  # which is refused where names are checked
        for name in annotators:
            if name in roles:
                raise OptionError(f"{name!r} is {roles[name]}; remove it from the annotators")
    return annotators


def _parts(
    corpus: Corpus, by: str | None, split: str | None, names: Sequence[str]
) -> list[pairs.CorpusPart]:
    """Return the whole corpus, then each group; a group called "all" gets another name."""
    parts = [pairs.CorpusPart("all", np.arange(len(corpus)))]
    if by is not None:
        values_of("", split)  # refuses a wrong one
        groups: dict[str, list[int]] = {}
        for place, text in enumerate(group_texts(corpus, by, names)):
            for name in values_of(text, split):
                groups.setdefault(name, []).append(place)
        for name in sorted(groups, key=lambda name: (not name, name)) if by in PERIODS else groups:
            called = f"{by} all" if name == "all" else name
            parts.append(pairs.CorpusPart(called, np.array(groups[name])))
    return parts


def pairings_of(
    twos: Sequence[tuple[str, str, str]], beyond: CorpusBeyondChance, progress: Progress | None
) -> tuple[Pairing, ...]:
    """Compare pairs of names, each given with the kind of the pairing."""
    reasons = [beyond.no_edits(first, second) for _, first, second in twos]
    sampled = reasons.count("")
    started = 0
    pairings = []
    data = beyond.data
    options = beyond.options
    seed = beyond.seed
    for (kind, first, second), reason in zip(twos, reasons, strict=True):
        if reason:
            share = None
        else:
            share = stage(progress, started, sampled)
        started += not reason
        sections = two_sections(data, first, second, beyond.parts, options, seed)
        by_model = beyond.of(first, second, reason, share)
        chance = CLOSED if reason else options.chance
        human = kind == "annotators"
        if human:
            given = given_links(data, first, second, options, seed)
        else:
            given = None
        alike = beyond.same_start(first, second)
        pairings.append(
            Pairing(kind, first, second, sections, by_model, chance, reason, given, alike)
        )
    return tuple(pairings)


_MOST_SIGNED = 6  # with more pairings, a signature has their number


def signed(
    options: AgreementOptions, seed: int, initial: str | None, pairings: Sequence[Pairing]
) -> Signature:
    """Return the signature of an agreement: which pairings have which model of chance.

    A pairing has the number of pairs in which both started from the initial alignment, if it is
    not all that both annotated.
    """
    people = [two for two in pairings if two.kind == "annotators" and two.beyond]
    if options.chance != CLOSED and all(two.chance == CLOSED for two in pairings):
        return options.signed_by(CLOSED, seed)
    by_model: dict[str, list[str]] = {}
    partial = False
    for two in people:
        name = two.name.replace(" ~ ", "~")
        pairs = two.sections[0].pairs
        if two.chance != CLOSED and two.same_start != pairs:
            name += f":{two.same_start}/{pairs}"
            partial = True
        by_model.setdefault(two.chance, []).append(name)
    signature = options.sign(seed, initial)
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
    joint = joint_sections(beyond.data, names, beyond.parts, beyond.options, beyond.seed)
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
