"""Write the sheets of an audit and its key into a folder, all or nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from alignkit.arguments import check_arguments
from alignkit.audit.audit import Audit
from alignkit.audit.key import key_text
from alignkit.audit.page import sheet_page
from alignkit.audit.sheets import DIVIDERS, check_judges, sheet_text
from alignkit.errors import OptionError, UnknownNameError
from alignkit.output import refuse_address, replacing, together

KEY = "key.json"
"""The name of the key, which no judge should see."""

SHEETS = (*DIVIDERS, "html")
"""The formats of sheets."""


def write_audit(
    audit: Audit,
    folder: str | Path,
    *,
    judges: Sequence[str] | None = None,
    formats: Sequence[str] = ("tsv",),
    bom: bool = False,
    key: str | Path | None = None,
) -> list[str]:
    """Write a sheet for each judge, ``sheet-NAME.tsv``, and the key; return the paths, it last.

    Parameters
    ----------
    folder
        Where; it is made if it is not there.
    judges
        Their names; None for those who are given items, or else A and B.
    formats
        ``"tsv"``, ``"csv"``, or ``"html"``, a page to judge on, which saves such a sheet.
    bom
        Begin TSV and CSV with a byte order mark.
    key
        The file of the key; None for ``key.json`` in the folder.

    Raises
    ------
    OptionError
        If one of the files is there already, a name cannot be that of a judge, or the items are
        given to others.
    WriteError
        If a file cannot be written; none is written then.
    """
    check_arguments(write_audit, locals())
    if judges is None:
        judges = audit.judges or ("A", "B")
    if audit.judges and tuple(judges) != audit.judges:
        raise OptionError(
            f"the items are given to {', '.join(audit.judges)}, not to {', '.join(judges)}; draw "
            "them for these judges"
        )
    key = os.path.join(folder, KEY) if key is None else str(key)
    places = check_places(folder, judges, formats, key)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as problem:
        raise OptionError(f"{folder}: no folder can be made there: {problem.strerror}") from None
    tables = [one for one in formats if one in DIVIDERS] or ["tsv"]
    with together():
        for (number, name, format), path in places.items():
            if format == "html":
                text = sheet_page(audit, name, number, format=tables[0])
            else:
                text = sheet_text(audit, name, number, format=format, bom=bom)
            with replacing(path) as out:
                out.write(text)
        with replacing(key) as out:
            out.write(key_text(audit))
    return [*places.values(), key]


def check_places(
    folder: str | Path, judges: Sequence[str], formats: Sequence[str], key: str
) -> dict[tuple[int, str, str], str]:
    """Return the file of each sheet, by the judge's number and name and its format."""
    check_judges(judges)
    refuse_address(str(folder))
    if not formats:
        raise OptionError(f"there is no format of sheets; name one of {', '.join(SHEETS)}")
    for format in formats:
        if format not in SHEETS:
            raise UnknownNameError("format of sheets", format, SHEETS)
    found = {
        (number, name, format): os.path.join(folder, f"sheet-{name}.{format}")
        for number, name in enumerate(judges)
        for format in dict.fromkeys(formats)
    }
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise OptionError(f"{folder}: is no folder; name another one")
    for path in (*found.values(), key):
        if os.path.lexists(path):
            raise OptionError(
                f"{path}: is there already, and may have been filled; name another folder"
            )
    return found
