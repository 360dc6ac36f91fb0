"""Cautions: warnings that a reader needs to interpret the figures.

`CAUTIONS` has the texts. `_hits` finds what triggers them: in which pairing, where, and by which
number; see `Hit`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isnan

import numpy as np

from alignkit.agreement.chance.correction import BOTH_EMPTY, ONLY_EMPTY
from alignkit.agreement.chance.result import LEVELS, NO_INITIAL, OTHER_START, by_both
from alignkit.agreement.figures import AgreementFigures, Pairing
from alignkit.agreement.hits import Hit, Hits, find_cautions
from alignkit.agreement.numbers import ALL, f1_of
from alignkit.agreement.options import CLOSED, PlanOptions
from alignkit.agreement.overlaps import columns
from alignkit.agreement.pairs import CorpusData, PairData
from alignkit.agreement.planning import plan_two
from alignkit.agreement.votes import UNSTEADY
from alignkit.errors import OptionError
from alignkit.io.base_checks import Misfit
from alignkit.model.arrays import LinkArrays, number_cells
from alignkit.scoring.counts import LINK_COLUMNS
from alignkit.tables.columns import decimal, p_text
from alignkit.tables.result import Caution

At = tuple[str, str]
"""The place of a hit: a pairing, and a level in words, such as "sure words"."""

FEW = 30  # below so many sentence pairs a figure hardly says anything of other pairs
FEW_F1 = 50  # below so many, a 95% interval of F1, or of kappa of a rare label, covers 90% or less
MANY_EMPTY = 0.1  # so large a share of one-sided pairs is cautioned
MANY_LEFT_OUT = 0.25  # so large a share of pairs that are left out is cautioned
MOVES = 0.1  # a figure that a choice moves by more than this is cautioned
NEAR_ONE = 0.9  # from here on pi0 leaves C little room
DOMINATE = 0.5  # above this share, initial links of equal words are most of what a rate fits
FAR = 0.25  # annotators who corrected an initial alignment have more of their links from it
WITHIN = 0.03  # how well F1 of words should be known
COARSE = 8  # sampling is coarse where its error is more than this part of the interval

# the columns of the links that both have, and that the annotator has
_KEPT = ("possible_in_possible", "ref_possible")

LEFT_OUT = {
    BOTH_EMPTY: "in which neither has anything to compare",
    ONLY_EMPTY: "in which no sample has anything to compare",
    NO_INITIAL: "without an initial alignment",
    OTHER_START: "in which the two did not both start from the initial alignment",
}
"""The pairs that C leaves out although both annotated them."""


def _hits(agreement: AgreementFigures, data: CorpusData) -> Hits:
    """Yield what triggers a caution of `CAUTIONS`."""
    for pairing in agreement.pairings:
        if not pairing.beyond:
            continue
        for level in LEVELS:
            unit, links = level.split(".")
            at = (pairing.name, f"{links} {unit}")
            yield from _undefined(pairing, level, at)
            if pairing.kind != "automatic" and not pairing.given:  # then C is not to be quoted
                yield from _chance_hits(agreement, pairing, level, at)
            if pairing.kind == "annotators":
                yield from _pair_hits(agreement, pairing, level, at)
                if not pairing.given:
                    yield from choice_hits(agreement, pairing, level)
    yield from _more_pairs(agreement)
    for pairing in agreement.every_two:
        yield from _few(pairing)
        yield from _given_links(agreement, pairing)
    yield from _nearly_identical(agreement)
    yield from _outliers(agreement)
    yield from _far(agreement, data)
    yield from _of_adjudicated(agreement)
    if len(agreement.annotators) == 3:
        for pairing in agreement.of("consensus"):
            yield "intersection", Hit(pairing.name, "", "2")
    yield from _halved(agreement, data)
    for pairing in agreement.of("adjudicated"):
        yield "adjudicated", Hit(pairing.name, "", str(len(agreement.annotators)))


def _undefined(pairing: Pairing, level: str, at: At) -> Hits:
    """Find levels at which C has no value, in the whole corpus or else in a group."""
    name, where = at
    whole = pairing.main(level)
    if whole.undefined:
        yield "undefined", Hit(name, where, "", detail=whole.undefined)
        return
    for group in whole.groups:
        if group.undefined:
            place = f"{where} in {group.name or '(none)'}"
            yield "undefined", Hit(name, place, "", detail=group.undefined)


def _chance_hits(agreement: AgreementFigures, pairing: Pairing, level: str, at: At) -> Hits:
    """Find levels at which C is below 0, pi0 is close to 1, or there are too few samples."""
    part = pairing.main(level)
    wanted = agreement.options.tolerance
    aside = pairing.kind != "annotators"
    if part.C < 0:
        surely = part.interval is not None and part.interval.high < 0
        bounds = " and all of its interval" if surely else ""
        text = f"{part.C:.3f}{bounds}, pi {part.pi:.3f}, pi0 {part.pi0:.3f}"
        brief = f"{decimal(part.C)}, pi {decimal(part.pi)} below pi0 {decimal(part.pi0)}"
        yield "below-chance", Hit(*at, text, -part.C, pairing.chance, brief, aside)
    if part.pi0 >= NEAR_ONE and not isnan(part.C):
        text = f"{part.pi0:.3f}"
        brief = decimal(part.pi0)
        yield "chance-near-one", Hit(*at, text, part.pi0, brief=brief, aside=aside)
    if wanted is not None and part.C_error > wanted:
        text = f"{part.C_error:.2g} after {part.samples} samples"
        yield "rough", Hit(*at, text, part.C_error)


def _pair_hits(agreement: AgreementFigures, pairing: Pairing, level: str, at: At) -> Hits:
    """Find levels at which C leaves out many pairs, has many one-sided ones, or is imprecise."""
    part = pairing.main(level)
    shared = pairing.whole.pairs
    for reason, which in LEFT_OUT.items():
        out = part.left_out.get(reason, 0)
        if part.used and out > MANY_LEFT_OUT * shared:
            yield "left-out", Hit(*at, f"{out} of {shared}", out / shared, which)
    if part.one_sided and part.one_sided >= MANY_EMPTY * part.used:
        text = f"{part.one_sided} of {part.used}"
        yield "one-sided", Hit(*at, text, part.one_sided / part.used)
    interval = part.interval
    if interval is None:
        return
    width = interval.high - interval.low
    if COARSE * part.C_error > width:  # false where there are no bounds
        yield "coarse", Hit(*at, f"{part.C_error:.4f} of {width:.4f}", part.C_error)
    if interval.undefined and not isnan(part.C):
        text = f"{interval.undefined} of {agreement.options.resamples}"
        yield "undefined-resamples", Hit(*at, text, interval.undefined)


def choice_hits(agreement: AgreementFigures, pairing: Pairing, level: str) -> Hits:
    """Find levels at which C depends on the model, the normalizer, or rates of equal words."""
    unit, links = level.split(".")
    at = (pairing.name, f"{links} {unit}")
    options = agreement.options
    yield from _model_moves(pairing, level, at)
    if CLOSED in pairing.beyond:
        both = by_both(pairing.beyond[CLOSED][level], options.normalizer, options.aggregate)
        pi, C = both["min"]
        strict_pi, strict_C = both["max"]
        far = max(abs(pi - strict_pi), abs(C - strict_C))
        if far > MOVES:
            text = f"pi {pi:.3f} or {strict_pi:.3f}, C by {CLOSED} {C:.3f} or {strict_C:.3f}"
            if far == abs(pi - strict_pi):
                moved = f"pi {decimal(pi)}"
                strict = decimal(strict_pi)
            else:
                moved = f"C {decimal(C)}"
                strict = decimal(strict_C)
            brief = (
                f"{moved} ignores the further links of the one with more links; counting them, "
                f"{strict}"
            )
            yield "normalizer", Hit(*at, text, far, brief=brief)
    one_rate = pairing.chance in ("edit", "edit-split") and "edit-strata" in pairing.beyond
    if options.ignore_identical and one_rate:
        part = pairing.main(level)
        strata = pairing.beyond["edit-strata"][level]
        share = equal_words_share(pairing, level)
        if share > DOMINATE and part.pi0 > strata.pi0:  # false where one has no value
            text = f"{100 * share:.0f}%, pi0 {part.pi0:.3f}, by edit-strata {strata.pi0:.3f}"
            far = part.pi0 - strata.pi0
            brief = f"{100 * share:.0f}%"
            yield "equal-words", Hit(*at, text, far, pairing.chance, brief)


def _model_moves(pairing: Pairing, level: str, at: At) -> Hits:
    """Find levels at which C by one model of chance is far from C by another."""
    known = {}
    for model, levels in pairing.beyond.items():
        if not isnan(levels[level].C):
            known[model] = levels[level].C
    if known:
        low = min(known, key=known.__getitem__)
        high = max(known, key=known.__getitem__)
        far = known[high] - known[low]
        if far > MOVES:
            text = f"{known[low]:.3f} by {low} to {known[high]:.3f} by {high}"
            brief = f"{decimal(known[low])} ({low}) to {decimal(known[high])} ({high})"
            yield "model", Hit(*at, text, far, brief=brief)


def equal_words_share(pairing: Pairing, level: str) -> float:
    """Return the share of initial links between equal words; of both annotators, the larger."""
    largest = 0.0
    for models in pairing.beyond["edit-strata"][level].models.values():
        equal = int(models["delete-equal"].data.trials.sum())
        every = equal + int(models["delete"].data.trials.sum())
        if every:
            largest = max(largest, equal / every)
    return largest


def _few(pairing: Pairing) -> Hits:
    """Find sections with few pairs."""
    for place, section in enumerate(pairing.sections):
        few = set[int]()
        if section.pairs < FEW_F1:
            few.add(section.pairs)
        if pairing.beyond:
            for level in LEVELS:
                whole = pairing.main(level)
                part = (whole, *whole.groups)[place]
                if part.used < FEW:
                    few.add(part.used)
        few.discard(0)
        if few:
            text = f"{min(few)}"
            if len(few) > 1:
                text += f"-{max(few)}"
            name = f"{section.name or '(none)'}:"
            yield "few-pairs", Hit(pairing.name, name, text, FEW_F1 - min(few))


def _more_pairs(agreement: AgreementFigures) -> Hits:
    """Find the widest interval of F1 of words, and the pairs that would make it narrow enough."""
    widths: dict[Pairing, float] = {}
    for pairing in agreement.every_two:
        low, high = f1_of(pairing, ALL).bounds
        if high - low > 2 * WITHIN:  # false where there is no interval
            widths[pairing] = high - low
    if not widths:
        return
    two = max(widths, key=widths.__getitem__)
    options = PlanOptions(
        half_width=WITHIN,
        ignore_identical=agreement.options.ignore_identical,
        exact_case=agreement.options.exact_case,
    )
    try:
        plan = plan_two(agreement.corpus, *two.names, options)
    except OptionError:  # too few pairs to plan from
        return
    if plan.pairs > plan.pilot:
        yield "more-pairs", Hit(two.name, "", f"{_two_digits(plan.pairs):,}", plan.pairs)


def _two_digits(count: int) -> int:
    """Return a number rounded up to two digits: fewer pairs would not be enough."""
    step = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // step) * step


def _given_links(agreement: AgreementFigures, pairing: Pairing) -> Hits:
    """Find links read with a wrong base, and given links that all cells are counted for."""
    misfit = Misfit()
    shared = agreement.corpus.annotated_by(*pairing.names)
    first = LinkArrays.pack(pair.alignment(pairing.first) for pair in shared)
    second = LinkArrays.pack(pair.alignment(pairing.second) for pair in shared)
    misfit.add(first, second)
    suspicion = misfit.suspicion()  # they share far more in another base or direction
    if suspicion:
        yield "misread", Hit(pairing.name, "", suspicion.replace("`", ""))
    section = pairing.whole
    cells = section.different if agreement.options.ignore_identical else section.cells
    if agreement.options.universe == "all" and cells is not None and pairing.given:
        of_all = cells.possible
        of_given = pairing.given.cells.possible
        text = (
            f"{of_given.items} of {of_all.items} cells; kappa of possible links "
            f"{of_all.kappa:.3f} over all, {of_given.kappa:.3f} over these"
        )
        share = of_given.items / of_all.items
        yield "given-links", Hit(pairing.name, "", text, share, brief=f"{pairing.given.links}")


def _halved(agreement: AgreementFigures, data: CorpusData) -> Hits:
    """Find links that exactly half of the others have, so that their majority leaves them out."""
    names = agreement.annotators
    if len(names) < 5 or len(names) % 2 == 0:  # of two others, see "intersection"
        return
    for pairing in agreement.of("consensus"):
        others = [name for name in names if name != pairing.first]
        links = [PairData.of(data, others).all_links(name) for name in others]
        tied = 0
        cells = 0
        for block in number_cells(*links):
            voters = np.unique(np.concatenate(block.numbers), return_counts=True)[1]
            tied += int((2 * voters == len(others)).sum())
            cells += len(voters)
        if tied:
            yield "halved", Hit(pairing.name, "", f"{tied} of {cells}", tied)


def _nearly_identical(agreement: AgreementFigures) -> Hits:
    """Find annotators who have the same links in nearly all pairs."""
    for name, counts in agreement.same.items():
        if counts.nearly_identical:
            brief = f"{counts.same} of {counts.pairs}"
            text = f"{brief} sentence pairs, and in {counts.same_long} of the {counts.long} with "
            text += f"something to differ about, {100 * counts.share:.0f}%"
            yield "nearly-identical", Hit(name, "", text, counts.share, brief=brief)


def _outliers(agreement: AgreementFigures) -> Hits:
    """Find one annotator who differs from others that agree."""
    if len(agreement.annotators) < 3:
        return
    pairings = agreement.every_two
    for name in agreement.annotators:
        with_name = [two for two in pairings if name in two.names]
        without_name = [two for two in pairings if two not in with_name]
        for level in LEVELS:
            highest = max(_f1(with_name, level))
            lowest = min(_f1(without_name, level))
            far = lowest - highest
            if far > MOVES:  # false where one is not defined
                text = f"{100 * highest:.1f} at most, {100 * lowest:.1f} at least"
                unit, links = level.split(".")
                yield "one-differs", Hit("", f"{links} {unit}", text, far, name)


def _f1(pairings: Iterable[Pairing], level: str) -> list[float]:
    return [f1_of(two, level).value for two in pairings]


def _of_adjudicated(agreement: AgreementFigures) -> Hits:
    """Find annotators whom the adjudicated version follows in one half of the pairs alone."""
    votes = agreement.votes
    if votes is None:
        return
    for name, share in zip(votes.annotators, votes.shares, strict=True):
        if share.p < UNSTEADY:  # false where there is no p
            p = p_text(share.p)
            first, second = (f"{100 * half:.0f}%" for half in share.halves)
            text = f"{first} of the cells on which annotators differ, then {second}, {p}"
            brief = (
                f"follows {name} in {first} of the cells on which annotators differ in the first "
                f"half of the pairs, in {second} in the second half ({p})"
            )
            yield "unsteady", Hit("", name, text, -share.p, repr(agreement.adjudicated), brief)


def _far(agreement: AgreementFigures, data: CorpusData) -> Hits:
    """Find annotators who have few of their links from the initial alignment."""
    initial = agreement.initial
    pairings = agreement.every_two
    if not initial or not all(two.beyond for two in pairings):
        return
    edited = set[str]()
    for two in pairings:
        if not two.no_edits:
            edited.update(two.names)
    shares = list[str]()
    for name in agreement.annotators:
        if name not in edited:
            continue
        pairs = PairData.of(data, (initial, name), ignore_identical=True)
        begun = data.started(name, initial)[pairs.places]  # the others were not corrected
        of_both, links = columns(pairs.link_counts, LINK_COLUMNS, _KEPT)[begun].sum(axis=0)
        if links and of_both < FAR * links:
            shares.append(f"{100 * of_both / links:.0f}%")
    if shares:
        yield "initial-far", Hit("", "", " and ".join(shares), detail=f"{initial!r}")


CAUTIONS: Mapping[str, tuple[str, ...]] = {
    "misread": (
        "one of the two seems to be read with a wrong base or direction ({number})",
        "give the base of each file, such as 'alignkit merge --add NAME=FILE:FORMAT:base=1'",
        "one alignment seems to have a wrong base or direction: {brief}; give it for each file",
    ),
    "nearly-identical": (
        "two annotators have exactly the same links, sure and possible, in {number}: one may have "
        "copied from the other, and then their agreement says nothing (this caution: 70% or more "
        "of at least 10 pairs in which one of them has four links or more, one of them of "
        "different words, and which they did not both leave as the initial alignment was)",
        "find out how they worked; report their agreement only if they worked independently",
        "the same links in {brief} pairs; did they work independently?",
    ),
    "undefined": (
        "C has no value ({number}) because {detail}",
        "report pi and F1 if they have values",
        "C has no value because {detail}; report pi and F1 if they have values",
    ),
    "below-chance": (
        "C is below 0 ({number}): the two agree less than they would by chance ({detail}), so "
        "this model does not fit here, or the two follow different rules",
        "report F1, pi, pi0 and C by other models of chance, and check what the two edited",
        "C {brief}; report F1, and C by other models",
    ),
    "few-pairs": (
        "there are few sentence pairs ({number}; below 50 for F1, 30 for C): other pairs could "
        "give very different figures, and a 95% interval of F1 covers about 90%",
        "report the number of pairs, and do not use these figures alone to compare",
        "only {brief} sentence pairs; report the number, and do not compare by these figures",
    ),
    "more-pairs": (
        "F1 of words is not known within 3 points: that takes about {number} pairs in all that "
        "both annotate (enough with a probability of about 80%)",
        "have more pairs annotated by both, or report F1 with its interval",
        "to know F1 within 3 points takes {brief} pairs in all (80% certain)",
    ),
    "one-differs": (
        "{detail} agrees with the others less than they agree with each other (F1: {number}), or "
        "the two others did not work independently (no statistic of three can tell): a mean over "
        "all pairings hides this",
        "report each pairing, and check what {detail} does differently",
        "{detail} agrees less with the others: {brief}; report each pairing",
    ),
    "given-links": (
        "the annotators judged links that they were given ({number}): cells that nobody looked"
        " at count as agreement",
        "report kappa and AC1 over the judged cells (universe 'judged')",
        "they judged {brief} links that they were given; report kappa over these, not C",
    ),
    "one-sided": (
        "in many of the sentence pairs used, only one of the two marked anything, which counts "
        "as 0 ({number}): C depends on who marks anything at all as much as on what they mark",
        "report the number of such pairs, and F1, which pools all pairs",
        "in {brief} pairs only one marked anything; report the number, and F1",
    ),
    "equal-words": (
        "most of the links that chance ({detail}) may delete join equal words ({number}), which "
        "C leaves out: annotators keep them, so chance also keeps the other links too often, "
        "and pi0 is too high",
        "report C by edit-strata, which has separate rates for equal words",
        "{brief} of the initial links join equal words; report C (strata)",
    ),
    "chance-near-one": (
        "pi0 is close to 1 ({number}): chance alone almost reaches full agreement, and small "
        "differences in pi change C a lot",
        "report pi and pi0 with C, or use separate rates for equal words (edit-strata)",
        "pi0 is {brief}: small differences in pi change C a lot; report pi and pi0",
    ),
    "left-out": (
        "C leaves out many of the sentence pairs ({number}), those {detail}: it says nothing "
        "about them",
        "report how many pairs C is based on",
        "C leaves out {brief} pairs {detail}; report this",
    ),
    "model": (
        "C changes by more than 0.1 with the model of chance ({number}): it depends on the "
        "model as much as on the annotators",
        "report C by each model, name the models, and compare only figures of the same model",
        "C is {brief}; name the model; see the table chance",
    ),
    "normalizer": (
        "C or pi changes by more than 0.1 depending on what the number of shared links is divided "
        "by ({number}): the links of the annotator with fewer links (normalizer min), so that "
        "further links of the other do not count, or of the one with more links (max), so that "
        "they lower it",
        "report both, or F1 with C",
        "{brief}; report F1 too",
    ),
    "initial-far": (
        "the initial alignment {detail} has few of the annotators' links of different words "
        "({number}): did they correct it?",
        "if not, leave the initial alignment out: C by edits of it means nothing",
        "{detail} has {brief} of their links of different words; did they correct it?",
    ),
    "adjudicated": (
        "the adjudicated version was made from these {number} annotations, so agreement with "
        "it is inflated: it shows whose decisions prevailed, not how reliable they are",
        "report the agreement between annotators as reliability",
        "it was made from these {brief} annotations; F1 with it does not measure reliability",
    ),
    "unsteady": (
        "the adjudicated version {detail} follows an annotator more often in one half of the "
        "sentence pairs than in the other ({number})",
        "look at both halves in the table votes: the adjudicator's rules or the pairs changed",
        "{detail} {brief}; see the table votes",
    ),
    "rough": (
        "sampling stopped before the Monte-Carlo error of C was down to {tolerance:g} ({number})",
        "allow more samples",
        "the sampling error of C is above {tolerance:g}; allow more samples",
    ),
    "coarse": (
        "the Monte-Carlo error of C is large compared with the width of its interval "
        "({number}): another seed would change C",
        "draw more samples",
        "the sampling error of C is large for its interval ({brief}); draw more samples",
    ),
    "undefined-resamples": (
        "C has no value in some resamples ({number}): its interval leaves them out and is too"
        " narrow",
        "report their number, or F1 with its interval",
        "C has no value in {brief} resamples: its interval is too narrow",
    ),
    "intersection": (
        "there are {number} others, so their majority is what both marked: recall tends to be "
        "high and precision low",
        "report the pairings of annotators; do not read this as agreement with a consensus",
        "the majority of two others is what both marked; do not read it as a consensus",
    ),
    "halved": (
        "exactly half of the others have some links ({number} links that any of them has): their "
        "majority leaves these links out",
        "report the pairings of annotators; recall against this majority is too high",
        "half of the others have {brief} links; their majority leaves these out",
    ),
}
"""Every caution, in order: the problem, what to report instead, and both in one line."""


def cautions_of(agreement: AgreementFigures, data: CorpusData | None = None) -> tuple[Caution, ...]:
    """Return the cautions of an agreement, in the order of `CAUTIONS`; `data` is its corpus."""
    hits = _hits(agreement, data or CorpusData(agreement.corpus))
    return find_cautions(hits, CAUTIONS, agreement.options)
