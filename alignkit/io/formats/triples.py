"""Read and write texts in blocks of three lines, with lines of groups beside them.

Yawat and TransRead share this: a file of blocks ``id``, source sentence, target sentence, and for
each annotator a file of lines ``id group group ...``. Ids may repeat: the first line of an id
belongs to its first block, and so on. A bare id says that the pair is not annotated. The files of
groups start with an empty line; other empty lines where an id is expected are passed over and
counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from alignkit.errors import FormatError
from alignkit.io.formats.three_lines import parse_groups
from alignkit.io.records import RawAnnotation, Reading, Record, Status
from alignkit.io.text_files import TextFile
from alignkit.io.writing import Writing
from alignkit.model.sentence_pair import SentencePair


class _Triple(NamedTuple):
    line: int
    id: str
    source: str
    target: str


def read_triples(
    reading: Reading,
    texts: Path,
    annotations: Mapping[str, Path],
    labels: Mapping[str, Status] | None,
    attributes: Mapping[str, str],
    *,
    prefix: str = "",
) -> Iterator[Record]:
    """Yield the records of a text file and the files of its annotators."""
    lines = {name: _Lines(reading, str(path)) for name, path in annotations.items()}
    known = {id for found in lines.values() for id in found.bodies}
    lacking_ok = reading.options.partial or not lines
    for block in _blocks(reading, str(texts), known, lacking_ok):
        found: dict[str, RawAnnotation] = {}
        problem: FormatError | None = None
        for name, there in lines.items():  # all of them, so that each has its line taken
            try:
                annotation = there.take(block, labels)
            except FormatError as error:
                problem = problem or error
                continue
            if annotation is not None:
                found[name] = annotation
        if problem is not None:
            reading.refuse(problem)
            continue
        words = reading.tokens(block.source), reading.tokens(block.target)
        yield Record(prefix + block.id, block.line, *words, found, dict(attributes), str(texts))
    for there in lines.values():
        there.refuse_rest(str(texts))


def ids_repeat(reading: Reading, documents: Iterable[Iterable[Path]]) -> bool:
    """Return whether an id occurs in several documents, each given by its files of groups."""
    text = TextFile(reading.path, replace(reading.options, lenient=True))  # counts nothing twice
    seen: set[str] = set()
    for files in documents:
        ids: set[str] = set()
        for path in files:
            with suppress(FormatError):  # reading in earnest will tell
                ids.update(
                    line.split(maxsplit=1)[0] for _, line in text.lines(str(path)) if line.strip()
                )
        if not seen.isdisjoint(ids):
            return True
        seen |= ids
    return False


def _blocks(reading: Reading, path: str, known: set[str], lacking_ok: bool) -> Iterator[_Triple]:
    lines = reading.lines(path)
    whole = True  # else look for the next id
    for number, text in lines:
        id = text.strip()
        if not id:
            if whole:
                reading.note("empty line", "passed over", number, path)
            continue
        problem = _problem(id, known, lacking_ok)
        if problem or not (whole or id in known):
            if whole:
                reading.refuse(reading.error(problem, number, path=path))
            whole = False
            continue
        whole = True
        source, target = next(lines, None), next(lines, None)
        if source is None or target is None:
            reading.refuse(
                reading.error(f"the file ends inside the block of {id[:40]!r}", number, path=path)
            )
            return
        yield _Triple(number, id, source[1], target[1])


def _problem(id: str, known: Container[str], lacking_ok: bool) -> str:
    if len(id.split()) > 1:
        return (
            f"{id[:40]!r}, expected the id of a pair, which is one word alone; a block has an id, "
            "a source and a target line"
        )
    if id not in known and not lacking_ok:
        return (
            f"no line of groups for the pair {id[:40]!r}; if it is not annotated, say so by "
            "`partial=True`"
        )
    return ""


class _Lines:
    """The lines of groups of one annotator by their ids."""

    def __init__(self, reading: Reading, path: str) -> None:
        self._reading, self._path = reading, path
        self.bodies: dict[str, deque[tuple[int, str]]] = {}
        for number, text in reading.lines(path):
            parts = text.split(maxsplit=1)
            if not parts:
                if number > 1:
                    reading.note("empty line", "passed over", number, path)
                continue
            body = parts[1] if len(parts) > 1 else ""
            self.bodies.setdefault(parts[0], deque()).append((number, body))

    def take(self, block: _Triple, labels: Mapping[str, Status] | None) -> RawAnnotation | None:
        """Return the annotation of a block, None if it is not annotated."""
        waiting = self.bodies.get(block.id)
        if not waiting:
            if self._reading.options.partial:
                return None
            raise self._reading.error(
                f"has no line for the pair {block.id[:40]!r} (line {block.line} of the texts); "
                "if it is not annotated, say so by `partial=True`",
                path=self._path,
            )
        line, body = waiting.popleft()
        if not body.strip():
            return None
        links = list(parse_groups(body, line, self._path, self._reading, labels))
        return RawAnnotation(links, path=self._path)

    def refuse_rest(self, texts: str) -> None:
        """Refuse the lines that belong to no block."""
        for id, waiting in self.bodies.items():
            for line, _ in waiting:
                self._reading.refuse(
                    self._reading.error(
                        f"{texts} has no block {id[:40]!r} for this line", line, path=self._path
                    )
                )


def pair_id(pair: SentencePair, number: int, writing: Writing) -> str:
    """Return the id as a block can hold it: one word, else the number of the pair."""
    if pair.id.split() == [pair.id]:
        return pair.id
    writing.lost["ids"] += 1
    return str(number)


def triple(pair: SentencePair, id: str, writing: Writing) -> str:
    """Return the block of a pair."""
    return "\n".join((id, *writing.words(pair), ""))
