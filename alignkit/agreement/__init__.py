"""Measure how far annotators agree.

The names below are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit.lazy import lazy_names

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

__getattr__, __dir__ = lazy_names(__name__)
