"""Say in the error of a file that is refused as one format which other format fits."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from typing import TypeVar

from alignkit.errors import FileError, FormatError, OptionError, UnknownFormatError
from alignkit.formats.causes import typed
from alignkit.formats.detect import find_format, reads_as
from alignkit.formats.intake import Reading
from alignkit.formats.options import ReadOptions

__all__ = ["hint_of", "hinted"]

T = TypeVar("T")


def hinted(items: Iterator[T], reading: Reading) -> Generator[T, None, None]:
    """Pass on what is read; say in an error which other format fits, if one does."""
    try:
        yield from items
    except FormatError as error:
        apart = error.path != reading.path
        hint = hint_of(reading.path, reading.format, reading.options, named=apart)
        if not hint or hint in error.message:
            raise
        raise _with(error, hint) from None


def _with(error: FormatError, hint: str) -> FormatError:
    if isinstance(error, FileError):
        return type(error)(error.path, error.errno, f"{error.strerror}; {hint}")
    return FormatError(f"{error.message}; {hint}", error.path, error.line, error.column)


def hint_of(path: str, format: str, options: ReadOptions, *, named: bool = False) -> str:
    """Return which other format fits what is refused as one, in words; nothing where none does.

    With `named`, the words name the file, for an error that is about another.
    """
    if not format or not (os.path.isdir(path) or os.path.isfile(path)):
        return ""  # what can be read only once was read
    what = "the folder" if os.path.isdir(path) else "the file"
    what += f" {path}" if named else ""
    try:
        found = find_format(path, encoding=options.encoding)
        fits = found != format and reads_as(found, path, options)
        return f"{what} reads as {found}: {typed([found])}" if fits else ""
    except UnknownFormatError as error:
        useful = error.fitting and format not in error.fitting
        return f"{what} {error.message}" if useful else ""
    except (FormatError, OptionError):
        return ""
