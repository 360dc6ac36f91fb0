"""Co-training: rules and paraphrases worked out by hand, properties, and the command."""

from dataclasses import replace

import pytest
from command import made, run
from hypothesis import given
from hypothesis import strategies as st

from alignkit import Alignment, Annotation, Corpus, SentencePair, read_corpus, write_corpus
from alignkit.errors import MissingTextError, OptionError
from alignkit.rules import cotrain
from alignkit.scoring import score_phrase_list

TEXTS = [
    ("I will buy it now", "I will get it now"),
    ("we will see it soon", "we will see it soon"),
    ("they will hear it", "they will hear it"),
    ("you will sell it", "you will see a car"),
]


def pairs_of(texts, **attributes):
    return [
        SentencePair(str(k), a.split(), b.split(), {}, attributes=attributes)
        for k, (a, b) in enumerate(texts)
    ]


def test_rules_and_paraphrases_by_hand():
    result = cotrain(pairs_of(TEXTS), min_count=2, context=1)
    assert result.paraphrases == {(("buy",), ("get",)): 1}
    rules = {(x.source, x.target): (x.positive, x.negative) for x in result.rules}
    between = ("will",), ("it",)
    # see and hear are between will and it, then buy with get: three pairs, none of them wrong
    assert rules[between, between] == (3, 0)
    assert result.rounds == 2
    assert list(result.rows()) == [(("buy",), ("get",), 1.0, 1.0, 1)]


def test_what_is_not_a_paraphrase_weakens_a_rule():
    wrong = ("a red car and a red bus", "a red bus and a red car")
    between = ("red",), ("and",)
    texts = [
        ("a red car and so", "a red car and so"),
        ("a red hut and so", "a red hut and so"),
        wrong,
    ]
    (rule,) = [
        rule
        for rule in cotrain(pairs_of(texts), min_count=1, context=1, strength=0.1).rules
        if rule.source == rule.target == between
    ]
    # car with car, hut with hut; car with bus of the last pair is wrong: both have partners
    assert (rule.positive, rule.negative, rule.strength) == (2, 1, pytest.approx(2 / 3))


def test_contexts_that_the_ends_of_a_sentence_cut_count_once():
    """All contexts of a sentence of one word are the same."""
    texts = [("yes", "yes"), ("no", "nope")]
    assert cotrain(pairs_of(texts), min_count=2).paraphrases == {}
    (rule,) = cotrain(pairs_of(texts[:1]), min_count=1).rules
    assert (rule.positive, rule.negative) == (1, 0)
    # x with x is right; a with b is wrong, as both have partners
    rules = cotrain(pairs_of([("x b", "x a"), ("a b", "b a")]), min_count=1, strength=0.1).rules
    counts = {(x.source, x.target): (x.positive, x.negative) for x in rules}
    assert counts[(("<s>",), ("b", "</s>")), (("<s>",), ("a", "</s>"))] == (1, 1)


def test_contexts_of_parts_of_speech():
    pairs = pairs_of(
        [
            ("we sold cars", "we sold cars"),
            ("men saw us", "men saw us"),
            ("they bought it", "they purchased it"),
        ]
    )
    tags = {"source.upos": "NOUN\tVERB\tNOUN", "target.upos": "NOUN\tVERB\tNOUN"}
    tagged = [replace(pair, attributes=tags) for pair in pairs]
    assert cotrain(tagged, context=1, min_count=2).paraphrases == {(("bought",), ("purchased",)): 1}
    found = cotrain(pairs, context=1, min_count=2)
    assert (found.paraphrases, found.untagged) == ({}, 3)


TEXT = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(" ".join)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5))
def test_sides_and_order_change_nothing(texts):
    options = {"min_count": 1, "context": 2, "strength": 0.5}
    result = cotrain(pairs_of(texts), **options)
    turned = cotrain(pairs_of([pair[::-1] for pair in reversed(texts)]), **options)
    assert turned.paraphrases == {pair[::-1]: n for pair, n in result.paraphrases.items()}
    assert {(x.target, x.source, x.positive, x.negative) for x in turned.rules} == {
        (x.source, x.target, x.positive, x.negative) for x in result.rules
    }
    for first, second in result.paraphrases:
        assert first[0] != second[0]
        assert first[-1] != second[-1]


def test_bad_input():
    with pytest.raises(MissingTextError):
        cotrain([SentencePair("a", None, None, {})])
    for bad in ({"strength": 0.0}, {"min_count": 0}, {"rounds": 0}):
        with pytest.raises(OptionError):
            cotrain(pairs_of(TEXTS), **bad)


def test_the_command(tmp_path, capsys):
    path, out, rules = (tmp_path / name for name in ("pairs.jsonl", "out.tsv", "rules.tsv"))
    write_corpus(Corpus([*pairs_of(TEXTS), SentencePair("x", (), (), {})]), path)
    ran = made(
        capsys, "cotrain", path, "--min-count", 2, "--context", 1, "-o", out, "--rules", rules
    )
    assert out.read_text(encoding="utf-8") == "buy\tget\t1\t1\t1\n"
    assert "will\tit\twill\tit\t3\t0\n" in rules.read_text(encoding="utf-8")
    assert "1 x pair without words" in ran.err
    assert "1 paraphrases, by" in ran.err
    run(capsys, "cotrain", path, "--strength", 2).failed("share from 0 to 1")
    gold = [replace(p, annotations={"gold": Annotation(Alignment([]))}) for p in pairs_of(TEXTS)]
    write_corpus(Corpus(gold), tmp_path / "gold.jsonl")
    scored = made(capsys, "score-phrases", out, tmp_path / "gold.jsonl", "--json").json
    assert scored["kept"] == 1


@pytest.mark.real_data
def test_the_numbers_of_the_page(data):
    pairs = read_corpus(str(data / "edinburgh/gold.train.sure.json"))
    gold = Corpus(
        replace(p, annotations={"gold": next(iter(p.annotations.values()))}) for p in pairs
    )
    found = cotrain(pairs).paraphrases
    entries = [(" ".join(first), " ".join(second)) for first, second in found]
    score = score_phrase_list(entries, gold, ignore_identical=True)
    assert (score.precision, score.recall) == pytest.approx((0.348, 0.039), abs=5e-4)
