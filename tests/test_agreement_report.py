"""One annotator as the reference, means over pairs of annotators, the report, JSON and tables."""

import csv
from math import isnan, nan

import numpy as np
import pytest
from command import PARAPHRASES
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference_agreement import overlap_counts
from refusals import refuses
from repetitions import FULL
from strategies_agreement import RULES, corpora

from alignkit import Alignment, Corpus, SentencePair, read_corpus
from alignkit.agreement import agree, overlap, sections
from alignkit.agreement.intervals import Rows, Statistic
from alignkit.errors import MissingTextError, OptionError, UnknownNameError

NAMES = ("initial", "A", "B", "C")
QUICK = {"samples": 20, "resamples": 20}
JUDGED = [
    SentencePair(
        str(k),
        ("a", "b"),
        ("x", "y"),
        {
            "A": Alignment([(0, 0)], labels={(0, 1): "wrong"}),
            "B": Alignment([(0, 0)], labels={(0, 1): "wrong", (1, 1): "wrong"}),
            "initial": Alignment([(0, 0), (0, 1)]),
            "gold": Alignment([(0, 0)]),
        },
    )
    for k in range(3)
]


def pair(source="x y z", target="x v w", genre="", **texts):
    annotations = {name: Alignment.parse(text) for name, text in texts.items()}
    attributes = {"genre": genre} if genre else {}
    return SentencePair("1", source.split(), target.split(), annotations, attributes)


def test_worked_example_of_the_article():
    a, b = "0-0 1-1 2-2 3-3", "0-0 1-1 2-2 3?3 4-4 5-5"
    words = [" ".join(f"{side}{k}" for k in range(6)) for side in "st"]
    row = overlap(Corpus([pair(*words, A=a + " 4?4", B=b)]), "A", "B").words_eq2
    assert (row.precision, row.recall, round(row.f1, 3)) == (1.0, 0.8, 0.889)
    assert (row.hypothesis, row.hypothesis_found) == (4, 4)
    assert (row.reference, row.reference_found) == (5, 4)
    # Cohn et al. 2008, eq. 2: |A_S| = 4, |B_S| = 5, all A_S in B_P, four of B_S in A_P


@pytest.mark.parametrize(
    ("a", "b", "ratios"),
    [("", "1-1", (nan, 0, 0)), ("", "", (nan, nan, nan)), ("1-2", "1-1", (0, 0, 0))],
)
def test_ratios_without_items_are_undefined(a, b, ratios):
    row = overlap(Corpus([pair(A=a, B=b)]), "A", "B").words_sure
    assert (row.precision, row.recall, row.f1) == pytest.approx(ratios, nan_ok=True)


@given(corpora(("A", "B")), RULES)
def test_overlap_agrees_with_the_definition(corpus, rule):
    result = overlap(corpus, "A", "B", **{"ignore_identical": False, **rule})
    counts = {
        name: (row.hypothesis, row.hypothesis_found, row.reference, row.reference_found)
        for name, row in result.rows().items()
    }
    assert counts == overlap_counts(corpus, "A", "B", **rule)


def test_mean_is_weighted_by_shared_pairs_and_skips_what_is_undefined():
    full, part = pair(A="1-1", B="1-1", C="1-2"), pair(A="1-1 2-2", B="1-1")
    report = agree(Corpus([full, part, part, pair(A="", B="", D="")]))
    found = {(one.first, one.second): one.sections[0] for one in report.of("annotators")}
    assert list(found) == [("A", "B"), ("A", "C"), ("A", "D"), ("B", "C"), ("B", "D"), ("C", "D")]
    assert [one.pairs for one in found.values()] == [4, 1, 1, 1, 1, 0]
    mean = report.together[0].mean
    # precision: A ~ B 3/5; A ~ C and B ~ C 0; those with D undefined
    assert mean["words.sure.precision"] == pytest.approx(4 * (3 / 5) / (4 + 1 + 1))
    # cells: undefined kappa of A ~ D and B ~ D (no link at all), AC1 defined there
    kappas = [found[names].cells.sure.kappa for names in (("A", "B"), ("A", "C"), ("B", "C"))]
    assert mean["cells.sure.kappa"] == pytest.approx((4 * kappas[0] + kappas[1] + kappas[2]) / 6)
    assert isnan(found["A", "D"].cells.sure.kappa)
    assert found["A", "D"].cells.sure.ac1 == 1.0


