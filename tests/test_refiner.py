"""Learning from gold: features, fits, cross-validation, what is saved."""

from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np
import pytest
from command import PARAPHRASES
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from scipy.optimize import minimize
from scipy.special import logit

from alignkit import Alignment, Corpus, SentencePair, read_corpus
from alignkit.align import Aligner
from alignkit.align.bitext import Bitext
from alignkit.align.expectation import Workers
from alignkit.align.model_files import read_model, write_model
from alignkit.align.model_learned import arrays_of
from alignkit.align.supervised import Prior, Refiner, measures
from alignkit.align.supervised.cells import CELL, GoldCounts, GoldLexicon, lexicon_columns, names_of
from alignkit.align.supervised.fitting import _regression, fit, mean_of, validate
from alignkit.align.supervised.gold import GoldPairs
from alignkit.align.supervised.learned import KINDS, mean_of_log_odds, weight_of
from alignkit.align.supervised.measures import GRID, calibration_error, measure, resampled, rows_of
from alignkit.align.supervised.network_kernel import (
    TrainedLayer,
    linear_logits,
    network_logits,
    train_epoch,
)
from alignkit.errors import AlignerError, FormatError, OptionError, UnknownNameError
from alignkit.scoring import score


@pytest.fixture(scope="module")
def corpus():
    return read_corpus(PARAPHRASES)


@pytest.fixture(scope="module")
def aligner(corpus):
    return Aligner.train(corpus, identity=3)


@pytest.fixture(scope="module")
def gold(aligner, corpus):
    return GoldPairs(aligner, None).add(corpus[:24], "gold").gold()


@pytest.fixture(scope="module")
def refiner(aligner, corpus):
    return Refiner.train(aligner, corpus[:24], ignore_identical=True)


def letters(words):
    """Return vectors that tell which letters a word has: alike for words that are spelled alike."""
    return np.array([[word.count(chr(97 + k)) for k in range(26)] for word in words], float)


def subsequence(one, other):
    line = [0] * (len(other) + 1)
    for letter in one:
        before = line[:]
        for k, counterpart in enumerate(other, start=1):
            line[k] = before[k - 1] + 1 if letter == counterpart else max(before[k], line[k - 1])
    return line[-1]


def test_features_are_what_their_names_say(aligner, corpus, gold):
    cells, column = gold.cells, {name: k for k, name in enumerate(CELL)}
    pair = corpus[3]
    forward, reverse = aligner.posteriors(*pair.words)
    means = np.minimum((forward + reverse) / 2, 1)
    source, target = ([word.casefold() for word in side] for side in pair.words)
    assert cells.ends[4] > cells.ends[3]
    for k in range(cells.ends[3], cells.ends[4]):
        (i, j), told = cells.places[k], cells.features[k]
        rivals = np.delete(means[i], j), np.delete(means[:, j], i)
        one, other = source[i], target[j]
        longest = max(len(one), len(other))
        prefix = SequenceMatcher(None, one, other).find_longest_match(0, len(one), 0, len(other))
        common = prefix.size if prefix.a == prefix.b == 0 else 0
        expected = {
            "mean": means[i, j],
            "minimum": min(forward[i, j], reverse[i, j]),
            "row_rival": rivals[0].max(initial=0),
            "column_rival": rivals[1].max(initial=0),
            "row_rest": rivals[0].sum(),
            "source_null": max(0, 1 - reverse[i].sum()),
            "target_null": max(0, 1 - forward[:, j].sum()),
            "identical": one == other,
            "subsequence": 2 * subsequence(one, other) / (len(one) + len(other)),
            "square": means[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2].sum(),
            "before_both": means[i - 1, j - 1] if i and j else 0,
            "off_diagonal": abs((i + 0.5) / len(source) - (j + 0.5) / len(target)),
        }
        if common or one[0] != other[0]:
            expected["prefix"] = common / longest
        for name, value in expected.items():
            assert told[column[name]] == pytest.approx(float(value), abs=2e-6), (name, one, other)


