"""The tables of an agreement; each function yields the tables that it can fill.

Under the heading of a level (all links, sure links) there is a row for every two annotators, for
each group of sentence pairs, and for a mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan

from alignkit._support.wording import visible
from alignkit.agreement.answer import CHANCE_NAMES
from alignkit.agreement.chance.correction import BOTH_EMPTY
from alignkit.agreement.chance.edits import EditModel
from alignkit.agreement.chance.models import CHANCE_MODELS, EditRates
from alignkit.agreement.chance.result import (
    LEVELS,
    NO_INITIAL,
    NOT_ANNOTATED,
    OTHER_START,
    BeyondChance,
    BeyondChanceSection,
)
from alignkit.agreement.figures import (
    DIFFERENT,
    KINDS,
    MOST_PAIRINGS,
    AgreementFigures,
    Pairing,
    Together,
    without,
)
from alignkit.agreement.names import short_names
from alignkit.agreement.options import CLOSED
from alignkit.agreement.unseen_links import NO_LINKS
from alignkit.stats.resampling import Interval
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.table import Table

LINKS = {
    "possible": "all links",
    "sure": "sure links",
    "eq2": "sure ~ all (eq. 2)",
    "all": "none, possible or sure",
}
"""The names of kinds of links in tables."""

_KINDS = {"possible": "all", "sure": "sure"}  # links, and their short name in a heading
_WIDTH = 100
_MOST_GROUPS = 10

Rows = Sequence[tuple[str, Sequence[Cell]]]  # the name of each row, and its cells


# the rows
@dataclass(frozen=True)
class Subject:
    """The subject of a row: a pairing in a section, all annotators, or a mean over pairings."""

    name: str  # what stands in the row
    pairing: Pairing | None = None  # the two; None for a mean and for all annotators
    together: Together | None = None  # all annotators; None for two and for a mean
    section: str = "all"  # "all", or a group
    mean: Mapping[str, float] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def figures(self) -> Mapping[str, float]:
        """The figures by name."""
        if self.together is not None:
            return self.together.figures
        if self.pairing is None:
            return self.mean
        return self.pairing.section(self.section).figures

    def cell(self, name: str) -> Cell:
        """Return a figure with its interval, or why there is none; None if unknown."""
        number = self.figures.get(name)
        if number is None:
            return None
        if self.together is not None:
            return with_interval(number, self.together.intervals.get(name))
        if self.pairing is None:
            return with_interval(number, without(number, self.left_out.get(name, 0)))
        statistic = name.rpartition(".")[2]
        if isnan(number) and statistic in _UNDEFINED:
            return Value(number, reason=_UNDEFINED[statistic])
        return with_interval(number, self.pairing.section(self.section).intervals.get(name))

    def plain(self, name: str) -> Cell:
        """Return a figure without its interval; one of a mean as it is, which has none.

        An undefined figure keeps its reason.
        """
        cell = self.cell(name)
        is_mean = self.pairing is None and self.together is None
        if isinstance(cell, Value) and not is_mean and not isnan(cell.value):
            return cell.value
        return cell

    def chance(self, level: str, model: str | None = None) -> BeyondChanceSection | None:
        """Return the agreement beyond chance, by the main or another model; None for a mean."""
        if self.pairing is None or (model or self.pairing.chance) not in self.pairing.beyond:
            return None
        return self.pairing.part(level, self.section, model)

    def corrected(self, level: str, model: str) -> Cell:
        """Return C by a model of chance; None for a mean with another model."""
        if self.pairing is None:
            return None
        part = self.chance(level, model)
        if part is not None and part.undefined:
            return Value(part.C, reason=part.undefined)
        if part is not None:
            return with_interval(part.C, part.interval or part.no_interval)
        if self.pairing.beyond:
            return Value(nan, reason=self.pairing.no_edits)
        return Value(nan, reason="the words are not known")


_UNDEFINED = {
    "precision": "the first marked nothing here",
    "recall": "the second marked nothing here",
    "f1": "neither marked anything here",
    "kappa": "both have all cells in one category, or there are no cells",
}
"""The reasons why a figure has no value, by statistic."""


def with_interval(number: float, bounds: Interval | str | None) -> Cell:
    """Combine a figure with its interval, or with the reason why there is none."""
    if isinstance(bounds, Interval):
        return Value(number, bounds.low, bounds.high)
    if bounds:
        return Value(number, reason=bounds)
    return number


def subjects(agreement: AgreementFigures, kind: str = "annotators") -> list[Subject]:
    """Return the rows for a kind of pairings: groups, every two names, and their mean."""
    pairings = agreement.of(kind)
    names = short_names(agreement.annotators)
    whole, *groups = agreement.together
    if len(pairings) == 1:
        (two,) = pairings
        rows = [Subject(name or "(none)", two, section=name) for name in agreement.sections[1:]]
        if groups and kind == "annotators":
            rows.append(Subject("all", two))
        else:
            rows.append(Subject(label(two, names), two))
        return rows
    rows = []
    for name, group in zip(agreement.sections[1:], groups, strict=True):
        mean, left_out = _mean(group, kind)
        if mean:
            who = f"{name or '(none)'}, mean"
            rows.append(Subject(who, section=name, mean=mean, left_out=left_out))
    rows += [Subject(label(two, names), two) for two in pairings]
    mean, left_out = _mean(whole, kind)
    if pairings and mean:
        rows.append(Subject("mean", mean=mean, left_out=left_out))
    return rows


def _mean(part: Together, kind: str) -> tuple[Mapping[str, float], Mapping[str, int]]:
    """Return the mean over the pairings of a kind, and how many figures it leaves out, by name."""
    if kind == "annotators":
        return part.mean, part.mean_left_out
    if kind == "automatic":
        return part.automatic, part.automatic_left_out
    return {}, {}


def label(pairing: Pairing, names: Mapping[str, str] | None = None) -> str:
    """Return the name of a pairing in a row: "A ~ B", or "A ~ others" for a consensus."""
    known = names or {}
    first = known.get(pairing.first, pairing.first)
    if pairing.kind == "consensus":
        return f"{first} ~ others"
    return f"{first} ~ {known.get(pairing.second, pairing.second)}"


def _table(
    title: str, columns: Sequence[Column], levels: Mapping[str, Rows], anchor: str, note: str = ""
) -> Table:
    """Return a table of levels: the heading of each, then its rows."""
    rows = list[list[Cell]]()
    for level, named in levels.items():
        rows.append([level, *[None] * len(columns)])
        rows += [[f"  {name}", *cells] for name, cells in named]
    return Table(title, [Column("", key="who"), *columns], rows, note, anchor, ruled=False)


def _fitting(table: Table, *droppable: Collection[str]) -> Table:
    """Return a table without empty columns; drop some more while it is too wide."""
    empty = []
    for k, column in enumerate(table.columns):
        if all(row[k] is None for row in table.rows):
            empty.append(column.key)
    table = without_columns(table, empty)
    for some in droppable:
        if table.width > _WIDTH:
            table = without_columns(table, some)
    return table


def without_columns(table: Table, keys: Collection[str]) -> Table:
    """Return a table without some columns."""
    kept = [k for k, column in enumerate(table.columns) if column.key not in keys]
    columns = [table.columns[k] for k in kept]
    rows = [[row[k] for k in kept] for row in table.rows]
    return replace(table, columns=columns, rows=rows)


# precision, recall, F1, C and kappa
_UNITS = {
    "words": ("Words", "links of equal words left out"),
    "phrases": ("Phrase pairs", "equal ones left out"),
}


def chance_models(pairings: Sequence[Pairing]) -> list[str]:
    """Return the models with a column of C: the requested ones; with edits also the strata."""
    models = [two.chance for two in pairings if two.beyond]
    if any(model != CLOSED for model in models):
        models.append("edit-strata")
    return list(dict.fromkeys(models))


def all_given(pairings: Sequence[Pairing]) -> bool:
    """Return whether all annotators judged links that they were given."""
    return all(two.given for two in pairings)


def _compared(
    agreement: AgreementFigures,
    unit: str,
    rows: Sequence[Subject],
    who: str,
    anchor: str,
    *,
    full: bool = True,
    narrow: bool = True,
) -> Table:
    """Return the table of words or phrase pairs, without columns that are empty.

    A `full` table has three digits of C and kappa, and a level for eq. 2; others have this level
    only if they have one row. A `narrow` one leaves out columns until it fits.
    """
    pairings = [row.pairing for row in rows if row.pairing]
    models = chance_models(pairings)
    given = all_given(pairings)
    kinds = ["possible", "sure"]
    if unit == "words" and (full or len(rows) == 1):
        kinds.append("eq2")
    levels: dict[str, list[tuple[str, list[Cell]]]] = {}
    for links in kinds:
        of_kind = levels[LINKS[links]] = []
        for row in rows:
            cells = list(_measures(agreement, row, f"{unit}.{links}", models, given))
            of_kind.append((row.name, cells))
    if len(pairings) == 1:
        who = label(pairings[0], short_names(agreement.annotators))
    title = _compared_title(agreement, unit, who)
    columns = _measure_columns(models, given, digits=3 if full else None)
    table = _table(title, columns, levels, anchor)
    if len(rows) == 1:  # its name is in the title: the rows are the levels
        lines = []
        for level, named in levels.items():
            _, cells = named[0]
            lines.append([level, *cells])
        table = replace(table, rows=lines)
    if narrow:
        return _fitting(table, ["kappa"], ["precision", "recall"])
    return _fitting(table)


def _compared_title(agreement: AgreementFigures, unit: str, who: str) -> str:
    """Return the title of a table of words or phrase pairs; `who` may be empty."""
    name, left_out = _UNITS[unit]
    if who:
        name += f": {who}"
    notes = ["the second is the reference"]
    if agreement.options.ignore_identical:
        notes.append(left_out)
    return f"{name} ({'; '.join(notes)})"


def _measure_columns(models: Sequence[str], given: bool, digits: int | None) -> list[Column]:
    """Return the columns of `_measures`; C and kappa have these digits."""
    columns = [
        Column("P", "percent", key="precision"),
        Column("R", "percent", key="recall"),
        Column("F1", "percent", key="f1"),
    ]
    for model in models:
        name = CHANCE_NAMES[model]
        latex = name.replace("C", "$C$", 1)
        columns.append(Column(name, "coefficient", key=f"C_{model}", digits=digits, latex=latex))
    if given:
        name = "kappa, given links"
        latex = "kappa"
    else:
        name = "kappa"
        latex = r"$\kappa$"
    columns.append(Column(name, "coefficient", key="kappa", digits=digits, latex=latex))
    columns.append(Column("used", "count", latex="$n$"))
    return columns


def _measures(
    agreement: AgreementFigures, row: Subject, level: str, models: Sequence[str], given: bool
) -> Iterator[Cell]:
    """Yield P, R, F1, C by each model, kappa, and the number of pairs that C is based on."""
    yield row.plain(f"{level}.precision")
    yield row.plain(f"{level}.recall")
    yield row.cell(f"{level}.f1")
    if level not in LEVELS:  # eq. 2 has no C, no kappa, and no pairs that C is based on
        yield from [None] * len(models)
        yield None
        yield None
        return
    # the row of a mean has C only if all pairings have the same model
    has_mean = row.pairing is None and len(models) == 1
    for model in models:
        yield row.cell(f"{level}.C") if has_mean else row.corrected(level, model)
    if level.startswith("phrases"):
        yield None
    elif given and row.pairing and row.pairing.given:
        yield with_interval(*row.pairing.given.kappa(LEVELS[level][1]))
    else:
        cells = f"cells.{LEVELS[level][1]}"
        if agreement.options.ignore_identical:
            cells = DIFFERENT + cells
        yield row.plain(f"{cells}.kappa")
    part = row.chance(level)
    yield part.used if part else None


def main_table(agreement: AgreementFigures, unit: str, *, narrow: bool = True) -> Table:
    """Return the main table of ``"words"`` or ``"phrases"``; if it is long, by annotator."""
    pairings = agreement.of("annotators")
    names = short_names(agreement.annotators)
    anchor = f"main-{unit}"
    if len(pairings) <= MOST_PAIRINGS:
        rows = [Subject(label(two, names), two) for two in pairings]
        return _compared(agreement, unit, rows, "", anchor, full=False, narrow=narrow)
    title, left_out = _UNITS[unit]
    note = "all pairings: see the table pairings"
    if agreement.options.ignore_identical:
        note = f"{left_out}; {note}"
    levels: dict[str, Rows] = {}
    for links in ("possible", "sure"):
        level = f"{unit}.{links}"
        levels[LINKS[links]] = [
            (short, _with_others(pairings, name, level)) for name, short in names.items()
        ]
    columns = [Column(x, "percent", "F1 with the others") for x in ("mean", "lowest", "highest")]
    return _table(f"{title} ({note})", columns, levels, anchor)


def _with_others(pairings: Sequence[Pairing], who: str, level: str) -> list[float]:
    """Return the mean, lowest and highest F1 of one annotator with the others."""
    known = []
    for two in pairings:
        if who in (two.first, two.second):
            f1 = two.sections[0].figures.get(f"{level}.f1", nan)
            if not isnan(f1):
                known.append(f1)
    if known:
        return [sum(known) / len(known), min(known), max(known)]
    return [nan] * 3


def pairings_tables(agreement: AgreementFigures, kind: str = "annotators") -> Iterator[Table]:
    """Yield the tables of words and of phrase pairs: rows for every two, groups and means."""
    who = {
        "annotators": "all pairings of annotators",
        "adjudicated": f"each annotator ~ {agreement.adjudicated}, the adjudicated version",
        "consensus": "each annotator ~ the majority of the others",
        "automatic": "human ~ automatic",
    }[kind]
    if kind == "consensus" and len(agreement.annotators) == 3:
        who += " (what both have)"
    rows = subjects(agreement, kind)
    if rows:
        for unit in _UNITS:
            yield _compared(agreement, unit, rows, who, f"{kind}-{unit}")


def groups_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield F1 of each group of sentence pairs, as the mean over pairings."""
    measures = {
        "words, all": "words.possible",
        "words, sure": "words.sure",
        "phrase pairs, all": "phrases.possible",
    }
    groups = [row for row in subjects(agreement) if row.section != "all"]
    if not groups:
        return
    parts = dict(zip(agreement.sections, agreement.together, strict=True))
    rows = []
    for row in groups[:_MOST_GROUPS]:
        f1 = [row.cell(f"{level}.f1") for level in measures.values()]
        rows.append([row.name, *f1, parts[row.section].used])
    columns = [Column("", key="group")]
    columns += [Column(name, "percent") for name in measures]
    columns.append(Column("pairs", "count"))
    note = "C: see the table pairings"
    more = len(groups) - len(rows)
    if more:
        note = f"{more} more groups and {note}"
    if agreement.options.ignore_identical:
        note = f"equal words left out; {note}"
    yield Table(
        f"By {agreement.options.by}: F1 ({note})", columns, rows, anchor="groups", ruled=False
    )


