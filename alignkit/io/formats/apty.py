"""APTY, generated paraphrases of given types that people judged [apty].

Specification
-------------
CSV with ``;`` (or commas or tabs) and doubled quotation marks, below a line with the names of its
columns, among them annotator, index, paraphrase-text, original, paraphrase_fixed and paraphrase::

    annotator;apt;index;kind;paraphrase-text;original;...

- The columns may stand in any order. In their names, case does not matter, and ``-``, ``_`` and
  spaces are the same: the published file has `applied-correctly`. True and False may be written in
  any case.
- A pair's id is its `index`; its texts are `original` and `paraphrase_fixed`, or, with ``--raw``,
  `paraphrase-text`, split at whitespace.
- `paraphrase`, True or False, is the judgment 1 or 0 of the scheme binary, by the annotator
  ``apty-ANNOTATOR``, or by one given by the user. Several rows of an index are several judgments;
  the other columns are those of the first row.
- The other columns become attributes; empty ones are unknown and left out. `start` and `end` are
  half-open characters of `paraphrase-text`, written as numbers such as 63.0. `phenomena` is the
  type (`apt`) if `applied_correctly` is True.
- Counted: `marked_text` is not the text at its place; the fixed text differs from the raw one; the
  texts are equal although `failure_identical` is not True; a type was applied correctly, but the
  texts are no paraphrases; other columns differ between the rows of an index.

The format is read-only.

References
----------
Meier, Wahle, Lima Ruas & Gipp 2024, "Towards human understanding of paraphrase types in large
language models": Annotated Paraphrase Types.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from alignkit.errors import FormatError
from alignkit.io.csv_rows import csv_rows, divider_in
from alignkit.io.format import judged_format
from alignkit.io.records import RawAnnotation, Reading, Record
from alignkit.io.sniffing import Head, Likeness, by_names

_NEEDED = (
    "annotator",
    "index",
    "paraphrase-text",
    "original",
    "paraphrase_fixed",
    "paraphrase",
)
_OPTIONAL = (
    "apt",
    "kind",
    "applied_correctly",
    "failure_identical",
    "golden_example",
    "hard",
    "marked_text",
    "start",
    "end",
)
_BOOLEAN = ("paraphrase", "applied_correctly", "golden_example", "hard")
_NAMES = {"Inflectional Change": "Inflectional Changes", "Spelling Changes": "Spelling changes"}


def _key(name: str) -> str:
    """Return the name of a column without what does not matter in it."""
    return re.sub(r"[-_\s]+", "_", name.strip().casefold())


_SIGNS = {"paraphrase_text", "paraphrase_fixed", "applied_correctly"}
_KNOWN = {_key(name): name for name in (*_NEEDED, *_OPTIONAL)}


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield each pair once, with the judgments of all its annotators."""
    rows = csv_rows(reading)
    first, heading = next(rows)
    # known names as this module writes them
    names = [_KNOWN.get(_key(name), name.strip()) for name in heading]
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise reading.error(f"the heading has no column {', '.join(missing)}", first)
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        raise reading.error(f"the heading has two columns {twice[0][:40]}", first)
    kept: dict[str, Record] = {}
    for line, row in rows:
        with reading.refusing(line):
            if len(row) not in (0, len(names)):
                raise FormatError(f"{len(row)} columns; expected {len(names)}")
            if row:
                record = _record(reading, dict(zip(names, row, strict=True)), line)
                _join(reading, kept.setdefault(record.id, record), record)
    yield from kept.values()


def _join(reading: Reading, known: Record, record: Record) -> None:
    """Add the judgment of another annotator of the same pair."""
    if known is record:
        return
    if (known.source, known.target) != (record.source, record.target):
        raise FormatError(f"index {record.id!r} has other texts in line {known.line}")
    again = set(known.annotations) & set(record.annotations)
    if again:
        raise FormatError(f"index {record.id!r} was judged by {', '.join(again)} before")
    known.annotations |= record.annotations
    differ = {name for name, _ in known.attributes.items() ^ record.attributes.items()}
    if differ:
        about = f"pair {record.id}: {', '.join(sorted(differ))}"
        reading.note(
            "columns that differ from those of the first row, left out", about, record.line
        )


def _record(reading: Reading, row: dict[str, str], line: int) -> Record:
    """Return the pair of a row, judged by one annotator; note what contradicts itself."""
    id = row["index"].strip()
    if not (id.isascii() and id.isdigit()):
        raise FormatError(f"index is {id[:40]!r}; expected a number")
    for name, value in row.items():
        if name in _BOOLEAN or name.startswith("failure_"):
            row[name] = value.strip().capitalize()
            if row[name] not in ("True", "False", ""):
                raise FormatError(f"{name} is {value[:40]!r}; expected True, False or nothing")
    text = row["paraphrase-text" if reading.options.raw else "paraphrase_fixed"]
    source = reading.words(row["original"], line)
    target = reading.words(text, line)
    record = Record(id, line, source, target)
    if row["paraphrase"]:
        name = reading.options.name or f"apty-{row['annotator'].strip()}"
        judgment = str(int(row["paraphrase"] == "True"))
        record.annotations[name] = RawAnnotation(judgment=judgment, aligned=False)
    attributes = {
        name: value for name, value in row.items() if value and name and name not in _NEEDED
    }
    apt = row.get("apt", "")
    if apt in _NAMES:
        reading.note("names of types made equal", f"{apt} is {_NAMES[apt]} elsewhere", line)
        attributes["apt"] = _NAMES[apt]
    for name in {"start", "end"} & attributes.keys():
        whole, _, rest = attributes[name].partition(".")
        if not (whole.isascii() and whole.isdigit()) or rest.strip("0"):
            given = attributes[name][:40]
            raise FormatError(f"{name} is {given!r}; expected a number of characters")
        attributes[name] = whole
    if row.get("applied_correctly") == "True" and attributes.get("apt"):
        attributes["phenomena"] = attributes["apt"]
    record.attributes = attributes | {"original": row["original"]}
    for what in _contradictions(row, attributes):
        reading.note(what, f"pair {id}", line)
    return record


def _contradictions(row: dict[str, str], attributes: dict[str, str]) -> Iterator[str]:
    """Yield what contradicts itself in a row."""
    raw = row["paraphrase-text"]
    fixed = row["paraphrase_fixed"]
    marked = row.get("marked_text", "")
    if marked and "start" in attributes and "end" in attributes:
        start = int(attributes["start"])
        end = int(attributes["end"])
        if raw[start:end] != marked:
            yield "marked text differs from its place"
    if raw != fixed:
        yield "fixed text differs from the raw one"
    same = row["original"].split() == fixed.split()
    if same and row.get("failure_identical") != "True":
        yield "equal texts, not called identical"
    if row.get("applied_correctly") == "True" and row["paraphrase"] == "False":
        yield "applied correctly, but no paraphrase"


def _sniff(head: Head) -> Likeness:
    """Look for the names of columns."""
    heading = head.text.partition("\n")[0]
    columns = heading.split(divider_in(heading))
    return by_names({_key(name.strip(' "')) for name in columns}, _SIGNS)


FORMAT = judged_format(_sniff, _parse, "binary", ", annotators")
