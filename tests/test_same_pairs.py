"""Two annotators who have the same links in nearly all pairs, against a plain count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignkit import Alignment, Annotation, Corpus, SentencePair, agree, read_corpus
from alignkit.agreement.pairs import CorpusData
from alignkit.agreement.same_pairs import SamePairs, same_pairs

STATES = st.dictionaries(
    st.tuples(st.integers(0, 2), st.integers(0, 2)), st.integers(1, 2), max_size=6
)


def aligned(states):
    return Alignment({cell for cell, state in states.items() if state == 2}, states)


@given(st.lists(st.tuples(STATES, STATES, STATES, st.booleans()), min_size=1, max_size=5))
def test_it_counts_what_a_plain_loop_counts(rows):
    texts = ["a", "b", "c"], ["A", "x", "b"]
    pairs, same, longer, same_longer = [], 0, 0, 0
    for k, (mine, theirs, start, copied) in enumerate(rows):
        other = mine if copied else theirs
        links = {"x": aligned(mine), "y": aligned(other), "start": aligned(start)}
        pairs.append(SentencePair(str(k), *texts, links))
        alike = mine == other
        equal = {(0, 0), (1, 2)}  # a and A, b and b
        long = max(len(mine), len(other)) >= 4 and bool({*mine, *other} - equal)
        long = long and not mine == other == start
        same, longer, same_longer = same + alike, longer + long, same_longer + (long and alike)
    expected = SamePairs(same, len(rows), same_longer, longer)
    assert same_pairs(CorpusData(Corpus(pairs)), "x", "y", "start") == expected


def corpus_of(count, equal, links="0-0 1-1 2-2 3-3", other="0-0 1-1 2-2 3-0", **others):
    mine = Alignment.parse(links)
    pairs = []
    for k in range(count):
        theirs = mine if k < equal else Alignment.parse(other)
        annotations = {"A": Annotation(mine), "B": Annotation(theirs)}
        annotations |= {name: Annotation(mine, role=name) for name in others}
        pairs.append(SentencePair(str(k), list("abcd"), list("wxyz"), annotations))
    return Corpus(pairs)


def cautioned(corpus, *names):
    agreement = agree(corpus, ["A", "B", *names], bootstrap="none")
    return next((one for one in agreement.cautions if one.code == "nearly-identical"), None)


@pytest.mark.parametrize(
    ("count", "equal", "told"), [(40, 28, True), (40, 27, False), (9, 9, False)]
)
def test_seven_of_ten_pairs_are_cautioned_where_there_are_ten(count, equal, told):
    caution = cautioned(corpus_of(count, equal))
    assert (caution is not None) == told
    if told:
        assert "28 of 40 sentence pairs, and in 28 of the 40 with something" in caution.says
        assert "of at least 10 pairs" in caution.says
        assert caution.brief == "the same links in 28 of 40 pairs; did they work independently?"


def test_short_pairs_equal_words_and_unchanged_links_say_nothing():
    assert cautioned(corpus_of(40, 40, "0-0 1-1 2-2", "0-0")) is None
    assert cautioned(corpus_of(40, 40, initial=True)) is None  # they left what they were given
    same = [
        SentencePair(p.id, list("abcd"), list("abcd"), p.annotations) for p in corpus_of(40, 40)
    ]
    assert cautioned(Corpus(same)) is None
    bare = [SentencePair(p.id, None, None, p.annotations) for p in same]
    found = agree(Corpus(bare), ["A", "B"], ignore_identical=False, resamples=20)
    assert found.same["A ~ B"].nearly_identical


def test_the_samples_are_not_nearly_identical():
    counts = agree(read_corpus("samples/paraphrases.jsonl"), resamples=20).same["anna ~ ben"]
    assert (counts.same, counts.pairs, counts.nearly_identical) == (33, 64, False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "rate", "most"), [([1, 2, 3], 0.02, 0), ([4, 6, 8, 12], 0.04, 0.1), ([8], 0.04, 0.1)]
)
def test_independent_annotators_are_seldom_nearly_identical(sizes, rate, most):
    """Of each annotator's links, 2% or 4% are wrong; in 200 corpora of 60 pairs."""
    rng, told = np.random.default_rng(4), 0
    for _ in range(200):
        pairs = []
        for k in range(60):
            size = int(rng.choice(sizes))
            links = {}
            for name in "AB":
                wrong = rng.random(size) < rate
                to = (np.arange(size) + wrong * rng.integers(1, size + 1, size)) % (size + 1)
                links[name] = Alignment(enumerate(to.tolist()))
            source = [f"a{i}" for i in range(size)]
            pairs.append(SentencePair(str(k), source, [f"b{i}" for i in range(size + 1)], links))
        told += same_pairs(CorpusData(Corpus(pairs)), "A", "B").nearly_identical
    assert told <= most * 200
