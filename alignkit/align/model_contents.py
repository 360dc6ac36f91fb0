"""The tables of a model: the kind, shape and range of each, and what ties them together.

Kernels read through these tables without looking, so a file is believed only where it keeps to what
stands here. Training writes nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from math import isfinite, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.align.fertility.models import MOST, REACH
from alignkit.align.parameters import Round
from alignkit.align.settings import MODELS, Settings
from alignkit.align.vectors.prior import VectorsUsed
from alignkit.errors import AlignerError, AlignkitError, FormatError
from alignkit.model.alignment import LONGEST
from alignkit.version import __version__

VERSION = 1  # the version of the file format that is written, and the newest that is read

LONGEST_HEADER = 1 << 26  # the most bytes of a header: beyond is damage

DTYPES = {
    name: np.dtype(name).newbyteorder("<")
    for name in (
        *("float32", "float64", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64"),
    )
}
"""The kinds of numbers that a model can hold, as they stand in its file."""

_DIMENSIONS = 32
_MOST = 1 << 58  # elements of an array: its bytes still fit in 64 bits
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class TableHeader(NamedTuple):
    """The kind and shape of an array."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def prefix(self) -> bytes:
        """The bytes before the numbers in a NumPy file."""
        text = (
            f"{{'descr': {DTYPES[self.dtype].str!r}, 'fortran_order': False, "
            f"'shape': {self.shape!r}, }}"
        )
        length = -(-(10 + len(text) + 1) // 64) * 64 - 10
        start = b"\x93NUMPY\1\0" + length.to_bytes(2, "little")
        return start + text.ljust(length - 1).encode("ascii") + b"\n"

    @property
    def size(self) -> int:
        """The number of bytes of the NumPy file."""
        return len(self.prefix) + prod(self.shape) * DTYPES[self.dtype].itemsize


class WordList(NamedTuple):
    """The numbers of words and bytes of a list of words."""

    words: int
    size: int


class Contents(NamedTuple):
    """What the model says of itself, and its arrays and lists of words by name."""

    header: Mapping[str, object]
    tables: Mapping[str, TableHeader]
    lists: Mapping[str, WordList]

    def encode(self) -> bytes:
        """Return the bytes of ``header.json``."""
        tables = {key: {"dtype": one.dtype, "shape": one.shape} for key, one in self.tables.items()}
        content = {
            "alignkit": "model",
            "version": VERSION,
            "header": _plain(self.header),
            "arrays": tables,
            "words": {
                key: {"count": one.words, "bytes": one.size} for key, one in self.lists.items()
            },
        }
        text = json.dumps(content, allow_nan=False, sort_keys=True, indent=1) + "\n"
        if len(text) > LONGEST_HEADER:
            raise ValueError(f"the header takes {len(text)} bytes, more than {LONGEST_HEADER}")
        return text.encode("ascii")

    @classmethod
    def decode(cls, text: bytes, path: str) -> Contents:
        """Read the bytes of ``header.json``."""
        content = _object(text, path)
        version: Any = content.get("version")
        if not _is_count(version) or version == 0:
            raise _odd(f"its version is {str(version)[:40]!r}", path)
        if version > VERSION:
            raise FormatError(
                f"is a model of file version {version}, made by a newer alignkit; this one "
                f"({__version__}) reads versions up to {VERSION}: install a newer alignkit, or "
                "train and save the model with this one",
                path,
            )
        if set(content) != {"alignkit", "version", "header", "arrays", "words"}:
            raise _odd(f"it has the entries {', '.join(sorted(content))[:200]}", path)
        for key in ("header", "arrays", "words"):
            if not isinstance(content[key], dict):
                raise _odd(f"its {key} are no object", path)
        arrays, words = content["arrays"], content["words"]
        return cls(
            content["header"],
            {key: _table(key, arrays[key], path) for key in sorted(arrays)},
            {key: _word_list(key, words[key], path) for key in sorted(words)},
        )


def check_name(key: object) -> None:
    """Refuse what cannot be the name of an array or a list of words."""
    if not isinstance(key, str) or not _NAME.fullmatch(key):
        raise ValueError(
            f"{str(key)[:40]!r} is no name; expected lower-case letters, digits and '_'"
        )


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"the name {key!r} in the header is no text")
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


