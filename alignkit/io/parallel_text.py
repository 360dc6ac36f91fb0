"""Parallel text: two files, or one of lines that hold both sentences.

A line holds the tokens of a sentence, divided by white space, in one of three dresses:

- ``tokens`` alone: the n-th line is the n-th sentence;
- ``id<TAB>tokens``, where the links have ids too;
- ``<s snum=N> tokens </s>``, as in the NAACL and WPT shared tasks.

A bitext holds both sentences in one line, ``source ||| target``; so does a line of two columns,
divided by a tab, which only plain texts have.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from itertools import islice, zip_longest
from typing import NamedTuple, NoReturn, TextIO

import numpy as np

from alignkit.errors import AlignkitError, OptionError
from alignkit.io.opening import MAX_MEGABYTES, MAX_WORDS, has_controls, look_ahead
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import BOM, TextFile, split_words, words_of_both

BITEXT = "|||"
DIVIDERS = {"bitext": BITEXT, "tsv": "\t"}
"""What divides two sentences in a line, by the name of the form."""

_SNUM = re.compile(r"<s\s+snum\s*=\s*\"?([^\s>\"]+)\"?\s*>")


class PairText(NamedTuple):
    """The words of one sentence pair."""

    line: int  # the line of the files, 1-based
    snum: str | None  # the number that <s snum=N> gives, None elsewhere
    source: str  # the lines without that dress, not split yet
    target: str


def read_texts(reading: TextFile) -> Iterator[PairText] | None:
    """Yield the sentences of the files that the options name, or return None if they name none."""
    source, target = reading.options.source, reading.options.target
    if source is None:
        return None
    if target is None or target == source:
        return _bitext(reading, source)
    return _two_files(reading, source, target)


def _bitext(reading: TextFile, path: str) -> Iterator[PairText]:
    for line, text in reading.lines(path):
        parts = text.split(BITEXT)
        if len(parts) != 2:
            raise reading.error(
                f"{_count(parts)}: `source` without `target` names a bitext of 'source ||| target' "
                "lines",
                line,
                path=path,
            )
        yield PairText(line, None, parts[0], parts[1])


def _count(parts: list[str]) -> str:
    return f"{len(parts) - 1} dividers ' ||| ', expected one"


def _two_files(reading: TextFile, source: str, target: str) -> Iterator[PairText]:
    sides = zip_longest(_numbered(reading, source), _numbered(reading, target))
    count = [0, 0]
    for first, second in sides:
        if first is None or second is None:
            more = sum(1 for _ in sides) + 1
            refuse_counts(
                reading,
                count[0] + (more if second is None else 0),
                count[1] + (more if first is None else 0),
            )
        count = [count[0] + 1, count[1] + 1]
        line, snum, text = first
        if snum != second[1]:
            raise reading.error(
                f"sentence {second[1] or 'without a number'}, but {source}:{line} has "
                f"{snum or 'none'}",
                second[0],
                path=target,
            )
        yield PairText(line, snum, text, second[2])


def refuse_counts(reading: TextFile, sources: int, targets: int) -> NoReturn:
    """Refuse two files that have different numbers of sentences."""
    sides = (sources, reading.options.source or ""), (targets, reading.options.target or "")
    (fewer, shorter), (more, longer) = sorted(sides)
    raise reading.error(f"has {more} sentences, but {shorter} has {fewer}", path=longer)


def _numbered(reading: TextFile, path: str) -> Iterator[tuple[int, str | None, str]]:
    tagged = False
    for line, text in reading.lines(path):
        if line == 1:
            tagged = text.lstrip().startswith("<s snum")
        if not tagged:
            yield line, None, text
        elif text.strip():
            words = text.strip()
            match = _SNUM.match(words)
            if match is None:
                raise reading.error("expected '<s snum=N> words </s>'", line, path=path)
            yield line, match[1], words[match.end() :].removesuffix("</s>")


class TwoInLine:
    """Divide lines into source and target, by the divider that the first one has."""

    def __init__(self, reading: TextFile, form: str | None = None) -> None:
        self._reading = reading
        self._divider = DIVIDERS[form] if form else None

    def __call__(self, line: str, number: int) -> tuple[str, str]:
        """Return both sides of a line; nothing of one that is empty."""
        if line.isspace() or not line:
            return "", ""
        self._divider = self._divider or self._found(line, number)
        sides = self._halves(line, self._divider, number)
        most = self._reading.options.max_words
        for name, side in zip(("source", "target"), sides, strict=True):
            if len(side) > 2 * most:  # shorter ones have no room for more words
                words = len(split_words(side))
                if words > most:
                    raise self._reading.too_long(f"the {name} sentence", words, number)
        return sides

    def _found(self, line: str, number: int) -> str:
        divider = next((divider for divider in DIVIDERS.values() if divider in line), None)
        if divider is None:
            raise self._reading.error(
                "neither ' ||| ' nor a tab divides two sentences; name two texts, SRC and TGT, or "
                "the `format` of this one",
                number,
            )
        return divider

    def _halves(self, line: str, divider: str, number: int) -> tuple[str, str]:
        parts = line.split(divider)
        if len(parts) == 2:
            return parts[0], parts[1]
        if divider == BITEXT:
            message = f"{_count(parts)}, between source and target"
        else:
            message = (
                f"{len(parts)} columns, expected source and target, divided by one tab (`cut -f` "
                "takes two of them)"
            )
        raise self._reading.error(message, number)


class ParallelWriter:
    """Write sentences to two files, or both into the lines of one."""

    def __init__(
        self, source: TextIO | None, target: TextIO | None = None, *, form: str = "bitext"
    ) -> None:
        self._source, self._target = source, target
        self._divider = DIVIDERS[form]

    @property
    def wanted(self) -> bool:
        """Whether the words go anywhere."""
        return self._source is not None or self._target is not None

    @property
    def in_line(self) -> bool:
        """Whether both sentences go to one line."""
        return self._source is not None and self._target is None

    def write(
        self, id: str, source: str, target: str, *, before: str = "", behind: str = ""
    ) -> None:
        """Write a pair of sentences, in the dress of `before` and `behind`."""
        if self._source is not None and self._target is None:
            self._source.write(f"{before}{self._joined(id, source, target)}{behind}\n")
            return
        for stream, text in ((self._source, source), (self._target, target)):
            if stream is not None:
                stream.write(f"{before}{text}{behind}\n")

    def _joined(self, id: str, source: str, target: str) -> str:
        if self._divider != BITEXT:
            return f"{source}{self._divider}{target}"
        line = f"{source} {BITEXT} {target}"
        if not divisible((source, target)):
            raise AlignkitError(
                f"pair {id!r}: the words hold the divider '|||', which divides the sentences of a "
                "bitext; write them to two files instead"
            )
        if BOM in line:
            raise AlignkitError(
                f"pair {id!r}: the words hold a byte order mark, which reading takes away; write a "
                "format that holds words, such as alignkit-jsonl"
            )
        return line


def divisible(sentences: Iterable[str]) -> bool:
    """Return whether a bitext can hold these sentences, or words: none has its divider."""
    return not any(BITEXT in text for text in sentences)


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


_Words = list[tuple[str, ...]]

_MARK = b"\xef\xbb\xbf"
_MANY = 1 << 14  # lines at a time, where they are only counted
_FEW = 1000  # lines; fewer are not worth a kernel


class Sentences:
    """The sentences of some pairs, as texts or as bytes."""

    def __init__(
        self, reading: TextFile, first: int, texts: list[PairText] | None, raw: tuple[bytes, bytes]
    ) -> None:
        self._reading, self._first = reading, first
        self._texts, self._raw = texts, raw

    def __len__(self) -> int:
        return self._raw[0].count(b"\n") if self._texts is None else len(self._texts)

    def texts(self) -> list[PairText]:
        """Return the sentences as texts."""
        if self._texts is None:
            paths = self._reading.options.source or "", self._reading.options.target or ""
            sides = [
                [
                    self._reading.decode(line, number, path)
                    for number, line in enumerate(raw.split(b"\n")[:-1], start=self._first)
                ]
                for raw, path in zip(self._raw, paths, strict=True)
            ]
            self._texts = [
                PairText(line, None, source, target)
                for line, (source, target) in enumerate(zip(*sides, strict=True), self._first)
            ]
        return self._texts

    def words(self) -> tuple[_Words, _Words]:
        """Return the words of the source sentences, and those of the target sentences."""
        if self._texts is None and len(self) >= _FEW and not any(map(_odd, self._raw)):
            with suppress(UnicodeDecodeError):  # the plain way says where
                return words_of_both(*self._raw, self._reading.token)
        tokens = self._reading.tokens
        texts = self.texts()
        return [tokens(text.source) for text in texts], [tokens(text.target) for text in texts]


def _odd(raw: bytes) -> bool:
    return b"\r" in raw or _MARK in raw or has_controls(raw)


def _tagged(path: str, megabytes: int) -> bool:
    head, _ = look_ahead(path, 512, megabytes)
    return head.lstrip(_MARK + b" \t").startswith(b"<s snum")


class TextBlocks:
    """Sentence pairs from the files that the options of a reading name."""

    def __init__(self, reading: TextFile) -> None:
        self._reading = reading
        self._taken = 0
        source, target = reading.options.source, reading.options.target
        self._files = None
        self._texts: Iterator[PairText] = iter(())
        if source and target and source != target and reading.plain_bytes:
            megabytes = reading.options.max_size
            if not any(_tagged(path, megabytes) for path in (source, target)):
                self._files = _Lines(reading, source), _Lines(reading, target)
        if self._files is None:
            self._texts = read_texts(reading) or iter(())

    def take(self, count: int) -> Sentences:
        """Return the next sentence pairs; fewer at the end of the files."""
        first = self._taken + 1
        if self._files is None:
            found = Sentences(self._reading, first, list(islice(self._texts, count)), (b"", b""))
        else:
            source, target = (file.take(count) for file in self._files)
            counts = source.count(b"\n"), target.count(b"\n")
            if counts[0] != counts[1]:
                ends = (
                    self._taken + lines + file.rest() if lines == count else self._taken + lines
                    for lines, file in zip(counts, self._files, strict=True)
                )
                refuse_counts(self._reading, *ends)
            found = Sentences(self._reading, first, None, (source, target))
        self._taken += len(found)
        return found

    def rest(self) -> int:
        """Count the sentences that are left."""
        count = 0
        while found := len(self.take(_MANY)):
            count += found
        return count


class _Lines:
    """The lines of a file as bytes."""

    def __init__(self, reading: TextFile, path: str) -> None:
        self._chunks: Iterator[bytes] = reading.chunks(path)
        self._next()

    def _next(self) -> None:
        self._chunk, self._at, self._k = next(self._chunks, b""), 0, 0
        self._ends = np.flatnonzero(np.frombuffer(self._chunk, np.uint8) == 10) + 1

    def take(self, count: int) -> bytes:
        parts: list[bytes] = []
        while count and self._chunk:
            some = min(count, len(self._ends) - self._k)
            self._k += some
            end = int(self._ends[self._k - 1])
            parts.append(self._chunk[self._at : end])
            self._at = end
            count -= some
            if self._k == len(self._ends):
                self._next()
        return b"".join(parts)

    def rest(self) -> int:
        return len(self._ends) - self._k + sum(chunk.count(b"\n") for chunk in self._chunks)
