"""The A3 files of GIZA++ [giza].

Specification
-------------
Three lines a sentence pair::

    # Sentence pair (1) source length 3 target length 4 alignment score : 0.0123
    elles sont parties hier
    NULL ({ }) they ({ 1 }) left ({ 2 3 }) yesterday ({ 4 })

- The third line is the source, each word with the 1-based positions of the words of the second
  line, the target, that are aligned to it. ``--transpose`` exchanges the sides, words and links
  together.
- Positions behind NULL are explicit nulls. A word with empty brackets is just unaligned.
- A position in the brackets of several words is read as several links.
- The number in the header is the pair's id; it may repeat. Both lengths must be those of the
  lines. The score, which may be missing, is kept as the attribute ``score``. A small ``s`` and
  other spaces in the header are read too.

Links are written without their status, and nulls of target words only. Ids that are no whole
numbers are replaced; pairs that are not annotated are left out.

References
----------
Och & Ney 2003, "A systematic comparison of various statistical alignment models", Computational
Linguistics 29(1):19-51; the README of GIZA++, part V.B "alignment file".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from alignkit.io.format import Format
from alignkit.io.formats.three_lines import LineBlock, read_blocks, write_blocks
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record
from alignkit.model.sentence_pair import SentencePair

_HEADER = re.compile(
    r"#\s*sentence pair\s*\(([0-9]{1,9})\)\s+source length\s+([0-9]{1,9})"
    r"\s+target length\s+([0-9]{1,9})(?:\s+alignment(?:\s+score\s*:\s*(\S+))?)?",
    re.IGNORECASE,
)
_SHAPE = "# Sentence pair (N) source length L target length M alignment score : S"
_POSITION = re.compile(r"[0-9]{1,9}")


def _parse(reading: Reading) -> Iterator[Record]:
    for block in read_blocks(reading, _HEADER, _SHAPE):
        with reading.refusing():
            yield _record(block, reading)


def _record(block: LineBlock, reading: Reading) -> Record:
    source, target = tuple(word.word for word in block.words), block.plain
    links = [RawLink(None, j) for j in _positions(block.nulls, block, reading)]
    for i, word in enumerate(block.words, start=reading.base):
        links += (RawLink(i, j) for j in _positions(word.items, block, reading))
    counts = len(source), len(target)
    declared = int(block.header[2]), int(block.header[3])
    if counts != declared:
        raise reading.error(
            f"{counts[0]} source and {counts[1]} target words, but the header says "
            f"{declared[0]} and {declared[1]}",
            block.line,
        )
    if reading.options.transpose:
        source, target = target, source
    attributes = {} if block.header[4] is None else {"score": block.header[4]}
    annotations = {reading.name: RawAnnotation(links)}
    return Record(block.header[1], block.line, source, target, annotations, attributes)


def _positions(items: Sequence[str], block: LineBlock, reading: Reading) -> Iterator[int]:
    for item in items:
        if not _POSITION.fullmatch(item):
            raise reading.error(
                f"{item[:40]!r} in brackets, expected the position of a word", block.line + 2
            )
        yield int(item)


def _header(pair: SentencePair, number: str) -> str:
    source, target = pair.lengths
    score = pair.attributes.get("score", "")
    scored = f" alignment score : {score}" if score.split() == [score] else ""
    return f"# Sentence pair ({number}) source length {source} target length {target}{scored}"


FORMAT = Format(
    parse=_parse,
    write=partial(write_blocks, header=_header, bracketed=0),
    holds=frozenset({"text", "nulls", "empty", "attribute score"}),
    base=1,
)
