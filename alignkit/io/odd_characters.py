"""Find and mend the characters of a text that are not text, or that tools treat differently.

Control characters and byte order marks are problems, and so are carriage returns before line ends.
White space in words that is not ASCII is none; but see `ReadOptions.token_separators`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from alignkit.io import opening
from alignkit.model.texts import code_point, spaces_beyond_ascii, without_marks

CONTROL = "control character"
MARK = "byte order mark"
RETURN = "carriage return"
SPACE = "white space in words"
PROBLEMS = (CONTROL, MARK, RETURN)
"""What `mended` changes."""

_LINES = 3  # that are named


@dataclass
class OddCharacter:
    """A kind of character, how often it occurs, and the first lines that have it."""

    kind: str
    character: str
    count: int = 0
    lines: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The code point."""
        return code_point(self.character)

    def add(self, count: int, line: int) -> None:
        """Count the character in a line."""
        self.count += count
        if len(self.lines) < _LINES:
            self.lines.append(line)

    def __str__(self) -> str:
        lines = ", ".join(map(str, self.lines))
        if self.count > len(self.lines) == _LINES:
            more = ", ..."
        else:
            more = ""
        return f"{self.name} ({self.count}, {'line' if lines.isdigit() else 'lines'} {lines}{more})"


class OddCharacters:
    """The odd characters of a text, and how many lines it has."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], OddCharacter] = {}
        self.lines = 0

    @property
    def each(self) -> list[OddCharacter]:
        """The characters, problems first, by code point."""
        kinds = (*PROBLEMS, SPACE)
        return sorted(self._known.values(), key=lambda odd: (kinds.index(odd.kind), odd.character))

    @property
    def problems(self) -> list[OddCharacter]:
        """The characters that are to be mended."""
        return [odd for odd in self.each if odd.kind in PROBLEMS]

    def line(self, text: str) -> str:
        """Count the characters of a line, and return the mended line, as reading has it."""
        self.lines += 1
        content = text.removesuffix("\n")
        end = text[len(content) :]
        plain = content.rstrip("\r")
        self._add(RETURN, "\r" * (len(content) - len(plain)))
        self._add(CONTROL, opening.CONTROL.findall(plain))
        plain = opening.CONTROL.sub("\ufffd", plain)
        unmarked = without_marks(plain)
        self._add(MARK, "\ufeff" * (len(plain) - len(unmarked)))
        self._add(SPACE, spaces_beyond_ascii(unmarked))
        return unmarked + end

    def _add(self, kind: str, characters: Sequence[str]) -> None:
        """Count the characters of a kind in this line."""
        for character in dict.fromkeys(characters):
            odd = self._known.setdefault((kind, character), OddCharacter(kind, character))
            odd.add(characters.count(character), self.lines)


def find_odd_characters(lines: Iterable[str], output: TextIO | None = None) -> OddCharacters:
    """Count the odd characters of a text, and write the mended text to an output, if given."""
    odd = OddCharacters()
    for text in lines:
        mended = odd.line(text)
        if output is not None:
            output.write(mended)
    return odd
