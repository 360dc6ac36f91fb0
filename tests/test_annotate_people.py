"""Several people work in one server: each sees their own, and what they send is what is stored."""

import os
import signal
import stat
import sys
from pathlib import Path

import pytest
from annotation import ask
from annotation_server import Client, Process, make, served
from command import ROOT, process
from repetitions import repetitions

from alignkit import Corpus, SentencePair
from alignkit.annotate.assignment import assign_pairs, assigned_rows
from alignkit.annotate.creation import create_project
from alignkit.annotate.project.names import ADJUDICATOR, ProjectError, Visitor
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.server_lock import ServerLock
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.invitations import SECRET, ServerFile, invited
from alignkit.annotate.server.server import AnnotationServer

PAIRS = 8
COMMENT = "what-ben-thinks"
QUERIES = {
    "/api/find": "?q=word",
    "/api/changes": "?after=0",
    "/api/export": "?to=alignkit-jsonl",
    "/api/queue": "?limit=1000",
    "/api/concordance": "?word=b",
}
BODY = {
    "base": 0,
    "rev": 1,
    "events": [{"id": "walked", "kind": "edit", "data": {"how": "cell", "cells": [[1, 1, 0, 2]]}}],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("people") / "work.alignkit")
    words = [f"word{k}x" for k in range(1, PAIRS + 1)]
    create_project(path, Corpus(SentencePair(f"id-{w}", [w, "b"], ["c", "d"]) for w in words))
    with Store.open(path) as store:
        store.set_suggestions("m", [(k, [(0, 0, 0.875, 2)]) for k in range(1, PAIRS + 1)])
        assign_pairs(store, ["anna", "ben"], double=0.25, control=1, seed=4)
    return path


@pytest.fixture(scope="module")
def server(project):
    with served(project, annotator="anna") as found:
        found.opening.opened.store.settings(Setting(suggestions="m"))
        yield found


@pytest.fixture(scope="module")
def anna(server):
    return server.visitor("anna")


@pytest.fixture(scope="module")
def ben(server):
    client = server.visitor("ben")
    for k in own(client):
        assert client.link(k, 0, 0, 0, 2).status == 201
        said = {"key": "", "before": "", "after": f"{COMMENT} {k}"}
        assert client.link(k, 0, 0, 0, 2, kind="comment", data=said).status == 201
    return client


@pytest.fixture(scope="module")
def carla(server):
    return server.visitor("carla", ADJUDICATOR)


def own(client):
    return [row["k"] for row in client.ask("GET", "/api/queue").json["pairs"]]


def routes(server):
    app = AnnotationServer(server.opening, server.entrance, frozenset(), str)
    ways = [(min(route.methods - {"HEAD"}), route.path) for route in app.routes()]
    return [way for way in ways if way[1] not in ("/enter", "/invite", "/logout")]


def asked(client, method, path, k=0):
    filled = path.replace("{k}", str(k)).replace("{name}", "wire.js") + QUERIES.get(path, "")
    return client.ask(method, filled, BODY if method == "POST" else None)


def test_what_is_another_s_is_reached_by_no_route(server, anna, ben):
    mine, others = own(anna), sorted(set(own(ben)) - set(own(anna)))
    assert set(mine) & set(own(ben))
    assert others
    log = len(list(server.opening.opened.store.log()))
    for method, path in routes(server):
        replies = [(0, asked(anna, method, path))]
        if "{k}" in path:
            replies = [(k, asked(anna, method, path, k)) for k in (*others, 99, 0)]
            for suffix in ("", "?prefetch=1") if method == "GET" else ():
                replies += [(k, asked(anna, method, path + suffix, k)) for k in others]
        for k, reply in replies:
            assert reply.status != 500
            if "{k}" in path:
                assert reply.status in (403, 404), (path, k)
                unknown = asked(anna, method, path, 99)
                if k:
                    told = reply.body.replace(b"pair %d " % k, b"pair 99 ")
                    assert (reply.status, told) == (unknown.status, unknown.body)
            private = [COMMENT.encode(), b'"ben"', *(b"word%dx" % other for other in others)]
            assert not [text for text in private if text in reply.body], path
    assert len(list(server.opening.opened.store.log())) == log


def test_of_a_pair_that_both_have_each_sees_their_own(anna, ben):
    for k in set(own(anna)) & set(own(ben)):
        assert anna.ask("GET", f"/api/pairs/{k}").json["state"]["cells"] == []
        assert anna.ask("GET", f"/api/pairs/{k}/history").json == {"events": []}
        assert ben.ask("GET", f"/api/pairs/{k}").json["state"]["cells"] == [[0, 0, 2]]


