"""Save the parameters of an aligner to a model file, and load them with a check of everything.

`model_files` packs and unpacks the bytes; `model_header`, `model_tables` and `model_learned` say
what a model of this version has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from alignkit.align.calibration import TrainingText
from alignkit.align.encoder.encoding import EncoderUsed
from alignkit.align.expectation import Positions
from alignkit.align.fertility.models import Fertilities, FertilityModel
from alignkit.align.model_files import (
    Arrays,
    StoredModel,
    read_header,
    read_model,
    write_model,
)
from alignkit.align.model_header import ModelHeader
from alignkit.align.model_learned import (
    WITHOUT,
    arrays_of,
    learned_of,
    without_of,
    words_of,
)
from alignkit.align.model_tables import check_forms, check_relations, forms_of, require
from alignkit.align.parameters import Memory, Parameters
from alignkit.errors import AlignerError, AlignkitError
from alignkit.model.alignment import SIDES

T = TypeVar("T")

# The fields of the classes that a file holds, as tables of the same names
_TABLES = (
    "rows",
    "columns",
    "forward",
    "reverse",
    "source_totals",
    "target_totals",
    "source_null",
    "target_null",
    "null_units",
    "jumps",
)
_FERTILITY = [field.name for field in fields(FertilityModel)][2:]  # not its name and null share
_LEXICAL = ("forward_lexical", "reverse_lexical", "target_null", "source_null")
_POSITIONS = ("shapes", "shape_starts", "forward", "reverse")
_MEMORY = ("keys", "offsets", "cells", "levels")


# saving
def save_parameters(path: str, known: Parameters) -> None:
    """Write a trained model to a file."""
    arrays = _arrays_of(known)
    words: dict[str, Sequence[str]] = {"source": known.source, "target": known.target}
    for size, part in known.prefixes.items():
        start = _start_of_prefix(size)
        arrays |= _prefixed(start, _arrays_of(part))
        words |= {f"{start}source": part.source, f"{start}target": part.target}
    learned = known.learned
    if learned is not None:
        arrays |= arrays_of(learned)
        words |= words_of(learned)
        if learned.without is not None:
            arrays |= _prefixed(WITHOUT, arrays_of(learned.without))
            words |= _prefixed(WITHOUT, words_of(learned.without))
    header = ModelHeader.of(known).to_json()
    write_model(path, header=header, arrays=arrays, words=words)


def _arrays_of(known: Parameters) -> dict[str, NDArray[Any]]:
    """Return the tables of a model by name, without what was learned from gold."""
    arrays = _named("", known, _TABLES)
    if known.reverse is known.forward:
        del arrays["reverse"]
    arrays |= _named("positions_", known.positions, _POSITIONS)
    arrays |= _named("memory_", known.memory, _MEMORY)
    if known.text is not None:
        arrays |= _named("text_", known.text, SIDES)
    fertile = known.fertilities
    if fertile is not None:
        arrays |= _named("fertile_", fertile, _LEXICAL)
        arrays |= _named("forward_", fertile.forward, _FERTILITY)
        arrays |= _named("reverse_", fertile.reverse, _FERTILITY)
    return arrays


def _named(start: str, tables: object, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return these attributes of an object; their names in the file begin with `start`."""
    return {start + name: getattr(tables, name) for name in names}


def _prefixed(start: str, entries: Mapping[str, T]) -> dict[str, T]:
    """Return entries whose names begin with this too."""
    return {start + name: entry for name, entry in entries.items()}


def _start_of_prefix(size: int) -> str:
    """Return what the names of tables and words begin with for words cut to so many letters."""
    return f"prefix{size}_"


# loading
def load_parameters(path: str) -> Parameters:
    """Read a trained model from a file.

    Raises
    ------
    FormatError : If the file is damaged, or not a model.
    AlignerError : If its contents are not those of a model of this version.
    """
    stored = read_model(path)
    with _usable(path):
        header = ModelHeader.read(stored.header)
        prefixes = {}
        for size, header_of_part in header.prefixes.items():
            part, stored = _divided(stored, _start_of_prefix(size))
            prefixes[size] = _checked(part, header_of_part)
        return replace(_checked(stored, header), prefixes=prefixes)


def encoder_of_model(path: str) -> EncoderUsed | None:
    """Return the encoder that a saved model was trained with, if any; its tables are not read."""
    header = read_header(path)
    with _usable(path):
        return ModelHeader.read(header).encoder


