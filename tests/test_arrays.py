"""Flat arrays hold what the alignments hold, and no kernel is handed arrays that lie."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit import Alignment, LinkArrays, TokenArrays, Vocabulary
from alignkit.errors import AlignmentError
from alignkit.model import arrays as arrays_module
from alignkit.model.arrays import number_cells

CELLS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), max_size=8)
MANY = st.lists(st.builds(Alignment, CELLS, CELLS), max_size=6)
WORDS = ["a", "A", "ß", "SS", "b", "B"]


def back(arrays):
    return [arrays.alignment(k) for k in range(len(arrays))]


def same(one, two):
    fields = ("links", "sure", "offsets", "lengths")
    pairs = [(getattr(one, name), getattr(two, name)) for name in fields]
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def check(arrays):
    """The constructor checks: what `trusted` let through must pass."""
    return LinkArrays(arrays.links, arrays.sure, arrays.offsets, arrays.lengths)


@given(MANY)
def test_alignments_come_back(alignments):
    arrays = check(LinkArrays.pack(alignments))
    assert (len(arrays), back(arrays)) == (len(alignments), alignments)
    assert arrays.lengths.tolist() == [list(one.extent()) for one in alignments]
    assert [arrays.alignment(k - len(alignments)) for k in range(len(alignments))] == alignments
    longer = check(LinkArrays.pack(alignments, [(5, 6)] * len(alignments)))
    assert longer.lengths.tolist() == [[5, 6]] * len(alignments)


def test_a_pair_that_is_not_there_is_an_index_error():
    for k in (1, -2):
        refuses(IndexError, None, LinkArrays.pack([Alignment()]).alignment, k)


@given(MANY, st.integers(-8, 8), st.integers(-8, 8))
def test_a_part_is_what_a_slice_is(alignments, start, end):
    assert back(check(LinkArrays.pack(alignments).part(start, end))) == alignments[start:end]


@given(MANY, st.lists(st.integers(0, 6), max_size=3))
def test_parts_joined_give_the_whole(alignments, cuts):
    arrays = LinkArrays.pack(alignments)
    bounds = [0, *sorted(min(cut, len(alignments)) for cut in cuts), len(alignments)]
    parts = [arrays.part(a, b) for a, b in pairwise(bounds)]
    assert same(check(LinkArrays.concatenate(parts)), arrays)


def test_nothing_is_packed_and_joined_and_arrays_made_by_hand_are_taken():
    for empty in (LinkArrays.pack([]), LinkArrays.concatenate([]), LinkArrays.pack([], [])):
        assert len(check(empty)) == 0
    assert back(hand()) == [Alignment.parse("0-0 1?1"), Alignment.parse("0-1")]


@given(MANY)
def test_sure_links_are_kept(alignments):
    kept = check(LinkArrays.pack(alignments, [(5, 6)] * len(alignments)).sure_only())
    assert back(kept) == [one.sure_only() for one in alignments]
    assert kept.lengths.tolist() == [[5, 6]] * len(alignments)


@given(MANY, st.booleans(), st.data())
def test_links_between_equal_words_are_dropped(alignments, casefold, data):
    def sentences(length):
        one = st.lists(st.sampled_from(WORDS), min_size=length, max_size=length)
        return data.draw(st.lists(one, min_size=len(alignments), max_size=len(alignments)))

    source, target = sentences(5), sentences(6)
    vocabulary = Vocabulary(casefold=casefold)
    words = (TokenArrays.pack(side, vocabulary) for side in (source, target))
    arrays = LinkArrays.pack(alignments, [(5, 6)] * len(alignments)).without_identical(*words)

    def differ(a, b):
        return a.casefold() != b.casefold() if casefold else a != b

    for k, one in enumerate(alignments):
        kept = {link for link in one.possible if differ(source[k][link.i], target[k][link.j])}
        assert arrays.alignment(k) == Alignment(one.sure & kept, kept)
    check(arrays)


def test_words_of_other_pairs_and_lengths_too_few_or_too_small_are_refused():
    arrays, vocabulary = LinkArrays.pack([Alignment.parse("0-0 1-1")]), Vocabulary()
    good = TokenArrays.pack([["a", "b"]], vocabulary)
    for bad in (TokenArrays.pack([["a"]], vocabulary), TokenArrays.pack([], vocabulary)):
        refuses(AlignmentError, "sentence", arrays.without_identical, good, bad)
    two = [Alignment.parse("0-0"), Alignment.parse("0-0 3?1")]
    refuses(AlignmentError, "1 sentence lengths, but 2", LinkArrays.pack, two, [(1, 1)])
    with pytest.raises(AlignmentError, match=r"alignment 1 .* 4 x 2 words, .* 3 x 2"):
        LinkArrays.pack(two, [(1, 1), (3, 2)])


def hand(links=((0, 0), (1, 1), (0, 1)), sure=(1, 0, 1), offsets=(0, 2, 3), lengths=None, **kinds):
    lengths = ((2, 2), (1, 2)) if lengths is None else lengths
    usual = {"links": np.int32, "sure": np.uint8, "offsets": np.int64, "lengths": np.int32}
    values = {"links": links, "sure": sure, "offsets": offsets, "lengths": lengths}
    made = {name: np.array(values[name], kinds.get(f"{name}_kind", usual[name])) for name in usual}
    return LinkArrays(**made)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"links_kind": np.int64}, "links is a .* array of int64"),
        ({"sure_kind": bool}, "sure is a .* array of bool"),
        ({"offsets_kind": np.int32}, "offsets is a .* array of int32"),
        ({"lengths_kind": np.int64}, "lengths is a .* array of int64"),
        ({"links": (0, 0, 1, 1, 0, 1)}, r"links is a \(6,\) array"),
        ({"sure": (1, 0)}, r"links is a \(3, 2\) array"),
        ({"lengths": ((2, 2),)}, "lengths"),
        ({"lengths": ((1, 2), (1, 2))}, "pair 0 .* outside"),
        ({"lengths": ((2, 2), (1, 1))}, "pair 1 .* outside"),
        ({"offsets": ()}, "offsets"),
        ({"offsets": (0, 3, 2)}, "rise from 0 to 3"),
        ({"offsets": (0, 4, 3)}, "rise from 0 to 3"),
        ({"offsets": (1, 2, 3)}, "rise from 0 to 3"),
        ({"offsets": (0, 2, 4)}, "rise from 0 to 3"),
        ({"links": ((0, 0), (-1, 1), (0, 1))}, "negative"),
        ({"sure": (1, 2, 0)}, "neither"),
        ({"links": ((1, 1), (0, 0), (0, 1))}, "pair 0 .* are not ascending"),
        ({"links": ((0, 0), (0, 0), (0, 1))}, "pair 0 .* are not ascending"),
        ({"offsets": (0, 1, 3), "lengths": ((2, 2), (2, 2))}, "pair 1 .* are not ascending"),
    ],
)
def test_arrays_that_lie_are_refused(wrong, message):
    refuses(AlignmentError, message, hand, **wrong)


@pytest.mark.parametrize("offsets", [[0, 2], [0, 4], [1, 3], [0, 4, 3], []])
def test_token_arrays_that_lie_are_refused(offsets):
    with pytest.raises(AlignmentError, match="offsets"):
        TokenArrays(np.zeros(3, np.int32), np.array(offsets, np.int64))
    refuses(AlignmentError, "ids", TokenArrays, np.zeros(3, np.int64), np.array([0, 3], np.int64))


def test_a_vocabulary_numbers_words_once():
    folded, exact = Vocabulary(), Vocabulary(casefold=False)
    assert folded.encode(["Straße", "STRASSE", "x", "Straße"]) == [0, 0, 1, 0]
    assert exact.encode(["Straße", "STRASSE", "x", "Straße"]) == [0, 1, 2, 0]
    assert (len(folded), len(exact)) == (2, 3)
    packed = TokenArrays.pack([["x"], [], ["y", "x"]], folded)
    assert (packed.ids.tolist(), packed.offsets.tolist()) == ([1, 2, 1], [0, 1, 1, 3])


@pytest.mark.parametrize(("most", "blocks_wanted"), [(2**63 - 1, 1), (200, 3)])
def test_cells_are_numbered_in_as_many_blocks_as_needed(monkeypatch, most, blocks_wanted):
    monkeypatch.setattr(arrays_module, "_MOST_NUMBERS", most)  # 100 cells a pair
    far = 9
    first = [[(0, 0), (far, far)], [(1, far)], [(far, 1), (far, far)], [], [(0, 0)]]
    second = [[(far, far)], [(1, far), (far, 1)], [(far, 1)], [(0, 0)], []]
    one, two = (LinkArrays.pack(map(Alignment, side)) for side in (first, second))
    pairs = list(zip(first, second, strict=True))
    assert one.among(two).tolist() == [link in b for a, b in pairs for link in a]
    here, there = one.shared(two)
    flat = [
        [(k, link) for k, links in enumerate(side) for link in links] for side in (first, second)
    ]
    assert [flat[0][k] for k in here] == [flat[1][k] for k in there]
    assert len(here) == sum(len(set(a) & set(b)) for a, b in pairs)
    blocks = list(number_cells(one, two))
    assert len(blocks) == blocks_wanted
    assert sum(len(block.arrays[0]) for block in blocks) == len(first)
    numbered = set()
    for block in blocks:
        for arrays, numbers in zip(block.arrays, block.numbers, strict=True):
            pair, i, j = block.cells(numbers)
            assert ((pair >= block.first) & (pair < block.first + len(arrays))).all()
            numbered.update(zip(pair.tolist(), i.tolist(), j.tolist(), strict=True))
    assert numbered == {(p, *c) for side in flat for p, c in side}
