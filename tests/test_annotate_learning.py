"""What is done is learned from, and suggested for pairs that nobody has opened, and no others."""

import random
import threading

import numpy as np
import pytest
from annotation import Tab, ask, cell, project, run_sql, sent, small_corpus
from annotation_server import until_ready

from alignkit import Alignment, SentencePair
from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.control_sample import control_pairs
from alignkit.annotate.dashboard import corrections
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.learning import TAUGHT, DoneWork, pairs_ahead, put_together
from alignkit.annotate.project import queries
from alignkit.annotate.project.appending import opened
from alignkit.annotate.project.engines import use_schema
from alignkit.annotate.project.events import Lesson
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.rebuilding import build_project
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.store import Store
from alignkit.annotate.server import learning_thread, opening
from alignkit.annotate.server.child import Job, SuggestionPlan
from alignkit.annotate.server.learning_thread import Learning, learns
from alignkit.annotate.server.opening import Opening
from alignkit.annotate.server.sessions import Sessions
from alignkit.io.format import EVERYTHING

BASE = [(0, 0, 0.9, 2), (1, 1, 0.6, 2), (2, 2, 0.3, 2)]
AUTO = {"auto": Alignment.parse("0-0 1-1")}


def made(folder, pairs=6, **more):
    store = project(folder, small_corpus(pairs, AUTO), **more)
    store.set_suggestions("trained", [(k, BASE) for k in range(1, pairs + 1)])
    return store


@pytest.fixture
def store(tmp_path):
    return made(tmp_path)


def done(store, k, name="anna", *links, after=True):
    tab = Tab(store, k, name)
    tab.send(
        sent("open", rev=tab.rev, suggestions=True),
        *(cell(i, j, tab.state.cells.get((i, j), 0), value) for i, j, value in links),
        sent("done", before=tab.state.done, after=after),
    )


def correct(store, k, source):
    import_pairs(store, [SentencePair(f"p{k}", source.split(), list("wxyz"))], holds=EVERYTHING)


def lesson(*numbers, pairs=5, rev=1):
    return Lesson(pairs, True, "learned", 0.7, 0.8, dict.fromkeys(numbers, rev))


def learned(store, *numbers, name="", p=0.8, **more):
    return store.add_learned(name, [(k, [(3, 3, p, 2)]) for k in numbers], lesson(*numbers, **more))


def sets(store, annotator="anna"):
    views = [store.pair(k, annotator).suggestions for k in range(1, store.project().pairs + 1)]
    return [view and view.set for view in views]


def stored(store):
    return rows_of(store, 'SELECT "set", pair FROM suggestion ORDER BY 1, 2')


def rows_of(store, question):
    rows = lambda conn: use_schema(conn) or conn.exec_driver_sql(question).all()  # noqa: E731
    return list(map(tuple, ask(store, rows)))


def check(store, folder):
    assert not replay(store).differences
    again = str(folder / f"again-{store.project().n}.alignkit")
    build_project(again, store.log())
    with Store.open(again, readonly=True) as other:
        assert (sets(other), stored(other)) == (sets(store), stored(store))


# sets
def test_a_learned_set_is_shown_for_its_pairs_in_the_place_of_the_one_before(store, tmp_path):
    assert learned(store, 2, 3, 4) == "learned-1"
    assert sets(store) == ["trained", *["learned-1"] * 3, "trained", "trained"]
    assert store.pair(2, "anna").suggestions.cells == [(3, 3, 0.8, 2)]
    assert learned(store, 3, 4, p=0.7, pairs=6) == "learned-2"
    assert learned(store, 5, name="learned-2", p=0.7) == "learned-2"
    assert sets(store) == ["trained", "learned-1", *["learned-2"] * 3, "trained"]
    kept = [row for row in stored(store) if row[0] != "trained"]  # what nobody has seen is gone
    assert kept == [("learned-1", 2), ("learned-2", 3), ("learned-2", 4), ("learned-2", 5)]
    told = rows_of(store, 'SELECT "set", parent, pairs, after FROM learned_set')
    assert told == [("learned-1", "trained", 5, 0.8), ("learned-2", "learned-1", 6, 0.8)]
    assert store.project().suggestions == "trained"
    check(store, tmp_path)


