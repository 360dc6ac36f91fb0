"""Find paraphrases by co-training: words teach contexts, contexts teach words.

A context is what stands left and right of a phrase: one to three words, or their parts of speech.
Words that a sentence pair has on both sides are the first paraphrases. A rule is a pair of contexts
in which nearly all phrases are paraphrases; phrases between the contexts of a rule are further
paraphrases, which give further rules (Barzilay & McKeown 2001).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from alignkit._support.arguments import check_arguments
from alignkit.errors import MissingTextError, OptionError
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair, word_column

Words = tuple[str, ...]
Place = tuple[int, int, int, int]
"""Where a phrase pair is: source from and to, target from and to; the ends are not included."""
Context = tuple[Words, Words]

_EDGES = "<s>", "</s>"
_COLUMN = "upos"


@dataclass(frozen=True)
class ContextRule:
    """A pair of contexts, with how often phrases between them are paraphrases, and are not."""

    source: Context
    target: Context
    positive: int
    negative: int

    @property
    def strength(self) -> float:
        """The share of the phrase pairs between the contexts that are paraphrases."""
        return self.positive / (self.positive + self.negative)


@dataclass(frozen=True)
class CoTrained:
    """What co-training found.

    Parameters
    ----------
    paraphrases : How often each pair of different phrases was found, by the phrases.
    rules : The rules of the last round, the strongest first.
    rounds : The number of rounds.
    left_out, untagged : The numbers of sentence pairs without words, and without parts of speech.
    """

    paraphrases: dict[tuple[Words, Words], int]
    rules: tuple[ContextRule, ...]
    rounds: int
    left_out: int
    untagged: int

    def rows(self) -> Iterator[tuple[Words, Words, float, float, int]]:
        """Yield e1, e2, p(e2 | e1), p(e1 | e2) and the count, sorted by e1, then by probability."""
        of_source, of_target = Counter[Words](), Counter[Words]()
        for (first, second), n in self.paraphrases.items():
            of_source[first] += n
            of_target[second] += n
        rows = [
            (first, second, n / of_source[first], n / of_target[second], n)
            for (first, second), n in self.paraphrases.items()
        ]
        yield from sorted(rows, key=lambda row: (row[0], -row[2], row[1]))


@dataclass
class _Sentences:
    """A sentence pair: both sides' words, and what contexts show of each."""

    words: tuple[Words, Words]
    shown: tuple[Words, Words]
    tagged: bool
    spans: list[dict[Words, list[tuple[int, int]]]] = field(default_factory=list)

    @classmethod
    def of(cls, pair: SentencePair, longest: int) -> _Sentences:
        """Return a pair with its phrases, in lower case."""
        first, second = (tuple(map(str.lower, side)) for side in pair.words)
        tags = [word_column(pair, side, _COLUMN) for side in SIDES]
        shown = first, second
        if tagged := None not in tags:
            shown = _marked(tags[0] or (), first, second), _marked(tags[1] or (), second, first)
        sentences = cls((first, second), shown, tagged)
        for words in sentences.words:
            spans: defaultdict[Words, list[tuple[int, int]]] = defaultdict(list)
            for i in range(len(words)):
                for j in range(i + 1, min(len(words), i + longest) + 1):
                    spans[words[i:j]].append((i, j))
            sentences.spans.append(dict(spans))
        return sentences

    def has_own(self, side: int, phrase: Words) -> bool:
        """Return whether a phrase has a word with letters or digits that the other side lacks."""
        other = self.spans[1 - side]
        return any((word,) not in other and any(map(str.isalnum, word)) for word in phrase)

    def seeds(self) -> set[Place]:
        """Return the words that both sides have, once each."""
        first, second = self.spans
        return {
            (*places[0], *second[word][0])
            for word, places in first.items()
            if len(word) == len(places) == 1 and len(second.get(word, ())) == 1
        }

    def contexts(self, side: int, start: int, end: int, widest: int) -> Iterator[Context]:
        """Yield the contexts of a phrase with one word on each side, with two, and so on."""
        shown = (*_EDGES[:1], *self.shown[side], *_EDGES[1:])
        for size in range(1, widest + 1):
            yield shown[max(0, start + 1 - size) : start + 1], shown[end + 1 : end + 1 + size]

    def known(self, pairs: dict[Words, set[Words]]) -> set[Place]:
        """Return where known paraphrases are."""
        first, second = self.spans
        return {
            (*here, *there)
            for phrase, places in first.items()
            for other in pairs.get(phrase, ())
            for here in places
            for there in second.get(other, ())
        }


def _marked(tags: Sequence[str], words: Words, other: Words) -> Words:
    """Return parts of speech, with a mark at words that the other side has, too."""
    return tuple(f"{tag}=" if word in other else tag for tag, word in zip(tags, words, strict=True))


