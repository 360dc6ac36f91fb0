"""Draw the figures of an agreement, each with its numbers in a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isnan, nan

import numpy as np

from alignkit.agreement.beyond_chance.c_result import BeyondChance
from alignkit.agreement.beyond_chance.edits import EditModel
from alignkit.agreement.result import Agreement
from alignkit.agreement.result_parts import LEVELS, Pairing
from alignkit.frozen import FrozenMap
from alignkit.report.charts import bars, points, shares
from alignkit.report.columns import Cell, Column
from alignkit.report.disagreements import SHAPES, Disagreements
from alignkit.report.marks import letters
from alignkit.report.plot_data import Axis, Bar, Marker, Share
from alignkit.report.table import Table
from alignkit.report.word_kinds import WORD_KINDS

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
class Drawn:
    """A figure: its title, the image as SVG, and a table of its numbers."""

    title: str
    image: str
    numbers: Table


def decimal(value: float) -> str:
    """Return a number as figures show it."""
    return Column("", "decimal").show(value).text


def sentence_plots(name: str, pairing: Pairing) -> Iterator[Drawn]:
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
) -> Drawn:
    markers = [
        Marker(result.pi, f"pi {decimal(result.pi)}"),
        Marker(result.pi0, f"pi0 {decimal(result.pi0)}", dashed=True),
    ]
    place = f"{name}-{level.replace('.', '-')}"
    image = bars(place, said, data, markers, label=label, unit=unit)
    rows: list[list[Cell]] = [[bar.label, bar.count] for bar in data]
    return Drawn(LEVEL_TITLES[level], image, replace(numbers, rows=rows))


def _sentence_bars(values: list[float]) -> list[Bar]:
    """Count values in ten parts; those of 0 and of 1, which are many, have bars of their own."""
    inside = Counter(min(int(10 * value), 9) for value in values if 0 < value < 1)
    middle = [
        Bar(k / 10, (k + 1) / 10, inside[k], f"{'above 0' if k == 0 else k / 10} to {(k + 1) / 10}")
        for k in range(10)
    ]
    ends = Bar(-0.1, 0, values.count(0), "0"), Bar(1, 1.1, values.count(1), "1")
    return [ends[0], *middle, ends[1]]


def chance_plots(name: str, pairing: Pairing) -> Iterator[Drawn]:
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


def edit_plots(agreement: Agreement) -> Iterator[Drawn]:
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
                yield Drawn(title, drawn, _edit_table(model))


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


def kinds_plot(name: str, found: Disagreements) -> Drawn:
    """Draw for each kind of link how many both have, and how many only one has."""
    first, second = found.annotators
    one_letter, other_letter = letters(first, second)
    data, body = [], list[list[Cell]]()
    kinds = (*SHAPES, *(kind for kind in WORD_KINDS if kind in found.kinds))
    for kind in kinds:
        one = found.kinds[kind]
        counts = one.both, one.unsure, one.first, one.second
        data.append(Share(kind, counts))
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
    return Drawn(title, image, table)
