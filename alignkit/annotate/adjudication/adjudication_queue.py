"""List the pairs that are ready to be adjudicated, those first where most is at stake."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, select

from alignkit.annotate.adjudication.comparison import (
    REOPENED,
    Ballot,
    GoldState,
    VotedPlace,
    Voter,
    all_in,
    ballot_of,
    compare,
    left_to_decide,
    missing,
    phrases_at_stake,
    voters,
)
from alignkit.annotate.adjudication.gold import Case, Pseudonyms, gold_of, names_of, read_case
from alignkit.annotate.adjudication.provenance import (
    BULK,
    origins,
    rewordings,
    rewrites_at,
    suggestions_shown,
)
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.events import Cell, Event, Texts, decode_data, shared_texts
from alignkit.annotate.project.names import UnknownPair
from alignkit.annotate.project.state import PairState, StateView, decode_state
from alignkit.annotate.project.store import Store


def rewrites_changed(
    conn: Connection, k: int, gold: int, decided: PairState, votes: Mapping[int, PairState]
) -> bool:
    """Return whether the rewrites of a pair ask for another look."""
    own = set(decided.rewrites.values())
    now = {texts for state in votes.values() for texts in state.rewrites.values()}
    if not own and not now:
        return False
    log = {
        account: [event for event, _ in rows] for account, rows in queries.pair_log(conn, k).items()
    }
    seen = _last_look(log.get(gold, ()))
    then = {
        texts for account in votes for texts in rewrites_at(log.get(account, ()), seen).values()
    }
    return bool((now - then) - own or (then - now) & own)


def _last_look(events: Collection[Event]) -> int:
    looks = (event.n for event in events if event.kind == "rewrite" or _ends(event))
    return max(looks, default=0)


def _ends(event: Event) -> bool:
    return event.kind == "done" and decode_data(event.data).after is True


_CHUNK = 400


class DocketRow(Struct):
    """What a list shows of a pair that is ready."""

    k: int
    id: str
    state: str
    left: int  # how many decisions are to be made
    stake: int  # how many phrase pairs some votes have and others have not (stakes)
    votes: int  # how many annotators


class Listed(Struct):
    """A part of the list, and the numbers of the whole; `project` counts all its pairs."""

    pairs: list[DocketRow]
    total: int
    done: int
    open: int
    project: int


class Neighbours(NamedTuple):
    """Where a pair stands in the list, from 1, what is beside it, and the next to be done."""

    place: int
    previous: int | None
    next: int | None
    next_open: int | None


class Docket:
    """Keep the list of a project up to date: only pairs that have changed are looked at again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._n = -1
        self._known: dict[int, DocketRow] = {}
        self._rows: list[DocketRow] = []
        self._project = 0

    def rows(self) -> list[DocketRow]:
        """Return all rows in order."""
        with self._lock, self._store.database.reading() as conn:
            n = queries.last_n(conn)
            if n != self._n:
                self._renew(conn)
                self._n = n
            return self._rows

    def listed(self, after: int = 0, limit: int = 200) -> Listed:
        """Return a part of the list: what is behind a place."""
        rows = self.rows()
        done = sum(row.state == "done" for row in rows)
        left = sum(row.state in ("open", "reopened") for row in rows)
        return Listed(rows[after : after + limit], len(rows), done, left, self._project)

    def neighbours(self, k: int) -> Neighbours:
        """Return where a pair stands."""
        rows = self.rows()
        at = next((at for at, row in enumerate(rows) if row.k == k), None)
        if at is None:
            raise UnknownPair(k, None)
        others = (*rows[at + 1 :], *rows[:at])
        following = next((row.k for row in others if row.state != "done"), None)
        before = rows[at - 1].k if at else None
        after = rows[at + 1].k if at + 1 < len(rows) else None
        return Neighbours(at + 1, before, after, following)

    def _renew(self, conn: Connection) -> None:
        rules = _Rules.of(conn)
        changed = self._changed(conn)
        ready = _ready(conn, changed)
        if changed is None:
            self._known, self._project = {}, queries.count_pairs(conn)
        else:
            for k in changed - ready.keys():
                self._known.pop(k, None)
        for some in _chunks(ready):
            self._known.update((row.k, row) for row in _listed_rows(conn, some, rules))
        self._rows = sorted(self._known.values(), key=lambda row: (-row.stake, row.k))

    def _changed(self, conn: Connection) -> set[int] | None:
        event, stream = schema.event_table.c, schema.stream.c
        joined = schema.event_table.join(schema.stream, stream.id == event.stream)
        asked = select(stream.pair).select_from(joined).where(event.n > self._n).distinct()
        if self._n < 0:
            return None
        changed = set(conn.execute(asked).scalars())
        return None if 0 in changed or len(changed) > _CHUNK else changed


