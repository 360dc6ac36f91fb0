"""Draw sentence pairs as matrices, and show tables in every medium.

Every drawing is made from one neutral grid (`cells`) and one set of marks (`marks`), and no
character of a corpus reaches a terminal, an HTML page or an SVG image unchecked (`characters`).
A `Table` is held once and shown as text, Markdown, LaTeX, CSV, HTML or records. The names below
are loaded when they are first used: results show themselves as tables, and need no drawings.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alignkit.report.columns import Column, Value
    from alignkit.report.html import draw_html, draw_html_fragment
    from alignkit.report.svg import draw_svg
    from alignkit.report.table import Table
    from alignkit.report.text import draw_text

_HOMES = {
    "columns": ("Column", "Value"),
    "html": ("draw_html", "draw_html_fragment"),
    "svg": ("draw_svg",),
    "table": ("Table",),
    "text": ("draw_text",),
}

__all__ = [
    "Column",
    "Table",
    "Value",
    "draw_html",
    "draw_html_fragment",
    "draw_svg",
    "draw_text",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            found: object = getattr(import_module(f"alignkit.report.{home}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'alignkit.report' has no attribute {name!r}")
