"""An index of word pairs that occur together, and the memory that training needs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from alignkit._support import arguments
from alignkit._support.array_types import I4, I8
from alignkit.align.bitext import PARTS, Bitext, Side
from alignkit.align.maximization_kernel import (
    IndexedText,
    IndexOutput,
    count_columns,
    fill_columns,
    sort_words,
)
from alignkit.align.priors_kernel import WordPairs
from alignkit.align.settings import PREFIXES, Settings
from alignkit.errors import AlignerError

T = TypeVar("T", bound=np.generic)
Task = Callable[[int, int, int], None]
Run = Callable[[Task, Sequence[tuple[int, int]]], Any]

BLOCK = 50_000_000  # number of cells in memory at a time if the corpus is on disk: 5 bytes each

PLACES = "different pairs of words"

# Bytes that a training takes:
CELL = {"collapsed": 5, "em": 12, "vb": 12}  # its place, and its level or both posteriors
WORD_PAIR = 36  # of a distinct word pair while tables are updated
KEPT = 20  # of a distinct word pair of a model that is trained, while another one is
TYPE = 150  # of a distinct word: itself, its rows, totals, kind, stem and share
TOKEN = 15  # of a word of the text: its number, its empty word, and what is left of reading it
PAIR = 60  # of a sentence pair: where its words and cells begin, its likelihoods and its key
STEPS = 20_000_000  # of the counts of steps between word classes, which IBM 4 keeps for each part
SAMPLE = 50_000  # of about how many cells the distinct word pairs are counted


class Room:
    """Allocate arrays of zeros, in memory or in unnamed files of a folder."""

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self.on_disk = folder is not None

    @classmethod
    def of(cls, bitext: Bitext, settings: Settings, folder: str | PathLike[str] | None) -> Room:
        """Return room for a training: in memory if there is enough and no folder is given."""
        if folder is None and fits(bitext, settings):
            return cls()
        try:
            place = os.fspath(gettempdir() if folder is None else folder)
            TemporaryFile(dir=place).close()
        except OSError as problem:
            name = folder or "folder for temporary files"
            needed = bytes_on_disk(bitext, settings) / 1e6
            raise AlignerError(
                f"{name}: {problem.strerror}; training needs {needed:,.1f} MB: use another folder"
            ) from None
        return cls(place)

    def zeros(self, size: int, kind: type[T]) -> NDArray[T]:
        """Return an array of `size` zeros."""
        if self._folder is None or size == 0:
            return np.zeros(size, kind)
        length = size * np.dtype(kind).itemsize
        try:
            with TemporaryFile(prefix="alignkit-", dir=self._folder) as file:
                if hasattr(os, "posix_fallocate"):  # a full disk shall fail here, not in a kernel
                    os.posix_fallocate(file.fileno(), 0, length)
                else:
                    file.truncate(length)
                return np.asarray(np.memmap(file, kind, "r+", shape=(size,)))
        except OSError as problem:
            raise AlignerError(
                f"cannot store {length / 1e6:,.1f} MB in {self._folder}: "
                f"{problem.strerror}; use another folder"
            ) from None


def _in_turn(task: Task, ranges: Sequence[tuple[int, int]]) -> None:
    """Do the ranges one after the other."""
    for k, (begin, end) in enumerate(ranges):
        task(k, begin, end)


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """The K distinct word pairs of a bitext, and the word pair of each of its C cells."""

    rows: I8  # (Vs + 1,) the word pairs of source word w are rows[w] to before rows[w + 1]
    columns: I4  # (K,) the target words, rising within each row
    cells: I4  # (C,) the word pair of each cell

    @classmethod
    def of(cls, bitext: Bitext, ranges: int = 1, run: Run = _in_turn) -> Cooccurrence:
        """Index a bitext, in time linear in its cells; `run` may do the ranges side by side."""
        return cls(*_index(bitext, 0, len(bitext), ranges, run))

    @classmethod
    def in_blocks(cls, bitext: Bitext, room: Room, block: int = BLOCK) -> Cooccurrence:
        """Index a bitext with more cells than fit into memory; they are kept in a file."""
        parts = bitext.blocks(block)
        keys = np.empty(0, np.int64)
        for begin, end in parts:
            keys = merged([keys, keys_of_places(*_index(bitext, begin, end)[:2])])
            arguments.check_count(PLACES, len(keys))
        cells = room.zeros(int(bitext.starts[-1]), np.int32)
        for begin, end in parts:
            rows, columns, local = _index(bitext, begin, end)
            places = np.searchsorted(keys, keys_of_places(rows, columns))
            block_cells = slice(bitext.starts[begin], bitext.starts[end])
            cells[block_cells] = places.astype(np.int32)[local]
        return cls.of_keys(keys, len(bitext.source.words), cells)

    @classmethod
    def of_keys(cls, keys: I8, sources: int, cells: I4) -> Cooccurrence:
        """Return an index of word pairs with rising keys (K,) for a number of source words."""
        rows = np.searchsorted(keys, np.arange(sources + 1) << 32)
        return cls(rows, (keys & 0xFFFFFFFF).astype(np.int32), cells)

    @property
    def pairs(self) -> WordPairs:
        """The word pairs in the form that kernels take."""
        return WordPairs(self.rows, self.columns)

    @property
    def source(self) -> I4:
        """The (K,) source words of the word pairs."""
        return np.repeat(np.arange(len(self.rows) - 1, dtype=np.int32), np.diff(self.rows))


def _index(
    bitext: Bitext, begin: int, end: int, number: int = 1, run: Run = _in_turn
) -> tuple[I8, I4, I4]:
    """Return rows, columns and cells of the index of the pairs `begin:end`; see `Cooccurrence`.

    Each of `number` ranges of target words counts how many word pairs it has for each source word.
    From these counts follows where each range may write its word pairs.
    """
    starts = bitext.starts[begin : end + 1]
    source, source_starts = _words_of(bitext.source, begin, end)
    target, target_starts = _words_of(bitext.target, begin, end)
    text = IndexedText(source, source_starts, target_starts, starts - starts[0])
    places = sort_words(target, target_starts, len(bitext.target.words))
    # ranges of target words, about as many of their places in each
    bounds = np.linspace(0, len(target), number + 1).astype(np.int64)
    cuts = np.searchsorted(places.first, bounds)
    cuts[-1] = len(bitext.target.words)
    ranges = list(pairwise(cuts.tolist()))
    counts = np.zeros((len(ranges), len(bitext.source.words)), np.int32)

    def count(k: int, begin: int, end: int) -> None:
        count_columns(begin, end, places, text, counts[k])

    def fill(k: int, begin: int, end: int) -> None:
        fill_columns(begin, end, places, text, IndexOutput(free[k], columns, cells))

    run(count, ranges)
    sums = counts.cumsum(axis=0, dtype=np.int64)
    rows = np.concatenate([[0], sums[-1].cumsum()])
    arguments.check_count(PLACES, int(rows[-1]))
    free = rows[:-1] + sums - counts
    columns = np.empty(rows[-1], np.int32)
    cells = np.empty(starts[-1] - starts[0], np.int32)
    run(fill, ranges)
    return rows, columns, cells


def _words_of(side: Side, begin: int, end: int) -> tuple[I4, I8]:
    """Return the words of the sentences `begin:end`, and where each sentence begins in them."""
    starts = side.starts[begin : end + 1]
    return side.ids[starts[0] : starts[-1]], starts - starts[0]


def keys_of_places(rows: I8, columns: I4) -> I8:
    """Return a number for each word pair; they rise with the place of the pair."""
    return np.repeat(np.arange(len(rows) - 1), np.diff(rows)) << 32 | columns


def merged(runs: list[I8]) -> I8:
    """Return the distinct keys of several rising runs in order; a stable sort detects the runs."""
    keys = np.concatenate(runs)
    keys.sort(kind="stable")
    first = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return keys[first]


def bytes_on_disk(bitext: Bitext, settings: Settings) -> int:
    """Return the bytes of training that grow with the number of cells and can be on disk."""
    return int(bitext.starts[-1]) * CELL[settings.inference] * (1 + _more_models(settings))


def bytes_of_training(bitext: Bitext, settings: Settings) -> int:
    """Return about how many bytes it takes to read, train on and align the bitext."""
    source = bitext.source
    target = bitext.target
    total = bytes_on_disk(bitext, settings)
    total += word_pairs(bitext) * (WORD_PAIR + KEPT * _more_models(settings))
    total += (len(source.words) + len(target.words)) * TYPE
    total += (len(source.ids) + len(target.ids)) * TOKEN
    total += len(bitext) * PAIR
    return total + _bytes_of_model(bitext, settings)


def _more_models(settings: Settings) -> int:
    """Return how many models of cut words are trained besides that of whole words."""
    return len(PREFIXES) * settings.best


def _bytes_of_model(bitext: Bitext, settings: Settings) -> int:
    """Return the bytes of positions, jumps and fertilities, and of their counts."""
    cells = int(bitext.starts[-1])
    pairs = word_pairs(bitext)
    if settings.model == "ibm2":  # not while the tables of word pairs are updated
        return max(0, cells * 8 + _positions(bitext) * 48 - pairs * 16)
    if settings.agree and not settings.collapsed:
        more = cells * 4
    else:
        more = 0
    if settings.model == "ibm1":
        return more
    steps = 2 * (settings.kinds + 1) * (2 * settings.band + 2)
    jumps = min(PARTS, len(bitext)) * steps * 8
    if not settings.fertile:
        return jumps + more
    types = len(bitext.source.words) + len(bitext.target.words)
    if settings.model == "ibm3":
        order = _positions(bitext) * 24
    else:
        order = STEPS
    return jumps + cells * 20 + pairs * 30 + types * 450 + order


def _positions(bitext: Bitext) -> int:
    """Return the number of cells of all distinct sizes of sentence pairs."""
    distinct = np.unique(bitext.source.lengths << 32 | bitext.target.lengths)
    return int(((distinct >> 32) * (distinct & 0xFFFFFFFF)).sum())


@lru_cache(maxsize=1)  # asked for when it is reported, and when room is made
def word_pairs(bitext: Bitext) -> int:
    """Estimate the number of distinct word pairs of a bitext."""
    # from the word pairs of every so many source words
    source = bitext.source
    target = bitext.target
    step = int(min(1 + bitext.starts[-1] // SAMPLE, 64))
    places = np.flatnonzero(source.ids % step == step // 2)
    words = source.ids[places].astype(np.int64)
    pairs = np.searchsorted(source.starts, places, "right") - 1
    lengths = target.lengths[pairs]
    begins = target.starts[pairs] - (lengths.cumsum() - lengths)
    others = target.ids[np.arange(lengths.sum()) + begins.repeat(lengths)]
    return step * len(np.unique(words.repeat(lengths) << 32 | others))


def fits(bitext: Bitext, settings: Settings) -> bool:
    """Return whether training fits into the free memory."""
    limits = [1 << 62]
    with suppress(OSError, ValueError, IndexError):
        with open("/proc/meminfo", encoding="ascii") as lines:
            sizes = {line.split(":")[0]: line.split()[1] for line in lines}
        limits.append(int(sizes.get("MemAvailable", 1 << 52)) * 1024)
    with suppress(OSError, ValueError):  # a container's own limit
        group = Path("/sys/fs/cgroup")
        limit = int(Path(group, "memory.max").read_text("ascii"))
        used = int(Path(group, "memory.current").read_text("ascii"))
        limits.append(limit - used)
    return bytes_of_training(bitext, settings) < 0.8 * max(min(limits), 0)
