"""Scores of systems that judge pairs: cross-validated, or on a test part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import F8, I8
from alignkit._support.keywords import takes_options
from alignkit._support.wording import how_many
from alignkit.agreement.intervals import draw_weights
from alignkit.corpora.labelled import judged_part, judges_of
from alignkit.errors import OptionError
from alignkit.identification.alignment_features import train_aligner
from alignkit.identification.features import PairTexts
from alignkit.identification.identifier import Identifier, cautions, text_notes
from alignkit.identification.labelled_pairs import (
    LabelledPairs,
    folds,
    pairs_to_learn_from,
    text_of,
)
from alignkit.identification.options import IdentifierOptions, TrainKeywords
from alignkit.identification.pair_model import fit_model
from alignkit.model.corpus import Corpus
from alignkit.model.labels import View
from alignkit.stats.clusters import mcnemar_clusters, share_interval
from alignkit.stats.defaults import CONFIDENCE, RESAMPLES
from alignkit.stats.resampling import interval_of
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import Result
from alignkit.tables.table import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

COMPARED = (("cosine",), ("overlap",), ("align",), ("overlap", "align"))
"""The feature sets that are compared."""
MAJORITY = "majority"
_BASELINE = "cosine"
_BINS = 10
_MEANINGS = {
    "macro F1": "mean F1 of the labels that occur",
    "AUC": "the probability that a pair with label 1 gets a larger probability than one with 0",
    "calibration error": "mean difference of probability and accuracy, in ten bins",
}


@dataclass(frozen=True, eq=False)
class SystemLabels:
    """What a system says of P pairs: places of labels, (P,), and probabilities, (P, K)."""

    name: str
    labels: I8
    probabilities: F8


@dataclass(frozen=True, eq=False)
class IdentifierScores(Result):
    """The labels that systems predict, and their scores if the pairs have labels.

    Returned by `cross_validate` and `evaluate`.

    Parameters
    ----------
    view : The labels.
    ids : The ids of the pairs.
    systems : The systems; the last one's labels are the predictions.
    gold : The pairs that somebody judged, with their labels and groups; None if nobody did.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.identification import cross_validate
    >>> from alignkit.model.labels import get_view
    >>> same = [f"the {k} cats sat down" for k in range(40)]
    >>> other = [f"the {k} cats sat" if k % 2 else f"rain in {k} towns" for k in range(40)]
    >>> corpus = Corpus.from_texts(same, other, judgments={"ann": ["0", "1"] * 20})
    >>> scores = cross_validate(corpus, get_view("binary"), [["cosine"]], count=4)
    >>> scores.ids[:2], [system.name for system in scores.systems]
    (('1', '2'), ['cosine'])
    """

    view: View
    ids: tuple[str, ...]
    systems: tuple[SystemLabels, ...]
    gold: LabelledPairs | None
    notes: tuple[str, ...] = ()
    signature: str = ""

    @property
    def predictions(self) -> dict[str, str]:
        """The label that the last system gives each pair, by id."""
        labels = self.systems[-1].labels.tolist()
        return {id: self.view.labels[k] for id, k in zip(self.ids, labels, strict=True)}

    @property
    def probabilities(self) -> dict[str, list[float]]:
        """The probabilities that the last system gives the labels of each pair, by id."""
        return dict(zip(self.ids, self.systems[-1].probabilities.tolist(), strict=True))

    @property
    def head(self) -> Sequence[str]:
        """What the last system gets right, next to the most frequent label."""
        name = self.systems[-1].name
        if self.gold is None:
            return (f"{how_many(len(self.ids), 'pair')} judged by {name}; no labels to compare",)
        rows: dict[object, Any] = {row["system"]: row for row in self._scores.to_records()}
        right = rows[name]["accuracy"]
        most = rows[MAJORITY]["accuracy"]
        line = (
            f"{name} is right on {right:.1%} of {how_many(len(self.gold.ids), 'pair')}, the "
            f"most frequent label on {most:.1%}"
        )
        return (line,)

    def tables(self) -> Sequence[Table]:
        """Return the number of predictions of each label, and the scores of the systems."""
        columns = [Column("label"), Column("judged", "count"), Column("predicted", "count")]
        tables = []
        judged = []
        if self.gold is not None:
            tables.append(self._scores)
            judged = self.gold.labels.tolist()
        predicted = self.systems[-1].labels.tolist()
        rows: list[list[Cell]] = []
        for k, label in enumerate(self.view.labels):
            rows.append([label, judged.count(k), predicted.count(k)])
        return [*tables, Table("Labels", columns, rows, anchor="labels")]

    @cached_property
    def _scores(self) -> Table:
        """The table of scores: of each system, and of the most frequent label."""
        gold = self.gold
        assert gold is not None
        names = ["macro F1", "weighted F1", "calibration error"]
        if len(self.view.labels) == 2:
            names = [f"F1 of {self.view.labels[1]}", "AUC", "calibration error"]
        columns = [Column("system"), Column("pairs", "count"), Column("accuracy", "percent")]
        columns += [Column(name, "percent", key=name.lower().replace(" ", "_")) for name in names]
        columns.append(Column("p", "p"))
        n = len(gold.ids)
        sizes = np.bincount(gold.groups)
        judged = self._on_judged_pairs(gold)
        right = {system.name: system.labels == gold.labels for system in judged}
        baseline = right.get(_BASELINE)
        rows: list[list[Cell]] = []
        for system in judged:
            is_right = right[system.name]
            bounds = share_interval(np.bincount(gold.groups, is_right).astype(np.int64), sizes)
            accuracy = Value(float(is_right.mean()), *bounds)
            measures = list(_measures(gold, system))
            p = nan
            if system.name == MAJORITY:
                measures[-1] = Value(nan)  # it has no calibration
            elif system.name != _BASELINE and baseline is not None:
                better = is_right.astype(np.int64) - baseline
                p = mcnemar_clusters(np.bincount(gold.groups, better).astype(np.int64))
            rows.append([system.name, n, accuracy, *measures, p])
        notes = [f"95% intervals: of accuracy, Wilson's; of the others, by {RESAMPLES} resamples"]
        notes += [f"{name}: {meaning}" for name, meaning in _MEANINGS.items() if name in names]
        if len(self.systems) > 1 and baseline is not None:
            notes.append(f"p: McNemar's exact test against {_BASELINE}")
        unit = "the pair"
        if len(sizes) < n:
            unit = f"the group ({len(sizes)} groups), since the pairs of a group are alike"
        notes.append(f"unit of intervals and tests: {unit}")
        return Table("", columns, rows, "; ".join(notes), "systems")

    def _on_judged_pairs(self, gold: LabelledPairs) -> list[SystemLabels]:
        """Return what each system says of the judged pairs, and a system of the commonest label."""
        place_of = {id: k for k, id in enumerate(self.ids)}
        judged = [place_of[id] for id in gold.ids]
        systems = []
        for system in self.systems:
            labels = system.labels[judged]
            systems.append(SystemLabels(system.name, labels, system.probabilities[judged]))
        n = len(judged)
        shares = np.bincount(gold.labels, minlength=len(self.view.labels)) / n
        commonest = np.full(n, shares.argmax())
        systems.append(SystemLabels(MAJORITY, commonest, np.tile(shares, (n, 1))))
        return systems


def _measures(gold: LabelledPairs, system: SystemLabels) -> Iterator[Value]:
    """Yield the measures of `_measure_of` with intervals by a bootstrap over groups."""
    groups = gold.groups
    measure = _measure_of(gold.labels, system)
    rng = np.random.default_rng(0)
    drawn = draw_weights(int(groups.max()) + 1, RESAMPLES, rng, width=4 * len(groups))
    resampled = np.hstack([measure(weights[:, groups]) for weights in drawn])
    exact = measure(np.ones((1, len(groups))))[:, 0]
    for value, row in zip(exact.tolist(), resampled, strict=True):
        interval = interval_of(row, CONFIDENCE)
        yield Value(value, interval.low, interval.high)


def _measure_of(gold: I8, system: SystemLabels) -> Callable[[F8], F8]:
    """Return a function of weights of pairs (B, P) that returns three measures, (3, B).

    They are F1 of label 1, AUC and calibration error for two labels, or else macro F1, weighted F1
    and calibration error. What does not depend on the weights is computed once.
    """
    pairs, classes = system.probabilities.shape
    every = np.arange(pairs)
    # the cell of each pair in the table of gold and predicted labels
    cells = np.zeros((pairs, classes * classes))
    cells[every, gold * classes + system.labels] = 1
    # how far the probability of each pair is off, in the column of its bin
    certain = system.probabilities.max(1)
    off = np.zeros((pairs, _BINS))
    bin_of = np.minimum((certain * _BINS).astype(int), _BINS - 1)
    off[every, bin_of] = certain - (system.probabilities.argmax(1) == gold)
    # the pairs by their probability of the last label, and where each other probability begins
    order = np.argsort(system.probabilities[:, -1], kind="stable")
    values = system.probabilities[order, -1]
    positive = gold[order] == 1
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))

    def measure(weights: F8) -> F8:
        """Return the measures for each row of weights."""
        confusion = (weights @ cells).reshape(-1, classes, classes)
        right = np.einsum("bkk->bk", confusion)
        total = weights.sum(1)
        support = confusion.sum(2)
        with np.errstate(invalid="ignore", divide="ignore"):
            f1 = 2 * right / (support + confusion.sum(1))  # NaN for labels that do not occur
            calibration = np.abs(weights @ off).sum(1) / total
            if classes > 2:
                weighted = np.nansum(f1 * support, 1) / total
                return np.stack((np.nanmean(f1, 1), weighted, calibration))
            # AUC: for each probability, its pairs of label 1 times those of label 0 with a lower
            # one, and half of those with the same
            ranked = weights[:, order]
            ones = np.add.reduceat(ranked * positive, starts, axis=1)
            zeros = np.add.reduceat(ranked * ~positive, starts, axis=1)
            below = np.cumsum(zeros, 1) - zeros / 2
            auc = (ones * below).sum(1) / (ones.sum(1) * zeros.sum(1))
        return np.stack((f1[:, 1], auc, calibration))

    return measure


@takes_options(IdentifierOptions, without=["features"])
def cross_validate(
    corpus: Corpus,
    view: View,
    systems: Sequence[Sequence[str]] = COMPARED,
    *,
    annotator: str | None = None,
    count: int = 10,
    inductive: bool = False,
    rewrites: bool = False,
    progress: Callable[[float], None] | None = None,
    **options: Unpack[TrainKeywords],
) -> IdentifierScores:
    """Judge each pair by systems that were trained on other pairs.

    Parameters
    ----------
    systems : The feature sets of each system.
    count : The number of folds; groups stay whole.
    inductive : Train the aligner on the texts of the training folds alone, too.
    progress : Called with the share of the folds that is done.
    **options : See `IdentifierOptions`.

    Raises
    ------
    OptionError : As `Identifier.train`.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.model.labels import get_view
    >>> same = [f"the {k} cats sat down" for k in range(40)]
    >>> other = [f"the {k} cats sat" if k % 2 else f"rain in {k} towns" for k in range(40)]
    >>> corpus = Corpus.from_texts(same, other, judgments={"ann": ["0", "1"] * 20})
    >>> scores = cross_validate(corpus, get_view("binary"), [["cosine"]], count=4)
    >>> len(scores.ids), scores.systems[0].name
    (40, 'cosine')
    """
    check_arguments(cross_validate, locals(), apart=("view", "options", "systems", "progress"))
    if not systems:
        raise OptionError("name one system or more")
    chosen = [IdentifierOptions(features=tuple(features), **options) for features in systems]
    first = chosen[0]
    pairs = pairs_to_learn_from(corpus, view, annotator, first.group, rewrites=rewrites)
    number = len(pairs.ids)
    shape = (number, len(view.labels))
    results = [SystemLabels(each.name, np.zeros(number, int), np.zeros(shape)) for each in chosen]
    aligns = any(each.aligns for each in chosen)
    aligner = None
    if aligns and not inductive:
        aligner = train_aligner(pairs.texts)
    texts = PairTexts(pairs.texts, aligner, first)
    divided = folds(pairs, np.arange(number), count, first.seed)
    for done, (train, test) in enumerate(divided):
        if progress is not None:
            progress(done / count)
        if aligns and inductive:
            aligner = train_aligner(pairs.texts[k] for k in train)
            texts = PairTexts(pairs.texts, aligner, first)
        for each, result in zip(chosen, results, strict=True):
            model = fit_model(texts, pairs, train, each)
            labels, probabilities = model.judge(texts)
            result.labels[test] = labels[test]
            result.probabilities[test] = probabilities[test]
    if not aligns:
        aligned = "none"
    elif inductive:
        aligned = "inductive"
    else:
        aligned = "transductive"
    settings = chosen[-1].of_system(view, aligned, {"folds": count})
    notes = tuple(cautions(pairs, aligns=aligns))
    return IdentifierScores(view, pairs.ids, tuple(results), pairs, notes, settings)


def evaluate(
    identifiers: Sequence[Identifier],
    corpus: Corpus,
    *,
    annotator: str | None = None,
    rewrites: bool = False,
) -> IdentifierScores:
    """Judge the pairs of a corpus, and score the labels if the corpus has judgments.

    Parameters
    ----------
    identifiers : The trained systems; the labels of the last one are the predictions.
    corpus : The pairs, with words.
    annotator : Whose judgments are right; needed if several judged pairs.
    rewrites : Include rewrites, with the labels that their writers intended.

    Raises
    ------
    OptionError : If the identifiers have different labels.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.identification import Identifier
    >>> from alignkit.model.labels import get_view
    >>> texts = [f"the {k} cats sat down" for k in range(40)]
    >>> others = [f"the {k} cats sat" if k % 2 else f"rain in {k} towns" for k in range(40)]
    >>> corpus = Corpus.from_texts(texts, others, judgments={"ann": ["0", "1"] * 20})
    >>> identifier = Identifier.train(corpus, get_view("binary"), features=["cosine"])
    >>> evaluate([identifier], Corpus.from_texts(["a dog barks"], ["dogs bark"])).ids
    ('1',)
    """
    check_arguments(evaluate, locals(), apart=("identifiers",))
    last = identifiers[-1]
    view = last.view
    if any(identifier.view != view for identifier in identifiers):
        raise OptionError("the systems have different labels: train them with the same view")
    systems = []
    for identifier in identifiers:
        _, labels, probabilities = identifier.judge(corpus)
        systems.append(SystemLabels(identifier.options.name, labels, probabilities))
    notes = list(last.notes)
    notes += text_notes(map(text_of, corpus), aligns=last.aligner is not None)
    trained = last.known(corpus)
    if trained:
        notes.append(f"{how_many(trained, 'pair')} trained the system: it judges them too well")
    gold = None
    judged, _, _ = judged_part(corpus, rewrites=rewrites)
    if judges_of(judged):
        group = last.options.group if last.options.group in corpus.attributes else None
        pairs = LabelledPairs.of(corpus, view, annotator, group, rewrites=rewrites)
        notes += pairs.notes
        if pairs.ids:
            gold = pairs
    return IdentifierScores(view, corpus.ids, tuple(systems), gold, tuple(notes), last.signature)
