"""The majority of the other annotators, which each annotator is compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from alignkit.model.alignment import Alignment, Link
from alignkit.model.annotation import Annotation, shared_start
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair


def majority(alignments: Sequence[Alignment]) -> Alignment:
    """Return the links that more than half have; for two alignments, those of both."""

    def most(sets: Sequence[frozenset[Link]]) -> set[Link]:
        """Return the links that are in more than half of the sets."""
        votes = Counter(chain.from_iterable(sets))
        return {link for link, count in votes.items() if 2 * count > len(sets)}

    sure = most([alignment.sure for alignment in alignments])
    return Alignment(sure, most([alignment.possible for alignment in alignments]))


def with_majorities(corpus: Corpus, names: Sequence[str]) -> tuple[Corpus, dict[str, str]]:
    """Add the `majority` of the others for each annotator, if all others annotated.

    Also return the name of each majority that some pair has, by the annotator.
    """
    labels = {name: f"majority without {name}" for name in names}

    def voted(pair: SentencePair) -> SentencePair:
        """Return a pair with the majorities of which all others annotated it."""
        aligners = [name for name in names if pair.aligned_by(name)]
        for name, label in labels.items():
            others = [other for other in aligners if other != name]
            if len(others) == len(names) - 1:
                links = majority([pair.alignment(other) for other in others])
                starts = [pair.annotations[other].start for other in others]
                annotation = Annotation(links, start=shared_start(starts))
                pair = pair.with_annotation(label, annotation)
        return pair

    corpus = corpus.map(voted)
    return corpus, {name: label for name, label in labels.items() if label in corpus.aligners}
