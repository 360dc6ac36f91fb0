"""Compare the votes of annotators on a pair with the decisions of adjudicators; find the voters.

A *place* is a cell ``(i, j)``, -1 for the empty word, or `JUDGMENT`, the judgment of the whole
pair. The value of a cell is 0 (no link), 1 (possible) or 2 (sure). The value of the judgment is a
tuple of its label and flags, empty for none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.events import JUDGMENT, Cell, Value, Why, decode_data
from alignkit.annotate.project.queries import has_assignments
from alignkit.annotate.project.state import PairState
from alignkit.model.alignment import NULL, Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.model.phrase_arrays import LINKS
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
    def taken(self) -> tuple[set[Cell], set[int], set[int]]:
        """The nulls that are decided, and the linked source and target words."""
        links = [place for place, value in self.values.items() if value and NULL not in place]
        nulls = {place for place, value in self.values.items() if value and NULL in place}
        return nulls, {i for i, _ in links}, {j for _, j in links}


@dataclass(frozen=True)
class VotedPlace:
    """A place that has a vote or a decision."""

    place: Cell  # where it is
    votes: tuple[Value, ...]  # the values in the order of the ballots
    state: str
    value: Value  # what gold has; for what is agreed and not yet written down, what it will have
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
    votes = [vote for ballot in ballots.values() for vote in ballot.values.items()]
    places = {place for place, value in votes if value} | gold.values.keys() | gold.whys.keys()
    return [_item(place, ballots, gold, majority) for place in sorted(places, key=as_read)]


def _item(
    place: Cell, ballots: Mapping[str, Ballot], gold: GoldState, majority: bool
) -> VotedPlace:
    votes = tuple(ballot.at(place) for ballot in ballots.values())
    value = value_of(gold.values, place)
    why = gold.whys.get(place)
    if why is not None:  # reopened if a vote is another than recorded, or gold than its reason
        recorded = {name: said for name, (said, _) in why.votes.items()}
        now = {name: ballot.at(place) for name, ballot in ballots.items()}
        stale = any(vote != recorded.get(name, value) for name, vote in now.items())
        state = AGREED if why.why == AGREED else DECIDED
        if stale or not recorded or meant(why, value) != value:
            state = REOPENED
        return VotedPlace(place, votes, state, value, why)
    shared, (i, j) = shared_value(votes, majority), place
    if shared is None or (place in gold.values and shared != value):
        return VotedPlace(place, votes, OPEN, value)
    nulls, sources, targets = gold.taken
    if NULL in place:
        clashes = place != JUDGMENT and (i in sources or j in targets)
    else:
        clashes = (i, NULL) in nulls or (NULL, j) in nulls
    if shared and clashes:  # gold excludes what all agree on: a link, or no partner, of a word
        return VotedPlace(place, votes, OPEN, value)
    return VotedPlace(place, votes, AGREED, shared)


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
    if i == NULL:
        rows = []
    else:
        rows = [(i + step, j) for step in (-1, 1) if i + step >= 0]
    return rows + ([] if j == NULL else [(i, j + step) for step in (-1, 1) if j + step >= 0])


def _decision(item: VotedPlace) -> tuple[object, ...]:
    reason = item.why and (item.why.why, item.why.as_, item.why.note)
    return item.votes, item.state, item.value, reason


def left_to_decide(items: Iterable[VotedPlace]) -> int:
    """Return the number of decisions to make: groups of places that are open or reopened."""
    return len(grouped(item for item in items if item.open))


_UNJUDGED = '"judgment":"","flags":[]'  # as states hold it


class Voter(NamedTuple):
    """A voter on a pair: whether it is assigned to them, and whether they are done."""

    account: int
    name: str
    assigned: bool
    done: bool


def voters(conn: Connection, k: int | None = None) -> dict[int, list[Voter]]:
    """Return the voters of each pair, or of one: to whom it is assigned, or who annotated it."""
    counts = schema.pair_counts.c
    account = schema.account.c
    assigned = has_assignments(conn)
    done: ColumnElement[bool] = counts.done
    if assigned:
        row = schema.assignment.c
        held = schema.pair_counts
        pair = row.pair
        done = func.coalesce(done, False)
        joined = schema.assignment.join(schema.account, account.id == row.account).outerjoin(
            held, and_(counts.pair == pair, counts.account == row.account)
        )
        asked = select(pair, account.id, account.name, done).select_from(joined)
    else:
        pair = counts.pair
        stream = schema.stream.c
        said: ColumnElement[bool] = done | (counts.links + counts.nulls + counts.comments > 0)
        if queries.task_of(conn) == "judge":  # whoever only aligned it has no vote
            own = select(stream.id).where(stream.pair == pair, stream.account == counts.account)
            said = own.where(~stream.state.contains(_UNJUDGED)).exists()
            done = or_(done, own.where(stream.seq == 1).exists())  # it came with the corpus
        others = [queries.gold_name(conn), *queries.sources(conn)]
        asked = select(pair, account.id, account.name, done).where(
            account.id == counts.account, said, account.name.not_in(others)
        )
    if k is not None:
        asked = asked.where(pair == k)
    by_pair: dict[int, list[Voter]] = {}
    for number, who, name, is_done in conn.execute(asked.order_by(pair, account.id)):
        by_pair.setdefault(number, []).append(Voter(who, name, assigned, bool(is_done)))
    return by_pair


def all_in(pair_voters: Sequence[Voter]) -> bool:
    """Return whether a pair can be adjudicated: all are done, at least two if none are assigned."""
    least = 1 if pair_voters and pair_voters[0].assigned else 2
    return len(pair_voters) >= least and all(voter.done for voter in pair_voters)


def were_all_in(conn: Connection, k: int, pair_voters: Sequence[Voter]) -> bool:
    """Return whether all voters on a pair were done at once, with the words that it has now."""
    event = schema.event_table.c
    stream = schema.stream.c
    asked = select(stream.account, event.kind, event.sent, event.data)
    asked = asked.where(event.stream == stream.id, stream.pair == k).order_by(event.n)
    voting = {voter.account for voter in pair_voters}
    done = set[int]()
    were = False
    for account, kind, sent, text in conn.execute(asked):
        data = decode_data(text.encode())
        if (turn := data if kind == "done" else data.done) is not None:
            again = not (turn.after or sent)  # its words were corrected
            if again:
                done = set()
            elif turn.after:
                done = done | {account}
            else:
                done = done - {account}
            were = voting <= done or (were and not again)
    return were


def phrases_at_stake(pairs: Sequence[Mapping[str, Ballot]]) -> list[int]:
    """Count for each pair the atomic phrase pairs that only some of the votes have."""
    counts = [0] * len(pairs)
    differing: list[tuple[int, list[dict[Cell, Value]]]] = []
    for k, ballots in enumerate(pairs):
        votes = [ballot.values.items() for ballot in ballots.values()]
        links = [{cell: value for cell, value in vote if NULL not in cell} for vote in votes]
        if any(vote != links[0] for vote in links):
            differing.append((k, links))
    every = [vote for _, links in differing for vote in links]
    packed = LinkArrays.pack([Alignment([x for x in vote if vote[x] == 2], vote) for vote in every])
    for strength in LINKS:
        spans = extract_phrases(packed, links=strength, kind="atomic")
        at = 0
        for k, links in differing:
            held = Counter(span for x in range(len(links)) for span in spans.pair(at + x))
            at += len(links)
            counts[k] += sum(count < len(links) for count in held.values())
    return counts