def _object(text: bytes, path: str) -> dict[str, Any]:
    odd: list[str] = []
    try:
        content = json.loads(text, parse_constant=odd.append)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("alignkit") != "model":
        raise FormatError(
            "is no model of alignkit: its header.json does not say that it is one; "
            "name a file that alignkit saved",
            path,
        )
    if odd:
        raise _odd(f"it holds {odd[0]}, which is no number of JSON", path)
    return content


def _table(key: str, declared: object, path: str) -> TableHeader:
    kind, shape = _entries(key, declared, ("dtype", "shape"), path)
    if not isinstance(kind, str) or kind not in DTYPES:
        raise _odd(f"array {key!r} is of {str(kind)[:40]!r}, not of {', '.join(DTYPES)}", path)
    if not isinstance(shape, list) or not all(map(_is_count, shape)):
        raise _odd(f"array {key!r} has the shape {str(shape)[:40]}", path)
    if len(shape) > _DIMENSIONS or prod(max(1, length) for length in shape) > _MOST:
        raise _odd(f"array {key!r} has the impossible shape {str(shape)[:40]}", path)
    return TableHeader(kind, tuple(shape))


def _word_list(key: str, declared: object, path: str) -> WordList:
    count, size = _entries(key, declared, ("count", "bytes"), path)
    if not (_is_count(count) and _is_count(size)):
        raise _odd(f"words {key!r} have odd numbers of words and bytes", path)
    return WordList(count, size)


def _entries(key: str, declared: object, names: tuple[str, str], path: str) -> tuple[Any, Any]:
    try:
        check_name(key)
    except ValueError as problem:
        raise _odd(str(problem), path) from None
    if not isinstance(declared, dict) or set(declared) != set(names):
        raise _odd(f"{key!r} has not just the entries {' and '.join(names)}", path)
    return declared[names[0]], declared[names[1]]


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _odd(what: str, path: str) -> FormatError:
    return FormatError(
        f"its header.json is not as the format says: {what}; train and save the model again", path
    )


_LEAST_SHARE = 1e-15
_ENTRIES = {"casefold", "history", "null_shares", "settings"}
_MORE = {"learned", "prefixes", "vectors"}  # of models that have some
_LONGEST = 1000  # letters of a prefix


@dataclass(frozen=True)
class ModelHeader:
    """What a model says of itself."""

    settings: Settings  # how it was trained
    casefold: bool  # whether case was ignored
    history: tuple[Round, ...]  # the rounds of training
    null_shares: tuple[float, float] | None
    learned: object = None
    vectors: VectorsUsed | None = None  # what vectors told in training; None where there were none
    prefixes: Mapping[int, ModelHeader] = field(default_factory=dict)

    @property
    def jumping(self) -> bool:
        """Whether the HMM was trained."""
        return any(one.model == "hmm" for one in self.history)

    def to_json(self) -> dict[str, object]:
        """Return the header as JSON takes it."""
        found: dict[str, object] = {
            "null_shares": self.null_shares and list(self.null_shares),
            "casefold": self.casefold,
            "settings": asdict(self.settings),
            "history": [list(asdict(one).values()) for one in self.history],
        }
        if self.vectors is not None:
            found["vectors"] = asdict(self.vectors)
        if self.learned is not None:
            found["learned"] = self.learned
        if self.prefixes:
            found["prefixes"] = {str(size): one.to_json() for size, one in self.prefixes.items()}
        return found

    @classmethod
    def of(cls, found: Mapping[str, object]) -> ModelHeader:
        """Read the header that a file holds."""
        for name in sorted((found.keys() - _MORE) ^ _ENTRIES):
            known = name in _ENTRIES
            raise AlignerError(f"{name[:40]} is {'missing' if known else 'no entry of its header'}")
        casefold = found["casefold"]
        if not isinstance(casefold, bool):
            raise AlignerError(f"casefold is {_short(casefold)}; it is true or false")
        settings = _settings(found["settings"])
        history = found["history"]
        if not isinstance(history, list):
            raise AlignerError(f"history is {_short(history)}; it is a list of rounds")
        shares = _null_shares(found["null_shares"], settings)
        vectors = _vectors(found["vectors"]) if "vectors" in found else None
        rounds = tuple(map(_round, history))
        learned = found.get("learned")
        header = cls(settings, casefold, rounds, shares, learned, vectors)
        if ("prefixes" in found) != settings.best:
            raise AlignerError("prefixes are there where settings say best, and not elsewhere")
        if not settings.best:
            return header
        return replace(header, prefixes=dict(header._parts(found["prefixes"])))

    def _parts(self, found: object) -> Iterator[tuple[int, ModelHeader]]:
        sizes = [str(size) for size in range(1, _LONGEST)]
        if not isinstance(found, dict) or not found or found.keys() - set(sizes):
            raise AlignerError(
                f"prefixes are {_short(found)}; they are models by numbers of letters"
            )
        for name in sorted(found, key=int):
            if not isinstance(found[name], dict):
                raise AlignerError(f"prefixes: {name} is {_short(found[name])}; it is an object")
            one = ModelHeader.of(found[name])
            of_one = replace(self.settings, best=False)
            if (one.settings, one.casefold) != (of_one, self.casefold):
                raise AlignerError(f"prefixes: {name} was trained otherwise than whole words")
            if one.learned is not None or one.vectors is not None:
                raise AlignerError(f"prefixes: {name} has what whole words have alone")
            yield int(name), one


