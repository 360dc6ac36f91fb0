"""The A3 files of GIZA++ [giza].

Specification
-------------
Three lines per sentence pair::

    # Sentence pair (1) source length 3 target length 4 alignment score : 0.0123
    elles sont parties hier
    NULL ({ }) they ({ 1 }) left ({ 2 3 }) yesterday ({ 4 })

- The third line is the source: each word with the 1-based positions of its aligned words in the
  second line, the target. ``--transpose`` exchanges the sides, words and links together.
- Positions after NULL are explicit nulls. A word with empty brackets is just unaligned.
- A position in the brackets of several words is read as several links. A word may look like a
  bracket: after each word there is always ``({``, and positions follow up to ``})``.
- The number in the header is the pair's id; it may repeat. Numbers that are out of order or
  missing, as in a part that GIZA++ wrote in parallel with others, are noted.
- Both lengths must match the lines; they may be missing, ``# Sentence pair (1)``. The score is
  optional and becomes the attribute ``score``. Letters of any case and other spaces in the header
  are allowed.

Links are written without their status, and nulls only of target words. Ids that are not whole
numbers are replaced. Each pair gets a block; if the pair is not annotated, its brackets are empty.

The format rte is the same with exchanged sides: `A3Layout` has the differences.

References
----------
Och & Ney 2003, "A systematic comparison of various statistical alignment models", Computational
Linguistics 29(1):19-51; the README of GIZA++, part V.B "alignment file".
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record, Status
from alignkit.io.sentence_numbers import SentenceNumbers
from alignkit.io.sniffing import Head, Likeness
from alignkit.io.text_files import Line
from alignkit.io.writing import Numbering, Writing, links_and_nulls
from alignkit.model.alignment import NULL
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import split_words

_Bracketed = tuple[str, list[str]]  # a word, and what stands in the brackets behind it


@dataclass(frozen=True)
class A3Layout:
    """The layout of records of three lines in an edition of A3, which it reads and writes."""

    header: re.Pattern[str]  # the first line: `id`, perhaps `source`, `target` (lengths), `score`
    shape: str  # the first line as a message shows it
    first_line: Callable[[SentencePair, str], str]  # of a pair, given its number
    bracketed: int  # the side, 0 or 1, whose words have brackets; it stands in the third line
    possible: str = ""  # what stands before a position whose link is only possible
    tail: tuple[str, ...] = ()  # what each bracket ends with
    mend: Callable[[Reading, int, str], str] = lambda reading, number, text: text  # the last line

    def format(self, holds: str) -> Format:
        """Return the format of this layout."""
        return Format(self._sniff, self._parse, self._write, holds=kinds(holds), base=1)

    def _sniff(self, head: Head) -> Likeness:
        """Look for a first line of a record, or else for the brackets of this layout."""
        if any(self.header.fullmatch(line.strip()) for line in head.lines):
            return Likeness.SURE
        begins = re.escape(self.shape.partition("N")[0]) + "[0-9]"
        if re.match(begins, head.text, re.IGNORECASE):
            return Likeness.LIKELY
        has_tail = "/ / })" in head.text
        if "NULL ({" in head.text and has_tail == bool(self.tail):
            return Likeness.LIKELY
        return Likeness.NO

    def _parse(self, reading: Reading) -> Iterator[Record]:
        """Yield the records; a broken one is reported, and reading continues at the next header."""
        lines = _Lines(reading, self)
        numbers = SentenceNumbers()
        for number, text in lines:
            header = self.header.fullmatch(text.strip())
            if not text.strip():
                reading.note("empty line", "skipped", number)
                continue
            if header is None:
                message = f"{text.strip()[:40]!r}, expected {self.shape!r}"
                reading.reject(message, number)
                lines.skip_to_header()
                continue
            own = int(header["id"])
            before = numbers.add(own)
            if before is not None:
                reading.note("sentence number out of order", f"{own} comes after {before}", number)
            rest = list(islice(lines, 2))
            try:
                if len(rest) < 2:
                    what = (
                        f"the file ends inside the record {header[0][:40]!r}, which has three lines"
                    )
                    raise reading.error(what, number)
                (_, plain), (line, text_with_brackets) = rest
                bracketed = _bracketed(line, text_with_brackets, reading)
            except FormatError as error:
                reading.refuse(error)
                lines.push(rest)
                lines.skip_to_header()
                continue
            with reading.refusing():
                yield self._record(header, number, plain, bracketed, reading)
        reading.disorder = str(numbers)
        for first, last in numbers.missing():
            if first == last:
                absent = f"{first} is"
            else:
                absent = f"{first}-{last} are"
            reading.note("gap in sentence numbers", f"{absent} missing")

    def _record(
        self,
        header: re.Match[str],
        number: int,
        plain: str,
        bracketed: Sequence[_Bracketed],
        reading: Reading,
    ) -> Record:
        """Return the record of a header and its two lines."""
        links = []
        for k, (_, items) in enumerate(bracketed, start=reading.base - 1):
            word = k if k >= reading.base else None  # the first is the empty word
            for position, status in self._positions(items, number + 2, reading):
                if self.bracketed:
                    links.append(RawLink(position, word, status))
                else:
                    links.append(RawLink(word, position, status))
        sides = [[word for word, _ in bracketed[1:]], reading.words(plain)]
        if self.bracketed:
            sides.reverse()
        declared = header.groupdict()
        lengths = [int(declared[side]) for side in ("source", "target") if declared.get(side)]
        if lengths and lengths != [*map(len, sides)]:
            raise reading.error(
                f"{len(sides[0])} source and {len(sides[1])} target words, but the header says "
                f"{lengths[0]} and {lengths[1]}",
                number,
            )
        if reading.options.transpose:
            sides.reverse()
        score = declared.get("score")
        attributes = {} if score is None else {"score": score}
        source, target = sides
        annotations = {reading.name: RawAnnotation(links)}
        return Record(declared["id"], number, source, target, annotations, attributes)

    def _positions(
        self, items: Sequence[str], line: int, reading: Reading
    ) -> Iterator[tuple[int, Status]]:
        """Yield the positions in a bracket, and whether the links are sure."""
        end = len(items) - len(self.tail)
        if tuple(items[end:]) != self.tail:
            given = " ".join(items[end:])
            tail = " ".join(self.tail)
            raise reading.error(f"brackets end in {given[:40]!r}, not {tail!r}", line)
        pattern = re.compile(rf"((?:{self.possible})?)([0-9]{{1,9}})")
        for item in items[:end]:
            match = pattern.fullmatch(item)
            if match is None:
                raise reading.error(f"{item[:40]!r} in brackets, expected a word position", line)
            yield int(match[2]), "possible" if match[1] else "sure"

    def _write(self, writing: Writing) -> None:
        """Write the records; in the line with brackets, NULL comes before the words."""
        numbering = Numbering(writing.lost, unique=False)
        side = self.bracketed
        other = 1 - self.bracketed
        with writing.open() as stream:
            for written in writing.pairs:
                alignment = writing.alignment_or_empty(written)
                pair = written.transpose() if writing.options.transpose else written
                tokens = pair.words[side]
                positions: list[list[str]] = [[] for _ in range(len(tokens) + 1)]  # NULL is last
                for link, sure in links_and_nulls(alignment):
                    if link[other] != NULL:
                        mark = "" if sure else self.possible
                        positions[link[side]].append(f"{mark}{link[other] + writing.base}")
                if any(null[other] == NULL for null in alignment.nulls):
                    writing.lost["nulls"] += 1
                parts = ["NULL", "({", *positions[-1], *self.tail, "})"]
                for word, items in zip(tokens, positions, strict=False):
                    parts += [word, "({", *items, *self.tail, "})"]
                plain = writing.words(pair)[other]
                first = writing.without_marks(self.first_line(pair, numbering.take(pair.id)))
                stream.write(f"{first}\n{plain}\n{' '.join(parts)}\n")


def _bracketed(line: int, text: str, reading: Reading) -> list[_Bracketed]:
    """Split a line into words and the contents of their brackets; NULL is the first."""
    tokens = split_words(text)
    words: list[_Bracketed] = []
    at = 0
    while at < len(tokens):
        word = tokens[at]
        if tokens[at + 1 : at + 2] != ["({"]:
            raise reading.error(f"expected '({{ ... }})' after the word {word[:40]!r}", line)
        if "})" not in tokens[at + 2 :]:
            raise reading.error(f"'({{' after the word {word[:40]!r} is not closed by '}})'", line)
        end = tokens.index("})", at + 2)
        words.append((word, tokens[at + 2 : end]))
        at = end + 1
    if not words or words[0][0] != "NULL":
        raise reading.error("expected 'NULL ({ ... })' before the words", line)
    return words


class _Lines:
    """Lines that can be put back; the last line of the file is mended as the layout does it."""

    def __init__(self, reading: Reading, layout: A3Layout) -> None:
        self._lines = reading.lines()
        self._header = layout.header
        self._mend = partial(layout.mend, reading)
        self._ahead: deque[Line] = deque()  # one line at least, until the last is given out

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> Line:
        number, text = self._ahead.popleft() if self._ahead else next(self._lines)
        if not self._ahead:
            self._ahead.extend(islice(self._lines, 1))
        if not self._ahead:
            text = self._mend(number, text)
        return number, text

    def push(self, lines: list[Line]) -> None:
        """Put lines back, to be read next."""
        self._ahead.extendleft(reversed(lines))

    def skip_to_header(self) -> None:
        """Skip the lines before the next header."""
        for number, text in self:
            if self._header.fullmatch(text.strip()):
                self.push([(number, text)])
                return


def _first_line(pair: SentencePair, number: str) -> str:
    """Return the header of a pair, with its score if that is one word."""
    source, target = pair.lengths
    score = pair.attributes.get("score", "")
    scored = ""
    if score.split() == [score]:
        scored = f" alignment score : {score}"
    return f"# Sentence pair ({number}) source length {source} target length {target}{scored}"


FORMAT = A3Layout(
    re.compile(
        r"#\s*sentence\s+pair\s*\(\s*(?P<id>[0-9]{1,9})\s*\)"
        r"(?:\s+source\s+length\s+(?P<source>[0-9]{1,9})"
        r"\s+target\s+length\s+(?P<target>[0-9]{1,9}))?"
        r"(?:\s+alignment(?:\s+score\s*:\s*(?P<score>\S+))?)?",
        re.IGNORECASE,
    ),
    "# Sentence pair (N) source length L target length M alignment score : S",
    _first_line,
    bracketed=0,
).format("text, nulls, empty, attribute score")
