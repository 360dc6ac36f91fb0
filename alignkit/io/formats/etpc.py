"""The Extended Typology Paraphrase Corpus, a folder of XML [etpc].

Specification
-------------
A folder of files; each has a root with elements, which contain elements with texts:

- relations, in any number of files: ``<relation>`` with `pair_id`, `type_id`, `type_name`,
  `sense_preserving` (yes or no), `s1_scope` and `s2_scope`, `s1_text` and `s2_text`, `key_s1` and
  `key_s2`, `k1_text` and `k2_text`;
- ``text_pairs.xml`` (optional): `pair_id`, `sent1_tok` and `sent2_tok`, and `mrpc_label`,
  `etpc_label` and others;
- ``paraphrase_types.xml`` (optional): `type_id` and `type_name` of all types.

A scope is a list of word positions, from 0, separated by commas, or ``whole sentence``.

- A relation with words on both sides links each word of one side to each of the other, and labels
  these cells with the name of its type. The type Identity links equal words in equal order one by
  one. If the relation preserves the sense (yes), the links are sure; otherwise the cells keep the
  label but are not links. Words of a relation with one side are aligned to nothing, in the same
  way. The annotator is ``etpc``.
  Links of relations between different texts are counted: their words were not linked one by one.
- `etpc_label` and `mrpc_label` become judgments (scheme binary) of the annotators ``etpc`` and
  ``mrpc``. A pair is not aligned if no relation has words.
- The types of a pair become its attribute `phenomena`, separated by ``", "``; commas within the
  name of a type become semicolons. Types of relations between whole sentences are also in
  `whole-sentence`. Other data in text_pairs.xml become attributes, except the raw sentences.
- Without text_pairs.xml the words are not known. With ``--no-text`` they are taken from the texts
  of relations that have a word for each position of their scope; unknown words are ``_``.
  A sentence then ends at the last word of a relation: it may be longer.

Problems are counted: a stray comma in a list, a line end in a text, a type that is missing from
paraphrase_types.xml, relations that occur twice, have no words, or do not say whether they
preserve the sense, and words that differ between relations (the first is used). Pairs are in the
order of text_pairs.xml, or of their numbers. A single file of relations can be read if its format
is given. The format is read-only.

References
----------
Kovatchev, Martí & Salamó 2018, "ETPC: a paraphrase identification corpus annotated with extended
paraphrase typology and negation", LREC.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from alignkit._support.wording import natural_key
from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.records import DIFFERING, RawAnnotation, RawLink, Reading, Record, Status, block
from alignkit.io.safe_xml import Element, line_of, local_name, read_elements
from alignkit.io.sniffing import Head, Likeness, by_names, head_of_file
from alignkit.model.alignment import SIDES
from alignkit.model.labels import get_scheme

BLANK = "_"
"""Placeholder for an unknown word."""

_POSITION = re.compile(r"[0-9]{1,9}")
_SCOPES = ("s1_scope", "s2_scope")
_TEXTS = ("s1_text", "s2_text")
_SENSES = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed relation between words of two sentences."""

    pair: str  # the id of the pair
    number: str  # the number and the name of the type
    type: str
    preserving: bool  # whether it preserves the sense
    whole: bool  # whether one of its scopes is the whole sentence
    scopes: tuple[tuple[int, ...], tuple[int, ...]]
    texts: tuple[tuple[str, ...], tuple[str, ...]]  # its words, as it quotes them
    key: tuple[str, ...]  # all its texts, to tell one that occurs twice
    path: str  # where it stands
    line: int


def members_of(element: Element) -> dict[str, str]:
    """Return the texts of the child elements by name."""
    members: dict[str, str] = {}
    for child in element:
        name = local_name(child)
        if name in members:
            raise FormatError(f"<{name[:40]}> occurs twice", line=line_of(child))
        members[name] = child.text or ""
    return members


def read_relation(element: Element, path: str, line: int, reading: Reading) -> Relation:
    """Read a relation, and note its problems."""
    members = members_of(element)
    for name in ("pair_id", "type_name", *_SCOPES):
        if name not in members:
            raise FormatError(f"expected <{name}> in <relation>")
    pair = members["pair_id"].strip()
    type = members["type_name"].strip()
    if not (pair and type):
        raise FormatError("expected <pair_id> in <relation>")
    for name in (*_TEXTS, "k1_text", "k2_text"):
        if members.get(name, "").endswith("\n"):
            reading.note("line end in a text", f"{name} ends in a line end", line, path)
    for name in ("key_s1", "key_s2"):
        _positions(members.get(name, ""), name, path, line, reading)
    source = _positions(members["s1_scope"], "s1_scope", path, line, reading)
    target = _positions(members["s2_scope"], "s2_scope", path, line, reading)
    whole = source is None or target is None
    sense = members.get("sense_preserving", "").strip().casefold()
    if sense not in _SENSES:
        message = f"sense_preserving is {sense[:40]!r}; expected yes or no, and read as no"
        reading.note("sense not said", message, line, path)
    if not (source or target or whole):
        reading.note("relation without words", f"{type[:80]} of pair {pair[:40]!r}", line, path)
    first = tuple(reading.words(members.get("s1_text", ""), line, path))
    second = tuple(reading.words(members.get("s2_text", ""), line, path))
    return Relation(
        pair,
        members.get("type_id", "").strip(),
        type,
        _SENSES.get(sense, False),
        whole,
        (source or (), target or ()),
        (first, second),
        tuple(f"{name}={text}" for name, text in sorted(members.items())),
        path,
        line,
    )


