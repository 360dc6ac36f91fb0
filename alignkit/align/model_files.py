r"""Files of models, written whole and read back with every byte checked.

Specification
-------------
A model is a zip file of stored (not compressed) members, in this order:

- ``header.json``: a JSON object with ``"alignkit": "model"``, the ``"version"`` of the file format
  (1), ``"header"`` (an object, whatever the model says of itself), ``"arrays"`` (for each name its
  ``"dtype"`` and ``"shape"``) and ``"words"`` (for each name its ``"count"`` and ``"bytes"``);
- ``arrays/NAME.npy``, by name: a NumPy file, version 1.0, of little-endian numbers in C order;
- ``words/NAME.txt``, by name: UTF-8, each word followed by a line feed; within words ``\n`` stands
  for a line feed and ``\\`` for a backslash.

No code is ever read from a model: nothing is unpickled. The header settles all sizes, and what the
file says otherwise is refused before anything is reserved for it. Every version begins with
``header.json`` and the two entries that say what it is, so that old readers know newer files.

The page docs/model_files.md has the layout byte by byte.
"""

from __future__ import annotations

import os
import re
import stat
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from errno import EISDIR
from io import BufferedReader
from os import PathLike
from typing import Any, BinaryIO, NamedTuple, TypeVar, Union
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from alignkit._support.values import FrozenMap
from alignkit.align.fertility.models import FertilityModel
from alignkit.align.model_contents import (
    DTYPES,
    LONGEST_HEADER,
    Contents,
    Field,
    ModelHeader,
    TableHeader,
    WordList,
    check_fields,
    check_name,
    fields_of,
)
from alignkit.align.parameters import Fertilities, Memory, Parameters
from alignkit.align.positions import Positions
from alignkit.align.supervised.cells import GoldLexicon, names_of
from alignkit.align.supervised.fitting import KINDS, Layers, StackedModel, SupervisedRound
from alignkit.align.supervised.learned import UNSUPERVISED, Learned, Lessons
from alignkit.align.supervised.measures import OBJECTIVES
from alignkit.errors import AlignerError, AlignkitError, FileError, FormatError, IsFolderError
from alignkit.io.atomic_files import WriteError, replacing_bytes
from alignkit.io.opening import refuse_unread

_VERSION = 45  # the least that knows zip64
_UNIX = 3 << 8
_MODE = 0o100644 << 16
_MIDNIGHT, _FIRST_DAY = 0, 1 << 5 | 1  # 1980-01-01 00:00
_ELSEWHERE, _MANY = 2**32 - 1, 2**16 - 1  # the number stands in the zip64 record

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_SIZES, _PLACE = struct.Struct("<2H2Q"), struct.Struct("<2H3Q")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_END = struct.Struct("<4s4H2LH")
_CHECKSUM, _SIZE = struct.Struct("<L"), struct.Struct("<Q")


class Member(NamedTuple):
    """A file in the zip file, with its number of bytes and their CRC-32."""

    name: str
    size: int
    checksum: int


def member_head(member: Member) -> bytes:
    """Return the bytes before the data of a member."""
    name = member.name.encode("ascii")
    return b"".join(
        (
            _LOCAL.pack(
                b"PK\3\4", _VERSION, 0, 0, _MIDNIGHT, _FIRST_DAY,
                member.checksum, _ELSEWHERE, _ELSEWHERE, len(name), _SIZES.size,
            ),
            name,
            _SIZES.pack(1, _SIZES.size - 4, member.size, member.size),
        )
    )  # fmt: skip


def head_length(name: str) -> int:
    """Return the number of bytes of `member_head`."""
    return _LOCAL.size + len(name) + _SIZES.size


def checksum_in(head: bytes) -> int:
    """Return the checksum that the bytes before a member claim."""
    return int(_CHECKSUM.unpack_from(head, 14)[0])


def size_in(head: bytes) -> int:
    """Return the size that the bytes before a member claim."""
    return int(_SIZE.unpack_from(head, len(head) - _SIZE.size)[0])


