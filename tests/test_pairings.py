"""All pairings of several translations of a sentence, and what the limits drop."""

from collections import Counter
from dataclasses import FrozenInstanceError, asdict
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignkit import AlignkitError, SentencePair, pair_translations
from alignkit.corpora.pairings import PairingCounts
from alignkit.errors import AlignmentError, OptionError, UnknownNameError

WORDS = st.sampled_from(["a", "A", "b", "c", "ß", "ss", "1:", ";", "a1:b", "\ud800", ""])
SENTENCES = st.lists(WORDS, max_size=5)
GROUPS = st.lists(st.lists(SENTENCES, max_size=4), max_size=5)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "which": st.sampled_from(["all", "first"]),
        "both_orders": st.booleans(),
        "min_length": st.integers(1, 2),
        "max_length": st.none() | st.integers(2, 5),
        "max_ratio": st.none() | st.sampled_from([1.1, 1.5, 2, 4]),
        "drop_identical": st.booleans(),
        "drop_repeated": st.booleans(),
    },
)


def made(groups, **options):
    pairings = pair_translations(groups, **options)
    return list(pairings), pairings.counts


def reference(groups, **options):
    """Pair without haste: all ordered pairs of places, then one question after the other."""
    found, counts, seen = [], Counter(), []
    for number, group in enumerate(groups):
        places = range(len(group))
        pairs = [(i, j) for i in places for j in places if i < j]
        if options.get("which") == "first":
            pairs = [(i, j) for i, j in pairs if i == 0]
        pairs = [(i, j) for i, j in pairs if len(group[i]) and len(group[j])]
        if options.get("both_orders"):
            pairs = [turned for i, j in pairs for turned in ((i, j), (j, i))]
        counts.update(groups=1, sentences=len(group), pairs=len(pairs), unpaired=not pairs)
        counts["empty"] += len([sentence for sentence in group if len(sentence) == 0])
        for i, j in pairs:
            kept = reason(group[i], group[j], seen, options)
            counts[kept] += 1
            if kept == "kept":
                seen.append((group[i], group[j]))
                if not options.get("both_orders"):
                    seen.append((group[j], group[i]))
                found.append((f"{number + 1}/{i + 1}-{j + 1}", group[i], group[j]))
    return found, counts


def reason(source, target, seen, options):
    n, m = len(source), len(target)
    if n < options.get("min_length", 1) or m < options.get("min_length", 1):
        return "too_short"
    most, ratio = options.get("max_length"), options.get("max_ratio")
    if most is not None and (n > most or m > most):
        return "too_long"
    if ratio is not None and (n >= ratio * m or m >= ratio * n):
        return "too_unequal"
    folded = [[word.casefold() for word in words] for words in (source, target)]
    if options.get("drop_identical") and folded[0] == folded[1]:
        return "identical"
    if options.get("drop_repeated") and (source, target) in seen:
        return "repeated"
    return "kept"


@given(GROUPS, OPTIONS)
def test_pairs_and_counts_are_those_of_the_reference(groups, options):
    pairs, counts = made(groups, **options)
    expected, told = reference(groups, **options)
    assert [(pair.id, list(pair.source), list(pair.target)) for pair in pairs] == expected
    assert asdict(counts) == {name: told[name] for name in asdict(counts)}
    assert counts.pairs == counts.kept + counts.dropped


@pytest.mark.parametrize("both_orders", [False, True])
@given(groups=GROUPS)
def test_nothing_is_kept_twice(groups, both_orders):
    pairs = made(groups + groups, drop_repeated=True, both_orders=both_orders)[0]
    kept = [(pair.source, pair.target) for pair in pairs]
    assert len(set(kept)) == len(kept)
    if not both_orders:
        assert all(s == t for s, t in set(kept) & {(t, s) for s, t in kept})
    once = made(groups, drop_repeated=True, both_orders=both_orders)[0]
    assert kept == [(pair.source, pair.target) for pair in once]


def test_the_articles_translations_make_its_number_of_pairs():
    """993 sentences, 11 translators, 55 pairings each (Cohn et al. 2008): 54,615 pairs."""
    pairings = pair_translations([["a"]] * 11 for _ in range(993))
    assert sum(1 for _ in pairings) == 54_615
    expected = PairingCounts(groups=993, sentences=993 * 11, pairs=54_615, kept=54_615)
    assert pairings.counts == expected


