"""Gather what the annotators of a corpus share: the pairs that all of them annotated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from alignkit.alignment import Alignment
from alignkit.arguments import check_kind, words
from alignkit.arrays import LinkArrays, TokenArrays, Vocabulary
from alignkit.corpus import Corpus
from alignkit.errors import OptionError

__all__ = ["SharedPairs", "check_annotators"]


def check_annotators(corpus: Corpus, annotators: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names, or all names of the corpus for None, if they can be compared.

    Raises
    ------
    OptionError
        If there are fewer than two, or one comes twice.
    UnknownNameError
        If one aligned nothing in the corpus.
    """
    if isinstance(annotators, str):
        raise OptionError(f"name the annotators in a list, not as the one text {annotators!r}")
    check_kind("corpus", corpus, Corpus)
    names = corpus.aligners if annotators is None else words("annotators", annotators)
    if len(names) < 2:
        found = ", ".join(names) or "none"
        raise OptionError(
            f"agreement needs two or more annotators, and here is {found}; "
            "merge the other annotators' files into the corpus"
        )
    for name in names:
        if names.count(name) > 1:
            raise OptionError(f"annotator {name!r} is named twice; name each one once")
    corpus.require(*names)
    return names


@dataclass(frozen=True)
class SharedPairs:
    """Hold the P sentence pairs that every one of some annotators annotated.

    Parameters
    ----------
    corpus
        Those pairs, in order.
    annotators
        The names.
    """

    corpus: Corpus
    annotators: tuple[str, ...]

    @classmethod
    def of(cls, corpus: Corpus, annotators: Sequence[str] | None) -> SharedPairs:
        """Select the pairs; see `check_annotators` for the errors."""
        names = check_annotators(corpus, annotators)
        return cls(corpus.annotated_by(*names), names)

    def __len__(self) -> int:
        return len(self.corpus)

    def lengths(self) -> list[tuple[int, int]]:
        """Return (N, M) of each pair.

        Raises
        ------
        MissingTextError
            If the words of a pair are not known.
        """
        return [pair.lengths for pair in self.corpus]

    def alignments(self, name: str) -> list[Alignment]:
        """Return the alignments of one annotator."""
        return [pair.alignment(name) for pair in self.corpus]

    def links(self, name: str) -> LinkArrays:
        """Return the links of one annotator; without words, lengths are what the links need."""
        known = all(pair.has_text for pair in self.corpus)
        return LinkArrays.pack(self.alignments(name), self.lengths() if known else None)

    def words(self) -> tuple[TokenArrays, TokenArrays]:
        """Return the source and the target words, numbered without regard to case.

        Raises
        ------
        MissingTextError
            If the words of a pair are not known.
        """
        vocabulary = Vocabulary()
        sides = [pair.words for pair in self.corpus]
        return (
            TokenArrays.pack((source for source, _ in sides), vocabulary),
            TokenArrays.pack((target for _, target in sides), vocabulary),
        )
