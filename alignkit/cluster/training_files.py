"""The files of a training: its plan with their names, arrays by name, and numbered words.

Words are numbered in two steps. `Reader` numbers those of each part by their first place in it;
`merge_words` then gives the words of all parts shared numbers, by frequency, then by their first
place, as on one machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_count
from alignkit._support.array_types import I4, I8
from alignkit.align.bitext import Bitext, Pieces, Side
from alignkit.align.encoder.encoding import EncoderUsed
from alignkit.align.priors import stems_of_words
from alignkit.align.priors_kernel import Stems
from alignkit.align.settings import Settings
from alignkit.cluster.part_facts import Facts, file_facts, name_of, refuse_long
from alignkit.cluster.run import RunError, placing
from alignkit.io.options import ReadOptions
from alignkit.model.alignment import SIDES
from alignkit.rules.tables.word_pool import WordPool


@dataclass(frozen=True)
class TrainingPlan:
    """The division of a training, shared by all its tasks, and the paths of its files.

    Files for all rounds (`file`), and which function writes them:

    ========================  ====================================  ===============================
    words/SIDE                `merge_words`                         the words of all parts
    encoded/PART              `alignkit.cluster.encoding`           what an encoder says of cells
    parts/PART                `training_tasks.index_part`           words as numbers, word pairs
    shards/SHARD              `training_tasks.make_shard`           word pairs and their prior
    forgotten/SHARD           `training_tasks.add_counts`           which word pairs were pruned
    memory/PART               `training_tasks.remember`             what the model keeps of a part
    ========================  ====================================  ===============================

    Files of one round (`after`):

    ========================  ====================================  ===============================
    part-PART                 `training_tasks.expect`               the expected links in a part
    counts-SHARD              `training_tasks.add_counts`           those in a shard, of all parts
    common                    `training_tasks.add_parts`            the empty word, jumps, stems
    weights-SHARD             `training_tasks.weigh`                weights for each part, and sums
    totals                    `training_tasks.add_shards`           what weights are divided by
    ========================  ====================================  ===============================
    """

    folder: str
    run: str  # a name that no other run has
    settings: Settings
    casefold: bool
    parts: int
    shards: int
    pairs: int  # of all parts, long ones cut
    firsts: tuple[int, ...]  # the number of the first pair of each part
    sizes: tuple[int, int]  # source and target words
    memory: int = 0  # bytes of a worker; 0 if not known
    threads: int | None = None  # of a task; None: one for each core
    encoder: EncoderUsed | None = None

    def file(self, kind: str, name: object) -> str:
        """Return the path of a file that is kept for all rounds."""
        return os.path.join(self.folder, kind, f"{name}.npz")

    def after(self, done: int, name: str) -> str:
        """Return the path of a file written after `done` rounds."""
        return os.path.join(self.folder, f"round-{done}", f"{name}.npz")

    def round_files(self, done: int) -> list[str]:
        """Return the paths of all files written after `done` rounds."""
        names = [f"part-{k}" for k in range(self.parts)]
        names += [f"counts-{k}" for k in range(self.shards)]
        names += [f"weights-{k}" for k in range(self.shards)]
        return [self.after(done, name) for name in [*names, "common", "totals"]]


# Arrays in files


@dataclass(frozen=True)
class Arrays:
    """The arrays of a file by name."""

    path: str
    members: Mapping[str, NDArray[Any]]

    def __getitem__(self, name: str) -> NDArray[Any]:
        with _run_errors(self.path):
            return self.members[name]

    def dense(self, name: str, size: int, rest: float = 0) -> NDArray[Any]:
        """Return an array that `sparse` made: whole, or with its places as NAME-at."""
        values = self[name]
        if f"{name}-at" not in self.members:
            return values
        whole = np.full(size, rest, values.dtype)
        whole[self[f"{name}-at"]] = values
        return whole


def sparse(name: str, values: NDArray[Any], rest: float = 0) -> dict[str, NDArray[Any]]:
    """Return arrays that represent values (N,), of which most are `rest`; see `Arrays.dense`.

    NAME has the other values, and NAME-at their places; if that is no shorter, NAME has all.
    """
    kind: type[np.integer] = np.int64
    if len(values) <= np.iinfo(np.int32).max:
        kind = np.int32
    at = np.flatnonzero(values != values.dtype.type(rest))
    bytes_of_one = values.itemsize + np.dtype(kind).itemsize
    if len(at) * bytes_of_one >= values.nbytes:
        return {name: values}
    return {name: values[at], f"{name}-at": at.astype(kind)}


def write_arrays(path: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to a file; it appears only when it is complete."""
    with placing(path) as beside, open(beside, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


@contextmanager
def opened(path: str) -> Iterator[Arrays]:
    """Open a file of arrays."""
    with _run_errors(path):
        members = np.load(path, allow_pickle=False)
    with members:
        yield Arrays(path, members)


@contextmanager
def _run_errors(path: str) -> Iterator[None]:
    """Turn errors of a file of the run into what users can do."""
    try:
        yield
    except (OSError, EOFError, ValueError, KeyError, BadZipFile) as problem:
        raise RunError(
            f"{path}: a file of the run is missing or damaged ({problem}); start again in "
            "another folder, given with `work`"
        ) from None


# Words as numbers


@dataclass(frozen=True)
class Reader:
    """Reads parts, and writes their words as numbers, by first place."""

    folder: str  # where the files of the parts go
    casefold: bool  # whether case is ignored
    options: ReadOptions

    def file(self, paths: Sequence[str]) -> str:
        """Return the path of the file of a part."""
        name = name_of(paths).encode("utf-8", "surrogateescape")
        return os.path.join(self.folder, f"{blake2b(name, digest_size=16).hexdigest()}.npz")

    def __call__(self, paths: Sequence[str]) -> Facts:
        """Read a part and write its file; return its facts."""
        facts = file_facts(paths)
        options = self.options
        bitext = whole_part(paths, options, self.casefold)
        source = bitext.source
        target = bitext.target
        refuse_long(source.lengths.tolist(), first=1, path=paths[0], options=options)
        refuse_long(target.lengths.tolist(), first=1, path=paths[-1], options=options)
        cut = cut_pairs(bitext)
        pairs_and_cells = np.array([len(cut), cut.starts[-1]])
        arrays: dict[str, NDArray[Any]] = {"size": pairs_and_cells}
        arrays |= _by_first_places("source", source)
        arrays |= _by_first_places("target", target)
        write_arrays(self.file(paths), arrays)
        return replace(facts, source_words=len(source.ids), target_words=len(target.ids))


def whole_part(
    paths: Sequence[str], options: ReadOptions, casefold: bool, *, written: bool = False
) -> Bitext:
    """Read the text of a part; with `written`, words keep their case for an encoder."""
    from alignkit.align.numbered_texts import lines_of, numbered

    bitext = Bitext.pack([], casefold=casefold, written=written)
    for lines in lines_of(list(paths), options, format=None, whole=True):
        # all lines come at once; none if the part is empty
        bitext = numbered(lines, casefold=casefold, threads=1, written=written)
    return bitext


def _by_first_places(name: str, side: Side) -> dict[str, NDArray[Any]]:
    """Return the arrays of a side, with the words numbered by their first place."""
    _, first_places = np.unique(side.ids, return_index=True)  # of each word, by its number
    order = np.argsort(first_places)  # the words in their new order
    words = WordPool.of([side.words[word] for word in order.tolist()])
    return {
        f"{name}-ids": _ranks(order)[side.ids],
        f"{name}-starts": side.starts,
        f"{name}-letters": words.text,
        f"{name}-ends": words.ends,
        f"{name}-frequencies": side.frequencies[order],
    }


def _ranks(order: NDArray[np.intp]) -> I4:
    """Return the inverse of a permutation: the place of each number in an order."""
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def cut_pairs(bitext: Bitext) -> Bitext:
    """Return a bitext with long pairs cut into pieces."""
    pieces = Pieces.of(bitext)
    if pieces is None:
        return bitext
    return pieces.bitext


def cut_size(file: str) -> tuple[int, int]:
    """Return the numbers of pairs and cells of a part after cutting long pairs."""
    with opened(file) as arrays:
        pairs, cells = arrays["size"].tolist()
    return pairs, cells


def merge_words(files: Sequence[str], side: str, stem: int, file: str) -> tuple[int, int]:
    """Merge the words of a side of all parts; return the numbers of words and stems."""
    # by first place in all parts: the number of each word, and those of the words of each part
    number_of: dict[str, int] = {}
    of_parts: list[I4] = []
    frequencies: list[I8] = []
    for path in files:
        with opened(path) as part:
            words = WordPool(part[f"{side}-letters"], part[f"{side}-ends"]).words()
            numbers = [number_of.setdefault(word, len(number_of)) for word in words]
            of_parts.append(np.array(numbers, np.int32))
            frequencies.append(part[f"{side}-frequencies"])
    count = len(number_of)
    check_count("different words", count)
    totals = np.zeros(count, np.int64)
    for part_numbers, added in zip(of_parts, frequencies, strict=True):
        totals[part_numbers] += added
    # by frequency; the sort is stable, so equal ones stay in the order of first places
    order = np.argsort(-totals, kind="stable")
    shared_number = _ranks(order)  # by the number so far
    texts = list(number_of)
    ordered = [texts[number] for number in order.tolist()]
    pool = WordPool.of(ordered)
    if stem:
        stems = stems_of_words(ordered, totals[order], stem)
    else:  # each word is a stem
        stems = Stems(np.arange(count, dtype=np.int32), count, np.ones(count, np.float32))
    arrays: dict[str, NDArray[np.generic]] = {
        "letters": pool.text,
        "ends": pool.ends,
        "frequencies": totals[order],
        "stems": stems.numbers,
        "shares": stems.shares,
        "stem_count": np.array(stems.size),
    }
    for k, part_numbers in enumerate(of_parts):
        arrays[f"numbers-{k}"] = shared_number[part_numbers]
    write_arrays(file, arrays)
    return count, stems.size


def shared_words(plan: TrainingPlan, side: str) -> list[str]:
    """Return the words of a side, the most frequent first."""
    with opened(plan.file("words", side)) as arrays:
        return list(WordPool(arrays["letters"], arrays["ends"]).words())


def stems_of(plan: TrainingPlan, side: str) -> Stems:
    """Return the stems of the words of a side."""
    with opened(plan.file("words", side)) as arrays:
        return Stems(arrays["stems"], int(arrays["stem_count"]), arrays["shares"])


def stored(plan: TrainingPlan, arrays: Arrays | Mapping[str, NDArray[Any]]) -> Bitext:
    """Return a bitext with only numbers, for the aligner's kernels."""
    sides = []
    for name, size in zip(SIDES, plan.sizes, strict=True):
        words = [""] * size
        sides.append(Side.trusted(words, arrays[f"{name}-ids"], arrays[f"{name}-starts"]))
    source, target = sides
    return Bitext(source, target, plan.casefold)
