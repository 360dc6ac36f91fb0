"""Yawat's two files [yawat].

Specification
-------------
``NAME.crp`` has three lines per pair: its id, the source and the target sentence. ``NAME.aln`` has
an empty first line and then one line per pair, ``id group group ...``::

    1 0:0:unspec 6,5:5:literal 7:6,7:unspec 8::unspec

- A group ``i,i:j,j:label`` links each of its source words to each of its target words. Positions
  count from 0. All links are sure. A group with an empty side means that its words are explicitly
  aligned to nothing.
- The label is kept on each link, except ``unspec``, Yawat's word for no label.
- An id alone is a pair that is not annotated; there are no annotations without links.
- A pair without a line in the ``.aln`` is an error or, with ``--partial``, not annotated; a line
  without a pair is an error. The order of the lines does not matter.

The path is either file, or ``NAME`` alone, or a folder, with all its ``.crp`` files. If there is
more than one, each pair has its NAME as the attribute ``document``; if an id occurs in several of
them, all ids are ``NAME:ID``. Yawat's own files are often in Latin-1: use ``--encoding``. alignkit
writes UTF-8, into one pair of files. Connected cells with the same label become one group if they
fill their block, else one group per source word. A label with whitespace, or on a cell that is not
a link, is lost; an id that is not one word is replaced by the number of the pair.

TransRead has the same blocks of three lines and the same groups. Ids may repeat: the first line of
an id belongs to its first pair, and so on. Empty lines in the place of an id are skipped and
counted.

References
----------
Germann 2008, "Yawat: yet another word alignment tool", ACL demo session.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple, TextIO

from alignkit.errors import FormatError, OptionError
from alignkit.io.atomic_files import WriteError
from alignkit.io.format import Format, kinds
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record, Status
from alignkit.io.sniffing import Head, Likeness
from alignkit.io.text_files import TextFile, is_word
from alignkit.io.writing import Writing
from alignkit.model.alignment import NULL, Alignment, Link
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import BOM

_UNLABELLED = "unspec"
_ENDINGS = (".crp", ".aln")


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield the pairs of two files, or of all in a folder."""
    stems = [_stem(reading.path)]
    if Path(reading.path).is_dir():
        stems = [str(path)[: -len(".crp")] for path in reading.files("*.crp")]
        if not stems:
            raise reading.error("no .crp file in this folder")
    prefixed = ids_repeat(reading, ([Path(stem + ".aln")] for stem in stems))
    for stem in stems:
        name = Path(stem).name
        attributes = {"document": name} if len(stems) > 1 else {}
        texts = Path(stem + ".crp")
        files = {reading.name: Path(stem + ".aln")}
        prefix = f"{name}:" if prefixed else ""
        yield from read_triples(reading, texts, files, None, attributes, prefix=prefix)


def _stem(path: str) -> str:
    """Return a path without the ending of either file."""
    return path[: -len(".crp")] if path.endswith(_ENDINGS) else path


def _write(writing: Writing) -> None:
    """Write both files; a pair that is not annotated has its id alone in the second."""
    if writing.path == "-":
        raise OptionError("yawat is two files and cannot go to standard output")
    if Path(writing.path).is_dir():
        raise WriteError(f"{writing.path}: is a folder; give a .crp file in it")
    stem = _stem(writing.path)
    with writing.open(stem + ".crp") as texts, writing.open(stem + ".aln") as groups:
        groups.write("\n")
        for number, pair in enumerate(writing.pairs, start=1):
            id = write_triple(texts, pair, number, writing)
            alignment = writing.alignment_or_empty(pair)
            cells = alignment.possible | alignment.nulls
            kept = {
                link: label
                for link, label in alignment.labels.items()
                if link in cells and label.split() == [label] and label != _UNLABELLED
            }
            if len(kept) < len(alignment.labels):
                writing.lost["labels"] += 1
            labels = dict.fromkeys(sorted(cells), _UNLABELLED) | kept
            groups.write(" ".join((id, *write_groups(labels.items(), writing.base))) + "\n")


