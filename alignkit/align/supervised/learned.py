"""Refinement learned from gold: what was learned, and its use on a bitext.

The probability of a cell (a source word and a target word that may be linked) is corrected in two
*rounds*. Each is a weighted sum of features, or networks, which gives log odds. The first sees what
the aligner says of the cell, the spelling of its words, and which words gold links join (the
*lexicon*). The second also sees the results of the first for the cell and its neighbours. The
result is averaged with the best other way to align, the *base*, unless what was learned has all the
weight. With *evidence*, the links of other systems, all was also learned once more without it: that
aligns pairs which a system did not align.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from alignkit._support.arguments import each
from alignkit._support.array_types import F4, F8, I8
from alignkit.align.bitext import PARTS, Bitext, parts_of
from alignkit.align.decoders import AlignedLinks, Decoding, check_thresholds
from alignkit.align.evidence import (
    Evidence,
    EvidenceLike,
    EvidenceSystem,
    check_systems,
    log_odds,
)
from alignkit.align.expectation import Workers
from alignkit.align.settings import MAJORITY
from alignkit.align.supervised.cells import Cells, GoldLexicon, Spelled
from alignkit.align.supervised.cells_kernel import CellFeature
from alignkit.align.supervised.network_kernel import linear_logits, network_logits, squash
from alignkit.align.vectors.word_vectors import TwoVectors
from alignkit.errors import AlignerError
from alignkit.model.arrays import LinkArrays, offsets_of
from alignkit.model.gold_record import GoldRecord, joint_digest, pair_digest
from alignkit.model.sentence_pair import SentencePair

UNSUPERVISED = "unsupervised"  # the kind if learning brought no gain: the aligner's own alignment
VOTE = "vote"
SYSTEM = "system:"
WITHOUT = "without"
"""The kinds if evidence is used as it is (the name of the system follows), or not at all."""
ALIGNER = "aligner"  # the kind of what aligns without anything learned from gold

_PART = 500_000  # cells whose features are held at a time by each thread

_GAINING = 1.5  # the factor of the share of resamples that gain, in the weight of what was learned
_DOUBT = 3.5  # pairs: the weight falls with the square of its ratio to the number of pairs
LEAST_WEIGHT = 0.1  # what was learned is not used with less
_NEARLY_ALL = 0.9  # with this weight, the probabilities are those that were learned
_CERTAIN = 1e-3  # probabilities nearer to 0 or 1 have the log odds of this
_TRUSTED = 0.03  # the same for weights of systems and votes, which are often just 0 and 1


class FitKind(NamedTuple):
    """A way to fit a round."""

    name: str  # what reports call it
    features: str
    ridge: float  # the weight of the squared weights, of features of variance 1

    @property
    def has_networks(self) -> bool:
        """Whether networks are trained."""
        return self.features in ("network", "both")


KINDS = {
    "platt": FitKind("platt", "prior", 3),
    "strong": FitKind("strong", "strong", 10),
    "all-300": FitKind("all-300", "all", 300),
    "all-30": FitKind("all-30", "all", 30),
    "all-3": FitKind("all-3", "all", 3),
    "network": FitKind("network", "network", 0),
    "both": FitKind("both", "both", 30),
}
"""The ways to fit, by name."""


class Objective(NamedTuple):
    """A goal of learning."""

    measure: str  # what the measure is called
    text: str  # what it is


OBJECTIVES: Mapping[str, Objective] = {
    "links": Objective("F1", "F1 of the links"),
    "aer": Objective("AER", "alignment error rate"),
    "phrases": Objective("phrase F1", "F1 of the sure, non-identical phrase pairs"),
}
"""The goals of learning, by name."""


def weight_of(gaining: float, pairs: int) -> float:
    """Return the weight of what was learned; the rest is that of the best other way to align.

    `gaining` is the share of resamples of the gold pairs in which it gains. The weight grows with
    it, and with the number of different pairs: both are evidence that new pairs gain too.
    """
    return min(1.0, _GAINING * gaining) * (1 - (_DOUBT / pairs) ** 2)


def mean_of_log_odds(
    weight: float, probabilities: F4 | F8, others: F4 | F8, kind: str = ALIGNER
) -> F4:
    """Return the probabilities of the mean of the log odds; the others have weight 1 - `weight`.

    All are taken to be at least .001 from 0 and 1, or .03 if the others are the links of a system
    or a vote: a certainty must not outweigh any doubt. `kind` is that of the others.
    """
    least = _CERTAIN
    if kind == VOTE or kind.startswith(SYSTEM):
        least = _TRUSTED
    first = log_odds(probabilities, _CERTAIN)
    second = log_odds(others, least)
    return probabilities_of(weight * first + (1 - weight) * second)


@dataclass(frozen=True, eq=False)
class Layers:
    """A network with one hidden layer."""

    first: F4  # (D + 1, H) float32: from the features to the hidden units; last row, the biases
    second: F4  # (H + 1,) float32: from the hidden units to the log odds; last, the bias


@dataclass(frozen=True, eq=False)
class SupervisedRound:
    """Log odds from features: a weighted sum, and the mean of networks."""

    weights: F8  # (D,) float64
    bias: float  # what is added
    networks: tuple[Layers, ...] = ()  # perhaps none

    @classmethod
    def named(cls, names: tuple[str, ...], weights: Mapping[str, float]) -> SupervisedRound:
        """Return a round with weights by feature name; ``bias`` is one of the names."""
        columns = np.array([weights.get(name, 0.0) for name in names])
        return cls(columns, weights.get("bias", 0.0))

    def logits(self, features: F4) -> F8:
        """Return the log odds (K,) of cells from their features (K, D)."""
        logits = np.zeros(len(features))
        for network in self.networks:
            network_logits(features, network.first, network.second, logits)
        logits /= max(len(self.networks), 1)
        if self.weights.any() or self.bias:
            linear_logits(features, self.weights, self.bias, logits)
        return logits


@dataclass(frozen=True, eq=False)
class StackedModel:
    """Two rounds: the first sees the cell, the second the first round's results around it."""

    first: SupervisedRound
    second: SupervisedRound

    def probabilities(self, cells: Cells) -> F4:
        """Return the probabilities (K,) of cells; their other features must be set."""
        first = probabilities_of(self.first.logits(cells.features))
        cells.set_neighbours(first, cells.features)
        return probabilities_of(self.second.logits(cells.features))


