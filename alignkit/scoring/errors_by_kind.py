"""The errors of a system by kinds of links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, check_known, naming_keywords
from alignkit._support.values import FrozenMap
from alignkit._support.wording import how_many, overlapping
from alignkit.errors import OptionError, UnknownNameError
from alignkit.model.corpus import Corpus
from alignkit.scoring.class_counts import COLUMNS, ClassCounts, count_by_class, in_order
from alignkit.scoring.counts import Rows
from alignkit.scoring.link_classes import (
    NULL_KIND,
    STATUSES,
    Frequencies,
    FunctionWords,
    called,
    explained,
)
from alignkit.scoring.link_classifier import ALL_LINKS, BY_LINK, TAGS, WHOLE, LinkClassifier
from alignkit.scoring.profile import bounded
from alignkit.scoring.ranking import FEW_HOLD
from alignkit.scoring.result import bounded_value
from alignkit.stats import resampling
from alignkit.stats.defaults import CONFIDENCE, RESAMPLES, SEED
from alignkit.stats.resampling import FEW_PAIRS, Counts, Interval
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import Result
from alignkit.tables.table import Table
from alignkit.version import __version__

_UNITS = {"precision": COLUMNS.index("hypothesis"), "recall": COLUMNS.index("reference")}
"""The column of counts whose pairs are the units of an interval."""


def ratios(sums: Counts) -> dict[str, NDArray[np.float64]]:
    """Return precision and recall of (R, 5) sums of counts; NaN for 0/0."""
    hypothesis, right, reference, recalled, _ = np.asarray(sums).T
    return {
        "precision": resampling.ratio(right, hypothesis),
        "recall": resampling.ratio(recalled, reference),
    }


def _ratios_of_one(sums: Rows) -> dict[str, float]:
    """Return precision and recall of one row of sums, (5,)."""
    return {key: float(of_row[0]) for key, of_row in ratios(sums[None]).items()}


class Gap(NamedTuple):
    """Precision or recall of all other links, and the difference of a class from it."""

    others: float
    value: float
    interval: Interval


_GAPS = {"precision": "gap of precision", "recall": "gap of recall"}


def _with_gaps(sums: Counts) -> dict[str, NDArray[np.float64]]:
    """Return the ratios of a class, and by `_GAPS` their gaps to those of all other links.

    `sums` are (R, 10): the counts of the class, then those of the others.
    """
    of_class, of_others = map(ratios, np.hsplit(np.asarray(sums, np.float64), 2))
    values = dict(of_class)
    for key, gap in _GAPS.items():
        values[gap] = of_class[key] - of_others[key]
    return values


@dataclass(frozen=True)
class ClassErrors:
    """The counts of a class of links, with precision and recall.

    Part of `LinkErrors.classes`.

    Parameters
    ----------
    by, name : The way to classify links, and the class.
    hypothesis, right : Links of the system in the class, and how many of them the reference has.
    reference, recalled : Links of the reference in the class, and how many of them the system has.
    sure_as_possible : How many of `right` are only possible in the reference.
    precision, recall : `right` / `hypothesis` and `recalled` / `reference`; NaN for 0/0.
    pairs : The number of sentence pairs with links of the class, of the system or the reference.
    units : By ``"precision"`` and ``"recall"``, the number of pairs with the links behind it.
    intervals : The intervals of both.
    gaps : By ``"precision"`` and ``"recall"``, the difference between the class and all other
        links; empty if it is not a class of links.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.scoring import link_errors
    >>> corpus = Corpus.from_texts(["a b"], ["a c"], gold=["0-0 1-1"], system=["0-0 1-0"])
    >>> words = link_errors(corpus, "system", "gold", by_link=["word"]).classes[0]
    >>> words.name, words.hypothesis, words.right, words.precision
    ('all links', 2, 1, 0.5)
    """

    by: str
    name: str
    hypothesis: int
    right: int
    reference: int
    recalled: int
    sure_as_possible: int
    precision: float
    recall: float
    pairs: int
    units: Mapping[str, int]
    intervals: Mapping[str, Interval]
    gaps: Mapping[str, Gap] = FrozenMap()

    @classmethod
    def of(
        cls, by: str, name: str, rows: Rows, bootstrap: Mapping[str, Any], whole: Rows | None = None
    ) -> ClassErrors:
        """Make the errors from (P, 5) counts.

        `bootstrap` has the settings of the intervals, `whole` the counts of all links; None: the
        class is not compared with other links.
        """
        sums = rows.sum(axis=0)
        counts = dict(zip(COLUMNS, sums.tolist(), strict=True))
        values = _ratios_of_one(sums)
        units = {key: int(np.count_nonzero(rows[:, k])) for key, k in _UNITS.items()}
        in_any = rows[:, list(_UNITS.values())].any(axis=1)
        gaps: dict[str, Gap] = {}
        if whole is None:
            bounds = resampling.confidence_interval(rows, ratios, **bootstrap)
        else:
            other_rows = whole - rows
            both = np.hstack([rows, other_rows])
            bounds = resampling.confidence_interval(both, _with_gaps, **bootstrap)
            others = _ratios_of_one(other_rows.sum(axis=0))
            for key, gap in _GAPS.items():
                gaps[key] = Gap(others[key], values[key] - others[key], bounds[gap])
        return cls(
            by=by,
            name=name,
            **counts,
            precision=values["precision"],
            recall=values["recall"],
            pairs=int(np.count_nonzero(in_any)),
            units=FrozenMap(units),
            intervals={key: bounds[key] for key in values},
            gaps=FrozenMap(gaps),
        )

    @property
    def wrong(self) -> int:
        """Number of links of the system that are not in the reference."""
        return self.hypothesis - self.right

    @property
    def missed(self) -> int:
        """Number of links of the reference that are not in the system."""
        return self.reference - self.recalled

    def value(self, name: str) -> Cell:
        """Return precision or recall with its bounds."""
        return bounded_value(getattr(self, name), self.intervals[name])

    def row(self) -> list[Cell]:
        """Return what stands in the row of the class."""
        return [
            self.name,
            self.pairs,
            self.hypothesis,
            self.right,
            self.wrong,
            self.sure_as_possible,
            self.value("precision"),
            self.reference,
            self.recalled,
            self.missed,
            self.value("recall"),
        ]


class _Fault(NamedTuple):
    """The errors that lower precision or recall: the names of two counts of `ClassErrors`."""

    errors: str  # the number of errors, also its name in sentences
    links: str  # the number of links that these are among

    def number(self, of_class: ClassErrors) -> int:
        """Return the number of errors of a class."""
        return int(getattr(of_class, self.errors))

    def share(self, of_class: ClassErrors) -> str:
        """Return the text "number of number"."""
        return f"{self.number(of_class)} of {getattr(of_class, self.links)}"


_FAULTS = {"recall": _Fault("missed", "reference"), "precision": _Fault("wrong", "hypothesis")}
_NOTE = (
    "right: sure links of the system that the reference also has, sure or possible; wrong: other "
    "sure links of the system; as possible: right links that are only possible in the reference; "
    "found: sure links of the reference that the system has; missed: other sure links of the "
    "reference. Precision uses the class of the system's link, recall that of the reference's. "
    "Pairs: sentence pairs with links of the class, the units of the intervals"
)
_NOT_LINK_CLASSES = (*STATUSES, NULL_KIND)
"""Rows by kind that are not classes of links: they overlap with others, or count words."""


class ShownExample(NamedTuple):
    """An example of an error: its class, its place, and its words."""

    by: str
    name: str
    error: str
    pair: str
    link: str
    source: str
    target: str


@dataclass(frozen=True)
class LinkErrors(Result):
    """The errors of a system by kinds of links.

    Returned by `link_errors`.

    Parameters
    ----------
    classes : The classes: first all links, then by each requested way.
    examples : Some errors of each class.
    pairs, skipped : Number of sentence pairs that both aligned, and of those left out.
    notes : Notes on the classes.
    signature : The settings in one line.
    system : The name of the system.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.scoring import link_errors
    >>> corpus = Corpus.from_texts(["a b"], ["a c"], gold=["0-0 1-1"], system=["0-0 1-0"])
    >>> errors = link_errors(corpus, "system", "gold", by_link=["word"])
    >>> [each.name for each in errors.classes], errors.pairs
    (['all links', 'identical', 'words'], 1)
    """

    classes: tuple[ClassErrors, ...]
    examples: tuple[ShownExample, ...] = ()
    pairs: int = 0
    skipped: int = 0
    notes: tuple[str, ...] = ()
    signature: str = ""
    system: str = "the system"

    @property
    def head(self) -> Sequence[str]:
        """The number of pairs, and the classes with most errors."""
        line = how_many(self.pairs, "sentence pair")
        if self.skipped:
            line += f", {self.skipped} left out (not annotated)"
        lines = [line]
        whole = next(iter(self._of(WHOLE)), None)
        if whole is not None:
            defined = [key for key in _FAULTS if not isnan(getattr(whole, key))]
            lines += [self._on_all_links(whole, key) for key in defined]
        for way in self._ways():
            compared = [errors for errors in self._of(way) if errors.gaps]
            for key, fault in _FAULTS.items():
                worst = _worst(compared, key)
                if worst is not None and fault.number(worst):
                    lines.append(_on_worst(way, compared, worst, key))
        return tuple(lines)

    def _on_all_links(self, whole: ClassErrors, key: str) -> str:
        """Return a sentence on the errors among all links, with precision or recall."""
        if key == "recall":
            sentence = f"{self.system} misses {whole.missed} of the {whole.reference} links of the "
            sentence += "reference"
        else:
            sentence = f"{whole.wrong} of the {whole.hypothesis} links of {self.system} are wrong"
        return f"{sentence}: {key} {bounded(getattr(whole, key), whole.intervals[key])}"

    @property
    def cautions(self) -> Sequence[str]:
        """Notes on the classes and the intervals."""
        notes = list(self.notes)
        units = chain.from_iterable(errors.units.values() for errors in self.classes)
        few = any(0 < number < FEW_PAIRS for number in units)
        if few and self.pairs >= FEW_PAIRS:
            notes.append(
                f"intervals of classes with links in fewer than {FEW_PAIRS} sentence pairs "
                "(column pairs) are too narrow"
            )
        return (*notes, *resampling.few_pairs(self.pairs))

    def _ways(self) -> list[str]:
        """Return the ways to classify links."""
        return [way for way in dict.fromkeys(errors.by for errors in self.classes) if way != WHOLE]

    def _of(self, way: str) -> list[ClassErrors]:
        """Return the classes of a way."""
        return [errors for errors in self.classes if errors.by == way]

    def tables(self) -> Sequence[Table]:
        """Return a table for each way to classify links, and a table of examples."""
        tables = [self._table(way) for way in self._ways()]
        if not self.examples:
            return tables
        columns = [Column(name) for name in ("by", "class", "error", "pair", "link")]
        columns += [Column(f"{side} word", key=side) for side in ("source", "target")]
        kinds = [(example.by, example.name) for example in self.examples]
        apart = [k for k in range(1, len(kinds)) if kinds[k] != kinds[k - 1]]
        note = "link: the positions of both words in their sentences, from 0"
        tables.append(Table("Examples", columns, self.examples, note, "examples", apart, stub=2))
        return tables

    def _table(self, way: str) -> Table:
        """Return a row for all links, then for each class."""
        columns = [
            Column(way, key="class"),
            Column("pairs", "count"),
            Column("system", "count", key="hypothesis"),
            Column("right", "count"),
            Column("wrong", "count"),
            Column("as possible", "count", key="sure_as_possible"),
            Column("precision", "percent"),
            Column("reference", "count"),
            Column("found", "count"),
            Column("missed", "count"),
            Column("recall", "percent"),
        ]
        rows = [errors.row() for errors in (*self._of(WHOLE), *self._of(way))]
        # lines before the first class, and before the rows that are no classes of links
        apart = []
        for k, (name, *_) in enumerate(rows):
            if k == 1 or (way == "kind" and name in ("sure", NULL_KIND)):
                apart.append(k)
        note = explained(way, [errors.name for errors in self._of(way)])
        if way == self._ways()[0]:
            note = f"{_NOTE}\n{note}"
        return Table(f"Links by {way}", columns, rows, note.strip(), f"by-{way}", apart=apart)


def _worst(classes: Sequence[ClassErrors], key: str) -> ClassErrors | None:
    """Return the class with the lowest precision or recall of those that can be compared."""
    frequent = [errors for errors in classes if errors.units[key] >= FEW_HOLD]
    compared = [errors for errors in frequent if not isnan(errors.gaps[key].value)]
    return min(compared, key=lambda errors: float(getattr(errors, key)), default=None)


def _on_worst(way: str, classes: Sequence[ClassErrors], worst: ClassErrors, key: str) -> str:
    """Return a sentence on the class with the lowest precision or recall."""
    fault = _FAULTS[key]
    sentence = (
        f"largest share of {fault.errors} links by {way}: "
        f"{called(way, worst.name)}: {fault.share(worst)}, "
        f"{key} {bounded(getattr(worst, key), worst.intervals[key])}, {_distance(way, worst, key)}"
    )
    clearly_below = worst.gaps[key].interval.high < 0  # not if it has no bounds (NaN)
    if not clearly_below:
        sentence += ": it may be chance"
    most = max(classes, key=fault.number)
    if most.name != worst.name:
        sentence += f"; largest number: {called(way, most.name)}: {fault.share(most)}"
    return sentence


def _distance(way: str, errors: ClassErrors, key: str) -> str:
    """Return how far precision or recall of a class is from that of the others, in words."""
    gap = errors.gaps[key]
    if gap.value < 0:
        where = "below"
        interval = replace(gap.interval, low=-gap.interval.high, high=-gap.interval.low)
    else:
        where = "above"
        interval = gap.interval
    if way == "phenomenon":
        others = "the links of all other pairs"
    else:
        others = "all other links"
    points = bounded(abs(gap.value), interval)
    return f"{points} points {where} {others} ({100 * gap.others:.1f})"


@naming_keywords
def link_errors(
    corpus: Corpus,
    hypothesis: str,
    reference: str,
    *,
    by_link: Iterable[str] = ("kind", "word", "frequency", "distance"),
    function_words: FunctionWords | None = None,
    frequencies: Frequencies | None = None,
    attribute: str = "phenomena",
    split: str | None = ",",
    examples: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> LinkErrors:
    """Count right, wrong and missed links by kind, with the precision and recall of each kind.

    Links count as in `alignkit.score`. Precision is the share of the hypothesis' sure links that
    the reference has, sure or possible, by the class of the hypothesis' link. Recall is the share
    of the reference's sure links that the hypothesis has, by the class of the reference's link.

    Parameters
    ----------
    corpus : The sentence pairs; those that one of the two did not align are left out.
    hypothesis, reference : The annotators of the scored and of the correct alignments.
    by_link : The ways to classify links, from `BY_LINK`.
    function_words : The function words of the languages; None does not separate them from content
        words.
    frequencies : The frequencies of words; None counts the words of the pairs.
    attribute, split : The attribute with the phenomena, and the separator of several phenomena in
        it.
    examples : Number of errors to show for each class, spread over the corpus.
    resamples, confidence, seed : Of the bootstrap over pairs, as in `confidence_interval`.

    Raises
    ------
    UnknownNameError : If an annotator did not annotate the corpus, no pair has the attribute, or a
        way in `by_link` is unknown.

    Examples
    --------
    >>> from alignkit import Alignment, Corpus, SentencePair
    >>> pair = SentencePair("1", ("a", "b"), ("a", "c"), {
    ...     "gold": Alignment.parse("0-0 1-1"), "system": Alignment.parse("0-0 1-0")})
    >>> found = link_errors(Corpus([pair]), "system", "gold", by_link=["word"])
    >>> [(one.name, one.right, one.wrong, one.missed) for one in found.classes]
    [('all links', 1, 1, 1), ('identical', 1, 0, 0), ('words', 0, 1, 1)]
    """
    check_arguments(link_errors, locals())
    resampling.check_drawing(resamples, confidence, seed)
    ways = _checked_ways(by_link)
    if examples < 0:
        raise OptionError(f"`examples` is {examples}; expected 0 or more")
    shared = corpus.annotated_by(hypothesis, reference)
    if frequencies is None:
        frequencies = Frequencies()
        for pair in shared:
            frequencies.seen(pair)
    tags = tuple(name for name in TAGS if name in shared.attributes)
    _check_attributes(shared, ways, attribute)
    classifier = LinkClassifier(
        ways=ways,
        function_words=function_words,
        frequencies=frequencies,
        tags=tags,
        attribute=attribute,
        split=split,
    )
    counts = count_by_class(shared, hypothesis, reference, classifier, keep=examples > 0)
    bootstrap = {"resamples": resamples, "confidence": confidence, "seed": seed}
    whole = counts[WHOLE][ALL_LINKS].array(len(shared))
    classes = []
    shown = list[ShownExample]()
    for way, name, of_class in in_order(counts):
        rows = of_class.array(len(shared))
        if way == WHOLE or (way == "kind" and name in _NOT_LINK_CLASSES):
            contrasted = None
        else:
            contrasted = whole
        classes.append(ClassErrors.of(way, name, rows, bootstrap, contrasted))
        if way != WHOLE:
            shown += _examples(shared, way, name, of_class, examples)
    signature = (
        f"links:given|by:{','.join(ways)}|interval:bootstrap|confidence:{confidence}|"
        f"resamples:{resamples}|seed:{seed}|version:{__version__}"
    )
    return LinkErrors(
        classes=tuple(classes),
        examples=tuple(shown),
        pairs=len(shared),
        skipped=len(corpus) - len(shared),
        notes=tuple(_notes(shared, classifier)),
        signature=signature,
        system=hypothesis,
    )


def _checked_ways(by_link: Iterable[str]) -> tuple[str, ...]:
    """Return the ways to classify links, each once; refuse unknown ones."""
    ways = tuple(dict.fromkeys(by_link))
    for name in ways:
        check_known("way to classify links:", name, BY_LINK)
    if not ways:
        raise OptionError(f"`by_link` is empty; expected some of {', '.join(BY_LINK)}")
    return ways


def _check_attributes(shared: Corpus, ways: Sequence[str], attribute: str) -> None:
    """Refuse ways that need attributes which no pair has; a corpus without pairs has none."""
    if not len(shared):
        return
    if "tag" in ways and not any(name in shared.attributes for name in TAGS):
        raise OptionError(
            f"no pair has tags; expected attributes {' and '.join(TAGS)} with a tag for each word"
        )
    if "phenomenon" in ways and attribute not in shared.attributes:
        raise UnknownNameError("attribute", attribute, shared.attributes)


def _notes(shared: Corpus, classifier: LinkClassifier) -> Iterator[str]:
    """Yield the notes on the classes."""
    if "kind" in classifier.ways:
        yield "nulls: words without a link, explicit or not"
    if "phenomenon" in classifier.ways:
        several = sum(len(classifier.phenomena(pair)) > 1 for pair in shared)
        if several:
            yield overlapping(several, len(shared), classifier.attribute)
    if "word" in classifier.ways and classifier.function_words is None:
        yield "no function words were named, so they are not separated from content words"


def _examples(
    corpus: Corpus, way: str, name: str, counts: ClassCounts, most: int
) -> Iterator[ShownExample]:
    """Yield up to so many wrong links, then missed ones, spread evenly over the corpus."""
    for error in ("wrong", "missed"):
        errors = sorted(example for example in counts.errors if example.error == error)
        # evenly spaced positions, each once; none if there are no errors: linspace(0, -1, 0)
        chosen = np.unique(np.linspace(0, len(errors) - 1, min(most, len(errors))).round())
        for k in chosen.astype(int):
            pair = corpus[errors[k].pair]
            i, j = errors[k].link
            source = _word(pair.source, i)
            target = _word(pair.target, j)
            yield ShownExample(way, name, error, pair.id, f"{i}-{j}", source, target)


def _word(words: Sequence[str] | None, k: int) -> str:
    """Return a word, or its position if the words are not known."""
    return str(k) if words is None else words[k]
