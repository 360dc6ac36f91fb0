"""Count the links of a system and of a reference by class, in each sentence pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from alignkit.model.alignment import Alignment, Link
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring.counts import Rows
from alignkit.scoring.link_classes import NULL_KIND
from alignkit.scoring.link_classifier import ORDERS, WHOLE, Classes, LinkClassifier

COLUMNS = ("hypothesis", "right", "reference", "recalled", "sure_as_possible")
"""The counts: links of the system, and of these in the reference; links of the reference, and of
these in the system; sure links of the system that are only possible in the reference."""


class ErrorExample(NamedTuple):
    """An error: its kind, the position of its pair, and its link."""

    error: str
    pair: int
    link: Link


class ClassCounts:
    """The counts of one class by pair, with examples of errors if requested."""

    def __init__(self) -> None:
        self.rows: dict[int, list[int]] = {}
        self.errors: list[ErrorExample] = []

    def add(self, place: int, column: str, number: int = 1) -> None:
        """Add to a count of a pair."""
        self.rows.setdefault(place, [0] * len(COLUMNS))[COLUMNS.index(column)] += number

    def wrong_and_missed(self) -> int:
        """Return the number of errors."""
        errors = 0
        for hypothesis, right, reference, recalled, _ in self.rows.values():
            errors += hypothesis - right + reference - recalled
        return errors

    def array(self, pairs: int) -> Rows:
        """Return (P, 5) counts, a row for each pair."""
        counts = np.zeros((pairs, len(COLUMNS)), np.int64)
        for place, row in self.rows.items():
            counts[place] = row
        return counts


CountsByWay = Mapping[str, dict[str, ClassCounts]]
"""The counts of each class, by the way to classify links and the name of the class."""


def count_by_class(
    corpus: Corpus, hypothesis: str, reference: str, classifier: LinkClassifier, *, keep: bool
) -> CountsByWay:
    """Count the links of all pairs by class; `keep` keeps the errors as examples."""
    counts: CountsByWay = {way: defaultdict(ClassCounts) for way in (WHOLE, *classifier.ways)}
    for place, pair in enumerate(corpus):
        hyp = pair.alignment(hypothesis)
        ref = pair.alignment(reference)
        for way, into in counts.items():
            hyp_classes = classifier.classes(way, pair, hyp)
            ref_classes = classifier.classes(way, pair, ref)
            kept = keep and way != WHOLE
            _count_pair(place, hyp, ref, (hyp_classes, ref_classes), into, keep=kept)
            if way == "kind":
                _count_statuses_and_nulls(place, pair, hyp, ref, into)
    return counts


def in_order(counts: CountsByWay) -> Iterator[tuple[str, str, ClassCounts]]:
    """Yield each class: in the order of its way, or else those with most errors first."""
    for way, classes in counts.items():
        if way in ORDERS:
            names = [name for name in ORDERS[way] if name in classes]
        else:
            errors = {name: of_class.wrong_and_missed() for name, of_class in classes.items()}
            names = sorted(classes, key=lambda name: (-errors[name], name))
        for name in names:
            yield way, name, classes[name]


def _count_pair(
    place: int,
    hypothesis: Alignment,
    reference: Alignment,
    classes: tuple[Classes, Classes],
    into: Mapping[str, ClassCounts],
    *,
    keep: bool,
) -> None:
    """Count the links of a pair for precision and recall, by class."""
    for link in hypothesis.sure:
        for name in classes[0][link]:
            into[name].add(place, "hypothesis")
            if link in reference:
                into[name].add(place, "right")
                if link not in reference.sure:
                    into[name].add(place, "sure_as_possible")
            elif keep:
                into[name].errors.append(ErrorExample("wrong", place, link))
    for link in reference.sure:
        for name in classes[1][link]:
            into[name].add(place, "reference")
            if link in hypothesis:
                into[name].add(place, "recalled")
            elif keep:
                into[name].errors.append(ErrorExample("missed", place, link))


def _count_statuses_and_nulls(
    place: int,
    pair: SentencePair,
    hypothesis: Alignment,
    reference: Alignment,
    into: Mapping[str, ClassCounts],
) -> None:
    """Count sure links, possible links, and words without any link."""
    for counted, other, column, shared_column in (
        (hypothesis, reference, "hypothesis", "right"),
        (reference, hypothesis, "reference", "recalled"),
    ):
        for link, sure in counted.items():
            counts = into["sure" if sure else "possible"]
            counts.add(place, column)
            if link in other:
                counts.add(place, shared_column)
        if pair.has_text:
            nulls = _unaligned(pair, counted)
            shared = nulls & _unaligned(pair, other)
            into[NULL_KIND].add(place, column, len(nulls))
            into[NULL_KIND].add(place, shared_column, len(shared))
    only_possible = hypothesis.sure & (reference.possible - reference.sure)
    into["sure"].add(place, "sure_as_possible", len(only_possible))


def _unaligned(pair: SentencePair, alignment: Alignment) -> set[tuple[str, int]]:
    """Return the side and the position of each word without a link, annotated as null or not."""
    source, target = pair.words
    linked_source = alignment.aligned_source()
    linked_target = alignment.aligned_target()
    unaligned = {("source", k) for k in range(len(source)) if k not in linked_source}
    unaligned.update(("target", k) for k in range(len(target)) if k not in linked_target)
    return unaligned
