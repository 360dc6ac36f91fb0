"""Read several translations of the same sentences: a file each, or the columns of one.

Several files are read in step: line k of each translates sentence k, so all have equally many
lines. In one file, the columns of a line, divided by tabs, are the translations of a sentence;
lines may have different numbers of columns. Words are divided by white space. An empty line or
column is a translation that is missing.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import zip_longest

from alignkit.errors import OptionError
from alignkit.formats.options import ReadOptions
from alignkit.formats.textfile import TextFile
from alignkit.formats.words import split_words
from alignkit.input import MAX_MEGABYTES, MAX_WORDS

Group = list[list[str]]
"""The translations of one sentence, as tokens."""


def read_translations(
    *paths: str, encoding: str = "utf-8", max_size: int = MAX_MEGABYTES, max_words: int = MAX_WORDS
) -> Iterator[Group]:
    """Yield the translations of each sentence, in memory that does not grow."""
    if not paths:
        raise OptionError("name a file of translations for each translator, or one with columns")
    options = ReadOptions(encoding=encoding, max_size=max_size, max_words=max_words)
    return groups_of([TextFile(str(path), options) for path in paths])


def groups_of(readings: Sequence[TextFile]) -> Iterator[Group]:
    """Yield the translations of each sentence from files prepared for reading.

    Line k holds group k, in one file as in several.
    """
    return _columns(readings[0]) if len(readings) == 1 else _in_step(readings)


def _columns(reading: TextFile) -> Iterator[Group]:
    most = 0
    with closing(_lines(reading)) as lines:
        for line, text in lines:
            columns = text.split("\t")
            most = max(most, len(columns))
            yield [_words(column, reading, line) for column in columns]
    if most == 1:
        raise reading.error(
            "no line has two columns; divide the translations by tabs, or name a file for each"
        )


def _in_step(readings: Sequence[TextFile]) -> Iterator[Group]:
    with ExitStack() as stack:
        files = [stack.enter_context(closing(_lines(reading))) for reading in readings]
        for row in zip_longest(*files):
            if None in row:
                _refuse(readings, files, row)
            yield [
                _words(text, reading, line)
                for (line, text), reading in zip(row, readings, strict=True)
            ]


def _words(text: str, reading: TextFile, line: int) -> list[str]:
    words = split_words(text)
    if len(words) > reading.options.max_words:
        raise reading.too_long("a sentence", len(words), line)
    return words


def _lines(reading: TextFile) -> Generator[tuple[int, str], None, None]:
    yield from reading.lines()


def _refuse(
    readings: Sequence[TextFile],
    files: Sequence[Iterator[tuple[int, str]]],
    row: Sequence[tuple[int, str] | None],
) -> None:
    ended = row.index(None)
    going, line = next((k, found[0]) for k, found in enumerate(row) if found is not None)
    total = line + sum(1 for _ in files[going])
    raise readings[going].error(
        f"has {total} lines, but {readings[ended].path} has {line - 1}; the same line of each "
        "file is to translate the same sentence"
    )
