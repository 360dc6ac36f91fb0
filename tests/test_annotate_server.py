"""Who is served, what the page gets, and how much a browser loads."""

import gzip
import io
import os
import re
import shutil
import sqlite3
import threading
import zipfile
from contextlib import closing
from uuid import uuid4

import pytest
from annotation import run_sql
from annotation_server import NASTY, make, served
from command import write
from refusals import refuses

from alignkit.annotate.project.names import DamagedProject
from alignkit.annotate.project.store import Store
from alignkit.annotate.server import serving
from alignkit.annotate.server.assets import load_assets
from alignkit.annotate.server.child import Job, SuggestionPlan
from alignkit.annotate.server.listening import allowed_hosts, check_address, listen
from alignkit.annotate.server.opening import Opening
from alignkit.errors import AlignkitError, OptionError
from alignkit.io import WRITTEN, read_corpus
from alignkit.model.alignment import Alignment


def test_a_token_lets_one_browser_in(tmp_path):
    with served(make(tmp_path)) as server:
        token, anna = server.entrance.token, server.client()
        assert server.client(enter=False).enter(token).status == 401
        assert server.entrance.token != token
        second = server.client()
        assert [one.ask("GET", "/api/project").status for one in (anna, second)] == [200, 200]
        cookie = server.client(enter=False).enter(server.entrance.token).headers["set-cookie"]
        thirty_days = "Max-Age=2592000"  # as the documentation says
        assert all(part in cookie for part in ("HttpOnly", thirty_days, "SameSite=strict"))
        assert anna.ask("POST", "/logout").status == 200
        assert anna.ask("GET", "/api/project").status == 401


def test_sessions_survive_a_restart_and_stay_their_annotator_s(tmp_path):
    project = make(tmp_path)
    with served(project) as server:
        anna = server.client()
        assert anna.link(1, 0, 0, 0, 2).status == 201
    for annotator in ("anna", "ben", "anna"):
        with served(project, annotator=annotator, port=anna.port) as server:
            again = server.client(enter=False)
            again.cookie, again.csrf = anna.cookie, anna.csrf
            assert again.ask("GET", "/api/project").json["annotator"] == "anna"
            assert again.ask("GET", "/api/pairs/1").json["state"]["cells"] == [[0, 0, 2]]
            assert server.client().ask("GET", "/api/project").json["annotator"] == annotator
    stored = (tmp_path / "work.alignkit").read_bytes()
    for secret in (anna.cookie.partition("=")[2], anna.csrf):
        assert secret.encode() not in stored


def test_sessions_of_one_secret_are_asked_to_enter_again(tmp_path):
    project = make(tmp_path)
    with served(project) as server:
        anna = server.client()
    run_sql(project, "ALTER TABLE session DROP COLUMN second")
    with served(project, port=anna.port) as server:
        again = server.client(enter=False)
        again.cookie, again.csrf = anna.cookie, anna.csrf
        answer = again.ask("GET", "/api/pairs/1")
        assert answer.status == 401
        assert "open the URL" in answer.json["message"]
        assert server.client().ask("GET", "/api/pairs/1").status == 200


def test_two_copies_of_a_project_do_not_share_a_cookie(tmp_path):
    project, copy = make(tmp_path), str(tmp_path / "copy.alignkit")
    shutil.copy(project, copy)
    with served(project) as first, served(copy) as second:
        assert first.client().cookie.partition("=")[0] != second.client().cookie.partition("=")[0]


def test_an_edit_is_stored_once_however_often_it_is_sent(tmp_path):
    with served(make(tmp_path)) as server:
        anna, id = server.client(), str(uuid4())
        answers = [anna.link(1, 0, 0, 0, 2, id=id) for _ in range(3)]
        assert [answer.status for answer in answers] == [201, 200, 200]
        assert anna.link(1, 0, 1, 0, 2, id=id).status == 422
        late = anna.link(1, 0, 0, 1, 0)
        assert late.status == 409
        assert late.json["conflicts"] == [{"i": 0, "j": 0, "before": 1, "after": 0, "now": 2}]
        assert [event["id"] for event in late.json["events"]] == [id]
        assert anna.ask("GET", "/api/pairs/1").json["state"]["cells"] == [[0, 0, 2]]
        changes = anna.ask("GET", "/api/changes?after=0").json
        assert [event["id"] for event in changes["pairs"]["1"]] == [id]
        assert anna.ask("GET", f"/api/changes?after={changes['n']}").status == 204


