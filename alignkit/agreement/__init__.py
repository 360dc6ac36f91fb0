"""Measure how far annotators agree.

The names below are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alignkit.agreement.alpha import (
        DISTANCES,
        KrippendorffAlpha,
        alpha_from_units,
        krippendorff_alpha,
    )
    from alignkit.agreement.beyond_chance.c_result import (
        BeyondChance,
        BeyondChanceSection,
        SentenceAgreement,
    )
    from alignkit.agreement.beyond_chance.chance import CHANCE_MODELS
    from alignkit.agreement.beyond_chance.correction import (
        AGGREGATES,
        NORMALIZERS,
        Correction,
        correct_sets,
    )
    from alignkit.agreement.beyond_chance.edits import READINGS, EditData, EditModel, fit_edit_model
    from alignkit.agreement.fleiss import FleissKappa, fleiss_from_counts, fleiss_kappa
    from alignkit.agreement.judgments.options import JudgmentOptions
    from alignkit.agreement.judgments.result import JudgmentAgreement
    from alignkit.agreement.kappa import (
        CellAgreement,
        Contingency,
        cell_agreement,
        cohen_kappa,
        gwet_ac1,
    )
    from alignkit.agreement.options import AgreementOptions
    from alignkit.agreement.overlaps import Overlap, OverlapRow, overlap
    from alignkit.agreement.pairs import UNIVERSES
    from alignkit.agreement.question import agree
    from alignkit.agreement.result import Agreement
    from alignkit.agreement.result_parts import (
        KINDS,
        LEVELS,
        Caution,
        Figure,
        Pairing,
        PairingSection,
        Together,
    )

_HOMES = {
    "alpha": ("DISTANCES", "KrippendorffAlpha", "alpha_from_units", "krippendorff_alpha"),
    "beyond_chance.c_result": ("BeyondChance", "BeyondChanceSection", "SentenceAgreement"),
    "beyond_chance.chance": ("CHANCE_MODELS",),
    "beyond_chance.correction": ("AGGREGATES", "NORMALIZERS", "Correction", "correct_sets"),
    "beyond_chance.edits": ("READINGS", "EditData", "EditModel", "fit_edit_model"),
    "fleiss": ("FleissKappa", "fleiss_from_counts", "fleiss_kappa"),
    "judgments.options": ("JudgmentOptions",),
    "judgments.result": ("JudgmentAgreement",),
    "kappa": ("CellAgreement", "Contingency", "cell_agreement", "cohen_kappa", "gwet_ac1"),
    "options": ("AgreementOptions",),
    "overlaps": ("Overlap", "OverlapRow", "overlap"),
    "pairs": ("UNIVERSES",),
    "question": ("agree",),
    "result": ("Agreement",),
    "result_parts": (
        "KINDS", "LEVELS", "Caution", "Figure", "Pairing", "PairingSection", "Together",
    ),
}  # fmt: skip

__all__ = [
    "AGGREGATES",
    "CHANCE_MODELS",
    "DISTANCES",
    "KINDS",
    "LEVELS",
    "NORMALIZERS",
    "READINGS",
    "UNIVERSES",
    "Agreement",
    "AgreementOptions",
    "BeyondChance",
    "BeyondChanceSection",
    "Caution",
    "CellAgreement",
    "Contingency",
    "Correction",
    "EditData",
    "EditModel",
    "Figure",
    "FleissKappa",
    "JudgmentAgreement",
    "JudgmentOptions",
    "KrippendorffAlpha",
    "Overlap",
    "OverlapRow",
    "Pairing",
    "PairingSection",
    "SentenceAgreement",
    "Together",
    "agree",
    "alpha_from_units",
    "cell_agreement",
    "cohen_kappa",
    "correct_sets",
    "fit_edit_model",
    "fleiss_from_counts",
    "fleiss_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "overlap",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            found: object = getattr(import_module(f"alignkit.agreement.{home}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'alignkit.agreement' has no attribute {name!r}")
