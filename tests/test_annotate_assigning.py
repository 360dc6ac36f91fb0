"""Pairs are assigned by a seed: all of them, evenly, by strata, and what is assigned stays."""

from collections import Counter, defaultdict
from itertools import pairwise, product
from math import ceil, comb, floor

import pytest

pytest.importorskip("msgspec")

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from alignkit.annotate.assignment_draw import draw
from alignkit.annotate.project.project_events import AssignmentPlan
from alignkit.annotate.strata import CONTROL, StratifiedPair, doubt_of, stratum_of

NAMES = ("anna", "ben", "carla", "dora")
PLANS = st.builds(
    AssignmentPlan,
    annotators=st.integers(2, 4).map(lambda n: NAMES[:n]),
    double=st.none() | st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 1.0]),
    trial=st.integers(0, 12),
    seed=st.integers(0, 5),
    stratify=st.sampled_from([(), ("length",), ("genre",), ("length", "genre")]),
    order=st.sampled_from(["hash", "uncertainty", "genre"]),
    control=st.sampled_from([0.0, 0.1, 0.5]),
    least=st.sampled_from([0, 30, 150]),
)


def items_of(count, first=1):
    return [
        StratifiedPair(
            k, f"p{k}", 5 + k * 37 % 41, k * 61 % 97 / 97, {"genre": ("news", "lit")[k % 3 == 0]}
        )
        for k in range(first, first + count)
    ]


def by_pair(rows):
    found = defaultdict(list)
    for row in rows:
        found[row.k].append(row)
    return found


@given(st.integers(1, 300), PLANS)
def test_all_pairs_are_covered_evenly_by_strata_and_in_arms(count, plan):
    items = items_of(count)
    plan, rows = draw(items, plan)
    pairs = by_pair(rows)
    assert sorted(pairs) == [item.k for item in items]
    trial = {row.k for row in rows if row.trial}
    assert len(trial) == min(plan.trial, count)
    for k, own in pairs.items():
        assert len({row.annotator for row in own}) == len(own)
        assert len({(row.arm, row.trial) for row in own}) == 1
        whole = k in trial or plan.double is None
        assert len(own) == len(plan.annotators) if whole else len(own) in (1, 2)
    check_lists(rows, plan)
    check_shares(items, pairs, trial, plan)
    check_control(items, pairs, trial, plan)


def check_lists(rows, plan):
    lists = {name: [row for row in rows if row.annotator == name] for name in plan.annotators}
    order = {}
    for own in lists.values():
        assert [row.place for row in own] == list(range(1, len(own) + 1))
        assert [row.trial for row in own] == sorted((row.trial for row in own), reverse=True)
        for a, b in pairwise(own):
            assert order.setdefault((a.k, b.k), True)
            assert (b.k, a.k) not in order  # the same for all
    sizes = [len(own) for own in lists.values()]
    assert max(sizes) - min(sizes) <= 1


def check_shares(items, pairs, trial, plan):
    strata = defaultdict(list)
    for item in items:
        strata[stratum_of(item, plan.stratify, plan.cuts)].append(item.k)
    for own in strata.values():
        wanted = min(plan.trial, len(items)) * len(own) / len(items)
        assert floor(wanted - 1e-9) <= len(trial.intersection(own)) <= ceil(wanted + 1e-9)
        rest = [k for k in own if k not in trial]
        if plan.double is not None:
            assert abs(sum(len(pairs[k]) > 1 for k in rest) - plan.double * len(rest)) < 1


def check_control(items, pairs, trial, plan):
    arms = {k: own[0].arm for k, own in pairs.items()}
    rest = [k for k in pairs if k not in trial]
    assert all(not arms[k] for k in trial)
    wanted = min(len(rest), max(round(plan.control * len(rest)), plan.least))
    chosen = [k for k in rest if arms[k]]
    assert len(chosen) == (wanted if plan.control else 0)
    counts = Counter(arms.values())
    several = counts["split"] + counts["bare"]
    assert several == min(len(chosen), sum(len(pairs[k]) > 1 for k in rest))
    assert counts["bare"] == several // 3
    strata = defaultdict(list)
    for item in items:
        if item.k not in trial and len(pairs[item.k]) > 1:
            strata[stratum_of(item, CONTROL, plan.cuts)].append(arms[item.k] != "")
    total = sum(map(len, strata.values()))
    assert all(abs(sum(own) - several * len(own) / total) < 1 + 1e-9 for own in strata.values())
    for k, own in pairs.items():
        hidden = sum(not row.shown for row in own)
        half = len(own) // 2
        assert (
            hidden
            in {"split": (half, len(own) - half), "bare": (len(own),), "coin": (0, 1), "": (0,)}[
                arms[k]
            ]
        )
        assert arms[k] != "coin" or len(own) == 1


@given(st.integers(0, 120), st.integers(1, 60), PLANS, st.integers(0, 2), st.booleans())
def test_further_pairs_and_annotators_change_no_earlier_row(count, more, plan, extra, raised):
    first = draw(items_of(count), plan) if count else None
    before = first.rows if first else []
    plan = first.plan if first else plan
    share = 0.75 if raised and plan.double is not None and plan.double < 0.75 else plan.double
    plan = replace(plan, annotators=NAMES[: len(plan.annotators) + extra], double=share)
    items = items_of(count + more)
    plan, rows = draw(items, plan, before)
    assert not {(row.k, row.annotator) for row in before} & {(r.k, r.annotator) for r in rows}
    pairs = by_pair([*before, *rows])
    assert sorted(pairs) == [item.k for item in items]
    last = Counter(row.annotator for row in before)
    for row in rows:
        last[row.annotator] += 1
        assert row.place == last[row.annotator]
    trial = {row.k for row in before if row.trial} if count else {r.k for r in rows if r.trial}
    assert trial == {k for k, own in pairs.items() if own[0].trial}
    for own in pairs.values():
        assert len({(row.arm, row.trial) for row in own}) == 1
        assert own[0].arm != "bare" or not any(row.shown for row in own)
        assert own[0].arm != "" or all(row.shown for row in own)
        assert not own[0].trial or len(own) == len(plan.annotators)
    check_shares_only_grow(items, pairs, trial, plan)
    assert draw(items, plan, [*before, *rows]).rows == []


