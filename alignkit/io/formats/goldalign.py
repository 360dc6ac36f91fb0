"""GoldAlign's folder of users, tab-separated [goldalign].

Specification
-------------
GoldAlign keeps batches of pairs in a folder ``data/``; the path is this folder or its parent::

    datasets/CORPUS/BATCH.tsv                       what annotators started from
    users/USER/complete/CORPUS/BATCH.tsv            what a user submitted
    users/USER/incomplete/CORPUS/BATCH.tsv          what a user has not submitted yet
    users/arbit/USER_USER/complete/CORPUS/BATCH.tsv what two users settled

Ten columns per line: id, source, link, target, link, corpus judgment, user judgment, sure,
possible, comment. Tokens and links are separated by whitespace; links are ``i-j``, source first,
from 0; spaces around a column have no meaning.

- Ids repeat; a pair's id is therefore its batch and line, ``BATCH:LINE`` (``CORPUS/BATCH:LINE``
  if there are several corpora). The attributes `corpus`, `document` (the batch), `pairwise-id`,
  `source-link`, `target-link` and `corpus-judgment` have the rest.
- The annotators are the users, `initial` (``datasets/``) and `arbit` (``arbit/USER_USER`` if there
  are several pairs of users). Empty columns are an alignment without links; the user judgment and
  the comment belong to the annotation. `initial` has the role initial, `arbit` adjudicated.
- If a user's folder lacks a batch, that user did not annotate it. ``incomplete/`` is work in
  progress; it is noted, but not read. A line of six columns is a pair that is not annotated;
  alignkit writes it if a user annotated only some pairs of a batch.
- The ids and tokens of a line must be the same in all folders.

One batch can be read and written alone, as a file ``BATCH.tsv``.

References
----------
Gokcen, Jaffe, Erdmann, White & Danforth 2016, "A corpus of word-aligned asked and anticipated
questions in a virtual patient dialogue system", LREC; github.com/ajdagokcen/goldalign-repo.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from operator import itemgetter
from pathlib import Path

from alignkit._support.wording import natural_key
from alignkit.errors import FormatError, OptionError
from alignkit.io.format import Format, kinds
from alignkit.io.formats.multimwa import COLUMNS, HELD, GoldRow, parse_row, sniff_rows, write_row
from alignkit.io.records import RawAnnotation, Reading, Record
from alignkit.io.sniffing import Head, Likeness
from alignkit.io.writing import Writing, refuse_others
from alignkit.model.sentence_pair import SentencePair

INITIAL = "initial"
_ARBIT = "arbit"
_ROLES = {INITIAL: "initial", _ARBIT: "adjudicated"}

_Files = dict[str, Path]


def _parse(reading: Reading) -> Iterator[Record]:
    if not Path(reading.path).is_dir():
        yield from _batch(reading, {reading.name: Path(reading.path)}, "")
        return
    batches = _batches(reading, _root(Path(reading.path)))
    if not batches:
        message = "has no datasets/CORPUS/BATCH.tsv and no users/USER/complete/CORPUS/BATCH.tsv"
        raise reading.error(message)
    corpora = {corpus for corpus, _ in batches}
    for corpus, batch in sorted(batches, key=lambda key: natural_key(Path(*key))):
        yield from _batch(reading, batches[corpus, batch], corpus, prefix=len(corpora) > 1)


def _root(root: Path) -> Path:
    """Return the folder with `datasets` and `users`: the given one, or `data` in it."""
    named = (root / "data" / "datasets").is_dir() or (root / "data" / "users").is_dir()
    return root / "data" if named else root


def _batches(reading: Reading, root: Path) -> dict[tuple[str, str], _Files]:
    """Return the files of each corpus and batch, by annotator."""
    folders = {INITIAL: root / "datasets"}
    for user in reading.files("users/*/complete", root):
        if user.parent.name != _ARBIT:
            folders[user.parent.name] = user
    settled = reading.files(f"users/{_ARBIT}/*/complete", root)
    for folder in settled:
        name = _ARBIT if len(settled) == 1 else f"{_ARBIT}/{folder.parent.name}"
        folders[name] = folder
    batches: dict[tuple[str, str], _Files] = {}
    for name, folder in folders.items():
        for path in reading.files("*/*.tsv", folder):
            batches.setdefault((path.parent.name, path.stem), {})[name] = path
    for path in reading.files("users/**/incomplete/*/*.tsv", root):
        done = path.parents[2] / "complete" / path.parent.name / path.name
        if not done.exists():
            reading.note("unfinished batch", "not submitted yet; not read", path=str(path))
    return batches


def _batch(
    reading: Reading, files: _Files, corpus: str, *, prefix: bool = False
) -> Iterator[Record]:
    """Yield the pairs of a batch, with all its annotators."""
    texts = [map(itemgetter(1), reading.lines(str(path))) for path in files.values()]
    batch = ""
    if reading.path != "-":
        batch = next(iter(files.values())).stem
    name = f"{corpus}/{batch}" if prefix else batch
    for line, texts_of_line in enumerate(zip_longest(*texts), start=1):
        with reading.refusing():
            record = _record(reading, files, texts_of_line, line)
            record.id = f"{name}:{line}" if name else str(line)
            if corpus:
                record.attributes["corpus"] = corpus
            if batch:
                record.attributes["document"] = batch
            yield record


def _record(reading: Reading, files: _Files, texts: Sequence[str | None], line: int) -> Record:
    """Return the pair of a line, given that line of each annotator's file."""
    first: GoldRow | None = None
    begins = ""
    annotations: dict[str, RawAnnotation] = {}
    for (name, file), text in zip(files.items(), texts, strict=True):
        path = str(file)
        if text is None:
            others = zip(files.values(), texts, strict=True)
            longer = next(other for other, its_text in others if its_text is not None)
            raise reading.error(f"missing line; {longer} has one", line, path=path)
        try:
            row = parse_row(reading, text, line, path)
        except FormatError as problem:
            raise reading.error(problem.message, line, path=path) from None
        if first is None:
            first = row
            begins = path
        for what in first.differences(row):
            if not what.endswith("link") and what != "corpus judgment":
                message = f"the {what} differs from that of {begins}:{line}"
                raise reading.error(message, line, path=path)
            reading.note("column differs", f"the {what} differs from {begins}:{line}", line, path)
        if row.annotation is not None:
            row.annotation.path = path
            row.annotation.role = _role(name)
            annotations[name] = row.annotation
    if first is None:
        raise reading.error("no line", line)
    attributes = {"pairwise-id": first.id} | first.attributes
    return Record("", line, first.source, first.target, annotations, attributes, begins)


