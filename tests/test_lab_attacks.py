"""What hostile people tried on a lab, and what stops them."""

import json
import re
import socket
import threading
import time
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

pytest.importorskip("starlette", reason="needs the extra [annotate]")

from annotation import small_corpus
from lab_server import CARLA, Person, password, serving, until
from refusals import refuses

from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.creation import create_project
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.lab import passwords, schema, sessions, tokens
from alignkit.annotate.lab import server as lab_server
from alignkit.annotate.lab.bodies import Draft
from alignkit.annotate.lab.desks import Desks
from alignkit.annotate.lab.steps import LabStep
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.server import answers, listening, worker
from alignkit.annotate.server import serving as servers
from alignkit.annotate.server.assets import PAGE
from alignkit.annotate.server.child import Job
from alignkit.annotate.server.desk import Desk
from alignkit.annotate.server.guidelines_page import render_guidelines
from alignkit.annotate.server.security import RefusedError
from alignkit.model.alignment import Alignment
from alignkit.model.annotation import Annotation
from alignkit.model.sentence_pair import SentencePair

NEW = "x" * 12


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "COST", (2, 1, 1))
        with serving(tmp_path_factory.mktemp("lab")) as server:
            server.slug = server.project(corpus=small_corpus(3, {}))
            yield server


def invite(server, name, slug):
    link = server.lab.links.create("invite", name, CARLA, project=slug)
    server.lab.links.use(link.token, password(name), address="192.0.2.1")


def test_who_is_added_to_a_project_is_not_taken_over(server):
    """An owner can add anybody; only who was invited there, and may do no more, gets a link."""
    olga, place = server.of("olga"), f"projects/{server.slug}"
    for name in ("max", "zoe"):  # of no project so far
        olga.got("PUT", f"{place}/people/{name}", {"role": "reader"})
        olga.got("POST", f"{place}/links", {"name": name, "kind": "reset"}, 403)
        olga.got("DELETE", f"{place}/people/{name}/sessions", status=403)
    link = server.lab.links.create("reset", "zoe", CARLA)
    olga.got("DELETE", f"{place}/links/{link.id}", status=403)
    invite(server, "nils", server.slug)
    olga.got("POST", f"{place}/links", {"name": "nils", "kind": "reset"}, 201)
    server.lab.accounts.change("nils", CARLA, may_create=True)
    olga.got("POST", f"{place}/links", {"name": "nils", "kind": "reset"}, 403)


def test_rights_that_end_while_a_body_comes_are_not_used(server, monkeypatch):
    slug = server.project("Slow")
    invite(server, "mona", slug)
    mona, read = Person(server, "mona"), lab_server.security.read_json
    body = {"name": "T", "project": slug}

    async def slow(request):
        sent = await read(request)
        server.lab.accounts.change("mona", CARLA, state="closed")
        return sent

    monkeypatch.setattr(lab_server.security, "read_json", slow)
    assert mona.got("POST", "me/tokens", body, 401)["error"] == "closed"


def test_a_new_password_ends_all_else_that_lets_somebody_in(server):
    invite(server, "tom", server.slug)
    tom, lab = Person(server, "tom"), server.lab
    token = tom.got("POST", "me/tokens", {"name": "T"}, 201)["token"]
    link, other = lab.links.create("reset", "tom", CARLA).token, Person(server, "tom")
    tom.got("PATCH", "me", {"old": password("tom"), "new": NEW}, 204)
    assert lab.tokens.visitor(token) is lab.links.peek(link) is None
    assert (tom.ask("GET", "me").status_code, other.ask("GET", "me").status_code) == (200, 401)


