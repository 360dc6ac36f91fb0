"""Estimate the memory and disk space for a corpus, from the beginnings of some parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice

import numpy as np

from alignkit.cluster.parts import Part
from alignkit.cluster.phrase_tables import AlignedInput, open_part
from alignkit.errors import FileError, OptionError
from alignkit.io.inputs import Choice, naming
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.rules.tables.phrase_tables import PhraseCounts, TableSettings

_PARTS = 8  # that are looked at
_PAIRS = 5000  # sentence pairs that are counted of each
_MORE = 100_000  # sentence pairs that are read of each after these, but not counted
# bytes on disk: each symbol of a record is in the first exchange, in the second, and a word in the
# table; each record has numbers in all three
_SYMBOL = 3  # times its size in memory
_RECORD = 60
PLACE = 60  # bytes of a worker's memory per word pair of its shard in training


def word_pairs(cells: int) -> int:
    """Estimate the number of distinct word pairs of a text with this number of cells."""
    return int(20.0 * float(cells) ** 0.71)  # the Hansards at 10,000 to 100,000 pairs


def worker_memory(pairs: int, cells: int, places: int) -> int:
    """Estimate the bytes of a worker's memory for training, without other parts."""
    return 200_000_000 + 500 * pairs + 15 * cells + PLACE * places


@dataclass(frozen=True)
class TextSize:
    """The estimated size of a corpus, and the needs of training on it."""

    parts: int
    pairs: int  # of the whole, as are words and cells
    largest: int  # the pairs of the largest part
    source_words: int
    target_words: int
    cells: int

    @property
    def memory(self) -> int:
        """Bytes of memory for default training on one machine, with cells on disk."""
        return 48 * word_pairs(self.cells) + 12 * (self.source_words + self.target_words)

    @property
    def worker(self) -> int:
        """Bytes of a worker's memory for training on these parts, if there is one shard."""
        cells = self.cells * self.largest // max(self.pairs, 1)
        return worker_memory(self.largest, cells, word_pairs(self.cells))

    @property
    def disk(self) -> int:
        """Bytes on disk for training on one machine."""
        return 5 * self.cells


def spread(parts: Sequence[Part]) -> list[Part]:
    """Return some parts, evenly spread."""
    return list(parts[:: -(-len(parts) // _PARTS)])


def estimate_texts(parts: Sequence[Part], options: ReadOptions) -> TextSize:
    """Estimate the size of a corpus with parts of two texts each."""
    seen = np.zeros(4, np.int64)
    read = 0.0  # bytes
    for part in spread(parts):
        counts, share = _beginning(part, options)
        seen += counts
        read += share * _size(part)
    if not read:
        raise OptionError(f"{parts[0].paths[0]}: no sentence pairs in this part or any other")
    sizes = [_size(part) for part in parts]
    pairs, source_words, target_words, cells = (
        int(count * sum(sizes) / read) for count in seen.tolist()
    )
    largest = int(int(seen[0]) * max(sizes) / read)
    return TextSize(len(parts), pairs, largest, source_words, target_words, cells)


def _beginning(part: Part, options: ReadOptions) -> tuple[list[int], float]:
    """Read some lines; return their pairs, words of both sides, cells, and their share of all."""
    from alignkit.align.numbered_texts import lines_of, numbered

    files: list[TextFile] = []

    def watch(file: TextFile) -> AbstractContextManager[Callable[[int], None]]:
        """Note a file that is read."""
        files.append(file)
        return nullcontext(lambda count: None)

    for lines in lines_of(list(part.paths), options, format=None, whole=False, watch=watch):
        bitext = numbered(lines, casefold=False, threads=1)
        source = bitext.source.lengths
        target = bitext.target.lengths
        counts = [lines.size, int(source.sum()), int(target.sum()), int(source @ target)]
        return counts, files[0].fraction() or 1.0
    return [0, 0, 0, 0], 0.0  # no lines


def _size(part: Part) -> int:
    """Return the bytes of the first file of a part."""
    try:
        return os.path.getsize(part.paths[0])
    except OSError as problem:
        raise FileError.of(problem, part.paths[0]) from None


def estimate_phrases(
    parts: Sequence[Part], settings: TableSettings, given: AlignedInput
) -> tuple[int, int, int]:
    """Estimate the sentence pairs and the phrase pairs of parts, and the most bytes on disk."""
    pairs = 0
    occurrences = 0.0
    disk = 0.0
    read = 0.0
    for part in spread(parts):
        with PhraseCounts(settings) as counts, naming(part.paths[0]):
            stream, reading = open_part(part, given)
            chosen = list(islice(stream, _PAIRS))
            more = sum(1 for _ in islice(stream, _MORE))  # how far it is read is known roughly
            read += (reading.fraction() or 1.0) * _size(part)
            counts.add(Choice(part.paths[0], given.annotator).annotated(chosen))
            share = (len(chosen) + more) / max(len(chosen), 1)
            pairs += len(chosen) + more
            occurrences += share * counts.occurrences
            for block in counts.records():
                disk += share * (_SYMBOL * block.symbols.nbytes + _RECORD * len(block.values))
    scale = sum(map(_size, parts)) / read if read else 0.0
    return int(pairs * scale), round(occurrences * scale), round(disk * scale)
