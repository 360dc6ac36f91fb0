"""Sums of training are whole numbers: the same for any order, any parts, and never too large."""

from dataclasses import replace
from fractions import Fraction

import aligner_reference as plain
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alignkit.align import Aligner, Bitext, Settings
from alignkit.align import maximization_kernel as kernel
from alignkit.align.cooccurrence import Cooccurrence
from alignkit.align.expectation import Lexical, Workers
from alignkit.align.training import Training

NUMBERS = st.lists(st.floats(0, 2.0**33, width=32), max_size=30)


def added(numbers):
    sums = np.zeros(1, np.int64)
    kernel.add_nulls(np.zeros(len(numbers), np.int32), np.array(numbers, np.float32), sums)
    return sums


@given(NUMBERS, NUMBERS)
def test_sums_are_exact_in_units_and_cut_where_they_would_overflow(some, others):
    units = [int(Fraction(x) * 2**32 + Fraction(1, 2)) for x in some + others]
    assert all(
        abs(Fraction(unit, 2**32) - Fraction(x)) <= Fraction(1, 2**33)
        for unit, x in zip(units, some + others, strict=True)
    )
    whole = added(some + others)
    assert whole[0] == min(sum(units), kernel.MOST)
    assert (added((some + others)[::-1]), kernel.add_up([added(some), added(others)])) == (
        whole,
        whole,
    )
    assert (whole / kernel.UNITS)[0] <= kernel.LARGEST


def random_training(seed, **options):
    rng = np.random.default_rng(seed)
    pairs = plain.random_pairs(rng, rng.integers(0, 8, (30, 2)).tolist(), 12)
    pairs += pairs[:3]
    pairs += [(["x"], ["y"])] * 25
    return Training(Bitext.pack(pairs), Settings(**options), Workers(1)), rng


@pytest.mark.parametrize("number", [2.0, 9e8])
def test_pseudo_counts_of_any_size_do_no_harm(number, tmp_path):
    text = [("a b", "x y"), ("a c", "x z"), ("b c d", "y z w")] * 20
    dictionary = {("a", "x"): number, ("a", "y"): number, ("b", "y"): number}
    aligner = Aligner.train(text, dictionary=dictionary, stem_weight=number)
    assert (Lexical(Cooccurrence.of(Bitext.pack(text)), 1).source_totals >= 1).all()
    assert str(aligner.align("b c d", "y z w")).startswith("0-0 ")
    aligner.save(tmp_path / "m")
    assert Aligner.load(tmp_path / "m").align("b c d", "y z w") == aligner.align("b c d", "y z w")


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 2e-3]), st.booleans())
@settings(max_examples=20)
def test_word_pairs_of_which_nothing_is_known_need_not_be_kept(seed, floor, stems):
    training, rng = random_training(seed, hmm=2, floor=floor, stem_weight=float(stems))
    training.run()
    known, index = training.parameters(), training.index
    assert len(known.columns) < len(index.columns)
    assert (known.forward != np.float32(floor)).all()
    weights = training.lexical.forward
    whole = replace(known, rows=index.rows, columns=index.columns, forward=weights, reverse=weights)
    new = plain.random_pairs(rng, rng.integers(0, 8, (20, 2)).tolist(), 15)
    for text in (new, training.bitext):
        found, wanted = (Aligner(one).align_bitext(text) for one in (known, whole))
        np.testing.assert_array_equal(found.arrays.links, wanted.arrays.links)
        np.testing.assert_array_equal(found.probabilities, wanted.probabilities)
        np.testing.assert_array_equal(*[Aligner(one).scores(text) for one in (known, whole)])
    assert list(Aligner(known).lexicon()) == list(Aligner(whole).lexicon())


def test_word_pairs_are_kept_where_vectors_may_tell_of_them():
    text = [("a b", "x y"), ("a c", "x z"), ("b c d", "y z w")] * 20

    def vectors(words):
        return np.ones((len(words), 2), np.float32)

    kept = [
        len(Aligner.train(text, vectors=one, spelling=0.0, stem_weight=0.0).parameters.columns)
        for one in (None, vectors)
    ]
    assert kept[1] == len(Cooccurrence.of(Bitext.pack(text)).columns)
    assert kept[0] < kept[1]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_what_was_pruned_keeps_the_floor(seed):
    training, _ = random_training(seed, ibm1=1, hmm=2, prune=True)
    prior = training.prior.copy()
    first, _ = random_training(seed, model="ibm1", ibm1=1)
    first.run()
    linked = np.zeros(len(prior), np.int64)
    kernel.add_levels(first.index.cells, first.estimator.agreement, linked)
    training.run()
    floor = np.float32(training.settings.floor)
    forgotten = (linked == 0) & (prior == floor)
    assert forgotten.any()
    assert (training.lexical.forward[forgotten] == floor).all()
    whole, _ = random_training(seed, ibm1=1, hmm=2)
    whole.run()
    assert len(training.parameters().columns) <= len(whole.parameters().columns)