def probabilities_of(logits: F8) -> F4:
    """Return the probabilities of log odds."""
    probabilities = np.empty(len(logits), np.float32)
    squash(logits, probabilities)
    return probabilities


@dataclass(frozen=True)
class GoldSource:
    """The gold pairs that taught a refinement."""

    annotators: tuple[str, ...]  # whose links they have
    digests: tuple[str, ...]  # of the words of each pair, see `pair_digest`; sorted

    def joined(self, other: GoldSource) -> GoldSource:
        """Return the pairs of both."""
        names = dict.fromkeys((*self.annotators, *other.annotators))
        return GoldSource(tuple(names), tuple(sorted({*self.digests, *other.digests})))

    @cached_property
    def records(self) -> tuple[str, str]:
        """The record of annotations of other pairs, and of these pairs: `Annotation.learned`."""
        count = len(self.digests)
        record = GoldRecord(self.annotators, count, joint_digest(self.digests), included=False)
        return str(record), str(replace(record, included=True))

    def record(self, pair: SentencePair) -> str:
        """Return the record of an annotation of a pair."""
        included = pair.has_text and pair_digest(*pair.words) in self._digests
        return self.records[included]

    @cached_property
    def _digests(self) -> frozenset[str]:
        return frozenset(self.digests)


@dataclass(frozen=True)
class Lessons:
    """How the refinement was learned, and from what."""

    kind: str  # how the rounds were fitted; one of KINDS, prior, unsupervised, vote or system:NAME
    objective: str  # one of OBJECTIVES
    threshold: float  # links are more probable than this
    pairs: int  # how many pairs taught it
    vectors: bool  # whether it looks at vectors of words
    evidence: tuple[EvidenceSystem, ...] = ()  # whose links it looks at, in this order
    weight: float = 1.0  # of the log odds of the rounds; the rest is that of those of `base`
    base: str = ALIGNER  # the best way to align without the rounds: vote, system:NAME, without
    measures: tuple[float, float] | None = None  # with evidence: by cross-validation, and without
    taught_by: GoldSource | None = None  # the gold pairs; None if not known


