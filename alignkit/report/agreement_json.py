"""Turn an agreement into what JSON can hold."""

from __future__ import annotations

from math import isnan
from typing import Any

from alignkit.agreement.beyond_chance.c_result import BeyondChance
from alignkit.agreement.result import Agreement
from alignkit.agreement.result_parts import Pairing
from alignkit.jsonable import jsonable

_NAMES = ("kind", "first", "second", "chance", "no_edits")
_LONG = ("sentences", "distribution")
"""What is as long as the corpus or the samples: given for annotators, by their main model."""


def agreement_json(agreement: Agreement) -> dict[str, object]:
    """Return everything as JSON takes it; NaN is None."""
    fleiss = agreement.together[0].fleiss
    return {
        **{
            name: jsonable(getattr(agreement, name))
            for name in ("annotators", "initial", "adjudicated", "systems", "by", "split")
        },
        "in_several_groups": agreement.several,
        "seed": agreement.seed,
        "options": jsonable(agreement.options),
        "sections": list(agreement.sections),
        "fleiss_kappa": jsonable(fleiss.kappa) if fleiss else None,
        "figures": _figures(agreement),
        "pairings": [_pairing(pairing) for pairing in agreement.pairings],
        "together": {
            together.name: {
                name: jsonable(getattr(together, name))
                for name in (
                    *("pairs", "used", "left_out", "fleiss", "alpha"),
                    *("mean_left_out", "automatic_left_out"),
                )
            }
            for together in agreement.together
        },
        "cautions": jsonable(agreement.cautions),
        "signature": agreement.signature,
    }


def _figures(agreement: Agreement) -> list[dict[str, Any]]:
    by_who: dict[tuple[str, str, str], dict[str, Any]] = {}
    for one in agreement.figures():
        who = (one.kind, one.first, one.second)
        names = dict(zip(("kind", "first", "second"), who, strict=True))
        compared = by_who.setdefault(who, {**names, "sections": {}})
        levels = compared["sections"].setdefault(one.section, {})
        figure: dict[str, object] = {"value": jsonable(one.value)}
        if not isnan(one.low):
            figure |= {"low": one.low, "high": one.high}
        figure["pairs"] = one.pairs
        if one.reason:
            figure["reason"] = one.reason
        levels.setdefault(one.level, {})[one.statistic] = figure
    return list(by_who.values())


def _pairing(pairing: Pairing) -> dict[str, object]:
    return {
        **{name: getattr(pairing, name) for name in _NAMES},
        "sections": {
            section.name: {
                name: jsonable(getattr(section, name))
                for name in ("pairs", "overlap", "cells", "different", "alpha")
            }
            for section in pairing.sections
        },
        "beyond_chance": {
            model: {
                level: _beyond(result, pairing.kind == "annotators" and model == pairing.chance)
                for level, result in levels.items()
            }
            for model, levels in pairing.beyond.items()
        },
    }


def _beyond(result: BeyondChance, whole: bool) -> dict[str, object]:
    everything = result.to_json()
    if whole:
        return everything
    short = {name: part for name, part in everything.items() if name not in _LONG}
    short["models"] = {
        who: {
            name: {key: value for key, value in model.to_json().items() if key != "data"}
            for name, model in models.items()
        }
        for who, models in result.models.items()
    }
    return short
