"""Align the words of sentence pairs.

The names below are loaded on first use, to show options without loading a kernel.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
