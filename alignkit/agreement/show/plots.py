"""Draw the values of all pairings with their intervals: on a page, and in a file for a paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

import numpy as np

from alignkit._support.values import FrozenMap
from alignkit.agreement.chance.edits import EditModel
from alignkit.agreement.chance.models import CHANCE_MODELS
from alignkit.agreement.chance.result import BeyondChance
from alignkit.agreement.result import LEVELS, Agreement, Pairing
from alignkit.agreement.show.disagreements import SHAPES, Disagreements
from alignkit.agreement.show.tables import label as who
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing_bytes
from alignkit.scoring.link_classes import WORD_KINDS
from alignkit.show.canvas import Axis, Bar, Dots, KindShare, Marker, Panel, Span, ending
from alignkit.show.cells import letters
from alignkit.show.charts import bars, dots, panels, points, shares, spans
from alignkit.stats.resampling import Interval
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.table import Table

LEVEL_TITLES = {level: f"{level.split('.')[0]}, {links}" for level, (_, links) in LEVELS.items()}
"""How the levels of C are called in figures."""

_BINS = 30
_GROUPS = 10
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


def sentence_plots(name: str, pairing: Pairing) -> Iterator[PairingPlot]:
    """Draw how many sentence pairs have which observed agreement; nothing where none is used."""
    for level, title in LEVEL_TITLES.items():
        result = pairing.main(level)
        values = [row.observed for row in result.sentences if not row.left_out]
        if values:
            said = f"Observed agreement of {len(values)} sentence pairs, {pairing.name}, {title}"
            label = "observed agreement of a sentence pair"
            numbers = Table("Sentence pairs", [Column("agreement"), Column("pairs", "count")], ())
            data = _sentence_bars(values)
            yield _histogram(name, level, result, data, said, label, "sentence pairs", numbers)


def _histogram(
    name: str,
    level: str,
    result: BeyondChance,
    data: list[Bar],
    said: str,
    label: str,
    unit: str,
    numbers: Table,
) -> PairingPlot:
    markers = [
        Marker(result.pi, f"pi {decimal(result.pi)}"),
        Marker(result.pi0, f"pi0 {decimal(result.pi0)}", dashed=True),
    ]
    place = f"{name}-{level.replace('.', '-')}"
    image = bars(place, said, data, markers, label=label, unit=unit)
    rows: list[list[Cell]] = [[bar.label, bar.count] for bar in data]
    return PairingPlot(LEVEL_TITLES[level], image, replace(numbers, rows=rows))


def _sentence_bars(values: list[float]) -> list[Bar]:
    """Count values in ten parts; those of 0 and of 1, which are many, have bars of their own."""
    inside = Counter(min(int(10 * value), 9) for value in values if 0 < value < 1)
    middle = [
        Bar(k / 10, (k + 1) / 10, inside[k], f"{'above 0' if k == 0 else k / 10} to {(k + 1) / 10}")
        for k in range(10)
    ]
    ends = Bar(-0.1, 0, values.count(0), "0"), Bar(1, 1.1, values.count(1), "1")
    return [ends[0], *middle, ends[1]]


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
            numbers = Table("Samples", columns, (), note)
            data = _chance_bars(values, result.pi)
            label = "agreement of the corpus"
            yield _histogram(name, level, result, data, said, label, "samples", numbers)


def _chance_bars(values: np.ndarray[tuple[int], np.dtype[np.float64]], pi: float) -> list[Bar]:
    """Count the samples in bars that are wide enough to be seen beside a pi far away."""
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-9:
        low, high = low - 0.005, high + 0.005
    reach = max(high, pi) - min(low, pi)
    bins = _BINS if isnan(reach) else max(8, round(_BINS * min(1, 1.6 * (high - low) / reach)))
    counts, edges = np.histogram(values, bins=bins, range=(low, high))
    ends = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
    return [Bar(start, end, count, f"{start:.4f} to {end:.4f}") for start, end, count in ends]


def edit_plots(agreement: Agreement) -> Iterator[PairingPlot]:
    """Draw what each annotator changed in the initial alignment, with the fitted models."""
    for links in ("possible", "sure"):
        models: dict[str, FrozenMap[str, EditModel]] = {}
        for pairing in agreement.of("annotators"):
            if pairing.chance in pairing.beyond:
                models.update(pairing.main(f"words.{links}").models)
        parts = dict.fromkeys(part for kept in models.values() for part in kept)
        every = [model for kept in models.values() for model in kept.values()]
        for part in parts:
            alike = {name: kept[part] for name, kept in models.items()}
            across, up = _edit_axes(every, list(alike.values()))
            for k, (name, model) in enumerate(alike.items()):
                title = f"{name}: {_PARTS.get(part, part)}, {links} links"
                data = Counter(zip(model.data.words.tolist(), _heights(model), strict=True))
                drawn = points(
                    f"edits-{links}-{part}-{k}", title, data, _fitted_line(model),
                    second=k % 2 == 1, across=across, up=up,
                )  # fmt: skip
                yield PairingPlot(title, drawn, _edit_table(model))


def _heights(model: EditModel) -> list[float]:
    if model.reading == "count":
        return [float(count) for count in model.data.edits.tolist()]
    shares: list[float] = (model.data.edits / model.data.trials).tolist()
    return shares


def _edit_axes(every: list[EditModel], alike: list[EditModel]) -> tuple[Axis, Axis]:
    """Return axes that hold the data and lines of all annotators."""
    words = [n for model in every for n in model.data.words.tolist()] or [0]
    heights = [y for model in alike for y in _heights(model)]
    heights += [y for model in alike for _, y in _fitted_line(model)]
    whole = alike[0].reading == "count"
    across = Axis(min(words) - 1, max(words) + 1, "words of the sentence pair, N + M", whole=True)
    most = max(heights, default=0) or 1
    return across, Axis(0, most * 1.05, "edits" if whole else "edits / cells", whole=whole)


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
    columns = [
        Column("N + M"),
        Column("pairs", "count"),
        Column("observed", "decimal", digits=2),
        Column("fitted", "decimal", digits=2),
    ]
    note = (
        f"{value} = {model.a:.4g} {'-' if model.b < 0 else '+'} {abs(model.b):.4g} (N + M); "
        f"log-likelihood {model.log_likelihood:.1f}; dispersion {decimal(model.dispersion)}; "
        f"{model.pairs} sentence pairs"
    )
    return Table("Mean edits", columns, body, note=note)


def kinds_plot(name: str, found: Disagreements) -> PairingPlot:
    """Draw for each kind of link how many both have, and how many only one has."""
    first, second = found.annotators
    one_letter, other_letter = letters(first, second)
    data, body = [], list[list[Cell]]()
    kinds = (*SHAPES, *(kind for kind in WORD_KINDS if kind in found.kinds))
    for kind in kinds:
        one = found.kinds[kind]
        counts = one.both, one.unsure, one.first, one.second
        data.append(KindShare(kind, counts))
        body.append([kind, one.links, *counts, one.alone / one.links if one.links else nan])
    meanings = (
        "both alike, sure or possible",
        "sure for one, possible for the other",
        f"only {one_letter} {first}",
        f"only {other_letter} {second}",
    )
    title = "Links by kind: who has them"
    columns = [
        Column(text, "count")
        for text in ("links", "both alike", "unlike", f"only {one_letter}", f"only {other_letter}")
    ]
    columns = [Column("", key="kind"), *columns, Column("% of one only", "percent")]
    table = Table(title, columns, body, apart=[len(SHAPES)])
    signs = "", "", one_letter, other_letter
    image = shares(name, f"{title}, {first} and {second}", data, meanings, signs)
    return PairingPlot(title, image, table)


_KINDS = {
    "annotators": (0, "two annotators"),
    "adjudicated": (1, "an annotator and the adjudicated version"),
    "consensus": (2, "an annotator and the majority of the others"),
    "automatic": (3, "an automatic alignment and an annotator"),
}
_COEFFICIENTS = {
    "cells.possible.kappa": "kappa, possible",
    "cells.sure.kappa": "kappa, sure",
    "cells.possible.ac1": "AC1, possible",
    "cells.sure.ac1": "AC1, sure",
    "alpha.possible.masi": "alpha (MASI), possible",
    "alpha.sure.masi": "alpha (MASI), sure",
}
_ROWS = 40
"""A figure with more rows is drawn level by level."""
_MOST = 40

Rows = Sequence[tuple[str, list[Span]]]
"""For each level its title, and a value for each pairing."""


def interval_plots(agreement: Agreement) -> Iterator[PairingPlot]:
    """Draw C, F1, kappa, AC1 and alpha of every pairing, and what all annotators have together."""
    chance = _beyond(agreement)
    if any(values for _, values in chance):
        title = f"C, agreement beyond chance ({_model(agreement)})"
        yield from _figures("C", title, chance, "C: 0 as by chance")
    yield from _figures("f1", "F1", _overlap(agreement), "F1")
    yield from _figures(
        "coefficients",
        "Kappa, AC1 and alpha",
        _coefficients(agreement),
        "0 as by chance, 1 in full",
    )
    yield from _figures(
        "together", "All annotators together", _together(agreement), "0 as by chance, 1 in full"
    )


def _model(agreement: Agreement) -> str:
    names = dict.fromkeys(one.chance for one in agreement.of("annotators"))
    return f"model of chance: {', '.join(names)}"


def _figures(name: str, title: str, levels: Rows, label: str) -> Iterator[PairingPlot]:
    """Draw all levels in one figure, or, where that is too long, each in one of its own."""
    kept = [(level, values) for level, values in levels if values]
    if not kept:
        return
    if sum(len(values) for _, values in kept) <= _ROWS:
        yield _figure(name, title, kept, label)
        return
    for k, one in enumerate(kept):
        yield _figure(f"{name}-{k}", f"{title}: {one[0]}", [one], label)


def _figure(name: str, title: str, levels: Rows, label: str) -> PairingPlot:
    data, rows, apart = list[Span](), list[list[Cell]](), []
    single = all(len(values) == 1 for _, values in levels)
    for level, values in levels:
        apart.append(len(rows))
        if not single and len(levels) > 1:
            data.append(Span(level, heading=True))
        for one in values[:_MOST]:
            data.append(_relabelled(one, level) if single else one)
        rows += [[level, one.label, Value(one.value, one.low, one.high)] for one in values]
    used = sorted({one.shape for one in data if not one.heading})
    meanings = {shape: text for shape, text in _KINDS.values() if shape in used}
    columns = [
        Column("level"),
        Column("who"),
        Column(label.split(":", maxsplit=1)[0], "decimal", key="value"),
    ]
    left = max(len(values) - _MOST for _, values in levels)
    if left > 0:
        title += f" (the table has {left} more)"
    image = spans(
        f"intervals-{name}", title, data, label=label, shapes=meanings if len(used) > 1 else {}
    )
    return PairingPlot(title, image, Table("", columns, rows, apart=apart[1:], stub=2))


def _relabelled(one: Span, label: str) -> Span:
    return Span(label, one.value, one.low, one.high, one.note, one.shape)


def _span(pairing: Pairing, value: float, found: Interval | str | None) -> Span:
    low, high = (found.low, found.high) if isinstance(found, Interval) else (nan, nan)
    shape = _KINDS[pairing.kind][0]
    return Span(who(pairing), value, low, high, _note(value, low, high), shape)


def _note(value: float, low: float, high: float) -> str:
    if isnan(value):
        return "not defined"
    return Column("", "decimal").show(Value(value, low, high)).text


def _beyond(agreement: Agreement) -> Rows:
    """Return C by level; that of automatic alignments is by another model, and left out."""
    known = [one for one in agreement.pairings if one.chance in one.beyond]
    alike = {one.chance for one in agreement.of("annotators")}
    known = [one for one in known if one.chance in alike and one.kind != "automatic"]
    return [
        (title, [_span(one, one.main(level).C, one.main(level).interval) for one in known])
        for level, title in LEVEL_TITLES.items()
    ]


def _overlap(agreement: Agreement) -> Rows:
    return [
        (title, list(_values(agreement.pairings, f"{level}.f1")))
        for level, title in LEVEL_TITLES.items()
    ]


def _coefficients(agreement: Agreement) -> Rows:
    """Return the coefficients over the items that take part in the other tables, too."""
    pairings = [one for one in agreement.pairings if one.kind != "automatic"]
    found = []
    for name, title in _COEFFICIENTS.items():
        values = list(_values(pairings, f"different.{name}"))
        found.append((title, values or list(_values(pairings, name))))
    return found


def _values(pairings: Sequence[Pairing], name: str) -> Iterator[Span]:
    for one in pairings:
        whole = one.sections[0]
        if name in whole.figures:
            yield _span(one, whole.figures[name], whole.intervals.get(name))


def _together(agreement: Agreement) -> Rows:
    whole = agreement.together[0]
    found: list[tuple[str, float, Interval | str | None]] = []
    if whole.fleiss is not None:
        found.append(("Fleiss' kappa", whole.fleiss.kappa, whole.intervals.get("fleiss.kappa")))
    for links in ("possible", "sure"):
        names = [f"different.{links}.masi", f"{links}.masi"]
        name = next((one for one in names if one in whole.alpha), None)
        if name is not None and len(agreement.annotators) > 2:
            key = f"alpha.{name}".replace("alpha.different.", "different.alpha.")
            value = whole.alpha[name].alpha
            found.append((f"alpha (MASI), {links}", value, whole.intervals.get(key)))
    rows = []
    for title, value, interval in found:
        low, high = (interval.low, interval.high) if isinstance(interval, Interval) else (nan, nan)
        rows.append((title, [Span("all annotators", value, low, high, _note(value, low, high))]))
    return rows


def model_plots(agreement: Agreement) -> Iterator[PairingPlot]:
    """Draw C under every model of chance; nothing where there is one model alone."""
    known = [one for one in agreement.pairings if one.beyond and one.kind != "automatic"]
    names = [name for name in CHANCE_MODELS if any(name in one.beyond for one in known)]
    if len(names) < 2:
        return
    levels = [(title, [(one, _by_model(one, level, names)) for one in known[:_MOST]])
              for level, title in LEVEL_TITLES.items()]  # fmt: skip
    groups = [levels] if len(known) * len(levels) <= _ROWS else [[one] for one in levels]
    for k, group in enumerate(groups):
        title = "C under every model of chance"
        title += f": {group[0][0]}" if len(groups) > 1 else ""
        data, rows, apart = list[Dots](), list[list[Cell]](), []
        for level, values in group:
            apart.append(len(rows))
            if len(known) > 1 and len(group) > 1:
                data.append(Dots(level, heading=True))
            for one, found in values:
                data.append(Dots(level if len(known) == 1 else who(one), found))
                rows.append([level, who(one), *found])
        columns = [Column("level"), Column("who"), *(Column(name, "decimal") for name in names)]
        yield PairingPlot(
            title,
            dots(f"models-{k}", title, data, names, label="C"),
            Table("", columns, rows, apart=apart[1:], stub=2),
        )


def _by_model(pairing: Pairing, level: str, names: Sequence[str]) -> list[float]:
    return [pairing.beyond[name][level].C if name in pairing.beyond else nan for name in names]


def draw_plots(agreement: Agreement, path: str) -> None:
    """Write a figure for a paper: C and F1 with their intervals, by level and pairing."""
    kind = ending(path)
    parts: Mapping[str, tuple[str, Rows]] = {
        f"C, beyond chance ({_model(agreement)})": ("C: 0 as by chance", _beyond(agreement)),
        "F1": ("F1", [
            (title, [one for one in values if one.shape != _KINDS["automatic"][0]])
            for title, values in _overlap(agreement)
        ]),
    }  # fmt: skip
    data, used = [], set[int]()
    for title, (label, levels) in parts.items():
        rows: list[Span] = []
        for level, values in levels:
            single = len(values) == 1
            rows += [] if single or not values else [Span(level, heading=True)]
            rows += [_relabelled(one, level) if single else one for one in values]
        used |= {one.shape for one in rows if not one.heading}
        if rows:
            data.append(Panel(title, label, rows))
    meanings = {shape: text for shape, text in _KINDS.values() if shape in used}
    if not data:
        raise OptionError(
            "there is no C and no F1 to draw: no pairing has a sentence pair in common"
        )
    image = panels(data, kind, meanings if len(used) > 1 else {})
    with replacing_bytes(path) as out:
        out.write(image)
