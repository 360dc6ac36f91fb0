"""The paragraph about agreement on judgments, and figures that are undefined."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import FULL

from alignkit import Annotation, Corpus, SentencePair, agree_on_judgments

FEW = {"resamples": 20, "permutations": 20}


def judged(*rows):
    names = ("ann", "ben", "eve")
    pairs = []
    for k, labels in enumerate(zip(*rows, strict=True)):
        said = zip(names, labels, strict=False)
        given_labels = {n: Annotation(None, judgment=str(x)) for n, x in said if x is not None}
        pairs.append(SentencePair(f"p{k}", None, None, given_labels))
    return Corpus(pairs)


ANN = [0, 1, 2, 3, 3, 1, 0, 2, 1, 0, 3, 2]
BEN = [0, 1, 2, 2, 3, 1, 1, 2, 1, 0, 3, 3]
EVE = [1, 1, 3, 3, 3, 0, 0, 2, 1, 0, 2, 2]


def test_the_paragraph_of_two_has_kappa_alpha_and_intervals():
    agreement = agree_on_judgments(judged(ANN, BEN), scheme="0-3", weights="linear", **FEW)
    kappa = agreement.figure("pairing", "kappa", "ann", "ben")
    alpha = agreement.figure("joint", "alpha.ordinal")
    assert agreement.answer == (
        "ann and ben judged 12 pairs by the labels of 0-3. Cohen's kappa with linear weights is "
        f"{kappa.value:.3f} [{kappa.low:.3f}, {kappa.high:.3f}]. Krippendorff's alpha (ordinal) is "
        f"{alpha.value:.3f} [{alpha.low:.3f}, {alpha.high:.3f}]. In brackets: 95% intervals from "
        "resamples of the pairs."
    )
    assert agreement.answer in str(agreement)
    assert agreement.to_json()["answer"] == agreement.answer


def test_the_paragraph_of_three_has_the_range_and_the_mean():
    agreement = agree_on_judgments(judged(ANN, BEN, EVE), scheme="0-3", **FEW)
    couples = [("ann", "ben"), ("ann", "eve"), ("ben", "eve")]
    kappas = [agreement.figure("pairing", "kappa", *two).value for two in couples]
    mean = agreement.figure("mean", "kappa")
    start = f"For every two of them, Cohen's kappa is {min(kappas):.3f} to {max(kappas):.3f}, "
    assert f"{start}on average {mean.value:.3f} [" in agreement.answer
    assert "Krippendorff's alpha (nominal)" in agreement.answer


def test_what_is_undefined_is_said_with_its_reason():
    same = agree_on_judgments(judged([1, 1, 1], [1, 1, 1]), scheme="0-3", **FEW)
    assert "give the same label" in same.answer
    assert "alpha (nominal) is undefined" in same.answer
    assert "100.0% of all judgments are 1" in same.answer
    apart = agree_on_judgments(judged([1, None], [None, 2]), scheme="0-3", **FEW)
    assert "no item has a label" in apart.answer
    shown = str(apart)
    assert "no item has two" in shown
    three = agree_on_judgments(judged([1, None], [None, 2], [None, 2]), scheme="0-3", **FEW)
    assert "Cohen's kappa is undefined" in three.answer


CELL = st.sampled_from([0, 1, 2, None])
ROWS = st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=5)


@settings(max_examples=100 if FULL else 12)
@given(ROWS, st.sampled_from(["nominal", "linear", "quadratic"]))
def test_no_warning_of_numpy_reaches_users(rows, weights):
    columns = list(zip(*rows, strict=True))
    if any(all(label is None for label in column) for column in columns):
        return
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        agreement = agree_on_judgments(judged(*columns), scheme="0-2", weights=weights, **FEW)
        assert "nan" not in agreement.answer
        assert " nan" not in agreement.show("latex")
        agreement.to_html()


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_the_headings_name_the_weights(weights):
    agreement = agree_on_judgments(judged(ANN, BEN), scheme="0-3", weights=weights, **FEW)
    assert f"kappa, {weights}" in str(agreement)
    assert f"AC1, {weights}" in str(agreement)
    assert f"Cohen's $\\kappa$, {weights}" in agreement.show("latex")
    plain = agree_on_judgments(judged(ANN, BEN), scheme="0-3", **FEW)
    assert "Cohen's $\\kappa$ & AC1" in plain.show("latex")
