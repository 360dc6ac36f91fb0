"""Compare what annotators voted on a pair with what adjudicators decided: pure, without a store.

A *place* is a cell ``(i, j)``, -1 for the empty word, or `JUDGMENT`, the judgment of the pair as a
whole. The value of a cell is 0 (no link), 1 (possible) or 2 (sure); that of the judgment its label
and flags in a tuple, empty for none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from alignkit.alignment import NULL
from alignkit.annotate.log.decisions import JUDGMENT, Value, Why
from alignkit.annotate.log.events import Cell
from alignkit.annotate.log.state import PairState

AGREED, OPEN, DECIDED, REOPENED = "agreed", "open", "decided", "reopened"


@dataclass(frozen=True)
class Ballot:
    """What one annotator says of a pair."""

    values: Mapping[Cell, Value] = field(default_factory=dict)
    seq: int = 0  # the last event of the annotator on the pair

    def at(self, place: Cell) -> Value:
        """Return the vote on a place."""
        return value_of(self.values, place)


@dataclass(frozen=True)
class Gold:
    """What is decided of a pair: the values, and by place why they are so."""

    values: Mapping[Cell, Value] = field(default_factory=dict)
    whys: Mapping[Cell, Why] = field(default_factory=dict)


@dataclass(frozen=True)
class Item:
    """A place that somebody voted on, or that was decided."""

    place: Cell  # where it is
    votes: tuple[Value, ...]  # the values in the order of the ballots
    state: str
    value: Value  # what gold has; for what is agreed and not yet written down, what it will have
    why: Why | None = None  # what is recorded; None where nothing is

    @property
    def open(self) -> bool:
        """Whether somebody has to decide."""
        return self.state in (OPEN, REOPENED)


def value_of(values: Mapping[Cell, Value], place: Cell) -> Value:
    """Return a value, or what stands for none.

    Examples
    --------
    >>> value_of({}, (0, 1)), value_of({}, JUDGMENT)
    (0, ())
    """
    return values.get(place, () if place == JUDGMENT else 0)


def as_read(place: Cell) -> tuple[bool, int, bool, int]:
    """Return what places are sorted by: by rows, nulls behind the words, the judgment last.

    Examples
    --------
    >>> sorted([(-1, -1), (0, -1), (-1, 0), (1, 1), (0, 0)], key=as_read)
    [(0, 0), (0, -1), (1, 1), (-1, 0), (-1, -1)]
    """
    i, j = place
    return i == NULL, i, j == NULL, j


def ballot_of(state: PairState, *, judged: bool = False) -> Ballot:
    """Return what a state says as a vote; the same of gold's own state are its values."""
    values: dict[Cell, Value] = {} if judged else dict(state.cells)
    if state.judgment or state.flags:
        values[JUDGMENT] = (state.judgment, *state.flags)
    return Ballot(values, state.seq)


def compare(
    ballots: Mapping[str, Ballot], gold: Gold | None = None, *, majority: bool = False
) -> list[Item]:
    """Compare votes with each other, and with what is decided; return all places in order.

    Notes
    -----
    What is decided is never changed here: a place is reopened where a recorded vote is another one
    now, where an annotator whose vote is not recorded says otherwise than gold, where no vote is
    recorded, and where gold has another value than the reason gives (`meant`); gold keeps its value
    until somebody decides. What is agreed but cannot stand beside gold (a link of a word that is
    decided to have no partner, and the reverse) is open.

    Examples
    --------
    >>> ballots = {"anna": Ballot({(0, 0): 2, (1, 1): 2}), "ben": Ballot({(0, 0): 2, (1, 1): 1})}
    >>> [(item.place, item.state) for item in compare(ballots)]
    [((0, 0), 'agreed'), ((1, 1), 'open')]
    >>> decided = Gold({(1, 1): 1}, {(1, 1): Why("vote", "ben", {"anna": (2, 3), "ben": (1, 7)})})
    >>> [(item.place, item.state) for item in compare(ballots, decided)]
    [((0, 0), 'agreed'), ((1, 1), 'decided')]
    """
    gold = gold or Gold()
    places = {
        place for ballot in ballots.values() for place, value in ballot.values.items() if value
    }
    places.update(gold.values, gold.whys)
    taken = _linked(gold.values)
    return [_item(place, ballots, gold, taken, majority) for place in sorted(places, key=as_read)]


