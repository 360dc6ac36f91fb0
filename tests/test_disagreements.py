"""Where two annotators differ is counted: by sentence pair, word pair and kind of link."""

from dataclasses import replace

import pytest
from agreement_corpora import make_corpus
from hypothesis import given, settings
from hypothesis import strategies as st

from alignkit.agreement import agree
from alignkit.agreement.disagreements import Outcome, disagreements
from alignkit.agreement.page import further_pairs
from alignkit.model.alignment import Alignment
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring.link_classes import function_words


def test_disagreements_are_counted():
    pair = SentencePair(
        "1", ("The", "men", "left", "."), ("the", "man", "went", "away", "."),
        {"anna": Alignment.parse("0-0 1-1 2-2 2?3 3-4"),
         "ben": Alignment.parse("0?0 1-1 1-0 2-2 2-3")},
    )  # fmt: skip
    english = function_words("english")
    found = disagreements(Corpus([pair, pair]), "anna", "ben", function_words=english)
    assert found.total == Outcome(both=4, unsure=4, first=2, second=2)
    assert found.kinds["punctuation"] == Outcome(first=2)
    assert found.kinds["identical"] == Outcome(unsure=2, first=2)
    assert found.kinds["function word"] == Outcome(unsure=2, second=2)
    assert found.kinds["content words"] == Outcome(both=4, unsure=2)
    assert found.kinds["1-1"] == Outcome(first=2)  # 0-0 and 1-1 are in a block of ben's
    assert found.kinds["block"].links == 6
    assert found.kinds["1-n"] == Outcome(both=2, unsure=2)
    assert [(one.source, one.target, one.outcome.alone) for one in found.words] == [
        (".", ".", 2),
        ("men", "the", 2),
    ]


def test_case_matters_where_it_is_asked_for():
    pair = SentencePair(
        "1", ("The",), ("the",), {"anna": Alignment.parse("0-0"), "ben": Alignment()}
    )
    found = disagreements(Corpus([pair]), "anna", "ben", exact_case=True)
    assert found.kinds["identical"] == Outcome()
    assert [(one.source, one.target) for one in found.words] == [("The", "the")]
    folded = disagreements(Corpus([pair]), "anna", "ben")
    assert folded.kinds["identical"] == Outcome(first=1)
    assert [(one.source, one.target) for one in folded.words] == [("the", "the")]


@settings(max_examples=50)
@given(st.integers(0, 10**6))
def test_kinds_and_pairs_add_up(seed):
    corpus = make_corpus(3, longest=6, seed=seed)
    found = disagreements(corpus, "anna", "ben")
    every = sum((one.outcome for one in found.pairs), Outcome())
    shapes = sum((found.kinds[shape] for shape in ("1-1", "1-n", "block")), Outcome())
    assert found.total == every == shapes
    alone = sum(len(set(pair.alignment("anna")) ^ set(pair.alignment("ben"))) for pair in corpus)
    assert found.total.alone == alone == sum(one.outcome.alone for one in found.words)


def test_further_pairs_follow_the_square_root():
    corpus = make_corpus(20)
    agreement = agree(corpus, ["anna", "ben"], resamples=50)
    one = agreement.of("annotators")[0].main("words.possible")
    width = one.interval.high - one.interval.low
    assert further_pairs(one, width) == 0
    assert further_pairs(one, width / 2) == 3 * len(one.sentences)
    assert further_pairs(one, width / 10) == pytest.approx(99 * len(one.sentences), abs=1)
    assert further_pairs(replace(one, interval=None), width) is None
