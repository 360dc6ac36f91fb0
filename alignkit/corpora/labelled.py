"""Count the judgments of a corpus in a view."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, permutations
from math import nan
from typing import TYPE_CHECKING

from alignkit._support.arguments import check_kind, check_known, words
from alignkit._support.values import FrozenMap
from alignkit._support.wording import how_many, natural_key, overlapping
from alignkit.errors import FormatError, JudgmentError, OptionError
from alignkit.model.corpus import Corpus, values_of
from alignkit.model.labels import View, get_view
from alignkit.model.sentence_pair import SentencePair, origin_of
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


NOT_JUDGED = "not judged"
SKIPPED = "not scored"
UNKNOWN = "not of the scheme"
LEFT_OUT = (NOT_JUDGED, SKIPPED, UNKNOWN)
"""The reasons why a cell of a matrix has no label."""
_JUDGE = "annotator who judged pairs"
RANKS = "rank"
RANK_GROUP = "rank_group"
PREFERRED = "preferred_to"
"""The scheme of ranks, and the attributes that say which texts were ranked together, and the ids of
those that a text was preferred to, divided by tabs."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelMatrix:
    """The judgments of A annotators on P pairs, as numbers."""

    annotators: tuple[str, ...]
    ids: tuple[str, ...]
    labels: tuple[str, ...]
    values: NDArray[np.int8]
    left_out: FrozenMap[str, int]


def judges_of(pairs: Iterable[SentencePair]) -> tuple[str, ...]:
    """Return the annotators who judged at least one pair.

    They come in the order of the first pair that all of them judged, or else by name.
    """
    orders = dict.fromkeys(tuple(pair_judgments(pair)) for pair in pairs)
    names = dict.fromkeys(chain.from_iterable(orders))
    for order in orders:
        if len(order) == len(names):
            return order
    return tuple(sorted(names, key=natural_key))


def pair_judgments(pair: SentencePair) -> dict[str, str]:
    """Return the judgments of a pair by annotator."""
    judged = {}
    for name, annotation in pair.annotations.items():
        if annotation.judgment:
            judged[name] = annotation.judgment
    return judged


def judged_part(corpus: Corpus, *, rewrites: bool) -> tuple[Corpus, int, tuple[str, ...]]:
    """Return the pairs that count as judged, the number of rewrites left out, and a note."""
    kept = corpus.filter(lambda pair: origin_of(pair) is None)
    written_anew = len(corpus) - len(kept)
    if not written_anew:
        return corpus, 0, ()
    note = f"{written_anew} of {how_many(len(corpus), 'pair')} are rewrites, which nobody judged"
    if rewrites:
        return corpus, 0, (f"{note}: they count with the labels that their writers intended",)
    return kept, written_anew, (f"{note}; they are left out unless you ask for rewrites",)


def judgments_of(
    corpus: Corpus, annotators: Sequence[str] | None, view: View, *, lenient_labels: bool = False
) -> LabelMatrix:
    """Return the judgments of annotators (None for all) in a view."""
    import numpy as np  # not for the help of `convert`

    check_kind("corpus", corpus, Corpus)
    check_kind("view", view, View)
    known = judges_of(corpus)
    if annotators is None:
        names = known
    else:
        names = tuple(dict.fromkeys(words("annotators", annotators)))
    for name in names:
        check_known(_JUDGE, name, known)
    # the number of each judgment's label; -1 for judgments that the view leaves out
    codes = {}
    for judgment, label in view.rows.items():
        codes[judgment] = -1 if label is None else view.labels.index(label)
    values = np.full((len(names), len(corpus)), -1, dtype=np.int8)
    counts = Counter({NOT_JUDGED: values.size})
    rows = {name: row for row, name in enumerate(names)}
    for p, pair in enumerate(corpus):
        for name, judgment in pair_judgments(pair).items():
            if name not in rows:
                continue
            counts[NOT_JUDGED] -= 1
            if judgment in codes:
                values[rows[name], p] = codes[judgment]
                counts[SKIPPED] += codes[judgment] < 0
            elif lenient_labels:
                counts[UNKNOWN] += 1
            else:
                try:
                    view.scheme.parse(judgment)
                except FormatError as error:
                    raise JudgmentError.of(error, pair.id, name, judgment) from None
    left_out = FrozenMap({reason: counts[reason] for reason in LEFT_OUT})
    return LabelMatrix(names, corpus.ids, view.labels, values, left_out)


KINDS = {
    "plain": "each pair once",
    "classification": "each pair in both orders, its label flipped",
    "generation": "a text and a paraphrase of it, in each direction that the label allows",
    "preferences": "the better and the worse of every two ranked texts, and their original",
}

