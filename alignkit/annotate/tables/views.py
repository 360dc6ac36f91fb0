"""What the store answers; encoded by msgspec, it is what the page gets."""

from __future__ import annotations

from msgspec import Struct

from alignkit.annotate.log.events import Event
from alignkit.annotate.log.project_events import Suggestion
from alignkit.annotate.log.state import StateView
from alignkit.annotate.names import GOLD


class ProjectInfo(Struct):
    """Describe a project."""

    name: str
    key: str  # its own name for good, the same in every copy
    n: int  # its last event
    pairs: int
    threshold: float
    scheme: str
    suggestions: str | None
    annotators: list[str]
    gold: str = GOLD  # the name under which the decisions of adjudicators stand
    task: str = "align"  # what annotators do: align, judge or extract


class Suggested(Struct):
    """The suggestions for a pair, of one set: place, posterior, and what accepting sets."""

    set: str
    cells: list[Suggestion]


class PairView(Struct):
    """A pair as one annotator sees it."""

    k: int
    id: str
    pairs: int  # how many the annotator has, and how many of them are done
    done: int
    previous: int | None
    next: int | None
    next_open: int | None
    rev: int
    source: list[str]
    target: list[str]
    attributes: dict[str, str]
    state: StateView
    undo: list[Event]  # what would be undone and redone, the next first, 100 at most
    redo: list[Event]
    suggestions: Suggested | None
    n: int
    place: int  # where this one stands in the annotator's list, from 1


class QueueRow(Struct, omit_defaults=True):
    """What a list shows of a pair."""

    k: int
    id: str
    done: bool
    links: int
    comments: int
    text: str = ""


class Queue(Struct):
    """A part of the list of pairs; `total` is the number in the whole list."""

    pairs: list[QueueRow]
    total: int
    done: int


class Progress(Struct):
    """How far an annotator is: pairs that are done, and pairs there are to do."""

    annotator: str
    done: int
    pairs: int


class Changes(Struct):
    """Events by pair, up to `n`."""

    n: int
    pairs: dict[int, list[Event]]


class Appended(Struct):
    """Answer a request of events."""

    seq: int  # the last event of the stream, and of the project
    n: int
    events: list[Event]  # all of the stream that the sender had not seen, in order
    state_undo: str | None  # the ids of what would be undone and redone next
    state_redo: str | None
