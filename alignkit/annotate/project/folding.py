"""Fold a log: apply its events one by one, to find the state in which they leave a project.

The events of the project itself (pair 0) change tables, which are kept in an empty database. Those
of a *stream* (one annotator on one pair) change its state, which is kept in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Table

from alignkit.annotate.project import queries, schema, tables
from alignkit.annotate.project.events import BROKEN, decode_data
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.project_events import Texts, decode_event
from alignkit.annotate.project.state import PairState

StreamKey = tuple[int, str]
"""What names a stream: the pair (0 for the project) and the annotator."""


class FoldedStream:
    """The state of a stream, and the event below each of its events."""

    __slots__ = ("belows", "key", "state")

    def __init__(self, key: StreamKey, rev: int) -> None:
        self.key = key
        self.state = PairState(rev=rev)
        self.belows = [0]

    def add(self, seq: int, kind: str, below: int, text: Any) -> None:
        """Apply the next event: number in the stream, kind, event below, and data as JSON."""
        state = self.state
        belows = self.belows
        if seq != state.seq + 1:
            raise self._error(seq, f"does not follow event {state.seq}")
        try:
            state.apply(kind, decode_data(text))
            if below != state.push(kind, seq, belows.__getitem__):
                raise self._error(seq, f"the event below it is not {below}")
        except BROKEN as problem:
            raise self._error(seq, str(problem)) from None
        belows.append(below)

    def _error(self, seq: int, problem: str) -> ProjectError:
        k, annotator = self.key
        return ProjectError(f"event {seq} of {annotator!r} on pair {k}: {problem}")


class FoldedLog:
    """What the events of a log add up to: the project in empty tables, the streams in memory."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn
        self.seq = 0  # the last event of the project
        self.streams: dict[StreamKey, FoldedStream] = {}
        self._revs: dict[int, int] = {}  # of pairs with corrected words
        tables.begin(conn)

    def stream(self, key: StreamKey) -> FoldedStream:
        """Return the stream of a pair and an annotator after the events so far."""
        if key not in self.streams:
            k, _ = key
            self.streams[key] = FoldedStream(key, self._revs.get(k, 1))
        return self.streams[key]

    def add(self, key: StreamKey, seq: int, kind: str, below: int, data: Any) -> None:
        """Apply the next event of a stream or of the project; see `FoldedStream.add`."""
        k, _ = key
        if k:
            self.stream(key).add(seq, kind, below, data)
            return
        try:
            self._add_to_project(seq, kind, data)
        except ProjectError as problem:
            raise ProjectError(f"event {seq} of the project: {problem}") from None

    def _add_to_project(self, seq: int, kind: str, data: Any) -> None:
        """Apply the next event of the project."""
        if seq != self.seq + 1:
            raise ProjectError(f"does not follow event {self.seq}")
        self.seq = seq
        event = decode_event(kind, data)
        tables.apply(self.conn, event)
        if isinstance(event, Texts):
            for text in event.pairs:
                self._revs[text.k] = text.rev

    def stream_tables(
        self, streams: dict[int, StreamKey]
    ) -> Iterator[tuple[Table, list[tables.Row]]]:
        """Yield the tables of streams with their rows, given the pair and annotator of each."""
        accounts = self.account_ids()
        rows = []
        counts = []
        for id, (k, name) in streams.items():
            place = {"pair": k, "account": accounts.get(name)}
            folded = self.streams.get((k, name))
            if folded is not None:
                state = folded.state
            elif k:
                state = PairState()
            else:
                state = PairState(seq=self.seq)
            rows.append({"id": id, **place, **tables.stream_row(state)})
            if k:
                counts.append({**place, **tables.count_row(state)})
        yield schema.stream, rows
        yield schema.pair_counts, counts

    def account_ids(self) -> dict[str, int]:
        """Return the id of each account: 0 is the project; annotators count as they entered."""
        names = ["", *queries.annotators(self.conn)]
        return {name: id for id, name in enumerate(names)}