def test_words_alone_are_told_as_by_a_model_without_places(corpus):
    bitext = Bitext.pack([pair.words for pair in corpus[:6]])
    chain = Aligner.train(corpus, identity=3)
    for one, same in ((Aligner.train(corpus, model="ibm1", identity=3), True), (chain, False)):
        decoder = one.decoder(bitext)
        pairs = zip(decoder.lexical(0, 6), decoder.posteriors(0, 6), strict=True)
        assert all((lexical == found).all() == same for lexical, found in pairs)
    cells = GoldPairs(chain, None).add(corpus[:6], "gold").gold().cells
    forward, reverse = (
        part[
            bitext.starts[cells.pair_of]
            + cells.places[:, 0] * cells.lengths[cells.pair_of, 1]
            + cells.places[:, 1]
        ]
        for part in chain.decoder(bitext).lexical(0, 6)
    )
    told = cells.features[:, CELL.index("lexical_mean")]
    assert told == pytest.approx((np.minimum(forward, 1) + np.minimum(reverse, 1)) / 2, abs=1e-6)
    odds = cells.features[:, CELL.index("logit_lexical_forward")]
    assert odds == pytest.approx(logit(np.clip(forward, 1e-6, 1 - 1e-6)), rel=2e-2)


def test_few_links_are_no_candidates_and_a_known_calibration_error(gold):
    assert (gold.levels == 2).sum() > 0.97 * gold.links.sure.sum()
    assert len(gold.levels) < 0.5 * gold.cells.lengths.prod(axis=1).sum()
    goals = np.array([1, 1, 0, 0, -1, 0], np.float32)
    probabilities = np.array([0.85, 0.85, 0.85, 0.25, 0.95, 0.05], np.float32)
    # of four cells: three of .85 with 2 right, 3 x .85 - 2 = .55, and one of .25 with none
    assert calibration_error(goals, probabilities) == pytest.approx((0.55 + 0.25) / 4, abs=1e-6)


@given(seed=st.integers(0, 2**32 - 1), ridge=st.sampled_from([0.1, 3.0, 300.0]))
def test_regression_is_at_the_minimum(seed, ridge):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 3)).astype(np.float32)
    offset = rng.normal(size=60)
    goals = rng.integers(0, 2, 60).astype(np.float32)

    def loss(weights):
        z = offset + rows @ weights[:-1] + weights[-1]
        penalty = ridge * (weights[:-1] ** 2).sum() + 1e-3 * weights[-1] ** 2
        return float((np.logaddexp(0, z) - goals * z).sum() + penalty / 2)

    weights, bias = _regression(rows, offset, goals, ridge)
    assert loss(np.append(weights, bias)) <= minimize(loss, np.zeros(4), tol=1e-9).fun + 1e-5


def test_a_step_of_the_network_goes_down_its_gradient():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(8, 5)).astype(np.float32)
    goals = rng.integers(0, 2, 8).astype(np.float32)
    first = rng.normal(size=(6, 24)).astype(np.float32)
    second = rng.normal(size=25).astype(np.float32)
    hidden = np.maximum(rows @ first[:-1] + first[-1], 0)
    z = hidden @ second[:-1] + second[-1]
    logits = np.zeros(8)
    network_logits(rows, first, second, logits)
    assert logits == pytest.approx(z, abs=1e-4)
    back = (1 / (1 + np.exp(-z)) - goals)[:, None] * second[:-1] * (hidden > 0)
    slopes = np.vstack([rows.T @ back, back.sum(axis=0)])
    inputs = np.zeros((8, 8), np.float32)  # the features, 1 for the bias, and nothing
    inputs[:, :5], inputs[:, 5] = rows, 1
    weights = np.zeros((24, 64), np.float32)
    weights[:, :6] = first.T
    layers = [
        TrainedLayer(layer, np.zeros_like(layer), np.zeros_like(layer))
        for layer in (weights, second)
    ]
    before = weights.copy()
    order, scale = np.arange(8), np.ones(8, np.float32)
    assert train_epoch(inputs, goals, scale, order, 0.01, 0.0, 0, *layers) == 1
    moved = (weights - before)[:, :6].T
    clear = np.abs(slopes) > 1e-3  # Adam's first step is the rate, against the gradient's sign
    assert moved[clear] == pytest.approx(-0.01 * np.sign(slopes[clear]), abs=1e-4)
    assert not weights[:, 6:].any()
    # the moving mean of slopes is a tenth of the first, over the eight rows
    assert pytest.approx(0.1 * slopes / 8, rel=1e-3, abs=1e-6) == layers[0].mean[:, :6].T


