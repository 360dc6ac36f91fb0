"""Find where links and the texts beside them stop fitting: a line too many, or one missing.

Lines of links and of texts belong together by their numbers. Behind a stray line, links lie outside
their sentences or join other words, as if they were bad. But the sentences some lines on fit them:
the last word that is linked is seldom far from the last word.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.alignment import Alignment
from alignkit.arrays import LinkArrays
from alignkit.brief import how_many
from alignkit.errors import AlignkitError
from alignkit.formats.format import Format
from alignkit.formats.intake import Reading
from alignkit.formats.options import ReadOptions
from alignkit.formats.parallel_text import BITEXT
from alignkit.formats.registry import prepare
from alignkit.formats.textfile import TextFile
from alignkit.formats.words import split_words

_STEPS = (1, -1, 2, -2, 3, -3)  # lines
_GAIN, _OUTSIDE = 6, 3  # so many lines must fit better elsewhere, and of them not fit here at all


class Shift(NamedTuple):
    """Say from which line on texts are shifted, where links first fail there, and by how many."""

    line: int
    fails: int
    step: int
    texts: list[str]

    def __str__(self) -> str:
        return (
            f"links and words look shifted from about line {self.line} on (links fail at line "
            f"{self.fails}): from there the links fit the words {how_many(abs(self.step), 'line')} "
            f"{'before' if self.step < 0 else 'after'} in {' and '.join(self.texts)}; look there "
            "for a line too many or missing, and mend it"
        )


def shift_of(path: str, format: str, options: ReadOptions) -> Shift | None:
    """Return where the texts beside a file of links are shifted; None where nothing shows that."""
    texts = list(dict.fromkeys(one for one in (options.source, options.target) if one))
    if not texts or "-" in (path, *texts):
        return None
    bare = replace(options, source=None, target=None, lenient=True, partial=True)
    try:
        chosen, reading = prepare(path, format, bare)
        with closing(reading):
            extents = _extents(chosen, reading)
        sides = _lengths(TextFile(path, options), texts)
    except (AlignkitError, ValueError):  # reading in earnest says what is wrong
        return None
    found = [_shifted(extents[:, k], lengths) for k, lengths in enumerate(sides)]
    first = next(filter(None, found), None)
    if first is None:
        return None
    named = dict.fromkeys(
        text for one, text in zip(found, texts * 2, strict=False) if one and one[2] == first[2]
    )
    return Shift(first[0] + 1, first[1] + 1, first[2], list(named))


def _extents(chosen: Format, reading: Reading) -> NDArray[np.int32]:
    """Return for each line the least (P, 2) sentence lengths that hold its links; 0 without any."""
    if chosen.blocks is None:
        pairs = list(reading.pairs(chosen.parse(reading)))
        made = (next(iter(pair.alignments.values()), Alignment()) for pair in pairs)
        names: Sequence[object] = [pair.id for pair in pairs]
        blocks = [(names, LinkArrays.pack(made))]
    else:
        blocks = list(chosen.blocks(reading))
    links = LinkArrays.concatenate([block for _, block in blocks])
    # a ValueError where ids are no numbers of lines
    lines = np.concatenate([np.fromiter(map(int, map(str, ids)), np.int64) for ids, _ in blocks])
    found = np.zeros((lines.max(), 2), np.int32)
    found[lines - 1] = LinkArrays.extents(links.links, links.offsets)
    return found


def _lengths(reading: TextFile, texts: list[str]) -> list[NDArray[np.int32]]:
    """Return how many words each line of the source has, and each of the target."""
    if len(texts) > 1:
        sizes = ((len(split_words(text)) for _, text in reading.lines(path)) for path in texts)
        return [np.fromiter(side, np.int32) for side in sizes]
    halves = (text.partition(BITEXT)[::2] for _, text in reading.lines(texts[0]))
    return list(np.array([[*map(len, map(split_words, one))] for one in halves], np.int32).T)


def _shifted(needed: NDArray[np.int32], lengths: NDArray[np.int32]) -> tuple[int, int, int] | None:
    """Return the first line, the first that fails and the step of a shift, counted from 0."""
    slack = {step: _slack(needed, lengths, step) for step in (0, *_STEPS)}
    failing = slack[0] < 0
    best = (0.0, 0, 0, 0)
    for step in _STEPS:
        better = np.sign(_far(slack[0]) - _far(slack[step]))
        sums = np.concatenate(([0], np.cumsum(better)))
        gains = sums - np.minimum.accumulate(sums)
        end = int(np.argmax(gains))
        start = int(np.flatnonzero(sums[: end + 1] == sums[: end + 1].min())[-1])
        outside = failing[start:end].sum()
        others = failing.sum() - outside
        needed_gain = (_GAIN + 2 * abs(step)) * (1 if len(failing) - end < 5 else 2)
        proven = gains[end] >= needed_gain and outside >= _OUTSIDE
        rest = len(failing) - (end - start)
        if (
            proven
            and 4 * (slack[step][start:end] < 0).sum() <= outside
            and (4 * others * (end - start) <= outside * rest)
        ):
            best = max(best, (float(gains[end]), -step, start, end))
    gain, step, start, _ = best
    if not gain:
        return None
    return start, start + int(np.argmax(failing[start:])), -step


def _slack(needed: NDArray[np.int32], lengths: NDArray[np.int32], step: int) -> NDArray[np.float64]:
    """Return how many words the line `step` on has beyond those needed; NaN where none is known."""
    found = np.full(len(needed), np.nan)
    rows = np.arange(max(0, -step), min(len(needed), len(lengths) - step))
    found[rows] = lengths[rows + step] - needed[rows]
    found[needed == 0] = np.nan
    return found


def _far(slack: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how ill a line fits: links outside fit worse than any inside."""
    return np.nan_to_num(np.where(slack < 0, 1000 - slack, slack))
