"""Compare what annotators voted on a pair with what adjudicators decided; and who has a vote.

A *place* is a cell ``(i, j)``, -1 for the empty word, or `JUDGMENT`, the judgment of the pair as a
whole. The value of a cell is 0 (no link), 1 (possible) or 2 (sure); that of the judgment its label
and flags in a tuple, empty for none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.events import JUDGMENT, Cell, Value, Why
from alignkit.annotate.project.queries import has_assignments
from alignkit.annotate.project.state import PairState
from alignkit.model.alignment import NULL, Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.model.phrase_arrays import LINKS
from alignkit.model.phrases import extract_phrases

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
class GoldState:
    """What is decided of a pair: the values, and by place why they are so."""

    values: Mapping[Cell, Value] = field(default_factory=dict)
    whys: Mapping[Cell, Why] = field(default_factory=dict)

    @cached_property
    def taken(self) -> tuple[set[Cell], set[int], set[int]]:
        """The nulls that are decided, and the source and target words that are linked."""
        links = [place for place, value in self.values.items() if value and NULL not in place]
        nulls = {place for place, value in self.values.items() if value and NULL in place}
        return nulls, {i for i, _ in links}, {j for _, j in links}


@dataclass(frozen=True)
class VotedPlace:
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
    """Return a value, or what stands for none: 0 on a cell, an empty tuple for the judgment."""
    return values.get(place, () if place == JUDGMENT else 0)


def as_read(place: Cell) -> tuple[bool, int, bool, int]:
    """Return what places are sorted by: by rows, nulls behind the words, the judgment last.

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
    ballots: Mapping[str, Ballot], gold: GoldState | None = None, *, majority: bool = False
) -> list[VotedPlace]:
    """Compare votes with each other, and with what is decided; return all places in order.

    Notes
    -----
    What is decided is never changed here: a place is reopened where a recorded vote is another one
    now, where an annotator whose vote is not recorded says otherwise than gold, where no vote is
    recorded, and where gold has another value than the reason gives (`meant`); gold keeps its value
    until somebody decides. What is agreed but cannot stand beside gold (a link of a word that is
    decided to have no partner, and the reverse) is open.

    >>> ballots = {"anna": Ballot({(0, 0): 2, (1, 1): 2}), "ben": Ballot({(0, 0): 2, (1, 1): 1})}
    >>> [(item.place, item.state) for item in compare(ballots)]
    [((0, 0), 'agreed'), ((1, 1), 'open')]
    >>> why = Why("vote", "ben", {"anna": (2, 3), "ben": (1, 7)})
    >>> decided = GoldState({(1, 1): 1}, {(1, 1): why})
    >>> [(item.place, item.state) for item in compare(ballots, decided)]
    [((0, 0), 'agreed'), ((1, 1), 'decided')]
    """
    gold = gold or GoldState()
    votes = [vote for ballot in ballots.values() for vote in ballot.values.items()]
    places = {place for place, value in votes if value} | gold.values.keys() | gold.whys.keys()
    return [_item(place, ballots, gold, majority) for place in sorted(places, key=as_read)]


def _item(
    place: Cell, ballots: Mapping[str, Ballot], gold: GoldState, majority: bool
) -> VotedPlace:
    votes = tuple(ballot.at(place) for ballot in ballots.values())
    value, why = value_of(gold.values, place), gold.whys.get(place)
    if why is not None:
        stands = AGREED if why.why == AGREED else DECIDED
        state = REOPENED if _stale(why, place, value, ballots) else stands
        return VotedPlace(place, votes, state, value, why)
    shared = shared_value(votes, majority)
    otherwise = place in gold.values and shared != value
    if shared is None or otherwise or _clashes(place, shared, gold.taken):
        return VotedPlace(place, votes, OPEN, value)
    return VotedPlace(place, votes, AGREED, shared)


def _stale(why: Why, place: Cell, value: Value, ballots: Mapping[str, Ballot]) -> bool:
    if not why.votes or meant(why, value) != value:
        return True
    recorded = {name: said for name, (said, _) in why.votes.items()}
    return any(ballot.at(place) != recorded.get(name, value) for name, ballot in ballots.items())


