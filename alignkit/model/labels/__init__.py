"""Judge sentence pairs as wholes: the schemes of labels, and the views of them."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
