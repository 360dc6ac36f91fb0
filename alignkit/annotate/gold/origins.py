"""How each link of an annotator came to be: drawn by hand, accepted, imported."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import Connection

from alignkit.annotate.log.events import Cell, Event, decode_data
from alignkit.annotate.log.rewording import Rewording
from alignkit.annotate.tables import queries

HAND, SINGLY, BULK, IMPORTED = "hand", "singly", "bulk", "imported"
"""Drawn by hand; a suggestion accepted singly, or in bulk; imported."""

_HOW = {"accept": SINGLY, "accept-all": BULK, "import": IMPORTED}


class Origin(NamedTuple):
    """How and when a link came to be; `at` is the time of the event, as the log has it."""

    how: str
    at: str


_Past = defaultdict[Cell, list[tuple[int, Origin]]]
"""What each cell became, and how."""


def rewordings(conn: Connection, k: int) -> dict[int, Rewording]:
    """Return how the words of a pair were corrected, by the revision of the text that came."""
    texts = queries.texts_of(conn, k)
    return {rev: Rewording(texts[rev - 1], new) for rev, new in texts.items() if rev - 1 in texts}


def origins(
    events: Iterable[Event], corrected: Mapping[int, Rewording], seq: int | None = None
) -> dict[Cell, Origin]:
    """Return the origin of each link, and null, that a stream holds, where they are in the end."""
    past: _Past = defaultdict(list)
    for event in events:
        data = decode_data(event.data)
        if event.kind == "text":
            past = _moved(past, corrected[data.to])
            continue
        if seq is not None and event.seq > seq:
            continue
        how = _HOW.get(data.how, HAND)
        for i, j, _, after in data.cells:
            rows = past[i, j]
            same = None
            if event.kind in ("undo", "redo"):
                same = next((origin for value, origin in reversed(rows) if value == after), None)
            rows.append((after, same or Origin(how, event.at)))
    return {cell: rows[-1][1] for cell, rows in past.items() if rows[-1][0]}


def _moved(past: _Past, rewording: Rewording) -> _Past:
    moved: _Past = defaultdict(list)
    for cell, rows in past.items():
        place = rewording.cell(cell)
        if place is not None:
            moved[place] = rows
    return moved


def suggestions_shown(events: Iterable[Event]) -> bool | None:
    """Return whether an annotator saw suggestions; None if the pair was not opened on the page."""
    opened = [decode_data(event.data) for event in events if event.kind == "open"]
    shown = [data.suggestions for data in opened if data.suggestions is not None]
    return any(shown) if shown else None
