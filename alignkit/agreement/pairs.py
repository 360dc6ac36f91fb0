"""The annotators and sentence pairs to compare, as arrays that are made once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from alignkit._support.arguments import check_kind, check_known, words
from alignkit._support.array_types import B1, I8
from alignkit._support.cached_methods import cached_method
from alignkit.agreement.options import Grouped
from alignkit.corpora.labelled import judges_of
from alignkit.errors import OptionError
from alignkit.model.alignment import NULL, Alignment
from alignkit.model.annotation import PERIODS, Annotation
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary
from alignkit.model.corpus import Corpus, group_texts, values_of
from alignkit.scoring.counts import Rows as Counts
from alignkit.scoring.counts import count_links

UNIVERSES = ("all", "judged")
"""The cells for kappa and AC1: all, or those that the annotators judged."""

_UNALIGNED = Alignment()
_ABSENT = Annotation(_UNALIGNED)


@dataclass(frozen=True)
class CorpusPart:
    """A part of the corpus: its name, and the positions of its pairs."""

    name: str
    members: I8

    def __len__(self) -> int:
        return len(self.members)


def whole_part(corpus: Corpus) -> CorpusPart:
    """Return the whole corpus as a part."""
    return CorpusPart("all", np.arange(len(corpus)))


def parts_of(corpus: Corpus, options: Grouped, names: Sequence[str]) -> list[CorpusPart]:
    """Return the whole corpus, then each group; a group called "all" gets another name."""
    parts = [whole_part(corpus)]
    by = options.by
    if by is not None:
        values_of("", options.split)  # refuses a wrong one
        groups: dict[str, list[int]] = {}
        for place, text in enumerate(group_texts(corpus, by, names)):
            for name in values_of(text, options.split):
                groups.setdefault(name, []).append(place)
        names_of_groups = list(groups)
        if by in PERIODS:  # in the order of time, pairs without a time last
            names_of_groups.sort(key=lambda name: (not name, name))
        for name in names_of_groups:
            called = f"{by} all" if name == "all" else name
            parts.append(CorpusPart(called, np.array(groups[name])))
    return parts


def in_several(parts: Sequence[CorpusPart]) -> int:
    """Return how many pairs are in several groups; the first part is the whole corpus."""
    parts_with = np.bincount(np.concatenate([part.members for part in parts]))
    return int((parts_with > 2).sum())  # the whole corpus, and two groups or more


def check_annotators(corpus: Corpus, annotators: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names (None: all of the corpus) if they can be compared."""
    if isinstance(annotators, str):
        raise OptionError(f"give the annotators as a list, not as the string {annotators!r}")
    check_kind("corpus", corpus, Corpus)
    if annotators is None:
        names = corpus.aligners
    else:
        names = words("annotators", annotators)
    if len(names) < 2:
        raise OptionError(
            "agreement needs two or more annotators who aligned pairs; found: "
            f"{', '.join(names) or 'none'}; {_hint(corpus, names)}"
        )
    for name in names:
        if names.count(name) > 1:
            raise OptionError(f"annotator {name!r} is named twice; name each one once")
    corpus.require(*names)
    return names


def _hint(corpus: Corpus, names: Sequence[str]) -> str:
    """Return what to do if a corpus has fewer than two annotators."""
    others = [name for name in corpus.aligners if name not in names]
    if others:
        roles = ", ".join(f"{name} (role {corpus.roles[name]})" for name in others)
        return f"to compare others, name the annotators; there are also {roles}"
    judges = judges_of(corpus)
    if len(judges) > 1:
        return (
            f"{', '.join(judges)} judged pairs: compare these with agree_on_judgments "
            "(alignkit agree-judgments)"
        )
    return "merge the other annotators' files into the corpus"


def check_case(ignore_identical: bool, exact_case: bool) -> None:
    """Raise an error for a rule of case if no words are compared."""
    if exact_case and not ignore_identical:
        raise OptionError(
            "`exact_case` decides which words are identical, but identical items are not left out: "
            "set `ignore_identical` too, or remove `exact_case`"
        )


def judged_cells(alignment: Alignment) -> Alignment:
    """Return the cells that an annotator judged as links: links, and other labelled cells."""
    labelled = [link for link in alignment.labels if NULL not in link]
    return Alignment((), [*alignment.possible, *labelled])


