"""APTY's ranked paraphrases, JSON of preferences [apty-ranked].

Specification
-------------
A JSON list of records; each prefers one paraphrase of a text to another::

    [{"meta": {"id": 7, "annotators": ["a", "b"], "APT": "Addition/Deletion"}, "original": "...",
      "chosen": {"id": "7-1", "text": "...", "ranks": [1, 2]},
      "rejected": {"id": "7-2", "text": "...", "ranks": [3, 3]}}]

- Each different text `id` becomes a pair (original, text) with that id; its attributes are
  `rank_group`, the id of the record's `meta`, and `apt`.
- The rank by an annotator, 1 (best) to 5, becomes the judgment of ``apty-ANNOTATOR`` in the scheme
  rank.
- Ranks or texts of an id that differ between records, and numbers of ranks and annotators that
  differ, are errors.

The format is read-only.

References
----------
Meier, Wahle, Lima Ruas & Gipp 2024, "Towards human understanding of paraphrase types in large
language models".
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from alignkit.errors import FormatError
from alignkit.io.format import judged_format
from alignkit.io.records import RawAnnotation, Reading, Record
from alignkit.io.strict_json import JsonText, Object, as_text, member
from alignkit.io.text_files import split_words

_SIDES = ("chosen", "rejected")


def _parse(reading: Reading) -> Iterator[Record]:
    lines = reading.lines(one_line=True)
    first = next(lines, (1, ""))
    text = JsonText(reading.joined(chain([first], lines)), reading.path, first[0])
    kept: dict[str, tuple[Record, list[int]]] = {}
    for number, (line, value) in enumerate(text.elements(), start=1):
        with reading.refusing(line):
            try:
                _add(reading, value, line, kept)
            except FormatError as error:
                raise FormatError(f"record {number}: {error.message}") from None
    text.finish()
    yield from (record for record, _ in kept.values())


def _add(
    reading: Reading, value: Object, line: int, kept: dict[str, tuple[Record, list[int]]]
) -> None:
    if type(value) is not dict:
        raise FormatError("expected an object with meta, original, chosen and rejected")
    if "data" in value or "prompt" in value:
        raise FormatError(
            "is an export of Label Studio, or preferences without ranks; neither is read"
        )
    meta, original = member(value, "meta", dict), member(value, "original", str)
    group = as_text(meta.get("id"))
    names = [as_text(name) for name in member(meta, "annotators", list)]
    if group is None or None in names or len(set(names)) < len(names):
        raise FormatError("meta needs an id and a list of different annotators")
    attributes = {"rank_group": group, "apt": as_text(meta.get("APT")) or ""}
    for side in _SIDES:
        said = member(value, side, dict)
        id, text, ranks = (
            as_text(said.get("id")),
            member(said, "text", str),
            member(said, "ranks", list),
        )
        if id is None:
            raise FormatError(f"{side} has no id")
        if len(ranks) != len(names):
            raise FormatError(f"{side} has {len(ranks)} ranks by {len(names)} annotators")
        if any(type(rank) is not int or not 1 <= rank <= 5 for rank in ranks):
            raise FormatError(f"{side} has ranks {str(ranks)[:40]}; expected numbers from 1 to 5")
        record = Record(id, line, split_words(original), split_words(text))
        for name, rank in zip(names, ranks, strict=True):
            judged = RawAnnotation(judgment=str(rank), aligned=False)
            record.annotations[f"apty-{name}"] = judged
        record.attributes = {key: each for key, each in attributes.items() if each}
        known, before = kept.setdefault(id, (record, ranks))
        if before != ranks or (known.source, known.target) != (record.source, record.target):
            raise FormatError(f"text {id!r} has other words or ranks in line {known.line}")


FORMAT = judged_format(_parse, "rank", ", annotators")
