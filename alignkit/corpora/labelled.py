"""Count the judgments of a corpus in a view."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
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


NOT_JUDGED, SKIPPED, UNKNOWN = LEFT_OUT = ("not judged", "not scored", "not of the scheme")
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
    """Return the annotators who judged at least one pair."""
    orders = dict.fromkeys(
        tuple(name for name, value in pair.annotations.items() if value.judgment) for pair in pairs
    )
    names = tuple(dict.fromkeys(name for order in orders for name in order))
    whole = (order for order in orders if len(order) == len(names))
    return next(whole, tuple(sorted(names, key=natural_key)))


def judged_part(corpus: Corpus, *, rewrites: bool) -> tuple[Corpus, int, tuple[str, ...]]:
    """Return the pairs that count as judged, the number of rewrites left out, and a note."""
    kept = corpus.filter(lambda pair: origin_of(pair) is None)
    if not (anew := len(corpus) - len(kept)):
        return corpus, 0, ()
    note = f"{anew} of {how_many(len(corpus), 'pair')} are rewrites, which nobody judged"
    if rewrites:
        return corpus, 0, (f"{note}: they count with the labels that their writers intended",)
    return kept, anew, (f"{note}; they are left out unless you ask for rewrites",)


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
    numbers: dict[str | None, int] = {None: -1}
    numbers |= {label: k for k, label in enumerate(view.labels)}
    codes = {judgment: numbers[label] for judgment, label in view.rows.items()}
    values = np.full((len(names), len(corpus)), -1, dtype=np.int8)
    counts = Counter({NOT_JUDGED: values.size})
    rows = {name: row for row, name in enumerate(names)}
    for p, pair in enumerate(corpus):
        for name, annotation in pair.annotations.items():
            judgment = annotation.judgment
            if not judgment or name not in rows:
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
    seen: dict[str, None] = {}
    for pair in pairs:
        judged = {name: a.judgment for name, a in pair.annotations.items() if a.judgment}
        seen.update(dict.fromkeys(judged))
        if annotator is None and len(seen) > 1:
            raise OptionError(f"{', '.join(seen)} judged pairs: choose one with `annotator`")
        judgment = judged.get(annotator) if annotator is not None else "".join(judged.values())
        if not judgment or (not rewrites and origin_of(pair) is not None):
            continue
        try:
            if (label := view.of(judgment)) is None:
                continue
        except FormatError as error:
            if lenient_labels:
                continue
            name = annotator if annotator is not None else next(iter(judged))
            raise JudgmentError.of(error, pair.id, name, judgment) from None
        source, target = (" ".join(words) for words in pair.words)
        back = scheme.flip(judgment)
        if kind != "generation" or judgment in allowed:
            yield TrainingRow(pair.id, label or "", source, target)
        if kind == "classification" or (kind == "generation" and back in allowed):
            yield TrainingRow(pair.id, view.of(back) or "", target, source)
    if annotator is not None:
        check_known(_JUDGE, annotator, seen)


def _preferences(
    pairs: Iterable[SentencePair], view: View, annotator: str | None, *, lenient_labels: bool
) -> Iterator[TrainingRow]:
    """Yield the preferences of the corpus, or those of an annotator, or of all who ranked."""
    if view.scheme.name != RANKS:
        raise OptionError(f"preferences need ranks; {view.scheme.name} has none")
    corpus = Corpus(pairs)
    full = get_view(RANKS, "full")
    whose = None if annotator is None else [annotator]
    values = judgments_of(corpus, whose, full, lenient_labels=lenient_labels).values
    ranks = [[int(full.labels[k]) if k >= 0 else 0 for k in row] for row in values.tolist()]
    own = [pair.attributes.get(PREFERRED, "").split("\t") for pair in corpus]
    has_own = annotator is None and any(map(any, own))
    for group in rank_groups(corpus):
        for first, second in permutations(group, 2):
            both = [(row[first], row[second]) for row in ranks if row[first] and row[second]]
            is_better = bool(both) and all(a < b for a, b in both)
            if corpus[second].id in own[first] if has_own else is_better:
                better = corpus[first]
                worse = corpus[second]
                original, chosen = (" ".join(words) for words in better.words)
                rejected = " ".join(worse.target or ())
                yield TrainingRow(f"{better.id}>{worse.id}", chosen, rejected, original)


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
            **{"scheme": view.scheme.name, "view": view.name, "labels": list(view.labels)},
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
        return {
            name: dict(zip(self.view.labels, row, strict=True))
            for name, row in zip(self.annotators, counts, strict=True)
        }

    def table(self, *, bars: bool = False, unused: bool = True) -> Table:
        """Return the table of all counts, with a row for each label."""
        never = [k for k, column in enumerate(zip(*self.counts, strict=True)) if not any(column)]
        if unused or len(never) == len(self.view.labels):
            hidden = set()
        else:
            hidden = set(never)
        if self.by:
            columns = [Column(self.by, key="group")]
        else:
            columns = []
        columns += [Column("annotator"), Column("label"), Column("pairs", "count")]
        columns += [Column("share", "percent", unit="%"), *([Column("histogram")] if bars else [])]
        rows: list[list[Cell]] = []
        apart = []
        named = [(value or f"(no {self.by})", counts) for value, counts in self.groups.items()]
        for shown, each in [("all", self.counts), *named]:
            for name, counts in zip(self.annotators, each, strict=True):
                if rows:
                    apart += [len(rows)]
                total = sum(counts)
                for k, (label, count) in enumerate(zip(self.view.labels, counts, strict=True)):
                    if k in hidden:
                        continue
                    share = count / total if total else nan
                    if bars:
                        bar = ["#" * round(_BAR * count / total) if total else ""]
                    else:
                        bar = []
                    rows.append([*([shown] if self.by else []), name, label, count, share, *bar])
        title = f"{self.pairs} pairs by the labels of {self.view.scheme.name}, {self.view.name}"
        stub = 3 if self.by else 2
        return Table(title, columns, rows, self._note(hidden), apart=apart, stub=stub)

    def show(self, medium: str = "text") -> str:
        """Return the table of the labels that were given; see `alignkit.show.Table.show`."""
        return self.table(bars=medium == "text", unused=False).show(medium)

    def _note(self, hidden: Collection[int]) -> str:
        reasons = [f"{count} {reason}" for reason, count in self.left_out.items() if count]
        if reasons:
            notes = [f"without a label: {', '.join(reasons)}"]
        else:
            notes = []
        never = [label for k, label in enumerate(self.view.labels) if k in hidden]
        what = "label" if len(never) == 1 else "labels"
        if never:
            notes += [f"nobody gave the {what} {', '.join(never)}"]
        if self.several:
            notes += [overlapping(self.several, self.pairs, self.by)]
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
        several = sum(len(values_of(pair.attributes.get(by, ""), split)) > 1 for pair in corpus)
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
    import numpy as np

    counts = (np.bincount(row[row >= 0], minlength=len(matrix.labels)) for row in matrix.values)
    return tuple(tuple(row.tolist()) for row in counts)