class CorpusData:
    """The arrays of a corpus of Q sentence pairs, each made on first use."""

    def __init__(self, corpus: Corpus, *, exact_case: bool = False) -> None:
        self.corpus = corpus
        self.exact_case = exact_case

    @cached_method
    def aligned(self, name: str) -> B1:
        """(Q,): the pairs that an annotator aligned, a mask."""
        return np.array([pair.aligned_by(name) for pair in self.corpus], bool)

    def places(self, names: Sequence[str], least: int | None = None) -> I8:
        """Return the positions of the pairs that so many annotators aligned (None: all of them)."""
        aligned = np.sum([self.aligned(name) for name in names], axis=0)
        return np.flatnonzero(aligned >= (least or len(names)))

    @cached_method
    def links(self, name: str) -> LinkArrays:
        """Return the links of an annotator; none in pairs not aligned by this annotator."""
        return self._packed(self._alignments(name))

    def _alignments(self, name: str) -> Iterator[Alignment]:
        """Yield the alignment of each pair; an empty one if this annotator has none."""
        for pair in self.corpus:
            yield pair.alignment(name) if pair.aligned_by(name) else _UNALIGNED

    def started(self, name: str, initial: str) -> B1:
        """(Q,): the pairs in which an annotator started from `initial`, or it is not known.

        An empty `initial` is a start without links.
        """
        return np.array([start in (None, initial) for start in self._starts(name)], bool)

    @cached_method
    def _starts(self, name: str) -> list[str | None]:
        """Return what an annotator started from in each pair; None if it is not known."""
        return [pair.annotations.get(name, _ABSENT).start for pair in self.corpus]

    @cached_property
    def has_unseen(self) -> bool:
        """Whether anybody kept links without looking at them."""
        annotations = chain.from_iterable(pair.annotations.values() for pair in self.corpus)
        return any(annotation.unseen for annotation in annotations)

    @cached_method
    def unseen(self, name: str) -> LinkArrays:
        """Return the links that an annotator kept without looking at them."""
        unseen = [pair.annotations.get(name, _ABSENT).unseen for pair in self.corpus]
        return self._packed(Alignment((), links) for links in unseen)

    @cached_method
    def judged(self, name: str) -> LinkArrays:
        """Return the cells that an annotator judged (`judged_cells`) as links."""
        cells = self._packed(map(judged_cells, self._alignments(name)))
        if len(cells.links) == len(self.links(name).links):
            raise OptionError(
                f"{name!r} has no labels on cells without a link, so it is not known which "
                "cells were judged: compare over all cells (`universe='all'`), or read the "
                "annotations from a format that keeps such labels, such as transread"
            )
        return cells

    def _packed(self, alignments: Iterable[Alignment]) -> LinkArrays:
        """Return the links of all pairs, with the numbers of words of each as its size."""
        packed = LinkArrays.pack(alignments)
        lengths = np.maximum(packed.lengths, self.lengths.astype(np.int32))
        return LinkArrays.trusted(packed.links, packed.sure, packed.offsets, lengths)

    def records_judged(self, name: str) -> bool:
        """Whether the corpus records which cells an annotator judged."""
        try:
            self.judged(name)
        except OptionError:
            return False
        return True

    @cached_property
    def known(self) -> B1:
        """(Q,): the pairs with known words, a mask."""
        return np.array([pair.has_text for pair in self.corpus], bool)

    @cached_property
    def words(self) -> tuple[TokenArrays, TokenArrays]:
        """The source and the target words, with the same numbers; none if not known."""
        vocabulary = Vocabulary(casefold=not self.exact_case)
        pairs = [pair.words if pair.has_text else ((), ()) for pair in self.corpus]
        source = TokenArrays.pack([source for source, _ in pairs], vocabulary)
        target = TokenArrays.pack([target for _, target in pairs], vocabulary)
        return source, target

    @cached_property
    def lengths(self) -> I8:
        """(Q, 2): N and M; 0 if the words are not known."""
        sides = [pair.lengths if pair.has_text else (0, 0) for pair in self.corpus]
        return np.array(sides, np.int64).reshape(-1, 2)


