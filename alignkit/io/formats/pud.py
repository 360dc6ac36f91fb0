"""The links of Parallel Universal Dependencies; the words are in CoNLL-U [pud].

Specification
-------------
A list with an object for each sentence pair: for each source word, its target words::

    [{"3": ["12"], "9": ["13", "14"], "10": ["X"]}, ...]

Numbers are ids of CoNLL-U, from 1; ``X`` means that the word is aligned to nothing. Links of empty
nodes (``5.1``) are left out and counted, and so is an ``X`` next to words. The words are in two
files (``--source en.conllu --target ko.conllu``), see `alignkit.io.formats.conllu`.

References
----------
Nikolaev et al. 2020, "Fine-grained analysis of cross-linguistic syntactic divergences", ACL;
github.com/macleginn/exploring-clmd-divergences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from typing import TextIO

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.formats.conllu import KEPT
from alignkit.io.parallel_text import IF_PARTIAL, PairText, read_texts
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record
from alignkit.io.sniffing import matching
from alignkit.io.strict_json import JsonText, Object, texts, write_list
from alignkit.io.tagged_words import tagged_text
from alignkit.io.writing import Writing, refuse_breaks
from alignkit.model.alignment import NULL, SIDES
from alignkit.model.sentence_pair import SentencePair

_ID = re.compile(r"[0-9]{1,9}(\.[0-9]+)?|X")
_NULL = "X"


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield the pairs, with the sentences of the CoNLL-U files if they are given."""
    sentences = read_texts(reading)
    json = JsonText(reading.text(), reading.path)
    number = 0
    for number, (line, value) in enumerate(json.elements(), start=1):
        text = None if sentences is None else next(sentences, None)
        if sentences is not None and text is None:
            raise reading.error(f"more pairs than {reading.options.source} has sentences", line)
        with reading.refusing(line):
            record = _record(number, line, text)
            record.annotations[reading.name] = RawAnnotation(_links(value, reading, line))
            yield record
    json.finish()
    for extra, text in enumerate(sentences or (), start=number + 1):
        if not reading.options.partial:
            raise reading.error(
                f"fewer pairs than {reading.options.source} has sentences", advice=IF_PARTIAL
            )
        yield _record(extra, text.line, text)


def _record(number: int, line: int, text: PairText | None) -> Record:
    """Return a pair without annotations, with its words if they are known."""
    record = Record(str(number), line)
    if text is not None:
        record.id = text.id or record.id
        record.source, record.target = text.words
        record.attributes = text.attributes
    return record


def _links(value: object, reading: Reading, line: int) -> list[RawLink]:
    """Return the links of a pair; links of empty nodes and needless nulls are left out."""
    if not isinstance(value, dict):
        raise FormatError("expected an object for each pair")
    links: list[RawLink] = []
    for key in value:
        others = texts(value, key)
        for other in others:
            node = "." in key + other
            beside = other == _NULL and len(others) > 1
            if (node or beside) and _ID.fullmatch(key) and _ID.fullmatch(other):
                kind = "link of an empty node" if node else "null next to words"
                reading.note(kind, f"{key[:40]}: {other[:40]}", line)
            else:
                links.append(RawLink(_position(key), _position(other)))
    if any(link.i is None and link.j is None for link in links):
        raise FormatError("X is aligned to X")
    return links


def _position(id: str) -> int | None:
    """Read the position of a word; None is the empty word."""
    if not _ID.fullmatch(id) or "." in id:
        raise FormatError(f"{id[:40]!r} is not a word id; expected a number from 1 or X")
    return None if id == _NULL else int(id)


def _write(writing: Writing) -> None:
    """Write the links, and the words as CoNLL-U if there are files for them."""
    with ExitStack() as stack:
        files: dict[str, TextIO] = {}
        for side in SIDES:
            path = getattr(writing.options, side)
            if path:
                files[side] = stack.enter_context(writing.open(path))

        def objects() -> Iterator[Object]:
            for number, pair in enumerate(writing.pairs, start=1):
                default = pair.id if files else str(number)
                if (pair.attributes.get("source.sent_id") or default) != pair.id:
                    writing.lost["ids"] += 1
                if files:
                    refuse_breaks(pair.id, chain(*pair.words))
                for side, file in files.items():
                    file.write(writing.without_marks(tagged_text(pair, side)))
                yield _written(pair, writing)

        stream = stack.enter_context(writing.open())
        write_list(stream, objects(), "", "", indent=2)


def _written(pair: SentencePair, writing: Writing) -> Object:
    """Return the object of a pair: the words that each source word is linked to."""
    alignment = writing.alignment_or_empty(pair)
    value: Object = {}
    for link in sorted({*alignment, *alignment.nulls}):
        source, target = (_NULL if k == NULL else str(k + writing.base) for k in link)
        value.setdefault(source, []).append(target)
    return value


_HOLDS = kinds("no text, nulls, empty", *KEPT)
_BEGINS = re.compile(r'\[\s*(\{\s*\}\s*,\s*)*\{\s*"([0-9]+|X)"\s*:')


FORMAT = Format(matching(_BEGINS), _parse, _write, holds=_HOLDS, base=1, text_beside=True)
