"""An alignment keeps sure within possible, and its operations keep the laws of sets."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_chance import components
from refusals import refuses

from alignkit.errors import AlignmentError
from alignkit.model.alignment import LONGEST, NULL, Alignment, Link

CELLS = st.tuples(st.integers(0, 7), st.integers(0, 7))
SIDES = st.lists(CELLS, max_size=12)
NULLS = st.lists(
    st.integers(0, 7).flatmap(lambda k: st.sampled_from([(k, NULL), (NULL, k)])), max_size=4
)
PLAIN = st.builds(Alignment, SIDES, SIDES)
WITH_NULLS = st.builds(Alignment, SIDES, SIDES, nulls=NULLS, possible_nulls=NULLS)
OUTSIDE = [(-1, 0), (0, -1), (LONGEST, 0), (0, LONGEST), (2**31, 0), (0, 2**31 - 1), (10**30, 0)]
NO_LINKS = [[(0.0, 1)], [("0", "1")], ["01"], [(0,)], [(0, 1, 2)], [3], 5, [(None, 0)]]
NO_NULLS = [(0, 0), (NULL, NULL), (-2, NULL), (0, -2), (LONGEST, NULL)]


@st.composite
def full(draw):
    bare = draw(WITH_NULLS)
    links = sorted(bare.possible | bare.nulls)
    some = st.lists(st.sampled_from(links), unique=True) if links else st.just([])
    weights = {link: draw(st.floats(0, 1)) for link in draw(some)}
    labels = {link: draw(st.text(max_size=3)) for link in [*draw(some), *draw(SIDES)]}
    nulls = {"nulls": bare.sure_nulls, "possible_nulls": bare.nulls}
    return Alignment(bare.sure, bare.possible, **nulls, weights=weights, labels=labels)


@given(SIDES, SIDES)
def test_sure_lies_within_possible(sure, possible):
    made = Alignment(sure, possible)
    assert (made.sure, made.possible) == (set(sure), set(sure) | set(possible))
    assert made.sure <= made.possible
    assert (len(made), list(made)) == (len(made.possible), sorted(made.possible))
    assert dict(made.items()) == {link: link in made.sure for link in made.possible}


@given(full(), full())
def test_equal_alignments_hash_equal_and_survive_copies(one, two):
    for again in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
        assert (again, hash(again)) == (one, hash(one))
        assert (again.weights, again.labels) == (one.weights, one.labels)
    if one == two:
        assert hash(one) == hash(two)
    assert one != str(one)


@pytest.mark.parametrize(
    "other",
    [
        Alignment.parse("0?0 1-1"),
        Alignment.parse("0-0"),
        Alignment.parse("0-0 1-1 2-"),
        Alignment([(0, 0), (1, 1)], weights={(0, 0): 1.0}),
        Alignment([(0, 0), (1, 1)], labels={(0, 0): "x"}),
    ],
)
def test_alignments_that_differ_in_anything_are_not_equal(other):
    assert other != Alignment.parse("0-0 1-1")


@given(WITH_NULLS)
def test_text_is_read_back(alignment):
    assert Alignment.parse(str(alignment)) == alignment


@pytest.mark.parametrize(
    "text",
    ["-", "?", "0", "0--1", "0-1-2", "a-b", "0p1", "٣-٤", "1_0-2", "9" * 5000 + "-0", "-1-2"],
)
def test_text_that_is_no_link_is_refused(text):
    with pytest.raises(AlignmentError, match="is not a link") as caught:
        Alignment.parse(f"0-0 {text}")
    assert len(str(caught.value)) < 120


def test_text_with_the_weights_that_align_writes_is_read():
    weighted = Alignment.parse("0-0:0.93 1?1:1.2e-05 2-2 3-")
    assert weighted.weights == {(0, 0): 0.93, (1, 1): 1.2e-05}
    assert str(weighted) == "0-0 1?1 2-2 3-"
    for text in ("0-0:", "0-0:x", "0-0:nan", "0-0:0.5:0.5"):
        refuses(AlignmentError, "is not a link", Alignment.parse, text)
    refuses(AlignmentError, "too large", Alignment.parse, "0-0:1e999")


@pytest.mark.parametrize(
    ("name", "links", "words"),
    [
        *((name, [link], "out of range") for link in OUTSIDE for name in ("sure", "possible")),
        *((name, links, "pairs") for links in NO_LINKS for name in ("sure", "nulls")),
        *(("nulls", [null], "null") for null in NO_NULLS),
    ],
)
def test_what_is_no_link_and_no_null_is_refused(name, links, words):
    refuses(AlignmentError, words, Alignment, **{name: links})


def test_whole_numbers_of_other_kinds_are_taken():
    made = Alignment([(np.int64(1), np.uint8(2)), (True, False)])
    assert made == Alignment.parse("1-0 1-2")
    assert all(type(part) is int for link in made for part in link)


def test_a_weight_needs_a_link_and_a_label_a_cell():
    refuses(AlignmentError, "not a link", Alignment, [(0, 0)], weights={(0, 1): 0.5})
    judged = Alignment([(0, 0)], labels={(3, 1): "wrong"})
    assert (judged.labels, len(judged), judged.extent()) == ({Link(3, 1): "wrong"}, 1, (4, 2))
    for cell in [(-2, 0), (NULL, NULL), (LONGEST, 0), (0,), "01", (0.5, 1)]:
        refuses(AlignmentError, None, Alignment, [(0, 0)], labels={cell: "x"})


def test_views_cannot_be_changed():
    alignment = Alignment([(0, 0)], weights={(0, 0): 0.5}, labels={(0, 0): "x"})
    for view in (alignment.weights, alignment.labels):
        with pytest.raises(TypeError):
            view[Link(0, 0)] = view[Link(0, 0)]
    for array in (alignment.points(), alignment.flags()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@given(PLAIN)
def test_the_matrix_says_none_possible_and_sure(alignment):
    n, m = alignment.extent()
    matrix = alignment.matrix(n + 1, m + 2)
    assert matrix.shape == (n + 1, m + 2)
    for cell in np.ndindex(n + 1, m + 2):
        assert matrix[cell] == (cell in alignment.possible) + (cell in alignment.sure)
    assert Alignment.from_matrix(matrix) == alignment


def test_a_matrix_too_small_or_of_other_values_is_refused():
    refuses(AlignmentError, "2 x 1", Alignment.parse("1-0").matrix, 1, 1)
    for wrong in (np.array([[3]]), np.array([1, 2]), np.array([[-1]]), np.zeros((1, 1, 1), int)):
        refuses(AlignmentError, "0, 1 and 2", Alignment.from_matrix, wrong)


@given(PLAIN)
def test_components_are_the_classes_of_links_that_share_words(alignment):
    assert alignment.components() == sorted(map(frozenset, components(alignment.possible)), key=min)


@given(full())
def test_transposing_twice_gives_the_alignment_back(alignment):
    turned = alignment.transpose()
    assert turned.transpose() == alignment
    for name in ("sure", "possible", "nulls", "sure_nulls"):
        assert getattr(turned, name) == {(j, i) for i, j in getattr(alignment, name)}
    for name in ("weights", "labels"):
        values = getattr(alignment, name).items()
        assert getattr(turned, name) == {(j, i): value for (i, j), value in values}
    assert turned.extent() == alignment.extent()[::-1]


@given(PLAIN, PLAIN, PLAIN)
def test_union_intersection_and_difference_keep_the_laws_of_sets(a, b, c):
    assert (a | b, a & b, (a | b) | c, (a & b) & c) == (b | a, b & a, a | (b | c), a & (b & c))
    assert a | (a & b) == a == a & (a | b)
    assert a & (b | c) == (a & b) | (a & c)
    assert a - a == (a - b) & b == Alignment()
    assert a | b == Alignment(a.sure | b.sure, a.possible | b.possible)
    assert a & b == Alignment(a.sure & b.sure, a.possible & b.possible)
    assert a - b == Alignment(a.sure - b.possible, a.possible - b.possible)
    assert (a | b).transpose() == a.transpose() | b.transpose()


@given(PLAIN, CELLS)
def test_links_are_found(alignment, cell):
    assert (cell in alignment) == (cell in alignment.possible)
    i, j = cell
    assert alignment.targets_of(i) == tuple(sorted(b for a, b in alignment.possible if a == i))
    assert alignment.sources_of(j) == tuple(sorted(a for a, b in alignment.possible if b == j))
    assert alignment.aligned_source() == {a for a, _ in alignment.possible}
    assert alignment.aligned_target() == {b for _, b in alignment.possible}
    assert alignment.sure_only() == Alignment(alignment.sure)


@given(PLAIN)
def test_bytes_are_read_back(alignment):
    assert Alignment.from_bytes(*alignment.packed()) == alignment
    assert alignment.points().tolist() == [list(link) for link in alignment]
    assert alignment.flags().tolist() == [flag for _, flag in alignment.items()]


@given(WITH_NULLS)
def test_the_extent_is_the_least_that_holds_all(alignment):
    words = [*alignment, *alignment.nulls]
    assert alignment.extent() == (
        max((i + 1 for i, _ in words), default=0),
        max((j + 1 for _, j in words), default=0),
    )


def test_the_notebook_shows_a_table():
    table = (
        "<table><tr><th></th><th>0</th><th>1</th></tr>"
        "<tr><th>0</th><td>■</td><td>□</td></tr></table>"
    )
    framed = f'<div style="max-height:80vh;overflow:auto">{table}</div>'
    assert Alignment.parse("0-0 0?1")._repr_html_() == framed
    assert "<table>" in Alignment()._repr_html_()
    assert len(Alignment([(9999, 9999)])._repr_html_()) < 100
