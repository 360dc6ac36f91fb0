"""Number the words of all parts together: a word gets its place in the order of all words.

Each part has written its own words, sorted (`phrase_buckets.write_records`). They are merged to one
sorted list, some files at a time; then each part looks up its words in this list. For example, the
words ``a c`` and ``b c`` of two parts become ``a b c``, with the places 0 2 and 1 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby

import numpy as np

from alignkit.cluster.phrase_buckets import BucketExchange
from alignkit.cluster.run import Done, Run, placing
from alignkit.cluster.session import Session, Task
from alignkit.rules.tables.word_pool import WordPool

_FAN = 16  # lists of words that are merged at a time


@dataclass(frozen=True)
class SharedWords:
    """The files with the words of all parts."""

    pool: str  # all words in order
    places: dict[str, str]  # of each part, by its key: the places of its words in the pool


def number_words(
    run: Run, session: Session, exchange: BucketExchange, keys: Sequence[str]
) -> SharedWords:
    """Merge the words of parts, and find their places among all words."""
    files = [exchange.path("words", key) for key in keys]
    pool = _merge_all(run, session, exchange, files)
    places = {key: exchange.path("places", key) for key in keys}
    tasks = {}
    for key, file in zip(keys, files, strict=True):
        tasks[key] = Task(f"the words of part {key}", (file, pool, places[key]))
    run.do(session, "places", place_words, tasks)
    return SharedWords(pool, places)


def _merge_all(run: Run, session: Session, exchange: BucketExchange, files: list[str]) -> str:
    """Merge files of words, `_FAN` at a time, until there is one; return it."""
    level = 0
    while len(files) > 1:
        groups = [files[k : k + _FAN] for k in range(0, len(files), _FAN)]
        merged = []
        tasks = {}
        for k, group in enumerate(groups):
            path = exchange.path(f"words-{level}", k)
            merged.append(path)
            name = f"the words of parts, {k + 1} of {len(groups)}"
            tasks[str(k)] = Task(name, (group, path))
        run.do(session, f"words-{level}", merge_words, tasks)
        files = merged
        level += 1
    return files[0]


def merge_words(paths: Sequence[str], output: str) -> Done:
    """Merge files of words in order, each word once."""
    with placing(output) as beside:
        words = merge(*[WordPool.read(path).words() for path in paths])
        WordPool.of(word for word, _ in groupby(words)).write(beside)
    return Done(None, [output])


def place_words(words: str, pool: str, output: str) -> Done:
    """Write the places of a file's words in the pool, which has them all; both are in order."""
    places = []
    waiting = WordPool.read(words).words()
    word = next(waiting, None)
    for place, shared in enumerate(WordPool.read(pool).words()):
        if shared == word:
            places.append(place)
            word = next(waiting, None)
    with placing(output) as beside:
        np.array(places, np.int32).tofile(beside)
    return Done(None, [output])
