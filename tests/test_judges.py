"""The model of judges: its numbers, a plain reference, and simulations."""

import numpy as np
import pytest
from command import made, run
from hypothesis import given, settings
from hypothesis import strategies as st

from alignkit import Annotation, Corpus, SentencePair, read_corpus, write_corpus
from alignkit.agreement import fit_judges
from alignkit.errors import OptionError


def example():
    """Make the three annotators of the page on judgments."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 60)
    rows = [
        np.where(rng.random(60) < known, truth, rng.integers(0, 2, 60)) for known in (0.8, 0.8, 0)
    ]
    return np.array(rows)


def test_the_numbers_of_the_page():
    values = example()
    judges = fit_judges(values, 2)
    assert judges.right == pytest.approx([0.9062, 0.9110, 0.5117], abs=5e-5)
    assert judges.pi == pytest.approx([0.5472, 0.4528], abs=5e-5)
    spread = [0.0504, 0.0502, 0.0700]
    assert judges.interval[:, 0] == pytest.approx(judges.right - 1.96 * np.array(spread), abs=3e-4)
    of = {tuple(votes): judges.posterior[p, 1] for p, votes in enumerate(values.T.tolist())}
    expected = {(0, 1, 1): 0.4788, (1, 1, 0): 0.9874, (1, 0, 0): 0.4270, (1, 0, 1): 0.4499}
    assert {votes: of[votes] for votes in expected} == pytest.approx(expected, abs=5e-5)


def plain(values, labels, rounds):
    """Do the same with loops."""
    pairs = range(len(values[0]))
    q = []
    for p in pairs:
        votes = [sum(row[p] == k for row in values) + 0.01 for k in range(labels)]
        q.append([x / sum(votes) for x in votes])
    for _ in range(rounds):
        right = []
        for row in values:
            judged = [p for p in pairs if row[p] >= 0]
            hits = sum(q[p][row[p]] for p in judged)
            right.append((hits + 2 * labels) / (len(judged) + 3 * labels))
        pi = [(sum(q[p][k] for p in pairs) + 1) / (len(pairs) + labels) for k in range(labels)]
        for p in pairs:
            weights = []
            for k in range(labels):
                weight = pi[k]
                for r, row in zip(right, values, strict=True):
                    if row[p] >= 0:
                        weight *= r if row[p] == k else (1 - r) / (labels - 1)
                weights.append(weight)
            q[p] = [x / sum(weights) for x in weights]
    return right, pi, q


@settings(max_examples=20, deadline=None)
@given(
    st.integers(2, 3).flatmap(
        lambda k: st.tuples(
            st.just(k),
            st.lists(
                st.lists(st.integers(-1, k - 1), min_size=14, max_size=14), min_size=3, max_size=4
            ),
        )
    )
)
def test_the_fit_is_that_of_a_plain_loop(case):
    labels, values = case
    values = [[*([0] * 10), *row] for row in values]
    judges = fit_judges(np.array(values), labels)
    right, pi, q = plain(values, labels, judges.rounds)
    assert judges.right == pytest.approx(right)
    assert judges.pi == pytest.approx(pi)
    assert judges.posterior == pytest.approx(np.array(q))
    assert judges.posterior.sum(1) == pytest.approx(1)


def test_gold_is_kept_and_teaches():
    values = example()
    gold = np.where(np.arange(60) < 20, 1 - values[0], -1)
    judges = fit_judges(values, 2, gold)
    assert judges.posterior[:20].argmax(1).tolist() == gold[:20].tolist()
    assert judges.right[0] < fit_judges(values, 2).right[0]


def test_what_the_model_cannot_say():
    values = example()
    with pytest.raises(OptionError, match="3 judges"):
        fit_judges(values[:2], 2)
    with pytest.raises(OptionError, match="a judge gave 9 labels"):
        fit_judges(np.where(np.arange(60) < 51, [[0], [0], [-1]], values), 2)


@pytest.mark.parametrize(
    ("values", "gold"),
    [
        (np.full((3, 12), 2), None),
        (np.zeros((3, 12), int), [5] * 12),
        (np.zeros((3, 12), int), [0] * 9),
        (np.zeros(12, int), None),
    ],
    ids=["label", "gold", "length", "shape"],
)
def test_wrong_arrays_are_refused(values, gold):
    with pytest.raises(OptionError):
        fit_judges(values, 2, None if gold is None else np.array(gold))


@pytest.fixture
def crowd(tmp_path):
    pairs = [
        SentencePair(
            f"p{k}",
            ("a",),
            ("b",),
            {
                name: Annotation(None, judgment=str(label))
                for name, label in zip(
                    ("ann", "ben", "eve", "gold"), (*votes, votes[0]), strict=True
                )
                if name != "gold" or k < 12
            },
        )
        for k, votes in enumerate(example().T.tolist())
    ]
    write_corpus(Corpus(pairs), tmp_path / "crowd.jsonl")
    return tmp_path / "crowd.jsonl"


def test_quality_with_a_model(crowd, capsys):
    base = "quality", crowd, "--gold", "gold", "--scheme", "binary"
    ran = made(capsys, *base, "--model", "--json")
    gold = np.where(np.arange(60) < 12, example()[0], -1)
    judges = fit_judges(example(), 2, gold)
    assert [row["model"] for row in ran.json["annotators"]] == pytest.approx(judges.right.tolist())
    doubt = judges.posterior.max(1)
    again = [doubt[int(row["pair"][1:])] for row in ran.json["again"]]
    assert again == sorted(again)
    cautions = " ".join(ran.json["cautions"])
    assert "hard for everybody" in cautions
    assert "the model is wrong" in cautions
    assert "model" not in made(capsys, *base, "--json").json["annotators"][0]
    assert "right (model)" in made(capsys, *base, "--model").out
    run(capsys, *base, "--model", "--annotators", "ann", "ben").failed("needs 3 judges")


def test_the_labels_of_the_model_are_stored(crowd, capsys, tmp_path):
    base = "quality", crowd, "--gold", "gold", "--scheme", "binary"
    stored = tmp_path / "settled.jsonl"
    made(capsys, *base, "--model", "--consensus", stored)
    judges = fit_judges(example(), 2, np.where(np.arange(60) < 12, example()[0], -1))
    for pair, posterior in zip(read_corpus(stored), judges.posterior, strict=True):
        annotation = pair.annotations["model"]
        assert (annotation.judgment, annotation.role) == (str(posterior.argmax()), "system")
        assert float(pair.attributes["model.probability"]) == pytest.approx(
            posterior.max(), abs=1e-4
        )
    run(capsys, *base, "--consensus", stored).failed("add --model")
    run(capsys, "quality", stored, *base[2:], "--model").failed("has an annotator 'model'")


def test_the_interval_has_the_confidence_asked_for():
    wide, narrow = (fit_judges(example(), 2, confidence=c).interval[2] for c in (0.95, 0.5))
    assert np.diff(narrow) == pytest.approx(np.diff(wide) * 0.6745 / 1.96, rel=1e-4)


def accuracies(rng, labels, each, guessers, shares=None, judges=20, pairs=400, rounds=20):
    """Simulate judges of .7 to .95; return the accuracy of the majority and of the model."""
    right = []
    for _ in range(rounds):
        truth = rng.choice(labels, pairs, p=shares)
        skill = np.r_[rng.uniform(0.7, 0.95, judges - guessers), np.full(guessers, 1 / labels)]
        values = np.full((judges, pairs), -1)
        for p in range(pairs):
            who = rng.choice(judges, each, replace=False)
            other = (truth[p] + rng.integers(1, labels, each)) % labels
            values[who, p] = np.where(rng.random(each) < skill[who], truth[p], other)
        fitted = fit_judges(values, labels)
        inside = (fitted.interval[:, 0] <= skill) & (skill <= fitted.interval[:, 1])
        votes = (
            np.array([(values == k).sum(0) for k in range(labels)])
            + rng.random((labels, pairs)) / 2
        )
        guesses = np.argmax(votes, 0), fitted.posterior.argmax(1)
        right.append([*((guess == truth).mean() for guess in guesses), inside.mean()])
    return np.mean(right, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "gain"),
    [
        ({"labels": 2, "each": 3, "guessers": 5}, 0.02),
        ({"labels": 4, "each": 5, "guessers": 5}, 0.003),
        ({"labels": 2, "each": 5, "guessers": 5, "shares": [0.9, 0.1]}, 0.015),
        ({"labels": 2, "each": 3, "guessers": 0}, -0.01),
    ],
    ids=["guessers", "four labels", "rare label", "nobody guesses"],
)
def test_intervals_cover_and_the_model_beats_the_majority(case, gain):
    majority, model, covered = accuracies(np.random.default_rng(7), **case)
    assert 0.93 < covered < 0.99
    assert model > majority + gain
