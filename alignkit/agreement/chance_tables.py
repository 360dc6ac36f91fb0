"""The tables of agreement beyond chance: C by every model, the pairs behind it, and the edits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from alignkit.agreement.chance.correction import BOTH_EMPTY
from alignkit.agreement.chance.edits import EditModel
from alignkit.agreement.chance.models import CHANCE_MODELS, EditRates
from alignkit.agreement.chance.result import (
    LEVELS,
    NO_INITIAL,
    NOT_ANNOTATED,
    OTHER_START,
    BeyondChance,
)
from alignkit.agreement.figures import AgreementFigures, Pairing
from alignkit.agreement.options import CLOSED
from alignkit.agreement.table_rows import LINKS, UNITS, Rows, Subject, level_table
from alignkit.tables.columns import Column, Row
from alignkit.tables.table import Table


def models_tables(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the tables of C for every model of chance: of words, and of phrase pairs."""
    pairings = [pairing for pairing in agreement.pairings if pairing.beyond]
    models = [name for name in CHANCE_MODELS if any(name in two.beyond for two in pairings)]
    if not models:
        return
    rows = [Subject(agreement.label(two), two) for two in pairings]
    note = ""
    if any(map(_use_different_pairs, pairings)):
        note = (
            f"{CLOSED}: over all sentence pairs that both annotated; the other models: over those "
            "with an initial alignment from which both started"
        )
    columns = [Column(model, "decimal", digits=2) for model in models]
    for unit, (name, _) in UNITS.items():
        levels: dict[str, Rows] = {}
        for level, (_, links) in LEVELS.items():
            if level.startswith(unit):
                shown = levels[LINKS[links]] = []
                for row in rows:
                    by_model = [row.corrected(level, model) for model in models]
                    shown.append((row.name, by_model))
        title = f"C of {name.lower()} for every model of chance; compare only within a column"
        yield level_table(title, columns, levels, f"models-{unit}", note)


def _use_different_pairs(pairing: Pairing) -> bool:
    """Return whether some models of chance leave out more pairs than others."""
    level = next(iter(LEVELS))  # any one: these reasons do not depend on the level
    for reason in (NO_INITIAL, OTHER_START):
        counts = {levels[level].left_out.get(reason, 0) for levels in pairing.beyond.values()}
        if len(counts) > 1:
            return True
    return False


def pairs_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the table of the sentence pairs behind C, with reasons for those left out."""
    pairings = [pairing for pairing in agreement.pairings if pairing.beyond]
    if not pairings:
        return
    counted: dict[str, list[tuple[str, BeyondChance]]] = {}
    reasons = {BOTH_EMPTY: None}  # in the order of the columns; the first one is always there
    for level, (_, links) in LEVELS.items():
        name, _ = UNITS[level.partition(".")[0]]
        parts = [(agreement.label(two), two.main(level)) for two in pairings]
        counted[f"{name.lower()}, {LINKS[links]}"] = parts
        for _, part in parts:
            reasons |= dict.fromkeys(map(_short_reason, part.left_out))
    levels: dict[str, Rows] = {}
    for heading, parts in counted.items():
        rows = levels[heading] = []
        for who, part in parts:
            left_out = Counter[str]()
            for reason, count in part.left_out.items():
                left_out[_short_reason(reason)] += count
            missing = [left_out[reason] for reason in reasons]
            rows.append((who, [part.pairs, part.used, part.one_sided, *missing]))
    columns = [Column(name, "count") for name in ("all", "used", "one-sided")]
    columns += [Column(reason, "count", "left out", f"left_out_{reason}") for reason in reasons]
    title = (
        "Sentence pairs that C is based on, and why others are left out; one-sided: only one "
        "annotator marked anything; counted as 0"
    )
    yield level_table(title, columns, levels, "pairs")


def _short_reason(reason: str) -> str:
    """Return why a pair is left out, without the names of those who did not annotate it."""
    return NOT_ANNOTATED if reason.startswith(NOT_ANNOTATED) else reason


_EDIT_MODEL = (
    Column("edits", "count"),
    Column("of cells", "count", key="cells"),
    Column("a", "number"),
    Column("b", "number"),
    Column("dispersion", "decimal", digits=2),
)
"""The columns of the models fitted to the edits."""


def edits_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the table of edits: how much annotators changed, and how well the models fit."""
    rates: dict[tuple[str, str], EditRates] = {}
    models: dict[tuple[str, str], Mapping[str, EditModel]] = {}
    for pairing in agreement.pairings:
        for chance, level, result in pairing.results():
            links = LEVELS[level][1]
            rates |= {(links, name): of_name for name, of_name in result.rates.items()}
            if chance == pairing.chance:
                models |= {(links, name): of_name for name, of_name in result.models.items()}
    if not rates:
        return
    levels: dict[str, Rows] = {}
    for links, who in sorted(rates, key=lambda key: key[0]):
        rows = levels.setdefault(LINKS[links], [])
        shares: Row = [rates[links, who].add, rates[links, who].delete]
        fitted = models.get((links, who))
        if fitted:
            rows += _fitted_rows(who, shares, fitted)
        elif models:
            rows.append((who, [*shares, *[None] * len(_EDIT_MODEL)]))
        else:
            rows.append((who, shares))
    title = "Edits of the initial alignment"
    note = "added: share of the empty cells; deleted: share of the initial links"
    columns = [
        Column("added", "percent", unit="%", digits=2),
        Column("deleted", "percent", unit="%"),
    ]
    if models:
        if agreement.options.reading == "count":
            linear = "expected edits"
        else:
            linear = "probability of an edit"
        chance = agreement.options.model
        title += f", and the models of chance ({chance}): {linear} = a + b (N + M)"
        note += "; if the dispersion is above 2, the model fits badly"
        columns += _EDIT_MODEL
    yield level_table(title, columns, levels, "edits", note)


def _fitted_rows(
    who: str, shares: Row, fitted: Mapping[str, EditModel]
) -> Iterator[tuple[str, Row]]:
    """Yield a row for each model of an annotator's edits; the shares stand in the first."""
    for part, model in fitted.items():
        name = who if part == "edit" else f"{who}, {part}"
        edits = int(model.data.edits.sum())
        cells = int(model.data.trials.sum())
        yield name, [*shares, edits, cells, model.a, model.b, model.dispersion]
        shares = [None, None]