def directory(members: Sequence[Member]) -> bytes:
    """Return the bytes behind the last member: the list of all, and where it stands."""
    parts: list[bytes] = []
    place = 0
    for member in members:
        name = member.name.encode("ascii")
        parts += (
            _CENTRAL.pack(
                b"PK\1\2", _UNIX | _VERSION, _VERSION, 0, 0, _MIDNIGHT, _FIRST_DAY,
                member.checksum, _ELSEWHERE, _ELSEWHERE, len(name), _PLACE.size, 0, 0, 0,
                _MODE, _ELSEWHERE,
            ),
            name,
            _PLACE.pack(1, _PLACE.size - 4, member.size, member.size, place),
        )  # fmt: skip
        place += head_length(member.name) + member.size
    length = sum(map(len, parts))
    count = len(members)
    parts += (
        _END64.pack(
            b"PK\6\6", _END64.size - 12, _UNIX | _VERSION, _VERSION, 0, 0, count, count, length,
            place,
        ),
        _LOCATOR.pack(b"PK\6\7", 0, place + length, 1),
        _END.pack(b"PK\5\6", 0, 0, _MANY, _MANY, _ELSEWHERE, _ELSEWHERE, 0),
    )  # fmt: skip
    return b"".join(parts)


def total(sizes: Iterable[tuple[str, int]]) -> int:
    """Return the number of bytes of a zip file of members of these names and sizes."""
    end = _END64.size + _LOCATOR.size + _END.size
    entry = _CENTRAL.size + _PLACE.size
    return end + sum(head_length(name) + size + entry + len(name) for name, size in sizes)


Arrays = Mapping[str, NDArray[Any]]

WORDS = ("learned_source", "learned_target")  # the lists of words

_ENTRIES = {"kind", "objective", "threshold", "pairs", "vectors", "features", "lexicon"}
_COUNTS = ("pair_counts", "source_counts", "target_counts")
_MOST_PAIRS = 2**31
_LARGEST = 1e9


def record_of(learned: Learned) -> dict[str, object]:
    """Return what the header says of it."""
    lessons = learned.lessons
    return {
        "kind": lessons.kind,
        "objective": lessons.objective,
        "threshold": lessons.threshold,
        "pairs": lessons.pairs,
        "vectors": lessons.vectors,
        "features": list(names_of(vectors=lessons.vectors, second=True)) if learned.used else [],
        "lexicon": learned.lexicon is not None,
    }


def _lessons_of(record: object) -> tuple[Lessons, bool, bool]:
    if not isinstance(record, dict) or set(record) != _ENTRIES:
        raise AlignerError("learned has not just the entries " + ", ".join(sorted(_ENTRIES)))
    kind, objective, threshold = record["kind"], record["objective"], record["threshold"]
    if kind not in (*KINDS, "prior", UNSUPERVISED):
        raise AlignerError(f"learned: kind is {str(kind)[:40]!r}; it is one of {', '.join(KINDS)}")
    if objective not in OBJECTIVES:
        raise AlignerError(f"learned: objective is {str(objective)[:40]!r}")
    if type(threshold) is not float or not 0 <= threshold <= 1:
        raise AlignerError(f"learned: threshold is {str(threshold)[:40]}; it is a probability")
    pairs = record["pairs"]
    if type(pairs) is not int or not 0 <= pairs < _MOST_PAIRS:
        raise AlignerError(f"learned: pairs is {str(pairs)[:40]}; it is a number of pairs")
    if type(record["vectors"]) is not bool or type(record["lexicon"]) is not bool:
        raise AlignerError("learned: vectors and lexicon are true or false")
    lessons = Lessons(kind, objective, threshold, pairs, record["vectors"])
    used = kind != UNSUPERVISED
    if record["features"] != (list(names_of(vectors=lessons.vectors, second=True)) if used else []):
        raise AlignerError("learned: its features are not those that this version knows")
    if record["lexicon"] and not used:
        raise AlignerError("learned: a lexicon, but nothing that uses it")
    return lessons, used, record["lexicon"]


def arrays_of(learned: Learned) -> dict[str, NDArray[Any]]:
    """Return its tables, by name."""
    arrays: dict[str, NDArray[Any]] = {}
    if learned.rounds is not None:
        for name in ("first", "second"):
            fitted: SupervisedRound = getattr(learned.rounds, name)
            width, count = len(fitted.weights), len(fitted.networks)
            hidden = fitted.networks[0].first.shape[1] if count else 0
            layers = np.zeros((count, width + 1, hidden), np.float32)
            outputs = np.zeros((count, hidden + 1), np.float32)
            for k, network in enumerate(fitted.networks):
                layers[k], outputs[k] = network.first, network.second
            arrays[f"learned_{name}_weights"] = np.append(fitted.weights, fitted.bias)
            arrays[f"learned_{name}_layers"] = layers
            arrays[f"learned_{name}_outputs"] = outputs
    if learned.lexicon is not None:
        arrays["learned_pairs"] = learned.lexicon.pairs
        arrays |= {f"learned_{name}": getattr(learned.lexicon, name) for name in _COUNTS}
    return arrays