@pytest.mark.parametrize(
    ("words", "kept"), [((1, 8), True), ((1, 9), False), ((2, 17), True), ((2, 18), False)]
)
def test_the_ratio_itself_is_dropped(words, kept):
    """The article keeps pairs with a length ratio below 1:9 (Cohn et al. 2008)."""
    group = [["w"] * n for n in words]
    for order in (group, group[::-1]):
        assert bool(made([order], max_ratio=9)[0]) is kept


@pytest.mark.parametrize("tenths", range(11, 30))
def test_a_ratio_is_compared_exactly(tenths):
    group = [["w"] * 10, ["w"] * tenths]
    assert made([group], max_ratio=tenths / 10)[1].too_unequal == 1
    assert made([group], max_ratio=tenths / 10 + 0.001)[1].kept == 1


@pytest.mark.parametrize(
    ("group", "options", "ids", "counts"),
    [
        # limits of length are inclusive
        (
            [["w"] * n for n in (1, 2, 49, 50)],
            {"min_length": 2, "max_length": 49},
            ["1/2-3"],
            {"too_short": 3, "too_long": 2},
        ),
        # the first is paired with each of the others
        ([["a"], ["b"], ["c"]], {"which": "first"}, ["1/1-2", "1/1-3"], {"kept": 2}),
        ([[], ["b"], ["c"]], {"which": "first"}, [], {"unpaired": 1, "empty": 1}),
        # an equal pair in both orders is kept once
        ([["a"], ["a"]], {"both_orders": True, "drop_repeated": True}, ["1/1-2"], {"repeated": 1}),
        ([["a"], ["a"]], {"both_orders": True}, ["1/1-2", "1/2-1"], {"kept": 2}),
    ],
)
def test_a_group_is_paired(group, options, ids, counts):
    pairs, counted = made([group], **options)
    assert [pair.id for pair in pairs] == ids
    assert {name: getattr(counted, name) for name in counts} == counts


def test_groups_without_a_pair_are_counted_and_words_kept_apart():
    counts = made([[], [["a"]], [["a"], []], [["a"], ["b"]]])[1]
    assert counts == PairingCounts(groups=4, sentences=5, empty=1, unpaired=3, pairs=1, kept=1)
    groups = [[["a b"], ["c"]], [["a", "b"], ["c"]], [["a"], ["b", "c"]], [["a"], ["1:b", "c"]]]
    assert made(groups, drop_repeated=True)[1].kept == 4
    assert made([(("a", "b"), ["c"])])[0] == [SentencePair("1/1-2", ("a", "b"), ("c",))]
    with pytest.raises(AlignmentError, match=r"group 2, translation 1: .* split"):
        made([[["a"], ["b"]], ["a b", "c d"]])


def test_pairs_come_before_the_groups_end_and_counts_do_not_change():
    def endless():
        while True:
            yield [["a"], ["b"], ["c"]]

    pairings = pair_translations(endless())
    assert pairings.counts == PairingCounts()
    assert [pair.id for pair in islice(pairings, 4)] == ["1/1-2", "1/1-3", "1/2-3", "2/1-2"]
    assert (pairings.counts.groups, pairings.counts.kept) == (2, 4)
    pairings = pair_translations([[["a"], ["b"]]])
    before = pairings.counts
    next(pairings)
    assert (before.kept, pairings.counts.kept) == (0, 1)
    with pytest.raises(FrozenInstanceError):
        before.kept = 7


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"which": "frist"}, UnknownNameError, "did you mean 'first'"),
        ({"min_length": 0}, OptionError, "1 or more, not 0"),
        ({"max_length": 0}, OptionError, "below the minimum"),
        ({"min_length": 5, "max_length": 4}, OptionError, "4, is below the minimum, 5"),
        ({"max_ratio": 0.9}, OptionError, "more than 1, not 0.9"),
        ({"max_ratio": float("nan")}, OptionError, "not nan"),
        ({"max_ratio": float("inf")}, OptionError, "not inf"),
    ],
)
def test_options_without_sense_are_told_at_once(options, error, told):
    with pytest.raises(error, match=told) as caught:
        pair_translations([], **options)
    assert isinstance(caught.value, AlignkitError)
