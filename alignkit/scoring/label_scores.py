"""Score labels of pairs: precision, recall and F1 of each, accuracy, comparison of systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import combinations, compress
from math import nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, naming_keywords
from alignkit._support.keywords import takes_options
from alignkit._support.wording import how_many
from alignkit.corpora.labelled import judged_part, judgments_of
from alignkit.errors import OptionError
from alignkit.model.corpus import Corpus, group_texts, values_of
from alignkit.model.labels import Scheme, get_scheme, get_view
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring.profile import Profile
from alignkit.scoring.profile_tests import PhenomenonKeywords, ProfileOptions, profile_rows
from alignkit.stats.corrections import holm
from alignkit.stats.resampling import Counts, ratio
from alignkit.stats.shares import wilson_interval
from alignkit.stats.tests import alone_right, mcnemar
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import Result
from alignkit.tables.table import Table
from alignkit.version import __version__

if TYPE_CHECKING:
    from typing_extensions import Unpack

_FIT = 8  # maximum number of labels in the columns of a confusion table

_SHOWN = 10
_CONFUSION = "confusion-"


def _share(part: float, whole: float) -> float:
    """Return a share; NaN if there is nothing to share."""
    return part / whole if whole else nan


@dataclass(frozen=True)
class ClassScore:
    """The scores of a label or flag, from its counts in both, hypothesis and reference."""

    name: str
    right: int
    hypothesis: int
    support: int

    @property
    def precision(self) -> float:
        """The share of the hypothesis' labels that are right."""
        return _share(self.right, self.hypothesis)

    @property
    def recall(self) -> float:
        """The share of the reference's labels that are found."""
        return _share(self.right, self.support)

    @property
    def f1(self) -> float:
        """The harmonic mean; 0 if the label occurs but is never right."""
        return _share(2 * self.right, self.hypothesis + self.support)


@dataclass(frozen=True, eq=False)
class SystemScore:
    """The scores of a system: (K, K) confusion, reference by hypothesis, and flags."""

    name: str
    labels: tuple[str, ...]
    confusion: NDArray[np.int64]
    flags: tuple[ClassScore, ...] = ()
    common_pairs: int = 0
    common_right: int = 0

    @property
    def common_accuracy(self) -> float:
        """The accuracy on the pairs that all systems judged; NaN without pairs."""
        return _share(self.common_right, self.common_pairs)

    @property
    def pairs(self) -> int:
        """Number of scored pairs."""
        return int(self.confusion.sum())

    @property
    def right(self) -> int:
        """Number of pairs with the label of the reference."""
        return int(np.trace(self.confusion))

    @property
    def accuracy(self) -> float:
        """The share of pairs with the label of the reference; NaN without pairs."""
        return _share(self.right, self.pairs)

    @property
    def classes(self) -> list[ClassScore]:
        """The score of each label."""
        right = np.diag(self.confusion).tolist()
        hypothesis = self.confusion.sum(axis=0).tolist()
        support = self.confusion.sum(axis=1).tolist()
        return list(map(ClassScore, self.labels, right, hypothesis, support))

    @property
    def macro_f1(self) -> float:
        """The mean F1 over the labels that occur; NaN without labels."""
        known = [label.f1 for label in self.classes if label.hypothesis + label.support]
        return _share(sum(known), len(known))

    @property
    def weighted_f1(self) -> float:
        """The mean F1 over labels, weighted by their counts in the reference."""
        known = [label.f1 * label.support for label in self.classes if label.support]
        return _share(sum(known), self.pairs)


@dataclass(frozen=True)
class LabelComparison:
    """Numbers of pairs that only one of two systems has right, and McNemar's p."""

    system: str
    baseline: str
    pairs: int
    only_system: int
    only_baseline: int
    p_value: float
    holm: float


class WrongLabel(NamedTuple):
    """A pair with other labels of a view by a system than by the reference, and its texts."""

    id: str
    system: str
    reference: str
    predicted: str
    source: str
    target: str


