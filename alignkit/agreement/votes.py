"""Whose votes an adjudicated version follows: every combination of votes, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan

import numpy as np

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.array_types import I8
from alignkit._support.wording import how_many
from alignkit.agreement.pairs import CorpusData, PairData, check_case
from alignkit.errors import OptionError
from alignkit.model.annotation import ROLES
from alignkit.model.corpus import Corpus
from alignkit.stats.clusters import halves_test, share_interval
from alignkit.stats.resampling import SEED, check_seed
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import Result
from alignkit.tables.table import Table
from alignkit.version import __version__

STATES = ("none", "possible", "sure")
MOST_VOTERS = 4
ONE_CLUSTER = "no interval: only one sentence pair has such cells"
NO_WINNER = "no interval and no halves: a tie"
ONE_HALF = "no p: in one half of the sentence pairs the annotators never differ"
UNSTEADY = 0.01  # below this p, the two halves differ
ORDERS = 20_000  # random orders of the pairs for p; with none like the real one, p is below .0001

_HALVES = [Column(str(k + 1), "percent", "half", key=f"half_{k + 1}") for k in (0, 1)]

Votes = tuple[int, ...]
Kind = tuple[bool, Votes, int]
"""Whether the words are equal, the votes, and what the adjudicated version has."""


@dataclass(frozen=True)
class VoteShare:
    """In how many of the cells on which annotators differ somebody's vote stands.

    Parameters
    ----------
    count, total : The cells in which the vote stands, and all of them.
    low, high : The bounds of the share; NaN with fewer than two sentence pairs that have any.
    halves : The shares in the first and in the second half of the pairs; NaN without such cells.
    p : Of the test that the two halves are alike; NaN if one of them has no such cell.
    """

    count: int
    total: int
    low: float
    high: float
    halves: tuple[float, float]
    p: float

    @property
    def share(self) -> float:
        """The share; NaN if the annotators never differ."""
        return _share(self.count, self.total)

    @property
    def reason(self) -> str:
        """Why the share has no interval, or ""."""
        return ONE_CLUSTER if self.total and isnan(self.low) else ""


@dataclass(frozen=True, eq=False)
class VoteTable(Result):
    """What an adjudicated version made of each combination of votes.

    Parameters
    ----------
    annotators : The voters.
    adjudicated : The adjudicated version.
    kinds : The K kinds of cells that a voter or the adjudicated version links: whether the words
        are equal, the votes and the adjudicated state.
    pair, kind, cells : Three (n,) arrays: so many cells of this kind are in this pair, counted
        from 0.
    halves : (P,) 0 for the pairs that were adjudicated first, 1 for the others.
    agreed, changed : The numbers of pairs on which all voters have the same links; and of these,
        how many the adjudicated version changed.
    left_out : The number of pairs that lack one of them.
    seed : Of the random orders of the test of both halves.
    """

    annotators: tuple[str, ...]
    adjudicated: str
    kinds: tuple[Kind, ...]
    pair: I8
    kind: I8
    cells: I8
    halves: I8
    agreed: int
    changed: int
    left_out: int
    seed: int = SEED
    signature: str = ""

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return len(self.halves)

    def combinations(
        self, *, equal: bool | None = None, half: int | None = None
    ) -> dict[Votes, tuple[int, ...]]:
        """Return for each combination how many cells became none, possible and sure."""
        if half is not None:
            inside = self.halves[self.pair] == half
        else:
            inside = np.ones(len(self.pair), bool)
        counts = np.bincount(self.kind[inside], self.cells[inside], len(self.kinds))
        sums: dict[Votes, list[int]] = {}
        for (same, votes, state), n in zip(self.kinds, counts.astype(int).tolist(), strict=True):
            if n and (equal is None or same == equal):
                sums.setdefault(votes, [0, 0, 0])[state] += n
        return {votes: tuple(row) for votes, row in sorted(sums.items())}

    def stands(self, voter: int, half: int | None = None) -> tuple[int, int]:
        """Return in how many cells that differ a voter's vote stands, and how many there are."""
        differ = {v: row for v, row in self.combinations(half=half).items() if len(set(v)) > 1}
        return sum(row[v[voter]] for v, row in differ.items()), sum(map(sum, differ.values()))

    def in_pairs(self, chosen: Iterable[bool]) -> I8:
        """(P,): how many cells of the chosen kinds, a mask, each pair has."""
        inside = np.fromiter(chosen, bool, len(self.kinds))[self.kind]
        counts = np.bincount(self.pair[inside], self.cells[inside], self.pairs)
        return counts.astype(np.int64)

    @cached_property
    def shares(self) -> tuple[VoteShare, ...]:
        """How often the vote of each voter stands where the voters differ.

        The unit of the intervals and of the test is the pair: cells of one pair are alike.
        """
        every = self.in_pairs(len(set(votes)) > 1 for _, votes, _ in self.kinds)
        standing = [
            self.in_pairs(
                len(set(votes)) > 1 and votes[k] == state for _, votes, state in self.kinds
            )
            for k in range(len(self.annotators))
        ]
        chances = halves_test(np.array(standing), every, self.halves, orders=ORDERS, seed=self.seed)
        shares = []
        for own, p in zip(standing, chances, strict=True):
            first, second = (
                _share(int(own[self.halves == half].sum()), int(every[self.halves == half].sum()))
                for half in (0, 1)
            )
            bounds = share_interval(own, every)
            shares.append(VoteShare(int(own.sum()), int(every.sum()), *bounds, (first, second), p))
        return tuple(shares)

    @property
    def steady(self) -> list[float]:
        """The p of each voter's share in the first and the second half, by random orders."""
        return [share.p for share in self.shares]

    @property
    def summary(self) -> Sequence[str]:
        """What nobody drew, what changed though all agreed, and how many pairs are left out."""
        whole = self.combinations()
        nobody = sum(whole.get((0,) * len(self.annotators), (0, 0, 0)))
        same = [(v[0], row) for v, row in whole.items() if len(set(v)) == 1 and v[0]]
        cells = sum(sum(row) for _, row in same)
        kept = sum(row[state] for state, row in same)
        lines = [
            f"Links in {self.adjudicated!r} that no annotator drew: {nobody}",
            (
                f"Changed although all annotators agreed: {cells - kept} of the {cells} cells "
                f"that all linked in the same way; {self.changed} of the "
                f"{how_many(self.agreed, 'pair')} in which all links agree"
            ),
        ]
        left = f"{how_many(self.left_out, 'pair')} without all of them left out"
        return [*lines, *([left] if self.left_out else [])]

    def tables(self) -> Sequence[Table]:
        """Return who prevailed, then all combinations, for different and for equal words."""
        kinds = [equal for equal in (False, True) if self.combinations(equal=equal)]
        return [self._prevailed(), *map(self._table, kinds)]

    def _prevailed(self) -> Table:
        columns = [
            Column("annotator"),
            Column("stands", "count"),
            Column("differ", "count", key="cells"),
            Column("share", "percent"),
            *_HALVES,
            Column("p", "p"),
        ]
        rows: list[list[Cell]] = []
        for name, own in zip(self.annotators, self.shares, strict=True):
            share = Value(own.share, own.low, own.high, own.reason)
            p = Value(own.p, reason=ONE_HALF if isnan(own.p) and own.total else "")
            rows.append([name, own.count, own.total, share, *own.halves, p])
        title = f"Where the annotators differ: whose vote does {self.adjudicated!r} follow?"
        note = (
            "In brackets: 95% interval; its unit is the sentence pair, not the cell. p: in which "
            f"share of {ORDERS:,} random orders of the sentence pairs both halves differ as much, "
            "for any annotator"
        )
        note = ". ".join([note, *self.summary])
        return Table(title, columns, rows, note, "votes")

    def _table(self, equal: bool) -> Table:
        columns = [
            *(Column(name, key=f"vote {name}") for name in self.annotators),
            Column("cells", "count"),
            *(Column(state, "count") for state in STATES),
            Column("became", key="state"),
            Column("share", "percent"),
            *_HALVES,
            Column("winner", key="prevailed"),
        ]
        halves = [self.combinations(equal=equal, half=half) for half in (0, 1)]
        rows: list[list[Cell]] = []
        ties = 0
        for votes, row in self.combinations(equal=equal).items():
            start: list[Cell] = [*(STATES[v] for v in votes), sum(row), *row]
            most = [state for state in range(3) if row[state] == max(row)]
            if len(most) > 1:
                ties += 1
                outcomes = ", ".join(STATES[state] for state in most)
                share = Value(max(row) / sum(row), reason=NO_WINNER)
                rows.append([*start, outcomes, share, nan, nan, "tie"])
                continue
            every, became = (
                self.in_pairs(
                    same == equal and drawn == votes and state in states
                    for same, drawn, state in self.kinds
                )
                for states in (range(3), most)
            )
            share = _value(max(row) / sum(row), share_interval(became, every))
            parts = [half.get(votes, (0, 0, 0)) for half in halves]
            shares = [_share(part[most[0]], sum(part)) for part in parts]
            who = [name for name, v in zip(self.annotators, votes, strict=True) if v == most[0]]
            prevailed = ", ".join(who) if len(set(votes)) > 1 else ""
            rows.append([*start, STATES[most[0]], share, *shares, prevailed or "-"])
        words = "equal words" if equal else "different words"
        note = (
            "none, possible, sure: what the cells became, and in which share what they became most "
            "often; winner: who had voted for it; halves: the pairs in the order in which "
            "they were adjudicated, if their times are known, else of the corpus"
        )
        if ties:
            note += (
                f"; tie: {ties} of {how_many(len(rows), 'row')}, two or three outcomes of which "
            )
            note += "none is the most frequent"
        return Table(
            f"Votes on {words}", columns, rows, note, f"votes-{words.split(maxsplit=1)[0]}"
        )