def words_of(learned: Learned) -> dict[str, Sequence[str]]:
    """Return its lists of words, by name."""
    if learned.lexicon is None:
        return {}
    return dict(zip(WORDS, (learned.lexicon.source, learned.lexicon.target), strict=True))


def fields_of_learned(record: object, sources: int = 0, targets: int = 0) -> dict[str, Field]:
    """Declare its tables, as the header says and for so many words."""
    lessons, used, with_lexicon = _lessons_of(record)
    fields: dict[str, Field] = {}
    width = len(names_of(vectors=lessons.vectors, second=True)) + 1
    for name in ("first", "second") if used else ():
        networks, hidden = f"networks {name}", f"hidden {name}"
        for table, kind, shape in (
            ("weights", "float64", (width,)),
            ("layers", "float32", (networks, width, hidden)),
            ("outputs", "float32", (networks, f"{hidden}+1")),
        ):
            fields[f"learned_{name}_{table}"] = Field(kind, shape, -_LARGEST, _LARGEST)
    if with_lexicon:
        fields |= {
            "learned_pairs": Field("int32", ("gold pairs", 2), 0, max(sources, targets) - 1),
            "learned_pair_counts": Field("float64", ("gold pairs", 3), 0, _LARGEST),
            "learned_source_counts": Field("float64", (sources, 3), 0, _LARGEST),
            "learned_target_counts": Field("float64", (targets, 3), 0, _LARGEST),
        }
    return fields


def learned_of(record: object, arrays: Arrays, words: Mapping[str, Sequence[str]]) -> Learned:
    """Return what was learned, from tables whose forms and ranges were checked."""
    lessons, _, with_lexicon = _lessons_of(record)
    if set(WORDS) & words.keys() != (set(WORDS) if with_lexicon else set()):
        raise AlignerError("learned: the words of its lexicon are missing, or are not to be there")
    rounds = lexicon = None
    if "learned_first_weights" in arrays:
        rounds = StackedModel(_round("first", arrays), _round("second", arrays))
    if "learned_pairs" in arrays:
        lexicon = GoldLexicon(
            tuple(words[WORDS[0]]),
            tuple(words[WORDS[1]]),
            arrays["learned_pairs"].copy(),
            *(arrays[f"learned_{name}"].copy() for name in _COUNTS),
        )
        lexicon.check()
    return Learned(lessons, rounds, lexicon)


def _round(name: str, arrays: Arrays) -> SupervisedRound:
    weights = arrays[f"learned_{name}_weights"]
    layers, outputs = arrays[f"learned_{name}_layers"], arrays[f"learned_{name}_outputs"]
    networks = tuple(
        Layers(first.copy(), second.copy()) for first, second in zip(layers, outputs, strict=True)
    )
    return SupervisedRound(weights[:-1].copy(), float(weights[-1]), networks)


_FIRST = "header.json"
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_ESCAPED = {"\\": "\\", "n": "\n"}

_Path = Union[str, "PathLike[str]"]


@dataclass(frozen=True, eq=False)
class StoredModel:
    """What a file of a model holds."""

    header: Mapping[str, object]  # what the model says of itself, as JSON has it: lists for tuples
    arrays: Mapping[str, NDArray[Any]]  # the tables, read-only
    words: Mapping[str, tuple[str, ...]]  # the lists of words


def write_model(
    path: _Path,
    *,
    header: Mapping[str, object],
    arrays: Mapping[str, NDArray[Any]],
    words: Mapping[str, Sequence[str]],
) -> None:
    """Write a model; the file takes its place only when it is whole."""
    name = os.fspath(path)
    try:
        tables = {key: _plain(key, arrays[key]) for key in sorted(arrays)}
        texts = {key: _text(key, words[key]) for key in sorted(words)}
        declared = {
            key: TableHeader(table.dtype.name, table.shape) for key, table in tables.items()
        }
        lists = {key: WordList(len(words[key]), len(text)) for key, text in texts.items()}
        start = Contents(header, declared, lists).encode()
    except (TypeError, ValueError, RecursionError) as problem:
        raise WriteError(f"{name}: cannot hold this model: {problem}") from None
    if name == "-":
        raise WriteError("a model cannot go to standard output: name a file")
    with replacing_bytes(name) as out:
        members = [_put(out, _FIRST, start)]
        for key, table in tables.items():
            members.append(_put(out, f"arrays/{key}.npy", declared[key].prefix, table.data))
        for key, text in texts.items():
            members.append(_put(out, f"words/{key}.txt", text))
        out.write(directory(members))


