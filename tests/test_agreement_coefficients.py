"""Kappa, AC1, alpha and Fleiss' kappa: published numbers, second opinions, plain references."""

from collections import Counter
from itertools import product
from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask
from reference_agreement import alpha, alpha_units, cell_table, fleiss, fleiss_items, set_distance
from strategies_agreement import RULES, corpora, two_aligned

from alignkit import NULL, Alignment, Corpus, SentencePair, agreement, read_corpus
from alignkit.agreement import DISTANCES, cell_agreement, fleiss_kappa, krippendorff_alpha
from alignkit.agreement.kappa import CELLS
from alignkit.agreement.pairs import CorpusData, PairData, judged_cells
from alignkit.corpora.join import merge
from alignkit.errors import MissingTextError, OptionError, UnknownNameError

SETS = st.frozensets(st.integers(0, 3), max_size=3)
UNITS = st.lists(st.lists(SETS, max_size=4), max_size=12)
NAMES = st.sampled_from(list(DISTANCES))


def corpus_of(*given, **more):
    return Corpus([two_aligned(*given, **more)])


def wordless(corpus):
    return corpus.map(lambda pair: SentencePair(pair.id, None, None, dict(pair.annotations)))


def same(values, plain):
    for value, expected in zip(values, plain, strict=True):
        assert isnan(value) if expected is None else value == pytest.approx(expected, abs=1e-9)


# Cohen's kappa and Gwet's AC1 of tables and of cells
def test_published_kappas_and_ac1():
    # Cohen 1960, the example with n = 200
    assert round(agreement.cohen_kappa([[88, 14, 18], [10, 40, 10], [2, 6, 12]]), 3) == 0.492
    # Gwet 2008: 125 participants, two raters, one rare category
    table = [[118, 5], [2, 0]]
    assert round(agreement.gwet_ac1(table), 4) == 0.9408
    assert round(agreement.cohen_kappa(table), 4) == -0.0234


def test_ac1_of_more_categories_by_hand():
    # shares 0.5, 0.3, 0.2: expected = (0.25 + 0.21 + 0.16) / 2 = 0.31, observed 0.8
    table = [[4, 1, 0], [0, 2, 1], [0, 0, 2]]
    chance = sum(share * (1 - share) for share in [9 / 20, 6 / 20, 5 / 20]) / 2
    assert agreement.gwet_ac1(table) == pytest.approx((0.8 - chance) / (1 - chance))


def test_one_category_or_no_items_leave_kappa_undefined():
    assert isnan(agreement.cohen_kappa([[7, 0], [0, 0]]))
    assert agreement.gwet_ac1([[7, 0], [0, 0]]) == 1.0
    empty = agreement.Contingency.of(("no", "yes"), [[0, 0], [0, 0]])
    assert all(map(isnan, (empty.kappa, empty.ac1, empty.observed, *empty.prevalence)))


def test_cells_by_hand():
    result = cell_agreement(corpus_of("0-0 1?1 2-2", "0-0 1-1 2?1"), "A", "B")
    assert result.all.categories == ("none", "possible", "sure")
    assert result.all.table == ((5, 1, 0), (0, 0, 1), (1, 0, 1))
    assert (result.possible.table, result.sure.table) == (((5, 1), (1, 2)), ((6, 1), (1, 1)))
    assert (result.all.items, result.possible.prevalence) == (9, (12 / 18, 6 / 18))


@given(corpora(("A", "B")), RULES)
def test_counting_the_cells_is_the_same_as_making_them(corpus, rule):
    result = cell_agreement(corpus, "A", "B", **rule)
    assert result.all.table == cell_table(corpus, "A", "B", **rule)


# cells that both annotators judged, where a corpus records these
def judged(sure, wrong, possible=()):
    return Alignment(sure, possible, labels=dict.fromkeys(wrong, "wrong"))


def judged_corpus(a, b):
    return Corpus([SentencePair("1", ["x", "y", "z"], ["x", "v", "w"], {"A": a, "B": b})])


