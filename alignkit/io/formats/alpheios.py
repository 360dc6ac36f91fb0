"""The JSON of the Alpheios alignment editor [alpheios].

Specification
-------------
A text, the *origin*, and any number of translations, the *targets*, with groups of their words::

    {"origin": {"docSource": {...},
                "alignedText": {"textId": "o", "lang": "lat", "segments": [
                   {"index": 1, "tokens": [{"idWord": "1-0-0", "word": "cum", ...}, ...]}, ...]}},
     "targets": {"t": {"docSource": {...}, "alignedText": {"textId": "t", "lang": "eng", ...}}},
     "alignmentGroups": [{"actions": {"segmentIndex": 1, "targetId": "t",
                                      "origin": ["1-0-0"], "target": ["2-0-0", "2-0-1"]}}]}

- The pair is the origin and one target: the one named with the origin by ``--languages`` (either
  may be the source; a `textId` will do too), else the first, and the others are counted.
- A segment is a sentence pair; its id is the `index`. A segment of one side only is counted.
- A group links each of its origin words with each of its target words; all links are sure. Words
  are named by `idWord`, which is unique in a text. Ids of no word, groups with words of one side
  only, and links between segments are left out and counted. A segment without groups is not
  annotated.

The attributes of a pair are `source.language`, `target.language`, `source.textId` and
`target.textId`; the columns `source.id` and `target.id` have the ids of the words. The sources of
the texts and their metadata are not read (counted). alignkit writes segments with their words and
the fewest groups that are full blocks.

References
----------
The specification is part of the editor: github.com/alpheios-project/alignment-editor-new.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from unicodedata import bidirectional
from uuid import NAMESPACE_OID, uuid5

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.formats.yawat import group_cells
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record, block
from alignkit.io.strict_json import Object, as_text, member, parse_json, texts
from alignkit.io.text_files import BOM
from alignkit.io.writing import Numbering, Writing
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair, word_column

_TOKEN = {"idWord", "word", "textType", "segmentIndex", "docSourceId", "sentenceIndex",
          "tokenIndex"}  # fmt: skip
_WHOLE = {"id", "createdDT", "updatedDT", "userID", "origin", "targets", "alignmentGroups"}
_KINDS = ("origin", "target")


@dataclass(frozen=True)
class _Text:
    """An origin or a target: its words by segment, and the place of each word."""

    id: str
    language: str
    segments: dict[str, tuple[list[str], list[str]]]  # the ids and the words
    places: dict[str, tuple[str, int]]


def _parse(reading: Reading) -> Iterator[Record]:
    with reading.refusing():
        value = parse_json(reading.text(), reading.path)
        if type(value) is not dict:
            raise FormatError("expected an object")
        _note_others(value, _WHOLE, reading)
        targets: Object = member(value, "targets", dict)
        members = [member(value, "origin", dict), *(member(targets, key, dict) for key in targets)]
        read = [_text(given, reading) for given in members]
        chosen = reading.choose(*((text.language, text.id) for text in read))
        if 0 not in chosen:
            raise FormatError(f"`languages` must include the origin, {read[0].language}")
        origin, target = read[0], read[max(chosen)]
        links = _links(member(value, "alignmentGroups", list, []), origin, target, reading)
        for index in dict.fromkeys([*origin.segments, *target.segments]):
            record = Record(index, 1, None, None)
            pair = [text.segments.get(index, ([], [])) for text in (origin, target)]
            if not (pair[0][1] and pair[1][1]):
                reading.note("segment of one side only", f"segment {index[:40]!r}")
            step = 1 if chosen[0] == 0 else -1
            record.source, record.target = (words for _, words in pair[::step])
            for side, text, (ids, _) in zip(
                SIDES, (origin, target)[::step], pair[::step], strict=True
            ):
                record.attributes[f"{side}.language"] = text.language
                record.attributes[f"{side}.textId"] = text.id
                if ids:
                    record.attributes[f"{side}.id"] = "\t".join(ids)
            if index in links:
                own = [link if step == 1 else RawLink(link.j, link.i) for link in links[index]]
                record.annotations[reading.name] = RawAnnotation(own)
            yield record


def _note_others(value: Object, known: set[str], reading: Reading) -> None:
    for key in value.keys() - known:
        reading.note("member left out", f"{key[:40]!r}")


def _text(value: Object, reading: Reading) -> _Text:
    source: Object = member(value, "docSource", dict, {})
    metadata: Object = member(source, "metadata", dict, {})
    if facts := member(metadata, "properties", list, []):
        reading.note("metadata left out", f"{len(facts)} properties", times=len(facts))
    text: Object = member(value, "alignedText", dict)
    segments: dict[str, tuple[list[str], list[str]]] = {}
    places: dict[str, tuple[str, int]] = {}
    for segment in member(text, "segments", list):
        index = as_text(segment.get("index")) if isinstance(segment, dict) else None
        if index is None:
            raise FormatError("expected an object with an 'index' for each segment")
        ids, words = segments.setdefault(index, ([], []))
        for token in member(segment, "tokens", list):
            if not isinstance(token, dict):
                raise FormatError("expected an object for each token")
            _note_others(token, _TOKEN, reading)
            id: str = member(token, "idWord", str)
            if id in places:
                raise FormatError(f"idWord {id[:40]!r} occurs twice in one text")
            places[id] = index, len(ids)
            ids.append(id)
            words.append(member(token, "word", str))
    return _Text(member(text, "textId", str), member(text, "lang", str), segments, places)


def _links(
    groups: Sequence[object], origin: _Text, target: _Text, reading: Reading
) -> dict[str, list[RawLink]]:
    """Return the links of each segment that has a group."""
    links: dict[str, list[RawLink]] = {}
    for group in groups:
        if not isinstance(group, dict):
            raise FormatError("expected an object for each group")
        actions: Object = member(group, "actions", dict)
        if member(actions, "targetId", str, target.id) != target.id:
            continue
        sides: list[dict[str, list[int]]] = []
        for kind, text in zip(_KINDS, (origin, target), strict=True):
            side: dict[str, list[int]] = {}
            for id in dict.fromkeys(texts(actions, kind)):
                if id in text.places:
                    index, k = text.places[id]
                    side.setdefault(index, []).append(k)
                else:
                    reading.note("id of no word", f"{id[:40]!r} in a group")
            sides.append(side)
        first, second = sides
        if not (first and second):
            reading.note("group of one side only", "left out")
        elif len(first.keys() | second.keys()) > 1:
            reading.note("group across segments", f"segments {', '.join(first | second)}")
        for index in first.keys() & second.keys():
            links.setdefault(index, []).extend(block(first[index], second[index]))
    return links


def _write(pairs: Iterable[SentencePair], writing: Writing) -> None:
    numbering = Numbering(writing.lost)
    segments: list[list[Object]] = [[], []]
    groups: list[Object] = []
    about: list[dict[str, str]] = []
    for number, pair in enumerate(pairs, start=1):
        pair.words  # noqa: B018 - refuses a pair without words
        own = [_about(pair, side, k) for k, side in enumerate(SIDES)]
        about = about or own
        writing.lost.update(
            ["attributes that differ from those of the first pair"] * (own != about)
        )
        index = int(numbering.take(pair.id))
        ids = [_ids(pair, side, f"{k}-{number - 1}") for k, side in enumerate(SIDES, start=1)]
        for k, words in enumerate(pair.words):
            common = {"textType": _KINDS[k], "segmentIndex": index, "docSourceId": own[k]["textId"]}
            tokens = [
                {"idWord": id, "word": word, **common, "sentenceIndex": 1, "tokenIndex": n}
                for n, (id, word) in enumerate(zip(ids[k], words, strict=True))
            ]
            segments[k].append({"index": index, **common, **own[k], "tokens": tokens})
        for group in group_cells((link, "") for link in writing.alignment(pair) or ()):
            sides = ([own[n] for n in side] for own, side in zip(ids, group[:2], strict=True))
            actions = dict(zip(_KINDS, sides, strict=True))
            where = {"segmentIndex": index, "targetId": own[1]["textId"]}
            groups.append({"id": f"{number}-{len(groups)}", "actions": {**where, **actions}})
    about = about or [_about(SentencePair("", (), ()), side, k) for k, side in enumerate(SIDES)]
    value = {
        "origin": _document(0, about[0], segments[0]),
        "targets": {about[1]["textId"]: _document(1, about[1], segments[1])},
        "alignmentGroups": groups,
    }
    with writing.open() as stream:
        stream.write(json.dumps(value, ensure_ascii=False, indent=1).replace(BOM, "\\ufeff") + "\n")


def _about(pair: SentencePair, side: str, k: int) -> dict[str, str]:
    """Return the facts about a text that the file has once."""
    start = "".join((getattr(pair, side) or ())[:20])
    return {
        "textId": pair.attributes.get(f"{side}.textId") or str(uuid5(NAMESPACE_OID, _KINDS[k])),
        "lang": pair.attributes.get(f"{side}.language") or "und",
        "direction": "rtl" if {*map(bidirectional, start)} & {"R", "AL"} else "ltr",
    }


def _ids(pair: SentencePair, side: str, prefix: str) -> list[str]:
    own = word_column(pair, side, "id")
    return own or [f"{prefix}-{k}" for k in range(len(getattr(pair, side)))]


def _document(k: int, about: dict[str, str], segments: list[Object]) -> Object:
    lines = (" ".join(token["word"] for token in segment["tokens"]) for segment in segments)
    division = {"tokenizer": "simpleLocalTokenizer", "segments": "singleline"}
    common = {**about, "textType": _KINDS[k], "tokenization": division}
    source = {**common, "text": "\n".join(lines), "sourceType": "text"}
    return {
        "docSource": {**source, "metadata": {"properties": []}},
        "alignedText": {**common, "tokenPrefix": str(k + 1), "segments": segments},
    }


FORMAT = Format(
    parse=_parse,
    write=_write,
    holds=kinds(
        "text, ids, absent, spaces, attribute source.language, attribute target.language, "
        "attribute source.textId, attribute target.textId, attribute source.id, "
        "attribute target.id"
    ),
    languages=True,
    by_id=True,
)
