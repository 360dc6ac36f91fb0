"""The tables of a model file: what each must be, and how they must fit each other.

Kernels read these tables without checks of their own. A file is therefore accepted only if its
tables have the declared forms (`forms_of`, `check_forms`) and fit each other (`check_relations`).
Training writes no other files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import I8
from alignkit.align.fertility.models import MOST, REACH
from alignkit.align.model_files import Arrays
from alignkit.align.settings import Settings
from alignkit.errors import AlignerError
from alignkit.model.alignment import LONGEST, SIDES

# The ranges of numbers
SLACK = 1.001  # how far rounding may carry a share above the whole
WEIGHTS = 0.0, 1e12
TOTALS = 9e-31, 1e15
SHARES = 0.0, SLACK
LOGGED = 1e-37, SLACK  # the range of probabilities whose logarithm is taken
JUMPS = 1e-7, 2.0
RATIOS = 1e-15, 1e15

STEPS = 2 * REACH + 1
BLOCKS = 1 << 22
"""The largest number of position tables: with more, the sum of sizes might exceed 64 bits."""


def require(fine: bool, problem: str) -> None:
    """Raise an error with this problem unless all is fine."""
    if not fine:
        raise AlignerError(problem)


@dataclass(frozen=True)
class Size:
    """A length that the file chooses; all tables that name it must agree on it."""

    name: str
    more: int = 0  # what is added to it

    def __add__(self, more: int) -> Size:
        return Size(self.name, self.more + more)

    def __sub__(self, less: int) -> Size:
        return self + -less

    def __str__(self) -> str:
        return f"{self.name}{self.more:+}" if self.more else self.name


Length = Union[int, Size]


class Form(NamedTuple):
    """What a table must be."""

    dtype: str  # the kind of its numbers
    shape: tuple[Length, ...]
    least: float = 0  # the range of its numbers
    most: float | Size = 2**64


SOURCES = Size("sources")  # the distinct words of a side
TARGETS = Size("targets")
PAIRS = Size("pairs")  # the word pairs of which anything is known
POSITIONS = Size("positions")
LINKS = Size("links")  # those remembered


# what a model of this version has
def forms_of(
    settings: Settings, *, jumping: bool, two_weights: bool, calibrated: bool
) -> dict[str, Form]:
    """Return the forms of all tables of an aligner by name, in the order of the checks.

    Parameters
    ----------
    settings : How it was trained.
    jumping : Whether the HMM was trained.
    two_weights : Whether a word pair has a weight for each direction; else `forward` is both.
    calibrated : Whether calibration knows the text of training.
    """
    jumps = (0, 0, 0)
    if jumping:
        jumps = (2, settings.kinds + 1, 2 * settings.band + 2)
    # position tables for sizes of sentence pairs, and pairs that are remembered
    shapes: Length = Size("shapes") if settings.model == "ibm2" else 0
    pairs: Length = Size("keys") if settings.collapsed else 0
    forms = {
        "columns": Form("int32", (PAIRS,), 0, TARGETS - 1),
        "rows": Form("int64", (SOURCES + 1,), 0, PAIRS),
        "forward": Form("float32", (PAIRS,), *WEIGHTS),
        "reverse": Form("float32", (PAIRS,), *WEIGHTS),
        "source_totals": Form("float32", (SOURCES + 1,), *TOTALS),
        "target_totals": Form("float32", (TARGETS + 1,), *TOTALS),
        "source_null": Form("float32", (SOURCES + 1,), *SHARES),
        "target_null": Form("float32", (TARGETS + 1,), *SHARES),
        "null_units": Form("float32", (2,), *SHARES),
        "jumps": Form("float32", jumps, *JUMPS),
        "positions_shapes": Form("int64", (shapes, 2), 0, LONGEST),
        "positions_forward": Form("float32", (POSITIONS,), *SHARES),
        "positions_reverse": Form("float32", (POSITIONS,), *SHARES),
        "positions_shape_starts": Form("int64", (shapes + 1,), 0, POSITIONS),
        "memory_keys": Form("uint64", (pairs,), 1),
        "memory_cells": Form("uint32", (LINKS,)),
        "memory_levels": Form("uint8", (LINKS,), 1),
        "memory_offsets": Form("int64", (pairs + 1,), 0, LINKS),
    }
    if not two_weights:
        del forms["reverse"]
    if settings.fertile:
        forms |= _of_fertilities(settings.model)
    if calibrated:
        for side, words in zip(SIDES, (SOURCES, TARGETS), strict=True):
            forms[f"text_{side}"] = Form("int32", (words + 1,), 0)
    return forms


def _of_fertilities(model: str) -> dict[str, Form]:
    """Return the forms of the tables of IBM 3 or 4 for both directions."""
    forms = {
        "fertile_forward_lexical": Form("float32", (PAIRS,), *SHARES),
        "fertile_reverse_lexical": Form("float32", (PAIRS,), *SHARES),
        "fertile_target_null": Form("float32", (TARGETS + 1,), *SHARES),
        "fertile_source_null": Form("float32", (SOURCES + 1,), *SHARES),
    }
    directions = (("forward", SOURCES, TARGETS), ("reverse", TARGETS, SOURCES))
    of_direction = _of_ibm3 if model == "ibm3" else _of_ibm4
    for side, source, target in directions:
        forms |= of_direction(side, source, target)
    return forms


def _of_ibm3(side: str, source: Size, target: Size) -> dict[str, Form]:
    """Return the forms of a direction of IBM 3; its tables of classes, of IBM 4, are empty."""
    return {
        f"{side}_fertilities": Form("float32", (source + 1, MOST + 1), *LOGGED),
        f"{side}_sizes": Form("int64", (Size(f"{side} sizes"), 2), 0, LONGEST),
        f"{side}_distortion": Form("float32", (Size(f"{side} places"),), *LOGGED),
        f"{side}_diagonal": Form("float32", (STEPS,), *RATIOS),
        f"{side}_first": Form("float32", (1, 0, 1), *LOGGED),
        f"{side}_rest": Form("float32", (0, 1), *LOGGED),
        f"{side}_source_classes": Form("int32", (source + 1,), 0, 0),
        f"{side}_target_classes": Form("int32", (target + 1,), 0, 0),
    }


def _of_ibm4(side: str, source: Size, target: Size) -> dict[str, Form]:
    """Return the forms of a direction of IBM 4; its tables of sizes, of IBM 3, are empty."""
    before = Size(f"{side} classes before")
    classes = Size(f"{side} classes")
    return {
        f"{side}_fertilities": Form("float32", (source + 1, MOST + 1), *LOGGED),
        f"{side}_sizes": Form("int64", (0, 2), 0, LONGEST),
        f"{side}_distortion": Form("float32", (0,), *LOGGED),
        f"{side}_diagonal": Form("float32", (0,), *RATIOS),
        f"{side}_first": Form("float32", (before + 1, classes, STEPS), *LOGGED),
        f"{side}_rest": Form("float32", (classes, REACH), *LOGGED),
        f"{side}_source_classes": Form("int32", (source + 1,), 0, before - 1),
        f"{side}_target_classes": Form("int32", (target + 1,), 0, classes - 1),
    }


# whether tables are of these forms
def check_forms(forms: Mapping[str, Form], arrays: Arrays, sizes: dict[str, int]) -> None:
    """Check that these and no other tables are there, and the form of each.

    `sizes` holds the sizes that are known; the first table that names another one adds it.
    """
    for name in sorted(forms.keys() ^ arrays.keys()):
        problem = "is missing" if name in forms else "is not a known table"
        raise AlignerError(f"{name} {problem}")
    for name, form in forms.items():
        _check_shape(name, arrays[name], form, sizes)
        _check_range(name, arrays[name], form, sizes)


def _check_shape(name: str, array: NDArray[Any], form: Form, sizes: dict[str, int]) -> None:
    """Check the type and shape of an array."""
    same_axes = len(array.shape) == len(form.shape)
    for length, count in zip(form.shape, array.shape, strict=False):
        if isinstance(length, Size):
            sizes.setdefault(length.name, max(0, count - length.more))
    shape = form.shape
    if same_axes:
        shape = tuple(int(_number(length, sizes)) for length in form.shape)
    if shape != array.shape or array.dtype != form.dtype:
        expected = f"{form.dtype} ({', '.join(map(str, shape))})"
        raise AlignerError(f"{name} is {array.dtype} {array.shape}, not {expected}")


def _check_range(name: str, array: NDArray[Any], form: Form, sizes: Mapping[str, int]) -> None:
    """Check that the numbers of an array are in its range."""
    if not array.size:
        return
    low = array.min().item()
    high = array.max().item()
    most = _number(form.most, sizes)
    if not (form.least <= low and high <= most):  # NaN is neither
        raise AlignerError(
            f"{name} holds numbers from {low} to {high}; expected from {form.least:g} to {most:g}"
        )


def _number(length: float | Size, sizes: Mapping[str, int]) -> float:
    """Return a length or limit as a number."""
    if isinstance(length, Size):
        return sizes[length.name] + length.more
    return length


# whether tables of these forms fit each other
def check_relations(arrays: Arrays) -> None:
    """Check the tables of an aligner in relation to each other."""
    _check_word_pairs(arrays)
    keys = arrays["memory_keys"]
    require(not (keys[1:] <= keys[:-1]).any(), "memory_keys do not increase")
    _check_rising("memory_offsets", arrays["memory_offsets"], len(arrays["memory_cells"]))
    _check_positions(arrays)
    for side in ("forward", "reverse"):
        if f"{side}_sizes" in arrays:
            places = len(arrays[f"{side}_distortion"])
            _check_shapes(f"{side}_sizes", arrays[f"{side}_sizes"], places)


def _check_word_pairs(arrays: Arrays) -> None:
    """Check that word pairs are sorted, and that no weight is greater than its word's total."""
    rows = arrays["rows"]
    columns = arrays["columns"]
    _check_rising("rows", rows, len(columns))
    falls = columns[1:] <= columns[:-1]
    begins = rows[(rows > 0) & (rows < len(columns))]
    falls[begins - 1] = False  # a new row may begin with any column
    require(not falls.any(), "columns do not increase within each row")
    of_sources = arrays["source_totals"] * np.float32(SLACK)
    fits = arrays["forward"] <= np.repeat(of_sources[:-1], np.diff(rows))
    require(bool(fits.all()), "forward exceeds source_totals for a word")
    of_targets = arrays["target_totals"] * np.float32(SLACK)
    reverse = "reverse" if "reverse" in arrays else "forward"
    fits = arrays[reverse] <= of_targets.take(columns)
    require(bool(fits.all()), f"{reverse} exceeds target_totals for a word")


