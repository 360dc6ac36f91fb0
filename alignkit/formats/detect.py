"""Find the format of a file: alignkit's own by their mark, another by reading its first records.

Every format tries the first `_RECORDS` records. One fits if it reads all of them, whatever base and
direction are: links out of range do not count, for both are declared, never guessed. Of several
that fit, those that find links go before those that find none, and the one that knows a mark of its
own (`Format.surely`) before the others. If more than one is left, nothing is guessed.

A file of which one format alone reads no fewer records than it refuses is of that format, and
broken: reading it will say where.
"""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from io import BufferedReader
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TypeVar, cast

from alignkit.arguments import check_arguments
from alignkit.corpus import SentencePair
from alignkit.errors import FileError, FormatError, OptionError, UnknownFormatError
from alignkit.formats.encoding import line_encoding
from alignkit.formats.format import Format
from alignkit.formats.intake import Reading
from alignkit.formats.options import ReadOptions
from alignkit.formats.registry import FORMATS, get_format
from alignkit.input import look_ahead, open_input

__all__ = ["find_format", "fitting_formats", "hint_of", "hinted"]

T = TypeVar("T")

_RECORDS = 100
_HEAD = 1 << 19  # bytes that hold so many
_FILES = 20  # of a folder that are looked at
_SPACE = "\ufeff \t\r\n\v\f"
_DIGITS = "0123456789"
_BEGINS = {
    "alignkit-xml": "<",
    "alignkit-jsonl": "{",
    "naacl": _DIGITS,
    "giza": "#",
    "rte": "#",
    "jacana": "[",
    "edinburgh": "{",
    "jsonl": "{",
    "ists": "<",
    "blinker": _DIGITS,
    "paraphrase-xml": "<",
}
"""The characters of which a file's first is one, white space aside, where not any will do."""

_BY_STEM = ("yawat", "transread")  # of whose files a name without ending is one


def find_format(
    path: str | PathLike[str], *, encoding: str = "utf-8", base: int | None = None
) -> str:
    """Return the name of the one format that fits a file.

    Parameters
    ----------
    path
        The file or folder; ``-`` is standard input, which can be read afterwards.
    encoding, base
        What is known of it; see `ReadOptions`. Neither is guessed.

    Raises
    ------
    UnknownFormatError
        If none fits, or several do: its `fitting` lists them.
    FileError
        If the file cannot be read.
    """
    check_arguments(find_format, locals())
    options = ReadOptions(encoding=encoding, base=base)
    sample = _Sample.of(str(path), options)
    if sample.mark is not None:
        return sample.mark
    if sample.empty:
        return "pharaoh"  # of which a file without lines is one
    trials = _trials(sample, options)
    fitting = _fitting(trials)
    if len(fitting) == 1:
        name = fitting[0].name
        others = _others(sample.path, fitting[0])
        if not others:
            return name
        raise UnknownFormatError(
            f"holds files that read as {_listed([name, *others])}; name one of them, or say "
            f"{_typed([name])}",
            sample.path,
            [name, *others],
        )
    names = [trial.name for trial in fitting]
    if names:
        message = f"reads as {_listed(names)} alike; say which it is: {_typed(names)}"
        raise UnknownFormatError(message, sample.path, names)
    broken = [trial for trial in trials if trial.links and trial.read >= trial.refused]
    if len(broken) == 1:
        return broken[0].name
    raise _unknown(sample, options)


def fitting_formats(path: str | PathLike[str], *, encoding: str = "utf-8") -> list[str]:
    """Return the names of the formats that fit a file; of none where it cannot be read."""
    try:
        return [find_format(path, encoding=encoding)]
    except UnknownFormatError as error:
        return error.fitting
    except (FormatError, OptionError):
        return []


def hinted(items: Iterator[T], reading: Reading) -> Generator[T, None, None]:
    """Pass on what is read; say in an error which other format fits, if one does."""
    try:
        yield from items
    except FileError:
        raise
    except FormatError as error:
        hint = hint_of(reading.path, reading.format, reading.options)
        if not hint or hint in error.message:
            raise
        message = f"{error.message}; {hint}"
        raise FormatError(message, error.path, error.line, error.column) from None


def hint_of(path: str, format: str, options: ReadOptions) -> str:
    """Return which other format fits what is refused as one, in words; nothing where none does."""
    if not format or not (os.path.isdir(path) or os.path.isfile(path)):
        return ""  # what can be read only once was read
    try:
        found = find_format(path, encoding=options.encoding)
        sample = _Sample.of(path, options)
    except (FormatError, OptionError):
        return ""
    if found == format or sample.empty or not _reads(found, sample, options):
        return ""
    return f"the file reads as {found}: {_typed([found])}"


def _reads(name: str, sample: _Sample, options: ReadOptions) -> bool:
    return sample.mark is not None or _fits(_best(name, sample, options))


def _typed(names: Sequence[str]) -> str:
    return " or ".join(f"`format={name}`" for name in names)


def _listed(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1]) if len(names) > 1 else names)


