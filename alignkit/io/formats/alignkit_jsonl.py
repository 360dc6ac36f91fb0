"""alignkit's own JSON, one pair per line [alignkit-jsonl]; represents everything.

Specification
-------------
UTF-8. The first line is a header. It may be missing, for example in lines written by hand; if it
is present, the version must be known::

    {"alignkit": "corpus", "version": 1}

Then one object per line and pair::

    {"id": "p1", "source": ["a", "b"], "target": ["c"], "attributes": {"genre": "news"},
     "trees": {"source": {"parse": "(NP (DT a) (NN b))"}, "target": {"parse": "(NP (NN c))"}},
     "annotations": {"anna": {"sure": "0-0", "possible": "1-0", "null": "3- -4",
                              "possible_null": "2-", "weights": {"0-0": 0.93},
                              "labels": {"0-0": "EQUI"}, "comment": "...", "flags": ["..."],
                              "judgment": "...", "provenance": "...",
                              "when": "2026-11-22T13:06:28Z", "unseen": "1-0"}}}

- `source` and `target` are the tokens, which may be empty or contain whitespace; null or missing:
  the words are not known.
- A name missing from `annotations` has not annotated the pair; ``{"sure": ""}`` is an annotation
  without links. An annotation without `sure`, `possible`, `null`, `possible_null` and labels is
  not an alignment: with ``{"judgment": "paraphrase"}`` the pair was judged, but not aligned. An
  empty annotation, ``{}``, is an error.
- Links are ``i-j``, source first, from 0, separated by spaces. `possible` lists those that are
  *only* possible. ``3-`` means that source word 3, and ``-4`` that target word 4, was aligned to
  nothing: `null` surely, `possible_null` possibly.
- `role` is ``initial`` (automatic, the start for annotators), ``adjudicated`` or ``system``
  (another automatic alignment); without it, the annotation is by an annotator.
- `when` is the time of the last change, with seconds and zone. It is not enough by itself.
- `start` says what the annotator was shown to begin with: the name of an alignment or of a set of
  suggestions; ``""``: no links. Without it, this is not known. It is not enough by itself.
- `learned` says what the system that made the links learned from, and whether this pair is among
  it: ``30 pairs of ["anna"], digest 5f2c9a0b1c2d3e4f, with this``. It is not enough by itself.
- `unseen` lists the links that the annotator accepted in bulk, or kept by marking the pair as done,
  and never looked at; each is also in `sure` or `possible`. Without it, there are none, or this is
  not known.
- `trees` has for each side, by name, constituent trees in Penn brackets
  (`alignkit.model.brackets`); the leaves are the tokens.
- `weights` and `labels` have links or nulls as keys; a label may be on a cell without a link.
- Empty members are left out, except the `sure` of an alignment and `start`. Members that are null
  count as missing; unknown members are an error.

Empty lines have no meaning, and files may be concatenated. The objects may also be the elements of
one JSON array, which is read as a whole.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator
from itertools import chain
from typing import TypeGuard

from alignkit._support.values import FrozenMap
from alignkit.errors import AlignkitError, AlignmentError, FormatError
from alignkit.io.format import EVERYTHING, Format
from alignkit.io.records import RawAnnotation, Reading, Record, parse_links, parse_nulls, raw_links
from alignkit.io.sniffing import Head, Likeness
from alignkit.io.strict_json import Object, json_objects, member, texts, write_line
from alignkit.io.writing import LinkTexts, Writing
from alignkit.model.alignment import SIDES, Alignment
from alignkit.model.annotation import Annotation
from alignkit.model.sentence_pair import SentencePair

VERSION = 1
_HEADER = {"alignkit": "corpus", "version": VERSION}
_TEXTS = ("comment", "judgment", "provenance", "role")
_PAIR = {"id", "source", "target", "attributes", "annotations", "trees"}
_LINKS = ("sure", "possible", "null", "possible_null")
_OTHERS = ("when", "start", "learned")
_ANNOTATION = {*_LINKS, "weights", "labels", "flags", *_TEXTS, *_OTHERS, "unseen"}
_SIMPLE = {"sure", "possible", *_TEXTS, *_OTHERS}
_JUDGED = {"judgment"}
_PLAIN = re.compile(r"(?:[0-9]{1,9}-[0-9]{1,9}(?: [0-9]{1,9}-[0-9]{1,9})*)?")


def _parse(reading: Reading) -> Iterator[Record]:
    for line, value in _objects(reading):
        with reading.refusing(line):
            yield _record(value, line)


def _pairs(reading: Reading) -> Iterator[SentencePair]:
    """Yield the pairs, as `_parse` does; simple ones are built faster."""
    plain = reading.base == 0 and not reading.options.transpose
    for line, value in _objects(reading):
        pair = _quick(value, reading) if plain else None
        if pair is not None:
            reading.read += 1
        else:
            with reading.refusing(line):
                pair = reading.build(_record(value, line))
        if pair is not None:
            yield pair


def _objects(reading: Reading) -> Iterator[tuple[int, Object]]:
    """Yield the objects of pairs with their lines; headers are checked."""
    for _, line, value in json_objects(reading):
        with reading.refusing(line):
            if "alignkit" not in value:
                yield line, value
            elif value != _HEADER:
                known = json.dumps(_HEADER)
                raise FormatError(f"unknown header {json.dumps(value)[:60]}; expected {known}")


def _record(value: Object, line: int) -> Record:
    """Return a pair as written."""
    _check_keys(value, _PAIR, "pair")
    id: str = member(value, "id", str)
    given: Object = member(value, "annotations", dict, {})
    source_trees, target_trees = _tree_texts(value)
    source = _words(value, "source")
    target = _words(value, "target")
    annotations: dict[str, RawAnnotation] = {}
    for name in given:
        annotations[name] = _annotation(member(given, name, dict), name, line)
    attributes = _texts_by_key(value, "attributes")
    return Record(id, line, source, target, annotations, attributes, "", source_trees, target_trees)


def _texts_by_key(value: Object, key: str) -> dict[str, str]:
    """Return a member that is an object of texts; empty if it is missing."""
    given: Object = member(value, key, dict, {})
    return {name: member(given, name, str) for name in given}


def _words(value: Object, side: str) -> list[str] | None:
    """Return the tokens of a side, if they are known."""
    return None if value.get(side) is None else texts(value, side)


def _tree_texts(value: Object) -> list[dict[str, str]]:
    """Return the trees of the source and of the target by name, as brackets."""
    sides: Object = member(value, "trees", dict, {})
    _check_keys(sides, set(SIDES), "trees")
    return [_texts_by_key(sides, side) for side in SIDES]


def _annotation(value: Object, name: str, line: int) -> RawAnnotation:
    """Return an annotation as written."""
    _check_keys(value, _ANNOTATION, f"annotation of {name[:40]!r}")
    links = parse_links(member(value, "sure", str, ""))
    links += parse_links(member(value, "possible", str, ""), "possible")
    links += parse_nulls(member(value, "null", str, ""))
    links += parse_nulls(member(value, "possible_null", str, ""), "possible")
    given: Object = member(value, "weights", dict, {})
    weights: dict[str, float] = {}
    for key, weight in given.items():
        if type(weight) not in (int, float):
            raise FormatError(f"the weight of {key[:40]!r} is not a number")
        weights[key] = float(weight)
    labels = _texts_by_key(value, "labels")
    unseen = member(value, "unseen", str, "")
    annotation = RawAnnotation(raw_links(links, weights, labels, line, unseen))
    if value.get("flags") is not None:
        annotation.flags = texts(value, "flags")
    annotation.aligned = bool(labels) or any(value.get(key) is not None for key in _LINKS)
    if value.get("start") is not None:
        annotation.start = member(value, "start", str)
    for key in (*_TEXTS, "when", "learned"):
        setattr(annotation, key, member(value, key, str, ""))
    said = annotation.aligned or annotation.flags or any(value.get(key) for key in _TEXTS)
    if not said:
        raise FormatError(
            f'the annotation of {name[:40]!r} is empty; write {{"sure": ""}} for an alignment '
            "without links, or leave the name out if the pair is not annotated"
        )
    return annotation


def _check_keys(value: Object, known: set[str], what: str) -> None:
    """Refuse unknown members of an object."""
    unknown = value.keys() - known
    if unknown:
        raise FormatError(
            f"unknown key {min(unknown)[:40]!r} in the {what}; known: {', '.join(sorted(known))}"
        )


def _quick(value: Object, reading: Reading) -> SentencePair | None:
    """Return a pair if its record is simple; None if `_record` and `build` are needed."""
    if not value.keys() <= _PAIR:
        return None
    id = value.get("id")
    source = value.get("source")
    target = value.get("target")
    if type(id) is not str or not _all_texts(source) or not _all_texts(target):
        return None
    if max(len(source), len(target)) > reading.options.max_words:
        return None
    attributes = value.get("attributes", {})
    raw_annotations = value.get("annotations", {})
    if type(attributes) is not dict or type(raw_annotations) is not dict:
        return None
    if attributes and not _all_texts(list(attributes.values())):
        return None
    annotations = []
    for name, raw in raw_annotations.items():
        annotation = _quick_annotation(raw, len(source), len(target))
        if annotation is None:
            return None
        annotations.append((name, annotation))
    words = tuple(map(reading.token, source)), tuple(map(reading.token, target))
    if "trees" not in value:
        return SentencePair(id, *words, FrozenMap(annotations), attributes)
    from alignkit.model.trees import Tree

    trees: list[dict[str, Tree]] = []
    try:
        for by_name, tokens in zip(_tree_texts(value), words, strict=True):
            trees.append({name: Tree.parse(text, tokens) for name, text in by_name.items()})
    except FormatError:  # `build` says where
        return None
    return SentencePair(id, *words, FrozenMap(annotations), attributes, *trees)


def _all_texts(values: object) -> TypeGuard[list[str]]:
    """Return whether a value is a list of texts."""
    return type(values) is list and set(map(type, values)) <= {str}


def _quick_annotation(raw: object, n: int, m: int) -> Annotation | None:
    """Return a simple annotation of n source and m target words; None if it is not simple."""
    if type(raw) is not dict or not raw.keys() <= _SIMPLE or not _all_texts(list(raw.values())):
        return None
    alignment = None
    if "sure" in raw:
        alignment = _quick_alignment(raw["sure"], raw.get("possible", ""), n, m)
    if alignment is None and not (raw.keys() == _JUDGED and raw["judgment"]):
        return None
    try:
        members = {key: raw[key] for key in (*_TEXTS, *_OTHERS) if key in raw}
        return Annotation(alignment, **members)
    except AlignmentError:  # no time: `build` says where
        return None


def _quick_alignment(sure: str, possible: str, n: int, m: int) -> Alignment | None:
    """Return an alignment of n source and m target words; None if there is an error."""
    if _PLAIN.fullmatch(sure) is None or _PLAIN.fullmatch(possible) is None:
        return None
    numbers = list(map(int, sure.replace("-", " ").split()))
    certain = len(numbers) // 2
    if possible:
        numbers += map(int, possible.replace("-", " ").split())
    sources = numbers[::2]
    targets = numbers[1::2]
    if numbers and (max(sources) >= n or max(targets) >= m):
        return None
    links = list(zip(sources, targets, strict=True))
    if not possible:
        links.sort()
        flags = b"\1" * certain
    else:
        order = sorted(range(len(links)), key=links.__getitem__)
        links = [links[k] for k in order]
        flags = bytes(k < certain for k in order)
    if len(set(links)) < len(links):
        return None
    return Alignment.from_bytes(array("i", chain.from_iterable(links)).tobytes(), flags)


def _write(writing: Writing) -> None:
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    with writing.open() as stream:
        stream.write(encode(_HEADER) + "\n")
        for pair in writing.pairs:
            try:
                write_line(stream, encode, _written(pair, writing))
            except ValueError as problem:  # NaN, or half a surrogate pair
                raise AlignkitError(f"pair {pair.id[:40]!r} cannot be written: {problem}") from None


def _written(pair: SentencePair, writing: Writing) -> Object:
    """Return the object of a pair, without empty members."""
    value: Object = {"id": pair.id, "source": pair.source, "target": pair.target}
    if pair.attributes:
        value["attributes"] = dict(pair.attributes)
    for side in SIDES:
        trees = getattr(pair, f"{side}_trees")
        if trees:
            written = {name: str(tree) for name, tree in trees.items()}
            value.setdefault("trees", {})[side] = written
    for name, annotation in pair.annotations.items():
        members: Object = {}
        if annotation.alignment is not None:
            links = LinkTexts(writing.oriented(annotation.alignment), writing.base)
            members = {key: getattr(links, key) for key in (*_LINKS, "weights", "labels")}
            members["unseen"] = writing.link_text(annotation.unseen)
        for key in ("comment", "flags", "judgment", "provenance", "when", "role", "learned"):
            members[key] = getattr(annotation, key)
        members["flags"] = sorted(annotation.flags)
        kept = {key: member for key, member in members.items() if member or key == "sure"}
        if annotation.start is not None:
            kept["start"] = annotation.start
        value.setdefault("annotations", {})[name] = kept
    return value


def _sniff(head: Head) -> Likeness:
    """Look for the header, or for members that no other format has together."""
    if head.text.startswith('{"alignkit"'):
        return Likeness.SURE
    if head.text[:1] == "[" and {"source", "target", "annotations"} <= head.members:
        return Likeness.SURE
    shown = "[" not in head.text[:3] and {"source", "target"} <= head.members
    if shown and head.members & {"annotations", "attributes"}:
        return Likeness.LIKELY
    return Likeness.MAYBE if shown and head.text[:1] == "{" else Likeness.NO


FORMAT = Format(_sniff, _parse, _write, pairs=_pairs, holds=EVERYTHING)