def test_the_page_learns_what_it_needs(tmp_path):
    with served(make(tmp_path)) as server:
        anna = server.client()
        project = anna.ask("GET", "/api/project").json
        assert (project["annotator"], project["pairs"], project["done"]) == ("anna", 3, 0)
        assert project["preparing"] is None
        assert "csrf" not in project
        assert [kind["value"] for kind in project["formats"]] == list(WRITTEN)
        assert {"value", "name", "about"} <= project["scheme"]["labels"][0].keys()
        pair = anna.ask("GET", "/api/pairs/2").json
        assert pair["source"][-1] == NASTY
        assert (pair["previous"], pair["next"], pair["next_open"]) == (1, 3, 3)
        assert pair["direction"] == {"source": "ltr", "target": "ltr"}
        assert pair["suggestions"] is None
        assert len(anna.ask("GET", "/api/queue?after=1").json["pairs"]) == 2
        assert anna.ask("GET", "/api/find?q=p3").json["total"] == 1
        assert b"guidelines" in anna.ask("GET", "/guidelines").body


def test_the_page_is_the_same_file_until_it_changes(tmp_path):
    with served(make(tmp_path)) as server:
        client = server.client(enter=False)
        answer = client.ask("GET", "/page/wire.js")
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        again = client.ask("GET", "/page/wire.js", If_None_Match=answer.headers["etag"])
        assert (again.status, again.body) == (304, b"")
        packed = client.ask("GET", "/page/wire.js", Accept_Encoding="br, gzip")
        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(packed.body) == answer.body
        refused = client.ask("GET", "/page/wire.js", Accept_Encoding="gzip;q=0")
        assert "content-encoding" not in refused.headers


def test_what_was_drawn_is_downloaded(tmp_path):
    with served(make(tmp_path)) as server:
        anna = server.client()
        anna.link(1, 0, 0, 0, 2)
        anna.link(1, 1, 1, 0, 1)
        own = anna.ask("GET", "/api/export?to=alignkit-jsonl")
        assert own.headers["content-disposition"].endswith('-anna.jsonl"')
        (tmp_path / "own.jsonl").write_bytes(own.body)
        pair = read_corpus(str(tmp_path / "own.jsonl"), format="alignkit-jsonl")[0]
        assert dict(pair.alignments) == {"anna": Alignment.parse("0-0 1?1")}
        packed = zipfile.ZipFile(io.BytesIO(anna.ask("GET", "/api/export?to=pharaoh").body))
        lines = {}
        for name in packed.namelist():
            lines[name.removesuffix(".txt").rpartition(".")[2]] = packed.read(name).decode()
        assert lines["align"].startswith("0-0 1?1\n")
        assert lines["target"].startswith("das alte haus\n")


def test_further_host_names_are_those_that_were_allowed(tmp_path):
    with served(make(tmp_path), names=("lab.example", "tunnel.example:9000")) as server:
        for name in ("lab.example", "LAB.example", "localhost"):
            client = server.client(host=name)
            assert client.ask("GET", "/api/project").status == 200
            headers = client.ask("GET", "/").headers  # nothing of which a browser would warn
            assert ("cross-origin-opener-policy" in headers) == (name == "localhost")
        client = server.client()
        for host in ("lab.example", "tunnel.example:9000", f"[::1]:{server.port}"):
            assert client.ask("GET", "/page/wire.js", Host=host).status == 200
        for host in ("tunnel.example", f"tunnel.example:{server.port}", "x.lab.example"):
            assert client.ask("GET", "/page/wire.js", Host=host).status == 403


def test_links_of_an_annotator_are_suggested(tmp_path):
    with served(make(tmp_path), plan=SuggestionPlan("initial", "auto")) as server:
        suggestions = server.client().ask("GET", "/api/pairs/1").json["suggestions"]
        about = {"set": "auto", "by": "suggested by auto", "bulk": "", "links": []}
        assert suggestions == {"cells": [[0, 0, None, 2], [1, 1, None, 1]], **about}


@pytest.mark.parametrize(
    ("shown", "name", "told"), [("otto", "anna", "otto"), ("auto", "auto", "are the same")]
)
def test_suggestions_of_nobody_are_refused(tmp_path, shown, name, told):
    path, plan = make(tmp_path), SuggestionPlan("initial", shown)
    with pytest.raises(AssertionError, match=told), served(path, plan=plan, annotator=name):
        pass


@pytest.mark.slow
def test_suggestions_never_come_to_a_pair_that_was_opened(tmp_path):
    project = make(tmp_path)
    with served(project) as server:
        anna = server.client()
        event = {"id": "o1", "kind": "open", "v": 1, "data": {"rev": 1, "suggestions": False}}
        body = {"base": 0, "rev": 1, "events": [event]}
        assert anna.ask("POST", "/api/pairs/2/events", body).status == 201
    with served(project, plan=SuggestionPlan("initial", "auto")) as server:
        anna = server.client()
        sets = [anna.ask("GET", f"/api/pairs/{k}").json["suggestions"] for k in (1, 2, 3)]
        assert [not (given and given["cells"]) for given in sets] == [False, True, False]


