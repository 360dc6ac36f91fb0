"""Split many lines into words at once; each distinct word is made once, not each time it occurs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from alignkit.formats.words_kernel import number_words

_Numbered = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def words_of_bytes(data: bytes, share: Callable[[str], str]) -> list[tuple[str, ...]]:
    r"""Return the words of each line, as `split_words` has them.

    Examples
    --------
    >>> words_of_bytes("a b\n\n b\u00a0c\tb\n".encode(), str)
    [('a', 'b'), (), ('b\xa0c', 'b')]
    """
    return _shared(data, _numbered(data), share)


def words_of_both(
    source: bytes, target: bytes, share: Callable[[str], str]
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Return the words of the lines of both sides, as `words_of_bytes` does of one."""
    with ThreadPoolExecutor(2) as threads:  # the kernel lets the other go on
        first, second = threads.map(_numbered, (source, target))
    return _shared(source, first, share), _shared(target, second, share)


def _numbered(data: bytes) -> _Numbered:
    return number_words(np.frombuffer(data, np.uint8), data.count(b"\n"))


def _shared(data: bytes, numbered: _Numbered, share: Callable[[str], str]) -> list[tuple[str, ...]]:
    ids, starts, begins, ends = numbered
    places = zip(begins.tolist(), ends.tolist(), strict=True)
    distinct = [share(data[a:b].decode()) for a, b in places]
    words = tuple(np.array(distinct, object)[ids].tolist())
    bounds = starts.tolist()
    return [words[a:b] for a, b in pairwise(bounds)]
