"""The training round: what passes, who may work, what is shown of gold, and what counts nowhere."""

import json
from itertools import product

import pytest
from annotation import Tab, add_pairs, ask, cell, done, project, sent, small_corpus
from annotation_server import served
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from refusals import refuses

from alignkit import Alignment, Corpus, SentencePair
from alignkit.annotate import training_answers, training_table
from alignkit.annotate.assignment import assign_pairs, assigned_rows
from alignkit.annotate.creation import create_project
from alignkit.annotate.dashboard.work import version_of
from alignkit.annotate.exporting import exported
from alignkit.annotate.project import queries
from alignkit.annotate.project.names import NotTrained, ProjectError
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.rebuilding import build_project
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.store import Store
from alignkit.annotate.project.training import TrainingCounts, compared, total
from alignkit.annotate.reassignment import move_pairs
from alignkit.annotate.renaming import rename_annotator
from alignkit.annotate.training import (
    admit,
    begin_training,
    end_training,
    made_in_words,
)
from alignkit.annotate.training_answers import TrainingAnswer
from alignkit.errors import UnknownNameError

CASE = "Case 7.1 of the guidelines"
RIGHT = [(0, 0, 2), (1, 1, 1)]


def with_gold(pairs=6, gold=2):
    """Return a corpus whose first pairs have gold, with a note on a link and on the pair."""
    words = ["a", "b", "c", "d"], ["w", "x", "y", "z"]
    links = Alignment([(0, 0)], [(0, 0), (1, 1)], labels={(1, 1): CASE})
    ids = [f"p{k}" for k in range(1, pairs + 1)]
    known = [SentencePair(id, *words, {"gold": links}) for id in ids[:gold]]
    return Corpus([*known, *(SentencePair(id, *words, {}) for id in ids[gold:])])


@pytest.fixture
def store(tmp_path):
    with project(tmp_path, with_gold()) as store:
        yield store


def changed(store, act, *more):
    with store.database.writing() as conn:
        return act(conn, *more)


def answered(store, name, attempt, place, links, number=1):
    given = TrainingAnswer(number, attempt, place, links)
    return changed(store, training_answers.answer, name, given)


def turn(store, name="anna"):
    return ask(store, training_answers.turn, name)


def line(store, name="anna"):
    return next(
        line for line in ask(store, training_table.training_table).lines if line.name == name
    )


# F1

cells = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([1, 2])),
    max_size=8,
    unique_by=lambda link: link[:2],
)


def test_f1_is_that_of_scikit_learn_over_all_cells():
    metrics = pytest.importorskip("sklearn.metrics")
    own = [[(0, 0, 2), (1, 2, 1), (2, 1, 1)], [(0, 0, 2), (1, 1, 2)]]
    gold = [[(0, 0, 2), (1, 1, 2), (2, 1, 2)], [(0, 0, 1), (1, 1, 2), (2, 2, 2)]]
    counts = total(compared(*two) for two in zip(own, gold, strict=True))
    assert counts == TrainingCounts(4, 5, 6)
    flat = []
    for side in (own, gold):
        drawn = {(k, i, j) for k, links in enumerate(side) for i, j, _ in links}
        flat.append([cell in drawn for cell in product(range(2), range(3), range(3))])
    assert counts.f1 == pytest.approx(metrics.f1_score(flat[1], flat[0])) == pytest.approx(8 / 11)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=3))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(pairs):
    counts = total(compared(own, gold) for own, gold in pairs)
    own = {(k, i, j) for k, (links, _) in enumerate(pairs) for i, j, _ in links}
    gold = {(k, i, j) for k, (_, links) in enumerate(pairs) for i, j, _ in links}
    if own & gold:
        precision, recall = len(own & gold) / len(own), len(own & gold) / len(gold)
        assert counts.f1 == pytest.approx(2 * precision * recall / (precision + recall))
    elif own | gold:
        assert counts.f1 == 0
    else:
        assert counts.f1 != counts.f1


