"""The tables of an agreement: each function yields those that it can fill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from math import isnan, nan

from alignkit._support.wording import how_many, overlapping, visible
from alignkit.agreement.chance.edits import EditModel
from alignkit.agreement.chance.models import CHANCE_MODELS, ClosedChance, EditRates
from alignkit.agreement.chance.result import BOTH_EMPTY, LEVELS, NO_INITIAL, BeyondChanceSection
from alignkit.agreement.figures import DIFFERENT, AgreementFigures, Pairing, without
from alignkit.agreement.options import CLOSED
from alignkit.stats.resampling import ONE_PAIR, UNDEFINED, Interval
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.table import Table

LINKS = {"possible": "poss", "sure": "sure", "eq2": "eq. 2", "all": "3-way"}
"""How kinds of links are called in tables."""

LEVEL_NAMES = {
    level: f"{level.split('.')[0]}, {LINKS[links]}" for level, (_, links) in LEVELS.items()
}
"""How the levels of C are called in tables."""

_UNITS = {"phrases": "phrase pairs", "words": "words"}


# the rows
@dataclass(frozen=True)
class Subject:
    """Whom a row is of: two who are compared, in a section, or a mean over several such."""

    name: str  # what stands in the row
    pairing: Pairing | None = None  # the two; None for a mean
    section: str = "all"  # "all", or a group
    mean: Mapping[str, float] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def figures(self) -> Mapping[str, float]:
        """The figures by name."""
        return self.mean if self.pairing is None else self.pairing.section(self.section).figures

    def cell(self, name: str) -> Cell:
        """Return a figure with its interval, or the reason why there is none; None if unknown."""
        if (number := self.figures.get(name)) is None:
            return None
        if self.pairing is None:
            return value(number, without(number, self.left_out.get(name, 0)))
        return value(number, self.pairing.section(self.section).intervals.get(name))

    def plain(self, name: str) -> Cell:
        """Return a figure without its interval."""
        cell = self.cell(name)
        return cell.value if isinstance(cell, Value) and self.pairing else cell

    def chance(self, level: str, model: str | None = None) -> BeyondChanceSection | None:
        """Return the agreement beyond chance, by the main model or another; None for a mean."""
        if self.pairing is None or (model or self.pairing.chance) not in self.pairing.beyond:
            return None
        return self.pairing.part(level, self.section, model)

    def corrected(self, level: str, model: str | None = None) -> Cell:
        """Return C."""
        if self.pairing is None:
            mean = self.cell(f"{level}.C")
            return nan if mean is None else mean
        if (part := self.chance(level, model)) is None:
            unknown = self.pairing.no_edits if self.pairing.beyond else "the words are not known"
            return Value(nan, reason=unknown)
        if part.undefined:
            return Value(nan, reason=part.undefined)
        return value(part.C, part.interval or part.no_interval)


def value(number: float, interval: Interval | str | None) -> Cell:
    """Join a figure with its interval, or with the reason why there is none."""
    if isinstance(interval, Interval):
        return Value(number, interval.low, interval.high)
    if not interval or (isnan(number) and interval in (UNDEFINED, ONE_PAIR)):
        return number  # that there is no interval says nothing new
    return Value(number, reason=interval)


def subjects(agreement: AgreementFigures, kind: str) -> list[Subject]:
    """Return the rows for a kind of pairings: the groups, every two, and their mean."""
    pairings, means = agreement.of(kind), list[tuple[Mapping[str, float], Mapping[str, int]]]()
    for part in agreement.together:
        if kind == "annotators":
            means.append((part.mean, part.mean_left_out))
        else:
            machines = (part.automatic, part.automatic_left_out)
            means.append(machines if kind == "automatic" else ({}, {}))
    (mean, left_out), *groups = means
    rows = []
    for name, (of_group, missing) in zip(agreement.sections[1:], groups, strict=True):
        if len(pairings) == 1:
            rows.append(Subject(name or "(none)", pairings[0], name))
        elif of_group:
            rows.append(Subject(f"{name or '(none)'}, mean", None, name, of_group, missing))
    alone = len(pairings) == 1 and groups and kind == "annotators"
    rows += [Subject("all" if alone else label(pairing), pairing) for pairing in pairings]
    if len(pairings) > 1 and mean:
        rows.append(Subject("mean", mean=mean, left_out=left_out))
    return rows


def label(pairing: Pairing) -> str:
    """Name a pairing in a row; whoever is not the first is all of the consensus."""
    return f"{pairing.first} ~ others" if pairing.kind == "consensus" else pairing.name


def _table(
    title: str, names: Sequence[str], columns: Iterable[Column],
    blocks: Sequence[Sequence[Sequence[Cell]]], anchor: str, note: str = "",
) -> Table:  # fmt: skip
    """Return a table of blocks of rows, set apart; the first columns name the rows."""
    rows = [row for block in blocks for row in block]
    starts = list(accumulate(map(len, blocks)))[:-1] if len(rows) > len(blocks) else ()
    heads = [Column("", key=name) for name in names]
    return Table(title, [*heads, *columns], rows, note, anchor, starts, len(heads), ruled=False)


def _chance_of(pairings: Sequence[Pairing]) -> str:
    return ", ".join(dict.fromkeys(pairing.chance for pairing in pairings))


def _identical(agreement: AgreementFigures) -> str:
    return "left out" if agreement.options.ignore_identical else "included"


# precision, recall, F1 and C
_KINDS = {
    "adjudicated": "Each annotator ~ the adjudicated version",
    "consensus": "Each annotator ~ the majority of the others",
    "automatic": "Human ~ automatic",
}
_OVERLAPS = ("phrases.possible", "phrases.sure", "words.possible", "words.sure", "words.eq2")
_PAIRS = "sentence pairs"
_COLUMNS = (
    Column("P", "percent", key="precision"),
    Column("R", "percent", key="recall"),
    Column("F1", "percent", key="f1"),
    Column("C", "decimal", key="C"),
    Column("used", "count", _PAIRS, "used"),
    Column("empty", "count", _PAIRS, "both_empty"),
    Column("one-sided", "count", _PAIRS, "one_sided"),
)
_NOTES = {
    "phrases": "sentence pairs: used for C; left out, as both have nothing (empty); used, though "
    "one of the two has nothing, which counts as 0 (one-sided)",
    "words": "eq. 2: the sure links of each with all links of the other",
}


def main_tables(agreement: AgreementFigures, kind: str = "annotators") -> Iterator[Table]:
    """Yield the tables of phrase pairs and of words: a row for each two, and for each group."""
    rows, who, note = subjects(agreement, kind), "", ""
    if kind != "annotators":
        named = f" ({visible(agreement.adjudicated or '')})" if kind == "adjudicated" else ""
        who = f"{_KINDS[kind]}{named}: "
    if kind == "consensus":
        both = ": here what both have" if len(agreement.annotators) == 3 else ""
        note = f"others: the links that more than half of the other annotators have{both}"
    for unit, name in _UNITS.items() if rows else ():
        yield _table(
            f"{who}{name if who else name.capitalize()}, identical ones {_identical(agreement)}; "
            f"the second is the reference; chance: {_chance_of(agreement.of(kind))}",
            ("links", "who"),
            _COLUMNS,
            [
                [[LINKS[level.split(".")[1]], row.name, *_measures(row, level)] for row in rows]
                for level in _OVERLAPS
                if level.startswith(unit)
            ],
            f"{kind}-{unit}" if who else unit,
            note if who else _NOTES[unit],
        )


def _measures(subject: Subject, level: str) -> Iterator[Cell]:
    yield from (subject.plain(f"{level}.precision"), subject.plain(f"{level}.recall"))
    yield subject.cell(f"{level}.f1")
    if level not in LEVELS:
        yield from [None] * 4
        return
    yield subject.corrected(level)
    part = subject.chance(level)
    yield from (part.used, part.both_empty, part.one_sided) if part else (None, None, None)


def precision_recall(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the table of precision and recall with their intervals; none without intervals."""
    if agreement.options.bootstrap == "none":
        return
    measures = [(unit, name) for unit in _UNITS for name in ("precision", "recall")]
    columns = [
        Column(name[0].upper(), "percent", _UNITS[unit], f"{unit}_{name}")
        for unit, name in measures
    ]
    blocks = [
        [[LINKS[links], row.name, *(row.cell(f"{unit}.{links}.{name}") for unit, name in measures)]
         for row in subjects(agreement, "annotators")]
        for links in ("possible", "sure", "eq2")
    ]  # fmt: skip
    title = f"Precision and recall with their intervals, identical ones {_identical(agreement)}"
    yield _table(title, ("links", "who"), columns, blocks, "precision-recall")


