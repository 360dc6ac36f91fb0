"""Agreement on labels, as arrays: consensus, kappas, what all together have, and the null."""

from collections import Counter
from itertools import combinations
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_st
from refusals import refuses

from alignkit.agreement.judgments.coefficients import chance_corrected
from alignkit.agreement.judgments.consensus import label_counts, majority_labels, others_label
from alignkit.agreement.judgments.joint import joint_rows
from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.agreement.judgments.permutations import null_kappas
from alignkit.agreement.judgments.tables import LabelTables, ViewData, label_distances, mean_of
from alignkit.agreement.kappa import gwet_ac1, table_ratios, weighted_kappas
from alignkit.errors import OptionError

SIZE = 4
WEIGHTS = ["nominal", "linear", "quadratic"]


def matrices(annotators=2, missing=True, most=12):
    labels = st.integers(-1 if missing else 0, SIZE - 1)
    return st.tuples(st.integers(annotators, 4), st.integers(1, most)).flatmap(
        lambda shape: numpy_st.arrays(np.int8, shape, elements=labels)
    )


def drawing(**options):
    return JudgmentOptions(scheme="binary", **options)


def asked(values, size, weights="nominal", ties="leave-out"):
    names = tuple(map(str, range(len(values))))
    return ViewData("v", names, tuple("abcd"[:size]), values, True, weights, ties)


def mean_kappas(counts, far):
    return mean_of(weighted_kappas(counts, far).T, counts.sum(axis=(2, 3)).T)


def plain_kappa(first, second, weights):
    shared = [(a, b) for a, b in zip(first, second, strict=True) if a >= 0 and b >= 0]
    power = {"nominal": 0, "linear": 1, "quadratic": 2}[weights]

    def far(a, b):
        return 0 if a == b else abs(a - b) ** power

    seen = sum(far(a, b) for a, b in shared) * len(shared)
    expected = sum(far(a, b) for a, _ in shared for _, b in shared)
    return 1 - seen / expected if expected else nan


def plain_majority(votes, ties, adjudicated):
    given = Counter(vote for vote in votes if vote >= 0)
    if sum(given.values()) < 2:
        return -1
    top = sorted(label for label, count in given.items() if count == max(given.values()))
    if len(top) == 1 or ties == "lowest":
        return top[0]
    return adjudicated if ties == "adjudicated" else -1


@given(matrices(), st.sampled_from(WEIGHTS))
def test_pairwise_kappas_are_those_of_the_definition(values, weights):
    couples = list(combinations(values, 2))
    total = LabelTables.of(couples, SIZE).total()
    wanted = [plain_kappa(a.tolist(), b.tolist(), weights) for a, b in couples]
    np.testing.assert_allclose(
        weighted_kappas(total, label_distances(SIZE, weights)), wanted, atol=1e-12
    )
    known = [(n, k) for n, k in zip(total.sum(axis=(1, 2)), wanted, strict=True) if not isnan(k)]
    mean = sum(n * k for n, k in known) / sum(n for n, _ in known) if known else nan
    got = mean_kappas(total[np.newaxis], label_distances(SIZE, weights))[0]
    np.testing.assert_allclose(got, mean, atol=1e-12)


