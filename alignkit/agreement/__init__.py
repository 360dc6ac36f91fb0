"""Measure how far annotators agree."""

from alignkit.agreement.cells import CellAgreement, cell_agreement
from alignkit.agreement.chance import CHANCE_MODELS
from alignkit.agreement.comparison import Comparison, compare, weighted_mean
from alignkit.agreement.contingency import Contingency, cohen_kappa, gwet_ac1
from alignkit.agreement.corrected import agreement
from alignkit.agreement.corrected_result import (
    CorrectedAgreement,
    CorrectedSection,
    SentenceAgreement,
)
from alignkit.agreement.correction import AGGREGATES, NORMALIZERS, Correction, correct_sets
from alignkit.agreement.distance import DISTANCES
from alignkit.agreement.edit_model import READINGS, EditData, EditModel, fit_edit_model
from alignkit.agreement.everyone import Everyone, everyone
from alignkit.agreement.fleiss import FleissKappa, fleiss_from_counts, fleiss_kappa
from alignkit.agreement.full import LEVELS, FullAgreement, Pairing, full_agreement
from alignkit.agreement.full_json import full_json
from alignkit.agreement.full_records import agreement_records
from alignkit.agreement.full_tables import render_full
from alignkit.agreement.items import UNITS
from alignkit.agreement.krippendorff import (
    KrippendorffAlpha,
    alpha_from_units,
    krippendorff_alpha,
)
from alignkit.agreement.overlap import Overlap, OverlapRow, overlap
from alignkit.agreement.report import AgreementReport, AgreementSection, agreement_report
from alignkit.agreement.tables import render_report

__all__ = [
    "AGGREGATES",
    "CHANCE_MODELS",
    "DISTANCES",
    "LEVELS",
    "NORMALIZERS",
    "READINGS",
    "UNITS",
    "AgreementReport",
    "AgreementSection",
    "CellAgreement",
    "Comparison",
    "Contingency",
    "CorrectedAgreement",
    "CorrectedSection",
    "Correction",
    "EditData",
    "EditModel",
    "Everyone",
    "FleissKappa",
    "FullAgreement",
    "KrippendorffAlpha",
    "Overlap",
    "OverlapRow",
    "Pairing",
    "SentenceAgreement",
    "agreement",
    "agreement_records",
    "agreement_report",
    "alpha_from_units",
    "cell_agreement",
    "cohen_kappa",
    "compare",
    "correct_sets",
    "everyone",
    "fit_edit_model",
    "fleiss_from_counts",
    "fleiss_kappa",
    "full_agreement",
    "full_json",
    "gwet_ac1",
    "krippendorff_alpha",
    "overlap",
    "render_full",
    "render_report",
    "weighted_mean",
]
