"""Both sentences on one line: split such lines, and write sentences in that form or to two files.

A bitext has ``source ||| target``, perhaps after an id and a tab; plain texts may instead have two
columns, separated by a tab. The first line with words decides for all lines of a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TextIO

from alignkit.errors import AlignkitError
from alignkit.io.text_files import TextFile
from alignkit.io.text_ids import split_id
from alignkit.model.alignment import SIDES
from alignkit.model.texts import split_words, without_marks

BITEXT = "|||"
DIVIDERS = {"bitext": BITEXT, "tsv": "\t"}
"""The divider of two sentences on a line, by the name of the form."""


def is_bitext_line(line: str) -> bool:
    """Return whether a line has two sentences: around one ||| or, if none is empty, one tab."""
    divider = _divider_in(line)
    parts = line.split(divider) if divider else []
    return len(parts) == 2 and (divider == BITEXT or all(map(str.strip, parts)))


def _divider_in(line: str) -> str:
    """Return what divides a line into sentences, ||| or else a tab; empty if nothing does."""
    for divider in DIVIDERS.values():
        if divider in line:
            return divider
    return ""


@dataclass
class Divider:
    """Divide the lines of a file into two sentences, all like the first.

    Parameters
    ----------
    path : The file, for errors.
    advice : What to do if nothing divides the first line.
    divider : One of `DIVIDERS`; empty: the first line decides.
    """

    reading: TextFile
    path: str
    advice: str
    divider: str = ""

    def divide(self, line: str, number: int) -> tuple[str, str]:
        """Return both sentences of a line, not split into words yet."""
        self.divider = self.divider or _divider_in(line)
        if not self.divider:
            message = f"neither ' ||| ' nor a tab divides two sentences; {self.advice}"
            raise self.reading.error(message, number, path=self.path)
        parts = line.split(self.divider)
        if len(parts) == 2:
            source, target = parts
            return source, target
        if self.divider == BITEXT:
            message = f"{len(parts) - 1} dividers ' ||| ', expected one, between source and target"
        else:
            message = (
                f"{len(parts)} columns, expected source and target, divided by one tab "
                "(`cut -f` selects two columns)"
            )
        raise self.reading.error(message, number, path=self.path)


class TwoInLine:
    """Read lines with a source and a target sentence as parallel text.

    With a form, one of `DIVIDERS`, they are divided so; otherwise the first line with words
    decides. With `ids`, each line begins with an id and a tab.
    """

    def __init__(self, reading: TextFile, form: str | None = None, *, ids: bool = False) -> None:
        self._reading = reading
        self._ids = ids
        advice = "give two texts, SRC and TGT, or the `format` of this one"
        divider = DIVIDERS[form] if form else ""
        self._divider = Divider(reading, reading.path, advice, divider)

    def __call__(self, line: str, number: int) -> tuple[str, str, str | None]:
        """Return both sides of a line and its id; empty sides for an empty line."""
        if line.isspace() or not line:
            return "", "", None
        id = None
        if self._ids:
            id, line = split_id(self._reading, number, line, self._reading.path)
        sides = self._divider.divide(line, number)
        most = self._reading.options.max_words
        for name, side in zip(SIDES, sides, strict=True):
            # n words and the spaces between them are 2n - 1 characters: most sides are short
            words = len(split_words(side)) if len(side) > 2 * most else 0
            if words > most:
                raise self._reading.too_long(f"the {name} sentence", words, number)
        source, target = (self._reading.sentence(side, number) for side in sides)
        return source, target, id


class ParallelWriter:
    """Write sentences to two files, or both to one file."""

    def __init__(
        self, source: TextIO | None, target: TextIO | None = None, *, form: str = "bitext"
    ) -> None:
        self._source = source
        self._target = target
        self._divider = DIVIDERS[form]

    @property
    def wanted(self) -> bool:
        """Whether the words are written anywhere."""
        return self._source is not None or self._target is not None

    @property
    def in_line(self) -> bool:
        """Whether both sentences are on one line."""
        return self._source is not None and self._target is None

    def write(
        self, id: str, source: str, target: str, *, before: str = "", behind: str = ""
    ) -> None:
        """Write a pair of sentences, each line between `before` and `behind`."""
        if self.in_line:
            source = self._in_line(id, source, target)
        for stream, text in ((self._source, source), (self._target, target)):
            if stream is not None:
                stream.write(f"{before}{text}{behind}\n")

    def _in_line(self, id: str, source: str, target: str) -> str:
        """Return both sentences on a line, which must be read as it is written."""
        space = " " if self._divider == BITEXT else ""
        line = f"{source}{space}{self._divider}{space}{target}"
        problem = ""
        if self._divider == BITEXT and not divisible((source, target)):
            problem = "divider '|||', which separates the sentences of a bitext; use two files"
        elif without_marks(line) != line:
            problem = "byte order mark, which reading removes; write alignkit-jsonl"
        if problem:
            raise AlignkitError(f"pair {id!r}: the words contain the {problem}")
        return line


def divisible(sentences: Iterable[str]) -> bool:
    """Return whether these sentences or words fit into a bitext: none contains the divider."""
    return not any(BITEXT in text for text in sentences)
