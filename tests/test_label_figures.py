"""The figures of judgments in a view, and the numbers of published files."""

from math import isnan

import numpy as np
import pytest
from repetitions import repetitions

from alignkit import agree_on_judgments, read_corpus
from alignkit.agreement.judgments.figures import view_figures
from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.agreement.judgments.permutations import null_kappas
from alignkit.agreement.judgments.tables import ViewData
from alignkit.corpora.labelled import judgments_of
from alignkit.model.labels import get_view


def drawing(**options):
    return JudgmentOptions(scheme="binary", **options)


def figure(found, kind, statistic, first=""):
    alike = (one for one in found if (one.kind, one.statistic) == (kind, statistic))
    (one,) = [one for one in alike if first in ("", one.first)]
    return one


@pytest.mark.real_data
def test_the_votes_of_parade(data):
    lines = (data / "parade/PARADE_validation.txt").read_text(encoding="utf-8").splitlines()
    votes = np.array([int(line.split("\t")[0]) for line in lines[1:]])
    rng = np.random.default_rng(1)
    values = np.array([rng.permutation([1] * n + [0] * (3 - n)) for n in votes], np.int8).T
    view = ViewData("binary", ("a", "b", "c"), ("0", "1"), values)
    (null,) = null_kappas([view], drawing(permutations=1000, seed=1))
    found = view_figures(view, null, drawing(resamples=1))
    assert figure(found, "pooled consensus", "kappa").value == pytest.approx(0.6165, abs=5e-5)
    assert figure(found, "pooled consensus", "null").value == pytest.approx(0.4998, abs=2e-3)
    assert figure(found, "pooled consensus", "corrected").value == pytest.approx(0.2333, abs=3e-3)
    assert figure(found, "joint", "fleiss").value == pytest.approx(0.232818, abs=5e-7)


@pytest.mark.real_data
def test_the_judgments_of_goldalign(data):
    corpus = read_corpus(str(data / "goldalign"), format="goldalign")
    users = ("demo-user-1", "demo-user-2")
    binary = get_view("binary", "full")
    matrix = judgments_of(corpus, (*users, "arbit"), binary)
    view = ViewData("full", users, binary.labels, matrix.values[:2], adjudicated=matrix.values[2])
    found = view_figures(view, None, drawing(resamples=20000))
    kappa = figure(found, "pairing", "kappa")
    assert kappa.value == pytest.approx(0.7090, abs=5e-5)
    assert (kappa.low, kappa.high) == pytest.approx((0.653, 0.764), abs=5e-3)
    against = [figure(found, "adjudicated", "kappa", user).value for user in users]
    assert against == pytest.approx([0.6647, 0.56895], abs=5e-5)
    overruled = figure(found, "adjudicated", "overruled")
    assert (round(overruled.value * 523), overruled.pairs) == (73, 523)
    assert isnan(figure(found, "consensus", "kappa").value)
    whole = agree_on_judgments(
        corpus, users, scheme="binary", view="full", consensus="arbit", resamples=9
    )
    assert (whole.pairs, whole.repeated) == (612, 612 - 567)  # 567 different pairs
    assert "45 of 612 pairs repeat others" in " ".join(str(whole).split())
    assert figure(whole.figures(), "pairing", "kappa").value == kappa.value
    # who differ: anybody, and where all agree the adjudicated version
    differ = matrix.values.max(axis=0) != np.where(matrix.values < 0, 2, matrix.values).min(axis=0)
    assert len(whole.disagreements) == int((differ & (matrix.values.max(axis=0) >= 0)).sum())
    unlike = [one for one in whole.disagreements if len({*map(one.judgments.get, users)}) == 1]
    assert len(unlike) == 73


def planted(annotators, items, agreement, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, items)
    known = rng.random((annotators, items)) < agreement
    return np.where(known, truth, rng.integers(0, 2, (annotators, items))).astype(np.int8)


def test_the_consensus_is_read_against_its_null():
    view = ViewData("binary", ("a", "b", "c"), ("0", "1"), planted(3, 400, 0, 3))
    (null,) = null_kappas([view], drawing(permutations=300, seed=1))
    found = view_figures(view, null, drawing(resamples=300))
    kappa, corrected = (figure(found, "mean consensus", name) for name in ("kappa", "corrected"))
    k0 = figure(found, "mean consensus", "null").value
    assert kappa.low > 0.4
    assert corrected.low < 0 < corrected.high
    assert corrected.value == pytest.approx((kappa.value - k0) / (1 - k0))
    assert corrected.high == pytest.approx((kappa.high - k0) / (1 - k0))
    assert figure(found, "consensus", "settled").value == 1


