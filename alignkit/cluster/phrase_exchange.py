"""Exchange phrase records among workers, with shared word numbers and buckets.

Each part writes its records in buckets by the first phrase. A bucket collects those of all parts,
turns them round, and writes them in buckets by the order of the other phrases. Each of these
writes its lines of the output.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import chain, groupby
from itertools import count as numbering
from typing import Any, NamedTuple

import numpy as np

from alignkit._support.array_types import I4, U8
from alignkit._support.jit import readonly
from alignkit._support.wording import escaped
from alignkit.cluster import parts as part_files
from alignkit.cluster.parts import Part
from alignkit.cluster.run import Done, Run, placing, running
from alignkit.cluster.session import OnProgress, Session, Task
from alignkit.errors import FileError
from alignkit.io.atomic_files import apart, replacing_bytes
from alignkit.io.options import ReadOptions
from alignkit.rules.tables import runs as sorting
from alignkit.rules.tables import runs_kernel as kernel
from alignkit.rules.tables.runs import Block, Runs, WordPool, read_section
from alignkit.rules.tables.table_kernel import Records

_FAN = 16  # lists of words that are merged at a time
_SHOWN = 1 << 12  # phrases of all parts from which buckets are cut
_LEAST = 64  # but so many of each part
_PROGRAM = 300_000_000  # bytes of Python, its libraries, the kernels, and the words of a part
_SMALLER = "sort tables in less memory"


def memory_of(room: int) -> int:
    """Return about how many bytes a task takes that sorts within `room` bytes."""
    return _PROGRAM + room


@dataclass(frozen=True)
class BucketExchange:
    """The folder for the records of tasks, and the number of buckets."""

    folder: str  # of the run; what memory does not hold is sorted there, in files without names
    buckets: int  # how many
    room: int  # the bytes that sorting takes in memory

    def path(self, step: str, key: object) -> str:
        """Return the path of the file of a task."""
        return os.path.join(self.folder, step, f"{key}.bin")


class PhraseSample:
    """An even sample of the second phrases of records: every k-th, for any number of them."""

    def __init__(self, parts: int, skip: int = 0) -> None:
        self._most = max(_SHOWN // parts, _LEAST)
        self._skip = skip
        self._step = 1
        self._at = 0
        self._phrases: list[list[int]] = []

    def seen(self, block: Block) -> Block:
        """Sample some records, and return them."""
        first = -self._at % self._step
        for k in range(first, len(block), self._step):
            record = block.symbols[block.offsets[k] : block.offsets[k + 1]]
            divider = int((record == 0).argmax())
            start = divider + 1 + self._skip
            self._phrases.append(record[start:].tolist())
        self._at += len(block)
        while len(self._phrases) > 2 * self._most:
            self._phrases = self._phrases[::2]
            self._step *= 2
        return block

    def phrases(self, words: Sequence[str]) -> list[list[str]]:
        """Return the sampled phrases as words."""
        return [[words[symbol - 1] for symbol in phrase] for phrase in self._phrases]


def write_records(
    exchange: BucketExchange,
    key: str,
    blocks: Iterable[Block],
    words: Sequence[str],
    *,
    skip: int = 0,
) -> list[str]:
    """Write a part's records in buckets by the first phrase, and its words; return the files."""
    in_order, ranks = sorting.ranked(words)
    marks = sorting.marks_of(words)
    files = [exchange.path("records", key), exchange.path("words", key)]
    with placing(files[0]) as beside, open(beside, "wb") as stream:
        sections = sorting.Sections(stream, exchange.buckets)
        for block in blocks:
            buckets = by_first_phrase(block, marks, exchange.buckets)
            sections.add(renumbered(block, ranks, skip), buckets)
        sections.close()
    with placing(files[1]) as beside:
        WordPool.of(in_order).write(beside)
    return files


def by_first_phrase(block: Block, marks: U8, buckets: int) -> I4:
    """Return a bucket for each record, which the marks of the words of its first phrase decide."""
    words = block.symbols > 0
    sums = np.zeros(len(block.symbols) + 1, np.uint64)
    np.cumsum(marks[block.symbols - 1] * words, out=sums[1:])
    ends = np.flatnonzero(block.symbols == 0)
    totals = sums[ends] - sums[block.offsets[:-1]]
    return (totals % np.uint64(buckets)).astype(np.int32)


