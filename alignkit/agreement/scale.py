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
from alignkit._support.wording import how_many
from alignkit.agreement.figures import AgreementFigures, Pairing
from alignkit.agreement.numbers import ALL, f1_of, mean_of
from alignkit.agreement.published import (
    INCLUDED,
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
    "no-single-figure": "One annotator stands apart, or there are two groups, so no single F1 "
    "describes all annotators, and nothing is compared.",
    "exact-case": "Words that differ only in case count as different here, but not in the "
    "published figures, so nothing is compared.",
    "kind-unknown": "The kind of this corpus is not known ({kind}), so nothing is compared.",
    "few": "{published} of this kind ({kind}). At least {least} are needed to say where this "
    "corpus stands among them.",
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
    code : A key of `CLAUSES` if there is a place, else a key of `REASONS`.
    says : The same as a sentence.
    kind : What is compared with what.
    f1, low, high : F1 of all links. With several annotators: the mean of the pairings, from the
        lowest to the highest bound.
    corpora : How many published corpora of this kind there are.
    kinds : How many there are of each kind, by its text.
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
    agreement: AgreementFigures, pairings: Sequence[Pairing], *, divided: bool
) -> ScalePlace:
    """Return the place of an agreement by F1 of all links, or why there is none.

    Parameters
    ----------
    agreement : The agreement.
    pairings : Every two annotators with an F1.
    divided : Whether an annotator stands apart, or there are two groups.
    """
    kind = kind_of(agreement, pairings)
    own = own_figure(pairings)
    others = figures_of(kind, published())
    neighbours: tuple[str, ...] = ()
    if isnan(own.value):
        code = "no-figure"
    elif divided:
        code = "no-single-figure"
    elif agreement.options.exact_case:
        code = "exact-case"
    elif not kind.known:
        code = "kind-unknown"
    elif len(others) < LEAST:
        code = "few"
    elif isnan(own.low):
        code = "no-interval"
    else:
        code, neighbours = stand(own, others)
    shown = [f"{name} ({percent(others[name].value)})" for name in neighbours]
    corpora = how_many(len(others), "published corpus is", "published corpora are")
    words = {
        "kind": str(kind),
        "count": len(others),
        "published": f"Only {corpora}" if others else "No published corpus is",
        "least": LEAST,
        "neighbours": " and ".join(shown),
        "lower": shown[0] if shown else "",
        "upper": shown[-1] if shown else "",
    }
    clause = CLAUSES[code].format(**words) if code in CLAUSES else ""
    if clause:
        says = f"F1 is {clause} (kind: {kind})."
    else:
        says = REASONS[code].format(**words)
    return ScalePlace(
        code=code,
        says=says,
        kind=kind,
        f1=own.value,
        low=own.low,
        high=own.high,
        corpora=len(others),
        kinds=FrozenMap(kinds_of(published())),
        neighbours=neighbours,
        clause=clause,
    )


def own_figure(pairings: Sequence[Pairing]) -> Value:
    """Return F1 of all links; of several pairings the mean, from the lowest to the highest bound.

    The mean is weighted by the pairs of sentences, as in the tables.
    """
    numbers = {two: f1_of(two, ALL) for two in pairings}
    whole = summary([Value(number.value, *number.bounds) for number in numbers.values()])
    return Value(mean_of(numbers).value, whole.low, whole.high)


def figures_of(kind: ScaleKind, corpora: Sequence[PublishedCorpus]) -> dict[str, Value]:
    """Return F1 of all links of the corpora of a kind, by name."""
    figures = {}
    for corpus in corpora:
        figure = corpus.f1(ALL, kind.equal_words)
        if corpus.kind(kind.equal_words) == kind and not isnan(figure.value):
            figures[corpus.name] = figure
    return figures


def kinds_of(corpora: Sequence[PublishedCorpus]) -> dict[str, int]:
    """Return how many corpora of each kind have F1 of all links, by the text of the kind."""
    counts = Counter[str]()
    for equal_words in (LEFT_OUT, INCLUDED):
        for corpus in corpora:
            if corpus.chosen(ALL, equal_words):
                counts[str(corpus.kind(equal_words))] += 1
    return dict(counts)


# the kind of a corpus
def kind_of(agreement: AgreementFigures, pairings: Sequence[Pairing]) -> ScaleKind:
    """Return the kind of an agreement, as far as it is known."""
    equal_words = LEFT_OUT if agreement.options.ignore_identical else INCLUDED
    languages = languages_of(agreement.corpus)
    return ScaleKind(languages, _start_of(agreement, pairings), equal_words)


def _start_of(agreement: AgreementFigures, pairings: Sequence[Pairing]) -> str:
    """Return what the annotators started from; empty if it differs or is not known.

    An annotation says it, or else the annotator is taken to have started from the initial alignment
    of the pair; from nothing if there is none.
    """
    given = [two.given is not None for two in pairings]
    if any(given):
        return "given links" if all(given) else ""
    initial = agreement.initial
    corrected = set()
    for pair in agreement.corpus:
        names = [name for name in agreement.annotators if pair.aligned_by(name)]
        if len(names) < 2:
            continue
        for name in names:
            start = pair.annotations[name].start
            if start is None and initial is not None and pair.aligned_by(initial):
                start = initial
            corrected.add(bool(start))
    if len(corrected) != 1:
        return ""
    return "corrected" if corrected.pop() else "nothing"


_LOOKED_AT = 1000  # sentence pairs, spread over the corpus
_SAME = 0.3  # from this share of words in both sentences on, they are of one language
_TWO = 0.15  # up to this share, they are of two languages


def languages_of(corpus: Corpus) -> str:
    """Return whether the sentences of a pair are of the same language; empty if unclear.

    This is seen from `shared_words`: in 24 corpora it is at least .44 for one language and at most
    .12 for two (``python -m benchmarks.scale --languages``).

    Returns
    -------
    str
        ``"same"``, ``"two"``, or empty.
    """
    share = shared_words(corpus)
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