def test_weighted_kappa_and_alpha_of_published_examples():
    # Cohen 1968, table 1: 200 cases in three diagnoses, disagreement weights 0 1 3 / 1 0 6 / 3 6 0
    table = np.array([[88, 10, 2], [14, 40, 6], [18, 10, 12]], float)
    far = np.array([[0, 1, 3], [1, 0, 6], [3, 6, 0]], float)
    assert weighted_kappas(table, far) == pytest.approx(0.348, abs=5e-4)
    assert weighted_kappas(table, label_distances(3)) == pytest.approx(0.492, abs=5e-4)
    # Krippendorff 2011, Computing Krippendorff's alpha-reliability, section C: four observers
    data = [
        "1 2 3 3 2 1 4 1 2 - - -",
        "1 2 3 3 2 2 4 1 2 5 - 3",
        "- 3 3 3 2 3 4 2 2 5 1 -",
        "1 2 3 3 2 4 4 1 2 5 1 -",
    ]
    rows = [[-1 if one == "-" else int(one) - 1 for one in row.split()] for row in data]
    found = joint_rows(label_counts(np.array(rows, np.int8), 5)).figures()
    assert found["alpha.nominal"] == pytest.approx(0.743, abs=5e-4)
    assert found["alpha.ordinal"] == pytest.approx(0.815, abs=5e-4)
    assert isnan(found["fleiss"])
    # Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition: AC1 of the same judgments
    assert found["ac1"] == pytest.approx(0.77544, abs=5e-5)


@given(matrices(), st.data())
def test_resampled_tables_are_those_of_the_items_drawn(values, data):
    count = values.shape[1]
    drawn = data.draw(st.lists(st.integers(0, count - 1), min_size=count, max_size=count))
    weights = np.bincount(drawn, minlength=count).astype(np.int32)[np.newaxis]
    far = label_distances(SIZE, data.draw(st.sampled_from(WEIGHTS)))
    couples = [(values[0], values[1]), (values, values[::-1])]
    found = LabelTables.of(couples, SIZE).ratios(weights.T, far)
    mixed = values[:, drawn]
    again = LabelTables.of([(mixed[0], mixed[1]), (mixed, mixed[::-1])], SIZE).total()
    plain = table_ratios(again.reshape(2, -1))
    assert np.array_equal(found.items[:, 0], again.sum(axis=(1, 2)))
    np.testing.assert_allclose(found.kappa[:, 0], weighted_kappas(again, far), atol=1e-12)
    np.testing.assert_allclose(found.observed[:, 0], plain["observed"], atol=1e-12)
    weighted = [plain_ac2(table, far) for table in again]
    np.testing.assert_allclose(found.ac1[:, 0], weighted, atol=1e-12)


def plain_ac2(table, far):
    """Gwet's AC2 of two annotators, cell by cell."""
    items = table.sum()
    if not items:
        return np.nan
    size = len(table)
    agree = 1 - far / far.max()
    seen = sum(agree[i, j] * table[i, j] for i in range(size) for j in range(size)) / items
    shares = [(table[i].sum() + table[:, i].sum()) / (2 * items) for i in range(size)]
    chance = agree.sum() / (size * (size - 1)) * sum(share * (1 - share) for share in shares)
    return (seen - chance) / (1 - chance)


@pytest.mark.parametrize(
    ("weights", "expected"), [("nominal", 0.77544), ("linear", 0.85874), ("quadratic", 0.91400)]
)
def test_weighted_ac1_is_the_ac2_of_gwet(weights, expected):
    # Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition, and the R package irrCAC: the
    # data cac.raw4raters
    rows = "11.1 2232 3333 3333 2222 1234 4444 1121 2222 .555 ..11 ..3."
    values = np.array([[int(x) - 1 if x != "." else -1 for x in row] for row in rows.split()])
    counts = label_counts(values.T.astype(np.int8), 5)
    assert joint_rows(counts, weights=weights).figures()["ac1"] == pytest.approx(expected, abs=5e-6)


@given(matrices(), st.sampled_from(WEIGHTS))
def test_weighted_ac1_is_the_ac2_of_all(values, weights):
    found = joint_rows(label_counts(values, SIZE), weights=weights).figures()["ac1"]
    expected = chance_corrected(values, SIZE, weights)["ac2"]
    assert found == pytest.approx(expected, nan_ok=True)


