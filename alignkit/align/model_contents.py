"""The contents of a model file: header, tables, and the checks of both.

Kernels read these tables without checks of their own. A file is therefore accepted only if it meets
all conditions below. Training writes no other files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from functools import partial
from math import isfinite
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import I8
from alignkit.align.calibration import TrainingText
from alignkit.align.encoder.encoding import EncoderUsed
from alignkit.align.evidence import EvidenceSystem
from alignkit.align.expectation import Positions
from alignkit.align.fertility.models import MOST, REACH, FertilityModel
from alignkit.align.model_files import Arrays, StoredModel, read_model, write_model
from alignkit.align.parameters import Fertilities, Memory, Parameters, Round
from alignkit.align.priors import VectorsUsed
from alignkit.align.settings import MODELS, Settings
from alignkit.align.supervised import learned as refinement
from alignkit.align.supervised.cells import GoldLexicon, names_of
from alignkit.errors import AlignerError, AlignkitError
from alignkit.model.alignment import LONGEST, SIDES

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
_COUNTS = ("pair_counts", "source_counts", "target_counts")
WORDS = ("learned_source", "learned_target")  # the lists of words of what was learned from gold

# The entries of the header
_ENTRIES = {"casefold", "history", "null_shares", "settings"}
_MORE = {"agreement", "encoder", "learned", "prefixes", "vectors"}  # of models that have some
_OF_LEARNED = {"kind", "objective", "threshold", "pairs", "vectors", "features", "lexicon"}
_OF_EVIDENCE = {"evidence", "measures", "without"}  # of models that learned to use evidence
_WITHOUT = "without_"  # begins the names of tables and words of what was learned without evidence

_LEAST_SHARE = 1e-15
_LARGEST = 1e9
_MOST_PAIRS = 2**31
_MOST_CHANNELS = 1000
_LONGEST = 1000  # letters of a prefix

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


def save_parameters(path: str, known: Parameters) -> None:
    """Write a trained model to a file."""
    header = _header_of(known)
    arrays = _arrays_of(known)
    words: dict[str, Sequence[str]] = {"source": known.source, "target": known.target}
    for size, part in known.prefixes.items():
        start = f"prefix{size}_"  # what the names of its tables begin with
        arrays |= _prefixed(start, _arrays_of(part))
        words |= {f"{start}source": part.source, f"{start}target": part.target}
    learned = known.learned
    evidence = False
    if learned is not None:
        header = replace(header, learned=record_of(learned))
        evidence = bool(learned.lessons.evidence)
        arrays |= arrays_of(learned)
        words |= _words_of(learned)
        if learned.without is not None:
            arrays |= _prefixed(_WITHOUT, arrays_of(learned.without))
            words |= _prefixed(_WITHOUT, _words_of(learned.without))
    write_model(path, header=header.to_json(), arrays=arrays, words=words, evidence=evidence)


def _prefixed(start: str, entries: Mapping[str, T]) -> dict[str, T]:
    """Return entries whose names begin with this too."""
    return {start + name: entry for name, entry in entries.items()}


def _words_of(learned: refinement.Learned) -> dict[str, Sequence[str]]:
    """Return the lists of words of what was learned from gold."""
    lexicon = learned.lexicon
    if lexicon is None:
        return {}
    return {"learned_source": lexicon.source, "learned_target": lexicon.target}


def _header_of(known: Parameters) -> ModelHeader:
    """Return the header of a model, without what was learned from gold."""
    shares = None
    fertile = known.fertilities
    if fertile is not None:
        shares = (fertile.forward.null_share, fertile.reverse.null_share)
    agreement = None
    if known.text is not None:
        agreement = known.text.agreement
    return ModelHeader(
        settings=known.settings,
        casefold=known.casefold,
        history=known.history,
        null_shares=shares,
        vectors=known.vectors,
        encoder=known.encoder,
        prefixes={size: _header_of(part) for size, part in known.prefixes.items()},
        agreement=agreement,
    )


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


def load_parameters(path: str) -> Parameters:
    """Read a trained model from a file."""
    stored = read_model(path)
    try:
        header = ModelHeader.of(stored.header)
        parts = {}
        for size in header.prefixes:
            part, stored = _divided(stored, f"prefix{size}_")
            parts[size] = _valid(part, header.prefixes[size], {})
        return _valid(stored, header, parts)
    except (AlignkitError, RecursionError) as problem:
        raise AlignerError(
            f"{path}: not a model that this version of alignkit can use "
            f"({str(problem)[:400]}); train it again"
        ) from None


def _divided(stored: StoredModel, start: str) -> tuple[StoredModel, StoredModel]:
    """Return the tables and words that have this name prefix (without it), and the others."""
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


def _valid(stored: StoredModel, header: ModelHeader, prefixes: dict[int, Parameters]) -> Parameters:
    """Return the model of these tables, which are checked first, and models of cut words."""
    without, stored = _divided(stored, _WITHOUT)
    lists = [name for name in stored.words if name.startswith("learned_")]
    names = ", ".join(stored.words) or "missing"
    plain = stored.words.keys() - set(lists) == {"source", "target"}
    _require(plain, f"its word lists are {names}; expected source and target")
    for name, words in stored.words.items():
        _require(len(set(words)) == len(words), f"a word occurs twice in the words of {name}")
    source = list(stored.words["source"])
    target = list(stored.words["target"])
    jumping = any(done.model == "hmm" for done in header.history)
    declared = fields_of(header.settings, jumping, "reverse" in stored.arrays)
    if header.agreement is not None:
        for side in SIDES:
            declared[f"text_{side}"] = Field("int32", (f"{side}s+1",), 0)
    if header.learned is not None:
        sizes = [len(stored.words[name]) for name in lists]
        declared |= fields_of_learned(header.learned, *sizes)
    elif lists:
        raise AlignerError(f"it has the words {lists[0]}, but no refinement from gold links")
    _check_each(declared, stored.arrays, {"sources": len(source), "targets": len(target)})
    for problem in _ties(declared, stored.arrays):
        raise AlignerError(problem)
    learned = None
    nested = _without(header.learned, without)
    if header.learned is not None:
        learned = replace(learned_of(header.learned, stored.arrays, stored.words), without=nested)

    # copies: numba compiles anew for arrays that cannot be written.
    arrays = {name: array.copy() for name, array in stored.arrays.items()}
    arrays.setdefault("reverse", arrays["forward"])
    positions = {name: arrays[f"positions_{name}"] for name in _POSITIONS}
    text = None
    if header.agreement is not None:
        counts = (arrays[f"text_{side}"] for side in SIDES)
        text = TrainingText(header.agreement, not len(arrays["memory_keys"]), *counts)
    return Parameters(
        settings=header.settings,
        casefold=header.casefold,
        source=source,
        target=target,
        positions=Positions(places=np.empty(0, np.int64), **positions),
        remember=partial(Memory, **{name: arrays[f"memory_{name}"] for name in _MEMORY}),
        fertilities=_fertilities_of(header, arrays),
        history=header.history,
        vectors=header.vectors,
        encoder=header.encoder,
        learned=learned,
        prefixes=prefixes,
        text=text,
        **{name: arrays[name] for name in _TABLES},
    )


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


@dataclass(frozen=True)
class ModelHeader:
    """The header of a model file."""

    settings: Settings  # how it was trained
    casefold: bool  # whether case was ignored
    history: tuple[Round, ...]  # the rounds of training
    null_shares: tuple[float, float] | None  # those of IBM 3 and 4, forward and reverse
    learned: object = None  # what was learned from gold, as a record
    vectors: VectorsUsed | None = None  # what vectors gave the training, if there were some
    encoder: EncoderUsed | None = None  # the encoder of the training, if there was one
    prefixes: Mapping[int, ModelHeader] = field(default_factory=dict)  # of models of cut words
    agreement: float | None = None  # of the directions, in texts whose probabilities are calibrated

    def to_json(self) -> dict[str, object]:
        """Return the header as JSON values."""
        content: dict[str, object] = {
            "null_shares": self.null_shares and list(self.null_shares),
            "casefold": self.casefold,
            "settings": asdict(self.settings),
            "history": [list(astuple(done)) for done in self.history],
        }
        more = {
            "vectors": self.vectors and asdict(self.vectors),
            "encoder": self.encoder and asdict(self.encoder),
            "learned": self.learned,
            "prefixes": {str(size): part.to_json() for size, part in self.prefixes.items()},
            "agreement": self.agreement,
        }
        content |= {name: value for name, value in more.items() if value not in (None, {})}
        return content

    @classmethod
    def of(cls, content: Mapping[str, object]) -> ModelHeader:
        """Read the header of a file."""
        for name in sorted((content.keys() - _MORE) ^ _ENTRIES):
            if name in _ENTRIES:
                raise AlignerError(f"{name} is missing")
            raise AlignerError(f"{name[:40]} is not a known entry")
        casefold = content["casefold"]
        history = content["history"]
        if not isinstance(casefold, bool):
            raise AlignerError(f"casefold is {_short(casefold)}; expected true or false")
        settings = _settings(content["settings"])
        if not isinstance(history, list):
            raise AlignerError(f"history is {_short(history)}; expected a list of rounds")
        rounds = tuple(map(_round, history))
        shares = _null_shares(content["null_shares"], settings)
        vectors = None
        if "vectors" in content:
            vectors = _vectors(content["vectors"])
        header = cls(settings, casefold, rounds, shares, content.get("learned"), vectors)
        if "encoder" in content:
            header = replace(header, encoder=_encoder(content["encoder"]))
        if "agreement" in content:
            share = content["agreement"]
            if not (type(share) is float and 0 <= share <= 1):
                raise AlignerError(f"agreement is {_short(share)}; expected a number from 0 to 1")
            header = replace(header, agreement=share)
        fits = ("prefixes" in content) == settings.best
        _require(fits, "prefixes must be present if the setting best is true, and only then")
        if not settings.best:
            return header
        return replace(header, prefixes=dict(header._parts(content["prefixes"])))

    def _parts(self, content: Any) -> Iterator[tuple[int, ModelHeader]]:
        """Yield the headers of models of cut words, with the letters that words keep."""
        sizes = {str(size) for size in range(1, _LONGEST)}
        fits = isinstance(content, dict) and bool(content) and content.keys() <= sizes
        _require(fits, f"prefixes are {_short(content)}; expected models by numbers of letters")
        expected = replace(self.settings, best=False), self.casefold
        for name in sorted(content, key=int):
            entry = content[name]
            is_object = isinstance(entry, dict)
            _require(is_object, f"prefixes: {name} is {_short(entry)}; expected an object")
            part = ModelHeader.of(entry)
            same = (part.settings, part.casefold) == expected
            _require(same, f"prefixes: {name} has other settings than the model of whole words")
            more = part.learned, part.vectors, part.encoder, part.agreement
            plain = more == (None, None, None, None)
            _require(plain, f"prefixes: {name} has entries that only whole words may have")
            yield int(name), part


def _require(fine: bool, problem: str) -> None:
    """Raise an error with this problem unless all is fine."""
    if not fine:
        raise AlignerError(problem)


def _settings(content: object) -> Settings:
    """Read the settings of a header."""
    if not isinstance(content, dict):
        raise AlignerError(f"settings are {_short(content)}; expected an object")
    if "threshold" not in content:  # of file version 1
        content = content | {"threshold": 0.55, "stem": content.get("stem") or 3}
    known = {setting.name for setting in fields(Settings)}
    for name in sorted(content.keys() - known):
        raise AlignerError(f"settings: {name[:40]} is not a setting")
    try:
        settings = Settings(**content)
    except AlignkitError as problem:
        raise AlignerError(f"settings: {problem}") from None
    for name, value in content.items():
        _require(value is not None, f"settings: {name} is null")
    return settings


def _round(content: object) -> Round:
    """Read a round of training of a header."""
    if isinstance(content, list) and len(content) == 4:
        model, number, *scores = content
        known = isinstance(model, str) and model in MODELS
        numbered = type(number) is int and number > 0
        finite = all(type(score) is float and isfinite(score) for score in scores)
        if known and numbered and finite:
            return Round(model, number, *scores)
    raise AlignerError(
        f"history has the round {_short(content)}; expected a model, a number from 1, and "
        "two log-likelihoods"
    )


def _null_shares(content: object, settings: Settings) -> tuple[float, float] | None:
    """Read the shares of words from NULL of both directions; IBM 3 and 4 have them."""
    if not settings.fertile:
        _require(content is None, f"null_shares are {_short(content)}; {settings.model} has none")
        return None
    if isinstance(content, list) and len(content) == 2:
        forward, reverse = content
        most = 1 - _LEAST_SHARE
        if all(type(share) is float and _LEAST_SHARE <= share <= most for share in content):
            return forward, reverse
    raise AlignerError(f"null_shares are {_short(content)}; expected two numbers from 0 to 1")


def _vectors(content: object) -> VectorsUsed:
    """Read from a header what vectors gave the training."""
    names = [count.name for count in fields(VectorsUsed)]
    if not isinstance(content, dict) or content.keys() != set(names):
        raise AlignerError(f"vectors are {_short(content)}; expected {', '.join(names)}")
    counts = all(type(count) is int and count >= 0 for count in content.values())
    _require(counts, f"vectors are {_short(list(content.values()))}; expected counts")
    return VectorsUsed(**content)


def _encoder(content: object) -> EncoderUsed:
    """Read from a header which encoder the training used."""
    kinds = {"name": str, "layer": int, "layers": int, "digest": str, "spread": float}
    if not isinstance(content, dict) or content.keys() != kinds.keys():
        raise AlignerError(f"encoder is {_short(content)}; expected {', '.join(kinds)}")
    for name, kind in kinds.items():
        right = type(content[name]) is kind
        _require(right, f"encoder: {name} is {_short(content[name])}; expected {kind.__name__}")
    used = EncoderUsed(**content)
    layers = used.layer == used.layers == 0 or 1 <= used.layer <= used.layers < _LONGEST
    _require(layers, f"encoder: layer {used.layer} of {used.layers}; expected one of its layers")
    _require(0 < used.spread <= 2, f"encoder: spread is {used.spread}; expected a number up to 2")
    return used


def _short(value: object) -> str:
    """Return a value of a header as short as a message can have it."""
    if isinstance(value, (list, dict)) and value:
        return f"a {type(value).__name__} of {len(value)}"
    return repr(value)[:60]


class Field(NamedTuple):
    """A table."""

    dtype: str  # the kind of its numbers
    shape: tuple[int | str, ...]
    least: float = 0  # the range of its numbers; most may name a size too, perhaps with -1
    most: float | str = 2**64


def fields_of(settings: Settings, jumping: bool, whole: bool) -> dict[str, Field]:
    """Return all fields of a model by name, in the order of the checks."""
    jumps = (0, 0, 0)
    if jumping:
        jumps = (2, settings.kinds + 1, 2 * settings.band + 2)
    shapes: str | int = "shapes" if settings.model == "ibm2" else 0
    remembered: str | int = "keys" if settings.collapsed else 0
    declared = {
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
        del declared["reverse"]
    if settings.fertile:
        for name, size in zip(_LEXICAL, ("pairs", "pairs", "targets+1", "sources+1"), strict=True):
            declared[f"fertile_{name}"] = Field("float32", (size,), *SHARES)
        factorial = settings.model == "ibm3"
        forward = _of_fertility("forward", "sources", "targets", factorial=factorial)
        reverse = _of_fertility("reverse", "targets", "sources", factorial=factorial)
        declared |= _prefixed("forward_", forward) | _prefixed("reverse_", reverse)
    return declared


def _more(size: str | int) -> str | int:
    """Return the size that is greater by one."""
    if isinstance(size, str):
        return f"{size}+1"
    return size + 1


def _of_fertility(side: str, source: str, target: str, *, factorial: bool) -> dict[str, Field]:
    """Return the fields of one direction of IBM 3 (factorial) or IBM 4."""
    sizes: str | int = 0
    places: str | int = 0
    distances = 0
    first: tuple[str | int, ...] = (1, 0, 1)
    rest: tuple[str | int, ...] = (0, 1)
    last_before: str | int = 0
    last: str | int = 0
    if factorial:
        sizes = f"{side} sizes"
        places = f"{side} places"
        distances = STEPS
    else:
        before = f"{side} classes before"
        words = f"{side} classes"
        first = (f"{before}+1", words, STEPS)
        rest = (words, REACH)
        last_before = f"{before}-1"
        last = f"{words}-1"
    return {
        "fertilities": Field("float32", (f"{source}+1", MOST + 1), *LOGGED),
        "sizes": Field("int64", (sizes, 2), 0, LONGEST),
        "distortion": Field("float32", (places,), *LOGGED),
        "diagonal": Field("float32", (distances,), *RATIOS),
        "first": Field("float32", first, *LOGGED),
        "rest": Field("float32", rest, *LOGGED),
        "source_classes": Field("int32", (f"{source}+1",), 0, last_before),
        "target_classes": Field("int32", (f"{target}+1",), 0, last),
    }


def _check_each(fields: Mapping[str, Field], arrays: Arrays, sizes: dict[str, int]) -> None:
    """Check each array against its declaration."""
    for name in sorted(fields.keys() ^ arrays.keys()):
        if name in fields:
            raise AlignerError(f"{name} is missing")
        raise AlignerError(f"{name} is not a known table")
    for name, declared in fields.items():
        _check_form(name, arrays[name], declared, sizes)
        _check_range(name, arrays[name], declared, sizes)


def _check_form(name: str, array: NDArray[Any], field: Field, sizes: dict[str, int]) -> None:
    """Check the type and shape of an array; a size seen for the first time is set in `sizes`."""
    wanted: list[int] = []
    for size, count in zip(field.shape, array.shape, strict=False):
        if not isinstance(size, str):
            wanted.append(size)
            continue
        more = 1 if size.endswith("+1") else 0
        known = sizes.setdefault(size.removesuffix("+1"), max(0, count - more))
        wanted.append(known + more)
    same_axes = len(array.shape) == len(field.shape)
    if tuple(wanted) != array.shape or not same_axes or array.dtype != field.dtype:
        shape = wanted if same_axes else field.shape
        expected = f"{field.dtype} ({', '.join(map(str, shape))})"
        raise AlignerError(f"{name} is {array.dtype} {array.shape}, not {expected}")


def _check_range(name: str, array: NDArray[Any], field: Field, sizes: Mapping[str, int]) -> None:
    """Check that the numbers of an array are in its range."""
    if not array.size:
        return
    most = field.most
    if isinstance(most, str):
        most = sizes[most.removesuffix("-1")] - most.endswith("-1")
    low = array.min().item()
    high = array.max().item()
    if not (field.least <= low and high <= most):  # NaN is neither
        raise AlignerError(
            f"{name} holds numbers from {low} to {high}; expected from {field.least:g} to {most:g}"
        )


def _ties(fields: Mapping[str, Field], arrays: Arrays) -> Iterator[str]:
    """Yield what is wrong with tables in relation to each other."""
    rows = arrays["rows"]
    columns = arrays["columns"]
    yield from _not_rising("rows", rows, len(columns))
    falls = columns[1:] <= columns[:-1]
    begins = rows[(rows > 0) & (rows < len(columns))]
    falls[begins - 1] = False
    if falls.any():
        yield "columns do not increase within each row"
    most = arrays["source_totals"] * np.float32(SLACK)
    if (arrays["forward"] > np.repeat(most[:-1], np.diff(rows))).any():
        yield "forward exceeds source_totals for a word"
    most = arrays["target_totals"] * np.float32(SLACK)
    reverse = "reverse" if "reverse" in fields else "forward"
    if (arrays[reverse] > most.take(columns)).any():
        yield f"{reverse} exceeds target_totals for a word"
    keys = arrays["memory_keys"]
    if (keys[1:] <= keys[:-1]).any():
        yield "memory_keys do not increase"
    yield from _not_rising("memory_offsets", arrays["memory_offsets"], len(arrays["memory_cells"]))
    shapes = arrays["positions_shapes"]
    starts = arrays["positions_shape_starts"]
    positions = len(arrays["positions_forward"])
    yield from _not_shapes("positions_shapes", shapes, positions)
    yield from _not_rising("positions_shape_starts", starts, positions)
    if (np.diff(starts) != shapes.prod(axis=1)).any():
        yield "positions_shape_starts do not fit positions_shapes"
    for side in ("forward", "reverse"):
        if f"{side}_sizes" in fields:
            places = len(arrays[f"{side}_distortion"])
            yield from _not_shapes(f"{side}_sizes", arrays[f"{side}_sizes"], places)


def _not_rising(name: str, array: I8, end: int) -> Iterator[str]:
    """Yield a problem unless an array rises from 0 to an end."""
    if array[0] != 0 or array[-1] != end or (array[1:] < array[:-1]).any():
        yield f"{name} does not increase from 0 to {end}"


def _not_shapes(name: str, shapes: I8, places: int) -> Iterator[str]:
    """Yield a problem unless shapes (H, 2) rise, and need this number of places."""
    order = shapes[:, 0] * (LONGEST + 1) + shapes[:, 1]
    if len(shapes) > BLOCKS or (order[1:] <= order[:-1]).any():
        yield f"{name} do not increase"
        return
    needed = int(shapes.prod(axis=1).sum())
    if needed != places:
        yield f"{name} need {needed} places, but there are {places}"


def record_of(learned: refinement.Learned) -> dict[str, object]:
    """Return the header's record of the refinement from gold links."""
    lessons = learned.lessons
    names: tuple[str, ...] = ()
    if learned.rounds is not None:
        names = names_of(vectors=lessons.vectors, evidence=lessons.evidence)
    record = asdict(lessons)
    record["features"] = list(names)
    record["lexicon"] = learned.lexicon is not None
    if not lessons.evidence:
        return {name: record[name] for name in _OF_LEARNED}
    record["without"] = None
    if learned.without is not None:
        record["without"] = record_of(learned.without)
    return record


