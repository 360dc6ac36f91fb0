"""Where an agreement stands among published corpora of the same kind, or why nobody can say.

A place is said only among three or more corpora of the same kind (`ScaleKind`), and never if the
intervals do not tell the corpus apart from its neighbours. Higher or lower than others is no
judgment: F1 also depends on texts, guidelines and training.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING

from alignkit._support.values import FrozenMap
from alignkit._support.wording import how_many, visible
from alignkit.agreement.figures import AgreementFigures, Pairing
from alignkit.agreement.names import listed
from alignkit.agreement.numbers import ALL, all_f1, mean_of
from alignkit.agreement.published import (
    INCLUDED,
    LANGUAGES,
    LEFT_OUT,
    PublishedCorpus,
    ScaleKind,
    published,
    summary,
)
from alignkit.tables.columns import Value, percent

if TYPE_CHECKING:
    from alignkit.model.corpus import Corpus

LEAST = 3  # with fewer corpora of a kind, no place is said

CLAUSES: Mapping[str, str] = {
    "scale-higher": "higher than all {count} published of this kind",
    "scale-lower": "lower than all {count} published of this kind",
    "scale-between": "between the published {lower} and {upper}",
}
"""The clauses of an answer, by code."""

REASONS: Mapping[str, str] = {
    "no-figure": "There is no F1 to place.",
    "no-single-figure": "{apart}, so no single F1 describes all annotators.",
    "exact-case": "Words that differ only in case count as different here, but not in the "
    "published figures.",
    "kind-unknown": "The kind of this corpus is not known ({kind}).",
    "few": "{published} of this kind ({kind}){without}. At least {least} are needed: a place among "
    "fewer would say more about these corpora than about this one.",
    "no-interval": "Without an interval of F1, nobody can say where this corpus stands.",
    "within": "The interval of F1 overlaps with the nearest published figures ({neighbours}), so "
    "nobody can say which is higher.",
}
"""Why no place is said, by code."""


@dataclass(frozen=True)
class ScalePlace:
    """The place of an agreement among published corpora.

    Parameters
    ----------
    code : A key of `CLAUSES` if there is a place, else the first key of `reasons`.
    says : The same as sentences.
    kind : What is compared with what.
    f1, low, high : F1 of all links. With several annotators: the mean of the pairings, from the
        lowest to the highest bound.
    corpora : How many published corpora of this kind have a single F1.
    kinds : How many there are of each kind, by its text.
    pairings : F1 of every two annotators with its bounds, by their names.
    reasons : Every reason why no place is said, by its code in `REASONS`.
    assumed : What the kind was derived from, as sentences.
    same_as : The published corpus that has the same figures; it is not counted. Empty if none.
    about_same : The same as a sentence.
    neighbours : The names of the corpora with the next lower and the next higher F1.
    clause : The clause of the answer; empty if there is no place.
    """

    code: str
    says: str
    kind: ScaleKind
    f1: float
    low: float
    high: float
    corpora: int
    kinds: Mapping[str, int]
    pairings: Mapping[str, tuple[float, float, float]]
    reasons: Mapping[str, str]
    assumed: tuple[str, ...] = ()
    same_as: str = ""
    about_same: str = ""
    neighbours: tuple[str, ...] = ()
    clause: str = ""

    def __str__(self) -> str:
        return self.says


def stand(own: Value, others: Mapping[str, Value]) -> tuple[str, tuple[str, ...]]:
    """Return the code of a place, and the names of its neighbours.

    Parameters
    ----------
    own : The figure with its interval.
    others : The figures of the others by name; without an interval, the figure itself counts.

    Returns
    -------
    tuple
        ``"scale-higher"`` or ``"scale-lower"`` if its interval is apart from those of all others;
        ``"scale-between"`` if it is apart from that of a neighbour at least; else ``"within"``.

    Examples
    --------
    >>> others = {"A": Value(0.6, 0.55, 0.65), "B": Value(0.7), "C": Value(0.9)}
    >>> stand(Value(0.8, 0.78, 0.82), others)
    ('scale-between', ('B', 'C'))
    >>> stand(Value(0.65, 0.5, 0.8), others)
    ('within', ('A', 'B'))
    >>> stand(Value(0.95, 0.92, 0.97), others)
    ('scale-higher', ('C',))
    """
    lower = [name for name, other in others.items() if other.value <= own.value]
    upper = [name for name, other in others.items() if other.value >= own.value]
    neighbours = []
    if lower:
        neighbours.append(max(lower, key=lambda name: others[name].value))
    if upper:
        neighbours.append(min(upper, key=lambda name: others[name].value))
    apart = {name for name, other in others.items() if not _overlap(own, other)}
    if lower and upper:
        code = "scale-between" if apart.intersection(neighbours) else "within"
    elif len(apart) < len(others):
        code = "within"
    else:
        code = "scale-higher" if lower else "scale-lower"
    return code, tuple(neighbours)


def _overlap(own: Value, other: Value) -> bool:
    """Return whether two intervals have a value in common."""
    low = other.value if isnan(other.low) else other.low
    high = other.value if isnan(other.high) else other.high
    return own.low <= high and low <= own.high


def place_of(
    agreement: AgreementFigures,
    pairings: Sequence[Pairing],
    *,
    sides: tuple[Sequence[str], Sequence[str]] | None,
) -> ScalePlace:
    """Return the place of an agreement by F1 of all links, or why there is none.

    Parameters
    ----------
    agreement : The agreement.
    pairings : Every two annotators with an F1.
    sides : The annotators in two groups, if these differ or one annotator stands apart.
    """
    kind, assumed = kind_of(agreement, pairings)
    own = own_figure(pairings)
    values = {two.name: number.cell for two, number in all_f1(pairings).items()}
    twin = twin_of(list(values.values()), kind.equal_words, published())
    rest = [corpus for corpus in published() if corpus != twin]
    others = figures_of(kind, rest)
    neighbours: tuple[str, ...] = ()
    codes = _why_not_placed(
        own, kind, others, is_divided=bool(sides), exact_case=agreement.options.exact_case
    )
    if not codes:
        code, neighbours = stand(own, others)
        codes = [code]
    code = codes[0]
    shown = [f"{name} ({percent(others[name].value)})" for name in neighbours]
    other = "other " if twin else ""
    counted = how_many(len(others), f"{other}published corpus is", f"{other}published corpora are")
    words = {
        "kind": str(kind),
        "count": len(others),
        "published": f"Only {counted}" if others else f"No {other}published corpus is",
        "without": _without(kind, rest),
        "least": LEAST,
        "neighbours": " and ".join(shown),
        "lower": shown[0] if shown else "",
        "upper": shown[-1] if shown else "",
        "apart": _who_is_apart(sides) if sides else "",
    }
    clause = CLAUSES[code].format(**words) if code in CLAUSES else ""
    reasons = {each: REASONS[each].format(**words) for each in codes if each in REASONS}
    says = [f"F1 is {clause} (kind: {kind})."] if clause else list(reasons.values())
    about_same = _of_twin(twin, kind, rest) if twin else ""
    if twin:
        says.insert(0, about_same)
    return ScalePlace(
        code=code,
        says=" ".join(says),
        kind=kind,
        f1=own.value,
        low=own.low,
        high=own.high,
        corpora=len(others),
        kinds=FrozenMap(kinds_of(published())),
        pairings=FrozenMap({name: (at.value, at.low, at.high) for name, at in values.items()}),
        reasons=FrozenMap(reasons),
        assumed=assumed,
        same_as=twin.name if twin else "",
        about_same=about_same,
        neighbours=neighbours,
        clause=clause,
    )


def _why_not_placed(
    own: Value,
    kind: ScaleKind,
    others: Mapping[str, Value],
    *,
    is_divided: bool,
    exact_case: bool,
) -> list[str]:
    """Return the codes of all reasons not to look for the place of a figure among others."""
    if isnan(own.value):
        return ["no-figure"]
    codes = []
    if is_divided:
        codes.append("no-single-figure")
    if exact_case:
        codes.append("exact-case")
    if not kind.known:
        codes.append("kind-unknown")
    elif len(others) < LEAST:
        codes.append("few")
    if isnan(own.low):
        codes.append("no-interval")
    return codes


def _who_is_apart(sides: tuple[Sequence[str], Sequence[str]]) -> str:
    """Return the clause on the annotator who stands apart, or on two groups."""
    rest, side = (list(map(visible, names)) for names in sides)
    if len(side) == 1:
        return f"{side[0]} stands apart from {listed(rest)}"
    return f"There are two groups ({listed(rest)}; {listed(side)})"


def _without(kind: ScaleKind, corpora: Sequence[PublishedCorpus]) -> str:
    """Return the clause on corpora of a kind that have no single F1."""
    parts = []
    for corpus in corpora:
        sides = corpus.sides(kind.equal_words)
        if corpus.kind(kind.equal_words) == kind and sides:
            parts.append(f"{corpus.name}, which has no single F1 ({_who_is_apart(sides)})")
    return f", not counting {listed(parts)}" if parts else ""


def _of_twin(twin: PublishedCorpus, kind: ScaleKind, rest: Sequence[PublishedCorpus]) -> str:
    """Return the sentences on a published corpus with the same figures."""
    its_kind = twin.kind(kind.equal_words)
    count = sum(1 for corpus in rest if _is_of(corpus, its_kind))
    others = how_many(count, "other is", "others are")
    says = f"This corpus has the same figures as {twin.name}; if it is that corpus, "
    if its_kind != kind:
        says += f"its kind is another ({its_kind}), and "
    return f"{says}{others} of its kind."


def _is_of(corpus: PublishedCorpus, kind: ScaleKind) -> bool:
    """Return whether a corpus is of a kind and has F1 of all links."""
    has_f1 = not isnan(corpus.f1(ALL, kind.equal_words).value)
    return has_f1 and corpus.kind(kind.equal_words) == kind


_SAME_F1 = 6e-5  # published figures have four digits
_SAME_BOUND = 5e-3  # bounds depend on the resamples


def twin_of(
    own: Sequence[Value], equal_words: str, corpora: Sequence[PublishedCorpus]
) -> PublishedCorpus | None:
    """Return the published corpus that has all figures of an agreement, with their intervals.

    A corpus that was published must not count as another one of its kind.

    Parameters
    ----------
    own : F1 of all links of every two annotators.
    equal_words : Whether links of equal words are ``"left out"`` or ``"included"``.
    corpora : The published corpora; figures without an interval need only the same F1.
    """
    for corpus in corpora:
        figures = [figure.cell for figure in corpus.chosen(ALL, equal_words)]
        if own and all(any(_alike(value, figure) for figure in figures) for value in own):
            return corpus
    return None


def _alike(first: Value, second: Value) -> bool:
    """Return whether two figures are the same, up to rounding and resampling."""
    bounds = (abs(first.low - second.low), abs(first.high - second.high))
    apart = any(bound > _SAME_BOUND for bound in bounds)  # false for those without
    return abs(first.value - second.value) <= _SAME_F1 and not apart


def own_figure(pairings: Sequence[Pairing]) -> Value:
    """Return F1 of all links; of several pairings the mean, from the lowest to the highest bound.

    The mean is weighted by the pairs of sentences, as in the tables.
    """
    numbers = all_f1(pairings)
    whole = summary([number.cell for number in numbers.values()])
    return Value(mean_of(numbers).value, whole.low, whole.high)


def figures_of(kind: ScaleKind, corpora: Sequence[PublishedCorpus]) -> dict[str, Value]:
    """Return F1 of all links of the corpora of a kind, by name.

    Without those in which an annotator stands apart, or in which there are two groups: they have no
    single F1, as in `place_of`.
    """
    figures = {}
    for corpus in corpora:
        if _is_of(corpus, kind) and not corpus.sides(kind.equal_words):
            figures[corpus.name] = corpus.f1(ALL, kind.equal_words)
    return figures


def kinds_of(corpora: Sequence[PublishedCorpus]) -> dict[str, int]:
    """Return how many corpora of each kind have a single F1 of all links, by the kind's text."""
    kinds: dict[str, int] = {}
    for equal_words in (LEFT_OUT, INCLUDED):
        for corpus in corpora:
            kind = corpus.kind(equal_words)
            if _is_of(corpus, kind):
                kinds[str(kind)] = len(figures_of(kind, corpora))
    return kinds


