"""Tell by keys and headings alone which format a file is of whose first records are broken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from alignkit.formats.sample import Sample

_KEYS = {
    "alignkit-jsonl": ("source", "target", "attributes", "annotations", "sure"),
    "jacana": ("source", "target", "sureAlign", "possibleAlign"),
    "edinburgh": ("paraphrases", "S", "T", "string"),
    "jsonl": ("src_words", "tgt_words", "alignment"),
    "turku": ("label", "txt1", "txt2"),
}
"""The keys of JSON objects that each format has; the more of them, the more a file is of it."""
_HEADINGS = {
    "turku": ("label", "txt1", "txt2"),
    "parade": ("four-class labels", "binary labels", "entity", "definition1", "definition2"),
}
"""The headings of columns, casefolded."""
_ELEMENTS = {"etpc": ("relation", "pair_id", "type_name", "s1_scope", "s2_scope")}
"""The names of XML elements."""
_LEAST = 2
_BEGINNING = 1 << 16  # bytes of each file of a folder
_FILES = 5

_KEY = re.compile(r'"(\w+)"\s*:')
_ELEMENT = re.compile(r"<(\w+)\s*/?>")


def likeness(sample: Sample) -> str | None:
    """Return the one format whose keys or headings the beginning of an input has most of.

    None is returned where there are fewer than two of each format, or as many of several.
    """
    if sample.head is None:
        return _most(_folder(sample.path)) if Path(sample.path).is_dir() else None
    return _most(_counts(sample.head.decode(sample.encoding, "replace")))


def _counts(text: str) -> dict[str, int]:
    start = text.lstrip("\ufeff \t\r\n")[:1]
    if start == "<":
        return _shared(_ELEMENTS, _ELEMENT.findall(text))
    first = text.lstrip("\ufeff\r\n").split("\n", 1)[0]
    if "\t" in first and start not in "[{":
        return _shared(_HEADINGS, [name.strip().casefold() for name in first.split("\t")])
    return _shared(_KEYS, _KEY.findall(text))


def _shared(names: Mapping[str, tuple[str, ...]], found: list[str]) -> dict[str, int]:
    return {format: len(set(own) & set(found)) for format, own in names.items()}


def _folder(path: str) -> dict[str, int]:
    """Return the counts of elements in the XML files of a folder, together."""
    return _shared(
        _ELEMENTS, [name for text in _beginnings(path) for name in _ELEMENT.findall(text)]
    )


def _beginnings(path: str) -> Iterator[str]:
    for file in sorted(Path(path).glob("*.xml"))[:_FILES]:
        if file.is_file():
            with file.open("rb") as stream:
                yield stream.read(_BEGINNING).decode("utf-8", "replace")


def _most(counts: dict[str, int]) -> str | None:
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    if not ranked or ranked[0][1] < _LEAST or ranked[0][1] in [n for _, n in ranked[1:]]:
        return None
    return ranked[0][0]
