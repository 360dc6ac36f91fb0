"""Probabilities are calibrated by what other pairs and the spelling say."""

import json
import pickle
import re
from math import exp, log
from pathlib import Path

import aligner_reference as plain
import numpy as np
import pytest
from console import page_text
from hypothesis import given
from hypothesis import strategies as st

import alignkit
from alignkit.align import Aligner, Bitext, Settings
from alignkit.align.calibration import FEATURES
from alignkit.align.priors import unmarked
from alignkit.align.settings import FEW, RULES

WEIGHTS = json.loads(
    (Path(alignkit.__file__).parent / "align" / "calibration.json").read_text("utf-8")
)["weights"]


def odds(x):
    x = min(max(x, 0.001), 0.999)
    return log(x / (1 - x))


def reference(aligner, pairs, k):
    """Compute the probabilities (N, M) of pair k of the text of training, cell by cell."""
    known, (source, target) = aligner.parameters, pairs[k]
    shape, text = (len(source), len(target)), known.text
    forward, reverse = (x.astype(float) for x in aligner.posteriors(source, target))
    means = np.minimum((forward + reverse) / 2, 1)
    decoder = aligner.decoder(Bitext.pack([pairs[k]]))
    cells, own = decoder.pairs.cells.reshape(shape), forward * reverse * means
    if not text.few:  # the pair's links of the last round, in 255ths
        own = decoder.own.links.reshape(shape) / 255
    rows, columns = ({w: n for n, w in enumerate(x)} for x in (known.source, known.target))
    agreement = log((text.agreement + 0.02) / (1 - text.agreement + 0.02))
    out = means.copy()
    for i, word in enumerate(source):
        for j, other in enumerate(target):
            if means[i, j] <= 0.05:
                continue
            a, b = unmarked(word.casefold()), unmarked(other.casefold())
            support = max(decoder.tables.forward[cells[i, j]] - own[i, j], 0)
            totals = (
                known.source_totals[rows[word.casefold()]] - own[i].sum(),
                known.target_totals[columns[other.casefold()]] - own[:, j].sum(),
            )
            shares = [(support + 0.05) / (max(total, 0) + 0.5) for total in totals]
            common = 0
            while common < min(len(a), len(b)) and a[common] == b[common]:
                common += 1
            signs = [not any(map(str.isalnum, x)) for x in (word, other)]
            rivals = [
                max((x for n, x in enumerate(line) if n != at), default=0)
                for line, at in ((means[i], j), (means[:, j], i))
            ]
            times = text.source[rows[word.casefold()]], text.target[columns[other.casefold()]]
            values = {
                "logit_mean": odds(means[i, j]),
                "mean_logit": (odds(forward[i, j]) + odds(reverse[i, j])) / 2,
                "logit_minimum": odds(min(forward[i, j], reverse[i, j])),
                "row_rival": log((means[i, j] + 0.01) / (rivals[0] + 0.01)),
                "column_rival": log((means[i, j] + 0.01) / (rivals[1] + 0.01)),
                "support": log(support + 0.1),
                "consistency": log(min(*shares, 2)),
                "frequency": log(max(*times, 1)),
                "equal": a == b,
                "prefix": 0 if a == b or common < 3 else common / max(len(a), len(b)),
                "punctuation_one": signs[0] != signs[1],
                "off_diagonal": abs((i + 0.5) / shape[0] - (j + 0.5) / shape[1]),
                "agreement": 0 if a == b or all(signs) else agreement,
                "bias": 1,
            }
            assert list(values) == [*FEATURES, "bias"]
            calibrated = 1 / (1 + exp(-sum(WEIGHTS[x] * value for x, value in values.items())))
            share = min((means[i, j] - 0.05) / 0.05, 1)
            out[i, j] = share * calibrated + (1 - share) * means[i, j]
    return out


@pytest.mark.parametrize("size", [FEW - 3, 60])
def test_probabilities_are_those_of_the_definition(size):
    pairs = plain.random_text(5, size)
    aligner = Aligner.train(pairs)
    found, changed = aligner.align_bitext(pairs, threshold=0), 0
    for k, (source, target) in enumerate(pairs):
        if not source or not target:
            continue
        shown = found.alignment(k).weights
        expected = reference(aligner, pairs, k)
        changed += (
            expected != np.minimum(np.add(*aligner.posteriors(source, target)) / 2, 1)
        ).sum()
        assert {(i, j): shown.get((i, j), 0) for i, j in np.ndindex(expected.shape)} == {
            (i, j): pytest.approx(expected[i, j], abs=2e-4) for i, j in np.ndindex(expected.shape)
        }
    assert changed > size


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_saved_model_and_a_single_pair_give_the_same(tmp_path_factory, seed, best):
    pairs = plain.random_text(seed, 15)
    aligner, path = Aligner.train(pairs, best=best), tmp_path_factory.mktemp("model") / "m"
    aligner.save(path)
    loaded = pickle.loads(pickle.dumps(Aligner.load(path)))
    whole, again = (x.align_bitext(pairs) for x in (aligner, loaded))
    assert whole.probabilities.tolist() == again.probabilities.tolist()
    assert ((whole.probabilities >= 0) & (whole.probabilities <= 1)).all()
    for k, (source, target) in enumerate(pairs):
        assert aligner.align(source, target, probs=True) == whole.alignment(k).weights