GIVEN = judged_corpus(
    judged([(0, 0), (1, 1)], [(2, 2), (0, 1)]),
    judged([(1, 1)], [(0, 0), (2, 2), (2, 0)], possible=[(1, 2)]),
)
BARE = judged_corpus(Alignment([(0, 0)], labels={(0, 0): "sure"}), judged([], [(0, 0)]))
TWO_BY_TWO = agreement.Contingency.of("ab", [[1, 2], [3, 4]])


def test_judged_cells_are_links_and_labelled_cells():
    labels = {(2, NULL): "unaligned", (0, 0): "wrong"}
    alignment = Alignment([(1, 0)], [(0, 1)], nulls=[(2, NULL)], labels=labels)
    assert sorted(judged_cells(alignment).possible) == [(0, 0), (0, 1), (1, 0)]


def test_cells_that_both_judged_by_hand():
    # both judged 0-0, 1-1 and 2-2: A keeps the first two, B the second
    for corpus in (GIVEN, wordless(GIVEN)):
        result = cell_agreement(corpus, "A", "B", universe="judged")
        assert result.possible.table == ((1, 0), (1, 1))
        assert result.possible.kappa == pytest.approx(0.4)  # (2/3 - 4/9) / (1 - 4/9)
    # over all cells: B's 1-2 counts too, and five cells that nobody linked
    assert cell_agreement(GIVEN, "A", "B").possible.table == ((6, 1), (1, 1))


@given(corpora(("A", "B")), RULES, st.randoms(use_true_random=False))
def test_judged_cells_agree_with_the_definition(corpus, rule, random):
    def label(pair):
        for name in pair.alignments:
            alignment = pair.alignment(name)
            free = set(product(*map(range, pair.lengths))) - set(alignment.possible)
            labels = dict.fromkeys((c for c in sorted(free) if random.random() < 0.6), "wrong")
            sides = alignment.sure, alignment.possible
            pair = pair.with_annotation(
                name, Alignment(*sides, nulls=alignment.nulls, labels=labels)
            )
        return pair

    marked = judged([], [(0, 0)])  # so that both record something
    extra = SentencePair("x", ("p",), ("q",), {"A": marked, "B": marked})
    made = Corpus([*corpus.map(label), extra])
    result = cell_agreement(made, "A", "B", universe="judged", **rule)
    assert result.all.table == cell_table(made, "A", "B", judged=True, **rule)
    words = CorpusData(made, exact_case=rule.get("exact_case", False))
    identical = rule["ignore_identical"]
    data = PairData.of(words, ("A", "B"), universe="judged", ignore_identical=identical)
    total = np.asarray(CELLS[0].rows(data).counts).sum(axis=0).reshape(3, 3).astype(int).tolist()
    assert tuple(map(tuple, total)) == result.all.table


# Krippendorff's alpha
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


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize(("text", "published"), [(OBSERVERS, 0.743), (CODERS, 0.691)])
def test_published_alpha_of_nominal_data(text, published, distance):
    columns = zip(*(line.split() for line in text.strip().splitlines()), strict=True)
    units = [[frozenset({int(mark)}) for mark in column if mark != "*"] for column in columns]
    assert round(agreement.alpha_from_units(units, distance=distance).alpha, 3) == published


def test_distances_by_hand():
    shared, left, right = np.array([[2, 2, 2], [2, 2, 4], [1, 2, 2], [0, 1, 3], [0, 0, 0]]).T
    assert DISTANCES["jaccard"](shared, left, right) == pytest.approx([0, 1 / 2, 2 / 3, 1, 0])
    assert DISTANCES["dice"](shared, left, right) == pytest.approx([0, 1 / 3, 1 / 2, 1, 0])
    assert DISTANCES["masi"](shared, left, right) == pytest.approx([0, 2 / 3, 8 / 9, 1, 0])
    for distance in DISTANCES.values():  # empty sets are equal, and far from all others
        assert distance(np.array([0, 0]), np.array([0, 0]), np.array([0, 2])).tolist() == [0, 1]


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
    result = agreement.alpha_from_units([[], [frozenset()]])
    assert (result.units, result.values) == (0, 0)
    assert all(map(isnan, (result.alpha, result.observed, result.expected)))


