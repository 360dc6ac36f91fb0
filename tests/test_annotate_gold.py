"""Adjudicators read votes and write gold: nothing is lost, each link has its reason."""

import json
from collections import Counter

import pytest
from adjudicating import LEFT, RIGHT, Bench, case, drawn, expected_states, row, states, values_of
from annotation import Tab, ask, cell, sent
from annotation_server import make, served
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import json as fast
from refusals import refuses

from alignkit.annotate.adjudication.gold import gold_changes, read_case
from alignkit.annotate.adjudication.pseudonyms import Pseudonyms
from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.project.events import JUDGMENT, Why, read_why, write_why
from alignkit.annotate.project.names import ADJUDICATOR, BadEvent, Conflict
from alignkit.annotate.project.replay import replay


@pytest.fixture
def store(tmp_path):
    return case(tmp_path, {"anna": LEFT, "ben": RIGHT})


@pytest.fixture
def bench(store):
    return Bench(store)


def test_what_all_agree_on_is_written_down_when_the_pair_is_opened(bench):
    assert (bench.gold, [event.kind for event in bench.open().events]) == ({}, ["decide", "open"])
    assert bench.gold == {(0, 0): 2}
    votes = {vote.name: (2, vote.seq) for vote in bench.view.votes}
    assert read_why(bench.whys[0, 0]) == Why("agreed", "", votes)
    assert [event.kind for event in bench.open().events] == ["open"]  # once
    assert states(bench) == {
        (0, 0): "agreed",
        (1, 1): "open",
        (2, 2): "open",
        (2, 3): "open",
        (3, 3): "open",
    }


def test_a_pair_is_done_when_all_is_settled(store, bench):
    bench.open()
    refuses(BadEvent, "4 differences are still open", bench.done)
    bench.take((1, 1), "ben")
    bench.take((2, 2), "anna", note="better so")
    bench.own((2, 3), 0)
    bench.take((3, 3), "ben")
    bench.done()
    assert bench.gold == {(0, 0): 2, (1, 1): 1, (2, 2): 2}
    whys = {place: read_why(text) for place, text in bench.whys.items()}
    assert {place: (why.why, why.as_) for place, why in whys.items()} == {
        (0, 0): ("agreed", ""),
        (1, 1): ("vote", "ben"),
        (2, 2): ("vote", "anna"),
        (2, 3): ("own", ""),
        (3, 3): ("vote", "ben"),
    }
    assert whys[2, 2].note == "better so"
    assert {name: said for name, (said, _) in whys[2, 3].votes.items()} == {"anna": 0, "ben": 1}
    assert row(bench) == ("done", 0)
    assert not replay(store).differences


def test_a_changed_vote_reopens_exactly_its_cells(store, bench):
    before, tab = bench.settled("ben").gold, Tab(store, 1, "anna")
    tab.send(cell(1, 1, 2, 0), cell(0, 1, 0, 1))
    assert {place for place, state in states(bench).items() if state == "reopened"} == {(1, 1)}
    assert (states(bench)[0, 1], bench.gold, row(bench)) == ("open", before, ("reopened", 2))
    bench.take((1, 1), "anna")
    bench.take((0, 1), "ben")
    assert row(bench) == ("done", 0)
    tab.send(cell(1, 1, 0, 2), cell(1, 1, 2, 0))  # there and back
    assert row(bench) == ("done", 0)


def test_two_adjudicators_lose_nothing(store):
    carla, dora = Bench(store), Bench(store, actor="dora")
    carla.open()
    dora.open()
    mine, theirs = carla.decision([(1, 1)], 2, "own"), dora.decision([(1, 1)], 1, "vote", "ben")
    carla.send(mine)
    with pytest.raises(Conflict) as told:
        dora.send(theirs)
    assert [event.actor for event in told.value.events] == ["carla"]
    assert {one.get("field") for one in told.value.conflicts} == {None, "why"}
    assert dora.gold[1, 1] == 2
    dora.take((2, 2), "ben")  # elsewhere they do not meet
    carla.take((3, 3), "anna")
    assert carla.gold[2, 2] == 1
    dora.take((1, 1), "ben")  # now that it is known
    assert carla.gold[1, 1] == 1
    log = [(event.kind, event.actor) for event in store.history(1, "gold")]
    assert Counter(log)["decide", "carla"] == 3  # with what is agreed
    assert carla.send(mine).events is not None  # known, and not done again
    assert carla.gold[1, 1] == 1


