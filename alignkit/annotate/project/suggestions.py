"""The suggestions that are shown for pairs, and what annotators were shown to begin with.

A set of suggestions has a name: `trained`, the name of an annotator whose links it has, `vote`, and
so on. A pair shows the learned set that holds it, if any, else the set of the project.
"""

from __future__ import annotations

from itertools import chain

import msgspec
import sqlalchemy as sa

from alignkit._support.wording import how_many
from alignkit.align.settings import FEW
from alignkit.annotate.project import names, queries
from alignkit.annotate.project.events import Cell, decode_data
from alignkit.annotate.project.project_events import Suggestion
from alignkit.annotate.project.queries import PairRow, Suggested
from alignkit.annotate.project.schema import (
    ASSIGNMENT,
    EVENT,
    EVENT_IS_IN_STREAM,
    LEARNED_SET,
    PAIR,
    PROJECT,
    STREAM,
    SUGGESTION,
)

_PROJECT_SET = sa.select(PROJECT.suggestions).scalar_subquery()
_suggestions = msgspec.json.Decoder(list[Suggestion]).decode

_SELECT_SETS = sa.select(_PROJECT_SET, PAIR.suggested).where(PAIR.k == sa.bindparam("k"))


def shown_suggestions(
    conn: sa.Connection, pair: PairRow, *, hide_systems: bool
) -> Suggested | None:
    """Return the suggestions shown for a pair; None if none are shown."""
    project_set, learned_set = conn.execute(_SELECT_SETS, {"k": pair.k}).one()
    if not project_set:
        return None
    shown = learned_set or project_set
    cells = suggestions_of(conn, shown, pair.k).get(pair.k, [])
    by, bulk = _made_by(conn, shown, hide_systems=hide_systems)
    systems = names.vote_of(project_set)
    links = []
    if systems and not hide_systems:
        places = [(i, j) for i, j, *_ in cells]
        linked = _linked_cells(conn, pair)
        for name in chain(*systems.values()):
            if name in linked:
                own = [place for place in places if place in linked[name]]
                links.append((name, own))
    if systems and shown == project_set:
        shown = names.VOTE
    return Suggested(shown, cells, by, bulk, links)


def _linked_cells(conn: sa.Connection, pair: PairRow) -> dict[str, set[Cell]]:
    """Return by annotator the linked cells of a pair, without those of weight 0."""
    known = queries.annotators(conn)
    linked = {}
    for account, (_, state) in queries.streams_of(conn, pair).items():
        cells = {cell for cell in state.cells if state.weights.get(cell, 1) > 0}
        linked[known[account - 1]] = cells
    return linked


def _made_by(conn: sa.Connection, name: str, *, hide_systems: bool) -> tuple[str, str]:
    """Return what made a set of suggestions, and why it is not accepted in bulk, if so."""
    query = sa.select(LEARNED_SET.pairs).where(LEARNED_SET.set == name)
    taught = conn.execute(query).scalar_one_or_none()
    pairs = queries.count_pairs(conn)
    why = ""
    if pairs < FEW:
        why = f"Too few pairs ({pairs}) to trust probabilities: accept links one by one"
    if taught is not None:
        return f"learned from {taught:,} done pairs", why
    systems = names.vote_of(name)
    if systems:
        voting = how_many(len(systems), "system") if hide_systems else ", ".join(systems)
        return f"vote of {voting} and the aligner", why
    if name == "trained":
        calibrated = ", calibrated" if pairs >= FEW else ""
        return f"aligner trained on these {pairs:,} pairs{calibrated}", why
    if name == "model":
        return "suggested by the given model", ""
    return f"suggested by {name}", ""


_SHOWN_SET = sa.func.coalesce(sa.func.nullif(PAIR.suggested, ""), _PROJECT_SET)
"""The set of suggestions that is shown for a pair: the learned one, or that of the project."""


def suggested_cells(conn: sa.Connection) -> dict[int, tuple[str, list[Suggestion]]]:
    """Return by pair the set that is shown and its suggestions; pairs without them are left out."""
    query = (
        sa.select(SUGGESTION.pair, SUGGESTION.set, SUGGESTION.cells)
        .where(SUGGESTION.pair == PAIR.k, SUGGESTION.set == _SHOWN_SET)
        .where(_PROJECT_SET != "")
    )
    return {k: (name, _suggestions(cells)) for k, name, cells in conn.execute(query)}


def suggestions_of(
    conn: sa.Connection, name: str, k: int | None = None
) -> dict[int, list[Suggestion]]:
    """Return the suggestions of a set, by pair; of all pairs, or of one."""
    query = sa.select(SUGGESTION.pair, SUGGESTION.cells).where(SUGGESTION.set == name)
    if k is not None:
        query = query.where(SUGGESTION.pair == k)
    return {number: _suggestions(cells) for number, cells in conn.execute(query)}


Starts = dict[tuple[int, int], str]
"""Sets of suggestions, by pair and account."""


def read_starts(conn: sa.Connection) -> Starts:
    """Return what queries.annotators were shown to begin with, by pair and account, if it is known.

    It is the name of the set of suggestions, and empty if no suggestions were shown. Pages record
    it when they open a pair. For the work of programs that do not, it is what the server offered:
    the suggestions, unless the assignment hides them. Imported work has the start of its file.
    """
    may_tell = sa.or_(EVENT.kind == "open", EVENT.data.contains('"start":'))
    query = (
        sa.select(STREAM.pair, STREAM.account, EVENT.kind, EVENT.data)
        .where(EVENT_IS_IN_STREAM, STREAM.pair > 0, may_tell)
        .order_by(EVENT.n)
    )
    offered = _offered(conn)
    shown: Starts = {}
    hidden: Starts = {}
    imported: Starts = {}
    for k, account, kind, text in conn.execute(query):
        data = decode_data(text)
        if kind == "open" and data.suggestions:
            shown.setdefault((k, account), data.set or offered.get((k, account), ""))
        elif kind == "open" and data.suggestions is False:
            hidden[k, account] = ""
        elif data.start is not None:
            imported[k, account] = data.start
    return offered | imported | hidden | shown


def _offered(conn: sa.Connection) -> Starts:
    """Return the set that the server offers, by pair and account, of all work that clients sent."""
    sets = {}
    for k, name in conn.execute(sa.select(PAIR.k, _SHOWN_SET)):
        sets[k] = names.VOTE if names.vote_of(name) else name
    not_shown = ASSIGNMENT.shown.is_(False)
    hidden = conn.execute(sa.select(ASSIGNMENT.pair, ASSIGNMENT.account).where(not_shown))
    sent = (
        sa.select(STREAM.pair, STREAM.account)
        .where(EVENT_IS_IN_STREAM, STREAM.pair > 0, EVENT.sent != "")
        .distinct()
    )
    offered = {(k, account): sets[k] for k, account in conn.execute(sent)}
    for k, account in hidden:
        if (k, account) in offered:
            offered[k, account] = ""
    return offered
