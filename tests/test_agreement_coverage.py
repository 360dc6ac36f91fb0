"""How often intervals of precision, recall and F1 cover the truth, in samples of a population.

The population is a corpus, from which sentence pairs are drawn with replacement. Samples without
an interval, because nothing differs in them, do not count::

    ALIGNKIT_DATA=FOLDER pytest -m slow tests/test_agreement_coverage.py
"""

import numpy as np
import pytest
from agreement_goldens import goldalign, rte2
from command import PARAPHRASES

from alignkit import read_corpus
from alignkit.agreement.overlaps import OVERLAP
from alignkit.agreement.pairs import CorpusData, PairData
from alignkit.stats.clusters import jackknife_interval

REPETITIONS = 1000
NOISE = 0.006  # of so many repetitions, subtracted from what must be covered
SIZES = (22, 60, 200, 400)


def covered(corpus, annotators, level, sizes=SIZES, seed=1):
    """Return the share of intervals that cover the truth, and their mean width, by measure."""
    data = PairData.of(CorpusData(corpus), annotators, ignore_identical=True)
    (statistic,) = (x for x in OVERLAP if x.level == level)
    population = statistic.rows(data)
    truth = population.figures()
    rng = np.random.default_rng(seed)
    shares = {}
    for size in sizes:
        hits = {name: [] for name in truth}
        widths = {name: [] for name in truth}
        for _ in range(REPETITIONS):
            counts = population.counts[rng.integers(len(data), size=size)]
            total = counts.sum(axis=0, keepdims=True)
            weights = counts[:, list(statistic.sizes)].sum(axis=1)
            left_out = population.measure(total - counts)
            for name, values in population.measure(total).items():
                low, high = jackknife_interval(float(values[0]), left_out[name], weights, 0.95)
                if not np.isnan(low):
                    hits[name].append(low <= truth[name] <= high)
                    widths[name].append(high - low)
        for name in truth:
            shares[name, size] = float(np.mean(hits[name])), float(np.mean(widths[name]))
    return shares


def must_cover(shares, least):
    low = {key: share for key, (share, _) in shares.items() if share < least - NOISE}
    assert not low, low


@pytest.mark.slow
@pytest.mark.parametrize("level", ["words.sure", "words.eq2", "phrases.sure"])
def test_intervals_of_the_samples_cover(level):
    shares = covered(read_corpus(PARAPHRASES), ("anna", "ben"), level, sizes=(60, 200))
    must_cover({key: share for key, share in shares.items() if key[0] == "f1"}, 0.915)


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("annotators", [("A", "B"), ("A", "C")])
@pytest.mark.parametrize("level", ["words.sure", "words.eq2"])
def test_intervals_of_rte2_cover_and_are_not_wide(data, annotators, level):
    shares = covered(rte2(data), annotators, level)
    must_cover(
        {key: share for key, share in shares.items() if key[0] == "f1" and key[1] > 22}, 0.93
    )
    assert shares["f1", 22][1] < 0.42
    assert shares["f1", 400][1] < 0.09


@pytest.mark.slow
@pytest.mark.real_data
def test_intervals_of_goldalign_cover_as_the_page_says(data):
    """Two of 612 pairs have half of the missed sure links: most samples of 200 lack them."""
    shares = covered(goldalign(data), ("A", "B"), "words.eq2")
    must_cover({key: x for key, x in shares.items() if key[1] == 60 or key[0] == "precision"}, 0.92)
    must_cover({key: x for key, x in shares.items() if key[0] in ("recall", "f1")}, 0.84)
    assert shares["recall", 400][0] < 0.9  # what the page and the report warn of
    sure = covered(goldalign(data), ("A", "B"), "words.sure")
    must_cover({key: share for key, share in sure.items() if key[0] == "f1"}, 0.925)
