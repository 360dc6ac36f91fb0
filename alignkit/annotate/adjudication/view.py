"""Put together what an adjudicator sees of a pair; of suggestions only whether there were any."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct
from sqlalchemy import Connection

from alignkit.annotate.adjudication.adjudication_queue import Docket, rewrites_changed
from alignkit.annotate.adjudication.gold import Case, Pseudonyms, names_of, read_case
from alignkit.annotate.adjudication.provenance import BULK, origins, rewordings, suggestions_shown
from alignkit.annotate.project import queries
from alignkit.annotate.project.events import Cell, Event, Texts
from alignkit.annotate.project.state import PairState, StateView
from alignkit.annotate.project.store import Store

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
        changed = case.gold.state.done and _rewrites_changed(conn, case)
    state = case.gold.state.view(undo[0].id if undo else None, redo[0].id if redo else None)
    if state.whys is not msgspec.UNSET:
        state.whys = [(i, j, names.hidden_why(text)) for i, j, text in state.whys]
    pair, listed = case.pair, docket.listed(limit=0)
    return GoldView(
        k, pair.id, listed.total, listed.done, *docket.neighbours(k),
        pair.rev, pair.source, pair.target, pair.attributes,
        state, undo, redo, votes, names.blind, case.majority, changed, n,
    )  # fmt: skip


def _rewrites_changed(conn: Connection, case: Case) -> bool:
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
