"""The XML of the editor Ugarit, and of the older Alpheios editor [ugarit-xml].

Specification
-------------
A document in two or more languages::

    <document><id>7</id><title>T</title><translator>N</translator>
      <aligned-text>
        <language lnum="L1" xml:lang="AKK"/><language lnum="L2" xml:lang="ENG"/>
        <sentence n="1">
          <wds lnum="L1"><w n="1-1" tp="sen_0"><text>a</text><refs nrefs="2-1 2-2"/></w> ...</wds>
          <wds lnum="L2"> ... </wds></sentence></aligned-text></document>

- A sentence is a pair of two languages, see `Reading.choose`. Its id is ``DOCUMENT:N`` or ``N``.
- A word has the number language-word, from 1, with gaps. `nrefs` names words of the other
  languages (``|`` between two of them); each is a sure link. References to no word, and those one
  way only, are counted. `tp` numbers the groups of linked words: it is not read.
- A sentence without links is not annotated.

Attributes of a pair are `document`, `title`, `translator`, `source.language` and the column
`source.id` (the numbers of the words); they are written again.

References
----------
Yousef, Palladino, Shamsian & Foradi 2022, "Translation alignment with Ugarit", Information 13(2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import NamedTuple

from lxml import etree

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record
from alignkit.io.safe_xml import LANGUAGE, Element, line_of, local_name, read_nested, write_elements
from alignkit.io.sniffing import matching
from alignkit.io.writing import Writing, word_ids
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair

_ABOUT = ("title", "translator")


class NumberedWord(NamedTuple):
    """A word, its number, and the numbers of words that it refers to."""

    id: str
    text: str
    refs: Sequence[str]


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield a pair for each sentence, in two of its languages."""
    about: dict[str, str] = {}
    languages: dict[str, tuple[str, str]] = {}
    for element in read_nested(reading, "id", *_ABOUT, "language", "sentence"):
        name = local_name(element)
        line = line_of(element)
        if name == "language":
            number = element.get("lnum") or f"L{len(languages) + 1}"
            languages[number] = element.get(LANGUAGE) or number, number
        elif name == "sentence":
            with reading.refusing(line):
                sides = _sides(reading, element, languages)
                id = element.get("n") or element.get("id") or str(reading.read + 1)
                names = list(languages.values())
                yield numbered_record(reading, id, line, sides, names, about)
        else:
            about["document" if name == "id" else name] = (element.text or "").strip()
    if not languages:
        raise reading.error("expected <aligned-text> with at least two <language>")


def _sides(
    reading: Reading, sentence: Element, languages: Iterable[str]
) -> list[list[NumberedWord]]:
    """Return the words of a sentence in each language, given the numbers of the languages."""
    line = line_of(sentence)
    sides: dict[str, list[NumberedWord]] = {number: [] for number in languages}
    for words in sentence:
        number = words.get("lnum") or ""
        if local_name(words) != "wds":
            reading.note("element left out", f"<{local_name(words)[:40]}>", line)
        elif number not in sides:
            raise FormatError(f"words of an unknown language {number[:40]!r}", line=line)
        else:
            sides[number] += _words(reading, words)
    return list(sides.values())


def _words(reading: Reading, words: Element) -> Iterator[NumberedWord]:
    """Yield the words of a sentence in one language."""
    for word in words:
        if local_name(word) != "w":
            reading.note("element left out", f"<{local_name(word)[:40]}>", line_of(word))
            continue
        parts = {local_name(part): part for part in word}
        if "text" not in parts or word.get("n") is None:
            raise FormatError("expected <w n> with its <text>", line=line_of(word))
        refs = ""
        if "refs" in parts:
            refs = parts["refs"].get("nrefs") or ""
        text = "".join(map(str, parts["text"].itertext()))
        yield NumberedWord(word.get("n") or "", text, refs.replace("|", " ").split())


def numbered_record(
    reading: Reading,
    id: str,
    line: int,
    sides: Sequence[Sequence[NumberedWord]],
    names: Sequence[Sequence[str]],
    about: dict[str, str],
) -> Record:
    """Return the record of a sentence with the words of each of its languages."""
    chosen = reading.choose(*names, line=line)
    source, target = (sides[k] for k in chosen)
    source_places = {word.id: place for place, word in enumerate(source)}
    target_places = {word.id: place for place, word in enumerate(target)}
    if len(source_places) < len(source) or len(target_places) < len(target):
        raise FormatError("a word number occurs twice in one language", line=line)
    known: set[str] = set()
    for side in sides:
        known.update(word.id for word in side)
    strange = sum(len({*word.refs} - known) for word in (*source, *target))
    there = set(_references(source, target_places))
    back = {(i, j) for j, i in _references(target, source_places)}
    for kind, times in (("to no word", strange), ("one way only", len(there ^ back))):
        if times:
            message = f"{times} in sentence {id[:40]!r}"
            reading.note(f"reference {kind}", message, line, times=times)
    document = about.get("document")
    record = Record(f"{document}:{id}" if document else id, line)
    record.attributes = {key: text for key, text in about.items() if text}
    for name, k in zip(SIDES, chosen, strict=True):
        words = [word.text for word in sides[k]]
        ids = [word.id for word in sides[k]]
        record.put(name, words, ids, language=names[k][0])
    links = sorted(there | back)
    if links:
        record.annotations[reading.name] = RawAnnotation([RawLink(i, j) for i, j in links])
    return record