def _lessons_of(record: object) -> tuple[refinement.Lessons, bool, bool]:
    """Read a record: how the refinement was learned, whether it has rounds, and a lexicon."""
    if not isinstance(record, dict) or set(record) - _OF_EVIDENCE != _OF_LEARNED:
        raise AlignerError("learned must have the entries " + ", ".join(sorted(_OF_LEARNED)))
    systems: tuple[EvidenceSystem, ...] = ()
    measures = None
    plain = [refinement.UNSUPERVISED]  # kinds without rounds
    if _OF_EVIDENCE & record.keys():
        systems, measures = _evidence_of(record)
        plain += [refinement.VOTE]
        plain += [refinement.SYSTEM + system.name for system in systems]
    lexicon = record["lexicon"]
    kind = record["kind"]
    objective = record["objective"]
    threshold = record["threshold"]
    pairs = record["pairs"]
    vectors = record["vectors"]
    used = kind not in plain
    features: list[str] = []
    if used:
        features += names_of(vectors=vectors, evidence=systems)

    def check(fine: bool, problem: str) -> None:
        _require(fine, f"learned: {problem}")

    kinds = ", ".join(refinement.KINDS)
    known = kind in [*refinement.KINDS, "prior", *plain]
    check(known, f"kind is {str(kind)[:40]!r}; expected one of {kinds}")
    check(objective in list(refinement.OBJECTIVES), f"objective is {str(objective)[:40]!r}")
    share = type(threshold) is float and 0 <= threshold <= 1
    check(share, f"threshold is {str(threshold)[:40]}; expected a probability")
    count = type(pairs) is int and 0 <= pairs < _MOST_PAIRS
    check(count, f"pairs is {str(pairs)[:40]}; expected a number of pairs")
    check(type(vectors) is type(lexicon) is bool, "vectors and lexicon must be true or false")
    check(record["features"] == features, "its features are not those of this version")
    check(used or not lexicon, "it has a lexicon, but nothing that uses it")
    lessons = refinement.Lessons(kind, objective, threshold, pairs, vectors, systems, measures)
    return lessons, used, lexicon


