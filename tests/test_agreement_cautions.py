"""Each caution is told where its number says so, and nowhere else."""

import re
from dataclasses import replace

import numpy as np
import pytest

from alignkit import Alignment, Corpus, SentencePair, agree, plan_pairs
from alignkit.agreement.cautions import _two_digits, cautions_of
from alignkit.agreement.chance.result import LEVELS, by_both

QUICK = {"samples": 50, "resamples": 20}
SAME, NEAR = "0-0 1-1 2-2 3-3", ["0-0 1-1 2-2 3-3"] * 39
LINKED = "0-0 1-1"
APART = {"A": "0-0 1-1 2-2", "B": "0-1 1-2 2-3", "initial": SAME}


def made(count=40, source="abcd", target="wxyz", **links):
    pairs = []
    for k in range(count):
        texts = {
            name: given if isinstance(given, str) else given[k % len(given)]
            for name, given in links.items()
        }
        annotations = {name: Alignment.parse(text) for name, text in texts.items()}
        pairs.append(SentencePair(str(k), list(source), list(target), annotations))
    return Corpus(pairs)


def cautioned(agreement, code):
    same = [caution for caution in agreement.cautions if caution.code == code]
    assert len(same) < 2
    return same[0] if same else None


def random_corpus(count=60, size=10):
    rng, pairs = np.random.default_rng(1), []
    for k in range(count):
        right = np.eye(size, dtype=bool)[rng.permutation(size)]
        links = {"initial": rng.random((size, size)) < 0.01}
        links |= {name: right ^ (rng.random((size, size)) < 0.005) for name in "AB"}
        annotations = {
            name: Alignment({(int(i), int(j)) for i, j in np.argwhere(cells)})
            for name, cells in links.items()
        }
        pairs.append(SentencePair(str(k), list("abcdefghij"), list("qrstuvwxyz"), annotations))
    return Corpus(pairs)


def edited(corpus, **options):
    return agree(corpus, ["A", "B"], initial="initial", **{**QUICK, **options})


GOOD = random_corpus()


@pytest.fixture(scope="module")
def well():
    return edited(GOOD)


def test_where_all_is_well_it_only_asks_whether_they_corrected_that_alignment(well):
    assert [caution.code for caution in well.cautions] == ["initial-far"]
    kept = {"A": "0-0 1-1", "B": "0-1 1-2 2-3 3-0 0-0"}  # all of A's links, a fifth of B's
    caution = cautioned(edited(made(initial=SAME, **kept)), "initial-far")
    assert (caution.number, "'initial'" in caution.says) == ("20%", True)
    assert cautioned(edited(made(initial=SAME, A=SAME, B="0-0 1-2 2-3 3-1")), "initial-far") is None


@pytest.mark.parametrize("aggregate", ["macro", "micro"])
@pytest.mark.parametrize("level", LEVELS)
def test_c_by_either_normalizer_is_what_each_gives_alone(aggregate, level):
    corpus = made(A=["0-0 1-1", "0-0", ""], B=["0-0", "0-0 1?1 2-2", "3-3"])
    results = {
        name: agree(corpus, normalizer=name, aggregate=aggregate, bootstrap="none")
        .pairings[0]
        .main(level)
        for name in ("min", "max")
    }
    expected = {name: pytest.approx((one.pi, one.C)) for name, one in results.items()}
    assert all(by_both(one, name, aggregate) == expected for name, one in results.items())


