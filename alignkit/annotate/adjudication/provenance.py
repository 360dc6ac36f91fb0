"""Report where each link of the gold standard comes from: who decided, on which votes, and why.

A *record* is what an export has of a decision: the cell or the judgment, its value, who decided and
when, the reason (all votes agreed, the vote of somebody was taken, or the adjudicator's own), and
the votes. Each vote says how its link was made, which is the *origin* of the link: drawn by hand,
or a suggestion that was accepted. Both are read from the log of a pair. A link that is undone and
redone has the origin of before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from alignkit.annotate.adjudication.comparison import as_read
from alignkit.annotate.adjudication.voters import voters
from alignkit.annotate.project import events as log
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.rewording import Rewording
from alignkit.annotate.project.schema import PAIR, STREAM
from alignkit.annotate.project.state import PairState, decode_state
from alignkit.annotate.project.store import Store

HAND = "hand"  # drawn by hand
SINGLY = "singly"  # a suggestion that was accepted alone
BULK = "bulk"  # a suggestion that was accepted with others
KEPT = "kept"  # a suggestion that was kept by Done, though nobody had looked at it
IMPORTED = "imported"

UNSEEN = (BULK, KEPT)
"""How links were made that nobody looked at then."""

_HOW = {"accept": SINGLY, "accept-all": BULK, "done": KEPT, "import": IMPORTED}
"""How links were made by an event, by what the event says of itself; else by hand."""


class LinkOrigin(NamedTuple):
    """How and when a link was made; `at` is the time of the event in the log."""

    how: str
    at: str


Record = dict[str, Any]
"""What an export has of a decision, as plain values."""
_Logs = Mapping[str, Sequence[log.Event]]  # the events of each annotator on a pair
_Past = defaultdict[log.Cell, list[tuple[int, LinkOrigin]]]
"""By cell all values that it has had, in order, each with how it was made."""


def rewordings(conn: Connection, k: int) -> dict[int, Rewording]:
    """Return how the words of a pair were corrected, by the new revision of the text."""
    texts = queries.texts_of(conn, k)
    corrected = {}
    for rev, new in texts.items():
        before = texts.get(rev - 1)
        if before is not None:
            corrected[rev] = Rewording(before, new)
    return corrected


def origins(
    events: Iterable[log.Event], corrected: Mapping[int, Rewording], seq: int | None = None
) -> dict[log.Cell, LinkOrigin]:
    """Return the origin of each link and null at the end of a stream, at its final place.

    `corrected` says how words were corrected, by revision; `seq` is the last event that counts.
    """
    past: _Past = defaultdict(list)
    for event in events:
        data = log.decode_data(event.data)
        if event.kind == "text":  # also after `seq`: the places are those of the final text
            places = corrected[data.to].kept(past)
            past = defaultdict(list, {place: past[cell] for cell, place in places.items()})
            continue
        if seq is not None and event.seq > seq:
            continue
        restores = event.kind in ("undo", "redo")
        how = _HOW.get(data.how, HAND)
        # an edit of all links of a word accepts its suggestions, each of which has a probability
        accepted = {(i, j) for i, j, _ in data.p} if data.how == "word" else set()
        for i, j, _, after in data.cells:
            origin = LinkOrigin(SINGLY if (i, j) in accepted else how, event.at)
            if restores:
                origin = _last_origin(past[i, j], after) or LinkOrigin(how, event.at)
            past[i, j].append((after, origin))
    final = {}
    for cell, rows in past.items():
        value, origin = rows[-1]
        if value:
            final[cell] = origin
    return final


def _last_origin(rows: Sequence[tuple[int, LinkOrigin]], value: int) -> LinkOrigin | None:
    """Return how a cell last got a value, or None."""
    for earlier, origin in reversed(rows):
        if earlier == value:
            return origin
    return None


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
) -> Iterator[Record]:
    """Yield the record of each rewrite in gold; see `provenance`."""
    written = _rewrite_events(logs[gold])
    for key in sorted(state.rewrites, key=log.key_number):
        texts = state.rewrites[key]
        event = written[texts]
        votes = {}
        having = []
        for name in voters:
            earlier = [entry for entry in logs.get(name, ()) if entry.n <= event.n]
            said = texts in rewrites_at(earlier, event.n).values()
            seq = 0
            if earlier:
                seq = earlier[-1].seq
            votes[name] = {"said": said, "seq": seq}
            if said:
                having.append(name)
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


def _rewrite_events(events: Iterable[log.Event]) -> dict[log.Texts, log.Event]:
    """Return the event that last wrote each rewrite; undo and redo only restore."""
    written: dict[log.Texts, log.Event] = {}
    for event in events:
        for _, _, texts in log.decode_data(event.data).rewrites:
            restored = event.kind in ("undo", "redo") and texts in written
            if texts is not None and not restored:
                written[texts] = event
    return written


_STRENGTH = ("none", "possible", "sure")


def provenance(store: Store, *, done: bool = False) -> Iterator[Record]:
    """Yield the record of each decision of the gold standard, as plain values; see the docs."""
    with store.reading() as conn:
        gold = queries.gold_account(conn)
        if gold is None:
            return
        joined = schema.stream.join(schema.pair, PAIR.k == STREAM.pair)
        asked = select(STREAM.pair, PAIR.id, STREAM.state).select_from(joined)
        asked = asked.where(STREAM.account == gold).order_by(STREAM.pair)
        # accounts are numbered from 1 in the order of their entry, and none is ever removed
        names = dict(enumerate(queries.annotators(conn), 1))
        for k, id, text in conn.execute(asked):
            state = decode_state(text)
            if state.done or not done:
                for record in _pair(conn, k, state, gold, names):
                    yield {"id": id, **record}


def _pair(
    conn: Connection, k: int, state: PairState, gold: int, names: dict[int, str]
) -> Iterator[Record]:
    """Yield the records of a pair, given gold's state and account."""
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
) -> Iterator[Record]:
    """Yield the record of each cell and judgment that gold has or has decided about."""
    made = _makers(logs[gold])
    # by annotator and event: the origins of the links then, and whether suggestions were shown.
    # Many decisions rest on the same event, so that this is found once
    drawn_at: dict[tuple[str, int], tuple[dict[log.Cell, LinkOrigin], bool | None]] = {}
    for place in sorted(state.whys.keys() | state.cells.keys(), key=as_read):
        text = state.whys.get(place)
        why = log.Why("own") if text is None else log.read_why(text)
        actor, at = made.get((place, text), ("", ""))
        votes = {}
        for name, (said, seq) in why.votes.items():
            if (name, seq) not in drawn_at:
                events = logs.get(name, [])
                earlier = [event for event in events if event.seq <= seq]
                links = origins(events, corrected, seq)
                drawn_at[name, seq] = (links, suggestions_shown(earlier))
            drawn_links, shown = drawn_at[name, seq]
            votes[name] = {**_said(said), "seq": seq, "suggestions": shown}
            if place in drawn_links:
                votes[name]["how"] = drawn_links[place].how
        if place == log.JUDGMENT:
            subject = _said((state.judgment, *state.flags))
        else:
            i, j = place
            subject = {"i": i, "j": j, **_said(state.cells.get(place, 0), "link")}
        yield {
            **subject,
            "why": None if text is None else why.why,
            "as": why.as_ or None,
            "adjudicator": actor or None,
            "at": at or None,
            "note": why.note,
            "votes": votes,
        }


def _said(value: log.Value, name: str = "said") -> Record:
    """Return the fields of a record that hold a value: of a cell, or of a judgment."""
    if isinstance(value, int):
        return {name: _STRENGTH[value]}
    label, *flags = value or ("",)  # an empty tuple: no judgment
    return {"judgment": label, "flags": flags}


_Maker = tuple[str, str]  # an adjudicator, and the time of the decision


def _makers(events: Iterable[log.Event]) -> dict[tuple[log.Cell, str | None], _Maker]:
    """Return who decided for each place and reason, and when; undo and new words change neither."""
    made: dict[tuple[log.Cell, str | None], _Maker] = {}
    by_text: dict[str | None, _Maker] = {}
    for event in events:
        data = log.decode_data(event.data)
        now = (event.actor, data.when or event.at)  # of an import: when it was decided elsewhere
        repeats = event.kind in ("undo", "redo", "text")
        for i, j, _, text in data.whys:
            maker = now
            if repeats:
                # corrected words give the reason another place, but its text stays
                maker = made.get(((i, j), text)) or by_text.get(text) or now
            made[(i, j), text] = maker
            by_text[text] = maker
    return made
