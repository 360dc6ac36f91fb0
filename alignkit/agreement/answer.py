"""The answer of an agreement: a paragraph of at most six lines that can be quoted.

Rules make it from the result: each rule that holds adds a code, and each code has a sentence in
`TEXTS`. Automatic and adjudicated alignments are never part of it.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from os.path import commonprefix
from typing import Union

import numpy as np
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from alignkit._support.values import FrozenMap
from alignkit._support.wording import how_many, visible
from alignkit.agreement.cautions import FEW, FEW_F1, NEAR_ONE, choice_hits, equal_words_share
from alignkit.agreement.chance.correction import NO_PAIRS
from alignkit.agreement.chance.result import BeyondChanceSection
from alignkit.agreement.figures import AgreementFigures, Pairing
from alignkit.agreement.intervals import weighted_mean
from alignkit.agreement.options import CLOSED, PlanOptions
from alignkit.agreement.planning import plan_two
from alignkit.errors import OptionError
from alignkit.stats.resampling import ALIKE, Interval
from alignkit.tables.columns import decimal, percent
from alignkit.tables.text_width import char_width, cut_middle

CHANCE_NAMES = {
    "edit": "C (Cohn et al.)",
    "edit-split": "C (split)",
    "edit-strata": "C (strata)",
    CLOSED: "C (Kupper-Hafner)",
}
"""The names of C, by model of chance."""

# of the answer
LINES = 6
WIDTH = 100

_ALL = "words.possible"
_SURE = "words.sure"
# longer names lose what all begin with, and then their middle
_LONG = 8
_LONGEST = 12
_USUAL = 5  # with short names of this length, an answer about three or more fits
_NUMBERS = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}
_DIFFER = 0.05  # two models of chance that give C so far apart differ
_APART = 0.1  # who is so far below the others in F1 shares least
_ONE_SIDED = 0.25  # from this share on, C says as much of who marks anything
_WITHIN = 0.03  # how well F1 should be known
_WIDE = 0.2  # wider intervals of F1 say too little to order corpora by

TEXTS: Mapping[str, str] = {
    # who may have copied
    "nearly-identical": "{who} are nearly identical (the same links in {same} of {pairs}): did "
    "they work independently?",
    "several-identical": "{count} of {every} pairings are nearly identical, most of all {who} (the "
    "same links in {same} of {pairs}): did they work independently?",
    # who agrees with whom
    "no-common": "{who} annotated no pair in common: there is no agreement to report.",
    "no-links": "{who} mark no link{different} in the {pairs} that both annotated.",
    "none-shared": "{who} share none of their word links.",
    "two": "{who} share {figures} ({measure}).",
    "range": "{who} share from {low} to {high} of their word links, mean {mean} ({measure}).",
    "apart": "{who} stands apart{but}: {figures}.",
    "groups": "{who} are two groups{but}: within F1 {spans} ({measure}).",
    "least": "{who} shares least, but {but}.",
    "accepted": "Of the links that they accept they share {figures} ({measure}).",
    "given-links": "{who} judged {links} links that they were given: kappa {kappa}.",
    # beyond chance
    "equal-words": "{share:.0f}% of the initial links join equal words",
    "below-chance": "it is {C}",
    "chance-near-one": "its pi0 is {pi0}",
    "no-more-than-chance": " (no more than chance)",
    "less-than-chance": " (less than chance)",
    "no-C": "No C: they agree less than chance by every model ({terms}): they follow different "
    "rules, or edited on purpose.",
    "no-room": "No C: chance alone gives almost full agreement ({terms}).",
    "no-value": "C has no value: {reason}.",
    "no-words": "The words are not known, so there is no C.",
    # what not to do: the first that holds
    "do-not-quote": "C counts cells that nobody judged: do not quote it, nor compare with "
    "annotators who drew links.",
    "no-mean": ". The mean (F1 {mean}) describes {nobody}: do not quote it alone.",
    "few-pairs": " only: do not compare these figures.",
    "one-sided": ", and in {count} of the {used} only one marked anything{where}: give C with F1, "
    "never alone.",
    "normalizer": ": give C with F1, never alone.",
    "wide": ": the intervals are too wide to order corpora by.",
    "initial": ": do not compare C with a corpus corrected from another alignment.",
    "who-is-right": ". Agreement does not say who is right.",
    "plan": "F1 within 3 points: {pairs:,} pairs in all (80% certain).",
}
"""The sentences of an answer, or parts of sentences, by the code of the rule."""


@dataclass(frozen=True)
class Quoted:
    """The C that an answer quotes."""

    model: str  # of chance
    name: str  # in text, such as "C (strata)"
    why: str = ""  # the requested model is not suitable here; empty if it is quoted


@dataclass(frozen=True)
class Answer:
    """The answer of an agreement; printing it shows at most six lines of 100 columns."""

    sentences: tuple[str, ...]  # who agrees with whom, how much, on which data, and for what not
    report: str  # the figures to cite
    codes: tuple[str, ...]  # the rules that apply, each a key of `TEXTS`
    quoted: Quoted | None  # the C to quote
    apart: tuple[str, ...]  # the annotators who differ from the others, if any
    groups: tuple[tuple[str, ...], ...]  # the two groups of annotators, if there are any
    names: Mapping[str, str]  # the short name of each annotator

    def __str__(self) -> str:
        return "\n".join((*wrapped(" ".join(self.sentences)), *wrapped(f"Report: {self.report}")))


_TIED = re.compile(r" \[[^\]]*\]|C \([^)]*\)| \(no interval\)| ~ |pi0? [-.\d]")


def wrapped(text: str) -> list[str]:
    """Wrap a text into lines; a figure and its interval stay on one line."""
    tied = _TIED.sub(lambda match: match[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(tied, WIDTH, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


# names
def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return short names: without the common prefix, and cut in the middle if still long."""
    parts = [re.split("([-_./])", visible(name)) for name in names]
    words = [part[::2] for part in parts]
    shared = len(commonprefix(words)) if len(names) > 1 else 0  # noqa: RUF071
    short = {}
    for name, part in zip(names, parts, strict=True):
        text = "".join(part)
        if char_width(text) > _LONG:
            text = "".join(part[2 * shared :])
            if sum(map(str.isalpha, text)) < 2:  # a lone letter reads as a statistic
                text = "".join(part[2 * max(shared - 1, 0) :])
        short[name] = text
    cut = {name: cut_middle(text, _LONGEST) for name, text in short.items()}
    counts = Counter(cut.values())
    if len(counts) == len(cut):
        return cut
    start = len(commonprefix(list(short.values())))  # noqa: RUF071
    end = len(commonprefix([text[::-1] for text in short.values()]))  # noqa: RUF071
    side = 0 if min(map(len, short.values())) - start - end > 3 else 3  # no lone letter
    inner = {  # the part that differs
        name: cut_middle(text[max(start - side, 0) : len(text) - max(end - side, 0)], _LONGEST)
        for name, text in short.items()
    }
    if len(set(inner.values()) - {""}) == len(cut):
        return inner
    return {name: text if counts[text] == 1 else visible(name) for name, text in cut.items()}


