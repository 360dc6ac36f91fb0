"""MultiMWA's TSV [multimwa].

Specification
-------------
Each line is a pair with 10 or 11 tab-separated columns, as in a GoldAlign batch: id, source, link,
target, link, corpus judgment, user judgment, sure links, possible links, comment, and in some files
one more. Tokens and links are separated by whitespace; links are ``i-j``, source first, from 0, in
any order; spaces around a column have no meaning.

The links to a context, the corpus judgment and the eleventh column become the attributes
`source-link`, `target-link`, `corpus-judgment` and `column-11` if they are not empty; ``N/A``, as
in all of the published files, means no link to a context. The user judgment and the comment belong
to the annotation. A line of six columns is a pair that is not annotated.

Writing adds ``N/A`` if a pair has no context, and an eleventh column (maybe empty) if it has one:
both distinguish the file from a batch of GoldAlign.

References
----------
Lan, Jiang & Xu 2021, "Neural semi-Markov CRF for monolingual word alignment", ACL;
github.com/chaojiang06/neural-Jacana.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.opening import CONTROL
from alignkit.io.records import RawAnnotation, Reading, Record, parse_links
from alignkit.io.sniffing import Head, Likeness, are_links, by_share
from alignkit.io.writing import LinkTexts, Writing
from alignkit.model.annotation import Annotation
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import without_marks

LINKS = ("source-link", "target-link")
JUDGMENT = "corpus-judgment"
_NAMES = {2: "source-link", 4: "target-link", 5: JUDGMENT}  # of attributes, by column
HELD = kinds(
    "text, possible, comment, judgment, absent, empty, attribute source-link, "
    "attribute target-link, attribute corpus-judgment"
)
"""The data of a corpus that the columns can represent."""
COLUMNS = 10
_UNANNOTATED = 6


@dataclass(slots=True)
class GoldRow:
    """A pair and, if it is annotated, one annotation."""

    id: str  # the first column
    source: list[str]  # the tokens
    target: list[str]
    attributes: dict[str, str]
    annotation: RawAnnotation | None
    more: list[str]  # what stands in columns behind the tenth

    def differences(self, other: GoldRow) -> Iterator[str]:
        """Yield the columns in which rows of the same pair differ."""
        for what in ("id", "source", "target"):
            if getattr(self, what) != getattr(other, what):
                yield what
        for name in _NAMES.values():
            if self.attributes.get(name) != other.attributes.get(name):
                yield name.replace("-", " ")


def parse_row(
    reading: Reading, text: str, line: int, path: str = "", *, most: int = COLUMNS
) -> GoldRow:
    """Read a line of 10 columns (up to `most`), or of 6 for a pair that is not annotated."""
    columns = [part.strip(" \r") for part in text.split("\t")]
    if len(columns) != _UNANNOTATED and not COLUMNS <= len(columns) <= most:
        wanted = f"{COLUMNS}" if most == COLUMNS else f"{COLUMNS} to {most}"
        raise FormatError(f"{len(columns)} tab-separated columns; expected {wanted}")
    annotation = None
    if len(columns) >= COLUMNS:
        links = parse_links(columns[7]) + parse_links(columns[8], "possible")
        annotation = RawAnnotation(links, comment=columns[9], judgment=columns[6])
    attributes = {name: columns[k] for k, name in _NAMES.items() if columns[k]}
    source = reading.words(columns[1], line, path)
    target = reading.words(columns[3], line, path)
    return GoldRow(columns[0], source, target, attributes, annotation, columns[COLUMNS:])


def write_row(
    id: str,
    pair: SentencePair,
    annotation: Annotation | None,
    writing: Writing,
    *,
    context: str = "",
    more: str | None = None,
) -> str:
    """Write a line."""
    columns = [id, "", "", "", "", ""]
    for k, name in _NAMES.items():
        columns[k] = pair.attributes.get(name, "" if name == JUDGMENT else context)
    if annotation is not None and annotation.alignment is not None:
        links = LinkTexts(writing.oriented(annotation.alignment), writing.base)
        columns += [annotation.judgment, links.sure, links.possible, annotation.comment]
        if more is not None:
            columns += [more]
    columns = [_column(part, writing) for part in columns]
    columns[1], columns[3] = writing.words(pair)  # a word may be an ideographic space
    return "\t".join(columns) + "\n"


def _column(text: str, writing: Writing) -> str:
    """Return a text with single spaces; changes of other characters are counted as a loss."""
    plain = without_marks(text)
    other_spaces = text and text.split(" ") != text.split()
    if plain != text or other_spaces or CONTROL.search(text):
        text = " ".join(CONTROL.sub(" ", plain).split())
        writing.lost["white space in texts"] += 1
    return text


_LAST = "column-11"
_NONE = "N/A"


def _parse(reading: Reading) -> Iterator[Record]:
    for line, text in reading.lines():
        with reading.refusing(line):
            row = parse_row(reading, text, line, most=11)
            record = Record(row.id, line, row.source, row.target, attributes=row.attributes)
            for name in LINKS:
                if row.attributes.get(name) == _NONE:
                    del row.attributes[name]
            if row.annotation is not None:
                record.annotations[reading.name] = row.annotation
            if any(row.more):
                record.attributes[_LAST] = row.more[0]
            yield record


def _write(writing: Writing) -> None:
    with writing.open() as stream:
        for pair in writing.pairs:
            more = pair.attributes.get(_LAST)
            if more is None and any(pair.attributes.get(name, _NONE) != _NONE for name in LINKS):
                more = ""
            kept = writing.annotation(pair)
            stream.write(write_row(pair.id, pair, kept, writing, context=_NONE, more=more))


def sniff_rows(head: Head, most: int) -> Likeness:
    """Count the first lines that have 10 columns (up to `most`) with links, or 6 without."""
    rows = [[part.strip(" \r") for part in row] for row in head.rows]
    annotated = 0
    for row in rows:
        fits = COLUMNS <= len(row) <= most
        annotated += fits and are_links(row[7]) and are_links(row[8])
    unannotated = sum(len(row) == _UNANNOTATED for row in rows)
    if not annotated:
        return Likeness.MAYBE if unannotated and unannotated == len(rows) else Likeness.NO
    return min(by_share(annotated + unannotated, len(rows)), Likeness.LIKELY)


def _sniff(head: Head) -> Likeness:
    """Distinguish the published files, which have no context, from a batch of GoldAlign."""
    likeness = sniff_rows(head, most=COLUMNS + 1)
    if likeness is Likeness.NO:
        return likeness
    if head.width == COLUMNS + 1:
        return Likeness.SURE
    of_context = [[part.strip(" \r") for part in row[2:5:2]] for row in head.rows if len(row) > 5]
    if of_context.count([_NONE, _NONE]) * 2 >= len(head.rows):
        return Likeness.SURE
    return likeness


FORMAT = Format(_sniff, _parse, _write, holds=HELD | {"ids", f"attribute {_LAST}"})