@pytest.mark.slow
def test_independent_annotators_are_seen_to_be_so():
    inside, runs = 0, repetitions(200)
    for seed in range(runs):
        view = ViewData("binary", ("a", "b", "c"), ("0", "1"), planted(3, 300, 0, seed))
        (null,) = null_kappas([view], drawing(permutations=300, seed=seed))
        found = view_figures(view, null, drawing(resamples=500, seed=seed))
        one = figure(found, "mean consensus", "corrected")
        inside += one.low <= 0 <= one.high
    print(f"{inside} of {runs} intervals hold 0")
    assert inside >= (182 if runs == 200 else 0.85 * runs)


def test_groups_are_compared_within_and_between():
    values = np.concatenate([planted(2, 200, 0.95, 1), planted(2, 200, 0, 2)])
    groups = {"a": "experts", "b": "experts", "c": "lay", "d": "lay"}
    view = ViewData("binary", tuple("abcd"), ("0", "1"), values, groups=groups)
    found = view_figures(view, None, drawing(resamples=100))
    means = {(one.first, one.second): one for one in found if one.kind == "groups"}
    assert set(means) == {("experts", "experts"), ("experts", "lay"), ("lay", "lay")}
    assert means["experts", "experts"].value > 0.8
    assert abs(means["experts", "lay"].value) < 0.2
    assert means["experts", "lay"].pairs == 800


def test_the_share_left_out_is_of_the_items_that_the_others_judged():
    values = np.array([[0, 1, 0, 0, -1], [0, 1, 1, -1, 0], [0, 0, 0, -1, 1]], np.int8)
    view = ViewData("binary", ("a", "b", "c"), ("0", "1"), values)
    shares = view_figures(view, None, drawing(resamples=1))
    # the two others of a tie on two of three items that a judged; of b and c, on one of four
    for name, tied, judged in (("a", 2, 3), ("b", 1, 4), ("c", 1, 4)):
        share = figure(shares, "leave-one-out", "left_out", name)
        assert (share.value, share.pairs) == (pytest.approx(tied / judged), judged)


def test_what_is_undefined_has_a_reason():
    values = np.array([[1, 1, -1, -1], [1, 1, -1, -1], [-1, -1, 0, 1]], np.int8)
    view = ViewData("binary", ("a", "b", "c"), ("0", "1"), values)
    found = view_figures(view, None, drawing(resamples=50))
    alike = [one for one in found if (one.kind, one.statistic) == ("pairing", "kappa")]
    assert [isnan(one.value) for one in alike] == [True] * 3
    assert [one.pairs for one in alike] == [2, 0, 0]
    assert "same label" in alike[0].reason
    assert "no item" in alike[1].reason
    assert all(one.reason for one in found if isnan(one.value))


def test_fleiss_needs_as_many_judgments_of_each_item():
    even = np.array([[0, 1, 0, 1], [0, 1, 1, 1], [0, 0, 0, 1]], np.int8)
    uneven = even.copy()
    uneven[2, 3] = -1
    for values, defined in ((even, True), (uneven, False)):
        view = ViewData("binary", ("a", "b", "c"), ("0", "1"), values)
        figures = view_figures(view, None, drawing(resamples=1))
        fleiss = figure(figures, "joint", "fleiss")
        assert isnan(fleiss.value) != defined
        assert ("different numbers of judgments" in fleiss.reason) != defined
        assert not isnan(figure(figures, "joint", "alpha.nominal").value)


def test_judgments_by_one_annotator_each_are_said_to_be_so():
    """No item has two labels: nothing can be said about all annotators, nor about a majority."""
    values = np.full((3, 6), -1, np.int8)
    values[[0, 1, 2, 0, 1, 2], range(6)] = 1
    view = ViewData("binary", ("a", "b", "c"), ("0", "1"), values)
    figures = view_figures(view, None, drawing(resamples=2))
    for name in ("alpha.nominal", "ac1", "fleiss"):
        assert figure(figures, "joint", name).reason == "no item has two labels"
    pooled = figure(figures, "pooled consensus", "kappa")
    assert (pooled.pairs, pooled.reason) == (0, "no item has a label of both")
    assert "of two annotators" in figure(figures, "mean", "kappa").reason
