"""The JSON of ClearAligner and of Scripture Burrito's alignments [scripture].

Specification
-------------
Records of token ids, in `records` or in the `groups` with the first `type` and `documents`::

    {"type": "translation", "meta": {"creator": "ClearAligner"}, "records": [
      {"meta": {"id": "d682", "origin": "manual", "status": "created", "note": [{"note": "..."}]},
       "source": ["40001001001"], "target": ["40001001001", "40001001002"]}]}

- The words are in two files (``--source``, ``--target``) of tab-separated columns below their
  names, with `id` (or `identifier`) and `text`; without names, id and text. An id has the digits of
  book (2), chapter, verse, word (3 each), perhaps a part; a letter before them does not count.
- A verse is a sentence pair with its eight digits as id; the column `source_verse` overrides it.
- A record links each of its source words with each of its target words, within verses (others are
  counted): `created`, `approved`, no status surely, `needsReview` possibly; `rejected` is no link.
  The status is the label of the links; notes are the comment. Ids of no token are counted. A verse
  without records is not annotated.

Columns become columns of the pair (`source.id`, `source.lemma`); its attribute `records` has the
records. alignkit writes those whose links have the same status again, and new ones for others.

References
----------
github.com/Clear-Bible/clear-aligner; github.com/Clear-Bible/Alignments; docs.burrito.bible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from uuid import NAMESPACE_OID, uuid5

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.formats.yawat import group_cells
from alignkit.io.records import RawAnnotation, Reading, Record, Status, block
from alignkit.io.sniffing import matching
from alignkit.io.strict_json import Object, member, numbered, parse_json, texts, write_list
from alignkit.io.writing import Writing, refuse_breaks, word_ids
from alignkit.model.alignment import SIDES, Alignment, Link
from alignkit.model.sentence_pair import SentencePair

_STATUS: dict[str, Status] = {
    "created": "sure",
    "approved": "sure",
    "needsReview": "possible",
    "rejected": "none",
}
_ID = re.compile(r"[A-Za-z]?([0-9]{8})[0-9]{3,5}")
_VERSE = re.compile(r"[0-9]{8}")
_Columns = dict[str, dict[str, list[str]]]  # the columns of each verse
_Places = dict[str, tuple[str, int]]  # the verse of each token, and its number there, by its key


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield a pair for each verse of the two files of tokens, with its links."""
    records = list(_records(reading))
    source = reading.options.source
    target = reading.options.target
    if not (source and target):
        raise reading.error("its words are in two files of tokens; give `source` and `target`")
    source_columns, source_places = _tokens(reading, source)
    target_columns, target_places = _tokens(reading, target)
    places = source_places, target_places
    annotations: dict[str, RawAnnotation] = {}
    kept: dict[str, list[object]] = {}
    for number, value in enumerate(records, start=1):
        with reading.refusing(), numbered("record", number):
            _add(value, places, annotations, kept, reading)
    for verse in {**source_columns, **target_columns}:
        record = Record(verse, 1)
        for side, known in (("source", source_columns), ("target", target_columns)):
            columns = dict(known.get(verse, {"text": []}))
            words = columns.pop("text")
            record.put(side, words, **{name: "\t".join(columns[name]) for name in columns})
        if verse in kept:
            record.attributes["records"] = json.dumps(kept[verse], ensure_ascii=False)
            record.annotations[reading.name] = annotations[verse]
        yield record