@dataclass(frozen=True)
class PairData:
    """The P sentence pairs on which some annotators are compared."""

    data: CorpusData  # the whole corpus
    annotators: tuple[str, ...]  # who is compared; of two, the second is the reference
    places: I8  # (P,): the positions of the pairs in the corpus, rising
    ignore_identical: bool = False  # whether items of equal words are left out
    universe: str = "all"  # one of UNIVERSES

    @classmethod
    def of(
        cls,
        data: CorpusData,
        annotators: Sequence[str] | None = None,
        *,
        least: int | None = None,
        ignore_identical: bool = False,
        universe: str = "all",
    ) -> PairData:
        """Select the pairs that the annotators aligned."""
        names = check_annotators(data.corpus, annotators)
        check_known("universe", universe, UNIVERSES)
        if universe == "judged":
            for name in names:
                data.judged(name)
        return cls(data, names, data.places(names, least), ignore_identical, universe)

    def __len__(self) -> int:
        return len(self.places)

    def inside(self, members: I8) -> B1:
        """(P,): the pairs at some positions of the corpus, a mask."""
        return np.isin(self.places, members)

    def _check_words(self) -> None:
        unknown = self.places[~self.data.known[self.places]]
        if len(unknown):
            _ = self.data.corpus[int(unknown[0])].words  # raises an error that names the pair

    @cached_property
    def words(self) -> tuple[TokenArrays, TokenArrays]:
        """The source and the target words."""
        self._check_words()
        source, target = self.data.words
        return source.take(self.places), target.take(self.places)

    @cached_property
    def lengths(self) -> I8:
        """(P, 2): N and M."""
        self._check_words()
        return self.data.lengths[self.places]

    def all_links(self, name: str) -> LinkArrays:
        """Return the links of an annotator, including identical ones."""
        return self.data.links(name).take(self.places)

    @cached_method
    def links(self, name: str) -> LinkArrays:
        """Return the links of an annotator, without those of equal words on request."""
        return self._different(self.all_links(name))

    def aligned(self, name: str) -> B1:
        """(P,): the pairs that an annotator aligned, a mask."""
        return self.data.aligned(name)[self.places]

    @cached_property
    def judged(self) -> LinkArrays:
        """The cells that all annotators judged, without those of equal words on request."""
        cells, *others = (self.data.judged(name).take(self.places) for name in self.annotators)
        for other in others:
            cells = cells.keep(cells.among(other))
        return self._different(cells)

    @cached_property
    def cells(self) -> I8:
        """(P,): the number of cells in the universe."""
        if self.universe == "judged":
            return np.diff(self.judged.offsets)
        every = self.lengths[:, 0] * self.lengths[:, 1]
        if self.ignore_identical:
            return every - _identical_cells(*self.words)
        return every

    @cached_property
    def link_counts(self) -> Counts:
        """(P, 8): the links of the first two annotators, see `count_links`."""
        first, second = self.annotators[:2]
        return count_links(self.links(first), self.links(second))

    @cached_property
    def cell_counts(self) -> Counts:
        """(P, 8): the same for the links in the universe."""
        if self.universe == "all":
            return self.link_counts
        first, second = map(self.links, self.annotators[:2])
        first = first.keep(first.among(self.judged))
        second = second.keep(second.among(self.judged))
        return count_links(first, second)

    def _different(self, links: LinkArrays) -> LinkArrays:
        """Return the links without those of equal words, if these are left out."""
        if self.ignore_identical:
            return links.without_identical(*self.words)
        return links


def _identical_cells(source: TokenArrays, target: TokenArrays) -> I8:
    """(P,): the number of cells of equal words: for each word, the product of its counts."""
    words = np.int64(1 + max(source.ids.max(initial=0), target.ids.max(initial=0)))
    first, first_counts = _words_of_pairs(source, words)
    second, second_counts = _words_of_pairs(target, words)
    shared, in_first, in_second = np.intersect1d(
        first, second, assume_unique=True, return_indices=True
    )
    cells = np.zeros(len(source.offsets) - 1, np.int64)
    np.add.at(cells, shared // words, first_counts[in_first] * second_counts[in_second])
    return cells


def _words_of_pairs(side: TokenArrays, words: np.int64) -> tuple[I8, I8]:
    """Return the distinct words of each pair, as pair * `words` + word, and their counts."""
    pair = np.repeat(np.arange(len(side.offsets) - 1), np.diff(side.offsets))
    return np.unique(pair * words + side.ids, return_counts=True)
