"""The tables of an agreement; each function yields the tables that it can fill.

Under the heading of a level (all links, sure links) there is a row for every two annotators, for
each group of sentence pairs, and for a mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import isnan, nan

from alignkit._support.wording import visible
from alignkit.agreement.answer import CHANCE_NAMES, short_names
from alignkit.agreement.chance.correction import BOTH_EMPTY
from alignkit.agreement.chance.edits import EditModel
from alignkit.agreement.chance.models import CHANCE_MODELS, EditRates
from alignkit.agreement.chance.result import LEVELS, NO_INITIAL, OTHER_START, BeyondChanceSection
from alignkit.agreement.figures import DIFFERENT, KINDS, AgreementFigures, Pairing, without
from alignkit.agreement.options import CLOSED
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

_WIDTH = 100
MOST_PAIRINGS = 10  # with more pairings, a row is an annotator, with the mean over the others
_MOST_GROUPS = 10

Rows = Sequence[tuple[str, Sequence[Cell]]]  # the name of each row, and its cells


# the rows
@dataclass(frozen=True)
class Subject:
    """The subject of a row: a pairing in a section, or a mean over several pairings."""

    name: str  # what stands in the row
    pairing: Pairing | None = None  # the two; None for a mean
    section: str = "all"  # "all", or a group
    mean: Mapping[str, float] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def figures(self) -> Mapping[str, float]:
        """The figures by name."""
        if self.pairing is None:
            return self.mean
        return self.pairing.section(self.section).figures

    def cell(self, name: str) -> Cell:
        """Return a figure with its interval, or why there is none; None if unknown."""
        if (number := self.figures.get(name)) is None:
            return None
        if self.pairing is None:
            return value(number, without(number, self.left_out.get(name, 0)))
        if isnan(number) and (reason := _UNDEFINED.get(name.rpartition(".")[2])):
            return Value(number, reason=reason)
        return value(number, self.pairing.section(self.section).intervals.get(name))

    def plain(self, name: str) -> Cell:
        """Return a figure without its interval."""
        cell = self.cell(name)
        bare = isinstance(cell, Value) and self.pairing and not isnan(cell.value)
        if isinstance(cell, Value) and bare:
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
        if (part := self.chance(level, model)) is None:
            if self.pairing.beyond:
                unknown = self.pairing.no_edits
            else:
                unknown = "the words are not known"
            return Value(nan, reason=unknown)
        return value(part.C, part.undefined or part.interval or part.no_interval)


_UNDEFINED = {
    "precision": "the first marked nothing here",
    "recall": "the second marked nothing here",
    "f1": "neither marked anything here",
    "kappa": "both have all cells in one category, or there are no cells",
}
"""The reasons why a figure has no value, by statistic."""


def value(number: float, interval: Interval | str | None) -> Cell:
    """Combine a figure with its interval, or with the reason why there is none."""
    if isinstance(interval, Interval):
        return Value(number, interval.low, interval.high)
    if interval:
        return Value(number, reason=interval)
    return number


def subjects(agreement: AgreementFigures, kind: str = "annotators") -> list[Subject]:
    """Return the rows for a kind of pairings: groups, every two names, and their mean."""
    pairings = agreement.of(kind)
    names = short_names(agreement.annotators)
    rows = list[Subject]()
    no_mean: tuple[Mapping[str, float], Mapping[str, int]] = {}, {}
    (mean, left_out), *groups = (
        (part.mean, part.mean_left_out)
        if kind == "annotators"
        else (part.automatic, part.automatic_left_out)
        if kind == "automatic"
        else no_mean
        for part in agreement.together
    )
    for name, (of_group, missing) in zip(agreement.sections[1:], groups, strict=True):
        if len(pairings) == 1:
            rows.append(Subject(name or "(none)", pairings[0], name))
        elif of_group:
            rows.append(Subject(f"{name or '(none)'}, mean", None, name, of_group, missing))
    alone = len(pairings) == 1 and groups and kind == "annotators"
    rows += [Subject("all" if alone else label(two, names), two) for two in pairings]
    if len(pairings) > 1 and mean:
        rows.append(Subject("mean", mean=mean, left_out=left_out))
    return rows


def label(pairing: Pairing, names: Mapping[str, str] | None = None) -> str:
    """Return the name of a pairing in a row: "A ~ B", or "A ~ others" for a consensus."""
    first, second = ((names or {}).get(x, x) for x in (pairing.first, pairing.second))
    return f"{first} ~ {'others' if pairing.kind == 'consensus' else second}"


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
    keys = [column.key for column in table.columns]
    empty = [key for k, key in enumerate(keys) if all(row[k] is None for row in table.rows)]
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
    models = list(dict.fromkeys(two.chance for two in pairings if two.beyond))
    edits = [model for model in models if model != CLOSED]
    return list(dict.fromkeys([*models, *(["edit-strata"] if edits else [])]))


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
    """Return the table of words or phrase pairs; a full one has eq. 2 and three digits of C."""
    pairings = [row.pairing for row in rows if row.pairing]
    names = short_names(agreement.annotators)
    models = chance_models(pairings)
    given = all_given(pairings)
    digits = 3 if full else None
    columns = [
        Column("P", "percent", key="precision"),
        Column("R", "percent", key="recall"),
        Column("F1", "percent", key="f1"),
        *(
            Column(
                CHANCE_NAMES[model],
                "coefficient",
                key=f"C_{model}",
                digits=digits,
                latex=CHANCE_NAMES[model].replace("C", "$C$", 1),
            )
            for model in models
        ),
        Column(
            "kappa, given links" if given else "kappa",
            "coefficient",
            key="kappa",
            digits=digits,
            latex="kappa" if given else r"$\kappa$",
        ),
        Column("used", "count", latex="$n$"),
    ]
    more = ("eq2",) if unit == "words" and (full or len(rows) == 1) else ()
    levels = {
        LINKS[links]: [
            (row.name, list(_measures(agreement, row, f"{unit}.{links}", models, given)))
            for row in rows
        ]
        for links in ("possible", "sure", *more)
    }
    name, left_out = _UNITS[unit]
    notes = ["the second is the reference"]
    if agreement.options.ignore_identical:
        notes += [left_out]
    who = label(pairings[0], names) if len(pairings) == 1 else who
    title = f"{name}{f': {who}' if who else ''} ({'; '.join(notes)})"
    table = _table(title, columns, levels, anchor)
    if len(rows) == 1:  # whose name is in the title
        table = replace(table, rows=[[level, *cells] for level, ((_, cells),) in levels.items()])
    return _fitting(table, *([("kappa",), ("precision", "recall")] if narrow else []))


def _measures(
    agreement: AgreementFigures, row: Subject, level: str, models: Sequence[str], given: bool
) -> Iterator[Cell]:
    yield from (row.plain(f"{level}.precision"), row.plain(f"{level}.recall"))
    yield row.cell(f"{level}.f1")
    if level not in LEVELS:  # eq. 2
        yield from [None] * (len(models) + 2)
        return
    alone = len(models) == 1 and not row.pairing  # the only model has a mean
    for model in models:
        yield row.cell(f"{level}.C") if alone else row.corrected(level, model)
    if level.startswith("phrases"):
        yield None
    elif given and row.pairing and row.pairing.given:
        yield value(*row.pairing.given.kappa(level.partition(".")[2]))
    else:
        if agreement.options.ignore_identical:
            different = DIFFERENT
        else:
            different = ""
        yield row.plain(f"{different}{level.replace('words', 'cells')}.kappa")
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
    name, left_out = _UNITS[unit]
    notes = [left_out] if agreement.options.ignore_identical else []
    title = f"{name} ({'; '.join([*notes, 'all pairings: see the table pairings'])})"
    columns = [Column(x, "percent", "F1 with the others") for x in ("mean", "lowest", "highest")]
    levels = {
        LINKS[links]: [
            (short, _with_others(pairings, name, f"{unit}.{links}"))
            for name, short in names.items()
        ]
        for links in ("possible", "sure")
    }
    return _table(title, columns, levels, anchor)


def _with_others(pairings: Sequence[Pairing], who: str, level: str) -> list[float]:
    """Return the mean, lowest and highest F1 of one annotator with the others."""
    values = [
        two.sections[0].figures.get(f"{level}.f1", nan)
        for two in pairings
        if who in (two.first, two.second)
    ]
    known = [number for number in values if not isnan(number)]
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
    if rows := subjects(agreement, kind):
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
    used = dict(zip(agreement.sections, (part.used for part in agreement.together), strict=True))
    rows = [
        [row.name, *(row.cell(f"{level}.f1") for level in measures.values()), used[row.section]]
        for row in groups[:_MOST_GROUPS]
    ]
    columns = [Column(name, "percent") for name in measures]
    if agreement.options.ignore_identical:
        left_out = "equal words left out; "
    else:
        left_out = ""
    more = len(groups) - len(rows)
    rest = f"{more} more groups and C" if more > 0 else "C"
    title = f"By {agreement.by}: F1 ({left_out}{rest}: see the table pairings)"
    if rows:
        columns = [Column("", key="group"), *columns, Column("pairs", "count")]
        yield Table(title, columns, rows, anchor="groups", ruled=False)


def others_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield F1 of words of each annotator with adjudicated and automatic alignments."""
    which: dict[str, str] = {}
    names = short_names(agreement.annotators)
    rows: dict[str, dict[tuple[str, str], Cell]] = {name: {} for name in agreement.annotators}
    for two in (*agreement.of("adjudicated"), *agreement.of("automatic")):
        adjudicated = two.kind == "adjudicated"
        who, other = (two.first, two.second) if adjudicated else (two.second, two.first)
        if other == agreement.initial:
            automatic = "the initial one"
        else:
            automatic = "an automatic one"
        if adjudicated:
            which[other] = "the adjudicated one"
        else:
            which[other] = automatic
        for links in ("possible", "sure"):
            rows[who][other, links] = Subject("", two).cell(f"words.{links}.f1")
    if not which:
        return
    kinds = {"possible": "all", "sure": "sure"}
    keys = [(other, links) for other in which for links in kinds]
    *most, last = (f"{what} ({visible(other)})" for other, what in which.items())
    title = "Other alignments: F1 of words with "
    title += " and ".join([", ".join(most), last] if most else [last])
    columns = [Column(f"{other}, {kinds[links]}", "percent") for other, links in keys]
    wide = [[names[who], *map(cells.get, keys)] for who, cells in rows.items()]
    anchor = "other-alignments"
    table = Table(title, [Column("", key="who"), *columns], wide, anchor=anchor, ruled=False)
    if table.width > _WIDTH:  # then below each other
        columns = [Column(name, "percent") for name in kinds.values()]
        levels = {
            visible(other): [
                (names[who], [cells.get((other, links)) for links in kinds])
                for who, cells in rows.items()
            ]
            for other in which
        }
        table = _table(title, columns, levels, anchor)
    yield table


