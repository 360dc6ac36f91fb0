"""IBM 3 and IBM 4: scores of alignments, hill climbing, and the training of one direction."""

from collections import defaultdict
from itertools import product
from math import exp, factorial, inf, log
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.ibm3 import IBMModel3
from nltk.translate.ibm4 import IBMModel4
from nltk.translate.ibm_model import AlignmentInfo
from reference_fertility import cepts_of, log_probability, neighbours, posteriors

from alignkit._support.jit import readonly
from alignkit.align.expectation import blocks_of
from alignkit.align.fertility import models as tables
from alignkit.align.fertility.corpus_kernel import KernelText
from alignkit.align.fertility.models import FertilityModel, FertilityText, align_fertility
from alignkit.align.fertility.training import FertilityTraining


def random_case(model, n, m, seed, classes=2):
    """Make a random model and a pair of n words, each of its own kind, and m words."""
    rng = np.random.default_rng(seed)

    def shares(*shape):
        return rng.dirichlet(np.full(shape[-1], 0.7), shape[:-1]).astype(np.float32) + 1e-3

    ibm3 = model == "ibm3"
    case = SimpleNamespace(
        t=shares(n + 1, m).astype(np.float32),
        fertilities=shares(n, 4),
        p1=rng.uniform(0.02, 0.6),
        d=shares(n, m) if ibm3 else None,
        d1=shares(classes + 1, classes, 7),
        d2=shares(classes, 4),
        source_classes=rng.integers(0, classes, n + 1).astype(np.int32),
        target_classes=rng.integers(0, classes, m + 1).astype(np.int32),
    )
    positions = {"sizes": np.array([[n, m]]), "distortion": (case.d if ibm3 else case.t).ravel()}
    case.model = FertilityModel(
        model=model,
        null_share=case.p1,
        fertilities=np.vstack([case.fertilities, shares(1, 4)]),
        source_classes=case.source_classes,
        target_classes=case.target_classes,
        **(positions if ibm3 else {"first": case.d1, "rest": case.d2}),
    )
    return case


def climbed(case, start, sweeps=100):
    words = np.arange(len(case.fertilities)), np.arange(len(start))
    found = align_fertility(case.model, *words, case.t[1:], case.t[0], start, sweeps=sweeps)
    return found, found.alignment.tolist()


cases = st.builds(
    random_case,
    st.sampled_from(["ibm3", "ibm4"]),
    st.integers(1, 4),
    st.integers(1, 6),
    st.integers(0, 10**6),
)


@given(cases, st.integers(0, 10**6))
def test_alignments_climb_to_where_no_neighbour_is_better_and_score_as_the_formula(case, seed):
    n, m = len(case.fertilities), case.t.shape[1]
    start = np.random.default_rng(seed).integers(-1, n, m).tolist()
    first = log_probability(case, start)
    if first > -inf:  # else it starts with more NULL words than there can be
        found, alignment = climbed(case, start, sweeps=0)
        assert (alignment, found.score) == (start, pytest.approx(first, abs=1e-3))
    found, alignment = climbed(case, start)
    assert found.score == pytest.approx(log_probability(case, alignment), abs=1e-3)
    others = [log_probability(case, other) for other in neighbours(alignment, n)]
    assert found.score >= max(first, *others) - 1e-3
    np.testing.assert_allclose(found.posteriors, posteriors(case, alignment), atol=1e-3)


def test_ibm3_by_hand():
    # P = C(2, 0) p0^2  x  n(2|a) 2!  x  t(x|a) t(y|a)  x  d(1|1) d(2|1)
    model = FertilityModel(
        model="ibm3",
        null_share=0.1,
        fertilities=np.array([[0.2, 0.3, 0.4, 0.1]] * 2, np.float32),
        sizes=np.array([[1, 2]]),
        distortion=np.array([0.7, 0.3], np.float32),
        source_classes=np.zeros(2, np.int32),
        target_classes=np.zeros(3, np.int32),
    )
    t, null = np.array([[0.5, 0.25]], np.float32), np.array([0.01, 0.01], np.float32)
    found = align_fertility(model, np.array([0]), np.array([0, 1]), t, null, np.array([0, 0]))
    assert found.alignment.tolist() == [0, 0]
    assert exp(found.score) == pytest.approx(0.81 * 0.4 * 2 * 0.5 * 0.25 * 0.7 * 0.3, rel=1e-5)
    # or with x from NULL: C(1, 1) p1 x n(1|a) x t(x|NULL) t(y|a) x d(2|1); or with y from NULL
    x, y = 0.1 * 0.3 * 0.01 * 0.25 * 0.3, 0.1 * 0.3 * 0.01 * 0.5 * 0.7
    both = exp(found.score)
    shares = [[1 - x / (x + y + both), 1 - y / (x + y + both)]]
    np.testing.assert_allclose(found.posteriors, shares, rtol=1e-4)


