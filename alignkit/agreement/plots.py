"""The plots of an agreement: on a page, and in a file for a paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from alignkit._support.wording import how_many, visible
from alignkit.agreement.answer import AnswerWriter
from alignkit.agreement.chance.edits import EditModel
from alignkit.agreement.chance.models import CHANCE_MODELS
from alignkit.agreement.chance.result import LEVELS
from alignkit.agreement.disagreements import SHAPES, Disagreements
from alignkit.agreement.figures import DIFFERENT, AgreementFigures, Pairing, alpha_level
from alignkit.agreement.tables import label
from alignkit.scoring.link_classes import WORD_KINDS
from alignkit.show.canvas import Axis, Bar, Dots, KindShare, Marker, Span
from alignkit.show.cells import letters
from alignkit.show.charts import bars, dots, points, shares, spans
from alignkit.show.dot_plots import DotPanel, DotPlot, DotRow
from alignkit.stats.resampling import Interval
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.table import Table

LEVEL_TITLES = {level: f"{level.split('.')[0]}, {links}" for level, (_, links) in LEVELS.items()}
"""How the levels of C are called in figures."""

_BINS, _GROUPS = 30, 10
_PARTS = {
    "edit": "edits",
    "add": "added links",
    "delete": "deleted links",
    "add-equal": "added links of equal words",
    "delete-equal": "deleted links of equal words",
}


@dataclass(frozen=True)
class PairingPlot:
    """A figure: its title, the image as SVG, and a table of its numbers."""

    title: str
    image: str
    numbers: Table


def decimal(value: float) -> str:
    """Return a number as figures show it."""
    return Column("", "decimal").show(value).text


# histograms: the agreement of each sentence pair, and of the corpus in each sample of chance
def sentence_plots(name: str, pairing: Pairing) -> Iterator[PairingPlot]:
    """Draw how many sentence pairs have which observed agreement; nothing where none is used."""
    for level, title in LEVEL_TITLES.items():
        values = [row.observed for row in pairing.main(level).sentences if not row.left_out]
        if values:
            # those of 0 and of 1, which are many, have bars of their own
            inside = Counter(min(int(10 * value), 9) for value in values if 0 < value < 1)
            data = [Bar(-0.1, 0, values.count(0), "0")]
            for k in range(10):
                label = f"{'above 0' if k == 0 else k / 10} to {(k + 1) / 10}"
                data.append(Bar(k / 10, (k + 1) / 10, inside[k], label))
            data.append(Bar(1, 1.1, values.count(1), "1"))
            said = f"Observed agreement of {len(values)} sentence pairs, {pairing.name}, {title}"
            numbers = Table("Sentence pairs", [Column("agreement"), Column("pairs", "count")], ())
            units = "observed agreement of a sentence pair", "sentence pairs"
            yield _histogram(name, level, pairing, data, said, units, numbers)


def chance_plots(name: str, pairing: Pairing) -> Iterator[PairingPlot]:
    """Draw the agreements of the whole corpus that were sampled, and mark the observed one."""
    for level, title in LEVEL_TITLES.items():
        result = pairing.main(level)
        values = result.distribution[~np.isnan(result.distribution)]
        if len(values):
            said = f"Agreement by chance in {len(values)} samples, {pairing.name}, {title}"
            note = (
                f"mean {values.mean():.4f}, from {values.min():.4f} to {values.max():.4f}; "
                f"Monte-Carlo error of pi0 {result.pi0_error:.5f}"
            )
            columns = [Column("agreement"), Column("samples", "count")]
            data, units = _chance_bars(values, result.pi), ("agreement of the corpus", "samples")
            numbers = Table("Samples", columns, (), note)
            yield _histogram(name, level, pairing, data, said, units, numbers)


def _histogram(
    name: str, level: str, pairing: Pairing, data: list[Bar], said: str, units: tuple[str, str],
    numbers: Table,
) -> PairingPlot:  # fmt: skip
    result, (across, up) = pairing.main(level), units
    markers = [
        Marker(result.pi, f"pi {decimal(result.pi)}"),
        Marker(result.pi0, f"pi0 {decimal(result.pi0)}", dashed=True),
    ]
    place = f"{name}-{level.replace('.', '-')}"
    image = bars(place, said, data, markers, label=across, unit=up)
    rows: list[list[Cell]] = [[bar.label, bar.count] for bar in data]
    return PairingPlot(LEVEL_TITLES[level], image, replace(numbers, rows=rows))


def _chance_bars(values: NDArray[np.float64], pi: float) -> list[Bar]:
    """Count the samples in bars that are wide enough to be seen beside a pi far away."""
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-9:
        low, high = low - 0.005, high + 0.005
    reach = max(high, pi) - min(low, pi)
    bins = _BINS if isnan(reach) else max(8, round(_BINS * min(1, 1.6 * (high - low) / reach)))
    counts, edges = np.histogram(values, bins=bins, range=(low, high))
    ends = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
    return [Bar(start, end, count, f"{start:.4f} to {end:.4f}") for start, end, count in ends]


# what annotators changed in the initial alignment
def edit_plots(agreement: AgreementFigures) -> Iterator[PairingPlot]:
    """Draw what each annotator changed in the initial alignment, with the fitted models."""
    for links in ("possible", "sure"):
        models: dict[str, Mapping[str, EditModel]] = {}
        for pairing in agreement.of("annotators"):
            if pairing.chance in pairing.beyond:
                models.update(pairing.main(f"words.{links}").models)
        parts = dict.fromkeys(part for kept in models.values() for part in kept)
        every = [model for kept in models.values() for model in kept.values()]
        for part in parts:
            alike = {name: kept[part] for name, kept in models.items()}
            # the axes hold the data and lines of all annotators
            words = [n for model in every for n in model.data.words.tolist()] or [0]
            heights = [y for model in alike.values() for y in _heights(model)]
            heights += [y for model in alike.values() for _, y in _fitted_line(model)]
            whole, most = every[0].reading == "count", max(heights, default=0) or 1
            label = "words of the sentence pair, N + M"
            across = Axis(min(words) - 1, max(words) + 1, label, whole=True)
            up = Axis(0, most * 1.05, "edits" if whole else "edits / cells", whole=whole)
            for k, (name, model) in enumerate(alike.items()):
                title = f"{name}: {_PARTS.get(part, part)}, {links} links"
                data = Counter(zip(model.data.words.tolist(), _heights(model), strict=True))
                drawn = points(
                    f"edits-{links}-{part}-{k}", title, data, _fitted_line(model),
                    second=k % 2 == 1, across=across, up=up,
                )  # fmt: skip
                yield PairingPlot(title, drawn, _edit_table(model))


def _heights(model: EditModel) -> list[float]:
    edits, whole = model.data.edits, model.reading == "count"
    heights: list[float] = (
        edits.astype(np.float64) if whole else edits / model.data.trials
    ).tolist()
    return heights


def _fitted_line(model: EditModel) -> list[tuple[float, float]]:
    if not model.pairs or isnan(model.a):
        return []
    low, high = int(model.data.words.min()), int(model.data.words.max())
    across = np.linspace(low, high, 41)
    heights = np.maximum(model.a + model.b * across, 0)
    if model.reading == "probability":
        heights = np.minimum(heights, 1)
    return list(zip(across.tolist(), heights.tolist(), strict=True))


def _edit_table(model: EditModel) -> Table:
    words, trials, edits = model.data.words, model.data.trials, model.data.edits
    body: list[list[Cell]] = []
    if len(words):
        rates = model.rates(words, trials)
        low, high = int(words.min()), int(words.max())
        step = max(1, -(-(high - low + 1) // _GROUPS))
        for start in range(low, high + 1, step):
            inside = (words >= start) & (words < start + step)
            if inside.any():
                name = str(start) if step == 1 else f"{start} to {start + step - 1}"
                means = float(edits[inside].mean()), float((rates * trials)[inside].mean())
                body.append([name, int(inside.sum()), *means])
    value = "edits" if model.reading == "count" else "rate of edits"
    columns = [Column("N + M"), Column("pairs", "count")]
    columns += [Column(name, "decimal", digits=2) for name in ("observed", "fitted")]
    note = (
        f"{value} = {model.a:.4g} {'-' if model.b < 0 else '+'} {abs(model.b):.4g} (N + M); "
        f"log-likelihood {model.log_likelihood:.1f}; dispersion {decimal(model.dispersion)}; "
        f"{model.pairs} sentence pairs"
    )
    return Table("Mean edits", columns, body, note=note)


# kinds of links, and who has them
def kinds_plot(name: str, counted: Disagreements) -> PairingPlot:
    """Draw for each kind of link how many both have, and how many only one has."""
    first, second = counted.annotators
    A, B = letters(first, second)
    data, body = [], list[list[Cell]]()
    kinds = (*SHAPES, *(kind for kind in WORD_KINDS if kind in counted.kinds))
    for kind in kinds:
        outcome = counted.kinds[kind]
        counts = outcome.both, outcome.unsure, outcome.first, outcome.second
        data.append(KindShare(kind, counts))
        alone = outcome.alone / outcome.links if outcome.links else nan
        body.append([kind, outcome.links, *counts, alone])
    meanings = ("both alike, sure or possible", "sure for one, possible for the other",
                f"only {A} {first}", f"only {B} {second}")  # fmt: skip
    title = "Links by kind: who has them"
    names = ("links", "both alike", "unlike", f"only {A}", f"only {B}")
    columns = [Column("", key="kind"), *(Column(name, "count") for name in names)]
    columns.append(Column("% of one only", "percent"))
    table = Table(title, columns, body, apart=[len(SHAPES)])
    image = shares(name, f"{title}, {first} and {second}", data, meanings, ("", "", A, B))
    return PairingPlot(title, image, table)


# intervals of every coefficient
_KINDS = {
    "annotators": (0, "two annotators"),
    "adjudicated": (1, "an annotator and the adjudicated version"),
    "consensus": (2, "an annotator and the majority of the others"),
    "automatic": (3, "an automatic alignment and an annotator"),
}
_COEFFICIENTS = {
    level.format(links): f"{title}, {links}"
    for level, title in (("cells.{}.kappa", "kappa"), ("cells.{}.ac1", "AC1"),
                         ("alpha.{}.masi", "alpha (MASI)"))
    for links in ("possible", "sure")
}  # fmt: skip
_ROWS = 40
"""A figure with more rows is drawn level by level; the table has the rows that a level lacks."""

Levels = Sequence[tuple[str, list[Span]]]
"""For each level its title, and a value for each pairing."""


def interval_plots(agreement: AgreementFigures) -> Iterator[PairingPlot]:
    """Draw C, F1, kappa, AC1 and alpha of every pairing, and what all annotators have together."""
    scale, title = "0 as by chance, 1 in full", f"C, agreement beyond chance ({_model(agreement)})"
    yield from _figures("C", title, _beyond(agreement), "C: 0 as by chance")
    yield from _figures("f1", "F1", _overlap(agreement), "F1")
    pairings = [pairing for pairing in agreement.pairings if pairing.kind != "automatic"]
    coefficients = [  # over the items that take part in the other tables, too
        (title, _values(pairings, DIFFERENT + name) or _values(pairings, name))
        for name, title in _COEFFICIENTS.items()
    ]
    yield from _figures("coefficients", "Kappa, AC1 and alpha", coefficients, scale)
    yield from _figures("together", "All annotators together", _together(agreement), scale)


def _model(agreement: AgreementFigures) -> str:
    names = dict.fromkeys(pairing.chance for pairing in agreement.of("annotators"))
    return f"model of chance: {', '.join(names)}"


def _figures(name: str, title: str, levels: Levels, axis: str) -> Iterator[PairingPlot]:
    """Draw all levels in one figure, or, if that is too long, each in one of its own."""
    kept = [(level, values) for level, values in levels if values]
    if sum(len(values) for _, values in kept) > _ROWS:
        for k, (level, values) in enumerate(kept):
            yield _figure(f"{name}-{k}", f"{title}: {level}", [(level, values)], axis)
    elif kept:
        yield _figure(name, title, kept, axis)


def _figure(name: str, title: str, levels: Levels, axis: str) -> PairingPlot:
    data, rows, apart = list[Span](), list[list[Cell]](), []
    single = all(len(values) == 1 for _, values in levels)
    for level, values in levels:
        apart.append(len(rows))
        if not single and len(levels) > 1:
            data.append(Span(level, heading=True))
        data += [replace(span, label=level) if single else span for span in values[:_ROWS]]
        rows += [[level, span.label, Value(span.value, span.low, span.high)] for span in values]
    left = max(len(values) - _ROWS for _, values in levels)
    if left > 0:
        title += f" (the table has {left} more)"
    shapes = meanings(data, _KINDS.values())
    image = spans(f"intervals-{name}", title, data, label=axis, shapes=shapes)
    value = Column(axis.split(":", maxsplit=1)[0], "decimal", key="value")
    columns = [Column("level"), Column("who"), value]
    return PairingPlot(title, image, Table("", columns, rows, apart=apart[1:], stub=2))


def meanings(data: Iterable[Span], names: Iterable[tuple[int, str]]) -> dict[int, str]:
    """Return what the shapes mean, if there are several."""
    used = {span.shape for span in data if not span.heading}
    return {shape: text for shape, text in names if shape in used and len(used) > 1}


def _span(of: Pairing | None, value: float, interval: Interval | str | None) -> Span:
    name, shape = (label(of), _KINDS[of.kind][0]) if of else ("all annotators", 0)
    low, high = (interval.low, interval.high) if isinstance(interval, Interval) else (nan, nan)
    shown = Column("", "decimal").show(Value(value, low, high)).text
    return Span(name, value, low, high, "not defined" if isnan(value) else shown, shape)


def _beyond(agreement: AgreementFigures) -> Levels:
    """Return C by level; that of automatic alignments is by another model, and left out."""
    alike = {pairing.chance for pairing in agreement.of("annotators")}
    known = [
        two
        for two in agreement.pairings
        if two.chance in two.beyond and two.chance in alike and two.kind != "automatic"
    ]
    return [
        (title, [_span(two, two.main(level).C, two.main(level).interval) for two in known])
        for level, title in LEVEL_TITLES.items()
    ]


def _overlap(agreement: AgreementFigures) -> Levels:
    return [
        (title, _values(agreement.pairings, f"{level}.f1")) for level, title in LEVEL_TITLES.items()
    ]


def _values(pairings: Sequence[Pairing], name: str) -> list[Span]:
    wholes = [(two, two.sections[0]) for two in pairings if name in two.sections[0].figures]
    return [_span(two, whole.figures[name], whole.intervals.get(name)) for two, whole in wholes]


def _together(agreement: AgreementFigures) -> Levels:
    whole, levels = agreement.together[0], []
    if whole.fleiss is not None:
        interval = whole.intervals.get("fleiss.kappa")
        levels.append(("Fleiss' kappa", [_span(None, whole.fleiss.kappa, interval)]))
    for links in ("possible", "sure") if len(agreement.annotators) > 2 else ():
        names = [f"{DIFFERENT}{links}.masi", f"{links}.masi"]
        name = next((name for name in names if name in whole.alpha), None)
        if name is not None:
            interval = whole.intervals.get(alpha_level(name))
            alpha = _span(None, whole.alpha[name].alpha, interval)
            levels.append((f"alpha (MASI), {links}", [alpha]))
    return levels


def model_plots(agreement: AgreementFigures) -> Iterator[PairingPlot]:
    """Draw C under every model of chance; nothing where there is one model alone."""
    known = [two for two in agreement.pairings if two.beyond and two.kind != "automatic"]
    names = [name for name in CHANCE_MODELS if any(name in two.beyond for two in known)]
    if len(names) < 2:
        return
    levels = list(LEVEL_TITLES.items())
    groups = [levels] if len(known) * len(levels) <= _ROWS else [[level] for level in levels]
    for k, group in enumerate(groups):
        title = "C under every model of chance"
        title += f": {group[0][1]}" if len(groups) > 1 else ""
        data, rows, apart = list[Dots](), list[list[Cell]](), []
        for level, name in group:
            apart.append(len(rows))
            if len(known) > 1 and len(group) > 1:
                data.append(Dots(name, heading=True))
            for two in known[:_ROWS]:
                models = [two.beyond[model][level].C if model in two.beyond else nan
                          for model in names]  # fmt: skip
                data.append(Dots(name if len(known) == 1 else label(two), models))
                rows.append([name, label(two), *models])
        columns = [Column("level"), Column("who"), *(Column(name, "decimal") for name in names)]
        image = dots(f"models-{k}", title, data, names, label="C")
        yield PairingPlot(title, image, Table("", columns, rows, apart=apart[1:], stub=2))


# the figure for a paper
_UNITS = {"words": "words", "phrases": "phrase pairs"}
_SERIES = (("possible", "all links"), ("sure", "sure links"))
_MOST_PAIRINGS = 10
"""With more, a row is an annotator, with the mean of the pairings with the others."""


def agreement_plot(agreement: AgreementFigures) -> DotPlot:
    """Return the figure of F1, and of the C that the answer quotes, of all annotators."""
    writer = AnswerWriter(agreement)
    answer, pairings = writer.answer(), agreement.of("annotators")
    names, several = answer.names, len(pairings) > 1
    rows: dict[tuple[str, ...], list[Pairing]] = {
        (names[two.first], names[two.second]): [two] for two in pairings
    }
    if many := len(pairings) > _MOST_PAIRINGS:
        rows = {(names[who],): [two for two in pairings if who in (two.first, two.second)]
                for who in agreement.annotators}  # fmt: skip
    series = _SERIES if writer.weak else _SERIES[:1]
    drawn = [
        (unit, DotRow(who, unit) if several else DotRow((text,)), those)
        for unit, text in _UNITS.items()
        for who, those in rows.items()
    ]
    measures = {"F1 (%)": _f1}
    if answer.quoted:
        model = answer.quoted.model
        measures[answer.quoted.name] = lambda two, level: _chance(two, level, model)
    panels, undefined = list[DotPanel](), 0
    for name, measure in measures.items():
        values = [
            [_mean([measure(two, f"{unit}.{links}") for two in those]) for links, _ in series]
            for unit, _, those in drawn
        ]
        panel = DotPanel(name, [row for _, row, _ in drawn], values, percent="%" in name)
        panels += [panel] if panel.ends else []
        undefined += sum(isnan(value.value) for row in values for value in row)
    who = "; ".join(map(" ~ ".join, rows))
    caption = ["F1 (percent)"]
    if answer.quoted:
        caption.append(f" and {answer.quoted.name[:-1]}; model of chance: {answer.quoted.model})")
    caption.append(f" of words and phrase pairs in {writer.pairs} of sentences")
    caption.append(f", the mean of each with the others: {who}" if many else f": {who}")
    if len(series) > 1:
        caption.append("; filled circles: all links, open diamonds: sure links")
    caption.append("; links of equal words left out" * agreement.options.ignore_identical)
    lines = any(not isnan(x.low) for panel in panels for row in panel.values for x in row)
    percent = f"{100 * agreement.options.confidence:g}"
    caption.append(f"; lines: {percent}% of bootstrap resamples of sentence pairs" * lines)
    caption.append(f"; {how_many(undefined, 'value')} undefined, not drawn" if undefined else "")
    short = [f"{text} is {visible(name)}" for name, text in names.items() if text != name]
    caption.append(f"; {', '.join(short)}" if short else "")
    return DotPlot(panels, [text for _, text in series], f"{''.join(caption)}.")


def _f1(two: Pairing, level: str) -> Value:
    whole, name = two.sections[0], f"{level}.f1"
    return _bounded(whole.figures.get(name, nan), whole.intervals.get(name))


def _chance(two: Pairing, level: str, model: str) -> Value:
    part = two.part(level, "all", model)
    return _bounded(part.C, part.interval)


def _bounded(value: float, interval: Interval | str | None) -> Value:
    if isinstance(interval, Interval) and not isnan(value):
        return Value(value, interval.low, interval.high)
    return Value(value)


def _mean(values: Sequence[Value]) -> Value:
    """Return the only value; the mean of several, which has no interval."""
    known = [value.value for value in values if not isnan(value.value)]
    return values[0] if len(values) == 1 else Value(sum(known) / len(known) if known else nan)