def settled_pairs(conn: Connection, some: Collection[int]) -> set[int]:
    """Return those of some pairs that are done, and of which no vote is another one since."""
    ready = _ready(conn, some)
    rules = _Rules.of(conn)
    return {
        looked.k
        for few in _chunks(ready)
        for looked in _looked(conn, few, rules)
        if looked.state == "done"
    }


class _Rules(NamedTuple):
    """The settings that the list depends on."""

    gold: str
    majority: bool
    judged: bool

    @classmethod
    def of(cls, conn: Connection) -> _Rules:
        row = conn.execute(select(schema.project.c.gold, schema.project.c.majority)).one()
        return cls(row.gold, bool(row.majority), queries.task_of(conn) == "judge")


class _Looked(NamedTuple):
    """What a look at a pair found."""

    k: int
    ballots: dict[str, Ballot]
    left: int
    state: str


def _ready(conn: Connection, some: Collection[int] | None) -> dict[int, list[Voter]]:
    """Return those of some pairs, or of all, on which all votes are in, with their voters."""
    if some is None or len(some) > _CHUNK:
        rows = voters(conn).items()
        by_pair = {k: those for k, those in rows if some is None or k in some}
    else:
        by_pair = {k: voters(conn, k).get(k, []) for k in some}
    return {k: those for k, those in by_pair.items() if all_in(those)}


def _chunks(ready: dict[int, list[Voter]]) -> Iterator[dict[int, list[Voter]]]:
    rows = iter(ready.items())
    while some := dict(islice(rows, _CHUNK)):
        yield some


def _listed_rows(
    conn: Connection, ready: dict[int, list[Voter]], rules: _Rules
) -> Iterable[DocketRow]:
    pair = schema.pair.c
    named = conn.execute(select(pair.k, pair.id).where(pair.k.in_(list(ready))))
    ids = {k: id for k, id in named}  # noqa: C416 - rows are no tuples to a type checker
    looked = list(_looked(conn, ready, rules))
    stakes = phrases_at_stake([case.ballots for case in looked])
    for case, stake in zip(looked, stakes, strict=True):
        yield DocketRow(case.k, ids[case.k], case.state, case.left, stake, len(case.ballots))


def _looked(conn: Connection, ready: dict[int, list[Voter]], rules: _Rules) -> Iterator[_Looked]:
    stream, account = schema.stream.c, schema.account.c
    joined = schema.stream.join(schema.account, account.id == stream.account)
    asked = select(stream.pair, account.id, account.name, stream.state).select_from(joined)
    states: dict[int, dict[int, PairState]] = {k: {} for k in ready}
    gold = 0
    for k, number, name, text in conn.execute(asked.where(stream.pair.in_(list(ready)))):
        states[k][number] = decode_state(text)
        gold = number if name == rules.gold else gold
    for k, own in ready.items():
        votes = {voter.account: states[k].get(voter.account, PairState()) for voter in own}
        ballots = {
            voter.name: ballot_of(votes[voter.account], judged=rules.judged) for voter in own
        }
        decided = states[k].get(gold, PairState())
        held = gold_of(decided, judged=rules.judged)
        items = compare(ballots, held, majority=rules.majority)
        left = left_to_decide(items)
        state = _state(items, held, left, decided.done)
        if state in ("done", "agreed"):  # or somebody has to look at the rewrites
            made = [vote.rewrites.values() for vote in votes.values()]
            if decided.done and rewrites_changed(conn, k, gold, decided, votes):
                state = "reopened"
            elif not decided.done and set().union(*made) - shared_texts(made):
                state = "open"
        yield _Looked(k, ballots, left, state)


