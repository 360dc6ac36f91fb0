"""The answer of an agreement: each rule where it holds, in at most six lines."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import FULL
from strategies_agreement import corpora

from alignkit import Alignment, Corpus, SentencePair, agree
from alignkit.agreement import answer
from alignkit.agreement.answer import LINES, TEXTS, WIDTH, short_names
from alignkit.cli import main
from alignkit.tables.columns import decimal


def noisy(pairs, size=8, seed=0, equal=False, empty=0.0, other=(), **rates):
    """Return pairs whose right links each name moves at a rate; some mark
    nothing; other names link every second word elsewhere."""
    rng, made = np.random.default_rng(seed), []
    for k in range(pairs):
        right, sure, links = rng.permutation(size), rng.random(size) < 0.8, {}
        for name, rate in rates.items():
            to = np.where(rng.random(size) < rate, rng.integers(size, size=size), right).tolist()
            to = [(j + 2 * (i % 2) * (name in other)) % size for i, j in enumerate(to)]
            every = [] if rng.random() < empty else list(enumerate(to))
            links[name] = Alignment([link for link in every if sure[link[0]]], every)
        place = right.tolist().index
        target = [f"w{place(j)}" if equal and j % 4 else f"v{j}" for j in range(size)]
        made.append(SentencePair(str(k), [f"w{i}" for i in range(size)], target, links))
    return Corpus(made)


SAME, OTHER = Alignment([(0, 0)]), Alignment([(0, 1)])
WITH = {"initial": "I", "samples": 50}
FOUR = dict.fromkeys("ABCD", 0.05)
NONE = Corpus(SentencePair(str(k), ["a"], ["x", "y"], {"A": SAME, "B": OTHER}) for k in range(9))
UNKNOWN = Corpus(
    SentencePair(pair.id, None, None, pair.annotations) for pair in noisy(400, A=0.1, B=0.1)
)
CLOSED, WORDS = "kupper-hafner", {"ignore_identical": False}
RULES = {  # the corpus, options, the codes of the answer, the model of C that it quotes
    "two": (noisy(60, A=0.1, B=0.1), {}, "two who-is-right plan", CLOSED),
    "few": (noisy(12, A=0.1, B=0.1), {}, "two few-pairs", CLOSED),
    "one-sided": (noisy(60, A=0.1, B=0.1, empty=0.3), {}, "two one-sided plan", CLOSED),
    "wide": (
        noisy(50, size=2, A=0.8, B=0.8, empty=0.1),
        {},
        "two no-more-than-chance wide plan",
        CLOSED,
    ),
    "initial": (noisy(60, A=0.1, B=0.1, I=0.3), WITH, "two initial plan", "edit"),
    "chosen": (
        noisy(60, A=0.1, B=0.1, I=0.3),
        {**WITH, "chance": "edit-split"},
        "two initial plan",
        "edit-split",
    ),
    "equal words": (
        noisy(60, A=0.1, B=0.1, I=0.3, equal=True),
        WITH,
        "equal-words two normalizer plan",
        "edit-strata",
    ),
    "below chance": (
        noisy(60, A=0.9, B=0.9, I=0),
        WITH,
        "below-chance two no-C who-is-right",
        None,
    ),
    "as by chance": (noisy(60, A=1, B=1), {}, "two no-more-than-chance who-is-right plan", CLOSED),
    "no words": (UNKNOWN, WORDS, "two no-words who-is-right", None),
    "none shared": (NONE, {}, "none-shared", None),
    "outlier": (noisy(60, A=0.05, B=0.05, C=0.5), {}, "two apart no-mean plan", CLOSED),
    "least": (noisy(4, A=0.2, B=0.2, C=0.6), {}, "range least few-pairs", CLOSED),
    "no intervals": (
        noisy(60, A=0.05, B=0.05, C=0.5),
        {"bootstrap": "none"},
        "range least who-is-right",
        CLOSED,
    ),
    "groups": (noisy(60, other="CD", **FOUR), {}, "groups no-mean", CLOSED),
    "one of four": (noisy(60, other="D", **FOUR), {}, "range apart no-mean", CLOSED),
    "range": (noisy(60, **FOUR), {}, "range who-is-right", CLOSED),
}


@cache
def answer_of(rule):
    corpus, options, _, _ = RULES[rule]
    names = [name for name in corpus.aligners if name != "I"]
    drawn = {} if "bootstrap" in options else {"resamples": 100}
    return agree(corpus, names, **drawn, **options).answer


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_holds_where_it_says(rule):
    _, _, codes, model = RULES[rule]
    answer = answer_of(rule)
    assert (" ".join(answer.codes), answer.quoted and answer.quoted.model) == (codes, model)


def test_who_stands_apart_and_which_groups_there_are():
    assert answer_of("outlier").apart == ("C",)
    assert answer_of("groups").groups == (("A", "B"), ("C", "D"))
    assert answer_of("range").groups == ()


@settings(max_examples=20 if FULL else 8)
@given(corpora(), st.booleans())
def test_every_agreement_has_an_answer_of_six_lines_at_most(corpus, ignore_identical):
    names = [name for name in "ABC" if name in corpus.aligners]
    agreement = agree(corpus, names, ignore_identical=ignore_identical, resamples=20)
    answer = agreement.answer
    lines = str(answer).splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= WIDTH
    assert set(answer.codes) <= set(TEXTS)
    assert lines[-1].endswith(("pairs.", "pair."))
    assert not re.search("nan|None", str(answer))
    figures = {
        f"{100 * value:.1f}"
        for two in agreement.pairings
        for value in two.sections[0].figures.values()
    }
    figures |= {f"{100 * value:.1f}" for value in agreement.together[0].mean.values()}
    shown = re.sub(r"\[.*?\]|C \(.*?\)", "", str(answer).replace("\n", " "))
    assert set(re.findall(r"\d+\.\d(?!\d)", shown)) <= figures


# letters that no word of an answer has, and what separates the words of a name
NAMES = st.lists(
    st.text("ŒÞΞ", min_size=1, max_size=30)
    | st.builds("-".join, st.lists(st.text("ŒÞΞ", min_size=1, max_size=9), max_size=4)),
    min_size=3,
    max_size=3,
    unique=True,
).filter(all)
CONTENTS = {rule: RULES[rule][:2] for rule in ("two", "equal words", "groups")}
CONTENTS["outlier"] = noisy(60, A=0.02, B=0.02, C=0.5), {}


@cache
def content(rule, new):
    """Return what an answer says, with a letter for each name, and its lines."""
    corpus, options = CONTENTS[rule]
    names = [name for name in corpus.aligners if name != "I"]
    called = dict(zip(names, new, strict=False)) | {name: name for name in names[len(new) :]}
    renamed = Corpus(
        SentencePair(
            pair.id,
            *pair.words,
            {called.get(name, name): pair.annotation(name) for name in pair.annotations},
        )
        for pair in corpus
    )
    answer = agree(renamed, list(called.values()), resamples=20, **options).answer
    text = "\n".join((*answer.sentences, answer.report))
    for name in sorted(answer.names, key=lambda name: -len(answer.names[name])):
        text = text.replace(answer.names[name], f"<{names[list(called.values()).index(name)]}>")
    return answer.codes, text, str(answer).splitlines(), max(map(len, answer.names.values()))


@pytest.mark.parametrize("rule", CONTENTS)
@settings(max_examples=3 if FULL else 2)
@given(NAMES)
def test_the_names_change_nothing_but_the_names(rule, names):
    corpus, _ = CONTENTS[rule]
    codes, text, lines, longest = content(rule, tuple(names))
    assert (codes, text) == content(rule, ("Œ", "Þ", "Ξ"))[:2]
    if len(corpus.aligners) == 2 and longest <= 12:
        assert len(lines) <= LINES


def test_two_who_are_nearly_identical_come_first():
    corpus = noisy(40, A=0.2, B=0.2, C=0.5)
    copied = Corpus(
        pair.with_annotation("B", pair.alignment("A")) if k % 5 else pair
        for k, pair in enumerate(corpus)
    )
    agreement = agree(copied, resamples=20)
    assert agreement.answer.codes[0] == "nearly-identical"
    same = agreement.same["A ~ B"].same
    assert agreement.answer.sentences[:2] == (
        f"A and B are nearly identical (the same links in {same} of 40 pairs): did they work "
        "independently?",
        agreement.answer.sentences[1],
    )
    assert agreement.answer.sentences[1].startswith("They share ")
    assert "nearly-identical" not in agree(corpus, resamples=20).answer.codes
    pairs = [
        replace(pair, annotations=dict.fromkeys("ABC", pair.annotation("A"))) for pair in corpus
    ]
    every = agree(Corpus(pairs), resamples=20).answer
    assert every.sentences[0].startswith(
        "3 of 3 pairings are nearly identical, most of all A and B"
    )


def test_two_without_a_common_pair_have_nothing_to_report():
    pairs = [SentencePair(name, ["a"], ["b"], {name: SAME}) for name in ("anna", "ben")]
    assert str(agree(Corpus(pairs), ["anna", "ben"]).answer) == (
        "anna and ben annotated no pair in common: there is no agreement to report.\n"
        "Report: nothing shared; 0 pairs."
    )


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["RTE2_dev_A", "RTE2_dev_B"], ["dev_A", "dev_B"]),  # a lone letter reads as a statistic
        (["demo-user-1", "demo-user-2"], ["user-1", "user-2"]),
        (["corpus.anna", "corpus.ben"], ["anna", "ben"]),
        (["anna", "ben"], ["anna", "ben"]),
        (["a-one", "a-two"], ["a-one", "a-two"]),  # short enough
        (["annotator-of-the-north", "mary"], ["annota…north", "mary"]),
        (["the-north-annotator", "the-south-annotator"], ["north-…tator", "south-…tator"]),
        (["x" * 20 + "1" + "y" * 20, "x" * 20 + "2" + "y" * 20], ["xxx1yyy", "xxx2yyy"]),
        (["x" * 30, "x" * 31], ["x" * 30, "x" * 31]),  # alike where they are cut
    ],
)
def test_long_names_are_shortened_and_stay_apart(names, short):
    assert list(short_names(names).values()) == short


def test_coefficients_have_two_decimals_and_no_leading_zero():
    given = (0.644, -0.3236, 1.0, 0.999, -1.0, -0.001, 0.0, float("nan"))
    assert " ".join(map(decimal, given)) == ".64 -.32 1.00 1.00 -1.00 .00 .00 -"


GOLDALIGN = """\
user-1 and user-2 share 59.3% [54.2, 64.3] of their word links, 42.6% [32.6, 53.2] of the sure ones
(F1; equal words left out). Beyond chance: C (strata) .64 [.58, .69] and .29; C (Cohn et al.)
misleads here. C rests on 377 and 155 of 612 pairs, and in 92 of the 155 only one marked anything:
give C with F1, never alone. F1 within 3 points: 2,700 pairs in all (80% certain).
Report: word F1 59.3 [54.2, 64.3], C (strata) .64 [.58, .69] on 377 pairs; sure links F1
42.6 [32.6, 53.2], C .29 [.21, .37] on 155; 612 pairs."""
RTE2 = """\
dev_A and dev_B are nearly identical (the same links in 651 of 800 pairs): did they work
independently? They share 94.2% [92.7, 95.5] of their word links (F1; equal words left out). dev_C
stands apart: 64.7% [61.9, 67.4] with dev_A, 64.1% [61.3, 66.8] with dev_B. Beyond chance:
C (Kupper-Hafner) .94 [.93, .96] for dev_A and dev_B, .73 with dev_C, on 645 to 693 of 800 pairs.
Report: word F1, C (Kupper-Hafner): dev_A ~ dev_B 94.2 [92.7, 95.5], .94 [.93, .96]; dev_A ~ dev_C
64.7 [61.9, 67.4], .73 [.70, .76]; dev_B ~ dev_C 64.1 [61.3, 66.8], .73 [.70, .76]; 800 pairs."""
TRANSREAD = """\
annotation_1 and annotation_2 judged 783 links that they were given: kappa .74 [.68, .78] on what is
a link, .73 [.68, .78] on what is a sure one. Of the links that they accept they share
90.3% [88.2, 92.1], of the sure ones 85.7% [82.7, 88.3] (F1; equal words left out). C counts cells
that nobody judged: do not quote it, nor compare with annotators who drew links.
Report: kappa over the 783 given links .74 [.68, .78], sure .73 [.68, .78]; word F1
90.3 [88.2, 92.1], sure 85.7 [82.7, 88.3]; equal words left out; 179 pairs."""
USERS = "--annotators demo-user-1 demo-user-2 --initial initial --adjudicated arbit"


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("files", "options", "answer"),
    [
        ("goldalign", f"--format goldalign {USERS}", GOLDALIGN),
        ("rte2/RTE2_dev_[ABC].align.txt", "--format rte", RTE2),
        ("formats/transread/*/*annotation_?.txt", "--format transread", TRANSREAD),
    ],
)
def test_the_answer_for_real_annotators(data, capsys, files, options, answer):
    main(["agree", *map(str, sorted(data.glob(files))), *options.split()])
    assert capsys.readouterr().out.startswith(f"{answer}\n\nWords")


def test_a_plan_is_rounded_up_to_two_digits():
    """Fewer pairs than the plan would not be enough."""
    given = [1, 99, 100, 101, 1042, 2549, 2600, 99_001]
    rounded = [1, 99, 100, 110, 1100, 2600, 2600, 100_000]
    assert [answer._two_digits(count) for count in given] == rounded