def test_who_is_slower_learns_what_was_decided_whatever_the_value(store):
    carla, dora = Bench(store), Bench(store, actor="dora")
    carla.open()
    none = dora.decision([(1, 1)], 0, "own")  # no link: there is not a cell to write
    carla.take((2, 2), "ben")
    same = dora.decision([(2, 2)], 1, "own")  # gold has it already
    carla.take((1, 1), "anna")
    carla.take((2, 2), "anna")
    for late in (none, same):
        with pytest.raises(Conflict, match=r"^changed by carla: ") as told:
            dora.send(late)
        assert {one["field"] for one in told.value.conflicts} >= {"why"}
        assert told.value.events[-1].actor == "carla"
    assert (dora.gold[1, 1], dora.gold[2, 2]) == (2, 2)
    mine = Bench(store)
    mine.seq = carla.seq
    refuses(Conflict, "in another tab", mine.send, sent("decide", **json.loads(bytes(none.data))))


def test_a_link_takes_no_decided_null_away_unseen(tmp_path):
    bench = Bench(case(tmp_path, {"anna": {(1, -1): 2}, "ben": {(1, 1): 2}}))
    bench.open()
    bench.take((1, -1), "anna")
    with pytest.raises(Conflict) as told:
        bench.own((1, 1), 2)
    assert told.value.conflicts == [{"i": 1, "j": -1, "before": 0, "after": 0, "now": 2}]
    both = bench.decision([(1, 1)], 2, "vote", "ben"), bench.decision([(1, -1)], 0, "own")
    data = [json.loads(bytes(one.data)) for one in both]
    bench.send(sent("decide", **{key: data[0][key] + data[1][key] for key in ("cells", "whys")}))
    assert bench.gold == {(1, 1): 2}
    bench.done()


def test_judgments_are_settled_likewise(tmp_path):
    store = case(tmp_path, {"anna": {}, "ben": {}}, pairs=3)
    for name, label in (("anna", "paraphrase"), ("ben", "none")):
        drawn(store, 2, name, {}, judgment=("paraphrase", "unsure"))
        drawn(store, 3, name, {}, judgment=(label,))
    same, other = Bench(store, 2), Bench(store, 3)
    same.open()
    assert same.gold == {JUDGMENT: ("paraphrase", "unsure")}
    same.done()
    other.open()
    refuses(BadEvent, "1 difference is", other.done)
    other.take(JUDGMENT, "ben")
    assert (other.view.state.judgment, other.view.state.flags) == ("none", [])
    other.own(JUDGMENT, ("partial", "unsure"), note="half of it")
    assert other.gold == {JUDGMENT: ("partial", "unsure")}
    refuses(BadEvent, "not in the scheme", other.own, JUDGMENT, ("nonsense",))
    other.done()
    Tab(store, 3, "ben").send(sent("judge", label=["none", "paraphrase"]))
    assert states(other) == {JUDGMENT: "reopened"}
    other.back()  # done
    other.back()
    assert read_why(other.whys[JUDGMENT]).as_ == "ben"
    assert not replay(store).differences


def own(**votes):
    return {"whys": [[1, 1, None, write_why(Why("own", "", votes))]]}


@pytest.mark.parametrize(
    ("kind", "change", "told"),
    [
        ("judge", {"label": ["", "paraphrase"]}, "of adjudicators"),
        ("edit", {"how": "cell", "cells": [[1, 1, 0, 2]]}, "not an event of"),
        ("reject", {"rejected": [[1, 1, 0, 1]]}, "of adjudicators"),
        ("decide", {"whys": []}, "a decision needs a reason"),
        ("decide", {"whys": [[1, 1, None, None]]}, "a decision needs a reason"),
        ("decide", {"cells": [[1, 1, 0, 1], [3, 3, 0, 1]]}, "has no reason"),
        ("decide", {"cells": [[1, 1, 0, 2]]}, "but its reason gives 1"),
        ("decide", {"label": ["", "paraphrase"]}, "has no reason"),
        ("decide", {"cells": [[9, 9, 0, 2]]}, "is not a cell"),
        ("decide", own(anna=(1, 6), ben=(1, 5)), "has changed; load"),
        ("decide", own(anna=(2, 99), ben=(1, 5)), "has changed; load"),
        ("decide", own(zoe=(1, 2)), "has no vote"),
    ],
)
def test_what_gold_cannot_hold_is_refused(store, bench, kind, change, told):
    assert {vote.name: vote.seq for vote in bench.view.votes} == {"anna": 6, "ben": 6}
    decision = json.loads(bytes(bench.decision([(1, 1)], 1, "vote", "ben").data))
    with pytest.raises(BadEvent, match=told):
        bench.send(sent(kind, **(decision if kind == "decide" else {}) | change))
    assert store.history(1, "gold") == []