# what says the same, to be generated both ways; and where the target is the more general one
_BOTH = {
    "turku": ("4",),
    "paraphrase": ("paraphrase",),
    "parade": ("2", "3"),
    "parade-votes": ("2", "3"),
    "binary": ("1",),
    "entailment": ("equivalence",),
}
_ONWARD = {"turku": ("4>",), "entailment": ("forward",)}


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A row for training."""

    id: str  # of the pair
    label: str  # of the view, for the texts in this order
    source: str  # the texts, words divided by single spaces
    target: str


def training_rows(
    pairs: Iterable[SentencePair],
    view: View,
    kind: str,
    *,
    annotator: str | None = None,
    rewrites: bool = True,
    lenient_labels: bool = False,
) -> Iterator[TrainingRow]:
    """Yield the rows of judged pairs."""
    check_known("kind of rows", kind, KINDS)
    scheme = view.scheme
    if kind == "preferences":
        yield from _preferences(pairs, view, annotator, lenient_labels=lenient_labels)
        return
    if kind == "generation" and scheme.name not in _BOTH:
        raise OptionError(f"it is not known which judgments of {scheme.name} allow generation")
    allowed = {*_BOTH.get(scheme.name, ()), *_ONWARD.get(scheme.name, ())}
    judges: dict[str, None] = {}
    for pair in pairs:
        judged = pair_judgments(pair)
        judges.update(dict.fromkeys(judged))
        if annotator is None and len(judges) > 1:
            raise OptionError(f"{', '.join(judges)} judged pairs: choose one with `annotator`")
        if annotator is not None:
            judge = annotator
        else:
            judge = next(iter(judged), "")  # the only one
        judgment = judged.get(judge)
        if not judgment or (not rewrites and origin_of(pair) is not None):
            continue
        label = _label(view, judgment, pair, judge, lenient_labels=lenient_labels)
        if label is None:
            continue
        source = " ".join(pair.words[0])
        target = " ".join(pair.words[1])
        flipped = scheme.flip(judgment)
        if kind != "generation" or judgment in allowed:
            yield TrainingRow(pair.id, label, source, target)
        if kind == "classification" or (kind == "generation" and flipped in allowed):
            yield TrainingRow(pair.id, view.of(flipped) or "", target, source)
    if annotator is not None:
        check_known(_JUDGE, annotator, judges)


def _label(
    view: View, judgment: str, pair: SentencePair, judge: str, *, lenient_labels: bool
) -> str | None:
    """Return the label of a judgment; None if it has none, or leniently if it is unknown."""
    try:
        return view.of(judgment)
    except FormatError as error:
        if lenient_labels:
            return None
        raise JudgmentError.of(error, pair.id, judge, judgment) from None


def _preferences(
    pairs: Iterable[SentencePair], view: View, annotator: str | None, *, lenient_labels: bool
) -> Iterator[TrainingRow]:
    """Yield the preferences of the corpus, or those of an annotator, or of all who ranked."""
    if view.scheme.name != RANKS:
        raise OptionError(f"preferences need ranks; {view.scheme.name} has none")
    corpus = Corpus(pairs)
    full = get_view(RANKS, "full")
    annotators = None if annotator is None else [annotator]
    values = judgments_of(corpus, annotators, full, lenient_labels=lenient_labels).values
    numbers = [*map(int, full.labels), 0]  # the place -1 of what has no label is the last
    ranks = [[numbers[k] for k in row] for row in values.tolist()]  # by annotator and pair
    # for each pair, the ids of those that its text was preferred to
    preferred = [pair.attributes.get(PREFERRED, "").split("\t") for pair in corpus]
    corpus_prefers = annotator is None and any(map(any, preferred))
    for group in rank_groups(corpus):
        for first, second in permutations(group, 2):
            better = corpus[first]
            worse = corpus[second]
            if corpus_prefers:
                is_better = worse.id in preferred[first]
            else:
                is_better = _ranked_better(ranks, first, second)
            if is_better:
                original, chosen = (" ".join(words) for words in better.words)
                rejected = " ".join(worse.target or ())
                yield TrainingRow(f"{better.id}>{worse.id}", chosen, rejected, original)


def _ranked_better(ranks: Sequence[Sequence[int]], first: int, second: int) -> bool:
    """Return whether all who ranked both pairs, and somebody did, put the first before."""
    ranked_both = [row for row in ranks if row[first] and row[second]]
    return bool(ranked_both) and all(row[first] < row[second] for row in ranked_both)


def rank_groups(corpus: Corpus) -> list[list[int]]:
    """Return the places of the pairs of each group of ranked texts."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for place, pair in enumerate(corpus):
        if (group := pair.attributes.get(RANK_GROUP)) is not None:
            groups[group].append(place)
    return list(groups.values())


_Counts = tuple[tuple[int, ...], ...]
_BAR = 40  # signs of a bar that stands for all


