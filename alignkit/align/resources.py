"""The memory that a training needs, and the room for it: in memory, or in a folder."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import lru_cache
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile, gettempdir

import numpy as np

from alignkit.align.bitext import Bitext
from alignkit.align.cooccurrence import Room
from alignkit.align.ensemble import PREFIXES
from alignkit.align.expectation import PARTS
from alignkit.align.settings import Settings
from alignkit.errors import AlignerError

CELL = {"collapsed": 5, "em": 12, "vb": 12}
"""Bytes of a cell: 4 for its place, and 1 for its level or 8 for both posteriors."""
WORD_PAIR = 36  # bytes of a distinct word pair while tables are updated
KEPT = 20  # bytes of a distinct word pair of a model that is trained, while another one is
TYPE = 150  # bytes of a distinct word: itself, its rows, totals, kind, stem and share
TOKEN = 15
"""Bytes of a word of the text: its number, its empty word, and what is left of reading it."""
PAIR = 60  # bytes of a sentence pair: where its words and cells begin, its likelihoods and its key
STEPS = 20_000_000
"""Bytes of the counts of steps between word classes, which IBM 4 keeps for each part."""
SAMPLE = 50_000  # of about how many cells the distinct word pairs are counted


def bytes_on_disk(bitext: Bitext, settings: Settings) -> int:
    """Return how many bytes of the training grow with the cells and can be kept on disk."""
    return int(bitext.starts[-1]) * CELL[settings.inference] * _models(settings)


def bytes_of_training(bitext: Bitext, settings: Settings) -> int:
    """Return about how many bytes reading the bitext, training and aligning it take."""
    source, target = bitext.source, bitext.target
    return (
        bytes_on_disk(bitext, settings)
        + word_pairs(bitext) * (WORD_PAIR + KEPT * (_models(settings) - 1))
        + (len(source.words) + len(target.words)) * TYPE
        + (len(source.ids) + len(target.ids)) * TOKEN
        + len(bitext) * PAIR
        + _counts(bitext, settings)
        + _more(bitext, settings)
    )


def _models(settings: Settings) -> int:
    return 1 + len(PREFIXES) * settings.best


def _more(bitext: Bitext, settings: Settings) -> int:
    cells, pairs = int(bitext.starts[-1]), word_pairs(bitext)
    if settings.model in ("ibm3", "ibm4"):
        types = len(bitext.source.words) + len(bitext.target.words)
        order = _positions(bitext) * 24 if settings.model == "ibm3" else STEPS
        return cells * 20 + pairs * 30 + types * 450 + order
    if settings.model == "ibm2":  # not while the tables of word pairs are updated
        return max(0, cells * 8 + _positions(bitext) * 48 - pairs * 16)
    return cells * 4 if settings.agree and settings.inference != "collapsed" else 0


def _positions(bitext: Bitext) -> int:
    # how many cells the distinct sizes of sentence pairs have
    sizes = bitext.source.lengths << 32 | bitext.target.lengths
    distinct = np.unique(sizes)
    return int(((distinct >> 32) * (distinct & 0xFFFFFFFF)).sum())


def _counts(bitext: Bitext, settings: Settings) -> int:
    if settings.model in ("ibm1", "ibm2"):
        return 0
    parts = min(PARTS, len(bitext))
    return parts * 2 * (settings.kinds + 1) * (2 * settings.band + 2) * 8


@lru_cache(maxsize=1)  # asked for when it is told, and when room is made
def word_pairs(bitext: Bitext) -> int:
    """Return about how many distinct word pairs a bitext has."""
    source, target = bitext.source, bitext.target
    step = int(min(1 + bitext.starts[-1] // SAMPLE, 64))
    places = np.flatnonzero(source.ids % step == step // 2)
    words = source.ids[places].astype(np.int64)
    pairs = np.searchsorted(source.starts, places, "right") - 1
    lengths = target.lengths[pairs]
    begins = target.starts[pairs] - (lengths.cumsum() - lengths)
    others = target.ids[np.arange(lengths.sum()) + begins.repeat(lengths)]
    return step * len(np.unique(words.repeat(lengths) << 32 | others))


def fits(bitext: Bitext, settings: Settings) -> bool:
    """Return whether the training fits into the memory that is free."""
    return bytes_of_training(bitext, settings) < 0.8 * _available()


def _available() -> int:
    limits = [1 << 62]
    with suppress(OSError, ValueError, IndexError):
        with open("/proc/meminfo", encoding="ascii") as lines:
            sizes = {line.split(":")[0]: line.split()[1] for line in lines}
        limits.append(int(sizes.get("MemAvailable", 1 << 52)) * 1024)
    with suppress(OSError, ValueError):  # a container's own limit
        limit, used = (
            int(Path("/sys/fs/cgroup", name).read_text("ascii"))
            for name in ("memory.max", "memory.current")
        )
        limits.append(limit - used)
    return max(min(limits), 0)


def room_for(bitext: Bitext, settings: Settings, folder: str | PathLike[str] | None) -> Room:
    """Give room for the training: in memory if that suffices and no folder is named."""
    if folder is None and fits(bitext, settings):
        return Room()
    try:
        place = os.fspath(gettempdir() if folder is None else folder)
        TemporaryFile(dir=place).close()
    except OSError as problem:
        raise AlignerError(
            f"{folder or 'folder for temporary files'}: {problem.strerror}; training needs "
            f"{bytes_on_disk(bitext, settings) / 1e6:,.1f} MB there: name another folder"
        ) from None
    return Room(place)
