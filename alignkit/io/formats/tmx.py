"""TMX, the exchange format of translation memories [tmx].

Specification
-------------
Units of the same text in several languages::

    <tmx version="1.4"><header srclang="en" .../><body>
      <tu tuid="7"><note>n</note><prop type="domain">law</prop>
        <tuv xml:lang="en-GB"><seg>Press <bpt i="1">&lt;b&gt;</bpt>Stop<ept i="1"/>.</seg></tuv>
        <tuv xml:lang="fr"><seg>...</seg></tuv></tu></body></tmx>

- A unit is a sentence pair without links, of the languages chosen, or of the first two of the first
  unit that has two. Units without both are left out and counted. Old files have `lang`.
- Inline tags are removed and counted, ``bpt``, ``ept``, ``it``, ``ph`` and ``ut`` with the code in
  them; the text in other tags stays.
- The id is the `tuid`, else the number. Properties and notes of a unit become attributes.

The file is streamed. A document type may name a file (``tmx14.dtd``), which is not read.

References
----------
TMX 1.4b specification, LISA OSCAR, 2005.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from alignkit.io.format import Format, kinds
from alignkit.io.records import Reading, Record, language_places
from alignkit.io.safe_xml import LANGUAGE, line_of, local_name, read_nested
from alignkit.io.text_files import split_words
from alignkit.model.alignment import SIDES

_CODES = {"bpt", "ept", "it", "ph", "ut"}


def _parse(reading: Reading) -> Iterator[Record]:
    wanted = reading.options.languages
    seen: dict[str, None] = {}
    whole = False
    for number, unit in enumerate(read_nested(reading, "tu", "tmx", named_dtd=True), start=1):
        line = line_of(unit)
        if local_name(unit) == "tmx":  # the root, which ends last
            whole = True
            continue
        with reading.refusing(line):
            variants = _variants(unit, reading)
            names = [(language,) for language in variants]
            seen |= dict.fromkeys(variants)
            if wanted is None and len(names) > 1:
                reading.choose(*names, line=line)
                wanted = names[0][0], names[1][0]
            elif reading.options.languages is None and len(names) > 2:
                reading.note("language left out", "", line, times=len(names) - 2)
            places = language_places(names, wanted) if wanted else None
            if places is None:
                reading.note("unit without both languages", ", ".join(variants)[:80], line)
                continue
            if reading.options.languages is not None:
                reading.note_alike(names, places, line)
            record = Record(unit.get("tuid") or str(number), line, None, None)
            for fact in unit:
                if (name := local_name(fact)) in ("note", "prop") and fact.text:
                    name = fact.get("type") or name
                    texts = record.attributes.get(name), fact.text.strip()
                    record.attributes[name] = "\n".join(filter(None, texts))
            for side, k in zip(SIDES, places, strict=True):
                words = split_words(_text(variants[names[k][0]], reading))
                record.put(side, words, language=names[k][0])
            yield record
    if not whole:
        raise reading.error("expected <tmx> as the root")
    if seen and not reading.read and not reading.refused:
        reading.choose(*((name,) for name in seen))


def _variants(unit: etree._Element, reading: Reading) -> dict[str, etree._Element]:
    """Return the first segment in each language."""
    variants: dict[str, etree._Element] = {}
    for variant in unit:
        segments = [part for part in variant if local_name(part) == "seg"]
        if local_name(variant) == "tuv" and segments:
            language = variant.get(LANGUAGE) or variant.get("lang") or "und"
            if len(variant) > len(segments):
                reading.note("note of one language left out", language[:40], line_of(variant))
            if variants.setdefault(language, segments[0]) is not segments[0]:
                reading.note("second text in one language", language[:40], line_of(variant))
    return variants


def _text(element: etree._Element, reading: Reading) -> str:
    """Return the text of an element without inline tags, which are counted."""
    parts = [element.text or ""]
    for child in element:
        name = local_name(child) if isinstance(child.tag, str) else "entity"
        reading.note("inline tag", f"<{name[:40]}>", line_of(child))
        parts += ["" if name in _CODES else _text(child, reading), child.tail or ""]
    return "".join(parts)


FORMAT = Format(parse=_parse, write=None, holds=kinds("text, ids"), languages=True)
