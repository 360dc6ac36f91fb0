"""Profiles by phenomenon: values as scored apart, tests against plain references."""

import re
from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import erfc, isnan, sqrt

import numpy as np
import pytest
from command import EFLOMAL, FAST, GOLD, PARAPHRASES, made, run, write
from hypothesis import given, settings
from hypothesis import strategies as st
from test_label_scores import judged

from alignkit import Corpus, read_corpus, score, write_corpus
from alignkit.errors import OptionError, UnknownNameError
from alignkit.scoring import link_ratios, profile_labels, profile_rows
from alignkit.scoring.subset_tests import against_complement, against_whole
from alignkit.stats import holm

SAMPLES = read_corpus(PARAPHRASES, format="alignkit-jsonl")
GROUPS = [tuple(pair.attributes["phenomena"].split(",")) for pair in SAMPLES]
ROWS = {
    name: score(SAMPLES, name, "gold", level="links").rows["links"] for name in ("eflomal", "anna")
}
FOUND = profile_rows(ROWS, GROUPS, link_ratios, "f1", trials=200, resamples=50)


def accuracy(sums):
    sums = np.asarray(sums, float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return {"accuracy": sums[:, 0] / sums[:, 1]}


@settings(max_examples=20)
@given(st.lists(st.integers(0, 1), min_size=4, max_size=8), st.data())
def test_p_is_that_of_all_subsets(right, data):
    members = data.draw(st.lists(st.booleans(), min_size=len(right), max_size=len(right)))
    rows = np.array([[one, 1] for one in right])
    held = np.array(members, bool)
    given = {"trials": 4000, "rng": np.random.default_rng(1)}
    found = against_complement({"a": rows}, {"x": held}, accuracy, "accuracy", **given)["a"]["x"]
    size, n = int(held.sum()), len(right)
    if size in (0, n):
        assert isnan(found)
        return

    def gap(chosen):
        inside = sum(right[k] for k in chosen) / size
        return abs(inside - (sum(right) - inside * size) / (n - size))

    truth = gap(np.flatnonzero(held))
    every = [gap(chosen) >= truth - 1e-12 for chosen in combinations(range(n), size)]
    assert found == pytest.approx(sum(every) / len(every), abs=0.035)


def test_values_are_those_of_the_pairs_scored_apart():
    for one in FOUND.parts:
        held = Corpus(p for p, g in zip(SAMPLES, GROUPS, strict=True) if one.phenomenon in g)
        rest = Corpus(p for p, g in zip(SAMPLES, GROUPS, strict=True) if one.phenomenon not in g)
        assert one.pairs == len(held)
        assert one.value == pytest.approx(score(held, one.system, "gold").links.f1)
        assert one.rest == pytest.approx(score(rest, one.system, "gold").links.f1)
        assert isnan(one.p_value) == (one.pairs < 10)
    for system, value in FOUND.overall.items():
        assert value == pytest.approx(score(SAMPLES, system, "gold").links.f1)


def test_p_values_are_corrected_over_phenomena_and_follow_from_the_seed():
    tested = [[one for one in FOUND.parts if one.system == system] for system in ROWS]
    for some in (*tested, FOUND.differences):
        expected = holm([one.p_value for one in some])
        assert [one.holm for one in some] == pytest.approx(expected, nan_ok=True)
    again = profile_rows(ROWS, GROUPS, link_ratios, "f1", trials=200, resamples=50)
    assert str(again) == str(FOUND)
    counts = dict(zip(FOUND.measured.phenomena, FOUND.measured.pairs, strict=True))
    assert set(FOUND.ranking.few) == {name for name, n in counts.items() if n < 10}


def test_what_makes_no_sense_is_refused(capsys):
    for systems, groups, name, options in (
        ({}, GROUPS, "f1", {}),
        (ROWS, GROUPS[1:], "f1", {}),
        (ROWS, GROUPS, "f2", {}),
        (ROWS, GROUPS, "f1", {"paired": "t-test"}),
        (ROWS, GROUPS, "f1", {"like": "kovachev"}),
    ):
        with pytest.raises((OptionError, UnknownNameError)):
            profile_rows(systems, groups, link_ratios, name, **options)
    samples = [PARAPHRASES, "--hyp-annotator", "eflomal", "--ref-annotator", "gold"]
    for words in (
        [],
        [PARAPHRASES],
        [*samples, "--measure", "accuracy"],
        [*samples, "--view", "binary"],
        [*samples, "--scheme", "turku", "--measure", "aer"],
        [*samples, "--scheme", "turku"],
        [*samples, "--plot", "nowhere/x.pdf"],
        ["--table", PARAPHRASES, "--like", "kovatchev"],
        [PARAPHRASES, "--table", PARAPHRASES],
        [*samples, "--by", "gener"],
    ):
        run(capsys, "profile", *words).failed()


def test_the_command_profiles_annotators_and_files(capsys, tmp_path):
    quick = ["--trials", "50", "--resamples", "20"]
    page = tmp_path / "p.html"
    given = [
        "profile",
        PARAPHRASES,
        "--hyp-annotator",
        "eflomal",
        "anna",
        "--ref-annotator",
        "gold",
        *quick,
    ]
    ran = made(capsys, *given, "--measure", "aer", "--html", page)
    assert "AER of 64 sentence pairs" in ran.out
    assert "fails most, of" not in ran.out
    assert page.read_text("utf-8").count("<svg") == 2
    rows = run(capsys, *given, "--measure", "phrase-f1", "--json").json
    assert {row["system"] for row in rows["by-phenomenon"]} == {"eflomal", "anna"}
    run(capsys, "profile", EFLOMAL, GOLD, "--compare", FAST, *quick).failed("phenomena")


def test_the_first_lines_say_where_a_system_fails_most_and_by_how_much(capsys):
    """What a reader takes from the samples: idiom; of 10 pairs or more, approximate."""
    given = ["profile", PARAPHRASES, "--hyp-annotator", "eflomal", "--ref-annotator", "gold"]
    first, overall, worst, firm = run(capsys, *given, "--trials", "500").out.splitlines()[:4]
    assert first == "F1 of 64 sentence pairs by phenomena"
    assert overall == "eflomal: F1 67.6 on all pairs"
    bounds = r"\[\d+\.\d, \d+\.\d\]"
    assert re.fullmatch(
        rf"eflomal fails most on idiom: F1 34\.1 {bounds} on its 6 pairs, 37\.2 {bounds} points "
        r"below the other 58 pairs \(71\.3\); fewer than 10 pairs, so not tested",
        worst,
    )
    among = "eflomal, among phenomena of 10 pairs or more, fails most on approximate"
    assert firm.startswith(among)
    assert "25.6 [" in firm
    assert "points below the other 54 pairs (71.6); p 0.0" in firm
    errors = run(capsys, *given, "--trials", "50", "--measure", "aer").out.splitlines()
    assert "points above the other" in errors[2]


def test_the_interval_of_a_difference_is_that_of_two_resampled_parts():
    """Against a plain bootstrap, pair by pair."""
    one = next(x for x in FOUND.parts if x.phenomenon == "synonym")
    held = np.array(["synonym" in values for values in GROUPS])
    rng = np.random.default_rng(5)
    inside, outside = ROWS[one.system][held], ROWS[one.system][~held]
    drawn = [
        link_ratios(inside[rng.integers(0, len(inside), len(inside))].sum(0)[None])["f1"][0]
        - link_ratios(outside[rng.integers(0, len(outside), len(outside))].sum(0)[None])["f1"][0]
        for _ in range(1500)
    ]
    many = profile_rows(
        {"a": ROWS[one.system]}, GROUPS, link_ratios, "f1", trials=1, resamples=1500
    )
    gap = next(x.gap for x in many.parts if x.phenomenon == "synonym")
    assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx([gap.low, gap.high], abs=0.03)


def test_a_phenomenon_of_all_pairs_has_no_others_and_one_without_a_value_comes_last():
    rows = np.array([[1, 1]] * 11 + [[0, 1]] * 11 + [[0, 0]] * 10)
    groups = [("x",)] * 11 + [("x", "y")] * 11 + [("x", "z")] * 10
    found = profile_rows(
        {"a": rows, "b": rows[::-1]}, groups, accuracy, "accuracy", trials=50, resamples=50
    )
    by = {(one.system, one.phenomenon): one for one in found.parts}
    assert isnan(by["a", "x"].rest)
    assert isnan(by["a", "x"].p_value)
    assert isnan(by["a", "z"].value)
    assert by["a", "y"].value == 0
    assert (found.measured.phenomena, found.ranking.missing) == (("y", "x", "z"), ("z",))
    assert "there are no others" in str(found)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30), st.data())
