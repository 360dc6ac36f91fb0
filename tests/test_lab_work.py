"""Owners assign, move, export, import, back up and create; others get what is theirs alone."""

import io
import json
import re
import zipfile
from pathlib import Path
from uuid import uuid4

import pytest

pytest.importorskip("starlette", reason="needs the extra [annotate]")

import anyio
from annotation import small_corpus
from draft_jobs import do_jobs_here
from lab_server import CARLA, password, serving, until
from test_lab_server import UNKNOWN, assign

from alignkit.annotate.lab import drafting, passwords, transfer
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import LabEncoder
from alignkit.annotate.server.security import RefusedError
from alignkit.io.formats import WRITTEN
from alignkit.io.reading import read_corpus


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setattr(passwords, "COST", (2, 1, 1))
    with serving(tmp_path) as server:
        server.slug = server.project(corpus=small_corpus(8, {}))
        yield server


def event(kind, **data):
    return {"id": str(uuid4()), "kind": kind, "v": 1, "client_at": "", "data": data}


def work(person, slug, k, status=201):
    """Draw a link on a pair, and mark it as done."""
    cells = {"how": "cell", "cells": [[0, 0, 0, 2]]}
    sent = [event("edit", **cells), event("done", before=False, after=True)]
    path = f"projects/{slug}/pairs/{k}/events"
    return person.got("POST", path, {"base": 0, "rev": 1, "events": sent}, status)


def list_of(person, slug):
    return [row["k"] for row in person.got("GET", f"projects/{slug}/queue")["pairs"]]


def test_each_pair_can_be_given_to_a_number_of_annotators(server):
    olga, path = server.of("olga"), f"projects/{server.slug}/assign"
    plan = {"annotators": ["anna", "ben"], "each": 1, "control": 0}
    dry = olga.got("POST", path, {**plan, "dry_run": True})
    assert [x["new"] for x in dry["shares"]] == [4, 4]
    assert (
        "exclude" in olga.got("POST", path, {**plan, "double": 1, "dry_run": True}, 422)["message"]
    )
    assert "1 to 2" in olga.got("POST", path, {**plan, "each": 3, "dry_run": True}, 422)["message"]
    made = olga.got("POST", path, {**plan, "plan": dry["plan"]})
    assert (made["now"]["each"], made["now"]["double"]) == (1, None)
    assert olga.got("POST", path, {"each": None, "dry_run": True})["new"] == 8  # all have all


def test_what_was_shown_is_assigned_and_nothing_else(server):
    olga, path = server.of("olga"), f"projects/{server.slug}/assign"
    assert olga.got("GET", path)["now"] is None
    plan = {"annotators": ["anna", "ben"], "double": 0.5, "control": 0}
    dry = olga.got("POST", path, {**plan, "dry_run": True})
    assert (dry["new"], dry["pairs"], dry["now"]) == (12, 8, None)
    assert [(x["new"], x["alone"], x["shared"]) for x in dry["shares"]] == [(6, 2, 4)] * 2
    other = server.of("carla").got("POST", path, {**plan, "double": 1, "dry_run": True})
    for wrong in (other["plan"], ""):
        assert olga.got("POST", path, {**plan, "plan": wrong}, 409)["error"] == "changed"
    for name in ("rita", "zoe", "nobody"):
        fault = olga.got("POST", path, {"annotators": [name], "dry_run": True}, 422)
        assert (fault["field"], name in fault["message"]) == ("annotators", True)
    made = olga.got("POST", path, {**plan, "plan": dry["plan"]})
    assert made["now"]["double"] == 0.5
    work(server.of("ben"), server.slug, list_of(server.of("ben"), server.slug)[0])
    now = olga.got("GET", path)
    assert [(x["pairs"], x["done"], x["begun"]) for x in now["shares"]] == [(6, 0, 0), (6, 1, 1)]
    everybody = olga.got("POST", path, {"annotators": [], "double": None, "dry_run": True})
    assert everybody["new"] == 4
    assert "trial" in olga.got("POST", path, {"trial": 5, "dry_run": True}, 422)["message"]
    log = olga.got("GET", f"projects/{server.slug}/log")["rows"]
    assert (log[0]["action"], log[0]["actor"]) == ("pairs assigned", "olga")