@dataclass(frozen=True)
class LabelScores(Result):
    """The scores of systems against a reference, and their comparison.

    Returned by `score_labels`.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.scoring import score_labels
    >>> judged = {"gold": ["1", "1", "0", "0"], "a": ["1", "0", "0", "0"]}
    >>> corpus = Corpus.from_texts(["x"] * 4, ["y"] * 4, judgments=judged)
    >>> scores = score_labels(corpus, ["a"], "gold", scheme="binary")
    >>> scores.systems[0].name, scores.systems[0].accuracy
    ('a', 0.75)
    """

    systems: tuple[SystemScore, ...]
    comparisons: tuple[LabelComparison, ...] = ()
    notes: tuple[str, ...] = ()
    signature: str = ""
    rewrites_left_out: int = 0
    wrong: tuple[WrongLabel, ...] = ()

    def tables(self) -> Sequence[Table]:
        """Return the tables of systems, labels, confusions and comparisons."""
        tables = [self._overall(), self._classes()]
        tables += [self._confusion(k, system) for k, system in enumerate(self.systems)]
        if self.comparisons:
            tables.append(self._comparisons())
        return tables

    def shown_tables(self) -> Sequence[Table]:
        """Return the tables; a confusion that is too wide is cut to the most frequent cases."""
        if all(len(system.labels) <= _FIT for system in self.systems):
            return self.tables()
        kept = [table for table in self.tables() if not table.anchor.startswith(_CONFUSION)]
        kept[2:2] = [_frequent(self.systems)]
        return kept

    def page_tables(self) -> Sequence[Table]:
        """Return the tables with the most frequent confusions and the full ones."""
        overall, classes, *others = self.tables()
        return [overall, classes, _frequent(self.systems), *others]

    def _overall(self) -> Table:
        """Return a row for each system."""
        columns = [
            Column("system"),
            Column("pairs", "count"),
            Column("right", "count"),
            Column("accuracy", "percent"),
            Column("macro F1", "percent", key="macro_f1"),
            Column("weighted F1", "percent", key="weighted_f1"),
            Column("pairs", "count", "judged by all", key="common_pairs"),
            Column("accuracy", "percent", "judged by all", key="common_accuracy"),
        ]
        rows: list[list[Cell]] = []
        for system in self.systems:
            bounds = wilson_interval(system.right, system.pairs)
            common_bounds = wilson_interval(system.common_right, system.common_pairs)
            row: list[Cell] = [system.name, system.pairs, system.right]
            row += [Value(system.accuracy, *bounds), system.macro_f1, system.weighted_f1]
            row += [system.common_pairs, Value(system.common_accuracy, *common_bounds)]
            rows.append(row)
        note = (
            "accuracy: with Wilson's 95% interval; judged by all: by all systems and the reference"
        )
        return Table("", columns, rows, note, "systems")

    def _classes(self) -> Table:
        """Return a row for each label and flag of each system."""
        columns = [
            Column("system"),
            Column("label"),
            Column("precision", "percent"),
            Column("recall", "percent"),
            Column("F1", "percent", key="f1"),
            Column("hypothesis", "count"),
            Column("support", "count"),
        ]
        rows = list[list[Cell]]()
        apart = list[int]()
        for system in self.systems:
            apart.append(len(rows))
            flags = [replace(flag, name=f"flag {flag.name}") for flag in system.flags]
            for part in (*system.classes, *flags):
                ratios = part.precision, part.recall, part.f1
                rows.append([system.name, part.name, *ratios, part.hypothesis, part.support])
        return Table("Labels", columns, rows, anchor="labels", apart=apart[1:], stub=2)

    def _confusion(self, number: int, system: SystemScore) -> Table:
        """Return a row for each label of the reference, with the labels of a system."""
        labels = system.labels
        columns = [Column("reference")]
        columns += [Column(name, "count", system.name, key=f"label {name}") for name in labels]
        rows: list[list[Cell]] = [
            [name, *counts]
            for name, counts in zip(system.labels, system.confusion.tolist(), strict=True)
        ]
        return Table(f"Confusion of {system.name}", columns, rows, anchor=f"{_CONFUSION}{number}")

    def _comparisons(self) -> Table:
        """Return a row for every two systems."""
        columns = [
            Column("system"),
            Column("against", key="baseline"),
            Column("pairs", "count"),
            Column("system alone right", "count", key="only_system"),
            Column("other alone right", "count", key="only_baseline"),
            Column("p", "p"),
            Column("Holm", "p", key="holm"),
        ]
        rows = [astuple(comparison) for comparison in self.comparisons]
        note = "p: two-sided, McNemar's exact test; Holm: corrected for the pairs of systems"
        return Table("Do systems differ?", columns, rows, note, "comparisons", stub=2)


def _frequent(systems: Sequence[SystemScore]) -> Table:
    """Return the most frequent confusions of each system."""
    columns = [
        Column("system"),
        Column("reference"),
        Column("taken for", key="hypothesis"),
        Column("pairs", "count"),
        Column("of that label", "count", key="support"),
        Column("share", "percent"),
    ]
    rows = list[list[Cell]]()
    apart = list[int]()
    left = 0
    for system in systems:
        apart.append(len(rows))
        wrong = system.confusion.copy()
        np.fill_diagonal(wrong, 0)
        order = np.argsort(-wrong, axis=None, kind="stable")[: np.count_nonzero(wrong)]
        shown = order[:_SHOWN]
        left += len(order) - len(shown)
        for row, column in zip(*np.unravel_index(shown, wrong.shape), strict=True):
            number = int(wrong[row, column])
            support = int(system.confusion[row].sum())
            names = system.name, system.labels[row], system.labels[column]
            rows.append([*names, number, support, number / support])
    note = "share: of the pairs that have the label in the reference"
    if left:
        note += f"; {how_many(left, 'rarer confusion')} not shown"
    if any(len(system.labels) > _FIT for system in systems):
        note += "; all are in CSV, in JSON and on the page"
    return Table("Most frequent confusions", columns, rows, note, "confusions", apart[1:], stub=3)


