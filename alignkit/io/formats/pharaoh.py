"""Pharaoh links and all their variants [pharaoh].

Specification
-------------
One line per sentence pair, one token per link, source first, 0-based by default (``--base 1`` and
``--transpose`` change this)::

    0-0 1-2 2?1

- ``i-j``, ``i-jS`` or ``i-j-S`` is a sure link; ``i?j``, ``ipj``, ``i-jP`` and ``i-j-P`` are
  possible links; the letters may be in any case;
- ``i-j:0.93`` gives a link a weight. machine.py writes two numbers, ``i-j:TRANSLATION:ALIGNMENT``:
  the first is the weight, the second is left out, and counted;
- ``--link-weights`` names a file with the weights: on the same line as the links, a number for each
  of them, in their order, with or without the id;
- ``NULL-j`` and ``i-NULL`` are explicit nulls: a word that is aligned to nothing;
- a line may start with an id and a tab, ``17<TAB>0-0 1-1``; then all lines must, and so must the
  lines of the texts. Texts without ids belong to the lines of links in the same order, if the ids
  count from 0 or 1, or if ``--text-ids no`` says so. Without ids, a pair's id is the number of its
  line, from 1;
- an empty line is an alignment without links.

The words are in separate files (`alignkit.io.parallel_text`) or missing. alignkit writes ``i-j``
and ``i?j``, with ids and weights only on request; a weight that is not a finite number is left out.
Each pair gets a line, so the lines stay next to those of the texts: a pair that is not annotated
gets an empty one. A file with fewer lines than the texts is read with ``--partial``.

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
from logging import getLogger
from typing import NamedTuple

import numpy as np

from alignkit._support.jit import is_loaded
from alignkit._support.values import FrozenMap
from alignkit.errors import AlignkitError, OptionError
from alignkit.io.format import Format, kinds
from alignkit.io.formats.pharaoh_kernel import PLAIN, scan
from alignkit.io.parallel_text import IF_PARTIAL, PairText
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record, Status
from alignkit.io.sniffing import Head, Likeness
from alignkit.io.text_blocks import Sentences, TextBlocks
from alignkit.io.text_files import is_word
from alignkit.io.writing import Writing
from alignkit.model.alignment import Alignment, Link
from alignkit.model.annotation import Annotation
from alignkit.model.arrays import LinkArrays
from alignkit.model.sentence_pair import SentencePair

_LINK = re.compile(
    r"(\d{1,9}|NULL)([-?p])(\d{1,9}|NULL)(?:-?([SP]))?(?::(\S+))?", re.ASCII | re.IGNORECASE
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LOGGER = getLogger("alignkit")
_BLOCK = 1 << 14  # lines
_SMALL = 1 << 16  # bytes of links that Python reads before numba would be loaded
_NO_LENGTHS = np.empty((0, 2), np.int32)  # of sentences, where there are no words: none is checked

_Line = tuple[int, "bytes | None", "PairText | None"]
_Words = tuple["list[tuple[str, ...]]", "list[tuple[str, ...]]"]


class _Block(NamedTuple):
    """Some lines: the number of the first, their links as bytes, and the words, if known."""

    first: int
    size: int
    raw: bytes | None
    sentences: Sentences | None

    @property
    def numbers(self) -> range:
        """The numbers of the lines."""
        return range(self.first, self.first + self.size)

    def lines(self) -> Iterator[_Line]:
        """Yield the number, the links and the words of each line; None for what is missing."""
        texts = repeat(None) if self.sentences is None else self.sentences.texts()
        raw = repeat(None) if self.raw is None else self.raw.split(b"\n")
        yield from zip(self.numbers, raw, texts, strict=False)


def _parse(reading: Reading) -> Iterator[Record]:
    lines = _Lines(reading)
    for block in _blocks(reading):
        yield from lines.records(block.lines())
    lines.finish()


def _pairs(reading: Reading) -> Iterator[SentencePair]:
    """Yield the pairs, as `_parse` does, but blocks of plain lines with compiled code."""
    lines = _Lines(reading)
    for block in _blocks(reading):
        words = None if block.sentences is None else block.sentences.words()
        arrays = _scan(block, words, reading)
        if arrays is None:
            yield from reading.pairs(lines.records(block.lines()))
            continue
        lines.go_on_without_ids()
        name = reading.name
        sources, targets = words or (repeat(None, block.size), repeat(None, block.size))
        columns = zip(block.numbers, arrays.alignments(), sources, targets, strict=True)
        for number, alignment, source, target in columns:
            reading.read += 1
            annotations = FrozenMap.of_one(name, Annotation.of(alignment))
            yield SentencePair.trusted(str(number), source, target, annotations)
    lines.finish()


def _link_blocks(reading: Reading) -> Iterator[tuple[Sequence[object], LinkArrays]]:
    """Yield the ids and links of many pairs at a time."""
    lines = _Lines(reading)
    for block in _blocks(reading):
        arrays = _scan(block, None, reading)
        if arrays is not None:
            lines.go_on_without_ids()
            reading.read += block.size
            yield block.numbers, arrays
        else:
            pairs = list(reading.pairs(lines.records(block.lines())))
            alignments = (pair.alignment(reading.name) for pair in pairs)
            yield [pair.id for pair in pairs], LinkArrays.pack(alignments)
    lines.finish()


def _blocks(reading: Reading) -> Iterator[_Block]:
    """Yield lines of links with their words, many at a time; check that the counts agree."""
    texts = TextBlocks(reading) if reading.options.source is not None else None
    first = 1
    chunks = reading.chunks()
    for chunk in chunks:
        count = chunk.count(b"\n")
        sentences = None if texts is None else texts.take(count)
        if sentences is not None and len(sentences) < count:
            last = first - 1 + len(sentences)
            surplus = b"".join(chunk.split(b"\n")[len(sentences) :])
            total = first - 1 + count
            only_empty = not surplus.strip()
            for later in chunks:
                total += later.count(b"\n")
                only_empty = only_empty and not later.strip()
            message = f"has {total} lines, but {reading.options.source} has {last} sentences"
            advice = ""
            if only_empty:
                advice = f"the lines after line {last} are empty: delete them"
            raise reading.error(message, advice=advice)
        yield _Block(first, count, chunk, sentences)
        first += count
    if texts is None:
        return
    rest = texts.take(_BLOCK)
    if not len(rest):
        return
    count = first - 1
    if not (reading.options.partial or reading.options.lenient):
        known = f"{reading.options.source} has {count + len(rest) + texts.rest()} sentences"
        raise reading.error(f"has {count} lines, but {known}", advice=IF_PARTIAL)
    if not reading.options.partial:
        reading.note("fewer alignments than texts", f"they end at line {count}", count)
    while len(rest):
        yield _Block(first, len(rest), None, rest)
        first += len(rest)
        rest = texts.take(_BLOCK)


def _scan(block: _Block, words: _Words | None, reading: Reading) -> LinkArrays | None:
    """Read plain lines quickly; None if `_Lines` has to read them, or is quicker."""
    raw = block.raw
    options = reading.options
    if raw is None or options.link_weights is not None or (len(raw) < _SMALL and not is_loaded()):
        return None
    if b"\r" in raw and not reading.counts["carriage returns"]:
        return None  # `_Lines` reports them, once
    if block.sentences is not None and not block.sentences.are_plain:
        return None  # they have ids or attributes
    lengths = _NO_LENGTHS
    if words is not None:
        of_sides = [np.fromiter(map(len, side), np.int32, block.size) for side in words]
        lengths = np.column_stack(of_sides)
        if lengths.max(initial=0) > options.max_words:
            return None
    text = np.frombuffer(raw, np.uint8)
    status, links, sure, offsets, repeated = scan(
        text, block.size, reading.base, options.transpose, lengths
    )
    if status != PLAIN or (reading.observed and repeated.any()):
        return None
    duplicates, of_both_kinds = repeated.tolist()
    reading.counts["duplicate link"] += duplicates
    reading.counts["both sure and possible"] += of_both_kinds
    extents = lengths if len(lengths) else LinkArrays.extents(links, offsets)
    return LinkArrays.trusted(links, sure, offsets, extents)


class _Lines:
    """Reads lines one by one, slowly: it knows all variants and reports errors."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._have_ids: bool | None = None  # whether lines have ids; None: it is not known yet
        # whether lines have ids, but those of the texts do not; and then the id of the next line
        self._texts_lack_ids: bool | None = None
        self._next: int | None = None
        self._weights = _Weights(reading)

    def go_on_without_ids(self) -> None:
        """Note that lines without ids were read elsewhere: no later line may have one."""
        self._have_ids = False

    def records(self, block: Iterable[_Line]) -> Iterator[Record]:
        for number, raw, text in block:
            with self._reading.refusing():
                yield self._record(number, raw, text)

    def _record(self, number: int, raw: bytes | None, text: PairText | None) -> Record:
        """Return the record of a line, with its words if they are known."""
        reading = self._reading
        id = None
        body = ""
        if raw is not None:
            line = reading.decode(raw, number, allow_controls=True)
            id, body = self._id(line, number)
        if id is not None and text is not None:
            text = self._text_of(id, text)
        record = Record(str(number) if id is None else id, number)
        if text is not None:
            record.source, record.target = text.words
            record.attributes = text.attributes
            if id is None and text.id:
                record.id = text.id
        if raw is not None:
            body = reading.without_marks(body, number, words=False)
            links = [read_link(token, line, number, reading) for token in body.split()]
            links = self._weights.added(links, id, number)
            # only now, for `split` takes some controls for white space
            reading.without_controls(body, number)
            record.annotations[reading.name] = RawAnnotation(links)
        return record

    def _id(self, line: str, number: int) -> tuple[str | None, str]:
        """Return the id of a line, if lines have ids, and its links.

        Either all lines have an id and a tab, or none: the first line decides. A tab with nothing
        behind it may also follow the links of a line without id, `0-0 1-1<TAB>`, unless lines have
        ids. In the first line that is only clear if there are several links before it, or nothing.
        """
        head, tab, body = line.partition("\t")
        words = head.split()
        links = list(map(_LINK.fullmatch, words))
        if tab and not body.strip() and not self._have_ids:
            clearly_no_id = len(words) != 1 and all(links)
            if clearly_no_id or self._have_ids is False:
                self._have_ids = False
                return None, line
        if self._have_ids is None:
            self._have_ids = bool(tab)
        if self._have_ids != bool(tab):
            message = "either every line has an id and a tab before its links, or none"
            raise self._reading.error(message, number)
        if not tab:
            return None, line
        if "\t" in body or any(links):
            raise self._reading.error(
                f"is {head[:40]!r} before the tab an id or a link? Separate links by "
                "spaces, and give ids that do not look like links",
                number,
            )
        return self._reading.without_controls(head.strip(), number), body

    def finish(self) -> None:
        """Check that nothing is left in the file of weights."""
        self._weights.finish()

    def _text_of(self, id: str, text: PairText) -> PairText:
        """Return the texts of a line of links that has an id: without the id, or by their order.

        The first line decides whether the texts have ids, too.
        """
        declared = self._reading.options.text_ids is False
        is_first = self._texts_lack_ids is None
        if self._texts_lack_ids is None:
            self._texts_lack_ids = not self._have_text_ids(id, text, declared)
        if not self._texts_lack_ids:
            return _without_id(id, text, self._reading)
        if not declared:
            self._check_next(id, text)
        if is_first and not self._reading.silent:
            _LOGGER.warning(
                "%s: the texts have no ids; their sentences belong to the links in the same order",
                self._reading.path,
                extra={"note": True},
            )
        return text

    def _have_text_ids(self, id: str, text: PairText, declared: bool) -> bool:
        """Return whether texts have ids, by the first of them and the id of its links.

        They do if the reader of the texts found an id, or the id and a tab stand in a text. If they
        are not `declared` to have none, any tab counts as the end of an id: maybe a wrong one.
        """
        if text.id is not None or text.snum is not None:
            return True
        both = text.source + text.target
        return f"{id}\t" in both or (not declared and "\t" in both)

    def _check_next(self, id: str, text: PairText) -> None:
        """Refuse an id that does not show that links and texts have the same order."""
        number = int(id) if id.isascii() and id.isdigit() and len(id) < 10 else -1
        allowed = (0, 1) if self._next is None else (self._next,)
        if number not in allowed:
            raise self._reading.error(
                f"expected the id {id[:40]!r} and a tab before the words, as before the links "
                "(for texts without ids in the same order, use --text-ids no, text_ids=False)",
                text.line,
                path=self._reading.options.source or "",
            )
        self._next = number + 1


