"""Sentence pairs check their links; corpora slice, group, filter, are counted, and go to NLTK."""

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, replace

import pandas
import pytest
from hypothesis import given
from nltk.translate import AlignedSent
from nltk.translate import Alignment as Links
from strategies import corpora

from alignkit.corpora.counts import AnnotatorCounts, count_corpus, count_groups
from alignkit.errors import (
    AlignmentError,
    ArgumentError,
    MissingTextError,
    OptionError,
    UnknownNameError,
)
from alignkit.io.format import EVERYTHING
from alignkit.model.alignment import NULL, Alignment
from alignkit.model.annotation import Annotation
from alignkit.model.corpus import Corpus, values_of
from alignkit.model.nltk_bridge import from_nltk, to_nltk
from alignkit.model.sentence_pair import SentencePair

EXAMPLE = SentencePair(
    "7",
    ("they", "left"),
    ("both", "went", "off"),
    {
        "anna": Annotation(Alignment.parse("0-0 1?2"), "unsure", {"odd"}, "paraphrase", "tool 1"),
        "ben": Alignment(),
    },
    {"genre": "news"},
)


@pytest.mark.parametrize(
    ("source", "target", "alignment"),
    [
        (("a",), ("b",), Alignment.parse("0-1")),
        (("a",), ("b",), Alignment.parse("1?0")),
        ((), ("b",), Alignment.parse("0-0")),
        (("a",), None, Alignment.parse("1-9")),
        (None, ("b",), Alignment.parse("9-1")),
        (("a",), ("b",), Alignment.parse("1-")),
        (("a",), ("b",), Alignment(possible_nulls=[(NULL, 1)])),
        (("a",), ("b",), Alignment(labels={(0, 1): "wrong"})),
    ],
)
def test_links_beyond_the_sentences_are_refused(source, target, alignment):
    with pytest.raises(AlignmentError, match=r"pair '3': links of 'anna' reach"):
        SentencePair("3", source, target, {"anna": alignment})
    bare = SentencePair("3", None, None, {"anna": alignment})
    assert bare.alignment("anna") == alignment
    with pytest.raises(AlignmentError, match="reach"):
        replace(bare, source=source, target=target)


def test_a_sentence_is_not_one_string():
    with pytest.raises(AlignmentError, match="split the text"):
        SentencePair("1", "they left", ("they",))
    with pytest.raises(AlignmentError, match="split the text"):
        SentencePair("1", None, "they left")


def test_a_pair_without_words_says_how_to_get_them():
    pair = SentencePair("1", ("a",), None)
    assert not pair.has_text
    for ask in (lambda: pair.words, lambda: pair.lengths):
        with pytest.raises(MissingTextError, match="has no target words; add them"):
            ask()
    known = SentencePair("1", [], iter(["b"]))
    assert known.has_text
    assert known.words == ((), ("b",))
    assert known.lengths == (0, 1)


def test_not_annotated_is_not_empty():
    assert EXAMPLE.alignment("ben") == Alignment()
    with pytest.raises(UnknownNameError, match="did you mean 'anna'"):
        EXAMPLE.annotation("ana")
    assert EXAMPLE.without_annotations("ben", "nobody") != EXAMPLE
    assert list(EXAMPLE.without_annotations("ben").annotations) == ["anna"]


def test_annotations_are_added_and_replaced_in_a_new_pair():
    more = EXAMPLE.with_annotation("ben", Alignment.parse("0-0"))
    assert list(more.annotations) == ["anna", "ben"]
    assert more.alignment("ben") == Alignment.parse("0-0")
    assert EXAMPLE.alignment("ben") == Alignment()
    with pytest.raises(AlignmentError):
        EXAMPLE.with_annotation("ben", Alignment.parse("0-3"))
    with pytest.raises(FrozenInstanceError):
        EXAMPLE.id = "8"


