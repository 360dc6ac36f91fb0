"""Kappa, alpha and Fleiss' kappa of lists and tables: other packages, gaps, and what is refused."""

import warnings
from math import isnan, nan

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

import alignkit as ak
from alignkit.errors import ArgumentError, OptionError

ANNA = [0, 1, 2, 3, 3, 1, 0, 2, 1, 0]
BEN = [0, 1, 2, 2, 3, 1, 1, 2, 1, 0]
EVE = [1, 1, 3, 3, 3, 0, 0, 2, 1, 0]


# data frames of counts
def test_crosstabs_have_the_labels_of_rows_and_columns():
    anna = pd.Series(["a", "b", "b", "a"], name="anna")
    ben = pd.Series(["b", "c", "b", "b"], name="ben")
    table = pd.crosstab(anna, ben)
    assert table.shape == (2, 2)  # a and b in rows, b and c in columns
    assert ak.kappa(table) == pytest.approx(cohen_kappa_score(anna, ben))


def test_200_random_crosstabs_have_the_kappa_of_scikit_learn():
    rng = np.random.default_rng(53)
    for _ in range(200):
        labels = rng.choice(["a", "b", "c", "d", "e"], size=5, replace=False)
        size = int(rng.integers(5, 40))
        first = pd.Series(rng.choice(labels[: rng.integers(2, 6)], size), name="first")
        second = pd.Series(rng.choice(labels[rng.integers(0, 3) :], size), name="second")
        table = pd.crosstab(first, second)
        if set(table.index).isdisjoint(table.columns):
            continue
        expected = cohen_kappa_score(first, second)
        assert ak.kappa(table) == pytest.approx(expected, nan_ok=True)


def test_crosstabs_of_numbers_and_single_labels():
    assert ak.kappa(pd.crosstab(pd.Series(ANNA), pd.Series(BEN))) == ak.kappa(ANNA, BEN)
    assert isnan(ak.kappa(pd.crosstab(pd.Series(["a", "a"]), pd.Series(["a", "a"]))))
    counts = pd.DataFrame([[20, 5], [10, 15]])
    assert ak.kappa(counts) == pytest.approx(0.4)


@pytest.mark.parametrize("kept", [slice(None), slice(0, -1)], ids=["both", "rows"])
def test_margins_are_refused(kept):
    table = pd.crosstab(pd.Series(["a", "b", "b"]), pd.Series(["a", "b", "a"]), margins=True)
    with pytest.raises(OptionError, match="'All' of the table"):
        ak.kappa(table.iloc[:, kept])


@pytest.mark.parametrize(
    ("coefficient", "option"),
    [(ak.kappa, {"weights": "quadratic"}), (ak.alpha, {"level": "ordinal"}), (ak.fleiss, {"x": 1})],
)
def test_options_that_labels_do_not_have_name_the_function_that_may(coefficient, option):
    with pytest.raises(ArgumentError, match=r"no argument '.*use alignkit.agree_on_judgments"):
        coefficient(["a", "b"], ["a", "a"], **option)


def test_data_frames_that_are_no_crosstabs_are_refused():
    with pytest.raises(OptionError, match="share no label"):
        ak.kappa(pd.DataFrame({"anna": [1, 2, 3], "ben": [1, 2, 2]}))
    twice = pd.DataFrame([[1, 0], [0, 1]], index=["a", "a"], columns=["a", "b"])
    with pytest.raises(OptionError, match="a label twice"):
        ak.kappa(twice)


# labels
def test_a_column_with_a_gap_has_the_same_labels():
    gap = [float(label) for label in ANNA]
    assert ak.kappa(gap, BEN) == ak.kappa(ANNA, BEN)
    gap[3] = nan
    missing = [*ANNA]
    missing[3] = None
    assert ak.alpha(gap, BEN) == ak.alpha(missing, BEN)
    assert ak.alpha(gap, BEN) == pytest.approx(
        krippendorff.alpha(np.array([gap, BEN], float), level_of_measurement="nominal")
    )


@pytest.mark.parametrize("measure", [ak.kappa, ak.alpha, ak.fleiss])
def test_numbers_beside_texts_of_them_are_refused(measure):
    with pytest.raises(OptionError, match="1 \\(a number\\) and '1' \\(a text\\)"):
        measure([1, 2, 1], ["1", "2", "1"])
    assert measure(["1", "2", "1"], ["1", "2", "1"]) == 1


def test_empty_cells_are_missing():
    assert ak.alpha(["a", "", "b"], ["a", "b", "b"]) == ak.alpha(["a", None, "b"], ["a", "b", "b"])
    with pytest.raises(OptionError, match="is missing"):
        ak.kappa(["a", " "], ["a", "b"])


@pytest.mark.parametrize("measure", [ak.kappa, ak.alpha, ak.fleiss])
def test_without_items_a_coefficient_is_undefined(measure):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isnan(measure([], []))


# units x annotators
def test_more_annotators_than_units_cause_a_warning():
    raters = [ANNA, BEN, EVE]
    with pytest.warns(UserWarning, match=r"more annotators \(columns: 10\).*alpha\(\*table\)"):
        wrong = ak.alpha(raters)
    right = krippendorff.alpha(np.array(raters), level_of_measurement="nominal")
    assert ak.alpha(*raters) == pytest.approx(right) != wrong
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ak.alpha(np.array(raters).T) == pytest.approx(right)


@given(st.lists(st.lists(st.sampled_from([0, 1, 2, None]), min_size=3, max_size=3), min_size=3))
def test_alpha_is_that_of_krippendorff(units):
    table = np.array([[nan if x is None else x for x in unit] for unit in units], float)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = krippendorff.alpha(table.T, level_of_measurement="nominal")
    except ValueError:  # it needs two labels
        return
    assert ak.alpha(units) == pytest.approx(expected, nan_ok=True)


# tables of labels
@pytest.mark.parametrize(
    ("table", "error", "words"),
    [
        ([["a", "b", "c"], ["a", "a", "x"]], OptionError, "\\[0\\] of the table has 3"),
        ([["a", "b"], ["a"]], OptionError, "\\[1\\] of the table has 1"),
        ([["a", "a"], ["a", None]], OptionError, "a label \\[1\\] is missing"),
        ([["a", ["x"]], ["a", "a"]], ArgumentError, "\\['x'\\] is not a label"),
    ],
)
def test_a_table_for_c_has_two_labels_for_each_item(table, error, words):
    assert ak.C([["a", "b"], ["a", "a"]], choices=4) == ak.C(["a", "a"], ["b", "a"], choices=4)
    with pytest.raises(error, match=words):
        ak.C(table, choices=4)


def test_a_list_in_a_table_is_no_label_of_alpha():
    with pytest.raises(ArgumentError, match="labels of an item"):
        ak.alpha([["a", ["x", "y"]], ["a", "a"]])


def test_names_of_a_corpus_are_no_option_of_c():
    links = {"x": ak.Alignment.parse("0-0"), "y": ak.Alignment.parse("0-0 1-1")}
    corpus = ak.Corpus([ak.SentencePair("1", ("a", "b"), ("c", "d"), links)])
    with pytest.raises(ArgumentError, match=r"of C: 'annotators' \(known: lengths, "):
        ak.C(corpus, "x", "y", annotators=["x", "y"])
