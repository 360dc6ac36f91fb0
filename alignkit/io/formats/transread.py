"""The annotations of the TransRead project [transread].

Specification
-------------
``NAME.txt`` has three lines per pair: its id, the source and the target sentence.
``NAME_annotation_K.txt``, one file for each annotator K, has an empty first line and then one line
per pair, ``id group group ...``::

    3 2:8:contextual 14,15:17:sure 16:19:partial 19:23:wrong 20::sure

- A group ``i,i:j,j:label`` links each of its source words to each of its target words. Positions
  count from 0. A group with an empty side means that its words are explicitly aligned to nothing.
- ``sure`` is for sure links; ``contextual``, ``partial`` and ``possible`` for possible ones;
  ``wrong`` for cells that are not links (an automatic alignment was judged); ``unaligned``, with
  an empty side, for words aligned to nothing. Other labels are errors. Every cell keeps its label;
  if it has two, the surer one is kept, and this is counted.
- An id alone is a pair that the annotator did not annotate; there are no annotations without
  groups. An annotation with only ``wrong`` groups has no links.
- A pair without a line is an error or, with ``--partial``, not annotated; a line without a pair is
  an error. The order of the lines does not matter.

The path is the text file (with all its annotators), one annotation file, or a folder: all its text
files are read, and those of its subfolders that have annotations. If there is more than one, each
pair has its NAME as the attribute ``document``, with the folders before it if a NAME occurs twice;
if an id occurs in several of them, all ids are ``DOCUMENT:ID``. alignkit writes ``PATH`` (with
``.txt`` added if needed) and an annotation file for each annotator. Sure links without a label get
``sure``, and possible ones without a suitable label ``partial``. Connected cells with the same
label become one group if they fill their block, else one group per source word. An id that is not
one word is replaced by the number of the pair.
"""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from alignkit.errors import OptionError
from alignkit.io.atomic_files import WriteError
from alignkit.io.format import Format, kinds
from alignkit.io.formats.yawat import ids_repeat, read_triples, write_groups, write_triple
from alignkit.io.records import RawLink, Reading, Record, Status
from alignkit.io.sniffing import Head, Likeness
from alignkit.io.writing import Writing, file_part, links_and_nulls
from alignkit.model.alignment import NULL, Link
from alignkit.model.sentence_pair import SentencePair