def test_a_concordance_is_of_ones_own_work(anna, ben):
    with_ben = ben.ask("GET", "/api/concordance?word=B&side=source").json
    assert with_ben["total"] + with_ben["not_annotated"] == len(own(ben))
    k = own(ben)[0]
    word = f"word{k}x"
    found = ben.ask("GET", f"/api/concordance?word={word}").json
    assert [(row["counterpart"], row["sure"]) for row in found["counterparts"]] == [("c", 1)]
    (line,) = found["lines"]
    assert (line["k"], line["id"], line["status"], line["right"]) == (k, f"id-{word}", "sure", "b")
    for other in own(anna):  # who linked nothing yet
        of_anna = anna.ask("GET", f"/api/concordance?word=word{other}x").json
        assert (of_anna["lines"], of_anna["not_annotated"]) == ([], 1)
    assert anna.ask("GET", "/api/concordance?word=b&side=left").status == 422


def test_each_route_is_for_a_role(server, anna, carla):
    k, stranger = own(anna)[0], server.client(enter=False)
    for method, path in routes(server):
        statuses = [asked(one, method, path, k).status for one in (stranger, anna, carla)]
        open_to_all = path in ("/", "/adjudicate", "/dashboard", "/page/{name}", "/favicon.ico")
        assert (statuses[0] == 401) != open_to_all, path
        if (method, path) == (
            "POST",
            "/api/training/answer",
        ):  # let in, but the body is another one's
            assert statuses[1:] == [422, 403]
            continue
        assert statuses[1] == 403 or statuses[1] < 300, path
        assert statuses[2] == 403 or statuses[2] < 300 or path.startswith("/api/gold"), path
        if "/pairs/" in path or path in ("/api/queue", "/api/find", "/api/export"):
            assert statuses[1:] == [statuses[1], 403]
            assert statuses[1] < 300
        if path in ("/api/project", "/guidelines"):
            assert statuses[1:] == [200, 200]
        if path == "/api/progress":
            assert statuses[1:] == [403, 200]


def test_the_adjudicator_learns_how_far_each_is(carla, ben):
    k = own(ben)[0]
    view = ben.ask("GET", f"/api/pairs/{k}").json
    data = {"before": view["state"]["done"], "after": True}
    event = {"id": "ben-done", "kind": "done", "data": data}
    body = {"base": view["state"]["seq"], "rev": 1, "events": [event]}
    assert ben.ask("POST", f"/api/pairs/{k}/events", body).status in (200, 201)
    found = carla.ask("GET", "/api/progress").json["annotators"]
    assert [row["annotator"] for row in found] == ["anna", "ben"]
    assert (found[1]["done"], found[1]["pairs"]) == (1, len(own(ben)))
    project = carla.ask("GET", "/api/project").json
    told = [project[name] for name in ("annotator", "role", "task")]
    assert (told, project["done"], project["pairs"]) == (["carla", ADJUDICATOR, "align"], 0, PAIRS)


def test_who_draws_without_suggestions_gets_none_by_any_route(server, anna, ben):
    rows = ask(server.opening.opened.store, assigned_rows)
    for row in rows:
        client = {"anna": anna, "ben": ben}[row.annotator]
        replies = [
            client.ask("GET", f"/api/pairs/{row.k}{more}")
            for more in ("", "?prefetch=1", "/history")
        ]
        assert (replies[0].json["suggestions"] is not None) == row.shown
        assert any(b"0.875" in reply.body for reply in replies) == row.shown
    assert not all(row.shown for row in rows)
    assert b"0.875" not in anna.ask("GET", "/api/export?to=alignkit-jsonl").body


def test_a_link_is_given_to_who_knows_the_secret_alone_and_of_many_the_oldest_is_void(server):
    stranger, secret = server.client(enter=False), server.entrance.secret
    body = {"name": "anna", "role": "annotator"}
    for headers, sent, status in [
        ({}, body, 403),
        ({SECRET: "wrong"}, body, 403),
        ({SECRET: "\xe9"}, body, 403),
        ({SECRET: secret}, body, 403),  # with an Origin, as pages have one
        ({SECRET: secret, "Origin": None}, {"name": "anna"}, 422),
        ({SECRET: secret, "Origin": None}, body | {"role": "owner"}, 400),
        ({SECRET: secret, "Origin": None}, body | {"name": ""}, 422),
        ({SECRET: secret, "Origin": None}, body | {"name": "zoe"}, 422),
        ({SECRET: secret, "Origin": None, "Host": "evil.example"}, body, 403),
    ]:
        assert stranger.ask("POST", "/invite", sent, **headers).status == status, (headers, sent)
    good = {SECRET: secret, "Origin": None}
    told = stranger.ask("POST", "/invite", body | {"name": "zoe"}, **good)
    assert "'zoe' (only to anna, ben)" in told.json["message"]
    token = stranger.ask("POST", "/invite", body, **good).json["token"]
    assert stranger.enter(token).status == 200
    assert server.client(enter=False).enter(token).status == 401
    assert stranger.ask("GET", "/api/project").json["annotator"] == "anna"
    tokens = [server.entrance.invite(Visitor("anna")) for _ in range(101)]
    assert not server.entrance.fits(tokens[0])
    assert all(map(server.entrance.fits, tokens[1:]))


