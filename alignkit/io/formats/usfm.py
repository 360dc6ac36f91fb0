r"""USFM 3 with alignments, as in the Bibles of unfoldingWord [usfm].

Specification
-------------
The text of a translation, in which milestones around its words name words of the original::

    \id TIT EN_ULT
    \c 1
    \p
    \v 1 \zaln-s |x-strong="G39720" x-lemma="..." x-occurrence="1" x-occurrences="1"
    x-content="..."\*\w Paul|x-occurrence="1" x-occurrences="1"\w*\zaln-e\*, ...

- A verse is a pair; its id is ``TIT.1.1``. The words of ``\w ...\w*`` are the target. A verse may
  begin within a line, and may be several, ``\v 1-2``. Words before the first verse of a chapter,
  as in the titles of psalms, are its verse ``front``.
- A word between ``\zaln-s ...\*`` and ``\zaln-e\*`` is linked to the word of the original that is
  ``x-content`` (or ``x-lemma``), the ``x-occurrence``-th such word of the verse. Milestones may be
  nested: the words inside are linked to each of several words of the original. The same occurrence
  may be opened again: a word of the original that is linked to words which are apart.
- In older files, a milestone ends with its line instead of ``\*``.
- Words outside of milestones are not linked. A verse without milestones is not annotated.
- Without ``--source``, only linked words of the original are known. They stand in the order in
  which they first appear. ``--source`` names the original in USFM (its words are ``\w ...\w*``),
  which gives the true order, and the words that are linked to nothing. Words are compared in the
  Unicode form NFC; a milestone whose word is not in its verse is left out, and counted.
- ``x-strong``, ``x-lemma`` and ``x-morph`` become the columns `source.strong`, `source.lemma` and
  `source.morph`.
- Footnotes, cross-references and headings are left out. Other text that has letters and stands
  outside of ``\w`` is counted.
- A verse with a broken milestone or word is an error; reading can continue at the next verse.

All links are sure. The format is read-only.

References
----------
docs.usfm.bible; github.com/unfoldingWord/translationCore, "USFM 3 alignment specification".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from unicodedata import normalize

from alignkit.errors import FormatError, OptionError
from alignkit.io.format import Format, kinds
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record
from alignkit.io.sniffing import matching
from alignkit.model.texts import split_words

_NUMBER = r"[0-9]+[a-z]?(?:[-\u2013,][0-9]+[a-z]?)*"
_DIVISION = re.compile(
    r"\\id\s+(?P<book>[^\s\\]+)"
    r"|\\c\s+(?P<chapter>[^\s\\]+)"
    rf"|\\v\s+(?P<verse>{_NUMBER})"
)
# nested markers other than words (\+nd ...), which are removed before the text is divided
_NESTED = re.compile(r"\\\+(?!w[ *|])[A-Za-z0-9]+[* ]")
_HEADINGS = r"(?:ms|mr|s|sr|r|sp|cl|cd|rem|sts|h|toc|toca|mt|mte|imt|is|ip|ide|usfm|lit|qa)[0-9]*"
# the first that fits is taken
_TOKEN = re.compile(
    # milestones and words
    r"\\zaln-s\s*\|?(?P<start>[^\\]*)(?:\\\*)?"
    r"|(?P<end>\\zaln-e\s*\\\*)"
    r"|\\\+?w\s+(?P<word>[^\\|]*)(?:\|(?P<facts>[^\\]*))?\\\+?w\*"
    # what is left out
    r"|\\(?P<note>f|fe|ef|x|ex|fig|rq|va|vp|ca|cp)\s.*?\\(?P=note)\*"
    rf"|(?P<heading>\\{_HEADINGS}(?![A-Za-z0-9*-])[^\\\n]*)"
    # what begins as a milestone or word, but is none
    r"|(?P<broken>\\zaln\S{0,20}|\\\+?w(?![A-Za-z0-9]))"
    # other milestones, and other markers, of which nothing is kept
    r"|\\[a-z]+[0-9]*(?:-[se])?\s*(?:\|[^\\]*)?\\\*"
    r"|\\\+?[A-Za-z0-9]+\*?"
    # text outside of words
    r"|(?P<text>[^\\]+|\\)",
    re.DOTALL,
)
_FACT = re.compile(r"(?:x-)?([a-z]+)\s*=\s*\"([^\"]*)\"")
_COLUMNS = ("strong", "lemma", "morph")
_LETTER = re.compile(r"[^\W_]")

_Place = tuple[str, str, str]  # book, chapter, verse
_Word = tuple[str, int]  # of the original: its text in NFC, and which occurrence of it
_Facts = dict[str, str]  # of a word: lemma and the like
_Originals = dict[_Place, list[tuple[str, _Facts]]]  # the words of each verse
_MOST_VERSES = 200  # of a range 1-200, so that a wrong number costs no time


class _Verse(NamedTuple):
    """The text of a verse, and the line at which it begins."""

    place: _Place
    line: int
    text: str

    @property
    def id(self) -> str:
        """The id of the pair."""
        return ".".join(filter(None, self.place))


class _Original:
    """The words of a verse of the original, with their columns.

    They come from the file of the original (`is_given`), or else from milestones, as these name
    them.
    """

    def __init__(self) -> None:
        self.is_given = False
        self.words: list[str] = []
        self.columns: dict[str, list[str]] = {name: [] for name in _COLUMNS}
        self.indices: dict[_Word, int] = {}  # in `words`
        self.counts: Counter[str] = Counter()

    def add(self, word: str, facts: dict[str, str], occurrence: int | None = None) -> int:
        """Add a word, and return its index.

        A word of a milestone has an occurrence; those of a file are counted, from 1.
        """
        key = normalize("NFC", word)
        self.counts[key] += 1
        index = len(self.words)
        self.indices[key, occurrence or self.counts[key]] = index
        self.words.append(word)
        for name, column in self.columns.items():
            value = "_".join(facts.get(name, "").split())
            column.append(value or "_")
        return index

    def put_in(self, record: Record) -> None:
        """Make these words the source of a pair."""
        facts = {}
        for name, column in self.columns.items():
            if any(value != "_" for value in column):
                facts[name] = "\t".join(column)
        record.put("source", self.words, **facts)


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield a pair for each verse that has words."""
    originals: _Originals | None = None
    if reading.options.target is not None:
        raise OptionError("format usfm has the words of the target: leave out `target`")
    if reading.options.source is not None:
        originals = _originals(reading, reading.options.source)
    has_verses = False
    for verse in _verses(reading, reading.path):
        has_verses = True
        with reading.refusing(verse.line):
            record = _record(reading, verse, originals)
            if record.source or record.target:
                yield record
            elif verse.place[2] != "front":
                reading.note("verse without words, left out", verse.id, verse.line)
    if not has_verses:
        raise reading.error(r"has no verses; expected USFM: \id, \c and \v before verses", 1)