def test_the_test_against_the_whole_set_is_that_of_mann_and_whitney(values, data):
    drawn = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    found = against_whole(np.array(values, float), np.array(drawn))
    part = [value for value, one in zip(values, drawn, strict=True) if one]
    if len(part) in (0, len(values)) or len(set(values)) == 1:
        assert isnan(found)
        return
    above = sum((a > b) + (a == b) / 2 for a in part for b in values)
    n, m = len(part), len(values)
    total = n + m
    ties = sum(t**3 - t for t in Counter([*part, *values]).values())
    variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
    z = (abs(above - n * m / 2) - 0.5) / sqrt(variance)
    assert found == pytest.approx(erfc(z / sqrt(2)) / 2)


SAID = [(str(k % 2), str((k // 5) % 2), str((k * 7 // 3) % 2)) for k in range(24)]
SAID += [("1", "0", "1"), ("1", "", "1"), ("0", "0", "0")]
PHENOMENA = ["a,b" if k % 3 else "a" for k in range(24)] + ["c", "c", ""]
LABELLED = Corpus(
    replace(pair, attributes={"phenomena": names})
    for pair, names in zip(judged(SAID, ("gold", "one", "two")), PHENOMENA, strict=True)
)


def test_phenomena_are_compared_between_two_labels():
    """By hand: 1, 2, 3 pairs of label 0 against 1, 1, 3 of label 1: r is 2 / sqrt(2 * 8/3)."""
    rows = ["0 a,b,c", "0 b,c", "0 c", "0 ", "1 a,b,c", "1 c", "1 c"]
    said, names = zip(*(row.split(" ") for row in rows), strict=True)
    corpus = Corpus(
        replace(pair, attributes={"phenomena": held})
        for pair, held in zip(judged([(x, x) for x in said]), names, strict=True)
    )
    given = {"scheme": "binary", "trials": 20, "resamples": 20}
    found = profile_labels(corpus, ["a"], "gold", **given)
    assert found.by_label == {"0": [1, 2, 3], "1": [1, 1, 3]}
    assert found.to_json()["pearson"] == found.pearson == pytest.approx(2 / sqrt(2 * 8 / 3))
    assert "Pearson's r 0.866" in str(found.head)
    assert found.to_json()["by-label"][-1]["label 1"] in (1, 3)
    one = profile_labels(corpus[:4], ["a"], "gold", **given)
    assert (one.by_label, isnan(one.pearson), "pearson" in one.to_json()) == ({}, True, False)


def test_labels_are_profiled_by_accuracy_and_mcnemar():
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    given = {"scheme": "binary", "trials": 500, "resamples": 50}
    found = profile_labels(LABELLED, ["one", "two"], "gold", **given)
    like = profile_labels(LABELLED, ["one", "two"], "gold", like="kovatchev", **given)
    kept = [
        (
            set(pair.attributes["phenomena"].split(",")),
            *(pair.annotations[name].judgment for name in ("gold", "one", "two")),
        )
        for pair in LABELLED
        if len(pair.annotations) == 3
    ]
    assert found.total == len(kept) == 26
    assert "1 pair of 27 left out" in str(found)
    assert "1 of 26 sentence pairs" in str(found)
    for profile, exact in ((found, True), (like, False)):
        for x in profile.differences:
            right = [(g == a, g == b) for held, g, a, b in kept if x.phenomenon in held]
            first, second = right.count((True, False)), right.count((False, True))
            assert (x.alone.system, x.alone.baseline, x.pairs) == (first, second, len(right))
            assert x.difference == pytest.approx((first - second) / len(right))
            theirs = tables.mcnemar([[0, first], [second, 0]], exact=exact, correction=False)
            if len(right) < 10:
                assert isnan(x.p_value)
            else:
                assert x.p_value == pytest.approx(theirs.pvalue)
        for one in profile.parts:
            place = 2 if one.system == "one" else 3
            right = [row[1] == row[place] for row in kept if one.phenomenon in row[0]]
            assert one.value == pytest.approx(sum(right) / len(right))
    assert {x.phenomenon for x in found.parts if isnan(x.p_value)} == {"c"}
    part = next(x for x in like.parts if (x.system, x.phenomenon) == ("one", "b"))
    right = np.array([row[1] == row[2] for row in kept], float)
    assert part.p_value == against_whole(right, np.array(["b" in row[0] for row in kept]))
    assert "one-sided" in str(like)
    assert found.ranking.few == ("c",)
    by_label = {
        x: [sum(x in row[0] and row[1] == label for row in kept) for label in "01"] for x in "abc"
    }
    assert [by_label[x] for x in found.measured.phenomena] == [
        list(counts) for counts in zip(*found.by_label.values(), strict=True)
    ]
    with pytest.raises(OptionError, match="a different reference"):
        profile_labels(LABELLED, ["gold"], "gold", scheme="binary")


def test_the_command_profiles_judgments(capsys, tmp_path):
    gold, one = tmp_path / "gold.jsonl", tmp_path / "one.jsonl"
    for path, name in ((gold, "gold"), (one, "one")):
        pairs = [
            replace(x, annotations={k: v for k, v in x.annotations.items() if k == name})
            for x in LABELLED
        ]
        write_corpus(Corpus(pairs), path, format="alignkit-jsonl")
    lines = [f"{pair.id}\t{pair.annotations['two'].judgment}\n" for pair in LABELLED]
    two = write(tmp_path, "two.tsv", "".join(lines))
    page, cd, heat = tmp_path / "p.html", tmp_path / "cd.svg", tmp_path / "heat.svg"
    given = ["profile", one, gold, "--predictions", two, "--scheme", "binary", "--trials", "50"]
    ran = made(capsys, *given, "--html", page, "--plot", cd, "--heat-map", heat)
    assert "accuracy of 26 sentence pairs" in ran.out
    assert page.read_text("utf-8").count("<svg") == 2
    assert "critical difference" in cd.read_text("utf-8")
    assert heat.exists()
    rows = run(capsys, *given, "--json").json["systems-by-phenomenon"]
    assert {row["phenomenon"]: row["pairs"] for row in rows} == {"a": 24, "b": 16, "c": 1}
    for medium in ("--csv", "--latex", "--markdown"):
        assert "24" in run(capsys, *given, medium).out
    assert "McNemar's test without" in run(capsys, *given, "--like", "kovatchev").out
    links = f"profile {PARAPHRASES} --hyp-annotator eflomal anna --ref-annotator gold".split()
    told = run(capsys, *links, "--trials", "20", "--like", "kovatchev").out
    assert "Mann and Whitney" in told
    assert "paired randomization" in told


def contrasted(groups, *, like=None, flip=3):
    rows = np.array([[k % flip != 0, 1] for k in range(len(groups))])
    other = np.array([[k % 2, 1] for k in range(len(groups))])
    return profile_rows(
        {"a": rows, "b": other}, groups, accuracy, "accuracy", trials=200, resamples=50, like=like
    )


def test_an_attribute_of_two_values_and_equal_phenomena_are_one_test():
    found = contrasted([("news",) if k % 5 < 2 else ("novel",) for k in range(40)])
    for system in ("a", "b"):
        first, second = (one for one in found.parts if one.system == system)
        assert first.difference == pytest.approx(-second.difference)
        assert first.p_value == second.p_value == first.holm == second.holm
    assert "news against novel" in str(found)
    news, novel = found.differences
    assert (news.holm, novel.holm) == tuple(holm([news.p_value, novel.p_value]))
    assert "several values" not in str(found)
    assert "one test" not in str(contrasted([("x",) if k % 5 < 2 else ("",) for k in range(40)]))
    groups = [("news", "short") if k % 5 < 2 else ("novel", "odd") for k in range(39)] + [("odd",)]
    found = contrasted(groups)
    assert "have the same pairs" in str(found)
    assert "39 of 40 sentence pairs" in str(found)
    parts = {one.phenomenon: one for one in found.parts if one.system == "a"}
    assert parts["news"].holm == parts["short"].holm == parts["odd"].holm
    tested = [parts["news"].p_value, parts["novel"].p_value]
    assert [parts["news"].holm, parts["novel"].holm] == pytest.approx(holm(tested))
    between = {one.phenomenon: one for one in found.differences if one.baseline == "b"}
    assert between["news"].p_value == between["short"].p_value
    assert between["news"].holm == between["short"].holm
    like = contrasted([("news",) if k % 5 < 2 else ("novel",) for k in range(40)], like="kovatchev")
    one, two = (x for x in like.parts if x.system == "a")
    assert "one test" not in str(like)
    assert [one.holm, two.holm] == pytest.approx(holm([one.p_value, two.p_value]))


def test_a_small_difference_is_not_announced_as_where_a_system_fails():
    rows = np.array([[k % 2, 1] for k in range(61)])
    even = [("x",) if k < 30 else ("y",) for k in range(61)]
    told = profile_rows({"a": rows}, even, accuracy, "accuracy", trials=200, resamples=200).head[2]
    lowest = "a fails on no phenomenon clearly more than on others; accuracy is lowest on y"
    assert told.startswith(lowest)
    assert told.endswith("it may be chance")
    poor = np.array([[k >= 20 or k % 9 == 0, 1] for k in range(61)])
    few = [("bad",) if k < 20 else ("worse", "y") if k < 22 else ("y",) for k in range(61)]
    poor[20:22, 0] = 0, 0
    found = profile_rows({"a": poor}, few, accuracy, "accuracy", trials=200, resamples=200)
    assert any(line.startswith("a fails most on") for line in found.head)


@pytest.mark.parametrize("measure", ["f1", "recall"])
def test_a_system_that_gets_nothing_right_fails_most_there(measure):
    """Of 90 links of a phenomenon all are wrong: F1 is 0 there, as recall is."""
    gold = [{(k, k) for k in range(3)}] * 60
    wrong = {(k, k + 1) for k in range(3)}
    rows = score([wrong if n < 30 else links for n, links in enumerate(gold)], gold).rows["links"]
    groups = [("idiom",) if n < 30 else ("other",) for n in range(60)]
    found = profile_rows({"a": rows}, groups, link_ratios, measure, trials=200, resamples=200)
    assert any(line.startswith("a fails most on idiom") and " 0.0" in line for line in found.head)
    assert {one.phenomenon: one.value for one in found.parts} == {"idiom": 0, "other": 1}
    (idiom,) = [one for one in found.parts if one.phenomenon == "idiom"]
    assert idiom.p_value < 0.01


def test_few_ranks_are_said_to_tell_nothing_and_one_system_has_none():
    two = contrasted([("news",) if k % 5 < 2 else ("novel",) for k in range(40)])
    few = "of the ranks of 2 systems on 2 phenomena: the same ranks"
    assert any(few in one for one in two.cautions)
    alone = profile_rows(
        {"a": np.ones((40, 2), int)},
        [("x",)] * 20 + [("y",)] * 20,
        accuracy,
        "accuracy",
        trials=20,
        resamples=20,
    )
    assert not any("Friedman" in one or "ranked" in one for one in alone.cautions)


def test_many_phenomena_have_as_many_trials_as_holm_needs():
    """With 10,000 trials, the least p of 120 phenomena by Holm's method was .012."""
    rng = np.random.default_rng(1)
    right = rng.integers(0, 2, 240)
    right[:10] = 0
    groups = [("all wrong",) if k < 10 else (f"x{k % 119}",) for k in range(240)]
    groups = [(*group, *(f"x{j}" for j in rng.integers(0, 119, 6))) for group in groups]
    rows = np.array([[one, 1] for one in right])
    found = profile_rows({"a": rows}, groups, accuracy, "accuracy", resamples=9)
    tested = sum(not isnan(part.p_value) for part in found.parts)
    assert tested > 100
    assert f"|trials:{200 * tested}|" in found.signature
    given = profile_rows({"a": rows}, groups, accuracy, "accuracy", resamples=9, trials=99)
    assert "|trials:99|" in given.signature


def test_p_at_the_floor_is_shown_as_a_bound():
    rows = np.array([[k >= 20, 1] for k in range(60)], int)
    groups = [("bad",) if k < 20 else ("good",) for k in range(60)]
    groups = [(*group, "even") if k % 2 == 0 else group for k, group in enumerate(groups)]
    found = profile_rows({"a": rows}, groups, accuracy, "accuracy", trials=199, resamples=9)
    parts = {part.phenomenon: part for part in found.parts}
    bad = parts["bad"]
    assert (bad.p_value, bad.p_bound, bad.holm_bound) == (1 / 200, True, True)
    assert not parts["even"].p_bound
    (line,) = (x for x in found.show().splitlines() if x.startswith("a ") and " bad " in x)
    assert "<0.0050" in line
    record = next(x for x in found.to_records() if x.get("phenomenon") == "bad")
    assert (record["p_bound"], record["holm_bound"]) == (True, True)
    head = next(x for x in found.head if "bad" in x)
    assert "p <0.0050, by Holm <0.01" in head
