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
    Admit,
    AnswerTraining,
    Assign,
    Assigned,
    AssignmentPlan,
    BeginTraining,
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
    rounds: list[BeginTraining] = field(default_factory=list)
    answers: list[tuple[int, AnswerTraining]] = field(
        default_factory=list
    )  # with the number of the round
    entries: dict[tuple[int, str], dict[str, Any]] = field(default_factory=dict)

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
        elif isinstance(event, BeginTraining):
            self.rounds.append(event)
            for name in event.begun:
                self._enter(name, "begun", 0, "", "")
        elif isinstance(event, AnswerTraining):
            self._answer(event)
        elif isinstance(event, Admit):
            if event.admitted:
                self._enter(event.annotator, "by hand", 0, event.by, event.at)
            else:
                del self.entries[len(self.rounds), event.annotator]
        else:
            assert isinstance(event, Copied)

    def _enter(self, name: str, how: str, attempt: int, by: str, at: str) -> None:
        entry = {"how": how, "attempt": attempt, "by": by, "at": at}
        self.entries[len(self.rounds), name] = entry

    def _answer(self, event: AnswerTraining) -> None:
        self.answers.append((len(self.rounds), event))
        now = self.rounds[-1]
        if event.place < len(now.pairs):
            return
        right = links = 0
        for number, other in self.answers:
            key = number, other.annotator, other.attempt
            if key == (len(self.rounds), event.annotator, event.attempt):
                gold = {(i, j) for i, j, _ in now.pairs[other.place - 1].links}
                own = {(i, j) for i, j, _ in other.links}
                right += len(gold & own)
                links += len(gold) + len(own)
        if 2 * right / links >= now.mark:
            self._enter(event.annotator, "passed", event.attempt, "", event.at)

    def next_answer(self, name: str) -> tuple[int, int]:
        """Return the attempt and the place of the next answer of an annotator."""
        size = len(self.rounds[-1].pairs)
        number = len(self.rounds)
        given = sum(n == number and event.annotator == name for n, event in self.answers)
        return given // size + 1, given % size + 1

    def trained(self) -> set[int]:
        """Return the pairs that are for training: those of the last round, and answered ones."""
        seen = {(number, event.place) for number, event in self.answers}
        numbers = set()
        for number, event in enumerate(self.rounds, 1):
            for place, pair in enumerate(event.pairs, 1):
                if number == len(self.rounds) or (number, place) in seen:
                    numbers.add(pair.k)
        return numbers - {0}

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
        rounds = []
        for number, event in enumerate(self.rounds, 1):
            more = {"size": len(event.pairs), "mark": event.mark, "gold": event.gold}
            rounds.append({"number": number, **more, "pairs": to_builtins(event.pairs)})
        answers = []
        for number, event in self.answers:
            wanted = self.rounds[number - 1].pairs[event.place - 1].links
            own = {(i, j) for i, j, _ in event.links}
            right = {(i, j) for i, j, _ in wanted}
            row = {"round": number, "account": numbers[event.annotator], "at": event.at}
            row |= {"attempt": event.attempt, "place": event.place, "links": event.links}
            counts = {"common": len(own & right), "drawn": len(own), "wanted": len(right)}
            answers.append(row | counts)
        entries = []
        for (number, name), entry in self.entries.items():
            entries.append({"round": number, "account": numbers[name], **entry})
        plan = "" if self.plan is None else to_builtins(self.plan)
        tables = {
            "project": [{**asdict(self.settings), "assigning": plan}],
            "account": [{"id": number, "name": name} for name, number in numbers.items()],
            "pair": pairs,
            "pair_text": texts,
            "suggestion": suggestions,
            "learned_set": learned,
            "assignment": assigned,
            "training": rounds,
            "training_answer": answers,
            "training_entry": entries,
        }
        return {name: in_order(rows) for name, rows in tables.items()}


def _pair_row(k, id, text, shown, attributes, trees):
    search = " ".join((id, *text.source, *text.target)).casefold()
    row = {"k": k, "id": id, "rev": text.rev, "search": search, "suggested": shown}
    return row | {"attributes": attributes, "trees": trees}


def in_order(rows):
    """Return rows in an order that depends only on their values."""
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))
