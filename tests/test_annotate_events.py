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
from msgspec.structs import replace
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
from alignkit.annotate.project.rebuilding import build_project
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.store import Store
from alignkit.annotate.project.tables import PROJECT_TABLES
from alignkit.model.roles import ROLES

JSON = {"attributes", "trees", "source", "target", "cells", "assigning", "pairs", "links"}
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
        kinds += ["training", *["answer"] * 6, "admit"]
        return getattr(self, f"_{self.pick(kinds)}")()

    def _links(self):
        return [(k, k, self.pick([1, 2])) for k in self.some([0, 1])]

    def _training(self):
        pairs = []
        for number in range(self.pick([0, 1, 1, 2])):
            k = self.pick([0, *self.project.pairs])
            links = self._links() or [(0, 0, 2)]
            notes = self.pick([{}, {"0-0": "a case", "": "ü"}])
            both = ("a", "b"), ("B", "ß")
            pairs.append(events.TrainingPair(f"t{number}", *both, links, notes, k, {}))
        begun = self.some(self.project.accounts, most=1)
        mark = self.pick([0.5, 0.8, 1])
        return events.BeginTraining(pairs, self.pick(["gold", "anna"]), mark, begun)

    def _training_annotators(self):
        """Return those who may answer; nobody without a round."""
        rounds = self.project.rounds
        if not rounds or not rounds[-1].pairs:
            return []
        number = len(rounds)
        names = self.project.accounts
        return [name for name in names if (number, name) not in self.project.entries]

    def _answer(self):
        names = self._training_annotators()
        if not names:
            return self._training()
        name = self.pick(names)
        attempt, place = self.project.next_answer(name)
        return events.AnswerTraining(name, attempt, place, self._links(), "2026-01-01T00:00:00Z")

    def _admit(self):
        names = self._training_annotators()
        number = len(self.project.rounds)
        in_force = number and self.project.rounds[-1].pairs
        entered = [
            name
            for (of, name), entry in self.project.entries.items()
            if of == number and entry["how"] == "by hand" and in_force
        ]
        if not names and not entered:
            return self._copy()
        name = self.pick([*names, *entered])
        return events.Admit(name, "carla", "2026-01-02T00:00:00Z", name in names)

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
        trained = self.project.trained()
        every = product(self.project.pairs.keys() - trained, self.project.accounts)
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
                    if isinstance(row[name], str) and row[name]:
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


@settings(max_examples=200 if FULL else 8)
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


TRAINED = events.TrainingPair("t", ("a",), ("b",), [(0, 0, 2)], k=1)
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
    "the pass mark is": [
        events.BeginTraining([TRAINED], mark=0),
        events.BeginTraining([TRAINED], mark=1.1),
    ],
    "no training pair has a link": [events.BeginTraining([replace(TRAINED, links=[])])],
    "is pair 9, which is unknown": [events.BeginTraining([replace(TRAINED, k=9)])],
    "training pair 1: the link": [
        events.BeginTraining([replace(TRAINED, links=[(0, 1, 2)])]),
        events.BeginTraining([replace(TRAINED, links=[(0, 0, 3)])]),
        events.BeginTraining([replace(TRAINED, links=[(0, 0, 1), (0, 0, 2)])]),
    ],
    "there is no training round": [
        events.AnswerTraining("anna", 1, 1, [], ""),
        events.Admit("anna", "carla", ""),
    ],
}


IMPOSSIBLE_IN_TRAINING = {
    "is not the next of the training round; that is pair 1 of attempt 1": [
        events.AnswerTraining("anna", 1, 2, [], ""),
        events.AnswerTraining("anna", 2, 1, [], ""),
    ],
    "the answer: the link": [events.AnswerTraining("anna", 1, 1, [(1, 0, 2)], "")],
    "ben need not train": [events.AnswerTraining("ben", 1, 1, [], "")],
    "ben may begin already": [events.Admit("ben", "carla", "")],
    "anna was not let in by hand": [events.Admit("anna", "carla", "", admitted=False)],
    "ben was not let in by hand": [events.Admit("ben", "carla", "", admitted=False)],
    "contradicts those before it": [events.BeginTraining([TRAINED], begun=["ben", "ben"])],
    "pair 1 is for training": [
        events.Assign([events.Assigned(1, "anna", 1, True, "", False)]),
    ],
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

        def all_refused(impossible):
            for problem, refused in impossible.items():
                for event in refused:
                    refuses(ProjectError, problem, append, event)
            assert (stored_rows(store), list(store.log())) == before

        all_refused(IMPOSSIBLE)
        append(events.Account("ben"))
        append(events.BeginTraining([TRAINED, replace(TRAINED, k=0)], begun=["ben"]))
        before = stored_rows(store), list(store.log())
        all_refused(IMPOSSIBLE_IN_TRAINING)