def _evidence_of(record: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the systems of evidence and the measures of a record, after a check."""
    try:
        systems = tuple(EvidenceSystem(*system) for system in record["evidence"])
        measures = record["measures"] and tuple(record["measures"])
        complete = bool(record["without"] or record["kind"] == refinement.VOTE)
        fine = _are_systems(systems) and _are_measures(measures) and complete
    except (KeyError, TypeError):
        fine = False
    _require(fine, "learned: evidence is not a list of different systems, with two measures")
    return systems, measures


def _are_systems(systems: Sequence[EvidenceSystem]) -> bool:
    """Return whether these are different systems, with a number of channels that can be."""
    types = {tuple(map(type, system)) for system in systems}
    if types != {(str, int, bool)}:
        return False
    if len({system.name for system in systems}) < len(systems):
        return False
    return all(0 < system.channels <= _MOST_CHANNELS for system in systems)


def _are_measures(measures: Sequence[object] | None) -> bool:
    """Return whether these are two shares, or nothing."""
    if not measures:
        return True
    shares = [type(measure) is float and 0 <= measure <= 1 for measure in measures]
    return shares == [True, True]


def _without(record: object, stored: StoredModel) -> refinement.Learned | None:
    """Return what was learned without evidence, from its own tables and words."""
    inner = None
    if isinstance(record, dict):
        inner = record.get("without")
    fields: dict[str, Field] = {}
    known: set[str] = set()
    if inner is not None:
        known = set(WORDS)
        sizes = [len(stored.words.get(name, ())) for name in WORDS]
        fields = fields_of_learned(inner, *sizes)
        lessons, _, _ = _lessons_of(inner)
        _require(not lessons.evidence, "learned: evidence is where none was used")
    _check_each(fields, stored.arrays, {})
    _require(stored.words.keys() <= known, "learned: it has words of no lexicon")
    if inner is None:
        return None
    return learned_of(inner, stored.arrays, stored.words)


def arrays_of(learned: refinement.Learned) -> dict[str, NDArray[Any]]:
    """Return the tables of the refinement from gold links by name."""
    arrays: dict[str, NDArray[Any]] = {}
    if learned.rounds is not None:
        arrays |= _prefixed("learned_first_", _arrays_of_round(learned.rounds.first))
        arrays |= _prefixed("learned_second_", _arrays_of_round(learned.rounds.second))
    if learned.lexicon is not None:
        arrays |= _named("learned_", learned.lexicon, ("pairs", *_COUNTS))
    return arrays


def _arrays_of_round(fitted: refinement.SupervisedRound) -> dict[str, NDArray[Any]]:
    """Return the weights with the bias, and the layers of all networks."""
    networks = fitted.networks
    hidden = 0
    if networks:
        hidden = networks[0].first.shape[1]
    layers = np.zeros((len(networks), len(fitted.weights) + 1, hidden), np.float32)
    outputs = np.zeros((len(networks), hidden + 1), np.float32)
    for k, network in enumerate(networks):
        layers[k] = network.first
        outputs[k] = network.second
    weights = np.append(fitted.weights, fitted.bias)
    return {"weights": weights, "layers": layers, "outputs": outputs}


def fields_of_learned(record: object, sources: int = 0, targets: int = 0) -> dict[str, Field]:
    """Declare the tables of a refinement for its record and these numbers of words."""
    lessons, used, with_lexicon = _lessons_of(record)
    fields: dict[str, Field] = {}
    names = names_of(vectors=lessons.vectors, evidence=lessons.evidence)
    width = len(names) + 1
    limits = (-_LARGEST, _LARGEST)
    rounds = ("first", "second") if used else ()
    for name in rounds:
        start = f"learned_{name}_"
        networks = f"networks {name}"
        hidden = f"hidden {name}"
        fields[f"{start}weights"] = Field("float64", (width,), *limits)
        fields[f"{start}layers"] = Field("float32", (networks, width, hidden), *limits)
        fields[f"{start}outputs"] = Field("float32", (networks, f"{hidden}+1"), *limits)
    if with_lexicon:
        fields |= {
            "learned_pairs": Field("int32", ("gold pairs", 2), 0, max(sources, targets) - 1),
            "learned_pair_counts": Field("float64", ("gold pairs", 3), 0, _LARGEST),
            "learned_source_counts": Field("float64", (sources, 3), 0, _LARGEST),
            "learned_target_counts": Field("float64", (targets, 3), 0, _LARGEST),
        }
    return fields


def learned_of(
    record: object, arrays: Arrays, words: Mapping[str, Sequence[str]]
) -> refinement.Learned:
    """Return the refinement, from tables with checked shapes and ranges."""
    lessons, _, with_lexicon = _lessons_of(record)
    needed = set(WORDS) if with_lexicon else set()
    if set(WORDS) & words.keys() != needed:
        raise AlignerError("learned: the words of its lexicon are missing or not allowed")
    rounds = None
    lexicon = None
    if "learned_first_weights" in arrays:
        rounds = refinement.StackedModel(_round_of("first", arrays), _round_of("second", arrays))
    if "learned_pairs" in arrays:
        tables = (arrays[f"learned_{name}"].copy() for name in ("pairs", *_COUNTS))
        lexicon = GoldLexicon(tuple(words[WORDS[0]]), tuple(words[WORDS[1]]), *tables)
        lexicon.check()
    return refinement.Learned(lessons, rounds, lexicon)


def _round_of(name: str, arrays: Arrays) -> refinement.SupervisedRound:
    """Return the first or the second round."""
    weights = arrays[f"learned_{name}_weights"]
    layers = arrays[f"learned_{name}_layers"]
    outputs = arrays[f"learned_{name}_outputs"]
    networks = []
    for first, second in zip(layers, outputs, strict=True):
        networks.append(refinement.Layers(first.copy(), second.copy()))
    return refinement.SupervisedRound(weights[:-1].copy(), float(weights[-1]), tuple(networks))
