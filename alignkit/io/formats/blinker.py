"""The files of Blinker and Alpaco [blinker].

Specification
-------------
One file a sentence pair, ``sampN.SentPairK``: pair K, from 0, of sample N, from 1. A line a
link::

    4 1
    5 2
    1 0
    0 25

- Two positions, counted from 1. In Blinker the first column is English and the second
  French; ``--transpose`` reads the second as the source.
- 0 is the empty word: ``1 0`` says that source word 1 is explicitly aligned to nothing. With
  ``--base 0`` there is no empty word. All links are sure. Empty lines are passed over and counted;
  an empty file is an annotation without links.
- The pair's id is ``N.K``.

The path names one file, a folder of such files (one annotator), or a folder of such folders: each
is an annotator of its name, as A1 to A7 in Blinker. A pair that an annotator has no file for was
not annotated by that annotator. Other files and folders are passed over.

The words may stand in files that ``--source`` and ``--target`` name: their n-th line belongs to
the n-th pair, by N and then K; with ``--partial`` there may be more. Otherwise they are looked for
where Blinker has them, in ``EN.sample.N`` and ``FR.sample.N`` of the folder or the folder above,
line K + 1 of each, English being the source. Otherwise there are none.

Alpaco's files that start with the names of two text files are not read; delete that line, and
name the texts by ``--source`` and ``--target``.

Written is a folder for each annotator, into a folder that holds no other such files. Ids give way
to the next free ``N.K``, ten a sample, where they are not of that form or not in order; pairs that
nobody annotated are left out.

References
----------
Melamed 1998, "Manual annotation of translational equivalence: the Blinker project", IRCS report
98-07; Rassier & Pedersen 2003, "Alpaco: aligner for parallel corpora", README of version 0.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

from alignkit.errors import FormatError, OptionError
from alignkit.io.format import Format, kinds
from alignkit.io.parallel_text import PairText, read_texts
from alignkit.io.records import RawAnnotation, RawLink, Reading, Record
from alignkit.io.writing import Writing, file_part
from alignkit.model.alignment import NULL, Alignment
from alignkit.model.sentence_pair import SentencePair

_FILE = re.compile(r"samp([0-9]{1,9})\.SentPair([0-9]{1,9})")
_LINE = re.compile(r"\s*([0-9]{1,9})\s+([0-9]{1,9})\s*")
_ID = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")
_SAMPLE = 10  # pairs, in Blinker

_Place = tuple[int, int]
_Words = tuple["tuple[str, ...]", "tuple[str, ...]"]


def _parse(reading: Reading) -> Iterator[Record]:
    if reading.path == "-":
        raise OptionError("blinker is many files and cannot be read from standard input")
    annotators = _annotators(reading)
    places = sorted({place for files in annotators.values() for place in files})
    texts = read_texts(reading)
    sample_of = lru_cache(maxsize=1)(partial(_sample, reading))
    for count, place in enumerate(places):
        id = f"{place[0]}.{place[1]}"
        try:
            if texts is None:
                words = _words_of_sample(place, sample_of(place[0]), reading)
            else:
                words = _words(texts, count, places, reading)
            annotations = {
                name: _annotation(files[place], reading)
                for name, files in annotators.items()
                if place in files
            }
        except FormatError as error:
            reading.refuse(error)
            continue
        path = next(str(files[place]) for files in annotators.values() if place in files)
        source, target = words or (None, None)
        yield Record(id, 1, source, target, annotations, path=path)
    if texts is not None:
        yield from _rest(texts, places, reading)


def _annotators(reading: Reading) -> dict[str, dict[_Place, Path]]:
    path = Path(reading.path)
    if not path.is_dir():
        match = _FILE.fullmatch(path.name)
        place = (int(match[1]), int(match[2])) if match else (1, 0)
        return {reading.name: {place: path}}
    annotators = {reading.name: _files(path, reading)}
    for folder in reading.files("*"):
        if folder.is_dir():
            files = _files(folder, reading)
            if files and annotators.get(folder.name):
                message = f"there are files of {folder.name!r} here and in the folder of that name"
                raise reading.error(message)
            if files:
                annotators[folder.name] = files
    if not any(annotators.values()):
        raise reading.error("no file sampN.SentPairK in this folder or the folders in it")
    return {name: files for name, files in annotators.items() if files}


def _files(folder: Path, reading: Reading) -> dict[_Place, Path]:
    files: dict[_Place, Path] = {}
    for path in reading.files("samp*.SentPair*", folder):
        match = _FILE.fullmatch(path.name)
        if match is None:
            reading.note("file passed over", "its name is not sampN.SentPairK", path=str(path))
            continue
        place = int(match[1]), int(match[2])
        if place in files:
            raise reading.error(f"is the same pair as {files[place]}", path=str(path))
        files[place] = path
    return files


def _annotation(path: Path, reading: Reading) -> RawAnnotation:
    null = 0 if reading.base == 1 else None
    links: list[RawLink] = []
    for number, line in reading.lines(str(path)):
        match = _LINE.fullmatch(line)
        if match is None and not line.strip():
            reading.note("empty line", "passed over", number, str(path))
            continue
        i, j = map(int, match.groups()) if match else (null, null)
        if match is None or (i == null and j == null):
            message = f"{line[:40]!r} is no link; expected two positions, one of them perhaps 0"
            raise reading.error(f"{message}, the empty word, from base 1", number, path=str(path))
        links.append(RawLink(None if i == null else i, None if j == null else j, "sure", number))
    return RawAnnotation(links, path=str(path))


def _words(
    texts: Iterator[PairText], count: int, places: list[_Place], reading: Reading
) -> _Words | None:
    text = next(texts, None)
    if text is None:
        raise reading.error(
            f"{len(places)} sentence pairs, but {reading.options.source} has {count} sentences"
        )
    return reading.tokens(text.source), reading.tokens(text.target)


def _rest(texts: Iterator[PairText], places: list[_Place], reading: Reading) -> Iterator[Record]:
    last = places[-1]
    for text in texts:
        if not reading.options.partial:
            raise reading.error(
                f"{len(places)} sentence pairs, but {reading.options.source} has more sentences; "
                "if the rest is not annotated, say so by `partial=True`"
            )
        last = _after(last)
        words = reading.tokens(text.source), reading.tokens(text.target)
        yield Record(f"{last[0]}.{last[1]}", text.line, *words)


def _sample(reading: Reading, sample: int) -> list[_Words] | None:
    """Return the sentences of a sample where Blinker has them; None if there are none."""
    here = Path(reading.path)
    for folder in (here, here.parent) if here.is_dir() else (here.parent, here.parent.parent):
        sides = [folder / f"{language}.sample.{sample}" for language in ("EN", "FR")]
        if all(path.is_file() for path in sides):
            first, second = (
                [reading.tokens(line) for _, line in reading.lines(str(path))] for path in sides
            )
            if len(first) != len(second):
                message = f"{len(second)} lines, but {sides[0].name} has {len(first)}"
                raise reading.error(message, path=str(sides[1]))
            return list(zip(first, second, strict=True))
    return None


def _words_of_sample(
    place: _Place, sentences: list[_Words] | None, reading: Reading
) -> _Words | None:
    sample, k = place
    if sentences is not None and k >= len(sentences):
        raise reading.error(
            f"EN.sample.{sample} and FR.sample.{sample} have {len(sentences)} lines, "
            f"too few for SentPair{k}, which counts from 0"
        )
    return None if sentences is None else sentences[k]


def _write(pairs: Iterable[SentencePair], writing: Writing) -> None:
    last = (1, -1)
    with writing.folder() as folder, writing.open_texts() as texts:
        for pair in pairs:
            names = [name for name in pair.alignments if writing.options.annotator in (None, name)]
            if not names:
                continue
            last = _place(pair.id, last, writing)
            for name in names:
                path = "{}/samp{}.SentPair{}".format(file_part(name), *last)
                folder.write(path, _notation(writing.oriented(pair.alignment(name)), writing))
            if texts.wanted:
                texts.write(pair.id, *writing.words(pair))
        for pattern in ("samp*.SentPair*", "*/samp*.SentPair*"):
            folder.refuse_others(pattern)


def _place(id: str, last: _Place, writing: Writing) -> _Place:
    """Return the sample and number of a pair: those of its id, where they come after the last."""
    match = _ID.fullmatch(id)
    place = (int(match[1]), int(match[2])) if match else last
    if place <= last:
        place = _after(last)
        if f"{place[0]}.{place[1]}" != id:
            writing.lost["ids"] += 1
    return place


def _after(place: _Place) -> _Place:
    sample, k = place
    return (sample, k + 1) if k + 1 < _SAMPLE else (sample + 1, 0)


def _notation(alignment: Alignment, writing: Writing) -> Iterator[str]:
    for link in [*alignment, *writing.nulls(alignment)]:
        i, j = (0 if index == NULL else index + writing.base for index in link)
        yield f"{i} {j}\n"


def _surely(reading: Reading, pairs: Sequence[SentencePair]) -> bool | None:
    """Tell a file by its name; without one, and without a line, it might be anything."""
    path = Path(reading.path)
    if path.is_dir() or _FILE.fullmatch(path.name):
        return True
    alignments = [a for pair in pairs for a in pair.alignments.values()]
    return None if any(len(a) or a.nulls for a in alignments) else False


FORMAT = Format(
    parse=_parse,
    surely=_surely,
    members=lambda reading: [x for files in _annotators(reading).values() for x in files.values()],
    write=_write,
    holds=kinds("no text, nulls, annotators, names, empty"),
    base=1,
    text_beside=True,
    folder=True,
)
