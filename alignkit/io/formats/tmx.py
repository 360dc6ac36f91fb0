"""TMX, the exchange format of translation memories [tmx].

Specification
-------------
Units of the same text in several languages::

    <tmx version="1.4"><header srclang="en" .../><body>
      <tu tuid="7"><note>n</note><prop type="domain">law</prop>
        <tuv xml:lang="en-GB"><seg>Press <bpt i="1">&lt;b&gt;</bpt>Stop<ept i="1"/>.</seg></tuv>
        <tuv xml:lang="fr"><seg>...</seg></tuv></tu></body></tmx>

- A unit is a sentence pair without links. If no languages are chosen, they are the first two of the
  first unit that has two. Old files have `lang`.
- Units without both languages, or without a text (``<seg>``), are left out and counted. So are
  texts in other languages, which are named.
- Inline tags are removed and counted, ``bpt``, ``ept``, ``it``, ``ph`` and ``ut`` with the code in
  them; the text in other tags stays.
- The id is the `tuid`, else the number. Properties and notes of a unit become attributes.

The file is streamed. A document type may name a file (``tmx14.dtd``), which is not read.

References
----------
TMX 1.4b specification, LISA OSCAR, 2005.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from alignkit.io.format import Format, kinds
from alignkit.io.languages import fitting_places, language_places, only_read
from alignkit.io.records import Reading, Record
from alignkit.io.safe_xml import LANGUAGE, Element, line_of, local_name, read_nested
from alignkit.io.sniffing import matching

_CODES = {"bpt", "ept", "it", "ph", "ut"}


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield the units in two languages; `wanted` are those chosen, or of the first such unit."""
    wanted = reading.options.languages
    seen: dict[str, None] = {}  # all languages, in order
    is_complete = False
    for number, unit in enumerate(read_nested(reading, "tu", "tmx", named_dtd=True), start=1):
        line = line_of(unit)
        if local_name(unit) == "tmx":  # the root is the last element to end
            is_complete = True
            continue
        with reading.refusing(line):
            variants, without = _variants(unit, reading)
            names = [(language,) for language in variants]  # other formats have several names each
            seen |= dict.fromkeys(variants)
            if wanted is None and len(names) > 1:
                wanted = names[0][0], names[1][0]
            places = language_places(names, wanted) if wanted else None
            if places is None:
                kind = "unit without <seg>" if without else "unit without both languages"
                reading.note(kind, _listed((*variants, *without)), line)
                continue
            if without:
                reading.note("text without <seg>", _listed(without), line, times=len(without))
            if reading.options.languages is not None:
                reading.note_alike(names, places, line)
            else:
                others = [name for k, name in enumerate(variants) if k not in places]
                if others:
                    reading.note("language left out", _listed(others), line, times=len(others))
            languages = list(variants)
            source, target = (languages[k] for k in places)
            record = Record(unit.get("tuid") or str(number), line)
            record.attributes = _facts(unit)
            for side, language in (("source", source), ("target", target)):
                words = reading.words(_text(variants[language], reading), line)
                record.put(side, words, language=language)
            yield record
    if not is_complete:
        raise reading.error("expected <tmx> as the root")
    if seen and not reading.read and not reading.refused:
        reading.choose(*((name,) for name in seen))  # raises: no unit has both languages
    if wanted is not None and reading.options.languages is None:
        reading.unread = _unread(seen, wanted)


def _listed(languages: Sequence[str]) -> str:
    """Return the names of languages for a note, cut if they are many."""
    return ", ".join(languages)[:80]


def _facts(unit: Element) -> dict[str, str]:
    """Return the properties and notes of a unit; those of one name are lines of one text."""
    facts: dict[str, str] = {}
    for element in unit:
        name = local_name(element)
        if name in ("note", "prop") and element.text:
            name = element.get("type") or name
            text = element.text.strip()
            facts[name] = "\n".join(filter(None, (facts.get(name), text)))
    return facts


def _unread(languages: Iterable[str], read: tuple[str, str]) -> str:
    """Return a sentence that names the languages that are not read; empty if there are none."""
    others: dict[str, str] = {}
    for language in languages:
        if not any(fitting_places([(language,)], name) for name in read):
            others[language.casefold()] = language
    if not others:
        return ""
    return only_read(" and ".join(read), ", ".join(others.values()))


def _variants(unit: Element, reading: Reading) -> tuple[dict[str, Element], list[str]]:
    """Return the first segment in each language, and the languages without a segment."""
    variants: dict[str, Element] = {}
    without: list[str] = []
    for variant in unit:
        if local_name(variant) != "tuv":
            continue
        language = variant.get(LANGUAGE) or variant.get("lang") or "und"
        segments = [part for part in variant if local_name(part) == "seg"]
        if not segments:
            without.append(language)
            continue
        if len(variant) > len(segments):
            reading.note("note of one language left out", language[:40], line_of(variant))
        if language in variants:
            reading.note("second text in one language", language[:40], line_of(variant))
        else:
            variants[language] = segments[0]
    return variants, [language for language in without if language not in variants]


def _text(element: Element, reading: Reading) -> str:
    """Return the text of an element without inline tags, which are counted."""
    parts = [element.text or ""]
    for child in element:
        name = "entity"  # comments are not read, so what has no name is a reference: &NAME;
        if isinstance(child.tag, str):
            name = local_name(child)
        reading.note("inline tag", f"<{name[:40]}>", line_of(child))
        if name not in _CODES:
            parts.append(_text(child, reading))
        parts.append(child.tail or "")
    return "".join(parts)


_BEGINS = re.compile(r"(?=<)[^\0]{,4096}?<tmx[\s>]")


FORMAT = Format(matching(_BEGINS), _parse, holds=kinds("text, ids"), languages=True)
