"""The answer of an agreement: three sentences, and each rule where it holds."""

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
from alignkit.agreement.answer import TEXTS, WIDTH, AnswerWriter
from alignkit.agreement.names import short_names
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
SMALLER = noisy(60, A=0.02, B=0.02).map(  # B has half of the links of A
    lambda pair: pair.with_annotation("B", Alignment([*pair.alignment("B").possible][::2]))
)
CLOSED, WORDS = "kupper-hafner", {"ignore_identical": False}
RULES = {  # the corpus, options, the codes of the answer, the model of C that it quotes
    "two": (noisy(60, A=0.1, B=0.1), {}, "two beyond who-is-right", CLOSED),
    "few": (noisy(12, A=0.1, B=0.1), {}, "two beyond few-pairs", CLOSED),
    "one-sided": (noisy(60, A=0.1, B=0.1, empty=0.3), {}, "two beyond one-sided", CLOSED),
    "no more than chance": (
        noisy(50, size=2, A=0.8, B=0.8, empty=0.1),
        {},
        "two beyond no-more-than-chance",
        CLOSED,
    ),
    "wide": (noisy(50, size=2, A=0.4, B=0.4), {}, "two beyond wide", CLOSED),
    "smaller": (SMALLER, {}, "two beyond normalizer", CLOSED),
    "larger": (SMALLER, {"normalizer": "max"}, "two beyond who-is-right", CLOSED),
    "initial": (noisy(60, A=0.1, B=0.1, I=0.3), WITH, "two beyond initial", "edit"),
    "chosen": (
        noisy(60, A=0.1, B=0.1, I=0.3),
        {**WITH, "chance": "edit-split"},
        "two beyond initial",
        "edit-split",
    ),
    "equal words": (
        noisy(60, A=0.1, B=0.1, I=0.3, equal=True),
        WITH,
        "two equal-words beyond normalizer",
        "edit-strata",
    ),
    "below chance": (
        noisy(60, A=0.9, B=0.9, I=0),
        WITH,
        "two no-C who-is-right",
        None,
    ),
    "as by chance": (noisy(60, A=1, B=1), {}, "two beyond no-more-than-chance", CLOSED),
    "no words": (UNKNOWN, WORDS, "two no-words who-is-right", None),
    "none shared": (NONE, {}, "none-shared", None),
    "outlier": (noisy(60, A=0.05, B=0.05, C=0.5), {}, "apart beyond no-mean", CLOSED),
    "least": (noisy(4, A=0.2, B=0.2, C=0.6), {}, "range beyond few-pairs", CLOSED),
    "no intervals": (
        noisy(60, A=0.05, B=0.05, C=0.5),
        {"bootstrap": "none"},
        "range beyond who-is-right",
        CLOSED,
    ),
    "groups": (noisy(60, other="CD", **FOUR), {}, "groups beyond no-mean", CLOSED),
    "one of four": (noisy(60, other="D", **FOUR), {}, "apart beyond no-mean", CLOSED),
    "range": (noisy(60, **FOUR), {}, "range beyond who-is-right", CLOSED),
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
def test_every_agreement_has_an_answer_of_three_sentences_or_one(corpus, ignore_identical):
    names = [name for name in "ABC" if name in corpus.aligners]
    agreement = agree(corpus, names, ignore_identical=ignore_identical, resamples=20)
    answer = agreement.answer
    assert len(answer.sentences) in (1, 3)
    assert all(sentence[-1] == "." and sentence[0].isupper() for sentence in answer.sentences)
    assert max(map(len, str(answer).splitlines())) <= WIDTH
    assert set(answer.codes) <= set(TEXTS)
    assert len(answer.codes) >= len(answer.sentences)
    assert not re.search("nan|None|[{}]", str(answer))
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
    """Return what an answer says, with a letter for each name."""
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
    text = "\n".join(answer.sentences)
    for name in sorted(answer.names, key=lambda name: -len(answer.names[name])):
        text = text.replace(answer.names[name], f"<{names[list(called.values()).index(name)]}>")
    return answer.codes, text


@pytest.mark.parametrize("rule", CONTENTS)
@settings(max_examples=3 if FULL else 2)
@given(NAMES)
def test_the_names_change_nothing_but_the_names(rule, names):
    assert content(rule, tuple(names)) == content(rule, ("Œ", "Þ", "Ξ"))


def test_two_who_are_nearly_identical_come_first():
    corpus = noisy(40, A=0.2, B=0.2, C=0.5)
    copied = Corpus(
        pair.with_annotation("B", pair.alignment("A")) if k % 5 else pair
        for k, pair in enumerate(corpus)
    )
    agreement = agree(copied, resamples=20)
    assert agreement.answer.codes == ("nearly-identical", "apart", "beyond", "no-mean")
    same = agreement.same["A ~ B"].same
    assert agreement.answer.sentences[0].startswith(
        f"A and B are nearly identical (the same links in {same} of 40 pairs; did they work "
        "independently?) and share "
    )
    assert "nearly-identical" not in agree(corpus, resamples=20).answer.codes
    alone = agree(copied, ["A", "B"], resamples=20).answer
    assert alone.codes[:2] == ("nearly-identical", "two")
    assert "independently?) and share " in alone.sentences[0]
    more = [pair.with_annotation("D", pair.alignment("C").transpose()) for pair in copied]
    assert "independently?); " in agree(Corpus(more), resamples=20).answer.sentences[0]
    pairs = [
        replace(pair, annotations=dict.fromkeys("ABC", pair.annotation("A"))) for pair in corpus
    ]
    every = agree(Corpus(pairs), resamples=20).answer
    assert every.sentences[0] == (
        "3 of 3 pairings are nearly identical, most of all A and B (the same links in 40 of 40 "
        "pairs; did they work independently?); the 3 annotators share 100.0% of their word links, "
        "100.0% on average (F1, equal words left out)."
    )


def test_two_without_a_common_pair_have_nothing_to_report():
    pairs = [SentencePair(name, ["a"], ["b"], {name: SAME}) for name in ("anna", "ben")]
    assert str(agree(Corpus(pairs), ["anna", "ben"]).answer) == (
        "anna and ben annotated no pair in common: there is no agreement to report."
    )
    empty = [SentencePair(str(k), ["a"], ["b"], dict.fromkeys("AB", Alignment())) for k in "12"]
    assert str(agree(Corpus(empty), ["A", "B"]).answer) == (
        "A and B mark no link of different words in the pairs that they share."
    )


def test_with_many_pairings_a_range_names_its_ends():
    rates = {name: 0.08 + 0.01 * k for k, name in enumerate("ABCDEF", 1)}
    agreement = agree(noisy(20, **rates), resamples=20)
    f1 = {two: two.sections[0].figures["words.possible.f1"] for two in agreement.of("annotators")}
    low, high = min(f1, key=f1.__getitem__), max(f1, key=f1.__getitem__)
    ends = f"{100 * f1[low]:.1f}% ({low.name}) to {100 * f1[high]:.1f}% ({high.name})"
    assert f"The 6 annotators share {ends} of their word links" in agreement.answer.sentences[0]
    fewer = agree(noisy(20, **rates), list("ABCDE"), resamples=20).answer.sentences[0]
    assert " ~ " not in fewer


def test_three_sentences_say_the_same_each_time_they_are_written():
    agreement = agree(RULES["equal words"][0], ["A", "B"], initial="I", samples=50, resamples=20)
    assert AnswerWriter(agreement).answer() == AnswerWriter(agreement).answer() == agreement.answer
    assert agreement.answer.quoted.code == "equal-words"
    assert agreement.answer.quoted.why in agreement.answer.sentences[1]


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
user-1 and user-2 share 59.3% [54.2, 64.3] of their word links and 42.6% [32.6, 53.2] of the sure
ones (F1, equal words left out). Beyond chance, C (strata) is .64 [.58, .69] and .29 [.21, .37], on
377 and 155 of 612 pairs; C (Cohn et al.) misleads here, for 79% of the initial links join equal
words. Report F1 and C: in 92 of 155 pairs only one marked anything as sure."""
RTE2 = """\
dev_A and dev_B are nearly identical (the same links in 651 of 800 pairs; did they work
independently?) and share 94.2% [92.7, 95.5] of their word links, but only 64.1% to 64.7% with dev_C
(F1, equal words left out). Beyond chance, C (Kupper-Hafner) is .94 [.93, .96], and .73 with dev_C,
on 645 to 693 of 800 pairs. Report each pairing: the mean of all, 74.4%, describes none."""
TRANSREAD = """\
annotation_1 and annotation_2 judged 783 links that they were given: kappa is .74 [.68, .78] on what
is a link, and .73 [.68, .78] on what is a sure one. Of the links that they accept they share
90.3% [88.2, 92.1] and 85.7% [82.7, 88.3] of the sure ones (F1, equal words left out). Do not quote
C, nor compare with annotators who drew links: it counts cells that nobody judged."""
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