@pytest.mark.parametrize(("mark", "state"), [(0.8, "passed"), (0.81, "failed")])
def test_who_reaches_the_mark_passes(store, mark, state):
    begin_training(store, gold="gold", mark=mark)
    assert answered(store, "anna", 1, 1, RIGHT).state == "open"
    # 2 + 2 right links, 4 + 2 drawn, 4 in gold: 2 * 4 / 10
    wrong = [*RIGHT, (2, 2, 2), (3, 3, 2)]
    report = answered(store, "anna", 1, 2, wrong)
    assert (report.state, report.so_far, report.f1) == (state, 0.8, pytest.approx(2 / 3))
    assert line(store).state == state
    assert (turn(store).pair is None) == (state == "passed")


# What a round is made of


def test_a_round_has_the_links_of_gold_with_their_notes(store):
    made = begin_training(store, gold="gold", ids=["p2", "p1"], mark=0.5)
    assert (made.pairs, made.links, made.taken_back, made.begun) == (["p2", "p1"], 4, 0, [])
    with store.database.reading() as conn:
        assert made.left == queries.count_pairs(conn) - 2
    assert not any("left to annotate" in text for text in made_in_words(made, 0.5))
    none = made_in_words(structs.replace(made, left=0), 0.5)
    assert any("No other pair" in text for text in none)
    report = answered(store, "anna", 1, 1, [(0, 0, 1), (3, 0, 2)])
    assert report.id == "p2"
    differences = [(each.cell, each.own, each.gold, each.note) for each in report.differences]
    assert differences == [((0, 0), 1, 2, ""), ((1, 1), 0, 1, CASE), ((3, 0), 2, 0, "")]
    assert (report.common, report.drawn, report.wanted) == (1, 2, 2)


def test_the_reasons_of_adjudicators_are_notes(tmp_path):
    with project(tmp_path, small_corpus(2, {}), annotator="gold") as store:
        store.enrol("anna")
        tab = Tab(store, 1, "gold")
        why = json.dumps({"why": "own", "note": "see case 3"}, separators=(",", ":"))
        decided = sent("decide", cells=[[0, 0, 0, 2]], whys=[[0, 0, None, why]])
        tab.send(decided, sent("comment", key="", before="", after="short"), done())
        begin_training(store, gold="gold")
        report = answered(store, "anna", 1, 1, [])
        assert [each.note for each in report.differences] == ["see case 3"]
        assert report.note == "short"


def test_pairs_may_come_from_a_corpus(store):
    other = Corpus(
        SentencePair(f"t{k}", ["u"], ["v"], {"ref": Alignment([(0, 0)])}) for k in (1, 2)
    )
    begin_training(store, gold="ref", corpus=other, ids=["t2"])
    assert turn(store).pair.source == ["u"]
    assert answered(store, "anna", 1, 1, [(0, 0, 2)]).state == "passed"
    refuses(UnknownNameError, "anna", begin_training, store, gold="anna", corpus=other)


WRONG = {
    "p9: no pair has this id": {"ids": ["p1", "p9"]},
    "p1: named twice": {"ids": ["p1", "p1"]},
    "p3, p4, p5: gold has not finished them": {"ids": ["p3", "p4", "p5"]},
    "anna has not finished any pair": {"gold": "anna"},
    "the pass mark is 0": {"mark": 0},
    "at most 100 pairs": {"ids": [str(k) for k in range(101)]},
    "assign pairs first": {"assigned": True},
}


@pytest.mark.parametrize("problem", WRONG)
def test_an_impossible_round_is_refused(store, problem):
    before = store.last_n()
    refuses(ProjectError, problem, begin_training, store, **{"gold": "gold", **WRONG[problem]})
    assert store.last_n() == before


def test_other_tasks_have_no_training(store):
    store.settings(Setting(task="judge"))
    refuses(ProjectError, "another task", begin_training, store, gold="gold")


def test_a_dry_run_stores_nothing(store):
    before = store.last_n()
    begin_training(store, gold="gold", dry_run=True)
    assert store.last_n() == before


# Who may work


