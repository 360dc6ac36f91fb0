"""Random corpora hold what the tests are about: without links, nothing could fail."""

import pytest
import strategies
import strategies_agreement
from hypothesis import given, settings

from alignkit.io.format import EVERYTHING


@pytest.mark.parametrize(
    "corpora",
    [strategies.corpora(EVERYTHING), strategies_agreement.corpora()],
    ids=["all", "agree"],
)
def test_many_random_corpora_have_links_and_words(corpora):
    links = []
    words = []

    @settings(max_examples=40)
    @given(corpora)
    def look(corpus):
        links.append(sum(len(a) for pair in corpus for a in pair.alignments.values()))
        words.append(sum(len(pair.source) for pair in corpus if pair.has_text))

    look()
    for counts in (links, words):
        assert sum(count > 0 for count in counts) >= len(counts) / 4
