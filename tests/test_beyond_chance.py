"""C under several models at once is C under each; what has no value or interval says why."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import FULL
from strategies_agreement import corpora, edited_corpus

from alignkit import Alignment, Corpus, SentencePair
from alignkit.agreement import CHANCE_MODELS, AgreementOptions
from alignkit.agreement.chance.corpus import CorpusBeyondChance
from alignkit.agreement.chance.two_annotators import Section, beyond_chance_by_model
from alignkit.agreement.pairs import CorpusData

ROWS = [
    ("0-0 1-1", "0-0 1-1 2-2", "0-0 1-2 2-1"),
    ("0-0", "0-1 1-1", "0-0 1-1"),
    ("0-0 1-1 2-2", "0-0 1-1", "0-0 2-2"),
    ("0-0", "0-0", ""),
    ("0-0", "", ""),
]
EDITS = ("edit", "edit-split", "edit-strata")


def corpus(rows):
    return edited_corpus(*rows, target="xby")


def prepared(pairs, names=("A", "B"), halves=False, level="phrases.sure", **options):
    chosen = AgreementOptions(**{"samples": 60, "resamples": 40, "seed": 1, **options})
    what = CorpusBeyondChance(CorpusData(pairs), "initial", (), chosen, ())
    places = what.edited_places(names)
    sets = what.paired_sets(names, level, places, with_edits=True)
    count = len(sets)
    sections = [Section("all", len(pairs), np.ones(count, bool), {"not annotated": 2})]
    if halves:
        sections += [Section(str(k), count, np.arange(count) % 2 == k, {}) for k in (0, 1)]
    return sets, chosen, sections


def measure(pairs, first="A", second="B", chance="edit", **options):
    sets, chosen, sections = prepared(pairs, (first, second), **options)
    return beyond_chance_by_model(sets, [chance], chosen, sections)[chance]


@settings(max_examples=60 if FULL else 6)
@given(
    corpora(("initial", "A", "B"), complete=True),
    st.sampled_from(["phrases.sure", "words.sure"]),
    st.sampled_from(["fixed", "refit"]),
    st.sampled_from(["macro", "micro"]),
)
def test_several_models_at_once_give_what_each_gives_alone(pairs, level, bootstrap, how) -> None:
    options = {"bootstrap": bootstrap, "aggregate": how, "samples": 20, "resamples": 10}
    what, chosen, sections = prepared(pairs, halves=True, level=level, **options)
    together = beyond_chance_by_model(what, list(CHANCE_MODELS), chosen, sections)
    assert list(together) == list(CHANCE_MODELS)
    for name, found in together.items():
        alone = beyond_chance_by_model(what, [name], chosen, sections)[name]
        assert (found.to_json(), found.chance) == (alone.to_json(), name)
        assert (found.used, found.one_sided) == (alone.used, alone.one_sided)
    first, *rest = together.values()
    for other in rest:  # what is observed does not depend on chance, unless all samples are empty
        if other.used == first.used:
            assert other.pi == first.pi or isnan(first.pi)


def test_pairs_are_counted() -> None:
    found = measure(corpus(ROWS), chance="kupper-hafner")
    assert (found.pairs, found.used, found.both_empty, found.one_sided) == (5, 4, 1, 1)
    assert found.to_json()["pairs"] == {
        "all": 5,
        "used": 4,
        "one_sided": 1,
        "left_out": {"not annotated": 2, "both sets empty": 1},
    }


def test_rates_of_edits_stand_beside_c_under_every_model() -> None:
    what, chosen, sections = prepared(corpus(ROWS))
    models = beyond_chance_by_model(what, list(CHANCE_MODELS), chosen, sections)
    for found in models.values():
        # of 45 cells 8 are links at first; A adds 2-2, 0-1, 1-1 and deletes 0-0, 2-2, 0-0
        assert (found.rates["A"].add, found.rates["A"].delete) == (3 / 37, 3 / 8)
        # B adds 1-2, 2-1, 1-1 and deletes 1-1, 1-1, 0-0, 0-0
        assert (found.rates["B"].add, found.rates["B"].delete) == (3 / 37, 4 / 8)
        assert found.left_out == {"not annotated": 2, "both sets empty": 1}


@pytest.mark.parametrize("chance", CHANCE_MODELS)
def test_one_pair_or_resamples_all_alike_have_no_interval(chance: str) -> None:
    one = measure(corpus(ROWS[:1]), chance=chance)
    assert (one.interval, one.used) == (None, 1)
    assert "one sentence pair" in one.no_interval
    alike = measure(corpus([("0-0", "0-0 1-2", "0-0 2-1")] * 5), chance="kupper-hafner")
    assert alike.interval is None
    assert alike.no_interval == "all resamples give the same value"
    spread = measure(corpus(ROWS), chance=chance)
    assert spread.interval.low < spread.interval.high
    assert spread.no_interval == ""
    assert measure(corpus(ROWS), chance=chance, bootstrap="none").no_interval == ""


def test_different_words_at_random_agree_by_chance_alone() -> None:
    rng, pairs = np.random.default_rng(0), []
    for number in range(120):
        words = [f"w{k}" for k in range(8)]
        other = [word if rng.random() < 0.6 else f"v{k}" for k, word in enumerate(words)]
        start = {(k, k) for k in range(8)}
        made = {"initial": Alignment(start)}
        for name in "AB":
            flips = rng.random((8, 8)) < 0.02
            flips |= np.eye(8, dtype=bool) & (rng.random((8, 8)) < 0.5)
            flips &= np.array(
                [[w != o or i != j for j, o in enumerate(other)] for i, w in enumerate(words)]
            )
            made[name] = Alignment(start ^ {(int(i), int(j)) for i, j in np.argwhere(flips)})
        pairs.append(SentencePair(str(number), words, other, made))
    options = {"reading": "probability", "samples": 300, "resamples": 200}
    what, chosen, sections = prepared(Corpus(pairs), level="words.sure", **options)
    found = beyond_chance_by_model(what, EDITS, chosen, sections)
    assert found["edit"].C < -0.5
    assert found["edit-split"].C < -0.2
    assert abs(found["edit-strata"].C) < 0.1
    assert found["edit-strata"].interval.low < 0 < found["edit-strata"].interval.high
