"""The dashboard shows what `alignkit agree` finds on the export, and when that was."""

import json
import threading
import time
from itertools import combinations, product
from math import isnan
from pathlib import Path

import msgspec
import pytest
from adjudicating import LEFT, RIGHT, Bench, case
from annotation import Tab, add_pairs, ask, cell, sent, small_corpus
from annotation import project as made
from annotation_server import served
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repetitions import FULL

from alignkit import Alignment, Corpus, SentencePair, read_corpus, write_corpus
from alignkit._support.values import jsonable
from alignkit.agreement import agree
from alignkit.annotate.adjudication.adjudication_queue import Docket
from alignkit.annotate.assignment import assign_pairs, assigned_rows
from alignkit.annotate.control_sample import control_pairs
from alignkit.annotate.dashboard.figures import dashboard_view, times_view
from alignkit.annotate.dashboard.work import version_of
from alignkit.annotate.exporting import exported as finished
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.preannotation_bias import estimate_pull
from alignkit.annotate.project.names import ADJUDICATOR, ProjectError, Visitor
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import ChildProcess
from alignkit.annotate.server.dashboard import Dashboard
from alignkit.annotate.server.sessions import admit
from alignkit.cli.main import main
from alignkit.io.format import EVERYTHING

SAMPLES = Path(__file__).parent.parent / "samples" / "paraphrases.jsonl"
LIVE = {"words.possible.f1", "words.sure.f1", "cells.all.kappa", "different.cells.all.kappa"}
BULK = list(product(range(3), range(3)))
LEVELS = {"phrases.possible", "phrases.sure", "words.possible", "words.sure"}
EDITS = st.tuples(
    st.sampled_from(["cell", "cell", "done", "undo", "open"]),
    st.integers(1, 3),
    st.sampled_from(["anna", "ben", "carla", "gold"]),
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(0, 2),
)


def samples(folder, pairs=6, **settings):
    corpus = read_corpus(SAMPLES)[:pairs].rename({"eflomal": "initial"})
    store = made(folder, corpus, annotator=None)
    store.settings(Setting(**{"suggestions": "initial", **settings}))
    return store


@pytest.fixture
def here(monkeypatch):
    jobs = []

    def run(child):
        job = child._job
        jobs.append(job.figures)
        with Store.open(job.project, readonly=True) as store:
            if job.figures == "times":
                figures = times_view(store)
            else:
                figures = dashboard_view(store, job.name, lambda *_: None)
        child.result = msgspec.json.encode(figures)

    monkeypatch.setattr(ChildProcess, "run", run)
    return jobs


@pytest.fixture
def boards(here):
    made = []

    def make(store):
        made.append(Dashboard(store))
        return made[-1]

    yield make
    for board in made:
        board.stop()
        board._store.close()


def settled(board):
    for _ in range(2):
        board._next = 0.0  # it need not rest
        board.answer()
        board.join()
    board._next = float("inf")
    shown = json.loads(board.answer()[0])
    assert shown["running"] is False
    return shown


def link(store, k, name, i, j, after, **more):
    tab = Tab(store, k, name)
    tab.send(cell(i, j, tab.state.cells.get((i, j), 0), after, **more))


def done(store, k, name, *, after=True):
    tab = Tab(store, k, name)
    tab.send(sent("done", before=tab.state.done, after=after))


def blank(folder, pairs, *names):
    store = made(folder, small_corpus(pairs, {"auto": Alignment()}), annotator=None)
    store.settings(Setting(suggestions="auto"))
    for name in names:
        store.enrol(name)
    return store


