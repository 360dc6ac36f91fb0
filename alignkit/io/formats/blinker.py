"""The files of Blinker and Alpaco [blinker].

Specification
-------------
One file per sentence pair, ``sampN.SentPairK``: pair K (from 0) of sample N (from 1). Each line is
a link::

    4 1
    5 2
    1 0
    0 25

- Two positions, counted from 1. In Blinker, the first column is English and the second French;
  with ``--transpose`` the second is the source.
- 0 is the empty word: ``1 0`` means that source word 1 is explicitly aligned to nothing. With
  ``--base 0`` there is no empty word. All links are sure. Empty lines are skipped and counted;
  an empty file is an annotation without links.
- The pair's id is ``N.K``.

The path is one file, a folder of such files (one annotator), or a folder of such folders: each is
an annotator with the name of the folder, like A1 to A7 in Blinker. If an annotator has no file for
a pair, that annotator did not annotate it. Other files and folders are skipped.

The words can be in files given by ``--source`` and ``--target``: the n-th line belongs to the n-th
pair, sorted by N and K; with ``--partial`` there may be more. Otherwise they are read from the
files of Blinker, if present: ``EN.sample.N`` and ``FR.sample.N`` of the folder or its parent, line
K + 1 of each; English is the source. Otherwise there are no words.

Some files of Alpaco start with the names of two text files. They are not read; delete that line,
and give the texts with ``--source`` and ``--target``.

Writing creates a folder for each annotator, in a folder without other such files. Ids of another
form or order are replaced by the next free ``N.K``, ten per sample. Each pair gets a file, so that
files and texts have the same number of pairs: a pair that nobody annotated gets an empty file of
the first annotator.

References
----------
Melamed 1998, "Manual annotation of translational equivalence: the Blinker project", IRCS report
98-07; Rassier & Pedersen 2003, "Alpaco: aligner for parallel corpora", README of version 0.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path

from alignkit.io.format import Format, kinds
from alignkit.io.parallel_text import IF_PARTIAL, read_texts
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record
from alignkit.io.sniffing import Head, Likeness, by_share
from alignkit.io.writing import Writing, file_part, refuse_others
from alignkit.model.alignment import NULL, Link

_FILE = re.compile(r"samp([0-9]{1,9})\.SentPair([0-9]{1,9})")
_LINE = re.compile(r"\s*([0-9]{1,9})\s+([0-9]{1,9})\s*")
_ID = "{}.{}"
_WRITTEN_ID = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")
_SAMPLE = 10  # pairs, in Blinker

_Place = tuple[int, int]
_Words = tuple[list[str], list[str]]


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield a pair for each place that an annotator has a file of, with its words if known."""
    annotators = _annotators(reading)
    places = sorted(set(chain.from_iterable(annotators.values())))
    texts = read_texts(reading)
    sample_of = lru_cache(maxsize=1)(partial(_sample, reading))  # pairs of a sample come in a row
    for count, place in enumerate(places):
        with reading.refusing():
            record = Record(_ID.format(*place), 1)
            if texts is not None:
                text = next(texts, None)
                if text is None:
                    raise reading.error(
                        f"{len(places)} sentence pairs, but {reading.options.source} has "
                        f"{count} sentences"
                    )
                record.source, record.target = text.words
                record.attributes = text.attributes
            else:
                sentences = sample_of(place[0])
                if sentences is not None:
                    record.source, record.target = _sentence(reading, sentences, place)
            for name, files in annotators.items():
                if place in files:
                    annotation = _annotation(str(files[place]), reading)
                    record.annotations[name] = annotation
                    record.path = record.path or annotation.path
            yield record
    last = places[-1]
    for text in texts or ():
        if not reading.options.partial:
            raise reading.error(
                f"{len(places)} sentence pairs, but {reading.options.source} has more sentences",
                advice=IF_PARTIAL,
            )
        last = _after(last)
        yield Record(_ID.format(*last), text.line, *text.words, attributes=text.attributes)


def _annotators(reading: Reading) -> dict[str, dict[_Place, Path]]:
    """Return the files of each annotator who has any, by the places of the pairs."""
    path = Path(reading.path)
    if not path.is_dir():
        match = _FILE.fullmatch(path.name)
        place = (int(match[1]), int(match[2])) if match else (1, 0)
        return {reading.name: {place: path}}
    annotators = {reading.name: _files(path, reading)}
    for folder in filter(Path.is_dir, reading.files("*")):
        files = _files(folder, reading)
        if files:
            if annotators.get(folder.name):
                message = f"there are files of {folder.name!r} here and in the folder of that name"
                raise reading.error(message)
            annotators[folder.name] = files
    if not any(annotators.values()):
        raise reading.error("no file sampN.SentPairK in this folder or its subfolders")
    return {name: files for name, files in annotators.items() if files}


def _files(folder: Path, reading: Reading) -> dict[_Place, Path]:
    """Return the files of an annotator by the places of the pairs."""
    files: dict[_Place, Path] = {}
    for path in reading.files("samp*.SentPair*", folder):
        match = _FILE.fullmatch(path.name)
        if match is None:
            reading.note("file skipped", "its name is not sampN.SentPairK", path=str(path))
            continue
        place = int(match[1]), int(match[2])
        if place in files:
            raise reading.error(f"is the same pair as {files[place]}", path=str(path))
        files[place] = path
    return files


