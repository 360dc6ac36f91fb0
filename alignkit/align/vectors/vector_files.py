"""Files of word vectors: word2vec's text and binary, GloVe's text, and ``.npz``.

A file is read as a stream, and only the wanted vectors are kept (`Gathering`). A line of text is a
word and its numbers, as in ``house 0.25 -1.5``; word2vec has the numbers of words and of dimensions
in a first line, ``400000 300``. Its binary has the same first line, and then each word, a space,
and its numbers as bytes. An ``.npz`` file is a zip file of two arrays, ``words`` and ``vectors``.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from logging import getLogger
from math import prod
from os import PathLike
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import F4
from alignkit.align.vectors.word_vectors import WordVectors
from alignkit.errors import FormatError
from alignkit.io.limits import MAX_MEGABYTES
from alignkit.io.opening import bounded_lines, bytes_read, look_ahead, open_input
from alignkit.model.texts import without_first_marks

_EVERY = 4096  # words between two reports of progress
_BLOCK = 1 << 22  # bytes of vectors
_CHUNK = 1 << 20  # bytes that are read at a time
_HEAD = 1 << 18  # bytes, which the first line and the first vector hardly exceed
_LONGEST = 1 << 14  # bytes of a word
_SWELLING = 100  # how many times its packed size an array may have
_LOGGER = getLogger("alignkit")

MAGIC = b"PK\x03\x04"  # how a zip file begins
HEADER = re.compile(rb"(?:\xef\xbb\xbf)?\s*(\d{1,18})[ \t]+(\d{1,18})\s*")
"""The first line of word2vec: the numbers of words and of dimensions."""
MOST_DIMENSIONS = 1 << 16  # the most dimensions that are believed

_ANY = "surrogateescape"  # bytes that are not UTF-8, for the way back
_SIZES = "expected the numbers of words and of dimensions"
_WHOLE_NUMBERS = re.compile(rb"[ \t]*[+-]?\d+[ \t]+[+-]?\d+[ \t]*")

_OTHERS = {
    b"\x93NUMPY": "is an array without words; save both with "
    "numpy.savez(FILE, words=..., vectors=...)",
    b"\x80": "is a pickled object, which can run code; save word2vec's format, in gensim with "
    "save_word2vec_format",
    b"\xba\x16\x4f\x2f": "is a model of fastText; give its .vec file",
    b"\x89HDF": "is an HDF5 file; save word2vec's format",
    b"SQLite format 3": "is a database; save word2vec's format",
}
"""The beginnings of files in unsupported formats, and what to do."""


def read_vectors(
    path: str | PathLike[str],
    words: Collection[str] | None = None,
    *,
    max_size: int = MAX_MEGABYTES,
    progress: Callable[[float], None] | None = None,
) -> WordVectors:
    """Read vectors: word2vec's text (fastText's ``.vec``) or binary, GloVe's text, or ``.npz``.

    The format is detected; each may be compressed.

    Parameters
    ----------
    path : The file; ``-`` is standard input.
    words : Keep only the vectors of these words (4 d bytes each). None: keep all.
    max_size : The longest line in megabytes.
    progress : Called from time to time with the share of the file that was read.

    Raises
    ------
    FormatError : If the file is damaged or has another format.

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
        if progress is None:
            share = None
        else:
            share = _report_share(stream, name, progress)
        gathering = Gathering(words, share)
        if head.startswith(MAGIC):
            dimensions = _read_archive(stream, name, gathering)
        elif _is_binary(head):
            dimensions = _read_binary(stream, name, gathering)
        else:
            dimensions = _read_text(bounded_lines(stream, name, max_size), name, gathering)
    again = "word that occurs again; the first vector is used"
    undecoded = "word that is not UTF-8, ignored"
    for count, what in ((gathering.repeated, again), (gathering.undecoded, undecoded)):
        if count:
            _LOGGER.warning("%s: %s x %s", name, f"{count:,}", what)
    return gathering.vectors(dimensions)


