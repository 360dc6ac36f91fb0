"""Where gold was decided here and there, values come with their reasons, and nothing is mixed."""

import pytest
from adjudicating import Bench, case, row, states
from annotation import Tab, cell, cells_of, copy_of, project
from hypothesis import given
from hypothesis import strategies as st

from alignkit.annotate.adjudication.provenance import provenance
from alignkit.annotate.merging import merge_project, with_both
from alignkit.annotate.project.events import JUDGMENT, Why, read_why, write_why
from alignkit.annotate.project.names import ADJUDICATOR, Visitor
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.state import PairState
from alignkit.annotate.server.sessions import admit

VOTES = {"anna": {(0, 0): 2, (3, 3): 2}, "ben": {(0, 0): 2, (2, 3): 1}}
PLACES = [(0, 0), (0, 1), (1, 0), (1, 1), JUDGMENT]


def adjudicated(tmp_path, votes=VOTES):
    store = case(tmp_path, votes)
    other = copy_of(store, tmp_path)
    admit(other, Visitor("dan", ADJUDICATOR))
    here, there = Bench(store), Bench(other, actor="dan")
    here.open(), there.open()
    return store, other, here, there


def test_places_decided_otherwise_here_and_there_are_reopened(tmp_path):
    store, other, here, there = adjudicated(tmp_path)
    for bench, name in ((here, "anna"), (there, "ben")):
        bench.take((3, 3), name), bench.take((2, 3), name)
        bench.done()
    there.own((0, 1), 2, note="dan's")
    result = merge_project(store, other)
    assert (result.changed, result.both) == (1, 2)
    assert states(here) == {
        (0, 0): "agreed",
        (0, 1): "decided",
        (2, 3): "reopened",
        (3, 3): "reopened",
    }
    assert row(here) == ("reopened", 2)
    assert not replay(store).differences
    assert merge_project(store, other).changed == 0
    here.take((3, 3), "anna"), here.take((2, 3), "anna")
    assert row(here) == ("done", 0)


def test_what_was_decided_there_says_who_did_it_and_when(tmp_path):
    store, other, here, there = adjudicated(tmp_path)
    here.take((3, 3), "anna", note="carla's")
    there.take((2, 3), "ben", note="dan's")
    told = {line["j"]: line for line in provenance(other) if line["i"] == 2}[3]
    merge_project(store, other)
    lines = {(line["i"], line["j"]): line for line in provenance(store)}
    assert (lines[3, 3]["adjudicator"], lines[3, 3]["note"]) == ("carla", "carla's")
    assert (lines[2, 3]["adjudicator"], lines[2, 3]["note"]) == ("dan", "dan's")
    assert (lines[2, 3]["at"][:19], lines[2, 3]["votes"]) == (told["at"][:19], told["votes"])
    assert states(here) == {(0, 0): "agreed", (2, 3): "decided", (3, 3): "decided"}


@pytest.mark.parametrize(("mine", "theirs"), [(2, 0), (0, 2), (2, 1)])
def test_also_where_all_votes_are_alike(tmp_path, mine, theirs):
    store, other, here, there = adjudicated(tmp_path)
    here.own((0, 0), mine, note="carla's"), there.own((0, 0), theirs, note="dan's")
    assert (merge_project(store, other).both, states(here)[0, 0]) == (1, "reopened")
    assert here.gold.get((0, 0), 0) == theirs
    assert read_why(here.whys[0, 0]) == Why("own", note="dan's")


def test_a_word_is_not_null_and_linked_after_a_merge(tmp_path):
    for name, here, there in (
        ("a", cell(1, 2, 0, 2), cell(1, -1, 0, 2)),
        ("b", cell(1, -1, 0, 2), cell(1, 2, 0, 2)),
    ):
        store = project(tmp_path, name=name)
        Tab(store).send(cell(0, 0, 0, 2))
        other = copy_of(store, tmp_path, f"{name} there")
        Tab(store).send(here), Tab(other).send(there)
        merge_project(store, other)
        assert cells_of(store) == {(0, 0): 2, (1, 2): 2}


def test_a_null_that_was_decided_is_reopened_where_its_word_is_linked(tmp_path):
    store, other, here, there = adjudicated(tmp_path)
    here.own((1, -1), 2), there.own((1, 2), 2)
    merge_project(store, other)
    assert (here.gold, states(here)[1, -1]) == ({(0, 0): 2, (1, 2): 2}, "reopened")


@st.composite
def decided(draw):
    state = PairState(seq=1)
    for place in PLACES:
        value = draw(st.integers(0, 2))
        if place == JUDGMENT:
            state.judgment = ("", "paraphrase", "partial")[value]
        elif value:
            state.cells[place] = value
        if draw(st.booleans()):
            said = (state.judgment,) if place == JUDGMENT else value
            votes = {"anna": (said, draw(st.integers(1, 2)))}
            state.whys[place] = write_why(Why(draw(st.sampled_from(["own", "agreed"])), "", votes))
    return state


def held(state, place):
    value = state.judgment if place == JUDGMENT else state.cells.get(place, 0)
    return value, state.whys.get(place)


@given(mine=decided(), old=decided(), theirs=decided())
def test_each_place_is_as_the_rules_say(mine, old, theirs):
    new, both = with_both(mine, old, theirs)
    count = 0
    for place in PLACES:
        here, before, there = (held(state, place) for state in (mine, old, theirs))
        if place == JUDGMENT and not any(JUDGMENT in s.whys for s in (mine, old, theirs)):
            continue  # of annotators: label and flags, each as it was changed
        if there == before or here == before:
            expected = here if there == before else there
        elif here[0] == there[0]:
            expected = here[0], here[1] or there[1]
        else:
            count += 1
            reason = there[1] or here[1]
            expected = there[0], reason and write_why(Why(read_why(reason).why))
        assert held(new, place) == expected
    assert both == count