def test_a_mean_says_how_many_pairings_it_leaves_out():
    report = agree(Corpus([pair(A="1-1", B="1-1", C="")] * 40), resamples=20)
    (together,) = report.together
    assert together.mean["words.sure.recall"] == 1
    assert together.mean_left_out["words.sure.recall"] == 2
    assert together.mean["words.sure.f1"] == pytest.approx(1 / 3)
    assert "words.sure.f1" not in together.mean_left_out
    told = "the mean leaves out 2 pairings with an undefined figure"
    for medium in ("text", "markdown", "latex", "html"):
        assert told in " ".join(report.show(medium, "all").split())
    means = [one for one in report.to_records() if one["kind"] == "mean"]
    reasons = {(one["level"], one["statistic"]): one["reason"] for one in means}
    assert (reasons["words.sure", "recall"], reasons["words.sure", "f1"]) == (told, "")
    assert report.to_json()["together"]["all"]["mean_left_out"]["words.sure.recall"] == 2


def link_counts(data):
    """Count the links of all annotators in each pair; the measure is how many a pair has."""
    counts = np.ones((len(data), 2))
    links = [data.links(name).pair_of for name in data.annotators]
    counts[:, 1] = np.bincount(np.concatenate(links), minlength=len(data))
    return Rows(counts, lambda sums: {"observed": sums[:, 1] / sums[:, 0]})


def test_a_statistic_added_for_all_annotators_is_in_every_output(monkeypatch):
    of_links = Statistic("cells.possible", ("observed",), link_counts)
    monkeypatch.setattr(sections, "OF_ALL", (*sections.OF_ALL, of_links))
    pairs = [pair(A="0-0 1-1", B="0-0", C="0-0 1-1"), pair(A="1-1", B="2-2"), pair(A="1-1")]
    report = agree(Corpus(pairs), resamples=20)
    (together,) = report.together
    level, name = "cells.possible", "cells.possible.observed"
    # the pairs that two or more annotated; of different words, without the links 0-0
    assert together.figures[name] == (5 + 2) / 2
    assert together.figures[f"different.{name}"] == (2 + 2) / 2
    interval = together.intervals[name]
    records = {(row["kind"], row["level"], row["statistic"]): row for row in report.to_records()}
    record = records["joint", level, "observed"]
    assert (record["value"], record["pairs"]) == (3.5, 2)
    assert (record["low"], record["high"]) == (interval.low, interval.high)
    rows = csv.DictReader(report.csv().splitlines())
    (row,) = [row for row in rows if (row["kind"], row["level"]) == ("joint", level)]
    assert (row["statistic"], float(row["value"])) == ("observed", 3.5)
    joint = [one for one in report.to_json()["figures"] if one["kind"] == "joint"]
    assert joint[0]["sections"]["all"][level]["observed"]["value"] == 3.5
    # and in the table of its level
    lines = report.show(tables=["cells"]).splitlines()
    assert [line.split() for line in lines if "3.500" in line] == [["all", "annotators", "3.500"]]


def test_left_out_pairs_are_counted_with_the_reason():
    corpus = Corpus([pair(A="1-1", B="1-1"), pair(A="1-1"), pair(B=""), pair()])
    together = agree(corpus).together[0]
    assert (together.pairs, together.used) == (4, 1)
    assert together.left_out == {
        "not annotated by B": 1,
        "not annotated by A": 1,
        "not annotated by A, B": 1,
    }
    assert together.fleiss.pairs == 1


