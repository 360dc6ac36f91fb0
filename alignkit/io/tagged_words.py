"""The sentences of a CoNLL-U file: their words, and all else as attributes.

`alignkit.io.formats.conllu` has the specification.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from alignkit.errors import AlignkitError
from alignkit.io.compression import plain_name
from alignkit.io.text_files import TextFile

if TYPE_CHECKING:
    from alignkit.model.sentence_pair import SentencePair

COLUMNS = ("lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_OTHER_ID = re.compile(r"([0-9]{1,9})([-.])([0-9]{1,9})")
_ABOUT = re.compile(r"#\s*(sent_id|text)\s*=\s*(.*)")


class Tagged(NamedTuple):
    """A sentence: its line, its words, and its attributes without the name of a side."""

    line: int
    words: list[str]
    attributes: dict[str, str]

    def of(self, side: str) -> dict[str, str]:
        """Return the attributes of a pair that has this sentence on a side."""
        return {f"{side}.{name}": text for name, text in self.attributes.items()}


def two_sides(paths: Iterable[str]) -> tuple[str, str] | None:
    """Return the CoNLL-U files among paths as source and target, if there are exactly two."""
    files = [path for path in paths if plain_name(path).endswith(".conllu")]
    if len(files) != 2:
        return None
    first, second = files
    names = [os.path.basename(path).casefold() for path in files]
    if "target" in names[0] or "source" in names[1]:
        return second, first
    return first, second


def sides_as_options(sides: tuple[str, str]) -> str:
    """Return the options that name both files, for a message."""
    source, target = sides
    return f"`source={source!r}` `target={target!r}`"


def read_tagged(reading: TextFile, path: str) -> Iterator[Tagged]:
    """Yield the sentences of a CoNLL-U file."""
    begins = 1
    lines = list[str]()
    for number, text in chain(reading.lines(path), [(0, "")]):
        if text.strip():
            begins = begins if lines else number
            lines.append(text)
        elif lines:
            yield _sentence(reading, path, begins, lines)
            lines = []


def _sentence(reading: TextFile, path: str, begins: int, lines: list[str]) -> Tagged:
    """Return the sentence of some lines, whose first number is `begins`."""
    comments: list[str] = []
    others: list[str] = []  # multiword tokens and empty nodes, as they are
    rows: list[list[str]] = []
    for number, line in enumerate(lines, start=begins):
        columns = line.split("\t")
        match = _OTHER_ID.fullmatch(columns[0])
        if line.startswith("#"):
            comments.append(line)
        elif len(columns) != 10 or not columns[1]:
            message = f"{len(columns)} tab-separated columns; expected 10 with a word in the second"
            raise reading.error(message, number, path=path)
        elif columns[0] == str(len(rows) + 1):
            rows.append(columns)
        elif match is not None and int(match[1]) == len(rows) + (match[2] == "-"):
            others.append(line)
        else:
            message = f"word id {columns[0][:20]!r}; expected {len(rows) + 1}"
            raise reading.error(message, number, path=path)
    if not rows:
        raise reading.error("a sentence without words", begins, path=path)
    attributes: dict[str, str] = {}
    for match in filter(None, map(_ABOUT.match, comments)):
        attributes[match[1]] = match[2]
    _, words, *columns_of_words = zip(*rows, strict=True)
    for name, values in zip(COLUMNS, columns_of_words, strict=True):
        if {*values} != {"_"}:
            attributes[name] = "\t".join(value or "_" for value in values)
    if comments:
        attributes["comments"] = "\n".join(comments)
    if others:
        attributes["others"] = "\n".join(others)
    return Tagged(begins, list(words), attributes)


def tagged_text(pair: SentencePair, side: str) -> str:
    """Return a side of a pair as a sentence of CoNLL-U."""
    from alignkit.model.sentence_pair import word_column

    words: tuple[str, ...] = pair.words[side == "target"]
    if not words:
        raise AlignkitError(f"pair {pair.id!r} has no {side} words, which CoNLL-U cannot represent")
    comments = pair.attributes.get(f"{side}.comments")
    if not comments:
        id = pair.attributes.get(f"{side}.sent_id") or pair.id
        text = pair.attributes.get(f"{side}.text") or " ".join(words)
        comments = f"# sent_id = {id}\n# text = {text}"
    columns = [word_column(pair, side, name) or ["_"] * len(words) for name in COLUMNS]
    numbers = map(str, range(1, len(words) + 1))
    rows = ["\t".join(row) for row in zip(numbers, words, *columns, strict=True)]
    for line in reversed(pair.attributes.get(f"{side}.others", "").splitlines()):
        match = _OTHER_ID.match(line)
        if match:
            place = int(match[1])  # 8.1 is behind word 8, 8-9 before it
            rows.insert(place - 1 if match[2] == "-" else place, line)
    return "\n".join((comments, *rows, "\n"))
