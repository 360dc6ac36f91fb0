"""Read and write MultiMWA's TSV [multimwa].

Specification
-------------
A line of 10 or 11 tab-separated columns a pair, those of a GoldAlign batch: id, source, link,
target, link, corpus judgment, user judgment, sure links, possible links, comment, and in some files
one more. Tokens and links are divided by white space; links are ``i-j``, source first, from 0, in
any order; spaces around a column mean nothing.

The links to a context (``N/A`` in the published files), the corpus judgment and the eleventh column
become the attributes `source-link`, `target-link`, `corpus-judgment` and `column-11` where they are
not empty; the user judgment and the comment belong to the annotation. A line of six columns is a
pair not annotated.

References
----------
Lan, Jiang & Xu 2021, "Neural semi-Markov CRF for monolingual word alignment", ACL;
github.com/chaojiang06/neural-Jacana.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from alignkit.corpus import SentencePair
from alignkit.errors import FormatError
from alignkit.formats.format import Format
from alignkit.formats.gold_row import HELD, parse_row, write_row
from alignkit.formats.intake import Reading
from alignkit.formats.record import Record
from alignkit.formats.writing import Writing

__all__ = ["FORMAT"]

_LAST = "column-11"


def _parse(reading: Reading) -> Iterator[Record]:
    for line, text in reading.lines():
        try:
            row = parse_row(text, most=11)
        except FormatError as problem:
            reading.refuse(reading.error(problem.message, line))
            continue
        record = Record(row.id, line, row.source, row.target, attributes=row.attributes)
        if row.annotation is not None:
            record.annotations[reading.name] = row.annotation
        if any(row.more):
            record.attributes[_LAST] = row.more[0]
        yield record


def _write(pairs: Iterable[SentencePair], writing: Writing) -> None:
    with writing.open() as stream:
        for pair in pairs:
            annotation = writing.annotation(pair)
            more = pair.attributes.get(_LAST, "")
            stream.write(write_row(pair.id, pair, annotation, writing, more=more))


def _surely(reading: Reading, pairs: Sequence[SentencePair]) -> bool | None:
    """Tell the published files, whose pairs have no context, from a batch of GoldAlign."""
    named = [pair.attributes for pair in pairs]
    if all(one.get("source-link") == one.get("target-link") == "N/A" for one in named):
        return True
    return True if any(_LAST in one for one in named) else None


FORMAT = Format(
    parse=_parse, write=_write, surely=_surely, holds=HELD | {"ids", f"attribute {_LAST}"}
)