def test_who_has_not_annotated_a_pair_gives_no_values():
    corpus = corpus_of("0-0 1-1", "0-0 1-2")
    third = corpus[0].with_annotation("C", Alignment.parse("0-0"))
    result = krippendorff_alpha(Corpus([third, *corpus, corpus[0].without_annotations("B")]))
    assert (result.units, result.values) == (6, 3 * 3 + 3 * 2)


@given(UNITS, NAMES)
def test_alpha_agrees_with_the_definition(units, distance):
    result = agreement.alpha_from_units(units, distance=distance)
    same((result.alpha, result.observed, result.expected), alpha(units, distance))


@given(UNITS, NAMES)
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
    assert agreement.alpha_from_units(units, distance=distance).alpha == pytest.approx(task.alpha())


@given(corpora(), NAMES, st.sampled_from(["possible", "sure"]), RULES)
def test_units_of_a_corpus_agree_with_the_definition(corpus, distance, links, rule):
    result = krippendorff_alpha(corpus, distance=distance, links=links, **rule)
    units = alpha_units(corpus, corpus.annotators, links, **rule)
    assert result.units == len(units)
    same([result.alpha], alpha(units, distance)[:1])


# Fleiss' kappa
# Fleiss 1971, table 1: 30 patients, 6 psychiatrists each, 5 diagnoses (also the data set
# "diagnoses" of the R package irr); the article finds kappa = 0.430
PSYCHIATRISTS = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006
10050 11040 03300 10050 02031 00501 30012 51000 02040 10203
00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""


def test_published_table_of_fleiss():
    counts = [[int(count) for count in patient] for patient in PSYCHIATRISTS.split()]
    kappa, observed, expected = agreement.fleiss_from_counts(counts)
    assert [sum(column) for column in zip(*counts, strict=True)] == [26, 26, 30, 55, 43]
    assert (round(kappa, 3), round(observed, 3), round(expected, 3)) == (0.430, 0.556, 0.220)


@pytest.mark.real_data
def test_published_kappa_of_rte2(data):
    # Brockett 2007, MSR-TR-2007-77: three annotators, 800 pairs
    first, second, third = (
        read_corpus(str(data / "rte2" / f"RTE2_dev_{name}.align.txt"), format="rte", name=name)
        for name in "ABC"
    )
    result = fleiss_kappa(merge(first, {"B": second, "C": third}))
    assert round(result.kappa, 5) == 0.73364
    assert (result.items, result.pairs, result.annotators) == (13163, 800, 3)
    assert result.agreeing == {3: 9184, 2: 3946, 1: 33}


@pytest.mark.parametrize(
    ("links", "target", "agreeing", "shares"),
    [
        # NULL: null; u: 0; v: 1 and 0; w: null
        (("0-0 1?1", "0?0 0-1"), "uvw", {2: 2, 1: 3}, (0.6, 0.2, 0.2)),
        # NULL: null, null; u with null: null, not proposed; u with 0: not proposed, sure
        (("", "0-0"), "u", {2: 1, 1: 2}, (5 / 6, 0, 1 / 6)),
        # what NULL proposes: the source words aligned to nothing
        (("0- 1?", "0-"), "", {2: 1, 1: 1}, (0.25, 0.25, 0.5)),
    ],
)
def test_each_index_or_null_that_someone_proposed_is_an_item(links, target, agreeing, shares):
    result = fleiss_kappa(corpus_of(*links, target=target))
    assert (result.items, result.agreeing) == (sum(agreeing.values()), agreeing)
    assert tuple(result.categories) == ("null", "possible", "sure")
    assert tuple(result.categories.values()) == pytest.approx(shares)