def check_shares_only_grow(items, pairs, trial, plan):
    strata = defaultdict(list)
    for item in items:
        if item.k not in trial:
            strata[stratum_of(item, plan.stratify, plan.cuts)].append(len(pairs[item.k]))
    for own in strata.values():
        if plan.double is None:
            assert set(own) == {len(plan.annotators)}
        else:
            assert abs(sum(held > 1 for held in own) - plan.double * len(own)) < 1 + 1e-9


def test_a_hundred_and_fifty_pairs_make_a_hundred_that_are_split():
    plan, rows = draw(items_of(1200), AssignmentPlan(("anna", "ben")))
    arms = Counter(own[0].arm for own in by_pair(rows).values())
    assert arms == {"": 1050, "split": 100, "bare": 50}
    arms = Counter(own[0].arm for own in by_pair(draw(items_of(3000), plan).rows).values())
    assert arms == {"": 2700, "split": 200, "bare": 100}


def test_the_coin_is_fair():
    shown = defaultdict(list)
    for seed, double in product(range(6), (None, 0.0)):
        plan = AssignmentPlan(("anna", "ben"), double, seed=seed, control=1)
        for own in by_pair(draw(items_of(300), plan).rows).values():
            shown[own[0].arm].append(own[0].shown)
    for arm, of in (("split", 6 * 200), ("coin", 6 * 300)):
        assert len(shown[arm]) == of
        count = sum(shown[arm])
        tail = sum(comb(of, k) for k in range(min(count, of - count) + 1)) / 2**of
        assert tail > 1e-5, (count, of)


def test_order_is_by_hash_by_uncertainty_or_by_documents():
    items, plan = items_of(60), AssignmentPlan(("anna", "ben"), control=0)

    def listed(order, seed=0):
        rows = draw(items, replace(plan, order=order, seed=seed)).rows
        return [row.k for row in rows if row.annotator == "anna"]

    assert listed("hash") != listed("hash", 1) != sorted(listed("hash", 1))
    doubts = [items[k - 1].doubt for k in listed("uncertainty")]
    assert doubts == sorted(doubts, reverse=True)
    genres = [(items[k - 1].attributes["genre"], k) for k in listed("genre")]
    assert genres == sorted(genres, key=lambda row: (row[0] == "lit", row[1]))


def test_the_seed_decides_in_strata_of_one_pair():
    items = [StratifiedPair(k, f"p{k}", 2, None, {"doc": f"{k}"}) for k in range(60)]
    plan = AssignmentPlan(("anna", "ben"), 0.25, trial=6, stratify=("doc",), control=0)
    trials, shared = set(), set()
    for seed in range(4):
        pairs = by_pair(draw(items, replace(plan, seed=seed)).rows)
        trial = frozenset(k for k, own in pairs.items() if own[0].trial)
        twice = frozenset(k for k, own in pairs.items() if len(own) > 1) - trial
        assert (len(trial), len(twice)) in ((6, 13), (6, 14))
        trials.add(trial), shared.add(twice)
    assert len(trials) == len(shared) == 4


def test_what_is_drawn_of_a_pair_does_not_follow_from_the_others():
    items, plan = items_of(50), AssignmentPlan(("anna",), control=0)
    one = [row.k for row in draw(items, plan).rows]
    few = [row.k for row in draw(items[10:40], plan).rows]
    assert [k for k in one if k in set(few)] == few
    turned = [item._replace(k=51 - item.k) for item in reversed(items)]
    assert [51 - row.k for row in draw(turned, plan).rows] == one


def test_pairs_of_one_id_are_drawn_apart():
    items = [StratifiedPair(k, "same", 10, None, {}) for k in range(1, 201)]
    rows = draw(items, AssignmentPlan(("anna",), 0.0, control=1)).rows
    assert 60 < sum(row.shown for row in rows) < 140
    assert [row.k for row in rows] != list(range(1, 201))


def test_what_was_begun_is_theirs_and_in_no_arm():
    begun = {(k, "anna") for k in range(1, 11)} | {(3, "ben"), (4, "zoe"), (99, "anna")}
    plan = AssignmentPlan(("anna", "ben"), 0.25, trial=5, control=1)
    pairs = by_pair(draw(items_of(40), plan, [], begun).rows)
    for k in range(1, 11):
        assert "anna" in {row.annotator for row in pairs[k]}
        assert not pairs[k][0].trial
        assert all(row.shown and not row.arm for row in pairs[k])
    assert "zoe" not in {row.annotator for own in pairs.values() for row in own}
    assert len(pairs[3]) == 2


def test_doubt_is_the_mean_over_words_of_the_most_doubtful_suggestion():
    cells = [(0, 0, 0.5, 2), (0, 1, 0.9, 2), (1, 1, 0.05, 2), (2, -1, 0.75, 2)]
    # words: source 1, .1, .5, 0; target 1, .2
    assert doubt_of(4, 2, cells) == pytest.approx((1 + 0.1 + 0.5 + 0 + 1 + 0.2) / 6)
    assert (doubt_of(2, 2, [(0, 0, None, 2)]), doubt_of(0, 0, [])) == (0, 0)
