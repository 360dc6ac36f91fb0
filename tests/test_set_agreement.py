"""C of other structures: sets with a sampler of chance, the ready samplers, and the command."""

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from command import PARAPHRASES, made, run
from hypothesis import given
from hypothesis import strategies as st

from alignkit import read_corpus
from alignkit.agreement import EditData, correct_sets, fit_edit_model
from alignkit.agreement.samplers import FlipCells, PlaceSegments, RandomTrees, tree_items
from alignkit.agreement.set_agreement import agree_on_sets, read_sets
from alignkit.errors import OptionError
from alignkit.model.trees import Tree

KUPPER = [{"a", "b"}, {"c"}], [{"a", "c"}, {"c"}]


def uniform(sets, choices):
    """Return a sampler of sets of the same sizes."""
    return lambda unit, k, rng: rng.choice(choices, len(sets[k][unit]), replace=False).tolist()


def test_kupper_and_hafner_by_choices_and_by_a_sampler():
    first, second = [{1, 2}, {3, 4, 5}], [{1, 2}, {3}]
    exact = correct_sets(first, second, choices=6)
    drawn = correct_sets(first, second, sample=uniform((first, second), 6), samples=4000)
    assert abs(drawn.pi0 - exact.pi0) < 4 * drawn.pi0_error
    assert drawn.pi == exact.pi
    assert drawn.pi0_error > 0


@pytest.mark.parametrize("chance", ["choices", "sampler"])
def test_the_example_of_kupper_and_hafner(chance):
    sets = [{10}, {20, 30}, {40}], [{10, 20}, {30}, {40}]
    by = {"choices": 4} if chance == "choices" else {"sample": uniform(sets, 4)}
    result = correct_sets(*sets, **by, normalizer="max")  # Biometrics 45: 2/3, 1/4, 5/9
    assert result.pi == pytest.approx(2 / 3)
    assert abs(result.pi0 - 1 / 4) <= 4 * result.pi0_error + 1e-12
    assert abs(result.C - 5 / 9) <= 4 * result.C_error + 1e-12
    assert (result.pi0_error > 0) == (chance == "sampler")


def test_the_samples_of_a_unit_do_not_depend_on_others():
    last = []
    for start in ([{1}, {2, 3}], [{7, 8}, {6}]):
        whole, part = (
            correct_sets(sets, sets, sample=uniform((sets, sets), 9), samples=50)
            for sets in ([*start, {4}], start)
        )
        last.append(3 * whole.pi0 - 2 * part.pi0)
    assert last[0] == pytest.approx(last[1])


def test_the_order_of_units_changes_nothing():
    sets = [{1}, {2, 3}, {4}, {1}], [{1}, {2}, {4, 5}, {1}]
    turned = [side[::-1] for side in sets]
    before, after = (
        correct_sets(*x, sample=uniform(x, 9), samples=20, confidence=None) for x in (sets, turned)
    )
    assert (before.pi0, before.pi0_error) == pytest.approx((after.pi0, after.pi0_error))


def test_bad_samplers_are_named():
    first, second = KUPPER
    with pytest.raises(OptionError, match="unit 0, annotator 0: TypeError"):
        correct_sets(first, second, sample=lambda *_: [[1]])
    with pytest.raises(OptionError, match="unit 0, annotator 0: ZeroDivisionError"):
        correct_sets(first, second, sample=lambda *_: 1 / 0)
    for choice in ({}, {"choices": 3, "sample": lambda *_: {1}}):
        with pytest.raises(OptionError, match="either"):
            correct_sets(first, second, **choice)


def test_samplers_without_chance():
    first, second = KUPPER
    same = correct_sets(first, second, sample=lambda u, k, _: KUPPER[k][u], samples=10)
    assert "chance-near-one" in same.notes[0]
    apart = correct_sets(
        [{1}] * 30, [{1}] * 30, sample=lambda u, k, rng: {(k, rng.random())}, samples=10
    )
    assert apart.notes == ()  # never the same, though nothing is ever shared
    nobody = correct_sets(first, first, sample=lambda u, *_: first[u], samples=10)
    assert np.isnan(nobody.C)
    assert "pi0 is 1" in nobody.undefined
    empty = correct_sets(first, second, sample=lambda *_: set(), samples=10)
    assert empty.left_out == {"only empty samples": 2}
    assert np.isnan(empty.C)
    half = correct_sets([set(), {1}], [set(), {1}], sample=lambda *_: {2}, samples=10)
    assert half.left_out == {"both sets empty": 1}


