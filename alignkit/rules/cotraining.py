"""Find paraphrases by co-training: words teach contexts, contexts teach words.

A context is what stands left and right of a phrase: one to three words, or their parts of speech.
Words that a sentence pair has on both sides are the first paraphrases. A rule is a pair of contexts
in which nearly all phrases are paraphrases; phrases between the contexts of a rule are further
paraphrases, which give further rules (Barzilay & McKeown 2001).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, TypeVar

from alignkit._support.arguments import check_arguments
from alignkit.errors import MissingTextError, OptionError
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair, word_column

K = TypeVar("K")
Words = tuple[str, ...]
Phrases = tuple[Words, Words]
Context = tuple[Words, Words]
"""What stands left and right of a phrase: words, or parts of speech."""
Place = tuple[int, int, int, int]
"""Where a phrase pair is: source from and to, target from and to; the ends are not included."""
_Contexts = Mapping[Context, set[Context]]  # the target contexts of rules by their source context


class ContextRule(NamedTuple):
    """A pair of contexts, with how often phrases between them are paraphrases, and are not.

    Part of `CoTrained.rules`.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.rules import cotrain
    >>> corpus = Corpus.from_texts(["I will buy it", "we will see it"],
    ...                            ["I will get it", "we will see it"])
    >>> rule = cotrain(corpus, min_count=1, context=1).rules[0]
    >>> rule.source, rule.positive, rule.negative
    ((('<s>',), ('will',)), 2, 0)
    """

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

    Returned by `cotrain`.

    Parameters
    ----------
    paraphrases : How often each pair of different phrases was found, by the phrases.
    rules : The rules of the last round, the strongest first.
    rounds : The number of rounds.
    left_out, untagged : The numbers of sentence pairs without words, and without parts of speech.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.rules import cotrain
    >>> corpus = Corpus.from_texts(["I will buy it", "we will see it"],
    ...                            ["I will get it", "we will see it"])
    >>> result = cotrain(corpus, min_count=1, context=1)
    >>> result.paraphrases, result.rounds
    ({(('buy',), ('get',)): 1}, 2)
    """

    paraphrases: dict[Phrases, int]
    rules: tuple[ContextRule, ...]
    rounds: int
    left_out: int
    untagged: int

    def rows(self) -> Iterator[tuple[Words, Words, float, float, int]]:
        """Yield e1, e2, p(e2 | e1), p(e1 | e2) and the count, sorted by e1, then by probability.

        Examples
        --------
        >>> from alignkit import Corpus
        >>> from alignkit.rules import cotrain
        >>> corpus = Corpus.from_texts(["I will buy it", "we will see it"],
        ...                            ["I will get it", "we will see it"])
        >>> next(cotrain(corpus, min_count=1, context=1).rows())
        (('buy',), ('get',), 1.0, 1.0, 1)
        """
        totals = Counter[tuple[int, Words]]()
        for (first, second), n in self.paraphrases.items():
            totals[0, first] += n
            totals[1, second] += n
        rows = []
        for (first, second), n in self.paraphrases.items():
            p_second = n / totals[0, first]
            p_first = n / totals[1, second]
            rows.append((first, second, p_second, p_first, n))
        yield from sorted(rows, key=lambda row: (row[0], -row[2], row[1]))


class _PairText:
    """A sentence pair in lower case: its words, the symbols of contexts, and its phrases.

    The symbol of a word is its part of speech, if all words of the pair have one, or the word.
    """

    def __init__(self, pair: SentencePair, longest: int, context: int) -> None:
        self.words = [tuple(map(str.lower, side)) for side in pair.words]
        self.context = context
        tags = [word_column(pair, side, "upos") for side in SIDES]
        self.tagged = None not in tags
        self.symbols: list[Words] = []
        self.spans: list[dict[Words, list[tuple[int, int]]]] = []  # the places of each phrase
        for words, side_tags, other in zip(self.words, tags, self.words[::-1], strict=True):
            symbols = words
            if self.tagged:
                symbols = _marked(words, side_tags or (), other)
            self.symbols.append(("<s>", *symbols, "</s>"))
            spans = defaultdict[Words, list[tuple[int, int]]](list)
            for i in range(len(words)):
                for j in range(i + 1, min(len(words), i + longest) + 1):
                    spans[words[i:j]].append((i, j))
            self.spans.append(dict(spans))

    def contexts(self, side: int, start: int, end: int) -> Iterator[Context]:
        """Yield the contexts of a phrase with one word on each side, with two, and so on.

        Where the sentence begins and ends, several sizes are the same context.
        """
        symbols = self.symbols[side]
        before = start + 1  # "<s>" stands first in `symbols`
        after = end + 1
        for size in range(1, self.context + 1):
            left = symbols[max(0, before - size) : before]
            right = symbols[after : after + size]
            yield left, right

    def has_different(self, side: int, phrase: Words) -> bool:
        """Return whether a phrase has a word with letters or digits that the other side lacks."""
        other = self.words[1 - side]
        return any(word not in other and any(map(str.isalnum, word)) for word in phrase)

    def known(self, paraphrases_of: Mapping[Words, set[Words]]) -> set[Place]:
        """Return where known paraphrases are, and the words that both sides have, once each."""
        known_places: set[Place] = set()
        sources, targets = self.spans
        for phrase, places in sources.items():
            same = targets.get(phrase, [])
            is_word = len(phrase) == 1
            is_once_in_both = len(places) == 1 and len(same) == 1
            if is_word and is_once_in_both:
                known_places.add((*places[0], *same[0]))
            for other in paraphrases_of.get(phrase, ()):
                for source_span, target_span in product(places, targets.get(other, ())):
                    known_places.add((*source_span, *target_span))
        return known_places

    def matches(
        self, rules: _Contexts, *, words_alone: bool = False
    ) -> Iterator[tuple[tuple[Context, Context], Place]]:
        """Yield rules and the phrase pairs between their contexts, each once."""
        sources = self._by_context(0, words_alone)
        targets = self._by_context(1, words_alone)
        for context, source_spans in sources.items():
            for target_context in rules.get(context, ()):
                target_spans = targets.get(target_context, ())
                for source_span, target_span in product(source_spans, target_spans):
                    yield (context, target_context), (*source_span, *target_span)

    def _by_context(self, side: int, words_alone: bool) -> dict[Context, list[tuple[int, int]]]:
        """Return where the phrases in each context are, or the phrases of one word."""
        spans = defaultdict[Context, list[tuple[int, int]]](list)
        for phrase, places in self.spans[side].items():
            if words_alone and len(phrase) > 1:
                continue
            for start, end in places:
                for context in set(self.contexts(side, start, end)):
                    spans[context].append((start, end))
        return dict(spans)


