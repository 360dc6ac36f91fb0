"""Lay out how far annotators overlap, and how far beyond chance: phrase pairs, words, side by side.

Each function takes an agreement and yields the tables that it can fill.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan

from alignkit._support.wording import visible
from alignkit.agreement.chance.corpus import NO_INITIAL
from alignkit.agreement.chance.edits import EditModel
from alignkit.agreement.chance.expectation import BOTH_EMPTY
from alignkit.agreement.chance.models import CHANCE_MODELS, EditRates
from alignkit.agreement.chance.result import BeyondChance, BeyondChanceSection
from alignkit.agreement.kappa import CellAgreement
from alignkit.agreement.options import CLOSED
from alignkit.agreement.result import LEVELS, Agreement, Pairing, Together, without
from alignkit.stats.resampling import ONE_PAIR, UNDEFINED, Interval
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.table import Table

LINKS = {"possible": "poss", "sure": "sure", "eq2": "eq. 2", "all": "3-way"}
"""How kinds of links are called in tables."""

LEVEL_NAMES = {
    f"{unit}.{links}": f"{unit}, {LINKS[links]}"
    for unit in ("phrases", "words")
    for links in ("possible", "sure")
}
"""How the levels of C are called in tables."""

UNKNOWN_WORDS = "the words are not known"


@dataclass(frozen=True)
class Subject:
    """Whom a row is of: two who are compared, in a section, or a mean over several such."""

    name: str  # what stands in the row
    pairing: Pairing | None = None  # the two; None for a mean
    section: str = "all"  # "all", or a group
    mean: Mapping[str, float] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    def cell(self, name: str) -> Cell:
        """Return a figure with its interval, or the reason why there is none; None if unknown."""
        if self.pairing is None:
            mean = self.mean.get(name)
            return mean if mean is None else value(mean, without(mean, self.left_out.get(name, 0)))
        section = self.pairing.section(self.section)
        if name not in section.figures:
            return None
        return value(section.figures[name], section.intervals.get(name))

    def plain(self, name: str) -> Cell:
        """Return a figure without its interval."""
        found = self.cell(name)
        return found.value if isinstance(found, Value) and self.pairing else found

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
        part = self.chance(level, model)
        if part is None:
            why = self.pairing.no_edits if self.pairing.beyond else UNKNOWN_WORDS
            return Value(nan, reason=why)
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


def subjects(agreement: Agreement, kind: str) -> list[Subject]:
    """Return the rows for a kind of pairings: the groups, every two, and their mean."""
    return [*_groups(agreement, kind), *_whole(agreement, kind)]


def label(pairing: Pairing) -> str:
    """Name a pairing in a row; whoever is not the first is all of the consensus."""
    return f"{pairing.first} ~ others" if pairing.kind == "consensus" else pairing.name


def _groups(agreement: Agreement, kind: str) -> Iterator[Subject]:
    pairings, means = agreement.of(kind), _means(agreement, kind)
    for name, (mean, left_out) in zip(agreement.sections[1:], means[1:], strict=True):
        if len(pairings) == 1:
            yield Subject(name or "(none)", pairings[0], name)
        elif mean:
            yield Subject(f"{name or '(none)'}, mean", mean=mean, left_out=left_out)


def _whole(agreement: Agreement, kind: str) -> Iterator[Subject]:
    pairings, (mean, left_out) = agreement.of(kind), _means(agreement, kind)[0]
    alone = len(pairings) == 1 and len(agreement.sections) > 1 and kind == "annotators"
    for pairing in pairings:
        yield Subject("all" if alone else label(pairing), pairing)
    if len(pairings) > 1 and mean:
        yield Subject("mean", mean=mean, left_out=left_out)


def _means(agreement: Agreement, kind: str) -> list[tuple[Mapping[str, float], Mapping[str, int]]]:
    names = {"annotators": "mean", "automatic": "automatic"}
    if kind not in names:
        return [({}, {}) for _ in agreement.together]
    name = names[kind]
    return [
        (getattr(together, name), getattr(together, f"{name}_left_out"))
        for together in agreement.together
    ]


def chance_of(pairings: Sequence[Pairing]) -> str:
    """Name the model of chance in the tables of some pairings."""
    return ", ".join(dict.fromkeys(pairing.chance for pairing in pairings))


def identical(agreement: Agreement) -> str:
    """Return whether identical items take part."""
    return "left out" if agreement.options.ignore_identical else "included"


def apart(rows: int, blocks: int) -> range:
    """Return where blocks of so many rows begin, to be set apart; single rows are not."""
    return range(rows, rows * blocks, rows) if rows > 1 else range(0)


def grouped(
    title: str,
    names: Sequence[str],
    columns: Iterable[Column],
    rows: Sequence[Sequence[Cell]],
    anchor: str,
    groups: Sequence[int],
    note: str = "",
) -> Table:
    """Return a table of rows with two names, set apart in groups."""
    heads = [Column("", key=name) for name in names]
    return Table(title, [*heads, *columns], rows, note, anchor, groups, len(heads), ruled=False)


def known(numbers: Sequence[float]) -> list[float]:
    """Return the numbers that are defined."""
    return [number for number in numbers if not isnan(number)]


_DISTANCES = {"jaccard": "Jaccard", "dice": "Dice", "masi": "MASI"}
_SHARES = ("null", "possible", "sure")
_CELLS = (
    Column("cells", "count"),
    Column("% linked", "percent", key="prevalence"),
    Column("kappa", "decimal"),
    Column("AC1", "decimal", key="ac1"),
    Column("observed", "decimal"),
)


def cell_tables(agreement: Agreement) -> Iterator[Table]:
    """Yield the tables of kappa and AC1: over all cells, and over those of different words."""
    judged = agreement.options.universe == "judged"
    whole = "Cells that both judged" if judged else "All cells"
    for before, title, anchor in (
        ("", f"{whole}, one for each source word with each target word", "cells"),
        ("different.", f"{whole} of different words", "different-cells"),
    ):
        people = _with(subjects(agreement, "annotators"), f"{before}cells.")
        if not people:
            continue
        rows = [
            [LINKS[links], subject.name, *_cells(subject, before, links)]
            for links in ("all", "possible", "sure")
            for subject in people
        ]
        heading = f"{title}: Cohen's kappa and Gwet's AC1"
        yield grouped(heading, ("links", "who"), _CELLS, rows, anchor, apart(len(people), 3))


def _cells(subject: Subject, before: str, links: str) -> Iterator[Cell]:
    cells: CellAgreement | None = None
    if subject.pairing is not None:
        section = subject.pairing.section(subject.section)
        cells = section.different if before else section.cells
    yield getattr(cells, links).items if cells else None
    yield subject.plain(f"{before}cells.{links}.prevalence")
    yield subject.cell(f"{before}cells.{links}.kappa")
    yield subject.cell(f"{before}cells.{links}.ac1")
    yield subject.plain(f"{before}cells.{links}.observed")


def _with(people: list[Subject], start: str) -> list[Subject]:
    """Return the rows that have figures whose names start so."""

    def names(subject: Subject) -> Mapping[str, float]:
        if subject.pairing is None:
            return subject.mean
        return subject.pairing.section(subject.section).figures

    return [subject for subject in people if any(name.startswith(start) for name in names(subject))]


def alpha_tables(agreement: Agreement) -> Iterator[Table]:
    """Yield the tables of Krippendorff's alpha: of all links, and of those of different words."""
    for before, which, anchor in (
        ("", "", "alpha"),
        ("different.", ", links of equal words left out", "different-alpha"),
    ):
        people = _with(subjects(agreement, "annotators"), f"{before}alpha.")
        if not people:
            continue
        rows: list[list[Cell]] = []
        starts = []
        for links in ("possible", "sure"):
            starts.append(len(rows))
            names = [f"{before}alpha.{links}.{distance}" for distance in _DISTANCES]
            rows += [[LINKS[links], one.name, *map(one.cell, names)] for one in people]
            if len(agreement.annotators) > 2:
                joint = _joint(agreement.together[0], before, links)
                rows.append([LINKS[links], "all annotators", *joint])
        title = f"Krippendorff's alpha, the set of target words of each source word{which}"
        columns = [Column(name, "decimal", key=key) for key, name in _DISTANCES.items()]
        groups = starts[1:] if len(rows) > len(starts) else ()
        yield grouped(title, ("links", "who"), columns, rows, anchor, groups)