def _plain(key: str, array: NDArray[Any]) -> NDArray[Any]:
    check_name(key)
    kind = array.dtype.name if isinstance(array, np.ndarray) else type(array).__name__
    if kind not in DTYPES:
        raise ValueError(f"array {key!r} is of {kind}; expected one of {', '.join(DTYPES)}")
    return np.asarray(array, DTYPES[kind], order="C")


def _text(key: str, words: Sequence[str]) -> bytes:
    check_name(key)
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise TypeError(f"words {key!r} must be a list of texts")
    text = "".join([f"{word}\n" for word in words])
    if "\\" in text or text.count("\n") != len(words):
        escaped = [word.replace("\\", "\\\\").replace("\n", "\\n") for word in words]
        text = "".join([f"{word}\n" for word in escaped])
    return text.encode("utf-8", "surrogatepass")


def _put(out: BinaryIO, name: str, *parts: bytes | memoryview) -> Member:
    size = checksum = 0
    for part in parts:
        size += part.nbytes if isinstance(part, memoryview) else len(part)
        checksum = crc32(part, checksum)
    member = Member(name, size, checksum)
    out.write(member_head(member))
    for part in parts:
        out.write(part)
    return member


def read_model(path: _Path) -> StoredModel:
    """Read a model; every byte of the file is checked."""
    with _opened(path) as reading:
        return reading.model()


def check_head(path: _Path) -> None:
    """Check that a file is a model and of the right size; its tables are not read."""
    with _opened(path) as reading:
        reading.contents()


@contextmanager
def _opened(path: _Path) -> Iterator[_Reading]:
    name = os.fspath(path)
    try:
        mode = os.stat(name).st_mode
        if not stat.S_ISREG(mode):
            if stat.S_ISDIR(mode):
                raise IsFolderError(name, EISDIR, "is a folder; name the file of a model")
            raise FormatError("is a device or a pipe; name the file of a model", name)
        with open(name, "rb") as stream:
            yield _Reading(stream, name)
    except FormatError:
        raise
    except OSError as problem:
        raise FileError.of(problem, name) from None
    except ValueError as problem:  # a NUL in the name
        raise FormatError(f"cannot be read: {problem}", repr(name)) from None
    except MemoryError:
        raise FormatError("cannot be read: it needs more memory than there is", name) from None