def test_names_are_hidden_where_the_project_says_so(tmp_path):
    votes = {"anna": LEFT, "ben": RIGHT}
    store = case(tmp_path, votes, pairs=3, blind=True)
    for k in (2, 3):
        for name, links in votes.items():
            drawn(store, k, name, links)
    marks = set()
    for k in (1, 2, 3):
        bench = Bench(store, k)
        bench.open()
        said = bench.view.votes
        assert said == sorted(said, key=lambda vote: vote.id)
        marks.update(vote.id for vote in said)
        bench.take((1, 1), next(vote for vote in said if values_of(vote) == LEFT).name)
        answer = bench.send(sent("open", rev=1, suggestions=False))
        for told in (bench.view, answer, fast.encode([bench.view, answer.events])):
            text = told if isinstance(told, bytes) else fast.encode(told)
            assert not any(name in text for name in (b"anna", b"ben"))
        assert {vote.name for vote in said} == {"vote 1", "vote 2"}
        why = read_why(ask(store, read_case, k).gold.state.whys[1, 1])
        assert why.as_ == "anna"  # the log knows
        assert set(why.votes) == {"anna", "ben"}
    assert len(marks) == 6  # others on each pair
    first, second = Bench(store, 1), Bench(store, 1, "dora")
    late = second.decision([(2, 2)], 2, "vote", second.view.votes[0].id)
    first.own((2, 2), 0)
    with pytest.raises((Conflict, BadEvent)) as refused:
        second.send(late)
    assert b"anna" not in fast.encode([str(refused.value), vars(refused.value)])
    changes = gold_changes(store, 0)
    assert b"anna" not in fast.encode(changes)
    assert changes.votes == [1, 2, 3]
    why = write_why(Why("vote", "v123", {"v123": (2, 1)}))
    with pytest.raises(BadEvent, match="is not an annotator"):
        bench.send(sent("decide", cells=[[2, 2, 0, 2]], whys=[[2, 2, None, why]]))


def test_hidden_votes_are_told_in_no_order_of_names():
    names = ["anna", "ben", "carla"]
    orders = {tuple(Pseudonyms(names, f"project\n{k}").ordered(names)) for k in range(60)}
    assert (len(orders), Pseudonyms(names, "").ordered(names)) == (6, names)


def test_how_links_were_drawn_is_told_and_no_suggestion(tmp_path):
    store = case(tmp_path, {"anna": {}, "ben": {(0, 0): 2}}, pairs=2)
    store.set_suggestions("auto", [(k, [(0, 0, 0.9, 2), (3, 3, 0.8, 2)]) for k in (1, 2)])
    tab = Tab(store, 2, "anna")
    tab.send(sent("open", rev=1, suggestions=True))
    tab.send(sent("edit", how="accept", cells=[[0, 0, 0, 2]]))
    cells, bulk = [[1, 1, 0, 2], [2, 2, 0, 2]], [[1, 1, 0, 1], [2, 2, 0, 1]]
    tab.send(sent("edit", how="accept-all", cells=cells, bulk=bulk))
    tab.send(cell(3, 3, 0, 1))
    tab.send(cell(0, 0, 2, 1))
    tab.back()
    tab.send(sent("done", before=False, after=True, seen=[[2, 2]]))
    drawn(store, 2, "ben", {(0, 0): 2})
    anna, ben = Bench(store, 2).view.votes
    assert {(i, j): how for i, j, _, how, _ in anna.cells} == {
        (0, 0): "singly",
        (1, 1): "bulk",
        (2, 2): "bulk",
        (3, 3): "hand",
    }
    assert (anna.unseen, (anna.shown, ben.shown)) == ([(1, 1)], (True, False))
    assert {how for *_, how, _ in ben.cells} == {"hand"}