def seldom_filled():
    """Return a sampler of two units: the sets of the second one are empty nine times of ten."""
    drawn = Counter()

    def sample(unit, annotator, rng):
        drawn[unit, annotator] += 1
        if unit and drawn[unit, annotator] % 10:
            return set()
        size, shared = ((9, 1), (10, 2))[unit]
        return {*range(shared), *((annotator, k) for k in range(size - shared))}

    return sample


def test_micro_is_over_all_samples_and_macro_over_those_with_items():
    sets = [{1}, {2}], [{1}, {2}]
    micro = correct_sets(*sets, sample=seldom_filled(), samples=100, aggregate="micro")
    assert micro.pi0 == pytest.approx((1 + 2 / 10) / (9 + 10 / 10))  # .120, not 3 / 19
    macro = correct_sets(*sets, sample=seldom_filled(), samples=100)
    assert macro.pi0 == pytest.approx((1 / 9 + 2 / 10) / 2)


def test_the_error_of_micro_is_the_spread_of_repetitions():
    sets = [{1}, {2, 3}, {4}], [{1}, {2}, {4}]

    def seldom(unit, annotator, rng):
        size = rng.binomial(1, 0.1) * 3 if unit == 2 else 2
        return rng.choice(5, size, replace=False).tolist()

    drawn = [
        correct_sets(*sets, sample=seldom, samples=60, aggregate="micro", seed=seed)
        for seed in range(120)
    ]
    errors = [each.pi0_error for each in drawn]
    assert np.std([each.pi0 for each in drawn]) == pytest.approx(np.mean(errors), rel=0.2)


@pytest.mark.parametrize(("aggregate", "least"), [("macro", 30), ("micro", 50)])
def test_few_units_are_a_caution(aggregate, least):
    few, enough = (
        correct_sets(sets, sets, choices=4, aggregate=aggregate)
        for sets in ([{1}, set()] * (least - 1), [{1}, set()] * least)
    )
    assert few.notes == (
        f"few-units: C is based on {least - 1} units, fewer than {least}: other units could give a "
        "very different C; report the number of units",
    )
    assert enough.notes == ()


def test_flipped_cells_are_the_chance_of_the_article():
    corpus = read_corpus(PARAPHRASES)
    every = [pair.alignments for pair in corpus]
    links = [[{*of[name].possible} for of in every] for name in ("anna", "ben", "eflomal")]
    cells = [
        {
            (i, j)
            for i, a in enumerate(pair.source)
            for j, b in enumerate(pair.target)
            if a.lower() != b.lower()
        }
        for pair in corpus
    ]
    sides = [
        [has & different for has, different in zip(side, cells, strict=True)] for side in links
    ]
    initial = [(sorted(has), sorted(of - has)) for has, of in zip(sides[2], cells, strict=True)]
    words = [len(pair.source) + len(pair.target) for pair in corpus]
    trials = [len(pair.source) * len(pair.target) for pair in corpus]  # equal words, too
    rates = []
    for side in links[:2]:
        edits = [len(has ^ mine) for has, mine in zip(links[2], side, strict=True)]
        model = fit_edit_model(EditData(words, trials, edits), reading="count")
        rates.append((model.rates(words, trials).tolist(),) * 2)
    flipped = correct_sets(*sides[:2], sample=FlipCells(initial, rates), samples=200)
    assert flipped.pi == pytest.approx(0.9814, abs=5e-5)
    assert flipped.pi0 == pytest.approx(0.2531, abs=0.005)  # `agree` itself: .2536
    assert pytest.approx(0.9751, abs=4e-4) == flipped.C


SPANS = st.lists(st.integers(0, 12), min_size=2, max_size=8, unique=True).map(sorted)


@given(st.sets(st.integers(0, 9)), st.integers(0, 99))
def test_flipped_cells_are_cells_and_follow_the_rates(kept, seed):
    absent = set(range(10)) - kept
    initial, rng = [(sorted(kept), sorted(absent))], np.random.default_rng(seed)
    flips = [(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.5, 0.5)]
    same, all_flipped, none, some = (FlipCells(initial, [rates])(0, 0, rng) for rates in flips)
    assert (same, all_flipped, none) == (kept, absent, set())
    assert some <= kept | absent