def _tokens(reading: Reading, path: str) -> tuple[_Columns, _Places]:
    """Return the columns of each verse, and the place of each token."""
    verses: _Columns = {}
    places: _Places = {}
    names: list[str] = []
    for line, text in reading.lines(path):
        values = text.split("\t")
        if not names:
            names = ["id" if name in ("identifier", "xml:id") else name for name in values]
            if {"id", "text"} <= {*names}:
                continue
            names = ["id", "text"]
            names += [f"column{k}" for k in range(3, len(values) + 1)]
        if not text.strip():
            continue
        token = dict(zip(names, values, strict=False))
        rest = values[len(names) :]
        if rest:
            reading.note("value without a heading", rest[0][:40], line, path)
        match = _ID.fullmatch(token.get("id", ""))
        if match is None or "text" not in token:
            message = f"expected a token id such as 40001001001 and a text, got {text[:40]!r}"
            raise reading.error(message, line, path=path)
        key = _key(token["id"])
        if key in places:
            raise reading.error(f"token id {key} occurs twice", line, path=path)
        own = token.pop("source_verse", "").strip()
        verse = own if _VERSE.fullmatch(own) else match[1]
        columns = verses.setdefault(verse, {name: [] for name in token})
        places[key] = verse, len(columns["text"])
        for name, column in columns.items():
            missing = "" if name == "text" else "_"
            column.append(token.get(name) or missing)
    return verses, places


def _records(reading: Reading) -> Iterator[object]:
    """Yield the records of the file, of the first texts if there are several groups."""
    with reading.refusing():
        value = parse_json(reading.text(), reading.path)
        if isinstance(value, dict) and "ingredients" in value:
            raise FormatError(
                "is the metadata of a Scripture Burrito, without links; read the files of links "
                "that it names in 'ingredients'"
            )
        if "groups" in value:
            groups = member(value, "groups", list)
        else:
            groups = [value]
        if not all(isinstance(group, dict) for group in groups):
            raise FormatError("expected an object with records")
        for group in groups:
            records = member(group, "records", list)
            if any(group.get(key) != groups[0].get(key) for key in ("type", "documents")):
                reading.note("record of other texts", "in another group", times=len(records))
            else:
                yield from records


def _add(
    value: object,
    places: tuple[_Places, _Places],
    annotations: dict[str, RawAnnotation],
    kept: dict[str, list[object]],
    reading: Reading,
) -> None:
    """Add the links of a record to those of its verses, and the record to what is kept of them."""
    if not isinstance(value, dict):
        raise FormatError("expected an object for each record")
    meta: Object = member(value, "meta", dict, {})
    status: str = member(meta, "status", str, "created")
    if status not in _STATUS:
        raise FormatError(f"status {status[:40]!r}; expected one of {', '.join(_STATUS)}")
    notes = list(_notes(meta))  # only of the first verse
    ids = [list(map(_key, texts(value, side))) for side in SIDES]
    for verse, words in reading.by_unit(ids, places, "record across verses").items():
        annotation = annotations.setdefault(verse, RawAnnotation())
        annotation.links += block(*words, _STATUS[status], label=status)
        annotation.comment = "\n".join(filter(None, (annotation.comment, *notes)))
        kept.setdefault(verse, []).append(value)
        notes = []


def _key(id: str) -> str:
    """Return the key of a token, by which records find it: its id without the letter of a canon."""
    return id[1:] if id[:1].isalpha() else id


def _notes(meta: Object) -> Iterator[str]:
    """Yield the texts of the notes of a record."""
    notes = meta.get("note") or []
    if not isinstance(notes, list):
        notes = [notes]
    for note in notes:
        text = note.get("note") if isinstance(note, dict) else note
        if not isinstance(text, str):
            raise FormatError("expected a text in each note")
        yield text


def _write(writing: Writing) -> None:
    """Write the records of links, and the tokens if there are files for them."""
    paths = writing.options.source, writing.options.target
    files: list[list[str]] = [["id\tsource_verse\ttext\n"] for _ in SIDES]

    def records() -> Iterator[Object]:
        for number, pair in enumerate(writing.pairs, start=1):
            verse = pair.id
            if not _VERSE.fullmatch(verse):
                verse = f"{number:08}"
            if verse != pair.id:
                writing.lost["ids"] += 1
            ids = word_ids(pair, _ID.pattern, f"{verse}{{k:03}}")
            for lines, side_ids, words in zip(files, ids, pair.words, strict=True):
                refuse_breaks(pair.id, words)
                for id, word in zip(side_ids, words, strict=True):
                    lines.append(f"{id}\t{verse}\t{word}\n")
            yield from _written(pair, ids, writing)

    with writing.open() as stream:
        head = '{"type": "translation", "meta": {"creator": "alignkit"}, "records": '
        write_list(stream, records(), head, "}")
    for path, lines in zip(paths, files, strict=True):
        if path:
            with writing.open(path) as stream:
                stream.writelines(lines)


