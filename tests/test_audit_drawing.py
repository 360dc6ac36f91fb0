"""What an audit of phrase pairs draws: which items, how many of each, how they are spread."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from command import PARAPHRASES
from hypothesis import given
from hypothesis import strategies as st
from reference_audit import phrase_sets
from refusals import refuses
from strategies_agreement import corpora

from alignkit import Alignment, Corpus, SentencePair, read_corpus, score
from alignkit.audit import Audit, draw_phrases
from alignkit.audit.audit import allot, spread
from alignkit.errors import MissingTextError, OptionError, UnknownNameError

SAMPLE = read_corpus(PARAPHRASES)
SIDES = "source", "target"


def spans(item):
    return tuple(item.facts[f"{side}_{end}"] for side, end in product(SIDES, ("start", "end")))


def drawn(audit: Audit):
    return {
        name: {(item.facts["pair"], spans(item)) for item in audit.of(name)}
        for name in audit.origins
    }


@given(
    corpora(("A", "B"), complete=True),
    st.sampled_from(["sure", "possible"]),
    st.sampled_from(["atomic", "composite", "all"]),
    st.booleans(),
)
def test_all_there_are_is_what_the_definitions_say(corpus, links, kind, identical):
    expected = {name: set() for name in ("hypothesis", "reference", "both")}
    for pair in corpus:
        for name, boxes in phrase_sets(pair, "A", "B", links, kind, identical).items():
            expected[name] |= {(pair.id, box) for box in boxes}
    options = {"links": links, "kind": kind, "ignore_identical": not identical}
    errors = len(expected["hypothesis"]) + len(expected["reference"])
    if not errors:
        refuses(OptionError, "nothing to judge", draw_phrases, corpus, "A", "B", n=9, **options)
        return
    audit = draw_phrases(corpus, "A", "B", n=errors, seed=1, **options)
    assert drawn(audit) == expected | {"both": set()}
    populations = {name: one.population for name, one in audit.origins.items()}
    assert populations == {name: len(boxes) for name, boxes in expected.items()}
    words = {pair.id: pair.words for pair in corpus}
    for item in audit.items:
        a, b, c, d = spans(item)
        source, target = words[item.facts["pair"]]
        assert item.cells[:2] == (" ".join(source[a:b]), " ".join(target[c:d]))


def test_an_annotators_own_phrase_pairs_are_drawn_right_or_not():
    """Two atomic phrase pairs, one composite; that ben agrees on one changes nothing."""
    links = {"ann": Alignment.parse("0-0 1-1"), "ben": Alignment.parse("0-0")}
    corpus = Corpus([SentencePair("1", ("they", "left"), ("he", "went"), links)])
    audit = draw_phrases(corpus, "ann", n=166)
    assert drawn(audit) == {"annotator": {("1", (0, 1, 0, 1)), ("1", (1, 2, 1, 2))}}
    assert (audit.origins["annotator"].population, dict(audit.rates)) == (2, {})
    assert audit.signature.startswith("of:annotator|audit:phrases|kind:atomic")
    assert len(draw_phrases(corpus, "ann", n=166, kind="all").items) == 3
    refuses(OptionError, "needs a reference", draw_phrases, corpus, "ann", n=1, both=0.5)
    refuses(OptionError, "has no composite", draw_phrases, corpus, "ben", n=1, kind="composite")
    counts = score(SAMPLE, "gold", "anna", level="phrases", ignore_identical=True).phrases["sure"]
    everything = draw_phrases(SAMPLE, "gold", n=9).origins["annotator"].population
    assert everything == counts.counts["hyp_atomic"]


@pytest.mark.parametrize("links", ["sure", "possible"])
def test_its_counts_are_those_of_the_score(links):
    audit = draw_phrases(SAMPLE, "eflomal", "gold", n=50, links=links)
    scored = score(SAMPLE, "eflomal", "gold", level="phrases", ignore_identical=True)
    counts, rate = scored.phrases[links].counts, audit.rates["precision"]
    assert (rate.hits, rate.total) == (counts["hyp_atomic_in_ref"], counts["hyp_atomic"])
    missed = counts["ref_atomic"] - counts["hyp_in_ref_atomic"]
    assert audit.origins["reference"].population == missed


def test_a_seed_gives_the_same_and_another_seed_gives_others():
    first, again, other = (draw_phrases(SAMPLE, "eflomal", "gold", n=30, seed=s) for s in (1, 1, 2))
    assert first.items == again.items
    assert drawn(first) != drawn(other)
    assert {item.id[:4] for item in first.items} != {item.id[:4] for item in other.items}


def test_half_is_of_either_side_and_a_share_of_both():
    audit = draw_phrases(SAMPLE, "eflomal", "gold", n=40, both=0.1)
    counts = {name: one.drawn for name, one in audit.origins.items()}
    assert counts == {"hypothesis": 18, "reference": 18, "both": 4}
    assert Counter(item.origin for item in audit.items) == counts


def test_the_sample_is_spread_over_groups_and_lengths():
    every = draw_phrases(SAMPLE, "eflomal", "gold", n=10**6, by="genre")

    def strata(audit):
        return Counter(
            (item.facts["genre"], len(item.cells[0].split()) == len(item.cells[1].split()) == 1)
            for item in audit.of("hypothesis")
        )

    whole, part = strata(every), strata(draw_phrases(SAMPLE, "eflomal", "gold", n=60, by="genre"))
    for stratum, size in whole.items():
        assert abs(part[stratum] - (size * 30 / whole.total())) < 1


def test_what_cannot_be_drawn_is_told():
    links = {"A": Alignment.parse("0-0"), "B": Alignment.parse("1-1")}
    corpus = Corpus([SentencePair("1", ("a", "b"), ("c", "d"), links)])
    bare = Corpus([SentencePair("1", None, None, links)])
    wrong = [
        {"n": 0},
        {"both": 2.0},
        {"exact_case": True, "ignore_identical": False},
        {"seed": -1},
        {"kind": "compsite"},
        {"by": "genre"},
    ]
    for options in wrong:
        with pytest.raises((OptionError, UnknownNameError)):
            draw_phrases(corpus, "A", "B", **({"n": 1} | options))
    with pytest.raises(OptionError, match="same atomic phrase pairs"):
        draw_phrases(corpus, "A", "A", n=1)
    refuses(MissingTextError, "judges need its words", draw_phrases, bare, "A", "B", n=1)


@given(st.integers(0, 60), st.dictionaries(st.sampled_from("abc"), st.integers(0, 30), min_size=1))
def test_allotted_numbers_are_even_and_whole(wanted, sizes):
    found = allot(wanted, sizes)
    assert sum(found.values()) == min(wanted, sum(sizes.values()))
    for name, size in sizes.items():
        assert 0 <= found[name] <= size
        if found[name] < size:  # nobody has more than one more than who could have had more
            assert max(found.values()) <= found[name] + 1


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=40), st.data())
def test_a_spread_sample_has_the_share_of_each_stratum(strata, data):
    count = data.draw(st.integers(0, len(strata)))
    places = spread(strata, count, np.random.default_rng(data.draw(st.integers(0, 99))))
    assert len(set(places.tolist())) == count == len(places)
    for name in set(strata):
        exact = strata.count(name) * count / len(strata)
        assert abs(sum(strata[k] == name for k in places) - exact) < 1


def test_each_thing_of_a_spread_sample_has_the_same_chance():
    strata, rng = ["a"] * 5 + ["b"] * 2 + ["c"], np.random.default_rng(1)
    hits = np.zeros(8)
    for _ in range(4000):
        hits[spread(strata, 3, rng)] += 1
    # 4 standard errors of a share of 3/8 in 4000 draws
    assert np.abs(hits / 4000 - 3 / 8).max() < 4 * (3 / 8 * 5 / 8 / 4000) ** 0.5
