"""Report where each link of the gold standard comes from: who decided, on which votes, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from alignkit.annotate.adjudication.comparison import as_read, voters
from alignkit.annotate.project import events as log
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.names import UnknownAnnotator
from alignkit.annotate.project.rewording import Rewording
from alignkit.annotate.project.state import PairState, decode_state
from alignkit.annotate.project.store import Store

HAND = "hand"
SINGLY = "singly"
BULK = "bulk"
IMPORTED = "imported"
"""Drawn by hand, suggestion accepted singly or in bulk, imported."""

_HOW = {"accept": SINGLY, "accept-all": BULK, "import": IMPORTED}


class LinkOrigin(NamedTuple):
    """How and when a link was made; `at` is the time of the event in the log."""

    how: str
    at: str


_Logs = Mapping[str, Sequence[log.Event]]  # the events of each annotator on a pair
_Past = defaultdict[log.Cell, list[tuple[int, LinkOrigin]]]
"""The new value of each cell, and how it was made."""


def rewordings(conn: Connection, k: int) -> dict[int, Rewording]:
    """Return how the words of a pair were corrected, by the new revision of the text."""
    texts = queries.texts_of(conn, k)
    return {rev: Rewording(texts[rev - 1], new) for rev, new in texts.items() if rev - 1 in texts}


def origins(
    events: Iterable[log.Event], corrected: Mapping[int, Rewording], seq: int | None = None
) -> dict[log.Cell, LinkOrigin]:
    """Return the origin of each link and null at the end of a stream, at its final place."""
    past: _Past = defaultdict(list)
    for event in events:
        data = log.decode_data(event.data)
        if event.kind == "text":
            moved = ((corrected[data.to].cell(cell), rows) for cell, rows in past.items())
            past = defaultdict(list, {cell: rows for cell, rows in moved if cell is not None})
            continue
        if seq is not None and event.seq > seq:
            continue
        how = _HOW.get(data.how, HAND)
        for i, j, _, after in data.cells:
            rows = past[i, j]
            same = None
            if event.kind in ("undo", "redo"):
                same = next((origin for value, origin in reversed(rows) if value == after), None)
            rows.append((after, same or LinkOrigin(how, event.at)))
    return {cell: rows[-1][1] for cell, rows in past.items() if rows[-1][0]}


def suggestions_shown(events: Iterable[log.Event]) -> bool | None:
    """Return whether an annotator saw suggestions; None if the pair was not opened on the page."""
    opened = [log.decode_data(event.data) for event in events if event.kind == "open"]
    shown = [data.suggestions for data in opened if data.suggestions is not None]
    return any(shown) if shown else None


def rewrites_at(events: Iterable[log.Event], n: int) -> dict[str, log.Texts]:
    """Return the rewrites of a stream, by key, at event `n` of the project."""
    held: dict[str, log.Texts] = {}
    for event in events:
        if event.n <= n:
            log.put(held, log.decode_data(event.data).rewrites)
    return held


def rewrite_lines(
    state: PairState, logs: _Logs, gold: str, voters: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the record of each rewrite in gold; see `provenance`."""
    written: dict[log.Texts, log.Event] = {}
    for event in logs[gold]:
        for _, _, texts in log.decode_data(event.data).rewrites:
            if texts is not None and (event.kind not in ("undo", "redo") or texts not in written):
                written[texts] = event
    for key in sorted(state.rewrites, key=log.key_number):
        texts = state.rewrites[key]
        event = written[texts]
        votes = {}
        for name in voters:
            earlier = [x for x in logs.get(name, ()) if x.n <= event.n]
            said = texts in rewrites_at(earlier, event.n).values()
            votes[name] = {"said": said, "seq": earlier[-1].seq if earlier else 0}
        having = [name for name, vote in votes.items() if vote["said"]]
        if not having:
            why = "own"
        elif len(having) == len(votes):
            why = "agreed"
        else:
            why = "vote"
        yield {
            "rewrite": list(texts),
            "why": why,
            "as": having[0] if why == "vote" else None,
            "adjudicator": event.actor or None,
            "at": event.at or None,
            "note": "",
            "votes": votes,
        }


