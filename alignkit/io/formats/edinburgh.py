"""The Edinburgh++ corpus of paraphrases, JSON [edinburgh].

Specification
-------------
One object with the pairs as `paraphrases`::

    {"paraphrases": [
      {"id": "novels:1", "train": "A", "S": {"string": "a b c d"}, "T": {"string": "e f"},
       "annotations": {"A": {"S": [[0, [0]], [3, [0, 1]]], "P": [[1, [1]]]},
                       "C": {"S": [], "P": []}}}]}

- `S` and `T` are the source and the target: tokens separated by whitespace;
- each annotator's `S` (sure) and `P` (possible) list ``[i, [j, ...]]``: source word i is linked to
  each target word j, from 0; a link in both is sure;
- `train` is the annotator of the gold alignment; like all other texts and numbers of a paraphrase,
  it becomes an attribute.

References
----------
Cohn, Callison-Burch & Lapata 2008, "Constructing corpora for the development and evaluation of
paraphrase systems", Computational Linguistics 34(4), doi:10.1162/coli.08-003-R1-07-044; the
corrected edition of Thadani, Martin & White 2012, COLING.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record, Status
from alignkit.io.sniffing import Head, Likeness, by_names
from alignkit.io.strict_json import (
    JsonText,
    Object,
    add_attributes,
    as_record,
    member,
    position,
    write_list,
)
from alignkit.io.writing import Writing
from alignkit.model.sentence_pair import SentencePair

_OWN = ("id", "S", "T", "annotations")
_STATUS: dict[str, Status] = {"S": "sure", "P": "possible"}


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield the pairs; other members of the file are counted."""
    text = JsonText(reading.text(), reading.path)
    missing = True
    for key in text.members():
        if key != "paraphrases":
            reading.note("member left out", f"{key[:40]!r} next to the paraphrases", text.line)
            text.value()
            continue
        missing = False
        for number, (line, value) in enumerate(text.elements(), start=1):
            with reading.refusing(line):
                yield _record(reading, value, number, line)
    text.finish()
    if missing:
        raise reading.error("no 'paraphrases' in the object; expected a list of pairs")


def _record(reading: Reading, value: Object, number: int, line: int) -> Record:
    """Return a pair with the links of each annotator."""
    record = as_record(reading, value, number, line, _OWN, links=("annotations",))
    source: str = member(member(value, "S", dict), "string", str)
    target: str = member(member(value, "T", dict), "string", str)
    record.source = reading.words(source, line)
    record.target = reading.words(target, line)
    annotations: Object = member(value, "annotations", dict, {})
    for name in annotations:
        given: Object = member(annotations, name, dict)
        unknown = given.keys() - _STATUS.keys()
        if unknown:
            reading.note("member left out", f"{min(unknown)[:40]!r} of an annotation", line)
        links = record.annotations.setdefault(name, RawAnnotation()).links
        for key, status in _STATUS.items():
            for entry in member(given, key, list, []):
                if type(entry) is not list or len(entry) != 2 or type(entry[1]) is not list:
                    shown = json.dumps(entry)[:40]
                    raise FormatError(f"{shown} is not a link; expected [i, [j, ...]]")
                word, linked = entry
                if not linked:
                    reading.note("word without links", f"[{position(word)}, []]", line)
                links += [RawLink(position(word), position(other), status) for other in linked]
    return record


def _write(writing: Writing) -> None:
    with writing.open() as stream:
        write_list(
            stream, (_written(pair, writing) for pair in writing.pairs), '{"paraphrases": ', "}"
        )


def _written(pair: SentencePair, writing: Writing) -> Object:
    """Return the object of a pair."""
    source, target = writing.words(pair)
    value: Object = {"id": pair.id}
    add_attributes(value, pair, _OWN, writing)
    value["S"] = {"string": source}
    value["T"] = {"string": target}
    value["annotations"] = {}
    for name, alignment in pair.alignments.items():
        linked: dict[str, dict[int, list[int]]] = {"S": {}, "P": {}}
        for (i, j), sure in writing.oriented(alignment).items():
            links = linked["S" if sure else "P"]
            links.setdefault(i + writing.base, []).append(j + writing.base)
        value["annotations"][name] = {key: list(links.items()) for key, links in linked.items()}
    return value


_BEGINS = re.compile(r'.{0,2}\{?\s*"paraphrases"')


def _sniff(head: Head) -> Likeness:
    """Look for the list of pairs, or for members of these."""
    if _BEGINS.match(head.text):
        return Likeness.SURE
    if head.text[:1] == "{" and "paraphrases" in head.members:
        return Likeness.LIKELY
    return by_names(head.members, {"S", "T", "string"})


_HOLDS = kinds("text, ids, possible, attributes, annotators, names, absent, empty")
FORMAT = Format(_sniff, _parse, _write, holds=_HOLDS)