def _settings(found: object) -> Settings:
    if not isinstance(found, dict):
        raise AlignerError(f"settings are {_short(found)}; they are an object")
    for name in sorted(found.keys() - {one.name for one in fields(Settings)}):
        raise AlignerError(f"settings: {name[:40]} is no setting")
    try:
        return Settings(**found)
    except AlignkitError as problem:
        raise AlignerError(f"settings: {problem}") from None


def _round(found: object) -> Round:
    if isinstance(found, list) and len(found) == 4:
        model, number, *scores = found
        known = isinstance(model, str) and model in MODELS and type(number) is int and number > 0
        if known and all(type(one) is float and isfinite(one) for one in scores):
            return Round(model, number, *scores)
    raise AlignerError(
        f"history has the round {_short(found)}; a round is a model, its number from 1, and two "
        "log-likelihoods"
    )


def _null_shares(found: object, settings: Settings) -> tuple[float, float] | None:
    if settings.model not in ("ibm3", "ibm4"):
        if found is not None:
            raise AlignerError(f"null_shares are {_short(found)}; {settings.model} has none")
        return None
    if isinstance(found, list) and len(found) == 2:
        one, other = found
        if all(type(x) is float and _LEAST_SHARE <= x <= 1 - _LEAST_SHARE for x in found):
            return one, other
    raise AlignerError(f"null_shares are {_short(found)}; they are two numbers between 0 and 1")


def _vectors(found: object) -> VectorsUsed:
    names = [one.name for one in fields(VectorsUsed)]
    if not isinstance(found, dict) or found.keys() != set(names):
        raise AlignerError(f"vectors are {_short(found)}; they are {', '.join(names)}")
    vectors = VectorsUsed(**found)
    if not all(type(one) is int and one >= 0 for one in astuple(vectors)):
        raise AlignerError(f"vectors are {_short(list(found.values()))}; they are counts")
    return vectors


def _short(value: object) -> str:
    if isinstance(value, (list, dict)) and value:
        return f"a {type(value).__name__} of {len(value)}"
    return repr(value)[:60]


Arrays = Mapping[str, NDArray[Any]]

SLACK = 1.001  # how far rounding may carry a share above the whole
WEIGHTS = 0.0, 1e12
TOTALS = 9e-31, 1e15
SHARES = 0.0, SLACK
LOGGED = 1e-37, SLACK  # the range of probabilities whose logarithm is taken
JUMPS = 1e-7, 2.0
RATIOS = 1e-15, 1e15
STEPS = 2 * REACH + 1
BLOCKS = 1 << 22
"""The most tables of positions: beyond, the sum of their sizes might not fit in 64 bits."""


class Field(NamedTuple):
    """A table."""

    dtype: str  # the kind of its numbers
    shape: tuple[int | str, ...]
    least: float = 0  # the range of its numbers; most may name a size too, perhaps with -1
    most: float | str = 2**64


