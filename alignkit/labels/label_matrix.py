"""Lay the judgments of a corpus out as an array: annotators by pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.arguments import check_kind, words
from alignkit.corpus import Corpus, SentencePair
from alignkit.errors import FormatError, JudgmentError, UnknownNameError
from alignkit.frozen import FrozenMap
from alignkit.labels.views import View
from alignkit.natural_order import natural_key

__all__ = ["LEFT_OUT", "LabelMatrix", "judges_of", "judgments_of"]

NOT_JUDGED, SKIPPED, UNKNOWN = LEFT_OUT = ("not judged", "not scored", "not of the scheme")
"""Why a cell of a matrix holds no label."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelMatrix:
    """Hold what annotators judged, in numbers.

    Parameters
    ----------
    annotators
        The names of the A annotators.
    ids
        The ids of the P pairs, in the order of the corpus; they may repeat.
    labels
        The names of the labels of the view, in its order.
    values
        int8, A x P: the place of each label among `labels`; -1 where there is none.
    left_out
        How many cells hold no label, for each reason in `LEFT_OUT`.
    """

    annotators: tuple[str, ...]
    ids: tuple[str, ...]
    labels: tuple[str, ...]
    values: NDArray[np.int8]
    left_out: FrozenMap[str, int]


def judges_of(pairs: Iterable[SentencePair]) -> tuple[str, ...]:
    """Return the names of those who judged at least one pair.

    They have the order in which a pair has them that all have judged; where there is none, the
    order of first use says nothing, and they have that of their names.
    """
    orders = dict.fromkeys(
        tuple(name for name, one in pair.annotations.items() if one.judgment) for pair in pairs
    )
    names = tuple(dict.fromkeys(name for order in orders for name in order))
    whole = (order for order in orders if len(order) == len(names))
    return next(whole, tuple(sorted(names, key=natural_key)))


def judgments_of(
    corpus: Corpus, annotators: Sequence[str] | None, view: View, *, lenient: bool = False
) -> LabelMatrix:
    """Return what annotators judged, as a view shows it.

    Parameters
    ----------
    corpus
        The pairs.
    annotators
        Whose judgments; None for all who judged.
    view
        The view.
    lenient
        Leave out, and count, what is no judgment of the scheme, where an error would stop.

    Raises
    ------
    UnknownNameError
        If one of the annotators judged no pair.
    JudgmentError
        If a text is no judgment of the scheme; the message names the pair and the annotator.

    Examples
    --------
    >>> from alignkit.annotation import Annotation
    >>> from alignkit.labels.views import get_view
    >>> corpus = Corpus([SentencePair("1", ["a"], ["b"], {"ann": Annotation(None, judgment="4<"),
    ...                                                   "ben": Annotation(None, judgment="x")})])
    >>> matrix = judgments_of(corpus, None, get_view("turku", "base"))
    >>> matrix.values.tolist(), matrix.left_out["not scored"]
    ([[3], [-1]], 1)
    """
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
                _refuse(pair, name, judgment, view)
    counts[NOT_JUDGED] = values.size - judged
    left_out = FrozenMap({reason: counts[reason] for reason in LEFT_OUT})
    return LabelMatrix(names, corpus.ids, view.labels, values, left_out)


def _refuse(pair: SentencePair, name: str, judgment: str, view: View) -> None:
    try:
        view.scheme.parse(judgment)
    except FormatError as error:
        raise JudgmentError.of(error, pair.id, name, judgment) from None
