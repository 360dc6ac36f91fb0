"""Whose votes an adjudicated version follows: every combination of votes, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from scipy.stats import fisher_exact

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.wording import how_many
from alignkit.agreement.pairs import check_case
from alignkit.errors import MissingTextError, OptionError
from alignkit.model.annotation import ROLES
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
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
        pairs = f"{self.changed} of {how_many(self.agreed, 'pair')}"
        lines = [
            f"Drawn by nobody: {how_many(nobody, 'link')}",
            f"Changed though all agreed: {cells - kept} of {cells} cells; {pairs}",
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
        title = f"Whose votes stand in {self.adjudicated!r} where they differ"
        note = f"p: that both halves have the same share. {'. '.join(self.summary)}"
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
    kept = [pair for pair in corpus if all(map(pair.aligned_by, (adjudicated, *names)))]
    if not kept:
        raise OptionError(f"no pair has links of {', '.join((adjudicated, *names))}")
    times = [pair.annotations[adjudicated].when for pair in kept]
    if all(times):
        kept = [kept[k] for k in sorted(range(len(kept)), key=lambda k: (str(times[k]), k))]
    counts, agreed, changed = Counter[Key](), 0, 0
    for place, pair in enumerate(kept):
        states = [_states(pair, name) for name in (*names, adjudicated)]
        same = all(each == states[0] for each in states[:-1])
        agreed += same
        changed += same and states[-1] != states[0]
        for i, j in set().union(*states):
            votes = (*(each.get((i, j), 0) for each in states),)
            key = _equal(pair, i, j, exact_case), int(2 * place >= len(kept)), votes[:-1], votes[-1]
            counts[key] += 1
    signature = f"votes:{'+'.join(names)}|adjudicated:{adjudicated}|version:{__version__}"
    left_out = len(corpus) - len(kept)
    return VoteTable(names, adjudicated, counts, len(kept), agreed, changed, left_out, signature)


def _share(count: int, of: int) -> float:
    return count / of if of else nan


def _states(pair: SentencePair, name: str) -> dict[tuple[int, int], int]:
    """Return the links of an annotator, 1 if only possible, 2 if sure."""
    alignment = pair.alignment(name)
    return {(i, j): 1 + ((i, j) in alignment.sure) for i, j in alignment.possible}


def _equal(pair: SentencePair, i: int, j: int, exact_case: bool) -> bool:
    if pair.source is None or pair.target is None:
        raise MissingTextError(f"pair {pair.id!r} has no words; add the texts")
    words = pair.source[i], pair.target[j]
    return words[0] == words[1] if exact_case else words[0].casefold() == words[1].casefold()
