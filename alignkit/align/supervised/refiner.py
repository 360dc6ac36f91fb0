"""Learning from gold pairs, and from more of them as they come."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike, fspath

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, each, words
from alignkit.align.aligner import Aligner
from alignkit.align.bitext import Bitext
from alignkit.align.expectation import Workers
from alignkit.align.settings import LONGEST_PIECE, THRESHOLD
from alignkit.align.supervised.cells import LEXICON, NEIGHBOURS, Cells, GoldLexicon, names_of
from alignkit.align.supervised.fitting import KINDS, StackedModel
from alignkit.align.supervised.gold import Gold, Posteriors, is_learnable
from alignkit.align.supervised.learned import UNSUPERVISED, Learned, Lessons, Prior
from alignkit.align.supervised.measures import OBJECTIVES, LearningReport, resampled
from alignkit.align.supervised.validation import FOLDS, Folds, Validated, refit, validate
from alignkit.align.vectors.word_vectors import TwoVectors, Vectors, two_vectors
from alignkit.errors import AlignerError, UnknownNameError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

I8 = NDArray[np.int64]

MOST_CELLS = 1_000_000
"""Those that are learned from: some 5,000 pairs, for which fits take a gigabyte."""
_BLOCK = 256  # pairs whose posteriors are held at a time
_OTHERS = len(LEXICON) + len(NEIGHBOURS)  # the last features: what other pairs and rounds tell


@dataclass(frozen=True, eq=False)
class _Kept:
    id: str  # its name
    words: tuple[Sequence[str], Sequence[str]]  # those of both sides
    alignment: Alignment  # its links
    places: NDArray[np.int16]  # (K, 2) int16: source and target position of each cell
    features: NDArray[np.float32]  # (K, D) float32: what the pair itself tells of them
    fold: int  # the fold of cross-validation that it is in


class GoldPairs:
    """Keep gold pairs in the order in which they came, with the features of their cells."""

    def __init__(self, aligner: Posteriors, vectors: TwoVectors | None) -> None:
        self._aligner, self._vectors = aligner, vectors
        self._kept: list[_Kept] = []
        self._came = 0
        self.left_out = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the pairs, in order."""
        return tuple(kept.id for kept in self._kept)

    @property
    def size(self) -> int:
        """How many bytes the cells take."""
        return sum(kept.features.nbytes + kept.places.nbytes for kept in self._kept)

    @property
    def folds(self) -> I8:
        """The (P,) folds of the pairs; a pair that takes the place of another is in its fold."""
        return np.array([kept.fold for kept in self._kept], np.int64)

    def divide(self, folds: I8) -> None:
        """Put the pairs into other folds (P,)."""
        self._kept = [
            replace(kept, fold=fold) for kept, fold in zip(self._kept, folds.tolist(), strict=True)
        ]

    def add(self, pairs: Iterable[SentencePair], annotator: str) -> None:
        """Take the pairs that an annotator aligned, in the place of those with the same ids."""
        pairs = list(pairs)
        annotated = [pair for pair in pairs if pair.aligned_by(annotator)]
        learnable = [pair for pair in annotated if is_learnable(pair)]
        ids = {pair.id for pair in pairs}
        room = MOST_CELLS - sum(len(kept.places) for kept in self._kept if kept.id not in ids)
        new: dict[str, list[_Kept]] = {}
        for kept in self._cells_of(learnable, annotator):
            room -= len(kept.places)
            if room < 0:
                break
            new.setdefault(kept.id, []).append(kept)
        self.left_out += len(annotated) - sum(map(len, new.values()))
        merged: list[_Kept] = []
        for old in self._kept:
            if old.id in ids:
                merged += [replace(kept, fold=old.fold) for kept in new.pop(old.id, [])]
            else:
                merged.append(old)
        for kept in chain.from_iterable(new.values()):
            merged.append(replace(kept, fold=self._came % FOLDS))
            self._came += 1
        self._kept = merged

    def forget(self, ids: Collection[str]) -> None:
        """Drop the pairs with these ids; those that are not there are passed over."""
        self._kept = [kept for kept in self._kept if kept.id not in ids]

    def gold(self, *, ignore_identical: bool) -> Gold:
        """Return all of them, to be learned from."""
        kept = self._kept
        bitext = Bitext.pack([pair.words for pair in kept], casefold=self._casefold)
        lengths = [(len(source), len(target)) for source, target in (pair.words for pair in kept)]
        ends = np.cumsum([0, *(len(pair.places) for pair in kept)])
        width = len(names_of(vectors=self._vectors is not None, second=True))
        features = np.zeros((ends[-1], width), np.float32)
        places = np.empty((ends[-1], 2), np.int32)
        for pair, begin, end in zip(kept, ends, ends[1:], strict=False):
            features[begin:end, : width - _OTHERS], places[begin:end] = pair.features, pair.places
        cells = Cells.placed(bitext, 0, len(kept), ends, places, features)
        links = LinkArrays.pack([pair.alignment for pair in kept], lengths)
        return Gold(bitext, links, cells, ignore_identical)

    @property
    def _casefold(self) -> bool:
        return self._aligner.parameters.casefold

    def _cells_of(self, pairs: Sequence[SentencePair], annotator: str) -> Iterable[_Kept]:
        if not pairs:
            return
        bitext = Bitext.pack([pair.words for pair in pairs], casefold=self._casefold)
        decoder = self._aligner.decoder(bitext)
        for begin in range(0, len(pairs), _BLOCK):
            end = min(begin + _BLOCK, len(pairs))
            cells = Cells.of(decoder, bitext, begin, end, self._vectors)
            for k, pair in enumerate(pairs[begin:end]):
                inside = slice(cells.ends[k], cells.ends[k + 1])
                yield _Kept(
                    pair.id,
                    pair.words,
                    pair.alignment(annotator),
                    cells.places[inside].astype(np.int16),
                    cells.features[inside, :-_OTHERS].copy(),
                    0,
                )


