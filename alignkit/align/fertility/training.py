"""The training of IBM 3 and IBM 4 from the HMM's alignments, and their decoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from alignkit._support.array_types import F4, F8, I4, I8
from alignkit._support.jit import readonly
from alignkit.align.bitext import Bitext, Side, parts_of
from alignkit.align.cooccurrence import Cooccurrence
from alignkit.align.decoders import Decoder
from alignkit.align.expectation import Workers, blocks_of, lexical_tables
from alignkit.align.expectation_kernel import Pairs
from alignkit.align.fertility import models
from alignkit.align.fertility.corpus_kernel import Counts, KernelText, count, expect, scatter
from alignkit.align.fertility.kernel import exchange
from alignkit.align.parameters import Fertilities, Round, with_unseen
from alignkit.align.settings import FEW, Settings

NULL_BASE = 1e-4  # added to the count of each word from NULL
FIRST_SHARE = 0.05  # NULL's share before anything is counted
SMOOTHING = 10.0  # weight of the shared tables in those of words and of positions
SETTLED = 1000  # a round that moves fewer than one word in so many is the last
CLASSES = 50  # word classes of each language


class FertilityTraining:
    """The training of one direction: call `expect` and `maximize` per round, then `finish`."""

    def __init__(
        self,
        text: models.FertilityText,
        *,
        model: str,
        lexical: F4,
        null: F4,
        viterbi: I4,
        classes: tuple[I4, I4] | None,
        prior: F4,
        discount: float = 0.0,
        threads: int = 1,
    ) -> None:
        # discount: how much of its own counts a pair does not see, 0 (plain EM) to 1
        self.text = text
        self._discount = discount
        self._threads = threads
        self._start = viterbi
        self._prior = prior
        self.viterbi = np.array(viterbi, np.int32)  # the source word of each target word, or -1
        self._ones = np.ones(text.vocabulary[0], np.float32)
        # of each word pair and target word; those of word pairs are counts till `finish`
        self.lexical = lexical
        self._totals = self._ones
        self.null = null
        self.posteriors = np.zeros(int(text.kernel.starts[-1]), np.float32)
        self.scores: list[float] = []  # of each round: the sum of the scores of the alignments
        occurrences = np.bincount(text.kernel.sources, minlength=text.vocabulary[0] + 1)
        self._bands = models.frequency_bands(occurrences)
        self.model = self._first_model(model, classes)
        counts = self.model.zero_counts()
        count(text.kernel, self.model.kernel, self.viterbi, self.posteriors, counts)
        self._maximize_order(counts)

    def _first_model(self, model: str, classes: tuple[I4, I4] | None) -> models.FertilityModel:
        v = self.text.vocabulary
        fertilities = np.ones((v[0] + 1, models.MOST + 1), np.float32)
        if model == "ibm3" or classes is None:
            seen = self.text.kernel
            lengths = np.diff(seen.source_offsets), np.diff(seen.target_offsets)
            self._sizes, self._starts, self._blocks = blocks_of(np.stack(lengths, 1))
            source, target = (np.zeros(size + 1, np.int32) for size in v)
            return models.FertilityModel(
                model=model,
                null_share=FIRST_SHARE,
                fertilities=fertilities,
                sizes=self._sizes,
                source_classes=source,
                target_classes=target,
            )
        source, target = map(with_unseen_class, classes)
        a = int(source.max(initial=0)) + 1
        b = int(target.max(initial=0)) + 1
        self._blocks = np.zeros(len(self.text), np.int64)
        return models.FertilityModel(
            model=model,
            null_share=FIRST_SHARE,
            fertilities=fertilities,
            first=np.ones((a + 1, b, 2 * models.REACH + 1), np.float32),
            rest=np.ones((b, models.REACH), np.float32),
            source_classes=source,
            target_classes=target,
        )

    def expect(self) -> float:
        """Align all pairs again and count; return the sum of the scores of the alignments."""
        counted = [self.model.zero_counts() for _ in self.text.parts()]
        score = self._expect(counted, self.viterbi)
        self.counts = Counts(*(sum(each) for each in zip(*counted, strict=True)))
        self.scores.append(score)
        return score

    def maximize(self, posteriors: F4 | None = None) -> None:
        """Estimate all tables again from the counts of `expect`."""
        places, null, distortion = self._scatter()
        if posteriors is not None:
            self.posteriors = posteriors
            places = self._scatter()[0]
        self.lexical = places.astype(np.float32)
        totals = np.bincount(self.text.owners, places + self._prior, self.text.vocabulary[0])
        self._totals = np.maximum(totals, 1e-7).astype(np.float32)
        null += NULL_BASE
        self.null = (null / null.sum()).astype(np.float32)
        self._maximize_order(self.counts, distortion)

    def finish(self) -> None:
        """Align all pairs with the final tables, from the alignments given at the start."""
        self.lexical, self.null = self.lexical_tables()
        self._totals = self._ones
        self.viterbi = self._start.astype(np.int32)
        self.scores.append(self._expect(None, self.viterbi))

    def lexical_tables(self) -> tuple[F4, F4]:
        """Return t(target word | source word), shape (K,), and t(target word | NULL), (V,)."""
        lexical = (self.lexical + self._prior_now()) / self._totals[self.text.owners]
        return lexical.astype(np.float32), self.null

    def _prior_now(self) -> F4:
        # tables of probabilities, not of counts, need none
        if self._totals is self._ones:
            return np.zeros_like(self._prior)
        return self._prior

    def _expect(self, counted: Sequence[Counts] | None, viterbi: I4) -> float:
        own = 0.0 if self._totals is self._ones else self._discount
        kernel = self.model.kernel._replace(
            lexical=readonly(self.lexical),
            prior=readonly(self._prior_now()),
            totals=readonly(self._totals),
            null=readonly(self.null),
            discount=own,
            blocks=readonly(self._blocks),
        )

        def run(part: int, low: int, high: int) -> float:
            if counted is None:
                counts = models.NO_COUNTS
            else:
                counts = counted[part]
            return expect(
                low,
                high,
                self.text.kernel,
                kernel,
                models.SWEEPS,
                viterbi,
                self.posteriors,
                counted is not None,
                counts,
            )

        with ThreadPoolExecutor(self._threads) as pool:
            runs = [pool.submit(run, k, *part) for k, part in enumerate(self.text.parts())]
            return sum(each.result() for each in runs)

    def _scatter(self) -> tuple[F8, F8, F8]:
        places = np.zeros(len(self.lexical))
        null = np.zeros(self.text.vocabulary[1])
        distortion = np.zeros(int(self._starts[-1]) if self.model.factorial else 0)
        scatter(self.text.kernel, self.posteriors, readonly(self._blocks), places, null, distortion)
        return places, null, distortion

    def _maximize_order(self, counts: Counts, distortion: F8 | None = None) -> None:
        changed: dict[str, Any] = {
            "fertilities": models.estimate_fertilities(counts.fertilities, self._bands, SMOOTHING),
            "null_share": float((counts.null[1] + 0.5) / (counts.null.sum() + 1)),
        }
        if self.model.factorial:
            if distortion is None:
                distortion = self._scatter()[2]
            known = distortion, self._sizes, self._starts
            changed["diagonal"] = diagonal = models.estimate_diagonal(*known)
            changed["distortion"] = models.estimate_distortion(*known, diagonal, SMOOTHING)
        else:
            changed["first"] = models.estimate_first(counts.first, SMOOTHING)
            changed["rest"] = models.estimate_rest(counts.rest, SMOOTHING)
        self.model = replace(self.model, **changed)


def with_unseen_class(classes: I4) -> I4:
    """Append the class of unseen words: the most common class of the rarest tenth of words."""
    rarest = classes[-max(1, len(classes) // 10) :]
    unseen = np.bincount(rarest).argmax() if len(rarest) else 0
    return np.append(classes, unseen).astype(np.int32)


def word_classes(ids: I4, offsets: I8, size: int, number: int = 50, *, rounds: int = 20) -> I4:
    """Assign words to classes that maximize the likelihood of the class bigrams of the text."""
    # The exchange algorithm, as in mkcls (Kneser & Ney 1993; Martin, Liermann & Ney 1998; Och
    # 1999): each word in turn goes to the class that raises the likelihood of the text most. At
    # first, words of neighbouring numbers share a class; line boundaries have one of their own.
    order = np.arange(size + 1, dtype=np.int64)
    classes = (order * number // max(size, 1)).astype(np.int32)
    if number > 1 and ids.size:
        counts = np.arange(1, 1 << 16, dtype=np.float64)
        small = np.concatenate([[0.0], counts * np.log(counts)])
        least = max(1, size // SETTLED)
        boundary = np.int32(size)
        stream = np.append(boundary, np.insert(ids, offsets[1:], boundary)).astype(np.int32)
        exchange(stream, classes, number, rounds, least, small)
    return classes[:-1].copy()


def train_fertilities(
    settings: Settings,
    bitext: Bitext,
    index: Cooccurrence,
    hmm: Decoder,
    prior: F4,
    workers: Workers,
    report: Callable[[Round], None],
) -> tuple[Fertilities, FertileDecoder]:
    """Train the fertility model of the settings from the HMM's Viterbi alignments."""
    known = hmm.tables
    parts = workers.map(lambda _, begin, end: hmm.paths(begin, end), parts_of(bitext.starts))
    paths = [np.concatenate(side) for side in zip(*parts, strict=True)]
    tables = lexical_tables(known, index)
    source, target = bitext.source, bitext.target

    def text(mine: Side, other: Side, owners: I4, *, transposed: bool) -> models.FertilityText:
        kernel = KernelText(
            readonly(mine.ids),
            readonly(mine.starts),
            readonly(other.ids),
            readonly(other.starts),
            readonly(bitext.starts),
            readonly(index.cells),
            transposed,
        )
        return models.FertilityText(kernel, owners, (len(mine.words), len(other.words)))

    direct = text(source, target, index.source, transposed=False)
    texts = direct, text(target, source, index.columns, transposed=True)
    classes: list[I4] = []
    if settings.model == "ibm4":
        classes = [
            word_classes(side.ids, side.starts, len(side.words), min(CLASSES, len(side.words)))
            for side in (source, target)
        ]
    nulls = known.target_null, known.source_null
    both = [
        FertilityTraining(
            seen,
            model=settings.model,
            lexical=table,
            null=null,
            viterbi=path,
            classes=(classes[::turn][0], classes[::turn][1]) if classes else None,
            prior=prior,
            discount=float(settings.collapsed and len(bitext) >= FEW),
            threads=workers.threads,
        )
        for seen, table, null, path, turn in zip(texts, tables, nulls, paths, (1, -1), strict=True)
    ]
    for number in range(1, settings.fertility + 1):
        forward, reverse = (direction.expect() for direction in both)
        report(Round(settings.model, number, forward, reverse))
        if settings.agree:
            to = both[0].posteriors
            back = both[1].posteriors
            links = to * back * (to + back) * np.float32(0.5)
        for direction in both:
            direction.maximize(links.copy() if settings.agree else None)
    for direction in both:
        direction.finish()
    first, second = both
    unseen = with_unseen(first.null), with_unseen(second.null)
    learned = Fertilities(first.model, second.model, first.lexical, second.lexical, *unseen)
    done = first.posteriors, second.posteriors, first.viterbi, second.viterbi
    return learned, FertileDecoder(hmm, learned, first.lexical, second.lexical, done)


