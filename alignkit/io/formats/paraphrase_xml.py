"""Read and write the XML edition of a paraphrase corpus with several annotators [paraphrase-xml].

Specification
-------------
Any root, with one element per pair::

    <corpus>
      <paraphrase id="novels:1">
        <first><string>a b c d</string></first>
        <second><string>e f</string></second>
        <alignments source="anna">
          <alignment first="0" second="0" status="sure"/>
          <alignment first="1 2" second="1" status="possible"/>
          <alignment first="3" second="" status="sure"/>
        </alignments>
      </paraphrase>
    </corpus>

No schema of these files is published, so reading is tolerant:

- namespaces of names are ignored; unknown elements are noted and left out;
- `first` is the source, `second` the target: tokens separated by whitespace, in `string` or
  directly in the element;
- the attributes `first` and `second` are word positions, from 0 (or 1 with ``--base``). Several of
  them, separated by spaces or commas, are a block: every word of one side is linked to every word
  of the other. If one side has none, the words of the other are aligned to nothing;
- `status` is sure (also ``S``) or possible (``poss``, ``P``); the default is sure;
- `alignments` without `source` belong to the annotator given by the user; without any
  `alignments` the pair is not annotated;
- a paraphrase without `id` gets a number, from 1; its other attributes are kept.

The file is parsed without entities, document type or network (`alignkit.io.safe_xml`).

References
----------
The corpus: Cohn, Callison-Burch & Lapata 2008, "Constructing corpora for the development and
evaluation of paraphrase systems", Computational Linguistics 34(4),
doi:10.1162/coli.08-003-R1-07-044.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from lxml import etree

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record, Status, block
from alignkit.io.safe_xml import (
    Element,
    line_of,
    local_name,
    read_elements,
    stray_text,
    write_elements,
)
from alignkit.io.sniffing import Head, Likeness
from alignkit.io.writing import Writing, links_and_nulls
from alignkit.model.alignment import NULL
from alignkit.model.sentence_pair import SentencePair

_STATUS: dict[str, Status] = {
    "": "sure",
    "s": "sure",
    "sure": "sure",
    "p": "possible",
    "poss": "possible",
    "possible": "possible",
}
_POSITION = re.compile(r"[0-9]{1,9}")
_ATTRIBUTES = 1000  # of one element: more is an attack on time


def _parse(reading: Reading) -> Iterator[Record]:
    elements = read_elements(reading, "paraphrase")
    root = next(elements)
    if len(root.attrib):
        reading.note("attributes left out", f"of the root <{local_name(root)[:40]}>", line_of(root))
    for number, element in enumerate(elements, start=1):
        with reading.refusing(line_of(element)):
            yield _record(reading, element, number)


def _record(reading: Reading, element: Element, number: int) -> Record:
    """Return a pair with the links of each annotator."""
    record = Record(element.get("id") or str(number), line_of(element))
    if len(element.attrib) > _ATTRIBUTES:
        raise FormatError(f"a pair with {len(element.attrib)} attributes")
    for key, value in element.attrib.items():
        if key != "id":
            record.attributes[str(key).rpartition("}")[2]] = str(value)
    for child in element:
        name = local_name(child)
        if name == "first" and record.source is None:
            record.source = _tokens(reading, child)
        elif name == "second" and record.target is None:
            record.target = _tokens(reading, child)
        elif name == "alignments":
            annotator = child.get("source") or reading.name
            if annotator in record.annotations:
                message = f"annotator {annotator[:40]!r} occurs twice in one pair"
                raise FormatError(message, line=line_of(child))
            record.annotations[annotator] = _annotation(reading, child)
        elif name in ("first", "second"):
            raise FormatError(f"<{name}> occurs twice in one pair", line=line_of(child))
        else:
            reading.note("element left out", f"<{name[:40]}>", line_of(child))
    if record.source is None or record.target is None:
        raise FormatError("expected <first> and <second> in <paraphrase>")
    return record


def _tokens(reading: Reading, element: Element) -> list[str]:
    """Return the words of a sentence: the text of the element, or of its <string>."""
    strings = [child for child in element if local_name(child) == "string"]
    if len(strings) > 1:
        raise FormatError("more than one <string> in a sentence", line=line_of(element))
    holder = strings[0] if strings else element
    for child in holder:
        message = f"found <{local_name(child)[:40]}>, expected the words"
        raise FormatError(message, line=line_of(child))
    return reading.words(holder.text or "", line_of(element))


def _annotation(reading: Reading, element: Element) -> RawAnnotation:
    """Return the links of an annotator."""
    links: list[RawLink] = []
    stray = stray_text(element)
    if stray:
        raise FormatError(f"text {stray[:40]!r} among the alignments", line=line_of(element))
    for child in element:
        if local_name(child) != "alignment":
            reading.note("element left out", f"<{local_name(child)[:40]}>", line_of(child))
            continue
        line = line_of(child)
        given = child.get("status") or ""
        status = _STATUS.get(given.strip().lower())
        if status is None:
            raise FormatError(f"status {given[:40]!r}; expected sure or possible", line=line)
        sources = _positions(child, "first")
        targets = _positions(child, "second")
        if sources == targets == [None]:
            raise FormatError("an alignment without word positions", line=line)
        links += block(sources, targets, status, line)
    return RawAnnotation(links)


def _positions(element: Element, side: str) -> list[int | None]:
    """Return the word positions of a side; None is the empty word."""
    positions: list[int | None] = []
    for token in (element.get(side) or "").replace(",", " ").split():
        if not _POSITION.fullmatch(token):
            raise FormatError(f"{token[:40]!r} is not a word position", line=line_of(element))
        positions.append(int(token))
    return positions or [None]


def _written(pair: SentencePair, writing: Writing) -> Element:
    """Return the element of a pair."""
    element = etree.Element("paraphrase", {"id": pair.id})
    for key, value in pair.attributes.items():
        try:
            if key == "id" or "}" in key or ":" in key:
                raise ValueError(key)
            element.set(key, value)
        except ValueError:
            writing.lost[f"attribute {key}"] += 1  # no name in XML
    for side, words in zip(("first", "second"), writing.words(pair), strict=True):
        etree.SubElement(etree.SubElement(element, side), "string").text = words
    for name, unturned in pair.alignments.items():
        if not name:
            writing.lost["names"] += 1
        alignments = etree.SubElement(element, "alignments", {"source": name})
        alignment = writing.oriented(unturned)
        for link, sure in links_and_nulls(alignment):
            first, second = ("" if k == NULL else str(k + writing.base) for k in link)
            status = "sure" if sure else "possible"
            place = {"first": first, "second": second, "status": status}
            etree.SubElement(alignments, "alignment", place)
    etree.indent(element, level=1)
    return element


_WITHOUT_PAIRS = re.compile(r"(<\?[^<>]*\?>)?\s*<corpus\s*(/>|>\s*</corpus\s*>)\s*")


def _sniff(head: Head) -> Likeness:
    """Look for elements that no other format has together."""
    if len(head.elements & {"paraphrase", "first", "second", "alignments"}) > 1:
        return Likeness.SURE
    if not head.more and _WITHOUT_PAIRS.fullmatch(head.text):
        return Likeness.SURE
    return Likeness.NO


FORMAT = Format(
    _sniff,
    _parse,
    partial(write_elements, head="<corpus>", made=_written),
    holds=kinds(
        "text, ids, possible, nulls, possible nulls, attributes, annotators, names, absent, empty"
    ),
)
