"""Counts that are kept pair by pair give what the whole corpus gives, however they came about."""

from __future__ import annotations

from math import isnan, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("msgspec")

from alignkit.agreement import agree, cell_agreement, overlap
from alignkit.agreement.options import AgreementOptions
from alignkit.annotate.dashboard.tally import FIGURES, TalliedPair, Tally, intervals_of
from alignkit.model.alignment import Alignment
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

NAMES = ("anna", "ben", "carla")
SOURCE, TARGET = ("a", "b", "c", "a"), ("b", "x", "a")
CELLS = [(i, j) for i in range(len(SOURCE)) for j in range(len(TARGET))]

links = st.dictionaries(st.sampled_from(CELLS), st.booleans(), max_size=6)
marked = st.tuples(links, st.sets(st.sampled_from(CELLS), max_size=4))
said = st.dictionaries(st.sampled_from(NAMES), marked, max_size=3)
steps = st.lists(st.tuples(st.integers(1, 4), said), max_size=8)


def work(k, now):
    done = {
        name: Alignment([cell for cell, sure in drawn.items() if sure], drawn)
        for name, (drawn, _) in now.items()
    }
    bulk = {name: cells & drawn.keys() for name, (drawn, cells) in now.items()}
    return TalliedPair(k, SentencePair(f"p{k}", SOURCE, TARGET, done), bulk)


def kept(tally):
    return {
        two: (counts.total().tolist(), counts.table().tolist())
        for two, counts in tally.twos.items()
    }


def alike(value, other):
    return value == other or (isnan(value) and isnan(other))


@settings(max_examples=30, deadline=None)
@given(steps)
def test_pairs_put_one_after_the_other_are_as_all_put_at_once(history):
    tally, now = Tally(NAMES), {}
    for k, state in history:
        before = now.get(k, {})
        now[k] = state
        touched = {name for name in NAMES if before.get(name) != state.get(name)}
        tally.put([work(k, state)], touched)
    whole = Tally()
    for name in NAMES:
        whole.add(name)
    whole.put([work(k, state) for k, state in now.items()])
    assert kept(tally) == kept(whole)
    for k in now:
        assert str(tally.f1_of(k)) == str(whole.f1_of(k))
    corpus = Corpus(work(k, now[k]).pair for k in sorted(now))
    for (first, second), counts in tally.twos.items():
        if not {first, second} <= set(corpus.aligners):
            assert not len(counts)
            continue
        figures, drawn = counts.figures(), overlap(corpus, first, second)
        every = cell_agreement(corpus, first, second).all.kappa
        different = cell_agreement(corpus, first, second, ignore_identical=True).all.kappa
        assert alike(figures["words.possible.f1"], drawn.words_possible.f1)
        assert alike(figures["words.sure.f1"], drawn.words_sure.f1)
        assert alike(figures["cells.all.kappa"], every)
        assert alike(figures["different.cells.all.kappa"], different)


@settings(max_examples=60, deadline=None)
@given(said.filter(lambda now: {"anna", "ben"} <= now.keys()))
def test_what_both_took_in_bulk_is_told_apart(now):
    tally = Tally(NAMES)
    tally.put([work(1, now)])
    counts = tally.twos["anna", "ben"]
    different = [(i, j) for i, j in CELLS if SOURCE[i] != TARGET[j]]
    (anna, bulk), (ben, other) = now["anna"], now["ben"]
    unseen = bulk & other & anna.keys() & ben.keys()
    shared = anna.keys() & ben.keys() & set(different)
    assert counts.shared() == (len(shared), len(shared & unseen))
    for level, least in (("possible", False), ("sure", True)):
        sides = [
            {cell for cell, sure in drawn.items() if cell in different and sure >= least} - unseen
            for drawn in (anna, ben)
        ]
        both, sizes = len(sides[0] & sides[1]), len(sides[0]) + len(sides[1])
        expected = 2 * both / sizes if sizes else nan
        found = counts.apart()[f"words.{level}.f1"]
        assert isnan(found) if isnan(expected) else found == pytest.approx(expected)


def test_the_figures_of_a_pair_are_those_of_its_links():
    tally = Tally(NAMES)
    one = {"anna": ({(0, 1): True, (1, 1): False}, set()), "ben": ({(0, 1): True}, set())}
    nothing = {"anna": ({}, set()), "ben": ({}, set())}
    apart = {"anna": ({(0, 1): True}, set()), "ben": ({(2, 1): True}, set())}
    tally.put([work(1, one), work(2, nothing), work(3, apart), work(4, {"carla": ({}, set())})])
    assert tally.f1_of(1) == (pytest.approx(2 / 3), 1)
    assert all(map(isnan, tally.f1_of(2)))
    assert tally.f1_of(3) == (0, 0)
    assert tally.f1_of(4) is None


def test_intervals_are_those_of_agree():
    links = ["0-1 1?1", "0-1 2-2", "1-0 1?1 3-1", "2?1 0-0"]
    pairs = [
        SentencePair(f"p{k}", SOURCE, TARGET,
                     {"anna": Alignment.parse(one), "ben": Alignment.parse(other)})
        for k, (one, other) in enumerate(zip(links, links[1:] + links[:1], strict=True), 1)
    ]  # fmt: skip
    tally = Tally(("anna", "ben"))
    for k in (3, 1, 4, 2):  # the order in which they are done does not matter
        tally.put([TalliedPair(k, pairs[k - 1], {})])
    counts, options = tally.twos["anna", "ben"], AgreementOptions()
    found = intervals_of(
        counts.table(), resamples=options.resamples, confidence=options.confidence, seed=12345
    )
    section = agree(Corpus(pairs)).pairing("anna", "ben").section("all")
    assert set(found) == set(FIGURES)
    assert found == {name: section.intervals[name] for name in FIGURES}
    assert counts.figures() == {name: section.figures[name] for name in FIGURES}
