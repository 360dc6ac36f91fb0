"""Test the scores of alignments under IBM 3 and IBM 4, and hill climbing."""

from __future__ import annotations

from itertools import product
from math import exp, factorial, inf, log
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nltk.translate.ibm3 import IBMModel3
from nltk.translate.ibm4 import IBMModel4
from nltk.translate.ibm_model import AlignmentInfo
from reference_fertility import log_probability, neighbours, posteriors

from alignkit.align.fertility.corpus_kernel import local_logs, open_pair
from alignkit.align.fertility.kernel import CEPT, climb, put, put_all, swap_gain, take, word_gain
from alignkit.align.fertility.models import FertilityModel, align_fertility, distortion_block
from alignkit.errors import UnknownNameError


def random_case(model, n, m, seed, classes=2):
    """Make a random model and a pair of n words, each of its own kind, and m words."""
    rng = np.random.default_rng(seed)

    def shares(*shape):
        return rng.dirichlet(np.full(shape[-1], 0.7), shape[:-1]).astype(np.float32) + 1e-3

    ibm3 = model == "ibm3"
    case = SimpleNamespace(
        t=shares(n + 1, m).astype(np.float32), fertilities=shares(n, 4), p1=rng.uniform(0.02, 0.6),
        d=shares(n, m) if ibm3 else None, d1=shares(classes + 1, classes, 7),
        d2=shares(classes, 4),
        source_classes=rng.integers(0, classes, n + 1).astype(np.int32),
        target_classes=rng.integers(0, classes, m + 1).astype(np.int32),
    )  # fmt: skip
    order = {"first": case.d1, "rest": case.d2}
    positions = {"sizes": np.array([[n, m]]), "distortion": (case.d if ibm3 else case.t).ravel()}
    case.model = FertilityModel(
        model=model, null_share=case.p1, fertilities=np.vstack([case.fertilities, shares(1, 4)]),
        source_classes=case.source_classes, target_classes=case.target_classes,
        **(positions if ibm3 else order),
    )  # fmt: skip
    return case


def opened(case):
    n, m = len(case.fertilities), case.t.shape[1]
    kernel = case.model.kernel
    words = np.arange(n, dtype=np.int32), np.arange(m, dtype=np.int32)
    return open_pair(*words, local_logs(case.t, kernel, 0), kernel)


def links(pair):
    return (pair.links[CEPT] - 1).tolist()


def set_to(alignment, pair):
    return put_all(np.array(alignment, np.int32), pair)


cases = st.builds(
    random_case, st.sampled_from(["ibm3", "ibm4"]), st.integers(1, 4), st.integers(1, 6),
    st.integers(0, 10**6),
)  # fmt: skip


@st.composite
def aligned(draw):
    case = draw(cases)
    n, m = len(case.fertilities), case.t.shape[1]
    alignment = draw(st.lists(st.integers(-1, n - 1), min_size=m, max_size=m))
    assume(log_probability(case, alignment) > -inf)
    return case, alignment


@given(aligned())
def test_the_score_is_that_of_the_formula(both):
    case, alignment = both
    assert set_to(alignment, opened(case)) == pytest.approx(
        log_probability(case, alignment), abs=1e-4
    )


@given(aligned())
@settings(max_examples=60)
def test_a_move_changes_the_score_as_a_new_alignment_would(both):
    case, alignment = both
    pair = opened(case)
    score = set_to(alignment, pair)
    for j, old in enumerate(alignment):
        for i in range(-1, len(case.fertilities)):
            other = [*alignment[:j], i, *alignment[j + 1 :]]
            expected = log_probability(case, other)
            take(j, pair)
            gain = word_gain(j, i + 1, pair) - word_gain(j, old + 1, pair)
            put(j, old + 1, pair)
            if expected == -inf:
                assert gain < -1e8
            else:
                assert score + gain == pytest.approx(expected, abs=1e-3)
    assert links(pair) == alignment


@given(aligned())
@settings(max_examples=60)
def test_a_swap_changes_the_score_as_a_new_alignment_would(both):
    case, alignment = both
    pair = opened(case)
    score = set_to(alignment, pair)
    for j, k in product(range(len(alignment)), repeat=2):
        if alignment[j] != alignment[k]:
            other = list(alignment)
            other[j], other[k] = other[k], other[j]
            expected = log_probability(case, other)
            assert score + swap_gain(j, k, pair) == pytest.approx(expected, abs=1e-3)
    assert links(pair) == alignment


