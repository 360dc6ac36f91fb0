"""The trees of many sentences as flat arrays: what the kernels take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from alignkit.jit import readonly
from alignkit.limits import check_count
from alignkit.trees import Tree

_COLUMNS = ("parents", "starts", "ends", "afters")
_NONE = np.empty(0, np.int32)
_NUMBERING = Lock()


class Names(dict[str, int]):
    """Number labels or words as they come: ``names["NP"]``; equal texts alone are equal."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __missing__(self, name: str) -> int:
        with _NUMBERING:
            if name in self:  # another thread came first
                return self[name]
            check_count("different labels or words", len(self) + 1)
            self.texts.append(name)
            self[name] = number = len(self)
        return number

    def encode(self, texts: Iterable[str], count: int) -> NDArray[np.int32]:
        """Return the numbers of so many texts."""
        return np.fromiter(map(self.__getitem__, texts), np.int32, count)


def ends_of(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return where parts of these sizes begin, and where the last ends."""
    return np.fromiter(accumulate(sizes, initial=0), np.int64, len(sizes) + 1)


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """P trees, or strings, one after the other."""

    nodes: NDArray[np.int32]
    labels: NDArray[np.int32]  # (n,) int32: the numbers of their labels
    offsets: NDArray[np.int64]  # (P + 1,) int64: where the nodes of each tree begin
    words: NDArray[np.int32]  # (T,) int32: the numbers of all words
    word_offsets: NDArray[np.int64]  # (P + 1,) int64: where the words of each tree begin

    @classmethod
    def pack(
        cls,
        trees: Sequence[Tree | None],
        sentences: Sequence[Sequence[str]],
        labels: Names,
        words: Names,
    ) -> TreeArrays:
        """Make the arrays of some sentences, with their trees if they have any."""
        sizes = [0 if tree is None else len(tree.labels) for tree in trees]
        offsets, word_offsets = ends_of(sizes), ends_of([*map(len, sentences)])
        check_count("nodes", int(offsets[-1]))
        known = [tree for tree in trees if tree is not None]
        columns = [getattr(tree, name) for name in _COLUMNS for tree in known]
        names = chain.from_iterable(tree.labels for tree in known)
        return cls(
            readonly(np.concatenate([_NONE, *columns]).reshape(4, -1)),
            readonly(labels.encode(names, int(offsets[-1]))),
            readonly(offsets),
            readonly(words.encode(chain.from_iterable(sentences), int(word_offsets[-1]))),
            readonly(word_offsets),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def of(self, k: int) -> TreeArrays:
        """Return the arrays of tree k alone."""
        nodes = slice(self.offsets[k], self.offsets[k + 1])
        words = slice(self.word_offsets[k], self.word_offsets[k + 1])
        return TreeArrays(
            readonly(self.nodes[:, nodes]),
            readonly(self.labels[nodes]),
            readonly(self.offsets[k : k + 2] - self.offsets[k]),
            readonly(self.words[words]),
            readonly(self.word_offsets[k : k + 2] - self.word_offsets[k]),
        )