def test_ibm4_by_hand():
    # words 1 and 3 from the first source word, centre 2; word 2 from the second, 0 steps from there
    case = random_case("ibm4", 2, 3, 1)
    score = log_probability(case, [0, 1, 0])
    x, y, z = case.target_classes[:3]
    order = case.d1[2, x, 3 + 1] * case.d2[z, 2 - 1] * case.d1[case.source_classes[0], y, 3 + 0]
    words = case.t[1, 0] * case.t[2, 1] * case.t[1, 2]
    fertilities = case.fertilities[0, 2] * case.fertilities[1, 1]
    assert exp(score) == pytest.approx((1 - case.p1) ** 3 * order * words * fertilities, rel=1e-5)
    assert climbed(case, [0, 1, 0], sweeps=0)[0].score == pytest.approx(score, abs=1e-5)


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
    assert climbed(case, alignment, sweeps=0)[0].score == pytest.approx(expected, abs=1e-4)


def test_words_and_lengths_never_seen_are_aligned():
    ibm3 = FertilityModel(
        model="ibm3",
        null_share=0.1,
        fertilities=np.full((3, 4), 0.25, np.float32),
        sizes=np.zeros((0, 2), np.int64),
        diagonal=np.exp(-np.abs(np.arange(-40, 41))).astype(np.float32),
        source_classes=np.zeros(3, np.int32),
        target_classes=np.zeros(4, np.int32),
    )
    for model in (ibm3, random_case("ibm4", 2, 3, 3).model):
        t = np.full((4, 4), 0.1, np.float32)
        start = np.zeros(4)
        words = np.full(4, 2), np.full(4, 3)
        found = align_fertility(model, *words, t, np.full(4, 1e-9, np.float32), start)
        assert np.isfinite(found.score)
        assert np.isfinite(found.posteriors).all()
    assert found.posteriors.sum(0).max() <= 1 + 1e-5
    found = align_fertility(ibm3, *words, t, np.full(4, 1e-9, np.float32), start)
    assert found.alignment.tolist() == [0, 1, 2, 3]  # only the diagonal speaks
    np.testing.assert_allclose(tables.distortion_block(4, 4, ibm3.diagonal).sum(1), 1)


TEXTBOOK = [([0, 1], [0, 1]), ([0, 2], [0, 2]), ([3, 2], [3, 2])]
# das Haus, das Buch, ein Buch; the house, the book, a book


def packed(pairs, *, transposed=False):
    """Lay out a bitext as the aligner does; transposed: as the direction from target to source."""
    places, cells, starts = {}, [], [0]
    for source, target in pairs:
        cells += [places.setdefault((e, f), len(places)) for e in source for f in target]
        starts.append(len(cells))
    sides = []
    for side in (0, 1):
        words = [word for pair in pairs for word in pair[side]]
        offsets = np.cumsum([0, *(len(pair[side]) for pair in pairs)])
        sides.append((np.array(words, np.int32), offsets, max(words, default=0) + 1))
    (e, e_offsets, e_size), (f, f_offsets, f_size) = sides[::-1] if transposed else sides
    arrays = e, e_offsets, f, f_offsets, np.array(starts), np.array(cells, np.int32)
    owners = np.array([pair[transposed] for pair in places], np.int32)
    return FertilityText(KernelText(*map(readonly, arrays), transposed), owners, (e_size, f_size))


def started(text, seed=0):
    """Make what another model would give: here, random tables and alignments."""
    rng = np.random.default_rng(seed)
    n, m = np.diff(text.kernel.source_offsets), np.diff(text.kernel.target_offsets)
    viterbi = rng.integers(-1, np.repeat(n, m)) if m.sum() else np.zeros(0)
    v = text.vocabulary
    return {
        "lexical": rng.uniform(0.1, 0.9, len(text.owners)).astype(np.float32),
        "null": np.full(v[1], 1 / v[1], np.float32),
        "viterbi": viterbi.astype(np.int32),
        "classes": tuple((np.arange(size) % 2).astype(np.int32) for size in v),
    }


