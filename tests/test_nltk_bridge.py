"""Sentence pairs go to NLTK and come back."""

import pytest
from hypothesis import given
from nltk.translate import AlignedSent
from nltk.translate import Alignment as Links
from strategies import corpora

from alignkit.errors import MissingTextError, UnknownNameError
from alignkit.model.alignment import Alignment
from alignkit.model.nltk_bridge import from_nltk, to_nltk
from alignkit.model.sentence_pair import SentencePair

PAIR = SentencePair("1", ("a", "b"), ("c",), {"gold": Alignment.parse("0-0 1?0 1-")})


@given(corpora(frozenset({"text", "empty"})))
def test_pairs_come_back(corpus):
    for pair in corpus:
        assert from_nltk(to_nltk(pair, "alignment"), id=pair.id).words == pair.words
        again = from_nltk(to_nltk(pair, "alignment"), id=pair.id)
        assert again.alignment("alignment") == pair.alignment("alignment")


def test_the_kind_of_links_is_chosen_and_what_is_missing_told():
    assert sorted(to_nltk(PAIR, "gold").alignment) == [(0, 0), (1, 0)]
    assert sorted(to_nltk(PAIR, "gold", links="sure").alignment) == [(0, 0)]
    with pytest.raises(UnknownNameError, match="unknown links 'sur'; did you mean 'sure'"):
        to_nltk(PAIR, "gold", links="sur")
    with pytest.raises(UnknownNameError, match="annotator"):
        to_nltk(PAIR, "silver")
    with pytest.raises(MissingTextError):
        to_nltk(SentencePair("1", None, None, {"gold": Alignment()}), "gold")
    sent = AlignedSent(["a", "b"], ["c"], Links([(0, 0, "x"), (1, None)]))
    assert from_nltk(sent, id="1", annotator="n").alignment("n") == Alignment.parse("0-0 1-")
