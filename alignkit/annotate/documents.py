r"""Read pairs of documents, from which annotators extract pairs.

Documents are two files, two folders in which files with the same name without extension make a pair
(hidden files and subfolders are left out), or JSON lines with the texts ``source`` and ``target``,
each a string or a list of paragraphs, an ``id`` (default: the line number), and any other strings,
numbers and booleans, which become attributes.

Texts are kept character by character, except that line ends become ``\n`` and byte order marks at
the beginning are removed. Offsets count these characters.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from alignkit._support.wording import how_many
from alignkit.annotate.project.events import SOURCE_TEXT, TARGET_TEXT
from alignkit.annotate.project.names import ProjectError
from alignkit.errors import FileError, FormatError
from alignkit.io.opening import open_input
from alignkit.io.strict_json import as_text
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import (
    TOKENIZERS,
    describe_tokenizer,
    split_unicode,
    tokenizer,
    without_first_marks,
)

TOKENIZER = "tokenizer"
"""The attribute that names the tokenizer of the texts; without it, words end at white space."""

_MOST = 64 << 20  # bytes of a file

Document = tuple[str, str, str, dict[str, str]]
"""The name of a pair of documents, the texts, and attributes."""


def read_documents(
    paths: Sequence[str],
    *,
    tokenize: str | None = None,
    encoding: str = "utf-8",
    note: Callable[[str], None] = lambda _: None,
) -> Iterator[SentencePair]:
    """Yield pairs of documents; the attributes `source_text` and `target_text` hold their texts."""
    if len(paths) == 1:
        documents = _json_lines(paths[0], encoding)
    else:
        documents = _two_sides(paths, encoding, note)
    tokenized_by = {}  # the attribute that names the tokenizer, if any
    if tokenize is not None:
        tokenized_by[TOKENIZER] = describe_tokenizer(tokenize)
    divided = divider(tokenized_by)
    ids: set[str] = set()
    for id, source, target, attributes in documents:
        if id in ids:
            raise ProjectError(f"{paths[0]}: two documents have the id {id[:80]!r}; rename one")
        ids.add(id)
        words = {"source": divided(source), "target": divided(target)}
        for side in SIDES:
            if not words[side]:
                raise ProjectError(f"document {id!r}: its {side} has no words; leave it out")
        whole = {**attributes, **tokenized_by, SOURCE_TEXT: source, TARGET_TEXT: target}
        yield SentencePair(id, words["source"], words["target"], {}, whole)


def divider(attributes: Any) -> Callable[[str], list[str]]:
    """Return the function that divides texts of documents with these attributes into words."""
    described = attributes.get(TOKENIZER, "")  # the name, then its version
    name, _, _ = described.partition(" ")
    if name in TOKENIZERS:
        return tokenizer(name)
    return split_unicode


def _two_sides(
    paths: Sequence[str], encoding: str, note: Callable[[str], None]
) -> Iterator[Document]:
    """Yield the pair of two files, or of the files of the same name in two folders."""
    source, target = map(Path, paths)
    if source.is_dir() != target.is_dir():
        raise ProjectError(f"{source} and {target}: expected two folders or two files")
    if not source.is_dir():
        yield _document(source.stem, source, target, encoding)
        return
    sources = _files(source)
    targets = _files(target)
    shared = [name for name in sources if name in targets]
    if not shared:
        raise ProjectError(
            f"{source} and {target}: no file has the same name in both; a pair of documents is two "
            "files with the same name, e.g. a.txt in each"
        )
    for folder, names in ((source, sources), (target, targets)):
        alone = [name for name in names if name not in shared]
        if alone:
            listed = ", ".join(alone[:5])
            if len(alone) > 5:
                listed += ", ..."
            many = how_many(len(alone), "file has", "files have")
            note(f"{folder}: {many} no counterpart in the other folder: {listed}")
    for name in shared:
        yield _document(name, sources[name], targets[name], encoding)


def _files(folder: Path) -> dict[str, Path]:
    """Return the files of a folder, without hidden ones, by name without extension."""
    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            other = files.get(path.stem)
            if other is not None:
                raise ProjectError(f"{path} and {other.name} have the same name; rename one")
            files[path.stem] = path
    return files


def _document(name: str, source: Path, target: Path, encoding: str) -> Document:
    """Read two files as a pair of documents."""
    places = {"source_document": str(source), "target_document": str(target)}
    return name, _read(source, encoding), _read(target, encoding), places


def _read(path: Path, encoding: str) -> str:
    """Return the text of a file."""
    with _naming(path, encoding), open_input(str(path)) as stream:
        raw = stream.read(_MOST + 1)
        if len(raw) > _MOST:
            raise ProjectError(
                f"{path}: more than {_MOST >> 20} MB are too much for a document; divide it"
            )
        return _clean(raw.decode(encoding))


@contextmanager
def _naming(path: str | Path, encoding: str) -> Iterator[None]:
    """Turn errors of reading a file into those of the package, which name it."""
    try:
        yield
    except OSError as problem:
        raise FileError.of(problem, str(path)) from None
    except (UnicodeDecodeError, LookupError) as problem:
        message = f"is not text in {encoding} ({problem}); see --encoding"
        raise FormatError(message, str(path)) from None


def _clean(text: str) -> str:
    """Return a text without byte order marks at its beginning, and with plain line ends."""
    return without_first_marks(text).replace("\r\n", "\n").replace("\r", "\n")


def _json_lines(path: str, encoding: str) -> Iterator[Document]:
    """Yield the pairs of documents of a file of JSON lines."""
    if os.path.isdir(path):
        raise ProjectError(f"{path}: is one folder; give two, for source and target documents")
    with _naming(path, encoding), open_input(path) as raw, TextIOWrapper(raw, encoding) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _from_json(without_first_marks(line), path, number)


def _from_json(line: str, path: str, number: int) -> Document:
    """Return the pair of documents of a line; its other fields become attributes."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise FormatError(
            f"is not JSON ({problem}); expected an object on each line, with the texts "
            "source and target",
            path,
            number,
        ) from None
    if not isinstance(row, dict):
        raise FormatError("is not an object; expected id, source and target", path, number)
    source = _text(row.pop("source", None), "source", path, number)
    target = _text(row.pop("target", None), "target", path, number)
    id = as_text(row.pop("id", number))
    if id is None:
        raise FormatError("'id' must be a text or a number", path, number)
    attributes = {}
    for name, value in row.items():
        text = as_text(value)
        if text is not None:
            attributes[name] = text
    attributes.pop(TOKENIZER, None)
    for side in SIDES:
        attributes.setdefault(f"{side}_document", id)
    return id, source, target, attributes


def _text(value: object, side: str, path: str, number: int) -> str:
    """Return a text of a line; a list of paragraphs is joined with blank lines."""
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        value = "\n\n".join(value)
    wrong = ""
    if not isinstance(value, str) or not value.strip():
        wrong = f"has no text {side!r}; expected a string, or a list of paragraphs"
    elif any("\ud800" <= letter <= "\udfff" for letter in value):
        wrong = f"{side!r} has half of a surrogate pair, which is not a character; remove it"
    if wrong:
        raise FormatError(wrong, path, number)
    return _clean(str(value))
