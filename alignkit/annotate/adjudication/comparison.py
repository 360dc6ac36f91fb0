"""Compare the votes of annotators on a pair with the decisions of adjudicators.

A *place* is a cell ``(i, j)``, -1 for the empty word, or `JUDGMENT`, the judgment of the whole
pair. The value of a cell is 0 (no link), 1 (possible) or 2 (sure). The value of the judgment is a
tuple of its label and flags, empty for none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from alignkit.annotate.project.events import JUDGMENT, Cell, Value, Why
from alignkit.annotate.project.state import PairState
from alignkit.model.alignment import NULL, Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.model.phrase_arrays import LINKS, PhrasePair
from alignkit.model.phrases import extract_phrases

AGREED = "agreed"
OPEN = "open"
DECIDED = "decided"
REOPENED = "reopened"


@dataclass(frozen=True)
class Ballot:
    """The vote of one annotator on a pair."""

    values: Mapping[Cell, Value] = field(default_factory=dict)
    seq: int = 0  # the last event of the annotator on the pair

    def at(self, place: Cell) -> Value:
        """Return the vote on a place."""
        return value_of(self.values, place)


@dataclass(frozen=True)
class GoldState:
    """The decisions on a pair: the values, and the reason for each place."""

    values: Mapping[Cell, Value] = field(default_factory=dict)
    whys: Mapping[Cell, Why] = field(default_factory=dict)

    @cached_property
    def taken(self) -> tuple[set[int], set[int]]:
        """The linked source and target words."""
        sources = set()
        targets = set()
        for (i, j), value in self.values.items():
            if value and NULL not in (i, j):
                sources.add(i)
                targets.add(j)
        return sources, targets


@dataclass(frozen=True)
class VotedPlace:
    """A place that has a vote or a decision."""

    place: Cell  # where it is
    votes: tuple[Value, ...]  # the values in the order of the ballots
    state: str
    value: Value  # what gold has, or will have if it is agreed and not recorded yet
    why: Why | None = None  # what is recorded; None where nothing is

    @property
    def open(self) -> bool:
        """Whether a decision is needed."""
        return self.state in (OPEN, REOPENED)


def value_of(values: Mapping[Cell, Value], place: Cell) -> Value:
    """Return the value at a place; by default 0 for a cell, an empty tuple for the judgment."""
    return values.get(place, () if place == JUDGMENT else 0)


def as_read(place: Cell) -> tuple[bool, int, bool, int]:
    """Return the sort key of a place: by rows, nulls after the words, the judgment last."""
    i, j = place
    return i == NULL, i, j == NULL, j


def ballot_of(state: PairState, *, judged: bool = False) -> Ballot:
    """Return a state as a vote; applied to gold's own state, return its values."""
    values: dict[Cell, Value] = {} if judged else dict(state.cells)
    if state.judgment or state.flags:
        values[JUDGMENT] = (state.judgment, *state.flags)
    return Ballot(values, state.seq)


def compare(
    ballots: Mapping[str, Ballot], gold: GoldState | None = None, *, majority: bool = False
) -> list[VotedPlace]:
    """Compare votes with each other and with the decisions; return all places in order."""
    gold = gold or GoldState()
    places = gold.values.keys() | gold.whys.keys()
    for ballot in ballots.values():
        places.update(place for place, value in ballot.values.items() if value)
    return [_item(place, ballots, gold, majority) for place in sorted(places, key=as_read)]


def _item(
    place: Cell, ballots: Mapping[str, Ballot], gold: GoldState, majority: bool
) -> VotedPlace:
    """Return what votes and gold say on a place, and whether it needs a decision."""
    votes = tuple(ballot.at(place) for ballot in ballots.values())
    value = value_of(gold.values, place)
    why = gold.whys.get(place)
    if why is not None:
        state = AGREED if why.why == AGREED else DECIDED
        if _is_stale(why, value, place, ballots):
            state = REOPENED
        return VotedPlace(place, votes, state, value, why)
    shared = shared_value(votes, majority)
    if shared is None or (place in gold.values and shared != value):
        return VotedPlace(place, votes, OPEN, value)
    if shared and _is_excluded(place, gold):
        return VotedPlace(place, votes, OPEN, value)
    return VotedPlace(place, votes, AGREED, shared)