@given(corpora(EVERYTHING))
def test_copies_and_double_transposition_are_equal(corpus):
    for again in (pickle.loads(pickle.dumps(corpus)), copy.deepcopy(corpus)):
        assert again == corpus
        assert hash(again) == hash(corpus)
    turned = corpus.transpose()
    assert turned.transpose() == corpus
    for one, other in zip(corpus, turned, strict=True):
        assert (one.source, one.target) == (other.target, other.source)
        assert one.attributes == other.attributes
        assert other.alignments == {k: value.transpose() for k, value in one.alignments.items()}
        for name, annotation in one.annotations.items():
            assert other.annotation(name).comment == annotation.comment


THREE = Corpus(
    SentencePair(id, None, None, dict.fromkeys(names, Alignment()), attributes)
    for id, names, attributes in [
        ("a", ["anna"], {"genre": "news"}), ("b", ["anna", "ben"], {}), ("c", [], {"genre": "news"})
    ]
)  # fmt: skip


def test_a_corpus_is_a_sequence():
    assert len(THREE) == 3
    assert THREE.ids == ("a", "b", "c")
    assert THREE[1].id == "b"
    assert THREE[-1].id == "c"
    assert THREE[1:].ids == ("b", "c")
    assert THREE[::-1].ids == ("c", "b", "a")
    assert THREE[:1] + THREE[1:] == THREE[:]
    assert THREE[:2] != THREE[:]
    assert list(THREE) != THREE[:]
    with pytest.raises(IndexError):
        THREE[3]
    assert len(Corpus()) == 0
    assert Corpus().annotators == ()
    assert repr(THREE) == "Corpus(3 pairs, annotators: anna, ben)"


def test_groups_hold_every_pair_once():
    groups = THREE.groups("genre")
    assert {name: part.ids for name, part in groups.items()} == {"news": ("a", "c"), "": ("b",)}
    with pytest.raises(UnknownNameError, match="'genre'"):
        THREE.groups("gendre")
    assert Corpus().groups("genre") == {}


def test_annotated_by_keeps_the_pairs_of_all_these_annotators():
    assert THREE.annotators == ("anna", "ben")
    assert THREE.annotated_by().ids == ("a", "b", "c")
    assert THREE.annotated_by("anna").ids == ("a", "b")
    assert THREE.annotated_by("anna", "ben").ids == ("b",)
    with pytest.raises(UnknownNameError, match="annotator 'carl'"):
        THREE.annotated_by("anna", "carl")


def test_records_make_a_data_frame():
    weighted = Alignment([(0, 0)], [(1, 2)], weights={(0, 0): 0.5}, labels={(1, 2): "loose"})
    corpus = Corpus(
        [
            replace(EXAMPLE, annotations={"anna": weighted, "ben": Alignment()}),
            SentencePair("8", None, None, {"anna": Alignment.parse("3-4")}),
        ]
    )
    frame = pandas.DataFrame(corpus.to_records())
    assert list(frame.columns) == [
        *("id", "genre", "annotator", "i", "j", "sure", "source", "target", "weight", "label")
    ]
    assert frame["id"].tolist() == ["7", "7", "8"]
    assert frame["sure"].tolist() == [True, False, True]
    assert frame["source"].tolist()[:2] == ["they", "left"]
    assert frame["target"].tolist()[:2] == ["both", "off"]
    assert frame["label"][1] == "loose"
    assert frame["label"].isna().tolist() == [True, False, True]
    assert frame["source"].isna().tolist() == [False, False, True]


def test_an_attribute_never_hides_a_column_of_the_records():
    pair = SentencePair("1", None, None, {"a": Alignment.parse("0-0")}, {"id": "x", "i": "y"})
    (record,) = Corpus([pair]).to_records()
    assert record["id"] == "1"
    assert record["i"] == 0


def test_a_place_or_an_id_that_is_none_is_told_with_what_to_give():
    with pytest.raises(IndexError, match="index is 999, but there are 3 pairs"):
        THREE[999]
    assert THREE[-1] is THREE[2]
    with pytest.raises(ArgumentError, match=r"index is a list; .* alignkit.select_ids"):
        THREE[[THREE[0].id]]
    with pytest.raises(OptionError, match="the corpus is empty"):
        Corpus().require("gold")
    assert repr(THREE[:1]) == "Corpus(1 pair, annotators: anna)"


