"""Pharaoh links and all their variants [pharaoh].

Specification
-------------
One line a sentence pair, one token a link, source first, 0-based by custom (``--base 1`` and
``--transpose`` declare otherwise)::

    0-0 1-2 2?1

- ``i-j`` or ``i-jS`` is a sure link; ``i?j``, ``ipj`` and ``i-jP`` are possible links;
- ``i-j:0.93`` gives a link a weight;
- a line may start with an id and a tab, ``17<TAB>0-0 1-1``; then all lines must, and so must the
  lines of the texts. Without ids a pair's id is the number of its line, from 1;
- an empty line is an alignment without links.

The words stand in files beside (`alignkit.io.parallel_text`) or nowhere. Written are ``i-j``
and ``i?j``, with ids and with weights only where the user asks for them; a weight that is no finite
number is left out. Pairs not annotated are left out at the end of the file, where ``--partial``
reads them back, and are empty lines elsewhere.

References
----------
Koehn 2004, "Pharaoh: a beam search decoder for phrase-based statistical machine translation
models", AMTA; the ``i?j`` of Och & Ney's Hansards gold standard in its Pharaoh edition.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import readonly
from alignkit._support.values import FrozenMap
from alignkit.errors import AlignkitError, AlignmentError, FormatError, OptionError
from alignkit.io.format import Format, kinds
from alignkit.io.formats.pharaoh_kernel import PLAIN, scan, written
from alignkit.io.parallel_text import PairText, Sentences, TextBlocks
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record, Status
from alignkit.io.text_files import is_word, split_words
from alignkit.io.writing import Writing
from alignkit.model.alignment import Alignment
from alignkit.model.annotation import Annotation
from alignkit.model.arrays import LinkArrays
from alignkit.model.sentence_pair import SentencePair

_LINK = re.compile(r"(\d{1,9})([-?p])(\d{1,9})([SP]?)(?::(\S+))?", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_BLOCK = 1 << 14  # lines
_UNKNOWN = np.empty((0, 2), np.int32)  # sentence lengths, where there are no words

_Line = tuple[int, "bytes | None", "PairText | None"]


class _Block(NamedTuple):
    """Some lines: the number of the first, their links as bytes, and the words, where known."""

    first: int
    size: int
    raw: bytes | None
    sentences: Sentences | None

    def lines(self) -> Iterator[_Line]:
        texts = repeat(None) if self.sentences is None else self.sentences.texts()
        raw = repeat(None) if self.raw is None else self.raw.split(b"\n")
        yield from zip(range(self.first, self.first + self.size), raw, texts, strict=False)


def _parse(reading: Reading) -> Iterator[Record]:
    lines = _Lines(reading)
    return (record for block in _blocks(reading) for record in lines.records(block.lines()))


def _pairs(reading: Reading) -> Iterator[SentencePair]:
    lines = _Lines(reading)
    for block in _blocks(reading):
        words = None if block.sentences is None else block.sentences.words()
        arrays = _scanned(block, words, reading)
        if arrays is None:
            yield from reading.pairs(lines.records(block.lines()))
            continue
        lines.without_ids()
        name = reading.name
        unknown: _Words = ([None] * block.size,) * 2
        sides = zip(*(words or unknown), strict=True)
        alignments = enumerate(arrays.alignments(), start=block.first)
        for (number, alignment), (source, target) in zip(alignments, sides, strict=True):
            reading.read += 1
            annotations = FrozenMap.of_one(name, Annotation.of(alignment))
            yield SentencePair.trusted(str(number), source, target, annotations)


def _link_blocks(reading: Reading) -> Iterator[tuple[Sequence[object], LinkArrays]]:
    lines = _Lines(reading)
    number = 1
    for chunk in reading.chunks():
        count = chunk.count(b"\n")
        arrays = _scan(chunk, count, _UNKNOWN, reading)
        if arrays is not None:
            lines.without_ids()
            reading.read += count
            yield range(number, number + count), arrays
        else:
            block = _Block(number, count, chunk, None)
            pairs = list(reading.pairs(lines.records(block.lines())))
            alignments = (pair.alignment(reading.name) for pair in pairs)
            yield [pair.id for pair in pairs], LinkArrays.pack(alignments)
        number += count


def _blocks(reading: Reading) -> Iterator[_Block]:
    """Yield lines of links with their words, many at a time; see to it that the counts agree."""
    texts = TextBlocks(reading) if reading.options.source is not None else None
    first = 1
    chunks = reading.chunks()
    for chunk in chunks:
        count = chunk.count(b"\n")
        sentences = None if texts is None else texts.take(count)
        if sentences is not None and len(sentences) < count:
            total = first - 1 + count + sum(rest.count(b"\n") for rest in chunks)
            raise reading.error(
                f"has {total} lines, but {reading.options.source} has "
                f"{first - 1 + len(sentences)} sentences"
            )
        yield _Block(first, count, chunk, sentences)
        first += count
    if texts is not None:
        yield from _unannotated(reading, texts, first)


def _unannotated(reading: Reading, texts: TextBlocks, first: int) -> Iterator[_Block]:
    rest = texts.take(_BLOCK)
    if len(rest) and not reading.options.partial:
        count = first - 1
        if not reading.options.lenient:
            total = count + len(rest) + texts.rest()
            raise reading.error(
                f"has {count} lines, but {reading.options.source} has {total} sentences; "
                "if the rest is not annotated, say so by `partial=True`"
            )
        reading.note("fewer alignments than texts", f"they end at line {count}", count)
    while len(rest):
        yield _Block(first, len(rest), None, rest)
        first += len(rest)
        rest = texts.take(_BLOCK)


_Known = tuple["list[tuple[str, ...]]", "list[tuple[str, ...]]"]
_Words = tuple["list[tuple[str, ...]] | list[None]", "list[tuple[str, ...]] | list[None]"]


def _raw_words(text: PairText | None) -> tuple[list[str] | None, list[str] | None]:
    """Split a text into tokens that `Reading.build` has still to unescape and to share."""
    return (None, None) if text is None else (split_words(text.source), split_words(text.target))


def _scanned(block: _Block, words: _Known | None, reading: Reading) -> LinkArrays | None:
    """Read a block by the kernel; None if something in it needs the plain way, `_Lines`."""
    lengths = _UNKNOWN
    if words is not None:
        sides = [np.fromiter(map(len, side), np.int32, block.size) for side in words]
        lengths = np.column_stack(sides)
    if block.raw is None or lengths.max(initial=0) > reading.options.max_words:
        return None
    return _scan(block.raw, block.size, lengths, reading)


def _scan(
    joined: bytes, count: int, lengths: NDArray[np.int32], reading: Reading
) -> LinkArrays | None:
    if b"\r" in joined and not reading.counts["carriage returns"]:
        return None  # the plain way tells of them, once
    status, links, sure, offsets, repeated = scan(
        np.frombuffer(joined, np.uint8), count, reading.base, reading.options.transpose, lengths
    )
    if status != PLAIN or (reading.observed and repeated.any()):
        return None
    reading.counts["duplicate link"] += int(repeated[0])
    reading.counts["both sure and possible"] += int(repeated[1])
    extents = lengths if len(lengths) else LinkArrays.extents(links, offsets)
    return LinkArrays.trusted(links, sure, offsets, extents)


class _Lines:
    """Read lines one by one: the plain way, which knows all variants and how to complain."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._ids: bool | None = None

    def without_ids(self) -> None:
        """Learn that lines read by others had no ids."""
        self._ids = False

    def records(self, block: Iterable[_Line]) -> Iterator[Record]:
        for number, raw, text in block:
            try:
                yield self._record(number, raw, text)
            except FormatError as error:
                self._reading.refuse(error)

    def _record(self, number: int, raw: bytes | None, text: PairText | None) -> Record:
        reading = self._reading
        if raw is None:
            return Record(str(number), number, *_raw_words(text))
        line = reading.decode(raw, number, allow_controls=True)
        id, body = self._id(line, number)
        if id is not None and text is not None:
            text = _without_id(id, text, reading)
        source, target = _raw_words(text)
        links = [_link(token, line, number, reading) for token in body.split()]
        reading.without_controls(body, number)  # some of them divide as white space does
        annotations = {reading.name: RawAnnotation(links)}
        return Record(str(number) if id is None else id, number, source, target, annotations)

    def _id(self, line: str, number: int) -> tuple[str | None, str]:
        head, tab, body = line.partition("\t")
        if tab and not self._ids and not body.strip() and (self._ids is False or _no_id(head)):
            head, tab, body = line, "", ""  # white space behind the links
        if self._ids is None:
            self._ids = bool(tab)
        if self._ids != bool(tab):
            message = "every line has an id and a tab before its links, or none has"
            raise self._reading.error(message, number)
        if tab and ("\t" in body or any(map(_LINK.fullmatch, head.split()))):
            raise self._reading.error(
                f"is {head[:40]!r} before the tab an id or a link? Divide links by spaces, "
                "and give ids that do not look like links",
                number,
            )
        if tab:
            return self._reading.without_controls(head.strip(), number), body
        return None, line


