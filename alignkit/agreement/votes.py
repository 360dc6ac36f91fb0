"""Whose votes an adjudicated version follows: every combination of votes, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import NamedTuple

import numpy as np

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.array_types import B1, I8
from alignkit._support.wording import how_many
from alignkit.agreement.pairs import CorpusData, PairData, check_case
from alignkit.errors import OptionError
from alignkit.model.arrays import number_cells
from alignkit.model.corpus import Corpus
from alignkit.model.roles import ROLES
from alignkit.stats.clusters import halves_test, share_interval
from alignkit.stats.defaults import SEED
from alignkit.stats.resampling import check_seed
from alignkit.tables.columns import Column, Row, Value
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


class Kind(NamedTuple):
    """A kind of cells: whether the words are equal, the votes, and the adjudicated state."""

    equal: bool
    votes: Votes
    state: int


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

    Returned by `vote_table`.

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

    Examples
    --------
    >>> from alignkit import read_corpus
    >>> from alignkit.agreement import vote_table
    >>> votes = vote_table(read_corpus("samples/paraphrases.jsonl"), "gold", ["anna", "ben"])
    >>> votes.pairs, votes.agreed, len(votes.kinds)
    (64, 33, 20)
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
        for kind, count in zip(self.kinds, counts.astype(int).tolist(), strict=True):
            if count and (equal is None or kind.equal == equal):
                sums.setdefault(kind.votes, [0, 0, 0])[kind.state] += count
        return {votes: tuple(row) for votes, row in sorted(sums.items())}

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
        differing = {kind for kind in self.kinds if len(set(kind.votes)) > 1}
        cells = self.in_pairs(kind in differing for kind in self.kinds)
        standing = []
        for voter in range(len(self.annotators)):
            kept = {kind for kind in differing if kind.votes[voter] == kind.state}
            standing.append(self.in_pairs(kind in kept for kind in self.kinds))
        chances = halves_test(np.array(standing), cells, self.halves, orders=ORDERS, seed=self.seed)
        return tuple(
            self._vote_share(stands, cells, p) for stands, p in zip(standing, chances, strict=True)
        )

    def _vote_share(self, standing: I8, cells: I8, p: float) -> VoteShare:
        """Return the share of a vote, from the (P,) cells where it stands and all that differ."""
        low, high = share_interval(standing, cells)
        first, second = (self.halves == half for half in (0, 1))
        halves = (
            _share(int(standing[first].sum()), int(cells[first].sum())),
            _share(int(standing[second].sum()), int(cells[second].sum())),
        )
        return VoteShare(int(standing.sum()), int(cells.sum()), low, high, halves, p)

    @property
    def summary(self) -> Sequence[str]:
        """What nobody drew, what changed though all agreed, and how many pairs are left out."""
        nobody = 0
        cells = 0  # that all linked in the same way
        kept = 0
        for votes, row in self.combinations().items():
            if not any(votes):
                nobody += sum(row)
            elif len(set(votes)) == 1:
                cells += sum(row)
                kept += row[votes[0]]
        lines = [
            f"Links in {self.adjudicated!r} that no annotator drew: {nobody}",
            (
                f"Changed although all annotators agreed: {cells - kept} of the {cells} cells "
                f"that all linked in the same way; {self.changed} of the "
                f"{how_many(self.agreed, 'pair')} in which all links agree"
            ),
        ]
        if self.left_out:
            lines.append(f"{how_many(self.left_out, 'pair')} without all of them left out")
        return lines

    def tables(self) -> Sequence[Table]:
        """Return who prevailed, then all combinations, for different and for equal words."""
        kinds = [equal for equal in (False, True) if self.combinations(equal=equal)]
        return [self._prevailed(), *map(self._table, kinds)]

    def _prevailed(self) -> Table:
        """Return a row for each annotator: in what share of the cells the vote stands."""
        columns = [
            Column("annotator"),
            Column("stands", "count"),
            Column("differ", "count", key="cells"),
            Column("share", "percent"),
            *_HALVES,
            Column("p", "p"),
        ]
        rows: list[Row] = []
        for name, vote in zip(self.annotators, self.shares, strict=True):
            share = Value(vote.share, vote.low, vote.high, vote.reason)
            reason = ONE_HALF if isnan(vote.p) and vote.total else ""
            p = Value(vote.p, reason=reason)
            rows.append([name, vote.count, vote.total, share, *vote.halves, p])
        title = f"Where the annotators differ: whose vote does {self.adjudicated!r} follow?"
        note = (
            "In brackets: 95% interval; its unit is the sentence pair, not the cell. p: in which "
            f"share of {ORDERS:,} random orders of the sentence pairs both halves differ as much, "
            "for any annotator"
        )
        note = ". ".join([note, *self.summary])
        return Table(title, columns, rows, note, "votes")

    def _table(self, equal: bool) -> Table:
        """Return a row for each combination of votes on cells of equal, or of different, words."""
        columns = [Column(name, key=f"vote {name}") for name in self.annotators]
        columns.append(Column("cells", "count"))
        columns += [Column(state, "count") for state in STATES]
        columns += [
            Column("became", key="state"),
            Column("share", "percent"),
            *_HALVES,
            Column("winner", key="prevailed"),
        ]
        rows: list[Row] = []
        ties = 0
        for votes, row in self.combinations(equal=equal).items():
            cells: Row = [STATES[vote] for vote in votes]
            cells += [sum(row), *row]
            most = [state for state in range(3) if row[state] == max(row)]
            if len(most) == 1:
                cells += self._outcome(equal, votes, most[0])
            else:
                ties += 1
                outcomes = ", ".join(STATES[state] for state in most)
                share = Value(max(row) / sum(row), reason=NO_WINNER)
                cells += [outcomes, share, nan, nan, "tie"]
            rows.append(cells)
        note = (
            "none, possible, sure: what the cells became, and in which share what they became most "
            "often; winner: who had voted for it; halves: the pairs in the order in which "
            "they were adjudicated, if their times are known, else of the corpus"
        )
        if ties:
            note += (
                f"; tie: {ties} of {how_many(len(rows), 'row')}, two or three outcomes of which "
                "none is the most frequent"
            )
        which = "equal" if equal else "different"
        return Table(f"Votes on {which} words", columns, rows, note, f"votes-{which}")

    def _outcome(self, equal: bool, votes: Votes, state: int) -> Row:
        """Return what cells with these votes mostly became, in what shares, and who prevailed."""
        cells = self.in_pairs(kind[:2] == (equal, votes) for kind in self.kinds)
        became = self.in_pairs(kind == (equal, votes, state) for kind in self.kinds)
        low, high = share_interval(became, cells)
        ratio = _share(int(became.sum()), int(cells.sum()))
        share = Value(ratio, low, high, reason=ONE_CLUSTER if isnan(low) else "")
        halves = []
        for half in (0, 1):
            row = self.combinations(equal=equal, half=half).get(votes, (0, 0, 0))
            halves.append(_share(row[state], sum(row)))
        winners = [name for name, vote in zip(self.annotators, votes, strict=True) if vote == state]
        if len(set(votes)) > 1 and winners:
            prevailed = ", ".join(winners)
        else:
            prevailed = "-"
        return [STATES[state], share, *halves, prevailed]


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
    corpus : The sentence pairs, with words.
    adjudicated : The adjudicated version.
    annotators : The voters, two to four; None: all people.
    exact_case : Whether words that differ only in case are different.
    seed : Of the random orders of the test that both halves of the pairs are alike.

    Raises
    ------
    OptionError : If there are not two to four voters, or no pair has all of them.
    UnknownNameError : If a name is not known.
    MissingTextError : If words are not known.

    Examples
    --------
    >>> from alignkit import read_corpus
    >>> corpus = read_corpus("samples/paraphrases.jsonl")
    >>> votes = vote_table(corpus, "gold", ["anna", "ben"])
    >>> votes.annotators, votes.agreed, votes.changed
    (('anna', 'ben'), 33, 0)
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
    pair, equal, states = _linked_cells(data)
    rows, kind = np.unique(np.column_stack((equal, states)), axis=0, return_inverse=True)
    kinds = tuple(Kind(bool(same), tuple(votes), state) for same, *votes, state in rows.tolist())
    # how many cells of each kind there are in each pair: both are packed into one number, which
    # `np.unique` sorts faster than rows of two
    width = max(len(kinds), 1)
    kinds_in_pairs, counts = np.unique(pair * width + kind.reshape(-1), return_counts=True)
    in_pair, of_kind = np.divmod(kinds_in_pairs, width)
    agreed, changed = _agreed_and_changed(pair, states, len(data))
    signature = f"votes:{'+'.join(names)}|adjudicated:{adjudicated}"
    signature += f"|orders:{ORDERS}|seed:{seed}|version:{__version__}"
    return VoteTable(
        annotators=names,
        adjudicated=adjudicated,
        kinds=kinds,
        pair=in_pair,
        kind=of_kind,
        cells=counts,
        halves=_halves(corpus, data, adjudicated),
        agreed=agreed,
        changed=changed,
        left_out=len(corpus) - len(data),
        seed=seed,
        signature=signature,
    )


def _agreed_and_changed(pair: I8, states: I8, pairs: int) -> tuple[int, int]:
    """Count the pairs on which all voters agree, and those of them that adjudication changed."""
    voted = states[:, :-1]
    settled = states[:, -1]
    first_voted = voted[:, 0]
    is_disputed = (voted != voted[:, :1]).any(axis=1)
    is_changed = settled != first_voted
    agreed = np.bincount(pair[is_disputed], minlength=pairs) == 0
    changed = np.bincount(pair[is_changed], minlength=pairs) > 0
    return int(agreed.sum()), int((agreed & changed).sum())


def _linked_cells(data: PairData) -> tuple[I8, B1, I8]:
    """Return the cells that anybody linked: their pair, if their words are equal, their states.

    The states are (cells, annotators): 0 without a link, 1 for a possible and 2 for a sure one.
    """
    links = [data.all_links(name) for name in data.annotators]
    source_words, target_words = data.words
    parts = []
    for block in number_cells(*links):
        every_number = np.concatenate(block.numbers)
        cells, index_of_cell = np.unique(every_number, return_inverse=True)
        states = np.zeros((len(cells), len(links)), np.int64)
        annotator = np.repeat(np.arange(len(links)), list(map(len, block.numbers)))
        sure = np.concatenate([each.sure for each in block.arrays])
        states[index_of_cell, annotator] = 1 + sure
        pair, source, target = block.cells(cells)
        source_ids = source_words.ids[source_words.offsets[pair] + source]
        target_ids = target_words.ids[target_words.offsets[pair] + target]
        parts.append((pair, source_ids == target_ids, states))
    pairs, equal, every_state = zip(*parts, strict=True)
    return np.concatenate(pairs), np.concatenate(equal), np.concatenate(every_state)


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


def _share(count: int, total: int) -> float:
    return count / total if total else nan
