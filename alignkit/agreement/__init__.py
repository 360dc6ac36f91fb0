"""Measure how far annotators agree."""

from alignkit.agreement.cells import CellAgreement, cell_agreement
from alignkit.agreement.comparison import Comparison, compare, weighted_mean
from alignkit.agreement.contingency import Contingency, cohen_kappa, gwet_ac1
from alignkit.agreement.distance import DISTANCES
from alignkit.agreement.fleiss import FleissKappa, fleiss_from_counts, fleiss_kappa
from alignkit.agreement.krippendorff import (
    KrippendorffAlpha,
    alpha_from_units,
    krippendorff_alpha,
)
from alignkit.agreement.overlap import Overlap, OverlapRow, overlap
from alignkit.agreement.report import AgreementReport, AgreementSection, agreement_report
from alignkit.agreement.tables import render_report

__all__ = [
    "DISTANCES",
    "AgreementReport",
    "AgreementSection",
    "CellAgreement",
    "Comparison",
    "Contingency",
    "FleissKappa",
    "KrippendorffAlpha",
    "Overlap",
    "OverlapRow",
    "agreement_report",
    "alpha_from_units",
    "cell_agreement",
    "cohen_kappa",
    "compare",
    "fleiss_from_counts",
    "fleiss_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "overlap",
    "render_report",
    "weighted_mean",
]
