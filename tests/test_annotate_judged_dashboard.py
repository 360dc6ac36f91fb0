"""Where pairs are judged, the dashboard shows the agreement on labels, and no links."""

import json
import shlex

import msgspec
import pytest
from annotation import Tab, done, project, sent, small_corpus
from command import run

from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.dashboard.figures import dashboard_view
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import ChildProcess
from alignkit.annotate.server.dashboard import Dashboard


@pytest.fixture(autouse=True)
def no_child(monkeypatch):
    def run(child):
        with Store.open(child._job.project, readonly=True) as store:
            shown = dashboard_view(store, child._job.name, lambda *_: None)
        child.result = msgspec.json.encode(shown)

    monkeypatch.setattr(ChildProcess, "run", run)


def judge(store, k, name, label, *flags):
    tab = Tab(store, k, name)
    data = {"label": [tab.state.judgment, label]} if label != tab.state.judgment else {}
    more = {"flags": [tab.state.flags, list(flags)]} if flags else {}
    events = [sent("judge", **data, **more)] if data or more else []
    tab.send(*events, *([] if tab.state.done else [done()]))


def shown(board):
    board._next = 0.0  # it need not rest
    board.answer()
    board.join()
    return json.loads(board.answer()[0])


@pytest.fixture
def make(tmp_path):
    made = []

    def make(pairs, *names):
        store = project(
            tmp_path, small_corpus(pairs), f"p{len(made)}", None, scheme="turku", task="judge"
        )
        assign_pairs(store, list(names), control=0)
        made.append(Dashboard(store))
        return store, made[-1]

    yield make
    for board in made:
        board.stop()
        board._store.close()


def test_kappa_of_labels_and_the_pairs_that_differ(make):
    # Cohen's kappa of 20, 5, 10, 15 is .4 (in many textbooks); a fifth of that here
    store, board = make(13, "anna", "ben")
    said = [("1", "1")] * 4 + [("1", "2")] + [("2", "1")] * 2 + [("2", "2")] * 3
    for k, labels in enumerate(said, 1):
        for name, label in zip(("anna", "ben"), labels, strict=True):
            judge(store, k, name, label)
    judge(store, 11, "anna", "1")  # alone
    page = shown(board)
    judged = page["judged"]
    (two,) = judged["twos"]
    assert (two["first"], two["second"], two["pairs"]) == ("anna", "ben", 10)
    assert (two["same"]["value"], two["kappa"]["value"]) == (0.7, pytest.approx(0.4))
    rows = [(row["id"], row["judgments"], row["ready"]) for row in judged["pairs"]]
    assert rows == [(id, [["1", 1], ["2", 1]], True) for id in ("p5", "p6", "p7")]
    assert judged["differ"] == 3
    assert page["twos"] == page["lowest"] == []
    judge(store, 5, "ben", "1")
    judged = shown(board)["judged"]
    assert (judged["twos"][0]["same"]["value"], judged["differ"]) == (0.8, 2)


def test_flags_count_for_the_pairs_alone_and_one_label_has_no_kappa(make):
    store, board = make(2, "anna", "ben", "cleo")
    for name in ("anna", "ben", "cleo"):
        judge(store, 1, name, "4", *(["i"] if name == "ben" else []))
    judged = shown(board)["judged"]
    assert [two["same"]["value"] for two in judged["twos"]] == [1, 1, 1]
    assert {two["kappa"]["value"] for two in judged["twos"]} == {None}
    assert "the same label" in judged["twos"][0]["kappa"]["reason"]
    assert judged["kappa"]["reason"] == "undefined for all"
    assert [row["judgments"] for row in judged["pairs"]] == [[["4", 2], ["4, i", 1]]]


def test_nobody_is_said_to_agree_where_nobody_has_judged(make):
    store, board = make(2, "anna", "ben")
    judged = shown(board)["judged"]
    assert judged["twos"] == judged["pairs"] == []
    judge(store, 1, "anna", "4")
    judge(store, 2, "ben", "4")
    (two,) = shown(board)["judged"]["twos"]
    assert two["pairs"] == 0
    assert two["kappa"] == {"value": None, "reason": "no pair has labels from both"}


def test_the_cautions_are_those_of_agree_on_the_export(make, tmp_path, capsys):
    store, board = make(4, "anna", "ben")
    for k in range(1, 4):
        for name in ("anna", "ben"):
            judge(store, k, name, "4")
    page = shown(board)
    export, agree = (shlex.split(line)[1:] for line in page["commands"])
    assert run(capsys, *export).code == 0
    assert page["cautions"] == run(capsys, *agree, "--json").json["cautions"]
    assert [caution["code"] for caution in page["cautions"]] == ["few", "repeats", "one-label"]


def test_links_are_shown_where_pairs_are_aligned(make):
    store, board = make(2, "anna", "ben")
    store.settings(Setting(task="align"))
    assert shown(board)["judged"] is None


@pytest.mark.parametrize("labels", [["1", "2", "4"], ["3", "x", "4", "4"]])
def test_the_command_that_is_told_prints_the_same(make, labels, monkeypatch, tmp_path, capsys):
    store, board = make(9, "anna", "ben")
    for k in range(1, 9):
        for name, step in (("anna", 1), ("ben", 2)):
            judge(store, k, name, labels[k * step % len(labels)])
    Tab(store, 1, "ben").send(sent("rewrite", rewrites=[["r1", None, ["a", "b"]]]))
    page = shown(board)
    monkeypatch.chdir(tmp_path)
    for command in page["commands"]:
        name, *words = shlex.split(command)
        assert (name, run(capsys, *words).code) == ("alignkit", 0)
    agreed = run(capsys, *words, "--json").json
    (two,) = page["judged"]["twos"]
    figures = {row["statistic"]: row for row in agreed["figures"] if row["kind"] == "pairing"}
    assert figures["kappa"]["value"] == pytest.approx(two["kappa"]["value"])
    assert figures["observed"]["value"] == pytest.approx(two["same"]["value"])
    assert (figures["kappa"]["pairs"], agreed["rewrites"]) == (two["pairs"], 1)
