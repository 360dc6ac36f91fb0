"""APTY, generated paraphrases of given types that people judged [apty].

Specification
-------------
CSV with ``;`` and doubled quotation marks, below a line with the names of its columns, among them
annotator, apt, index, kind, paraphrase-text, original, paraphrase_fixed, paraphrase and
applied_correctly::

    annotator;apt;index;kind;paraphrase-text;original;...

- A pair's id is its `index`; its texts are `original` and `paraphrase_fixed`, or, with ``--raw``,
  `paraphrase-text`, split at whitespace.
- `paraphrase`, True or False, is the judgment 1 or 0 of the scheme binary, by the annotator
  ``apty-ANNOTATOR``, or by one given by the user. Several rows of an index are several judgments.
- The other columns become attributes; empty ones are unknown and left out. `start` and `end` are
  half-open characters of `paraphrase-text`, written as numbers such as 63.0. `phenomena` is the
  type (`apt`) if `applied_correctly` is True.
- Counted: `marked_text` is not the text at its place; the fixed text differs from the raw one; the
  texts are equal although `failure_identical` is not True; a type was applied correctly, but the
  texts are no paraphrases.

The format is read-only.

References
----------
Meier, Wahle, Lima Ruas & Gipp 2024, "Towards human understanding of paraphrase types in large
language models": Annotated Paraphrase Types.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

from alignkit.errors import FormatError
from alignkit.io.format import judged_format
from alignkit.io.records import RawAnnotation, Reading, Record
from alignkit.io.text_files import split_words

_NEEDED = (
    "annotator", "apt", "index", "kind", "paraphrase-text", "original", "paraphrase_fixed",
    "paraphrase", "applied_correctly",
)  # fmt: skip
_OWN = {"annotator", "index", "original", "paraphrase-text", "paraphrase_fixed", "paraphrase"}
_JUDGMENTS = {"True": "1", "False": "0"}
_BOOLEAN = ("paraphrase", "applied_correctly", "golden_example", "hard")
_NAMES = {"Inflectional Change": "Inflectional Changes", "Spelling Changes": "Spelling changes"}


def _parse(reading: Reading) -> Iterator[Record]:
    starts = [0]

    def texts() -> Iterator[str]:
        for line, text in reading.lines():
            starts[0] = line
            yield text + "\n"

    rows = csv.reader(texts(), delimiter=";", strict=True)
    names: list[str] = []
    kept: dict[str, Record] = {}
    try:
        before = 0
        for row in rows:
            line, before = before + 1, starts[0]
            if not names:
                names = row
                if missing := [name for name in _NEEDED if name not in names]:
                    raise reading.error(f"the heading has no column {', '.join(missing)}", line)
            elif row:
                with reading.refusing(line):
                    if len(row) != len(names):
                        raise FormatError(f"{len(row)} columns; expected {len(names)}")
                    record = _record(reading, dict(zip(names, row, strict=True)), line)
                    known = kept.setdefault(record.id, record)
                    if known is not record:
                        _join(known, record)
    except csv.Error as problem:
        raise reading.error(f"is not CSV: {problem}", starts[0]) from None
    yield from kept.values()


def _join(known: Record, record: Record) -> None:
    """Add the judgment of another annotator of the same pair."""
    if (known.source, known.target) != (record.source, record.target):
        raise FormatError(f"index {record.id!r} has other texts in line {known.line}")
    if again := set(known.annotations) & set(record.annotations):
        raise FormatError(f"index {record.id!r} was judged by {', '.join(again)} before")
    known.annotations |= record.annotations


def _record(reading: Reading, row: dict[str, str], line: int) -> Record:
    id, raw, fixed = row["index"].strip(), row["paraphrase-text"], row["paraphrase_fixed"]
    if not (id.isascii() and id.isdigit()):
        raise FormatError(f"index is {id[:40]!r}; expected a number")
    for name, value in row.items():
        if (name in _BOOLEAN or name.startswith("failure_")) and value not in ("True", "False", ""):
            raise FormatError(f"{name} is {value[:40]!r}; expected True, False or nothing")
    text = raw if reading.options.raw else fixed
    record = Record(id, line, split_words(row["original"]), split_words(text))
    if row["paraphrase"]:
        name = reading.options.name or f"apty-{row['annotator']}"
        judgment = _JUDGMENTS[row["paraphrase"]]
        record.annotations[name] = RawAnnotation(judgment=judgment, aligned=False)
    attributes = {name: value for name, value in row.items() if value and name not in _OWN}
    if (apt := row["apt"]) in _NAMES:
        reading.note("names of types made equal", f"{apt} is {_NAMES[apt]} elsewhere", line)
        attributes["apt"] = _NAMES[apt]
    for name in ("start", "end"):
        if name in attributes:
            attributes[name] = _whole(name, attributes[name])
    if row["applied_correctly"] == "True" and attributes.get("apt"):
        attributes["phenomena"] = attributes["apt"]
    record.attributes = attributes | {"original": row["original"]}
    _count(reading, row, attributes, line)
    return record


def _whole(name: str, text: str) -> str:
    whole, _, rest = text.partition(".")
    if not (whole.isascii() and whole.isdigit()) or rest.strip("0"):
        raise FormatError(f"{name} is {text[:40]!r}; expected a number of characters")
    return whole


def _count(reading: Reading, row: dict[str, str], attributes: dict[str, str], line: int) -> None:
    """Count what contradicts itself."""
    id, raw, fixed = row["index"], row["paraphrase-text"], row["paraphrase_fixed"]
    places = [attributes.get(name) for name in ("start", "end")]
    marked = row.get("marked_text", "")
    if marked and None not in places and raw[int(places[0] or 0) : int(places[1] or 0)] != marked:
        reading.note("marked text differs from its place", f"pair {id}: {marked[:40]!r}", line)
    if raw != fixed:
        reading.note("fixed text differs from the raw one", f"pair {id}", line)
    if row["original"].split() == fixed.split() and row.get("failure_identical") != "True":
        reading.note("equal texts, not called identical", f"pair {id}", line)
    if row["applied_correctly"] == "True" and row["paraphrase"] == "False":
        reading.note("applied correctly, but no paraphrase", f"pair {id}", line)


FORMAT = judged_format(_parse, "binary", ", annotators")