@dataclass(frozen=True)
class _Sample:
    """Hold the beginning of an input, and what it shows at first sight."""

    path: str
    head: bytes | None  # None where there is no such file, or it is a folder
    more: bool
    first: str
    encoding: str

    @classmethod
    def of(cls, path: str, options: ReadOptions) -> _Sample:
        if path != "-" and (Path(path).is_dir() or not Path(path).exists()):
            return cls(path, None, False, "", options.encoding)
        head, more = look_ahead(path, _HEAD, options.max_size)
        encoding = options.encoding
        line_encoding(encoding)  # refuses what is none
        try:
            text = _decoded(head, encoding, more)
        except UnicodeDecodeError:
            encoding = "latin-1"  # whatever it is, the format shows
            text = _decoded(head, encoding, more)
        if more and "\n" in text:
            text = text[: text.rindex("\n") + 1]
            head = text.encode(encoding, "surrogatepass")
        return cls(path, head, more, text[:4096].lstrip(_SPACE)[:512], encoding)

    @property
    def empty(self) -> bool:
        return self.head is not None and not self.head.strip(b"\xef\xbb\xbf")

    @property
    def mark(self) -> str | None:
        """The one of alignkit's own formats whose mark the file bears."""
        if self.first.startswith('{"alignkit"'):
            return "alignkit-jsonl"
        if self.first.startswith("<") and "urn:alignkit:" in self.first:
            return "alignkit-xml"
        return None

    def candidates(self) -> Iterator[str]:
        for name in FORMATS:
            if self.head is None and not Path(self.path).exists():
                if name in _BY_STEM:
                    yield name
            elif self.head is None or self.first[:1] in _BEGINS.get(name, self.first[:1]):
                yield name


def _decoded(head: bytes, encoding: str, more: bool) -> str:
    return codecs.getincrementaldecoder(encoding)().decode(head, final=not more)


class _EnoughError(Exception):
    """There are too many broken records for this to be the format."""


class _Head(Reading):
    """Read no more than the head of an input."""

    def __init__(self, sample: _Sample, options: ReadOptions, base: int) -> None:
        super().__init__(sample.path, options, base=base)
        self._sample = sample
        self.opened: set[str] = set()

    @contextmanager
    def open(self, path: str | None = None) -> Iterator[BufferedReader]:
        name = self.path if path is None else path
        self.opened.add(name)
        if name != self.path or self._sample.head is None:
            with super().open(path) as stream:
                yield stream
            return
        yield cast("BufferedReader", io.BytesIO(self._sample.head))

    def refuse(self, error: FormatError) -> None:
        super().refuse(error)
        if self.refused > _RECORDS:
            raise _EnoughError


@dataclass
class _Trial:
    """Tell how one format reads the first records of an input."""

    name: str
    kind: Format
    reading: _Head
    pairs: list[SentencePair] = field(default_factory=list)
    failed: bool = False  # not the error itself, whose traceback would keep files open

    @property
    def read(self) -> int:
        return len(self.pairs)

    @property
    def refused(self) -> int:
        return self.reading.refused + self.failed

    @property
    def links(self) -> bool:
        """Whether there is a link, a null or a labelled cell, even one out of range."""
        found = (a for pair in self.pairs for a in pair.alignments.values())
        dropped = self.reading.counts["link out of range"]
        return bool(dropped) or any(len(a) or a.nulls or a.labels for a in found)

    @property
    def surely(self) -> bool | None:
        return None if self.kind.surely is None else self.kind.surely(self.reading, self.pairs)


def _trials(sample: _Sample, options: ReadOptions) -> list[_Trial]:
    return [_best(name, sample, options) for name in sample.candidates()]


def _best(name: str, sample: _Sample, options: ReadOptions) -> _Trial:
    """Try a format under the base that is declared, or under each."""
    trial = _trial(name, sample, options)
    if trial.failed and name in _BY_STEM:  # its other files may be encoded otherwise
        trial = _trial(name, replace(sample, encoding="latin-1"), options)
    for base in (0, 1) if options.base is None else ():
        if _fits(trial):
            break
        other = _trial(name, sample, replace(options, base=base))
        if other.read - other.refused > trial.read - trial.refused:
            trial = other
    return trial


def _trial(name: str, sample: _Sample, options: ReadOptions) -> _Trial:
    kind = get_format(name)
    declared = ReadOptions(
        base=options.base,
        encoding=sample.encoding,
        drop_out_of_range=True,
        partial=True,
        lenient=True,
        max_size=options.max_size,
        max_words=options.max_words,
    )
    reading = _Head(sample, declared, kind.base)
    trial = _Trial(name, kind, reading)
    try:
        with closing(reading.pairs(kind.parse(reading))) as pairs:
            trial.pairs.extend(islice(pairs, _RECORDS))
    except (FormatError, OptionError, _EnoughError):
        within = sample.more and trial.pairs and name in _BEGINS and not reading.refused
        trial.failed = not within  # the head may end within a record
    return trial


def _fits(trial: _Trial) -> bool:
    return bool(trial.pairs) and not trial.refused and trial.surely is not False


def _fitting(trials: list[_Trial]) -> list[_Trial]:
    fitting = [trial for trial in trials if _fits(trial)]
    if any(trial.links for trial in fitting):
        fitting = [trial for trial in fitting if trial.links]
    sure = [trial for trial in fitting if trial.surely]
    return sure if len(sure) == 1 else fitting


def _others(path: str, trial: _Trial) -> list[str]:
    """Return the formats of the files in a folder that its format would pass over."""
    if not Path(path).is_dir():
        return []
    known = {Path(name).suffix for name in trial.reading.opened}
    files = (file for file in sorted(Path(path).iterdir()) if file.is_file())
    passed = islice((file for file in files if file.suffix not in known), _FILES)
    found = {name for file in passed for name in fitting_formats(file) if file.stat().st_size}
    return sorted(found - {trial.name})


def _unknown(sample: _Sample, options: ReadOptions) -> FormatError:
    """Return the error of a file that no format fits."""
    if sample.head is None:
        what = "folder"
        if not Path(sample.path).is_dir():
            with open_input(sample.path):  # raises: there is no such file
                pass
    else:
        what = "file's first records"
        for _ in _Head(replace(sample, encoding=options.encoding), options, 0).lines():
            pass  # what is no text is refused as such
    names = ", ".join(FORMATS)
    message = f"no format fits this {what}; say which it is by `format`: {names}"
    return UnknownFormatError(message, sample.path)
