"""The JSON of ClearAligner and of Scripture Burrito's alignments [scripture].

Specification
-------------
Records of token ids, in `records` or in the `records` of each of `groups`::

    {"type": "translation", "meta": {"creator": "ClearAligner"}, "records": [
      {"meta": {"id": "d682", "origin": "manual", "status": "created",
                "note": [{"note": "...", "id": "6872", "authorEmail": "..."}]},
       "source": ["40001001001"], "target": ["40001001001", "40001001002"]}]}

- The words are in two files of tokens (``--source`` and ``--target``): tab-separated columns below
  a line with their names, among them `id` (or `identifier`) and `text`; without such a line, the id
  and the text. The digits of an id are book (2), chapter (3), verse (3), word (3) and perhaps a
  part; a letter before them does not count.
- A verse is a sentence pair; its id is the eight digits of the verse. The column `source_verse`
  names the verse of the source that a token translates, if the numbers of verses differ.
- A record links each of its source words with each of its target words. With the status `created`
  or `approved`, or none, the links are sure, with `needsReview` possible; `rejected` is no link.
  The status is the label of the links. The comment of a pair has the notes, one per line.
- Words of several verses are linked within their verses (counted). Ids that no file has are
  counted. A verse without records is not annotated.

The columns `source.id`, `target.id` and all others (`lemma`, ...) are columns of the pair. Its
attribute `records` has the records: alignkit writes those whose words have the same links and
status again, and new records for all other links. Tokens are written with `id`, `source_verse` and
`text`.

References
----------
github.com/Clear-Bible/clear-aligner (docs/file-formats); github.com/Clear-Bible/Alignments;
docs.burrito.bible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from uuid import NAMESPACE_OID, uuid5

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.formats.yawat import group_cells
from alignkit.io.records import RawAnnotation, Reading, Record, Status, block
from alignkit.io.strict_json import Object, member, parse_json, texts, write_list
from alignkit.io.writing import Writing, refuse_breaks
from alignkit.model.alignment import SIDES, Alignment, Link
from alignkit.model.sentence_pair import SentencePair, word_column

_STATUS: dict[str, Status] = {
    "created": "sure",
    "approved": "sure",
    "needsReview": "possible",
    "rejected": "none",
}
_ID = re.compile(r"[A-Za-z]?([0-9]{8})[0-9]{3,5}")
_VERSE = re.compile(r"[0-9]{8}")


@dataclass
class _Verse:
    """The tokens of one side of a verse: columns by name."""

    words: list[str] = field(default_factory=list)
    columns: dict[str, list[str]] = field(default_factory=dict)


_Place = tuple[str, int]


def _parse(reading: Reading) -> Iterator[Record]:
    if not (reading.options.source and reading.options.target):
        raise reading.error("its words are in two files of tokens; give `source` and `target`")
    sides = [_tokens(reading, path) for path in (reading.options.source, reading.options.target)]
    verses = dict.fromkeys([*sides[0][0], *sides[1][0]])
    annotations: dict[str, RawAnnotation] = {}
    kept: dict[str, list[Object]] = {}
    for value in _records(reading):
        with reading.refusing():
            _add(value, sides[0][1], sides[1][1], annotations, kept, reading)
    for id in verses:
        record = Record(id, 1, None, None)
        for side, (tokens, _) in zip(SIDES, sides, strict=True):
            verse = tokens.get(id, _Verse())
            setattr(record, side, verse.words)
            for name, values in verse.columns.items():
                record.attributes[f"{side}.{name}"] = "\t".join(values)
        if id in kept:
            record.attributes["records"] = json.dumps(kept[id], ensure_ascii=False)
            record.annotations[reading.name] = annotations[id]
        yield record


def _tokens(reading: Reading, path: str) -> tuple[dict[str, _Verse], dict[str, _Place]]:
    """Return the words of each verse, and the place of each id without its letter."""
    verses: dict[str, _Verse] = {}
    places: dict[str, _Place] = {}
    names: list[str] = []
    for line, text in reading.lines(path):
        values = text.split("\t")
        if not names:
            names = [name.strip() for name in values]
            names = ["id" if name in ("identifier", "xml:id") else name for name in names]
            if {"id", "text"} <= {*names}:
                continue
            names = ["id", "text", *(f"column{k}" for k in range(3, len(values) + 1))]
        if not text.strip():
            continue
        token = dict(zip(names, values, strict=False))
        match = _ID.fullmatch(token.get("id", ""))
        if match is None or "text" not in token:
            message = f"expected a token id such as 40001001001 and a text, got {text[:40]!r}"
            raise reading.error(message, line, path=path)
        key = _key(token["id"])
        if key in places:
            raise reading.error(f"token id {key} occurs twice", line, path=path)
        own = token.pop("source_verse", "").strip()
        id = own if _VERSE.fullmatch(own) else match[1]
        verse = verses.setdefault(id, _Verse())
        places[key] = id, len(verse.words)
        verse.words.append(token.pop("text"))
        for name in names:
            if name not in ("text", "source_verse"):
                verse.columns.setdefault(name, []).append(token.get(name) or "_")
    return verses, places


def _records(reading: Reading) -> Iterator[object]:
    value = parse_json(reading.text(), reading.path)
    if type(value) is not dict:
        raise reading.error("expected an object")
    if "ingredients" in value and "records" not in value:
        raise reading.error(
            "is the metadata of a Scripture Burrito, without links; read the files of links that "
            "it names in 'ingredients'"
        )
    for group in member(value, "groups", list) if "groups" in value else [value]:
        if not isinstance(group, dict):
            raise reading.error("expected an object for each group")
        yield from member(group, "records", list)


def _add(
    value: object, sources: dict[str, _Place], targets: dict[str, _Place],
    annotations: dict[str, RawAnnotation], kept: dict[str, list[Object]], reading: Reading,
) -> None:  # fmt: skip
    """Add the links of a record to those of its verses."""
    if not isinstance(value, dict):
        raise FormatError("expected an object for each record")
    meta: Object = member(value, "meta", dict, {})
    status: str = member(meta, "status", str, "created")
    if status not in _STATUS:
        raise FormatError(f"status {status[:40]!r}; expected one of {', '.join(_STATUS)}")
    sides: list[dict[str, list[int]]] = []
    for name, places in zip(SIDES, (sources, targets), strict=True):
        side: dict[str, list[int]] = {}
        for id in dict.fromkeys(texts(value, name)):
            if (place := places.get(_key(id))) is not None:
                verse, k = place
                side.setdefault(verse, []).append(k)
            else:
                reading.note("id of no token", f"{id[:40]!r} of the {name}")
        sides.append(side)
    first, second = sides
    verses = dict.fromkeys([*first, *second])
    if len(verses) > 1:
        reading.note("record across verses", f"{', '.join(verses)}; linked within each verse")
    for verse in verses:
        annotation = annotations.setdefault(verse, RawAnnotation())
        links = block(first.get(verse, []), second.get(verse, []), _STATUS[status], label=status)
        annotation.links += links
        kept.setdefault(verse, []).append(value)
    if verses:
        annotation = annotations[next(iter(verses))]
        annotation.comment = "\n".join(filter(None, (annotation.comment, *_notes(meta))))


def _key(id: str) -> str:
    """Return a token id without the letter of its canon."""
    return id[1:] if id[:1].isalpha() else id


def _notes(meta: Object) -> Iterator[str]:
    notes = meta.get("note") or []
    for note in notes if isinstance(notes, list) else [notes]:
        text = note.get("note") if isinstance(note, dict) else note
        if not isinstance(text, str):
            raise FormatError("expected a text in each note")
        yield text


def _write(pairs: Iterable[SentencePair], writing: Writing) -> None:
    head = '{"type": "translation", "meta": {"creator": "alignkit"}, "records": '
    paths = writing.options.source, writing.options.target
    files: list[list[str]] = [[], []]

    def records() -> Iterator[Object]:
        for number, pair in enumerate(pairs, start=1):
            ids = [_ids(pair, side, number) for side in SIDES]
            own = bool(_VERSE.fullmatch(pair.id))
            writing.lost.update([] if own else ["ids"])
            for k, words in enumerate(pair.words if any(paths) else ()):
                refuse_breaks(pair.id, words)
                verse = pair.id if own else f"{number:08}"
                for id, word in zip(ids[k], words, strict=True):
                    files[k].append(f"{id}\t{verse}\t{word}\n")
            yield from _written(pair, ids, writing)

    with writing.open() as stream:
        write_list(stream, records(), head, "}")
    for path, lines in zip(paths, files, strict=True):
        if path:
            with writing.open(path) as stream:
                stream.writelines(["id\tsource_verse\ttext\n", *lines])


def _ids(pair: SentencePair, side: str, number: int) -> list[str]:
    own = word_column(pair, side, "id") or []
    if own and all(map(_ID.fullmatch, own)):
        return own
    verse = pair.id if _VERSE.fullmatch(pair.id) else f"{number:08}"
    words = getattr(pair, side)
    if words is None:
        pair.words  # noqa: B018 - refuses it
    return [f"{verse}{k:03}" for k in range(1, len(words) + 1)]


def _written(pair: SentencePair, ids: list[list[str]], writing: Writing) -> list[Object]:
    """Return the pair's own records that still hold, and new ones for its other links."""
    annotation = writing.annotation(pair)
    if annotation is None or annotation.alignment is None:
        return []
    cells = _statuses(annotation.alignment)
    if any(cells.get(link) != label for link, label in annotation.alignment.labels.items()):
        writing.lost["labels"] += 1
    places = [{_key(id): k for k, id in enumerate(own)} for own in ids]
    records: list[Object] = []
    left = dict(cells)
    for record in json.loads(pair.attributes.get("records", "[]")):
        keys = [list(map(_key, record[side])) for side in SIDES]
        sides = ([own[k] for k in side if k in own] for side, own in zip(keys, places, strict=True))
        links = {Link(*cell) for cell in product(*sides)}
        status = (record.get("meta") or {}).get("status", "created")
        if any(cells.get(link) != status for link in links):
            writing.lost["records whose links have another status"] += 1
            continue
        left = {link: label for link, label in left.items() if link not in links}
        if any(k in own for k, own in zip((keys[0] + keys[1])[:1], places, strict=False)):
            records.append(record)  # that of several verses is written with the first
    name = f"{pair.id} {writing.annotator(pair)} "
    for group in group_cells(left.items()):
        meta = {"id": str(uuid5(NAMESPACE_OID, f"{name}{group}")), "origin": "manual"}
        words = ([own[k] for k in side] for own, side in zip(ids, group[:2], strict=True))
        both = dict(zip(SIDES, words, strict=True))
        records.append({"meta": {**meta, "status": group.label}, **both})
    _put_comment(annotation.comment, records, writing)
    return records


def _statuses(alignment: Alignment) -> dict[Link, str]:
    """Return the status of each link, and of each cell that is rejected."""
    cells = {link: "created" if sure else "needsReview" for link, sure in alignment.items()}
    for link, label in alignment.labels.items():
        sure = "none" if link not in cells else "sure" if link in alignment.sure else "possible"
        if link not in alignment.nulls and _STATUS.get(label) == sure:
            cells[link] = label
    return cells


def _put_comment(comment: str, records: list[Object], writing: Writing) -> None:
    """Write a comment that differs from the notes of the records as the note of the first."""
    notes = [text for record in records for text in _notes(record.get("meta") or {})]
    if comment == "\n".join(notes):
        return
    for k, record in enumerate(records):
        meta = {
            **(record.get("meta") or {}),
            "note": [{"note": comment}] * (comment != "" and k == 0),
        }
        records[k] = {**record, "meta": meta}
    writing.lost.update([] if records else ["comment"])


FORMAT = Format(
    parse=_parse,
    write=_write,
    holds=kinds(
        "no text, possible, labels, other labels, comment, absent, spaces, attribute source.id, "
        "attribute target.id, attribute records"
    ),
    text_beside=True,
    by_id=True,
)
