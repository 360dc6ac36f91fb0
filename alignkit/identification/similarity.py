"""Similarity of texts: their vectors, and the cosines of pairs of rows, in blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import F4, I8
from alignkit._support.extras import missing_libraries
from alignkit.errors import AlignkitError, OptionError
from alignkit.identification.options import Encoder, Matrix, SearchOptions, name_of

Places = I8
Row = tuple[int, Places, F4]
"""The place of a text, the places of texts compared with it, and their similarities."""

LARGE = 20_000
"""If more texts are compared with each text, words choose those that letters compare."""
_CHOSEN = 200  # texts that words choose for each
BY_WORDS = (
    f"more than {LARGE:,} texts: letters compare each with the {_CHOSEN} that share most words; "
    "words of a single text, or of more than 10% of the texts, do not count; the histogram has the "
    "pairs that the first of two texts chose"
)
_WORDS = {"token_pattern": r"(?u)\w+"}
_CELLS = 1 << 22  # of a block
_ROWS = 256


def sklearn(module: str) -> Any:
    """Return a module of scikit-learn, or raise an error that names the extra."""
    try:
        return import_module(f"sklearn.{module}")
    except ImportError:
        message = missing_libraries("this", ["scikit-learn"], "identify")
        raise AlignkitError(message) from None


def fit(texts: Sequence[str], options: SearchOptions) -> Encoder:
    """Return a function that makes unit vectors of texts, with the weights of these texts."""
    encode = options.text_vectors
    if encode is not None:
        return lambda some: sklearn("preprocessing").normalize(encoded(encode, some))
    if options.words:
        return _fitted(texts, **_WORDS)
    return _fitted(texts, analyzer="char_wb", ngram_range=options.ngrams)


def _fitted(texts: Sequence[str], **options: Any) -> Encoder:
    """Return a function that makes tf-idf vectors, with the frequencies of these texts."""
    vectorizer = sklearn("feature_extraction.text").TfidfVectorizer(dtype=np.float32, **options)
    try:
        encode: Encoder = vectorizer.fit(texts).transform
    except ValueError:
        raise OptionError("no text has a word that can be compared") from None
    return encode


def words_choose(columns: Places, options: SearchOptions) -> bool:
    """Return whether words choose which of the columns are compared with a row."""
    return len(columns) > LARGE and not options.words and options.text_vectors is None


def compared(
    texts: Sequence[str], blocks: Iterable[tuple[Places, Places]], options: SearchOptions
) -> Iterator[Row]:
    """Compare the texts at the rows of each block with those at its columns."""
    vectors = fit(texts, options)(texts)
    words = None
    for rows, columns in blocks:
        if not words_choose(columns, options):
            yield from products(vectors, rows, columns)
            continue
        if words is None:
            words = _fitted(texts, min_df=2, max_df=0.1, **_WORDS)(texts)
        for row, others, shared in products(words, rows, columns):
            nearest = np.sort(best(shared, _CHOSEN))
            chosen = others[nearest[shared[nearest] > 0]]
            values = dense(vectors[chosen] @ vectors[row].T).ravel()
            yield row, chosen, np.clip(values, -1, 1)


def products(vectors: Matrix, rows: Places, columns: Places) -> Iterator[Row]:
    """Yield each row with the other columns and its dot product with them."""
    pool = vectors[columns].T
    pool = pool.tocsr() if hasattr(pool, "tocsr") else pool
    size = min(_ROWS, _CELLS // len(columns) + 1)
    for start in range(0, len(rows), size):
        block = rows[start : start + size]
        values = np.clip(dense(vectors[block] @ pool), -1, 1)
        for row, value in zip(block.tolist(), values, strict=True):
            apart = columns != row
            yield row, columns[apart], value[apart]


def dense(matrix: Matrix) -> NDArray[Any]:
    """Return a matrix as an array."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


def best(values: NDArray[Any], k: int) -> Places:
    """Return the places of the k largest values, the largest first; ties by place."""
    kept = np.arange(len(values))
    if k < len(values):
        least = np.partition(values, -k)[-k]
        above = np.flatnonzero(values > least)
        tied = np.flatnonzero(values == least)
        kept = np.sort(np.concatenate((above, tied[: k - len(above)])))  # ties may be many zeros
    return kept[np.argsort(-values[kept], kind="stable")]


def descending(values: NDArray[Any], some: int | None) -> Iterator[int]:
    """Yield the places of all values, the largest first; `some` are probably enough."""
    first = best(values, len(values) if some is None else 10 * some)
    yield from first.tolist()
    if len(first) < len(values):
        yield from best(values, len(values))[len(first) :].tolist()


def encoded(encode: Any, texts: Sequence[object]) -> Matrix:
    """Return what a user's function makes of texts; raise an error unless it is n finite rows."""
    name = name_of(encode)
    vectors = encode(list(texts))
    if hasattr(vectors, "tocsr"):
        vectors = vectors.tocsr()
        values = vectors.data
    else:
        vectors = np.asarray(vectors, float)
        values = vectors
    if vectors.ndim != 2 or vectors.shape[0] != len(texts) or not vectors.shape[1]:
        shape = " x ".join(map(str, vectors.shape))
        raise OptionError(
            f"{name}: returned {shape} values for {len(texts)} texts; expected a row for each"
        )
    if not np.isfinite(values).all():
        raise OptionError(f"{name}: returned values that are not finite")
    return vectors
