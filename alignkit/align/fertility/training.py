"""The training of IBM 3 and IBM 4 from the HMM's alignments, and their decoder.

Each direction begins with the best alignments by the HMM. A round counts over the best alignment of
each pair and its neighbours, which is found by changing single links (hill climbing), and then
estimates all tables. The tables of fertilities, positions and classes are those of `models`.
"""

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
from alignkit.align.parameters import Round, with_unseen
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
        self.text = text
        self._discount = discount  # how much of its own counts a pair does not see, 0 (EM) to 1
        self._threads = threads
        self._start = viterbi
        self._prior = prior
        self.viterbi = np.array(viterbi, np.int32)  # the source word of each target word, or -1
        # of each word pair: its probability by the HMM, its count after a round, and its
        # probability again after `finish`
        self.lexical = lexical
        self._has_counts = False
        # of each source word: by what its counts are divided
        self._totals = np.ones(text.vocabulary[0], np.float32)
        self.null = null  # of each target word: its probability from NULL
        self.posteriors = np.zeros(int(text.kernel.starts[-1]), np.float32)
        self.scores: list[float] = []  # of each round: the sum of the scores of the alignments
        occurrences = np.bincount(text.kernel.sources, minlength=text.vocabulary[0] + 1)
        self._bands = models.frequency_bands(occurrences)
        self.model = self._first_model(model, classes)
        counts = self.model.zero_counts()
        count(text.kernel, self.model.kernel, self.viterbi, self.posteriors, counts)
        self._maximize_order(counts)

    def _first_model(self, model: str, classes: tuple[I4, I4] | None) -> models.FertilityModel:
        """Return a model whose tables are flat; set where counts of positions go."""
        sources, targets = self.text.vocabulary
        fertilities = np.ones((sources + 1, models.MOST + 1), np.float32)
        if model == "ibm3" or classes is None:
            offsets = self.text.kernel.source_offsets, self.text.kernel.target_offsets
            lengths = np.stack([np.diff(side) for side in offsets], 1)
            self._sizes, self._starts, self._blocks = blocks_of(lengths)
            return models.FertilityModel(
                model=model,
                null_share=FIRST_SHARE,
                fertilities=fertilities,
                sizes=self._sizes,
                source_classes=np.zeros(sources + 1, np.int32),
                target_classes=np.zeros(targets + 1, np.int32),
            )
        source_classes, target_classes = map(with_unseen_class, classes)
        source_number = int(source_classes.max(initial=0)) + 1
        target_number = int(target_classes.max(initial=0)) + 1
        steps = 2 * models.REACH + 1
        self._blocks = np.zeros(len(self.text), np.int64)
        return models.FertilityModel(
            model=model,
            null_share=FIRST_SHARE,
            fertilities=fertilities,
            first=np.ones((source_number + 1, target_number, steps), np.float32),
            rest=np.ones((target_number, models.REACH), np.float32),
            source_classes=source_classes,
            target_classes=target_classes,
        )

    def expect(self) -> float:
        """Align all pairs again and count; return the sum of the scores of the alignments."""
        counted = [self.model.zero_counts() for _ in self.text.parts()]
        score = self._expect(counted)
        self.counts = Counts(*(sum(parts) for parts in zip(*counted, strict=True)))
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
        self._has_counts = True
        null += NULL_BASE
        self.null = (null / null.sum()).astype(np.float32)
        self._maximize_order(self.counts, distortion)

    def finish(self) -> None:
        """Align all pairs with the final tables, from the alignments given at the start."""
        self.lexical, self.null = self.lexical_tables()
        self._totals = np.ones_like(self._totals)
        self._has_counts = False
        self.viterbi = self._start.astype(np.int32)
        self.scores.append(self._expect([models.NO_COUNTS for _ in self.text.parts()]))

    def lexical_tables(self) -> tuple[F4, F4]:
        """Return t(target word | source word), shape (K,), and t(target word | NULL), (V,)."""
        lexical = (self.lexical + self._prior_now()) / self._totals[self.text.owners]
        return lexical.astype(np.float32), self.null

    def _prior_now(self) -> F4:
        """Return the pseudo-counts (K,) of word pairs: 0 while tables hold probabilities."""
        if self._has_counts:
            return self._prior
        return np.zeros_like(self._prior)

    def _expect(self, counted: Sequence[Counts]) -> float:
        """Align all pairs, and add to the counts of each part; return the sum of the scores."""
        discount = 0.0
        if self._has_counts:
            discount = self._discount
        kernel = self.model.kernel._replace(
            lexical=readonly(self.lexical),
            prior=readonly(self._prior_now()),
            totals=readonly(self._totals),
            null=readonly(self.null),
            discount=discount,
            blocks=readonly(self._blocks),
        )

        def run(part: tuple[int, int], counts: Counts) -> float:
            return expect(
                *part,
                self.text.kernel,
                kernel,
                models.SWEEPS,
                self.viterbi,
                self.posteriors,
                counts,
            )

        with ThreadPoolExecutor(self._threads) as pool:
            return sum(pool.map(run, self.text.parts(), counted))

    def _scatter(self) -> tuple[F8, F8, F8]:
        """Return the expected counts of word pairs, of words from NULL, and of positions."""
        word_pairs = np.zeros(len(self.lexical))
        null = np.zeros(self.text.vocabulary[1])
        positions = 0
        if self.model.factorial:
            positions = int(self._starts[-1])
        distortion = np.zeros(positions)
        blocks = readonly(self._blocks)
        scatter(self.text.kernel, self.posteriors, blocks, word_pairs, null, distortion)
        return word_pairs, null, distortion

    def _maximize_order(self, counts: Counts, distortion: F8 | None = None) -> None:
        """Estimate all but the lexical tables."""
        changed: dict[str, Any] = {
            "fertilities": models.estimate_fertilities(counts.fertilities, self._bands, SMOOTHING),
            "null_share": float((counts.null[1] + 0.5) / (counts.null.sum() + 1)),
        }
        if self.model.factorial:
            if distortion is None:
                distortion = self._scatter()[2]
            known = distortion, self._sizes, self._starts
            diagonal = models.estimate_diagonal(*known)
            changed["diagonal"] = diagonal
            changed["distortion"] = models.estimate_distortion(*known, diagonal, SMOOTHING)
        else:
            changed["first"] = models.estimate_first(counts.first, SMOOTHING)
            changed["rest"] = models.estimate_rest(counts.rest, SMOOTHING)
        self.model = replace(self.model, **changed)