def _check_positions(arrays: Arrays) -> None:
    """Check that the position tables of all sizes follow each other without gaps."""
    shapes = arrays["positions_shapes"]
    starts = arrays["positions_shape_starts"]
    positions = len(arrays["positions_forward"])
    _check_shapes("positions_shapes", shapes, positions)
    _check_rising("positions_shape_starts", starts, positions)
    fits = np.diff(starts) == shapes.prod(axis=1)
    require(bool(fits.all()), "positions_shape_starts do not fit positions_shapes")


def _check_rising(name: str, array: I8, end: int) -> None:
    """Check that an array rises from 0 to an end."""
    rises = array[0] == 0 and array[-1] == end and not (array[1:] < array[:-1]).any()
    require(bool(rises), f"{name} does not increase from 0 to {end}")


def _check_shapes(name: str, shapes: I8, places: int) -> None:
    """Check that shapes (H, 2) rise, and need this number of places."""
    order = shapes[:, 0] * (LONGEST + 1) + shapes[:, 1]
    rises = len(shapes) <= BLOCKS and not (order[1:] <= order[:-1]).any()
    require(bool(rises), f"{name} do not increase")
    needed = int(shapes.prod(axis=1).sum())
    require(needed == places, f"{name} need {needed} places, but there are {places}")