def test_a_small_project_has_a_control_sample_only_if_its_owner_says_so(server):
    olga, anna, path = server.of("olga"), server.of("anna"), f"projects/{server.slug}/assign"
    assert olga.got("GET", path)["control"] == "ask"
    plan = {"annotators": ["anna", "ben"], "double": 1}
    dry = olga.got("POST", path, {**plan, "dry_run": True})
    fault = olga.got("POST", path, {**plan, "plan": dry["plan"]}, 422)
    assert fault["field"] == "control"
    assert olga.got("GET", path)["now"] is None
    none = olga.got("POST", path, {**plan, "control": 0, "dry_run": True})
    assert (none["hiding"], [x["hidden"] for x in none["shares"]]) == ("", [0, 0])
    some = olga.got("POST", path, {**plan, "control": 0.1, "dry_run": True})
    assert some["hiding"].startswith("1 of 8 pairs")
    made = olga.got("POST", path, {**plan, "control": 0.1, "plan": some["plan"]})
    assert (made["control"], made["now"]["control_least"]) == ("numbers", 0)
    assert sum(x["hidden"] for x in made["shares"]) == 1
    hidden = {x["annotator"]: x["hidden"] for x in made["shares"]}
    assert anna.got("GET", "projects")["projects"][0]["hidden"] == hidden["anna"]


def test_a_large_project_has_the_usual_control_sample_and_one_without_links_has_none(server):
    olga = server.of("olga")
    large = server.project("Large", corpus=small_corpus(300, {}))
    assert olga.got("GET", f"projects/{large}/assign")["control"] == "numbers"
    made = assign(olga, large, annotators=["anna"])
    assert (made["now"]["control"], made["now"]["control_least"]) == (0.1, 150)
    assert made["hiding"].startswith("150 of 300 pairs")
    judged = server.project("Judged", corpus=small_corpus(3, {}), task="judge")
    assert olga.got("GET", f"projects/{judged}/assign")["control"] == "none"
    made = assign(olga, judged, annotators=["anna"])
    assert (made["now"]["control"], made["hiding"]) == (0, "")


def test_pairs_are_moved_and_moved_back_and_their_pages_are_told(server):
    olga, ben, slug = server.of("olga"), server.of("ben"), server.slug
    assign(olga, slug, annotators=["anna", "ben"], double=0, control=0)
    *_, held, last = before = list_of(ben, slug)
    ben.got("GET", f"projects/{slug}/pairs/{last}")
    move = {"from": "ben", "to": None, "count": 2}
    assert olga.got("POST", f"projects/{slug}/move", {**move, "dry_run": True})["count"] == 2
    moved = olga.got("POST", f"projects/{slug}/move", move)
    assert (sorted(moved["pairs"]), moved["text"]) == (sorted([held, last]), "")
    assert work(ben, slug, last, 409)["error"] == "moved"
    assert ben.got("GET", f"projects/{slug}/pairs/{last}", status=409)["error"] == "moved"
    theirs = list_of(server.of("anna"), slug)[0]
    ben.got("GET", f"projects/{slug}/pairs/{theirs}", status=404)
    back = {"from": "", "to": "ben", "count": 2, "pairs": moved["pairs"]}
    assert olga.got("POST", f"projects/{slug}/move", back)["count"] == 2
    assert list_of(ben, slug) == before
    work(ben, slug, last)
    assert olga.got("POST", f"projects/{slug}/move", {**move, "count": 9})["text"].startswith(
        "3 of"
    )
    assert olga.got("POST", f"projects/{slug}/move", {**move, "to": "rita"}, 422)["field"] == "to"


def test_whoever_is_removed_and_comes_back_has_their_pairs_again(server):
    olga, ben, slug = server.of("olga"), server.of("ben"), server.slug
    assign(olga, slug, annotators=["anna", "ben"], double=0, control=0)
    first, *rest = before = list_of(ben, slug)
    work(ben, slug, first)
    gone = olga.got("DELETE", f"projects/{slug}/people/ben")
    assert gone["pairs"] == sorted(rest)
    assert ben.got("GET", f"projects/{slug}/queue", status=404) == UNKNOWN
    olga.got("PUT", f"projects/{slug}/people/ben", {"role": "annotator"})
    back = {"from": "", "to": "ben", "count": len(rest), "pairs": gone["pairs"]}
    olga.got("POST", f"projects/{slug}/move", back)
    assert list_of(ben, slug) == before


