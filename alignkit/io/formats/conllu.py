"""CoNLL-U, the format of Universal Dependencies [conllu].

Specification
-------------
Sentences of lines with 10 tab-separated columns below comments, each ended by an empty line::

    # sent_id = n01
    # text = Vámonos
    1-2     vámonos _       _       _       _       _       _       _       _
    1       vamos   ir      VERB    _       _       0       root    _       _
    2       nos     yo      PRON    _       _       1       obj     _       _

- The words are the lines with whole numbers, from 1; multiword tokens (``1-2``) and empty nodes
  (``5.1``) do not count. The id of a pair is the `sent_id` of its source, else its number.
- A file gives the words of a side (``--source``, ``--target``) of any format of links. Alone, it is
  the source. ``STEM`` is ``STEM.source.conllu`` and ``STEM.target.conllu``, which alignkit writes.
- Columns become columns of the pair (`source.upos`), unless they are empty; attributes have the
  rest: `source.sent_id`, `source.text`, `source.comments` (all) and `source.others` (multiword
  tokens and empty nodes). So alignkit writes the same file. Links are lost.

References
----------
universaldependencies.org/format.html.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, zip_longest
from pathlib import Path

from alignkit.errors import OptionError
from alignkit.io.format import Format, kinds
from alignkit.io.parallel_text import IS_TAGGED
from alignkit.io.records import Reading, Record
from alignkit.io.sniffing import Head, Likeness
from alignkit.io.tagged_words import COLUMNS, read_tagged, tagged_text
from alignkit.io.writing import Writing, refuse_breaks
from alignkit.model.alignment import SIDES


def _paths(path: str) -> list[str]:
    """Return the files of the source and of the target."""
    return [f"{path.removesuffix('.conllu')}.{side}.conllu" for side in SIDES]


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield the sentences of one file, or the pairs of two."""
    alone = reading.path == "-" or Path(reading.path).is_file()
    paths = [reading.path] if alone else _paths(reading.path)
    files = [read_tagged(reading, path) for path in paths]
    for number, sentences in enumerate(zip_longest(*files), start=1):
        first, second = (*sentences, None)[:2]
        if first is None or None in sentences:
            message = f"has only {number - 1} sentences, fewer than the other file"
            raise reading.error(message, path=paths[sentences.index(None)])
        id = first.attributes.get("sent_id") or str(number)
        record = Record(id, first.line, first.words, None, attributes=first.of("source"))
        if second is not None:
            record.target = second.words
            record.attributes |= second.of("target")
        yield record


def _write(writing: Writing) -> None:
    if writing.path == "-":
        raise OptionError("conllu is two files and cannot go to standard output")
    first, second = _paths(writing.path)
    with writing.open(first) as source, writing.open(second) as target:
        for pair in writing.pairs:
            own = pair.attributes.get("source.sent_id") or pair.id
            if own != pair.id or "\n" in own:
                writing.lost["ids"] += 1
            if any(map(len, pair.alignments.values())):
                writing.lost["links"] += 1
            refuse_breaks(pair.id, chain(*pair.words))
            source.write(writing.without_marks(tagged_text(pair, "source")))
            target.write(writing.without_marks(tagged_text(pair, "target")))


KEPT = ("sent_id", "text", "comments", "others", *COLUMNS)
"""The attributes of a side that CoNLL-U holds."""


def _sniff(head: Head) -> Likeness:
    """Look for a first line of 10 columns below comments, or for two files with one name."""
    if head.is_file:
        return Likeness.SURE if IS_TAGGED.match(head.text) else Likeness.NO
    both = head.folder is None and all(Path(path).is_file() for path in _paths(head.path))
    return Likeness.SURE if both else Likeness.NO


FORMAT = Format(_sniff, _parse, _write, holds=kinds("text, ids, absent", *KEPT))
