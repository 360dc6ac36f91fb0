"""Pairs are adjudicated when all votes are in, those first where most is at stake."""

import pytest
from adjudicating import LEFT, RIGHT, Bench, case, drawn
from annotation import Tab, done, project, sent

from alignkit import Corpus, SentencePair
from alignkit.annotate.adjudication.adjudication_queue import Docket
from alignkit.annotate.adjudication.gold import decide, settle
from alignkit.annotate.project.events import Request, read_why
from alignkit.annotate.project.names import ADJUDICATOR, NotReady, Visitor
from alignkit.annotate.server.sessions import admit


def test_a_pair_waits_for_all_who_have_it(tmp_path):
    store = case(tmp_path, {"anna": LEFT, "ben": RIGHT}, pairs=2)
    drawn(store, 2, "anna", LEFT)
    drawn(store, 2, "ben", RIGHT, done=False)
    bench = Bench(store, 2)
    assert [row.k for row in bench.docket.rows()] == [1]
    with pytest.raises(NotReady, match=r"'p2' is not ready.*: ben"):
        _ = bench.view
    Tab(store, 2, "ben").send(done())
    assert [row.k for row in bench.docket.rows()] == [1, 2]
    event = sent("open", rev=1, suggestions=False)
    bench.send(event)
    Tab(store, 2, "ben").send(done(True))
    request = Request(0, 1, [event])
    assert not decide(store, 2, "carla", request)[1]  # what is stored is acknowledged
    with pytest.raises(NotReady):
        decide(store, 2, "carla", Request(0, 1, [sent("open", rev=1, suggestions=False)]))


def test_where_nothing_is_assigned_those_who_annotated_vote(tmp_path):
    store = project(tmp_path, Corpus([SentencePair("p1", ["a"], ["b"])]), annotator=None)
    for name in ("anna", "ben", "auto"):
        store.enrol(name)
    store.set_suggestions("auto", [(1, [(0, 0, None, 2)])])
    admit(store, Visitor("carla", ADJUDICATOR))
    drawn(store, 1, "auto", {(0, 0): 2})
    drawn(store, 1, "anna", {(0, 0): 2})
    docket = Docket(store)
    assert docket.rows() == []
    drawn(store, 1, "ben", {(0, 0): 1}, done=False)
    assert docket.rows() == []
    Tab(store, 1, "ben").send(done())
    assert [(row.k, row.votes, row.left, row.stake) for row in docket.rows()] == [(1, 2, 1, 1)]


def test_pairs_come_by_what_is_at_stake(tmp_path):
    store = case(tmp_path, {"anna": LEFT, "ben": LEFT}, pairs=4)
    for k, other in ((2, {(0, 0): 2}), (3, RIGHT)):
        drawn(store, k, "anna", LEFT)
        drawn(store, k, "ben", other)
    docket = Docket(store)
    rows = docket.rows()
    assert [row.k for row in rows] == [2, 3, 1] or rows[0].stake == rows[1].stake
    assert [row.stake for row in rows] == sorted((row.stake for row in rows), reverse=True)
    assert (rows[-1].k, rows[-1].stake, rows[-1].state) == (1, 0, "agreed")
    order, bench = [row.k for row in rows], Bench(store, 1)
    bench.open()
    bench.done()
    assert [row.k for row in docket.rows()] == order  # work does not move pairs
    assert docket.place(order[0])[2:] == (1, None, order[1], order[1])
    assert docket.place(order[1])[2:] == (2, order[0], order[2], order[0])
    assert docket.listed(1, 1).pairs[0].k == order[1]
    assert (docket.listed().total, docket.listed().done, docket.listed().project) == (3, 1, 4)

    def found(query="", only="", actor="carla"):
        part = docket.listed(0, 9, query, only, actor)
        assert (part.total, part.done, part.listed) == (3, 1, len(part.pairs))
        return [row.k for row in part.pairs]

    Tab(store, 2, "anna").send(sent("comment", key="", before="", after="see p1"))
    Tab(store, 3, "ben").send(sent("judge", flags=[[], ["unsure"]]))
    assert (found(), found("p1"), found("p4")) == (order, [1, 2], [])
    assert (found(only="done"), found(only="open")) == ([1], order[:2])
    assert (found(only="flagged"), found(only="commented")) == ([3], [2])
    assert (found(only="mine"), found(only="mine", actor="anna")) == ([1], [])


def test_pairs_on_which_all_agree_are_settled_at_once(tmp_path):
    store = case(tmp_path, {"anna": LEFT, "ben": RIGHT}, pairs=4)
    for k in (2, 3):
        for name in ("anna", "ben"):
            drawn(store, k, name, LEFT if k == 2 else {})
    bench, other = Bench(store, 2), Bench(store, 3)
    assert settle(store, [1, 2, 3, 4], "carla") == 2  # one differs, one is not ready
    assert (bench.gold, {read_why(why).why for why in bench.whys.values()}) == (LEFT, {"agreed"})
    assert (bench.view.state.done, other.view.state.done, other.gold) == (True, True, {})
    assert {row.k: row.state for row in bench.docket.rows()} == {1: "open", 2: "done", 3: "done"}
    assert settle(store, [1, 2, 3, 4], "carla") == 0


def test_rewrites_that_change_later_reopen_their_pair(tmp_path):
    store = case(tmp_path, {"anna": LEFT, "ben": LEFT}, pairs=2)
    bench, tab = Bench(store), Tab(store, 1, "anna")

    def rewrite(key, before, after):
        tab.send(sent("rewrite", rewrites=[[key, before, after]]))
        return bench.docket.rows()[0].state

    def look_again():
        bench.done(after=False)
        bench.done()
        return bench.docket.rows()[0].state

    first, second = ["a b", "w x"], ["a b c", "w x"]
    bench.open()
    bench.done()
    assert (bench.docket.rows()[0].state, bench.view.changed) == ("done", False)
    assert rewrite("r1", None, first) == "reopened"
    assert (bench.view.changed, bench.view.done) == (True, 0)
    assert rewrite("r1", first, None) == "done"  # there and back
    assert rewrite("r1", None, first) == "reopened"
    assert look_again() == "done"  # it was seen, and not taken
    assert rewrite("r1", first, second) == "reopened"
    bench.send(sent("rewrite", rewrites=[["r1", None, second]]))
    assert bench.docket.rows()[0].state == "done"
    assert rewrite("r1", second, None) == "reopened"  # gold has what its author took back
    assert (look_again(), Docket(store).rows()) == ("done", bench.docket.rows())
