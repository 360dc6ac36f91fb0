"""Draw the figures of an agreement beyond chance, each with its numbers in a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.corrected_result import CorrectedAgreement
from alignkit.agreement.edit_model import EditModel
from alignkit.report.agreement_tables import LABELS, interval_text
from alignkit.report.axes import Axis
from alignkit.report.charts import Bar, Marker, Share, Span, bars, points, shares, spans
from alignkit.report.disagreements import SHAPES, Disagreements
from alignkit.report.html import safe_text
from alignkit.report.html_table import decimal, html_table, percent
from alignkit.report.word_kinds import WORD_KINDS

__all__ = [
    "chance_figures",
    "edit_figures",
    "interval_figure",
    "kinds_figure",
    "sentence_figures",
]

Results = Mapping[str, CorrectedAgreement]

_BINS = 30
_GROUPS = 10


def _figure(title: str, image: str, table: str) -> str:
    return (
        f"<figure><figcaption>{safe_text(title)}</figcaption>\n{image}"
        f"<details><summary>the numbers</summary>\n{table}</details></figure>\n"
    )


def interval_figure(results: Results) -> str:
    """Draw C with its interval, one below the other."""
    data, body = [], []
    for key, one in results.items():
        low, high = (
            (np.nan, np.nan) if one.interval is None else (one.interval.low, one.interval.high)
        )
        note = "- (not defined)" if one.undefined else decimal(one.C)
        if one.interval and not one.undefined:
            note += f" {interval_text(one)}"
        data.append(Span(LABELS[key], one.C, low, high, note))
        body.append([LABELS[key], decimal(one.C), decimal(low), decimal(high)])
    title = "Agreement beyond chance with its interval"
    drawn = spans("intervals", title, data, label="C: 0 as by chance, 1 in full")
    return _figure(title, drawn, html_table("C", ["", "C", "from", "to"], body))


def sentence_figures(results: Results) -> Iterator[str]:
    """Draw how many sentence pairs have which observed agreement."""
    for key, one in results.items():
        values = [row.observed for row in one.sentences if not row.left_out]
        data = _sentence_bars(values)
        marks = [
            Marker(one.pi, f"pi {decimal(one.pi)}"),
            Marker(one.pi0, f"pi0 {decimal(one.pi0)}", dashed=True),
        ]
        drawn = bars(
            f"sentences-{key}",
            f"Observed agreement of {len(values)} sentence pairs, {LABELS[key]}",
            data,
            marks,
            label="observed agreement of a sentence pair",
            unit="sentence pairs",
        )
        table = html_table(
            "Sentence pairs", ["agreement", "pairs"], [[bar.label, bar.count] for bar in data]
        )
        yield _figure(LABELS[key][0].upper() + LABELS[key][1:], drawn, table)


def _sentence_bars(values: list[float]) -> list[Bar]:
    """Count values in ten parts; those of 0 and of 1, which are many, have bars of their own."""
    inside = Counter(min(int(10 * value), 9) for value in values if 0 < value < 1)
    middle = [
        Bar(k / 10, (k + 1) / 10, inside[k], f"{'above 0' if k == 0 else k / 10} to {(k + 1) / 10}")
        for k in range(10)
    ]
    ends = Bar(-0.1, 0, values.count(0), "0"), Bar(1, 1.1, values.count(1), "1")
    return [ends[0], *middle, ends[1]]


def edit_figures(results: Results) -> Iterator[str]:
    """Draw what each annotator changed in the initial alignment, with the fitted models.

    The edits of phrase pairs and of links are the same, and drawn once.
    """
    for links in ("sure", "possible"):
        one = next((one for key, one in results.items() if key.endswith(f"-{links}")), None)
        if one is None:
            continue
        every = [model for models in one.models.values() for model in models.values()]
        for part in dict.fromkeys(part for models in one.models.values() for part in models):
            alike = [models[part] for models in one.models.values()]
            across, up = _edit_axes(every, alike)
            for k, model in enumerate(alike):
                name = f"edits-{links}-{part}-{k}"
                title = f"{'AB'[k]} {one.annotators[k]}: {_PARTS.get(part, part)}, {links} links"
                data = Counter(zip(model.data.words.tolist(), _heights(model), strict=True))
                line = _fitted_line(model)
                drawn = points(name, title, data, line, second=k == 1, across=across, up=up)
                yield _figure(title, drawn, _edit_table(model))


_PARTS = {"edit": "edits", "add": "added links", "delete": "deleted links"}


def _heights(model: EditModel) -> list[float]:
    if model.reading == "count":
        return [float(count) for count in model.data.edits.tolist()]
    shares: list[float] = (model.data.edits / model.data.trials).tolist()
    return shares


def _edit_axes(every: list[EditModel], alike: list[EditModel]) -> tuple[Axis, Axis]:
    """Return axes that hold the data and lines of both annotators."""
    words = [n for model in every for n in model.data.words.tolist()] or [0]
    heights = [y for model in alike for y in _heights(model)]
    heights += [y for model in alike for _, y in _fitted_line(model)]
    whole = alike[0].reading == "count"
    across = Axis(min(words) - 1, max(words) + 1, "words of the sentence pair, N + M", whole=True)
    most = max(heights, default=0) or 1
    return across, Axis(0, most * 1.05, "edits" if whole else "edits / cells", whole=whole)


def _fitted_line(model: EditModel) -> list[tuple[float, float]]:
    if not model.pairs or np.isnan(model.a):
        return []
    low, high = int(model.data.words.min()), int(model.data.words.max())
    across = np.linspace(low, high, 41)
    heights = np.maximum(model.a + model.b * across, 0)
    if model.reading == "probability":
        heights = np.minimum(heights, 1)
    return list(zip(across.tolist(), heights.tolist(), strict=True))


def _edit_table(model: EditModel) -> str:
    words, trials, edits = model.data.words, model.data.trials, model.data.edits
    body = []
    if len(words):
        rates = model.rates(words, trials)
        low, high = int(words.min()), int(words.max())
        step = max(1, -(-(high - low + 1) // _GROUPS))
        for start in range(low, high + 1, step):
            inside = (words >= start) & (words < start + step)
            if inside.any():
                body.append(
                    [
                        str(start) if step == 1 else f"{start} to {start + step - 1}",
                        int(inside.sum()),
                        f"{edits[inside].mean():.2f}",
                        f"{(rates * trials)[inside].mean():.2f}",
                    ]
                )
    table = html_table("Mean edits", ["N + M", "pairs", "observed", "fitted"], body)
    value = "edits" if model.reading == "count" else "rate of edits"
    return (
        f"<p>{value} = {model.a:.4g} {'-' if model.b < 0 else '+'} {abs(model.b):.4g} (N + M); "
        f"log-likelihood {model.log_likelihood:.1f}; {model.pairs} sentence pairs</p>\n{table}"
    )


def chance_figures(results: Results) -> Iterator[str]:
    """Draw the agreements of the whole corpus that were sampled, and mark the observed one."""
    for key, one in results.items():
        values = one.distribution[~np.isnan(one.distribution)]
        if not len(values):
            continue
        data = _chance_bars(values, one.pi)
        marks = [
            Marker(one.pi, f"pi {decimal(one.pi)}"),
            Marker(one.pi0, f"pi0 {decimal(one.pi0)}", dashed=True),
        ]
        title = f"{LABELS[key][0].upper()}{LABELS[key][1:]}"
        drawn = bars(
            f"chance-{key}",
            f"Agreement by chance in {len(values)} samples, {LABELS[key]}",
            data,
            marks,
            label="agreement of the corpus",
            unit="samples",
        )
        table = html_table(
            f"Samples: mean {values.mean():.4f}, from {values.min():.4f} to {values.max():.4f}; "
            f"standard error of pi0 {one.pi0_error:.5f}",
            ["agreement", "samples"],
            [[bar.label, bar.count] for bar in data],
        )
        yield _figure(title, drawn, table)


def _chance_bars(values: NDArray[np.float64], pi: float) -> list[Bar]:
    """Count the samples in bars that are wide enough to be seen beside a pi far away."""
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-9:
        low, high = low - 0.005, high + 0.005
    reach = max(high, pi) - min(low, pi)
    bins = _BINS if np.isnan(reach) else max(8, round(_BINS * min(1, 1.6 * (high - low) / reach)))
    counts, edges = np.histogram(values, bins=bins, range=(low, high))
    return [
        Bar(start, end, count, f"{start:.4f} to {end:.4f}")
        for start, end, count in zip(
            edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True
        )
    ]


def kinds_figure(found: Disagreements) -> str:
    """Draw for each kind of link how many both have, and how many only one has."""
    first, second = found.annotators
    data, body = [], []
    for kind in (*SHAPES, *WORD_KINDS):
        one = found.kinds[kind]
        counts = one.both, one.unsure, one.first, one.second
        data.append(Share(kind, counts))
        share = percent(one.alone / one.links if one.links else np.nan)
        body.append([kind, one.links, *counts, share])
    meanings = (
        "both alike, sure or possible",
        "sure for one, possible for the other",
        f"only A {first}",
        f"only B {second}",
    )
    title = "Links by kind: who has them"
    headings = ["", "links", "both alike", "unlike", "only A", "only B", "% of one only"]
    table = html_table(title, headings, body, apart=[len(SHAPES)])
    return _figure(title, shares("kinds", title, data, meanings), table)
