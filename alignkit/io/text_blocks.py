"""Parallel text in blocks: the sentences of many pairs at once, fast where they are plain lines.

Two files in UTF-8 without ids and numbers are read as bytes, and a kernel finds their words. All
others are read by `alignkit.io.parallel_text`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from alignkit.io.opening import has_controls
from alignkit.io.parallel_text import PairText, has_own_form, read_texts, refuse_counts
from alignkit.io.text_files import TextFile
from alignkit.io.text_ids import TextIds
from alignkit.model.texts import BOM_BYTES

if TYPE_CHECKING:
    from alignkit._support.array_types import I4, I8

_Words = list[tuple[str, ...]]

_MANY = 1 << 14  # lines at a time, where they are only counted
_FEW = 1000  # lines; fewer are not worth a kernel


class Sentences:
    """The sentences of several pairs, as texts."""

    def __init__(self, reading: TextFile, texts: list[PairText]) -> None:
        self._reading = reading
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def texts(self) -> list[PairText]:
        """Return the sentences as texts."""
        return self._texts

    @property
    def are_plain(self) -> bool:
        """Whether the sentences have no attributes and ids."""
        if not self._texts:
            return True
        first = self._texts[0]
        return first.own_id is None and not any(first.tagged)

    def words(self) -> tuple[_Words, _Words]:
        """Return the words of the source sentences and of the target sentences."""
        sources = []
        targets = []
        for text in self.texts():
            source_words, target_words = text.words
            sources.append(self._reading.shared(source_words))
            targets.append(self._reading.shared(target_words))
        return sources, targets


class RawSentences(Sentences):
    """The sentences of several pairs, as lines of bytes from number `first` on."""

    def __init__(self, reading: TextFile, first: int, source: bytes, target: bytes) -> None:
        super().__init__(reading, [])
        self._first = first
        self._source = source
        self._target = target

    def __len__(self) -> int:
        return self._source.count(b"\n")

    def texts(self) -> list[PairText]:
        """Return the sentences as texts; bytes that are not UTF-8 and controls are refused."""
        if not self._texts:
            sources = self._decoded(self._source, self._reading.options.source or "")
            targets = self._decoded(self._target, self._reading.options.target or "")
            for number, (source, target) in enumerate(
                zip(sources, targets, strict=True), start=self._first
            ):
                self._texts.append(PairText(number, None, source, target))
        return self._texts

    def words(self) -> tuple[_Words, _Words]:
        """Return the words of the source sentences and of the target sentences."""
        return self._words_by_kernel() or super().words()

    def _words_by_kernel(self) -> tuple[_Words, _Words] | None:
        """Return the words as a kernel finds them; None for few lines, or if some are not plain."""
        if len(self) < _FEW or self._texts:
            return None
        for raw in (self._source, self._target):
            if b"\r" in raw or BOM_BYTES in raw or has_controls(raw):
                return None
        with suppress(UnicodeDecodeError):  # `texts` says where
            source = self._with_plain_spaces(self._source)
            target = self._with_plain_spaces(self._target)
            return words_of_both(source, target, self._reading.token)
        return None

    def _decoded(self, raw: bytes, path: str) -> list[str]:
        """Return the sentences of a side as texts."""
        sentences = []
        for number, line in enumerate(raw.split(b"\n")[:-1], start=self._first):
            text = self._reading.decode(line, number, path)
            sentences.append(self._reading.sentence(text, number, path))
        return sentences

    def _with_plain_spaces(self, raw: bytes) -> bytes:
        """Return lines with plain spaces for all that divide words."""
        if self._reading.options.token_separators == "unicode":
            return self._reading.spaced(raw.decode()).encode()
        return raw


def words_of_both(
    source: bytes, target: bytes, share: Callable[[str], str]
) -> tuple[_Words, _Words]:
    """Return the words of the lines of both sides, like `split_words`; equal words are shared."""
    with ThreadPoolExecutor(2) as threads:  # two run at once: the kernel releases Python's lock
        numbered_source, numbered_target = threads.map(_numbered, (source, target))
    return numbered_source.words(source, share), numbered_target.words(target, share)


class _Numbered(NamedTuple):
    """The words of many lines as numbers, as `number_words` returns them."""

    ids: I4
    starts: I8
    begins: I8
    ends: I8

    def words(self, raw: bytes, share: Callable[[str], str]) -> _Words:
        """Return the words of each line, like `split_words`; equal words are one object."""
        import numpy as np

        distinct = []
        for begin, end in zip(self.begins.tolist(), self.ends.tolist(), strict=True):
            distinct.append(share(raw[begin:end].decode()))
        words = tuple(np.array(distinct, object)[self.ids].tolist())
        return [words[start:end] for start, end in pairwise(self.starts.tolist())]


def _numbered(raw: bytes) -> _Numbered:
    """Return the words of lines as numbers."""
    import numpy as np

    from alignkit.io.words_kernel import number_words

    return _Numbered(*number_words(np.frombuffer(raw, np.uint8), raw.count(b"\n")))


class TextBlocks:
    """Sentence pairs from the files given in the options of a reading."""

    def __init__(self, reading: TextFile) -> None:
        self._reading = reading
        self._taken = 0
        self._files: tuple[_Lines, _Lines] | None = None
        self._texts: Iterator[PairText] = iter(())
        source = reading.options.source
        target = reading.options.target
        if source and target and _are_plain(reading, source, target):
            self._files = _Lines(reading, source), _Lines(reading, target)
        else:
            self._texts = read_texts(reading) or iter(())

    def take(self, count: int) -> Sentences:
        """Return the next sentence pairs; fewer at the end of the files."""
        if self._files is None:
            taken = Sentences(self._reading, list(islice(self._texts, count)))
        else:
            source_file, target_file = self._files
            source = source_file.take(count)
            target = target_file.take(count)
            taken = RawSentences(self._reading, self._taken + 1, source, target)
            if target.count(b"\n") != len(taken):
                # a file that gave fewer lines than asked for has no more
                source_count = self._taken + len(taken) + source_file.rest()
                target_count = self._taken + target.count(b"\n") + target_file.rest()
                refuse_counts(self._reading, source_count, target_count)
        self._taken += len(taken)
        return taken

    def rest(self) -> int:
        """Count the remaining sentences."""
        count = 0
        while taken := len(self.take(_MANY)):
            count += taken
        return count


def _are_plain(reading: TextFile, source: str, target: str) -> bool:
    """Return whether two texts can be read as lines of bytes; log it if they seem to have ids."""
    if source == target or not reading.plain_bytes:
        return False
    ids = TextIds.of(reading, [source, target])
    if ids.present or has_own_form(reading, source) or has_own_form(reading, target):
        return False
    if not reading.silent:
        ids.tell([source, target], unless=" unless the links have ids too")
    return True


class _Lines:
    """The lines of a file as bytes."""

    def __init__(self, reading: TextFile, path: str) -> None:
        self._chunks: Iterator[bytes] = reading.chunks(path)
        self._go_on()

    def _go_on(self) -> None:
        """Go on to the next chunk, and find where its lines end."""
        import numpy as np

        self._chunk = next(self._chunks, b"")
        self._ends = np.flatnonzero(np.frombuffer(self._chunk, np.uint8) == 10) + 1
        self._next_line = 0  # in the chunk
        self._next_byte = 0

    def take(self, count: int) -> bytes:
        """Return the next lines; fewer at the end of the file."""
        parts: list[bytes] = []
        while count and self._chunk:
            some = min(count, len(self._ends) - self._next_line)
            self._next_line += some
            end = int(self._ends[self._next_line - 1])
            parts.append(self._chunk[self._next_byte : end])
            self._next_byte = end
            count -= some
            if self._next_line == len(self._ends):
                self._go_on()
        return b"".join(parts)

    def rest(self) -> int:
        """Count the remaining lines."""
        in_chunk = len(self._ends) - self._next_line
        return in_chunk + sum(chunk.count(b"\n") for chunk in self._chunks)
