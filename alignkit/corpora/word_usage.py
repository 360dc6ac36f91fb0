"""How an annotator links words: counts over sentence pairs, and what they say about one pair.

Words are compared by their *forms*: in lower case, in one form of Unicode. *Two forms* are a source
form and a target form. All counts are numbers of sentence pairs: what happens twice in a pair is no
second observation. In the pairs

    1   la maison     the house     0-0 1-1
    2   la la maison  the house     1-0 2-1
    3   la fleur      the flower    1-1

la, the are linked in 2 of the 3 pairs that have both, and maison, house in 2 of 2.

A word is *scattered* in a pair if it has links in several places: two neighbouring links more than
2 positions apart. If a form occurs several times in a pair, one scattered occurrence is enough.

The evidence about a pair compares it with the *other* pairs: what the pair itself adds to a count
is taken out again. It is the log-likelihood ratio of a table with a row for this pair and one for
the others. For pair 3, they are: la, the linked in 0 of 1, and in 2 of 2.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from math import log
from typing import NamedTuple

from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import compared

SOURCE = 0
TARGET = 1
"""The sides of a pair: places in tuples with something for each side."""

FEW = 3
"""What is usual takes so many other pairs: the words of one pair are not independent."""

_NEAR = 2  # positions: links of a word that are nearer belong to one phrase

# so many pairs are added to the other pairs of equal forms, and of scattered ones, with the share
# of all such forms: this is the evidence about forms that are rare
_ADDED = 5

Forms = tuple[str, str]


class Share(NamedTuple):
    """In how many of the other pairs something is so; no whole numbers if pairs were added."""

    part: float
    whole: float


class AlignedWords:
    """A sentence pair with the forms of its words, and the links of an annotator.

    `sides` has the form of each source word, and of each target word. `linked_to` has, for each
    side, the positions that each linked word there is linked to. `linked_forms` are the two forms
    of each link.
    """

    def __init__(self, pair: SentencePair, annotator: str) -> None:
        self.pair = pair
        self.annotator = annotator
        self.links = tuple(pair.alignment(annotator))
        source, target = pair.words
        self.sides = (_forms_of(source), _forms_of(target))
        self.linked_to: tuple[dict[int, list[int]], ...] = {}, {}
        for i, j in self.links:
            self.linked_to[SOURCE].setdefault(i, []).append(j)
            self.linked_to[TARGET].setdefault(j, []).append(i)
        self.linked_forms = {self.forms(i, j) for i, j in self.links}
        equal = set(self.sides[SOURCE]) & set(self.sides[TARGET])
        self.equal = len(equal)
        self.equal_linked = sum((form, form) in self.linked_forms for form in equal)

    def forms(self, i: int, j: int) -> Forms:
        """Return the forms of a source and a target word."""
        return self.sides[SOURCE][i], self.sides[TARGET][j]

    def candidates(self, partners: Mapping[str, set[str]]) -> Iterator[Forms]:
        """Yield each two forms of this pair that are linked in some pair, or equal.

        `partners` has the target forms that each source form is linked to in some pair.
        """
        targets = set(self.sides[TARGET])
        for source in dict.fromkeys(self.sides[SOURCE]):
            for target in sorted((partners.get(source, set()) | {source}) & targets):
                yield source, target

    def in_phrase(self, i: int, j: int) -> bool:
        """Return whether a link of the same word is near, or the link is in a block of links."""
        targets = [b for b in self.linked_to[SOURCE][i] if b != j]
        sources = [a for a in self.linked_to[TARGET][j] if a != i]
        near_target = any(abs(b - j) <= _NEAR for b in targets)
        near_source = any(abs(a - i) <= _NEAR for a in sources)
        in_block = any(not set(targets).isdisjoint(self.linked_to[SOURCE][a]) for a in sources)
        return near_target or near_source or in_block

    @cached_property
    def is_scattered(self) -> Mapping[tuple[int, str], bool]:
        """Whether each linked form, (side, form), has links in several places."""
        scattered: dict[tuple[int, str], bool] = {}
        for side, forms in enumerate(self.sides):
            for position, others in self.linked_to[side].items():
                form = side, forms[position]
                several = any(b - a > _NEAR for a, b in pairwise(sorted(others)))
                scattered[form] = several or scattered.get(form, False)
        return scattered


def _forms_of(words: Sequence[str]) -> list[str]:
    """Return the form of each word."""
    return [compared(word, ignore_case=True) for word in words]


class WordUsage:
    """How an annotator links words in all pairs, and what the other pairs say about one of them.

    `linked` counts the pairs that link two forms, `both` the pairs that have them; `partners` has
    the target forms that a source form is linked to.
    """

    def __init__(self, pairs: Sequence[AlignedWords]) -> None:
        self.linked: Counter[Forms] = Counter()
        for pair in pairs:
            self.linked.update(pair.linked_forms)
        self.partners: dict[str, set[str]] = defaultdict(set)
        for source, target in self.linked:
            self.partners[source].add(target)
        self.both: Counter[Forms] = Counter()
        # in how many pairs a form of a side is linked, and scattered
        self._with_links: Counter[tuple[int, str]] = Counter()
        self._scattered: Counter[tuple[int, str]] = Counter()
        for pair in pairs:
            self.both.update(pair.candidates(self.partners))
            self._with_links.update(pair.is_scattered.keys())
            self._scattered.update(form for form, so in pair.is_scattered.items() if so)
        # the same of all forms together, a form once for each pair in which it is linked
        self._all_with_links = self._with_links.total()
        self._all_scattered = self._scattered.total()
        self._linked_pairs = sum(bool(pair.links) for pair in pairs)
        self._equal = sum(pair.equal for pair in pairs)
        self._equal_linked = sum(pair.equal_linked for pair in pairs)
        self._pairs_linking_equal = sum(pair.equal_linked > 0 for pair in pairs)

    def missing_strength(self, pair: AlignedWords, forms: Forms) -> float:
        """Return how surprising it is that a pair does not link two of its forms.

        It is 0 if most of the other pairs with both do not link them either.
        """
        linked, both = self.linked_elsewhere(pair, forms)
        if linked < FEW or linked <= both / 2:
            return 0.0
        # linked and not linked: in this pair, in the others
        return log_likelihood_ratio(0, 1, linked, both - linked)

    def linked_elsewhere(self, pair: AlignedWords, forms: Forms) -> Share:
        """Return how many of the other pairs that have two forms of this pair link them."""
        linked = self.linked[forms] - (forms in pair.linked_forms)
        both = self.both[forms] - 1
        source, target = forms
        equal_rate = self.equal_rate(pair) if source == target else None
        if equal_rate is None:
            return Share(linked, both)
        return Share(linked + _ADDED * equal_rate, both + _ADDED)

    def equal_rate(self, pair: AlignedWords) -> float | None:
        """Return the share of equal forms that other pairs link; None if too few link any."""
        others_linking = self._pairs_linking_equal - (pair.equal_linked > 0)
        if others_linking < FEW:
            return None
        return (self._equal_linked - pair.equal_linked) / (self._equal - pair.equal)

    def scatter_strength(self, pair: AlignedWords, side: int, form: str) -> float:
        """Return how surprising it is that a form is scattered in this pair.

        It is 0 if it is scattered in at least half of the other pairs, or if they are few.
        """
        rate = self._scatter_rate(pair)
        if rate is None:
            return 0.0
        elsewhere = self._scattered_elsewhere(side, form)
        scattered = elsewhere.part + _ADDED * rate
        linked = elsewhere.whole + _ADDED
        if scattered >= linked / 2:
            return 0.0
        # scattered and not scattered: in this pair, in the others
        return log_likelihood_ratio(1, 0, scattered, linked - scattered)

    def _scattered_elsewhere(self, side: int, form: str) -> Share:
        """Return how many of the other pairs scatter a form that is scattered in this one."""
        return Share(self._scattered[side, form] - 1, self._with_links[side, form] - 1)

    def _scatter_rate(self, pair: AlignedWords) -> float | None:
        """Return the share of linked forms that other pairs scatter; None if these are few."""
        if self._linked_pairs - 1 < FEW:
            return None
        scattered = self._all_scattered - sum(pair.is_scattered.values())
        return scattered / (self._all_with_links - len(pair.is_scattered))

    def why_scattered(self, pair: AlignedWords, side: int, form: str) -> str:
        """Return the evidence of `scatter_strength`: of this form, or of all if it is rare."""
        scattered, linked = self._scattered_elsewhere(side, form)
        if linked >= FEW:
            return (
                f"{form!r} seldom has links in several places (in {scattered} of the {linked} "
                "other pairs in which it is linked)"
            )
        others = 1 - (self._scatter_rate(pair) or 0.0)
        return f"{form!r} has links in several places, unlike {others:.1%} of the words elsewhere"


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
