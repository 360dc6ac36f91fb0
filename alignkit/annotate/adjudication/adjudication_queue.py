"""The list of the pairs that adjudicators can decide; those with the most at stake come first."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct
from sqlalchemy import Connection, select

from alignkit.annotate.adjudication import comparison, provenance
from alignkit.annotate.adjudication.gold import Votes
from alignkit.annotate.adjudication.voters import Voter, all_in, voters
from alignkit.annotate.project import names, pair_lists, queries
from alignkit.annotate.project.events import Texts, decode_data, shared_texts
from alignkit.annotate.project.schema import EVENT, EVENT_IS_IN_STREAM, PAIR, STREAM
from alignkit.annotate.project.state import PairState
from alignkit.annotate.project.store import Store

_CHUNK = 400


class DocketRow(Struct):
    """A row of the list of pairs that are ready."""

    k: int
    id: str
    state: str  # see `_case_state`
    left: int  # how many decisions are to be made
    stake: int  # how many phrase pairs some votes have and others have not
    votes: int  # how many there are


class Listed(Struct):
    """A part of the list, with the totals of the whole list; `project` counts all its pairs."""

    pairs: list[DocketRow]
    total: int  # how many pairs can be adjudicated
    done: int  # of these, pairs that are adjudicated
    open: int  # of these, pairs with something to decide
    project: int
    listed: int  # how many a search and a filter leave


class Docket:
    """The list of a project, kept up to date: only changed pairs are looked at again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._n = -1
        self._known: dict[int, DocketRow] = {}
        self._rows: list[DocketRow] = []
        self._project = 0

    def rows(self) -> list[DocketRow]:
        """Return all rows in order."""
        with self._lock, self._store.reading() as conn:
            n = queries.last_n(conn)
            if n != self._n:
                self._update(conn)
                self._n = n
            return self._rows

    def _update(self, conn: Connection) -> None:
        """Read the rows of the pairs that have changed, and sort all rows anew."""
        changed = self._changed(conn)
        if changed is None:
            self._known = {}
            self._project = queries.count_pairs(conn)
        else:
            for k in changed:
                self._known.pop(k, None)
        for row in _rows(conn, _ready(conn, changed)):
            self._known[row.k] = row
        self._rows = sorted(self._known.values(), key=lambda row: (-row.stake, row.k))

    def count_ready(self) -> int:
        """Return how many pairs can be adjudicated and are not done."""
        return sum(row.state != "done" for row in self.rows())

    def listed(
        self, after: int = 0, limit: int = 200, query: str = "", only: str = "", actor: str = ""
    ) -> Listed:
        """Return the part of the list after a place, of what a search and a filter leave.

        The filters "open" and "done" are those of this list; all others are of the project.
        """
        rows = self.rows()
        done = sum(row.state == "done" for row in rows)
        left = sum(row.state in ("open", "reopened") for row in rows)
        matching = rows
        if only in ("open", "done"):
            wanted_done = only == "done"
            matching = [row for row in rows if (row.state == "done") == wanted_done]
            only = ""
        if query or only:
            with self._store.reading() as conn:
                ks = pair_lists.pairs_with(conn, query, only, actor)
            matching = [row for row in matching if row.k in ks]
            matching.sort(key=lambda row: row.id != query)  # the pair with just this id first
        part = matching[after : after + limit]
        return Listed(part, len(rows), done, left, self._project, len(matching))

    def place(self, k: int) -> queries.ListPlace:
        """Return where a pair stands in the list."""
        rows = self.rows()
        numbers = [row.k for row in rows]
        if k not in numbers:
            raise names.UnknownPair(k, None)
        place = numbers.index(k) + 1
        before = numbers[place - 2] if place > 1 else None
        after = numbers[place] if place < len(rows) else None
        others = rows[place:] + rows[: place - 1]
        left = [row.k for row in others if row.state != "done"]
        next_open = left[0] if left else None
        done = sum(row.state == "done" for row in rows)
        return queries.ListPlace(len(rows), done, place, before, after, next_open)

    def _changed(self, conn: Connection) -> set[int] | None:
        """Return the pairs that have changed; None if all must be looked at."""
        if self._n < 0:
            return None
        asked = select(STREAM.pair).where(EVENT_IS_IN_STREAM, EVENT.n > self._n)
        changed = set(conn.execute(asked.distinct()).scalars())
        if 0 in changed or len(changed) > _CHUNK:  # 0 is the project: its pairs or settings
            return None
        return changed


def settled_pairs(conn: Connection, some: Collection[int]) -> set[int]:
    """Return those of some pairs that are done, with no vote changed since."""
    settled = set[int]()
    for cases in _case_states(conn, _ready(conn, some)):
        settled.update(case.k for case in cases if case.state == "done")
    return settled


