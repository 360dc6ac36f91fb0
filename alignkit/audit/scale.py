"""Define what a judge may say of an item: the judgments of an audit, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from alignkit.arguments import check_attributes
from alignkit.errors import AlignkitError, OptionError


class UnknownJudgmentError(AlignkitError, ValueError):
    """A judgment that the audit does not have; the message lists those it has."""


@dataclass(frozen=True)
class Scale:
    """The judgments of an audit, in their order.

    Parameters
    ----------
    names
        Two or more, no two alike in another case.
    meanings
        What each means, in a word that may be written too; empty where the name says it.

    Raises
    ------
    OptionError
        If there are less than two, two are alike, or there are not as many meanings.

    Examples
    --------
    >>> CORRECTNESS.letters
    ('c', 'u', 'i')
    >>> CORRECTNESS.parse(" U "), CORRECTNESS.parse("Correct"), CORRECTNESS.parse("")
    ('uncertain', 'correct', '')
    """

    names: tuple[str, ...]
    meanings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_attributes(self)
        folded = [name.strip().casefold() for name in self.names]
        if len(folded) < 2 or "" in folded or len(set(folded)) < len(folded):
            raise OptionError(f"judgments are {self.names}; give two or more different names")
        meant = [*folded, *(text.strip().casefold() for text in self.meanings if text)]
        if len(set(meant)) < len(meant) or len(self.meanings) not in (0, len(self.names)):
            raise OptionError(f"judgments {self.names} mean {self.meanings}; give each its own")

    @property
    def letters(self) -> tuple[str, ...]:
        """The short form of each: its first letter, if that is its own; else the name."""
        first = [name[0].casefold() for name in self.names]
        return tuple(
            name if first.count(letter) > 1 else letter
            for name, letter in zip(self.names, first, strict=True)
        )

    def parse(self, text: str) -> str:
        """Return the judgment that a text names in any case, by its name, meaning or letter.

        Empty text is no judgment, and stays empty.
        """
        wanted = text.strip().casefold()
        if not wanted:
            return ""
        for forms in (self.names, self.meanings or self.names, self.letters):
            for name, form in zip(self.names, forms, strict=True):
                if wanted == form.casefold():
                    return name
        raise UnknownJudgmentError(
            f"unknown judgment {text.strip()[:40]!r}; expected {self.words()}, or nothing"
        )

    def words(self) -> str:
        """Return the names with their letters, or meanings, as a message lists them."""
        meanings = self.meanings or [""] * len(self.names)
        beside = (
            meaning or ("" if letter == name else letter)
            for name, letter, meaning in zip(self.names, self.letters, meanings, strict=True)
        )
        both = zip(self.names, beside, strict=True)
        return ", ".join(f"{name} ({other})" if other else name for name, other in both)

    def place(self, name: str) -> int:
        """Return the place of a judgment among all."""
        return self.names.index(name)

    @classmethod
    def of(cls, names: Sequence[str]) -> Scale:
        """Make a scale of names in any sequence."""
        return cls(tuple(names))


CORRECTNESS = Scale(("correct", "uncertain", "incorrect"))
"""What a phrase pair is, in the context of its two sentences."""
