"""A text file: its lines as bytes or text, its words, and its findings."""

from __future__ import annotations

import codecs
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from alignkit._support.wording import natural_key
from alignkit.errors import AlignkitError, FormatError, OptionError
from alignkit.io import opening
from alignkit.io.options import ReadOptions
from alignkit.model.texts import BOM, split_words, with_plain_spaces
from alignkit.model.texts import without_marks as marks_removed

_OF_HOSTS = ("idna", "punycode")  # for names of hosts, not for text


def line_encoding(encoding: str) -> tuple[str, bool]:
    """Return the encoding for decoding lines, and whether the file must be recoded first."""
    try:
        name = codecs.lookup(encoding).name
        usable = "a\n".encode(name).decode(name) == "a\n"
        holds_ascii(name)  # raises for codecs that are for nothing, such as "undefined"
    except (LookupError, ValueError):
        usable = False
    if not usable or name in _OF_HOSTS:
        raise OptionError(f"unknown encoding {encoding!r}")
    if name.startswith(("utf-16", "utf-32")):
        return "utf-8", True
    return encoding, False


def holds_ascii(encoding: str) -> bool:
    """Return whether bytes below 128 are always ASCII characters."""
    ascii = bytes(range(128))
    return ascii.decode(encoding, "replace") == ascii.decode("ascii")


def not_encoded(encoding: str, raw: bytes, problem: UnicodeDecodeError) -> str:
    """Describe the byte that is not valid in the declared encoding."""
    byte = raw[problem.start]
    return f"not {encoding} (byte {byte:#04x}); give the right encoding with `encoding`"


_WRITABLE = re.compile(r"[^\x00-\x20]+")


def is_word(token: str) -> bool:
    """Return whether a token survives writing and reading as a word of a line."""
    return _WRITABLE.fullmatch(token) is not None and marks_removed(token) == token


Line = tuple[int, str]
"""The number of a line, and its text."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that reading tolerated: its kind, details, place, and count.

    Made by `open_reading`, which gives each to its argument *observe*.

    Examples
    --------
    >>> from alignkit.io import open_reading, read_pairs
    >>> findings = []
    >>> chosen, reading = open_reading("samples/paraphrases.jsonl", observe=findings.append)
    >>> len(list(read_pairs(chosen, reading))), findings
    (64, [])
    """

    kind: str
    message: str
    path: str
    line: int | None = None
    times: int = 1

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.kind}: {self.message}"


