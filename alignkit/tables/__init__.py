"""Tables of results, in every medium: text, Markdown, LaTeX, CSV, HTML, records."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
