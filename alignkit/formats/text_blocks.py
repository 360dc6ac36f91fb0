"""Read parallel text many sentences at a time, for formats that read many links at a time.

Two plain files in UTF-8 are cut into lines and words as bytes; whatever is odd in them (tags, ids,
byte order marks, carriage returns, control characters) goes the way of `read_texts`, sentence by
sentence, with the same result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

import numpy as np

from alignkit.formats.line_words import words_of_both
from alignkit.formats.parallel_text import Text, read_texts, refuse_counts
from alignkit.formats.textfile import TextFile
from alignkit.input import has_controls, look_ahead

_Words = list[tuple[str, ...]]

_MARK = b"\xef\xbb\xbf"
_MANY = 1 << 14  # lines at a time, where they are only counted
_FEW = 1000  # lines; fewer are not worth a kernel


class Sentences:
    """The sentences of some pairs, as texts or as bytes."""

    def __init__(
        self, reading: TextFile, first: int, texts: list[Text] | None, raw: tuple[bytes, bytes]
    ) -> None:
        self._reading, self._first = reading, first
        self._texts, self._raw = texts, raw

    def __len__(self) -> int:
        return self._raw[0].count(b"\n") if self._texts is None else len(self._texts)

    def texts(self) -> list[Text]:
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
                Text(line, None, source, target)
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
        self._texts: Iterator[Text] = iter(())
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
