"""Find the differences of two annotators, by sentence pair, word pair and kind of link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from itertools import chain
from operator import add

from alignkit._support.values import FrozenMap
from alignkit.model.alignment import Link
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring.link_classes import OF_FUNCTION_WORDS, WORD_KINDS, FunctionWords, word_kinds
from alignkit.tables.media import csv_lines

SHAPES = ("1-1", "1-n", "block")
"""The shapes of links: one word with one, one with several, several with several."""


@dataclass(frozen=True)
class Outcome:
    """Counts of the links that at least one of two annotators has."""

    both: int = 0  # those of both, sure for both or only possible for both
    unsure: int = 0  # those of both, sure for one and only possible for the other
    first: int = 0  # those that only the first annotator has
    second: int = 0  # those that only the second annotator has

    @property
    def links(self) -> int:
        """The number of all these links."""
        return self.both + self.unsure + self.first + self.second

    @property
    def alone(self) -> int:
        """The number of links of only one annotator."""
        return self.first + self.second

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True)
class WordOutcome:
    """The links of a pair of words, in lower case unless case matters."""

    source: str
    target: str
    kinds: tuple[str, ...]  # what kind of words they are, see WORD_KINDS
    outcome: Outcome


@dataclass(frozen=True)
class PairOutcome:
    """The links of a sentence pair."""

    place: int  # its position in the corpus
    outcome: Outcome


@dataclass(frozen=True)
class Disagreements:
    """The differences of two annotators."""

    annotators: tuple[str, str]
    total: Outcome  # over all sentence pairs that both annotated
    kinds: FrozenMap[str, Outcome]  # by kind of word (WORD_KINDS), then by shape (SHAPES)
    words: tuple[WordOutcome, ...]  # those that one alone links; the most often first
    pairs: tuple[PairOutcome, ...]  # those that differ most first

    @property
    def differing(self) -> tuple[PairOutcome, ...]:
        """The sentence pairs in which a link differs."""
        return tuple(pair for pair in self.pairs if pair.outcome.alone or pair.outcome.unsure)


_BOTH = Outcome(both=1)
_UNSURE = Outcome(unsure=1)
_FIRST = Outcome(first=1)
_SECOND = Outcome(second=1)
_NONE = Outcome()


def disagreements(
    corpus: Corpus,
    first: str,
    second: str,
    *,
    function_words: FunctionWords | None = None,
    exact_case: bool = False,
) -> Disagreements:
    """Count the differences of two annotators over all links, including identical ones."""
    corpus.require(first, second)
    if function_words is None:
        unknown = OF_FUNCTION_WORDS
    else:
        unknown = frozenset()
    kinds_known = (kind for kind in WORD_KINDS if kind not in unknown)
    kinds = dict.fromkeys((*kinds_known, *SHAPES), _NONE)
    fold = str if exact_case else str.casefold
    words: dict[tuple[str, str], Outcome] = {}
    pairs = []
    for place, pair in enumerate(corpus):
        if not pair.aligned_by(first, second):
            continue
        total = _NONE
        source, target = ([fold(word) for word in side] for side in pair.words)
        for link, shape, outcome in _outcomes(pair, first, second):
            total += outcome
            joined = source[link.i], target[link.j]
            words[joined] = words.get(joined, _NONE) + outcome
            kinds[shape] += outcome
        pairs.append(PairOutcome(place, total))
    listed = []
    for joined, outcome in words.items():
        of_words = word_kinds(*joined, function_words, exact_case=exact_case)
        for kind in of_words:
            kinds[kind] += outcome
        if outcome.alone:
            listed.append(WordOutcome(*joined, of_words, outcome))
    listed.sort(key=lambda words: (-words.outcome.alone, words.source, words.target))
    pairs.sort(key=lambda pair: (-pair.outcome.alone, -pair.outcome.unsure, pair.place))
    total = sum((pair.outcome for pair in pairs), _NONE)
    return Disagreements((first, second), total, FrozenMap(kinds), tuple(listed), tuple(pairs))


def _outcomes(pair: SentencePair, first: str, second: str) -> Iterable[tuple[Link, str, Outcome]]:
    """Yield each link of the two, with its shape and who has it."""
    alignments = pair.alignment(first), pair.alignment(second)
    by_first, by_second = (dict(alignment.items()) for alignment in alignments)  # link: sure
    # the place in `SHAPES`; of a link of both, the larger
    shapes: Counter[Link] = Counter()
    for links in chain.from_iterable(alignment.components() for alignment in alignments):
        sides = len({link.i for link in links}), len({link.j for link in links})
        if max(sides) == 1:
            shape = 0
        elif min(sides) == 1:
            shape = 1
        else:
            shape = 2
        for link in links:
            shapes[link] = max(shapes[link], shape)
    for link in sorted({**by_first, **by_second}):
        if link not in by_second:
            outcome = _FIRST
        elif link not in by_first:
            outcome = _SECOND
        elif by_first[link] == by_second[link]:
            outcome = _BOTH
        else:
            outcome = _UNSURE
        yield link, SHAPES[shapes[link]], outcome


def differences_csv(corpus: Corpus, differences: Iterable[Disagreements]) -> str:
    """Return a row of CSV for each sentence pair in which two annotators differ."""
    rows: list[list[object]] = [
        [
            "pair",
            "first",
            "second",
            "only first",
            "only second",
            "sure for one only",
            "links of first",
            "links of second",
            "source",
            "target",
        ]
    ]
    for counts in differences:
        for at in counts.differing:
            pair = corpus[at.place]
            has = at.outcome
            links = [str(pair.alignment(name)) for name in counts.annotators]
            texts = (" ".join(words) for words in pair.words)
            numbers = has.first, has.second, has.unsure
            rows.append([pair.id, *counts.annotators, *numbers, *links, *texts])
    return csv_lines(rows)