def _state(items: Sequence[VotedPlace], gold: GoldState, left: int, done: bool) -> str:
    if any(item.state == REOPENED for item in items) or (done and left):
        return "reopened"
    return "open" if left else "done" if done and not missing(items, gold) else "agreed"


_MOST_UNDO = 100


class Vote(Struct):
    """What one annotator says of a pair."""

    id: str
    name: str
    seq: int  # the last event of the annotator on the pair
    shown: bool | None
    cells: list[tuple[int, int, int, str, str]]
    unseen: list[tuple[int, int]]  # those taken in bulk that nobody has looked at
    comments: list[tuple[str, str]]
    judgment: str
    flags: list[str]
    rewrites: list[tuple[str, Texts]] = []


class GoldView(Struct):
    """A pair as an adjudicator sees it."""

    k: int
    id: str
    pairs: int  # how many pairs are ready, and how many of them are done
    done: int
    place: int  # where this one stands among them; see docket.Neighbours
    previous: int | None
    next: int | None
    next_open: int | None
    rev: int
    source: list[str]
    target: list[str]
    attributes: dict[str, str]
    state: StateView  # gold's own
    undo: list[Event]
    redo: list[Event]
    votes: list[Vote]  # in the order of their keys
    blind: bool  # the settings
    majority: bool
    changed: bool  # it was done, and its rewrites are others since (late_rewrites)
    n: int


def gold_view(store: Store, k: int, docket: Docket) -> GoldView:
    """Return a pair with the votes on it."""
    with store.database.reading() as conn:
        case = read_case(conn, k)
        case.check()
        names = names_of(conn, case.pair)
        undo, redo = (
            [names.hidden(event) for event in queries.stack(conn, case.gold.id, top, _MOST_UNDO)]
            for top in (case.gold.state.undo, case.gold.state.redo)
        )
        votes, n = _votes(conn, case, names), queries.last_n(conn)
        changed = case.gold.state.done and _case_changed(conn, case)
    state = case.gold.state.view(undo[0].id if undo else None, redo[0].id if redo else None)
    if state.whys is not msgspec.UNSET:
        state.whys = [(i, j, names.hidden_why(text)) for i, j, text in state.whys]
    pair, listed = case.pair, docket.listed(limit=0)
    return GoldView(
        k, pair.id, listed.total, listed.done, *docket.neighbours(k),
        pair.rev, pair.source, pair.target, pair.attributes,
        state, undo, redo, votes, names.blind, case.majority, changed, n,
    )  # fmt: skip


def _case_changed(conn: Connection, case: Case) -> bool:
    votes = {voter.account: case.streams[voter.name].state for voter in case.voters}
    gold = queries.account_of(conn, queries.gold_name(conn))
    return rewrites_changed(conn, case.pair.k, gold, case.gold.state, votes)


def _votes(conn: Connection, case: Case, names: Pseudonyms) -> list[Vote]:
    accounts = {voter.name: voter.account for voter in case.voters}
    log = queries.pair_log(conn, case.pair.k)
    corrected = rewordings(conn, case.pair.k) if case.pair.rev > 1 else {}
    votes = []
    for number, name in enumerate(names.ordered(case.streams), 1):
        events = [event for event, _ in log.get(accounts[name], ())]
        shown = f"vote {number}" if names.blind else name
        state = case.streams[name].state
        how = origins(events, corrected)
        votes.append(_vote(names.shown(name), shown, state, how, suggestions_shown(events)))
    return votes


def _vote(
    id: str, name: str, state: PairState, how: Mapping[Cell, tuple[str, str]], seen: bool | None
) -> Vote:
    said = sorted(state.cells.items())
    cells = [(*cell, value, *how.get(cell, ("", ""))) for cell, value in said]
    unseen = [cell for cell in sorted(state.bulk) if how.get(cell, ("",))[0] == BULK]
    comments, rewrites = sorted(state.comments.items()), sorted(state.rewrites.items())
    return Vote(
        id, name, state.seq, seen, cells, unseen, comments, state.judgment, state.flags, rewrites
    )
