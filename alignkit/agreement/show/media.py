"""Show an agreement in every medium: the same tables and the same cautions in each.

The tables are described once, in `agreement_tables`; what stands above them in `agreement_head`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from math import isnan
from typing import Any

from alignkit._support.values import jsonable
from alignkit._support.wording import overlapping
from alignkit.agreement.chance.models import CHANCE_MODELS, ClosedChance
from alignkit.agreement.chance.result import BeyondChance
from alignkit.agreement.judgments.result import JudgmentAgreement
from alignkit.agreement.result import Agreement, Figure, Pairing
from alignkit.agreement.show.tables import (
    alpha_tables,
    cell_tables,
    compared_tables,
    edits_table,
    fleiss_table,
    known,
    main_tables,
    models_tables,
    pairs_table,
    precision_recall,
    side_by_side,
)
from alignkit.tables.media import Report, csv_lines, get_medium
from alignkit.tables.table import Table

_TABLES: tuple[Callable[[Agreement], Iterator[Table]], ...] = (
    main_tables,
    side_by_side,
    compared_tables,
    models_tables,
    pairs_table,
    edits_table,
    precision_recall,
    cell_tables,
    alpha_tables,
    fleiss_table,
)


def agreement_tables(agreement: Agreement) -> list[Table]:
    """Return the tables of an agreement, in the order in which a reader wants them."""
    return [table for tables in _TABLES for table in tables(agreement)]


def agreement_head(agreement: Agreement) -> list[str]:
    """Return lines of plain text that say who is compared, on what, and what the brackets are."""
    first = agreement.together[0]
    pairs = "sentence pair" if first.pairs == 1 else "sentence pairs"
    lines = [
        f"Agreement of {', '.join(agreement.annotators)}: {first.pairs} {pairs}, {first.used} "
        "annotated by two or more"
    ]
    lines += [f"  {count} {reason}" for reason, count in first.left_out.items()]
    if agreement.options.universe == "judged":
        lines.append(
            "Judged cells: kappa, AC1 and C by edits are over the cells that both judged; F1, "
            "alpha and Fleiss' kappa are over all"
        )
    if agreement.several:
        lines.append(f"  {overlapping(agreement.several, first.pairs, str(agreement.by))}")
    return [*lines, *_chance(agreement), *_certainty(agreement)]


def _chance(agreement: Agreement) -> Iterator[str]:
    for name in dict.fromkeys(
        pairing.chance for pairing in agreement.of("annotators") if pairing.beyond
    ):
        model = CHANCE_MODELS[name]
        start = f"; initial alignment: {agreement.initial or 'empty'}"
        closed = isinstance(model, ClosedChance)
        yield f"Chance ({name}): {model.description}{'' if closed else start}"


def _certainty(agreement: Agreement) -> Iterator[str]:
    options = agreement.options
    if not all(isnan(figure.low) for figure in agreement.figures()):
        refitted = ", edit models refitted" if options.bootstrap == "refit" else ""
        share = f"{100 * options.confidence:g}%"
        yield f"In brackets: {share} of bootstrap resamples of sentence pairs{refitted}"
    results = [
        one
        for pairing in agreement.of("annotators")
        if pairing.chance in pairing.beyond
        for one in pairing.beyond[pairing.chance].values()
    ]
    drawn = sorted({one.samples for one in results if one.samples})
    if drawn:
        span = "-".join(str(number) for number in dict.fromkeys((drawn[0], drawn[-1])))
        errors = known([one.C_error for one in results])
        error = f"; Monte-Carlo error of C at most {max(errors):.2g}" if errors else ""
        yield f"Samples of each sentence pair: {span}{error}"


def agreement_report(agreement: Agreement, medium: str = "text") -> str:
    """Return the report in one of `alignkit.tables.media.MEDIA`, without a line end at its end."""
    written = get_medium(medium)
    report = Report(
        agreement_head(agreement),
        [table.sheet() for table in agreement_tables(agreement)],
        [str(caution) for caution in agreement.cautions],
        agreement.signature,
    )
    return written.report(report)


def agreement_csv(agreement: Agreement | JudgmentAgreement) -> str:
    """Return every figure as a row of CSV; the columns are the fields of `Figure`."""
    names = [option.name for option in fields(Figure)]
    rows: list[list[object]] = [list(names)]
    rows += [list(record.values()) for record in agreement.to_records()]
    for caution in agreement.cautions:
        said = {"kind": "caution", "statistic": caution.code, "reason": str(caution)}
        rows.append([said.get(name, "") for name in names])
    signed = {"kind": "signature", "reason": agreement.signature}
    rows.append([signed.get(name, "") for name in names])
    return csv_lines(rows)


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
