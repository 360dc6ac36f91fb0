"""How far annotators would agree with a consensus by chance alone: permute their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.judgments.consensus import LEAST, Labels
from alignkit.agreement.judgments.tables import kappas, mean_kappas
from alignkit.agreement.judgments.tables_kernel import (
    consensus_tables,
    one_permuted_tables,
    permute,
)
from alignkit.agreement.statistic import Floats
from alignkit.errors import OptionError, UnknownNameError
from alignkit.parallel import executor

NULLS = ("all", "one")
"""Whose labels are permuted: those of all annotators, or of the one alone who is tested."""

_CHUNK_BYTES, _MOST = 2**24, 64  # how many permutations are made at once


class NullQuestion(NamedTuple):
    """Which view is asked, and how the consensus is found in it."""

    values: Labels  # (A, P) labels; -1 where an annotator has not judged an item
    size: int  # K, how many labels there are
    far: Floats  # (K, K): how far two of them are apart
    ties: str = "leave-out"
    adjudicated: Labels | None = None  # (P,) labels, for ties="adjudicated"


class NullKappas(NamedTuple):
    """The kappas against the consensus in R permutations; NaN where undefined."""

    each: Floats  # (R, A): of each annotator
    mean: Floats
    pooled: Floats  # (R,): of all judgments in one table
    settled: Floats  # (R,): the share of items with two judgments or more that have a consensus


def null_kappas(
    questions: Sequence[NullQuestion],
    *,
    permutations: int = 1000,
    null: str = "all",
    seed: int,
    workers: int | None = None,
) -> list[NullKappas]:
    """Permute labels, find the consensus anew, and take the kappas against it."""
    if null not in NULLS:
        raise UnknownNameError("null", null, NULLS)
    if permutations < 1:
        raise OptionError(f"permutations must be at least 1, not {permutations}")
    data = _Judgments.of([one.values for one in questions])
    states = np.random.default_rng(seed).integers(1, 2**63, size=(permutations, 4), dtype=np.uint64)
    width = max((len(data.offsets) - 1) * one.size**2 for one in questions)
    step = max(1, min(_MOST, _CHUNK_BYTES // (len(data.codes) + 32 * width + 1)))

    def drawn(start: int) -> list[NullKappas]:
        permuted = permute(data.codes, data.offsets, states[start : start + step])
        return [
            _kappas_of(question, data, data.meanings[k], permuted, null)
            for k, question in enumerate(questions)
        ]

    with executor(workers) as threads:
        parts = list(threads.map(drawn, range(0, permutations, step)))
    return [
        NullKappas(*map(np.concatenate, zip(*chunks, strict=True)))
        for chunks in zip(*parts, strict=True)
    ]


class _Judgments(NamedTuple):
    """J judgments, annotator by annotator: a code stands for a label in each view."""

    codes: Labels
    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    meanings: NDArray[np.int8]

    @classmethod
    def of(cls, views: Sequence[Labels]) -> _Judgments:
        stacked = np.stack(views)
        judged = np.any(stacked >= 0, axis=0)
        annotator, item = np.nonzero(judged)
        offsets = np.searchsorted(annotator, np.arange(stacked.shape[1] + 1))
        meanings, codes = np.unique(stacked[:, annotator, item], axis=1, return_inverse=True)
        return cls(
            codes.reshape(-1).astype(np.int8),
            offsets.astype(np.int64),
            item.astype(np.int32),
            np.ascontiguousarray(meanings, np.int8),
        )


def _kappas_of(
    question: NullQuestion, data: _Judgments, meaning: Labels, permuted: Labels, null: str
) -> NullKappas:
    size, ties = question.size, question.ties
    tied = np.full(question.values.shape[1], -1, np.int8)
    if ties == "adjudicated" and question.adjudicated is not None:
        tied[:] = question.adjudicated
    rest = (meaning, data.offsets, data.items, tied, size, LEAST, ties == "lowest")
    if null == "all":
        flat, settled = consensus_tables(permuted, *rest)
    else:
        flat, settled = one_permuted_tables(data.codes, permuted, *rest)
    judged = (question.values >= 0).sum(axis=0)
    enough = judged[judged >= LEAST]
    whole = len(enough) if null == "all" else int(enough.sum())
    tables = flat.reshape(*flat.shape[:2], size, size)
    return NullKappas(
        kappas(tables, question.far),
        mean_kappas(tables, question.far),
        kappas(tables.sum(axis=1), question.far),
        settled / whole if whole else np.full(len(settled), np.nan),
    )
