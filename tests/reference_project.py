"""The tables of a project by a plain reading of its events, in memory, without SQL.

It is written without `tables`, as a second opinion on what each event changes: `Reference.take`
adds an event, and `rows` are the rows that each table must have, texts of JSON decoded.
"""

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from msgspec import structs, to_builtins

from alignkit.annotate.project.project_events import (
    Account,
    Assign,
    Assigned,
    AssignmentPlan,
    Copied,
    Import,
    Pair,
    ProjectEvent,
    Setting,
    Suggest,
    Suggestion,
    Text,
    Texts,
)


@dataclass(frozen=True)
class Settings:
    key: str = ""
    name: str = ""
    scheme: str = ""
    threshold: float = 0.9
    doubt: float = 0.1
    suggestions: str = ""
    gold: str = "gold"
    task: str = "align"
    blind: bool = False
    majority: bool = False


@dataclass
class Reference:
    """A project after the events so far."""

    settings: Settings = field(default_factory=Settings)
    accounts: list[str] = field(default_factory=list)
    pairs: dict[int, Pair] = field(default_factory=dict)
    texts: dict[int, list[Text]] = field(default_factory=dict)
    suggestions: dict[str, dict[int, list[Suggestion]]] = field(default_factory=dict)
    learned: dict[str, Any] = field(default_factory=dict)
    shown: dict[int, str] = field(default_factory=dict)  # the learned set that pairs show
    assigned: dict[tuple[int, str], Assigned] = field(default_factory=dict)
    plan: AssignmentPlan | None = None

    def take(self, event: ProjectEvent) -> None:
        if isinstance(event, Setting):
            self._set(event)
        elif isinstance(event, Account):
            self.accounts.append(event.name)
        elif isinstance(event, Import):
            for pair in event.pairs:
                self.pairs[pair.k] = pair
                self.texts[pair.k] = [Text(pair.k, 1, pair.source, pair.target)]
        elif isinstance(event, Texts):
            for text in event.pairs:
                self.texts[text.k].append(text)
        elif isinstance(event, Suggest):
            self._suggest(event)
        elif isinstance(event, Assign):
            for key in event.gone:
                del self.assigned[key]
            for row in event.rows:
                self.assigned[row.k, row.annotator] = row
            if event.plan is not None:
                self.plan = event.plan
        else:
            assert isinstance(event, Copied)

    def _set(self, event: Setting) -> None:
        given = {name: value for name, value in structs.asdict(event).items() if value is not None}
        if not event.key:
            del given["key"]
        self.settings = replace(self.settings, **given)
        if event.suggestions is not None:
            self.shown.clear()

    def _suggest(self, event: Suggest) -> None:
        if event.learned is not None:
            self.learned[event.set] = event.learned
        held = self.suggestions.setdefault(event.set, {})
        if event.set in self.learned:
            for k, _ in event.rows:
                if k not in held:
                    if k in self.shown:  # nobody has seen it
                        self.suggestions[self.shown[k]].pop(k, None)
                    self.shown[k] = event.set
        elif event.new:
            held.clear()
            if event.set == self.settings.suggestions:
                self.shown.clear()
        held.update(event.rows)

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of each table, in the order of their values."""
        numbers = {name: number for number, name in enumerate(["", *self.accounts])}
        pairs = [_pair_row(0, "", Text(0, 0, (), ()), "", {}, {})]
        for k, pair in self.pairs.items():
            shown = self.shown.get(k, "")
            text = self.texts[k][-1]
            pairs.append(_pair_row(k, pair.id, text, shown, pair.attributes, pair.trees))
        texts = []
        for k, own in self.texts.items():
            for text in own:
                words = {"source": list(text.source), "target": list(text.target)}
                texts.append({"pair": k, "rev": text.rev, **words})
        suggestions = []
        for name, own_rows in self.suggestions.items():
            for k, cells in own_rows.items():
                suggestions.append({"set": name, "pair": k, "cells": [list(c) for c in cells]})
        learned = []
        for number, (name, of) in enumerate(self.learned.items(), 1):
            learned.append({"number": number, "set": name, **structs.asdict(of)})
        assigned = []
        for row in self.assigned.values():
            more = {"place": row.place, "shown": row.shown, "arm": row.arm, "trial": row.trial}
            assigned.append({"account": numbers[row.annotator], "pair": row.k, **more})
        plan = "" if self.plan is None else to_builtins(self.plan)
        tables = {
            "project": [{**asdict(self.settings), "assigning": plan}],
            "account": [{"id": number, "name": name} for name, number in numbers.items()],
            "pair": pairs,
            "pair_text": texts,
            "suggestion": suggestions,
            "learned_set": learned,
            "assignment": assigned,
        }
        return {name: in_order(rows) for name, rows in tables.items()}


def _pair_row(k, id, text, shown, attributes, trees):
    search = " ".join((id, *text.source, *text.target)).casefold()
    row = {"k": k, "id": id, "rev": text.rev, "search": search, "suggested": shown}
    return row | {"attributes": attributes, "trees": trees}


def in_order(rows):
    """Return rows in an order that depends only on their values."""
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))
