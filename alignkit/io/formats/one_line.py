"""Both sentences and their links on one line [one-line].

Specification
-------------
One line per sentence pair, in three parts with `` ||| `` between them::

    the dog barks ||| le chien aboie ||| 0-0 1-1 2?2

- The first two parts are the words of source and target, separated by white space. The third part
  has the links, in all forms of `alignkit.io.formats.pharaoh`, or nothing: an alignment without
  links.
- A line may start with an id and a tab; then all lines must, see `alignkit.io.text_ids`. Without
  ids, a pair's id is the number of its line, from 1.
- Empty lines are skipped, and counted.

Written are ``i-j`` and ``i?j``, with ids and weights only on request. A word that contains the
divider cannot be written.
"""

from __future__ import annotations

from collections.abc import Iterator

from alignkit.errors import FormatError
from alignkit.io.bitext_lines import BITEXT, ParallelWriter
from alignkit.io.format import Format, kinds
from alignkit.io.formats.pharaoh import are_any_links, id_before, notation, read_link
from alignkit.io.parallel_text import ids_of
from alignkit.io.records import RawAnnotation, Reading, Record
from alignkit.io.sniffing import Head, Likeness, by_share
from alignkit.io.text_ids import split_id
from alignkit.io.writing import Writing


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield the pair of each line that is not empty."""
    has_ids = ids_of(reading, [reading.path], divided=True).present
    for number, line in reading.lines():
        if not line.strip():
            reading.note("empty line", "skipped", number)
            continue
        with reading.refusing(number):
            id = str(number)
            text = line
            if has_ids:
                id, text = split_id(reading, number, line, reading.path)
            parts = text.split(BITEXT)
            if len(parts) != 3:
                raise FormatError(
                    f"{len(parts) - 1} dividers ' ||| '; expected two: source ||| target ||| links"
                )
            source = reading.words(parts[0], number)
            target = reading.words(parts[1], number)
            links = [read_link(token, line, number, reading) for token in parts[2].split()]
            annotations = {reading.name: RawAnnotation(links)}
            yield Record(id, number, source, target, annotations)


def _write(writing: Writing) -> None:
    """Write a line for each pair."""
    with writing.open() as stream:
        lines = ParallelWriter(stream)
        for number, pair in enumerate(writing.pairs, start=1):
            links = notation(writing.alignment_or_empty(pair), writing)
            source, target = writing.words(pair)
            before = id_before(pair, number, writing)
            behind = f" {BITEXT} {links}".rstrip()
            lines.write(pair.id, source, target, before=before, behind=behind)


def _sniff(head: Head) -> Likeness:
    """Count the first lines of three parts, of which the last has links."""
    lines = [line for line in head.lines if line.strip()]
    fitting = 0
    linked = False
    for line in lines:
        parts = line.split(BITEXT)
        if len(parts) == 3 and are_any_links(parts[2]):
            fitting += 1
            linked = linked or bool(parts[2].strip())
    likeness = by_share(fitting, len(lines))
    if likeness is Likeness.SURE and not linked:
        return Likeness.LIKELY
    return likeness


FORMAT = Format(
    _sniff,
    _parse,
    _write,
    holds=kinds("text, possible, empty"),
    asked=frozenset({"ids", "weights"}),
)
