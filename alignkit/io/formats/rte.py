"""The alignments of the RTE-2 development set [rte].

Specification
-------------
GIZA's A3 with possible links; three lines a pair, here folded to the width of this page::

    # sentence pair 1
    The old mill burned down on Monday .
    NULL ({ / / }) A ({ p1 / / }) mill ({ 3 p2 / / }) was ({ / / }) destroyed ({ 4 5 / / })
    . ({ 8 / / })

- The second line is the text, the source; the third is the hypothesis, the target, each word with
  the 1-based positions of the words of the text that are aligned to it. ``p`` before a position
  makes the link possible only. With ``--transpose`` the text is the target.
- Brackets end in the tail ``/ /``.
- Positions behind NULL are explicit nulls. A word with empty brackets is just unaligned.
- The number in the header is the pair's id.
- The very last bracket of a file may lack its ``)``, as in one original file; this is counted.

Nulls are written of source words only. Ids that are no whole numbers are replaced; pairs that are
not annotated are left out.

References
----------
Brockett 2007, "Aligning the RTE 2006 corpus", Microsoft Research MSR-TR-2007-77.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from alignkit.io.format import Format
from alignkit.io.formats.three_lines import LineBlock, read_blocks, write_blocks
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record, Status

_HEADER = re.compile(r"# sentence pair ([0-9]{1,9})")
_POSITION = re.compile(r"(p?)([0-9]{1,9})")
_TAIL = ["/", "/"]


def _parse(reading: Reading) -> Iterator[Record]:
    for block in read_blocks(reading, _HEADER, "# sentence pair N", mend=partial(_mend, reading)):
        with reading.refusing():
            yield _record(block, reading)


def _mend(reading: Reading, text: str, line: int) -> str:
    if not text.rstrip().endswith(" / / }"):
        return text
    reading.note("missing parenthesis", "the last bracket of the file lacks its ')'", line)
    return text.rstrip() + ")"


def _record(block: LineBlock, reading: Reading) -> Record:
    source, target = block.plain, tuple(word.word for word in block.words)
    links = [RawLink(i, None, status) for i, status in _positions(block.nulls, block, reading)]
    for j, word in enumerate(block.words, start=reading.base):
        links += (RawLink(i, j, status) for i, status in _positions(word.items, block, reading))
    if reading.options.transpose:
        source, target = target, source
    annotations = {reading.name: RawAnnotation(links)}
    return Record(block.header[1], block.line, source, target, annotations)


def _positions(
    items: Sequence[str], block: LineBlock, reading: Reading
) -> Iterator[tuple[int, Status]]:
    line = block.line + 2
    if items[-2:] != _TAIL:
        raise reading.error(f"brackets end in {' '.join(items[-2:])[:40]!r}, expected '/ /'", line)
    for item in items[:-2]:
        match = _POSITION.fullmatch(item)
        if match is None:
            raise reading.error(
                f"{item[:40]!r} in brackets, expected the position of a word, perhaps with a p "
                "before it",
                line,
            )
        yield int(match[2]), "possible" if match[1] else "sure"


FORMAT = Format(
    parse=_parse,
    write=partial(
        write_blocks,
        header=lambda _, number: f"# sentence pair {number}",
        bracketed=1,
        possible="p",
        tail="/ / ",
    ),
    holds=frozenset({"text", "possible", "nulls", "possible nulls", "empty"}),
    base=1,
)
