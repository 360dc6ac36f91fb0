"""How many pairs two annotators need: published numbers, a plain reference, and the command."""

from dataclasses import replace

import numpy as np
import pytest
from command import PARAPHRASES, made, run

from alignkit import Corpus, agree, merge, read_corpus
from alignkit.agreement import overlap, plan_every_two, plan_pairs
from alignkit.errors import OptionError, UnknownNameError


@pytest.fixture(scope="module")
def corpus():
    return read_corpus(PARAPHRASES)


def pilots(data, name):
    if name == "goldalign":
        return read_corpus(str(data / name), format=name), ("demo-user-1", "demo-user-2")
    first, second = (
        read_corpus(str(data / f"rte2/RTE2_dev_{who}.align.txt"), format="rte", name=who)
        for who in "AC"
    )
    return merge(first, {"C": second}), ("A", "C")


def link_counts(corpus, *users):
    """Count the shared links of different words, and those of both, in each pair."""
    rows = []
    for pair in corpus:
        first, second = (
            {(i, j) for i, j in pair.alignment(user).possible
             if pair.source[i].casefold() != pair.target[j].casefold()}
            for user in users
        )  # fmt: skip
        rows.append([len(first & second), len(first) + len(second)])
    return np.array(rows)


def test_the_plan_is_that_of_a_plain_script(corpus):
    plan = plan_pairs(corpus, "anna", "ben", half_width=0.02)
    shared, sizes = link_counts(corpus, "anna", "ben").T
    f1 = 2 * sum(shared) / sum(sizes)
    u = (2 * shared - f1 * sizes) / np.mean(sizes)
    assert plan.value == pytest.approx(f1)
    assert plan.value == pytest.approx(overlap(corpus, "anna", "ben").words_possible.f1)
    assert plan.spread == pytest.approx(u.std(ddof=1))
    assert plan.pairs == round((1.96 * u.std(ddof=1) / 0.02) ** 2)
    kurtosis = (u**4).mean() / (u**2).mean() ** 2  # u has the mean 0
    wider = np.exp(0.8416 * np.sqrt((kurtosis - 1) / (4 * 63)))
    assert plan.assured == pytest.approx((1.96 * u.std(ddof=1) * wider / 0.02) ** 2, abs=1)


@pytest.mark.parametrize(
    ("level", "statistic"), [("cells.possible", "kappa"), ("alpha.sure", "masi")]
)
def test_other_statistics_leave_one_pair_out(corpus, level, statistic):
    plan = plan_pairs(corpus, "anna", "ben", level=level, statistic=statistic)
    assert plan.spread > 0
    assert plan.pairs < plan.assured
    assert plan_pairs(corpus, "ben", "anna", level=level, statistic=statistic) == plan


def test_plans_of_c(corpus):
    plan = plan_pairs(corpus, "anna", "ben", statistic="C", half_width=0.02)
    whole = agree(corpus, ["anna", "ben"], bootstrap="none").pairings[0].main("words.possible")
    assert (plan.value, plan.pilot) == (pytest.approx(whole.C), whole.used)
    part = Corpus(list(corpus)[1:])
    without = agree(part, ["anna", "ben"], bootstrap="none").pairings[0].main("words.possible").C
    pi, pi0 = ([getattr(x, name) for x in whole.sentences if not x.left_out]
               for name in ("observed", "expected"))  # fmt: skip
    pi, pi0 = ((sum(x) - np.array(x)) / (len(x) - 1) for x in (pi, pi0))
    each = (pi - pi0) / (1 - pi0)
    assert without == pytest.approx(each[0])
    assert plan.spread == pytest.approx((len(pi) - 1) * np.std(each, ddof=1))
    edits = plan_pairs(corpus, "anna", "ben", statistic="C", initial="eflomal")
    assert edits.value < plan.value
    with pytest.raises(UnknownNameError):
        plan_pairs(corpus, "anna", "ben", statistic="C", initial="nobody")


def test_twice_as_wide_takes_a_quarter(corpus):
    narrow, wide = (plan_pairs(corpus, "anna", "ben", half_width=w) for w in (0.01, 0.02))
    assert narrow.pairs == pytest.approx(4 * wide.pairs, abs=3)


def test_bad_plans(corpus):
    with pytest.raises(OptionError, match="29 pairs have both annotators; a plan needs 30"):
        plan_pairs(corpus[:29], "anna", "ben")
    with pytest.raises(OptionError, match="between 0 and 1"):
        plan_pairs(corpus, "anna", "ben", half_width=0.0)
    with pytest.raises(UnknownNameError):
        plan_pairs(corpus, "anna", "ben", statistic="kappa")


