"""Agreement on sets of items in a file, corrected by samples of chance in another."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from os import PathLike, fspath

import numpy as np

from alignkit._support.arguments import check_known
from alignkit._support.options import stated, takes
from alignkit._support.wording import how_many
from alignkit.agreement.chance.correction import SetCorrection, correct_sets
from alignkit.agreement.options import SetOptions
from alignkit.errors import FormatError, OptionError
from alignkit.io.options import ReadOptions
from alignkit.io.strict_json import parse_json
from alignkit.io.text_files import TextFile
from alignkit.tables.columns import Column, Row, Value
from alignkit.tables.result import Result
from alignkit.tables.table import Table
from alignkit.version import __version__

Items = frozenset[str]
Sets = dict[str, dict[str, list[Items]]]
"""The sets of each annotator, by the id of their unit: one, or those that were drawn."""

LEAST_SAMPLES = 100
_KINDS = {"id": str, "annotator": str, "items": list}


@dataclass(frozen=True, eq=False)
class SetAgreement(Result):
    r"""The agreement of every two annotators on sets.

    Returned by `agree_on_sets`.

    Parameters
    ----------
    pairings : The correction of each two annotators, and the number of units that both have.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import alignkit
    >>> line = '{{"id": "1", "annotator": "{}", "items": [{}]}}'.format
    >>> chosen = [line("ann", "1, 2"), line("ben", "2, 3")]
    >>> drawn = [line(who, k % 4) for who in ("ann", "ben") for k in range(100)]
    >>> with TemporaryDirectory() as folder:
    ...     sets, chance = Path(folder, "sets.jsonl"), Path(folder, "chance.jsonl")
    ...     _ = sets.write_text("\n".join(chosen), "utf-8")
    ...     _ = chance.write_text("\n".join(drawn), "utf-8")
    ...     agreement = alignkit.agree_on_sets(sets, chance=chance)
    >>> correction, units = agreement.pairings["ann", "ben"]
    >>> correction.pi, units
    (0.5, 1)
    """

    pairings: dict[tuple[str, str], tuple[SetCorrection, int]]
    notes: tuple[str, ...] = ()
    signature: str = ""

    def tables(self) -> Sequence[Table]:
        """Return a row for each two annotators."""
        columns = [Column("first"), Column("second"), Column("units", "count")]
        columns.append(Column("left out", "count", key="left_out"))
        names = {"pi": "pi", "pi0": "pi0", "se": "pi0_error", "C": "C", "se of C": "C_error"}
        columns += [Column(name, "decimal", digits=4, key=key) for name, key in names.items()]
        rows: list[Row] = []
        for (first, second), (result, units) in self.pairings.items():
            corrected = Value(result.C, reason=result.undefined)
            if result.interval is not None:
                low, high = result.interval.low, result.interval.high
                corrected = Value(result.C, low, high, result.undefined)
            row: Row = [first, second, units, sum(result.left_out.values())]
            row += [result.pi, result.pi0, result.pi0_error, corrected, result.C_error]
            rows.append(row)
        note = (
            "pi: |A & B| divided by the normalizer (min: smaller set, max: larger set), as a mean "
            "of units (macro) or of pooled counts (micro); pi0: the same of the samples; C: "
            "(pi - pi0)/(1 - pi0), not comparable with C of other items or samples; se: standard "
            "errors of pi0 and C by the number of samples"
        )
        return [Table("Agreement on sets", columns, rows, note, "sets", stub=2)]


@takes(SetOptions)
def agree_on_sets(path: str | PathLike[str], options: SetOptions) -> SetAgreement:
    r"""Measure how far annotators agree on sets, beyond chance.

    Parameters
    ----------
    path : JSON lines ``{"id": ..., "annotator": ..., "items": [...]}``, one for each unit and
        annotator; an item is any JSON value.
    options : The fields of `SetOptions`. The k-th sets of `chance` of two annotators are compared;
        if one has more, its last ones are not used.

    Raises
    ------
    FormatError : If a line is not of this form, or a unit and an annotator occur twice in `path`.
    OptionError : If samples are missing, or fewer than two annotators are left.

    References
    ----------
    Cohn, Callison-Burch & Lapata 2008, Constructing corpora for the development and evaluation of
    paraphrase systems, Computational Linguistics 34(4):597-614, for C.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> line = '{{"id": "{}", "annotator": "{}", "items": [{}]}}\n'.format
    >>> chosen = [line(1, "ann", "1, 2"), line(1, "ben", "2, 3")]
    >>> drawn = [line(1, who, k % 4) for who in ("ann", "ben") for k in range(100)]
    >>> with TemporaryDirectory() as folder:
    ...     sets, chance = Path(folder, "sets.jsonl"), Path(folder, "chance.jsonl")
    ...     _ = sets.write_text("".join(chosen), "utf-8")
    ...     _ = chance.write_text("".join(drawn), "utf-8")
    ...     agreement = agree_on_sets(sets, chance=chance)
    >>> correction, units = agreement.pairings["ann", "ben"]
    >>> correction.pi, units
    (0.5, 1)
    """
    sets = read_sets(path)
    chance = fspath(options.chance)
    drawn = read_sets(chance, single=False)
    names = list(dict.fromkeys(sets if options.annotators is None else options.annotators))
    for name in names:
        check_known(f"annotator of {fspath(path)}", name, sets)
    if len(names) < 2:
        raise OptionError(f"{fspath(path)}: agreement needs two annotators, not {len(names)}")
    asked = stated(options)
    pairings = {}
    notes = list[str]()
    for first, second in combinations(names, 2):
        ids = [id for id in sets[first] if id in sets[second]]
        first_samples = [_samples(drawn, first, id, chance) for id in ids]
        second_samples = [_samples(drawn, second, id, chance) for id in ids]
        sizes = [len(samples) for samples in first_samples + second_samples]
        count = min(sizes, default=LEAST_SAMPLES)
        first_sets = [sets[first][id][0] for id in ids]
        second_sets = [sets[second][id][0] for id in ids]
        sample = _GivenSamples(first_samples, second_samples)
        result = correct_sets(first_sets, second_sets, sample=sample, samples=count, **asked)
        pairings[first, second] = result, len(ids)
        notes_on_both = list(result.notes)
        notes_on_both += [f"{n} x {why}: left out" for why, n in result.left_out.items()]
        alone = len(sets[first]) + len(sets[second]) - 2 * len(ids)
        if alone:
            notes_on_both.append(f"{how_many(alone, 'unit')} of one annotator alone, left out")
        unused = sum(sizes) - count * len(sizes)
        if unused:
            notes_on_both.append(f"{how_many(unused, 'sample')} beyond {count} of a unit, not used")
        notes += [f"{first} and {second}: {each}" for each in notes_on_both]
    whole = {"annotators": "+".join(names), **asked, "version": __version__}
    signature = "|".join(f"{name}:{value}" for name, value in whole.items())
    return SetAgreement(pairings, tuple(notes), signature)


class _GivenSamples:
    """A `Sampler` of two annotators that gives the samples of each unit one after the other."""

    def __init__(self, first: Sequence[list[Items]], second: Sequence[list[Items]]) -> None:
        self._left = (list(map(iter, first)), list(map(iter, second)))

    def __call__(self, unit: int, annotator: int, rng: np.random.Generator) -> Items:
        """Return the next sample of a unit; `annotator` is 0 or 1."""
        return next(self._left[annotator][unit])


def _samples(drawn: Sets, name: str, id: str, path: str) -> list[Items]:
    """Return the samples of a unit; raise an error if there are too few."""
    samples = drawn.get(name, {}).get(id, [])
    if len(samples) < LEAST_SAMPLES:
        raise OptionError(
            f"{path}: has {how_many(len(samples), 'sample')} of annotator {name!r}, unit {id!r}; "
            f"{LEAST_SAMPLES} are needed"
        )
    return samples


def read_sets(path: str | PathLike[str], *, single: bool = True) -> Sets:
    """Return the sets of a file, items as JSON; with `single`, one for each unit and annotator."""
    name = fspath(path)
    sets: defaultdict[str, dict[str, list[Items]]] = defaultdict(dict)
    for number, text in TextFile(name, ReadOptions()).lines():
        if not text.strip():
            continue
        row = parse_json(text, name, number)
        if type(row) is not dict or any(type(row.get(key)) is not _KINDS[key] for key in _KINDS):
            wanted = ", ".join(f'"{each}"' for each in _KINDS)
            raise FormatError(f"expected an object with {wanted}", name, number)
        known = sets[row["annotator"]].setdefault(row["id"], [])
        if known and single:
            who = f"annotator {row['annotator']!r} has unit {row['id']!r} twice"
            raise FormatError(who, name, number)
        known.append(frozenset(json.dumps(item, sort_keys=True) for item in row["items"]))
    return dict(sets)