def test_done_means_the_same_before_and_after_adjudication(server):
    """A pair is done when all of its annotators have finished it, or its gold is."""
    slug, olga, adam = server.slug, server.of("olga"), server.of("adam")
    assign(olga, slug, annotators=["anna", "ben"], double=0.5, control=0)
    shares = {name: set(list_of(server.of(name), slug)) for name in ("anna", "ben")}
    both = sorted(shares["anna"] & shares["ben"])
    alone = sorted(shares["anna"] - shares["ben"])

    def counts(person):
        (card,) = person.got("GET", "projects")["projects"]
        return card["done"], card["decided"]

    def decide(k):
        adam.got("GET", f"projects/{slug}/project?at=gold")
        adam.got("GET", f"projects/{slug}/gold/{k}")
        sent = {"base": 0, "rev": 1, "events": [event("done", before=False, after=True)]}
        adam.got("POST", f"projects/{slug}/gold/{k}/events", sent, 201)

    assert counts(olga) == (0, 0)
    work(server.of("anna"), slug, both[0])
    assert counts(olga) == (0, 0)  # ben has it, too
    work(server.of("ben"), slug, both[0])
    work(server.of("anna"), slug, alone[0])
    assert counts(olga) == counts(server.of("rita")) == (2, 0)
    decide(both[0])
    assert counts(olga) == (2, 1)
    decide(alone[0])
    assert counts(olga) == (2, 2)
    assert counts(server.of("anna")) == (2, None)  # her own
    row = next(row for row in server.lab.projects.rows() if row.slug == slug)
    server.desks.close(row.key)
    assert next(row for row in server.lab.projects.rows() if row.slug == slug).done == 2


def test_downloaded_files_have_endings(server):
    slug, olga, anna = server.slug, server.of("olga"), server.of("anna")
    assign(olga, slug, annotators=["anna"], double=0, control=0)
    work(anna, slug, 1)
    for format in WRITTEN:
        path = f"projects/{slug}/export?what=anna&format={format}"
        answer = olga.ask("GET", path)
        assert answer.status_code == 200, (format, answer.text)
        name = re.search('filename="(.*)"', answer.headers["content-disposition"])[1]
        assert re.fullmatch(r"news\.(xml|jsonl|json|align|wa|A3|tsv|txt|zip)", name), name
        inner = [name]
        if name.endswith(".zip"):
            inner = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
        if format != "blinker":  # whose own files have none
            assert all("." in Path(each).name for each in inner), inner
        plan = olga.got("GET", f"{path}&dry_run=true")
        assert all("." in each for each, _ in plan["files"]), plan
        assert not plan["files"][0][0].endswith(".source")


def annotators_of(answer, folder):
    """Return who annotates the pairs of a downloaded corpus, by pair."""
    path = folder / f"{uuid4()}.jsonl"
    path.write_bytes(answer.content)
    return {pair.id: set(pair.annotations) for pair in read_corpus(path)}


