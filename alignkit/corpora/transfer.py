"""Carry labels of words over the links of an alignment to the other side, and score them.

The labels of a side are a column: one for each word. They are labels of single words, such as parts
of speech, or spans: ``B-PER I-PER O`` is a span of type PER over the first two of three words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import nan
from typing import Literal, NamedTuple

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.wording import how_many
from alignkit.errors import UnknownNameError
from alignkit.io.inputs import Choice
from alignkit.model.alignment import SIDES, Link
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import word_column
from alignkit.tables.result import Result
from alignkit.tables.table import Table

_BIO = re.compile(r"O|_|[BI]-.+", re.DOTALL)
_NONE = "_"  # a word without a label
_WORDS = ("words", "labelled", "unlinked", "conflicts", "ties")
_RATIOS = ("coverage", "accuracy", "precision", "recall", "f1")
_SPANS = ("spans", "placed", "unlinked", "conflicts", "dropped", "filled")


@dataclass(frozen=True)
class Transferred(Result):
    r"""A corpus with labels that were carried over links, with counts and a score.

    Returned by `transfer`.

    Parameters
    ----------
    corpus : The corpus with the new labels: in the column `layer` of the other side, or, if some
        pair has that column already, in `layer` with ``-transferred``.
    layer, from_side : The name of the labels, and the side that they come from.
    spans : Whether the labels are spans (``B-PER``, ``I-PER``, ``O``) or labels of single words.
    counts : The ``pairs``. Words: ``words`` of the other side, ``labelled`` and ``unlinked`` ones;
        ``conflicts``: words whose links have different labels; ``ties``: of these, words whose
        strongest links do. Spans: ``spans``, those ``placed``, ``unlinked`` ones; ``conflicts``:
        spans whose best place was taken; ``dropped``: of these, spans without any free place;
        ``filled``: words in spans without a link of theirs.
    left_out : The number of pairs ``without labels`` and ``without links``; they are unchanged.
    score : If the other side has these labels as well: the counts of ``gold`` labels, and so on,
        with coverage and accuracy of words; precision, recall and F1 of spans.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["in York"], ["à York"], gold=["0-0 1-1"],
    ...                                     attributes={"source.ner": ["O\tB-LOC"]})
    >>> result = alignkit.transfer(corpus, "ner")
    >>> result.spans, result.counts["placed"], result.corpus["1"].attributes["target.ner"].split()
    (True, 1, ['O', 'B-LOC'])
    """

    corpus: Corpus
    layer: str
    from_side: str
    spans: bool
    counts: Mapping[str, int]
    left_out: Mapping[str, int]
    score: Mapping[str, float]

    @property
    def head(self) -> Sequence[str]:
        """What the numbers are about."""
        kind = "spans" if self.spans else "labels"
        pairs = how_many(self.counts["pairs"], "pair", commas=True)
        return [f"{self.layer}: {kind} of the {self.from_side} words, over the links of {pairs}"]

    @property
    def cautions(self) -> Sequence[str]:
        """The pairs without labels or links."""
        return [f"{count:,} pairs {why}: unchanged" for why, count in self.left_out.items()]

    def tables(self) -> Sequence[Table]:
        """Return the counts, and the score if there is one."""
        keys = _SPANS if self.spans else _WORDS
        counts = Table.from_records([{key: self.counts[key] for key in keys}], percent=_RATIOS)
        tables = [replace(counts, anchor="transfer")]
        if self.score:
            score = Table.from_records([self.score], percent=_RATIOS)
            tables.append(replace(score, anchor="score"))
        return tables


def transfer(
    corpus: Corpus,
    layer: str,
    *,
    from_side: Literal["source", "target"] = "source",
    annotator: str | None = None,
) -> Transferred:
    r"""Carry labels of words over links to the other side.

    A word gets the label of its strongest link: sure before possible, then by weight. If its
    strongest links have different labels, it gets the most frequent of these, or else the first.
    Words without links get ``_``.

    A span (of a column of ``B-TYPE``, ``I-TYPE`` and ``O``) goes to the words in a row whose links
    agree best with its own: twice the weight of the links between the two, divided by the weight of
    all links of either. Links without a weight count 1 if sure, 1/2 if possible. Spans with the
    best agreement are placed first; others take the best place that is left.

    Parameters
    ----------
    corpus : The corpus.
    layer : The name of the column of words, such as ``"upos"``; see `alignkit.word_column`.
    from_side : The side with the labels.
    annotator : The annotator of the links; None if there is only one.

    Raises
    ------
    UnknownNameError : If no pair has the column on this side, or nobody has this name.
    OptionError : If there are several annotators and none is named.

    Examples
    --------
    >>> corpus = Corpus.from_texts(["in New York"], ["à New York City"], gold=["0-0 1-1 2-2 2-3"],
    ...                            attributes={"source.ner": ["O\tB-LOC\tI-LOC"]})
    >>> transfer(corpus, "ner").corpus["1"].attributes["target.ner"].split()
    ['O', 'B-LOC', 'I-LOC', 'I-LOC']
    """
    check_arguments(transfer, locals())
    check_known("side", from_side, SIDES)
    to_side = SIDES[1 - SIDES.index(from_side)]
    known = {name for name in corpus.attributes if name.startswith(f"{from_side}.")}
    if f"{from_side}.{layer}" not in known:
        names = sorted(name.partition(".")[2] for name in known)
        raise UnknownNameError(f"layer of {from_side} words", layer, names)
    choice = Choice("the corpus", annotator)
    counts = Counter[str]()
    left_out = Counter[str]()
    labelled = _labelled(corpus, choice, layer, from_side, left_out)
    choice.check()
    counts["pairs"] = len(labelled)
    values: set[str] = set()
    for given in labelled.values():
        values.update(given.labels)
    spans = all(map(_BIO.fullmatch, values)) and not values <= {"O", _NONE}
    name = f"{to_side}.{layer}"
    if any(name in pair.attributes for pair in corpus):
        name = f"{name}-transferred"
    pairs = []
    compared = []
    for k, pair in enumerate(corpus):
        if k not in labelled:
            pairs.append(pair)
            continue
        if spans:
            labels = _by_span(labelled[k], counts)
        else:
            labels = _by_word(labelled[k], counts)
        pairs.append(replace(pair, attributes={**pair.attributes, name: "\t".join(labels)}))
        gold = word_column(pair, to_side, layer)
        if gold is not None:
            compared.append((labels, gold))
    score = _score(compared, spans=spans) if compared else {}
    return Transferred(Corpus(pairs), layer, from_side, spans, counts, +left_out, score)


class _Labelled(NamedTuple):
    """The labels of a side of a pair, and the links of its words with those of the other side."""

    labels: list[str]
    others: int  # the number of words of the other side
    # (labelled word i, other word j): whether the link is sure, and its weight
    links: dict[Link, tuple[bool, float | None]]

    def weight(self, link: Link) -> float:
        """Return the weight of a link in a span."""
        sure, weight = self.links[link]
        if weight is not None:
            return weight
        return 1.0 if sure else 0.5


def _labelled(
    corpus: Corpus, choice: Choice, layer: str, side: str, left_out: Counter[str]
) -> dict[int, _Labelled]:
    """Return the pairs with labels and links, by their place."""
    pairs: dict[int, _Labelled] = {}
    for k, pair in enumerate(corpus):
        labels = word_column(pair, side, layer)
        alignment = choice.of(pair)
        left_out["without labels"] += labels is None
        left_out["without links"] += alignment is None
        if labels is not None and alignment is not None:
            source, target = pair.words
            if side == "source":
                others = target
            else:
                others = source
                alignment = alignment.transpose()
            weights = alignment.weights
            links = {link: (sure, weights.get(link)) for link, sure in alignment.items()}
            pairs[k] = _Labelled(labels, len(others), links)
    return pairs


def _by_word(given: _Labelled, counts: Counter[str]) -> list[str]:
    """Return the label of each word of the other side."""
    # of each word of the other side: the strength of each of its links (sure, weight), and the
    # label that it brings
    candidates: list[list[tuple[tuple[bool, float], str]]] = [[] for _ in range(given.others)]
    for link, (sure, weight) in given.links.items():
        label = given.labels[link.i]
        if label != _NONE:
            strength = (sure, 1.0 if weight is None else weight)
            candidates[link.j].append((strength, label))
    column = []
    for links in candidates:
        greatest = max((strength for strength, _ in links), default=None)
        strongest = Counter(label for strength, label in links if strength == greatest)
        counts["words"] += 1
        counts["labelled" if links else "unlinked"] += 1
        counts["conflicts"] += len({label for _, label in links}) > 1
        counts["ties"] += len(strongest) > 1
        column.append(max(strongest, key=strongest.__getitem__, default=_NONE))
    return column


def _spans(labels: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return begin, end and type of the spans of a column; a wrong ``I-`` begins one."""
    spans: list[tuple[int, int, str]] = []
    for k, label in enumerate(labels):
        kind = label[2:]
        if label.startswith("I-") and spans and spans[-1][1:] == (k, kind):
            begin, _, _ = spans[-1]
            spans[-1] = (begin, k + 1, kind)
        elif label.startswith(("B-", "I-")):
            spans.append((k, k + 1, kind))
    return spans


