"""Inputs are joined in step while their ids agree, else by id, and never by luck."""

from itertools import count, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit import Alignment, Corpus, SentencePair
from alignkit.corpora.join import Differences, join_pairs, merge
from alignkit.errors import AlignkitError, JoinError

IDS = st.lists(st.sampled_from("abc12345"), max_size=7)


def pairs(ids, *, words=None, **annotations):
    return [SentencePair(id, words, words, annotations) for id in ids]


def marked(ids):
    """Make pairs of which each can be told, whatever its id."""
    return [SentencePair(id, None, None, {}, {"at": str(k)}) for k, id in enumerate(ids)]


def joined(first, second, **options):
    both = join_pairs(marked(first), marked(second), **options)
    return [(int(one.attributes["at"]), int(two.attributes["at"])) for one, two in both]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("ab", "a", "second input lacks 1 .*'b'"),
        ("a", "ab", "first input lacks 1 .*'b'"),
        ("ab", "ac", "lacks 1 .*'b'.*partial=True"),
        ("", "a", "the first input lacks 1"),
        ("abb", "acb", "'b' repeats in the first"),
        ("acb", "abb", "'b' repeats in the second"),
        ("aab", "aba", "'a' repeats in the second"),
    ],
)
def test_what_cannot_be_joined_surely_is_an_error(first, second, message):
    refuses(JoinError, message, joined, first, second)


def test_partial_inputs_share_what_they_share():
    found = Differences()
    assert joined("abcd", "axd", partial=True, differences=found) == [(0, 0), (3, 2)]
    assert (found.missing, found.surplus) == (["b", "c"], ["x"])
    assert str(found) == "2 pairs are not in the second; 1 pairs are only in the second"
    assert joined("ab", "a", partial=True) == [(0, 0)]
    assert (joined("a", "ab", partial=True), joined("", "ab", partial=True)) == ([(0, 0)], [])


@given(IDS, IDS)
def test_a_join_is_the_one_that_ids_allow(first, second):
    """Plain reference: in step as far as ids agree; then ids must be unique in each input."""
    step = 0
    while step < min(len(first), len(second)) and first[step] == second[step]:
        step += 1
    expected = [(k, k) for k in range(step)]
    by_id = step < len(first)
    rest = set(first[:step])
    for ids in (first, second):
        unique = len(set(ids[step:])) == len(ids[step:]) and not rest & set(ids[step:])
        if by_id and not unique:
            refuses(JoinError, None, joined, first, second, partial=True)
            return
    if by_id:
        places = {id: step + k for k, id in enumerate(second[step:])}
        expected += [(step + k, places[id]) for k, id in enumerate(first[step:]) if id in places]
    assert joined(first, second, partial=True) == expected


def test_tokens_that_differ_are_told_and_counts_that_differ_refused():
    one = [SentencePair("1", ("a", "."), ("b",)), SentencePair("2", ("c",), None)]
    two = [SentencePair("1", ("a", ".."), ("B",)), SentencePair("2", None, ("d",))]
    found = Differences()
    assert len(list(join_pairs(one, two, differences=found))) == 2
    assert found.tokens == [("1", "source", 1, ".", ".."), ("1", "target", 0, "b", "B")]
    told = "2 tokens differ in 1 pairs (pair '1', source word 1: '.' and '..')"
    assert str(found) == f"{told}; the first ones are kept"
    with pytest.raises(JoinError, match=r"has 2 tokens .* 3"):
        list(join_pairs(one[:1], [SentencePair("1", ("a", ".", "!"), ("b",))]))


def test_joining_reads_no_more_than_it_must():
    endless = [(SentencePair(str(k), None, None) for k in count(1)) for _ in range(2)]
    assert [one.id for one, _ in islice(join_pairs(*endless), 3)] == ["1", "2", "3"]


def test_merging_names_the_annotations():
    base = pairs("ab", words=("x",), gold=Alignment.parse("0-0"))
    several = pairs("ba", anna=Alignment.parse("0?0"), ben=Alignment())
    single = pairs("ab", whoever=Alignment.parse("0-0"))
    told = []
    corpus = merge(base, {"team": several, "sys": single}, tell=lambda *what: told.append(what))
    assert corpus.annotators == ("gold", "team/anna", "team/ben", "sys")
    assert corpus[1].alignment("team/anna") == Alignment.parse("0?0")
    assert all(pair.words == (("x",), ("x",)) for pair in corpus)
    assert told == []


def test_merging_takes_words_from_whoever_has_them():
    base = pairs("a", gold=Alignment.parse("1-1"))
    assert merge(base, {"sys": pairs("a", words=("x", "y"), s=Alignment())})[0].source == ("x", "y")
    with pytest.raises(AlignkitError, match="need 2 x 2"):
        merge(base, {"sys": pairs("a", words=("x",), s=Alignment())})


def test_merging_tells_of_what_is_missing():
    told, both = {}, (pairs("abc"), {"sys": pairs("acd", s=Alignment())})
    corpus = merge(*both, partial=True, tell=lambda name, one: told.update({name: str(one)}))
    assert [list(pair.annotations) for pair in corpus] == [["sys"], [], ["sys"]]
    assert told == {"sys": "1 pairs are not in the second; 1 pairs are only in the second"}
    refuses(JoinError, "partial=True", merge, pairs("abc"), {"sys": pairs("ac", s=Alignment())})


def test_merging_refuses_a_name_that_is_there_and_keeps_apart_pairs_that_are_one_object():
    with pytest.raises(JoinError, match="'gold' already"):
        merge(pairs("a", gold=Alignment()), {"gold": pairs("a", x=Alignment())})
    others = [pair for text in ("0-0", "1-1") for pair in pairs("a", s=Alignment.parse(text))]
    merged = merge(pairs("a") * 2, {"s": others})
    assert [str(pair.alignment("s")) for pair in merged] == ["0-0", "1-1"]
    assert isinstance(merged, Corpus)
