"""How many pairs two annotators need: published numbers, a plain reference, and the command."""

from dataclasses import replace
from math import ceil

import numpy as np
import pytest
from command import PARAPHRASES, made, run

from alignkit import Alignment, Corpus, agree, merge, read_corpus, write_corpus
from alignkit.agreement import PlanOptions, overlap, plan_pairs
from alignkit.agreement.pairs import CorpusData
from alignkit.agreement.planning import influences, planned_variance, rows_of
from alignkit.errors import OptionError, UnknownNameError

NOTHING = Alignment()


@pytest.fixture(scope="module")
def corpus():
    return read_corpus(PARAPHRASES)


def plan_two(corpus, *two, **options):
    """Return the plan of two annotators."""
    return plan_pairs(corpus, two, **options).plans[two]


def pilots(data, name):
    """Return a corpus, and two of its annotators: "AC" are those of RTE-2."""
    if name == "samples":
        return read_corpus(PARAPHRASES), ("anna", "ben")
    if name == "goldalign":
        return read_corpus(str(data / name), format=name), ("demo-user-1", "demo-user-2")
    first, second = (
        read_corpus(str(data / f"rte2/RTE2_dev_{who}.align.txt"), format="rte", name=who)
        for who in name
    )
    return merge(first, {name[1]: second}), tuple(name)


def link_counts(corpus, *users):
    """Count the shared links of different words, and those of both, in each pair."""
    rows = []
    for pair in corpus:
        first, second = (
            {
                (i, j)
                for i, j in pair.alignment(user).possible
                if pair.source[i].casefold() != pair.target[j].casefold()
            }
            for user in users
        )
        rows.append([len(first & second), len(first) + len(second)])
    return np.array(rows)


def without_each(counts):
    """Return the influence of each pair on F1, by counting all other pairs."""
    rest = np.array([np.delete(counts, k, axis=0).sum(axis=0) for k in range(len(counts))])
    shared, sizes = counts.sum(axis=0)
    return (len(counts) - 1) * (2 * shared / sizes - 2 * rest[:, 0] / rest[:, 1])


def plain_bound(influence, tails):
    """Return the upper bound of the variance, as docs/agree/annotators.md has it."""
    m = len(influence)
    d = influence - sum(influence) / m
    g = sum(d**4) / m / (sum(d**2) / m) ** 2
    more = 0.8416 * ((g - 1) / (m - 1)) ** 0.5 + tails * max(0, g - 3) / (m - 1)
    return sum(d**2) / (m - 1) * np.exp(more)


def test_the_plan_is_that_of_a_plain_script(corpus):
    plan = plan_two(corpus, "anna", "ben", half_width=0.02)
    counts = link_counts(corpus, "anna", "ben")
    shared, sizes = counts.T
    f1 = 2 * sum(shared) / sum(sizes)
    assert plan.value == pytest.approx(f1)
    assert plan.value == pytest.approx(overlap(corpus, "anna", "ben").words_possible.f1)
    u = without_each(counts)
    assert plan.spread == pytest.approx(u.std(ddof=1))
    linear = (2 * shared - f1 * sizes) / np.mean(sizes)
    assert plan.spread == pytest.approx(linear.std(ddof=1), rel=0.03)
    assert plan.pairs == pytest.approx(1.96**2 * plain_bound(u, 3) / 0.02**2, abs=1)
    assert plan.rests_on == sum(sizes > 0)


@pytest.mark.parametrize(
    ("level", "statistic"), [("cells.possible", "kappa"), ("alpha.sure", "masi")]
)
def test_other_statistics_leave_one_pair_out(corpus, level, statistic):
    plan = plan_two(corpus, "anna", "ben", level=level, statistic=statistic)
    assert plan.pairs > (1.96 * plan.spread / 0.03) ** 2 > 0
    assert plan_two(corpus, "ben", "anna", level=level, statistic=statistic) == plan


def test_plans_of_c(corpus):
    plan = plan_two(corpus, "anna", "ben", statistic="C", half_width=0.02)
    whole = agree(corpus, ["anna", "ben"], bootstrap="none").pairings[0].main("words.possible")
    assert (plan.value, plan.rests_on) == (pytest.approx(whole.C), whole.used)
    part = Corpus(list(corpus)[1:])
    without = agree(part, ["anna", "ben"], bootstrap="none").pairings[0].main("words.possible").C
    pi, pi0 = (
        [getattr(x, name) for x in whole.sentences if not x.left_out]
        for name in ("observed", "expected")
    )
    pi, pi0 = ((sum(x) - np.array(x)) / (len(x) - 1) for x in (pi, pi0))
    each = (pi - pi0) / (1 - pi0)
    assert without == pytest.approx(each[0])
    influence = (len(pi) - 1) * (whole.C - each)
    assert plan.spread == pytest.approx(np.std(influence, ddof=1))
    assert plan.pairs == pytest.approx(1.96**2 * plain_bound(influence, 0.5) / 0.02**2, abs=1)
    edits = plan_two(corpus, "anna", "ben", statistic="C", initial="eflomal")
    assert edits.value < plan.value
    with pytest.raises(UnknownNameError):
        plan_two(corpus, "anna", "ben", statistic="C", initial="nobody")


