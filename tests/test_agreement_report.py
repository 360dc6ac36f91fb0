"""One annotator as the reference, means over pairs of annotators, the report, JSON and tables."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from math import isnan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_agreement import overlap_counts
from strategies_agreement import corpora

from alignkit.agreement import agreement_report, overlap, render_report
from alignkit.alignment import Alignment
from alignkit.corpus import Corpus, SentencePair
from alignkit.errors import MissingTextError, OptionError, UnknownNameError


def pair(source="x y z", target="x v w", genre="", **texts):
    annotations = {name: Alignment.parse(text) for name, text in texts.items()}
    attributes = {"genre": genre} if genre else {}
    return SentencePair("1", source.split(), target.split(), annotations, attributes)


def test_worked_example_of_the_article():
    """METHOD section 2: |A_S| = 4, |B_S| = 5, all A_S in B_P, four of B_S in A_P."""
    a = "0-0 1-1 2-2 3-3"
    b = "0-0 1-1 2-2 3?3 4-4 5-5"
    words = [" ".join(f"{side}{k}" for k in range(6)) for side in "st"]
    row = overlap(Corpus([pair(*words, A=a + " 4?4", B=b)]), "A", "B").words_eq2
    assert (row.precision, row.recall, round(row.f1, 3)) == (1.0, 0.8, 0.889)
    assert (row.hypothesis, row.hypothesis_found, row.reference, row.reference_found) == (
        4,
        4,
        5,
        4,
    )


def test_identical_items_are_left_out_unless_asked_for():
    corpus = Corpus([pair(A="0-0 1-1", B="0-0 1-2")])
    without, included = overlap(corpus, "A", "B"), overlap(corpus, "A", "B", include_identical=True)
    assert (without.words_sure.hypothesis, included.words_sure.hypothesis) == (1, 2)
    assert (without.words_sure.precision, included.words_sure.precision) == (0.0, 0.5)
    assert (without.phrases_sure.hypothesis, included.phrases_sure.hypothesis) == (1, 2)


def test_ratios_without_items_are_undefined():
    row = overlap(Corpus([pair(A="", B="1-1")]), "A", "B").words_sure
    assert isnan(row.precision)
    assert row.recall == 0.0
    assert isnan(row.f1)


def test_nothing_in_common_has_no_f1():
    row = overlap(Corpus([pair(A="1-2", B="1-1")]), "A", "B").words_sure
    assert (row.precision, row.recall) == (0.0, 0.0)
    assert isnan(row.f1)


@settings(max_examples=60)
@given(corpora(("A", "B")), st.booleans())
def test_overlap_agrees_with_the_definition(corpus, include_identical):
    result = overlap(corpus, "A", "B", include_identical=include_identical)
    counts = {
        name: (row.hypothesis, row.hypothesis_found, row.reference, row.reference_found)
        for name, row in result.rows().items()
    }
    assert counts == overlap_counts(corpus, "A", "B", include_identical)


@settings(max_examples=30)
@given(corpora(("A", "B")))
def test_exchanging_the_annotators_exchanges_precision_and_recall(corpus):
    one, other = overlap(corpus, "A", "B").rows(), overlap(corpus, "B", "A").rows()
    for name, row in one.items():
        assert row.precision == pytest.approx(other[name].recall, nan_ok=True)
        assert row.f1 == pytest.approx(other[name].f1, nan_ok=True)


def test_mean_is_weighted_by_shared_pairs_and_skips_what_is_undefined():
    full = pair(A="1-1", B="1-1", C="1-2")
    part = pair(A="1-1 2-2", B="1-1")
    nothing = pair(A="", B="", D="")
    report = agreement_report(Corpus([full, part, part, nothing]))
    found = {one.annotators: one for one in report.overall.comparisons}
    assert list(found) == [("A", "B"), ("A", "C"), ("A", "D"), ("B", "C"), ("B", "D"), ("C", "D")]
    assert [one.pairs for one in found.values()] == [4, 1, 1, 1, 1, 0]
    # precision: A ~ B 3/5; A ~ C and B ~ C 0; those with D undefined
    assert report.overall.mean["words.sure.precision"] == pytest.approx(4 * (3 / 5) / (4 + 1 + 1))
    # cells: undefined kappa of A ~ D and B ~ D (no link at all), AC1 defined there
    kappas = [found[names].cells.sure.kappa for names in (("A", "B"), ("A", "C"), ("B", "C"))]
    assert report.overall.mean["cells.sure.kappa"] == pytest.approx(
        (4 * kappas[0] + kappas[1] + kappas[2]) / 6
    )
    assert isnan(found["A", "D"].cells.sure.kappa)
    assert found["A", "D"].cells.sure.ac1 == 1.0


def test_left_out_pairs_are_counted_with_the_reason():
    corpus = Corpus([pair(A="1-1", B="1-1"), pair(A="1-1"), pair(B=""), pair()])
    overall = agreement_report(corpus).overall
    assert (overall.pairs, overall.used) == (4, 1)
    assert overall.left_out == {
        "not annotated by B": 1,
        "not annotated by A": 1,
        "not annotated by A, B": 1,
    }
    assert overall.fleiss.pairs == 1


def test_each_group_is_reported_as_if_alone():
    news, talk = pair(genre="news", A="1-1", B="1-1 2?2"), pair(genre="talk", A="1-2", B="1-1")
    report = agreement_report(Corpus([news, talk, news]), by="genre")
    assert [section.name for section in report.groups] == ["news", "talk"]
    alone = agreement_report(Corpus([news, news])).overall
    assert replace(alone, name="news") == report.groups[0]
    with pytest.raises(UnknownNameError, match="genre"):
        agreement_report(Corpus([news]), by="gender")


def test_a_group_that_an_annotator_did_not_touch_has_no_fleiss():
    both = pair(genre="news", A="1-1", B="1-1", C="1-1")
    report = agreement_report(Corpus([both, pair(genre="talk", A="1-1", B="2-1")]), by="genre")
    talk = report.groups[1]
    assert talk.fleiss is None
    assert [one.annotators for one in talk.comparisons] == [("A", "B")]
    lone = agreement_report(Corpus([both, pair(genre="talk", A="1-1")]), by="genre").groups[1]
    assert (lone.comparisons, lone.used, dict(lone.mean), dict(lone.alpha)) == ((), 0, {}, {})


def test_without_words_there_is_the_overlap_if_identical_items_are_included():
    links = {"A": Alignment.parse("0-0 1-1"), "B": Alignment.parse("0-0")}
    corpus = Corpus([SentencePair("1", None, None, links)])
    with pytest.raises(MissingTextError):
        agreement_report(corpus)
    report = agreement_report(corpus, include_identical=True)
    one = report.overall.comparisons[0]
    assert one.overlap.words_sure.precision == 0.5
    assert (one.cells, report.overall.fleiss, dict(one.alpha)) == (None, None, {})
    assert report.to_json()["fleiss_kappa"] is None
    assert "100.0" in render_report(report)


def test_fewer_than_two_annotators_are_refused():
    with pytest.raises(OptionError, match="two or more"):
        agreement_report(Corpus([pair(A="0-0")]))
    with pytest.raises(OptionError, match="here is none"):
        agreement_report(Corpus())


def test_json_has_the_numbers_by_name():
    report = agreement_report(Corpus([pair(A="1-1 2?2", B="1-1")]))
    found = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert found["fleiss_kappa"] == pytest.approx(report.overall.fleiss.kappa)
    first = found["comparisons"][0]
    assert first["annotators"] == ["A", "B"]
    assert first["words"]["possible"]["precision"] == 0.5
    assert first["phrases"]["sure"]["hypothesis"] == 1
    assert first["cells"]["all"]["table"] == [[7, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert first["alpha"]["possible"]["masi"]["units"] == 3
    assert found["mean"]["cells"]["all"]["ac1"] == first["cells"]["all"]["ac1"]
    assert found["fleiss"]["agreeing"] == {"2": 3, "1": 2}


def test_json_has_null_for_what_is_undefined():
    report = agreement_report(Corpus([pair(A="", B="")]))
    found = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert found["fleiss_kappa"] is None
    assert found["comparisons"][0]["words"]["sure"]["f1"] is None
    assert found["mean"]["alpha"]["sure"]["dice"] is None


def test_tables_are_aligned_and_print_a_dash_for_undefined():
    corpus = Corpus(
        [pair(genre="news", anna="1-1 2?2", ben="1-1", c="2-2"), pair(genre="t", anna="", ben="")]
    )
    text = render_report(agreement_report(corpus, by="genre"))
    assert "identical ones left out" in text
    assert text.count("\nanna ~ ben ") == 4
    tables = [block.splitlines()[1:] for block in text.split("\n\n")[1:-1]]
    for _, under, *rows in tables:
        assert {len(row) for row in rows} == {len(under)}
        assert not any(row != row.rstrip() for row in rows)
    row = next(line for line in tables[0] if line.startswith("t "))
    assert row.split()[1:] == ["1", *"-" * 9]
    assert "100.0" in tables[0][2]
    assert [line.split()[0] for line in tables[-1][2:]] == ["all", "news", "t"]


@settings(max_examples=25)
@given(corpora(), st.booleans())
def test_any_corpus_can_be_reported(corpus, include_identical):
    report = agreement_report(corpus, by="genre", include_identical=include_identical)
    json.dumps(report.to_json(), allow_nan=False)
    for block in render_report(report).split("\n\n")[1:-1]:
        rows = block.splitlines()[2:]
        assert all(len(one) == len(other) for one, other in pairwise(rows))
