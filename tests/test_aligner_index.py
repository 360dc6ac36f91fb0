"""Word pairs, sentence pairs, parts and positions are found where plain dictionaries find them."""

from itertools import pairwise

import aligner_reference as plain
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignkit._support import arguments
from alignkit.align.bitext import Bitext
from alignkit.align.cooccurrence import Cooccurrence, Room
from alignkit.align.expectation import Positions, parts_of
from alignkit.align.maximization_kernel import UNITS, add_chances
from alignkit.errors import AlignmentError

SIZES = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=4)


def random_bitext(rng, sizes, words=6):
    pairs = plain.random_pairs(rng, sizes, words)
    return pairs, Bitext.pack(pairs)


@given(st.integers(0, 2**32 - 1), SIZES)
def test_the_index_is_a_dictionary_of_word_pairs(seed, sizes):
    pairs, bitext = random_bitext(np.random.default_rng(seed), sizes)
    index = Cooccurrence.of(bitext)
    rows = np.repeat(np.arange(len(index.rows) - 1), np.diff(index.rows))
    source, target = bitext.source.words, bitext.target.words
    named = [(source[a], target[b]) for a, b in zip(rows, index.columns, strict=True)]
    together = {(one, other) for s, t in pairs for one in s for other in t}
    assert len(named) == len(set(named)) == len(together)
    assert set(named) == together
    cells = [(one, other) for s, t in pairs for one in s for other in t]
    assert ([named[place] for place in index.cells], index.rows[0]) == (cells, 0)
    assert index.rows[-1] == len(index.columns)
    for begin, end in pairwise(index.rows):
        assert (np.diff(index.columns[begin:end]) > 0).all()
    chances = np.zeros(len(named), np.int64)
    add_chances(bitext.starts, index.cells, chances)
    wanted = plain.counts(
        pairs, [np.full((len(s), len(t)), 1 / max(1, len(s) * len(t))) for s, t in pairs]
    )
    assert dict(zip(named, chances / UNITS, strict=True)) == pytest.approx(dict(wanted))


@given(st.integers(0, 2**32 - 1), SIZES, st.integers(1, 30))
def test_the_index_is_the_same_when_made_in_blocks(seed, sizes, block):
    _, bitext = random_bitext(np.random.default_rng(seed), sizes)
    whole, blocks = Cooccurrence.of(bitext), Cooccurrence.in_blocks(bitext, Room(), block)
    for name in ("rows", "columns", "cells"):
        one, other = getattr(whole, name), getattr(blocks, name)
        assert (one.tolist(), one.dtype) == (other.tolist(), other.dtype)


@given(st.lists(st.integers(0, 50), max_size=200), st.integers(1, 80))
def test_parts_divide_all_pairs(sizes, number):
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
    parts = parts_of(starts, number)
    assert [p for begin, end in parts for p in range(begin, end)] == list(range(len(sizes)))
    assert len(parts) <= number
    assert all(begin < end for begin, end in parts)


@given(st.integers(0, 2**32 - 1), SIZES, st.booleans())
def test_positions_add_up_to_one(seed, sizes, diagonal):
    rng = np.random.default_rng(seed)
    _, bitext = random_bitext(rng, sizes)
    links = rng.random((2, bitext.starts[-1])).astype(np.float32)
    positions = Positions.uniform().updated(bitext, tuple(links), diagonal=diagonal)
    wanted = {}
    for p, shape in enumerate(sizes):
        cells = slice(bitext.starts[p], bitext.starts[p + 1])
        wanted[shape] = wanted.get(shape, 0) + links[:, cells].reshape(2, *shape).astype(float)
    for p, (n, m) in enumerate(sizes):
        if not n * m:
            continue
        at = slice(positions.places[p], positions.places[p] + n * m)
        for axis, table in enumerate((positions.forward, positions.reverse)):
            share = table[at].reshape(n, m)
            np.testing.assert_allclose(share.sum(axis=axis), 1, rtol=1e-5)
            if not diagonal:
                counts = wanted[n, m][axis]
                np.testing.assert_allclose(
                    share, counts / counts.sum(axis=axis, keepdims=True), rtol=1e-5
                )
    assert positions.of(bitext).places.tolist() == positions.places.tolist()
    other = positions.of(Bitext.pack([(["x"] * 11, ["y"] * 3)]))
    assert other.forward[other.places[0] :].tolist() == pytest.approx([1 / 11] * 33)
    assert other.reverse[other.places[0] :].tolist() == pytest.approx([1 / 3] * 33)


@pytest.mark.parametrize("block", [10**6, 4])
def test_too_many_word_pairs_are_refused_before_they_are_numbered(monkeypatch, block):
    bitext = Bitext.pack([("a b", "x y"), ("a c", "x y"), ("d", "z")])
    monkeypatch.setattr(arguments, "MOST", 7)
    assert len(Cooccurrence.in_blocks(bitext, Room(), block).columns) == 7
    monkeypatch.setattr(arguments, "MOST", 6)
    with pytest.raises(AlignmentError, match=r"^7 different pairs"):
        Cooccurrence.in_blocks(bitext, Room(), block)
