"""Read plain lists of phrase pairs: tab-separated, or a Moses phrase table.

tsv
    A line a phrase pair: source phrase, tab, target phrase. Exactly two columns, no header.
moses
    A line a phrase pair: ``source ||| target ||| scores ...``; what follows the target is ignored.

Both: words are separated by white space, UTF-8 (or another encoding by option), ``.gz`` is
unpacked, line feeds end lines, a byte order mark at the start and carriage returns are taken off.
A line without a phrase on both sides is an error.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, fspath

from alignkit.arguments import check_arguments
from alignkit.errors import FormatError, OptionError, UnknownNameError

__all__ = ["PHRASE_TABLE_FORMATS", "read_phrase_table"]


def read_phrase_table(
    path: str | PathLike[str], *, format: str | None = None, encoding: str = "utf-8"
) -> Iterator[tuple[str, str]]:
    """Yield (source phrase, target phrase) line by line, never more than a line in memory.

    Parameters
    ----------
    path
        The file; ``-`` is standard input, ``.gz`` is unpacked.
    format
        ``"tsv"`` or ``"moses"``; None takes moses if the first line contains ``|||``.
    encoding
        Of the text; one in which a line feed is one byte (not UTF-16).

    Raises
    ------
    FormatError
        If a line does not hold a phrase on both sides, or the file cannot be read or decoded.
    UnknownNameError
        If `format` names nothing.
    OptionError
        If `encoding` names nothing.
    """
    check_arguments(read_phrase_table, locals())
    if format is not None and format not in PHRASE_TABLE_FORMATS:
        raise UnknownNameError("phrase table format", format, PHRASE_TABLE_FORMATS)
    name = fspath(path)
    parse = PHRASE_TABLE_FORMATS[format] if format is not None else None
    for number, line in _lines(name, encoding):
        if parse is None:
            parse = PHRASE_TABLE_FORMATS["moses" if "|||" in line else "tsv"]
        phrases = parse(line)
        if isinstance(phrases, str):
            raise FormatError(phrases, name, number)
        yield phrases


def _tsv(line: str) -> tuple[str, str] | str:
    columns = line.split("\t")
    if len(columns) != 2:
        return f"expected 2 tab-separated columns, source and target phrase, not {len(columns)}"
    return _both(*columns)


def _moses(line: str) -> tuple[str, str] | str:
    fields = line.split("|||", 2)
    if len(fields) < 2:
        return "expected source ||| target ||| scores"
    return _both(fields[0], fields[1])


PHRASE_TABLE_FORMATS: Mapping[str, Callable[[str], tuple[str, str] | str]] = {
    "tsv": _tsv,
    "moses": _moses,
}
"""What makes a phrase pair of a line, or says what is wrong with it."""


def _both(source: str, target: str) -> tuple[str, str] | str:
    source, target = source.strip(), target.strip()
    if not source or not target:
        return f"the {'target' if source else 'source'} phrase is empty"
    return source, target


def _lines(name: str, encoding: str) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with _open(name) as stream:
            for number, raw in enumerate(stream, start=1):
                line = raw.decode(encoding)
                yield number, line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeDecodeError as problem:
        raise FormatError(
            f"not {encoding} (byte {problem.object[problem.start]:#04x}); name the right encoding",
            name,
            number,
            problem.start + 1,
        ) from None
    except LookupError:
        raise OptionError(f"unknown encoding {encoding!r}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise FormatError(f"cannot be unpacked: {problem}", name) from None
    except OSError as problem:
        raise FormatError(f"cannot be read: {problem.strerror or problem}", name) from None


@contextmanager
def _open(name: str) -> Iterator[Iterable[bytes]]:
    if name == "-":
        yield sys.stdin.buffer
    elif name.endswith(".gz"):
        with gzip.open(name) as packed:
            yield packed
    else:
        with open(name, "rb") as plain:
            yield plain
