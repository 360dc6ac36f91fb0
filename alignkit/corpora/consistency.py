"""Links to look at again: missing and unusual links, by the links of the same words elsewhere."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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

MISSING, UNUSUAL = "missing link", "unusual link"
"""The kinds of suggestions."""

LEAST = 3.84
"""The least strength of a suggestion: 5 % of a chi-squared variable with 1 degree of freedom."""

_ADDED = 5  # to the counts of equal words, and of links apart, at the rate of all such words
_NEAR = 2  # positions: links of a word that are nearer belong to one phrase
_FEW = 3  # a usual link occurs in as many other pairs
_TAKEN = 0.5  # of the strength of a missing link stays for each end that is linked as usual
_CARRIED = 0.5  # of the strength of an unusual link counts for the link that it may replace


def log_likelihood_ratio(a: float, b: float, c: float, d: float) -> float:
    """Return Dunning's G2 of the table [[a, b], [c, d]]: 2 sum O ln(O / E); 0 if a margin is 0."""
    total = a + b + c + d
    cells = ((a, a + b, a + c), (b, a + b, b + d), (c, c + d, a + c), (d, c + d, b + d))
    return 2 * sum(o * log(o * total / (row * column)) for o, row, column in cells if o)


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
    *(Column("annotator"), Column("pair"), Column("source"), Column("target")),
    *(Column("i", "count"), Column("j", "count"), Column("kind")),
    *(Column("strength", "decimal", digits=1), Column("why")),
)


