"""Links carried over to another tokenization."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignkit import Alignment
from alignkit.corpora import remap
from alignkit.errors import UnknownNameError

MARKED = {
    "##": lambda piece, k, last: f"##{piece}" if k else piece,
    "@@": lambda piece, k, last: piece if last else f"{piece}@@",
    "\u2581": lambda piece, k, last: piece if k else f"\u2581{piece}",
    "\u0120": lambda piece, k, last: piece if k else f"\u0120{piece}",
    "</w>": lambda piece, k, last: f"{piece}</w>" if last else piece,
    "": lambda piece, k, last: piece,
}
WORDS = st.lists(st.text("abcd'.,3é", min_size=1, max_size=9), min_size=1, max_size=8)


def cut(words, marker, rng):
    """Return words in pieces of one to four letters, and the word of each piece."""
    pieces, owners = [], []
    for number, word in enumerate(words):
        at, k = 0, 0
        while at < len(word):
            size = int(rng.integers(1, 5))
            pieces.append(MARKED[marker](word[at : at + size], k, at + size >= len(word)))
            owners.append(number)
            at, k = at + size, k + 1
    return pieces, owners


@given(source=WORDS, target=WORDS, marker=st.sampled_from(list(MARKED)), seed=st.integers(0, 99))
def test_links_of_pieces_come_back_as_links_of_words(source, target, marker, seed):
    rng = np.random.default_rng(seed)
    theirs, owners = zip(*(cut(words, marker, rng) for words in (source, target)), strict=True)
    some = {tuple(rng.integers([len(side) for side in theirs]).tolist()) for _ in range(5)}
    weights = {link: float(rng.random()) for link in some}
    expected = {}
    for (i, j), weight in weights.items():  # the largest of the pieces
        link = owners[0][i], owners[1][j]
        expected[link] = max(expected.get(link, 0), weight)
    for normalize in ("loose", "exact") if not marker else ("loose",):
        back = remap(
            Alignment(some, weights=weights), theirs, (source, target), normalize=normalize
        )
        assert (dict(back.weights), back) == (expected, Alignment(expected, weights=expected))


def test_coarser_tokens_spread_to_the_same_kind():
    theirs = ["l'eau,", "3%"], ["water,", "3%"]
    ours = ["l'", "eau", ",", "3", "%"], ["water", ",", "3", "%"]
    links = Alignment([(0, 0)], [(1, 1)])
    assert remap(links, theirs, ours) == Alignment.parse("0-0 1-0 2-1 3?2 4?3")
    assert remap(links, theirs, ours, spread="all") == Alignment(
        [(i, j) for i in range(3) for j in range(2)], [(i, j) for i in (3, 4) for j in (2, 3)]
    )
    with pytest.raises(UnknownNameError, match="same-kind"):
        remap(links, theirs, ours, spread="some")


def test_case_escapes_and_lost_letters_are_no_other_text():
    ours = ["Don", "'t", "stop", "the", "ﬁsh", "now", "and", "then", "forever"], ["Oui"]
    theirs = ["don", "&apos;t", "stp", "the", "fish", "now", "and", "then", "forever"], ["OUI"]
    links = Alignment((k, 0) for k in range(9))
    assert remap(links, theirs, ours) == links
    assert remap(links, theirs, ours, normalize="exact") is None
    assert (
        remap(
            links,
            (["quite", "another", "text", "is", "read", "in", "its", "place", "!"], ["oui"]),
            ours,
        )
        is None
    )
    assert remap(Alignment([(0, 0)]), (["abcdef"], ["x"]), (["abc"], ["x"])) is not None  # 3 edits
    assert remap(Alignment([(0, 0)]), (["abcdefg"], ["x"]), (["abc"], ["x"])) is None
    assert remap(Alignment([(0, 0)]), (["no"], ["x"]), (["yes"], ["x"])) is None


def test_replaced_letters_belong_in_proportion():
    assert (
        remap(
            Alignment([(0, 0), (1, 0)]),
            (["aaxy", "wzbb"], ["u"]),
            (["aapq", "rsbb"], ["u"]),
            normalize="loose",
        )
        is None
    )
    theirs, ours = (f"the long old text is here {word} wz".split() for word in ("xy", "xq"))
    links = Alignment((k, 0) for k in range(len(ours)))
    assert remap(links, (theirs, ["u"]), (ours, ["u"])) == links


@pytest.mark.real_data
def test_links_of_a_corpus_survive_subwords(data):
    lines = (data / "roen" / "roen.src-tgt").read_text("utf-8").splitlines()
    links = (data / "roen" / "roen.awesome-align.out").read_text("utf-8").splitlines()
    rng, count = np.random.default_rng(0), 0
    for line, own in zip(lines, links, strict=True):
        ours = tuple(side.split() for side in line.split("|||"))
        alignment = Alignment.parse(own)
        for marker in ("##", "@@", "\u2581", ""):
            sides = [cut(words, marker, rng) for words in ours]
            firsts = [
                [owners.index(k) for k in range(len(words))]
                for words, (_, owners) in zip(ours, sides, strict=True)
            ]
            theirs = Alignment((firsts[0][i], firsts[1][j]) for i, j in alignment)
            assert remap(theirs, (sides[0][0], sides[1][0]), ours) == alignment
        count += len(alignment)
    assert count == 5014