def _verses(reading: Reading, path: str) -> Iterator[_Verse]:
    """Divide a file into verses; what comes before the first verse of a chapter is one too."""
    book = ""
    chapter = ""
    verse = ""
    first = 1
    texts: list[str] = []
    for line, text in reading.lines(path):
        at = 0
        for division in _DIVISION.finditer(text):
            texts.append(text[at : division.start()])
            yield from _complete((book, chapter, verse), first, texts)
            at = division.end()
            first = line
            texts = []
            if division["book"] is not None:
                book = division["book"]
                chapter = ""
                verse = ""
                at = len(text)  # the rest describes the book
            elif division["chapter"] is not None:
                chapter = division["chapter"]
                verse = "front"
            else:
                verse = division["verse"]
        texts.append(f"{text[at:]}\n")
    yield from _complete((book, chapter, verse), first, texts)


def _complete(place: _Place, line: int, texts: list[str]) -> Iterator[_Verse]:
    """Yield a verse, even an empty one; what comes before the first one only if it has text."""
    _, _, verse = place
    if not verse:  # before the first chapter
        return
    text = _NESTED.sub("", "".join(texts))
    if verse == "front" and not text.strip():
        return
    yield _Verse(place, line, text)


def _originals(reading: Reading, path: str) -> _Originals:
    """Return the words of each verse of the original, with their facts."""
    known: _Originals = {}
    for verse in _verses(reading, path):
        words = known.setdefault(verse.place, [])
        for token in _TOKEN.finditer(verse.text):
            if token["broken"] is not None:
                raise reading.error(f"{verse.id}: {_broken(token)}", _line(verse, token), path=path)
            if token["word"] is not None:
                facts = dict(_FACT.findall(token["facts"] or ""))
                words += ((word, facts) for word in split_words(token["word"]))
    if not any(known.values()):
        raise reading.error(
            r"has no words \w ...\w* in verses; give the original in USFM", path=path
        )
    return known


def _record(
    reading: Reading,
    verse: _Verse,
    originals: _Originals | None,
) -> Record:
    """Return the pair of a verse."""
    original = _Original()
    if originals is not None:
        for word, facts in _original_words(verse.place, originals):
            original.add(word, facts)
        if not original.words and r"\w" in verse.text:
            reading.note("verse that the original does not have", verse.id, verse.line)
        original.is_given = bool(original.words)
    text = _VerseText(reading, verse, original)
    text.read()
    record = Record(verse.id, verse.line, None, text.words)
    if text.has_milestones or original.is_given:
        original.put_in(record)
    if text.has_milestones:
        record.annotations[reading.name] = RawAnnotation(text.links)
    return record


