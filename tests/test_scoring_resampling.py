"""Confidence intervals and the comparison of systems."""

import json
import math
from itertools import product

import numpy as np
import pytest
from refusals import refuses

from alignkit.errors import JoinError, OptionError, UnknownNameError
from alignkit.scoring import compare, link_ratios, phrase_ratios, score
from alignkit.stats import confidence_interval
from alignkit.stats import resampling as bootstrap_module
from alignkit.stats import tests as tests_module
from alignkit.stats.tests import joint_bootstrap, joint_randomization, paired_randomization


def rows_of(rng, pairs, quality, reference=None):
    """Return link rows of a made-up system that finds each of the sure links by chance."""
    ref = rng.integers(1, 12, pairs) if reference is None else reference
    found = rng.binomial(ref, quality)
    hyp = found + rng.binomial(ref, 1 - quality)
    return np.stack([hyp, hyp, ref, ref, found, found, found, found], axis=1)


@pytest.mark.slow
def test_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(1)
    hits = 0
    for seed in range(200):
        found = confidence_interval(rows_of(rng, 80, 0.7), link_ratios, resamples=200, seed=seed)
        hits += found["recall"].low <= 0.7 <= found["recall"].high
    assert 0.90 <= hits / 200 <= 0.985


def test_interval_agrees_with_drawing_pairs_one_by_one():
    rows = rows_of(np.random.default_rng(2), 50, 0.6)
    found = confidence_interval(rows, link_ratios, resamples=4000, seed=3)
    rng = np.random.default_rng(4)
    sums = np.array([rows[rng.integers(0, 50, 50)].sum(0) for _ in range(4000)])
    for name, values in link_ratios(sums).items():
        low, high = np.quantile(values, [0.025, 0.975])
        assert (found[name].low, found[name].high) == pytest.approx((low, high), abs=0.008)
        assert found[name].standard_error == pytest.approx(values.std(), rel=0.08)


def test_chunks_do_not_change_the_draws(monkeypatch):
    rows = rows_of(np.random.default_rng(2), 30, 0.6)
    whole = confidence_interval(rows, link_ratios, resamples=50, seed=3)
    monkeypatch.setattr(bootstrap_module, "_CHUNK_BYTES", 1000)
    assert confidence_interval(rows, link_ratios, resamples=50, seed=3) == whole


def test_resamples_without_links_are_counted_as_undefined():
    rows = np.zeros((2, 8), np.int64)
    rows[0] = 1
    found = confidence_interval(rows, link_ratios, resamples=400, seed=1)["precision"]
    assert 60 < found.undefined < 140  # a quarter draw the empty pair twice
    assert found.reason == "all resamples give the same value"
    empty = np.zeros((2, 5), np.int64)
    nothing = confidence_interval(empty, phrase_ratios, resamples=5, seed=1)["f1"]
    assert (math.isnan(nothing.low), nothing.undefined) == (True, 5)
    assert nothing.reason == "it is undefined in all resamples"


def test_one_pair_has_no_interval_and_the_reason_is_told():
    one = score(["0-0 1-1"], ["0-0 1-1"]).with_intervals(resamples=9)
    assert math.isnan(one.intervals["links"]["f1"].low)
    assert str(one).count("100.0 (a)") == 3
    assert "only one sentence pair" in str(one)
    assert one.to_json()["intervals"]["links"]["f1"]["low"] is None
    rows = rows_of(np.random.default_rng(6), 2, 0.7)[:1]
    for found in compare({"a": rows, "b": rows}, link_ratios, resamples=9, trials=9):
        assert math.isnan(found.bootstrap_p)
        assert math.isnan(found.wins)
        assert "nothing to resample" in found.interval.reason


