"""Similarity of texts: tf-idf vectors, and the similarities of rows, in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from alignkit.errors import AlignkitError, OptionError

Matrix = Any  # (n, d): a scipy sparse matrix or a numpy array
Encoder = Callable[[Sequence[str]], Matrix]
Floats = NDArray[np.float32]
Places = NDArray[np.int64]

LARGE = 20_000  # texts; above, words choose what letters compare
_CHOSEN = 200  # texts that words choose for each
_CELLS = 1 << 22  # of a block


def sklearn(module: str) -> Any:
    """Return a module of scikit-learn, or raise an error that names the extra."""
    try:
        return import_module(f"sklearn.{module}")
    except ImportError:
        needed = "this needs scikit-learn; run: pip install 'alignkit[identify]'"
        raise AlignkitError(needed) from None


@dataclass(frozen=True, kw_only=True)
class Similarity:
    r"""How similar texts are: the cosine of their vectors.

    Parameters
    ----------
    ngrams : The lengths of character n-grams within words; an n-gram in df of n texts has the
        weight tf (ln((1 + n)/(1 + df)) + 1).
    words : Count words (``\w+``) instead.
    encode : A function that returns a vector for each text, (n, d), sparse or dense, to use
        instead.
    """

    ngrams: tuple[int, int] = (2, 4)
    words: bool = False
    encode: Encoder | None = None

    def __post_init__(self) -> None:
        least, most = self.ngrams
        if not 1 <= least <= most <= 10:
            raise OptionError(f"n-grams {least}-{most}: expected two lengths from 1 to 10")

    def __str__(self) -> str:
        if self.encode is not None:
            return getattr(self.encode, "__qualname__", "encode")
        return "words" if self.words else f"letters {self.ngrams[0]}-{self.ngrams[1]}"

    def fit(self, texts: Sequence[str]) -> Callable[[Sequence[str]], Matrix]:
        """Return what makes unit vectors of texts, with the weights of these."""
        if (encode := self.encode) is not None:
            return lambda some: unit_rows(encoded(encode, some))
        return _fitted(texts, self.ngrams, words=self.words).transform

    def vectors(self, texts: Sequence[str]) -> Matrix:
        """Return the unit vectors of n texts, (n, d)."""
        return self.fit(texts)(texts)

    def neighbours(
        self, texts: Sequence[str], others: Sequence[str] | None = None
    ) -> Iterator[tuple[int, Places, Floats]]:
        """Yield each text's place, the places of texts compared with it, and their similarities.

        Texts are compared with all others of their list, or with a second list. If there are more
        than `LARGE`, words choose the 200 that letters compare with each.
        """
        every = [*texts, *(others or ())]
        rows = np.arange(len(texts))
        pool = rows if others is None else np.arange(len(texts), len(every))
        vectors = self.vectors(every)
        if len(every) <= LARGE or self.encode is not None or self.words:
            every_row = products(vectors, rows, pool)
        else:
            words = _fitted(every, self.ngrams, words=True, rare=True).transform(every)
            every_row = _by_words(vectors, words, rows, pool)
        for row, columns, values in every_row:
            apart = columns != row
            yield row, columns[apart] - pool[0], values[apart]


def products(
    vectors: Matrix, rows: Places, columns: Places
) -> Iterator[tuple[int, Places, Floats]]:
    """Yield each row with the columns and its dot product with them."""
    pool = vectors[columns].T
    size = max(1, min(256, _CELLS // max(1, len(columns))))
    for start in range(0, len(rows), size):
        block = rows[start : start + size]
        values = vectors[block] @ pool
        dense = values.toarray() if sparse.issparse(values) else np.asarray(values)
        for row, value in zip(block.tolist(), np.clip(dense, -1, 1), strict=True):
            yield row, columns, value


def _by_words(
    vectors: Matrix, words: Matrix, rows: Places, columns: Places
) -> Iterator[tuple[int, Places, Floats]]:
    """Yield the products with those columns alone that share the most words."""
    for row, every, shared in products(words, rows, columns):
        chosen = every[np.sort(best(shared, _CHOSEN + 1))]
        chosen = chosen[shared[chosen - columns[0]] > 0]
        values = (vectors[chosen] @ vectors[row].T).toarray().ravel()
        yield row, chosen, np.clip(values, -1, 1)


def best(values: NDArray[Any], k: int) -> Places:
    """Return the places of the k largest values, the largest first; ties by place."""
    if k < len(values):
        least = np.partition(values, -k)[-k]
        above, tied = np.nonzero(values > least)[0], np.nonzero(values == least)[0]
        kept = np.sort(np.concatenate((above, tied[: k - len(above)])))
    else:
        kept = np.arange(len(values))
    return kept[np.argsort(-values[kept], kind="stable")]


def _fitted(
    texts: Sequence[str], ngrams: tuple[int, int], *, words: bool, rare: bool = False
) -> Any:
    options: dict[str, Any] = {"dtype": np.float32}
    if words:
        options |= {"token_pattern": r"(?u)\w+"}
    else:
        options |= {"analyzer": "char_wb", "ngram_range": ngrams}
    if rare:
        options |= {"min_df": 2, "max_df": 0.1}
    vectorizer = sklearn("feature_extraction.text").TfidfVectorizer
    try:
        return vectorizer(**options).fit(texts)
    except ValueError:
        raise OptionError("no text has a word that can be compared") from None


def encoded(encode: Callable[[Any], Matrix], texts: Sequence[object]) -> Matrix:
    """Return what a user's function makes of texts; raise an error unless it is n finite rows."""
    name = getattr(encode, "__qualname__", "encode")
    made = encode(list(texts))
    made = made.tocsr() if sparse.issparse(made) else np.asarray(made, float)
    if made.ndim != 2 or made.shape[0] != len(texts) or not made.shape[1]:
        shape = " x ".join(map(str, made.shape))
        raise OptionError(
            f"{name}: returned {shape} values for {len(texts)} texts; expected a row each"
        )
    if not np.isfinite(made.data if sparse.issparse(made) else made).all():
        raise OptionError(f"{name}: returned values that are not finite")
    return made


def unit_rows(vectors: Matrix) -> Matrix:
    """Return a matrix with rows of length 1; rows of zeros stay."""
    return sklearn("preprocessing").normalize(vectors)