@dataclass
class _VerseText:
    """Reads the words of a verse of the translation, with their links."""

    reading: Reading
    verse: _Verse
    original: _Original
    # the words of the original that milestones around name, by index; None: left out
    opened: list[int | None] = field(default_factory=list)
    outside: str = ""
    words: list[str] = field(default_factory=list)
    links: list[RawLink] = field(default_factory=list)
    has_milestones: bool = False

    def read(self) -> None:
        """Read all tokens; every milestone must be closed."""
        for token in _TOKEN.finditer(self.verse.text):
            if token["broken"] is not None:
                raise self._error(_broken(token), token)
            if token["start"] is not None:
                self.has_milestones = True
                self.opened.append(self._index_or_add(token))
            elif token["end"] is not None:
                if not self.opened:
                    raise self._error(r"\zaln-e\* without \zaln-s before it", token)
                self.opened.pop()
            elif token["word"] is not None:
                self._add(token["word"])
            elif token["note"] is not None or token["heading"] is not None:
                self._left_out(token)
            elif token["text"] is not None and _LETTER.search(token["text"]):
                self.outside = self.outside or token["text"].strip()
        if self.opened:
            message = r"\zaln-s is not closed by \zaln-e\* before the verse ends"
            raise FormatError(f"{self.verse.id}: {message}")
        if self.outside and self.verse.place[2] != "front":
            about = f"{self.verse.id}: {self.outside[:40]!r}"
            self.reading.note("text outside of words", about, self.verse.line)

    def _left_out(self, token: re.Match[str]) -> None:
        """Count a footnote, cross-reference or heading that has text."""
        what = "footnote or cross-reference, left out" if token["note"] else "heading, left out"
        _, _, text = token[0].partition(" ")  # after its marker; others within it count as text
        if _LETTER.search(text):
            about = f"{self.verse.id}: {text.strip()[:40]!r}"
            self.reading.note(what, about, self.verse.line)

    def _error(self, message: str, token: re.Match[str]) -> FormatError:
        """Return an error with the verse and the line of a token."""
        return FormatError(f"{self.verse.id}: {message}", line=_line(self.verse, token))

    def _add(self, text: str) -> None:
        """Add a word, linked to the words of the milestones around it."""
        for word in split_words(text):
            self.links += (RawLink(i, len(self.words)) for i in self.opened if i is not None)
            self.words.append(word)

    def _index_or_add(self, token: re.Match[str]) -> int | None:
        """Return the index of the word that a milestone names.

        Without an original, the word is added to it; None if a given original lacks it.
        """
        facts = dict(_FACT.findall(token["start"]))
        word = " ".join((facts.get("content") or facts.get("lemma", "")).split())
        occurrence = facts.get("occurrence", "1").strip()
        if not word:
            raise self._error(r"\zaln-s has no x-content and no x-lemma", token)
        if not (occurrence.isascii() and occurrence.isdigit() and len(occurrence) < 7):
            raise self._error(f"x-occurrence is {occurrence[:40]!r}; expected a number", token)
        number = int(occurrence)
        index = self.original.indices.get((normalize("NFC", word), number))
        if index is None and not self.original.is_given:
            index = self.original.add(word, facts, number)
        elif index is None:
            about = f"{self.verse.id}: {word[:40]!r}, occurrence {occurrence}"
            line = _line(self.verse, token)
            self.reading.note("milestone of no word of the original", about, line)
        return index


def _original_words(place: _Place, originals: _Originals) -> Iterator[tuple[str, _Facts]]:
    """Yield the words of a verse of the original, or of several, ``1-2``."""
    book, chapter, verse = place
    if place in originals:
        yield from originals[place]
        return
    for part in verse.split(","):
        first, _, last = part.replace("\u2013", "-").partition("-")
        start = int(re.sub("[^0-9]", "", first) or 0)
        end = int(re.sub("[^0-9]", "", last) or start)
        for number in range(start, min(end, start + _MOST_VERSES) + 1):
            yield from originals.get((book, chapter, str(number)), ())


def _line(verse: _Verse, token: re.Match[str]) -> int:
    """Return the line of the file at which a token of a verse stands."""
    return verse.line + verse.text.count("\n", 0, token.start())


def _broken(token: re.Match[str]) -> str:
    """Say what is wrong with a marker of a word or a milestone."""
    rest = token.string[token.start() : token.start() + 40].partition("\n")[0]
    return rf"{rest!r} is not complete; expected \zaln-s |...\*, \zaln-e\* or \w ...\w*"


def _remark(reading: Reading) -> str:
    """Say what the order of the source words is."""
    if reading.options.source is not None:
        return ""
    return (
        "the source has only words that are linked, in the order in which they first appear; give "
        "the original text (USFM) with --source for the true order and the other words"
    )


_BEGINS = re.compile(r"(?=\\)[^\0]*?\\zaln-s")

FORMAT = Format(
    matching(_BEGINS),
    _parse,
    text_beside=True,  # the original
    by_id=True,  # milestones name words by their text
    remark=_remark,
    holds=kinds("text, ids, absent, empty", *_COLUMNS),
)
