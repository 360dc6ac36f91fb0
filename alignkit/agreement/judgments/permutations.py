"""Kappas against the consensus that chance alone gives: the nulls, by permuting labels.

A consensus contains each annotator, so chance alone gives a kappa above 0 against it. To find how
much, the labels of each annotator are permuted among the items that this annotator judged, the
consensus is computed again, and the kappas against it are computed; and so many times over.

All views of a scheme use the same permutations. So what is permuted are *codes*: each combination
of labels in all views has a code, and its *meaning* in a view is the label there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import F8, I4, I8
from alignkit._support.jit import readonly
from alignkit._support.parallel import executor
from alignkit.agreement.judgments import tables_kernel
from alignkit.agreement.judgments.consensus import LEAST, Labels
from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.agreement.judgments.tables import ViewData, mean_of
from alignkit.agreement.kappa import weighted_kappas

# permutations that are made at once: as many as need about so much memory, and no more than _MOST
_CHUNK_BYTES = 2**24
_MOST = 64


class NullKappas(NamedTuple):
    """The kappas against the consensus in R permutations; NaN if undefined."""

    each: F8  # (R, A): of each annotator
    mean: F8  # (R,): the mean of these
    pooled: F8  # (R,): of all judgments in one table
    settled: F8  # (R,): the share of items with two judgments or more that have a consensus


def null_kappas(views: Sequence[ViewData], options: JudgmentOptions) -> list[NullKappas]:
    """Permute labels, find the new consensus, and compute the kappas against it, for each view."""
    judgments = _Judgments.of([view.values for view in views])
    rng = np.random.default_rng(options.seed)
    states = rng.integers(1, 2**63, size=(options.permutations, 4), dtype=np.uint64)
    most_labels = max(view.size for view in views)
    annotators = len(judgments.offsets) - 1
    bytes_of_one = len(judgments.codes) + 32 * annotators * most_labels**2 + 1
    step = max(1, min(_MOST, _CHUNK_BYTES // bytes_of_one))

    def drawn(start: int) -> list[NullKappas]:
        """Return the kappas of each view in the permutations from `start` on."""
        chosen = states[start : start + step]
        permuted = tables_kernel.permute(judgments.codes, judgments.offsets, chosen)
        kappas = []
        for view, meaning in zip(views, judgments.meanings, strict=True):
            kappas.append(_kappas_of(view, judgments, meaning, permuted, options.null))
        return kappas

    with executor(options.workers) as threads:
        parts = list(threads.map(drawn, range(0, options.permutations, step)))
    nulls = []
    for of_view in zip(*parts, strict=True):
        each, mean, pooled, settled = map(np.concatenate, zip(*of_view, strict=True))
        nulls.append(NullKappas(each, mean, pooled, settled))
    return nulls


class _Judgments(NamedTuple):
    """J judgments, annotator by annotator."""

    codes: Labels  # (J,)
    offsets: I8  # (A + 1,): where those of each annotator begin
    items: I4  # (J,): the item that is judged
    meanings: NDArray[np.int8]  # (views, codes): the label that a code means; -1 for none

    @classmethod
    def of(cls, views: Sequence[Labels]) -> _Judgments:
        """Collect the judgments, from the (A, P) labels in each view."""
        stacked = np.stack(views)
        annotator, item = np.nonzero(np.any(stacked >= 0, axis=0))
        offsets = np.searchsorted(annotator, np.arange(stacked.shape[1] + 1))
        meanings, codes = np.unique(stacked[:, annotator, item], axis=1, return_inverse=True)
        return cls(
            codes=codes.reshape(-1).astype(np.int8),
            offsets=offsets.astype(np.int64),
            items=item.astype(np.int32),
            meanings=np.ascontiguousarray(meanings, np.int8),
        )


def _kappas_of(
    view: ViewData, judgments: _Judgments, meaning: Labels, permuted: Labels, null: str
) -> NullKappas:
    """Return the kappas of a view, in which codes have this meaning, in R permutations (R, J).

    With the `null` "all", all annotators are permuted at once, else one after the other.
    """
    size = view.size
    label_of_tie = np.full(view.values.shape[1], -1, np.int8)
    if view.ties == "adjudicated" and view.adjudicated is not None:
        label_of_tie[:] = view.adjudicated
    labels = tables_kernel.PermutedLabels(
        codes=readonly(judgments.codes),
        permuted=readonly(permuted),
        meaning=readonly(meaning),
        offsets=readonly(judgments.offsets),
        items=readonly(judgments.items),
    )
    rule = tables_kernel.MajorityRule(size, LEAST, view.ties == "lowest", readonly(label_of_tie))
    judged = (view.values >= 0).sum(axis=0)
    enough = judged[judged >= LEAST]
    if null == "all":
        cells, settled = tables_kernel.consensus_tables(labels, rule)
        items = len(enough)
    else:
        cells, settled = tables_kernel.one_permuted_tables(labels, rule)
        items = int(enough.sum())  # an item counts for each of its annotators
    tables = cells.reshape(*cells.shape[:2], size, size)
    each = weighted_kappas(tables, view.far)
    return NullKappas(
        each=each,
        mean=mean_of(each.T, tables.sum(axis=(2, 3)).T),
        pooled=weighted_kappas(tables.sum(axis=1), view.far),
        settled=settled / items if items else np.full(len(settled), np.nan),
    )
