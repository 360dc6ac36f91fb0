"""The training round of a project in a lab: who sets it, who passes it, and what stays hidden."""

import pytest

pytest.importorskip("starlette", reason="needs the extra [annotate]")

from lab_server import serving
from test_annotate_training import CASE, RIGHT, with_gold
from test_lab_server import assign

from alignkit import Alignment, Corpus, SentencePair
from alignkit.annotate.lab import passwords

ROUND = {"gold": "gold", "mark": 0.8, "pairs": ["p1", "p2"]}
EVENT = {"id": "e1", "kind": "edit", "data": {"how": "cell", "cells": [[0, 0, 0, 2]]}}
SENT = {"base": 0, "rev": 1, "events": [EVENT]}


@pytest.fixture(autouse=True, scope="module")
def cheap():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "COST", (2, 1, 1))
        yield


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture
def at(server):
    slug = server.project(corpus=with_gold())
    return f"projects/{slug}"


def answer(person, at, attempt, place, links, status=200, number=1):
    body = {"round": number, "attempt": attempt, "place": place, "links": links}
    return person.got("POST", f"{at}/training/answer", body, status)


def card_of(person, at):
    """Return what the first page of a person shows of a project."""
    cards = person.got("GET", "projects")["projects"]
    return next(card for card in cards if f"projects/{card['slug']}" == at)


def training_of(olga, at, name):
    lines = olga.got("GET", f"{at}/people")["training"]["lines"]
    return next(line for line in lines if line["name"] == name)


def test_an_owner_sets_a_round_and_sees_who_passed(server, at):
    olga = server.of("olga")
    assert olga.got("GET", f"{at}/people")["training"] is None
    assert olga.got("GET", f"{at}/training-round") == {
        "golds": [["gold", 2]],
        "now": None,
        "said": [],
        "mark": 0.8,
    }
    wrong = {**ROUND, "pairs": ["p9"]}
    refused = olga.got("PUT", f"{at}/training-round", wrong, 422)
    assert refused["message"] == "p9: no pair has this id"
    looked = olga.got("PUT", f"{at}/training-round", {**ROUND, "dry_run": True})
    assert (looked["now"], looked["said"]) == (
        None,
        ["Training round: 2 pairs, 4 links; F1 of 80.0% passes."],
    )
    now = olga.got("PUT", f"{at}/training-round", ROUND)["now"]
    assert (now["round"], now["pairs"], now["mark"]) == (1, ["p1", "p2"], 0.8)
    assert olga.got("PUT", f"{at}/training-round", ROUND, 409)["error"] == "changed"
    assert training_of(olga, at, "anna")["state"] == "not begun"
    anna = server.of("anna")
    answer(anna, at, 1, 1, RIGHT)
    shown = training_of(olga, at, "anna")
    assert (shown["state"], shown["done"], shown["f1"]) == ("open", 1, 1.0)
    assert answer(anna, at, 1, 2, RIGHT)["state"] == "passed"
    shown = training_of(olga, at, "anna")
    assert (shown["state"], shown["attempt"], shown["f1"]) == ("passed", 1, 1.0)
    assert shown["at"]
    ended = olga.got("DELETE", f"{at}/training-round")
    assert ended["now"] is None
    olga.got("DELETE", f"{at}/training-round", status=422)
    actions = [row["action"] for row in olga.got("GET", f"{at}/log")["rows"]]
    assert actions[:2] == ["training round ended", "training round"]


def test_work_waits_for_the_training_and_gold_for_the_answer(server, at):
    olga, anna = server.of("olga"), server.of("anna")
    assign(olga, at.removeprefix("projects/"), annotators=["anna"], control=0)
    olga.got("PUT", f"{at}/training-round", ROUND)
    start = anna.got("GET", f"{at}/project?at=pairs")
    assert start["training"] == {"size": 2, "mark": 0.8}
    for path in ("queue", "find", "changes", "pairs/3", "pairs/3/history", "concordance?word=a"):
        refused = anna.got("GET", f"{at}/{path}", status=423)
        assert refused["error"] == "training"
    assert anna.got("POST", f"{at}/pairs/3/events", SENT, 423)["error"] == "training"
    hidden = 0
    for entry in server.entries:
        if entry.method == "GET":
            path = entry.path.format(slug=at[9:], name="anna", id="0", k=1, n=1)
            reply = anna.ask("GET", path)
            assert CASE not in reply.text, path
            hidden += 1
    assert hidden > 20
    assert CASE in str(answer(anna, at, 1, 1, []))
    answer(anna, at, 1, 2, [], 200)
    answer(anna, at, 2, 1, RIGHT)
    answer(anna, at, 2, 2, RIGHT)
    assert anna.got("POST", f"{at}/pairs/3/events", SENT, 201)["seq"] == 1
    assert anna.got("GET", f"{at}/queue")["total"] == 4
    assert card_of(anna, at)["trains"] is False


def test_owners_let_somebody_begin_by_hand(server, at):
    olga, ben = server.of("olga"), server.of("ben")
    olga.got("PUT", f"{at}/training-round", ROUND)
    assert card_of(ben, at)["trains"] is True
    olga.got("PUT", f"{at}/people/ben/training", {"admitted": True})
    shown = training_of(olga, at, "ben")
    assert (shown["state"], shown["by"]) == ("by hand", "olga")
    assert ben.got("GET", f"{at}/project?at=pairs")["training"] is None
    olga.got("PUT", f"{at}/people/ben/training", {"admitted": True}, 422)
    olga.got("PUT", f"{at}/people/rita/training", {"admitted": True}, 422)
    olga.got("PUT", f"{at}/people/ben/training", {"admitted": False})
    assert ben.got("GET", f"{at}/project?at=pairs")["training"] is not None


def test_pairs_that_are_only_for_training_do_not_count_as_open(server):
    gold = Alignment([(0, 0)])
    pairs = [*with_gold(3, 0), SentencePair("t", ["u"], ["v"], {"ref": gold})]
    slug = server.project(corpus=Corpus(pairs))
    olga = server.of("olga")
    card = olga.got("GET", f"projects/{slug}")
    assert (card["pairs"], card["done"]) == (4, 0)
    olga.got("PUT", f"projects/{slug}/training-round", {"gold": "ref"})
    card = olga.got("GET", f"projects/{slug}")
    assert (card["pairs"], card["done"]) == (3, 0)


def test_who_does_not_annotate_has_no_training(server, at):
    olga = server.of("olga")
    olga.got("PUT", f"{at}/training-round", ROUND)
    for name in ("olga", "adam", "rita"):
        assert server.of(name).ask("GET", f"{at}/training").status_code == 404
        assert all(
            line["name"] != name for line in olga.got("GET", f"{at}/people")["training"]["lines"]
        )
    for page in ("gold", "look"):
        assert olga.got("GET", f"{at}/project?at={page}")["training"] is None
