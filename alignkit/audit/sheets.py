"""Write the sheets that judges fill in, each in its own order, and define their contents.

A sheet has a row for each item: its name, the judge, the texts to judge, the judgment and a remark
(filled in by the judge), and the sentences. It does not show the origin of an item.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import numpy as np

from alignkit._support.arguments import check_arguments, check_known, naming_keywords
from alignkit.audit.audit import Audit
from alignkit.audit.key import key_text
from alignkit.errors import OptionError
from alignkit.io.atomic_files import refuse_address, replacing, together
from alignkit.tables.media import csv_lines
from alignkit.tables.text_width import safe_text

DIVIDERS: Mapping[str, str] = {"tsv": "\t", "csv": ","}
"""The separator of cells, by format of the sheet."""

MARKS = ("[[", "]]")  # the marks around the words to judge in their sentence

_FORBIDDEN = set('/\\:*?"<>|')


def marked_words(words: Sequence[str], start: int, end: int) -> str:
    """Return a sentence with `MARKS` around the words from `start` to before `end`."""
    phrase = MARKS[0] + " ".join(words[start:end]) + MARKS[1]
    return " ".join([*words[:start], phrase, *words[end:]])


def headings(audit: Audit) -> tuple[str, ...]:
    """Return the names of the columns of a sheet."""
    plain = [name for name in audit.columns if name not in audit.marked]
    return ("item", "judge", *plain, "judgment", "remark", *audit.marked)


def sheet_rows(audit: Audit, judge: str, place: int) -> list[list[str]]:
    """Return the rows of an empty sheet, without its headings, in the random order of a judge."""
    seeds = np.random.SeedSequence(audit.seed, spawn_key=(place,))
    rows = []
    for k in np.random.default_rng(seeds).permutation(len(audit.items)):
        item = audit.items[k]
        if item.given_to(judge):
            shown = dict(zip(audit.columns, item.cells, strict=True))
            known = {"item": item.id, "judge": judge, "judgment": "", "remark": "", **shown}
            rows.append([known[name] for name in headings(audit)])
    return rows


def sheet_text(
    audit: Audit, judge: str, place: int, *, format: str = "tsv", bom: bool = False
) -> str:
    r"""Return an empty sheet as text for a spreadsheet.

    A text that a spreadsheet would run gets an apostrophe in front, see `alignkit.tables.media`.

    Parameters
    ----------
    audit, judge, place : As for `sheet_rows`.
    format : ``"tsv"`` or ``"csv"``; both quote as spreadsheets do.
    bom : Begin with a byte order mark; some spreadsheets need it to recognise UTF-8.

    Raises
    ------
    UnknownNameError : If the format is unknown.

    Examples
    --------
    >>> from alignkit.audit import draw_phrases
    >>> from alignkit import Alignment, Corpus, SentencePair
    >>> pair = SentencePair("1", ("=1",), ("two",), {
    ...     "gold": Alignment(), "giza": Alignment.parse("0-0")})
    >>> audit = draw_phrases(Corpus([pair]), "giza", "gold", n=1)
    >>> print(sheet_text(audit, "anna", 0).splitlines()[1].split("\t")[1:4])
    ['anna', "'=1", 'two']
    """
    check_arguments(sheet_text, locals())
    check_known("format of sheets", format, DIVIDERS)
    rows = [headings(audit), *sheet_rows(audit, judge, place)]
    text = csv_lines(rows, divider=DIVIDERS[format]) + "\n"
    return f"\ufeff{text}" if bom else text


def check_judges(judges: Sequence[str]) -> None:
    """Check that the judges have different names that can be used in file names."""
    if not judges:
        raise OptionError("there is no judge; name at least one")
    seen: dict[str, str] = {}
    for name in judges:
        if not name.strip() or name != name.strip() or not name.isprintable():
            raise OptionError(f"{name!r} cannot be the name of a judge; use letters")
        if _FORBIDDEN & set(name) or name[0] in ".-=+@'":
            message = f"the judge {name!r} cannot be part of a file name; use letters and numbers"
            raise OptionError(message)
        if name.casefold() in seen:
            raise OptionError(f"the judge {name!r} is named twice; use different names")
        seen[name.casefold()] = name


def sheet_page(audit: Audit, judge: str, place: int, *, format: str = "tsv") -> str:
    """Return an empty sheet as one HTML page.

    Parameters
    ----------
    audit : The items to judge.
    judge : The name of the judge.
    place : The number of the judge, counted from 0.
    format : The format of the sheet that the page saves, ``"tsv"`` or ``"csv"``.

    Raises
    ------
    UnknownNameError : If the format is unknown.

    Examples
    --------
    >>> from alignkit import read_corpus
    >>> from alignkit.audit import draw_phrases
    >>> audit = draw_phrases(read_corpus("samples/paraphrases.jsonl"), "eflomal", "gold", n=4)
    >>> sheet_page(audit, "anna", 0).startswith("<!DOCTYPE html>")
    True
    """
    check_arguments(sheet_page, locals())
    check_known("format of sheets", format, DIVIDERS)
    rows = sheet_rows(audit, judge, place)
    digest = sha256(repr(rows).encode()).hexdigest()[:8]
    data = {
        "headings": headings(audit),
        "rows": rows,
        "shown": [name for name in audit.columns if name not in audit.marked],
        "marked": audit.marked,
        "marks": MARKS,
        "judgments": audit.scale.names,
        "letters": [letter.casefold() for letter in audit.scale.letters],
        "meanings": audit.scale.meanings,
        "divider": DIVIDERS[format],
        "file": f"sheet-{judge}.{format}",
        "name": f"alignkit audit {rows[0][0] if rows else ''} {judge} {digest}",
    }
    style = _file("sheet.css")
    script = _file("sheet.js")
    return _file("sheet.html").format(
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'",
        title=safe_text(f"Sheet of {judge}: {len(rows)} items"),
        style=style,
        script=script,
        data=json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
        help=safe_text(
            f"Keys: {_keys(audit)} removes a judgment; arrows go to the next and previous item, r "
            "writes a remark, n goes to the next item without a judgment. Your judgments stay in "
            "this browser until you save them; send the saved sheet."
        ),
    )


def _keys(audit: Audit) -> str:
    """Return the keys of the judgments on the page, and the key that removes one.

    The keys are numbers, unless digits are judgments themselves; then they are the letters.
    """
    scale = audit.scale
    if not any(letter in set("0123456789") for letter in scale.letters):
        keys = [f"{k} {name}" for k, name in enumerate(scale.names, 1)]
        return f"{', '.join(keys)}; 0"
    meanings = scale.meanings or [""] * len(scale.names)
    both = zip(scale.letters, meanings, strict=True)
    keys = [f"{letter} {meaning}".strip() for letter, meaning in both if len(letter) == 1]
    listed = ", ".join(keys)
    if len(keys) < len(scale.names):
        listed += "; use the buttons for others"
    return f"{listed}; backspace"


@cache
def _file(name: str) -> str:
    """Return the text of a file of this folder."""
    return (files("alignkit.audit") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash by which a content security policy allows a text."""
    digest = sha256(text.encode()).digest()
    return f"sha256-{b64encode(digest).decode()}"


