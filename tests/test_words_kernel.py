"""Lines are divided at ASCII white space alone; words are numbered from bytes as from tokens."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from alignkit.align import Side
from alignkit.io.text_files import is_word
from alignkit.io.words_kernel import number_words
from alignkit.model.texts import split_words

_LINES = st.lists(st.text(st.sampled_from("abAéß日 \t\r\v\f\xa0\u3000\0"), max_size=12), max_size=8)


def numbered(lines):
    data = "".join(f"{line}\n" for line in lines).encode()
    ids, starts, begins, ends = number_words(np.frombuffer(data, np.uint8), len(lines))
    words = [data[begin:end].decode() for begin, end in zip(begins, ends, strict=True)]
    return Side.by_frequency(words, ids, starts)


def assert_same(lines):
    side, plain = numbered(lines), Side.pack(map(split_words, lines), casefold=False)
    assert (side.words, side.ids.tolist()) == (plain.words, plain.ids.tolist())
    assert side.starts.tolist() == plain.starts.tolist()


@given(_LINES.filter(bool))
def test_words_are_those_of_split_words(lines):
    assert_same(lines)


def test_tables_grow_with_the_words():
    rng = np.random.default_rng(1)
    assert_same([" ".join(map(str, rng.integers(0, 30_000, 500))) for _ in range(100)])


OTHERS = "\x1c\x85\xa0\u2009\u202f\u3000"


@given(st.text(st.sampled_from("ab \t\r\n\x0b\x0c" + OTHERS), max_size=12))
def test_words_are_those_of_a_c_program(text):
    assert split_words(text) == [word.decode() for word in text.encode().split()]


def test_other_spaces_make_a_word_and_white_space_none():
    for token in ("10\xa0000", "\u3000", "a"):
        assert is_word(token)
        assert split_words(f"x {token} y") == ["x", token, "y"]
    assert not any(map(is_word, ("", " ", "a b", "a\n", "\t")))