@naming_keywords
def score_labels(
    corpus: Corpus,
    systems: Sequence[str],
    reference: str,
    *,
    scheme: str,
    view: str = "full",
    lenient_labels: bool = False,
    rewrites: bool = False,
    unflagged: Sequence[str] = (),
) -> LabelScores:
    """Score the judgments of systems against those of a reference.

    Parameters
    ----------
    corpus : The pairs with their judgments.
    systems : The annotators to score, each on the pairs that it and the reference judged.
    reference : The annotator with the correct judgments.
    scheme, view : See `alignkit.model.labels.get_view`; labels not in the view are left out and
        counted.
    lenient_labels : Leave out and count invalid judgments, instead of raising an error.
    rewrites : Include rewrites, which nobody judged.
    unflagged : The systems without flags; their flags are not scored.

    Raises
    ------
    UnknownNameError : If an annotator judged no pair, or the scheme or view is unknown.
    OptionError : If no system is named, or one twice.

    Examples
    --------
    >>> from alignkit import Annotation, SentencePair
    >>> corpus = Corpus(SentencePair(str(k), None, None, {
    ...     "gold": Annotation(None, judgment=gold), "a": Annotation(None, judgment=mine)})
    ...     for k, (gold, mine) in enumerate(["11", "10", "00", "00"]))
    >>> found = score_labels(corpus, ["a"], "gold", scheme="binary").systems[0]
    >>> found.accuracy, found.classes[1].recall
    (0.75, 0.5)
    """
    check_arguments(score_labels, locals())
    names = _names(systems, reference)
    seen = get_view(scheme, view)
    corpus, left_out, notes = judged_part(corpus, rewrites=rewrites)
    matrix = judgments_of(corpus, names, seen, lenient_labels=lenient_labels)
    gold = matrix.values[0]
    scores = list[SystemScore]()
    wrong = list[WrongLabel]()
    cautions = [*notes]
    common: NDArray[np.bool_] = np.all(matrix.values >= 0, axis=0)
    for name, values in zip(systems, matrix.values[1:], strict=True):
        both = (gold >= 0) & (values >= 0)
        confusion = np.zeros((len(seen.labels),) * 2, np.int64)
        np.add.at(confusion, (gold[both], values[both]), 1)
        for p in np.flatnonzero(both & (values != gold)).tolist():
            pair = corpus[p]
            label = seen.labels[gold[p]]
            predicted = seen.labels[values[p]]
            source = " ".join(pair.source or ())
            target = " ".join(pair.target or ())
            wrong.append(WrongLabel(pair.id, name, label, predicted, source, target))
        judged = compress(corpus, both)
        flags = tuple(_flags(get_scheme(scheme), judged, reference, name))
        if name in unflagged:
            flags = ()
        right = int((values == gold)[common].sum())
        scores.append(SystemScore(name, seen.labels, confusion, flags, int(common.sum()), right))
        left = len(both) - int(both.sum())
        if left:
            cautions.append(
                f"{name}: {how_many(left, 'pair')} of {len(both)} left out: not judged by it or by "
                f"{reference}, or not scored by the view"
            )
    if len({score.pairs for score in scores}) > 1:
        cautions.append(
            f"the systems judged different pairs: compare them on the {int(common.sum())} "
            "that all judged"
        )
    return LabelScores(
        systems=tuple(scores),
        comparisons=tuple(_compared(systems, gold, matrix.values[1:])),
        notes=tuple(cautions),
        signature=f"scheme:{scheme}|view:{view}|reference:{reference}|version:{__version__}",
        rewrites_left_out=left_out,
        wrong=tuple(wrong),
    )


def _names(systems: Sequence[str], reference: str) -> list[str]:
    """Return the reference and the systems; raise an error for no or repeated names."""
    names = [reference, *systems]
    if not systems or len(set(names)) < len(names):
        raise OptionError("name one or more systems, each once, and a different reference")
    return names


def _flags(
    scheme: Scheme, pairs: Iterable[SentencePair], reference: str, system: str
) -> Iterator[ClassScore]:
    """Yield the score of each flag of a scheme, on pairs that both judged."""
    right = Counter[str]()
    given = Counter[str]()
    support = Counter[str]()
    for pair in pairs:
        gold_flags = _flags_of(scheme, pair, reference)
        flags = _flags_of(scheme, pair, system)
        right.update(gold_flags & flags)
        given.update(flags)
        support.update(gold_flags)
    for flag in scheme.flags:
        name = flag.value
        yield ClassScore(name, right[name], given[name], support[name])


