"""The state of a stream: the result of the events of one annotator on one pair.

It is a plain fold: each field that an event writes gets the value in the event. A client may leave
out consequences (the null of a word that is now linked, the weight of a link that is gone);
`completed` adds them before the event is stored. `inverse` is what an undo of an event writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from alignkit.annotate.project import events as log
from alignkit.annotate.project.names import Conflict


class StateView(Struct):
    """A state as it is stored and sent."""

    seq: int = 0
    rev: int = 1
    cells: list[tuple[int, int, int]] = []
    bulk: list[log.Cell] = []
    rejected: list[log.Cell] = []
    comments: list[tuple[str, str]] = []
    judgment: str = ""
    flags: list[str] = []
    done: bool = False
    marks: list[log.Mark] = []
    undo: str | None = None
    redo: str | None = None
    weights: list[tuple[int, int, float]] = []
    provenance: str = ""
    whys: list[tuple[int, int, str]] | UnsetType = UNSET  # left out where nothing is decided
    rewrites: list[tuple[str, log.Texts]] | UnsetType = UNSET
    extracts: list[tuple[str, log.Spans]] | UnsetType = UNSET


class PairState(Struct):
    """All that one annotator has said about one pair."""

    seq: int = 0  # the last event
    rev: int = 1  # the text that the cells belong to
    # the value of each linked cell, nulls too
    cells: dict[log.Cell, int] = field(default_factory=dict)
    bulk: set[log.Cell] = field(default_factory=set)
    rejected: set[log.Cell] = field(default_factory=set)
    comments: dict[str, str] = field(default_factory=dict)  # by key, "i-j" or empty for the pair
    judgment: str = ""
    flags: list[str] = field(default_factory=list)
    done: bool = False
    marks: list[log.Mark] = field(default_factory=list)
    weights: dict[log.Cell, float] = field(default_factory=dict)
    provenance: str = ""
    whys: dict[log.Cell, str] = field(default_factory=dict)
    rewrites: dict[str, log.Texts] = field(default_factory=dict)
    extracts: dict[str, log.Spans] = field(default_factory=dict)
    undo: int = 0  # the events (seq) that would be undone and redone next; 0 for none
    redo: int = 0

    def apply(self, kind: str, data: log.Data) -> None:
        """Apply an event."""
        if data.cells:
            cells = self.cells
            for i, j, _, after in data.cells:
                if after:
                    cells[i, j] = after
                else:
                    cells.pop((i, j), None)
        for i, j, _, after in data.bulk:
            (self.bulk.add if after else self.bulk.discard)((i, j))
        for i, j, _, after in data.rejected:
            (self.rejected.add if after else self.rejected.discard)((i, j))
        if data.seen:
            self.bulk.difference_update(data.seen)
        if kind not in _PLAIN or data.how == "import" or data.weights or data.whys:
            self._apply_rest(kind, data)

    def _apply_rest(self, kind: str, data: log.Data) -> None:
        log.put(self.comments, _comments(kind, data))
        log.put(self.weights, (((i, j), old, new) for i, j, old, new in data.weights))
        log.put(self.whys, (((i, j), old, new) for i, j, old, new in data.whys))
        log.put(self.rewrites, data.rewrites)
        log.put(self.extracts, data.extracts)
        if data.label is not None:
            self.judgment = data.label[1]
        if data.flags is not None:
            self.flags = data.flags[1]
        if data.provenance is not None:
            self.provenance = data.provenance[1]
        if (turn := _turn(kind, data)) is not None:
            self.done = turn.after
        if data.marks is not None:
            self.marks = data.marks
        if kind == "text":
            self.rev = data.to

    def push(self, kind: str, seq: int, below_of: Callable[[int], int]) -> int:
        """Count an event, move the tops of undo and redo, and return the event below it."""
        self.seq = seq
        if kind in log.UNDOABLE:
            below = self.undo
            self.undo = seq
            self.redo = 0
        elif kind == "undo":
            below = self.redo
            self.undo = below_of(self.undo)
            self.redo = seq
        elif kind == "redo":
            below = self.undo
            self.redo = below_of(self.redo)
            self.undo = seq
        else:
            below = 0
            if kind == "text":
                self.undo = self.redo = 0
        return below

    def view(self, undo: str | None = None, redo: str | None = None) -> StateView:
        """Return the state as lists in order, the tops as the ids of their events."""
        cells = [(*cell, value) for cell, value in sorted(self.cells.items())]
        weights = [(*cell, weight) for cell, weight in sorted(self.weights.items())]
        whys = [(*cell, why) for cell, why in sorted(self.whys.items())] or UNSET
        return StateView(
            self.seq,
            self.rev,
            cells,
            sorted(self.bulk),
            sorted(self.rejected),
            sorted(self.comments.items()),
            self.judgment,
            self.flags,
            self.done,
            self.marks,
            undo,
            redo,
            weights,
            self.provenance,
            whys,
            sorted(self.rewrites.items()) or UNSET,
            sorted(self.extracts.items()) or UNSET,
        )


_WRITES = "cells", "bulk", "rejected", "weights", "comments", "whys", "rewrites", "extracts"
"""The fields of an event that hold rows; each row ends in its values before and after."""
_CHANGES = ("label", "flags", "provenance")
"""The fields of an event that hold one value before and after."""
_PLAIN = frozenset({"edit", "reject", "open"})
"""Kinds that usually write only marks of cells; a million of them are folded in seconds."""
_decode_view = msgspec.json.Decoder(StateView).decode


def decode_state(text: str | bytes, undo: int = 0, redo: int = 0) -> PairState:
    """Read a stored state."""
    view = _decode_view(text)
    cells = {(i, j): value for i, j, value in view.cells}
    weights = {(i, j): weight for i, j, weight in view.weights}
    whys = {(i, j): why for i, j, why in view.whys or ()}
    return PairState(
        view.seq,
        view.rev,
        cells,
        set(view.bulk),
        set(view.rejected),
        dict(view.comments),
        view.judgment,
        view.flags,
        view.done,
        view.marks,
        weights,
        view.provenance,
        whys,
        dict(view.rewrites or ()),
        dict(view.extracts or ()),
        undo,
        redo,
    )


def copied(state: PairState, **changes: object) -> PairState:
    """Return a copy of a state that can be changed independently."""
    fields = {name: getattr(state, name) for name in state.__struct_fields__}
    own = {name: copy(value) for name, value in fields.items() if isinstance(value, (dict, set))}
    return msgspec.structs.replace(state, **{**own, **changes})


def inverse(kind: str, data: log.Data) -> log.Data:
    """Return the reverse of an event: the same fields, before and after exchanged."""
    comment = _comment(kind, data)
    turn = _turn(kind, data)
    fields: dict[str, Any] = {
        name: tuple((*row[:-2], row[-1], row[-2]) for row in getattr(data, name)) or ()
        for name in _WRITES
    }
    for name in _CHANGES:
        change = getattr(data, name)
        fields[name] = change and (change[1], change[0])
    return log.Data(
        **fields,
        comment=comment and log.OneComment(comment.key, comment.after, comment.before),
        done=turn and log.Turn(turn.after, turn.before),
    )


def conflicts(state: PairState, kind: str, data: log.Data) -> list[dict[str, Any]]:
    """Return the places where the state has neither the old nor the new value of an event."""
    clashes: list[dict[str, Any]] = [
        {"i": i, "j": j, "before": before, "after": after, "now": now}
        for i, j, before, after in data.cells
        if (now := state.cells.get((i, j), 0)) not in (before, after)
    ]
    rows: list[tuple[str, str | None, Any, Any, Any]] = [
        ("comment", key, old or "", new or "", state.comments.get(key) or "")
        for key, old, new in _comments(kind, data)
    ]
    rows += [("why", f"{i}-{j}", old, new, state.whys.get((i, j))) for i, j, old, new in data.whys]
    if data.label is not None:
        rows.append(("label", None, *data.label, state.judgment))
    if data.flags is not None:
        rows.append(("flags", None, *data.flags, state.flags))
    rows += [("rewrite", key, a, b, state.rewrites.get(key)) for key, a, b in data.rewrites]
    rows += [("extract", key, a, b, state.extracts.get(key)) for key, a, b in data.extracts]
    for name, key, before, after, now in rows:
        if now not in (before, after):
            place = {} if key is None else {"key": key}
            values = {"before": before, "after": after, "now": now}
            clashes.append({"field": name, **place, **values})
    nulls = {(i, j) for i, j, _, after in data.cells if after and -1 in (i, j)}
    written = {(i, j): after for i, j, _, after in data.cells}
    return clashes + [
        {"i": i, "j": j, "before": 0, "after": 0, "now": value}
        for (i, j), value in (state.cells | written if nulls else {}).items()
        if value and -1 not in (i, j) and ((i, -1) in nulls or (-1, j) in nulls)
    ]


def completed(state: PairState, kind: str, data: log.Data) -> log.Data:
    """Return an event's data as stored: without what is so already, with consequences added."""
    if clashes := conflicts(state, kind, data):
        raise Conflict(clashes)
    cells = [w for w in data.cells if state.cells.get((w[0], w[1]), 0) != w[3]]
    weighted = {(i, j) for i, j, *_ in data.weights}
    lost = [cell for w in cells if (cell := (w[0], w[1])) in state.weights and cell not in weighted]
    written = {(i, j) for i, j, *_ in cells}
    nulls = {  # of words that are linked now
        null
        for i, j, _, after in cells
        if after and -1 not in (i, j)
        for null in ((i, -1), (-1, j))
        if null in state.cells and null not in written
    }
    changes: dict[str, Any] = {
        "cells": (*cells, *((*null, state.cells[null], 0) for null in sorted(nulls))),
        "bulk": _marks(state.bulk, data.bulk, [w[:2] for w in cells if not w[3]]),
        "rejected": _marks(state.rejected, data.rejected, [w[:2] for w in cells if w[3]]),
        "seen": tuple(cell for cell in data.seen if cell in state.bulk) or (),  # the default itself
        "weights": (*data.weights, *((*cell, state.weights[cell], None) for cell in lost)),
        "whys": tuple(w for w in data.whys if state.whys.get((w[0], w[1])) != w[3]) or (),
        "rewrites": tuple(w for w in data.rewrites if state.rewrites.get(w[0]) != w[2]) or (),
        "extracts": tuple(w for w in data.extracts if state.extracts.get(w[0]) != w[2]) or (),
    }
    if kind == "done":
        changes["before"] = state.done
    if kind == "comment":
        changes["before"] = state.comments.get(str(data.key), "")
    if data.label is not None:
        changes["label"] = (state.judgment, data.label[1])
    if data.flags is not None:
        changes["flags"] = (state.flags, data.flags[1])
    return msgspec.structs.replace(data, **changes)