# equality with agree on the export
def compare(shown, names, initial, exported):
    more = {} if initial is None else {"missing_initial": "leave-out"}
    agreed = agree(read_corpus(exported), names, initial=initial or "", adjudicated="", **more)
    cautions = [c for c in agreed.cautions if c.code != "intersection"]  # of no figure here
    assert shown["cautions"] == jsonable(cautions)
    assert "few-pairs" in {caution["code"] for caution in shown["cautions"]}
    expected = {
        (figure.kind, figure.first, figure.second, f"{figure.level}.{figure.statistic}"): figure
        for figure in agreed.figures()
    }
    assert [(two["first"], two["second"]) for two in shown["twos"]] == list(combinations(names, 2))
    for two in shown["twos"]:
        who = ("annotators", two["first"], two["second"])
        assert (set(two["figures"]), set(two["beyond"])) == (LIVE, LEVELS)
        beyond = {f"{level}.C": figure for level, figure in two["beyond"].items()}
        for name, figure in (two["figures"] | beyond).items():
            wanted = expected[(*who, name)]
            for end, value in (("value", wanted.value), ("low", wanted.low), ("high", wanted.high)):
                assert figure.get(end) == (None if isnan(value) else value), name
            assert figure["value"] is not None or figure["reason"]
            assert figure["pairs"] == wanted.pairs
        assert {figure["pairs"] for figure in two["figures"].values()} == {two["pairs"]}
        assert two["chance"] == ("kupper-hafner" if initial is None else "edit")
    assert len(shown["mean"]) == (len(LIVE | LEVELS) if len(names) > 2 else 0)
    for name, figure in shown["mean"].items():
        assert figure["value"] == pytest.approx(expected["mean", "", "", name].value)


def exported(shown, monkeypatch, folder):
    monkeypatch.chdir(folder)
    first, second = (line.split() for line in shown["commands"])
    assert (first[:3], main(first[1:])) == (["alignkit", "project", "export"], 0)
    assert second[:3] == ["alignkit", "agree", first[4]]
    return first[4], second[3:]


def test_the_figures_are_those_of_agree_on_the_export(tmp_path, boards, monkeypatch):
    store = samples(tmp_path, gold="gold")
    board = boards(store)
    assert settled(board)["twos"][0]["pairs"] == 6
    for k, name in ((2, "anna"), (3, "ben"), (3, "anna")):
        link(store, k, name, 0, 1, 2)
    done(store, 5, "ben", after=False)
    done(store, 6, "initial", after=False)  # a pair without an initial alignment
    shown = settled(board)
    file, options = exported(shown, monkeypatch, tmp_path)
    assert options == [
        "--annotators",
        "anna",
        "ben",
        "--initial",
        "initial",
        "--missing-initial",
        "leave-out",
    ]
    compare(shown, ["anna", "ben"], "initial", file)
    assert (shown["twos"][0]["pairs"], shown["settled"]) == (5, Docket(store).listed().done)


def test_so_are_those_of_several_without_an_initial_alignment(tmp_path, boards, monkeypatch):
    shown = settled(boards(samples(tmp_path, 12, suggestions="")))
    names = ["initial", "anna", "ben"]
    file, options = exported(shown, monkeypatch, tmp_path)
    assert options == ["--annotators", *names]
    compare(shown, names, None, file)


# one source, with its time
def test_all_figures_are_of_one_time_and_follow_when_the_child_is_done(tmp_path, boards):
    store = samples(tmp_path)
    board = boards(store)
    before = settled(board)
    assert before["at"]
    link(store, 4, "anna", 0, 0, 0)
    link(store, 4, "anna", 1, 2, 2)
    done(store, 5, "ben", after=False)
    board.answer()  # the child rests
    assert json.loads(board.answer()[0]) == before
    after = settled(board)
    two, old = after["twos"][0], before["twos"][0]
    assert after["at"] > before["at"]
    assert two["figures"]["words.sure.f1"] != old["figures"]["words.sure.f1"]
    assert two["beyond"] != old["beyond"]
    assert after["lowest"] != before["lowest"]
    assert [line["done"] for line in before["annotators"]] == [6, 6]
    assert [line["done"] for line in after["annotators"]] == [6, 5]


def test_the_child_rests_half_a_minute_and_twice_as_long_as_it_took(tmp_path, boards, here):
    store = samples(tmp_path, 2)
    board = boards(store)
    began = time.monotonic()
    board.answer()
    board.join()
    assert began + 30 <= board._next <= time.monotonic() + 30
    link(store, 1, "anna", 0, 0, 0)
    board.answer()
    board.join()
    assert here == ["all"]
    board._next = time.monotonic()
    board.answer()
    board.join()
    assert here == ["all", "all"]
    board._next = 0.0
    board.answer()  # nothing has changed
    board.join()
    assert here == ["all", "all"]


