"""Turn a sentence pair into a grid of cells, for every kind of drawing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from string import ascii_uppercase

from alignkit.model.alignment import NULL, Alignment, Link
from alignkit.model.annotation import Annotation
from alignkit.model.sentence_pair import SentencePair

EMPTY_WORD = "∅"
"""The name of the empty word in drawings."""

States = tuple[int, ...]
"""The state of a cell for each annotator: 0 no link, 1 only possible, 2 sure."""


@dataclass(frozen=True)
class Grid:
    """The content of a matrix drawing, for any medium."""

    id: str  # as the sentence pair has them
    attributes: Mapping[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    has_source: bool  # whether the words are known
    has_target: bool
    annotators: tuple[str, ...]  # the K annotators drawn, all of whom aligned the pair
    absent: tuple[str, ...]  # those asked for who did not align it
    alignments: tuple[Alignment, ...]  # the K alignments
    annotations: Mapping[str, Annotation]
    cells: Mapping[Link, States]
    nulls: Mapping[Link, States]

    @property
    def places(self) -> tuple[list[int], list[int]]:
        """The rows and columns to draw: words, and `NULL` if a word is aligned to nothing."""
        rows = list(range(len(self.rows)))
        columns = list(range(len(self.columns)))
        if any(link.i < 0 for link in self.nulls):
            rows += [NULL]
        if any(link.j < 0 for link in self.nulls):
            columns += [NULL]
        return rows, columns

    def who(self, shown: Callable[[str], str]) -> list[str]:
        """Describe the number of links of each annotator; `shown` escapes a name."""
        signs = letters(*self.annotators) if len(self.annotators) == 2 else ()
        parts = []
        for k, name in enumerate(self.annotators):
            sure, possible = self.counts(k)
            letter = f"{signs[k]} " if signs else ""
            parts.append(f"{letter}{shown(name)}: {sure} sure, {possible} possible")
        for name in self.absent:
            what = "judged, not aligned" if name in self.annotations else "not annotated"
            parts.append(f"{shown(name)}: {what}")
        return parts or ["no annotations"]

    def remarks(self) -> Iterator[tuple[str, str, str]]:
        """Yield an annotator, a kind of remark and its text."""
        for name, value in self.annotations.items():
            labels = []
            if value.alignment is not None:
                labelled = value.alignment.labels.items()
                labels = [f"{self._words(link)} {label}" for link, label in labelled if label]
            texts = {
                "judgment": value.judgment,
                "flags": ", ".join(sorted(value.flags)),
                "comment": value.comment,
                "labels": "; ".join(labels),
                "provenance": value.provenance,
                "when": value.when,
            }
            for kind, text in texts.items():
                if text:
                    yield (name, kind, text)

    def states(self, link: Link) -> States | None:
        """Return the states of a cell or null; None if it is empty."""
        return self.cells.get(link) or self.nulls.get(link)

    def mark(self, link: Link) -> CellMark | None:
        """Return the mark of a cell or null; None if it is empty."""
        states = self.states(link)
        if states is None:
            return None
        return find_mark(states, self.annotators)

    def describe(self, link: Link) -> str:
        """Describe who has a link: ``they ~ they: sure (anna), possible (ben)``."""
        have = []
        states = self.states(link) or ()
        for name, alignment, state in zip(self.annotators, self.alignments, states, strict=True):
            if not state:
                continue
            facts = [name, alignment.labels.get(link, "")]
            if link in alignment.weights:
                facts.append(f"{alignment.weights[link]:.4g}")
            status = "sure" if state == 2 else "possible"
            have.append(f"{status} ({'; '.join(filter(None, facts))})")
        return f"{self._words(link)}: {', '.join(have)}"

    def _words(self, link: Link) -> str:
        """Return the two words of a cell or null: ``they ~ they``."""
        return f"{_word(self.rows, link.i)} ~ {_word(self.columns, link.j)}"

    def counts(self, k: int) -> tuple[int, int]:
        """Return the numbers of sure and only possible links of the k-th annotator."""
        states = [cell[k] for cell in self.cells.values()]
        return states.count(2), states.count(1)


def make_grid(pair: SentencePair, annotators: Iterable[str] | None = None) -> Grid:
    """Lay out a sentence pair as a grid."""
    wanted = tuple(dict.fromkeys(pair.annotations if annotators is None else annotators))
    aligned = pair.alignments
    names = tuple(name for name in wanted if name in aligned)
    alignments = tuple(aligned[name] for name in names)
    rows = pair.source
    if rows is None:
        extents = [alignment.extent()[0] for alignment in aligned.values()]
        rows = tuple(map(str, range(max(extents, default=0))))
    columns = pair.target
    if columns is None:
        extents = [alignment.extent()[1] for alignment in aligned.values()]
        columns = tuple(map(str, range(max(extents, default=0))))
    nulls = []
    for alignment in alignments:
        sure = alignment.sure_nulls
        nulls.append({null: null in sure for null in alignment.nulls})
    return Grid(
        id=pair.id,
        attributes=pair.attributes,
        annotators=names,
        alignments=alignments,
        rows=rows,
        columns=columns,
        has_source=pair.source is not None,
        has_target=pair.target is not None,
        absent=tuple(name for name in wanted if name not in aligned),
        annotations={k: pair.annotations[k] for k in wanted if k in pair.annotations},
        cells=_states([dict(alignment.items()) for alignment in alignments]),
        nulls=_states(nulls),
    )


def _states(marked: list[dict[Link, bool]]) -> dict[Link, States]:
    """Return the states of all cells, given each annotator's and whether they are sure."""
    states = {}
    for link in sorted(set().union(*marked)):
        states[link] = tuple(1 + cells[link] if link in cells else 0 for cells in marked)
    return states


