"""Place the items of an outline: nothing overlaps, no line crosses a label."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from alignkit.report.tree_outline import Outline


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the items of an outline stand."""

    middles: tuple[float, ...]  # (n,) the middle of each item, in pixels from the left
    levels: tuple[int, ...]  # (n,) the rows above the words, see Outline.levels
    width: float  # the pixels that all take
    height: int  # the rows above the words

    def stretched(self, width: float) -> Layout:
        """Return the layout with its middles set as far apart as a wider one needs."""
        if not self.width or width <= self.width:
            return self
        factor = width / self.width
        return Layout(tuple(x * factor for x in self.middles), self.levels, width, self.height)


def lay_out(outline: Outline, measure: Callable[[int], float], gap: float) -> Layout:
    """Place the items of an outline."""
    own = [measure(k) + gap for k in range(len(outline))]
    within = [0.0] * len(own)  # what the items below need
    wide = own[:]
    for k in range(len(own) - 1, -1, -1):
        wide[k] = max(own[k], within[k])
        if outline.parents[k] >= 0:
            within[outline.parents[k]] += wide[k]
    lefts, total = _lefts(outline.parents, wide, within)
    middles = [left + need / 2 for left, need in zip(lefts, wide, strict=True)]
    _centre(outline, middles, lefts, wide, own)
    levels = outline.levels()
    return Layout(tuple(middles), tuple(levels), total, max(levels, default=0))


def _lefts(
    parents: Sequence[int], wide: list[float], within: list[float]
) -> tuple[list[float], float]:
    lefts: list[float] = []
    used: list[float] = []  # where the next item below each starts
    end = 0.0
    for k, parent in enumerate(parents):
        left = used[parent] if parent >= 0 else end
        if parent >= 0:
            used[parent] += wide[k]
        else:
            end += wide[k]
        lefts.append(left)
        used.append(left + (wide[k] - within[k]) / 2)
    return lefts, end


def _centre(
    outline: Outline, middles: list[float], lefts: list[float], wide: list[float], own: list[float]
) -> None:
    first: list[float | None] = [None] * len(middles)
    last = [0.0] * len(middles)
    for k in range(len(middles) - 1, -1, -1):
        begin = first[k]
        if begin is not None:
            low, high = lefts[k] + own[k] / 2, lefts[k] + wide[k] - own[k] / 2
            middles[k] = min(max((begin + last[k]) / 2, low), high)
        parent = outline.parents[k]
        if parent >= 0:
            if first[parent] is None:
                last[parent] = middles[k]
            first[parent] = middles[k]