def fields_of(settings: Settings, *, jumping: bool, whole: bool) -> dict[str, Field]:
    """Return all fields of a model, by name, in the order in which they are to be checked."""
    jumps = (2, settings.kinds + 1, 2 * settings.band + 2) if jumping else (0, 0, 0)
    shapes: str | int = "shapes" if settings.model == "ibm2" else 0
    remembered: str | int = "keys" if settings.inference == "collapsed" else 0
    found = {
        "columns": Field("int32", ("pairs",), 0, "targets-1"),
        "rows": Field("int64", ("sources+1",), 0, "pairs"),
        "forward": Field("float32", ("pairs",), *WEIGHTS),
        "reverse": Field("float32", ("pairs",), *WEIGHTS),
        "source_totals": Field("float32", ("sources+1",), *TOTALS),
        "target_totals": Field("float32", ("targets+1",), *TOTALS),
        "source_null": Field("float32", ("sources+1",), *SHARES),
        "target_null": Field("float32", ("targets+1",), *SHARES),
        "null_units": Field("float32", (2,), *SHARES),
        "jumps": Field("float32", jumps, *JUMPS),
        "positions_shapes": Field("int64", (shapes, 2), 0, LONGEST),
        "positions_forward": Field("float32", ("positions",), *SHARES),
        "positions_reverse": Field("float32", ("positions",), *SHARES),
        "positions_shape_starts": Field("int64", (_more(shapes),), 0, "positions"),
        "memory_keys": Field("uint64", (remembered,), 1),
        "memory_cells": Field("uint32", ("links",)),
        "memory_levels": Field("uint8", ("links",), 1),
        "memory_offsets": Field("int64", (_more(remembered),), 0, "links"),
    }
    if not whole:
        del found["reverse"]
    if settings.model in ("ibm3", "ibm4"):
        found |= {
            "fertile_forward_lexical": Field("float32", ("pairs",), *SHARES),
            "fertile_reverse_lexical": Field("float32", ("pairs",), *SHARES),
            "fertile_target_null": Field("float32", ("targets+1",), *SHARES),
            "fertile_source_null": Field("float32", ("sources+1",), *SHARES),
        }
        declare = _of_ibm3 if settings.model == "ibm3" else _of_ibm4
        for side, words in (
            ("forward", ("sources", "targets")),
            ("reverse", ("targets", "sources")),
        ):
            found |= {f"{side}_{name}": one for name, one in declare(side, *words).items()}
    return found


def _more(size: str | int) -> str | int:
    return f"{size}+1" if isinstance(size, str) else size + 1


def _of_ibm3(side: str, source: str, target: str) -> dict[str, Field]:
    return {
        "fertilities": Field("float32", (f"{source}+1", MOST + 1), *LOGGED),
        "sizes": Field("int64", (f"{side} sizes", 2), 0, LONGEST),
        "distortion": Field("float32", (f"{side} places",), *LOGGED),
        "diagonal": Field("float32", (STEPS,), *RATIOS),
        "first": Field("float32", (1, 0, 1)),
        "rest": Field("float32", (0, 1)),
        "source_classes": Field("int32", (f"{source}+1",), 0, 0),
        "target_classes": Field("int32", (f"{target}+1",), 0, 0),
    }


def _of_ibm4(side: str, source: str, target: str) -> dict[str, Field]:
    befores, words = f"{side} classes before", f"{side} classes"
    return {
        "fertilities": Field("float32", (f"{source}+1", MOST + 1), *LOGGED),
        "sizes": Field("int64", (0, 2)),
        "distortion": Field("float32", (0,)),
        "diagonal": Field("float32", (0,)),
        "first": Field("float32", (f"{befores}+1", words, STEPS), *LOGGED),
        "rest": Field("float32", (words, REACH), *LOGGED),
        "source_classes": Field("int32", (f"{source}+1",), 0, f"{befores}-1"),
        "target_classes": Field("int32", (f"{target}+1",), 0, f"{words}-1"),
    }


