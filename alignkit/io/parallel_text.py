"""Parallel text: two files, or one file with both sentences per line.

A line contains the tokens of a sentence, separated by whitespace, in one of three forms:

- ``tokens`` only: the n-th line is the n-th sentence;
- ``id<TAB>tokens``, see `alignkit.io.text_ids`; the ids are those of the pairs;
- ``<s snum=N> tokens </s>``, as in the NAACL and WPT shared tasks.

Or a file is CoNLL-U (`alignkit.io.formats.conllu`): its sentences and their attributes are read.
A bitext has both sentences on a line, ``source ||| target``, perhaps after an id and a tab. Plain
texts may instead have two columns, separated by a tab.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from itertools import islice, zip_longest
from typing import NamedTuple, NoReturn, TextIO

from alignkit.errors import AlignkitError
from alignkit.io.compression import plain_name
from alignkit.io.opening import has_controls, look_ahead
from alignkit.io.tagged_words import IS_TAGGED, Tagged, read_tagged
from alignkit.io.text_files import TextFile, words_of_both
from alignkit.io.text_ids import TextIds, split_id
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import BOM, split_words, without_marks

BITEXT = "|||"
DIVIDERS = {"bitext": BITEXT, "tsv": "\t"}
"""The divider of two sentences on a line, by the name of the form."""

_HEAD = 1 << 16  # bytes
_SNUM = re.compile(r"<s\s+snum\s*=\s*\"?([^\s>\"]+)\"?\s*>")


class PairText(NamedTuple):
    """The words of one sentence pair."""

    line: int  # the line of the files, 1-based; in CoNLL-U the number of the sentence
    snum: str | None  # the number that <s snum=N> gives, None elsewhere
    source: str  # the lines without that dress, not split yet
    target: str
    tagged: tuple[Tagged | None, Tagged | None] = (None, None)  # the sentences of CoNLL-U
    own_id: str | None = None  # before a tab

    @property
    def words(self) -> tuple[list[str], list[str]]:
        """The words of both sides."""
        first, second = self.tagged
        source = split_words(self.source) if first is None else first.words
        target = split_words(self.target) if second is None else second.words
        return source, target

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes of the pair, from CoNLL-U."""
        attributes: dict[str, str] = {}
        for side, tagged in zip(SIDES, self.tagged, strict=True):
            if tagged is not None:
                attributes |= tagged.of(side)
        return attributes

    @property
    def id(self) -> str | None:
        """The id before the words, or of the source in CoNLL-U; None if there is none."""
        return self.own_id or self.attributes.get("source.sent_id")


def read_texts(reading: TextFile) -> Iterator[PairText] | None:
    """Yield the sentences of the files given in the options; return None if there are none."""
    source = reading.options.source
    target = reading.options.target
    if source is None:
        return None
    if target in (None, source):
        return _bitext(reading, source)
    return _two_files(reading)


def text_pairs(reading: TextFile) -> Iterator[SentencePair]:
    """Yield the sentences of the files given in the options as pairs that nobody aligned."""
    for text in read_texts(reading) or ():
        source, target = map(reading.shared, text.words)
        id = text.id or text.snum or str(text.line)
        yield SentencePair(id, source, target, attributes=text.attributes)


def _bitext(reading: TextFile, path: str) -> Iterator[PairText]:
    """Yield the sentences of one file."""
    ids = ids_of(reading, [path], divided=True)
    for line, text in reading.lines(path):
        id = None
        sentences = text
        if ids.present:
            id, sentences = split_id(reading, line, text, path)
        parts = sentences.split(BITEXT)
        if len(parts) != 2:
            if plain_name(path).endswith(".conllu"):
                raise reading.error(
                    "is CoNLL-U and has the words of one side; name the file of the other "
                    "with `target`",
                    path=path,
                )
            raise reading.error(
                f"{len(parts) - 1} dividers ' ||| ', expected one: `source` without `target` "
                "is a bitext",
                line,
                path=path,
            )
        source, target = (reading.sentence(part, line, path) for part in parts)
        yield PairText(line, id if ids.numbers else None, source, target, own_id=id)


