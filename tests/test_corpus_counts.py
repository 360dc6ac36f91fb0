"""The counts of a corpus are those of a plain recount."""

from __future__ import annotations

from dataclasses import asdict

from hypothesis import given
from strategies import corpora

from alignkit.alignment import Alignment
from alignkit.annotation import Annotation
from alignkit.corpus import SentencePair
from alignkit.corpus_counts import AnnotatorCounts, count_corpus
from alignkit.formats.format import EVERYTHING


def test_a_small_corpus_by_hand():
    counts = count_corpus(
        [
            SentencePair(
                "1",
                ("The", "dog", "barks"),
                ("the", "hound", "the"),
                {"anna": Annotation(Alignment.parse("0-0 0?2 1-1 2-"), "hm"), "ben": Alignment()},
                {"genre": "a"},
            ),
            SentencePair("1", None, None, {"anna": Alignment.parse("7-7")}, {"genre": "b"}),
        ]
    )
    assert (counts.pairs, counts.without_text, counts.repeated_ids) == (2, 1, 1)
    assert (counts.source_tokens, counts.target_tokens) == (3, 3)
    assert (counts.source_types, counts.target_types) == (3, 2)
    assert (counts.longest_source, counts.longest_target) == (3, 3)
    assert counts.attributes == {"genre": 2}
    assert counts.annotators["anna"] == AnnotatorCounts(
        pairs=2,
        empty=0,
        sure=3,
        possible=1,
        nulls=1,
        source_aligned=3,
        target_aligned=4,
        source_tokens=3,
        target_tokens=3,
        one_to_one=2,
        identical=2,
        comments=1,
    )
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
