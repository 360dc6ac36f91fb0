"""The training of IBM 3 and IBM 4, one direction at a time, from given alignments."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner import fertility_tables as tables
from alignkit.aligner.fertility import NO_COUNTS, SWEEPS, FertilityModel, FertilityText
from alignkit.aligner.fertility_corpus_kernel import Counts, count, expect, scatter
from alignkit.jit import readonly

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]
Floats = NDArray[np.float32]
Reals = NDArray[np.float64]

NULL_BASE = 1e-4  # added to the count of each word from NULL
FIRST_SHARE = 0.05  # NULL's share before anything is counted
SMOOTHING = 10.0  # weight of the shared tables in those of words and of positions


class FertilityResult(NamedTuple):
    """A trained direction and its alignments."""

    model: FertilityModel  # all tables but the lexical ones
    lexical: Floats  # t(target word | source word) of each place, shape (K,)
    null: Floats  # t(target word | NULL), shape (V,)
    viterbi: Ints  # the source word of each target word, -1 for NULL, shape (T,)
    posteriors: Floats
    scores: tuple[float, ...]


class FertilityTraining:
    """Train one direction round by round: `expect`, then `maximize`; at the end `finish`."""

    def __init__(
        self,
        text: FertilityText,
        *,
        model: str,
        lexical: Floats,
        null: Floats,
        viterbi: Ints,
        classes: tuple[Ints, Ints] | None,
        prior: Floats,
        discount: float = 0.0,
        threads: int = 1,
    ) -> None:
        # discount: how much of its own counts a pair does not see, 0 (plain EM) to 1
        self.text, self._discount, self._threads = text, discount, threads
        self._kernel_text = text.kernel()
        self._start, self.viterbi = viterbi, np.array(viterbi, np.int32)
        self._prior = prior
        self._ones = np.ones(text.vocabulary[0], np.float32)
        self._lexical, self._totals, self._null = lexical, self._ones, null
        self.posteriors = np.zeros(int(text.starts[-1]), np.float32)
        self.scores: list[float] = []
        occurrences = np.bincount(text.sources, minlength=text.vocabulary[0] + 1)
        self._bands = tables.frequency_bands(occurrences)
        self.model = self._first_model(model, classes)
        counts = self.model.zero_counts()
        count(self._kernel_text, self.model.kernel, self.viterbi, self.posteriors, counts)
        self._maximize_order(counts)

    def _first_model(self, model: str, classes: tuple[Ints, Ints] | None) -> FertilityModel:
        v = self.text.vocabulary
        fertilities = np.ones((v[0] + 1, tables.MOST + 1), np.float32)
        if model == "ibm3" or classes is None:
            lengths = np.diff(self.text.source_offsets), np.diff(self.text.target_offsets)
            self._sizes, self._starts, self._blocks = tables.blocks_of(np.stack(lengths, 1))
            source, target = (np.zeros(size + 1, np.int32) for size in v)
            return FertilityModel(
                model=model, null_share=FIRST_SHARE, fertilities=fertilities, sizes=self._sizes,
                source_classes=source, target_classes=target,
            )  # fmt: skip
        source, target = (with_unseen(one) for one in classes)
        a, b = int(source.max(initial=0)) + 1, int(target.max(initial=0)) + 1
        self._blocks = np.zeros(len(self.text), np.int64)
        return FertilityModel(
            model=model, null_share=FIRST_SHARE, fertilities=fertilities,
            first=np.ones((a + 1, b, 2 * tables.REACH + 1), np.float32),
            rest=np.ones((b, tables.REACH), np.float32),
            source_classes=source, target_classes=target,
        )  # fmt: skip

    def expect(self) -> float:
        """Align all pairs anew and count; return the sum of the scores of the alignments."""
        counted = [self.model.zero_counts() for _ in self.text.parts()]
        score = self._expect(counted, self.viterbi)
        self.counts = Counts(*(sum(each) for each in zip(*counted, strict=True)))
        self.scores.append(score)
        return score

    def maximize(self, posteriors: Floats | None = None) -> None:
        """Estimate all tables anew from what `expect` counted."""
        places, null, distortion = self._scatter()
        if posteriors is not None:
            self.posteriors = posteriors
            places = self._scatter()[0]
        self._lexical = places.astype(np.float32)
        totals = np.bincount(
            self.text.owners, places + self._prior, minlength=self.text.vocabulary[0]
        )
        self._totals = np.maximum(totals, 1e-7).astype(np.float32)
        null += NULL_BASE
        self._null = (null / null.sum()).astype(np.float32)
        self._maximize_order(self.counts, distortion)

    def finish(self) -> FertilityResult:
        """Align all pairs with the tables as they are, from the alignments given at the start."""
        self._lexical, self._null = self.lexical_tables()
        self._totals = self._ones
        viterbi = self._start.astype(np.int32)
        self.scores.append(self._expect(None, viterbi))
        return FertilityResult(
            self.model, self._lexical, self._null, viterbi, self.posteriors, tuple(self.scores)
        )

    def lexical_tables(self) -> tuple[Floats, Floats]:
        """Return t(target word | source word), shape (K,), and t(target word | NULL), (V,)."""
        lexical = (self._lexical + self._prior_now()) / self._totals[self.text.owners]
        return lexical.astype(np.float32), self._null

    def _prior_now(self) -> Floats:
        # tables of probabilities, not of counts, need none
        return np.zeros_like(self._prior) if self._totals is self._ones else self._prior

    def _expect(self, counted: Sequence[Counts] | None, viterbi: Ints) -> float:
        own = 0.0 if self._totals is self._ones else self._discount
        kernel = self.model.kernel._replace(
            lexical=readonly(self._lexical), prior=readonly(self._prior_now()),
            totals=readonly(self._totals), null=readonly(self._null),
            discount=own, blocks=readonly(self._blocks),
        )  # fmt: skip

        def run(part: int, low: int, high: int) -> float:
            counts = NO_COUNTS if counted is None else counted[part]
            return expect(
                low, high, self._kernel_text, kernel, SWEEPS,
                viterbi, self.posteriors, counted is not None, counts,
            )  # fmt: skip

        with ThreadPoolExecutor(self._threads) as pool:
            runs = [pool.submit(run, k, *part) for k, part in enumerate(self.text.parts())]
            return sum(each.result() for each in runs)

    def _scatter(self) -> tuple[Reals, Reals, Reals]:
        places, null = np.zeros(len(self._lexical)), np.zeros(self.text.vocabulary[1])
        distortion = np.zeros(int(self._starts[-1]) if self.model.factorial else 0)
        blocks = readonly(self._blocks)
        scatter(self._kernel_text, self.posteriors, blocks, places, null, distortion)
        return places, null, distortion

    def _maximize_order(self, counts: Counts, distortion: Reals | None = None) -> None:
        changed: dict[str, Any] = {
            "fertilities": tables.estimate_fertilities(counts.fertilities, self._bands, SMOOTHING),
            "null_share": float((counts.null[1] + 0.5) / (counts.null.sum() + 1)),
        }
        if self.model.factorial:
            if distortion is None:
                distortion = self._scatter()[2]
            diagonal = tables.estimate_diagonal(distortion, self._sizes, self._starts)
            changed["diagonal"] = diagonal
            changed["distortion"] = tables.estimate_distortion(
                distortion, self._sizes, self._starts, diagonal, SMOOTHING
            )
        else:
            changed["first"] = tables.estimate_first(counts.first, SMOOTHING)
            changed["rest"] = tables.estimate_rest(counts.rest, SMOOTHING)
        self.model = replace(self.model, **changed)


def with_unseen(classes: Ints) -> Ints:
    """Add the class of words never seen: the most common one of the tenth of the rarest words."""
    rarest = classes[-max(1, len(classes) // 10) :]
    unseen = np.bincount(rarest).argmax() if len(rarest) else 0
    return np.append(classes, unseen).astype(np.int32)
