"""The figures of an agreement: F1 and C for a paper, and C by every model of chance."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan

from alignkit._support.wording import how_many, visible
from alignkit.agreement.answer import CHANCE_NAMES, AnswerWriter, Number, c_of, f1_of
from alignkit.agreement.figures import AgreementFigures, Pairing
from alignkit.agreement.tables import LINKS, MOST_PAIRINGS
from alignkit.show.dot_plots import DotPanel, DotPlot, DotRow
from alignkit.stats.resampling import Interval
from alignkit.tables.columns import Value

_UNITS = {"words": "words", "phrases": "phrase pairs"}
_SERIES = [(links, LINKS[links]) for links in ("possible", "sure")]


def agreement_plot(agreement: AgreementFigures) -> DotPlot:
    """Return the figure of F1, and of the C quoted by the answer, for all annotators."""
    writer = AnswerWriter(agreement)
    answer = writer.answer()
    pairings = agreement.of("annotators")
    names = answer.names
    several = len(pairings) > 1
    rows: dict[tuple[str, ...], list[Pairing]] = {
        (names[two.first], names[two.second]): [two] for two in pairings
    }
    if many := len(pairings) > MOST_PAIRINGS:
        rows = {
            (names[who],): [two for two in pairings if who in (two.first, two.second)]
            for who in agreement.annotators
        }
    series = _SERIES if writer.weak else _SERIES[:1]
    drawn = [
        (unit, DotRow(who, unit) if several else DotRow((text,)), those)
        for unit, text in _UNITS.items()
        for who, those in rows.items()
    ]
    measures = {"F1 (%)": f1_of}
    if answer.quoted:
        model = answer.quoted.model
        measures[answer.quoted.name] = lambda two, level: c_of(two, level, model)
    panels = list[DotPanel]()
    undefined = 0
    for name, measure in measures.items():
        values = [
            [_mean([measure(two, f"{unit}.{links}") for two in those]) for links, _ in series]
            for unit, _, those in drawn
        ]
        panel = DotPanel(name, [row for _, row, _ in drawn], values, percent="%" in name)
        if panel.ends:
            panels += [panel]
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
    caption.append(f"; lines: {percent}% intervals over sentence pairs" * lines)
    caption.append(f"; {how_many(undefined, 'value')} undefined, not drawn" if undefined else "")
    short = [f"{text} is {visible(name)}" for name, text in names.items() if text != name]
    caption.append(f"; {', '.join(short)}" if short else "")
    return DotPlot(panels, [text for _, text in series], f"{''.join(caption)}.")


def model_plot(agreement: AgreementFigures) -> DotPlot:
    """Return the figure of C by every model; empty for one model or too many rows."""
    writer = AnswerWriter(agreement)
    pairings = agreement.of("annotators")
    several = len(pairings) > 1
    names = writer.names
    drawn = [
        (two, model, DotRow((CHANCE_NAMES[model][3:-1],), group))
        for two in pairings
        if len(two.beyond) > 1 and len(pairings) <= MOST_PAIRINGS
        for group in [f"{names[two.first]} ~, {names[two.second]}" if several else ""]
        for model in two.beyond
    ]
    series = _SERIES if writer.weak else _SERIES[:1]
    panels = [
        DotPanel(
            f"C, {text}",
            [row for *_, row in drawn],
            [
                [_value(c_of(two, f"{unit}.{links}", model)) for links, _ in series]
                for two, model, _ in drawn
            ],
            percent=False,
        )
        for unit, text in _UNITS.items()
    ]
    caption = "C of words and of phrase pairs for every model of chance"
    return DotPlot([panel for panel in panels if panel.ends], [text for _, text in series], caption)


def _value(number: Number) -> Value:
    bounded = isinstance(number.interval, Interval) and not isnan(number.value)
    if bounded:
        return Value(number.value, *number.bounds)
    return Value(number.value)


def _mean(numbers: Sequence[Number]) -> Value:
    """Return the only value, or the mean of several without an interval."""
    known = [number.value for number in numbers if not isnan(number.value)]
    mean = Value(sum(known) / len(known) if known else nan)
    return _value(numbers[0]) if len(numbers) == 1 else mean