def test_pairs_that_c_leaves_out_must_be_annotated_too(corpus):
    """With nine empty pairs for each other one, ten times as many pairs are needed."""
    alone = plan_two(corpus, "anna", "ben", statistic="C")
    empty = [
        replace(pair, id=f"{pair.id}-{k}", annotations=dict.fromkeys(["anna", "ben"], NOTHING))
        for pair in corpus
        for k in range(9)
    ]
    plan = plan_two(Corpus([*corpus, *empty]), "anna", "ben", statistic="C")
    assert (plan.pilot, plan.rests_on) == (640, 64)
    assert plan.value == pytest.approx(alone.value)
    assert plan.spread**2 == pytest.approx(10 * alone.spread**2, rel=0.05)
    assert plan.pairs > 9 * alone.pairs
    assert "C rests on 64 of them" in str(plan)


def test_twice_as_wide_takes_a_quarter(corpus):
    narrow, wide = (plan_two(corpus, "anna", "ben", half_width=w) for w in (0.01, 0.02))
    assert narrow.pairs == pytest.approx(4 * wide.pairs, abs=3)


def test_bad_plans(corpus):
    with pytest.raises(OptionError, match="29 pairs have both annotators"):
        plan_two(corpus[:29], "anna", "ben")
    with pytest.raises(OptionError, match="between 0 and 1"):
        plan_two(corpus, "anna", "ben", half_width=0.0)
    with pytest.raises(UnknownNameError):
        plan_two(corpus, "anna", "ben", statistic="kappa")


def test_the_command(capsys):
    ran = made(capsys, "agree-plan", PARAPHRASES, "--json")
    (row,) = ran.json["plans"]
    plan = plan_two(read_corpus(PARAPHRASES), "anna", "ben")
    assert (row["pairs"], row["pilot"], row["rests_on"]) == (plan.pairs, 64, 64)
    assert set(row) == {*vars(plan)} - {"statistic", "level", "half_width"} | {"first", "second"}
    text = made(capsys, "agree-plan", PARAPHRASES).out
    assert text.startswith(
        f"anna and ben: to know f1 (words.possible) within 3 points, about {plan.pairs} pairs in "
        "all must be annotated twice (enough with a probability of about 80%); estimated from 64"
    )
    assert "fewer than 100" in text
    run(capsys, "agree-plan", PARAPHRASES, "--half-width", 0).failed("between 0 and 1")
    run(capsys, "agree-plan", PARAPHRASES, "--resamples", 5).failed("an option of agree")
    run(capsys, "agree-plan", PARAPHRASES, "--annotators", "anna").failed("two annotators")


def test_the_command_plans_for_every_statistic(capsys, corpus, tmp_path):
    some = corpus[:30]
    write_corpus(some, tmp_path / "some.jsonl")
    command = ("agree-plan", tmp_path / "some.jsonl", "--annotators", "anna", "ben", "--json")
    given = ("--statistic", "kappa", "--level", "cells.possible", "--half-width", "0.02")
    (row,) = made(capsys, *command, *given).json["plans"]
    options = {"statistic": "kappa", "level": "cells.possible", "half_width": 0.02}
    assert row["pairs"] == plan_two(some, "anna", "ben", **options).pairs
    edits = ("--statistic", "C", "--initial", "eflomal")
    (row,) = made(capsys, *command, *edits).json["plans"]
    wanted = plan_two(some, "anna", "ben", statistic="C", initial="eflomal")
    assert row["value"] == wanted.value


def test_phrases_leave_one_pair_out(corpus):
    """Atomic pairs that each finds are two numbers: the closed form is of links alone."""
    plan = plan_two(corpus, "anna", "ben", level="phrases.sure")
    parts = (Corpus(p for j, p in enumerate(corpus) if j != k) for k in range(64))
    rows = [overlap(part, "anna", "ben").phrases_sure.f1 for part in parts]
    assert plan.spread == pytest.approx(63 * np.std(rows, ddof=1))


def test_what_shows_nothing_or_is_too_little(corpus):
    same = Corpus(
        replace(p, annotations=dict.fromkeys("xy", p.annotations["anna"])) for p in corpus
    )
    with pytest.raises(OptionError, match="all 64 pairs agree alike"):
        plan_two(same, "x", "y")
    few = Corpus(
        replace(p, annotations={**p.annotations, **({"z": p.annotations["ben"]} if k < 9 else {})})
        for k, p in enumerate(corpus)
    )
    plans = plan_pairs(few, ["anna", "ben", "z"])
    assert list(plans.plans) == [("anna", "ben")]
    assert plans.notes[0] == "anna and z: 9 pairs of both are too few"


