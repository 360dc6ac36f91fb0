"""Link and phrase scores: rows of counts, measures, whole corpora."""

import json
import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_scoring import f1_reference, link_row, och_ney_aer
from refusals import refuses
from test_phrases import EXAMPLE, SOURCE, TARGET

from alignkit import Alignment, Corpus, LinkArrays, SentencePair, TokenArrays, Vocabulary, scoring
from alignkit.errors import JoinError, MissingTextError, OptionError, UnknownNameError
from alignkit.model import arrays

small_links = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9)
alignments = st.builds(Alignment, small_links, small_links)


def corpus_of(hyp, ref, source=SOURCE, target=TARGET):
    return Corpus([SentencePair("1", source, target, {"system": hyp, "gold": ref})])


@given(st.lists(st.tuples(alignments, alignments), max_size=4), st.sampled_from([25, 2**63 - 1]))
def test_link_rows_are_those_of_sets(pairs, most):
    sides = (LinkArrays.pack(pair[side] for pair in pairs) for side in (0, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "_MOST_NUMBERS", most)  # more cells are numbered in blocks
        rows = scoring.count_links(*sides)
    assert rows.tolist() == [link_row(hyp, ref) for hyp, ref in pairs]
    assert rows.dtype == np.int64
    assert rows.shape == (len(pairs), 8)


@given(small_links, alignments)
def test_aer_is_that_of_och_and_ney_for_a_hypothesis_without_possible_links(links, ref):
    row = scoring.count_links(LinkArrays.pack([Alignment(links)]), LinkArrays.pack([ref]))
    found = scoring.LinkScore.from_counts(row[0]).aer
    if links or ref.sure:
        assert found == pytest.approx(och_ney_aer(links, ref.sure, ref.possible))
    else:
        assert math.isnan(found)


def test_worked_examples():
    """Cohn et al. 2008: the counts 4, 5, 4, 4 without identical links."""
    source = ("they", "discussed", "the", "aspects", "in", "detail")
    target = ("both", "talked", "the", "issues", "specifically", "here")
    gold = Alignment.parse("0-0 1-1 2-2 3-3 4-4 5-5")
    system = Alignment.parse("0-0 1-1 2-2 3-3 4-4")
    found = scoring.score(corpus_of(system, gold, source, target), ignore_identical=True).links
    counts = found.counts
    assert (counts["hyp_sure"], counts["ref_sure"]) == (4, 5)
    assert (counts["hyp_sure_in_ref_possible"], counts["hyp_possible_in_ref_sure"]) == (4, 4)
    assert (found.precision, found.recall, round(found.f1, 3)) == (1, 0.8, 0.889)
    pair = corpus_of(Alignment.parse("0-0"), Alignment.parse("0-0"), ("They",), ("they",))
    assert scoring.score(pair, ignore_identical=True).links.counts["hyp_sure"] == 0
    assert scoring.score(pair, ignore_identical=True, exact_case=True).links.counts["hyp_sure"] == 1
    assert scoring.score(pair).links.counts["hyp_sure"] == 1
    # eq. 3: a block is one atomic pair and a composite of the finer segmentation
    fine, block = Alignment.parse("0-0 1-1"), Alignment.parse("0-0 0-1 1-0 1-1")
    words = ("a", "b"), ("c", "d")
    coarse = scoring.score(corpus_of(block, fine, *words), level="phrases").phrases["sure"]
    assert (coarse.precision, coarse.recall) == (1, 0)
    finer = scoring.score(corpus_of(fine, block, *words), level="phrases").phrases["sure"]
    assert (finer.precision, finer.recall, finer.f1) == (0, 1, 0)


@pytest.mark.parametrize(
    ("hyp", "ref", "both", "undefined"),
    [
        (0, 0, 0, {"precision", "recall", "f1", "aer"}),
        (0, 2, 0, {"precision"}),
        (2, 0, 0, {"recall"}),
        (2, 2, 0, set()),
        (2, 2, 1, set()),
    ],
)
def test_ratios_of_nothing_by_nothing_are_undefined(hyp, ref, both, undefined):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        links = scoring.LinkScore.from_counts([hyp, hyp, ref, ref, both, both, both, both])
        phrases = scoring.PhraseScore.from_counts([hyp, ref, both, both, both])
    for found in (links, phrases):
        names = {name for name, value in vars(found).items() if value != value}
        assert names == undefined - ({"aer"} if found is phrases else set())
        plain = json.loads(json.dumps(found.to_json(), allow_nan=False))
        assert {name for name, value in plain.items() if value is None} == names


@given(st.lists(st.tuples(alignments, alignments), min_size=1, max_size=4))
def test_f1_is_0_where_precision_or_recall_is(pairs):
    for hyp, ref in [*pairs, (Alignment(), Alignment.parse("0-0"))]:
        links = scoring.LinkScore.from_counts(link_row(hyp, ref))
        a_s, a_p, b_s, b_p = hyp.sure, hyp.possible, ref.sure, ref.possible
        precision = len(a_s & b_p) / len(a_s) if a_s else None
        recall = len(a_p & b_s) / len(b_s) if b_s else None
        expected = f1_reference(precision, recall)
        assert links.to_json()["f1"] == (None if expected is None else pytest.approx(expected))


@given(small_links, small_links)
def test_f1_of_links_of_one_kind_is_that_of_scikit_learn(hyp, ref):
    metrics = pytest.importorskip("sklearn.metrics")
    cells = sorted({(i, j) for i in range(5) for j in range(5)})
    sides = ([cell in links for cell in cells] for links in (ref, hyp))
    theirs = metrics.f1_score(*sides, zero_division=np.nan)
    assert scoring.score([hyp], [ref]).links.f1 == pytest.approx(theirs, nan_ok=True)


@given(st.lists(st.lists(st.integers(0, 9), min_size=8, max_size=8), min_size=1, max_size=5))
def test_vectorised_ratios_are_those_of_single_rows(rows):
    for ratios, kind, width in (
        (scoring.link_ratios, scoring.LinkScore, 8),
        (scoring.phrase_ratios, scoring.PhraseScore, 5),
    ):
        counts = np.array(rows)[:, :width]
        for name, values in ratios(counts).items():
            single = [getattr(kind.from_counts(row), name) for row in counts]
            np.testing.assert_array_equal(values, single)


def test_pairs_left_out_policies_and_no_pairs():
    whole = corpus_of(EXAMPLE, EXAMPLE)
    corpus = whole + Corpus([SentencePair("2", SOURCE, TARGET, {"gold": EXAMPLE})])
    found = scoring.score(corpus)
    assert (found.pairs, found.skipped) == (1, 1)
    empty = Corpus([SentencePair("2", SOURCE, TARGET, {"gold": EXAMPLE, "system": Alignment()})])
    assert scoring.score(corpus + empty).links.counts["ref_sure"] == 18
    hyp, ref = Alignment.parse("0-0 1?1"), Alignment.parse("0?0 1-1")
    pair = corpus_of(hyp, ref)
    assert scoring.score(pair).links.aer == 0
    assert scoring.score(pair, links="sure-only").links.aer == 1
    assert scoring.score(pair, links="all-sure").links.counts["sure_in_sure"] == 2
    found = scoring.score_blocks([], level="both", keep_rows=True).with_intervals(resamples=10)
    assert (found.pairs, found.links.counts["ref_sure"]) == (0, 0)
    assert math.isnan(found.links.aer)
    assert found.to_json()["intervals"]["links"]["aer"]["low"] is None


@given(st.lists(st.tuples(alignments, alignments), max_size=5), st.integers(1, 3))
def test_blocks_give_the_score_of_the_whole(pairs, size):
    corpus = Corpus(
        SentencePair(str(k), tuple("abxyz"), tuple("abcde"), {"system": hyp, "gold": ref})
        for k, (hyp, ref) in enumerate(pairs)
    ) + Corpus([SentencePair("last", (), (), {"system": Alignment(), "gold": Alignment()})])
    vocabulary = Vocabulary()

    def blocks():
        for start in range(0, len(corpus), size):
            part = corpus[start : start + size]
            sides = [[pair.alignment(name) for pair in part] for name in ("system", "gold")]
            texts = [[pair.words[side] for pair in part] for side in (0, 1)]
            packed = (TokenArrays.pack(text, vocabulary) for text in texts)
            yield (*map(LinkArrays.pack, sides), *packed)

    for options in ({}, {"ignore_identical": True}, {"loose": True, "max_length": 3}):
        whole = scoring.score(corpus, level="both", keep_rows=True, **options)
        parts = scoring.score_blocks(blocks(), level="both", keep_rows=True, **options)
        assert json.dumps(whole.to_json()) == json.dumps(parts.to_json())
        for level, rows in whole.rows.items():
            np.testing.assert_array_equal(rows, parts.rows[level])


def test_tables_by_pair_and_by_group():
    corpus = Corpus(
        SentencePair(
            str(k),
            None,
            None,
            {"system": Alignment.parse(hyp), "gold": Alignment.parse(gold)},
            group,
        )
        for k, (hyp, gold, group) in enumerate(
            [
                ("0-0", "0-0", {"genre": "news"}),
                ("0-1", "0-0", {"genre": "law"}),
                ("", "0-0", {"genre": "news"}),
                ("", "", {}),
            ]
        )
    )
    records = scoring.score_records(corpus, level="both")
    assert [record["id"] for record in records[::3]] == ["0", "1", "2", "3"]
    assert records[0] | {"precision": 1.0, "aer": 0.0, "hyp_sure": 1} == records[0]
    assert math.isnan(records[-1]["precision"])
    groups = scoring.score_records(corpus, by="genre")
    recalls = [(row["genre"], row["pairs"], row["recall"]) for row in groups[:2]]
    assert recalls == [("news", 2, 0.5), ("law", 1, 0.0)]
    assert (groups[2]["genre"], groups[2]["pairs"]) == ("", 1)
    refuses(UnknownNameError, "genre", scoring.score_records, corpus, by="gender")
    refuses(JoinError, None, scoring.pair_records, {"links": np.zeros((2, 8), np.int64)}, ["1"])
    refuses(JoinError, None, scoring.group_records, {"links": np.zeros((2, 8), np.int64)}, ["1"])


def test_bad_input_is_refused():
    single, double = LinkArrays.pack([EXAMPLE]), LinkArrays.pack([EXAMPLE, EXAMPLE])
    refuses(JoinError, "1 sentence pair, the reference 2", scoring.count_links, single, double)
    with pytest.raises(JoinError, match="same sentence lengths"):
        scoring.count_phrases(single, LinkArrays.pack([Alignment()]), links="sure", loose=True)
    short = TokenArrays.pack([["a"]], Vocabulary())
    for links, words, options, error in (
        (single, None, {"ignore_identical": True}, MissingTextError),
        (single, None, {"level": "both", "loose": True}, MissingTextError),
        (single, short, {"ignore_identical": True}, JoinError),
        (double, short, {"ignore_identical": True}, JoinError),
    ):
        refuses(error, None, scoring.score_blocks, [(links, links, words, words)], **options)
    textless = corpus_of(EXAMPLE, EXAMPLE, None, None)
    assert scoring.score(textless, level="both").links.f1 == 1
    for error, options in (
        (MissingTextError, {"ignore_identical": True}),
        (UnknownNameError, {"level": "phrase"}),
        (UnknownNameError, {"links": "sure"}),
        (UnknownNameError, {"hypothesis": "somebody"}),
        (OptionError, {"max_length": 0}),
    ):
        refuses(error, None, scoring.score, textless, **options)
    refuses(OptionError, "keep_rows", scoring.score(textless, keep_rows=False).with_intervals)
    refuses(OptionError, "the corpus is empty", scoring.score, Corpus(), "system", "gold")


def test_records_of_a_score_are_its_figures():
    pairs = [
        SentencePair(
            str(k),
            ("a", "b"),
            ("c", "d"),
            {"gold": Alignment.parse("0-0 1-1"), "system": Alignment.parse(links)},
        )
        for k, links in enumerate(("0-0 1-0", "0-0 1-1", "1-1"))
    ]
    plain = scoring.score(Corpus(pairs), level="both", keep_rows=True)
    found = plain.with_intervals(resamples=20, seed=1)
    first, possible, _ = found.to_records()
    assert (first["level"], first["pairs"], first["skipped"]) == ("links", 3, 0)
    assert first["f1"] == found.links.f1
    assert first["f1_low"] == found.intervals["links"]["f1"].low
    assert first["hyp_possible"] == 5
    assert possible["level"] == "phrases-possible"
    assert "aer" not in possible
    assert "f1_low" not in plain.to_records()[0]
    assert found.table().columns[1].key == "precision"
    assert found.table().show("latex").count(r"\midrule") == 1
    both = scoring.score(["0-0 1-1"], ["0-0 1-1"], level="both")
    for name, told in (
        ("f1", r"use score.links.f1 or score.phr"),
        ("aer", r"use score.links.aer$"),
        ("f2", "'Score' object has no attribute 'f2'"),
    ):
        refuses(AttributeError, told, getattr, both, name)
    assert pickle.loads(pickle.dumps(both)).links == both.links