KEY = "key.json"  # the name of the key, which no judge should see

SHEETS = (*DIVIDERS, "html")  # the formats of sheets


@naming_keywords
def write_audit(
    audit: Audit,
    folder: str | Path,
    *,
    judges: Sequence[str] | None = None,
    sheets: Sequence[str] = ("tsv",),
    bom: bool = False,
    key: str | Path | None = None,
) -> list[str]:
    """Write a sheet for each judge, ``sheet-NAME.tsv``, and the key; return the paths, key last.

    Parameters
    ----------
    audit : The items to judge.
    folder : The folder to write to; it is created if needed.
    judges : The names; None for the judges of the items, or A and B if there are none.
    sheets : ``"tsv"``, ``"csv"``, or ``"html"``: a page for judging, which saves such a sheet.
    bom : Begin TSV and CSV with a byte order mark.
    key : The file of the key; None for ``key.json`` in the folder.

    Raises
    ------
    OptionError : If one of the files already exists, a name cannot be used for a judge, or the
        items are for other judges.
    WriteError : If a file cannot be written; then none is written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from alignkit import read_corpus
    >>> from alignkit.audit import draw_phrases
    >>> audit = draw_phrases(read_corpus("samples/paraphrases.jsonl"), "eflomal", "gold", n=4)
    >>> with TemporaryDirectory() as folder:
    ...     paths = write_audit(audit, folder, judges=["anna"])
    >>> [Path(path).name for path in paths]
    ['sheet-anna.tsv', 'key.json']
    """
    check_arguments(write_audit, locals())
    if judges is None:
        judges = audit.judges or ("A", "B")
    if audit.judges and tuple(judges) != audit.judges:
        raise OptionError(
            f"the items are for {', '.join(audit.judges)}, not for {', '.join(judges)}; "
            "draw new ones for these judges"
        )
    key = os.path.join(folder, KEY) if key is None else str(key)
    places = check_places(folder, judges, sheets, key)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as problem:
        raise OptionError(f"{folder}: cannot create this folder: {problem.strerror}") from None
    saved = next((format for format in sheets if format in DIVIDERS), "tsv")  # by pages
    with together():
        for (number, name, format), path in places.items():
            if format == "html":
                text = sheet_page(audit, name, number, format=saved)
            else:
                text = sheet_text(audit, name, number, format=format, bom=bom)
            with replacing(path) as out:
                out.write(text)
        with replacing(key) as out:
            out.write(key_text(audit))
    return [*places.values(), key]


def check_places(
    folder: str | Path, judges: Sequence[str], sheets: Sequence[str], key: str
) -> dict[tuple[int, str, str], str]:
    """Return the file of each sheet, by number and name of the judge and by format."""
    check_judges(judges)
    refuse_address(str(folder))
    if not sheets:
        raise OptionError(f"no format of sheets is given; name one of {', '.join(SHEETS)}")
    for format in sheets:
        check_known("format of sheets", format, SHEETS)
    places = {}
    for number, name in enumerate(judges):
        for format in dict.fromkeys(sheets):
            places[number, name, format] = os.path.join(folder, f"sheet-{name}.{format}")
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise OptionError(f"{folder}: this is not a folder; name another one")
    for path in (*places.values(), key):
        if os.path.lexists(path):
            raise OptionError(
                f"{path}: already exists and may contain judgments; name another folder"
            )
    return places
