"""The errors of a system by kinds of links."""

from __future__ import annotations

from collections import defaultdict
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
from alignkit.errors import MissingTextError, OptionError, UnknownNameError
from alignkit.model.alignment import Alignment, Link
from alignkit.model.corpus import Corpus, values_of
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring import link_classes
from alignkit.scoring.counts import Rows
from alignkit.scoring.link_classes import NULL_KIND, Frequencies, FunctionWords, called, explained
from alignkit.scoring.profile import bounded
from alignkit.scoring.ranking import FEW_HOLD
from alignkit.scoring.result import bounded_value
from alignkit.stats import resampling
from alignkit.stats.resampling import FEW_PAIRS, SEED, Counts, Interval
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import Result
from alignkit.tables.table import Table
from alignkit.version import __version__

COLUMNS = ("hypothesis", "right", "reference", "recalled", "sure_as_possible")
"""The counts: links of the system, and of these in the reference; links of the reference, and of
these in the system; sure links of the system that are only possible in the reference."""

_UNITS = {"precision": COLUMNS.index("hypothesis"), "recall": COLUMNS.index("reference")}
Classes = Mapping[Link, tuple[str, ...]]  # the classes of each link


class ErrorExample(NamedTuple):
    """An error: its kind, the position of its pair, and its link."""

    error: str
    pair: int
    link: Link


class _Counts:
    """The counts of one class by pair, with examples of errors if requested."""

    def __init__(self) -> None:
        self.rows: dict[int, list[int]] = {}
        self.errors: list[ErrorExample] = []

    def add(self, place: int, column: str, number: int = 1) -> None:
        """Add to a count of a pair."""
        self.rows.setdefault(place, [0] * len(COLUMNS))[COLUMNS.index(column)] += number

    def wrong_and_missed(self) -> int:
        """Return the number of errors."""
        errors = 0
        for hypothesis, right, reference, recalled, _ in self.rows.values():
            errors += hypothesis - right + reference - recalled
        return errors

    def array(self, pairs: int) -> Rows:
        """Return (P, 5) counts, a row for each pair."""
        counts = np.zeros((pairs, len(COLUMNS)), np.int64)
        for place, row in self.rows.items():
            counts[place] = row
        return counts


def _count_pair(
    place: int,
    hypothesis: Alignment,
    reference: Alignment,
    classes: tuple[Classes, Classes],
    into: Mapping[str, _Counts],
    *,
    keep: bool,
) -> None:
    """Count the links of a pair for precision and recall, by class."""
    for link in hypothesis.sure:
        for name in classes[0][link]:
            into[name].add(place, "hypothesis")
            if link in reference:
                into[name].add(place, "right")
                if link not in reference.sure:
                    into[name].add(place, "sure_as_possible")
            elif keep:
                into[name].errors.append(ErrorExample("wrong", place, link))
    for link in reference.sure:
        for name in classes[1][link]:
            into[name].add(place, "reference")
            if link in hypothesis:
                into[name].add(place, "recalled")
            elif keep:
                into[name].errors.append(ErrorExample("missed", place, link))


def _count_statuses_and_nulls(
    place: int,
    pair: SentencePair,
    hypothesis: Alignment,
    reference: Alignment,
    into: Mapping[str, _Counts],
) -> None:
    """Count sure links, possible links, and words without any link."""
    for counted, other, column, shared_column in (
        (hypothesis, reference, "hypothesis", "right"),
        (reference, hypothesis, "reference", "recalled"),
    ):
        for link, sure in counted.items():
            counts = into["sure" if sure else "possible"]
            counts.add(place, column)
            if link in other:
                counts.add(place, shared_column)
        if pair.has_text:
            nulls = _unaligned(pair, counted)
            shared = nulls & _unaligned(pair, other)
            into[NULL_KIND].add(place, column, len(nulls))
            into[NULL_KIND].add(place, shared_column, len(shared))
    only_possible = hypothesis.sure & (reference.possible - reference.sure)
    into["sure"].add(place, "sure_as_possible", len(only_possible))


def _unaligned(pair: SentencePair, alignment: Alignment) -> set[tuple[str, int]]:
    """Return the side and the position of each word without a link, annotated as null or not."""
    source, target = pair.words
    linked_source = alignment.aligned_source()
    linked_target = alignment.aligned_target()
    unaligned = {("source", k) for k in range(len(source)) if k not in linked_source}
    unaligned.update(("target", k) for k in range(len(target)) if k not in linked_target)
    return unaligned


