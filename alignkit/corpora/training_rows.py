"""Rows for training from judged pairs.

Three kinds of rows (`training_rows`) have a label, a source and a target text:

- *plain*: each pair once.
- *classification*: each pair in both orders. The label is flipped too: 4> becomes 4< in the scheme
  turku, and forward becomes reverse in entailment.
- *generation*: a text and a paraphrase of it, in each order in which the target says the same as
  the source, or is more general. So a pair gives two rows, one or none.

The fourth kind (`preferences`) has the better and the worse of every two ranked paraphrases of an
original.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from alignkit._support.arguments import check_known
from alignkit.corpora.labelled import JUDGE, RANKS, judgments_of, pair_judgments, rank_groups
from alignkit.errors import FormatError, JudgmentError, OptionError
from alignkit.model.corpus import Corpus
from alignkit.model.labels import View, get_view
from alignkit.model.sentence_pair import SentencePair, origin_of

PREFERENCES = "preferences"

KINDS = {
    "plain": "each pair once",
    "classification": "each pair in both orders, its label flipped",
    "generation": "a text and a paraphrase of it, in each direction that the label allows",
    PREFERENCES: "the better and the worse of every two ranked texts, and their original",
}

# by scheme: the judgments that both texts say the same
_SAME = {
    "turku": ("4",),
    "paraphrase": ("paraphrase",),
    "parade": ("2", "3"),
    "parade-votes": ("2", "3"),
    "binary": ("1",),
    "entailment": ("equivalence",),
}

# and those that the target is more general than the source
_MORE_GENERAL = {"turku": ("4>",), "entailment": ("forward",)}

PREFERRED = "preferred_to"
"""The attribute with the ids of the pairs whose targets are worse, separated by tabs."""

_UNRANKED = 0  # ranks begin with 1


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A row for training."""

    id: str  # of the pair
    label: str  # of the view, for the texts in this order
    source: str  # the texts, words divided by single spaces
    target: str


@dataclass(frozen=True, slots=True)
class Preference:
    """Two paraphrases of an original, one of which is better; words divided by single spaces."""

    id: str  # of both pairs: better>worse
    chosen: str
    rejected: str
    original: str


def training_rows(
    pairs: Iterable[SentencePair],
    view: View,
    kind: str,
    *,
    annotator: str | None = None,
    rewrites: bool = True,
    lenient_labels: bool = False,
) -> Iterator[TrainingRow]:
    """Yield the rows of judged pairs, of each kind but preferences.

    Pairs are read once, so an unknown annotator is an error after the last of them.
    """
    scheme = view.scheme
    _check_kind(kind, scheme.name)
    paraphrases = {*_SAME.get(scheme.name, ()), *_MORE_GENERAL.get(scheme.name, ())}
    judges: dict[str, None] = {}  # in the order of their first judgments
    for pair in pairs:
        judged = pair_judgments(pair)
        judges.update(dict.fromkeys(judged))
        if annotator is None and len(judges) > 1:
            raise OptionError(f"{', '.join(judges)} judged pairs: choose one with `annotator`")
        if annotator is not None:
            judge = annotator
        else:
            judge = next(iter(judged), "")  # the only one
        judgment = judged.get(judge)
        if not judgment or (not rewrites and origin_of(pair) is not None):
            continue
        label = _label(view, judgment, pair, judge, lenient_labels=lenient_labels)
        if label is None:
            continue
        source, target = map(" ".join, pair.words)
        flipped = scheme.flip(judgment)
        if kind == "generation":
            forward = judgment in paraphrases
            backward = flipped in paraphrases
        else:
            forward = True
            backward = kind == "classification"
        if forward:
            yield TrainingRow(pair.id, label, source, target)
        if backward:
            yield TrainingRow(pair.id, view.of(flipped) or "", target, source)
    if annotator is not None:
        check_known(JUDGE, annotator, judges)


def _check_kind(kind: str, scheme: str) -> None:
    """Refuse a kind of rows that has no labels, or that judgments of a scheme do not allow."""
    check_known("kind of rows", kind, KINDS)
    if kind == PREFERENCES:
        raise OptionError("preferences are rows without a label: `preferences` makes them")
    if kind == "generation" and scheme not in _SAME:
        raise OptionError(f"it is not known which judgments of {scheme} allow generation")


def _label(
    view: View, judgment: str, pair: SentencePair, judge: str, *, lenient_labels: bool
) -> str | None:
    """Return the label of a judgment; None if it has none, or leniently if it is unknown."""
    try:
        return view.of(judgment)
    except FormatError as error:
        if lenient_labels:
            return None
        raise JudgmentError.of(error, pair.id, judge, judgment) from None


def preferences(
    pairs: Iterable[SentencePair],
    view: View,
    *,
    annotator: str | None = None,
    lenient_labels: bool = False,
) -> Iterator[Preference]:
    """Yield the preferences of the corpus, or those of an annotator, or of all who ranked."""
    if view.scheme.name != RANKS:
        raise OptionError(f"preferences need ranks; {view.scheme.name} has none")
    corpus = Corpus(pairs)
    full = get_view(RANKS, "full")
    annotators = None if annotator is None else [annotator]
    matrix = judgments_of(corpus, annotators, full, lenient_labels=lenient_labels)
    rank_of = {number: int(label) for number, label in enumerate(full.labels)}
    rank_of[-1] = _UNRANKED
    # by annotator and pair
    ranks = [[rank_of[number] for number in row] for row in matrix.values.tolist()]
    # for each pair, the ids of those that its text was preferred to
    preferred = [pair.attributes.get(PREFERRED, "").split("\t") for pair in corpus]
    corpus_prefers = annotator is None and any(map(any, preferred))
    for group in rank_groups(corpus):
        for first, second in permutations(group, 2):
            better = corpus[first]
            worse = corpus[second]
            if corpus_prefers:
                is_better = worse.id in preferred[first]
            else:
                is_better = _is_ranked_better(ranks, first, second)
            if is_better:
                original, chosen = better.words
                yield Preference(
                    id=f"{better.id}>{worse.id}",
                    chosen=" ".join(chosen),
                    rejected=" ".join(worse.target or ()),
                    original=" ".join(original),
                )


def _is_ranked_better(ranks: Sequence[Sequence[int]], first: int, second: int) -> bool:
    """Return whether all who ranked both pairs, and somebody did, put the first before."""
    ranked_both = [row for row in ranks if _UNRANKED not in (row[first], row[second])]
    return bool(ranked_both) and all(row[first] < row[second] for row in ranked_both)
