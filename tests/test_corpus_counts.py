"""The counts of a corpus are those of a plain recount."""

from dataclasses import asdict

import pytest
from hypothesis import given
from strategies import corpora

from alignkit.corpora.counts import AnnotatorCounts, count_corpus, count_groups
from alignkit.errors import OptionError, UnknownNameError
from alignkit.io.format import EVERYTHING
from alignkit.model.alignment import Alignment
from alignkit.model.annotation import Annotation
from alignkit.model.corpus import Corpus, values_of
from alignkit.model.sentence_pair import SentencePair


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
