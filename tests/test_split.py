"""Corpora are put together and divided: by shares, by strata, without cutting groups."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit import Corpus, SentencePair, concat, sample, select_ids, split_corpus
from alignkit.corpora.apportioning import divide_evenly, divide_groups
from alignkit.corpora.split import connected_groups
from alignkit.errors import ArgumentError, OptionError, RepeatedIdError, UnknownNameError

THREE = {"train": 0.8, "dev": 0.1, "test": 0.1}
DOCUMENTS = [1, 3, 7, 12, 18, 25, 31, 40, 47, 55, 62, 70, 81, 96, 112, 140, 200]
"""The sizes of 17 documents, 1,000 pairs in all."""


def corpus_of(sizes, **more):
    """Make a corpus of documents, whose pairs stand mixed."""
    documents = [str(number) for number, size in enumerate(sizes) for _ in range(size)]
    return Corpus(
        SentencePair(
            str(k),
            [f"a{k}"],
            ["b"],
            {},
            {"document": documents[place], **{name: value(k) for name, value in more.items()}},
        )
        for k, place in enumerate(np.random.default_rng(1).permutation(len(documents)))
    )


def ids(parts):
    return {name: part.ids for name, part in parts.items()}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "shares",
    [
        THREE,
        {"a": 0.5, "b": 0.5},
        {"a": 0.34, "b": 0.33, "c": 0.33},
        {"a": 0.9, "b": 0.1},
        {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1},
        {"dev": 0.05, "test": 0.07},
    ],
    ids=lambda shares: " ".join(map(str, shares.values())),
)
def test_no_document_stands_on_two_sides_and_shares_are_exact(shares, seed):
    corpus = corpus_of(DOCUMENTS)
    parts = split_corpus(corpus, shares, seed=seed, keep_together="document")
    homes = {}
    for name, part in parts.items():
        for pair in part:
            assert homes.setdefault(pair.attributes["document"], name) == name
        assert abs(len(part) / len(corpus) - shares[name]) <= 0.001
    kept = sorted((id for part in parts.values() for id in part.ids), key=int)
    assert len(kept) == len(set(kept))
    if sum(shares.values()) == 1:
        assert set(kept) == set(corpus.ids)


def test_the_seed_alone_decides_and_a_sample_is_a_share():
    corpus = corpus_of(DOCUMENTS)
    for how in ({}, {"keep_together": "document"}, {"stratify": "document"}):
        parts = [ids(split_corpus(corpus, THREE, seed=seed, **how)) for seed in (1, 1, 2)]
        assert parts[0] == parts[1] != parts[2]
    found = sample(corpus, 0.25, seed=3)
    assert (len(found), list(map(int, found.ids))) == (250, sorted(map(int, found.ids)))
    assert found != sample(corpus, 0.25, seed=4)
    assert (len(sample(corpus, 0.5, keep_together="document")), sample(corpus, 1)) == (500, corpus)
    assert len(sample(Corpus(), 0.5)) == 0


@given(
    st.lists(st.integers(1, 40), min_size=3, max_size=6),
    st.lists(st.integers(1, 9), min_size=2, max_size=5),
    st.integers(0, 99),
)
def test_few_groups_are_divided_as_well_as_can_be(sizes, weights, seed):
    """All divisions are gone through."""
    shares = np.array(weights) / sum(weights)
    targets = shares * sum(sizes)

    def misfits(divisions):
        held = np.array([(np.array(sizes) * (divisions == k)).sum(1) for k in range(len(shares))])
        return np.abs(held - targets[:, None]).max(0)

    found = divide_groups(np.array(sizes)[:, None], shares, np.random.default_rng(seed))
    every = np.array(list(product(range(len(shares)), repeat=len(sizes))))
    assert misfits(found[None, :])[0] <= max(misfits(every).min(), 0.5) + 1e-9


@pytest.mark.parametrize(("groups", "things"), [(40, 5000), (600, 3000), (3000, 200_000)])
def test_many_groups_are_divided_well(groups, things):
    rng = np.random.default_rng(3)
    sizes = 1 + rng.multinomial(things - groups, rng.dirichlet([0.5] * groups))
    parts = divide_groups(sizes[:, None], [0.7, 0.2, 0.1], rng)
    assert np.abs(np.bincount(parts, sizes) / things - [0.7, 0.2, 0.1]).max() <= 0.001
    largest = [sizes[parts == part].max() for part in range(3)]
    assert min(largest) > np.median(sizes)  # no part is made of small groups alone


def test_large_groups_are_not_cut_and_parts_are_stratified():
    parts = split_corpus(corpus_of([90, 6, 4]), THREE, keep_together="document")
    assert (sorted(map(len, parts.values())), len(parts["train"])) == ([4, 6, 90], 90)
    corpus = corpus_of([1000], genre=lambda k: "news" if k % 5 else "question")
    parts = split_corpus(corpus, THREE, stratify="genre")
    assert [len(part) for part in parts.values()] == [800, 100, 100]
    for part in parts.values():
        assert len(part.groups("genre")["question"]) * 5 == len(part)


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=12),
    st.lists(st.integers(1, 20), min_size=2, max_size=5),
)
def test_every_stratum_has_its_share_rounded(strata, weights):
    shares = [weight / sum(weights) for weight in weights]
    found = divide_evenly(strata, shares)
    for size, counts in zip(strata, found, strict=True):
        assert sum(counts) == size
        for share, count in zip(shares, counts, strict=True):
            assert abs(count - share * size) < 1
    for share, column in zip(shares, zip(*found, strict=True), strict=True):
        assert abs(sum(column) - share * sum(strata)) < len(shares)


def test_documents_are_kept_and_strata_are_near_at_once():
    corpus = corpus_of(DOCUMENTS * 4, genre=lambda k: "news" if k % 3 else "question")
    parts = split_corpus(corpus, THREE, stratify="genre", keep_together="document")
    for name, part in parts.items():
        assert abs(len(part) / len(corpus) - THREE[name]) <= 0.01
        assert abs(len(part.groups("genre")["question"]) / len(part) - 1 / 3) < 0.05
    homes = [set(part.groups("document")) for part in parts.values()]
    assert not homes[0] & homes[1] | homes[0] & homes[2] | homes[1] & homes[2]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "x", "y", "x,z", "z", "w, y"]),
            st.sampled_from(["", "1", "2", "3"]),
        ),
        max_size=9,
    )
)
def test_groups_are_the_connected_pairs(values):
    corpus = Corpus(
        SentencePair(str(k), ["a"], ["b"], {}, {"film": film, "year": year})
        for k, (film, year) in enumerate(values)
    )
    sets = [
        {("film", part.strip()) for part in film.split(",") if part}
        | {("year", year)} - {("year", "")}
        for film, year in values
    ]
    joined = [{k} for k in range(len(sets))]
    for k, mine in enumerate(sets):  # slow and plain: join until nothing joins
        for other in range(k):
            if mine & sets[other]:
                both = set().union(*(group for group in joined if {k, other} & group))
                joined = [group for group in joined if not group & both] + [both]
    assert sorted(map(sorted, joined)) == sorted(connected_groups(corpus, ["film", "year"], ","))


@pytest.mark.parametrize(
    ("shares", "how", "error", "told"),
    [
        ({"a": 0.8, "b": 0.3}, {}, OptionError, "add up to 1.1"),
        ({"a": 0}, {}, OptionError, "the share of a is 0"),
        ({"a": float("nan")}, {}, OptionError, "share of a is nan"),
        ({"a": "x"}, {}, OptionError, "must be a number"),
        ({}, {}, OptionError, "name the parts"),
        ([0.5], {}, OptionError, "name the parts"),
        ({"a": 0.5}, {"seed": -1}, OptionError, "the seed is -1"),
        ({"a": 0.5}, {"seed": "x"}, ArgumentError, "seed is"),
        ({"a": 0.5}, {"stratify": "documnt"}, UnknownNameError, "did you mean 'document'"),
        ({"a": 0.5}, {"keep_together": "x"}, UnknownNameError, "unknown attribute 'x'"),
        (THREE, {"keep_together": "document"}, OptionError, "too few for 3 parts"),
        ({str(k): 0.05 for k in range(11)}, {}, OptionError, "10 pairs are too few"),
        ({"a": 0.5}, {"separator": ","}, OptionError, "separates values of `keep_together`"),
        ({"a": 0.5}, {"keep_together": "document", "separator": ""}, OptionError, "is empty"),
    ],
)
def test_what_makes_no_sense_is_refused(shares, how, error, told):
    refuses(error, told, split_corpus, corpus_of([5, 5]), shares, **how)


def test_corpora_are_put_together_and_pairs_selected_by_ids():
    one = Corpus.from_texts(["a", "b"], ["c", "d"], anna=["0-0", ""])
    other = Corpus.from_texts(["e"], ["f"], ids=["9"], ben=["0-0"], anna=["0?0"])
    both = concat([one, other])
    assert (both, both.annotators) == (one + other, ("anna", "ben"))
    assert concat({}) == Corpus()
    assert concat({"x": one, "y": one}, prefix=True).ids == ("x/1", "x/2", "y/1", "y/2")
    with pytest.raises(RepeatedIdError, match="'1' is in x and in y"):
        concat({"x": one, "y": one})
    assert len(concat([Corpus([one[0], one[0]]), other])) == 3  # as it was
    corpus = corpus_of([10])
    assert select_ids(corpus, ["7", "2", "7"]).ids == ("2", "7")
    refuses(KeyError, "the id '12'", select_ids, corpus, ["1", "12"])
    refuses(ArgumentError, "split the string", select_ids, corpus, "12")


def test_groups_of_many_strata_take_no_time_to_divide():
    """A column for each stratum would be 400 MB."""
    corpus = corpus_of([2] * 5000, genre=lambda k: str(k // 2) if k % 3 else "news")
    parts = split_corpus(corpus, THREE, stratify="genre", keep_together="document")
    for name, part in parts.items():
        assert abs(len(part) / len(corpus) - THREE[name]) <= 0.001
        news = sum(pair.attributes["genre"] == "news" for pair in part)
        assert abs(news / len(part) - 1 / 3) < 0.02