class _Weights:
    """The lines of the file with the weights, if there is one."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._path = reading.options.link_weights
        self._lines: Iterator[tuple[int, str]] = iter(())
        if self._path is not None:
            self._lines = reading.lines(self._path)

    def added(self, links: list[RawLink], id: str | None, number: int) -> list[RawLink]:
        """Return the links of a line with the weights on the next line of the file."""
        if self._path is None:
            return links
        at, line = next(self._lines, (None, ""))
        if at is None:
            message = f"has fewer lines than {self._reading.path}, which has a line {number}"
            raise self._reading.error(message, path=self._path)
        head, tab, body = line.partition("\t")
        if not tab or head.strip() != id:
            body = line
        texts = body.replace(",", " ").split()
        if len(texts) != len(links):
            message = (
                f"{len(texts)} numbers for {len(links)} links in {self._reading.path}:{number}"
            )
            raise self._reading.error(message, at, path=self._path)
        weighted = []
        for link, text in zip(links, texts, strict=True):
            if link.weight is not None:
                raise self._reading.error("links have weights here, too", number)
            weight = _finite(text, "a link", at, self._reading, self._path)
            weighted.append(link._replace(weight=weight))
        return weighted

    def finish(self) -> None:
        """Refuse lines that are left."""
        left = next(self._lines, None)
        if left is not None and self._path is not None and not self._reading.options.partial:
            message = f"has more lines than {self._reading.path}"
            raise self._reading.error(message, left[0], path=self._path)


def _without_id(id: str, text: PairText, reading: Reading) -> PairText:
    """Return the texts of a pair without its id, which each line must begin with."""
    if text.id == id:
        return text
    source_path = reading.options.source or ""
    target_path = reading.options.target or source_path
    sides: list[str] = []
    for line, path in ((text.source, source_path), (text.target, target_path)):
        head, tab, body = line.partition("\t")
        if not tab or head.strip() != id:
            message = f"expected the id {id[:40]!r} and a tab before the words, as before the links"
            raise reading.error(message, text.line, path=path)
        sides.append(body)
    source, target = sides
    return text._replace(source=source, target=target)


def read_link(token: str, line: str, number: int, reading: Reading) -> RawLink:
    """Read a link in any of its forms, from line `number` of a file."""
    match = _LINK.fullmatch(token)
    if match is None or token.upper().count("NULL") > 1:
        message = f"{token[:40]!r} is not a link; expected i-j, i?j, ipj, i-jS, i-jP or i-j-P"
        raise reading.error(message, number, max(line.find(token), 0) + 1)
    i, mark, j, letter, scores = match.groups()
    status: Status = "possible"
    if mark == "-" and letter not in ("P", "p"):
        status = "sure"
    weight = None
    if scores is not None:
        first, colon, second = scores.partition(":")
        weight = _finite(first, token, number, reading)
        if colon:
            _finite(second, token, number, reading)
            reading.note("second score of a link", f"{second} of {i}-{j} is left out", number)
    return RawLink(_position(i), _position(j), status, number, weight)


def _position(text: str) -> int | None:
    """Return a position; None is the empty word, NULL."""
    if text.isdigit():
        return int(text)
    return None


def _finite(text: str, token: str, number: int, reading: Reading, path: str = "") -> float:
    """Read the score of a link."""
    value = math.nan
    if _NUMBER.fullmatch(text):
        value = float(text)
    if not math.isfinite(value):
        link = token.partition(":")[0]
        message = f"{text[:40]!r} of {link[:40]} is not a finite number"
        raise reading.error(message, number, path=path)
    return value


def _write(writing: Writing) -> None:
    """Write a line for each pair, and its words if there are files for them."""
    options = writing.options
    if options.ids and options.source and not options.target:
        raise OptionError("a bitext has no ids: give a file for the target words too")
    with writing.open() as links, writing.open_texts() as texts:
        for number, pair in enumerate(writing.pairs, 1):
            prefix = id_before(pair, number, writing)
            text = notation(writing.alignment_or_empty(pair), writing)
            links.write(f"{prefix}{text}\n")
            if texts.wanted:
                texts.write(pair.id, *writing.words(pair), before=prefix)


def id_before(pair: SentencePair, number: int, writing: Writing) -> str:
    """Return the id and the tab that a line begins with; empty if no ids are asked for."""
    if not writing.options.ids:
        if pair.id != str(number):
            writing.lost["ids"] += 1
        return ""
    if not is_word(pair.id) or _LINK.fullmatch(pair.id):
        raise AlignkitError(
            f"the id {pair.id[:40]!r} is not one word, or looks like a link, and "
            "cannot be written in this format"
        )
    return f"{pair.id}\t"


def notation(alignment: Alignment, writing: Writing) -> str:
    """Return the links of an alignment, with weights if asked for."""
    tails: dict[Link, str] = {}
    if writing.options.weights:
        for link, weight in alignment.weights.items():
            if math.isfinite(weight):
                tails[link] = f":{float(weight)!r}"
        if len(tails) < len(alignment.weights):
            writing.lost["weights"] += 1
    links = []
    for link, sure in alignment.items():
        mark = "-" if sure else "?"
        links.append(f"{link.i + writing.base}{mark}{link.j + writing.base}{tails.get(link, '')}")
    return " ".join(links)


# The links in a text of any kind. Unlike `_LINK`, which reads the tokens of a file that is known to
# have links, it takes no NULL-NULL, no letters behind NULL, and no third number.
_LINKS_IN_TEXT = re.compile(
    r"(?<!\S)(?:[0-9]{1,9}[-?p](?:[0-9]{1,9}(?:-?[SP])?|NULL)|NULL-[0-9]{1,9})"
    r"(?::[^\s:]+){0,2}(?!\S)",
    re.IGNORECASE,
)
# tokens that may be links with a mistake: 1:2, 0--1, 3_4, 0-1x
_LIKE_A_LINK = re.compile(r"(?<!\S)[0-9]+[^\sA-Za-z]*[-?pP_:,./][^\sA-Za-z]*[0-9]+\S{0,2}(?!\S)")


def are_any_links(text: str) -> bool:
    """Return whether a text has only links, in any form, or nothing."""
    return not _LINKS_IN_TEXT.sub("", text).strip()


def _sniff(head: Head) -> Likeness:
    """Count the first lines that have links, which may all begin with an id and a tab.

    Sure: all tokens are links. Likely: in half of the lines, half of the tokens are, so that some
    lines may be damaged. Maybe: more than half of the tokens of the first line are like links.
    """
    if head.width > 2:
        return Likeness.NO
    rows = [row for row in head.rows if len(row) == head.width]
    tokens = 0
    links = 0
    fitting = 0
    for row in rows:
        tokens_of_row = len(row[-1].split())
        links_of_row = len(_LINKS_IN_TEXT.findall(row[-1]))
        tokens += tokens_of_row
        links += links_of_row
        if links_of_row * 2 >= tokens_of_row:
            fitting += 1
    all_alike = len(rows) == len(head.rows)
    if not tokens and head.width == 1 and all_alike:
        return Likeness.LIKELY  # empty lines are alignments without links
    if links and links == tokens and all_alike:
        return Likeness.SURE
    if links and fitting * 2 >= len(head.rows):
        return Likeness.LIKELY
    first = head.columns[-1]
    if len(_LIKE_A_LINK.findall(first)) * 2 > len(first.split()):
        return Likeness.MAYBE
    return Likeness.NO


FORMAT = Format(
    _sniff,
    _parse,
    _write,
    pairs=_pairs,
    blocks=_link_blocks,
    text_beside=True,
    weights_beside=True,
    holds=kinds("no text, possible, empty"),
    asked=frozenset({"ids", "weights"}),
)