def check_fields(fields: Mapping[str, Field], arrays: Arrays, sources: int, targets: int) -> None:
    """Compare arrays with what is declared of them, each by itself and with the others."""
    for name in sorted(fields.keys() ^ arrays.keys()):
        raise AlignerError(f"{name} is {'missing' if name in fields else 'no table of this model'}")
    sizes = {"sources": sources, "targets": targets}
    for name, field in fields.items():
        _check_form(name, arrays[name], field, sizes)
        _check_range(name, arrays[name], field, sizes)
    for problem in _ties(fields, arrays):
        raise AlignerError(problem)


def _check_form(name: str, array: NDArray[Any], field: Field, sizes: dict[str, int]) -> None:
    known = len(array.shape) == len(field.shape)
    wanted: list[int] = []
    for size, found in zip(field.shape, array.shape, strict=False):
        if isinstance(size, str):
            key, plus, _ = size.partition("+")
            sizes.setdefault(key, max(0, found - bool(plus)))
            wanted.append(sizes[key] + bool(plus))
        else:
            wanted.append(size)
        known &= wanted[-1] == found
    if not known or array.dtype != field.dtype:
        shape = wanted if len(array.shape) == len(field.shape) else field.shape
        expected = f"{field.dtype} ({', '.join(map(str, shape))})"
        raise AlignerError(f"{name} is {array.dtype} {array.shape}, not {expected}")


def _check_range(name: str, array: NDArray[Any], field: Field, sizes: Mapping[str, int]) -> None:
    if not array.size:
        return
    most = field.most
    if isinstance(most, str):
        key, minus, _ = most.partition("-")
        most = sizes[key] - bool(minus)
    low, high = array.min().item(), array.max().item()
    if not (field.least <= low and high <= most):  # NaN is neither
        raise AlignerError(
            f"{name} holds numbers from {low} to {high}; expected from {field.least:g} to {most:g}"
        )


def _ties(fields: Mapping[str, Field], arrays: Arrays) -> Iterator[str]:
    rows, columns = arrays["rows"], arrays["columns"]
    yield from _not_rising("rows", rows, len(columns))
    yield from _not_rising_within("columns", columns, rows)
    most = arrays["source_totals"] * np.float32(SLACK)
    if (arrays["forward"] > np.repeat(most[:-1], np.diff(rows))).any():
        yield "forward is more than source_totals have of a word"
    most = arrays["target_totals"] * np.float32(SLACK)
    reverse = "reverse" if "reverse" in fields else "forward"
    if (arrays[reverse] > most.take(columns)).any():
        yield f"{reverse} is more than target_totals have of a word"
    keys = arrays["memory_keys"]
    if (keys[1:] <= keys[:-1]).any():
        yield "memory_keys do not rise"
    yield from _not_rising("memory_offsets", arrays["memory_offsets"], len(arrays["memory_cells"]))
    shapes, starts = arrays["positions_shapes"], arrays["positions_shape_starts"]
    yield from _not_shapes("positions_shapes", shapes, len(arrays["positions_forward"]))
    yield from _not_rising("positions_shape_starts", starts, len(arrays["positions_forward"]))
    if (np.diff(starts) != shapes.prod(axis=1)).any():
        yield "positions_shape_starts do not fit positions_shapes"
    for side in ("forward", "reverse"):
        if f"{side}_sizes" in fields:
            places = len(arrays[f"{side}_distortion"])
            yield from _not_shapes(f"{side}_sizes", arrays[f"{side}_sizes"], places)


def _not_rising(name: str, array: NDArray[np.int64], end: int) -> Iterator[str]:
    if array[0] != 0 or array[-1] != end or (array[1:] < array[:-1]).any():
        yield f"{name} does not rise from 0 to {end}"


def _not_rising_within(
    name: str, array: NDArray[np.int32], starts: NDArray[np.int64]
) -> Iterator[str]:
    falls = array[1:] <= array[:-1]
    falls[starts[(starts > 0) & (starts < len(array))] - 1] = False
    if falls.any():
        yield f"{name} do not rise within each row"


def _not_shapes(name: str, shapes: NDArray[np.int64], places: int) -> Iterator[str]:
    order = shapes[:, 0] * (LONGEST + 1) + shapes[:, 1]
    if len(shapes) > BLOCKS or (order[1:] <= order[:-1]).any():
        yield f"{name} do not rise"
    elif (needed := int(shapes.prod(axis=1).sum())) != places:
        yield f"{name} need {needed} places, but there are {places}"