def _item(
    place: Cell,
    ballots: Mapping[str, Ballot],
    gold: Gold,
    taken: tuple[set[Cell], set[int], set[int]],
    majority: bool,
) -> Item:
    votes = tuple(ballot.at(place) for ballot in ballots.values())
    value, why = value_of(gold.values, place), gold.whys.get(place)
    if why is not None:
        stands = AGREED if why.why == AGREED else DECIDED
        state = REOPENED if _stale(why, place, value, ballots) else stands
        return Item(place, votes, state, value, why)
    shared = shared_value(votes, majority)
    otherwise = place in gold.values and shared != value
    if shared is None or otherwise or _clashes(place, shared, taken):
        return Item(place, votes, OPEN, value)
    return Item(place, votes, AGREED, shared)


def _stale(why: Why, place: Cell, value: Value, ballots: Mapping[str, Ballot]) -> bool:
    if not why.votes or meant(why, value) != value:
        return True
    recorded = {name: said for name, (said, _) in why.votes.items()}
    return any(ballot.at(place) != recorded.get(name, value) for name, ballot in ballots.items())


def meant(why: Why, value: Value, *, majority: bool = True) -> Value | None:
    """Return the value that a reason gives; where it is the adjudicator's own, any.

    Examples
    --------
    >>> votes = {"anna": (2, 3), "ben": (1, 7)}
    >>> meant(Why("vote", "ben", votes), 2), meant(Why("agreed", "", votes), 2)
    (1, None)
    """
    if why.why == "own":
        return value
    if why.why == "vote":
        return why.votes.get(why.as_, (None, 0))[0]
    return shared_value([said for said, _ in why.votes.values()], majority)


def shared_value(votes: Sequence[Value], majority: bool) -> Value | None:
    """Return the value that is agreed: all votes, or more than half; None where there is none."""
    if not votes:
        return None
    if votes.count(votes[0]) == len(votes):
        return votes[0]
    value = max(votes, key=votes.count)
    return value if majority and 2 * votes.count(value) > len(votes) else None


def _linked(values: Mapping[Cell, Value]) -> tuple[set[Cell], set[int], set[int]]:
    links = [place for place, value in values.items() if value and NULL not in place]
    nulls = {place for place, value in values.items() if value and NULL in place}
    return nulls, {i for i, _ in links}, {j for _, j in links}


def _clashes(place: Cell, value: Value, taken: tuple[set[Cell], set[int], set[int]]) -> bool:
    (i, j), (nulls, sources, targets) = place, taken
    if not value or place == JUDGMENT:
        return False
    if NULL in place:
        return i in sources or j in targets
    return (i, NULL) in nulls or (NULL, j) in nulls


def agreed_items(items: Iterable[Item]) -> list[Item]:
    """Return what is agreed, and still to be written down."""
    return [item for item in items if item.state == AGREED and item.why is None]


def missing(items: Iterable[Item], gold: Gold) -> list[Item]:
    """Return what is agreed, and otherwise in gold: it changed after the pair was adjudicated."""
    return [item for item in agreed_items(items) if item.value != value_of(gold.values, item.place)]


def grouped(items: Iterable[Item]) -> list[list[Item]]:
    """Join neighbours that are one decision: equal votes, and the same state, value and reason."""
    left = {item.place: item for item in items}
    groups = []
    for place in sorted(left, key=as_read):
        if place not in left:
            continue
        group, pending = [], [left.pop(place)]
        while pending:
            group.append(item := pending.pop())
            near = [other for other in _neighbours(item.place) if other in left]
            alike = [other for other in near if _decision(left[other]) == _decision(item)]
            pending.extend(left.pop(other) for other in alike)
        groups.append(sorted(group, key=lambda item: as_read(item.place)))
    return groups


def _neighbours(place: Cell) -> list[Cell]:
    i, j = place
    if place == JUDGMENT:
        return []
    rows = [] if i == NULL else [(i + step, j) for step in (-1, 1) if i + step >= 0]
    return rows + ([] if j == NULL else [(i, j + step) for step in (-1, 1) if j + step >= 0])


def _decision(item: Item) -> tuple[object, ...]:
    reason = item.why and (item.why.why, item.why.as_, item.why.note)
    return item.votes, item.state, item.value, reason


def left_to_decide(items: Iterable[Item]) -> int:
    """Return how many decisions are to be made: groups of places that are open or reopened."""
    return len(grouped(item for item in items if item.open))
