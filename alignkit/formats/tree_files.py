"""Read files of constituent trees as they are written: a text of brackets for each sentence.

Specification
-------------
Three forms, each packed (``.gz``) too:

- ``penn``: one tree a line; a blank line is a sentence without a parse; several trees on a line
  are the parse of one side that has several sentences.
- ``mrg``: trees over several lines, as in the Penn treebank. A tree begins with a bracket at the
  start of a line; blank lines mean nothing. A sentence without a parse is ``()`` or ``(())``.
- ``stanford-xml``: what Stanford's tools write. Each ``<s>`` has a ``<tree style="penn">``, or each
  ``<sentence>`` below ``<sentences>`` a ``<parse>``; one without is a sentence without a parse.

The brackets themselves: `alignkit.trees.brackets`. XML is read without entities and network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from alignkit.errors import FormatError, UnknownNameError
from alignkit.formats.textfile import TextFile

TREE_NAME = "parse"
"""The name of trees that are given none."""

_LONG = 65535  # from this line on libxml2 numbers an element by the end of the text in it
_HEAD = 200  # lines that tell the form
_BRACKET = re.compile(r"\\[()\\]|[()]")


class WrittenTree(NamedTuple):
    """A tree as its file writes it."""

    text: str  # the brackets; blank where the sentence has no parse
    line: int  # the line, from 1, at which the text begins
    before: int | None = 0

    def placed(self, error: FormatError, path: str, about: str = "") -> FormatError:
        """Return an error about the text as one of the file; line and column are moved."""
        line = self.line + (error.line or 1) - 1
        column = error.column
        if error.line == 1 and column is not None:
            if self.before is None:
                about, column = f"{about}character {column} of the tree: ", None
            else:
                column += self.before
        return FormatError(f"{about}{error.message}", path, line, column)


def written_trees(file: TextFile, form: str | None = None) -> Iterator[WrittenTree]:
    """Yield the trees of a file, in the order of its sentences."""
    if form is not None and form not in TREE_FORMATS:
        raise UnknownNameError("format of trees", form, TREE_FORMATS)
    if form == "stanford-xml" or (form is None and _is_xml(file)):
        return _xml_trees(file)
    lines = file.lines()
    head = list(islice(lines, _HEAD))
    if form is None:
        form = _form_of(file.path, [text for _, text in head])
    return TREE_FORMATS[form](file, chain(head, lines))


def _is_xml(file: TextFile) -> bool:
    """Return whether the first character says so; that of standard input cannot be looked at."""
    if file.path == "-":
        return False
    with file.open() as stream:
        head = stream.read(512).replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    return head.startswith(b"<")


def _form_of(path: str, lines: list[str]) -> str:
    if re.search(r"\.mrg(\.|$)", path):
        return "mrg"
    filled = [line for line in lines if line.strip()]
    begun = [line for line in filled if line.startswith("(")] or filled
    whole = sum(line.count("(") == line.count(")") for line in begun)
    return "mrg" if whole * 2 < len(begun) else "penn"


def _line_trees(file: TextFile, lines: Iterator[tuple[int, str]]) -> Iterator[WrittenTree]:
    for number, text in lines:
        _refuse_xml(file, number, text)
        yield WrittenTree(text, number)


def _refuse_xml(file: TextFile, number: int, text: str) -> None:
    if number == 1 and text.lstrip().startswith("<"):
        raise file.error(
            "XML where brackets were expected; XML on standard input is read by "
            '`tree_format="stanford-xml"`',
            number,
        )


def _many_line_trees(file: TextFile, lines: Iterator[tuple[int, str]]) -> Iterator[WrittenTree]:
    part: list[str] = []
    first = size = depth = 0
    indented = False
    for number, text in lines:
        _refuse_xml(file, number, text)
        if not text.strip() and not part:
            continue
        begins = text.startswith("(") and (depth <= 0 or indented)
        if part and (begins or (not text.strip() and depth <= 0)):
            yield from _divided("\n".join(part), first)
            part, size, depth, indented = [], 0, 0, False
            if not text.strip():
                continue
        if not part:
            first = number
        indented = indented or (bool(part) and text[:1] in (" ", "\t"))
        part.append(text)
        size += len(text)
        depth += text.count("(") - text.count(")")
        if size > file.options.max_size << 20:
            raise file.error(f"no tree ends within {file.options.max_size} megabytes", first)
    if part:
        yield from _divided("\n".join(part), first)


def _divided(text: str, line: int) -> Iterator[WrittenTree]:
    """Divide what is written behind each other; leave it whole where brackets do not match."""
    depth, start, parts = 0, 0, []
    for match in _BRACKET.finditer(text):
        if len(match[0]) == 1:
            depth += 1 if match[0] == "(" else -1
            if depth < 0:
                break
            if not depth:
                parts.append((start, match.end()))
                start = match.end()
    if depth or text[start:].strip() or len(parts) < 2:
        yield WrittenTree(text, line)
        return
    for start, end in parts:
        begin = end - len(text[start:end].lstrip())
        before = begin - text.rfind("\n", 0, begin) - 1
        yield WrittenTree(text[begin:end], line + text.count("\n", 0, begin), before)


def _xml_trees(
    file: TextFile, lines: Iterator[tuple[int, str]] | None = None
) -> Iterator[WrittenTree]:
    from alignkit.formats.safe_xml import line_of, local_name, read_nested

    found = False
    for element in read_nested(file, "s", "sentence"):
        parent = element.getparent()
        if local_name(element) == "sentence" and (
            parent is None or local_name(parent) != "sentences"
        ):
            continue  # of a mention in a coreference
        found = True
        parses = [
            child
            for child in element
            if local_name(child) == "parse"
            or (local_name(child) == "tree" and child.get("style", "penn") == "penn")
        ]
        line = line_of(parses[0]) if parses else line_of(element)
        if parses and line >= _LONG:
            line -= (parses[0].text or "").count("\n")
        yield WrittenTree(" ".join(parse.text or "" for parse in parses), line, None)
    if not found:
        raise file.error("no <s> and no <sentence> below <sentences>, as Stanford's tools write")


TREE_FORMATS: dict[str, Callable[[TextFile, Iterator[tuple[int, str]]], Iterator[WrittenTree]]] = {
    "penn": _line_trees,
    "mrg": _many_line_trees,
    "stanford-xml": _xml_trees,
}
"""What reads each form of a file of trees."""
