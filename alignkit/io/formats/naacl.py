"""The lines of links of the NAACL and WPT shared tasks [naacl].

Specification
-------------
One line per link: the number of the sentence, the positions of the two words, and optionally
whether the link is sure (S, the default) or only possible (P), and a confidence::

    26 2 1
    26 3 3 P
    27 1 1 S 0.93
    27 5 0

- Positions count from 1 by default. Then 0 is the empty word: ``27 5 0`` means that source word 5
  is explicitly aligned to nothing. With ``--base 0`` there is no empty word.
- A number in the place of S or P is a confidence: ``27 1 1 0.93``. It becomes the link's weight.
- Sentence numbers are compared as numbers: ``0027`` is 27. They need not be contiguous or sorted,
  and the links of a sentence may be scattered. Empty lines are skipped and counted.
- The words are in other files (`alignkit.io.parallel_text`), as ``<s snum=27> words </s>`` or as
  plain lines, the n-th for sentence n. Pairs are then in the order of the words, with their snum
  as written; a sentence without links is an empty annotation or, with ``--partial``, not
  annotated. Links of a sentence without words are an error.
- Without words the pairs are in the order of their first links, with their number without
  padding, and there are no sentences without links. If a format without ids is written from such
  pairs, alignkit warns of numbers that are out of order or missing.

All links are kept in memory, about 20 bytes each. Lenient reading skips the sentence of a broken
line, or the line if the sentence is unknown.

P is written if a link is only possible, and S or P before a confidence. Ids that are not distinct
whole numbers are replaced by the first free numbers. Two files of words get ``<s snum=N>``; a
bitext has plain lines, and all ids become 1, 2, ...

References
----------
Mihalcea & Pedersen 2003, "An evaluation exercise for word alignment", HLT-NAACL workshop on
building and using parallel texts; Martin, Mihalcea & Pedersen 2005, its successor at ACL.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator
from operator import itemgetter

import numpy as np

from alignkit._support.arguments import check_count
from alignkit._support.array_types import I8
from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.parallel_text import PairText, read_texts
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record, Status
from alignkit.io.sentence_numbers import SentenceNumbers
from alignkit.io.sniffing import Head, Likeness, by_share
from alignkit.io.writing import Numbering, Writing
from alignkit.model.alignment import NULL, Alignment

_WHOLE = re.compile(r"[0-9]{1,9}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_SHAPE = "expected 'sentence i j', then optionally S or P, then optionally a confidence"


def _parse(reading: Reading) -> Iterator[Record]:
    links = _Links(reading)
    for number, line in reading.lines():
        links.add(number, line)
    links.sort()
    texts = read_texts(reading)
    if texts is None:
        reading.disorder = str(SentenceNumbers(links.places))
        for sentence in links.places:
            yield Record(str(sentence), links.line(sentence), None, None, links.annotate(sentence))
    else:
        yield from _with_texts(reading, links, texts)


def _with_texts(reading: Reading, links: _Links, texts: Iterator[PairText]) -> Iterator[Record]:
    """Yield the sentences of the texts with their links; refuse links of other sentences."""
    seen: set[int] = set()
    for text in texts:
        sentence = text.line
        problem = ""
        if text.snum is not None and not _WHOLE.fullmatch(text.snum):
            problem = f"snum {text.snum[:40]!r}, expected a whole number"
        elif text.snum is not None:
            sentence = int(text.snum)
            if sentence in seen:
                problem = f"sentence {text.snum} occurs twice"
        if problem:
            reading.reject(problem, text.line, reading.options.source or "")
            continue
        seen.add(sentence)
        if sentence in links.broken:
            continue
        annotations = links.annotate(sentence)
        if not annotations and not reading.options.partial:
            annotations = {reading.name: RawAnnotation()}
        line = links.line(sentence) or text.line
        id = text.id or text.snum or str(sentence)
        yield Record(id, line, *text.words, annotations, text.attributes)
    for sentence in links.places:
        if sentence not in seen:
            message = f"links of sentence {sentence}, which {reading.options.source} does not have"
            reading.reject(message, links.line(sentence))


class _Links:
    """All links in columns, by sentence."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._sentence = array("i")
        self._i = array("i")
        self._j = array("i")
        self._possible = array("b")
        self._line = array("i")
        self._weight = array("d")  # empty until a weight is met
        self.broken: set[int] = set()
        self.places: dict[int, I8] = {}  # of links, by sentence that is not broken

    def add(self, number: int, line: str) -> None:
        """Add the link of a line, or refuse the first broken line of its sentence."""
        check_count("lines", number)
        fields = self._reading.without_marks(line, number, words=False).split()
        if not fields:
            self._reading.note("empty line", "skipped", number)
            return
        try:
            self._append(fields, number)
        except FormatError as error:
            known = _WHOLE.fullmatch(fields[0])
            if known is None or int(fields[0]) not in self.broken:
                self._reading.refuse(error)
            if known is not None:
                self.broken.add(int(fields[0]))

    def _append(self, fields: list[str], number: int) -> None:
        """Add the link of these fields."""
        if not 3 <= len(fields) <= 5:
            raise self._reading.error(f"{len(fields)} fields; {_SHAPE}", number)
        for field in fields[:3]:
            if not _WHOLE.fullmatch(field):
                raise self._reading.error(f"{field[:40]!r} is not a whole number; {_SHAPE}", number)
        sentence, i, j = map(int, fields[:3])
        if i == j == 0 and self._reading.base == 1:
            message = "0 0 links the empty word to itself; does the file count from 0 (`base=0`)?"
            raise self._reading.error(message, number)
        rest = fields[3:]
        mark = rest.pop(0) if rest and rest[0] in ("S", "P") else "S"
        if len(rest) > 1:
            raise self._reading.error(f"{rest[0][:40]!r} is not S or P; {_SHAPE}", number)
        if rest:
            weight = float(rest[0]) if _NUMBER.fullmatch(rest[0]) else math.nan
            if not math.isfinite(weight):
                message = f"{rest[0][:40]!r} is neither S nor P nor a finite number; {_SHAPE}"
                raise self._reading.error(message, number)
            self._weight = self._weight or array("d", [math.nan] * len(self._sentence))
            self._weight.append(weight)
        elif self._weight:
            self._weight.append(math.nan)
        self._sentence.append(sentence)
        self._i.append(i)
        self._j.append(j)
        self._possible.append(mark == "P")
        self._line.append(number)

    def sort(self) -> None:
        """Group the links by sentence, in the order of the first links."""
        sentence = np.array(self._sentence)
        order = np.argsort(sentence, kind="stable")
        starts = np.flatnonzero(np.diff(sentence[order], prepend=-1))
        _, *groups = np.split(order, starts)
        for places in sorted(groups, key=itemgetter(0)):
            number = self._sentence[places[0]]
            if number not in self.broken:
                self.places[number] = places

    def line(self, sentence: int) -> int:
        """Return the line of a sentence's first link, 0 if it has none."""
        if sentence in self.places:
            first = int(self.places[sentence][0])
            return self._line[first]
        return 0

    def annotate(self, sentence: int) -> dict[str, RawAnnotation]:
        """Return the annotation with a sentence's links; empty if it has none."""
        if sentence not in self.places:
            return {}
        links = []
        for k in self.places[sentence].tolist():
            i = self._position(self._i[k])
            j = self._position(self._j[k])
            status: Status = "possible" if self._possible[k] else "sure"
            weight = self._weight[k] if self._weight else math.nan
            known = None if math.isnan(weight) else weight
            links.append(RawLink(i, j, status, self._line[k], known))
        return {self._reading.name: RawAnnotation(links)}

    def _position(self, number: int) -> int | None:
        """Return a position as the file numbers it; None for the empty word."""
        return None if number == 0 and self._reading.base == 1 else number