def _write(writing: Writing) -> None:
    if writing.path == "-" or writing.path.endswith(".tsv"):
        _write_batch(writing)
    else:
        _write_folder(writing)


def _write_batch(writing: Writing) -> None:
    """Write the file of one annotator and batch."""
    with writing.open() as stream:
        for pair in writing.pairs:
            if any(annotation.role for annotation in pair.annotations.values()):
                writing.lost["role"] += 1
            stream.write(write_row(_id(pair), pair, writing.annotation(pair), writing))


def _write_folder(writing: Writing) -> None:
    """Write the folders of all annotators."""
    batches: dict[tuple[str, str], list[SentencePair]] = {}
    for pair in writing.pairs:  # a batch needs all its pairs, and they may come in any order
        corpus = pair.attributes.get("corpus") or "corpus"
        batch = pair.attributes.get("document") or "batch_0000"
        batches.setdefault((corpus, batch), []).append(pair)
    users: dict[str, None] = {}
    for members in batches.values():
        for pair in members:
            users |= dict.fromkeys(pair.alignments)
            for name, annotation in pair.annotations.items():
                if annotation.role not in ("", _role(name)):
                    writing.lost["role"] += 1
                    break
    with writing.folder() as folder:
        several = len({corpus for corpus, _ in batches}) > 1
        for (corpus, batch), members in batches.items():
            _check_name(corpus, "corpus")
            _check_name(batch, "document")
            prefix = f"{corpus}/" if several else ""
            for line, pair in enumerate(members, start=1):
                if pair.id != f"{prefix}{batch}:{line}":
                    writing.lost["ids"] += 1
            for name in {INITIAL: None} | users:
                initial = name == INITIAL and not all(pair.alignments for pair in members)
                if initial or any(name in pair.alignments for pair in members):
                    place = f"{_folder(name, list(users))}/{corpus}/{batch}.tsv"
                    written = [(pair, pair.annotations.get(name)) for pair in members]
                    rows = (write_row(_id(pair), pair, own, writing) for pair, own in written)
                    folder.write(place, rows)
        for kind in ("datasets", "users"):
            refuse_others(folder, f"{kind}/**/*.tsv")


def _role(name: str) -> str:
    """Return the role of an annotator."""
    return _ROLES.get(name.partition("/")[0], "")


def _folder(name: str, users: list[str]) -> str:
    """Return the folder of an annotator."""
    if name == INITIAL:
        return "datasets"
    what = "annotator"
    part = name
    if name == _ARBIT:
        part = "_".join(sorted({*users} - {INITIAL, _ARBIT})) or _ARBIT
        what = "pair of annotators"
        name = f"{_ARBIT}/{part}"
    elif name.startswith(_ARBIT + "/"):
        what = "pair of annotators"
        part = name.removeprefix(_ARBIT + "/")
    _check_name(part, what)
    return f"users/{name}/complete"


def _id(pair: SentencePair) -> str:
    return pair.attributes.get("pairwise-id", pair.id)


def _check_name(name: str, what: str) -> None:
    """Refuse what cannot be part of a path."""
    if not name or name.startswith(".") or any(char in name for char in "/\\\0\n"):
        raise OptionError(f"the {what} {name[:40]!r} cannot be a file name")


def _sniff(head: Head) -> Likeness:
    """Recognize a batch by its folders; without them it looks like a file of MultiMWA."""
    if head.folder is not None:
        root = _root(head.folder)
        for pattern in ("datasets/*/*.tsv", "users/**/complete/*/*.tsv"):
            if next(root.glob(pattern), None) is not None:
                return Likeness.SURE
        return Likeness.NO
    path = Path(head.path)
    inside = len(path.parents) > 1 and path.parents[1].name in ("datasets", "complete")
    likeness = sniff_rows(head, most=COLUMNS)
    if inside and likeness is not Likeness.NO:
        return Likeness.SURE
    return likeness


_HOLDS = HELD | kinds(
    "role, annotators, names, attribute corpus, attribute document, attribute pairwise-id"
)


def _members(reading: Reading) -> list[Path]:
    """Return all batches, unfinished ones too, which are not read."""
    root = _root(Path(reading.path))
    return [*reading.files("datasets/*/*.tsv", root), *reading.files("users/**/*.tsv", root)]


FORMAT = Format(_sniff, _parse, _write, holds=_HOLDS, folder=True, members=_members)