def test_what_a_round_says_of_a_cell_does_not_depend_on_those_beside_it():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(150, 7)).astype(np.float32)
    first = rng.normal(size=(8, 24)).astype(np.float32)
    second = rng.normal(size=25).astype(np.float32)
    weights = rng.normal(size=7)
    together = np.zeros((2, 150))
    network_logits(rows, first, second, together[0])
    linear_logits(rows, weights, 0.5, together[1])
    assert together[1] == pytest.approx(rows @ weights + 0.5)
    for begin, end in ((0, 1), (1, 66), (66, 150)):
        apart = np.zeros((2, end - begin))
        network_logits(rows[begin:end], first, second, apart[0])
        linear_logits(rows[begin:end], weights, 0.5, apart[1])
        assert (apart == together[:, begin:end]).all()


def test_the_lexicon_of_gold_leaves_the_own_pair_out(gold):
    goals = gold.goals
    training = np.arange(len(gold)) % 3 > 0
    features = gold.cells.features.copy()
    GoldCounts(gold.cells, goals).set_features(features, training)
    columns = lexicon_columns(features)
    pair_of, words, mean = gold.cells.pair_of, gold.cells.words, gold.cells.features[:, 0]
    for k in range(0, len(goals), 97):
        others = training[pair_of] & (pair_of != pair_of[k])
        for offset, same in enumerate(
            [
                (words == words[k]).all(axis=1),
                words[:, 0] == words[k, 0],
                words[:, 1] == words[k, 1],
            ]
        ):
            kept = others & same
            linked, expected, cells = goals[kept].sum(), mean[kept].sum(), kept.sum()
            value = np.log((linked + 0.5) / (expected + 0.5)) - np.log(
                (cells - linked + 0.5) / (max(cells - expected, 0) + 0.5)
            )
            assert features[k, columns.start + offset] == pytest.approx(value, abs=1e-4)


def test_the_stored_lexicon_tells_other_pairs_what_the_counts_told(aligner, corpus):
    pairs = list(corpus[:30])
    whole = GoldPairs(aligner, None).add(pairs, "gold").gold()
    features = whole.cells.features.copy()
    GoldCounts(whole.cells, whole.goals).set_features(features, np.arange(30) < 20)
    taught = GoldPairs(aligner, None).add(pairs[:20], "gold").gold()
    known, others = taught.bitext, GoldPairs(aligner, None).add(pairs[20:], "gold").gold()
    words = known.source.words, known.target.words
    lexicon = GoldLexicon.of(taught.cells, taught.goals, *words)
    lexicon.check()
    lexicon.set_features(others.cells, lexicon.numbers(others.bitext))
    columns = lexicon_columns(features)
    expected = features[whole.cells.pair_of >= 20, columns]
    assert others.cells.features[:, columns] == pytest.approx(expected, abs=1e-5)


def test_measures_are_those_of_score(gold, aligner, corpus):
    means = gold.cells.probabilities
    least = aligner.settings.threshold
    links = aligner.align_bitext([pair.words for pair in corpus[:24]])
    pairs = [
        pair.with_annotation("system", Alignment(links.alignment(k).sure))
        for k, pair in enumerate(corpus[:24])
    ]
    told = score(Corpus(pairs), "system", "gold")
    rows = rows_of(gold, means, least).sum(axis=0)
    assert measure("links", rows) == pytest.approx(told.links.f1)
    assert 1 - measure("aer", rows) == pytest.approx(told.links.aer)
    other = replace(gold, ignore_identical=True)
    bare = score(Corpus(pairs), "system", "gold", level="both", ignore_identical=True)
    rows = rows_of(other, means, least).sum(axis=0)
    assert measure("links", rows) == pytest.approx(bare.links.f1)
    phrases = rows_of(replace(gold, objective="phrases"), means, least).sum(axis=0)
    assert measure("phrases", phrases) == pytest.approx(bare.phrases["sure"].f1)


@pytest.mark.parametrize(
    ("objective", "possible", "expected"),
    [
        ("aer", True, 0.475),
        ("links", False, 0.475),
        ("links", True, 0.25),
        ("phrases", False, 0.25),
    ],
)
def test_where_thresholds_are_alike_half_the_measure_is_taken(objective, possible, expected):
    rows = np.tile(np.array([100, 94, 100, 94]), (len(GRID), 1, 1))  # F1 and 1 - AER: .94
    rows[8, 0] = [100, 95, 100, 95]  # a little better at .25
    assert GRID[measures.best_threshold(objective, rows, possible=possible)] == pytest.approx(
        expected
    )


