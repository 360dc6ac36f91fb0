"""Averages over sentence pairs: macro P, R and F1, the mean of F1, exact match, and the split."""

import json
import math
import re

import numpy as np
import pytest
from command import PARAPHRASES, run
from hypothesis import given
from hypothesis import strategies as st
from reference_scoring import macro_reference, phrase_row

from alignkit import Alignment, Corpus, SentencePair, merge, read_corpus, score
from alignkit.errors import OptionError, UnknownNameError
from alignkit.scoring import group_records, macro_ratios, macro_terms, pair_records
from alignkit.scoring.measures import MACRO_COLUMNS, aggregated
from alignkit.scoring.records import breakdown_table, few_in_groups
from alignkit.stats import confidence_interval

small_links = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=5)
alignments = st.builds(Alignment, small_links, small_links)
pair_lists = st.lists(st.tuples(alignments, alignments), max_size=6)

NAMES = ("precision", "recall", "f1", "mean_f1")


def sides(hyp, ref):
    return tuple(map(set, (hyp.sure, hyp.possible, ref.sure, ref.possible)))


def check(found, expected, pairs):
    for name in NAMES:
        value = getattr(found, name)
        assert (None if math.isnan(value) else value) == pytest.approx(expected[name])
    assert (found.exact_pairs, dict(found.left_out)) == (expected["exact"], expected["left_out"])
    if pairs:
        assert found.exact_match == pytest.approx(expected["exact"] / pairs)
    else:
        assert math.isnan(found.exact_match)


@given(pair_lists)
def test_means_are_those_of_a_plain_script(pairs):
    found = score([a for a, _ in pairs], [b for _, b in pairs], aggregate="both")
    check(found.macro["links"], macro_reference([sides(*pair) for pair in pairs]), len(pairs))
    alone = score([a for a, _ in pairs], [b for _, b in pairs])
    assert (alone.links.counts, alone.macro) == (found.links.counts, {})


@given(pair_lists)
def test_means_of_phrase_pairs_are_those_of_their_rows(pairs):
    found = score([a for a, _ in pairs], [b for _, b in pairs], level="phrases", aggregate="macro")
    rows = [phrase_row(set(a.possible), set(b.possible)) for a, b in pairs]
    ratios = [(r[2] / r[0] if r[0] else None, r[3] / r[1] if r[1] else None) for r in rows]
    for name, values in zip(("precision", "recall"), zip(*ratios, strict=True), strict=False):
        known = [value for value in values if value is not None]
        value = getattr(found.macro["phrases-possible"], name)
        assert value == pytest.approx(sum(known) / len(known) if known else np.nan, nan_ok=True)
    exact = sum(row[0] == row[1] == row[4] for row in rows)
    assert found.macro["phrases-possible"].exact_pairs == exact


def test_a_worked_example():
    """P 1/2 and 1, R 1 and 1/3: means 3/4 and 2/3, F1 12/17; the pairs' F1 2/3 and 1/2."""
    ref = [{(0, 0)}, {(0, 0), (1, 1), (2, 2)}, set()]
    found = score([{(0, 0), (1, 1)}, {(0, 0)}, set()], ref, aggregate="macro").macro["links"]
    assert (found.precision, found.recall) == (0.75, pytest.approx(2 / 3))
    assert (found.f1, found.mean_f1) == pytest.approx((12 / 17, 7 / 12))
    assert (found.exact_pairs, found.exact_match) == (1, pytest.approx(1 / 3))
    assert dict(found.left_out) == {"precision": 1, "recall": 1, "f1": 1}


def test_macro_and_micro_are_drawn_together():
    rng = np.random.default_rng(3)
    ref = [{(i, i) for i in range(rng.integers(1, 9))} for _ in range(40)]
    hyp = [{link for link in links if rng.random() < 0.7} for links in ref]
    both, micro, macro = (
        score(hyp, ref, aggregate=name).with_intervals(resamples=300, seed=5)
        for name in ("both", "micro", "macro")
    )
    shared = {k: v for k, v in both.intervals["links"].items() if k in micro.links.to_json()}
    assert shared == micro.intervals["links"]
    assert macro.intervals["links"].items() <= both.intervals["links"].items()
    terms = macro_terms(both.rows["links"], "links")
    rng = np.random.default_rng(8)
    drawn = macro_ratios(np.array([terms[rng.integers(0, 40, 40)].sum(0) for _ in range(4000)]))
    for name, values in drawn.items():
        low, high = np.nanquantile(values, [0.025, 0.975])
        found = confidence_interval(terms, macro_ratios, resamples=4000, seed=1)[name]
        if low == high:
            assert found.reason == "all resamples give the same value"
            continue
        assert (found.low, found.high) == pytest.approx((low, high), abs=0.012)
        interval = both.intervals["links"][name]
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.04)