# the kind of a corpus
def kind_of(
    agreement: AgreementFigures, pairings: Sequence[Pairing]
) -> tuple[ScaleKind, tuple[str, ...]]:
    """Return the kind of an agreement as far as it is known, and sentences on what is assumed."""
    equal_words = LEFT_OUT if agreement.options.ignore_identical else INCLUDED
    start, assumed = _start_of(agreement, pairings)
    share = shared_words(agreement.corpus)
    languages = languages_by(share)
    sentences = [assumed] if assumed else []
    if not isnan(share):
        taken = LANGUAGES[languages] if languages else "unclear languages"
        sentences.append(
            f"The texts are taken to be of {taken}, because the sentences of a pair share "
            f"{percent(share)}% of their words ({100 * _SAME:.0f}% or more: one language; "
            f"{100 * _TWO:.0f}% or less: two)."
        )
    return ScaleKind(languages, start, equal_words), tuple(sentences)


def _start_of(agreement: AgreementFigures, pairings: Sequence[Pairing]) -> tuple[str, str]:
    """Return what the annotators started from, and a sentence if this is assumed.

    An annotation says it, or else the annotator is taken to have started from the initial alignment
    of the pair; from nothing if there is none. Empty if it differs or is not known.
    """
    given = [two.given is not None for two in pairings]
    if any(given):
        return ("given links" if all(given) else "", "")
    initial = agreement.initial
    corrected = set()
    stated = True
    for pair in agreement.corpus:
        names = [name for name in agreement.annotators if pair.aligned_by(name)]
        if len(names) < 2:
            continue
        for name in names:
            start = pair.annotations[name].start
            if start is None:
                stated = False
                if initial is not None and pair.aligned_by(initial):
                    start = initial
            corrected.add(bool(start))
    if len(corrected) != 1:
        return "", ""
    start_of_all = "corrected" if corrected.pop() else "nothing"
    if stated:
        return start_of_all, ""
    if start_of_all == "nothing":
        return start_of_all, (
            "The annotators are taken to have started from nothing, because no initial alignment "
            "was given (--initial)."
        )
    return start_of_all, (
        f"The annotators are taken to have corrected {visible(str(initial))}, because it was given "
        "as the initial alignment."
    )


_LOOKED_AT = 1000  # sentence pairs, spread over the corpus
_SAME = 0.3  # from this share of words in both sentences on, they are of one language
_TWO = 0.15  # up to this share, they are of two languages


def languages_by(share: float) -> str:
    """Return whether sentences that share so many words are of one language; empty if unclear."""
    if share >= _SAME:
        return "same"
    return "two" if share <= _TWO else ""


def shared_words(corpus: Corpus) -> float:
    """Return the share of the words of the shorter sentence that are also in the other one.

    Only words with a letter count, upper and lower case alike. Of a large corpus, 1,000 pairs or
    somewhat more are looked at. NaN without words.
    """
    step = max(len(corpus) // _LOOKED_AT, 1)
    shared = 0
    words = 0
    for pair in corpus[::step]:
        if not pair.has_text:
            continue
        source, target = map(_counted, pair.words)
        shared += (source & target).total()
        words += min(source.total(), target.total())
    return shared / words if words else nan


def _counted(words: Sequence[str]) -> Counter[str]:
    """Count the words of a sentence that have a letter, upper and lower case alike."""
    return Counter(word.casefold() for word in words if any(map(str.isalpha, word)))