def meant(why: Why, value: Value, *, majority: bool = True) -> Value | None:
    """Return the value that a reason gives; where it is the adjudicator's own, any.

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


def _clashes(place: Cell, value: Value, taken: tuple[set[Cell], set[int], set[int]]) -> bool:
    (i, j), (nulls, sources, targets) = place, taken
    if not value or place == JUDGMENT:
        return False
    if NULL in place:
        return i in sources or j in targets
    return (i, NULL) in nulls or (NULL, j) in nulls


def agreed_items(items: Iterable[VotedPlace]) -> list[VotedPlace]:
    """Return what is agreed, and still to be written down."""
    return [item for item in items if item.state == AGREED and item.why is None]


def missing(items: Iterable[VotedPlace], gold: GoldState) -> list[VotedPlace]:
    """Return what is agreed, and otherwise in gold: it changed after the pair was adjudicated."""
    return [item for item in agreed_items(items) if item.value != value_of(gold.values, item.place)]


def grouped(items: Iterable[VotedPlace]) -> list[list[VotedPlace]]:
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


def _decision(item: VotedPlace) -> tuple[object, ...]:
    reason = item.why and (item.why.why, item.why.as_, item.why.note)
    return item.votes, item.state, item.value, reason


def left_to_decide(items: Iterable[VotedPlace]) -> int:
    """Return how many decisions are to be made: groups of places that are open or reopened."""
    return len(grouped(item for item in items if item.open))


_UNJUDGED = '"judgment":"","flags":[]'  # as states hold it


class Voter(NamedTuple):
    """Who votes on a pair, whether it is assigned to them, and whether they are done."""

    account: int
    name: str
    assigned: bool
    done: bool


def voters(conn: Connection, k: int | None = None) -> dict[int, list[Voter]]:
    """Return the voters of each pair, or of one, in the order of their entry.

    Those whom a pair is assigned to. Where nothing is assigned, all who have annotated it, here or
    in the corpus, but for the one whose links are the suggestions.
    """
    counts, account = schema.pair_counts, schema.account
    assigned = has_assignments(conn)
    if assigned:
        table = schema.assignment
        own = and_(counts.c.pair == table.c.pair, counts.c.account == table.c.account)
        joined = table.join(account, account.c.id == table.c.account).outerjoin(counts, own)
        pair = table.c.pair
        done: ColumnElement[bool] = func.coalesce(counts.c.done, False)
        asked = select(pair, account.c.id, account.c.name, done).select_from(joined)
    else:
        said: ColumnElement[bool] = counts.c.done | (
            counts.c.links + counts.c.nulls + counts.c.comments > 0
        )
        pair = counts.c.pair
        done = counts.c.done
        if queries.task_of(conn) == "judge":  # whoever only aligned it has no vote
            judged = ~schema.stream.c.state.contains(_UNJUDGED)
            own = and_(schema.stream.c.pair == pair, schema.stream.c.account == counts.c.account)
            said = select(schema.stream.c.id).where(own, judged).exists()
            came = select(schema.stream.c.id).where(own, schema.stream.c.seq == 1).exists()
            done = or_(done, came)  # with the corpus, where nothing is marked done
        others = [queries.gold_name(conn), queries.project_info(conn).suggestions or ""]
        asked = (
            select(pair, account.c.id, account.c.name, done)
            .select_from(counts.join(account, account.c.id == counts.c.account))
            .where(or_(said), account.c.name.not_in(others))
        )
    if k is not None:
        asked = asked.where(pair == k)
    by_pair: dict[int, list[Voter]] = {}
    for row in conn.execute(asked.order_by(pair, account.c.id)):
        by_pair.setdefault(row[0], []).append(Voter(row[1], row[2], assigned, bool(row[3])))
    return by_pair


def all_in(pair_voters: Sequence[Voter]) -> bool:
    """Return whether a pair can be adjudicated: all are done; two, where nothing is assigned."""
    least = 1 if pair_voters and pair_voters[0].assigned else 2
    return len(pair_voters) >= least and all(voter.done for voter in pair_voters)


def phrases_at_stake(pairs: Sequence[Mapping[str, Ballot]]) -> list[int]:
    """Count for each pair the atomic phrase pairs that some votes have, and others have not.

    >>> one, other = Ballot({(0, 0): 2, (1, 1): 2}), Ballot({(0, 0): 2, (1, 1): 1})
    >>> phrases_at_stake([{"anna": one, "ben": other}, {"anna": one, "ben": one}])
    [1, 0]
    """
    counts = [0] * len(pairs)
    votes = [
        [
            {place: value for place, value in ballot.values.items() if NULL not in place}
            for ballot in ballots.values()
        ]
        for ballots in pairs
    ]
    differing = [(k, links) for k, links in enumerate(votes) if any(x != links[0] for x in links)]
    packed = LinkArrays.pack(
        [
            Alignment([place for place, value in vote.items() if value == 2], vote)
            for _, links in differing
            for vote in links
        ]
    )
    for strength in LINKS:
        spans = extract_phrases(packed, links=strength, kind="atomic")
        at = 0
        for k, links in differing:
            held = Counter(span for x in range(len(links)) for span in spans.pair(at + x))
            at += len(links)
            counts[k] += sum(count < len(links) for count in held.values())
    return counts
