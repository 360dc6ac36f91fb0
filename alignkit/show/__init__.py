"""Draw sentence pairs as matrices or with their trees, and show tables in every medium.

Every matrix is made from a grid of cells and a set of marks (`cells`), and every drawing of trees
from an outline. Characters of a corpus are escaped before they reach a terminal, an HTML page or an
SVG image.
The names below are loaded when they are first used, because results shown as tables do not need
drawings.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
