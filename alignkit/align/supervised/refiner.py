"""Refine an aligner with gold pairs, and update it with new ones.

`Refiner.validate` chooses how to learn by cross-validation: the gold pairs are divided into folds,
and each is aligned by what was learned from the others. `update` and `forget` then learn again in
the same way, without choosing. With evidence, the links of other systems, a refiner has another one
in it (`_without`), which learns from the same pairs without evidence: pairs that a system did not
align are aligned by that. What is learned is described in `learned`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike, fspath

import numpy as np

from alignkit._support.arguments import check_arguments, check_known, each, words
from alignkit._support.array_types import F4
from alignkit.align.aligner import Aligner
from alignkit.align.bitext import PairLike
from alignkit.align.evidence import Annotators, check_systems, systems_of
from alignkit.align.expectation import Workers
from alignkit.align.settings import LONGEST_PIECE
from alignkit.align.supervised import fitting
from alignkit.align.supervised import learned as refinement
from alignkit.align.supervised.cells import GoldLexicon
from alignkit.align.supervised.fitting import validate
from alignkit.align.supervised.gold import FOLDS, Gold, GoldPairs, checked_annotators
from alignkit.align.supervised.measures import LearningReport, SystemMeasure, resampled
from alignkit.align.supervised.prior import Prior
from alignkit.align.vectors.word_vectors import TwoVectors, Vectors, two_vectors
from alignkit.errors import AlignerError
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair


@dataclass(frozen=True, eq=False)
class _Course:
    """The settings of a refiner."""

    annotator: str  # whose links are gold
    objective: str  # what for; one of OBJECTIVES
    ignore_identical: bool  # whether the measure leaves equal words out
    start: refinement.StackedModel  # the rounds that learning starts from
    prior: str  # what these are called
    vectors: TwoVectors | None  # those that are looked at, or None
    evidence: Annotators  # the annotators of the systems that are looked at, perhaps none


class Refiner:
    """An aligner whose link probabilities are refined with gold pairs.

    Make one with `Refiner.train`, with `Refiner.begin` if there are no pairs yet, or with
    `Refiner.of` from a loaded aligner that was refined before.

    Attributes
    ----------
    aligner : The refined aligner: it aligns, saves and loads with the refinement.
    report : The report of the last cross-validation; None if there was none.

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

    def __init__(
        self, aligner: Aligner, course: _Course, without: refinement.StackedModel | None = None
    ) -> None:
        check_arguments(Refiner.__init__, locals())
        self.aligner = aligner
        self.report: LearningReport | None = None
        self._course = course
        self._pairs = GoldPairs(aligner.with_learned(None), course.vectors, course.evidence)
        self._folds: fitting.Folds | None = None
        self._before: refinement.GoldSource | None = None  # what the loaded rounds learned from
        self._without: Refiner | None = None  # learns from the same pairs without evidence
        if without is not None:
            self._without = Refiner(aligner, replace(course, evidence={}, start=without))
            self._without._unlearn()

    @classmethod
    def begin(
        cls,
        aligner: Aligner,
        gold: str = "gold",
        objective: str = "links",
        prior: str | PathLike[str] = "samples",
        vectors: Vectors | None = None,
        *,
        target_vectors: Vectors | None = None,
        ignore_identical: bool = False,
        evidence: Annotators | None = None,
    ) -> Refiner:
        """Create a refiner without pairs; it aligns like the aligner.

        Parameters
        ----------
        aligner, gold, objective, prior, vectors, target_vectors, ignore_identical, evidence : As in
            `train`.

        Examples
        --------
        >>> from alignkit import Aligner
        >>> from alignkit.align.supervised import Refiner
        >>> aligner = Aligner.train([("das haus", "the house"), ("das buch", "the book")])
        >>> refiner = Refiner.begin(aligner)
        >>> refiner.probabilities(("das buch", "the book")).shape
        (2, 2)
        """
        check_arguments(Refiner.begin, locals())
        check_known("objective", objective, refinement.OBJECTIVES)
        annotators = checked_annotators(evidence, gold)
        known = Prior.read(fspath(prior))
        used = vectors is not None
        systems = systems_of(annotators)
        course = _Course(
            annotator=gold,
            objective=objective,
            ignore_identical=ignore_identical,
            start=known.rounds(vectors=used, evidence=systems),
            prior=fspath(prior),
            vectors=two_vectors(vectors, target_vectors),
            evidence=annotators,
        )
        without = None
        if systems:
            without = known.rounds(vectors=used)
        refiner = cls(aligner.with_learned(None, vectors, target_vectors), course, without)
        refiner._unlearn()
        return refiner

    @classmethod
    def train(
        cls,
        aligner: Aligner,
        corpus: Iterable[SentencePair],
        gold: str = "gold",
        objective: str = "links",
        prior: str | PathLike[str] = "samples",
        vectors: Vectors | None = None,
        *,
        target_vectors: Vectors | None = None,
        ignore_identical: bool = False,
        evidence: Annotators | None = None,
        threads: int | None = None,
    ) -> Refiner:
        """Learn from the annotated pairs of a corpus, and cross-validate the result.

        Parameters
        ----------
        aligner : The aligner that gives the posteriors; it may be trained on the same pairs.
        corpus : Pairs; those without links of the annotator are ignored.
        gold : The annotator with the gold links.
        objective : The goal when choosing the threshold: ``links``, ``aer`` or ``phrases``.
        prior : The start of learning: ``samples`` (learned from the samples of this package),
            ``none``, or the file of a prior.
        vectors : `WordVectors`, or any function that returns an array (n, d) for a sentence of n
            words, zeros for unknown words.
        target_vectors : The same for the target side, in the same space; None: use `vectors` for
            both.
        ignore_identical : Whether the measure of links ignores equal words; that of phrases always
            does.
        evidence : Other systems that aligned the pairs: for each, its annotators in the corpus
            (one, or for example one for each direction). To align, `Aligner.align_bitext` needs
            them too.
        threads : Number of threads; None: all cores. It does not affect the result.

        Raises
        ------
        AlignerError : If there are fewer than five different pairs.
        UnknownNameError : If the objective is unknown, or only other annotators aligned pairs.
        OptionError : If the annotator of the gold links is also evidence.
        """
        check_arguments(Refiner.train, locals(), apart=["corpus"])
        refiner = cls.begin(
            aligner,
            gold,
            objective,
            prior,
            vectors,
            target_vectors=target_vectors,
            ignore_identical=ignore_identical,
            evidence=evidence,
        )
        pairs = Corpus(each("corpus", corpus, SentencePair))
        if pairs.aligners:
            pairs.require(gold, *chain.from_iterable(refiner._course.evidence.values()))
        refiner._add(list(pairs), gold)
        refiner.validate(threads)
        return refiner

    @classmethod
    def of(
        cls, aligner: Aligner, gold: str = "gold", evidence: Annotators | None = None
    ) -> Refiner:
        """Continue from a loaded aligner that was refined; its gold pairs are not included.

        Parameters
        ----------
        aligner : An aligner that was refined.
        gold : The annotator with the gold links.
        evidence : The annotators of the systems, if it was refined with evidence.

        Raises
        ------
        AlignerError : If the aligner has no refinement, or it was loaded without the vectors it
            needs.
        """
        check_arguments(Refiner.of, locals())
        learned = aligner.parameters.learned
        if learned is None:
            raise AlignerError("the aligner has no refinement from gold links: train a refiner")
        lessons = learned.lessons
        vectors = aligner.vectors if lessons.vectors else None
        if lessons.vectors and vectors is None:
            needed = "the refinement needs word vectors: load the aligner with the same vectors"
            raise AlignerError(needed)
        systems = checked_annotators(evidence, gold)
        check_systems(lessons.evidence, systems_of(systems))
        systems = {system.name: systems[system.name] for system in lessons.evidence}
        used = vectors is not None
        none = Prior.none()
        start = learned.rounds or none.rounds(vectors=used, evidence=lessons.evidence)
        course = _Course(
            annotator=gold,
            objective=lessons.objective,
            ignore_identical=False,
            start=start,
            prior="what was loaded",
            vectors=vectors,
            evidence=systems,
        )
        plain = None
        if lessons.evidence:
            plain = none.rounds(vectors=used)
            if learned.without is not None:
                plain = learned.without.rounds or plain
        refiner = cls(aligner, course, plain)
        refiner._before = lessons.taught_by
        if refiner._without is not None and learned.without is not None:
            refiner._without.aligner = aligner.with_learned(learned.without)
            refiner._without._before = learned.without.lessons.taught_by
        return refiner

    @property
    def learned(self) -> refinement.Learned:
        """The refinement."""
        learned = self.aligner.parameters.learned
        if learned is None:
            raise AlignerError("the aligner has no refinement from gold links: train a refiner")
        return learned

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its pairs, in order of arrival."""
        return self._pairs.ids

    @property
    def size(self) -> int:
        """The size of the features of its pairs in bytes."""
        return self._pairs.size

    def __repr__(self) -> str:
        lessons = self.learned.lessons
        return f"Refiner({lessons.kind}; {lessons.pairs} pairs)"

    def update(
        self, pairs: Iterable[SentencePair], annotator: str | None = None, threads: int | None = 1
    ) -> Refiner:
        """Also learn from these pairs, in the way chosen before; return the refiner itself.

        A pair replaces one with the same id. Pairs with an empty side or more than 400 words are
        left out. The threshold and the report do not change until the next `validate`; if the last
        one found no gain, the pairs are only stored.

        Parameters
        ----------
        pairs : Annotated pairs.
        annotator : Who aligned them; None: the annotator of the gold links.
        threads : Number of threads; None: all cores. It does not affect the result.

        Examples
        --------
        >>> from alignkit import Aligner, Alignment, SentencePair
        >>> from alignkit.align.supervised import Refiner
        >>> aligner = Aligner.train([("das haus", "the house"), ("das buch", "the book")])
        >>> links = {"gold": Alignment.parse("0-0 1-1")}
        >>> pair = SentencePair("1", ["das", "buch"], ["the", "book"], links)
        >>> Refiner.begin(aligner).update([pair]).ids
        ('1',)
        """
        check_arguments(Refiner.update, locals(), apart=["pairs"])
        self._add(list(each("pairs", pairs, SentencePair)), annotator or self._course.annotator)
        return self._refitted(threads)

    def _add(self, pairs: Sequence[SentencePair], annotator: str) -> None:
        """Add pairs, also to the refiner without evidence, which has the same pairs."""
        self._pairs.add(pairs, annotator)
        if self._without is not None:
            kept = set(self.ids)  # some may be left out
            self._without._pairs.forget({pair.id for pair in pairs} - kept)
            self._without._pairs.add([pair for pair in pairs if pair.id in kept], annotator)

    def forget(self, ids: Collection[str], threads: int | None = 1) -> Refiner:
        """Forget the pairs with these ids, if present; return the refiner itself.

        Parameters
        ----------
        ids : The ids of the pairs.
        threads : Number of threads; None: all cores. It does not affect the result.

        Examples
        --------
        >>> from alignkit import Aligner, Alignment, SentencePair
        >>> from alignkit.align.supervised import Refiner
        >>> aligner = Aligner.train([("das haus", "the house"), ("das buch", "the book")])
        >>> links = {"gold": Alignment.parse("0-0 1-1")}
        >>> pair = SentencePair("1", ["das", "buch"], ["the", "book"], links)
        >>> len(Refiner.begin(aligner).update([pair]).forget(["1"]).ids)
        0
        """
        check_arguments(Refiner.forget, locals(), apart=["ids"])
        for refiner in filter(None, (self, self._without)):
            refiner._pairs.forget(set(words("ids", ids)))
        return self._refitted(threads)

    def validate(self, threads: int | None = None) -> LearningReport:
        """Choose again how to learn from the pairs, cross-validate, and use the result if it gains.

        The result is the same as from `train` with these pairs in this order.

        Parameters
        ----------
        threads : Number of threads; None: all cores. It does not affect the result.

        Raises
        ------
        AlignerError : If there are fewer than five different pairs.
        """
        check_arguments(Refiner.validate, locals())
        gold = self._gold()
        if gold.different < FOLDS:
            raise AlignerError(
                f"{gold.different} different pairs with words on both sides were aligned by "
                f"{self._course.annotator!r}; learning needs at least {FOLDS}"
            )
        with Workers.opened(threads) as workers:
            self._validate(gold, workers)
        assert self.report is not None
        return self.report

    def _validate(self, gold: Gold, workers: Workers) -> fitting.Candidate:
        """Cross-validate, use what is best, and return how that aligns the pairs out of fold."""
        least = self.aligner.settings.threshold
        without = self._without
        chosen = validate(gold, self._course.start, workers, before=least)
        rivals = [chosen.before]
        if without is not None:
            plain_gold = without._gold()
            plain = without._validate(plain_gold, workers)
            chosen.after.rows[gold.lacking] = plain.rows[gold.lacking]  # as they will be aligned
            rivals += fitting.rivals_of(gold, self._pairs.systems, plain, chosen.folds.of)
            if without.learned.used:
                known = gold.cells.values_of(plain_gold.cells, plain.probabilities)
                rivals.append(plain._replace(kind=refinement.WITHOUT, probabilities=known))
        best = fitting.best_of(gold.objective, rivals)
        report = self._report(gold, chosen, rivals, best)
        outcome = best
        if report.used:
            outcome = fitting.mean_of(gold, report.weight, chosen.after, best, chosen.folds.of)
            if without is not None:
                outcome.rows[gold.lacking] = plain.rows[gold.lacking]
            report = replace(report, mean=_measured(gold, outcome))
        if without is not None:
            report = replace(report, without=without.report)
        self.report = report
        self._folds = chosen.folds
        self._pairs.divide(chosen.folds.of)
        if report.used:
            lessons = self._lessons(chosen.kind, outcome.threshold)
            lessons = replace(lessons, weight=report.weight, base=best.kind)
            self._learn(gold, lessons, chosen.rounds)
        elif best.kind in (refinement.ALIGNER, refinement.WITHOUT):
            self._unlearn()
        else:
            self._learn(gold, self._lessons(best.kind, best.threshold), None)
        return outcome

    def probabilities(self, pair: PairLike) -> F4:
        """Return the link probabilities (N, M) of a pair with at most 400 words per side.

        Parameters
        ----------
        pair : A sentence pair, or its two texts.

        Examples
        --------
        >>> from alignkit import Aligner
        >>> from alignkit.align.supervised import Refiner
        >>> aligner = Aligner.train([("das haus", "the house"), ("das buch", "the book")])
        >>> probabilities = Refiner.begin(aligner).probabilities(("das buch", "the book"))
        >>> probabilities.argmax(axis=1).tolist()
        [0, 1]
        """
        bitext = self.aligner.packed([pair])
        shape = int(bitext.source.lengths[0]), int(bitext.target.lengths[0])
        if max(shape) > LONGEST_PIECE:
            raise AlignerError(f"a line has {max(shape)} words; the limit is {LONGEST_PIECE}")
        decoder = self.aligner.decoder(bitext)
        learned = self.learned
        vectors = self._course.vectors
        annotators = None
        if learned.lessons.evidence:
            annotators = self._course.evidence
        evidence = learned.seen(annotators, [pair])
        links = learned.align(decoder, bitext, Workers(1), 0.0, None, vectors, evidence)
        source, target = links.arrays.links.T
        probabilities = np.zeros(shape, np.float32)
        probabilities[source, target] = links.probabilities
        return probabilities

    def save(self, path: str | PathLike[str]) -> None:
        """Save the refined aligner to a file; `Aligner.load` reads it.

        Parameters
        ----------
        path : The file to write.
        """
        self.aligner.save(path)

    def _refitted(self, threads: int | None) -> Refiner:
        """Learn again from the pairs as they are now, in the way chosen before."""
        learned = self.learned
        if self._without is not None:
            self._without._refitted(threads)
            if not learned.lessons.evidence:
                self._unlearn()
                return self
        if not learned.used:
            return self
        if not len(self._pairs):
            self.report = self._folds = None
            self._unlearn()
            return self
        lessons = learned.lessons
        kind = lessons.kind
        folds = self._folds
        gold = self._gold()
        if learned.rounds is None:  # the evidence is used as it is
            self._learn(gold, lessons, None)
            return self
        known = refinement.KINDS.get(kind)
        if known is None or (known.has_networks and self.report is None):
            kind = "strong"  # a prior, or a network that many other pairs taught
        if folds is not None:
            if len(gold) <= 2 * len(folds.of):
                folds = fitting.Folds(self._pairs.folds, folds.firsts)
            else:
                folds = None  # first rounds that know less than half of the pairs are made anew
        with Workers.opened(threads) as workers:
            rounds, made = fitting.refit(gold, self._course.start, kind, workers, folds)
        if folds is None:
            self._folds = made
            self._pairs.divide(made.of)
        self._learn(gold, replace(lessons, kind=kind), rounds)
        return self

    def _gold(self) -> Gold:
        """Return all pairs for learning."""
        course = self._course
        return self._pairs.gold(course.objective, ignore_identical=course.ignore_identical)

    def _lessons(self, kind: str, threshold: float) -> refinement.Lessons:
        """Return what a refinement of a kind says of itself, before `_learn`."""
        course = self._course
        vectors = course.vectors is not None
        return refinement.Lessons(kind, course.objective, threshold, len(self._pairs), vectors)

    def _learn(
        self, gold: Gold, lessons: refinement.Lessons, rounds: refinement.StackedModel | None
    ) -> None:
        """Refine the aligner with rounds; without them, by evidence as it is."""
        lexicon = None
        if rounds is not None:
            words = gold.bitext.source.words, gold.bitext.target.words
            lexicon = GoldLexicon.of(gold.cells, gold.goals, *words)
        without = None
        if self._without is not None:
            without = self._without.learned
            measures = self._measures(lessons.kind)
            lessons = replace(lessons, evidence=self._pairs.systems, measures=measures)
            if rounds is None:  # only pairs that lack a system need vectors
                lessons = replace(lessons, vectors=without.lessons.vectors)
        lessons = replace(lessons, pairs=len(gold), taught_by=self._source())
        made = refinement.Learned(lessons, rounds, lexicon, without)
        self.aligner = self.aligner.with_learned(made)

    def _source(self) -> refinement.GoldSource:
        """Return the gold pairs, and those of the aligner that learning started from."""
        source = self._pairs.source
        return source if self._before is None else self._before.joined(source)

    def _measures(self, kind: str) -> tuple[float, float] | None:
        """Return the measure of a kind with evidence, and that of what is used without it."""
        report = self.report
        if report is None or report.without is None:
            return None
        plain = report.without
        if plain.used:
            other = plain.outcome.measure.value
        else:
            other = plain.before.value
        for system in report.systems:
            if system.kind == kind:
                return system.measure.value, other
        return report.outcome.measure.value, other

    def _unlearn(self) -> None:
        """Make the aligner align as it does without evidence, or without any refinement."""
        if self._without is not None:
            self.aligner = self.aligner.with_learned(self._without.learned)
            return
        lessons = self._lessons(refinement.UNSUPERVISED, float(self.aligner.settings.threshold))
        unused = refinement.Learned(replace(lessons, vectors=False))
        self.aligner = self.aligner.with_learned(unused)

    def _report(
        self,
        gold: Gold,
        chosen: fitting.Validated,
        rivals: Sequence[fitting.Candidate],
        best: fitting.Candidate,
    ) -> LearningReport:
        """Return the report of a cross-validation; `best` is the best rival."""
        objective = gold.objective
        learned = gold.summed(chosen.after.rows)
        before, after, gain, gaining = resampled(objective, gold.summed(best.rows), learned)
        if len(rivals) > 1:
            before = resampled(objective, gold.summed(chosen.before.rows), learned)[0]
        alone = refinement.ALIGNER, refinement.WITHOUT  # all other rivals have links of systems
        systems = [_measured(gold, rival) for rival in rivals if rival.kind not in alone]
        weight = 0.0  # where no sure link is to be found, to align nothing errs least
        if gold.reference.any():
            weight = refinement.weight_of(gaining, gold.different)
        return LearningReport(
            objective=objective,
            ignore_identical=gold.ignore_identical,
            pairs=len(gold),
            different=gold.different,
            left_out=self._pairs.left_out,
            before=before,
            after=after,
            gain=gain,
            calibration=(chosen.before.calibration, chosen.after.calibration),
            threshold_before=self.aligner.settings.threshold,
            threshold=chosen.after.threshold,
            kind=chosen.kind,
            losses=chosen.losses,
            prior=self._course.prior,
            vectors=self._course.vectors is not None,
            gaining=gaining,
            weight=weight,
            used=weight >= refinement.LEAST_WEIGHT,
            base=best.kind,
            systems=tuple(systems),
        )


def _measured(gold: Gold, way: fitting.Candidate) -> SystemMeasure:
    """Return how well a way to align does on the gold pairs."""
    rows = gold.summed(way.rows)
    measure = resampled(gold.objective, rows, rows)[0]
    return SystemMeasure(way.kind, measure, way.threshold, way.calibration)