def test_each_role_exports_what_is_theirs(server, tmp_path):
    slug, olga, adam = server.slug, server.of("olga"), server.of("adam")
    assign(olga, slug, annotators=["anna", "ben"], double=1, control=0)
    for name, pairs in {"anna": (1, 2), "ben": (1, 3)}.items():
        for k in pairs:
            work(server.of(name), slug, k)
    path = f"projects/{slug}/export"
    plan = olga.got("GET", f"{path}?what=gold&dry_run=true")
    assert (plan["files"], plan["message"]) == ([], "No gold yet: 1 pair can be adjudicated.")
    assert plan["backup"] > 1000
    olga.got("GET", path, status=422)
    adam.got("GET", f"projects/{slug}/project?at=gold")
    adam.got("GET", f"projects/{slug}/gold/1")
    sent = {"base": 0, "rev": 1, "events": [event("done", before=False, after=True)]}
    adam.got("POST", f"projects/{slug}/gold/1/events", sent, 201)
    all_pairs = {"p1": {"anna", "ben", "gold"}, "p2": {"anna"}, "p3": {"ben"}}
    for name, what, wanted in (
        ("anna", "anna", {"p1": {"anna"}, "p2": {"anna"}}),
        ("anna", "ben", None),
        ("anna", "all", None),
        ("anna", "gold", None),
        ("rita", "gold", {"p1": {"gold"}}),
        ("rita", "all", None),
        ("rita", "anna", None),
        ("olga", "all", all_pairs),
        ("olga", "ben", {"p1": {"ben"}, "p3": {"ben"}}),
        ("olga", "nobody", None),
        ("adam", "all", {"p1": {"anna", "ben", "gold"}}),
        ("adam", "ben", {"p1": {"ben"}}),
        ("adam", "gold", {"p1": {"gold"}}),
        ("zoe", "gold", None),
    ):
        answer = server.of(name).ask("GET", f"{path}?what={what}")
        if wanted is None:
            assert (answer.status_code, answer.json()) == (404, UNKNOWN), (name, what)
        else:
            assert annotators_of(answer, tmp_path) == wanted, (name, what)
            assert answer.headers["content-disposition"] == 'attachment; filename="news.jsonl"'
    hidden = olga.ask("GET", f"{path}?what=all&hidden=true")
    assert annotators_of(hidden, tmp_path)["p1"] == {"annotator1", "annotator2", "gold"}
    dry = olga.got("GET", f"{path}?what=gold&provenance=true&dry_run=true&format=pharaoh")
    packed = olga.ask("GET", f"{path}?what=gold&provenance=true&format=pharaoh")
    files = zipfile.ZipFile(io.BytesIO(packed.content))
    assert {name for name, _ in dry["files"]} == set(files.namelist()) - {"NOT-EXPORTED.txt"}
    assert "anna" in files.read("news.align.provenance.jsonl").decode()
    olga.got("GET", f"{path}?what=all&format=pharaoh", status=422)
    assert olga.got("GET", f"{path}?format=exe", status=422)["field"] == "format"
    etag = olga.got("GET", f"projects/{slug}")["etag"]
    olga.got("PATCH", f"projects/{slug}", {"etag": etag, "blind": True})
    blind = adam.ask("GET", f"{path}?what=all&provenance=true")
    assert not {b"anna", b"adam"} & set(blind.content.replace(b'"', b" ").split())
    adam.got("GET", f"{path}?what=ben", status=403)


def test_an_annotator_named_gold_gets_no_decisions_of_another_gold_standard(server):
    slug, olga, adam = server.slug, server.of("olga"), server.of("adam")
    link = server.lab.links.create("invite", "gold", CARLA)
    server.lab.links.use(link.token, password("gold"), address="")
    row = server.lab.projects.get(slug)
    server.desks.get(row).store.settings(Setting(gold="final"))
    server.lab.projects.add_existing(slug, "gold", "annotator", False, CARLA)
    names = ["anna", "ben", "gold"]
    assign(olga, slug, annotators=names, control=0)
    for name in names:
        work(server.of(name), slug, 1)
    adam.got("GET", f"projects/{slug}/project?at=gold")
    adam.got("GET", f"projects/{slug}/gold/1")
    sent = {"base": 0, "rev": 1, "events": [event("done", before=False, after=True)]}
    adam.got("POST", f"projects/{slug}/gold/1/events", sent, 201)
    path = f"projects/{slug}/export?what=gold&provenance=true&dry_run=true"
    assert len(olga.got("GET", path)["files"]) == 2
    own = server.of("gold").got("GET", path)
    assert [name for name, _ in own["files"]] == ["news.jsonl"]


def test_the_log_is_read_in_parts_and_adjudicators_see_what_all_have_done(server):
    slug, olga = server.slug, server.of("olga")
    assign(olga, slug, annotators=["anna", "ben"], double=1, control=0)
    for name in ("anna", "ben"):
        work(server.of(name), slug, 1)
    work(server.of("anna"), slug, 2)
    lines, after = [], 0
    while part := olga.ask("GET", f"projects/{slug}/events?after={after}&limit=5").text:
        lines += map(json.loads, part.splitlines())
        after = lines[-1]["n"]
    assert [line["n"] for line in lines] == list(range(1, len(lines) + 1))
    assert {line.get("k", 0) for line in lines} == {0, 1, 2}
    seen = server.of("adam").ask("GET", f"projects/{slug}/events?limit=5000")
    assert {json.loads(line)["k"] for line in seen.text.splitlines()} == {1}
    assert int(seen.headers["x-last-n"]) == after


