"""Have errors judged blindly: draw items, write sheets and a key, and read the sheets back.

A kind of audit is a module that draws an `Audit`, as `phrase_errors` and `judged_pairs` do. Sheets
(`sheets`, `page`), the key (`key`) and all that follows from judgments (`filled`, `shares`,
`upheld`, `judges`, `result`) are the same for every kind. The names below are loaded when they are
first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit.lazy import lazy_names

if TYPE_CHECKING:
    from alignkit.audit.audit import Audit, Item, Origin, Rate
    from alignkit.audit.figures import Figure
    from alignkit.audit.filled import Finding
    from alignkit.audit.judged_pairs import draw_pairs
    from alignkit.audit.page import sheet_page
    from alignkit.audit.phrase_errors import draw_phrases
    from alignkit.audit.result import AuditResult, read_audit
    from alignkit.audit.scale import CORRECTNESS, Scale
    from alignkit.audit.sheets import sheet_text
    from alignkit.audit.writing import write_audit

__all__ = [
    "CORRECTNESS",
    "Audit",
    "AuditResult",
    "Figure",
    "Finding",
    "Item",
    "Origin",
    "Rate",
    "Scale",
    "draw_pairs",
    "draw_phrases",
    "read_audit",
    "sheet_page",
    "sheet_text",
    "write_audit",
]

__getattr__, __dir__ = lazy_names(__name__)