def _joint(together: Together, before: str, links: str) -> Iterator[Cell]:
    for distance in _DISTANCES:
        found = together.alpha.get(f"{before}{links}.{distance}")
        interval = together.intervals.get(f"{before}alpha.{links}.{distance}")
        yield value(found.alpha, interval) if found else nan


def fleiss_table(agreement: Agreement) -> Iterator[Table]:
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
    first, *groups = agreement.together
    yield Table(
        "Fleiss' kappa, the source words proposed for each target word; on how many items n agree",
        columns,
        [[one.name or "(none)", *_fleiss(one, len(columns) - 1)] for one in (*groups, first)],
        anchor="fleiss",
        ruled=False,
    )


def _fleiss(together: Together, width: int) -> list[Cell]:
    found = together.fleiss
    if found is None:
        return [nan] * width
    return [
        found.pairs,
        found.items,
        value(found.kappa, together.intervals.get("fleiss.kappa")),
        found.observed,
        found.expected,
        *(found.categories[name] for name in _SHARES),
        *(found.agreeing[n] for n in range(found.annotators, 0, -1)),
    ]


_UNITS = {"phrases": "Phrase pairs", "words": "Words"}
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
_OF_PAIRS = (
    "sentence pairs: used for C; left out, as both have nothing (empty); used, though one of the "
    "two has nothing, which counts as 0 (one-sided)"
)
_EQ2 = "eq. 2: the sure links of each with all links of the other"