class _Reading:
    """A model read from its first byte to its last, compared with what must stand there."""

    def __init__(self, stream: BufferedReader, path: str) -> None:
        self._stream = stream
        self._path = path
        self._size = os.fstat(stream.fileno()).st_size
        self._members: list[Member] = []

    def contents(self) -> Contents:
        """Return what is declared to follow; the size of the file fits it."""
        contents = Contents.decode(self._first(), self._path)
        sizes = [(_FIRST, self._members[0].size)]
        sizes += [(f"arrays/{key}.npy", table.size) for key, table in contents.tables.items()]
        sizes += [(f"words/{key}.txt", words.size) for key, words in contents.lists.items()]
        expected = total(sizes)
        if self._size < expected:
            raise self._damage(f"it is cut short, {self._size} bytes of {expected}")
        if self._size > expected:
            raise self._damage(f"it has {self._size} bytes where {expected} are expected")
        return contents

    def model(self) -> StoredModel:
        contents = self.contents()
        arrays = {key: self._array(key, table) for key, table in contents.tables.items()}
        words = {key: self._words(key, declared) for key, declared in contents.lists.items()}
        if self._stream.read() != directory(self._members):
            raise self._damage("the directory at its end does not fit its members")
        return StoredModel(FrozenMap(contents.header), FrozenMap(arrays), FrozenMap(words))

    def _first(self) -> bytes:
        length = head_length(_FIRST)
        head = self._stream.read(length)
        if not head:
            raise self._stranger("it is empty")
        refuse_unread(head, self._path)
        start, name = b"PK\3\4", _FIRST.encode("ascii")
        if head[:4] != start[: len(head)] or head[30:41] != name[: max(0, len(head) - 30)]:
            raise self._stranger(f"it begins with {head[:12]!r}")
        if len(head) < length:
            raise self._damage("it is cut short")
        member = Member(_FIRST, size_in(head), checksum_in(head))
        if head != member_head(member):
            raise self._damage(f"the record before {_FIRST} is not as it should be")
        if member.size > min(LONGEST_HEADER, self._size):
            raise self._damage(f"it is cut short within {_FIRST}")
        self._members.append(member)
        text = self._take(member.size)
        self._check(text)
        return text

    def _array(self, key: str, table: TableHeader) -> NDArray[Any]:
        member = f"arrays/{key}.npy"
        self._begin(member, table.size)
        prefix = self._take(len(table.prefix))
        if prefix != table.prefix:
            raise self._damage(f"{member} is not of the declared kind and shape")
        array = np.empty(table.shape, DTYPES[table.dtype])
        flat = array.reshape(-1).view(np.uint8)
        if self._stream.readinto(flat.data) != len(flat):
            raise self._damage("it is cut short")
        self._check(prefix, flat.data)
        array = array.astype(table.dtype, copy=False)  # the machine's own order of bytes
        array.flags.writeable = False
        return array

    def _words(self, key: str, declared: WordList) -> tuple[str, ...]:
        member = f"words/{key}.txt"
        self._begin(member, declared.size)
        data = self._take(declared.size)
        self._check(data)
        try:
            words = data.decode("utf-8", "surrogatepass").split("\n")
            if b"\\" in data:
                words = [_ESCAPE.sub(lambda match: _ESCAPED[match[1]], word) for word in words]
        except UnicodeDecodeError:
            raise self._damage(f"{member} is not UTF-8") from None
        except KeyError:
            raise self._damage(f"{member} has a backslash before neither 'n' nor another") from None
        if words.pop() or len(words) != declared.words:
            raise self._damage(f"{member} has not the {declared.words} words declared")
        return tuple(words)

    def _begin(self, name: str, size: int) -> None:
        head = self._take(head_length(name))
        self._members.append(Member(name, size, checksum_in(head)))
        if head != member_head(self._members[-1]):
            raise self._damage(f"the record before {name} is not as it should be")

    def _take(self, count: int) -> bytes:
        data = self._stream.read(count)
        if len(data) != count:
            raise self._damage("it is cut short")
        return data

    def _check(self, *parts: bytes | memoryview) -> None:
        checksum = 0
        for part in parts:
            checksum = crc32(part, checksum)
        if checksum != self._members[-1].checksum:
            raise self._damage(f"the checksum of {self._members[-1].name} is wrong")

    def _damage(self, what: str) -> FormatError:
        return FormatError(
            f"is a damaged model: {what}; copy the file anew from where it came, or train and "
            "save the model again",
            self._path,
        )

    def _stranger(self, what: str) -> FormatError:
        return FormatError(
            f"is no model of alignkit: {what}; name a file that alignkit saved", self._path
        )


T = TypeVar("T")

_TABLES = (
    "rows", "columns", "forward", "reverse", "source_totals", "target_totals", "source_null",
    "target_null", "null_units", "jumps",
)  # fmt: skip
_FERTILITY = [field.name for field in fields(FertilityModel)][2:]  # not its name and null share
_LEXICAL = ("forward_lexical", "reverse_lexical", "target_null", "source_null")
_POSITIONS = ("shapes", "shape_starts", "forward", "reverse")
_MEMORY = ("keys", "offsets", "cells", "levels")


def save_parameters(path: str, known: Parameters) -> None:
    """Write what was learned into a file."""
    header, arrays = _header_of(known), _arrays_of(known)
    words: dict[str, Sequence[str]] = {"source": known.source, "target": known.target}
    for size, part in known.prefixes.items():
        start = f"prefix{size}_"  # what the names of its tables begin with
        arrays |= {start + name: array for name, array in _arrays_of(part).items()}
        words |= {f"{start}source": part.source, f"{start}target": part.target}
    if known.learned is not None:
        pass  # regroup

        header = replace(header, learned=record_of(known.learned))
        arrays |= arrays_of(known.learned)
        words |= words_of(known.learned)
    write_model(path, header=header.to_json(), arrays=arrays, words=words)


def _header_of(known: Parameters) -> ModelHeader:
    fertile = known.fertilities
    shares = None if fertile is None else (fertile.forward.null_share, fertile.reverse.null_share)
    return ModelHeader(
        known.settings,
        known.casefold,
        known.history,
        shares,
        vectors=known.vectors,
        prefixes={size: _header_of(part) for size, part in known.prefixes.items()},
    )


