"""Agreement on sets of items in a file, corrected by samples of chance in another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan
from os import PathLike, fspath
from typing import Any

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit._support.wording import how_many
from alignkit.agreement.chance.correction import SetCorrection, correct_sets
from alignkit.errors import FormatError, OptionError
from alignkit.io.options import ReadOptions
from alignkit.io.strict_json import parse_json
from alignkit.io.text_files import TextFile
from alignkit.stats.resampling import SEED
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import Result
from alignkit.tables.table import Table
from alignkit.version import __version__

Items = frozenset[Hashable]
Sets = dict[str, dict[str, list[Items]]]
"""The sets of each annotator, by the id of their unit: one, or those that were drawn."""

LEAST_SAMPLES = 100
_MEMBERS = {"id": str, "annotator": str, "items": list}


@dataclass(frozen=True, eq=False)
class SetAgreement(Result):
    """The agreement of every two annotators on sets.

    Parameters
    ----------
    pairings : The correction of each two annotators, and the number of units that both have.
    """

    pairings: dict[tuple[str, str], tuple[SetCorrection, int]]
    notes: tuple[str, ...] = ()
    signature: str = ""

    def tables(self) -> Sequence[Table]:
        """Return a row for each two annotators."""
        columns = [
            Column("first"), Column("second"), Column("units", "count"),
            Column("left out", "count", key="left_out"), Column("pi", "decimal", digits=4),
            Column("pi0", "decimal", digits=4), Column("C", "decimal", digits=4),
        ]  # fmt: skip
        rows: list[list[Cell]] = []
        for (first, second), (corrected, units) in self.pairings.items():
            interval = corrected.interval
            low, high = (nan, nan) if interval is None else (interval.low, interval.high)
            value = Value(corrected.C, low, high, corrected.undefined)
            left = sum(corrected.left_out.values())
            rows.append([first, second, units, left, corrected.pi, corrected.pi0, value])
        note = (
            "pi: mean of |A & B| / min(|A|, |B|); pi0: the same of the samples; C: (pi - pi0)/(1 - "
            "pi0), not comparable with C of other items or samples"
        )
        return [Table("Agreement on sets", columns, rows, note, "sets", stub=2)]


def agree_on_sets(
    path: str | PathLike[str], chance: str | PathLike[str], *,
    annotators: Sequence[str] | None = None, normalizer: str = "min", aggregate: str = "macro",
    confidence: float = 0.95, resamples: int = 1000, seed: int = SEED,
) -> SetAgreement:  # fmt: skip
    """Measure how far annotators agree on sets, beyond chance.

    Parameters
    ----------
    path : JSON lines ``{"id": ..., "annotator": ..., "items": [...]}``, one for each unit and
        annotator; an item is any JSON value.
    chance : The same, with 100 lines or more for each unit and annotator: sets that the annotator
        could have chosen by chance, drawn by any program. The k-th sets of two annotators are
        compared; if one has more, its last ones are not used.
    annotators : The annotators to compare; None: all.

    Raises
    ------
    FormatError : If a line is not of this form, or a unit and an annotator occur twice in `path`.
    OptionError : If samples are missing, or fewer than two annotators are left.
    """
    check_arguments(agree_on_sets, locals())
    sets, drawn = (read_sets(each, single=each == path) for each in (path, chance))
    names = list(sets) if annotators is None else list(dict.fromkeys(annotators))
    if unknown := [name for name in names if name not in sets]:
        known = ", ".join(sets)
        raise OptionError(f"{fspath(path)}: has no annotator {unknown[0]!r}; it has {known}")
    if len(names) < 2:
        raise OptionError(f"{fspath(path)}: agreement needs two annotators, not {len(names)}")
    pairings, notes = {}, list[str]()
    for pair in combinations(names, 2):
        ids = [id for id in sets[pair[0]] if id in sets[pair[1]]]
        alone = sum(len(sets[name]) - len(ids) for name in pair)
        used = [[_samples(drawn, name, id, fspath(chance)) for id in ids] for name in pair]
        count = min((len(unit) for side in used for unit in side), default=LEAST_SAMPLES)
        result = correct_sets(
            *([sets[name][id][0] for id in ids] for name in pair), sample=_InOrder(used),
            samples=count, normalizer=normalizer, aggregate=aggregate, seed=seed,
            confidence=confidence, resamples=resamples,
        )  # fmt: skip
        pairings[pair] = result, len(ids)
        said = [f"{n} x {reason}: left out" for reason, n in result.left_out.items()]
        said += [f"{how_many(alone, 'unit')} of one annotator alone, left out"] if alone else []
        unused = sum(len(unit) - count for side in used for unit in side)
        said += (
            [f"{how_many(unused, 'sample')} beyond {count} of a unit, not used"] if unused else []
        )
        notes += [f"{' and '.join(pair)}: {each}" for each in (*result.notes, *said)]
    signature = f"annotators:{'+'.join(names)}|normalizer:{normalizer}|aggregate:{aggregate}"
    signature += f"|confidence:{confidence}"
    signature += f"|resamples:{resamples}|seed:{seed}|version:{__version__}"
    return SetAgreement(pairings, tuple(notes), signature)


class _InOrder:
    """Sampler that returns given sets one after the other."""

    def __init__(self, sets: Sequence[Sequence[Sequence[Items]]]) -> None:
        self._streams = [[iter(unit) for unit in side] for side in sets]

    def __call__(self, unit: int, annotator: int, _rng: np.random.Generator) -> Items:
        return next(self._streams[annotator][unit])


def _samples(drawn: Sets, name: str, id: str, path: str) -> list[Items]:
    samples = drawn.get(name, {}).get(id, [])
    if len(samples) < LEAST_SAMPLES:
        raise OptionError(
            f"{path}: has {how_many(len(samples), 'sample')} of annotator {name!r}, unit {id!r}; "
            f"{LEAST_SAMPLES} are needed"
        )
    return samples


def read_sets(path: str | PathLike[str], *, single: bool = True) -> Sets:
    """Return the sets of a file; with `single`, one for each unit and annotator."""
    name = fspath(path)
    sets: defaultdict[str, dict[str, list[Items]]] = defaultdict(dict)
    for number, text in TextFile(name, ReadOptions()).lines():
        if not text.strip():
            continue
        row = parse_json(text, name, number)
        for member, kind in _MEMBERS.items():
            if not isinstance(row, dict) or not isinstance(row.get(member), kind):
                wanted = ", ".join(f'"{each}"' for each in _MEMBERS)
                raise FormatError(f"expected an object with {wanted}", name, number)
        known = sets[row["annotator"]].setdefault(row["id"], [])
        if known and single:
            who = f"annotator {row['annotator']!r} has unit {row['id']!r} twice"
            raise FormatError(who, name, number)
        known.append(frozenset(map(_hashable, row["items"])))
    return dict(sets)


def _hashable(value: Any) -> Hashable:
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    if isinstance(value, dict):
        return tuple(sorted((key, _hashable(each)) for key, each in value.items()))
    return value  # type: ignore[no-any-return]
