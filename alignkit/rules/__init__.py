"""Learn, store and apply synchronous rules: pairs of tree fragments.

The names below are loaded on first use: reading rules needs no compiled kernels.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