@contextmanager
def _usable(path: str) -> Iterator[None]:
    """Say of a model whose contents are refused that this version cannot use it."""
    try:
        yield
    except (AlignkitError, RecursionError) as problem:
        raise AlignerError(
            f"{path}: not a model that this version of alignkit can use "
            f"({str(problem)[:400]}); train it again"
        ) from None


def _divided(stored: StoredModel, start: str) -> tuple[StoredModel, StoredModel]:
    """Return the tables and words whose names begin so (without that beginning), and the others."""
    arrays, other_arrays = _divide(stored.arrays, start)
    words, other_words = _divide(stored.words, start)
    divided = StoredModel(stored.header, arrays, words)
    return divided, StoredModel(stored.header, other_arrays, other_words)


def _divide(entries: Mapping[str, T], start: str) -> tuple[dict[str, T], dict[str, T]]:
    """Return the entries whose names begin so, without that beginning, and the others."""
    inside = {}
    others = {}
    for name, entry in entries.items():
        if name.startswith(start):
            inside[name.removeprefix(start)] = entry
        else:
            others[name] = entry
    return inside, others


def _checked(stored: StoredModel, header: ModelHeader) -> Parameters:
    """Check the tables and words of a model, and return it without models of cut words."""
    without, stored = _divided(stored, WITHOUT)
    _check_words(stored.words, header)
    _check_tables(stored, header)
    learned = None
    if header.learned is None:
        without_of(None, without)
    else:
        learned = learned_of(header.learned, stored)
        learned = replace(learned, without=without_of(header.learned.without, without))
    # copies: numba compiles anew for arrays that cannot be written
    arrays = {name: array.copy() for name, array in stored.arrays.items()}
    arrays.setdefault("reverse", arrays["forward"])
    positions = {name: arrays[f"positions_{name}"] for name in _POSITIONS}
    memory = {name: arrays[f"memory_{name}"] for name in _MEMORY}
    return Parameters(
        settings=header.settings,
        casefold=header.casefold,
        source=list(stored.words["source"]),
        target=list(stored.words["target"]),
        positions=Positions(places=np.empty(0, np.int64), **positions),
        remember=partial(Memory, **memory),
        fertilities=_fertilities_of(header, arrays),
        history=header.history,
        vectors=header.vectors,
        encoder=header.encoder,
        learned=learned,
        prefixes={},
        text=_text_of(header, arrays),
        **{name: arrays[name] for name in _TABLES},
    )


def _check_words(lists: Mapping[str, Sequence[str]], header: ModelHeader) -> None:
    """Check that the lists of words are those of such a model, and that words differ."""
    expected = ["source", "target"]
    if header.learned is not None:
        expected += header.learned.words
    names = ", ".join(lists) or "missing"
    fits = lists.keys() == set(expected)
    require(fits, f"its word lists are {names}; expected {', '.join(expected)}")
    for name, words in lists.items():
        require(len(set(words)) == len(words), f"a word occurs twice in the words of {name}")


def _check_tables(stored: StoredModel, header: ModelHeader) -> None:
    """Check the tables of a model, with those of what was learned from gold."""
    forms = forms_of(
        header.settings,
        jumping=header.jumping,
        two_weights="reverse" in stored.arrays,
        calibrated=header.agreement is not None,
    )
    if header.learned is not None:
        forms |= header.learned.forms(stored.words)
    sizes = {"sources": len(stored.words["source"]), "targets": len(stored.words["target"])}
    check_forms(forms, stored.arrays, sizes)
    check_relations(stored.arrays)


def _text_of(header: ModelHeader, arrays: Arrays) -> TrainingText | None:
    """Return what calibration knows of the text of training; None if it is not calibrated."""
    if header.agreement is None:
        return None
    source, target = (arrays[f"text_{side}"] for side in SIDES)
    few = not len(arrays["memory_keys"])
    return TrainingText(header.agreement, few, source, target)


def _fertilities_of(header: ModelHeader, arrays: Arrays) -> Fertilities | None:
    """Return the tables of IBM 3 or 4 in both directions; None for other models."""
    if header.null_shares is None:
        return None
    directions = []
    for side, share in zip(("forward", "reverse"), header.null_shares, strict=True):
        tables = {name: arrays[f"{side}_{name}"] for name in _FERTILITY}
        model = FertilityModel(model=header.settings.model, null_share=share, **tables)
        directions.append(model)
    forward, reverse = directions
    lexical = [arrays[f"fertile_{name}"] for name in _LEXICAL]
    return Fertilities(forward, reverse, *lexical)
