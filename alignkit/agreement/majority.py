"""Settle what most annotators have: the majority of alignments."""

from __future__ import annotations

from collections.abc import Sequence

from alignkit.alignment import Alignment, Link
from alignkit.corpus import Corpus
from alignkit.sentence_pair import SentencePair


def majority(alignments: Sequence[Alignment]) -> Alignment:
    """Return what more than half have; the majority of two is what both have."""

    def most(sides: Sequence[frozenset[Link]]) -> set[Link]:
        every = frozenset[Link]().union(*sides)
        return {link for link in every if 2 * sum(link in side for side in sides) > len(sides)}

    return Alignment(
        most([alignment.sure for alignment in alignments]),
        most([alignment.possible for alignment in alignments]),
    )


def with_majorities(corpus: Corpus, names: Sequence[str]) -> tuple[Corpus, dict[str, str]]:
    """Add for each annotator the `majority` of the others, where all others annotated."""
    labels = {}
    for name in names:
        others = [one for one in names if one != name]
        label = f"majority without {name}"

        def settle(
            pair: SentencePair, others: Sequence[str] = others, label: str = label
        ) -> SentencePair:
            if not pair.aligned_by(*others):
                return pair
            return pair.with_annotation(label, majority([pair.alignment(one) for one in others]))

        corpus = corpus.map(settle)
        if label in corpus.aligners:
            labels[name] = label
    return corpus, labels
