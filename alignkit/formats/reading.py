"""Read one input: its lines, its counts, its complaints, and records made into sentence pairs."""

from __future__ import annotations

import codecs
import gzip
import html
import io
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from alignkit.alignment import NULL, Alignment, Link
from alignkit.annotation import Annotation
from alignkit.corpus import SentencePair
from alignkit.errors import AlignkitError, FormatError, OptionError
from alignkit.formats.options import ReadOptions
from alignkit.formats.record import RawAnnotation, RawLink, Record
from alignkit.formats.words import split_words

__all__ = ["BOM", "Finding", "Reading"]

BOM = "\ufeff"

_RANKS = {"none": 0, "possible": 1, "sure": 2}  # of two labels of one cell, the surer is kept


@dataclass(frozen=True, slots=True)
class Finding:
    """Something odd in a file that reading forgave.

    Parameters
    ----------
    kind
        What it is, e.g. ``"duplicate link"``.
    message
        What exactly.
    path, line
        Where.
    """

    kind: str
    message: str
    path: str
    line: int | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        return f"{place}: {self.kind}: {self.message}"


class Reading:
    """Carry the options into a parser, and the counts and complaints out of it.

    Parameters
    ----------
    path
        The file or folder; ``-`` is standard input.
    options
        What the user declared.
    base
        The format's own number of the first word.
    observe
        Called with every `Finding`; None only counts them.

    Attributes
    ----------
    read, refused
        How many records became sentence pairs, and how many were left out as broken.
    counts
        How often each kind of finding occurred.
    """

    def __init__(
        self,
        path: str,
        options: ReadOptions,
        *,
        base: int = 0,
        observe: Callable[[Finding], None] | None = None,
    ) -> None:
        if options.base not in (None, 0, 1):
            raise OptionError(f"base must be 0 or 1, not {options.base}")
        self._encoding, self._recoded = _line_encoding(options.encoding)
        self.path = path
        self.options = options
        self.base = base if options.base is None else options.base
        self.read = 0
        self.refused = 0
        self.counts: Counter[str] = Counter()
        self._observe = observe
        self._opened: set[BinaryIO] = set()
        self._tokens = _Tokens(options.unescape)
        self._stream: BinaryIO | None = None

    @property
    def name(self) -> str:
        """The annotator, for formats that name none."""
        return self.options.name or "alignment"

    def note(self, kind: str, message: str, line: int | None = None, path: str = "") -> None:
        """Count something odd, and tell the observer."""
        self.counts[kind] += 1
        if self._observe is not None:
            self._observe(Finding(kind, message, path or self.path, line))

    def refuse(self, error: FormatError) -> None:
        """Stop at a broken record, or, when lenient, count it and go on.

        Raises
        ------
        FormatError
            The error itself, unless reading is lenient.
        """
        if not self.options.lenient:
            raise error
        self.refused += 1
        self.counts["broken record"] += 1
        if self._observe is not None:
            self._observe(
                Finding("broken record", error.message, error.path or self.path, error.line)
            )

    def error(
        self, message: str, line: int | None = None, column: int | None = None, path: str = ""
    ) -> FormatError:
        """Return an error that names the file and the place."""
        return FormatError(message, path or self.path, line, column)

    @contextmanager
    def open(self, path: str | None = None) -> Iterator[BinaryIO]:
        """Open a file for reading bytes; ``-`` is standard input, ``.gz`` is unpacked."""
        name = self.path if path is None else path
        try:
            with _open(name) as stream:
                if name == self.path:
                    self._stream = stream
                self._opened.add(stream)
                yield stream
                self._opened.discard(stream)
        except (EOFError, zlib.error) as problem:
            raise FormatError(f"cannot be unpacked: {problem}", name) from None
        except OSError as problem:
            reason = problem.strerror or str(problem)
            raise FormatError(f"cannot be read: {reason}", name) from None

    @contextmanager
    def open_lines(self, path: str | None = None) -> Iterator[BinaryIO]:
        """Open a file of lines for reading bytes; see `open`.

        Each line ends in the one byte of a line feed, and `decode` makes text of it. UTF-16 and
        UTF-32, which have no such byte, are read whole.
        """
        with self.open(path) as stream:
            yield stream if not self._recoded else io.BytesIO(self._recode(stream.read(), path))

    def _recode(self, raw: bytes, path: str | None) -> bytes:
        encoding = self.options.encoding
        try:
            return raw.decode(encoding).encode(self._encoding, "surrogatepass")
        except UnicodeDecodeError as problem:
            line = raw[: problem.start].decode(encoding, "ignore").count("\n") + 1
            raise FormatError(
                _not_encoded(encoding, raw, problem), path or self.path, line
            ) from None

    def fraction(self) -> float | None:
        """Return how much of the file is read, 0 to 1; None where that cannot be known."""
        try:
            size = os.path.getsize(self.path)
            return self._stream.tell() / size if self._stream and size else None
        except (OSError, ValueError):
            return None

    def lines(self, path: str | None = None) -> Iterator[tuple[int, str]]:
        """Yield (number, text) of each line, without byte order marks and line ends.

        Only a line feed ends a line; a carriage return before it goes too.

        Raises
        ------
        FormatError
            If the file cannot be read or decoded.
        """
        name = self.path if path is None else path
        with self.open_lines(name) as stream:
            for number, raw in enumerate(stream, start=1):
                yield number, self.decode(raw, number, name)

    def decode(self, raw: bytes, number: int, path: str = "") -> str:
        """Return a line of bytes as text, without byte order marks and line end.

        Raises
        ------
        FormatError
            If the bytes are not of the declared encoding.
        """
        name = path or self.path
        try:
            text = raw.decode(self._encoding)
        except UnicodeDecodeError as problem:
            message = _not_encoded(self._encoding, raw, problem)
            raise FormatError(message, name, number, problem.start + 1) from None
        text = text.rstrip("\n")
        if text.endswith("\r"):
            text = text.rstrip("\r")
            if not self.counts["carriage returns"]:
                self.note("carriage returns", "lines end in CRLF", number, name)
        if BOM in text:
            self.note("byte order mark", f"{text.count(BOM)} in this line", number, name)
            text = text.replace(BOM, "")
        return text

    def text(self, path: str | None = None) -> str:
        """Return a whole small file as text, without byte order marks."""
        return "\n".join(text for _, text in self.lines(path))

    def files(self, pattern: str, under: Path | None = None) -> list[Path]:
        """Return the files of a folder that match a pattern, in natural order of their names."""
        return sorted((under or Path(self.path)).glob(pattern), key=natural_key)

    def token(self, token: str) -> str:
        """Return the one copy of a token that all sentences share, unescaped if so declared."""
        return self._tokens[token]

    def tokens(self, text: str) -> tuple[str, ...]:
        """Split a line into tokens at white space; see `token`."""
        return tuple(map(self._tokens.__getitem__, split_words(text)))

    @property
    def observed(self) -> bool:
        """Whether anybody looks at findings one by one."""
        return self._observe is not None

    def build(self, record: Record) -> SentencePair | None:
        """Make a sentence pair of a record: base, direction and range are settled here.

        Returns None, after `refuse`, where the record is broken.
        """
        try:
            pair = SentencePair(
                record.id,
                self._sentence(record.source),
                self._sentence(record.target),
                {name: self._annotate(raw, record) for name, raw in record.annotations.items()},
                record.attributes,
            )
        except FormatError as error:
            self.refuse(error)
            return None
        except AlignkitError as error:
            self.refuse(self.error(str(error), record.line, path=record.path))
            return None
        self.read += 1
        return pair

    def pairs(self, records: Iterator[Record]) -> Iterator[SentencePair]:
        """Yield the sentence pair of each record that is whole."""
        try:
            for record in records:
                pair = self.build(record)
                if pair is not None:
                    yield pair
        except (
            BaseException
        ):  # an error, or nobody wants the rest: parsers may wait with open files
            self._close()
            raise

    def _close(self) -> None:
        for stream in self._opened:
            if stream is not sys.stdin.buffer:
                stream.close()

    def _sentence(self, tokens: Sequence[str] | None) -> tuple[str, ...] | None:
        return None if tokens is None else tuple(map(self._tokens.__getitem__, tokens))

    def _annotate(self, raw: RawAnnotation, record: Record) -> Annotation:
        links: dict[bool, list[Link]] = {True: [], False: []}
        nulls: dict[bool, list[Link]] = {True: [], False: []}
        weights: dict[Link, float] = {}
        labels: dict[Link, RawLink] = {}
        seen: dict[Link, str] = {}
        for written in raw.links:
            link = self._link(written, raw, record)
            if link is None:
                continue
            if written.label is not None:
                before = labels.get(link)
                if before is None or _RANKS[written.status] > _RANKS[before.status]:
                    labels[link] = written
                if before is not None and before.label != written.label:
                    kept = labels[link].label
                    self.note(
                        "two labels",
                        f"{before.label} and {written.label} for one cell; {kept} is kept",
                        written.line or record.line,
                        raw.path or record.path,
                    )
            if written.status == "none":
                continue
            self._note_repetition(link, written, seen, raw.path or record.path, record.line)
            side = nulls if NULL in link else links
            side[written.status == "sure"].append(link)
            if written.weight is not None:
                weights[link] = written.weight
        alignment = Alignment(
            links[True],
            links[False],
            nulls=nulls[True],
            possible_nulls=nulls[False],
            weights=weights,  # type: ignore[arg-type]
            labels={link: written.label or "" for link, written in labels.items()},
        )
        return Annotation(
            alignment if raw.aligned else None,
            raw.comment,
            frozenset(raw.flags),
            raw.judgment,
            raw.provenance,
        )

    def _note_repetition(
        self, link: Link, written: RawLink, seen: dict[Link, str], path: str, line: int
    ) -> None:
        before = seen.get(link)
        if before is None:
            seen[link] = written.status
            return
        if before in (written.status, "both"):
            kind, message = "duplicate link", f"{link.i}-{link.j} occurs again"
        else:
            kind, message = "both sure and possible", f"{link.i}-{link.j} is read as sure"
            seen[link] = "both"
        self.note(kind, message, written.line or line, path)

    def _link(self, written: RawLink, raw: RawAnnotation, record: Record) -> Link | None:
        i = NULL if written.i is None else written.i - self.base
        j = NULL if written.j is None else written.j - self.base
        if self.options.transpose:
            i, j = j, i
        sides = ((i, written.i is None, record.source), (j, written.j is None, record.target))
        if self.options.transpose:
            sides = ((i, written.j is None, record.source), (j, written.i is None, record.target))
        for index, null, tokens in sides:
            if null:
                continue
            if index < 0 or (tokens is not None and index >= len(tokens)):
                self._out_of_range(written, raw, record)
                return None
        return Link(i, j)

    def _out_of_range(self, written: RawLink, raw: RawAnnotation, record: Record) -> None:
        n = "?" if record.source is None else len(record.source)
        m = "?" if record.target is None else len(record.target)
        message = (
            f"link {'' if written.i is None else written.i}-"
            f"{'' if written.j is None else written.j} lies outside the pair {record.id!r} of "
            f"{n} x {m} words, counted from {self.base}"
            f"{' and written target first' if self.options.transpose else ''}"
        )
        line = written.line or record.line
        path = raw.path or record.path
        if not self.options.drop_out_of_range:
            raise self.error(
                message + "; check --base and --transpose, or drop such links "
                "with --drop-out-of-range",
                line,
                path=path,
            )
        self.note("link out of range", message + "; dropped", line, path)