def test_while_figures_are_computed_anew_the_page_is_told(tmp_path, boards, monkeypatch):
    store = samples(tmp_path, 2)
    board = boards(store)
    before = settled(board)
    run, go_on = ChildProcess.run, threading.Event()

    def slowly(child):
        assert go_on.wait(30)
        run(child)

    monkeypatch.setattr(ChildProcess, "run", slowly)
    link(store, 1, "anna", 0, 0, 0)
    board._next = 0.0
    now = json.loads(board.answer()[0])
    assert now == {**before, "running": True}
    go_on.set()
    board.join()
    now = json.loads(board.answer()[0])
    assert (now["running"], now["at"] > before["at"]) == (False, True)


def test_what_is_not_done_changes_nothing_but_times(tmp_path, boards, here):
    store = samples(tmp_path, 2)
    store.enrol("carla")
    board = boards(store)
    before = settled(board)
    link(store, 1, "carla", 0, 1, 2)
    now = settled(board)
    assert [line["name"] for line in now["annotators"]] == ["anna", "ben", "carla"]
    assert now["n"] > before["n"]
    assert (now["twos"], now["lowest"]) == (before["twos"], before["lowest"])
    assert now["annotators"][2]["reason"] == "no pair is done on the page yet"
    body, tag = board.answer()
    assert board.answer() == (body, tag)
    assert here == ["all", "times"]  # what the child computes
    link(store, 1, "anna", 0, 1, 1)
    settled(board)
    assert here == ["all", "times", "all"]


def test_whatever_changes_finished_work_changes_its_version(tmp_path):
    store = samples(tmp_path, 3)
    known = [ask(store, version_of)]

    def changes():
        known.append(ask(store, version_of))
        return known[-1] != known[-2]

    link(store, 1, "anna", 0, 1, 1)
    assert changes()
    done(store, 1, "anna", after=False)
    assert changes()
    link(store, 1, "anna", 0, 1, 2)  # nobody has finished this
    assert not changes()
    store.enrol("carla")
    link(store, 2, "carla", 0, 1, 2)
    assert not changes()
    done(store, 1, "anna")
    assert changes()
    Tab(store, 1, "anna").back()
    assert changes()
    assign_pairs(store, ["carla", "dora"])
    assert changes()
    store.settings(Setting(suggestions=""))
    assert changes()
    add_pairs(store, [SentencePair("new", ["a"], ["b", "c"])])
    assert changes()


def test_why_there_is_no_figure_is_told(tmp_path, boards, monkeypatch):
    store = blank(tmp_path, 2, "anna", "ben")
    board = boards(store)
    shown = settled(board)
    assert shown["reason"].startswith("agreement needs two annotators")
    assert shown["twos"] == shown["commands"] == shown["lowest"] == []
    assert "control sample" in shown["pull"]["pull"]["reason"]
    done(store, 1, "anna")
    done(store, 2, "ben")
    (two,) = settled(board)["twos"]
    assert {one["reason"] for one in two["figures"].values()} == {"no pair is done by both"}
    done(store, 1, "ben")
    (two,) = settled(board)["twos"]
    alike = dict.fromkeys(LIVE, "all cells are alike")
    none = {name: "neither has a link of different words" for name in LIVE if "f1" in name}
    assert {name: figure["reason"] for name, figure in two["figures"].items()} == alike | none
    assert all(figure["value"] is None and figure["reason"] for figure in two["beyond"].values())

    def fails(_):
        raise ProjectError("the process was ended")

    monkeypatch.setattr(ChildProcess, "run", fails)
    link(store, 1, "anna", 0, 0, 2)
    link(store, 1, "ben", 0, 0, 2)
    failed = settled(board)
    assert failed["problem"] == "the process was ended"
    assert failed["twos"] == [two]  # as they were
    monkeypatch.undo()


def test_one_who_shares_nothing_lowers_the_means_and_what_they_leave_out_is_told(tmp_path, boards):
    store = blank(tmp_path, 1)
    for name, cells in (("anna", [(0, 0)]), ("ben", [(0, 0)]), ("carla", [(0, 1)]), ("dora", [])):
        store.enrol(name)
        for i, j in cells:
            link(store, 1, name, i, j, 2 if name == "carla" else 1)
        done(store, 1, name)
    mean = settled(boards(store))["mean"]
    assert mean["words.possible.f1"] == {"value": pytest.approx(1 / 6)}
    assert mean["words.sure.f1"]["value"] == 0
    assert "leaves out 3 pairings" in mean["words.sure.f1"]["reason"]