def test_json_table_and_records_have_them():
    found = score(["0-0", "1-1", ""], ["0-0", "0-1", ""], aggregate="both")
    plain = json.loads(json.dumps(found.to_json(), allow_nan=False))["links"]
    assert plain["macro"] == {
        **{"precision": 0.5, "recall": 0.5, "f1": 0.5, "mean_f1": 0.5},
        "left_out": {"precision": 1, "recall": 1, "f1": 1},
    }
    assert (plain["exact_match"], plain["exact_pairs"]) == (2 / 3, 2)
    record = found.to_records()[0]
    assert (record["macro_f1"], record["exact_match"], record["precision"]) == (0.5, 2 / 3, 0.5)
    assert "left out, links: precision 1, recall 1, F1 1" in str(found)
    assert "links, micro" not in str(score(["0-0"], ["0-0"], aggregate="macro"))
    assert "aggregate:both" in str(found.signature)
    assert found.with_intervals(resamples=9, seed=1).to_records()[0]["macro_f1_high"] >= 0.5


def test_identical_links_and_the_others_make_up_all():
    words = ("the", "old", "mill"), ("The", "ancient", "mill")
    links = {"system": Alignment.parse("0-0 1-1 2-1"), "gold": Alignment.parse("0-0 2-2")}
    pair = SentencePair("1", *words, links)
    found = score(Corpus([pair]), aggregate="both", split_identical=True)
    identical, others = found.split["identical"], found.split["non-identical"]
    assert (identical.precision, identical.recall, others.precision) == (1, 0.5, 0)
    assert math.isnan(others.recall)
    for name, count in found.links.counts.items():
        assert identical.counts[name] + others.counts[name] == count
    assert others.counts == score(Corpus([pair]), ignore_identical=True).links.counts
    assert set(found.to_json()["links"]) > {"identical", "non_identical", "macro"}
    assert "links, non-identical, macro" in str(found)
    with pytest.raises(OptionError, match="split_identical"):
        score(Corpus([pair]), split_identical=True, ignore_identical=True)
    with pytest.raises(UnknownNameError, match="micro, macro, both"):
        score(Corpus([pair]), aggregate="mean")


def test_the_command_prints_them(capsys):
    given_ = ["score", PARAPHRASES, PARAPHRASES, "--hyp-annotator", "eflomal"]
    given_ += ["--ref-annotator", "gold", "--aggregate", "both", "--split-identical"]
    found = run(capsys, *given_, "--ci", "--resamples", "50", "--json").json
    corpus = read_corpus(PARAPHRASES, format="alignkit-jsonl")
    pairs = [sides(pair.alignment("eflomal"), pair.alignment("gold")) for pair in corpus]
    expected = macro_reference(pairs)
    for name in NAMES:
        assert found["links"]["macro"][name] == pytest.approx(expected[name])
    assert found["links"]["exact_pairs"] == expected["exact"]
    assert "exact_match" in found["links"]["identical"]
    assert "macro_f1" in found["intervals"]["non_identical"]
    told = run(capsys, *given_, "--by", "genre").out
    assert "links, identical, macro" in told
    assert "macro F1" in told
    run(capsys, *given_, "--ignore-identical").failed("--split-identical", "--ignore-identical")
    run(capsys, "score", PARAPHRASES, PARAPHRASES, "--split", ",").failed("--by")


@given(st.lists(st.tuples(small_links, small_links), min_size=1, max_size=6))
def test_f1_is_1_less_aer_where_all_links_are_sure(pairs):
    found = score([a for a, _ in pairs], [b for _, b in pairs]).with_intervals(resamples=20)
    assert found.links.f1 == pytest.approx(1 - found.links.aer, nan_ok=True)
    mine, other = (found.intervals["links"][name] for name in ("f1", "aer"))
    assert (mine.undefined, mine.reason) == (other.undefined, other.reason)
    assert mine.low == pytest.approx(1 - other.high, nan_ok=True)
    for one in pair_records(found.rows, list(map(str, range(len(pairs))))):
        assert one["f1"] == pytest.approx(1 - one["aer"], nan_ok=True)


def plain_rte(path):
    """Read sure links, all links and those of equal words of an RTE-2 file, by regexes alone."""
    lines = path.read_text(encoding="utf-8").replace("\ufeff", "").splitlines()
    found = {}
    for k, line in enumerate(lines):
        if line.startswith("# sentence pair"):
            source = lines[k + 1].casefold().split()
            target = re.findall(r"(\S+) \(\{", lines[k + 2].casefold())
            links = [
                (position, j)
                for j, inside in enumerate(re.findall(r"\(\{([^}]*)\}", lines[k + 2]))
                for position in inside.split("/")[0].split()
                if j  # the first is NULL
            ]
            every = {(int(position.removeprefix("p")), j) for position, j in links}
            sure = {(int(position), j) for position, j in links if position[0] != "p"}
            equal = {
                (i + 1, j)
                for i, j in np.ndindex(len(source), len(target))
                if source[i] == target[j]
            }
            found[line.split()[-1]] = sure, every, equal
    return found


