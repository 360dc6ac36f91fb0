"""Write the sheets that judges fill, each in an order of its own, and say what stands on them.

A sheet has a row for each item: its name, the judge, what is to be judged, the judgment and a
remark, which the judge writes, and the sentences. It tells nothing of where an item comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from alignkit.arguments import check_arguments
from alignkit.audit.audit import Audit, Item
from alignkit.errors import OptionError, UnknownNameError
from alignkit.report.table_csv import csv_lines

DIVIDERS: Mapping[str, str] = {"tsv": "\t", "csv": ","}
"""What stands between the cells of a sheet, by its format."""

MARKS = ("[[", "]]")
"""What stands around the words to judge, in their sentence."""

_FORBIDDEN = set('/\\:*?"<>|')


def marked_words(words: Sequence[str], start: int, end: int) -> str:
    """Return a sentence with `MARKS` around the words from `start` to before `end`."""
    phrase = MARKS[0] + " ".join(words[start:end]) + MARKS[1]
    return " ".join([*words[:start], phrase, *words[end:]])


def headings(audit: Audit) -> tuple[str, ...]:
    """Return the names of a sheet's columns."""
    plain = [name for name in audit.columns if name not in audit.marked]
    return ("item", "judge", *plain, "judgment", "remark", *audit.marked)


def ordered(audit: Audit, place: int) -> tuple[Item, ...]:
    """Return all items in the order of a judge: random, and another one for each."""
    seeds = np.random.SeedSequence(audit.seed, spawn_key=(place,))
    order = np.random.default_rng(seeds).permutation(len(audit.items))
    return tuple(audit.items[k] for k in order)


def sheet_rows(audit: Audit, judge: str, place: int) -> list[list[str]]:
    """Return the rows of a sheet to fill, without its headings."""
    rows = []
    for item in ordered(audit, place):
        if not item.given_to(judge):
            continue
        shown = dict(zip(audit.columns, item.cells, strict=True))
        known = {"item": item.id, "judge": judge, "judgment": "", "remark": "", **shown}
        rows.append([known[name] for name in headings(audit)])
    return rows


def sheet_text(
    audit: Audit, judge: str, place: int, *, format: str = "tsv", bom: bool = False
) -> str:
    r"""Return a sheet to fill, as a spreadsheet takes it.

    A text that a spreadsheet would run begins with an apostrophe, see `alignkit.report.table_csv`.

    Parameters
    ----------
    audit, judge, place
        As for `sheet_rows`.
    format
        ``"tsv"`` or ``"csv"``; both quote as spreadsheets do.
    bom
        Begin with a byte order mark, without which some spreadsheets do not know UTF-8.

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
    if format not in DIVIDERS:
        raise UnknownNameError("format of sheets", format, DIVIDERS)
    rows = [headings(audit), *sheet_rows(audit, judge, place)]
    return ("\ufeff" if bom else "") + csv_lines(rows, divider=DIVIDERS[format]) + "\n"


def check_judges(judges: Sequence[str]) -> None:
    """Check that each judge has a name of his own that can be that of a file."""
    if not judges:
        raise OptionError("there is no judge; name one at least")
    seen: dict[str, str] = {}
    for name in judges:
        if not name.strip() or name != name.strip() or not name.isprintable():
            raise OptionError(f"{name!r} is no name of a judge; give one of letters")
        if _FORBIDDEN & set(name) or name[0] in ".-=+@'":
            raise OptionError(
                f"a sheet cannot be named after the judge {name!r}; use letters and numbers"
            )
        if name.casefold() in seen:
            raise OptionError(f"the judge {name!r} is named twice; give each a name of their own")
        seen[name.casefold()] = name
