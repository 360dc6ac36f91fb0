"""The colours of drawings, pages and figures: on light paper, on dark screens, and in print.

Images have them as classes, pages as variables (`--a`), figures by name. All have a contrast of 4.5
to the paper but those of lines and areas. The annotation pages have their own (`style.css`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Colour(NamedTuple):
    """A colour."""

    light: str
    dark: str
    print: str | None = None  # None: the same as on the screen


INK: dict[str, Colour] = {
    "ink": Colour("#1b1b1b", "#ececec", "#000000"),
    "paper": Colour("#ffffff", "#181a1b", "#ffffff"),
    "soft": Colour("#5c5c5c", "#a8a8a8", "#333333"),
    "line": Colour("#d9d9d9", "#3c3f41", "#888888"),
}

# the links of one annotator, of another, and of both
LINKS: dict[str, Colour] = {
    "a": Colour("#0060a8", "#66b8ff", "#00508c"),
    "b": Colour("#a84300", "#ff9d57", "#8a3600"),
    "mix": Colour("#7b3f98", "#d6a2ee", "#5f2f7b"),
}

# of matched nodes of trees, told apart by number as well
HUES: dict[str, Colour] = {
    "hue0": LINKS["a"],
    "hue1": LINKS["b"],
    "hue2": LINKS["mix"],
    "hue3": Colour("#1a7340", "#6fd492", "#135c33"),
    "hue4": Colour("#b0005c", "#ff8fc0", "#8c004a"),
    "hue5": Colour("#6b5a00", "#d8c44a", "#544700"),
    "hue6": Colour("#00707a", "#5fd3de", "#005a62"),
}

_AREAS: dict[str, Colour] = {
    "on": Colour("#ffffff", "#111111", "#ffffff"),  # signs on a mark
    "shade": Colour("#0006", "#fff7"),  # at the edge of what can be scrolled
    "hover": Colour("#eef2f6", "#26292b"),
    "fill": Colour("#d3dbe3", "#414b54", "#dddddd"),
    "sure": Colour("#d55e00", "#ff9d57", "#d55e00"),  # sure links in figures
}

COLOURS: dict[str, Colour] = {**INK, **LINKS, **HUES, **_AREAS}
"""All colours by name."""

# which of them the style sheets declare, and for what
SHEETS: Mapping[str, tuple[str, Sequence[str]]] = {
    "matrix": (".alignkit", [*INK, *LINKS, "on", "shade", "hover"]),
    "table": (".alignkit-table", [*INK, "shade"]),
    "page": (".alignkit", ["fill", "sure"]),
    "trees": (".alignkit", [*HUES]),
}


def variables(selector: str, names: Sequence[str]) -> str:
    """Return the style rules that declare colours as variables, for screens and for print."""
    screen = []
    night = []
    paper = []
    for name in names:
        colour = COLOURS[name]
        screen.append(f"--{name}:{colour.light}")
        night.append(f"--{name}:{colour.dark}")
        if colour.print is not None:
            paper.append(f"--{name}:{colour.print}")
    return (
        f"{selector}{{{';'.join(screen)}}}\n"
        f"@media(prefers-color-scheme:dark){{{selector}{{{';'.join(night)}}}}}\n"
        f"@media print{{{selector}{{{';'.join(paper)}}}}}\n"
    )