# chance: C by every model, the sentence pairs it stands on, and the edits
def models_tables(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the tables of C for every model of chance: of words, and of phrase pairs."""
    pairings = [pairing for pairing in agreement.pairings if pairing.beyond]
    models = [name for name in CHANCE_MODELS if any(name in two.beyond for two in pairings)]
    rows = [Subject(label(two, short_names(agreement.annotators)), two) for two in pairings]
    every = next(iter(LEVELS))
    missing = [
        {levels[every].left_out.get(reason, 0) for levels in pairing.beyond.values()}
        for pairing in pairings
        for reason in (NO_INITIAL, OTHER_START)
    ]
    note = f"{CLOSED}: over all sentence pairs that both annotated; the other models: over those "
    note += "with an initial alignment from which both started"
    for unit, (name, _) in _UNITS.items() if models else ():
        yield _table(
            f"C of {name.lower()} for every model of chance; compare only within a column",
            [Column(model, "decimal", digits=2) for model in models],
            {
                LINKS[links]: [
                    (row.name, [row.corrected(level, model) for model in models]) for row in rows
                ]
                for level, (_, links) in LEVELS.items()
                if level.startswith(unit)
            },
            f"models-{unit}",
            note if any(len(counts) > 1 for counts in missing) else "",
        )


def pairs_table(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the table of the sentence pairs behind C, with reasons for those left out."""
    pairings = [pairing for pairing in agreement.pairings if pairing.beyond]
    names = short_names(agreement.annotators)
    counted = dict[str, list[tuple[str, list[int]]]]()
    reasons: dict[str, Counter[tuple[str, str]]] = {BOTH_EMPTY: Counter()}
    for level, (_, links) in LEVELS.items():
        heading = f"{_UNITS[level.partition('.')[0]][0].lower()}, {LINKS[links]}"
        for two in pairings:
            part = two.main(level)
            who = label(two, names)
            counted.setdefault(heading, []).append((who, [part.pairs, part.used, part.one_sided]))
            for reason, count in part.left_out.items():  # who did not annotate does not matter
                if reason.startswith("not annotated"):
                    short = "not annotated"
                else:
                    short = reason
                reasons.setdefault(short, Counter())[heading, who] += count
    for heading, rows in counted.items():
        for who, counts in rows:
            counts += [gone[heading, who] for gone in reasons.values()]
    columns = [Column(name, "count") for name in ("all", "used", "one-sided")]
    columns += [Column(reason, "count", "left out", f"left_out_{reason}") for reason in reasons]
    title = "Sentence pairs that C is based on, and why others are left out; one-sided: only one "
    title += "annotator marked anything; counted as 0"
    if counted:
        yield _table(title, columns, counted, "pairs")


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
        both: list[Cell] = [rates[links, who].add, rates[links, who].delete]
        fitted = models.get((links, who), {})
        if not fitted:
            rows += [(who, [*both, *[None] * 5 * bool(models)])]
        for part, model in fitted.items():
            sizes = int(model.data.edits.sum()), int(model.data.trials.sum())
            name = who if part == "edit" else f"{who}, {part}"
            rows.append((name, [*both, *sizes, model.a, model.b, model.dispersion]))
            both = [None, None]
    title = "Edits of the initial alignment"
    note = "added: share of the empty cells; deleted: share of the initial links"
    columns = [Column("added", "percent", unit="%", digits=2)]
    columns.append(Column("deleted", "percent", unit="%"))
    if models:
        counts = agreement.options.reading == "count"
        if counts:
            linear = "expected edits"
        else:
            linear = "probability of an edit"
        chance = agreement.options.chance
        title += f", and the models of chance ({chance}): {linear} = a + b (N + M)"
        note += "; if the dispersion is above 2, the model fits badly"
        columns += [Column("edits", "count"), Column("of cells", "count", key="cells")]
        columns += [*(Column(x, "number") for x in "ab"), Column("dispersion", "decimal", digits=2)]
    yield _table(title, columns, levels, "edits", note)


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
    """Return the rows of annotators with figures that start with a text."""
    rows = subjects(agreement)
    return [row for row in rows if any(name.startswith(start) for name in row.figures)]


def cell_tables(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the tables of kappa and AC1 over all cells, and over cells of different words."""
    judged = agreement.options.universe == "judged"
    whole = "Cells that both judged" if judged else "All cells"
    for before, title, anchor in (
        ("", f"{whole}, one for each pair of a source and a target word", "cells"),
        (DIFFERENT, f"{whole} of different words", "different-cells"),
    ):
        if people := _with(agreement, f"{before}cells."):
            levels = {
                LINKS[links]: [(row.name, list(_cells(row, before, links))) for row in people]
                for links in ("all", "possible", "sure")
            }
            yield _table(f"{title}: Cohen's kappa and Gwet's AC1", _CELLS, levels, anchor)


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
    """Yield the tables of Krippendorff's alpha for all links, and for different words."""
    whole = agreement.together[0]
    columns = [Column(name, "decimal", key=key) for key, name in _DISTANCES.items()]
    for before, which, anchor in (
        ("", "", "alpha"),
        (DIFFERENT, ", links of equal words left out", "different-alpha"),
    ):
        if not (people := _with(agreement, f"{before}alpha.")):
            continue
        levels: dict[str, list[tuple[str, list[Cell]]]] = {}
        for links in ("possible", "sure"):
            at = {
                f"{links}.{distance}": f"{before}alpha.{links}.{distance}"
                for distance in _DISTANCES
            }
            rows = [(row.name, [*map(row.cell, at.values())]) for row in people]
            if len(agreement.annotators) > 2:
                joint = [
                    value(alpha.alpha, whole.intervals.get(level)) if alpha else nan
                    for name, level in at.items()
                    for alpha in (whole.alpha.get(f"{before}{name}"),)
                ]
                rows.append(("all annotators", joint))
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
    yield Table(
        ("Fleiss' kappa of the source words proposed for each target word; items on which n agree"),
        columns,
        rows,
        anchor="fleiss",
        ruled=False,
    )


# the tables by name
TABLES: Mapping[str, Callable[[AgreementFigures], Iterable[Table]]] = {
    "words": lambda agreement: [main_table(agreement, "words")],
    "phrases": lambda agreement: [main_table(agreement, "phrases")],
    "pairings": pairings_tables,
    "chance": lambda agreement: chain(models_tables(agreement), pairs_table(agreement)),
    "others": lambda agreement: chain.from_iterable(
        pairings_tables(agreement, kind) for kind in KINDS if kind != "annotators"
    ),
    "cells": cell_tables,
    "alpha": alpha_tables,
    "fleiss": fleiss_table,
    "edits": edits_table,
    "votes": lambda agreement: agreement.votes.tables() if agreement.votes else (),
}
"""The tables by name; `pairings` has all rows of the main ones."""


def agreement_tables(agreement: AgreementFigures) -> list[Table]:
    """Return the tables with all figures, in reading order."""
    asked = [tables for name, tables in TABLES.items() if name not in _UNITS]
    return [table for tables in asked for table in tables(agreement)]
