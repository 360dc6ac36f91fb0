"""Test the extraction of phrase pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_phrases import phrase_pairs
from refusals import refuses

from alignkit import errors
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary
from alignkit.model.phrase_arrays import KINDS, PhrasePair
from alignkit.model.phrases import extract_phrases

# the article's example sentence pair (Cohn et al. 2008, Figure 1)
WORDS = """they discussed the aspects in detail and reached an extensive agreement .
both parties discussed the specific issues and arrived at a general consensus ."""
SOURCE, TARGET = (tuple(line.split()) for line in WORDS.splitlines())
EXAMPLE = Alignment.parse("1-2 2-3 3-5 6-6 7-7 7-8 8-9 10-11 11-12 0?0 0?1 4?4 5?4 9?10")


def spans(alignment, **options):
    return [(tuple(pair[:4]), pair.atomic) for pair in extract_phrases(alignment, **options)]


def words(**options):
    pairs = extract_phrases(EXAMPLE, source=SOURCE, target=TARGET, **options)
    return [tuple(" ".join(side) for side in pair.words(SOURCE, TARGET)) for pair in pairs]


@pytest.mark.parametrize(
    ("links", "counts"), [("possible", (57, 11, 52, 7)), ("sure", (36, 8, 31, 4))]
)
def test_the_example_has_the_numbers_of_the_method(links, counts):
    found = [
        len(words(links=links, kind=kind, ignore_identical=ignore))
        for ignore in (False, True)
        for kind in ("all", "atomic")
    ]
    assert tuple(found) == counts


def test_kinds_of_phrase_pairs_are_chosen():
    assert words(kind="atomic", ignore_identical=True) == [
        ("they", "both parties"),
        ("aspects", "issues"),
        ("in detail", "specific"),
        ("reached", "arrived at"),
        ("an", "a"),
        ("extensive", "general"),
        ("agreement", "consensus"),
    ]
    phrases = extract_phrases(LinkArrays.pack([EXAMPLE, Alignment(), EXAMPLE]))
    assert np.diff(phrases.only("atomic").offsets).tolist() == [11, 0, 11]
    assert np.diff(phrases.only("composite").offsets).tolist() == [46, 0, 46]
    assert phrases.only("all") is phrases
    assert phrases.only("atomic").pair(2) == extract_phrases(EXAMPLE, kind="atomic")
    refuses(errors.UnknownNameError, "known: all, atomic, composite", phrases.only, "molecular")


def test_small_alignments_have_their_phrase_pairs():
    # and reached an ~ and arrived at, "an" unaligned
    figure = Alignment.parse("0-0 1-1 1-2")
    tight = spans(figure)
    assert ((0, 2, 0, 3), False) in tight
    loose = dict(spans(figure, loose=True, lengths=(3, 3)))
    assert (0, 2, 0, 2) not in loose
    assert (0, 3, 0, 3) not in dict(tight)
    assert loose[0, 3, 0, 3] is False
    # 0-1 is a pair; so is the closure of 1-0, 1-2, which has to take 0-1 in
    assert spans(Alignment.parse("0-1 1-0 1-2 2-3"), kind="atomic") == [
        ((0, 1, 1, 2), True),
        ((0, 2, 0, 3), True),
        ((2, 3, 3, 4), True),
    ]
    assert extract_phrases(Alignment()) == []
    assert extract_phrases(Alignment(), loose=True, lengths=(3, 4)) == []
    nothing = extract_phrases(LinkArrays.pack([]))
    assert (len(nothing), nothing.spans.shape, nothing.offsets.tolist()) == (0, (0, 4), [0])
    assert extract_phrases(LinkArrays.pack([Alignment()] * 2)).offsets.tolist() == [0, 0, 0]
    pair = PhrasePair(0, 2, 1, 2, False)
    assert pair.kind == "composite"
    assert pair.words(SOURCE, TARGET) == (("they", "discussed"), ("parties",))


def test_exact_identity_comes_from_the_vocabulary():
    arrays = LinkArrays.pack([Alignment.parse("0-0 1-1")])
    for casefold, left in ((True, 0), (False, 3)):
        vocabulary = Vocabulary(casefold=casefold)
        words = {
            "source": TokenArrays.pack([["The", "End"]], vocabulary),
            "target": TokenArrays.pack([["the", "end"]], vocabulary),
        }
        assert len(extract_phrases(arrays, **words).spans) == 3
        assert len(extract_phrases(arrays, ignore_identical=True, **words).spans) == left


@st.composite
def sized_alignments(draw, most=6):
    """Draw (N, M, links): scattered, blocks, crossing, empty or full."""
    n, m = draw(st.integers(1, most)), draw(st.integers(1, most))
    cells = [(i, j) for i in range(n) for j in range(m)]
    shape = draw(st.sampled_from(["scattered", "blocks", "permutation", "full"]))
    if shape == "full":
        return n, m, cells
    if shape == "permutation":
        return n, m, sorted(zip(range(n), draw(st.permutations(range(m))), strict=False))
    if shape == "scattered":
        return n, m, sorted(draw(st.sets(st.sampled_from(cells), max_size=n + m)))
    corners = draw(st.lists(st.tuples(*[st.sampled_from(cells)] * 2), max_size=3))
    return (
        n,
        m,
        [
            (i, j)
            for i, j in cells
            if any(
                min(a[0], b[0]) <= i <= max(a[0], b[0]) and min(a[1], b[1]) <= j <= max(a[1], b[1])
                for a, b in corners
            )
        ],
    )


@given(sized_alignments(), st.booleans(), st.sampled_from([None, 1, 2, 3]))
def test_the_kernel_follows_the_definitions(case, loose, longest):
    n, m, links = case
    expected = phrase_pairs(links, n, m, loose)
    if longest is not None:
        expected = [x for x in expected if max(x[0][1] - x[0][0], x[0][3] - x[0][2]) <= longest]
    options = {"loose": loose, "lengths": (n, m), "max_length": longest}
    for kind in KINDS:
        kept = [(box, a) for box, a in expected if kind in ("all", "atomic" if a else "composite")]
        assert spans(Alignment(links), kind=kind, **options) == kept


@given(
    st.lists(sized_alignments(4), max_size=8),
    st.booleans(),
    st.sampled_from([None, 2]),
    st.booleans(),
    st.data(),
)
def test_arrays_give_what_single_alignments_give(cases, loose, longest, ignore, data):
    def drawn(size):
        return data.draw(st.lists(st.sampled_from("aAbc"), min_size=size, max_size=size))

    texts = [(drawn(n), drawn(m)) for n, m, _ in cases]
    alignments = [Alignment(links[::2], links) for _, _, links in cases]
    vocabulary = Vocabulary()
    sides = [[text[side] for text in texts] for side in (0, 1)]
    source, target = (TokenArrays.pack(side, vocabulary) for side in sides)
    options = {"loose": loose, "max_length": longest, "ignore_identical": ignore}
    for links in ("possible", "sure"):
        arrays = LinkArrays.pack(alignments)
        phrases = extract_phrases(arrays, links=links, source=source, target=target, **options)
        assert len(phrases) == len(cases)
        for k, (alignment, (left, right)) in enumerate(zip(alignments, texts, strict=True)):
            single = extract_phrases(alignment, links=links, source=left, target=right, **options)
            assert phrases.pair(k) == single
            words = [[" ".join(side).casefold() for side in x.words(left, right)] for x in single]
            assert not ignore or all(a != b for a, b in words)


@given(sized_alignments())
def test_nltk_finds_the_same_loose_pairs(case):
    phrase_based = pytest.importorskip("nltk.translate.phrase_based")
    n, m, links = case
    text = [" ".join("abcdefgh"[:size]) for size in (n, m)]
    theirs = phrase_based.phrase_extraction(*text, links) if links else set()
    ours = extract_phrases(Alignment(links), loose=True, lengths=(n, m))
    assert {(a, b, c, d) for (a, b), (c, d), *_ in theirs} == {pair[:4] for pair in ours}


def test_room_grows_as_needed():
    many = [Alignment((i, i) for i in range(size)) for size in [1, 90, 0, 3, 40] * 20]
    phrases = extract_phrases(LinkArrays.pack(many))
    sizes = [size * (size + 1) // 2 for size in [1, 90, 0, 3, 40] * 20]
    assert np.diff(phrases.offsets).tolist() == sizes
    assert phrases.pair(96) == extract_phrases(many[96])
    assert len(extract_phrases(Alignment.parse("15-15"), loose=True, lengths=(31, 31))) == 16**4


def test_sentences_of_thousands_of_words_are_fine():
    n = 4000
    crossing = Alignment((i, int(j)) for i, j in enumerate(np.random.default_rng(1).permutation(n)))
    star = Alignment((i, 0) for i in range(n))
    arrays = LinkArrays.pack([crossing, Alignment((i, i) for i in range(n)), star], [(n, n)] * 3)
    phrases = extract_phrases(arrays, max_length=5)
    assert (len(phrases.pair(1)), phrases.pair(2)) == (5 * n - 10, [])
    assert extract_phrases(star) == [PhrasePair(0, n, 0, 1, True)]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kind": "atoms"}, errors.UnknownNameError, "did you mean 'atomic'"),
        ({"max_length": 0}, errors.OptionError, "at least 1 word"),
        ({"source": ["a", "b"]}, errors.OptionError, "both source and target"),
        ({"ignore_identical": True}, errors.MissingTextError, "pass source and target"),
        ({"loose": True}, errors.MissingTextError, "source and target, or lengths"),
        ({"lengths": (1, 1)}, errors.AlignmentError, "need 2 x 2"),
        (
            {"source": ["a", "b"], "target": ["b", "c"], "lengths": (2, 3)},
            errors.OptionError,
            "of source and target",
        ),
        (
            {name: TokenArrays.pack([["a", "b"]], Vocabulary()) for name in ("source", "target")},
            errors.OptionError,
            "sequences of tokens",
        ),
    ],
)
def test_a_wrong_request_for_one_alignment_is_refused(options, error, message):
    refuses(error, message, extract_phrases, Alignment.parse("0-0 1-1"), **options)


def test_a_wrong_request_for_arrays_is_refused():
    arrays = LinkArrays.pack([Alignment.parse("0-0 1-1")] * 2)
    vocabulary = Vocabulary()
    one, short = ([["a", "b"]], [["a", "b"], ["a"]])
    for texts, error, message in (
        (one, errors.JoinError, "2 alignments, but 1 source"),
        (short, errors.AlignmentError, "sentence pair 1"),
    ):
        side = TokenArrays.pack(texts, vocabulary)
        refuses(error, message, extract_phrases, arrays, source=side, target=side)
    bare = {"source": ["a"], "target": ["b"]}
    refuses(errors.OptionError, "must be TokenArrays", extract_phrases, arrays, **bare)
    refuses(errors.OptionError, "arrays have their own", extract_phrases, arrays, lengths=(2, 2))


def test_links_as_scripts_hold_them_have_phrase_pairs():
    expected = extract_phrases(Alignment.parse("0-0 1-1 1-2"))
    for links in ("0-0 1-1 1-2", {(0, 0), (1, 1), (1, 2)}, [(0, 0), (1, 1, "S"), (1, 2)]):
        assert extract_phrases(links) == expected
    sure = extract_phrases([(0, 0), (1, 1, "P")], links="sure")
    assert sure == extract_phrases("0-0 1?1", links="sure") == extract_phrases("0-0")
    with pytest.raises(errors.ArgumentError, match=r"alignments has \{\(0, 0\)\}, not a link"):
        extract_phrases([{(0, 0)}])
