"""The pull of suggestions is what a plain count says, and its interval holds what was planted."""

import json
from itertools import product
from math import ceil, isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from repetitions import repetitions
from scipy.spatial.distance import dice
from scipy.stats import binom, norm, t

from alignkit.agreement.intervals import NO_PAIRS
from alignkit.annotate import preannotation_bias as bias
from alignkit.annotate.control_sample import ControlPair, ControlWork
from alignkit.annotate.preannotation_bias import estimate_pull
from alignkit.annotate.pull_result import PullOptions
from alignkit.errors import ArgumentError, OptionError, UnknownNameError
from alignkit.model.alignment import Alignment
from alignkit.stats.resampling import ONE_PAIR, Interval, expanded, stratified_weights

QUICK = PullOptions(resamples=20)
CELLS = st.tuples(st.integers(0, 3), st.integers(0, 3))


def work(shown, links, rejected=()):
    return ControlWork(shown, Alignment.parse(links) if isinstance(links, str) else links, rejected)


def split(id, with_them, without, suggested, stratum=""):
    works = {"A": work(True, with_them), "B": work(False, without)}
    return ControlPair(id, "split", works, suggested, stratum)


# a plain reference: sets, pair by pair
def plain_f1(one, other):
    one, other = set(one), set(other)
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else nan


def mean(values):
    known = [value for value in values if not isnan(value)]
    return sum(known) / len(known) if known else nan


def share(above, below):
    return above / below if below else nan


def plain_pull(pairs, edges=(0.1, 0.6, 0.9)):
    rows = []
    for pair in pairs:
        if pair.arm == "split" and len(pair.works) == 2 and pair.suggested:
            shown, hidden = sorted(pair.works.values(), key=lambda work: not work.shown)
            rows.append((pair, set(shown.links), set(hidden.links)))
    suggested = [{s[:2] for s in pair.suggested} for pair, *_ in rows]
    f1 = [
        [plain_f1(links, seen) for links in both]
        for (_, *both), seen in zip(rows, suggested, strict=True)
    ]
    found = {"shown": mean([one for one, _ in f1]), "hidden": mean([other for _, other in f1])}
    found |= {"pull": mean([one - other for one, other in f1]), "bins": []}
    for low, high in zip((0, *edges), (*edges, 1.01), strict=True):
        some = [
            [(i, j) in links for links in both]
            for pair, *both in rows
            for i, j, p, _ in pair.suggested
            if p is not None and low <= p < high
        ]
        took, drew = (sum(one[side] for one in some) for side in (0, 1))
        found["bins"].append((len(some), share(took, len(some)), share(drew, len(some))))
    seen = [
        (
            (i, j) in one.links,
            (i, j) in one.rejected and (i, j) not in one.links,
            (i, j) in one.unseen and (i, j) in one.links,
        )
        for pair in pairs
        for one in pair.works.values()
        if one.shown
        for i, j, *_ in pair.suggested
    ]
    accepted, rejected, unseen = (sum(one[k] for one in seen) for k in range(3))
    found["fates"] = [share(accepted, len(seen)), share(rejected, len(seen))]
    found["fates"].append(share(unseen, accepted))
    for arm in ("shown", "split", "bare"):
        found[f"both {arm}"] = mean(
            plain_f1(*(one.links for one in pair.works.values()))
            for pair in pairs
            if (pair.arm or "shown") == arm and len(pair.works) == 2
        )
    for shown in (True, False):
        found[f"coin {shown}"] = mean(
            plain_f1(one.links, {s[:2] for s in pair.suggested})
            for pair in pairs
            if pair.arm == "coin" and pair.suggested
            for one in pair.works.values()
            if one.shown is shown
        )
    return found