# each caution with a corpus that triggers it: what its number and its words contain, and another
# that does not
@pytest.mark.parametrize(
    ("code", "links", "options", "numbers", "words"),
    [
        (
            "undefined",
            {"initial": LINKED, "A": LINKED, "B": LINKED},
            {"systems": []},
            ["possible phrases; sure phrases; possible words; sure words"],
            "nobody edits",
        ),
        ("below-chance", APART, {}, ["sure words -", "pi 0.000"], "(edit)"),
        (
            "chance-near-one",
            {"A": [*NEAR, "0-0 1-1 2-2"], "B": [*NEAR, "1-1 2-2"], "initial": SAME},
            {},
            ["sure phrases 0.98"],
            "",
        ),
        (
            "one-differs",
            {"A": LINKED, "B": LINKED, "C": "0-0 2-2 3-1"},
            None,
            ["sure words 40.0 at most, 100.0 at least"],
            "C agrees with the others less",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_triggers_a_caution_is_in_it(code, links, options, numbers, words):
    corpus = made(**links)
    found = agree(corpus, resamples=20) if options is None else edited(corpus, **options)
    caution = cautioned(found, code)
    assert all(number in caution.number for number in numbers)
    assert words in caution.says


def test_c_without_a_value_in_a_group_names_the_group():
    pairs = [
        SentencePair(
            "1", ["a"], ["b"], dict.fromkeys("AB", Alignment.parse(links)), {"genre": name}
        )
        for name, links in (("news", "0-0"), ("news", "0-0"), ("talk", ""))
    ]
    longer = SentencePair("x", ["a", "c"], ["b", "d"], pairs[0].annotations, {"genre": "news"})
    found = agree(Corpus([*pairs, longer]), by="genre", resamples=20)
    caution = next(caution for caution in found.cautions if "in talk" in caution.number)
    assert caution.code == "undefined"
    assert "neither annotator has anything" in caution.says


def empty(count):
    return [""] * count + [LINKED] * (40 - count)


@pytest.mark.parametrize(
    ("code", "below", "above", "number"),
    [
        ("left-out", (40, empty(10), empty(10)), (40, empty(11), empty(11)), "words 11 of 40"),
        ("one-sided", (40, empty(3), LINKED), (40, empty(4), LINKED), "sure words 4 of 40"),
        ("few-pairs", (50, LINKED, LINKED), (49, LINKED, LINKED), "all: 49"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_counts_are_told_beyond_their_bounds_alone(code, below, above, number):
    few, many = (
        cautioned(agree(made(count, A=first, B=second), resamples=20), code)
        for count, first, second in (below, above)
    )
    assert few is None
    assert number in many.number


def test_few_pairs_are_told_without_words_too():
    bare = Corpus(SentencePair(p.id, None, None, p.annotations) for p in made(5, A="0-0", B="0-0"))
    found = agree(bare, ignore_identical=False, resamples=20)
    assert cautioned(found, "few-pairs").number == "all: 5"


def test_sampling_that_stopped_too_early():
    found = edited(GOOD, tolerance=1e-6, samples=10)
    assert "after 10 samples" in cautioned(found, "rough").number
    assert "1e-06" in cautioned(found, "rough").says
    assert cautioned(edited(GOOD, tolerance=0.9, samples=10), "rough") is None


def changed(found, *, interval=None, **values):
    pairing = found.pairings[0]
    levels = {
        level: replace(one, interval=replace(one.interval, **(interval or {})), **values)
        for level, one in pairing.beyond["edit"].items()
    }
    beyond = pairing.beyond | {"edit": type(pairing.beyond)(levels)}
    other = replace(found, pairings=(replace(pairing, beyond=beyond),))
    return replace(other, cautions=cautions_of(other))


def test_what_is_coarse_undefined_or_moves_with_the_model(well):
    bounds = {"low": 0.5, "high": 0.58}
    assert cautioned(changed(well, C_error=0.0099, interval=bounds), "coarse") is None
    C = {name: levels["words.sure"].C for name, levels in well.pairings[0].beyond.items()}
    high = max(("edit-split", "edit-strata", "kupper-hafner"), key=C.get)
    for code, values, number in (
        ("coarse", {"C_error": 0.0101, "interval": bounds}, "sure words 0.0101 of 0.0800"),
        ("undefined-resamples", {"interval": {"undefined": 3}}, "sure words 3 of 20"),
        ("model", {"C": -0.9}, f"sure words -0.900 by edit to {C[high]:.3f} by {high}"),
    ):
        assert number in cautioned(changed(well, **values), code).number


def test_equal_words_that_dominate_the_fit():
    links = {"initial": "0-0 1-1 2-2", "A": ["0-0 1-1 2-2", "0-0 1-1 3-3"], "B": "0-0 1-1 3-2"}
    equal, few = (made(source="abcd", target=words, **links) for words in ("abyz", "axyz"))
    told = r"possible phrases 67%, pi0 0\.\d+, by edit-strata 0\.\d+; sure phrases 67%"
    assert re.match(told, cautioned(edited(equal), "equal-words").number)
    assert cautioned(edited(few), "equal-words") is None
    assert cautioned(edited(equal, chance="edit-strata"), "equal-words") is None
    assert cautioned(edited(equal, ignore_identical=False), "equal-words") is None


def test_the_majority_of_two_is_what_both_have():
    three = agree(made(A=LINKED, B=LINKED, C=LINKED), resamples=20)
    assert cautioned(three, "one-differs") is None
    caution = cautioned(three, "intersection")
    assert caution.pairings == tuple(f"{name} ~ majority without {name}" for name in "ABC")
    assert caution.number == "2"
    four = agree(made(A=LINKED, B=LINKED, C=LINKED, D="0-0"), resamples=20)
    assert cautioned(four, "intersection") is None


def test_links_that_half_of_the_others_have_are_counted():
    links = {"A": "0-0 1-1", "B": "0-0 1-1", "C": "0-0", "D": "0-0 2-2", "E": "0-0"}
    caution = cautioned(agree(made(**links), resamples=20), "halved")
    # the others of C, D and E: A and B have 1-1, two of four; 40 pairs with three cells
    assert caution.pairings == tuple(f"{name} ~ majority without {name}" for name in "CDE")
    assert caution.number == "40 of 120 [worst: C ~ majority without C]"
    del links["E"]
    assert cautioned(agree(made(**links), resamples=20), "halved") is None


def test_the_adjudicated_version_was_made_from_the_annotations():
    three = made(A="0-0 1-1", B="0-0 1-1", gold="0-0 1-1")
    caution = cautioned(agree(three, adjudicated="gold", resamples=20), "adjudicated")
    assert caution.pairings == ("A ~ gold", "B ~ gold")
    assert "these 2 annotations" in str(caution)
    assert cautioned(agree(three, resamples=20), "adjudicated") is None


def judged(wrong):
    labels = {(0, 1): "wrong", (1, 0): "wrong"} if wrong else {(0, 0): "good"}
    made = {
        "A": Alignment([(0, 0), (1, 1)], labels=labels),
        "B": Alignment([(0, 0)], labels=labels | ({(1, 1): "wrong"} if wrong else {})),
    }
    return Corpus(SentencePair(str(k), list("abc"), list("xyz"), made) for k in range(40))


def test_annotators_who_judged_links_that_they_were_given():
    found = agree(judged(True), resamples=20)
    kappa = found.pairings[0].sections[0].cells.possible.kappa
    assert cautioned(found, "given-links").number == (
        f"160 of 360 cells; kappa of possible links {kappa:.3f} over all, 0.500 over these"
    )
    assert cautioned(agree(judged(True), universe="judged", resamples=20), "given-links") is None
    drew = agree(judged(False), resamples=20)
    assert cautioned(drew, "given-links") is None
    # C is not to be quoted for given links, so no caution says how to report it
    assert [cautioned(each, "normalizer") is None for each in (found, drew)] == [True, False]


def test_a_line_names_the_pairings_that_it_concerns_unless_these_are_all():
    three = agree(made(A=LINKED, B=LINKED, C="0-0"), resamples=20)
    assert "normalizer (A ~ C; B ~ C)" in three.show()
    assert "- normalizer: C 1.00 ignores" in agree(made(A=LINKED, C="0-0"), resamples=20).show()
    four = agree(made(A=LINKED, B=LINKED, C="0-0", D="0-0"), resamples=20)
    assert "\n- normalizer (4 of 6 pairings): " in four.show()


def test_one_line_names_all_pairings_and_whose_number_it_is():
    few = made(12, A="0-0 1-1", B="0-0 1-1", C="0-0 1-1")
    caution = cautioned(agree(few, resamples=20), "few-pairs")
    assert caution.pairings == ("A ~ B", "A ~ C", "B ~ C")
    assert str(caution).startswith("A ~ B; A ~ C; B ~ C: there are few sentence pairs (")
    left = [""] * 8 + ["0-0 1-1"] * 4, [""] * 9 + ["0-0 1-1"] * 3
    caution = cautioned(agree(made(12, A=left[0], B=left[1], C=left[1]), resamples=20), "left-out")
    assert "sure words 9 of 12 [worst: B ~ C]" in caution.number


def test_pairs_without_an_initial_alignment_are_left_out_for_another_reason():
    some = [
        pair if k % 2 else pair.without_annotations("initial")
        for k, pair in enumerate(made(40, initial="0-0", A="0-0 1-1", B="0-0 1-2"))
    ]
    found = agree(Corpus(some), initial="initial", missing_initial="leave-out", **QUICK)
    caution = cautioned(found, "left-out")
    assert "20 of 40" in caution.number
    assert "without an initial alignment" in caution.says
    assert "neither has anything" not in caution.says
    note = "kupper-hafner: over all sentence pairs that both annotated"
    assert note not in found.show(tables="all")  # all models are over the same pairs
    closed = agree(
        Corpus(some),
        initial="initial",
        missing_initial="leave-out",
        chance="kupper-hafner",
        **QUICK,
    )
    assert note in closed.show(tables="all")


def test_more_pairs_are_asked_for_where_f1_is_not_known_well():
    few = random_corpus(40)
    known = plan_pairs(few, ["A", "B"]).plans["A", "B"].pairs
    assert cautioned(edited(few), "more-pairs") is None  # the interval is narrow
    assert known < 40
    links = [LINKED, "0-1 1-1", "0-0 1-0", LINKED, "2-2"]
    wide = made(40, A=LINKED, B=links)
    caution = cautioned(agree(wide, resamples=20), "more-pairs")
    planned = plan_pairs(wide, ["A", "B"]).plans["A", "B"].pairs
    assert int(caution.number.replace(",", "")) == _two_digits(planned) >= planned > 40
    assert (
        caution.brief
        == f"to know F1 within 3 points takes {caution.number} pairs in all (80% certain)"
    )
    assert cautioned(agree(wide, bootstrap="none"), "more-pairs") is None
    assert cautioned(agree(made(12, A=LINKED, B=links), resamples=20), "more-pairs") is None


def test_a_plan_is_rounded_up_to_two_digits():
    """Fewer pairs than the plan would not be enough."""
    given = [1, 99, 100, 101, 1042, 2549, 2600, 99_001]
    rounded = [1, 99, 100, 110, 1100, 2600, 2600, 100_000]
    assert [_two_digits(count) for count in given] == rounded
