"""The word alignments of the LDC, as in the GALE releases (``.wa``) [ldc].

Specification
-------------
One line per sentence pair, with groups of words and their types::

    1,2-1(SEM) 3[DET]-2(GIS) 4-(NTR) -3(NTR) 5-4

- A group has positions of the source, a hyphen, positions of the target, and in parentheses its
  type, which may be missing. Positions count from 1 and are separated by commas; spaces may stand
  in place of the hyphen, ``1 2(SEM)``.
- Each word of one side is linked to each of the other. All links are sure, and have the type as
  their label; ``(COR/SEM)`` is one type.
- A side without positions, or with the position 0 alone, is the empty word: the words of the other
  side are aligned to nothing.
- ``3[DET]`` gives word 3 a tag. If the words are known, the tags become the columns ``source.tag``
  and ``target.tag``; else they are left out, and counted.
- An empty line is an alignment without links. A line ``rejected`` or ``rej`` is a pair that was not
  annotated; it has the attribute ``status``.

The words are in separate files, such as the ``.tkn`` of the releases
(`alignkit.io.parallel_text`), or missing. A pair's id is the number of its line, from 1. The files
of the LDC Word Aligner itself, with ``<sentence id="1" status="">``, are read as `ists`.

The format is read-only.

References
----------
Li, Ge, Grimes, Strassel & Maeda 2010, "Enriching word alignment with linguistic tags", LREC.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.parallel_text import IF_PARTIAL, PairText, read_texts
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record, block
from alignkit.io.sniffing import Head, Likeness
from alignkit.model.alignment import SIDES

_WORD = r"[0-9]{1,9}(?:\[[^\]\s]*\])?"
_WORDS = rf"{_WORD}(?:,{_WORD})*,?"
_GROUP = re.compile(rf"(?P<source>{_WORDS}|,?)-(?P<target>{_WORDS}|,?)(?:\((?P<type>[^()\s]*)\))?")
_LEFT = re.compile(_WORDS)
_RIGHT = re.compile(rf"(?P<target>{_WORDS})\((?P<type>[^()\s]*)\)")
_POSITION = re.compile(r"([0-9]+)(?:\[([^\]]*)\])?")
_REJECTED = re.compile(r"rej(ect(ed)?)?", re.IGNORECASE)

_Tags = tuple[dict[int, str], dict[int, str]]


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield the pair of each line, with its words if there are texts."""
    texts = read_texts(reading)
    if texts is None:
        for number, line in reading.lines():
            with reading.refusing(number):
                yield _record(reading, number, line, None)
        return
    for row, text in zip_longest(reading.lines(), texts):
        if row is None:
            if reading.options.partial:
                return
            raise reading.error(
                f"has fewer lines than {reading.options.source} has sentences", advice=IF_PARTIAL
            )
        number, line = row
        if text is None:
            known = f"{reading.options.source} has {number - 1} sentences"
            raise reading.error(f"has more lines, but {known}", number)
        with reading.refusing(number):
            yield _record(reading, number, line, text)


def _record(reading: Reading, number: int, line: str, text: PairText | None) -> Record:
    """Return the pair of a line."""
    record = Record(str(number), number)
    if text is not None:
        record.source, record.target = text.words
        record.attributes = text.attributes
        record.id = text.id or record.id
    if _REJECTED.fullmatch(line.strip()):
        record.attributes["status"] = line.strip()
        reading.note("rejected, without an alignment", f"pair {record.id}", number)
        return record
    tags: _Tags = ({}, {})
    record.annotations[reading.name] = RawAnnotation(_links(reading, line, number, tags))
    sides = (record.source, record.target)
    for side, words, given in zip(SIDES, sides, tags, strict=True):
        if given and words is None:
            reading.note("tags of words left out", f"no words of the {side}", number)
        elif given and words is not None:
            column = [given.get(k, "_") for k in range(reading.base, reading.base + len(words))]
            record.attributes[f"{side}.tag"] = "\t".join(column)
    return record


def _links(reading: Reading, line: str, number: int, tags: _Tags) -> list[RawLink]:
    """Read the groups of a line; the tags of words are added to `tags`."""
    links: list[RawLink] = []
    tokens = line.split()
    at = 0
    while at < len(tokens):
        group = _GROUP.fullmatch(tokens[at])
        if group is not None:
            source = group["source"]
            at += 1
        else:
            group = _RIGHT.fullmatch("".join(tokens[at + 1 : at + 2]))
            if group is None or not _LEFT.fullmatch(tokens[at]):
                column = max(line.find(tokens[at]), 0) + 1
                message = f"{tokens[at][:40]!r} is not a group; expected i,i-j,j(TYPE)"
                raise reading.error(message, number, column)
            source = tokens[at]
            at += 2
        first, second = tags[::-1] if reading.options.transpose else tags
        sources = _positions(source, first, reading.base)
        targets = _positions(group["target"], second, reading.base)
        if sources == targets == [None]:
            raise FormatError(f"group {group[0][:40]!r} has no words on either side")
        links += block(sources, targets, "sure", number, group["type"] or None)
    return links


def _positions(text: str, tags: dict[int, str], base: int) -> Sequence[int | None]:
    """Return the positions of a side, [None] for the empty word; add their tags to `tags`."""
    positions: list[int | None] = []
    for digits, tag in _POSITION.findall(text):
        position = int(digits)
        if tag:
            tags[position] = tag
        positions.append(position)
    if not positions or (positions == [0] and base == 1):
        return [None]
    return positions


_TYPED = re.compile(rf"(?<!\S)(?:{_WORDS}|,?)[-\s](?:{_WORDS}|,?)\([^()\s]*\)(?!\S)")


def _sniff(head: Head) -> Likeness:
    """Count the groups with a type among the first lines."""
    groups = 0
    tokens = 0
    for line in head.lines:
        if not _REJECTED.fullmatch(line.strip()):
            groups += len(_TYPED.findall(line))
            tokens += len(line.split())
    if not groups or groups * 2 < tokens:
        return Likeness.NO
    return Likeness.SURE


FORMAT = Format(
    _sniff,
    _parse,
    text_beside=True,
    base=1,
    holds=kinds("no text, nulls, labels, other labels, absent, empty, attributes"),
)