def _ready(conn: Connection, some: Collection[int] | None) -> dict[int, list[Voter]]:
    """Return the pairs (of some, or of all) that have all their votes, with their voters."""
    if some is not None and len(some) <= _CHUNK:
        by_pair = {k: voters(conn, k).get(k, []) for k in some}
    else:
        by_pair = voters(conn)
        if some is not None:
            by_pair = {k: by_pair[k] for k in by_pair.keys() & some}
    return {k: of_pair for k, of_pair in by_pair.items() if all_in(of_pair)}


def _rows(conn: Connection, ready: dict[int, list[Voter]]) -> Iterator[DocketRow]:
    """Yield the rows of pairs that have all their votes."""
    for cases in _case_states(conn, ready):
        numbers = [case.k for case in cases]
        asked = select(PAIR.k, PAIR.id).where(PAIR.k.in_(numbers))
        ids = {k: id for k, id in conn.execute(asked)}  # noqa: C416 - rows are no tuples to mypy
        stakes = comparison.phrases_at_stake([case.ballots for case in cases])
        for case, stake in zip(cases, stakes, strict=True):
            yield DocketRow(case.k, ids[case.k], case.state, case.left, stake, len(case.ballots))


class _CaseState(NamedTuple):
    """The state of a pair: the votes, and how many decisions are left."""

    k: int
    ballots: dict[str, comparison.Ballot]
    left: int
    state: str


def _case_states(conn: Connection, ready: dict[int, list[Voter]]) -> Iterator[list[_CaseState]]:
    """Yield the states of pairs; reads a few pairs at a time."""
    setting = queries.settings(conn)
    gold = queries.gold_account(conn) or 0  # 0 has no work on pairs
    for chunk in queries.portions(ready, _CHUNK):
        states: dict[int, dict[int, PairState]] = {k: {} for k in chunk}
        wanted = STREAM.pair.in_(chunk)
        for k, number, state in queries.states(conn, wanted):
            states[k][number] = state
        cases = []
        for k in chunk:
            votes = Votes.of(ready[k], states[k], setting)
            cases.append(_case_state(conn, k, gold, states[k].get(gold, PairState()), votes))
        yield cases


def _case_state(
    conn: Connection, k: int, gold: int, decided: PairState, votes: Votes
) -> _CaseState:
    """Return the state of a pair, given gold's account, its decisions and the votes.

    The first that holds:

    - reopened: a vote with a decision has changed, or the pair is done and something is left;
    - open: something is left to decide, or the pair is not done and rewrites differ;
    - reopened: the pair is done, but its rewrites ask for another look;
    - done: the pair is done, and gold has all that the votes agree on;
    - agreed: nothing is to be decided, but gold has not recorded it.
    """
    items = votes.items(decided)
    left = comparison.left_to_decide(items)
    reopened = any(item.state == comparison.REOPENED for item in items)
    made = [state.rewrites.values() for state in votes.states.values()]
    disputed = _different(made) - shared_texts(made)
    if reopened or (decided.done and left):
        state = "reopened"
    elif left or (disputed and not decided.done):
        state = "open"  # somebody has to decide, or to look at the rewrites
    elif decided.done and rewrites_changed(conn, k, gold, decided, votes):
        state = "reopened"
    elif decided.done and not votes.missing(decided):
        state = "done"
    else:
        state = "agreed"
    return _CaseState(k, votes.ballots, left, state)


def _different(made: Iterable[Iterable[Texts]]) -> set[Texts]:
    """Return the different rewrites, given those of each annotator."""
    return set().union(*made)


def rewrites_changed(conn: Connection, k: int, gold: int, decided: PairState, votes: Votes) -> bool:
    """Return whether the rewrites of a pair ask for another look.

    They do if, since gold's last look, annotators wrote one that gold has not, or no annotator has
    one any more that gold has.
    """
    own = set(decided.rewrites.values())
    now = _different(state.rewrites.values() for state in votes.states.values())
    if not own and not now:
        return False
    log = queries.pair_log(conn, k)
    last = 0
    for event in log.get(gold, ()):
        marks_done = event.kind == "done" and decode_data(event.data).after is True
        if marks_done or event.kind == "rewrite":
            last = max(last, event.n)
    before = [provenance.rewrites_at(log.get(voter.account, ()), last) for voter in votes.voters]
    then = _different(rewrites.values() for rewrites in before)
    new_by_others = (now - then) - own
    taken_back = (then - now) & own
    return bool(new_by_others or taken_back)
