"""Votes are compared with each other and with decisions: agreed, open, decided, reopened."""

from itertools import combinations

import pytest
from adjudicating import expected_states
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_phrases import phrase_pairs

from alignkit import Alignment
from alignkit.annotate.adjudication import comparison
from alignkit.annotate.adjudication.comparison import Ballot, GoldState, compare, shared_value
from alignkit.annotate.project.events import JUDGMENT, Why

NAMES = ("anna", "ben", "carla")
VALUES = st.integers(1, 2)
LABELS = st.sampled_from([("paraphrase",), ("partial", "unsure"), ("", "unsure")])
TWO, OTHERS = {"anna": (2, 2), "ben": (1, 1)}, {"anna": (2, 1), "ben": (2, 1), "dora": (0, 1)}
JUDGED = {"anna": (("paraphrase",), 1), "ben": ((), 1)}


@st.composite
def votes(draw, names=NAMES, size=4):
    found = {}
    for name in names[: draw(st.integers(1, len(names)))]:
        place = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
        said = draw(st.dictionaries(place, VALUES, max_size=6))
        for i in range(size):
            if all(link[0] != i for link in said) and draw(st.integers(0, 5)) == 0:
                said[i, -1] = draw(VALUES)
        if draw(st.booleans()):
            said[JUDGMENT] = draw(LABELS)
        found[name] = said
    return found


@st.composite
def decisions(draw, then):
    found = {}
    for place in sorted({place for said in then.values() for place in said}):
        none = () if place == JUDGMENT else 0
        now = {name: said.get(place, none) for name, said in then.items()}
        if draw(st.booleans()):
            agreed = len(set(now.values())) == 1
            value = draw(st.sampled_from(sorted(set(now.values()), key=str)))
            if draw(st.integers(0, 4)) == 0:
                now[draw(st.sampled_from(sorted(now)))] = draw(LABELS if none == () else VALUES)
                agreed = False
            found[place] = value, agreed, now
    return found


def gold_with(decided):
    whys = {
        place: Why(
            "agreed" if agreed else "own", "", {name: (said, 1) for name, said in now.items()}
        )
        for place, (_, agreed, now) in decided.items()
    }
    return GoldState({place: value for place, (value, _, _) in decided.items() if value}, whys)


@given(data=st.data(), majority=st.booleans())
def test_states_are_those_of_the_plain_reference(data, majority):
    said = data.draw(votes())
    decided = data.draw(decisions(said))
    ballots = {name: Ballot(values, 9) for name, values in said.items()}
    items = compare(ballots, gold_with(decided), majority=majority)
    expected = expected_states(said, decided, majority)
    links = {place for place, (value, _, _) in decided.items() if value and -1 not in place}
    nulls = {place for place, (value, _, _) in decided.items() if value and -1 in place}
    for item in items:
        i, j = item.place
        clash = (
            any(link[0] == i or link[1] == j for link in links)
            if -1 in item.place
            else ((i, -1) in nulls or (-1, j) in nulls)
        )
        if item.why is None and clash and expected[item.place] == "agreed":
            assert item.state in ("open", "agreed")  # beside gold it cannot stand, unless it is 0
        else:
            assert (item.place, item.state) == (item.place, expected[item.place])
    assert {item.place for item in items} == set(expected)


def plain_groups(items):
    votes = {item.place: item.votes for item in items}
    groups = {place: {place} for place in votes}
    for place, other in combinations(votes, 2):
        beside = abs(place[0] - other[0]) + abs(place[1] - other[1]) == 1
        alike = (-1 in place) == (-1 in other) and votes[place] == votes[other]
        if beside and alike and JUDGMENT not in (place, other):
            groups[place] |= groups[other]
            groups.update(dict.fromkeys(groups[place], groups[place]))
    return {frozenset(group) for group in groups.values()}


@given(said=votes())
def test_groups_are_neighbours_with_equal_votes(said):
    ballots = {name: Ballot(values) for name, values in said.items()}
    items = [item for item in compare(ballots) if item.open]
    groups = [frozenset(item.place for item in group) for group in comparison.grouped(items)]
    assert (set(groups), len(groups)) == (plain_groups(items), comparison.left_to_decide(items))


