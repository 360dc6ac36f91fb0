"""Links to look at again: missing and unusual links, by the links of the same words elsewhere.

Each pair of an annotator is compared with the annotator's other pairs, in three steps:

1. *Missing links*: two words that are not linked here, but in most other pairs with both. The
   strongest missing link of a word names its usual counterpart.
2. *Unusual links*: two words that are seldom linked. The evidence against a link is added up over
   its two words: a word has a usual counterpart in the pair (step 1), or is scattered, that is, it
   has links in several places, which is rare for it.
3. A missing link is weaker if its words have other links that are not unusual, and stronger if they
   have an unusual link, which the annotator may have drawn instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from alignkit._support.arguments import check_arguments, naming_keywords
from alignkit._support.wording import how_many
from alignkit.corpora.word_usage import FEW, SOURCE, TARGET, AlignedWords, Forms, WordUsage
from alignkit.model.corpus import Corpus
from alignkit.tables.columns import Column
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table

MISSING = "missing link"
UNUSUAL = "unusual link"
"""The kinds of suggestions."""

LEAST = 3.84
"""The least strength of a suggestion: 5 % of a chi-squared variable with 1 degree of freedom."""

# shares that step 3 takes: of the strength of a missing link, for each of its two words that has
# other links, none of them unusual
_IF_LINKED_AS_USUAL = 0.5
# and of the strength of an unusual link that it may replace, which is added
_OF_UNUSUAL = 0.5


class Suggestion(NamedTuple):
    """A cell to look at again: `i` and `j` count words from 0, `strength` adds up G2."""

    annotator: str
    id: str
    source: str
    target: str
    i: int
    j: int
    kind: str
    strength: float
    why: str


_COLUMNS = (
    Column("annotator"),
    Column("pair"),
    Column("source"),
    Column("target"),
    Column("i", "count"),
    Column("j", "count"),
    Column("kind"),
    Column("strength", "decimal", digits=1),
    Column("why"),
)


@dataclass(frozen=True)
class Consistency(TableResult):
    """The suggestions for each annotator, strongest first.

    Returned by `consistency`.

    Parameters
    ----------
    suggestions : The suggestions, by annotator, then by strength.
    pairs : The number of pairs with words that each annotator aligned.
    without_text : The number of aligned pairs without words, which are left out.
    most : Suggestions of an annotator that `show` prints; None for all.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.corpora import consistency
    >>> corpus = Corpus.from_texts(["a b"] * 20, ["c d"] * 20, ann=["0-0 1-1"] * 19 + ["0-0"])
    >>> result = consistency(corpus)
    >>> result.pairs["ann"], result.suggestions[0].id, result.suggestions[0].kind
    (20, '20', 'missing link')
    """

    suggestions: tuple[Suggestion, ...]
    pairs: Mapping[str, int]
    without_text: int = 0
    most: int | None = None

    def show(self, medium: str = "text") -> str:
        """Return the strongest suggestions of each annotator in a medium."""
        return self.table(self.most).show(medium)

    def to_json(self) -> dict[str, object]:
        """Return the suggestions, and what they rest on."""
        return super().to_json() | {"pairs": dict(self.pairs), "without_text": self.without_text}

    def table(self, most: int | None = None) -> Table:
        """Return a row for each suggestion, or for the strongest of each annotator.

        Examples
        --------
        >>> from alignkit import Corpus
        >>> from alignkit.corpora import consistency
        >>> corpus = Corpus.from_texts(["a b"] * 20, ["c d"] * 20, ann=["0-0 1-1"] * 19 + ["0-0"])
        >>> len(consistency(corpus).table(most=5).rows)
        1
        """
        rows = []
        notes = []
        for name, pairs in self.pairs.items():
            suggestions = [x for x in self.suggestions if x.annotator == name]
            rows += suggestions[:most]
            count = how_many(len(suggestions), "suggestion", commas=True)
            notes.append(f"{name}: {count} in {how_many(pairs, 'pair', commas=True)}")
        if len(rows) < len(self.suggestions):
            notes.append(f"the strongest {len(rows)} are listed")
        if self.without_text:
            notes.append(f"{how_many(self.without_text, 'pair')} without words left out")
        return Table("", _COLUMNS, rows, "; ".join(notes), "suggestions", stub=2)


@naming_keywords
def consistency(corpus: Corpus, *, annotator: str | None = None) -> Consistency:
    """Find links and cells that contradict the annotator's own links of the same words elsewhere.

    A *missing link* joins two words that are linked in most pairs with both. An *unusual link*
    joins words that are seldom linked, at least one of which has its usual counterpart in the pair,
    without a link, or has a link elsewhere too, which is rare for this word. Case does not count.
    The formulas: https://alignkit.github.io/alignkit/latest/formats/concordance.html

    Parameters
    ----------
    corpus : The sentence pairs; those without words are left out and counted.
    annotator : Whose links to check; None for each annotator.

    Raises
    ------
    UnknownNameError : If the annotator aligned no pair.

    References
    ----------
    Dunning 1993, Computational Linguistics 19(1):61-74: the log-likelihood ratio.

    Examples
    --------
    >>> corpus = Corpus.from_texts(["a b"] * 20, ["c d"] * 20, ann=["0-0 1-1"] * 19 + ["0-0"])
    >>> result = consistency(corpus)
    >>> [(x.id, x.source, x.target, x.kind, x.why) for x in result.suggestions]
    [('20', 'b', 'd', 'missing link', 'linked in 19 of the 19 other pairs with both')]
    """
    check_arguments(consistency, locals())
    if annotator is not None:
        corpus.require(annotator)
    names = corpus.aligners if annotator is None else (annotator,)
    suggestions: list[Suggestion] = []
    pairs = {}
    without_text = 0
    for name in names:
        aligned = [pair for pair in corpus if pair.aligned_by(name)]
        with_text = [AlignedWords(pair, name) for pair in aligned if pair.has_text]
        pairs[name] = len(with_text)
        without_text += len(aligned) - len(with_text)
        usage = WordUsage(with_text)
        strong: list[Suggestion] = []
        for pair in with_text:
            strong += [x for x in _suggestions(pair, usage) if x.strength >= LEAST]
        suggestions += sorted(strong, key=lambda x: -x.strength)
    return Consistency(tuple(suggestions), pairs, without_text)


class _Counterpart(NamedTuple):
    """The usual counterpart of a word, and the strength of the missing link to it."""

    strength: float
    form: str


_NO_COUNTERPART = _Counterpart(0.0, "")

_Counterparts = tuple[dict[str, _Counterpart], dict[str, _Counterpart]]
"""By form of the source and of the target side; words without a missing link have none."""


class _Unusual(NamedTuple):
    """How unusual a link is, and why; 0 if it is as usual."""

    strength: float
    why: str


def _suggestions(pair: AlignedWords, usage: WordUsage) -> Iterator[Suggestion]:
    """Yield the suggestions for a pair, also weak ones."""
    missing = {}
    for forms in pair.candidates(usage.partners):
        if forms not in pair.linked_forms:
            strength = usage.missing_strength(pair, forms)
            if strength:
                missing[forms] = strength
    counterparts = _counterparts(missing)
    unusual = {}
    for i, j in pair.links:
        link = _unusual(pair, usage, counterparts, i, j)
        unusual[i, j] = link.strength
        yield _suggestion(pair, i, j, UNUSUAL, link.strength, link.why)
    for forms, strength in missing.items():
        i, j = _likeliest_cell(pair, forms)
        total = _weighed(pair, i, j, strength, unusual)
        yield _suggestion(pair, i, j, MISSING, total, _why_missing(pair, usage, forms))


def _suggestion(
    pair: AlignedWords, i: int, j: int, kind: str, strength: float, why: str
) -> Suggestion:
    """Return a suggestion for a cell of a pair."""
    source, target = pair.pair.words
    cell = (source[i], target[j], i, j)
    return Suggestion(pair.annotator, pair.pair.id, *cell, kind, strength, why)


def _counterparts(missing: Mapping[Forms, float]) -> _Counterparts:
    """Return the other end of the strongest missing link of each word that has one."""
    counterparts: _Counterparts = {}, {}
    for (source, target), strength in missing.items():
        to_target = _Counterpart(strength, target)
        to_source = _Counterpart(strength, source)
        of_source = counterparts[SOURCE].get(source, to_target)
        of_target = counterparts[TARGET].get(target, to_source)
        counterparts[SOURCE][source] = max(of_source, to_target)
        counterparts[TARGET][target] = max(of_target, to_source)
    return counterparts


def _unusual(
    pair: AlignedWords, usage: WordUsage, counterparts: _Counterparts, i: int, j: int
) -> _Unusual:
    """Return how unusual a link is; 0 in a phrase, or if most other pairs with both words have it.

    Each of its words adds the stronger of its two kinds of evidence: that its usual counterpart is
    here, but not linked, and that it is scattered.
    """
    forms = pair.forms(i, j)
    linked, both = usage.linked_elsewhere(pair, forms)
    is_usual = both > 0 and linked >= both / 2
    if is_usual or pair.in_phrase(i, j):
        return _Unusual(0.0, "")
    strength = 0.0
    why = []
    for side, position in enumerate((i, j)):
        form = forms[side]
        counterpart = counterparts[side].get(form, _NO_COUNTERPART)
        scattered = 0.0
        if len(pair.linked_to[side][position]) > 1:
            scattered = usage.scatter_strength(pair, side, form)
        if scattered > counterpart.strength:
            why.append(usage.why_scattered(pair, side, form))
        elif counterpart.strength:
            why.append(_why_counterpart(usage, side, form, counterpart.form))
        strength += max(counterpart.strength, scattered)
    return _Unusual(strength, "; ".join(why))


def _why_counterpart(usage: WordUsage, side: int, form: str, counterpart: str) -> str:
    """Return the evidence for the usual counterpart of a form."""
    if side == SOURCE:
        usual = (form, counterpart)
    else:
        usual = (counterpart, form)
    if usage.linked[usual] < FEW:
        return f"{form!r} is on both sides, and equal words are usually linked"
    return f"{form!r} is usually linked to {counterpart!r}, which is here too"


def _likeliest_cell(pair: AlignedWords, forms: Forms) -> tuple[int, int]:
    """Return the cell of two forms whose words have the fewest links, then nearest the diagonal."""
    sources, targets = pair.sides
    rows = [i for i, form in enumerate(sources) if form == forms[SOURCE]]
    columns = [j for j, form in enumerate(targets) if form == forms[TARGET]]

    def cost(cell: tuple[int, int]) -> tuple[int, float]:
        """Return how many words of a cell are linked, and how far from the diagonal it is."""
        i, j = cell
        linked = (i in pair.linked_to[SOURCE]) + (j in pair.linked_to[TARGET])
        return linked, abs(i / len(sources) - j / len(targets))

    return min(product(rows, columns), key=cost)


def _weighed(
    pair: AlignedWords, i: int, j: int, strength: float, unusual: Mapping[tuple[int, int], float]
) -> float:
    """Return the strength of a missing link after the other links of its words are considered.

    `unusual` has the strength of each link of the pair as an unusual one.
    """
    of_source = [unusual[i, b] for b in pair.linked_to[SOURCE].get(i, ())]
    of_target = [unusual[a, j] for a in pair.linked_to[TARGET].get(j, ())]
    for strengths in (of_source, of_target):
        if strengths and not any(strengths):
            strength *= _IF_LINKED_AS_USUAL
    return strength + _OF_UNUSUAL * max([*of_source, *of_target], default=0.0)


def _why_missing(pair: AlignedWords, usage: WordUsage, forms: Forms) -> str:
    """Return the evidence for a missing link."""
    source, target = forms
    why = f"linked in {usage.linked[forms]} of the {usage.both[forms] - 1} other pairs with both"
    equal_rate = usage.equal_rate(pair) if source == target else None
    if equal_rate is None:
        return why
    return f"{why}; equal words in {equal_rate:.0%}"
