"""Nothing is done that lacks what annotators agree on: neither what came late, nor by undo."""

import pytest
from adjudicating import LEFT, RIGHT, Bench, case, row, states
from annotation import Tab, ask, cell, sent
from refusals import refuses

from alignkit import Alignment, Annotation, Corpus, SentencePair
from alignkit.annotate.adjudication.adjudication_queue import settled_pairs
from alignkit.annotate.adjudication.gold import settle
from alignkit.annotate.adjudication.provenance import provenance
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.project.events import JUDGMENT
from alignkit.annotate.project.names import BadEvent
from alignkit.annotate.project.replay import replay

BOTH = {"anna": {(0, 0): 2}, "ben": {(0, 0): 2}}
LATE = {
    "a link": ("edit", {"how": "cell", "cells": [[1, 1, 0, 2]]}),
    "a null": ("edit", {"how": "cell", "cells": [[1, -1, 0, 1]]}),
    "a judgment": ("judge", {"label": ["", "paraphrase"]}),
    "flags": ("judge", {"flags": [[], ["unsure"]]}),
}
VALUES = {
    "a link": {(1, 1): 2},
    "a null": {(1, -1): 1},
    "a judgment": {JUDGMENT: ("paraphrase",)},
    "flags": {JUDGMENT: ("", "unsure")},
}


def done_on(store):
    return ask(store, settled_pairs, [1]) == {1}


def add(store, *events, names=("anna", "ben")):
    for name in names:
        Tab(store, 1, name).send(*(sent(kind, **data) for kind, data in events))


@pytest.mark.parametrize("what", LATE)
@pytest.mark.parametrize("way", ["settle", "open", "done"])
def test_what_all_come_to_agree_on_reopens_a_pair_and_is_written_down(tmp_path, what, way):
    store = case(tmp_path, BOTH)
    bench = Bench(store)
    assert (settle(store, [1], "carla"), (row(bench), done_on(store))) == (1, (("done", 0), True))
    add(store, LATE[what], names=["anna"])
    assert row(bench) == ("reopened", 1)
    add(store, LATE[what], names=["ben"])
    assert ((row(bench), done_on(store)), bench.view.done) == ((("agreed", 0), False), 0)
    {"settle": lambda: settle(store, [1], "carla"), "open": bench.open, "done": bench.done}[way]()
    assert bench.gold == {(0, 0): 2, **VALUES[what]}
    assert (row(bench), bench.view.state.done, done_on(store)) == (("done", 0), True, True)
    lines = [(line["why"], line["adjudicator"]) for line in provenance(store, done=True)]
    assert (lines, settle(store, [1], "carla")) == ([("agreed", "carla")] * 2, 0)
    assert not replay(store).differences


def test_what_a_majority_comes_to_share_is_written_down(tmp_path):
    store = case(tmp_path, {**BOTH, "dora": {(0, 0): 2}}, majority=True)
    bench = Bench(store)
    settle(store, [1], "carla")
    add(store, LATE["a link"], names=["anna"])
    assert row(bench) == ("done", 0)  # two of three have no link, and gold has none
    add(store, LATE["a link"], names=["ben"])
    assert (row(bench), settle(store, [1], "carla")) == (("agreed", 0), 1)
    assert bench.gold == {(0, 0): 2, (1, 1): 2}


def test_what_a_file_takes_from_gold_comes_back_where_all_agree(tmp_path):
    store = case(tmp_path, {"anna": LEFT, "ben": LEFT})
    bench = Bench(store)
    settle(store, [1], "carla")
    held = {"gold": Annotation(Alignment.parse("0-0 1-1"))}
    pair = SentencePair("p1", ["a", "b", "c", "d"], ["w", "x", "y", "z"], held)
    import_pairs(store, Corpus([pair]), holds=frozenset({"alignment"}))
    assert (bench.gold, row(bench)) == ({(0, 0): 2, (1, 1): 2}, ("agreed", 0))
    assert (settle(store, [1], "carla"), (bench.gold, row(bench))) == (1, (LEFT, ("done", 0)))


def test_rewrites_that_changed_are_looked_at_before_the_pair_is_settled(tmp_path):
    store = case(tmp_path, BOTH)
    settle(store, [1], "carla")
    add(store, LATE["a link"])
    add(store, ("rewrite", {"rewrites": [["r1", None, ["a b", "w x"]]]}), names=["anna"])
    assert row(Bench(store)) == ("reopened", 0)


def test_redo_marks_no_pair_done_on_which_votes_have_changed(tmp_path):
    store = case(tmp_path, {"anna": LEFT, "ben": RIGHT})
    bench = Bench(store).settled("ben")
    bench.back()
    assert not bench.view.state.done
    tab = Tab(store, 1, "anna")
    tab.send(cell(1, 1, 2, 1), cell(0, 1, 0, 1))
    refuses(BadEvent, "2 differences are still open", bench.back, "redo")
    assert not bench.view.state.done
    tab.send(cell(1, 1, 1, 2), cell(0, 1, 1, 0))
    bench.back("redo")  # they are as they were
    assert (bench.view.state.done, row(bench)) == (True, ("done", 0))
    assert not replay(store).differences


@pytest.mark.parametrize("kind", ["undo", "redo"])
def test_neither_marks_a_pair_done_that_lacks_what_all_agree_on(tmp_path, kind):
    store = case(tmp_path, BOTH)
    bench = Bench(store)
    bench.open(), bench.done()
    bench.back() if kind == "redo" else bench.done(after=False)
    add(store, LATE["a link"])
    refuses(BadEvent, "all agree on", bench.back, kind)
    bench.done()
    assert bench.gold == {(0, 0): 2, (1, 1): 2}
    assert states(bench) == {(0, 0): "agreed", (1, 1): "agreed"}
