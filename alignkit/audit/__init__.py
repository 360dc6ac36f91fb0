"""Have errors judged blindly: draw items, write sheets and a key, and read the sheets back.

A kind of audit is a module that draws an `Audit`, as `phrase_errors` and `judged_pairs` do. Sheets
(`sheets`, `page`), the key (`key`) and all that follows from judgments (`filled`, `shares`,
`upheld`, `judges`, `result`) are the same for every kind. The names below are loaded when they are
first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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

_HOMES = {
    "audit": ("Audit", "Item", "Origin", "Rate"),
    "figures": ("Figure",),
    "filled": ("Finding",),
    "judged_pairs": ("draw_pairs",),
    "page": ("sheet_page",),
    "phrase_errors": ("draw_phrases",),
    "result": ("AuditResult", "read_audit"),
    "scale": ("CORRECTNESS", "Scale"),
    "sheets": ("sheet_text",),
    "writing": ("write_audit",),
}

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


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            found: object = getattr(import_module(f"alignkit.audit.{home}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'alignkit.audit' has no attribute {name!r}")
