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

Chunk pairs are written as in yawat, and chunks aligned to nothing as runs of words. Labels of
another form, the status of possible links, and ids with a line break are lost.

References
----------
Agirre et al. 2016, "SemEval-2016 task 2: interpretable semantic textual similarity".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.formats.yawat import MOST_CELLS, Group, group_cells
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record
from alignkit.io.writing import Writing
from alignkit.model.alignment import NULL, Alignment, Link
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import split_words

_HEAD = re.compile(r'<sentence\s+id\s*=\s*"(.*?)"(?:\s+status\s*=\s*"([^"]*)")?\s*>')
_NUMBERS = re.compile(r"[0-9]{1,9}(?:\s+[0-9]{1,9})*", re.ASCII)
_LABEL = re.compile(r"(\S+)(?: ([0-9]{1,4}(?:\.[0-9]{1,9})?))?")
_SCORE = re.compile(r"NIL|[0-9]{1,4}(?:\.[0-9]{1,9})?")
_MISSING = "-not aligned-"
_SIDES = ("source", "translation")
_TEXTS = ("source text", "target text")

_Line = tuple[int, str]


def _parse(reading: Reading) -> Iterator[Record]:
    lines: list[_Line] = []
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

    def __init__(self, lines: Sequence[_Line], reading: Reading) -> None:
        self._lines = lines
        self._reading = reading
        self._at = 0

    def record(self) -> Record:
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
        source, target = map(self._words, _SIDES)
        annotations = {}
        if self._text() == "<alignment>":
            links: list[RawLink] = []
            self._at += 1
            while self._text() != "</alignment>":
                links += self._chunk_pair((source, target), MOST_CELLS - len(links))
                self._at += 1
            self._at += 1
            annotations = {self._reading.name: RawAnnotation(links)}
        self._expect("</sentence>")
        attributes = {"status": head[2]} if head[2] else {}
        attributes |= {
            name: text
            for name, text, tokens in zip(_TEXTS, raw, (source, target), strict=False)
            if text and split_words(text) != list(tokens)
        }
        return Record(head[1], line, source, target, annotations, attributes)

    def _text(self) -> str:
        if self._at < len(self._lines):
            return self._lines[self._at][1].strip()
        return ""

    def _error(self, expected: str) -> FormatError:
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
        self._expect(f"<{side}>")
        words: list[str] = []
        while self._text() != f"</{side}>":
            number = str(self._reading.base + len(words))
            parts = split_words(self._text())
            if len(parts) != 3 or parts[0] != number or parts[2] != ":":
                raise self._error(f"{number} word :' or '</{side}>")
            words.append(parts[1])
            self._at += 1
        self._at += 1
        return tuple(words)

    def _chunk_pair(self, words: tuple[Sequence[str], Sequence[str]], most: int) -> list[RawLink]:
        left, arrow, rest = self._text().partition("<==>")
        parts = rest.split("//", 3)
        if not arrow or len(parts) < 3:
            raise self._error("i i <==> j j // TYPE // SCORE // words <==> words")
        kind = parts[1].strip()
        score = parts[2].strip()
        if len(kind.split()) != 1 or not _SCORE.fullmatch(score):
            raise self._error("// TYPE // SCORE //, with a number or NIL as the score")
        base = self._reading.base
        line = self._lines[self._at][0]
        sides: list[list[int | None]] = []
        for part in (left.strip(), parts[0].strip()):
            if not _NUMBERS.fullmatch(part):
                raise self._error("positions, separated by spaces, on both sides of <==>")
            sides.append([None] if part == "0" and base == 1 else [*map(int, part.split())])
        if sides == [[None], [None]]:
            raise self._error("words on at least one side")
        if len(sides[0]) * len(sides[1]) > most:
            raise self._error(f"at most {MOST_CELLS} pairs of words")
        if len(parts) > 3:
            chunks = []
            turned = words[::-1] if self._reading.options.transpose else words
            for side, tokens in zip(sides, turned, strict=True):
                places = [k - base for k in side if k is not None]
                chunk = " ".join(tokens[k] if 0 <= k < len(tokens) else "" for k in places)
                chunks.append(chunk or _MISSING)
            expected = " <==> ".join(chunks)
            if split_words(parts[3]) != split_words(expected):
                message = f"{parts[3].strip()[:40]!r}, but the positions say {expected[:40]!r}"
                self._reading.note("chunk words differ", message, line)
        plain = _plain(f"{kind} {score}")
        label = None if plain else kind if score == "NIL" else f"{kind} {score}"
        cells = [(i, j) for i in sides[0] for j in sides[1]]
        if kind == "NOALI" and None not in sides[0] + sides[1]:
            self._reading.note("NOALI with words on both sides", "read as aligned to nothing", line)
            cells = [(i, None) for i in sides[0]] + [(None, j) for j in sides[1]]
        return [RawLink(*cell, "sure", line, label=label) for cell in cells]


