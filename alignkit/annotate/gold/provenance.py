"""Where each link of the gold standard comes from: who decided, on which votes, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from sqlalchemy import Connection, select

from alignkit.annotate.errors import UnknownAnnotator
from alignkit.annotate.gold.adjudication import as_read
from alignkit.annotate.gold.origins import Origin, origins, rewordings, suggestions_shown
from alignkit.annotate.gold.rewrite_origins import rewrite_lines
from alignkit.annotate.gold.voters import voters
from alignkit.annotate.log.decisions import JUDGMENT, Value, Why, read_why
from alignkit.annotate.log.events import Cell, Event, decode_data
from alignkit.annotate.log.rewording import Rewording
from alignkit.annotate.log.state import PairState, decode_state
from alignkit.annotate.store import Store
from alignkit.annotate.tables import queries, schema

_STRENGTH = ("none", "possible", "sure")


def provenance(store: Store, *, done: bool = False) -> Iterator[dict[str, Any]]:
    """Yield what is known of each decision of the gold standard, pair by pair, as plain values.

    Of each link, null and judgment, and of each cell that is decided to be no link: ``id`` of the
    pair; ``i`` and ``j`` (from 0, -1 for the empty word) and ``link`` (``sure``, ``possible``,
    ``none``), or ``judgment`` and ``flags``; ``why`` (``agreed``, ``vote``, ``own``; None where a
    link came otherwise), ``as`` (whose vote was taken), ``adjudicator``, ``at``, ``note``; and
    ``votes``: by annotator what they ``said`` when it was decided, up to which event of theirs
    (``seq``), ``how`` they drew it (`origins`), and whether they saw ``suggestions``.

    Then of each rewrite its source and target text (``rewrite``), the same of who decided, and
    ``votes``: whether they had ``said`` it then. ``why`` is ``agreed`` where all had, ``vote``
    where some had (``as``: the first), ``own`` where nobody had.
    """
    with store.database.reading() as conn:
        try:
            gold = queries.account_of(conn, queries.gold_name(conn))
        except UnknownAnnotator:
            return
        stream, pair = schema.stream.c, schema.pair.c
        joined = schema.stream.join(schema.pair, pair.k == stream.pair)
        asked = select(stream.pair, pair.id, stream.state).select_from(joined)
        names = dict(enumerate(queries.annotators(conn), 1))
        for k, id, text in conn.execute(asked.where(stream.account == gold).order_by(stream.pair)):
            state = decode_state(text)
            if state.done or not done:
                yield from ({"id": id, **record} for record in _pair(conn, k, state, gold, names))


def _pair(
    conn: Connection, k: int, state: PairState, gold: int, names: dict[int, str]
) -> Iterator[dict[str, Any]]:
    if not state.whys and not state.rewrites:
        return
    log = queries.pair_log(conn, k)
    logs = {names[who]: [event for event, _ in rows] for who, rows in log.items()}
    if state.whys:
        corrected = rewordings(conn, k) if state.rev > 1 else {}
        yield from _decisions(state, logs, names[gold], corrected)
    if state.rewrites:
        voting = [voter.name for voter in voters(conn, k).get(k, ())]
        yield from rewrite_lines(state, logs, names[gold], voting)


def _decisions(
    state: PairState, logs: Mapping[str, list[Event]], gold: str, corrected: Mapping[int, Rewording]
) -> Iterator[dict[str, Any]]:
    made = _makers(logs[gold])

    @cache
    def drawn(name: str, seq: int) -> tuple[dict[Cell, Origin], bool | None]:
        events = logs.get(name, [])
        earlier = (event for event in events if event.seq <= seq)
        return origins(events, corrected, seq), suggestions_shown(earlier)

    for place in sorted(state.whys.keys() | state.cells.keys(), key=as_read):
        text = state.whys.get(place)
        why = Why("own") if text is None else read_why(text)
        actor, at = made.get((place, text), ("", ""))
        votes = {}
        for name, (said, seq) in why.votes.items():
            how, shown = drawn(name, seq)
            votes[name] = {**_said(said), "seq": seq, "suggestions": shown}
            if place in how:
                votes[name]["how"] = how[place].how
        value = (state.judgment, *state.flags) if place == JUDGMENT else state.cells.get(place, 0)
        yield {
            **({} if place == JUDGMENT else {"i": place[0], "j": place[1]}),
            **_said(value, "link"),
            "why": None if text is None else why.why,
            "as": why.as_ or None,
            "adjudicator": actor or None,
            "at": at or None,
            "note": why.note,
            "votes": votes,
        }


def _said(value: Value, name: str = "said") -> dict[str, Any]:
    if isinstance(value, int):
        return {name: _STRENGTH[value]}
    label, *flags = value or ("",)
    return {"judgment": label, "flags": flags}


def _makers(events: Iterable[Event]) -> dict[tuple[Cell, str | None], tuple[str, str]]:
    made: dict[tuple[Cell, str | None], tuple[str, str]] = {}
    by_text: dict[str | None, tuple[str, str]] = {}
    for event in events:
        data = decode_data(event.data)
        for i, j, _, text in data.whys:
            by = event.actor, data.when or event.at  # of an import: when it was decided elsewhere
            if event.kind in ("undo", "redo", "text"):
                by = made.get(((i, j), text)) or by_text.get(text) or by
            made[(i, j), text] = by_text[text] = by
    return made
