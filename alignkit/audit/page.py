"""Write a sheet as a page: an item at a time in its two sentences, judged by key or button.

The page needs no network and no server. It keeps what was judged in the browser's storage and saves
it as a sheet that `read_audit` reads. Script and style are its own, and no other would run.
"""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from alignkit.arguments import check_arguments
from alignkit.audit.audit import Audit
from alignkit.audit.sheets import DIVIDERS, MARKS, headings, sheet_rows
from alignkit.errors import UnknownNameError
from alignkit.report.characters import safe_text

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p id="progress" role="status"></p>
</header>
<main>
<section aria-labelledby="place">
<h2 id="place"></h2>
<p id="parts" class="parts" dir="auto"></p>
<div id="sentences"></div>
<div id="judgments" class="buttons" role="group" aria-label="judgment"></div>
<p><label>remark <input id="remark" autocomplete="off" dir="auto"></label></p>
</section>
<nav class="buttons" aria-label="items">
<button type="button" id="back">← back</button>
<button type="button" id="next">next →</button>
<button type="button" id="open">next without a judgment (n)</button>
<button type="button" id="save">save the sheet</button>
</nav>
<p class="help">{help}</p>
</main>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def sheet_page(audit: Audit, judge: str, place: int, *, format: str = "tsv") -> str:
    """Return a sheet to fill as one page of HTML.

    Parameters
    ----------
    place
        Of the judge among all, counted from 0.
    format
        Of the sheet that the page saves, ``"tsv"`` or ``"csv"``.
    """
    check_arguments(sheet_page, locals())
    if format not in DIVIDERS:
        raise UnknownNameError("format of sheets", format, DIVIDERS)
    rows = sheet_rows(audit, judge, place)
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
        "name": f"alignkit audit {rows[0][0] if rows else ''} {judge} {_digest(rows)}",
    }
    style, script = _own("sheet.css"), _own("sheet.js")
    return _PAGE.format(
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'",
        title=safe_text(f"Sheet of {judge}: {len(rows)} items"),
        style=style,
        script=script,
        data=json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
        help=safe_text(
            f"Keys: {_keys(audit)} takes a judgment back; arrows go on and back, r writes a "
            "remark, n goes to the next without a judgment. What you judge is kept in this browser "
            "until you save it; send the saved sheet."
        ),
    )


def _keys(audit: Audit) -> str:
    scale = audit.scale
    if not any(len(letter) == 1 and letter in "0123456789" for letter in scale.letters):
        keys = [f"{k} {name}" for k, name in enumerate(scale.names, 1)]
        return f"{', '.join(keys)}; 0"
    meanings = scale.meanings or ("",) * len(scale.names)
    keys = [
        f"{letter} {meaning}".strip()
        for letter, meaning in zip(scale.letters, meanings, strict=True)
        if len(letter) == 1
    ]
    others = "; the others by button" if len(keys) < len(scale.names) else ""
    return f"{', '.join(keys)}{others}; backspace"


@cache
def _own(name: str) -> str:
    return (files("alignkit.audit") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _digest(rows: list[list[str]]) -> str:
    return sha256(repr(rows).encode()).hexdigest()[:8]