def _is_stale(why: Why, value: Value, place: Cell, ballots: Mapping[str, Ballot]) -> bool:
    """Return whether a vote is not as recorded, or gold's value not the one of its reason."""
    if not why.votes or meant(why, value) != value:
        return True
    recorded = {name: said for name, (said, _) in why.votes.items()}
    return any(ballot.at(place) != recorded.get(name, value) for name, ballot in ballots.items())


def _is_excluded(place: Cell, gold: GoldState) -> bool:
    """Return whether gold has a null for a word of a link, or a link for the word of a null."""
    if place == JUDGMENT:
        return False
    i, j = place
    if NULL in place:
        sources, targets = gold.taken
        return i in sources or j in targets
    return any(gold.values.get(null) for null in ((i, NULL), (NULL, j)))


def meant(why: Why, value: Value, *, majority: bool = True) -> Value | None:
    """Return the value that a reason gives; if the adjudicator decided alone, the value itself."""
    if why.why == "own":
        return value
    if why.why == "vote":
        return why.votes.get(why.as_, (None, 0))[0]
    return shared_value([said for said, _ in why.votes.values()], majority)


def shared_value(votes: Sequence[Value], majority: bool) -> Value | None:
    """Return the value of all votes, or of more than half; None if there is no such value."""
    if not votes:
        return None
    if votes.count(votes[0]) == len(votes):
        return votes[0]
    value = max(votes, key=votes.count)
    if majority and 2 * votes.count(value) > len(votes):
        return value
    return None


def agreed_items(items: Iterable[VotedPlace]) -> list[VotedPlace]:
    """Return the agreed places that are not recorded yet."""
    return [item for item in items if item.state == AGREED and item.why is None]


def missing(items: Iterable[VotedPlace], gold: GoldState) -> list[VotedPlace]:
    """Return agreed places that differ in gold: they changed after the pair was adjudicated."""
    return [item for item in agreed_items(items) if item.value != value_of(gold.values, item.place)]


def grouped(items: Iterable[VotedPlace]) -> list[list[VotedPlace]]:
    """Group neighbours into one decision: same votes, state, value and reason."""
    left = {item.place: item for item in items}
    groups = []
    for place in sorted(left, key=as_read):
        if place not in left:
            continue
        group = []
        pending = [left.pop(place)]
        while pending:
            item = pending.pop()
            group.append(item)
            for near in _neighbours(item.place):
                if near in left and _decision(left[near]) == _decision(item):
                    alike = left.pop(near)
                    pending.append(alike)
        groups.append(sorted(group, key=lambda item: as_read(item.place)))
    return groups


def _neighbours(place: Cell) -> list[Cell]:
    """Return the places next to a cell in its row and column; a null has only nulls beside it."""
    i, j = place
    near = []
    for step in (-1, 1):
        if i != NULL and i + step >= 0:
            near.append((i + step, j))
        if j != NULL and j + step >= 0:
            near.append((i, j + step))
    return near


def _decision(item: VotedPlace) -> tuple[object, ...]:
    """Return what the places of one decision have in common."""
    reason = None
    if item.why is not None:
        reason = (item.why.why, item.why.as_, item.why.note)
    return item.votes, item.state, item.value, reason


def left_to_decide(items: Iterable[VotedPlace]) -> int:
    """Return the number of decisions to make: groups of places that are open or reopened."""
    return len(grouped(item for item in items if item.open))


def phrases_at_stake(pairs: Sequence[Mapping[str, Ballot]]) -> list[int]:
    """Count for each pair the atomic phrase pairs that only some of the votes have."""
    counts = [0] * len(pairs)
    differing: list[tuple[int, list[dict[Cell, Value]]]] = []
    alignments = []
    for k, ballots in enumerate(pairs):
        votes = [_links(ballot) for ballot in ballots.values()]
        if any(links != votes[0] for links in votes):
            differing.append((k, votes))
            for links in votes:
                sure = [cell for cell, value in links.items() if value == 2]
                alignments.append(Alignment(sure, links))
    packed = LinkArrays.pack(alignments)
    for strength in LINKS:
        phrases = extract_phrases(packed, links=strength, kind="atomic")
        first = 0
        for k, votes in differing:
            end = first + len(votes)
            times = Counter[PhrasePair]()  # how many of the votes have each phrase pair
            for vote in range(first, end):
                times.update(phrases.pair(vote))
            counts[k] += sum(count < len(votes) for count in times.values())
            first = end
    return counts


def _links(ballot: Ballot) -> dict[Cell, Value]:
    """Return the links of a vote, without its nulls and its judgment."""
    return {cell: value for cell, value in ballot.values.items() if NULL not in cell}
