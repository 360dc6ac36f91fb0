"""Read phrase tables with their numbers: alignkit's own, and those of Moses.

tsv
    source phrase, tab, target phrase, tab, count, tab, p(target | source), tab, p(source | target),
    as written by ``alignkit phrases --table``.
moses
    ``source ||| target ||| scores ||| alignment ||| counts``: the first score is
    p(source | target), the third p(target | source); the last count is that of the phrase pair.
    The alignment is ignored, and the counts may be missing.

In both, the words of a phrase are separated by single spaces, and ``.gz`` is unpacked.

References
----------
The Moses manual, "Phrase scoring": https://www2.statmt.org/moses/?n=FactoredTraining.ScorePhrases
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress, islice
from os import PathLike, fspath
from typing import NamedTuple

import numpy as np

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.array_types import F8
from alignkit.errors import FormatError
from alignkit.io.limits import MAX_MEGABYTES
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.rules.tables.phrase_tables import PhraseEntry

_LINES = 1 << 14  # at a time
_Columns = tuple[str, str, str | None, str, str]


class TableRows(NamedTuple):
    """Some entries of a phrase table, and the line of the first."""

    source: Sequence[str]
    target: Sequence[str]
    counts: F8
    p_target: F8
    p_source: F8
    line: int

    def seen(self, least: int, path: str) -> TableRows:
        """Return the entries with at least a count."""
        if least <= 1:
            return self
        unknown = np.isnan(self.counts)
        if unknown.any():
            message = "the line has no count of the phrase pair"
            line = self.line + int(unknown.argmax())
            raise FormatError(f"{message}; leave out the minimum count", path, line)
        kept = self.counts >= least
        return TableRows(
            tuple(compress(self.source, kept)),
            tuple(compress(self.target, kept)),
            self.counts[kept],
            self.p_target[kept],
            self.p_source[kept],
            self.line,
        )


class TableFile:
    """A phrase table that is read a few lines at a time."""

    def __init__(self, path: str, format: str | None, reading: ReadOptions) -> None:
        if format is not None:
            check_known("phrase table format", format, TABLE_FORMATS)
        self.path = path
        self._parse = TABLE_FORMATS[format] if format is not None else None
        self._file = TextFile(path, reading)

    def fraction(self) -> float | None:
        """Return the share of the file that is read, 0 to 1; None if unknown."""
        return self._file.fraction()

    def rows(self) -> Iterator[TableRows]:
        """Yield the entries."""
        stream = self._file.lines()
        while lines := list(islice(stream, _LINES)):
            number, text = lines[0]
            if self._parse is None:
                if "|||" in text and "\t" not in text:
                    self._parse = _moses
                else:
                    self._parse = _tsv
            yield self._checked([self._parse(text) for _, text in lines], number)

    def _checked(self, parsed: Sequence[_Columns | str], first: int) -> TableRows:
        """Return the entries of lines from number `first` on; an error is among them as text."""
        rows: list[_Columns] = []
        for number, row in enumerate(parsed, start=first):
            if isinstance(row, str):
                raise FormatError(row, self.path, number)
            rows.append(row)
        source, target, seen, to_target, to_source = zip(*rows, strict=True)
        unknown = np.array([text is None for text in seen])
        counts = self._numbers([text or "0" for text in seen], "the count", 1e300, first)
        counts[unknown] = np.nan
        p_target = self._numbers(to_target, "p(target | source)", 1.0, first)
        p_source = self._numbers(to_source, "p(source | target)", 1.0, first)
        return TableRows(source, target, counts, p_target, p_source, first)

    def _numbers(self, column: Sequence[str], name: str, most: float, first: int) -> F8:
        """Read a column of numbers up to `most`; if that is 1, they are above 0."""
        try:
            numbers = np.array(column).astype(np.float64)
            low = 0.0 if most > 1 else np.nextafter(0.0, 1.0)
            right = (numbers >= low) & (numbers <= most)
            if right.all():
                return numbers
            place = int(right.argmin())
        except ValueError:
            place = next(k for k, text in enumerate(column) if not _is_number(text))
        if most > 1:
            expected = "a number, 0 or more"
        else:
            expected = "a number above 0, at most 1"
        wrong = f"{name} is {column[place][:40]!r}; expected {expected}"
        raise FormatError(wrong, self.path, first + place)


def read_table(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    max_size: int = MAX_MEGABYTES,
) -> Iterator[PhraseEntry]:
    """Yield the entries of a phrase table, with their counts and probabilities.

    Parameters
    ----------
    path : The file; ``-`` is standard input, ``.gz`` is unpacked.
    format : ``"tsv"`` or ``"moses"``; None selects moses if the first line contains ``|||`` and no
        tab.
    encoding : The encoding of the file.
    max_size : The maximum size of a line in megabytes.

    Raises
    ------
    FormatError : If a line is not an entry, or the file cannot be read or decoded.
    UnknownNameError : If `format` is unknown.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.txt")
    ...     _ = path.write_text("das ||| the ||| 0.5 1 0.8 1 ||| 0-0 ||| 4 5 4", "utf-8")
    ...     [entry] = read_table(path)
    >>> entry.p_target, entry.p_source, entry.count
    (0.8, 0.5, 4.0)
    """
    check_arguments(read_table, locals())
    file = TableFile(fspath(path), format, ReadOptions(encoding=encoding, max_size=max_size))
    return _entries(file)


def _entries(file: TableFile) -> Iterator[PhraseEntry]:
    for rows in file.rows():
        counts = rows.counts.tolist()
        p_target = rows.p_target.tolist()
        p_source = rows.p_source.tolist()
        for k, (source, target) in enumerate(zip(rows.source, rows.target, strict=True)):
            source_words = tuple(source.split(" "))
            target_words = tuple(target.split(" "))
            yield PhraseEntry(source_words, target_words, counts[k], p_target[k], p_source[k])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _tsv(line: str) -> _Columns | str:
    """Return the columns of a line, or the error in it."""
    columns = line.split("\t")
    if len(columns) != 5:
        return (
            f"expected 5 tab-separated columns, not {len(columns)}: source, target, count, "
            "p(target | source), p(source | target), as phrases --table writes them"
        )
    source, target, count, p_target, p_source = columns
    if not (source and target):
        return f"the {'target' if source else 'source'} phrase is empty"
    return source, target, count or "?", p_target, p_source


def _moses(line: str) -> _Columns | str:
    """Return the columns of a line, or the error in it."""
    fields = [field.strip(" ") for field in line.split("|||")]
    scores = fields[2].split() if len(fields) > 2 else []
    if len(scores) < 3:
        return (
            "expected source ||| target ||| scores; the first score is p(source | "
            "target), the third p(target | source)"
        )
    if not (fields[0] and fields[1]):
        return f"the {'target' if fields[0] else 'source'} phrase is empty"
    counts = fields[4].split() if len(fields) > 4 else []
    count = counts[2] if len(counts) > 2 else None
    return fields[0], fields[1], count, scores[2], scores[0]


TABLE_FORMATS: Mapping[str, Callable[[str], _Columns | str]] = {"tsv": _tsv, "moses": _moses}
"""The functions that read the columns of a line, or return the error in it."""
