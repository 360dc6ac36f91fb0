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
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from unicodedata import bidirectional

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.formats.yawat import group_cells
from alignkit.io.records import RawAnnotation, Reading, Record, block
from alignkit.io.sniffing import matching
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
_ORIGIN = 0  # its place among the texts of a file, which are the origin and then the targets


class _Text(NamedTuple):
    """An origin or a target: its words by segment, and the place of each word."""

    kind: str
    id: str
    language: str
    segments: dict[str, list[tuple[str, str]]]  # the ids and the words
    places: dict[str, tuple[str, int]]


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield a pair for each segment of the two chosen texts."""
    with reading.refusing():
        value = parse_json(reading.text(), reading.path)
        _check(value, _WHOLE, reading)
        targets: Object = member(value, "targets", dict)
        read = [_text("origin", member(value, "origin", dict), reading)]
        read += [_text("target", member(targets, key, dict), reading) for key in targets]
        chosen = reading.choose(*((text.language, text.id) for text in read))
        if _ORIGIN not in chosen:  # groups link the origin and a target, never two targets
            raise FormatError(f"`languages` must include the origin, {read[0].language}")
        pair = [read[k] for k in chosen]
        target = read[max(chosen)]  # the other one: the origin has the lowest place
        links = _links(value, pair, target.id, reading)
        for index in dict.fromkeys([*pair[0].segments, *pair[1].segments]):
            record = Record(index, 1)
            for side, text in zip(SIDES, pair, strict=True):
                tokens = text.segments.get(index, ())
                ids = [id for id, _ in tokens]
                words = [word for _, word in tokens]
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
    """Read an origin or a target."""
    source: Object = member(value, "docSource", dict, {})
    metadata: Object = member(source, "metadata", dict, {})
    facts = member(metadata, "properties", list, [])
    if facts:
        reading.note("metadata left out", f"{len(facts)} properties", times=len(facts))
    given: Object = member(value, "alignedText", dict)
    text = _Text(kind, member(given, "textId", str), member(given, "lang", str), {}, {})
    for segment in member(given, "segments", list):
        index = as_text(segment.get("index")) if isinstance(segment, dict) else None
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
    """Return the links of each segment that has a group with the target of this id.

    The pair is the origin and that target, in the order in which they are read. A group that names
    no target is of the target that is read.
    """
    links: dict[str, RawAnnotation] = {}
    for number, group in enumerate(member(value, "alignmentGroups", list, []), start=1):
        with numbered("group", number):
            _check(group, {"id", "actions"}, reading)
            actions: Object = member(group, "actions", dict)
            target_of_group: str = member(actions, "targetId", str, target)
            if target_of_group != target:
                continue
            ids = [texts(actions, text.kind) for text in pair]
        units = reading.by_unit(ids, [text.places for text in pair], "group across segments")
        for index, (sources, targets) in units.items():
            cells = block(sources, targets)
            if cells:
                links.setdefault(index, RawAnnotation()).links += cells
    return links


def _write(writing: Writing) -> None:
    """Write one object: the origin, its translation, and the groups of linked words."""
    numbering = Numbering(writing.lost)
    segments: list[list[Object]] = [[], []]
    groups: list[Object] = []
    # for each side, the facts of the first pair; the defaults if there is no pair
    about = [_about(SentencePair("", (), ()), side) for side in SIDES]
    for number, pair in enumerate(writing.pairs):
        index = int(numbering.take(pair.id))
        id_template = "{side}-" + str(number) + "-{k}"  # `word_ids` fills in side and k
        ids = word_ids(pair, ".+", id_template)
        about_pair = [_about(pair, side) for side in SIDES]
        if number == 0:
            about = about_pair
        for side, facts, first in zip(SIDES, about_pair, about, strict=True):
            for name, fact in facts.items():
                if fact != first[name]:
                    lost = _KEPT_ONCE[name].format(side=side)
                    writing.lost[lost] += 1
        for k, words in enumerate(pair.words):
            segments[k].append(_segment(k, index, about[k], ids[k], words))
        links = writing.alignment_or_empty(pair)
        for origin, target, _ in group_cells((link, "") for link in links):
            actions = {
                "segmentIndex": index,
                "targetId": about[1]["textId"],
                "origin": [ids[0][place] for place in origin],
                "target": [ids[1][place] for place in target],
            }
            groups.append({"id": str(len(groups)), "actions": actions})
    value = {
        "origin": _document(0, about[0], segments[0]),
        "targets": {about[1]["textId"]: _document(1, about[1], segments[1])},
        "alignmentGroups": groups,
    }
    text = json.dumps(value, ensure_ascii=False, indent=1)
    with writing.open() as stream:
        stream.write(text.replace(BOM, "\\ufeff") + "\n")


def _segment(k: int, index: int, about: Object, ids: Sequence[str], words: Sequence[str]) -> Object:
    """Return a sentence of the origin (k = 0) or the target (1)."""
    facts = {"textType": _KINDS[k], "docSourceId": about["textId"]}
    tokens: list[Object] = []
    for place, (id, word) in enumerate(zip(ids, words, strict=True)):
        token: Object = {"idWord": id, "word": word, **facts}
        token |= {"segmentIndex": index, "sentenceIndex": 1, "tokenIndex": place}
        tokens.append(token)
    return {"index": index, **about, **facts, "tokens": tokens}


def _about(pair: SentencePair, side: str) -> Object:
    """Return the facts about a text that the file has once."""
    start = "".join((getattr(pair, side) or ())[:20])
    is_right_to_left = {*map(bidirectional, start)} & {"R", "AL"}
    return {
        "textId": pair.attributes.get(f"{side}.textId", side),
        "lang": pair.attributes.get(f"{side}.language", "und"),
        "direction": "rtl" if is_right_to_left else "ltr",
    }


_KEPT_ONCE = {
    "textId": "attribute {side}.textId",
    "lang": "attribute {side}.language",
    "direction": "direction of the {side}",
}
"""What is lost if a fact about a text differs from that of the first pair."""


def _document(k: int, about: Object, segments: list[Object]) -> Object:
    """Return the origin (k = 0) or the target (1) with its sentences."""
    lines = [" ".join(token["word"] for token in segment["tokens"]) for segment in segments]
    division = {"tokenizer": "simpleLocalTokenizer", "segments": "singleline"}
    common = {**about, "textType": _KINDS[k], "tokenization": division, "sourceType": "text"}
    return {
        "docSource": {**common, "text": "\n".join(lines), "metadata": {"properties": []}},
        "alignedText": {**common, "tokenPrefix": str(k + 1), "segments": segments},
    }


_HOLDS = kinds("text, ids, absent, spaces", "language", "textId", "id")
_BEGINS = re.compile(r'\{[^\0]*?"(alignedText"\s*:\s*\{|alignmentGroups"\s*:)')


FORMAT = Format(matching(_BEGINS), _parse, _write, holds=_HOLDS, languages=True, by_id=True)