def _marked(words: Words, tags: Sequence[str], other: Words) -> Words:
    """Return the tags of words, marked with "=" if the other side has the word too."""
    marked = []
    for word, tag in zip(words, tags, strict=True):
        marked.append(f"{tag}=" if word in other else tag)
    return tuple(marked)


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
    pairs : The sentence pairs; those without words are left out and counted.
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
    corpus = [_PairText(pair, max_length, context) for pair in kept]
    paraphrases: dict[Phrases, int] = {}
    rules: tuple[ContextRule, ...] = ()
    done = 0
    fresh = True
    while fresh and done < rounds:
        done += 1
        rules = _learned(corpus, paraphrases, min_count, strength)
        seen = _applied(corpus, rules)
        fresh = any(phrases not in paraphrases for phrases in seen)
        paraphrases |= seen  # those of earlier rounds stay; counts are of the last that had them
    untagged = sum(not pair.tagged for pair in corpus)
    return CoTrained(paraphrases, rules, done, len(given) - len(kept), untagged)


def _by_first(pairs: Iterable[tuple[K, K]]) -> dict[K, set[K]]:
    """Return the second parts of pairs by the first."""
    seconds = defaultdict[K, set[K]](set)
    for first, second in pairs:
        seconds[first].add(second)
    return dict(seconds)


def _learned(
    corpus: Sequence[_PairText], paraphrases: Iterable[Phrases], min_count: int, strength: float
) -> tuple[ContextRule, ...]:
    """Return the pairs of contexts that mostly hold paraphrases.

    Between two contexts, known paraphrases are positive examples. Two words of which one has a
    known paraphrase in the sentence pair, but which are no known paraphrases, are a negative one;
    where both words are unknown, nothing is learned. Only single words are negative examples.
    """
    paraphrases_of = _by_first(paraphrases)
    places = [pair.known(paraphrases_of) for pair in corpus]
    positive = Counter[tuple[Context, Context]]()
    negative = Counter[tuple[Context, Context]]()
    for pair, known in zip(corpus, places, strict=True):
        for start, end, target_start, target_end in known:
            sources = pair.contexts(0, start, end)
            targets = pair.contexts(1, target_start, target_end)
            # a phrase pair counts once for a rule, even if contexts of several sizes are the same
            positive.update(set(zip(sources, targets, strict=True)))
    frequent = _by_first(rule for rule, n in positive.items() if n >= min_count)
    for pair, known in zip(corpus, places, strict=True):
        known_sources = {place[:2] for place in known}
        known_targets = {place[2:] for place in known}
        for rule, place in pair.matches(frequent, words_alone=True):
            half_known = place[:2] in known_sources or place[2:] in known_targets
            if half_known and place not in known:
                negative[rule] += 1
    strong = []
    for contexts, n in positive.items():
        if n < min_count:
            continue
        learned = ContextRule(*contexts, n, negative[contexts])
        if learned.strength >= strength:
            strong.append(learned)
    strong.sort(key=lambda rule: (-rule.strength, -rule.positive, rule.source, rule.target))
    return tuple(strong)


def _applied(corpus: Sequence[_PairText], rules: Iterable[ContextRule]) -> dict[Phrases, int]:
    """Return the different phrases between the contexts of rules, and how often they are there."""
    of_source = _by_first((rule.source, rule.target) for rule in rules)
    counts = Counter[Phrases]()
    for pair in corpus:
        places = {place for _, place in pair.matches(of_source)}
        source_words, target_words = pair.words
        for start, end, target_start, target_end in places:
            source = source_words[start:end]
            target = target_words[target_start:target_end]
            if source[0] == target[0] or source[-1] == target[-1]:
                continue
            if pair.has_different(0, source) and pair.has_different(1, target):
                counts[source, target] += 1
    return dict(sorted(counts.items()))