def _references(
    words: Sequence[NumberedWord], places: Mapping[str, int]
) -> Iterator[tuple[int, int]]:
    """Yield the place of each word with those of the words of the other side it refers to."""
    for place, word in enumerate(words):
        for ref in word.refs:
            if ref in places:
                yield place, places[ref]


def _write(writing: Writing) -> None:
    """Write the pairs; what a file says once is that of the first pair."""
    rest = iter(writing.pairs)
    first = next(rest, None)
    known = {} if first is None else _about(first)
    head = etree.Element("document")
    for key in ("document", *_ABOUT):
        if key in known:
            etree.SubElement(head, "id" if key == "document" else key).text = known[key]
    text = etree.SubElement(head, "aligned-text")
    for side in SIDES:
        number = known.get(side, "L1" if side == "source" else "L2")
        language = known.get(f"{side}.language", number)
        etree.SubElement(text, "language", {"lnum": number, LANGUAGE: language})
    etree.indent(head)
    start, end, after = etree.tostring(head, encoding="unicode").partition("</aligned-text>")
    made = partial(_written, known=known)
    if first is not None:
        writing.pairs = chain([first], rest)
    write_elements(writing, head=start.rstrip(), made=made, end=end + after)


def _about(pair: SentencePair) -> dict[str, str]:
    """Return what the file says once: attributes of its pairs, and the numbers of its languages."""
    about: dict[str, str] = {}
    for name in ("document", *_ABOUT, "source.language", "target.language"):
        value = pair.attributes.get(name)
        if value:
            about[name] = value
    source, target = _ids(pair)
    about["source"] = f"L{source[0][0]}" if source else "L1"
    about["target"] = f"L{target[0][0]}" if target else "L2"
    return about


def _ids(pair: SentencePair) -> list[list[str]]:
    """Return the numbers of the words: their own if each side has one language."""
    ids = word_ids(pair, "[1-9]-[0-9]+", "{side}-{k}")
    source, target = ({id[0] for id in side} for side in ids)
    if max(len(source), len(target)) < 2 and source != target:
        return ids
    return word_ids(pair, "", "{side}-{k}")


def _written(pair: SentencePair, writing: Writing, *, known: dict[str, str]) -> Element:
    """Return the element of a pair; `known` is what the file says once."""
    about = _about(pair)
    for name in {**known, **about}:
        if about.get(name) != known.get(name):  # a file has one value, that of the first pair
            if name in SIDES:
                kind = f"language number of the {name}"
            else:
                kind = f"attribute {name}"
            writing.lost[kind] += 1
    id = pair.id.removeprefix(f"{known.get('document')}:")
    if "document" in known and id == pair.id:
        writing.lost["ids"] += 1
    source_ids, target_ids = _ids(pair)
    source = list(map(_WrittenWord, source_ids, pair.words[0]))
    target = list(map(_WrittenWord, target_ids, pair.words[1]))
    alignment = writing.alignment(pair)
    parts = alignment.components() if alignment else ()
    for number, part in enumerate(parts):
        for i, j in sorted(part):
            source[i].link(target[j], number)
            target[j].link(source[i], number)
    element = etree.Element("sentence", {"n": id})
    for side, words in zip(SIDES, (source, target), strict=True):
        group = etree.SubElement(element, "wds", {"lnum": known[side]})
        for each in words:
            word = etree.SubElement(group, "w", {"n": each.id, "tp": each.group})
            etree.SubElement(word, "text").text = each.text
            etree.SubElement(word, "refs", {"nrefs": " ".join(each.refs)})
    etree.indent(element, level=1)
    return element


@dataclass
class _WrittenWord:
    """A word to write: its id, its text, its group of linked words, and the ids of these."""

    id: str
    text: str
    group: str = ""
    refs: list[str] = field(default_factory=list)

    def link(self, other: _WrittenWord, group: int) -> None:
        """Link the word to one of the other side."""
        self.refs.append(other.id)
        self.group = f"sen_{group}"


_ATTRIBUTES = ", ".join(f"attribute {name}" for name in ("document", *_ABOUT))
_HOLDS = kinds(f"text, ids, absent, spaces, {_ATTRIBUTES}", "language", "id")
_BEGINS = re.compile(r"(?=<)[^\0]*?<aligned-text[\s>]")
FORMAT = Format(matching(_BEGINS), _parse, _write, holds=_HOLDS, languages=True, by_id=True)
