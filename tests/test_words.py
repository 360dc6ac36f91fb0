"""Lines are divided at ASCII white space; every other space belongs to a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignkit.formats.words import is_word, split_words

OTHERS = "\x1c\x85\xa0\u2009\u202f\u3000"


@given(st.text(st.sampled_from("ab \t\r\n\x0b\x0c" + OTHERS), max_size=12))
def test_words_are_those_of_a_c_program(text: str) -> None:
    assert split_words(text) == [word.decode() for word in text.encode().split()]


@pytest.mark.parametrize("token", ["10\xa0000", "\u3000", "a"])
def test_other_spaces_make_a_word(token: str) -> None:
    assert is_word(token)
    assert split_words(f"x {token} y") == ["x", token, "y"]


@pytest.mark.parametrize("token", ["", " ", "a b", "a\n", "\t"])
def test_white_space_makes_none(token: str) -> None:
    assert not is_word(token)
