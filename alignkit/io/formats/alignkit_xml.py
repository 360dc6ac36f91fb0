"""alignkit's own XML [alignkit-xml]; represents everything.

Specification
-------------
The RELAX NG schema is `alignkit.rng` in the folder above this file. All elements are in the
namespace ``urn:alignkit:corpus:1``::

    <corpus xmlns="urn:alignkit:corpus:1" version="1">
      <pair id="p1">
        <attribute name="genre">news</attribute>
        <source><w>a</w> <w>b</w></source>
        <target><w>c</w></target>
        <tree side="source" name="parse">(NP (DT a) (NN b))</tree>
        <annotation by="anna" judgment="paraphrase" provenance="..." role="system"
            when="2026-11-22T13:06:28Z">
          <flag>tokenization</flag>
          <comment>...</comment>
          <sure>0-0</sure>
          <possible>1-0</possible>
          <null>3- -4</null>
          <possible-null>2-</possible-null>
          <unseen>1-0</unseen>
          <weight link="0-0">0.93</weight>
          <label link="0-0">EQUI</label>
        </annotation>
      </pair>
    </corpus>

- `source` and `target` have one `w` per token, including its whitespace; if the element is
  missing, the words are not known.
- A `tree` of a side is written in Penn brackets (`alignkit.model.brackets`); its leaves are the
  tokens.
- Links are ``i-j``, source first, from 0. `possible` lists those that are *only* possible.
  ``3-`` means that source word 3, and ``-4`` that target word 4, was aligned to nothing.
- A label may be on a cell without a link.
- `role` is one of annotator, initial, adjudicated and system; it may be missing.
- `when` is the time of the last change, with seconds and zone.
- `start` says what the annotator was shown to begin with: the name of an alignment or of a set of
  suggestions; empty: no links. If it is missing, this is not known.
- `learned` says what the system that made the links learned from, and whether this pair is among
  it: ``30 pairs of ["anna"], digest 5f2c9a0b1c2d3e4f, with this``.
- `unseen` lists the links that the annotator accepted in bulk, or kept by marking the pair as done,
  and never looked at; each is also in `sure` or `possible`. If it is missing, there are none, or
  this is not known.
- A missing name has not annotated the pair. An annotation with an empty `sure` has no links. One
  without `sure`, `possible`, `null`, `possible-null` and labels is not an alignment: the pair was
  judged or commented, but not aligned. An empty one, ``<annotation by="anna"/>``, is an
  annotation without links; earlier versions wrote it like this.

Each pair is checked against the schema as it is read, in constant memory. Entities, document types
and the network are never used (`alignkit.io.safe_xml`). Characters that XML 1.0 does not allow
(control characters, lone surrogates, U+FFFE and U+FFFF) are rejected when writing; use
alignkit-jsonl for those that are text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources import files
from typing import Any, TypeVar

from lxml import etree

from alignkit.errors import FormatError
from alignkit.io.format import EVERYTHING, Format
from alignkit.io.records import (
    RawAnnotation,
    RawLink,
    Reading,
    Record,
    Status,
    parse_links,
    parse_nulls,
    raw_links,
)
from alignkit.io.safe_xml import Element, line_of, local_name, read_elements, write_elements
from alignkit.io.sniffing import Head, Likeness
from alignkit.io.writing import LinkTexts, Writing
from alignkit.model.alignment import SIDES
from alignkit.model.annotation import Annotation
from alignkit.model.sentence_pair import SentencePair

V = TypeVar("V")
_REMARKS = ("judgment", "provenance", "when", "role", "learned")
_LINKS: dict[str, tuple[Callable[[str, Status, int], list[RawLink]], Status]] = {
    "sure": (parse_links, "sure"),
    "possible": (parse_links, "possible"),
    "null": (parse_nulls, "sure"),
    "possible-null": (parse_nulls, "possible"),
}
"""How the elements with links are read, and the status of these links."""

# the characters that XML 1.0 cannot hold
_UNHELD = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

NAMESPACE = "urn:alignkit:corpus:1"


def load_schema() -> etree.RelaxNG:
    """Return the schema."""
    text = files("alignkit.io").joinpath("alignkit.rng").read_bytes()
    return etree.RelaxNG(etree.fromstring(text))


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield the pairs, each checked against the schema."""
    schema = load_schema()
    elements = read_elements(reading, "pair")
    root = next(elements)
    if root.tag != f"{{{NAMESPACE}}}corpus":
        raise reading.error(
            f"the root is <{str(root.tag)[:60]}>; expected <corpus> in the namespace {NAMESPACE}",
            line_of(root),
        )
    if root.get("version") != "1" or len(root.attrib) != 1:
        start = etree.tostring(root, encoding="unicode")[:100].split(">")[0]
        raise reading.error(f'{start!r}...; expected only version="1"', line_of(root))
    for element in elements:
        line = line_of(element)
        with reading.refusing(line):
            if not schema.validate(element):
                raise _refused(schema)
            yield _record(element, line)


def _refused(schema: etree.RelaxNG) -> FormatError:
    """Return the first error of the last validation."""
    first = next(iter(schema.error_log), None)
    text = first.message if first else "does not follow the schema"
    message = f"does not follow alignkit.rng: {text[:1].lower()}{text[1:][:200]}"
    return FormatError(message, line=first.line if first else None)


