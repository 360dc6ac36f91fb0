"""Define what the child process of the dashboard finds; see `slow_figures`."""

from __future__ import annotations

from msgspec import Struct

from alignkit.annotate.dashboard.view import Corrections, LiveFigure, PullLine

__all__ = ["NO_CONTROL", "SlowFigures", "SlowPace", "SlowTwo"]

NO_CONTROL = "no pair is in a control sample; alignkit assign draws one"


class SlowTwo(Struct):
    """Hold C of two annotators by level (``"phrases.sure"``, ...), by one model of chance."""

    first: str
    second: str
    chance: str
    levels: dict[str, LiveFigure]


class SlowPace(Struct):
    """Hold the median and the mean of the seconds that a done pair took; None where none is."""

    median: float | None
    mean: float | None


class SlowFigures(Struct):
    """Hold what was found; what was not asked for is None.

    Parameters
    ----------
    paces
        By annotator.
    twos
        C of every two annotators who have done anything.
    pull, corrections
        Of the suggestions.
    """

    paces: dict[str, SlowPace]
    twos: list[SlowTwo] | None = None
    pull: PullLine | None = None
    corrections: Corrections | None = None