def test_other_suggestions_of_the_project_take_the_place_of_learned_ones(store, tmp_path):
    learned(store, 2, 3)
    store.set_suggestions("model", [(k, BASE[:1]) for k in range(1, 7)])
    assert set(sets(store)) == {"model"}
    check(store, tmp_path)
    assert learned(store, 3) == "learned-2"
    assert rows_of(store, "SELECT parent FROM learned_set") == [("trained",), ("model",)]
    store.set_suggestions("model", [(k, BASE) for k in range(1, 7)])  # the same name, found anew
    assert set(sets(store)) == {"model"}
    learned(store, 4)
    check(store, tmp_path)
    store.settings(Setting(suggestions=""))
    assert set(sets(store)) == {None}
    check(store, tmp_path)


def test_corrected_words_move_learned_suggestions_and_old_ones_are_not_stored(store, tmp_path):
    learned(store, 1, 2)
    correct(store, 1, "a b new c d")
    assert store.pair(1, "anna").suggestions.set == "learned-1"
    assert store.pair(1, "anna").suggestions.cells == [(4, 3, 0.8, 2)]
    assert learned(store, 1) == ""  # of the text before
    assert learned(store, 1, 2) == "learned-2"
    assert sets(store)[:3] == ["learned-1", "learned-2", "trained"]
    check(store, tmp_path)
    with pytest.raises(ProjectError):
        store.add_learned("", [(3, [(9, 0, 0.5, 2)])], lesson(3))


@pytest.mark.parametrize(
    ("pairs", "by", "bulk"),
    [
        (9, "aligner trained on these 9 pairs", "Too few pairs (9) to trust"),
        (10, "aligner trained on these 10 pairs, calibrated", ""),
    ],
)
def test_the_page_hears_what_a_probability_is(tmp_path, pairs, by, bulk):
    store = made(tmp_path, pairs)
    store.set_suggestions("trained", [(k, BASE) for k in range(1, pairs + 1)])
    shown = store.pair(2, "anna").suggestions
    assert (shown.by, shown.bulk[: len(bulk)], bool(shown.bulk)) == (by, bulk, bool(bulk))
    learned(store, 2, pairs=7)
    shown = store.pair(2, "anna").suggestions
    assert (shown.by, bool(shown.bulk)) == ("learned from 7 done pairs", bool(bulk))


# whose links
def test_any_number_of_pairs_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(queries, "_MOST_PARAMETERS", 4)  # of a question
    store = project(tmp_path, small_corpus(11, AUTO))
    for some in ([], [3], [9, 2, 2, 11, 5, 1, 7, 4], range(1, 12)):
        assert [row.k for row in ask(store, queries.pair_rows, some)] == sorted(set(some))
    assert [row.k for row in ask(store, queries.pair_rows)] == list(range(1, 12))


def test_several_annotators_teach_what_most_have_linked():
    three = [Alignment.parse(text) for text in ("0-0 1-1 2-2", "0-0 1?1 2-2", "0-0 3?3")]
    assert put_together(three) == Alignment.parse("0-0 1-1 2-2 3?3")
    assert put_together(three[1:]) == Alignment.parse("0-0 1?1 2?2 3?3")
    assert put_together(three[1:2]) == Alignment.parse("0-0 1-1 2-2")  # each of one's own


def taught(store, work=None):
    work = work or DoneWork()
    ask(store, work.refresh)
    return {k: pair.alignment(TAUGHT) for k, pair in work.pairs.items()}


def test_what_people_and_adjudicators_have_done_teaches_and_no_system(tmp_path):
    store = made(tmp_path, annotator="anna")
    store.enrol("ben")
    assert taught(store) == {}  # "auto" came with the corpus, and is done
    done(store, 1, "anna", (0, 0, 2), (1, -1, 2))
    done(store, 2, "anna", (0, 0, 2))
    done(store, 2, "ben", (0, 0, 2), (1, 1, 2))
    Tab(store, 3).send(cell(0, 0, 0, 2))  # not done
    assert taught(store)[1].sure == Alignment.parse("0-0").sure
    assert (taught(store)[2], set(taught(store))) == (Alignment.parse("0-0 1?1"), {1, 2})
    store.enrol("gold")
    tab = Tab(store, 2, "gold")
    tab.send(sent("decide", cells=[[3, 3, 0, 2]]), sent("done", before=False, after=True))
    assert taught(store)[2] == Alignment.parse("3-3")
    Tab(store, 1).back()
    assert set(taught(store)) == {2}
    done(store, 4)  # nothing in it corresponds
    assert taught(store)[4] == Alignment()


