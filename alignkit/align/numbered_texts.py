"""Read two texts, or one with both sides, many lines at a time, and number their words."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from logging import getLogger
from typing import TYPE_CHECKING, NamedTuple

from alignkit._support.wording import how_many
from alignkit.errors import FormatError
from alignkit.io.opening import has_controls, too_large
from alignkit.io.options import ReadOptions
from alignkit.io.parallel_text import PairText, has_own_form, ids_of, read_texts
from alignkit.io.text_files import TextFile, is_word
from alignkit.io.text_ids import TextIds
from alignkit.model.texts import BOM

if TYPE_CHECKING:
    from alignkit._support.array_types import F8
    from alignkit.align.bitext import Bitext, Side


_LOGGER = getLogger("alignkit")

Watch = Callable[[TextFile], "AbstractContextManager[Callable[[int], None]]"]
"""Shows progress: given the file, returns a function that takes the number of further lines."""

_LINES = 20_000  # at a time, where memory is not to grow
_BYTES = 1 << 21  # of each side, likewise: they have to be aligned at once
_MANY = 1000  # lines that are worth a thread for each side


class Lines(NamedTuple):
    """The same lines of both sides."""

    source: str  # the lines; each ends in a line feed
    target: str
    first: int  # the number of the first, from 1
    size: int  # how many there are
    ids: Sequence[str] | None = None  # of the pairs, if the texts have any


def lines_of(
    paths: list[str],
    options: ReadOptions,
    *,
    format: str | None,
    whole: bool,
    refuse: Callable[[FormatError], None] | None = None,
    watch: Watch = lambda _file: nullcontext(lambda _count: None),
) -> Iterator[Lines]:
    """Yield the lines of the input, and log how many byte order marks were removed."""
    readings = [TextFile(path, options) for path in paths]
    named = TextFile(paths[0], replace(options, source=paths[0], target=paths[-1]))
    if paths == ["-"] and not whole and refuse is not None:
        parts = _live_text(readings[0], format, refuse)
    elif len(paths) == 1:
        parts = _one_text(readings[0], format, whole, watch)
    else:
        ids = TextIds.of(named, paths)
        if ids.present or any(has_own_form(named, path) for path in paths):
            parts = _tagged(named, whole)
        else:
            ids.tell(paths)
            parts = _two_texts(readings[0], readings[1], whole, watch)
    for lines in parts:
        if whole:
            _report_marks(readings, named)
        yield lines
    if not whole:
        _report_marks(readings, named)


def _report_marks(readings: Sequence[TextFile], named: TextFile) -> None:
    """Log how many byte order marks were removed."""
    paths = [reading.path for reading in readings]
    for reading in [*readings, named]:
        count = reading.counts["byte order mark"]
        if not count:
            continue
        name = reading.path
        if reading is named:
            name = " and ".join(paths)
        text = f"{name}: {how_many(count, 'byte order mark')} removed"
        _LOGGER.warning("%s", text, extra={"note": True})


def _two_texts(source: TextFile, target: TextFile, whole: bool, watch: Watch) -> Iterator[Lines]:
    """Read two texts with as many lines; a portion of one gets as many lines of the other."""
    first = 1
    portions = _portions(source, whole)
    if whole:
        others = iter([b"".join(target.chunks())])
    else:
        others = target.raw_lines()
    with watch(source) as step:
        while True:
            raw = next(portions, b"")
            count = _count(raw)
            # a text that is read as a whole comes in one piece
            pieces = 1 if whole else max(count, 1)
            other = b"".join(islice(others, pieces))
            if count != _count(other):
                # read both to the end: the error has the numbers of all their lines
                source_lines = first - 1 + count + sum(map(_count, portions))
                target_lines = first - 1 + _count(other) + sum(1 for _ in others)
                raise _other_length(source.path, source_lines, target.path, target_lines)
            if not count:
                return
            first_text = source.sentence(_decoded(source, raw, first))
            second_text = target.sentence(_decoded(target, other, first))
            yield Lines(first_text, second_text, first, count)
            first += count
            step(count)


def _other_length(source: str, source_lines: int, target: str, target_lines: int) -> FormatError:
    """Return the error for texts with different numbers of lines; it is that of the longer one."""
    if target_lines > source_lines:
        source, target = target, source
        source_lines, target_lines = target_lines, source_lines
    return FormatError(
        f"has {source_lines} lines, but {target} has {target_lines}; line k of one must be the "
        "translation of line k of the other",
        source,
    )


def _portions(reading: TextFile, whole: bool) -> Iterator[bytes]:
    """Yield a text as a whole, or in portions of lines that are aligned together."""
    if whole:
        yield b"".join(reading.chunks())
        return
    some: list[bytes] = []
    size = 0
    for line in reading.raw_lines():
        some.append(line)
        size += len(line)
        if size >= _BYTES or len(some) >= _LINES:
            yield b"".join(some)
            some = []
            size = 0
    if some:
        yield b"".join(some)


def _count(raw: bytes) -> int:
    """Return the number of lines; the last may lack its line feed."""
    return raw.count(b"\n") + (not raw.endswith(b"\n") and raw != b"")


def _decoded(reading: TextFile, raw: bytes, first: int) -> str:
    """Return lines as text; an error names the line."""
    if not raw.endswith(b"\n"):
        raw += b"\n"
    if codecs.lookup(reading.options.encoding).name == "utf-8" and not has_controls(raw):
        with suppress(UnicodeDecodeError):
            text = raw.decode()
            if BOM not in text:
                return text
    lines = enumerate(raw.split(b"\n")[:-1], start=first)
    return "".join(f"{reading.decode(line, number)}\n" for number, line in lines)


def _tagged(reading: TextFile, whole: bool) -> Iterator[Lines]:
    """Read texts that `read_texts` knows: with ids, CoNLL-U, and those of the shared tasks."""
    texts = read_texts(reading)
    first = 1
    most = None if whole else _LINES
    while some := list(islice(texts or (), most)):
        for text in some:
            _refuse_spaces(reading, text)
        yield _joined([(text.source, text.target, text.id) for text in some], first)
        first += len(some)


def _refuse_spaces(reading: TextFile, text: PairText) -> None:
    """Refuse words of CoNLL-U that would be several words of a line."""
    paths = reading.options.source or "", reading.options.target or ""
    for sentence, path in zip(text.tagged, paths, strict=True):
        if sentence is None:
            continue
        for word in sentence.words:
            if not is_word(word):
                message = f"the word {word!r} contains white space; parts must be texts without it"
                raise reading.error(message, sentence.line, path=path)


def _joined(pairs: list[tuple[str, str, str | None]], first: int) -> Lines:
    """Return the lines of pairs of texts with their ids; those without one get their number."""
    source = "".join([f"{source}\n" for source, _, _ in pairs])
    target = "".join([f"{target}\n" for _, target, _ in pairs])
    ids = [id or str(number) for number, (_, _, id) in enumerate(pairs, start=first)]
    return Lines(source, target, first, len(pairs), ids)


def _one_text(reading: TextFile, format: str | None, whole: bool, watch: Watch) -> Iterator[Lines]:
    """Read a text whose lines have both sides."""
    from alignkit.io.bitext_lines import TwoInLine

    first = 1
    ids = reading.options.text_ids is True
    if format != "tsv":
        ids = ids_of(reading, [reading.path], divided=True).present
    divided = TwoInLine(reading, format, ids=ids)
    with watch(reading) as step:
        for raw in filter(None, _portions(reading, whole)):
            lines = _decoded(reading, raw, first).split("\n")[:-1]
            pairs = [divided(line, number) for number, line in enumerate(lines, start=first)]
            yield _joined(pairs, first)
            first += len(lines)
            step(len(lines))


def _live_text(
    reading: TextFile, format: str | None, refuse: Callable[[FormatError], None]
) -> Iterator[Lines]:
    """Read lines as they arrive; a bad line is refused alone and is empty in the output."""
    from alignkit.io.bitext_lines import TwoInLine

    first = 1
    most = reading.options.max_size
    divided = TwoInLine(reading, format, ids=reading.options.text_ids is True)
    for raw in reading.chunks(cut=True):
        sides: list[tuple[str, str, str | None]] = []
        for number, line in enumerate(raw.split(b"\n")[:-1], start=first):
            try:
                if len(line) > most << 20:
                    raise too_large("a line", reading.path, most, number)
                sides.append(divided(reading.decode(line, number), number))
            except FormatError as error:
                refuse(error)
                sides.append(("", "", None))
        yield _joined(sides, first)
        first += len(sides)


def numbered(
    lines: Lines, *, casefold: bool, threads: int | None = None, written: bool = False
) -> Bitext:
    """Return the words of lines as numbers, without creating pairs; see `Bitext.pack`."""
    from alignkit.align.bitext import Bitext

    if written:
        kept = _side(lines.source, casefold=False), _side(lines.target, casefold=False)
    else:
        kept = None
    side = partial(_side, casefold=casefold)
    texts = lines.source, lines.target
    if lines.size < _MANY or threads == 1:
        source, target = map(side, texts)
    else:
        with ThreadPoolExecutor(2) as pool:
            source, target = pool.map(side, texts)
    return Bitext(source, target, casefold, kept)


def _side(text: str, casefold: bool) -> Side:
    """Return the words of a text with a sentence on each line."""
    import numpy as np

    from alignkit.align.bitext import Side
    from alignkit.io.words_kernel import number_words

    if casefold:
        text = text.casefold()
    data = text.encode("utf-8", "surrogatepass")
    ids, starts, begins, ends = number_words(np.frombuffer(data, np.uint8), data.count(b"\n"))
    both = zip(begins.tolist(), ends.tolist(), strict=True)
    words = [data[begin:end].decode("utf-8", "surrogatepass") for begin, end in both]
    return Side.by_frequency(words, ids, starts)


def score_lines(scores: F8) -> str:
    """Return a line for each pair: log P(target | source), a tab, log P(source | target)."""
    lines = [f"{forward:.6f}\t{reverse:.6f}\n" for forward, reverse in scores.tolist()]
    return "".join(lines)