@st.composite
def control_pairs(draw):
    arm = draw(st.sampled_from(["", "split", "bare", "coin"]))
    count, coin = draw(st.integers(0, 1 if arm == "coin" else 2)), draw(st.booleans())
    shown = {"": [True] * 2, "bare": [False] * 2, "split": [coin, not coin], "coin": [coin]}[arm]
    works = {
        name: ControlWork(
            shown[k],
            Alignment(draw(st.sets(CELLS)), draw(st.sets(CELLS))),
            draw(st.frozensets(CELLS)) if shown[k] else (),
            draw(st.frozensets(CELLS)) if shown[k] else (),
        )
        for k, name in zip(range(count), "AB", strict=False)
    }
    p = st.one_of(st.none(), st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.6, 0.899, 0.9, 1.0]))
    suggested = [(*cell, draw(p), 2) for cell in sorted(draw(st.sets(CELLS)))]
    return ControlPair("1", arm, works, suggested, draw(st.sampled_from("xyz")))


@given(st.lists(control_pairs(), max_size=8))
def test_all_figures_are_those_of_a_plain_count(pairs):
    found, wanted = estimate_pull(pairs, QUICK), plain_pull(pairs)
    figures = {name: getattr(found, name) for name in ("pull", "shown", "hidden")}
    figures |= {"coin True": found.coin["shown"], "coin False": found.coin["hidden"]}
    figures |= {f"both {arm}": one for arm, one in found.agreement.items()}
    for name, figure in figures.items():
        assert figure.value == pytest.approx(wanted[name], nan_ok=True), name
    fates = [found.accepted.value, found.rejected.value, found.unseen.value]
    assert fates == pytest.approx(wanted["fates"], nan_ok=True)
    for part, (count, taken, unseen) in zip(found.bins[1:5], wanted["bins"], strict=True):
        assert (part.suggestions, part.taken.value) == (count, pytest.approx(taken, nan_ok=True))
        assert part.unseen.value == pytest.approx(unseen, nan_ok=True)
        assert part.pull.value == pytest.approx(taken - unseen, nan_ok=True)
    assert found.bins[0].suggestions == sum(part.suggestions for part in found.bins[1:])
    json.dumps(found.to_dict(), allow_nan=False)
    assert str(found).startswith("Pull of suggestions: ")


def test_f1_is_the_dice_coefficient_of_scipy():
    suggested, links = [(0, 0, 0.9, 2), (1, 1, 0.5, 2), (2, 1, 0.2, 1)], "0-0 1?1 3-3 4-4"
    seen, drawn = ({(i, j) for i, j, *_ in cells} for cells in (suggested, Alignment.parse(links)))
    both = ([cell in cells for cell in product(range(5), repeat=2)] for cells in (seen, drawn))
    found = estimate_pull([split("1", links, "", suggested)])
    assert found.shown.value == pytest.approx(1 - dice(*both))
    assert found.hidden.value == 0  # who draws nothing shares nothing: 0, not undefined


# the bootstrap within strata
@given(st.lists(st.integers(0, 3), min_size=2, max_size=30))
def test_weights_keep_the_sizes_of_strata(drawn):
    strata = np.array(drawn)
    weights = np.concatenate([*stratified_weights(strata, 30, np.random.default_rng(1))])
    assert weights.shape == (30, len(strata))
    assert weights.sum(axis=1) == pytest.approx(np.full(30, len(strata)))
    sizes = np.bincount(strata)
    for number in np.flatnonzero(sizes > 1):
        if (sizes == 1).sum() != 1:  # one pair alone joins the largest stratum
            sums = weights[:, strata == number].sum(axis=1)
            assert sums == pytest.approx(np.full(30, sizes[number]))
    assert (weights >= 0).all()


@pytest.mark.parametrize("sizes", [(2, 2, 2, 2), (3, 10, 40), (50,)])
def test_the_variance_of_a_mean_is_that_of_stratified_sampling(sizes):
    rng, strata = np.random.default_rng(5), np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(strata * 3.0, 1 + strata)
    parts = [values[strata == k] for k in range(len(sizes))]
    # Cochran 1977, Sampling Techniques, 5.6: sum of W_h^2 s_h^2 / n_h
    wanted = sum((len(x) / len(values)) ** 2 * x.var(ddof=1) / len(x) for x in parts)
    means = np.concatenate([*stratified_weights(strata, 40_000, rng)]) @ values / len(values)
    assert means.mean() == pytest.approx(values.mean(), abs=5 * (wanted / 40_000) ** 0.5)
    assert means.var() == pytest.approx(wanted, rel=0.05)


