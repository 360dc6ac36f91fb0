"""XL-WA's TSV [xlwa].

Specification
-------------
Three tab-separated columns per line: source, target, links::

    a b c<TAB>d e<TAB>0-0 1-0 2-1

Tokens are separated by whitespace, links are ``i-j``, source first, from 0, in any order; a link
may occur twice. All links are sure. A pair's id is the number of its line, from 1. Empty columns
after the third, as in some of the published files, have no meaning.

References
----------
Martelli et al. 2023, "XL-WA: a gold evaluation benchmark for word alignment in 14 language pairs",
CLiC-it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.records import RawAnnotation, Reading, Record, parse_links
from alignkit.io.writing import Writing, write_links
from alignkit.model.sentence_pair import SentencePair


def _parse(reading: Reading) -> Iterator[Record]:
    for line, text in reading.lines():
        with reading.refusing(line):
            columns = text.split("\t")
            while len(columns) > 3 and not columns[-1].strip():
                columns.pop()
            if len(columns) != 3:
                message = f"{len(columns)} tab-separated columns; expected 3: source, target, links"
                raise FormatError(message)
            source = reading.words(columns[0], line)
            target = reading.words(columns[1], line)
            annotations = {reading.name: RawAnnotation(parse_links(columns[2]))}
            yield Record(str(line), line, source, target, annotations)


def _write(pairs: Iterable[SentencePair], writing: Writing) -> None:
    with writing.open() as stream:
        for number, pair in enumerate(pairs, start=1):
            if pair.id != str(number):
                writing.lost["ids"] += 1
            source, target = writing.words(pair)
            links = writing.alignment_or_empty(pair)
            stream.write(f"{source}\t{target}\t{write_links(links, writing.base)}\n")


FORMAT = Format(parse=_parse, write=_write, holds=kinds("text, empty"))