def _word(words: tuple[str, ...], k: int) -> str:
    """Return word k; a label may stand on a cell without a link, beyond the last word."""
    if k == NULL:
        return EMPTY_WORD
    return words[k] if k < len(words) else str(k)


_LONE_LETTER = re.compile(r"(?<![^\W\d_])[A-Z](?![^\W\d_])")


@dataclass(frozen=True)
class CellMark:
    """The look and meaning of a state of a cell."""

    kind: str
    sign: str
    ascii_sign: str
    meaning: str  # the words of the legend
    rank: int  # the place in the legend


@lru_cache(maxsize=4096)
def find_mark(states: States, annotators: tuple[str, ...]) -> CellMark:
    """Return the mark of a cell that at least one annotator filled."""
    number = len(annotators)
    if min(states) == max(states):
        everybody = {1: "", 2: " for both"}.get(number, f" for all {number}")
        if states[0] == 2:
            return CellMark("sure", "■", "S", f"sure{everybody}", 0)
        return CellMark("possible", "□", "P", f"possible{everybody}", 1)
    if number == 2:
        return _mark_of_two(states, *annotators)
    have = sum(map(bool, states))
    sign = str(have) if have < 10 else "+"
    if have == number:
        meaning = f"sure for some of all {number}"
    else:
        meaning = f"{have} of {number} have it"
    return CellMark("some", sign, sign, meaning, 2 + number - have)


def letters(first: str, second: str) -> tuple[str, str]:
    """Return the letters for two annotators, which agree with letters in their names."""
    of_first = set(_LONE_LETTER.findall(first.upper()))
    of_second = set(_LONE_LETTER.findall(second.upper()))
    for a, b in ("AB", "XY", "PQ", *pairwise(ascii_uppercase)):
        both = {a, b}
        if of_first.isdisjoint(both) and of_second.isdisjoint(both):
            break
        if of_first & both == {a} and of_second & both == {b}:
            break
    return a, b


def _mark_of_two(states: States, a: str, b: str) -> CellMark:
    """Return the mark of a cell in which two annotators differ."""
    x, y = letters(a, b)
    return {
        (2, 1): CellMark("first-surer", "◧", "<", f"sure for {a}, possible for {b}", 2),
        (1, 2): CellMark("second-surer", "◨", ">", f"possible for {a}, sure for {b}", 3),
        (2, 0): CellMark("first-sure", x, x, f"only {a}, sure", 4),
        (1, 0): CellMark("first-possible", x.lower(), x.lower(), f"only {a}, possible", 5),
        (0, 2): CellMark("second-sure", y, y, f"only {b}, sure", 6),
        (0, 1): CellMark("second-possible", y.lower(), y.lower(), f"only {b}, possible", 7),
    }[states[0], states[1]]


def tally(grids: Iterable[Grid]) -> tuple[Counter[CellMark], int]:
    """Count the cells with each mark, and how many of them are explicit nulls."""
    cells: Counter[CellMark] = Counter()
    nulls = 0
    for grid in grids:
        drawn = (*grid.cells.values(), *grid.nulls.values())
        cells.update(find_mark(states, grid.annotators) for states in drawn)
        nulls += len(grid.nulls)
    return cells, nulls


def legend(
    cells: Counter[CellMark], nulls: int, empty_word: str = EMPTY_WORD
) -> list[tuple[CellMark | None, str]]:
    """Return the entries of a legend: each mark of `tally` and its meaning; None for nulls."""
    marks = sorted(cells, key=lambda mark: (mark.rank, mark.meaning))
    entries: list[tuple[CellMark | None, str]] = []
    entries += [(mark, f"{mark.meaning} ({cells[mark]})") for mark in marks]
    if nulls:
        entries.append((None, f"{empty_word} aligned to nothing ({nulls} of these)"))
    return entries
