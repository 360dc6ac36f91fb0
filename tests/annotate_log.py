"""Keep a stream of annotations in memory, as the server does; and fill it at random."""

import copy
import json
from itertools import count
from typing import Any

import pytest

pytest.importorskip("sqlalchemy", reason="needs the extra [annotate]")

from msgspec import Raw
from msgspec.json import encode

from alignkit.annotate.project.appending import Writer
from alignkit.annotate.project.conversion import difference
from alignkit.annotate.project.events import UNDOABLE, LogEvent, Sent, decode_data, read_sent
from alignkit.annotate.project.names import BadEvent, Conflict
from alignkit.annotate.project.queries import PairRow, StreamRow
from alignkit.annotate.project.rewording import Rewording, reword
from alignkit.annotate.project.state import PairState, completed, inverse

Event = dict[str, Any]
TEXTS = ("a b c d", "a x c d", "b c d", "a b c d e", "d c b a", "c", "a a b")


def shown(state, undo, redo):
    view = state.view()
    names = ("cells", "bulk", "rejected", "comments", "judgment", "flags", "done")
    told = {name: getattr(view, name) for name in names} | {"undo": undo, "redo": redo}
    told["settled"] = view.settled or []
    return json.loads(encode(told))


class Stream:
    """Hold the events that a server has stored for a pair."""

    def __init__(self, source, target):
        self.words = [source.split(), target.split()]
        pair = PairRow(1, "one", 1, {}, *self.words)
        self.writer = Writer(None, 1, "anna", pair, StreamRow(None, PairState()))
        self.events = []
        self._stored = {}

    @property
    def state(self):
        return self.writer.state

    def send(self, event):
        sent = Sent(event["id"], event["kind"], Raw(encode(event["data"])))
        data = read_sent(sent, *map(len, self.words))
        if sent.kind in ("undo", "redo"):
            data = self.writer.back(sent.kind, data)
        return self._add(sent.id, sent.kind, completed(self.state, sent.kind, data))

    def correct(self, id, source, target):
        new, old = [source.split(), target.split()], self.state
        after = reword(old, Rewording(tuple(self.words), tuple(new)), old.rev + 1)
        data = difference(old, after, how="text")
        data.from_, data.to, data.marks = old.rev, old.rev + 1, after.marks
        self.words = new
        return self._add(id, "text", data)

    def _add(self, id, kind, data):
        event = LogEvent(id, 0, 0, kind, 1, "anna", "", "", 0, Raw(b"{}"))
        self.writer.add(event, data)
        self._stored[event.seq] = event
        told = json.loads(bytes(event.data))
        self.events.append({"id": id, "kind": kind, "seq": event.seq, "data": told})
        return self.events[-1]

    def stack(self, kind):
        found, seq = [], self.state.undo if kind == "undo" else self.state.redo
        while seq:
            found.append(self.events[seq - 1])
            seq = self._stored[seq].below
        return found

    def tops(self):
        undo, redo = self.stack("undo"), self.stack("redo")
        return undo[0]["id"] if undo else None, redo[0]["id"] if redo else None

    def shown(self):
        stacks = self.stack("undo"), self.stack("redo")
        return shown(self.state, *([event["id"] for event in stack] for stack in stacks))

    def document(self):
        undo, redo = self.stack("undo"), self.stack("redo")
        state = json.loads(encode(self.state.view(*self.tops())))
        words = dict(zip(("source", "target"), self.words, strict=True))
        return words | {"k": 1, "rev": self.state.rev, "state": state, "undo": undo, "redo": redo}

    def reversed(self, kind):
        stack = self.stack(kind)
        if not stack:
            return None
        state = copy.deepcopy(self.state)
        state.apply(kind, inverse(stack[0]["kind"], decode_data(encode(stack[0]["data"]))))
        return shown(state, [], [])


class View:
    """Fold what is stored and what is on its way, by the words of the design alone."""

    def __init__(self, stored, pending):
        self.state = PairState()
        self.stacks = {"undo": [], "redo": []}
        for event in stored:
            self._take(event, decode_data(encode(event["data"])))
        for event in pending:
            data, kind = decode_data(encode(event["data"])), event["kind"]
            if kind in self.stacks:
                top = self.top(kind)
                if top is None or top[0] != data.of:
                    continue  # another tab was faster: this will be refused
                seen, data = data.seen, inverse(*top[1:])
                data.seen = seen
            self._take(event, data)

    def top(self, kind):
        return self.stacks[kind][-1] if self.stacks[kind] else None

    def tops(self):
        undo, redo = self.top("undo"), self.top("redo")
        return undo and undo[0], redo and redo[0]

    def _take(self, event, data):
        kind = event["kind"]
        self.state.apply(kind, data)
        entry = event["id"], kind, data
        if kind in self.stacks:
            self.stacks[kind].pop()
            self.stacks["redo" if kind == "undo" else "undo"].append(entry)
        elif kind in UNDOABLE:
            self.stacks["undo"].append(entry)
            self.stacks["redo"] = []
        elif kind == "text":
            self.stacks = {"undo": [], "redo": []}

    def shown(self, seen):
        state = copy.deepcopy(self.state)
        state.bulk -= seen
        undo, redo = ([id for id, *_ in stack[::-1]] for stack in self.stacks.values())
        return shown(state, undo, redo)