@dataclass(frozen=True)
class Consistency(TableResult):
    """The suggestions for each annotator, strongest first.

    Parameters
    ----------
    suggestions : The suggestions, by annotator, then by strength.
    pairs : The number of pairs with words that each annotator aligned.
    without_text : The number of aligned pairs without words, which are left out.
    most : Suggestions of an annotator that `show` prints; None for all.
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
        """Return a row for each suggestion, or for the strongest of each annotator."""
        rows, notes = [], []
        for name, pairs in self.pairs.items():
            own = [x for x in self.suggestions if x.annotator == name]
            rows += own[:most]
            count = how_many(len(own), "suggestion", commas=True)
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
    `docs/concordance.md` has the formulas.

    Parameters
    ----------
    annotator : Whose links to check; None for each annotator.

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
    pairs, without_text = {}, 0
    for name in names:
        aligned = [pair for pair in corpus if pair.aligned_by(name)]
        worded = [_Words(pair, name) for pair in aligned if pair.has_text]
        pairs[name] = len(worded)
        without_text += len(aligned) - len(worded)
        usage = _Usage(worded)
        ranked = [x for words in worded for x in _suggested(words, usage) if x.strength >= LEAST]
        suggestions += sorted(ranked, key=lambda x: -x.strength)
    return Consistency(tuple(suggestions), pairs, without_text)


class _Words:
    """A pair with the compared forms of its words, and an annotator's links by word."""

    def __init__(self, pair: SentencePair, annotator: str) -> None:
        self.pair, self.annotator = pair, annotator
        self.links = tuple(pair.alignment(annotator))
        self.sides = tuple([compared(w, ignore_case=True) for w in side] for side in pair.words)
        self.linked: tuple[dict[int, list[int]], ...] = defaultdict(list), defaultdict(list)
        for link in self.links:
            for side in (0, 1):
                self.linked[side][link[side]].append(link[1 - side])
        self.types = {self.forms(i, j) for i, j in self.links}

    def forms(self, i: int, j: int) -> tuple[str, str]:
        return self.sides[0][i], self.sides[1][j]

    def together(self, partners: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
        """Yield the different words of both sides that are linked in some pair, or equal."""
        targets = set(self.sides[1])
        for word in dict.fromkeys(self.sides[0]):
            for other in sorted((partners.get(word, set()) | {word}) & targets):
                yield word, other

    def in_phrase(self, i: int, j: int) -> bool:
        """Return whether a link of the same word is near, or the link is in a block of links."""
        targets, sources = self.linked[0][i], self.linked[1][j]
        gaps = [abs(b - j) for b in targets] + [abs(a - i) for a in sources]
        block = (b in self.linked[0][a] for a in sources if a != i for b in targets if b != j)
        return any(0 < gap <= _NEAR for gap in gaps) or any(block)

    def bearing(self) -> Iterator[tuple[tuple[int, str], bool]]:
        """Yield the side and form of each word with links, and whether these are apart."""
        for side, forms in enumerate(self.sides):
            for at, others in self.linked[side].items():
                yield (side, forms[at]), any(b - a > _NEAR for a, b in pairwise(others))

    def suggestion(self, i: int, j: int, kind: str, strength: float, why: str) -> Suggestion:
        words = self.pair.words[0][i], self.pair.words[1][j]
        return Suggestion(self.annotator, self.pair.id, *words, i, j, kind, strength, why)


class _Usage:
    """How an annotator links words: counts over all pairs."""

    def __init__(self, pairs: Sequence[_Words]) -> None:
        self.linked = Counter(types for words in pairs for types in words.types)  # pairs
        self.partners: dict[str, set[str]] = defaultdict(set)
        for source, target in self.linked:
            self.partners[source].add(target)
        self.both = Counter(types for words in pairs for types in words.together(self.partners))
        equal = [types for types in self.both if types[0] == types[1]]
        self.equal = sum(self.linked[x] for x in equal) / (sum(self.both[x] for x in equal) or 1)
        self._words = Counter(word for words in pairs for word, _ in words.bearing())
        self._apart = Counter(word for words in pairs for word, apart in words.bearing() if apart)
        self._share = self._apart.total() / (self._words.total() or 1)

    def rate(self, types: tuple[str, str], *, here: bool) -> tuple[float, float]:
        """Return the number of other pairs that link both words, and that have both."""
        more = _ADDED if types[0] == types[1] else 0
        return self.linked[types] - here + more * self.equal, self.both[types] - 1 + more

    def missing(self, types: tuple[str, str]) -> float:
        """Return the strength of a missing link: most other pairs with both words have it."""
        linked, both = self.rate(types, here=False)
        usual = linked >= _FEW and linked > both / 2
        return log_likelihood_ratio(0, 1, linked, both - linked) if usual else 0.0

    def apart(self, side: int, word: str) -> float:
        """Return how surprising it is that a word has links in several places."""
        key = side, word
        apart = max(self._apart[key] - 1, 0) + _ADDED * self._share
        others = self._words[key] - 1 + _ADDED
        return log_likelihood_ratio(1, 0, apart, others - apart) if apart < others / 2 else 0.0


def _suggested(words: _Words, usage: _Usage) -> Iterator[Suggestion]:
    """Yield the suggestions for a pair, also weak ones."""
    missing = {
        types: strength
        for types in words.together(usage.partners)
        if types not in words.types and (strength := usage.missing(types))
    }
    strongest: tuple[dict[str, tuple[float, str]], ...] = {}, {}  # of each word
    for types, strength in missing.items():
        for side, word in enumerate(types):
            before = strongest[side].get(word, (0.0, ""))
            strongest[side][word] = max(before, (strength, types[1 - side]))
    unusual: tuple[dict[int, float], ...] = defaultdict(float), defaultdict(float)
    for i, j in words.links:
        strength, why = _unusual(words, usage, strongest, (i, j))
        for side, at in enumerate((i, j)):
            unusual[side][at] = max(unusual[side][at], strength)
        yield words.suggestion(i, j, UNUSUAL, strength, why)
    for types, strength in missing.items():
        cell = _likeliest(words, types)
        odd = [unusual[side][at] for side, at in enumerate(cell)]
        usual = sum(at in words.linked[side] and not odd[side] for side, at in enumerate(cell))
        counts = f"{usage.linked[types]} of the {usage.both[types] - 1} other pairs with both"
        equal = f"; equal words in {usage.equal:.0%}" if types[0] == types[1] else ""
        total = strength * _TAKEN**usual + _CARRIED * max(odd)
        yield words.suggestion(*cell, MISSING, total, f"linked in {counts}{equal}")


def _unusual(
    words: _Words, usage: _Usage, strongest: Sequence[Mapping[str, tuple[float, str]]],
    link: tuple[int, int],
) -> tuple[float, str]:  # fmt: skip
    """Return how unusual a link is, and why; 0 in a phrase, or if it is the usual one."""
    types = words.forms(*link)
    linked, both = usage.rate(types, here=True)
    if (both and linked >= both / 2) or words.in_phrase(*link):
        return 0.0, ""
    strength, why = 0.0, []
    for side, word in enumerate(types):
        missing, counterpart = strongest[side].get(word, (0.0, ""))
        several = len(words.linked[side][link[side]]) > 1
        apart = usage.apart(side, word) if several else 0.0
        if reason := max(missing, apart):
            strength += reason
            usual = f"is usually linked to {counterpart!r}, which is here too"
            why.append(f"{word!r} {usual if missing == reason else 'seldom has several links'}")
    return strength, "; ".join(why)


def _likeliest(words: _Words, types: tuple[str, str]) -> tuple[int, int]:
    """Return the cell of two words whose ends have the fewest links, then nearest the diagonal."""
    rows, columns = (
        [at for at, word in enumerate(words.sides[side]) if word == types[side]] for side in (0, 1)
    )
    n, m = map(len, words.sides)

    def cost(cell: tuple[int, int]) -> tuple[int, float]:
        ends = sum(at in words.linked[side] for side, at in enumerate(cell))
        return ends, abs(cell[0] / n - cell[1] / m)

    return min(product(rows, columns), key=cost)
