"""May a system replace an annotator: against a plain reference, and numbers from outside."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_replacement import KINDS, alternative_test, by_rejections, outcomes, text_of
from refusals import refuses
from repetitions import repetitions
from scipy.stats import ttest_1samp

import alignkit as ak
from alignkit import Alignment, Annotation, Corpus, SentencePair, read_corpus
from alignkit.agreement.replacement.comparison import Closeness, OthersComparison, Units
from alignkit.agreement.replacement.confidence import certain_pairs
from alignkit.agreement.replacement.decision import AnnotatorTest, Decision, p_values, passes
from alignkit.agreement.replacement.power import passing_power
from alignkit.errors import MissingTextError, OptionError, UnknownNameError
from alignkit.stats.corrections import benjamini_yekutieli

NAMES = ("A", "B", "C")
WORDS = ("a", "A", "b", "c", "d")
QUICK = {"samples": 100}


def random_corpus(seed, pairs=60, names=NAMES, longest=4, missing=0.1, judged=False):
    """Return random annotations of a common truth: some are missing, some pairs are copies."""
    rng = np.random.default_rng(seed)
    made = []
    for k in range(pairs):
        n, m = rng.integers(1, longest + 1, 2)
        source, target = rng.choice(WORDS, n), rng.choice(WORDS, m)
        if made and rng.random() < 0.1:
            source, target = made[-1].source, made[-1].target
            n, m = len(source), len(target)
        truth = rng.random((n, m)) < 0.4
        annotations = {}
        for name in (*names, "system"):
            flips = rng.random((n, m)) < 0.15
            links = np.argwhere(truth ^ flips).tolist()
            sure = [link for link in links if rng.random() < 0.7]
            judgment = str(rng.choice(["0", "1", "2", "3"])) if judged else ""
            if rng.random() > missing * (name != "system" or 0.3):
                annotations[name] = Annotation(Alignment(sure, links), judgment=judgment)
        attributes = {"document": f"d{rng.integers(0, 60)}", "genre": "xy"[k % 2]}
        made.append(SentencePair(str(k), source, target, annotations, attributes))
    return Corpus(made)


def check(result, expected, decision=None):
    """Check all figures of a decision against those of the reference, to 1e-9."""
    tests = {test.annotator: test for test in (decision or result.decision).tests}
    assert list(tests) == list(expected)
    for name, (units, advantage, difference, p, replaced) in expected.items():
        test = tests[name]
        assert test.units == units
        assert test.advantage == pytest.approx(advantage, abs=1e-9)
        assert test.difference == pytest.approx(difference, abs=1e-9)
        assert test.p_value == pytest.approx(p, abs=1e-9)
        assert test.replaced == replaced


def by_value(result, by):
    return {part.name: part.decision for part in result.parts if part.by == by}


@pytest.mark.parametrize("seed", range(repetitions(40)))
@pytest.mark.parametrize("measure", ["links", "sure"])
def test_links_are_those_of_a_plain_script(seed, measure):
    corpus = random_corpus(seed, 110)
    result = ak.replaceable(corpus, "system", NAMES, measure=measure, by="genre", **QUICK)
    check(result, alternative_test(corpus, "system", NAMES, measure=measure))
    by_kind = by_value(result, "link")
    assert list(by_kind) == [*KINDS, "nulls"]
    for kind, decision in by_kind.items():
        expected = alternative_test(corpus, "system", NAMES, measure=measure, kind=kind)
        check(result, expected, decision)
    for genre, decision in by_value(result, "genre").items():
        part = corpus.filter(lambda pair, genre=genre: pair.attributes["genre"] == genre)
        check(result, alternative_test(part, "system", NAMES, measure=measure), decision)
    for decision in result.decisions:
        expected = alternative_test(
            corpus, "system", NAMES, measure=measure, epsilon=decision.epsilon
        )
        check(result, expected, decision)


@pytest.mark.parametrize("seed", range(repetitions(40)))
def test_phrase_pairs_and_judgments_are_those_of_a_plain_script(seed):
    corpus = random_corpus(seed, judged=True)
    result = ak.replaceable(corpus, "system", NAMES, measure="phrases", **QUICK)
    check(result, alternative_test(corpus, "system", NAMES, measure="phrases"))
    how = {"measure": "judgments", "scheme": "0-3", **QUICK}
    result = ak.replaceable(corpus, "system", NAMES, **how)
    expected = alternative_test(corpus, "system", NAMES, measure="judgments", order="0123")
    check(result, expected)
    how["scheme"] = "nominal:0-3"
    result = ak.replaceable(corpus, "system", NAMES, **how)
    check(result, alternative_test(corpus, "system", NAMES, measure="judgments"))


@pytest.mark.parametrize("seed", range(repetitions(40)))
def test_groups_and_five_annotators_are_those_of_a_plain_script(seed):
    names = ("v", "w", "x", "y", "z")
    corpus = random_corpus(seed, 150, names, missing=0.4)
    how = {"keep_together": "document", "epsilon": 0.2, **QUICK}
    result = ak.replaceable(corpus, "system", names, **how)
    expected = alternative_test(corpus, "system", names, 0.2, "document")
    check(result, expected)
    assert result.unit == "group"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_benjamini_and_yekutieli_reject_what_the_steps_of_their_procedure_reject(p):
    corrected = benjamini_yekutieli(np.array(p))
    assert (corrected <= 0.05).tolist() == by_rejections(p)
    assert (corrected >= np.array(p)).all()
    both = benjamini_yekutieli(np.array([p, p[::-1]]))
    assert (both[0] == corrected).all()
    assert np.allclose(both[1], corrected[::-1])


def test_corrected_p_values_of_an_article():
    """Of the 15 p-values of Benjamini and Hochberg 1995, the procedure of 2001 rejects three."""
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    p += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    corrected = benjamini_yekutieli(np.array(p))
    assert (corrected <= 0.05).sum() == 3
    assert corrected[0] == pytest.approx(15 * 3.3182289932 * 0.0001)
    with_gap = benjamini_yekutieli(np.array([*p, np.nan]))
    assert np.allclose(with_gap[:-1], corrected)
    assert isnan(with_gap[-1])


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=2, max_size=40), st.floats(0.01, 0.9))
def test_the_t_test_is_that_of_scipy(d, epsilon):
    values = np.array(d, float)
    p = p_values(np.array(len(d)), values.mean(), values.std(ddof=1), epsilon)
    if len(set(d)) == 1:
        assert p == (0.0 if d[0] < epsilon else 1.0)
    else:
        assert p == pytest.approx(
            ttest_1samp(values, epsilon, alternative="less").pvalue, abs=1e-12
        )


def test_what_is_the_same_in_all_pairs_needs_no_test():
    one = np.array(1)
    assert isnan(float(p_values(one, np.array(0.0), np.array(np.nan), 0.1)))
    assert float(p_values(np.array(9), np.array(0.1), np.array(0.0), 0.1)) == 1


@pytest.mark.parametrize("seed", range(repetitions(20)))
def test_neither_order_of_pairs_nor_of_annotators_matters(seed):
    corpus = random_corpus(seed, 60)
    first = ak.replaceable(corpus, "system", NAMES, **QUICK)
    order = np.random.default_rng(seed).permutation(len(corpus))
    other = Corpus([corpus[int(k)] for k in order])
    second = ak.replaceable(other, "system", NAMES[::-1], **QUICK)
    assert second.winning_rate == first.winning_rate
    assert second.advantage == pytest.approx(first.advantage, abs=1e-12)
    swapped = ak.replaceable(corpus.transpose(), "system", NAMES, **QUICK)
    assert swapped.decision == first.decision


@pytest.mark.parametrize("seed", range(repetitions(20)))
def test_copies_of_pairs_count_once(seed):
    corpus = random_corpus(seed, 60)
    twice = ak.concat({"one": corpus, "two": corpus}, prefix=True)
    first = ak.replaceable(corpus, "system", NAMES, **QUICK)
    second = ak.replaceable(twice, "system", NAMES, **QUICK)
    assert second.decision.winning_rate == first.decision.winning_rate
    for test, other in zip(first.decision.tests, second.decision.tests, strict=True):
        assert other.units == test.units
        assert other.p_value == pytest.approx(test.p_value, abs=1e-9)
    left_out = second.left_out
    copies = [count for reason, count in left_out.items() if "same texts" in reason]
    assert copies[0] >= len(corpus) - 3


def test_a_larger_epsilon_never_replaces_fewer():
    result = ak.replaceable(random_corpus(1, 200), "system", NAMES, epsilon=0.3, **QUICK)
    assert [decision.epsilon for decision in result.decisions] == [0.3, 0.2, 0.15, 0.1]
    rates = [decision.winning_rate for decision in result.decisions]
    assert rates == sorted(rates, reverse=True)


def rte2(data, dropped, seed, drawn=False):
    """Return the development part of RTE-2, with A without some random links as the system."""
    first, second, third = (
        read_corpus(str(data / f"rte2/RTE2_dev_{who}.align.txt"), format="rte", name=who)
        for who in NAMES
    )
    rng = np.random.default_rng(seed)

    def with_system(pair):
        alignment = pair.alignment("A")
        kept = [link for link in sorted(alignment) if rng.random() >= dropped]
        links = Alignment([link for link in kept if link in alignment.sure], kept)
        return pair.with_annotation("system", Annotation(links, role="system"))

    return ak.merge(first, {"B": second, "C": third}).map(with_system)


@pytest.mark.real_data
@pytest.mark.parametrize(("dropped", "advantage"), [(0.05, 0.70), (0.1, 0.52)])
def test_rte_2_without_some_links_of_an_annotator(data, dropped, advantage):
    """Numbers of a script apart from alignkit: advantages of about .70 and .52, and no."""
    results = [ak.replaceable(rte2(data, dropped, seed), "system", **QUICK) for seed in (0, 1)]
    for result in results:
        assert result.decision.replaced <= 1
        assert result.may_replace is False
    mean = np.mean([result.advantage for result in results])
    assert mean == pytest.approx(advantage, abs=0.03)


@pytest.mark.real_data
def test_rte_2_is_that_of_a_plain_script(data):
    corpus = rte2(data, 0.03, 7)
    result = ak.replaceable(corpus, "system", **QUICK)
    check(result, alternative_test(corpus, "system", NAMES))
    for kind, decision in by_value(result, "link").items():
        check(result, alternative_test(corpus, "system", NAMES, kind=kind), decision)


# what passes without being good


def changed(corpus, name, share, seed=0, **annotation):
    """Return the corpus with the links of an annotator, without a share of them, as "copy"."""
    rng = np.random.default_rng(seed)

    def with_copy(pair):
        if not pair.aligned_by(name):
            return pair
        alignment = pair.alignment(name)
        kept = [link for link in sorted(alignment) if rng.random() >= share]
        links = Alignment([link for link in kept if link in alignment.sure], kept)
        return pair.with_annotation("copy", Annotation(links, **annotation))

    return corpus.map(with_copy)


def leaks(result):
    return [(leak.code, leak.names, leak.pairs) for leak in result.leaks]


def test_a_copy_passes_and_nothing_is_decided():
    corpus = changed(random_corpus(3, 80, missing=0), "A", 0)
    result = ak.replaceable(corpus, "copy", NAMES, **QUICK)
    assert result.winning_rate >= 0.5
    assert result.may_replace is None
    pairs = result.compared + sum(n for why, n in result.left_out.items() if "nobody" in why)
    assert leaks(result) == [("copy", ("A",), pairs)]
    assert result.codes == ("cannot",)
    assert f"in all {pairs} pairs" in result.answer


def test_a_near_copy_is_said_first():
    corpus = changed(random_corpus(3, 200, longest=6, missing=0), "A", 0.02)
    result = ak.replaceable(corpus, "copy", NAMES, **QUICK)
    assert result.codes[0] == "near-copy"
    assert result.near_copies[0].name == "A"
    assert result.answer.startswith("copy is more like A")
    assert not result.leaks
    good = ak.replaceable(corpus, "system", NAMES, **QUICK)
    assert "near-copy" not in good.codes


@pytest.mark.parametrize(
    ("role", "starts", "expected"),
    [
        ("system", {}, []),
        ("system", {"A": "copy"}, [("shown", ("A",), 60)]),
        ("system", {"A": "copy", "C": "copy"}, [("shown", ("A", "C"), 60)]),
        ("system", {"A": "other", "B": ""}, []),
        ("initial", {}, [("initial", ("A", "B", "C"), 60)]),
        ("initial", {"A": "", "B": "", "C": ""}, []),
        ("initial", {"A": "", "B": "copy", "C": ""}, [("initial", ("B",), 60)]),
        ("adjudicated", {}, [("adjudicated", ("A", "B", "C"), 60)]),
    ],
)
def test_links_that_annotators_started_from_decide_nothing(role, starts, expected):
    corpus = changed(random_corpus(5, 60, missing=0), "A", 0.3, role=role)

    def with_starts(pair):
        for name, start in starts.items():
            alignment = pair.alignment(name)
            pair = pair.with_annotation(name, Annotation(alignment, start=start))
        return pair

    result = ak.replaceable(corpus.map(with_starts), "copy", NAMES, **QUICK)
    nothing = 60 - result.compared
    assert leaks(result) == [(code, who, pairs - nothing) for code, who, pairs in expected]
    assert ("cannot" in result.codes) == bool(expected)
    assert (result.may_replace is None) == bool(expected)
    if expected:
        assert "power" not in result.codes
        assert {part.decision.may_replace for part in result.parts} <= {True, False, None}
        assert "cannot be decided" in str(result)


def test_annotators_who_are_nearly_the_same_are_named():
    rng = np.random.default_rng(0)
    pairs = []
    for k in range(60):
        cells = {(i, int(j)) for i, j in enumerate(rng.permutation(6))}
        other = cells - {min(cells)} if k % 5 == 0 else cells
        links = {"A": Alignment(cells), "B": Alignment(other)}
        links |= {name: Alignment(rng.integers(0, 6, (6, 2)).tolist()) for name in ("C", "system")}
        source, target = ([f"{side}{k}.{i}" for i in range(6)] for side in "st")
        pairs.append(SentencePair(str(k), source, target, links))
    result = ak.replaceable(Corpus(pairs), "system", NAMES, **QUICK)
    assert [(twins.first, twins.second, twins.counts.same) for twins in result.twins] == [
        ("A", "B", 48)
    ]
    assert "in 48 of 60 pairs" in result.answer


def test_two_annotators_are_allowed_and_the_test_is_weaker():
    result = ak.replaceable(random_corpus(2, 60), "system", ["A", "B"], **QUICK)
    assert "two" in result.codes
    assert len(result.decision.tests) == 2


@pytest.mark.real_data
def test_copies_of_an_annotator_of_rte_2(data):
    """Numbers of a script apart from alignkit: above .99 and 1.00; without 2%, two of three."""
    result = ak.replaceable(rte2(data, 0, 0), "system", **QUICK)
    assert result.advantage > 0.99
    assert result.winning_rate == 1
    assert result.may_replace is None
    assert leaks(result) == [("copy", ("A",), 800)]
    assert [(t.first, t.second, t.counts.same) for t in result.twins] == [("A", "B", 651)]
    near = ak.replaceable(rte2(data, 0.02, 0), "system", **QUICK)
    assert near.decision.replaced == 2
    assert near.codes[:2] == ("near-copy", "yes")


# what cannot be answered


@pytest.mark.parametrize(
    ("change", "options", "error", "words"),
    [
        (None, {"epsilon": 0}, OptionError, "between 0 and 1"),
        (None, {"measure": "words"}, UnknownNameError, "known: links, sure, phrases, judgments"),
        (None, {"annotators": ["A"]}, OptionError, "there is only A"),
        (None, {"annotators": ["A", "A"]}, OptionError, "'A' is named twice"),
        (None, {"annotators": ["A", "z"]}, UnknownNameError, "unknown annotator 'z'"),
        (None, {"annotators": ["A", "system"]}, OptionError, "'system' is the system"),
        (None, {"keep_together": "genre"}, OptionError, "2 different values"),
        (None, {"keep_together": "x"}, UnknownNameError, "unknown attribute 'x'"),
        (None, {"measure": "judgments"}, UnknownNameError, "'system'"),
        (None, {"view": "binary"}, OptionError, "`view` is about judgments"),
        (None, {"exact_case": True}, None, ""),
        (lambda c: c[:29], {}, OptionError, "29 pairs"),
        (lambda c: ak.Corpus([*c[:20]] * 2), {}, OptionError, "have only .. different pairs"),
        (lambda c: ak.Corpus([]), {}, OptionError, "the corpus is empty"),
    ],
)
def test_what_cannot_be_answered_is_an_error(change, options, error, words):
    corpus = random_corpus(4, 60, missing=0)
    if change is not None:
        corpus = change(corpus)
    given = {"annotators": NAMES, **QUICK, **options}
    if error is None:
        ak.replaceable(corpus, "system", **given)
    else:
        refuses(error, words, ak.replaceable, corpus, "system", **given)


@pytest.mark.parametrize("measure", ["links", "phrases"])
def test_a_pair_without_words_is_named_if_equal_words_are_left_out(measure):
    corpus = random_corpus(4, 60, missing=0)
    last = corpus[59]
    wordless = SentencePair("wordless", None, None, last.annotations)
    given = {"annotators": NAMES, "measure": measure, "ignore_identical": True, **QUICK}
    pairs = Corpus([*corpus[:59], wordless])
    refuses(MissingTextError, "pair 'wordless'", ak.replaceable, pairs, "system", **given)


def without(corpus, name, keep):
    """Take the annotations of a name out of the pairs whose number is not kept."""
    pairs = []
    for k, pair in enumerate(corpus):
        annotations = {
            who: made for who, made in pair.annotations.items() if who != name or keep(k)
        }
        pairs.append(SentencePair(pair.id, pair.source, pair.target, annotations))
    return Corpus(pairs)


def test_a_system_must_have_aligned_the_pairs():
    corpus = random_corpus(4, 100, missing=0)
    few = without(corpus, "system", lambda k: k < 40)
    words = "'system' annotated only 40 of the 100 pairs of two or more annotators"
    refuses(OptionError, words, ak.replaceable, few, "system", NAMES)
    refuses(UnknownNameError, "unknown annotator 'nobody'", ak.replaceable, corpus, "nobody", NAMES)
    most = ak.replaceable(without(corpus, "system", lambda k: k < 60), "system", NAMES, **QUICK)
    assert most.left_out["pairs that system did not annotate, left out"] == 40
    assert most.compared <= 60


def test_an_annotator_must_share_pairs_with_two_others():
    corpus = random_corpus(4, 120, ("A", "B", "C", "D"), missing=0)
    corpus = without(corpus, "D", lambda k: k < 50)
    corpus = without(corpus, "C", lambda k: k >= 50)
    corpus = without(corpus, "B", lambda k: k >= 50)
    words = "'D' has no pair in common with two other annotators"
    refuses(OptionError, words, ak.replaceable, corpus, "system", ["A", "B", "C", "D"], **QUICK)


def test_an_annotator_with_few_pairs_is_not_tested_but_compared_with():
    corpus = without(random_corpus(4, 100, missing=0), "C", lambda k: k < 20)
    result = ak.replaceable(corpus, "system", NAMES, **QUICK)
    assert [test.annotator for test in result.decision.tests] == ["A", "B"]
    ((name, count),) = result.decision.few
    assert (name, count <= 20) == ("C", True)
    assert "fewer than 30 pairs" in str(result)
    check(result, alternative_test(corpus, "system", NAMES))
    few = without(without(corpus, "B", lambda k: k < 25), "A", lambda k: k > 22)
    refuses(OptionError, "are too few", ak.replaceable, few, "system", NAMES)


# how many pairs are needed


def simulated(rng, pairs, links=15, rate=0.1):
    """Return pairs of a common truth: each drops its links, and adds as many, at a rate."""
    made = []
    for k in range(pairs):
        words = [f"{k}.{i}" for i in range(2 * links)]
        annotations = {}
        for name in (*NAMES, "system"):
            kept = [(i, i) for i in range(links) if rng.random() >= rate]
            free = rng.choice(links, rng.binomial(links, rate), replace=False).tolist()
            annotations[name] = Alignment([*kept, *((i, links + i) for i in free)])
        made.append(SentencePair(str(k), words, words, annotations))
    return Corpus(made)


SIMULATED = [(50, 0.1, 0.1), (200, 0.1, 0.1), (200, 0.2, 0.1), (800, 0.1, 0.1), (200, 0.2, 0.2)]
OUTSIDE = {(50, 0.1, 0.1): (0, 0.1), (200, 0.1, 0.1): (0.14, 0.3)}  # about 4% and 22%
OUTSIDE |= {(200, 0.2, 0.1): (0.75, 1), (800, 0.1, 0.1): (0.75, 1), (200, 0.2, 0.2): (0, 0.05)}
"""The lowest and the highest share of samples that pass, by pairs, epsilon and error rate."""


@pytest.mark.slow
@pytest.mark.parametrize("case", SIMULATED, ids=str)
def test_a_good_system_passes_as_often_as_stated(case):
    from benchmarks.replace import passing

    low, high = OUTSIDE[case]
    assert low <= passing(200, *case) <= high


def test_the_answer_says_how_often_a_good_system_passes():
    """In simulations apart from alignkit, 22% of samples of 200 pairs pass, 4% of 50 pairs."""
    result = ak.replaceable(simulated(np.random.default_rng(0), 200), "system")
    power = result.power
    assert power.units == 200
    assert power.passing == pytest.approx(0.22, abs=0.05)
    sizes = dict(power.by_size)
    assert sizes[50] == pytest.approx(0.04, abs=0.025)
    assert sizes[800] > 0.75
    assert sorted(sizes.values()) == [sizes[size] for size in sorted(sizes)]
    assert 550 <= power.needed <= 900
    share = f"{100 * power.passing:.0f}%"
    assert f"passes in {share}" in result.answer
    assert f"about {power.needed:,} are needed for 80%" in result.answer
    again = ak.replaceable(simulated(np.random.default_rng(0), 200), "system")
    assert again.power == power


def test_no_number_of_pairs_is_enough_for_a_tiny_epsilon():
    result = ak.replaceable(random_corpus(1, 60), "system", NAMES, epsilon=1e-4, **QUICK)
    assert result.power.needed is None
    assert "more than a million" in result.answer


def test_links_that_are_those_of_what_annotators_were_shown_decide_nothing():
    """A copy of the suggestions under another name is found by its links, pair by pair."""
    corpus = changed(random_corpus(5, 60, missing=0), "A", 0.3)
    same = set(corpus.ids[:20])

    def with_starts(pair):
        start = Annotation(pair.alignment("A"), start="suggested")
        pair = pair.with_annotation("A", start)
        other = pair.alignment("copy") if pair.id in same else pair.alignment("C")
        return pair.with_annotation("suggested", Annotation(other, role="initial"))

    corpus = corpus.map(with_starts)
    result = ak.replaceable(corpus, "copy", NAMES, **QUICK)
    links = [(pair.alignment("copy"), pair.alignment("suggested")) for pair in corpus]
    pairs = sum(first == second and len(first) > 0 for first, second in links)
    assert 15 <= pairs < 40
    assert leaks(result) == [("shown", ("A",), pairs)]
    assert dict(result.shown) == {"suggested": result.compared}
    assert "links of suggested" in str(result)
    assert result.to_json()["shown"] == {"suggested": result.compared}


# the pairs of which the system is most certain


def with_probabilities(corpus, seed):
    """Return the corpus with a probability of each link of the system; some pairs have none.

    The more probable, the less the system's links are changed.
    """
    rng = np.random.default_rng(seed)

    def weighted(pair):
        if not pair.aligned_by("system", "A") or rng.random() < 0.1:
            return pair
        probability = float(rng.integers(1, 10)) / 10
        kept = set(pair.alignment("A").possible)
        kept = {link for link in kept if rng.random() < probability + 0.1}
        weights = dict.fromkeys(kept, probability)
        return pair.with_annotation("system", Alignment(kept, weights=weights))

    return corpus.map(weighted)


def plain_threshold(corpus, places, probability, epsilon):
    """Return the lowest probability at which the largest share of some pairs passes, or None."""
    falling = sorted((probability.get(k, -1) for k in places), reverse=True)
    everybody = alternative_test(Corpus([corpus[k] for k in places]), "system", NAMES, epsilon)
    for share in range(100, 0, -1):
        threshold = falling[-(-share * len(falling) // 100) - 1]
        chosen = [k for k in places if probability.get(k, -1) >= threshold]
        tests = alternative_test(Corpus([corpus[k] for k in chosen]), "system", NAMES, epsilon)
        passed = sum(replaced for *_, replaced in tests.values())
        if threshold >= 0 and len(tests) == len(everybody) > 0 and 2 * passed >= len(tests):
            return threshold
    return None


@pytest.mark.parametrize("seed", range(repetitions(30)))
def test_the_share_of_certain_pairs_is_that_of_a_plain_script(seed):
    corpus = with_probabilities(random_corpus(seed, 220, missing=0), seed)
    result = ak.replaceable(corpus, "system", NAMES, seed=seed, epsilon=0.2, **QUICK)
    certain = result.certain
    compared = {p for name in NAMES for p, *_ in outcomes(corpus, "system", NAMES, name)}
    probability = {}
    for place, pair in enumerate(corpus):
        weights = pair.alignment("system").weights if pair.aligned_by("system") else {}
        if weights and place in compared:
            probability[place] = sum(weights.values()) / len(weights)
    assert certain.unknown == len(compared - probability.keys())
    texts = {}
    group = [texts.setdefault(text_of(pair), len(texts)) for pair in corpus]
    order = np.random.default_rng(seed).permutation(len(texts))
    first = set(order[: len(order) // 2].tolist())
    halves = [[k for k in sorted(compared) if (group[k] in first) == own] for own in (True, False)]
    threshold = plain_threshold(corpus, halves[0], probability, 0.2)
    if threshold is None:
        assert certain.decision is None
        assert not certain.passes
        return
    assert certain.threshold == pytest.approx(threshold, abs=1e-9)
    chosen = [k for k in halves[1] if probability.get(k, -1) >= threshold - 1e-9]
    assert certain.share == pytest.approx(len(chosen) / len(halves[1]), abs=1e-9)
    part = Corpus([corpus[k] for k in chosen])
    check(result, alternative_test(part, "system", NAMES, 0.2), certain.decision)


def test_some_of_these_corpora_have_a_share_that_passes_and_some_have_none():
    shares = []
    for seed in range(6):
        corpus = with_probabilities(random_corpus(seed, 220, missing=0), seed)
        shares.append(ak.replaceable(corpus, "system", NAMES, epsilon=0.2, **QUICK).certain.share)
    assert 0 < max(shares) < 1


def test_without_probabilities_there_is_no_share():
    result = ak.replaceable(random_corpus(1, 60), "system", NAMES, **QUICK)
    assert result.certain is None
    assert not {"certain", "certain-none"} & set(result.codes)


def test_many_different_groups_are_represented_by_some():
    rng = np.random.default_rng(0)
    many = passing_power(rng.normal(0, 0.4, (3, 6000)), 0.1, samples=100, seed=1)
    assert (many.units, many.drawn_from) == (6000, 2000)
    few = passing_power(rng.normal(0, 0.4, (3, 1500)), 0.1, samples=100, seed=1)
    assert (few.units, few.drawn_from) == (1500, 1500)
    assert many.needed == pytest.approx(few.needed, rel=0.25)
    d = rng.integers(-1, 2, (3, 50_000)).astype(float)
    assert passing_power(d, 0.1, samples=100, seed=1).drawn_from == 50_000


def test_half_of_the_annotators_are_enough():
    p = np.array([[0.001, 0.9], [0.9, 0.9], [0.001, np.nan], [np.nan, np.nan]])
    assert passes(p).tolist() == [True, False, True, False]

    def decision(*replaced):
        return Decision(0.1, tuple(AnnotatorTest("a", 30, 0.5, 0, 0, 0, each) for each in replaced))

    assert decision(True, False).may_replace is True
    assert decision(True, False, False).may_replace is False
    assert decision().may_replace is None
    assert isnan(decision().winning_rate)
    assert isnan(decision().advantage)


def compared_by(*differences):
    """Return a comparison with these d of each annotator, NaN where not compared."""
    d = np.array(differences, float)[None]
    wins = np.where(np.isnan(d), np.nan, d <= 0)
    losses = np.where(np.isnan(d), np.nan, d >= 0)
    names = tuple("ABC"[: len(differences)])
    return OthersComparison(("all",), names, wins, losses, Closeness.empty(["system", *names]))


def certain_of(comparison, probabilities):
    numbers = np.arange(len(probabilities))
    units = Units(numbers, numbers, grouped=False)
    return certain_pairs(comparison, units, np.array(probabilities, float), 0.1, seed=1)


def test_all_pairs_can_be_certain_enough():
    certain = certain_of(compared_by([-1] * 100, [-1] * 100), [0.5] * 8 + [1.0] * 92)
    assert (certain.passes, certain.share, certain.threshold) == (True, 1, 0.5)


def test_an_annotator_who_cannot_be_replaced_may_not_drop_out():
    """Without C, who has few of the certain pairs, half of the annotators would be enough."""
    few = [1.0] * 100 + [np.nan] * 100
    certain = certain_of(compared_by([-1] * 200, [1] * 200, few), np.linspace(0, 1, 200))
    assert certain.decision is None
    certain = certain_of(compared_by([-1] * 200, [1] * 200), np.linspace(0, 1, 200))
    assert certain.passes


def test_thirty_pairs_are_enough():
    corpus = random_corpus(4, 60, missing=0)
    counts = set()
    for pairs in range(30, 40):
        try:
            result = ak.replaceable(corpus[:pairs], "system", NAMES, **QUICK)
        except OptionError:
            continue
        counts.update(test.units for test in result.decision.tests)
    assert min(counts) == 30
