"""Draw sentence pairs as matrices and lay out tables.

Every drawing is made from one neutral grid (`cells`) and one set of marks (`marks`), and no
character of a corpus reaches a terminal, an HTML page or an SVG image unchecked (`characters`).
"""

from alignkit.report.html import draw_html, draw_html_fragment
from alignkit.report.svg import draw_svg
from alignkit.report.table import render_table
from alignkit.report.text import draw_text

__all__ = ["draw_html", "draw_html_fragment", "draw_svg", "draw_text", "render_table"]
