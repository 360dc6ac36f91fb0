"""Equal and different words flip at rates of their own, and only in the universe."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_chance import exact, near, stratum
from strategies_agreement import corpora

from alignkit.agreement.chance.models import CHANCE_MODELS, STRATA, EditRates, Edits, count_edits
from alignkit.agreement.chance.sampling import UNITS, Items, Sampling, monte_carlo
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.model.sentence_pair import SentencePair

# at most 9 cells; rates of empty and filled cells, of different and of equal words, of either
TINY = [
    (("aab", "bac", "0-1 2-2"), (0.2, 0.4, 0.3, 0.1, 0.1, 0.6, 0.5, 0.2)),
    (("abc", "abc", "0-0 1-1 2-0"), (0.1, 0.5, 0.2, 0.05, 0.2, 0.3, 0.0, 0.1)),
    (("abc", "xyz", "0-0"), (0.3, 0.2, 0.9, 0.9, 0.15, 0.5, 0.9, 0.9)),
    (("aa", "aaaa", "0-0 1-1"), (0.9, 0.9, 0.2, 0.3, 0.9, 0.9, 0.1, 0.6)),
    (("ab", "ba", ""), (1.0, 0.0, 0.3, 0.0, 0.3, 0.0, 1.0, 0.0)),
]


def sampling(pair, rates, unit="phrases", normalizer="min", kept=False, universe=None):
    source, target, links = pair
    lengths = [(len(source), len(target))]
    bounds = None if universe is None else LinkArrays.pack([Alignment(universe)], lengths)
    return Sampling(
        LinkArrays.pack([Alignment.parse(links)], lengths),
        Items.of([SentencePair("", list(source), list(target))], unit, kept, False),
        np.array([rates], float), normalizer, bounds,
    )  # fmt: skip


def draw(what, samples=4000, **options):
    return monte_carlo(what, samples=samples, seeds=np.random.SeedSequence(1), **options)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("pair", "rates"), TINY)
def test_agrees_with_the_enumeration_of_all_outcomes(pair, rates, unit) -> None:
    source, target, links = pair
    initial, shape = Alignment.parse(links).possible, (len(source), len(target))
    for kept, normalizer in ((False, "min"), (True, "max")):
        truth = exact(initial, *shape, rates, unit=unit, source=source, target=target,
                      include_identical=kept, normalizer=normalizer)  # fmt: skip
        near(draw(sampling(pair, rates, unit, normalizer, kept)).terms(), truth)


UNIVERSES = [{(0, 0), (0, 1), (1, 1)}, {(1, 0)}, set()]


@pytest.mark.parametrize("universe", UNIVERSES)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("pair", "rates"), TINY)
def test_cells_outside_the_universe_stay_as_they_are(pair, rates, unit, universe) -> None:
    source, target, links = pair
    initial = Alignment.parse(links).possible
    truth = exact(initial, len(source), len(target), rates, unit=unit, source=source,
                  target=target, include_identical=True, universe=universe)  # fmt: skip
    terms = draw(sampling(pair, rates, unit, kept=True, universe=universe)).terms()
    near(terms, truth)


def test_flips_come_at_their_rates() -> None:
    rates = [0.03, 0.5, 0.2, 0.9, 0.6, 0.1, 0.4, 0.3]
    pair = ("abcabcabc", "abdabdabdx", "0-0 1-0 3-3 4-5 8-9")
    what = sampling(pair, rates)
    drawn = draw(what, keep=True)
    trials = np.zeros(4)
    for cell in ((i, j) for i in range(9) for j in range(10)):
        trials[stratum(cell, Alignment.parse(pair[2]).possible, *pair[:2])] += 1
    trials, p = np.tile(trials, 2), np.array(rates)
    error = np.sqrt(trials * p * (1 - p) / 4000)
    assert (abs(drawn.records[0, :, 3:].mean(axis=0) - trials * p) < 4 * error + 1e-12).all()


@settings(max_examples=60)
@given(corpora(("initial", "A"), complete=True), st.booleans(), st.randoms())
def test_edits_equal_a_plain_count(corpus, bounded, random) -> None:
    pairs = list(corpus)
    lengths = [pair.lengths for pair in pairs]
    cells = [[(i, j) for i in range(n) for j in range(m)] for n, m in lengths]
    judged = [{cell for cell in every if random.random() < 0.6} for every in cells]
    words = Items.of(pairs, "links", True, False)
    found = count_edits(
        np.arange(len(pairs)),
        *(LinkArrays.pack([pair.alignment(name) for pair in pairs], lengths)
          for name in ("A", "initial")),
        words.source, words.target,
        LinkArrays.pack([Alignment(one) for one in judged], lengths) if bounded else None,
    )  # fmt: skip
    trials, flips = np.zeros((2, len(pairs), 4), int)
    for k, pair in enumerate(pairs):
        sides = [[word.casefold() for word in side] for side in pair.words]
        initial, mine = (set(pair.alignment(name).possible) for name in ("initial", "A"))
        for cell in judged[k] if bounded else cells[k]:
            place = stratum(cell, initial, *sides)
            trials[k, place] += 1
            flips[k, place] += (cell in initial) != (cell in mine)
    assert found.trials.tolist() == trials.tolist()
    assert found.flips.tolist() == flips.tolist()
    assert found.words.tolist() == [n + m for n, m in lengths]


def edits():
    trials = np.array([[10, 2, 3, 1], [20, 4, 6, 0]])
    return Edits(np.arange(2), np.array([8, 11]), trials, np.array([[1, 2, 0, 0], [3, 1, 2, 0]]))


def test_add_and_delete_rates_are_shares_of_empty_and_filled_cells() -> None:
    assert edits().rates == EditRates(6 / 39, 3 / 7, 2)
    nothing = Edits(np.arange(1), np.array([2]), np.array([[1, 0, 0, 0]]), np.zeros((1, 4), int))
    assert nothing.rates.add == 0
    assert np.isnan(nothing.rates.delete)


def test_each_stratum_has_a_model_and_the_other_models_add_strata_up() -> None:
    strata = CHANCE_MODELS["edit-strata"].fit(edits(), reading="count")
    assert tuple(strata) == STRATA
    assert strata["add"].data.edits.tolist() == [1, 3]
    assert strata["delete-equal"].data.trials.tolist() == [1]  # no trials, no part in the fit
    split = CHANCE_MODELS["edit-split"].fit(edits(), reading="count")
    assert split["add"].data.trials.tolist() == [13, 26]
    assert CHANCE_MODELS["edit"].fit(edits(), reading="count")["edit"].data.edits.tolist() == [3, 6]
    rates = CHANCE_MODELS["edit-strata"].rates(strata, edits().words, edits().trials)
    assert rates == pytest.approx(np.array([[0.1, 1, 0, 0], [3 / 20, 1 / 4, 2 / 6, 0]]))
