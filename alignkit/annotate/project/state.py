"""The state of a stream: the result of the events of one annotator on one pair.

It is a plain fold: each field that an event writes gets the value in the event. A client may leave
out consequences (the null of a word that is now linked, the weight of a link that is gone);
`completed` adds them before the event is stored. `inverse` is what an undo of an event writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from alignkit.annotate.project import events as log
from alignkit.annotate.project.names import Conflict

V = TypeVar("V")


class StateView(Struct):
    """A state as it is stored and sent; what most states do not have is left out there."""

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
    whys: list[tuple[int, int, str]] | UnsetType = UNSET
    rewrites: list[tuple[str, log.Texts]] | UnsetType = UNSET
    extracts: list[tuple[str, log.Spans]] | UnsetType = UNSET
    settled: list[log.Cell] | UnsetType = UNSET
    learned: str | UnsetType = UNSET


class PairState(Struct):
    """All that one annotator has said about one pair."""

    seq: int = 0  # the last event
    rev: int = 1  # the text that the cells belong to
    # the value of each linked cell, nulls too
    cells: dict[log.Cell, int] = {}
    # linked cells that were suggested, and that nobody has looked at
    bulk: set[log.Cell] = set()
    # suggested cells that were put aside
    rejected: set[log.Cell] = set()
    comments: dict[str, str] = {}  # by key, "i-j" or empty for the pair
    judgment: str = ""  # the label of the pair
    flags: list[str] = []
    done: bool = False
    marks: list[log.Mark] = []  # links lost when words were corrected
    weights: dict[log.Cell, float] = {}  # of imported links
    provenance: str = ""  # where an imported annotation comes from
    # the reasons of decisions, in the gold standard
    whys: dict[log.Cell, str] = {}
    rewrites: dict[str, log.Texts] = {}  # by key, such as r1
    extracts: dict[str, log.Spans] = {}  # by key, such as x1
    undo: int = 0  # the event (seq) that would be undone next; 0 for none
    redo: int = 0  # the event (seq) that would be redone next; 0 for none
    settled: set[log.Cell] = set()  # the nulls of words that are settled
    learned: str = ""  # what a system learned from

    def apply(self, kind: str, data: log.Data) -> None:
        """Apply an event."""
        if data.cells:
            cells = self.cells
            for i, j, _, after in data.cells:
                if after:
                    cells[i, j] = after
                else:
                    cells.pop((i, j), None)
        if data.bulk:
            _apply_marks(self.bulk, data.bulk)
        if data.rejected:
            _apply_marks(self.rejected, data.rejected)
        if data.settled:
            _apply_marks(self.settled, data.settled)
        if data.seen:
            self.bulk.difference_update(data.seen)
        if kind not in _PLAIN or data.how == "import" or data.weights or data.whys:
            self._apply_rest(kind, data)

    def _apply_rest(self, kind: str, data: log.Data) -> None:
        """Apply the fields of an event that are not marks of cells."""
        log.put(self.comments, _comments(kind, data))
        log.put(self.weights, _keyed_by_cell(data.weights))
        log.put(self.whys, _keyed_by_cell(data.whys))
        log.put(self.rewrites, data.rewrites)
        log.put(self.extracts, data.extracts)
        if data.label is not None:
            self.judgment = data.label[1]
        if data.flags is not None:
            self.flags = data.flags[1]
        if data.provenance is not None:
            self.provenance = data.provenance[1]
        if data.learned is not None:
            self.learned = data.learned[1]
        turn = _turn(kind, data)
        if turn is not None:
            self.done = turn.after
        if data.marks is not None:
            self.marks = data.marks
        if kind == "text":
            self.rev = data.to

    def push(self, kind: str, seq: int, below_of: Callable[[int], int]) -> int:
        """Count an event, move the tops of undo and redo, and return the event below it.

        The steps to undo are a stack: each event has the number of the one below it, which
        `below_of` returns. The steps to redo are another, whose events are undos.
        """
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
            seq=self.seq,
            rev=self.rev,
            cells=cells,
            bulk=sorted(self.bulk),
            rejected=sorted(self.rejected),
            comments=sorted(self.comments.items()),
            judgment=self.judgment,
            flags=self.flags,
            done=self.done,
            marks=self.marks,
            undo=undo,
            redo=redo,
            weights=weights,
            provenance=self.provenance,
            whys=whys,
            rewrites=sorted(self.rewrites.items()) or UNSET,
            extracts=sorted(self.extracts.items()) or UNSET,
            settled=sorted(self.settled) or UNSET,
            learned=self.learned or UNSET,
        )


def _apply_marks(marked: set[log.Cell], writes: Iterable[log.Write]) -> None:
    """Mark cells, or remove their marks."""
    for i, j, _, after in writes:
        if after:
            marked.add((i, j))
        else:
            marked.discard((i, j))


def _keyed_by_cell(
    writes: Iterable[tuple[int, int, V | None, V | None]],
) -> Iterator[tuple[log.Cell, V | None, V | None]]:
    """Yield the writes of cells as `put` takes them."""
    for i, j, before, after in writes:
        yield (i, j), before, after


_WRITES = (
    "cells",
    "bulk",
    "rejected",
    "settled",
    "weights",
    "comments",
    "whys",
    "rewrites",
    "extracts",
)
"""The fields of an event that hold rows; each row ends in its values before and after."""
_CHANGES = ("label", "flags", "provenance", "learned")
"""The fields of an event that hold one value before and after."""
_PLAIN = frozenset({"edit", "reject", "open"})
"""Kinds that usually write only marks of cells; a million of them are folded in seconds."""
_decode_view = msgspec.json.Decoder(StateView).decode


def decode_state(text: str | bytes, undo: int = 0, redo: int = 0) -> PairState:
    """Read a stored state."""
    view = _decode_view(text)
    return PairState(
        seq=view.seq,
        rev=view.rev,
        cells={(i, j): value for i, j, value in view.cells},
        bulk=set(view.bulk),
        rejected=set(view.rejected),
        comments=dict(view.comments),
        judgment=view.judgment,
        flags=view.flags,
        done=view.done,
        marks=view.marks,
        weights={(i, j): weight for i, j, weight in view.weights},
        provenance=view.provenance,
        whys={(i, j): why for i, j, why in view.whys or ()},
        rewrites=dict(view.rewrites or ()),
        extracts=dict(view.extracts or ()),
        undo=undo,
        redo=redo,
        settled=set(view.settled or ()),
        learned=view.learned or "",
    )


def copied(state: PairState, **changes: object) -> PairState:
    """Return a copy of a state that can be changed independently."""
    fields: dict[str, object] = {}
    for name in state.__struct_fields__:
        value = getattr(state, name)
        if isinstance(value, (dict, set)):
            fields[name] = copy(value)
    return msgspec.structs.replace(state, **(fields | changes))


def inverse(kind: str, data: log.Data) -> log.Data:
    """Return the reverse of an event: the same fields, before and after exchanged."""
    reverse = log.Data()
    for name in _WRITES:
        writes = getattr(data, name)
        if writes:
            swapped = tuple((*place, after, before) for *place, before, after in writes)
            setattr(reverse, name, swapped)
    for name in _CHANGES:
        change = getattr(data, name)
        if change is not None:
            before, after = change
            setattr(reverse, name, (after, before))
    comment = _comment(kind, data)
    if comment is not None:
        reverse.comment = log.OneComment(comment.key, comment.after, comment.before)
    turn = _turn(kind, data)
    if turn is not None:
        reverse.done = log.Turn(turn.after, turn.before)
    return reverse


def conflicts(state: PairState, kind: str, data: log.Data) -> list[dict[str, Any]]:
    """Return the places where the state has neither the old nor the new value of an event."""
    clashes: list[dict[str, Any]] = []
    for i, j, before, after in data.cells:
        now = state.cells.get((i, j), 0)
        if now not in (before, after):
            clashes.append({"i": i, "j": j, "before": before, "after": after, "now": now})
    for name, key, before, after, now in _compared_values(state, kind, data):
        if now not in (before, after):
            clash: dict[str, Any] = {"field": name}
            if key is not None:
                clash["key"] = key
            clashes.append(clash | {"before": before, "after": after, "now": now})
    return clashes + _linked_nulls(state, data)


def _compared_values(
    state: PairState, kind: str, data: log.Data
) -> Iterator[tuple[str, str | None, Any, Any, Any]]:
    """Yield field, key, the values before and after an event, and that of the state; no cells."""
    for key, before, after in _comments(kind, data):
        yield "comment", key, before or "", after or "", state.comments.get(key) or ""
    for i, j, old_why, new_why in data.whys:
        yield "why", f"{i}-{j}", old_why, new_why, state.whys.get((i, j))
    if data.label is not None:
        yield "label", None, *data.label, state.judgment
    if data.flags is not None:
        yield "flags", None, *data.flags, state.flags
    for key, old_texts, new_texts in data.rewrites:
        yield "rewrite", key, old_texts, new_texts, state.rewrites.get(key)
    for key, old_spans, new_spans in data.extracts:
        yield "extract", key, old_spans, new_spans, state.extracts.get(key)


def _linked_nulls(state: PairState, data: log.Data) -> list[dict[str, Any]]:
    """Return as conflicts the links of words that an event aligns to nothing."""
    nulls = {(i, j) for i, j, _, after in data.cells if after and -1 in (i, j)}
    if not nulls:
        return []
    written = {(i, j): after for i, j, _, after in data.cells}
    clashes = []
    for (i, j), value in (state.cells | written).items():
        is_link = value and -1 not in (i, j)
        if is_link and ((i, -1) in nulls or (-1, j) in nulls):
            clashes.append({"i": i, "j": j, "before": 0, "after": 0, "now": value})
    return clashes


def completed(state: PairState, kind: str, data: log.Data) -> log.Data:
    """Return an event's data as stored: without what is so already, with consequences added."""
    clashes = conflicts(state, kind, data)
    if clashes:
        raise Conflict(clashes)
    cells = [write for write in data.cells if state.cells.get(write[:2], 0) != write[3]]
    linked = [write[:2] for write in cells if write[3]]
    unlinked = [write[:2] for write in cells if not write[3]]
    complete = copy(data)
    complete.cells = (*cells, *_removed_nulls(state, cells))
    complete.bulk = _marks(state.bulk, data.bulk, unlinked)
    complete.rejected = _marks(state.rejected, data.rejected, linked)
    complete.settled = _marks(state.settled, data.settled, ())
    complete.seen = log.stored(cell for cell in data.seen if cell in state.bulk)
    complete.weights = (*data.weights, *_removed_weights(state, cells, data.weights))
    complete.whys = log.stored(why for why in data.whys if state.whys.get(why[:2]) != why[3])
    complete.rewrites = _new_values(state.rewrites, data.rewrites)
    complete.extracts = _new_values(state.extracts, data.extracts)
    if kind == "done":
        complete.before = state.done
    if kind == "comment":
        complete.before = state.comments.get(str(data.key), "")
    if data.label is not None:
        complete.label = state.judgment, data.label[1]
    if data.flags is not None:
        complete.flags = state.flags, data.flags[1]
    return complete