def test_lines_without_a_counterpart_do_not_make_links_doubtful():
    pairs, alone = plain.random_text(9, 60), [(["z"] * 500, []), ([], ["y"] * 300)]
    texts = [Aligner.train(some).parameters.text for some in (pairs, pairs + alone)]
    assert texts[1].agreement == pytest.approx(texts[0].agreement, rel=0.05)


def test_other_models_keep_the_posteriors():
    assert Settings().calibrated
    pairs = plain.random_text(3, 30)
    for options in ({"model": "ibm1"}, {"inference": "em", "agree": False}, {"model": "ibm4"}):
        aligner = Aligner.train(pairs, **options)
        assert aligner.parameters.text is None
        assert not aligner.calibrated
        means = np.minimum(np.add(*aligner.posteriors(*pairs[0])) / 2, 1)
        shown = aligner.align(*pairs[0], probs=True, threshold=0.0)
        assert shown == {link: pytest.approx(means[link]) for link in shown}


def shown(pairs, number):
    """Return the probabilities of all cells of the first pairs, after training on all."""
    links = Aligner.train(pairs, threads=1).align_bitext(pairs, threshold=0)
    return links[:number].probabilities


@pytest.mark.parametrize("size", [1_500, 1_999, 2_000, 5_000])
def test_two_pairs_more_hardly_change_a_probability(size):
    pairs = plain.random_text(size, size + 2)
    few, more = shown(pairs[:size], 400), shown(pairs, 400)
    assert len(few) > 4_000
    assert np.abs(few - more).max() <= 0.05


def test_a_posterior_goes_over_to_its_calibrated_value_smoothly():
    aligner = Aligner.train(plain.random_text(5, 60))
    bitext = Bitext.pack([*plain.random_text(6, 1, words=9), (["1b"] * 2, ["1t"] * 2)])
    decoder = aligner.decoder(bitext)
    cells = int(bitext.starts[-1])
    values = []
    grid = np.linspace(0.04, 0.12, 801)
    for mean in grid:
        posteriors = (np.full(cells, mean, np.float32), np.full(cells, mean, np.float32))
        values.append(decoder.calibrated(0, len(bitext), posteriors)[0])
    values = np.array(values)
    assert np.abs(np.diff(values, axis=0)).max() < 0.005
    kept = grid <= 0.05
    assert values[kept] == pytest.approx(np.repeat(grid[kept, None], cells, axis=1), abs=1e-6)
    assert np.abs(values[grid >= 0.1] - grid[grid >= 0.1, None]).max() > 0.01


def test_the_page_has_the_rules_and_the_weights():
    page = page_text("probabilities.md")
    for name, rule in RULES.items():
        assert f"| `--{name.replace('_', '-')}` | {rule.text} | " in page
    rows = re.findall(r"^\| (`[a-z_]+`(?:, `[a-z_]+`)*|bias) \|.*\| ([-.\d, ]+) \|$", page, re.M)
    listed = {
        name.strip("`"): float(weight)
        for names, weights in rows
        for name, weight in zip(names.split(", "), weights.split(", "), strict=True)
    }
    assert listed == {name: pytest.approx(x, abs=5e-4) for name, x in WEIGHTS.items()}


@pytest.mark.real_data
@pytest.mark.parametrize(("language", "pairs"), [("hu", 40), ("sl", 20), ("et", 40)])
def test_links_shown_at_90_percent_are_right(data, language, pairs):
    corpus = alignkit.read_corpus(data / "xl-wa" / language / "dev.tsv", format="xlwa")[:pairs]
    text = Bitext.pack([pair.words for pair in corpus])
    found = Aligner.train(text).align_bitext(text)
    gold = [next(iter(pair.alignments.values())) for pair in corpus]
    high = [
        link in gold[k].possible
        for k in range(pairs)
        for link, p in found.alignment(k).weights.items()
        if p >= 0.9
    ]
    assert np.mean(high) >= 0.85
    assert len(high) >= pairs