def test_the_interval_of_two_pairs_is_that_of_student():
    rows = np.array([[10, 9, 10, 9], [10, 7, 10, 7]])
    _, _, gain, gaining = resampled("links", rows - [0, 2, 0, 2], rows)
    # each pair gains as much
    assert (gain.value, gain.low, gain.high) == pytest.approx((0.2, 0.2, 0.2))
    assert gaining == 1
    told, _, _, _ = resampled("links", rows, rows)
    # the most that two resamples differ is .2; t(1) / z = 12.7062 / 1.95996, the root of 2 / 1
    away = 0.2 * 12.7062 / 1.95996 * 2**0.5 / (0.8 * 0.2)
    assert told.high == pytest.approx(1 / (1 + np.exp(-away - np.log(4))), abs=1e-5)
    error, _, _, _ = resampled("aer", rows, rows)
    assert error.low == pytest.approx(1 - told.high)


def test_learning_tells_what_it_gained(refiner):
    report = refiner.report
    weight = min(1, 1.5 * report.gaining) * (1 - (3.5 / 24) ** 2)
    assert report.weight == pytest.approx(weight)
    assert report.used
    assert report.gain.value == pytest.approx(report.after.value - report.before.value)
    assert report.before.low < report.before.value < report.before.high
    assert report.calibration[1] < report.calibration[0]
    assert "on 24 pairs" in str(report)
    used = f"better in {int(100 * report.gaining)}% of the resamples: weight {weight - 0.005:.2f}"
    assert f"({used}, the rest" in str(report)
    for share, told in ((0.5965, "; better in 59% of"), (0.29, "in 29% of"), (0.0, "in 0% of")):
        assert told in replace(report, used=False, gaining=share).verdict
    few = replace(report, used=False, weight=0.0999)
    assert few.verdict.endswith("of the resamples: weight 0.09, 0.10 is needed)")


def plain_mean(weight, p, q, least=0.001):
    """Return the probability whose log odds are the mean of those of p and q."""
    p, q = min(max(p, 0.001), 0.999), min(max(q, least), 1 - least)
    odds = (p / (1 - p)) ** weight * (q / (1 - q)) ** (1 - weight)
    return odds / (1 + odds)


def test_a_mean_of_log_odds_by_hand():
    """Odds of 9 and 1, half each, are odds of 3; with 10 pairs and half of the resamples, .658."""
    nine, even = np.array([[0.9], [0.5]], np.float32)
    assert mean_of_log_odds(0.5, nine, even) == pytest.approx(0.75, abs=1e-6)
    assert weight_of(0.5, 10) == pytest.approx(0.75 * 0.8775)
    assert weight_of(1.0, 7) == pytest.approx(0.75)
    assert weight_of(0.0, 1000) == 0


PROBABILITIES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9)


@given(both=PROBABILITIES, weight=st.floats(0, 1))
def test_the_mean_is_between_both_and_weight_one_is_the_first(both, weight):
    first, second = np.array(both, np.float32).T.copy()
    mean = mean_of_log_odds(weight, first, second)
    expected = [plain_mean(weight, float(p), float(q)) for p, q in zip(first, second, strict=True)]
    assert mean == pytest.approx(expected, abs=2e-6)
    clipped = [np.clip(x, 0.001, 0.999) for x in (first, second)]
    assert (mean >= np.minimum(*clipped) - 2e-6).all()
    assert (mean <= np.maximum(*clipped) + 2e-6).all()
    assert mean_of_log_odds(1.0, first, second) == pytest.approx(clipped[0], abs=2e-6)
    assert mean_of_log_odds(0.0, first, second) == pytest.approx(clipped[1], abs=2e-6)
    assert mean_of_log_odds(1 - weight, second, first) == pytest.approx(mean, abs=2e-6)


@given(gaining=st.floats(0, 1), pairs=st.integers(5, 10_000))
def test_the_weight_grows_with_what_is_known(gaining, pairs):
    weight = weight_of(gaining, pairs)
    assert 0 <= weight < 1
    assert weight_of(gaining, pairs + 1) >= weight
    assert weight_of(min(1, gaining + 0.1), pairs) >= weight