def with_unseen_class(classes: I4) -> I4:
    """Append the class of unseen words: the most common class of the rarest tenth of words."""
    if not len(classes):
        return np.zeros(1, np.int32)
    tenth = max(1, len(classes) // 10)
    unseen = np.bincount(classes[-tenth:]).argmax()
    return np.append(classes, unseen).astype(np.int32)


def word_classes(ids: I4, offsets: I8, size: int, number: int = 50, *, rounds: int = 20) -> I4:
    """Assign words to classes that maximize the likelihood of the class bigrams of the text.

    The exchange algorithm, as in mkcls (Kneser & Ney 1993; Martin, Liermann & Ney 1998; Och
    1999): each word in turn goes to the class that raises the likelihood of the text most. At
    first, words of neighbouring numbers share a class; line boundaries have one of their own.
    """
    order = np.arange(size + 1, dtype=np.int64)
    classes = (order * number // max(size, 1)).astype(np.int32)
    if number > 1 and ids.size:
        counts = np.arange(1, 1 << 16, dtype=np.float64)
        small = np.concatenate([[0.0], counts * np.log(counts)])
        least = max(1, size // SETTLED)
        boundary = np.int32(size)
        lines = np.insert(ids, offsets[1:], boundary)
        stream = np.append(boundary, lines).astype(np.int32)
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
) -> tuple[models.Fertilities, FertileDecoder]:
    """Train the fertility model of the settings from the HMM's Viterbi alignments."""
    parts = workers.map(lambda _, begin, end: hmm.paths(begin, end), parts_of(bitext.starts))
    target_path, source_path = (np.concatenate(side) for side in zip(*parts, strict=True))
    forward_table, reverse_table = lexical_tables(hmm.tables, index)
    source = bitext.source
    target = bitext.target

    def text(given: Side, made: Side, owners: I4, *, transposed: bool) -> models.FertilityText:
        """Return the bitext in the direction in which the words given generate the words made."""
        kernel = KernelText(
            sources=readonly(given.ids),
            source_offsets=readonly(given.starts),
            targets=readonly(made.ids),
            target_offsets=readonly(made.starts),
            starts=readonly(bitext.starts),
            cells=readonly(index.cells),
            transposed=transposed,
        )
        return models.FertilityText(kernel, owners, (len(given.words), len(made.words)))

    classes = None
    mirrored = None
    if settings.model == "ibm4":
        classes = _classes_of(source), _classes_of(target)
        mirrored = classes[1], classes[0]
    options: dict[str, Any] = {
        "model": settings.model,
        "prior": prior,
        "discount": float(settings.collapsed and len(bitext) >= FEW),
        "threads": workers.threads,
    }
    forward = FertilityTraining(
        text(source, target, index.source, transposed=False),
        lexical=forward_table,
        null=hmm.tables.target_null,
        viterbi=target_path,
        classes=classes,
        **options,
    )
    reverse = FertilityTraining(
        text(target, source, index.columns, transposed=True),
        lexical=reverse_table,
        null=hmm.tables.source_null,
        viterbi=source_path,
        classes=mirrored,
        **options,
    )
    for number in range(1, settings.fertility + 1):
        _train_round(forward, reverse, settings, number, report)
    forward.finish()
    reverse.finish()
    learned = models.Fertilities(
        forward.model,
        reverse.model,
        forward.lexical,
        reverse.lexical,
        with_unseen(forward.null),
        with_unseen(reverse.null),
    )
    done = forward.posteriors, reverse.posteriors, forward.viterbi, reverse.viterbi
    return learned, FertileDecoder(hmm, learned, forward.lexical, reverse.lexical, done)


def _classes_of(side: Side) -> I4:
    """Return the class of each different word of a side."""
    size = len(side.words)
    return word_classes(side.ids, side.starts, size, min(CLASSES, size))


def _train_round(
    forward: FertilityTraining,
    reverse: FertilityTraining,
    settings: Settings,
    number: int,
    report: Callable[[Round], None],
) -> None:
    """Train both directions for a round; with `agree`, on the links that both expect."""
    report(Round(settings.model, number, forward.expect(), reverse.expect()))
    if not settings.agree:
        forward.maximize()
        reverse.maximize()
        return
    to = forward.posteriors
    back = reverse.posteriors
    links = to * back * (to + back) * np.float32(0.5)
    forward.maximize(links)
    reverse.maximize(links.copy())


Done = tuple[F4, F4, I4, I4]
"""The posteriors of both directions, and the counterpart of each target and source word, or -1."""


@dataclass(frozen=True, eq=False)
class FertileDecoder:
    """Posteriors and Viterbi alignments of a fertility model, with the interface of `Decoder`."""

    hmm: Decoder  # where the climbing begins
    known: models.Fertilities  # the tables
    forward: F4  # (K,) t(target word | source word), and t(source word | target word)
    reverse: F4
    done: Done | None = None  # of the bitext of training
    # of other bitexts: the numbers that training gave to the words
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
        for pair in range(begin, end):
            # the pair's places in the arrays of the pairs `begin:end`
            pair_sources = slice(*pairs.source_starts[pair : pair + 2] - sources.start)
            pair_targets = slice(*pairs.target_starts[pair : pair + 2] - targets.start)
            pair_cells = slice(*pairs.starts[pair : pair + 2] - cells.start)
            self._align(
                pair,
                forward[pair_cells],
                reverse[pair_cells],
                target_path[pair_targets],
                source_path[pair_sources],
            )
        return forward, reverse, target_path, source_path

    def _align(self, pair: int, forward: F4, reverse: F4, target: I4, source: I4) -> None:
        """Climb from the alignments of the HMM in both directions, and set all four arrays."""
        pairs = self.hmm.pairs
        known = self.known
        source_words = pairs.source[slice(*pairs.source_starts[pair : pair + 2])]
        target_words = pairs.target[slice(*pairs.target_starts[pair : pair + 2])]
        sources = self.source_numbers[source_words]
        targets = self.target_numbers[target_words]
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
        forward[:] = to.posteriors.ravel()
        reverse[:] = back.posteriors.T.ravel()
        target[:] = to.alignment
        source[:] = back.alignment