class _Triple(NamedTuple):
    """The block of a pair in a file of texts."""

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
    """Yield the records of a text file and its annotators; `labels` give links a status."""
    lines = {name: _GroupLines(reading, str(path), labels) for name, path in annotations.items()}
    known: set[str] = set()
    for annotator in lines.values():
        known.update(annotator.bodies)
    lacking_ok = reading.options.partial or not lines
    for block in _triples(reading, str(texts), known, lacking_ok):
        source = reading.words(block.source)
        target = reading.words(block.target)
        id = prefix + block.id
        record = Record(id, block.line, source, target, {}, dict(attributes), str(texts))
        problem: FormatError | None = None
        for name, annotator in lines.items():  # all of them, so that each has its line taken
            try:
                annotation = annotator.take(block)
            except FormatError as error:
                problem = problem or error
                continue
            if annotation is not None:
                record.annotations[name] = annotation
        if problem is None:
            yield record
        else:
            reading.refuse(problem)
    for annotator in lines.values():
        for id, waiting in annotator.bodies.items():
            for line, _ in waiting:
                message = f"{texts} has no block {id[:40]!r} for this line"
                reading.reject(message, line, annotator.path)


def _triples(reading: Reading, path: str, known: set[str], lacking_ok: bool) -> Iterator[_Triple]:
    """Yield the blocks of a file of texts.

    known: The ids that have a line of groups. lacking_ok: Whether other ids are no error. After an
    error the next block begins at the next known id.
    """
    lines = reading.lines(path)
    is_broken = False  # whether the last block had an error: then its other lines are skipped
    for number, text in lines:
        id = text.strip()
        if not id:
            if not is_broken:
                reading.note("empty line", "skipped", number, path)
            continue
        problem = ""
        if len(id.split()) > 1:
            problem = (
                f"{id[:40]!r}, expected the id of a pair, which is a single word; a block "
                "has an id, a source and a target line"
            )
        elif id not in known and not lacking_ok:
            problem = f"no line of groups for the pair {id[:40]!r}; {_PARTIAL}"
        if problem and not is_broken:
            is_broken = True
            reading.reject(problem, number, path)
        if problem or (is_broken and id not in known):
            continue
        is_broken = False
        source = next(lines, None)
        target = next(lines, None)
        if source is None or target is None:
            message = f"the file ends inside the block of {id[:40]!r}"
            reading.reject(message, number, path)
            return
        yield _Triple(number, id, source[1], target[1])


_PARTIAL = "if it is not annotated, use `partial=True`"


def ids_repeat(reading: Reading, documents: Iterable[Iterable[Path]]) -> bool:
    """Return whether an id occurs in several documents, each given by its files of groups."""
    text = TextFile(reading.path, replace(reading.options, lenient=True))  # counts nothing twice
    seen: set[str] = set()
    for files in documents:
        ids: set[str] = set()
        for path in files:
            with suppress(FormatError):  # the later reading reports it
                for _, line in text.lines(str(path)):
                    words = text.without_marks(line, words=False).split(maxsplit=1)
                    if words:
                        ids.add(words[0])
        if not seen.isdisjoint(ids):
            return True
        seen |= ids
    return False


class _GroupLines:
    """The lines of groups of one annotator, by id."""

    def __init__(self, reading: Reading, path: str, labels: Mapping[str, Status] | None) -> None:
        self._reading = reading
        self.path = path
        self._labels = labels
        self.bodies: dict[str, deque[tuple[int, str]]] = {}
        for number, text in reading.lines(path):
            blank = text.strip(BOM + " ") == ""
            line = reading.without_marks(text, number, path, words=not blank)
            id, *body = line.split(maxsplit=1) or [""]
            if id:
                self.bodies.setdefault(id, deque()).append((number, "".join(body)))
            elif number > 1:
                reading.note("empty line", "skipped", number, path)

    def take(self, block: _Triple) -> RawAnnotation | None:
        """Return the annotation of a block; None if it is not annotated."""
        waiting = self.bodies.get(block.id)
        if not waiting:
            if self._reading.options.partial:
                return None
            raise self._reading.error(
                f"has no line for the pair {block.id[:40]!r} (line {block.line} of the texts)",
                path=self.path,
                advice=_PARTIAL,
            )
        line, body = waiting.popleft()
        links = list(parse_groups(body, line, self.path, self._reading, self._labels))
        if links:
            return RawAnnotation(links, path=self.path)
        return None