class Player:
    """Make events as pages do, at random."""

    def __init__(self, rng):
        self.rng = rng
        self._ids = count(1)

    def id(self):
        return f"made-{next(self._ids)}"

    def event(self, state, tops, n, m):
        edits = ["word"] * 4 + ["cell"] * 6 + ["block", "accept-all", "clear"] * 2
        kinds = [*edits, *["undo"] * 6, *["redo"] * 4]
        kind = self.rng.choice([*kinds, "reject", "comment", "comment", "judge", "done", "open"])
        if kind in ("undo", "redo"):
            return self._event(kind, {"of": tops[kind == "redo"] or "none"}, state)
        if kind == "word":
            return self._event("edit", self._word(state, n, m), state)
        if kind in edits:
            return self._event("edit", self._edit(kind, state, n, m), state)
        return self._event(kind, getattr(self, f"_{kind}")(state, n, m), state)

    def _event(self, kind, data, state):
        bulk = sorted(state.bulk)
        if bulk and self.rng.random() < 0.2:
            data["seen"] = self.rng.sample(bulk, self.rng.randint(1, min(2, len(bulk))))
        return {"id": self.id(), "kind": kind, "data": json.loads(encode(data))}

    def _edit(self, how, state, n, m):
        wanted = {self.place(n, m): 0 if how == "clear" else self.rng.randint(0, 2)}
        if how == "block":
            rows, columns = self.span(n), self.span(m)
            wanted = dict.fromkeys([(i, j) for i in rows for j in columns], self.rng.randint(0, 2))
        elif how == "accept-all":
            wanted = {self.place(n, m): 2 for _ in range(self.rng.randint(1, 4))}
            wanted = {cell: value for cell, value in wanted.items() if not state.cells.get(cell)}
        if self.rng.random() < 0.7:  # as the page does; the server puts in what others leave out
            for cell, value in list(wanted.items()):
                if value:
                    wanted.update(dict.fromkeys(self.against(cell, state), 0))
        return {
            "how": how,
            "cells": [[*c, state.cells.get(c, 0), value] for c, value in wanted.items()],
            "bulk": [
                [*c, int(c in state.bulk), int(how == "accept-all" and value > 0)]
                for c, value in wanted.items()
                if (c in state.bulk) != (how == "accept-all" and value > 0)
            ],
            "rejected": [[*c, 1, 0] for c in wanted if c in state.rejected],
        }

    def _word(self, state, n, m):
        """Settle a word: give it other links, or only the mark."""
        side, at = self.rng.choice([(0, self.rng.randrange(n)), (1, self.rng.randrange(m))])
        word = (at, -1) if side == 0 else (-1, at)
        others = range(m if side == 0 else n)
        row = [(at, other) if side == 0 else (other, at) for other in others]
        wanted = {cell: self.rng.choice([0, 0, 2]) for cell in row}
        wanted = {c: value for c, value in wanted.items() if value != state.cells.get(c, 0)}
        if self.rng.random() < 0.2:
            wanted = {}
        return {
            "how": "word",
            "cells": [[*c, state.cells.get(c, 0), value] for c, value in wanted.items()],
            "bulk": [[*c, 1, 0] for c in wanted if c in state.bulk],
            "settled": [[*word, int(word in state.settled), int(self.rng.random() < 0.9)]],
            "p": [[*c, 0.5] for c in wanted],
            "q": [[*c, 0.25] for c in wanted],
        }

    @staticmethod
    def against(cell, state):
        i, j = cell
        if -1 not in cell:
            return [null for null in ((i, -1), (-1, j)) if null in state.cells]
        return [(s, t) for s, t in state.cells if -1 not in (s, t) and (s == i or t == j)]

    def place(self, n, m):
        i, j = self.rng.randrange(-1, n), self.rng.randrange(-1, m)
        return (i, j) if (i, j) != (-1, -1) else (0, 0)

    def span(self, size):
        start = self.rng.randrange(size)
        return range(start, self.rng.randint(start, size - 1) + 1)

    def _reject(self, state, n, m):
        places = {self.place(n, m) for _ in range(2)}
        return {
            "rejected": [[*c, int(c in state.rejected), self.rng.randint(0, 1)] for c in places]
        }

    def _comment(self, state, n, m):
        i, j = self.place(n, m)
        key, after = self.rng.choice(["", f"{i}-{j}"]), self.rng.choice(["", "one", "two"])
        return {"key": key, "before": state.comments.get(key, ""), "after": after}

    def _judge(self, state, n, m):
        data = {}
        if self.rng.random() < 0.7:
            data["label"] = [state.judgment, self.rng.choice(["", "partial", "none"])]
        if self.rng.random() < 0.7:
            data["flags"] = [state.flags, [flag for flag in "fg" if self.rng.random() < 0.5]]
        return data

    def _done(self, state, n, m):
        turn = {"before": state.done, "after": not state.done}
        if state.done or self.rng.random() < 0.3:
            return turn
        kept = {self.place(n, m) for _ in range(3)}
        kept = [c for c in kept if -1 not in c and not state.cells.get(c)]
        return turn | {
            "how": "done",
            "cells": [[*c, 0, 2] for c in kept],
            "bulk": [[*c, 0, 1] for c in kept],
            "threshold": 0.1,
            "p": [[*c, None] for c in kept],
            "q": [[*c, 0.9] for c in kept],
        }

    def _open(self, state, n, m):
        return {"rev": state.rev, "suggestions": True}


def sent_to(stream, event):
    try:
        return stream.send(event)
    except (Conflict, BadEvent):
        return None