def trained(text, rounds=5, **options):
    options = {"prior": np.zeros(len(text.owners), np.float32), **options}
    training = FertilityTraining(text, **options)
    for _ in range(rounds):
        training.expect()
        training.maximize()
    training.finish()
    return training


def random_pairs(seed, count=12, size=6, longest=6):
    rng = np.random.default_rng(seed)
    return [
        tuple(rng.integers(0, size, rng.integers(0, longest)).tolist() for _ in range(2))
        for _ in range(count)
    ]


MODELS = pytest.mark.parametrize("model", ["ibm3", "ibm4"])


@MODELS
def test_the_textbook_example_is_learned(model):
    text = packed(TEXTBOOK * 3)
    start = started(text) | {
        "lexical": np.full(len(text.owners), 0.25, np.float32),
        "viterbi": np.tile(np.array([0, 1], np.int32), 9),
    }
    found = trained(text, model=model, **start)
    assert found.viterbi.tolist() == [0, 1] * 9
    for place, (e, f) in enumerate({(e, f) for s, t in TEXTBOOK for e in s for f in t}):
        assert place < len(found.lexical)
        assert (found.lexical[pairs_of(text)[e, f]] > 0.8) == (e == f)
    # each word has one word: P(1 | word) is most
    assert (found.model.fertilities[:4].argmax(1) == 1).all()


def words_of(text, p):
    """Return the words of both sides of pair p, and the word pairs of its cells (N, M)."""
    seen = text.kernel
    e = seen.sources[seen.source_offsets[p] : seen.source_offsets[p + 1]]
    f = seen.targets[seen.target_offsets[p] : seen.target_offsets[p + 1]]
    cells = seen.cells[seen.starts[p] : seen.starts[p + 1]]
    n, m = len(e), len(f)
    return e, f, cells.reshape(m, n).T if seen.transposed else cells.reshape(n, m)


def pairs_of(text):
    found = {}
    for p in range(len(text)):
        e, f, cells = words_of(text, p)
        found |= {
            (a, b): cells[i, j] for i, a in enumerate(e.tolist()) for j, b in enumerate(f.tolist())
        }
    return found


def case_of(training, p):
    """Return the tables of one pair as the reference wants them."""
    model = training.model
    e, f, cells = words_of(training.text, p)
    n, m = cells.shape
    lexical, null = training.lexical_tables()
    d = None
    if model.factorial:
        distortion, at = model.block(n, m)
        d = distortion[at : at + n * m].reshape(n, m)
    return (
        e,
        f,
        SimpleNamespace(
            t=np.vstack([null[f], lexical[cells]]),
            fertilities=model.fertilities[e],
            p1=model.null_share,
            d=d,
            d1=model.first,
            d2=model.rest,
            source_classes=model.source_classes[e],
            target_classes=model.target_classes[f],
        ),
    )


@MODELS
@pytest.mark.parametrize("seed", [1, 2])
def test_counts_are_those_of_the_best_alignment_and_its_neighbours(model, seed):
    text = packed(random_pairs(seed))
    prior = np.zeros(len(text.owners), np.float32)
    training = FertilityTraining(text, model=model, prior=prior, **started(text, seed))
    cases = [case_of(training, p) for p in range(len(text))]
    score = training.expect()
    fertilities, heads, words, expected = defaultdict(float), 0.0, 0.0, 0.0
    offsets = text.kernel.target_offsets
    for p, (e, f, case) in enumerate(cases):
        best = training.viterbi[offsets[p] : offsets[p + 1]].tolist()
        if not len(e) or not len(f):
            assert best == [-1] * len(f)
            continue
        expected += log_probability(case, best)
        found = training.posteriors[text.kernel.starts[p] : text.kernel.starts[p + 1]]
        found = found.reshape(len(e), len(f))
        np.testing.assert_allclose(found, posteriors(case, best), atol=1e-3)
        near = neighbours(best, len(e))
        ratios = [exp(log_probability(case, a) - log_probability(case, best)) for a in near]
        near = [(a, r / (1 + sum(ratios))) for a, r in zip(near, ratios, strict=True) if r > 1e-3]
        for a, weight in [*near, (best, 1 - sum(w for _, w in near))]:
            cepts = cepts_of(a, len(e))
            for word, cept in zip(e.tolist(), cepts[1:], strict=True):
                fertilities[word, len(cept)] += weight
            heads += weight * sum(1 for cept in cepts[1:] if cept)
            words += weight * sum(map(len, cepts[1:]))
    assert score == pytest.approx(expected, abs=1e-2)
    for (word, size), count in fertilities.items():
        assert training.counts.fertilities[word, size] == pytest.approx(count, abs=1e-3)
    if model == "ibm4":
        assert training.counts.first.sum() == pytest.approx(heads, abs=1e-2)
        assert training.counts.rest.sum() == pytest.approx(words - heads, abs=1e-2)


