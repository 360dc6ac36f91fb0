"""Texts with attributes: a folder of files, JSON lines, or columns divided by tabs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alignkit._support.arguments import check_arguments
from alignkit.errors import FormatError
from alignkit.io.options import ReadOptions
from alignkit.io.strict_json import as_text, parse_json, read_id
from alignkit.io.text_files import TextFile


@dataclass(frozen=True)
class TextRecord:
    """A text, or several, with attributes, each by its name.

    Parameters
    ----------
    id : The name of the record.
    values : The texts and the attributes.
    place : The file and the line, for messages.
    """

    id: str
    values: Mapping[str, str]
    place: tuple[str, int | None] = ("", None)

    def __getitem__(self, name: str) -> str:
        try:
            return self.values[name]
        except KeyError:
            message = f"text {self.id[:80]!r} has no {name!r}; it has {', '.join(self.values)}"
            raise FormatError(message, *self.place) from None


def read_texts(path: str, *, encoding: str = "utf-8") -> list[TextRecord]:
    """Read a folder of text files, JSON lines, or columns below a line with their names.

    The text of a file is called ``text``. A list of texts in JSON is a text of several paragraphs.
    The id is `id`, or the number of the line, or the name of the file.

    Parameters
    ----------
    path : The file or folder; ``-`` is standard input.
    encoding : The encoding of all files.

    Raises
    ------
    FormatError : If a line does not follow the format, or two texts have the same id.
    """
    check_arguments(read_texts, locals())
    options = ReadOptions(encoding=encoding)
    rows = _files(path, options) if os.path.isdir(path) else _lines(path, options)
    records: dict[str, TextRecord] = {}
    for file, line, row in rows:
        id = read_id(row, line or 0)
        if id in records:
            raise FormatError(f"the id {id[:80]!r} is used twice", file, line)
        texts = {name: _text(value) for name, value in row.items() if name != "id"}
        values = {name: text for name, text in texts.items() if text is not None}
        records[id] = TextRecord(id, values, (file, line))
    return list(records.values())


def _files(folder: str, options: ReadOptions) -> Iterator[tuple[str, int | None, dict[str, Any]]]:
    for path in sorted(Path(folder).iterdir()):
        if path.is_file() and not path.name.startswith("."):
            yield str(path), None, {"id": path.stem, "text": TextFile(str(path), options).text()}


def _lines(path: str, options: ReadOptions) -> Iterator[tuple[str, int | None, dict[str, Any]]]:
    names: list[str] | None = None  # of columns
    for number, line in TextFile(path, options).lines(path):
        if not line.strip():
            continue
        fields = line.split("\t")
        if names is None:
            names = [] if line.lstrip().startswith(("{", "[")) else fields
            if names:
                continue
        row = dict(zip(names, fields, strict=False)) if names else parse_json(line, path, number)
        if type(row) is not dict or (names and len(fields) != len(names)):
            expected = f"{len(names)} columns, as in the first line" if names else "a JSON object"
            raise FormatError(f"expected {expected}", path, number)
        yield path, number, row


def _text(value: object) -> str | None:
    """Return a text, its paragraphs joined, with ends of lines as `alignkit annotate` has them."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "\n\n".join(value)
    text = as_text(value)
    return text and text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