@given(matrices(), st.sampled_from(["leave-out", "lowest", "adjudicated"]), st.data())
def test_the_consensus_is_what_most_say(values, ties, data):
    numbers = st.integers(-1, SIZE - 1)
    settled = data.draw(numpy_st.arrays(np.int8, values.shape[1], elements=numbers))
    found = majority_labels(values, SIZE, ties=ties, adjudicated=settled)
    columns = zip(values.T.tolist(), settled.tolist(), strict=True)
    assert found.labels.tolist() == [plain_majority(votes, ties, one) for votes, one in columns]
    shuffled = majority_labels(values[::-1], SIZE, ties=ties, adjudicated=settled)
    assert np.array_equal(found.labels, shuffled.labels)


def test_ties_are_counted_or_refused():
    votes = np.array([[0, 1, 2], [1, 1, -1]], np.int8)
    found = majority_labels(votes, 3)
    assert (found.items, found.tied, found.settled) == (2, 1, 1)
    refuses(OptionError, "1 items have no majority", majority_labels, votes, 3, ties="error")


@given(matrices())
def test_the_others_are_those_but_oneself(values):
    labels, tied = others_label(values, SIZE, 0)
    wanted = []
    for mine, *others in values.T.tolist():
        given = Counter(vote for vote in others if vote >= 0).most_common()
        alone = len(given) == 1 or (len(given) > 1 and given[0][1] > given[1][1])
        wanted.append((given[0][0] if alone else -2) if mine >= 0 and given else -1)
    assert (labels.tolist(), tied) == ([max(one, -1) for one in wanted], wanted.count(-2))


@given(matrices())
def test_alpha_is_that_of_the_library(values):
    krippendorff = pytest.importorskip("krippendorff")
    counts = label_counts(values, SIZE)
    found = joint_rows(counts).figures()
    for level in ("nominal", "ordinal"):
        mine = found[f"alpha.{level}"]
        if isnan(mine):
            assert (counts[counts.sum(axis=1) > 1].sum(axis=0) > 0).sum() < 2
            continue
        asked = {"value_domain": range(SIZE), "level_of_measurement": level}
        theirs = krippendorff.alpha(value_counts=counts, **asked)
        assert mine == pytest.approx(theirs, abs=1e-9)


@given(matrices(missing=False))
def test_ac1_of_two_is_that_of_their_table(values):
    two = values[:2]
    table = LabelTables.of([(two[0], two[1])], SIZE).total()[0].astype(int).tolist()
    assert joint_rows(label_counts(two, SIZE)).figures()["ac1"] == pytest.approx(gwet_ac1(table))


@given(matrices(missing=False))
def test_fleiss_is_that_of_the_library(values):
    oracle = pytest.importorskip("statsmodels.stats.inter_rater")
    counts = label_counts(values, SIZE)
    mine = joint_rows(counts).figures()["fleiss"]
    if isnan(mine):
        assert (counts.sum(axis=0) > 0).sum() == 1
        return
    assert mine == pytest.approx(oracle.fleiss_kappa(counts), abs=1e-9)


def test_one_label_everywhere_leaves_kappa_and_alpha_undefined():
    values = np.ones((3, 5), np.int8)
    found = joint_rows(label_counts(values, 2)).figures()
    assert all(isnan(found[name]) for name in ("alpha.nominal", "alpha.ordinal", "fleiss"))
    assert found["ac1"] == 1
    assert isnan(
        weighted_kappas(LabelTables.of([(values[0], values[1])], 2).total(), label_distances(2))[0]
    )


def drawn(annotators, items, shares, seed):
    rng = np.random.default_rng(seed)
    return rng.choice(len(shares), p=shares, size=(annotators, items)).astype(np.int8)


def agreement_with_the_majority(values, size, ties="leave-out"):
    labels = majority_labels(values, size, ties=ties).labels
    counts = LabelTables.of([(row, labels) for row in values], size).total()
    return weighted_kappas(counts, label_distances(size)).tolist()


