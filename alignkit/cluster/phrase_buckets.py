"""Divide phrase records among buckets, so that a worker gets all records that belong together.

A *record* is two phrases and a row of values, such as ``das haus``, ``the house`` and a count. Its
symbols are the words of the first phrase, 0, and the words of the second phrase; a symbol is the
number of a word plus 1. Tables that are joined at pivots have a mark behind the 0: the number of
the table, which is no word.

Records with the same first phrase are added up or joined, but each part of a corpus has some of
them, and no worker can hold them all. So they are exchanged twice, in files with a section for each
bucket:

records/PART
    The records of a part, in buckets by a hash of their first phrase. A worker takes one bucket
    from the files of all parts.
turned/BUCKET
    What that worker made of its bucket. The phrases have changed places, and buckets follow the
    order of the phrase that is first now. Another worker takes one bucket from all these files.
lines/BUCKET
    The text of that bucket. As buckets are in order, these texts in sequence are the whole table.

Words have numbers of three kinds. A part that is counted numbers them by their first place. In
``records``, a number is a word's place among the sorted words of the part. From then on, it is the
place among the sorted words of all parts (`alignkit.cluster.shared_words`), so that sorting by
numbers sorts by words.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import I4, U8
from alignkit._support.jit import all_readonly
from alignkit.cluster.run import placing
from alignkit.errors import FileError
from alignkit.model.arrays import offsets_of
from alignkit.rules.tables import runs_kernel as kernel
from alignkit.rules.tables.runs import Runs, ranked
from alignkit.rules.tables.runs_kernel import Records
from alignkit.rules.tables.sections import Sections, read_section
from alignkit.rules.tables.word_pool import WordPool, word_hashes

_SAMPLED = 1 << 12  # phrases of all parts, from which the cuts between buckets are chosen
_LEAST = 64  # phrases of each part, however many parts there are


@dataclass(frozen=True)
class BucketExchange:
    """The folder for the records of tasks, and the number of buckets."""

    folder: str  # of the run; what memory does not hold is sorted there, in files without names
    buckets: int  # how many
    room: int  # the bytes that sorting takes in memory
    marks: int = 0  # how many stand behind the 0 of a record

    def path(self, step: str, key: object) -> str:
        """Return the path of the file of a task."""
        return os.path.join(self.folder, step, f"{key}.bin")


# The first exchange: by a hash of the first phrase


class _PhraseSample:
    """An even sample of the second phrases of a part's records: those of every `step`-th record.

    It is of limited size: when it is full, every other phrase is dropped, and the step doubles.
    """

    def __init__(self, parts: int, marks: int) -> None:
        self._most = max(_SAMPLED // parts, _LEAST)
        self._marks = marks
        self._step = 1
        self._seen = 0  # records
        self._phrases: list[list[int]] = []

    def add(self, block: Records) -> None:
        """Sample the records with the numbers 0, step, 2 * step, ... that are in a block."""
        first = -self._seen % self._step  # the block begins with record number `_seen`
        for k in range(first, len(block.values), self._step):
            record = block.symbols[block.offsets[k] : block.offsets[k + 1]]
            divider = int((record == 0).argmax())
            start = divider + 1 + self._marks
            self._phrases.append(record[start:].tolist())
        self._seen += len(block.values)
        while len(self._phrases) > 2 * self._most:
            self._phrases = self._phrases[::2]
            self._step *= 2

    def phrases(self, words: Sequence[str]) -> list[list[str]]:
        """Return the sampled phrases as words."""
        return [[words[symbol - 1] for symbol in phrase] for phrase in self._phrases]


def write_records(
    exchange: BucketExchange,
    key: str,
    parts: int,
    blocks: Iterable[Records],
    words: Sequence[str],
) -> tuple[list[str], list[list[str]]]:
    """Write the records of one of several parts in buckets by the first phrase, and its words.

    Return the files, and a sample of the second phrases.
    """
    sample = _PhraseSample(parts, exchange.marks)
    in_order, ranks = ranked(words)
    hashes = word_hashes(words)
    files = [exchange.path("records", key), exchange.path("words", key)]
    with placing(files[0]) as beside, open(beside, "wb") as stream:
        sections = Sections(stream, exchange.buckets)
        for block in blocks:
            sample.add(block)
            buckets = by_first_phrase(block, hashes, exchange.buckets, exchange.marks)
            sections.add(renumbered(block, ranks, exchange.marks), buckets)
        sections.close()
    with placing(files[1]) as beside:
        WordPool.of(in_order).write(beside)
    return files, sample.phrases(words)


def by_first_phrase(block: Records, hashes: U8, buckets: int, marks: int = 0) -> I4:
    """Return a bucket for each record, which the words of its first phrase decide.

    `hashes` has the hash of each word's text, as parts number the same words differently. Their sum
    does not depend on the order of the words; such phrases share a bucket, which does no harm.
    """
    words = _are_words(block, marks)
    terms = np.zeros(len(block.symbols), np.uint64)
    terms[words] = hashes[block.symbols[words] - 1]
    # sums are modulo 2^64, and so are their differences
    sums = np.zeros(len(terms) + 1, np.uint64)
    np.cumsum(terms, out=sums[1:])
    dividers = np.flatnonzero(block.symbols == 0)
    totals = sums[dividers] - sums[block.offsets[:-1]]
    return (totals % np.uint64(buckets)).astype(np.int32)


def renumbered(block: Records, numbers: I4, marks: int) -> Records:
    """Return records with other numbers of their words: word k becomes word numbers[k]."""
    words = _are_words(block, marks)
    symbols = block.symbols.copy()
    symbols[words] = numbers[symbols[words] - 1] + 1
    return block._replace(symbols=symbols)


def _are_words(block: Records, marks: int) -> NDArray[np.bool_]:
    """Return which symbols are words: neither the 0 of a record nor the marks behind it."""
    words = block.symbols > 0
    dividers = np.flatnonzero(block.symbols == 0)
    for k in range(1, marks + 1):
        words[dividers + k] = False
    return words


def add_records(
    runs: Runs, exchange: BucketExchange, bucket: int, places: Mapping[str, str]
) -> None:
    """Add a bucket of the records of all parts; their words get the shared numbers.

    `places` has the file with these numbers for each part; see `SharedWords`.
    """
    for key, path in places.items():
        try:
            numbers = np.fromfile(path, np.int32)
        except OSError as problem:
            raise FileError.of(problem, path) from None
        for block in read_section(exchange.path("records", key), bucket):
            runs.add(*renumbered(block, numbers, exchange.marks))


# The second exchange: by the order of the phrases


def cut_points(samples: Sequence[Sequence[str]], pool: WordPool, buckets: int) -> list[list[int]]:
    """Return up to `buckets` - 1 sorted phrases that divide all phrases into about equal buckets.

    A bucket begins with the phrase at its cut and ends before the next one. The words of phrases
    are given as symbols: their place in the pool, from 1 on.
    """
    words = set(chain.from_iterable(samples))
    symbol = {word: k for k, word in enumerate(pool.words(), start=1) if word in words}
    phrases = sorted([symbol[word] for word in phrase] for phrase in samples)
    if not phrases:
        return []
    chosen = [phrases[len(phrases) * k // buckets] for k in range(1, buckets)]
    return [phrase for phrase, _ in groupby(chosen)]  # a frequent phrase may be chosen repeatedly


def write_turned(
    exchange: BucketExchange, bucket: int, records: Iterable[Records], cuts: Sequence[Sequence[int]]
) -> str:
    """Write a bucket's records in buckets by the order of their first phrases; return the file."""
    offsets = offsets_of([len(phrase) for phrase in cuts])
    keys = np.array(list(chain.from_iterable(cuts)), np.int32)
    path = exchange.path("turned", bucket)
    with placing(path) as beside, open(beside, "wb") as stream:
        sections = Sections(stream, len(cuts) + 1)
        for block in map(all_readonly, records):
            sections.add(block, kernel.between(block.symbols, block.offsets, keys, offsets))
        sections.close()
    return path


def add_turned(runs: Runs, exchange: BucketExchange, bucket: int) -> None:
    """Add a bucket from the files that all buckets wrote with `write_turned`."""
    for key in range(exchange.buckets):
        for block in read_section(exchange.path("turned", key), bucket):
            runs.add(*block)


def write_text(exchange: BucketExchange, bucket: int, texts: Iterable[str]) -> str:
    """Write a bucket of the lines of a table; return the file."""
    path = exchange.path("lines", bucket)
    with placing(path) as beside, open(beside, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(texts)
    return path
