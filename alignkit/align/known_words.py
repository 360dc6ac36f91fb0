"""Whether texts fit the direction of an aligner: how many of their words it knows, both ways.

If the languages of the texts are exchanged, each side has more words that the aligner knows as
words of the other side. The aligner of paraphrases knows the words of both sides as words of both;
then nothing can be said. Such an aligner is recognized by its vocabularies: the most frequent words
of one side are also frequent on the other. Among the bilingual corpora that the limits were chosen
on, at most 40% of these words are (Spanish and Portuguese); among those of one language, with as
many words as `_LEAST_VOCABULARY` demands, at least 60%.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from alignkit._support.array_types import I8
    from alignkit.align.bitext import Bitext, Side

# both sides have one language if at least `_SHARED` of the `_FREQUENT` most frequent words of one
# are among the `_OTHERS` most frequent of the other
_FREQUENT = 50
_SHARED = 0.5
_OTHERS = 500
_LEAST_VOCABULARY = 200  # different words of a side: with fewer, one cannot tell
_LEAST_GAIN = 0.1  # of known words, on each side, if the languages are exchanged
_LEAST_PAIRS = 5  # that fit one way better than the other
_LEAST_MAJORITY = 0.9  # the share of them that must fit better with the languages exchanged


@dataclass(frozen=True, kw_only=True)
class KnownWords:
    """How many words of sentence pairs an aligner knows, as they are and exchanged.

    Words without a letter do not count.

    Returned by `Aligner.known_words`.

    Parameters
    ----------
    source_words, target_words : The number of words of each side.
    source_known, target_known : Those that the aligner knows as words of this side.
    source_exchanged, target_exchanged : Those that the aligner knows as words of the other side.
    pairs : The number of sentence pairs.
    pairs_fit, pairs_exchanged : The pairs that have more known words as they are, and those that
        have more with the languages exchanged.
    different : Whether the aligner was trained on two different languages, as far as its
        vocabularies say; else nothing can be said about an exchange.

    Examples
    --------
    >>> from alignkit import Aligner
    >>> aligner = Aligner.train([("das haus", "the house"), ("das buch", "the book")])
    >>> known = aligner.known_words([("das buch", "the old book")])
    >>> known.pairs, known.shares, known.exchanged
    (1, (1.0, 0.6666666666666666), False)
    """

    source_words: int = 0
    target_words: int = 0
    source_known: int = 0
    target_known: int = 0
    source_exchanged: int = 0
    target_exchanged: int = 0
    pairs: int = 0
    pairs_fit: int = 0
    pairs_exchanged: int = 0
    different: bool = True

    def __add__(self, other: KnownWords) -> KnownWords:
        """Return the sums of both."""
        both = self, other
        counts = [name for name in asdict(self) if name != "different"]
        sums = {name: sum(getattr(known, name) for known in both) for name in counts}
        return KnownWords(**sums, different=self.different and other.different)

    @property
    def shares(self) -> tuple[float, float]:
        """The share of known words of the source and of the target; nan without words."""
        source = _share(self.source_known, self.source_words)
        target = _share(self.target_known, self.target_words)
        return source, target

    @property
    def exchanged_shares(self) -> tuple[float, float]:
        """The same with the languages exchanged: words known as words of the other side."""
        source = _share(self.source_exchanged, self.source_words)
        target = _share(self.target_exchanged, self.target_words)
        return source, target

    @property
    def exchanged(self) -> bool:
        """Whether the texts fit the other direction better: their languages are exchanged."""
        decided = self.pairs_fit + self.pairs_exchanged
        if not self.different or decided < _LEAST_PAIRS:
            return False
        source, target = self.shares
        other_source, other_target = self.exchanged_shares
        gains = other_source - source >= _LEAST_GAIN and other_target - target >= _LEAST_GAIN
        return gains and self.pairs_exchanged >= _LEAST_MAJORITY * decided

    @property
    def caution(self) -> str:
        """A warning if the languages are exchanged; else an empty text."""
        if not self.exchanged:
            return ""
        source, target = self.shares
        other_source, other_target = self.exchanged_shares
        return (
            f"the texts fit the other direction better: {source:.0%} of the source words and "
            f"{target:.0%} of the target words are known ({self.pairs:,} pairs), but "
            f"{other_source:.0%} and {other_target:.0%} if source and target are exchanged"
        )

    def to_json(self) -> dict[str, object]:
        """Return the counts and whether the languages are exchanged, for JSON.

        Examples
        --------
        >>> from alignkit import Aligner
        >>> aligner = Aligner.train([("das haus", "the house"), ("das buch", "the book")])
        >>> aligner.known_words([("das buch", "the old book")]).to_json()["source_known"]
        2
        """
        return {**asdict(self), "exchanged": self.exchanged}


class Vocabularies:
    """The words of both sides of an aligner, the most frequent first."""

    def __init__(self, source: Sequence[str], target: Sequence[str]) -> None:
        self._words = source, target

    @cached_property
    def _known(self) -> tuple[frozenset[str], frozenset[str]]:
        """The words of both sides."""
        source, target = self._words
        return frozenset(source), frozenset(target)

    @cached_property
    def different(self) -> bool:
        """Whether both sides have different languages, and enough words to tell."""
        source, target = (_frequent(words) for words in self._words)
        if min(len(source), len(target)) < _LEAST_VOCABULARY:
            return False
        return max(_overlap(source, target), _overlap(target, source)) < _SHARED

    def count(self, bitext: Bitext) -> KnownWords:
        """Count the known words of sentence pairs."""
        source_known, target_known = self._known
        source = _counts(bitext.source, source_known, target_known)
        target = _counts(bitext.target, target_known, source_known)
        straight = source[1] + target[1]
        exchanged = source[2] + target[2]
        return KnownWords(
            source_words=int(source[0].sum()),
            target_words=int(target[0].sum()),
            source_known=int(source[1].sum()),
            target_known=int(target[1].sum()),
            source_exchanged=int(source[2].sum()),
            target_exchanged=int(target[2].sum()),
            pairs=len(bitext),
            pairs_fit=int((straight > exchanged).sum()),
            pairs_exchanged=int((exchanged > straight).sum()),
            different=self.different,
        )


def _share(part: int, whole: int) -> float:
    """Return the share of a part; nan if there is nothing."""
    return part / whole if whole else float("nan")


def _is_spelled(word: str) -> bool:
    """Return whether a word has a letter."""
    return any(map(str.isalpha, word))


def _frequent(words: Sequence[str]) -> list[str]:
    """Return the most frequent words that have a letter."""
    return list(islice(filter(_is_spelled, words), _OTHERS))


def _overlap(words: Sequence[str], others: Sequence[str]) -> float:
    """Return which share of the very frequent words are frequent on the other side too."""
    shared = set(words[:_FREQUENT]).intersection(others)
    return len(shared) / min(_FREQUENT, len(words))


def _counts(side: Side, own: frozenset[str], other: frozenset[str]) -> tuple[I8, I8, I8]:
    """Return how many words each sentence has, known ones, and ones known of the other side."""
    spelled = np.array([_is_spelled(word) for word in side.words], np.int64)
    in_own = spelled * np.array([word in own for word in side.words], np.int64)
    in_other = spelled * np.array([word in other for word in side.words], np.int64)
    return _sums(side, spelled), _sums(side, in_own), _sums(side, in_other)


def _sums(side: Side, values: I8) -> I8:
    """Return the sum of the values of the words of each sentence."""
    total = np.zeros(len(side.ids) + 1, np.int64)
    np.cumsum(values[side.ids], out=total[1:])
    return np.diff(total[side.starts])