def natural_key(path: Path) -> list[tuple[int, int | str]]:
    """Sort names so that numbers in them count as numbers."""
    key: list[tuple[int, int | str]] = []
    number = ""
    for char in str(path) + "\0":
        if char.isdecimal() and char.isascii():
            number += char
            continue
        if number:
            key.append((0, int(number)))
            number = ""
        key.append((1, char))
    return key


@contextmanager
def _open(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
    elif name.endswith(".gz"):
        with gzip.open(name, "rb") as stream:
            yield stream  # type: ignore[misc]
    else:
        with open(name, "rb") as stream:
            yield stream


class _Tokens(dict[str, str]):
    """Find the one copy of a token, at the speed of a dict."""

    def __init__(self, unescape: bool) -> None:
        self._unescape = unescape

    def __missing__(self, token: str) -> str:
        known = self[token] = html.unescape(token) if self._unescape else token
        return known


def _line_encoding(encoding: str) -> tuple[str, bool]:
    """Return the encoding in which lines are decoded, and whether the file must be recoded to it.

    Raises
    ------
    OptionError
        If Python has no such encoding of text.
    """
    try:
        name = codecs.lookup(encoding).name
        b"a\n".decode(name)
    except UnicodeError:
        pass  # too few bytes for the encoding
    except (LookupError, ValueError):
        raise OptionError(f"unknown encoding {encoding!r}") from None
    return ("utf-8", True) if name.startswith(("utf-16", "utf-32")) else (encoding, False)


def _not_encoded(encoding: str, raw: bytes, problem: UnicodeDecodeError) -> str:
    byte = raw[problem.start]
    return f"not {encoding} (byte {byte:#04x}); name the right encoding by --encoding"
