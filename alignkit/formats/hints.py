"""Say in errors and warnings of a file which other format fits, or that its texts are shifted."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from logging import getLogger
from typing import TYPE_CHECKING, TypeVar

from alignkit.errors import FileError, FormatError, OptionError, UnknownFormatError
from alignkit.formats.causes import typed
from alignkit.formats.detect import find_format, reads_as
from alignkit.formats.intake import Reading
from alignkit.formats.options import ReadOptions

if TYPE_CHECKING:
    from alignkit.formats.shift import Shift

T = TypeVar("T")
_LOGGER = getLogger("alignkit")


def hinted(items: Iterator[T], reading: Reading) -> Generator[T, None, None]:
    """Pass on what is read; say in an error which other format fits, or that texts are shifted.

    Texts of which links out of range were dropped on request are a warning if they look shifted.
    """
    try:
        yield from items
        dropped = reading.counts["link out of range"] and not reading.options.lenient
        if dropped and (shift := _shift(reading.path, reading.format, reading.options)) is not None:
            reading.shift = str(shift)
            _LOGGER.warning("%s: warning: %s", reading.path, shift)
    except FormatError as error:
        shifted = with_shift(error, reading.path, reading.format, reading.options)
        if shifted is not error:
            raise shifted from None
        apart = error.path != reading.path
        hint = hint_of(reading.path, reading.format, reading.options, named=apart)
        if not hint or hint in error.message:
            raise
        raise _with(error, hint) from None


def with_shift(error: FormatError, path: str, format: str, options: ReadOptions) -> FormatError:
    """Return an error that says that texts are shifted; the error itself if they do not look so."""
    if isinstance(error, FileError) or (shift := _shift(path, format, options)) is None:
        return error
    message = f"{error.message.partition('; ')[0]}; {shift}"
    return FormatError(message, error.path, error.line, error.column)


def _shift(path: str, format: str, options: ReadOptions) -> Shift | None:
    if options.source is None:
        return None
    from alignkit.formats.shift import shift_of  # NumPy

    return shift_of(path, format, options)


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
