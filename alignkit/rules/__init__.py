"""Learn, keep and apply synchronous rules: pairs of tree fragments, hiero and SAMT rules.

The names below are loaded when they are first used: to read rules takes no compiled kernels.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
