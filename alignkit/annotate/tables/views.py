"""Define what the store answers; encoded by msgspec, it is what the page gets."""

from __future__ import annotations

from msgspec import Struct

from alignkit.annotate.log.events import Event
from alignkit.annotate.log.project_events import Suggestion
from alignkit.annotate.log.state import StateView
from alignkit.annotate.names import GOLD

__all__ = [
    "Appended",
    "Changes",
    "PairView",
    "Progress",
    "ProjectInfo",
    "Queue",
    "QueueRow",
    "Suggested",
]


class ProjectInfo(Struct):
    """Describe a project.

    Parameters
    ----------
    key
        Its own name for good, the same in every copy.
    n
        Its last event.
    scheme, suggestions
        The name of the scheme of labels, and that of the set of suggestions that is shown.
    gold
        The name under which the decisions of adjudicators stand.
    task
        What annotators do: ``align``, ``judge`` or ``extract``.
    """

    name: str
    key: str
    n: int
    pairs: int
    threshold: float
    scheme: str
    suggestions: str | None
    annotators: list[str]
    gold: str = GOLD
    task: str = "align"


class Suggested(Struct):
    """Hold the suggestions for a pair, of one set: place, posterior, and what accepting sets."""

    set: str
    cells: list[Suggestion]


class PairView(Struct):
    """Hold a pair as one annotator sees it.

    Parameters
    ----------
    pairs, done
        How many the annotator has, and how many of them are done.
    place
        Where this one stands in the annotator's list, from 1.
    previous, next, next_open
        The numbers of its neighbours, and of the next that is not done; None where there is none.
    undo, redo
        What would be undone and redone, the next first, 100 at most.
    """

    k: int
    id: str
    pairs: int
    done: int
    previous: int | None
    next: int | None
    next_open: int | None
    rev: int
    source: list[str]
    target: list[str]
    attributes: dict[str, str]
    state: StateView
    undo: list[Event]
    redo: list[Event]
    suggestions: Suggested | None
    n: int
    place: int


class QueueRow(Struct, omit_defaults=True):
    """Hold what a list shows of a pair."""

    k: int
    id: str
    done: bool
    links: int
    comments: int
    text: str = ""


class Queue(Struct):
    """Hold a part of the list of pairs; `total` is the number in the whole list."""

    pairs: list[QueueRow]
    total: int
    done: int


class Progress(Struct):
    """Say how far an annotator is: pairs that are done, and pairs there are to do."""

    annotator: str
    done: int
    pairs: int


class Changes(Struct):
    """Hold events by pair, up to `n`."""

    n: int
    pairs: dict[int, list[Event]]


class Appended(Struct):
    """Answer a request of events.

    Parameters
    ----------
    seq, n
        The last event of the stream, and of the project.
    events
        All of the stream that the sender had not seen, in order.
    state_undo, state_redo
        The ids of what would be undone and redone next.
    """

    seq: int
    n: int
    events: list[Event]
    state_undo: str | None
    state_redo: str | None
