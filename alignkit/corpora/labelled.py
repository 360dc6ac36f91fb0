"""The judgments of a corpus: who judged which pairs, and the labels that a view gives them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from alignkit._support.arguments import check_kind, check_known, words
from alignkit._support.values import FrozenMap
from alignkit._support.wording import how_many, natural_key
from alignkit.errors import FormatError, JudgmentError
from alignkit.model.corpus import Corpus
from alignkit.model.labels import View
from alignkit.model.sentence_pair import SentencePair, origin_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


NOT_JUDGED = "not judged"
SKIPPED = "not scored"
UNKNOWN = "not of the scheme"
LEFT_OUT = (NOT_JUDGED, SKIPPED, UNKNOWN)
"""The reasons why a cell of a matrix has no label."""

JUDGE = "annotator who judged pairs"
"""What the name of an annotator is called in the error about an unknown one."""

RANKS = "rank"
"""The scheme of ranks."""

RANK_GROUP = "rank_group"
"""The attribute that the pairs share whose texts were ranked together."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelMatrix:
    """The judgments of A annotators on P pairs, as numbers of labels."""

    annotators: tuple[str, ...]
    ids: tuple[str, ...]
    labels: tuple[str, ...]  # of the view
    values: NDArray[np.int8]  # (A, P): the place among the labels; -1 for no label
    left_out: FrozenMap[str, int]  # the number of cells without a label, for each reason


def judges_of(pairs: Iterable[SentencePair]) -> tuple[str, ...]:
    """Return the annotators who judged at least one pair.

    They come in the order of the first pair that all of them judged, or else by name.
    """
    orders = dict.fromkeys(tuple(pair_judgments(pair)) for pair in pairs)
    names = dict.fromkeys(chain.from_iterable(orders))
    for order in orders:
        if len(order) == len(names):
            return order
    return tuple(sorted(names, key=natural_key))


def pair_judgments(pair: SentencePair) -> dict[str, str]:
    """Return the judgments of a pair by annotator."""
    judged = {}
    for name, annotation in pair.annotations.items():
        if annotation.judgment:
            judged[name] = annotation.judgment
    return judged


def judged_part(corpus: Corpus, *, rewrites: bool) -> tuple[Corpus, int, tuple[str, ...]]:
    """Return the pairs that count as judged, the number of rewrites left out, and a note."""
    kept = corpus.filter(lambda pair: origin_of(pair) is None)
    written_anew = len(corpus) - len(kept)
    if not written_anew:
        return corpus, 0, ()
    note = f"{written_anew} of {how_many(len(corpus), 'pair')} are rewrites, which nobody judged"
    if rewrites:
        return corpus, 0, (f"{note}: they count with the labels that their writers intended",)
    return kept, written_anew, (f"{note}; they are left out unless you ask for rewrites",)


def judgments_of(
    corpus: Corpus, annotators: Sequence[str] | None, view: View, *, lenient_labels: bool = False
) -> LabelMatrix:
    """Return the judgments of annotators (None for all) in a view."""
    import numpy as np  # not for the help of `convert`

    check_kind("corpus", corpus, Corpus)
    check_kind("view", view, View)
    known = judges_of(corpus)
    if annotators is None:
        names = known
    else:
        names = tuple(dict.fromkeys(words("annotators", annotators)))
    for name in names:
        check_known(JUDGE, name, known)
    numbers = {label: number for number, label in enumerate(view.labels)}
    values = np.full((len(names), len(corpus)), -1, dtype=np.int8)
    counts = Counter({NOT_JUDGED: values.size})
    rows = {name: row for row, name in enumerate(names)}
    for p, pair in enumerate(corpus):
        for name, judgment in pair_judgments(pair).items():
            if name not in rows:
                continue
            counts[NOT_JUDGED] -= 1
            try:
                label = view.of(judgment)
            except FormatError as error:
                if not lenient_labels:
                    raise JudgmentError.of(error, pair.id, name, judgment) from None
                counts[UNKNOWN] += 1
                continue
            if label is None:
                counts[SKIPPED] += 1
            else:
                values[rows[name], p] = numbers[label]
    left_out = FrozenMap({reason: counts[reason] for reason in LEFT_OUT})
    return LabelMatrix(names, corpus.ids, view.labels, values, left_out)


def rank_groups(corpus: Corpus) -> list[list[int]]:
    """Return the places of the pairs of each group of ranked texts."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for place, pair in enumerate(corpus):
        if (group := pair.attributes.get(RANK_GROUP)) is not None:
            groups[group].append(place)
    return list(groups.values())