def others_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield F1 of words of each annotator with adjudicated and automatic alignments."""
    which: dict[str, str] = {}
    cells: dict[tuple[str, str, str], Cell] = {}  # by annotator, other alignment and links
    for two in agreement.of("adjudicated"):
        which[two.second] = "the adjudicated one"
        for links in _KINDS:
            cells[two.first, two.second, links] = Subject("", two).cell(f"words.{links}.f1")
    for two in agreement.of("automatic"):
        if two.first == agreement.initial:
            which[two.first] = "the initial one"
        else:
            which[two.first] = "an automatic one"
        for links in _KINDS:
            cells[two.second, two.first, links] = Subject("", two).cell(f"words.{links}.f1")
    if not which:
        return
    *others, last = [f"{what} ({visible(other)})" for other, what in which.items()]
    described = last
    if others:
        described = f"{', '.join(others)} and {last}"
    title = f"Other alignments: F1 of words with {described}"
    names = short_names(agreement.annotators)
    anchor = "other-alignments"
    table = Table(title, *_side_by_side(names, which, cells), anchor=anchor, ruled=False)
    if table.width > _WIDTH:  # then below each other
        levels: dict[str, Rows] = {}
        for other in which:
            rows = levels[visible(other)] = []
            for name, short in names.items():
                rows.append((short, [cells.get((name, other, links)) for links in _KINDS]))
        columns = [Column(links, "percent") for links in _KINDS.values()]
        table = _table(title, columns, levels, anchor)
    yield table


def _side_by_side(
    names: Mapping[str, str], others: Iterable[str], cells: Mapping[tuple[str, str, str], Cell]
) -> tuple[list[Column], list[list[Cell]]]:
    """Return columns for each other alignment and kind of links, and a row for each annotator."""
    columns = [Column("", key="who")]
    rows: dict[str, list[Cell]] = {name: [short] for name, short in names.items()}
    for other in others:
        for links, heading in _KINDS.items():
            columns.append(Column(f"{other}, {heading}", "percent"))
            for name, row in rows.items():
                row.append(cells.get((name, other, links)))
    return columns, list(rows.values())


# chance: C by every model, the sentence pairs it stands on, and the edits
def models_tables(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the tables of C for every model of chance: of words, and of phrase pairs."""
    pairings = [pairing for pairing in agreement.pairings if pairing.beyond]
    models = [name for name in CHANCE_MODELS if any(name in two.beyond for two in pairings)]
    if not models:
        return
    names = short_names(agreement.annotators)
    rows = [Subject(label(two, names), two) for two in pairings]
    note = ""
    if any(map(_use_different_pairs, pairings)):
        note = (
            f"{CLOSED}: over all sentence pairs that both annotated; the other models: over those "
            "with an initial alignment from which both started"
        )
    columns = [Column(model, "decimal", digits=2) for model in models]
    for unit, (name, _) in _UNITS.items():
        levels: dict[str, Rows] = {}
        for level, (_, links) in LEVELS.items():
            if level.startswith(unit):
                shown = levels[LINKS[links]] = []
                for row in rows:
                    by_model = [row.corrected(level, model) for model in models]
                    shown.append((row.name, by_model))
        title = f"C of {name.lower()} for every model of chance; compare only within a column"
        yield _table(title, columns, levels, f"models-{unit}", note)


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
    names = short_names(agreement.annotators)
    if not pairings:
        return
    counted: dict[str, list[tuple[str, BeyondChance]]] = {}
    reasons = {BOTH_EMPTY: None}  # in the order of the columns; the first one is always there
    for level, (_, links) in LEVELS.items():
        name, _ = _UNITS[level.partition(".")[0]]
        parts = [(label(two, names), two.main(level)) for two in pairings]
        counted[f"{name.lower()}, {LINKS[links]}"] = parts
        for _, part in parts:
            reasons |= dict.fromkeys(map(_short_reason, part.left_out))
    levels: dict[str, list[tuple[str, list[Cell]]]] = {}
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
    yield _table(title, columns, levels, "pairs")


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
    levels: dict[str, list[tuple[str, list[Cell]]]] = {}
    for links, who in sorted(rates, key=lambda key: key[0]):
        rows = levels.setdefault(LINKS[links], [])
        shares: list[Cell] = [rates[links, who].add, rates[links, who].delete]
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
    yield _table(title, columns, levels, "edits", note)


