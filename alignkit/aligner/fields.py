"""The tables of a model: the kind, shape and range of each, and what ties them together.

Kernels read through these tables without looking, so a file is believed only where it keeps to what
stands here. Training writes nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.fertility_tables import MOST, REACH
from alignkit.aligner.settings import Settings
from alignkit.alignment import LONGEST
from alignkit.errors import AlignerError

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
