"""Files of neighbouring tools are read and written by their specifications."""

import pytest

from alignkit import SentencePair, word_column
from alignkit.errors import AlignmentError, UnknownNameError

# --- word columns

TAGGED = SentencePair(
    "1",
    ["they", "left"],
    [],
    attributes={"source.upos": "PRON\tVERB", "target.upos": "", "a.b": "c"},
)


def test_a_word_column_has_a_value_for_each_word_and_follows_its_side():
    assert word_column(TAGGED, "source", "upos") == ["PRON", "VERB"]
    assert word_column(TAGGED, "target", "upos") == []
    assert word_column(TAGGED, "source", "lemma") is None
    turned = TAGGED.transpose()
    assert word_column(turned, "target", "upos") == ["PRON", "VERB"]
    assert turned.attributes["a.b"] == "c"
    assert turned.transpose() == TAGGED


@pytest.mark.parametrize("words", [["they"], ["they", "left", "."], None])
def test_a_word_column_of_other_words_is_an_error(words):
    pair = SentencePair("7", words, None, attributes={"source.upos": "PRON\tVERB"})
    with pytest.raises(AlignmentError, match=r"pair '7': column source.upos has 2 values for"):
        word_column(pair, "source", "upos")
    with pytest.raises(UnknownNameError, match="side"):
        word_column(pair, "left", "upos")