def _marks(
    marked: set[log.Cell], writes: Sequence[log.Write], cells: Iterable[log.Cell]
) -> tuple[tuple[int, int, int, int], ...]:
    """Return the marks that change, and those removed because their cells were written."""
    changed = [(i, j, 1 - after, after) for i, j, _, after in writes if ((i, j) in marked) != after]
    written = {(i, j) for i, j, *_ in changed}
    dropped = [(*cell, 1, 0) for cell in cells if cell in marked and cell not in written]
    return (*changed, *dropped)


def writes(kind: str, data: log.Data) -> bool:
    """Return whether an event changes anything except which links were looked at."""
    turn = _turn(kind, data)
    changes = [*(getattr(data, name) for name in _CHANGES), turn and (turn.before, turn.after)]
    return (
        any(getattr(data, name) for name in _WRITES if name != "comments")
        or any(before != after for _, before, after in _comments(kind, data))
        or any(change and change[0] != change[1] for change in changes)
    )


def _comment(kind: str, data: log.Data) -> log.OneComment | None:
    if kind == "comment":
        return log.OneComment(str(data.key), str(data.before), str(data.after))
    return data.comment


def _comments(kind: str, data: log.Data) -> tuple[log.CommentWrite, ...]:
    written = _comment(kind, data)
    if written is None:
        return data.comments
    return ((written.key, written.before or None, written.after or None), *data.comments)


def _turn(kind: str, data: log.Data) -> log.Turn | None:
    if kind == "done":
        return log.Turn(bool(data.before), bool(data.after))
    return data.done
