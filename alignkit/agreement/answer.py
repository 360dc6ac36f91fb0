"""The answer of an agreement: three sentences that can be quoted.

They say who shares how much, what is left of it beyond chance, and what to mind. A fourth one
follows if there are common links that neither of two annotators looked at. Each is made from
templates in `TEXTS`, by rules that look at the result alone: no sentence depends on the length of a
name. Automatic and adjudicated alignments are never part of an answer.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan

from alignkit._support.values import FrozenMap
from alignkit._support.wording import how_many
from alignkit.agreement.apart import parted, sides_of
from alignkit.agreement.cautions import FEW, FEW_F1, NEAR_ONE, choice_hits, equal_words_share
from alignkit.agreement.chance.correction import NO_PAIRS
from alignkit.agreement.chance.result import BeyondChanceSection
from alignkit.agreement.figures import MOST_PAIRINGS, AgreementFigures, Pairing
from alignkit.agreement.names import listed
from alignkit.agreement.numbers import (
    ALL,
    SURE,
    Numbers,
    all_f1,
    c_of,
    counts_of,
    ends_of,
    f1_of,
    given_kappa,
    mean_of,
    span_of,
)
from alignkit.agreement.options import CLOSED
from alignkit.agreement.scale import CLAUSES, ScalePlace, place_of
from alignkit.tables.columns import decimal, percent

CHANCE_NAMES = {
    "edit": "C (Cohn et al.)",
    "edit-split": "C (split)",
    "edit-strata": "C (strata)",
    CLOSED: "C (Kupper-Hafner)",
}
"""The names of C, by model of chance."""

WIDTH = 100  # of the lines of an answer

_DIFFER = 0.05  # two models of chance that give C so far apart differ
_ONE_SIDED = 0.25  # from this share on, C says as much of who marks anything
_WIDE = 0.2  # wider intervals of F1 say too little to order corpora by

TEXTS: Mapping[str, str] = {
    # who shares how much
    "no-common": "{who} annotated no pair in common: there is no agreement to report.",
    "no-links": "{who} mark no link{different} in the pairs that they share.",
    "none-shared": "{who} share none of their word links.",
    "nearly-identical": "{two} are nearly identical (the same links in {same} of {pairs}; did they "
    "work independently?)",
    "several-identical": "{count} of {every} pairings are nearly identical, most of all {two} (the "
    "same links in {same} of {pairs}; did they work independently?)",
    "two": "{who} share {figures} of their word links{sure} ({measure}).",
    "range": "{who} share {figures} of their word links, {mean} on average ({measure}).",
    "apart": "{who} share {figures} of their word links, but only {across} with {apart} "
    "({measure}).",
    "groups": "{who} are two groups: they share {figures} of their word links within a group, and "
    "{across} across ({measure}).",
    "given-links": "{who} judged {links} links that they were given: kappa is {kappa} on what is a "
    "link{sure}.",
    # what is left beyond chance
    "beyond": "Beyond chance, {name} is {figures}, on {used} of {pairs}{misleads}.",
    "equal-words": "{other} misleads here, for {share:.0f}% of the initial links join equal words",
    "below-chance": "{other} misleads here, for it is {value}",
    "chance-near-one": "{other} misleads here, for its pi0 is {value}",
    "no-C": "There is no C: in {pairs}, they agree less than chance by every model ({terms}), so "
    "they follow different rules, or edited on purpose.",
    "no-room": "There is no C: in {pairs}, chance alone gives almost full agreement ({terms}).",
    "no-value": "There is no C: in {pairs}, it has no value, for {reason}.",
    "no-words": "There is no C, for the words of the {pairs} are not known.",
    "accepted": "Of the links that they accept they share {figures}{sure} ({measure}).",
    # what to mind
    "do-not-quote": "Do not quote C, nor compare with annotators who drew links: it counts cells "
    "that nobody judged.",
    "no-mean": "Report each pairing: the mean of all, {mean}, describes {nobody}.",
    "few-pairs": "Do not compare these figures with others: {pairs} are too few.",
    "one-sided": "Report F1 and C: in {count} of {used} pairs only one{whose} marked anything"
    "{sure}.",
    "less-than-chance": "C{of} is less than chance, with its whole interval.",
    "no-more-than-chance": "C{of} is no more than chance: its interval includes 0.",
    "normalizer": "Report F1 and C: C ignores the further links of the one with more links.",
    "wide": "The intervals are too wide to order corpora by.",
    "initial": "Do not compare C with a corpus corrected from another alignment.",
    "who-is-right": "Agreement does not say who is right.",
    # where F1 stands among published corpora
    **CLAUSES,
    # what nobody looked at
    "unseen": "Neither annotator looked at {unseen} of their {common} common links, which were "
    "suggested and kept; without these, {rest}.",
    "unseen-of-several": "In {count} of {every} pairings, neither annotator looked at some common "
    "links, which were suggested and kept; {two} have most ({unseen} of {common}; without these, "
    "{rest}).",
}
"""The sentences of an answer, and clauses of sentences, by the code of the rule."""

Parts = list[tuple[Pairing, str, BeyondChanceSection]]  # C of two annotators at a level


@dataclass(frozen=True)
class Quoted:
    """The C that an answer quotes."""

    model: str  # of chance
    name: str  # in text, such as "C (strata)"
    code: str = ""  # why the requested model is not suitable here; empty if it is quoted
    why: str = ""  # the same as a clause


@dataclass(frozen=True)
class Answer:
    """The answer of an agreement; printing it shows lines of 100 columns."""

    # three, or one if there is nothing to compare; then one on links that nobody looked at, if any
    sentences: tuple[str, ...]
    codes: tuple[str, ...]  # of the sentences and of their clauses, each a key of `TEXTS`
    quoted: Quoted | None  # the C to quote
    apart: tuple[str, ...]  # the annotators who differ from the others, if any
    groups: tuple[tuple[str, ...], ...]  # the two groups of annotators, if there are any
    names: Mapping[str, str]  # the short name of each annotator

    def __str__(self) -> str:
        return "\n".join(wrapped(" ".join(self.sentences)))


_NAMES = "|".join(map(re.escape, CHANCE_NAMES.values()))
_TIED = re.compile(rf" \[[^\]]*\]|{_NAMES}| \(no interval\)| ~ |pi0? [-.\d]")


def wrapped(text: str) -> list[str]:
    """Wrap a text into lines; a figure and its interval stay on one line."""
    tied = _TIED.sub(lambda match: match[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(tied, WIDTH, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


class AnswerWriter:
    """Writes an answer; the methods are in the order of the sentences."""

    def __init__(self, agreement: AgreementFigures) -> None:
        self.agreement = agreement
        self.codes: dict[str, None] = {}  # of the rules that hold so far
        self.every = agreement.every_two
        self.several = len(self.every) > 1
        # those with an F1; if there are only two annotators, it must be above 0
        self.pairings = []
        for two in self.every:
            f1 = f1_of(two, ALL).value
            if not isnan(f1) and (self.several or f1):
                self.pairings.append(two)
        # whether all judged links that they were given
        self.given = bool(self.pairings) and all(two.given for two in self.pairings)
        # figures of sure links are only quoted of two annotators
        self.levels = (ALL, SURE) if self.weak and not self.several else (ALL,)
        # the two groups of annotators that differ, or one annotator and the others
        self.sides = sides_of(agreement.annotators, self.pairings) if self.several else None

    @cached_property
    def weak(self) -> bool:
        """Whether anyone marks links as possible only."""
        rows = [two.whole.overlap for two in self.pairings]
        counts = [(row.words_possible, row.words_sure) for row in rows if row is not None]
        return any(
            possible.hypothesis != sure.hypothesis or possible.reference != sure.reference
            for possible, sure in counts
        )

    @property
    def pairs(self) -> str:
        """The pairs that both, or two of several, annotated."""
        if self.several:
            return how_many(self.agreement.whole.used, "pair")
        return how_many(self.every[0].whole.pairs, "pair")

    def answer(self) -> Answer:
        """Return the answer."""
        if self.pairings:
            sentences = [self.shares(), self.beyond(), self.mind()]
        else:
            sentences = [self.nothing()]
        sentences += self.unseen()
        rest, side = self.sides or ([], [])
        alone = len(side) == 1
        return Answer(
            sentences=tuple(sentences),
            codes=tuple(self.codes),
            quoted=self.quoted if self.has_c else None,
            apart=tuple(side) if alone else (),
            groups=() if alone or not side else (tuple(rest), tuple(side)),
            names=FrozenMap(self.agreement.short_names),
        )

    def say(self, code: str, **words: object) -> str:
        """Record that a rule holds, and return its sentence or clause."""
        self.codes[code] = None
        return TEXTS[code].format(**words)

    def called(self, names: Sequence[str]) -> str:
        """Return the short names of some annotators as a list."""
        return listed(self.agreement.short_names[name] for name in names)

    # who shares how much
    def nothing(self) -> str:
        """Return why there is nothing to compare."""
        who = self.called(self.agreement.annotators)
        if not any(two.whole.pairs for two in self.every):
            return self.say("no-common", who=who)
        if any(f1_of(two, ALL).value == 0 for two in self.every):
            return self.say("none-shared", who=who)
        different = " of different words" if self.agreement.options.ignore_identical else ""
        return self.say("no-links", who=who, different=different)

    def shares(self) -> str:
        """Return who shares how much; who stands apart, or which groups there are."""
        if self.given:
            return self.judged()
        if self.sides is not None:
            return self.divided(*self.sides)
        numbers = all_f1(self.pairings)
        if len(numbers) == 1:
            (two,) = numbers
            who = self.subject(two.names, self.called(two.names))
            figures = numbers[two].show("%")
            sure = self.sure_share(two)
            return self.say("two", who=who, figures=figures, sure=sure, measure=self.measure)
        figures = span_of(numbers, "%")
        if len(numbers) > MOST_PAIRINGS:  # the tables do not show which two are the ends
            ends = []
            for two in ends_of(numbers):
                figure = numbers[two].show("%", bounds=False)
                ends.append(f"{figure} ({self.agreement.label(two)})")
            figures = " to ".join(ends)
        mean = mean_of(numbers).show("%")
        who = self.subject(self.agreement.annotators)
        return self.say("range", who=who, figures=figures, mean=mean, measure=self.measure)

    def divided(self, rest: Sequence[str], side: Sequence[str]) -> str:
        """Return how much two groups share, within and across; one may be a single annotator."""
        within, across = parted(all_f1(self.pairings), side)
        if len(side) == 1:
            code = "apart"
            who = self.subject(rest, self.called(rest))
        else:
            code = "groups"
            halves = f"{self.called(rest)}, and {self.called(side)},"
            who = self.subject((*rest, *side), halves)
        return self.say(
            code,
            who=who,
            figures=span_of(within, "%"),
            across=span_of(across, "%"),
            apart=self.called(side),
            measure=self.measure,
        )

    def judged(self) -> str:
        """Return how far annotators agree on links that they were given."""
        links = [two.given.links for two in self.pairings if two.given]
        kappas = {}
        for level in self.levels:
            of_pairings = {two: given_kappa(two, level) for two in self.pairings}
            kappas[level] = span_of(of_pairings)
        sure = f", and {kappas[SURE]} on what is a sure one" if SURE in kappas else ""
        names = self.agreement.annotators
        who = self.subject(names, "" if self.several else self.called(names))
        kappa = kappas[ALL]
        return self.say("given-links", who=who, links=counts_of(links), kappa=kappa, sure=sure)

    def subject(self, names: Sequence[str], text: str = "") -> str:
        """Return a text for annotators, or their number; before it who are nearly identical."""
        same = self.agreement.same
        alike = [two for two in self.every if two.name in same and same[two.name].nearly_identical]
        if not alike:
            return text or f"The {len(names)} annotators"
        most = max(alike, key=lambda two: same[two.name].share)
        counts = same[most.name]
        clause = self.say(
            "several-identical" if len(alike) > 1 else "nearly-identical",
            two=self.called(most.names),
            same=counts.same,
            pairs=how_many(counts.pairs, "pair"),
            count=len(alike),
            every=len(self.every),
        )
        if len(alike) == 1 and {*names} == {*most.names}:
            return f"{clause} and"
        return f"{clause}; {text or f'the {len(names)} annotators'}"

    def sure_share(self, two: Pairing) -> str:
        """Return the clause on the sure links of two annotators, if anyone marks others."""
        if SURE not in self.levels:
            return ""
        sure = f1_of(two, SURE)
        share = sure.show("%") if sure.value else "none"
        return f" and {share} of the sure ones"

    @property
    def measure(self) -> str:
        """What the figures are; where they stand among published ones, if that can be said."""
        measure = "F1, equal words left out" if self.agreement.options.ignore_identical else "F1"
        if self.scale.clause:
            self.codes[self.scale.code] = None
            measure += f"; {self.scale.clause}"
        return measure

    @cached_property
    def scale(self) -> ScalePlace:
        """The place among published corpora, or why there is none."""
        return place_of(self.agreement, self.pairings, sides=self.sides)

    # what is left beyond chance
    def parts(self, model: str) -> Parts:
        """Return C by a model, for pairings and levels that use any pair."""
        every = ((two, level) for two in self.pairings for level in self.levels)
        parts = [(two, level, two.part(level, "all", model)) for two, level in every]
        return [each for each in parts if each[2].used]

    @cached_property
    def quoted(self) -> Quoted | None:
        """The C to quote: by the requested model, or by strata if that is not suitable."""
        if self.given or not self.pairings or not all(two.beyond for two in self.pairings):
            return None
        models = {two.chance for two in self.pairings}
        model = models.pop() if len(models) == 1 else CLOSED
        misled = None
        if model in ("edit", "edit-split"):
            misled = next(self.misleading(model), None)
        if misled is None:
            return Quoted(model, CHANCE_NAMES[model])
        code, words = misled
        why = TEXTS[code].format(other=CHANCE_NAMES[model], **words)
        return Quoted("edit-strata", CHANCE_NAMES["edit-strata"], code, why)

    def misleading(self, model: str) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield why an edit model is not suitable: the code of a clause, and its words."""
        parts = self.parts(model)
        shares = []
        for two, level, part in parts:
            by_strata = two.part(level, "all", "edit-strata")
            if abs(part.C - by_strata.C) <= _DIFFER:
                continue
            if "equal-words" in dict(choice_hits(self.agreement, two, level)):
                shares.append(equal_words_share(two, level))
        if shares:
            yield "equal-words", {"share": 100 * max(shares)}
        worst = min((part.C for *_, part in parts), default=nan)
        if worst < 0:
            yield "below-chance", {"value": decimal(worst)}
        nearest = max((part.pi0 for *_, part in parts), default=nan)
        if nearest >= NEAR_ONE:
            yield "chance-near-one", {"value": decimal(nearest)}

    @cached_property
    def has_c(self) -> bool:
        """Whether C has a value; by strata, whether it is 0 or more and pi0 is not close to 1."""
        if self.quoted is None:
            return False
        parts = [part for *_, part in self.parts(self.quoted.model)]
        if self.quoted.model == CLOSED:
            return not all(isnan(part.C) for part in parts)
        return bool(parts) and all(part.C >= 0 and part.pi0 < NEAR_ONE for part in parts)

    def beyond(self) -> str:
        """Return the agreement beyond chance, and on how many pairs; or why there is none."""
        if self.given:
            return self.accepted()
        quoted = self.quoted
        if quoted is None:
            return self.say("no-words", pairs=self.pairs)
        if not self.has_c:
            return self.no_c(quoted)
        used = []
        for level in self.levels:
            parts = [two.part(level, "all", quoted.model) for two in self.pairings]
            used.append(counts_of([part.used for part in parts]))
        if quoted.code:
            self.codes[quoted.code] = None
        return self.say(
            "beyond",
            name=quoted.name,
            figures=self.chance(quoted.model),
            used=" and ".join(dict.fromkeys(used)),
            pairs=self.pairs,
            misleads=f"; {quoted.why}" if quoted.why else "",
        )

    def accepted(self) -> str:
        """Return how much annotators share of the given links that they accept."""
        numbers = all_f1(self.pairings)
        sure = "" if self.several else self.sure_share(self.pairings[0])
        figures = span_of(numbers, "%")
        return self.say("accepted", figures=figures, sure=sure, measure=self.measure)

    def no_c(self, quoted: Quoted) -> str:
        """Return why no C is quoted."""
        parts = self.parts(quoted.model)
        if not parts:
            return self.say("no-value", pairs=self.pairs, reason=NO_PAIRS)
        two, level, part = min(parts, key=lambda each: (not each[2].C < 0, -each[2].pi0))
        terms = f"pi {decimal(part.pi)}, pi0 {decimal(part.pi0)}"
        if level == SURE:
            terms += ", sure links"
        if self.several:
            terms += f", {self.agreement.label(two)}"
        if part.C < 0:
            code = "no-C"
        elif part.pi0 >= NEAR_ONE:
            code = "no-room"
        else:
            code = "no-value"
        return self.say(code, pairs=self.pairs, terms=terms, reason=part.undefined)

    def chance(self, model: str) -> str:
        """Return the C to quote, for both levels or for all pairings."""
        if not self.several:
            (two,) = self.pairings
            return " and ".join(c_of(two, level, model).show() for level in self.levels)
        every: Numbers = {two: c_of(two, ALL, model) for two in self.pairings}
        if self.sides is None:
            return span_of(every)
        side = self.sides[1]
        within, across = map(span_of, parted(every, side))
        if len(side) == 1:
            return f"{within}, and {across} with {self.called(side)}"
        return f"{within} within a group and {across} across"

    # what to mind
    def mind(self) -> str:
        """Return what to mind: the first rule that holds."""
        return next(self.rules())

    def rules(self) -> Iterator[str]:
        """Yield what to mind, the most important first."""
        if self.given:
            yield self.say("do-not-quote")
        if self.sides is not None:
            mean = mean_of(all_f1(self.pairings)).show("%")
            nobody = "none" if len(self.sides[1]) == 1 else "neither group"
            yield self.say("no-mean", mean=mean, nobody=nobody)
        parts: Parts = []
        if self.quoted is not None and self.has_c:
            parts = self.parts(self.quoted.model)
        pairs = min(two.whole.pairs for two in self.pairings)
        used = min((part.used for *_, part in parts), default=pairs)
        if used < FEW or pairs < FEW_F1:
            yield self.say("few-pairs", pairs=how_many(min(used, pairs), "pair"))
        if self.quoted is not None and parts:
            yield from self.chance_rules(self.quoted.model, parts)
        bounds = [f1_of(two, level).bounds for two in self.pairings for level in self.levels]
        if any(high - low > _WIDE for low, high in bounds):
            yield self.say("wide")
        if parts and any(two.chance != CLOSED for two in self.pairings):
            yield self.say("initial")
        yield self.say("who-is-right")

    def chance_rules(self, model: str, parts: Parts) -> Iterator[str]:
        """Yield what to mind of C."""
        two, level, part = max(parts, key=lambda each: each[2].one_sided / each[2].used)
        if part.one_sided >= _ONE_SIDED * part.used:
            yield self.say(
                "one-sided",
                count=part.one_sided,
                used=part.used,
                whose=f" of {self.called(two.names)}" if self.several else "",
                sure=" as sure" if level == SURE else "",
            )
        for two, level, _ in parts:
            low, high = c_of(two, level, model).bounds
            if low <= 0:  # false where there is no interval
                of = " of the sure links" if level == SURE else ""
                if self.several:
                    of += f" of {self.called(two.names)}"
                code = "less-than-chance" if high < 0 else "no-more-than-chance"
                yield self.say(code, of=of)
        if self.agreement.options.normalizer == "min":
            hits = [dict(choice_hits(self.agreement, two, level)) for two, level, _ in parts]
            if any("normalizer" in each for each in hits):
                yield self.say("normalizer")

    # what nobody looked at
    def unseen(self) -> Iterator[str]:
        """Yield how many common links neither of two annotators looked at, if there are any."""
        counts = {two: two.unseen for two in self.every if two.unseen and two.unseen.unseen}
        if not counts:
            return
        two = max(counts, key=lambda each: counts[each].unseen / counts[each].common)
        most = counts[two]
        f1 = most.f1["possible"]
        yield self.say(
            "unseen-of-several" if self.several else "unseen",
            unseen=most.unseen,
            common=most.common,
            rest="neither has a link" if isnan(f1) else f"F1 is {percent(f1)}%",
            two=self.called(two.names),
            count=len(counts),
            every=len(self.every),
        )
