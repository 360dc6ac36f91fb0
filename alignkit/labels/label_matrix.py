"""Lay the judgments of a corpus out as an array: annotators by pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.arguments import check_kind, words
from alignkit.brief import how_many
from alignkit.corpus import Corpus
from alignkit.errors import FormatError, JudgmentError, UnknownNameError
from alignkit.frozen import FrozenMap
from alignkit.labels.rewrites import origin_of
from alignkit.labels.views import View
from alignkit.natural_order import natural_key
from alignkit.sentence_pair import SentencePair

NOT_JUDGED, SKIPPED, UNKNOWN = LEFT_OUT = ("not judged", "not scored", "not of the scheme")
"""Why a cell of a matrix holds no label."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelMatrix:
    """What A annotators judged of P pairs, in numbers."""

    annotators: tuple[str, ...]
    ids: tuple[str, ...]
    labels: tuple[str, ...]
    values: NDArray[np.int8]
    left_out: FrozenMap[str, int]


def judges_of(pairs: Iterable[SentencePair]) -> tuple[str, ...]:
    """Return the names of those who judged at least one pair."""
    orders = dict.fromkeys(
        tuple(name for name, one in pair.annotations.items() if one.judgment) for pair in pairs
    )
    names = tuple(dict.fromkeys(name for order in orders for name in order))
    whole = (order for order in orders if len(order) == len(names))
    return next(whole, tuple(sorted(names, key=natural_key)))


def judged_part(corpus: Corpus, *, rewrites: bool) -> tuple[Corpus, int, tuple[str, ...]]:
    """Return the pairs that count as judged, how many rewrites do not, and what to know of them."""
    kept = corpus.filter(lambda pair: origin_of(pair) is None)
    if not (anew := len(corpus) - len(kept)):
        return corpus, 0, ()
    said = f"{anew} of {how_many(len(corpus), 'pair')} are rewrites, which nobody judged"
    if rewrites:
        return corpus, 0, (f"{said}: they count as what their writers meant them to be",)
    told = f"{said}, and left out; --rewrites (in Python, rewrites=True) counts them too"
    return kept, anew, (told,)


def judgments_of(
    corpus: Corpus, annotators: Sequence[str] | None, view: View, *, lenient: bool = False
) -> LabelMatrix:
    """Return what annotators, None for all, judged, as a view shows it."""
    check_kind("corpus", corpus, Corpus)
    check_kind("view", view, View)
    known = judges_of(corpus)
    names = known if annotators is None else tuple(dict.fromkeys(words("annotators", annotators)))
    for name in names:
        if name not in known:
            raise UnknownNameError("annotator who judged pairs", name, known)
    numbers = {label: k for k, label in enumerate(view.labels)}
    codes = {
        judgment: -1 if label is None else numbers[label] for judgment, label in view.rows.items()
    }
    values = np.full((len(names), len(corpus)), -1, dtype=np.int8)
    counts: Counter[str] = Counter()
    rows = {name: row for row, name in enumerate(names)}
    judged = 0
    for p, pair in enumerate(corpus):
        for name, annotation in pair.annotations.items():
            judgment = annotation.judgment
            if not judgment or name not in rows:
                continue
            judged += 1
            if judgment in codes:
                values[rows[name], p] = codes[judgment]
                counts[SKIPPED] += codes[judgment] < 0
            elif lenient:
                counts[UNKNOWN] += 1
            else:
                try:
                    view.scheme.parse(judgment)
                except FormatError as error:
                    raise JudgmentError.of(error, pair.id, name, judgment) from None
    counts[NOT_JUDGED] = values.size - judged
    left_out = FrozenMap({reason: counts[reason] for reason in LEFT_OUT})
    return LabelMatrix(names, corpus.ids, view.labels, values, left_out)