def test_all_draws_follow_from_a_seed_that_the_signature_names():
    rng = np.random.default_rng(6)
    reference = rng.integers(1, 12, 40)
    rows = {name: rows_of(rng, 40, 0.7, reference) for name in "ab"}
    assert list(compare(rows, link_ratios)) == list(compare(rows, link_ratios, seed=12345))
    assert list(compare(rows, link_ratios)) != list(compare(rows, link_ratios, seed=1))
    assert "|seed:12345|" in str(compare(rows, link_ratios).signature)
    links = ["0-0 1-1", "0-0 1-0 2-2", "0-1"] * 10
    found = score(links, links[1:] + links[:1])
    assert found.with_intervals().intervals == found.with_intervals(seed=12345).intervals
    assert "|seed:12345|" in str(found.with_intervals().signature)
    refuses(OptionError, "the seed is -1", found.with_intervals, seed=-1)


def exact_randomization(system, baseline, measure):
    """Return the p-values over all 2^P ways of exchanging outputs."""

    def differences(first, second):
        mine, other = measure(first[None]), measure(second[None])
        return {name: mine[name][0] - other[name][0] for name in mine}

    truth = differences(system.sum(0), baseline.sum(0))
    reached = dict.fromkeys(truth, 0)
    for swap in product((0, 1), repeat=len(system)):
        chosen = np.array(swap, bool)[:, None]
        turned = (system, baseline), (baseline, system)
        drawn = (np.where(chosen, other, one).sum(0) for one, other in turned)
        for name, value in differences(*drawn).items():
            reached[name] += abs(value) >= abs(truth[name]) - 1e-12
    return {name: count / 2 ** len(system) for name, count in reached.items()}


def test_randomization_agrees_with_exact_enumeration():
    rng = np.random.default_rng(5)
    reference = rng.integers(1, 12, 10)
    system, baseline = (rows_of(rng, 10, quality, reference) for quality in (0.9, 0.6))
    exact = exact_randomization(system, baseline, link_ratios)
    found = paired_randomization(system, baseline, link_ratios, trials=20000, rng=rng)
    assert found == pytest.approx(exact, abs=0.012)
    assert min(exact.values()) < 0.2


@pytest.mark.parametrize("alike_pairs", [0, 1000])
def test_joint_randomization_agrees_with_exact_enumeration(monkeypatch, alike_pairs):
    """For each pair of three systems, however what is exchanged is drawn."""
    monkeypatch.setattr(tests_module, "ALIKE_PAIRS", alike_pairs)
    rng = np.random.default_rng(5)
    reference = np.repeat(rng.integers(1, 12, 5), 2)
    systems = [
        np.repeat(rows_of(rng, 5, quality, reference[::2]), 2, axis=0)
        for quality in (0.9, 0.6, 0.8)
    ]
    pairs = [(0, 1), (2, 1), (0, 2)]
    found = joint_randomization(systems, pairs, link_ratios, trials=20000, rng=rng)
    for (a, b), p_values in zip(pairs, found, strict=True):
        exact = exact_randomization(systems[a], systems[b], link_ratios)
        assert p_values == pytest.approx(exact, abs=0.012)


@pytest.mark.parametrize("many", [0, 10**9])
def test_resamples_have_the_moments_of_drawing_pairs(monkeypatch, many):
    """The mean and the covariance of sums are P mean(rows) and P cov(rows), drawn either way."""
    monkeypatch.setattr(bootstrap_module, "_MANY", many)
    rng = np.random.default_rng(11)
    rows = rng.integers(0, 6, (40, 3))
    rows[20:30] = rows[:10]  # pairs with the same row
    sums = np.concatenate(list(bootstrap_module.resample(rows, 20_000, rng)))
    assert (sums == sums.round()).all()
    covariance = 40 * np.cov(rows.T, bias=True)
    assert sums.mean(0) == pytest.approx(40 * rows.mean(0), abs=0.5)
    assert np.cov(sums.T) == pytest.approx(covariance, abs=0.05 * covariance.max())
    ones = np.concatenate(list(bootstrap_module.resample(np.c_[rows, np.ones(40)], 50, rng)))
    assert (ones[:, 3] == 40).all()


