"""The ten columns that GoldAlign and MultiMWA share.

id, source, link of the source, target, link of the target, judgment of the corpus, judgment of the
user, sure links, possible links, comment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from alignkit.annotation import Annotation
from alignkit.errors import FormatError
from alignkit.formats.notation import LinkTexts, parse_links
from alignkit.formats.record import RawAnnotation
from alignkit.formats.textfile import BOM
from alignkit.formats.words import split_words
from alignkit.formats.writing import Writing
from alignkit.input import CONTROL
from alignkit.sentence_pair import SentencePair

LINKS = ("source-link", "target-link")
JUDGMENT = "corpus-judgment"
_NAMES = {2: LINKS[0], 4: LINKS[1], 5: JUDGMENT}
HELD = frozenset({"text", "possible", "comment", "judgment", "absent", "empty"}) | {
    f"attribute {name}" for name in _NAMES.values()
}
"""What of a corpus the columns hold."""
_COLUMNS = 10
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


def parse_row(text: str, most: int = _COLUMNS) -> GoldRow:
    """Read a line of 10 columns (up to `most`), or of 6 for a pair not annotated."""
    columns = [part.strip(" \r") for part in text.split("\t")]
    if len(columns) != _UNANNOTATED and not _COLUMNS <= len(columns) <= most:
        wanted = f"{_COLUMNS}" if most == _COLUMNS else f"{_COLUMNS} to {most}"
        raise FormatError(f"{len(columns)} tab-separated columns; expected {wanted}")
    annotation = None
    if len(columns) >= _COLUMNS:
        links = parse_links(columns[7]) + parse_links(columns[8], "possible")
        annotation = RawAnnotation(links, comment=columns[9], judgment=columns[6])
    attributes = {name: columns[k] for k, name in _NAMES.items() if columns[k]}
    return GoldRow(
        columns[0],
        split_words(columns[1]),
        split_words(columns[3]),
        attributes,
        annotation,
        columns[_COLUMNS:],
    )


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
        columns += [] if more is None else [more]
    columns = [_column(part, writing) for part in columns]
    columns[1], columns[3] = writing.words(pair)  # a word may be an ideographic space
    return "\t".join(columns) + "\n"


def _column(text: str, writing: Writing) -> str:
    """Return a text with single spaces; more than spaces that change are counted as a loss."""
    if BOM in text or (text and text.split(" ") != text.split()) or CONTROL.search(text):
        text = " ".join(CONTROL.sub(" ", text.replace(BOM, "")).split())
        writing.lost["white space in texts"] += 1
    return text
