"""Adjudicate: read the votes on a pair, and write the decisions into the gold standard.

The decisions are the stream of the account named by the setting `gold`; the actor of each event is
the adjudicator. Places on which all annotators agree are recorded when an adjudicator opens the
pair, and again before it is marked done. So each link has a recorded reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import uuid4

from msgspec import Raw, structs
from sqlalchemy import Connection, Row, select

from alignkit._support.wording import how_many
from alignkit.annotate.adjudication import comparison
from alignkit.annotate.adjudication.pseudonyms import names_of
from alignkit.annotate.adjudication.voters import Voter, all_in, voters
from alignkit.annotate.project import events as log
from alignkit.annotate.project import pair_lists, queries
from alignkit.annotate.project.appending import Writer, append_sent, new_event
from alignkit.annotate.project.names import BadEvent, Conflict, NotReady, OldText
from alignkit.annotate.project.queries import Appended, Changes, PairRow, StreamRow
from alignkit.annotate.project.schema import EVENT, EVENT_IS_IN_STREAM, STREAM
from alignkit.annotate.project.state import PairState, conflicts, copied
from alignkit.annotate.project.store import Store
from alignkit.model.alignment import NULL

_KINDS = ("decide", "comment", "rewrite", "done", "undo", "redo", "open")


@dataclass(frozen=True)
class Votes:
    """The votes on a pair, and what compares them with gold."""

    voters: Sequence[Voter]  # in the order of their entry
    states: Mapping[str, PairState]  # those of the voters, by name
    majority: bool  # the setting: whether a majority of the votes is enough
    judged: bool  # whether the task is to judge pairs

    @classmethod
    def of(
        cls, voters: Sequence[Voter], states: Mapping[int, PairState], setting: Row[Any]
    ) -> Votes:
        """Return the votes, given the states of a pair by account, and the project's settings."""
        own = {voter.name: states.get(voter.account, PairState()) for voter in voters}
        return cls(voters, own, bool(setting.majority), setting.task == "judge")

    @cached_property
    def ballots(self) -> dict[str, comparison.Ballot]:
        """The votes, by name."""
        ballots = {}
        for name, state in self.states.items():
            ballots[name] = comparison.ballot_of(state, judged=self.judged)
        return ballots

    def items(self, decided: PairState) -> list[comparison.VotedPlace]:
        """Compare the votes with a state of gold."""
        gold = gold_of(decided, judged=self.judged)
        return comparison.compare(self.ballots, gold, majority=self.majority)

    def missing(self, decided: PairState) -> list[comparison.VotedPlace]:
        """Return the agreed places that differ in a state of gold."""
        gold = gold_of(decided, judged=self.judged)
        return comparison.missing(self.items(decided), gold)


@dataclass(frozen=True)
class Case:
    """A pair to adjudicate: its words, its votes, and gold's own stream."""

    pair: PairRow
    votes: Votes
    gold: StreamRow

    def check(self) -> None:
        """Check that all votes are in."""
        voters = self.votes.voters
        if not all_in(voters):
            late = [voter.name for voter in voters if not voter.done]
            raise NotReady(self.pair.id, late)


def gold_of(state: PairState, *, judged: bool) -> comparison.GoldState:
    """Return the decisions in the state of gold's stream."""
    whys = {place: log.read_why(text) for place, text in state.whys.items()}
    return comparison.GoldState(comparison.ballot_of(state, judged=judged).values, whys)


def read_case(conn: Connection, k: int) -> Case:
    """Read a pair with its votes and decisions."""
    pair = queries.pair_row(conn, k)
    streams = queries.streams_of(conn, pair)
    states = {account: stream.state for account, stream in streams.items()}
    setting = queries.settings(conn)
    empty = StreamRow(None, PairState(rev=pair.rev))
    gold = streams.get(queries.account_of(conn, setting.gold), empty)
    return Case(pair, Votes.of(voters(conn, k).get(k, ()), states, setting), gold)