def _report_share(
    stream: BufferedReader, name: str, progress: Callable[[float], None]
) -> Callable[[], None] | None:
    """Return what reports the share of the file that was read; None if its size is unknown."""
    size = 0
    with suppress(OSError):
        size = os.path.getsize(name)
    if size:
        return lambda: progress(min(1.0, bytes_read(stream) / size))
    return None


def _is_binary(head: bytes) -> bool:
    """Return whether a file begins like word2vec's binary: less than half reads as numbers."""
    first, _, rest = head.partition(b"\n")
    if HEADER.fullmatch(first) is None or not rest.strip():
        return False
    line, _, _ = rest.lstrip(b"\r\n").partition(b"\n")
    fields = line.split()[1:]
    numbers = [field for field in fields if _number(field) is not None]
    return 2 * len(numbers) < len(fields) or not fields


def _number(field: bytes) -> float | None:
    """Return the number in a field, if there is one."""
    try:
        return float(field)
    except ValueError:
        return None


def _sizes_of(line: bytes, path: str) -> tuple[int, int] | None:
    """Return the numbers of words and dimensions of the first line; None if it has none."""
    header = HEADER.fullmatch(line)
    if header is None:
        return None
    words = int(header[1])
    dimensions = int(header[2])
    if not 0 < dimensions <= MOST_DIMENSIONS:
        problem = f"declares vectors of {dimensions} dimensions; expected 1 to {MOST_DIMENSIONS}"
        raise FormatError(problem, path, 1)
    return words, dimensions


