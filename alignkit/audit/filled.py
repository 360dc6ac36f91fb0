"""Read the sheets that judges filled in, as spreadsheets save them.

Cells may be separated by tab, comma or semicolon; files may be UTF-8 or UTF-16; rows may be in any
order. Input that is not clear is an error with file and line; missing judgments are reported.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple

from alignkit._support.values import FrozenMap
from alignkit.audit.audit import Audit, Item
from alignkit.errors import FormatError, OptionError
from alignkit.io.limits import MAX_MEGABYTES
from alignkit.io.opening import open_input, read_bounded
from alignkit.model.texts import compared
from alignkit.tables.media import unguarded


@dataclass(frozen=True)
class SheetFinding:
    r"""Something missing or unusual in a sheet: its kind (a key of `_SAID`) and its place.

    The line is None if there is no row.

    Made by `read_audit`, for `AuditResult.filled`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from alignkit import read_corpus
    >>> from alignkit.audit import draw_phrases, read_audit, write_audit
    >>> audit = draw_phrases(read_corpus("samples/paraphrases.jsonl"), "eflomal", "gold", n=2)
    >>> with TemporaryDirectory() as folder:
    ...     sheet, key = write_audit(audit, folder, judges=["anna"])
    ...     empty = Path(sheet).read_text("utf-8")
    ...     _ = Path(sheet).write_text(empty.replace("\t\t\t", "\tcorrect\t\t", 1), "utf-8")
    ...     result = read_audit(sheet, key)
    >>> [(finding.kind, finding.line) for finding in result.filled.findings]
    [('unjudged', 3)]
    """

    kind: str
    judge: str
    item: str
    path: str
    line: int | None

    def __str__(self) -> str:
        if self.line is None:
            place = self.path
        else:
            place = f"{self.path}:{self.line}"
        return f"{place}: {_SAID[self.kind].format(item=self.item, judge=self.judge)}"


_SAID = {
    "unjudged": "no judgment of {item} by {judge}",
    "repeated": "{judge} already judged {item} the same way; counted once",
    "contradictory": "{judge} already judged {item} differently; neither counts",
    "missing": "has no row for {item}, which {judge} did not judge",
}


@dataclass(frozen=True, eq=False)
class Filled:
    """The judgments of each judge, in the order of the sheets.

    An item that a judge judged twice in the same way counts once, one judged in two ways does not
    count.
    """

    judges: tuple[str, ...]
    judgments: FrozenMap[str, dict[str, str]]  # by judge and item
    remarks: FrozenMap[str, dict[str, str]]  # by judge and item; several are joined by "; "
    findings: tuple[SheetFinding, ...]


class _Row(NamedTuple):
    """A row of a sheet: its place and its cells."""

    path: str
    line: int
    item: str
    judge: str
    judgment: str
    remark: str


def read_sheets(paths: Sequence[str], audit: Audit) -> Filled:
    """Read filled-in sheets; missing judgments become findings, unclear input an error."""
    if not paths:
        raise OptionError("there is no sheet to read; name at least one")
    items = {item.id: item for item in audit.items}
    rows: list[_Row] = []
    for path in paths:
        rows += _rows(path, audit, items)
    filled = _gathered(rows, items)
    if not any(filled.judgments.values()):
        raise OptionError(
            f"{', '.join(paths)}: no row has a judgment; write {audit.scale.words()} into "
            "the column 'judgment'"
        )
    return filled


def _gathered(rows: Iterable[_Row], items: Mapping[str, Item]) -> Filled:
    """Combine the rows of all sheets, and collect the findings."""
    first_judgments: dict[str, dict[str, str]] = {}  # by judge and item
    remarks: dict[str, dict[str, str]] = {}
    sheet_of: dict[str, str] = {}  # the first sheet of each judge
    rows_found: set[tuple[str, str]] = set()  # judge and item
    odd_rows: list[SheetFinding] = []
    for row in rows:
        sheet_of.setdefault(row.judge, row.path)
        rows_found.add((row.judge, row.item))
        judged = first_judgments.setdefault(row.judge, {})
        _add_remark(remarks.setdefault(row.judge, {}), row)
        kind = _oddity(row, judged.get(row.item))
        if kind:
            odd_rows.append(SheetFinding(kind, row.judge, row.item, row.path, row.line))
        if row.judgment:
            judged.setdefault(row.item, row.judgment)

    def matters(finding: SheetFinding) -> bool:
        """Return whether to report it: a row without a judgment only if no other row has one."""
        return finding.kind != "unjudged" or finding.item not in first_judgments[finding.judge]

    findings = list(filter(matters, odd_rows))
    for judge, sheet in sheet_of.items():
        for id, item in items.items():
            if (judge, id) not in rows_found and item.given_to(judge):
                findings.append(SheetFinding("missing", judge, id, sheet, None))
    contradicted = set()
    for finding in odd_rows:
        if finding.kind == "contradictory":
            contradicted.add((finding.judge, finding.item))
    judgments = {}
    for judge, judged in first_judgments.items():
        judgments[judge] = {
            id: judgment for id, judgment in judged.items() if (judge, id) not in contradicted
        }
    return Filled(tuple(judgments), FrozenMap(judgments), FrozenMap(remarks), tuple(findings))


def _add_remark(remarks: dict[str, str], row: _Row) -> None:
    """Add the remark of a row to those of the judge, unless it is that of the item already."""
    earlier = remarks.get(row.item)
    if not row.remark or row.remark == earlier:
        return
    if earlier is None:
        remarks[row.item] = row.remark
    else:
        remarks[row.item] = f"{earlier}; {row.remark}"


def _oddity(row: _Row, before: str | None) -> str:
    """Return what is odd about a row, a key of `_SAID`, given the earlier judgment of its item."""
    if not row.judgment:
        return "unjudged"
    if before is None:
        return ""
    return "repeated" if row.judgment == before else "contradictory"


def _rows(path: str, audit: Audit, items: Mapping[str, Item]) -> Iterator[_Row]:
    """Yield the rows of a sheet, each checked against its item."""
    names, lines = _cells(path, _text(path))
    check = _check_texts(audit)
    for number, cells in lines:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) < len(names) or any(cell.strip() for cell in cells[len(names) :]):
            raise FormatError(
                f"this row has {len(cells)} cells, but there are {len(names)} headings; is "
                "a cell or a quotation mark missing?",
                path,
                number,
            )
        row = dict(zip(names, cells, strict=False))
        id = row["item"].strip()
        if id not in items:
            raise FormatError(
                f"unknown item {id[:40]!r}; this key has items such as "
                f"{next(iter(items), '')!r}; is it the key of another audit?",
                path,
                number,
            )
        item = items[id]
        judge = row.get("judge", "").strip() or PurePath(path).stem
        try:
            check(item, row)
            judgment = audit.scale.parse(row["judgment"])
        except FormatError as problem:
            raise FormatError(str(problem), path, number) from None
        if judge in audit.judges and not item.given_to(judge):
            given = (
                f"{id} was not given to {judge}, who may know it; it was given to "
                f"{' and '.join(item.judges)}; was the row taken from another sheet?"
            )
            raise FormatError(given, path, number)
        yield _Row(path, number, id, judge, judgment, unguarded(row.get("remark", "")).strip())


def _check_texts(audit: Audit) -> Callable[[Item, Mapping[str, str]], None]:
    """Return a check that a row does not have the texts of another item than its own.

    It has them if a single column was sorted. Texts of no item pass, because judges may edit texts.
    """
    places = {name: k for k, name in enumerate(audit.columns) if name not in audit.marked}
    texts_of = {}
    for item in audit.items:
        texts_of[item.id] = tuple(_plain(item.cells[k]) for k in places.values())
    texts_of_any = set(texts_of.values())

    def check(item: Item, row: Mapping[str, str]) -> None:
        """Raise an error if a row has the texts of another item than its own."""
        if not places or not places.keys() <= row.keys():
            return
        written = tuple(_plain(unguarded(row[name])) for name in places)
        if written != texts_of[item.id] and written in texts_of_any:
            expected = " ~ ".join(texts_of[item.id])
            other = " ~ ".join(written)
            raise FormatError(
                f"{item.id} is {expected!r}, but its row has {other!r}: sort whole rows, not a "
                "single column"
            )

    return check


def _plain(text: str) -> str:
    """Return a text without differences of case and white space."""
    return " ".join(compared(text, ignore_case=True).split())


def _cells(path: str, text: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the headings of a sheet, and its rows with the lines on which they begin."""
    divider, names = _headings(path, text)
    twice = [name for name, count in Counter(filter(None, names)).items() if count > 1]
    if twice:
        raise FormatError(f"two columns are named {twice[0]!r}; remove one", path, 1)
    rows: list[tuple[int, list[str]]] = []
    begin = 1
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=divider, strict=True)
    limit = csv.field_size_limit(len(text) + 1)  # a sentence may be longer than csv expects
    try:
        for cells in reader:
            rows.append((begin, cells))
            begin = reader.line_num + 1
    except csv.Error as problem:
        lost = f"this row is damaged ({problem}); is a quotation mark missing?"
        raise FormatError(lost, path, begin) from None
    finally:
        csv.field_size_limit(limit)
    return names, rows[1:]


def _headings(path: str, text: str) -> tuple[str, list[str]]:
    """Return the divider of cells, and the headings: those of the first line have no line breaks.

    The divider is that by which the first line has the columns that are needed.
    """
    first, *_ = re.split("\r\n|\r|\n", text, maxsplit=1)
    for divider in ("\t", ",", ";"):
        names = [cell.strip().strip('"').strip().casefold() for cell in first.split(divider)]
        if {"item", "judgment"} <= set(names):
            return divider, names
    raise FormatError(
        "no sheet of an audit: its first line has no columns item and judgment", path, 1
    )


def _text(path: str) -> str:
    """Return the text of a sheet: UTF-16 if it begins with that byte order mark, else UTF-8."""
    with open_input(path) as stream:
        raw = read_bounded(stream, path, MAX_MEGABYTES)
    encoding = "utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as problem:
        line = raw[: problem.start].count(b"\n") + 1
        said = f"not UTF-8 ({problem.reason}); save the sheet as UTF-8"
        raise FormatError(said, path, line) from None