def test_the_first_computation_is_told_as_progress(tmp_path, boards, monkeypatch):
    half, go_on = threading.Event(), threading.Event()
    run = ChildProcess.run

    def slowly(child):
        child._report("comparing annotators", 0.5)
        half.set()
        assert go_on.wait(30)
        run(child)

    monkeypatch.setattr(ChildProcess, "run", slowly)
    board = boards(samples(tmp_path))
    board.answer()
    assert half.wait(30)
    first = {"progress": 0.5, "step": "comparing annotators", "problem": ""}
    assert json.loads(board.answer()[0]) == first
    go_on.set()
    assert "progress" not in settled(board)


def test_two_who_ask_at_once_begin_one_computation_and_none_after_the_end(tmp_path, boards, here):
    board = boards(samples(tmp_path, 2))
    others = [threading.Thread(target=board.answer) for _ in range(4)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    board.join()
    assert here == ["all"]
    board.stop()
    board._view = None
    board._next = 0.0
    assert "progress" in json.loads(board.answer()[0])  # nothing is begun any more
    assert here == ["all"]


# what else is shown
def test_what_both_took_in_bulk_is_told_apart(tmp_path, boards):
    store = blank(tmp_path, 2, "anna", "ben")
    for k, name in product((1, 2), ("anna", "ben")):
        cells, bulk = [[0, 0, 0, 2], [1, 1, 0, 1]], [[0, 0, 0, 1], [1, 1, 0, 1]]
        Tab(store, k, name).send(sent("edit", how="accept-all", cells=cells, bulk=bulk))
        done(store, k, name)
    link(store, 1, "anna", 2, 2, 2)
    link(store, 1, "ben", 2, 2, 1, seen=[[0, 0]])
    link(store, 1, "ben", 3, 2, 1)
    (two,) = settled(boards(store))["twos"]
    assert (two["links"], two["bulk"]) == (5, 3)
    assert two["figures"]["words.possible.f1"]["value"] == pytest.approx(10 / 11)
    assert two["apart"]["words.possible.f1"]["value"] == pytest.approx(4 / 5)
    assert two["apart"]["words.sure.f1"]["value"] == pytest.approx(2 / 3)
    for format in ("alignkit-jsonl", "alignkit-xml"):
        path = tmp_path / format
        assert not write_corpus(finished(store, done=True), path, format=format)
        same_without_unseen(two, read_corpus(path, format=format))


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.tuples(*[st.sets(st.sampled_from(BULK), max_size=4)] * 4), min_size=1, max_size=4)
)
def test_agree_counts_what_both_took_in_bulk_as_the_dashboard_does(tmp_path_factory, pairs):
    store = blank(tmp_path_factory.mktemp("bulk"), len(pairs), "anna", "ben")
    for k, (anna, ben, drawn, other) in enumerate(pairs, 1):
        for name, cells, more in (("anna", anna, drawn), ("ben", ben, other)):
            taken = [[i, j, 0, 2] for i, j in cells]
            kept = [[i, j, 0, 1] for i, j in cells]
            Tab(store, k, name).send(
                sent("done", before=False, after=True, how="done", cells=taken, bulk=kept)
            )
            for i, j in more - cells:
                link(store, k, name, i, j, 1)
    shown = msgspec.to_builtins(dashboard_view(store, "x", lambda *_: None))
    same_without_unseen(shown["twos"][0], Corpus(finished(store, done=True)))


def same_without_unseen(two, corpus):
    """Check that `agree` finds in an export what the dashboard has for two annotators."""
    agreed = agree(corpus, ["anna", "ben"], initial="auto", bootstrap="none", samples=10)
    pairing = agreed.pairings[0]
    if pairing.unseen is None:
        assert two["bulk"] == 0
        return
    assert (pairing.unseen.common, pairing.unseen.unseen) == (two["links"], two["bulk"])
    for links, value in pairing.unseen.f1.items():
        assert two["apart"][f"words.{links}.f1"]["value"] == (None if isnan(value) else value)


