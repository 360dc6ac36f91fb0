"""Fold the log of a project: its settings, pairs, texts, suggestions and streams.

`Fold` reads events in the order of the log; `project_tables` yields the rows of the tables that
result. Code that changes a table gets its rows from the same functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs
from sqlalchemy import Table

from alignkit.annotate.project import schema
from alignkit.annotate.project.events import BROKEN, LearnedFrom, LogEvent, decode_data, encode
from alignkit.annotate.project.names import GOLD, ProjectError
from alignkit.annotate.project.state import PairState
from alignkit.model.annotation import ROLES


class Pair(Struct, omit_defaults=True):
    """A pair as it was imported; `trees` are Penn brackets, by side and name."""

    k: int
    id: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    attributes: dict[str, str] = {}
    trees: dict[str, dict[str, str]] = {}


class Text(Struct):
    """Corrected words of a pair."""

    k: int
    rev: int
    source: tuple[str, ...]
    target: tuple[str, ...]


Suggestion = tuple[int, int, float | None, int]
"""A suggested cell: its place, its posterior if known, and the value set by accepting it."""


class Setting(Struct, omit_defaults=True):
    """Change settings of the project; missing fields stay."""

    key: str = ""
    name: str | None = None
    scheme: str | None = None
    threshold: float | None = None
    suggestions: str | None = None
    gold: str | None = None
    task: str | None = None
    blind: bool | None = None
    majority: bool | None = None


class Import(Struct, omit_defaults=True):
    """Add pairs."""

    pairs: list[Pair] = []


class Suggest(Struct, omit_defaults=True):
    """Add suggestions to a set; with `new` the set is emptied first."""

    set: str
    rows: list[tuple[int, list[Suggestion]]] = []
    new: bool = False
    learned: LearnedFrom | None = None


class Account(Struct, omit_defaults=True):
    """Register an annotator; `role` is that of an imported alignment, empty for a person."""

    name: str
    role: str = ""


class Assigned(NamedTuple):
    """A row of an assignment: a pair that an annotator has."""

    k: int  # the pair, and whose it is
    annotator: str
    place: int  # where it stands in the list of the annotator, from 1
    shown: bool  # whether the annotator sees suggestions
    arm: str
    trial: bool  # whether it is of the set that all annotate first


class AssignmentPlan(Struct, frozen=True):
    """How pairs are assigned, also those added later."""

    annotators: tuple[str, ...] = ()  # whose the pairs are
    double: float | None = None
    trial: int = 0  # how many pairs all annotate first
    seed: int = 0  # what is drawn follows from it and the ids of pairs
    stratify: tuple[str, ...] = ("length",)
    order: str = "hash"
    control: float = 0.1  # the share of pairs in the control sample, and how many it has at least
    least: int = 150
    cuts: dict[str, tuple[float, ...]] = {}
    each: int | UnsetType = UNSET  # how many have each pair; set if `double` is not


class Assign(Struct, omit_defaults=True):
    """Take pairs away, then assign pairs; without a plan the earlier one stays."""

    rows: list[Assigned] = []
    plan: AssignmentPlan | None = None
    gone: list[tuple[int, str]] = []  # what is taken away: pairs, and whose they were


class Texts(Struct):
    """Correct words of pairs."""

    pairs: list[Text]


class Copied(Struct):
    """A plain copy of a file in use was taken as the project; newer edits may be missing."""


PROJECT_KINDS: dict[str, type[Struct]] = {
    "setting": Setting,
    "import": Import,
    "suggest": Suggest,
    "account": Account,
    "text": Texts,
    "assign": Assign,
    "copy": Copied,
}
"""The kinds of events of pair 0, the project itself."""


class Folded:
    """The state of a stream, and the event below each of its events."""

    __slots__ = ("belows", "key", "state")

    def __init__(self, key: tuple[int, str], rev: int) -> None:
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


class Fold:
    """The state after the events of a log, applied one by one."""

    def __init__(self) -> None:
        self.setting = Setting()
        self.accounts: list[str] = []
        self.pairs: dict[int, Pair] = {}
        self.texts: dict[int, list[Text]] = {}
        self.suggestions: dict[str, dict[int, list[Suggestion]]] = {}
        self.learned: dict[str, LearnedFrom] = {}
        self.shown: dict[int, str] = {}
        self.streams: dict[tuple[int, str], Folded] = {}
        self.assigned: dict[tuple[int, str], Assigned] = {}
        self.plan: AssignmentPlan | None = None
        self.seq = 0

    def stream(self, key: tuple[int, str]) -> Folded:
        """Return the stream of a pair and an annotator after the events so far."""
        if key not in self.streams:
            texts = self.texts.get(key[0])
            self.streams[key] = Folded(key, texts[-1].rev if texts else 1)
        return self.streams[key]

    def add(self, key: tuple[int, str], seq: int, kind: str, below: int, data: Any) -> None:
        """Apply the next event; see `Folded.add`."""
        if key[0]:
            self.stream(key).add(seq, kind, below, data)
            return
        if seq != self.seq + 1:
            raise ProjectError(f"event {seq} of the project: does not follow event {self.seq}")
        self.seq = seq
        if kind not in PROJECT_KINDS:
            raise ProjectError(f"event {seq} of the project: unknown kind {kind[:40]!r}")
        try:
            decoded = msgspec.json.decode(data, type=PROJECT_KINDS[kind])
        except BROKEN as problem:
            raise ProjectError(f"event {seq} of the project: {problem}") from None
        self._take(decoded)

    def _take(self, decoded: Struct) -> None:
        match decoded:
            case Setting():
                changes = structs.asdict(decoded).items()
                kept = {name: value for name, value in changes if value is not None}
                if not decoded.key:
                    del kept["key"]  # its default: the project's own key stays
                if decoded.suggestions is not None:
                    self.shown.clear()
                self.setting = structs.replace(self.setting, **kept)
            case Account():
                if decoded.role not in ("", *ROLES):
                    raise ProjectError(f"{decoded.name!r} has the unknown role {decoded.role!r}")
                self.accounts.append(decoded.name)
            case Import():
                for pair in decoded.pairs:
                    self.pairs[pair.k] = pair
                    self.texts[pair.k] = [Text(pair.k, 1, pair.source, pair.target)]
            case Texts():
                for text in decoded.pairs:
                    self.texts[text.k].append(text)
            case Suggest():
                self._suggest(decoded)
            case Assign():
                self._assign(decoded)

    def _suggest(self, suggest: Suggest) -> None:
        if suggest.learned is not None:
            self.learned[suggest.set] = suggest.learned
        rows = self.suggestions.setdefault(suggest.set, {})
        if suggest.set in self.learned:
            for k in [k for k, _ in suggest.rows if k not in rows]:
                self.suggestions[self.shown.get(k, suggest.set)].pop(k, None)  # nobody has seen it
                self.shown[k] = suggest.set
        elif suggest.new:
            rows.clear()
            if suggest.set == self.setting.suggestions:
                self.shown.clear()
        rows.update(suggest.rows)

    def _assign(self, assign: Assign) -> None:
        for key in assign.gone:
            if self.assigned.pop(key, None) is None:
                raise ProjectError(
                    f"event {self.seq} of the project: takes pair {key[0]} from "
                    f"{key[1][:40]!r}, who does not have it"
                )
        for row in assign.rows:
            if row.k not in self.pairs or row.annotator not in self.accounts:
                raise ProjectError(
                    f"event {self.seq} of the project: assigns pair {row.k} to "
                    f"{row.annotator[:40]!r}, but one of them is unknown"
                )
            self.assigned[row.k, row.annotator] = row
        self.plan = assign.plan or self.plan


def project_tables(fold: Fold) -> Iterator[tuple[Table, Iterable[dict[str, Any]]]]:
    """Yield each table of the project itself, with its rows after the log."""
    names = {name: id for id, name in enumerate(["", *fold.accounts])}
    now = fold.setting
    row: dict[str, Any] = {
        "key": now.key,
        "name": now.name or "",
        "scheme": now.scheme or "",
        "threshold": 0.9 if now.threshold is None else now.threshold,
        "suggestions": now.suggestions or "",
        "gold": now.gold or GOLD,
        "task": now.task or "align",
        "assigning": "" if fold.plan is None else _json(fold.plan),
        "blind": int(bool(now.blind)),
        "majority": int(bool(now.majority)),
    }
    yield schema.project, [row]
    yield schema.account, ({"id": id, "name": name} for name, id in names.items())
    first = {"k": 0, "id": "", "attributes": "{}", "rev": 0, "search": "", "trees": "{}"}
    pairs = (
        pair_row(pair, fold.texts[k][-1], fold.shown.get(k, ""))
        for k, pair in sorted(fold.pairs.items())
    )
    yield schema.pair, chain([{**first, "suggested": ""}], pairs)
    assigned = fold.assigned.values()
    yield schema.assignment, (assignment_row(row, names[row.annotator]) for row in assigned)
    learned = enumerate(fold.learned.items(), 1)
    yield schema.learned_set, (learned_row(number, *row) for number, row in learned)
    yield schema.pair_text, (text_row(text) for rows in fold.texts.values() for text in rows)
    sets = fold.suggestions.items()
    cells = (suggestion_row(name, k, row) for name, rows in sets for k, row in rows.items())
    yield schema.suggestion, cells


def pair_row(pair: Pair, text: Text, suggested: str = "") -> dict[str, Any]:
    """Return the row of a pair whose words are now those of a text."""
    return {
        "k": pair.k,
        "id": pair.id,
        "attributes": _json(pair.attributes),
        "rev": text.rev,
        "search": searched(pair.id, *text.source, *text.target),
        "trees": _json(pair.trees),
        "suggested": suggested,
    }


def searched(*texts: str) -> str:
    """Return texts in the form for searching: joined, case ignored."""
    return " ".join(texts).casefold()


def text_row(text: Text) -> dict[str, Any]:
    """Return the row of a pair's words."""
    words = {"source": _json(text.source), "target": _json(text.target)}
    return {"pair": text.k, "rev": text.rev, **words}