def ratios(sums: Counts) -> dict[str, NDArray[np.float64]]:
    """Return precision and recall of (R, 5) sums of counts; NaN for 0/0."""
    total, right, gold, recalled, _ = np.asarray(sums).T
    return {"precision": resampling.ratio(right, total), "recall": resampling.ratio(recalled, gold)}


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
        cls, by: str, name: str, rows: Rows, drawn: Mapping[str, Any], whole: Rows | None = None
    ) -> ClassErrors:
        """Make the errors from (P, 5) counts; `whole` has the counts of all links."""
        sums = rows.sum(axis=0)
        hypothesis, right, reference, recalled, sure_as_possible = sums.tolist()
        values = _ratios_of_one(sums)
        units = {key: int(np.count_nonzero(rows[:, k])) for key, k in _UNITS.items()}
        in_any = rows[:, list(_UNITS.values())].any(axis=1)
        gaps: dict[str, Gap] = {}
        if whole is None:
            bounds = resampling.confidence_interval(rows, ratios, **drawn)
        else:
            other_rows = whole - rows
            both = np.hstack([rows, other_rows])
            bounds = resampling.confidence_interval(both, _with_gaps, **drawn)
            others = _ratios_of_one(other_rows.sum(axis=0))
            for key, gap in _GAPS.items():
                gaps[key] = Gap(others[key], values[key] - others[key], bounds[gap])
        return cls(
            by=by,
            name=name,
            hypothesis=hypothesis,
            right=right,
            reference=reference,
            recalled=recalled,
            sure_as_possible=sure_as_possible,
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
    """An error of precision or recall: the names of its counts, and a sentence with them."""

    counted: str
    of: str
    sentence: str

    def share(self, errors: ClassErrors) -> str:
        """Return the text "number of number"."""
        return f"{getattr(errors, self.counted)} of {getattr(errors, self.of)}"

    def said(self, errors: ClassErrors, system: str) -> str:
        """Return the sentence with the counts of all links."""
        counts = getattr(errors, self.counted), getattr(errors, self.of)
        return self.sentence.format(*counts, system=system)


_FAULTS = {
    "recall": _Fault("missed", "reference", "{system} misses {} of the {} links of the reference"),
    "precision": _Fault("wrong", "hypothesis", "{} of the {} links of {system} are wrong"),
}
_NOTE = (
    "right: sure links of the system that the reference also has, sure or possible; wrong: other "
    "sure links of the system; as possible: right links that are only possible in the reference; "
    "found: sure links of the reference that the system has; missed: other sure links of the "
    "reference. Precision uses the class of the system's link, recall that of the reference's. "
    "Pairs: sentence pairs with links of the class, the units of the intervals"
)
NO_LINKS = ("sure", "possible", "null")
"""Rows that are not classes of links: they overlap with others, or count words."""


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

    Parameters
    ----------
    classes : The classes: first all links, then by each requested way.
    examples : Some errors of each class.
    pairs, skipped : Number of sentence pairs that both aligned, and of those left out.
    notes : Notes on the classes.
    signature : The settings in one line.
    system : The name of the system.
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
        whole = next(iter(self._of("")), None)
        for key, fault in _FAULTS.items():
            if whole is not None and not isnan(getattr(whole, key)):
                figure = bounded(getattr(whole, key), whole.intervals[key])
                lines.append(f"{fault.said(whole, self.system)}: {key} {figure}")
        for way in self._ways():
            links = [errors for errors in self._of(way) if errors.name not in NO_LINKS]
            for key, fault in _FAULTS.items():
                worst = self._worst(links, key)
                if worst is not None and getattr(worst, fault.counted):
                    lines.append(self._on_worst(way, links, worst, key, fault))
        return tuple(lines)

    def _worst(self, links: Sequence[ClassErrors], key: str) -> ClassErrors | None:
        """Return the class with the lowest precision or recall of those that can be compared."""
        frequent = [errors for errors in links if errors.units[key] >= FEW_HOLD and errors.gaps]
        compared = [errors for errors in frequent if not isnan(errors.gaps[key].value)]
        return min(compared, key=lambda errors: float(getattr(errors, key)), default=None)

    def _on_worst(
        self, way: str, links: Sequence[ClassErrors], worst: ClassErrors, key: str, fault: _Fault
    ) -> str:
        """Return a sentence on the class with the lowest precision or recall."""
        gap = worst.gaps[key]
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
        sentence = (
            f"largest share of {fault.counted} links by {way}: "
            f"{called(way, worst.name)}: {fault.share(worst)}, "
            f"{key} {bounded(getattr(worst, key), worst.intervals[key])}, "
            f"{bounded(abs(gap.value), interval)} points {where} {others} "
            f"({100 * gap.others:.1f})"
        )
        if not gap.interval.high < 0:
            sentence += ": it may be chance"
        most = max(links, key=lambda errors: int(getattr(errors, fault.counted)))
        if most.name != worst.name:
            sentence += f"; largest number: {called(way, most.name)}: {fault.share(most)}"
        return sentence

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
        return list(filter(None, dict.fromkeys(errors.by for errors in self.classes)))

    def _of(self, way: str) -> list[ClassErrors]:
        """Return the classes of a way; all links are the only class of the way ""."""
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
        rows = [errors.row() for errors in (*self._of(""), *self._of(way))]
        # lines before the first class, and before the rows that are no classes of links
        apart = []
        for k, (name, *_) in enumerate(rows):
            if k == 1 or name in ("sure", "null"):
                apart.append(k)
        note = explained(way, [errors.name for errors in self._of(way)])
        if way == self._ways()[0]:
            note = f"{_NOTE}\n{note}"
        return Table(f"Links by {way}", columns, rows, note.strip(), f"by-{way}", apart=apart)


BY_LINK = {
    "kind": "the connected component: 1-1, 1-n, n-1, block, discontinuous, null; sure or possible",
    "word": "the words: identical, punctuation, function words, content words",
    "frequency": "how often the rarer of the two words occurs in the reference",
    "distance": "the distance of the link from the diagonal, abs(i/N - j/M)",
    "tag": "the tags of the two words",
    "phenomenon": "the values of the attribute of the pair",
}
"""The ways to classify links."""

_ORDERS: Mapping[str, Sequence[str]] = {
    "kind": (*link_classes.KINDS[:-1], *link_classes.STATUSES, NULL_KIND),
    "word": link_classes.WORDS,
    "frequency": link_classes.FREQUENCIES,
    "distance": link_classes.DISTANCES,
}
_ALL = "all links"
_TAGS = ("source_tags", "target_tags")


@dataclass(frozen=True)
class _Classifier:
    """Classify the links of a corpus in some ways."""

    by: tuple[str, ...]
    known: FunctionWords | None
    frequencies: Frequencies
    tags: tuple[str, ...]
    attribute: str
    split: str | None

    def phenomena(self, pair: SentencePair) -> tuple[str, ...]:
        """Return the phenomena of a pair."""
        values = values_of(pair.attributes.get(self.attribute, ""), self.split)
        return tuple(value or "(none)" for value in values)

    def classes(self, way: str, pair: SentencePair, alignment: Alignment) -> Classes:
        """Return the classes of each link by one way."""
        if way == "":
            return dict.fromkeys(alignment, (_ALL,))
        if way == "phenomenon":
            return dict.fromkeys(alignment, self.phenomena(pair))
        if way == "kind":
            kinds = link_classes.component_kinds(alignment)
            return {link: (kind,) for link, kind in kinds.items()}
        source, target = pair.source, pair.target
        if source is None or target is None:
            raise MissingTextError(
                f"pair {pair.id!r} has no words, but links by {way} need them; give the texts"
            )
        if way == "tag":
            return self._link_tags(pair, alignment)

        def class_of(link: Link) -> str:
            words = source[link.i], target[link.j]
            if way == "word":
                return link_classes.word_class(*words, self.known)
            if way == "frequency":
                return self.frequencies.band(*words)
            return link_classes.distance_band(link, (len(source), len(target)))

        return {link: (class_of(link),) for link in alignment}

    def _link_tags(self, pair: SentencePair, alignment: Alignment) -> Classes:
        """Return the tags of both words of each link as its class, one if they are the same."""
        tags = {name: _tags(pair, name) for name in self.tags}
        classes = {}
        for link in alignment:
            both = [tags[name][k] for name, k in zip(_TAGS, link, strict=True) if name in tags]
            classes[link] = (" - ".join(dict.fromkeys(both)),)
        return classes


def _tags(pair: SentencePair, name: str) -> list[str]:
    """Return the tags of one side of a pair."""
    side = pair.source if name == _TAGS[0] else pair.target
    tags = [word.rpartition("/")[2] for word in pair.attributes.get(name, "").split()]
    if side is None or len(tags) != len(side):
        raise OptionError(
            f"pair {pair.id!r} has {len(tags)} tags in {name!r} for {len(side or ())} words; "
            "expected one for each word, as word/TAG"
        )
    return tags


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
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = SEED,
) -> LinkErrors:
    """Count right, wrong and missed links by kind, with the precision and recall of each kind.

    Links count as in `alignkit.score`. Precision is the share of the hypothesis' sure links that
    the reference has, sure or possible, by the class of the hypothesis' link. Recall is the share
    of the reference's sure links that the hypothesis has, by the class of the reference's link.

    Parameters
    ----------
    by_link : The ways to classify links, from `BY_LINK`.
    function_words : The function words of the languages; None does not separate them from content
        words.
    frequencies : The frequencies of words; None counts the words of the pairs.
    attribute, split : The attribute with the phenomena, and the separator of several phenomena in
        it.
    examples : Number of errors to show for each class, spread over the corpus.

    Raises
    ------
    UnknownNameError : If an annotator did not annotate the corpus, no pair has the attribute, or a
        way in `by_link` is unknown.

    Examples
    --------
    >>> pair = SentencePair("1", ("a", "b"), ("a", "c"), {
    ...     "gold": Alignment.parse("0-0 1-1"), "system": Alignment.parse("0-0 1-0")})
    >>> found = link_errors(Corpus([pair]), "system", "gold", by_link=["word"])
    >>> [(one.name, one.right, one.wrong, one.missed) for one in found.classes]
    [('all links', 1, 1, 1), ('identical', 1, 0, 0), ('words', 0, 1, 1)]
    """
    check_arguments(link_errors, locals())
    resampling.check_drawing(resamples, confidence, seed)
    ways = tuple(dict.fromkeys(by_link))
    for name in ways:
        check_known("way to classify links:", name, BY_LINK)
    if not ways:
        raise OptionError(f"`by_link` is empty; expected some of {', '.join(BY_LINK)}")
    if examples < 0:
        raise OptionError(f"`examples` is {examples}; expected 0 or more")
    shared = corpus.annotated_by(hypothesis, reference)
    counted = frequencies or Frequencies()
    if frequencies is None:
        for pair in shared:
            counted.seen(pair)
    tags = tuple(name for name in _TAGS if name in shared.attributes)
    if "tag" in ways and not tags and len(shared):
        raise OptionError(
            f"no pair has tags; expected attributes {' and '.join(_TAGS)} with a tag for each word"
        )
    classifier = _Classifier(ways, function_words, counted, tags, attribute, split)
    if "phenomenon" in ways and len(shared) and attribute not in shared.attributes:
        raise UnknownNameError("attribute", attribute, shared.attributes)
    counts, several = _counts(shared, hypothesis, reference, classifier, keep=examples > 0)
    drawn = {"resamples": resamples, "confidence": confidence, "seed": seed}
    whole = counts[""][_ALL].array(len(shared))
    classes = []
    shown = list[ShownExample]()
    for way, name, errors in _ordered(counts):
        rows = errors.array(len(shared))
        is_compared = way != "" and name not in NO_LINKS
        contrasted = whole if is_compared else None
        classes.append(ClassErrors.of(way, name, rows, drawn, contrasted))
        if name != _ALL:
            shown += _examples(shared, way, name, errors, examples)
    notes = []
    if "kind" in ways:
        notes.append("nulls: words without a link, explicit or not")
    if several:
        notes.append(overlapping(several, len(shared), attribute))
    if "word" in ways and function_words is None:
        notes.append("no function words were named, so they are not separated from content words")
    signature = (
        f"links:given|by:{','.join(ways)}|interval:bootstrap|confidence:{confidence}|"
        f"resamples:{resamples}|seed:{seed}|version:{__version__}"
    )
    return LinkErrors(
        classes=tuple(classes),
        examples=tuple(shown),
        pairs=len(shared),
        skipped=len(corpus) - len(shared),
        notes=tuple(notes),
        signature=signature,
        system=hypothesis,
    )