def ids_of(reading: TextFile, paths: Sequence[str], *, divided: bool = False) -> TextIds:
    """Decide whether the lines of texts begin with ids, and log the decision; see `TextIds.of`."""
    ids = TextIds.of(reading, paths, divided=divided)
    if not reading.silent:
        ids.tell(paths)
    return ids


def _two_files(reading: TextFile) -> Iterator[PairText]:
    """Yield the sentences of two files, which must be as many and have the same ids."""
    source = reading.options.source or ""
    target = reading.options.target or ""
    ids = ids_of(reading, [source, target])
    files = [_numbered(reading, path, ids) for path in (source, target)]
    for count, (first, second) in enumerate(zip_longest(*files)):
        if first is None or second is None:
            counts = []
            for sentence, file in zip((first, second), files, strict=True):
                rest = 0 if sentence is None else 1 + sum(1 for _ in file)
                counts.append(count + rest)
            refuse_counts(reading, *counts)
        if first.number != second.number:
            theirs = second.number or "without a number"
            message = f"sentence {theirs}, but {source}:{first.line} has {first.number or 'none'}"
            raise reading.error(message, second.line, path=target)
        dressed = first.dressed or ids.numbers
        yield PairText(
            first.line,
            first.number if dressed else None,
            first.text,
            second.text,
            (first.tagged, second.tagged),
            None if first.dressed else first.number,
        )


def is_dressed(reading: TextFile, path: str) -> bool:
    """Return whether a text is CoNLL-U, or numbers its sentences by <s snum=N>."""
    head, _ = look_ahead(path, 512, reading.options.max_size)
    return head.lstrip(_MARK + b" \t").startswith(b"<s snum") or is_tagged(reading, path)


class _Sentence(NamedTuple):
    """A sentence of one of two files."""

    line: int
    text: str
    number: str | None = None  # what <s snum=N> gives if it is `dressed`, else the id
    dressed: bool = False
    tagged: Tagged | None = None


def refuse_counts(reading: TextFile, sources: int, targets: int) -> NoReturn:
    """Raise an error for two files with different numbers of sentences."""
    sides = (sources, reading.options.source or ""), (targets, reading.options.target or "")
    (fewer, shorter), (more, longer) = sorted(sides)
    raise reading.error(f"has {more} sentences, but {shorter} has {fewer}", path=longer)


def is_tagged(reading: TextFile, path: str) -> bool:
    """Return whether a file of sentences is CoNLL-U."""
    head, _ = look_ahead(path, _HEAD, reading.options.max_size, reading.options.encoding)
    text = head.decode(reading.options.encoding, "replace").lstrip(BOM)
    return IS_TAGGED.match(text) is not None or plain_name(path).endswith(".conllu")


def _numbered(reading: TextFile, path: str, ids: TextIds) -> Iterator[_Sentence]:
    """Yield the sentences of one of two files, in any of the forms."""
    if is_tagged(reading, path):
        for number, sentence in enumerate(read_tagged(reading, path), start=1):
            yield _Sentence(number, " ".join(sentence.words), tagged=sentence)
        return
    snums = False
    for line, text in reading.lines(path):
        if line == 1:
            snums = text.lstrip().startswith("<s snum")
        if not snums and ids.present:
            id, words = split_id(reading, line, text, path)
            yield _Sentence(line, reading.sentence(words, line, path), id)
        elif not snums:
            yield _Sentence(line, reading.sentence(text, line, path))
        elif text.strip():
            words = text.strip()
            match = _SNUM.match(words)
            if match is None:
                raise reading.error("expected '<s snum=N> words </s>'", line, path=path)
            words = words[match.end() :].removesuffix("</s>")
            yield _Sentence(line, reading.sentence(words, line, path), match[1], dressed=True)


