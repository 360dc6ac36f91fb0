"""Lists of words in two arrays, for kernels and files; and hashes of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import I8
from alignkit._support.wording import escaped
from alignkit.errors import FileError
from alignkit.model.arrays import offsets_of


class WordPool(NamedTuple):
    """A list of words: their bytes in UTF-8, and (V + 1,) where each ends, from 0 on."""

    text: NDArray[np.uint8]
    ends: I8

    @classmethod
    def of(cls, words: Iterable[str], errors: str = "surrogatepass") -> WordPool:
        """Return a list of words in the same order; `errors` as in `str.encode`."""
        texts = [word.encode("utf-8", errors) for word in words]
        ends = offsets_of([len(text) for text in texts])
        return cls(np.frombuffer(b"".join(texts), np.uint8), ends)

    @classmethod
    def shown(cls, words: Iterable[str]) -> WordPool:
        """Return a list of words as tables show them."""
        return cls.of(map(escaped, words), "strict")

    @classmethod
    def read(cls, path: str) -> WordPool:
        """Read a list written by `write`."""
        try:
            with open(path, "rb") as stream:
                return cls(np.load(stream), np.load(stream))
        except OSError as problem:
            raise FileError.of(problem, path) from None

    def write(self, path: str) -> None:
        """Write the list."""
        with open(path, "wb") as stream:
            np.save(stream, self.text)
            np.save(stream, self.ends)

    def words(self) -> Iterator[str]:
        """Yield the words."""
        text = self.text.tobytes()
        for begin, end in pairwise(self.ends.tolist()):
            yield text[begin:end].decode("utf-8", "surrogatepass")

    def __len__(self) -> int:
        return len(self.ends) - 1


def word_hashes(words: Iterable[str]) -> NDArray[np.uint64]:
    """Return a hash of each word's text, the same in all processes."""
    texts = (word.encode("utf-8", "surrogatepass") for word in words)
    digests = b"".join(blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, np.uint64)
