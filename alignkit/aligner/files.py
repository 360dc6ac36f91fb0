"""What an aligner has learned, written into a model file and read from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

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
        from alignkit.aligner.refine.stored import arrays_of, record_of, words_of

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
        from alignkit.aligner.refine.stored import fields_of_learned, learned_of

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