def test_the_role_of_a_session_outlives_the_server(tmp_path):
    path = make(tmp_path)
    with served(path) as server:
        carla = server.visitor("carla", ADJUDICATOR)
    with served(path, port=carla.port) as server:
        again = server.client(enter=False)
        again.cookie, again.csrf = carla.cookie, carla.csrf
        assert again.ask("GET", "/api/progress").status == 200
        assert again.ask("GET", "/api/queue").status == 403


def test_where_nobody_serves_there_is_nobody_to_ask(tmp_path):
    path = str(tmp_path / "work.alignkit")
    ServerFile("127.0.0.1:1", "old").write(path)  # of a server that was killed
    assert stat.S_IMODE(os.stat(f"{path}-server").st_mode) == 0o600 or os.name != "posix"
    assert invited(path, Visitor("anna")) is None
    ServerFile("127.0.0.1:2", "new").remove(path)
    assert os.path.exists(f"{path}-server")
    ServerFile("127.0.0.1:1", "old").remove(path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "host", ["bad host\r\n:x/y", "example.org:80", "127.0.0.1", "127.0.0.1:99999", "::1:80", ""]
)
def test_no_address_but_one_of_this_machine_gets_the_secret(tmp_path, host, monkeypatch):
    path = str(tmp_path / "work.alignkit")
    monkeypatch.setattr("alignkit.annotate.server.invitations._request", None)
    monkeypatch.setattr("alignkit.annotate.server.invitations._LOOK", 0.0)
    ServerFile(host, "secret").write(path)
    lock = ServerLock(path)
    with pytest.raises(ProjectError, match="another server has this"):
        invited(path, Visitor("anna"))
    lock.release()


@pytest.mark.slow
def test_the_command_lets_others_into_the_server_that_runs(tmp_path):
    path = make(tmp_path, 4)
    ServerFile("127.0.0.1:1", "stale").write(path)
    words = ("annotate", path, "--no-browser", "--annotator")
    first = Process(path, "--annotator", "anna", "--suggestions", "none")
    assert stat.S_IMODE(os.stat(f"{path}-server").st_mode) == 0o600
    given = process("project", "assign", path, "--annotators", "anna", "ben", "--double", "0")
    assert given.code == 0, given.err
    ran = process(*words, "ben", "--scheme", "binary", "--no-learning")
    assert ran.code == 0, ran.err
    assert "address for ben" in ran.err
    assert "--no-learning, --scheme: no effect" in ran.err
    address, _, token = ran.out.strip().partition("/#")
    assert address == first.url.partition("/#")[0]
    ben = Client(first.client.port)
    assert ben.enter(token).status == 200
    lists = [set(own(client)) for client in (first.client, ben)]
    assert (len(lists[0]), lists[0] | lists[1]) == (2, {1, 2, 3, 4})
    process(*words, "zoe").failed("'zoe' (only to anna, ben)")
    process(*words, "gold", "--adjudicate").failed("name of the gold")
    process(*words, "ben", "--gold", "x").failed("--gold needs --adjudicate")
    ran = process(*words, "carla", "--adjudicate", "--gold", "truth")
    assert ran.code == 0, ran.err
    carla = Client(first.client.port)
    assert carla.enter(ran.out.strip().partition("/adjudicate#")[2]).status == 200
    assert carla.ask("GET", "/api/project").json["role"] == ADJUDICATOR
    for client in (ben, carla):
        client.close()
    first.end(signal.SIGINT)
    assert not os.path.exists(f"{path}-server")
    with Store.open(path) as store:
        assert store.project().gold == "truth"
        assert not replay(store).differences
    process(*words, "zoe").failed("assigned to 'zoe'")


@pytest.mark.slow
def test_twenty_annotators_at_four_edits_a_second_lose_nothing(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks.annotators import simulate, told

    path = str(tmp_path / "work.alignkit")
    found = simulate(path, 20, repetitions(60))
    print(told(found))
    assert {status for _, status in found.statuses} <= {200, 201, 204}
    with Store.open(path) as store:
        log = {}
        for event in store.log():
            if event.k:
                log.setdefault((event.k, event.annotator), []).append(event.id)
        assert log == found.sent
        assert sum(map(len, log.values())) > 20
        assert not replay(store).differences
    if sys.platform == "linux":
        assert max(found.memory) < 300_000  # kB
        settled = found.memory[len(found.memory) // 3 :]
        assert settled[-1] - settled[0] < 60_000
    assert not Path(f"{path}-server").exists()
