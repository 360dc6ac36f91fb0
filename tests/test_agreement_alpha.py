"""Krippendorff's alpha: published numbers, second opinions, a plain reference."""

from math import isnan

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask
from reference_agreement import alpha, alpha_units, set_distance
from strategies_agreement import RULES, corpora, two_aligned

from alignkit.agreement import DISTANCES, alpha_from_units, krippendorff_alpha
from alignkit.errors import MissingTextError, OptionError, UnknownNameError
from alignkit.model.alignment import Alignment
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

# Krippendorff 2011, "Computing Krippendorff's alpha-reliability", part C: four observers
OBSERVERS = """
1 2 3 3 2 1 4 1 2 * * *
1 2 3 3 2 2 4 1 2 5 * 3
* 3 3 3 2 3 4 2 2 5 1 *
1 2 3 3 2 4 4 1 2 5 1 *
"""
# the example of the krippendorff package: three coders
CODERS = """
* * * * * 3 4 1 2 1 1 3 3 * 3
1 * 2 1 3 3 4 3 * * * * * * *
* * 2 1 3 4 4 * 2 1 1 3 3 * 4
"""

SETS = st.frozensets(st.integers(0, 3), max_size=3)
UNITS = st.lists(st.lists(SETS, max_size=4), max_size=12)


def units_of(text):
    columns = zip(*(line.split() for line in text.strip().splitlines()), strict=True)
    return [[frozenset({int(mark)}) for mark in column if mark != "*"] for column in columns]


def corpus_of(*given):
    return Corpus([two_aligned(*given)])


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize(("text", "published"), [(OBSERVERS, 0.743), (CODERS, 0.691)])
def test_published_alpha_of_nominal_data(text, published, distance):
    assert round(alpha_from_units(units_of(text), distance=distance).alpha, 3) == published


def test_distances_by_hand():
    shared, left, right = np.array([[2, 2, 2], [2, 2, 4], [1, 2, 2], [0, 1, 3], [0, 0, 0]]).T
    assert DISTANCES["jaccard"](shared, left, right) == pytest.approx([0, 1 / 2, 2 / 3, 1, 0])
    assert DISTANCES["dice"](shared, left, right) == pytest.approx([0, 1 / 3, 1 / 2, 1, 0])
    assert DISTANCES["masi"](shared, left, right) == pytest.approx([0, 2 / 3, 8 / 9, 1, 0])


def test_empty_sets_are_equal_and_far_from_all_others():
    for name, distance in DISTANCES.items():
        found = distance(np.array([0, 0]), np.array([0, 0]), np.array([0, 2]))
        assert found.tolist() == [0, 1], name


def test_sets_of_source_words_by_hand():
    result = krippendorff_alpha(corpus_of("0-0 0-1 1-1", "0-0 1-1"))
    # units: {0,1} {0}; {1} {1}; {} {}: one distance of 1/2, twice, over 6 values
    assert (result.units, result.values, result.distinct) == (3, 6, 4)
    assert result.observed == pytest.approx(2 * 0.5 / 6)
    # {0,1}: 1/2 to {0}, 1/2 to each {1}, 1 to each {}; {0}: 1 to all four; {1} {}: 1, four times
    assert result.expected == pytest.approx(2 * (0.5 + 2 * 0.5 + 2 + 4 + 4) / (6 * 5))
    assert result.alpha == pytest.approx(1 - result.observed / result.expected)


def test_alpha_is_undefined_where_nothing_varies_or_without_units():
    result = krippendorff_alpha(corpus_of("", ""))
    assert (result.units, result.observed, result.expected) == (3, 0.0, 0.0)
    assert isnan(result.alpha)
    result = alpha_from_units([[], [frozenset()]])
    assert (result.units, result.values) == (0, 0)
    assert all(map(isnan, (result.alpha, result.observed, result.expected)))


def test_who_has_not_annotated_a_pair_gives_no_values():
    corpus = corpus_of("0-0 1-1", "0-0 1-2")
    third = corpus[0].with_annotation("C", Alignment.parse("0-0"))
    alone = corpus[0].without_annotations("B")
    result = krippendorff_alpha(Corpus([third, *corpus, alone]))
    assert (result.units, result.values) == (6, 3 * 3 + 3 * 2)


def test_bad_questions_are_refused():
    corpus = corpus_of("0-0", "0-0")
    with pytest.raises(UnknownNameError, match="did you mean 'jaccard'"):
        krippendorff_alpha(corpus, distance="jacard")
    with pytest.raises(UnknownNameError, match="choice of links"):
        krippendorff_alpha(corpus, links="some")
    with pytest.raises(OptionError):
        krippendorff_alpha(corpus, ["A"])
    wordless = SentencePair("1", None, None, dict(corpus[0].annotations))
    with pytest.raises(MissingTextError):
        krippendorff_alpha(Corpus([wordless]))


@settings(max_examples=150)
@given(UNITS, st.sampled_from(list(DISTANCES)))
def test_alpha_agrees_with_the_definition(units, distance):
    result = alpha_from_units(units, distance=distance)
    plain = alpha(units, distance)
    for value, expected in zip(
        (result.alpha, result.observed, result.expected), plain, strict=True
    ):
        assert isnan(value) if expected is None else value == pytest.approx(expected, abs=1e-9)


@settings(max_examples=60)
@given(UNITS, st.sampled_from(list(DISTANCES)))
def test_nltk_gives_the_same_alpha(units, distance):
    units = [unit for unit in units if len(unit) > 1]
    # nltk calls one distinct value perfect agreement, and refuses one item
    assume(len({value for unit in units for value in unit}) > 1)
    data = [
        (str(coder), str(k), value)
        for k, unit in enumerate(units)
        for coder, value in enumerate(unit)
    ]
    # nltk's own distances divide by zero on empty sets and round MASI's weights
    task = AnnotationTask(data, distance=lambda a, b: set_distance(distance, a, b))
    assert alpha_from_units(units, distance=distance).alpha == pytest.approx(task.alpha())


@settings(max_examples=60)
@given(
    st.integers(2, 4).flatmap(
        lambda coders: st.lists(
            st.lists(st.none() | st.integers(0, 3), min_size=coders, max_size=coders),
            min_size=1,
            max_size=10,
        )
    )
)
def test_the_krippendorff_package_gives_the_same_nominal_alpha(rows):
    units = [[frozenset({mark}) for mark in row if mark is not None] for row in rows]
    assume(len({value for unit in units if len(unit) > 1 for value in unit}) > 1)
    table = np.array([[np.nan if mark is None else mark for mark in row] for row in rows]).T
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")
    assert alpha_from_units(units).alpha == pytest.approx(expected)


@settings(max_examples=80)
@given(corpora(), st.sampled_from(list(DISTANCES)), st.sampled_from(["possible", "sure"]), RULES)
def test_units_of_a_corpus_agree_with_the_definition(corpus, distance, links, rule):
    result = krippendorff_alpha(corpus, distance=distance, links=links, **rule)
    units = alpha_units(corpus, corpus.annotators, links, **rule)
    assert result.units == len(units)
    expected = alpha(units, distance)[0]
    if expected is None:
        assert isnan(result.alpha)
    else:
        assert result.alpha == pytest.approx(expected, abs=1e-9)