def test_nobody_works_before_passing(store):
    assign_pairs(store, ["anna", "ben"], control=0)
    tab = Tab(store, 4)
    begin_training(store, gold="gold")
    refuses(NotTrained, "training round first", store.pair, 4, "anna")
    refuses(NotTrained, "training round first", tab.send, cell(0, 0, 0, 2))
    assert tab.seq == 0
    answered(store, "anna", 1, 1, RIGHT)
    answered(store, "anna", 1, 2, RIGHT)
    tab.send(cell(0, 0, 0, 2))
    refuses(NotTrained, "training", store.pair, 4, "ben")
    admit(store, "ben", "carla")
    assert store.pair(4, "ben").k == 4
    admit(store, "ben", "carla", admitted=False)
    refuses(NotTrained, "training", store.pair, 4, "ben")
    end_training(store)
    assert store.pair(4, "ben").k == 4
    refuses(ProjectError, "no training round", end_training, store)


def test_who_has_begun_need_not_train(store):
    assign_pairs(store, ["anna", "ben"], control=0)
    Tab(store, 4).send(cell(0, 0, 0, 2))
    Tab(store, 4, "ben").send(sent("open", rev=1, suggestions=False))  # to look is not to begin
    assert begin_training(store, gold="gold").begun == ["anna"]
    assert store.pair(4, "anna").k == 4
    refuses(NotTrained, "training", store.pair, 4, "ben")
    assert line(store).state == "begun"


def test_attempts_may_be_repeated_and_are_counted(store):
    begin_training(store, gold="gold", mark=1)
    for attempt in (1, 2):
        answered(store, "anna", attempt, 1, RIGHT)
        assert answered(store, "anna", attempt, 2, []).state == "failed"
        shown = line(store)
        assert (shown.state, shown.attempt, shown.done) == ("failed", attempt, 2)
        assert shown.f1 == pytest.approx(2 / 3)
        now = turn(store)
        assert (now.attempt, now.place, now.failed) == (attempt + 1, 1, pytest.approx(2 / 3))
    answered(store, "anna", 3, 1, RIGHT)
    assert (line(store).state, turn(store).so_far, turn(store).failed) == ("open", 1, None)
    answered(store, "anna", 3, 2, RIGHT)
    shown = line(store)
    assert (shown.state, shown.attempt, shown.f1) == ("passed", 3, 1)


def test_an_answer_that_is_sent_again_is_stored_once(store):
    begin_training(store, gold="gold")
    first = answered(store, "anna", 1, 1, RIGHT)
    n = store.last_n()
    assert answered(store, "anna", 1, 1, RIGHT[::-1]) == first
    assert store.last_n() == n
    refuses(ProjectError, "answered already", answered, store, "anna", 1, 1, [])
    begin_training(store, gold="gold")
    refuses(ProjectError, "was changed", answered, store, "anna", 1, 1, RIGHT)
    assert turn(store).place == 1
    end_training(store)
    refuses(ProjectError, "was changed", answered, store, "anna", 1, 1, RIGHT)


# What counts nowhere


def test_answers_are_no_work(store):
    assign_pairs(store, ["anna", "ben"], control=0)
    begin_training(store, gold="gold")
    before = store.progress_of_all(), list(exported(store)), ask(store, version_of)
    answered(store, "anna", 1, 1, RIGHT)
    answered(store, "anna", 1, 2, RIGHT)
    assert (store.progress_of_all(), list(exported(store)), ask(store, version_of)) == before
    for pair in exported(store):
        assert set(pair.annotations) == ({"gold"} if pair.id in ("p1", "p2") else set())


def test_training_pairs_are_given_to_nobody(store):
    assign_pairs(store, ["anna", "ben"], trial=2, control=0)
    Tab(store, 2).send(cell(0, 0, 0, 2))
    made = begin_training(store, gold="gold")
    assert made.taken_back == 3  # anna keeps the pair that she has begun
    assert [row for row in ask(store, assigned_rows) if row.k < 3] == [
        row for row in ask(store, assigned_rows) if (row.k, row.annotator) == (2, "anna")
    ]
    assignment = assign_pairs(store, ["carla"])
    assert {row.k for row in ask(store, assigned_rows) if row.annotator == "carla"} == {3, 4, 5, 6}
    assert any("2 pairs for training" in text for text in assignment.warnings())
    assert move_pairs(store, None, "carla", 9).pairs == []
    add_pairs(store, [SentencePair("p7", ["a"], ["b"])])
    assert 7 in {row.k for row in ask(store, assigned_rows) if row.annotator == "anna"}
    end_training(store)  # nobody has answered: the pairs may be given again
    assign_pairs(store, ["carla"])
    assert {1, 2} <= {row.k for row in ask(store, assigned_rows) if row.annotator == "carla"}


