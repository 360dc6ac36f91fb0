"""More links or words than arrays can number are refused, before a number overflows."""

import numpy as np
import pytest
from refusals import refuses

import alignkit as ak
from alignkit import Bitext, LinkArrays, TokenArrays, Vocabulary
from alignkit._support import arguments
from alignkit.align.cooccurrence import Cooccurrence, Room
from alignkit.errors import AlignmentError

DIAGONAL, OTHER = map(ak.Alignment.parse, ("0-0 1-1 2-2", "0-1 1-2 2-2"))
PAIRS = [(["a", "b", "c"], ["x", "y", "z"]), (["b", "a"], ["y"]), (["d"], ["u", "v", "w", "x"])]


def test_the_limit_is_that_of_32_bits():
    assert np.iinfo(np.int32).max == arguments.MOST
    arguments.check_count("links", arguments.MOST)
    with pytest.raises(AlignmentError, match=r"2147483648 links are more .*: split the corpus"):
        arguments.check_count("links", arguments.MOST + 1)


@pytest.fixture
def few(monkeypatch):
    """Let arrays hold five of anything."""
    monkeypatch.setattr(arguments, "MOST", 5)


SIX = np.zeros((6, 2), np.int32), np.ones(6, np.uint8), np.array([0, 6]), np.zeros((1, 2))
REFUSED = {
    "packing": (lambda: LinkArrays.pack([DIAGONAL, DIAGONAL]), "6 links"),
    "concatenating": (lambda: LinkArrays.concatenate([LinkArrays.pack([DIAGONAL])] * 2), "6 links"),
    "trusting": (lambda: LinkArrays.trusted(*SIX), "6 links"),
    "making": (lambda: LinkArrays(*SIX), "6 links"),
    "lengths": (lambda: LinkArrays.pack([DIAGONAL], [(3, 6)]), "6 words of a sentence"),
    "symmetrizing": (lambda: ak.symmetrize(DIAGONAL, OTHER), "6 links of both directions"),
    "phrases": (lambda: ak.extract_phrases(DIAGONAL), "6 phrase pairs"),
    "words": (lambda: TokenArrays.pack([["a"] * 6], Vocabulary()), "6 words"),
    "vocabulary": (lambda: Vocabulary().encode(list("abcdef")), "6 different words"),
    "bitext": (lambda: Bitext.pack([(["a"] * 6, ["b"])]), "6 words"),
    "pairs": (lambda: Bitext.pack([([], [])] * 6), "6 sentence pairs"),
    "index": (lambda: Cooccurrence.of(Bitext.pack(PAIRS[:2])), "9 different pairs of words"),
    "index in blocks": (
        lambda: Cooccurrence.in_blocks(Bitext.pack(PAIRS[1:]), Room(), 1),
        "6 different pairs of words",
    ),
    "training": (lambda: ak.Aligner.train(PAIRS[:2], threads=1), "9 different pairs of words"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_more_is_refused(few, what):
    call, said = REFUSED[what]
    refuses(AlignmentError, f"^{said} .* maximum of 5", call)


def test_as_many_are_taken_and_lines_are_numbered_in_32_bits(few, tmp_path):
    assert len(LinkArrays.pack([DIAGONAL, ak.Alignment.parse("0-0 1-1")]).links) == 5
    assert len(TokenArrays.pack([["a"] * 5], Vocabulary()).ids) == 5
    (tmp_path / "a").write_text("1 1 1\n" * 6, encoding="ascii")
    refuses(AlignmentError, "6 lines", list, ak.iterate_pairs(tmp_path / "a", format="naacl"))


def test_an_index_without_a_successor_is_refused_and_a_length_beyond_32_bits_is_no_short_one():
    """One more than an index is the length of the sentence, which would be negative."""
    links, lengths = np.array([[2**31 - 1, 0]], np.int32), np.array([[2**32 + 3, 3]])
    rest = np.ones(1, np.uint8), np.array([0, 1]), np.ones((1, 2), np.int32)
    refuses(AlignmentError, "2147483648 words of a sentence", LinkArrays, links, *rest)
    refuses(AlignmentError, "4294967299 words of a sentence", LinkArrays.pack, [DIAGONAL], lengths)