class TextFile:
    """A text file with its reading options, and counts of findings.

    A line becomes words in these steps, each of which calls those before it:

    - `exact_text` decodes bytes, and keeps every character;
    - `decode` also removes the end of the line, and marks and controls, or refuses them;
    - `sentence` then makes the white space plain that divides words (`spaced`);
    - `words` splits a sentence, and `tokens` also makes the words `shared`: unescaped, if that is
      an option, and equal words are one object (`token`).

    Methods with a `path` read another file with the same options, such as one with texts.
    """

    def __init__(
        self, path: str, options: ReadOptions, *, observe: Callable[[Finding], None] | None = None
    ) -> None:
        self._encoding, self._recoded = line_encoding(options.encoding)
        self._ascii = holds_ascii(self._encoding)
        self.path = path
        self.options = options
        self.counts: Counter[str] = Counter()
        self._observe = observe
        self._opened: set[BufferedReader] = set()
        self._tokens = _Tokens(options.unescape)
        self._stream: BufferedReader | None = None  # of the file itself: `fraction` asks it
        # whether only the beginning is read, so that the last record may be incomplete
        self.is_cut = False
        # whether decisions about the texts are not logged, because another reading logs them
        self.silent = False

    def note(
        self, kind: str, message: str, line: int | None = None, path: str = "", times: int = 1
    ) -> None:
        """Count a finding, and pass it to the observer."""
        self.counts[kind] += times
        if self._observe is not None:
            self._observe(Finding(kind, message, path or self.path, line, times))

    def error(
        self,
        message: str,
        line: int | None = None,
        column: int | None = None,
        path: str = "",
        *,
        advice: str = "",
    ) -> FormatError:
        """Return an error with the file and the place."""
        return FormatError(message, path or self.path, line, column, advice=advice)

    @contextmanager
    def open(self, path: str | None = None) -> Iterator[BufferedReader]:
        """Open a file for reading bytes; see `open_input`."""
        name = path or self.path
        with opening.open_input(name, self.options.max_size) as stream:
            if name == self.path:
                self._stream = stream
            self._opened.add(stream)
            yield stream
            self._opened.discard(stream)

    @contextmanager
    def open_lines(self, path: str | None = None) -> Iterator[BufferedReader | io.BytesIO]:
        """Open a file of lines for reading bytes; see `open`.

        Each line ends in the single byte of a line feed; `decode` turns it into text. UTF-16 and
        UTF-32 have no such byte; these files are read as a whole.
        """
        name = path or self.path
        encoding = self.options.encoding
        with self.open(path) as stream:
            opening.look_at(stream, name, encoding)
            if not self._recoded:
                yield stream
                return
            raw = opening.read_bounded(stream, name, self.options.max_size)
            try:
                text = raw.decode(encoding)
            except UnicodeDecodeError as problem:
                line = raw[: problem.start].decode(encoding, "ignore").count("\n") + 1
                raise FormatError(not_encoded(encoding, raw, problem), name, line) from None
            yield io.BytesIO(text.encode(self._encoding, "surrogatepass"))

    def raw_lines(self, path: str | None = None) -> Iterator[bytes]:
        """Yield the lines of a file as bytes, within the limit of length; see `decode`."""
        with self.open_lines(path) as stream:
            yield from opening.bounded_lines(stream, path or self.path, self.options.max_size)

    def chunks(
        self, path: str | None = None, *, cut: bool = False, one_line: bool = False
    ) -> Iterator[bytes]:
        """Yield complete lines as bytes, many at a time; see `bounded_chunks`."""
        most = self.options.max_size
        with self.open_lines(path) as stream:
            name = path or self.path
            yield from opening.bounded_chunks(stream, name, most, cut=cut, one_line=one_line)

    def fraction(self) -> float | None:
        """Return the share of the file that was read, 0 to 1; None if unknown."""
        try:
            size = os.path.getsize(self.path)
            if self._stream and size:
                return opening.bytes_read(self._stream) / size
            return None
        except (OSError, ValueError):
            return None

    def lines(
        self, path: str | None = None, *, one_line: bool = False
    ) -> Generator[Line, None, None]:
        """Yield (number, text) of each line; `one_line` allows carriage returns alone."""
        name = path or self.path
        first = 1
        for chunk in self.chunks(name, one_line=one_line):
            text = self._plain_text(chunk)
            if text is not None:
                yield from enumerate(text.split("\n")[:-1], start=first)
            else:
                for number, raw in enumerate(chunk.split(b"\n")[:-1], start=first):
                    yield number, self.decode(raw, number, name)
            first += chunk.count(b"\n")

    def _plain_text(self, chunk: bytes) -> str | None:
        """Decode many lines at once; None if `decode` must look at each, for it may refuse some."""
        if not self._ascii or b"\r" in chunk or opening.has_controls(chunk):
            return None
        try:
            text = chunk.decode(self._encoding)
        except UnicodeDecodeError:
            return None
        return None if BOM in text else text

    def decode(
        self, raw: bytes, number: int, path: str = "", *, allow_controls: bool = False
    ) -> str:
        """Return a line of bytes as text; wrong bytes and controls are FormatErrors."""
        name = path or self.path
        text = self.exact_text(raw, number, name)
        if not allow_controls and (not self._ascii or opening.has_controls(raw)):
            text = self.without_controls(text, number, name)
        text = text.rstrip("\n")
        if text.endswith("\r"):
            text = text.rstrip("\r")
            if not self.counts["carriage returns"]:
                self.note("carriage returns", "lines end in CRLF", number, name)
        return self.without_marks(text, number, name)

    def without_marks(
        self, text: str, number: int | None = None, path: str = "", *, words: bool = True
    ) -> str:
        """Remove and count byte order marks; without `words`, all U+FEFF are marks.

        See `alignkit.model.texts`.
        """
        if BOM not in text:
            return text
        plain = marks_removed(text) if words else text.replace(BOM, "")
        count = len(text) - len(plain)
        if count:
            self.note("byte order mark", f"{count} in this line", number, path, times=count)
        return plain

    def exact_text(self, raw: bytes, number: int, path: str = "") -> str:
        """Return a line of bytes as text with all its characters; wrong bytes are FormatErrors."""
        try:
            return raw.decode(self._encoding)
        except UnicodeDecodeError as problem:
            message = not_encoded(self._encoding, raw, problem)
            raise FormatError(message, path or self.path, number, problem.start + 1) from None

    def whole_lines(self) -> Iterator[str]:
        """Yield the lines of the file with all their characters, also their ends."""
        for number, raw in enumerate(self.raw_lines(), start=1):
            yield self.exact_text(raw, number)

    def without_controls(self, text: str, number: int, name: str = "") -> str:
        """Reject control characters; if lenient, replace them by U+FFFD and note it."""
        control = opening.CONTROL.search(text)
        if control is None:
            return text
        char = control[0]
        column = control.start() + 1
        hint = ""
        if char == "\0":
            hint = "if the text is UTF-16, declare it with `encoding`; else "
        if not self.options.lenient:
            message = f"control character {char!r}, which is not text; {hint}remove it"
            raise FormatError(message + self._every_control(name), name, number, column)
        text, count = opening.CONTROL.subn("\ufffd", text)
        message = f"{count} in this line, {char!r} in column {column}; read as U+FFFD"
        self.note("control character", message, number, name)
        return text

    def _every_control(self, name: str) -> str:
        """Name all control characters of a file, and what mends them."""
        path = name or self.path
        listed = ""
        if os.path.isfile(path):  # what can be read only once was read
            from alignkit.io.odd_characters import CONTROL, find_odd_characters

            with suppress(AlignkitError):
                odd = find_odd_characters(TextFile(path, self.options).whole_lines())
                listed = ", ".join(str(each) for each in odd.each if each.kind == CONTROL)
        if not listed:
            return ""
        return (
            f"; the file contains {listed}; `alignkit check --text {path} --fix OUT` "
            "writes a copy with U+FFFD for each"
        )

    def text(self, path: str | None = None) -> str:
        """Return a whole small file as text, without byte order marks."""
        return self.joined(self.lines(path, one_line=True), path)

    def joined(self, lines: Iterable[Line], path: str | None = None) -> str:
        """Join lines to one text, within the memory limit."""
        texts = []
        size = 0
        for _, text in lines:
            texts.append(text)
            size += len(text) + 1
            if size > self.options.max_size << 20:  # megabytes
                whole = "a file that is read as a whole"
                raise opening.too_large(whole, path or self.path, self.options.max_size)
        return "\n".join(texts)

    def files(self, pattern: str, under: Path | None = None) -> list[Path]:
        """Return the files of a folder that match a pattern, in natural order."""
        return sorted((under or Path(self.path)).glob(pattern), key=natural_key)

    def token(self, token: str) -> str:
        """Return the shared copy of a token, unescaped if that is an option."""
        return self._tokens[token]

    def shared(self, tokens: Iterable[str]) -> tuple[str, ...]:
        """Return the shared copies of tokens, each as `token` returns it."""
        return tuple(map(self._tokens.__getitem__, tokens))

    def tokens(self, text: str) -> tuple[str, ...]:
        """Split a line into words, and return their shared copies."""
        return self.shared(self.words(text))

    def words(self, text: str, line: int | None = None, path: str = "") -> list[str]:
        """Split a text into words as they are written."""
        return split_words(self.sentence(text, line, path))

    def sentence(self, text: str, line: int | None = None, path: str = "") -> str:
        """Return a text whose words are divided by ASCII white space, without marks before them."""
        return self.without_marks(self.spaced(text), line, path)

    def spaced(self, text: str) -> str:
        """Return a text with plain spaces for all that divides words: `token_separators`."""
        if self.options.token_separators == "unicode":
            return with_plain_spaces(text)
        return text

    @property
    def plain_bytes(self) -> bool:
        """Whether lines can be processed as bytes: they are UTF-8."""
        return not self._recoded and codecs.lookup(self._encoding).name == "utf-8"

    @property
    def observed(self) -> bool:
        """Whether there is an observer of single findings."""
        return self._observe is not None

    def too_long(self, what: str, words: int, line: int, path: str = "") -> FormatError:
        """Return the error for a sentence with too many words."""
        return self.error(
            f"{what} has {words:,} words, more than {self.options.max_words:,}; if this is "
            "correct, allow more with `max_words`",
            line,
            path=path,
        )

    def close(self) -> None:
        """Close all open files; the rest is not needed."""
        for stream in self._opened:
            if not opening.is_standard(stream):
                stream.close()


class _Tokens(dict[str, str]):
    """The shared copy of each token, as fast as a dict."""

    def __init__(self, unescape: bool) -> None:
        self._unescape = unescape

    def __missing__(self, token: str) -> str:
        known = token
        if self._unescape:
            from html import unescape  # with a table of 2,000 names

            known = unescape(token)
        self[token] = known
        return known