# chance: C by every model, the sentence pairs it stands on, and the edits
def models_tables(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the tables of C by every model of chance: of phrase pairs, and of words."""
    pairings = [pairing for pairing in agreement.pairings if pairing.beyond]
    models = [name for name in CHANCE_MODELS if any(name in two.beyond for two in pairings)]
    rows = [Subject(label(pairing), pairing) for pairing in pairings]
    every = next(iter(LEVELS))
    missing = [{levels[every].left_out.get(NO_INITIAL, 0) for levels in pairing.beyond.values()}
               for pairing in pairings]  # fmt: skip
    note = f"{CLOSED}: over all sentence pairs that both annotated; the others: over those with an"
    note += " initial alignment"
    for unit, name in _UNITS.items() if models else ():
        yield _table(
            f"C of {name} by every model of chance; compare within a column alone",
            ("links", "who"),
            [Column(model, "decimal", digits=2) for model in models],
            [
                [[LINKS[links], row.name, *(row.corrected(level, model) for model in models)]
                 for row in rows]
                for level, (_, links) in LEVELS.items() if level.startswith(unit)
            ],
            f"models-{unit}",
            note if any(len(counts) > 1 for counts in missing) else "",
        )  # fmt: skip


def pairs_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the table of all reasons why sentence pairs are left out of C."""
    pairings = [pairing for pairing in agreement.pairings if pairing.beyond]
    reasons = {BOTH_EMPTY: None}
    counted = []
    for level, name in LEVEL_NAMES.items():
        for pairing in pairings:
            part, gone = pairing.main(level), Counter[str]()
            for reason, count in part.left_out.items():  # who did not annotate does not matter
                gone["not annotated" if reason.startswith("not annotated") else reason] += count
            counted.append(([name, label(pairing)], part, gone))
            reasons |= dict.fromkeys(gone)
    if len(reasons) == 1:
        return
    rows: list[list[Cell]] = [
        [*names, part.pairs, part.used, part.one_sided, *(gone[reason] for reason in reasons)]
        for names, part, gone in counted
    ]
    size = len(pairings)
    blocks = [rows[start : start + size] for start in range(0, len(rows), size)]
    columns = [Column(name, "count") for name in ("all", "used", "one-sided")]
    columns += [Column(reason, "count", "left out", f"left_out_{reason}") for reason in reasons]
    title = "Sentence pairs that C stands on in the tables above, and why others are left out"
    yield _table(title, ("level", "who"), columns, blocks, "pairs")


def edits_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the table of edits: how much annotators changed, and how well the models fit it."""
    rates: dict[tuple[str, str], EditRates] = {}
    models: dict[tuple[str, str], Mapping[str, EditModel]] = {}
    for pairing in agreement.pairings:
        for chance, level, result in pairing.results():
            links = LEVELS[level][1]
            rates |= {(name, links): of_name for name, of_name in result.rates.items()}
            if chance == pairing.chance:
                models |= {(name, links): of_name for name, of_name in result.models.items()}
    keys = sorted(rates, key=lambda key: key[1])
    rows = [row for key in keys for row in _edits(key, rates[key], models.get(key, {}))]
    if not rows:
        return
    heads = 3 if any(row[2] for row in rows) else 2
    title = "Edits of the initial alignment"
    note = "added: of the empty cells; deleted: of the initial links"
    columns = [Column("added", "percent", unit="%", digits=2)]
    columns.append(Column("deleted", "percent", unit="%"))
    if models:
        counts = agreement.options.reading == "count"
        linear = "expected edits" if counts else "probability of an edit"
        chance = agreement.options.chance
        title += f", and the models of chance ({chance}): {linear} = a + b (N + M)"
        note += "; a dispersion above 2: the model fits badly"
        columns += [Column("edits", "count"), Column("of cells", "count", key="cells")]
        columns += [*(Column(x, "number") for x in "ab"), Column("dispersion", "decimal", digits=2)]
    shown = [[*row[:heads], *row[3 : 3 + len(columns)]] for row in rows]
    yield _table(title, ("who", "links", "part")[:heads], columns, [shown], "edits", note)


def _edits(
    key: tuple[str, str], rates: EditRates, models: Mapping[str, EditModel]
) -> Iterator[list[Cell]]:
    who, links = key
    both: tuple[Cell, Cell] = (rates.add, rates.delete)
    if not models:
        yield [who, LINKS[links], "", *both, None, None, None, None, None]
    for part, model in models.items():
        edits, cells = int(model.data.edits.sum()), int(model.data.trials.sum())
        names = who, LINKS[links], "" if part == "edit" else part
        yield [*names, *both, edits, cells, model.a, model.b, model.dispersion]
        both = (None, None)


# kappa, AC1, alpha, Fleiss' kappa
_DISTANCES = {"jaccard": "Jaccard", "dice": "Dice", "masi": "MASI"}
_SHARES = ("null", "possible", "sure")
_CELLS = (
    Column("cells", "count"),
    Column("% linked", "percent", key="prevalence"),
    Column("kappa", "decimal"),
    Column("AC1", "decimal", key="ac1"),
    Column("observed", "decimal"),
)


def _with(agreement: AgreementFigures, start: str) -> list[Subject]:
    """Return the rows of annotators that have figures whose names start so."""
    rows = subjects(agreement, "annotators")
    return [row for row in rows if any(name.startswith(start) for name in row.figures)]


def cell_tables(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the tables of kappa and AC1: over all cells, and over those of different words."""
    judged = agreement.options.universe == "judged"
    whole = "Cells that both judged" if judged else "All cells"
    for before, title, anchor in (
        ("", f"{whole}, one for each source word with each target word", "cells"),
        (DIFFERENT, f"{whole} of different words", "different-cells"),
    ):
        if people := _with(agreement, f"{before}cells."):
            blocks = [
                [[LINKS[links], row.name, *_cells(row, before, links)] for row in people]
                for links in ("all", "possible", "sure")
            ]
            heading = f"{title}: Cohen's kappa and Gwet's AC1"
            yield _table(heading, ("links", "who"), _CELLS, blocks, anchor)


def _cells(subject: Subject, before: str, links: str) -> Iterator[Cell]:
    cells = None
    if subject.pairing is not None:
        section = subject.pairing.section(subject.section)
        cells = section.different if before else section.cells
    yield getattr(cells, links).items if cells else None
    at = f"{before}cells.{links}"
    yield subject.plain(f"{at}.prevalence")
    yield from (subject.cell(f"{at}.kappa"), subject.cell(f"{at}.ac1"))
    yield subject.plain(f"{at}.observed")


def alpha_tables(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the tables of Krippendorff's alpha: of all links, and of those of different words."""
    for before, which, anchor in (
        ("", "", "alpha"),
        (DIFFERENT, ", links of equal words left out", "different-alpha"),
    ):
        if not (people := _with(agreement, f"{before}alpha.")):
            continue
        blocks: list[list[list[Cell]]] = []
        for links in ("possible", "sure"):
            names = [f"{before}alpha.{links}.{distance}" for distance in _DISTANCES]
            blocks.append([[LINKS[links], row.name, *map(row.cell, names)] for row in people])
            if len(agreement.annotators) > 2:
                whole, joint = agreement.together[0], list[Cell]()
                for distance in _DISTANCES:
                    alpha = whole.alpha.get(f"{before}{links}.{distance}")
                    interval = whole.intervals.get(f"{before}alpha.{links}.{distance}")
                    joint.append(value(alpha.alpha, interval) if alpha else nan)
                blocks[-1].append([LINKS[links], "all annotators", *joint])
        title = f"Krippendorff's alpha, the set of target words of each source word{which}"
        columns = [Column(name, "decimal", key=key) for key, name in _DISTANCES.items()]
        yield _table(title, ("links", "who"), columns, blocks, anchor)


def fleiss_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the table of Fleiss' kappa: a row for each group, and for the whole corpus."""
    if not any(together.fleiss for together in agreement.together):
        return
    numbers = range(len(agreement.annotators), 0, -1)
    columns = [
        Column("", key="section"),
        *(Column(name, "count") for name in ("pairs", "items")),
        *(Column(name, "decimal") for name in ("kappa", "observed", "expected")),
        *(Column(name, "percent", "% of judgements") for name in _SHARES),
        *(Column(str(n) if n > 1 else "none", "count", "n agree", f"agree_{n}") for n in numbers),
    ]
    whole, *groups = agreement.together
    rows: list[list[Cell]] = []
    for part in (*groups, whole):
        cells: list[Cell] = [nan] * (len(columns) - 1)
        if (fleiss := part.fleiss) is not None:
            kappa = value(fleiss.kappa, part.intervals.get("fleiss.kappa"))
            cells = [fleiss.pairs, fleiss.items, kappa, fleiss.observed, fleiss.expected]
            cells += (fleiss.categories[name] for name in _SHARES)
            cells += (fleiss.agreeing[n] for n in numbers)
        rows.append([part.name or "(none)", *cells])
    title = (
        "Fleiss' kappa, the source words proposed for each target word; on how many items n agree"
    )
    yield Table(title, columns, rows, anchor="fleiss", ruled=False)


# the tables by name, and the lines above them
TABLES: Mapping[str, Callable[[AgreementFigures], Iterator[Table]]] = {
    "pairings": main_tables,
    "chance": lambda agreement: chain(models_tables(agreement), pairs_table(agreement)),
    "others": lambda agreement: chain.from_iterable(
        main_tables(agreement, kind) for kind in _KINDS
    ),
    "intervals": precision_recall,
    "cells": cell_tables,
    "alpha": alpha_tables,
    "fleiss": fleiss_table,
    "edits": edits_table,
}
"""The tables with all figures, by the names under which one asks for them."""


def agreement_tables(agreement: AgreementFigures) -> list[Table]:
    """Return the tables with all figures, in the order in which a reader wants them."""
    return [table for tables in TABLES.values() for table in tables(agreement)]


def agreement_head(agreement: AgreementFigures) -> list[str]:
    """Return lines of plain text that say who is compared, on what, and what the brackets are."""
    whole = agreement.together[0]
    names, pairs = ", ".join(agreement.annotators), how_many(whole.pairs, "sentence pair")
    lines = [f"Agreement of {names}: {pairs}, {whole.used} annotated by two or more"]
    lines += agreement_notes(agreement)
    people = [pairing for pairing in agreement.of("annotators") if pairing.beyond]
    for name in dict.fromkeys(pairing.chance for pairing in people):
        model, start = CHANCE_MODELS[name], f"; initial alignment: {agreement.initial or 'empty'}"
        closed = isinstance(model, ClosedChance)
        lines.append(f"Chance ({name}): {model.description}{'' if closed else start}")
    return [*lines, *_certainty(agreement)]


def agreement_notes(agreement: AgreementFigures) -> Iterator[str]:
    """Yield which sentence pairs are left out, or count twice, and which cells."""
    whole = agreement.together[0]
    yield from (f"{how_many(n, 'pair')} {reason}" for reason, n in whole.left_out.items())
    if agreement.options.universe == "judged":
        yield (
            "judged cells: kappa, AC1 and C by edits are over the cells that both judged; F1, "
            "alpha and Fleiss' kappa are over all"
        )
    compared = {*agreement.annotators, agreement.initial, agreement.adjudicated, *agreement.systems}
    roles = agreement.corpus.roles
    if rest := [name for name in agreement.corpus.aligners if name not in compared]:
        yield f"not compared: {', '.join(f'{visible(name)} ({roles[name]})' for name in rest)}"
    if agreement.several:
        yield overlapping(agreement.several, whole.pairs, str(agreement.by))


def _certainty(agreement: AgreementFigures) -> Iterator[str]:
    options = agreement.options
    if not all(isnan(figure.low) for figure in agreement.figures()):
        refitted = ", edit models refitted" if options.bootstrap == "refit" else ""
        share = f"{100 * options.confidence:g}%"
        yield f"In brackets: {share} of bootstrap resamples of sentence pairs{refitted}"
    results = [result for pairing in agreement.of("annotators")
               for result in pairing.beyond.get(pairing.chance, {}).values()]  # fmt: skip
    if drawn := sorted({result.samples for result in results if result.samples}):
        span = "-".join(str(number) for number in dict.fromkeys((drawn[0], drawn[-1])))
        errors = [result.C_error for result in results if not isnan(result.C_error)]
        error = f"; Monte-Carlo error of C at most {max(errors):.2g}" if errors else ""
        yield f"Samples of each sentence pair: {span}{error}"