@settings(max_examples=6 if FULL else 3)
@given(corpora(NAMES), st.booleans())
def test_each_group_is_reported_as_if_alone(corpus, kept):
    groups = {
        name: group
        for name, group in corpus.groups("genre").items()
        if set(group.aligners) == set(NAMES)
    }
    assume(groups)
    options = {"initial": "initial", "missing_initial": "empty", "bootstrap": "none"}
    options |= {"samples": 3, "ignore_identical": not kept}
    whole = agree(corpus, by="genre", **options)
    for name, group in groups.items():
        alone = agree(group, [one for one in NAMES if one != "initial"], **options)
        for one in alone.pairings:
            part, first = whole.pairing(one.first, one.second).section(name), one.sections[0]
            assert part.pairs == first.pairs
            assert dict(part.figures) == pytest.approx(dict(first.figures), nan_ok=True)
            assert repr((part.overlap, part.cells)) == repr((first.overlap, first.cells))
        part, alone = whole.together[whole.sections.index(name)], alone.together[0]
        assert (repr(part.fleiss), part.left_out) == (repr(alone.fleiss), alone.left_out)


def test_a_group_that_an_annotator_did_not_touch_has_no_fleiss():
    both = pair(genre="news", A="1-1", B="1-1", C="1-1")
    report = agree(Corpus([both, pair(genre="talk", A="1-1", B="2-1")]), by="genre")
    assert report.sections == ("all", "news", "talk")
    assert report.together[2].fleiss is None
    assert [one.name for one in report.of("annotators") if one.section("talk").overlap] == ["A ~ B"]
    lone = agree(Corpus([both, pair(genre="talk", A="1-1")]), by="genre")
    talk = lone.together[2]
    assert not any(one.section("talk").overlap for one in lone.of("annotators"))
    assert (talk.used, dict(talk.alpha), dict(talk.intervals)) == (0, {}, {})
    refuses(UnknownNameError, "genre", agree, Corpus([both]), by="gender")


def test_many_groups_are_short_and_what_is_undefined_says_why():
    both = [pair(genre=str(k), A="1-1", B="1-1", C="") for k in range(12)]
    text = agree(Corpus(both), by="genre", resamples=5).show()
    assert len(text.split("\n")) < 60
    assert "\n9, mean " in text
    assert "\n10, mean " not in text
    assert "see the table pairings" in text
    assert "marked nothing here" in text
    assert "neither marked anything here" in agree(Corpus([pair(A="", B="")])).show()


def test_a_group_called_all_is_told_from_the_corpus():
    report = agree(Corpus([pair(genre="all", A="1-1", B="1-1"), pair(A="", B="")]), by="genre")
    assert report.sections == ("all", "genre all", "")


def test_without_words_there_is_the_overlap_if_identical_items_are_included():
    links = {"A": Alignment.parse("0-0 1-1"), "B": Alignment.parse("0-0")}
    corpus = Corpus([SentencePair("1", None, None, links)])
    refuses(MissingTextError, None, agree, corpus)
    report = agree(corpus, ignore_identical=False)
    one = report.pairings[0]
    assert one.sections[0].overlap.words_sure.precision == 0.5
    assert (one.sections[0].cells, dict(one.sections[0].alpha), dict(one.beyond)) == (None, {}, {})
    assert report.together[0].fleiss is None
    refuses(MissingTextError, None, agree, corpus, ignore_identical=False, missing_initial="empty")


THREE = [
    pair(A="0-0 1-1", B="0-0 1?1", C="1-2", initial="0-0"),
    pair(A="1-1", B="1-2", C="1-1 2-2", initial="1-1"),
    pair(A="0-1 2-2", B="2-2", C="2-2", initial=""),
]


def test_naming_an_initial_alignment_only_adds():
    corpus, names = Corpus(THREE), ["A", "B", "C"]
    without = agree(corpus, names, resamples=20)
    named = agree(corpus, names, initial="initial", **QUICK)
    # C of the main tables is that of another model, and what it was stands beside it
    faces = ("pi", "pi0", "C", "pi0_error", "C_error", "used", "both_empty", "one_sided")
    known = {key(one): repr((one.value, one.low, one.high)) for one in named.figures()}
    for one in without.figures():
        if one.statistic in faces and one.kind in ("mean", "automatic mean"):
            continue
        ending = ".kupper-hafner" if one.statistic in faces else ""
        numbers = known[(*key(one)[:-1], one.statistic + ending)]
        assert repr((one.value, one.low, one.high)) == numbers, one
    assert {one.kind for one in without.pairings} < {one.kind for one in named.pairings}
    assert {one.chance for one in without.pairings} == {"kupper-hafner"}


