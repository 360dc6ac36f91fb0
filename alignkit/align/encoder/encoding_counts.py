"""Counts of what an encoder, or word vectors, did, and of the words that they knew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from alignkit._support.array_types import U2
from alignkit._support.wording import how_many
from alignkit.align.encoder.shares import matched_words

LEAST_MATCHED = 0.65  # of 19 texts, 17 had .78 to .93; Japanese .59, Ancient Greek .57
FEWEST_WORDS = 100  # that tell


@dataclass
class EncodingCounts:
    """What an encoder, or word vectors, had to do, and how well they knew the words.

    Returned by `Aligner.encoding`.

    Examples
    --------
    >>> from alignkit import Aligner
    >>> from alignkit.align.encoder import FunctionEncoder
    >>> def letters(words):
    ...     return [[word.count(letter) for letter in "aeiou"] for word in words]
    >>> bitext = [("das haus", "the house"), ("das buch", "the book")]
    >>> aligner = Aligner.train(bitext, encoder=FunctionEncoder(letters))
    >>> aligner.encoding.words, aligner.encoding.unknown
    ((4, 4), (0, 0))
    """

    encoded: int = 0  # sentences
    kept: int = 0  # sentences that were known from before
    seconds: float = 0.0
    words: tuple[int, int] = (0, 0)  # source and target words in pairs with words on both sides
    unknown: tuple[int, int] = (0, 0)  # those without a vector
    matched: int = 0  # how many words of a side have a mutual best match
    matchable: int = 0  # how many can have one: as many as the shorter side of each pair has words

    @property
    def matched_share(self) -> float:
        """The share of words of the shorter sides with a mutual best match; 1 without words."""
        return self.matched / self.matchable if self.matchable else 1.0

    def count_pair(self, shares: U2, unknown: Sequence[int]) -> None:
        """Count the words of a pair with these shares (N, M); `unknown` ones have no vector."""
        self.words = _sum_of_two(self.words, shares.shape)
        self.unknown = _sum_of_two(self.unknown, unknown)
        self.matched += matched_words(shares)
        self.matchable += min(shares.shape)

    def __add__(self, other: EncodingCounts) -> EncodingCounts:
        """Return the counts of two texts together."""
        return self._combined(other, 1)

    def __sub__(self, earlier: EncodingCounts) -> EncodingCounts:
        """Return what was counted since then."""
        return self._combined(earlier, -1)

    def _combined(self, other: EncodingCounts, sign: int) -> EncodingCounts:
        """Return the sums (sign 1) or differences (sign -1)."""
        return EncodingCounts(
            encoded=self.encoded + sign * other.encoded,
            kept=self.kept + sign * other.kept,
            seconds=self.seconds + sign * other.seconds,
            words=_sum_of_two(self.words, other.words, sign),
            unknown=_sum_of_two(self.unknown, other.unknown, sign),
            matched=self.matched + sign * other.matched,
            matchable=self.matchable + sign * other.matchable,
        )

    @property
    def _few_match(self) -> bool:
        """Whether few words have a best match; a few words tell nothing."""
        return self.matched_share < LEAST_MATCHED and self.matchable >= FEWEST_WORDS

    def caution(self, name: str) -> str:
        """Say that few words have a best match with the encoder of this name; empty if many do."""
        if not self._few_match:
            return ""
        return (
            f"{name} finds a mutual best match for only {self.matched_share:.0%} of the words: "
            "perhaps it does not know one of the languages, and then links can be worse with it; "
            "compare them with gold links, or with those without an encoder"
        )

    @property
    def caution_about_vectors(self) -> str:
        """Say that few words have a best match by word vectors; empty if many do."""
        if not self._few_match:
            return ""
        return (
            f"the word vectors find a mutual best match for only {self.matched_share:.0%} of the "
            "words: perhaps they lack one of the languages, or the vectors of both sides are not "
            "in the same space, and then links can be worse with them; compare them with gold "
            "links, or with those without vectors"
        )

    @property
    def about_words(self) -> str:
        """How well the words were known, as text."""
        unknown = sum(self.unknown)
        if unknown:
            vectors = f"{how_many(unknown, 'word has', 'words have', commas=True)} no vector"
        else:
            vectors = "all words have vectors"
        return (
            f"{vectors}; {self.matched_share:.0%} of the words that can have a mutual best match "
            "have one"
        )

    def __str__(self) -> str:
        return (
            f"{how_many(self.encoded, 'sentence', commas=True)} encoded in {self.seconds:.0f} s, "
            f"{self.kept:,} known from before; {self.about_words}"
        )

    def to_json(self) -> dict[str, object]:
        """Return the counts as JSON values."""
        return {
            "encoded": self.encoded,
            "kept": self.kept,
            "seconds": round(self.seconds, 3),
            "source_words": self.words[0],
            "target_words": self.words[1],
            "source_words_without_vector": self.unknown[0],
            "target_words_without_vector": self.unknown[1],
            "matched_words": self.matched,
            "matchable_words": self.matchable,
        }


def _sum_of_two(first: tuple[int, int], second: Sequence[int], sign: int = 1) -> tuple[int, int]:
    """Return the sums of the counts of both sides, or their differences (sign -1)."""
    return first[0] + sign * second[0], first[1] + sign * second[1]