def test_work_that_is_followed_is_as_if_it_were_read_at_the_end(tmp_path):
    store = made(tmp_path, annotator="anna")
    for name in ("ben", "gold"):
        store.enrol(name)
    rng, followed = random.Random(3), DoneWork()
    for step in range(60):
        k, name = rng.randint(1, 6), rng.choice(["anna", "ben", "gold"])
        tab = Tab(store, k, name)
        i, act = rng.randint(0, 3), rng.choice(["link", "done", "undo", "text"])
        if act == "link":
            tab.send(cell(i, i, tab.state.cells.get((i, i), 0), rng.randint(0, 2)))
        elif act == "done":
            tab.send(sent("done", before=tab.state.done, after=not tab.state.done))
        elif act == "undo" and tab.state.undo:
            tab.back()
        elif act == "text":
            correct(store, k, f"a b new{step} d")
        if rng.random() < 0.4:
            anew = DoneWork()
            assert taught(store, followed) == taught(store, anew)
            words = [{k: p.words for k, p in x.pairs.items()} for x in (followed, anew)]
            assert (words[0], followed.opened, followed.last) == (words[1], anew.opened, anew.last)
    assert followed.opened <= ask(store, opened)
    assert followed.pairs


def test_the_pairs_ahead_are_those_that_each_annotator_will_open(tmp_path):
    store = made(tmp_path, 9)
    assert ask(store, pairs_ahead, {}, set(), 3) == []  # nobody has begun
    assert ask(store, pairs_ahead, {1: 4}, {5}, 3) == [6, 7, 8]
    assert ask(store, pairs_ahead, {1: 8, 2: 2}, {2, 4, 8}, 2) == [1, 3, 5, 9]
    assign_pairs(store, ["anna", "ben"], double=0.0, control=0.0)
    own = {name: [row.k for row in store.queue(name).pairs] for name in ("anna", "ben")}
    number = ask(store, queries.account_of, "anna")
    found = ask(store, pairs_ahead, {number: own["anna"][1]}, {own["ben"][0]}, 2)
    assert found == sorted({*own["anna"][2:4], *own["ben"][1:3]})


# in the server
class Fake:
    """Stand for the child process: what it finds is told by the test."""

    def __init__(self, job, tell, note, take):
        self.job, self.take, self.rings = job, take, 0
        self.going, self.ended = threading.Event(), threading.Event()
        self.problem = None
        Fake.made.append(self)

    def run(self):
        self.going.set()
        assert self.ended.wait(10)
        if self.problem is not None:
            raise self.problem

    def ring(self):
        self.rings += 1

    def stop(self):
        self.ended.set()

    def close(self):
        pass


@pytest.fixture
def begun(monkeypatch):
    Fake.made = []
    monkeypatch.setattr(learning_thread, "ChildProcess", Fake)
    running = []

    def begin(store, taken=()):
        notes = []
        found = Learning(
            store, SuggestionPlan("trained"), shelf=threading.Lock(), taken=taken, note=notes.append
        )
        running.append(found)
        return found, notes

    yield begin
    for one in running:
        one.stop()
        assert not one._thread.is_alive()


def child(number):
    while len(Fake.made) <= number:
        threading.Event().wait(0.005)
    assert Fake.made[number].going.wait(10)
    return Fake.made[number]


