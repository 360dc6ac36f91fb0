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

import re
from collections.abc import Iterator, Sequence

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.records import RawAnnotation, Reading, Record, parse_links
from alignkit.io.sniffing import Head, Likeness, are_links, by_share
from alignkit.io.writing import Writing, write_links

_LINK = re.compile("[0-9]-[0-9]")


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


def _write(writing: Writing) -> None:
    with writing.open() as stream:
        for number, pair in enumerate(writing.pairs, start=1):
            if pair.id != str(number):
                writing.lost["ids"] += 1
            source, target = writing.words(pair)
            links = writing.alignment_or_empty(pair)
            stream.write(f"{source}\t{target}\t{write_links(links, writing.base)}\n")


def _sniff(head: Head) -> Likeness:
    """Count the first lines that have links in the third column."""
    fitting = sum(map(_fits, head.rows))
    likeness = by_share(fitting, len(head.rows))
    if likeness is not Likeness.NO:
        has_links = any(len(row) > 2 and row[2].strip() for row in head.rows)
        # a third column that is always empty may be anything
        return likeness if has_links else Likeness.LIKELY
    # most lines have two columns: those without links, whose empty third column was lost
    if head.width == 2:
        return Likeness.MAYBE
    # most have three, and the first line has a link: the others may have a mistake
    if head.width == 3 and _LINK.search(head.rows[0][-1]):
        return Likeness.MAYBE
    return Likeness.NO


def _fits(row: Sequence[str]) -> bool:
    """Return whether a line has links in the third column, and nothing behind them."""
    return len(row) > 2 and are_links(row[2]) and not any(map(str.strip, row[3:]))


FORMAT = Format(_sniff, _parse, _write, holds=kinds("text, empty"))
