"""The JSON of the Alpheios alignment editor [alpheios].

Specification
-------------
A text, the *origin*, any number of translations, the *targets*, and groups of words::

    {"origin": {"docSource": {...}, "alignedText": {"textId": "o", "lang": "lat", "segments": [
       {"index": 1, "tokens": [{"idWord": "1-0-0", "word": "cum", ...}, ...]}, ...]}},
     "targets": {"t": {"docSource": {...}, "alignedText": {...}}},
     "alignmentGroups": [{"actions": {"segmentIndex": 1, "targetId": "t",
                                      "origin": ["1-0-0"], "target": ["2-0-0", "2-0-1"]}}]}

- The pair is the origin and a target, see `Reading.choose`; a `textId` names a language too.
- A segment is a sentence pair with its `index` as id. Segments of one side only are counted.
- A group surely links each of its origin words with each of its target words, named by `idWord`.
  Ids of no word, groups of one side and links between segments are left out and counted. A segment
  without groups is not annotated. Metadata is left out and counted.

Attributes of a pair are `source.language`, `source.textId` and the column `source.id`. alignkit
writes the fewest groups that are full blocks.

References
----------
github.com/alpheios-project/alignment-editor-new, which contains the specification.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from unicodedata import bidirectional

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.formats.yawat import group_cells
from alignkit.io.records import RawAnnotation, Reading, Record, block
from alignkit.io.strict_json import Object, as_text, member, numbered, parse_json, texts
from alignkit.io.writing import Numbering, Writing, word_ids
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import BOM

_TOKEN = {
    "idWord",
    "word",
    "textType",
    "segmentIndex",
    "docSourceId",
    "sentenceIndex",
    "tokenIndex",
}
_WHOLE = {"id", "createdDT", "updatedDT", "userID", "origin", "targets", "alignmentGroups"}
_KINDS = ("origin", "target")


class _Text(NamedTuple):
    """An origin or a target: its words by segment, and the place of each word."""

    kind: str
    id: str
    language: str
    segments: dict[str, list[tuple[str, str]]]  # the ids and the words
    places: dict[str, tuple[str, int]]


def _parse(reading: Reading) -> Iterator[Record]:
    with reading.refusing():
        value = parse_json(reading.text(), reading.path)
        _check(value, _WHOLE, reading)
        targets: Object = member(value, "targets", dict)
        read = [_text("origin", member(value, "origin", dict), reading)]
        read += [_text("target", member(targets, key, dict), reading) for key in targets]
        chosen = reading.choose(*((text.language, text.id) for text in read))
        if 0 not in chosen:
            raise FormatError(f"`languages` must include the origin, {read[0].language}")
        pair = [read[k] for k in chosen]
        links = _links(value, pair, read[max(chosen)].id, reading)
        for index in dict.fromkeys([*pair[0].segments, *pair[1].segments]):
            record = Record(index, 1, None, None)
            for side, text in zip(SIDES, pair, strict=True):
                tokens = text.segments.get(index, ())
                ids, words = ([token[k] for token in tokens] for k in (0, 1))
                record.put(side, words, ids, language=text.language, textId=text.id)
            if not (record.source and record.target):
                reading.note("segment of one side only", f"segment {index[:40]!r}")
            if index in links:
                record.annotations[reading.name] = links[index]
            yield record


def _check(value: object, known: set[str], reading: Reading) -> None:
    """Check that a value is an object, and note its other members."""
    if not isinstance(value, dict):
        raise FormatError("expected an object")
    for key in value.keys() - known:
        reading.note("member left out", f"{key[:40]!r}")


def _text(kind: str, value: Object, reading: Reading) -> _Text:
    source: Object = member(value, "docSource", dict, {})
    metadata: Object = member(source, "metadata", dict, {})
    if facts := member(metadata, "properties", list, []):
        reading.note("metadata left out", f"{len(facts)} properties", times=len(facts))
    given: Object = member(value, "alignedText", dict)
    text = _Text(kind, member(given, "textId", str), member(given, "lang", str), {}, {})
    for segment in member(given, "segments", list):
        if isinstance(segment, dict):
            index = as_text(segment.get("index"))
        else:
            index = None
        if index is None:
            raise FormatError("expected an object with an 'index' for each segment")
        words = text.segments.setdefault(index, [])
        for token in member(segment, "tokens", list):
            _check(token, _TOKEN, reading)
            id: str = member(token, "idWord", str)
            if id in text.places:
                raise FormatError(f"idWord {id[:40]!r} occurs twice in one text")
            text.places[id] = index, len(words)
            words.append((id, member(token, "word", str)))
    return text


def _links(
    value: Object, pair: list[_Text], target: str, reading: Reading
) -> dict[str, RawAnnotation]:
    """Return the links of each segment that has a group."""
    links: dict[str, RawAnnotation] = {}
    for number, group in enumerate(member(value, "alignmentGroups", list, []), start=1):
        with numbered("group", number):
            _check(group, {"id", "actions"}, reading)
            actions: Object = member(group, "actions", dict)
            own: str = member(actions, "targetId", str, target)
            if own == target:
                ids = [texts(actions, text.kind) for text in pair]
            else:
                ids = []
        if ids:
            units = reading.by_unit(ids, [text.places for text in pair], "group across segments")
            for index, words in units.items():
                if made := block(*words):
                    links.setdefault(index, RawAnnotation()).links += made
    return links


def _write(pairs: Iterable[SentencePair], writing: Writing) -> None:
    numbering = Numbering(writing.lost)
    segments: list[list[Object]] = [[], []]
    groups: list[Object] = []
    about = [_about(SentencePair("", (), ()), side) for side in SIDES]
    for number, pair in enumerate(pairs):
        index = int(numbering.take(pair.id))
        ids = word_ids(pair, ".+", f"{{side}}-{number}-{{k}}")
        own = [_about(pair, side) for side in SIDES]
        about = own if number == 0 else about
        for side, facts, first in zip(SIDES, own, about, strict=True):
            writing.lost.update(
                _KEPT_ONCE[name].format(side) for name in facts if facts[name] != first[name]
            )
        for k, words in enumerate(pair.words):
            facts = {"textType": _KINDS[k], "docSourceId": about[k]["textId"]}
            where = {"segmentIndex": index, "sentenceIndex": 1}
            tokens = [
                {"idWord": id, "word": word, **facts, **where, "tokenIndex": n}
                for n, (id, word) in enumerate(zip(ids[k], words, strict=True))
            ]
            segments[k].append({"index": index, **about[k], **facts, "tokens": tokens})
        links = writing.alignment_or_empty(pair)
        for origin, target, _ in group_cells((link, "") for link in links):
            actions = {"segmentIndex": index, "targetId": about[1]["textId"]}
            actions["origin"] = [ids[0][n] for n in origin]
            actions["target"] = [ids[1][n] for n in target]
            groups.append({"id": str(len(groups)), "actions": actions})
    first, second = (_document(k, about[k], segments[k]) for k in (0, 1))
    value = {"origin": first, "targets": {about[1]["textId"]: second}, "alignmentGroups": groups}
    with writing.open() as stream:
        stream.write(json.dumps(value, ensure_ascii=False, indent=1).replace(BOM, "\\ufeff") + "\n")


def _about(pair: SentencePair, side: str) -> Object:
    """Return the facts about a text that the file has once."""
    start = "".join((getattr(pair, side) or ())[:20])
    return {
        "textId": pair.attributes.get(f"{side}.textId", side),
        "lang": pair.attributes.get(f"{side}.language", "und"),
        "direction": "rtl" if {*map(bidirectional, start)} & {"R", "AL"} else "ltr",
    }


_KEPT_ONCE = {
    "textId": "attribute {}.textId",
    "lang": "attribute {}.language",
    "direction": "direction of the {}",
}
"""What is lost if a fact about a text differs from that of the first pair."""


def _document(k: int, about: Object, segments: list[Object]) -> Object:
    lines = (" ".join(token["word"] for token in segment["tokens"]) for segment in segments)
    division = {"tokenizer": "simpleLocalTokenizer", "segments": "singleline"}
    common = {**about, "textType": _KINDS[k], "tokenization": division, "sourceType": "text"}
    return {
        "docSource": {**common, "text": "\n".join(lines), "metadata": {"properties": []}},
        "alignedText": {**common, "tokenPrefix": str(k + 1), "segments": segments},
    }


_HOLDS = kinds("text, ids, absent, spaces", "language", "textId", "id")
FORMAT = Format(parse=_parse, write=_write, holds=_HOLDS, languages=True, by_id=True)