def test_it_learns_when_a_pair_is_done_and_leaves_what_is_open_alone(store, begun):
    done(store, 1)
    learning, notes = begun(store, taken={3})
    learning.heard([cell(0, 0, 0, 2)])
    assert not Fake.made  # nothing that says that a pair is done
    learning.heard([sent("done", before=False, after=True)])
    one = child(0)
    assert (one.job.learn, one.job.plan.kind) == (True, "trained")
    learning.heard([sent("undo", of="x")])
    learning.heard(None)
    assert (one.rings, len(Fake.made)) == (2, 1)
    Tab(store, 2).send(sent("open", rev=1, suggestions=True, set="trained"))
    one.take(lesson(1, 2, 3, 4, 5), iter([(k, [(3, 3, 0.8, 2)]) for k in (1, 2, 3, 4, 5)]))
    assert sets(store) == ["trained"] * 3 + ["learned-1"] * 2 + ["trained"]
    assert learning.outcome == "learned from 5 done pairs; F1 by cross-validation 70.0, now 80.0"
    assert notes == [f"suggestions: {learning.outcome}"]
    one.take(Lesson(6, False, "not used: no gain"), iter(()))
    assert sets(store)[3:5] == ["learned-1"] * 2  # what is there stays
    assert notes[1:] == ["suggestions: not used: no gain (6 done pairs)"]


def test_a_child_that_ends_is_told_and_begun_again_a_few_times(store, begun):
    learning, notes = begun(store)
    for number, problem in enumerate([ProjectError("killed"), KeyError("x"), OSError("full")]):
        learning.heard(None)
        one = child(number)
        one.problem = problem
        one.ended.set()
        while len(notes) <= number:
            threading.Event().wait(0.005)
    learning._thread.join(10)
    assert not learning._thread.is_alive()
    learning.heard(None)
    assert len(Fake.made) == 3
    told = ["killed", "this is a fault in alignkit: KeyError", "this is a fault in alignkit: OSE"]
    for note, text in zip(notes, told, strict=True):
        assert note.startswith(f"learning stopped: {text}")
    assert ["next pair is done" in note for note in notes] == [True, True, False]
    assert learning.outcome.startswith(f"learning stopped: {told[-1]}")


def test_only_what_an_aligner_suggests_is_learned():
    kinds = ("trained", "model", "vote", "initial", "none")
    chosen = [kind for kind in kinds if learns(SuggestionPlan(kind, "x", learning=True))]
    assert chosen == ["trained", "model", "vote"]
    assert not learns(SuggestionPlan("trained"))


def test_who_is_to_see_no_suggestions_sees_no_learned_ones_and_the_pull_knows_them(tmp_path):
    store = made(tmp_path, 20, annotator=None)
    assign_pairs(store, ["anna", "ben"], control=1.0)
    learned(store, *range(1, 21))
    seen = {name: sets(store, name) for name in ("anna", "ben")}
    assert set(seen["anna"]) == set(seen["ben"]) == {None, "learned-1"}
    pairs = ask(store, control_pairs)
    strata = [pair.stratum for pair in pairs]
    assert all(pair.suggested == ((3, 3, 0.8, 2),) for pair in pairs)
    store.settings(Setting(suggestions="trained"))
    assert [pair.stratum for pair in ask(store, control_pairs)] == strata  # as they were drawn


@pytest.fixture
def openings(monkeypatch):
    started, running = [], []

    class Started:
        told = ""

        def __init__(self, store, plan, **_):
            started.append(plan)

        def stop(self):
            pass

    def open_(path, plan=None, learning=None):
        job, fallback = Job(path, annotator="anna"), SuggestionPlan("none")
        found = Opening(job, plan, fallback=fallback, note=print, learning=learning)
        running.append(found)
        found.start(lambda: None)
        until_ready(found)
        found._thread.join(10)
        kept = found.opened.sessions.plan
        found.stop()
        return kept

    monkeypatch.setattr(opening, "Learning", Started)
    yield open_, started
    assert all(one.problem is None for one in running)