def _annotation(path: str, reading: Reading) -> RawAnnotation:
    """Return the links of a file."""
    null = 0 if reading.base == 1 else None
    links: list[RawLink] = []
    for number, text in reading.lines(path):
        line = reading.without_marks(text, number, path, words=False)
        match = _LINE.fullmatch(line)
        if match is None and not line.strip():
            reading.note("empty line", "skipped", number, path)
            continue
        if match is None or (int(match[1]) == null and int(match[2]) == null):
            raise reading.error(
                f"{line[:40]!r} is not a link; expected two positions, or one and 0 for the "
                "empty word (base 1)",
                number,
                path=path,
            )
        ends = [None if position == null else position for position in map(int, match.groups())]
        links.append(RawLink(ends[0], ends[1], "sure", number))
    return RawAnnotation(links, path=path)


def _sentence(reading: Reading, sentences: list[_Words], place: _Place) -> _Words:
    """Return the sentences of a pair among those of its sample."""
    sample, k = place
    if k >= len(sentences):
        raise reading.error(
            f"EN.sample.{sample} and FR.sample.{sample} have {len(sentences)} lines, too few for "
            f"SentPair{k} (counted from 0)"
        )
    return sentences[k]


def _sample(reading: Reading, sample: int) -> list[_Words] | None:
    """Return the sentences of a sample from Blinker's own files; None if there are none."""
    folder = Path(reading.path)
    if not folder.is_dir():
        folder = folder.parent
    for place in (folder, folder.parent):
        english = place / f"EN.sample.{sample}"
        french = place / f"FR.sample.{sample}"
        if english.is_file() and french.is_file():
            first = [reading.words(line) for _, line in reading.lines(str(english))]
            second = [reading.words(line) for _, line in reading.lines(str(french))]
            if len(first) != len(second):
                message = f"{len(second)} lines, but {english.name} has {len(first)}"
                raise reading.error(message, path=str(french))
            return list(zip(first, second, strict=True))
    return None


def _write(writing: Writing) -> None:
    """Write a file for each annotator and pair; the ids of the pairs give the places."""
    last = (1, -1)
    chosen = writing.options.annotator
    first_name = chosen  # of the annotator whose files stand for pairs that nobody annotated
    not_annotated: list[_Place] = []
    with writing.folder() as folder, writing.open_texts() as texts:
        for pair in writing.pairs:
            names = [name for name in pair.alignments if chosen in (None, name)]
            match = _WRITTEN_ID.fullmatch(pair.id)
            place = (int(match[1]), int(match[2])) if match else last
            last = place if place > last else _after(last)
            if _ID.format(*last) != pair.id:
                writing.lost["ids"] += 1
            if not names:
                not_annotated.append(last)
            elif first_name is None:
                first_name = names[0]
            for name in names:
                path = _path(name, last)
                alignment = writing.oriented(pair.alignment(name))
                links = [*alignment, *writing.nulls(alignment)]
                folder.write(path, (_line(link, writing.base) for link in links))
            if texts.wanted:
                texts.write(pair.id, *writing.words(pair))
        for place in not_annotated:
            folder.write(_path(first_name or "alignment", place), ())
        for pattern in ("samp*.SentPair*", "*/samp*.SentPair*"):
            refuse_others(folder, pattern)


def _line(link: Link, base: int) -> str:
    i, j = (0 if index == NULL else index + base for index in link)
    return f"{i} {j}\n"


def _path(name: str, place: _Place) -> str:
    """Return the path of the file of an annotator and a pair."""
    sample, k = place
    return f"{file_part(name)}/samp{sample}.SentPair{k}"


def _after(place: _Place) -> _Place:
    """Return the place of the next pair."""
    sample, k = place
    if k + 1 < _SAMPLE:
        return sample, k + 1
    return sample + 1, 0


def _sniff(head: Head) -> Likeness:
    """Recognize files by their names; without such a name, a file has to have links."""
    if head.folder is not None:
        for pattern in ("samp*.SentPair*", "*/samp*.SentPair*"):
            if any(_FILE.fullmatch(path.name) for path in head.folder.glob(pattern)):
                return Likeness.SURE
        return Likeness.NO
    lines = [line for line in head.lines if line.strip()]
    likeness = by_share(sum(map(bool, map(_LINE.fullmatch, lines))), len(lines))
    named = head.is_file and _FILE.fullmatch(Path(head.path).name)
    if named and (likeness is not Likeness.NO or not lines):
        return Likeness.SURE
    if lines and not _LINE.fullmatch(lines[0]):
        return Likeness.NO  # rather a file of naacl
    return likeness


def _members(reading: Reading) -> list[Path]:
    """Return the files of all annotators."""
    return list(chain.from_iterable(files.values() for files in _annotators(reading).values()))


FORMAT = Format(
    _sniff,
    _parse,
    _write,
    base=1,
    text_beside=True,
    folder=True,
    members=_members,
    files="many files",
    holds=kinds("no text, nulls, annotators, names, empty"),
)