def test_of_several_who_saw_suggestions_or_did_not_the_mean_counts():
    works = {"A": work(True, "0-0 1-1"), "B": work(False, "0-0 5-5")}
    works |= {"C": work(True, "0-0 5-5"), "D": work(False, "4-4 5-5")}
    found = estimate_pull([ControlPair("1", "split", works, [(0, 0, 0.9, 2), (1, 1, 0.7, 2)])])
    assert (found.shown.value, found.hidden.value, found.pull.value) == (0.75, 0.25, 0.5)
    assert (found.bins[0].taken.value, found.bins[0].unseen.value) == (0.75, 0.25)
    # A ~ B .5, A ~ D 0, B ~ C 1, C ~ D .5; not A ~ C, who both saw them
    assert found.agreement["split"].value == 0.5


# what is undefined, and why; what is refused
def test_without_pairs_nothing_is_estimated_and_it_is_said_why():
    found = estimate_pull([])
    assert isnan(found.pull.value)
    assert found.pull.interval == NO_PAIRS
    assert found.to_dict()["pull"] == {"value": None, "reason": NO_PAIRS, "pairs": 0, "left_out": 0}
    assert "0 split pairs" in found.cautions[0]
    assert "no sentence pair" in str(found)


def test_pairs_without_suggestions_or_not_done_by_both_are_counted_and_told():
    whole = split("1", "0-0", "0-1", [(0, 0, 0.9, 2)])
    found = estimate_pull([whole, split("2", "0-0", "0-0", [])])
    assert (found.pull.value, found.pull.pairs, found.pull.left_out) == (1, 1, 1)
    assert (found.pull.interval, found.agreement["split"].pairs) == (ONE_PAIR, 2)
    half = ControlPair("2", "split", {"A": work(True, "0-0")}, [(0, 0, None, 2)], open=1)
    found = estimate_pull([split("1", "0-0", "0-1", [(0, 0, None, 2)]), half])
    assert (found.pairs["split"], found.open["split"], found.pull.pairs) == (1, 1, 1)
    assert any("1 pair of the control" in one for one in found.cautions)
    assert any("no probability" in one for one in found.cautions)


def test_enough_pairs_are_no_caution():
    enough = ceil((norm.ppf(0.975) * 0.25 / 0.05) ** 2)  # the usual formula
    assert enough == bias.ENOUGH
    pairs = simulated(np.random.default_rng(1), 0.1, pairs=enough)
    assert estimate_pull(pairs, QUICK).cautions == ()
    few = estimate_pull(pairs[:20], QUICK).cautions
    assert "to either side needs 97" in few[0]
    assert "too narrow" in few[1]


def test_the_least_probability_says_which_suggestions_count():
    pairs = [split("1", "0-0", "1-1", [(0, 0, 0.9, 2), (1, 1, 0.2, 2)])]
    assert estimate_pull(pairs).pull.value == 0
    found = estimate_pull(pairs, PullOptions(least=0.5))
    assert found.pull.value == 1
    assert "suggestions of at least 0.5" in str(found)


def test_the_seed_says_what_is_drawn():
    pairs = simulated(np.random.default_rng(1), 0.1)
    one, other = estimate_pull(pairs, QUICK), estimate_pull(pairs, QUICK)
    assert one.to_dict() == other.to_dict()
    assert estimate_pull(pairs, PullOptions(resamples=20, seed=2)).pull != one.pull


@pytest.mark.parametrize("medium", ["text", "markdown", "latex", "html"])
def test_all_media_show_the_tables_and_the_cautions(medium):
    shown = estimate_pull([split("1", "0-0", "", [(0, 0, 0.9, 2)])]).show(medium)
    assert "drawn unseen" in shown
    assert "estimated from 1 split pair" in shown


