"""Draw the values of all pairings with their intervals: on a page, and in a file for a paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan

from alignkit.agreement.beyond_chance.chance import CHANCE_MODELS
from alignkit.agreement.result import Agreement
from alignkit.agreement.result_parts import Pairing
from alignkit.errors import OptionError
from alignkit.output import replacing_bytes
from alignkit.report.agreement_rows import label as who
from alignkit.report.canvas import ending
from alignkit.report.charts import dots, panels, spans
from alignkit.report.columns import Cell, Column, Value
from alignkit.report.pairing_plots import LEVEL_TITLES, Drawn
from alignkit.report.plot_data import Dots, Panel, Span
from alignkit.report.table import Table
from alignkit.scoring.bootstrap import Interval

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


def interval_plots(agreement: Agreement) -> Iterator[Drawn]:
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


def _figures(name: str, title: str, levels: Rows, label: str) -> Iterator[Drawn]:
    """Draw all levels in one figure, or, where that is too long, each in one of its own."""
    kept = [(level, values) for level, values in levels if values]
    if not kept:
        return
    if sum(len(values) for _, values in kept) <= _ROWS:
        yield _figure(name, title, kept, label)
        return
    for k, one in enumerate(kept):
        yield _figure(f"{name}-{k}", f"{title}: {one[0]}", [one], label)


def _figure(name: str, title: str, levels: Rows, label: str) -> Drawn:
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
    return Drawn(title, image, Table("", columns, rows, apart=apart[1:], stub=2))


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


def model_plots(agreement: Agreement) -> Iterator[Drawn]:
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
        yield Drawn(
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