@given(cases, st.integers(0, 10**6))
def test_climbing_never_lowers_the_score_and_ends_where_no_neighbour_is_better(case, seed):
    n, m = len(case.fertilities), case.t.shape[1]
    start = np.random.default_rng(seed).integers(-1, n, m).astype(np.int32)
    pair = opened(case)
    score = put_all(start, pair)
    gain = climb(100, pair)
    assert gain >= 0
    best = log_probability(case, links(pair))
    assert best >= log_probability(case, start.tolist())
    if score > -1e8:  # else it started with more NULL words than there can be
        assert score + gain == pytest.approx(best, abs=1e-3)
    assert all(log_probability(case, other) <= best + 1e-3 for other in neighbours(links(pair), n))


@given(cases, st.integers(0, 10**6))
@settings(max_examples=60)
def test_posteriors_are_shares_of_the_neighbourhood(case, seed):
    n, m = len(case.fertilities), case.t.shape[1]
    start = np.random.default_rng(seed).integers(-1, n, m)
    words = np.arange(n), np.arange(m)
    found = align_fertility(case.model, *words, case.t[1:], case.t[0], start, sweeps=100)
    assert found.score == pytest.approx(log_probability(case, found.alignment.tolist()), abs=1e-3)
    expected = posteriors(case, found.alignment.tolist())
    np.testing.assert_allclose(found.posteriors, expected, atol=1e-3)


def test_ibm3_by_hand():
    # P = C(2, 0) p0^2  x  n(2|a) 2!  x  t(x|a) t(y|a)  x  d(1|1) d(2|1)
    model = FertilityModel(
        model="ibm3", null_share=0.1, fertilities=np.array([[0.2, 0.3, 0.4, 0.1]] * 2, np.float32),
        sizes=np.array([[1, 2]]), distortion=np.array([0.7, 0.3], np.float32),
        source_classes=np.zeros(2, np.int32), target_classes=np.zeros(3, np.int32),
    )  # fmt: skip
    t, null = np.array([[0.5, 0.25]], np.float32), np.array([0.01, 0.01], np.float32)
    found = align_fertility(model, np.array([0]), np.array([0, 1]), t, null, np.array([0, 0]))
    assert found.alignment.tolist() == [0, 0]
    assert exp(found.score) == pytest.approx(0.81 * 0.4 * 2 * 0.5 * 0.25 * 0.7 * 0.3, rel=1e-5)
    # or with x from NULL: C(1, 1) p1 x n(1|a) x t(x|NULL) t(y|a) x d(2|1); or with y from NULL
    x, y = 0.1 * 0.3 * 0.01 * 0.25 * 0.3, 0.1 * 0.3 * 0.01 * 0.5 * 0.7
    both = exp(found.score)
    np.testing.assert_allclose(
        found.posteriors, [[1 - x / (x + y + both), 1 - y / (x + y + both)]], rtol=1e-4
    )


def test_ibm4_by_hand():
    # words 1 and 3 from the first source word, centre 2; word 2 from the second, 0 steps from there
    case = random_case("ibm4", 2, 3, 1)
    score = log_probability(case, [0, 1, 0])
    a = case.source_classes[0]
    x, y, z = case.target_classes[:3]
    order = case.d1[2, x, 3 + 1] * case.d2[z, 2 - 1] * case.d1[a, y, 3 + 0]
    words = case.t[1, 0] * case.t[2, 1] * case.t[1, 2]
    fertilities = case.fertilities[0, 2] * case.fertilities[1, 1]
    assert exp(score) == pytest.approx((1 - case.p1) ** 3 * order * words * fertilities, rel=1e-5)
    assert set_to([0, 1, 0], opened(case)) == pytest.approx(score, abs=1e-5)


