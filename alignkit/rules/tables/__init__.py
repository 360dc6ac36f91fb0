"""Count phrase pairs over a corpus in bounded memory, and join tables of them on a shared side."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