def cotrain(
    pairs: Iterable[SentencePair],
    *,
    strength: float = 0.95,
    min_count: int = 3,
    context: int = 3,
    max_length: int = 3,
    rounds: int = 10,
) -> CoTrained:
    """Find paraphrases in sentence pairs by co-training.

    Pairs whose words have parts of speech (the column ``upos``, see `word_column`) have contexts of
    parts of speech, in which words that both sentences have are marked; others have contexts of
    words. Phrases that begin or end with the same word, or whose words both sentences have, are
    no paraphrases. Case is ignored.

    Parameters
    ----------
    strength : The least share of paraphrases among the phrase pairs between the contexts of a rule.
    min_count : The least number of paraphrases of a rule.
    context : The most words of a context, on each side of a phrase.
    max_length : The most words of a phrase.
    rounds : The most rounds; it ends earlier if nothing new is found.

    Raises
    ------
    OptionError : If an option is out of its range.
    MissingTextError : If no pair has words.

    References
    ----------
    Barzilay & McKeown 2001, Extracting paraphrases from a parallel corpus, ACL.

    Examples
    --------
    >>> texts = [("I will buy it", "I will get it"), ("we will see it", "we will see it")]
    >>> pairs = [SentencePair(str(k), a.split(), b.split(), {}) for k, (a, b) in enumerate(texts)]
    >>> cotrain(pairs, min_count=1, context=1).paraphrases
    {(('buy',), ('get',)): 1}
    """
    check_arguments(cotrain, locals(), apart=("pairs",))
    if not 0 < strength <= 1 or min(min_count, context, max_length, rounds) < 1:
        raise OptionError("`strength` is above 0 and at most 1; the numbers are 1 or more")
    given = list(pairs)
    kept = [pair for pair in given if pair.source and pair.target]
    if not kept:
        raise MissingTextError("no pair has words on both sides; add the texts")
    corpus = [_Sentences.of(pair, max_length) for pair in kept]
    paraphrases: dict[tuple[Words, Words], int] = {}
    rules: tuple[ContextRule, ...] = ()
    done, fresh = 0, True
    while fresh and done < rounds:
        done += 1
        rules = _learned(corpus, paraphrases, context, min_count, strength)
        seen = _applied(corpus, rules, context, max_length)
        fresh = not seen.keys() <= paraphrases.keys()
        paraphrases |= seen
    untagged = sum(not sentences.tagged for sentences in corpus)
    return CoTrained(paraphrases, rules, done, len(given) - len(kept), untagged)


def _learned(
    corpus: Sequence[_Sentences], paraphrases: Iterable[tuple[Words, Words]], context: int,
    min_count: int, strength: float,
) -> tuple[ContextRule, ...]:  # fmt: skip
    """Return the pairs of contexts that mostly hold paraphrases."""
    pairs: defaultdict[Words, set[Words]] = defaultdict(set)
    for first, second in paraphrases:
        pairs[first].add(second)
    places = [sentences.seeds() | sentences.known(pairs) for sentences in corpus]
    positive = Counter[tuple[Context, Context]]()
    for sentences, known in zip(corpus, places, strict=True):
        for i, j, k, m in known:
            both = (sentences.contexts(0, i, j, context), sentences.contexts(1, k, m, context))
            positive.update(zip(*both, strict=True))
    frequent = {rule: n for rule, n in positive.items() if n >= min_count}
    of_source = _by_source(frequent)
    negative = Counter[tuple[Context, Context]]()
    for sentences, known in zip(corpus, places, strict=True):
        firsts, seconds = {place[:2] for place in known}, {place[2:] for place in known}
        for rule, place in _matches(sentences, of_source, context, 1):
            if place not in known and (place[:2] in firsts or place[2:] in seconds):
                negative[rule] += 1
    rules = (ContextRule(*rule, n, negative[rule]) for rule, n in frequent.items())
    strong = (rule for rule in rules if rule.strength >= strength)
    order = sorted(strong, key=lambda x: (-x.strength, -x.positive, x.source, x.target))
    return tuple(order)


def _by_source(rules: Iterable[tuple[Context, Context]]) -> dict[Context, set[Context]]:
    of_source: defaultdict[Context, set[Context]] = defaultdict(set)
    for source, target in rules:
        of_source[source].add(target)
    return of_source


def _matches(
    sentences: _Sentences, rules: dict[Context, set[Context]], context: int, longest: int
) -> Iterator[tuple[tuple[Context, Context], Place]]:
    """Yield rules and the phrase pairs between their contexts."""
    between: defaultdict[Context, list[tuple[int, int]]] = defaultdict(list)
    spans = [
        [place for phrase, places in side.items() if len(phrase) <= longest for place in places]
        for side in sentences.spans
    ]
    for place in spans[1]:
        for shown in sentences.contexts(1, *place, context):
            between[shown].append(place)
    for place in spans[0]:
        for shown in sentences.contexts(0, *place, context):
            for other in rules.get(shown, ()):
                for there in between.get(other, ()):
                    yield (shown, other), (*place, *there)


def _is_whole(first: Words, second: Words) -> bool:
    """Return whether phrases do not begin or end with the same word."""
    return first[0] != second[0] and first[-1] != second[-1]


def _applied(
    corpus: Sequence[_Sentences], rules: Sequence[ContextRule], context: int, longest: int
) -> dict[tuple[Words, Words], int]:
    """Return the different phrases between the contexts of rules, and how often they are there."""
    of_source = _by_source((rule.source, rule.target) for rule in rules)
    counts = Counter[tuple[Words, Words]]()
    for sentences in corpus:
        matches = _matches(sentences, of_source, context, longest)
        for i, j, k, m in {place for _, place in matches}:
            phrases = sentences.words[0][i:j], sentences.words[1][k:m]
            if all(map(sentences.has_own, (0, 1), phrases)) and _is_whole(*phrases):
                counts[phrases] += 1
    return dict(sorted(counts.items()))