def test_identical_systems_have_p_1_and_undefined_differences_stay_so():
    rows = rows_of(np.random.default_rng(6), 40, 0.7)
    same = {"a": rows, "b": rows.copy()}
    for found in compare(same, link_ratios, resamples=50, trials=50, seed=1):
        assert (found.bootstrap_p, found.randomization_p) == (1, 1)
        assert (found.difference, found.wins) == (0, 0)
        assert (found.interval.low, found.interval.high) == (0, 0)
    rows = np.zeros((3, 8), np.int64)
    for found in compare({"a": rows, "b": rows}, link_ratios, resamples=5, trials=5, seed=1):
        assert math.isnan(found.randomization_p)
        assert math.isnan(found.bootstrap_p)
        assert found.to_json()["difference"] is None
    rows = rows_of(np.random.default_rng(9), 40, 0.7)
    rng = np.random.default_rng(1)
    drawn = joint_bootstrap([rows, rows], link_ratios, resamples=20, rng=rng)["aer"]
    assert drawn.shape == (2, 20)
    assert (drawn[0] == drawn[1]).all()
    assert drawn[0].std() > 0


def test_a_clearly_better_system_is_found_better():
    rng = np.random.default_rng(7)
    reference = rng.integers(1, 12, 200)
    rows = {
        name: rows_of(rng, 200, quality, reference)
        for name, quality in (("base", 0.6), ("good", 0.8), ("same", 0.6))
    }
    found = {
        (one.system, one.measure): one
        for one in compare(rows, link_ratios, baseline="base", resamples=500, trials=999, seed=1)
    }
    assert len(found) == 8
    assert {one.baseline for one in found.values()} == {"base"}
    aer = found["good", "aer"]
    assert aer.difference < 0
    assert aer.interval.high < 0
    assert (aer.wins, aer.randomization_p, aer.bootstrap_p) == (1, 1 / 1000, 2 / 501)
    assert found["same", "aer"].randomization_p > 0.05
    turned = compare(rows, link_ratios, baseline="good", resamples=50, trials=50, seed=1)
    assert {one.system for one in turned} == {"base", "same"}
    json.dumps([one.to_json() for one in turned], allow_nan=False)


def test_p_of_the_bootstrap_agrees_with_its_interval():
    rng = np.random.default_rng(8)
    for seed in range(30):
        reference = rng.integers(1, 12, 40)
        rows = {name: rows_of(rng, 40, 0.7, reference) for name in "ab"}
        one = compare(rows, link_ratios, resamples=399, trials=1, seed=seed)[0]
        excludes = one.interval.low > 0 or one.interval.high < 0
        assert excludes == (one.bootstrap_p < 0.05) or abs(one.bootstrap_p - 0.05) < 0.011


def test_intervals_of_links_are_the_same_with_phrases_and_without():
    hyp, ref = ["0-0 1-1 2-2", "0-0 1-2", "0-1 1-1"], ["0-0 1-1"] * 3
    found = [
        score(hyp, ref, level=level).with_intervals(resamples=50, seed=3)
        for level in ("links", "both")
    ]
    assert found[0].intervals["links"] == found[1].intervals["links"]
    plain = found[1].to_json()["intervals"]
    assert set(plain["phrases"]) == {"possible", "sure"}
    assert plain["links"]["aer"]["low"] <= found[1].links.aer <= plain["links"]["aer"]["high"]


def test_bad_requests_are_refused():
    rows = rows_of(np.random.default_rng(1), 5, 0.5)
    for options, told in (({"resamples": 0}, "resamples"), ({"confidence": 95}, "confidence")):
        refuses(OptionError, told, confidence_interval, rows, link_ratios, **options)
    for error, others, options in (
        (OptionError, {"b": rows}, {"trials": 0}),
        (UnknownNameError, {"b": rows}, {"baseline": "c"}),
        (JoinError, {"b": rows[1:]}, {}),
        (JoinError, {"b": rows + 1}, {}),
    ):
        refuses(error, None, compare, {"a": rows, **others}, link_ratios, **options)
    phrases = rows[:, [0, 2, 4, 5, 6]]
    with pytest.raises(JoinError, match="different references"):
        compare({"a": phrases, "b": phrases + np.eye(5, dtype=int)[1]}, phrase_ratios)
    better = {"a": phrases, "b": phrases + np.eye(5, dtype=int)[0]}
    assert len(compare(better, phrase_ratios, resamples=2, trials=2)) == 3