def test_the_command(capsys):
    ran = made(capsys, "agree", PARAPHRASES, "--plan", 0.03, "--json")
    (row,) = ran.json["plans"]
    plan = plan_pairs(read_corpus(PARAPHRASES), "anna", "ben")
    assert (row["pairs"], row["assured"], row["pilot"]) == (plan.pairs, plan.assured, 64)
    text = made(capsys, "agree", PARAPHRASES, "--plan", 0.03).out
    assert text.startswith(
        "anna and ben: to know f1 (words.possible) within 3 points, annotate about"
    )
    assert "fewer than 100, so this is rough" in text
    run(capsys, "agree", PARAPHRASES, "--plan", 0).failed("between 0 and 1")
    run(capsys, "agree", PARAPHRASES, "--plan", 0.1, "--resamples", 5).failed("--resamples")
    run(capsys, "agree", PARAPHRASES, "--plan", 0.1, "--annotators", "anna").failed(
        "two annotators"
    )


def test_phrases_leave_one_pair_out(corpus):
    """Atomic pairs that each finds are two numbers: the closed form is of links alone."""
    plan = plan_pairs(corpus, "anna", "ben", level="phrases.sure")
    parts = (Corpus(p for j, p in enumerate(corpus) if j != k) for k in range(64))
    rows = [overlap(part, "anna", "ben").phrases_sure.f1 for part in parts]
    assert plan.spread == pytest.approx(63 * np.std(rows, ddof=1))


def test_what_shows_nothing_or_is_too_little(corpus, capsys, tmp_path):
    same = Corpus(
        replace(p, annotations=dict.fromkeys("xy", p.annotations["anna"])) for p in corpus
    )
    with pytest.raises(OptionError, match="all 64 pairs agree alike"):
        plan_pairs(same, "x", "y")
    few = Corpus(
        replace(p, annotations={**p.annotations, **({"z": p.annotations["ben"]} if k < 9 else {})})
        for k, p in enumerate(corpus)
    )
    plans = plan_every_two(few, ["anna", "ben", "z"], half_width=0.03)
    assert list(plans.plans) == [("anna", "ben")]
    assert plans.notes[0] == "anna and z: 9 pairs of both are too few"
    for extra in (["--html", tmp_path / "a.html"], ["--by", "genre"]):
        run(capsys, "agree", PARAPHRASES, "--plan", 0.1, *extra).failed("does not go with")
    assert not (tmp_path / "a.html").exists()


@pytest.mark.real_data
def test_the_numbers_of_goldalign(data):
    corpus = read_corpus(str(data / "goldalign"), format="goldalign")
    users = "demo-user-1", "demo-user-2"
    plans = [plan_pairs(corpus, *users, half_width=w) for w in (0.05, 0.03, 0.02)]
    assert plans[0].spread == pytest.approx(0.630, abs=5e-4)
    assert [plan.pairs for plan in plans] == pytest.approx([610, 1694, 3810], abs=1)
    kappas = [plan_pairs(corpus, *users, level="cells.possible", statistic="kappa", half_width=w)
              for w in (0.05, 0.03)]  # fmt: skip
    assert kappas[0].spread == pytest.approx(0.658, abs=5e-4)
    assert [plan.pairs for plan in kappas] == pytest.approx([666, 1849], abs=1)


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("other", "spread", "needed"), [("C", 0.398, [243, 675, 1518]), ("B", 0.201, [63, 174, 390])]
)
def test_the_numbers_of_rte(data, other, spread, needed):
    first, second = (
        read_corpus(str(data / f"rte2/RTE2_dev_{name}.align.txt"), format="rte", name=name)
        for name in ("A", other)
    )
    corpus = merge(first, {other: second})
    plans = [plan_pairs(corpus, "A", other, half_width=w) for w in (0.05, 0.03, 0.02)]
    assert plans[0].spread == pytest.approx(spread, abs=5e-4)
    assert [plan.pairs for plan in plans] == pytest.approx(needed, abs=1)


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize(
    ("size", "plain", "assured"), [(30, 0.30, 0.54), (50, None, 0.63), (100, 0.47, 0.71)]
)
@pytest.mark.parametrize("name", ["goldalign", "rte2"])
def test_plans_are_met_as_often_as_stated(data, name, size, plain, assured):
    """A pilot, a plan for 3 points, a fresh sample: how often it is at most 1.05 times as wide."""
    corpus, users = pilots(data, name)
    counts = link_counts(corpus, *users)
    rng, met = np.random.default_rng(3), []
    for _ in range(100):
        pilot = enumerate(rng.choice(len(corpus), size).tolist())
        plan = plan_pairs(Corpus(replace(corpus[k], id=str(n)) for n, k in pilot), *users)
        widths = []
        for n in (plan.pairs, plan.assured):
            i, s = counts[rng.choice(len(corpus), n)].T
            f1 = 2 * i.sum() / s.sum()
            u = (2 * i - f1 * s) / s.mean()
            widths.append(1.96 * u.std(ddof=1) / np.sqrt(n))
        met.append([width <= 1.05 * 0.03 for width in widths])
    shares = np.mean(met, axis=0)
    if plain is not None:
        assert shares[0] == pytest.approx(plain, abs=0.27)
    assert shares[1] > assured - 0.1
    assert shares[0] < shares[1]