def _no_id(head: str) -> bool:
    """Return whether this can be no id: several links, or nothing."""
    tokens = head.split()
    return len(tokens) != 1 and all(map(_LINK.fullmatch, tokens))


def _without_id(id: str, text: PairText, reading: Reading) -> PairText:
    options = reading.options
    sides: list[str] = []
    for line, path in ((text.source, options.source), (text.target, options.target)):
        head, tab, body = line.partition("\t")
        if not tab or head.strip() != id:
            raise reading.error(
                f"expected the id {id[:40]!r} and a tab before the words, as before the links",
                text.line,
                path=path or options.source or "",
            )
        sides.append(body)
    return text._replace(source=sides[0], target=sides[1])


def _link(token: str, line: str, number: int, reading: Reading) -> RawLink:
    match = _LINK.fullmatch(token)
    if match is None:
        message = f"{token[:40]!r} is not a link; expected i-j, i?j, ipj, i-jS or i-jP"
        raise reading.error(message, number, line.index(token) + 1)
    i, mark, j, letter, weight = match.groups()
    status: Status = "sure" if mark == "-" and letter != "P" else "possible"
    value = None
    if weight is not None:
        value = float(weight) if _NUMBER.fullmatch(weight) else math.nan
        if not math.isfinite(value):
            raise reading.error(f"{weight[:40]!r} is not a finite number", number)
    return RawLink(int(i), int(j), status, number, value)