_STATUS: dict[str, Status] = {
    "sure": "sure",
    "partial": "possible",
    "contextual": "possible",
    "possible": "possible",
    "wrong": "none",
    "unaligned": "none",  # between two words; with an empty side it makes a sure null
}
_MARK = "_annotation_"


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield the pairs of one file of texts, or of all in a folder."""
    texts = _texts(reading)
    names = Counter(path.name for path in texts)
    annotators = {path: _annotators(reading, path) for path in texts}
    prefixed = ids_repeat(reading, (files.values() for files in annotators.values()))
    for path, files in annotators.items():
        name = path.name.removesuffix(".txt")
        attributes = {}
        if len(texts) > 1:
            known = path.name
            if names[known] > 1:
                known = path.relative_to(reading.path).as_posix()
            attributes["document"] = known.removesuffix(".txt")
        prefix = f"{attributes['document']}:" if prefixed else ""
        if not files:
            reading.note("no annotations", f"no file {name}{_MARK}K.txt", path=str(path))
        for record in read_triples(reading, path, files, _STATUS, attributes, prefix=prefix):
            for annotation in record.annotations.values():
                annotation.links = list(map(_with_status, annotation.links))
            yield record


def _with_status(link: RawLink) -> RawLink:
    """Return a link with the status of its label."""
    null = link.i is None or link.j is None
    return link._replace(status=_status(link.label or "", null) or link.status)


def _status(label: str, null: bool) -> Status | None:
    """Return the status of a link or null with this label; None if the label is unknown."""
    if null and label == "unaligned":
        return "sure"
    return _STATUS.get(label)


def _texts(reading: Reading) -> list[Path]:
    """Return the files of texts, of a folder those next to annotations or not in a subfolder."""
    path = Path(reading.path)
    if path.is_dir():
        texts = [file for file in reading.files("**/*.txt") if _MARK not in file.name]
        texts = [file for file in texts if file.parent == path or _annotators(reading, file)]
        if not texts:
            raise reading.error(
                "no .txt file with texts in this folder, and none with annotations in its folders"
            )
        return texts
    if _MARK in path.name:
        return [path.with_name(path.name.rpartition(_MARK)[0] + ".txt")]
    return [_text_file(reading.path)]


def _text_file(path: str) -> Path:
    return Path(path if path.endswith(".txt") else path + ".txt")


def _annotators(reading: Reading, texts: Path) -> dict[str, Path]:
    """Return the files of groups for a file of texts, by annotator."""
    head = texts.name.removesuffix(".txt") + _MARK
    chosen = Path(reading.path)
    if _MARK in chosen.name and not chosen.is_dir():
        files = [chosen]
    else:
        every = reading.files(f"*{_MARK}*.txt", texts.parent)
        files = [file for file in every if file.name.startswith(head)]
    return {file.name.removeprefix(head).removesuffix(".txt"): file for file in files}


def _write(writing: Writing) -> None:
    """Write the texts, and for each annotator a file of groups with a line for every pair."""
    if writing.path == "-":
        raise OptionError("transread is several files and cannot go to standard output")
    if Path(writing.path).is_dir():
        raise WriteError(f"{writing.path}: is a folder; give a text file in it")
    path = _text_file(writing.path)
    ids: list[str] = []
    with ExitStack() as stack:
        texts = stack.enter_context(writing.open(str(path)))
        files: dict[str, TextIO] = {}
        for number, pair in enumerate(writing.pairs, start=1):
            id = write_triple(texts, pair, number, writing)
            for name in pair.alignments:
                if name not in files and writing.options.annotator in (None, name):
                    files[name] = stack.enter_context(writing.open(str(_place(path, name))))
                    files[name].write("\n" + "".join(f"{before}\n" for before in ids))
            ids.append(id)
            for name, stream in files.items():
                groups = _notation(pair, name, writing) if name in pair.alignments else ()
                stream.write(" ".join((id, *groups)) + "\n")
        ours = {_place(path, name).name for name in files}
        head = path.name.removesuffix(".txt") + _MARK
        for file in path.parent.iterdir():
            if file.name.startswith(head) and file.suffix == ".txt" and file.name not in ours:
                raise WriteError(
                    f"{file}: already exists and would be read as one more annotator; move "
                    "it or write elsewhere; nothing was changed"
                )


def _place(texts: Path, name: str) -> Path:
    """Return the file of groups of an annotator."""
    return texts.with_name(f"{texts.name.removesuffix('.txt')}{_MARK}{file_part(name)}.txt")


def _notation(pair: SentencePair, name: str, writing: Writing) -> Iterator[str]:
    """Yield the groups of an annotator; a label that does not fit its link is replaced."""
    alignment = writing.oriented(pair.alignment(name))
    cells: dict[Link, str] = {}
    for link, sure in links_and_nulls(alignment):
        cells[link] = "sure" if sure else "partial"
    for link, label in alignment.labels.items():
        status = _STATUS[cells.get(link, "wrong")]
        if _status(label, NULL in link) == status:
            cells[link] = label
    if any(cells.get(link) != label for link, label in alignment.labels.items()):
        writing.lost["labels"] += 1
    yield from write_groups(cells.items(), writing.base)


def _sniff(head: Head) -> Likeness:
    """Look for a file of texts with annotations next to it."""
    path = Path(head.path)
    if head.folder is not None:
        annotations = list(head.folder.glob(f"**/*{_MARK}*.txt"))
    elif _MARK in path.name:
        annotations = [path]
    elif head.is_file and path.suffix != ".txt":
        annotations = []
    else:
        texts = _text_file(head.path)
        if not head.is_file and texts.is_file() and not texts.stat().st_size:
            return Likeness.SURE  # a corpus without pairs
        annotations = list(texts.parent.glob(f"{glob.escape(texts.stem)}{_MARK}*.txt"))
    for file in annotations:
        if file.with_name(file.name.rpartition(_MARK)[0] + ".txt").is_file():
            return Likeness.SURE
    return Likeness.NO


FORMAT = Format(
    _sniff,
    _parse,
    _write,
    members=lambda reading: [*_texts(reading), *reading.files(f"**/*{_MARK}*.txt")],
    files="several files",
    holds=kinds(
        "text, ids, possible, nulls, possible nulls, labels, other labels, annotators, names, "
        "absent"
    ),
)
