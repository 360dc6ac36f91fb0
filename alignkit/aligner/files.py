"""Turn what an aligner has learned into the contents of a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.fertility import FertilityModel
from alignkit.aligner.fertility_tables import MOST, REACH
from alignkit.aligner.memory import Memory
from alignkit.aligner.parameters import Fertilities, Parameters, Round
from alignkit.aligner.positions import Positions
from alignkit.aligner.settings import Settings
from alignkit.aligner.store import StoredModel, read_model, write_model
from alignkit.errors import AlignerError, AlignkitError

__all__ = ["load_parameters", "save_parameters"]

_TABLES = (
    "rows",
    "columns",
    "forward",
    "reverse",
    "source_totals",
    "target_totals",
    "source_null",
    "target_null",
    "jumps",
)
_FERTILITY = (
    "fertilities",
    "sizes",
    "distortion",
    "diagonal",
    "first",
    "rest",
    "source_classes",
    "target_classes",
)
_LEXICAL = ("forward_lexical", "reverse_lexical", "target_null", "source_null")
_POSITIONS = ("shapes", "shape_starts", "forward", "reverse")
_MEMORY = ("keys", "offsets", "cells", "levels")


def save_parameters(path: str, known: Parameters) -> None:
    """Write what was learned into a file."""
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
    header = {
        "null_shares": fertile and [fertile.forward.null_share, fertile.reverse.null_share],
        "casefold": known.casefold,
        "settings": asdict(known.settings),
        "history": [list(asdict(one).values()) for one in known.history],
    }
    write_model(
        path,
        header=header,
        arrays=arrays,
        words={"source": known.source, "target": known.target},
    )


def load_parameters(path: str) -> Parameters:
    """Read what was learned from a file.

    Raises
    ------
    FormatError
        If the file is no model, or is damaged.
    AlignerError
        If it is a model that does not fit together.
    """
    stored = read_model(path)
    try:
        known = _parameters(stored)
        _check(known)
    except (KeyError, TypeError, ValueError, IndexError, AlignkitError) as problem:
        raise AlignerError(
            f"{path}: not a model that this version of alignkit can use ({problem}); train it anew"
        ) from None
    return known


def _parameters(stored: StoredModel) -> Parameters:
    # Copies: numba compiles anew for arrays that cannot be written.
    arrays = {name: array.copy() for name, array in stored.arrays.items()}
    arrays.setdefault("reverse", arrays["forward"])
    tables = {name: arrays[name] for name in _TABLES}
    places = np.empty(0, np.int64)
    positions = {name: arrays[f"positions_{name}"] for name in _POSITIONS}
    header: Mapping[str, Any] = stored.header
    return Parameters(
        settings=Settings(**header["settings"]),
        casefold=bool(header["casefold"]),
        source=list(stored.words["source"]),
        target=list(stored.words["target"]),
        positions=Positions(places=places, **positions),
        memory=Memory(**{name: arrays[f"memory_{name}"] for name in _MEMORY}),
        fertilities=_fertilities(arrays, header),
        history=tuple(Round(*one) for one in header["history"]),
        **tables,
    )


def _fertilities(
    arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]
) -> Fertilities | None:
    if not header["null_shares"]:
        return None
    models = [
        FertilityModel(
            model=header["settings"]["model"],
            null_share=float(share),
            **{name: arrays[f"{side}_{name}"] for name in _FERTILITY},
        )
        for side, share in zip(("forward", "reverse"), header["null_shares"], strict=True)
    ]
    return Fertilities(models[0], models[1], *(arrays[f"fertile_{name}"] for name in _LEXICAL))


def _check(known: Parameters) -> None:
    """See that no table points outside another: the kernels trust them."""
    sources, targets, places = len(known.source), len(known.target), len(known.columns)
    _expect("rows", known.rows, np.int64, (sources + 1,))
    _expect("columns", known.columns, np.int32, (places,))
    expected: tuple[tuple[str, tuple[int, ...]], ...] = (
        ("forward", (places,)),
        ("reverse", (places,)),
        ("source_totals", (sources + 1,)),
        ("target_totals", (targets + 1,)),
        ("source_null", (sources + 1,)),
        ("target_null", (targets + 1,)),
    )
    for name, shape in expected:
        _expect(name, getattr(known, name), np.float32, shape)
    _rise("rows", known.rows, places)
    if places and not (known.columns.min() >= 0 and known.columns.max() < targets):
        raise ValueError("a column is no target word")
    if len(known.jumps):
        wide = (2, known.settings.kinds + 1, 2 * known.settings.band + 2)
        _expect("jumps", known.jumps, np.float32, wide)
    if known.fertilities is not None:
        _check_fertilities(known.fertilities, sources, targets, places)
    memory = known.memory
    links = len(memory.cells)
    _expect("memory_keys", memory.keys, np.uint64, (len(memory.keys),))
    _expect("memory_offsets", memory.offsets, np.int64, (len(memory.keys) + 1,))
    _expect("memory_cells", memory.cells, np.uint32, (links,))
    _expect("memory_levels", memory.levels, np.uint8, (links,))
    _rise("memory_offsets", memory.offsets, links)
    positions = known.positions
    shapes = len(positions.shapes)
    _expect("positions_shapes", positions.shapes, np.int64, (shapes, 2))
    _expect("positions_shape_starts", positions.shape_starts, np.int64, (shapes + 1,))
    sizes = np.append(0, np.cumsum(positions.shapes.prod(axis=1)))
    if (positions.shapes < 0).any() or not np.array_equal(sizes, positions.shape_starts):
        raise ValueError("positions do not fit their shapes")
    for name in ("forward", "reverse"):
        _expect(f"positions_{name}", getattr(positions, name), np.float32, (int(sizes[-1]),))


def _check_fertilities(known: Fertilities, sources: int, targets: int, places: int) -> None:
    for name, size in zip(_LEXICAL, (places, places, targets + 1, sources + 1), strict=True):
        _expect(name, getattr(known, name), np.float32, (size,))
    for model, words in ((known.forward, (sources, targets)), (known.reverse, (targets, sources))):
        _expect("fertilities", model.fertilities, np.float32, (words[0] + 1, MOST + 1))
        for name, size in zip(("source_classes", "target_classes"), words, strict=True):
            _expect(name, getattr(model, name), np.int32, (size + 1,))
        _expect("sizes", model.sizes, np.int64, (len(model.sizes), 2))
        _expect("distortion", model.distortion, np.float32, (int(model.sizes.prod(1).sum()),))
        if model.model == "ibm4":
            a, b = (int(side.max()) + 1 for side in (model.source_classes, model.target_classes))
            _expect("first", model.first, np.float32, (a + 1, b, 2 * REACH + 1))
            _expect("rest", model.rest, np.float32, (b, REACH))
            if min(model.source_classes.min(), model.target_classes.min()) < 0:
                raise ValueError("a word has no class")
        elif model.diagonal.ndim != 1 or not len(model.diagonal):
            raise ValueError("ibm3 has no diagonal")


def _expect(name: str, array: NDArray[Any], kind: type, shape: tuple[int, ...]) -> None:
    if array.dtype != kind or array.shape != shape:
        raise ValueError(f"{name} is {array.dtype} {array.shape}, not {np.dtype(kind)} {shape}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} holds something that is no number")


def _rise(name: str, array: NDArray[np.int64], end: int) -> None:
    if array[0] != 0 or array[-1] != end or (array[1:] < array[:-1]).any():
        raise ValueError(f"{name} does not rise from 0 to {end}")
