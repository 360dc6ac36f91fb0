"""Build, check and use gold-standard word and phrase alignments.

The names below are loaded when they are first used, so that importing alignkit costs nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
