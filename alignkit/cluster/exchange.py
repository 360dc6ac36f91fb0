"""Exchange records among workers: words numbered alike by all, and buckets of phrases."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from alignkit.cluster.run import Done, Run, placing
from alignkit.cluster.session import Session, Task
from alignkit.errors import FileError
from alignkit.jit import readonly
from alignkit.tables import exchange_kernel as kernel
from alignkit.tables.exchange import Sections, WordPool, marks_of, merged_pools, read_section
from alignkit.tables.phrase_steps import Records, text_pool
from alignkit.tables.runs import Block, Runs
from alignkit.visible import escaped

_FAN = 16  # lists of words that are merged at a time
_SHOWN = 1 << 12  # phrases of all parts from which buckets are cut
_LEAST = 64  # but so many of each part


@dataclass(frozen=True)
class Exchange:
    """Where the tasks of a run put their records, and into how many buckets."""

    folder: str  # of the run; what memory does not hold is sorted there, in files without names
    buckets: int  # how many
    room: int  # the bytes that sorting takes in memory

    def path(self, step: str, key: object) -> str:
        """Return where the file of a task is."""
        return os.path.join(self.folder, step, f"{key}.bin")


class Sample:
    """Some second phrases of records, evenly: every k-th of however many there are."""

    def __init__(self, parts: int, skip: int = 0) -> None:
        self._most = max(_SHOWN // parts, _LEAST)
        self._skip, self._step, self._at = skip, 1, 0
        self._phrases: list[list[int]] = []

    def seen(self, block: Block) -> Block:
        """Look at some records, and return them."""
        first = -self._at % self._step
        for k in range(first, len(block), self._step):
            record = block.symbols[block.offsets[k] : block.offsets[k + 1]]
            start = int((record == 0).argmax()) + 1 + self._skip
            self._phrases.append(record[start:].tolist())
        self._at += len(block)
        while len(self._phrases) > 2 * self._most:
            self._phrases = self._phrases[::2]
            self._step *= 2
        return block

    def phrases(self, words: Sequence[str]) -> list[list[str]]:
        """Return them in words."""
        return [[words[symbol - 1] for symbol in phrase] for phrase in self._phrases]


def write_records(
    exchange: Exchange, key: str, blocks: Iterable[Block], words: Sequence[str], *, skip: int = 0
) -> list[str]:
    """Write what a part holds, in buckets by the first phrase, and its words; return the files."""
    order = sorted(range(len(words)), key=words.__getitem__)
    ranks = np.empty(len(words), np.int32)
    ranks[order] = np.arange(len(words))
    marks = marks_of(words)
    files = [exchange.path("records", key), exchange.path("words", key)]
    with placing(files[0]) as beside, open(beside, "wb") as stream:
        sections = Sections(stream, exchange.buckets)
        for block in blocks:
            arrays = readonly(block.symbols), readonly(block.offsets)
            buckets = kernel.by_mark(*arrays, marks, exchange.buckets)
            symbols = kernel.renumber(*arrays, ranks, skip)
            sections.add(replace(block, symbols=symbols), buckets)
        sections.close()
    with placing(files[1]) as beside:
        WordPool.of([words[k] for k in order]).write(beside)
    return files


def add_records(
    runs: Runs, exchange: Exchange, bucket: int, places: Mapping[str, str], *, skip: int = 0
) -> None:
    """Add a bucket of what all parts hold; their words get the numbers that they have in all."""
    for key, path in places.items():
        try:
            numbers = np.fromfile(path, np.int32)
        except OSError as problem:
            raise FileError.of(problem, path) from None
        for block in read_section(exchange.path("records", key), bucket):
            symbols = kernel.renumber(
                readonly(block.symbols), readonly(block.offsets), numbers, skip
            )
            runs.add(symbols, block.offsets, block.values)


def write_turned(
    exchange: Exchange, bucket: int, records: Iterable[Records], cuts: Sequence[Sequence[int]]
) -> str:
    """Write records of a bucket in buckets by the order of their first phrases; return the file."""
    offsets = np.zeros(len(cuts) + 1, np.int64)
    np.cumsum([len(phrase) for phrase in cuts], out=offsets[1:])
    keys = np.array([symbol for phrase in cuts for symbol in phrase], np.int32)
    path = exchange.path("turned", bucket)
    with placing(path) as beside, open(beside, "wb") as stream:
        sections = Sections(stream, len(cuts) + 1)
        for symbols, ends, values in records:
            buckets = kernel.between(readonly(symbols), readonly(ends), keys, offsets)
            sections.add(Block(symbols, ends, values), buckets)
        sections.close()
    return path


def add_turned(runs: Runs, exchange: Exchange, bucket: int) -> None:
    """Add a bucket of what the tasks of all buckets wrote by `write_turned`."""
    for key in range(exchange.buckets):
        for block in read_section(exchange.path("turned", key), bucket):
            runs.add(block.symbols, block.offsets, block.values)


def write_text(exchange: Exchange, bucket: int, texts: Iterable[str]) -> str:
    """Write a bucket of the lines of a table; return the file."""
    path = exchange.path("lines", bucket)
    with placing(path) as beside, open(beside, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(texts)
    return path


@dataclass(frozen=True)
class Numbered:
    """Where the words of all are: `pool`, as they are `shown`, and the places of a part's."""

    pool: str
    shown: str
    places: dict[str, str]