def test_owners_who_annotate_see_no_votes_on_their_open_pairs(server):
    slug, olga = server.slug, server.of("olga")
    (row,) = (
        x for x in olga.got("GET", f"projects/{slug}/people")["people"] if x["name"] == "olga"
    )
    new = {"role": "owner", "annotates": True, "etag": row["etag"]}
    olga.got("PUT", f"projects/{slug}/people/olga", new)
    assign(olga, slug, annotators=["anna", "olga"], double=1, control=0)
    work(server.of("anna"), slug, 1)
    path = f"projects/{slug}/events?limit=5000"
    votes = [json.loads(line) for line in olga.ask("GET", path).text.splitlines()]
    assert 1 not in {event.get("k", 0) for event in votes}
    work(olga, slug, 1)
    votes = [json.loads(line) for line in olga.ask("GET", path).text.splitlines()]
    assert {event["annotator"] for event in votes if event.get("k") == 1} == {"anna", "olga"}


def test_a_backup_is_the_project_and_two_downloads_are_enough(server, tmp_path):
    slug, olga = server.slug, server.of("olga")
    answer = olga.ask("GET", f"projects/{slug}/backup")
    (tmp_path / "b.alignkit").write_bytes(answer.content)
    with Store.open(str(tmp_path / "b.alignkit")) as copy:
        assert not replay(copy).differences
        assert copy.project().pairs == 8
    assert olga.got("GET", f"projects/{slug}/export?dry_run=true")["last"][1] == "olga"
    for _ in range(2):
        transfer._EXPORTS.acquire()
    try:
        assert olga.ask("GET", f"projects/{slug}/backup").headers["retry-after"] == "1"
    finally:
        transfer._EXPORTS.release(2)


def upload(person, files, project="", **changes):
    """Make a draft of texts by name, and return it when it was read."""
    draft = person.got("POST", "drafts", {"project": project}, 201)
    path = f"drafts/{draft['id']}"
    for name, text in files.items():
        body = text.encode()
        n = person.got("POST", f"{path}/files", {"name": name, "size": len(body)}, 201)["n"]
        kind = {"content_type": "application/octet-stream"}
        person.got("PUT", f"{path}/files/{n}", body, 204, **kind)
    if changes:
        person.got("PATCH", path, changes)
    return until(lambda: (now := person.got("GET", path))["reading"] is False and now)


WORDS = {"n.en": "a b\nc d\n", "n.de": "x y\nz w\n", "n.align": "0-0\n0-1 1-0\n"}


def test_files_become_a_project_with_its_guidelines_or_say_why_not(server):
    person = server.of("max")
    draft = upload(person, WORDS)
    assert (draft["pairs"], draft["annotators"]) == (2, ["n"])
    assert person.got("GET", f"drafts/{draft['id']}/preview/2")["links"] == [[0, 1, 2], [1, 0, 2]]
    assert server.of("carla").got("GET", f"drafts/{draft['id']}", status=404)
    new = {
        "draft": draft["id"],
        "etag": draft["etag"],
        "name": "Mine",
        "guidelines": "# Rules",
        "suggestions": {"kind": "none"},
    }
    assert person.got("POST", "projects", {**new, "etag": "0"}, 409)["error"] == "changed"
    with drafting.alone(draft["id"]):
        assert person.got("POST", "projects", new, 409)["error"] == "busy"
    bad = person.got("POST", "projects", {**new, "gold": ""}, 202)
    until(lambda: person.ask("GET", f"projects/{bad['slug']}").status_code == 404)
    assert person.got("GET", f"drafts/{draft['id']}")["problem"]
    made = person.got("POST", "projects", new, 202)
    assert (made["slug"], made["state"]) == ("mine", "making")
    until(lambda: person.ask("GET", "projects/mine").status_code == 200)
    now = person.got("GET", "projects/mine")
    assert (now["pairs"], now["role"], now["settings"]["guidelines"]) == (2, "owner", "# Rules")
    assert person.got("GET", "drafts")["drafts"] == []