class Told:
    def __init__(self, case, n, m):
        self.p1 = case.p1
        self.translation_table = {
            f"f{j}": {None if i == 0 else f"e{i}": float(case.t[i][j - 1]) for i in range(n + 1)}
            for j in range(1, m + 1)
        }
        self.fertility_table = [
            {f"e{i + 1}": float(case.fertilities[i][s]) for i in range(n)} for s in range(3)
        ]
        if case.d is not None:
            self.distortion_table = {
                j: {i: {n: {m: float(case.d[i - 1][j - 1])}} for i in range(1, n + 1)}
                | {0: {n: {m: 1.0}}}  # it has d(j | NULL) too, which IBM 3 has not
                for j in range(1, m + 1)
            }
            return
        self.src_classes = {f"e{i + 1}": int(case.source_classes[i]) for i in range(n)}
        self.trg_classes = {f"f{j + 1}": int(case.target_classes[j]) for j in range(m)}
        self.head_distortion_table = {
            s: {
                None if a == 2 else a: {b: float(case.d1[a, b, 3 + s]) for b in (0, 1)}
                for a in range(3)
            }
            for s in range(-3, 4)
        }
        self.non_head_distortion_table = {
            s: {b: float(case.d2[b, s - 1]) for b in (0, 1)} for s in range(1, 4)
        }


IN_NLTK = [  # it has fewer fertilities, and a floor for too many NULL words
    alignment
    for alignment in product(range(-1, 2), repeat=3)
    if alignment.count(-1) < 2 and max(alignment.count(0), alignment.count(1)) < 3
]


@pytest.mark.parametrize("model", ["ibm3", "ibm4"])
@pytest.mark.parametrize("alignment", IN_NLTK)
def test_scores_are_those_of_nltk(model, alignment):
    n, m = 2, 3
    case = random_case(model, n, m, 7)
    cepts = [[j + 1 for j in range(m) if alignment[j] == i] for i in range(-1, n)]
    told = Told(case, n, m)
    info = AlignmentInfo(
        (0, *(i + 1 for i in alignment)), (None, "e1", "e2"), ("-", "f1", "f2", "f3"), cepts
    )
    if model == "ibm3":
        expected = log(IBMModel3.prob_t_a_given_s(told, info))
    else:  # nltk counts s! here too, but IBM 4 orders the words of a cept (Brown et al. 1993)
        expected = log(IBMModel4.model4_prob_t_a_given_s(info, told))
        expected -= sum(log(factorial(len(cept))) for cept in cepts[1:])
    assert set_to(alignment, opened(case)) == pytest.approx(expected, abs=1e-4)


def test_a_start_with_too_many_null_words_is_mended():
    for model in ("ibm3", "ibm4"):
        case = random_case(model, 1, 5, 3)
        start = np.full(5, -1)
        found = align_fertility(
            case.model, np.arange(1), np.arange(5), case.t[1:], case.t[0], start
        )
        assert (found.alignment < 0).sum() <= 2
        assert found.score > -1e6


@pytest.mark.parametrize(("n", "m"), [(0, 0), (2, 0), (0, 3)])
def test_a_side_without_words_has_no_links(n, m):
    case = random_case("ibm4", 2, 3, 3)
    t, null = np.ones((n, m), np.float32), np.ones(m, np.float32)
    found = align_fertility(case.model, np.arange(n), np.arange(m), t, null, np.zeros(m))
    assert found.alignment.tolist() == [-1] * m
    assert found.posteriors.shape == (n, m)
    assert np.isnan(found.score)


def test_words_and_lengths_never_seen_are_aligned():
    ibm4 = random_case("ibm4", 2, 3, 3).model
    ibm3 = FertilityModel(
        model="ibm3", null_share=0.1, fertilities=np.full((3, 4), 0.25, np.float32),
        sizes=np.zeros((0, 2), np.int64),
        diagonal=np.exp(-np.abs(np.arange(-40, 41))).astype(np.float32),
        source_classes=np.zeros(3, np.int32), target_classes=np.zeros(4, np.int32),
    )  # fmt: skip
    for model in (ibm3, ibm4):
        t = np.full((4, 4), 0.1, np.float32)
        start = np.zeros(4)
        words = np.full(4, 2), np.full(4, 3)
        found = align_fertility(model, *words, t, np.full(4, 1e-9, np.float32), start)
        assert np.isfinite(found.score)
        assert np.isfinite(found.posteriors).all()
    assert found.posteriors.sum(0).max() <= 1 + 1e-5
    found = align_fertility(ibm3, *words, t, np.full(4, 1e-9, np.float32), start)
    assert found.alignment.tolist() == [0, 1, 2, 3]  # only the diagonal speaks
    np.testing.assert_allclose(distortion_block(4, 4, ibm3.diagonal).sum(1), 1)


def test_an_unknown_model_is_named():
    with pytest.raises(UnknownNameError, match="ibm3, ibm4"):
        FertilityModel(model="ibm5", null_share=0.1, fertilities=np.ones((1, 4), np.float32))
