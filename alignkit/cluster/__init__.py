"""Align, train and count on several machines with Dask; the results are the same as on one machine.

The names below are loaded on first use; no other package of alignkit imports Dask.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
