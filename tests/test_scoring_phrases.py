"""Rows of phrase pairs: matched without listing them, and the same as those of listed ones."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_scoring import phrase_row

from alignkit import Alignment, LinkArrays, TokenArrays, Vocabulary, extract_phrases
from alignkit.errors import JoinError, MissingTextError, OptionError, UnknownNameError
from alignkit.scoring import count_phrases

FULL = [(i, j) for i in range(4) for j in range(4)]
SHAPES = {
    "empty": [],
    "one": [(1, 2)],
    "full": FULL,
    "monotone": [(0, 0), (1, 1), (2, 2), (3, 3)],
    "turned": [(0, 3), (1, 2), (2, 1), (3, 0)],
    "discontinuous": [(0, 0), (2, 0), (1, 1)],
    "discontinuous to the end": [(0, 0), (2, 0), (1, 1), (3, 1)],
    "a word in another's closure": [(0, 1), (1, 0), (1, 2)],
    "closures of three depths": [(0, 1), (1, 0), (1, 2), (2, 3), (3, 1), (3, 3)],
    "with unaligned words": [(0, 0), (3, 3)],
    "block": [(0, 0), (1, 2), (1, 3), (2, 2), (2, 3)],
    "crossing": [(0, 2), (1, 0), (2, 3), (3, 1)],
}


def links_within(size, most):
    return st.sets(st.tuples(*[st.integers(0, size - 1)] * 2), max_size=most)


def alignments(size, most):
    dense = st.builds(lambda left_out: set(FULL) - left_out, links_within(4, 3))
    return st.builds(Alignment, links_within(size, most) | dense, links_within(size, most))


def columns(phrases, k):
    pairs = phrases.pair(k)
    return {pair[:4] for pair in pairs}, {pair[:4] for pair in pairs if pair.atomic}


def listed_rows(sides, **options):
    hyp, ref = (extract_phrases(side, **options) for side in sides)
    rows = []
    for k in range(len(hyp)):
        (a, a_atom), (b, b_atom) = columns(hyp, k), columns(ref, k)
        rows.append(list(map(len, (a_atom, b_atom, a_atom & b, a & b_atom, a_atom & b_atom))))
    return rows


@pytest.mark.parametrize("hyp", SHAPES)
def test_shapes_have_the_rows_of_sets(hyp):
    sides = [
        LinkArrays.pack(Alignment(links) for links in part)
        for part in ([SHAPES[hyp]] * len(SHAPES), SHAPES.values())
    ]
    for longest in (None, 1, 2, 3):
        assert count_phrases(*sides, links="sure", max_length=longest).tolist() == [
            phrase_row(set(SHAPES[hyp]), set(ref), longest=longest or 9) for ref in SHAPES.values()
        ]


sentence = st.lists(st.sampled_from("ab"), min_size=5, max_size=7)


@given(
    st.lists(st.tuples(alignments(5, 6), alignments(5, 6), sentence, sentence), max_size=3),
    st.none() | st.integers(1, 5),
)
def test_rows_with_equal_words_and_without_are_those_of_sets(pairs, longest):
    sides = [LinkArrays.pack(pair[side] for pair in pairs) for side in (0, 1)]
    vocabulary = Vocabulary()
    source, target = (TokenArrays.pack((pair[k] for pair in pairs), vocabulary) for k in (2, 3))
    apart = {"source": source, "target": target, "ignore_identical": True}
    for links, texts in product(("possible", "sure"), ({}, apart)):
        assert count_phrases(*sides, links=links, max_length=longest, **texts).tolist() == [
            phrase_row(
                set(getattr(hyp, links)),
                set(getattr(ref, links)),
                longest=longest or 9,
                **({"source": words, "target": others} if texts else {}),
            )
            for hyp, ref, words, others in pairs
        ]


@given(
    st.lists(st.tuples(alignments(14, 24), alignments(14, 24)), max_size=3),
    st.none() | st.integers(1, 14),
    st.booleans(),
)
def test_rows_are_those_of_listed_phrase_pairs(pairs, longest, alike):
    if alike:  # near to one another, as two annotators are
        pairs = [(hyp, Alignment(hyp.sure ^ set(list(ref.sure)[:2]))) for hyp, ref in pairs]
    sides = [LinkArrays.pack(pair[side] for pair in pairs) for side in (0, 1)]
    for links in ("possible", "sure"):
        options = {"links": links, "max_length": longest}
        assert count_phrases(*sides, **options).tolist() == listed_rows(sides, **options)


@given(st.lists(st.tuples(alignments(5, 6), alignments(5, 6)), max_size=3))
def test_rows_of_loose_phrase_pairs_are_those_of_listed_ones(pairs):
    lengths = [(6, 7)] * len(pairs)
    sides = [LinkArrays.pack((pair[side] for pair in pairs), lengths) for side in (0, 1)]
    for options in ({}, {"max_length": 3}):
        rows = count_phrases(*sides, links="possible", loose=True, **options)
        assert rows.tolist() == listed_rows(sides, loose=True, **options)


def test_ten_thousand_words_are_matched_without_listing_fifty_million_pairs():
    links = LinkArrays.pack([Alignment((i, i) for i in range(10_000))])
    assert (count_phrases(links, links, links="sure") == 10_000).all()


def test_bad_input_is_refused():
    links = LinkArrays.pack([Alignment([(3, 0)])])
    words = TokenArrays.pack([["a"]], Vocabulary())
    for error, options in (
        (UnknownNameError, {"links": "certain"}),
        (OptionError, {"max_length": 0}),
        (MissingTextError, {"ignore_identical": True}),
        (MissingTextError, {"source": words}),
        (JoinError, {"source": words, "target": words}),
    ):
        with pytest.raises(error):
            count_phrases(links, links, **({"links": "sure"} | options))
    assert count_phrases(*[LinkArrays.pack([])] * 2, links="sure").shape == (0, 5)
    assert count_phrases(links, links, links="sure").dtype == np.int64