def test_the_model_aligns_by_the_mean_and_says_how_well(aligner, corpus, gold, tmp_path):
    refiner = Refiner.train(aligner, corpus[:24], objective="aer")
    lessons, report = refiner.learned.lessons, refiner.report
    assert (lessons.weight, lessons.base) == (report.weight, "aligner")
    assert 0.1 <= lessons.weight < 1
    pair = corpus[40]
    alone = aligner.with_learned(None)
    rounds = replace(lessons, weight=1.0)
    full = Refiner.of(aligner.with_learned(replace(refiner.learned, lessons=rounds)))
    both = full.probabilities(pair), np.zeros(pair.lengths)
    for link, p in alone.align_bitext([pair], threshold=0.0).alignment(0).weights.items():
        both[1][link] = p
    told = refiner.probabilities(pair)
    for link in np.argwhere(told > 0):
        i, j = link.tolist()
        expected = plain_mean(lessons.weight, float(both[0][i, j]), float(both[1][i, j]))
        assert told[i, j] == pytest.approx(expected, abs=2e-5)
    least = aligner.settings.threshold
    threshold = plain_mean(lessons.weight, report.threshold, least)
    assert lessons.threshold == pytest.approx(threshold, abs=1e-6)
    assert report.mean.threshold == lessons.threshold
    # by cross-validation, as the candidates themselves
    gold = replace(gold, objective="aer")
    with Workers.opened(1) as workers:
        chosen = validate(gold, START, workers, before=least)
    mean = mean_of(gold, lessons.weight, chosen.after, chosen.before, chosen.folds.of)
    learned, own = chosen.after.probabilities.tolist(), chosen.before.probabilities.tolist()
    pairs = zip(learned, own, strict=True)
    means = np.array([plain_mean(lessons.weight, *pair) for pair in pairs])
    rows = np.zeros_like(mean.rows)
    for fold in range(5):
        threshold = plain_mean(lessons.weight, chosen.after.thresholds[fold], least)
        inside = chosen.folds.of == fold
        rows[inside] = rows_of(gold, means, threshold)[inside]
    assert (mean.rows == rows).all()
    assert report.mean.measure.value == pytest.approx(1 - measure("aer", rows.sum(axis=0)))
    assert report.mean.measure.low < report.mean.measure.value < report.mean.measure.high
    assert report.to_json()["mean"]["threshold"] == lessons.threshold


def test_models_from_before_weights_align_by_what_was_learned_alone(refiner, corpus, tmp_path):
    refiner.save(tmp_path / "new")
    stored = read_model(tmp_path / "new")
    record = dict(stored.header["learned"])
    assert record.pop("weight") == refiner.report.weight
    assert record.pop("base") == "aligner"
    del record["annotators"], record["digests"]  # models of before lack these too
    header = {**stored.header, "learned": record}
    write_model(tmp_path / "old", header=header, arrays=stored.arrays, words=stored.words)
    old = Aligner.load(tmp_path / "old")
    lessons = replace(refiner.learned.lessons, weight=1.0, taught_by=None)
    assert old.parameters.learned.lessons == lessons
    full = refiner.aligner.with_learned(replace(refiner.learned, lessons=lessons))
    words = [pair.words for pair in corpus[40:]]
    both = old.align_bitext(words), full.align_bitext(words)
    assert both[0].probabilities.tobytes() == both[1].probabilities.tobytes()
    assert (
        both[0].probabilities.tolist() != refiner.aligner.align_bitext(words).probabilities.tolist()
    )
    old.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "old").read_bytes()


def test_copies_of_a_pair_are_one_sample(aligner, corpus):
    pairs = list(corpus[:12])
    copies = [replace(pair, id=f"{pair.id} {k}") for k in range(3) for pair in pairs]
    one, three = (Refiner.train(aligner, x, "gold", prior="none").report for x in (pairs, copies))
    assert (three.pairs, three.different) == (36, one.different) == (36, 12)
    assert three.before == one.before
    assert three.gain.high - three.gain.low > (one.gain.high - one.gain.low) / 1.5
    assert "on 36 pairs, 12 different" in str(three)
    assert "on 12 pairs\n" in str(one)