def test_a_second_server_is_refused(tmp_path):
    project = make(tmp_path)
    with served(project), pytest.raises(AssertionError, match=r"work\.alignkit"), served(project):
        pass


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.0.1", "example.org", "", "127.1"])
def test_nothing_beyond_the_loopback_is_listened_on(address):
    refuses(OptionError, "--host", check_address, address)


@pytest.mark.parametrize("name", ["", "a b", "http://lab.example", "lab.example/x", "*", "lab:x"])
def test_names_of_hosts_are_checked(name):
    refuses(OptionError, "--allow-host", allowed_hosts, "127.0.0.1", 80, [name])


def test_a_port_belongs_to_a_project_and_a_taken_one_is_told(tmp_path):
    with listen("127.0.0.1", None, str(tmp_path / "a")) as first:
        port = first.getsockname()[1]
        with listen("127.0.0.1", None, str(tmp_path / "a")) as second:
            assert second.getsockname()[1] != port
        refuses(AlignkitError, f"--port {port}", listen, "127.0.0.1", port, "")
    with listen("127.0.0.1", None, str(tmp_path / "a")) as again:
        assert again.getsockname()[1] == port


def test_the_browser_is_not_told_the_token_where_others_can_read_it(tmp_path, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(serving, "own_folder", lambda: tmp_path)
    given, opened = [], threading.Event()
    monkeypatch.setattr(serving.webbrowser, "open", lambda url: (given.append(url), opened.set()))
    for token in ("first", "second"):
        opened.clear()
        serving.open_browser(f"http://127.0.0.1:25384/#{token}")
        assert opened.wait(10)
    assert given[0] == given[1] == (tmp_path / "open-25384.html").as_uri()
    page = tmp_path / "open-25384.html"
    assert 'url=http://127.0.0.1:25384/#second"' in page.read_text()
    assert os.name != "posix" or page.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", ["state", "page"])
def test_a_damaged_project_is_told_as_such(tmp_path, monkeypatch, damage):
    path = make(tmp_path)
    with served(path) as server:
        assert server.client().link(1, 0, 0, 0, 2).status == 201
    if damage == "state":
        run_sql(path, "UPDATE stream SET state = substr(state, 1, 20) WHERE pair = 1")
        with served(path) as server:
            answer = server.client().ask("GET", "/api/pairs/1")
            assert answer.status == 500, answer.body
            assert f"`alignkit project log {path} --check`" in answer.json["message"]
        return
    with closing(sqlite3.connect(path)) as conn:
        where = "SELECT rootpage FROM sqlite_master WHERE name = 'pair_text'"
        (root,), (size,) = (conn.execute(q).fetchone() for q in (where, "PRAGMA page_size"))
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(path, "rb+") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    opened, connect = [], sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *a, **k: opened.append(connect(*a, **k)) or opened[-1]
    )
    refuses(DamagedProject, "--check", Store.open, path, serve=True)  # a server does not start
    assert opened
    for conn in opened:
        refuses(sqlite3.ProgrammingError, "closed", conn.execute, "SELECT 1")


def test_a_model_that_cannot_be_used_ends_the_server(tmp_path):
    plan = SuggestionPlan("model", write(tmp_path, "wrong.model", "no model"))
    job, none = Job(make(tmp_path), annotator="anna"), SuggestionPlan("none")
    notes, ended = [], threading.Event()
    opening = Opening(job, plan, fallback=none, note=notes.append)
    opening.start(ended.set)
    assert ended.wait(300)  # a busy machine takes more than 30 s to load what it needs
    opening.stop()
    assert "not a model" in str(opening.problem)
    assert not notes


def loaded(page, assets):
    """Return the compressed sizes of what a browser loads with a page, without late imports."""
    sizes, wanted = {}, [page]
    while wanted:
        name = wanted.pop()
        if name not in sizes:
            sizes[name] = len(assets[name].compressed)
            body = assets[name].body.decode()
            wanted += re.findall(r"/page/([\w.-]+)", body)
            wanted += re.findall(
                r"""^(?:import|export|\}).* from ["']\./([\w.-]+)["']""", body, re.M
            )
    return sizes


def test_each_page_is_at_most_100_kilobytes():
    assets = load_assets()
    pages = [name for name in assets if name.endswith(".html")]
    assert "index.html" in pages
    for page in pages:
        sizes = loaded(page, assets)
        assert len(sizes) > 3
        assert sum(sizes.values()) <= 100_000, (page, sizes)
