"""The XML of the alignment editor Ugarit, and that of the older Alpheios editor [ugarit-xml].

Specification
-------------
A document in two or more languages::

    <document>
      <id>7</id><title>T</title><translator>N</translator>
      <aligned-text>
        <language lnum="L1" xml:lang="AKK"/><language lnum="L2" xml:lang="ENG"/>
        <sentence n="1">
          <wds lnum="L1">
            <w n="1-1" tp="sen_0"><text>a</text><refs nrefs="2-1 2-2"/></w> ...
          </wds>
          <wds lnum="L2"> ... </wds>
        </sentence>
      </aligned-text>
    </document>

- A sentence is a pair of two languages: those named by ``--languages`` (or their `lnum`), else the
  first two, and the others are counted. Its id is ``DOCUMENT:N``, without a document's id ``N``.
- A word has the number language-word, from 1, with gaps. `nrefs` names words of the other
  languages, in three languages with ``|`` between them. A reference links the two words; all links
  are sure. References to no word, and references one way only, are counted.
- A sentence without links is not annotated. `tp` numbers groups of linked words: it is not read.

The attributes of a pair are `document`, `title`, `translator`, `source.language` and
`target.language`; the column `source.id` has the numbers of the words (see
`alignkit.model.sentence_pair.word_column`). They are written again, also where languages were left
out.

References
----------
Yousef, Palladino, Shamsian & Foradi 2022, "Translation alignment with Ugarit", Information 13(2),
doi:10.3390/info13020065.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from lxml import etree

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record
from alignkit.io.safe_xml import LANGUAGE, line_of, local_name, read_nested, write_elements
from alignkit.io.writing import Writing
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair, word_column

_ABOUT = ("title", "translator")
_NUMBER = re.compile(r"([1-9][0-9]*)-[0-9]+")


class NumberedWord(NamedTuple):
    """A word, its number, and the numbers of words that it refers to."""

    id: str
    text: str
    refs: Sequence[str]


def _parse(reading: Reading) -> Iterator[Record]:
    about: dict[str, str] = {}
    languages: dict[str, tuple[str, str]] = {}
    for element in read_nested(reading, "id", *_ABOUT, "language", "sentence"):
        name, line = local_name(element), line_of(element)
        if name == "language":
            number = element.get("lnum") or f"L{len(languages) + 1}"
            languages[number] = element.get(LANGUAGE) or number, number
        elif name == "sentence":
            with reading.refusing(line):
                sides = {key: list[NumberedWord]() for key in languages}
                for words in element:
                    key = words.get("lnum") or ""
                    if local_name(words) != "wds":
                        reading.note("element left out", f"<{local_name(words)[:40]}>", line)
                    elif key not in sides:
                        raise FormatError(f"words of an unknown language {key[:40]!r}", line=line)
                    else:
                        sides[key] += _words(reading, words)
                id = element.get("n") or element.get("id") or str(reading.read + 1)
                names = list(languages.values())
                yield numbered_record(reading, id, line, [*sides.values()], names, about)
        else:
            about["document" if name == "id" else name] = (element.text or "").strip()
    if not languages:
        raise reading.error("expected <aligned-text> with at least two <language>")


def _words(reading: Reading, words: etree._Element) -> Iterator[NumberedWord]:
    for word in words:
        if local_name(word) != "w":
            reading.note("element left out", f"<{local_name(word)[:40]}>", line_of(word))
            continue
        parts = {local_name(part): part for part in word}
        if "text" not in parts or word.get("n") is None:
            raise FormatError("expected <w n> with its <text>", line=line_of(word))
        refs = "" if parts.get("refs") is None else parts["refs"].get("nrefs") or ""
        text = "".join(map(str, parts["text"].itertext()))
        yield NumberedWord(word.get("n") or "", text, refs.replace("|", " ").split())


def numbered_record(
    reading: Reading, id: str, line: int, sides: Sequence[Sequence[NumberedWord]],
    names: Sequence[Sequence[str]], about: dict[str, str],
) -> Record:  # fmt: skip
    """Return the record of a sentence with the words of each of its languages."""
    chosen = reading.choose(*names, line=line)
    pair = [sides[k] for k in chosen]
    places = [{word.id: k for k, word in enumerate(side)} for side in pair]
    for side, own in zip(pair, places, strict=True):
        if len(own) < len(side):
            twice = next(id for id, n in Counter(word.id for word in side).items() if n > 1)
            raise FormatError(f"word number {twice[:40]!r} occurs twice", line=line)
    known = {word.id for side in sides for word in side}
    ways: Counter[tuple[int, int]] = Counter()
    for side, others, step in zip(pair, reversed(places), (1, -1), strict=True):
        for k, word in enumerate(side):
            for ref in dict.fromkeys(word.refs):
                if (other := others.get(ref)) is not None:
                    ways[(k, other) if step == 1 else (other, k)] += 1
                elif ref not in known:
                    reading.note("reference to no word", f"{ref[:40]!r} of word {word.id}", line)
    if one_way := sum(count == 1 for count in ways.values()):
        message = f"{one_way} in sentence {id[:40]!r}; read as links"
        reading.note("reference one way only", message, line, times=one_way)
    document = about.get("document")
    record = Record(f"{document}:{id}" if document else id, line, None, None)
    record.source, record.target = ([word.text for word in side] for side in pair)
    record.attributes = {key: text for key, text in about.items() if text}
    for name, side, k in zip(SIDES, pair, chosen, strict=True):
        record.attributes[f"{name}.language"] = names[k][0]
        if side:
            record.attributes[f"{name}.id"] = "\t".join(word.id for word in side)
    if ways:
        record.annotations[reading.name] = RawAnnotation([RawLink(*link) for link in sorted(ways)])
    return record


def _write(pairs: Iterable[SentencePair], writing: Writing) -> None:
    rest = iter(pairs)
    first = next(rest, SentencePair("", (), ()))
    known = _head(first)
    numbers = _numbers(first)
    head = etree.Element("document")
    for name, key in (("id", "document"), *((key, key) for key in _ABOUT)):
        if key in known:
            etree.SubElement(head, name).text = known[key]
    text = etree.SubElement(head, "aligned-text")
    for side, number in zip(SIDES, numbers, strict=True):
        language = known.get(f"{side}.language", f"L{number}")
        etree.SubElement(text, "language", {"lnum": f"L{number}", LANGUAGE: language})
    etree.indent(head)
    start, end, after = etree.tostring(head, encoding="unicode").partition("</aligned-text>")
    write_elements(
        chain([first] * bool(first.id), rest), writing, head=start.rstrip(),
        made=partial(_written, known=known, numbers=numbers), end=end + after,
    )  # fmt: skip


def _head(pair: SentencePair) -> dict[str, str]:
    """Return the attributes that the file has once."""
    names = ("document", *_ABOUT, *(f"{side}.language" for side in SIDES))
    return {name: pair.attributes[name] for name in names if pair.attributes.get(name)}


def _numbers(pair: SentencePair) -> tuple[str, str]:
    """Return the numbers of the two languages: those of the words' own numbers, else 1 and 2."""
    own = [(word_column(pair, side, "id") or [""])[0].partition("-")[0] for side in SIDES]
    return (own[0], own[1]) if own[0] != own[1] and {*own}.issubset("123456789") else ("1", "2")


