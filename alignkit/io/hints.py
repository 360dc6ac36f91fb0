"""Hints while reading: another format that fits, shifted texts, another base or direction."""

from __future__ import annotations

import io
import os
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from io import BufferedReader
from itertools import islice
from logging import getLogger
from typing import TYPE_CHECKING, TypeVar, cast

from alignkit.errors import AlignkitError, FileError, FormatError, OptionError, UnknownFormatError
from alignkit.io.detection import detect
from alignkit.io.format import prepare
from alignkit.io.opening import bounded_lines
from alignkit.io.options import ReadOptions
from alignkit.io.records import Reading
from alignkit.io.sniffing import FIRST, Likeness

if TYPE_CHECKING:
    from alignkit.io.base_checks import Suspicion
    from alignkit.io.shifted_texts import Shift

T = TypeVar("T")
_LOGGER = getLogger("alignkit")


def hinted(items: Iterator[T], reading: Reading) -> Generator[T, None, None]:
    """Pass items on; errors mention another format that fits, or shifted texts."""
    path = reading.path
    format = reading.format
    options = reading.options
    try:
        yield from items
        _warn_at_the_end(reading)
    except FormatError as error:
        reading.close()  # the traceback may hold parsers that wait with open files
        shifted = with_shift(error, path, format, options)
        if shifted is not error:
            raise shifted from None
        is_of_another_file = error.path != path  # of one with texts, say
        hint = hint_of(path, format, options, named=is_of_another_file)
        if not hint or hint in error.message:
            raise
        if isinstance(error, FileError):
            raise type(error)(error.path, error.errno, f"{error.strerror}; {hint}") from None
        message = f"{error.message}; {hint}"
        raise FormatError(message, error.path, error.line, error.column) from None


def _warn_at_the_end(reading: Reading) -> None:
    """Warn of languages that were not read, and of shifted texts, which the reading then notes."""
    if reading.unread:
        _LOGGER.warning("%s: %s", reading.path, reading.unread)
    # links out of range that were dropped on request may come from shifted texts too
    if reading.counts["link out of range"] and not reading.options.lenient:
        shift = _shift(reading.path, reading.format, reading.options)
        if shift is not None:
            reading.shift = str(shift)
            _LOGGER.warning("%s: warning: %s", reading.path, shift)


def with_shift(error: FormatError, path: str, format: str, options: ReadOptions) -> FormatError:
    """Return an error about shifted texts, or the given error if they are not shifted."""
    if isinstance(error, FileError):
        return error
    shift = _shift(path, format, options)
    if shift is None:
        return error
    # instead of the error's own advice, which is wrong then
    return FormatError(error.problem, error.path, error.line, error.column, advice=str(shift))


def _shift(path: str, format: str, options: ReadOptions) -> Shift | None:
    if options.source is None:
        return None
    from alignkit.io.shifted_texts import shift_of  # NumPy

    return shift_of(path, format, options)


def hint_of(path: str, format: str, options: ReadOptions, *, named: bool = False) -> str:
    """Describe another format that fits, with the path if `named`; empty if there is none."""
    if not format or not (os.path.isdir(path) or os.path.isfile(path)):
        return ""  # what can be read only once was read
    what = "the folder" if os.path.isdir(path) else "the file"
    if named:
        what += f" {path}"
    try:
        name, likeness = detect(path, ReadOptions(encoding=options.encoding))
        if name == format or likeness is not Likeness.SURE:
            return ""
        return f'{what} reads as {name}: `format="{name}"`'
    except UnknownFormatError as error:
        useful = error.fitting and format not in error.fitting
        return f"{what} {error.message}" if useful else ""  # "the file fits several formats"
    except (FormatError, OptionError):
        return ""


def suspicions(path: str, format: str, options: ReadOptions) -> list[str]:
    """Report whether the links of a detected file suggest another base or direction.

    If the first records do, all records are counted, as `check` does: both say the same.
    """
    if options.base is not None or options.transpose or format.startswith("alignkit-"):
        return []  # base and direction are declared
    if not _can_be_read_again(path, options):
        return []
    if _suspicion(path, format, options, FIRST) is None:
        return []
    suspicion = _suspicion(path, format, options, None)
    if suspicion is None:
        return []
    advice = []
    if suspicion.kind == "suspicious base":
        advice.append(f"base {suspicion.base}")
    if suspicion.transposed:
        advice.append("that links are written target first")
    return [
        f"{suspicion.kind}: {suspicion.message}; if so, declare {' and '.join(advice)} "
        "('alignkit check' gives details)"
    ]


def _can_be_read_again(path: str, options: ReadOptions) -> bool:
    """Return whether an input and the files read with it are no pipes."""
    others = (options.source, options.target, options.link_weights)
    paths = [path, *(file for file in others if file is not None)]
    if "-" in paths:
        return False
    return os.path.isdir(path) or all(map(os.path.isfile, paths))


def _suspicion(path: str, format: str, options: ReadOptions, most: int | None) -> Suspicion | None:
    """Return what is suspicious in the first `most` records, None for all."""
    from alignkit.io.base_checks import Fits  # NumPy, which most formats do without

    chosen, reading = prepare(path, format, replace(options, lenient=True))
    is_a_line_a_pair = chosen.blocks is not None and reading.plain_bytes
    if most is not None and is_a_line_a_pair:
        reading = _FirstLines(path, reading.options, base=chosen.base)
    reading.silent = True
    fits = Fits(reading.base, options.transpose)
    with suppress(AlignkitError), closing(reading), closing(chosen.parse(reading)) as records:  # type: ignore[type-var]
        for record in islice(records, most):  # reading in earnest reports what is wrong
            fits.record(record)
    return fits.suspicion()


class _FirstLines(Reading):
    """A reading of the first lines of each file, if a line is a pair; more would take time."""

    @contextmanager
    def open(self, path: str | None = None) -> Iterator[BufferedReader]:
        """Open the first lines of a file."""
        with super().open(path) as stream:
            lines = bounded_lines(stream, path or self.path, self.options.max_size)
            yield cast("BufferedReader", io.BytesIO(b"".join(islice(lines, FIRST))))