@pytest.mark.real_data
def test_annotators_of_rte2_are_scored_as_by_a_plain_script(data, capsys):
    paths = {name: data / "rte2" / f"RTE2_dev_{name}.align.txt" for name in "AB"}
    hyp, ref = (plain_rte(paths[name]) for name in "BA")
    assert len(hyp) == 800
    four = [(*hyp[key][:2], *ref[key][:2]) for key in ref]
    first, second = (read_corpus(paths[name], format="rte", name=name) for name in "AB")
    corpus = merge(first, {"B": second})
    check(score(corpus, "B", "A", aggregate="macro").macro["links"], macro_reference(four), 800)
    given_ = ["score", paths["B"], paths["A"], "--format", "rte", "--level", "links"]
    for links, chosen in (("given", (0, 1, 2, 3)), ("sure-only", (0, 0, 2, 2))):
        found = run(capsys, *given_, "--links", links, "--aggregate", "both", "--json").json
        plain = macro_reference([tuple(one[k] for k in chosen) for one in four])
        for name in NAMES:
            assert found["links"]["macro"][name] == pytest.approx(plain[name])
        assert found["links"]["exact_match"] == plain["exact"] / 800


@pytest.mark.real_data
@pytest.mark.parametrize("ignored", [False, True])
def test_mean_of_f1_of_all_links_of_rte2_is_that_of_a_plain_script(data, capsys, ignored):
    """Dice's coefficient of each pair: 0 of two that share nothing, none of two empty ones."""
    paths = [data / "rte2" / f"RTE2_dev_{name}.align.txt" for name in "AB"]
    first, second = map(plain_rte, paths)
    gone = {key: first[key][2] if ignored else set() for key in first}
    sides = [(first[key][1] - gone[key], second[key][1] - gone[key]) for key in first]
    plain = [2 * len(a & b) / (len(a) + len(b)) for a, b in sides if a or b]
    asked = ["score", *paths, "--format", "rte", "--links", "all-sure", "--aggregate", "macro"]
    asked += ["--ignore-identical"] if ignored else []
    found = run(capsys, *asked, "--json").json["links"]["macro"]
    assert found["mean_f1"] == pytest.approx(sum(plain) / len(plain))
    assert found["left_out"]["f1"] == 800 - len(plain)
    assert (0 in plain) == (len(plain) < 800) == ignored


def test_groups_have_intervals_of_their_own_and_tell_what_macro_needs():
    rng = np.random.default_rng(4)
    ref = [{(i, i) for i in range(rng.integers(1, 6))} for _ in range(61)]
    hyp = [{link for link in links if rng.random() < 0.6} for links in ref]
    groups = ["many" if k < 50 else "few" if k < 60 else "one" for k in range(61)]
    found = score(hyp, ref, aggregate="both")
    records = group_records(found.rows, groups, aggregate="both", resamples=4000)
    plain = group_records(found.rows, groups, aggregate="both")
    for record, bare in zip(records, plain, strict=True):
        assert {key: record[key] for key in bare} == pytest.approx(bare, nan_ok=True)
        places = np.array([k for k, name in enumerate(groups) if name == record["group"]])
        chosen = aggregated(found.rows["links"][places], "links", "both")
        for name, interval in confidence_interval(*chosen, resamples=4000, seed=7).items():
            bounds = record[f"{name}_low"], record[f"{name}_high"]
            assert bounds == pytest.approx((interval.low, interval.high), abs=0.04, nan_ok=True)
            assert record.get(f"{name}_reason", "") == interval.reason
    assert "nothing to resample" in records[2]["aer_reason"]
    again = group_records(found.rows, groups, aggregate="both", resamples=4000, seed=12345)
    assert [one["f1_low"] for one in again[:2]] == [one["f1_low"] for one in records[:2]]
    assert few_in_groups(records, "group").startswith("2 of 3 groups have fewer")
    assert few_in_groups(plain, "group") == ""
    terms = macro_terms(found.rows["links"], "links")
    records = group_records(found.rows, groups, aggregate="macro")
    for name in ("precision", "recall", "f1"):
        total = sum(record[f"left_out_{name}"] for record in records)
        assert total == found.macro["links"].left_out[name]
    assert sum(record["left_out_precision"] for record in records) > 0
    assert sum(record["left_out_f1"] for record in records) == 0  # all have gold links
    pairs = pair_records(found.rows, list(map(str, range(61))), aggregate="both")
    exact = terms[:, MACRO_COLUMNS.index("exact")].tolist()
    assert [pair["exact_match"] for pair in pairs] == exact
    assert "exact_match" not in pair_records(found.rows, list(map(str, range(61))))[0]
    table = str(breakdown_table(records))
    assert "left out (0/0)" in table
    assert f"precision {records[0]['left_out_precision']}" in table


def test_a_table_of_pairs_names_levels_as_reports_do():
    corpus = read_corpus(PARAPHRASES)
    scored = score(corpus, "eflomal", "gold", level="phrases")
    records = pair_records(scored.rows, [pair.id for pair in corpus])
    table = breakdown_table(records)
    level = [column.key for column in table.columns].index("level")
    assert {row[level] for row in table.rows} == {"phrases, possible", "phrases, sure"}
