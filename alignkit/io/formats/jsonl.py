"""JSON lines of word lists, used by data sets for neural aligners [jsonl].

Specification
-------------
One object per line and pair::

    {"id": "7", "src_words": ["a", "b"], "tgt_words": ["c"], "alignment": [[0, 0], [1, 0]]}

- the words are the tokens, unchanged; they may be empty or contain whitespace;
- `alignment` lists the links ``[i, j]``, source first, from 0; they are sure; without it, or with
  null, the pair is not annotated;
- -1 is the empty word, for each ``--base``: ``[3, -1]`` means that source word 3, and ``[-1, 4]``
  that target word 4, is explicitly aligned to nothing. With ``--base 1``, 0 is not a word; like
  all positions out of range, it is an error;
- `id` is a text or a number; if it is missing, the id is the number of the line, from 1;
- a list with a name similar to a missing `alignment` is an error;
- all other texts, numbers or booleans become attributes.

Empty lines have no meaning. The objects may also be the elements of one JSON array, ``[{...},
{...}]``, which is read as a whole; the ids of its objects are by default their numbers, from 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record
from alignkit.io.sniffing import Head, Likeness
from alignkit.io.strict_json import (
    Object,
    add_attributes,
    as_record,
    json_objects,
    member,
    position,
    texts,
    write_line,
)
from alignkit.io.writing import Writing
from alignkit.model.alignment import NULL, Link

_NULL = -1
_OWN = ("id", "src_words", "tgt_words", "alignment")


def _parse(reading: Reading) -> Iterator[Record]:
    for number, line, value in json_objects(reading):
        with reading.refusing(line):
            record = as_record(reading, value, number, line, _OWN, links=("alignment",))
            record.source = texts(value, "src_words")
            record.target = texts(value, "tgt_words")
            if value.get("alignment") is not None:
                links = record.annotations.setdefault(reading.name, RawAnnotation()).links
                links += map(_link, member(value, "alignment", list))
            yield record


def _link(entry: object) -> RawLink:
    if type(entry) is not list or len(entry) != 2:
        raise FormatError(f"{json.dumps(entry)[:40]} is not a link; expected [i, j]")
    i, j = map(_position, entry)
    if i is None and j is None:
        raise FormatError("[-1, -1] links the empty word to itself; expected a word on one side")
    return RawLink(i, j)


def _position(value: object) -> int | None:
    """Read a position; None is the empty word."""
    return None if type(value) is int and value == _NULL else position(value)


def _write(writing: Writing) -> None:
    """Write an object for each pair; an id that is the number of the line is left out."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    with writing.open() as stream:
        for number, pair in enumerate(writing.pairs, start=1):
            source, target = pair.words
            value: Object = {}
            if pair.id != str(number):
                value["id"] = pair.id
            value["src_words"] = source
            value["tgt_words"] = target
            alignment = writing.alignment(pair)
            if alignment is not None:
                cells = [*alignment, *sorted(alignment.nulls)]
                value["alignment"] = [_written(cell, writing.base) for cell in cells]
            add_attributes(value, pair, _OWN, writing)
            write_line(stream, encode, value)


def _written(cell: Link, base: int) -> list[int]:
    return [_NULL if index == NULL else index + base for index in cell]


def _sniff(head: Head) -> Likeness:
    """Look for members of objects, of which no other format has the words."""
    if head.members & {"src_words", "tgt_words"}:
        return Likeness.SURE
    return Likeness.NO


FORMAT = Format(
    _sniff, _parse, _write, holds=kinds("text, ids, nulls, attributes, absent, empty, spaces")
)
