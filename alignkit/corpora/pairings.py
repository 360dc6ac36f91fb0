"""Pair the translations of a sentence with each other: training text within one language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations
from math import inf
from typing import Literal

from alignkit._support.arguments import check_arguments, check_known, naming_keywords, words
from alignkit.errors import AlignmentError, ArgumentError, OptionError
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import compared

WHICH: dict[str, Callable[[int], Iterable[tuple[int, int]]]] = {
    "all": lambda count: combinations(range(count), 2),
    "first": lambda count: ((0, other) for other in range(1, count)),
}
"""The translations to pair, by name: all with all, or the first with the others."""

_Sentence = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingCounts:
    """The numbers of pairs that were made, kept, and dropped by reason."""

    groups: int = 0  # groups of translations of one sentence
    sentences: int = 0  # translations in them, empty ones included
    empty: int = 0  # translations without a word, which are in no pair
    unpaired: int = 0  # groups that made no pair, for want of a second translation with words
    pairs: int = 0  # pairs made; with both orders each counts twice
    kept: int = 0  # pairs that passed
    too_short: int = 0
    too_long: int = 0
    too_unequal: int = 0
    identical: int = 0  # pairs dropped because both sentences are equal after casefold
    repeated: int = 0  # pairs dropped because an earlier pair kept has the same sentences

    @property
    def dropped(self) -> int:
        """The number of dropped pairs."""
        return self.pairs - self.kept


class Pairings(Iterator[SentencePair]):
    """Yield the kept pairs one by one, and count all pairs."""

    def __init__(
        self,
        groups: Iterable[Sequence[Sequence[str]]],
        places: Callable[[int], Iterable[tuple[int, int]]],
        fault: Callable[[_Sentence, _Sentence], str | None],
        *,
        both_orders: bool,
        drop_repeated: bool,
    ) -> None:
        self._which = places
        self._fault = fault
        self._both_orders = both_orders
        self._seen: set[bytes] | None = set() if drop_repeated else None
        self._tally: Counter[str] = Counter()
        self._pairs = self._paired(groups)

    def __iter__(self) -> Pairings:
        return self

    def __next__(self) -> SentencePair:
        return next(self._pairs)

    @property
    def counts(self) -> PairingCounts:
        """The counts so far; complete after the last pair."""
        return PairingCounts(**self._tally)

    def _paired(self, groups: Iterable[Sequence[Sequence[str]]]) -> Iterator[SentencePair]:
        """Yield the kept pairs of all groups, and count all pairs."""
        tally = self._tally
        seen = self._seen
        for number, group in enumerate(groups, start=1):
            if isinstance(group, str) or not isinstance(group, Iterable):
                raise ArgumentError(
                    f"group {number} must be a sequence of sentences, each a list of words"
                )
            sentences = [_sentence(x, number, k) for k, x in enumerate(group, start=1)]
            tally["groups"] += 1
            tally["sentences"] += len(sentences)
            tally["empty"] += sum(not words for words in sentences)
            before = tally["pairs"]
            digests = []
            if seen is not None:
                digests = [_sentence_digest(words) for words in sentences]
            for i, j in self._places(sentences):
                source, target = sentences[i], sentences[j]
                tally["pairs"] += 1
                fault = self._fault(source, target)
                if fault is None and seen is not None:
                    ends = [digests[i], digests[j]]
                    if not self._both_orders:
                        ends.sort()
                    digest = _digest(b"".join(ends))
                    if digest in seen:
                        fault = "repeated"
                    seen.add(digest)
                tally[fault or "kept"] += 1
                if fault is None:
                    yield SentencePair(f"{number}/{i + 1}-{j + 1}", source, target)
            tally["unpaired"] += tally["pairs"] == before

    def _places(self, sentences: Sequence[_Sentence]) -> Iterator[tuple[int, int]]:
        """Yield the places of the translations to pair; those without words are left out."""
        for i, j in self._which(len(sentences)):
            if sentences[i] and sentences[j]:
                yield i, j
                if self._both_orders:
                    yield j, i


def _digest(data: bytes) -> bytes:
    """Return a digest of 16 bytes that identifies a pair."""
    return blake2b(data, digest_size=16).digest()


def _sentence_digest(words: _Sentence) -> bytes:
    """Return a digest of the words of a sentence in their form for comparison."""
    # lengths before the words, so that no word can look like a border
    text = "".join([f"{len(word)}:{word}" for word in map(compared, words)])
    return _digest(text.encode("utf-8", "surrogatepass"))


def _sentence(sentence: Sequence[str], number: int, k: int) -> _Sentence:
    """Return the words of translation `k` of a group, checked."""
    place = f"group {number}, translation {k}"
    if isinstance(sentence, str):
        raise AlignmentError(f"{place}: a sentence is a sequence of tokens; split the text")
    return words(place, sentence)


def _equal(source: _Sentence, target: _Sentence) -> bool:
    """Return whether two sentences are equal, word for word, after casefold."""
    if len(source) != len(target):
        return False
    for word, other in zip(source, target, strict=True):
        if word == other:
            continue
        if compared(word, ignore_case=True) != compared(other, ignore_case=True):
            return False
    return True


@naming_keywords
def pair_translations(
    groups: Iterable[Sequence[Sequence[str]]],
    *,
    which: Literal["all", "first"] = "all",
    both_orders: bool = False,
    min_length: int = 1,
    max_length: int | None = None,
    max_ratio: float | None = None,
    drop_identical: bool = False,
    drop_repeated: bool = False,
) -> Pairings:
    """Pair the translations of each sentence with each other.

    K translations give K (K - 1) / 2 pairs: text within one language that can train an aligner.
    Nothing is read before the first pair is needed, and memory contains one group at a time;
    `drop_repeated` takes about 100 more bytes for each kept pair.

    Parameters
    ----------
    groups : For each sentence, its translations, each a sequence of tokens. An empty translation is
        missing: it is counted but in no pair. Groups may differ in size.
    which : ``"all"`` pairs all translations, ``"first"`` pairs the first with each of the others.
    both_orders : Yield each pair in both orders; otherwise the earlier translation is the source.
    min_length, max_length : The fewest and the most words of each side; None is no limit.
    max_ratio : Drop pairs whose longer side has this many times the words of the shorter one, or
        more; None is no limit.
    drop_identical : Drop pairs of sentences that are equal, word for word, after casefold.
    drop_repeated : Drop pairs with exactly the sentences of an earlier pair; without `both_orders`
        in either order.

    Returns
    -------
    Pairings
        An iterator of sentence pairs without annotations; its `counts` show what was dropped.
        The id of a pair names group and translations, from 1: ``7/1-3`` pairs the first with the
        third translation of the seventh group.

    Raises
    ------
    UnknownNameError : If `which` is not a known name.
    OptionError : If a limit is out of range.
    AlignmentError : While iterating, if a sentence is one string.

    Notes
    -----
    The corpus of [1]_ has 11 translations of 993 sentences, so 993 x 55 = 54,615 pairs. It keeps
    pairs of fewer than 50 words and a length ratio below 1:9: ``max_length=49, max_ratio=9``.
    GIZA++ and Moses' clean-corpus-n.perl keep a ratio of exactly 9: for that, give 9.001.

    References
    ----------
    .. [1] Cohn, Callison-Burch & Lapata 2008, Constructing corpora for the development and
       evaluation of paraphrase systems, Computational Linguistics 34(4).

    Examples
    --------
    >>> group = [["they", "left"], ["they", "went", "away"], [], ["off", "they", "went"]]
    >>> pairings = pair_translations([group])
    >>> for pair in pairings:
    ...     print(pair.id, *pair.source, "|||", *pair.target)
    1/1-2 they left ||| they went away
    1/1-4 they left ||| off they went
    1/2-4 they went away ||| off they went
    >>> pairings.counts.kept, pairings.counts.empty
    (3, 1)
    >>> pairings = pair_translations([group], max_ratio=1.4)
    >>> [pair.id for pair in pairings], pairings.counts.too_unequal
    (['1/2-4'], 2)
    """
    check_arguments(pair_translations, locals())
    check_known("choice of pairs", which, WHICH)
    if min_length < 1:
        raise OptionError(f"the minimum length must be 1 or more, not {min_length}")
    if max_length is not None and max_length < min_length:
        raise OptionError(
            f"the maximum length, {max_length}, is below the minimum, {min_length}: this "
            "would drop all pairs"
        )
    if max_ratio is not None and not 1 < max_ratio < inf:
        raise OptionError(
            f"the ratio of the longer to the shorter side must be more than 1, not {max_ratio}"
        )

    def fault(source: _Sentence, target: _Sentence) -> str | None:
        """Return the name of the count for a dropped pair, or None."""
        shorter, longer = sorted((len(source), len(target)))
        if shorter < min_length:
            return "too_short"
        if max_length is not None and longer > max_length:
            return "too_long"
        if max_ratio is not None and longer / shorter >= max_ratio:
            return "too_unequal"
        if drop_identical and _equal(source, target):
            return "identical"
        return None

    return Pairings(
        groups, WHICH[which], fault, both_orders=both_orders, drop_repeated=drop_repeated
    )