class TwoInLine:
    """Split lines into source and target, by the divider found in the first one.

    With `ids`, each line begins with an id and a tab.
    """

    def __init__(self, reading: TextFile, form: str | None = None, *, ids: bool = False) -> None:
        self._reading = reading
        self._ids = ids
        self._divider = DIVIDERS[form] if form else None

    def __call__(self, line: str, number: int) -> tuple[str, str, str | None]:
        """Return both sides of a line and its id; empty sides for an empty line."""
        if line.isspace() or not line:
            return "", "", None
        id = None
        if self._ids:
            id, line = split_id(self._reading, number, line, self._reading.path)
        if self._divider is None:
            self._divider = next((mark for mark in DIVIDERS.values() if mark in line), None)
            if self._divider is None:
                raise self._reading.error(
                    "neither ' ||| ' nor a tab divides two sentences; give two texts, SRC "
                    "and TGT, or the `format` of this one",
                    number,
                )
        parts = line.split(self._divider)
        if len(parts) != 2:
            message = f"{len(parts) - 1} dividers ' ||| ', expected one, between source and target"
            if self._divider != BITEXT:
                message = (
                    f"{len(parts)} columns, expected source and target, divided by one tab "
                    "(`cut -f` selects two columns)"
                )
            raise self._reading.error(message, number)
        most = self._reading.options.max_words
        for name, side in zip(("source", "target"), parts, strict=True):
            if len(side) <= 2 * most:  # no room for more words
                continue
            words = len(split_words(side))
            if words > most:
                raise self._reading.too_long(f"the {name} sentence", words, number)
        source, target = (self._reading.sentence(part, number) for part in parts)
        return source, target, id


class ParallelWriter:
    """Write sentences to two files, or both to one file."""

    def __init__(
        self, source: TextIO | None, target: TextIO | None = None, *, form: str = "bitext"
    ) -> None:
        self._source = source
        self._target = target
        self._divider = DIVIDERS[form]

    @property
    def wanted(self) -> bool:
        """Whether the words are written anywhere."""
        return self._source is not None or self._target is not None

    @property
    def in_line(self) -> bool:
        """Whether both sentences are on one line."""
        return self._source is not None and self._target is None

    def write(
        self, id: str, source: str, target: str, *, before: str = "", behind: str = ""
    ) -> None:
        """Write a pair of sentences, each line between `before` and `behind`."""
        if self._source is not None and self._target is None:
            line = self._joined(id, source, target)
            self._source.write(f"{before}{line}{behind}\n")
            return
        for stream, text in ((self._source, source), (self._target, target)):
            if stream is not None:
                stream.write(f"{before}{text}{behind}\n")

    def _joined(self, id: str, source: str, target: str) -> str:
        """Return both sentences on a line, which must be read as it is written."""
        space = " " if self._divider == BITEXT else ""
        line = f"{source}{space}{self._divider}{space}{target}"
        problem = ""
        if self._divider == BITEXT and not divisible((source, target)):
            problem = "divider '|||', which separates the sentences of a bitext; use two files"
        elif without_marks(line) != line:
            problem = "byte order mark, which reading removes; write alignkit-jsonl"
        if problem:
            raise AlignkitError(f"pair {id!r}: the words contain the {problem}")
        return line


def divisible(sentences: Iterable[str]) -> bool:
    """Return whether these sentences or words fit into a bitext: none contains the divider."""
    return not any(BITEXT in text for text in sentences)


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
                ended = readings[row.index(None)].path
                k = next(k for k, line in enumerate(row) if line is not None)
                total = count + 1 + sum(1 for _ in files[k])
                raise readings[k].error(
                    f"has {total} lines, but {ended} has {count}; the same line of each file must "
                    "translate the same sentence"
                )
            group = []
            for (line, text), reading in zip(row, readings, strict=True):
                sentence = text
                if ids:
                    _, sentence = split_id(reading, line, text, reading.path)
                group.append(_words(sentence, reading, line))
            yield group


def _words(text: str, reading: TextFile, line: int) -> list[str]:
    """Return the words of a sentence, which may not be too many."""
    words = reading.words(text, line)
    if len(words) > reading.options.max_words:
        raise reading.too_long("a sentence", len(words), line)
    return words


_Words = list[tuple[str, ...]]

_MARK = b"\xef\xbb\xbf"
_MANY = 1 << 14  # lines at a time, where they are only counted
_FEW = 1000  # lines; fewer are not worth a kernel


