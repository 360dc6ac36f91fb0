"""The translations of sentences into several languages: columns of a file, or a file for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import zip_longest
from typing import NoReturn

from alignkit.io.parallel_text import ids_of
from alignkit.io.text_files import Line, TextFile
from alignkit.io.text_ids import split_id

Group = list[list[str]]
"""The translations of one sentence, as tokens."""


def groups_of(readings: Sequence[TextFile]) -> Iterator[Group]:
    """Yield the translations of each sentence from open files, line by line, without ids."""
    if len(readings) == 1:
        return _columns(readings[0])
    return _in_step(readings)


def _columns(reading: TextFile) -> Iterator[Group]:
    """Yield the columns of each line."""
    most = 0
    with closing(reading.lines()) as lines:
        for line, text in lines:
            columns = text.split("\t")
            most = max(most, len(columns))
            yield [_words(column, reading, line) for column in columns]
    if most == 1:
        raise reading.error(
            "no line has two columns; separate the translations by tabs, or give a file for each"
        )


def _in_step(readings: Sequence[TextFile]) -> Iterator[Group]:
    """Yield the sentences that are on the same line of several files."""
    with ExitStack() as stack:
        ids = ids_of(readings[0], [reading.path for reading in readings]).present
        files = [stack.enter_context(closing(reading.lines())) for reading in readings]
        for count, row in enumerate(zip_longest(*files)):
            if None in row:
                _refuse_ends(readings, files, row, count)
            group = []
            for (line, text), reading in zip(row, readings, strict=True):
                sentence = text
                if ids:
                    _, sentence = split_id(reading, line, text, reading.path)
                group.append(_words(sentence, reading, line))
            yield group


def _refuse_ends(
    readings: Sequence[TextFile],
    files: Sequence[Iterator[Line]],
    row: Sequence[Line | None],
    count: int,
) -> NoReturn:
    """Raise an error for files of which some end after `count` lines, and others have a `row`."""
    ended = readings[row.index(None)].path
    longer = next(k for k, line in enumerate(row) if line is not None)
    total = count + 1 + sum(1 for _ in files[longer])
    raise readings[longer].error(
        f"has {total} lines, but {ended} has {count}",
        advice="the same line of each file must translate the same sentence",
    )


def _words(text: str, reading: TextFile, line: int) -> list[str]:
    """Return the words of a sentence, which may not be too many."""
    words = reading.words(text, line)
    if len(words) > reading.options.max_words:
        raise reading.too_long("a sentence", len(words), line)
    return words
