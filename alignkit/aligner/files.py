"""Turn what an aligner has learned into the contents of a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.fertility import FertilityModel
from alignkit.aligner.fields import check_fields, fields_of
from alignkit.aligner.header import ModelHeader
from alignkit.aligner.memory import Memory
from alignkit.aligner.parameters import Fertilities, Parameters
from alignkit.aligner.positions import Positions
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
    shares = None if fertile is None else (fertile.forward.null_share, fertile.reverse.null_share)
    header = ModelHeader(known.settings, known.casefold, known.history, shares)
    write_model(
        path,
        header=header.to_json(),
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
        header = ModelHeader.of(stored.header)
        words = _words(stored)
        whole = "reverse" in stored.arrays
        fields = fields_of(header.settings, jumping=header.jumping, whole=whole)
        check_fields(fields, stored.arrays, *map(len, words))
    except (AlignkitError, RecursionError) as problem:
        raise AlignerError(
            f"{path}: not a model that this version of alignkit can use ({str(problem)[:400]}); "
            "train it anew"
        ) from None
    return _parameters(stored, header, *words)


def _words(stored: StoredModel) -> tuple[list[str], list[str]]:
    if stored.words.keys() != {"source", "target"}:
        raise AlignerError(
            f"its lists of words are {', '.join(stored.words) or 'missing'}; expected source and "
            "target"
        )
    for name, words in stored.words.items():
        if len(set(words)) != len(words):
            raise AlignerError(f"a word stands twice in the words of {name}")
    return list(stored.words["source"]), list(stored.words["target"])


def _parameters(
    stored: StoredModel, header: ModelHeader, source: list[str], target: list[str]
) -> Parameters:
    # Copies: numba compiles anew for arrays that cannot be written.
    arrays = {name: array.copy() for name, array in stored.arrays.items()}
    arrays.setdefault("reverse", arrays["forward"])
    tables = {name: arrays[name] for name in _TABLES}
    places = np.empty(0, np.int64)
    positions = {name: arrays[f"positions_{name}"] for name in _POSITIONS}
    return Parameters(
        settings=header.settings,
        casefold=header.casefold,
        source=source,
        target=target,
        positions=Positions(places=places, **positions),
        memory=Memory(**{name: arrays[f"memory_{name}"] for name in _MEMORY}),
        fertilities=_fertilities(arrays, header),
        history=header.history,
        **tables,
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