def test_who_saw_no_votes_may_vote_and_nobody_sees_what_is_not_theirs(server):
    adam, place = server.of("adam"), f"projects/{server.slug}"
    server.lab.projects.remove(server.slug, "adam", CARLA)
    server.lab.projects.add_existing(server.slug, "adam", "adjudicator", True, CARLA)
    olga, plan = server.of("olga"), {"annotators": ["adam", "anna"], "control": 0}
    plan["plan"] = olga.got("POST", f"{place}/assign", {**plan, "dry_run": True})["plan"]
    olga.got("POST", f"{place}/assign", plan)
    adam.got("GET", f"{place}/gold/1", status=404)  # not ready
    opened = {"id": "e1", "kind": "open", "data": {"rev": 1, "suggestions": False}}
    adam.got("POST", f"{place}/pairs/1/events", {"base": 0, "rev": 1, "events": [opened]}, 201)
    done = {"id": "e2", "kind": "done", "data": {"before": False, "after": True}}
    for who, number in (("anna", "e2"), ("adam", "e3")):
        body = {"base": 0, "rev": 1, "events": [{**done, "id": number}]}
        server.of(who).got("POST", f"{place}/pairs/1/events", body, 201)
    body["events"] = [{**done, "id": "e4", "data": {"before": True, "after": False}}]
    adam.got("POST", f"{place}/pairs/1/events", body, 409)  # adam can see anna's vote now
    for at, status in (("gold", 404), ("look", 404), ("x", 422)):
        server.of("anna").got("GET", f"{place}/project?at={at}", status=status)


def test_the_dashboard_does_not_tell_where_projects_are(server):
    two = {name: Alignment.parse("0-0") for name in ("anna", "ben")}
    slug = server.project("Told", small_corpus(2, two))
    rita, path = server.of("rita"), f"projects/{slug}/agreement"
    until(lambda: rita.got("GET", path).get("commands"), 180)  # kernels may be compiled
    text = rita.ask("GET", path).text
    assert "project export told.alignkit" in text
    assert str(server.lab.folder) not in text


def test_texts_stay_out_of_the_audit_log(server):
    olga, place = server.of("olga"), f"projects/{server.slug}"
    etag = olga.got("GET", place)["etag"]
    olga.got("PATCH", place, {"etag": etag, "guidelines": "Of a secret text"})
    assert "secret text" in olga.request("GET", f"/p/{server.slug}/guidelines").text
    lines = olga.ask("GET", f"{place}/log").text
    assert "16 characters" in lines
    assert "secret" not in lines


def test_hostile_guidelines_take_seconds_at_most(tmp_path):
    path, begin = tmp_path / "guidelines.md", time.monotonic()
    for text in ("<!--" * 20_000, "# a\n" * 10_000):
        path.write_text(text)
        render_guidelines(path)
    assert time.monotonic() - begin < 10