def test_nothing_is_gained_from_gold_that_is_the_aligner_itself(aligner, corpus):
    links = aligner.align_bitext([pair.words for pair in corpus[:12]])
    pairs = [
        pair.with_annotation("own", Alignment(links.alignment(k).sure))
        for k, pair in enumerate(corpus[:12])
    ]
    refiner = Refiner.train(aligner, pairs, "own", prior="none")
    assert not refiner.report.used
    assert "not used: no gain" in str(refiner.report)
    words = [pair.words for pair in corpus[12:20]]
    same, plain = refiner.aligner.align_bitext(words), aligner.align_bitext(words)
    assert (same.arrays.links == plain.arrays.links).all()
    assert refiner.probabilities(corpus[12]).shape == corpus[12].lengths


def test_any_number_of_threads_learns_the_same(aligner, gold):
    kinds = [KINDS["strong"], KINDS["network"], KINDS["both"]]
    found = []
    phrases = replace(gold, objective="phrases")
    for threads in (1, 3):
        with Workers.opened(threads) as workers:
            found.append(validate(phrases, START, workers, kinds=kinds, before=0.5))
    assert found[0].after.threshold == found[1].after.threshold
    assert (found[0].after.rows == found[1].after.rows).all()
    for name in ("first", "second"):
        one, other = (getattr(each.rounds, name) for each in found)
        assert one.weights.tobytes() == other.weights.tobytes()


START = Prior.samples().rounds(vectors=False)


def test_both_is_the_mean_of_regression_and_networks(gold):
    names = names_of(vectors=False)
    features, goals = gold.cells.features[:3000], gold.goals[:3000]
    kinds = [KINDS[kind] for kind in ("all-30", "network", "both")]
    linear, networks, both = fit(kinds, START.first, names, features, goals, second=False)
    mean = (linear.logits(features) + networks.logits(features)) / 2
    assert both.logits(features) == pytest.approx(mean, abs=1e-4)
    [alone] = fit(kinds[2:], START.first, names, features, goals, second=False)
    assert alone.logits(features).tobytes() == both.logits(features).tobytes()