def vote_table(
    corpus: Corpus,
    adjudicated: str,
    annotators: Sequence[str] | None = None,
    *,
    exact_case: bool = False,
    seed: int = SEED,
) -> VoteTable:
    """Count what an adjudicated version made of each combination of votes.

    Parameters
    ----------
    adjudicated : The adjudicated version.
    annotators : The voters, two to four; None: all people.
    exact_case : Whether words that differ only in case are different.
    seed : Of the random orders of the test that both halves of the pairs are alike.

    Raises
    ------
    OptionError : If there are not two to four voters, or no pair has all of them.
    UnknownNameError : If a name is not known.
    MissingTextError : If words are not known.
    """
    check_arguments(vote_table, locals())
    check_case(True, exact_case)
    check_seed(seed)
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
    rows, kind = np.unique(np.column_stack((source == target, states)), axis=0, return_inverse=True)
    kinds = tuple((bool(equal), tuple(votes), state) for equal, *votes, state in rows.tolist())
    there, counts = np.unique(pair * max(len(kinds), 1) + kind.reshape(-1), return_counts=True)
    in_pair, of_kind = np.divmod(there, max(len(kinds), 1))
    differs = (states[:, :-1] != states[:, :1]).any(axis=1)
    agreed = np.bincount(pair[differs], minlength=len(data)) == 0
    other = np.bincount(pair[states[:, -1] != states[:, 0]], minlength=len(data)) > 0
    signature = f"votes:{'+'.join(names)}|adjudicated:{adjudicated}"
    signature += f"|orders:{ORDERS}|seed:{seed}|version:{__version__}"
    return VoteTable(
        names,
        adjudicated,
        kinds,
        in_pair,
        of_kind,
        counts,
        _halves(corpus, data, adjudicated),
        int(agreed.sum()),
        int((agreed & other).sum()),
        len(corpus) - len(data),
        seed,
        signature,
    )


def _halves(corpus: Corpus, data: PairData, adjudicated: str) -> I8:
    """(P,): 0 for the pairs that were adjudicated first, by time if all are known, else 1."""
    times = [corpus[k].annotations[adjudicated].when for k in data.places.tolist()]
    places = np.arange(len(data))
    if all(times):
        order = np.argsort(list(map(str, times)), kind="stable")
    else:
        order = places
    halves = np.empty(len(data), np.int64)
    halves[order] = 2 * places >= len(data)
    return halves


def _share(count: int, of: int) -> float:
    return count / of if of else nan


def _value(share: float, bounds: tuple[float, float]) -> Value:
    missing = isnan(bounds[0]) and not isnan(share)
    return Value(share, *bounds, reason=ONE_CLUSTER if missing else "")