def _written(pair: SentencePair, ids: list[list[str]], writing: Writing) -> list[Object]:
    """Return the pair's own records that still hold, and new ones for its other links."""
    annotation = writing.annotation(pair)
    if annotation is None or annotation.alignment is None:
        return []
    source_ids, target_ids = ids
    statuses = _statuses(annotation.alignment, writing)
    without_record = dict(statuses)
    source_places = {_key(id): place for place, id in enumerate(source_ids)}
    target_places = {_key(id): place for place, id in enumerate(target_ids)}
    records: list[Object] = []
    for record in json.loads(pair.attributes.get("records", "[]")):
        source_keys = list(map(_key, record["source"]))
        sources = _known_places(source_keys, source_places)
        targets = _known_places(map(_key, record["target"]), target_places)
        links = list(map(Link._make, product(sources, targets)))
        status = _meta(record).get("status", "created")
        if any(statuses.get(link) != status for link in links):
            writing.lost["records whose links have another status"] += 1
            continue
        for link in links:
            without_record.pop(link, None)
        # a record of several verses is written with the first
        if not source_keys or source_keys[0] in source_places:
            records.append(record)
    for group in group_cells(without_record.items()):
        id = str(uuid5(NAMESPACE_OID, f"{pair.id} {group.sources} {group.targets}"))
        new: Object = {"meta": {"id": id, "origin": "manual", "status": group.label}}
        new["source"] = [source_ids[i] for i in group.sources]
        new["target"] = [target_ids[j] for j in group.targets]
        records.append(new)
    _put_comment(records, annotation.comment, writing)
    return records


def _known_places(keys: Iterable[str], places: Mapping[str, int]) -> list[int]:
    """Return the places of the tokens of this verse among some tokens."""
    return [places[key] for key in keys if key in places]


def _meta(record: Object) -> Object:
    """Return the facts about a record."""
    meta: Object = record.get("meta") or {}
    return meta


def _put_comment(records: list[Object], comment: str, writing: Writing) -> None:
    """Make a comment the note of the first record, unless it is the notes of all records."""
    notes: list[str] = []
    for record in records:
        notes += _notes(_meta(record))
    if comment == "\n".join(notes):
        return
    if not records:
        writing.lost["comment"] += 1
    for place, record in enumerate(records):
        note = [{"note": comment}] if place == 0 else []
        records[place] = {**record, "meta": {**_meta(record), "note": note}}


def _statuses(alignment: Alignment, writing: Writing) -> dict[Link, str]:
    """Return the status of each link, and of each cell that is rejected."""
    statuses = {link: "created" if sure else "needsReview" for link, sure in alignment.items()}
    for link, label in alignment.labels.items():
        needed = _STATUS[statuses.get(link, "rejected")]
        if link not in alignment.nulls and _STATUS.get(label) == needed:
            statuses[link] = label
        else:
            writing.lost["labels"] += 1
    return statuses


_HOLDS = kinds("text, possible, labels, other labels, comment, absent, attribute records", "id")
_BEGINS = re.compile(
    r'\{[^\0]*?("records"\s*:\s*\[\s*(\]|\{\s*"(meta|source|target)")|"format"\s*:\s*'
    r'"(alignment|scripture burrito)")'
)


FORMAT = Format(matching(_BEGINS), _parse, _write, holds=_HOLDS, text_beside=True, by_id=True)