class Gathering:
    """Collects the vectors of the wanted words while a file is read.

    A wanted word that the file does not have as written gets the vector of the first that differs
    only in case, so that one is kept too as long as no vector of the wanted word was met.
    """

    def __init__(
        self, wanted: Collection[str] | None = None, progress: Callable[[], None] | None = None
    ) -> None:
        self._wanted = None if wanted is None else frozenset(wanted)
        self._folded_wanted = frozenset(word.casefold() for word in self._wanted or ())
        self._folded_kept: set[str] = set()
        self._progress = progress
        self._words: dict[str, None] = {}  # those that are kept, in their order
        self._blocks: list[F4] = []  # their vectors, many in an array
        self.seen = 0
        self.repeated = 0
        self.undecoded = 0

    def wants(self, raw: bytes) -> str | None:
        """Count a word; return it if its vector is wanted."""
        self.seen += 1
        if self._progress is not None and self.seen % _EVERY == 0:
            self._progress()
        try:
            word = raw.decode()
        except UnicodeDecodeError:
            self.undecoded += 1
            return None
        if word in self._words:
            self.repeated += 1
            return None
        if self._wanted is not None and word not in self._wanted:
            folded = word.casefold()
            if folded not in self._folded_wanted or folded in self._folded_kept:
                return None
        return word

    def take(self, word: str, vector: F4) -> None:
        """Keep the vector (d,) of a wanted word."""
        rows = max(1, _BLOCK // max(vector.nbytes, 1))
        row = len(self._words) % rows
        if row == 0:
            self._blocks.append(np.empty((rows, len(vector)), np.float32))
        self._blocks[-1][row] = vector
        self._words[word] = None
        if self._wanted is not None:
            self._folded_kept.add(word.casefold())

    def vectors(self, dimensions: int) -> WordVectors:
        """Return the collected vectors; call it once, because it frees memory as it goes."""
        array = np.empty((len(self._words), dimensions), np.float32)
        begin = 0
        self._blocks.reverse()
        while self._blocks:  # each block is freed when it is copied
            block = self._blocks.pop()[: len(array) - begin]
            array[begin : begin + len(block)] = block
            begin += len(block)
        return WordVectors(self._words, array)


def _read_text(lines: Iterable[bytes], path: str, gathering: Gathering) -> int:
    """Read vectors of word2vec or GloVe as text; return the number of dimensions."""
    declared = dimensions = None
    number = 0
    for number, raw in enumerate(lines, start=1):
        line = raw.replace(b"\t", b" ").rstrip(b" \r\n")
        if number == 1:
            line = without_first_marks(line.decode("utf-8", _ANY)).encode("utf-8", _ANY)
            sizes = _sizes_of(line, path)
            if sizes is not None:
                declared, dimensions = sizes
                continue
            if _WHOLE_NUMBERS.fullmatch(line):  # else a word and its only number
                raise FormatError(f"{_SIZES}, found {line[:40]!r}", path, number)
        if not line:
            continue
        if dimensions is None:  # GloVe, or any other text, where the first line has no numbers
            dimensions = line.count(b" ")
            _numbers_of(line.split()[1:], path, number)
        fields = line.count(b" ")
        if fields < max(dimensions, 1):
            raise FormatError(
                f"expected a word and {dimensions or 'its'} numbers, found {fields} "
                f"numbers: {line[:40]!r}",
                path,
                number,
            )
        if fields == dimensions:
            end = line.find(b" ")
        else:
            end = len(line.rsplit(b" ", dimensions)[0])
        word = gathering.wants(line[:end])
        if word is not None:
            gathering.take(word, _numbers_of(line[end:].split(), path, number))
    if dimensions is None:
        raise FormatError("contains no vectors; expected lines of a word and its numbers", path)
    if declared is not None and declared != gathering.seen:
        raise FormatError(
            f"declares {declared} words, but contains {gathering.seen}: the file may be cut "
            "off; if it was shortened on purpose, correct the first line",
            path,
            1,
        )
    return dimensions


def _numbers_of(fields: list[bytes], path: str, line: int) -> F4:
    """Return the numbers in the fields of a line; refuse what does not fit in 32 bits."""
    numbers = np.empty(len(fields), np.float32)
    with np.errstate(over="ignore"), suppress(ValueError):
        numbers[:] = list(map(float, fields))
        if np.isfinite(numbers).all():
            return numbers
    wrong = b""
    with np.errstate(over="ignore"):
        for field in fields:
            number = _number(field)
            if number is None or not np.isfinite(np.float32(number)):
                wrong = field
                break
    shown = wrong[:40].decode(errors="replace")
    raise FormatError(f"{shown!r} is not a number that fits in 32 bits", path, line)


def _read_binary(stream: BufferedReader, path: str, gathering: Gathering) -> int:
    """Read vectors of word2vec in binary; return the number of dimensions."""
    sizes = _sizes_of(stream.readline(_LONGEST), path)
    if sizes is None:
        raise FormatError(_SIZES, path, 1)
    count, dimensions = sizes
    size = 4 * dimensions
    data = b""
    at = 0
    for number in range(1, count + 1):
        if len(data) - at < _LONGEST + size:
            data = data[at:] + stream.read(_CHUNK + size)
            at = 0
        while data[at : at + 1] == b"\n":
            at += 1
        end = data.find(b" ", at, at + _LONGEST)
        if end < 0 or len(data) - end - 1 < size:
            problem = (
                f"declares {count} words of {dimensions} dimensions, but word {number} is "
                "incomplete: the file is cut off or damaged"
            )
            raise FormatError(problem, path)
        word = gathering.wants(data[at:end])
        at = end + 1 + size
        if word is not None:
            vector = np.frombuffer(data, "<f4", dimensions, end + 1).astype(np.float32)
            if not np.isfinite(vector).all():
                raise FormatError(
                    f"word {number}, {word[:40]!r}, has a number that is not finite", path
                )
            gathering.take(word, vector)
    if (data[at:] + stream.read(_CHUNK)).strip():
        raise FormatError(f"has data after the {count} words that its first line declares", path)
    return dimensions


def _read_archive(stream: BufferedReader, path: str, gathering: Gathering) -> int:
    """Read vectors of an ``.npz`` file; return the number of dimensions."""
    if not stream.seekable():
        raise FormatError("an .npz file cannot be read from a pipe; give the file", path)
    try:
        with (
            ZipFile(stream) as archive,
            _rows(archive, "words", path) as words,
            _rows(archive, "vectors", path) as vectors,
        ):
            return _gather(words, vectors, path, gathering)
    except (BadZipFile, EOFError, zlib.error, NotImplementedError, ValueError) as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(f"cannot be read as an .npz file: {problem}", path) from None


class _Rows:
    """The rows of an array, read in portions; an array that cannot be is refused at once."""

    def __init__(self, stream: IO[bytes], name: str, path: str) -> None:
        version = npy.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise FormatError(f"array {name!r} has the unsupported .npy version {version}", path)
        if version == (1, 0):
            read = npy.read_array_header_1_0
        else:
            read = npy.read_array_header_2_0
        self.shape, fortran, self.dtype = read(stream)
        if fortran and len(self.shape) > 1:
            raise FormatError(
                f"array {name!r} is stored by columns; save numpy.ascontiguousarray of it", path
            )
        self._stream = stream
        self._name = name
        self._path = path

    def chunks(self, rows: int) -> Iterator[NDArray[Any]]:
        """Yield portions of this number of rows."""
        width = self.dtype.itemsize * prod(self.shape[1:])
        for begin in range(0, self.shape[0], rows):
            count = min(rows, self.shape[0] - begin)
            data = self._stream.read(count * width)
            if len(data) < count * width:
                raise FormatError(f"array {self._name!r} is cut off", self._path)
            yield np.frombuffer(data, self.dtype).reshape(count, *self.shape[1:])


@contextmanager
def _rows(archive: ZipFile, name: str, path: str) -> Iterator[_Rows]:
    """Open an array of an archive as a context."""
    names = [member.removesuffix(".npy") for member in archive.namelist()]
    if name not in names:
        present = ", ".join(names)[:200] or "none"
        raise FormatError(
            f"has no array {name!r} (found: {present}); expected 'words' and 'vectors', as "
            "numpy.savez(FILE, words=..., vectors=...) writes them",
            path,
        )
    member = archive.getinfo(archive.namelist()[names.index(name)])
    if member.file_size > max(_CHUNK, _SWELLING * member.compress_size):
        raise FormatError(
            f"array {name!r} grows to more than {_SWELLING} times its size when it is unpacked",
            path,
        )
    with archive.open(member) as stream:
        yield _Rows(stream, name, path)


def _gather(words: _Rows, vectors: _Rows, path: str, gathering: Gathering) -> int:
    """Collect the vectors of words, in portions; return the number of dimensions."""
    if words.dtype.kind not in "US" or len(words.shape) != 1:
        if words.dtype.hasobject:
            kind = "of objects"
        else:
            kind = f"{words.dtype} {words.shape}"
        raise FormatError(
            f"array 'words' is {kind}; expected texts: save numpy.array(words, dtype=str)", path
        )
    if vectors.dtype.kind not in "fiu" or len(vectors.shape) != 2 or not vectors.shape[1]:
        kind = f"{vectors.dtype} {vectors.shape}"
        raise FormatError(f"array 'vectors' is {kind}; expected numbers, one row per word", path)
    if vectors.shape[0] != words.shape[0]:
        raise FormatError(f"has {vectors.shape[0]} vectors for {words.shape[0]} words", path)
    width = max(words.dtype.itemsize, vectors.dtype.itemsize * vectors.shape[1], 1)
    rows = max(1, _CHUNK // width)
    number = 0
    for names, numbers in zip(words.chunks(rows), vectors.chunks(rows), strict=True):
        for name, row in zip(names, numbers, strict=True):
            number += 1
            if isinstance(name, bytes):
                raw = name
            else:
                raw = name.encode(errors="surrogatepass")
            word = gathering.wants(raw)
            if word is not None:
                with np.errstate(over="ignore"):
                    vector = row.astype(np.float32)
                if not np.isfinite(vector).all():
                    raise FormatError(
                        f"vector {number}, of {word[:40]!r}, has a number that is not "
                        "finite in 32 bits",
                        path,
                    )
                gathering.take(word, vector)
    return vectors.shape[1]