def _record(element: Element, line: int) -> Record:
    """Return a pair as written."""
    record = Record(element.get("id") or "", line)
    for child in element:
        name = local_name(child)
        if name == "attribute":
            _add(record.attributes, child.get("name") or "", child.text or "", child)
        elif name in SIDES:
            setattr(record, name, [word.text or "" for word in child])
        elif name == "tree":
            is_source = child.get("side") == "source"
            trees = record.source_trees if is_source else record.target_trees
            _add(trees, child.get("name") or "", child.text or "", child)
        else:
            _add(record.annotations, child.get("by") or "", _annotation(child), child)
    return record


def _add(known: dict[str, V], key: str, value: V, element: Element) -> None:
    """Add the value of an element to those known, unless its key is known already."""
    if key in known:
        message = f"{local_name(element)} {key[:40]!r} occurs twice in one pair"
        raise FormatError(message, line=line_of(element))
    known[key] = value


def _annotation(element: Element) -> RawAnnotation:
    """Return an annotation as written."""
    remarks: dict[str, Any] = {key: element.get(key) or "" for key in _REMARKS}
    annotation = RawAnnotation(**remarks, start=element.get("start"))
    links = []
    flags = []
    aligned = False
    unseen = ""
    weights: dict[str, float] = {}
    labels: dict[str, str] = {}
    for child in element:
        name = local_name(child)
        text = child.text or ""
        line = line_of(child)
        if name == "flag":
            flags.append(text)
        elif name == "comment":
            annotation.comment = text
        elif name == "weight":
            weight = float(text)  # the schema let nothing else pass, but it does let NaN
            if not math.isfinite(weight):
                raise FormatError(f"weight {text[:40]!r} is not a finite number", line=line)
            _add(weights, child.get("link") or "", weight, child)
        elif name == "label":
            _add(labels, child.get("link") or "", text, child)
        elif name == "unseen":
            unseen = text
        else:
            aligned = True
            parse, status = _LINKS[name]
            links += parse(text, status, line)
    annotation.flags = flags
    annotation.links = raw_links(links, weights, labels, line_of(element), unseen)
    # see above: what is empty is an alignment without links, unless something else was remarked
    is_remark = bool(annotation.comment or flags or annotation.judgment or annotation.provenance)
    annotation.aligned = aligned or bool(labels) or not is_remark
    return annotation


def _where(pair: SentencePair) -> str:
    """Return which comment or label of a pair XML cannot hold; empty if it is something else."""
    for name, annotation in pair.annotations.items():
        if _UNHELD.search(annotation.comment):
            return f" in the comment of {name[:40]!r}"
        if annotation.alignment is None:
            continue
        for link, text in annotation.alignment.labels.items():
            if _UNHELD.search(text):
                return f" in the label of {name[:40]!r} on link {link.i}-{link.j} (from 0)"
    return ""


def _written(pair: SentencePair, writing: Writing) -> Element:
    """Return the element of a pair."""
    element = etree.Element("pair", {"id": pair.id})
    for key, value in pair.attributes.items():
        _child(element, "attribute", value, {"name": key})
    for side in SIDES:
        tokens = getattr(pair, side)
        if tokens is not None:
            words = _child(element, side)
            for token in tokens:
                _child(words, "w", token)
    for side in SIDES:
        for name, tree in getattr(pair, f"{side}_trees").items():
            _child(element, "tree", str(tree), {"side": side, "name": name})
    for name, annotation in pair.annotations.items():
        _write_annotation(element, name, annotation, writing)
    _indent(element, "    ")
    return element


def _write_annotation(pair: Element, name: str, annotation: Annotation, writing: Writing) -> None:
    """Add an annotation to the element of its pair."""
    element = _child(pair, "annotation", "", {"by": name})
    for key in _REMARKS:
        text = getattr(annotation, key)
        if text:
            element.set(key, text)
    if annotation.start is not None:
        element.set("start", annotation.start)
    for flag in sorted(annotation.flags):
        _child(element, "flag", flag)
    if annotation.comment:
        _child(element, "comment", annotation.comment)
    if annotation.alignment is not None:
        links = LinkTexts(writing.oriented(annotation.alignment), writing.base)
        for key in ("sure", "possible", "null", "possible_null"):
            text = getattr(links, key)
            if text or key == "sure":  # without links it is an alignment still
                _child(element, key.replace("_", "-"), text)
        if annotation.unseen:
            _child(element, "unseen", writing.link_text(annotation.unseen))
        for link, weight in links.weights.items():
            _child(element, "weight", repr(float(weight)), {"link": link})
        for link, label in links.labels.items():
            _child(element, "label", label, {"link": link})
    _indent(element, "      ")


def _child(
    parent: Element, name: str, text: str = "", attributes: dict[str, str] | None = None
) -> Element:
    """Add an element to another, and return it."""
    child = etree.SubElement(parent, name, attributes)
    if text:
        child.text = text
    return child


def _indent(element: Element, space: str) -> None:
    """Put each child on a line of its own, after this space."""
    if len(element):
        element.text = "\n" + space
        for child in element:
            child.tail = "\n" + space
        element[-1].tail = "\n" + space[:-2]


_HEAD = f'<corpus xmlns="{NAMESPACE}" version="1">'
_BEGINNING = 512  # characters


def _sniff(head: Head) -> Likeness:
    """Look for the namespace, or for elements that no other format has together."""
    if head.text[:1] != "<":
        return Likeness.NO
    if "urn:alignkit:" in head.text[:_BEGINNING]:
        return Likeness.SURE
    return Likeness.LIKELY if {"pair", "annotation"} <= head.elements else Likeness.NO


FORMAT = Format(
    _sniff,
    _parse,
    partial(write_elements, head=_HEAD, made=_written, where=_where),
    holds=EVERYTHING,
)