def test_pairs_of_little_agreement_come_first_and_tell_whether_they_are_ready(tmp_path, boards):
    store = blank(tmp_path, 4)
    assign_pairs(store, ["anna", "ben", "carla"], control=0.0)
    for k, cells in ((1, [(0, 0)]), (2, [(0, 0), (1, 1)]), (3, [(2, 2)]), (4, [])):
        for name in ("anna", "ben"):
            for place in cells if name == "anna" else cells[:1]:
                link(store, k, name, *place, 2 if k < 3 or name == "anna" else 1)
            done(store, k, name)
    done(store, 3, "carla")
    admit(store, Visitor("dora", ADJUDICATOR))
    bench = Bench(store, 3, "dora")
    bench.take((2, 2), "anna")
    bench.done()
    lowest = settled(boards(store))["lowest"]
    assert [
        (row["k"], row["possible"], row["sure"], row["ready"], row["settled"]) for row in lowest
    ] == [
        (3, pytest.approx(1 / 3), 0, True, True),
        (2, pytest.approx(2 / 3), pytest.approx(2 / 3), False, False),
    ]
    assert (lowest[0]["id"], lowest[0]["source"]) == ("p3", "a b c d")


def test_a_pair_whose_vote_is_another_one_since_is_not_adjudicated(tmp_path, boards):
    store = case(tmp_path, {"anna": LEFT, "ben": RIGHT}, pairs=2)
    bench, board = Bench(store).settled("ben"), boards(store)

    def adjudicated():
        shown, page = settled(board), bench.docket.listed()
        assert (shown["settled"], shown["pairs"]) == (page.done, page.project)
        return shown["settled"], [row["settled"] for row in shown["lowest"]]

    assert adjudicated() == (1, [True])
    link(store, 1, "anna", 0, 1, 2)
    assert adjudicated() == (0, [False])
    link(store, 1, "anna", 0, 1, 0)
    assert adjudicated() == (1, [True])
    store.settings(Setting(majority=True))
    assert adjudicated() == (1, [True])


def test_the_pull_and_the_times_are_those_of_their_functions(tmp_path, boards):
    store = made(tmp_path, small_corpus(20), annotator=None)
    store.set_suggestions("m", [(k, [(0, 0, 0.9, 2), (1, 1, 0.4, 2)]) for k in range(1, 21)])
    assign_pairs(store, ["anna", "ben"], control=1.0)
    for row in ask(store, assigned_rows)[:-3]:
        tab = Tab(store, row.k, row.annotator)
        tab.send(cell(0, 0, 0, 2), cell(1, 1, 0, 2) if row.shown else cell(2, row.k % 2, 0, 1))
        if row.k % 3:
            tab.send(cell(0, 0, 2, 0))
        done(store, row.k, row.annotator)
    shown = settled(boards(store))
    pull = estimate_pull(ask(store, control_pairs))
    low, high = pull.pull.interval.low, pull.pull.interval.high
    figure = {"value": pull.pull.value, "low": low, "high": high, "pairs": pull.pull.pairs}
    assert shown["pull"]["pull"] == figure
    assert shown["pull"]["accepted"]["value"] == pull.accepted.value
    assert shown["pull"]["cautions"] == list(pull.cautions)
    anna, ben = shown["annotators"]
    assert (anna["done"], anna["pairs"], ben["done"], ben["pairs"]) == (20, 20, 17, 20)
    assert 0 <= anna["seconds"] < 60
    assert (anna["left"], anna["reason"]) == (0, "")
    assert ben["left"] >= 0


# whatever happens to the project
def act(store, kind, k, name, i, j, after):
    tab = Tab(store, k, name)
    if kind == "cell":
        link(store, k, name, i, j, after)
    elif kind == "done":
        done(store, k, name, after=not tab.state.done)
    elif kind == "open":
        tab.send(sent("open", rev=1, suggestions=True))
    elif store.pair(k, name).state.undo:
        tab.back()


def figures_of(store):
    """All figures but those of times."""
    shown = msgspec.to_builtins(dashboard_view(store, "file", lambda *_: None))
    for name in ("n", "annotators", "corrections"):
        del shown[name]
    return shown