class Sentences:
    """The sentences of several pairs, as texts or as bytes."""

    def __init__(
        self, reading: TextFile, first: int, texts: list[PairText] | None, raw: tuple[bytes, bytes]
    ) -> None:
        self._reading = reading
        self._first = first
        self._texts = texts
        self._raw = raw

    def __len__(self) -> int:
        if self._texts is None:
            return self._raw[0].count(b"\n")
        return len(self._texts)

    def texts(self) -> list[PairText]:
        """Return the sentences as texts."""
        if self._texts is None:
            source, target = self._raw
            sources = self._sentences(source, self._reading.options.source or "")
            targets = self._sentences(target, self._reading.options.target or "")
            self._texts = []
            for k, (source_text, target_text) in enumerate(zip(sources, targets, strict=True)):
                self._texts.append(PairText(self._first + k, None, source_text, target_text))
        return self._texts

    def _sentences(self, raw: bytes, path: str) -> list[str]:
        """Return the sentences of a side as texts."""
        sentences = []
        for number, line in enumerate(raw.split(b"\n")[:-1], start=self._first):
            text = self._reading.decode(line, number, path)
            sentences.append(self._reading.sentence(text, number, path))
        return sentences

    @property
    def tagged(self) -> bool:
        """Whether the sentences have attributes or ids."""
        first = self._texts[0] if self._texts else None
        return first is not None and (any(first.tagged) or first.own_id is not None)

    def words(self) -> tuple[_Words, _Words]:
        """Return the words of the source sentences and of the target sentences."""
        odd = any(b"\r" in raw or _MARK in raw or has_controls(raw) for raw in self._raw)
        if self._texts is None and len(self) >= _FEW and not odd:
            with suppress(UnicodeDecodeError):  # the plain way says where
                source, target = map(self._spaced, self._raw)
                return words_of_both(source, target, self._reading.token)
        sources = []
        targets = []
        for text in self.texts():
            source_words, target_words = text.words
            sources.append(self._reading.shared(source_words))
            targets.append(self._reading.shared(target_words))
        return sources, targets

    def _spaced(self, raw: bytes) -> bytes:
        """Return lines with plain spaces for all that divide words."""
        if self._reading.options.token_separators == "unicode":
            return self._reading.spaced(raw.decode()).encode()
        return raw


class TextBlocks:
    """Sentence pairs from the files given in the options of a reading."""

    def __init__(self, reading: TextFile) -> None:
        self._reading = reading
        self._taken = 0
        source = reading.options.source
        target = reading.options.target
        self._files = None
        if source and target and source != target and reading.plain_bytes:
            ids = TextIds.of(reading, [source, target])
            dressed = ids.present or is_dressed(reading, source) or is_dressed(reading, target)
            if not dressed:
                self._files = _Lines(reading, source), _Lines(reading, target)
                if not reading.silent:
                    ids.tell([source, target], unless=" unless the links have ids too")
        self._texts = iter(()) if self._files else read_texts(reading) or iter(())

    def take(self, count: int) -> Sentences:
        """Return the next sentence pairs; fewer at the end of the files."""
        first = self._taken + 1
        if self._files is None:
            taken = Sentences(self._reading, first, list(islice(self._texts, count)), (b"", b""))
        else:
            source, target = (file.take(count) for file in self._files)
            counts = (source.count(b"\n"), target.count(b"\n"))
            if counts[0] != counts[1]:
                totals = []
                for lines, file in zip(counts, self._files, strict=True):
                    rest = file.rest() if lines == count else 0
                    totals.append(self._taken + lines + rest)
                refuse_counts(self._reading, *totals)
            taken = Sentences(self._reading, first, None, (source, target))
        self._taken += len(taken)
        return taken

    def rest(self) -> int:
        """Count the remaining sentences."""
        count = 0
        while taken := len(self.take(_MANY)):
            count += taken
        return count


class _Lines:
    """The lines of a file as bytes."""

    def __init__(self, reading: TextFile, path: str) -> None:
        self._chunks: Iterator[bytes] = reading.chunks(path)
        self._next()

    def _next(self) -> None:
        """Go on to the next chunk: where its lines end, and the next byte and line to take."""
        import numpy as np

        self._chunk = next(self._chunks, b"")
        self._at = 0
        self._k = 0
        self._ends = np.flatnonzero(np.frombuffer(self._chunk, np.uint8) == 10) + 1

    def take(self, count: int) -> bytes:
        """Return the next lines; fewer at the end of the file."""
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
        """Count the remaining lines."""
        return len(self._ends) - self._k + sum(chunk.count(b"\n") for chunk in self._chunks)
