"""Draw sentence pairs as matrices or with their trees, and show tables in every medium.

Every matrix is made from one neutral grid (`cells`) and one set of marks (`marks`), every drawing
of trees from an outline (`tree_outline`), and no character of a corpus reaches a terminal, an HTML
page or an SVG image unchecked (`characters`).
A `Table` is held once and shown as text, Markdown, LaTeX, CSV, HTML or records. The names below
are loaded when they are first used: results show themselves as tables, and need no drawings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit.lazy import lazy_names

if TYPE_CHECKING:
    from alignkit.report.columns import Column, Value
    from alignkit.report.html import draw_html, draw_html_fragment
    from alignkit.report.rules_page import draw_rules_page, write_rules_page
    from alignkit.report.svg import draw_svg
    from alignkit.report.table import Table
    from alignkit.report.text import draw_text
    from alignkit.report.tree_html import draw_tree_html
    from alignkit.report.tree_svg import draw_tree_svg
    from alignkit.report.tree_text import draw_tree_text

__all__ = [
    "Column",
    "Table",
    "Value",
    "draw_html",
    "draw_html_fragment",
    "draw_rules_page",
    "draw_svg",
    "draw_text",
    "draw_tree_html",
    "draw_tree_svg",
    "draw_tree_text",
    "write_rules_page",
]

__getattr__, __dir__ = lazy_names(__name__)