@dataclass(frozen=True, eq=False)
class _Course:
    """How is learned."""

    annotator: str  # whose links are gold
    objective: str  # what for; one of OBJECTIVES
    ignore_identical: bool  # whether the measure leaves equal words out
    start: StackedModel  # the rounds that learning starts from
    prior: str  # what these are called
    vectors: TwoVectors | None  # those that are looked at, or None


class Refiner:
    """Refine what an aligner thinks of links, by what gold pairs teach.

    Make one with `Refiner.train`; with `Refiner.begin` if there are no pairs yet; with `Refiner.of`
    from what a loaded aligner has learned.

    Attributes
    ----------
    aligner
        The aligner, refined: it aligns, saves and loads with what was learned.
    report
        What cross-validation found; None where there was none yet.

    Examples
    --------
    >>> from alignkit import read_corpus
    >>> corpus = read_corpus("samples/paraphrases.jsonl")
    >>> refiner = Refiner.train(Aligner.train(corpus, identity=3), corpus[:30])
    >>> refiner.report.pairs
    30
    >>> refiner.probabilities(corpus[40]).shape == corpus[40].lengths
    True
    >>> len(refiner.update(corpus[30:34]).ids)
    34
    """

    def __init__(self, aligner: Aligner, course: _Course) -> None:
        check_arguments(Refiner.__init__, locals())
        self.aligner = aligner
        self.report: LearningReport | None = None
        self._course = course
        self._pairs = GoldPairs(aligner.with_learned(None), course.vectors)
        self._folds: Folds | None = None

    @classmethod
    def begin(
        cls,
        aligner: Aligner,
        annotator: str = "gold",
        objective: str = "links",
        prior: str | PathLike[str] = "samples",
        vectors: Vectors | None = None,
        *,
        target_vectors: Vectors | None = None,
        ignore_identical: bool = False,
    ) -> Refiner:
        """Start without pairs, with the parameters of `train`; align as the aligner does."""
        check_arguments(Refiner.begin, locals())
        if objective not in OBJECTIVES:
            raise UnknownNameError("objective", objective, OBJECTIVES)
        start = Prior.read(fspath(prior)).rounds(vectors=vectors is not None)
        course = _Course(
            annotator, objective, ignore_identical, start, fspath(prior),
            two_vectors(vectors, target_vectors),
        )  # fmt: skip
        refiner = cls(aligner.with_learned(None, vectors, target_vectors), course)
        refiner._unlearn()
        return refiner

    @classmethod
    def train(
        cls,
        aligner: Aligner,
        corpus: Iterable[SentencePair],
        annotator: str = "gold",
        objective: str = "links",
        prior: str | PathLike[str] = "samples",
        vectors: Vectors | None = None,
        *,
        target_vectors: Vectors | None = None,
        ignore_identical: bool = False,
        threads: int | None = None,
    ) -> Refiner:
        """Learn from the pairs of a corpus that someone aligned, and cross-validate it.

        Parameters
        ----------
        aligner
            What gives the posteriors; it may have been trained on the same pairs.
        corpus
            Pairs; those that the annotator did not align are ignored.
        annotator
            Whose links are gold.
        objective
            What the threshold is chosen for: ``links``, ``aer`` or ``phrases``.
        prior
            What learning starts from: ``samples`` (learned from the samples of this package),
            ``none``, or a file of a prior.
        vectors
            `WordVectors`, or any function that returns an array (n, d) for a sentence of n words,
            zeros for unknown words.
        target_vectors
            The same for the target side, in the same space; None: `vectors` knows both.
        ignore_identical
            Whether the measure of links ignores equal words; that of phrases always does.
        threads
            Number of threads; None: all cores. The result is the same for any number.

        Raises
        ------
        AlignerError
            If fewer than five different pairs can be learned from.
        UnknownNameError
            If there is no such objective, or others aligned pairs, but not this annotator.
        """
        check_arguments(Refiner.train, locals(), apart=["corpus"])
        refiner = cls.begin(
            aligner, annotator, objective, prior, vectors, target_vectors=target_vectors,
            ignore_identical=ignore_identical,
        )  # fmt: skip
        pairs = Corpus(each("corpus", corpus, SentencePair))
        if pairs.aligners:
            pairs.require(annotator)
        refiner._pairs.add(pairs, annotator)
        refiner.validate(threads)
        return refiner

    @classmethod
    def of(cls, aligner: Aligner, annotator: str = "gold") -> Refiner:
        """Take up what a loaded aligner has learned, as the start of updates, without its pairs.

        Raises
        ------
        AlignerError
            If it has learned nothing from gold, or with vectors that it was not loaded with.
        """
        check_arguments(Refiner.of, locals())
        learned = aligner.parameters.learned
        if learned is None:
            raise AlignerError("the aligner has learned nothing from gold: train a refiner")
        lessons = learned.lessons
        vectors = aligner.vectors if lessons.vectors else None
        if lessons.vectors and vectors is None:
            raise AlignerError(
                "this was learned with vectors of words: load the aligner with the same vectors"
            )
        start = learned.rounds or Prior.none().rounds(vectors=False)
        return cls(
            aligner, _Course(annotator, lessons.objective, False, start, "what was loaded", vectors)
        )

    @property
    def learned(self) -> Learned:
        """What was learned."""
        learned = self.aligner.parameters.learned
        if learned is None:
            raise AlignerError("the aligner has learned nothing from gold: train a refiner")
        return learned

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the pairs that it knows, in the order in which they came."""
        return self._pairs.ids

    @property
    def size(self) -> int:
        """How many bytes the features of its pairs take."""
        return self._pairs.size

    def __repr__(self) -> str:
        lessons = self.learned.lessons
        return f"Refiner({lessons.kind}; {lessons.pairs} pairs)"

    def update(
        self, pairs: Iterable[SentencePair], annotator: str | None = None, threads: int | None = 1
    ) -> Refiner:
        """Learn from further pairs too, in the way chosen before; return the refiner itself.

        A pair replaces one with the same id; pairs with an empty side or more than 400 words are
        left out. The threshold and the report stay those of the last `validate`; if that found no
        gain, the pairs are only kept for the next. `annotator` is who aligned these pairs.
        """
        check_arguments(Refiner.update, locals(), apart=["pairs"])
        self._pairs.add(each("pairs", pairs, SentencePair), annotator or self._course.annotator)
        return self._refitted(threads)

    def forget(self, ids: Collection[str], threads: int | None = 1) -> Refiner:
        """Forget the pairs with these ids, if they are there; return the refiner itself."""
        check_arguments(Refiner.forget, locals(), apart=["ids"])
        self._pairs.forget(set(words("ids", ids)))
        return self._refitted(threads)

    def validate(self, threads: int | None = None) -> LearningReport:
        """Choose anew how to learn from the pairs, cross-validate it, and use it if it gains.

        The result is that of `train` with the same pairs in the same order.

        Raises
        ------
        AlignerError
            If there are fewer than five different pairs.
        """
        check_arguments(Refiner.validate, locals())
        course, gold = self._course, self._gold() if len(self._pairs) else None
        count = 0 if gold is None else gold.different
        if gold is None or count < FOLDS:
            raise AlignerError(
                f"{count} different pairs with words on both sides were aligned by "
                f"{course.annotator!r}; learning takes at least {FOLDS}"
            )
        with Workers.opened(threads) as workers:
            found = validate(gold, course.objective, course.start, workers)
        report = _report(course, gold, found, self._pairs.left_out)
        self.report, self._folds = report, found.folds
        self._pairs.divide(found.folds.of)
        if report.used:
            self._learn(gold, found.kind, found.threshold, found.rounds)
        else:
            self._unlearn()
        return report

    def probabilities(
        self, pair: SentencePair | tuple[str | Sequence[str], str | Sequence[str]]
    ) -> NDArray[np.float32]:
        """Return the probabilities (N, M) of all links of a pair of at most 400 words a side."""
        bitext = Bitext.pack([pair], casefold=self.aligner.parameters.casefold)
        shape = int(bitext.source.lengths[0]), int(bitext.target.lengths[0])
        if max(shape) > LONGEST_PIECE:
            raise AlignerError(f"a line of {max(shape)} words: more than {LONGEST_PIECE} are cut")
        learned, decoder = self.learned, self.aligner.decoder(bitext)
        cells, found = learned.cells(
            decoder, bitext, 0, 1, self._course.vectors, learned.known(bitext)
        )
        probabilities = np.zeros(shape, np.float32)
        probabilities[cells.places[:, 0], cells.places[:, 1]] = found
        return probabilities

    def save(self, path: str | PathLike[str]) -> None:
        """Write the aligner with what was learned; `Aligner.load` reads it."""
        self.aligner.save(path)

    def _refitted(self, threads: int | None) -> Refiner:
        learned, course = self.learned, self._course
        if not learned.used:
            return self
        if not len(self._pairs):
            self.report = self._folds = None
            self._unlearn()
            return self
        kind, folds, gold = learned.lessons.kind, self._folds, self._gold()
        if kind not in KINDS or (KINDS[kind].has_networks and self.report is None):
            kind = "strong"  # a prior, or a network that many other pairs taught
        if folds is not None:
            # first rounds that know less than half of the pairs are made anew
            holds = len(gold) <= 2 * len(folds.of)
            folds = Folds(self._pairs.folds, folds.firsts) if holds else None
        with Workers.opened(threads) as workers:
            rounds, made = refit(gold, course.objective, course.start, kind, workers, folds)
        if folds is None:
            self._folds = made
            self._pairs.divide(made.of)
        self._learn(gold, kind, learned.lessons.threshold, rounds)
        return self

    def _gold(self) -> Gold:
        return self._pairs.gold(ignore_identical=self._course.ignore_identical)

    def _learn(self, gold: Gold, kind: str, threshold: float, rounds: StackedModel) -> None:
        course, bitext = self._course, gold.bitext
        lexicon = GoldLexicon.of(
            gold.cells, gold.goals(course.objective), bitext.source.words, bitext.target.words
        )
        lessons = Lessons(kind, course.objective, threshold, len(gold), course.vectors is not None)
        self.aligner = self.aligner.with_learned(Learned(lessons, rounds, lexicon))

    def _unlearn(self) -> None:
        lessons = Lessons(
            UNSUPERVISED, self._course.objective, THRESHOLD, len(self._pairs), vectors=False
        )
        self.aligner = self.aligner.with_learned(Learned(lessons))


def _report(course: _Course, gold: Gold, found: Validated, left_out: int) -> LearningReport:
    objective = course.objective
    rows = gold.summed(found.before), gold.summed(found.after)  # copies of a pair are one sample
    before, after, gain, gaining = resampled(objective, *rows)
    better = gain.value < 0 if objective == "aer" else gain.value > 0
    if not gold.reference.any():
        better = False  # where no sure link is to be found, to align nothing errs least
    return LearningReport(
        objective, course.ignore_identical, len(gold), gold.different, left_out, before, after,
        gain, found.calibration, found.threshold, found.kind, found.losses, course.prior,
        course.vectors is not None, gaining,
        used=better and gaining >= OBJECTIVES[objective].evidence(gold.different),
    )  # fmt: skip
