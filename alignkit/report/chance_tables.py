"""Lay out what C stands on: models of chance beside each other, pairs used, edits and their fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from alignkit.agreement.beyond_chance.c_result import BeyondChance
from alignkit.agreement.beyond_chance.chance import CHANCE_MODELS, EditRates
from alignkit.agreement.beyond_chance.edits import EditModel
from alignkit.agreement.beyond_chance.expectation import BOTH_EMPTY
from alignkit.agreement.corpus_beyond_chance import NO_INITIAL
from alignkit.agreement.options import CLOSED
from alignkit.agreement.result import Agreement
from alignkit.agreement.result_parts import LEVELS, Pairing
from alignkit.report.agreement_rows import LEVEL_NAMES, LINKS, Subject, apart, grouped, label
from alignkit.report.columns import Cell, Column
from alignkit.report.table import Table


def models_tables(agreement: Agreement) -> Iterator[Table]:
    """Yield the tables of C by every model of chance: of phrase pairs, and of words."""
    found = [pairing for pairing in agreement.pairings if pairing.beyond]
    used = {name for pairing in found for name in pairing.beyond}
    models = [name for name in CHANCE_MODELS if name in used]
    for unit, name in (("phrases", "phrase pairs"), ("words", "words")) if models else ():
        levels = [level for level in LEVELS if level.startswith(unit)]
        rows: list[list[Cell]] = [
            [LINKS[LEVELS[level][1]], one.name, *(one.corrected(level, model) for model in models)]
            for level in levels
            for one in (Subject(label(pairing), pairing) for pairing in found)
        ]
        yield grouped(
            f"C of {name} by every model of chance; compare within a column alone",
            ("links", "who"),
            [Column(model, "decimal", digits=2) for model in models],
            rows,
            f"models-{unit}",
            apart(len(found), len(levels)),
            _of_pairs(found),
        )


def _of_pairs(pairings: Sequence[Pairing]) -> str:
    every = next(iter(LEVELS))
    for pairing in pairings:
        without = {levels[every].left_out.get(NO_INITIAL, 0) for levels in pairing.beyond.values()}
        if len(without) > 1:
            return (
                f"{CLOSED}: over all sentence pairs that both annotated; the others: over those "
                "with an initial alignment"
            )
    return ""


def pairs_table(agreement: Agreement) -> Iterator[Table]:
    """Yield the table of all reasons why sentence pairs are left out of C."""
    results = [
        (name, label(pairing), pairing.main(level))
        for level, name in LEVEL_NAMES.items()
        for pairing in agreement.pairings
        if pairing.beyond
    ]
    left_out = [_left_out(part) for _, _, part in results]
    reasons = list(dict.fromkeys([BOTH_EMPTY, *(reason for one in left_out for reason in one)]))
    if len(reasons) == 1:
        return
    rows: list[list[Cell]] = [
        [level, who, part.pairs, part.used, part.one_sided, *(gone[reason] for reason in reasons)]
        for (level, who, part), gone in zip(results, left_out, strict=True)
    ]
    columns = [Column(name, "count") for name in ("all", "used", "one-sided")]
    columns += [Column(reason, "count", "left out", f"left_out_{reason}") for reason in reasons]
    title = "Sentence pairs that C stands on in the tables above, and why others are left out"
    groups = apart(len(results) // len(LEVEL_NAMES), len(LEVEL_NAMES))
    yield grouped(title, ("level", "who"), columns, rows, "pairs", groups)


def _left_out(part: BeyondChance) -> Counter[str]:
    """Count pairs by the reason why they are left out; who did not annotate does not matter."""
    counts: Counter[str] = Counter()
    for reason, count in part.left_out.items():
        counts["not annotated" if reason.startswith("not annotated") else reason] += count
    return counts


def edits_table(agreement: Agreement) -> Iterator[Table]:
    """Yield the table of edits: how much annotators changed, and how well the models fit it."""
    rates: dict[tuple[str, str], EditRates] = {}
    models: dict[tuple[str, str], Mapping[str, EditModel]] = {}
    for pairing in agreement.pairings:
        for levels in pairing.beyond.values():
            for level, result in levels.items():
                links = LEVELS[level][1]
                rates |= {(name, links): one for name, one in result.rates.items()}
        if pairing.chance in pairing.beyond:
            for level, result in pairing.beyond[pairing.chance].items():
                links = LEVELS[level][1]
                models |= {(name, links): one for name, one in result.models.items()}
    keys = sorted(rates, key=lambda key: key[1])
    rows = [row for key in keys for row in _edits(key, rates[key], models.get(key, {}))]
    if not rows:
        return
    linear = "expected edits" if agreement.options.reading == "count" else "probability of an edit"
    model = agreement.options.chance
    fitted = f", and the models of chance ({model}): {linear} = a + b (N + M)" if models else ""
    heads = 3 if any(row[2] for row in rows) else 2
    columns = [
        Column("added", "percent", unit="%", digits=2),
        Column("deleted", "percent", unit="%"),
    ]
    note = "added: of the empty cells; deleted: of the initial links"
    if models:
        columns += [Column("edits", "count"), Column("of cells", "count", key="cells")]
        columns += [Column("a", "number"), Column("b", "number")]
        columns.append(Column("dispersion", "decimal", digits=2))
        note += "; a dispersion above 2: the model fits badly"
    title = f"Edits of the initial alignment{fitted}"
    shown = [[*row[:heads], *row[3 : 3 + len(columns)]] for row in rows]
    yield grouped(title, ("who", "links", "part")[:heads], columns, shown, "edits", (), note)


def _edits(
    key: tuple[str, str], rates: EditRates, models: Mapping[str, EditModel]
) -> Iterator[list[Cell]]:
    who, links = key
    both: tuple[Cell, Cell] = (rates.add, rates.delete)
    if not models:
        yield [who, LINKS[links], "", *both, None, None, None, None, None]
    for part, model in models.items():
        edits, cells = int(model.data.edits.sum()), int(model.data.trials.sum())
        yield [
            *(who, LINKS[links], "" if part == "edit" else part, *both),
            *(edits, cells, model.a, model.b, model.dispersion),
        ]
        both = (None, None)