def closed_form(corpus, users, width):
    """Return sd(u) of F1 and (1.96 sd(u) / width)^2, the number that is enough half of the time."""
    shared, sizes = link_counts(corpus, *users).T
    u = (2 * shared - 2 * sum(shared) / sum(sizes) * sizes) / np.mean(sizes)
    return u.std(ddof=1), (1.96 * u.std(ddof=1) / width) ** 2


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "spread", "needed", "more"),
    [
        ("goldalign", 0.630, [610, 1694, 3810], 1.55),
        ("AC", 0.398, [243, 675, 1518], 1.11),
        ("AB", 0.201, [63, 174, 390], 1.54),
    ],
)
def test_the_numbers_of_real_corpora(data, name, spread, needed, more):
    corpus, users = pilots(data, name)
    plans = [plan_two(corpus, *users, half_width=w) for w in (0.05, 0.03, 0.02)]
    plain = [closed_form(corpus, users, w) for w in (0.05, 0.03, 0.02)]
    assert plain[0][0] == pytest.approx(spread, abs=5e-4)
    assert [n for _, n in plain] == pytest.approx(needed, abs=1)
    assert plans[0].spread == pytest.approx(spread, rel=0.02)
    assert [plan.pairs for plan in plans] == pytest.approx([more * n for n in needed], rel=0.02)


@pytest.mark.real_data
def test_kappa_and_c_of_goldalign(data):
    corpus, users = pilots(data, "goldalign")
    kappa = plan_two(corpus, *users, level="cells.possible", statistic="kappa")
    assert kappa.spread == pytest.approx(0.658, abs=5e-4)
    c = plan_two(corpus, *users, level="words.sure", statistic="C")
    assert (c.pilot, c.rests_on) == (612, 155)
    used = (1.96 * c.spread / 0.03) ** 2 * 155 / 612
    assert used == pytest.approx(976, rel=0.01)  # pairs that C rests on, as plans once had it
    assert c.pairs == pytest.approx(4150, rel=0.01)


STATISTICS = {
    "f1": ("words.possible", (79, 82, 83, 83)),
    "kappa": ("cells.possible", (79, 82, 83, 82)),
    "C": ("words.possible", (79, 82, 85, 84)),
}


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("statistic", STATISTICS)
def test_plans_are_enough_four_times_in_five(data, statistic):
    """Pilots of 30 to 200 pairs, drawn with replacement from five corpora as populations."""
    level, stated = STATISTICS[statistic]
    shares = {}
    for name in ("goldalign", "AC", "AB", "BC", "samples"):
        corpus, users = pilots(data, name)
        rows = rows_of(CorpusData(corpus), users, PlanOptions(level=level, statistic=statistic))
        needed = influences(rows, statistic).var()
        rng = np.random.default_rng(11)
        for size in (30, 60, 100, 200):
            enough = []
            for _ in range(600):
                drawn = replace(rows, counts=rows.counts[rng.integers(0, len(rows), size)])
                influence = influences(drawn, statistic)
                if influence.std() > 0:  # else the plan is refused
                    enough.append(planned_variance(influence, statistic) >= needed)
            shares[name, size] = np.mean(enough)
    means = []
    for size in (30, 60, 100, 200):
        cells = [100 * share for (_, pilot), share in shares.items() if pilot == size]
        means.append(np.mean(cells))
        print(statistic, size, np.round(cells), round(means[-1], 1))
    assert means == pytest.approx(stated, abs=1)
    assert 78 <= min(means) <= max(means) <= 88


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("size", [30, 60, 100, 200])
def test_a_fresh_sample_of_the_planned_size_is_narrow_enough(data, size):
    """A pilot, a plan for F1 within 3 points, a fresh sample: is its half width at most 3?"""
    shares = []
    for name in ("goldalign", "AC", "AB", "BC", "samples"):
        corpus, users = pilots(data, name)
        counts = link_counts(corpus, *users)
        rng, narrow = np.random.default_rng(3), []
        rows = rows_of(CorpusData(corpus), users, PlanOptions())
        for _ in range(400):
            drawn = replace(rows, counts=rows.counts[rng.integers(0, len(rows), size)])
            influence = influences(drawn, "f1")
            if influence.std() == 0:  # the plan is refused
                continue
            bound = planned_variance(influence, "f1")
            n = max(2, ceil(1.96**2 * bound / 0.03**2))
            shared, sizes = counts[rng.integers(0, len(counts), n)].T
            u = (2 * shared - 2 * shared.sum() / sizes.sum() * sizes) / sizes.mean()
            narrow.append(1.96 * u.std(ddof=1) / np.sqrt(n) <= 0.03)
        shares.append(np.mean(narrow))
    print(size, np.round(100 * np.array(shares)), round(100 * np.mean(shares), 1))
    assert 0.78 <= round(np.mean(shares), 2) <= 0.88
    assert min(shares) >= 0.68
