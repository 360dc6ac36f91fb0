"""jacana's JSON [jacana].

Specification
-------------
An array of objects::

    [{"id": "7", "name": "7", "source": "a b", "target": "c", "sureAlign": "0-0",
      "possibleAlign": "1-0"}]

- `source` and `target` are tokens separated by whitespace; links are ``i-j``, source first, from 0;
- a link in both `sureAlign` and `possibleAlign` is sure;
- `id` is a text or a number; if it is missing, the id is the pair's number in the array, from 1;
- without `sureAlign` and `possibleAlign` (or with null) the pair is not annotated;
- an unknown member with links and a name similar to a missing one of these two is an error;
- other texts, numbers or booleans (a score, ...) become attributes, and so does `name` if it
  differs from `id`.

A folder has one array per file. There, ``NAME.sure.json`` and ``NAME.sure+poss.json`` are two
versions of the same pairs: they are joined by id, their tokens must be equal, and the possible
links are those of the second that the first lacks. Each pair of a folder has the attribute
`document`, which is NAME.

References
----------
Yao, Van Durme, Callison-Burch & Clark 2013, "A lightweight and high performance monolingual word
aligner", ACL; github.com/xuchen/jacana.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from alignkit.io.format import Format, kinds
from alignkit.io.records import RawAnnotation, Reading, Record, parse_links
from alignkit.io.sniffing import Head, Likeness, head_of_file
from alignkit.io.strict_json import JsonText, Object, add_attributes, as_record, member, write_list
from alignkit.io.writing import LinkTexts, Writing
from alignkit.model.sentence_pair import SentencePair

_SURE = ".sure.json"
_BOTH = ".sure+poss.json"
_OWN = ("id", "source", "target", "sureAlign", "possibleAlign")  # `name` becomes an attribute


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield the pairs of a file or a folder; two files of the same pairs are joined."""
    if not Path(reading.path).is_dir():
        yield from _records(reading, reading.path)
        return
    paths = reading.files("*.json")
    if not paths:
        raise reading.error("contains no .json file")
    names = {path.name for path in paths}
    for path in paths:
        if path.name.endswith(_SURE) and path.name.replace(_SURE, _BOTH) in names:
            both = path.with_name(path.name.replace(_SURE, _BOTH))
            records = _joined(reading, str(path), str(both))
        elif path.name.endswith(_BOTH) and path.name.replace(_BOTH, _SURE) in names:
            continue
        else:
            records = _records(reading, str(path))
        name = path.name.removesuffix(_SURE).removesuffix(_BOTH).removesuffix(".json")
        for record in records:
            record.attributes.setdefault("document", name)
            yield record


def _records(reading: Reading, path: str) -> Iterator[Record]:
    text = JsonText(reading.text(path), path)
    for number, (line, value) in enumerate(text.elements(), start=1):
        with reading.refusing(line, path):
            record = _record(reading, value, number, line, path)
            yield record
    text.finish()


def _record(reading: Reading, value: Object, number: int, line: int, path: str) -> Record:
    """Return a pair; links that are sure as well as possible are sure."""
    record = as_record(reading, value, number, line, _OWN, links=_OWN[-2:])
    if record.attributes.get("name") == record.id:
        del record.attributes["name"]
    source: str = member(value, "source", str)
    target: str = member(value, "target", str)
    sure: str = member(value, "sureAlign", str, "")
    possible: str = member(value, "possibleAlign", str, "")
    record.path = path
    record.source = reading.words(source, line, path)
    record.target = reading.words(target, line, path)
    if value.get("sureAlign") is not None or value.get("possibleAlign") is not None:
        links = parse_links(sure)
        known = {link[:2] for link in links}
        links += [link for link in parse_links(possible, "possible") if link[:2] not in known]
        record.annotations[reading.name] = RawAnnotation(links)
    return record


def _joined(reading: Reading, sure: str, both: str) -> Iterator[Record]:
    """Yield the records of `sure`; additional links of `both` are possible ones."""
    others = dict(_counted(_records(reading, both)))
    for key, record in _counted(_records(reading, sure)):
        other = others.pop(key, None)
        path = record.path
        problem = ""
        if other is None:
            problem = f"id {record.id[:40]!r} is missing in {both}"
        elif (record.source, record.target) != (other.source, other.target):
            problem = f"the tokens of {record.id[:40]!r} differ from those of {both}:{other.line}"
        if other is None or problem:
            reading.reject(problem, record.line, path)
            continue
        for annotation in other.annotations.values():
            mine = record.annotations.setdefault(reading.name, RawAnnotation())
            known = {link[:2] for link in mine.links}
            links = [link._replace(status="possible") for link in annotation.links]
            mine.links += (link for link in links if link[:2] not in known)
            missing = len(known - {link[:2] for link in links})
            if missing:
                message = f"{both}:{other.line} lacks {missing} of the sure links"
                reading.note("sure link missing", message, record.line, path)
        yield record
    for record in others.values():
        message = f"id {record.id[:40]!r} is missing in {sure}"
        reading.reject(message, record.line, both)


def _counted(records: Iterator[Record]) -> Iterator[tuple[tuple[str, int], Record]]:
    """Yield each record after its id and how often this id has come."""
    seen: Counter[str] = Counter()
    for record in records:
        seen[record.id] += 1
        yield (record.id, seen[record.id]), record


def _write(writing: Writing) -> None:
    with writing.open() as stream:
        write_list(stream, (_written(pair, writing) for pair in writing.pairs), "", "", indent=4)


def _written(pair: SentencePair, writing: Writing) -> Object:
    """Return the object of a pair."""
    source, target = writing.words(pair)
    name = pair.attributes.get("name", pair.id)
    value: Object = {"id": pair.id, "name": name, "source": source, "target": target}
    alignment = writing.alignment(pair)
    if alignment is not None:
        links = LinkTexts(alignment, writing.base)
        value["sureAlign"] = links.sure
        value["possibleAlign"] = links.possible
    add_attributes(value, pair, _OWN, writing)
    return value


_WITHOUT_PAIRS = re.compile(r"\[\s*\]\s*")


def _sniff(head: Head) -> Likeness:
    """Look for members of objects; of a folder, all files must look like it."""
    if head.folder is not None:
        likenesses = [_sniff(head_of_file(str(path))) for path in head.folder.glob("*.json")]
        return min(likenesses, default=Likeness.NO)
    sides = head.members & {"source", "target"}
    links = head.members & {"sureAlign", "possibleAlign"}
    if (links and sides) or len(links) > 1:
        return Likeness.SURE
    if not head.more and _WITHOUT_PAIRS.fullmatch(head.text):
        return Likeness.SURE
    if head.text[:1] != "[":
        return Likeness.NO
    if len(sides) > 1:
        return Likeness.LIKELY
    return Likeness.MAYBE


_HOLDS = kinds("text, ids, possible, attributes, absent, empty")
FORMAT = Format(
    _sniff, _parse, _write, members=lambda reading: reading.files("*.json"), holds=_HOLDS
)