def _positions(
    text: str, name: str, path: str, line: int, reading: Reading
) -> tuple[int, ...] | None:
    """Return a list of positions; None for the whole sentence."""
    text = text.strip()
    if text.casefold() == "whole sentence":
        return None
    parts = [part.strip() for part in text.split(",")] if text else []
    if not all(parts):
        reading.note("stray comma", f"{name} is {text[:40]!r}", line, path)
    positions = []
    for part in filter(None, parts):
        if not _POSITION.fullmatch(part):
            raise FormatError(f"{part[:40]!r} in {name} is not a word position")
        positions.append(int(part))
    return tuple(positions)


_TEXTS_ETPC = "text_pairs.xml"
_TYPES = "paraphrase_types.xml"
_LABELS = {"etpc": "etpc_label", "mrpc": "mrpc_label"}
_NOT_KEPT = ("pair_id", "sent1_raw", "sent2_raw", "sent1_tok", "sent2_tok", *_LABELS.values())

_Pairs = dict[str, list[Relation]]


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield the pairs of a folder, or of one file of relations, with their words if known."""
    path = Path(reading.path)
    beside = path if path.is_dir() else path.parent
    files = [path]
    if path.is_dir():
        others = (_TEXTS_ETPC, _TYPES)
        files = [file for file in reading.files("*.xml") if file.name not in others]
    pairs = _relations(reading, files, _types(reading, beside))
    texts = beside / _TEXTS_ETPC
    if texts.is_file():
        yield from _with_texts(reading, texts, pairs)
        return
    for id in sorted(pairs, key=natural_key):
        relations = pairs[id]
        record = Record(id, relations[0].line, None, None, path=relations[0].path)
        if reading.options.no_text:
            record.source, record.target = _known_words(reading, relations)
        yield from _filled(reading, record, relations, {})


def _types(reading: Reading, folder: Path) -> set[tuple[str, str]]:
    """Return the number and the name of each type, if they are listed."""
    path = str(folder / _TYPES)
    if not Path(path).is_file():
        return set()
    types = set()
    for element in islice(read_elements(reading, "*", path), 1, None):  # without the root
        members = _members(reading, element, path)
        types.add((members.get("type_id", "").strip(), members.get("type_name", "").strip()))
    return types


def _members(reading: Reading, element: Element, path: str) -> dict[str, str]:
    """Return the members of an element; none if it is broken, after reporting it."""
    with reading.refusing(path=path):
        return members_of(element)
    return {}


def _relations(reading: Reading, files: Sequence[Path], types: set[tuple[str, str]]) -> _Pairs:
    """Return the relations of each pair, each once."""
    pairs: _Pairs = {}
    seen: set[tuple[str, ...]] = set()
    for path in map(str, files):
        with (
            suppress(FormatError) if reading.is_cut else nullcontext()
        ):  # the last may not be whole
            for element in islice(read_elements(reading, "relation", path), 1, None):
                line = line_of(element)
                with reading.refusing(line, path):
                    relation = read_relation(element, path, line, reading)
                    if relation.key in seen:
                        reading.note("relation occurs twice", f"pair {relation.pair!r}", line, path)
                        continue
                    seen.add(relation.key)
                    if types and (relation.number, relation.type) not in types:
                        message = f"{relation.number[:40]} {relation.type[:80]} is not in {_TYPES}"
                        reading.note("unknown type", message, line, path)
                    pairs.setdefault(relation.pair, []).append(relation)
    if not files:
        raise reading.error("no .xml file with relations in this folder")
    return pairs


def _with_texts(reading: Reading, texts: Path, pairs: _Pairs) -> Iterator[Record]:
    """Yield the pairs that are listed with their words; refuse relations of other pairs."""
    path = str(texts)
    seen: set[str] = set()
    for element in islice(read_elements(reading, "*", path), 1, None):
        line = line_of(element)
        members = _members(reading, element, path)
        id = members.get("pair_id", "").strip()
        first = members.get("sent1_tok")
        second = members.get("sent2_tok")
        if not members:
            continue
        if not id or first is None or second is None:
            message = f"<{local_name(element)[:40]}> without pair_id, sent1_tok or sent2_tok"
            reading.reject(message, line, path)
            continue
        words = reading.words(first, line, path), reading.words(second, line, path)
        record = Record(id, line, *words, path=path)
        relations = [] if id in seen else pairs.get(id, [])
        seen.add(id)
        yield from _filled(reading, record, relations, members)
    for id, others in pairs.items():
        if id not in seen:
            message = f"pair {id[:40]!r} is not in {_TEXTS_ETPC}"
            reading.reject(message, others[0].line, others[0].path)


def _filled(
    reading: Reading, record: Record, relations: Sequence[Relation], members: dict[str, str]
) -> Iterator[Record]:
    """Yield the record with its annotations and attributes; nothing if a label is rejected."""
    with reading.refusing(record.line, record.path):
        for name, key in _LABELS.items():
            label = members.get(key, "").strip()
            if label:
                judgment = reading.judged(get_scheme("binary"), label, record.line)
                if judgment:
                    record.annotations[name] = judgment
        links: list[RawLink] = []
        for relation in relations:
            links += _links(relation, reading)
        if links:
            annotation = record.annotations.setdefault("etpc", RawAnnotation())
            annotation.aligned = True
            annotation.path = relations[0].path
            annotation.links = links
        for key, text in members.items():
            if key not in _NOT_KEPT and text.strip():
                record.attributes[key] = text.strip()
        whole = [relation for relation in relations if relation.whole]
        for name, chosen in (("phenomena", relations), ("whole-sentence", whole)):
            types = dict.fromkeys(relation.type.replace(",", ";") for relation in chosen)
            if types:
                record.attributes[name] = ", ".join(types)
        yield record


def _links(relation: Relation, reading: Reading) -> list[RawLink]:
    """Return the links of a relation: one by one, or each word with each."""
    status: Status = "sure" if relation.preserving else "none"
    sources, targets = relation.scopes
    if relation.whole or not (sources or targets):
        return []
    first, second = relation.texts
    one_by_one = relation.type.casefold() == "identity" and first == second
    if one_by_one and len(sources) == len(targets) == len(first):
        links = []
        for i, j in zip(sources, targets, strict=True):
            links.append(RawLink(i, j, status, relation.line, label=relation.type))
    else:
        links = block(sources or [None], targets or [None], status, relation.line, relation.type)
    if relation.preserving and sources and targets and first != second:
        message = f"{relation.type[:80]}: {len(sources)} x {len(targets)} words, each with each"
        reading.note(DIFFERING, message, relation.line, relation.path, times=len(links))
    return links


def _known_words(reading: Reading, relations: Sequence[Relation]) -> tuple[list[str], list[str]]:
    """Return the words of both sides as far as the relations of a pair quote them."""
    sides: tuple[dict[int, str], dict[int, str]] = ({}, {})
    lengths = [0, 0]
    for relation in relations:
        for k, known in enumerate(sides):
            scope = relation.scopes[k]
            words = relation.texts[k]
            lengths[k] = max(lengths[k], max(scope, default=-1) + 1)
            if lengths[k] > reading.options.max_words:
                name = f"pair {relation.pair[:40]!r}: the {SIDES[k]}"
                raise reading.too_long(name, lengths[k], relation.line, relation.path)
            if len(scope) != len(words):
                continue
            for position, word in zip(scope, words, strict=True):
                first = known.setdefault(position, word)
                if first != word:
                    message = f"word {position} is {first[:40]!r} and {word[:40]!r}"
                    reading.note("words differ", message, relation.line, relation.path)
    source = [sides[0].get(place, BLANK) for place in range(lengths[0])]
    target = [sides[1].get(place, BLANK) for place in range(lengths[1])]
    return source, target


def _remark(reading: Reading) -> str:
    """Report that lengths are a lower bound, if words are taken from relations."""
    path = Path(reading.path)
    texts = (path if path.is_dir() else path.parent) / _TEXTS_ETPC
    if not reading.options.no_text or texts.is_file():
        return ""
    return (
        f"its words are taken from relations, and unknown words are {BLANK}; a sentence "
        "ends at the last known word, and may be longer"
    )


_SHOWN = {"relation", "pair_id", "type_name", "s1_scope", "s2_scope"}
_LOOKED_AT = 5  # files of a folder


def _sniff(head: Head) -> Likeness:
    """Look for elements of relations, in a folder in any of the first files."""
    elements = set(head.elements)
    if head.folder is not None:
        for path in islice(sorted(head.folder.glob("*.xml")), _LOOKED_AT):
            elements |= head_of_file(str(path)).elements
    return by_names(elements, _SHOWN)


FORMAT = Format(
    _sniff,
    _parse,
    scheme="binary",
    folder=True,
    remark=_remark,
    members=lambda reading: reading.files("*.xml"),
    files="several files",
    holds=kinds(
        "text, no text, ids, nulls, labels, other labels, judgment, judged only, annotators, "
        "attributes, absent"
    ),
)