def test_a_small_corpus_by_hand():
    anna = Annotation(Alignment.parse("0-0 0?2 1-1 2-"), "hm")
    texts = ("The", "dog", "barks"), ("the", "hound", "the")
    first = SentencePair("1", *texts, {"anna": anna, "ben": Alignment()}, {"genre": "a"})
    bare = SentencePair("1", None, None, {"anna": Alignment.parse("7-7")}, {"genre": "b"})
    counts = count_corpus([first, bare])
    assert (counts.pairs, counts.without_text, counts.repeated_ids) == (2, 1, 1)
    assert (counts.source_tokens, counts.target_tokens) == (3, 3)
    assert (counts.source_types, counts.target_types) == (3, 2)
    assert (counts.longest_source, counts.longest_target) == (3, 3)
    assert counts.attributes == {"genre": 2}
    assert counts.annotators["anna"] == AnnotatorCounts(
        pairs=2, sure=3, possible=1, nulls=1, source_aligned=3, target_aligned=4,
        source_tokens=3, target_tokens=3, one_to_one=2, identical=2, comments=1,
    )  # fmt: skip
    assert counts.annotators["ben"].empty == 1


@given(corpora(EVERYTHING))
def test_counts_agree_with_a_plain_recount(corpus):
    counts = count_corpus(iter(corpus))
    texts = [pair for pair in corpus if pair.has_text]
    assert counts.pairs == len(corpus)
    assert counts.repeated_ids == len(corpus) - len(set(corpus.ids))
    assert counts.source_tokens == sum(len(pair.source) for pair in texts)
    assert counts.target_types == len({word for pair in texts for word in pair.target})
    assert set(counts.annotators) == set(corpus.annotators)
    for name, found in counts.annotators.items():
        made = [(pair, pair.alignment(name)) for pair in corpus if name in pair.alignments]
        assert asdict(found) | {"identical": 0, "comments": 0} == asdict(
            AnnotatorCounts(
                pairs=len(made),
                empty=sum(not one.possible for _, one in made),
                sure=sum(len(one.sure) for _, one in made),
                possible=sum(len(one.possible - one.sure) for _, one in made),
                nulls=sum(len(one.nulls) for _, one in made),
                source_aligned=sum(len(one.aligned_source()) for _, one in made),
                target_aligned=sum(len(one.aligned_target()) for _, one in made),
                source_tokens=sum(len(pair.source) for pair, _ in made if pair.has_text),
                target_tokens=sum(len(pair.target) for pair, _ in made if pair.has_text),
                one_to_one=sum(
                    len(one.targets_of(i)) == len(one.sources_of(j)) == 1
                    for _, one in made
                    for i, j in one
                ),
                judged=sum(name in pair.annotations for pair in corpus) - len(made),
            )
        )
        assert found.identical == sum(
            pair.source[i].casefold() == pair.target[j].casefold()
            for pair, one in made
            if pair.has_text
            for i, j in one
        )


@given(corpora(EVERYTHING))
def test_groups_are_counted_as_corpora_of_their_own(found):
    for attribute in found.attributes:
        for split in (None, " ", ","):
            counts = count_groups(found, attribute, split=split)
            groups = found.groups(attribute, split=split)
            assert counts.whole == count_corpus(found)
            assert counts.groups == {value: count_corpus(part) for value, part in groups.items()}
            values = [values_of(pair.attributes.get(attribute, ""), split) for pair in found]
            assert counts.several == sum(len(several) > 1 for several in values)


def test_groups_need_an_attribute_that_is_there():
    pair = SentencePair("1", None, None, {}, {"genre": "a"})
    with pytest.raises(UnknownNameError, match="did you mean 'genre'"):
        count_groups([pair], "gener")
    with pytest.raises(OptionError, match="what divides values is empty"):
        count_groups([pair], "genre", split="")
    assert count_groups(Corpus(), "genre").groups == {}


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
