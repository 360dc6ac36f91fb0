"""The reader of files of vectors, whatever format they have."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from io import BufferedReader
from logging import getLogger
from os import PathLike

from alignkit.arguments import check_arguments
from alignkit.errors import FormatError
from alignkit.input import MAX_MEGABYTES, bounded_lines, bytes_read, look_ahead, open_input
from alignkit.vectors.archive import MAGIC, read_archive
from alignkit.vectors.binary import read_binary
from alignkit.vectors.gathering import Gathering
from alignkit.vectors.text import HEADER, read_text
from alignkit.vectors.word_vectors import WordVectors

_HEAD = 1 << 18  # bytes, which the first line and the first vector hardly exceed
_LOGGER = getLogger("alignkit")

_OTHERS = {
    b"\x93NUMPY": "is an array without words; save both by "
    "numpy.savez(FILE, words=..., vectors=...)",
    b"\x80": "is a pickled object, which can run code; save word2vec's format, in gensim by "
    "save_word2vec_format",
    b"\xba\x16\x4f\x2f": "is a model of fastText; name its .vec file",
    b"\x89HDF": "is an HDF5 file; save word2vec's format",
    b"SQLite format 3": "is a database; save word2vec's format",
}
"""How files begin that hold vectors in another way, and what to do."""


def read_vectors(
    path: str | PathLike[str],
    words: Collection[str] | None = None,
    *,
    max_size: int = MAX_MEGABYTES,
    progress: Callable[[float], None] | None = None,
) -> WordVectors:
    """Read vectors: word2vec's text (fastText's ``.vec``) or binary, GloVe's text, or ``.npz``.

    The format is detected; each may be packed by gzip.

    Parameters
    ----------
    path
        The file; ``-`` is standard input.
    words
        Keep only the vectors of these words (4 d bytes each). None: of all.
    max_size
        The most megabytes of a line.
    progress
        Called now and then with the share that is read.

    Raises
    ------
    FormatError
        If the file is damaged, or is of another format.

    Examples
    --------
    >>> vectors = read_vectors("glove.6B.300d.txt.gz", {"house", "home"})  # doctest: +SKIP
    """
    check_arguments(read_vectors, locals())
    name = os.fspath(path)
    head, _ = look_ahead(name, _HEAD, max_size, "utf-8")
    for begin, what in _OTHERS.items():
        if head.startswith(begin):
            raise FormatError(what, name)
    with open_input(name, max_size) as stream:
        share = None if progress is None else _share(stream, name, progress)
        gathering = Gathering(words, share)
        if head.startswith(MAGIC):
            dimensions = read_archive(stream, name, gathering)
        elif _is_binary(head):
            dimensions = read_binary(stream, name, gathering)
        else:
            dimensions = read_text(bounded_lines(stream, name, max_size), name, gathering)
    for count, what in (
        (gathering.repeated, "word that occurs again; its first vector counts"),
        (gathering.undecoded, "word that is not UTF-8, left out"),
    ):
        if count:
            _LOGGER.warning("%s: %s x %s", name, f"{count:,}", what)
    return gathering.vectors(dimensions)


def _share(
    stream: BufferedReader, name: str, progress: Callable[[float], None]
) -> Callable[[], None] | None:
    size = 0
    with suppress(OSError):
        size = os.path.getsize(name)
    return (lambda: progress(min(1.0, bytes_read(stream) / size))) if size else None


def _is_binary(head: bytes) -> bool:
    first, _, rest = head.partition(b"\n")
    if HEADER.fullmatch(first) is None or not rest.strip():
        return False
    fields = rest.lstrip(b"\r\n").split(b"\n", 1)[0].split()[1:]
    return 2 * sum(map(_is_float, fields)) < len(fields) or not fields


def _is_float(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