def test_learning_is_on_in_new_projects_and_stays_as_it_was_said_last(tmp_path, openings, capsys):
    open_, started = openings
    store = made(tmp_path)
    desk, path = Sessions(store.database), store.path
    assert desk.plan is None
    desk.plan = SuggestionPlan("trained", pending=False, learning=True)
    store.close()
    assert open_(path).learning
    assert [plan.kind for plan in started] == ["trained"]
    assert not open_(path, learning=False).learning
    assert not open_(path).learning
    assert not open_(path, SuggestionPlan("none")).learning  # which changes nothing of it
    assert (len(started), capsys.readouterr().out) == (1, "")
    assert open_(path, learning=True).learning
    assert len(started) == 1  # nothing suggests
    assert "--learning: has no effect" in capsys.readouterr().out


def test_a_new_project_learns_and_one_of_an_earlier_version_does_not(tmp_path, openings):
    open_, started = openings
    store = made(tmp_path)
    store.close()
    assert open_(store.path, SuggestionPlan("none")).learning
    plan = '{"kind":"trained","name":"","pending":false}'
    run_sql(store.path, f"UPDATE plan SET plan = '{plan}'")
    assert not open_(store.path).learning
    assert not started


# corrections
def test_corrections_are_the_links_that_differ_in_the_order_of_done(tmp_path):
    store = made(tmp_path, 6)
    store.enrol("ben")
    learned(store, 4, pairs=3)
    done(store, 2, "anna", (0, 0, 2), (1, 1, 1))  # as suggested: 2-2 is below the half
    done(store, 1, "anna", (0, 0, 2), (2, 2, 2), (3, -1, 2))  # 1-1 out, 2-2 in
    done(store, 4, "anna", (0, 0, 2))  # 3-3 out, 0-0 in
    done(store, 1, "ben")
    Tab(store, 3).send(cell(0, 0, 0, 2))
    done(store, 5, "anna")
    done(store, 5, "anna", after=False)
    found, shown = ask(store, corrections.corrections_of), ask(store, corrections.gathered)
    told = [(one.k, one.suggested, one.drawn, one.differ, one.taught) for one in found]
    assert told == [(2, 2, 2, 0, 0), (1, 2, 2, 2, 0), (4, 1, 1, 2, 3), (1, 2, 0, 2, 0)]
    assert (shown.pairs, shown.each, shown.sets) == (4, [0, 2, 2, 2], [0])
    part = shown.parts[0]
    assert (part.first, part.last, part.taught_from, part.taught_to) == (1, 4, 0, 3)
    assert (part.differ, part.drawn) == (1.5, 1.25)
    assert part.f1 == pytest.approx(2 * 3 / 12)  # 3 links in both, of 7 and of 5
    assert shown.line[0] == (1, pytest.approx(4 / 3))


def test_pairs_without_suggestions_or_of_annotators_who_see_none_are_no_corrections(tmp_path):
    store = made(tmp_path, 12, annotator=None)
    assign_pairs(store, ["anna"], control=1.0)
    for k in range(1, 13):
        done(store, k, "anna", (0, 0, 2))
    found = {one.k for one in ask(store, corrections.corrections_of)}
    assert found == {k for k, name in enumerate(sets(store), 1) if name}
    assert 0 < len(found) < 12
    store = project(tmp_path, small_corpus(2, AUTO), "other")
    done(store, 1)
    assert ask(store, corrections.gathered) is None


@pytest.mark.parametrize("size", [1, 2, 3, 10, 57])
@pytest.mark.parametrize("half", [0, 1, 4])
def test_the_line_is_the_mean_over_neighbours(size, half):
    values = np.random.default_rng(size).integers(0, 30, size).astype(float)
    wanted = [values[max(0, k - half) : k + half + 1].mean() for k in range(size)]
    assert corrections.smoothed(values, half).tolist() == pytest.approx(wanted)


def test_many_pairs_are_few_points_and_parts(tmp_path):
    found = [
        corrections.Corrected(k, 1, f"2026-01-01T{k:05}", 3, 4, k % 5, k // 10) for k in range(2000)
    ]
    shown = corrections.summed(found, [one.at for one in found])
    assert len(shown.line) <= 300
    assert len(shown.sets) <= 300
    assert (len(shown.parts), shown.each) == (12, [])
    assert (shown.parts[0].first, shown.parts[-1].last) == (1, 2000)
    assert (sum(one.last - one.first + 1 for one in shown.parts), shown.line[-1][0]) == (2000, 2000)
