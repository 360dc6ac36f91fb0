"""Turn the article's report into what JSON can hold."""

from __future__ import annotations

from alignkit.agreement.cautions import cautions
from alignkit.agreement.everyone import mean_agreement
from alignkit.agreement.full import (
    ADJUDICATED,
    ANNOTATORS,
    AUTOMATIC,
    CONSENSUS,
    LEVELS,
    FullAgreement,
    Pairing,
)
from alignkit.agreement.jsonable import jsonable
from alignkit.arguments import check_arguments

__all__ = ["full_json"]

_SHORT = ("models", "distribution", "sentences", "samples", "redrawn")


def full_json(full: FullAgreement) -> dict[str, object]:
    """Return the report as JSON takes it: NaN is None.

    What `AgreementReport.to_json` returns is at the top level; ``automatic`` has the overlap of
    automatic alignments with the annotators, and ``corrected`` what is beyond chance, or None.
    """
    check_arguments(full_json, locals())
    systems = [
        {"annotators": [one.first, one.second]}
        | {level: jsonable(one.row(level, 0)) for level in LEVELS}
        for one in full.of(AUTOMATIC)
    ]
    return {**full.report.to_json(), "automatic": systems, "corrected": _corrected(full)}


def _corrected(full: FullAgreement) -> dict[str, object] | None:
    if full.settings is None:
        return None
    return {
        "initial": full.settings.initial,
        "missing_initial": full.settings.missing_initial,
        "chance": {kind: full.chance(kind) for kind in (ANNOTATORS, AUTOMATIC)},
        "adjudicated": full.adjudicated,
        **{level: _level(full, level) for level in LEVELS},
        "warnings": cautions(full),
        "signature": full.signature,
    }


def _level(full: FullAgreement, level: str) -> dict[str, object]:
    mean = mean_agreement([one.corrected[level] for one in full.of(ANNOTATORS)])
    kinds = {"pairs": ANNOTATORS, **{name: name for name in (ADJUDICATED, CONSENSUS, AUTOMATIC)}}
    return {
        "mean": jsonable(mean),
        **{name: [_two(one, level) for one in full.of(kind)] for name, kind in kinds.items()},
    }


def _two(one: Pairing, level: str) -> dict[str, object]:
    """Return everything of two annotators, and of others what is not as long as the corpus."""
    found = one.corrected[level].to_json()
    if one.kind != ANNOTATORS:
        found = {name: value for name, value in found.items() if name not in _SHORT}
    return {
        **found,
        "one_sided": one.one_sided(level),
        "overlap": jsonable(one.row(level, 0)),
    }