def test_every_pair_has_a_null_explicit_ones_say_no_more_and_pairs_annotated_by_all_count():
    plain = fleiss_kappa(corpus_of("0-0", "1-1 0?0"))
    assert fleiss_kappa(corpus_of("0-0 -1 -2", "1-1 ?2 0?0 -0")) == plain
    whole = two_aligned("0-0", "0-0", "x", "u")
    result = fleiss_kappa(Corpus([two_aligned("", "", "", ""), whole]))
    assert (result.items, result.kappa) == (3, 1.0)
    half = two_aligned("0-0", "0-1").without_annotations("B")
    assert fleiss_kappa(Corpus([half, whole])) == fleiss_kappa(Corpus([whole]))


def test_kappa_is_undefined_where_all_say_null_or_without_items():
    result = fleiss_kappa(corpus_of("", ""))
    assert isnan(result.kappa)
    assert (result.observed, result.expected, result.items) == (1.0, 1.0, 4)
    apart = [two_aligned("0-0", "0-0").without_annotations(name) for name in "AB"]
    result = fleiss_kappa(Corpus(apart))
    assert result.pairs == result.items == 0
    ratios = result.kappa, result.observed, result.expected, *result.categories.values()
    assert all(map(isnan, ratios))


@given(corpora())
def test_items_and_kappa_agree_with_the_definition(corpus):
    names = corpus.annotators
    result, items = fleiss_kappa(corpus, names), fleiss_items(corpus, names)
    assert result.items == len(items)
    largest = Counter(max(Counter(item).values()) for item in items)
    assert {n: count for n, count in result.agreeing.items() if count} == largest
    expected = fleiss([[mark or "null" for mark in item] for item in items])
    same((result.kappa, result.observed, result.expected), expected)


# what all refuse
@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda corpus: krippendorff_alpha(corpus, distance="jacard"), UnknownNameError, "jaccard"),
        (lambda corpus: krippendorff_alpha(corpus, links="some"), UnknownNameError, "of links"),
        (lambda corpus: krippendorff_alpha(corpus, ["A"]), OptionError, "two or more"),
        (lambda corpus: krippendorff_alpha(wordless(corpus)), MissingTextError, None),
        (lambda corpus: fleiss_kappa(corpus, ["A"]), OptionError, "two or more annotators"),
        (lambda corpus: fleiss_kappa(corpus, ["A", "A"]), OptionError, "named twice"),
        (lambda corpus: fleiss_kappa(corpus, "AB"), OptionError, "as a list"),
        (lambda corpus: fleiss_kappa(corpus, ["A", "D"]), UnknownNameError, "'D'"),
        (lambda corpus: fleiss_kappa(wordless(corpus)), MissingTextError, None),
        (lambda _: agreement.fleiss_from_counts([[2, 0], [1, 0]]), OptionError, "same number"),
        *(
            (lambda _, table=table: agreement.cohen_kappa(table), OptionError, "contingency table")
            for table in ([], [[1]], [[1, 2]], [[1, 2], [3]], [[1, -2], [3, 4]])
        ),
        (lambda _: agreement.Contingency.of("abc", [[1, 2], [3, 4]]), OptionError, "3 categories"),
        (lambda _: TWO_BY_TWO.collapse("x", "y", categories=["c"]), OptionError, "no category 'c'"),
        (
            lambda _: cell_agreement(BARE, "A", "B", universe="judged"),
            OptionError,
            r"'A' has no labels on cells without a link.*'all'",
        ),
        (lambda _: cell_agreement(BARE, "A", "B", universe="some"), UnknownNameError, "universe"),
        (lambda _: cell_agreement(wordless(GIVEN), "A", "B"), MissingTextError, None),
        (
            lambda _: cell_agreement(GIVEN, "A", "B", exact_case=True),
            OptionError,
            "ignore_identical",
        ),
    ],
)
def test_bad_questions_are_refused(ask, error, words):
    with pytest.raises(error, match=words):
        ask(corpus_of("0-0", "0-0"))