def main_tables(agreement: Agreement) -> Iterator[Table]:
    """Yield the tables of phrase pairs and of words: a row for each two, and for each group."""
    yield from _unit_tables(agreement, "annotators", "")


def compared_tables(agreement: Agreement) -> Iterator[Table]:
    """Yield such tables for each other kind of pairings: whom annotators are compared with."""
    for kind, name in _KINDS.items():
        who = f" ({visible(agreement.adjudicated or '')})" if kind == "adjudicated" else ""
        yield from _unit_tables(agreement, kind, f"{name}{who}: ")


def _unit_tables(agreement: Agreement, kind: str, title: str) -> Iterator[Table]:
    rows = subjects(agreement, kind)
    for unit, name in _UNITS.items() if rows else ():
        levels = {level: LINKS[level.split(".")[1]] for level in _OVERLAPS if unit in level}
        yield grouped(
            f"{title}{name.lower() if title else name}, identical ones {identical(agreement)}; the "
            f"second is the reference; chance: {chance_of(agreement.of(kind))}",
            ("links", "who"),
            _COLUMNS,
            [
                [links, subject.name, *_measures(subject, level)]
                for level, links in levels.items()
                for subject in rows
            ],
            unit if kind == "annotators" else f"{kind}-{unit}",
            apart(len(rows), len(levels)),
            _note(agreement, kind, unit),
        )


def _note(agreement: Agreement, kind: str, unit: str) -> str:
    if kind == "consensus":
        both = ": here what both have" if len(agreement.annotators) == 3 else ""
        return f"others: the links that more than half of the other annotators have{both}"
    if kind == "annotators":
        return _OF_PAIRS if unit == "phrases" else _EQ2
    return ""


def _measures(subject: Subject, level: str) -> Iterator[Cell]:
    yield subject.plain(f"{level}.precision")
    yield subject.plain(f"{level}.recall")
    yield subject.cell(f"{level}.f1")
    if level not in LEVEL_NAMES:
        yield from (None, None, None, None)  # there is no C
        return
    yield subject.corrected(level)
    part = subject.chance(level)
    yield from (part.used, part.both_empty, part.one_sided) if part else (None, None, None)