# figures
@dataclass(frozen=True)
class Number:
    """A figure with its interval, as a sentence shows it."""

    value: float
    interval: Union[Interval, str, None] = None
    digits: Callable[[float], str] = percent

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of the interval, or the value itself if all resamples are the same."""
        if isinstance(self.interval, Interval):
            return self.interval.low, self.interval.high
        if self.interval == ALIKE:
            return (self.value, self.value)
        return (nan, nan)

    def show(self, unit: str = "", *, bounds: bool = True) -> str:
        """Return the figure and its interval as text."""
        if isnan(self.value):
            return "undefined"
        text = self.digits(self.value) + unit
        if bounds and isinstance(self.interval, Interval):
            return f"{text} [{', '.join(map(self.digits, self.bounds))}]"
        if bounds and self.interval == ALIKE:
            return f"{text} (no interval)"
        return text


def f1_of(two: Pairing, level: str) -> Number:
    """Return F1 of two annotators at a level."""
    section = two.sections[0]
    name = f"{level}.f1"
    return Number(section.figures.get(name, nan), section.intervals.get(name))


def _kappa(two: Pairing, level: str) -> Number:
    assert two.given is not None
    return Number(*two.given.kappa(level.partition(".")[2]), decimal)


def c_of(two: Pairing, level: str, model: str) -> Number:
    """Return C of two annotators at a level, by a model of chance."""
    part = two.part(level, "all", model)
    return Number(part.C, part.interval or part.no_interval, decimal)


def _known(numbers: Mapping[Pairing, Number]) -> list[Pairing]:
    """Return the pairings with a defined figure; all if none is defined."""
    return [two for two, number in numbers.items() if not isnan(number.value)] or list(numbers)


def _to(counts: Sequence[int]) -> str:
    """Return the range of some counts as text."""
    return " to ".join(map(str, dict.fromkeys((min(counts), max(counts)))))


# who stands apart
def _sides(names: Sequence[str], pairings: Sequence[Pairing]) -> list[list[str]] | None:
    """Return the two groups of annotators that differ most, the larger first, or None."""
    weights = np.zeros((len(names), len(names)))
    for two in pairings:  # the heavier, the less they share; scipy takes 0 for no edge
        weights[names.index(two.first), names.index(two.second)] = 2 - f1_of(two, _ALL).value
    tree = minimum_spanning_tree(weights).toarray()
    best = None
    widest = 0.0
    for edge in zip(*tree.nonzero(), strict=True):
        cut = tree.copy()
        cut[edge] = 0
        count, labels = connected_components(cut, directed=False)
        halves: list[list[str]] = [[], []]
        for name, label in zip(names, (labels != labels[0]).tolist(), strict=True):
            halves[label].append(name)
        gap = _gap(halves[0], pairings, _ALL)
        if count == 2 and gap > widest:  # false where there is no interval
            best = sorted(halves, key=len, reverse=True)
            widest = gap
    return best


def _parted(twos: Iterable[Pairing], side: Sequence[str]) -> tuple[list[Pairing], list[Pairing]]:
    """Return the pairings within two groups, and those across."""
    parted: tuple[list[Pairing], list[Pairing]] = [], []
    for two in twos:
        parted[(two.first in side) != (two.second in side)].append(two)
    return parted


def _gap(side: Sequence[str], pairings: Iterable[Pairing], level: str) -> float:
    """Return the gap between the lowest bound within two groups and the highest across."""
    within, across = _parted(pairings, side)
    low = min((f1_of(two, level).bounds[0] for two in within), default=nan)
    return low - max((f1_of(two, level).bounds[1] for two in across), default=nan)


# the answer
class AnswerWriter:
    """Writes an answer; the methods are in the order of the sentences."""

    def __init__(self, agreement: AgreementFigures) -> None:
        self.agreement, self.codes, self.terse = agreement, dict[str, None](), 0
        self.options, self.names = agreement.options, short_names(agreement.annotators)
        self.every = agreement.of("annotators")
        self.several = len(self.every) > 1
        self.f1 = {two: f1_of(two, _ALL) for two in self.every}
        known = [two for two in self.every if not isnan(self.f1[two].value)]
        self.pairings = [two for two in known if self.several or self.f1[two].value]
        rows = [row for two in self.pairings if (row := two.sections[0].overlap)]
        self.weak = any(  # whether anyone marks links as possible only
            (row.words_possible.hypothesis, row.words_possible.reference)
            != (row.words_sure.hypothesis, row.words_sure.reference)
            for row in rows
        )
        self.levels = (_ALL, _SURE) if self.weak and not self.several else (_ALL,)
        self.given = bool(self.pairings) and all(two.given for two in self.pairings)
        self.links = _to([two.given.links for two in self.pairings if two.given] or [0])
        if self.several:
            pairs = agreement.together[0].used
        else:
            pairs = self.every[0].sections[0].pairs
        self.pairs = how_many(pairs, "pair")
        if self.options.ignore_identical:
            self.measure = "F1; equal words left out"
        else:
            self.measure = "F1"
        if self.several:
            self.sides = _sides(agreement.annotators, self.pairings)
        else:
            self.sides = None
        self.quoted = self.quote()

    def answer(self) -> Answer:
        """Return the answer, shortened to fit: as much as fits with names of a fixed length.

        So what it says does not depend on the names. With three or more annotators whose short
        names are longer than that, it can have more lines.
        """
        names = self.names
        length = _USUAL if self.several else _LONGEST
        self.names = dict.fromkeys(names, "x" * length)
        for self.terse in range(6):
            if len(str(self.written()).splitlines()) <= LINES:
                break
        self.names = names
        return self.written()

    def written(self) -> Answer:
        """Return the answer, as short as `terse` says."""
        rest, side = self.sides or ([], [])
        groups = (tuple(rest), tuple(side)) if len(side) > 1 else ()
        sentences = (
            *self.identical(),
            *self.shares(),
            *self.beyond(),
            *self.nothing(),
            *self.plan(),
        )
        return Answer(
            sentences,
            self.report(),
            tuple(self.codes),
            self.quoted if self.has_c else None,
            () if groups else tuple(side),
            groups,
            FrozenMap(self.names),
        )

    def say(self, code: str, **words: object) -> str:
        """Record that a rule holds, and return its sentence."""
        self.codes[code] = None
        return TEXTS[code].format(**words)

    def listed(self, names: Iterable[str]) -> str:
        """Return the short names of some annotators as a list."""
        *first, last = (self.names[name] for name in names)
        if first:
            return f"{', '.join(first)} and {last}"
        return last

    def pair(self, two: Pairing) -> str:
        """Return the short names of two annotators."""
        return f"{self.names[two.first]} ~ {self.names[two.second]}"

    def ends(self, numbers: Mapping[Pairing, Number], unit: str = "") -> tuple[str, str]:
        """Return the lowest and the highest figure, each with its annotators."""
        ends = (most(_known(numbers), key=lambda two: numbers[two].value) for most in (min, max))
        low, high = (f"{numbers[two].show(unit)} ({self.pair(two)})" for two in ends)
        return low, high

    def span(self, numbers: Mapping[Pairing, Number], unit: str = "") -> str:
        """Return the only figure with its interval, or the range of the figures."""
        known = sorted((numbers[two] for two in _known(numbers)), key=lambda each: each.value)
        if len(numbers) == 1:
            return known[0].show(unit)
        low, high = (known[place].show(unit, bounds=False) for place in (0, -1))
        return low if low == high else f"from {low} to {high}"

    # who may have copied
    @cached_property
    def alike(self) -> list[Pairing]:
        """The pairings that are nearly identical, the most similar first."""
        same = self.agreement.same
        alike = [two for two in self.every if two.name in same and same[two.name].nearly_identical]
        return sorted(alike, key=lambda two: -same[two.name].share)

    def identical(self) -> Iterator[str]:
        """Yield who is nearly identical, if anybody is."""
        for two in self.alike[:1]:
            counts = self.agreement.same[two.name]
            several = {"count": len(self.alike), "every": len(self.every)}
            yield self.say(
                "several-identical" if len(self.alike) > 1 else "nearly-identical",
                who=self.listed((two.first, two.second)),
                same=counts.same,
                pairs=how_many(counts.pairs, "pair"),
                **several,
            )

    # who agrees with whom
    def nothing(self) -> Iterator[str]:
        """Yield the pairings with nothing to compare."""
        reasons: dict[str, list[Pairing]] = {}
        for two in self.every:
            if two not in self.pairings:
                if self.f1[two].value == 0:
                    code = "none-shared"
                else:
                    code = "no-links"
                code = code if two.sections[0].pairs else "no-common"
                reasons.setdefault(code, []).append(two)
        if self.options.ignore_identical:
            same = " of different words"
        else:
            same = ""
        for code, (two, *more) in reasons.items():
            who = self.listed((two.first, two.second))
            pairs = f"{two.sections[0].pairs} pairs"
            if more:
                who = f"The two of {1 + len(more)} of {len(self.every)} pairings"
                pairs = "pairs"
            yield self.say(code, who=who, pairs=pairs, different=same)

    def shares(self) -> Iterator[str]:
        """Yield who agrees with whom, and how much."""
        everyone = self.agreement.annotators
        if self.given:  # how far they agree on links that they were given
            whats = zip(self.levels, ("a link", "a sure one"), strict=False)
            kappas = [
                f"{self.span({two: _kappa(two, level) for two in self.pairings})} on what is {what}"
                for level, what in whats
            ]
            if self.several:
                who = f"The {len(everyone)} annotators"
            else:
                who = self.listed(everyone)
            yield self.say("given-links", who=who, links=self.links, kappa=", ".join(kappas))
        if self.sides is None:
            if self.pairings:
                yield self.share(everyone, self.pairings)
            yield from self.least()
            return
        rest, side = self.sides
        within, across = _parted(self.pairings, side)
        levels = {"sure links": _SURE, "phrase pairs": "phrases.possible"}
        alike = [name for name, level in levels.items() if not _gap(side, self.pairings, level) > 0]
        if alike:
            but = f", but not in {' and '.join(alike)}"
        else:
            but = ""
        inside, f1 = ({two: self.f1[two] for two in those} for those in (within, across))
        if len(side) > 1:
            spans = f"{self.span(inside, '%')}, across {self.span(f1, '%')}"
            who = " and ".join(", ".join(self.names[name] for name in half) for half in self.sides)
            yield self.say("groups", but=but, who=who, spans=spans, measure=self.measure)
            return
        yield self.share(rest, within)
        figures = "from " + " to ".join(self.ends(f1, "%"))
        if len(across) < 3:
            others = {two: two.second if two.first in side else two.first for two in across}
            figures = ", ".join(
                f"{f1[two].show('%')} with {self.names[name]}" for two, name in others.items()
            )
        yield self.say("apart", who=self.names[side[0]], but=but, figures=figures)

    def share(self, names: Sequence[str], pairings: Sequence[Pairing]) -> str:
        """Return how much the annotators of one group agree."""
        f1 = {two: self.f1[two] for two in pairings}
        if len(f1) > 1:
            ends = dict(zip(("low", "high"), self.ends(f1, "%"), strict=True), mean=_mean(f1))
            if self.sides:
                who = self.listed(names)
            else:
                who = f"The {len(names)} annotators"
            return self.say("range", who=who, measure=self.measure, **ends)
        ((two, number),) = f1.items()
        shown = number.show("%")
        sure = f1_of(two, _SURE)
        if not self.given:
            shown += " of their word links"
        if self.weak and self.terse < 4:
            share = sure.show("%") if sure.value else "none"
            if self.given:
                shown += f", of the sure ones {share}"
            else:
                shown += f", {share} of the sure ones"
        code = "accepted" if self.given else "two"
        who = "They" if self.alike == [two] else self.listed(names)  # whom the answer just named
        return self.say(code, who=who, figures=shown, measure=self.measure)

    def least(self) -> Iterator[str]:
        """Yield who shares least, if intervals overlap."""
        for name in self.agreement.annotators if self.several else ():
            others, mine = (
                [self.f1[two].value for two in some] for some in _parted(self.pairings, [name])
            )
            if min(others, default=nan) - max(mine, default=nan) > _APART:
                drawn = self.options.bootstrap != "none"
                if drawn:
                    but = "the intervals overlap"
                else:
                    but = "there are no intervals"
                yield self.say("least", who=self.names[name], but=but)

    # beyond chance
    def quote(self) -> Quoted | None:
        """Return the C to quote: by the requested model, or by strata if that is not suitable."""
        if self.given or not self.pairings or not all(two.beyond for two in self.pairings):
            return None
        models = {two.chance for two in self.pairings}
        model = models.pop() if len(models) == 1 else CLOSED
        why = ""
        if model in ("edit", "edit-split"):
            why = next(self.misleading(model), "")
        model = "edit-strata" if why else model
        return Quoted(model, CHANCE_NAMES[model], why)

    def parts(self, model: str) -> list[tuple[Pairing, str, BeyondChanceSection]]:
        """Return C by a model, for pairings and levels that use any pair."""
        every = ((two, level) for two in self.pairings for level in self.levels)
        parts = [(two, level, two.part(level, "all", model)) for two, level in every]
        return [each for each in parts if each[2].used]

    def misleading(self, model: str) -> Iterator[str]:
        """Yield why an edit model is not suitable."""
        parts = self.parts(model)
        shares = [
            equal_words_share(two, level)
            for two, level, part in parts
            if not abs(part.C - two.part(level, "all", "edit-strata").C) <= _DIFFER
            and any(code == "equal-words" for code, _ in choice_hits(self.agreement, two, level))
        ]
        if shares:
            yield self.say("equal-words", share=100 * max(shares))
        if (worst := min((part.C for *_, part in parts), default=nan)) < 0:
            yield self.say("below-chance", C=decimal(worst))
        if (nearest := max((part.pi0 for *_, part in parts), default=nan)) >= NEAR_ONE:
            yield self.say("chance-near-one", pi0=decimal(nearest))

    @cached_property
    def has_c(self) -> bool:
        """Whether C has a value; by strata, whether it is 0 or more and pi0 is not close to 1."""
        if self.quoted is None:
            return False
        parts = [part for *_, part in self.parts(self.quoted.model)]
        if self.quoted.model == CLOSED:
            return not all(isnan(part.C) for part in parts)
        return bool(parts) and all(part.C >= 0 and part.pi0 < NEAR_ONE for part in parts)

    def beyond(self) -> Iterator[str]:
        """Yield the agreement beyond chance, what it is based on, and what not to do with it."""
        quoted = self.quoted
        if self.given:
            yield self.say("do-not-quote")
        elif self.pairings and (quoted is None or not self.has_c):
            yield self.say("no-words") if quoted is None else self.no_c(quoted)
            yield f"F1 rests on {self.pairs}{self.advice()}"
        elif quoted is not None:
            c = f"Beyond chance: {self.chance(quoted)}"
            if quoted.why:
                why = f" ({quoted.why})" if self.terse < 2 else ""
                c += f"; {CHANCE_NAMES[self.pairings[0].chance]} misleads here{why}"
            used = (
                _to([two.part(level, "all", quoted.model).used for two in self.pairings])
                for level in self.levels
            )
            rests = f"{' and '.join(dict.fromkeys(used))} of {self.pairs}{self.advice()}"
            yield from [f"{c}, on {rests}"] if self.several else [f"{c}.", f"C rests on {rests}"]

    def no_c(self, quoted: Quoted) -> str:
        """Return why no C is quoted."""
        parts = self.parts(quoted.model)
        if not parts:
            return self.say("no-value", reason=NO_PAIRS)
        two, level, part = min(parts, key=lambda each: (not each[2].C < 0, -each[2].pi0))
        terms = [f"pi {decimal(part.pi)}, pi0 {decimal(part.pi0)}"]
        terms += ["sure links"] * (level == _SURE) + [self.pair(two)] * self.several
        if part.C < 0:
            code = "no-C"
        elif part.pi0 >= NEAR_ONE:
            code = "no-room"
        else:
            code = "no-value"
        return self.say(code, terms=", ".join(terms), reason=part.undefined)

    def chance(self, quoted: Quoted) -> str:
        """Return the C to quote, for both levels or for all pairings."""
        every = {two: c_of(two, _ALL, quoted.model) for two in self.pairings}
        if self.sides is not None:
            rest, side = self.sides
            within, across = (
                self.span({two: every[two] for two in those})
                for those in _parted(self.pairings, side)
            )
            apart = f"{within} for {self.listed(rest)}, {across} with {self.listed(side)}"
            if len(side) == 1:
                shown = apart
            else:
                shown = f"within {within}, across {across}"
        elif self.several:
            shown = f"from {' to '.join(self.ends(every))}"
        else:
            figures = []
            for level in self.levels[: 2 if self.terse < 4 else 1]:
                number = c_of(self.pairings[0], level, quoted.model)
                text = number.show(bounds=level == _ALL or self.terse < 3)
                low, high = number.bounds
                if low <= 0 <= high:
                    text += self.say("no-more-than-chance")
                figures.append(text + (self.say("less-than-chance") if high < 0 else ""))
            shown = " and ".join(figures)
        return f"{quoted.name} {shown}"

    def advice(self) -> str:
        """Return what not to do with the figures: the first rule that applies."""
        if self.sides is not None:
            count = sum(map(len, self.sides))
            nobody = f"none of the {_NUMBERS.get(count, count)}"
            if len(self.sides[1]) != 1:
                nobody = "neither group"
            mean = _mean({two: self.f1[two] for two in self.pairings})
            advice = self.say("no-mean", mean=mean, nobody=nobody)
            return "." if self.terse > 4 and self.alike else advice
        if self.quoted and self.has_c:
            parts = self.parts(self.quoted.model)
        else:
            parts = []
        used = [part.used for *_, part in parts] or [two.sections[0].pairs for two in self.pairings]
        if min(used) < FEW or min(two.sections[0].pairs for two in self.pairings) < FEW_F1:
            return self.say("few-pairs")
        if parts:
            two, _, worst = max(parts, key=lambda each: each[2].one_sided / each[2].used)
            if worst.one_sided >= _ONE_SIDED * worst.used:
                where = f" ({self.pair(two)})" if self.several else ""
                return self.say("one-sided", count=worst.one_sided, used=worst.used, where=where)
        hits = (choice_hits(self.agreement, two, level) for two, level, _ in parts)
        if any(code == "normalizer" for those in hits for code, _ in those):
            return self.say("normalizer")
        bounds = [f1_of(two, level).bounds for two in self.pairings for level in self.levels]
        if any(high - low > _WIDE for low, high in bounds):
            return self.say("wide")
        edits = parts and any(two.chance != CLOSED for two in self.pairings)
        return self.say("initial" if edits else "who-is-right")

    def plan(self) -> Iterator[str]:
        """Yield how many pairs it takes to know F1 within 3 points, if there are fewer."""
        if self.needed and self.terse < 5:
            yield self.say("plan", pairs=self.needed)

    @cached_property
    def needed(self) -> int:
        """The pairs that it takes to know the widest F1 within 3 points; 0 if enough or unknown."""
        bounds = {two: self.f1[two].bounds for two in self.pairings}
        widths = {two: high - low for two, (low, high) in bounds.items()}
        wide = [two for two, width in widths.items() if width > 2 * _WITHIN]  # none if NaN
        if not wide:
            return 0
        two = max(wide, key=widths.__getitem__)
        options = PlanOptions(
            half_width=_WITHIN,
            ignore_identical=self.options.ignore_identical,
            exact_case=self.options.exact_case,
        )
        try:
            plan = plan_two(self.agreement.corpus, two.first, two.second, options)
        except OptionError:  # too few pairs to plan from
            return 0
        if plan.pairs > plan.pilot:
            return _two_digits(plan.pairs)
        return 0

    # what to cite
    def report(self) -> str:
        """Return the figures to cite."""
        if self.pairings:
            parts = list(self.cited())
        else:
            parts = ["nothing shared"]
        if self.options.ignore_identical and self.terse < 1 and self.pairings:
            parts.append("equal words left out")
        return f"{'; '.join([*parts, self.pairs])}."

    def cited(self) -> Iterator[str]:
        """Yield the figures to cite, for each level or each pairing."""
        levels = self.levels if self.terse < 4 else self.levels[:1]
        quoted = self.quoted
        measures: dict[str, Callable[[Pairing, str], Number]] = {"word F1": f1_of}
        if self.given:
            count = "" if self.several else f"{self.links} "
            measures = {f"kappa over the {count}given links": _kappa} | measures
        elif quoted is not None and self.has_c:
            measures[quoted.name] = lambda two, level: c_of(two, level, quoted.model)
        if len(self.every) > 3:
            for name, measure in measures.items():
                low, high = self.ends(numbers := {two: measure(two, _ALL) for two in self.pairings})
                if self.sides:
                    mean = ""
                else:
                    mean = f" mean {_mean(numbers, quoted)},"
                yield f"{name}{mean} lowest {low}, highest {high}"
        elif self.several:
            figures = {
                two: ", ".join(of(two, _ALL).show() for of in measures.values())
                for two in self.pairings
            }
            rows = (f"{self.pair(two)} {shown}" for two, shown in figures.items())
            yield f"{', '.join(measures)}: {'; '.join(rows)}"
        elif self.given:
            for name, measure in measures.items():
                shown = (measure(self.pairings[0], level).show() for level in levels)
                yield f"{name} {', sure '.join(shown)}"
        else:
            for level in levels:
                yield self.of_two(self.pairings[0], level)

    def of_two(self, two: Pairing, level: str) -> str:
        """Return F1 and C of two annotators at a level."""
        f1 = f"{'word' if level == _ALL else 'sure links'} F1 {f1_of(two, level).show()}"
        if self.quoted is None:
            return f1
        part = two.part(level, "all", self.quoted.model)
        name = self.quoted.name if level == _ALL else "C"
        c = f"{name} {c_of(two, level, self.quoted.model).show()}"
        if not self.has_c:
            c = f"pi {decimal(part.pi)}, pi0 {decimal(part.pi0)}"
        return f"{f1}, {c} on {how_many(part.used, 'pair') if level == _ALL else part.used}"


def _two_digits(count: int) -> int:
    """Return a number rounded up to two digits: fewer pairs would not be enough."""
    step = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // step) * step


def _mean(numbers: Mapping[Pairing, Number], quoted: Quoted | None = None) -> str:
    """Return the mean of some figures, weighted by pairs (or pairs used) as in the tables."""
    (digits,) = {number.digits for number in numbers.values()}
    weighed = [
        (
            two.part(_ALL, "all", quoted.model).used
            if quoted and digits is decimal
            else two.sections[0].pairs,
            number.value,
        )
        for two, number in numbers.items()
    ]
    return digits(weighted_mean(weighed))