def _flags_of(scheme: Scheme, pair: SentencePair, name: str) -> set[str]:
    judgment = pair.annotations[name].judgment
    return set(scheme.parse(judgment).flags) if judgment else set()


def _compared(
    names: Sequence[str], gold: NDArray[np.int8], values: NDArray[np.int8]
) -> Iterator[LabelComparison]:
    """Yield the comparison of every two systems, on pairs that both and the reference judged."""
    rows = []
    for (system, first), (baseline, second) in combinations(zip(names, values, strict=True), 2):
        every = (gold >= 0) & (first >= 0) & (second >= 0)
        alone = alone_right((first == gold) & every, (second == gold) & every)
        p_value = mcnemar(alone.system, alone.baseline)
        pairs = int(every.sum())
        rows.append(
            LabelComparison(system, baseline, pairs, alone.system, alone.baseline, p_value, nan)
        )
    corrected = holm([row.p_value for row in rows])
    for row, p_value in zip(rows, corrected, strict=True):
        yield replace(row, holm=p_value)


@takes_options(ProfileOptions, without=["paired"])
def profile_labels(
    corpus: Corpus,
    systems: Sequence[str],
    reference: str,
    *,
    scheme: str,
    view: str = "full",
    lenient_labels: bool = False,
    rewrites: bool = False,
    split: str | None = ",",
    **options: Unpack[PhenomenonKeywords],
) -> Profile:
    """Profile the accuracy of systems' judgments by phenomenon.

    Two systems are compared by McNemar's exact test.

    Parameters
    ----------
    corpus, systems, reference : Only pairs that all these annotators judged are used.
    scheme, view, lenient_labels, rewrites : See `score_labels`.
    by, split : The attribute with the phenomena, and the separator of several phenomena in it.
    like, trials, resamples, confidence, alpha, seed : As in `profile_rows`.

    Raises
    ------
    UnknownNameError : If an annotator judged no pair, or the scheme, view or attribute is unknown.
    FormatError : If a judgment is not in the scheme.
    OptionError : If no system is named, or one twice, or no pair was judged by all.

    Examples
    --------
    >>> gold, guesses = ["0", "1"] * 4, ["0", "0"] * 4
    >>> corpus = Corpus.from_texts(gold, gold, judgments={"gold": gold, "a": guesses},
    ...                            attributes={"phenomena": ["idiom", "tense"] * 4})
    >>> profile = profile_labels(corpus, ["a"], "gold", scheme="binary")
    >>> [(part.phenomenon, part.value) for part in profile.parts]
    [('tense', 0.0), ('idiom', 1.0)]
    """
    check_arguments(profile_labels, locals())
    names = _names(systems, reference)
    corpus, left_out, cautions = judged_part(corpus, rewrites=rewrites)
    matrix = judgments_of(corpus, names, get_view(scheme, view), lenient_labels=lenient_labels)
    judged: NDArray[np.bool_] = np.all(matrix.values >= 0, axis=0)
    if not judged.any():
        raise OptionError(f"no scored pair was judged by all of {', '.join(names)}")
    kept = Corpus(compress(corpus, judged))
    texts = group_texts(kept, options.get("by", "phenomena"), [reference])
    groups = [values_of(text, split) for text in texts]
    values = matrix.values[:, judged]
    right = np.equal(values[1:], values[0])
    rows = np.stack([right, np.ones_like(right)], axis=2).astype(np.int64)
    named = dict(zip(systems, rows, strict=True))

    def accuracy(sums: Counts) -> dict[str, NDArray[np.float64]]:
        return {"accuracy": ratio(*np.asarray(sums, np.float64).T)}

    profile = profile_rows(named, groups, accuracy, "accuracy", paired="mcnemar", **options)
    notes = (*cautions, *profile.notes)
    left = len(corpus) - len(kept)
    if left:
        note = (
            f"{how_many(left, 'pair')} of {len(corpus)} left out: not judged by all, or not "
            "scored by the view"
        )
        notes = (note, *notes)
    used = np.unique(values[0]).tolist()
    by_label = {}
    if len(used) == 2:
        for label in used:
            counts: Counter[str] = Counter()
            for phenomena in compress(groups, values[0] == label):
                counts.update(set(phenomena))
            by_label[matrix.labels[label]] = [counts[name] for name in profile.measured.phenomena]
    signature = f"scheme:{scheme}|view:{view}|reference:{reference}|{profile.signature}"
    return replace(
        profile, notes=notes, signature=signature, rewrites_left_out=left_out, by_label=by_label
    )