def _write(pairs: Iterable[SentencePair], writing: Writing) -> None:
    options = writing.options
    if options.ids and options.source and not options.target:
        raise OptionError("a bitext has no ids: name a file for the target words too")
    with writing.open() as links, writing.open_texts() as texts:
        pending: list[str] = []  # not annotated: left out at the end, empty lines before others
        for number, pair in enumerate(pairs, 1):
            prefix = _prefix(pair.id) if options.ids else ""
            if not options.ids and pair.id != str(number):
                writing.lost["ids"] += 1
            alignment = writing.alignment(pair)
            if alignment is None:
                pending.append(prefix + "\n")
            else:
                links.writelines(pending)
                pending.clear()
                links.write(prefix + " ".join(_notation(alignment, writing)) + "\n")
            if texts.wanted:
                texts.write(pair.id, *writing.words(pair), before=prefix)


def _prefix(id: str) -> str:
    if not is_word(id) or _LINK.fullmatch(id):
        raise AlignkitError(
            f"the id {id[:40]!r} is not one word, or looks like a link, and cannot be written here"
        )
    return id + "\t"


def _notation(alignment: Alignment, writing: Writing) -> Iterator[str]:
    shift = writing.base
    weights = alignment.weights if writing.options.weights else {}
    tails = {link: f":{float(w)!r}" for link, w in weights.items() if math.isfinite(w)}
    if len(tails) < len(weights):
        writing.lost["weights"] += 1
    for link, sure in alignment.items():
        mark = "-" if sure else "?"
        yield f"{link.i + shift}{mark}{link.j + shift}{tails.get(link, '')}"


FORMAT = Format(
    parse=_parse,
    pairs=_pairs,
    blocks=_link_blocks,
    write=_write,
    holds=kinds("no text, possible, empty"),
    asked=frozenset({"ids", "weights"}),
    text_beside=True,
)


def format_lines(
    arrays: LinkArrays,
    *,
    probabilities: NDArray[np.float32] | None = None,
    base: int = 0,
    transpose: bool = False,
) -> bytes:
    r"""Return the lines of some alignments, as writing them pair by pair makes them.

    Examples
    --------
    >>> from alignkit import Alignment
    >>> arrays = LinkArrays.pack([Alignment.parse("0-0 1?2"), Alignment(), Alignment.parse("1-0")])
    >>> format_lines(arrays)
    b'0-0 1?2\n\n1-0\n'
    >>> format_lines(arrays, probabilities=np.array([1, 0.51239, 0.9], np.float32), base=1)
    b'1-1:1.0 2?3:0.5124\n\n2-1:0.9\n'
    """
    if base not in (0, 1):
        raise OptionError(f"base must be 0 or 1, not {base}")
    links, sure, weights = arrays.links, arrays.sure, _checked(probabilities, len(arrays.links))
    if transpose:
        pair = np.repeat(np.arange(len(arrays)), np.diff(arrays.offsets))
        order = np.lexsort((links[:, 0], links[:, 1], pair))
        links, sure = links[order, ::-1], sure[order]
        weights = weights[order] if len(weights) else weights
    text = written(
        readonly(links), readonly(sure), readonly(arrays.offsets), readonly(weights), base
    )
    return text.tobytes()


def _checked(probabilities: NDArray[np.float32] | None, count: int) -> NDArray[np.float32]:
    if probabilities is None:
        return np.empty(0, np.float32)
    if probabilities.dtype != np.float32 or probabilities.shape != (count,):
        raise AlignmentError(
            f"probabilities are a {probabilities.shape} array of {probabilities.dtype}; expected "
            f"({count},) of float32"
        )
    if count and not (probabilities.min() >= 0 and probabilities.max() <= 1):
        k = int(np.argmin((probabilities >= 0) & (probabilities <= 1)))
        raise AlignmentError(
            f"the probability of link {k} (counted from 0) is {probabilities[k]}; expected a "
            "number from 0 to 1"
        )
    return probabilities