@st.composite
def plays(draw):
    place = st.tuples(st.integers(0, 3), st.integers(0, 3))
    links = st.dictionaries(place, st.integers(1, 2), max_size=5)
    votes = {name: draw(links) for name in ("anna", "ben", "carl")[: draw(st.integers(2, 3))]}
    act = st.one_of(
        st.tuples(st.just("take"), st.integers(0, 9), st.integers(0, 2)),
        st.tuples(st.just("own"), st.integers(0, 9), st.integers(0, 2)),
        st.tuples(st.just("change"), place, st.integers(0, 2)),
        st.tuples(st.sampled_from(["undo", "redo", "open", "done"])),
    )
    return votes, draw(st.lists(act, max_size=12))


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(play=plays(), number=st.integers())
def test_gold_is_what_was_decided(tmp_path_factory, play, number):
    votes, acts = play
    store = case(tmp_path_factory.mktemp("play"), votes)
    said = {name: dict(links) for name, links in votes.items()}
    bench = Bench(store)
    decided, done = {}, []  # by place: value, agreed, the votes then; and what was before each step
    undone = []

    def agree():
        new = {
            place: (said["anna"].get(place, 0), True, now(place))
            for place, state in expected_states(said, decided).items()
            if state == "agreed" and place not in decided
        }
        if new:
            done.append(dict(decided)), undone.clear()
            decided.update(new)

    def now(place):
        return {name: links.get(place, 0) for name, links in said.items()}

    def settle(place, value, agreed=False):
        done.append(dict(decided)), undone.clear()
        decided[place] = value, agreed, now(place)

    bench.open(), agree()
    finished = False
    for act, *rest in acts:
        places = sorted(expected_states(said, decided))
        if act in ("take", "own") and places:
            place, name = places[rest[0] % len(places)], sorted(said)[rest[1] % len(said)]
            value = said[name].get(place, 0) if act == "take" else rest[1]
            before = bench.gold, bench.whys
            bench.take(place, name) if act == "take" else bench.own(place, value)
            if (bench.gold, bench.whys) != before:
                settle(place, value)
        elif act == "change":
            (place, value), tab = rest, Tab(store, 1, "ben")
            if said["ben"].get(place, 0) != value:
                tab.send(cell(*place, said["ben"].get(place, 0), value))
                said["ben"] = {**said["ben"], place: value}
                if not value:
                    del said["ben"][place]
        elif act == "undo" and done and not finished:
            undone.append(dict(decided))
            decided = done.pop()
            bench.back()
        elif act == "redo" and undone and not finished:
            done.append(dict(decided))
            decided = undone.pop()
            bench.back("redo")
        elif act == "open":
            bench.open(), agree()
        elif act == "done" and not finished:
            if {"open", "reopened"} & set(expected_states(said, decided).values()):
                refuses(BadEvent, "still open", bench.done)
            else:
                bench.done(), agree()
                finished = True  # a step of undo of its own
        assert bench.gold == {place: value for place, (value, *_) in decided.items() if value}
        assert (set(bench.whys), states(bench)) == (set(decided), expected_states(said, decided))


def test_adjudicators_are_served_what_waits_and_store_what_they_decide(tmp_path):
    with served(make(tmp_path)) as server:
        store = server.opening.opened.store
        assign_pairs(store, ["anna", "ben"], control=0)
        for name, value in (("anna", 2), ("ben", 1)):
            drawn(store, 1, name, {(0, 0): value, (1, 1): 2})
        store.set_suggestions("made", [(1, [(2, 2, 0.9876, 2)])])
        boss, other = (server.visitor(name, ADJUDICATOR) for name in ("carla", "dora"))
        listed = boss.ask("GET", "/api/gold").json
        assert listed["pairs"] == [
            {"k": 1, "id": "p1", "state": "open", "left": 1, "stake": 1, "votes": 2}
        ]
        assert [boss.ask("GET", f"/api/gold/{k}").status for k in (2, 9)] == [404, 404]
        view = boss.ask("GET", "/api/gold/1")
        assert not any(text in view.body for text in (b"suggest", b"0.9876"))
        assert [vote["name"] for vote in view.json["votes"]] == ["anna", "ben"]

        def post(client, kind, base=0, id="x", **data):
            event = {"id": id, "kind": kind, "v": 1, "client_at": "", "data": data}
            body = {"base": base, "rev": 1, "events": [event]}
            return client.ask("POST", "/api/gold/1/events", body)

        assert post(boss, "open", rev=1, suggestions=False).status == 201
        assert post(boss, "open", rev=1, suggestions=False).status == 200
        seqs = {vote["id"]: vote["seq"] for vote in view.json["votes"]}
        votes = {"anna": (2, seqs["anna"]), "ben": (1, seqs["ben"])}
        why, own = write_why(Why("vote", "ben", votes)), write_why(Why("own", "", votes))
        assert post(boss, "edit", id="e", how="cell", cells=[[2, 2, 0, 2]]).status == 422
        told = {"cells": [[0, 0, 0, 1]], "whys": [[0, 0, None, why]]}
        assert post(boss, "decide", id="d", **told).status == 201
        late = post(other, "decide", id="l", cells=[[0, 0, 0, 2]], whys=[[0, 0, None, own]])
        assert (late.status, [event["id"] for event in late.json["events"]][-1]) == (409, "d")
        assert other.ask("GET", "/api/gold/changes?after=0").json["pairs"]["1"]
        assert post(other, "done", id="f", before=False, after=True).status == 201
        assert boss.ask("GET", "/api/gold").json["done"] == 1