def _arrays_of(known: Parameters) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {name: getattr(known, name) for name in _TABLES}
    if known.reverse is known.forward:
        del arrays["reverse"]
    arrays |= {f"positions_{name}": getattr(known.positions, name) for name in _POSITIONS}
    arrays |= {f"memory_{name}": getattr(known.memory, name) for name in _MEMORY}
    fertile = known.fertilities
    if fertile is not None:
        arrays |= {f"fertile_{name}": getattr(fertile, name) for name in _LEXICAL}
        for side in ("forward", "reverse"):
            model = getattr(fertile, side)
            arrays |= {f"{side}_{name}": getattr(model, name) for name in _FERTILITY}
    return arrays


def load_parameters(path: str) -> Parameters:
    """Read what was learned from a file."""
    stored = read_model(path)
    try:
        header = ModelHeader.of(stored.header)
        parts = {}
        for size in header.prefixes:
            part, stored = _divided(stored, f"prefix{size}_")
            parts[size] = _checked(part, header.prefixes[size], {})
        return _checked(stored, header, parts)
    except (AlignkitError, RecursionError) as problem:
        raise AlignerError(
            f"{path}: not a model that this version of alignkit can use ({str(problem)[:400]}); "
            "train it anew"
        ) from None


def _divided(stored: StoredModel, start: str) -> tuple[StoredModel, StoredModel]:
    """Return the tables and words whose names have this beginning, without it, and the others."""
    (arrays, others), (words, more) = _divide(stored.arrays, start), _divide(stored.words, start)
    return StoredModel(stored.header, arrays, words), StoredModel(stored.header, others, more)


def _divide(entries: Mapping[str, T], start: str) -> tuple[dict[str, T], dict[str, T]]:
    mine = {name[len(start) :]: entries[name] for name in entries if name.startswith(start)}
    return mine, {name: entries[name] for name in entries if not name.startswith(start)}


def _checked(
    stored: StoredModel, header: ModelHeader, prefixes: dict[int, Parameters]
) -> Parameters:
    lists = tuple(name for name in stored.words if name.startswith("learned_"))
    if stored.words.keys() - set(lists) != {"source", "target"}:
        raise AlignerError(
            f"its lists of words are {', '.join(stored.words) or 'missing'}; expected source and "
            "target"
        )
    for name, words in stored.words.items():
        if len(set(words)) != len(words):
            raise AlignerError(f"a word stands twice in the words of {name}")
    source, target = list(stored.words["source"]), list(stored.words["target"])
    whole = "reverse" in stored.arrays
    declared = fields_of(header.settings, jumping=header.jumping, whole=whole)
    if header.learned is not None:
        pass  # regroup

        sizes = [len(stored.words[name]) for name in lists]
        declared |= fields_of_learned(header.learned, *sizes)
    elif lists:
        raise AlignerError(f"it has the words {lists[0]}, but nothing learned from gold")
    check_fields(declared, stored.arrays, len(source), len(target))
    learned = None
    if header.learned is not None:
        learned = learned_of(header.learned, stored.arrays, stored.words)

    # copies: numba compiles anew for arrays that cannot be written.
    arrays = {name: array.copy() for name, array in stored.arrays.items()}
    arrays.setdefault("reverse", arrays["forward"])
    positions = {name: arrays[f"positions_{name}"] for name in _POSITIONS}
    return Parameters(
        settings=header.settings,
        casefold=header.casefold,
        source=source,
        target=target,
        positions=Positions(places=np.empty(0, np.int64), **positions),
        memory=Memory(**{name: arrays[f"memory_{name}"] for name in _MEMORY}),
        fertilities=_fertilities(arrays, header),
        history=header.history,
        vectors=header.vectors,
        learned=learned,
        prefixes=prefixes,
        **{name: arrays[name] for name in _TABLES},
    )


def _fertilities(arrays: Mapping[str, NDArray[Any]], header: ModelHeader) -> Fertilities | None:
    if header.null_shares is None:
        return None
    models = [
        FertilityModel(
            model=header.settings.model,
            null_share=share,
            **{name: arrays[f"{side}_{name}"] for name in _FERTILITY},
        )
        for side, share in zip(("forward", "reverse"), header.null_shares, strict=True)
    ]
    return Fertilities(models[0], models[1], *(arrays[f"fertile_{name}"] for name in _LEXICAL))
