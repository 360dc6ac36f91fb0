"""Let people judge errors blindly: draw items, write sheets and a key, read the sheets back.

Each kind of audit is a module that draws an `Audit`: `phrase_errors` and `judged_pairs`. Sheets
(`sheets`, `filled`), the key (`key`) and the evaluation of judgments (`figures`, `result`) are the
same for every kind.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
