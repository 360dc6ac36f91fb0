"""Whose votes an adjudicated version follows: every combination of votes, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from scipy.stats import fisher_exact

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.array_types import I8
from alignkit._support.wording import how_many
from alignkit.agreement.pairs import CorpusData, PairData, check_case
from alignkit.errors import OptionError
from alignkit.model.annotation import ROLES
from alignkit.model.corpus import Corpus
from alignkit.stats.resampling import wilson_interval
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import Result
from alignkit.tables.table import Table
from alignkit.version import __version__

STATES = ("none", "possible", "sure")
MOST_VOTERS = 4
UNSTEADY = 0.01  # below this p, the two halves differ

_HALVES = [
    Column(str(k + 1), "percent", "half", key=f"half_{k + 1}") for k in (0, 1)
]  # fmt: skip

Votes = tuple[int, ...]
Key = tuple[bool, int, Votes, int]
"""Whether the words are equal, the half of the pairs, the votes, and what the adjudicated has."""


@dataclass(frozen=True, eq=False)
class VoteTable(Result):
    """What an adjudicated version made of each combination of votes.

    Parameters
    ----------
    annotators : The voters.
    adjudicated : The adjudicated version.
    counts : The numbers of cells that a voter or the adjudicated version links, by whether the
        words are equal, the half of the pairs (0 or 1), the votes and the adjudicated state.
    pairs, agreed, changed : The numbers of pairs; of those on which all voters have the same links;
        and of these, how many the adjudicated version changed.
    left_out : The number of pairs that lack one of them.
    """

    annotators: tuple[str, ...]
    adjudicated: str
    counts: Counter[Key]
    pairs: int
    agreed: int
    changed: int
    left_out: int
    signature: str = ""

    def combinations(
        self, *, equal: bool | None = None, half: int | None = None
    ) -> dict[Votes, tuple[int, ...]]:
        """Return for each combination how many cells became none, possible and sure."""
        sums: dict[Votes, list[int]] = {}
        for (same, part, votes, state), n in self.counts.items():
            if (equal is None or same == equal) and (half is None or part == half):
                sums.setdefault(votes, [0, 0, 0])[state] += n
        return {votes: tuple(row) for votes, row in sorted(sums.items())}

    def stands(self, voter: int, half: int | None = None) -> tuple[int, int]:
        """Return in how many cells that differ a voter's vote stands, and how many there are."""
        differ = {v: row for v, row in self.combinations(half=half).items() if len(set(v)) > 1}
        return sum(row[v[voter]] for v, row in differ.items()), sum(map(sum, differ.values()))

    @property
    def steady(self) -> list[float]:
        """The p of each voter's share in the first and the second half, by Fisher's exact test."""
        tables = [[self.stands(k, half) for half in (0, 1)] for k in range(len(self.annotators))]
        return [
            float(fisher_exact(np.array([[a, n - a], [b, m - b]]))[1]) for (a, n), (b, m) in tables
        ]

    @property
    def summary(self) -> Sequence[str]:
        """What nobody drew, what changed though all agreed, and how many pairs are left out."""
        whole = self.combinations()
        nobody = sum(whole.get((0,) * len(self.annotators), (0, 0, 0)))
        same = [(v[0], row) for v, row in whole.items() if len(set(v)) == 1 and v[0]]
        cells, kept = sum(sum(row) for _, row in same), sum(row[state] for state, row in same)
        pairs = f"{self.changed} of the {how_many(self.agreed, 'pair')} in which all links agree"
        lines = [
            f"Links in {self.adjudicated!r} that no annotator drew: {nobody}",
            f"Changed although all annotators agreed: {cells - kept} of the {cells} cells that all "
            f"linked in the same way; {pairs}",
        ]
        left = f"{how_many(self.left_out, 'pair')} without all of them left out"
        return [*lines, *([left] if self.left_out else [])]

    def tables(self) -> Sequence[Table]:
        """Return who prevailed, then all combinations, for different and for equal words."""
        kinds = [equal for equal in (False, True) if self.combinations(equal=equal)]
        return [self._prevailed(), *map(self._table, kinds)]

    def _prevailed(self) -> Table:
        columns = [
            Column("annotator"), Column("stands", "count"), Column("differ", "count", key="cells"),
            Column("share", "percent"), *_HALVES,
            Column("p", "number"),
        ]  # fmt: skip
        rows: list[list[Cell]] = []
        for k, (name, p) in enumerate(zip(self.annotators, self.steady, strict=True)):
            count, of = self.stands(k)
            halves = [_share(*self.stands(k, half)) for half in (0, 1)]
            share = Value(_share(count, of), *wilson_interval(count, of))
            rows.append([name, count, of, share, *halves, p])
        title = f"Where the annotators differ: whose vote does {self.adjudicated!r} follow?"
        note = "p: p-value of Fisher's exact test that the share is the same in both halves"
        note = ". ".join([note, *self.summary])
        return Table(title, columns, rows, note, "votes")

    def _table(self, equal: bool) -> Table:
        columns = [
            *(Column(name, key=f"vote {name}") for name in self.annotators),
            Column("cells", "count"), *(Column(state, "count") for state in STATES),
            Column("became", key="state"), Column("share", "percent"),
            *_HALVES,
            Column("winner", key="prevailed"),
        ]  # fmt: skip
        halves = [self.combinations(equal=equal, half=half) for half in (0, 1)]
        rows: list[list[Cell]] = []
        for votes, row in self.combinations(equal=equal).items():
            most = max(range(3), key=row.__getitem__)
            share = Value(row[most] / sum(row), *wilson_interval(row[most], sum(row)))
            parts = [half.get(votes, (0, 0, 0)) for half in halves]
            shares = [_share(part[most], sum(part)) for part in parts]
            who = [name for name, v in zip(self.annotators, votes, strict=True) if v == most]
            prevailed = ", ".join(who) if len(set(votes)) > 1 else ""
            states = [STATES[v] for v in votes]
            rows.append([*states, sum(row), *row, STATES[most], share, *shares, prevailed or "-"])
        words = "equal words" if equal else "different words"
        note = (
            "none, possible, sure: what the cells became, and in which share what they became most "
            "often; winner: who had voted for it; halves: the pairs in the order in which "
            "they were adjudicated, if their times are known, else of the corpus"
        )
        return Table(
            f"Votes on {words}", columns, rows, note, f"votes-{words.split(maxsplit=1)[0]}"
        )


