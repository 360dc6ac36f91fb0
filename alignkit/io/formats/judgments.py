"""Tables of judgments: CSV, TSV or XLSX with a row a judgment or a column an annotator [judgments].

Specification
-------------
A line with the names of columns, in any case, then rows; columns are separated by a tab, ``;`` or
``,``, whichever the first line has, and cells may be quoted as in CSV. A row a judgment::

    id,annotator,label
    p1,anna,3
    p1,ben,2

or a column an annotator::

    id,anna,ben,eve
    p1,3,2,3

- The id is a column `id`, or one of the other names in `_IDS`; without one, in a table with a
  column an annotator, it is the number of the row, from 1.
- The annotator and the label are columns `annotator` and `label`, or others of `_ANNOTATORS` and
  `_LABELS`. Columns `source` and `target` (also `text1`, `text2` and so on, see `_TEXTS`) are the
  texts, split at whitespace; without them, the pairs have no words.
- In a table with a row a judgment, other columns are attributes of the pair; in one with a column
  an annotator, only those called ``attribute.NAME`` are.
- Empty cells, NA and NaN are missing judgments. If all numbers among the labels are whole,
  ``2.0``, as pandas writes a column with gaps, is the label ``2``.
- XLSX is read with pandas and openpyxl, its first sheet.

The scheme is not known; it is named. The format is read-only.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import NamedTuple

from alignkit.errors import FormatError, OptionError
from alignkit.io.csv_rows import Row, csv_rows, divider_in
from alignkit.io.format import judged_format
from alignkit.io.records import RawAnnotation, Reading, Record
from alignkit.io.sniffing import Head, Likeness

_IDS = {"id", "item", "unit", "pair", "subject", "item_id", "unit_id", "pair_id", "unnamed: 0"}
_ANNOTATORS = {"annotator", "rater", "coder", "judge", "worker", "annotator_id", "rater_id"}
_ANNOTATORS |= {"coder_id", "judge_id", "worker_id"}
_LABELS = {"label", "judgment", "judgement", "rating", "answer", "category", "code", "value"}
_TEXTS = (
    {"source", "text1", "text_1", "sentence1", "txt1"},
    {"target", "text2", "text_2", "sentence2", "txt2"},
)
_ATTRIBUTE = "attribute."
_MISSING = ("NA", "NaN", "nan")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_WHOLE = re.compile(r"(-?[0-9]+)\.0+")
_XLSX = b"PK\x03\x04"


class _Columns(NamedTuple):
    """The places of the columns of a table; None or empty for those that it lacks."""

    id: int | None
    annotator: int | None  # of a table with a row a judgment
    label: int | None
    texts: tuple[int | None, int | None]
    annotators: dict[str, int]  # of a table with a column an annotator
    attributes: dict[str, int]


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield each pair once, with the judgments of all annotators."""
    rows = list(_rows(reading))
    if not rows:
        raise reading.error("the table is empty; expected a line with the names of columns", 1)
    (line, names), *body = rows
    columns = _columns(names)
    if columns is None:
        raise reading.error(
            "expected the names of columns: id, annotator, label for a row a judgment, or id and "
            "two annotators or more",
            line,
        )
    whole = _all_whole(columns, body)
    kept: dict[str, Record] = {}
    for number, (line, row) in enumerate(body, 1):
        with reading.refusing(line):
            if len(row) != len(names):
                raise FormatError(f"{len(row)} columns; expected {len(names)}")
            record = _record(reading, columns, row, line, str(number), whole=whole)
            known = kept.setdefault(record.id, record)
            if known is not record:
                _join(reading, columns, known, record)
    yield from kept.values()


def _rows(reading: Reading) -> Iterator[Row]:
    """Yield the rows that are not empty, with their lines."""
    if _is_workbook(reading.path):
        rows: Iterable[Row] = enumerate(_sheet(reading), 1)
    else:
        rows = csv_rows(reading)
    for line, row in rows:
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield line, cells


def _is_workbook(path: str) -> bool:
    """Return whether a file is XLSX, by its name."""
    return path.casefold().endswith(".xlsx")


def _sheet(reading: Reading) -> list[list[str]]:
    """Return the rows of the first sheet of an XLSX file."""
    try:
        import_module("openpyxl")  # with which pandas reads XLSX
        pandas = import_module("pandas")
    except ImportError:
        raise OptionError(
            f"{reading.path}: XLSX is read with pandas and openpyxl: install them, or save the "
            "table as CSV"
        ) from None
    try:
        table = pandas.read_excel(reading.path, header=None, dtype=str, keep_default_na=False)
    except (ValueError, KeyError, OSError) as problem:
        raise reading.error(f"cannot be read as XLSX: {problem}") from None
    return [[str(cell) for cell in row] for row in table.fillna("").to_numpy().tolist()]


