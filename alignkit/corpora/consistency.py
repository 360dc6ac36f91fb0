"""Links to look at again: missing and unusual links, by the links of the same words elsewhere."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from math import log
from typing import NamedTuple

from alignkit._support.arguments import check_arguments, naming_keywords
from alignkit._support.wording import how_many
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import compared
from alignkit.tables.columns import Column
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table

MISSING = "missing link"
UNUSUAL = "unusual link"
"""The kinds of suggestions."""

LEAST = 3.84
"""The least strength of a suggestion: 5 % of a chi-squared variable with 1 degree of freedom."""

_ADDED = 5  # to the counts of equal words, and of links apart, at the rate of all such words
_NEAR = 2  # positions: links of a word that are nearer belong to one phrase
_FEW = 3  # other pairs must show what is usual: the words of one pair are not independent
_TAKEN = 0.5  # of the strength of a missing link stays for each end that is linked as usual
_CARRIED = 0.5  # of the strength of an unusual link counts for the link that it may replace


def log_likelihood_ratio(a: float, b: float, c: float, d: float) -> float:
    """Return Dunning's G2 of the table [[a, b], [c, d]]: 2 sum O ln(O / E); 0 if a margin is 0."""
    total = a + b + c + d
    first_row = a + b
    second_row = c + d
    first_column = a + c
    second_column = b + d

    def term(observed: float, row: float, column: float) -> float:
        """Return O ln(O / E) of a cell, with E = row sum x column sum / total."""
        if not observed:
            return 0.0
        return observed * log(observed * total / (row * column))

    return 2 * (
        term(a, first_row, first_column)
        + term(b, first_row, second_column)
        + term(c, second_row, first_column)
        + term(d, second_row, second_column)
    )


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
        worded = [_Words(pair, name) for pair in aligned if pair.has_text]
        pairs[name] = len(worded)
        without_text += len(aligned) - len(worded)
        usage = _Usage(worded)
        strong: list[Suggestion] = []
        for words in worded:
            strong += [x for x in _suggested(words, usage) if x.strength >= LEAST]
        suggestions += sorted(strong, key=lambda x: -x.strength)
    return Consistency(tuple(suggestions), pairs, without_text)