def _by_span(given: _Labelled, counts: Counter[str]) -> list[str]:
    """Return a column of the other side with the spans at their best places."""
    spans = _spans(given.labels)
    ranked = []  # the places of all spans, those with the best agreement first
    for number, (begin, end, _) in enumerate(spans):
        places = _places(given, begin, end)
        ranked += [(-agreement, number, place) for place, agreement in places.items()]
    ranked.sort()
    # by number of the span: its first place in this order, and the one that it gets
    best: dict[int, tuple[int, int]] = {}
    placed: dict[int, tuple[int, int]] = {}
    column = ["O"] * given.others
    for _, number, place in ranked:
        best.setdefault(number, place)
        first, last = place
        is_free = set(column[first:last]) == {"O"}
        if number in placed or not is_free:
            continue
        placed[number] = place
        begin, end, kind = spans[number]
        column[first] = f"B-{kind}"
        column[first + 1 : last] = [f"I-{kind}"] * (last - first - 1)
        linked = {link.j for link in given.links if begin <= link.i < end}
        counts["filled"] += len(set(range(first, last)) - linked)
    counts["spans"] += len(spans)
    counts["placed"] += len(placed)
    counts["unlinked"] += len(spans) - len(best)  # a span with links has places
    counts["conflicts"] += sum(placed.get(number) != place for number, place in best.items())
    counts["dropped"] += len(best) - len(placed)
    return column