_STRENGTH = ("none", "possible", "sure")


def provenance(store: Store, *, done: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the record of each decision of the gold standard, as plain values; see the docs."""
    with store.database.reading() as conn:
        try:
            gold = queries.account_of(conn, queries.gold_name(conn))
        except UnknownAnnotator:
            return
        stream = schema.stream.c
        pair = schema.pair.c
        joined = schema.stream.join(schema.pair, pair.k == stream.pair)
        asked = select(stream.pair, pair.id, stream.state).select_from(joined)
        names = dict(enumerate(queries.annotators(conn), 1))
        for k, id, text in conn.execute(asked.where(stream.account == gold).order_by(stream.pair)):
            state = decode_state(text)
            if state.done or not done:
                for record in _pair(conn, k, state, gold, names):
                    yield {"id": id, **record}


def _pair(
    conn: Connection, k: int, state: PairState, gold: int, names: dict[int, str]
) -> Iterator[dict[str, Any]]:
    if not state.whys and not state.rewrites:
        return
    logs = {names[account]: events for account, events in queries.pair_log(conn, k).items()}
    if state.whys:
        corrected = rewordings(conn, k) if state.rev > 1 else {}
        yield from _decisions(state, logs, names[gold], corrected)
    if state.rewrites:
        voting = [voter.name for voter in voters(conn, k).get(k, ())]
        yield from rewrite_lines(state, logs, names[gold], voting)


def _decisions(
    state: PairState, logs: _Logs, gold: str, corrected: Mapping[int, Rewording]
) -> Iterator[dict[str, Any]]:
    made = _makers(logs[gold])

    @cache
    def drawn(name: str, seq: int) -> tuple[dict[log.Cell, LinkOrigin], bool | None]:
        events = logs.get(name, [])
        earlier = (event for event in events if event.seq <= seq)
        return origins(events, corrected, seq), suggestions_shown(earlier)

    for place in sorted(state.whys.keys() | state.cells.keys(), key=as_read):
        text = state.whys.get(place)
        why = log.Why("own") if text is None else log.read_why(text)
        actor, at = made.get((place, text), ("", ""))
        votes = {}
        for name, (said, seq) in why.votes.items():
            how, shown = drawn(name, seq)
            votes[name] = {**_said(said), "seq": seq, "suggestions": shown}
            if place in how:
                votes[name]["how"] = how[place].how
        value = (
            (state.judgment, *state.flags) if place == log.JUDGMENT else state.cells.get(place, 0)
        )
        yield {
            **({} if place == log.JUDGMENT else {"i": place[0], "j": place[1]}),
            **_said(value, "link"),
            "why": None if text is None else why.why,
            "as": why.as_ or None,
            "adjudicator": actor or None,
            "at": at or None,
            "note": why.note,
            "votes": votes,
        }


def _said(value: log.Value, name: str = "said") -> dict[str, Any]:
    if isinstance(value, int):
        return {name: _STRENGTH[value]}
    label, *flags = value or ("",)
    return {"judgment": label, "flags": flags}


def _makers(events: Iterable[log.Event]) -> dict[tuple[log.Cell, str | None], tuple[str, str]]:
    made: dict[tuple[log.Cell, str | None], tuple[str, str]] = {}
    by_text: dict[str | None, tuple[str, str]] = {}
    for event in events:
        data = log.decode_data(event.data)
        for i, j, _, text in data.whys:
            by = event.actor, data.when or event.at  # of an import: when it was decided elsewhere
            if event.kind in ("undo", "redo", "text"):
                by = made.get(((i, j), text)) or by_text.get(text) or by
            made[(i, j), text] = by_text[text] = by
    return made