@given(SPANS, st.integers(0, 99))
def test_placed_segments_are_the_same_at_other_places(ends, seed):
    own = [("ab"[k % 2], i, j) for k, (i, j) in enumerate(pairwise(ends)) if k % 2 == 0]
    placed = PlaceSegments([12], [[own]])(0, 0, np.random.default_rng(seed))
    assert sorted((x, j - i) for x, i, j in placed) == sorted((x, j - i) for x, i, j in own)
    covered = [place for _, i, j in placed for place in range(i, j)]
    assert len(covered) == len(set(covered))
    assert all(0 <= i < j <= 12 for _, i, j in placed)


@given(st.integers(2, 9), st.integers(0, 99))
def test_random_trees_are_brackets_that_do_not_cross(words, seed):
    own = [("S", 0, words)]
    tree = RandomTrees([words], [[own]])(0, 0, np.random.default_rng(seed))
    assert {label for label, *_ in tree} <= {"S"}
    for _, i, j in tree:
        assert j - i > 1
        assert not any(i < k < j < m for _, k, m in tree)


def test_items_of_a_tree():
    tree = Tree.parse("(S (NP (DT the) (NN rain)) (VP (VBZ falls)))")
    assert tree_items(tree) == {("NP", 0, 2), ("S", 0, 3)}


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(1)
    sets = {
        ("u1", "anna"): [["NP", 0, 2], ["VP", 2, 4]],
        ("u1", "ben"): [["NP", 0, 2]],
        ("u2", "anna"): [["NP", 1, 3]],
        ("u2", "ben"): [["NP", 0, 3]],
        ("u3", "anna"): [],
    }
    lines = [{"id": i, "annotator": a, "items": x} for (i, a), x in sets.items()]
    drawn = [
        {"id": i, "annotator": a, "items": [["NP", 0, int(rng.integers(1, 4))] for _ in x]}
        for (i, a), x in sets.items()
        for _ in range(120)
    ]
    for name, rows in (("sets", lines), ("chance", drawn)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return tmp_path / "sets.jsonl", tmp_path / "chance.jsonl"


def test_the_command(files, capsys):
    ran = made(capsys, "agree-sets", files[0], "--chance", files[1], "--json")
    (row,) = ran.json["sets"]
    assert (row["first"], row["second"], row["units"], row["pi"]) == ("anna", "ben", 2, 0.5)
    result = agree_on_sets(str(files[0]), chance=str(files[1]))
    ((corrected, units),) = result.pairings.values()
    assert units == 2
    assert row["C"] == pytest.approx((0.5 - corrected.pi0) / (1 - corrected.pi0))
    assert any("1 unit of one annotator" in note for note in ran.json["cautions"])
    assert any("based on 2 units" in note for note in ran.json["cautions"])
    errors = corrected.pi0_error, corrected.C_error
    assert (row["pi0_error"], row["C_error"]) == pytest.approx(errors)
    text = made(capsys, "agree-sets", files[0], "--chance", files[1]).out
    assert text.rstrip().splitlines()[-1].startswith("annotators:anna+ben|normalizer:min|")


def test_items_of_other_kinds_differ(tmp_path):
    rows = [{"id": "u", "annotator": "a", "items": [{"a": 1}, [["a", 1]], 1, True, {"a": 1}]}]
    (path := tmp_path / "sets.jsonl").write_text(json.dumps(rows[0]), encoding="utf-8")
    assert len(read_sets(path)["a"]["u"][0]) == 4


def test_the_order_of_lines_changes_nothing(files):
    ((before, _),) = agree_on_sets(str(files[0]), chance=str(files[1])).pairings.values()
    for path in files:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(reversed(lines)), encoding="utf-8")
    ((after, _),) = agree_on_sets(str(files[0]), chance=str(files[1])).pairings.values()
    assert (after.pi, after.pi0, after.C) == pytest.approx((before.pi, before.pi0, before.C))


def test_the_command_refuses(files, capsys):
    sets, chance = files
    base = "agree-sets", sets
    run(capsys, *base).failed("--chance")
    run(capsys, *base, "--chance", sets).failed("1 sample of annotator 'anna'", "'u1'", "100")
    run(capsys, *base, "--chance", chance, "--annotators", "x").failed("unknown annotator", "'x'")
    run(capsys, *base, "--chance", chance, "--initial", "x").failed("an option of agree")
    text = sets.read_text(encoding="utf-8")
    for bad, said in (
        (text + text, "twice"),
        ('{"id": "a"}\n', "expected an object"),
        ("[", ":1:"),
    ):
        sets.write_text(bad, encoding="utf-8")
        run(capsys, *base, "--chance", chance).failed(said)
