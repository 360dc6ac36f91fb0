"""Parse XML without entities, document type or network, in memory that does not grow.

lxml lives here, in `alignkit_xml` and in `paraphrase_xml`. libxml2's limits stay on (`huge_tree`
is off): 10 million characters for one text and 256 levels of elements are more than any corpus
needs, and they are what stands between a made-up file and the machine's memory. The size of the
file is not limited.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from lxml import etree

from alignkit.errors import AlignkitError
from alignkit.formats.reading import Reading

__all__ = ["line_of", "local_name", "read_elements", "stray_text", "xml_text"]

_HEAD = 1 << 16
_DOCTYPE = (
    "has a document type (<!DOCTYPE ...>), which alignkit does not read because entities in it "
    "can do harm; remove it"
)


def read_elements(reading: Reading, name: str) -> Iterator[etree._Element]:
    """Yield the root as soon as it opens, then each element `name` in it as soon as it is whole.

    An element is emptied after its turn. Elements are told by their local names.

    Raises
    ------
    FormatError
        If the file is not XML, has a document type, or holds other elements or text under its
        root.
    """
    with reading.open() as stream:
        try:
            yield from _elements(_Stream(stream, reading), reading, name)
        except etree.XMLSyntaxError as problem:
            message = (problem.msg or "ends too early").split(", line ")[0].strip()
            line, column = problem.position
            message = message[:1].lower() + message[1:]
            raise reading.error(f"not XML: {message}", line or None, column or None) from None


def _elements(stream: _Stream, reading: Reading, name: str) -> Iterator[etree._Element]:
    encoding = reading.options.encoding
    events = etree.iterparse(
        stream,
        events=("start", "end"),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        remove_comments=True,
        remove_pis=True,
        huge_tree=False,
        encoding=None if encoding.lower() in ("utf-8", "utf8") else _known(encoding),
    )
    depth = 0
    for event, element in events:
        if event == "start":
            depth += 1
            if depth == 1:
                if element.getroottree().docinfo.internalDTD is not None:
                    raise reading.error(_DOCTYPE, line_of(element))
                yield element
            continue
        depth -= 1
        if depth == 1:
            _check_place(element, reading, name)
            yield element
            _forget(element)
        elif depth == 0:
            _refuse_stray(element, reading)


def _known(encoding: str) -> str:
    try:
        "".encode(encoding)
    except LookupError:
        raise AlignkitError(f"unknown encoding {encoding!r}") from None
    return encoding


def _check_place(element: etree._Element, reading: Reading, name: str) -> None:
    if local_name(element) != name:
        raise reading.error(
            f"element <{local_name(element)[:40]}> where <{name}> was expected",
            line_of(element),
        )
    parent = element.getparent()
    if parent is not None and element.getprevious() is None:
        _refuse(parent.text, element, reading)
    previous = element.getprevious()
    if previous is not None:
        _refuse(previous.tail, element, reading)


def _forget(element: etree._Element) -> None:
    parent, previous = element.getparent(), element.getprevious()
    element.clear(keep_tail=True)  # type: ignore[call-arg]
    if parent is not None and previous is not None:
        parent.remove(previous)  # one stays, for the text behind it is not read yet
        parent.text = None


def _refuse_stray(root: etree._Element, reading: Reading) -> None:
    _refuse(root[-1].tail if len(root) else root.text, root, reading)


def _refuse(text: str | None, element: etree._Element, reading: Reading) -> None:
    if text is not None and text.strip():
        raise reading.error(
            f"text {text.strip()[:40]!r} between elements, where none was expected",
            line_of(element),
        )


def local_name(element: etree._Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def line_of(element: etree._Element) -> int:
    """Return the line at which an element starts, 0 where that is unknown."""
    line: Any = element.sourceline
    return int(line or 0)


def stray_text(element: etree._Element) -> str:
    """Return the text in an element and behind its children that is not white space."""
    parts = [element.text, *(child.tail for child in element)]
    return " ".join(part.strip() for part in parts if part and part.strip())


def xml_text(element: etree._Element, pair: str) -> str:
    """Write an element as text.

    Raises
    ------
    AlignkitError
        If it cannot be written.
    """
    try:
        return etree.tostring(element, encoding="unicode")
    except (ValueError, etree.SerialisationError) as problem:
        raise AlignkitError(f"pair {pair!r} cannot be written as XML: {problem}") from None


class _Stream:
    """Look for a document type before the parser sees it; then hand on the bytes."""

    def __init__(self, stream: BinaryIO, reading: Reading) -> None:
        self._stream = stream
        self._head = stream.read(_HEAD)
        if _has_doctype(self._head.replace(b"\0", b"")):  # UTF-16 too
            raise reading.error(_DOCTYPE)

    def read(self, size: int = -1) -> bytes:
        if self._head:
            part, self._head = self._head, b""
            return part
        return self._stream.read(size)


def _has_doctype(head: bytes) -> bool:
    at = max(head.find(b"<"), 0)
    while True:
        while head[at : at + 1].isspace():
            at += 1
        if head.startswith(b"<?", at):
            end = head.find(b"?>", at)
        elif head.startswith(b"<!--", at):
            end = head.find(b"-->", at)
        else:
            return head.startswith(b"<!DOCTYPE", at)
        if end < 0:
            return False
        at = head.index(b">", end) + 1