def test_a_connection_without_requests_ends(server, monkeypatch):
    monkeypatch.setattr(servers, "_IDLE", 0.05)
    listener, started = listening.listen("127.0.0.1", 0, ""), threading.Event()
    serves = servers.Server(server.app, started.set)
    thread = threading.Thread(target=serves.serve_until_stopped, args=[listener])
    thread.start()
    assert started.wait(10)
    for sent in (b"", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n\r\nG"):
        with socket.create_connection(listener.getsockname(), timeout=10) as slow:
            slow.sendall(sent)
            answer = b""
            try:
                while part := slow.recv(9999):
                    answer += part
            except ConnectionResetError:
                pass
            assert (b" 403 " in answer) == sent.endswith(b"G")
    serves.end()
    thread.join(10)


def test_an_address_does_not_take_all_connections(server, monkeypatch):
    monkeypatch.setattr(servers, "_MOST", 2)
    listener, started = listening.listen("127.0.0.1", 0, ""), threading.Event()
    serves = servers.Server(server.app, started.set, fair=True)
    thread = threading.Thread(target=serves.serve_until_stopped, args=[listener])
    thread.start()
    assert started.wait(10)
    with ExitStack() as opened:
        for count in range(3):
            made = socket.create_connection(listener.getsockname(), timeout=10)
            conn = opened.enter_context(made)
            try:
                conn.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                answer = conn.recv(9999)
            except ConnectionError:
                answer = b""
            assert (b" 403 " in answer) == (count < 2)
    serves.end()
    thread.join(10)


def test_sessions_and_tokens_of_an_account_are_limited(server, monkeypatch):
    monkeypatch.setattr(sessions, "_SESSIONS", 2)
    monkeypatch.setattr(tokens, "_TOKENS", 2)
    browsers = [Person(server, "zoe") for _ in range(4)]
    codes = [browser.ask("GET", "me").status_code for browser in browsers]
    assert sorted(codes[:3]) == [200, 401, 401]
    assert codes[3] == 200
    made = [browsers[3].ask("POST", "me/tokens", {"name": "T"}).status_code for _ in range(3)]
    assert made == [201, 201, 409]


def test_nobody_becomes_known_in_an_archived_project(server):
    projects = server.lab.projects
    row = projects.make("Still", "align", "", CARLA)
    corpus = small_corpus(2, {"auto": Alignment.parse("0-0")})
    create_project(server.lab.project_place(row.key), corpus)
    slug = projects.opened(row.key, CARLA).slug
    row = projects.change(slug, CARLA, state="archived")
    for name, role in (("anna", "annotator"), ("adam", "adjudicator")):
        projects.add_existing(slug, name, role, False, CARLA)
    anna, adam = server.of("anna"), server.of("adam")
    anna.got("GET", f"projects/{slug}/project", status=404)
    anna.got("GET", f"projects/{slug}/queue", status=404)
    assert adam.got("GET", f"projects/{slug}/project?at=gold")["pairs"] == 2
    assert server.desks.get(row).store.project().annotators == ["auto"]


def test_a_removal_that_was_interrupted_can_be_done_again(server, monkeypatch):
    slug = server.project("Cut", small_corpus(2, {}))
    olga, at = server.of("olga"), f"projects/{slug}/people/anna"
    store = server.desks.get(server.lab.projects.get(slug)).store
    assign_pairs(store, ["anna"], control=0)
    with monkeypatch.context() as patch:
        patch.setattr(LabStep, "delete", lambda *_: 1 / 0)
        assert olga.ask("DELETE", at).status_code == 500
    assert store.progress_of_all() == []
    assert olga.got("DELETE", at)["pairs"] == []
    assert server.lab.projects.role("anna", slug) is None


def test_imports_that_wait_for_a_child_are_limited(server, monkeypatch):
    monkeypatch.setattr(server.drafts, "_waiting", threading.BoundedSemaphore(1))
    server.drafts._waiting.acquire()
    draft = SimpleNamespace(draft="0" * 32, etag="1", dry_run=False)
    record = SimpleNamespace(draft=Draft("0" * 32, "1", "", ready=True))
    monkeypatch.setattr(server.drafts._store, "load_unchanged", lambda *_: record)
    with pytest.raises(RefusedError, match="busy") as refused:
        server.drafts.bring_in("anna", draft, "nowhere")
    assert refused.value.status == 429


def test_one_account_does_not_take_all_threads(server, monkeypatch):
    monkeypatch.setattr(lab_server, "_AT_ONCE", 2)
    anna, place = server.of("anna"), f"projects/{server.slug}"
    assert [anna.ask("GET", f"{place}/gold").status_code for _ in range(4)] == [404] * 4
    assert [anna.ask("GET", f"{place}/pairs/999").status_code for _ in range(4)] == [404] * 4
    hold, entered = threading.Event(), threading.Semaphore(0)

    def counts(row):
        entered.release()
        hold.wait(10)

    monkeypatch.setattr(server.desks, "present_counts", counts)
    olga = server.of("olga")
    threads = [threading.Thread(target=olga.ask, args=["GET", place]) for _ in range(2)]
    for thread in threads:
        thread.start()
        assert entered.acquire(timeout=10)
    assert olga.ask("GET", "me").status_code == 429
    assert anna.ask("GET", "me").status_code == 200
    hold.set()
    for thread in threads:
        thread.join(10)
    assert olga.ask("GET", "me").status_code == 200


def test_numbers_that_no_database_holds_are_refused(server):
    opened = {"id": "n1", "kind": "open", "data": {"rev": 1, "suggestions": False}}
    body = {"base": 10**30, "rev": 1, "events": [opened]}
    anna, path = server.of("anna"), f"projects/{server.slug}/pairs/1/events"
    assert anna.ask("POST", path, body).status_code == 422


def test_after_signing_in_nobody_is_sent_to_another_site():
    """The path of `/.//evil.example` is `//evil.example`: pages go to whole URLs."""
    text = (PAGE / "signin.js").read_text(encoding="utf-8")
    assert "? url.href : root" in text
    assert not re.search(r"pathname \+", text)


def test_one_child_of_a_lab_trains_at_a_time(server, tmp_path, monkeypatch):
    others, waited = iter([False, False, True]), []
    monkeypatch.setattr(worker, "lock_alone", lambda _: next(others))
    monkeypatch.setattr(worker, "give_way", lambda: None)
    monkeypatch.setattr(worker.time, "sleep", waited.append)
    for turn, count in ((str(tmp_path / "turn"), 2), ("", 0)):
        waited.clear()
        with worker.turn_of(Job("p", turn=turn)):
            assert len(waited) == count
    opening = server.desks.get(server.lab.projects.get(server.slug)).opening
    assert opening.job.turn == str(server.lab.folder / "training")


def test_the_list_tells_adjudicators_what_needs_them_before_a_project_is_open(server):
    two = {name: Alignment.parse("0-0") for name in ("eins", "zwei")}
    slug = server.project("Ready", small_corpus(3, two))
    row, adam = server.lab.projects.get(slug), server.of("adam")

    def need():
        cards = adam.got("GET", "projects")["projects"]
        return next(card["needs"] for card in cards if card["slug"] == slug)

    assert need() == {"page": "adjudicate", "text": "3 to adjudicate"}
    server.desks.close(row.key)
    assert need() == {"page": "adjudicate", "text": "3 to adjudicate"}
    again = Desks(server.lab, print, lambda: None)
    try:
        until(lambda: again.known_counts(row.key))
        assert again.present_counts(row).ready == 3
    finally:
        again.stop()


def test_a_name_in_capitals_is_the_same_person(server):
    slug = server.project("Case", small_corpus(2, {}))
    olga, at = server.of("olga"), f"projects/{slug}/people"
    olga.got("PUT", f"{at}/%20MAX%20", {"role": "annotator"})
    store = server.desks.get(server.lab.projects.get(slug)).store
    assert store.project().annotators == ["gold", "max"]
    assign_pairs(store, ["max"], control=0)
    assert olga.got("DELETE", f"{at}/MAX")["pairs"] == [1, 2]


@pytest.mark.parametrize("reworded", [False, True], ids=["reopened", "reworded"])
def test_votes_seen_once_are_seen_when_another_reopens_a_pair(server, tmp_path, reworded):
    slug = server.project("Seen", small_corpus(1, {}))
    people, sent = (server.of("anna"), server.of("adam")), iter(range(9))
    server.lab.projects.set_role(slug, "adam", "adjudicator", True, CARLA)
    store = server.desks.get(server.lab.projects.get(slug)).store
    assign_pairs(store, ["anna", "adam"], control=0)

    def turn(person, after, rev=1, base=0):
        data = {"before": not after, "after": after}
        event = {"id": f"{slug}{next(sent)}", "kind": "done", "data": data}
        body = {"base": base, "rev": rev, "events": [event]}
        return person.ask("POST", f"projects/{slug}/pairs/1/events", body).status_code

    assert [turn(person, after=True) for person in people] == [201, 201]
    server.of("adam").got("GET", f"projects/{slug}/gold/1")
    if reworded:
        pairs = [SentencePair("p1", list("abcd"), list("wxyv"))]
        import_pairs(store, pairs, holds=frozenset({"ids", "text"}))
        assert [turn(person, after=True, rev=2, base=2) for person in people] == [201, 201]
    else:
        assert turn(people[0], after=False, base=1) == 201
        assert turn(people[1], after=False, base=1) == 409


def test_names_of_files_fit_into_folders(server):
    max_ = server.of("max")
    draft = max_.got("POST", "drafts", {}, 201)["id"]
    for name, status in (("漢" * 200, 201), ("漢" * 201, 422)):
        max_.got("POST", f"drafts/{draft}/files", {"name": name, "size": 1}, status)
    max_.got("DELETE", f"drafts/{draft}", status=204)


def test_a_concordance_searches_so_many_words(server, monkeypatch):
    monkeypatch.setattr(answers, "_MOST_WORDS", 20)  # of pairs with 8
    slug = server.project("Long", small_corpus(5, {}))
    assign_pairs(server.desks.get(server.lab.projects.get(slug)).store, ["anna"], control=0)
    answer = server.of("anna").got("GET", f"projects/{slug}/concordance?word=a")
    assert (answer["not_annotated"], answer["not_searched"]) == (2, 3)


def test_stored_answers_are_forgotten_after_a_day(server, monkeypatch):
    max_ = server.of("max")
    draft = max_.got("POST", "drafts", {}, 201, idempotency_key="old")["id"]
    max_.got("DELETE", f"drafts/{draft}", status=204)
    now = server.lab.database.now()
    monkeypatch.setattr(server.lab.database, "clock", lambda: now + 24 * 3600)
    server.lab.tidy()
    with server.lab.database.reading() as step:
        assert step.ask(schema.answer).all() == []


def test_hidden_names_are_not_those_of_systems(server):
    system = Annotation(Alignment.parse("0-0"), role="system")
    made = {
        "annotator1": system,
        "yan": Alignment.parse("1-1"),
        "zoe": Annotation(Alignment.parse("2-2"), start="yan"),
    }
    place = f"projects/{server.project('Hidden', small_corpus(1, made))}"
    query = "export?what=all&format=alignkit-jsonl&hidden=1"
    text = server.of("olga").ask("GET", f"{place}/{query}").text
    drawn = json.loads(text.splitlines()[1])["annotations"]
    assert {name: row["sure"] for name, row in drawn.items()} == {
        "annotator1": "0-0",
        "annotator2": "1-1",
        "annotator3": "2-2",
    }
    assert drawn["annotator3"]["start"] == "annotator2"


def test_an_impossible_encoding_is_no_fault_of_ours(server):
    max_, text = server.of("max"), b"a\n"
    draft = max_.got("POST", "drafts", {}, 201)["id"]
    path = f"drafts/{draft}"
    max_.got("POST", f"{path}/files", {"name": "a.txt", "size": len(text)}, 201)
    max_.got("PATCH", path, {"options": {"encoding": "\0"}})
    kind = {"content_type": "application/octet-stream"}
    max_.got("PUT", f"{path}/files/1", text, 204, **kind)
    until(lambda: not max_.got("GET", path)["reading"])
    assert "is not \0" in max_.got("GET", path)["files"][0]["problem"]
    max_.got("DELETE", path, status=204)


def test_a_project_that_is_open_but_not_counted_yet_is_in_the_list(server, monkeypatch):
    desks = server.desks
    read_counts = Desks.read_counts
    seen = []

    def counted(self, project, *more):
        seen.append(self.own_work(project.key, "anna"))
        return read_counts(self, project, *more)

    monkeypatch.setattr(Desks, "read_counts", counted)
    desks.get(server.lab.projects.get(server.project("Uncounted", small_corpus(2, {}))))
    assert seen[0] == ([], None, 0, False)


def test_a_project_whose_counts_cannot_be_read_is_closed_and_opens_again(server, monkeypatch):
    row = server.lab.projects.get(server.slug)
    desk = server.desks.get(row)

    def fail(*_):
        raise ProjectError("the database does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(Desks, "read_counts", fail)
        server.desks.close(row.key)
    assert server.desks.get(row) is not desk


def test_a_project_that_cannot_be_entered_is_unlocked_and_opens_again(server, monkeypatch):
    row = server.lab.projects.get(server.project("Unlocked", small_corpus(2, {})))
    server.desks.close(row.key)

    def fail(*_):
        raise ProjectError("the database does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(Desk, "enter", fail)
        refuses(ProjectError, "does not answer", server.desks.get, row)
    assert server.desks.get(row).store.project().pairs == 2
