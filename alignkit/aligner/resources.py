"""Tell how much memory a training needs, and give it that or a folder."""

from __future__ import annotations

import os
from contextlib import suppress
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile, gettempdir

from alignkit.aligner.bitext import Bitext
from alignkit.aligner.room import Room
from alignkit.aligner.settings import Settings
from alignkit.errors import AlignerError

__all__ = ["bytes_of_training", "bytes_on_disk", "fits", "room_for"]

CELL = {"collapsed": 5, "em": 12, "vb": 12}
"""Bytes of a cell: 4 for its place, and 1 for its level or 8 for both posteriors."""
WORD_PAIR = 48
"""Bytes of a distinct word pair while tables are updated."""


def bytes_on_disk(bitext: Bitext, settings: Settings) -> int:
    """Return how many bytes of the training grow with the cells and can be kept on disk."""
    return int(bitext.starts[-1]) * CELL[settings.inference]


def bytes_of_training(bitext: Bitext, settings: Settings) -> int:
    """Return about how many bytes the training takes.

    The distinct word pairs, not known before the bitext is indexed, are estimated from its size
    (Heaps' law: 20 times the cells to the power 0.71, which is what Hansards have).
    """
    cells = int(bitext.starts[-1])
    word_pairs = min(cells, int(20 * cells**0.71))
    words = len(bitext.source.ids) + len(bitext.target.ids)
    return bytes_on_disk(bitext, settings) + word_pairs * WORD_PAIR + words * 12


def fits(bitext: Bitext, settings: Settings) -> bool:
    """Return whether the training fits into the memory that is free."""
    return bytes_of_training(bitext, settings) < 0.8 * _available()


def _available() -> int:
    """Return how many bytes this process may still take; very many where that is not told."""
    limits = [1 << 62]
    with suppress(OSError, ValueError, IndexError):
        with open("/proc/meminfo", encoding="ascii") as lines:
            found = {line.split(":")[0]: line.split()[1] for line in lines}
        limits.append(int(found.get("MemAvailable", 1 << 52)) * 1024)
    with suppress(OSError, ValueError):  # a container's own limit
        limit, used = (
            int(Path("/sys/fs/cgroup", name).read_text("ascii"))
            for name in ("memory.max", "memory.current")
        )
        limits.append(limit - used)
    return max(min(limits), 0)


def _told(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def room_for(bitext: Bitext, settings: Settings, folder: str | PathLike[str] | None) -> Room:
    """Give room for the training: in memory if that suffices and no folder is named.

    Raises
    ------
    AlignerError
        If no file can be made in the folder.
    """
    if folder is None and fits(bitext, settings):
        return Room()
    try:
        place = os.fspath(gettempdir() if folder is None else folder)
        TemporaryFile(dir=place).close()
    except OSError as problem:
        raise AlignerError(
            f"{folder or 'folder for temporary files'}: {problem.strerror}; training needs "
            f"{_told(bytes_on_disk(bitext, settings))} there: name another folder"
        ) from None
    return Room(place)
