"""The sentences of a CoNLL-U file: their words, and all else as attributes.

`alignkit.io.formats.conllu` has the specification.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from alignkit.errors import AlignkitError
from alignkit.io.compression import plain_name
from alignkit.io.text_files import TextFile
from alignkit.model.sentence_pair import SentencePair, word_column

COLUMNS = ("lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
IS_TAGGED = re.compile(
    r"(?:#[^\n]*\n|[ \r]*\n)*(?:1|1-[0-9]+|0\.1)(?:\t[^\t\n]*){2}\t(?:_|[A-Z]+)(?:\t[^\t\n]*){2}"
    r"\t(?:_|[0-9]+)(?:\t[^\t\n]*){3}(?:\n|$)"
)
"""The start of a CoNLL-U file: comments, and a first line of 10 columns."""

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
    attributes = {match[1]: match[2] for match in map(_ABOUT.match, comments) if match}
    for name, values in zip(COLUMNS, list(zip(*rows, strict=True))[2:], strict=True):
        if {*values} != {"_"}:
            attributes[name] = "\t".join(value or "_" for value in values)
    attributes |= {"comments": "\n".join(comments)} if comments else {}
    attributes |= {"others": "\n".join(others)} if others else {}
    return Tagged(begins, [row[1] for row in rows], attributes)


def tagged_text(pair: SentencePair, side: str) -> str:
    """Return a side of a pair as a sentence of CoNLL-U."""
    words: tuple[str, ...] = pair.words[side == "target"]
    if not words:
        raise AlignkitError(f"pair {pair.id!r} has no {side} words, which CoNLL-U cannot represent")
    own = {name: pair.attributes.get(f"{side}.{name}", "") for name in ("sent_id", "text")}
    about = f"# sent_id = {own['sent_id'] or pair.id}\n# text = {own['text'] or ' '.join(words)}"
    comments = pair.attributes.get(f"{side}.comments") or about
    columns = [word_column(pair, side, name) or ["_"] * len(words) for name in COLUMNS]
    numbers = map(str, range(1, len(words) + 1))
    rows = ["\t".join(row) for row in zip(numbers, words, *columns, strict=True)]
    for line in reversed(pair.attributes.get(f"{side}.others", "").splitlines()):
        if match := _OTHER_ID.match(line):
            rows.insert(int(match[1]) - (match[2] == "-"), line)
    return "\n".join((comments, *rows, "\n"))
