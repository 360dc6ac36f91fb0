"""Where the rewrites of the gold standard come from: whose they were, and who took them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from alignkit.annotate.log.events import Event, decode_data
from alignkit.annotate.log.new_pairs import Texts, key_number, put
from alignkit.annotate.log.state import PairState


def rewrites_at(events: Iterable[Event], n: int) -> dict[str, Texts]:
    """Return the rewrites of a stream, by key, as they were at event `n` of the project."""
    held: dict[str, Texts] = {}
    for event in events:
        if event.n <= n:
            put(held, decode_data(event.data).rewrites)
    return held


def rewrite_lines(
    state: PairState, logs: Mapping[str, Sequence[Event]], gold: str, voters: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield what is known of each rewrite that gold has; see `provenance.provenance`."""
    written = _written(logs[gold])
    for key in sorted(state.rewrites, key=key_number):
        texts = state.rewrites[key]
        event = written[texts]
        votes = {name: _vote(logs.get(name, ()), texts, event.n) for name in voters}
        having = [name for name, vote in votes.items() if vote["said"]]
        why = "own" if not having else "agreed" if len(having) == len(votes) else "vote"
        yield {
            "rewrite": list(texts),
            "why": why,
            "as": having[0] if why == "vote" else None,
            "adjudicator": event.actor or None,
            "at": event.at or None,
            "note": "",
            "votes": votes,
        }


def _vote(events: Iterable[Event], texts: Texts, n: int) -> dict[str, Any]:
    earlier = [event for event in events if event.n <= n]
    said = texts in rewrites_at(earlier, n).values()
    return {"said": said, "seq": earlier[-1].seq if earlier else 0}


def _written(events: Iterable[Event]) -> dict[Texts, Event]:
    writers: dict[Texts, Event] = {}
    for event in events:
        for _, _, texts in decode_data(event.data).rewrites:
            if texts is not None and (event.kind not in ("undo", "redo") or texts not in writers):
                writers[texts] = event
    return writers
