"""The chunk alignments of interpretable STS [ists].

Specification
-------------
Records that look like XML but are not (``<==>``); they are read line by line::

    <sentence id="1" status="">
    // A cat sleeps .
    // The cat naps .
    <source>
    1 A :
    2 cat :
    3 sleeps :
    4 . :
    </source>
    <translation>
    1 The :
    2 cat :
    3 naps :
    4 . :
    </translation>
    <alignment>
    1 2 <==> 1 2 // SPE2 // 4 // A cat <==> The cat
    3 <==> 3 // SIMI // 4 // sleeps <==> naps
    4 <==> 0 // NOALI // NIL // . <==> -not aligned-
    0 <==> 4 // NOALI // NIL // -not aligned- <==> .
    </alignment>
    </sentence>

- Positions count from 1; 0 alone is the empty word. A chunk pair is a block of sure links; the
  words of a chunk aligned to 0 are explicit nulls.
- Links have the label ``TYPE SCORE``, such as ``SPE2 4``, or ``TYPE`` if the score is NIL.
  ``NOALI`` or ``NIL`` with NIL is not a label.
- ``NOALI`` between words of both sides makes all of them nulls, and is counted.
- Chunks may share words (the M:N alignments of 2016). If a pair of words has two labels, the first
  is kept, and this is counted.
- The words after the score repeat the chunks, or are missing; differences are counted.
- The two ``//`` lines are the raw sentences, or missing. A sentence that differs from its tokens
  becomes the attribute ``source text`` or ``target text``; a non-empty status becomes ``status``.
- A record without ``<alignment>`` is not annotated.
- A broken record is reported; reading continues at the next ``<sentence``.

The files of the LDC Word Aligner (GALE) have the same records, with these differences::

    1 cat : MEA
    1 2 <==> 1 // SEM // the cat <==> chat
    0 <==> 4 // NT // <not translated> <==> ,

- A word may have a tag, or several; the tags of a side become its column ``source.tag`` or
  ``target.tag``.
- A chunk pair has a type and no score; the type is the label of its links and nulls.
- A record with the status ``rejected`` and no chunk pairs is not annotated.

Chunk pairs are written as in yawat, and chunks aligned to nothing as runs of words. Labels of
another form, the status of possible links, and ids with a line break are lost.

References
----------
Agirre et al. 2016, "SemEval-2016 task 2: interpretable semantic textual similarity".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.formats.yawat import MOST_CELLS, Group, group_cells
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record
from alignkit.io.sniffing import Head, Likeness
from alignkit.io.text_files import Line
from alignkit.io.writing import Writing
from alignkit.model.alignment import NULL, SIDES, Alignment, Link
from alignkit.model.sentence_pair import SentencePair, word_column
from alignkit.model.texts import split_words

_HEAD = re.compile(r'<sentence\s+id\s*=\s*"(.*?)"(?:\s+status\s*=\s*"([^"]*)")?\s*>')
_NUMBERS = re.compile(r"[0-9]{1,9}(?:\s+[0-9]{1,9})*", re.ASCII)
_LABEL = re.compile(r"(\S+)(?: ([0-9]{1,4}(?:\.[0-9]{1,9})?))?")
_SCORE = re.compile(r"NIL|[0-9]{1,4}(?:\.[0-9]{1,9})?")
_PLAIN = ("NOALI NIL", "NIL NIL")  # types and scores that add nothing to the alignment itself
_MISSING = "-not aligned-"
_NOT_TRANSLATED = "<not translated>"  # what LDC's files have for it
_SIDES = ("source", "translation")
_COLUMNS = dict(zip(_SIDES, SIDES, strict=True))
_TEXTS = ("source text", "target text")


def _parse(reading: Reading) -> Iterator[Record]:
    lines: list[Line] = []
    for number, text in chain(reading.lines(), [(0, "<sentence")]):
        # a new record starts at <sentence, whatever came before
        if lines and (text.startswith("<sentence") or lines[-1][1].strip() == "</sentence>"):
            with reading.refusing():
                yield _Sentence(lines, reading).record()
            lines = []
        if lines or text.strip():
            lines.append((number, text))


class _Sentence:
    """Reads one record, from its first to its last line."""

    def __init__(self, lines: Sequence[Line], reading: Reading) -> None:
        self._lines = lines
        self._reading = reading
        self._at = 0
        self._tags: dict[str, list[str]] = {}

    def record(self) -> Record:
        """Return the record, or raise the first error in it."""
        head = _HEAD.fullmatch(self._text())
        if head is None:
            raise self._error('<sentence id="..." status="...">')
        line = self._lines[0][0]
        self._at = 1
        raw: list[str] = []
        while self._text().startswith("//"):
            raw.append(self._text()[2:].strip())
            self._at += 1
        if len(raw) not in (0, 2):
            raise self._error("two lines '// sentence'")
        source = self._words("source")
        target = self._words("translation")
        annotations = {}
        if self._text() == "<alignment>":
            links: list[RawLink] = []
            self._at += 1
            while self._text() != "</alignment>":
                links += self._chunk_pair((source, target), MOST_CELLS - len(links))
                self._at += 1
            self._at += 1
            if links or head[2] != "rejected":
                annotations = {self._reading.name: RawAnnotation(links)}
        self._expect("</sentence>")
        record = Record(head[1], line, source, target, annotations)
        for side, tags in self._tags.items():
            if any(tags):
                record.attributes[f"{side}.tag"] = "\t".join(tag or "_" for tag in tags)
        if head[2]:
            record.attributes["status"] = head[2]
        for name, text, tokens in zip(_TEXTS, raw, (source, target), strict=False):
            if text and split_words(text) != list(tokens):
                record.attributes[name] = text
        return record

    def _text(self) -> str:
        """Return the next line; empty at the end of the record."""
        if self._at < len(self._lines):
            return self._lines[self._at][1].strip()
        return ""

    def _error(self, expected: str) -> FormatError:
        """Return an error that quotes the next line."""
        if self._at == len(self._lines):
            number = self._lines[-1][0]
            what = "the record ends here"
        else:
            number = self._lines[self._at][0]
            what = repr(self._text()[:40])
        return self._reading.error(f"{what}, expected {expected!r}", number)

    def _expect(self, text: str) -> None:
        if self._text() != text:
            raise self._error(text)
        self._at += 1

    def _words(self, side: str) -> tuple[str, ...]:
        """Read the words of a side, one a line."""
        self._expect(f"<{side}>")
        words: list[str] = []
        tags: list[str] = []
        while self._text() != f"</{side}>":
            number = str(self._reading.base + len(words))
            parts = split_words(self._text())
            if len(parts) < 3 or parts[0] != number or parts[2] != ":":
                raise self._error(f"{number} word :' or '</{side}>")
            words.append(parts[1])
            tags.append(",".join(parts[3:]))
            self._at += 1
        self._at += 1
        self._tags[_COLUMNS[side]] = tags
        return tuple(words)

    def _chunk_pair(self, words: tuple[Sequence[str], Sequence[str]], most: int) -> list[RawLink]:
        """Read a line of the alignment, with `most` pairs of words at most."""
        left, arrow, rest = self._text().partition("<==>")
        if not arrow or rest.count("//") < 2:
            raise self._error("i i <==> j j // TYPE // SCORE // words <==> words")
        right, kind, rest = map(str.strip, rest.split("//", 2))
        score, has_quotation, quoted = rest.partition("//")
        score = score.strip()
        has_divider = any("//" in word for word in (*words[0], *words[1]))
        if "<==>" in score or (has_divider and not score):  # LDC's, which have no score
            score = "NIL"
            has_quotation = "//"
            quoted = rest.replace(_NOT_TRANSLATED, _MISSING)
        if len(kind.split()) != 1 or not _SCORE.fullmatch(score):
            raise self._error("// TYPE // SCORE //, with a number or NIL as the score")
        line = self._lines[self._at][0]
        sources = self._positions(left.strip())
        targets = self._positions(right)
        if sources == targets == [None]:
            raise self._error("words on at least one side")
        if len(sources) * len(targets) > most:
            raise self._error(f"at most {MOST_CELLS} pairs of words")
        if has_quotation:
            first, second = words[::-1] if self._reading.options.transpose else words
            expected = f"{self._chunk(sources, first)} <==> {self._chunk(targets, second)}"
            if split_words(quoted) != split_words(expected):
                message = f"{quoted.strip()[:40]!r}, but the positions say {expected[:40]!r}"
                self._reading.note("chunk words differ", message, line)
        label: str | None = f"{kind} {score}"
        if label in _PLAIN:
            label = None
        elif score == "NIL":
            label = kind
        cells = list(product(sources, targets))
        if kind == "NOALI" and None not in sources + targets:
            self._reading.note("NOALI with words on both sides", "read as aligned to nothing", line)
            cells = [(i, None) for i in sources]
            cells += [(None, j) for j in targets]
        return [RawLink(i, j, "sure", line, label=label) for i, j in cells]

    def _positions(self, text: str) -> list[int | None]:
        """Read the positions of a chunk; None is the empty word."""
        if not _NUMBERS.fullmatch(text):
            raise self._error("positions, separated by spaces, on both sides of <==>")
        if text == "0" and self._reading.base == 1:
            return [None]
        return [*map(int, text.split())]

    def _chunk(self, positions: list[int | None], tokens: Sequence[str]) -> str:
        """Return the words at some positions; nothing for those outside the sentence."""
        words = []
        for position in positions:
            if position is not None:
                place = position - self._reading.base
                words.append(tokens[place] if 0 <= place < len(tokens) else "")
        return " ".join(words) or _MISSING


def _write(writing: Writing) -> None:
    with writing.open() as stream:
        for count, pair in enumerate(writing.pairs, start=1):
            text = "\n".join(_record_lines(pair, count, writing))
            stream.write(writing.without_marks(text))


def _record_lines(pair: SentencePair, count: int, writing: Writing) -> list[str]:
    """Return the lines of a pair, which is number `count` of the file."""
    sentences = writing.words(pair)
    id = pair.id
    if len(id.splitlines()) > 1:
        id = str(count)
        writing.lost["ids"] += 1
    status = _kept(pair.attributes, "status", writing)
    if '"' in status:
        writing.lost["attribute status"] += 1
        status = ""
    lines = [f'<sentence id="{id}" status="{status}">']
    for name, sentence in zip(_TEXTS, sentences, strict=True):
        lines.append(f"// {_kept(pair.attributes, name, writing) or sentence}")
    for side, tokens in zip(_SIDES, pair.words, strict=True):
        lines.append(f"<{side}>")
        tags = _tags(pair, _COLUMNS[side], len(tokens), writing)
        numbers = range(writing.base, writing.base + len(tokens))
        for k, token, tag in zip(numbers, tokens, tags, strict=True):
            lines.append(f"{k} {token} : {tag}")
        lines.append(f"</{side}>")
    alignment = writing.alignment(pair)
    if alignment is not None:
        lines.append("<alignment>")
        lines += _notation(alignment, pair.words, writing)
        lines.append("</alignment>")
    lines.append("</sentence>\n\n\n")
    return lines


def _tags(pair: SentencePair, side: str, count: int, writing: Writing) -> list[str]:
    """Return the tags of the words of a side as written, empty ones where there are none."""
    column = word_column(pair, side, "tag")
    if column is None:
        return [""] * count
    tags = [tag if len(tag.split()) == 1 and tag != "_" else "" for tag in column]
    if any(tag not in ("", "_") for tag, kept in zip(column, tags, strict=True) if not kept):
        writing.lost[f"attribute {side}.tag"] += 1
    return tags


def _kept(attributes: Mapping[str, str], name: str, writing: Writing) -> str:
    """Return an attribute as one line; what this changes is counted as lost."""
    text = attributes.get(name, "")
    if text != text.strip() or len(text.splitlines()) > 1:
        writing.lost[f"attribute {name}"] += 1
        text = " ".join(text.split())
    return text


def _notation(
    alignment: Alignment, words: tuple[Sequence[str], Sequence[str]], writing: Writing
) -> Iterator[str]:
    """Yield the chunk pairs of an alignment."""
    first, second = words[::-1] if writing.options.transpose else words
    labels: dict[Link, str] = {}
    kept: dict[Link, str] = {}  # the labels that will be read again
    for link in (*alignment, *writing.nulls(alignment)):
        label = _label(link, alignment)
        labels[link] = label
        if label not in _PLAIN:
            kept[link] = label.removesuffix(" NIL")
    if any(kept.get(link) != text for link, text in alignment.labels.items()):
        writing.lost["labels"] += 1
    for group in _joined(group_cells(labels.items())):
        kind, score = group.label.split()
        sources = " ".join(str(i + writing.base) for i in group.sources) or "0"
        targets = " ".join(str(j + writing.base) for j in group.targets) or "0"
        chunk = " ".join(first[i] for i in group.sources) or _MISSING
        other = " ".join(second[j] for j in group.targets) or _MISSING
        yield f"{sources} <==> {targets} // {kind} // {score} // {chunk} <==> {other} "


def _label(link: Link, alignment: Alignment) -> str:
    """Return the type and the score of a link, as written."""
    none = "NOALI NIL" if NULL in link else "NIL NIL"
    match = _LABEL.fullmatch(alignment.labels.get(link, ""))
    if match is None:
        return none
    kind, score = match.groups()
    if "//" in kind or "<==>" in kind or (kind == "NOALI" and NULL not in link):
        return none
    return f"{kind} {score or 'NIL'}"


def _joined(groups: Iterable[Group]) -> list[Group]:
    """Join neighbouring null-aligned words of one side into one chunk, by label."""
    joined: list[Group] = []
    for group in sorted(groups, key=lambda g: (bool(g.sources), bool(g.targets), g)):
        if joined and _goes_on(joined[-1], group):
            last = joined.pop()
            sources = last.sources + group.sources
            targets = last.targets + group.targets
            joined.append(Group(sources, targets, group.label))
        else:
            joined.append(group)
    return joined


def _goes_on(last: Group, group: Group) -> bool:
    """Return whether two groups are null-aligned words of one side, next to each other."""
    if last.label != group.label:
        return False
    if not last.targets and not group.targets:
        return last.sources[-1] + 1 == group.sources[0]
    if not last.sources and not group.sources:
        return last.targets[-1] + 1 == group.targets[0]
    return False


_HOLDS = kinds(
    "text, ids, nulls, labels, other labels, empty, absent, "
    "attribute status, attribute source text, attribute target text",
    "tag",
)
_BEGINS = re.compile(r"<sentence\s+id\s*=")


def _sniff(head: Head) -> Likeness:
    """Look for the first line of a record, or else for what comes after it."""
    if _BEGINS.match(head.text):
        return Likeness.SURE
    if head.text[:1] == "<" and ("<==>" in head.text or "translation" in head.elements):
        return Likeness.LIKELY
    return Likeness.NO


FORMAT = Format(_sniff, _parse, _write, holds=_HOLDS, base=1)