def key(figure):
    return figure.kind, figure.first, figure.second, figure.section, figure.level, figure.statistic


def test_every_statistic_has_an_interval_or_a_reason():
    bare = ("used", "both_empty", "one_sided", "error", "pi", "pi0", "add", "delete", "dispersion")
    for one in agree(Corpus(THREE * 3), ["A", "B", "C"], initial="initial", **QUICK).figures():
        if "mean" in one.kind or one.statistic.split(".")[0].endswith(bare):
            continue
        assert one.low < one.high or one.reason, one
    alone = agree(Corpus(THREE[:1]), ["A", "B"])
    reasons = {one.reason for one in alone.figures() if one.statistic == "f1" and one.first}
    assert reasons == {"there is only one sentence pair, so nothing to resample"}
    none = agree(Corpus(THREE), ["A", "B"], bootstrap="none")
    assert all(isnan(one.low) and not one.reason for one in none.figures() if one.statistic == "f1")


def test_one_rule_of_case_reaches_every_statistic():
    words = {"source": "Ax by", "target": "ax cy"}
    corpus = Corpus([pair(**words, A="0-0 1-1", B="0-0", initial="0-0")] * 2)
    folded, exact = (
        agree(corpus, initial="initial", exact_case=case, **QUICK).pairings[0]
        for case in (False, True)
    )
    # Ax and ax are one word, or two
    for one, links in ((folded, 1), (exact, 2)):
        part = one.sections[0]
        assert part.overlap.words_sure.hypothesis == 2 * links
        assert part.overlap.phrases_sure.hypothesis == 2 * links
        assert part.different.sure.items == 2 * (2 + links)
        assert one.main("words.sure").sentences[0].first == links
    alphas = [one.sections[0].alpha["different.sure.masi"].distinct for one in (folded, exact)]
    assert alphas == [2, 3]


def test_the_judged_universe():
    corpus, names = Corpus(JUDGED), ["A", "B"]
    every = agree(corpus, names, initial="initial", **QUICK).pairings[0]
    assert every.sections[0].cells.possible.items == 12
    found = agree(corpus, names, initial="initial", adjudicated="gold", universe="judged", **QUICK)
    assert found.pairings[0].sections[0].cells.possible.table == ((3, 0), (0, 3))
    assert found.pairings[0].main("words.sure").models["A"]["edit"].data.trials.tolist() == [2] * 3
    gold = found.of("adjudicated")[0]
    assert gold.sections[0].cells is None
    assert gold.sections[0].reason == "'gold' records no judged cells"
    assert gold.sections[0].overlap.words_sure.f1 == 1.0
    assert (gold.chance, "no judged cells" in gold.no_edits) == ("kupper-hafner", True)
    refuses(OptionError, "'gold' has no labels", agree, corpus, ["A", "gold"], universe="judged")


def test_a_pair_with_several_values_counts_in_each_group():
    pairs = [pair(genre="x,y", A="1-1", B="1-1"), pair(genre="y", A="1-2", B="2-2")]
    report = agree(Corpus(pairs), by="genre", split=",", resamples=5)
    assert report.sections == ("all", "x", "y")
    assert [one.pairs for one in report.together] == [2, 1, 2]
    told = "groups overlap: 1 of 2 sentence pairs have several values of genre"
    assert told in " ".join(str(report).split())
    assert told in report.to_html()
    assert (report.options.split, report.to_json()["in_several_groups"]) == (",", 1)
    plain = agree(Corpus(pairs), by="genre", resamples=5)
    assert (plain.sections, plain.several) == (("all", "x,y", "y"), 0)
    refuses(OptionError, "needs `by`", agree, Corpus(pairs), split=",")


def test_the_legend_says_where_intervals_can_be_too_narrow():
    samples = read_corpus(PARAPHRASES, format="alignkit-jsonl")
    says = "is too narrow if few pairs have most sure links"
    report = " ".join(str(agree(samples[:30], ["anna", "ben"], resamples=50)).split())
    assert "(P, R and F1: jackknife" in report
    assert f"That of sure ~ all {says}" in report
    plain = " ".join(str(agree(samples[:5], ["anna", "ben"], bootstrap="none")).split())
    assert "In brackets" not in plain
    assert says not in plain
