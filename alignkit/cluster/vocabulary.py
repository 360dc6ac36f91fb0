"""Number the words of all parts as one machine would: by frequency, then by their first place."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_count
from alignkit.align.bitext import Bitext, Pieces, Side
from alignkit.align.priors import Stems
from alignkit.cluster.parts import Facts, digest_of, refuse_long, states_of
from alignkit.cluster.plan import Arrays, opened, write_arrays
from alignkit.io.options import ReadOptions
from alignkit.rules.tables.exchange import WordPool

I4 = NDArray[np.int32]
I8 = NDArray[np.int64]

SIDES = ("source", "target")
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Reader:
    """Read parts, and write their words as numbers, by their first places."""

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
        sides = bitext.source, bitext.target
        for side, path in zip(sides, (paths[0], paths[-1]), strict=True):
            refuse_long(side.lengths.tolist(), 1, path, options)
        pieces = Pieces.of(bitext)
        cut = bitext if pieces is None else pieces.bitext
        arrays: dict[str, NDArray[Any]] = {"size": np.array([len(cut), cut.starts[-1]])}
        for name, side in zip(SIDES, sides, strict=True):
            arrays |= _by_first_places(name, side)
        write_arrays(self.file(paths), arrays)
        return Facts(
            pairs=len(bitext),
            source_words=len(sides[0].ids),
            target_words=len(sides[1].ids),
            cells=int(bitext.starts[-1]),
            longest=int(max(side.lengths.max(initial=0) for side in sides)),
            states=states,
            digests=[*map(digest_of, paths)],
        )


def _by_first_places(name: str, side: Side) -> dict[str, NDArray[Any]]:
    order = np.argsort(np.unique(side.ids, return_index=True)[1])
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    words = WordPool.of([side.words[word] for word in order.tolist()])
    return {
        f"{name}-ids": rank[side.ids],
        f"{name}-starts": side.starts,
        f"{name}-letters": words.text,
        f"{name}-ends": words.ends,
        f"{name}-frequencies": side.frequencies[order],
    }


def cut_size(file: str) -> tuple[int, int]:
    """Return how many pairs and cells a part has whose long lines are cut."""
    with opened(file) as arrays:
        pairs, cells = arrays["size"].tolist()
    return pairs, cells


def merge_words(files: Sequence[str], side: str, stem: int, file: str) -> tuple[int, int]:
    """Merge the words of all parts of a side; return how many there are, and how many stems."""
    known: dict[str, int] = {}
    numbers: list[I4] = []
    counts: list[I8] = []
    for path in files:
        with opened(path) as part:
            words = WordPool(part[f"{side}-letters"], part[f"{side}-ends"]).words()
            counts.append(part[f"{side}-frequencies"])
        numbers.append(
            np.fromiter((known.setdefault(word, len(known)) for word in words), np.int32)
        )
    check_count("different words", len(known))
    totals = np.zeros(len(known), np.int64)
    for places, added in zip(numbers, counts, strict=True):
        totals[places] += added
    order = np.argsort(-totals, kind="stable")
    rank = np.empty(len(known), np.int32)
    rank[order] = np.arange(len(known), dtype=np.int32)
    names = list(known)
    words = [names[number] for number in order.tolist()]
    pool = WordPool.of(words)
    arrays: dict[str, NDArray[np.generic]] = {
        "letters": pool.text,
        "ends": pool.ends,
        "frequencies": totals[order],
    }
    stems = Stems.of(words, totals[order], stem) if stem else _alone(len(words))
    arrays |= {"stems": stems.numbers, "shares": stems.shares, "stem_count": np.array(stems.size)}
    arrays |= {f"numbers-{k}": rank[places] for k, places in enumerate(numbers)}
    write_arrays(file, arrays)
    return len(words), stems.size


def _alone(words: int) -> Stems:
    return Stems(np.arange(words, dtype=np.int32), words, np.ones(words, np.float32))


@dataclass(frozen=True, eq=False)
class SharedVocabulary:
    """The words of a side."""

    words: list[str]  # the most frequent first
    stems: Stems  # how they begin

    @classmethod
    def read(cls, file: str) -> SharedVocabulary:
        """Read what `merge_words` wrote."""
        with opened(file) as arrays:
            return cls(WordPool(arrays["letters"], arrays["ends"]).words(), stems_in(arrays))


def stems_in(arrays: Arrays) -> Stems:
    """Return the stems of a file of words."""
    return Stems(arrays["stems"], int(arrays["stem_count"]), arrays["shares"])


def shards_of(stems: I4, number: int) -> I4:
    """Return the shard of each word, by its stem: words of one stem are in one shard."""
    mixed = (stems.astype(np.uint64) + np.uint64(1)) * _MIX >> np.uint64(32)
    return (mixed % np.uint64(number)).astype(np.int32)


def stored(
    arrays: Arrays | Mapping[str, NDArray[Any]], sizes: Sequence[int], casefold: bool
) -> Bitext:
    """Return a bitext whose words are numbers among so many, for the aligner's kernels."""
    sides = [
        Side.trusted([""] * size, arrays[f"{name}-ids"], arrays[f"{name}-starts"])
        for name, size in zip(SIDES, sizes, strict=True)
    ]
    return Bitext(sides[0], sides[1], casefold)
