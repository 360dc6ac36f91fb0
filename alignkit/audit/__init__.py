"""Have errors judged blindly: draw items, write sheets and a key, and read the sheets back.

A kind of audit is a module that draws an `Audit`, as `phrase_errors` and `judged_pairs` do. Sheets
(`sheets`, `filled`), the key (`key`) and all that follows from judgments (`figures`, `result`) are
the same for every kind.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