def _places(given: _Labelled, begin: int, end: int) -> dict[tuple[int, int], float]:
    """Return the places of a span, (first, last + 1), with the agreement of its links and theirs.

    A place begins and ends with a word that is linked to the span.
    """
    of_span = [link for link in given.links if begin <= link.i < end]
    total = sum(map(given.weight, of_span))
    ends = sorted({link.j for link in of_span})
    places: dict[tuple[int, int], float] = {}
    for first, last in combinations_with_replacement(ends, 2):
        of_place = [link for link in given.links if first <= link.j <= last]
        shared = [link for link in of_place if begin <= link.i < end]
        whole = total + sum(map(given.weight, of_place))
        agreement = 2 * sum(map(given.weight, shared)) / whole if whole else 0.0
        places[first, last + 1] = agreement
    return places


def _score(compared: Iterable[tuple[list[str], list[str]]], *, spans: bool) -> dict[str, float]:
    """Return counts and ratios of pairs of columns: as transferred, and gold."""
    gold = 0
    transferred = 0
    equal = 0
    for labels, gold_labels in compared:
        if spans:
            transferred_spans = set(_spans(labels))
            gold_spans = set(_spans(gold_labels))
            gold += len(gold_spans)
            transferred += len(transferred_spans)
            equal += len(transferred_spans & gold_spans)
        else:
            for label, gold_label in zip(labels, gold_labels, strict=True):
                if gold_label != _NONE:
                    gold += 1
                    transferred += label != _NONE
                    equal += label == gold_label
    counts = {"gold": gold, "transferred": transferred, "equal": equal}
    precision = equal / transferred if transferred else nan
    if not spans:
        coverage = transferred / gold if gold else nan
        return {**counts, "coverage": coverage, "accuracy": precision}
    recall = equal / gold if gold else nan
    f1 = 2 * equal / (transferred + gold) if transferred + gold else nan
    return {**counts, "precision": precision, "recall": recall, "f1": f1}
