"""Test the merging of two directions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_symmetrize import symal

from alignkit.errors import JoinError, OptionError, UnknownNameError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.model.symmetrization import METHODS, symmetrize


def merged(forward, reverse, method):
    return str(symmetrize(Alignment.parse(forward), Alignment.parse(reverse), method))


@pytest.mark.parametrize(
    ("method", "forward", "reverse", "expected"),
    [
        # a diagonal neighbour comes after the straight ones: 1-1 adds 1-0 and 0-1 first, then both
        # words of 0-0 are taken
        ("grow-diag", "0-1 1-0 1-1", "0-0 1-1", "0-1 1-0 1-1"),
        # the scan begins at the first target word: 0-0 adds 0-1 and 1-0, so 1-1 is not free
        ("grow-diag", "0-0 2-2 0-1 1-0 1-1", "0-0 2-2", "0-0 0-1 1-0 2-2"),
        # 0-0 is first and adds 1-1, so that 1-2 and 2-1 find both their words taken
        ("grow-diag", "0-0 2-2 1-2 2-1 1-1", "0-0 2-2", "0-0 1-1 2-2"),
        # the target word is the outer order: 2-0 goes before 0-2 and adds 1-0 and 2-1, not 1-1
        ("grow-diag", "0-2 2-0 1-0 2-1 1-1", "0-2 2-0", "0-2 1-0 2-0 2-1"),
        # a link added ahead is met in the same scan: 0-0 adds 1-1, that adds 2-2, before 3-3
        ("grow-diag", "0-0 3-3 1-1 2-2 2-3 3-2", "0-0 3-3", "0-0 1-1 2-2 3-3"),
        # a link added behind is met in the next scan
        ("grow-diag", "3-3 2-2 1-1 0-0", "3-3", "0-0 1-1 2-2 3-3"),
        # growing needs something to grow from
        ("grow-diag", "0-0", "1-1", ""),
        # final takes forward before reverse
        ("grow-diag-final-and", "0-0", "0-1", "0-0"),
        ("grow-diag-final-and", "0-1", "0-0", "0-1"),
        ("grow-diag-final", "0-0", "0-1", "0-0 0-1"),
        # each takes a word of 1-1, which is last in spite of its lower words
        ("grow-diag-final", "1-3 3-1", "1-1", "1-3 3-1"),
        # final wants either word free, final-and both
        ("grow-diag-final", "0-0 1-1 1-2 4-4", "0-0 1-1 3-0", "0-0 1-1 1-2 3-0 4-4"),
        ("grow-diag-final-and", "0-0 1-1 1-2 4-4", "0-0 1-1 3-0", "0-0 1-1 1-2 4-4"),
    ],
)
def test_links_are_added_in_the_order_of_symal(method, forward, reverse, expected):
    assert merged(forward, reverse, method) == expected


@pytest.mark.parametrize("method", METHODS)
def test_links_come_out_sure_and_nothing_merges_to_nothing(method):
    assert (merged("0?0 1?1", "0-0 1?1", method), merged("", "", method)) == ("0-0 1-1", "")
    assert len(symmetrize(LinkArrays.pack([]), LinkArrays.pack([]), method)) == 0


LINKS = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=16).map(sorted)
CHANCE = st.tuples(LINKS, LINKS, LINKS).map(
    lambda parts: (sorted({*parts[0], *parts[1]}), sorted({*parts[0], *parts[2]}))
)


@given(CHANCE, st.sampled_from(list(METHODS)))
def test_the_kernel_follows_symal(sides, method):
    found = symmetrize(*map(Alignment, sides), method)
    assert found.sure == found.possible == symal(*sides, method)


@given(st.lists(CHANCE, max_size=6), st.sampled_from(list(METHODS)))
def test_arrays_give_what_single_alignments_give(cases, method):
    forward, reverse = ([Alignment(case[side]) for case in cases] for side in (0, 1))
    arrays = symmetrize(LinkArrays.pack(forward), LinkArrays.pack(reverse), method)
    assert len(arrays) == len(cases)
    for k, sides in enumerate(zip(forward, reverse, strict=True)):
        assert arrays.alignment(k) == symmetrize(*sides, method)


@given(CHANCE)
def test_each_method_lies_between_intersection_and_union(sides):
    found = [symmetrize(*map(Alignment, sides), method).sure for method in METHODS]
    low, high, grown, final, final_and = found
    assert low <= grown <= final_and <= high
    assert grown <= final <= high


def test_lengths_are_the_greater_and_what_does_not_fit_is_refused():
    forward = LinkArrays.pack([Alignment.parse("0-0")], [(3, 4)])
    reverse = LinkArrays.pack([Alignment.parse("4-0")])
    assert symmetrize(forward, reverse, "union").lengths.tolist() == [[5, 4]]
    n = 20_000
    forward, reverse = Alignment([(i, i) for i in range(n)]), Alignment([(n - 1, n - 1)])
    for method in METHODS:
        assert len(symmetrize(forward, reverse, method)) == (1 if method == "intersection" else n)
    one = LinkArrays.pack([Alignment()])
    with pytest.raises(JoinError, match="forward has 1 sentence pairs"):
        symmetrize(one, LinkArrays.pack([Alignment()] * 2))
    with pytest.raises(OptionError, match="or two arrays"):
        symmetrize(one, Alignment())
    with pytest.raises(UnknownNameError, match="did you mean 'grow-diag-final'"):
        symmetrize(one, one, "grow-diag-fina")


@pytest.mark.real_data
@pytest.mark.parametrize("system", ["giza", "fastalign"])
@pytest.mark.parametrize("method", ["intersection", "union"])
def test_roen_directions_merge_to_the_given_files(data, system, method):
    def lines(part):
        path = data / "roen" / system / f"test.roen{part}.talp"
        return [Alignment.parse(line) for line in path.read_text().splitlines()]

    # written target-source
    reverse = LinkArrays.pack(alignment.transpose() for alignment in lines(".reverse"))
    given_file = lines(f".{method}")
    found = symmetrize(LinkArrays.pack(lines("")), reverse, method)
    assert len(found) == len(given_file) == 248
    assert [found.alignment(k) for k in range(248)] == given_file
    assert np.all(found.sure == 1)