def _removed_nulls(state: PairState, cells: Iterable[log.Write]) -> list[log.Write]:
    """Return the writes that remove the nulls of words that written cells link."""
    written = set()
    filled = set()
    for i, j, _, after in cells:
        written.add((i, j))
        if after and -1 not in (i, j):
            filled.update([(i, -1), (-1, j)])
    nulls = filled.intersection(state.cells) - written
    return [(i, j, state.cells[i, j], 0) for i, j in sorted(nulls)]


def _removed_weights(
    state: PairState, cells: Iterable[log.Write], weights: Iterable[log.Weight]
) -> list[log.Weight]:
    """Return the writes that remove the weights of written cells, if no weight is written."""
    weighted = {(i, j) for i, j, *_ in weights}
    removed: list[log.Weight] = []
    for i, j, *_ in cells:
        weight = state.weights.get((i, j))
        if weight is not None and (i, j) not in weighted:
            removed.append((i, j, weight, None))
    return removed


def _new_values(held: Mapping[str, V], writes: Iterable[log.Keyed[V]]) -> tuple[log.Keyed[V], ...]:
    """Return the writes of other values than those that are held."""
    return log.stored(write for write in writes if held.get(write[0]) != write[2])


def _marks(
    marked: set[log.Cell], writes: Iterable[log.Write], unmarked: Iterable[log.Cell]
) -> tuple[log.Write, ...]:
    """Return the marks that change, and the removal of those on cells that lose their mark."""
    changed = []
    for i, j, _, after in writes:
        if ((i, j) in marked) != bool(after):
            changed.append((i, j, 1 - after, after))
    written = {(i, j) for i, j, *_ in changed}
    lost = [(*cell, 1, 0) for cell in unmarked if cell in marked and cell not in written]
    return (*changed, *lost)


def writes(kind: str, data: log.Data) -> bool:
    """Return whether an event changes anything except which links were looked at."""
    if any(getattr(data, name) for name in _WRITES if name != "comments"):
        return True
    if any(before != after for _, before, after in _comments(kind, data)):
        return True
    for name in _CHANGES:
        change = getattr(data, name)
        if change is not None and change[0] != change[1]:
            return True
    turn = _turn(kind, data)
    return turn is not None and turn.before != turn.after


def _comment(kind: str, data: log.Data) -> log.OneComment | None:
    """Return the comment that an event writes as old and new text, if any."""
    if kind == "comment":
        return log.OneComment(str(data.key), str(data.before), str(data.after))
    return data.comment


def _comments(kind: str, data: log.Data) -> tuple[log.CommentWrite, ...]:
    """Return all comments that an event writes."""
    written = _comment(kind, data)
    if written is None:
        return data.comments
    return ((written.key, written.before or None, written.after or None), *data.comments)


def _turn(kind: str, data: log.Data) -> log.Turn | None:
    """Return how an event marks the pair as done or open, if it does."""
    if kind == "done":
        return log.Turn(bool(data.before), bool(data.after))
    return data.done