def test_saved_and_loaded_it_aligns_the_same(refiner, corpus, tmp_path):
    refiner.save(tmp_path / "one")
    loaded = Aligner.load(tmp_path / "one")
    loaded.save(tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    words = [pair.words for pair in corpus]
    one, other = refiner.aligner.align_bitext(words), loaded.align_bitext(words, threads=1)
    assert one.arrays.links.tobytes() == other.arrays.links.tobytes()
    assert one.probabilities.tobytes() == other.probabilities.tobytes()
    alone = loaded.align(*corpus[40].words)
    probabilities = refiner.probabilities(corpus[40])
    assert alone.weights == {link: probabilities[link] for link in alone.possible}


def bits(refiner):
    return [array.tobytes() for array in arrays_of(refiner.learned).values()]


def test_updates_take_up_new_pairs(refiner, corpus, tmp_path):
    refiner.save(tmp_path / "model")
    again = Refiner.of(Aligner.load(tmp_path / "model"))
    assert again.update(corpus[24:30], "gold") is again
    assert again.learned.lessons.pairs == 6
    before = again.probabilities(corpus[40])
    again.update(corpus[24:30])
    assert (again.probabilities(corpus[40]) == before).all()  # the same pairs, once


def test_pair_by_pair_it_comes_to_what_training_learns(refiner, aligner, corpus):
    slow = Refiner.begin(aligner, ignore_identical=True)
    words = [pair.words for pair in corpus[30:40]]
    plain = aligner.align_bitext(words)
    refuses(AlignerError, "at least 5", lambda: slow.update(corpus[:3]).validate())
    for begin in range(0, 24, 8):
        slow.update(corpus[begin : begin + 8])
    assert slow.report is None
    assert (slow.aligner.align_bitext(words).arrays.links == plain.arrays.links).all()
    assert slow.validate(1) == refiner.report
    assert slow.ids == tuple(pair.id for pair in corpus[:24])
    assert bits(slow) == bits(slow.update([])) == bits(refiner)
    cells = len(GoldPairs(aligner, None).add(corpus[:24], "gold").gold().levels)
    assert slow.size == cells * 4 * (len(CELL) + 1)


def test_pairs_are_replaced_and_forgotten(aligner, corpus):
    pairs = list(corpus[:20])
    refiner = Refiner.train(aligner, pairs, ignore_identical=True)
    assert refiner.learned.used
    before = bits(refiner)
    assert bits(refiner.update([pairs[3].with_annotation("gold", Alignment([(0, 0)]))])) != before
    assert bits(refiner.update([pairs[3]])) == before  # in its old place and fold
    refiner.update(corpus[20:22])
    assert refiner.learned.lessons.pairs == 22
    refiner.forget([corpus[20].id, corpus[21].id, "nobody"])
    assert bits(refiner) == before
    refiner.update(corpus[20:22]).forget([pairs[0].id, pairs[7].id])
    refiner.validate()
    fresh = Refiner.train(aligner, [*pairs[1:7], *pairs[8:], *corpus[20:22]], ignore_identical=True)
    assert (refiner.report, bits(refiner)) == (fresh.report, bits(fresh))
    refiner.forget(refiner.ids)
    assert not refiner.learned.used
    assert refiner.report is None


def test_pairs_that_cannot_be_learned_from_leave_no_old_version(aligner, corpus):
    refiner = Refiner.begin(aligner).update(corpus[:6])
    pair = corpus[2]
    empty = SentencePair(pair.id, pair.source, (), {"gold": Alignment()})
    assert pair.id not in refiner.update([empty]).ids
    refiner.update([corpus[3].without_annotations("gold")])
    assert refiner.ids == tuple(corpus[k].id for k in (0, 1, 4, 5))
    twins = [SentencePair("twin", *one.words, one.annotations) for one in corpus[6:9]]
    report = Refiner.train(aligner, [*corpus[:4], *twins]).report  # not every id is unique
    assert report.pairs == 7


def test_more_cells_than_there_is_room_for_are_left_out(aligner, corpus, monkeypatch):
    ends = GoldPairs(aligner, None).add(corpus[:10], "gold").gold().cells.ends
    monkeypatch.setattr("alignkit.align.supervised.gold.MOST_CELLS", int(ends[7]))
    refiner = Refiner.begin(aligner).update(corpus[:10])
    assert refiner.ids == tuple(pair.id for pair in corpus[:7])
    assert refiner.validate(1).left_out == 3
    refiner.update(corpus[3:4])  # in its own place there is room
    assert len(refiner.ids) == 7


def test_vectors_are_looked_at_and_asked_for(aligner, corpus, tmp_path):
    pairs = list(corpus[:10])
    refiner = Refiner.train(aligner, pairs, vectors=letters)
    gold = GoldPairs(aligner, (letters, letters)).add(pairs, "gold").gold()
    names = names_of(vectors=True)
    column = gold.cells.features[:, names.index("cosine")]
    spelled = np.array([word.isalpha() for word in gold.bitext.source.words])
    same = (gold.cells.features[:, names.index("identical")] > 0) & spelled[gold.cells.words[:, 0]]
    assert column[same] == pytest.approx(1, abs=3e-4)  # of vectors in whole numbers
    assert refiner.report.vectors
    used = refiner.aligner.with_learned(
        replace(refiner.learned, lessons=replace(refiner.learned.lessons, vectors=True)), letters
    )
    if refiner.learned.used:
        used.save(tmp_path / "model")
        refuses(AlignerError, "needs them", Aligner.load(tmp_path / "model").align, "a b", "b a")
        loaded = Aligner.load(tmp_path / "model", vectors=letters)
        assert loaded.align("a b", "b a") == used.align("a b", "b a")


@pytest.mark.slow
def test_the_prior_is_that_of_the_script():
    from benchmarks.make_prior import make_prior

    made, kept = make_prior(), Prior.samples()
    assert made.threshold == kept.threshold
    assert made.first == pytest.approx(kept.first, rel=1e-2, abs=1e-3)
    assert kept.made["licence"] == "Apache-2.0"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "{}", "not a prior"),
        (lambda text: text.replace('"version": 1', '"version": 2'), "version 2"),
        (lambda text: text.replace('"mean"', '"meat"', 1), "unknown feature 'meat'"),
        (lambda text: text.replace('"bias": ', '"bias": 1e9, "mean": ', 1), "no number for 'bias'"),
        (lambda text: text.replace('"threshold": 0', '"threshold": 3', 1), "not a probability"),
    ],
)
def test_a_false_prior_is_refused(change, message, tmp_path):
    place = tmp_path / "prior.json"
    place.write_text(change(Prior.samples().encoded()))
    refuses(FormatError, message, Prior.read, str(place))