@pytest.mark.parametrize(
    ("annotators", "shares", "wanted"),
    [(3, [0.5, 0.5], 0.50), (5, [0.5, 0.5], 0.37), (3, [0.9, 0.1], 0.26)],
)
def test_chance_alone_gives_much_against_a_consensus(annotators, shares, wanted):
    values = drawn(annotators, 4000, shares, 5)
    (null,) = null_kappas([asked(values, 2)], drawing(permutations=200, seed=1))
    # 4,000 drawn items have shares that differ a little from the planted ones
    assert null.mean.mean() == pytest.approx(wanted, abs=0.012)
    assert null.pooled.mean() == pytest.approx(wanted, abs=0.012)
    assert np.mean(agreement_with_the_majority(values, 2)) == pytest.approx(wanted, abs=0.05)
    assert np.all(null.settled == 1)


@given(matrices(), st.sampled_from(["leave-out", "lowest"]), st.sampled_from(WEIGHTS))
def test_the_null_is_the_figure_of_permuted_labels(values, ties, weights):
    values = np.where(values >= 0, np.arange(len(values))[:, np.newaxis] % SIZE, -1).astype(np.int8)
    consensus = majority_labels(values, SIZE, ties=ties)
    counts = LabelTables.of([(row, consensus.labels) for row in values], SIZE).total()
    far = label_distances(SIZE, weights)
    for null in ("all", "one"):
        question = asked(values, SIZE, weights, ties)
        (found,) = null_kappas([question], drawing(permutations=3, null=null, seed=2))
        each = np.tile(weighted_kappas(counts, far), (3, 1))
        np.testing.assert_allclose(found.each, each, atol=1e-12)
        mean = mean_kappas(counts[np.newaxis], far)
        np.testing.assert_allclose(found.mean, np.tile(mean, 3), atol=1e-12)
        pooled = weighted_kappas(counts.sum(axis=0), far)
        np.testing.assert_allclose(found.pooled, np.tile(pooled, 3), atol=1e-12)
    (found,) = null_kappas([asked(values, SIZE, weights, ties)], drawing(permutations=1, seed=2))
    share = consensus.settled / consensus.items if consensus.items else nan
    np.testing.assert_allclose(found.settled, share)


def plain_null(values, null, times):
    rng, found = np.random.default_rng(3), []
    for _ in range(times):
        mixed = values.copy()
        for row in mixed:
            judged = np.flatnonzero(row >= 0)
            row[judged] = rng.permutation(row[judged])
        each = []
        for k in range(len(values)):
            now = mixed if null == "all" else values.copy()
            now[k] = mixed[k]
            each.append(agreement_with_the_majority(now, 3)[k])
        found.append(each)
    return [float(one) for one in np.mean(found, axis=0)]


@pytest.mark.parametrize("null", ["all", "one"])
def test_the_null_is_that_of_a_plain_reference(null):
    rng = np.random.default_rng(8)
    truth = rng.choice(3, p=[0.5, 0.3, 0.2], size=60)
    votes = [np.where(rng.random(60) < 0.5, truth, rng.integers(0, 3, 60)) for _ in range(4)]
    values = np.where(rng.random((4, 60)) < 0.2, -1, votes).astype(np.int8)
    question = asked(values, 3)
    (found,) = null_kappas([question], drawing(permutations=4000, null=null, seed=1))
    np.testing.assert_allclose(found.each.mean(axis=0), plain_null(values, null, 1000), atol=0.012)


def test_views_see_the_same_permutations():
    values = drawn(3, 80, [0.25] * 4, 6)
    given = {"permutations": 20, "seed": 7}
    question = asked(values, 4)
    merged = asked((values >= 2).astype(np.int8), 2)
    both = null_kappas([question, merged], drawing(**given))
    (again,) = null_kappas([question], drawing(**given))
    assert np.array_equal(both[0].each, again.each, equal_nan=True)
    # a view that merges nothing is the same view
    twice = null_kappas([question] * 2, drawing(**given))
    assert np.array_equal(twice[0].each, twice[1].each, equal_nan=True)