@pytest.mark.parametrize(
    ("arm", "shown", "told"),
    [("bare", [False, True], "saw suggestions"), ("", [True, False], "saw no suggestions")],
)
def test_works_that_do_not_fit_the_arm_are_refused(arm, shown, told):
    works = {str(k): work(one, "0-0") for k, one in enumerate(shown)}
    refuses(OptionError, f"pair '7' .*{told}", ControlPair, "7", arm, works)


def test_what_makes_no_sense_is_refused():
    refuses(UnknownNameError, "arm", ControlPair, "1", "splt", {})
    with pytest.raises(OptionError, match="suggested twice"):
        ControlPair("1", "", {}, [(0, 0, 0.5, 2), (0, 0, 0.4, 1)])
    refuses(OptionError, "probability 2", ControlPair, "1", "", {}, [(0, 0, 2.0, 2)])
    refuses(ArgumentError, "pairs", estimate_pull, ["x"])
    for wrong in (
        {"edges": (0.6, 0.1)},
        {"edges": (0.0, 0.5)},
        {"least": 2.0},
        {"seed": -1},
        {"resamples": 0},
        {"confidence": 1.0},
    ):
        refuses(OptionError, None, PullOptions, **wrong)


def test_intervals_are_wider_where_the_spread_is_estimated_from_few():
    for degrees in (1, 5, 30, 1000):
        for confidence in (0.9, 0.95):
            wanted = norm.cdf(t.ppf((1 + confidence) / 2, degrees))
            assert expanded(confidence, degrees) == pytest.approx(2 * wanted - 1)
    # 2.0452 with 29 degrees of freedom, as tables have it
    assert norm.ppf((1 + expanded(0.95, 29)) / 2) == pytest.approx(2.0452, abs=1e-4)


# a planted pull
def simulated(rng, pull, pairs=100):
    """Return split pairs on which seeing suggestions adds `pull` to the F1 with them on average.

    Who sees no suggestion draws each with the probability q of the pair; who does takes up some of
    the others, so that it is q + pull. Both draw as many other links as they left out, so that F1
    is the share of suggestions drawn, whose mean is q or q + pull.
    """
    found = []
    for k in range(pairs):
        n = int(rng.choice([5, 8, 12]))
        q = rng.uniform(0.05, 0.85) if n > 5 else rng.uniform(0.5, 0.85)
        own = rng.random(n) < q
        taken = own if pull == 0 else own | (rng.random(n) < pull / (1 - q))
        if pull == 0:  # two people differ without any suggestions, too
            taken = rng.random(n) < q
        works = [
            Alignment([(i, i if drawn else n) for i, drawn in enumerate(one)])
            for one in (taken, own)
        ]
        suggested = [(i, i, round(float(rng.random()), 2), 2) for i in range(n)]
        found.append(split(str(k), *works, suggested, f"length {n}"))
    return found


def covered(runs, planted, seed):
    hits = zeros = 0
    for stream in np.random.SeedSequence(seed).spawn(runs):
        pairs = simulated(np.random.default_rng(stream), planted)
        found = estimate_pull(pairs, PullOptions(resamples=500)).pull
        assert isinstance(found.interval, Interval)
        hits += found.interval.low <= planted <= found.interval.high
        zeros += found.interval.low <= 0 <= found.interval.high
    return hits, zeros


@pytest.mark.slow
@pytest.mark.parametrize(("planted", "seed"), [(0.10, 1), (0.0, 2)])
def test_a_planted_pull_lies_in_its_interval_and_none_is_found_where_there_is_none(planted, seed):
    runs = repetitions(200)
    hits, zeros = covered(runs, planted, seed)
    # fewer hits happen once in 200 times at 95 %, of 200 and of 20 runs; the seed is fixed
    assert hits >= binom.ppf(0.005, runs, 0.95)
    assert planted == 0 or zeros <= runs / 5
