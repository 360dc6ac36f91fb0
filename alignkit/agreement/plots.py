"""The figures of an agreement: F1 and C for a paper, and C by every model of chance."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan

from alignkit._support.wording import how_many
from alignkit.agreement.answer import CHANCE_NAMES, AnswerWriter
from alignkit.agreement.figures import MOST_PAIRINGS, AgreementFigures, Pairing
from alignkit.agreement.numbers import Number, c_of, f1_of
from alignkit.agreement.table_rows import LINKS
from alignkit.show.dot_plots import DotPanel, DotPlot, DotRow
from alignkit.stats.resampling import Interval
from alignkit.tables.columns import Value

_UNITS = {"words": "words", "phrases": "phrase pairs"}
_SERIES = [(links, LINKS[links]) for links in ("possible", "sure")]


def agreement_plot(agreement: AgreementFigures) -> DotPlot:
    """Return the figure of F1, and of the C quoted by the answer, for all annotators."""
    writer = AnswerWriter(agreement)
    answer = writer.answer()
    series = _SERIES if writer.weak else _SERIES[:1]
    pairings = _drawn_pairings(agreement)
    several = len(agreement.every_two) > 1
    measures = {"F1 (%)": f1_of}
    if answer.quoted:
        model = answer.quoted.model
        measures[answer.quoted.name] = lambda two, level: c_of(two, level, model)
    panels = list[DotPanel]()
    drawn = list[Value]()
    for name, measure in measures.items():
        rows = []
        values = []
        for unit, text in _UNITS.items():
            for who, of_row in pairings.items():
                rows.append(DotRow(who, unit) if several else DotRow((text,)))
                cells = []
                for links, _ in series:
                    level = f"{unit}.{links}"
                    cells.append(_mean([measure(two, level) for two in of_row]))
                values.append(cells)
                drawn += cells  # also of a panel without any value: the caption names it, too
        panel = DotPanel(name, rows, values, percent="%" in name)
        if panel.ends:
            panels.append(panel)
    caption = "F1 (percent)"
    if answer.quoted:
        caption += f" and {answer.quoted.name[:-1]}; model of chance: {answer.quoted.model})"
    caption += f" of words and phrase pairs in {writer.pairs} of sentences"
    if len(agreement.every_two) > MOST_PAIRINGS:
        caption += ", the mean of each with the others"
    caption += f": {'; '.join(map(' ~ '.join, pairings))}"
    if len(series) > 1:
        caption += "; filled circles: all links, open diamonds: sure links"
    caption += _notes(agreement, drawn)
    return DotPlot(panels, [text for _, text in series], f"{caption}.")


def _notes(agreement: AgreementFigures, drawn: Sequence[Value]) -> str:
    """Return the end of the caption: what is left out, the lines, and the short names."""
    caption = ""
    if agreement.options.ignore_identical:
        caption += "; links of equal words left out"
    if not all(isnan(value.low) for value in drawn):
        percent = f"{100 * agreement.options.confidence:g}"
        caption += f"; lines: {percent}% intervals over sentence pairs"
    undefined = sum(isnan(value.value) for value in drawn)
    if undefined:
        caption += f"; {how_many(undefined, 'value')} undefined, not drawn"
    if agreement.shortened:
        caption += f"; {agreement.shortened}"
    return caption


def _drawn_pairings(agreement: AgreementFigures) -> dict[tuple[str, ...], list[Pairing]]:
    """Return the pairings of each row: one of two annotators, or if there are many, of one."""
    pairings = agreement.every_two
    names = agreement.short_names
    rows: dict[tuple[str, ...], list[Pairing]] = {}
    if len(pairings) <= MOST_PAIRINGS:
        for two in pairings:
            rows[names[two.first], names[two.second]] = [two]
        return rows
    for who in agreement.annotators:
        rows[names[who],] = [two for two in pairings if who in two.names]
    return rows


def model_plot(agreement: AgreementFigures) -> DotPlot:
    """Return the figure of C by every model; empty for one model or too many rows."""
    writer = AnswerWriter(agreement)
    series = _SERIES if writer.weak else _SERIES[:1]
    names = agreement.short_names
    pairings = agreement.every_two
    compared = [two for two in pairings if len(two.beyond) > 1 and len(pairings) <= MOST_PAIRINGS]
    panels = []
    for unit, text in _UNITS.items():
        rows = []
        values = []
        for two in compared:
            group = ""
            if len(pairings) > 1:
                group = f"{names[two.first]} ~, {names[two.second]}"
            for model in two.beyond:
                rows.append(DotRow((CHANCE_NAMES[model][3:-1],), group))
                values.append([_value(c_of(two, f"{unit}.{links}", model)) for links, _ in series])
        panel = DotPanel(f"C, {text}", rows, values, percent=False)
        if panel.ends:
            panels.append(panel)
    caption = "C of words and of phrase pairs for every model of chance"
    return DotPlot(panels, [text for _, text in series], caption)


def _value(number: Number) -> Value:
    """Return a number with its interval, if it has one."""
    bounded = isinstance(number.interval, Interval) and not isnan(number.value)
    if bounded:
        return Value(number.value, *number.bounds)
    return Value(number.value)


def _mean(numbers: Sequence[Number]) -> Value:
    """Return the only value, or the mean of several without an interval."""
    if len(numbers) == 1:
        return _value(numbers[0])
    known = [number.value for number in numbers if not isnan(number.value)]
    return Value(sum(known) / len(known) if known else nan)
