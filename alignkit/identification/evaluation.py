"""Scores of systems that judge pairs: cross-validated, or on a test part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import F8, I8
from alignkit._support.wording import how_many
from alignkit.agreement.intervals import draw_weights
from alignkit.corpora.labelled import judged_part, judges_of
from alignkit.errors import OptionError
from alignkit.identification.features import PairTexts, train_aligner
from alignkit.identification.identifier import Identifier, cautions, fit_model, text_notes
from alignkit.identification.labelled_pairs import LabelledPairs, checked_group, folds, text_of
from alignkit.identification.options import IdentifierOptions
from alignkit.model.corpus import Corpus
from alignkit.model.labels import View
from alignkit.stats.clusters import mcnemar_clusters, share_interval
from alignkit.stats.resampling import interval_of
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import Result
from alignkit.tables.table import Table

COMPARED = (("cosine",), ("overlap",), ("align",), ("overlap", "align"))
"""The feature sets that are compared."""
MAJORITY = "majority"
_BASELINE = "cosine"
_BINS = 10
_RESAMPLES = 1000
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

    Parameters
    ----------
    view : The labels.
    ids : The ids of the pairs.
    systems : The systems; the last one's labels are the predictions.
    gold : The pairs that somebody judged, with their labels and groups; None if nobody did.
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
        right, most = (rows[each]["accuracy"] for each in (name, MAJORITY))
        return (
            (
                f"{name} is right on {right:.1%} of {how_many(len(self.gold.ids), 'pair')}, the "
                f"most frequent label on {most:.1%}"
            ),
        )

    def tables(self) -> Sequence[Table]:
        """Return the number of predictions of each label, and the scores of the systems."""
        columns = [Column("label"), Column("judged", "count"), Column("predicted", "count")]
        if self.gold is None:
            judged = []
        else:
            judged = self.gold.labels.tolist()
        predicted = self.systems[-1].labels.tolist()
        rows: list[list[Cell]] = [
            [label, judged.count(k), predicted.count(k)] for k, label in enumerate(self.view.labels)
        ]
        table = Table("Labels", columns, rows, anchor="labels")
        return [table] if self.gold is None else [self._scores, table]

    @cached_property
    def _scores(self) -> Table:
        assert self.gold is not None
        gold = self.gold.labels
        classes = len(self.view.labels)
        names = ["macro F1", "weighted F1", "calibration error"]
        if classes == 2:
            names[:2] = [f"F1 of {self.view.labels[1]}", "AUC"]
        columns = [
            Column("system"),
            Column("pairs", "count"),
            Column("accuracy", "percent"),
            *(Column(name, "percent", key=name.lower().replace(" ", "_")) for name in names),
            Column("p", "p"),
        ]
        place = {id: k for k, id in enumerate(self.ids)}
        kept = [place[id] for id in self.gold.ids]
        systems = [
            SystemLabels(x.name, x.labels[kept], x.probabilities[kept]) for x in self.systems
        ]
        right = {x.name: x.labels == gold for x in systems}
        n = len(gold)
        shares = np.bincount(gold, minlength=classes) / n
        always = np.full(n, shares.argmax())
        _, groups, sizes = np.unique(self.gold.groups, return_inverse=True, return_counts=True)
        groups = groups.reshape(-1)
        rows: list[list[Cell]] = []
        for each in (*systems, SystemLabels(MAJORITY, always, np.tile(shares, (n, 1)))):
            hits = each.labels == gold
            p = nan
            bounds = share_interval(np.bincount(groups, hits).astype(np.int64), sizes)
            values = [Value(float(hits.mean()), *bounds), *self._measures(each)]
            if each.name == MAJORITY:
                values[-1] = Value(nan)
            elif each.name != _BASELINE and _BASELINE in right:
                better = right[each.name].astype(np.int64) - right[_BASELINE]
                p = mcnemar_clusters(np.bincount(groups, better).astype(np.int64))
            rows.append([each.name, n, *values, p])
        notes = [
            f"95% intervals: of accuracy, Wilson's; of the others, by {_RESAMPLES} resamples",
            *(f"{name}: {said}" for name, said in _MEANINGS.items() if name in names),
        ]
        if len(right) > 1 and _BASELINE in right:
            notes.append(f"p: McNemar's exact test against {_BASELINE}")
        unit = "the pair"
        if len(sizes) < n:
            unit = f"the group ({len(sizes)} groups), since the pairs of a group are alike"
        notes.append(f"unit of intervals and tests: {unit}")
        return Table("", columns, rows, "; ".join(notes), "systems")

    def _measures(self, system: SystemLabels) -> Iterator[Value]:
        """Yield the measures with intervals by a bootstrap over groups."""
        assert self.gold is not None
        _, groups = np.unique(self.gold.groups, return_inverse=True)
        count = int(groups.max()) + 1
        rng = np.random.default_rng(0)
        measure = _measure_of(self.gold.labels, system)
        drawn = draw_weights(count, _RESAMPLES, rng, width=4 * len(groups))
        values = np.hstack([measure(weights[:, groups]) for weights in drawn])
        for exact, row in zip(
            measure(np.ones((1, len(groups))))[:, 0].tolist(), values, strict=True
        ):
            interval = interval_of(row, 0.95)
            yield Value(exact, interval.low, interval.high)


def _measure_of(gold: I8, system: SystemLabels) -> Callable[[F8], F8]:
    """Return a function of weights of pairs (B, P) that returns three measures, (3, B)."""
    pairs, classes = system.probabilities.shape
    cells = np.zeros((pairs, classes * classes))
    cells[np.arange(pairs), gold * classes + system.labels] = 1
    certain = system.probabilities.max(1)
    off = np.zeros((pairs, _BINS))
    of_bin = np.minimum((certain * _BINS).astype(int), _BINS - 1)
    off[np.arange(pairs), of_bin] = certain - (system.probabilities.argmax(1) == gold)
    order = np.argsort(system.probabilities[:, -1], kind="stable")
    values = system.probabilities[order, -1]
    positive = gold[order] == 1
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))

    def measure(weights: F8) -> F8:
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
            ranked = weights[:, order]
            ones, zeros = (
                np.add.reduceat(ranked * kept, starts, axis=1) for kept in (positive, ~positive)
            )
            below = np.cumsum(zeros, 1) - zeros / 2
            auc = (ones * below).sum(1) / (ones.sum(1) * zeros.sum(1))
        return np.stack((f1[:, 1], auc, calibration))

    return measure


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
    **options: Any,
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
    """
    check_arguments(cross_validate, locals(), apart=("view", "options", "systems", "progress"))
    if not systems:
        raise OptionError("name one system or more")
    hows = [IdentifierOptions(features=tuple(each), **options) for each in systems]
    group = checked_group(corpus, hows[0].group)
    pairs = LabelledPairs.of(corpus, view, annotator, group, rewrites=rewrites)
    pairs.check(view)
    shape = len(pairs.ids), len(view.labels)
    results = [SystemLabels(how.name, np.zeros(shape[0], int), np.zeros(shape)) for how in hows]
    aligns = any(how.aligns for how in hows)
    if aligns and not inductive:
        aligner = train_aligner(pairs.texts)
    else:
        aligner = None
    texts = PairTexts(pairs.texts, aligner, hows[0])
    for done, (train, test) in enumerate(folds(pairs, np.arange(shape[0]), count, hows[0].seed)):
        if progress is not None:
            progress(done / count)
        if aligns and inductive:
            aligner = train_aligner(pairs.texts[k] for k in train)
            texts = PairTexts(pairs.texts, aligner, hows[0])
        for how, result in zip(hows, results, strict=True):
            labels, probabilities = fit_model(texts, pairs, train, shape[1], how).judge(texts)
            result.labels[test], result.probabilities[test] = labels[test], probabilities[test]
    if not aligns:
        aligned = "none"
    elif inductive:
        aligned = "inductive"
    else:
        aligned = "transductive"
    settings = hows[-1].of_system(view, aligned, folds=count)
    notes = (*pairs.notes, *cautions(pairs, view, group, aligns=aligns))
    return IdentifierScores(view, pairs.ids, tuple(results), pairs, notes, settings)


