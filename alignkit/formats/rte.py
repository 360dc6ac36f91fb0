"""Read and write the alignments of the RTE-2 development set [rte].

Specification
-------------
GIZA's A3 with possible links; three lines a pair, here folded to the width of this page::

    # sentence pair 1
    The old mill burned down on Monday .
    NULL ({ / / }) A ({ p1 / / }) mill ({ 3 p2 / / }) was ({ / / }) destroyed ({ 4 5 / / })
    . ({ 8 / / })

- The second line is the text, the source; the third holds the words of the hypothesis, the
  target, each with the 1-based positions of the words of the text that are aligned to it. ``p``
  before a position makes the link possible only. With ``--transpose`` the text is the target.
- Brackets end in the tail ``/ /``.
- Positions behind NULL are words of the text that are explicitly aligned to nothing. A word with
  empty brackets is just unaligned.
- The number in the header is the pair's id.
- The very last bracket of a file may lack its ``)``, as in one of the original files; this is
  forgiven and counted. Byte order marks and CRLF are taken everywhere, as in all formats.

Written are nulls of the source words, not those of the target words; another number where the
id is no whole number; and no pairs that are not annotated.

References
----------
Brockett 2007, "Aligning the RTE 2006 corpus", Microsoft Research MSR-TR-2007-77.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from alignkit.alignment import NULL
from alignkit.errors import FormatError
from alignkit.formats.brackets import Block, read_blocks
from alignkit.formats.format import Format
from alignkit.formats.intake import Reading
from alignkit.formats.naming import Numbering
from alignkit.formats.record import RawAnnotation, RawLink, Record, Status
from alignkit.formats.writing import Writing
from alignkit.sentence_pair import SentencePair

_HEADER = re.compile(r"# sentence pair ([0-9]{1,9})")
_POSITION = re.compile(r"(p?)([0-9]{1,9})")
_TAIL = ["/", "/"]


def _parse(reading: Reading) -> Iterator[Record]:
    for block in read_blocks(reading, _HEADER, "# sentence pair N", mend=partial(_mend, reading)):
        try:
            yield _record(block, reading)
        except FormatError as error:
            reading.refuse(error)


def _mend(reading: Reading, text: str, line: int) -> str:
    if not text.rstrip().endswith(" / / }"):
        return text
    reading.note("missing parenthesis", "the last bracket of the file lacks its ')'", line)
    return text.rstrip() + ")"


def _record(block: Block, reading: Reading) -> Record:
    source, target = block.plain, tuple(word.word for word in block.words)
    links = [RawLink(i, None, status) for i, status in _positions(block.nulls, block, reading)]
    for j, word in enumerate(block.words, start=reading.base):
        links += (RawLink(i, j, status) for i, status in _positions(word.items, block, reading))
    if reading.options.transpose:
        source, target = target, source
    annotations = {reading.name: RawAnnotation(links)}
    return Record(block.header[1], block.line, source, target, annotations)


def _positions(
    items: Sequence[str], block: Block, reading: Reading
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


def _write(pairs: Iterable[SentencePair], writing: Writing) -> None:
    numbering = Numbering(writing.lost, unique=False)
    with writing.open() as stream:
        for written in pairs:
            alignment = writing.alignment(written)
            if alignment is None:
                continue
            pair = written.transpose() if writing.options.transpose else written
            plain = writing.words(pair)[0]
            positions: list[list[str]] = [[] for _ in range(pair.lengths[1] + 1)]  # NULL is last
            nulls = ((null, null in alignment.sure_nulls) for null in sorted(alignment.nulls))
            for (i, j), sure in [*alignment.items(), *nulls]:
                if i != NULL:
                    positions[j].append(f"{'' if sure else 'p'}{i + writing.base}")
            if any(i == NULL for i, _ in alignment.nulls):
                writing.lost["nulls"] += 1
            words = zip(("NULL", *pair.words[1]), (positions[-1], *positions[:-1]), strict=True)
            line = " ".join(" ".join((word, "({", *there, "/ / })")) for word, there in words)
            stream.write(f"# sentence pair {numbering.take(pair.id)}\n{plain}\n{line}\n")


FORMAT = Format(
    parse=_parse,
    write=_write,
    holds=frozenset({"text", "possible", "nulls", "possible nulls", "empty"}),
    base=1,
)
