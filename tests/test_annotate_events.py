"""Random events of a project: the tables live, replayed and by the reference are the same."""

import json
from itertools import product
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("sqlalchemy", reason="needs the extra [annotate]")

import sqlalchemy as sa
from annotation import small_corpus
from hypothesis import given, settings
from hypothesis import strategies as st
from postgres_server import server
from reference_project import Reference, in_order
from refusals import refuses
from repetitions import FULL

from alignkit import Alignment
from alignkit.annotate.creation import create_project
from alignkit.annotate.project import project_events as events
from alignkit.annotate.project.appending import append_to_project
from alignkit.annotate.project.events import LearnedFrom
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.places import remove_project
from alignkit.annotate.project.replay import build_project, replay
from alignkit.annotate.project.store import Store
from alignkit.annotate.project.tables import PROJECT_TABLES
from alignkit.model.roles import ROLES

JSON = {"attributes", "trees", "source", "target", "cells", "assigning"}
"""The columns that hold JSON."""
SETS = ["trained", "model", "learned-1", "learned-2"]
words = st.lists(st.sampled_from(["a", "B", "ß", "\0", "日本"]), min_size=1, max_size=3).map(tuple)
texts = st.sampled_from(["", "x", "é\U0010ffff"])
cells = st.tuples(
    st.integers(-1, 2), st.integers(-1, 2), st.none() | st.floats(0, 1), st.sampled_from([1, 2])
)


class History:
    """Draws events that may follow those before, and keeps what they add up to."""

    def __init__(self, draw, project):
        self.draw = draw
        self.project = project

    def pick(self, options):
        return self.draw(st.sampled_from(options))

    def some(self, options, most=3):
        options = list(options)
        if not options:
            return []
        return self.draw(st.lists(st.sampled_from(options), unique=True, max_size=most))

    def event(self):
        kinds = ["setting", "account", "import", "text", "assign", "copy", *["suggest"] * 4]
        return getattr(self, f"_{self.pick(kinds)}")()

    def _setting(self):
        maybe = st.none() | st.booleans()
        return events.Setting(
            name=self.draw(st.none() | texts),
            scheme=self.pick([None, "", "paraphrase"]),
            threshold=self.draw(st.none() | st.floats(0, 1) | st.just(1)),
            doubt=self.pick([None, 0, 0.1, 0.2]),
            suggestions=self.pick([None, None, "", *SETS[:2]]),
            gold=self.pick([None, "gold", "truth"]),
            task=self.pick([None, "align", "judge"]),
            blind=self.draw(maybe),
            majority=self.draw(maybe),
        )

    def _account(self):
        number = len(self.project.accounts)
        return events.Account(f"a{number}\0", self.pick(["", *ROLES]))

    def _import(self):
        first = len(self.project.pairs) + 1
        pairs = []
        for k in range(first, first + self.draw(st.integers(0, 2))):
            attributes = self.pick([{}, {"genre": "ü"}])
            trees = self.pick([{}, {"source": {"parse": "(S a)"}}])
            pair = events.Pair(
                k, self.pick(["id", "Ä"]), self.draw(words), self.draw(words), attributes, trees
            )
            pairs.append(pair)
        return events.Import(pairs)

    def _text(self):
        corrected = []
        for k in self.some(self.project.texts):
            rev = self.project.texts[k][-1].rev + 1
            corrected.append(events.Text(k, rev, self.draw(words), self.draw(words)))
        return events.Texts(corrected)

    def _suggest(self):
        name = self.pick(SETS)
        rows = [(k, self.draw(st.lists(cells, max_size=3))) for k in self.some(self.project.pairs)]
        learned = None
        if name.startswith("learned") and name not in self.project.learned:
            learned = LearnedFrom("trained", 5, "2026-01-01", 0.5, 1)
        return events.Suggest(name, rows, self.draw(st.booleans()), learned)

    def _assign(self):
        gone = self.some(self.project.assigned)
        held = self.project.assigned.keys() - set(gone)
        every = product(self.project.pairs, self.project.accounts)
        free = [key for key in every if key not in held]
        rows = []
        for k, name in self.some(free):
            shown, trial = self.draw(st.tuples(st.booleans(), st.booleans()))
            place = self.draw(st.integers(1, 9))
            rows.append(events.Assigned(k, name, place, shown, self.pick(["", "split"]), trial))
        plan = self.pick([None, events.AssignmentPlan(tuple(self.project.accounts), double=1)])
        return events.Assign(rows, plan, gone)

    def _copy(self):
        return events.Copied()


def stored_rows(store):
    """Return the rows of the tables of the project itself, as `Reference.rows` has them."""
    tables = {}
    with store.database.reading() as conn:
        for table in PROJECT_TABLES:
            rows = []
            for stored in conn.execute(sa.select(table)).mappings():
                row = dict(stored)
                for name in JSON & row.keys():
                    if row[name]:
                        row[name] = json.loads(row[name])
                rows.append(row)
            tables[table.name] = in_order(rows)
    return tables


def follow(place, again, draw):
    """Append random events to a project; compare it with the reference, replayed and rebuilt."""
    create_project(place, small_corpus(2, {"anna": Alignment()}))
    project = Reference()
    with Store.open(place) as store:
        for event in store.log():
            if event.k == 0:
                project.take(events.decode_event(event.kind, event.data))
        history = History(draw, project)
        for _ in range(draw(st.integers(4, 24))):
            event = history.event()
            with store.database.writing() as conn:
                append_to_project(conn, event)
            project.take(event)
        wanted = json.loads(json.dumps(project.rows()))
        assert stored_rows(store) == wanted
        assert replay(store).differences == []
        build_project(again, store.log())
        with Store.open(again, readonly=True) as rebuilt:
            assert stored_rows(rebuilt) == wanted


@given(st.data())
def test_random_events_change_the_tables_as_the_reference_says(data):
    with TemporaryDirectory() as folder:
        follow(f"{folder}/p", f"{folder}/again", data.draw)


@settings(max_examples=20 if FULL else 4)
@given(st.data())
def test_random_events_change_the_tables_alike_in_postgresql(data):
    place = server().place()
    again = server().place()
    try:
        follow(place, again, data.draw)
    finally:
        remove_project(place)
        remove_project(again)


IMPOSSIBLE = {
    "contradicts those before it": [
        events.Account("anna"),
        events.Import([events.Pair(1, "twice", ("a",), ("b",))]),
        events.Suggest("trained", [(9, [])]),
    ],
    "unknown role": [events.Account("x", "none")],
    "there is no pair 9": [events.Texts([events.Text(9, 2, ("a",), ("b",))])],
    "one of them is unknown": [
        events.Assign([events.Assigned(9, "anna", 1, True, "", False)]),
        events.Assign([events.Assigned(1, "nobody", 1, True, "", False)]),
    ],
    "takes pair 1 from 'anna'": [events.Assign(gone=[(1, "anna")])],
}


@pytest.mark.parametrize("place", ["file", "postgresql"])
def test_events_that_contradict_those_before_them_are_refused(tmp_path, place):
    path = server().place() if place == "postgresql" else str(tmp_path / "p")
    create_project(path, small_corpus(2, {"anna": Alignment()}))
    with Store.open(path) as store:
        before = stored_rows(store), list(store.log())

        def append(event):
            with store.database.writing() as conn:
                append_to_project(conn, event)

        for problem, refused in IMPOSSIBLE.items():
            for event in refused:
                refuses(ProjectError, problem, append, event)
        assert (stored_rows(store), list(store.log())) == before
