"""Pages, routes and adjudication of projects to judge and to extract."""

from dataclasses import replace
from itertools import count

import pytest
from refusals import refuses

pytest.importorskip("starlette", reason="needs the extra [annotate]")

from adjudicating import Bench
from annotation import Tab, cell, done, project, sent, small_corpus
from annotation_server import make, served

from alignkit import Alignment, Annotation, Corpus, SentencePair
from alignkit.annotate.adjudication.adjudication_queue import Docket
from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.exporting import exported, exported_work
from alignkit.annotate.project.events import JUDGMENT
from alignkit.annotate.project.names import ADJUDICATOR, BadEvent
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.sessions import change_task

_ids = count(1)
PAIRS = [SentencePair(f"p{k}", ["a", "b"], ["c", "d"]) for k in range(3)]


def event(kind, **data):
    return {"id": f"sent-{next(_ids)}", "kind": kind, "v": 1, "data": data}


def post(client, k, *events, base=0, room="pairs"):
    body = {"base": base, "rev": 1, "events": list(events)}
    return client.ask("POST", f"/api/{room}/{k}/events", body)


@pytest.mark.parametrize("task", ["align", "judge", "extract"])
def test_a_project_has_the_page_of_its_task(tmp_path, task):
    path = make(tmp_path)
    with Store.open(path) as store:
        store.settings(Setting(task=task))
    with served(path) as server:
        client = server.client()
        page = "app" if task == "align" else task
        assert f"/page/{page}.js".encode() in client.ask("GET", "/").body
        assert client.ask("GET", "/api/project").json["task"] == task
        assert (b"/page/judge.js" in client.ask("GET", "/adjudicate").body) == (task == "judge")


def test_rewrites_are_seen_by_their_author_until_all_are_done(tmp_path):
    path = make(tmp_path)
    with Store.open(path) as store:
        store.settings(Setting(task="judge"))
        assign_pairs(store, ["anna", "ben"])
    texts = ["the old", "das bejahrte"]
    with served(path) as server:
        anna, ben, carla = (server.client(enter=not k) for k in range(3))
        for client, who in ((ben, ["ben"]), (carla, ["carla", ADJUDICATOR])):
            assert client.enter(server.invite(*who)).status == 200
        assert post(anna, 1, event("rewrite", rewrites=[["r1", None, texts]])).status == 201
        assert post(anna, 1, event("rewrite", rewrites=[["r1", texts, ["a", ""]]])).status == 422
        assert post(anna, 1, event("rewrite", rewrites=[["r2", None, ["a"]]])).status == 422
        assert anna.ask("GET", "/api/pairs/1").json["state"]["rewrites"] == [["r1", texts]]
        asked = ("/api/pairs/1", "/api/pairs/1/history", "/api/export?to=alignkit-jsonl")
        for way in (*asked, "/api/changes?after=0", "/api/find?q=old", "/api/queue"):
            body = ben.ask("GET", way).body
            assert b"rewrite" not in body
            assert b"bejahrte" not in body
        assert carla.ask("GET", "/api/gold/1").status != 200
        for client, base in ((anna, 1), (ben, 0)):
            judged = event("judge", label=["", "partial"])
            done = event("done", before=False, after=True)
            assert post(client, 1, judged, done, base=base).status == 201
        view = carla.ask("GET", "/api/gold/1").json
        assert [vote["rewrites"] for vote in view["votes"]] == [[["r1", texts]], []]
        extract = event("extract", extracts=[["x1", None, [0, 3, 0, 3]]])
        assert post(carla, 1, extract, room="gold").status == 422


@pytest.fixture
def judged(tmp_path):
    aligned = {"auto": Alignment.parse("0-0 1?1"), "file": Annotation(None, judgment="1")}
    store = project(tmp_path, small_corpus(2, aligned), scheme="binary", task="judge")
    store.enrol("gold")
    yield store
    assert not replay(store).differences
    store.close()


def judge(store, name, label, *events):
    return Tab(store, 1, name).send(sent("judge", label=["", label]), *events, done())


def rewrite(texts, key="r1"):
    return sent("rewrite", rewrites=[[key, None, texts]])


def test_links_are_not_voted_on_and_judgments_of_files_are(judged):
    judge(judged, "anna", "0")
    row = next(row for row in Docket(judged).rows() if row.k == 1)
    assert (row.left, row.stake, row.votes, row.state) == (1, 0, 2, "open")  # anna and the file
    bench = Bench(judged, actor="carla")
    bench.open()
    refuses(BadEvent, "1 difference", bench.done)
    bench.take(JUDGMENT, "file")
    bench.done()
    gold = next(iter(exported_work(judged))).annotation("gold")
    assert replace(gold, when=None) == Annotation(None, judgment="1", role="adjudicated")


def test_rewrites_that_all_share_are_taken_once(judged):
    assign_pairs(judged, ["anna", "ben"])
    judge(judged, "anna", "1", rewrite(["a", "w"]), rewrite(["b", "w"], "r2"))
    judge(judged, "ben", "1", rewrite(["b", "w"]))
    (row,) = Docket(judged).rows()
    assert (row.state, row.left) == ("open", 0)  # all agree, but there is a rewrite to look at
    bench = Bench(judged, actor="carla")
    bench.open()
    assert bench.view.state.rewrites == [("r1", ("b", "w"))]
    bench.send(sent("rewrite", rewrites=[["r1", ["b", "w"], None]]))
    bench.open()
    bench.done()
    assert not bench.view.state.rewrites  # what was taken away stays away
    pairs = {pair.id: pair for pair in exported_work(judged)}
    assert list(pairs["p1/r1"].annotations) == ["anna"]
    assert list(pairs["p1/r2"].annotations) == ["anna", "ben"]


def test_what_was_judged_is_open_again_when_it_is_to_be_aligned(tmp_path, monkeypatch):
    store = project(tmp_path, Corpus(PAIRS), scheme="binary", task="judge")
    for name in ("anna", "ben"):
        store.enrol(name)
        for k in (1, 2):
            Tab(store, k, name).send(sent("judge", label=["", "1"]), done())
    before = list(exported(store))
    monkeypatch.setattr("alignkit.annotate.project.events.now", lambda: "2030-01-01T00:00:00Z")
    change_task(store, "align")
    assert list(exported(store)) == before
    assert next(iter(exported(store, done=True))).annotations == {}
    assert not Docket(store).rows()
    for name in ("anna", "ben"):
        Tab(store, 1, name).send(cell(0, 0, 0, 2), done())
    links = Alignment.parse("0-0")
    assert next(exported(store)).alignments == {"anna": links, "ben": links}
    assert [row.k for row in Docket(store).rows()] == [1]
    assert not replay(store).differences
    store.close()