def renumbered(block: Block, numbers: I4, skip: int) -> Block:
    """Return records with other numbers of their words; `skip` symbols behind a 0 are no words."""
    words = block.symbols > 0
    ends = np.flatnonzero(block.symbols == 0)
    for k in range(skip):
        words[ends + 1 + k] = False
    symbols = block.symbols.copy()
    symbols[words] = numbers[symbols[words] - 1] + 1
    return replace(block, symbols=symbols)


def add_records(
    runs: Runs,
    exchange: BucketExchange,
    bucket: int,
    numbered: Numbered,
    *,
    skip: int = 0,
) -> None:
    """Add a bucket of the records of all parts; their words get the shared numbers."""
    for key, path in numbered.places.items():
        try:
            numbers = np.fromfile(path, np.int32)
        except OSError as problem:
            raise FileError.of(problem, path) from None
        for block in read_section(exchange.path("records", key), bucket):
            shared = renumbered(block, numbers, skip)
            runs.add(shared.symbols, shared.offsets, shared.values)


def write_turned(
    exchange: BucketExchange, bucket: int, records: Iterable[Records], cuts: Sequence[Sequence[int]]
) -> str:
    """Write a bucket's records in buckets by the order of their first phrases; return the file."""
    offsets = sorting.offsets_of([len(phrase) for phrase in cuts])
    keys = np.array(list(chain.from_iterable(cuts)), np.int32)
    path = exchange.path("turned", bucket)
    with placing(path) as beside, open(beside, "wb") as stream:
        sections = sorting.Sections(stream, len(cuts) + 1)
        for symbols, ends, values in records:
            buckets = kernel.between(readonly(symbols), readonly(ends), keys, offsets)
            sections.add(Block(symbols, ends, values), buckets)
        sections.close()
    return path


def add_turned(runs: Runs, exchange: BucketExchange, bucket: int) -> None:
    """Add a bucket from the files that all buckets wrote with `write_turned`."""
    for key in range(exchange.buckets):
        for block in read_section(exchange.path("turned", key), bucket):
            runs.add(block.symbols, block.offsets, block.values)


