"""Refinement learned from gold: two rounds of features, their prior, and the use on a bitext."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from alignkit._support.arguments import each
from alignkit._support.array_types import F4, F8, I8
from alignkit.align.bitext import PARTS, Bitext, parts_of
from alignkit.align.decoders import AlignedLinks, Decoding, check_thresholds
from alignkit.align.evidence import Evidence, EvidenceLike, EvidenceSystem, check_systems
from alignkit.align.expectation import Workers
from alignkit.align.settings import MAJORITY
from alignkit.align.supervised import cells as features_of
from alignkit.align.supervised.cells import Cells, GoldLexicon, Spelled, names_of
from alignkit.align.supervised.cells_kernel import CellFeature
from alignkit.align.supervised.network_kernel import linear_logits, network_logits, squash
from alignkit.align.vectors.word_vectors import TwoVectors
from alignkit.errors import AlignerError, FormatError
from alignkit.io.atomic_files import replacing
from alignkit.io.opening import open_input
from alignkit.model.arrays import LinkArrays
from alignkit.model.sentence_pair import SentencePair

UNSUPERVISED = "unsupervised"  # the kind if learning brought no gain: the aligner's own alignment
VOTE = "vote"
SYSTEM = "system:"
WITHOUT = "without"
"""The kinds if evidence is used as it is (the name of the system follows), or not at all."""

_PART = 500_000  # cells whose features are held at a time by each thread

_VERSION = 1  # of the files of priors
_FIRST = {*features_of.CELL, *features_of.VECTORS, "bias"}  # the names of weights in such a file
_SECOND = {*_FIRST, *features_of.NEIGHBOURS}
_MOST = 1 << 20  # bytes of such a file
_LARGEST = 1e6  # weight in such a file
_FEW = 30  # with fewer pairs, more resamples must gain
_EVIDENCE = 0.6


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
    evidence_of_few: float

    def evidence(self, pairs: int) -> float:
        """Return the share of resamples that must gain, for this number of pairs."""
        if pairs < _FEW:
            return self.evidence_of_few
        return _EVIDENCE


OBJECTIVES: Mapping[str, Objective] = {
    "links": Objective("F1", "F1 of the links", 0.7),
    "aer": Objective("AER", "alignment error rate", 0.7),
    "phrases": Objective("phrase F1", "F1 of the sure, non-identical phrase pairs", 0.9),
}
"""The goals of learning, by name."""


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
class Lessons:
    """How the refinement was learned, and from what."""

    kind: str  # how the rounds were fitted; one of KINDS, prior, unsupervised, vote or system:NAME
    objective: str  # one of OBJECTIVES
    threshold: float  # links are more probable than this
    pairs: int  # how many pairs taught it
    vectors: bool  # whether it looks at vectors of words
    evidence: tuple[EvidenceSystem, ...] = ()  # whose links it looks at, in this order
    measures: tuple[float, float] | None = None  # with evidence: by cross-validation, and without


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

    def seen(self, evidence: EvidenceLike | None, pairs: Any) -> Evidence | None:
        """Return the evidence on pairs that this needs, in its order; refuse any other."""
        if not evidence:
            check_systems(self.lessons.evidence, {})
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
        spelled: Spelled | None = None,
        numbers: tuple[I8, I8] | None = None,
        evidence: Evidence | None = None,
    ) -> tuple[Cells, F4]:
        """Return the cells of some pairs with their probabilities; see `GoldLexicon.numbers`."""
        if not self.lessons.vectors:
            vectors = None
        cells = Cells.of(decoder, bitext, begin, end, vectors, spelled, evidence)
        if self.rounds is None and self.lessons.evidence:
            return cells, shares_by(self.lessons.kind, self.lessons.evidence, cells)
        if self.lexicon is not None:
            self.lexicon.set_features(cells, numbers or self.lexicon.numbers(bitext))
        if self.rounds is None:
            return cells, cells.probabilities
        return cells, self.rounds.probabilities(cells)

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
        if evidence is not None and self.without is not None and evidence.lacking.any():
            # a pair that lacks a system is not one without links: other rounds align it
            options = decoder, bitext, workers, threshold, sure, vectors
            complete = replace(self, without=None).align(*options, evidence)
            return complete.replaced(self.without.align(*options), evidence.lacking)
        if self.lessons.vectors and self.used and vectors is None:
            needed = "this was learned with word vectors and needs them: give the same vectors"
            raise AlignerError(needed)
        if threshold is None:
            threshold = self.lessons.threshold
        check_thresholds(threshold, sure)
        least = np.float32(threshold)
        if sure is None:
            least_sure = np.float32(-1)  # all are
        else:
            least_sure = np.float32(sure)
        spelled = Spelled.of(bitext)
        if self.lexicon is None:
            numbers = None
        else:
            numbers = self.lexicon.numbers(bitext)

        def links_of(_: int, begin: int, end: int) -> AlignedLinks:
            cells, probabilities = self.cells(
                decoder, bitext, begin, end, vectors, spelled, numbers, evidence
            )
            kept = probabilities > least
            links_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
            offsets = links_before[cells.ends]
            chosen = probabilities[kept]
            flags = (chosen > least_sure).astype(np.uint8)
            arrays = LinkArrays.trusted(cells.places[kept], flags, offsets, cells.lengths)
            return AlignedLinks(arrays, chosen)

        count = max(PARTS, int(bitext.starts[-1]) // _PART)
        parts = parts_of(bitext.starts, count)
        return AlignedLinks.joined(workers.map(links_of, parts))


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


@dataclass(frozen=True)
class Prior:
    """The weights of both rounds by feature name.

    Parameters
    ----------
    first, second : Weights by name; ``bias`` is one of the names, and missing features have weight
        0.
    threshold : Links have a higher probability than this, if nothing more is learned.
    made : Its maker, its source, and its licence.

    Examples
    --------
    >>> Prior.samples().made["licence"]
    'Apache-2.0'
    """

    first: Mapping[str, float]
    second: Mapping[str, float]
    threshold: float
    made: Mapping[str, str]

    @classmethod
    def none(cls) -> Prior:
        """Return a prior that only uses the aligner's probabilities."""
        return cls({"logit_mean": 1.0}, {"logit_first": 1.0}, 0.5, {})

    @classmethod
    def samples(cls) -> Prior:
        """Return the prior learned from the samples of this package."""
        text = files("alignkit.align.supervised").joinpath("samples.json").read_text("utf-8")
        return cls.decoded(text, "samples.json")

    @classmethod
    def read(cls, name: str) -> Prior:
        """Return the prior named ``samples`` or ``none``, or read one from a file.

        Raises
        ------
        FormatError : If the file is not a prior.
        """
        if name == "samples":
            return cls.samples()
        if name == "none":
            return cls.none()
        with open_input(name) as stream:
            text = stream.read(_MOST).decode("utf-8", "replace")
        return cls.decoded(text, name)

    def rounds(self, *, vectors: bool, evidence: Iterable[EvidenceSystem] = ()) -> StackedModel:
        """Return both rounds, with or without the features of vectors and of evidence."""
        names = names_of(vectors=vectors, evidence=evidence)
        first = SupervisedRound.named(names, self.first)
        second = SupervisedRound.named(names, self.second)
        return StackedModel(first, second)

    def learned(self) -> Learned:
        """Return a refinement that uses no gold links."""
        lessons = Lessons("prior", "links", self.threshold, 0, vectors=False)
        return Learned(lessons, self.rounds(vectors=False))

    def encoded(self) -> str:
        """Return the prior as JSON."""
        content = {
            "alignkit": "prior",
            "version": _VERSION,
            "made": dict(self.made),
            "threshold": self.threshold,
            "first": dict(self.first),
            "second": dict(self.second),
        }
        return json.dumps(content, indent=1, allow_nan=False) + "\n"

    def save(self, path: str) -> None:
        """Write the prior to a file."""
        with replacing(path) as stream:
            stream.write(self.encoded())

    @classmethod
    def decoded(cls, text: str, path: str) -> Prior:
        """Read a prior from JSON.

        Raises
        ------
        FormatError : If the text is not a prior.
        """
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict) or content.get("alignkit") != "prior":
            other = "is not a prior of alignkit; give a file with one, or 'samples' or 'none'"
            raise FormatError(other, path)
        if content.get("version") != _VERSION:
            version = str(content.get("version"))[:40]
            raise FormatError(
                f"is a prior of version {version}; this alignkit reads version {_VERSION}", path
            )
        threshold = content.get("threshold")
        if not (isinstance(threshold, float) and 0 <= threshold <= 1):
            raise FormatError("its threshold is not a probability", path)
        made = content.get("made")
        if not isinstance(made, dict) or not all(isinstance(text, str) for text in made.values()):
            raise FormatError("its entry 'made' is not an object of texts", path)
        first = _weights(content.get("first"), "first", _FIRST, path)
        second = _weights(content.get("second"), "second", _SECOND, path)
        return cls(first, second, threshold, made)


def _weights(weights: object, name: str, known: set[str], path: str) -> dict[str, float]:
    """Return the weights of an entry of a file; refuse unknown features, and what is no number."""
    if not isinstance(weights, dict):
        raise FormatError(f"its entry {name!r} is not an object", path)
    for key, value in weights.items():
        if key not in known:
            raise FormatError(f"its entry {name!r} has the unknown feature {key[:40]!r}", path)
        if type(value) not in (int, float) or not abs(value) < _LARGEST:
            raise FormatError(f"its entry {name!r} has no number for {key!r}", path)
    return {key: float(value) for key, value in weights.items()}