def decide(store: Store, k: int, actor: str, request: log.Request) -> tuple[Appended, bool]:
    """Append the events of an adjudicator, all or none; see `Store.append`.

    Where names are hidden, the answer, and a conflict with another adjudicator, have none either.
    """

    def append(conn: Connection) -> tuple[Appended, bool]:
        case = read_case(conn, k)
        names = names_of(conn, case.pair)
        events = [names.named(sent) for sent in request.events]
        named = structs.replace(request, events=events)
        gold = queries.gold_name(conn)
        clerk = _Clerk(case, actor)
        try:
            answer, new = append_sent(conn, k, gold, named, actor=actor, prepare=clerk)
        except Conflict as conflict:
            hidden = [names.hidden_conflict(fields) for fields in conflict.conflicts]
            missed = [names.hidden(event) for event in conflict.events]
            others = sorted({event.actor for event in missed} - {actor})
            if others:
                by = f"by {', '.join(others)}"
            else:
                by = "in another tab"
            raise Conflict(hidden, conflict.seq, missed, by=by) from None
        answer.events = [names.hidden(event) for event in answer.events]
        return answer, new

    return store.database.later(append).result()


@dataclass(frozen=True)
class _Clerk:
    """Check events of adjudicators before they are stored, and add agreed places."""

    _case: Case
    _actor: str

    def __call__(self, writer: Writer, sent: log.Sent, data: log.Data) -> None:
        """Check an event that was sent, against the state that the writer has reached."""
        if sent.kind not in _KINDS:
            raise BadEvent(
                f"{sent.kind[:40]}: not an event of adjudicators; they decide and give a reason"
            )
        self._case.check()
        if sent.kind == "decide":
            self._check(writer.state, data)
        elif sent.kind == "open" or (sent.kind == "done" and data.after is True):
            self._add_agreed(writer)
            if sent.kind == "done":
                self._check_end(writer.state)
        elif sent.kind in ("undo", "redo"):
            # undo and redo may mark the pair as done: what the state would be is tried on a copy
            state = copied(writer.state)
            state.apply(sent.kind, writer.back(sent.kind, data))
            if state.done and not writer.state.done:
                self._check_end(state)

    def _check_end(self, state: PairState) -> None:
        """Check that nothing is left to decide in a state of gold."""
        left = comparison.left_to_decide(self._case.votes.items(state))
        if left:
            places = how_many(left, "difference is", "differences are")
            raise BadEvent(f"{places} still open; decide, then mark the pair as done")
        if self._case.votes.missing(state):
            raise BadEvent("gold lacks something that all agree on; mark the pair as done again")

    def _add_agreed(self, writer: Writer) -> None:
        """Record the places that all agree on; with the first event, also the shared rewrites."""
        first = writer.state.seq == 0  # looked at before the decisions are added
        votes = self._case.votes
        agreed = comparison.agreed_items(votes.items(writer.state))
        if agreed:
            data = _agreed(agreed, votes.ballots, writer.state)
            writer.add(new_event("decide", self._actor), data)
        if not first:
            return
        made = [state.rewrites.values() for state in votes.states.values()]
        shared = sorted(log.shared_texts(made))
        if shared:
            rows = [(f"r{number}", None, texts) for number, texts in enumerate(shared, 1)]
            data = log.Data(how="agreed", rewrites=tuple(rows))
            writer.add(new_event("rewrite", self._actor), data)

    def _check(self, state: PairState, data: log.Data) -> None:
        """Check a decision.

        Each place that it writes has a reason; gold's values are as the adjudicator saw them; the
        reasons fit the votes and the values; and no null of gold excludes a link that is written.
        """
        reasons = {(i, j): after for i, j, _, after in data.whys}
        if not reasons or None in reasons.values():
            raise BadEvent("whys: a decision needs a reason for each of its cells")
        written = _written(state, data)
        for place in written:
            if place not in reasons:
                raise BadEvent(f"whys: the decision on {list(place)} has no reason; give one")
        late = conflicts(state, "decide", data)
        if late:  # first: a late reason need not fit any more
            raise Conflict(late)
        now = comparison.ballot_of(state).values
        for place, text in reasons.items():
            value = written.get(place, comparison.value_of(now, place))
            self._check_reason(place, log.read_why(str(text)), value)
        excluding = _excluding_nulls(state, written)
        if excluding:
            raise Conflict(excluding)

    def _check_reason(self, place: log.Cell, why: log.Why, value: log.Value) -> None:
        """Check that a reason names votes as they are now, and gives the value of its place."""
        votes = self._case.votes
        ballots = votes.ballots
        for name, (said, seq) in why.votes.items():
            if name not in ballots:
                raise BadEvent("whys: it names an annotator who has no vote on this pair")
            ballot = ballots[name]
            if seq > ballot.seq or (seq == ballot.seq and said != ballot.at(place)):
                raise BadEvent(f"whys: the vote on {list(place)} has changed; load the pair again")
        if not why.votes:
            raise BadEvent(f"whys: the decision on {list(place)} names no vote; name the votes")
        says = comparison.meant(why, value, majority=votes.majority)
        if says != value:
            raise BadEvent(f"whys: {list(place)} becomes {value}, but its reason gives {says}")


