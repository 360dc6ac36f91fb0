"""Cohen's kappa and Gwet's AC1: published numbers, second opinions, cells counted one by one."""

from itertools import product
from math import isnan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask
from reference_agreement import cell_table
from strategies_agreement import RULES, corpora, two_aligned

from alignkit.agreement import Contingency, cell_agreement, cohen_kappa, gwet_ac1
from alignkit.errors import OptionError
from alignkit.model.corpus import Corpus


def corpus_of(*given):
    return Corpus([two_aligned(*given)])


def test_published_kappa():
    # Cohen 1960, the example with n = 200
    assert round(cohen_kappa([[88, 14, 18], [10, 40, 10], [2, 6, 12]]), 3) == 0.492


def test_published_ac1():
    # Gwet 2008: 125 participants, two raters, one rare category
    table = [[118, 5], [2, 0]]
    assert round(gwet_ac1(table), 4) == 0.9408
    assert round(cohen_kappa(table), 4) == -0.0234


def test_ac1_of_more_categories_by_hand():
    # shares 0.5, 0.3, 0.2: expected = (0.25 + 0.21 + 0.16) / 2 = 0.31, observed 0.8
    table = [[4, 1, 0], [0, 2, 1], [0, 0, 2]]
    shares = [9 / 20, 6 / 20, 5 / 20]
    chance = sum(share * (1 - share) for share in shares) / 2
    assert gwet_ac1(table) == pytest.approx((0.8 - chance) / (1 - chance))


def test_all_items_in_one_category():
    table = [[7, 0], [0, 0]]
    assert isnan(cohen_kappa(table))
    assert gwet_ac1(table) == 1.0


def test_no_items():
    assert isnan(cohen_kappa([[0, 0], [0, 0]]))
    assert isnan(gwet_ac1([[0, 0], [0, 0]]))
    empty = Contingency.of(("no", "yes"), [[0, 0], [0, 0]])
    assert isnan(empty.observed)
    assert all(map(isnan, empty.prevalence))


@pytest.mark.parametrize("table", [[], [[1]], [[1, 2]], [[1, 2], [3]], [[1, -2], [3, 4]]])
def test_what_is_no_table_is_refused(table):
    with pytest.raises(OptionError, match="contingency table"):
        cohen_kappa(table)


def test_categories_that_do_not_fit_are_refused():
    with pytest.raises(OptionError, match="3 categories"):
        Contingency.of(("a", "b", "c"), [[1, 2], [3, 4]])
    with pytest.raises(OptionError, match="no category 'c'"):
        Contingency.of(("a", "b"), [[1, 2], [3, 4]]).collapse("x", "y", categories=["c"])


def test_cells_by_hand():
    result = cell_agreement(corpus_of("0-0 1?1 2-2", "0-0 1-1 2?1"), "A", "B")
    assert result.all.categories == ("none", "possible", "sure")
    assert result.all.table == ((5, 1, 0), (0, 0, 1), (1, 0, 1))
    assert result.possible.table == ((5, 1), (1, 2))
    assert result.sure.table == ((6, 1), (1, 1))
    assert result.all.items == 9
    assert result.possible.prevalence == (12 / 18, 6 / 18)


@settings(max_examples=100)
@given(corpora(("A", "B")), RULES)
def test_counting_the_cells_is_the_same_as_making_them(corpus, rule):
    result = cell_agreement(corpus, "A", "B", **rule)
    assert result.all.table == cell_table(corpus, "A", "B", **rule)


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=3, max_size=3))
def test_nltk_gives_the_same_kappa(table):
    items = [cell for cell in product(range(3), range(3)) for _ in range(table[cell[0]][cell[1]])]
    kappa = cohen_kappa(table)
    if isnan(kappa):
        assert len(set(items)) <= 1
        return
    judged = [(who, k, pair[who]) for k, pair in enumerate(items) for who in (0, 1)]
    task = AnnotationTask([(str(who), str(k), str(label)) for who, k, label in judged])
    assert kappa == pytest.approx(task.kappa_pairwise("0", "1"))
