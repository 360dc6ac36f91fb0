"""Test the training of IBM 3 and IBM 4."""

from __future__ import annotations

from collections import defaultdict
from math import exp
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_fertility import cepts_of, log_probability, neighbours, posteriors

from alignkit.align.fertility import models as tables
from alignkit.align.fertility.models import FertilityText, align_fertility
from alignkit.align.fertility.training import FertilityTraining

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
    return FertilityText(
        sources=e, source_offsets=e_offsets, targets=f, target_offsets=f_offsets,
        cells=np.array(cells, np.int32), starts=np.array(starts),
        owners=np.array([pair[transposed] for pair in places], np.int32),
        vocabulary=(e_size, f_size), transposed=transposed,
    )  # fmt: skip


def started(text, seed=0):
    """Make what another model would give: here, random tables and alignments."""
    rng = np.random.default_rng(seed)
    n, m = np.diff(text.source_offsets), np.diff(text.target_offsets)
    viterbi = rng.integers(-1, np.repeat(n, m)) if m.sum() else np.zeros(0)
    v = text.vocabulary
    return {
        "lexical": rng.uniform(0.1, 0.9, len(text.owners)).astype(np.float32),
        "null": np.full(v[1], 1 / v[1], np.float32),
        "viterbi": viterbi.astype(np.int32),
        "classes": tuple((np.arange(size) % 2).astype(np.int32) for size in v),
    }


def trained(text, rounds=5, **options):
    training = FertilityTraining(
        text, **{"prior": np.zeros(len(text.owners), np.float32), **options}
    )
    for _ in range(rounds):
        training.expect()
        training.maximize()
    return training.finish()


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


def pairs_of(text):
    found = {}
    for p in range(len(text)):
        e = text.sources[text.source_offsets[p] : text.source_offsets[p + 1]].tolist()
        f = text.targets[text.target_offsets[p] : text.target_offsets[p + 1]].tolist()
        for i, a in enumerate(e):
            for j, b in enumerate(f):
                at = j * len(e) + i if text.transposed else i * len(f) + j
                found[a, b] = text.cells[text.starts[p] + at]
    return found


def case_of(training, p):
    """Return the tables of one pair as the reference wants them."""
    text, model = training.text, training.model
    e = text.sources[text.source_offsets[p] : text.source_offsets[p + 1]]
    f = text.targets[text.target_offsets[p] : text.target_offsets[p + 1]]
    n, m = len(e), len(f)
    lexical, null = training.lexical_tables()
    t = lexical[text.cells[text.starts[p] : text.starts[p + 1]]].reshape(n, m)
    d = None
    if model.factorial:
        distortion, at = model.block(n, m)
        d = distortion[at : at + n * m].reshape(n, m)
    return e, f, SimpleNamespace(
        t=np.vstack([null[f], t]), fertilities=model.fertilities[e], p1=model.null_share, d=d,
        d1=model.first, d2=model.rest, source_classes=model.source_classes[e],
        target_classes=model.target_classes[f],
    )  # fmt: skip


@MODELS
@pytest.mark.parametrize("seed", [1, 2])
def test_counts_are_those_of_the_best_alignment_and_its_neighbours(model, seed):
    text = packed(random_pairs(seed))
    prior = np.zeros(len(text.owners), np.float32)
    training = FertilityTraining(text, model=model, prior=prior, **started(text, seed))
    cases = [case_of(training, p) for p in range(len(text))]
    score = training.expect()
    fertilities, heads, words = defaultdict(float), 0.0, 0.0
    expected = 0.0
    for p, (e, f, case) in enumerate(cases):
        best = training.viterbi[text.target_offsets[p] : text.target_offsets[p + 1]].tolist()
        if not len(e) or not len(f):
            assert best == [-1] * len(f)
            continue
        expected += log_probability(case, best)
        found = training.posteriors[text.starts[p] : text.starts[p + 1]].reshape(len(e), len(f))
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
@pytest.mark.parametrize("discount", [0.0, 1.0])
def test_results_are_the_same_for_any_number_of_threads(model, discount):
    text = packed(random_pairs(3, 40))
    one, three = (
        trained(text, 3, model=model, threads=k, discount=discount, **started(text)) for k in (1, 3)
    )
    np.testing.assert_array_equal(one.posteriors, three.posteriors)
    np.testing.assert_array_equal(one.viterbi, three.viterbi)
    assert one.scores == three.scores
    assert len(one.scores) == 4


@MODELS
@pytest.mark.parametrize("discount", [0.0, 1.0])
def test_a_pair_by_itself_is_aligned_as_in_training(model, discount):
    text = packed(random_pairs(5, 30))
    start = started(text)
    prior = np.random.default_rng(1).uniform(0, 1, len(text.owners)).astype(np.float32)
    found = trained(text, 2, model=model, discount=discount, prior=prior, **start)
    for p in range(len(text)):
        e = text.sources[text.source_offsets[p] : text.source_offsets[p + 1]]
        j = slice(text.target_offsets[p], text.target_offsets[p + 1])
        f = text.targets[j]
        at = slice(text.starts[p], text.starts[p + 1])
        alone = align_fertility(
            found.model, e, f, found.lexical[text.cells[at]].reshape(len(e), len(f)),
            found.null[f], start["viterbi"][j],
        )  # fmt: skip
        if len(e):
            np.testing.assert_array_equal(alone.alignment, found.viterbi[j])
        np.testing.assert_array_equal(alone.posteriors.ravel(), found.posteriors[at])


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
    given_links = np.zeros(len(text.cells), np.float32)
    given_links[::3] = 0.5  # 0-0 and 1-1 of each pair
    training.maximize(given_links)
    lexical = training.lexical_tables()[0]
    assert lexical[pairs_of(text)[0, 0]] == pytest.approx(1)
    assert lexical[pairs_of(text)[0, 1]] == 0


@MODELS
@pytest.mark.parametrize("pairs", [[], [([], [])], [([0], []), ([], [0, 0])], [([0], [0])]])
def test_little_text_is_borne(model, pairs):
    text = packed(pairs)
    found = trained(text, model=model, **started(text))
    assert np.isfinite(found.posteriors).all()
    assert np.isfinite(found.scores).all()


counts = st.integers(0, 10**6).map(np.random.default_rng)


@given(counts, st.floats(0.1, 100))
@settings(max_examples=50)
def test_tables_are_distributions(rng, weight):
    tail = tables.TAIL
    raw = rng.gamma(0.2, 5, (7, tables.MOST + 1)) * rng.integers(0, 2, (7, 1))
    n = tables.estimate_fertilities(
        raw, tables.frequency_bands(np.array([9, 4, 4, 1, 1, 1, 0])), weight
    )
    np.testing.assert_allclose(n.sum(1), 1, rtol=1e-5)
    first = tables.estimate_first(rng.gamma(0.1, 5, (3, 2, 2 * tables.REACH + 1)), weight)
    ends = (tail - 1) * (first[..., 0] + first[..., -1])
    np.testing.assert_allclose(first.sum(-1) + ends, 1, rtol=1e-5)
    rest = tables.estimate_rest(rng.gamma(0.1, 5, (2, tables.REACH)), weight)
    np.testing.assert_allclose(rest.sum(-1) + (tail - 1) * rest[..., -1], 1, rtol=1e-5)
    sizes, starts, blocks = tables.blocks_of(rng.integers(0, 6, (9, 2)))
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
