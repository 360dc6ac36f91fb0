"""The choice of how to refine, by cross-validation, and the measure of what it gains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from alignkit.align.expectation import Workers
from alignkit.align.settings import THRESHOLD
from alignkit.align.supervised.cells import NEIGHBOURS, GoldCounts, names_of, set_neighbours
from alignkit.align.supervised.fitting import (
    KINDS,
    FitKind,
    StackedModel,
    SupervisedRound,
    fit,
    probabilities_of,
)
from alignkit.align.supervised.gold import Gold
from alignkit.align.supervised.measures import GRID, best_of, calibration_error, rows_of

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]
I8 = NDArray[np.int64]
T = TypeVar("T")

FOLDS = 5
NETWORK_PAIRS = 30  # from how many pairs networks are tried


@dataclass(frozen=True, eq=False)
class Folds:
    """First rounds that each saw all pairs but those of a fold."""

    of: I8  # (P,) the fold of each pair
    firsts: tuple[SupervisedRound, ...]  # the first rounds, by fold


@dataclass(frozen=True, eq=False)
class Validated:
    """What cross-validation chose, and what it found."""

    kind: str  # how the rounds were fitted
    rounds: StackedModel  # those fitted to all pairs
    folds: Folds  # the first rounds by which the second learned
    threshold: float  # links are more probable than this
    losses: dict[str, float]  # the log-loss of a cell of each kind that was tried, in bits
    before: I8  # (P, 4): counts of each pair, of the aligner alone and refined, out of fold
    after: I8
    calibration: tuple[float, float]  # calibration error before and after


class _Learning:
    """Fits of rounds to parts of the gold pairs."""

    def __init__(
        self,
        gold: Gold,
        objective: str,
        prior: StackedModel,
        workers: Workers,
        lexical: bool = True,
        fold_of: I8 | None = None,
    ) -> None:
        self.gold, self.prior, self._workers, self._lexical = gold, prior, workers, lexical
        self.goals = gold.goals(objective)
        self.features = gold.cells.features
        self.counts = GoldCounts(gold.cells, self.goals)
        width = self.features.shape[1]
        vectors = width > len(names_of(vectors=False, second=True))
        self.names = names_of(vectors=vectors, second=True)
        if fold_of is None:
            order = np.random.default_rng(0).permutation(gold.different)
            of_group = np.empty(gold.different, np.int64)
            of_group[order] = np.arange(gold.different) % FOLDS
            fold_of = of_group[gold.groups]
        self.fold_of, self.cell_fold = fold_of, fold_of[gold.cells.pair_of]

    def each(self, function: Callable[[int], T], count: int) -> list[T]:
        """Return function(k) of all k from 0, in threads."""
        return self._workers.map(lambda k, _, __: function(k), [(0, 0)] * count)

    def told(self, without: Sequence[int]) -> F4:
        """Return the features (K, D) where the gold lexicon knows all folds but some."""
        features = self.features.copy()
        features[:, -len(NEIGHBOURS) :] = 0
        if self._lexical:
            self.counts.set_features(features, ~np.isin(self.fold_of, without))
        return features

    def first(
        self, kinds: Sequence[FitKind], features: F4, rows: NDArray[np.bool_]
    ) -> list[SupervisedRound]:
        """Fit the first round to some cells, in each of some ways."""
        return fit(
            kinds, self.prior.first, self.names, features[rows], self.goals[rows], second=False
        )

    def second(self, kind: FitKind, features: F4, rows: NDArray[np.bool_]) -> SupervisedRound:
        """Fit the second round to some cells."""
        prior = self.prior.second
        return fit([kind], prior, self.names, features[rows], self.goals[rows], second=True)[0]


def validate(
    gold: Gold,
    objective: str,
    prior: StackedModel,
    workers: Workers,
    *,
    kinds: Sequence[FitKind] = tuple(KINDS.values()),
    lexical: bool = True,
) -> Validated:
    """Choose a kind by the log-loss of cells out of fold, the threshold by the objective."""
    learning = _Learning(gold, objective, prior, workers, lexical)
    few = len(gold) < NETWORK_PAIRS
    tried = [kind for kind in kinds if not (few and kind.has_networks)]
    first, firsts = _first_out_of_fold(learning, tried)
    losses = [_log_loss(logits, learning.goals) for logits in first]
    best = losses.index(min(losses))
    kind = tried[best]
    refined = _second_out_of_fold(learning, kind, first[best])
    rounds = _final(learning, kind, first[best])
    grid = np.stack([rows_of(objective, gold, refined, threshold) for threshold in GRID])
    possible = bool((gold.levels == 1).any())
    after = np.empty((len(gold), 4), np.int64)
    for fold in range(FOLDS):
        inside = learning.fold_of == fold
        after[inside] = grid[best_of(objective, grid[:, ~inside], possible=possible), inside]
    threshold = float(GRID[best_of(objective, grid, possible=possible)])
    means, goals = gold.cells.features[:, 0], learning.goals
    return Validated(
        kind.name,
        rounds,
        Folds(learning.fold_of, tuple(each[best] for each in firsts)),
        threshold,
        dict(zip((kind.name for kind in tried), losses, strict=True)),
        rows_of(objective, gold, means, THRESHOLD),
        after,
        (calibration_error(goals, means), calibration_error(goals, refined)),
    )


def refit(
    gold: Gold,
    objective: str,
    prior: StackedModel,
    kind: str,
    workers: Workers,
    folds: Folds | None = None,
) -> tuple[StackedModel, Folds]:
    """Fit rounds of a known kind: by two fits if `folds` has first rounds, else by seven."""
    fold_of = None if folds is None else folds.of
    learning = _Learning(gold, objective, prior, workers, fold_of=fold_of)
    if folds is None:
        [first], firsts = _first_out_of_fold(learning, [KINDS[kind]])
        folds = Folds(learning.fold_of, tuple(each[0] for each in firsts))
    else:
        first = np.zeros(len(learning.goals))
        for fold, round in enumerate(folds.firsts):
            inside = learning.cell_fold == fold
            first[inside] = round.logits(learning.told([fold])[inside])
    return _final(learning, KINDS[kind], first), folds


def _first_out_of_fold(
    learning: _Learning, kinds: Sequence[FitKind]
) -> tuple[list[F8], list[list[SupervisedRound]]]:
    """Return the log odds (K,) of cells by first rounds of the other folds, and those rounds."""
    by_kind = [np.zeros(len(learning.goals)) for _ in kinds]

    def of(fold: int) -> list[SupervisedRound]:
        features = learning.told([fold])
        inside = learning.cell_fold == fold
        rounds = learning.first(kinds, features, ~inside)
        for round, logits in zip(rounds, by_kind, strict=True):
            logits[inside] = round.logits(features[inside])
        return rounds

    return by_kind, learning.each(of, FOLDS)


def _second_out_of_fold(learning: _Learning, kind: FitKind, first: F8) -> F4:
    """Return the probabilities (K,) by both rounds of the other folds.

    The second round of the folds but f learns from what the first says of fold g without f and g.
    """
    twos = list(combinations(range(FOLDS), 2))
    cells, cell_fold = learning.gold.cells, learning.cell_fold
    seen = {fold: first.copy() for fold in range(FOLDS)}

    def of_two(k: int) -> None:
        two = twos[k]
        features = learning.told(two)
        [round] = learning.first([kind], features, ~np.isin(cell_fold, two))
        for fold, kept_out in (two, two[::-1]):
            inside = cell_fold == fold
            seen[kept_out][inside] = round.logits(features[inside])

    learning.each(of_two, len(twos))
    refined = np.empty(len(first), np.float32)

    def of(fold: int) -> None:
        features = learning.told([fold])
        set_neighbours(cells, probabilities_of(seen[fold]), features)
        inside = cell_fold == fold
        round = learning.second(kind, features, ~inside)
        refined[inside] = probabilities_of(round.logits(features[inside]))

    learning.each(of, FOLDS)
    return refined


def _final(learning: _Learning, kind: FitKind, first: F8) -> StackedModel:
    features = learning.told([])
    everything = np.ones(len(features), bool)
    [first_round] = learning.first([kind], features, everything)
    set_neighbours(learning.gold.cells, probabilities_of(first), features)
    return StackedModel(first_round, learning.second(kind, features, everything))


def _log_loss(logits: F8, goals: F4) -> float:
    kept = goals >= 0
    z, y = logits[kept], goals[kept]
    loss = np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0) - y * z
    return round(float(loss.mean() / np.log(2)), 9) if len(loss) else 0.0