def test_a_vote_changed_later_reopens_its_place_and_no_other():
    then = {"anna": {(0, 0): 2, (1, 1): 2}, "ben": {(0, 0): 2, (1, 1): 1}}
    whys = {
        (0, 0): Why("agreed", "", {"anna": (2, 2), "ben": (2, 1)}),
        (1, 1): Why("vote", "ben", {"anna": (2, 2), "ben": (1, 1)}),
    }
    gold = GoldState({(0, 0): 2, (1, 1): 1}, whys)

    def states(said):
        ballots = {name: Ballot(values, 9) for name, values in said.items()}
        return [(item.place, item.state, item.value) for item in compare(ballots, gold)]

    assert states(then) == [((0, 0), "agreed", 2), ((1, 1), "decided", 1)]
    now = {**then, "anna": {(0, 0): 2, (1, 1): 1}}
    assert states(now) == [((0, 0), "agreed", 2), ((1, 1), "reopened", 1)]
    new = {**then, "dora": {(0, 0): 1, (1, 1): 1, (2, 2): 1}}
    assert states(new) == [((0, 0), "reopened", 2), ((1, 1), "decided", 1), ((2, 2), "open", 0)]
    assert states({"ben": then["ben"]}) == states(then)  # who votes no more changes nothing


@pytest.mark.parametrize(
    ("place", "value", "why", "state"),
    [
        ((0, 0), 1, Why("vote", "anna", TWO), "reopened"),
        ((0, 0), 0, Why("vote", "anna", TWO), "reopened"),
        ((0, 0), 2, Why("vote", "ben", TWO), "reopened"),
        ((0, 0), 2, Why("vote", "dora", TWO), "reopened"),
        ((0, 0), 2, Why("agreed", "", TWO), "reopened"),
        ((0, 0), 2, Why("own"), "reopened"),
        ((0, 0), 2, Why("agreed", "", OTHERS), "agreed"),  # by a majority then
        (JUDGMENT, ("paraphrase",), Why("vote", "anna", JUDGED), "decided"),
        (JUDGMENT, ("partial",), Why("vote", "anna", JUDGED), "reopened"),
    ],
)
@pytest.mark.parametrize("majority", [True, False])
def test_a_value_that_its_reason_does_not_give_is_reopened(place, value, why, state, majority):
    ballots = {
        name: Ballot({place: said} if said else {}, seq)
        for name, (said, seq) in (why.votes or TWO).items()
    }
    gold = GoldState({place: value} if value else {}, {place: why})
    items = compare(ballots, gold, majority=majority)
    assert [(item.state, item.value) for item in items] == [(state, value)]


def test_a_majority_is_more_than_half():
    assert shared_value([1, 1, 2], majority=True) == 1
    assert shared_value([1, 1, 2], majority=False) is None
    assert shared_value([1, 1, 2, 2], majority=True) is None
    assert shared_value([], majority=True) is None
    assert shared_value([()], majority=False) == ()


@settings(max_examples=30)
@given(pairs=st.lists(votes(), max_size=3))
def test_stakes_count_the_phrase_pairs_that_not_all_have(pairs):
    ballots = [{name: Ballot(said) for name, said in pair.items()} for pair in pairs]
    expected = []
    for pair in pairs:
        total = 0
        for least in (1, 2):
            links = [
                {p for p, v in said.items() if -1 not in p and v >= least} for said in pair.values()
            ]
            sets = [{box for box, atomic in phrase_pairs(one, 4, 4) if atomic} for one in links]
            total += len(set.union(*sets) - set.intersection(*sets))
        expected.append(total)
    assert comparison.phrases_at_stake(ballots) == expected


def test_the_article_s_pair_has_its_phrase_pairs_at_stake():
    drawn = Alignment.parse("1-2 2-3 3-5 6-6 7-7 7-8 8-9 10-11 11-12 0?0 0?1 4?4 5?4 9?10")
    one = Ballot({link: 1 + sure for link, sure in drawn.items()})
    assert comparison.phrases_at_stake([{"one": one, "none": Ballot({})}]) == [11 + 8]