def number_words(run: Run, session: Session, exchange: Exchange, keys: Sequence[str]) -> Numbered:
    """Merge the words of parts, `words/KEY.bin`, and find the place of each in all of them."""
    left = [exchange.path("words", key) for key in keys]
    level = 0
    while len(left) > 1 or not level:
        groups = [left[k : k + _FAN] for k in range(0, len(left), _FAN)]
        made = [exchange.path(f"words-{level}", k) for k in range(len(groups))]
        tasks = {
            str(k): Task(f"the words of parts, {k + 1} of {len(groups)}", (group, path))
            for k, (group, path) in enumerate(zip(groups, made, strict=True))
        }
        run.do(session, f"words-{level}", _merge, tasks)
        left, level = made, level + 1
    pool, shown = left[0], exchange.path("shown", "all")
    run.do(session, "shown", _show, {"all": Task("the words of all parts", (pool, shown))})
    places = {key: exchange.path("places", key) for key in keys}
    tasks = {
        key: Task(f"the words of part {key}", (exchange.path("words", key), pool, path))
        for key, path in places.items()
    }
    run.do(session, "places", _place, tasks)
    return Numbered(pool, shown, places)


def _merge(paths: Sequence[str], output: str) -> Done:
    with placing(output) as beside:
        merged_pools([WordPool.read(path) for path in paths]).write(beside)
    return Done(None, [output])


def _show(pool: str, output: str) -> Done:
    with placing(output) as beside:
        WordPool(*text_pool(map(escaped, WordPool.read(pool).words()))).write(beside)
    return Done(None, [output])


def _place(words: str, pool: str, output: str) -> Done:
    with placing(output) as beside:
        WordPool.read(words).places_in(WordPool.read(pool)).tofile(beside)
    return Done(None, [output])


def cut_points(samples: Sequence[Sequence[str]], pool: WordPool, buckets: int) -> list[list[int]]:
    """Return phrases, by the places of their words, that cut all phrases into buckets alike."""
    words = sorted({word for phrase in samples for word in phrase})
    places = WordPool.of(words).places_in(pool).tolist()
    symbol = {word: place + 1 for word, place in zip(words, places, strict=True)}
    phrases = sorted([symbol[word] for word in phrase] for phrase in samples)
    chosen = [phrases[len(phrases) * k // buckets] for k in range(1, buckets)] if phrases else []
    return [phrase for k, phrase in enumerate(chosen) if k == 0 or phrase != chosen[k - 1]]
