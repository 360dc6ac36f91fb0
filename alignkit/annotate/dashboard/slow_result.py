"""What the child process of the dashboard finds; see `slow_figures`."""

from __future__ import annotations

from msgspec import Struct

from alignkit.agreement.result_parts import Caution
from alignkit.annotate.dashboard.view import Corrections, LiveFigure, PullLine

NO_CONTROL = "no pair is in a control sample; alignkit assign draws one"


class SlowTwo(Struct):
    """C of two annotators by level (``"phrases.sure"``, ...), by one model of chance."""

    first: str
    second: str
    chance: str
    levels: dict[str, LiveFigure]


class SlowPace(Struct):
    """The median and the mean of the seconds that a done pair took; None where none is."""

    median: float | None
    mean: float | None


class SlowFigures(Struct):
    """What was found; what was not asked for is None."""

    paces: dict[str, SlowPace]  # by annotator
    twos: list[SlowTwo] | None = None  # C of every two annotators who have done anything
    pull: PullLine | None = None  # of the suggestions
    corrections: Corrections | None = None
    cautions: list[Caution] = []
