"""XML without entities, document type or network, in constant memory.

Only this module and the formats of XML use lxml. libxml2's limits stay on
(`huge_tree` is off): 10 million characters per text and 256 levels of elements are more than any
corpus needs. With the limit on the size of one element, they protect the memory from malicious
files. The size of the file is not limited.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from lxml import etree

from alignkit.errors import AlignkitError, OptionError
from alignkit.io.opening import too_large
from alignkit.io.text_files import TextFile
from alignkit.io.writing import Writing
from alignkit.model.sentence_pair import SentencePair

Element = etree._Element
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_HEAD = 1 << 16
_NEVER = ("resolve_entities", "load_dtd", "dtd_validation", "huge_tree")
_ALWAYS = ("no_network", "remove_comments", "remove_pis")
_SAFE: dict[str, Any] = dict.fromkeys(_NEVER, False) | dict.fromkeys(_ALWAYS, True)
_DOCTYPE = (
    "has a document type (<!DOCTYPE ...>), which alignkit does not read because its entities can "
    "be harmful; remove it"
)


def read_elements(reading: TextFile, name: str, path: str | None = None) -> Iterator[Element]:
    """Yield the root as soon as it opens, then each complete element `name` (``*``: any) in it."""
    with _guarded(reading, path) as stream:
        yield stream.root()
        events = _parsed(stream, reading, name)
        previous: Element | None = None
        for _, element in events:
            parent = element.getparent()
            if parent is None or parent.getparent() is not None:
                continue  # not under the root: part of another element
            # between the last element that was yielded and this one there must be nothing else
            _check_between(parent, previous, element.getprevious(), reading, name)
            yield element
            # free the memory of what was used
            stream.begin()
            element.clear(keep_tail=True)
            if previous is not None:
                parent.remove(previous)  # the last one stays, for the text behind it is unread
            parent.text = None
            previous = element
        root = events.root
        _check_between(root, previous, root[-1] if len(root) else None, reading, name)


def read_nested(reading: TextFile, *names: str, named_dtd: bool = False) -> Iterator[Element]:
    """Yield each complete element with these names, at any depth; then clear it.

    With `named_dtd`, the document type may name a file, which is not read.
    """
    with _guarded(reading, None, named_dtd) as stream:
        stream.root()
        for _, element in _parsed(stream, reading, *names):
            yield element
            # free the memory of what was used, and of what stood before it
            stream.begin()
            element.clear(keep_tail=True)
            parent = element.getparent()
            while parent is not None and element.getprevious() is not None:
                del parent[0]


@contextmanager
def _guarded(reading: TextFile, path: str | None, named_dtd: bool = False) -> Iterator[_Stream]:
    """Open a file to be parsed; errors of the parser get the file and the place."""
    with reading.open(path) as stream:
        try:
            yield _Stream(stream, reading, named_dtd)
        except etree.XMLSyntaxError as problem:
            message = (problem.msg or "").split(", line ")[0].strip()
            if message in ("", "no element found"):  # what libxml2 says of undefined entities too
                message = "empty, or uses an entity (&name;) that XML does not define"
            message = f"not XML: {message[:1].lower()}{message[1:][:200]}"
            line, column = problem.position
            place = line or None, column or None, path or reading.path
            raise reading.error(message, *place) from None


def _parsed(stream: _Stream, reading: TextFile, *names: str) -> Any:
    """Return the events of complete elements with these names."""
    encoding = _encoding(reading)
    tags = [f"{{*}}{name}" for name in names]
    return etree.iterparse(stream, ("end",), tag=tags, encoding=encoding, **_SAFE)


def _check_between(
    root: Element,
    previous: Element | None,
    before: Element | None,
    reading: TextFile,
    name: str,
) -> None:
    """Check that there is only whitespace between the last element and the next or the end."""
    if before is not previous and before is not None:
        message = f"found element <{local_name(before)[:40]}>, expected <{name}>"
        raise reading.error(message, line_of(before))
    text = root.text if previous is None else previous.tail
    if text is not None and text.strip():
        what = f"text {text.strip()[:40]!r} between elements; expected none"
        raise reading.error(what, line_of(root if previous is None else previous))


def _encoding(reading: TextFile) -> str | None:
    """Return the declared encoding if it overrides that of the file; None for the default."""
    declared = reading.options.encoding
    try:
        name = codecs.lookup(declared).name
        etree.XMLParser(encoding=name.removesuffix("-sig"))
    except LookupError:
        raise OptionError(f"unknown encoding {declared!r}") from None
    return None if name.startswith("utf-8") else name


def local_name(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def line_of(element: Element) -> int:
    """Return the line where an element starts, 0 if unknown."""
    line: Any = element.sourceline
    return int(line or 0)


def stray_text(element: Element) -> str:
    """Return the text in an element and after its children, without whitespace."""
    parts = [element.text, *(child.tail for child in element)]
    return " ".join(part.strip() for part in parts if part and part.strip())


def write_elements(
    writing: Writing,
    *,
    head: str,
    made: Callable[[SentencePair, Writing], Element],
    end: str = "</corpus>",
    where: Callable[[SentencePair], str] = lambda _: "",
) -> None:
    """Write an element `made` for each pair; `where` locates characters that XML cannot hold."""
    with writing.open() as stream:
        stream.write(f'<?xml version="1.0" encoding="UTF-8"?>\n{head}\n')
        for pair in writing.pairs:
            try:
                text = etree.tostring(made(pair, writing), encoding="unicode")
            except (ValueError, etree.SerialisationError):
                raise AlignkitError(
                    f"pair {pair.id[:40]!r} has a character{where(pair)} that XML does not "
                    "allow, such as a control character; write alignkit-jsonl"
                ) from None
            stream.write(f"  {text}\n")
        stream.write(f"{end}\n")


class _Stream:
    """The bytes of a file, checked at the start before the parser sees them.

    Between two elements at most `max_size` megabytes are given out: see `begin`.
    """

    def __init__(self, stream: BinaryIO, reading: TextFile, named_dtd: bool) -> None:
        self._stream = stream
        self._reading = reading
        self._since = 0  # bytes given out since the last element ended
        self._head = _WIDE.sub(rb"\1UTF-8", stream.read(_HEAD))
        doctype = _doctype(self._head.replace(b"\0", b""))  # UTF-16 too
        self._named_dtd = named_dtd and _NAMED_DTD.match(doctype) is not None
        if doctype and not self._named_dtd:
            raise reading.error(_DOCTYPE)

    def root(self) -> Element:
        """Return the root element, of which only the start tag is known."""
        parser = etree.XMLPullParser(("start",), encoding=_encoding(self._reading), **_SAFE)
        problem: etree.XMLSyntaxError | None = None
        try:
            parser.feed(self._head)
            if len(self._head) < _HEAD:
                parser.close()
        except etree.XMLSyntaxError as error:
            problem = error
        for _, element in parser.read_events():
            if not isinstance(element, Element):
                continue
            if element.getroottree().docinfo.internalDTD is not None and not self._named_dtd:
                raise self._reading.error(_DOCTYPE, line_of(element))
            return element
        if problem is not None:
            raise problem
        raise self._reading.error(f"not XML: no element in the first {_HEAD} bytes")

    def read(self, size: int = -1) -> bytes:
        if self._head:
            part = self._head
            self._head = b""
            return part
        most = self._reading.options.max_size
        if self._since > most << 20:
            raise too_large("an XML element", self._reading.path, most)
        part = self._stream.read(size)
        self._since += len(part)
        return part

    def begin(self) -> None:
        """Restart the count of bytes that must be in memory together."""
        self._since = 0


_WIDE = re.compile(rb"(<\?xml\s[^>]*encoding=.)utf-?(?:16|32)\w*", re.IGNORECASE)
"""A declaration that cannot be true where it can be read as bytes: the file was converted."""
_NAMED_DTD = re.compile(rb"<!DOCTYPE\s+[^\s\[<>]+\s+(SYSTEM|PUBLIC)\s[^\[<>]*>")


def _doctype(head: bytes) -> bytes:
    """Return the head from its document type on; empty if there is none."""
    at = max(head.find(b"<"), 0)
    while True:
        while head[at : at + 1].isspace():
            at += 1
        if head.startswith(b"<?", at):
            end = head.find(b"?>", at)
        elif head.startswith(b"<!--", at):
            end = head.find(b"-->", at)
        else:
            if head.startswith(b"<!DOCTYPE", at):
                return head[at:]
            return b""
        if end < 0:
            return b""
        at = head.index(b">", end) + 1