@MODELS
def test_the_other_direction_is_the_sides_changed(model):
    pairs = random_pairs(8, 20)
    there = packed([pair[::-1] for pair in pairs])
    back = packed(pairs, transposed=True)
    places = pairs_of(back)
    start = started(there)
    lexical = np.empty_like(start["lexical"])
    for pair, place in pairs_of(there).items():
        lexical[places[pair]] = start["lexical"][place]
    one = trained(there, model=model, **start)
    two = trained(back, model=model, **(start | {"lexical": lexical}))
    np.testing.assert_array_equal(one.viterbi, two.viterbi)
    np.testing.assert_allclose(one.scores, two.scores, rtol=1e-5)


def test_agreement_takes_the_counts_it_is_given():
    text = packed(TEXTBOOK)
    prior = np.zeros(len(text.owners), np.float32)
    training = FertilityTraining(text, model="ibm3", prior=prior, **started(text))
    training.expect()
    given_links = np.zeros(len(text.kernel.cells), np.float32)
    given_links[::3] = 0.5  # 0-0 and 1-1 of each pair
    training.maximize(given_links)
    lexical = training.lexical_tables()[0]
    assert lexical[pairs_of(text)[0, 0]] == pytest.approx(1)
    assert lexical[pairs_of(text)[0, 1]] == 0


random = st.integers(0, 10**6).map(np.random.default_rng)


@given(random, st.floats(0.1, 100))
def test_tables_are_distributions(rng, weight):
    tail = tables.TAIL
    raw = rng.gamma(0.2, 5, (7, tables.MOST + 1)) * rng.integers(0, 2, (7, 1))
    bands = tables.frequency_bands(np.array([9, 4, 4, 1, 1, 1, 0]))
    n = tables.estimate_fertilities(raw, bands, weight)
    np.testing.assert_allclose(n.sum(1), 1, rtol=1e-5)
    first = tables.estimate_first(rng.gamma(0.1, 5, (3, 2, 2 * tables.REACH + 1)), weight)
    ends = (tail - 1) * (first[..., 0] + first[..., -1])
    np.testing.assert_allclose(first.sum(-1) + ends, 1, rtol=1e-5)
    rest = tables.estimate_rest(rng.gamma(0.1, 5, (2, tables.REACH)), weight)
    np.testing.assert_allclose(rest.sum(-1) + (tail - 1) * rest[..., -1], 1, rtol=1e-5)
    sizes, starts, blocks = blocks_of(rng.integers(0, 6, (9, 2)))
    positions = rng.gamma(0.3, 5, int(starts[-1]))
    diagonal = tables.estimate_diagonal(positions, sizes, starts)
    d = tables.estimate_distortion(positions, sizes, starts, diagonal, weight)
    for (rows, columns), start in zip(sizes.tolist(), starts.tolist(), strict=False):
        block = d[start : start + rows * columns].reshape(rows, columns)
        np.testing.assert_allclose(block.sum(1), 1 if columns else 0, rtol=1e-5)
    assert set(blocks.tolist()) <= set(starts.tolist())
    assert min(n.min(), first.min(), rest.min()) > 0
    assert (d > 0).all()


def test_rare_words_have_the_fertilities_of_words_as_rare():
    raw = np.zeros((5, tables.MOST + 1))
    raw[0, 1] = 1000  # a frequent word with one word each time
    raw[1, 2] = raw[2, 2] = 3  # two rare words with two
    n = tables.estimate_fertilities(raw, tables.frequency_bands(np.array([1000, 3, 3, 3, 0])), 1.0)
    assert n[0].argmax() == 1
    assert n[3].argmax() == 2  # rare, not counted
    assert n[4].argmax() == 1  # never seen: as all words