class _Words:
    """A pair with the compared forms of its words, and an annotator's links by word.

    `linked` gives for each side, and for each linked position there, the positions it is linked to.
    `types` are the pairs of forms that are linked.
    """

    def __init__(self, pair: SentencePair, annotator: str) -> None:
        self.pair = pair
        self.annotator = annotator
        self.links = tuple(pair.alignment(annotator))
        source, target = pair.words
        self.sides = (_compared_forms(source), _compared_forms(target))
        self.linked: tuple[dict[int, list[int]], ...] = defaultdict(list), defaultdict(list)
        for i, j in self.links:
            self.linked[0][i].append(j)
            self.linked[1][j].append(i)
        self.types = {self.forms(i, j) for i, j in self.links}
        equal = set(self.sides[0]) & set(self.sides[1])
        self.equal = len(equal)
        self.equal_linked = sum((word, word) in self.types for word in equal)

    def forms(self, i: int, j: int) -> tuple[str, str]:
        """Return the compared forms of a source and a target word."""
        return self.sides[0][i], self.sides[1][j]

    def together(self, partners: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
        """Yield the different words of both sides that are linked in some pair, or equal."""
        targets = set(self.sides[1])
        for word in dict.fromkeys(self.sides[0]):
            for other in sorted((partners.get(word, set()) | {word}) & targets):
                yield word, other

    def in_phrase(self, i: int, j: int) -> bool:
        """Return whether a link of the same word is near, or the link is in a block of links."""
        targets = [b for b in self.linked[0][i] if b != j]
        sources = [a for a in self.linked[1][j] if a != i]
        near_target = any(abs(b - j) <= _NEAR for b in targets)
        near_source = any(abs(a - i) <= _NEAR for a in sources)
        in_block = any(not set(targets).isdisjoint(self.linked[0][a]) for a in sources)
        return near_target or near_source or in_block

    @cached_property
    def bearing(self) -> Mapping[tuple[int, str], bool]:
        """Each linked word, by side and form, and whether it has links in several places."""
        apart: dict[tuple[int, str], bool] = {}
        for side, forms in enumerate(self.sides):
            for at, others in self.linked[side].items():
                key = side, forms[at]
                several = any(b - a > _NEAR for a, b in pairwise(sorted(others)))
                apart[key] = several or apart.get(key, False)
        return apart

    def suggestion(self, i: int, j: int, kind: str, strength: float, why: str) -> Suggestion:
        """Return a suggestion for a cell of this pair."""
        source, target = self.pair.words
        return Suggestion(
            self.annotator, self.pair.id, source[i], target[j], i, j, kind, strength, why
        )


def _compared_forms(words: Sequence[str]) -> list[str]:
    """Return the words as they are compared: in one case and one form of Unicode."""
    return [compared(word, ignore_case=True) for word in words]


class _Usage:
    """How an annotator links words: the numbers of pairs in which that happens.

    `linked` counts the pairs that link two forms, `both` the pairs that have them.
    """

    def __init__(self, pairs: Sequence[_Words]) -> None:
        self.linked: Counter[tuple[str, str]] = Counter()
        for words in pairs:
            self.linked.update(words.types)
        self.partners: dict[str, set[str]] = defaultdict(set)
        for source, target in self.linked:
            self.partners[source].add(target)
        self.both: Counter[tuple[str, str]] = Counter()
        self._words: Counter[tuple[int, str]] = Counter()
        self._apart: Counter[tuple[int, str]] = Counter()
        for words in pairs:
            self.both.update(words.together(self.partners))
            self._words.update(words.bearing.keys())
            self._apart.update(word for word, apart in words.bearing.items() if apart)
        self._equal = sum(words.equal for words in pairs)
        self._equal_linked = sum(words.equal_linked for words in pairs)
        self._with_equal = sum(words.equal_linked > 0 for words in pairs)
        self._all = self._words.total()
        self._all_apart = self._apart.total()
        self._pairs = sum(bool(words.bearing) for words in pairs)

    def equal_rate(self, words: _Words) -> float | None:
        """Return the share of equal words that other pairs link; None if too few link any."""
        if self._with_equal - (words.equal_linked > 0) < _FEW:
            return None
        return (self._equal_linked - words.equal_linked) / (self._equal - words.equal)

    def rate(self, words: _Words, types: tuple[str, str]) -> tuple[float, float]:
        """Return the number of other pairs that link both words, and that have both."""
        linked = self.linked[types] - (types in words.types)
        both = self.both[types] - 1
        source, target = types
        rate = self.equal_rate(words) if source == target else None
        if rate is None:
            return linked, both
        return linked + _ADDED * rate, both + _ADDED

    def missing(self, words: _Words, types: tuple[str, str]) -> float:
        """Return the strength of a missing link: most other pairs with both words have it."""
        linked, both = self.rate(words, types)
        if linked >= _FEW and linked > both / 2:
            return log_likelihood_ratio(0, 1, linked, both - linked)
        return 0.0

    def other_places(self, side: int, word: str) -> tuple[int, int]:
        """Return the other pairs in which a word has links in several places, and all with links.

        The word has links in several places in this pair.
        """
        return self._apart[side, word] - 1, self._words[side, word] - 1

    def place_rate(self, words: _Words) -> float | None:
        """Return the share of words of other pairs with links in several places; as `equal_rate`.

        A word counts once for each pair in which it has links.
        """
        if self._pairs - 1 < _FEW:
            return None
        others = self._all_apart - sum(words.bearing.values())
        return others / (self._all - len(words.bearing))

    def apart(self, words: _Words, side: int, word: str) -> float:
        """Return how surprising it is that a word has links in several places here."""
        rate = self.place_rate(words)
        if rate is None:
            return 0.0
        several, pairs = self.other_places(side, word)
        apart = several + _ADDED * rate
        others = pairs + _ADDED
        if apart < others / 2:
            return log_likelihood_ratio(1, 0, apart, others - apart)
        return 0.0

    def why_apart(self, words: _Words, side: int, word: str) -> str:
        """Return the evidence behind `apart`: of this word, or of all words if it is rare."""
        several, pairs = self.other_places(side, word)
        if pairs >= _FEW:
            return (
                f"{word!r} seldom has links in several places (in {several} of the {pairs} "
                "other pairs in which it is linked)"
            )
        others = 1 - (self.place_rate(words) or 0.0)
        return f"{word!r} has links in several places, unlike {others:.1%} of the words elsewhere"


_Strongest = tuple[dict[str, tuple[float, str]], dict[str, tuple[float, str]]]
"""The strongest missing link of each source and each target word, and its other word."""


def _suggested(words: _Words, usage: _Usage) -> Iterator[Suggestion]:
    """Yield the suggestions for a pair, also weak ones."""
    missing: dict[tuple[str, str], float] = {}
    strongest: _Strongest = {}, {}
    for types in words.together(usage.partners):
        strength = 0.0 if types in words.types else usage.missing(words, types)
        if strength:
            source, target = types
            missing[types] = strength
            _keep_stronger(strongest[0], source, (strength, target))
            _keep_stronger(strongest[1], target, (strength, source))
    unusual: tuple[dict[int, float], ...] = defaultdict(float), defaultdict(float)
    for i, j in words.links:
        strength, why = _unusual(words, usage, strongest, (i, j))
        unusual[0][i] = max(unusual[0][i], strength)
        unusual[1][j] = max(unusual[1][j], strength)
        yield words.suggestion(i, j, UNUSUAL, strength, why)
    for types, strength in missing.items():
        i, j = _likeliest(words, types)
        odd_source = unusual[0][i]
        odd_target = unusual[1][j]
        total = strength
        if i in words.linked[0] and not odd_source:
            total *= _TAKEN
        if j in words.linked[1] and not odd_target:
            total *= _TAKEN
        total += _CARRIED * max(odd_source, odd_target)
        yield words.suggestion(i, j, MISSING, total, _why_missing(words, usage, types))


def _keep_stronger(
    strongest: dict[str, tuple[float, str]], word: str, missing: tuple[float, str]
) -> None:
    """Note a missing link of a word, unless a stronger one is known."""
    strongest[word] = max(strongest.get(word, missing), missing)


def _why_missing(words: _Words, usage: _Usage, types: tuple[str, str]) -> str:
    """Return the evidence for a missing link."""
    source, target = types
    why = f"linked in {usage.linked[types]} of the {usage.both[types] - 1} other pairs with both"
    rate = usage.equal_rate(words) if source == target else None
    if rate is None:
        return why
    return f"{why}; equal words in {rate:.0%}"


def _unusual(
    words: _Words, usage: _Usage, strongest: _Strongest, link: tuple[int, int]
) -> tuple[float, str]:
    """Return how unusual a link is, and why; 0 in a phrase, or if it is the usual one."""
    types = words.forms(*link)
    linked, both = usage.rate(words, types)
    if (both and linked >= both / 2) or words.in_phrase(*link):
        return 0.0, ""
    strength = 0.0
    why = []
    for side, word in enumerate(types):
        missing, counterpart = strongest[side].get(word, (0.0, ""))
        apart = 0.0
        if len(words.linked[side][link[side]]) > 1:
            apart = usage.apart(words, side, word)
        if not (missing or apart):
            continue
        strength += max(missing, apart)
        usual = (word, counterpart) if side == 0 else (counterpart, word)
        if missing < apart:
            why.append(usage.why_apart(words, side, word))
        elif usage.linked[usual] < _FEW:
            why.append(f"{word!r} is on both sides, and equal words are usually linked")
        else:
            why.append(f"{word!r} is usually linked to {counterpart!r}, which is here too")
    return strength, "; ".join(why)


def _likeliest(words: _Words, types: tuple[str, str]) -> tuple[int, int]:
    """Return the cell of two words whose ends have the fewest links, then nearest the diagonal."""
    sources, targets = words.sides
    rows = [i for i, word in enumerate(sources) if word == types[0]]
    columns = [j for j, word in enumerate(targets) if word == types[1]]

    def cost(cell: tuple[int, int]) -> tuple[int, float]:
        """Return how many ends of a cell are linked, and how far from the diagonal it is."""
        i, j = cell
        linked_ends = (i in words.linked[0]) + (j in words.linked[1])
        return linked_ends, abs(i / len(sources) - j / len(targets))

    return min(product(rows, columns), key=cost)