def _write(writing: Writing) -> None:
    """Write the links, and the words if there are files for them."""
    with writing.open() as links, writing.open_texts() as texts:
        numbering = Numbering(writing.lost, own=not texts.in_line)
        for pair in writing.pairs:
            number = numbering.take(pair.id)
            if not texts.wanted and number == pair.id != str(int(number)):
                writing.lost["ids"] += 1  # nothing keeps the padding
            alignment = writing.alignment(pair)
            if alignment is not None:
                lines = list(_link_lines(number, alignment, writing))
                links.writelines(lines)
                if not all(map(math.isfinite, alignment.weights.values())):
                    writing.lost["weights"] += 1
                if not lines and not texts.wanted:
                    writing.lost["empty"] += 1
            if texts.in_line:
                texts.write(pair.id, *writing.words(pair))
            elif texts.wanted:
                before = f"<s snum={number}> "
                texts.write(pair.id, *writing.words(pair), before=before, behind=" </s>")


def _link_lines(number: str, alignment: Alignment, writing: Writing) -> Iterator[str]:
    """Yield a line for each link and null of a sentence."""
    nulls = [(null, null in alignment.sure_nulls) for null in writing.nulls(alignment)]
    for link, sure in (*alignment.items(), *nulls):
        mark = "" if sure else " P"
        weight = alignment.weights.get(link, math.nan)
        if math.isfinite(weight):
            mark = f" {'S' if sure else 'P'} {float(weight)!r}"
        i, j = (0 if index == NULL else index + writing.base for index in link)
        yield f"{number} {i} {j}{mark}\n"


_SHOWN = re.compile(r"\s*[0-9]{1,9}(\s+[0-9]{1,9}){2}(\s+[SP])?(\s+[-+.0-9eE]+)?\s*")
_BEGUN = re.compile(r"[0-9]+\s+[0-9]+\s+\S")


def _sniff(head: Head) -> Likeness:
    """Count the first lines that are links."""
    lines = [line for line in head.lines if line.strip()]
    likeness = by_share(sum(map(bool, map(_SHOWN.fullmatch, lines))), len(lines))
    if likeness is Likeness.NO and _BEGUN.match(head.text) and "\t" not in lines[0]:
        return Likeness.MAYBE
    return likeness


_HOLDS = kinds("no text, possible, nulls, possible nulls, weights, empty")
FORMAT = Format(_sniff, _parse, _write, holds=_HOLDS, base=1, text_beside=True)