def _written(
    pair: SentencePair, writing: Writing, *, known: dict[str, str], numbers: tuple[str, str]
) -> etree._Element:
    if _head(pair) != known:
        writing.lost["attributes that differ from those of the first pair"] += 1
    document = known.get("document")
    id = pair.id.removeprefix(f"{document}:") if document else pair.id
    writing.lost.update(["ids"] if document and id == pair.id else [])
    ids = [
        _ids(pair, side, number, len(words))
        for side, number, words in zip(SIDES, numbers, pair.words, strict=True)
    ]
    alignment = writing.alignment(pair)
    refs: list[dict[int, list[str]]] = [{}, {}]
    groups: list[dict[int, int]] = [{}, {}]
    for number, part in enumerate(alignment.components() if alignment else ()):
        for i, j in sorted(part):
            refs[0].setdefault(i, []).append(ids[1][j])
            refs[1].setdefault(j, []).append(ids[0][i])
            groups[0][i] = groups[1][j] = number
    element = etree.Element("sentence", {"n": id})
    for side, words in enumerate(pair.words):
        group = etree.SubElement(element, "wds", {"lnum": f"L{numbers[side]}"})
        for k, token in enumerate(words):
            tp = f"sen_{groups[side][k]}" if k in groups[side] else ""
            word = etree.SubElement(group, "w", {"n": ids[side][k], "tp": tp})
            etree.SubElement(word, "text").text = token
            etree.SubElement(word, "refs", {"nrefs": " ".join(refs[side].get(k, ()))})
    etree.indent(element, level=1)
    return element


def _ids(pair: SentencePair, side: str, number: str, count: int) -> list[str]:
    """Return the numbers of the words: their own if they are valid, else 1, 2, ..."""
    own = word_column(pair, side, "id") or []
    matches = [_NUMBER.fullmatch(id) for id in own]
    if own and len({*own}) == count and all(match and match[1] == number for match in matches):
        return own
    return [f"{number}-{k}" for k in range(1, count + 1)]


FORMAT = Format(
    parse=_parse,
    write=_write,
    holds=kinds(
        "text, ids, absent, spaces, attribute document, attribute title, attribute translator, "
        "attribute source.language, attribute target.language, attribute source.id, "
        "attribute target.id"
    ),
    languages=True,
    by_id=True,
)