Done = tuple[F4, F4, I4, I4]


@dataclass(frozen=True, eq=False)
class FertileDecoder:
    """Posteriors and Viterbi alignments of a fertility model, with the interface of `Decoder`."""

    hmm: Decoder  # where the climbing begins
    known: Fertilities  # the tables
    forward: F4
    reverse: F4
    done: Done | None = None
    source_numbers: I4 = field(default_factory=lambda: np.empty(0, np.int32))
    target_numbers: I4 = field(default_factory=lambda: np.empty(0, np.int32))

    @property
    def pairs(self) -> Pairs:
        """The pairs in the form that kernels take."""
        return self.hmm.pairs

    def posteriors(self, begin: int, end: int, likelihoods: F8 | None = None) -> tuple[F4, F4]:
        """Return the posteriors of both directions; the log-likelihoods are those of the HMM."""
        if likelihoods is not None:
            self.hmm.posteriors(begin, end, likelihoods)
        return self.viterbi(begin, end)[:2]

    def lexical(self, begin: int, end: int) -> tuple[F4, F4]:
        """Return the HMM's posteriors of both directions by the words alone."""
        return self.hmm.lexical(begin, end)

    def calibrated(self, begin: int, end: int, posteriors: tuple[F4, F4]) -> tuple[F4, F4]:
        """Return the posteriors, which are not calibrated."""
        return posteriors

    def viterbi(self, begin: int, end: int) -> Done:
        """Return the posteriors, and the counterpart of each target and source word."""
        pairs = self.hmm.pairs
        cells = slice(int(pairs.starts[begin]), int(pairs.starts[end]))
        targets = slice(int(pairs.target_starts[begin]), int(pairs.target_starts[end]))
        sources = slice(int(pairs.source_starts[begin]), int(pairs.source_starts[end]))
        if self.done is not None:
            forward, reverse, target_path, source_path = self.done
            return forward[cells], reverse[cells], target_path[targets], source_path[sources]
        target_path, source_path = self.hmm.paths(begin, end)
        size = cells.stop - cells.start
        forward = np.zeros(size, np.float32)
        reverse = np.zeros(size, np.float32)
        for k in range(begin, end):
            mine = pairs.source_starts[k : k + 2] - sources.start
            theirs = pairs.target_starts[k : k + 2] - targets.start
            here = pairs.starts[k : k + 2] - cells.start
            self._align(
                k,
                forward[slice(*here)],
                reverse[slice(*here)],
                target_path[slice(*theirs)],
                source_path[slice(*mine)],
            )
        return forward, reverse, target_path, source_path

    def _align(self, pair: int, forward: F4, reverse: F4, target: I4, source: I4) -> None:
        # climb from the alignments of the HMM, in both directions, and set all four arrays
        pairs = self.hmm.pairs
        known = self.known
        sources = self.source_numbers[pairs.source[slice(*pairs.source_starts[pair : pair + 2])]]
        targets = self.target_numbers[pairs.target[slice(*pairs.target_starts[pair : pair + 2])]]
        shape = len(sources), len(targets)
        places = pairs.cells[slice(*pairs.starts[pair : pair + 2])]
        to = models.align_fertility(
            known.forward,
            sources,
            targets,
            self.forward[places].reshape(shape),
            known.target_null[targets],
            target,
        )
        back = models.align_fertility(
            known.reverse,
            targets,
            sources,
            self.reverse[places].reshape(shape).T,
            known.source_null[sources],
            source,
        )
        forward[:], reverse[:] = to.posteriors.ravel(), back.posteriors.T.ravel()
        target[:], source[:] = to.alignment, back.alignment