@dataclass(frozen=True)
class LabelCounts(TableResult):
    """The counts of each label by annotator."""

    view: View  # the view
    annotators: tuple[str, ...]  # the names of the A annotators
    counts: _Counts  # A rows of K counts, one a label of the view
    left_out: Mapping[str, int]
    by: str  # the attribute that makes the groups; empty where there are none
    groups: Mapping[str, _Counts]
    several: int  # how many pairs have several values of it: groups overlap by these
    pairs: int  # how many pairs there are
    rewrites: int = 0  # how many more were left out that annotators wrote anew, and nobody judged

    def to_json(self) -> dict[str, object]:
        """Return the counts for JSON."""
        view = self.view
        record: dict[str, object] = {
            "scheme": view.scheme.name,
            "view": view.name,
            "labels": list(view.labels),
            "order": None if view.order is None else list(view.order),
            "pairs": self.pairs,
            "counts": self._named(self.counts),
            "left_out": dict(self.left_out),
            "rewrites_left_out": self.rewrites,
        }
        if self.by:
            groups = {value: self._named(counts) for value, counts in self.groups.items()}
            record |= {"by": self.by, "groups": groups, "in_several_groups": self.several}
        return record

    def _named(self, counts: _Counts) -> dict[str, dict[str, int]]:
        """Return counts by annotator and label."""
        named = {}
        for name, row in zip(self.annotators, counts, strict=True):
            named[name] = dict(zip(self.view.labels, row, strict=True))
        return named

    def table(self, *, bars: bool = False, unused: bool = True) -> Table:
        """Return the table of all counts, with a row for each label."""
        if unused:
            hidden = []
        else:
            hidden = self._never_given()
        columns = [
            Column("annotator"),
            Column("label"),
            Column("pairs", "count"),
            Column("share", "percent", unit="%"),
        ]
        if self.by:
            columns.insert(0, Column(self.by, key="group"))
        if bars:
            columns.append(Column("histogram"))
        parts = [("all", self.counts)]
        for value, each in self.groups.items():
            parts.append((value or f"(no {self.by})", each))
        rows: list[list[Cell]] = []
        apart = []
        for group, each in parts:
            for name, counts in zip(self.annotators, each, strict=True):
                if rows:
                    apart.append(len(rows))
                stub: list[Cell] = [group, name] if self.by else [name]
                rows += [[*stub, *row] for row in self._label_rows(counts, hidden, bars=bars)]
        title = f"{self.pairs} pairs by the labels of {self.view.scheme.name}, {self.view.name}"
        return Table(
            title, columns, rows, self._note(hidden), apart=apart, stub=3 if self.by else 2
        )

    def _never_given(self) -> list[str]:
        """Return the labels that nobody gave; none if nobody gave any."""
        columns = zip(self.view.labels, *self.counts, strict=True)
        never = [label for label, *counts in columns if not any(counts)]
        if len(never) == len(self.view.labels):
            return []
        return never

    def _label_rows(
        self, counts: Sequence[int], hidden: Collection[str], *, bars: bool
    ) -> Iterator[list[Cell]]:
        """Yield the row of each label: its count, its share and, if asked for, a bar."""
        total = sum(counts)
        for label, count in zip(self.view.labels, counts, strict=True):
            if label in hidden:
                continue
            share = count / total if total else nan
            row: list[Cell] = [label, count, share]
            if bars:
                row.append("#" * round(_BAR * count / total) if total else "")
            yield row

    def show(self, medium: str = "text") -> str:
        """Return the table of the labels that were given; see `alignkit.show.Table.show`."""
        return self.table(bars=medium == "text", unused=False).show(medium)

    def _note(self, hidden: Sequence[str]) -> str:
        """Return what the table leaves out, and whether its groups overlap."""
        notes = []
        reasons = [f"{count} {reason}" for reason, count in self.left_out.items() if count]
        if reasons:
            notes.append(f"without a label: {', '.join(reasons)}")
        if hidden:
            what = "label" if len(hidden) == 1 else "labels"
            notes.append(f"nobody gave the {what} {', '.join(hidden)}")
        if self.several:
            notes.append(overlapping(self.several, self.pairs, self.by))
        return "; ".join(notes)


def count_labels(
    corpus: Corpus,
    view: View,
    *,
    annotators: Sequence[str] | None = None,
    by: str | None = None,
    split: str | None = None,
    lenient_labels: bool = False,
    rewrites: bool = False,
) -> LabelCounts:
    """Count how often each annotator gave each label of a view."""
    corpus, left_out, _ = judged_part(corpus, rewrites=rewrites)
    matrix = judgments_of(corpus, annotators, view, lenient_labels=lenient_labels)
    if not matrix.annotators:
        raise OptionError("no pair of the corpus is judged")
    groups: dict[str, _Counts] = {}
    several = 0
    if by is not None:
        for value, part in corpus.groups(by, split=split).items():
            judges = [name for name in matrix.annotators if name in judges_of(part)]
            group = judgments_of(part, judges, view, lenient_labels=lenient_labels)
            rows = dict(zip(judges, _counted(group), strict=True))
            nothing = (0,) * len(view.labels)
            groups[value] = tuple(rows.get(name, nothing) for name in matrix.annotators)
        texts = [pair.attributes.get(by, "") for pair in corpus]
        several = sum(len(values_of(text, split)) > 1 for text in texts)
    return LabelCounts(
        view,
        matrix.annotators,
        _counted(matrix),
        matrix.left_out,
        by or "",
        groups,
        several,
        len(corpus),
        left_out,
    )


def _counted(matrix: LabelMatrix) -> _Counts:
    """Return how often each annotator gave each label."""
    import numpy as np

    counts = []
    for row in matrix.values:
        given = row[row >= 0]
        counts.append(tuple(np.bincount(given, minlength=len(matrix.labels)).tolist()))
    return tuple(counts)