def test_an_import_is_tried_before_it_is_done(server, monkeypatch, tmp_path):
    do_jobs_here(monkeypatch, tmp_path)
    slug, olga = server.slug, server.of("olga")
    pair = {"id": "new", "source": ["e"], "target": ["f"], "annotations": {}}
    text = '{"alignkit": "corpus", "version": 1}\n' + json.dumps(pair) + "\n"
    draft = upload(olga, {"more.jsonl": text}, slug)
    sent = {"draft": draft["id"], "etag": draft["etag"], "add_pairs": True}
    path = f"projects/{slug}/import"
    for dry_run, pairs in ((True, 8), (False, 9)):
        done = olga.got("POST", path, {**sent, "dry_run": dry_run})
        assert dict(map(tuple, done["counts"]))["pairs added"] == 1
        assert olga.got("GET", f"projects/{slug}/project?at=look")["pairs"] == pairs
    other = upload(olga, {"more.jsonl": text}, slug)
    there = f"projects/{server.project('Other')}/import"
    sent |= {"draft": other["id"], "etag": other["etag"]}
    assert olga.got("POST", there, sent, 422)["field"] == "draft"


def test_uploads_that_are_wrong_or_too_large_are_refused(server):
    person, kind = server.of("max"), {"content_type": "application/octet-stream"}
    draft = person.got("POST", "drafts", {}, 201)
    path = f"drafts/{draft['id']}/files"
    person.got("POST", path, {"name": "big.txt", "size": 2**29}, 413)
    for name in ("../x", "a/b/c", ".x", "x\0"):
        person.got("POST", path, {"name": name, "size": 1}, 422)
    n = person.got("POST", path, {"name": "a.txt", "size": 3}, 201)["n"]
    person.got("PUT", f"{path}/{n}", b"abcd", 413, **kind)
    person.got("PUT", f"{path}/{n}", b"ab", 409, **kind)
    person.got("PUT", f"{path}/{n}", b"abc", 415, content_type="text/plain")
    person.got("PUT", f"{path}/x", b"abc", 404, **kind)


class SlowUpload:
    async def stream(self):
        yield b"abc"
        await anyio.sleep(5)
        yield b""


def test_a_slow_upload_ends(monkeypatch):
    async def read():
        return [piece async for piece in drafting._pieces(SlowUpload())]

    monkeypatch.setattr(drafting, "_SOON", 0.05)
    with pytest.raises(RefusedError) as refused:
        anyio.run(read)
    assert refused.value.status == 408


def test_owners_choose_the_encoder_of_the_server(server, monkeypatch):
    person = server.of("max")
    draft = upload(person, WORDS)
    new = {
        "draft": draft["id"],
        "etag": draft["etag"],
        "name": "With an encoder",
        "suggestions": {"kind": "encoder"},
    }
    assert person.got("GET", "me")["encoder"] == ""
    assert person.got("POST", "projects", new, 422)["field"] == "suggestions"
    monkeypatch.setattr(server, "encoder", LabEncoder("/models/e5", 7))
    assert person.got("GET", "me")["encoder"] == "e5"
    path = f"projects/{person.got('POST', 'projects', new, 202)['slug']}"
    until(lambda: person.ask("GET", path).status_code == 200)
    plan = server.encoder.trained(learning=True)
    assert (plan.kind, plan.encoder, plan.encoder_layer) == ("trained", "/models/e5", 7)
    detail = person.got("GET", path)
    assert detail["settings"]["suggestions"].endswith("with the encoder e5")
    for kind, ending in (("trained", "on these pairs"), ("encoder", "with the encoder e5")):
        change = {"etag": person.got("GET", path)["etag"], "suggestions": kind}
        person.got("PATCH", path, change)
        assert person.got("GET", path)["settings"]["suggestions"].endswith(ending)
    monkeypatch.setattr(server, "encoder", None)
    change = {"etag": person.got("GET", path)["etag"], "suggestions": "encoder"}
    assert person.got("PATCH", path, change, 422)["field"] == "suggestions"