def _columns(names: Sequence[str]) -> _Columns | None:
    """Return the columns of a table with these names; None if it is no table of judgments."""
    lower = [name.casefold() for name in names]
    if len(set(names)) < len(names):
        return None
    id = _place(lower, _IDS)
    if id is None and lower[0] == "":  # the index of a data frame
        id = 0
    annotator = _place(lower, _ANNOTATORS)
    label = _place(lower, _LABELS)
    texts = (_place(lower, _TEXTS[0]), _place(lower, _TEXTS[1]))
    rest = [k for k in range(len(names)) if k not in (id, *texts)]
    if annotator is not None and label is not None and id is not None:
        others = {names[k]: k for k in rest if k not in (annotator, label)}
        return _Columns(id, annotator, label, texts, {}, others)
    attributes = {}
    annotators = {}
    for k in rest:
        if lower[k].startswith(_ATTRIBUTE):
            attributes[names[k][len(_ATTRIBUTE) :]] = k
        else:
            annotators[names[k]] = k
    if not all(annotators) or not annotators or (len(annotators) < 2 and id is None):
        return None
    return _Columns(id, None, None, texts, annotators, attributes)


def _place(names: Sequence[str], wanted: set[str]) -> int | None:
    """Return the place of the first name that is wanted."""
    return next((k for k, name in enumerate(names) if name in wanted), None)


def _all_whole(columns: _Columns, body: Iterable[Row]) -> bool:
    """Return whether all numbers among the labels of a table are whole."""
    places = list(columns.annotators.values())
    if columns.label is not None:
        places.append(columns.label)
    for _, row in body:
        for k in places:
            if k < len(row) and _NUMBER.fullmatch(row[k]):
                fraction = row[k].partition(".")[2]
                if fraction.strip("0"):
                    return False
    return True


def _record(
    reading: Reading, columns: _Columns, row: list[str], line: int, number: str, *, whole: bool
) -> Record:
    """Return the pair of a row, with the judgments of the row."""
    id = number
    if columns.id is not None:
        id = row[columns.id]
        if not id:
            raise FormatError("the id is empty")
    source, target = (None if k is None else reading.words(row[k], line) for k in columns.texts)
    record = Record(id, line, source, target)
    given = {name: row[k] for name, k in columns.annotators.items()}
    if columns.annotator is not None and columns.label is not None:
        name = row[columns.annotator]
        if not name:
            raise FormatError("the annotator is empty")
        given[name] = row[columns.label]
    for name, label in given.items():
        text = label
        if whole and _WHOLE.fullmatch(label):
            text = label.partition(".")[0]
        if text in _MISSING:
            reading.note("judgments NA or NaN, read as missing", f"pair {id}, {name}", line)
        elif text:
            record.annotations[name] = RawAnnotation(judgment=text, aligned=False)
    record.attributes = {name: row[k] for name, k in columns.attributes.items() if row[k]}
    return record


def _join(reading: Reading, columns: _Columns, known: Record, record: Record) -> None:
    """Add the judgment of another annotator of the same pair."""
    if columns.annotator is None:
        raise FormatError(f"id {record.id[:40]!r} is also in line {known.line}")
    if (known.source, known.target) != (record.source, record.target):
        raise FormatError(f"id {record.id[:40]!r} has other texts in line {known.line}")
    again = set(known.annotations) & set(record.annotations)
    if again:
        raise FormatError(f"{', '.join(sorted(again))} judged {record.id[:40]!r} before")
    known.annotations |= record.annotations
    for name in sorted({name for name, _ in known.attributes.items() ^ record.attributes.items()}):
        known.attributes.pop(name, None)
        what = "columns that differ between the judgments of a pair, left out"
        reading.note(what, f"pair {record.id}: {name}", record.line)


_LONG = 40  # characters of a cell that is no label
_LEAST_ROWS = 2
_BROKEN = 0.2  # the largest share of rows with too many or too few cells


def _sniff(head: Head) -> Likeness:
    """Look for the names of columns, and for short labels below them."""
    if not head.is_file:
        return Likeness.NO
    if (head.raw or b"").startswith(_XLSX):
        return Likeness.SURE if _is_workbook(head.path) else Likeness.NO
    lines = [line for line in head.lines if line.strip()]
    if len(lines) < _LEAST_ROWS:
        return Likeness.NO
    try:
        rows = list(csv.reader(lines, delimiter=divider_in(lines[0])))
    except csv.Error:
        return Likeness.NO
    names = [name.strip() for name in rows[0]]
    columns = _columns(names)
    if columns is None:
        return Likeness.NO
    if columns.annotator is not None:
        return Likeness.SURE
    whole = [row for row in rows[1:] if len(row) == len(names)]
    broken = len(rows) - 1 - len(whole)
    if broken > (len(rows) - 1) * _BROKEN or (broken and columns.id is None):
        return Likeness.NO
    by_annotator = [[row[k].strip() for row in whole] for k in columns.annotators.values()]
    labels = set[str]().union(*by_annotator)
    if max(map(len, labels), default=_LONG + 1) > _LONG or labels & set(names):
        return Likeness.NO
    if columns.id is not None:
        return Likeness.LIKELY
    # each label twice in a column on average, which texts and figures have not
    if all(len(set(column)) * 2 <= len(column) for column in by_annotator):
        return Likeness.MAYBE
    return Likeness.NO


FORMAT = judged_format(_sniff, _parse, "", ", ids, no text, annotators")