def _write(pairs: Iterable[SentencePair], writing: Writing) -> None:
    with writing.open() as stream:
        for count, pair in enumerate(pairs, start=1):
            words = writing.words(pair)
            id = pair.id
            if len(id.splitlines()) > 1:
                id = str(count)
                writing.lost["ids"] += 1
            status = _kept(pair.attributes, "status", writing)
            if '"' in status:
                writing.lost["attribute status"] += 1
                status = ""
            kept = (_kept(pair.attributes, name, writing) for name in _TEXTS)
            raw = [text or sentence for text, sentence in zip(kept, words, strict=True)]
            lines = [f'<sentence id="{id}" status="{status}">', *(f"// {text}" for text in raw)]
            for side, tokens in zip(_SIDES, pair.words, strict=True):
                rows = (f"{k} {token} : " for k, token in enumerate(tokens, start=writing.base))
                lines += [f"<{side}>", *rows, f"</{side}>"]
            if (alignment := writing.alignment(pair)) is not None:
                chunks = _notation(alignment, pair.words, writing)
                lines += ["<alignment>", *chunks, "</alignment>"]
            text = "\n".join((*lines, "</sentence>\n\n\n"))
            stream.write(writing.without_marks(text))


def _kept(attributes: Mapping[str, str], name: str, writing: Writing) -> str:
    text = attributes.get(name, "")
    if text != text.strip() or len(text.splitlines()) > 1:
        writing.lost[f"attribute {name}"] += 1
        text = " ".join(text.split())
    return text


def _notation(
    alignment: Alignment, words: tuple[Sequence[str], Sequence[str]], writing: Writing
) -> Iterator[str]:
    words = words[::-1] if writing.options.transpose else words
    cells = [*alignment, *writing.nulls(alignment)]
    labels = {link: _label(link, alignment) for link in cells}
    kept = {link: text.removesuffix(" NIL") for link, text in labels.items() if not _plain(text)}
    if any(kept.get(link) != text for link, text in alignment.labels.items()):
        writing.lost["labels"] += 1
    for group in _joined(group_cells(labels.items())):
        kind, score = group.label.split()
        numbers = [" ".join(str(k + writing.base) for k in side) or "0" for side in group[:2]]
        chunks = [
            " ".join(tokens[k] for k in side) or _MISSING
            for side, tokens in zip(group[:2], words, strict=True)
        ]
        yield f"{' <==> '.join(numbers)} // {kind} // {score} // {' <==> '.join(chunks)} "


def _label(link: Link, alignment: Alignment) -> str:
    """Return the type and the score of a link, as written."""
    match = _LABEL.fullmatch(alignment.labels.get(link, ""))
    known = match is not None and not any(mark in match[1] for mark in ("//", "<==>"))
    if match is None or not known or (match[1] == "NOALI" and NULL not in link):
        return "NOALI NIL" if NULL in link else "NIL NIL"
    return f"{match[1]} {match[2] or 'NIL'}"


def _plain(label: str) -> bool:
    """Whether a type and score add nothing to the alignment itself."""
    return label in ("NOALI NIL", "NIL NIL")


def _joined(groups: Iterable[Group]) -> list[Group]:
    """Join neighbouring null-aligned words of one side into one chunk, by label."""
    joined: list[Group] = []
    for group in sorted(groups, key=lambda g: (bool(g.sources), bool(g.targets), g)):
        last = joined[-1] if joined else group
        mine = last[:2]
        theirs = group[:2]
        k = 0 if group.sources else 1
        alone = last.label == group.label and not mine[1 - k] and not theirs[1 - k]
        if alone and mine[k][-1] + 1 == theirs[k][0]:
            sides = last.sources + group.sources, last.targets + group.targets
            joined[-1] = Group(*sides, group.label)
        else:
            joined.append(group)
    return joined


_HOLDS = kinds(
    "text, ids, nulls, labels, other labels, empty, absent, "
    "attribute status, attribute source text, attribute target text"
)
FORMAT = Format(parse=_parse, write=_write, holds=_HOLDS, base=1)
