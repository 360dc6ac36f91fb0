"""A pair as an adjudicator sees it: with its votes, and how each link of them was made.

Of the suggestions, adjudicators see only whether there were any.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct
from sqlalchemy import Connection

from alignkit.annotate.adjudication import provenance
from alignkit.annotate.adjudication.adjudication_queue import Docket, rewrites_changed
from alignkit.annotate.adjudication.gold import Case, read_case
from alignkit.annotate.adjudication.pseudonyms import Pseudonyms, names_of
from alignkit.annotate.project import queries
from alignkit.annotate.project.events import Texts
from alignkit.annotate.project.store import Store


class Vote(Struct):
    """The vote of one annotator on a pair."""

    id: str
    name: str
    seq: int  # the last event of the annotator on the pair
    shown: bool | None  # whether suggestions were shown, if known
    # each link and null: its cell and value, and how and when it was made
    cells: list[tuple[int, int, int, str, str]]
    # those accepted in bulk or kept by Done that nobody has looked at
    unseen: list[tuple[int, int]]
    comments: list[tuple[str, str]]
    judgment: str
    flags: list[str]
    rewrites: list[tuple[str, Texts]] = []


class GoldView(queries.PairPage):
    """A pair as an adjudicator sees it; state, undo and redo are those of the gold standard."""

    votes: list[Vote]  # in the order of their keys
    blind: bool  # the settings
    majority: bool
    changed: bool  # it was done, and its rewrites are others since (rewrites_changed)


def gold_view(store: Store, k: int, docket: Docket) -> GoldView:
    """Return a pair with the votes on it."""
    with store.reading() as conn:
        case = read_case(conn, k)
        case.check()
        names = names_of(conn, case.pair)
        shown = queries.viewed(conn, case.gold)
        votes = list(_votes(conn, case, names))
        n = queries.last_n(conn)
        gold = queries.account_of(conn, queries.gold_name(conn))
        decided = case.gold.state
        changed = decided.done and rewrites_changed(conn, k, gold, decided, case.votes)
    state = shown.state
    if state.whys is not msgspec.UNSET:
        state.whys = [(i, j, names.hidden_why(text)) for i, j, text in state.whys]
    undo = [names.hidden(event) for event in shown.undo]
    redo = [names.hidden(event) for event in shown.redo]
    without_names = queries.ShownState(state, undo, redo)
    return GoldView(
        **queries.page_fields(case.pair, docket.place(k), without_names, n),
        votes=votes,
        blind=names.blind,
        majority=case.votes.majority,
        changed=changed,
    )


def _votes(conn: Connection, case: Case, names: Pseudonyms) -> Iterator[Vote]:
    """Yield the votes on a pair in their order, each link with its origin."""
    accounts = {voter.name: voter.account for voter in case.votes.voters}
    log = queries.pair_log(conn, case.pair.k)
    corrected = provenance.rewordings(conn, case.pair.k)
    for number, name in enumerate(names.ordered(accounts), 1):
        events = log.get(accounts[name], [])
        state = case.votes.states[name]
        origins = provenance.origins(events, corrected)
        cells = []
        for cell, value in sorted(state.cells.items()):
            how, at = origins.get(cell, ("", ""))
            cells.append((*cell, value, how, at))
        in_bulk = {cell for cell, origin in origins.items() if origin.how in provenance.UNSEEN}
        yield Vote(
            id=names.shown(name),
            name=f"vote {number}" if names.blind else name,
            seq=state.seq,
            shown=provenance.suggestions_shown(events),
            cells=cells,
            unseen=sorted(in_bulk.intersection(state.bulk)),
            comments=sorted(state.comments.items()),
            judgment=state.judgment,
            flags=state.flags,
            rewrites=sorted(state.rewrites.items()),
        )