def test_answered_pairs_of_earlier_rounds_stay_with_nobody(store):
    begin_training(store, gold="gold")
    answered(store, "anna", 1, 1, RIGHT)
    end_training(store)
    assign_pairs(store, ["anna"], control=0)
    assert {row.k for row in ask(store, assigned_rows)} == {2, 3, 4, 5, 6}


def test_the_log_holds_the_training(store, tmp_path):
    begin_training(store, gold="gold", actor="carla")
    answered(store, "anna", 1, 1, RIGHT)
    admit(store, "anna", "carla")
    assert replay(store).differences == []
    rename_annotator(store, "anna", "dora")
    assert line(store, "dora").state == "by hand"
    assert replay(store).differences == []
    build_project(str(tmp_path / "again"), store.log())
    with Store.open(str(tmp_path / "again"), readonly=True) as again:
        table = training_table.training_table
        assert ask(again, table) == ask(store, table)


# The server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("training") / "work.alignkit")
    create_project(path, with_gold())
    with Store.open(path) as store:
        store.enrol("anna")
        assign_pairs(store, ["anna", "ben"], control=0)
        begin_training(store, gold="gold")
    with served(path, annotator="anna") as server:
        yield server


def test_the_server_shows_gold_of_answered_pairs_only(server):
    anna = server.visitor("anna")
    assert anna.ask("GET", "/api/project").json["training"] == {"size": 2, "mark": 0.8}
    for path in (
        "queue",
        "find?q=a",
        "changes?after=0",
        "pairs/3",
        "pairs/1",
        "pairs/3/history",
        "concordance?word=a",
    ):
        answer = anna.ask("GET", f"/api/{path}")
        assert answer.status == 423, path
        assert CASE.encode() not in answer.body
    assert anna.link(3, 0, 0, 0, 2).status == 423
    assert anna.link(3, 0, 0, 0, 2).json["error"] == "training"
    assert CASE.encode() not in anna.ask("GET", "/api/export?to=alignkit-jsonl").body
    now = anna.ask("GET", "/api/training").json
    assert (now["attempt"], now["place"], now["size"], now["pair"]["id"]) == (1, 1, 2, "p1")
    assert now["pair"]["state"]["cells"] == []
    assert now["pair"]["suggestions"] is None
    assert CASE not in json.dumps(now)
    body = {"round": 1, "attempt": 1, "place": 1, "links": [[0, 0, 2]]}
    for wrong, status in [
        ({**body, "place": 2}, 409),
        ({**body, "round": 2}, 409),
        ({**body, "links": [[0, 9, 2]]}, 409),
        ({**body, "links": [[0, 0, 3]]}, 422),
        ({**body, "links": [[0, 0, 2], [0, 0, 1]]}, 409),
    ]:
        answer = anna.ask("POST", "/api/training/answer", wrong)
        assert answer.status == status
        assert CASE.encode() not in answer.body
    report = anna.ask("POST", "/api/training/answer", body).json
    assert [(row["cell"], row["note"]) for row in report["differences"]] == [([1, 1], CASE)]
    assert CASE not in json.dumps(anna.ask("GET", "/api/training").json)
    last = anna.ask("POST", "/api/training/answer", {**body, "place": 2}).json
    assert (last["state"], last["so_far"]) == ("failed", pytest.approx(2 / 3))
    again = {**body, "attempt": 2, "links": RIGHT}
    anna.ask("POST", "/api/training/answer", again)
    assert anna.ask("POST", "/api/training/answer", {**again, "place": 2}).json["state"] == "passed"
    assert anna.ask("GET", "/api/project").json["training"] is None
    assert anna.ask("GET", "/api/training").json["pair"] is None
    assert anna.ask("GET", "/api/pairs/3").status == 200
    assert anna.link(3, 0, 0, 0, 2).status == 201