def write_text(exchange: BucketExchange, bucket: int, texts: Iterable[str]) -> str:
    """Write a bucket of the lines of a table; return the file."""
    path = exchange.path("lines", bucket)
    with placing(path) as beside, open(beside, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(texts)
    return path


@dataclass(frozen=True)
class Numbered:
    """The shared words: their `pool`, their text (`shown`), and the places of a part's words."""

    pool: str
    shown: str
    places: dict[str, str]


def number_words(run: Run, session: Session, exchange: BucketExchange, keys: list[str]) -> Numbered:
    """Merge the words of parts, `words/KEY.bin`, and find the place of each shared word."""
    left = [exchange.path("words", key) for key in keys]
    level = 0
    while len(left) > 1 or not level:
        groups = [left[k : k + _FAN] for k in range(0, len(left), _FAN)]
        merged = []
        tasks = {}
        for k, group in enumerate(groups):
            path = exchange.path(f"words-{level}", k)
            merged.append(path)
            name = f"the words of parts, {k + 1} of {len(groups)}"
            tasks[str(k)] = Task(name, (group, path))
        run.do(session, f"words-{level}", merge_words, tasks)
        left = merged
        level += 1
    pool = left[0]
    shown = exchange.path("shown", "all")
    run.do(session, "shown", _show, {"all": Task("the words of all parts", (pool, shown))})
    places = {key: exchange.path("places", key) for key in keys}
    tasks = {}
    for key, path in places.items():
        arguments = exchange.path("words", key), pool, path
        tasks[key] = Task(f"the words of part {key}", arguments)
    run.do(session, "places", place_words, tasks)
    return Numbered(pool, shown, places)


def merge_words(paths: Sequence[str], output: str) -> Done:
    """Merge files of words in order, each word once."""
    with placing(output) as beside:
        words = merge(*[WordPool.read(path).words() for path in paths])
        WordPool.of(word for word, _ in groupby(words)).write(beside)
    return Done(None, [output])


def _show(pool: str, output: str) -> Done:
    """Write the text of the words of a pool, as tables have it."""
    with placing(output) as beside:
        shown = map(escaped, WordPool.read(pool).words())
        WordPool.of(shown, "strict").write(beside)
    return Done(None, [output])


def place_words(words: str, pool: str, output: str) -> Done:
    """Write where the words of a file are among those of the pool; both are in order."""
    shared = enumerate(WordPool.read(pool).words())  # read on from word to word
    places = []
    for word in WordPool.read(words).words():
        place = next(place for place, other in shared if other == word)
        places.append(place)
    with placing(output) as beside:
        np.array(places, np.int32).tofile(beside)
    return Done(None, [output])


def cut_points(samples: Sequence[Sequence[str]], pool: WordPool, buckets: int) -> list[list[int]]:
    """Return phrases, as places of their words, that divide all phrases into equal buckets."""
    words = set(chain.from_iterable(samples))
    symbol = {word: k for k, word in enumerate(pool.words(), start=1) if word in words}
    phrases = sorted([symbol[word] for word in phrase] for phrase in samples)
    if not phrases:
        return []
    chosen = [phrases[len(phrases) * k // buckets] for k in range(1, buckets)]
    return [phrase for phrase, _ in groupby(chosen)]


class Step(NamedTuple):
    """A step of an exchange: a function with arguments, applied to each thing."""

    things: str
    done: str  # what happens to them, e.g. "joined"
    function: Callable[..., Done]
    arguments: tuple[Any, ...] = ()
    rooms: int = 1  # how many times a task sorts


@dataclass(frozen=True)
class ExchangeOptions:
    """Options of an exchange."""

    room: int = sorting.ROOM  # the bytes that sorting takes in memory
    buckets: int | None = None  # how many; None: two for each worker
    work: str | None = None  # the folder of the run; see `running`
    progress: OnProgress | None = None


def exchange_records(
    session: Session,
    parts: Mapping[str, tuple[Part, tuple[Any, ...]]],
    output: str,
    what: Mapping[str, Any],
    reading: ReadOptions,
    options: ExchangeOptions,
    steps: tuple[Step, Step, Step],
    check: Callable[[Iterable[Any]], None] = lambda values: None,
) -> tuple[list[Any], list[Any]]:
    """Write a table by three steps; return the values of the parts, and those of the buckets.

    The first step writes the records of each part, given with its arguments; the second turns
    each bucket of them round; the third writes the lines of each bucket of those.
    """
    files = [part for part, _ in parts.values()]
    part_files.refuse_replacing([part_files.one_file(output)], files)
    files = [part.called(session.path) for part in files]
    read, turn, write = steps
    with running(options.work, output) as run:
        run.try_workers(session)
        facts = part_files.check_parts(session, files, part_files.file_facts, reading, run=run)
        run.settle({**what, "inputs": part_files.inputs_of(files, facts)})
        buckets = run.read("buckets.json")
        if buckets is None:
            buckets = options.buckets or 2 * session.workers
            run.write(buckets, "buckets.json")
        exchange = BucketExchange(run.folder, buckets, options.room)
        count = numbering(1)
        total = len(files) + 2 * buckets

        def do(step: Step, folder: str, tasks: Mapping[str, Task], errors: int) -> dict[str, Any]:
            def report(_key: str) -> None:
                if options.progress is not None:
                    options.progress(next(count), total, f"{step.things} are {step.done}")

            return run.do(session, folder, step.function, tasks, report, errors=errors)

        def over_buckets(step: Step, folder: str, number: int, *given: Any) -> list[Any]:
            memory = memory_of(step.rooms * options.room)
            tasks = {}
            for k in range(number):
                arguments = k, *given, *step.arguments, exchange
                tasks[str(k)] = Task(f"bucket {k} of {step.things}", arguments, memory, _SMALLER)
            return list(do(step, folder, tasks, 1).values())

        names = list(parts)
        memory = memory_of(options.room)
        run.claim(*[exchange.path("words", name) for name in names])
        tasks = {}
        for k in part_files.largest_first(range(len(files)), files):
            name = names[k]
            _, own = parts[name]
            arguments = files[k], *own, *read.arguments, exchange, len(files)
            tasks[name] = Task(str(files[k]), arguments, memory, _SMALLER)
        values = do(read, "records", tasks, 10)
        check(values.values())
        numbered = number_words(run, session, exchange, list(values))
        samples = []
        for value in values.values():
            samples.extend(value["sample"])
        cuts = cut_points(samples, WordPool.read(numbered.pool), buckets)
        tallies = over_buckets(turn, "turned", buckets, numbered, cuts)
        tallies += over_buckets(write, "lines", len(cuts) + 1, numbered.shown)
        with apart(), replacing_bytes(output) as out:
            for bucket in range(len(cuts) + 1):
                with open(exchange.path("lines", bucket), "rb") as lines:
                    shutil.copyfileobj(lines, out, 1 << 20)
    return list(values.values()), tallies