Collected = Mapping[str, dict[str, _Counts]]


def _counts(
    corpus: Corpus, hypothesis: str, reference: str, classifier: _Classifier, *, keep: bool
) -> tuple[Collected, int]:
    """Return the counts by way and class, and the number of pairs with several phenomena."""
    counts: Collected = {way: defaultdict(_Counts) for way in ("", *classifier.by)}
    for place, pair in enumerate(corpus):
        hyp = pair.alignment(hypothesis)
        ref = pair.alignment(reference)
        for way, into in counts.items():
            hyp_classes = classifier.classes(way, pair, hyp)
            ref_classes = classifier.classes(way, pair, ref)
            _count_pair(place, hyp, ref, (hyp_classes, ref_classes), into, keep=keep and way != "")
            if way == "kind":
                _count_statuses_and_nulls(place, pair, hyp, ref, into)
    several = 0
    if "phenomenon" in classifier.by:
        several = sum(len(classifier.phenomena(pair)) > 1 for pair in corpus)
    return counts, several


def _ordered(counts: Collected) -> Iterator[tuple[str, str, _Counts]]:
    """Yield each class: in the order of its way, or else those with most errors first."""
    for way, classes in counts.items():
        if way in _ORDERS:
            names = [name for name in _ORDERS[way] if name in classes]
        else:
            errors = {name: of_class.wrong_and_missed() for name, of_class in classes.items()}
            names = sorted(classes, key=lambda name: (-errors[name], name))
        for name in names:
            yield way, name, classes[name]


def _examples(
    corpus: Corpus, way: str, name: str, counts: _Counts, most: int
) -> Iterator[ShownExample]:
    """Yield up to so many wrong links, then missed ones, spread evenly over the corpus."""
    for error in ("wrong", "missed"):
        errors = sorted(example for example in counts.errors if example.error == error)
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