def _fitted_rows(
    who: str, shares: list[Cell], fitted: Mapping[str, EditModel]
) -> Iterator[tuple[str, list[Cell]]]:
    """Yield a row for each model of an annotator's edits; the shares stand in the first."""
    for part, model in fitted.items():
        name = who if part == "edit" else f"{who}, {part}"
        edits = int(model.data.edits.sum())
        cells = int(model.data.trials.sum())
        yield name, [*shares, edits, cells, model.a, model.b, model.dispersion]
        shares = [None, None]


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


def _subjects_with_figures(agreement: AgreementFigures, start: str) -> list[Subject]:
    """Return the rows of annotators, of all of them too, with figures that start with a text."""
    rows = subjects(agreement)
    if len(agreement.annotators) > 2:
        rows.append(Subject("all annotators", together=agreement.together[0]))
    return [row for row in rows if any(name.startswith(start) for name in row.figures)]


def cell_tables(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the tables of kappa and AC1 over all cells, and over cells of different words."""
    if agreement.options.universe == "judged":
        whole = "Cells that both judged"
    else:
        whole = "All cells"
    for before, title, anchor in (
        ("", f"{whole}, one for each pair of a source and a target word", "cells"),
        (DIFFERENT, f"{whole} of different words", "different-cells"),
    ):
        people = _subjects_with_figures(agreement, f"{before}cells.")
        if not people:
            continue
        levels: dict[str, Rows] = {}
        for links in ("all", "possible", "sure"):
            levels[LINKS[links]] = [(row.name, list(_cells(row, before, links))) for row in people]
        yield _table(f"{title}: Cohen's kappa and Gwet's AC1", _CELLS, levels, anchor)


def _cells(subject: Subject, before: str, links: str) -> Iterator[Cell]:
    """Yield what stands in the columns `_CELLS`."""
    cells = None
    if subject.pairing is not None:
        section = subject.pairing.section(subject.section)
        cells = section.different if before else section.cells
    if cells is None:
        yield None
    else:
        yield getattr(cells, links).items
    at = f"{before}cells.{links}"
    yield subject.plain(f"{at}.prevalence")
    yield subject.cell(f"{at}.kappa")
    yield subject.cell(f"{at}.ac1")
    yield subject.plain(f"{at}.observed")


def alpha_tables(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the tables of Krippendorff's alpha for all links, and for different words."""
    columns = [Column(name, "decimal", key=key) for key, name in _DISTANCES.items()]
    for before, which, anchor in (
        ("", "", "alpha"),
        (DIFFERENT, ", links of equal words left out", "different-alpha"),
    ):
        people = _subjects_with_figures(agreement, f"{before}alpha.")
        if not people:
            continue
        levels: dict[str, list[tuple[str, list[Cell]]]] = {}
        for links in ("possible", "sure"):
            named = [f"{before}alpha.{links}.{distance}" for distance in _DISTANCES]
            rows = [(row.name, [row.cell(name) for name in named]) for row in people]
            levels[LINKS[links]] = rows
        title = f"Krippendorff's alpha over the set of target words of each source word{which}"
        yield _table(title, columns, levels, anchor)


def fleiss_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the table of Fleiss' kappa: a row for each group, and for the whole corpus."""
    if not any(together.fleiss for together in agreement.together):
        return
    numbers = range(len(agreement.annotators), 0, -1)
    columns = [
        Column("", key="section"),
        Column("pairs", "count"),
        Column("items", "count"),
        Column("kappa", "decimal"),
        Column("observed", "decimal"),
        Column("expected", "decimal"),
    ]
    columns += [Column(name, "percent", "% of judgements") for name in _SHARES]
    for n in numbers:
        heading = str(n) if n > 1 else "none"
        columns.append(Column(heading, "count", "n agree", f"agree_{n}"))
    whole, *groups = agreement.together
    rows: list[list[Cell]] = []
    for part in (*groups, whole):
        fleiss = part.fleiss
        if fleiss is None:
            cells: list[Cell] = [nan] * (len(columns) - 1)
        else:
            kappa = with_interval(fleiss.kappa, part.intervals.get("fleiss.kappa"))
            cells = [fleiss.pairs, fleiss.items, kappa, fleiss.observed, fleiss.expected]
            cells += [fleiss.categories[name] for name in _SHARES]
            cells += [fleiss.agreeing[n] for n in numbers]
        rows.append([part.name or "(none)", *cells])
    title = (
        "Fleiss' kappa of the source words proposed for each target word; items on which n agree"
    )
    yield Table(title, columns, rows, anchor="fleiss", ruled=False)


# links that nobody looked at
def unseen_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the table of the links that two annotators both kept without looking at them."""
    names = short_names(agreement.annotators)
    rows: list[list[Cell]] = []
    for two in agreement.of("annotators"):
        if two.unseen is None:
            continue
        figures: list[Cell] = []
        for links in _KINDS:
            without_unseen = two.unseen.f1[links]
            reason = NO_LINKS if isnan(without_unseen) else ""
            figures.append(Subject("", two).plain(f"words.{links}.f1"))
            figures.append(Value(without_unseen, reason=reason) if reason else without_unseen)
        rows.append([label(two, names), two.unseen.common, two.unseen.unseen, *figures])
    if not rows:
        return
    columns = [
        Column("", key="who"),
        Column("common", "count"),
        Column("unseen", "count"),
    ]
    for links, name in _KINDS.items():
        columns.append(Column("F1", "percent", f"{name} links", f"f1_{links}"))
        columns.append(Column("without", "percent", f"{name} links", f"f1_{links}_without_unseen"))
    title = "Common links that both kept without looking at them, and F1 without these"
    note = "unseen: accepted in bulk or by marking the pair as done; neither looked at the link"
    if agreement.options.ignore_identical:
        note += "; links of equal words left out"
    yield Table(title, columns, rows, note, anchor="unseen", ruled=False)


# the tables by name
def _words_table(agreement: AgreementFigures) -> Iterator[Table]:
    yield main_table(agreement, "words")


def _phrases_table(agreement: AgreementFigures) -> Iterator[Table]:
    yield main_table(agreement, "phrases")


def _chance_tables(agreement: AgreementFigures) -> Iterator[Table]:
    yield from models_tables(agreement)
    yield from pairs_table(agreement)


def _other_pairings_tables(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the tables of pairings that are not between annotators."""
    for kind in KINDS:
        if kind != "annotators":
            yield from pairings_tables(agreement, kind)


def _vote_tables(agreement: AgreementFigures) -> Sequence[Table]:
    return agreement.votes.tables() if agreement.votes else ()


TABLES: Mapping[str, Callable[[AgreementFigures], Iterable[Table]]] = {
    "words": _words_table,
    "phrases": _phrases_table,
    "pairings": pairings_tables,
    "chance": _chance_tables,
    "others": _other_pairings_tables,
    "cells": cell_tables,
    "alpha": alpha_tables,
    "fleiss": fleiss_table,
    "edits": edits_table,
    "unseen": unseen_table,
    "votes": _vote_tables,
}
"""The tables by name; `others` are pairings that are not between annotators.

The report alone has `groups_table` and `others_table`: they select from these.
"""

_MAIN = ("words", "phrases")
"""The main tables; `pairings` has all of their rows."""


def agreement_tables(agreement: AgreementFigures) -> list[Table]:
    """Return the tables with all figures, in reading order."""
    shown = list[Table]()
    for name, tables in TABLES.items():
        if name not in _MAIN:
            shown += tables(agreement)
    return shown
