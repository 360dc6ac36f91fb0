"""MultiMWA's TSV [multimwa].

Specification
-------------
A line of 10 or 11 tab-separated columns a pair, those of a GoldAlign batch: id, source, link,
target, link, corpus judgment, user judgment, sure links, possible links, comment, and in some files
one more. Tokens and links are divided by white space; links are ``i-j``, source first, from 0, in
any order; spaces around a column mean nothing.

The links to a context, the corpus judgment and the eleventh column become the attributes
`source-link`, `target-link`, `corpus-judgment` and `column-11` where they are not empty; ``N/A`` is
no link to a context, as in all of the published files. The user judgment and the comment belong to
the annotation. A line of six columns is a pair not annotated.

Written is ``N/A`` for a context that a pair lacks, and an eleventh column, which may be empty,
where it has one: by either a file is told from a batch of GoldAlign.

References
----------
Lan, Jiang & Xu 2021, "Neural semi-Markov CRF for monolingual word alignment", ACL;
github.com/chaojiang06/neural-Jacana.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from alignkit.formats.format import Format
from alignkit.formats.gold_row import HELD, LINKS, parse_row, write_row
from alignkit.formats.intake import Reading
from alignkit.formats.record import Record
from alignkit.formats.writing import Writing
from alignkit.sentence_pair import SentencePair

_LAST = "column-11"
_NONE = "N/A"


def _parse(reading: Reading) -> Iterator[Record]:
    for line, text in reading.lines():
        with reading.refusing(line):
            row = parse_row(text, most=11)
            attributes = {
                name: value
                for name, value in row.attributes.items()
                if name not in LINKS or value != _NONE
            }
            record = Record(row.id, line, row.source, row.target, attributes=attributes)
            if row.annotation is not None:
                record.annotations[reading.name] = row.annotation
            if any(row.more):
                record.attributes[_LAST] = row.more[0]
            yield record


def _write(pairs: Iterable[SentencePair], writing: Writing) -> None:
    with writing.open() as stream:
        for pair in pairs:
            annotation = writing.annotation(pair)
            more = pair.attributes.get(_LAST)
            if more is None and any(pair.attributes.get(name, _NONE) != _NONE for name in LINKS):
                more = ""
            line = write_row(pair.id, pair, annotation, writing, context=_NONE, more=more)
            stream.write(line)


def _surely(reading: Reading, pairs: Sequence[SentencePair]) -> bool | None:
    """Tell the published files, whose pairs have no context, from a batch of GoldAlign."""
    if any(_LAST in pair.attributes for pair in pairs):
        return True
    rows = (text.split("\t") for _, text in islice(reading.lines(), len(pairs)))
    links = (tuple(part.strip(" \r") for part in row[2:5:2]) for row in rows)
    return True if all(one == (_NONE, _NONE) for one in links) else None


FORMAT = Format(
    parse=_parse, write=_write, surely=_surely, holds=HELD | {"ids", f"attribute {_LAST}"}
)
