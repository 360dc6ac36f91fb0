"""The E-step over parts of a bitext, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.bitext import Bitext
from alignkit.aligner.cooccurrence import Cooccurrence
from alignkit.aligner.expectation_kernel import Pairs, Tables
from alignkit.errors import OptionError
from alignkit.parallel import available_cores

T = TypeVar("T")

F4 = NDArray[np.float32]

PARTS = 64
"""Parts of a bitext: fixed, so that sums over parts are the same for any number of threads."""


class Workers:
    """Run a function over the parts of a bitext, in threads: the kernels release the lock."""

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise OptionError(f"{threads} threads: give at least 1")
        self.threads = threads or available_cores()
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    @classmethod
    @contextmanager
    def opened(cls, threads: int | None = None) -> Iterator[Workers]:
        """Give workers for a while; what has not begun is dropped when an error ends it."""
        workers = cls(threads)
        try:
            yield workers
        finally:
            if workers._pool is not None:
                workers._pool.shutdown(cancel_futures=True)

    def map(
        self, function: Callable[[int, int, int], T], parts: Sequence[tuple[int, int]]
    ) -> list[T]:
        """Return function(number of the part, first pair, last pair + 1) of all parts, in order."""
        calls = [(number, begin, end) for number, (begin, end) in enumerate(parts)]
        if self._pool is None:
            return [function(*call) for call in calls]
        return [done.result() for done in [self._pool.submit(function, *call) for call in calls]]


def kinds_of(numbers: NDArray[np.int32], kinds: int) -> NDArray[np.int32]:
    """Return the kind of each word by its number: the most frequent are each their own."""
    return np.where(numbers < 0, kinds - 1, np.minimum(numbers, kinds - 1)).astype(np.int32)


def parts_of(starts: NDArray[np.int64], number: int = PARTS) -> list[tuple[int, int]]:
    """Divide P pairs into at most `number` parts of about as many cells, as (begin, end)."""
    if len(starts) == 2:
        return [(0, 1)]
    goals = np.linspace(0, starts[-1], number + 1)[1:-1]
    bounds = np.unique(np.concatenate([[0], np.searchsorted(starts, goals), [len(starts) - 1]]))
    return list(pairwise(bounds.tolist()))


def lexical_tables(tables: Tables, index: Cooccurrence) -> tuple[F4, F4]:
    """Return t(target word | source word) and t(source word | target word), each (K,) float32."""
    return (
        tables.forward / tables.source_totals[index.source],
        tables.reverse / tables.target_totals[index.columns],
    )


def pairs_of(bitext: Bitext, index: Cooccurrence) -> Pairs:
    """Return the arrays of a bitext as the kernels take them."""
    source, target = bitext.source, bitext.target
    return Pairs(source.ids, source.starts, target.ids, target.starts, bitext.starts, index.cells)
