"""Find the pairs whose rewrites are others than when their adjudicator last looked at them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import Connection

from alignkit.annotate.gold.rewrite_origins import rewrites_at
from alignkit.annotate.log.events import Event, decode_data
from alignkit.annotate.log.state import PairState
from alignkit.annotate.tables import queries


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