def test_what_cannot_be_learned_from_is_refused(aligner, corpus):
    refuses(AlignerError, "at least 5", Refiner.train, aligner, corpus[:4])
    bare = corpus.map(lambda pair: pair.without_annotations(*pair.annotations))
    train = Refiner.train
    refuses(AlignerError, "0 different pairs", train, aligner, bare)
    told = r"unknown annotator 'nobody' \(known: "
    refuses(UnknownNameError, told, train, aligner, corpus, "nobody")
    refuses(UnknownNameError, "objective", train, aligner, corpus, objective="fame")
    refuses(AlignerError, "no refinement", Refiner.of, aligner)
    refuses(OptionError, "for the source too", train, aligner, corpus, target_vectors=len)


def test_copies_of_a_pair_do_not_teach_what_it_is_judged_by(aligner, corpus):
    pairs = list(corpus[:12])
    copies = [replace(pair, id=f"{pair.id} again") for pair in pairs]
    gold = GoldPairs(aligner, None).add([*pairs, *copies], "gold").gold()
    assert gold.groups.tolist() == [*range(12), *range(12)]
    with Workers.opened(1) as workers:
        start = Prior.none().rounds(vectors=False)
        folds = validate(gold, start, workers, before=0.5, kinds=[KINDS["platt"]]).folds.of
    assert (folds[:12] == folds[12:]).all()
    assert set(folds.tolist()) == set(range(5))
    few = [replace(pairs[0], id=str(k)) for k in range(9)]
    refuses(AlignerError, "1 different pairs", Refiner.train, aligner, few)


def test_to_align_nothing_is_no_gain_and_further_annotators_are_named(aligner, corpus, refiner):
    possible = [
        SentencePair(pair.id, *pair.words, {"gold": Alignment([], pair.alignment("gold"))})
        for pair in corpus[:10]
    ]
    report = Refiner.train(aligner, possible, objective="aer").report
    assert report.after.value < report.before.value
    assert not report.used
    pairs = [SentencePair(x.id, *x.words, {"anna": x.alignment("gold")}) for x in corpus[:6]]
    again = Refiner.of(refiner.aligner, "anna")
    assert (len(again.update(pairs).ids), again.validate().pairs) == (6, 6)


@pytest.mark.parametrize(
    ("part", "name", "change"),
    [
        ("arrays", "learned_first_weights", lambda array: array * np.nan),
        ("arrays", "learned_second_weights", lambda array: array[1:]),
        ("arrays", "learned_pairs", lambda array: array + 100_000),
        ("arrays", "learned_pairs", lambda array: array[::-1].copy()),
        ("arrays", "learned_source_counts", lambda array: -1 - array),
        ("header", "learned", lambda record: record | {"kind": "magic"}),
        ("header", "learned", lambda record: record | {"objective": ["links"]}),
        ("header", "learned", lambda record: record | {"threshold": 2.0}),
        ("header", "learned", lambda record: record | {"pairs": -1}),
        ("header", "learned", lambda record: record | {"features": ["mean"]}),
        ("header", "learned", lambda record: record | {"vectors": 1}),
        ("header", "learned", lambda record: record | {"weight": 1.5}),
        ("header", "learned", lambda record: record | {"weight": 0.0}),
        ("header", "learned", lambda record: record | {"base": "vote"}),
        ("header", "learned", lambda record: record | {"base": ["aligner"]}),
    ],
)
def test_forged_files_are_refused(part, name, change, refiner, tmp_path):
    place = tmp_path / "model"
    refiner.save(place)
    stored = read_model(place)
    parts = {key: dict(getattr(stored, key)) for key in ("header", "arrays", "words")}
    parts[part][name] = change(parts[part][name])
    write_model(place, **parts)
    refuses(AlignerError, r"learned|gold lexicon", Aligner.load, place)


def test_empty_sides_and_long_lines_are_aligned(refiner):
    links = refiner.aligner.align_bitext([("", "a"), ("b", ""), ("the " * 450, "the " * 450)])
    assert (len(links.arrays), refiner.aligner.align("", "")) == (3, Alignment())
    assert len(refiner.aligner.align_bitext([]).arrays) == 0