def vote_table(
    corpus: Corpus, adjudicated: str, annotators: Sequence[str] | None = None, *,
    exact_case: bool = False,
) -> VoteTable:  # fmt: skip
    """Count what an adjudicated version made of each combination of votes.

    Parameters
    ----------
    adjudicated : The adjudicated version.
    annotators : The voters, two to four; None: all people.
    exact_case : Whether words that differ only in case are different.

    Raises
    ------
    OptionError : If there are not two to four voters, or no pair has all of them.
    UnknownNameError : If a name is not known.
    MissingTextError : If words are not known.
    """
    check_arguments(vote_table, locals())
    check_case(True, exact_case)
    people = [name for name, role in corpus.roles.items() if role == ROLES[0]]
    names = tuple(name for name in annotators or people if name != adjudicated)
    for name in (adjudicated, *names):
        check_known("annotator", name, corpus.annotators)
    if not 2 <= len(names) <= MOST_VOTERS:
        raise OptionError(f"{how_many(len(names), 'voter')}; name two to {MOST_VOTERS}")
    data = PairData.of(CorpusData(corpus, exact_case=exact_case), (*names, adjudicated))
    if not len(data):
        raise OptionError(f"no pair has links of {', '.join((adjudicated, *names))}")
    links = [data.all_links(name) for name in data.annotators]
    size = 1 + max(int(x.links.max(initial=0)) for x in links)
    cells, place = np.unique(np.concatenate([x.cells(size) for x in links]), return_inverse=True)
    states = np.zeros((len(cells), len(links)), np.int64)
    whose = np.repeat(np.arange(len(links)), [len(x.links) for x in links])
    states[place, whose] = 1 + np.concatenate([x.sure for x in links])
    pair, at = np.divmod(cells, size * size)
    source, target = (
        words.ids[words.offsets[pair] + k]
        for words, k in zip(data.words, np.divmod(at, size), strict=True)
    )
    rows = np.column_stack((source == target, _halves(corpus, data, adjudicated)[pair], states))
    keys, counts = np.unique(rows, axis=0, return_counts=True)
    counted = Counter[Key]()
    for (equal, half, *votes, state), n in zip(keys.tolist(), counts.tolist(), strict=True):
        counted[bool(equal), half, tuple(votes), state] = n
    differs = (states[:, :-1] != states[:, :1]).any(axis=1)
    agreed = np.bincount(pair[differs], minlength=len(data)) == 0
    other = np.bincount(pair[states[:, -1] != states[:, 0]], minlength=len(data)) > 0
    signature = f"votes:{'+'.join(names)}|adjudicated:{adjudicated}|version:{__version__}"
    return VoteTable(
        names, adjudicated, counted, len(data), int(agreed.sum()), int((agreed & other).sum()),
        len(corpus) - len(data), signature,
    )  # fmt: skip


def _halves(corpus: Corpus, data: PairData, adjudicated: str) -> I8:
    """(P,): 0 for the pairs that were adjudicated first, by time if all are known, else 1."""
    times = [corpus[k].annotations[adjudicated].when for k in data.places.tolist()]
    places = np.arange(len(data))
    order = np.argsort(list(map(str, times)), kind="stable") if all(times) else places
    halves = np.empty(len(data), np.int64)
    halves[order] = 2 * places >= len(data)
    return halves


def _share(count: int, of: int) -> float:
    return count / of if of else nan
