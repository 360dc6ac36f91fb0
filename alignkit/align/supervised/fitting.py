"""Fit rounds to gold pairs, and choose the way to fit by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import B1, F4, F8, I8
from alignkit.align.evidence import STRONG_OF_CHANNEL, EvidenceSystem
from alignkit.align.expectation import Workers
from alignkit.align.supervised import learned
from alignkit.align.supervised import network_kernel as kernel
from alignkit.align.supervised.cells import NEIGHBOURS, STRONG, STRONG_SECOND, GoldCounts
from alignkit.align.supervised.gold import FOLDS, Gold
from alignkit.align.supervised.measures import (
    GRID,
    best_threshold,
    calibration_error,
    measure,
    rows_of,
)

NETWORK_PAIRS = 30  # from how many pairs networks are tried
SEEDS = 2
EPOCHS = 12
EPOCHS_OF_FEW = 24
FEW = 30_000
"""Number of passes of a network over all rows; more if an epoch has few rows."""
RATE = 3e-3  # the first step size of networks; it falls to 0
DECAY = 1e-4  # how much networks pull weights to 0
EASY = -6.0
THINNED = 8
"""Cells with lower log odds in the prior are not links; a network sees an eighth in each epoch."""
_MOST_STEPS = 40  # of Newton's method
_CLOSE = 1e-7  # Newton's method ends when no slope is above this for each row


def fit(
    kinds: Sequence[learned.FitKind],
    prior: learned.SupervisedRound,
    names: Sequence[str],
    features: F4,
    goals: F4,
    *,
    second: bool,
) -> list[learned.SupervisedRound]:
    """Fit a round in each of several ways."""
    kept = goals >= 0
    if not kept.all():
        features = features[kept]
        goals = goals[kept]
    wanted: tuple[str, ...] = STRONG
    if second:
        wanted += STRONG_SECOND
    is_strong = [name in wanted or name.endswith(STRONG_OF_CHANNEL) for name in names]
    fits = _Fits(prior, features, goals, np.flatnonzero(is_strong))
    return [fits.of(kind) for kind in kinds]


class _Fits:
    """Fits of a round to the same cells in several ways, with shared work."""

    def __init__(self, prior: learned.SupervisedRound, features: F4, goals: F4, strong: I8) -> None:
        self._prior = prior
        self._features = features
        self._goals = goals
        self._offset = prior.logits(features)
        self._columns = {"all": np.arange(features.shape[1]), "strong": strong}
        self._rows: dict[str, tuple[F4, F8, F8]] = {}  # see `_scaled`; by the columns' name
        self._linear: dict[tuple[str, float], learned.SupervisedRound] = {}

    def of(self, kind: learned.FitKind) -> learned.SupervisedRound:
        """Return the round fitted in one way."""
        if kind.features == "prior":
            return self._platt_scaled(kind.ridge)
        if kind.features == "network":
            return self._networks
        if kind.features == "both":
            return self._mean_of_both(kind.ridge)
        return self._weighed(kind.features, kind.ridge)

    def _platt_scaled(self, ridge: float) -> learned.SupervisedRound:
        """Return the prior with a factor and a bias, as in Platt scaling."""
        prior = self._prior
        column = self._offset[:, None].astype(np.float32)
        weights, bias = _regression(column, self._offset, self._goals, ridge)
        factor = 1 + weights[0]
        return learned.SupervisedRound(prior.weights * factor, prior.bias * factor + bias)

    def _mean_of_both(self, ridge: float) -> learned.SupervisedRound:
        """Return the mean of the log odds of all weighted features and of the networks."""
        linear = self._weighed("all", ridge)
        halves = []
        for network in self._networks.networks:
            half = network.second * np.float32(0.5)
            halves.append(learned.Layers(network.first, half))
        return learned.SupervisedRound(linear.weights / 2, linear.bias / 2, tuple(halves))

    def _weighed(self, columns_name: str, ridge: float) -> learned.SupervisedRound:
        """Return the prior with weights added to some columns."""
        known = self._linear.get((columns_name, ridge))
        if known is not None:
            return known
        columns = self._columns[columns_name]
        if columns_name not in self._rows:
            self._rows[columns_name] = _scaled(self._features, columns, len(columns))
        rows, mean, spread = self._rows[columns_name]
        slopes, bias = _regression(rows, self._offset, self._goals, ridge)
        # the weights of the columns themselves, which are not standardized
        weights = self._prior.weights.copy()
        weights[columns] += slopes / spread
        bias += self._prior.bias - float((slopes * mean / spread).sum())
        fitted = learned.SupervisedRound(weights, bias)
        self._linear[columns_name, ridge] = fitted
        return fitted

    @cached_property
    def _networks(self) -> learned.SupervisedRound:
        """Networks alone, of several seeds."""
        # frees memory: networks need rows of another width, and others are made again if needed
        self._rows.clear()
        width = self._features.shape[1]
        easy = self._offset < EASY
        # 1 to 4 columns are added: one for biases, and up to a multiple of 4, as kernels add up
        padded_width = width + 4 - width % 4
        rows, mean, spread = _scaled(self._features, np.arange(width), padded_width)
        rows[:, width] = 1
        networks = [_trained(rows, self._goals, easy, mean, spread, seed) for seed in range(SEEDS)]
        return learned.SupervisedRound(np.zeros(width), 0.0, tuple(networks))


def _scaled(features: F4, columns: I8, width: int) -> tuple[F4, F8, F8]:
    """Return standardized columns as rows (C, width), padded with zeros; mean and spread (n,)."""
    mean = np.empty(features.shape[1])
    spread = np.empty(features.shape[1])
    kernel.set_scale(features, mean, spread)
    rows = np.zeros((len(features), width), np.float32)
    mean = mean[columns]
    spread = spread[columns]
    kernel.standardize(features, columns, mean, spread, rows)
    return rows, mean, spread


def _regression(rows: F4, offset: F8, goals: F4, ridge: float) -> tuple[F8, float]:
    """Return weights (n,) and bias of a logistic regression that adds to given log odds.

    It minimizes the log-loss and a penalty on squared weights by Newton's method: a step is the
    solution of (matrix of second derivatives) step = gradient. Making this matrix takes most of
    the time, so it is used again as long as full steps shrink the gradient tenfold. The line
    search halves a step until the loss does not rise: far from the minimum a full step can
    overshoot.
    """
    width = rows.shape[1]
    penalty = np.append(np.full(width, float(ridge)), 1e-3)
    weights = np.zeros(width + 1)
    variances = np.empty(len(rows))  # p (1 - p) of each row
    gradient = np.empty(width + 1)
    next_gradient = np.empty(width + 1)
    matrix = np.empty((width + 1, width + 1))
    matrix_is_current = False
    loss = kernel.slope(rows, offset, goals, penalty, weights, gradient, variances)
    for _ in range(_MOST_STEPS):
        steepest = np.abs(gradient).max()
        if steepest <= _CLOSE * (1 + len(rows)):
            break
        if not matrix_is_current:
            kernel.curvature(rows, variances, penalty, matrix)
            matrix_is_current = True
        step = gradient.copy()
        kernel.solve(matrix.copy(), step)
        scale = 1.0
        while True:
            trial = weights - scale * step
            logits = offset.copy()
            kernel.linear_logits(rows, trial[:-1], float(trial[-1]), logits)
            trial_loss = kernel.slope(rows, logits, goals, penalty, trial, next_gradient, variances)
            if trial_loss <= loss + 1e-9 * abs(loss) or scale < 1e-4:
                break
            scale /= 2
        if scale < 1 or np.abs(next_gradient).max() > 0.1 * steepest:
            matrix_is_current = False
        weights = trial
        loss = trial_loss
        gradient, next_gradient = next_gradient, gradient
    return weights[:-1], float(weights[-1])


def _trained(rows: F4, goals: F4, easy: B1, mean: F8, spread: F8, seed: int) -> learned.Layers:
    """Return a network; each epoch sees an eighth of the easy rows, weighted by eight.

    It learns from standardized rows; the network that is returned takes the features themselves,
    whose mean and spread are given.
    """
    scale = np.where(easy, np.float32(THINNED), np.float32(1))
    hard = np.flatnonzero(~easy)
    others = np.flatnonzero(easy)
    rng = np.random.default_rng(seed)
    width = len(mean)
    blocks = -(-rows.shape[1] // kernel.LANES)  # rounded up
    first = np.zeros((kernel.HIDDEN, blocks * kernel.LANES), np.float32)
    first[:, :width] = rng.normal(0, np.sqrt(2 / width), (width, kernel.HIDDEN)).T
    second = np.zeros(kernel.HIDDEN + 1, np.float32)
    second[:-1] = rng.normal(0, np.sqrt(1 / kernel.HIDDEN), kernel.HIDDEN)
    layers = [
        kernel.TrainedLayer(weights, np.zeros_like(weights), np.zeros_like(weights))
        for weights in (first, second)
    ]
    step = 0
    if len(hard) + len(others) // THINNED < FEW:
        epochs = EPOCHS_OF_FEW
    else:
        epochs = EPOCHS
    for epoch in range(epochs):
        some_easy = others[epoch % THINNED :: THINNED]
        order = rng.permutation(np.concatenate([hard, some_easy]))
        rate = RATE * (1 - epoch / epochs)
        step = kernel.train_epoch(rows, goals, scale, order, rate, DECAY, step, *layers)
    # w (x - mean) / spread + b = (w / spread) x + (b - mean w / spread), for features x
    trained = first[:, : width + 1].T
    layer = np.array(trained, np.float64, order="C")  # (n + 1, 24), for features as they are
    weights = layer[:-1]
    biases = layer[-1]
    weights /= spread[:, None]
    biases -= (mean[:, None] * weights).sum(axis=0)
    return learned.Layers(layer.astype(np.float32), second)


@dataclass(frozen=True, eq=False)
class Folds:
    """First rounds, each fitted without the pairs of one fold."""

    of: I8  # (P,) the fold of each pair
    firsts: tuple[learned.SupervisedRound, ...]  # the first rounds, by fold


class Candidate(NamedTuple):
    """A way to align the gold pairs; what was learned from pairs is that of other folds."""

    kind: str  # one of KINDS, aligner, without, vote or system:NAME
    probabilities: F4  # (K,) of the cells
    rows: I8  # (P, 4) the counts of each pair
    thresholds: F8  # (FOLDS + 1,) of the pairs of each fold, and of new pairs; see `threshold`
    calibration: float  # calibration error

    @classmethod
    def of(cls, gold: Gold, kind: str, probabilities: F4, thresholds: F8, fold_of: I8) -> Candidate:
        """Count the links of each pair by the threshold of its fold."""
        rows = np.empty((len(gold), 4), np.int64)
        for fold in range(FOLDS):
            inside = fold_of == fold
            rows[inside] = rows_of(gold, probabilities, thresholds[fold])[inside]
        error = calibration_error(gold.goals, probabilities)
        return cls(kind, probabilities, rows, thresholds, error)

    @property
    def threshold(self) -> float:
        """Of new pairs: links are more probable than this."""
        return float(self.thresholds[-1])


@dataclass(frozen=True, eq=False)
class Validated:
    """The choice and the results of cross-validation."""

    kind: str  # how the rounds were fitted
    rounds: learned.StackedModel  # those fitted to all pairs
    folds: Folds  # the first rounds by which the second learned
    losses: dict[str, float]  # the log-loss of a cell of each kind that was tried, in bits
    before: Candidate  # the aligner alone
    after: Candidate  # the refinement


class _Learning:
    """The fits of rounds to parts of the gold pairs."""

    def __init__(
        self,
        gold: Gold,
        prior: learned.StackedModel,
        workers: Workers,
        lexical: bool = True,
        fold_of: I8 | None = None,
    ) -> None:
        self.gold = gold
        self.prior = prior
        self.workers = workers
        self._lexical = lexical
        self.counts = GoldCounts(gold.cells, gold.goals)
        if fold_of is None:
            fold_of = _random_folds(gold)
        self.fold_of = fold_of  # (P,)
        self.cell_fold = fold_of[gold.cells.pair_of]  # (K,)

    def features_without(self, folds: Sequence[int]) -> F4:
        """Return the features (K, D) with a gold lexicon without these folds."""
        features = self.gold.cells.features.copy()
        features[:, -len(NEIGHBOURS) :] = 0
        if self._lexical:
            self.counts.set_features(features, ~np.isin(self.fold_of, folds))
        return features

    def fit(
        self, kinds: Sequence[learned.FitKind], features: F4, rows: B1, *, second: bool
    ) -> list[learned.SupervisedRound]:
        """Fit the first or the second round to some cells, in each of several ways."""
        prior = self.prior.second if second else self.prior.first
        goals = self.gold.goals[rows]
        return fit(kinds, prior, self.gold.names, features[rows], goals, second=second)


def _random_folds(gold: Gold) -> I8:
    """Return folds (P,) for the pairs; copies of a pair are in the same fold."""
    order = np.random.default_rng(0).permutation(gold.different)
    fold_of_group = np.empty(gold.different, np.int64)
    fold_of_group[order] = np.arange(gold.different) % FOLDS
    return fold_of_group[gold.groups]


def validate(
    gold: Gold,
    prior: learned.StackedModel,
    workers: Workers,
    *,
    before: float,
    kinds: Sequence[learned.FitKind] = tuple(learned.KINDS.values()),
    lexical: bool = True,
) -> Validated:
    """Choose a kind by the log-loss of cells out of fold, the threshold by the objective."""
    learning = _Learning(gold, prior, workers, lexical)
    if len(gold) < NETWORK_PAIRS:
        kinds = [kind for kind in kinds if not kind.has_networks]
    logits_by_kind, rounds_by_fold = _first_out_of_fold(learning, kinds)
    goals = gold.goals
    kept = goals >= 0
    losses = [_log_loss(logits[kept], goals[kept]) for logits in logits_by_kind]
    chosen = losses.index(min(losses))
    kind = kinds[chosen]
    first_logits = logits_by_kind[chosen]
    firsts = tuple(rounds_of_kinds[chosen] for rounds_of_kinds in rounds_by_fold)
    refined = _second_out_of_fold(learning, kind, first_logits)
    rounds = _final(learning, kind, first_logits)
    unrefined = np.full(FOLDS + 1, before)
    means = gold.cells.probabilities
    return Validated(
        kind=kind.name,
        rounds=rounds,
        folds=Folds(learning.fold_of, firsts),
        losses={kind.name: loss for kind, loss in zip(kinds, losses, strict=True)},
        before=Candidate.of(gold, learned.ALIGNER, means, unrefined, learning.fold_of),
        after=by_threshold(gold, kind.name, refined, learning.fold_of),
    )


def by_threshold(gold: Gold, kind: str, probabilities: F4, fold_of: I8) -> Candidate:
    """Return a candidate with the best threshold, for each fold the best of the other folds."""
    grid = np.stack([rows_of(gold, probabilities, threshold) for threshold in GRID])
    possible = bool((gold.levels == 1).any())
    thresholds = np.empty(FOLDS + 1)
    for fold in range(FOLDS + 1):  # the last is none: all pairs are in other folds
        elsewhere = grid[:, fold_of != fold]
        thresholds[fold] = GRID[best_threshold(gold.objective, elsewhere, possible=possible)]
    return Candidate.of(gold, kind, probabilities, thresholds, fold_of)


def mean_of(gold: Gold, weight: float, after: Candidate, base: Candidate, fold_of: I8) -> Candidate:
    """Return the mean of the log odds of two candidates, and of those of their thresholds."""
    both = after.probabilities, base.probabilities
    probabilities = learned.mean_of_log_odds(weight, *both, base.kind)
    thresholds = learned.mean_of_log_odds(weight, after.thresholds, base.thresholds)
    return Candidate.of(gold, after.kind, probabilities, thresholds.astype(np.float64), fold_of)


def rivals_of(
    gold: Gold, systems: Sequence[EvidenceSystem], plain: Candidate, fold_of: I8
) -> Iterator[Candidate]:
    """Yield each system and the vote; `plain` is what aligns pairs that lack a system."""
    kinds = [learned.SYSTEM + system.name for system in systems]
    for kind in [*kinds, learned.VOTE]:
        shares = learned.shares_by(kind, systems, gold.cells)
        rival = by_threshold(gold, kind, shares, fold_of)
        rival.rows[gold.lacking] = plain.rows[gold.lacking]
        yield rival


def best_of(objective: str, rivals: Sequence[Candidate]) -> Candidate:
    """Return the best rival on all pairs, the first of equals."""
    sums = np.stack([rival.rows.sum(axis=0) for rival in rivals])
    return rivals[int(measure(objective, sums).argmax())]


def refit(
    gold: Gold,
    prior: learned.StackedModel,
    kind: str,
    workers: Workers,
    folds: Folds | None = None,
) -> tuple[learned.StackedModel, Folds]:
    """Fit both rounds of a known kind; before, unless `folds` are given, a first round for each."""
    if folds is None:
        learning = _Learning(gold, prior, workers)
        [first_logits], rounds_by_fold = _first_out_of_fold(learning, [learned.KINDS[kind]])
        folds = Folds(learning.fold_of, tuple(round for [round] in rounds_by_fold))
    else:
        learning = _Learning(gold, prior, workers, fold_of=folds.of)
        first_logits = np.zeros(len(gold.goals))
        for fold, round in enumerate(folds.firsts):
            inside = learning.cell_fold == fold
            features = learning.features_without([fold])
            first_logits[inside] = round.logits(features[inside])
    return _final(learning, learned.KINDS[kind], first_logits), folds


def _first_out_of_fold(
    learning: _Learning, kinds: Sequence[learned.FitKind]
) -> tuple[list[F8], list[list[learned.SupervisedRound]]]:
    """Return the log odds (K,) of cells by the first rounds of other folds, and these rounds."""
    by_kind = [np.zeros(len(learning.gold.goals)) for _ in kinds]

    def without(fold: int) -> list[learned.SupervisedRound]:
        features = learning.features_without([fold])
        inside = learning.cell_fold == fold
        rounds = learning.fit(kinds, features, ~inside, second=False)
        for round, logits in zip(rounds, by_kind, strict=True):
            logits[inside] = round.logits(features[inside])
        return rounds

    return by_kind, learning.workers.each(without, FOLDS)


def _second_out_of_fold(learning: _Learning, kind: learned.FitKind, first_logits: F8) -> F4:
    """Return the probabilities (K,) of cells by both rounds of the other folds.

    To test on fold f, neither round may have seen it. The second round learns from what the first
    says of each other fold g, so that first round must not have seen g either: one is fitted for
    each two folds. `first_logits` (K,) is what each first round says of the fold it has not seen.
    """
    twos = list(combinations(range(FOLDS), 2))
    cells = learning.gold.cells
    cell_fold = learning.cell_fold
    # by fold f: what first rounds without f say of all cells
    logits_without = {fold: first_logits.copy() for fold in range(FOLDS)}

    def first_without(k: int) -> None:
        lower, upper = twos[k]
        in_lower = cell_fold == lower
        in_upper = cell_fold == upper
        features = learning.features_without(twos[k])
        [round] = learning.fit([kind], features, ~(in_lower | in_upper), second=False)
        # this round saw neither fold: for the test on one of them, it says what is in the other
        logits_without[upper][in_lower] = round.logits(features[in_lower])
        logits_without[lower][in_upper] = round.logits(features[in_upper])

    learning.workers.each(first_without, len(twos))
    refined = np.empty(len(first_logits), np.float32)

    def second_without(fold: int) -> None:
        features = learning.features_without([fold])
        cells.set_neighbours(learned.probabilities_of(logits_without[fold]), features)
        inside = cell_fold == fold
        [round] = learning.fit([kind], features, ~inside, second=True)
        refined[inside] = learned.probabilities_of(round.logits(features[inside]))

    learning.workers.each(second_without, FOLDS)
    return refined


def _final(learning: _Learning, kind: learned.FitKind, first_logits: F8) -> learned.StackedModel:
    """Return both rounds fitted to all pairs; the second learns from first rounds out of fold."""
    features = learning.features_without([])
    all_rows = np.ones(len(features), bool)
    [first_round] = learning.fit([kind], features, all_rows, second=False)
    learning.gold.cells.set_neighbours(learned.probabilities_of(first_logits), features)
    [second_round] = learning.fit([kind], features, all_rows, second=True)
    return learned.StackedModel(first_round, second_round)


def _log_loss(logits: F8, goals: F4) -> float:
    """Return the mean log-loss of cells in bits; 0 if there are none."""
    if not len(logits):
        return 0.0
    # log(1 + exp(z)) - goal z, so that nothing overflows
    loss = np.log1p(np.exp(-np.abs(logits))) + np.maximum(logits, 0) - goals * logits
    return round(float(loss.mean() / np.log(2)), 9)
