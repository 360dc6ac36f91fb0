"""The files of a training: its plan with their names, arrays by name, and numbered words.

Words get the same numbers as on one machine: by frequency, then by their first place.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
from alignkit.cluster.parts import Facts, digest_of, refuse_long, states_of
from alignkit.cluster.run import RunError, placing
from alignkit.io.options import ReadOptions
from alignkit.model.alignment import SIDES
from alignkit.rules.tables.runs import WordPool


@dataclass(frozen=True)
class TrainingPlan:
    """The division of a training, shared by all its tasks."""

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
        # words/SIDE: see `merge_words`. encoded/PART: what an encoder says of its cells.
        # parts/PART: its words as numbers, its word pairs with their first counts. shards/SHARD:
        # its word pairs, their prior, where those of each part are. forgotten/SHARD: which were
        # pruned. memory/PART: what the model remembers of it.
        return os.path.join(self.folder, kind, f"{name}.npz")

    def after(self, done: int, name: str) -> str:
        """Return the path of a file written after `done` rounds."""
        # part-K: the expected links in a part. counts-K: those in a shard. weights-K: the weights
        # of a shard, for each part, and their sums. common: tables of the empty word, jumps and
        # sums of stems. totals: what weights are divided by.
        return os.path.join(self.folder, f"round-{done}", f"{name}.npz")

    def round_files(self, done: int) -> list[str]:
        """Return the paths of all files written after `done` rounds."""
        names = [f"part-{k}" for k in range(self.parts)]
        names += [f"counts-{k}" for k in range(self.shards)]
        names += [f"weights-{k}" for k in range(self.shards)]
        return [self.after(done, name) for name in [*names, "common", "totals"]]


# Arrays in files


class Arrays:
    """The arrays of a file by name."""

    def __init__(self, path: str, members: Mapping[str, NDArray[Any]]) -> None:
        self._path = path
        self._members = members

    def __getitem__(self, name: str) -> NDArray[Any]:
        with _run_errors(self._path):
            return self._members[name]

    def dense(self, name: str, size: int, rest: float = 0) -> NDArray[Any]:
        """Return an array from the parts made by `sparse`."""
        values = self[name]
        if f"{name}-at" not in self._members:
            return values
        whole = np.full(size, rest, values.dtype)
        whole[self[f"{name}-at"]] = values
        return whole


def sparse(name: str, values: NDArray[Any], rest: float = 0) -> dict[str, NDArray[Any]]:
    """Return arrays that represent values (N,), of which most are `rest`; see `Arrays.dense`."""
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

    __name__ = "read_part"

    def file(self, paths: Sequence[str]) -> str:
        """Return the path of the file of a part."""
        name = "\n".join(map(os.path.abspath, paths)).encode("utf-8", "surrogateescape")
        return os.path.join(self.folder, f"{blake2b(name, digest_size=16).hexdigest()}.npz")

    def __call__(self, paths: Sequence[str], options: ReadOptions) -> Facts:  # noqa: D102
        from alignkit.align.numbered_texts import lines_of, numbered

        states = states_of(paths)
        bitext = Bitext.pack([], casefold=self.casefold)
        for lines in lines_of(list(paths), options, format=None, whole=True):
            bitext = numbered(lines, casefold=self.casefold, threads=1)
        source = bitext.source
        target = bitext.target
        refuse_long(source.lengths.tolist(), 1, paths[0], options)
        refuse_long(target.lengths.tolist(), 1, paths[-1], options)
        cut = cut_pairs(bitext)
        arrays: dict[str, NDArray[Any]] = {"size": np.array([len(cut), cut.starts[-1]])}
        arrays |= _by_first_places("source", source)
        arrays |= _by_first_places("target", target)
        write_arrays(self.file(paths), arrays)
        return Facts(states, list(map(digest_of, paths)), len(source.ids), len(target.ids))


def _by_first_places(name: str, side: Side) -> dict[str, NDArray[Any]]:
    """Return the arrays of a side, with the words numbered by their first place."""
    _, first_places = np.unique(side.ids, return_index=True)
    order = np.argsort(first_places)
    words = WordPool.of([side.words[word] for word in order.tolist()])
    return {
        f"{name}-ids": _ranks(order)[side.ids],
        f"{name}-starts": side.starts,
        f"{name}-letters": words.text,
        f"{name}-ends": words.ends,
        f"{name}-frequencies": side.frequencies[order],
    }


def _ranks(order: NDArray[np.intp]) -> I4:
    """Return the place of each number in an order."""
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
    known: dict[str, int] = {}
    numbers: list[I4] = []
    counts: list[I8] = []
    for path in files:
        with opened(path) as part:
            words = WordPool(part[f"{side}-letters"], part[f"{side}-ends"]).words()
            own = (known.setdefault(word, len(known)) for word in words)
            numbers.append(np.fromiter(own, np.int32))
            counts.append(part[f"{side}-frequencies"])
    check_count("different words", len(known))
    totals = np.zeros(len(known), np.int64)
    for places, added in zip(numbers, counts, strict=True):
        totals[places] += added
    order = np.argsort(-totals, kind="stable")
    ranks = _ranks(order)
    names = list(known)
    count = len(known)
    ordered = [names[number] for number in order.tolist()]
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
    for k, places in enumerate(numbers):
        arrays[f"numbers-{k}"] = ranks[places]
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
