"""Draw ranks as a critical difference diagram, and a table of measures as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit.show.canvas import COLOURS, Canvas, canvas, faded
from alignkit.tables.columns import Column
from alignkit.tables.text_width import char_width, cut_text

_WIDTH = 640
_SIDE = 170
_ROW = 22
_TOP = 84
_HEAD = 44
_LETTER = 8
# the least and the largest width
_CELLS = (56, 104)
_NAMES = (150, 220)
_WORST = "the worst first"

Ranking = Sequence[tuple[str, float]]
"""Names with their mean ranks, the best first."""


def cd_diagram(
    ranking: Ranking,
    groups: Sequence[Sequence[str]],
    critical_difference: float,
    path: str | None = None,
) -> str:
    """Draw mean ranks on a line; a bar joins ranks that do not differ significantly."""
    height = _TOP + 8 * len(groups) + _ROW * (ceil(len(ranking) / 2) + 1)
    with canvas(_WIDTH, height) as figure:
        _diagram(figure, ranking, groups, critical_difference)
        listing = "; ".join(f"{name} {mean:.2f}" for name, mean in ranking)
        said = f"critical difference {critical_difference:.3f}; {listing}"
        image = figure.image("cd", "Mean ranks", said)
        if path is not None:
            figure.save(path)
        return image


def _diagram(
    figure: Canvas, ranking: Ranking, groups: Sequence[Sequence[str]], critical_difference: float
) -> None:
    """Draw the line with its ticks, the critical difference, the bars, and the names below."""
    means = dict(ranking)
    low = floor(min(means.values()))
    high = ceil(max(means.values()))
    span = max(high - low, 1)

    def place(mean: float) -> float:
        return _SIDE + (mean - low) / span * (_WIDTH - 2 * _SIDE)

    start = place(low)
    end = place(low + critical_difference)
    length = f"critical difference {critical_difference:.3f}"
    if end > _WIDTH - _SIDE:
        figure.text(_WIDTH / 2, 30, f"{length}, longer than this line", ha="center")
    else:
        figure.line((start, 36), (end, 36), linewidth=2)
        for x in (start, end):
            figure.line((x, 31), (x, 41), linewidth=2)
        figure.text(start, 22, length)
    figure.line((place(low), _TOP), (place(low + span), _TOP), linewidth=1)
    for step in range(0, span + 1, max(1, ceil(span / 12))):
        x = place(low + step)
        figure.line((x, _TOP), (x, _TOP - 6), linewidth=1)
        figure.text(x, _TOP - 10, str(low + step), ha="center")
    below = _TOP + 6
    for group in groups:
        first = place(means[group[0]]) - 3
        last = place(means[group[-1]]) + 3
        figure.line((first, below), (last, below), linewidth=4)
        below += 8
    half = ceil(len(ranking) / 2)
    for k, (name, mean) in enumerate(ranking):
        # the better half on the left, from the top; the others on the right, the worst at the top
        left = k < half
        row = k if left else len(ranking) - 1 - k
        x = place(mean)
        y = below + _ROW * (row + 1) - 6
        end = _SIDE - 20 if left else _WIDTH - _SIDE + 20
        figure.line((x, _TOP), (x, y), linewidth=1)
        figure.line((x, y), (end, y), linewidth=1)
        text = f"{cut_text(name, 14)} {mean:.2f}"
        if left:
            figure.text(end - 4, y + 4, text, ha="right")
        else:
            figure.text(end + 4, y + 4, text, ha="left")


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    values: NDArray[np.float64],
    measure: str,
    path: str | None = None,
) -> str:
    """Draw values as cells, higher is darker, like `cd_diagram`; NaN is ``-``."""
    names = _fitting(rows, _NAMES)
    cell = _fitting(columns, _CELLS)
    size = names + cell * len(columns) + 10, _HEAD + _ROW * len(rows) + 10
    known = values[~np.isnan(values)]
    low = high = nan
    if len(known):
        low = float(known.min())
        high = float(known.max())
    shown = Column("", "percent" if len(known) and low >= 0 and high <= 1 else "number")
    with canvas(*size) as figure:
        figure.text(4, 14, f"{measure}; {_WORST}" if measure else _WORST)
        for c, name in enumerate(columns):
            cut = cut_text(name, cell // _LETTER)
            figure.text(names + cell * (c + 0.5), _HEAD - 6, cut, ha="center")
        for r, name in enumerate(rows):
            y = _HEAD + _ROW * r
            figure.text(names - 6, y + _ROW - 6, cut_text(name, names // _LETTER - 1), ha="right")
            for c, value in enumerate(values[r].tolist()):
                x = names + cell * c
                if isnan(value):
                    look: dict[str, Any] = {"facecolor": "none", "edgecolor": COLOURS["line"]}
                else:
                    share = (value - low) / (high - low) if high > low else 0.5
                    look = {"facecolor": faded("a", 0.05 + 0.45 * share), "edgecolor": "none"}
                figure.box(x, y, cell - 1, _ROW - 1, **look)
                figure.text(x + cell / 2, y + _ROW - 6, shown.show(value).text, ha="center")
        title = f"{measure or 'values'} by phenomenon and system"
        image = figure.image("heat", title, "the table has the same numbers")
        if path is not None:
            figure.save(path)
        return image


def _fitting(names: Sequence[str], bounds: tuple[int, int]) -> int:
    """Return the width of a column of names, within bounds."""
    longest = max(map(char_width, names), default=0)
    return min(max(bounds[0], _LETTER * (longest + 2)), bounds[1])