def evaluate(
    identifiers: Sequence[Identifier],
    corpus: Corpus,
    *,
    annotator: str | None = None,
    rewrites: bool = False,
) -> IdentifierScores:
    """Judge the pairs of a corpus, and score the labels if the corpus has judgments.

    Raises
    ------
    OptionError : If the identifiers have different labels.
    """
    check_arguments(evaluate, locals(), apart=("identifiers",))
    first = identifiers[-1]
    view = first.view
    if any(each.view != view for each in identifiers):
        raise OptionError("the systems have different labels: train them with the same view")
    systems = tuple(SystemLabels(x.options.name, *x.judge(corpus)[1:]) for x in identifiers)
    gold = None
    notes = [*first.notes]
    notes += text_notes(map(text_of, corpus), aligns=first.aligner is not None)
    if trained := first.known(corpus):
        notes.append(f"{how_many(trained, 'pair')} trained the system: it judges them too well")
    if judges_of(judged_part(corpus, rewrites=rewrites)[0]):
        known = set()
        for pair in corpus:
            for name in pair.attributes:
                known.add(name)
        if first.options.group in known:
            group = first.options.group
        else:
            group = None
        gold = LabelledPairs.of(corpus, view, annotator, group, rewrites=rewrites)
        notes += gold.notes
        gold = gold if gold.ids else None
    return IdentifierScores(view, corpus.ids, systems, gold, tuple(notes), first.signature)