@settings(
    max_examples=10 if FULL else 6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.lists(EDITS, min_size=1, max_size=4), max_size=4))
def test_figures_change_with_the_version_alone(tmp_path_factory, history):
    folder = tmp_path_factory.mktemp("edits")
    with made(folder, small_corpus(3, {"auto": Alignment.parse("0-0")}), annotator=None) as store:
        for name in ("anna", "ben", "carla", "gold"):
            store.enrol(name)
        store.settings(Setting(suggestions="auto"))
        version = ask(store, version_of)
        shown = figures_of(store)
        for edits in history:
            for edit in edits:
                act(store, *edit)
            if ask(store, version_of) == version:
                assert figures_of(store) == shown
            version = ask(store, version_of)
            shown = figures_of(store)


def test_all_that_may_happen_to_a_project_is_followed(tmp_path, boards):
    store = samples(tmp_path, 4)
    board = boards(store)

    def names():
        return [line["name"] for line in settled(board)["annotators"]]

    assert names() == ["anna", "ben"]
    store.enrol("carla")  # somebody comes
    link(store, 1, "carla", 0, 0, 2)
    done(store, 1, "carla")
    assert [two["pairs"] for two in settled(board)["twos"]] == [4, 1, 1]
    add_pairs(store, [SentencePair("new", ["a"], ["b", "c"])])
    done(store, 5, "anna")
    shown = settled(board)
    assert (shown["pairs"], shown["annotators"][0]["done"]) == (5, 5)
    corpus = read_corpus(SAMPLES).rename({"eflomal": "initial"})
    words = [*corpus[0].source[:-1], "indeed", corpus[0].source[-1]]
    import_pairs(store, [SentencePair(corpus[0].id, words, corpus[0].target)], holds=EVERYTHING)
    assert [two["pairs"] for two in settled(board)["twos"]] == [3]  # it is open again
    store.settings(Setting(suggestions=""))  # the initial alignment is an annotator now
    assert names()[0] == "initial"
    assign_pairs(store, ["carla", "dora"])
    assert names() == ["carla", "dora"]


# in a server
def test_the_server_answers_with_what_is_there_and_says_when_nothing_changed(tmp_path):
    store = samples(tmp_path, 2, gold="decided")
    store.close()
    with served(store.path, annotator="anna") as server:
        cleo = server.visitor("cleo", ADJUDICATOR)
        while "progress" in (first := cleo.ask("GET", "/api/agreement")).json:
            assert first.status == 200
            time.sleep(0.1)
        names = [line["name"] for line in first.json["annotators"]]
        assert names == ["initial", "anna", "ben", "gold"]
        assert first.json["twos"][0]["beyond"]["words.sure"]["pairs"] == 2
        for _ in range(3):
            tag = cleo.ask("GET", "/api/agreement").headers["etag"]
            again = cleo.ask("GET", "/api/agreement", If_None_Match=tag)
            if again.status == 304:  # what is slow may have come in between
                break
        assert (again.status, again.body) == (304, b"")


def test_a_store_that_is_closed_ends_what_goes_on(tmp_path):
    store = samples(tmp_path, 2)
    board = Dashboard(store)
    board.answer()
    board.stop()
    store.close()
    assert not board._thread.is_alive()
    with Store.open(store.path) as again:
        assert again.project().pairs == 2


def test_c_is_by_edits_where_both_saw_the_initial_links(tmp_path, boards):
    store = samples(tmp_path)
    for name in ("anna", "ben"):
        for k in range(1, 7):
            seen = name == "anna" or k < 5
            opened = sent("open", rev=1, suggestions=seen, set="initial" if seen else "")
            Tab(store, k, name).send(opened)
    two = settled(boards(store))["twos"][0]
    assert (two["chance"], two["shown"], two["pairs"]) == ("edit", 4, 6)
    agreed = agree(Corpus(finished(store)), ["anna", "ben"], initial="initial", bootstrap="none")
    wanted = agreed.pairings[0].main("words.sure")
    assert (two["beyond"]["words.sure"]["value"], wanted.pairs) == (wanted.C, 6)