def precision_recall(agreement: Agreement) -> Iterator[Table]:
    """Yield the table of precision and recall with their intervals; none without intervals."""
    if agreement.options.bootstrap == "none":
        return
    people = subjects(agreement, "annotators")
    columns = [
        Column(name, "percent", span, f"{unit}_{measure}")
        for unit, span in (("phrases", "phrase pairs"), ("words", "words"))
        for name, measure in (("P", "precision"), ("R", "recall"))
    ]
    measures = [(unit, name) for unit in _UNITS for name in ("precision", "recall")]
    rows = [
        [LINKS[links], one.name, *(one.cell(f"{unit}.{links}.{name}") for unit, name in measures)]
        for links in ("possible", "sure", "eq2")
        for one in people
    ]
    title = f"Precision and recall with their intervals, identical ones {identical(agreement)}"
    groups = apart(len(people), len(rows) // max(len(people), 1))
    yield grouped(title, ("links", "who"), columns, rows, "precision-recall", groups)


def side_by_side(agreement: Agreement) -> Iterator[Table]:
    """Yield the table of all statistics of annotators, over the same items."""
    people = [one for one in subjects(agreement, "annotators") if one.section == "all"]
    several = len(agreement.sections) > 1 and len(agreement.of("annotators")) > 1
    people = people[len(agreement.sections) - 1 :] if several else people
    names = ("F1", "pi", "pi0", "C", "kappa", "AC1", "alpha")
    columns = [Column("used", "count")]
    columns += [Column(name, "decimal", key=name.lower() if name != "C" else "C") for name in names]
    rows = [
        [name, subject.name, *_statistics(agreement, subject, level)]
        for level, name in LEVEL_NAMES.items()
        for subject in people
    ]
    same = ", all over the same items" if agreement.options.universe == "all" else ""
    title = (
        f"Side by side{same}: identical ones {identical(agreement)}; "
        f"chance: {chance_of(agreement.of('annotators'))}"
    )
    groups, note = apart(len(people), len(LEVEL_NAMES)), _explain(agreement)
    yield grouped(title, ("level", "who"), columns, rows, "side-by-side", groups, note)


def _statistics(agreement: Agreement, subject: Subject, level: str) -> Iterator[Cell]:
    part = subject.chance(level)
    yield part.used if part else None
    yield subject.plain(f"{level}.f1")
    for name in ("pi", "pi0"):
        yield getattr(part, name) if part else subject.mean.get(f"{level}.{name}")
    c = subject.corrected(level)
    yield c.value if isinstance(c, Value) else c
    unit, links = level.split(".")
    items = "different." if agreement.options.ignore_identical else ""
    keys = (f"cells.{links}.kappa", f"cells.{links}.ac1", f"alpha.{links}.masi")
    for key in keys:
        yield subject.plain(items + key) if unit == "words" else None


def _explain(agreement: Agreement) -> str:
    options = agreement.options
    size = "smaller" if options.normalizer == "min" else "larger"
    if options.aggregate == "macro":
        pi = f"the mean over the pairs used of what the two share, divided by the {size} set"
    else:
        pi = f"what the two share in the pairs used, divided by the sum of the {size} sets"
    full = "the two have the same sets"
    if options.normalizer == "min":
        full = "all of the smaller of the two sets is in the other"
        if options.aggregate == "macro":  # one empty set counts as 0 there
            full = "neither set is empty, and all of the smaller one is in the other"
    cells = "cell of different words" if options.ignore_identical else "cell"
    if options.universe == "judged":
        cells += " that both judged"
    items = "different.cells" if options.ignore_identical else "cells"
    mean = agreement.together[0].mean
    shares = [mean.get(f"{items}.{links}.prevalence") for links in ("possible", "sure")]
    linked = ", of which {}% are linked".format(
        "/".join(Column("", "percent").show(share).text for share in shares)
    )
    return (
        f"pi: {pi}. pi0: the same by chance. C = (pi - pi0) / (1 - pi0): 0 where they agree as by "
        f"chance, 1 where in every pair used {full}. kappa, AC1: every {cells}"
        f"{linked if None not in shares else ''}. alpha (MASI): the set of target words of each "
        f"source word{', links of equal words left out' if options.ignore_identical else ''}."
    )


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
