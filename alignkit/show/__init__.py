"""Draw sentence pairs as matrices or with their trees, and show tables in every medium.

Every matrix is made from one neutral grid (`cells`) and one set of marks (`marks`), every drawing
of trees from an outline (`tree_outline`), and no character of a corpus reaches a terminal, an HTML
page or an SVG image unchecked (`characters`).
A `Table` is held once and shown as text, Markdown, LaTeX, CSV, HTML or records. The names below
are loaded when they are first used: results show themselves as tables, and need no drawings.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