def write_triple(texts: TextIO, pair: SentencePair, number: int, writing: Writing) -> str:
    """Write the block of a pair; return its id: one word, or the number of the pair."""
    id = pair.id
    if id.split() != [id] or not is_word(id):
        id = str(number)
        writing.lost["ids"] += 1
    texts.write("\n".join((id, *writing.words(pair), "")))
    return id


MOST_CELLS = 1 << 20
"""The largest number of cells of one pair's groups; protects against endless broken files."""

_LIST = r"((?:[0-9]{1,9}(?:,[0-9]{1,9})*)?)"
_GROUP = re.compile(rf"{_LIST}:{_LIST}:(\S+)")


class Group(NamedTuple):
    """Source words, target words (one side may be empty) and their label."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    label: str


def parse_groups(
    text: str, line: int, path: str, reading: Reading, known: Mapping[str, Status] | None
) -> Iterator[RawLink]:
    """Yield the links of a line of groups, each with the label of its group."""
    count = 0
    for token in text.split():
        match = _GROUP.fullmatch(token)
        message = ""
        if match is None or not (match[1] or match[2]):
            message = f"{token[:40]!r} is not a group; expected 'i,i:j,j:label'"
        elif known is not None and match[3] not in known:
            message = f"unknown label {match[3][:40]!r}; expected one of {', '.join(known)}"
        if match is None or message:
            raise reading.error(message, line, path=path)
        sources = _positions(match[1])
        targets = _positions(match[2])
        count += len(sources) * len(targets)
        if count > MOST_CELLS:
            message = f"groups of more than {MOST_CELLS} cells in one sentence pair"
            raise reading.error(message, line, path=path)
        status: Status = "sure" if known is None else known[match[3]]
        label = None if match[3] == _UNLABELLED else match[3]
        for i, j in product(sources, targets):
            yield RawLink(i, j, status, line, label=label)


def _positions(text: str) -> list[int] | list[None]:
    """Read the positions of a side of a group; no text is the empty word."""
    return [*map(int, text.split(","))] if text else [None]


def write_groups(cells: Iterable[tuple[Link, str]], base: int) -> Iterator[str]:
    """Yield labelled cells as groups in the notation; see `group_cells`."""
    for group in group_cells(cells):
        sources = ",".join(str(i + base) for i in group.sources)
        targets = ",".join(str(j + base) for j in group.targets)
        yield f"{sources}:{targets}:{group.label}"


def group_cells(cells: Iterable[tuple[Link, str]]) -> list[Group]:
    """Return the fewest groups that represent labelled cells: full blocks, rows, single nulls."""
    by_label: dict[str, list[Link]] = {}
    groups: list[Group] = []
    for link, label in cells:
        i, j = link
        if j == NULL:
            groups.append(Group((i,), (), label))
        elif i == NULL:
            groups.append(Group((), (j,), label))
        else:
            by_label.setdefault(label, []).append(link)
    for label, links in by_label.items():
        for part in Alignment(links).components():
            sources, targets = map(set, zip(*part, strict=True))
            if len(part) == len(sources) * len(targets):
                groups.append(Group(tuple(sorted(sources)), tuple(sorted(targets)), label))
                continue
            by_source: dict[int, list[int]] = {}
            for i, j in sorted(part):
                by_source.setdefault(i, []).append(j)
            groups += [Group((i,), tuple(js), label) for i, js in by_source.items()]
    return sorted(groups)


def _sniff(head: Head) -> Likeness:
    """Look for the two files, given as one of them, by their common name, or in a folder."""
    if head.folder is not None:
        stems = [str(path)[: -len(".crp")] for path in head.folder.glob("*.crp")]
    elif head.is_file and not head.path.endswith(_ENDINGS):
        stems = []
    else:
        stems = [_stem(head.path)]
    for stem in stems:
        if all(Path(stem + ending).is_file() for ending in _ENDINGS):
            return Likeness.SURE
    return Likeness.NO


FORMAT = Format(
    _sniff,
    _parse,
    _write,
    members=lambda reading: [*reading.files("*.crp"), *reading.files("*.aln")],
    files="two files",
    holds=kinds("text, ids, nulls, labels, other labels, absent"),
)
