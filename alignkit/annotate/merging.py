"""Merge the work of another project into a project, such as that of a copy that went on elsewhere.

A stream (one annotator on one pair) begins with the same events in both projects. If it went on
only in the other project, its new events are added as they are. If it went on in both, one edit is
added with what the other changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection

from alignkit.annotate.creation import import_id
from alignkit.annotate.importing import ImportAccounts, Imported, joined, writing_import
from alignkit.annotate.project import events as log
from alignkit.annotate.project import queries
from alignkit.annotate.project.appending import Batch, Writer, new_event
from alignkit.annotate.project.conversion import difference
from alignkit.annotate.project.queries import PairRow, StreamRow, last_change, last_writing
from alignkit.annotate.project.state import PairState, copied
from alignkit.annotate.project.store import Store
from alignkit.annotate.project.suggestions import read_starts
from alignkit.model.alignment import NULL


class _Decision(NamedTuple):
    """What a state has at a place: a cell, or `log.JUDGMENT`, the judgment of the pair."""

    value: log.Value  # of the judgment: label and flags
    why: str | None  # the reason, if the place was adjudicated


def with_both(mine: PairState, old: PairState, theirs: PairState) -> tuple[PairState, int]:
    """Return a state with the changes from `old` to `theirs`; and how many places both changed.

    At a place that both changed, their value counts. The votes in its reason are left out, so that
    an adjudicator looks at it again.
    """
    new = copied(mine)
    judged = any(log.JUDGMENT in state.whys for state in (mine, old, theirs))
    places = {log.JUDGMENT} if judged else set()
    places |= old.cells.keys() | old.whys.keys() | theirs.cells.keys() | theirs.whys.keys()
    changed = {place for place in places if _at(old, place) != _at(theirs, place)}
    rest = msgspec.structs.replace(difference(old, theirs), how="import", cells=(), whys=())
    if judged:
        rest.label = rest.flags = None
    new.apply("edit", rest)
    both = 0
    for place in changed:
        here = _at(mine, place)
        there = _at(theirs, place)
        if here == _at(old, place):
            _put(new, place, there)
        elif here.value != there.value:
            both += 1
            _put(new, place, _Decision(there.value, _without_votes(there.why or here.why)))
        elif here.why is None:
            _put(new, place, there)
    for null in _contradicted_nulls(new, changed):
        _put(new, null, _Decision(0, _without_votes(new.whys.get(null))))
    new.rejected -= new.cells.keys()
    new.bulk &= new.cells.keys()
    new.weights = {cell: weight for cell, weight in new.weights.items() if cell in new.cells}
    return new, both


def _at(state: PairState, place: log.Cell) -> _Decision:
    """Return what a state has at a place."""
    why = state.whys.get(place)
    if place == log.JUDGMENT:
        return _Decision((state.judgment, *state.flags), why)
    return _Decision(state.cells.get(place, 0), why)


def _put(state: PairState, place: log.Cell, decision: _Decision) -> None:
    """Set what a state has at a place."""
    value, why = decision
    if isinstance(value, int):
        log.put(state.cells, [(place, None, value or None)])
    else:
        label, *flags = value
        state.judgment = label
        state.flags = flags
    log.put(state.whys, [(place, None, why)])


def _without_votes(text: str | None) -> str | None:
    """Return a reason without its votes."""
    if not text:
        return text
    return log.write_why(msgspec.structs.replace(log.read_why(text), votes={}))


def _contradicted_nulls(state: PairState, changed: set[log.Cell]) -> set[log.Cell]:
    """Return the nulls of linked words, if the null or the link was changed."""
    nulls = set()
    for link in state.cells:
        i, j = link
        if NULL in link:
            continue
        for null in ((i, NULL), (NULL, j)):
            if null in state.cells and (null in changed or link in changed):
                nulls.add(null)
    return nulls


def merge_project(
    store: Store,
    other: Store,
    *,
    in_order: bool = False,
    dry: bool = False,
    tell: Callable[[], None] = lambda: None,
) -> Imported:
    """Merge the work of another project into this one: all, or nothing if `dry`."""
    result = Imported()
    with writing_import(store, dry=dry) as conn, other.reading() as there:
        others = list(queries.pair_rows(there))
        pairs = list(queries.pair_rows(conn))
        merging = _Merging(conn, there, result)
        surplus: list[PairRow] = []
        for pair, twin in joined(pairs, others, in_order=in_order, surplus=surplus):
            result.pairs += 1
            if (pair.source, pair.target) == (twin.source, twin.target):
                merging.merge(pair, twin)
            else:
                result.skipped.append(pair.id)
            tell()
        merging.batch.flush()
        result.surplus = [twin.id for twin in surplus]
    return result


class _Merging:
    """Merge the streams of pairs of another project into those of the same pairs here."""

    def __init__(self, conn: Connection, there: Connection, result: Imported) -> None:
        self.batch = Batch(conn)
        self._conn = conn
        self._there = there
        self._result = result
        self._names = queries.annotators(there)
        self._starts = read_starts(there)
        self._accounts = ImportAccounts(self.batch)
        self._accounts.roles |= queries.roles(there)

    def merge(self, pair: PairRow, twin: PairRow) -> None:
        """Merge all streams of a pair, given the same pair of the other project."""
        same_texts = self._have_same_texts(pair, twin)
        streams = queries.streams_of(self._conn, pair)
        for account, events in queries.pair_log(self._there, twin.k).items():
            name = self._names[account - 1]
            number = self._accounts[name]
            stream = streams.get(number) or StreamRow(None, PairState(rev=pair.rev))
            new = self._new_events(pair, name, events)
            if not new:
                self._result.same += 1
                continue
            writer = Writer(self.batch, number, name, pair, stream)
            shared = events[: len(events) - len(new)]
            if same_texts and self._is_at(stream, shared):
                for event in new:
                    writer.add(event, log.decode_data(event.data))
                changed = True
            else:
                start = self._starts.get((twin.k, account))
                changed = self._add_difference(writer, pair, name, shared, events, start)
            writer.save()
            if stream.id is None:
                self._result.new += 1
            elif changed:
                self._result.changed += 1
            else:
                self._result.same += 1

    def _have_same_texts(self, pair: PairRow, twin: PairRow) -> bool:
        """Return whether all revisions of the words of a pair are the same in both projects."""
        if pair.rev == twin.rev == 1:
            return True
        return queries.texts_of(self._conn, pair.k) == queries.texts_of(self._there, twin.k)

    def _new_events(
        self, pair: PairRow, name: str, events: Sequence[log.LogEvent]
    ) -> Sequence[log.LogEvent]:
        """Return the events after the last that is here, itself or as an imported difference."""
        ids = [event.id for event in events]
        merged_ids = [import_id(pair.k, name, id.encode()) for id in ids]
        known = queries.known_events(self._conn, [*ids, *merged_ids])
        shared = 0
        for count, (id, merged_id) in enumerate(zip(ids, merged_ids, strict=True), 1):
            if id in known or merged_id in known:
                shared = count
        return events[shared:]

    def _is_at(self, stream: StreamRow, shared: Sequence[log.LogEvent]) -> bool:
        """Return whether a stream ends with the last of the events that both projects have."""
        last = queries.event_ids(self._conn, stream.id, stream.state.seq)[0]
        return last == (shared[-1].id if shared else None)

    def _add_difference(
        self,
        writer: Writer,
        pair: PairRow,
        name: str,
        shared: Sequence[log.LogEvent],
        events: Sequence[log.LogEvent],
        start: str | None,
    ) -> bool:
        """Add an edit with what the other project changed; return whether anything differs."""
        old = PairState()
        new = PairState()
        for count, event in enumerate(events, 1):
            new.apply(event.kind, log.decode_data(event.data))
            if count == len(shared):
                old = copied(new)
        if old.rev != new.rev:
            old = PairState(rev=new.rev)
        state, both = with_both(writer.state, old, new)
        self._result.both += both
        data = difference(writer.state, state)
        if data == log.Data():
            return False
        data.how = "import"
        data.when = last_change(events) or ""
        data.start = start
        id = import_id(pair.k, name, events[-1].id.encode())
        last = last_writing(events)
        actor = last.actor if last and last.actor else name
        writer.add(new_event("edit", actor, id=id), data)
        return True
