"""Fleiss' kappa: published numbers, the items, degenerate cases, a plain reference."""

from collections import Counter
from math import isnan

import pytest
from hypothesis import given, settings
from reference_agreement import fleiss, fleiss_items
from strategies_agreement import corpora
from strategies_agreement import two_aligned as pair

from alignkit.agreement import fleiss_from_counts, fleiss_kappa
from alignkit.errors import MissingTextError, OptionError, UnknownNameError
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

# Fleiss 1971, table 1: 30 patients, 6 psychiatrists each, 5 diagnoses (also the data set
# "diagnoses" of the R package irr); the article finds kappa = 0.430
PSYCHIATRISTS = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006
10050 11040 03300 10050 02031 00501 30012 51000 02040 10203
00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""


def test_published_table_of_fleiss():
    counts = [[int(count) for count in patient] for patient in PSYCHIATRISTS.split()]
    kappa, observed, expected = fleiss_from_counts(counts)
    assert len(counts) == 30
    assert [sum(column) for column in zip(*counts, strict=True)] == [26, 26, 30, 55, 43]
    assert (round(kappa, 3), round(observed, 3), round(expected, 3)) == (0.430, 0.556, 0.220)


@pytest.mark.real_data
def test_published_kappa_of_rte2(data):
    # Brockett 2007, MSR-TR-2007-77: three annotators, 800 pairs
    from alignkit.corpora.join import merge
    from alignkit.io import read_corpus

    one, two, three = (
        read_corpus(str(data / "rte2" / f"RTE2_dev_{name}.align.txt"), format="rte", name=name)
        for name in "ABC"
    )
    result = fleiss_kappa(merge(one, {"B": two, "C": three}))
    assert round(result.kappa, 5) == 0.73364
    assert (result.items, result.pairs, result.annotators) == (13163, 800, 3)
    assert result.agreeing == {3: 9184, 2: 3946, 1: 33}


def test_each_index_or_null_that_someone_proposed_is_an_item():
    result = fleiss_kappa(Corpus([pair("0-0 1?1", "0?0 0-1")]))
    # NULL: null; u: 0; v: 1 and 0; w: null
    assert result.items == 5
    assert result.agreeing == {2: 2, 1: 3}
    assert dict(result.categories) == {"null": 0.6, "possible": 0.2, "sure": 0.2}
    assert result.observed == 2 / 5


def test_not_proposed_and_null_are_one_category_but_counted_apart():
    result = fleiss_kappa(Corpus([pair("", "0-0", target="u")]))
    # NULL: null, null; u with null: null, not proposed; u with 0: not proposed, sure
    assert result.items == 3
    assert result.agreeing == {2: 1, 1: 2}
    assert result.observed == 2 / 3


def test_an_explicit_null_of_a_target_word_says_no_more_than_no_link():
    plain = fleiss_kappa(Corpus([pair("0-0", "1-1 0?0")]))
    assert fleiss_kappa(Corpus([pair("0-0 -1 -2", "1-1 ?2 0?0 -0")])) == plain


def test_source_words_aligned_to_nothing_are_what_the_null_proposes():
    result = fleiss_kappa(Corpus([pair("0- 1?", "0-", target="")]))
    assert result.items == 2
    assert result.agreeing == {2: 1, 1: 1}
    assert dict(result.categories) == {"null": 0.25, "possible": 0.25, "sure": 0.5}


def test_every_pair_has_a_null():
    result = fleiss_kappa(Corpus([pair("", "", "", ""), pair("0-0", "0-0", "x", "u")]))
    assert result.items == 3
    assert result.kappa == 1.0


def test_only_pairs_annotated_by_all_count():
    half = pair("0-0", "0-1").without_annotations("B")
    whole = pair("0-0", "0-0 1?2")
    assert fleiss_kappa(Corpus([half, whole])) == fleiss_kappa(Corpus([whole]))


def test_kappa_is_undefined_where_all_say_null_or_without_items():
    result = fleiss_kappa(Corpus([pair("", "")]))
    assert isnan(result.kappa)
    assert (result.observed, result.expected, result.items) == (1.0, 1.0, 4)
    one, other = pair("0-0", "").without_annotations("B"), pair("", "0-0").without_annotations("A")
    result = fleiss_kappa(Corpus([one, other]))
    assert result.pairs == result.items == 0
    assert all(map(isnan, (result.kappa, result.observed, result.expected)))
    assert all(map(isnan, result.categories.values()))


def test_bad_questions_are_refused():
    corpus = Corpus([pair("0-0", "0-0")])
    with pytest.raises(OptionError, match="two or more annotators"):
        fleiss_kappa(corpus, ["A"])
    with pytest.raises(OptionError, match="named twice"):
        fleiss_kappa(corpus, ["A", "A"])
    with pytest.raises(OptionError, match="in a list"):
        fleiss_kappa(corpus, "AB")
    with pytest.raises(UnknownNameError, match="'D'"):
        fleiss_kappa(corpus, ["A", "D"])
    with pytest.raises(OptionError, match="same number"):
        fleiss_from_counts([[2, 0], [1, 0]])
    wordless = SentencePair("1", None, None, dict(corpus[0].annotations))
    with pytest.raises(MissingTextError):
        fleiss_kappa(Corpus([wordless]))


@settings(max_examples=100)
@given(corpora())
def test_items_and_kappa_agree_with_the_definition(corpus):
    names = corpus.annotators
    result = fleiss_kappa(corpus, names)
    items = fleiss_items(corpus, names)
    assert result.items == len(items)
    largest = Counter(max(Counter(item).values()) for item in items)
    assert {n: count for n, count in result.agreeing.items() if count} == largest
    expected = fleiss([[mark or "null" for mark in item] for item in items])
    for value, plain in zip(
        (result.kappa, result.observed, result.expected), expected, strict=True
    ):
        assert isnan(value) if plain is None else value == pytest.approx(plain)
