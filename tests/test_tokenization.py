"""Tokenizers divide text into words without changing a character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignkit.errors import UnknownNameError
from alignkit.model.texts import TOKENIZERS, describe_tokenizer, tokenizer, without_marks

TEXTS = st.text(st.sampled_from("abDon't\"`.,;:?!()[]-—'’ éß中1%$&|<> \u00a0"), max_size=40)


@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=TEXTS)
def test_nothing_but_space_is_lost(name, text):
    words = tokenizer(name)(text)
    joined, plain = "".join(words), "".join(text.split())
    for quotes in ("``", "''"):
        joined, plain = joined.replace(quotes, '"'), plain.replace(quotes, '"')
    assert joined == plain
    assert all(word and not any(map(str.isspace, word)) for word in words)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("treebank", 'He said, "I can\'t."', 'He said , " I ca n\'t . "'),
        (
            "treebank",
            "Good muffins cost $3.88 in New York.",
            "Good muffins cost $ 3.88 in New York .",
        ),
        ("wordpunct", "Good muffins cost $3.88", "Good muffins cost $ 3 . 88"),
    ],
)
def test_the_examples_of_nltk(name, text, words):
    """Those of the docstrings of NLTK 3.10; quotation marks stay as they are."""
    assert tokenizer(name)(text) == words.split()


@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=st.text(st.sampled_from("ab\ufeff'\".( "), max_size=12))
def test_no_word_begins_with_a_mark(name, text):
    assert all(without_marks(word) == word for word in tokenizer(name)(text))
    assert tokenizer(name)("\ufeffa b") == ["a", "b"]


def test_an_unknown_tokenizer_is_refused():
    for function in (tokenizer, describe_tokenizer):
        with pytest.raises(UnknownNameError, match="did you mean 'treebank'"):
            function("treebnk")
    assert describe_tokenizer("wordpunct").startswith("wordpunct (nltk 3.")
