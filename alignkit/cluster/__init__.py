"""Align, train and count beyond one machine, on Dask, with the very bytes that one machine gives.

The names below are loaded when they are first used; nothing outside this room imports Dask.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