def suggestion_row(name: str, k: int, cells: list[Suggestion]) -> dict[str, Any]:
    """Return the row of a pair's suggestions."""
    return {"set": name, "pair": k, "cells": _json(cells)}


def learned_row(number: int, name: str, learned: LearnedFrom) -> dict[str, Any]:
    """Return the row of a learned set."""
    return {"number": number, "set": name, **structs.asdict(learned)}


def assignment_row(row: Assigned, account: int) -> dict[str, Any]:
    """Return the row that assigns a pair to an annotator."""
    own = {name: getattr(row, name) for name in ("place", "shown", "arm", "trial")}
    return {"account": account, "pair": row.k, **own}


def event_row(event: LogEvent, stream: int) -> dict[str, Any]:
    """Return the row of an event, in the order of the columns."""
    return {
        "n": event.n,
        "id": event.id,
        "stream": stream,
        "seq": event.seq,
        "kind": event.kind,
        "v": event.v,
        "actor": event.actor,
        "at": event.at,
        "client_at": event.client_at,
        "below": event.below,
        "sent": event.sent,
        "data": bytes(event.data).decode(),
    }


def stream_row(state: PairState) -> dict[str, Any]:
    """Return the state of a stream as a row."""
    tops = {"undo_top": state.undo, "redo_top": state.redo}
    notes = searched(*(state.comments[key] for key in sorted(state.comments)))
    return {"seq": state.seq, **tops, "state": _json(state.view()), "notes": notes}


def count_row(state: PairState) -> dict[str, Any]:
    """Return the counts of a state."""
    nulls = sum(-1 in cell for cell in state.cells)
    comments = len(state.comments)
    links = len(state.cells) - nulls
    return {"links": links, "nulls": nulls, "comments": comments, "done": state.done}


def _json(value: object) -> str:
    return encode(value).decode()