@dataclass(frozen=True, eq=False)
class Learned:
    """A refinement learned from gold."""

    lessons: Lessons  # from what, and how
    rounds: StackedModel | None = None  # gives probabilities of features; None if nothing gained
    lexicon: GoldLexicon | None = None
    without: Learned | None = None  # the same without evidence, for pairs that lack a system

    @classmethod
    def vote(cls, systems: tuple[EvidenceSystem, ...]) -> Learned:
        """Return what aligns by the vote of systems and the aligner, without gold links."""
        return cls(Lessons(VOTE, "links", MAJORITY, 0, vectors=False, evidence=systems))

    @property
    def used(self) -> bool:
        """Whether the refinement is used, because it gained."""
        return self.lessons.kind != UNSUPERVISED

    def is_calibrated(self, *, alone: bool) -> bool:
        """Return whether its probabilities say how often links are right; `alone`: the aligner's.

        Rounds that were fitted to gold links give such probabilities. In a mean, the others count
        too, unless they have little weight.
        """
        lessons = self.lessons
        if self.rounds is None or not lessons.pairs:
            return False
        if lessons.weight >= _NEARLY_ALL:
            return True
        if lessons.base == WITHOUT and self.without is not None:
            return self.without.is_calibrated(alone=alone)
        return alone and lessons.base == ALIGNER

    def seen(self, evidence: EvidenceLike | None, pairs: Any) -> Evidence | None:
        """Return the evidence on pairs that this needs, in its order; refuse any other."""
        if not evidence:
            check_systems(self.lessons.evidence, ())
            return None
        if not isinstance(evidence, Evidence):
            evidence = Evidence.pack(each("pairs", pairs, SentencePair), evidence)
        return evidence.ordered(self.lessons.evidence)

    def cells(
        self,
        decoder: Decoding,
        bitext: Bitext,
        begin: int,
        end: int,
        vectors: TwoVectors | None,
        known: _KnownWords,
        evidence: Evidence | None = None,
    ) -> tuple[Cells, F4]:
        """Return the cells of some pairs with their probabilities."""
        used = vectors if self.lessons.vectors else None
        cells = Cells.of(decoder, bitext, begin, end, known.spelled, used, evidence)
        if self.rounds is None and self.lessons.evidence:
            return cells, shares_by(self.lessons.kind, self.lessons.evidence, cells)
        if self.lexicon is not None and known.numbers is not None:
            self.lexicon.set_features(cells, known.numbers)
        if self.rounds is None:
            return cells, cells.probabilities
        probabilities = self.rounds.probabilities(cells)
        weight = self.lessons.weight
        if weight == 1:
            return cells, probabilities
        base = cells.probabilities
        if self.without is not None and known.without is not None:
            span = decoder, bitext, begin, end, vectors
            others, rivals = self.without.cells(*span, known.without)
            base = cells.values_of(others, rivals)
        elif self.lessons.base != ALIGNER:
            base = shares_by(self.lessons.base, self.lessons.evidence, cells)
        return cells, mean_of_log_odds(weight, probabilities, base, self.lessons.base)

    def align(
        self,
        decoder: Decoding,
        bitext: Bitext,
        workers: Workers,
        threshold: float | None,
        sure: float | None,
        vectors: TwoVectors | None,
        evidence: Evidence | None = None,
    ) -> AlignedLinks:
        """Return the links of a bitext with probabilities above a threshold."""
        if self.lessons.vectors and self.used and vectors is None:
            needed = "this was learned with word vectors and needs them: give the same vectors"
            raise AlignerError(needed)
        chosen_threshold = self.lessons.threshold if threshold is None else threshold
        check_thresholds(chosen_threshold, sure)
        least = np.float32(chosen_threshold)
        if sure is None:
            least_sure = np.float32(-1)  # all are
        else:
            least_sure = np.float32(sure)
        known = _KnownWords.of(self, bitext, Spelled.of(bitext))

        def links_of(_: int, begin: int, end: int) -> AlignedLinks:
            cells, probabilities = self.cells(decoder, bitext, begin, end, vectors, known, evidence)
            kept = probabilities > least
            offsets = offsets_of(kept)[cells.ends]
            chosen = probabilities[kept]
            flags = (chosen > least_sure).astype(np.uint8)
            arrays = LinkArrays.trusted(cells.places[kept], flags, offsets, cells.lengths)
            return AlignedLinks(arrays, chosen)

        count = max(PARTS, int(bitext.starts[-1]) // _PART)
        parts = parts_of(bitext.starts, count)
        links = AlignedLinks.joined(workers.map(links_of, parts))
        if evidence is None or self.without is None or not evidence.lacking.any():
            return links
        # a pair that lacks a system is not one without links: other rounds align it
        others = self.without.align(decoder, bitext, workers, threshold, sure, vectors)
        return links.replaced(others, evidence.lacking)


class _KnownWords(NamedTuple):
    """What a refinement needs of the words of a bitext."""

    spelled: Spelled
    numbers: tuple[I8, I8] | None  # those of its lexicon; see `GoldLexicon.numbers`
    without: _KnownWords | None  # the same for what was learned without evidence

    @classmethod
    def of(cls, learned: Learned, bitext: Bitext, spelled: Spelled) -> _KnownWords:
        """Look up all words of a bitext; `spelled` are the same words."""
        numbers = None
        if learned.lexicon is not None:
            numbers = learned.lexicon.numbers(bitext)
        without = None
        if learned.without is not None and learned.lessons.base == WITHOUT:
            without = cls.of(learned.without, bitext, spelled)
        return cls(spelled, numbers, without)


def shares_by(kind: str, systems: Iterable[EvidenceSystem], cells: Cells) -> F4:
    """Return the votes (K,) of cells, the mean of all, or the weights of the system that won."""
    if kind == VOTE:
        known = ~np.isnan(cells.shares)
        sums = np.nansum(cells.shares, axis=1, dtype=np.float64)
        sums += cells.features[:, CellFeature.MEAN]
        voters = 1 + known.sum(axis=1)  # the aligner, and the systems that know the pair
        return np.asarray(sums / voters, np.float32)
    names = [SYSTEM + system.name for system in systems]
    return np.nan_to_num(cells.shares[:, names.index(kind)])
