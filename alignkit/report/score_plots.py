"""Draw scores with their intervals, system beside system, as a file for a paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import nan

from alignkit.errors import OptionError
from alignkit.output import replacing_bytes
from alignkit.report.canvas import SHAPES, ending
from alignkit.report.charts import panels
from alignkit.report.columns import Column
from alignkit.report.plot_data import Panel, Span
from alignkit.scoring import Score
from alignkit.scoring.bootstrap import Interval
from alignkit.scoring.score_table import LEVEL_NAMES, MEASURE_NAMES

_MEASURES = ("precision", "recall", "f1")
_MACRO = ("macro_precision", "macro_recall", "macro_f1")
_LABEL = "precision, recall and F1"
_DRAWN = {"micro": _MEASURES, "macro": _MACRO, "both": (*_MEASURES, *_MACRO)}


def draw_scores(scores: Mapping[str, Score], path: str) -> None:
    """Draw precision, recall and F1 of systems as a figure file, with intervals if known."""
    kind = ending(path)
    levels = dict.fromkeys(level for score in scores.values() for level in score.parts())
    data = [Panel(LEVEL_NAMES[level], _LABEL, list(_spans(scores, level))) for level in levels]
    if not data:
        raise OptionError("there is no score to draw")
    meanings = dict(enumerate(scores)) if 1 < len(scores) <= len(SHAPES) else {}
    image = panels(data, kind, meanings)
    with replacing_bytes(path) as out:
        out.write(image)


def _spans(scores: Mapping[str, Score], level: str) -> Iterator[Span]:
    for name in _DRAWN[next(iter(scores.values())).aggregate]:
        if len(scores) > 1:
            yield Span(MEASURE_NAMES[name], heading=True)
        for number, (system, score) in enumerate(scores.items()):
            value = _value(score, level, name)
            interval = score.intervals.get(level, {}).get(name)
            label = system if len(scores) > 1 else MEASURE_NAMES[name]
            low, high = (interval.low, interval.high) if interval else (nan, nan)
            shape = number % len(SHAPES)
            yield Span(label, value, low, high, _note(value, interval), shape)


def _value(score: Score, level: str, name: str) -> float:
    if name in _MACRO:
        return score.macro[level].measures()[name]
    value: float = getattr(score.parts()[level], name)
    return value


def _note(value: float, interval: Interval | None) -> str:
    column = Column("", "decimal")
    if interval is None or interval.reason:
        return column.show(value).text
    bounds = (column.show(one).text for one in (interval.low, interval.high))
    return f"{column.show(value).text} [{', '.join(bounds)}]"