def _written(state: PairState, data: log.Data) -> dict[log.Cell, log.Value]:
    """Return the new value of each place that a decision changes."""
    written: dict[log.Cell, log.Value] = {(i, j): after for i, j, _, after in data.cells}
    if data.label is None and data.flags is None:
        return written
    label = state.judgment if data.label is None else data.label[1]
    flags = state.flags if data.flags is None else data.flags[1]
    written[log.JUDGMENT] = ()
    if label or flags:
        written[log.JUDGMENT] = (label, *flags)
    return written


def _excluding_nulls(
    state: PairState, written: Mapping[log.Cell, log.Value]
) -> list[dict[str, Any]]:
    """Return as conflicts the nulls of gold, not written anew, on words of links to be written."""
    nulls = []
    for (i, j), value in written.items():
        is_link = value and NULL not in (i, j)
        if not is_link:
            continue
        for row, column in ((i, NULL), (NULL, j)):
            null = (row, column)
            if null in state.cells and null not in written:
                now = state.cells[null]
                nulls.append({"i": row, "j": column, "before": 0, "after": 0, "now": now})
    return nulls


def _agreed(
    items: list[comparison.VotedPlace], ballots: Mapping[str, comparison.Ballot], state: PairState
) -> log.Data:
    """Return the event that writes agreed places into gold, with all votes as the reason."""
    cells = []
    whys = []
    judgment: dict[str, Any] = {}
    for item in items:
        i, j = item.place
        votes = {name: (ballot.at(item.place), ballot.seq) for name, ballot in ballots.items()}
        why = log.Why("agreed", "", votes)
        whys.append((i, j, None, log.write_why(why)))
        if isinstance(item.value, tuple):  # the judgment of the pair; empty: none
            label, *flags = item.value or ("",)
            judgment = {"label": (state.judgment, label), "flags": (state.flags, flags)}
            continue
        before = state.cells.get(item.place, 0)
        if item.value != before:
            cells.append((i, j, before, item.value))
    return log.Data(how="agreed", cells=tuple(cells), whys=tuple(whys), **judgment)


def settle(store: Store, numbers: Iterable[int], actor: str) -> int:
    """Mark as done those of some pairs that need no decision; return how many."""
    count = 0
    for k in numbers:
        with store.reading() as conn:
            case = read_case(conn, k)
        gold = case.gold.state
        votes = case.votes
        if comparison.left_to_decide(votes.items(gold)) or (gold.done and not votes.missing(gold)):
            continue
        event = log.Sent(str(uuid4()), "done", Raw(b'{"before":false,"after":true}'))
        with suppress(NotReady, BadEvent, Conflict, OldText):  # a vote has just changed
            _, new = decide(store, k, actor, log.Request(gold.seq, case.pair.rev, [event]))
            if new:
                count += 1
    return count


class GoldChanges(Changes):
    """The decisions by pair, and the pairs with changed votes."""

    votes: list[int]


def gold_changes(store: Store, after: int) -> GoldChanges | None:
    """Return the changes after event `after` of the project, or None."""
    with store.reading() as conn:
        account = queries.account_of(conn, queries.gold_name(conn))
        last, rows = pair_lists.PairList(conn, account, everything=True).changes(after)
        others = select(STREAM.pair).where(
            EVENT_IS_IN_STREAM,
            EVENT.n > after,
            EVENT.n <= last,
            STREAM.account != account,
            STREAM.pair > 0,
        )
        votes = sorted(conn.execute(others.distinct()).scalars())
        if not rows and not votes:
            return None
        changes = queries.by_pair(rows)
        for k, events in changes.items():
            names = names_of(conn, queries.pair_row(conn, k))
            changes[k] = [names.hidden(event) for event in events]
        return GoldChanges(last, changes, votes)
